"""Sparse matrices that are filled item by item: what is stored into ``lil`` and ``dok`` is differentiated."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import linalg

import s2s
from s2s.errors import NoDerivativeError
from tests.helpers import differences

X = np.array([0.7, 1.3, 2.1, 0.4])
ELEMENT = np.array([[1.0, -1.0], [-1.0, 1.0]])


def items(x):
    matrix = sparse.lil_matrix((4, 4))
    for e in range(len(x)):
        matrix[e, e] += x[e] + 2.0
        if e > 0:
            matrix[e, e - 1] -= x[e]
    return np.sum(linalg.spsolve(matrix.tocsr(), np.ones(4)))


def elements(x):
    matrix, load = sparse.lil_matrix((5, 5)), np.ones(5)
    for e in range(4):
        nodes = [e, e + 1]
        matrix[np.ix_(nodes, nodes)] += ELEMENT * x[e]
    matrix[0, :] = 0
    matrix[0, 0], load[0] = 1.0, x[0]
    matrix[:, -1] = 0.0
    matrix[-1, -1] = x[1]
    return np.sum(linalg.spsolve(matrix.tocsr(), load) ** 2)


def blocks(x):
    matrix = sparse.lil_array((5, 5))
    for e in range(4):
        matrix[e : e + 2, e : e + 2] = matrix[e : e + 2, e : e + 2] + ELEMENT * x[e]
        matrix[e : e + 2, e : e + 2] -= np.eye(2) * 0.1
    matrix.setdiag(x**2, 1)
    matrix[4, 4] += 3.0
    by = np.arange(5.0)
    return np.sum(linalg.spsolve(matrix.tocsc(), np.ones(5)) ** 2) + np.sum((matrix @ by) ** 2 + (matrix.T @ by) ** 3)


class Stiffness:
    def __init__(self, n):
        self.n = n
        self.matrix = sparse.dok_matrix((n, n), dtype=np.float64)

    def add(self, e, k):
        for a in range(2):
            for b in range(2):
                self.matrix[e + a, e + b] += k * ELEMENT[a, b]

    def solved(self):
        matrix, free = self.matrix.tocsr(), np.arange(1, self.n)
        return linalg.spsolve(matrix[free][:, free], np.ones(self.n - 1))


def in_an_object(x):
    whole = Stiffness(5)
    for e in range(4):
        whole.add(e, x[e])
    return np.sum(whole.solved() ** 2)


def rows_and_columns(x):
    matrix = sparse.lil_matrix((3, 4))
    matrix[0] = x
    matrix[1, :] = x[None, :] * 2.0
    matrix[2, 1:3] = x[:2]
    matrix[:, 3] = np.array([[1.0], [2.0], [3.0]]) * x[3]
    matrix[:, 0] = x[:3]
    k = np.arange(3)
    matrix[k, k + 1] += x[:3] ** 2
    return np.sum((matrix.tocsr() @ x) ** 2) + matrix[0, 1] * matrix[-1, -1] + np.sum((matrix[1] @ x) ** 2)


def read_and_summed(x):
    matrix = sparse.lil_matrix((4, 4))
    matrix.setdiag(x)
    matrix.setdiag(2.0, k=-1)
    total = matrix.sum() ** 2 + matrix.trace() + np.sum(matrix.diagonal() ** 2) + matrix.nnz
    total += np.sum((matrix[[0, 2], :] @ x) ** 2) + np.sum((matrix[1:, 1:].tocsr() @ x[1:]) ** 2)
    other = 2.0 * matrix + sparse.identity(4) - matrix / 3.0 + matrix.T
    return total + np.sum((other @ x) ** 2) + np.sum(matrix.multiply(matrix) @ x)


def of_another_matrix(x):
    k = np.arange(4)
    given = sparse.csr_matrix((x * x, (k, k)), shape=(4, 4))
    matrix = given.tolil()
    matrix[0, 3] = x[1]
    kept = matrix.tocsr()
    matrix[0, 0] = 100.0
    return np.sum((kept @ x) ** 2)


def of_constants(x):
    first = sparse.csr_matrix(np.diag([1.0, 2.0, 3.0, 4.0])).tolil()
    second = sparse.lil_matrix(np.diag([1.0, 2.0, 3.0, 4.0]))
    first[1, 0], second[2, 1] = x[2] * x[3], x[0]
    first[2, 2] *= x[0]
    return np.sum((first.tocsr() @ x) ** 2) + np.sum((second * x) ** 2)


def assembled_again(x):
    u = x
    for _ in range(3):
        matrix = sparse.lil_matrix((4, 4))
        for k in range(4):
            matrix[k, k] = 3.0 + u[k] ** 2 if x[k] > 0.5 else 2.0
            if k > 0:
                matrix[k, k - 1] = matrix[k - 1, k] = -1.0
        u = linalg.spsolve(matrix.tocsr(), x)
    return np.sum(u**2)


def complex_items(x):
    matrix = sparse.lil_matrix((4, 4), dtype=complex)
    for k in range(4):
        matrix[k, k] = x[k] + 1j * x[0]
    return np.sum(np.abs(matrix.tocsr() @ (x + 0j)) ** 2)


def zero_is_stored(x):
    matrix = sparse.lil_matrix((4, 4))
    for k in range(4):
        matrix[k, k] = 1.0
        matrix[k, 0] += x[k] - x[1]
    return np.sum(linalg.spsolve(matrix.tocsc(), x) ** 2)


@pytest.mark.parametrize("program", [
    items, elements, blocks, in_an_object, rows_and_columns, read_and_summed, of_another_matrix, of_constants,
    assembled_again, complex_items, zero_is_stored,
], ids=lambda f: f.__name__)
def test_stores_are_differentiated(program):
    expected = differences(program, X)
    value, found = s2s.value_and_grad(program)(X)
    assert value == pytest.approx(program(X), rel=1e-12)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    direction = np.cos(X)
    np.testing.assert_allclose(s2s.jvp(program, (X,), (direction,))[1], expected @ direction, rtol=1e-6)


def test_a_matrix_of_constants_stays_what_it_is():
    def f(x):
        matrix = sparse.lil_matrix((4, 4))
        for k in range(4):
            matrix[k, k] = 2.0
        return np.sum(linalg.spsolve(matrix.tocsc(), x) ** 2)

    assert "lil_matrix((4, 4))" in s2s.source(f, X)
    np.testing.assert_allclose(s2s.grad(f)(X), X / 2.0)


def test_a_read_costs_one_item():
    text = s2s.source(items, X)
    assert text.count("zeros_like") == 2  # the cotangents of the matrix and of x


def what_it_is(x):
    matrix = sparse.dok_matrix((4, 4))
    matrix[0, 0] = x[0]
    held = isinstance(matrix, sparse.dok_matrix) and sparse.issparse(matrix) and matrix.format == "dok"
    return matrix[0, 0] ** 2 * held


def test_the_class_is_that_of_scipy():
    np.testing.assert_allclose(s2s.grad(what_it_is)(X), [2.0 * X[0], 0.0, 0.0, 0.0])


def large(x):
    matrix = sparse.lil_matrix((10**5, 10**5))
    matrix[0, 0] = x[0]
    return matrix[0, 0] ** 2


def a_sum_with_an_array(x):
    matrix = sparse.lil_matrix((4, 4))
    matrix[0, 0] = x[0]
    return np.sum((matrix + np.ones((4, 4))) * x)


def keys_of_a_dict(x):
    matrix = sparse.dok_matrix((4, 4))
    matrix[0, 0] = x[0]
    return sum(v**2 for v in matrix.values())


def into_rows(x):
    matrix = sparse.csr_matrix((x, (np.arange(4), np.arange(4))))
    matrix[0, 0] = x[1]
    return np.sum(matrix @ x)


@pytest.mark.parametrize("program, reason", [
    (large, "it is large"), (a_sum_with_an_array, "Sum"), (keys_of_a_dict, "`values` of `dok_matrix`"),
    (into_rows, "K.tolil"),
])
def test_refused(program, reason):
    with pytest.raises(NoDerivativeError, match=reason):
        s2s.grad(program)(X)
