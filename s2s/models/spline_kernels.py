"""The compiled functions behind the splines of ``scipy.interpolate``, those of FITPACK too, in NumPy.

The parameters are those of SciPy: ``t`` are knots, ``c`` coefficients, ``k`` degrees, ``nu`` orders of derivatives.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.interpolate import _bsplines

from s2s import runtime as rt
from s2s.models.solutions import for_value, underived
from s2s.models.splines import (
    basis,
    interpolating_coefficients,
    interval_of,
    knots_of,
    slope_coefficients,
    spline_value,
)

__all__ = ["basis_slopes"]

# --- splines in one dimension -----------------------------------------------------------------------------------------


def evaluate_spline(t: Any, c: Any, k: Any, xp: Any, nu: Any, extrapolate: Any = True) -> Any:
    for _ in range(nu):
        if k == 0:
            return np.zeros((np.shape(xp)[0], np.shape(c)[1])) + 0.0 * spline_value(t, c, k, xp, bool(extrapolate))
        t, c, k = t[1:-1], slope_coefficients(t, c, k), k - 1
    return spline_value(t, c, k, xp, bool(extrapolate))


def basis_slopes(t: Any, k: Any, x: Any, at: Any, nu: Any) -> Any:
    """The derivatives of the k + 1 B-splines that are not zero at places in the intervals ``at``: a list of arrays."""
    if nu == 0:
        return basis(t, k, x, at)
    if nu > k:
        return [np.zeros_like(x) for _ in range(k + 1)]
    lower = basis_slopes(t, k - 1, x, at, nu - 1)
    rises = [lower[j] * (k / (t[at + j + 1] - t[at - k + j + 1])) for j in range(k)]
    return [(rises[j - 1] if j > 0 else 0.0) - (rises[j] if j < k else 0.0) for j in range(k + 1)]


def evaluate_all_bspl(t: Any, k: Any, xval: Any, m: Any, nu: Any = 0) -> Any:
    places = np.reshape(np.asarray(xval), (1,))
    return np.concatenate(basis_slopes(t, k, places, np.full(1, m), nu))


def coloc(x: Any, t: Any, k: Any, ab: Any, offset: Any = 0) -> None:
    """Store the matrix of the values of all B-splines at all places, in the bands of LAPACK, transposed."""
    at = interval_of(t, k, len(t) - k - 1, x)
    for j, value in enumerate(basis(t, k, x, at)):
        column = at - k + j
        ab[column, 2 * k + np.arange(np.shape(x)[0]) + offset - column] = value


def collocation(x: Any, t: Any, k: Any) -> Any:
    """The values of all B-splines at all places, as a matrix."""
    count = len(t) - k - 1
    at = interval_of(t, k, count, x)
    matrix = np.zeros((np.shape(x)[0], count))
    for j, value in enumerate(basis(t, k, x, at)):
        matrix[np.arange(np.shape(x)[0]), at - k + j] = value
    return matrix


def norm_eq_lsq(x: Any, t: Any, k: Any, y: Any, w: Any, ab: Any, rhs: Any) -> None:
    """Store the normal equations of a fit: one triangle of the matrix by diagonals, transposed, and the right sides."""
    matrix = collocation(x, t, k) * w[:, None]
    normal = matrix.T @ matrix
    count = len(t) - k - 1
    for j in range(k + 1):
        ab[: count - j, j] = np.diagonal(normal, -j)
    rhs[...] = matrix.T @ (y * w[:, None])


def lsq_solve_qr(x: Any, y: Any, t: Any, k: Any, w: Any, periodic: Any = False) -> Any:
    """The factors of the equations of a fit, of which no derivative is known, its coefficients, the sum of the squares
    that are left over, and these."""
    if periodic:
        return rt.no_derivative("a periodic spline that is fitted", "it has a rule for periodic=False")
    a, y_w, *_ = for_value(_bsplines._lsq_solve_qr, x, y, t, k, w)
    matrix = collocation(x, t, k)
    weighted = matrix * w[:, None]
    c = np.linalg.solve(weighted.T @ weighted, weighted.T @ (y * w[:, None]))
    residuals = np.sum(((matrix @ c - y) * w[:, None]) ** 2, axis=1)
    moved = np.sum(x) + np.sum(y) + np.sum(t) + np.sum(w)
    return underived(a, moved), underived(y_w, moved), c, np.sum(residuals), residuals


# --- tensor products --------------------------------------------------------------------------------------------------


def places_in(t: Any, k: Any, x: Any, nu: Any) -> Any:
    """The first of the B-splines that are not zero at places, and their derivatives."""
    at = interval_of(t, k, len(t) - k - 1, x)
    return at - k, basis_slopes(t, k, x, at, nu)


def evaluate_ndbspline(
    xi: Any, t: Any, len_t: Any, k: Any, nu: Any, extrapolate: Any, c1r: Any, num_c_tr: Any, strides_c1: Any,
    indices_k1d: Any,
) -> Any:
    """A spline in several dimensions, of each of ``num_c_tr`` sets of coefficients."""
    count, dimensions = np.shape(xi)
    first: Any = np.zeros(count, np.int64)
    weights: Any = [np.ones(count)]
    steps: Any = [0]
    inside: Any = np.full(count, True)
    for d in range(dimensions):
        x, knots, degree = xi[:, d], t[d, : len_t[d]], int(k[d])
        start, values = places_in(knots, degree, x, int(nu[d]))
        first = first + start * int(strides_c1[d])
        weights = [w * v for w in weights for v in values]
        steps = [s + j * int(strides_c1[d]) for s in steps for j in range(degree + 1)]
        inside = inside & (x >= knots[degree]) & (x <= knots[len(knots) - degree - 1])
    coefficients = np.reshape(c1r, (-1, num_c_tr))
    total: Any = 0.0
    for weight, step in zip(weights, steps):
        total = total + weight[:, None] * coefficients[(first + step) // num_c_tr]
    return total if extrapolate else np.where(inside[:, None], total, np.nan)


def clipped(t: Any, k: Any, x: Any) -> Any:
    """Places, those outside of the knots moved to the ends as FITPACK does."""
    return np.clip(x, t[k], t[len(t) - k - 1])


def surface(tx: Any, ty: Any, c: Any, kx: Any, ky: Any, nux: Any, nuy: Any, x: Any, y: Any) -> Any:
    """A surface at places in pairs."""
    rows, by_x = places_in(tx, kx, clipped(tx, kx, x), nux)
    columns, by_y = places_in(ty, ky, clipped(ty, ky, y), nuy)
    wide = len(ty) - ky - 1
    total: Any = 0.0
    for i, along_x in enumerate(by_x):
        for j, along_y in enumerate(by_y):
            total = total + along_x * along_y * c[(rows + i) * wide + columns + j]
    return total


def parder(tx: Any, ty: Any, c: Any, kx: Any, ky: Any, nux: Any, nuy: Any, x: Any, y: Any) -> Any:
    """A derivative of a surface on a grid."""
    shape = np.shape(x)[0], np.shape(y)[0]
    xs = np.ravel(np.broadcast_to(np.asarray(x)[:, None], shape))
    ys = np.ravel(np.broadcast_to(np.asarray(y)[None, :], shape))
    return np.reshape(surface(tx, ty, c, kx, ky, nux, nuy, xs, ys), shape), 0


def bispev(tx: Any, ty: Any, c: Any, kx: Any, ky: Any, x: Any, y: Any) -> Any:
    return parder(tx, ty, c, kx, ky, 0, 0, x, y)


def pardeu(tx: Any, ty: Any, c: Any, kx: Any, ky: Any, nux: Any, nuy: Any, x: Any, y: Any) -> Any:
    """A derivative of a surface at places in pairs."""
    return surface(tx, ty, c, kx, ky, nux, nuy, np.asarray(x), np.asarray(y)), 0


def bispeu(tx: Any, ty: Any, c: Any, kx: Any, ky: Any, x: Any, y: Any) -> Any:
    return pardeu(tx, ty, c, kx, ky, 0, 0, x, y)


GRID = "give s=0 and no bbox, or use RegularGridInterpolator"


def regrid_smth(
    x: Any, y: Any, z: Any, xb: Any = None, xe: Any = None, yb: Any = None, ye: Any = None, kx: Any = 3, ky: Any = 3,
    s: Any = 0.0, maxit: Any = 20,
) -> Any:
    """Knots and coefficients of the surface through values on a grid."""
    is_whole = (xb is None or xb == x[0]) and (xe is None or xe == x[-1]) and (yb is None or yb == y[0])
    if s != 0 or not is_whole or not (ye is None or ye == y[-1]):
        return rt.no_derivative("a surface that FITPACK smooths, or with a bbox", GRID)
    x, y = np.asarray(x), np.asarray(y)
    tx, ty = knots_of(x, kx), knots_of(y, ky)
    by_x = interpolating_coefficients(x, np.reshape(z, (len(x), len(y))), kx, tx)
    c = interpolating_coefficients(y, by_x.T, ky, ty).T
    return len(tx), tx, len(ty), ty, np.ravel(c), 0.0, -1


# --- polynomials by pieces --------------------------------------------------------------------------------------------


def evaluate_bernstein(c: Any, x: Any, xp: Any, nu: Any, extrapolate: Any, out: Any) -> None:
    """Store the value, or a derivative, of polynomials that are sums of those of Bernstein."""
    degree = np.shape(c)[0] - 1
    at = np.clip(np.searchsorted(x, xp, side="right") - 1, 0, np.shape(c)[1] - 1)
    width = x[at + 1] - x[at]
    share = (xp - x[at]) / width
    if nu > degree:
        c, nu, degree = 0.0 * c[:1], 0, 0
    parts: Any = [c[j][at] for j in range(degree + 1)]
    for order in range(nu):
        parts = [(parts[j + 1] - parts[j]) * ((degree - order) / width)[:, None] for j in range(degree - order)]
    while len(parts) > 1:
        parts = [
            parts[j] * (1.0 - share)[:, None] + parts[j + 1] * share[:, None] for j in range(len(parts) - 1)
        ]
    outside = (xp < x[0]) | (xp > x[-1])
    out[...] = parts[0] if extrapolate else np.where(outside[:, None], np.nan, parts[0])


# --- radial functions -------------------------------------------------------------------------------------------------


def radial(kernel: Any, r: Any) -> Any:
    """A radial function of distances, of those that are not smooth in their squares."""
    if kernel == "linear":
        return -r
    if kernel == "thin_plate_spline":
        return np.where(r == 0.0, 0.0, r**2 * np.log(np.where(r == 0.0, 1.0, r)))
    if kernel == "cubic":
        return r**3
    return -(r**5)


def distances(x: Any, y: Any) -> Any:
    """The distances of points; at zero, which has no derivative, that is taken as zero."""
    squares = np.sum((x[:, None, :] - y[None, :, :]) ** 2, axis=2)
    return np.where(squares == 0.0, 0.0, np.sqrt(np.where(squares == 0.0, 1.0, squares)))


def kernel_of(kernel: Any, x: Any, y: Any, epsilon: Any) -> Any:
    """A radial function of all pairs of points. Those that are smooth are so in the squares of distances."""
    if kernel not in ("multiquadric", "inverse_multiquadric", "inverse_quadratic", "gaussian"):
        return radial(kernel, distances(x * epsilon, y * epsilon))
    squares = np.sum((x[:, None, :] - y[None, :, :]) ** 2, axis=2) * epsilon**2
    if kernel == "gaussian":
        return np.exp(-squares)
    if kernel == "inverse_quadratic":
        return 1.0 / (squares + 1.0)
    return -np.sqrt(squares + 1.0) if kernel == "multiquadric" else 1.0 / np.sqrt(squares + 1.0)


def polynomial_matrix(x: Any, powers: Any) -> Any:
    """Products of powers of the coordinates of points."""
    made: Any = [np.ones(np.shape(x)[0]) for _ in range(len(powers))]
    for i in range(len(powers)):
        for d in range(np.shape(x)[1]):
            for _ in range(int(powers[i, d])):
                made[i] = made[i] * x[:, d]
    return np.stack(made, axis=1) if made else np.zeros((np.shape(x)[0], 0))


def build_system(y: Any, d: Any, smoothing: Any, kernel: Any, epsilon: Any, powers: Any) -> Any:
    """The equations for the coefficients of radial functions and monomials, and how the monomials are scaled."""
    points, monomials = np.shape(y)[0], len(powers)
    low, high = np.min(y, axis=0), np.max(y, axis=0)
    shift, scale = (high + low) / 2, (high - low) / 2
    scale = np.where(scale == 0.0, 1.0, scale)
    values = polynomial_matrix((y - shift) / scale, powers)
    kernels = kernel_of(kernel, y, y, epsilon) + np.diag(smoothing)
    upper = np.concatenate([kernels, values], axis=1)
    lower = np.concatenate([values.T, np.zeros((monomials, monomials))], axis=1)
    right = np.concatenate([d, np.zeros((monomials, np.shape(d)[1]))], axis=0)
    return np.concatenate([upper, lower], axis=0) if points else lower, right, shift, scale


def build_evaluation_coefficients(
    x: Any, y: Any, kernel: Any, epsilon: Any, powers: Any, shift: Any, scale: Any
) -> Any:
    """What the coefficients are multiplied with at each place."""
    return np.concatenate(
        [kernel_of(kernel, x, y, epsilon), polynomial_matrix((x - shift) / scale, powers)], axis=1)
