"""Astronomy, chemistry, control, optics."""

import numpy as np
from cases import case, steps

# --- astronomy -------------------------------------------------------------------------------------------------

@case("skyfield", "keplerlib.propagate: end position in the start position and velocity", "iterative")
def skyfield_propagate():
    from skyfield.keplerlib import propagate
    t1 = np.array([2451545.0 + 40.0, 2451545.0 + 90.0])

    def loss(x):
        p, v = propagate(x[:3], x[3:], 2451545.0, t1, 2.9591220828559093e-04)
        return (p * p).sum() + 50.0 * v[0, 1] * p[1, 0]
    return loss, np.array([0.9, 0.3, 0.1, -0.004, 0.015, 0.001])


@case("skyfield", "earthlib.terra / keplerlib.ele_to_vec: state in orbital elements", "plain")
def skyfield_ele_to_vec():
    from skyfield.keplerlib import ele_to_vec

    def loss(x):
        r, v = ele_to_vec(x[0], x[1], x[2], x[3], x[4], x[5], 2.96e-4)
        return (r * r).sum() + r[0] * r[1] + 100.0 * v[2] * r[0]
    return loss, np.array([1.3, 0.2, 0.4, 0.9, 1.7, 0.6])


@case("skyfield", "earthlib.refract: apparent altitude in altitude, temperature and pressure", "iterative")
def skyfield_refract():
    from skyfield.earthlib import refract

    def loss(x):
        return refract(x[0], x[1], x[2])
    return loss, np.array([12.3, 11.0, 1005.0])


@case("skyfield", "functions.to_spherical / angle_between", "plain")
def skyfield_angles():
    from skyfield.functions import angle_between, from_spherical, to_spherical

    def loss(x):
        r, theta, phi = to_spherical(x[:3])
        xyz = from_spherical(r, theta, phi + 0.3)
        return angle_between(xyz, x[3:]) + r * theta
    return loss, np.array([0.6, -0.4, 0.8, 0.1, 0.9, 0.7])


@case("skyfield", "toposlib wgs84.latlon(...).itrs_xyz: geodetic position object", "objects")
def skyfield_wgs84_latlon():
    from skyfield.api import wgs84

    def loss(x):
        p = wgs84.latlon(x[0], x[1], x[2])
        xyz = p.itrs_xyz.au
        return (xyz[0] * 2.0 + xyz[1] * xyz[2] * 3e4 + xyz[2]) * 1e5
    return loss, np.array([47.3, 8.2, 520.0])


@case("astral", "sun.eq_of_time and sun_declination in the Julian century", "plain")
def astral_eq_of_time():
    from astral.sun import eq_of_time, sun_declination, sun_rad_vector

    def loss(x):
        return eq_of_time(x[0]) + sun_declination(x[1]) * sun_rad_vector(x[0])
    return loss, np.array([0.2613, 0.2171]), steps(1e-4)(loss)


@case("astral", "sun.hour_angle in latitude, declination and zenith", "plain")
def astral_hour_angle():
    from astral import SunDirection
    from astral.sun import hour_angle

    def loss(x):
        return hour_angle(x[0], x[1], x[2], SunDirection.SETTING) * 2.0
    return loss, np.array([48.1, 12.7, 90.833])


@case("astral", "moon.moon_position in the Julian day (table rows, dataclass)", "containers")
def astral_moon_position():
    from astral.moon import moon_position

    def loss(x):
        p = moon_position(x[0])
        return p.right_ascension + 2.0 * p.declination + 0.1 * p.distance
    return loss, np.array([8433.27]), steps(3e-6)(loss)


@case("colossus", "halo NFWProfile.surfaceDensity in density and scale radius", "objects")
def colossus_nfw_surface_density():
    from colossus.cosmology import cosmology
    from colossus.halo.profile_nfw import NFWProfile
    cosmology.setCosmology("planck18")
    r = np.array([30.0, 120.0, 500.0, 1200.0])

    def loss(x):
        p = NFWProfile(rhos=x[0] * 1e6, rs=x[1] * 100.0)
        s = p.surfaceDensity(r)
        return (s * s).sum() * 1e-16 + p.Vmax()[0] * 1e-3
    return loss, np.array([3.4, 2.6])


