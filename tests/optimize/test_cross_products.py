"""Cross products of single vectors in numbers, beside NumPy's function and central differences."""

import numpy as np
import pytest

import s2s
from s2s import runtime as rt
from tests.helpers import differences

RNG = np.random.default_rng(71)
X, Y = RNG.standard_normal((4, 3)), RNG.standard_normal((4, 3))


def of_rows(x, y):
    total = 0.0
    for i in range(len(x)):
        c = np.cross(x[i], y[i])
        total += np.sum(np.sin(np.cross(c, x[0])) * np.cross(y[i], np.array([1.0, 0.5, -2.0])))
    return total


def of_stacks(x, y):
    return np.sum(np.cross(x, y) ** 3) + np.sum(np.cross(x[0], y) ** 2)


@pytest.mark.parametrize("f", [of_rows, of_stacks], ids=lambda f: f.__name__)
def test_derivatives(f):
    value, (x_bar, y_bar) = s2s.value_and_grad(f, argnums=(0, 1))(X, Y)
    assert value == f(X, Y)
    expected = differences(lambda x: f(x, Y), X), differences(lambda y: f(X, y), Y)
    np.testing.assert_allclose(x_bar, expected[0], rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(y_bar, expected[1], rtol=1e-6, atol=1e-8)
    _, tangent = s2s.jvp(f, (X, Y), (np.cos(X), np.sin(Y)))
    np.testing.assert_allclose(
        tangent, np.sum(expected[0] * np.cos(X)) + np.sum(expected[1] * np.sin(Y)), rtol=1e-6, atol=1e-8)
    along = np.cos(X)
    second = differences(lambda x: float(np.sum(s2s.grad(f)(x, Y) * along)), X)
    np.testing.assert_allclose(s2s.hvp(f, (X, Y), (along, np.zeros_like(Y))), second, rtol=1e-5, atol=1e-6)
    assert ("rt.cross(" in s2s.source(f, X, Y, argnums=(0, 1))) == (f is of_rows)


def test_single_precision_and_other_axes_stay():
    x, y = X[0].astype(np.float32), Y[0].astype(np.float32)
    g = s2s.grad(lambda x, y: np.sum(np.cross(x, y) ** 2))(x, y)
    assert g.dtype == np.float32
    np.testing.assert_allclose(g, 2.0 * np.cross(y, np.cross(x, y)), rtol=1e-4)


def test_the_product():
    for a, b in ((X[0], Y[0]), (X[:3, 1], Y[3, ::-1]), (X, Y), (X[0], Y)):
        np.testing.assert_array_equal(rt.cross(a, b), np.cross(a, b))
    assert rt.cross(X[0], Y[0]).dtype == np.float64
