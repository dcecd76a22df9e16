"""Rules of ``scipy.linalg``: solvers, factorisations and their solves, functions of matrices, structured matrices.

A factorisation serves both sweeps: the reverse of ``cho_solve``, ``lu_solve`` and ``solve_triangular`` solves with the
factors that are there. Where a triangle of a symmetric matrix is read, the cotangent is the symmetric one. Formulas:
M. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic differentiation" (2008), unless
another source stands beside the rule; cotangents of complex matrices follow JAX's convention.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from s2s import runtime as rt
from s2s.core.functions import Result
from s2s.rules.functions import describe
from s2s.rules.numpy import linalg as numpy_rules
from s2s.rules.numpy.linalg import check_real, lstsq_bars
from s2s.rules.table import alias, args, arr, jvp, kind_by_value, linear, model, refuse, takes, vjp, zero


def transposed_matrix(a: Any) -> Any:
    """The transpose, also of a stack of matrices."""
    return np.swapaxes(a, -1, -2)


def outer(a: Any, b: Any) -> Any:
    """a b^T, of vectors or of matrices of columns."""
    return np.outer(a, b) if np.ndim(a) == 1 else a @ transposed_matrix(b)


def symmetric(a: Any) -> Any:
    """The Hermitian part of a cotangent: what it says of symmetric changes."""
    return 0.5 * (a + np.conj(transposed_matrix(a)))


def check_matrix(a: Any, name: str) -> None:
    """Raise NoDerivativeError for a stack of matrices."""
    if np.ndim(a) > 2:
        rt.no_derivative(name, "of a stack of matrices it has no rule; call it for one at a time")


# --- solving --------------------------------------------------------------------------------------------------------


HERMITIAN = ("pos", "positive definite", "her", "hermitian")
SYMMETRIC = ("sym", "symmetric")
TRIANGULAR = ("lower triangular", "upper triangular")


def solve_b(y_bar: Any, a: Any, b: Any, lower: Any, assume_a: Any, transposed: Any) -> Any:
    if np.ndim(b) == 1 and np.ndim(a) > 2:  # the same vector for all matrices
        return rt.unbroadcast(solve_b(y_bar[..., None], a, y_bar[..., None], lower, assume_a, transposed)[..., 0], b)
    if assume_a in HERMITIAN or assume_a in SYMMETRIC:
        same = np.conj(a) if assume_a in HERMITIAN else a
        return rt.unbroadcast(scipy.linalg.solve(same, y_bar, lower=lower, assume_a=assume_a), b)
    if assume_a in TRIANGULAR or assume_a in ("diagonal", "tridiagonal"):
        return rt.unbroadcast(scipy.linalg.solve(a, y_bar, assume_a=assume_a, transposed=not transposed), b)
    return rt.unbroadcast(scipy.linalg.solve(a if transposed else transposed_matrix(a), y_bar), b)


def structured(a_bar: Any, assume_a: Any) -> Any:
    """The part of a cotangent that belongs to what is read of a matrix."""
    if assume_a in HERMITIAN:
        return symmetric(a_bar)
    if assume_a in SYMMETRIC:
        return 0.5 * (a_bar + transposed_matrix(a_bar))
    if assume_a == "lower triangular":
        return np.tril(a_bar)
    if assume_a == "upper triangular":
        return np.triu(a_bar)
    if assume_a == "diagonal":
        return np.tril(np.triu(a_bar))
    if assume_a == "tridiagonal":
        return np.tril(np.triu(a_bar, -1), 1)
    return a_bar


def solve_a(y_bar: Any, y: Any, a: Any, b: Any, lower: Any, assume_a: Any, transposed: Any) -> Any:
    if np.ndim(b) == 1 and np.ndim(a) > 2:
        y_bar, y = y_bar[..., None], y[..., None]
    b_bar = solve_b(y_bar, a, y, lower, assume_a, transposed)
    a_bar = -(outer(y, b_bar) if transposed else outer(b_bar, y))
    return rt.unbroadcast(structured(a_bar, assume_a), a)


SOLVES = [args(arr(3, 3), arr(3)), args(arr(3, 3), arr(3, 2)), args(arr(3, 3, complex=True), arr(3, complex=True))]
STACKS_TO_SOLVE = [
    args(arr(2, 3, 3), arr(2, 3, 2)), args(arr(2, 3, 3), arr(3)), args(arr(3, 3), arr(2, 3, 1), transposed=True),
]
ONE_OF_A_STACK = np.ones((1, 1, 1)), np.ones((1, 1, 1))
vjp(
    scipy.linalg.solve, a=solve_a, b=solve_b,
    params=(
        "a, b, lower=False, overwrite_a=False, overwrite_b=False, check_finite=True, assume_a=None, transposed=False"
    ),
    samples=[
        *SOLVES, args(arr(3, 3), arr(3), transposed=True), args(arr(3, 3, positive=True), arr(3), assume_a="pos"),
        args(arr(3, 3, positive=True), arr(3, 2), lower=True, assume_a="sym"),
        args(arr(3, 3, positive=True, complex=True), arr(3, complex=True), assume_a="her"),
        args(arr(3, 3, low=0.5), arr(3), assume_a="upper triangular"),
        args(arr(3, 3, low=0.5), arr(3, 2), assume_a="lower triangular", transposed=True),
        args(arr(3, 3, low=0.5), arr(3), assume_a="diagonal"), args(arr(4, 4), arr(4), assume_a="tridiagonal"),
        args(np.diag([2.0, 1.0, 3.0]) + np.eye(3, k=1), arr(3), assume_a="banded"),
        *(STACKS_TO_SOLVE if takes(scipy.linalg.solve, *ONE_OF_A_STACK) else []),  # from SciPy 1.16 on
    ],
)


@jvp(scipy.linalg.solve)
def _solve_dot(y: Any, a: Any, a_dot: Any, b: Any, b_dot: Any, lower: Any, assume_a: Any, transposed: Any) -> Any:
    change = b_dot
    if np.ndim(a_dot):
        a_dot = structured(a_dot, assume_a)
        a_dot = transposed_matrix(a_dot) if transposed else a_dot
        if np.ndim(b) == 1 and np.ndim(a) > 2:
            y = y[..., None]
        moved = a_dot @ y
        if np.ndim(b) == 1 and np.ndim(a) > 2:  # a vector is the same for all matrices, its change is not
            change = np.zeros_like(moved) + (b_dot[:, None] if np.ndim(b_dot) else 0.0) - moved
            return scipy.linalg.solve(a, change, lower=lower, assume_a=assume_a, transposed=transposed)[..., 0]
        change = change - moved
    return scipy.linalg.solve(a, change, lower=lower, assume_a=assume_a, transposed=transposed)


def solve_triangular_b(y_bar: Any, a: Any, b: Any, trans: Any, lower: Any, unit_diagonal: Any) -> Any:
    if trans == 0 or trans == "N":
        return scipy.linalg.solve_triangular(a, y_bar, trans=1, lower=lower, unit_diagonal=unit_diagonal)
    if trans == 1 or trans == "T":
        return scipy.linalg.solve_triangular(a, y_bar, lower=lower, unit_diagonal=unit_diagonal)
    return scipy.linalg.solve_triangular(np.conj(a), y_bar, lower=lower, unit_diagonal=unit_diagonal)


def solve_triangular_a(y_bar: Any, y: Any, a: Any, b: Any, trans: Any, lower: Any, unit_diagonal: Any) -> Any:
    if np.ndim(a) > 2 and np.ndim(b) < np.ndim(a):
        return rt.no_derivative("scipy.linalg.solve_triangular", STACKED)
    b_bar = solve_triangular_b(y_bar, a, b, trans, lower, unit_diagonal)
    a_bar = -outer(b_bar, y) if trans == 0 or trans == "N" else -outer(y, b_bar)
    if trans == 2 or trans == "C":
        a_bar = np.conj(a_bar)
    if lower:
        return np.tril(a_bar, -1 if unit_diagonal else 0)
    return np.triu(a_bar, 1 if unit_diagonal else 0)


STACKED = "of stacks it has a rule where both have the same length; give b with as many axes as a"


DIAGONAL = arr(3, 3, low=0.5)
vjp(
    scipy.linalg.solve_triangular, a=solve_triangular_a, b=solve_triangular_b,
    params="a, b, trans=0, lower=False, unit_diagonal=False, overwrite_b=False, check_finite=True",
    samples=[
        args(DIAGONAL, arr(3)), args(DIAGONAL, arr(3, 2), lower=True), args(DIAGONAL, arr(3), 1),
        args(DIAGONAL, arr(3), trans="T", lower=True), args(DIAGONAL, arr(3), unit_diagonal=True),
        args(DIAGONAL, arr(3), lower=True, unit_diagonal=True), args(DIAGONAL, arr(3, 2), "T", unit_diagonal=True),
        args(arr(3, 3, low=0.5, complex=True), arr(3, complex=True), 2, True),
        args(arr(3, 3, low=0.5, complex=True), arr(3, complex=True)),
        *([args(arr(2, 3, 3, low=0.5), arr(2, 3, 2), lower=True)] if takes(
            scipy.linalg.solve_triangular, *ONE_OF_A_STACK
        ) else []),
    ],
)

# --- Cholesky -------------------------------------------------------------------------------------------------------


def cholesky_bar(g: Any, y: Any, lower: Any) -> Any:
    """The symmetric cotangent of a matrix from that of its factor, of which one triangle counts."""
    check_matrix(y, "scipy.linalg.cholesky")
    if lower:
        return rt.cholesky_bar(np.tril(g), np.tril(y))
    return rt.cholesky_bar(np.conj(transposed_matrix(np.triu(g))), np.conj(transposed_matrix(np.triu(y))))


TRIANGLES = [
    args(arr(3, 3, positive=True)), args(arr(3, 3, positive=True), lower=True),
    args(arr(3, 3, positive=True, complex=True), True), args(arr(3, 3, positive=True, complex=True)),
]
vjp(
    scipy.linalg.cholesky, a=lambda y_bar, y, lower: cholesky_bar(y_bar, y, lower),
    params="a, lower=False, overwrite_a=False, check_finite=True", samples=TRIANGLES,
)


@model(scipy.linalg.cho_factor)
def _cho_factor(a: Any, lower: Any = False, overwrite_a: Any = False, check_finite: Any = True) -> Any:
    """The other triangle is zero here, and whatever was there in SciPy's: ``cho_solve`` does not read it."""
    return scipy.linalg.cholesky(a, lower=lower, check_finite=check_finite), lower


