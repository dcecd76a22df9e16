"""Geophysics, hydrology, meteorology, finance, statistics, survival, sensitivity analysis."""

import numpy as np
from cases import case, steps

# --- geophysics ------------------------------------------------------------------------------------------------

@case("bruges", "reflection.zoeppritz_rpp in velocities and densities", "plain")
def bruges_zoeppritz():
    from bruges.reflection import zoeppritz_rpp

    def loss(x):
        r = zoeppritz_rpp(x[0], x[1], x[2], x[3], x[4], x[5], 17.0)
        return abs(r).sum()
    return loss, np.array([2350.0, 1100.0, 2200.0, 2900.0, 1600.0, 2410.0]), steps(1e-4)(loss)


@case("bruges", "reflection.shuey, akirichards, fatti (decorated)", "plain")
def bruges_shuey():
    from bruges.reflection import akirichards, fatti, shuey
    theta = np.array([0.0, 12.0, 25.0])

    def loss(x):
        a = (x[0], x[1], x[2], x[3], x[4], x[5])
        return (shuey(*a, theta) + 2.0 * akirichards(*a, theta) + fatti(*a, theta)).real.sum()
    return loss, np.array([2350.0, 1100.0, 2200.0, 2900.0, 1600.0, 2410.0]), steps(1e-4)(loss)


@case("bruges", "rockphysics.avseth_fluidsub / backus averaging", "plain")
def bruges_fluidsub():
    from bruges.rockphysics.fluidsub import avseth_fluidsub

    def loss(x):
        r = avseth_fluidsub(x[0] * 1e3, x[1] * 1e3, x[2] * 1e3, x[3], 1000.0, 700.0, 37e9, 2.2e9, 0.6e9)
        return (r.Vp + r.rho) * 1e-3 + r.Vs * 2e-3
    return loss, np.array([3.3, 1.8, 2.3, 0.21])


@case("bruges", "filters.ricker wavelet in the frequency", "containers")
def bruges_ricker():
    from bruges.filters import ricker

    def loss(x):
        w = ricker(0.064, 0.004, x[0], return_t=False)
        return (w * w).sum()
    return loss, np.array([31.0])


@case("boule", "Ellipsoid.normal_gravity in latitude and height", "objects")
def boule_normal_gravity():
    import boule

    def loss(x):
        g = boule.WGS84.normal_gravity((None, x[:3], x[3:] * 1e3))
        return (g * g).sum() * 1e-10
    return loss, np.array([12.0, 45.3, 77.0, 0.4, 2.0, 9.0])


@case("boule", "Ellipsoid.geodetic_to_spherical and back", "objects")
def boule_geodetic():
    import boule

    def loss(x):
        lon, lat, r = boule.GRS80.geodetic_to_spherical((x[:2], x[2:4], x[4:] * 1e3))
        _a, b, h = boule.GRS80.spherical_to_geodetic((lon, lat + 0.1, r))
        return lat.sum() + (b * lat).sum() * 1e-2 + h.sum() * 1e-3
    return loss, np.array([10.0, 20.0, 12.0, 45.3, 0.4, 2.0])


@case("verde", "Trend.jacobian / predict with coefficients", "objects")
def verde_trend():
    import verde
    e = np.array([0.1, 0.4, 0.9, 1.3, 1.7, 0.6])

    def loss(x):
        t = verde.Trend(degree=1)
        t.fit((e, e[::-1] ** 2), x)
        p = t.predict((e[:3], e[:3]))
        return (p * p).sum()
    return loss, np.array([0.3, 1.0, 0.2, 0.7, 1.4, 0.9])


@case("utm", "from_latlon with arrays: easting and northing", "plain")
def utm_from_latlon():
    import utm

    def loss(x):
        e, n, _zone, _letter = utm.from_latlon(x[:3], x[3:], 32, "N")
        return (e * 1e-5 + n * n * 1e-13).sum()
    return loss, np.array([45.2, 47.9, 50.3, 8.1, 9.4, 10.0])


@case("utm", "to_latlon: latitude and longitude in easting and northing", "plain")
def utm_to_latlon():
    import utm

    def loss(x):
        lat, lon = utm.to_latlon(x[0] * 1e5, x[1] * 1e6, 32, "T")
        return lat + 2.0 * lon
    return loss, np.array([4.2, 5.1])


@case("nvector", "lat_lon2n_E, n_EB_E2p_EB_E, geodesic n-vectors", "plain")
def nvector_position():
    import nvector as nv

    def loss(x):
        n = nv.lat_lon2n_E(x[:2], x[2:4])
        p = nv.n_EB_E2p_EB_E(n, x[4:].reshape(1, 2))
        return (p * p).sum() * 1e-14 + p[0, 1] * 1e-7
    return loss, np.array([0.7, 0.2, 0.1, -1.2, -200.0, 90.0])


