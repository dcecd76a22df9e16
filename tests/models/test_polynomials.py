"""Polynomials as objects, integrals over several variables, bases and banded matrices: models and rules of SciPy."""

import numpy as np
import pytest
from scipy import integrate, interpolate, linalg

import s2s
from s2s.errors import DifferentiationError
from tests.helpers import check, differences

pytestmark = pytest.mark.filterwarnings("ignore:.*removed in SciPy:DeprecationWarning")
X = np.array([0.3, 0.7, 1.2, 0.9, 1.6, 0.45])
GRID = np.linspace(0.0, 5.0, 6)


def arithmetic(x):
    p, q = np.poly1d(x[:3]), np.poly1d([1.0, 2.0])
    r = p * q + 3 - q * x[3] + 2 * p
    return r(0.4) * r.deriv()(0.3) + r.integ()(x[4]) + r[1] + r.order


def by_roots(x):
    p = np.poly1d(x[:2], True)
    return p(0.4) ** 2 + np.sum(np.abs(p.r) ** 2) + np.sum(p.c**2) + (-p / 2.0)(x[3])


def fitted(x):
    p = np.poly1d(np.polyfit(GRID, x, 2))
    return np.sum(p(GRID) ** 2) + p.deriv(2)(0.0)


def pade(x):
    p, q = interpolate.pade(x, 2)
    return p(0.3) / q(0.3)


def lagrange(x):
    return interpolate.lagrange(GRID, x)(1.3)


def three_variables(x):
    return x[5] * integrate.tplquad(
        lambda a, b, c: x[0] * a * b * c, 0, 1, 0, lambda t: t * x[2], lambda u, v: 0.0, lambda u, v: x[1] * u)[0]


def ranges_of_ranges(x):
    limits = [lambda b, c: [0.0, x[1] * b], [0.0, 2.0]]
    inner = integrate.nquad(lambda a, b, c: x[0] * a * b + c, limits, args=(3.0,))[0]
    return x[5] * inner + integrate.nquad(lambda a, b: np.sin(x[0] * a * b) + x[1] * a, [[0.0, 1.0], [0.0, x[2]]])[0]


def of_vectors(x):
    return np.sum(integrate.quad_vec(lambda t: np.sin(t * x), 0.0, x[1])[0] ** 2)


def null_vector(x):
    n = linalg.null_space(np.stack([x[:3], x[3:]]))[:, 0]
    return np.sum((n / np.sum(n)) ** 2 * np.arange(3.0))


def pairs_of_bands(x):
    w, v = linalg.eigh_tridiagonal(x[:3], x[3:5])
    u, r = linalg.eig_banded(np.stack([4.0 * x[:3], x[3:]]), lower=True)
    return np.sum(w**3) + np.sum(v[0] ** 2 * x[:3]) + np.sum(u**2) + np.sum(r[1] ** 2 * x[:3])


PROGRAMS = [arithmetic, by_roots, fitted, pade, lagrange, null_vector, pairs_of_bands]


@pytest.mark.parametrize("f", PROGRAMS)
def test_first_order(f):
    check(f, (X,))


@pytest.mark.parametrize("f", [three_variables, ranges_of_ranges, of_vectors])
def test_integrals(f):
    """The value is that of SciPy to the accuracy that is asked for."""
    wanted = differences(f, X)
    value, gradient = s2s.value_and_grad(f)(X)
    np.testing.assert_allclose(value, f(X), rtol=1e-7)
    np.testing.assert_allclose(gradient, wanted, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(s2s.jvp(f, (X,), (np.cos(X),))[1], wanted @ np.cos(X), rtol=1e-6)


@pytest.mark.grid(0.4)
@pytest.mark.parametrize("f", [arithmetic, pade, lagrange, null_vector, pairs_of_bands])
def test_second_order(f):
    gradient, v = s2s.grad(f), np.cos(np.arange(6.0))
    wanted = differences(lambda t: float(np.sum(v * gradient(X + t * v))), 0.0)
    np.testing.assert_allclose(np.sum(v * s2s.jvp(gradient, (X,), (v,))[1]), wanted, rtol=1e-6)
    np.testing.assert_allclose(s2s.vjp(gradient, X)[1](v)[0] @ v, wanted, rtol=1e-6)


def factored_bands(x):
    upper = linalg.cholesky_banded(np.stack([x[:3], 4.0 + x[3:]]))
    lower = linalg.cholesky_banded(np.stack([4.0 + x[3:], x[:3]]), lower=True)
    solved = linalg.cho_solve_banded((upper, False), x[:3]) + linalg.cho_solve_banded((lower, True), x[3:])
    return np.sum(upper**3) + np.sum(lower**2) + np.sum(solved**2)


def test_factors_of_banded_matrices():
    check(factored_bands, (X,))


def projector(x):
    n = linalg.orth(np.stack([x[:3], x[3:]]).T)
    return np.sum((n @ n.T) ** 2 * np.arange(9.0).reshape(3, 3))


def test_the_projector_on_a_space():
    check(projector, (X,))


def test_a_leading_zero_is_refused():
    with pytest.raises(DifferentiationError, match="np.poly1d"):
        s2s.grad(lambda x: np.poly1d(x)(2.0))(np.array([0.0, 1.0, 2.0]))


def test_a_basis_that_may_turn_is_refused():
    with pytest.raises(DifferentiationError, match="null_space"):
        s2s.grad(lambda x: np.sum(linalg.null_space(x[None, :])))(X)
