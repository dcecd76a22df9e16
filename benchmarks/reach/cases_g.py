"""Marketing, ratings, decisions, operations, online learning, language scores, forecasts, samplers, splines, bases."""

import numpy as np
from cases import case, richardson, steps

_rng = np.random.default_rng(61)
_normal = _rng.normal(size=(40, 4))
"""Numbers to make data of."""


# --- marketing -------------------------------------------------------------------------------------------------

@case("lifetimes", "BetaGeoFitter._negative_log_likelihood and conditional expectation (autograd.numpy)", "objects")
def lifetimes_beta_geo():
    from lifetimes import BetaGeoFitter
    freq, rec = np.array([2.0, 0.0, 5.0, 1.0]), np.array([13.0, 0.0, 31.0, 4.0])
    age, weights = np.array([38.0, 35.0, 39.0, 29.0]), np.array([1.0, 2.0, 1.0, 1.0])

    def loss(x):
        model = BetaGeoFitter(penalizer_coef=0.01)
        model.params_ = {"r": x[4], "alpha": x[5], "a": x[6], "b": x[7]}
        likelihood = BetaGeoFitter._negative_log_likelihood(x[:4], freq, rec, age, weights, 0.01)
        expected = model.conditional_expected_number_of_purchases_up_to_time(12.0, freq, rec, age)
        return likelihood + expected.sum() + model.conditional_probability_alive(3.0, 21.0, 30.0).sum()
    return loss, np.array([-1.2, 1.4, -0.3, 0.9, 0.4, 4.4, 1.8, 2.4])


@case("lifetimes", "ParetoNBDFitter._negative_log_likelihood in its four parameters (hyp2f1, logsumexp)", "library")
def lifetimes_pareto_nbd():
    from lifetimes.fitters.pareto_nbd_fitter import ParetoNBDFitter
    freq, rec = np.array([2.0, 0.0, 5.0, 1.0]), np.array([13.0, 0.0, 31.0, 4.0])
    age, weights = np.array([38.0, 35.0, 39.0, 29.0]), np.array([1.0, 2.0, 1.0, 1.0])

    def loss(x):
        return ParetoNBDFitter._negative_log_likelihood(x, freq, rec, age, weights, 0.02)
    return loss, np.array([0.6, 10.5, 0.7, 7.6])


@case("lifetimes", "GammaGammaFitter: expected profit and likelihood in values and parameters", "objects")
def lifetimes_gamma_gamma():
    from lifetimes import GammaGammaFitter
    freq = np.array([2.0, 1.0, 5.0])

    def loss(x):
        model = GammaGammaFitter(penalizer_coef=0.0)
        model.params_ = {"p": x[3], "q": x[4], "v": x[5]}
        profit = model.conditional_expected_average_profit(freq, x[:3])
        return profit.sum() + model._negative_log_likelihood(x[6:], freq, x[:3], np.ones(3), 0.1)
    return loss, np.array([22.3, 73.7, 11.8, 6.2, 3.7, 15.4, 1.1, 0.9, 2.1])


# --- ratings ---------------------------------------------------------------------------------------------------

@case("elote", "GlickoCompetitor.beat, tied and expected_score in the initial ratings", "objects")
def elote_glicko():
    from datetime import datetime

    from elote import GlickoCompetitor
    day = datetime(2026, 1, 5)

    def loss(x):
        one, two = (GlickoCompetitor(x[2 * i], x[2 * i + 1], initial_time=day) for i in range(2))
        one.beat(two, match_time=day)
        two.tied(one, match_time=day)
        return one.rating * 0.01 + two.rd * 0.1 + one.expected_score(two)
    return loss, np.array([1520.0, 180.0, 1610.0, 90.0])


@case("elote", "Glicko2Competitor: a rating period of three matches", "iterative")
def elote_glicko2():
    from datetime import datetime

    from elote import Glicko2Competitor
    day = datetime(2026, 1, 5)

    def loss(x):
        one, two, three = (Glicko2Competitor(x[2 * i], x[2 * i + 1], initial_volatility=0.06, initial_time=day)
                           for i in range(3))
        one.beat(two, match_time=day)
        three.beat(one, match_time=day)
        return one.rating * 0.01 + three.rd * 0.1 + two.rating * 0.003
    return loss, np.array([1520.0, 180.0, 1610.0, 90.0, 1490.0, 140.0])


@case("elote", "EloCompetitor and DWZCompetitor in ratings and k factor", "objects")
def elote_elo():
    from elote import DWZCompetitor, EloCompetitor

    def loss(x):
        one, two = EloCompetitor(x[0], k_factor=x[2]), EloCompetitor(x[1], k_factor=x[2])
        one.beat(two)
        two.beat(one)
        three, four = DWZCompetitor(x[0]), DWZCompetitor(x[1])
        three.tied(four)
        return one.rating * 0.01 + one.expected_score(two) + three.rating * four.rating * 1e-5
    return loss, np.array([1520.0, 1610.0, 24.0])


# --- decisions and games ---------------------------------------------------------------------------------------

@case("pymcdm", "TOPSIS, VIKOR, MARCOS preferences in the decision matrix and the weights", "objects")
def pymcdm_methods():
    from pymcdm.methods import MARCOS, TOPSIS, VIKOR
    types = np.array([1, -1, 1])

    def loss(x):
        matrix, weights = x[:12].reshape(4, 3), x[12:] / x[12:].sum()
        one, two, three = TOPSIS()(matrix, weights, types), VIKOR()(matrix, weights, types), MARCOS()(
            matrix, weights, types)
        return one[0] + 2.0 * two[1] + three[2] - one[3] * three[0]
    return loss, np.array([1.2, 3.4, 2.2, 2.8, 2.1, 1.9, 0.7, 2.9, 3.1, 1.9, 4.4, 2.7, 0.2, 0.5, 0.3])


@case("pymcdm", "weights: CRITIC, entropy, MEREC, Gini from a decision matrix", "library")
def pymcdm_weights():
    from pymcdm import weights as w

    def loss(x):
        matrix = x.reshape(4, 3)
        c = np.array([0.4, -1.0, 2.0])
        return (w.critic_weights(matrix) @ c + w.entropy_weights(matrix) @ c + w.gini_weights(matrix) @ c
                + w.merec_weights(matrix, np.array([1, -1, 1])) @ c)
    return loss, np.array([1.2, 3.4, 2.2, 2.8, 2.1, 1.9, 0.7, 2.9, 3.1, 1.9, 4.4, 2.7])