def cho_solve_b(y_bar: Any, c_and_lower: Any) -> Any:
    if np.iscomplexobj(c_and_lower[0]):  # the transpose of a Hermitian matrix is its conjugate
        return np.conj(scipy.linalg.cho_solve(c_and_lower, np.conj(y_bar)))
    return scipy.linalg.cho_solve(c_and_lower, y_bar)


def cho_solve_c(y_bar: Any, y: Any, c_and_lower: Any, b: Any) -> Any:
    c, lower = c_and_lower
    check_matrix(c, "scipy.linalg.cho_solve")
    half = np.conj(outer(cho_solve_b(y_bar, c_and_lower), y))
    both = half + np.conj(transposed_matrix(half))
    if lower:
        return (-np.conj(np.tril(both @ np.tril(c))), None)
    return (-np.conj(np.triu(np.triu(c) @ both)), None)


vjp(
    scipy.linalg.cho_solve, c_and_lower=cho_solve_c, b=cho_solve_b,
    params="c_and_lower, b, overwrite_b=False, check_finite=True",
    samples=[
        args((DIAGONAL, True), arr(3)), args((DIAGONAL, False), arr(3, 2)),
        args((DIAGONAL, True), arr(3, 2), check_finite=False),
    ],
)

# --- LU -------------------------------------------------------------------------------------------------------------


