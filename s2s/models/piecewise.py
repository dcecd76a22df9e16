"""What piecewise polynomials of ``scipy.interpolate`` compute: those given by coefficients, cubic and monotone splines.

Each is a function of the places, of the values and of where it is asked, and all of these may be differentiated. Which
piece a point lies in is piecewise constant.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from s2s import runtime as rt

__all__ = ["Piecewise", "along_axis", "axis_of", "piecewise_value", "prepared"]

# --- piecewise polynomials --------------------------------------------------------------------------------------------


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


def along_axis(value: Any, places: Any, axis: Any) -> Any:
    """Values whose leading axes are those of the places, with these axes where an interpolator has its own."""
    if axis == 0:
        return value
    return np.moveaxis(value, list(range(places)), list(range(axis, axis + places)))


def call(self: Any, x: Any, nu: Any = 0, extrapolate: Any = None) -> Any:
    chosen = self.extrapolate if extrapolate is None else extrapolate
    return along_axis(piecewise_value(self.c, self.x, x, nu, chosen), np.ndim(x), self.axis)


class Piecewise:
    """A piecewise polynomial, with the attributes that SciPy's have."""

    def __init__(self, c: Any, x: Any, extrapolate: Any, axis: Any = 0) -> None:
        self.c = c
        self.x = x
        self.extrapolate = extrapolate
        self.axis = axis

    def __call__(self, x: Any, nu: Any = 0, extrapolate: Any = None) -> Any:
        return call(self, x, nu, extrapolate)

    def derivative(self, nu: Any = 1) -> Any:
        c = self.c
        for _ in range(nu):
            degree = np.shape(c)[0] - 1
            c = c[:-1] * np.reshape(np.arange(degree, 0.0, -1.0), (degree,) + (1,) * (np.ndim(c) - 1))
        return Piecewise(c, self.x, self.extrapolate, self.axis)

    def antiderivative(self, nu: Any = 1) -> Any:
        c = self.c
        for _ in range(nu):
            c = integrated(c, self.x)
        kept = False if isinstance(self.extrapolate, str) else self.extrapolate
        return Piecewise(c, self.x, kept, self.axis)

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
        chosen = self.extrapolate if extrapolate is None else extrapolate
        if isinstance(chosen, str):
            return rt.no_derivative("the integral of a periodic interpolator", "it has no rule; split it at the period")
        whole = self.antiderivative()
        return whole(b, 0, chosen) - whole(a, 0, chosen)


def integrated(c: Any, breaks: Any) -> Any:
    """The coefficients of the integral from the first break on, which is continuous."""
    degree = np.shape(c)[0]
    whole = c / np.reshape(np.arange(degree, 0.0, -1.0), (degree,) + (1,) * (np.ndim(c) - 1))
    trailing = (1,) * (np.ndim(c) - 2)
    steps = np.reshape(np.diff(breaks), (1, -1, *trailing))
    power = np.reshape(np.arange(degree, 0.0, -1.0), (degree, 1, *trailing))
    rises = np.sum(whole * steps**power, axis=0)
    start = np.concatenate([np.zeros_like(rises[:1]), np.cumsum(rises[:-1], axis=0)], axis=0)
    return np.concatenate([whole, start[None]], axis=0)


def ppoly(c: Any, x: Any, extrapolate: Any = None, axis: Any = 0) -> Any:
    c = np.asarray(c)
    if axis != 0:
        c = np.moveaxis(c, (axis, axis + 1), (0, 1))
    return Piecewise(c, np.asarray(x), True if extrapolate is None else extrapolate, axis)


def hermite(x: Any, y: Any, slopes: Any, extrapolate: Any, axis: Any) -> Any:
    """The cubic polynomials with values and slopes at the breaks; y with the axis of the breaks first."""
    steps = np.reshape(np.diff(x), (-1,) + (1,) * (np.ndim(y) - 1))
    rise = np.diff(y, axis=0) / steps
    bend = (slopes[:-1] + slopes[1:] - 2.0 * rise) / steps
    c = np.stack([bend / steps, (rise - slopes[:-1]) / steps - bend, slopes[:-1], y[:-1]], axis=0)
    return Piecewise(c, x, extrapolate, axis)


def axis_of(y: Any, axis: Any) -> Any:
    return axis + np.ndim(y) if axis < 0 else axis