@case("pymcdm", "PROMETHEE_II (gaussian-like preference), COCOSO and CODAS", "objects")
def pymcdm_outranking():
    from pymcdm.methods import COCOSO, CODAS, PROMETHEE_II
    types = np.array([1, -1, 1])

    def loss(x):
        matrix, weights = x[:12].reshape(4, 3), x[12:] / x[12:].sum()
        flow = PROMETHEE_II("vshape_2", p=np.full(3, 6.0), q=np.full(3, 0.05))(matrix, weights, types)
        return flow[0] + COCOSO()(matrix, weights, types)[1] + 0.1 * CODAS()(matrix, weights, types)[2]
    return loss, np.array([1.2, 3.4, 2.2, 2.8, 2.1, 1.9, 0.7, 2.9, 3.1, 1.9, 4.4, 2.7, 0.2, 0.5, 0.3])


@case("nashpy", "Game.replicator_dynamics (odeint) in the payoffs and the start", "iterative")
def nashpy_replicator():
    import nashpy
    times = np.linspace(0.0, 1.5, 6)

    def loss(x):
        game = nashpy.Game(x[:9].reshape(3, 3))
        path = game.replicator_dynamics(y0=x[9:], timepoints=times)
        return path[-1, 0] + 2.0 * path[3, 1] * path[5, 2]

    def fine(x):
        payoffs, y, path = x[:9].reshape(3, 3), x[9:], [x[9:]]
        rate = lambda y: y * (payoffs @ y - y @ payoffs @ y)
        for _ in range(5):
            for _ in range(60):
                a = rate(y)
                b = rate(y + 0.0025 * a)
                c = rate(y + 0.0025 * b)
                y = y + 0.005 / 6 * (a + 2 * b + 2 * c + rate(y + 0.005 * c))
            path.append(y)
        return path[-1][0] + 2.0 * path[3][1] * path[5][2]
    return loss, np.array([3.0, 0.5, 2.0, 1.0, 4.0, 0.2, 2.4, 1.1, 0.9, 0.3, 0.45, 0.25]), lambda x: richardson(fine, x)


@case("nashpy", "Game[sigma] utilities and support_enumeration: equilibria in the payoffs", "containers")
def nashpy_equilibria():
    import nashpy

    def loss(x):
        game = nashpy.Game(x[:4].reshape(2, 2), x[4:].reshape(2, 2))
        row, column = list(game.support_enumeration())[-1]
        u = game[row, column]
        return row[0] + 2.0 * column[1] + u[0] * u[1]
    return loss, np.array([3.0, 0.6, 0.2, 2.4, 2.1, 0.3, 0.4, 3.3])


# --- operations ------------------------------------------------------------------------------------------------

@case("stockpyl", "newsvendor_normal, normal_loss and newsvendor_poisson_cost", "library")
def stockpyl_newsvendor():
    from stockpyl.loss_functions import lognormal_loss, normal_loss
    from stockpyl.newsvendor import newsvendor_normal

    def loss(x):
        level, cost = newsvendor_normal(holding_cost=x[0], stockout_cost=x[1], demand_mean=x[2], demand_sd=x[3])
        n, n_bar = normal_loss(x[4], x[2], x[3])
        m, m_bar = lognormal_loss(x[5], x[6], x[7])
        return level + cost + n * n_bar * 0.1 + m + 2.0 * m_bar
    return loss, np.array([0.18, 0.7, 50.0, 8.0, 47.0, 3.1, 0.8, 0.5])


@case("stockpyl", "eoq: order quantities with backorders and production; r_q_cost (quad)", "iterative")
def stockpyl_rq():
    from stockpyl.eoq import economic_order_quantity_with_backorders, economic_production_quantity
    from stockpyl.rq import r_q_cost

    def loss(x):
        q, z, cost = economic_order_quantity_with_backorders(x[0], x[1], x[2], x[3])
        p, price = economic_production_quantity(x[0], x[1], x[3], x[4])
        return q * z * 1e-2 + cost + p + 0.1 * price + r_q_cost(x[5], x[6], x[1], x[2], x[0], x[3], x[7], 0.6)
    return loss, np.array([8.0, 0.23, 5.1, 130.0, 200.0, 95.0, 60.0, 14.0])


@case("stockpyl", "supply_uncertainty: eoq_with_disruptions and its cost (minimum by SciPy)", "iterative")
def stockpyl_disruptions():
    from stockpyl.supply_uncertainty import eoq_with_disruptions, eoq_with_disruptions_cost

    def loss(x):
        q, cost = eoq_with_disruptions(x[0], x[1], x[2], x[3], x[4], x[5], approximate=True)
        return q * 0.01 + cost * 0.1 + eoq_with_disruptions_cost(70.0, x[0], x[1], x[2], x[3], x[4], x[5]) * 0.1
    return loss, np.array([8.0, 0.225, 5.0, 130.0, 1.5, 14.0])


# --- language scores -------------------------------------------------------------------------------------------

@case("nltk", "metrics.association.BigramAssocMeasures: PMI, likelihood ratio, phi, Student t in the counts", "plain")
def nltk_association():
    from nltk.metrics import BigramAssocMeasures as m

    def loss(x):
        counts = (x[0], (x[1], x[2]), x[3])
        return (m.pmi(*counts) + m.likelihood_ratio(*counts) + m.chi_sq(*counts) * 0.1 + m.student_t(*counts)
                + m.poisson_stirling(*counts) + m.dice(*counts) + m.mi_like(*counts, power=x[4]))
    return loss, np.array([8.0, 15.0, 21.0, 400.0, 2.5])


@case("nltk", "translate.bleu_score.sentence_bleu in the weights, with smoothing in epsilon and k", "containers")
def nltk_bleu():
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu
    reference = [["a", "dog", "sat", "on", "the", "old", "mat", "and", "slept"]]
    hypothesis = ["the", "dog", "sat", "on", "the", "mat", "all", "day"]

    def loss(x):
        weights = (x[0], x[1], x[2], x[3])
        one = sentence_bleu(reference, hypothesis, weights, SmoothingFunction(epsilon=x[4]).method1)
        return one + sentence_bleu(reference, hypothesis, weights, SmoothingFunction(k=5, alpha=x[5]).method5)
    return loss, np.array([0.3, 0.3, 0.2, 0.2, 0.1, 5.0])


@case("nltk", "probability: WittenBell-like estimators, LidstoneProbDist and entropy in gamma", "containers")
def nltk_probability():
    from nltk.probability import DictionaryProbDist, FreqDist, LidstoneProbDist, entropy
    words = FreqDist(["a", "b", "a", "c", "d", "a", "b", "e", "f", "a", "c"])

    def loss(x):
        smooth = LidstoneProbDist(words, x[0], bins=9)
        given = DictionaryProbDist({"a": x[1], "b": x[2], "c": x[3]}, normalize=True)
        return smooth.prob("a") + smooth.logprob("z") + entropy(given) + given.logprob("b")
    return loss, np.array([0.4, 0.5, 0.2, 0.7])


