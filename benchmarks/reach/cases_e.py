"""Science and engineering: physics, earth and life sciences, optics, robotics, mechanics, geometry, colour."""

import numpy as np
from cases import case, steps

# --- astronomy, physics ----------------------------------------------------------------------------------------

@case("lenstronomy", "LensModel([EPL, SHEAR]).ray_shooting in positions and the lens's parameters", "objects")
def lenstronomy_ray_shooting():
    from lenstronomy.LensModel.lens_model import LensModel
    model = LensModel(["EPL", "SHEAR"])

    def loss(x):
        lens = {"theta_E": x[0], "gamma": x[1], "e1": x[2], "e2": x[3], "center_x": 0.02, "center_y": -0.01}
        bx, by = model.ray_shooting(x[4:6], x[6:8], [lens, {"gamma1": 0.03, "gamma2": x[8]}])
        return (bx * bx).sum() + (bx * by).sum() * 0.5
    return loss, np.array([1.2, 1.9, 0.1, -0.06, 0.9, 1.7, 0.4, -1.1, 0.02])


@case("lenstronomy", "NFW.function and derivatives in scale radius and deflection", "plain")
def lenstronomy_nfw():
    from lenstronomy.LensModel.Profiles.nfw import NFW
    nfw = NFW()
    px, py = np.array([0.4, 1.3, 2.9]), np.array([0.7, -0.2, 1.1])

    def loss(x):
        f = nfw.function(px, py, x[0], x[1])
        fx, fy = nfw.derivatives(px, py, x[0], x[1])
        return (f + fx * fy).sum()
    return loss, np.array([1.7, 0.8])


@case("lenstronomy", "LightModel Sersic (elliptical) surface brightness in its parameters", "objects")
def lenstronomy_sersic():
    from lenstronomy.LightModel.Profiles.sersic import SersicElliptic
    px, py = np.array([0.4, 1.3, 2.9]), np.array([0.7, -0.2, 1.1])

    def loss(x):
        return (SersicElliptic().function(px, py, x[0], x[1], x[2], x[3], x[4]) ** 2).sum()
    return loss, np.array([2.1, 0.8, 2.3, 0.12, -0.07])


@case("dust_extinction", "parameter_averages.CCM89 and F19 (astropy model) extinction in Rv", "objects")
def dust_extinction_rv():
    from dust_extinction.parameter_averages import CCM89, F19
    wave = np.array([0.4, 1.1, 2.2, 4.1, 6.5])

    def loss(x):
        return (CCM89(Rv=x[0])(wave) ** 2).sum() + F19(Rv=x[1])(wave).sum()
    return loss, np.array([3.3, 2.9])


@case("dust_extinction", "shapes.FM90 in its parameters", "plain")
def dust_extinction_fm90():
    from dust_extinction.shapes import FM90
    wave = np.array([4.0, 5.2, 6.5, 8.1])

    def loss(x):
        return (FM90(C1=x[0], C2=x[1], C3=x[2], C4=x[3], xo=x[4], gamma=x[5])(wave) ** 2).sum()
    return loss, np.array([0.1, 0.7, 3.23, 0.41, 4.59, 0.95])


@case("sunpy", "sun.models.differential_rotation (quantities) in duration and latitude", "subclass")
def sunpy_differential_rotation():
    import astropy.units as u
    from sunpy.sun.models import differential_rotation

    def loss(x):
        angle = differential_rotation(x[0] * u.day, x[1:] * u.deg, model="snodgrass")
        return angle.to_value("rad").sum()
    return loss, np.array([2.3, 20.0, -35.0, 51.0])


@case("hmf", "fitting_functions.SMT and Courtin fsigma on a grid of peak heights", "objects")
def hmf_fitting_functions():
    from hmf.mass_function.fitting_functions import SMT, Courtin

    def loss(x):
        a = SMT(nu2=x, m=np.ones(4))
        b = Courtin(nu2=x, m=np.ones(4), delta_c=1.68)
        return (a.fsigma * b.fsigma).sum() * 10.0
    return loss, np.array([0.6, 1.3, 2.4, 4.4])


@case("astropy", "modeling: a compound of Gaussian1D, Moffat1D and Polynomial1D in their parameters", "objects")
def astropy_compound_model():
    from astropy.modeling.models import Gaussian1D, Moffat1D, Polynomial1D
    t = np.linspace(-2.0, 3.0, 7)

    def loss(x):
        model = Gaussian1D(x[0], x[1], x[2]) + Moffat1D(x[3], 0.4, 1.2, x[4]) * Polynomial1D(1, c0=x[5], c1=0.3)
        return (model(t) ** 2).sum()
    return loss, np.array([1.3, 0.2, 0.8, 0.6, 2.2, 0.9])


@case("astropy", "stats.circmean, circvar, circcorrcoef and vonmisesmle of angles", "plain")
def astropy_circular_statistics():
    from astropy.stats import circcorrcoef, circmean, circvar, vonmisesmle

    def loss(x):
        mu, kappa = vonmisesmle(x)
        return circmean(x) + circvar(x) * 2.0 + 0.1 * kappa + mu + circcorrcoef(x, x * x * 0.3)
    return loss, np.array([0.3, 0.9, 1.4, 0.2, 2.1, 1.1])


@case("astropy", "coordinates SkyCoord.separation and position_angle in two positions", "subclass")
def astropy_separation():
    import astropy.units as u
    from astropy.coordinates import SkyCoord

    def loss(x):
        a, b = SkyCoord(x[0] * u.deg, x[1] * u.deg), SkyCoord(x[2] * u.deg, x[3] * u.deg)
        return a.separation(b).deg + a.position_angle(b).rad
    return loss, np.array([10.3, 41.2, 12.9, 38.7])


@case("astropy", "timeseries LombScargle.power (method='slow') in the measured values", "library")
def astropy_lombscargle():
    from astropy.timeseries import LombScargle
    t = np.array([0.0, 0.7, 1.9, 2.4, 3.8, 4.1, 5.6, 6.6])

    def loss(x):
        return (LombScargle(t, x).power(np.array([0.1, 0.21, 0.37]), method="slow") ** 2).sum()
    return loss, np.array([0.3, 1.1, -0.7, -1.2, 0.4, 0.9, -0.3, 0.2])


@case("pythtb", "tb_model of two orbitals: bands in hopping and on-site energies", "objects")
def pythtb_bands():
    from pythtb import tb_model

    def loss(x):
        model = tb_model(1, 1, [[1.0]], [[0.0], [0.4]])
        model.set_onsite([x[0], -x[0]])
        model.set_hop(x[1], 0, 1, [0])
        model.set_hop(x[2], 1, 0, [1])
        bands = model.solve_all([[0.1], [0.23], [0.4]])
        return (bands[0] ** 2).sum() + bands[1][1]
    return loss, np.array([0.4, -1.0, -0.7])


# --- earth: seismology, magnetics, climate, hydrology, oceans --------------------------------------------------

