"""What the methods of the distributions of ``scipy.stats`` compute, of whatever distribution.

Those methods check their arguments, pick out what is inside the support, and call the distribution's own ``_pdf``,
``_cdf``, ... on it. Here the picking is a ``where``, and outside of the support the formula is given a point inside it:
so that nothing infinite gets into a gradient. At a closed end of the support the derivative is that of the inside.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg, special, stats
from scipy.stats import _multivariate

from s2s import runtime as rt

__all__ = ["Frozen", "FrozenNormal", "Positive"]

NUMERICALLY = "SciPy finds it by numerical integration; write its formula"
ARRAYS = "it has a rule for arrays only; give the matrix, and a regular one"


def parsed(self: Any, args: Any, kwds: Any) -> Any:
    """The shapes, the place and the scale that a call gives, as ``_parse_args`` finds them."""
    names = self.shapes.replace(",", " ").split() if self.shapes else []
    shapes = []
    for k, name in enumerate(names):
        if k >= len(args) and name not in kwds:
            raise TypeError(f"_parse_args() missing 1 required positional argument: '{name}'")
        shapes.append(np.asarray(args[k] if k < len(args) else kwds[name]))
    n = len(names)
    loc = args[n] if len(args) > n else kwds.get("loc", 0)
    scale = args[n + 1] if len(args) > n + 1 else kwds.get("scale", 1)
    return tuple(shapes), loc, scale


def evaluated(fn: Any, at: Any, shapes: Any) -> Any:
    """``fn`` of arrays of rank 1 and of one length, which is what methods of distributions expect."""
    if np.ndim(at) == 1:
        return fn(at, *[np.broadcast_to(s, np.shape(at)) for s in shapes])
    row = np.ravel(at)
    return np.reshape(fn(row, *[np.ravel(np.broadcast_to(s, np.shape(at))) for s in shapes]), np.shape(at))


def whole(y: Any, shapes: Any) -> Any:
    """y in the shape that it and the shapes of the distribution have together."""
    for shape in shapes:
        if np.ndim(shape) > 0:
            y = y + np.zeros(np.shape(shape))
    return y


def numbers(x: Any) -> Any:
    """An array for a list."""
    return np.asarray(x) if isinstance(x, (list, tuple)) else x


def narrow(value: Any) -> Any:
    """A number for an array of rank 0."""
    return value[()] if np.ndim(value) == 0 else value


def inner_point(low: Any, high: Any) -> Any:
    """A point between the ends of a support, which may be infinite. A stand-in: it has no derivative."""
    from_low = np.where(np.isfinite(low), low + 1.0, 0.0)
    from_high = np.where(np.isfinite(high), high - 1.0, from_low)
    middle = 0.5 * (np.where(np.isfinite(low), low, 0.0) + np.where(np.isfinite(high), high, 0.0))
    return np.where(np.isfinite(low) & np.isfinite(high), middle, np.where(np.isfinite(low), from_low, from_high))


def inside(self: Any, y: Any, good: Any, shapes: Any, is_open: Any) -> Any:
    """Whether y is in the support, and y there, a point of the support elsewhere."""
    low, high = self._get_support(*shapes)
    within = good & (low < y) & (y < high) if is_open else good & (low <= y) & (y <= high)
    return within, np.where(within, y, inner_point(low, high))


def pdf(self: Any, x: Any, *args: Any, **kwds: Any) -> Any:
    shapes, loc, scale = parsed(self, args, kwds)
    y = whole((numbers(x) - loc) / scale, shapes)
    good = np.logical_and(self._argcheck(*shapes), np.greater(scale, 0.0))
    within, at = inside(self, y, good, shapes, False)
    rest = np.where(good & ~np.isnan(y), 0.0, np.nan)
    return narrow(np.where(within, evaluated(self._pdf, at, shapes) / scale, rest))


def logpdf(self: Any, x: Any, *args: Any, **kwds: Any) -> Any:
    shapes, loc, scale = parsed(self, args, kwds)
    y = whole((numbers(x) - loc) / scale, shapes)
    good = np.logical_and(self._argcheck(*shapes), np.greater(scale, 0.0))
    within, at = inside(self, y, good, shapes, False)
    rest = np.where(good & ~np.isnan(y), -np.inf, np.nan)
    return narrow(np.where(within, evaluated(self._logpdf, at, shapes) - np.log(scale), rest))


def cdf(self: Any, x: Any, *args: Any, **kwds: Any) -> Any:
    shapes, loc, scale = parsed(self, args, kwds)
    y = whole((numbers(x) - loc) / scale, shapes)
    good = np.logical_and(self._argcheck(*shapes), np.greater(scale, 0.0))
    within, at = inside(self, y, good, shapes, True)
    rest = np.where(good & ~np.isnan(y), np.where(y >= self._get_support(*shapes)[1], 1.0, 0.0), np.nan)
    return narrow(np.where(within, evaluated(self._cdf, at, shapes), rest))


def logcdf(self: Any, x: Any, *args: Any, **kwds: Any) -> Any:
    shapes, loc, scale = parsed(self, args, kwds)
    y = whole((numbers(x) - loc) / scale, shapes)
    good = np.logical_and(self._argcheck(*shapes), np.greater(scale, 0.0))
    within, at = inside(self, y, good, shapes, True)
    rest = np.where(good & ~np.isnan(y), np.where(y >= self._get_support(*shapes)[1], 0.0, -np.inf), np.nan)
    return narrow(np.where(within, evaluated(self._logcdf, at, shapes), rest))


def sf(self: Any, x: Any, *args: Any, **kwds: Any) -> Any:
    shapes, loc, scale = parsed(self, args, kwds)
    y = whole((numbers(x) - loc) / scale, shapes)
    good = np.logical_and(self._argcheck(*shapes), np.greater(scale, 0.0))
    within, at = inside(self, y, good, shapes, True)
    rest = np.where(good & ~np.isnan(y), np.where(y <= self._get_support(*shapes)[0], 1.0, 0.0), np.nan)
    return narrow(np.where(within, evaluated(self._sf, at, shapes), rest))


def logsf(self: Any, x: Any, *args: Any, **kwds: Any) -> Any:
    shapes, loc, scale = parsed(self, args, kwds)
    y = whole((numbers(x) - loc) / scale, shapes)
    good = np.logical_and(self._argcheck(*shapes), np.greater(scale, 0.0))
    within, at = inside(self, y, good, shapes, True)
    rest = np.where(good & ~np.isnan(y), np.where(y <= self._get_support(*shapes)[0], 0.0, -np.inf), np.nan)
    return narrow(np.where(within, evaluated(self._logsf, at, shapes), rest))


def ppf(self: Any, q: Any, *args: Any, **kwds: Any) -> Any:
    shapes, loc, scale = parsed(self, args, kwds)
    q = whole(numbers(q), shapes)
    good = np.logical_and(self._argcheck(*shapes), np.greater(scale, 0.0)) & ~np.isnan(q)
    low, high = self._get_support(*shapes)
    within = good & np.greater(q, 0.0) & np.less(q, 1.0)
    rest = np.where(good & np.equal(q, 0.0), low, np.where(good & np.equal(q, 1.0), high, np.nan))
    return narrow(np.where(within, evaluated(self._ppf, np.where(within, q, 0.5), shapes), rest) * scale + loc)


def isf(self: Any, q: Any, *args: Any, **kwds: Any) -> Any:
    shapes, loc, scale = parsed(self, args, kwds)
    q = whole(numbers(q), shapes)
    good = np.logical_and(self._argcheck(*shapes), np.greater(scale, 0.0)) & ~np.isnan(q)
    low, high = self._get_support(*shapes)
    within = good & np.greater(q, 0.0) & np.less(q, 1.0)
    rest = np.where(good & np.equal(q, 1.0), low, np.where(good & np.equal(q, 0.0), high, np.nan))
    return narrow(np.where(within, evaluated(self._isf, np.where(within, q, 0.5), shapes), rest) * scale + loc)


def log_of_cdf(self: Any, x: Any, *shapes: Any) -> Any:
    """The logarithm of the smaller side, for a distribution that has no formula of its own."""
    low = self._cdf(x, *shapes)
    small = low < 0.5
    return np.where(small, np.log(np.where(small, low, 0.25)), np.log1p(-np.where(small, 0.25, self._sf(x, *shapes))))


def log_of_sf(self: Any, x: Any, *shapes: Any) -> Any:
    high = self._sf(x, *shapes)
    small = high < 0.5
    return np.where(small, np.log(np.where(small, high, 0.25)), np.log1p(-np.where(small, 0.25, self._cdf(x, *shapes))))


def ncx2_logpdf(self: Any, x: Any, df: Any, nc: Any) -> Any:
    """By Bessel's function, which does not underflow; without a shift it is the density of chi-squared."""
    shifted = nc != 0.0
    shift, order = np.where(shifted, nc, 1.0), 0.5 * df - 1.0
    away, root = np.sqrt(x) - np.sqrt(shift), np.sqrt(x * shift)
    far = 0.5 * order * np.log(x / shift) - 0.5 * away * away + np.log(0.5 * special.ive(order, root))
    return np.where(shifted, far, stats.chi2._logpdf(x, df))


