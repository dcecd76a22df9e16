"""What ``scipy.interpolate.interp1d`` and its polynomials through points compute.

Each is a function of the places, of the values and of where it is asked, and all of these may be differentiated. Which
piece a point lies in is piecewise constant.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.models.piecewise import along_axis, axis_of, prepared
from s2s.models.splines import interpolating_coefficients, knots_of, spline_value

__all__ = ["OneDimensional", "Polynomial", "interp1d"]

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
    if isinstance(outside, str) and kind in ("previous", "next"):
        outside = (np.nan, values[-1]) if kind == "previous" else (values[0], np.nan)
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
