"""Rules of ``scipy.interpolate``: piecewise polynomials by the place, cubic splines by their values."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import interpolate

from s2s import runtime as rt
from s2s.models import interpolate as models
from s2s.rules.table import args, arr, linear, model, refuse, zero


def values_bar(y_bar: Any, x: Any, y: Any, bc_type: Any) -> Any:
    """The transpose, by the splines through the unit vectors."""
    units = models.spline_coefficients(x, np.eye(len(x)), bc_type)
    return rt.cast(np.tensordot(units, y_bar, ([0, 1], [0, 1])), y)


def _places(x: Any) -> Any:
    return rt.no_derivative("a cubic spline by the places of its values", "it has a rule for the values only")


GRID = np.array([0.0, 0.4, 1.0, 1.3, 2.0])
linear(
    models.spline_coefficients, y=values_bar, x=_places, params="x, y, bc_type",
    samples=[args(GRID, arr(5), "not-a-knot"), args(GRID, arr(5, 2), "natural"), args(GRID, arr(5), "clamped")],
)
model(interpolate.PPoly.__call__)(models.call)
model(interpolate.CubicSpline)(models.cubic_spline)
zero(models.piece_of, models.powers, models.factors)
HINT = "it has no rule; use interp1d, CubicSpline or np.interp"
for _name in (
    "griddata", "interpn", "RegularGridInterpolator", "LinearNDInterpolator", "NearestNDInterpolator",
    "CloughTocher2DInterpolator", "RBFInterpolator", "Rbf",
    "FloaterHormannInterpolator", "AAA", "UnivariateSpline", "InterpolatedUnivariateSpline", "LSQUnivariateSpline",
    "SmoothBivariateSpline", "RectBivariateSpline", "LSQBivariateSpline", "make_interp_spline", "make_lsq_spline",
    "make_smoothing_spline", "make_splrep", "make_splprep", "splrep", "splprep", "splev", "splint", "sproot",
    "spalde", "bisplrep", "bisplev", "insert", "splder", "splantider", "pade", "PchipInterpolator",
    "Akima1DInterpolator", "BSpline",
    "NdBSpline", "NdPPoly",
):
    if hasattr(interpolate, _name):
        refuse(getattr(interpolate, _name), HINT)
