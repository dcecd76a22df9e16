"""What a library refuses, or gives no number for, has no derivative: functions that are written out check it, too."""

import statistics

import numpy as np
import pytest
from scipy import interpolate, signal, special

import s2s
from s2s.errors import NoDerivativeError

X, Y = np.array([0.3, 1.2, 0.7, 2.1]), np.array([1.0, 0.2, 1.7, 0.5])
B, A = np.array([1.0, 0.5]), np.array([1.0, -0.3])
SECTIONS = signal.butter(2, 0.3, output="sos")
SAID = statistics.StatisticsError

RAISING = {
    "harmonic mean of negative": (lambda x: statistics.harmonic_mean([x[0], -x[1]]), SAID),
    "harmonic mean, weights": (lambda x: statistics.harmonic_mean([x[0], x[1]], [1.0]), SAID),
    "fmean, weights": (lambda x: statistics.fmean([x[0], x[1]], [1.0]), SAID),
    "variance of one": (lambda x: statistics.variance([x[0]], 1.0), SAID),
    "stdev of one": (lambda x: statistics.stdev([x[0]], 1.0), SAID),
    "covariance": (lambda x: statistics.covariance([x[0], x[1]], [x[2], x[1], x[0]]), SAID),
    "correlation": (lambda x: statistics.correlation([x[0], x[1]], [x[2], x[1], x[0]]), SAID),
    "quantiles": (lambda x: sum(statistics.quantiles([x[0], x[1]], n=0)) + x[0], SAID),
    "polyder": (lambda x: np.sum(np.polyder(x, -1)), ValueError),
    "polyint": (lambda x: np.sum(np.polyint(x, -1)), ValueError),
    "polyfit, degree": (lambda x: np.sum(np.polyfit(x, Y, -1)) + x[0], ValueError),
    "polyfit, weights": (lambda x: np.sum(np.polyfit(x, Y, 0, w=np.ones(1))), TypeError),
    "vander": (lambda x: np.sum(np.vander(np.outer(x, x), 2)), ValueError),
    "filtfilt, short": (lambda x: np.sum(signal.filtfilt(B, A, x, padlen=9)), ValueError),
    "filtfilt, padtype": (lambda x: np.sum(signal.filtfilt(B, A, x, padtype="mirror", padlen=2)), ValueError),
    "sosfiltfilt, short": (lambda x: np.sum(signal.sosfiltfilt(SECTIONS, x)), ValueError),
    "CubicSpline": (lambda x: interpolate.CubicSpline(x, Y)(0.5) * 1.0, ValueError),
    "CubicSpline, values": (lambda x: interpolate.CubicSpline([0.0, 2.0, 1.0, 3.0], x)(0.5) * 1.0, ValueError),
    "CubicSpline, infinite": (lambda x: interpolate.CubicSpline(np.arange(4.0), x / 0.0)(0.5) * 1.0, ValueError),
    "CubicHermiteSpline": (lambda x: interpolate.CubicHermiteSpline(x, Y, Y)(0.5) * 1.0, ValueError),
    "PchipInterpolator": (lambda x: interpolate.PchipInterpolator(x, Y)(0.5) * 1.0, ValueError),
    "Akima1DInterpolator": (lambda x: interpolate.Akima1DInterpolator(x, Y)(0.5) * 1.0, ValueError),
    "Akima1DInterpolator, lengths": (
        lambda x: interpolate.Akima1DInterpolator([0.0, 1.0, 2.0], x)(0.5) * 1.0, ValueError),
    "InterpolatedUnivariateSpline": (
        lambda x: interpolate.InterpolatedUnivariateSpline(x, Y)(0.5) * 1.0, ValueError),
    "UnivariateSpline": (lambda x: interpolate.UnivariateSpline(x, Y, s=1.0)(0.5) * 1.0, ValueError),
    "sosfilt": (lambda x: np.sum(signal.sosfilt(SECTIONS * 2.0, x)), ValueError),
}


@pytest.fixture(autouse=True)
def _apart(monkeypatch):
    monkeypatch.setenv("S2S_CACHE", "0")


@pytest.mark.filterwarnings("ignore:.*:s2s.DerivativeWarning", "ignore::RuntimeWarning")
@pytest.mark.parametrize("name", [
    pytest.param(name, marks=pytest.mark.slow if name == "UnivariateSpline" else ()) for name in RAISING])
def test_raises_what_the_function_raises(name):
    f, kind = RAISING[name]
    for derivative in (f, s2s.grad(f), s2s.jacfwd(f)):
        with pytest.raises(kind):
            derivative(X)


@pytest.mark.parametrize("middle", [statistics.median, statistics.median_low, statistics.median_high])
def test_the_middle_beside_nan(middle):
    for derivative in (s2s.grad, s2s.jacfwd):
        with pytest.raises(NoDerivativeError):
            derivative(lambda x: middle([x[0], x[1], x[2]]))(np.array([0.3, np.nan, 0.7]))


def test_products_of_polynomials_lose_leading_zeros():
    for derivative in (s2s.grad, s2s.jacfwd):
        with pytest.raises(NoDerivativeError):
            derivative(lambda x: np.polymul(x, Y)[0])(np.array([0.0, 1.2, 0.7]))


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore:.*:s2s.DerivativeWarning")
def test_covariances_of_too_few_values():
    value, gradient = s2s.value_and_grad(lambda x: np.cov(x, ddof=7) * 1.0)(X)
    assert value == np.cov(X, ddof=7) == np.inf
    assert not np.isfinite(gradient).any()


def test_a_derivative_of_no_order_is_an_array():
    assert s2s.grad(lambda x: np.sum(np.polyder([x[0], x[1]], 0) * 2.0))(X).tolist() == [2.0, 2.0, 0.0, 0.0]


def test_combinations_with_repetition():
    def f(x):
        return special.comb(x[0], 2.5, repetition=True) + special.comb(x[1], 2.0, repetition=True)

    wanted = [(f(X + 1e-6 * e) - f(X - 1e-6 * e)) / 2e-6 for e in np.eye(4)]
    value, gradient = s2s.value_and_grad(f)(X)
    assert value == f(X)
    np.testing.assert_allclose(gradient, wanted, rtol=1e-7)
    np.testing.assert_allclose(s2s.jacfwd(f)(X), wanted, rtol=1e-7)