# --- online learning -------------------------------------------------------------------------------------------

@case("river", "stats: EWMean, EWVar, Kurtosis, Skew, AutoCorr of a stream", "objects")
def river_stats():
    from river import stats

    def loss(x):
        made = [stats.EWMean(x[0]), stats.EWVar(x[0]), stats.AutoCorr(2), stats.Mean(), stats.Var()]
        for value in x[1:]:
            for s in made:
                s.update(value)
        return sum((i + 1.0) * s.get() for i, s in enumerate(made))
    return loss, np.array([0.35, 1.2, -0.4, 0.9, 2.3, 0.1, 1.4, 0.8])


@case("river", "LinearRegression (Adam) learning from dicts: prediction after five examples", "containers")
def river_regression():
    from river import linear_model, optim

    def loss(x):
        model = linear_model.LinearRegression(optim.Adam(x[0]), l2=x[1], intercept_lr=0.1)
        for i in range(4):
            model.learn_one({"a": x[2 + i], "b": x[3 + i], "c": 0.3 * i}, x[6 - i])
        return model.predict_one({"a": 1.2, "b": x[7], "c": 0.5})
    return loss, np.array([0.1, 0.02, 0.4, -0.9, 1.3, 0.6, 1.7, 0.8])


@case("river", "HoltWinters and BayesianLinearRegression learning a stream: forecasts", "iterative")
def river_forecast():
    from river import linear_model, time_series

    def loss(x):
        model = time_series.HoltWinters(alpha=x[0], beta=x[1], gamma=x[2], seasonality=3)
        bayes = linear_model.BayesianLinearRegression(alpha=x[0], beta=0.7)
        for i in range(3, 13):
            model.learn_one(x[i])
            bayes.learn_one({"a": x[i], "b": 1.0 + i * i * 0.1}, x[i] ** 2)
        return sum(model.forecast(horizon=3)) + bayes.predict_one({"a": x[3], "b": 2.0})
    return loss, np.array([0.3, 0.1, 0.6, 5.1, 6.2, 3.9, 5.4, 6.9, 4.2, 5.8, 7.1, 4.6, 6.0])


@case("river", "metrics.R2, RMSE, LogLoss and losses Huber, Poisson, BinaryFocalLoss", "objects")
def river_metrics():
    from river import metrics
    from river.optim import losses

    def loss(x):
        total = 0.0
        for metric in (metrics.R2(), metrics.RMSE(), metrics.SMAPE()):
            for y, p in zip((1.0, 2.5, 4.0), x[:3]):
                metric.update(y, p)
            total = total + metric.get()
        log = metrics.LogLoss()
        log.update(True, x[3])
        log.update(False, x[4])
        return total * 0.1 + log.get() + losses.Poisson()(2.0, x[0]) + losses.BinaryFocalLoss()(1, x[3]) + losses.Huber(
            )(3.0, x[1])
    return loss, np.array([1.2, 2.2, 4.5, 0.7, 0.2])


# --- forecasts and their scores --------------------------------------------------------------------------------

@case("scores", "continuous.kge, nse, tw_squared_error of DataArrays by a dimension", "subclass")
def scores_continuous():
    import xarray as xr
    from scores.continuous import kge, nse, tw_squared_error
    obs = xr.DataArray(np.array([[1.2, 2.3, 3.1, 2.2], [1.7, 0.9, 1.4, 2.0]]), dims=("station", "t"))

    def loss(x):
        fcst = xr.DataArray(x.reshape(2, 4), dims=("station", "t"))
        one = kge(fcst, obs, preserve_dims="station")
        two = nse(fcst, obs, reduce_dims="t")
        three = tw_squared_error(fcst, obs, (1.0, 2.5))
        return float((one * np.array([1.0, 2.0])).sum() + two.sum() + three)
    return loss, np.array([1.08, 2.6, 2.9, 2.4, 1.5, 1.1, 1.3, 2.2])


@case("scores", "probability.crps_for_ensemble and crps_cdf (exact integrals) in the forecasts", "subclass")
def scores_crps():
    import xarray as xr
    from scores.probability import crps_cdf, crps_for_ensemble
    obs = xr.DataArray(np.array([1.3, 2.2]), dims="station")

    def loss(x):
        members = xr.DataArray(x[:8].reshape(2, 4), dims=("station", "member"))
        cdf = xr.DataArray(x[8:].reshape(2, 4), dims=("station", "threshold"),
                           coords={"threshold": [0.0, 1.0, 2.0, 3.0]})
        one = crps_for_ensemble(members, obs, "member", method="fair")
        return float(one) + float(crps_cdf(cdf, obs)["total"])
    return loss, np.array([1.0, 2.6, 1.9, 0.4, 1.5, 1.1, 2.9, 3.3, 0.1, 0.4, 0.75, 0.97, 0.05, 0.2, 0.6, 0.9])


@case("uncertainty-toolbox", "metrics_scoring_rule: CRPS, likelihood, check and interval scores", "library")
def uncertainty_toolbox_scores():
    from uncertainty_toolbox.metrics_scoring_rule import check_score, crps_gaussian, interval_score, nll_gaussian
    y = np.array([0.3, -0.7, 1.4, 2.2])

    def loss(x):
        mean, std = x[:4], x[4:]
        return (crps_gaussian(mean, std, y) + nll_gaussian(mean, std, y) + check_score(mean, std, y, resolution=9)
                + interval_score(mean, std, y, resolution=9))
    return loss, np.array([0.1, -0.4, 1.1, 2.6, 0.5, 0.3, 0.8, 0.6]), steps(2e-4)(loss)


@case("uncertainty-toolbox", "get_all_metrics: sharpness and accuracy of a dict of dicts", "containers")
def uncertainty_toolbox_all():
    from uncertainty_toolbox.metrics import get_all_metrics
    y = np.array([0.3, -0.7, 1.4, 2.2])

    def loss(x):
        m = get_all_metrics(x[:4], x[4:], y, num_bins=10, resolution=9, verbose=False)
        return m["accuracy"]["rmse"] + m["accuracy"]["corr"] + m["sharpness"]["sharp"] + m["scoring_rule"]["crps"]
    return loss, np.array([0.1, -0.4, 1.1, 2.6, 0.5, 0.3, 0.8, 0.6]), steps(2e-4)(loss)


