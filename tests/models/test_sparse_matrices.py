"""Sparse matrices through the compiler: constant ones, and those whose data is differentiated; to second order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import linalg

import s2s
from s2s.errors import NoDerivativeError
from s2s.models.sparse import Entries

ROWS, COLUMNS = np.array([0, 0, 1, 2, 3, 3]), np.array([0, 2, 1, 2, 0, 3])
DATA = np.array([2.0, 0.5, 1.5, 3.0, 0.3, 2.5])
CONSTANT = sparse.csr_array((DATA, (ROWS, COLUMNS)), shape=(4, 4))
INDICES, STARTS = CONSTANT.indices, CONSTANT.indptr
X = np.array([0.3, 1.0, -0.5, 0.7])
LONG = np.linspace(0.5, 2.0, 8)
DENSE = np.outer(X, X) + 4.0 * np.eye(4)


def coordinates(t):
    matrix = sparse.csr_matrix((DATA * t, (ROWS, COLUMNS)), shape=(4, 4))
    return np.sum((matrix @ X) ** 2) + np.sum((matrix.T @ (X * t)) ** 3) + np.sum((X @ matrix) ** 2)


def starts(t):
    matrix = sparse.csc_array((DATA * t, INDICES, STARTS), shape=(4, 4))
    return np.sum((matrix @ X) ** 2) + np.sum(matrix.tocsr().dot(np.stack([X, X * t], axis=1)) ** 2)


def repeated_places(t):
    matrix = sparse.coo_matrix((DATA * t, ([0, 0, 0, 1, 2, 3], [1, 1, 2, 3, 0, 3])), shape=(4, 4)).tocsr()
    return np.sum(matrix.data**2 * np.arange(5)) + np.sum((matrix * matrix @ X) ** 2)


def blocks_and_diagonals(t):
    blocks = np.arange(1.0, 9.0).reshape(2, 2, 2) * t
    by_blocks = sparse.bsr_array((blocks, np.array([0, 1]), np.array([0, 1, 2])), shape=(4, 4))
    by_diagonals = sparse.dia_array((np.outer([1.0, 2.0], X) * t, np.array([0, -1])), shape=(4, 4))
    band = sparse.diags([LONG * t, LONG[:7]], [0, 1])
    return np.sum((by_blocks @ X) ** 2) + np.sum((by_diagonals @ X) ** 2) + np.sum((band @ LONG) ** 2) + np.sum(
        (sparse.diags_array([LONG * t, LONG[:7]], offsets=[0, -1]) @ LONG) ** 2)


def arithmetic(t):
    a = sparse.csr_array((DATA * t, (ROWS, COLUMNS)), shape=(4, 4))
    b = CONSTANT
    sums = np.sum(((a + b) @ X) ** 2) + np.sum(((b - a.T) @ X) ** 2) + np.sum(((t * b + b.T) @ X) ** 2)
    products = np.sum((a @ b).toarray() ** 2) + np.sum((b @ a).sum(axis=0) ** 2) + a.multiply(b).sum() ** 2
    rest = a.multiply(DENSE).sum() + (a / t).sum() + (2.0 * a).sum() + a.diagonal().sum() ** 2 + a.mean() + a.trace()
    return sums + products + rest + linalg.norm(a) + np.sum(a.power(2).sum(axis=1) ** 2)


def put_together(t):
    a = sparse.csr_array((DATA * t, (ROWS, COLUMNS)), shape=(4, 4))
    stacked = np.sum((sparse.vstack([a, CONSTANT]) @ X) ** 2) + np.sum((sparse.hstack([a, CONSTANT]) @ LONG) ** 2)
    return stacked + np.sum((sparse.block_diag([a, a]) @ LONG) ** 2) + np.sum(
        (sparse.kron(a, sparse.eye_array(2)) @ LONG) ** 2)


def solves(t):
    a = sparse.csc_matrix((DATA * t, (ROWS, COLUMNS)), shape=(4, 4))
    factors = linalg.splu(a)
    return np.sum(linalg.spsolve(a, X) ** 2) + np.sum(factors.solve(X * t, "T") ** 2) + np.sum(
        linalg.factorized(a)(X * t) ** 2)


def constant_solves(t):
    a = sparse.csc_matrix(CONSTANT)
    return np.sum(linalg.splu(a).solve(X * t) ** 2) + np.sum(linalg.factorized(a)(X * t**2) ** 2) + np.sum(
        linalg.spsolve(a, X * t) ** 2)


def iterative_solves(t):
    shifted = sparse.csr_array(DENSE) + t * sparse.eye_array(4)
    conjugate = np.sum(linalg.cg(DENSE * t, X, rtol=1e-13)[0] ** 2) + np.sum(
        linalg.cg(shifted, X * t, rtol=1e-13)[0] ** 2)
    return conjugate + np.sum(linalg.gmres(CONSTANT, X * t, rtol=1e-13)[0] ** 2) + np.sum(
        linalg.bicgstab(DENSE, X * t, rtol=1e-13)[0] ** 2)


def numbers_of_a_constant(t):
    solved = np.linalg.solve(GLOBAL.toarray(), X * t**2)
    rows, columns = GLOBAL.nonzero()
    return np.sum(solved) + np.sum((GLOBAL.diagonal() * t) ** 3) * GLOBAL.sum() + np.sum((t * X)[rows] * X[columns])


def places_in_floats(t):
    table = np.stack([ROWS, COLUMNS, DATA * t], axis=1)
    matrix = sparse.csr_matrix((table[:, 2], (table[:, 0], table[:, 1])), shape=(4, 4))
    return np.sum((matrix @ (X * t)) ** 2)


def parts(t):
    free, inside = np.array([0, 3, 2]), X > 0.0
    total = 0.0
    for kind in (sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array, sparse.csc_array):
        a = kind((np.r_[DATA * t, t**2], (np.r_[ROWS, 0], np.r_[COLUMNS, 0])), shape=(4, 4))  # one place comes twice
        total += np.sum(linalg.spsolve(a[free][:, free].tocsc(), X[:3]) ** 2) + np.sum(
            linalg.spsolve(a[np.ix_(inside, inside)].tocsc(), X[:3]) ** 2)
        total += np.sum((a[1:, :-1] @ X[:3]) ** 2) + np.sum((a[[-1, 0, 0]] @ X) ** 3)
        total += np.sum((a[free[:, None], free[:2]] @ X[:2]) ** 2)
        total += a[0, 0] ** 2 * a[-1, -1] + a[0, 1]
    rows = sparse.csr_matrix((DATA * t, (ROWS, COLUMNS)), shape=(4, 4))
    return total + np.sum((rows[0] @ X) ** 2) + np.sum((rows[:, 2].T @ X) ** 2)


GLOBAL = sparse.csr_matrix(DENSE)


@pytest.mark.grid(0.25)
@pytest.mark.parametrize(
    "f", [coordinates, starts, repeated_places, blocks_and_diagonals, arithmetic, put_together, solves,
          constant_solves, iterative_solves, numbers_of_a_constant, places_in_floats, parts], ids=lambda f: f.__name__,
)
def test_programs(f: Any) -> None:
    x, h = 0.4, 1e-3

    def difference(of: Any) -> Any:
        return (8.0 * (of(x + h) - of(x - h)) - (of(x + 2.0 * h) - of(x - 2.0 * h))) / (12.0 * h)

    value, gradient = s2s.value_and_grad(f)(x)
    assert value == pytest.approx(f(x), rel=1e-10)
    assert gradient == pytest.approx(difference(f), rel=1e-6)
    assert s2s.jvp(f, (x,), (1.0,))[1] == pytest.approx(gradient, rel=1e-9)
    if f is not arithmetic:  # a list of which not all items are differentiated
        assert s2s.grad(s2s.grad(f))(x) == pytest.approx(difference(s2s.grad(f)), rel=1e-6)


def energy(data, x):
    matrix = sparse.csr_array((data, (ROWS, COLUMNS)), shape=(4, 4))
    return np.sum((matrix @ x) ** 2)


def test_the_cotangent_of_the_data_lies_where_the_data_is() -> None:
    found, by_x = s2s.grad(energy, argnums=(0, 1))(DATA, X)
    y = CONSTANT @ X
    np.testing.assert_allclose(found, 2.0 * y[ROWS] * X[COLUMNS])
    np.testing.assert_allclose(by_x, 2.0 * CONSTANT.T @ y)
    text = s2s.source(energy, DATA, X)
    assert "toarray" not in text and "outer" not in text


def of_an_array(t):
    return np.sum(linalg.spsolve(sparse.csc_matrix(np.diag(X * t)), X))


def of_a_matrix(t):
    return np.sum(sparse.csr_matrix((DATA * t, (ROWS, COLUMNS)), shape=(4, 4)).sum(axis=0))


def as_a_number(t):
    return float(np.sum(sparse.csr_matrix((DATA * t, (ROWS, COLUMNS)), shape=(4, 4)).todense()))


def not_converged(t):
    return np.sum(linalg.cg(DENSE, X * t, maxiter=1, rtol=1e-14)[0])


def by_coordinates(t):
    return sparse.coo_array((DATA * t, (ROWS, COLUMNS)), shape=(4, 4))[:2].sum()


def a_row(t):
    return np.sum(sparse.csr_array((DATA * t, (ROWS, COLUMNS)), shape=(4, 4))[0] @ X)


def single_items(t):
    return np.sum(sparse.csr_matrix((DATA * t, (ROWS, COLUMNS)), shape=(4, 4))[ROWS, COLUMNS])


def items_in_a_table(t):
    rows, columns = np.array([[0, 1], [1, 2]]), np.array([[0, 1], [0, 2]])
    return np.sum(sparse.csr_matrix((DATA * t, (ROWS, COLUMNS)), shape=(4, 4))[rows, columns] @ X[:2])


def rows_across(t):  # as the transpose of a selection
    rows, columns = np.array([[1, 2]]), np.array([[0], [3]])
    return np.sum(sparse.csr_matrix((DATA * t, (ROWS, COLUMNS)), shape=(4, 4))[rows, columns] @ X[:2])


def column_across(t):
    return np.sum(sparse.csr_matrix((DATA * t, (ROWS, COLUMNS)), shape=(4, 4))[np.array([[0, 1]]), 2] @ X[:2])


def asked_for_an_attribute(t):
    return t * hasattr(sparse.csr_matrix((DATA * t, (ROWS, COLUMNS)), shape=(4, 4)), "indptr")


@pytest.mark.parametrize(
    "f, reason",
    [
        (asked_for_an_attribute, "the attribute `indptr` of `csr_matrix`"),
        (by_coordinates, "tocsr"), (a_row, "keep both axes"), (single_items, "np.ix_"),
        (items_in_a_table, "np.ix_"), (rows_across, "np.ix_"), (column_across, "np.ix_"),
        (of_an_array, "which of its items are zero"), (of_a_matrix, "np.matrix"), (as_a_number, "np.matrix"),
        (not_converged, "converged"),
    ],
)
def test_refused_by_name(f: Any, reason: str) -> None:
    with pytest.raises(NoDerivativeError, match=reason):
        s2s.grad(f)(0.4)


@pytest.mark.parametrize("of", ["csr", "csc", "coo"])
@pytest.mark.parametrize("to", ["csr", "csc", "coo", None])
def test_forms_are_those_of_scipy(of: str, to: str | None) -> None:
    """Of a matrix and of its transpose: which form it is, and the order of its items."""
    rows, columns = np.array([3, 0, 2, 0, 3, 1]), np.array([0, 2, 1, 2, 1, 0])
    given = sparse.coo_array((DATA, (rows, columns)), shape=(4, 3)).asformat(of)
    places = given.tocoo()
    known = Entries(given.data, places.row, places.col, (4, 3), of, True)
    for wanted, found in ((given, known), (given.T, known.T)):
        wanted, found = wanted.asformat(to), found.asformat(to)
        assert (found.format, found.shape, found.nnz) == (wanted.format, wanted.shape, wanted.nnz)
        assert found.stands_for(found.format, True) is type(wanted)
        np.testing.assert_array_equal(found.data, wanted.data)
        np.testing.assert_array_equal([found.row, found.col], [wanted.tocoo().row, wanted.tocoo().col])
