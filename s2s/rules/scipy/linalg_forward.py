"""Forward mode of ``scipy.linalg``: what the results change by, along a change of one argument.

Where a triangle of a symmetric matrix is read, a change counts by its symmetric part.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from s2s import runtime as rt
from s2s.rules.numpy.linalg import _lstsq_dot, qr_dot, svd_dot, svdvals_dot
from s2s.rules.scipy.linalg import order_of, transposed_matrix
from s2s.rules.scipy.linalg_functions import continuous_loop, discrete_loop, function_bar
from s2s.rules.scipy.linalg_structured import band_times, toeplitz_parts
from s2s.rules.table import jvp

# --- solving --------------------------------------------------------------------------------------------------------


def solve_triangular_a(a_dot: Any, y: Any, a: Any, trans: Any, lower: Any, unit_diagonal: Any) -> Any:
    part = np.tril(a_dot, -1 if unit_diagonal else 0) if lower else np.triu(a_dot, 1 if unit_diagonal else 0)
    if trans == 1 or trans == "T":
        part = part.T
    elif trans == 2 or trans == "C":
        part = np.conj(part.T)
    return -scipy.linalg.solve_triangular(a, part @ y, trans, lower, unit_diagonal)


def solve_triangular_b(b_dot: Any, a: Any, trans: Any, lower: Any, unit_diagonal: Any) -> Any:
    return scipy.linalg.solve_triangular(a, b_dot, trans, lower, unit_diagonal)


jvp(scipy.linalg.solve_triangular, a=solve_triangular_a, b=solve_triangular_b)


def cholesky_tangent(a_dot: Any, y: Any, lower: Any) -> Any:
    if lower:
        return rt.cholesky_dot(y, a_dot)
    return np.conj(transposed_matrix(rt.cholesky_dot(np.conj(transposed_matrix(y)), a_dot)))


def cho_solve_c_dot(c_and_lower_dot: Any, y: Any, c_and_lower: Any) -> Any:
    c, lower = c_and_lower
    part = np.tril if lower else np.triu
    half = part(c_and_lower_dot[0]) @ np.conj(part(c).T) if lower else np.conj(part(c).T) @ part(c_and_lower_dot[0])
    return -scipy.linalg.cho_solve(c_and_lower, (half + np.conj(half.T)) @ y)


jvp(scipy.linalg.cholesky, a=cholesky_tangent)
jvp(
    scipy.linalg.cho_solve, c_and_lower=cho_solve_c_dot,
    b=lambda b_dot, c_and_lower: scipy.linalg.cho_solve(c_and_lower, b_dot),
)


def lu_dot(rows_dot: Any, lower: Any, upper: Any) -> tuple[Any, Any]:
    """The changes of a unit lower and an upper factor along that of their product."""
    n = np.shape(lower)[1]
    first, second = lower[:n], upper[:, :n]
    inner = scipy.linalg.solve_triangular(first, rows_dot[:n, :n], lower=True, unit_diagonal=True)
    inner = scipy.linalg.solve_triangular(second, inner.T, trans=1).T
    first_dot, second_dot = first @ np.tril(inner, -1), np.triu(inner) @ second
    below = scipy.linalg.solve_triangular(second, (rows_dot[n:, :n] - lower[n:] @ second_dot).T, trans=1).T
    beside = scipy.linalg.solve_triangular(
        first, rows_dot[:n, n:] - first_dot @ upper[:, n:], lower=True, unit_diagonal=True)
    return np.concatenate([first_dot, below], axis=0), np.concatenate([second_dot, beside], axis=1)


def lu_factor_dot(a_dot: Any, y: Any) -> tuple[Any, Any]:
    factors, piv = y
    lower = np.tril(factors, -1) + np.eye(len(factors), dtype=factors.dtype)
    lower_dot, upper_dot = lu_dot(a_dot[order_of(piv)], lower, np.triu(factors))
    return lower_dot + upper_dot, np.zeros(np.shape(piv))


def lu_solve_lu_dot(lu_and_piv_dot: Any, y: Any, lu_and_piv: Any, trans: Any) -> Any:
    factors, piv = lu_and_piv
    factors_dot = lu_and_piv_dot[0]
    lower = np.tril(factors, -1) + np.eye(len(factors), dtype=factors.dtype)
    rows = np.tril(factors_dot, -1) @ np.triu(factors) + lower @ np.triu(factors_dot)
    a_dot = rows[np.argsort(order_of(piv))]
    if trans == 1:
        a_dot = a_dot.T
    elif trans == 2:
        a_dot = np.conj(a_dot.T)
    return -scipy.linalg.lu_solve(lu_and_piv, a_dot @ y, trans)


def lu_tangent(a_dot: Any, y: Any, a: Any, permute_l: Any, p_indices: Any) -> Any:
    if permute_l:
        p, lower, upper = scipy.linalg.lu(a)
        lower_dot, upper_dot = lu_dot(p.T @ a_dot, lower, upper)
        return p @ lower_dot, upper_dot
    p, lower, upper = y
    rows = a_dot[np.argsort(p)] if p_indices else p.T @ a_dot
    return np.zeros(np.shape(p)), *lu_dot(rows, lower, upper)


jvp(scipy.linalg.lu_factor, a=lu_factor_dot)
jvp(
    scipy.linalg.lu_solve, lu_and_piv=lu_solve_lu_dot,
    b=lambda b_dot, lu_and_piv, trans: scipy.linalg.lu_solve(lu_and_piv, b_dot, trans),
)
jvp(scipy.linalg.lu, a=lu_tangent)

# --- factorisations that NumPy has too ------------------------------------------------------------------------------


def qr_tangent(a_dot: Any, y: Any, a: Any, mode: Any, pivoting: Any) -> Any:
    if mode == "raw" or (mode == "r" and pivoting):
        return rt.no_derivative("scipy.linalg.qr", f"the mode {mode!r} has no rule; use 'economic'")
    if mode == "r":
        q, r = scipy.linalg.qr(a, mode="economic")
        r_dot = qr_dot(q, r, a_dot)[1]
        return (np.concatenate([r_dot, np.zeros((len(y[0]) - len(r), np.shape(r)[1]))], axis=0),)
    if pivoting:
        return *qr_dot(y[0], y[1], a_dot[..., y[2]]), np.zeros(np.shape(y[2]))
    return qr_dot(y[0], y[1], a_dot)


jvp(scipy.linalg.svdvals, a=lambda a_dot, a: svdvals_dot(a, a_dot))
jvp(scipy.linalg.svd, a=lambda a_dot, y, a, compute_uv: svd_dot(y, a_dot) if compute_uv else svdvals_dot(a, a_dot))
jvp(scipy.linalg.qr, a=qr_tangent)


def lstsq_a(a_dot: Any, y: Any, a: Any, b: Any) -> Any:
    return like_result(_lstsq_dot(y, a, b, a_dot, np.zeros_like(b)), y)


def lstsq_b(b_dot: Any, y: Any, a: Any, b: Any) -> Any:
    return like_result(_lstsq_dot(y, a, b, np.zeros_like(a), b_dot), y)


def like_result(tangents: Any, y: Any) -> Any:
    """The tangents in the shapes of the results: SciPy gives one residue as a number."""
    x_dot, squares_dot, rank_dot, s_dot = tangents
    s_dot = 0 if y[3] is None else s_dot  # which some of the drivers do not give
    return x_dot, np.reshape(squares_dot[: np.size(y[1])], np.shape(y[1])), rank_dot, s_dot


jvp(scipy.linalg.lstsq, a=lstsq_a, b=lstsq_b)

# --- functions of matrices, matrix equations --------------------------------------------------------------------------

jvp(scipy.linalg.logm, A=lambda A_dot, A: function_bar(scipy.linalg.logm, A_dot, transposed_matrix(A)))
jvp(scipy.linalg.sqrtm, A=lambda A_dot, y: scipy.linalg.solve_sylvester(y, y, A_dot))
jvp(scipy.linalg.sinm, A=lambda A_dot, A: function_bar(scipy.linalg.sinm, A_dot, transposed_matrix(A)))
jvp(scipy.linalg.cosm, A=lambda A_dot, A: function_bar(scipy.linalg.cosm, A_dot, transposed_matrix(A)))
jvp(scipy.linalg.tanm, A=lambda A_dot, A: function_bar(scipy.linalg.tanm, A_dot, transposed_matrix(A)))
jvp(scipy.linalg.sinhm, A=lambda A_dot, A: function_bar(scipy.linalg.sinhm, A_dot, transposed_matrix(A)))
jvp(scipy.linalg.coshm, A=lambda A_dot, A: function_bar(scipy.linalg.coshm, A_dot, transposed_matrix(A)))
jvp(scipy.linalg.tanhm, A=lambda A_dot, A: function_bar(scipy.linalg.tanhm, A_dot, transposed_matrix(A)))
jvp(
    scipy.linalg.solve_sylvester, a=lambda a_dot, y, a, b: -scipy.linalg.solve_sylvester(a, b, a_dot @ y),
    b=lambda b_dot, y, a, b: -scipy.linalg.solve_sylvester(a, b, y @ b_dot),
    q=lambda q_dot, a, b: scipy.linalg.solve_sylvester(a, b, q_dot),
)
jvp(
    scipy.linalg.solve_continuous_lyapunov,
    a=lambda a_dot, y, a: -scipy.linalg.solve_continuous_lyapunov(a, a_dot @ y + y @ np.conj(a_dot.T)),
    q=lambda q_dot, a: scipy.linalg.solve_continuous_lyapunov(a, q_dot),
)
jvp(
    scipy.linalg.solve_discrete_lyapunov,
    a=lambda a_dot, y, a: scipy.linalg.solve_discrete_lyapunov(
        a, a_dot @ y @ np.conj(a.T) + a @ y @ np.conj(a_dot.T)
    ),
    q=lambda q_dot, a: scipy.linalg.solve_discrete_lyapunov(a, q_dot),
)

# --- banded and Toeplitz matrices -------------------------------------------------------------------------------------


def solve_banded_ab(ab_dot: Any, y: Any, l_and_u: Any, ab: Any) -> Any:
    return -scipy.linalg.solve_banded(l_and_u, ab, band_times(ab_dot, y, *l_and_u))


def solveh_banded_ab(ab_dot: Any, y: Any, ab: Any, lower: Any) -> Any:
    """The diagonals of one triangle, and those of its transpose but the main one."""
    count, n = len(ab_dot) - 1, np.shape(ab_dot)[1]
    is_main = np.arange(count + 1)[:, None] == (0 if lower else count)
    ab_dot = np.where(is_main, np.real(ab_dot), ab_dot)
    change = band_times(ab_dot, y, count, 0) if lower else band_times(ab_dot, y, 0, count)
    other = np.zeros_like(ab_dot)
    for k in range(1, count + 1):
        if lower:
            other[count - k, k:] = np.conj(ab_dot[k, : n - k])
        else:
            other[k, : n - k] = np.conj(ab_dot[count - k, k:])
    change = change + (band_times(other, y, 0, count) if lower else band_times(other, y, count, 0))
    return -scipy.linalg.solveh_banded(ab, change, lower=lower)


jvp(
    scipy.linalg.solve_banded, ab=solve_banded_ab,
    b=lambda b_dot, l_and_u, ab: scipy.linalg.solve_banded(l_and_u, ab, b_dot),
)
jvp(
    scipy.linalg.solveh_banded, ab=solveh_banded_ab,
    b=lambda b_dot, ab, lower: scipy.linalg.solveh_banded(ab, b_dot, lower=lower),
)


def solve_toeplitz_c_dot(c_or_cr_dot: Any, y: Any, c_or_cr: Any) -> Any:
    return -scipy.linalg.solve_toeplitz(c_or_cr, scipy.linalg.toeplitz(*toeplitz_parts(c_or_cr_dot)) @ y)


jvp(
    scipy.linalg.solve_toeplitz, c_or_cr=solve_toeplitz_c_dot,
    b=lambda b_dot, c_or_cr: scipy.linalg.solve_toeplitz(c_or_cr, b_dot),
)

# --- the equations of Riccati -----------------------------------------------------------------------------------------


def continuous_dot(change: Any, y: Any, a: Any, b: Any, r: Any) -> Any:
    """c^T dx + dx c = -change, with c the system that is fed back."""
    return scipy.linalg.solve_continuous_lyapunov(continuous_loop(y, a, b, r)[1].T, -change)


def discrete_dot(change: Any, y: Any, a: Any, b: Any, r: Any) -> Any:
    return scipy.linalg.solve_discrete_lyapunov(discrete_loop(y, a, b, r)[1].T, change)


def both_ways(change: Any) -> Any:
    return change + change.T


jvp(
    scipy.linalg.solve_continuous_are,
    a=lambda a_dot, y, a, b, r: continuous_dot(both_ways(y @ a_dot), y, a, b, r),
    b=lambda b_dot, y, a, b, r: -continuous_dot(both_ways(y @ b_dot @ continuous_loop(y, a, b, r)[0]), y, a, b, r),
    q=lambda q_dot, y, a, b, r: continuous_dot(q_dot, y, a, b, r),
    r=lambda r_dot, y, a, b, r: continuous_dot(
        continuous_loop(y, a, b, r)[0].T @ r_dot @ continuous_loop(y, a, b, r)[0], y, a, b, r),
)
jvp(
    scipy.linalg.solve_discrete_are,
    a=lambda a_dot, y, a, b, r: discrete_dot(both_ways(discrete_loop(y, a, b, r)[1].T @ y @ a_dot), y, a, b, r),
    b=lambda b_dot, y, a, b, r: -discrete_dot(
        both_ways(discrete_loop(y, a, b, r)[1].T @ y @ b_dot @ discrete_loop(y, a, b, r)[0]), y, a, b, r),
    q=lambda q_dot, y, a, b, r: discrete_dot(q_dot, y, a, b, r),
    r=lambda r_dot, y, a, b, r: discrete_dot(
        discrete_loop(y, a, b, r)[0].T @ r_dot @ discrete_loop(y, a, b, r)[0], y, a, b, r),
)