@case("obspy", "geodetics.calc_vincenty_inverse: distance and azimuth in two points", "iterative")
def obspy_vincenty():
    from obspy.geodetics.base import calc_vincenty_inverse

    def loss(x):
        d, az, baz = calc_vincenty_inverse(x[0], x[1], x[2], x[3])
        return d * 1e-5 + az * 1e-2 + baz * 2e-2
    return loss, np.array([48.2, 11.3, 52.4, 13.5])


@case("obspy", "signal.konnoohmachismoothing.konno_ohmachi_smoothing of a spectrum", "library")
def obspy_konno_ohmachi():
    from obspy.signal.konnoohmachismoothing import konno_ohmachi_smoothing
    f = np.linspace(0.5, 6.0, 9)

    def loss(x):
        return (konno_ohmachi_smoothing(x, f, bandwidth=20.0, normalize=True) ** 2).sum()
    return loss, np.array([1.0, 2.1, 0.7, 3.3, 2.2, 1.9, 0.4, 1.1, 0.9])


@case("obspy", "signal.cpxtrace.envelope and trigger.classic_sta_lta_py of a trace", "library")
def obspy_trace_attributes():
    from obspy.signal.cpxtrace import envelope
    from obspy.signal.trigger import classic_sta_lta_py

    def loss(x):
        return (envelope(x)[1] ** 1.5).sum() + (classic_sta_lta_py(x, 2, 4) ** 2).sum()
    return loss, np.array([0.3, 1.1, -0.7, -1.2, 0.4, 0.9, -0.3, 0.2, 1.4, -0.6])


@case("obspy", "Trace.detrend, taper and integrate on Stream data (object with decorators)", "objects")
def obspy_trace_processing():
    from obspy import Trace

    def loss(x):
        tr = Trace(data=x * 1.0, header={"delta": 0.1})
        tr.detrend("linear")
        tr.taper(0.2)
        tr.integrate()
        return (tr.data ** 2).sum()
    return loss, np.array([0.3, 1.1, -0.7, -1.2, 0.4, 0.9, -0.3, 0.2, 1.4, -0.6])


@case("pygeomag", "GeoMag.calculate: declination and intensity in place and time", "iterative")
def pygeomag_calculate():
    from pygeomag import GeoMag
    model = GeoMag()

    def loss(x):
        r = model.calculate(glat=x[0], glon=x[1], alt=x[2], time=2025.0 + x[3])
        return r.d * 0.1 + r.f * 1e-4 + r.i * 0.01
    return loss, np.array([47.6, -12.3, 1.2, 1.3])


@case("pythermalcomfort", "models.pmv_ppd_iso in temperatures, wind, humidity and clothing", "iterative")
def pythermalcomfort_pmv():
    from pythermalcomfort.models import pmv_ppd_iso

    def loss(x):
        r = pmv_ppd_iso(tdb=x[0], tr=x[1], vr=x[2], rh=x[3], met=x[4], clo=x[5], limit_inputs=False,
                        round_output=False)
        return float(r.pmv) + 0.1 * float(r.ppd)
    return loss, np.array([26.0, 25.1, 0.23, 51.0, 1.3, 0.6])


@case("pythermalcomfort", "models.utci and wbgt in arrays of weather", "plain")
def pythermalcomfort_utci():
    from pythermalcomfort.models import utci, wbgt

    def loss(x):
        r = utci(tdb=x[:2], tr=x[2:4], v=x[4:6], rh=x[6:8], limit_inputs=False, round_output=False)
        return r.utci.sum() + float(wbgt(twb=x[0], tg=x[2], tdb=x[1], with_solar_load=True, round_output=False).wbgt)
    return loss, np.array([24.0, 31.0, 27.0, 35.0, 1.2, 2.4, 51.0, 37.0])


@case("PyCO2SYS", "sys: pH, pCO2 and saturation in alkalinity, carbon, salinity and temperature", "iterative")
def pyco2sys_sys():
    import PyCO2SYS as pyco2

    def loss(x):
        r = pyco2.sys(x[0] * 1000.0, x[1] * 1000.0, 1, 2, salinity=x[2], temperature=x[3])
        return r["pH"] + 1e-2 * r["saturation_aragonite"] + 1e-3 * r["pCO2"]
    return loss, np.array([2.3, 2.1, 34.1, 17.0])


@case("PyCO2SYS", "equilibria.p1atm: dissociation constants in temperature and salinity", "plain")
def pyco2sys_constants():
    from PyCO2SYS.equilibria import p1atm

    def loss(x):
        k1, k2 = p1atm.kH2CO3_TOT_LDK00(x[:2], x[2:])
        kb = p1atm.kBOH3_TOT_D90b(x[:2], x[2:])
        return (k1 * 1e6 + k2 * 1e9 + kb * 1e8).sum()
    return loss, np.array([285.0, 298.0, 33.0, 36.2])


@case("eofs", "standard.Eof: principal components and explained variance in the field", "objects")
def eofs_variance():
    from eofs.standard import Eof
    field = np.array([[0.4, 1.2, -0.3], [1.1, -0.2, 0.8], [-0.9, 0.3, 0.1], [0.2, 0.7, -1.4], [1.3, -0.8, 0.5]])

    def loss(x):
        solver = Eof(field * x, weights=np.array([0.7, 1.0, 1.3]))
        pcs = solver.pcs(npcs=1)
        return (pcs ** 2).sum() + solver.varianceFraction()[0] * 3.0
    return loss, np.array([1.0, 0.7, 1.6])


@case("spotpy", "objectivefunctions kge, rsquared, lognashsutcliffe of simulations", "library")
def spotpy_objectives():
    from spotpy import objectivefunctions as of
    obs = np.array([1.2, 2.3, 3.1, 2.2, 1.7, 0.9])

    def loss(x):
        return of.kge(obs, x) + of.rsquared(obs, x) + of.lognashsutcliffe(obs, x) + of.agreementindex(obs, x)
    return loss, np.array([1.0, 2.6, 2.9, 2.4, 1.5, 1.1])


@case("pastas", "rfunc.Gamma step and block response in its parameters", "objects")
def pastas_gamma_response():
    import pastas as ps
    rfunc = ps.Gamma()

    def loss(x):
        return (rfunc.block(x, dt=10.0, maxtmax=60) ** 2).sum() + rfunc.gain(x)
    return loss, np.array([1.3, 1.6, 12.0])


@case("xarray", "DataArray.weighted mean and differentiate", "subclass")
def xarray_weighted():
    import xarray as xr
    w = xr.DataArray(np.array([0.4, 0.9, 1.2]), dims="y")

    def loss(x):
        a = xr.DataArray(x.reshape(3, 3), dims=("y", "t"), coords={"y": [0.0, 1.0, 2.0], "t": [0.0, 0.4, 1.1]})
        mean = a.weighted(w).mean("y")
        slope = a.differentiate("t")
        return float((mean ** 2).sum() + (slope * a).sum())
    return loss, np.array([0.3, 1.1, -0.7, -1.2, 0.4, 0.9, -0.3, 0.2, 1.4])


# --- chemistry, biology ----------------------------------------------------------------------------------------