@case("nvector", "great_circle_distance_rad, mean_horizontal_position", "plain")
def nvector_distance():
    import nvector as nv

    def loss(x):
        a = nv.lat_lon2n_E(x[:1], x[1:2])
        b = nv.lat_lon2n_E(x[2:3], x[3:])
        return nv.great_circle_distance_rad(a, b).sum() + nv.mean_horizontal_position(a + b).sum()
    return loss, np.array([0.7, 0.2, 0.1, -1.2])


@case("nvector", "objects.FrameE.GeoPoint.to_ecef_vector and delta_to", "objects")
def nvector_objects():
    import nvector as nv
    frame = nv.FrameE(a=6371e3, f=0)

    def loss(x):
        a = frame.GeoPoint(latitude=x[0], longitude=x[1], z=x[2], degrees=True)
        b = frame.GeoPoint(latitude=x[3], longitude=x[4], z=x[5], degrees=True)
        return (a.delta_to(b).pvector ** 2).sum() * 1e-9
    return loss, np.array([1.0, 2.0, 30.0, 4.0, 5.0, 60.0])


@case("ppigrf", "igrf_gc: geomagnetic field in position", "containers")
def ppigrf_field():
    from datetime import datetime

    import ppigrf
    date = datetime(2021, 3, 28)

    def loss(x):
        br, bt, bp = ppigrf.igrf_gc(x[0] * 1e3, x[1], x[2], date, max_degree=6)
        return (br + bt * 2.0 + bp).sum() * 1e-3
    return loss, np.array([6.5, 33.0, 12.0])


@case("discretize", "TensorMesh inner products: x' M(sigma) x in the model", "library")
def discretize_inner_product():
    from discretize import TensorMesh
    mesh = TensorMesh([4, 3])
    v = np.linspace(-1.0, 1.0, mesh.n_faces)

    def loss(x):
        M = mesh.get_face_inner_product(x)
        return v @ (M @ v)
    return loss, np.linspace(0.6, 2.1, 12)


@case("discretize", "utils.rotation_matrix_from_normals, volume_tetrahedron", "plain")
def discretize_utils():
    from discretize.utils import rotation_matrix_from_normals

    def loss(x):
        R = rotation_matrix_from_normals(x[:3], x[3:])
        return (R * np.arange(9.0).reshape(3, 3)).sum()
    return loss, np.array([0.3, 0.5, 0.9, -0.2, 0.8, 0.1])


@case("discretize", "utils.inverse_3x3_block_diagonal / make_property_tensor", "containers")
def discretize_property_tensor():
    from discretize.utils import inverse_2x2_block_diagonal

    def loss(x):
        b = inverse_2x2_block_diagonal(x[0:2], x[2:4], x[4:6], x[6:8], return_matrix=False)
        return (b[0] * b[0]).sum() + (b[1] * b[3]).sum()
    return loss, np.array([2.0, 3.0, 0.3, 0.2, -0.4, 0.6, 1.7, 2.2])


@case("scikit-gstat", "models.spherical / exponential (numba under map and fromiter)", "iterative")
def skgstat_models():
    from skgstat.models import exponential, gaussian, spherical
    h = np.array([0.5, 1.5, 3.0])

    def loss(x):
        return (spherical(h, x[0], x[1], x[2]) + exponential(h, x[0], x[1], x[2]) * gaussian(h, x[0], x[1], x[2])).sum()
    return loss, np.array([4.0, 1.7, 0.2])


@case("haversine", "haversine in two points", "containers")
def haversine_distance():
    from haversine import haversine

    def loss(x):
        return haversine((x[0], x[1]), (x[2], x[3])) * 1e-2
    return loss, np.array([45.7, 4.84, 48.9, 2.35])


@case("haversine", "haversine_vector of arrays of points", "library")
def haversine_vec():
    from haversine import haversine_vector

    def loss(x):
        return haversine_vector(x[:6].reshape(3, 2), x[6:].reshape(3, 2)).sum() * 1e-2
    return loss, np.array([45.7, 4.84, 48.9, 2.35, 10.0, 20.0, 44.0, 3.1, 50.0, 3.0, 12.0, 19.0])


@case("geopy", "distance.great_circle (Point objects) in two points", "objects")
def geopy_great_circle():
    from geopy.distance import great_circle

    def loss(x):
        return great_circle((x[0], x[1]), (x[2], x[3])).km * 1e-2
    return loss, np.array([41.5, -71.3, 44.1, -81.7])


# --- hydrology, meteorology ------------------------------------------------------------------------------------

@case("pyet", "pm_fao56 / penman on pandas Series in temperature, radiation, wind, humidity", "subclass")
def pyet_pm():
    import pandas as pd
    import pyet
    idx = pd.date_range("2020-06-01", periods=3)

    def loss(x):
        s = [pd.Series(x[3 * k:3 * k + 3], index=idx) for k in range(4)]
        et = pyet.pm_fao56(s[0], s[1], rs=s[2], rh=s[3] * 10.0, elevation=120.0, lat=0.82)
        return float(et.sum())
    return loss, np.array([18.0, 21.0, 24.0, 2.1, 1.4, 3.0, 19.0, 22.0, 17.0, 6.0, 5.5, 7.0])