@case("colossus", "NFWProfile.mu and M (enclosed mass) in the radii", "objects")
def colossus_nfw_mass():
    from colossus.halo.profile_nfw import NFWProfile

    def loss(x):
        p = NFWProfile(rhos=3e6, rs=210.0)
        return p.enclosedMass(x).sum() * 1e-12
    return loss, np.array([40.0, 210.5, 830.0])


@case("colossus", "cosmology.Ez / rho_m / Om in the redshift", "objects")
def colossus_ez():
    from colossus.cosmology import cosmology
    cosmo = cosmology.setCosmology("planck18")

    def loss(x):
        return (cosmo.Ez(x) * cosmo.Om(x)).sum() + cosmo.rho_m(x).sum() * 1e-2
    return loss, np.array([0.1, 0.7, 2.3])


@case("colossus", "lss.bias.modelTinker10 in the peak height", "plain")
def colossus_bias():
    from colossus.cosmology import cosmology
    from colossus.lss import bias
    cosmology.setCosmology("planck18")

    def loss(x):
        return (bias.haloBiasFromNu(x, 0.0, mdef="200m", model="tinker10") ** 2).sum()
    return loss, np.array([0.8, 1.6, 2.9])


@case("colossus", "lss.mass_function press74 / sheth99 / tinker08 in sigma", "plain")
def colossus_mass_function():
    from colossus.cosmology import cosmology
    from colossus.lss import mass_function
    cosmology.setCosmology("planck18")

    def loss(x):
        return (mass_function.massFunction(x, 0.3, q_in="sigma", mdef="200m", model="tinker08")).sum() \
            + mass_function.massFunction(x, 0.3, q_in="sigma", mdef="fof", model="sheth99").sum()
    return loss, np.array([0.7, 1.1, 2.2])


@case("photutils", "centroids.centroid_com of an image", "plain")
def photutils_centroid_com():
    from photutils.centroids import centroid_com

    def loss(x):
        c = centroid_com(x.reshape(4, 4))
        return c[0] * 2.0 + c[1] * c[0]
    return loss, np.linspace(0.5, 2.7, 16) ** 1.5


@case("photutils", "psf.CircularGaussianPRF.evaluate in the pixel positions and parameters", "objects")
def photutils_gaussian_prf():
    from photutils.psf import CircularGaussianPRF
    model = CircularGaussianPRF()
    yy, xx = np.mgrid[0:5, 0:5]

    def loss(x):
        z = model.evaluate(xx, yy, x[0], x[1], x[2], x[3])
        return (z * z).sum()
    return loss, np.array([71.4, 2.1, 1.8, 2.7])


@case("photutils", "aperture_photometry-like: CircularAperture.do_photometry of the image", "library")
def photutils_aperture():
    from photutils.aperture import CircularAperture
    ap = CircularAperture([(3.2, 3.4)], r=2.1)

    def loss(x):
        s, _err = ap.do_photometry(x.reshape(7, 7))
        return s[0] * s[0]
    return loss, np.linspace(0.2, 1.4, 49)


@case("PyAstronomy", "pyasl.MarkleyKESolver: eccentric anomaly in M and e", "iterative")
def pyasl_markley():
    from PyAstronomy import pyasl
    solver = pyasl.MarkleyKESolver()

    def loss(x):
        return solver.getE(x[0], x[1])
    return loss, np.array([1.3, 0.42])


@case("PyAstronomy", "pyasl.KeplerEllipse.xyzPos in the elements", "objects")
def pyasl_kepler_ellipse():
    from PyAstronomy import pyasl

    def loss(x):
        k = pyasl.KeplerEllipse(x[0], x[1], e=x[2], tau=0.3, Omega=x[3], w=x[4], i=x[5])
        p = k.xyzPos(1.7)
        return p[0] * 2.0 + p[1] * p[2]
    return loss, np.array([1.2, 3.4, 0.3, 30.0, 70.0, 55.0])


@case("PyAstronomy", "pyasl.unred: dereddened flux in wavelength and E(B-V)", "library")
def pyasl_unred():
    from PyAstronomy import pyasl
    wave = np.array([1500.0, 2200.0, 3400.0, 4400.0, 5500.0, 9000.0])

    def loss(x):
        f = pyasl.unred(wave, x[1:], x[0])
        return (f * f).sum()
    return loss, np.array([0.24, 1.0, 1.2, 1.5, 0.9, 0.7, 0.3])