@case("chempy", "properties of water (density, permittivity) and Debye-Huckel coefficients in temperature", "plain")
def chempy_water():
    from chempy.electrolytes import A
    from chempy.properties.water_density_tanaka_2001 import water_density
    from chempy.properties.water_permittivity_bradley_pitzer_1979 import water_permittivity

    def loss(x):
        eps, rho = water_permittivity(x[0], x[1]), water_density(x[0])
        return A(eps, x[0], rho) + rho * 1e-3 + eps * 0.1
    return loss, np.array([301.0, 1.3])


@case("chempy", "ReactionSystem.from_string(...).rates in the concentrations", "containers")
def chempy_rates():
    from chempy import ReactionSystem, Substance
    system = ReactionSystem.from_string("2 A + B -> C; 1.3\nC -> A + D; 0.7", substance_factory=Substance, checks=())

    def loss(x):
        r = system.rates({"A": x[0], "B": x[1], "C": x[2], "D": x[3]})
        return r["A"] ** 2 + r["C"] * r["D"] + r["B"]
    return loss, np.array([0.8, 1.7, 0.6, 0.2])


@case("chempy", "kinetics.integrated.binary_rev: analytical kinetics in rate constants", "plain")
def chempy_binary_rev():
    from chempy.kinetics.integrated import binary_rev
    t = np.array([0.1, 0.5, 1.4])

    def loss(x):
        return (binary_rev(t, x[0], x[1], 0.1, x[2], x[3], backend=np) ** 2).sum()
    return loss, np.array([1.2, 0.4, 2.1, 1.4])


@case("nmrsim", "discrete.AB, firstorder.multiplet and Lorentz lines in shifts and couplings", "containers")
def nmrsim_peaklist():
    from nmrsim.discrete import AB
    from nmrsim.firstorder import multiplet
    from nmrsim.math import lorentz

    def loss(x):
        peaks = AB(x[0], x[1], x[2]) + multiplet((x[3], 2.0), [(x[4], 3)])
        return sum(lorentz(101.0, v, i, 4.0) for v, i in peaks)
    return loss, np.array([7.1, 24.0, 100.0, 96.0, 6.6])


@case("nmrsim", "dnmr.DnmrTwoSinglets.lineshape in frequencies, exchange rate and widths", "objects")
def nmrsim_dnmr():
    from nmrsim.dnmr import DnmrTwoSinglets

    def loss(x):
        system = DnmrTwoSinglets(x[0], x[1], x[2], x[3], x[4], 0.6, limits=(130.0, 180.0), points=20)
        return (system.lineshape()[1] ** 2).sum() * 1e5
    return loss, np.array([145.0, 165.0, 1.7, 0.6, 0.9]), steps(2e-4)(loss)


@case("nmrglue", "process.proc_base: sine bell, zero filling, FFT and phase correction", "library")
def nmrglue_processing():
    from nmrglue.process import proc_base as p

    def loss(x):
        data = p.fft(p.zf_size(p.em(x[:8] + 1j * x[8:16], lb=x[16]), 16))
        data = p.ps(data, p0=x[17], p1=12.0)
        return (data.real ** 2).sum() + data.real[3]
    return loss, np.concatenate([np.cos(np.arange(8.0)), np.sin(np.arange(8.0)), [0.1, 23.0]])


@case("nmrglue", "analysis.lineshapes1d.sim_pvoigt_fwhm / sim_voigt_fwhm in the parameters", "plain")
def nmrglue_lineshapes():
    from nmrglue.analysis.lineshapes1d import sim_pvoigt_fwhm, sim_voigt_fwhm
    v = np.linspace(0.0, 9.0, 7)

    def loss(x):
        return (sim_pvoigt_fwhm(v, x[0], x[1], x[2]) * sim_voigt_fwhm(v, x[0], x[3], x[1])).sum()
    return loss, np.array([4.1, 2.3, 0.4, 1.7])


@case("pyEQL", "activity_correction: Pitzer's activity and osmotic coefficients (pint quantities)", "subclass")
def pyeql_activity():
    from pyEQL import ureg
    from pyEQL.activity_correction import get_activity_coefficient_pitzer, get_osmotic_coefficient_pitzer

    def loss(x):
        args = (x[0] * ureg.Quantity("mol/kg"), x[1] * ureg.Quantity("mol/kg"), 2.0, 0.0, x[2], x[3], 0.0, x[4],
                1, -1, 1, 1, ureg.Quantity("25 degC"))
        return get_activity_coefficient_pitzer(*args).magnitude + get_osmotic_coefficient_pitzer(*args).magnitude
    return loss, np.array([0.5, 0.5, 0.0765, 0.2664, 0.00127])


@case("diffpy.structure", "Lattice: volume, distances and angles in cell parameters", "objects")
def diffpy_lattice():
    from diffpy.structure import Lattice

    def loss(x):
        lattice = Lattice(x[0], x[1], x[2], x[3], x[4], x[5])
        return lattice.dist([0.1, 0.2, 0.3], [0.6, 0.4, 0.9]) + lattice.volume * 1e-2 \
            + lattice.angle([1.0, 0.2, 0.0], [0.0, 1.0, 0.5]) * 0.1
    return loss, np.array([3.9, 4.8, 6.1, 87.0, 98.0, 112.0])


@case("orix", "Rotation.from_euler, products with vectors and angle_with", "objects")
def orix_rotation():
    from orix.quaternion import Rotation
    from orix.vector import Vector3d

    def loss(x):
        a, b = Rotation.from_euler(x[:3]), Rotation.from_euler(x[3:6])
        v = a * Vector3d([[1.0, 0.2, -0.4]])
        return (v.data * np.array([1.0, 2.0, -1.0])).sum() + a.angle_with(b)[0]
    return loss, np.array([0.4, 0.9, 0.2, 0.8, 0.5, 1.1])


@case("scikit-allel", "pca of genotype dosages", "library")
def allel_pca():
    import allel

    def loss(x):
        g = x.reshape(4, 3)
        coords, model = allel.pca(g, n_components=1, scaler="standard")
        return (coords ** 2).sum() + model.explained_variance_ratio_[0]
    return loss, np.array([0.1, 1.2, 1.9, 0.9, 0.2, 1.1, 2.0, 1.4, 0.3, 0.8, 1.7, 0.2])


@case("pyteomics", "electrochem.charge of a peptide in the pH", "containers")
def pyteomics_charge():
    from pyteomics import electrochem

    def loss(x):
        c = electrochem.charge("PEPTIDEKRHDC", [x[0], x[1], x[2]])
        return c[0] ** 2 + c[1] * c[2]
    return loss, np.array([3.7, 7.1, 9.9])


@case("MDAnalysis", "lib.mdamath: triclinic_vectors, dihedral and angle of vectors", "plain")
def mdanalysis_mdamath():
    from MDAnalysis.lib import mdamath

    def loss(x):
        return mdamath.dihedral(x[:3], x[3:6], x[6:9]) + mdamath.angle(x[:3], x[6:9]) * mdamath.norm(x[3:6]) \
            + mdamath.stp(x[:3], x[3:6], x[6:9])
    return loss, np.array([0.9, 0.2, -0.3, 0.1, 1.1, 0.4, -0.6, 0.3, 0.8])


