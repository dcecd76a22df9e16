"""What the splines of FITPACK compute: ``splrep``, ``splprep``, ``UnivariateSpline`` and what they are asked."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.models.smoothing import fit_with_knots, of_fitpack, of_make_splrep, smoothing_fit, values_matrix
from s2s.models.splines import (
    Spline,
    interpolating_coefficients,
    knots_of,
    periodic_spline,
    slope_coefficients,
    spline_value,
    summed_coefficients,
)

__all__ = [
    "interpolated_univariate", "make_splrep", "splantider", "splder", "splev", "splint", "splprep", "splrep",
    "univariate", "univariate_of_least_squares",
]

# --- fits -------------------------------------------------------------------------------------------------------------

PERIODIC = "a periodic one has a rule for s=0, an odd degree and no weights or knots"


def fit(finder: Any, x: Any, y: Any, w: Any, low: Any, high: Any, k: Any, s: Any, t: Any) -> Any:
    """Knots and coefficients, a column for each coordinate, of one of the fits; ``t`` are inner knots."""
    weights = np.ones(np.shape(x)) if w is None else np.asarray(w)
    start, stop = x[0] if low is None else low, x[-1] if high is None else high
    if t is not None:
        ends = np.ones(k + 1)
        knots = np.concatenate([start * ends, np.asarray(t), stop * ends])
        return knots, fit_with_knots(x, y, weights, knots, k)
    if isinstance(s, (int, float)) and s == 0:
        if low is not None or high is not None:
            return rt.no_derivative("a spline through points with ends of its own", "it has a rule without them")
        knots = knots_of(x, k)
        return knots, interpolating_coefficients(x, y, k, knots)
    return smoothing_fit(finder, x, y, weights, start, stop, k, s)


def default_smoothing(w: Any, m: Any) -> Any:
    return 0 if w is None else m - np.sqrt(2.0 * m)


def splrep(
    x: Any, y: Any, w: Any = None, xb: Any = None, xe: Any = None, k: Any = 3, task: Any = 0, s: Any = None,
    t: Any = None, full_output: Any = 0, per: Any = 0, quiet: Any = 1,
) -> Any:
    """Knots, coefficients (with the zeros that FITPACK puts after them) and the degree."""
    if full_output or task > 0:
        return rt.no_derivative("scipy.interpolate.splrep", "it has a rule without full_output and for a first call")
    places, values = np.asarray(x), np.asarray(y)
    if np.iscomplexobj(values) or np.iscomplexobj(places):
        return rt.no_derivative("scipy.interpolate.splrep", "it discards imaginary parts; take np.real first")
    chosen = default_smoothing(w, np.shape(places)[0]) if s is None else s
    if per:
        if w is not None or t is not None or k % 2 == 0 or not (isinstance(chosen, (int, float)) and chosen == 0):
            return rt.no_derivative("scipy.interpolate.splrep", PERIODIC)
        knots, c = periodic_spline(places, values, k)
    else:
        knots, c = fit(of_fitpack, places, values[:, None], w, xb, xe, k, chosen, t)
        c = c[:, 0]
    return knots, np.concatenate([c, np.zeros(k + 1)]), k


def splprep(
    x: Any, w: Any = None, u: Any = None, ub: Any = None, ue: Any = None, k: Any = 3, task: Any = 0, s: Any = None,
    t: Any = None, full_output: Any = 0, nest: Any = None, per: Any = 0, quiet: Any = 1,
) -> Any:
    """A curve: knots, coefficients of each coordinate and the degree; and the parameters, the lengths of the polygon
    where none are given."""
    if full_output or task > 0:
        return rt.no_derivative("scipy.interpolate.splprep", "it has a rule without full_output and for a first call")
    points = np.stack([np.asarray(one) for one in x], axis=1)
    m = np.shape(points)[0]
    if u is None:
        lengths = np.cumsum(np.sqrt(np.sum((points[1:] - points[:-1]) ** 2, axis=1)))
        given, ub, ue = np.concatenate([np.zeros(1), lengths / lengths[-1]]), None, None
    else:
        given = np.asarray(u)
    chosen = m - np.sqrt(2.0 * m) if s is None else s
    if per:
        if w is not None or t is not None or k % 2 == 0 or not (isinstance(chosen, (int, float)) and chosen == 0):
            return rt.no_derivative("scipy.interpolate.splprep", PERIODIC)
        knots, c = periodic_spline(given, points, k)
    else:
        knots, c = fit(of_fitpack, given, points, w, ub, ue, k, chosen, t)
    return (knots, [c[:, j] for j in range(len(x))], k), given


def make_splrep(
    x: Any, y: Any, *, w: Any = None, xb: Any = None, xe: Any = None, k: Any = 3, s: Any = 0, t: Any = None,
    nest: Any = None, bc_type: Any = None,
) -> Any:
    if bc_type is not None or nest is not None:
        return rt.no_derivative("scipy.interpolate.make_splrep", "it has a rule without bc_type= and nest=")
    places, values = np.asarray(x), np.asarray(y)
    knots, c = fit(of_make_splrep, places, values[:, None], w, xb, xe, k, s, t)
    return Spline(knots, c[:, 0], k, True, 0)


# --- what they are asked ----------------------------------------------------------------------------------------------


def splev(x: Any, tck: Any, der: Any = 0, ext: Any = 0) -> Any:
    if not isinstance(tck, (tuple, list)):
        t, c, k = tck.t, tck.c, tck.k
    else:
        t, c, k = tck
    if isinstance(c, (tuple, list)) and np.ndim(c[0]) > 0:
        return [fitpack_value(t, one, k, x, der, ext) for one in c]
    return fitpack_value(t, c, k, x, der, ext)


def fitpack_value(t: Any, c: Any, k: Any, x: Any, der: Any, ext: Any) -> Any:
    """The spline, or a derivative of it; outside of the knots as ``ext`` says."""
    t, c, x = np.asarray(t), np.asarray(c), np.asarray(x)
    if np.iscomplexobj(c) or np.iscomplexobj(x):
        return rt.no_derivative("scipy.interpolate.splev", "it discards imaginary parts; take np.real first")
    if np.ndim(c) > 1:
        return rt.no_derivative("scipy.interpolate.splev", "of a curve with several coordinates it has no rule")
    low, high = t[k], t[len(t) - k - 1]
    outside = (x < low) | (x > high)
    if ext == 3 and der == 0:  # FITPACK continues the derivatives of what it takes for constant
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
    return t, np.concatenate([c, c[-1] * np.ones(k + 1)]), k


def splint(a: Any, b: Any, tck: Any, full_output: Any = 0) -> Any:
    """The integral; the spline is zero outside of its knots."""
    t, c, k = tck
    if np.iscomplexobj(c) or np.ndim(c) != 1:
        return rt.no_derivative("scipy.interpolate.splint", "it has a rule for one real spline")
    low, high = t[k], t[len(t) - k - 1]
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
    """A spline as FITPACK gives it; ``data`` are the places, values and weights that it was fitted to."""

    def __init__(self, t: Any, c: Any, k: Any, ext: Any, data: Any = None) -> None:
        self._eval_args = (t, c, k)
        self.ext = ext
        self.data = data

    def __call__(self, x: Any, nu: Any = 0, ext: Any = None) -> Any:
        t, c, k = self._eval_args
        return fitpack_value(t, c, k, x, nu, code_of(self.ext if ext is None else ext))

    def integral(self, a: Any, b: Any) -> Any:
        return splint(a, b, self._eval_args)

    def derivative(self, n: Any = 1) -> Any:
        t, c, k = splder(self._eval_args, n)
        return Univariate(t, c, k, self.ext)

    def antiderivative(self, n: Any = 1) -> Any:
        t, c, k = splantider(self._eval_args, n)
        return Univariate(t, c, k, self.ext)

    def derivatives(self, x: Any) -> Any:
        return np.stack([self(x, nu) for nu in range(self._eval_args[2] + 1)])

    def get_knots(self) -> Any:
        t, _, k = self._eval_args
        return t[k : len(t) - k]

    def get_coeffs(self) -> Any:
        t, c, k = self._eval_args
        return c[: len(t) - k - 1]

    def get_residual(self) -> Any:
        (x, y, w), (t, c, k) = self.data, self._eval_args
        wrong = values_matrix(t, k, x) @ c[: len(t) - k - 1] - y
        return np.sum((wrong if w is None else np.asarray(w) * wrong) ** 2)


def check_increasing(x: Any, is_strict: bool) -> None:
    """Raise ValueError for places that do not increase."""
    steps = np.diff(x)
    if not np.all(steps > 0 if is_strict else steps >= 0):
        raise ValueError("x must be strictly increasing if s = 0" if is_strict else "x must be increasing if s > 0")


def fitted(x: Any, y: Any, w: Any, bbox: Any, k: Any, s: Any, t: Any, ext: Any) -> Any:
    places, values = np.asarray(x), np.asarray(y)
    check_increasing(places, s == 0 and t is None)
    low, high = (None, None) if bbox is None else bbox
    knots, c = fit(of_fitpack, places, values[:, None], w, low, high, k, s, t)
    return Univariate(knots, np.concatenate([c[:, 0], np.zeros(k + 1)]), k, ext, (places, values, w))


def interpolated_univariate(
    x: Any, y: Any, w: Any = None, bbox: Any = None, k: Any = 3, ext: Any = 0, check_finite: Any = False
) -> Any:
    return fitted(x, y, w, bbox, k, 0, None, ext)


def univariate(
    x: Any, y: Any, w: Any = None, bbox: Any = None, k: Any = 3, s: Any = None, ext: Any = 0, check_finite: Any = False
) -> Any:
    return fitted(x, y, w, bbox, k, np.shape(x)[0] if s is None else s, None, ext)


def univariate_of_least_squares(
    x: Any, y: Any, t: Any, w: Any = None, bbox: Any = None, k: Any = 3, ext: Any = 0, check_finite: Any = False
) -> Any:
    return fitted(x, y, w, bbox, k, 0, t, ext)
