"""``filtfilt(method="gust")`` against differences, and the second derivatives that it needs of least squares."""

import numpy as np
import pytest
from scipy import linalg, signal

from tests.helpers import check_of_array

X = np.random.default_rng(0).normal(size=(2, 40))
P = np.array([0.2, 0.3, 0.1, -0.4, 0.05])
B, A = signal.butter(2, 0.3)


def by_signal(x):
    return np.sum(signal.filtfilt(B, A, x, method="gust") ** 2)


def along_an_axis(x):
    return np.sum(signal.filtfilt(B, A, x.T, method="gust", axis=0, irlen=12) ** 3)


def by_filter(p):
    b, a = p[:3], np.concatenate([np.ones(1), p[3:]])
    whole = signal.filtfilt(b, a, X, method="gust")
    return np.sum(whole**2) + np.sum(signal.filtfilt(b, a, X[0], method="gust", irlen=10) ** 2)


def scaled(p):
    return np.sum(signal.filtfilt(p[:1], p[1:2], X, method="gust") ** 2)


def equal_singular_values(p):
    turned = np.array([[1.0, 1.0], [1.0, -1.0]]) + 0.0 * p[0]
    return np.sum(linalg.lstsq(turned * (1.0 + p[0] * p[1]), p[:2] ** 2)[0] ** 2)


@pytest.mark.slow
@pytest.mark.grid(0.2)
@pytest.mark.parametrize(
    "f, x", [(by_signal, X[0]), (along_an_axis, X), (by_filter, P), (scaled, P), (equal_singular_values, P)],
    ids=lambda f: getattr(f, "__name__", ""),
)
def test_derivatives(f, x):
    check_of_array(f, x, gradient=(1e-7, 1e-8), forward=(1e-9, 1e-10), second=(1e-6, 1e-7))