def prepared(x: Any, y: Any, axis: Any) -> Any:
    """Places and values as arrays, and the axis of the places first."""
    y = np.asarray(y)
    return np.asarray(x), (np.moveaxis(y, axis, 0) if axis != 0 else y)


def check_places(x: Any, values: Any) -> None:
    """Raise ValueError for places and values that SciPy takes no piecewise cubic through."""
    if np.ndim(x) != 1 or len(x) < 2 or len(x) != np.shape(values)[0]:
        raise ValueError("`x` must be a vector of two places or more, with a value for each")
    if not (np.all(np.isfinite(x)) and np.all(np.isfinite(values))):
        raise ValueError("`x` and `y` must contain only finite values.")
    if not np.all(np.diff(x) > 0):
        raise ValueError("`x` must be strictly increasing sequence.")


def given(x: Any, y: Any, axis: Any) -> Any:
    """What a piecewise cubic is given, as arrays with the axis of the places first."""
    places, values = prepared(x, y, axis)
    check_places(places, values)
    return places, values


def cubic_hermite_spline(x: Any, y: Any, dydx: Any, axis: Any = 0, extrapolate: Any = None) -> Any:
    places, values = given(x, y, axis)
    slopes = prepared(x, dydx, axis)[1]
    return hermite(places, values, slopes, True if extrapolate is None else extrapolate, axis_of(y, axis))


# --- cubic splines ----------------------------------------------------------------------------------------------------


def end_of(bc_type: Any, which: Any) -> Any:
    """The condition at one end: 'not-a-knot', or the order of the derivative and its value."""
    one = bc_type if isinstance(bc_type, str) else bc_type[which]
    return {"natural": (2, 0.0), "clamped": (1, 0.0)}.get(one, one) if isinstance(one, str) else one


def row_of_end(end: Any, first: Any, second: Any, rise: Any, next_rise: Any) -> Any:
    """The equation of the slope at an end, as the factors of it and of its neighbour, and the right side. The intervals
    and rises beside the end come first."""
    if isinstance(end, str):
        both = first + second
        return second, both, ((first + 2.0 * both) * second * rise + first * first * next_rise) / both
    if end[0] == 1:
        return 1.0, 0.0, end[1] + 0.0 * rise
    return 2.0 * first, first, 3.0 * first * rise


def spline_slopes(x: Any, y: Any, bc_type: Any) -> Any:
    """The slopes of a cubic spline at its breaks, from the equations that make its second derivative continuous."""
    start, stop = end_of(bc_type, 0), end_of(bc_type, 1)
    steps = np.diff(x)
    columns = np.reshape(y, (np.shape(y)[0], -1))
    rise = np.diff(columns, axis=0) / steps[:, None]
    inner = 3.0 * (steps[1:, None] * rise[:-1] + steps[:-1, None] * rise[1:])
    first = row_of_end(start, steps[0], steps[1], rise[0], rise[1])
    last = row_of_end(stop, steps[-1], steps[-2], rise[-1], rise[-2])
    low, high = first[2], last[2]
    if not isinstance(start, str) and start[0] == 2:
        low = low - 0.5 * start[1] * steps[0] ** 2
    if not isinstance(stop, str) and stop[0] == 2:
        high = high + 0.5 * stop[1] * steps[-1] ** 2
    zero = np.zeros(1)
    upper = np.concatenate([zero, np.atleast_1d(first[1]), steps[:-1]])
    middle = np.concatenate([np.atleast_1d(first[0]), 2.0 * (steps[:-1] + steps[1:]), np.atleast_1d(last[0])])
    lower = np.concatenate([steps[1:], np.atleast_1d(last[1]), zero])
    right = np.concatenate([low[None], inner, high[None]], axis=0)
    slopes = linalg.solve_banded((1, 1), np.stack([upper, middle, lower]), right)
    return np.reshape(slopes, np.shape(y))


def periodic_slopes(x: Any, y: Any) -> Any:
    """The slopes of a cubic spline that goes on where it began."""
    steps = np.diff(x)
    columns = np.reshape(y, (np.shape(y)[0], -1))
    rise = np.diff(columns, axis=0) / steps[:, None]
    before, rise_before = np.roll(steps, 1), np.roll(rise, 1, axis=0)
    eye = np.eye(np.shape(steps)[0])
    matrix = 2.0 * (before + steps)[:, None] * eye + steps[:, None] * np.roll(eye, -1, axis=1) + before[
        :, None] * np.roll(eye, 1, axis=1)
    right = 3.0 * (steps[:, None] * rise_before + before[:, None] * rise)
    slopes = np.linalg.solve(matrix, right)
    return np.reshape(np.concatenate([slopes, slopes[:1]], axis=0), np.shape(y))


