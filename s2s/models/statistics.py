"""What functions of ``scipy.stats`` compute of values: means, moments, scores, entropies, the correlation."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, special

from s2s import runtime as rt

__all__ = ["Correlation", "entropy", "gmean", "kurtosis", "pearsonr", "skew", "zscore"]

MISSING = "where values are left out it has no rule; leave them out before, and give nan_policy='propagate'"


NEGATIVE = "of negative values it is NaN"


def kept(nan_policy: Any, *samples: Any) -> None:
    """Raise NoDerivativeError where NaN is left out, and ValueError where SciPy refuses it."""
    if nan_policy not in ("propagate", "raise", "omit"):
        raise ValueError("nan_policy must be one of {'propagate', 'raise', 'omit'}")
    if nan_policy != "propagate":
        for sample in samples:
            if sample is not None and np.any(np.isnan(sample)):
                if nan_policy == "raise":
                    raise ValueError("The input contains nan values")
                rt.no_derivative("a function of scipy.stats", MISSING)


def defined(name: str, holds: Any, why: str) -> None:
    """Raise NoDerivativeError where not all of what a function asks of its samples holds: SciPy gives NaN there."""
    if not np.all(holds):
        rt.no_derivative(f"scipy.stats.{name}", why)


def varied(name: str, variance: Any, mean: Any) -> None:
    """Raise NoDerivativeError where a sample is constant but for rounding."""
    rounding = np.finfo(np.asarray(variance).dtype).eps * np.abs(mean)
    defined(name, ~(np.abs(variance) <= rounding * rounding), "of a constant sample it is NaN")


def unlike(*samples: Any) -> None:
    """Raise ValueError where vectors that go together differ in length, or have one item."""
    if len({np.shape(sample) for sample in samples}) > 1 or np.size(samples[0]) < 2:
        raise ValueError("samples must have the same length, of two or more")


def sloped(x: Any) -> None:
    """Raise NoDerivativeError where the points of a line lie above each other: SciPy raises, or gives NaN."""
    defined("linregress", np.max(x) != np.min(x), "of places that are all the same it is NaN")


def largest(a: Any, axis: Any) -> Any:
    """The greatest magnitude of each sample, by which it is scaled; 1 of zeros."""
    found = np.max(np.abs(a), axis=axis, keepdims=True)
    return np.where(found > 0, found, 1.0)


def sums_agree(observed: Any, expected: Any, axis: Any) -> None:
    """Raise ValueError where frequencies that are expected do not add up to those that are observed."""
    rtol = np.finfo(np.result_type(np.float32, observed, expected)).eps ** 0.5
    observed, expected = np.broadcast_arrays(observed, expected)
    one, other = np.sum(observed, axis=axis, dtype=float), np.sum(expected, axis=axis, dtype=float)
    if np.any(np.abs(one - other) / np.minimum(one, other) > rtol):
        raise ValueError(f"the sums of observed and expected frequencies differ by more than a part of {rtol}")


def values_of(a: Any) -> Any:
    """A sample as an array: a number is a sample of one."""
    return np.reshape(a, (1,)) if np.ndim(a) == 0 else np.asarray(a)


def typed(a: Any, dtype: Any) -> Any:
    """A sample as an array of the dtype that a mean is asked to compute with."""
    if dtype is None:
        return values_of(a)
    if np.dtype(dtype).kind in "iu":
        return rt.no_derivative("a mean of scipy.stats", "with an integer dtype it has no rule; convert first")
    return values_of(np.asarray(a, dtype))


def average(x: Any, axis: Any, weights: Any, keepdims: Any) -> Any:
    """A mean whose weights are broadcast with the values; ``np.average`` takes a vector of them along the axis."""
    if weights is not None and np.shape(weights) != np.shape(x):
        x, weights = np.broadcast_arrays(x, weights)
    return np.average(x, axis=axis, weights=weights, keepdims=keepdims)


def gmean(
    a: Any, axis: Any = 0, dtype: Any = None, weights: Any = None, *, nan_policy: Any = "propagate",
    keepdims: Any = False,
) -> Any:
    kept(nan_policy, a, weights)
    return np.exp(average(np.log(typed(a, dtype)), axis, weights, keepdims))


def hmean(
    a: Any, axis: Any = 0, dtype: Any = None, *, weights: Any = None, nan_policy: Any = "propagate",
    keepdims: Any = False,
) -> Any:
    kept(nan_policy, a, weights)
    defined("hmean", ~(np.asarray(a) < 0), NEGATIVE)
    return 1.0 / average(1.0 / typed(a, dtype), axis, weights, keepdims)


def pmean(
    a: Any, p: Any, *, axis: Any = 0, dtype: Any = None, weights: Any = None, nan_policy: Any = "propagate",
    keepdims: Any = False,
) -> Any:
    kept(nan_policy, a, weights)
    if not np.isfinite(p):
        raise NotImplementedError("Power mean only implemented for finite `p`")
    defined("pmean", ~(np.asarray(a) < 0), NEGATIVE)
    if p == 0:
        return gmean(a, axis, dtype, weights, keepdims=keepdims)
    return average(typed(a, dtype) ** p, axis, weights, keepdims) ** (1.0 / p)


def count_along(a: Any, axis: Any) -> Any:
    """How many values are taken together along an axis, along several, or along all."""
    if axis is None:
        return np.size(a)
    if not isinstance(axis, tuple):
        return np.shape(a)[axis]
    count = 1
    for one in axis:
        count = count * np.shape(a)[one]
    return count


def central(a: Any, order: Any, axis: Any, keepdims: Any) -> Any:
    """The mean of a power of the distances from the mean."""
    return np.mean((a - np.mean(a, axis=axis, keepdims=True)) ** order, axis=axis, keepdims=keepdims)


def moment(
    a: Any, order: Any = 1, axis: Any = 0, nan_policy: Any = "propagate", *, center: Any = None, keepdims: Any = False
) -> Any:
    kept(nan_policy, a)
    if np.ndim(order) > 0:
        return rt.no_derivative("scipy.stats.moment", "of several orders at once it has no rule; ask for one at a time")
    if order != np.round(order):
        raise ValueError("All elements of `order` must be integral.")
    if order < 0:
        return rt.no_derivative("scipy.stats.moment", "of a negative order it has no rule")
    a = values_of(a)
    if center is None:
        return central(a, order, axis, keepdims)
    return np.mean((a - center) ** order, axis=axis, keepdims=keepdims)


def skew(
    a: Any, axis: Any = 0, bias: Any = True, nan_policy: Any = "propagate", *, keepdims: Any = False,
    _no_deco: Any = False,
) -> Any:
    kept(nan_policy, a)
    a = values_of(a)
    variance = central(a, 2, axis, keepdims)
    varied("skew", variance, np.mean(a, axis=axis, keepdims=keepdims))
    found = central(a, 3, axis, keepdims) / variance**1.5
    n = count_along(a, axis)
    return found if bias or n < 3 else found * np.sqrt(n * (n - 1.0)) / (n - 2.0)


def kurtosis(
    a: Any, axis: Any = 0, fisher: Any = True, bias: Any = True, nan_policy: Any = "propagate", *,
    keepdims: Any = False, _no_deco: Any = False,
) -> Any:
    kept(nan_policy, a)
    a = values_of(a)
    variance = central(a, 2, axis, keepdims)
    varied("kurtosis", variance, np.mean(a, axis=axis, keepdims=keepdims))
    found = central(a, 4, axis, keepdims) / variance**2
    n = count_along(a, axis)
    if not bias and n > 3:
        found = ((n * n - 1.0) * found - 3.0 * (n - 1.0) ** 2) / ((n - 2.0) * (n - 3.0)) + 3.0
    return found - 3.0 if fisher else found


def sem(a: Any, axis: Any = 0, ddof: Any = 1, nan_policy: Any = "propagate", *, keepdims: Any = False) -> Any:
    kept(nan_policy, a)
    a = values_of(a)
    n = count_along(a, axis)
    defined("sem", n > 1, "of one value it is NaN")
    return np.std(a, axis=axis, ddof=ddof, keepdims=keepdims) / np.sqrt(float(n))


def variation(a: Any, axis: Any = 0, nan_policy: Any = "propagate", ddof: Any = 0, *, keepdims: Any = False) -> Any:
    kept(nan_policy, a)
    a = values_of(a)
    return np.std(a, axis=axis, ddof=ddof, keepdims=keepdims) / np.mean(a, axis=axis, keepdims=keepdims)


def zmap(scores: Any, compare: Any, axis: Any = 0, ddof: Any = 0, nan_policy: Any = "propagate") -> Any:
    kept(nan_policy, compare)
    compare = values_of(compare)
    width = np.std(compare, axis=axis, ddof=ddof, keepdims=True)
    return (np.asarray(scores) - np.mean(compare, axis=axis, keepdims=True)) / width


def zscore(a: Any, axis: Any = 0, ddof: Any = 0, nan_policy: Any = "propagate") -> Any:
    kept(nan_policy, a)
    a = values_of(a)
    mean, variance = np.mean(a, axis=axis, keepdims=True), np.var(a, axis=axis, ddof=ddof, keepdims=True)
    varied("zscore", variance, mean)
    return (a - mean) / np.sqrt(variance)


def entropy(
    pk: Any, qk: Any = None, base: Any = None, axis: Any = 0, *, nan_policy: Any = "propagate", keepdims: Any = False
) -> Any:
    kept(nan_policy, pk, qk)
    if base is not None and base <= 0:
        raise ValueError("`base` must be a positive number or `None`.")
    p = values_of(pk)
    if qk is None:
        parts = special.entr(p / np.sum(p, axis=axis, keepdims=True))
    else:
        q = values_of(qk)
        if np.shape(p) != np.shape(q):
            p, q = np.broadcast_arrays(p, q)
        shares = p / np.sum(p, axis=axis, keepdims=True)
        parts = special.rel_entr(shares, q / np.sum(q, axis=axis, keepdims=True))
    total = np.sum(parts, axis=axis, keepdims=keepdims)
    return total if base is None else total / np.log(base)


class Correlation(NamedTuple):
    """The coefficient of a correlation, and the probability of one as large."""

    statistic: Any
    pvalue: Any


def pearsonr(
    x: Any, y: Any, *, alternative: Any = "two-sided", method: Any = None, axis: Any = 0
) -> Any:
    if alternative != "two-sided" or method is not None:
        return rt.no_derivative("scipy.stats.pearsonr", "it has a rule for two sides, without method=")
    x, y = np.asarray(x), np.asarray(y)
    if np.ndim(x) == 1 and np.ndim(y) == 1:
        unlike(x, y)
    a, b = x / largest(x, axis), y / largest(y, axis)  # the coefficient does not depend on how samples are scaled
    middle, height = np.mean(a, axis=axis, keepdims=True), np.mean(b, axis=axis, keepdims=True)
    a, b = a - middle, b - height
    varied("pearsonr", np.mean(a * a, axis=axis, keepdims=True), middle)
    varied("pearsonr", np.mean(b * b, axis=axis, keepdims=True), height)
    r = np.sum(a * b, axis=axis) / np.sqrt(np.sum(a * a, axis=axis) * np.sum(b * b, axis=axis))
    half = 0.5 * np.shape(x)[axis] - 1.0
    if np.shape(x)[axis] == 2:  # any two points are on a line
        return Correlation(r, np.ones_like(r))
    return Correlation(r, 2.0 * special.betainc(half, half, 0.5 * (1.0 - np.abs(r))))


# --- tests and fits ---------------------------------------------------------------------------------------------------


class Outcome:
    """The result of a test: a pair of the statistic and its probability, with what else it tells as attributes."""

    def __init__(self, items: Any, df: Any) -> None:
        self.items = items
        self.statistic = items[0]
        self.pvalue = items[1]
        self.df = df

    def __iter__(self) -> Any:
        return iter(self.items)

    def __len__(self) -> int:
        return 2

    def __getitem__(self, k: Any) -> Any:
        return self.items[k]


def of_t(t: Any, df: Any, alternative: Any) -> Any:
    """The outcome of a test by Student's distribution."""
    if alternative == "less":
        probability = special.stdtr(df, t)
    elif alternative == "greater":
        probability = special.stdtr(df, -t)
    else:
        probability = 2.0 * special.stdtr(df, -np.abs(t))
    return Outcome((t, probability), df + np.zeros(np.shape(t)))


