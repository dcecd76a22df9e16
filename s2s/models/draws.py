"""Random draws as functions of their parameters: each is made of a draw that depends on none of them, which is the
same number of the same stream (the path-wise derivative, or reparametrisation).

A draw whose number depends on a parameter in no such way (the shape of a gamma distribution, a degree of freedom) has
none here, and is refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = [
    "exponential", "gamma", "gumbel", "laplace", "logistic", "lognormal", "normal", "pareto", "power", "rayleigh",
    "triangular", "uniform", "weibull",
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


def gamma(self: Any, shape: Any, scale: Any = 1.0, size: Any = None) -> Any:
    return scale * self.standard_gamma(shape, shape_of(size, shape, scale))