@case("PyAstronomy", "pyasl.airtovac2 / refraction: wavelength in air", "iterative")
def pyasl_airtovac():
    from PyAstronomy import pyasl

    def loss(x):
        return pyasl.airtovac2(x).sum() * 1e-3 + pyasl.vactoair2(x)[0]
    return loss, np.array([5500.3, 6562.8, 8200.0])


@case("hapsira", "core.elements.coe2rv (numba function): state in orbital elements", "plain")
def hapsira_coe2rv():
    from hapsira.core.elements import coe2rv

    def loss(x):
        r, v = coe2rv(398600.0, x[0] * 1e4, x[1], x[2], x[3], x[4], x[5])
        return (r * r).sum() * 1e-8 + v[0] * v[1] + r[2] * 1e-4
    return loss, np.array([1.13, 0.2, 0.9, 0.4, 1.1, 0.7])


@case("hapsira", "core.elements.rv2coe (numba function): elements of a state", "plain")
def hapsira_rv2coe():
    from hapsira.core.elements import rv2coe

    def loss(x):
        p, ecc, inc, raan, argp, nu = rv2coe(398600.0, x[:3] * 1e3, x[3:])
        return p * 1e-4 + ecc + inc * raan + argp * nu
    return loss, np.array([-6.045, -3.490, 2.5, -3.457, 6.618, 2.533])


@case("hapsira", "core.propagation.farnocchia: state after a time of flight", "iterative")
def hapsira_farnocchia():
    from hapsira.core.propagation.farnocchia import farnocchia_rv

    def loss(x):
        r, v = farnocchia_rv(398600.0, x[:3] * 1e3, x[3:6], x[6] * 1e3)
        return (r[0] + 2.0 * r[1] * 1.0 + r[2]) * 1e-3 + v[0] * v[2]
    return loss, np.array([-6.045, -3.490, 2.5, -3.457, 6.618, 2.533, 1.4])


@case("hapsira", "core.iod.izzo Lambert solver: velocities in end points and time", "iterative")
def hapsira_izzo():
    from hapsira.core.iod import izzo

    def loss(x):
        v0, v1 = izzo(398600.0, x[:3] * 1e3, x[3:6] * 1e3, x[6] * 1e3, 0, True, True, 35, 1e-12)
        return (v0 * v0).sum() + v0[0] * v1[1]
    return loss, np.array([15.945, 0.2, 0.1, 12.214, 10.249, 0.3, 4.56])


# --- chemistry and thermodynamics ------------------------------------------------------------------------------

@case("thermo", "eos.PR: molar volume and departure enthalpy in T and P", "objects")
def thermo_pr():
    from thermo.eos import PR

    def loss(x):
        e = PR(Tc=507.6, Pc=3025000.0, omega=0.2975, T=x[0] * 100.0, P=x[1] * 1e6)
        return e.V_l * 1e4 + e.H_dep_l * 1e-4 + e.phi_l
    return loss, np.array([2.99, 1.1])


@case("thermo", "eos_mix.PRMIX: fugacities in composition, T and P", "objects")
def thermo_prmix():
    from thermo.eos_mix import PRMIX

    def loss(x):
        e = PRMIX(T=x[0] * 100.0, P=x[1] * 1e6, Tcs=[126.1, 190.6], Pcs=[33.94E5, 46.04E5], omegas=[0.04, 0.011],
                  zs=[x[2], 1.0 - x[2]], kijs=[[0.0, 0.0289], [0.0289, 0.0]])
        return e.V_g * 1e3 + e.fugacities_g[0] * 1e-6
    return loss, np.array([2.15, 1.3, 0.4])


@case("thermo", "wilson.Wilson: activity coefficients in composition", "objects")
def thermo_wilson():
    from thermo.wilson import Wilson

    def loss(x):
        g = Wilson(T=x[0], xs=[x[1], x[2], 1.0 - x[1] - x[2]],
                   lambda_as=[[0.0, 3.8, 3.5], [0.2, 0.0, 0.8], [1.1, -0.6, 0.0]]).gammas()
        return g[0] * 2.0 + g[1] * g[2]
    return loss, np.array([331.4, 0.25, 0.35])


@case("thermo", "unifac.UNIFAC_gammas: activity coefficients in T and composition", "containers")
def thermo_unifac():
    from thermo.unifac import UNIFAC_gammas
    groups = [{1: 2, 2: 4}, {1: 1, 2: 1, 18: 1}]

    def loss(x):
        g = UNIFAC_gammas(T=x[0], xs=[x[1], 1.0 - x[1]], chemgroups=groups)
        return g[0] * g[1] + g[0]
    return loss, np.array([333.0, 0.35])