def ttest_1samp(
    a: Any, popmean: Any, axis: Any = 0, nan_policy: Any = "propagate", alternative: Any = "two-sided", *,
    keepdims: Any = False,
) -> Any:
    kept(nan_policy, a, popmean)
    a = values_of(a)
    count = count_along(a, axis)
    away = np.mean(a, axis=axis, keepdims=keepdims) - popmean
    return of_t(away / np.sqrt(np.var(a, axis=axis, ddof=1, keepdims=keepdims) / count), count - 1.0, alternative)


def ttest_rel(
    a: Any, b: Any, axis: Any = 0, nan_policy: Any = "propagate", alternative: Any = "two-sided", *,
    keepdims: Any = False,
) -> Any:
    return ttest_1samp(np.asarray(a) - np.asarray(b), 0.0, axis, nan_policy, alternative, keepdims=keepdims)


def ttest_ind(
    a: Any, b: Any, *, axis: Any = 0, equal_var: Any = True, nan_policy: Any = "propagate",
    alternative: Any = "two-sided", trim: Any = 0, method: Any = None, keepdims: Any = False,
) -> Any:
    kept(nan_policy, a, b)
    if trim or method is not None:
        return rt.no_derivative("scipy.stats.ttest_ind", "it has a rule without trim= and method=")
    a, b = np.asarray(a), np.asarray(b)
    m, n = count_along(a, axis), count_along(b, axis)
    u, v = np.var(a, axis=axis, ddof=1, keepdims=keepdims) / m, np.var(b, axis=axis, ddof=1, keepdims=keepdims) / n
    away = np.mean(a, axis=axis, keepdims=keepdims) - np.mean(b, axis=axis, keepdims=keepdims)
    if equal_var:
        df = m + n - 2.0
        pooled = (u * m * (m - 1.0) + v * n * (n - 1.0)) / df
        return of_t(away / np.sqrt(pooled * (1.0 / m + 1.0 / n)), df, alternative)
    return of_t(away / np.sqrt(u + v), (u + v) ** 2 / (u * u / (m - 1.0) + v * v / (n - 1.0)), alternative)


