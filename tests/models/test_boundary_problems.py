"""``solve_bvp``: derivatives by parameters, conditions and the ends, against differences and a closed form."""

import numpy as np
import pytest
from scipy import integrate

import s2s
from s2s.errors import NoDerivativeError
from tests.helpers import check_of_array

MESH = np.linspace(0.0, 1.0, 6)


def bratu(p):
    """u'' = -p exp(u), from p[1] to 0."""
    found = integrate.solve_bvp(
        lambda x, y: np.vstack([y[1], -p[0] * np.exp(y[0])]), lambda a, b: np.array([a[0] - p[1], b[0]]), MESH,
        np.zeros((2, 6)), tol=1e-6)
    return np.sum(found.sol(np.array([0.3, 0.55]))[0] ** 2) + found.y[1, 0] + found.yp[0, -1]


def eigenvalue(q):
    """u'' = -q k^2 u, 0 at both ends: k = pi / (length sqrt(q))."""
    x = MESH * q[1]
    start = np.stack([np.sin(np.pi * MESH), np.cos(np.pi * MESH)])
    found = integrate.solve_bvp(
        lambda x, y, p: np.vstack([y[1], -q[0] * p[0] ** 2 * y[0]]), lambda a, b, p: np.array([a[0], b[0], a[1] - 1.0]),
        x, start, p=[3.0], tol=1e-6)
    return found.p[0] if found.success else 0.0 * q[0]


P = np.array([1.2, 0.7])


@pytest.mark.slow
@pytest.mark.grid(0.5)
@pytest.mark.parametrize("f", [bratu, eigenvalue])
def test_derivatives(f):
    check_of_array(f, P, gradient=(1e-5, 0.0), forward=(1e-8, 0.0), second=(1e-5, 0.0), value=1e-9, step=1e-5)


def test_the_eigenvalue_in_closed_form():
    expected = np.pi / (P[1] * np.sqrt(P[0])) * np.array([-0.5 / P[0], -1.0 / P[1]])
    np.testing.assert_allclose(s2s.grad(eigenvalue)(P), expected, rtol=1e-5)


def test_refused():
    with pytest.raises(NoDerivativeError, match="without S="):
        s2s.grad(lambda a: integrate.solve_bvp(
            lambda x, y: a * y, lambda a, b: a, MESH, np.ones((1, 6)), S=np.zeros((1, 1))).y[0, 0])(1.0)
