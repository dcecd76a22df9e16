"""Solvers of scipy.sparse.linalg for a vector, one column and several columns."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import linalg

import s2s

CONSTANT = sparse.csc_array(np.eye(3) * 2.0 + np.diag([0.3, 0.4], 1) + np.diag([0.3, 0.4], -1))
LOWER = sparse.csr_array(np.eye(3) * 2.0 + np.diag([0.3, 0.4], -1))
DATA = np.array([2.0, 2.0, 2.0, 0.3, 0.4])
W = np.array([1.0, 2.0, 3.0])


def made(x):
    return sparse.csc_array((DATA * x[0], ([0, 1, 2, 0, 1], [0, 1, 2, 1, 2])), shape=(3, 3))


def lower(x):
    return sparse.csr_array((DATA * x[0], ([0, 1, 2, 1, 2], [0, 1, 2, 0, 1])), shape=(3, 3))


def vector(x):
    return x**2


def column(x):
    return np.reshape(x**2, (3, 1))


def columns(x):
    return np.stack([x**2, x**3], 1)


def direct(x, b):
    return linalg.spsolve(CONSTANT, b(x))


def direct_of(x, b):
    return linalg.spsolve(made(x), b(x))


def factors_of(x, b):
    return linalg.splu(made(x)).solve(b(x))


def factorized_of(x, b):
    return linalg.factorized(made(x))(b(x))


def triangular(x, b):
    return linalg.spsolve_triangular(LOWER, b(x))


def triangular_of(x, b):
    return linalg.spsolve_triangular(lower(x), b(x))


def conjugate_gradients(x, b):
    return linalg.cg(CONSTANT, b(x), rtol=1e-14)[0]


def residuals_of(x, b):
    return linalg.gmres(made(x), b(x), rtol=1e-14, atol=0.0)[0]


DIRECT = [direct, direct_of, factors_of, factorized_of, triangular, triangular_of]
ITERATIVE = [conjugate_gradients, residuals_of]


@pytest.mark.grid(0.5)
@pytest.mark.parametrize(
    ("solve", "b"),
    [(f, b) for f in DIRECT for b in (vector, column, columns)] + [(f, b) for f in ITERATIVE for b in (vector, column)],
)
@pytest.mark.parametrize("derivative", [s2s.grad, s2s.jacfwd])
def test_right_sides(solve, b, derivative):
    """One column is no vector: the solution may be one, the cotangent of the column is not."""

    def f(x):
        found = solve(x, b)
        return np.sum(found**2 * (W[:, None] if found.ndim == 2 else W))

    x = np.array([1.0, 0.5, 0.3])
    wanted = [(f(x + e) - f(x - e)) / 2e-6 for e in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(derivative(f)(x), wanted, rtol=1e-5)