# --- discrete distributions -------------------------------------------------------------------------------------------


def pmf(self: Any, k: Any, *args: Any, **kwds: Any) -> Any:
    shapes, loc, _ = parsed(self, args, kwds)
    y = whole(numbers(k) - loc, shapes)
    good = np.logical_and(self._argcheck(*shapes), ~np.isnan(y))
    low, high = self._get_support(*shapes)
    within = good & (low <= y) & (y <= high) & (np.floor(y) == y)
    rest = np.where(good & ~np.isnan(y), 0.0, np.nan)
    return narrow(np.where(within, evaluated(self._pmf, np.where(within, y, low), shapes), rest))


def logpmf(self: Any, k: Any, *args: Any, **kwds: Any) -> Any:
    shapes, loc, _ = parsed(self, args, kwds)
    y = whole(numbers(k) - loc, shapes)
    good = np.logical_and(self._argcheck(*shapes), ~np.isnan(y))
    low, high = self._get_support(*shapes)
    within = good & (low <= y) & (y <= high) & (np.floor(y) == y)
    rest = np.where(good & ~np.isnan(y), -np.inf, np.nan)
    return narrow(np.where(within, evaluated(self._logpmf, np.where(within, y, low), shapes), rest))


def discrete_cdf(self: Any, k: Any, *args: Any, **kwds: Any) -> Any:
    shapes, loc, _ = parsed(self, args, kwds)
    y = whole(numbers(k) - loc, shapes)
    good = np.logical_and(self._argcheck(*shapes), ~np.isnan(y))
    low, high = self._get_support(*shapes)
    within = good & (low <= y) & (y < high)
    rest = np.where(good, np.where(y >= high, 1.0, 0.0), np.nan)
    return narrow(np.where(within, evaluated(self._cdf, np.where(within, y, low), shapes), rest))