class Line:
    """A straight line through points, with how sure it is: five items, and the error of the intercept."""

    def __init__(self, items: Any, intercept_stderr: Any) -> None:
        self.items = items
        self.slope = items[0]
        self.intercept = items[1]
        self.rvalue = items[2]
        self.pvalue = items[3]
        self.stderr = items[4]
        self.intercept_stderr = intercept_stderr

    def __iter__(self) -> Any:
        return iter(self.items)

    def __len__(self) -> int:
        return 5

    def __getitem__(self, k: Any) -> Any:
        return self.items[k]


def linregress(
    x: Any, y: Any, alternative: Any = "two-sided", *, axis: Any = 0, nan_policy: Any = "propagate",
    keepdims: Any = False,
) -> Any:
    kept(nan_policy, x, y)
    x, y = np.asarray(x), np.asarray(y)
    if np.ndim(x) != 1 or np.ndim(y) != 1 or keepdims:
        return rt.no_derivative("scipy.stats.linregress", "it has a rule for two vectors")
    unlike(x, y)
    sloped(x)
    df, middle = np.size(x) - 2.0, np.mean(x)
    a, b = x - middle, y - np.mean(y)
    xx, xy, yy = np.mean(a * a), np.mean(a * b), np.mean(b * b)
    slope, r = xy / xx, xy / np.sqrt(xx * yy)
    t = r * np.sqrt(df / ((1.0 - r + 1e-20) * (1.0 + r + 1e-20)))
    error = np.sqrt((1.0 - r * r) * yy / xx / df)
    items = (slope, np.mean(y) - slope * middle, r, of_t(t, df, alternative).pvalue, error)
    return Line(items, error * np.sqrt(xx + middle * middle))


