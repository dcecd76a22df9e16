"""What interpolators of ``scipy.interpolate`` compute: piecewise polynomials, B-splines, grids, triangles.

Each is a function of the places, of the values and of where it is asked, and all of these may be differentiated. Which
piece a point lies in is piecewise constant.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import interpolate, linalg
from scipy.spatial import Delaunay, cKDTree

from s2s import runtime as rt
from s2s.models import sparse

__all__ = ["Piecewise", "Spline", "piecewise_value"]

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


def cubic_hermite_spline(x: Any, y: Any, dydx: Any, axis: Any = 0, extrapolate: Any = None) -> Any:
    places, values = prepared(x, y, axis)
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
    places, values = prepared(x, y, axis)
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
    places, values = prepared(x, y, axis)
    slopes = pchip_slopes(places, values)
    return hermite(places, values, slopes, True if extrapolate is None else extrapolate, axis_of(y, axis))


def akima(x: Any, y: Any, axis: Any = 0, *, method: Any = "akima", extrapolate: Any = None) -> Any:
    places, values = prepared(x, y, axis)
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


# --- B-splines --------------------------------------------------------------------------------------------------------


def interval_of(t: Any, k: Any, n: Any, x: Any) -> Any:
    """Which interval between knots a place lies in, the first and the last one for those outside."""
    return np.clip(np.searchsorted(t, x, side="right") - 1, k, n - 1)


def basis(t: Any, k: Any, x: Any, at: Any) -> Any:
    """The k + 1 B-splines that are not zero at places in the intervals ``at`` (Cox, de Boor): a list of arrays."""
    found = [np.ones_like(x)]
    for degree in range(1, k + 1):
        left = [x - t[at + 1 - degree + r] for r in range(degree)]
        right = [t[at + r + 1] - x for r in range(degree)]
        share = [found[r] / (right[r] + left[r]) for r in range(degree)]
        found = [
            (right[r] * share[r] if r < degree else 0.0) + (left[r - 1] * share[r - 1] if r > 0 else 0.0)
            for r in range(degree + 1)
        ]
    return found


def spline_value(t: Any, c: Any, k: Any, x: Any, extrapolate: Any) -> Any:
    """The spline at places of any shape; the coefficients have one axis, or further ones after it."""
    n = np.shape(t)[0] - k - 1
    shape, x = np.shape(x), np.ravel(x)
    if isinstance(extrapolate, str):
        x = t[k] + (x - t[k]) % (t[n] - t[k])
    at = interval_of(t, k, n, x)
    total: Any = 0.0
    for j, weight in enumerate(basis(t, k, x, at)):
        total = total + np.reshape(weight, (-1,) + (1,) * (np.ndim(c) - 1)) * c[at - k + j]
    if not extrapolate:
        outside = (x < t[k]) | (x > t[n])
        total = np.where(np.reshape(outside, (-1,) + (1,) * (np.ndim(c) - 1)), np.nan, total)
    return np.reshape(total, (*shape, *np.shape(c)[1:]))


def slope_coefficients(t: Any, c: Any, k: Any) -> Any:
    """The coefficients of the derivative, which has degree k - 1 and the knots t[1:-1]."""
    n = np.shape(t)[0] - k - 1
    wide = t[k + 1 : n + k] - t[1:n]
    empty = wide == 0.0
    share = np.where(empty, 0.0, k / np.where(empty, 1.0, wide))
    return np.reshape(share, (-1,) + (1,) * (np.ndim(c) - 1)) * np.diff(c[:n], axis=0)


def spline_call(self: Any, x: Any, nu: Any = 0, extrapolate: Any = None) -> Any:
    chosen = self.extrapolate if extrapolate is None else extrapolate
    t, c, k = self.t, self.c, self.k
    for _ in range(nu):
        if k == 0:
            return 0.0 * spline_value(t, c, k, x, chosen)
        t, c, k = t[1:-1], slope_coefficients(t, c, k), k - 1
    return along_axis(spline_value(t, c, k, np.asarray(x), chosen), np.ndim(x), self.axis)


class Spline:
    """A B-spline, with the attributes that SciPy's have."""

    def __init__(self, t: Any, c: Any, k: Any, extrapolate: Any, axis: Any) -> None:
        self.t = t
        self.c = c
        self.k = k
        self.extrapolate = extrapolate
        self.axis = axis

    @property
    def tck(self) -> Any:
        return self.t, self.c, self.k

    def __call__(self, x: Any, nu: Any = 0, extrapolate: Any = None) -> Any:
        return spline_call(self, x, nu, extrapolate)

    def derivative(self, nu: Any = 1) -> Any:
        t, c, k = self.t, self.c, self.k
        for _ in range(nu):
            t, c, k = t[1:-1], slope_coefficients(t, c, k), k - 1
        return Spline(t, c, k, self.extrapolate, self.axis)

    def antiderivative(self, nu: Any = 1) -> Any:
        t, c, k = self.t, self.c, self.k
        for _ in range(nu):
            t, c, k = summed_coefficients(t, c, k)
        return Spline(t, c, k, False if isinstance(self.extrapolate, str) else self.extrapolate, self.axis)

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
        chosen = self.extrapolate if extrapolate is None else extrapolate
        if isinstance(chosen, str) or not chosen:
            return rt.no_derivative("scipy.interpolate.BSpline.integrate", "it has a rule for extrapolate=True")
        whole = self.antiderivative()
        return whole(b) - whole(a)


