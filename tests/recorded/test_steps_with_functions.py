"""Calls with a model that are given functions which watched code has made: the compiler reads the source of these."""

import numpy as np
import pytest
from scipy import integrate, sparse, stats

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
