"""Statistics, learning, finance, networks, time series, language and audio, ratings."""

import numpy as np
from cases import case, steps

_rng = np.random.default_rng(20)
_normal = _rng.normal(size=(40, 4))
"""Numbers to make data of."""


# --- ratings and psychometrics ---------------------------------------------------------------------------------

@case("trueskill", "rate: ratings after a match of three players in their ratings", "objects")
def trueskill_rate():
    import trueskill
    env = trueskill.TrueSkill(draw_probability=0.1)

    def loss(x):
        a, b, c = env.rate([(env.create_rating(x[0], x[1]),), (env.create_rating(x[2], x[3]),),
                            (env.create_rating(x[4], x[5]),)], min_delta=1e-12)
        return a[0].mu - 0.7 * b[0].mu + 0.3 * c[0].mu + a[0].sigma * c[0].sigma
    return loss, np.array([25.0, 8.3, 28.0, 4.1, 22.0, 6.2])


@case("trueskill", "quality_1vs1 and quality of teams (its own matrices)", "objects")
def trueskill_quality():
    import trueskill
    env = trueskill.TrueSkill()

    def loss(x):
        one, two, three = (env.create_rating(x[2 * i], x[2 * i + 1]) for i in range(3))
        return env.quality([(one, two), (three,)]) + env.quality([(one,), (three,)])
    return loss, np.array([25.0, 8.3, 28.0, 4.1, 44.0, 6.2])


@case("glicko2", "Player.update_player: rating, deviation and volatility", "objects")
def glicko2_update():
    from glicko2 import Player

    def loss(x):
        player = Player(x[0], x[1], x[2] * 0.01)
        player.update_player([x[3], x[4], 1700.0], [30.0, 100.0, x[5]], [1, 0, 0])
        return player.rating * 0.01 + player.rd * 0.1 + player.vol * 30.0
    return loss, np.array([1500.0, 200.0, 6.0, 1400.0, 1550.0, 300.0])


@case("choix", "utils.log_likelihood_rankings / log_likelihood_pairwise in the strengths", "containers")
def choix_likelihood():
    import choix
    rankings = [(0, 2, 1), (1, 3), (2, 0, 3, 1), (3, 2)]
    pairs = [(0, 1), (1, 2), (3, 0), (2, 3)]

    def loss(x):
        return choix.log_likelihood_rankings(rankings, x) + 0.5 * choix.log_likelihood_pairwise(pairs, x)
    return loss, np.array([0.3, -0.4, 0.1, 0.6])


@case("choix", "lsr_pairwise_dense: Bradley-Terry strengths (stationary distribution) in the wins", "library")
def choix_lsr_dense():
    import choix

    def loss(x):
        strengths = choix.lsr_pairwise_dense(x.reshape(4, 4), alpha=0.1)
        return strengths[0] - 0.6 * strengths[2] + strengths[1] * strengths[3]
    return loss, np.array([0.0, 3, 2, 5, 1, 0, 4, 2, 3, 2, 0, 1, 4, 6, 2, 0]) + 0.3


@case("choix", "ep: moments of logit and probit factors in the cavity's mean and variance", "iterative")
def choix_ep():
    from choix.ep import _match_moments_logit, _match_moments_probit

    def loss(x):
        logpart, dlogpart, d2logpart = _match_moments_probit(x[0], x[1])
        other, slope, curvature = _match_moments_logit(x[2], x[3])
        return logpart + dlogpart * d2logpart + 2.0 * other + slope * curvature
    return loss, np.array([0.4, 1.3, -0.6, 0.8])


@case("girth", "ability_3pl_eap in the item parameters", "library")
def girth_ability():
    from girth import ability_3pl_eap
    answers = (_normal[:5, :4] > -0.2).astype(int)

    def loss(x):
        ability = ability_3pl_eap(answers, x[:5], x[5:10], x[10:])
        return (ability * np.array([1.0, -0.4, 0.7, 2.0])).sum()
    return loss, np.array([-1.0, 0.2, 0.5, 1.1, -0.3, 1.2, 0.8, 1.5, 1.0, 0.7, 0.1, 0.2, 0.15, 0.05, 0.2])


@case("girth", "cronbach_alpha and entropy of a score table", "library")
def girth_alpha():
    from girth.common import cronbach_alpha
    from girth.common.entropy import entropy

    def loss(x):
        table = x.reshape(4, 5)
        return cronbach_alpha(table) + entropy(table, axis=1).sum() * 0.1
    return loss, np.abs(_normal.ravel()[:20]) + 1.5


@case("psignifit", "sigmoids.Norm / Logistic / Weibull: psychometric function in threshold and width", "objects")
def psignifit_sigmoids():
    from psignifit.sigmoids import Gaussian, Gumbel, Logistic
    levels = np.linspace(0.5, 4.0, 7)

    def loss(x):
        total = 0.0
        for weight, sigmoid in ((1.0, Gaussian()), (0.5, Logistic()), (0.2, Gumbel(PC=0.6))):
            value = sigmoid(levels, x[0], x[1], x[2], x[3])
            total = total + weight * (value * value).sum() + sigmoid.slope(levels, x[0], x[1], x[2], x[3])[2]
        return total
    return loss, np.array([2.1, 1.7, 0.1, 0.04])


@case("psignifit", "_posterior.log_posterior on one point of the grid", "containers")
def psignifit_posterior():
    from psignifit._posterior import log_posterior
    from psignifit.sigmoids import Gaussian
    data = np.array([[1.0, 12, 25], [2.0, 15, 25], [3.0, 21, 25], [4.0, 24, 25]])
    names = ("threshold", "width", "lambda", "gamma", "eta")
    priors = dict.fromkeys(names, np.ones_like)

    def loss(x):
        grid = {name: x[i:i + 1] for i, name in enumerate(("threshold", "width", "lambda", "gamma"))}
        grid["eta"] = x[4:5]
        return log_posterior(data, Gaussian(), priors, grid).sum()
    return loss, np.array([2.1, 2.7, 0.02, 0.4, 0.2])


