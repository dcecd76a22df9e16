"""``place_poles`` with one input, against differences of gains placed anew."""

import numpy as np
import pytest
from scipy import signal

import s2s
from s2s.errors import NoDerivativeError

A = np.array([[0.0, 1.0, 0.2], [0.0, 0.1, 1.0], [-1.0, -2.0, -3.0]])
B = np.array([[0.0], [0.3], [1.0]])
REAL, PAIR = np.array([-1.0, -2.0, -3.5]), np.array([-1.0 + 1.5j, -1.0 - 1.5j, -2.0])
W = np.array([1.0, -2.0, 0.5])


def by_matrix(a):
    return np.sum(signal.place_poles(a, B, REAL).gain_matrix * W) + np.sum(
        signal.place_poles(a, B, PAIR).gain_matrix ** 2)


def by_input(b):
    return np.sum(signal.place_poles(A, b, PAIR).gain_matrix ** 2)


def by_poles(p):
    return np.sum(signal.place_poles(A, B, p, method="KNV0").gain_matrix ** 2 * W)


def differences(f, x, h=1e-3):
    made = np.zeros(np.shape(x))
    for i in np.ndindex(*np.shape(x)):
        e = np.zeros(np.shape(x))
        e[i] = h
        made[i] = (8.0 * (f(x + e) - f(x - e)) - (f(x + 2.0 * e) - f(x - 2.0 * e))) / (12.0 * h)
    return made


@pytest.mark.parametrize("f, x", [(by_matrix, A), (by_input, B), (by_poles, REAL)], ids=["A", "B", "poles"])
def test_derivatives(f, x):
    value, gradient = s2s.value_and_grad(f)(x)
    assert value == pytest.approx(f(x), rel=1e-12)
    np.testing.assert_allclose(gradient, differences(f, x), rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(s2s.jacfwd(f)(x), gradient, rtol=1e-9)
    v = np.cos(np.arange(x.size, dtype=float)).reshape(x.shape)
    second = (s2s.grad(f)(x + 1e-4 * v) - s2s.grad(f)(x - 1e-4 * v)) / 2e-4
    np.testing.assert_allclose(s2s.hvp(f, (x,), (v,)), second, rtol=1e-6)


def test_several_inputs_are_refused():
    with pytest.raises(NoDerivativeError, match="many gains place the poles"):
        s2s.grad(lambda a: np.sum(signal.place_poles(a, np.eye(3)[:, :2], REAL).gain_matrix))(A)