@case("chemicals", "rachford_rice.flash_inner_loop: vapour fraction in zs and Ks", "iterative")
def chemicals_flash():
    from chemicals.rachford_rice import flash_inner_loop

    def loss(x):
        V, xs, ys = flash_inner_loop([x[0], x[1], 1.0 - x[0] - x[1]], [x[2], x[3], x[4]])
        return V + xs[0] * ys[1]
    return loss, np.array([0.5, 0.3, 4.2, 1.75, 0.74])


@case("chemicals", "vapor_pressure.Wagner / dippr.EQ101 / iapws.iapws95_Psat", "plain")
def chemicals_vapor_pressure():
    from chemicals.dippr import EQ101, EQ106
    from chemicals.vapor_pressure import Wagner

    def loss(x):
        return Wagner(x[0], 190.53, 4596420., a=-6.00435, b=1.1885, c=-0.834082, d=-1.22833) * 1e-5 \
            + EQ101(x[1], 73.649, -7258.2, -7.3037, 4.1653E-6, 2) * 1e-4 + EQ106(x[1], 647.096, 55.9, 0.3)
    return loss, np.array([101.3, 322.0])


@case("chemicals", "iapws.iapws95_rho: density of water at T and P", "iterative")
def chemicals_iapws95_rho():
    from chemicals.iapws import iapws95_rho

    def loss(x):
        return iapws95_rho(x[0] * 100.0, x[1] * 1e6) * 1e-2
    return loss, np.array([3.3, 0.9])


@case("chemicals", "viscosity.mu_IAPWS, thermal_conductivity.k_IAPWS", "plain")
def chemicals_mu_iapws():
    from chemicals.thermal_conductivity import k_IAPWS
    from chemicals.viscosity import mu_IAPWS

    def loss(x):
        return mu_IAPWS(x[0], x[1]) * 1e4 + k_IAPWS(x[0], x[1])
    return loss, np.array([432.0, 910.0])


@case("iapws", "iapws97._Region1: specific volume and enthalpy in T, P", "containers")
def iapws_region1():
    from iapws.iapws97 import _Region1

    def loss(x):
        p = _Region1(x[0], x[1])
        return p["v"] * 1e3 + p["h"] * 1e-2 + p["cp"]
    return loss, np.array([320.0, 3.0])


@case("iapws", "IAPWS97 object: state in T and P", "objects")
def iapws_object():
    from iapws import IAPWS97

    def loss(x):
        w = IAPWS97(T=x[0], P=x[1])
        return w.h * 1e-2 + w.s + w.rho * 1e-3 + w.mu * 1e3
    return loss, np.array([523.0, 1.4])


@case("iapws", "_iapws._Viscosity, _ThCond, _Ice", "plain")
def iapws_viscosity():
    from iapws._iapws import _D2O_Viscosity, _Dielectric, _Tension, _Viscosity

    def loss(x):
        return _Viscosity(x[1], x[0]) * 1e4 + _Tension(x[0]) * 10.0 + _D2O_Viscosity(x[1], x[0]) * 1e3 + \
            _Dielectric(x[1], x[0]) * 1e-1
    return loss, np.array([334.0, 973.0])


@case("iapws", "humidAir: saturation / ammonia mixture Ttr, virial", "plain")
def iapws_virial():
    from iapws.humidAir import _virial

    def loss(x):
        v = _virial(x[0])
        return v["Bww"] * 1e2 + v["Baw"] * 1e4 + v["Caaa"] * 1e9
    return loss, np.array([312.0])


@case("pyXSteam", "XSteam.h_pt / rho_pt / tsat_p", "objects")
def pyxsteam_h_pt():
    from pyXSteam.XSteam import XSteam
    table = XSteam(XSteam.UNIT_SYSTEM_MKS)

    def loss(x):
        return table.h_pt(x[0], x[1]) * 1e-2 + table.tsat_p(x[0]) * 1e-1 + table.rho_pt(x[0], x[1]) * 1e-2
    return loss, np.array([12.0, 260.0])


@case("pyXSteam", "XSteam.t_ph / s_ph: backward equations", "objects")
def pyxsteam_t_ph():
    from pyXSteam.XSteam import XSteam
    table = XSteam(XSteam.UNIT_SYSTEM_MKS)

    def loss(x):
        return table.t_ph(x[0], x[1]) * 1e-2 + table.s_ph(x[0], x[1])
    return loss, np.array([20.0, 800.0])