@case("pyddm", "Solution of an analytic drift diffusion model: likelihood in drift and bound", "objects")
def pyddm_analytic():
    from pyddm.analytic import analytic_ddm

    def loss(x):
        times = np.linspace(0.0, 2.0, 81)
        correct, error = analytic_ddm(x[0], x[1], x[2], times)
        return (correct * correct).sum() + 0.3 * error[20]
    return loss, np.array([0.8, 1.1, 1.3])


@case("semopy", "Model.obj_mlw: Wishart likelihood of a structural equation model", "objects")
def semopy_mlw():
    import pandas as pd
    import semopy
    data = pd.DataFrame(_normal @ np.array([[1, .5, .2, .1], [0, 1, .4, .3], [0, 0, 1, .6], [0, 0, 0, 1]]),
                        columns=["a", "b", "c", "d"])
    model = semopy.Model("f =~ a + b + c\nd ~ f")
    model.load(data)
    start = model.param_vals.copy()

    def loss(x):
        return model.obj_mlw(x)
    return loss, start + 0.03 * np.arange(len(start))


@case("semopy", "Model.obj_uls and obj_gls in the parameters", "objects")
def semopy_gls():
    import pandas as pd
    import semopy
    data = pd.DataFrame(_normal @ np.array([[1, .5, .2, .1], [0, 1, .4, .3], [0, 0, 1, .6], [0, 0, 0, 1]]),
                        columns=["a", "b", "c", "d"])
    model = semopy.Model("b ~ a\nd ~ b + c\na ~~ c")
    model.load(data)
    start = model.param_vals.copy()

    def loss(x):
        return model.obj_uls(x) + 0.3 * model.obj_gls(x)
    return loss, start + 0.05 * np.arange(len(start))


# --- language and audio ----------------------------------------------------------------------------------------

@case("rank-bm25", "BM25Okapi / BM25Plus scores in k1, b, epsilon", "containers")
def rank_bm25_scores():
    from rank_bm25 import BM25L, BM25Okapi, BM25Plus
    corpus = [text.split() for text in ("a cat sat on the mat", "the dog and the cat", "birds fly", "a dog sat there")]

    def loss(x):
        query = ["cat", "the", "sat"]
        one = BM25Okapi(corpus, k1=x[0], b=x[1], epsilon=x[2]).get_scores(query)
        two = BM25Plus(corpus, k1=x[0], b=x[1], delta=x[3]).get_scores(query)
        three = BM25L(corpus, k1=x[0], b=x[1], delta=x[3]).get_batch_scores(query, [0, 3])
        return one[0] + one[1] * two[3] + three[0] * three[1]
    return loss, np.array([1.5, 0.75, 0.25, 0.6])


@case("gensim", "matutils.kullback_leibler, jensen_shannon, hellinger, unitvec", "library")
def gensim_matutils():
    from gensim import matutils

    def loss(x):
        p, q = x[:4] / x[:4].sum(), x[4:] / x[4:].sum()
        return matutils.hellinger(p, q) + matutils.kullback_leibler(p, q) + matutils.unitvec(x)[2]
    return loss, np.array([0.2, 0.5, 0.9, 0.4, 0.7, 0.3, 0.1, 0.6])


@case("gensim", "LdaModel.inference: topics of documents in their word counts", "iterative")
def gensim_lda_inference():
    from gensim.models import LdaModel
    corpus = [[(0, 1), (1, 2), (3, 1)], [(1, 1), (2, 3)], [(0, 2), (2, 1), (3, 2)]]
    model = LdaModel(corpus, num_topics=2, id2word={i: str(i) for i in range(4)}, random_state=1, dtype=np.float64,
                     gamma_threshold=1e-12, iterations=400)
    state = model.random_state.get_state()

    def loss(x):
        model.random_state.set_state(state)
        gamma, _ = model.inference([[(0, x[0]), (2, x[1])], [(1, x[2]), (3, x[3])]])
        return gamma[0, 0] * gamma[1, 1] + gamma[0, 1]
    return loss, np.array([1.4, 2.2, 0.9, 1.7])


@case("python_speech_features", "mfcc / logfbank of a signal", "library")
def python_speech_features_mfcc():
    from python_speech_features import delta, logfbank, mfcc

    def loss(x):
        features = mfcc(x, 1000, winlen=0.06, winstep=0.03, numcep=6, nfilt=10, nfft=64)
        bank = logfbank(x, 1000, winlen=0.06, winstep=0.03, nfilt=8, nfft=64)
        return (features * features).sum() * 1e-2 + bank[1].sum() + delta(features, 2)[1, 3]
    return loss, np.sin(np.arange(120) * 0.7) + 0.3 * _rng.normal(size=120)


@case("mir_eval", "separation.bss_eval_sources: SDR, SIR, SAR in the estimated sources", "library")
def mir_eval_separation():
    from mir_eval.separation import bss_eval_sources
    truth = _rng.normal(size=(2, 1300))
    rest = truth + 0.3 * _rng.normal(size=(2, 1300))

    def loss(x):
        estimate = np.concatenate([x, rest[0, 6:]])
        sdr, sir, sar, _ = bss_eval_sources(truth, np.stack([estimate, rest[1]]), compute_permutation=False)
        return sdr[0] + 0.5 * sir[0] + 0.1 * sar[0]
    return loss, rest[0, :6].copy()


@case("pystoi", "stoi: intelligibility of a noisy signal", "iterative")
def pystoi_stoi():
    from pystoi import stoi
    time = np.arange(6000) / 10000
    clean = np.sin(2 * np.pi * 440 * time * (1 + time)) + 0.5 * _rng.normal(size=6000)
    noise = 0.6 * _rng.normal(size=6000)

    def loss(x):
        gain = np.interp(time, np.array([0.0, 0.2, 0.4, 0.6]), x)
        return stoi(clean, clean + gain * noise, 10000) * 10.0
    return loss, np.array([0.8, 1.1, 1.4, 0.7]), steps(1e-3)(loss)


# --- time series -----------------------------------------------------------------------------------------------

