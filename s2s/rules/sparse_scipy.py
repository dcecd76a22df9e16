"""Rules of ``scipy.sparse``: products of constant matrices with arrays, and solves by them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from s2s import runtime as rt
from s2s.models import sparse as models
from s2s.rules.table import args, arr, jvp, linear, model, refuse, vjp

MATRIX = sparse.csr_array(np.array([[2.0, 0.0, 0.5], [0.0, 1.5, 0.0], [0.3, 0.0, 1.0]]))


def constant(A: Any) -> Any:
    return rt.no_derivative("a product by its sparse matrix", "it has a rule for constant matrices; use a dense one")


linear(
    models.product, x=lambda y_bar, matrix, x: matrix.T @ y_bar, params="matrix, x",
    samples=[args(MATRIX, arr(3)), args(MATRIX, arr(3, 2))],
)
linear(
    models.product_from_left, x=lambda y_bar, matrix, x: y_bar @ matrix.T, params="matrix, x",
    samples=[args(MATRIX, arr(3)), args(MATRIX, arr(2, 3))],
)
for _name, _body in (
    ("_matmul_dispatch", models.times), ("_rmatmul_dispatch", models.times_from_left), ("dot", models.dot)
):
    _method = getattr(sparse.csr_array, _name, None)
    if _method is not None:
        model(_method)(_body)
vjp(
    linalg.spsolve, b=lambda y_bar, A, b: linalg.spsolve(A.T.tocsc(), y_bar), harmless="permc_spec use_umfpack",
    params="A, b, permc_spec=None, use_umfpack=True",
    samples=[args(MATRIX.tocsc(), arr(3)), args(MATRIX.tocsc(), arr(3, 2))],
)
jvp(linalg.spsolve, b=lambda b_dot, A: linalg.spsolve(A, b_dot))
for _name in (
    "splu", "spilu", "factorized", "spsolve_triangular", "expm", "expm_multiply", "inv", "norm", "eigs", "eigsh",
    "svds", "cg", "bicg", "bicgstab", "gmres", "lgmres", "minres", "qmr", "lsqr", "lsmr", "lobpcg",
):
    if hasattr(linalg, _name):
        refuse(getattr(linalg, _name), "it has no rule; use spsolve, or a dense matrix")