@case("geometric", "internal coordinates: Distance, Angle, Dihedral, OutOfPlane of a molecule", "objects")
def geometric_internals():
    from geometric.internal import Angle, Dihedral, Distance, OutOfPlane

    def loss(x):
        return Distance(0, 1).value(x) + Angle(0, 1, 2).value(x) * Dihedral(0, 1, 2, 3).value(x) \
            + OutOfPlane(0, 1, 2, 3).value(x)
    return loss, np.array([0.1, 0.2, 0.0, 1.4, 0.1, 0.2, 1.9, 1.3, 0.4, 3.1, 1.6, 1.2])


# --- neuroscience, medical imaging, images ---------------------------------------------------------------------

@case("nilearn", "glm hemodynamic_models.compute_regressor in the amplitudes", "library")
def nilearn_regressor():
    from nilearn.glm.first_level.hemodynamic_models import compute_regressor
    onsets, durations = np.array([1.0, 7.0, 13.0]), np.array([1.0, 2.0, 1.0])
    frames = np.arange(0.0, 24.0, 2.0)

    def loss(x):
        signal, _ = compute_regressor((onsets, durations, x), "glover", frames, oversampling=4)
        return (signal ** 2).sum()
    return loss, np.array([1.0, 0.6, 1.7])


@case("nilearn", "signal.clean: detrended and standardised signals with confounds", "library")
def nilearn_clean():
    from nilearn.signal import clean
    confound = np.cos(np.arange(10.0))[:, None]

    def loss(x):
        cleaned = clean(x.reshape(10, 2), confounds=confound, detrend=True, standardize="zscore_sample",
                        filter=False)
        return (cleaned * np.cos(np.arange(20.0) ** 2).reshape(10, 2)).sum()
    return loss, np.sin(np.arange(20.0) ** 1.3)


@case("neurokit2", "signal_detrend, signal_smooth and hjorth complexity of a signal", "library")
def neurokit2_detrended():
    import neurokit2 as nk

    def loss(x):
        smooth = nk.signal_smooth(nk.signal_detrend(x, order=2), kernel="boxzen", size=3)
        complexity, info = nk.complexity_hjorth(x)
        return (smooth ** 2).sum() + complexity * info["Mobility"]
    return loss, np.sin(np.arange(14.0) ** 1.2) + 0.1 * np.arange(14.0)


@case("neurokit2", "standardize, mad, rescale and fractal_katz of a signal", "containers")
def neurokit2_rescale():
    import neurokit2 as nk

    def loss(x):
        return (nk.rescale(x, to=[0, 2]) * nk.standardize(x)).sum() + nk.mad(x) + nk.fractal_katz(x)[0]
    return loss, np.sin(np.arange(9.0) ** 1.2) + 0.1 * np.arange(9.0)


@case("sigpy", "linop chain (FFT, multiply, resize) applied to an image", "objects")
def sigpy_linop():
    import sigpy as sp
    mask = np.array([[1.0, 0.4, 0.0, 1.2], [0.3, 1.0, 0.8, 0.1], [0.9, 0.2, 1.0, 0.7], [0.6, 1.1, 0.5, 1.0]])

    def loss(x):
        A = sp.linop.Multiply((4, 4), mask) * sp.linop.FFT((4, 4))
        y = A(x.reshape(4, 4) + 0j)
        return (abs(y) ** 2).sum() + (A.H * y).real[1, 2]
    return loss, np.sin(np.arange(16.0) ** 1.2)


@case("sigpy", "nufft of an image at non-uniform coordinates", "library")
def sigpy_nufft():
    import sigpy as sp
    coord = np.array([[0.3, -0.8], [1.2, 0.4], [-1.4, 1.1]])

    def loss(x):
        return (abs(sp.nufft(x.reshape(4, 4) + 0j, coord)) ** 2).sum()
    return loss, np.sin(np.arange(16.0) ** 1.2)


@case("scikit-image", "transform.SimilarityTransform composed, inverted and applied to points", "objects")
def skimage_similarity():
    from skimage.transform import AffineTransform, SimilarityTransform
    points = np.array([[0.2, 1.0], [1.7, -0.3], [0.9, 0.8]])

    def loss(x):
        t = SimilarityTransform(scale=x[0], rotation=x[1], translation=(x[2], x[3])) + AffineTransform(shear=x[4])
        return (t(points) ** 2).sum() + t.inverse(points)[1, 0]
    return loss, np.array([1.3, 0.4, 0.2, -0.7, 0.3])


@case("scikit-image", "restoration.richardson_lucy and filters.unsharp_mask of an image", "iterative")
def skimage_restoration():
    from skimage.filters import unsharp_mask
    from skimage.restoration import richardson_lucy
    psf = np.array([[0.1, 0.15, 0.1], [0.1, 0.2, 0.1], [0.05, 0.15, 0.05]])

    def loss(x):
        image = x.reshape(5, 5)
        return (richardson_lucy(image, psf, num_iter=4, clip=False) ** 2).sum() \
            + unsharp_mask(image, radius=1.0, preserve_range=True)[2, 3]
    return loss, 0.5 + 0.3 * np.sin(np.arange(25.0) ** 1.2)


@case("scikit-image", "exposure.adjust_sigmoid and adjust_gamma, measure.moments_hu of an image", "plain")
def skimage_exposure_moments():
    from skimage.exposure import adjust_gamma, adjust_sigmoid
    from skimage.measure import moments_central, moments_hu, moments_normalized

    def loss(x):
        image = adjust_sigmoid(adjust_gamma(x.reshape(4, 4), 1.4), cutoff=0.4, gain=3)
        hu = moments_hu(moments_normalized(moments_central(image)))
        return hu[0] * 10.0 + hu[1] * 100.0 + (image ** 2).sum()
    return loss, 0.5 + 0.3 * np.sin(np.arange(16.0) ** 1.2)


@case("scipy", "ndimage.map_coordinates, gaussian_laplace and zoom in the image", "library")
def scipy_ndimage_chain():
    from scipy import ndimage

    def loss(x):
        image = x.reshape(5, 5)
        at = ndimage.map_coordinates(image, [[1.2, 2.7], [0.4, 3.1]], order=3, mode="mirror")
        return (at ** 2).sum() + ndimage.gaussian_laplace(image, 0.9)[2, 1] + ndimage.zoom(image, 1.6, order=2)[3, 4]
    return loss, 0.5 + 0.3 * np.sin(np.arange(25.0) ** 1.2)


@case("scipy", "signal.savgol_filter, hilbert, resample_poly and csd of a signal", "library")
def scipy_signal_chain():
    from scipy import signal

    def loss(x):
        smooth = signal.savgol_filter(x, 5, 2)
        _, p = signal.csd(x, smooth, nperseg=8)
        return (abs(signal.hilbert(smooth)) ** 2).sum() + (abs(p) ** 2).sum() + signal.resample_poly(x, 3, 2)[5]
    return loss, np.sin(np.arange(16.0) ** 1.2)