@case("tsfresh", "feature_calculators: cid_ce, c3, autocorrelation, energy ratios", "library")
def tsfresh_features():
    from tsfresh.feature_extraction import feature_calculators as features

    def loss(x):
        return (features.cid_ce(x, True) + features.c3(x, 2) + features.autocorrelation(x, 3)
                + features.time_reversal_asymmetry_statistic(x, 1) + features.abs_energy(x) * 0.1
                + features.variation_coefficient(x) * 0.01)
    return loss, _normal.ravel()[:24] + 0.4


@case("tsfresh", "agg_autocorrelation, linear_trend, fft_coefficient (lists of parameters)", "containers")
def tsfresh_parameters():
    from tsfresh.feature_extraction import feature_calculators as features

    def loss(x):
        trend = dict(features.linear_trend(x, [{"attr": "slope"}, {"attr": "intercept"}, {"attr": "stderr"}]))
        spectrum = dict(features.fft_coefficient(x, [{"coeff": 2, "attr": "abs"}, {"coeff": 1, "attr": "real"}]))
        moments = dict(features.fft_aggregated(x, [{"aggtype": "centroid"}, {"aggtype": "variance"}]))
        return sum(trend.values()) + sum(spectrum.values()) + sum(moments.values())
    return loss, _normal.ravel()[30:54] + 0.4


@case("ruptures", "costs: CostNormal, CostAR, CostLinear errors of a signal", "objects")
def ruptures_costs():
    import ruptures

    def loss(x):
        total = 0.0
        for name, weight in (("l2", 1.0), ("normal", 0.5), ("ar", 0.2)):
            cost = ruptures.costs.cost_factory(name).fit(x.reshape(-1, 1))
            total = total + weight * (cost.error(0, 14) + cost.error(14, 30))
        return total
    return loss, _normal.ravel()[:30] + np.repeat([0.0, 3.0], 15)


@case("ruptures", "CostRbf / CostCosine: kernel costs", "objects")
def ruptures_kernels():
    import ruptures

    def loss(x):
        one = ruptures.costs.CostRbf(gamma=0.3).fit(x.reshape(-1, 2))
        two = ruptures.costs.CostCosine().fit(x.reshape(-1, 2))
        return one.error(0, 6) + one.error(6, 12) + two.error(2, 9)
    return loss, _normal.ravel()[:24] + np.repeat([0.5, 2.0], 12)


@case("antropy", "spectral_entropy, svd_entropy, hjorth_params of a signal", "library")
def antropy_entropies():
    import antropy

    def loss(x):
        mobility, complexity = antropy.hjorth_params(x)
        return (antropy.spectral_entropy(x, sf=100, method="fft") + antropy.svd_entropy(x, order=3)
                + mobility * complexity)
    return loss, _normal.ravel()[:32] + 0.2


@case("antropy", "higuchi_fd, detrended_fluctuation (numba functions)", "iterative")
def antropy_fractal():
    import antropy

    def loss(x):
        return antropy.higuchi_fd(x, kmax=5) + 0.5 * antropy.detrended_fluctuation(x)
    return loss, np.abs(_normal.ravel()[:60]).cumsum() + 0.2 * np.arange(60)


@case("neurokit2", "complexity: complexity_hjorth, fractal_nld, fractal_sevcik", "library")
def neurokit2_complexity():
    import neurokit2 as nk

    def loss(x):
        value, _ = nk.complexity_hjorth(x)
        nld, _ = nk.fractal_nld(x)
        power, _ = nk.fractal_sevcik(x)
        return value + nld + power
    return loss, _normal.ravel()[:40] + 0.1 * np.arange(40)


@case("neurokit2", "signal_detrend (polynomial, smoothness priors), standardize", "library")
def neurokit2_signal():
    import neurokit2 as nk

    def loss(x):
        flat = nk.signal_detrend(x, method="polynomial", order=2)
        scaled = nk.standardize(x)
        smooth = nk.signal_detrend(x, method="tarvainen2002", regularization=50.0)
        return (flat * flat).sum() + scaled[3] * smooth[5] + (smooth * smooth).sum()
    return loss, _normal.ravel()[:30] + 0.1 * np.arange(30)


@case("tslearn", "metrics.soft_dtw and gak of two series", "iterative")
def tslearn_soft_dtw():
    from tslearn.metrics import gak, soft_dtw

    def loss(x):
        return soft_dtw(x[:7], x[7:], gamma=0.7) + 5.0 * gak(x[:7], x[7:], sigma=2.0)
    return loss, _normal.ravel()[:15].copy()


@case("dtaidistance", "dtw.distance (pure Python) of two series", "iterative")
def dtaidistance_dtw():
    from dtaidistance import dtw

    def loss(x):
        return dtw.distance(x[:8], x[8:], window=4, use_c=False)
    return loss, _normal.ravel()[60:77] + np.sin(np.arange(17) * 0.8)


@case("stumpy", "core.mass: distance profile of a query", "library")
def stumpy_mass():
    from stumpy import core

    def loss(x):
        profile = core.mass(x[:6], x[6:])
        return (profile * profile).sum() * 0.1 + profile[3]
    return loss, _normal.ravel()[:36] + np.sin(np.arange(36) * 0.5)


@case("simdkalman", "KalmanFilter.compute: smoothed states and log likelihood in the noises", "objects")
def simdkalman_compute():
    import simdkalman
    data = _normal[:3, :].repeat(4, axis=1) + np.linspace(0, 2, 16)

    def loss(x):
        kf = simdkalman.KalmanFilter(
            state_transition=np.array([[1, 1], [0, 1]]), process_noise=np.diag(x[:2]),
            observation_model=np.array([[1, 0]]), observation_noise=x[2])
        result = kf.compute(data, 2, smoothed=True, log_likelihood=True,
                            initial_value=np.array([0.0, 0.1]), initial_covariance=np.eye(2))
        return (result.smoothed.states.mean.sum() + result.log_likelihood.sum() * 0.1
                + result.predicted.states.mean[0, 1, 0])
    return loss, np.array([0.1, 0.03, 0.7])