@case("permetrics", "RegressionMetric: KGE, WI, MASE, JSD-free measures by name", "objects")
def permetrics_regression():
    from permetrics import RegressionMetric
    y = np.array([1.2, 2.3, 3.1, 2.2, 1.7, 0.9])

    def loss(x):
        metric = RegressionMetric(y, x)
        found = metric.get_metrics_by_list_names(["RMSE", "KGE", "WI", "MAAPE", "VAF", "NRMSE", "PCC", "EVS"])
        return sum(found.values())
    return loss, np.array([1.0, 2.6, 2.9, 2.4, 1.5, 1.1])


@case("permetrics", "ClusteringMetric: Davies-Bouldin, Xie-Beni, Calinski-Harabasz, Ball-Hall in the points", "objects")
def permetrics_clustering():
    from permetrics import ClusteringMetric
    labels = np.array([0, 0, 1, 1, 2, 2, 0, 1])

    def loss(x):
        m = ClusteringMetric(X=x.reshape(8, 2), y_pred=labels)
        return (m.davies_bouldin_index() + m.xie_beni_index() + m.calinski_harabasz_index() * 0.1
                + m.ball_hall_index() + m.log_det_ratio_index() * 0.1)
    return loss, np.repeat([[0.0, 0.0], [3.0, 0.5], [1.0, 4.0]], [2, 2, 2], axis=0).ravel().tolist() + [
        0.4, -0.9, 3.8, 1.6] + 0.3 * _normal.ravel()[:16]


@case("prophet", "Prophet.piecewise_linear and piecewise_logistic trends in rates and changepoints", "plain")
def prophet_trends():
    from prophet import Prophet
    t = np.linspace(0.0, 1.0, 11)

    def loss(x):
        one = Prophet.piecewise_linear(t, x[:3], x[3], x[4], x[5:8])
        two = Prophet.piecewise_logistic(t, np.full(11, 8.0), x[:3], x[3], x[4], x[5:8])
        return (one * one).sum() + (two * one).sum() * 0.1
    return loss, np.array([0.4, -0.7, 0.3, 1.1, 0.2, 0.23, 0.46, 0.77])


@case("prophet", "growth initialisation from a DataFrame: linear, logistic, flat", "containers")
def prophet_growth():
    import pandas as pd
    from prophet import Prophet
    dates = pd.to_datetime(["2026-01-01", "2026-01-15", "2026-02-01", "2026-03-01"])

    def loss(x):
        df = pd.DataFrame({"ds": dates, "t": [0.0, 0.3, 0.6, 1.0], "y_scaled": x[:4], "cap_scaled": x[4:8]})
        k, m = Prophet.linear_growth_init(df)
        r, s = Prophet.logistic_growth_init(df)
        return k * m + r * s + Prophet.flat_growth_init(df)[1]
    return loss, np.array([0.2, 0.5, 0.4, 0.8, 1.1, 1.2, 1.3, 1.5])


# --- samplers and their summaries ------------------------------------------------------------------------------

@case("dynesty", "bounding.Ellipsoid, bounding_ellipsoid: distances and volume in covariance and points", "objects")
def dynesty_ellipsoid():
    from dynesty.bounding import Ellipsoid, bounding_ellipsoid
    at = np.array([0.4, 0.7])

    def loss(x):
        cov = np.array([[x[2], x[3]], [x[3], x[4]]])
        ell = Ellipsoid(2, ctr=x[:2], cov=cov)
        bound = bounding_ellipsoid(x[5:].reshape(6, 2))
        return ell.distance(at) + ell.logvol + ell.axlens[0] + bound.logvol + bound.distance(at)
    return loss, np.concatenate([[0.5, 0.5, 0.09, 0.02, 0.05], np.array([
        0.1, 0.3, 0.9, 0.4, 0.5, 0.9, 0.35, 0.45, 0.6, 0.2, 0.7, 0.65])])


@case("dynesty", "utils.compute_integrals: evidence and its error, mean_and_cov in the likelihoods", "library")
def dynesty_integrals():
    from dynesty.utils import compute_integrals, mean_and_cov
    logvol = -0.3 * np.arange(1, 8)
    samples = _normal[:7, :2]

    def loss(x):
        logwt, logz, logzvar, h = compute_integrals(logl=x, logvol=logvol)
        mean, cov = mean_and_cov(samples, np.exp(logwt - logz[-1]))
        return logz[-1] + logzvar[-1] * 3.0 + h[-1] + mean[0] + cov[0, 1]
    return loss, np.array([-9.0, -6.2, -4.9, -3.1, -2.2, -1.4, -1.1])


@case("getdist", "gaussian_mixtures.Mixture2D: marginal and conditional densities in the parameters", "objects")
def getdist_mixture():
    from getdist.gaussian_mixtures import Mixture2D
    px, py = np.array([0.1, 0.8]), np.array([0.4, 1.1])

    def loss(x):
        covs = [np.array([[x[4], x[5]], [x[5], x[6]]]), np.array([[x[6], 0.1], [0.1, x[4]]])]
        m = Mixture2D([x[:2], x[2:4]], covs, weights=[x[7], 1.0 - x[7]])
        one = m.pdf(px, py)
        return (one * one).sum() + m.pdf_marged(0, 0.3) + m.conditionalMixture(["x"], [0.4]).pdf([0.9])
    return loss, np.array([0.2, 0.5, 1.1, 0.9, 0.7, 0.2, 0.5, 0.4])


@case("getdist", "MCSamples: mean, covariance, Gelman-Rubin-like and effective samples in the weights", "objects")
def getdist_samples():
    from getdist import MCSamples
    points = _normal[:30, :2].copy()

    def loss(x):
        weights = np.concatenate([x, np.ones(24)])
        s = MCSamples(samples=points, weights=weights, names=["a", "b"], settings={"ignore_rows": 0})
        cov = s.getCov()
        return s.mean("a") + cov[0, 1] + s.std("b") + s.getEffectiveSamples() * 0.01 + s.corr(["a", "b"])[0, 1]
    return loss, np.array([0.7, 1.4, 2.2, 0.9, 1.1, 1.8])


# --- manifolds -------------------------------------------------------------------------------------------------