@case("scipy", "spatial: transform.Slerp and geometric_slerp", "objects")
def scipy_slerp():
    from scipy.spatial import geometric_slerp
    from scipy.spatial.transform import Rotation, Slerp

    def loss(x):
        s = Slerp([0.0, 1.0], Rotation.from_rotvec(x[:6].reshape(2, 3)))
        m = s([0.3, 0.7]).as_matrix()
        return (m * np.arange(18.0).reshape(2, 3, 3)).sum() + x[6] * geometric_slerp(
            np.array([1.0, 0.0]), np.array([0.0, 1.0]), x[6])[0]
    return loss, np.array([0.3, 0.1, -0.4, 0.9, 0.2, 0.5, 0.4])


@case("sympy", "lambdify of a Bessel and piecewise expression with cse", "plain")
def sympy_lambdify():
    import sympy as sp
    a, b, c = sp.symbols("a b c", positive=True)
    g = sp.besselj(1, a * b) * sp.exp(-c) + sp.Piecewise((a**2 * c, a > b), (sp.sin(b), True)) + sp.erf(a * c)
    f = sp.lambdify((a, b, c), [g, g.diff(a) * sp.Max(b, c)], modules=["scipy", "numpy"], cse=True)

    def loss(x):
        u, v = f(x[0], x[1], x[2])
        return u * u + v
    return loss, np.array([1.7, 0.8, 0.6])


@case("sympy", "lambdify of matrices: Lagrangian mechanics' mass matrix and forcing solved", "library")
def sympy_mechanics():
    import sympy as sp
    from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols
    q1, q2 = dynamicsymbols("q1 q2")
    u1, u2 = q1.diff(), q2.diff()
    m, k = sp.symbols("m k")
    lag = m * (u1**2 + u2**2 + u1 * u2 * sp.cos(q1 - q2)) / 2 - k * (sp.cos(q1) + q2**2)
    method = LagrangesMethod(lag, [q1, q2])
    method.form_lagranges_equations()
    t = sp.symbols("a b c d")
    sub = dict(zip((u1, u2, q1, q2), t))
    f = sp.lambdify((t, (m, k)), [method.mass_matrix.subs(sub), method.forcing.subs(sub)])

    def loss(x):
        mass, force = f(x[:4], x[4:])
        acc = np.linalg.solve(mass, force)
        return (acc ** 2).sum()
    return loss, np.array([0.3, -0.4, 0.9, 0.2, 1.3, 0.7])


@case("pint", "Quantity arithmetic: to, to_base_units, dimensionless exp and unit wraps", "subclass")
def pint_quantities():
    import pint
    ureg = pint.UnitRegistry()

    @ureg.wraps("m/s", ("km", "hour"))
    def speed(d, t):
        return d * 1000.0 / (t * 3600.0)

    def loss(x):
        d, t = x[0] * ureg.mile, x[1] * ureg.minute
        v = speed(d, t)
        e = (0.5 * x[2] * ureg.kg * v**2).to("kJ")
        return e.magnitude + np.exp(-(d / (x[3] * ureg.km)).to_base_units().magnitude)
    return loss, np.array([3.2, 14.0, 80.0, 4.0])


# --- optics ----------------------------------------------------------------------------------------------------

@case("laserbeamsize", "basic_beam_size of an image; beam propagation formulas", "library")
def laserbeamsize_moments():
    import laserbeamsize as lbs

    def loss(x):
        xc, yc, d_major, d_minor, _ = lbs.basic_beam_size(x[:25].reshape(5, 5))
        return xc + 0.5 * yc * d_major + d_minor + lbs.beam_radius(x[25], 0.6, 2.0, z0=0.1, M2=1.3)
    return loss, np.concatenate([0.6 + 0.5 * np.sin(np.arange(25.0) ** 1.2), [0.8]])


# --- robotics, kinematics, control -----------------------------------------------------------------------------

@case("modern_robotics", "FKinSpace and JacobianSpace in the joint angles", "iterative")
def modern_robotics_fkin():
    import modern_robotics as mr
    M = np.array([[-1.0, 0, 0, 0], [0, 1, 0, 6.0], [0, 0, -1, 2.0], [0, 0, 0, 1]])
    S = np.array([[0, 0, 1, 4.0, 0, 0], [0, 0, 0, 0, 1, 0], [0, 0, -1, -6, 0, -0.1]]).T

    def loss(x):
        T = mr.FKinSpace(M, S, x)
        J = mr.JacobianSpace(S, x)
        return (T * np.arange(16.0).reshape(4, 4)).sum() + (J * J).sum() * 0.1
    return loss, np.array([0.6, 1.3, 0.4])


@case("modern_robotics", "InverseDynamics / ForwardDynamics of an arm in state and torque", "iterative")
def modern_robotics_dynamics():
    import modern_robotics as mr
    g = np.array([0.0, 0.0, -9.8])
    M01 = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0.089159], [0, 0, 0, 1]])
    M12 = np.array([[0, 0, 1, 0.28], [0, 1, 0, 0.13585], [-1, 0, 0, 0], [0, 0, 0, 1]])
    M23 = np.array([[1, 0, 0, 0], [0, 1, 0, -0.1197], [0, 0, 1, 0.395], [0, 0, 0, 1]])
    M34 = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0.14225], [0, 0, 0, 1]])
    G = np.array([np.diag([0.010267, 0.010267, 0.00666, 3.7, 3.7, 3.7]),
                  np.diag([0.22689, 0.22689, 0.0151074, 8.393, 8.393, 8.393]),
                  np.diag([0.0494433, 0.0494433, 0.004095, 2.275, 2.275, 2.275])])
    Ms = np.array([M01, M12, M23, M34])
    S = np.array([[1, 0, 1, 0, 1, 0], [0, 1, 0, -0.089, 0, 0], [0, 1, 0, -0.089, 0, 0.425]]).T

    def loss(x):
        dd = mr.ForwardDynamics(x[:3], x[3:6], x[6:9], g, np.ones(6), Ms, G, S)
        return (dd * dd).sum() * 1e-3 + dd[0]
    return loss, np.array([0.1, 0.2, 0.3, 0.1, 0.25, 0.3, 0.5, 0.6, 0.7])


@case("modern_robotics", "MatrixLog6, ScrewTrajectory between two poses", "containers")
def modern_robotics_trajectory():
    import modern_robotics as mr

    def loss(x):
        X0 = mr.MatrixExp6(mr.VecTose3(x[:6]))
        X1 = mr.MatrixExp6(mr.VecTose3(x[6:]))
        path = mr.ScrewTrajectory(X0, X1, 2.0, 4, 5)
        return (path[1] * np.arange(16.0).reshape(4, 4)).sum() + path[2][0, 3] ** 2
    return loss, np.array([0.3, 0.1, -0.2, 0.5, 0.1, 0.7, -0.2, 0.6, 0.4, -0.3, 0.9, 0.2])


