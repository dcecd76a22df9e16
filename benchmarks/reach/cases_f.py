"""Natural sciences and engineering: sky, earth, air and water, molecules, machines, light, sound, images, nerves."""

import numpy as np
from cases import case

# --- astronomy -------------------------------------------------------------------------------------------------

@case("synphot", "SourceSpectrum of BlackBody1D and ConstFlux1D (quantities, models) at wavelengths", "subclass")
def synphot_source_spectrum():
    from synphot.models import BlackBody1D, ConstFlux1D
    from synphot.spectrum import SourceSpectrum
    wave = np.array([3000.0, 4500.0, 7000.0])

    def loss(x):
        star = SourceSpectrum(BlackBody1D, temperature=x[0])
        flat = SourceSpectrum(ConstFlux1D, amplitude=x[1])
        return float(((star(wave).value * 1e-3 + flat(wave).value) ** 2).sum())
    return loss, np.array([5800.0, 1.3])


@case("synphot", "SpectralElement of Empirical1D: pivot, average wavelength and equivalent width", "objects")
def synphot_bandpass():
    from synphot.models import Empirical1D
    from synphot.spectrum import SpectralElement
    wave = np.array([4000.0, 4500.0, 5200.0, 5900.0, 6500.0])

    def loss(x):
        band = SpectralElement(Empirical1D, points=wave, lookup_table=x)
        return band.pivot().value * 1e-3 + band.avgwave().value * 1e-3 + band.equivwidth().value * 1e-3
    return loss, np.array([0.1, 0.7, 0.9, 0.6, 0.2])


@case("naima", "models.ExponentialCutoffPowerLaw and LogParabola (quantities) in their parameters", "subclass")
def naima_particle_distributions():
    import astropy.units as u
    from naima.models import ExponentialCutoffPowerLaw, LogParabola
    energy = np.array([0.3, 1.1, 4.0, 20.0]) * u.TeV

    def loss(x):
        ecpl = ExponentialCutoffPowerLaw(x[0] / u.eV, 1 * u.TeV, x[1], x[2] * u.TeV, x[3])
        lp = LogParabola(1.1 / u.eV, 1 * u.TeV, x[4], 0.2)
        return (ecpl(energy).value * lp(energy).value).sum()
    return loss, np.array([1.2, 2.1, 13.0, 0.8, 1.7])


@case("naima", "Synchrotron.flux of an electron population in field, index and cut-off", "subclass")
def naima_synchrotron():
    import astropy.units as u
    from naima.models import ExponentialCutoffPowerLaw, Synchrotron

    def loss(x):
        electrons = ExponentialCutoffPowerLaw(1e36 / u.eV, 1 * u.TeV, x[0], x[1] * u.TeV)
        syn = Synchrotron(electrons, B=x[2] * u.uG, Eemax=50 * u.PeV, Eemin=100 * u.GeV, nEed=20)
        return (np.array([1.0, 2.5]) * syn.flux(np.array([0.1, 2.0]) * u.keV, distance=1 * u.kpc).value).sum() * 1e4
    return loss, np.array([2.3, 40.0, 90.0])


@case("stonesoup", "functions.orbital: true anomaly (Newton) and perifocal position", "iterative")
def stonesoup_orbit():
    from stonesoup.functions.orbital import perifocal_position, tru_anom_from_mean_anom

    def loss(x):
        nu = tru_anom_from_mean_anom(x[0], x[1])
        p = perifocal_position(x[1], x[2], nu)
        return float(p[0, 0] * 1.5 + p[1, 0] + nu)
    return loss, np.array([1.3, 0.4, 2.7])


# --- geodesy, seismology ---------------------------------------------------------------------------------------

@case("pygeodesy", "ellipsoidalVincenty.LatLon.distanceTo and bearings in two points", "objects")
def pygeodesy_vincenty():
    from pygeodesy.ellipsoidalVincenty import LatLon

    def loss(x):
        p, q = LatLon(x[0], x[1]), LatLon(x[2], x[3])
        return p.distanceTo(q) * 1e-5 + p.initialBearingTo(q) * 0.01
    return loss, np.array([52.2, 0.14, 48.9, 2.35])


@case("pygeodesy", "sphericalTrigonometry: intermediate point, cross-track distance", "objects")
def pygeodesy_spherical():
    from pygeodesy.sphericalTrigonometry import LatLon

    def loss(x):
        p, q, r = LatLon(x[0], x[1]), LatLon(x[2], x[3]), LatLon(53.2, -1.7)
        m = p.intermediateTo(q, x[4])
        return m.lat + 2.0 * m.lon + r.crossTrackDistanceTo(p, q) * 1e-4
    return loss, np.array([50.1, -5.7, 58.6, 3.1, 0.3])


@case("pygeodesy", "ecef.EcefKarney forward and reverse; meridian arc and curvature of an ellipsoid", "plain")
def pygeodesy_ecef():
    from pygeodesy import Ellipsoids
    from pygeodesy.ecef import EcefKarney
    ecef, wgs84 = EcefKarney(Ellipsoids.WGS84), Ellipsoids.WGS84

    def loss(x):
        t = ecef.forward(x[0], x[1], x[2])
        back = ecef.reverse(t.x * 1.01, t.y, t.z * 0.99)
        return (t.x + 2.0 * t.y + t.z) * 1e-6 + back.lat + wgs84.Llat(x[0]) * 1e-6 + wgs84.rocPrimeVertical(x[0]) * 1e-6
    return loss, np.array([48.2, 16.3, 900.0])


@case("pygeodesy", "utm.toUtm8 and etm: easting, northing and convergence in a position", "iterative")
def pygeodesy_utm():
    from pygeodesy.utm import toUtm8

    def loss(x):
        u = toUtm8(x[0], x[1])
        return u.easting * 1e-5 + u.northing * 1e-6 + u.convergence + u.scale
    return loss, np.array([48.2, 16.9])


