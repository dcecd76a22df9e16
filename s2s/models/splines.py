"""What B-splines of ``scipy.interpolate`` compute."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.models import sparse
from s2s.models.piecewise import along_axis, axis_of, prepared

__all__ = [
    "Spline", "basis", "interpolating_coefficients", "interval_of", "knots_of", "periodic_spline", "slope_coefficients",
    "spline_value", "summed_coefficients",
]

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
    n = len(t) - k - 1
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
    n = len(t) - k - 1
    wide = t[k + 1 : n + k] - t[1:n]
    empty = wide == 0.0
    share = np.where(empty, 0.0, k / np.where(empty, 1.0, wide))
    return np.reshape(share, (-1,) + (1,) * (np.ndim(c) - 1)) * np.diff(c[:n], axis=0)


def spline_call(self: Any, x: Any, nu: Any = 0, extrapolate: Any = None) -> Any:
    chosen = self.extrapolate if extrapolate is None else extrapolate
    t, c, k = self.t, self.c, self.k
    for _ in range(nu):
        if k == 0:
            c = np.zeros_like(c)
        else:
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
    n = len(t) - k - 1
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


def periodic_spline(x: Any, y: Any, k: Any) -> Any:
    """Knots and coefficients of the spline of odd degree through points that goes on where it began."""
    n, period = np.shape(x)[0] - 1, x[-1] - x[0]
    turns = np.arange(-k, n + k + 1) // n
    t = x[np.arange(-k, n + k + 1) % n] + turns * period
    at = interval_of(t, k, n + k, x[:-1])
    rows, columns = places_of_basis(at, k)
    found = sparse.solution_like(
        np.concatenate(basis(t, k, x[:-1], at)), rows, columns % n, np.reshape(y[:-1], (n, -1)))
    whole = found[np.arange(n + k) % n]
    return t, np.reshape(whole, (n + k, *np.shape(y)[1:]))


ENDS = "it has a rule without bc_type=; use CubicSpline, which has one for it"


def make_interp_spline(
    x: Any, y: Any, k: Any = 3, t: Any = None, bc_type: Any = None, axis: Any = 0, check_finite: Any = True
) -> Any:
    is_periodic = isinstance(bc_type, str) and bc_type == "periodic" and t is None
    if is_periodic and k > 1 and k % 2 == 1:
        places, values = prepared(x, y, axis)
        knots, c = periodic_spline(places, values, k)
        return Spline(knots, c, k, "periodic", axis_of(y, axis))
    if bc_type is not None and bc_type != "not-a-knot" and not (is_periodic and k == 1):  # a polygon ends at its ends
        return rt.no_derivative("scipy.interpolate.make_interp_spline", ENDS)
    places, values = prepared(x, y, axis)
    knots = knots_of(places, k) if t is None else np.asarray(t)
    return Spline(knots, interpolating_coefficients(places, values, k, knots), k, True, axis_of(y, axis))