@case("scikit-robot", "coordinates.math: rpy_matrix, matrix2quaternion, quaternion_slerp, rotation_distance", "plain")
def skrobot_math():
    from skrobot.coordinates import math as m

    def loss(x):
        a, b = m.rpy_matrix(x[0], x[1], x[2]), m.rotation_matrix(x[3], [0.2, 0.5, 0.8])
        q = m.quaternion_slerp(m.matrix2quaternion(a), m.matrix2quaternion(b), x[4])
        return (m.quaternion2matrix(q) * np.arange(9.0).reshape(3, 3)).sum() + (m.matrix_log(a @ b) ** 2).sum()
    return loss, np.array([0.4, 0.2, -0.3, 0.9, 0.4])


@case("scikit-robot", "Coordinates: rotate, translate, transform and difference of frames", "objects")
def skrobot_coordinates():
    from skrobot.coordinates import Coordinates

    def loss(x):
        c = Coordinates(pos=x[:3], rot=np.eye(3))
        c.rotate(x[3], "z").translate(x[4:7])
        c = c.copy_worldcoords().transform(Coordinates(pos=[0.1, 0.4, 0.2]))
        p = c.transform_vector(np.array([0.5, -0.2, 0.3]))
        return (p * p).sum() + c.worldpos()[0]
    return loss, np.array([0.4, 0.2, -0.3, 0.9, 0.4, 0.1, 0.8])


@case("simple-pid", "PID controller steering a first-order plant in its gains", "objects")
def simple_pid_loop():
    from simple_pid import PID

    def loss(x):
        pid = PID(x[0], x[1], x[2], setpoint=1.0, sample_time=None, output_limits=(-20.0, 20.0))
        y, cost = 0.0, 0.0
        for _ in range(8):
            u = pid(y, dt=0.1)
            y = y + 0.1 * (u - y)
            cost = cost + (1.0 - y) ** 2
        return cost
    return loss, np.array([1.7, 0.6, 0.05])


# --- signals, electrical engineering ---------------------------------------------------------------------------

@case("spectrum", "aryule and arburg: AR coefficients of a signal", "iterative")
def spectrum_ar():
    from spectrum import arburg, aryule

    def loss(x):
        a, e, k = aryule(x, 3)
        b, p, _ = arburg(x, 2)
        return (a * a).sum() + e + k[0] + (abs(b) ** 2).sum() + p
    return loss, np.sin(np.arange(12.0) ** 1.2)


@case("spectrum", "CORRELATION and LEVINSON of a signal", "library")
def spectrum_levinson():
    from spectrum import CORRELATION, LEVINSON

    def loss(x):
        r = CORRELATION(x, maxlags=4, norm="unbiased")
        a, p, _ = LEVINSON(r, 3, allow_singularity=True)
        return (a * a).sum() + p
    return loss, np.sin(np.arange(12.0) ** 1.2)


@case("scikit-dsp-comm", "sigsys: peaking filter and conv_sum", "library")
def skdsp_sigsys():
    from sk_dsp_comm import sigsys as ss

    def loss(x):
        b, a = ss.peaking(x[0], 800.0, x[1], 8000.0)
        y, _ = ss.conv_sum(x[2:], np.arange(4), np.array([1.0, 0.4, -0.2]), np.arange(3))
        return (b * b).sum() + a[1] * a[2] + (y * y).sum() + (abs(ss.rect(x[2:], 4.0)) * x[2:]).sum()
    return loss, np.array([4.0, 2.3, 0.3, 1.1, -0.7, 0.6])


@case("mir_eval", "separation.bss_eval_sources: distortion ratios in the estimates", "library")
def mir_eval_ratios():
    from mir_eval.separation import bss_eval_sources
    t = np.arange(700.0)
    ref = np.stack([np.sin(0.1 * t) + 0.1 * np.cos(t * t), np.cos(0.033 * t) + 0.1 * np.sin(t * t)])

    def loss(x):
        est = np.stack([ref[0] + x[0] * ref[1] + x[1] * np.cos(0.7 * t), x[2] * ref[1] + 0.1 * np.sin(0.9 * t)])
        sdr, sir, sar, _ = bss_eval_sources(ref, est, compute_permutation=False)
        return sdr.sum() + 0.1 * sir[0] + sar[1]
    return loss, np.array([0.2, 0.3, 0.9])


@case("vmdpy", "VMD modes of a signal in the signal", "iterative")
def vmdpy_modes():
    from vmdpy import VMD

    def loss(x):
        u, _, _ = VMD(x, 50.0, 0.0, 2, 0, 1, 1e-2)
        return (u[0] ** 2).sum() + u[1][3]
    return loss, np.cos(0.9 * np.arange(12.0)) + 0.4 * np.sin(2.1 * np.arange(12.0))


@case("python_speech_features", "mfcc and delta of a short signal", "library")
def python_speech_features_delta():
    from python_speech_features import delta, mfcc

    def loss(x):
        feat = mfcc(x, samplerate=1000, winlen=0.02, winstep=0.01, numcep=5, nfilt=8, nfft=32)
        return (feat ** 2).sum() * 1e-2 + delta(feat, 2)[1, 2]
    return loss, np.sin(np.arange(50.0) ** 1.2)


@case("electricpy", "characterz, propagation_constants, powerflow and zdecompose of a line", "plain")
def electricpy_line():
    import electricpy as ep

    def loss(x):
        z = ep.characterz(x[0], 1e-3, x[1] * 1e-3, x[2] * 1e-6)
        r, xl = ep.zdecompose(x[3], 2.2)
        return abs(z) + z.real * r + abs(ep.powerflow(x[3] + 0j, 0.9 + 0.1j, xl)) + ep.bridge_impedance(
            x[0], 1.1, x[3], 0.6, 2.0)
    return loss, np.array([0.3, 1.2, 0.9, 1.4])


@case("motulator", "InductionMachine: state derivatives and torque in parameters and fluxes", "objects")
def motulator_model():
    from motulator.drive.model import InductionMachine
    from motulator.drive.utils import InductionMachinePars

    def loss(x):
        pars = InductionMachinePars(n_p=2, R_s=x[0], R_r=x[1], L_ell=0.021, L_s=0.245)
        machine = InductionMachine(pars)
        machine.state.psi_ss, machine.state.psi_rs = x[2] + 1j * x[3], x[4] + 0.3j
        machine.inp.u_ss, machine.inp.w_M = 300.0 + 20.0j, 140.0
        machine.set_outputs(0.0)
        out = machine.rhs()
        return machine.tau_M * 0.1 + sum(abs(d) ** 2 for d in out) * 1e-4
    return loss, np.array([3.7, 2.1, 0.9, 0.2, 0.8])


# --- mechanics, finite elements, thermodynamics ----------------------------------------------------------------