@case("statsmodels", "tsa: hpfilter, acf, acovf of a series", "library")
def statsmodels_tsa():
    from statsmodels.tsa.filters.hp_filter import hpfilter
    from statsmodels.tsa.stattools import acf, acovf

    def loss(x):
        cycle, trend = hpfilter(x, lamb=20.0)
        return (cycle * cycle).sum() + trend[3] * acf(x, nlags=4, fft=False)[2] + acovf(x, fft=True)[1]
    return loss, _normal.ravel()[:25].cumsum()


@case("statsmodels", "tsa.vector_ar: ma_rep, forecast of coefficient matrices", "iterative")
def statsmodels_ma_rep():
    from statsmodels.tsa.vector_ar.var_model import forecast, ma_rep

    def loss(x):
        coefs = x.reshape(2, 2, 2)
        effects = ma_rep(coefs, 6)
        ahead = forecast(np.array([[0.3, -0.2], [0.1, 0.6]]), coefs, np.array([0.05, 0.1]), 4)
        return (effects * effects).sum() + ahead[3, 0] * ahead[2, 1]
    return loss, np.array([0.4, 0.1, -0.2, 0.3, 0.15, 0.05, 0.1, -0.1])


# --- statistics and econometrics -------------------------------------------------------------------------------

@case("statsmodels", "robust: norms, estimate_location (M-estimator), scale", "objects")
def statsmodels_robust():
    from statsmodels.robust import norms, scale
    from statsmodels.robust.norms import estimate_location

    def loss(x):
        where = estimate_location(x, 1.3, norm=norms.HuberT(t=1.2), maxiter=60, tol=1e-13)
        return where * 3.0 + norms.TukeyBiweight(c=4.0).rho(x).sum() + scale.iqr(x)
    return loss, _normal.ravel()[:15] * 1.5


@case("statsmodels", "stats: moment_helpers, weightstats.DescrStatsW, ttest_ind", "objects")
def statsmodels_weightstats():
    from statsmodels.stats.moment_helpers import cum2mc, mc2mnc
    from statsmodels.stats.weightstats import DescrStatsW, ttest_ind
    weights = np.arange(1.0, 9.0)

    def loss(x):
        described = DescrStatsW(x[:8], weights=weights)
        moments = mc2mnc(cum2mc([x[8], x[9], x[10], x[11]]))
        return described.std + described.ttest_mean(0.1)[0] * moments[3] + ttest_ind(x[:6], x[6:])[0]
    return loss, _normal.ravel()[100:112] * 0.7 + 0.5


@case("linearmodels", "IV2SLS estimates and standard errors in the dependent variable", "objects")
def linearmodels_iv():
    from linearmodels.iv import IV2SLS
    exog = np.column_stack([np.ones(30), _normal[:30, 0]])
    endog, instruments = _normal[:30, 1:2], _normal[:30, 2:4] + _normal[:30, 1:2]

    def loss(x):
        fitted = IV2SLS(x, exog, endog, instruments).fit(cov_type="unadjusted")
        return fitted.params.iloc[1] + fitted.std_errors.iloc[2] * fitted.rsquared
    return loss, _normal[:30] @ np.array([1.0, -0.5, 0.3, 0.2])


@case("linearmodels", "cov_kernel with Parzen and Bartlett weights", "library")
def linearmodels_kernel():
    from linearmodels.iv.covariance import kernel_weight_bartlett, kernel_weight_parzen
    from linearmodels.shared.covariance import cov_kernel

    def loss(x):
        cov = cov_kernel(x.reshape(12, 2), kernel_weight_parzen(4))
        other = cov_kernel(x.reshape(12, 2), kernel_weight_bartlett(3))
        return cov[0, 0] + 2.0 * cov[0, 1] * other[1, 1]
    return loss, _normal.ravel()[:24].copy()


@case("arviz", "stats: generalized Pareto fit, rhat and mcse of chains", "library")
def arviz_diagnostics():
    from arviz.stats.diagnostics import _mcse_mean, _rhat
    from arviz.stats.stats import _gpdfit

    def loss(x):
        shape, scale = _gpdfit(np.sort(x * x + 0.1))
        return _rhat(x.reshape(2, 12)) + shape * scale + _mcse_mean(x.reshape(2, 12))[0]
    return loss, _normal.ravel()[:24].copy()


@case("ngboost", "distns Normal / Gamma: scores in the parameters", "objects")
def ngboost_scores():
    from ngboost.distns import Gamma, Normal
    from ngboost.manifold import manifold
    from ngboost.scores import CRPScore, LogScore
    y = np.array([0.7, 1.9, 3.1])

    def score(distribution, rule, parameters):
        return manifold(rule, distribution)(parameters).score(y).sum()

    def loss(x):
        p = x.reshape(2, 3)
        return score(Normal, LogScore, p) + score(Normal, CRPScore, p) + score(Gamma, LogScore, p)
    return loss, np.array([0.3, 0.9, 1.2, 0.1, -0.2, 0.4])


@case("ngboost", "manifold: natural gradient of the Normal score", "objects")
def ngboost_natural():
    from ngboost.distns import Laplace, Normal
    from ngboost.manifold import manifold
    from ngboost.scores import LogScore
    y = np.array([0.7, 1.9, 3.1])

    def loss(x):
        total = 0.0
        for distribution in (Normal, Laplace):
            slope = manifold(LogScore, distribution)(x.reshape(2, 3)).grad(y, natural=True)
            total = total + (slope * slope).sum()
        return total
    return loss, np.array([0.3, 0.9, 1.2, 0.1, -0.2, 0.4])


@case("scikit-survival", "CoxPHOptimizer.nlog_likelihood (Efron ties) in the coefficients", "iterative")
def sksurv_cox():
    from sksurv.linear_model.coxph import CoxPHOptimizer
    event = np.arange(20) % 3 > 0
    time = np.round(np.abs(_normal[:20, 3]) * 4) + 1.0
    efron = CoxPHOptimizer(_normal[:20, :3], event, time, np.full(3, 0.1), "efron")
    breslow = CoxPHOptimizer(_normal[:20, :3], event, time, np.full(3, 0.1), "breslow")

    def loss(w):
        return efron.nlog_likelihood(w) + 0.5 * breslow.nlog_likelihood(w)
    return loss, np.array([0.4, -0.3, 0.2])