@case("pyet", "meteo_utils.calc_lambda, calc_vpc, calc_psy, calc_es", "plain")
def pyet_meteo():
    from pyet.meteo_utils import calc_es, calc_lambda, calc_psy, calc_rho, calc_vpc

    def loss(x):
        ea = calc_es(tmean=x[:2]) * 0.6
        return (calc_vpc(x[:2]) + calc_lambda(x[:2]) + calc_psy(x[2:], x[:2]) + calc_rho(x[2:], x[:2], ea)).sum()
    return loss, np.array([17.0, 24.0, 98.0, 101.0])


@case("pyet", "priestley_taylor / hargreaves on arrays through Series index", "subclass")
def pyet_hamon():
    import pandas as pd
    import pyet
    idx = pd.date_range("2020-06-01", periods=4)

    def loss(x):
        t = pd.Series(x, index=idx)
        return float((pyet.hamon(t, lat=0.8) + pyet.oudin(t, lat=0.8)).sum())
    return loss, np.array([14.0, 18.0, 22.0, 16.0])


@case("hydroeval", "evaluator(kge): efficiency of simulations", "library")
def hydroeval_kge():
    import hydroeval
    obs = np.array([1.2, 2.3, 3.1, 2.2, 1.7, 0.9])

    def loss(x):
        return hydroeval.evaluator(hydroeval.kge, x, obs)[0, 0] + hydroeval.evaluator(hydroeval.nse, x, obs)[0]
    return loss, np.array([1.0, 2.6, 2.9, 2.4, 1.5, 1.1])


@case("HydroErr", "kge_2012, nse, ned (with data cleaning)", "plain")
def hydroerr_kge():
    import HydroErr
    obs = np.array([1.2, 2.3, 3.1, 2.2, 1.7, 0.9])

    def loss(x):
        return HydroErr.kge_2012(x, obs) + HydroErr.nse(x, obs) + HydroErr.ned(x, obs)
    return loss, np.array([1.0, 2.6, 2.9, 2.4, 1.5, 1.1])


@case("HydroErr", "sa, sid, sga: spectral measures", "plain")
def hydroerr_spectral():
    import HydroErr
    obs = np.array([1.2, 2.3, 3.1, 2.2, 1.7, 0.9])

    def loss(x):
        return HydroErr.sa(x, obs) + HydroErr.sga(x, obs) + HydroErr.sid(x, obs) + HydroErr.d(x, obs)
    return loss, np.array([1.0, 2.6, 2.9, 2.4, 1.5, 1.1])


@case("lmoments3", "lmom_ratios of a sample", "iterative")
def lmoments3_ratios():
    import lmoments3

    def loss(x):
        r = lmoments3.lmom_ratios(x, nmom=4)
        return r[0] * r[1] + r[2] * 3.0 + r[3]
    return loss, np.array([2.3, 0.4, 1.9, 3.3, 5.1, 2.8, 0.7, 4.4])


@case("lmoments3", "distr.gev.lmom_fit: parameters from L-moments of data", "containers")
def lmoments3_gev_fit():
    from lmoments3 import distr

    def loss(x):
        p = distr.gev.lmom_fit(lmom_ratios=[x[0], x[1], x[2], 0.15])
        return p["c"] + 2.0 * p["loc"] + p["scale"]
    return loss, np.array([3.2, 0.8, 0.21])


@case("lmoments3", "distr.kap pdf / cdf", "objects")
def lmoments3_kappa():
    from lmoments3 import distr

    def loss(x):
        return distr.kap._cdf(x[:3], x[3:4], x[4:5]).sum() + distr.glo._pdf(x[:3], x[3:4]).sum()
    return loss, np.array([0.2, 0.7, 1.3, 0.3, 0.4])


@case("thermofeel", "calculate_utci_polynomial in temperature, wind, radiant temperature", "plain")
def thermofeel_utci():
    import thermofeel

    def loss(x):
        return thermofeel.calculate_utci_polynomial(x[0:1], x[1:2], x[2:3], x[3:4]).sum()
    return loss, np.array([22.0, 3.1, 11.0, 1.6])


@case("thermofeel", "calculate_wbgt, calculate_bgt, wbt, humidex", "plain")
def thermofeel_wbgt():
    import thermofeel

    def loss(x):
        return (thermofeel.calculate_wbgt(x[0:1], x[1:2], x[2:3], x[3:4])
                + thermofeel.calculate_humidex(x[0:1], x[3:4])).sum() * 1e-1
    return loss, np.array([301.0, 310.0, 2.2, 290.0])


