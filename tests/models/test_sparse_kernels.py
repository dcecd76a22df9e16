"""The compiled loops of ``scipy.sparse``: models compute what the loops do, and recorded programs have the gradient."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse import _sparsetools

import s2s
from s2s.models import sparse_kernels as models

_draws = np.random.default_rng(0)


def _matrix(rows, columns):
    dense = (_draws.random((rows, columns)) < 0.6) * _draws.normal(size=(rows, columns))
    return sp.csr_matrix(dense)


A, B, SQUARE = _matrix(4, 3), _matrix(3, 5), _matrix(4, 4)
OF_A, OF_B = (A.indptr, A.indices, A.data), (B.indptr, B.indices, B.data)
OTHER = _matrix(4, 3)
X, XS = _draws.normal(size=3), _draws.normal(size=(3, 2))
AC, COO = A.tocsc(), A.tocoo()
UNSORTED = sp.csr_matrix((np.arange(1.0, 6.0), [2, 0, 1, 0, 0], [0, 2, 5]), shape=(2, 3))
OUT_OF_ORDER = (UNSORTED.indptr, UNSORTED.indices, UNSORTED.data, *[np.array(part, np.int32) for part in (
    [0, 3, 4], [1, 0, 1, 2])], np.array([0.5, -2.5, 0.25, 3.0]))
PRODUCT = (A @ B).nnz


OFFSETS, DIAGONALS = np.array([0, -1, 2], dtype=np.int32), _draws.normal(size=(3, 4))


def ints(count):
    return np.zeros(count, dtype=np.int32)


CALLS = {
    "csr_matvec": (4, 3, *OF_A, X, np.ones(4)),
    "csc_matvec": (4, 3, AC.indptr, AC.indices, AC.data, X, np.ones(4)),
    "csr_matvecs": (4, 3, 2, *OF_A, XS.ravel(), np.ones(8)),
    "csc_matvecs": (4, 3, 2, AC.indptr, AC.indices, AC.data, XS.ravel(), np.ones(8)),
    "coo_matvec": (COO.nnz, COO.row, COO.col, COO.data, X, np.ones(4)),
    "coo_tocsr": (4, 3, COO.nnz, COO.row[::-1].copy(), COO.col[::-1].copy(), COO.data, ints(5), ints(COO.nnz),
                  np.zeros(COO.nnz)),
    "csr_tocsc": (4, 3, *OF_A, ints(4), ints(A.nnz), np.zeros(A.nnz)),
    "csr_todense": (4, 3, *OF_A, np.zeros((4, 3))),
    "csr_matmat": (4, 5, *OF_A, *OF_B, ints(5), ints(PRODUCT), np.zeros(PRODUCT)),
    "csr_diagonal": (-1, 4, 4, SQUARE.indptr, SQUARE.indices, SQUARE.data, np.zeros(3)),
    "csr_scale_rows": (4, 3, A.indptr, A.indices, A.data.copy(), np.arange(4.0)),
    "csr_scale_columns": (4, 3, A.indptr, A.indices, A.data.copy(), np.arange(3.0)),
    "csr_sort_indices": (2, UNSORTED.indptr, UNSORTED.indices.copy(), UNSORTED.data.copy()),
    "csr_plus_csr": (4, 3, *OF_A, OTHER.indptr, OTHER.indices, OTHER.data, ints(5), ints(30), np.zeros(30)),
    "csr_minus_csr": (4, 3, *OF_A, OTHER.indptr, OTHER.indices, OTHER.data, ints(5), ints(30), np.zeros(30)),
    "csr_elmul_csr": (4, 3, *OF_A, OTHER.indptr, OTHER.indices, OTHER.data, ints(5), ints(30), np.zeros(30)),
    "csr_plus_csr of entries out of order": (2, 3, *OUT_OF_ORDER, ints(3), ints(10), np.zeros(10)),
    "csr_row_index": (3, np.array([2, 0, 2], dtype=np.int32), *OF_A, ints(9), np.zeros(9)),
    "coo_matmat_dense": (COO.nnz, 2, COO.row, COO.col, COO.data, XS.ravel(), np.ones((4, 2))),
    "dia_matvec": (4, 5, 3, 4, OFFSETS, DIAGONALS, np.arange(5.0), np.ones(4)),
    "dia_tocsr": (4, 5, 3, 4, OFFSETS, DIAGONALS, np.array([1, 0, 2], dtype=np.int32), np.zeros(20), ints(20), ints(5)),
    "csr_row_slice": (3, -1, -2, *OF_A, ints(9), np.zeros(9)),
}


def _copies(args):
    return [a.copy() if isinstance(a, np.ndarray) else a for a in args]


@pytest.mark.parametrize("case", [case for case in CALLS if hasattr(_sparsetools, case.split()[0])])
def test_a_model_computes_what_the_loop_does(case):
    wanted, found, name = _copies(CALLS[case]), _copies(CALLS[case]), case.split()[0]
    assert getattr(_sparsetools, name)(*wanted) == getattr(models, name)(*found)
    for a, b in zip(wanted, found):
        np.testing.assert_allclose(b, a, rtol=1e-14)


@pytest.mark.parametrize("is_fortran", [0, 1])
def test_dense_from_coordinates(is_fortran):
    args = (4, 3, COO.nnz, COO.row, COO.col, COO.data)
    wanted, found = np.zeros(12), np.zeros(12)
    _sparsetools.coo_todense(*args, wanted, is_fortran)
    models.coo_todense(*args, found, is_fortran)
    np.testing.assert_array_equal(found, wanted)


def test_duplicates_are_summed():
    matrix = sp.csr_matrix((np.arange(1.0, 7.0), [0, 2, 2, 1, 1, 1], [0, 3, 6]), shape=(2, 3))
    pointer, columns, data = matrix.indptr.copy(), matrix.indices.copy(), matrix.data.copy()
    models.csr_sum_duplicates(2, 3, pointer, columns, data)
    assert (*pointer,) == (0, 2, 3) and (*columns[:3],) == (0, 2, 1) and (*data[:3],) == (1.0, 5.0, 15.0)


def test_an_entry_that_is_dropped_is_refused():
    args = (4, 3, *OF_A, A.indptr, A.indices, A.data, ints(5), ints(20), np.zeros(20))
    with pytest.raises(ValueError, match="drops an entry that is exactly zero"):
        models.csr_minus_csr(*args)


# --- programs ---------------------------------------------------------------------------------------------------------

ROWS, COLUMNS = np.nonzero(A.toarray())
ROWS_B, COLUMNS_B = np.nonzero(B.toarray())
N = len(ROWS)
DATA = np.concatenate([A.data, B.data])
V, W = _draws.normal(size=5), _draws.normal(size=4)


def pair(x, kind):
    a = sp.coo_matrix((x[:N], (ROWS, COLUMNS)), shape=(4, 3))
    return a.asformat(kind), sp.coo_matrix((x[N:], (ROWS_B, COLUMNS_B)), shape=(3, 5)).asformat(kind)


def times_vector(x, kind):
    a, b = pair(x, kind)
    return W @ (a @ (b @ V))


def times_columns(x, kind):
    a, b = pair(x, kind)
    return W @ (a @ (b @ np.outer(V, V))) @ V


def products(x, kind):
    a, b = pair(x, kind)
    return W @ ((a @ b) @ V)


def dense(x, kind):
    a, b = pair(x, kind)
    return W @ a.toarray() @ (b.toarray() @ V)


def entries(x, kind):
    a, b = pair(x, kind)
    return np.sum(a.diagonal() ** 2) + np.sum(b.diagonal(1) ** 3) + a.sum() ** 2 + np.sum(a.T @ W)


def combined(x, kind):
    a, _ = pair(x, kind)
    return W @ ((a + 2.0 * a.multiply(a) - a.multiply(a).multiply(a)) @ V[:3])


def duplicates(x, kind):
    twice = np.concatenate([x[:N], x[:N] ** 2])
    a = sp.coo_matrix((twice, (np.r_[ROWS, ROWS], np.r_[COLUMNS, COLUMNS])), shape=(4, 3))
    return W @ (a.asformat(kind) @ V[:3])


def diagonals(x, kind):
    a = sp.diags([x[:4], x[4:7]], [0, -1], shape=(4, 4))
    return W @ (a.asformat(kind) @ (a @ W)) + W @ (sp.diags(x[:4]) @ W)


def solved(x, kind):
    a = sp.coo_matrix((x[:4], ([0, 1, 2, 3], [0, 1, 2, 3])), shape=(4, 4)) + sp.diags(x[4:7], 1, shape=(4, 4))
    return W @ sp.linalg.spsolve(a.asformat("csr" if kind == "coo" else kind) + 3.0 * sp.eye(4), W * x[:4])


def solved_column(x, kind):
    a = sp.coo_matrix((x[:4], ([0, 1, 2, 3], [0, 1, 2, 3])), shape=(4, 4)) + 3.0 * sp.eye(4)
    return W @ sp.linalg.spsolve(a.asformat("csr" if kind == "coo" else kind), np.reshape(W * x[:4], (4, 1)))


@pytest.mark.grid(0.3)
@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
@pytest.mark.parametrize(
    "f", [times_vector, times_columns, products, dense, entries, combined, duplicates, diagonals, solved, solved_column]
)
def test_recorded_programs(f, kind, monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "always")
    rows = [(f(DATA + d, kind) - f(DATA - d, kind)) / 2e-6 for d in np.eye(len(DATA)) * 1e-6]
    np.testing.assert_allclose(s2s.grad(f)(DATA, kind), rows, rtol=1e-6, atol=1e-8)
    tangent = s2s.jvp(lambda x: f(x, kind), (DATA,), (np.ones_like(DATA),))[1]
    np.testing.assert_allclose(tangent, np.sum(rows), rtol=1e-6)
