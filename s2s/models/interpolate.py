"""What piecewise polynomials of ``scipy.interpolate`` compute."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import interpolate

from s2s import runtime as rt

__all__ = ["Piecewise", "piecewise_value", "spline_coefficients"]


def piecewise_value(c: Any, breaks: Any, x: Any, nu: Any, extrapolate: Any) -> Any:
    """The polynomial with coefficients ``c``, the highest power first, of the piece that x lies in, or its derivative
    of order nu."""
    x = np.asarray(x)
    if isinstance(extrapolate, str):
        x = breaks[0] + (x - breaks[0]) % (breaks[-1] - breaks[0])
    piece = piece_of(breaks, x)
    away = x - breaks[piece]
    degree = np.shape(c)[0]
    trailing = (1,) * (np.ndim(c) - 2)
    shape = (degree,) + (1,) * np.ndim(x) + trailing
    factor, power = factors(degree, nu), powers(degree, nu)
    away = np.reshape(away, (1, *np.shape(away), *trailing))
    value = np.sum(c[:, piece] * np.reshape(factor, shape) * away ** np.reshape(power, shape), axis=0)
    if not extrapolate:
        outside = (x < breaks[0]) | (x > breaks[-1])
        value = np.where(np.reshape(outside, (*np.shape(outside), *trailing)), np.nan, value)
    return value


def piece_of(breaks: Any, x: Any) -> Any:
    return np.clip(np.searchsorted(breaks, x, side="right") - 1, 0, len(breaks) - 2)


def powers(degree: Any, nu: Any) -> Any:
    return np.maximum(np.arange(degree - 1, -1, -1) - nu, 0)


def factors(degree: Any, nu: Any) -> Any:
    """What comes before a power that is differentiated nu times."""
    k = np.arange(degree - 1, -1, -1)
    made = np.ones(degree)
    for j in range(nu):
        made = made * np.maximum(k - j, 0)
    return made


def call(self: Any, x: Any, nu: Any = 0, extrapolate: Any = None) -> Any:
    if self.axis != 0:
        return rt.no_derivative("a piecewise polynomial along another axis", "it has a rule for axis=0")
    return piecewise_value(self.c, self.x, x, nu, self.extrapolate if extrapolate is None else extrapolate)


def spline_coefficients(x: Any, y: Any, bc_type: Any) -> Any:
    """The coefficients of a cubic spline: linear in the values."""
    return interpolate.CubicSpline(x, y, 0, bc_type).c


class Piecewise:
    """A piecewise polynomial, with the attributes that SciPy's have."""

    def __init__(self, c: Any, x: Any, extrapolate: Any) -> None:
        self.c = c
        self.x = x
        self.extrapolate = extrapolate
        self.axis = 0

    def __call__(self, x: Any, nu: Any = 0, extrapolate: Any = None) -> Any:
        return call(self, x, nu, extrapolate)


def cubic_spline(x: Any, y: Any, axis: Any = 0, bc_type: Any = "not-a-knot", extrapolate: Any = None) -> Any:
    if axis != 0 or not isinstance(bc_type, str) or bc_type == "periodic":
        reason = "it has a rule for axis=0 and the ends 'not-a-knot', 'natural' and 'clamped'"
        return rt.no_derivative("scipy.interpolate.CubicSpline", reason)
    breaks = np.asarray(x)
    c = spline_coefficients(breaks, np.asarray(y), bc_type)
    return Piecewise(c, breaks, True if extrapolate is None else extrapolate)