def order_of(piv: Any) -> Any:
    """The order of rows that the interchanges of LAPACK give: a[order] = L U."""
    order = np.arange(len(piv))
    for i, k in enumerate(piv):
        order[[i, k]] = order[[k, i]]
    return order


def lu_bar(l_bar: Any, u_bar: Any, lower: Any, upper: Any) -> Any:
    """The cotangent of ``lower @ upper`` from those of the factors, unit lower and upper triangular or trapezoidal (S.
    de Hoog, R. Anderssen, M. Lukas, "Differentiation of matrix functionals using triangular factorization", 2011).
    """
    n = np.shape(lower)[1]
    first, second = lower[:n], upper[:, :n]
    l_bar, u_bar, below, beside = l_bar[:n], u_bar[:, :n], l_bar[n:], u_bar[:, n:]
    below = scipy.linalg.solve_triangular(second, below.T).T  # what lies under the square is a inv(u)
    beside = scipy.linalg.solve_triangular(first, beside, trans=1, lower=True, unit_diagonal=True)
    l_bar, u_bar = l_bar - beside @ upper[:, n:].T, u_bar - lower[n:].T @ below
    inner = np.tril(first.T @ l_bar, -1) + np.triu(u_bar @ second.T)
    right = scipy.linalg.solve_triangular(second, inner.T).T
    square = scipy.linalg.solve_triangular(first, right, trans=1, lower=True, unit_diagonal=True)
    return np.concatenate([np.concatenate([square, beside], axis=1), np.concatenate([below, np.zeros_like(
        upper, shape=(np.shape(below)[0], np.shape(beside)[1]))], axis=1)], axis=0)


