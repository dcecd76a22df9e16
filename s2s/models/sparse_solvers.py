"""What the solvers of ``scipy.sparse.linalg`` compute, direct and iterative, and its norms."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from s2s import runtime as rt
from s2s.models.sparse import Entries, as_vector, is_matrix, iterated, iterated_at, solution, solution_like, taken_apart

__all__ = ["Factors", "cg", "solved", "splu", "spsolve"]

# --- solvers ----------------------------------------------------------------------------------------------------------


def solved(A: Any, b: Any) -> Any:
    """The solution for a constant matrix."""
    return linalg.spsolve(A, b)


def spsolve(A: Any, b: Any, permc_spec: Any = None, use_umfpack: Any = True) -> Any:
    if is_matrix(b):
        return rt.no_derivative("scipy.sparse.linalg.spsolve", "with a sparse right side it has no rule; give an array")
    if isinstance(A, Entries):
        return solution(A.data, A.rows, A.columns, as_vector(np.asarray(b)))
    return solved(A, as_vector(np.asarray(b)))


class Factors:
    """What ``splu`` gives, of a matrix whose data is differentiated."""

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix
        self.shape = matrix.shape
        self.nnz = matrix.nnz

    def solve(self, rhs: Any, trans: Any = "N") -> Any:
        of = self.matrix
        if trans == "N":
            return solution_like(of.data, of.rows, of.columns, rhs)
        if trans == "T":
            return solution_like(of.data, of.columns, of.rows, rhs)
        return solution_like(np.conj(of.data), of.columns, of.rows, rhs)


def flipped(matrix: Any) -> Any:
    """The transpose of a matrix of whatever form."""
    return matrix.T.tocsc() if sparse.issparse(matrix) else matrix.T


def factors_of(A: Any) -> Any:
    """The factors of a constant matrix."""
    return linalg.splu(A)


def splu(
    A: Any, permc_spec: Any = None, diag_pivot_thresh: Any = None, relax: Any = None, panel_size: Any = None,
    options: Any = None,
) -> Any:
    return Factors(A) if isinstance(A, Entries) else factors_of(A)


def factorized(A: Any) -> Any:
    return splu(A).solve


def spsolve_triangular(
    A: Any, b: Any, lower: Any = True, overwrite_A: Any = False, overwrite_b: Any = False, unit_diagonal: Any = False
) -> Any:
    if unit_diagonal:
        return rt.no_derivative("scipy.sparse.linalg.spsolve_triangular", "with a unit diagonal it has no rule")
    return np.reshape(spsolve(A, b), np.shape(b))


def norm(x: Any, ord: Any = None, axis: Any = None) -> Any:
    if axis is not None or (ord is not None and ord != "fro"):
        return rt.no_derivative("scipy.sparse.linalg.norm", "it has a rule for the Frobenius norm of a matrix")
    return np.linalg.norm(taken_apart(x).asformat("csr").data)


def iterative(solver: Any, A: Any, b: Any, options: Any) -> Any:
    if isinstance(A, Entries):
        return iterated_at(solver, A.data, A.rows, A.columns, as_vector(np.asarray(b)), options), 0
    return iterated(solver, A, as_vector(np.asarray(b)), options), 0


def cg(
    A: Any, b: Any, x0: Any = None, *, rtol: Any = 1e-5, atol: Any = 0.0, maxiter: Any = None, M: Any = None,
    callback: Any = None,
) -> Any:
    return iterative(linalg.cg, A, b, {"rtol": rtol, "atol": atol, "maxiter": maxiter})


def bicgstab(
    A: Any, b: Any, x0: Any = None, *, rtol: Any = 1e-5, atol: Any = 0.0, maxiter: Any = None, M: Any = None,
    callback: Any = None,
) -> Any:
    return iterative(linalg.bicgstab, A, b, {"rtol": rtol, "atol": atol, "maxiter": maxiter})


def gmres(
    A: Any, b: Any, x0: Any = None, *, rtol: Any = 1e-5, atol: Any = 0.0, restart: Any = None, maxiter: Any = None,
    M: Any = None, callback: Any = None, callback_type: Any = None,
) -> Any:
    return iterative(linalg.gmres, A, b, {"rtol": rtol, "atol": atol, "restart": restart, "maxiter": maxiter})


def minres(
    A: Any, b: Any, x0: Any = None, *, rtol: Any = 1e-5, shift: Any = 0.0, maxiter: Any = None, M: Any = None,
    callback: Any = None, show: Any = False, check: Any = False,
) -> Any:
    return iterative(linalg.minres, A, b, {"rtol": rtol, "shift": shift, "maxiter": maxiter})
