"""Rules of the Hessenberg form and of the factorisation of symmetric matrices that are not definite."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from s2s import runtime as rt
from s2s.rules.samples import args, arr
from s2s.rules.table import jvp, model, requires, vjp, zero

# --- A = Q H Q': Q turns, but for its first column, so that what lies below the subdiagonal of H stays zero ---

REAL = "of a complex matrix it has no rule; it has one for real matrices"


def free_turns(h: Any) -> Any:
    """A basis of the skew matrices whose first column is zero, and for each which element of H stays zero."""
    n = np.shape(h)[0]
    rows, columns = np.tril_indices(n, -1)
    turning, zeros = columns > 0, rows > columns + 1
    count = np.arange(np.sum(turning))
    basis, kept = np.zeros((len(count), n, n), h.dtype), np.zeros((len(count), n, n), h.dtype)
    basis[count, rows[turning], columns[turning]], basis[count, columns[turning], rows[turning]] = 1.0, -1.0
    kept[count, rows[zeros], columns[zeros]] = 1.0
    return basis, kept


def reduced(a: Any) -> Any:
    """The Hessenberg form of a matrix and what turns it into that."""
    h, q = scipy.linalg.hessenberg(a, calc_q=True)
    return h, q


def reduced_bar(y_bar: Any, y: Any) -> Any:
    h, q = y
    h_bar, q_bar = rt.whole(y_bar, y)
    basis, kept = free_turns(h)
    if len(basis) == 0:
        return q @ h_bar @ q.T
    moved = np.matmul(h, basis) - np.matmul(basis, h)
    by_turn = np.einsum("pij,ij->p", moved, h_bar) + np.einsum("pij,ij->p", basis, q.T @ q_bar)
    equations = np.einsum("qij,pij->pq", kept, moved)
    inner = h_bar - np.einsum("qij,q->ij", kept, np.linalg.solve(equations, by_turn))
    return q @ inner @ q.T


def reduced_dot(a_dot: Any, y: Any) -> Any:
    h, q = y
    inner = q.T @ a_dot @ q
    basis, kept = free_turns(h)
    if len(basis) == 0:
        return inner, np.zeros_like(q)
    moved = np.matmul(h, basis) - np.matmul(basis, h)
    equations = np.einsum("qij,pij->qp", kept, moved)
    turn = -np.linalg.solve(equations, np.einsum("qij,ij->q", kept, inner))
    return inner + np.einsum("pij,p->ij", moved, turn), q @ np.einsum("pij,p->ij", basis, turn)


zero(free_turns)
vjp(reduced, a=reduced_bar, samples=[args(arr(4, 4)), args(arr(3, 3)), args(arr(2, 2)), args(arr(1, 1))])
jvp(reduced, a=reduced_dot)


def hessenberg(a: Any, calc_q: Any = False, overwrite_a: Any = False, check_finite: Any = True) -> Any:
    a = np.asarray(a)
    if np.iscomplexobj(a):
        return rt.no_derivative("scipy.linalg.hessenberg", REAL)
    h, q = reduced(a)
    return (h, q) if calc_q else h


model(scipy.linalg.hessenberg, samples=[args(arr(4, 4)), args(arr(3, 3), True)])(hessenberg)

# --- A = L D L', with rows in another order: L is triangular with ones on its diagonal, D has blocks of one and two ---


def blocks_of(d: Any, lower: Any) -> Any:
    """Which elements belong to the blocks of D, and which to L besides its diagonal."""
    n = np.shape(d)[0]
    inside = (d != 0.0) | np.eye(n, dtype=bool)
    side = np.tril(np.ones((n, n), dtype=bool)) if lower else np.triu(np.ones((n, n), dtype=bool))
    return inside.astype(d.dtype), (side & ~(inside | inside.T)).astype(d.dtype)


def order_back(perm: Any) -> Any:
    return np.argsort(perm)


def ldl_bar(y_bar: Any, y: Any, lower: Any) -> Any:
    bars = rt.whole(y_bar[:2], y[:2])
    factor, perm, back = y[0][y[2]], y[2], order_back(y[2])
    inside, beside = blocks_of(y[1], lower)
    from_factor = beside * np.linalg.solve(y[1], (factor.T @ bars[0][perm]).T).T
    inner = from_factor + inside * bars[1]
    found = np.linalg.solve(factor.T, np.linalg.solve(factor.T, inner.T).T)
    return (0.5 * (found + found.T))[back][:, back]


def ldl_dot(A_dot: Any, y: Any, lower: Any) -> Any:
    factor, perm, back = y[0][y[2]], y[2], order_back(y[2])
    moved = (0.5 * (A_dot + A_dot.T))[perm][:, perm]
    inner = np.linalg.solve(factor, np.linalg.solve(factor, moved.T).T)
    inside, beside = blocks_of(y[1], lower)
    turn = np.linalg.solve(y[1].T, (beside * inner).T).T
    return (factor @ turn)[back], inside * inner, np.zeros(np.shape(perm))


zero(blocks_of, order_back)
vjp(
    scipy.linalg.ldl, A=ldl_bar, harmless="overwrite_a", decides="lower hermitian",
    params="A, lower=True, hermitian=True, overwrite_a=False, check_finite=True",
    samples=[args(arr(4, 4, positive=True)), args(arr(3, 3, positive=True), False)],
)


@requires(scipy.linalg.ldl)
def real_ldl(A: Any) -> None:
    if np.iscomplexobj(A):
        rt.no_derivative("scipy.linalg.ldl", REAL)


jvp(scipy.linalg.ldl, A=ldl_dot)