@case("scikit-survival", "metrics.brier_score in the predicted survival", "library")
def sksurv_brier():
    from sksurv.metrics import integrated_brier_score
    from sksurv.util import Surv
    time = np.abs(_normal[:12, 0]) * 5 + 1.0
    y = Surv.from_arrays(np.arange(12) % 3 > 0, time)
    times = np.quantile(time, [0.3, 0.5, 0.7])

    def loss(x):
        return integrated_brier_score(y, y, x.reshape(12, 3), times) * 10.0
    return loss, np.abs(_normal.ravel()[:36]) * 0.3 + 0.1


@case("dcor", "distance_correlation, energy_distance of samples", "library")
def dcor_distance():
    import dcor

    def loss(x):
        a, b = x[:20].reshape(10, 2), x[20:].reshape(10, 2)
        return dcor.distance_correlation(a, b) + dcor.energy_distance(a, b) + dcor.u_distance_covariance_sqr(a, b)
    return loss, _normal.ravel()[:40].copy()


@case("hyppo", "independence: Dcorr and RV statistics", "objects")
def hyppo_independence():
    from hyppo.independence import RV, Dcorr

    def loss(x):
        a, b = x[:20].reshape(10, 2), x[20:].reshape(10, 2)
        return Dcorr().statistic(a, b) + RV().statistic(a, b)
    return loss, _normal.ravel()[40:80].copy()


@case("dit", "shannon: entropy, mutual information in the probabilities", "objects")
def dit_entropy():
    import dit

    def loss(x):
        p, q = x[:4] / x[:4].sum(), x[4:] / x[4:].sum()
        one = dit.Distribution(["00", "01", "10", "11"], p)
        two = dit.Distribution(["a", "b", "c", "d"], q)
        return dit.shannon.mutual_information(one, [0], [1]) + dit.shannon.entropy(two)
    return loss, np.array([0.2, 0.5, 0.9, 0.4, 0.7, 0.3, 0.1, 0.6])


@case("dit", "other: renyi_entropy, tsallis_entropy, extropy, perplexity", "objects")
def dit_other():
    import dit

    def loss(x):
        d = dit.Distribution(["00", "01", "10", "11"], x / x.sum())
        return (dit.other.renyi_entropy(d, 2) + dit.other.tsallis_entropy(d, 3) + dit.other.extropy(d)
                + dit.other.perplexity(d))
    return loss, np.array([0.2, 0.5, 0.9, 0.4])


@case("uncertainties", "ufloat arithmetic: nominal value and standard deviation (correlated)", "subclass")
def uncertainties_ufloat():
    from uncertainties import ufloat
    from uncertainties.umath import exp, sin

    def loss(x):
        a, b = ufloat(x[0], x[1]), ufloat(x[2], x[3])
        c = a * b + sin(a) / exp(b)
        return c.nominal_value + 3.0 * c.std_dev
    return loss, np.array([1.3, 0.2, 0.7, 0.1])


@case("uncertainties", "correlated_values and covariance_matrix of results", "subclass")
def uncertainties_correlated():
    from uncertainties import correlated_values, covariance_matrix

    def loss(x):
        a, b = correlated_values([x[0], x[1]], [[x[2], x[3]], [x[3], x[4]]])
        cov = covariance_matrix([a * b, a / b])
        return cov[0][0] + 2.0 * cov[0][1] + cov[1][1]
    return loss, np.array([1.3, 0.8, 0.2, 0.05, 0.3])


@case("pandas", "Series.rolling / ewm statistics, pct_change", "subclass")
def pandas_rolling():
    import pandas as pd

    def loss(x):
        series = pd.Series(x)
        return (series.rolling(4).mean().sum() + (series.ewm(alpha=0.3).mean() ** 2).sum()
                + series.rolling(5).std().iloc[7] + series.pct_change().iloc[3])
    return loss, _normal.ravel()[:16] * 0.2 + 2.0


@case("pandas", "groupby aggregation, cumprod, corr of columns", "subclass")
def pandas_groupby():
    import pandas as pd
    key = np.array(["a", "b", "a", "c", "b", "c", "a", "b"])

    def loss(x):
        frame = pd.DataFrame({"u": x[:8], "v": x[8:], "k": key})
        means = frame.groupby("k")["u"].mean()
        return (means * np.array([1.0, 2.0, -0.5])).sum() + frame["u"].corr(frame["v"]) + frame["v"].cumprod().iloc[4]
    return loss, _normal.ravel()[:16] * 0.2 + 1.5


# --- learning --------------------------------------------------------------------------------------------------

@case("mord", "threshold_based.obj_margin: ordinal logistic objective", "plain")
def mord_margin():
    from mord.threshold_based import obj_margin
    y = np.arange(15) % 3
    ladder = np.tril(np.ones((2, 2)))

    def loss(x):
        return obj_margin(x, _normal[:15, :3], y, 0.5, 3, np.ones((3, 2)), ladder, np.linspace(0.5, 1.5, 15))
    return loss, np.array([0.3, -0.2, 0.5, -0.4, 0.9])


@case("pyglmnet", "_loss of a Poisson and a probit GLM with elastic net", "plain")
def pyglmnet_loss():
    from pyglmnet.pyglmnet import _L2loss, _logL, _mu, _z

    def loss(beta):
        one = _L2loss("softplus", 0.3, None, 0.1, _normal[:20, :3], np.arange(20) % 4, 2.0, None, beta)
        z = _z(beta[0], beta[1:], _normal[:20, :3], True)
        return one + _logL("probit", np.arange(20) % 2, _mu("probit", z, 2.0, True), z)
    return loss, np.array([0.2, 0.4, -0.3, 0.1])