SHORT = "it has a rule for four places or more; write a polynomial through fewer"


def check_count(x: Any) -> None:
    if len(x) < 4:
        rt.no_derivative("scipy.interpolate.CubicSpline", SHORT)


def cubic_spline(x: Any, y: Any, axis: Any = 0, bc_type: Any = "not-a-knot", extrapolate: Any = None) -> Any:
    places, values = given(x, y, axis)
    check_count(places)
    if isinstance(bc_type, str) and bc_type == "periodic":
        slopes = periodic_slopes(places, values)
        return hermite(places, values, slopes, "periodic" if extrapolate is None else extrapolate, axis_of(y, axis))
    slopes = spline_slopes(places, values, bc_type)
    return hermite(places, values, slopes, True if extrapolate is None else extrapolate, axis_of(y, axis))


# --- monotone splines -------------------------------------------------------------------------------------------------


def slope_at_end(h0: Any, h1: Any, m0: Any, m1: Any) -> Any:
    """The slope by three points, bounded so that the shape stays (C. Moler, "Numerical computing", 2004)."""
    d = ((2.0 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)
    steep = (np.sign(m0) != np.sign(m1)) & (np.abs(d) > 3.0 * np.abs(m0))
    return np.where(np.sign(d) != np.sign(m0), 0.0, np.where(steep, 3.0 * m0, d))


def pchip_slopes(x: Any, y: Any) -> Any:
    """Harmonic means of the rises on both sides, 0 where their signs differ."""
    steps = np.reshape(np.diff(x), (-1,) + (1,) * (np.ndim(y) - 1))
    rise = np.diff(y, axis=0) / steps
    if np.shape(y)[0] == 2:
        return np.concatenate([rise, rise], axis=0)
    flat = rise[1:] * rise[:-1] <= 0.0
    before, after = np.where(flat, 1.0, rise[:-1]), np.where(flat, 1.0, rise[1:])
    first, second = 2.0 * steps[1:] + steps[:-1], steps[1:] + 2.0 * steps[:-1]
    inner = np.where(flat, 0.0, (first + second) / (first / before + second / after))
    low = slope_at_end(steps[0], steps[1], rise[0], rise[1])
    high = slope_at_end(steps[-1], steps[-2], rise[-1], rise[-2])
    return np.concatenate([np.reshape(low, (1, *np.shape(rise)[1:])), inner, np.reshape(
        high, (1, *np.shape(rise)[1:]))], axis=0)


def pchip(x: Any, y: Any, axis: Any = 0, extrapolate: Any = None) -> Any:
    places, values = given(x, y, axis)
    slopes = pchip_slopes(places, values)
    return hermite(places, values, slopes, True if extrapolate is None else extrapolate, axis_of(y, axis))


def akima(x: Any, y: Any, axis: Any = 0, *, method: Any = "akima", extrapolate: Any = None) -> Any:
    places, values = given(x, y, axis)
    steps = np.reshape(np.diff(places), (-1,) + (1,) * (np.ndim(values) - 1))
    rise = np.diff(values, axis=0) / steps
    if np.shape(values)[0] == 2:
        slopes = np.concatenate([rise, rise], axis=0)
    else:
        before = 2.0 * rise[:1] - rise[1:2]
        after = 2.0 * rise[-1:] - rise[-2:-1]
        m = np.concatenate([2.0 * before - rise[:1], before, rise, after, 2.0 * after - rise[-1:]], axis=0)
        bends = np.abs(np.diff(m, axis=0))
        if method == "makima":
            bends = bends + 0.5 * np.abs(m[1:] + m[:-1])
        total = bends[2:] + bends[:-2]
        even = total <= 1e-9 * np.max(total, initial=-np.inf)
        weighed = (bends[2:] * m[1:-2] + bends[:-2] * m[2:-1]) / np.where(even, 1.0, total)
        slopes = np.where(even, 0.5 * (m[3:] + m[:-3]), weighed)
    return hermite(places, values, slopes, False if extrapolate is None else extrapolate, axis_of(y, axis))