@case("eqsig", "sdof.response_series (Nigam and Jennings) in the acceleration and the damping", "iterative")
def eqsig_response_series():
    from eqsig.sdof import response_series
    periods = np.array([0.3, 0.8])

    def loss(x):
        d, v, a = response_series(x[:-1], 0.05, periods, x[-1])
        return (d * d).sum() * 100.0 + (v * v).sum() + (a * a).sum() * 0.1
    return loss, np.concatenate([np.sin(np.arange(12.0) ** 1.2), [0.07]])


@case("eqsig", "AccSignal: arias intensity, velocity, displacement and Fourier spectrum of a record", "objects")
def eqsig_signal():
    from eqsig import AccSignal
    from eqsig.im import calc_arias_intensity, calc_cav

    def loss(x):
        sig = AccSignal(x, 0.02)
        return calc_arias_intensity(sig)[-1] + (sig.velocity ** 2).sum() + calc_cav(sig)[-1] \
            + (np.abs(sig.fa_spectrum) ** 2).sum()
    return loss, np.sin(np.arange(12.0) ** 1.2) + 0.05


@case("eqsig", "stockwell.transform of a record", "library")
def eqsig_stockwell():
    from eqsig.stockwell import transform

    def loss(x):
        return (np.abs(transform(x)) ** 2 * np.arange(1.0, 13.0)).sum() * 0.1
    return loss, np.sin(np.arange(12.0) ** 1.2)


@case("pygmm", "BooreStewartSeyhanAtkinson2014: spectra in magnitude, distance and shear velocity", "objects")
def pygmm_bssa():
    from pygmm import BooreStewartSeyhanAtkinson2014, Scenario

    def loss(x):
        m = BooreStewartSeyhanAtkinson2014(Scenario(mag=x[0], dist_jb=x[1], v_s30=x[2], mechanism="SS"))
        return float(m.spec_accels.sum() + m.ln_stds.sum() + m.pga)
    return loss, np.array([6.3, 21.0, 430.0])


@case("pygmm", "CampbellBozorgnia2014: peak ground velocity and a spectrum at other periods", "containers")
def pygmm_cb():
    from pygmm import CampbellBozorgnia2014, Scenario

    def loss(x):
        m = CampbellBozorgnia2014(Scenario(
            mag=x[0], dist_rup=x[1], dist_jb=x[1] - 1.0, dist_x=x[1] - 1.0, v_s30=x[2], dip=60.0, mechanism="RS",
            region="california", on_hanging_wall=False))
        return m.pgv * 0.1 + (m.interp_spec_accels(np.array([0.11, 0.7])) ** 2).sum() * 10.0
    return loss, np.array([6.3, 21.0, 430.0])


# --- climate, hydrology, oceans --------------------------------------------------------------------------------

@case("climlab", "solar.insolation.daily_insolation in latitude, day and orbital elements", "plain")
def climlab_insolation():
    from climlab.solar.insolation import daily_insolation

    def loss(x):
        orb = {"ecc": x[2], "long_peri": x[3], "obliquity": x[4]}
        return float(daily_insolation(x[0], x[1], orb, S0=x[5])) * 1e-2
    return loss, np.array([37.0, 112.0, 0.017, 281.4, 23.4, 1365.2])


@case("climlab", "utils.thermo: moist adiabat, inversion strength, Planck function, LCL", "plain")
def climlab_thermo():
    from climlab.utils import thermo

    def loss(x):
        return thermo.pseudoadiabat(x[0], x[1]) * 100.0 + thermo.EIS(x[0], x[2]) + thermo.qsat(x[0], x[1]) * 100.0 \
            + thermo.Planck_wavelength(10e-6, x[0]) * 1e-6 + thermo.lifting_condensation_level(x[0], x[3]) * 1e-3
    return loss, np.array([291.0, 850.0, 279.0, 0.7])


@case("climlab", "an energy balance model EBM: tendencies and a time step in its coefficients", "objects")
def climlab_ebm():
    from climlab import EBM

    def loss(x):
        model = EBM(num_lat=10, D=x[0], A=x[1], B=x[2])
        model.step_forward()
        model.step_forward()
        return float((model.Ts * np.arange(1.0, 11.0)[:, None]).sum()) * 0.01
    return loss, np.array([0.55, 210.0, 2.1])


@case("anaflow", "theis: drawdown (Stehfest inversion of Bessel functions) in storage and transmissivity", "library")
def anaflow_theis():
    from anaflow import theis

    def loss(x):
        h = theis([10.0, 120.0], [1.5, 6.0], x[0] * 1e-3, x[1] * 1e-4, -1e-4)
        return (h * h).sum() + h[1, 0]
    return loss, np.array([0.7, 1.3])


@case("anaflow", "ext_thiem_2d and T_CG coarse-grained transmissivity", "plain")
def anaflow_thiem():
    from anaflow import ext_thiem_2d, thiem
    from anaflow.tools.coarse_graining import T_CG
    rad = np.array([0.5, 2.0, 7.0])

    def loss(x):
        return (ext_thiem_2d(rad, 20.0, x[0] * 1e-3, x[1], x[2], -1e-4) ** 2).sum() \
            + thiem(rad, 20.0, x[0] * 1e-3, -1e-4).sum() + T_CG(rad, x[0], x[1], x[2]).sum()
    return loss, np.array([1.1, 0.8, 9.0])


@case("utide", "harmonics.FUV: nodal factors and astronomical argument in time and latitude", "plain")
def utide_fuv():
    from utide.harmonics import FUV
    lind = np.array([30, 47, 12])

    def loss(x):
        f, u, v = FUV(7.3e5 + x[:2], 7.3e5, lind, x[2], [0, 0, 0, 0])
        return (f * f).sum() + (2.0 * np.pi * u).sum() * 10.0 + (v * np.array([1.0, 2.0, 1.5])).sum() * 0.1
    return loss, np.array([1.3, 40.2, 47.0])