@case("windpowerlib", "wind_speed.hellman, logarithmic_profile, density.barometric", "plain")
def windpowerlib_profiles():
    from windpowerlib.density import barometric, ideal_gas
    from windpowerlib.wind_speed import hellman, logarithmic_profile

    def loss(x):
        v = logarithmic_profile(x[:2], 10.0, 100.0, x[2], 0.0) + hellman(x[:2], 10.0, 100.0, roughness_length=x[2])
        return v.sum() + ideal_gas(x[3] * 1e3, 10.0, 100.0, x[4]) * barometric(x[3] * 1e3, 10.0, 100.0, x[4])
    return loss, np.array([5.1, 7.2, 0.15, 101.1, 284.0])


@case("windpowerlib", "power_output.power_curve (interpolation, density correction)", "library")
def windpowerlib_power_curve():
    from windpowerlib.power_output import power_curve
    ws = np.array([3.0, 5.0, 8.0, 12.0, 25.0])
    pw = np.array([0.0, 30.0, 150.0, 500.0, 500.0])

    def loss(x):
        return power_curve(x, ws, pw).sum() * 1e-2
    return loss, np.array([4.1, 6.3, 9.7])


@case("ambiance", "Atmosphere: density, temperature, viscosity at height", "objects")
def ambiance_atmosphere():
    from ambiance import Atmosphere

    def loss(x):
        a = Atmosphere(x * 1e3)
        return (a.density * a.speed_of_sound).sum() * 1e-2 + a.dynamic_viscosity.sum() * 1e5
    return loss, np.array([1.3, 8.7, 14.1, 23.0])


# --- finance ---------------------------------------------------------------------------------------------------

@case("vollib", "ref_python black_scholes and analytical greeks", "plain")
def vollib_black_scholes():
    from vollib.ref_python.black_scholes import black_scholes

    def loss(x):
        return black_scholes("c", x[0], x[1], x[2], x[3], x[4]) + black_scholes("p", x[0], 1.1 * x[1], x[2], x[3], x[4])
    return loss, np.array([100.0, 96.0, 0.6, 0.02, 0.24])


@case("vollib", "ref_python implied_volatility (brentq) in the price", "iterative")
def vollib_implied_volatility():
    from vollib.ref_python.black_scholes.implied_volatility import implied_volatility

    def loss(x):
        return implied_volatility(x[0], x[1], x[2], x[3], x[4], "c")
    return loss, np.array([11.2, 100.0, 96.0, 0.6, 0.02]), steps(2e-4)(loss)


@case("vollib", "black_scholes.greeks.analytical delta, vega, theta", "plain")
def vollib_greeks():
    from vollib.black_scholes.greeks.analytical import delta, gamma, theta, vega

    def loss(x):
        a = ("c", x[0], x[1], x[2], x[3], x[4])
        return delta(*a) + vega(*a) + theta(*a) + 10.0 * gamma(*a)
    return loss, np.array([100.0, 96.0, 0.6, 0.02, 0.24])


@case("nelson_siegel_svensson", "NelsonSiegelSvenssonCurve zero and forward in the parameters", "objects")
def nss_curve():
    from nelson_siegel_svensson import NelsonSiegelSvenssonCurve
    t = np.array([0.5, 2.0, 7.0, 20.0])

    def loss(x):
        y = NelsonSiegelSvenssonCurve(x[0], x[1], x[2], x[3], x[4], x[5])
        return (y(t) ** 2).sum() + y.forward(t).sum()
    return loss, np.array([0.028, -0.03, -0.009, -0.02, 1.1, 3.2])


@case("nelson_siegel_svensson", "calibrate.betas_ns_ols: fitted betas in the yields", "library")
def nss_ols():
    from nelson_siegel_svensson.calibrate import errorfn_ns_ols
    t = np.array([0.25, 1.0, 2.0, 5.0, 10.0, 20.0])

    def loss(x):
        return errorfn_ns_ols(x[0], t, x[1:]) * 1e2
    return loss, np.array([2.1, 0.011, 0.014, 0.013, 0.019, 0.022, 0.029])


@case("PyPortfolioOpt", "objective_functions.sharpe_ratio, portfolio_variance in the weights", "plain")
def pypfopt_sharpe():
    from pypfopt import objective_functions as of
    mu = np.array([0.1, 0.07, 0.13])
    S = np.array([[0.04, 0.01, 0.0], [0.01, 0.03, 0.005], [0.0, 0.005, 0.08]])

    def loss(x):
        return of.sharpe_ratio(x, mu, S, 0.02) + of.quadratic_utility(x, mu, S, 2.0)
    return loss, np.array([0.3, 0.5, 0.2])


@case("PyPortfolioOpt", "BlackLittermanModel.bl_returns in views and priors", "subclass")
def pypfopt_black_litterman():
    from pypfopt.black_litterman import BlackLittermanModel
    S = np.array([[0.04, 0.01, 0.0], [0.01, 0.03, 0.005], [0.0, 0.005, 0.08]])

    def loss(x):
        bl = BlackLittermanModel(S, pi=x[:3].reshape(3, 1), Q=x[3:].reshape(2, 1),
                                 P=np.array([[1.0, -1.0, 0.0], [0.0, 0.0, 1.0]]))
        r = bl.bl_returns()
        return float(r.sum()) * 10.0
    return loss, np.array([0.1, 0.07, 0.13, 0.02, 0.11])