def discrete_logcdf(self: Any, k: Any, *args: Any, **kwds: Any) -> Any:
    return np.log(discrete_cdf(self, k, *args, **kwds))


def discrete_sf(self: Any, k: Any, *args: Any, **kwds: Any) -> Any:
    shapes, loc, _ = parsed(self, args, kwds)
    y = whole(numbers(k) - loc, shapes)
    good = np.logical_and(self._argcheck(*shapes), ~np.isnan(y))
    low, high = self._get_support(*shapes)
    within = good & (low <= y) & (y < high)
    rest = np.where(good, np.where(y < low, 1.0, 0.0), np.nan)
    return narrow(np.where(within, evaluated(self._sf, np.where(within, y, low), shapes), rest))


def discrete_logsf(self: Any, k: Any, *args: Any, **kwds: Any) -> Any:
    return np.log(discrete_sf(self, k, *args, **kwds))


# --- moments ----------------------------------------------------------------------------------------------------------


def mean(self: Any, *args: Any, **kwds: Any) -> Any:
    shapes, loc, scale = parsed(self, args, kwds)
    found = self._stats(*shapes)[0]
    if found is None:
        return rt.no_derivative("the mean of a distribution", NUMERICALLY)
    return narrow(np.where(self._argcheck(*shapes), found * scale + loc, np.nan))


