"""Calls with a model that are given functions which watched code has made: the compiler reads the source of these."""

import numpy as np
import pytest
from scipy import integrate, optimize, sparse, stats

import s2s

pytestmark = pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
apply_where = pytest.importorskip("scipy._lib.array_api_extra").apply_where


@pytest.fixture(autouse=True)
def _always(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "always")


def by_parts(x):
    k = 2.0
    return np.sum(apply_where(x > 0.0, (x,), lambda v: k * v**2, lambda v: -(v**3)))


def integral(x):
    def decay(t):
        return np.exp(-t * t)

    return integrate.quad(decay, x[0], x[1])[0] * x[2]


X = np.array([-1.0, 2.0, 0.5])


@pytest.mark.slow
@pytest.mark.parametrize("f, expected, curvature", [
    (by_parts, [-3.0, 8.0, 2.0], [6.0, 4.0, 4.0]),
    (integral, [-0.5 * np.exp(-1.0), 0.5 * np.exp(-4.0), integral(X) / 0.5], [-np.exp(-1.0), -2.0 * np.exp(-4.0), 0.0]),
])
def test_gradient_tangent_and_second_derivative(f, expected, curvature):
    np.testing.assert_allclose(s2s.grad(f)(X), expected, rtol=1e-7)
    v = np.array([0.3, -0.7, 1.1])
    np.testing.assert_allclose(s2s.jvp(f, (X,), (v,))[1], np.dot(expected, v), rtol=1e-7)
    np.testing.assert_allclose(np.diagonal(s2s.jacfwd(s2s.grad(f))(X)), curvature, rtol=1e-6, atol=1e-9)


def by_keys(x):
    matrix = sparse.dok_matrix((2, 2))  # a dict that has its items in an attribute
    matrix[0, 1] = x[1] * x[2] ** 2
    return matrix.toarray()[0, 1] * x[0]


def test_a_container_with_attributes_is_looked_into():
    np.testing.assert_allclose(s2s.grad(by_keys)(X), [0.5, -0.25, -2.0])
    np.testing.assert_allclose(s2s.jvp(by_keys, (X,), (np.array([0.0, 1.0, 1.0]),))[1], -2.25)


def quantile(x):
    return stats.exponnorm.ppf(0.3, x[1]) * x[2]


def test_where_a_rule_has_no_derivative_by_an_argument_the_code_is_watched():
    h = 1e-4
    slope = (stats.exponnorm.ppf(0.3, 2.0 + h) - stats.exponnorm.ppf(0.3, 2.0 - h)) / (2.0 * h)
    expected = [0.0, 0.5 * slope, quantile(X) / 0.5]
    np.testing.assert_allclose(s2s.grad(quantile)(X), expected, rtol=1e-6)
    np.testing.assert_allclose(s2s.jvp(quantile, (X,), (np.ones(3),))[1], np.sum(expected), rtol=1e-6)


# --- functions that hold what is differentiated: the model of the library function is watched in place of its code ----


class Decay:
    def __init__(self, rate):
        self.rate = rate

    def at(self, t):
        return np.exp(-t * t * self.rate) - 0.3 * t

    def __call__(self, t):
        return self.at(t)


def of_objects(x):
    root = optimize.brentq(Decay(x[0]), 0.0, 3.0, xtol=1e-14)
    return integrate.quad(Decay(x[0]).at, 0.0, x[1])[0] + root * x[1] + integrate.quad(
        lambda t: np.exp(-t * t * x[1]), 0.0, np.inf)[0]


def of_systems(x):
    def cube(s, times=2.0):
        return s**3 - times * x[1] * x

    found = optimize.fsolve(cube, [1.0, 1.0], xtol=1e-14) * optimize.root(lambda s: s - np.cos(s * x), [0.5, 0.5]).x
    return np.sum(found * x) * optimize.newton(lambda s: s**3 - x[0], 1.0, tol=1e-14)


def of_minima(x):
    least = optimize.minimize(lambda s: np.sum((s**2 - x) ** 2), [1.0, 1.0], tol=1e-12).x
    return np.sum(least) + np.sum(optimize.least_squares(lambda s: s**2 - x, [1.0, 1.0], xtol=1e-14, gtol=1e-14).x)


def of_time(x):
    def slope(t, y):
        return -x[0] * y + x[1] * t

    return integrate.solve_ivp(slope, (0.0, 1.0), [x[1]], rtol=1e-10, atol=1e-10).y[0, -1]


def of_complex_roots(x):
    """One that the model does not know: its code, which is Python, is watched."""
    return optimize.newton(lambda z: z**3 - x[0] * 1j, 0.5 + 0.5j, tol=1e-14).real * x[1]


@pytest.mark.grid(0.4)
@pytest.mark.parametrize("f, tolerance", [
    (of_objects, 1e-7), (of_systems, 1e-7), (of_minima, 1e-5), (of_time, 1e-7), (of_complex_roots, 1e-7),
])
def test_functions_that_hold_what_is_differentiated(f, tolerance):
    at, step = np.array([1.3, 0.7]), 1e-5

    def slopes(f):
        return np.array([(f(at + step * e) - f(at - step * e)) / (2.0 * step) for e in np.eye(2)])

    np.testing.assert_allclose(s2s.grad(f)(at), slopes(f), rtol=tolerance)
    np.testing.assert_allclose(s2s.jacfwd(f)(at), slopes(f), rtol=tolerance)
    if f is not of_time:
        np.testing.assert_allclose(s2s.hessian(f)(at), slopes(s2s.grad(f)), rtol=10.0 * tolerance, atol=1e-7)


def of_a_row(row):
    made = [None] * (len(row) + 1)
    made[0] = 1.0
    for n, value in enumerate(list(row)):
        made[n + 1] = value * made[n] + n
    return np.array(made[1:])


def along_rows(x):
    made = np.apply_along_axis(of_a_row, 1, np.outer(x, x))
    return (made * made).sum() + made[0, 1]


def test_numpy_calls_back_what_no_step_could_compile():
    expected = [(along_rows(X + 1e-6 * e) - along_rows(X - 1e-6 * e)) / 2e-6 for e in np.eye(3)]
    np.testing.assert_allclose(s2s.grad(along_rows)(X), expected, rtol=1e-6)
    np.testing.assert_allclose(s2s.jacfwd(along_rows)(X), expected, rtol=1e-6)


def test_products_of_sparse_matrices_with_zeros_among_what_they_store():
    left = sparse.csr_matrix(np.array([[1.0, 2.0, 0.0], [0.0, 3.0, 1.0], [4.0, 0.0, 5.0]]))
    x = np.array([0.3, 0.0])

    def f(x):
        middle = sparse.eye(3, format="csr")
        middle.data[:] = 0.0
        middle.data[1:] = np.sin(x)
        whole = left @ middle @ left
        return (whole @ np.array([1.0, 2.0, 3.0])).sum() + whole.sum() ** 2

    wanted = np.array([(f(x + h) - f(x - h)) / 2e-5 for h in 1e-5 * np.eye(2)])
    np.testing.assert_allclose(s2s.grad(f)(x), wanted, rtol=1e-7)
    np.testing.assert_allclose(s2s.jacfwd(f)(x), wanted, rtol=1e-7)
