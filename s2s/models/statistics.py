"""What functions of ``scipy.stats`` compute of values: means, moments, scores, entropies, the correlation."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, special

from s2s import runtime as rt

__all__ = ["Correlation", "entropy", "gmean", "kurtosis", "pearsonr", "skew", "zscore"]

MISSING = "where values are left out it has no rule; leave them out before, and give nan_policy='propagate'"


def kept(nan_policy: Any) -> None:
    """Raise NoDerivativeError where NaN is to be left out."""
    if nan_policy != "propagate":
        rt.no_derivative("a function of scipy.stats", MISSING)


def gmean(
    a: Any, axis: Any = 0, dtype: Any = None, weights: Any = None, *, nan_policy: Any = "propagate",
    keepdims: Any = False,
) -> Any:
    kept(nan_policy)
    return np.exp(np.average(np.log(np.asarray(a)), axis=axis, weights=weights, keepdims=keepdims))


def hmean(
    a: Any, axis: Any = 0, dtype: Any = None, *, weights: Any = None, nan_policy: Any = "propagate",
    keepdims: Any = False,
) -> Any:
    kept(nan_policy)
    return 1.0 / np.average(1.0 / np.asarray(a), axis=axis, weights=weights, keepdims=keepdims)


def pmean(
    a: Any, p: Any, *, axis: Any = 0, dtype: Any = None, weights: Any = None, nan_policy: Any = "propagate",
    keepdims: Any = False,
) -> Any:
    kept(nan_policy)
    if p == 0:
        return gmean(a, axis, None, weights, keepdims=keepdims)
    return np.average(np.asarray(a) ** p, axis=axis, weights=weights, keepdims=keepdims) ** (1.0 / p)


def central(a: Any, order: Any, axis: Any, keepdims: Any) -> Any:
    """The mean of a power of the distances from the mean."""
    return np.mean((a - np.mean(a, axis=axis, keepdims=True)) ** order, axis=axis, keepdims=keepdims)


def moment(
    a: Any, order: Any = 1, axis: Any = 0, nan_policy: Any = "propagate", *, center: Any = None, keepdims: Any = False
) -> Any:
    kept(nan_policy)
    if np.ndim(order) > 0:
        return rt.no_derivative("scipy.stats.moment", "of several orders at once it has no rule; ask for one at a time")
    a = np.asarray(a)
    if center is None:
        return central(a, order, axis, keepdims)
    return np.mean((a - center) ** order, axis=axis, keepdims=keepdims)


def skew(
    a: Any, axis: Any = 0, bias: Any = True, nan_policy: Any = "propagate", *, keepdims: Any = False
) -> Any:
    kept(nan_policy)
    a = np.asarray(a)
    found = central(a, 3, axis, keepdims) / central(a, 2, axis, keepdims) ** 1.5
    n = np.size(a) if axis is None else np.shape(a)[axis]
    return found if bias or n < 3 else found * np.sqrt(n * (n - 1.0)) / (n - 2.0)


def kurtosis(
    a: Any, axis: Any = 0, fisher: Any = True, bias: Any = True, nan_policy: Any = "propagate", *, keepdims: Any = False
) -> Any:
    kept(nan_policy)
    a = np.asarray(a)
    found = central(a, 4, axis, keepdims) / central(a, 2, axis, keepdims) ** 2
    n = np.size(a) if axis is None else np.shape(a)[axis]
    if not bias and n > 3:
        found = ((n * n - 1.0) * found - 3.0 * (n - 1.0) ** 2) / ((n - 2.0) * (n - 3.0)) + 3.0
    return found - 3.0 if fisher else found


def sem(a: Any, axis: Any = 0, ddof: Any = 1, nan_policy: Any = "propagate", *, keepdims: Any = False) -> Any:
    kept(nan_policy)
    a = np.asarray(a)
    n = np.size(a) if axis is None else np.shape(a)[axis]
    return np.std(a, axis=axis, ddof=ddof, keepdims=keepdims) / np.sqrt(float(n))


def variation(a: Any, axis: Any = 0, nan_policy: Any = "propagate", ddof: Any = 0, *, keepdims: Any = False) -> Any:
    kept(nan_policy)
    a = np.asarray(a)
    return np.std(a, axis=axis, ddof=ddof, keepdims=keepdims) / np.mean(a, axis=axis, keepdims=keepdims)


def zmap(scores: Any, compare: Any, axis: Any = 0, ddof: Any = 0, nan_policy: Any = "propagate") -> Any:
    kept(nan_policy)
    compare = np.asarray(compare)
    width = np.std(compare, axis=axis, ddof=ddof, keepdims=True)
    return (np.asarray(scores) - np.mean(compare, axis=axis, keepdims=True)) / width


def zscore(a: Any, axis: Any = 0, ddof: Any = 0, nan_policy: Any = "propagate") -> Any:
    return zmap(a, a, axis, ddof, nan_policy)


def entropy(
    pk: Any, qk: Any = None, base: Any = None, axis: Any = 0, *, nan_policy: Any = "propagate", keepdims: Any = False
) -> Any:
    kept(nan_policy)
    p = np.asarray(pk)
    p = p / np.sum(p, axis=axis, keepdims=True)
    if qk is None:
        parts = special.entr(p)
    else:
        q = np.asarray(qk)
        parts = special.rel_entr(p, q / np.sum(q, axis=axis, keepdims=True))
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
    a = x - np.mean(x, axis=axis, keepdims=True)
    b = y - np.mean(y, axis=axis, keepdims=True)
    r = np.sum(a * b, axis=axis) / np.sqrt(np.sum(a * a, axis=axis) * np.sum(b * b, axis=axis))
    half = 0.5 * np.shape(x)[axis] - 1.0
    return Correlation(r, 2.0 * special.betainc(half, half, 0.5 * (1.0 - np.abs(r))))


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