@case("utide", "solve (least squares, fixed constituents): amplitudes in the measured levels", "containers")
def utide_solve():
    from utide import solve
    t = 730000.0 + np.arange(60.0) / 12.0

    def loss(x):
        level = np.sin(2 * np.pi * t / 0.5175) + x.repeat(10) * np.cos(2 * np.pi * t / 0.997)
        coef = solve(t, level, lat=40.0, constit=["M2", "K1"], method="ols", conf_int="none", nodal=False,
                     trend=False, verbose=False, epoch="python")
        return (coef.A ** 2).sum() + coef.mean * 3.0
    return loss, np.array([0.5, 0.7, 0.4, 0.6, 0.55, 0.45])


# --- chemistry, materials, molecules ---------------------------------------------------------------------------

@case("phasepy", "preos of a pure fluid: pressure, fugacity and volume (cubic roots)", "objects")
def phasepy_pure():
    from phasepy import component, preos
    water = component(name="water", Tc=647.13, Pc=220.55, Zc=0.229, Vc=55.948, w=0.344861)
    eos = preos(water)

    def loss(x):
        lnphi, v = eos.logfug(x[0], x[1], "V")
        return float((eos.pressure(x[0], x[2]) * 0.01 + lnphi + v * 1e-4).sum())
    return loss, np.array([520.0, 17.0, 3000.0])


@case("phasepy", "actmodels.nrtl: activity coefficients in composition and temperature (compiled)", "library")
def phasepy_activity():
    from phasepy.actmodels import nrtl
    alpha, g1 = np.array([[0.0, 0.5], [0.5, 0.0]]), np.zeros((2, 2))
    g = np.array([[0.0, 801.9], [-351.7, 0.0]])

    def loss(x):
        X = np.array([x[0], 1.0 - x[0]])
        return (nrtl(X, x[1], alpha, g, g1) ** 2).sum()
    return loss, np.array([0.3, 345.0])


@case("phasepy", "component: Antoine vapour pressure, its temperature, liquid volume by Rackett", "objects")
def phasepy_component():
    from phasepy import component
    water = component(name="water", Tc=647.13, Pc=220.55, Zc=0.229, Vc=55.948, w=0.344861,
                      Ant=[11.64785144, 3797.41566067, -46.77830444])

    def loss(x):
        return float(water.psat(x[0]) + water.vlrackett(x[0]) * 0.1 + water.tsat(x[1]) * 0.01)
    return loss, np.array([360.0, 1.7])


@case("xraydb", "mirror_reflectivity in angle, density and roughness", "plain")
def xraydb_mirror():
    import xraydb

    def loss(x):
        r = xraydb.mirror_reflectivity("Rh", x[:3], 8000.0, density=x[3], roughness=x[4])
        return (r * r).sum()
    return loss, np.array([0.004, 0.006, 0.0075, 12.4, 3.0])


@case("xraydb", "f0, attenuation by Elam's splines and material_mu in energy", "containers")
def xraydb_scattering():
    import xraydb

    def loss(x):
        return float(xraydb.f0("Fe2+", x[0])[0] + float(xraydb.mu_elam("Cu", x[1])) * 0.01
                     + xraydb.material_mu("kapton", x[1]) * 0.1)
    return loss, np.array([0.5, 9500.0])


@case("mendeleev", "electronegativity: formulas in charge, radius and ionisation energies", "objects")
def mendeleev_scales():
    from mendeleev import electronegativity as en

    def loss(x):
        return en.allred_rochow(x[0], x[1]) * 1e3 + en.cottrell_sutton(x[0], x[1]) + en.gordy(x[0], x[1]) \
            + en.martynov_batsanov([x[2], 24.4, 47.9]) + en.mulliken(x[2], 1.3)
    return loss, np.array([3.2, 75.0, 11.3])


@case("biotite", "structure.box: fractions, volume and unit cell in box vectors", "plain")
def biotite_box():
    import biotite.structure as struc

    def loss(x):
        box = x[:9].reshape(3, 3)
        frac = struc.coord_to_fraction(x[9:].reshape(2, 3), box)
        cell = struc.unitcell_from_vectors(box)
        return struc.box_volume(box) + (frac * frac).sum() + cell[0] * cell[4] + cell[5] * 2.0
    return loss, np.array([3.1, 0.1, 0.2, 0.3, 4.2, 0.1, -0.2, 0.4, 5.3, 0.3, 0.7, 1.2, 2.2, 0.6, 1.9])


@case("prody", "calcTransformation, calcRMSD and calcGyradius of coordinates", "library")
def prody_superpose():
    import prody
    prody.confProDy(verbosity="none")
    target = np.cos(np.arange(15.0) ** 1.1).reshape(5, 3) * 3.0

    def loss(x):
        mobile = x.reshape(5, 3)
        moved = prody.calcTransformation(mobile, target).apply(mobile)
        return prody.calcRMSD(moved, target) + 0.1 * prody.calcGyradius(mobile)
    return loss, np.cos(np.arange(15.0) ** 1.1) * 3.0 + 0.4 * np.sin(np.arange(15.0) ** 1.7)


@case("prody", "ANM: Hessian, modes and square fluctuations in coordinates", "objects")
def prody_anm():
    import prody
    prody.confProDy(verbosity="none")

    def loss(x):
        anm = prody.ANM("chain")
        anm.buildHessian(x.reshape(7, 3), cutoff=15.0, gamma=1.3)
        anm.calcModes(n_modes=None)
        return (prody.calcSqFlucts(anm) * np.arange(1.0, 8.0)).sum()
    return loss, 4.0 * np.sin(np.arange(21.0) ** 1.3)


# --- mechanics, structures, machines ---------------------------------------------------------------------------