@case("PyPortfolioOpt", "risk_models.sample_cov of a price frame", "subclass")
def pypfopt_sample_cov():
    import pandas as pd
    from pypfopt import risk_models

    def loss(x):
        c = risk_models.sample_cov(pd.DataFrame(x.reshape(5, 2), columns=["a", "b"]))
        return float(c.to_numpy().sum())
    return loss, np.array([10.0, 20.0, 10.3, 19.4, 10.1, 20.2, 10.9, 20.6, 10.6, 21.4])


@case("empyrical-reloaded", "sharpe_ratio, annual_volatility of returns", "plain")
def empyrical_sharpe():
    import empyrical

    def loss(x):
        return empyrical.sharpe_ratio(x) + empyrical.annual_volatility(x) * 3.0
    return loss, np.array([0.01, -0.02, 0.013, 0.007, -0.005, 0.021])


@case("empyrical-reloaded", "cum_returns_final, annual_return, alpha_beta_aligned", "library")
def empyrical_alpha_beta():
    import empyrical

    def loss(x):
        ab = empyrical.alpha_beta_aligned(x[:5], x[5:])
        return empyrical.annual_return(x[:5]) * 0.1 + ab[1] + 0.01 * ab[0] + empyrical.cum_returns_final(x[:5])
    return loss, np.array([0.01, -0.02, 0.013, 0.007, -0.005, 0.012, -0.014, 0.01, 0.002, -0.009])


@case("ffn", "calc_sharpe, calc_total_return of pandas Series", "subclass")
def ffn_sharpe():
    import ffn
    import pandas as pd
    idx = pd.date_range("2020-01-01", periods=6)

    def loss(x):
        p = pd.Series(x, index=idx)
        return float(ffn.calc_sharpe(ffn.to_returns(p).dropna(), nperiods=252) + ffn.calc_total_return(p))
    return loss, np.array([100.0, 101.3, 99.8, 102.4, 103.9, 103.1])


@case("pysabr", "hagan_2002_lognormal_sabr.lognormal_vol in the SABR parameters", "plain")
def pysabr_lognormal_vol():
    from pysabr.models.hagan_2002_lognormal_sabr import lognormal_vol

    def loss(x):
        return lognormal_vol(0.03, x[0], 2.0, x[1], x[2], x[3], x[4]) * 10.0
    return loss, np.array([0.025, 0.04, 0.5, -0.3, 0.4])


@case("pysabr", "Hagan2002LognormalSABR.alpha (cubic roots) and call price", "iterative")
def pysabr_alpha():
    from pysabr.models.hagan_2002_lognormal_sabr import Hagan2002LognormalSABR

    def loss(x):
        s = Hagan2002LognormalSABR(f=x[0], shift=0.03, t=1.0, v_atm_n=x[1], beta=0.5, rho=x[2], volvol=x[3])
        return s.alpha() * 10.0 + s.lognormal_vol(0.03)
    return loss, np.array([0.025, 0.004, -0.3, 0.4])


@case("rateslib", "curves: Curve rate in the node values", "objects")
def rateslib_curve():
    from datetime import datetime

    from rateslib import Curve
    d = [datetime(2022, 1, 1), datetime(2023, 1, 1), datetime(2024, 1, 1)]

    def loss(x):
        c = Curve({d[0]: 1.0, d[1]: x[0], d[2]: x[1]})
        return float(c.rate(datetime(2022, 3, 1), datetime(2023, 9, 1))) + float(c[datetime(2023, 5, 1)])
    return loss, np.array([0.98, 0.955])


# --- statistics ------------------------------------------------------------------------------------------------

@case("pingouin", "compute_effsize, circ_mean, circ_r", "plain")
def pingouin_effsize():
    import pingouin as pg
    y = np.array([1.1, 0.4, 2.2, 1.9])

    def loss(x):
        return pg.compute_effsize(x, y, eftype="hedges") + pg.circ_r(x) + pg.circ_mean(x)
    return loss, np.array([0.3, 1.7, 0.9, 2.4])


@case("pingouin", "effsize, circular: circ_corrcc, circ_corrcl", "library")
def pingouin_bicor():
    from pingouin.circular import circ_corrcc, circ_corrcl, circ_rayleigh

    def loss(x):
        return circ_corrcl(x[:6], x[6:])[0] + circ_corrcc(x[:6], x[6:])[0] + circ_rayleigh(x[:6])[0]
    return loss, np.array([0.3, 1.7, 0.9, 2.4, 1.1, 0.5, 0.6, 1.9, 0.7, 2.9, 1.6, 0.1])


