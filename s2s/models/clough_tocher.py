"""The piecewise cubic surface through scattered points of ``CloughTocher2DInterpolator`` and ``griddata``.

Each triangle is cut into three at its centre, and each part has a cubic polynomial, by its coefficients of Bernstein.
The slopes at the points make the sum of squared second derivatives along all edges least; across an edge the slope in
the direction of the centres of the two triangles beside it is linear, so that both sides have the same (P. Alfeld, "A
trivariate Clough-Tocher scheme for tetrahedral data", 1984).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.interpolate import CloughTocher2DInterpolator
from scipy.spatial import Delaunay

from s2s import runtime as rt
from s2s.models.solutions import for_value
from s2s.models.sparse import solution_like, sums_at

__all__ = ["surface", "surface_at"]


def edges_of(points: Any) -> Any:
    """The two ends of each edge between points, in both directions."""
    starts, ends = Delaunay(points).vertex_neighbor_vertices
    return np.repeat(np.arange(len(starts) - 1), np.diff(starts)), ends


def places_of_slopes(first: Any, second: Any) -> Any:
    """Where the equations of the slopes have their numbers: rows and columns, in the order of ``slopes_by_edges``."""
    rows = [2 * first + r for _ in range(2) for r in range(2) for c in range(2)]
    columns = [2 * at + c for at in (first, second) for r in range(2) for c in range(2)]
    return np.concatenate(rows), np.concatenate(columns)


def slopes_by_edges(points: Any, values: Any) -> Any:
    """The slopes at points that make the sum of squared second derivatives of cubic polynomials along edges least."""
    first, second = edges_of(points)
    edge = points[second] - points[first]
    weight = np.sum(edge**2, axis=1) ** -1.5
    rows, columns = places_of_slopes(first, second)
    data = np.concatenate([
        share * weight * edge[:, r] * edge[:, c] for share in (4.0, 2.0) for r in range(2) for c in range(2)
    ])
    rise = 6.0 * weight[:, None] * (values[second] - values[first])
    count, width = np.shape(values)
    right = [
        sums_at(np.ravel(edge[:, r, None] * rise), places_of_sums(first, width), count * width) for r in range(2)
    ]
    sides = np.stack([np.reshape(one, (count, width)) for one in right], axis=1)
    found = solution_like(data, rows, columns, np.reshape(sides, (2 * count, width)))
    return np.reshape(found, (count, 2, width))


def places_of_sums(first: Any, width: Any) -> Any:
    return np.ravel(first[:, None] * width + np.arange(width))


def slopes_found(points: Any, values: Any, tol: Any, maxiter: Any) -> Any:
    """The slopes that SciPy finds, which iterates to a tolerance."""
    return np.swapaxes(CloughTocher2DInterpolator(points, values, tol=tol, maxiter=maxiter).grad, 1, 2)


def parts_of(points: Any, xi: Any) -> Any:
    """For each place: the corners of its triangle, the one that is opposite of its part last; the corners of the
    triangles across the edges that are opposite of these corners, and which edges are at the border; and what lies
    outside."""
    mesh = Delaunay(points)
    found = mesh.find_simplex(xi)
    corners, across = mesh.simplices[found], mesh.neighbors[found]
    shares = np.linalg.solve(
        np.concatenate([np.swapaxes(points[corners], -1, -2), np.ones((len(found), 1, 3))], axis=1),
        np.concatenate([xi, np.ones((len(found), 1))], axis=1)[..., None])[..., 0]
    order = (np.argmin(shares, axis=1)[:, None] + np.array([1, 2, 3])) % 3
    corners, across = np.take_along_axis(corners, order, 1), np.take_along_axis(across, order, 1)
    return corners, mesh.simplices[across], across < 0, found < 0


def shares_of(corners: Any, at: Any) -> Any:
    """The barycentric coordinates of places, in triangles that are given by the places of their corners."""
    one, two, away = corners[:, 0] - corners[:, 2], corners[:, 1] - corners[:, 2], at - corners[:, 2]
    area = one[:, 0] * two[:, 1] - one[:, 1] * two[:, 0]
    first = (away[:, 0] * two[:, 1] - away[:, 1] * two[:, 0]) / area
    second = (one[:, 0] * away[:, 1] - one[:, 1] * away[:, 0]) / area
    return [first, second, 1.0 - first - second]


def surface_at(points: Any, values: Any, slopes: Any, xi: Any, fill_value: Any) -> Any:
    """The surface at places, by the values and slopes at the points."""
    corners, others, at_border, outside = parts_of(points, xi)
    where, f, slope = points[corners], values[corners], slopes[corners]
    b = shares_of(where, xi)

    def along(i: Any, j: Any) -> Any:
        """The coefficient next to corner i on the edge to corner j."""
        return f[:, i] + np.sum((where[:, j] - where[:, i])[:, :, None] * slope[:, i], axis=1) / 3.0

    edge = {(i, j): along(i, j) for i in range(3) for j in range(3) if i != j}
    inner = [(f[:, i] + edge[i, (i + 1) % 3] + edge[i, (i + 2) % 3]) / 3.0 for i in range(3)]
    middle = []
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        y = shares_of(where, np.mean(points[others[:, k]], axis=1))
        towards = np.where(at_border[:, k], 0.5, (y[i] - y[k]) / np.where(at_border[:, k], 1.0, 1.0 - 3.0 * y[k]))
        a = towards[:, None]
        first = a * f[:, i] + (1.0 - a) * edge[i, j] - inner[i]
        last = a * edge[j, i] + (1.0 - a) * f[:, j] - inner[j]
        middle.append(a * edge[i, j] + (1.0 - a) * edge[j, i] - 0.5 * (first + last))
    near = [(inner[i] + middle[(i + 1) % 3] + middle[(i + 2) % 3]) / 3.0 for i in range(3)]
    s, t, u = (b[0] - b[2])[:, None], (b[1] - b[2])[:, None], 3.0 * b[2][:, None]
    value = (
        s**3 * f[:, 0] + 3.0 * s * s * t * edge[0, 1] + 3.0 * s * t * t * edge[1, 0] + t**3 * f[:, 1]
        + 3.0 * u * (s * s * inner[0] + 2.0 * s * t * middle[2] + t * t * inner[1])
        + 3.0 * u * u * (s * near[0] + t * near[1]) + u**3 * (near[0] + near[1] + near[2]) / 3.0
    )
    return np.where(outside[:, None], fill_value, value)


def surface(points: Any, values: Any, xi: Any, fill_value: Any, tol: Any = 1e-6, maxiter: Any = 400) -> Any:
    """The surface through values at points, which may be arrays, at places of any shape."""
    if np.iscomplexobj(values):
        return rt.no_derivative("scipy.interpolate.CloughTocher2DInterpolator", "it has a rule for real values")
    columns = np.reshape(values, (np.shape(values)[0], -1))
    slopes = slopes_by_edges(points, columns)
    slopes = slopes + (for_value(slopes_found, points, columns, tol, maxiter) - for_value(np.copy, slopes))
    found = surface_at(points, columns, slopes, np.reshape(xi, (-1, 2)), fill_value)
    return np.reshape(found, (*np.shape(xi)[:-1], *np.shape(values)[1:]))