@case("pymanopt", "SymmetricPositiveDefinite: distance, exp, log, transport of matrices", "objects")
def pymanopt_spd():
    from pymanopt.manifolds import SymmetricPositiveDefinite
    manifold = SymmetricPositiveDefinite(2)

    def loss(x):
        a = np.array([[x[0], x[1]], [x[1], x[2]]])
        b = np.array([[x[3], x[4]], [x[4], x[5]]])
        v = manifold.log(a, b)
        w = manifold.exp(a, 0.3 * v)
        return manifold.dist(a, b) + manifold.norm(a, v) + w[0, 1] * w[1, 1] + manifold.transport(a, b, v)[0, 0]
    return loss, np.array([1.4, 0.3, 0.9, 2.1, -0.4, 1.2])


@case("pymanopt", "Stiefel, Grassmann, Sphere: retractions, projections, distances", "objects")
def pymanopt_stiefel():
    from pymanopt.manifolds import Grassmann, Sphere, Stiefel
    stiefel, grassmann, sphere = Stiefel(4, 2), Grassmann(4, 2), Sphere(4)

    def loss(x):
        a = np.linalg.qr(x[:8].reshape(4, 2))[0]
        v = stiefel.projection(a, x[8:].reshape(4, 2))
        b = stiefel.retraction(a, v)
        p = x[:4] / np.sqrt((x[:4] ** 2).sum())
        q = sphere.exp(p, sphere.projection(p, x[8:12]))
        return (b ** 3).sum() + grassmann.dist(a, grassmann.retraction(a, v)) + sphere.dist(p, q) + (q ** 3).sum()
    return loss, _normal.ravel()[40:56].copy()


@case("pymanopt", "PoincareBall: Moebius addition, distance and geodesics", "objects")
def pymanopt_poincare():
    from pymanopt.manifolds import PoincareBall
    ball = PoincareBall(3)

    def loss(x):
        a, b = x[:3], x[3:6]
        v = ball.log(a, b)
        return ball.dist(a, b) + ball.exp(a, 0.4 * v).sum() + ball.mobius_addition(a, b)[0] + ball.conformal_factor(
            a).sum() + ball.inner_product(a, v, x[6:])
    return loss, np.array([0.2, -0.3, 0.4, 0.1, 0.5, -0.2, 0.7, 0.3, -0.6])


# --- functional data, tracking, modes --------------------------------------------------------------------------

@case("scikit-fda", "FDataBasis of B-splines, Fourier: evaluation, derivative, integral, products", "objects")
def scikit_fda_basis():
    from skfda.representation.basis import BSplineBasis, FDataBasis, FourierBasis
    one, two = BSplineBasis(n_basis=5, order=4), FourierBasis((0.0, 1.0), n_basis=3)
    at = np.array([0.1, 0.45, 0.8])

    def loss(x):
        f, g = FDataBasis(one, x[:5]), FDataBasis(two, x[5:])
        values = f(at)[0, :, 0] * g(at)[0, :, 0]
        return values.sum() + (f.derivative()(at) ** 2).sum() * 0.01 + f.integrate()[0, 0]
    return loss, np.array([0.4, 1.2, -0.3, 0.8, 1.9, 0.5, -0.7, 0.2])


@case("scikit-fda", "FDataGrid: mean, var, cubic interpolation and derivative in the values", "objects")
def scikit_fda_grid():
    from skfda import FDataGrid
    from skfda.representation.interpolation import SplineInterpolation
    t = np.array([0.0, 0.2, 0.5, 0.7, 1.0])

    def loss(x):
        f = FDataGrid(x.reshape(2, 5), t, interpolation=SplineInterpolation(3))
        g = f * 2.0 + f.mean()
        return (f(np.array([0.3, 0.6])) ** 2).sum() + g.derivative().data_matrix[0, 2, 0] + f.var().integrate()[0, 0]
    return loss, np.array([0.4, 1.2, -0.3, 0.8, 1.9, 0.5, -0.7, 0.2, 1.4, 0.6])


@case("stonesoup", "KalmanPredictor, KalmanUpdater, ConstantVelocity: a step in prior and measurement", "objects")
def stonesoup_kalman_step():
    from datetime import datetime, timedelta

    from stonesoup.models.measurement.linear import LinearGaussian
    from stonesoup.models.transition.linear import CombinedLinearGaussianTransitionModel, ConstantVelocity
    from stonesoup.predictor.kalman import KalmanPredictor
    from stonesoup.types.detection import Detection
    from stonesoup.types.hypothesis import SingleHypothesis
    from stonesoup.types.state import GaussianState
    from stonesoup.updater.kalman import KalmanUpdater
    start = datetime(2026, 1, 5)

    def loss(x):
        model = CombinedLinearGaussianTransitionModel([ConstantVelocity(x[0]), ConstantVelocity(0.05)])
        measure = LinearGaussian(ndim_state=4, mapping=(0, 2), noise_covar=np.array([[x[1], 0.0], [0.0, 0.8]]))
        prior = GaussianState(x[2:6], np.diag([1.5, 0.5, 1.5, 0.5]), timestamp=start)
        predicted = KalmanPredictor(model).predict(prior, timestamp=start + timedelta(seconds=2))
        seen = Detection(x[6:8], timestamp=start + timedelta(seconds=2), measurement_model=measure)
        post = KalmanUpdater(measure).update(SingleHypothesis(predicted, seen))
        return float((np.asarray(post.state_vector) ** 2).sum() + post.covar[0, 1] + post.covar[2, 2])
    return loss, np.array([0.05, 0.7, 0.0, 1.0, 0.3, 0.8, 2.3, 1.4])


@case("stonesoup", "CartesianToBearingRange: function, jacobian, unscented transform of a state", "subclass")
def stonesoup_bearing():
    from stonesoup.models.measurement.nonlinear import CartesianToBearingRange
    from stonesoup.types.array import StateVector
    from stonesoup.types.state import State

    def loss(x):
        model = CartesianToBearingRange(ndim_state=4, mapping=(0, 2), noise_covar=np.diag([0.1, 1.0]),
                                        translation_offset=StateVector([x[4], x[5]]))
        z = model.function(State(StateVector(x[:4])), noise=False)
        back = model.inverse_function(State(z))
        return float(z[0, 0]) + float(z[1, 0]) + float(back[0, 0]) * float(back[2, 0])
    return loss, np.array([3.0, 1.0, 4.2, 0.8, 0.5, -0.3])


@case("pydmd", "DMD: growth of modes, amplitudes and the next snapshot", "library")
def pydmd_dmd():
    from pydmd import DMD

    def loss(x):
        dmd = DMD(svd_rank=2, exact=True, opt=True)
        dmd.fit(x.reshape(4, 5))
        later = dmd.predict(x.reshape(4, 5))
        return (np.abs(dmd.eigs) ** 2).sum() + (later.real ** 2).sum() * 0.1 + np.abs(dmd.amplitudes).sum()
    return loss, np.array([np.exp(-0.1 * t) * np.cos(0.7 * t + p) + 0.5 * np.cos(0.3 * t * p) for p in (
        0.1, 0.7, 1.6, 2.2) for t in range(5)])