def lu_factor_bar(y_bar: Any, y: Any, a: Any) -> Any:
    check_matrix(a, "scipy.linalg.lu_factor")
    factors, piv = y
    factors_bar = np.broadcast_to(y_bar[0], np.shape(factors))
    if np.shape(a)[0] != np.shape(a)[1]:
        return rt.no_derivative("scipy.linalg.lu_factor", "of an oblong matrix it has no rule")
    lower = np.tril(factors, -1) + np.eye(len(factors), dtype=factors.dtype)
    rows = lu_bar(np.tril(factors_bar, -1), np.triu(factors_bar), lower, np.triu(factors))
    return rows[np.argsort(order_of(piv))]


def lu_solve_b(y_bar: Any, lu_and_piv: Any, trans: Any) -> Any:
    if trans == 0:
        return scipy.linalg.lu_solve(lu_and_piv, y_bar, trans=1)
    if trans == 1:
        return scipy.linalg.lu_solve(lu_and_piv, y_bar)
    return np.conj(scipy.linalg.lu_solve(lu_and_piv, np.conj(y_bar)))


def lu_solve_lu(y_bar: Any, y: Any, lu_and_piv: Any, b: Any, trans: Any) -> Any:
    factors, piv = lu_and_piv
    check_matrix(factors, "scipy.linalg.lu_solve")
    b_bar = lu_solve_b(y_bar, lu_and_piv, trans)
    a_bar = -outer(b_bar, y) if trans == 0 else -outer(y, b_bar)
    if trans == 2:
        a_bar = np.conj(a_bar)
    rows = a_bar[order_of(piv)]
    lower = np.tril(factors, -1) + np.eye(len(factors), dtype=factors.dtype)
    return (np.tril(rows @ np.triu(factors).T, -1) + np.triu(lower.T @ rows), None)


vjp(
    scipy.linalg.lu_factor, a=lu_factor_bar, params="a, overwrite_a=False, check_finite=True",
    samples=[args(arr(3, 3)), args(arr(4, 4)), args(arr(3, 3, complex=True))],
)
PIVOTS = np.array([1, 2, 2], np.int32)
vjp(
    scipy.linalg.lu_solve, lu_and_piv=lu_solve_lu, b=lu_solve_b,
    params="lu_and_piv, b, trans=0, overwrite_b=False, check_finite=True",
    samples=[
        args((DIAGONAL, PIVOTS), arr(3)), args((DIAGONAL, PIVOTS), arr(3, 2), 1),
        args((arr(3, 3, low=0.5, complex=True), PIVOTS), arr(3, complex=True), trans=2),
    ],
)


def _lu(y_bar: Any, y: Any, a: Any, permute_l: Any, p_indices: Any) -> Any:
    check_matrix(a, "scipy.linalg.lu")
    if permute_l:
        lower_bar, upper_bar = rt.whole(y_bar, y)
        p, lower, upper = scipy.linalg.lu(a)
        return p @ lu_bar(filled(p.T @ lower_bar, lower), filled(upper_bar, upper), lower, upper)
    p, lower, upper = y
    _, lower_bar, upper_bar = rt.whole((None, *y_bar[1:]), y)
    rows = lu_bar(filled(lower_bar, lower), filled(upper_bar, upper), lower, upper)
    return rows[p] if p_indices else p @ rows


def filled(g: Any, like: Any) -> Any:
    """A cotangent, zero where there is none."""
    return np.zeros_like(like) if g is None else g


zero(order_of)
vjp(
    scipy.linalg.lu, a=_lu, params="a, permute_l=False, overwrite_a=False, check_finite=True, p_indices=False",
    samples=[args(arr(3, 3)), args(arr(4, 4)), args(arr(3, 5)), args(arr(5, 3)), args(arr(3, 3), True),
             args(arr(3, 4), p_indices=True)],
)

# --- the names that NumPy has too -----------------------------------------------------------------------------------

KEEP = "overwrite_a=False, check_finite=True"
alias(np.linalg.inv, scipy.linalg.inv, params=f"a, {KEEP}, *, assume_a=None, lower=False", samples=[args(arr(3, 3))])
alias(np.linalg.det, scipy.linalg.det, params=f"a, {KEEP}")
alias(
    np.linalg.norm, scipy.linalg.norm, params="x, ord=None, axis=None, keepdims=False, check_finite=True",
    samples=[
        args(arr(4)), args(arr(3, 4), "fro"), args(arr(3, 4), 2), args(arr(3, 4), 1, axis=1), args(arr(3, 3), "nuc"),
    ],
)