@case("ase", "calculators.lj.LennardJones: potential energy in the positions", "objects")
def ase_lj_energy():
    from ase import Atoms
    from ase.calculators.lj import LennardJones

    def loss(x):
        atoms = Atoms("Ar4", positions=x.reshape(4, 3))
        atoms.calc = LennardJones(epsilon=0.3, sigma=1.1, rc=8.0)
        return atoms.get_potential_energy()
    return loss, np.array([0., 0, 0, 1.2, 0.1, 0, 0.3, 1.3, 0.2, 0.5, 0.4, 1.25])


@case("ase", "calculators.emt.EMT: energy of a copper cluster", "objects")
def ase_emt_energy():
    from ase import Atoms
    from ase.calculators.emt import EMT

    def loss(x):
        atoms = Atoms("Cu3", positions=x.reshape(3, 3))
        atoms.calc = EMT()
        return atoms.get_potential_energy()
    return loss, np.array([0., 0.1, 0, 2.4, 0.2, 0.1, 1.1, 2.1, 0.3])


@case("ase", "Atoms.get_angle, get_dihedral, get_all_distances in the positions", "objects")
def ase_geometry():
    from ase import Atoms

    def loss(x):
        a = Atoms("HOOH", positions=x.reshape(4, 3))
        return a.get_dihedral(0, 1, 2, 3) * 1e-2 + a.get_angle(0, 1, 2) * 1e-2 + a.get_all_distances().sum()
    return loss, np.array([0.9, 0.1, 0.3, 0., 0, 0, 0.2, 1.4, 0.1, 1.0, 1.7, 0.8])


@case("ase", "geometry.get_dihedrals, cell.Cell.fromcellpar volume", "plain")
def ase_cellpar():
    from ase.geometry.cell import cell_to_cellpar, cellpar_to_cell

    def loss(x):
        c = cellpar_to_cell(x)
        p = cell_to_cellpar(c + 0.1)
        return p[0] * p[3] * 1e-2 + (c * c).sum() + c[2, 1]
    return loss, np.array([3.1, 4.2, 5.0, 81.0, 77.0, 104.0])


@case("ase", "eos.birchmurnaghan, vinet in volume and parameters", "plain")
def ase_eos():
    from ase.eos import birchmurnaghan, vinet
    V = np.array([38.0, 40.0, 43.0])

    def loss(x):
        return birchmurnaghan(V, x[0], x[1], x[2], x[3]).sum() + vinet(V, x[0], x[1], x[2], x[3])[0]
    return loss, np.array([-5.1, 0.6, 4.3, 39.4])


@case("rmsd", "kabsch_rmsd of a structure to a reference", "library")
def rmsd_kabsch():
    import rmsd
    ref = np.array([[0., 0, 0], [1.4, 0.1, 0], [0.3, 1.2, 0.2], [0.1, 0.4, 1.9], [1.0, 1.1, 0.8]])

    def loss(x):
        return rmsd.kabsch_rmsd(x.reshape(5, 3), ref, translate=True)
    return loss, (ref + np.sin(np.arange(15)).reshape(5, 3) * 0.3).ravel()


@case("rmsd", "quaternion_rmsd of a structure to a reference", "library")
def rmsd_quaternion():
    import rmsd
    ref = np.array([[0., 0, 0], [1.4, 0.1, 0], [0.3, 1.2, 0.2], [0.1, 0.4, 1.9], [1.0, 1.1, 0.8]])
    ref = ref - ref.mean(axis=0)

    def loss(x):
        return rmsd.quaternion_rmsd(x.reshape(5, 3), ref)
    return loss, (ref + np.sin(np.arange(15)).reshape(5, 3) * 0.3).ravel()


@case("rmsd", "kabsch_weighted_rmsd", "library")
def rmsd_kabsch_weighted():
    import rmsd
    ref = np.array([[0., 0, 0], [1.4, 0.1, 0], [0.3, 1.2, 0.2], [0.1, 0.4, 1.9], [1.0, 1.1, 0.8]])
    w = np.array([1.0, 2.0, 1.5, 0.7, 1.0])

    def loss(x):
        return rmsd.kabsch_weighted_rmsd(x.reshape(5, 3), ref, w)
    return loss, (ref + np.sin(np.arange(15)).reshape(5, 3) * 0.3).ravel()