# --- finance and insurance -------------------------------------------------------------------------------------

@case("ta", "MACD, BollingerBands, RSIIndicator (pandas) of a series of prices", "objects")
def ta_indicators():
    import pandas as pd
    from ta.momentum import RSIIndicator
    from ta.trend import MACD
    from ta.volatility import BollingerBands

    def loss(x):
        close = pd.Series(x)
        macd = MACD(close, window_slow=6, window_fast=3, window_sign=2)
        bands = BollingerBands(close, window=5)
        rsi = RSIIndicator(close, 4).rsi()
        return macd.macd_diff().iloc[-1] + bands.bollinger_wband().iloc[-1] + 0.1 * rsi.iloc[-2]
    return loss, 20.0 + np.cumsum(_normal.ravel()[60:75])


@case("ta", "AverageTrueRange, KAMAIndicator, ChaikinMoneyFlow, TSI in prices", "iterative")
def ta_volatility():
    import pandas as pd
    from ta.momentum import KAMAIndicator, TSIIndicator
    from ta.volatility import AverageTrueRange
    from ta.volume import ChaikinMoneyFlowIndicator
    wide = pd.Series(np.abs(_normal.ravel()[90:105]) + 0.4)
    volume = pd.Series(np.abs(_normal.ravel()[105:120]) + 1.0)

    def loss(x):
        close = pd.Series(x)
        atr = AverageTrueRange(close + wide, close - 0.7 * wide, close, window=4).average_true_range()
        flow = ChaikinMoneyFlowIndicator(close + wide, close - wide, close ** 1.01, volume, window=4)
        return atr.iloc[-1] + KAMAIndicator(close, 4, 2, 9).kama().iloc[-1] + flow.chaikin_money_flow().iloc[
            -1] + TSIIndicator(close, 6, 3).tsi().iloc[-1] * 0.01
    return loss, 20.0 + np.cumsum(_normal.ravel()[60:75])


@case("blackscholes", "BlackScholesCall and Put: price and all greeks", "objects")
def blackscholes_greeks():
    from blackscholes import BlackScholesCall, BlackScholesPut

    def loss(x):
        call, put = BlackScholesCall(*x), BlackScholesPut(S=x[0], K=x[1], T=x[2], r=x[3], sigma=x[4], q=x[5])
        greeks = call.get_all_greeks()
        return call.price() * 0.1 + put.price() * put.delta() + greeks["vega"] * 0.01 + greeks["gamma"] + call.charm()
    return loss, np.array([55.0, 50.0, 1.2, 0.025, 0.17, 0.01])


@case("pyliferisk", "MortalityTable and Actuarial: annuities and insurances in death rates and interest", "containers")
def pyliferisk_annuity():
    import pyliferisk as pl

    def loss(x):
        table = pl.Actuarial(nt=[40, *x[1:], 1000.0], i=x[0])
        return pl.aax(table, 41) + 5.0 * pl.Axn(table, 41, 3) + pl.nEx(table, 42, 2) + pl.tpx(table, 41, 2)
    return loss, np.array([0.04, 15.0, 22.0, 31.0, 47.0, 80.0])


@case("pyesg", "SvenssonInterpolator and processes' drift, diffusion and step", "objects")
def pyesg_processes():
    from pyesg import BlackKarasinskiProcess, CoxIngersollRossProcess, SvenssonInterpolator

    def loss(x):
        rates = SvenssonInterpolator(tau0=x[4], tau1=x[5])
        rates.beta0, rates.beta1, rates.beta2, rates.beta3 = x[:4]
        cir = CoxIngersollRossProcess(mu=x[6], sigma=x[7], theta=0.9)
        step = cir.expectation(np.array([x[8]]), 0.25) + cir.standard_deviation(np.array([x[8]]), 0.25)
        bk = BlackKarasinskiProcess(mu=x[6], sigma=x[7], theta=0.4)
        return rates.predict(np.array([0.5, 2.0, 7.0])).sum() * 10.0 + step.sum() + bk.expectation(
            np.array([x[8]]), 0.5).sum()
    return loss, np.array([0.03, -0.01, 0.02, 0.015, 1.3, 4.1, 0.05, 0.2, 0.045])


@case("gemact", "Severity discretised and LossModel of an aggregate by FFT: mean and distribution", "objects")
def gemact_severity():
    from gemact import distributions as d

    def loss(x):
        one = d.Lognormal(shape=x[0], scale=x[1])
        two = d.GenPareto(c=x[2], scale=x[3], loc=0.0)
        return (one.cdf(1.4) + one.lev(2.0) + two.censored_moment(1, 0.3, 1.2) + two.lev(1.5)
                + d.Gamma(a=x[0], scale=x[1]).lev(1.1)).sum()
    return loss, np.array([0.8, 1.3, 0.2, 1.1])


# --- kernels, information, Bayes -------------------------------------------------------------------------------

@case("KDEpy", "NaiveKDE and TreeKDE densities in the data, weights and bandwidth", "library")
def kdepy_naive():
    from KDEpy import NaiveKDE, TreeKDE
    at = np.array([-0.5, 0.1, 0.9])

    def loss(x):
        one = NaiveKDE(kernel="gaussian", bw=x[0]).fit(x[1:6], weights=x[6:]).evaluate(at)
        two = TreeKDE(kernel="gaussian", bw=0.7).fit(x[1:6]).evaluate(at)
        return (one * one).sum() + two[1] * one[2]
    return loss, np.array([0.6, 0.2, -0.7, 1.1, 0.5, -0.1, 0.3, 0.1, 0.2, 0.25, 0.15])


@case("tsmoothie", "ExponentialSmoother, ConvolutionSmoother, PolynomialSmoother of a series", "objects")
def tsmoothie_smoothers():
    from tsmoothie.smoother import ConvolutionSmoother, ExponentialSmoother, PolynomialSmoother

    def loss(x):
        made = (ExponentialSmoother(window_len=3, alpha=0.3), ConvolutionSmoother(window_len=3, window_type="hanning"),
                PolynomialSmoother(degree=2))
        return sum((made[i].smooth(x).smooth_data ** 2).sum() * (i + 1) for i in range(3))
    return loss, np.array([0.2, 0.5, 0.4, 0.8, 1.1, 0.7, 0.9, 1.5, 1.2])