@vjp(scipy.linalg.norm, "x")
def _norm_bar(y_bar: Any, y: Any, x: Any, ord: Any, axis: Any, keepdims: Any) -> Any:
    """By the slope: this norm squares nothing that overflows, and ``y_bar / y`` may underflow where it does not."""
    slope = numpy_rules.norm_bar(np.ones_like(y), y, x, ord, axis, keepdims)
    return slope * (y_bar if axis is None or keepdims else np.expand_dims(y_bar, axis))


def rank_left(g: Any, y: Any, return_rank: Any) -> tuple[Any, Any]:
    """The cotangent of a matrix, and the matrix, without the rank that may stand beside it."""
    return (rt.whole((g[0],), (y[0],))[0], y[0]) if return_rank else (g, y)


vjp(
    scipy.linalg.pinv, a=lambda y_bar, y, a, return_rank: rt.pinv_bar(*rank_left(y_bar, y, return_rank), a),
    params="a, *, atol=None, rtol=None, return_rank=False, check_finite=True", harmless="atol rtol",
    samples=[args(arr(4, 3)), args(arr(3, 4)), args(arr(4, 3), return_rank=True)],
)


def _pinv_dot(a_dot: Any, y: Any, a: Any, return_rank: Any) -> Any:
    if return_rank:
        return numpy_rules.pinv_dot(y[0], a, a_dot), 0.0
    return numpy_rules.pinv_dot(y, a, a_dot)


jvp(scipy.linalg.pinv, a=_pinv_dot)
vjp(
    scipy.linalg.svdvals, a=lambda y_bar, a: rt.svdvals_bar(y_bar, a), params=f"a, {KEEP}",
    samples=[args(arr(3, 4)), args(arr(3, 2, complex=True))],
)
vjp(
    scipy.linalg.svd, params=f"a, full_matrices=True, compute_uv=True, {KEEP}, lapack_driver='gesdd'",
    a=lambda y_bar, y, a, compute_uv: rt.svd_bar(y_bar, y, a) if compute_uv else rt.svdvals_bar(y_bar, a),
    harmless="full_matrices lapack_driver",
    samples=[args(arr(3, 3)), args(arr(4, 3), False), args(arr(3, 4), compute_uv=False)],
)


def _qr(y_bar: Any, y: Any, a: Any, mode: Any, pivoting: Any) -> Any:
    if mode == "raw" or (mode == "r" and pivoting):
        return rt.no_derivative("scipy.linalg.qr", f"the mode {mode!r} has no rule; use 'economic'")
    if mode == "r":
        n = min(np.shape(a))
        factors = scipy.linalg.qr(a, mode="economic")
        return rt.qr_bar((None, y_bar[0][:n]), (factors[0], factors[1]), "reduced")
    if pivoting:  # a[:, order] = q r
        return rt.qr_bar(y_bar[:2], y[:2], "reduced")[..., np.argsort(y[2])]
    return rt.qr_bar(y_bar, y, "reduced")


vjp(
    scipy.linalg.qr, a=_qr, harmless="lwork",
    params="a, overwrite_a=False, lwork=None, mode='full', pivoting=False, check_finite=True",
    samples=[
        args(arr(3, 3)), args(arr(4, 3), mode="economic"), args(arr(3, 5)),
        args(arr(4, 3), mode="economic", pivoting=True), args(arr(4, 3), mode="r"), args(arr(3, 4), mode="r"),
    ],
)


vjp(
    scipy.linalg.lstsq,
    a=lambda y_bar, y, a, b: lstsq_bars(y_bar, y, a, b)[0],
    b=lambda y_bar, y, a, b: lstsq_bars(y_bar, y, a, b)[1],
    params="a, b, cond=None, overwrite_a=False, overwrite_b=False, check_finite=True, lapack_driver=None",
    harmless="cond", samples=[args(arr(5, 3), arr(5, 2)), args(arr(3, 5), arr(3)), args(arr(4, 4), arr(4))],
)

# --- functions of matrices ------------------------------------------------------------------------------------------