def summed_coefficients(t: Any, c: Any, k: Any) -> Any:
    """Knots, coefficients and degree of the integral from the first knot on."""
    n = np.shape(t)[0] - k - 1
    wide = np.reshape(t[k + 1 : n + k + 1] - t[:n], (-1,) + (1,) * (np.ndim(c) - 1))
    sums = np.cumsum(c[:n] * wide, axis=0) / (k + 1)
    return np.concatenate([t[:1], t, t[-1:]]), np.concatenate([np.zeros_like(sums[:1]), sums], axis=0), k + 1


def bspline(t: Any, c: Any, k: Any, extrapolate: Any = True, axis: Any = 0) -> Any:
    c = np.asarray(c)
    if axis != 0:
        c = np.moveaxis(c, axis, 0)
    return Spline(np.asarray(t), c, k, extrapolate, axis_of(c, axis))


def knots_of(x: Any, k: Any) -> Any:
    """The knots of an interpolating spline, 'not-a-knot' at both ends."""
    ends = np.ones(k + 1)
    if k == 0:
        return np.concatenate([x, x[-1:]])
    if k == 1:
        return np.concatenate([x[:1], x, x[-1:]])
    inner = x[(k + 1) // 2 : -((k + 1) // 2)] if k % 2 == 1 else (0.5 * (x[1:] + x[:-1]))[k // 2 : -(k // 2)]
    return np.concatenate([x[0] * ends, inner, x[-1] * ends])


def interpolating_coefficients(x: Any, y: Any, k: Any, t: Any) -> Any:
    """The coefficients of the spline through points, by the sparse equations of its values there."""
    n = np.shape(x)[0]
    at = interval_of(t, k, n, x)
    rows, columns = places_of_basis(at, k)
    columns_of_y = np.reshape(y, (n, -1))
    found = sparse.solution(np.concatenate(basis(t, k, x, at)), rows, columns, columns_of_y)
    return np.reshape(found, np.shape(y))


def places_of_basis(at: Any, k: Any) -> Any:
    """The places of the values of B-splines in the matrix of their equations, in the order of ``basis``."""
    return np.tile(np.arange(len(at)), k + 1), np.concatenate([at - k + j for j in range(k + 1)])


ENDS = "it has a rule without bc_type=; use CubicSpline, which has one for it"


def make_interp_spline(
    x: Any, y: Any, k: Any = 3, t: Any = None, bc_type: Any = None, axis: Any = 0, check_finite: Any = True
) -> Any:
    if bc_type is not None and bc_type != "not-a-knot":
        return rt.no_derivative("scipy.interpolate.make_interp_spline", ENDS)
    places, values = prepared(x, y, axis)
    knots = knots_of(places, k) if t is None else np.asarray(t)
    return Spline(knots, interpolating_coefficients(places, values, k, knots), k, True, axis_of(y, axis))


SMOOTHING = "where it smooths it has no rule; give s=0, no weights and no knots"


def splrep(
    x: Any, y: Any, w: Any = None, xb: Any = None, xe: Any = None, k: Any = 3, task: Any = 0, s: Any = None,
    t: Any = None, full_output: Any = 0, per: Any = 0, quiet: Any = 1,
) -> Any:
    """Knots, coefficients (with the zeros that FITPACK puts after them) and the degree."""
    if w is not None or xb is not None or xe is not None or task != 0 or t is not None or full_output or per:
        return rt.no_derivative("scipy.interpolate.splrep", SMOOTHING)
    if s is not None and s != 0:
        return rt.no_derivative("scipy.interpolate.splrep", SMOOTHING)
    places, values = np.asarray(x), np.asarray(y)
    knots = knots_of(places, k)
    return knots, np.concatenate([interpolating_coefficients(places, values, k, knots), np.zeros(k + 1)]), k


def splev(x: Any, tck: Any, der: Any = 0, ext: Any = 0) -> Any:
    if not isinstance(tck, (tuple, list)):
        t, c, k = tck.t, tck.c, tck.k
    else:
        t, c, k = tck
    return fitpack_value(t, c, k, x, der, ext)


def fitpack_value(t: Any, c: Any, k: Any, x: Any, der: Any, ext: Any) -> Any:
    """The spline, or a derivative of it; outside of the knots as ``ext`` says."""
    t, c, x = np.asarray(t), np.asarray(c), np.asarray(x)
    if np.ndim(c) > 1:
        return rt.no_derivative("scipy.interpolate.splev", "of a curve with several coordinates it has no rule")
    low, high = t[k], t[np.shape(t)[0] - k - 1]
    outside = (x < low) | (x > high)
    if ext == 3:
        x = np.clip(x, low, high)
    for _ in range(der):
        t, c, k = t[1:-1], slope_coefficients(t, c, k), k - 1
    value = spline_value(t, c, k, x, True)
    return np.where(outside, 0.0, value) if ext == 1 else value


def splder(tck: Any, n: Any = 1) -> Any:
    t, c, k = tck
    for _ in range(n):
        t, c, k = t[1:-1], slope_coefficients(t, c, k), k - 1
    return t, np.concatenate([c, np.zeros(k + 1)]), k


def splantider(tck: Any, n: Any = 1) -> Any:
    t, c, k = tck
    for _ in range(n):
        t, c, k = summed_coefficients(t, c, k)
    return t, np.concatenate([c, np.zeros(k + 1)]), k


def splint(a: Any, b: Any, tck: Any, full_output: Any = 0) -> Any:
    """The integral; the spline is zero outside of its knots."""
    t, c, k = tck
    low, high = t[k], t[np.shape(t)[0] - k - 1]
    knots, sums, degree = summed_coefficients(t, c, k)
    return spline_value(knots, sums, degree, np.clip(b, low, high), True) - spline_value(
        knots, sums, degree, np.clip(a, low, high), True)


def code_of(ext: Any) -> Any:
    """What counts outside of the knots, as the number that FITPACK has for it."""
    if ext == 2 or ext == "raise":
        return rt.no_derivative("a spline of FITPACK with ext=2", "leave ext out, and check the places before")
    if ext == 1 or ext == "zeros":
        return 1
    return 3 if ext == 3 or ext == "const" else 0


class Univariate:
    """A spline through points, as FITPACK gives it."""

    def __init__(self, t: Any, c: Any, k: Any, ext: Any) -> None:
        self._eval_args = (t, c, k)
        self.ext = ext

    def __call__(self, x: Any, nu: Any = 0, ext: Any = None) -> Any:
        t, c, k = self._eval_args
        return fitpack_value(t, c, k, x, nu, code_of(self.ext if ext is None else ext))

    def integral(self, a: Any, b: Any) -> Any:
        return splint(a, b, self._eval_args)

    def derivative(self, n: Any = 1) -> Any:
        t, c, k = splder(self._eval_args, n)
        return Univariate(t, c, k, self.ext)


def interpolated_univariate(
    x: Any, y: Any, w: Any = None, bbox: Any = None, k: Any = 3, ext: Any = 0, check_finite: Any = False
) -> Any:
    if bbox is not None:
        return rt.no_derivative("scipy.interpolate.InterpolatedUnivariateSpline", "with bbox= it has no rule")
    t, c, k = splrep(x, y, w, None, None, k)
    return Univariate(t, c, k, ext)


def smoothed(x: Any, y: Any, w: Any, bbox: Any, k: Any, s: Any) -> Any:
    """What FITPACK finds for values that are smoothed: knots, coefficients and the degree."""
    return interpolate.UnivariateSpline(x, y, w, [None, None] if bbox is None else bbox, k, s)._eval_args


def univariate(
    x: Any, y: Any, w: Any = None, bbox: Any = None, k: Any = 3, s: Any = None, ext: Any = 0, check_finite: Any = False
) -> Any:
    if s is not None and s == 0 and w is None and bbox is None:
        return interpolated_univariate(x, y, None, None, k, ext)
    t, c, k = smoothed(x, y, w, bbox, k, s)
    return Univariate(t, c, k, ext)


# --- one dimension, as interp1d has it --------------------------------------------------------------------------------


class OneDimensional:
    """What ``interp1d`` gives: values between neighbours, or a spline."""

    def __init__(self, x: Any, y: Any, kind: Any, axis: Any, outside: Any) -> None:
        self.x = x
        self.y = y
        self.kind = kind
        self.axis = axis
        self.outside = outside

    def __call__(self, x: Any) -> Any:
        x = np.asarray(x)
        check_bounds(self.x, x, self.outside)
        x_new, shape = np.ravel(x), np.shape(x)
        degree = {"slinear": 1, "quadratic": 2, "cubic": 3}.get(self.kind, 0)
        if degree > 0 and self.kind != "slinear":
            knots = knots_of(self.x, degree)
            value = spline_value(
                knots, interpolating_coefficients(self.x, self.y, degree, knots), degree, x_new, True)
        elif self.kind in ("linear", "slinear"):
            low = left_neighbour(self.x, x_new)
            share = (x_new - self.x[low]) / (self.x[low + 1] - self.x[low])
            share = np.reshape(share, (-1,) + (1,) * (np.ndim(self.y) - 1))
            value = self.y[low] + share * (self.y[low + 1] - self.y[low])
        else:
            value = self.y[neighbour(self.x, x_new, self.kind)]
        if self.outside is not None and not isinstance(self.outside, str):
            below, above = self.outside if isinstance(self.outside, tuple) else (self.outside, self.outside)
            trailing = (-1,) + (1,) * (np.ndim(self.y) - 1)
            value = np.where(np.reshape(x_new < self.x[0], trailing), below, value)
            value = np.where(np.reshape(x_new > self.x[-1], trailing), above, value)
        return along_axis(np.reshape(value, (*shape, *np.shape(self.y)[1:])), np.ndim(x), self.axis)


def left_neighbour(x: Any, x_new: Any) -> Any:
    return np.clip(np.searchsorted(x, x_new), 1, len(x) - 1) - 1


def neighbour(x: Any, x_new: Any, kind: Any) -> Any:
    """The place whose value counts for one that is asked for."""
    if kind == "previous" or kind == "zero":
        return np.clip(np.searchsorted(x, x_new, side="right") - 1, 0, len(x) - 1)
    if kind == "next":
        return np.clip(np.searchsorted(x, x_new, side="left"), 0, len(x) - 1)
    middles = 0.5 * (x[1:] + x[:-1])
    return np.searchsorted(middles, x_new, side="right" if kind == "nearest-up" else "left")


def check_bounds(x: Any, x_new: Any, outside: Any) -> None:
    """Raise ValueError as SciPy does, where nothing says what counts outside."""
    if outside is None and (np.any(x_new < x[0]) or np.any(x_new > x[-1])):
        raise ValueError("A value in x_new is outside the interpolation range.")


KINDS = ("linear", "nearest", "nearest-up", "zero", "slinear", "quadratic", "cubic", "previous", "next")


def interp1d(
    x: Any, y: Any, kind: Any = "linear", axis: Any = -1, copy: Any = True, bounds_error: Any = None,
    fill_value: Any = np.nan, assume_sorted: Any = False,
) -> Any:
    if kind not in KINDS:
        return rt.no_derivative("scipy.interpolate.interp1d", "of this kind it has no rule; use make_interp_spline")
    places, values = prepared(x, y, axis)
    if not assume_sorted:
        order = order_of(places)
        places, values = places[order], values[order]
    if isinstance(fill_value, float) and fill_value != fill_value:
        outside = np.nan if bounds_error is False else None  # whether a number is given decides what SciPy does
    else:
        outside = None if bounds_error else fill_value
    return OneDimensional(places, values, kind, axis_of(y, axis), outside)


def order_of(x: Any) -> Any:
    return np.argsort(x, kind="stable")


# --- polynomials through points ---------------------------------------------------------------------------------------


def lagrange_values(xi: Any, yi: Any, x: Any) -> Any:
    """The polynomial through points, at places of one axis: by products, which are smooth at the points too."""
    same = np.eye(np.shape(xi)[0], dtype=bool)
    above = np.where(same, 1.0, (np.ravel(x)[:, None] - xi)[:, None, :])
    below = np.where(same, 1.0, xi[:, None] - xi)
    weights = np.prod(above / below, axis=-1)
    return weights @ np.reshape(yi, (np.shape(xi)[0], -1))


def barycentric_evaluate(self: Any, x: Any) -> Any:
    return lagrange_values(self.xi, self.yi, x)


class Polynomial:
    """The polynomial through points."""

    def __init__(self, xi: Any, yi: Any, axis: Any) -> None:
        self.xi = xi
        self.yi = yi
        self.axis = axis

    def __call__(self, x: Any) -> Any:
        value = lagrange_values(self.xi, self.yi, np.asarray(x))
        return along_axis(np.reshape(value, (*np.shape(x), *np.shape(self.yi)[1:])), np.ndim(x), self.axis)


def barycentric(
    xi: Any, yi: Any = None, axis: Any = 0, *, wi: Any = None, rng: Any = None, random_state: Any = None
) -> Any:
    if yi is None:
        return rt.no_derivative("scipy.interpolate.BarycentricInterpolator", "it has a rule where the values are given")
    places, values = prepared(xi, yi, axis)
    return Polynomial(places, values, axis_of(yi, axis))


def barycentric_interpolate(xi: Any, yi: Any, x: Any, axis: Any = 0, *, der: Any = 0, rng: Any = None) -> Any:
    if der != 0:
        return rt.no_derivative("scipy.interpolate.barycentric_interpolate", "of a derivative it has no rule")
    return barycentric(xi, yi, axis)(x)


# --- grids ------------------------------------------------------------------------------------------------------------


def points_of(xi: Any) -> Any:
    """Points in the last axis, from one array or from one array for each coordinate."""
    if isinstance(xi, tuple):
        return np.stack(np.broadcast_arrays(*[np.asarray(x) for x in xi]), axis=-1)
    return np.asarray(xi)


def grid_value(grid: Any, values: Any, xi: Any, method: Any, bounds_error: Any, fill_value: Any) -> Any:
    """Values between those at the corners of the cell of a grid that a point lies in, or that of the nearest corner."""
    if method not in ("linear", "slinear", "nearest"):
        return rt.no_derivative("this method on a grid", "it has a rule for 'linear', 'slinear' and 'nearest'")
    points = points_of(xi)
    if np.ndim(points) == 1 and len(grid) > 1:
        points = points[None, :]
    elif np.ndim(points) <= 1:
        points = np.reshape(points, (-1, 1))
    trailing = (1,) * (np.ndim(values) - len(grid))
    shares, cells, outside = [], [], False
    for axis, line in enumerate(grid):
        line, at = np.asarray(line), points[..., axis]
        low = cell_of(line, at)
        shares.append((at - line[low]) / (line[low + 1] - line[low]))
        cells.append(low)
        outside = outside | (at < line[0]) | (at > line[-1])
    if bounds_error:
        check_inside(outside)
    if method == "nearest":
        value = values[tuple([low + (share > 0.5) for low, share in zip(cells, shares)])]
    else:
        value = 0.0
        for corner in np.ndindex(*[2] * len(grid)):
            weight = 1.0
            for share, side in zip(shares, corner):
                weight = weight * (share if side else 1.0 - share)
            index = tuple([low + side for low, side in zip(cells, corner)])
            value = value + np.reshape(weight, (*np.shape(weight), *trailing)) * values[index]
    if fill_value is None or bounds_error:
        return value
    return np.where(np.reshape(outside, (*np.shape(outside), *trailing)), fill_value, value)


def cell_of(line: Any, x: Any) -> Any:
    """The cell that a place lies in, on a line that may run down."""
    if line[0] > line[-1]:
        return np.clip(len(line) - 1 - np.searchsorted(line[::-1], x, side="left"), 0, len(line) - 2)
    return np.clip(np.searchsorted(line, x, side="right") - 1, 0, len(line) - 2)


def check_inside(outside: Any) -> None:
    if np.any(outside):
        raise ValueError("One of the requested xi is out of bounds")


def grid_call(self: Any, xi: Any, method: Any = None, *, nu: Any = None) -> Any:
    chosen = self.method if method is None else method
    return grid_value(self.grid, np.asarray(self.values), xi, chosen, self.bounds_error, self.fill_value)


class RegularGrid:
    """Values on a grid."""

    def __init__(self, grid: Any, values: Any, method: Any, bounds_error: Any, fill_value: Any) -> None:
        self.grid = grid
        self.values = values
        self.method = method
        self.bounds_error = bounds_error
        self.fill_value = fill_value

    def __call__(self, xi: Any, method: Any = None, *, nu: Any = None) -> Any:
        return grid_call(self, xi, method)


def regular_grid(
    points: Any, values: Any, method: Any = "linear", bounds_error: Any = True, fill_value: Any = np.nan, *,
    solver: Any = None, solver_args: Any = None,
) -> Any:
    return RegularGrid(tuple(points), np.asarray(values), method, bounds_error, fill_value)


def interpn(
    points: Any, values: Any, xi: Any, method: Any = "linear", bounds_error: Any = True, fill_value: Any = np.nan
) -> Any:
    return grid_value(tuple(points), np.asarray(values), xi, method, bounds_error, fill_value)


# --- scattered points -------------------------------------------------------------------------------------------------


def corners_of(points: Any, xi: Any) -> Any:
    """The triangle (or simplex) that each point lies in, by the numbers of its corners, and whether it lies in none."""
    mesh = Delaunay(points)
    found = mesh.find_simplex(xi)
    return mesh.simplices[found], found < 0


def nearest_of(points: Any, xi: Any) -> Any:
    return cKDTree(points).query(xi)[1]


def linear_between(points: Any, values: Any, xi: Any, fill_value: Any) -> Any:
    """Linear in each triangle of the points."""
    corners, outside = corners_of(points, xi)
    origin = points[corners[..., -1]]
    edges = np.swapaxes(points[corners[..., :-1]] - origin[..., None, :], -1, -2)
    shares = np.linalg.solve(edges, (xi - origin)[..., None])[..., 0]
    trailing = (1,) * (np.ndim(values) - 1)
    last = np.reshape(1.0 - np.sum(shares, axis=-1), (*np.shape(outside), *trailing)) * values[corners[..., -1]]
    inner = np.reshape(shares, (*np.shape(shares), *trailing)) * values[corners[..., :-1]]
    value = np.sum(inner, axis=np.ndim(outside)) + last
    return np.where(np.reshape(outside, (*np.shape(outside), *trailing)), fill_value, value)


def scattered(points: Any) -> Any:
    if isinstance(points, tuple):
        return points_of(points)
    return np.asarray(points)


def griddata(
    points: Any, values: Any, xi: Any, method: Any = "linear", fill_value: Any = np.nan, rescale: Any = False
) -> Any:
    where = scattered(points)
    if method == "cubic" or rescale or np.ndim(where) < 2 or np.shape(where)[1] == 1:
        reason = "it has a rule for 'linear' and 'nearest' in two dimensions or more, without rescale"
        return rt.no_derivative("scipy.interpolate.griddata", reason)
    if method == "nearest":
        return np.asarray(values)[nearest_of(where, points_of(xi))]
    return linear_between(where, np.asarray(values), points_of(xi), fill_value)


class Scattered:
    """Values at scattered points."""

    def __init__(self, points: Any, values: Any, fill_value: Any, nearest: Any) -> None:
        self.points = points
        self.values = values
        self.fill_value = fill_value
        self.nearest = nearest

    def __call__(self, *args: Any) -> Any:
        xi = points_of(args[0] if len(args) == 1 else args)
        if self.nearest:
            return self.values[nearest_of(self.points, xi)]
        return linear_between(self.points, self.values, xi, self.fill_value)


def linear_nd(points: Any, values: Any, fill_value: Any = np.nan, rescale: Any = False) -> Any:
    if rescale:
        return rt.no_derivative("scipy.interpolate.LinearNDInterpolator", "with rescale it has no rule")
    return Scattered(scattered(points), np.asarray(values), fill_value, False)


def nearest_nd(x: Any, y: Any, rescale: Any = False, tree_options: Any = None) -> Any:
    if rescale:
        return rt.no_derivative("scipy.interpolate.NearestNDInterpolator", "with rescale it has no rule")
    return Scattered(scattered(x), np.asarray(y), np.nan, True)