@case("infomeasure", "entropy, mutual information, Jensen-Shannon by kernels in the data", "objects")
def infomeasure_kernel():
    import infomeasure as im
    other = _normal[:14, 1].copy()

    def loss(x):
        h = im.entropy(x, approach="metric", k=2, noise_level=0)
        mi = im.mutual_information(x, other, approach="kernel", bandwidth=0.8, kernel="gaussian")
        return h + mi + im.entropy(x, approach="kernel", bandwidth=0.7, kernel="gaussian")
    return loss, _normal[:14, 0] + 0.5 * _normal[:14, 1]


@case("krippendorff", "alpha of ordinal, interval and ratio values in the value domain and counts", "library")
def krippendorff_alpha():
    import krippendorff

    def loss(x):
        data = np.array([[1.0, 2.0, 3.0, 3.0], [1.0, 2.0, 3.0, 2.0], [np.nan, 3.0, 3.0, 2.0]])
        domain = [1.0, 2.0, 3.0]
        metric = lambda a, b, i1, i2, n_v, dtype: np.abs(a - b) ** x[0]
        counts = x[1:].reshape(3, 2)
        return krippendorff.alpha(data, level_of_measurement=metric, value_domain=domain) + krippendorff.alpha(
            value_counts=counts, value_domain=[0.0, 1.0], level_of_measurement="interval")
    return loss, np.array([1.4, 2.0, 1.2, 1.4, 2.3, 3.1, 0.5])


@case("bayespy", "VB: lower bound after updates of a Gaussian with unknown mean and precision", "objects")
def bayespy_bound():
    from bayespy.inference import VB
    from bayespy.nodes import Gamma, GaussianARD

    def loss(x):
        mu = GaussianARD(0, 1e-2)
        tau = Gamma(x[6], 1e-1)
        y = GaussianARD(mu, tau, plates=(6,))
        y.observe(x[:6])
        q = VB(mu, tau, y)
        q.update(repeat=4, verbose=False, tol=0)
        return q.compute_lowerbound()
    return loss, np.array([4.0, 5.2, 6.1, 5.0, 4.4, 5.7, 1.5])


@case("bayespy", "utils.linalg chol, chol_solve, logdet and utils.misc gaussian_logpdf, invpsi", "library")
def bayespy_linalg():
    from bayespy.utils import linalg, misc

    def loss(x):
        a = x[:9].reshape(3, 3)
        cov = a @ a.T + np.eye(3)
        u = linalg.chol(cov)
        z = linalg.chol_solve(u, x[9:12])
        return linalg.chol_logdet(u) + z @ x[:3] + misc.invpsi(x[12:13])[0] + misc.logsumexp(x[9:]) + linalg.inner(
            z, x[9:12])
    return loss, np.array([0.4, 0.9, -0.3, 1.1, 0.6, 0.7, -0.8, 0.2, 1.3, 0.5, -0.4, 0.9, 0.6])


@case("GPy", "kern.RBF + Matern52: GPRegression.log_likelihood and prediction in the targets", "objects")
def gpy_regression():
    import GPy
    inputs = np.linspace(0.0, 2.0, 6)[:, None]

    def loss(x):
        kernel = GPy.kern.RBF(1, variance=1.2, lengthscale=0.7) + GPy.kern.Matern52(1, lengthscale=1.9)
        model = GPy.models.GPRegression(inputs, x[:, None], kernel, noise_var=0.1)
        mean, _ = model.predict(np.array([[0.7], [2.3]]))
        return float(model.log_likelihood()) + mean[0, 0] * mean[1, 0]
    return loss, np.array([0.3, 0.8, 1.1, 0.2, -0.5, -0.9])


@case("GPy", "kern.RBF, Periodic and MLP covariances in the inputs", "objects")
def gpy_kernels():
    import GPy
    rbf, mlp, periodic = GPy.kern.RBF(2, ARD=True), GPy.kern.MLP(2), GPy.kern.StdPeriodic(2)

    def loss(x):
        a, b = x[:6].reshape(3, 2), x[6:].reshape(2, 2)
        return rbf.K(a, b).sum() + (mlp.K(a) ** 2).sum() + periodic.K(a, b)[0, 1] + (rbf * mlp).K(a, b)[2, 0]
    return loss, np.array([0.3, 0.8, 1.1, 0.2, -0.5, -0.9, 0.4, 0.1, 1.3, 0.7])


@case("mici", "EuclideanMetricSystem, LeapfrogIntegrator: a trajectory in the state's position and momentum", "objects")
def mici_leapfrog():
    from mici.integrators import LeapfrogIntegrator
    from mici.states import ChainState
    from mici.systems import EuclideanMetricSystem
    system = EuclideanMetricSystem(
        neg_log_dens=lambda q: (q[0] ** 2 / 2 + (q[1] - q[0] ** 2) ** 2),
        metric=np.diag([1.5, 0.8]),
        grad_neg_log_dens=lambda q: np.array([q[0] - 4 * q[0] * (q[1] - q[0] ** 2), 2 * (q[1] - q[0] ** 2)]))
    integrator = LeapfrogIntegrator(system, step_size=0.1)

    def loss(x):
        state = ChainState(pos=x[:2], mom=x[2:], dir=1)
        for _ in range(4):
            state = integrator.step(state)
        return system.h(state) + state.pos[0] * state.mom[1]
    return loss, np.array([0.7, 1.1, 0.4, -0.8])


@case("sampyl-mcmc", "distributions: log densities and their bounds (autograd.numpy)", "plain")
def sampyl_distributions():
    import sampyl as smp

    def loss(x):
        return (smp.normal(x[:3], mu=x[3], sig=x[4]) + smp.exponential(x[:3], rate=x[6])
                + smp.student_t(x[:3], nu=x[5]) + smp.beta(x[7], alpha=x[5], beta=x[6]) + smp.weibull(
                    x[:3], l=x[4], k=x[5]) + smp.half_cauchy(x[7], beta=x[4]))
    return loss, np.array([0.7, 1.2, 0.4, 0.5, 0.9, 1.8, 2.3, 0.35])


# --- optimisation, splines, tensors, economics -----------------------------------------------------------------

@case("pyunlocbox", "solvers.solve with forward_backward: a proximal solution in the data", "iterative")
def pyunlocbox_solve():
    from pyunlocbox import functions, solvers

    def loss(x):
        f = functions.norm_l2(y=x[:4], lambda_=x[4])
        g = functions.norm_l1(lambda_=x[5])
        found = solvers.solve([f, g], x0=np.zeros(4), solver=solvers.forward_backward(step=0.2), rtol=1e-12,
                              maxit=200, verbosity="NONE")
        return (found["sol"] ** 2).sum() + found["objective"][-1][0]
    return loss, np.array([1.2, -2.3, 0.9, 3.1, 1.4, 0.6]), steps(1e-3)(loss)


