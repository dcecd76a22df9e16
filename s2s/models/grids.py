"""What interpolators of ``scipy.interpolate`` compute between the points of grids, and between scattered points."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial import Delaunay, cKDTree

from s2s import runtime as rt
from s2s.models.clough_tocher import surface, surface_at

__all__ = ["RegularGrid", "Scattered", "griddata", "interpn"]

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


def scaled(points: Any, xi: Any, rescale: Any) -> Any:
    """Points and places, in the box of the points where they are scaled."""
    if not rescale:
        return points, xi
    low, high = np.min(points, axis=0), np.max(points, axis=0)
    middle, width = np.mean(points, axis=0), np.where(high > low, high - low, 1.0)
    return (points - middle) / width, (xi - middle) / width


def scattered_value(points: Any, values: Any, xi: Any, method: Any, fill_value: Any, *limits: Any) -> Any:
    """What an interpolator gives at places."""
    if method == "nearest":
        return values[nearest_of(points, xi)]
    if method == "cubic":
        return surface(points, values, xi, fill_value, *limits)
    return linear_between(points, values, xi, fill_value)


def griddata(
    points: Any, values: Any, xi: Any, method: Any = "linear", fill_value: Any = np.nan, rescale: Any = False
) -> Any:
    where = scattered(points)
    if np.ndim(where) < 2 or np.shape(where)[1] == 1 or (method == "cubic" and np.shape(where)[1] != 2):
        reason = "it has a rule in two dimensions or more; in one use CubicSpline or interp1d"
        return rt.no_derivative("scipy.interpolate.griddata", reason)
    places, at = scaled(where, points_of(xi), rescale)
    at = at[None] if np.ndim(at) == 1 else at  # one point, of which SciPy makes a row
    return scattered_value(places, np.asarray(values), at, method, fill_value)


class Scattered:
    """Values at scattered points; ``limits`` are those of the iterations for the slopes."""

    def __init__(
        self, points: Any, values: Any, fill_value: Any, method: Any, rescale: Any, limits: Any = ()
    ) -> None:
        self.points = points
        self.values = values
        self.fill_value = fill_value
        self.method = method
        self.rescale = rescale
        self.limits = limits

    def __call__(self, *args: Any) -> Any:
        points, xi = scaled(self.points, points_of(args[0] if len(args) == 1 else args), self.rescale)
        return scattered_value(points, self.values, xi, self.method, self.fill_value, *self.limits)


def linear_nd(points: Any, values: Any, fill_value: Any = np.nan, rescale: Any = False) -> Any:
    return Scattered(scattered(points), np.asarray(values), fill_value, "linear", rescale)


def clough_tocher(
    points: Any, values: Any, fill_value: Any = np.nan, tol: Any = 1e-6, maxiter: Any = 400, rescale: Any = False
) -> Any:
    return Scattered(scattered(points), np.asarray(values), fill_value, "cubic", rescale, (tol, maxiter))


def nearest_nd(x: Any, y: Any, rescale: Any = False, tree_options: Any = None) -> Any:
    return Scattered(scattered(x), np.asarray(y), np.nan, "nearest", rescale)


# --- interpolators that exist already ---------------------------------------------------------------------------------


def compiled_call(self: Any, *args: Any) -> Any:
    """What an interpolator that exists gives: its slopes and triangles are constants."""
    xi = points_of(args[0] if len(args) == 1 else args)
    at = xi if self.scale is None else (xi - self.offset) / self.scale
    values = np.reshape(self.values, (np.shape(self.values)[0], *self.values_shape))
    if not hasattr(self, "grad"):
        return linear_between(self.points, values, at, self.fill_value)
    if self.is_complex:
        return rt.no_derivative("scipy.interpolate.CloughTocher2DInterpolator", "it has a rule for real values")
    slopes = np.swapaxes(self.grad, 1, 2)
    found = surface_at(self.points, self.values, slopes, np.reshape(at, (-1, 2)), self.fill_value)
    return np.reshape(found, (*np.shape(at)[:-1], *self.values_shape))