@case("sectionproperties", "fea.Tri6: area, first and second moments of an element in its corners", "objects")
def sectionproperties_analysis():
    from sectionproperties.analysis.fea import Tri6
    from sectionproperties.pre.pre import DEFAULT_MATERIAL

    def loss(x):
        c = x.reshape(3, 2)
        corners = np.array([c[0], c[1], c[2], (c[0] + c[1]) / 2, (c[1] + c[2]) / 2, (c[2] + c[0]) / 2]).T
        tri = Tri6(0, corners, [0, 1, 2, 3, 4, 5], DEFAULT_MATERIAL)
        area, qx, qy, ixx, iyy, ixy = tri.geometric_properties()[:6]
        return area + qx * 2.0 + qy + ixx + iyy * 0.5 + ixy
    return loss, np.array([0.0, 0.1, 2.1, 0.2, 0.7, 1.6])


@case("sectionproperties", "fea: torsion stiffness of an element, principal_coordinate", "containers")
def sectionproperties_element():
    from sectionproperties.analysis.fea import Tri6, principal_coordinate
    from sectionproperties.pre.pre import DEFAULT_MATERIAL

    def loss(x):
        c = x.reshape(3, 2)
        corners = np.array([c[0], c[1], c[2], (c[0] + c[1]) / 2, (c[1] + c[2]) / 2, (c[2] + c[0]) / 2]).T
        tri = Tri6(0, corners, [0, 1, 2, 3, 4, 5], DEFAULT_MATERIAL)
        k, f, _ = tri.torsion_properties()
        p = principal_coordinate(phi=x[5] * 10.0, x=x[2], y=x[3])
        return (k * k).sum() + (f * f).sum() + p[0] * p[1]
    return loss, np.array([0.0, 0.1, 2.1, 0.2, 0.7, 1.6])


@case("eqsig", "displacements: velocity and displacement of an acceleration record, both integrations", "library")
def eqsig_displacement():
    from eqsig.displacements import calc_velo_and_disp_from_accel_arr

    def loss(x):
        v, d = calc_velo_and_disp_from_accel_arr(x, 0.1)
        v2, d2 = calc_velo_and_disp_from_accel_arr(x, 0.1, trap=False)
        return (v * v).sum() + d[-1] + (d2 * v2).sum()
    return loss, np.sin(np.arange(12.0) ** 1.2)


@case("kinpy", "forward kinematics and Jacobian of a chain read from URDF", "objects")
def kinpy_chain():
    import kinpy as kp
    joint = ('<joint name="j{0}" type="revolute"><parent link="l{0}"/><child link="l{1}"/>'
             '<origin xyz="0.1 0.2 {2}" rpy="0.3 0 0.1"/><axis xyz="{3}"/>'
             '<limit lower="-3" upper="3" effort="1" velocity="1"/></joint>')
    links = "".join(f'<link name="l{k}"/>' for k in range(4))
    joints = "".join(joint.format(k, k + 1, 0.5 + 0.1 * k, a) for k, a in enumerate(["0 0 1", "0 1 0", "1 0 0"]))
    chain = kp.build_serial_chain_from_urdf(f'<robot name="r">{links}{joints}</robot>', "l3")

    def loss(x):
        pose = chain.forward_kinematics(x)
        return (pose.pos * np.array([1.0, 2.0, -1.0])).sum() + (chain.jacobian(x) ** 2).sum() * 0.1
    return loss, np.array([0.3, -0.7, 1.1])


# --- wind, light, sound ----------------------------------------------------------------------------------------

@case("floris", "wake_velocity.gauss: rC and gaussian_function in widths, thrust and yaw (numexpr)", "plain")
def floris_gauss_deficit():
    from floris.core.wake_velocity.gauss import gaussian_function, rC

    def loss(x):
        y, z = np.array([[0.0, 20.0, 45.0]]), np.array([[90.0, 100.0, 70.0]])
        r2, C = rC(3.0, x[0], x[1], y, x[2], 4.0, z, 90.0, x[3], x[4], 126.0)
        return float((gaussian_function(C, r2, 1, np.sqrt(0.5)) ** 2).sum()) * 10.0
    return loss, np.array([50.0, 45.0, 5.0, 0.7, 12.0])


@case("floris", "SimpleTurbine: power and axial induction by a table (interp1d) in velocities", "library")
def floris_turbine_power():
    from floris.core.turbine.operation_models import SimpleTurbine
    table = {"wind_speed": [0.0, 4.0, 7.0, 10.0, 13.0, 25.0], "power": [0.0, 100.0, 900.0, 2900.0, 5000.0, 5000.0],
             "thrust_coefficient": [0.1, 0.9, 0.8, 0.75, 0.5, 0.1], "ref_air_density": 1.225}

    def loss(x):
        v = x.reshape(1, 2, 2, 2)
        p = SimpleTurbine.power(table, v, 1.2)
        return p.sum() * 1e-6 + SimpleTurbine.axial_induction(table, v).sum()
    return loss, np.array([7.5, 8.1, 8.4, 9.1, 8.8, 9.4, 7.9, 8.3])


@case("ElectroMagneticPython", "IsotropicTransferMatrix.solve: a stack in thicknesses, indices and angle", "objects")
def empy_transfer_matrix():
    import EMpy
    from EMpy.materials import IsotropicMaterial, RefractiveIndex

    def loss(x):
        def layer(n, d):
            return EMpy.utils.Layer(IsotropicMaterial("", n0=RefractiveIndex(n0_const=n)), d)

        stack = EMpy.utils.Multilayer([layer(1.0, np.inf), layer(x[0], x[1] * 1e-6), layer(x[2], x[3] * 1e-6),
                                         layer(1.5, np.inf)])
        r = EMpy.transfer_matrix.IsotropicTransferMatrix(stack, x[4]).solve(np.array([1.4e-6, 1.6e-6]))
        return (r.Rs + 2.0 * r.Rp).sum() + r.Ts[0]
    return loss, np.array([2.1, 0.3, 1.4, 0.5, 0.4])


@case("ElectroMagneticPython", "utils: Euler rotation of a tensor, Snell's law, black body", "library")
def empy_utils():
    from EMpy.utils import blackbody, euler_rotate, snell

    def loss(x):
        m = euler_rotate(np.diag([1.2, 1.3, 1.6]), x[0], x[1], x[2])
        return (m * np.arange(9.0).reshape(3, 3)).sum() + snell(x[0], np.array([1.0, 1.5, x[3]])).sum() \
            + blackbody(3e14, x[4] * 1e3) * 1e8
    return loss, np.array([0.3, 0.8, -0.4, 1.7, 5.8])