@case("calfem-python", "beam2e, assem, solveq and beam2s: section forces of a frame in stiffness", "library")
def calfem_beam():
    import calfem.core as cfc
    edof = np.array([[1, 2, 3, 4, 5, 6], [4, 5, 6, 7, 8, 9]])
    ex, ey = np.array([[0.0, 2.0], [2.0, 4.5]]), np.array([[0.0, 0.3], [0.3, 0.1]])

    def loss(x):
        K, f = np.zeros((9, 9)), np.zeros((9, 1))
        f[4, 0] = -x[3]
        for k in range(2):
            K = cfc.assem(edof[k], K, cfc.beam2e(ex[k], ey[k], [x[0], x[1], x[2] + 0.1 * k]))
        a, r = cfc.solveq(K, f, np.array([1, 2, 3, 7, 8]))
        return (a * a).sum() + r[1, 0] * 1e-1
    return loss, np.array([2.1, 1.3, 0.9, 0.6])


@case("calfem-python", "plani4e and plante: element stiffness in coordinates and material", "plain")
def calfem_elements():
    import calfem.core as cfc

    def loss(x):
        D = cfc.hooke(1, x[0], x[1])
        K, _ = cfc.plani4e([0.0, x[2], 1.9, 0.1], [0.0, 0.2, x[3], 0.9], [1, 0.5, 2], D)
        T = cfc.plante([0.0, x[2], 1.0], [0.0, 0.1, x[3]], [1, 0.3], np.asarray(D))
        return (K * K).sum() * 1e-2 + T[0, 3] + T[5, 5]
    return loss, np.array([2.1, 0.3, 2.2, 1.4])


@case("felupe", "NeoHooke gradient and hessian (einsum) in the deformation gradient", "library")
def felupe_neo_hooke():
    import felupe as fem

    def loss(x):
        F = (np.eye(3) + 0.2 * x[:9].reshape(3, 3)).reshape(3, 3, 1, 1)
        umat = fem.NeoHooke(mu=x[9], bulk=x[10])
        P = umat.gradient([F, None])[0]
        return (P * P).sum() + umat.function([F, None])[0].sum()
    return loss, np.concatenate([np.sin(np.arange(9.0) ** 1.3), [1.1, 4.3]])


@case("felupe", "mesh, region, field and solid body: internal force in the displacements", "objects")
def felupe_solid_body():
    import felupe as fem
    mesh = fem.Cube(n=2)
    region = fem.RegionHexahedron(mesh)
    umat = fem.NeoHooke(mu=1.0, bulk=2.0)

    def loss(x):
        field = fem.FieldContainer([fem.Field(region, dim=3, values=x.reshape(8, 3))])
        F = field.extract()
        P = umat.gradient([F[0], None])[:1]
        r = fem.IntegralForm(P, v=field, dV=region.dV).assemble().toarray()
        return (r * r).sum() * 10.0
    return loss, 0.1 * np.sin(np.arange(24.0) ** 1.3)


@case("solidspy", "uelutil.uel4nquad and uel3ntrian stiffness in coordinates and Poisson's number", "iterative")
def solidspy_elements():
    from solidspy.uelutil import uel3ntrian, uel4nquad

    def loss(x):
        k, t = uel4nquad(x[:8].reshape(4, 2), x[8], x[9]), uel3ntrian(x[:6].reshape(3, 2), x[8], 1.4)
        return (k * k).sum() * 0.1 + k[2, 5] + t[1, 4]
    return loss, np.array([0.0, 0.1, 1.9, 0.0, 2.1, 1.3, 0.2, 1.1, 0.27, 2.2])


@case("composipy", "OrthotropicMaterial and LaminateProperty: ABD matrix in moduli and angles", "objects")
def composipy_laminate():
    from composipy import LaminateProperty, OrthotropicMaterial

    def loss(x):
        ply = OrthotropicMaterial(x[0], x[1], 0.3, x[2], 0.2)
        laminate = LaminateProperty([x[3], -x[3], 0, 90], ply)
        return (laminate.A ** 2).sum() * 1e-3 + laminate.D[0, 0] + laminate.B[0, 1]
    return loss, np.array([60.0, 4.7, 3.1, 37.0])


@case("structuralcodes", "EC2 concrete: mean strengths and moduli in the characteristic strength", "objects")
def structuralcodes_laws():
    from structuralcodes.codes import ec2_2004

    def loss(x):
        fcm = ec2_2004.fcm(x[0])
        return ec2_2004.fctm(x[0]) + ec2_2004.Ecm(fcm) * 1e-3 + ec2_2004.eps_c1(fcm) * 10.0
    return loss, np.array([31.0])


@case("psychrolib", "CalcPsychrometricsFromTWetBulb (Newton for the dew point) in air's state", "iterative")
def psychrolib_state():
    import psychrolib
    psychrolib.SetUnitSystem(psychrolib.SI)

    def loss(x):
        r = psychrolib.CalcPsychrometricsFromTWetBulb(x[0], x[1], x[2] * 1e5)
        return r[0] * 100.0 + r[2] + r[4] * 1e-4 + r[5] + psychrolib.GetTDewPointFromHumRatio(x[0], r[0], 1e5)
    return loss, np.array([28.0, 19.0, 1.01])


@case("psychrolib", "GetSatVapPres, GetMoistAirEnthalpy, GetMoistAirVolume, GetSeaLevelPressure", "plain")
def psychrolib_formulas():
    import psychrolib
    psychrolib.SetUnitSystem(psychrolib.SI)

    def loss(x):
        w = psychrolib.GetHumRatioFromRelHum(x[0], x[1], x[2] * 1e5)
        return w * 100.0 + psychrolib.GetMoistAirEnthalpy(x[0], w) * 1e-4 + psychrolib.GetMoistAirVolume(
            x[0], w, x[2] * 1e5) + psychrolib.GetSeaLevelPressure(x[2] * 1e5, 105.0, x[0]) * 1e-5
    return loss, np.array([28.0, 0.43, 1.01])


@case("pyromat", "ideal gas N2: enthalpy, entropy and temperature from enthalpy", "objects")
def pyromat_ideal_gas():
    import pyromat as pm
    n2 = pm.get("ig.N2")

    def loss(x):
        h, s = n2.h(T=x[0]), n2.s(T=x[0], p=x[1])
        return float(h[0] * 1e-2 + s[0] + n2.gam(T=x[0])[0])
    return loss, np.array([512.0, 2.3])


@case("pyromat", "multi-phase steam: pressure and energies in temperature and density", "objects")
def pyromat_steam():
    import pyromat as pm
    water = pm.get("mp.H2O")

    def loss(x):
        p = water.p(T=x[0:1], d=x[1:2])
        return p[0] + water.h(T=x[0:1], d=x[1:2])[0] * 1e-3
    return loss, np.array([620.0, 4.3])


@case("pygasflow", "isentropic.m_from_critical_area_ratio (root finding) and prandtl_meyer_angle", "iterative")
def pygasflow_shock():
    from pygasflow.isentropic import m_from_critical_area_ratio, prandtl_meyer_angle

    def loss(x):
        m = m_from_critical_area_ratio(x[0], flag="super")
        return m + prandtl_meyer_angle(x[1]) * 0.1
    return loss, np.array([1.9, 2.6])


