"""SciPy through the compiler, as programs call it: filters, images, splines, distances, sparse matrices, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import integrate, interpolate, ndimage, optimize, signal, sparse
from scipy.sparse import linalg as sparse_linalg
from scipy.spatial import distance

import s2s
from s2s.errors import NoDerivativeError
from tests.helpers import has_newer_scipy

V = np.array([0.3, 1.2, -0.5, 0.8, 0.1, 2.0, 0.4, 0.9])
W = np.linspace(0.5, 2.0, 8)
K = np.array([0.2, 0.5, 0.3])
BUTTER = signal.butter(2, 0.3)
LONG = np.tile(V, 4) + 0.1 * np.sin(np.arange(32.0))
GRID = np.linspace(0.0, 1.0, 8)
IMAGE = np.outer(V, V[:5])
MATRIX = sparse.csr_matrix(np.diag(W) + np.eye(8, k=1))
SPLINE = interpolate.CubicSpline(GRID, V)
PCHIP = interpolate.PchipInterpolator(GRID, np.cumsum(np.abs(V)))


def filters(t):
    b, a = signal.butter(2, 0.3)
    smooth = signal.lfilter(b, a, V * t)
    return np.sum(signal.sosfilt(signal.butter(2, 0.3, output="sos"), smooth) ** 2) + np.sum(
        signal.lfilter([1.0, t], [1.0, -0.5 * t], V) ** 2)


def convolutions(t):
    return np.sum(W * signal.fftconvolve(V * t, K * t, mode="same")) + np.sum(signal.correlate(V * t, K) ** 2)


def spectra(t):
    analytic = signal.hilbert(signal.detrend(V * t**2))
    return np.sum(np.abs(analytic) ** 3)


def images(t):
    blurred = ndimage.gaussian_filter(IMAGE * t, 0.8)
    return np.sum(ndimage.sobel(blurred, 0) ** 2) + np.sum(ndimage.laplace(blurred, mode="nearest") ** 2)


def places_in_images(t):
    return np.sum(ndimage.map_coordinates(IMAGE * t, np.array([[1.2 * t, 3.0], [2.3, t]]), order=1))


def splines(t):
    made = interpolate.CubicSpline(GRID, np.sin(V * t), bc_type="natural")
    return np.sum(made(np.array([0.1, 0.55]))) + made(t, 1) + SPLINE(t) * PCHIP(t) + SPLINE(1.5 + t)


def filters_there_and_back(t):
    b, a = signal.butter(2, 0.3)
    y, end = signal.lfilter(BUTTER[0] * t, BUTTER[1], V, zi=signal.lfilter_zi(*BUTTER) * t)
    sections = signal.sosfiltfilt(signal.butter(4, 0.3, output="sos"), LONG * t)
    return np.sum(y**2) + np.sum(end**2) + np.sum(signal.filtfilt(b * t, a, LONG * t) ** 2) + np.sum(sections**2)


def smoothing_and_rates(t):
    smooth = signal.savgol_filter(V * t, 5, 2) + signal.savgol_filter(V, 3, 1, deriv=1, delta=t, mode="nearest")
    other = np.sum(signal.resample(V * t, 12) ** 2) + np.sum(signal.resample_poly(V * t, 3, 2) ** 2)
    return np.sum(smooth**2) + other + np.sum(signal.decimate(LONG * t, 2) ** 2) + np.sum(
        signal.upfirdn(K * t, V * t, 2, 3) ** 2)


def spectra_of_segments(t):
    _, _, picture = signal.stft(LONG * t, nperseg=8)
    back = signal.istft(picture * np.abs(picture), nperseg=8)[1]
    return np.sum(back**2) + np.sum(signal.welch(LONG * t, nperseg=8)[1] ** 2) + np.sum(
        signal.periodogram(V * t)[1] ** 2) + np.sum(np.abs(signal.csd(LONG * t, np.sin(LONG + t), nperseg=8)[1]))


def moved_images(t):
    turned = ndimage.rotate(IMAGE * t, 50.0 * t, reshape=False) + ndimage.shift(IMAGE, (0.3, t), mode="nearest")
    bent = ndimage.affine_transform(IMAGE * t, np.array([[0.9, 0.1 * t], [0.0, 1.1]]), np.array([0.97 * t, 0.1]))
    return np.sum(turned**2) + np.sum(bent**2) + np.sum(ndimage.zoom(IMAGE * t, 1.5, order=2) ** 2)


def widths_and_labels(t):
    labels = np.array([0, 1, 1, 2, 2, 2, 0, 1])
    blurred = ndimage.gaussian_filter(IMAGE, 0.4 + t) + ndimage.gaussian_filter(IMAGE * t, 0.7, 1, axes=(0,))
    return np.sum(blurred**2) + np.sum(ndimage.variance(V * t, labels, [1, 2]) ** 2) + np.sum(
        ndimage.mean(V * t, labels, [1, 2]) ** 2) + np.sum(ndimage.spline_filter(IMAGE * t) ** 2)


def distances(t):
    between = distance.cdist(IMAGE * t, IMAGE[:3] + 0.1, "minkowski", p=3.0)
    weighed = distance.cdist(IMAGE * t, IMAGE[:3] + 0.1, "mahalanobis", VI=np.diag(W[:5]))
    scaled = distance.cdist(IMAGE * t, IMAGE[:3] + 0.1, "seuclidean", V=W[:5] * t)
    square = distance.squareform(distance.pdist(IMAGE * t))
    return np.sum(between) + np.sum(weighed) + np.sum(scaled) + np.sum(square**2)


def sparse_matrices(t):
    x = sparse_linalg.spsolve(MATRIX.tocsc(), V * t**2)
    return np.sum((MATRIX @ x) ** 3) + np.sum(MATRIX.T.dot(V * t) ** 2) + np.sum(((V * t) @ MATRIX) ** 2)


def powers(x, a, b):
    return a * x**b


def integrals_of_functions(t):
    finite = integrate.quad(powers, t, 2.0, args=(t, 2.5))[0] * integrate.quad(lambda x: np.exp(-t * x * x), 0.0, t)[0]
    whole = integrate.quad(lambda x: np.exp(-x * x * t), -np.inf, np.inf)[0]
    return finite + whole + integrate.quad(lambda x: np.exp(-x * t), t, np.inf)[0] + integrate.quad(
        lambda x: 1.0 / (t + x * x), -np.inf, 2.0 * t)[0]


def integrals_with_weights(t):
    decay = lambda x: np.exp(-t * x)  # noqa: E731
    pieces = integrate.quad(lambda x: abs(x - t) * np.exp(x), 1.5, -1.0, points=[t, 0.1])[0]
    waves = integrate.quad(decay, 0.0, t, weight="cos", wvar=3.0)[0] + integrate.quad(
        decay, t, 2.0, weight="sin", wvar=2.0 * t)[0]
    outside = integrate.quad(decay, 1.0, -1.0, weight="cauchy", wvar=1.2 + t)[0]
    return pieces + waves + outside + integrate.quad(decay, -1.0, 2.0, weight="cauchy", wvar=t)[0]


def integrals_of_values(t):
    sums = integrate.cumulative_trapezoid(V * t, GRID * t, initial=0.0)
    return np.sum(sums**2) + np.sum(integrate.simpson(IMAGE * t, dx=0.1 * t, axis=0) ** 2) + integrate.simpson(
        V * t, x=GRID * t)


def integrals_over_planes(t):
    square = integrate.dblquad(lambda y, x: np.sin(t * x * y), 0.0, t, 0.0, 1.0)[0]
    return square + integrate.dblquad(powers, 0.0, 1.0, lambda x: t * x, lambda x: 1.0 + x * t, args=(2.0 + t,))[0]


def cumulated(t):
    sums = integrate.cumulative_simpson(V * t, x=GRID * t, initial=t)
    return np.sum(sums**2) + np.sum(integrate.cumulative_simpson(IMAGE * t, dx=t, axis=0) ** 2)


def chosen_among_neighbours(t):
    picture = np.sin(3.0 * IMAGE + np.arange(5.0)) * t + IMAGE * t**2
    extremes = ndimage.maximum_filter(picture, 3) * ndimage.minimum_filter(picture, (3, 2), mode="nearest")
    middle = ndimage.median_filter(picture, 3) + ndimage.percentile_filter(picture, 30, size=(2, 3))
    opened = ndimage.grey_opening(picture, (2, 3)) - ndimage.black_tophat(picture, 2)
    return np.sum(extremes) + np.sum(middle * opened) + np.sum(signal.medfilt(picture, 3) ** 2)


def responses(t):
    _, h = signal.freqz([1.0, t, 0.3], [1.0, -0.5 * t], 16)
    return np.sum(np.abs(h) ** 2) + np.sum(np.abs(signal.freqz(V[:4] * t, worN=W)[1])) + np.sum(
        np.abs(signal.sosfreqz(signal.butter(4, 0.3, output="sos") * 1.0 * t**0.0 + 0.0 * t, 8)[1]))


def integrals(t):
    return integrate.trapezoid(V * t**2, GRID) + integrate.simpson(V * t, x=GRID) + integrate.fixed_quad(
        lambda x: np.sin(x * t), 0.0, 1.0, n=4)[0]


@pytest.mark.grid(0.4)
@pytest.mark.parametrize(
    "f",
    [
        filters, convolutions, spectra, images, filters_there_and_back, smoothing_and_rates, spectra_of_segments,
        moved_images, widths_and_labels, places_in_images, splines, distances, sparse_matrices, integrals,
        integrals_of_functions, integrals_of_values, integrals_with_weights, integrals_over_planes, cumulated,
        chosen_among_neighbours,
        responses,
    ],
    ids=lambda f: f.__name__,
)
def test_programs(f: Any) -> None:
    x, h = 0.4, 1e-4
    expected = (8 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12 * h)
    value, gradient = s2s.value_and_grad(f)(x)
    assert value == pytest.approx(f(x), rel=1e-12)
    assert gradient == pytest.approx(expected, rel=1e-7)


def waves(t):
    return np.sum(signal.sawtooth(3.0 * V * t, 0.7) * W) + np.sum(signal.square(V * t, 0.6) * V * t)


def enlarged(t):
    return np.sum(ndimage.zoom(IMAGE * t, 1.5) ** 2)


def turned(t):
    return np.sum(ndimage.rotate(IMAGE * t, 20.0 * t) ** 3)


def back_from_segments(t):
    return np.sum(signal.istft(np.outer(V[:5], V) * t * (1.0 + 1j * t), nperseg=8)[1] ** 3)


def integral_over_an_argument(t):
    return integrate.quad(lambda x, a: a * np.exp(-a * x * x), 0.0, t, args=(t,))[0]


@pytest.mark.grid(0.4)
@pytest.mark.parametrize(
    "f",
    [waves, enlarged, pytest.param(turned, marks=pytest.mark.slow), back_from_segments, integral_over_an_argument],
    ids=lambda f: f.__name__,
)
@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
def test_second_order_of_programs(f: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    if f is waves and has_newer_scipy():  # its arrays are of kinds that only a run shows
        monkeypatch.setenv("S2S_RECORDED", "1")
    gradient, x, h = s2s.grad(f), 0.4, 1e-4
    expected = (8 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12 * h)
    assert gradient(x) == pytest.approx(expected, rel=1e-7)
    expected = (gradient(x + h) - gradient(x - h)) / (2.0 * h)
    assert s2s.grad(gradient)(x) == pytest.approx(expected, rel=1e-6, abs=1e-8)
    assert s2s.hvp(f, (x,), (1.0,)) == pytest.approx(expected, rel=1e-6, abs=1e-8)


# --- refusals ---------------------------------------------------------------------------------------------------------


def stepping(t):
    return integrate.RK45(lambda s, y: -t * y, 0.0, [1.0], 1.0).y[0]


def iterating(t):
    return np.sum(optimize.isotonic_regression(V * t).x)


def by_the_noise(t):
    return np.sum(signal.wiener(V * t, 3))


def of_any_metric(t):
    return np.sum(distance.cdist(IMAGE * t, IMAGE, "hamming"))


@pytest.mark.parametrize(
    "f, reason",
    [
        (stepping, "its steps depend on the values"),
        (iterating, "it iterates until it is content"), (by_the_noise, "it has no rule"),
        (of_any_metric, "this metric"),
    ],
)
def test_refused_by_name(f: Any, reason: str) -> None:
    with pytest.raises(NoDerivativeError, match=reason):
        s2s.grad(f)(0.4)


def test_what_is_refused_is_not_left_out_where_arguments_are_spread() -> None:
    """Which argument is which is not known when the gradient is generated: zero would be wrong."""

    def f(t):
        return np.sum(signal.symiirorder1(*[V * t, 0.3, 0.2]))

    with pytest.raises(NoDerivativeError):
        s2s.grad(f)(0.4)