def block_triangle(matrix: Any, beside: Any) -> Any:
    """A matrix with another one twice on its diagonal and ``beside`` above it; also of stacks."""
    n = np.shape(matrix)[-1]
    made = np.zeros((*np.shape(matrix)[:-2], 2 * n, 2 * n), dtype=np.result_type(matrix, beside))
    made[..., :n, :n], made[..., n:, n:], made[..., :n, n:] = matrix, matrix, beside
    return made


def _block_matrix(y_bar: Any, matrix: Any) -> Any:
    n = np.shape(matrix)[-1]
    return rt.cast(y_bar[..., :n, :n] + y_bar[..., n:, n:], matrix)


def _block_beside(y_bar: Any, beside: Any) -> Any:
    n = np.shape(beside)[-1]
    return rt.cast(y_bar[..., :n, n:], beside)


linear(
    block_triangle, matrix=_block_matrix, beside=_block_beside, params="matrix, beside", joint=True,
    samples=[args(arr(3, 3), arr(3, 3)), args(arr(2, 3, 3), arr(2, 3, 3))],
)


def function_bar(fn: Any, g: Any, a: Any) -> Any:
    """The cotangent of ``a`` from that of a function of matrices ``fn(a)``: its Frechet derivative at the transpose,
    which stands beside the diagonal of the function of a block matrix (N. Higham, "Functions of Matrices", 2008, 3.6).
    """
    n = np.shape(a)[-1]
    return rt.cast(fn(block_triangle(transposed_matrix(a), g))[..., :n, n:], a)


@model(scipy.linalg.expm_frechet, samples=[args(arr(3, 3), arr(3, 3)), args(arr(2, 2), arr(2, 2), compute_expm=False)])
def _expm_frechet(A: Any, E: Any, method: Any = None, compute_expm: Any = True, check_finite: Any = True) -> Any:
    """Above the diagonal of the exponential of a block matrix."""
    n = np.shape(A)[0]
    both = scipy.linalg.expm(block_triangle(A, E))
    return (both[:n, :n], both[:n, n:]) if compute_expm else both[:n, n:]


@model(scipy.linalg.fractional_matrix_power, samples=[args(arr(3, 3, positive=True), 0.3)])
def _fractional_matrix_power(A: Any, t: Any) -> Any:
    if isinstance(t, int):
        return np.linalg.matrix_power(A, t)
    return scipy.linalg.expm(t * scipy.linalg.logm(A))


def expm_bar(y_bar: Any, A: Any) -> Any:
    if np.ndim(A) == 2:
        return rt.cast(scipy.linalg.expm_frechet(A.T, y_bar, compute_expm=False), A)
    return function_bar(scipy.linalg.expm, y_bar, A)


vjp(
    scipy.linalg.expm, A=expm_bar, params="A",
    samples=[args(arr(3, 3)), args(arr(2, 3, 3)), args(arr(3, 3, complex=True)), args(arr(1, 1))],
)


@jvp(scipy.linalg.expm)
def _expm_dot(A: Any, A_dot: Any) -> Any:
    if np.ndim(A) == 2:
        return scipy.linalg.expm_frechet(A, A_dot, compute_expm=False)
    return function_bar(scipy.linalg.expm, A_dot, transposed_matrix(A))


def logm_bar(y_bar: Any, y: Any, A: Any) -> Any:
    check_matrix(A, "scipy.linalg.logm")
    check_real(y, A, "scipy.linalg.logm")
    return function_bar(scipy.linalg.logm, y_bar, A)


def sqrtm_bar(y_bar: Any, y: Any, A: Any) -> Any:
    """With y y = A: y dy + dy y = dA, a Sylvester equation, and so is its transpose."""
    check_matrix(A, "scipy.linalg.sqrtm")
    check_real(y, A, "scipy.linalg.sqrtm")
    return scipy.linalg.solve_sylvester(y.T, y.T, y_bar)


SMOOTH = [args(arr(3, 3)), args(arr(3, 3, complex=True))]
vjp(scipy.linalg.logm, A=logm_bar, params="A", samples=[args(arr(3, 3, positive=True)), SMOOTH[1]])
vjp(scipy.linalg.sqrtm, A=sqrtm_bar, params="A", samples=[args(arr(3, 3, positive=True)), SMOOTH[1]])
vjp(scipy.linalg.sinm, A=lambda y_bar, A: function_bar(scipy.linalg.sinm, y_bar, A), params="A", samples=SMOOTH)
vjp(scipy.linalg.cosm, A=lambda y_bar, A: function_bar(scipy.linalg.cosm, y_bar, A), params="A", samples=SMOOTH)
vjp(scipy.linalg.tanm, A=lambda y_bar, A: function_bar(scipy.linalg.tanm, y_bar, A), params="A", samples=SMOOTH)
vjp(scipy.linalg.sinhm, A=lambda y_bar, A: function_bar(scipy.linalg.sinhm, y_bar, A), params="A", samples=SMOOTH)
vjp(scipy.linalg.coshm, A=lambda y_bar, A: function_bar(scipy.linalg.coshm, y_bar, A), params="A", samples=SMOOTH)
vjp(scipy.linalg.tanhm, A=lambda y_bar, A: function_bar(scipy.linalg.tanhm, y_bar, A), params="A", samples=SMOOTH)