@case("reliability", "Weibull_Distribution PDF / HF in the parameters", "objects")
def reliability_weibull():
    from reliability.Distributions import Weibull_Distribution
    t = np.array([1.0, 4.0, 9.0])

    def loss(x):
        d = Weibull_Distribution(alpha=x[0], beta=x[1], gamma=x[2])
        return d.PDF(xvals=t, show_plot=False).sum() + d.HF(xvals=t, show_plot=False).sum() + d.mean
    return loss, np.array([6.0, 1.7, 0.3])


@case("reliability", "Lognormal / Loglogistic distribution SF, CHF", "objects")
def reliability_lognormal():
    from reliability.Distributions import Loglogistic_Distribution, Lognormal_Distribution
    t = np.array([1.0, 4.0, 9.0])

    def loss(x):
        d = Lognormal_Distribution(mu=x[0], sigma=x[1])
        e = Loglogistic_Distribution(alpha=x[2], beta=x[3])
        return d.SF(xvals=t, show_plot=False).sum() + e.CHF(xvals=t, show_plot=False).sum()
    return loss, np.array([1.2, 0.7, 5.0, 2.6])


@case("lifelines", "WeibullFitter negative log likelihood (autograd.numpy code)", "objects")
def lifelines_weibull():
    from lifelines import WeibullFitter
    T = np.array([3.0, 5.0, 7.5, 2.0, 9.0])
    E = np.array([True, True, False, True, False])
    fitter = WeibullFitter()
    entry, w = np.zeros(5), np.ones(5)

    def loss(x):
        return fitter._negative_log_likelihood_right_censoring(x, (T, None), E, entry, w)
    return loss, np.array([6.1, 1.3])


@case("lifelines", "LogNormalFitter, GeneralizedGammaFitter cumulative hazard (autograd.numpy)", "library")
def lifelines_lognormal():
    from lifelines import LogLogisticFitter, LogNormalFitter
    T = np.array([3.0, 5.0, 7.5])
    a, b = LogNormalFitter(), LogLogisticFitter()

    def loss(x):
        return (a._cumulative_hazard(x[:2], T) + b._cumulative_hazard(x[2:], T)).sum() + a._log_hazard(x[:2], T).sum()
    return loss, np.array([1.4, 0.8, 6.0, 2.1])


@case("surpyval", "Weibull / Gumbel parametric log functions", "objects")
def surpyval_weibull():
    from surpyval import Gumbel, Weibull

    def loss(x):
        return (Weibull.log_sf(x[:3], x[3], x[4]) + Weibull.log_df(x[:3], x[3], x[4])).sum() + \
            Gumbel.sf(x[:3], x[3], x[4]).sum()
    return loss, np.array([1.0, 2.2, 4.1, 3.0, 1.6])


@case("pygam", "distributions and links: GammaDist.log_pdf, LogitLink", "objects")
def pygam_dist():
    from pygam.distributions import GammaDist, InvGaussDist
    from pygam.links import InverseLink, LogitLink
    y = np.array([0.4, 1.3, 2.2])
    g, ig = GammaDist(scale=0.7), InvGaussDist(scale=0.7)
    g.levels = 1.0
    link = LogitLink()

    def loss(x):
        return (
            g.log_pdf(y, x).sum() + ig.deviance(y, x).sum() + link.link(x * 0.2, g).sum() + InverseLink().mu(x, g).sum()
        )

    return loss, np.array([0.6, 1.1, 1.9])


@case("copulas", "bivariate Clayton, Frank: pdf, cdf in u and theta", "objects")
def copulas_clayton():
    from copulas.bivariate import Clayton, Frank

    def loss(x):
        c = Clayton()
        c.theta = x[0]
        f = Frank()
        f.theta = x[1]
        X = x[2:].reshape(3, 2)
        return c.probability_density(X).sum() + c.cumulative_distribution(X).sum() + f.probability_density(X).sum()
    return loss, np.array([1.6, 2.4, 0.2, 0.3, 0.6, 0.5, 0.8, 0.4])


@case("dirichlet", "loglikelihood in the parameters", "library")
def dirichlet_loglikelihood():
    import dirichlet
    D = np.array([[0.2, 0.3, 0.5], [0.4, 0.4, 0.2], [0.1, 0.6, 0.3]])

    def loss(x):
        return dirichlet.loglikelihood(D, x)
    return loss, np.array([1.7, 2.3, 1.9])


@case("pybaselines", "whittaker.asls / polynomial baseline of a spectrum", "iterative")
def pybaselines_asls():
    from pybaselines import Baseline
    fitter = Baseline(x_data=np.linspace(0.0, 1.0, 20))

    def loss(x):
        b, _p = fitter.asls(x, lam=10.0, p=0.1, max_iter=5, tol=1e-12)
        return (b * b).sum()
    return loss, 1.0 + 0.2 * np.sin(np.arange(20) * 1.3)


