"""Rules of banded and structured matrices in ``scipy.linalg``."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from s2s import runtime as rt
from s2s.rules.samples import args, arr
from s2s.rules.scipy.linalg import outer
from s2s.rules.table import linear, model, refuse, vjp, zero

# --- banded matrices ------------------------------------------------------------------------------------------------


def transposed_band(ab: Any, low: int, up: int) -> Any:
    """The diagonals of the transpose of a banded matrix, as ``solve_banded`` takes them."""
    made, n = np.zeros_like(ab), np.shape(ab)[1]
    for offset in range(-low, up + 1):  # the diagonal a[i, i + offset] lies in row up - offset, by columns
        length = n - abs(offset)
        start = max(offset, 0)
        made[low + offset, max(-offset, 0) : max(-offset, 0) + length] = ab[up - offset, start : start + length]
    return made


def band_of_outer(a: Any, b: Any, low: int, up: int) -> Any:
    """The diagonals of the matrix a b^T, as ``solve_banded`` takes them."""
    a, b = np.reshape(a, (len(a), -1)), np.reshape(b, (len(b), -1))
    n = len(a)
    made = np.zeros((low + up + 1, n), dtype=np.result_type(a, b))
    for offset in range(-low, up + 1):
        i, j = max(-offset, 0), max(offset, 0)
        length = n - abs(offset)
        made[up - offset, j : j + length] = np.sum(a[i : i + length] * b[j : j + length], axis=1)
    return made


def band_times(ab: Any, x: Any, low: int, up: int) -> Any:
    """A banded matrix, by its diagonals, times a vector or columns."""
    made, n = np.zeros(np.shape(x), dtype=np.result_type(ab, x)), np.shape(ab)[1]
    column = (slice(None),) + (None,) * (np.ndim(x) - 1)
    for offset in range(-low, up + 1):
        i, j, length = max(-offset, 0), max(offset, 0), n - abs(offset)
        made[i : i + length] += ab[up - offset, j : j + length][column] * x[j : j + length]
    return made


linear(
    transposed_band, ab=lambda y_bar, low, up: transposed_band(y_bar, up, low), params="ab, low, up",
    samples=[args(arr(3, 5), 2, 0)],
)
linear(
    band_of_outer, a=lambda y_bar, a, b, low, up: rt.cast(band_times(y_bar, b, low, up), a),
    b=lambda y_bar, a, b, low, up: rt.cast(band_times(transposed_band(y_bar, low, up), a, up, low), b),
    params="a, b, low, up", samples=[args(arr(5), arr(5), 1, 2), args(arr(5, 2), arr(5, 2), 0, 1)],
)
linear(
    band_times, ab=lambda y_bar, ab, x, low, up: rt.cast(band_of_outer(y_bar, x, low, up), ab),
    x=lambda y_bar, ab, x, low, up: rt.cast(band_times(transposed_band(ab, low, up), y_bar, up, low), x),
    params="ab, x, low, up", samples=[args(arr(4, 5), arr(5), 1, 2), args(arr(2, 5), arr(5, 2), 0, 1)],
)


def solve_banded_b(y_bar: Any, l_and_u: Any, ab: Any) -> Any:
    low, up = l_and_u
    return scipy.linalg.solve_banded((up, low), transposed_band(ab, low, up), y_bar)


def solve_banded_ab(y_bar: Any, y: Any, l_and_u: Any, ab: Any) -> Any:
    return -band_of_outer(solve_banded_b(y_bar, l_and_u, ab), y, *l_and_u)


vjp(
    scipy.linalg.solve_banded, ab=solve_banded_ab, b=solve_banded_b,
    params="l_and_u, ab, b, overwrite_ab=False, overwrite_b=False, check_finite=True",
    samples=[
        args((1, 1), arr(3, 5, low=0.5), arr(5)), args((2, 1), arr(4, 5, low=0.5), arr(5, 2)),
        args((0, 1), arr(2, 4, low=0.5), arr(4)),
    ],
)


def solveh_banded_b(y_bar: Any, ab: Any, lower: Any) -> Any:
    return scipy.linalg.solveh_banded(np.conj(ab), y_bar, lower=lower)


def solveh_banded_ab(y_bar: Any, y: Any, ab: Any, lower: Any) -> Any:
    """A diagonal stands for two, but for the main one, of which the real part counts."""
    b_bar, count = solveh_banded_b(y_bar, ab, lower), len(ab) - 1
    low, up = (count, 0) if lower else (0, count)
    share = np.reshape(np.where(np.arange(count + 1) == up, 0.5, 1.0), (-1, 1))
    return rt.cast(-share * (band_of_outer(b_bar, y, low, up) + np.conj(band_of_outer(y, b_bar, low, up))), ab)


BAND = np.array([[0.0, 0.3, -0.2, 0.1], [2.0, 2.5, 3.0, 2.2]])
vjp(
    scipy.linalg.solveh_banded, ab=solveh_banded_ab, b=solveh_banded_b,
    params="ab, b, overwrite_ab=False, overwrite_b=False, lower=False, check_finite=True",
    samples=[args(BAND, arr(4)), args(BAND[::-1].copy(), arr(4, 2), lower=True), args(arr(1, 4, low=0.5), arr(4))],
)

# --- structured matrices --------------------------------------------------------------------------------------------


def corners(arrays: Any) -> list[tuple[int, int, int, int]]:
    """Where the blocks of ``block_diag`` begin and end: rows, and columns."""
    shapes = [np.shape(np.atleast_2d(array)) for array in arrays]
    rows, columns = np.cumsum([0, *[s[0] for s in shapes]]), np.cumsum([0, *[s[1] for s in shapes]])
    return [(int(rows[k]), int(rows[k + 1]), int(columns[k]), int(columns[k + 1])) for k in range(len(shapes))]


zero(corners)


def blocks_on_diagonal(g: Any, arrays: Any) -> Any:
    """The cotangents of the blocks of ``block_diag``."""
    places = corners(arrays)
    return tuple([
        rt.cast(np.reshape(g[places[k][0] : places[k][1], places[k][2] : places[k][3]], np.shape(arrays[k])), arrays[k])
        for k in range(len(arrays))
    ])


linear(
    scipy.linalg.block_diag, arrs=lambda y_bar, arrs: blocks_on_diagonal(y_bar, arrs), joint=True, params="*arrs",
    samples=[args(arr(2, 2), arr(1, 3)), args(arr(2, 2), arr(3), arr(2)), args(arr(2, 3))],
)


def sums_of_diagonals(g: Any, step: int, count: int) -> Any:
    """The sums of the diagonals 0, ``step``, 2 ``step``, ... of a matrix."""
    return np.array([np.trace(g, step * k) for k in range(count)], dtype=g.dtype)


def sums_above(g: Any, count: int) -> Any:
    """The sums of the diagonals above the main one of a matrix, and 0 for that."""
    return np.append(0.0, sums_of_diagonals(g, 1, count)[1:]).astype(g.dtype)


def toeplitz_c(y_bar: Any, c: Any, r: Any) -> Any:
    if np.ndim(y_bar) > 2:  # a matrix for each row
        return np.stack([toeplitz_c(y_bar[i], c[i], None if r is None else r[i]) for i in range(np.shape(y_bar)[0])])
    below = sums_of_diagonals(y_bar, -1, np.size(c))
    if r is None:  # the conjugate of the column is the row
        below = below + np.conj(sums_above(y_bar, np.size(c)))
    return rt.cast(np.reshape(below, np.shape(c)), c)


def toeplitz_r(y_bar: Any, r: Any) -> Any:
    if np.ndim(y_bar) > 2:
        return np.stack([toeplitz_r(y_bar[i], r[i]) for i in range(np.shape(y_bar)[0])])
    return rt.cast(np.reshape(sums_above(y_bar, np.size(r)), np.shape(r)), r)


linear(
    scipy.linalg.toeplitz, c=toeplitz_c, r=toeplitz_r, joint=True, params="c, r=None",
    samples=[
        args(arr(3)), args(arr(3), arr(4)), args(arr(4), arr(2)), args(np.ones(3), arr(3)),
        # one matrix of all elements in an older SciPy, which warns, a stack from 1.17 on
        args(arr(2, 3), arr(2, 3)),
    ],
)


@model(scipy.linalg.circulant, samples=[args(arr(3)), args(arr(4))])
def _circulant(c: Any) -> Any:
    n = np.size(c)
    return np.take(c, (np.arange(n)[:, None] - np.arange(n)) % n)


@model(scipy.linalg.hankel, samples=[args(arr(3)), args(arr(3), arr(4))])
def _hankel(c: Any, r: Any = None) -> Any:
    c = np.ravel(c)
    rest = np.zeros_like(c) if r is None else np.ravel(r)
    places = np.arange(np.size(c))[:, None] + np.arange(np.size(rest))
    return np.take(np.concatenate([c, rest[1:]]), places)


@model(scipy.linalg.fiedler, samples=[args(arr(4))])
def _fiedler(a: Any) -> Any:
    a = np.asarray(a)
    return np.abs(a[:, None] - a)


@model(scipy.linalg.leslie, samples=[args(arr(4), arr(3))])
def _leslie(f: Any, s: Any) -> Any:
    f, s = np.asarray(f), np.asarray(s)
    return np.concatenate([f[None, :], np.concatenate([np.diag(s), np.zeros((np.size(s), 1))], axis=1)], axis=0)


CIRCULANT = [args(arr(4, low=1.0, high=5.0), arr(4)), args(arr(3, low=0.5), arr(3, 2))]


@model(scipy.linalg.solve_circulant, samples=CIRCULANT)
def _solve_circulant(
    c: Any, b: Any, singular: Any = "raise", tol: Any = None, caxis: Any = -1, baxis: Any = 0, outaxis: Any = 0
) -> Any:
    """The Fourier transform makes a circulant matrix diagonal."""
    c, b = np.asarray(c), np.asarray(b)
    if np.ndim(c) != 1 or baxis != 0 or outaxis != 0 or singular != "raise":
        return rt.no_derivative("scipy.linalg.solve_circulant", "it has a rule for one matrix and columns")
    spectrum = np.fft.fft(c)
    if np.ndim(b) > 1:
        spectrum = np.reshape(spectrum, (-1,) + (1,) * (np.ndim(b) - 1))
    found = np.fft.ifft(np.fft.fft(b, axis=0) / spectrum, axis=0)
    return found if np.iscomplexobj(c) or np.iscomplexobj(b) else np.real(found)


@model(scipy.linalg.matmul_toeplitz, samples=[args((arr(3), arr(4)), arr(4)), args(arr(3), arr(3, 2))])
def _matmul_toeplitz(c_or_cr: Any, x: Any, check_finite: Any = False, workers: Any = None) -> Any:
    c, r = toeplitz_parts(c_or_cr)
    return scipy.linalg.toeplitz(c, r) @ np.asarray(x)


@model(scipy.linalg.khatri_rao, samples=[args(arr(2, 3), arr(4, 3))])
def _khatri_rao(a: Any, b: Any) -> Any:
    return np.reshape(a[:, None, :] * b[None, :, :], (-1, np.shape(b)[1]))


def toeplitz_parts(c_or_cr: Any) -> tuple[Any, Any]:
    """The first column and the first row of the matrix of ``solve_toeplitz``."""
    c, r = c_or_cr if isinstance(c_or_cr, tuple) else (c_or_cr, np.conj(c_or_cr))
    return np.ravel(c), np.ravel(r)


def solve_toeplitz_b(y_bar: Any, c_or_cr: Any) -> Any:
    c, r = toeplitz_parts(c_or_cr)
    return scipy.linalg.solve_toeplitz((np.concatenate([c[:1], r[1:]]), c), y_bar)


def solve_toeplitz_c(y_bar: Any, y: Any, c_or_cr: Any) -> Any:
    matrix_bar = -outer(solve_toeplitz_b(y_bar, c_or_cr), y)
    if isinstance(c_or_cr, tuple):
        return (toeplitz_c(matrix_bar, *c_or_cr), toeplitz_r(matrix_bar, c_or_cr[1]))
    return toeplitz_c(matrix_bar, c_or_cr, None)


vjp(
    scipy.linalg.solve_toeplitz, c_or_cr=solve_toeplitz_c, b=solve_toeplitz_b, params="c_or_cr, b, check_finite=True",
    samples=[args((arr(3, low=1.5), arr(3)), arr(3)), args(arr(3, low=1.0), arr(3, 2))],
)

for _name in (
    "qz", "ordqz", "rsf2csf", "cdf2rdf", "cossin", "subspace_angles",
    "matrix_balance", "qr_multiply", "qr_insert", "qr_delete", "qr_update",
    "interpolative", "find_best_blas_type",
):
    if callable(getattr(scipy.linalg, _name, None)):
        refuse(getattr(scipy.linalg, _name), "it has no rule; use eigh, svd, qr or a function of SciPy that has one")