@case("rayoptics", "elem.profiles: rays on a conic and an even asphere (Spencer's Newton)", "iterative")
def rayoptics_profiles():
    from rayoptics.elem.profiles import Conic, EvenPolynomial

    def loss(x):
        p0, d = np.array([x[0], x[1], 0.0]), np.array([0.1, 0.2, np.sqrt(0.95)])
        s1, p1 = Conic(c=x[2], cc=x[3]).intersect(p0, d, 1e-12, 1.0)
        surface = EvenPolynomial(c=x[2], cc=x[3], coefs=[0.0, 1e-3, 2e-4])
        s2, p2 = surface.intersect(p0, d, 1e-12, 1.0)
        return s1 + p1[0] * 2.0 + s2 + (surface.normal(p2) * np.array([1.0, 2.0, 3.0])).sum()
    return loss, np.array([0.7, 0.4, 0.06, -0.6])


@case("mosqito", "noct_spectrum levels of a signal (Butterworth filters of second order sections)", "library")
def mosqito_noct():
    from mosqito.sound_level_meter import noct_spectrum

    def loss(x):
        spec, freqs = noct_spectrum(x, 8000, fmin=200, fmax=1500)
        return (np.ravel(spec) * np.arange(1.0, len(freqs) + 1)).sum()
    return loss, np.sin(np.arange(48.0) ** 1.2) + 0.2


@case("mosqito", "core loudness by Zwicker of third octave levels; conversions between bark, hertz, dB", "library")
def mosqito_loudness():
    from mosqito import amp2db, freq2bark
    from mosqito.sq_metrics.loudness.loudness_zwst._main_loudness import _main_loudness
    levels = 55.0 + 10.0 * np.sin(np.arange(28.0))

    def loss(x):
        core = _main_loudness(x[0] * levels, "free")
        return core.sum() + amp2db(x[1:2], 2e-5)[0] * 0.1 + freq2bark(np.array([x[2]]))[0]
    return loss, np.array([1.02, 0.3, 440.0])


# --- signals, images, geometry ---------------------------------------------------------------------------------

@case("sewar", "full_ref.ssim of two small images", "library")
def sewar_ssim():
    from sewar.full_ref import ssim
    truth = (127.0 + 90.0 * np.sin(np.arange(36.0))).reshape(6, 6)

    def loss(x):
        s, cs = ssim(truth, x.reshape(6, 6), ws=3, MAX=255)
        return s + 2.0 * cs
    return loss, 127.0 + 80.0 * np.sin(np.arange(36.0) + 0.2)


@case("sewar", "full_ref.sam, ergas, psnr and rmse of two small images of three bands", "library")
def sewar_ergas():
    from sewar.full_ref import ergas, psnr, rmse, sam
    truth = (127.0 + 90.0 * np.sin(np.arange(27.0))).reshape(3, 3, 3)

    def loss(x):
        image = x.reshape(3, 3, 3)
        return rmse(truth, image) + psnr(truth, image, MAX=255) + sam(truth, image) + ergas(truth, image)
    return loss, 127.0 + 80.0 * np.sin(np.arange(27.0) + 0.2)


@case("vg", "rotate, angle, signed_angle, scalar_projection, reject", "plain")
def vg_vectors():
    import vg

    def loss(x):
        a, b = x[:3], x[3:6]
        r = vg.rotate(a, b, x[6])
        return vg.angle(a, b) * 0.01 + vg.signed_angle(a, b, vg.basis.z) * 0.02 \
            + (r * np.array([1.0, 2.0, 3.0])).sum() + vg.scalar_projection(a, b) \
            + (vg.reject(a, b) ** 2).sum() + vg.euclidean_distance(a, r)
    return loss, np.array([0.3, 0.9, 0.4, 1.1, -0.3, 0.6, 35.0])


@case("rowan", "exp, log, rotate, to_euler and to_matrix of quaternions", "plain")
def rowan_functions():
    import rowan

    def loss(x):
        q = rowan.normalize(x[:4])
        v = rowan.rotate(q, x[4:7])
        e = np.ravel(rowan.to_euler(q))
        p = rowan.exp(x[:4] * 0.5)
        return (v * np.array([1.0, 2.0, 3.0])).sum() + e[0] + 2.0 * e[1] + (rowan.log(p)[1:] ** 2).sum() \
            + rowan.to_matrix(q)[1, 2]
    return loss, np.array([0.8, 0.3, -0.2, 0.4, 1.0, 0.5, -0.7])


@case("rowan", "interpolate.slerp and squad, mapping.kabsch, geometry distances", "library")
def rowan_interpolate():
    import rowan
    points = np.cos(np.arange(12.0) ** 1.1).reshape(4, 3)

    def loss(x):
        p, q = rowan.normalize(x[:4]), rowan.normalize(x[4:8])
        s = rowan.interpolate.slerp(p, q, x[8])
        R, t = rowan.mapping.kabsch(points, points @ rowan.to_matrix(np.ravel(s)).T + x[:3])
        return (np.ravel(s) * np.arange(1.0, 5.0)).sum() + R[0, 1] + t[2] + rowan.geometry.intrinsic_distance(p, q)
    return loss, np.array([0.8, 0.3, -0.2, 0.4, 0.6, -0.1, 0.5, 0.3, 0.35])


@case("coxeter", "Ellipse, Ellipsoid and Sphere: perimeter, surface, inertia in semi-axes", "objects")
def coxeter_ellipsoid():
    from coxeter.shapes import Ellipse, Ellipsoid

    def loss(x):
        e, s = Ellipse(x[0], x[1]), Ellipsoid(x[0], x[1], x[2])
        return e.perimeter + e.eccentricity + s.surface_area * 0.1 + s.inertia_tensor[0, 0] * 0.01 + s.iq
    return loss, np.array([2.1, 1.3, 0.8])


