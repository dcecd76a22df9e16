"""Samples for which `scipy.stats` gives NaN or raises have no derivative; scaled ones have that of what it gives."""

import numpy as np
import pytest
from scipy import stats

import s2s
from s2s.errors import NoDerivativeError

X, Y = np.array([0.3, 1.2, 0.7, 2.1]), np.array([1.0, 0.2, 1.7, 0.5])
EVEN, SIGNED, ONE = np.full(4, 1.7), np.array([0.3, -1.2, 0.7, 2.1]), np.array([0.7])

UNDEFINED = {
    "hmean": (stats.hmean, SIGNED),
    "pmean": (lambda x: stats.pmean(x, 1.0), SIGNED),
    "skew": (stats.skew, EVEN),
    "kurtosis": (stats.kurtosis, EVEN),
    "zscore": (lambda x: np.sum(stats.zscore(x) * Y), EVEN),
    "pearsonr": (lambda x: stats.pearsonr(x, Y).statistic, EVEN),
    "pearsonr-second": (lambda x: stats.pearsonr(Y, x).statistic, EVEN),
    "pointbiserialr": (lambda x: stats.pointbiserialr(Y > 0.7, x).statistic, EVEN),
    "sem": (lambda x: stats.sem(x, ddof=0), ONE),
}
RAISING = {
    "pmean": (lambda x: stats.pmean(x, np.inf), X, NotImplementedError),
    "moment": (lambda x: stats.moment(x, 0.5), X, ValueError),
    "entropy": (lambda x: stats.entropy(x, base=0), X, ValueError),
    "chisquare": (lambda x: stats.chisquare(x, Y).statistic, X, ValueError),
    "power_divergence": (lambda x: stats.power_divergence(x, Y, lambda_=0.5).statistic, X, ValueError),
    "pearsonr": (lambda x: stats.pearsonr(x, Y).statistic, ONE, ValueError),
}
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore:.*:s2s.DerivativeWarning")


@pytest.fixture(autouse=True)
def _apart(monkeypatch):
    monkeypatch.setenv("S2S_CACHE", "0")


@pytest.mark.parametrize("name", UNDEFINED)
def test_no_derivative_where_it_is_nan(name):
    f, x = UNDEFINED[name]
    assert np.isnan(f(x))
    for derivative in (s2s.grad(f), s2s.jacfwd(f)):
        with pytest.raises(NoDerivativeError):
            derivative(x)


@pytest.mark.parametrize("name", RAISING)
def test_raises_what_the_function_raises(name):
    f, x, kind = RAISING[name]
    for derivative in (f, s2s.grad(f), s2s.jacfwd(f)):
        with pytest.raises(kind):
            derivative(x)


def test_a_line_through_places_that_are_all_the_same():
    """SciPy raises ValueError, or gives NaN from 1.18 on."""
    for derivative in (s2s.grad, s2s.jacfwd):
        with pytest.raises((ValueError, NoDerivativeError)):
            derivative(lambda x: stats.linregress(x, Y).slope)(EVEN)


def test_moments_of_a_negative_order():
    with pytest.raises(NoDerivativeError):
        s2s.grad(lambda x: stats.moment(x, -1))(X)


@pytest.mark.parametrize("scale", [1e-170, 1.0, 1e160])
def test_a_correlation_does_not_depend_on_the_scale(scale):
    def f(x):
        return stats.pearsonr(x, Y).statistic

    wanted = [(f(X + 1e-6 * e) - f(X - 1e-6 * e)) / 2e-6 for e in np.eye(4)]
    value, gradient = s2s.value_and_grad(f)(X * scale)
    assert value == pytest.approx(f(X * scale), rel=1e-12)
    np.testing.assert_allclose(gradient * scale, wanted, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(s2s.jacfwd(f)(X * scale) * scale, wanted, rtol=1e-7, atol=1e-9)


def test_frequencies_that_add_up():
    def f(x):
        return stats.chisquare(x, x[::-1] * 1.0).statistic + stats.chisquare(x, Y, sum_check=False).statistic

    wanted = [(f(X + 1e-6 * e) - f(X - 1e-6 * e)) / 2e-6 for e in np.eye(4)]
    np.testing.assert_allclose(s2s.grad(f)(X), wanted, rtol=1e-6)
    np.testing.assert_allclose(s2s.jacfwd(f)(X), wanted, rtol=1e-6)
