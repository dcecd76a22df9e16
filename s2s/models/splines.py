"""What B-splines of ``scipy.interpolate`` compute, those of FITPACK too."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import interpolate

from s2s import runtime as rt
from s2s.models import sparse
from s2s.models.piecewise import along_axis, axis_of, prepared

__all__ = ["Spline", "interpolating_coefficients", "knots_of", "spline_value"]

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