@case("scikit-learn", "gaussian_process kernels: Matern + RationalQuadratic in points", "objects")
def sklearn_kernels():
    from sklearn.gaussian_process.kernels import ConstantKernel, ExpSineSquared, Matern, RationalQuadratic

    def loss(x):
        kernel = ConstantKernel(1.5) * Matern(length_scale=0.8, nu=2.5) + RationalQuadratic(1.1, 0.7)
        k = kernel(x.reshape(6, 2)) + ExpSineSquared(1.0, 2.0)(x.reshape(6, 2))
        return (k * k).sum() + k[0, 3]
    return loss, _normal.ravel()[:12].copy()


@case("scikit-learn", "Ridge fit and predict in the targets", "objects")
def sklearn_ridge():
    from sklearn.linear_model import Ridge

    def loss(y):
        model = Ridge(alpha=0.7).fit(_normal[:20, :3], y)
        return model.predict(_normal[20:25, :3]).sum() + model.intercept_ * model.coef_[1]
    return loss, _normal[:20] @ np.array([1.0, -0.5, 0.3, 0.2])


@case("scikit-learn", "MLPRegressor: prediction in the input", "objects")
def sklearn_mlp():
    from sklearn.neural_network import MLPRegressor
    model = MLPRegressor(hidden_layer_sizes=(6, 5), activation="tanh", max_iter=20, random_state=0)
    import warnings
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(_normal[:, :3], _normal[:, 3])

    def loss(x):
        return (model.predict(x.reshape(4, 3)) ** 2).sum()
    return loss, _normal.ravel()[:12].copy()


@case("scikit-learn", "StandardScaler and PolynomialFeatures in the data", "library")
def sklearn_preprocessing():
    from sklearn.preprocessing import PolynomialFeatures, StandardScaler

    def loss(x):
        scaled = StandardScaler().fit_transform(x.reshape(8, 2))
        wide = PolynomialFeatures(2).fit_transform(scaled)
        return (wide * wide).sum() + wide[2, 4] + scaled[1, 1] ** 3
    return loss, _normal.ravel()[:16].copy()


@case("mlxtend", "SoftmaxRegression / MultiLayerPerceptron: forward pass and cost in the weights", "objects")
def mlxtend_softmax():
    from mlxtend.classifier import MultiLayerPerceptron, SoftmaxRegression

    def loss(x):
        model = SoftmaxRegression(n_classes=3, l2=0.1)
        model.w_, model.b_ = x[:9].reshape(3, 3), x[9:12]
        target = np.eye(3)[np.arange(10) % 3]
        cost = model._cost(model._cross_entropy(model._forward(_normal[:10, :3]), target))
        network = MultiLayerPerceptron(hidden_layers=[3])
        network.w_ = {"1": x[:9].reshape(3, 3), "out": x[3:12].reshape(3, 3)}
        network.b_ = {"1": x[9:12], "out": x[:3]}
        out = network._feedforward(_normal[:10, :3])[-1]
        return cost + (out * out).sum()
    return loss, _normal.ravel()[:12].copy()


@case("umap-learn", "distances (numba): hellinger, correlation, haversine, symmetric_kl", "plain")
def umap_distances():
    from umap import distances

    def loss(x):
        a, b = x[:4], x[4:]
        return (distances.hellinger(a, b) + distances.correlation(a, b) + distances.bray_curtis(a, b)
                + distances.haversine(a[:2], b[:2]) + distances.symmetric_kl(a.copy(), b.copy()))
    return loss, np.array([0.2, 0.5, 0.9, 0.4, 0.7, 0.3, 0.1, 0.6])


@case("hdbscan", "validity.distances_between_points, all_points_core_distance", "library")
def hdbscan_validity():
    from hdbscan.validity import all_points_core_distance, distances_between_points
    labels = np.array([0, 0, 0, 1, 1, 1, 1])

    def loss(x):
        distances, core = distances_between_points(x.reshape(7, 2), labels, 1, metric="euclidean", d=2)
        return distances.sum() + (core * core).sum() + all_points_core_distance(distances + np.eye(4), 2.0)[1]
    return loss, _normal.ravel()[:14].copy()


@case("MiniSom", "update and quantization error of a self-organising map", "objects")
def minisom_update():
    from minisom import MiniSom

    def loss(x):
        som = MiniSom(3, 3, 2, sigma=0.8, learning_rate=0.4, random_seed=3)
        for t in range(4):
            sample = x[2 * t:2 * t + 2]
            som.update(sample, som.winner(sample), t, 4)
        weights = som.get_weights()
        return (weights * weights).sum() + som.quantization_error(x.reshape(4, 2))
    return loss, np.array([0.3, 0.8, -0.4, 0.5, 0.9, -0.2, -0.7, -0.6])


@case("scikit-optimize", "acquisition gaussian_ei / gaussian_lcb of a fitted process", "objects")
def skopt_acquisition():
    from skopt.acquisition import gaussian_ei, gaussian_lcb
    from skopt.learning import GaussianProcessRegressor
    from skopt.learning.gaussian_process.kernels import RBF
    model = GaussianProcessRegressor(kernel=RBF(0.9), alpha=1e-3, optimizer=None)
    model.fit(_normal[:8, :2], _normal[:8, 2])

    def loss(x):
        points = x.reshape(3, 2)
        return gaussian_ei(points, model, y_opt=-0.2).sum() + gaussian_lcb(points, model).sum()
    return loss, np.array([0.2, 0.4, -0.6, 0.9, 0.8, -0.3])


@case("bayesian-optimization", "acquisition functions in mean and deviation", "objects")
def bayes_opt_acquisition():
    from bayes_opt.acquisition import ExpectedImprovement, ProbabilityOfImprovement, UpperConfidenceBound

    def loss(x):
        improvement, chance = ExpectedImprovement(xi=0.01), ProbabilityOfImprovement(xi=0.02)
        improvement.y_max = chance.y_max = 0.3
        mean, std = x[:3], x[3:]
        return (improvement.base_acq(mean, std).sum() + 2.0 * chance.base_acq(mean, std).sum()
                + UpperConfidenceBound(kappa=1.7).base_acq(mean, std)[1])
    return loss, np.array([0.1, 0.5, -0.2, 0.4, 0.3, 0.8])


# --- optimisation ----------------------------------------------------------------------------------------------

