"""``linprog``: derivatives of the corner that it finds, against differences of corners found anew."""

import numpy as np
import pytest
from scipy import optimize, sparse

import s2s
from s2s.errors import NoDerivativeError
from tests.helpers import check_of_array, differences

COST = np.array([-1.0, -2.0, 0.5])
A = np.array([[1.0, 1.0, 1.0], [1.0, 3.0, -1.0]])
B = np.array([4.0, 6.0])


def by_right_sides(b):
    return np.sum(optimize.linprog(COST, A_ub=A, b_ub=b).x ** 2)


def by_matrix(a):
    found = optimize.linprog(COST, a, B)
    return np.sum(found.x**2) + found.fun * found.slack[0] + found["x"][1]


def by_cost(c):
    found = optimize.linprog(c, A_ub=sparse.csr_array(A), b_ub=B)
    return found.fun**2 + np.sum(found.ineqlin.marginals**2) + found.lower.marginals[2] ** 3


def by_bounds(p):
    bounds = [(0.0, p[0]), (None, 5.0), (-1.0, p[1] ** 2)]
    found = optimize.linprog(COST, A_ub=A, b_ub=B, A_eq=[[1.0, -1.0, p[1]]], b_eq=[p[0] - 2.0], bounds=bounds)
    return np.sum(found.x**2) * found.get("fun") + found.upper.residual[0] + np.sum(found.eqlin.marginals**2)


@pytest.mark.slow
@pytest.mark.grid(0.5)
@pytest.mark.parametrize(
    "f, x", [(by_right_sides, B), (by_matrix, A), (by_cost, COST), (by_bounds, np.array([2.0, 0.7]))],
    ids=lambda f: getattr(f, "__name__", ""),
)
def test_derivatives(f, x):
    check_of_array(f, x, gradient=(1e-8, 1e-9), forward=(1e-10, 1e-12), second=(1e-6, 1e-7))


@pytest.mark.parametrize(
    "right, cost", [(np.array([4.0, 4.0]), COST), (B, np.array([-1.0, -1.0, -1.0]))], ids=["degenerate", "not unique"]
)
def test_refused_where_the_corner_jumps(right, cost):
    with pytest.raises(NoDerivativeError, match="it is not the only one"):
        s2s.grad(lambda b: optimize.linprog(cost, A_ub=A, b_ub=b).x[0])(right)


def test_attributes_of_results():
    def cost(x, p):
        return np.sum((x - p) ** 4) / 4 + np.sum(p * x**2)

    def f(p):
        found = optimize.minimize(cost, [0.5, 0.5], (p,), tol=1e-12)
        return found.x[0] * found.get("fun") + np.sum(found.jac * p) + found.get("absent", 1.0) * found.x[1]

    p = np.array([1.3, 0.7])
    np.testing.assert_allclose(s2s.grad(f)(p), differences(f, p, 1e-2), rtol=1e-5)
    np.testing.assert_allclose(s2s.jacfwd(f)(p), s2s.grad(f)(p), rtol=1e-9)
    with pytest.raises(NoDerivativeError, match="has no derivative here"):
        s2s.grad(lambda p: np.sum(optimize.minimize(cost, [0.5, 0.5], (p,)).hess_inv))(p)