@case("pybaselines", "polynomial.poly, utils.padded_convolve / gaussian", "library")
def pybaselines_poly():
    from pybaselines import Baseline
    from pybaselines.utils import gaussian_kernel, padded_convolve
    fitter = Baseline(x_data=np.linspace(0.0, 1.0, 12))
    kernel = gaussian_kernel(5, 1.0)

    def loss(x):
        b, _p = fitter.poly(x, poly_order=2)
        return (b * b).sum() + (padded_convolve(x, kernel) ** 2).sum()
    return loss, 1.0 + 0.2 * np.sin(np.arange(12) * 1.3)


@case("iminuit", "cost.LeastSquares of a model in the parameters", "objects")
def iminuit_least_squares():
    from iminuit.cost import LeastSquares
    t = np.array([0.0, 1.0, 2.0, 3.0])
    y = np.array([1.1, 2.1, 3.4, 5.2])

    def model(t, a, b):
        return a + b * t ** 1.2

    c = LeastSquares(t, y, 0.2, model)

    def loss(x):
        return c(x[0], x[1])
    return loss, np.array([0.9, 1.1])


@case("iminuit", "cost.UnbinnedNLL, poisson_chi2", "objects")
def iminuit_unbinned():
    from iminuit.cost import UnbinnedNLL, poisson_chi2
    d = np.array([0.3, 0.8, 1.7, 0.1])

    def pdf(t, a):
        return a * 2.718281828459045 ** (-a * t)

    c = UnbinnedNLL(d, pdf)
    n = np.array([3.0, 7.0, 4.0])

    def loss(x):
        return c(x[0]) + poisson_chi2(n, x[1:])
    return loss, np.array([1.2, 3.4, 6.0, 4.5])


@case("pykalman", "KalmanFilter.loglikelihood in the transition matrix and noise", "iterative")
def pykalman_loglikelihood():
    from pykalman import KalmanFilter
    z = np.array([[0.9], [1.4], [1.1], [1.9]])

    def loss(x):
        kf = KalmanFilter(transition_matrices=x[:4].reshape(2, 2), observation_matrices=[[1.0, 0.4]],
                          transition_covariance=x[4:8].reshape(2, 2), observation_covariance=x[8:9].reshape(1, 1),
                          initial_state_mean=[0.3, 0.1], initial_state_covariance=[[1.0, 0.0], [0.0, 1.0]])
        return kf.loglikelihood(z)
    return loss, np.array([0.9, 0.2, -0.1, 0.8, 0.3, 0.05, 0.05, 0.2, 0.4])


@case("pykalman", "KalmanFilter.smooth: smoothed means in the observations", "iterative")
def pykalman_smooth():
    from pykalman import KalmanFilter
    kf = KalmanFilter(transition_matrices=[[1.0, 0.3], [0.0, 0.9]], observation_matrices=[[1.0, 0.4]],
                      transition_covariance=[[0.2, 0.0], [0.0, 0.1]], observation_covariance=[[0.4]],
                      initial_state_mean=[0.3, 0.1], initial_state_covariance=[[1.0, 0.0], [0.0, 1.0]])

    def loss(x):
        m, _c = kf.smooth(x.reshape(5, 1))
        return (m * m).sum()
    return loss, np.array([0.9, 1.4, 1.1, 1.9, 2.2])


@case("chaospy", "Normal / Gamma distribution pdf, cdf in x", "objects")
def chaospy_pdf():
    import chaospy
    d = chaospy.J(chaospy.Normal(0.2, 1.3), chaospy.Gamma(2.0))

    def loss(x):
        return d.pdf(x.reshape(2, 3)).sum()
    return loss, np.array([0.1, -0.4, 1.1, 0.8, 1.9, 3.0])


@case("SALib", "analyze: Ishigami and Sobol G test functions, first_order", "containers")
def salib_functions():
    from SALib.analyze.sobol import first_order
    from SALib.test_functions import Ishigami, Sobol_G

    def loss(x):
        y = Ishigami.evaluate(x.reshape(4, 3))
        z = Sobol_G.evaluate(x.reshape(4, 3) * 0.2 + 0.5, a=np.array([0.0, 1.0, 4.5]))
        return y.sum() + z.sum() + first_order(y, z, y * z + x[:4])
    return loss, np.array([0.3, -0.5, 0.9, 1.1, 0.2, -0.7, 0.6, 1.4, 0.8, -0.2, 0.35, 0.65])


@case("SALib", "test_functions.lake_problem", "iterative")
def salib_lake():
    from SALib.test_functions.lake_problem import lake_problem

    def loss(x):
        return (lake_problem(x[0], x[1:6], 0.42, x[6], 0.1) ** 2).sum() + x[0] * 0.0
    return loss, np.array([0.2, 0.03, 0.02, 0.05, 0.01, 0.04, 2.1])