kind_by_value(scipy.linalg.logm, scipy.linalg.sqrtm)  # complex where an eigenvalue is negative

# --- matrix equations -----------------------------------------------------------------------------------------------


def sylvester_q(y_bar: Any, a: Any, b: Any) -> Any:
    """a x + x b = q, and so a^T q_bar + q_bar b^T = x_bar."""
    return scipy.linalg.solve_sylvester(a.T, b.T, y_bar)


vjp(
    scipy.linalg.solve_sylvester, params="a, b, q", q=sylvester_q,
    a=lambda y_bar, y, a, b: -(sylvester_q(y_bar, a, b) @ y.T),
    b=lambda y_bar, y, a, b: -(y.T @ sylvester_q(y_bar, a, b)),
    samples=[
        args(arr(3, 3), arr(2, 2), arr(3, 2)),
        args(arr(2, 2, complex=True), arr(3, 3, complex=True), arr(2, 3, complex=True)),
    ],
)


def lyapunov_q(y_bar: Any, a: Any) -> Any:
    """a x + x a^T = q, and so a^T q_bar + q_bar a = x_bar."""
    if np.iscomplexobj(a):
        return rt.no_derivative("scipy.linalg.solve_continuous_lyapunov", "it has a rule for real matrices only")
    return scipy.linalg.solve_continuous_lyapunov(a.T, y_bar)


def lyapunov_a(y_bar: Any, y: Any, a: Any) -> Any:
    q_bar = lyapunov_q(y_bar, a)
    return -(q_bar @ y.T + q_bar.T @ y)


def discrete_lyapunov_q(y_bar: Any, a: Any) -> Any:
    """x = a x a^T + q, and so q_bar = a^T q_bar a + x_bar."""
    if np.iscomplexobj(a):
        return rt.no_derivative("scipy.linalg.solve_discrete_lyapunov", "it has a rule for real matrices only")
    return scipy.linalg.solve_discrete_lyapunov(a.T, y_bar)


def discrete_lyapunov_a(y_bar: Any, y: Any, a: Any) -> Any:
    q_bar = discrete_lyapunov_q(y_bar, a)
    return q_bar @ a @ y.T + q_bar.T @ a @ y


vjp(
    scipy.linalg.solve_continuous_lyapunov, a=lyapunov_a, q=lyapunov_q, params="a, q",
    samples=[args(arr(3, 3), arr(3, 3))],
)
vjp(
    scipy.linalg.solve_discrete_lyapunov, a=discrete_lyapunov_a, q=discrete_lyapunov_q, params="a, q, method=None",
    harmless="method", samples=[args(arr(3, 3), arr(3, 3))],
)

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
    if np.iscomplexobj(ab):
        return rt.no_derivative("scipy.linalg.solveh_banded", "it has a rule for real matrices only")
    return scipy.linalg.solveh_banded(ab, y_bar, lower=lower)


def solveh_banded_ab(y_bar: Any, y: Any, ab: Any, lower: Any) -> Any:
    """A diagonal stands for two, but for the main one."""
    b_bar, count = solveh_banded_b(y_bar, ab, lower), len(ab) - 1
    low, up = (count, 0) if lower else (0, count)
    share = np.reshape(np.where(np.arange(count + 1) == up, 0.5, 1.0), (-1, 1))
    return rt.cast(-share * (band_of_outer(b_bar, y, low, up) + band_of_outer(y, b_bar, low, up)), ab)


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
    below = sums_of_diagonals(y_bar, -1, np.size(c))
    if r is None:  # the conjugate of the column is the row
        below = below + np.conj(sums_above(y_bar, np.size(c)))
    return rt.cast(np.reshape(below, np.shape(c)), c)


def toeplitz_r(y_bar: Any, r: Any) -> Any:
    return rt.cast(np.reshape(sums_above(y_bar, np.size(r)), np.shape(r)), r)