@case("coxeter", "Polygon: area, moments, centroid, form factor in vertices", "objects")
def coxeter_polygon():
    from coxeter.shapes import Polygon

    def loss(x):
        shape = Polygon(x.reshape(5, 2), test_simple=False)
        ix, iy, ixy = shape.planar_moments_inertia
        return shape.area + ix + iy * 2.0 + ixy + shape.centroid[0] + shape.perimeter * 0.3
    return loss, np.array([0.0, 0.1, 1.9, -0.2, 2.4, 1.2, 1.1, 2.0, -0.3, 1.4])


@case("pymanopt", "manifolds Stiefel, Grassmann and SPD: retraction, exp, log, distance", "objects")
def pymanopt_manifolds():
    from pymanopt.manifolds import Grassmann, Stiefel, SymmetricPositiveDefinite
    st, gr, spd = Stiefel(4, 2), Grassmann(4, 2), SymmetricPositiveDefinite(2)
    x0 = np.linalg.qr(np.sin(np.arange(8.0) ** 1.3).reshape(4, 2))[0]

    def loss(x):
        v = st.projection(x0, x[:8].reshape(4, 2))
        y = st.retraction(x0, v)
        a = x[8:12].reshape(2, 2)
        p = a @ a.T + np.eye(2)
        return (y * np.arange(8.0).reshape(4, 2)).sum() + gr.dist(x0, y) + spd.dist(p, np.eye(2)) \
            + (spd.log(np.eye(2), p) ** 2).sum() + (st.exp(x0, v) ** 3).sum()
    return loss, np.array([0.3, -0.2, 0.4, 0.1, 0.5, -0.3, 0.2, 0.6, 1.1, 0.3, -0.2, 0.8])


# --- biology, neuroscience, tracking ---------------------------------------------------------------------------

@case("nengo", "LIFRate and Sigmoid: gains, biases and rates", "objects")
def nengo_neurons():
    import nengo

    def loss(x):
        lif = nengo.LIFRate(tau_rc=0.02, tau_ref=0.002)
        gain, bias = lif.gain_bias(x[:2] * 100.0, x[2:4])
        rates = lif.rates(x[4:6], gain, bias)
        return (rates * rates).sum() * 1e-4 + nengo.Sigmoid().rates(x[4:6], gain, bias).sum() * 0.01
    return loss, np.array([1.2, 1.7, -0.4, 0.1, 0.6, 0.9])


@case("nengo", "synapses: Lowpass.filt and Alpha.filtfilt of a signal", "iterative")
def nengo_synapse():
    import nengo

    def loss(x):
        y = nengo.Lowpass(x[-1]).filt(x[:-1].reshape(12, 1), dt=0.01)
        z = nengo.Alpha(0.03).filtfilt(x[:-1].reshape(12, 1), dt=0.01)
        return (y * y).sum() + (z[:, 0] * np.arange(12.0)).sum()
    return loss, np.concatenate([np.sin(np.arange(12.0) ** 1.2), [0.04]])


@case("mne", "filter.detrend and resample (FFT) of an array", "library")
def mne_filter():
    import mne
    mne.set_log_level("ERROR")

    def loss(x):
        y = mne.filter.detrend(x.reshape(2, 16), order=1)
        z = mne.filter.resample(x.reshape(2, 16), up=1.0, down=2.0, npad=4)
        return (y * y).sum() + (z * z * np.arange(1.0, 9.0)).sum()
    return loss, np.sin(np.arange(32.0) ** 1.2)


@case("mne", "transforms: rotations of Euler angles, spherical coordinates, quaternions", "plain")
def mne_transforms():
    from mne.transforms import _cart_to_sph, quat_to_rot, rot_to_quat, rotation, rotation3d, translation

    def loss(x):
        R = rotation(x[0], x[1], x[2]) @ translation(x[3], 0.3, x[4])
        q = rot_to_quat(rotation3d(x[0], x[1], x[2]))
        sph = _cart_to_sph(x[:3].reshape(1, 3))
        return (R * np.arange(16.0).reshape(4, 4)).sum() + (quat_to_rot(q) ** 3).sum() + sph.sum() + q[1]
    return loss, np.array([0.3, 0.5, -0.4, 1.2, 0.7])


@case("mne", "stats: t tests of one and two samples, f_oneway", "library")
def mne_statistics():
    from mne.stats import f_oneway, ttest_1samp_no_p, ttest_ind_no_p

    def loss(x):
        a = x.reshape(6, 2)
        return (ttest_1samp_no_p(a, sigma=1e-3) ** 2).sum() + ttest_ind_no_p(a[:3], a[3:]).sum() \
            + f_oneway(a[:2], a[2:4], a[4:]).sum()
    return loss, np.sin(np.arange(12.0) ** 1.2) + 0.3


@case("mne", "time_frequency.tfr_array_morlet: power of a signal at frequencies", "library")
def mne_morlet():
    from mne.time_frequency import tfr_array_morlet

    def loss(x):
        power = tfr_array_morlet(x.reshape(1, 1, 24), 50.0, np.array([8.0, 12.0]), n_cycles=2.0, output="power",
                                 verbose=False)
        return (power * np.arange(24.0)).sum() * 0.1
    return loss, np.sin(np.arange(24.0) ** 1.2)


@case("rsatoolbox", "calc_rdm (Euclidean, correlation) of a Dataset; compare_cosine", "objects")
def rsatoolbox_rdm():
    import rsatoolbox
    from rsatoolbox.data import Dataset
    other = rsatoolbox.rdm.calc_rdm(Dataset(np.cos(np.arange(20.0) ** 1.1).reshape(5, 4)))

    def loss(x):
        data = Dataset(x.reshape(5, 4))
        rdm = rsatoolbox.rdm.calc_rdm(data, method="euclidean")
        corr = rsatoolbox.rdm.calc_rdm(data, method="correlation")
        return (corr.get_vectors() ** 2).sum() + float(rsatoolbox.rdm.compare_cosine(rdm, other)[0, 0]) * 3.0
    return loss, np.sin(np.arange(20.0) ** 1.3) + 0.2