def tvar(
    a: Any, limits: Any = None, inclusive: Any = (True, True), axis: Any = 0, ddof: Any = 1, *,
    nan_policy: Any = "propagate", keepdims: Any = False,
) -> Any:
    """The variance of what is between two limits."""
    kept(nan_policy, a)
    a = values_of(a)
    chosen = between(a, limits, inclusive)
    count = np.sum(chosen, axis=axis, keepdims=True)
    away = np.where(chosen, a - np.sum(np.where(chosen, a, 0.0), axis=axis, keepdims=True) / count, 0.0)
    squares = np.real(away * np.conj(away)) if np.iscomplexobj(away) else away * away
    number = np.sum(chosen, axis=axis, keepdims=keepdims)
    return np.sum(squares, axis=axis, keepdims=keepdims) / np.where(number == 0, np.nan, number - ddof)


def between(a: Any, limits: Any, inclusive: Any) -> Any:
    """Where the values are between two limits, of which None is no limit."""
    low, high = (None, None) if limits is None else limits
    found = np.ones(np.shape(a), bool)
    if low is not None:
        found &= a >= low if inclusive[0] else a > low
    if high is not None:
        found &= a <= high if inclusive[1] else a < high
    return found


def tstd(
    a: Any, limits: Any = None, inclusive: Any = (True, True), axis: Any = 0, ddof: Any = 1, *,
    nan_policy: Any = "propagate", keepdims: Any = False,
) -> Any:
    return np.sqrt(tvar(a, limits, inclusive, axis, ddof, nan_policy=nan_policy, keepdims=keepdims))