@case("periodictable", "cromermann.fxrayatq / nsf: form factor in q", "containers")
def periodictable_cromermann():
    from periodictable.cromermann import fxrayatq

    def loss(x):
        return (fxrayatq("Fe", x) ** 2).sum()
    return loss, np.array([0.4, 1.3, 3.1])


@case("periodictable", "xsf.xray_sld in density and energy", "objects")
def periodictable_xray_sld():
    from periodictable import xsf

    def loss(x):
        sld, im = xsf.xray_sld("SiO2", density=x[0], energy=x[1])
        return sld + im
    return loss, np.array([2.2, 8.11])


@case("phonopy", "structure / thermal properties: Bose-Einstein distribution, heat capacity", "plain")
def phonopy_mode():
    from phonopy.phonon.thermal_properties import bose_einstein_dist, mode_cv

    def loss(x):
        return bose_einstein_dist(x[1:], x[0]).sum() + mode_cv(x[0], x[1:]).sum() * 1e3
    return loss, np.array([310.0, 0.012, 0.03, 0.051])


@case("phonopy", "qha: EOS fit functions (vinet)", "plain")
def phonopy_eos():
    from phonopy.qha.core import get_eos
    eos = get_eos("vinet")
    V = np.array([64.0, 66.0, 68.0, 71.0])

    def loss(x):
        return (eos(V, x) ** 2).sum()
    return loss, np.array([-10.7, 0.55, 4.1, 66.5])


# --- control ---------------------------------------------------------------------------------------------------

@case("control", "TransferFunction frequency response magnitude in the coefficients", "objects")
def control_tf_response():
    import control

    def loss(x):
        g = control.tf([x[0], x[1]], [1.0, x[2], x[3]])
        h = g(1j * 1.7)
        return abs(h)
    return loss, np.array([1.2, 0.7, 0.9, 2.3])


@case("control", "series / feedback of StateSpace systems: dc gain", "objects")
def control_ss_feedback():
    import control

    def loss(x):
        g = control.ss(x[:4].reshape(2, 2), x[4:6].reshape(2, 1), [[1.0, 0.0]], [[0.0]])
        k = control.ss([[-1.0]], [[1.0]], [[x[6]]], [[0.1]])
        return control.feedback(g * k, 1).dcgain()
    return loss, np.array([-1.1, 0.3, 0.2, -2.1, 1.0, 0.5, 0.8])


@case("control", "step_response samples in the system matrices", "library")
def control_step_response():
    import control
    T = np.linspace(0.0, 3.0, 7)

    def loss(x):
        g = control.ss(x[:4].reshape(2, 2), [[1.0], [0.4]], x[4:6].reshape(1, 2), [[0.0]])
        _t, y = control.step_response(g, T)
        return float((y * y).sum())
    return loss, np.array([-1.1, 0.3, 0.2, -2.1, 1.0, 0.5])


@case("control", "lqr gain in the weights (scipy solve_continuous_are)", "library")
def control_lqr():
    import control
    A = np.array([[0.0, 1.0], [-0.4, -0.2]])
    B = np.array([[0.0], [1.0]])

    def loss(x):
        K, S, _E = control.lqr(A, B, np.array([[x[0], 0.0], [0.0, x[1]]]), np.array([[x[2]]]))
        return K[0, 0] + 2.0 * K[0, 1] + S[0, 1]
    return loss, np.array([1.4, 0.7, 0.5])


# --- optics ----------------------------------------------------------------------------------------------------

@case("scikit-rf", "Network ** Network (cascade): |S21|^2 in the S parameters", "objects")
def skrf_cascade():
    import skrf as rf
    f = rf.Frequency(1, 3, 3, "GHz")

    def loss(x):
        s = x.reshape(3, 2, 2)
        a = rf.Network(frequency=f, s=s * (0.5 + 0.2j), z0=50)
        b = rf.Network(frequency=f, s=s * (0.3 - 0.4j), z0=50)
        c = a ** b
        return (abs(c.s[:, 1, 0]) ** 2).sum()
    return loss, 0.3 + 0.05 * np.cos(np.arange(12))


@case("scikit-rf", "network.s2z, z2y: impedance of S parameters", "plain")
def skrf_s2z():
    from skrf.network import s2z

    def loss(x):
        z = s2z(x.reshape(2, 2, 2) * (0.4 + 0.3j), z0=50)
        return (abs(z) ** 2).sum() * 1e-4
    return loss, np.array([0.3, 0.5, 0.45, 0.2, 0.25, 0.6, 0.4, 0.1])