@case("pygasflow", "shockwave ratios and oblique deflection in Mach number and gamma", "plain")
def pygasflow_ratios():
    from pygasflow import shockwave as s

    def loss(x):
        return (s.pressure_ratio(x[:2], x[2]) * s.mach_downstream(x[:2], x[2])).sum() \
            + s.total_pressure_ratio(x[:2], x[2]).sum() + s.theta_from_mach_beta(x[0], x[3], x[2])
    return loss, np.array([2.1, 3.0, 1.37, 41.0])


# --- geometry, graphics, colour --------------------------------------------------------------------------------

@case("pyrr", "Quaternion, Matrix44 and Vector3 objects (ndarray subclasses): a view transform", "subclass")
def pyrr_objects():
    from pyrr import Matrix44, Quaternion, Vector3

    def loss(x):
        q = Quaternion.from_axis_rotation(Vector3(x[:3]).normalized, x[3])
        v = q * Vector3(np.array([1.0, 2.0, 0.5]))
        m = Matrix44.from_quaternion(q) * Matrix44.from_translation(x[4:7])
        return v.x - v.y * v.z + (np.asarray(m) ** 2).sum() + q.slerp(Quaternion(), 0.4)[0]
    return loss, np.array([0.3, 0.8, 0.5, 0.7, 0.2, -0.4, 1.1])


@case("pyrr", "matrix44.create_look_at, perspective projection and geometric_tests", "plain")
def pyrr_functions():
    from pyrr import geometric_tests as gt
    from pyrr import matrix44, plane, ray

    def loss(x):
        view = matrix44.create_look_at(x[:3], [0.1, 0.2, 0.0], [0.0, 1.0, 0.0])
        proj = matrix44.create_perspective_projection(x[3], 1.3, 0.1, 10.0)
        hit = gt.ray_intersect_plane(ray.create(x[:3], [0.1, -0.3, -1.0]), plane.create([0.0, 0.2, 1.0], 0.3))
        return ((view @ proj) * np.arange(16.0).reshape(4, 4)).sum() + (hit * hit).sum()
    return loss, np.array([1.3, 0.8, 2.5, 47.0])


@case("compas", "Polygon area, centroid, normal; Frame and Transformation of points", "objects")
def compas_polygon():
    from compas.geometry import Frame, Point, Polygon, Transformation

    def loss(x):
        polygon = Polygon([[x[0], x[1], 0.0], [x[2], x[3], 0.2], [1.1, 1.3, x[4]], [0.1, 0.9, 0.1]])
        T = Transformation.from_frame(Frame([x[4], 0.1, 0.3], [1.0, x[5], 0.0], [0.0, 1.0, 0.2]))
        p = Point(x[0], x[1], 0.7).transformed(T)
        return polygon.area + polygon.centroid[0] + p.x * p.y + p.z
    return loss, np.array([0.1, 0.0, 1.3, 0.2, 0.3, 0.4])


@case("compas", "volume_polyhedron, distance_line_line, intersection_line_plane of lists", "containers")
def compas_functions():
    from compas.geometry import angle_vectors, distance_line_line, intersection_line_plane, volume_polyhedron
    faces = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]

    def loss(x):
        pts = [list(x[3 * k:3 * k + 3]) for k in range(4)]
        hit = intersection_line_plane((pts[0], pts[1]), ([0.0, 0.0, 0.3], [0.1, 0.2, 1.0]))
        return volume_polyhedron((pts, faces)) + distance_line_line((pts[0], pts[1]), (pts[2], pts[3])) \
            + hit[0] + angle_vectors(pts[1], pts[2])
    return loss, np.array([0.1, 0.0, 0.1, 1.3, 0.2, 0.6, 0.3, 1.4, 0.2, 0.4, 0.5, 1.7])


@case("svgpathtools", "Path of CubicBezier and Arc: length, point, derivative, curvature", "objects")
def svgpathtools_path():
    from svgpathtools import CubicBezier, QuadraticBezier

    def loss(x):
        c = CubicBezier(0j, x[0] + 1j * x[1], x[2] + 1j * x[3], 3.0 + 0.5j)
        q = QuadraticBezier(3.0 + 0.5j, x[4] + 2.0j, 4.0 + 1j * x[5])
        p = c.point(0.3) * q.derivative(0.6).conjugate()
        return p.real + c.curvature(0.4) + q.length() + abs(c.unit_tangent(0.2) - q.normal(0.5))
    return loss, np.array([0.7, 1.6, 2.1, -0.4, 3.6, 0.9])


@case("fonttools", "misc.transform.Transform and varLib.models.VariationModel", "containers")
def fonttools_variation():
    from fontTools.misc.transform import Identity
    from fontTools.varLib.models import VariationModel
    model = VariationModel([{}, {"wght": 1.0}, {"wdth": 1.0}, {"wght": 1.0, "wdth": 1.0}])

    def loss(x):
        value = model.interpolateFromMasters({"wght": x[0], "wdth": x[1]}, [10.0, x[2], x[3], 31.0])
        t = Identity.rotate(x[0]).scale(x[1], 1.4).skew(0.2, x[4])
        px, py = t.transformPoint((1.3, 0.4))
        return value + px * py + t.inverse()[4] + t.toDecomposed().rotation * 0.01
    return loss, np.array([0.3, 0.7, 17.0, 12.0, 0.15])


@case("ezdxf", "math.EulerSpiral: point, radius and tangent", "containers")
def ezdxf_euler_spiral():
    from ezdxf.math import EulerSpiral

    def loss(x):
        spiral = EulerSpiral(x[0])
        p = spiral.point(x[1])
        return p.x + 2.0 * p.y + spiral.radius(x[1]) * 0.1 + spiral.tangent(x[1]).angle
    return loss, np.array([1.4, 1.1])


@case("colormath", "convert_color sRGB to Lab, LCHuv; delta_e_cie2000", "objects")
def colormath_convert():
    from colormath.color_conversions import convert_color
    from colormath.color_diff_matrix import delta_e_cie2000
    from colormath.color_objects import LabColor, LuvColor, sRGBColor

    def loss(x):
        lab = convert_color(sRGBColor(x[0], x[1], x[2]), LabColor)
        luv = convert_color(sRGBColor(x[2], x[0], x[1]), LuvColor)
        d = delta_e_cie2000(np.array(lab.get_value_tuple()), np.array([[50.0, 2.0, -30.0]]))
        return d[0] + luv.luv_l * 0.1 + luv.luv_u
    return loss, np.array([0.4, 0.7, 0.25])


@case("colormath", "XYZ to IPT and chromatic adaptation to another illuminant", "library")
def colormath_adaptation():
    from colormath.chromatic_adaptation import apply_chromatic_adaptation
    from colormath.color_conversions import XYZ_to_IPT, XYZ_to_xyY
    from colormath.color_objects import XYZColor

    def loss(x):
        a, b, c = apply_chromatic_adaptation(x[0], x[1], x[2], "d50", "d65")
        ipt = XYZ_to_IPT(XYZColor(a, b, c, illuminant="d65"))
        xyy = XYZ_to_xyY(XYZColor(x[0], x[1], x[2]))
        return ipt.ipt_i + ipt.ipt_p * 2.0 + ipt.ipt_t + xyy.xyy_x
    return loss, np.array([0.4, 0.35, 0.25])
