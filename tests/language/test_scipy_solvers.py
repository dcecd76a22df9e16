"""Derivatives as the callbacks of SciPy's optimizers, root finders and integrators, with nothing in between."""

import numpy as np
import pytest
from scipy import integrate, optimize

import s2s

START = np.array([-1.2, 1.0, 0.5])


def rosenbrock(x, a):
    return np.sum(a * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def residuals(p, t, y):
    return p[0] * np.exp(-p[1] * t) - y


def circle(x, radius):
    return np.array([x[0] ** 2 + x[1] ** 2 - radius**2, x[0] - x[1]])


def robertson(t, y, k):
    """Chemical kinetics with rates that differ by nine orders of magnitude."""
    slow, fast, quadratic = k * y[0], 1e4 * y[1] * y[2], 3e7 * y[1] ** 2
    return np.array([-slow + fast, slow - fast - quadratic, quadratic])


def counting(f):
    """A function, and the list of results that it has given."""
    given = []

    def counted(*args, **kwargs):
        given.append(f(*args, **kwargs))
        return given[-1]

    return counted, given


@pytest.mark.parametrize("method", ["BFGS", "L-BFGS-B", "CG", "SLSQP"])
def test_minimize_by_value_and_gradient(method):
    found = optimize.minimize(s2s.value_and_grad(rosenbrock), START, args=(50.0,), jac=True, method=method)
    assert found.success and found.fun < 1e-8
    np.testing.assert_allclose(found.x, 1.0, atol=1e-3)


@pytest.mark.parametrize("method", ["Newton-CG", "trust-krylov", "trust-ncg", "trust-constr"])
def test_minimize_by_products_with_the_hessian(method):
    product, given = counting(s2s.hvp(rosenbrock))
    found = optimize.minimize(
        s2s.value_and_grad(rosenbrock), START, args=(50.0,), jac=True, hessp=product, method=method
    )
    assert found.fun < 1e-8 and given
    np.testing.assert_allclose(found.x, 1.0, atol=1e-3)


@pytest.mark.parametrize("method", ["Newton-CG", "trust-krylov", "trust-exact", "trust-constr"])
def test_minimize_by_the_hessian(method):
    hessian, given = counting(s2s.hessian(rosenbrock))
    found = optimize.minimize(
        rosenbrock, START, args=(50.0,), jac=s2s.grad(rosenbrock), hess=hessian, method=method
    )
    assert found.fun < 1e-8 and given
    np.testing.assert_allclose(found.x, 1.0, atol=1e-3)


def test_minimize_from_integers():
    found = optimize.minimize(s2s.value_and_grad(rosenbrock), [1, 2, 3], args=(50.0,), jac=True)
    np.testing.assert_allclose(found.x, 1.0, atol=1e-4)


def test_a_constraint_with_jacobian_and_hessian():
    def disc(x):
        return np.array([x[0] ** 2 + x[1] ** 2, x[0] * x[2]])

    hessian = s2s.hessian(disc)
    inside = optimize.NonlinearConstraint(
        disc, -np.inf, 1.0, jac=s2s.jacobian(disc), hess=lambda x, v: np.tensordot(v, hessian(x), 1)
    )
    found = optimize.minimize(
        s2s.value_and_grad(rosenbrock), START, args=(50.0,), jac=True, hess=s2s.hessian(rosenbrock),
        method="trust-constr", constraints=[inside],
    )
    x = found.x
    assert x[0] ** 2 + x[1] ** 2 == pytest.approx(1.0, abs=1e-5) and found.fun < rosenbrock(np.full(3, 0.5), 50.0)
    # where only this constraint is active, the gradient of the loss is a multiple of the constraint's
    slope, normal = s2s.grad(rosenbrock)(x, 50.0), np.array([2.0 * x[0], 2.0 * x[1], 0.0])
    np.testing.assert_allclose(slope, (slope @ normal) / (normal @ normal) * normal, atol=1e-4)


@pytest.mark.parametrize("method", ["trf", "dogbox", "lm"])
def test_least_squares(method):
    t = np.linspace(0.0, 3.0, 20)
    y = 2.0 * np.exp(-1.3 * t)
    jacobian, given = counting(s2s.jacobian(residuals))
    for how in ({"args": (t, y)}, {"kwargs": {"t": t, "y": y}}):
        found = optimize.least_squares(residuals, [1, 1], jac=jacobian, method=method, **how)
        np.testing.assert_allclose(found.x, [2.0, 1.3], rtol=1e-7)
    assert given and given[0].shape == (20, 2)


def test_least_squares_by_a_sparse_jacobian():
    def differences(x):
        return x[1:] ** 2 - x[:-1] - 0.75

    found = optimize.least_squares(differences, np.ones(30), jac=s2s.sparse_jacobian(differences))
    np.testing.assert_allclose(found.x[1:] ** 2, found.x[:-1] + 0.75, atol=1e-9)


def test_curve_fit():
    def decay(t, size, rate):
        return size * np.exp(-rate * t)

    partials = s2s.jacobian(decay, argnums=("size", "rate"))
    t = np.linspace(0.0, 3.0, 20)
    found, _ = optimize.curve_fit(
        decay, t, 2.0 * np.exp(-1.3 * t), jac=lambda t, *p: np.stack(partials(t, *p), axis=1)
    )
    np.testing.assert_allclose(found, [2.0, 1.3], rtol=1e-7)


@pytest.mark.parametrize("method", ["hybr", "lm"])
def test_roots_of_systems(method):
    jacobian, given = counting(s2s.jacobian(circle))
    for f, jac in ((circle, jacobian), (s2s.value_and_jacobian(circle), True)):
        found = optimize.root(f, [1, 0.5], args=(2.0,), jac=jac, method=method)
        np.testing.assert_allclose(found.x, 2.0**0.5, rtol=1e-9)
    assert given
    np.testing.assert_allclose(optimize.fsolve(circle, [1.0, 0.5], args=(2.0,), fprime=jacobian), 2.0**0.5, rtol=1e-9)


def test_roots_of_functions():
    def cubic(x, c):
        return x**3 - c

    slope = s2s.grad(cubic)
    assert optimize.newton(cubic, 1.5, slope, (2.0,), fprime2=s2s.grad(slope)) == pytest.approx(2.0 ** (1 / 3))
    found = optimize.root_scalar(s2s.value_and_grad(cubic), args=(2.0,), x0=1.5, fprime=True)
    assert found.root == pytest.approx(2.0 ** (1 / 3)) and found.method == "newton"
    c = np.array([2.0, 3.0])
    roots = optimize.newton(cubic, np.array([1.5, 1.0]), s2s.elementwise_grad(cubic), (c,))
    np.testing.assert_allclose(roots, np.cbrt(c), rtol=1e-9)


@pytest.mark.parametrize("method", ["Radau", "BDF", "LSODA"])
def test_stiff_equations(method):
    """Robertson's kinetics at t = 40, as in Hairer and Wanner, Solving Ordinary Differential Equations II."""
    jacobian, given = counting(s2s.jacobian(robertson, argnums="y"))
    found = integrate.solve_ivp(
        robertson, (0.0, 40.0), [1.0, 0.0, 0.0], method, jac=jacobian, args=(0.04,), rtol=1e-8, atol=1e-11
    )
    assert found.success and given
    np.testing.assert_allclose(found.y[:, -1], [0.7158270688, 9.185534765e-6, 0.2841637457], rtol=1e-5)
    t, y = 0.0, np.array([0.7, 1e-5, 0.3])
    wanted = [[-0.04, 1e4 * y[2], 1e4 * y[1]], [0.04, -1e4 * y[2] - 6e7 * y[1], -1e4 * y[1]], [0.0, 6e7 * y[1], 0.0]]
    np.testing.assert_allclose(s2s.jacobian(robertson, 1)(t, y, 0.04), wanted, rtol=1e-12)
