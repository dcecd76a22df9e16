"""Rules of ``scipy.interpolate``: which model stands for which interpolator. Where the pieces are is constant."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import interpolate
from scipy.interpolate import _fitpack2

from s2s import runtime as rt
from s2s.models import clough_tocher, fitpack, grids, piecewise, smoothing, spline_kernels, splines
from s2s.models import interpolate as models
from s2s.rules.samples import args, arr
from s2s.rules.table import jvp, kind_by_value, model, refuse, requires, vjp, zero

zero(
    piecewise.piece_of, piecewise.powers, piecewise.factors, piecewise.check_count, piecewise.check_places,
    fitpack.check_increasing, splines.interval_of,
    splines.places_of_basis, models.left_neighbour, models.neighbour, models.check_bounds, models.order_of,
    grids.cell_of, grids.check_inside, grids.corners_of, grids.nearest_of, clough_tocher.edges_of,
    clough_tocher.places_of_slopes, clough_tocher.places_of_sums, clough_tocher.parts_of, clough_tocher.slopes_found,
    smoothing.spread_places, smoothing.inner_places, smoothing.jump_places, smoothing.share_of, smoothing.found_fit,
)
kind_by_value(grids.corners_of, grids.nearest_of, clough_tocher.edges_of, clough_tocher.parts_of, smoothing.found_fit)

# --- classes: what they make, and what objects that exist already give ------------------------------------------------

for _class, _body in (
    (interpolate.PPoly, piecewise.ppoly), (interpolate.CubicSpline, piecewise.cubic_spline),
    (interpolate.CubicHermiteSpline, piecewise.cubic_hermite_spline), (interpolate.PchipInterpolator, piecewise.pchip),
    (interpolate.Akima1DInterpolator, piecewise.akima), (interpolate.BSpline, splines.bspline),
    (interpolate.InterpolatedUnivariateSpline, fitpack.interpolated_univariate),
    (interpolate.UnivariateSpline, fitpack.univariate),
    (interpolate.LSQUnivariateSpline, fitpack.univariate_of_least_squares), (interpolate.interp1d, models.interp1d),
    (interpolate.BarycentricInterpolator, models.barycentric), (interpolate.LinearNDInterpolator, grids.linear_nd),
    (interpolate.NearestNDInterpolator, grids.nearest_nd),
    (interpolate.CloughTocher2DInterpolator, grids.clough_tocher),
    (interpolate.RegularGridInterpolator, grids.regular_grid),
):
    model(_class)(_body)  # type: ignore[arg-type]
for _method, _of_method in (
    (interpolate.PPoly.__call__, piecewise.call),
    (interpolate.BarycentricInterpolator._evaluate, models.barycentric_evaluate),
    (interpolate.RegularGridInterpolator.__call__, grids.grid_call),
    (interpolate.CloughTocher2DInterpolator.__call__, grids.compiled_call),
):
    model(_method)(_of_method)  # type: ignore[arg-type]

# --- splines that exist already: the next derivative is a call of the spline ------------------------------------------


def slopes_at(self: Any, x: Any, nu: Any, extrapolate: Any) -> Any:
    if self.axis != 0:
        return rt.no_derivative("a B-spline along another axis", "a constant one has a rule for axis=0")
    return self(x, nu + 1, extrapolate)


def spline_x(y_bar: Any, self: Any, x: Any, nu: Any, extrapolate: Any) -> Any:
    slopes = y_bar * slopes_at(self, x, nu, extrapolate)
    return rt.cast(np.sum(slopes, axis=tuple(range(np.ndim(x), np.ndim(slopes)))), x)


def spline_dot(x_dot: Any, self: Any, x: Any, nu: Any, extrapolate: Any) -> Any:
    slopes = slopes_at(self, x, nu, extrapolate)
    return slopes * np.reshape(x_dot, np.shape(x_dot) + (1,) * (np.ndim(slopes) - np.ndim(x)))


def fitted_slopes(self: Any, x: Any, nu: Any, ext: Any) -> Any:
    """The next derivative of a spline of FITPACK; outside of the knots it goes on, is zero, or constant, which FITPACK
    heeds for the value only."""
    t, _, k = self._eval_args
    if nu >= k:
        return np.zeros(np.shape(x))
    chosen = self.ext if ext is None else ext
    if nu > 0 or chosen not in (3, "const"):
        return self(x, nu + 1, ext)
    return np.where((x < t[k]) | (x > t[len(t) - k - 1]), 0.0, self(x, nu + 1, ext))


def surface_slopes(self: Any, x: Any, y: Any, dx: Any, dy: Any, by_y: Any, grid: Any) -> Any:
    """The next derivative of a surface, which is constant outside of its knots."""
    at, knots, k = (y, self.tck[1], self.degrees[1]) if by_y else (x, self.tck[0], self.degrees[0])
    inside = (at >= knots[k]) & (at <= knots[len(knots) - k - 1])
    slopes = surface_at(self, x, y, dx + (not by_y), dy + by_y, grid)
    return slopes * (np.reshape(inside, (-1, 1)) if grid and not by_y else inside)


def surface_at(self: Any, x: Any, y: Any, dx: Any, dy: Any, grid: Any) -> Any:
    """A derivative of a surface. FITPACK has none whose order is the degree, which is constant in each piece."""
    if dx < self.degrees[0] and dy < self.degrees[1]:
        return self(x, y, dx=dx, dy=dy, grid=grid)
    tx, ty, c = self.tck
    kx, ky = self.degrees
    if dx > kx or dy > ky:
        return 0.0 * self(x, y, grid=grid)
    if grid:
        return spline_kernels.parder(tx, ty, c, kx, ky, dx, dy, x, y)[0]
    shape = np.broadcast_shapes(np.shape(x), np.shape(y))
    xs, ys = np.broadcast_to(x, shape), np.broadcast_to(y, shape)
    return np.reshape(spline_kernels.surface(tx, ty, c, kx, ky, dx, dy, np.ravel(xs), np.ravel(ys)), shape)


for _helper in (slopes_at, fitted_slopes, surface_slopes, surface_at):
    model(_helper)(_helper)
vjp(interpolate.BSpline.__call__, x=spline_x, params="self, x, nu=0, extrapolate=None")
jvp(interpolate.BSpline.__call__, x=spline_dot)
vjp(
    interpolate.UnivariateSpline.__call__, params="self, x, nu=0, ext=None",
    x=lambda y_bar, self, x, nu, ext: rt.cast(y_bar * fitted_slopes(self, x, nu, ext), x),
)
jvp(
    interpolate.UnivariateSpline.__call__,
    x=lambda x_dot, self, x, nu, ext: x_dot * fitted_slopes(self, x, nu, ext),
)
vjp(
    interpolate.RectBivariateSpline.ev, params="self, xi, yi, dx=0, dy=0",
    xi=lambda y_bar, self, xi, yi, dx, dy: rt.unbroadcast(
        y_bar * surface_slopes(self, xi, yi, dx, dy, False, False), xi),
    yi=lambda y_bar, self, xi, yi, dx, dy: rt.unbroadcast(
        y_bar * surface_slopes(self, xi, yi, dx, dy, True, False), yi),
)
jvp(
    interpolate.RectBivariateSpline.ev,
    xi=lambda xi_dot, self, xi, yi, dx, dy: xi_dot * surface_slopes(self, xi, yi, dx, dy, False, False),
    yi=lambda yi_dot, self, xi, yi, dx, dy: yi_dot * surface_slopes(self, xi, yi, dx, dy, True, False),
)


def surface_x(y_bar: Any, self: Any, x: Any, y: Any, dx: Any, dy: Any, grid: Any) -> Any:
    slopes = y_bar * surface_slopes(self, x, y, dx, dy, False, grid)
    return rt.cast(np.reshape(np.sum(slopes, axis=1), np.shape(x)), x) if grid else rt.unbroadcast(slopes, x)


def surface_y(y_bar: Any, self: Any, x: Any, y: Any, dx: Any, dy: Any, grid: Any) -> Any:
    slopes = y_bar * surface_slopes(self, x, y, dx, dy, True, grid)
    return rt.cast(np.reshape(np.sum(slopes, axis=0), np.shape(y)), y) if grid else rt.unbroadcast(slopes, y)


vjp(
    _fitpack2._BivariateSplineBase.__call__, x=surface_x, y=surface_y, params="self, x, y, dx=0, dy=0, grid=True",
)
jvp(
    _fitpack2._BivariateSplineBase.__call__,
    x=lambda x_dot, self, x, y, dx, dy, grid: (
        np.reshape(x_dot, (-1, 1)) if grid else x_dot) * surface_slopes(self, x, y, dx, dy, False, grid),
    y=lambda y_dot, self, x, y, dx, dy, grid: y_dot * surface_slopes(self, x, y, dx, dy, True, grid),
)

# --- functions --------------------------------------------------------------------------------------------------------

GRID = np.array([0.0, 0.4, 1.0, 1.3, 2.0])
AT = arr(3, low=0.1, high=1.9)
KNOTS = np.array([0.0, 0.0, 0.0, 0.0, 0.7, 1.2, 2.0, 2.0, 2.0, 2.0])
TCK = (KNOTS, arr(6), 3)
PLANE = np.array([[0.0, 0.0], [2.0, 0.1], [0.1, 2.0], [2.1, 2.2], [1.1, 0.9]])
model(interpolate.make_interp_spline, always=True)(splines.make_interp_spline)
model(interpolate.splrep)(fitpack.splrep)
model(interpolate.splprep)(fitpack.splprep)
if hasattr(interpolate, "make_splrep"):
    model(interpolate.make_splrep)(fitpack.make_splrep)
OUTSIDE = arr(4, low=-1.0, high=3.0)
model(
    interpolate.splev,
    samples=[args(AT, TCK), args(AT, TCK, 1), args(OUTSIDE, TCK, ext=3), args(OUTSIDE, TCK, 1, ext=3)],
)(fitpack.splev)
model(interpolate.splder)(fitpack.splder)
model(interpolate.splantider)(fitpack.splantider)
model(interpolate.splint, samples=[args(0.2, 1.7, TCK)])(fitpack.splint)
model(interpolate.barycentric_interpolate, samples=[args(GRID, arr(5), AT), args(GRID, arr(5, 2), AT)])(
    models.barycentric_interpolate
)
model(
    interpolate.interpn,
    samples=[
        args((GRID, GRID), arr(5, 5), arr(3, 2, low=0.1, high=1.9)),
        args((GRID, GRID), arr(5, 5), arr(3, 2, low=0.1, high=1.9), "nearest"),
        args((GRID, GRID), arr(5, 5), (arr(2, low=0.1, high=1.9), arr(2, low=0.1, high=1.9))),
        args((GRID,), arr(5), arr(4, 1, low=-1.0, high=3.0), bounds_error=False, fill_value=None),
    ],
)(grids.interpn)
model(
    interpolate.griddata,
    samples=[
        args(PLANE, arr(5), arr(3, 2, low=0.5, high=1.5)), args(PLANE, arr(5, 2), arr(3, 2, low=0.5, high=1.5)),
        args(PLANE, arr(5), arr(3, 2, low=0.5, high=1.5), "nearest"),
        args(PLANE, arr(5, 2), arr(3, 2, low=0.5, high=1.5), "cubic"),
        args((PLANE[:, 0], PLANE[:, 1]), arr(5), (arr(2, low=0.5, high=1.5), arr(2, low=0.5, high=1.5)), "cubic"),
        args(PLANE, arr(5), arr(3, 2, low=0.5, high=1.5), "cubic", rescale=True),
    ],
)(grids.griddata)

DISCARDS = "it discards imaginary parts; call it for each part"


@requires(interpolate.interpn, interpolate.griddata)
def real_points(xi: Any) -> None:
    if np.iscomplexobj(np.asarray(xi)):
        rt.no_derivative("scipy.interpolate.interpn or griddata", "of the places they discard imaginary parts")


@requires(interpolate.splev)
def real_spline(x: Any, tck: Any) -> None:
    if np.iscomplexobj(x) or np.iscomplexobj(tck[1]):
        rt.no_derivative("scipy.interpolate.splev", DISCARDS)


@requires(interpolate.splint)
def real_coefficients(tck: Any) -> None:
    if np.iscomplexobj(tck[1]):
        rt.no_derivative("scipy.interpolate.splint", DISCARDS)


HINT = "it has no rule; use CubicSpline, make_interp_spline, RegularGridInterpolator or griddata"
for _name in (
    "RBFInterpolator", "Rbf", "FloaterHormannInterpolator", "AAA", "SmoothBivariateSpline",
    "RectBivariateSpline", "RectSphereBivariateSpline", "SmoothSphereBivariateSpline", "LSQBivariateSpline",
    "LSQSphereBivariateSpline", "make_lsq_spline", "make_smoothing_spline", "make_splprep", "generate_knots", "sproot",
    "spalde", "bisplrep", "bisplev", "insert", "BPoly",
    "NdBSpline", "NdPPoly",
):
    if hasattr(interpolate, _name):
        refuse(getattr(interpolate, _name), HINT)