@case("rsatoolbox", "Poisson RDM, its transforms and matrices", "objects")
def rsatoolbox_poisson():
    import rsatoolbox
    from rsatoolbox.data import Dataset

    def loss(x):
        rdm = rsatoolbox.rdm.calc_rdm(Dataset(x.reshape(4, 5)), method="poisson")
        return (rsatoolbox.rdm.sqrt_transform(rdm).get_matrices() ** 3).sum()
    return loss, 2.0 + np.sin(np.arange(20.0) ** 1.3)


@case("stonesoup", "ConstantTurn transition and bearing-range measurement of a state (Matrix subclass)", "subclass")
def stonesoup_models():
    from datetime import timedelta

    from stonesoup.models.measurement.nonlinear import CartesianToBearingRange
    from stonesoup.models.transition.nonlinear import ConstantTurn
    from stonesoup.types.state import State
    turn = ConstantTurn(linear_noise_coeffs=np.array([0.1, 0.1]), turn_noise_coeff=0.02)
    sensor = CartesianToBearingRange(ndim_state=5, mapping=(0, 2), noise_covar=np.eye(2),
                                     translation_offset=np.array([[0.3], [-0.8]]))

    def loss(x):
        moved = State(turn.function(State(x.reshape(5, 1)), time_interval=timedelta(seconds=1.5)))
        z = sensor.function(moved)
        return float(z[0, 0]) + float(z[1, 0]) * 2.0
    return loss, np.array([3.1, 0.4, 1.2, -0.6, 0.3])


@case("stonesoup", "KalmanPredictor and KalmanUpdater on Gaussian states", "objects")
def stonesoup_kalman():
    from datetime import datetime, timedelta

    from stonesoup.models.measurement.linear import LinearGaussian
    from stonesoup.models.transition.linear import CombinedLinearGaussianTransitionModel, ConstantVelocity
    from stonesoup.predictor.kalman import KalmanPredictor
    from stonesoup.types.detection import Detection
    from stonesoup.types.hypothesis import SingleHypothesis
    from stonesoup.types.state import GaussianState
    from stonesoup.updater.kalman import KalmanUpdater
    start = datetime(2024, 1, 1)

    def loss(x):
        model = CombinedLinearGaussianTransitionModel([ConstantVelocity(x[4])])
        measure = LinearGaussian(2, [0], np.array([[x[5]]]))
        prior = GaussianState(x[:2].reshape(2, 1), np.diag([x[2], x[3]]), timestamp=start)
        pred = KalmanPredictor(model).predict(prior, timestamp=start + timedelta(seconds=2))
        post = KalmanUpdater(measure).update(SingleHypothesis(pred, Detection(np.array([[1.3]]))))
        return float(post.mean[0, 0] + post.mean[1, 0] * 2.0 + post.covar[0, 1])
    return loss, np.array([0.4, 0.7, 1.2, 0.6, 0.3, 0.5])


@case("stonesoup", "functions.unscented_transform of a Gaussian state, cart2sphere, rotation matrices", "plain")
def stonesoup_unscented():
    from stonesoup.functions import build_rotation_matrix, cart2sphere, gauss2sigma, unscented_transform
    from stonesoup.types.state import GaussianState

    def loss(x):
        state = GaussianState(x[:2].reshape(2, 1), np.diag(x[2:4]))
        points, wm, wc = gauss2sigma(state, alpha=0.8)

        def swing(s, points_noise=None):
            return s.state_vector * s.state_vector

        mean, covar, *_ = unscented_transform(points, wm, wc, swing)
        rho, phi, theta = cart2sphere(x[0], x[1], x[2])
        return float(mean[0, 0] + covar[0, 1] + covar[1, 1]) + rho + phi * theta \
            + (build_rotation_matrix(x[1:4].reshape(3, 1)) * np.arange(9.0).reshape(3, 3)).sum()
    return loss, np.array([0.9, 1.4, 0.3, 0.5])


# --- flight, waves, time series, transmission ------------------------------------------------------------------

@case("AeroSandbox", "Atmosphere: pressure, density, viscosity and mean free path in altitude", "objects")
def aerosandbox_atmosphere():
    import aerosandbox as asb

    def loss(x):
        air = asb.Atmosphere(altitude=x * 1e3)
        return (air.pressure() * 1e-5 + air.density() + air.dynamic_viscosity() * 1e5).sum() + air.knudsen(1e-4)[1]
    return loss, np.array([2.3, 9.1, 15.7])


@case("AeroSandbox", "library: solar flux and elevation, transonic drag", "library")
def aerosandbox_library():
    from aerosandbox.library.aerodynamics.transonic import Cd_wave_Korn
    from aerosandbox.library.power_solar import solar_elevation_angle, solar_flux

    def loss(x):
        return solar_flux(x[0], x[1], x[2] * 3600.0) * 1e-2 + solar_elevation_angle(x[0], x[1], x[2] * 3600.0) \
            + Cd_wave_Korn(x[3], 0.12, x[4], sweep=20.0) * 1e3
    return loss, np.array([42.0, 131.0, 1.4, 0.5, 0.82])


@case("AeroSandbox", "Airfoil of coordinates: area, centroid, local camber, thickness", "objects")
def aerosandbox_airfoil():
    import aerosandbox as asb
    t = np.linspace(0.0, 2.0 * np.pi, 17)[:-1]

    def loss(x):
        foil = asb.Airfoil("mine", coordinates=np.stack([0.5 + 0.5 * np.cos(t), x[0] * np.sin(t) + x[1] * np.sin(t / 2)
                                                         ], axis=1))
        return foil.area() + foil.centroid()[1] + foil.Ixx() * 10.0 + foil.perimeter()
    return loss, np.array([0.12, 0.07])