@case("scikit-rf", "media.DefinedGammaZ0.line: S of a line in its length", "objects")
def skrf_media_line():
    import skrf as rf
    f = rf.Frequency(1, 3, 3, "GHz")
    m = rf.media.Freespace(f)

    def loss(x):
        n = m.line(x[0], "m", z0=x[1] * 100.0)
        return (n.s.real ** 2).sum()
    return loss, np.array([0.021, 2.4])


@case("scikit-rf", "tlineFunctions.input_impedance_at_theta of a load", "plain")
def skrf_tline():
    from skrf.tlineFunctions import input_impedance_at_theta, load_impedance_2_reflection_coefficient

    def loss(x):
        z = input_impedance_at_theta(50.0, x[0] + 1j * x[1], 1j * x[2])
        g = load_impedance_2_reflection_coefficient(50.0, z)
        return (abs(g) ** 2).sum() + z.real.sum() * 1e-2
    return loss, np.array([71.0, 23.0, 0.8])


@case("tmm", "coh_tmm: reflectance in layer thicknesses and angle", "containers")
def tmm_coh():
    from tmm import coh_tmm

    def loss(x):
        r = coh_tmm("p", [1.0, 2.2, 1.46 + 0.02j, 3.3], [np.inf, x[0], x[1], np.inf], x[2], 500.0)
        return r["R"] + 2.0 * r["T"]
    return loss, np.array([100.0, 300.0, 0.3])


@case("tmm", "inc_tmm: incoherent stack in thickness and angle", "containers")
def tmm_inc():
    from tmm import inc_tmm

    def loss(x):
        r = inc_tmm(
            "s", [1.0, 2.2, 1.46 + 0.002j, 1.0], [np.inf, x[0], x[1], np.inf], ["i", "c", "i", "i"], x[2], 500.0
        )
        return r["R"] + 2.0 * r["T"]
    return loss, np.array([100.0, 3000.0, 0.3])


@case("tmm", "ellips: psi and Delta in thickness", "plain")
def tmm_ellips():
    from tmm import ellips

    def loss(x):
        e = ellips([1.0, 1.46, 3.87 + 0.01j], [np.inf, x[0], np.inf], x[1], 633.0)
        return e["psi"] + e["Delta"]
    return loss, np.array([120.0, 1.2])


@case("miepython", "efficiencies: extinction in diameter, wavelength, index", "iterative")
def miepython_efficiencies():
    import miepython

    def loss(x):
        qext, qsca, _qback, g = miepython.efficiencies(x[0] - 0.05j, x[1], x[2])
        return qext + qsca * g
    return loss, np.array([1.52, 0.8, 0.55])


@case("LightPipes", "Gaussian beam through a lens and Fresnel propagation", "objects")
def lightpipes_fresnel():
    import LightPipes as lp

    def loss(x):
        F = lp.Begin(5e-3, 632e-9, 16)
        F = lp.GaussAperture(F, x[0] * 1e-3)
        F = lp.Lens(F, x[1])
        F = lp.Forvard(F, 0.05)
        return (lp.Intensity(F) ** 2).sum()
    return loss, np.array([1.3, 0.8])


@case("prysm", "zernike: FringeZernike phase map in the coefficients", "objects")
def prysm_zernike():
    from prysm import NollZernike

    def loss(x):
        p = NollZernike(Z4=x[0], Z7=x[1], Z11=x[2], samples=12)
        return (p.phase[3:9, 3:9] ** 2).sum()
    return loss, np.array([0.2, 0.31, -0.14])


@case("prysm", "jacobi.jacobi recurrence in the coordinates", "iterative")
def prysm_jacobi():
    from prysm.jacobi import jacobi

    def loss(x):
        return (jacobi(4, 0.5, 1.5, x) ** 2).sum()
    return loss, np.array([-0.7, 0.1, 0.45, 0.8])


@case("prysm", "thinfilm.multilayer_stack_rt in thickness", "library")
def prysm_thinfilm():
    from prysm.thinfilm import multilayer_stack_rt

    def loss(x):
        r, t = multilayer_stack_rt("s", 0.55, [(2.2, x[0]), (1.46, x[1]), (1.52, 1.0)], 10.0)
        return abs(r) ** 2 + abs(t)
    return loss, np.array([0.07, 0.11])


