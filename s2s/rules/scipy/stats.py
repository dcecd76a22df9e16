"""Rules of ``scipy.stats``: which model stands for which method of the distributions."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from scipy import stats
from scipy.stats import _morestats, _multivariate, multivariate_normal, rv_continuous, rv_discrete
from scipy.stats._distn_infrastructure import rv_generic

from s2s import runtime as rt
from s2s.models import statistics
from s2s.models import stats as models
from s2s.rules.samples import args, arr
from s2s.rules.table import has_rule, jvp, model, refuse, vjp, zero

for _name in ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf"):
    model(getattr(rv_continuous, _name))(getattr(models, _name))
model(rv_continuous._logcdf)(models.log_of_cdf)
model(rv_continuous._logsf)(models.log_of_sf)
for _name in ("pmf", "logpmf"):
    model(getattr(rv_discrete, _name))(getattr(models, _name))
for _name in ("cdf", "logcdf", "sf", "logsf"):
    model(getattr(rv_discrete, _name))(getattr(models, f"discrete_{_name}"))
for _name in ("mean", "var", "std", "median", "entropy"):
    model(getattr(rv_generic, _name))(getattr(models, _name))
model(type(multivariate_normal).logpdf)(models.normal_logpdf)
model(type(multivariate_normal).pdf)(models.normal_pdf)
model(type(multivariate_normal).__call__)(models.freeze_normal)
model(rv_generic.freeze)(models.freeze)
model(type(stats.ncx2)._logpdf)(models.ncx2_logpdf)
zero(models.inner_point, models.is_regular)
model(_multivariate._PSD)(models.positive)


# --- what SciPy integrates or searches for numerically: by the place, through the density -----------------------------


def shapes_bar(args: Any) -> Any:
    return rt.no_derivative(
        "the distribution function by its shapes", "SciPy finds it by numerical integration; keep the shapes constant"
    )


vjp(
    rv_continuous._cdf, params="self, x, *args", x=lambda y_bar, self, x, args: y_bar * self._pdf(x, *args),
    args=shapes_bar,
)
vjp(
    rv_continuous._ppf, params="self, q, *args", q=lambda y_bar, y, self, args: y_bar / self._pdf(y, *args),
    args=shapes_bar,
)
jvp(rv_continuous._cdf, x=lambda x_dot, self, x, args: x_dot * self._pdf(x, *args), args=shapes_bar)
jvp(rv_continuous._ppf, q=lambda q_dot, y, self, args: q_dot / self._pdf(y, *args), args=shapes_bar)

# --- functions of values ----------------------------------------------------------------------------------------------

zero(statistics.kept, statistics.defined, statistics.varied, statistics.unlike, statistics.sloped)
zero(statistics.largest, statistics.sums_agree)
VALUES, ABOVE = arr(3, 4), arr(3, 4, low=0.5)
SAMPLES = [args(VALUES), args(VALUES, 1), args(arr(5)), args(VALUES, axis=None, keepdims=True)]
WEIGHTS = np.array([1.0, 2.0, 0.5, 1.0])
MEANS = [args(ABOVE), args(ABOVE, axis=1, weights=WEIGHTS), args(ABOVE, axis=None, keepdims=True)]
model(stats.gmean, samples=MEANS)(statistics.gmean)
model(stats.hmean, samples=MEANS)(statistics.hmean)
model(stats.pmean, samples=[args(ABOVE, 2.5), args(ABOVE, -1, axis=1), args(ABOVE, 0)])(statistics.pmean)
model(stats.moment, samples=[args(VALUES, 3), args(VALUES, 2, 1, center=0.3)])(statistics.moment)
model(stats.skew, samples=[*SAMPLES, args(VALUES, 1, False)])(statistics.skew)
model(stats.kurtosis, samples=[*SAMPLES, args(VALUES, 1, False, False)])(statistics.kurtosis)
model(stats.sem, samples=[*SAMPLES, args(VALUES, ddof=0)])(statistics.sem)
RELATIVE = [args(ABOVE), args(ABOVE, 1, ddof=1), args(ABOVE, axis=None, keepdims=True)]
model(stats.variation, samples=RELATIVE)(statistics.variation)
model(stats.zscore, samples=[args(VALUES), args(VALUES, 1, 1), args(VALUES, None)])(statistics.zscore)
model(stats.zmap, samples=[args(VALUES, arr(5, 4)), args(arr(5), arr(6), ddof=1)])(statistics.zmap)
model(stats.entropy, samples=[args(ABOVE), args(ABOVE, ABOVE, 2.0, 1), args(ABOVE, axis=None)])(statistics.entropy)
model(stats.pearsonr, samples=[args(arr(6), arr(6))])(statistics.pearsonr)
model(stats.gaussian_kde.evaluate)(statistics.kernels)
model(stats.gaussian_kde.logpdf)(statistics.log_of_kernels)
for _name in ("ttest_1samp", "ttest_rel", "ttest_ind", "linregress", "tvar", "tstd", "tsem", "iqr", "gstd", "chisquare",
              "power_divergence", "pointbiserialr"):
    model(getattr(stats, _name))(getattr(statistics, _name))
zero(statistics.between)

# --- functions of values that are differentiated as SciPy has them ----------------------------------------------------

RANKS = "it goes by ranks, and is piecewise constant"
SEARCHED = "it searches, or draws at random; differentiate the condition that its result fulfils"
COMPILED = "SciPy has it in compiled code only"
for _reason, _names in (
    (RANKS, """ansari brunnermunzel chatterjeexi cramervonmises_2samp ecdf false_discovery_control fligner
        friedmanchisquare kendalltau kruskal ks_2samp mannwhitneyu median_test mode mood page_trend_test
        percentileofscore quantile_test rankdata ranksums somersd spearmanr spearmanrho tiecorrect weightedtau
        wilcoxon cumfreq relfreq logrank"""),
    (SEARCHED, """anderson anderson_ksamp boxcox_normmax boxcox_normplot yeojohnson_normmax yeojohnson_normplot
        ppcc_max ppcc_plot probplot expectile fit goodness_of_fit bootstrap permutation_test monte_carlo_test power
        barnard_exact boschloo_exact fisher_exact bws_test dunnett epps_singleton_2samp multiscale_graphcorr
        poisson_means_test binomtest sobol_indices tukey_hsd wasserstein_distance_nd"""),
    (COMPILED, "shapiro siegelslopes theilslopes lmoment binned_statistic binned_statistic_2d binned_statistic_dd"),
):
    for _name in _names.split():
        if hasattr(stats, _name):
            refuse(getattr(stats, _name), _reason)


def _see_through(fn: Any) -> None:
    """Register a function that only treats NaN and the axis before it calls another one."""
    given = inspect.getclosurevars(fn).nonlocals
    inner, count = given.get("hypotest_fun_in"), given.get("n_samples", 0)
    if inspect.isfunction(inner) and (count is None or isinstance(count, int)) and not given.get("kwd_samples"):
        names = tuple(inspect.signature(inner).parameters)
        chosen = None if count is None else names[:count]
        settings = (inner, names, chosen, given.get("default_axis", 0) is None)
        model(fn, params="*args, **kwds", given=settings)(statistics.along_axis)


for _fn in {**vars(_morestats), **{n: getattr(stats, n) for n in stats.__all__}}.values():
    if inspect.isfunction(_fn) and hasattr(_fn, "__wrapped__") and not has_rule(_fn):
        _see_through(_fn)
OF_VECTORS = "SciPy integrates it numerically, or by chance"
refuse(type(multivariate_normal).cdf, OF_VECTORS)
refuse(type(multivariate_normal).logcdf, OF_VECTORS)
refuse(stats.bayes_mvs, "it makes distributions; write their formulas")
refuse(stats.mvsdist, "it makes distributions; write their formulas")
refuse(stats.chi2_contingency, "it has no rule; give chisquare what is expected")
refuse(stats.combine_pvalues, "it has no rule; write the formula of the method")
if hasattr(stats, "quantile"):
    refuse(stats.quantile, "it has no rule; np.quantile has one")
for _name in (
    "make_distribution", "Normal", "Uniform", "Logistic", "Binomial", "Mixture", "truncate", "order_statistic",
):
    if hasattr(stats, _name):
        refuse(getattr(stats, _name), "distributions as objects of this kind have no rules; use stats.norm and its kin")