@case("rocketpy", "mathutils.Function: spline interpolation, integral and derivative of a thrust curve", "objects")
def rocketpy_function():
    from rocketpy import Function
    t = np.array([0.0, 0.4, 1.1, 1.9, 2.6, 3.3])

    def loss(x):
        f = Function([[a, b] for a, b in zip(t, x)], "t", "F", interpolation="spline")
        return f.get_value(0.77) + f.integral(0.1, 2.0) + f.differentiate(1.3)
    return loss, np.array([0.2, 1.7, 2.3, 1.9, 0.8, 0.1])


@case("rocketpy", "mathutils.Vector and Matrix: products, inverse, transformation of a quaternion", "objects")
def rocketpy_vectors():
    from rocketpy.mathutils.vector_matrix import Matrix, Vector

    def loss(x):
        q = x[:4] / (x[:4] @ x[:4]) ** 0.5
        m = Matrix.transformation(q)
        v = Vector(x[4:7])
        w = (m @ v) ^ Vector([1.0, 0.5, -0.2])
        return w.x + w.y * 2.0 + abs(w) + (m + Matrix.identity()).inverse.trace + w @ v
    return loss, np.array([0.8, 0.3, -0.2, 0.4, 1.0, 0.5, -0.7])


@case("rocketpy", "Environment: pressure, density and gravity (Somigliana) in height", "objects")
def rocketpy_environment():
    from rocketpy import Environment
    env = Environment(latitude=32.9, longitude=-106.9, elevation=1400.0)

    def loss(x):
        return env.pressure(x[0] * 1e3) * 1e-5 + env.density(x[0] * 1e3) + env.gravity(x[1] * 1e3) * 1e-1 \
            + env.speed_of_sound(x[0] * 1e3) * 1e-2
    return loss, np.array([4.3, 2.7])


@case("wavespectra", "construct.jonswap and cartwright (DataArrays): height and period of a spectrum", "subclass")
def wavespectra_jonswap():
    from wavespectra.construct.direction import cartwright
    from wavespectra.construct.frequency import jonswap
    from wavespectra.core.utils import celerity, wavelen
    f, theta = np.arange(0.05, 0.4, 0.05), np.arange(0.0, 360.0, 45.0)

    def loss(x):
        spectrum = jonswap(f, x[0], gamma=x[1], hs=x[2]) * cartwright(theta, x[3], x[4])
        return float((spectrum ** 2).sum()) + wavelen(x[0], depth=x[5]) * 0.01 + celerity(x[0], x[5]) * 0.1
    return loss, np.array([0.12, 2.3, 1.9, 70.0, 27.0, 24.0])


@case("stingray", "Powerspectrum of a Lightcurve in the counts", "objects")
def stingray_powerspectrum():
    from stingray import Lightcurve, Powerspectrum
    t = np.arange(16.0)

    def loss(x):
        lc = Lightcurve(t, x, err_dist="gauss", err=np.ones(16), dt=1.0, skip_checks=True, gti=[[-0.5, 15.5]])
        ps = Powerspectrum(lc, norm="frac")
        return (ps.power * np.arange(1.0, 9.0)[:len(ps.power)]).sum()
    return loss, 20.0 + 5.0 * np.sin(np.arange(16.0) ** 1.2)


@case("stingray", "fourier: normalisation, bias, coherence; pulse phase; stats.chi2_logp", "plain")
def stingray_fourier():
    from stingray.fourier import bias_term, normalize_frac, poisson_level, raw_coherence
    from stingray.pulse.pulsar import pulse_phase
    from stingray.stats import chi2_logp, pf_from_a

    def loss(x):
        return normalize_frac(x[:3], 0.1, 20, x[3]).sum() + bias_term(x[0], x[1], 0.2, 0.3, 20, 0.8) \
            + raw_coherence(x[2], x[0], x[1], 0.2, 0.3, 20) + poisson_level("frac", meanrate=x[3]) \
            + pulse_phase(x[:3] + 100.0, 1.01, x[4] * 1e-3, to_1=False).sum() + pf_from_a(x[4]) + chi2_logp(x[0] * 3, 5)
    return loss, np.array([3.1, 4.2, 1.1, 2.3, 0.4])


@case("emd", "spectra.frequency_transform: phase, frequency and amplitude of a signal (Hilbert)", "library")
def emd_frequency_transform():
    from emd.spectra import frequency_transform
    t = np.arange(64.0) / 64.0

    def loss(x):
        _, f, a = frequency_transform(x[0] * np.sin(2 * np.pi * (5.0 * t + x[1] * t * t) + x[2]), 64.0, "hilbert")
        return (a * a).sum() * 0.1 + (f * f).sum() * 1e-3
    return loss, np.array([1.2, 1.7, 0.3])


@case("emd", "sift.get_next_imf (extrema, splines) of a signal; simulate.abreu2010", "library")
def emd_envelope():
    from emd.sift import get_next_imf
    from emd.simulate import abreu2010
    t = np.arange(64.0) / 64.0

    def loss(x):
        y = abreu2010(4.0, x[0], x[1], 64, 1)
        imf, _ = get_next_imf(np.sin(2 * np.pi * 9 * t + 0.2) + x[2] * t + x[0] * np.sin(2 * np.pi * 2 * t),
                              stop_method="fixed", max_iters=2)
        return (y * y * t).sum() + (imf[:, 0] ** 2).sum() * 0.1
    return loss, np.array([0.4, -0.6, 0.8])


@case("komm", "RaisedCosinePulse and BeaulieuPulse: waveforms and spectrum in roll-off and time", "objects")
def komm_pulses():
    import komm

    def loss(x):
        pulse = komm.RaisedCosinePulse(x[0])
        root = komm.BeaulieuPulse(x[0])
        return (pulse.waveform(x[1:3]) ** 2).sum() + root.waveform(x[1:3]).sum() + pulse.spectrum(0.55).real
    return loss, np.array([0.4, 0.33, 1.72])
