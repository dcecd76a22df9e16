"""Rules of the Schur form of real matrices, and of the functions of matrices that are made of it."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import scipy.linalg

from s2s import runtime as rt
from s2s.rules.functions import describe
from s2s.rules.samples import args, arr
from s2s.rules.table import jvp, model, requires, vjp, zero

# --- A = Z T Z': Z turns so that T stays triangular, and its blocks of two as LAPACK has them: of equal diagonals ---

REAL = "of a complex form the phases are free; take the real one, with scipy.linalg.rsf2csf for the complex one"


def turns(t: Any) -> Any:
    """A basis of the skew matrices, and for each element below the diagonal of T which sum of elements stays zero."""
    n = np.shape(t)[0]
    rows, columns = np.tril_indices(n, -1)
    number = np.arange(len(rows))
    basis = np.zeros((len(rows), n, n), t.dtype)
    basis[number, rows, columns], basis[number, columns, rows] = 1.0, -1.0
    kept = np.zeros((len(rows), n, n), t.dtype)
    is_block = (rows == columns + 1) & (t[rows, columns] != 0.0)
    kept[number, rows, columns] = ~is_block
    kept[number, rows, rows] = is_block
    kept[number, columns, columns] = -1.0 * is_block
    return basis, kept


def moved_by(t: Any, basis: Any) -> Any:
    """How T moves with each turn of Z."""
    return np.matmul(t, basis) - np.matmul(basis, t)


def schur_bar(y_bar: Any, t: Any, z: Any) -> Any:
    """The cotangent of a real matrix from those of T and Z."""
    basis, kept = turns(t)
    moved = moved_by(t, basis)
    by_turn = np.einsum("pij,ij->p", moved, y_bar[0]) + np.einsum("pij,ij->p", basis, z.T @ y_bar[1])
    if len(by_turn) == 0:
        return z @ y_bar[0] @ z.T
    equations = np.einsum("qij,pij->pq", kept, moved)
    inner = y_bar[0] - np.einsum("qij,q->ij", kept, np.linalg.solve(equations, by_turn))
    return z @ inner @ z.T


def schur_dot(a_dot: Any, t: Any, z: Any) -> Any:
    """The tangents of T and Z."""
    basis, kept = turns(t)
    inner = z.T @ a_dot @ z
    if len(basis) == 0:
        return inner, np.zeros_like(z)
    moved = moved_by(t, basis)
    equations = np.einsum("qij,pij->qp", kept, moved)
    turn = -np.linalg.solve(equations, np.einsum("qij,ij->q", kept, inner))
    return inner + np.einsum("pij,p->ij", moved, turn), z @ np.einsum("pij,p->ij", basis, turn)


def schur_adjoint(y_bar: Any, y: Any) -> Any:
    return schur_bar(rt.whole(y_bar, y), y[0], y[1])


def schur_tangent(a_dot: Any, y: Any) -> Any:
    t_dot, z_dot = schur_dot(a_dot, y[0], y[1])
    return (t_dot, z_dot) if len(y) == 2 else (t_dot, z_dot, 0)


zero(turns)
vjp(
    scipy.linalg.schur, a=schur_adjoint, harmless="lwork overwrite_a", decides="output sort",
    params="a, output='real', lwork=None, overwrite_a=False, sort=None, check_finite=True",
    samples=[args(arr(2, 2)), args(arr(1, 1))],
)
jvp(scipy.linalg.schur, a=schur_tangent)


@requires(scipy.linalg.schur)
def real_schur(y: Any) -> None:
    if np.iscomplexobj(y[0]):
        rt.no_derivative("scipy.linalg.schur", REAL)

# --- functions of triangular matrices ---------------------------------------------------------------------------------


def funm_loops(F: Any, T: Any, n: Any, minden: Any) -> Any:
    """Store the elements above the diagonal of a function of a triangular matrix (Parlett)."""
    for p in range(1, n):
        for i in range(n - p):
            j = i + p
            total = T[i, j] * (F[j, j] - F[i, i]) + np.dot(T[i, i + 1 : j], F[i + 1 : j, j]) - np.dot(
                F[i, i + 1 : j], T[i + 1 : j, j])
            apart = T[j, j] - T[i, i]
            F[i, j] = total / apart if apart != 0.0 else total
            minden = min(minden, abs(apart))
    return F, minden


def _compiled(name: str) -> Any:
    """A compiled function of ``scipy.linalg``, None where this version has it elsewhere."""
    try:
        return getattr(importlib.import_module("scipy.linalg._linalg_pythran"), name, None)
    except ImportError:
        return None


_funm_loops = _compiled("_funm_loops")
if _funm_loops is not None:
    describe(_funm_loops, changes=(0,), holds=True, pure=False)
    model(_funm_loops)(funm_loops)

# --- the sign of a matrix, S: S S = 1, and A S has eigenvalues to the right -------------------------------------------


def sign_bar(y_bar: Any, y: Any, A: Any) -> Any:
    size = A @ y
    inner = scipy.linalg.solve_sylvester(np.conj(size.T), np.conj(size.T), np.conj(y_bar))
    return np.conj(inner - np.conj(y.T) @ inner @ np.conj(y.T))


def sign_dot(A_dot: Any, y: Any, A: Any) -> Any:
    size = A @ y
    return scipy.linalg.solve_sylvester(size, size, A_dot - y @ A_dot @ y)


vjp(
    scipy.linalg.signm, A=sign_bar, params="A, disp=True",
    samples=[args(arr(3, 3))],
)
jvp(scipy.linalg.signm, A=sign_dot)