@case("scoringrules", "crps_ensemble, crps_normal, crps_gamma", "library")
def scoringrules_crps():
    import scoringrules as sr
    obs = np.array([0.4, 1.1, 0.9])

    def loss(x):
        return sr.crps_normal(obs, x[:3], x[3:6], backend="numpy").sum() + \
            sr.crps_gamma(obs, x[3:6] * 2.0, x[3:6], backend="numpy").sum()
    return loss, np.array([0.2, 1.5, 1.0, 0.6, 0.9, 1.3])


@case("scoringrules", "crps_ensemble (sorted estimators), energy_score", "library")
def scoringrules_ensemble():
    import scoringrules as sr
    obs = np.array([0.4, 1.1])

    def loss(x):
        return sr.crps_ensemble(obs, x.reshape(2, 5), estimator="pwm", backend="numpy").sum() + \
            sr.energy_score(obs, x.reshape(5, 2), backend="numpy")
    return loss, np.array([0.1, 0.5, 0.9, 0.3, 0.72, 1.4, 1.0, 0.8, 0.65, 1.2])


@case("scoringrules", "logs_normal, crps_gev, crps_beta", "library")
def scoringrules_logs():
    import scoringrules as sr
    obs = np.array([0.4, 0.7])

    def loss(x):
        return (
            sr.logs_normal(obs, x[:2], x[2:4], backend="numpy").sum()
            + sr.crps_logistic(obs, x[:2], x[2:4], backend="numpy").sum()
            + sr.crps_t(obs, 5.0, x[:2], x[2:4], backend="numpy").sum()
        )

    return loss, np.array([0.2, 0.5, 0.6, 0.9])


@case("pysindy", "PolynomialLibrary.transform / FiniteDifference", "library")
def pysindy_library():
    import pysindy as ps
    t = np.linspace(0.0, 1.0, 6)
    fd = ps.FiniteDifference(order=2)

    def loss(x):
        d = fd._differentiate(x.reshape(6, 2), t)
        return (d * d).sum() * 1e-2
    return loss, np.sin(np.arange(12) * 0.7)


@case("EntropyHub", "FuzzEn of a signal", "iterative")
def entropyhub_fuzzen():
    import EntropyHub as EH

    def loss(x):
        f, _a, _b = EH.FuzzEn(x, m=2, r=(0.4, 2.0))
        return f[1]
    return loss, np.sin(np.arange(16) * 1.3) + 0.1 * np.arange(16)


@case("delicatessen", "estimating_equations.ee_regression, ee_glm: scores in theta", "plain")
def delicatessen_regression():
    from delicatessen.estimating_equations import ee_glm, ee_regression
    X = np.array([[1.0, 0.3], [1.0, -0.7], [1.0, 1.2], [1.0, 0.5]])
    y = np.array([0.0, 1.0, 1.0, 0.0])

    def loss(x):
        e = ee_regression(x, X, y, model="logistic")
        f = ee_glm(x, X, y, distribution="poisson", link="log")
        return (e * e).sum() + (f * f).sum()
    return loss, np.array([0.2, 0.6])


@case("delicatessen", "ee_mean_robust, ee_loglogistic dose-response", "plain")
def delicatessen_dose():
    from delicatessen.estimating_equations import ee_loglogistic, ee_mean_robust
    dose = np.array([0.1, 0.5, 2.0, 7.0])
    resp = np.array([7.9, 6.0, 2.2, 0.9])

    def loss(x):
        e = ee_loglogistic(x[:4], dose, resp)
        f = ee_mean_robust(x[4:], resp, k=2.5, loss="tukey")
        return (e * e).sum() * 1e-2 + (f * f).sum()
    return loss, np.array([0.8, 8.1, 0.9, 1.4, 3.7])


@case("delicatessen", "utilities.spline, robust_loss_functions", "containers")
def delicatessen_spline():
    from delicatessen.utilities import spline

    def loss(x):
        s = spline(x, knots=[0.2, 0.9, 1.6], power=3, restricted=True, normalized=True)
        return (s * s).sum()
    return loss, np.array([0.1, 0.5, 1.3, 2.2])


@case("zepid", "calc.odds_ratio, risk_ratio, rubins_rules", "containers")
def zepid_odds_ratio():
    from zepid.calc import odds_ratio, risk_ratio

    def loss(x):
        r = odds_ratio(x[0], x[1], x[2], x[3])
        s = risk_ratio(x[0], x[1], x[2], x[3])
        return r[0] + r[1] + s.point_estimate + s.upper_bound
    return loss, np.array([25.0, 25.0, 21.0, 39.0])


@case("zepid", "calc.ppv_converter, counternull, attributable fraction", "plain")
def zepid_ppv():
    from zepid.calc import logit, npv_converter, population_attributable_fraction, ppv_converter

    def loss(x):
        return ppv_converter(x[0], x[1], x[2]) + npv_converter(x[0], x[1], x[2]) + logit(x[2]) + \
            population_attributable_fraction(x[3], x[4], 30.0, 40.0)
    return loss, np.array([0.85, 0.92, 0.13, 22.0, 41.0])