@case("pyunlocbox", "norm_nuclear.prox, norm_tv.eval, proj_b2.prox, norm_l2 prox in the point", "objects")
def pyunlocbox_prox():
    from pyunlocbox import functions

    def loss(x):
        low = functions.norm_nuclear(lambda_=0.4).prox(x.reshape(3, 3), 0.9)
        ball = functions.proj_b2(y=np.ones(9), epsilon=0.8, verbosity="NONE").prox(x, 0)
        near = functions.norm_l2(y=np.ones(9), lambda_=0.7).prox(x, 1.3)
        total = functions.norm_tv(verbosity="NONE").eval(x.reshape(3, 3))
        return (low ** 2).sum() + (ball ** 3).sum() + near[2] + total
    return loss, np.array([1.4, 0.3, -0.8, 0.9, 2.1, 0.5, -0.4, 1.2, 1.7])


@case("splines", "CatmullRom, KochanekBartels, Natural splines evaluated in the vertices", "objects")
def splines_euclidean():
    import splines

    def loss(x):
        v = x[:8].reshape(4, 2)
        one = splines.CatmullRom(v, alpha=0.5).evaluate(0.9)
        two = splines.KochanekBartels(v, tcb=(x[8], x[9], 0.1)).evaluate([0.4, 1.3], 1)
        three = splines.Natural(v, grid=[0.0, 0.8, 2.0, 3.0]).evaluate(1.1)
        return one @ three + (two ** 2).sum()
    return loss, np.array([0.2, 0.1, 1.3, 0.8, 2.2, -0.3, 3.4, 0.9, 0.2, -0.3])


@case("splines", "quaternion.UnitQuaternion: slerp, CatmullRom rotations, log and exp maps", "objects")
def splines_quaternion():
    from splines.quaternion import CatmullRom, UnitQuaternion, slerp

    def loss(x):
        q = [UnitQuaternion.from_axis_angle((x[i], 0.4, x[i + 1]), x[i + 2]) for i in range(4)]
        p = slerp(q[0], q[1], 0.3) * q[2].inverse()
        r = CatmullRom(q).evaluate(1.4)
        return p.rotate_vector((1.0, 0.5, 0.2))[0] + r.scalar * r.vector[1] + q[3].log_map()[2] + p.angle
    return loss, np.array([0.2, 0.9, 1.3, 0.8, 0.6, 0.3])


@case("teneva", "tensor train: svd of a full array, addition, orthogonalisation, mean and values", "library")
def teneva_train():
    import teneva

    def loss(x):
        y = teneva.svd(x.reshape(2, 3, 2), e=1e-12)
        z = teneva.orthogonalize(teneva.add(y, teneva.mul(y, y)), 1)
        return teneva.get(z, [1, 2, 0]) + teneva.mean(z) + teneva.norm(z) + teneva.mul_scalar(y, z) * 0.1
    return loss, np.array([0.3, 0.8, 1.1, 0.2, -0.5, -0.9, 0.4, 0.1, 1.3, 0.7, -0.2, 0.6])


@case("extensisq", "Pr7 and SSV2stab steps of solve_ivp: solution of an ODE in its parameters", "iterative")
def extensisq_solve():
    from extensisq import BS5, TRBDF2
    from scipy.integrate import solve_ivp

    def loss(x):
        rhs = lambda t, y: np.array([y[1], -x[0] * y[0] - x[1] * y[1] * (y[0] ** 2 - 1.0)])
        one = solve_ivp(rhs, (0.0, 1.0), x[2:], method=BS5, rtol=1e-10, atol=1e-12)
        two = solve_ivp(rhs, (0.0, 0.1), x[2:], method=TRBDF2, rtol=1e-4, atol=1e-6)
        return one.y[0, -1] + one.y[1, -1] ** 2 + 0.0 * two.y[1, -1]
    return loss, np.array([1.3, 0.6, 0.8, -0.2]), steps(1e-2)(loss)


@case("econ-ark", "HARK.interpolation CubicInterp, BilinearInterp, LinearInterp in nodes and points", "objects")
def econ_ark_interpolation():
    from HARK.interpolation import BilinearInterp, CubicInterp, LinearInterp
    grid = np.array([0.0, 1.0, 2.5, 4.0])

    def loss(x):
        f = CubicInterp(grid, x[:4], x[4:8], intercept_limit=0.1, slope_limit=0.9)
        g = LinearInterp(grid, x[:4], lower_extrap=True)
        h = BilinearInterp(x[:8].reshape(2, 4) * 0.5, np.array([0.0, 3.0]), grid)
        at = np.array([0.4, 1.7, 3.1])
        return (f(at) * g(at)).sum() + f.derivative(at).sum() + h(np.array([x[8]]), np.array([x[9]]))[0]
    return loss, np.array([0.1, 0.8, 1.9, 3.1, 1.0, 0.7, 0.8, 0.9, 1.1, 2.8])


@case("econ-ark", "HARK.rewards UtilityFuncCRRA: utility, derivatives, inverses; CDutility", "objects")
def econ_ark_utility():
    from HARK.rewards import CARAutility, CDutility, UtilityFuncCRRA

    def loss(x):
        u = UtilityFuncCRRA(x[0])
        return (u(x[1:4]).sum() + u.derivative(x[1:4], order=1).sum() + u.inverse(-x[1]) + u.der(x[2]) * 0.5
                + CARAutility(x[1], x[0]) + CDutility(x[1], x[2], 0.4, 2.0))
    return loss, np.array([2.2, 0.8, 1.4, 0.6])


# --- text ------------------------------------------------------------------------------------------------------

@case("sumy", "LexRank power method: centrality from a similarity matrix", "iterative")
def sumy_lexrank():
    from sumy.summarizers.lex_rank import LexRankSummarizer

    def loss(x):
        matrix = x.reshape(3, 3)
        matrix = matrix / matrix.sum(axis=1)[:, None]
        rank = LexRankSummarizer.power_method(matrix, 1e-12)
        tf = [{"a": x[0], "b": x[1]}, {"b": x[2], "c": x[3]}]
        return rank[0] + 2.0 * rank[1] ** 2 + LexRankSummarizer.cosine_similarity(
            ["a", "b"], ["b", "c"], tf[0], tf[1], {"a": x[4], "b": x[5], "c": 0.7})
    return loss, np.array([1.0, 0.4, 0.2, 0.4, 1.0, 0.6, 0.2, 0.6, 1.0])