def tsem(
    a: Any, limits: Any = None, inclusive: Any = (True, True), axis: Any = 0, ddof: Any = 1, *,
    nan_policy: Any = "propagate", keepdims: Any = False,
) -> Any:
    count = np.sum(between(values_of(a), limits, inclusive), axis=axis, keepdims=keepdims)
    return tstd(a, limits, inclusive, axis, ddof, nan_policy=nan_policy, keepdims=keepdims) / np.sqrt(count)


def iqr(
    x: Any, axis: Any = None, rng: Any = (25, 75), scale: Any = 1.0, nan_policy: Any = "propagate",
    interpolation: Any = "linear", keepdims: Any = False,
) -> Any:
    kept(nan_policy, x)
    ends = np.percentile(values_of(x), sorted(rng), axis=axis, method=interpolation, keepdims=keepdims)
    return (ends[1] - ends[0]) / (2.0 * special.erfinv(0.5) * np.sqrt(2.0) if scale == "normal" else scale)


def gstd(
    a: Any, axis: Any = 0, ddof: Any = 1, *, keepdims: Any = False, nan_policy: Any = "propagate",
) -> Any:
    kept(nan_policy, a)
    return np.exp(np.std(np.log(values_of(a)), axis=axis, ddof=ddof, keepdims=keepdims))


def power_divergence(
    f_obs: Any, f_exp: Any = None, ddof: Any = 0, axis: Any = 0, lambda_: Any = None, *, nan_policy: Any = "propagate",
    keepdims: Any = False, sum_check: Any = True,
) -> Any:
    kept(nan_policy, f_obs, f_exp)
    found = values_of(f_obs)
    expected = np.mean(found, axis=axis, keepdims=True) if f_exp is None else np.asarray(f_exp)
    if f_exp is not None and sum_check:
        sums_agree(found, expected, axis)
    power = POWERS[lambda_] if isinstance(lambda_, str) else 1.0 if lambda_ is None else lambda_
    if power == 1.0:
        parts = (found - expected) ** 2 / expected
    elif power == 0.0:
        parts = 2.0 * special.xlogy(found, found / expected)
    elif power == -1.0:
        parts = 2.0 * special.xlogy(expected, expected / found)
    else:
        parts = 2.0 * found * ((found / expected) ** power - 1.0) / (power * (power + 1.0))
    total = np.sum(parts, axis=axis, keepdims=keepdims)
    df = (np.size(found) if axis is None else np.shape(found)[axis]) - 1.0 - ddof
    return Outcome((total, special.chdtrc(df, total)), df)