def var(self: Any, *args: Any, **kwds: Any) -> Any:
    shapes, _, scale = parsed(self, args, kwds)
    found = self._stats(*shapes)[1]
    if found is None:
        return rt.no_derivative("the variance of a distribution", NUMERICALLY)
    return narrow(np.where(self._argcheck(*shapes), found * scale * scale, np.nan))


def std(self: Any, *args: Any, **kwds: Any) -> Any:
    return np.sqrt(var(self, *args, **kwds))


def median(self: Any, *args: Any, **kwds: Any) -> Any:
    return self.ppf(0.5, *args, **kwds)


def entropy(self: Any, *args: Any, **kwds: Any) -> Any:
    shapes, _, scale = parsed(self, args, kwds)
    good = np.logical_and(self._argcheck(*shapes), np.greater(scale, 0.0))
    return narrow(np.where(good, self._entropy(*shapes) + np.log(scale), np.nan))


# --- the normal distribution of vectors -------------------------------------------------------------------------------


def normal_logpdf(self: Any, x: Any, mean: Any = None, cov: Any = 1, allow_singular: Any = False) -> Any:
    if not isinstance(cov, (int, float, list, tuple, np.ndarray)):
        return rt.no_derivative("multivariate_normal with a covariance that is an object", ARRAYS)
    cov = numbers(cov)
    if mean is None:
        middle = np.zeros(np.shape(cov)[0] if np.ndim(cov) > 0 else 1)
    else:
        middle = np.atleast_1d(numbers(mean))
    dim = np.shape(middle)[0]
    if np.ndim(cov) == 0:
        cov = cov * np.eye(dim)
    elif np.ndim(cov) == 1:
        cov = np.diag(cov)
    if allow_singular and not is_regular(cov, None, None, True, True, True):
        return rt.no_derivative("multivariate_normal with a singular covariance", "give a regular one")
    points = np.asarray(x)
    if np.ndim(points) == 1 and dim == 1:
        points = points[:, None]
    away = points - middle
    factor = np.linalg.cholesky(cov)
    scaled = linalg.solve_triangular(factor, np.reshape(away, (-1, dim)).T, lower=True)
    log = -np.sum(np.log(np.diagonal(factor))) - 0.5 * dim * np.log(2.0 * np.pi)
    value = log - 0.5 * np.sum(scaled * scaled, axis=0)
    return narrow(np.squeeze(np.reshape(value, np.shape(away)[:-1])))


def normal_pdf(self: Any, x: Any, mean: Any = None, cov: Any = 1, allow_singular: Any = False) -> Any:
    return np.exp(normal_logpdf(self, x, mean, cov, allow_singular))


# --- distributions with their arguments -------------------------------------------------------------------------------


