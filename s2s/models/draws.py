"""Random draws as functions of their parameters: each is made of a draw that depends on none of them, which is the
same number of the same stream (the path-wise derivative, or reparametrisation).

The shape of a distribution, such as that of gamma, moves a draw along the quantiles: where F(x; a) stays what it is
(implicit reparametrisation: Figurnov, Mohamed, Mnih 2018). How NumPy draws such a number, with how many others that it
rejects, is left out of account, and so are differences of the same stream. What is shuffled or chosen is taken from the
places that are drawn.

A draw whose number depends on a parameter in no such way (the rate of poisson) has none here, and is refused.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

__all__ = [
    "beta", "beta_draw", "chisquare", "choice", "choice_of_state", "exponential", "gamma", "gamma_draw", "gumbel",
    "held", "laplace", "logistic", "lognormal", "multivariate_normal", "multivariate_normal_of_state", "normal",
    "pareto", "permutation", "permuted", "power", "probabilities", "rayleigh", "shuffle", "standard_gamma",
    "standard_t", "student_draw", "triangular", "uniform", "weibull",
]


def shape_of(size: Any, *parameters: Any) -> Any:
    """The ``size`` that a draw has: None for one number."""
    if size is not None:
        return size
    shape = np.broadcast_shapes(*[np.shape(p) for p in parameters])
    return None if shape == () else shape


def uniform(self: Any, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
    return low + (high - low) * self.uniform(0.0, 1.0, shape_of(size, low, high))


def normal(self: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
    return loc + scale * self.standard_normal(shape_of(size, loc, scale))


def lognormal(self: Any, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None) -> Any:
    return np.exp(mean + sigma * self.standard_normal(shape_of(size, mean, sigma)))


def exponential(self: Any, scale: Any = 1.0, size: Any = None) -> Any:
    return scale * self.standard_exponential(shape_of(size, scale))


def rayleigh(self: Any, scale: Any = 1.0, size: Any = None) -> Any:
    return scale * self.rayleigh(1.0, shape_of(size, scale))


def laplace(self: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
    return loc + scale * self.laplace(0.0, 1.0, shape_of(size, loc, scale))


def logistic(self: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
    return loc + scale * self.logistic(0.0, 1.0, shape_of(size, loc, scale))


def gumbel(self: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
    return loc + scale * self.gumbel(0.0, 1.0, shape_of(size, loc, scale))


def weibull(self: Any, a: Any, size: Any = None) -> Any:
    return self.weibull(1.0, shape_of(size, a)) ** (1.0 / a)


def pareto(self: Any, a: Any, size: Any = None) -> Any:
    return np.expm1(np.log1p(self.pareto(1.0, shape_of(size, a))) / a)


def power(self: Any, a: Any, size: Any = None) -> Any:
    return self.power(1.0, shape_of(size, a)) ** (1.0 / a)


def triangular(self: Any, left: Any, mode: Any, right: Any, size: Any = None) -> Any:
    """By the inverse of the distribution function, as NumPy draws it."""
    u = self.uniform(0.0, 1.0, shape_of(size, left, mode, right))
    base, below = right - left, mode - left
    rising = u * base <= below
    root = np.sqrt(np.where(rising, u * below, (1.0 - u) * (right - mode)) * base)
    return np.where(rising, left + root, right - root)[()]


# --- shapes -----------------------------------------------------------------------------------------------------------


def held(x: Any) -> Any:
    """The numbers themselves, which depend on nothing."""
    return x.copy() if isinstance(x, np.ndarray) else x


def gamma_draw(y: Any, shape: Any) -> Any:
    """What was drawn for a shape, as a function of the shape."""
    return held(y)


def beta_draw(y: Any, a: Any, b: Any) -> Any:
    return held(y)


def student_draw(y: Any, df: Any) -> Any:
    return held(y)


def standard_gamma(self: Any, shape: Any, size: Any = None) -> Any:
    return gamma_draw(self.standard_gamma(held(shape), shape_of(size, shape)), shape)


def gamma(self: Any, shape: Any, scale: Any = 1.0, size: Any = None) -> Any:
    return scale * self.standard_gamma(shape, shape_of(size, shape, scale))


def chisquare(self: Any, df: Any, size: Any = None) -> Any:
    return 2.0 * self.standard_gamma(0.5 * df, shape_of(size, df))


def beta(self: Any, a: Any, b: Any, size: Any = None) -> Any:
    return beta_draw(self.beta(held(a), held(b), shape_of(size, a, b)), a, b)


def standard_t(self: Any, df: Any, size: Any = None) -> Any:
    return student_draw(self.standard_t(held(df), shape_of(size, df)), df)


# --- several numbers at once ------------------------------------------------------------------------------------------


def multivariate_normal(
    self: Any, mean: Any, cov: Any, size: Any = None, check_valid: Any = "warn", tol: Any = 1e-8, *,
    method: Any = "svd",
) -> Any:
    """As ``Generator`` draws it: standard normal numbers times a factor of the covariance."""
    mean, cov = np.asarray(mean), np.asarray(cov)
    shape = () if size is None else (size,) if isinstance(size, (int, np.integer)) else tuple(size)
    z = self.standard_normal((*shape, mean.shape[0])).reshape(-1, mean.shape[0])
    if method == "cholesky":
        factor = np.linalg.cholesky(cov)
    else:
        if method == "svd":
            u, s, vh = np.linalg.svd(cov)
            check_covariance(cov, np.dot(vh.T * s, vh), check_valid, tol)
        else:
            s, u = np.linalg.eigh(cov)
            check_covariance(cov, np.dot(u * s, u.T), check_valid, tol)
        factor = u * np.sqrt(s)
    return np.reshape(mean + z @ factor.T, (*shape, mean.shape[0]))


def multivariate_normal_of_state(
    self: Any, mean: Any, cov: Any, size: Any = None, check_valid: Any = "warn", tol: Any = 1e-8
) -> Any:
    """As ``RandomState`` draws it."""
    mean, cov = np.asarray(mean), np.asarray(cov)
    shape = () if size is None else (size,) if isinstance(size, (int, np.integer)) else tuple(size)
    z = self.standard_normal((*shape, mean.shape[0])).reshape(-1, mean.shape[0])
    _, s, vh = np.linalg.svd(cov)
    check_covariance(cov, np.dot(vh.T * s, vh), check_valid, tol)
    return np.reshape(np.dot(z, np.sqrt(s)[:, None] * vh) + mean, (*shape, mean.shape[0]))


def check_covariance(cov: Any, found: Any, check_valid: Any, tol: Any) -> None:
    """Say what the primal says of a matrix that is no covariance."""
    if check_valid != "ignore" and not np.allclose(found, cov, rtol=tol, atol=tol):
        if check_valid == "raise":
            raise ValueError("covariance is not symmetric positive-semidefinite.")
        warnings.warn("covariance is not symmetric positive-semidefinite.", RuntimeWarning, stacklevel=2)


# --- what is shuffled or chosen ---------------------------------------------------------------------------------------


def shuffle(self: Any, x: Any, axis: Any = 0) -> Any:
    if isinstance(x, np.ndarray):
        places = np.arange(x.size).reshape(x.shape)
        if axis == 0:
            self.shuffle(places)
        else:
            self.shuffle(places, axis)
        x[...] = np.take(x, places)
    else:
        order = list(range(len(x)))
        self.shuffle(order)
        x[:] = [x[k] for k in order]


def probabilities(p: Any) -> Any:
    """The same ones; a differentiated one is refused."""
    return p


def permutation(self: Any, x: Any, axis: Any = 0) -> Any:
    items = np.asarray(x)
    return np.take(items, self.permutation(np.shape(items)[axis]), axis)


def permuted(self: Any, x: Any, axis: Any = None) -> Any:
    items = np.asarray(x)
    return np.take(items, self.permuted(np.arange(items.size).reshape(items.shape), axis=axis))


def choice(
    self: Any, a: Any, size: Any = None, replace: Any = True, p: Any = None, axis: Any = 0, shuffle: Any = True
) -> Any:
    items = np.arange(a) if isinstance(a, (int, np.integer)) else np.asarray(a)
    return np.take(items, self.choice(np.shape(items)[axis], size, replace, probabilities(p), shuffle=shuffle), axis)


def choice_of_state(self: Any, a: Any, size: Any = None, replace: Any = True, p: Any = None) -> Any:
    items = np.arange(a) if isinstance(a, (int, np.integer)) else np.asarray(a)
    return np.take(items, self.choice(len(items), size, replace, probabilities(p)), 0)