@case("prysm", "refractive.cauchy / sellmeier in the wavelength", "plain")
def prysm_sellmeier():
    from prysm.refractive import cauchy, sellmeier

    def loss(x):
        return sellmeier(x, [1.04, 0.23, 1.01], [0.006, 0.02, 103.5]).sum() + cauchy(x, 1.5, 0.0042)[0]
    return loss, np.array([0.48, 0.55, 0.63])


@case("aotools", "functions.zernike.zernikeArray-based phaseFromZernikes", "containers")
def aotools_phase_from_zernikes():
    from aotools.functions.zernike import phaseFromZernikes

    def loss(x):
        return (phaseFromZernikes(x, 10) ** 2).sum()
    return loss, np.array([0.1, 0.4, -0.3, 0.7, 0.2])


@case("aotools", "opticalpropagation.angularSpectrum", "library")
def aotools_angular_spectrum():
    from aotools.opticalpropagation import angularSpectrum

    def loss(x):
        u = angularSpectrum(x.reshape(6, 6), 500e-9, 1e-3, 1e-3, 12.0)
        return (abs(u) ** 4).sum()
    return loss, 1.0 + 0.3 * np.sin(np.arange(36))


@case("aotools", "turbulence.phase_covariance, structure functions in r0", "plain")
def aotools_phase_covariance():
    from aotools.turbulence.turb import phase_covariance
    r = np.array([[0.1, 0.4], [0.7, 1.3]])

    def loss(x):
        return (phase_covariance(r, x[0], x[1]) ** 2).sum() * 1e-4
    return loss, np.array([0.16, 23.0])


@case("hcipy", "Fraunhofer propagation of a wavefront: power in a region", "objects")
def hcipy_fraunhofer():
    import hcipy
    pupil = hcipy.make_pupil_grid(8)
    focal = hcipy.make_focal_grid(2, 3)
    prop = hcipy.FraunhoferPropagator(pupil, focal)

    def loss(x):
        wf = hcipy.Wavefront(hcipy.Field(x * (1.0 + 0.2j), pupil), 1.0)
        img = prop(wf)
        return float((img.intensity ** 2).sum() * 1e-2)
    return loss, 1.0 + 0.2 * np.cos(np.arange(64))


@case("hcipy", "zernike / optical aberrations: SurfaceAberration phase", "library")
def hcipy_zernike_modes():
    import hcipy
    grid = hcipy.make_pupil_grid(10)
    basis = hcipy.make_zernike_basis(5, 1, grid)

    def loss(x):
        f = basis.linear_combination(x)
        return float((f * f).sum() + f[12])
    return loss, np.array([0.2, 0.3, -0.1, 0.6, 0.15])


@case("poppy", "zernike.zernike1 and opd_from_zernikes in the coefficients", "library")
def poppy_opd():
    from poppy.zernike import opd_from_zernikes, zernike_basis
    basis = zernike_basis(nterms=5, npix=10, outside=0.0)

    def loss(x):
        o = opd_from_zernikes(x, basis=lambda nterms, npix, outside=0.0: basis, npix=10, outside=0.0)
        return (o * o).sum()
    return loss, np.array([0.2, 0.3, -0.1, 0.6, 0.15])


@case("diffractio", "scalar_fields_X: gaussian beam, RS propagation", "objects")
def diffractio_rs():
    from diffractio.scalar_sources_X import Scalar_source_X
    xs = np.linspace(-40.0, 40.0, 32)

    def loss(x):
        u = Scalar_source_X(x=xs, wavelength=0.6328)
        u.gauss_beam(A=x[1], x0=0.0, w0=x[0], z0=0.0, theta=0.0)
        v = u.RS(z=2000.0, verbose=False, new_field=True)
        return (abs(v.u) ** 2).sum()
    return loss, np.array([12.0, 1.3])


@case("optiland", "materials / geometries: StandardGeometry.sag and surface normal", "objects")
def optiland_sag():
    from optiland.coordinate_system import CoordinateSystem
    from optiland.geometries import StandardGeometry

    def loss(x):
        g = StandardGeometry(CoordinateSystem(), radius=x[0], conic=x[1])
        return g.sag(x[2:4], x[4:6]).sum()
    return loss, np.array([52.0, -0.4, 3.0, 5.0, 1.0, 2.5])
