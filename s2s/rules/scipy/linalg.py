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
from s2s.core.functions import Computes, Result
from s2s.rules.functions import describe
from s2s.rules.numpy import linalg as numpy_rules
from s2s.rules.numpy.linalg import lstsq_bars
from s2s.rules.samples import args, arr, takes
from s2s.rules.table import alias, jvp, model, requires, takes_none, vjp, zero


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


A_STACK = np.ones((1, 1, 1))
STACK = [args(arr(2, 3, 3, positive=True))] if takes(scipy.linalg.svdvals, A_STACK) else []
"""One of a stack of matrices, from the SciPy on that takes stacks."""

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
    if assume_a in TRIANGULAR and not transposed:
        assume_a = "upper triangular" if assume_a == "lower triangular" else "lower triangular"
    elif assume_a not in TRIANGULAR and assume_a != "diagonal" and assume_a != "tridiagonal":
        assume_a = None
    same = a if transposed else transposed_matrix(a)  # of complex matrices SciPy solves no transposed system
    return rt.unbroadcast(scipy.linalg.solve(same, y_bar, assume_a=assume_a), b)


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
        args(arr(3, 3, complex=True), arr(3, complex=True), assume_a="lower triangular"),
        args(arr(3, 3, complex=True), arr(3, complex=True), assume_a="upper triangular"),
        args(arr(4, 4, complex=True), arr(4, complex=True), assume_a="tridiagonal"),
        *(STACKS_TO_SOLVE if takes(scipy.linalg.solve, *ONE_OF_A_STACK) else []),  # from SciPy 1.16 on
    ],
)


@jvp(scipy.linalg.solve)
def solve_dot(y: Any, a: Any, a_dot: Any, b: Any, b_dot: Any, lower: Any, assume_a: Any, transposed: Any) -> Any:
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


@requires(scipy.linalg.solve_triangular)
def system_of_triangular(trans: Any) -> None:
    if trans not in (0, 1, 2, "N", "T", "C"):
        rt.no_derivative("scipy.linalg.solve_triangular", "trans= is one of 0, 1, 2, 'N', 'T' and 'C'")

# --- Cholesky -------------------------------------------------------------------------------------------------------


def cholesky_bar(g: Any, y: Any, lower: Any) -> Any:
    """The symmetric cotangent of a matrix from that of its factor, of which one triangle counts."""
    if lower:
        return rt.cholesky_bar(np.tril(g), np.tril(y))
    return rt.cholesky_bar(np.conj(transposed_matrix(np.triu(g))), np.conj(transposed_matrix(np.triu(y))))


TRIANGLES = [
    args(arr(3, 3, positive=True)), args(arr(3, 3, positive=True), lower=True),
    args(arr(3, 3, positive=True, complex=True), True), args(arr(3, 3, positive=True, complex=True)), *STACK,
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


def lu_adjoint(y_bar: Any, y: Any, a: Any, permute_l: Any, p_indices: Any) -> Any:
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
    scipy.linalg.lu, a=lu_adjoint, params="a, permute_l=False, overwrite_a=False, check_finite=True, p_indices=False",
    samples=[args(arr(3, 3)), args(arr(4, 4)), args(arr(3, 5)), args(arr(5, 3)), args(arr(3, 3), True),
             args(arr(3, 4), p_indices=True)],
)

# --- the names that NumPy has too -----------------------------------------------------------------------------------

KEEP = "overwrite_a=False, check_finite=True"
alias(
    np.linalg.inv, scipy.linalg.inv, params=f"a, {KEEP}, *, assume_a=None, lower=False",
    samples=[args(arr(3, 3)), *STACK],
)
alias(np.linalg.det, scipy.linalg.det, params=f"a, {KEEP}")
alias(
    np.linalg.norm, scipy.linalg.norm, params="x, ord=None, axis=None, keepdims=False, check_finite=True",
    samples=[
        args(arr(4)), args(arr(3, 4), "fro"), args(arr(3, 4), 2), args(arr(3, 4), 1, axis=1), args(arr(3, 3), "nuc"),
    ],
)


@vjp(scipy.linalg.norm, "x")
def norm_adjoint(y_bar: Any, y: Any, x: Any, ord: Any, axis: Any, keepdims: Any) -> Any:
    """By the slope: this norm squares nothing that overflows, and ``y_bar / y`` may underflow where it does not."""
    slope = numpy_rules.norm_bar(np.ones_like(y), y, x, ord, axis, keepdims)
    return slope * (y_bar if axis is None or keepdims else np.expand_dims(y_bar, axis))


def rank_left(g: Any, y: Any, return_rank: Any) -> tuple[Any, Any]:
    """The cotangent of a matrix, and the matrix, without the rank that may stand beside it."""
    return (rt.whole((g[0],), (y[0],))[0], y[0]) if return_rank else (g, y)


vjp(
    scipy.linalg.pinv, a=lambda y_bar, y, a, return_rank: rt.pinv_bar(*rank_left(y_bar, y, return_rank), a),
    params="a, *, atol=None, rtol=None, return_rank=False, check_finite=True", decides="atol rtol",
    samples=[args(arr(4, 3)), args(arr(3, 4)), args(arr(4, 3), return_rank=True), *STACK],
)


def pinv_tangent(a_dot: Any, y: Any, a: Any, return_rank: Any) -> Any:
    if return_rank:
        return numpy_rules.pinv_dot(y[0], a, a_dot), 0.0
    return numpy_rules.pinv_dot(y, a, a_dot)


jvp(scipy.linalg.pinv, a=pinv_tangent)
vjp(
    scipy.linalg.svdvals, a=lambda y_bar, a: rt.svdvals_bar(y_bar, a), params=f"a, {KEEP}",
    samples=[args(arr(3, 4)), args(arr(3, 2, complex=True)), *STACK],
)
vjp(
    scipy.linalg.svd, params=f"a, full_matrices=True, compute_uv=True, {KEEP}, lapack_driver='gesdd'",
    a=lambda y_bar, y, a, compute_uv: rt.svd_bar(y_bar, y, a) if compute_uv else rt.svdvals_bar(y_bar, a),
    harmless="full_matrices lapack_driver",
    samples=[args(arr(3, 3)), args(arr(4, 3), False), args(arr(3, 4), compute_uv=False)],
)


def qr_adjoint(y_bar: Any, y: Any, a: Any, mode: Any, pivoting: Any) -> Any:
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
    scipy.linalg.qr, a=qr_adjoint, harmless="lwork",
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
    harmless="lapack_driver", decides="cond",
    samples=[args(arr(5, 3), arr(5, 2)), args(arr(3, 5), arr(3)), args(arr(4, 4), arr(4)),
        args(arr(5, 3), arr(5), lapack_driver="gelss")],
)
takes_none(scipy.linalg.lstsq)

# --- what else is known ---------------------------------------------------------------------------------------------

describe(scipy.linalg.block_diag, scipy.linalg.toeplitz, result=Result.NEW, computes=Computes.PLACED)