POWERS = {
    "pearson": 1.0, "log-likelihood": 0.0, "freeman-tukey": -0.5, "mod-log-likelihood": -1.0, "neyman": -2.0,
    "cressie-read": 2.0 / 3.0,
}


def chisquare(
    f_obs: Any, f_exp: Any = None, ddof: Any = 0, axis: Any = 0, *, sum_check: Any = True,
    nan_policy: Any = "propagate", keepdims: Any = False,
) -> Any:
    return power_divergence(
        f_obs, f_exp, ddof, axis, nan_policy=nan_policy, keepdims=keepdims, sum_check=sum_check)


def pointbiserialr(x: Any, y: Any, *, axis: Any = 0, nan_policy: Any = "propagate", keepdims: Any = False) -> Any:
    kept(nan_policy, x, y)
    if keepdims:
        return rt.no_derivative("scipy.stats.pointbiserialr", "it has a rule without keepdims=")
    return pearsonr(x, y, axis=axis)


def along_axis(inner: Any, names: Any, chosen: Any, is_whole: Any, /, *args: Any, **kwds: Any) -> Any:
    """What a function of ``scipy.stats`` does that treats NaN and the axis before it calls ``inner``, where nothing is
    left out. ``names`` are the parameters of ``inner``, ``chosen`` those of samples, or None where all that is given by
    position is a sample; the axis is all of them (``is_whole``) or the first one."""
    given = {**kwds} if chosen is None else {**dict(zip(names, args)), **kwds}
    keepdims, _ = given.pop("keepdims", False), given.pop("_no_deco", False)
    axis = given.pop("axis", None if is_whole else 0)
    known = args if chosen is None else [given.pop(name) for name in chosen]
    samples = [np.atleast_1d(np.asarray(sample)) for sample in known]
    kept(given.pop("nan_policy", "propagate"), *samples)
    wide = max([np.ndim(sample) for sample in samples])
    if keepdims or (wide > 1 and axis is not None and "axis" not in names):
        return rt.no_derivative("a function of scipy.stats", "with keepdims, or of matrices, it has no rule")
    if axis is None:
        return inner(*[np.ravel(sample) for sample in samples], **given)
    last = [np.moveaxis(sample, axis, -1) for sample in samples]
    return inner(*last, **given) if wide < 2 else inner(*last, axis=-1, **given)


# --- densities of kernels ---------------------------------------------------------------------------------------------


def log_kernels(self: Any, points: Any) -> Any:
    """The logarithms of the weighed densities of a ``gaussian_kde``: a row for each value, a column for each point."""
    points = np.atleast_2d(np.asarray(points))
    d, m = np.shape(points)
    if d != self.d:
        if d != 1 or m != self.d:
            raise ValueError(f"points have dimension {d}, dataset has dimension {self.d}")
        points = np.reshape(points, (self.d, 1))
    values = linalg.solve_triangular(self.cho_cov, self.dataset, lower=True)
    away = values[:, :, None] - linalg.solve_triangular(self.cho_cov, points, lower=True)[:, None, :]
    scale = np.sum(np.log(np.diagonal(self.cho_cov))) + 0.5 * self.d * np.log(2.0 * np.pi)
    return np.log(self.weights)[:, None] - 0.5 * np.sum(away * away, axis=0) - scale


def kernels(self: Any, points: Any) -> Any:
    return np.sum(np.exp(log_kernels(self, points)), axis=0)


def log_of_kernels(self: Any, x: Any) -> Any:
    return special.logsumexp(log_kernels(self, x), axis=0)