@case("cma", "fitness functions ff.rosen, elli, diffpow, griewank, rastrigin, cigtab", "objects")
def cma_functions():
    import cma

    def loss(x):
        return (cma.ff.rosen(x) + cma.ff.elli(x, cond=1e2) + cma.ff.diffpow(x) + cma.ff.griewank(x)
                + cma.ff.rastrigin(x) + cma.ff.cigtab(x) * 1e-6)
    return loss, np.array([0.7, 1.3, -0.4, 0.9])


@case("cvxpy", "value of an expression (atoms) in the values of its variables", "objects")
def cvxpy_value():
    import cvxpy as cp

    def loss(x):
        v = cp.Variable(4)
        v.value = x
        expression = cp.sum_squares(v) + cp.log_sum_exp(v) + cp.norm(v, 3) + cp.sum(cp.logistic(v))
        return expression.value
    return loss, np.array([0.7, 1.3, -0.4, 0.9])


# --- networks --------------------------------------------------------------------------------------------------

@case("networkx", "pagerank and hits of a weighted graph in the weights", "containers")
def networkx_pagerank():
    import networkx as nx
    edges = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 1), (3, 0)]

    def loss(x):
        graph = nx.DiGraph()
        for (u, v), weight in zip(edges, x):
            graph.add_edge(u, v, weight=weight)
        rank = nx.pagerank(graph, tol=1e-12, max_iter=300)
        return 3.0 * rank[0] - rank[2] + rank[1] * rank[3]
    return loss, np.array([0.5, 1.2, 0.8, 0.4, 1.5, 0.9])


@case("networkx", "shortest path lengths, closeness centrality in the weights", "containers")
def networkx_closeness():
    import networkx as nx
    edges = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 1), (3, 4)]

    def loss(x):
        graph = nx.Graph()
        graph.add_weighted_edges_from([(u, v, w) for (u, v), w in zip(edges, x)])
        central = nx.closeness_centrality(graph, distance="weight")
        return central[0] + 2.0 * central[3] + nx.dijkstra_path_length(graph, 0, 4) * 0.1
    return loss, np.array([0.5, 1.2, 0.8, 0.4, 1.5, 0.9])


@case("networkx", "resistance_distance, laplacian_matrix, clustering of a weighted graph", "library")
def networkx_laplacian():
    import networkx as nx

    def loss(x):
        weights = x.reshape(4, 4)
        graph = nx.from_numpy_array((weights + weights.T) * 0.5)
        cluster = nx.clustering(graph, weight="weight")
        return nx.laplacian_matrix(graph).toarray()[0, 0] + cluster[1] + nx.resistance_distance(graph, 0, 2, "weight")
    return loss, np.abs(_normal.ravel()[:16]) + 0.5


@case("python-louvain", "community.modularity of a partition in the weights", "containers")
def louvain_modularity():
    import community
    import networkx as nx
    edges = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)]

    def loss(x):
        graph = nx.Graph()
        graph.add_nodes_from(range(6))
        for i, (u, v) in enumerate(edges):
            graph.add_edge(u, v, weight=x[i])
        return community.modularity({0: 0, 1: 0, 2: 0, 3: 1, 4: 1, 5: 1}, graph)
    return loss, np.array([0.5, 1.2, 0.8, 0.4, 1.5, 0.9, 1.1])


@case("scikit-network", "ranking PageRank: scores of a weighted graph (sparse matrices, solver)", "objects")
def sknetwork_pagerank():
    from scipy import sparse
    from sknetwork.ranking import PageRank

    def loss(x):
        scores = PageRank(solver="RH", n_iter=80, tol=1e-14).fit_predict(sparse.csr_matrix(x.reshape(4, 4)))
        return (scores * scores).sum() + scores[1]
    return loss, np.abs(_normal.ravel()[:16]) + 0.5


@case("EoN", "SIR_homogeneous_meanfield: epidemic on a network in its rates", "library")
def eon_sir():
    import EoN

    def loss(x):
        _, s, i, r = EoN.SIR_homogeneous_meanfield(0.97, 0.03, 0.0, 4.0, x[0], x[1], tmax=8, tcount=17)
        return i[6] + 2.0 * r[16] + (s * s).sum() * 0.1
    return loss, np.array([0.3, 0.5]), steps(2e-2)(loss)


# --- finance ---------------------------------------------------------------------------------------------------

@case("pyfeng", "Bsm price, delta, vega in volatility, rate, spot and time", "objects")
def pyfeng_bsm():
    import pyfeng

    def loss(x):
        model = pyfeng.Bsm(sigma=x[0], intr=x[1], divr=0.01)
        strikes = np.array([90.0, 100.0, 115.0])
        price = model.price(strikes, x[2], x[3])
        return price.sum() + model.delta(strikes, x[2], x[3])[1] + model.vega(100.0, x[2], x[3]) * 0.1
    return loss, np.array([0.2, 0.03, 102.0, 1.3])


@case("pyfeng", "SabrHagan2002 smile and price in the parameters", "objects")
def pyfeng_sabr():
    import pyfeng

    def loss(x):
        strikes = np.array([80.0, 95.0, 120.0])
        sabr = pyfeng.SabrHagan2002(sigma=x[0], vov=x[1], rho=x[2], beta=0.7)
        smile = sabr.vol_for_price(strikes, 100.0, 1.2)
        price = sabr.price(strikes, 100.0, 1.2)
        return (smile * smile).sum() * 10.0 + price[1]
    return loss, np.array([0.8, 0.6, -0.3])


@case("pyfeng", "HestonFft price (characteristic function and FFT)", "library")
def pyfeng_heston():
    import pyfeng

    def loss(x):
        model = pyfeng.HestonFft(sigma=x[0], vov=x[1], mr=x[2], rho=x[3])
        return model.price(np.array([90.0, 100.0, 110.0]), 100.0, 1.0).sum()
    return loss, np.array([0.04, 0.5, 1.5, -0.6])