linear(
    scipy.linalg.toeplitz, c=toeplitz_c, r=toeplitz_r, joint=True, params="c, r=None",
    samples=[args(arr(3)), args(arr(3), arr(4)), args(arr(4), arr(2)), args(np.ones(3), arr(3))],
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
    "schur", "hessenberg", "ldl", "qz", "ordqz", "rsf2csf", "cdf2rdf", "cossin", "null_space", "orth",
    "subspace_angles", "signm", "funm", "matrix_balance", "qr_multiply", "qr_insert", "qr_delete", "qr_update",
    "cholesky_banded", "cho_solve_banded", "eig_banded", "interpolative", "find_best_blas_type", "eigh_tridiagonal",
):
    if callable(getattr(scipy.linalg, _name, None)):
        refuse(getattr(scipy.linalg, _name), "it has no rule; use eigh, svd, qr or a function of SciPy that has one")

# --- the equations of Riccati -----------------------------------------------------------------------------------------


def continuous_loop(x: Any, a: Any, b: Any, r: Any) -> Any:
    """The gain ``k`` of the feedback, and the system with it: a - b k."""
    if np.iscomplexobj(x):
        return rt.no_derivative("scipy.linalg.solve_continuous_are", "it has a rule for real matrices only")
    gain = np.linalg.solve(r, b.T @ x)
    return gain, a - b @ gain


def continuous_bars(y_bar: Any, x: Any, a: Any, b: Any, r: Any) -> Any:
    """With c the system that is fed back, c^T dx + dx c = -(dq + da^T x + x da - ...): the cotangents of a, b, q and r
    from the solution of the transposed equation."""
    gain, loop = continuous_loop(x, a, b, r)
    q_bar = -scipy.linalg.solve_continuous_lyapunov(loop, y_bar)
    both = q_bar + q_bar.T
    return x @ both, -x @ both @ gain.T, q_bar, gain @ q_bar @ gain.T


def discrete_loop(x: Any, a: Any, b: Any, r: Any) -> Any:
    if np.iscomplexobj(x):
        return rt.no_derivative("scipy.linalg.solve_discrete_are", "it has a rule for real matrices only")
    gain = np.linalg.solve(r + b.T @ x @ b, b.T @ x @ a)
    return gain, a - b @ gain


def discrete_bars(y_bar: Any, x: Any, a: Any, b: Any, r: Any) -> Any:
    """As ``continuous_bars``, for dx - c^T dx c = dq + da^T x c + c^T x da - ..."""
    gain, loop = discrete_loop(x, a, b, r)
    q_bar = scipy.linalg.solve_discrete_lyapunov(loop, y_bar)
    moved = x @ loop @ (q_bar + q_bar.T)
    return moved, -moved @ gain.T, q_bar, gain @ q_bar @ gain.T


RICCATI = [args(arr(2, 2), arr(2, 2), arr(2, 2, positive=True), arr(2, 2, positive=True))]
vjp(
    scipy.linalg.solve_continuous_are, params="a, b, q, r, e=None, s=None, balanced=True",
    a=lambda y_bar, y, a, b, r: continuous_bars(y_bar, y, a, b, r)[0],
    b=lambda y_bar, y, a, b, r: continuous_bars(y_bar, y, a, b, r)[1],
    q=lambda y_bar, y, a, b, r: continuous_bars(y_bar, y, a, b, r)[2],
    r=lambda y_bar, y, a, b, r: continuous_bars(y_bar, y, a, b, r)[3], samples=RICCATI,
)
vjp(
    scipy.linalg.solve_discrete_are, params="a, b, q, r, e=None, s=None, balanced=True",
    a=lambda y_bar, y, a, b, r: discrete_bars(y_bar, y, a, b, r)[0],
    b=lambda y_bar, y, a, b, r: discrete_bars(y_bar, y, a, b, r)[1],
    q=lambda y_bar, y, a, b, r: discrete_bars(y_bar, y, a, b, r)[2],
    r=lambda y_bar, y, a, b, r: discrete_bars(y_bar, y, a, b, r)[3], samples=RICCATI,
)

for _name in ("bandwidth", "issymmetric", "ishermitian"):
    if hasattr(scipy.linalg, _name):
        zero(getattr(scipy.linalg, _name))

# --- memory -----------------------------------------------------------------------------------------------------------

describe(scipy.linalg.block_diag, scipy.linalg.toeplitz, result=Result.NEW)
