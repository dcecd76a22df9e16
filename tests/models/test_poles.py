"""``place_poles`` with one input, against differences of gains placed anew."""

import numpy as np
import pytest
from scipy import signal

import s2s
from s2s.errors import NoDerivativeError
from tests.helpers import check_of_array

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


@pytest.mark.parametrize("f, x", [(by_matrix, A), (by_input, B), (by_poles, REAL)], ids=["A", "B", "poles"])
def test_derivatives(f, x):
    check_of_array(f, x, gradient=(1e-7, 1e-7), forward=(1e-9, 0.0), second=(1e-6, 0.0))


def test_several_inputs_are_refused():
    with pytest.raises(NoDerivativeError, match="many gains place the poles"):
        s2s.grad(lambda a: np.sum(signal.place_poles(a, np.eye(3)[:, :2], REAL).gain_matrix))(A)
