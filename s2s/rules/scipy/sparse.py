"""Rules of ``scipy.sparse``: matrices that are constant, and matrices whose data is differentiated.

The cotangent of the data of a matrix lies where the data is: that of ``A @ x`` is ``y_bar[rows] * x[columns]``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import linalg
from scipy.sparse._base import _spbase
from scipy.sparse._matrix import spmatrix

from s2s import runtime as rt
from s2s.core.functions import Result
from s2s.models import sparse as models
from s2s.models import sparse_items as items
from s2s.models import sparse_matrices as matrices
from s2s.models import sparse_solvers as solvers
from s2s.models import sparse_spectra as spectra
from s2s.rules.functions import describe
from s2s.rules.samples import args, arr
from s2s.rules.table import jvp, kind_by_value, linear, model, refuse, vjp, zero

MATRIX = sparse.csr_array(np.array([[2.0, 0.0, 0.5], [0.0, 1.5, 0.0], [0.3, 0.0, 1.0]]))
ROWS, COLUMNS = np.array([0, 0, 1, 2, 2]), np.array([0, 2, 1, 0, 2])
DATA = arr(5, low=0.5)

# --- constant matrices ------------------------------------------------------------------------------------------------

linear(
    models.product, x=lambda y_bar, matrix, x: matrix.T @ y_bar, params="matrix, x",
    samples=[args(MATRIX, arr(3)), args(MATRIX, arr(3, 2))],
)
linear(
    models.product_from_left, x=lambda y_bar, matrix, x: y_bar @ matrix.T, params="matrix, x",
    samples=[args(MATRIX, arr(3)), args(MATRIX, arr(2, 3))],
)
vjp(
    solvers.solved, b=lambda y_bar, A, b: solvers.solved(solvers.flipped(A), y_bar), params="A, b",
    samples=[args(MATRIX.tocsc(), arr(3)), args(MATRIX.tocsc(), arr(3, 2))],
)
jvp(solvers.solved, b=lambda b_dot, A: solvers.solved(A, b_dot))

# --- data at places ---------------------------------------------------------------------------------------------------

linear(
    models.sums_at, data=lambda y_bar, places: y_bar[places], params="data, places, count",
    samples=[args(arr(4), np.array([0, 2, 2, 1]), 4), args(arr(2, complex=True), np.array([1, 0]), 2)],
)
linear(
    models.weighed_sums,
    data=lambda y_bar, data, rows, columns, x: rt.cast(models.products_at(y_bar, x, rows, columns), data),
    x=lambda y_bar, data, rows, columns, x: rt.cast(
        models.weighed_sums(data, columns, rows, np.shape(x)[0], y_bar), x),
    params="data, rows, columns, count, x", harmless="count",
    samples=[args(DATA, ROWS, COLUMNS, 3, arr(3)), args(DATA, ROWS, COLUMNS, 4, arr(3, 2))],
)
linear(
    models.products_at,
    a=lambda y_bar, a, b, rows, columns: rt.cast(models.weighed_sums(y_bar, rows, columns, np.shape(a)[0], b), a),
    b=lambda y_bar, a, b, rows, columns: rt.cast(models.weighed_sums(y_bar, columns, rows, np.shape(b)[0], a), b),
    params="a, b, rows, columns",
    samples=[args(arr(3), arr(3), ROWS, COLUMNS), args(arr(4, 2), arr(3, 2), ROWS, COLUMNS)],
)
vjp(
    models.solution,
    data=lambda y_bar, y, data, rows, columns: -models.products_at(
        models.solution(data, columns, rows, y_bar), y, rows, columns),
    b=lambda y_bar, data, rows, columns: models.solution(data, columns, rows, y_bar),
    params="data, rows, columns, b", samples=[args(DATA, ROWS, COLUMNS, arr(3)), args(DATA, ROWS, COLUMNS, arr(3, 2))],
)
jvp(
    models.solution,
    data=lambda data_dot, y, data, rows, columns: -models.solution(
        data, rows, columns, models.weighed_sums(data_dot, rows, columns, np.shape(y)[0], y)),
    b=lambda b_dot, data, rows, columns: models.solution(data, rows, columns, b_dot),
)

model(models.solution_with)(
    lambda factors, data, rows, columns, b, transposed=False:
    models.solution(data, columns, rows, b) if transposed else models.solution(data, rows, columns, b))
zero(models.shared_factors)

# --- iterative solvers: by what their result fulfils ------------------------------------------------------------------



linear(solvers.flipped, matrix=lambda y_bar: y_bar.T, params="matrix", samples=[args(arr(3, 3))])
kind_by_value(solvers.flipped)
vjp(
    models.iterated,
    b=lambda y_bar, solver, matrix, options: models.iterated(solver, solvers.flipped(matrix), y_bar, options),
    matrix=lambda y_bar, y, solver, matrix, options: -np.outer(
        models.iterated(solver, solvers.flipped(matrix), y_bar, options), y),
    params="solver, matrix, b, options",
)
jvp(
    models.iterated, b=lambda b_dot, solver, matrix, options: models.iterated(solver, matrix, b_dot, options),
    matrix=lambda matrix_dot, y, solver, matrix, options: -models.iterated(solver, matrix, matrix_dot @ y, options),
)
vjp(
    models.iterated_at, params="solver, data, rows, columns, b, options",
    b=lambda y_bar, solver, data, rows, columns, options: models.iterated_at(
        solver, data, columns, rows, y_bar, options),
    data=lambda y_bar, y, solver, data, rows, columns, options: -models.products_at(
        models.iterated_at(solver, data, columns, rows, y_bar, options), y, rows, columns),
)
jvp(
    models.iterated_at,
    b=lambda b_dot, solver, data, rows, columns, options: models.iterated_at(
        solver, data, rows, columns, b_dot, options),
    data=lambda data_dot, y, solver, data, rows, columns, options: -models.iterated_at(
        solver, data, rows, columns, models.weighed_sums(data_dot, rows, columns, np.shape(y)[0], y), options),
)
kind_by_value(models.iterated, models.iterated_at)


def items_bar(y_bar: Any, array: Any) -> Any:
    return rt.no_derivative("a sparse matrix of an array", models.PLACES)


vjp(models.items_of, array=items_bar, params="array")
jvp(models.items_of, array=lambda array_dot: rt.no_derivative("a sparse matrix of an array", models.PLACES))

# --- which model stands for what --------------------------------------------------------------------------------------

zero(
    models.rows_of_starts, models.order_of, models.merged_places, models.shape_or_bounds, models.pairs,
    models.places_on_diagonals, models.rows_of_blocks, models.constant_places, models.places_of_diagonal,
    models.common_places, models.selected_places, models.places_of_element, solvers.factors_of,
    items.check_size, items.check_real,
)
kind_by_value(
    models.rows_of_starts, models.merged_places, models.pairs, models.places_on_diagonals, models.constant_places,
    models.places_of_diagonal, models.common_places, models.selected_places, models.places_of_element,
    models.items_of, solvers.factors_of,
)
describe(
    models.sums_at, models.weighed_sums, models.products_at, models.solution, models.solution_with,
    models.shared_factors, result=Result.NEW,
)
describe(models.solution, models.solution_with, shared=True)
describe(  # what they are given are matrices, arrays and numbers
    models.product, models.product_from_left, models.sums_at, models.weighed_sums, models.products_at, models.solution,
    models.solution_with, models.shared_factors, models.rows_of_starts, models.order_of, models.merged_places,
    models.shape_or_bounds, models.pairs, models.places_on_diagonals, models.rows_of_blocks, models.constant_places,
    models.places_of_diagonal, models.common_places, models.selected_places, models.places_of_element, solvers.solved,
    solvers.flipped,
    items.check_size, items.check_real, changes=(), acts=False, calls_back=False,
)
for _name in (
    "csr_array", "csr_matrix", "csc_array", "csc_matrix", "coo_array", "coo_matrix", "bsr_array", "bsr_matrix",
    "dia_array", "dia_matrix", "diags", "diags_array", "spdiags", "hstack", "vstack", "bmat", "block_diag", "kron",
    "issparse", "eye", "eye_array", "identity",
):
    if hasattr(sparse, _name):
        model(getattr(sparse, _name), always=True)(getattr(matrices, _name))
for _name in ("lil_array", "lil_matrix", "dok_array", "dok_matrix"):
    model(getattr(sparse, _name), always=False)(getattr(items, _name))
if hasattr(sparse, "block_array"):
    model(sparse.block_array, always=True)(matrices.bmat)
for _made in (
    matrices.made, matrices.blocks, matrices.by_diagonals, matrices.diagonals_of, matrices.ones_on_diagonal,
    matrices.put_together, models.taken_apart,
):
    model(_made, always=True)(_made)
_done: set[int] = set()
for _class in (_spbase, spmatrix, *[getattr(sparse, f"{f}_{k}") for f in ("csr", "csc", "coo", "bsr", "dia")
                                     for k in ("array", "matrix")]):
    for _name, _body in (
        ("_matmul_dispatch", models.times), ("_rmatmul_dispatch", models.times_from_left), ("dot", models.dot),
        ("__matmul__", models.times), ("__rmatmul__", models.times_from_left),
        ("multiply", matrices.multiply), ("__mul__", matrices.multiplied), ("__rmul__", matrices.multiplied_from_left),
        ("__truediv__", matrices.divided), ("__add__", matrices.added), ("__radd__", matrices.added),
        ("__sub__", matrices.subtracted), ("__rsub__", matrices.subtracted_from),
    ):
        _method = getattr(_class, _name, None)
        if _method is not None and id(_method) not in _done:
            _done.add(id(_method))
            model(_method)(_body)
for _class in (_spbase, spmatrix, *[getattr(sparse, f"{f}_{k}") for f in ("csr", "csc", "coo", "bsr", "dia")
                                     for k in ("array", "matrix")]):
    for _name in ("transpose", "tocsr", "tocsc", "tocoo"):
        _method = getattr(_class, _name, None)
        if _method is not None and id(_method) not in _done:
            _done.add(id(_method))
            model(_method, always=True)(getattr(matrices, _name))
    for _name in ("tolil", "todok", "setdiag"):
        _method = getattr(_class, _name, None)
        if _method is not None and id(_method) not in _done:
            _done.add(id(_method))
            model(_method)(getattr(items, _name))
    for _name in (
        "toarray", "todense", "diagonal", "trace", "sum", "mean", "min", "max", "nonzero", "getnnz", "count_nonzero",
    ):  # of a constant matrix, whose own code takes it apart and puts it together
        _method = getattr(_class, _name, None)
        if _method is not None and id(_method) not in _done:
            _done.add(id(_method))
            zero(_method)
model(_spbase.T.fget, always=True)(matrices.transposed)
for _name in ("spsolve", "spsolve_triangular", "norm", "cg", "bicgstab", "gmres", "minres"):
    model(getattr(linalg, _name))(getattr(solvers, _name))
model(linalg.splu, always=True)(solvers.splu)
model(linalg.factorized, always=True)(solvers.factorized)


def solve_rhs(y_bar: Any, self: Any, trans: Any) -> Any:
    if trans == "H":
        return np.conj(self.solve(np.conj(y_bar)))
    return self.solve(y_bar, "N" if trans == "T" else "T")


vjp(linalg.SuperLU.solve, rhs=solve_rhs, params="self, rhs, trans='N'")
jvp(linalg.SuperLU.solve, rhs=lambda rhs_dot, self, trans: self.solve(rhs_dot, trans))

for _name in (
    "spilu", "expm", "matrix_power", "inv", "bicg", "cgs", "lgmres", "qmr",
    "gcrotmk", "tfqmr", "lsqr", "lsmr", "lobpcg", "onenormest",
):
    if hasattr(linalg, _name):
        refuse(getattr(linalg, _name), "it has no rule; use spsolve, splu, cg or gmres, or a dense matrix")
for _name in ("tril", "triu", "find"):
    if hasattr(sparse, _name):
        refuse(getattr(sparse, _name), "it has no rule; use csr_array, coo_array or diags of the data and its places")

# --- parts of spectra -------------------------------------------------------------------------------------------------

zero(spectra.places_among, spectra.phases_like, spectra.check_size, spectra.check_exponentials)
kind_by_value(spectra.places_among, spectra.phases_like)
linear(
    spectra.expm_times, B=lambda y_bar, A: spectra.expm_times(A.T, y_bar), params="A, B", harmless="A",
)
model(linalg.eigsh, samples=[args(arr(4, 4, positive=True), 2, return_eigenvectors=False)])(spectra.eigsh)
model(linalg.eigs)(spectra.eigs)
model(linalg.svds, samples=[args(arr(4, 5), 2, return_singular_vectors=False)])(spectra.svds)
model(
    linalg.expm_multiply,
    samples=[args(arr(3, 3), arr(3)), args(arr(3, 3), arr(3, 2), 0.0, 1.0, 3), args(MATRIX, arr(3))],
)(spectra.expm_multiply)