class Frozen:
    """A distribution with its arguments: what ``dist(*args, **kwds)`` makes."""

    def __init__(self, dist: Any, args: Any, kwds: Any) -> None:
        self.dist = dist
        self.args = args
        self.kwds = kwds

    def pdf(self, x: Any) -> Any:
        return self.dist.pdf(x, *self.args, **self.kwds)

    def logpdf(self, x: Any) -> Any:
        return self.dist.logpdf(x, *self.args, **self.kwds)

    def pmf(self, k: Any) -> Any:
        return self.dist.pmf(k, *self.args, **self.kwds)

    def logpmf(self, k: Any) -> Any:
        return self.dist.logpmf(k, *self.args, **self.kwds)

    def cdf(self, x: Any) -> Any:
        return self.dist.cdf(x, *self.args, **self.kwds)

    def logcdf(self, x: Any) -> Any:
        return self.dist.logcdf(x, *self.args, **self.kwds)

    def sf(self, x: Any) -> Any:
        return self.dist.sf(x, *self.args, **self.kwds)

    def logsf(self, x: Any) -> Any:
        return self.dist.logsf(x, *self.args, **self.kwds)

    def ppf(self, q: Any) -> Any:
        return self.dist.ppf(q, *self.args, **self.kwds)

    def isf(self, q: Any) -> Any:
        return self.dist.isf(q, *self.args, **self.kwds)


    def mean(self) -> Any:
        return self.dist.mean(*self.args, **self.kwds)

    def var(self) -> Any:
        return self.dist.var(*self.args, **self.kwds)

    def std(self) -> Any:
        return self.dist.std(*self.args, **self.kwds)

    def median(self) -> Any:
        return self.dist.median(*self.args, **self.kwds)

    def entropy(self) -> Any:
        return self.dist.entropy(*self.args, **self.kwds)


def freeze(self: Any, *args: Any, **kwds: Any) -> Any:
    return Frozen(self, args, kwds)


class FrozenNormal:
    """A normal distribution of vectors with its arguments."""

    def __init__(self, dist: Any, mean: Any, cov: Any, allow_singular: Any) -> None:
        self.dist = dist
        self.mean = mean
        self.cov = cov
        self.allow_singular = allow_singular

    def logpdf(self, x: Any) -> Any:
        return normal_logpdf(self.dist, x, self.mean, self.cov, self.allow_singular)

    def pdf(self, x: Any) -> Any:
        return normal_pdf(self.dist, x, self.mean, self.cov, self.allow_singular)


def freeze_normal(self: Any, mean: Any = None, cov: Any = 1, allow_singular: Any = False, seed: Any = None) -> Any:
    return FrozenNormal(self, mean, cov, allow_singular)


def is_regular(M: Any, cond: Any, rcond: Any, lower: Any, check_finite: Any, allow_singular: Any) -> Any:
    """Whether all eigenvalues count as positive; raises what SciPy raises."""
    return bool(_multivariate._PSD(M, cond, rcond, lower, check_finite, allow_singular).rank == np.shape(M)[0])


class Positive:
    """A positive definite matrix, with a root of its inverse: another root than that of its eigenvectors, which have no
    derivative where two eigenvalues are the same. What SciPy computes with it is the same for all roots."""

    def __init__(
        self, M: Any, cond: Any = None, rcond: Any = None, lower: Any = True, check_finite: Any = True,
        allow_singular: Any = True,
    ) -> None:
        self._M = np.asarray(M)
        if not is_regular(self._M, cond, rcond, lower, check_finite, allow_singular):
            rt.no_derivative("a singular covariance matrix", "give a regular one")
        root = np.linalg.cholesky(self._M)
        self.U = linalg.solve_triangular(root, np.eye(np.shape(M)[0]), lower=True).T
        self.rank = np.shape(M)[0]
        self.log_pdet = 2.0 * np.sum(np.log(np.diagonal(root)))
        self.V = np.zeros((self.rank, 0))
        self.eps = 1.0

    def _support_mask(self, x: Any) -> Any:
        return np.full(np.shape(x)[:-1], True)

    @property
    def pinv(self) -> Any:
        return self.U @ self.U.T


def positive(
    M: Any, cond: Any = None, rcond: Any = None, lower: Any = True, check_finite: Any = True, allow_singular: Any = True
) -> Any:
    return Positive(M, cond, rcond, lower, check_finite, allow_singular)