@case("financepy", "black_scholes_analytic (numba vectorize): value, delta, vega; SABR", "plain")
def financepy_black_scholes():
    from financepy.models.black_scholes_analytic import bs_delta, bs_value, bs_vega
    from financepy.models.sabr import vol_function_sabr

    def loss(x):
        sabr = vol_function_sabr(x[5:], 100.0, 110.0, x[1])
        return (bs_value(x[0], x[1], 100.0, x[2], x[3], x[4], 1) + bs_delta(x[0], x[1], 100.0, x[2], x[3], x[4], 1)
                + 0.1 * bs_vega(x[0], x[1], 100.0, x[2], x[3], x[4], 1) + sabr * 10.0)
    return loss, np.array([102.0, 1.3, 0.03, 0.01, 0.25, 0.6, 0.5, -0.3, 0.4])


@case("financepy", "Bond.dirty_price_from_ytm, convexity in the yield", "objects")
def financepy_bond():
    from financepy.products.bonds.bond import Bond
    from financepy.utils.date import Date
    from financepy.utils.day_count import DayCountTypes
    from financepy.utils.frequency import FrequencyTypes
    bond = Bond(Date(15, 5, 2020), Date(15, 5, 2030), 0.03, FrequencyTypes.SEMI_ANNUAL, DayCountTypes.ACT_ACT_ICMA)
    settle = Date(21, 7, 2024)

    def loss(x):
        return (bond.dirty_price_from_ytm(settle, x[0]) + bond.modified_duration(settle, x[0])
                + bond.convexity_from_ytm(settle, x[0]))
    return loss, np.array([0.041]), steps(2e-2)(loss)


@case("skfolio", "measures: variance, semi deviation, CVaR, drawdowns of returns", "library")
def skfolio_measures():
    from skfolio import measures

    def loss(x):
        drawdowns = measures.get_drawdowns(x, compounded=True)
        return (measures.cvar(x, beta=0.8) + measures.semi_deviation(x) + measures.kurtosis(x) * 0.01
                + measures.ulcer_index(drawdowns) + measures.entropic_risk_measure(x, beta=0.9)
                + measures.gini_mean_difference(x))
    return loss, _normal.ravel()[:24] * 0.1 + 0.02


@case("quantstats", "stats: sharpe, sortino, omega, max_drawdown of a Series", "subclass")
def quantstats_ratios():
    import pandas as pd
    import quantstats
    index = pd.date_range("2024-01-01", periods=24)

    def loss(x):
        returns = pd.Series(x, index=index)
        return (quantstats.stats.sharpe(returns) + quantstats.stats.sortino(returns) + quantstats.stats.comp(returns)
                + quantstats.stats.max_drawdown(returns) + quantstats.stats.volatility(returns))
    return loss, _normal.ravel()[:24] * 0.03 + 0.002


@case("actuarialmath", "Makeham survival, whole life insurance and annuity in the parameters", "objects")
def actuarialmath_makeham():
    from actuarialmath import Makeham

    def loss(x):
        life = Makeham(A=x[0] * 1e-4, B=x[1] * 1e-5, c=x[2]).set_interest(i=x[3])
        return life.p_x(40, t=10) + life.whole_life_insurance(50, discrete=False) + life.temporary_annuity(45, t=5)
    return loss, np.array([2.2, 2.7, 1.124, 0.05]), steps(6e-3)(loss)


# --- other functions of SciPy and scikit-image -----------------------------------------------------------------

@case("scipy", "stats.gaussian_kde.logpdf, wasserstein_distance of samples", "objects")
def scipy_kde():
    from scipy import stats

    def loss(x):
        kde = stats.gaussian_kde(x[:12], bw_method=0.4)
        return kde.logpdf(np.array([0.1, 0.7])).sum() + stats.wasserstein_distance(x[:8], x[8:])
    return loss, _normal.ravel()[:16].copy()


@case("scipy", "stats.linregress, ttest_ind, f_oneway, kurtosis, trim_mean", "library")
def scipy_tests():
    from scipy import stats

    def loss(x):
        fit = stats.linregress(np.arange(8.0), x[:8])
        t = stats.ttest_ind(x[:6], x[6:], equal_var=False)
        return fit.slope + fit.stderr + t.statistic + stats.f_oneway(x[:5], x[5:9], x[9:]).statistic \
            + stats.kurtosis(x) + stats.trim_mean(x, 0.1)
    return loss, _normal.ravel()[20:35] + 0.1 * np.arange(15)


@case("scipy", "signal.savgol_filter, signal.hilbert, spatial.Rotation.apply", "library")
def scipy_rotation():
    from scipy.signal import hilbert, savgol_filter
    from scipy.spatial.transform import Rotation

    def loss(x):
        turned = Rotation.from_euler("zyx", x[:3]).apply(np.array([0.3, -0.8, 0.5]))
        smooth = savgol_filter(x, 7, 3)
        envelope = np.abs(hilbert(x))
        return turned[0] * turned[2] + (smooth * smooth).sum() + envelope[4]
    return loss, _normal.ravel()[:14].copy()


@case("scikit-image", "transform.resize, filters.unsharp_mask of an image", "library")
def skimage_transform():
    from skimage.filters import unsharp_mask
    from skimage.transform import resize

    def loss(x):
        image = x.reshape(8, 8)
        small = resize(image, (5, 5), order=1, anti_aliasing=True)
        sharp = unsharp_mask(image, radius=1.0, amount=0.4)
        return (small * small).sum() + sharp[2, 3]
    return loss, np.abs(_normal.ravel()[:64]) * 0.2 + 0.2


@case("scikit-image", "feature.hessian_matrix, structure_tensor, measure.moments_hu", "library")
def skimage_moments():
    from skimage.feature import hessian_matrix, structure_tensor
    from skimage.measure import moments_central, moments_hu, moments_normalized

    def loss(x):
        image = x.reshape(7, 7)
        hu = moments_hu(moments_normalized(moments_central(image)))
        a, b, c = structure_tensor(image, sigma=0.8)
        rows = hessian_matrix(image, sigma=0.8, use_gaussian_derivatives=False)
        return hu[0] * 100.0 + (a * b).sum() + c[3, 3] + rows[0][2, 2]
    return loss, np.abs(_normal.ravel()[:49]) * 0.3 + 0.3
