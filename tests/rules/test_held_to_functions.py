"""Models give what their functions give for the same call, in its dtype, and rules end in no foreign exception."""

import warnings

import numpy as np
import pytest
import scipy.fft
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.ndimage
import scipy.optimize
import scipy.signal
import scipy.sparse.linalg
from scipy import stats
from scipy.special import cython_special

import s2s
from s2s.errors import DifferentiationError, NoDerivativeError
from tests.fuzz import functions as called
from tests.fuzz.functions.check import difference_from_model
from tests.fuzz.functions.subjects import subjects
from tests.helpers import differences

RNG = np.random.default_rng(11)
A, W = RNG.uniform(0.5, 1.5, (3, 3)), np.array([1.0, 2.0, 5.0])
IMAGE = RNG.uniform(0.5, 1.5, (4, 5))
NARROW = np.linspace(0.2, 1.0, 6, dtype=np.float32)


# --- values -----------------------------------------------------------------------------------------------------------

MODELS = [rule.name for rule in subjects() if rule.kind == "model" and rule.samples]
UNSTEADY = ("numpy.random", "scipy.integrate.solve", "_heapq", "scipy.signal.convolve2d", "scipy.signal.correlate2d")
"""Models of functions that draw numbers, change their arguments, or end the process where an array is empty."""


@pytest.mark.grid(0.2)
@pytest.mark.parametrize("name", [name for name in MODELS if not name.startswith(UNSTEADY)])
def test_a_model_gives_what_its_function_gives(name):
    warnings.simplefilter("ignore")
    for seed in range(4):
        found = difference_from_model(called.drawn(seed, (name,)))
        assert not found, f"{called.drawn(seed, (name,))}: {found}"


def two_values(y):
    return np.sum(scipy.integrate.cumulative_simpson(y, initial=0.3) ** 2)


def odd_windows(x):
    spectra = scipy.signal.stft(x, nperseg=5, noverlap=2)[2]
    return np.sum(scipy.signal.istft(spectra, nperseg=5, noverlap=2)[1] ** 3)


@pytest.mark.grid(0.4)
@pytest.mark.parametrize("f, x", [
    (lambda a: np.sum(stats.gmean(a, weights=W) ** 2), A), (lambda a: np.sum(stats.hmean(a, weights=W) ** 2), A),
    (lambda a: np.sum(stats.pmean(a, 2.0, weights=W) ** 2), A), (lambda a: np.sum(stats.gmean(a, weights=0.5)), A),
    (lambda a: np.sum(stats.entropy(a, 2.0) ** 2), A), (lambda a: stats.kurtosis(a, axis=(0, 1), bias=False), A),
    (lambda a: np.sum(stats.ttest_1samp(a, 0.3, axis=(0,), keepdims=True).statistic), A),
    (lambda x: np.sum(scipy.ndimage.gaussian_gradient_magnitude(x, 0.7, axes=0) ** 2), IMAGE),
    (lambda x: np.sum(scipy.ndimage.gaussian_laplace(x, 0.7, mode=["wrap", "nearest"]) ** 2), IMAGE),
    (lambda x: np.sum(scipy.ndimage.sobel(x, 0, mode=["wrap", "nearest"]) ** 2), IMAGE),
    (lambda x: scipy.ndimage.laplace(x) ** 2, np.array(0.7)), (two_values, np.array([0.4, 1.3])),
    (odd_windows, RNG.uniform(0.5, 1.5, 20)),
    (lambda x: np.sum(scipy.signal.lfilter_zi(np.array([0.2, 0.3]), x)), np.array([1.0, -0.4])),
    (lambda x: np.sum(np.lib.stride_tricks.as_strided(x, (2, 2)) ** 2), A),
    (lambda x: np.sum(np.lib.stride_tricks.as_strided(x.T, (2, 2)) ** 2), A),
    (lambda x: scipy.ndimage.sum_labels(x, np.array([0, 1, 1, 2]), [1.7, 0.2])[0] ** 2, IMAGE[0, :4]),
    (lambda x: np.sum(scipy.ndimage.sum_labels(x, np.array([1, 2]), [1, 2]) ** 2), np.array(0.7)),
    (lambda x: scipy.ndimage.variance(x, np.array([[1, 2], [2, 2]]), 2) ** 2, IMAGE[0, :2]),
    (lambda x: np.sum(scipy.signal.medfilt(x, 1) ** 2), np.array(0.7)),
    (lambda x: np.sum(np.abs(scipy.fft.fftn(x, axes=0)) ** 2 * W), A),
    (lambda x: np.sum(np.abs(scipy.fft.rfftn(x, 4, axes=1)) ** 2 * W), A),
    (lambda x: np.sum(scipy.fft.irfftn(x, (2, -1), axes=(1, 0)) ** 3), A),
])  # fmt: skip
def test_gradients_of_what_functions_compute(f, x):
    value, found = s2s.value_and_grad(f)(x)
    assert value == pytest.approx(f(x), rel=1e-12)
    expected = differences(lambda args: float(f(*args)), (x,))[0]
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)
    value, turned = s2s.jvp(f, (x,), (np.cos(x),))
    assert value == pytest.approx(f(x), rel=1e-12)
    assert turned == pytest.approx(np.sum(expected * np.cos(x)), rel=1e-7)


@pytest.mark.parametrize("f", [
    lambda x: scipy.signal.savgol_filter(x, 3, 1), lambda x: scipy.interpolate.splrep(np.arange(6.0), x)[1],
    lambda x: scipy.interpolate.splev(0.4 + x, scipy.interpolate.splrep(np.arange(9.0), np.arange(9.0) ** 2)),
    lambda x: np.asarray(cython_special.y0(x[0])),
])  # fmt: skip
def test_discarded_imaginary_parts_are_refused(f):
    z = np.linspace(0.2, 1.0, 6) + 0.3j
    with pytest.raises(NoDerivativeError, match="imaginary parts"):
        s2s.grad(lambda z: np.sum(np.real(f(z))))(z)


# --- dtypes -----------------------------------------------------------------------------------------------------------


@pytest.mark.grid(0.4)
@pytest.mark.parametrize("f", [
    lambda x: scipy.signal.periodogram(x)[1], lambda x: stats.tvar(x), lambda x: stats.tvar(x, keepdims=True),
    lambda x: scipy.ndimage.gaussian_gradient_magnitude(x, 0.8), lambda x: cython_special.beta(x[0], x[1]),
    lambda x: scipy.ndimage.zoom(x, 1.5), lambda x: stats.gmean(x),
])  # fmt: skip
def test_a_model_has_the_dtype_of_its_function(f):
    want = f(NARROW)
    value, turned = s2s.jvp(f, (NARROW,), (np.ones_like(NARROW),))
    assert type(value) is type(want)
    assert np.asarray(value).dtype == np.asarray(want).dtype == np.asarray(turned).dtype
    np.testing.assert_allclose(value, want, rtol=1e-5, atol=1e-6)
    wide = NARROW.astype(float)
    slope = (np.sum(f(wide + 1e-6)) - np.sum(f(wide - 1e-6))) / 2e-6
    found = s2s.grad(lambda x: np.sum(f(x)))(NARROW)
    assert found.dtype == np.float32
    assert np.sum(found) == pytest.approx(slope, rel=1e-4, abs=1e-4)


# --- what a function takes --------------------------------------------------------------------------------------------


@pytest.mark.grid(0.4)
@pytest.mark.parametrize("f", [
    lambda x: scipy.ndimage.convolve(x, np.ones((3, 3))), lambda x: scipy.ndimage.correlate1d(x, np.ones(3), 1),
    lambda x: scipy.ndimage.maximum_filter(x, 3), lambda x: scipy.ndimage.grey_closing(x, 3),
])  # fmt: skip
def test_empty_images(f):
    assert s2s.grad(lambda x: np.sum(f(x)))(np.zeros((0, 4))).shape == (0, 4)


@pytest.mark.parametrize("f", [
    lambda x: scipy.signal.stft(x)[2], lambda x: scipy.signal.welch(x)[1], lambda x: scipy.signal.csd(x, 2.0 * x)[1],
    lambda x: scipy.signal.periodogram(x)[1], lambda x: np.resize(x, (2, 3)),
])  # fmt: skip
@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 3)])
def test_empty_signals(f, shape):
    x = np.zeros(shape)
    value, pullback = s2s.vjp(f, x)
    assert np.shape(value) == np.shape(f(x))
    assert pullback(np.ones_like(value))[0].shape == shape
    assert np.shape(s2s.jvp(f, (x,), (x,))[1]) == np.shape(f(x))


def test_images_and_samples_of_rank_0():
    x = np.array(0.4)
    assert s2s.grad(lambda x: scipy.ndimage.convolve(x, np.array(1.7)))(x) == pytest.approx(1.7)
    assert s2s.grad(lambda w: scipy.ndimage.convolve(x, w) ** 2)(np.array(1.7)) == pytest.approx(2.0 * 0.16 * 1.7)
    assert s2s.grad(lambda x: stats.gmean(x) ** 2)(x) == pytest.approx(0.8)


def empty_columns(x):
    return np.sum(scipy.ndimage.map_coordinates(x, np.zeros((2, 3)), order=1))


@pytest.mark.parametrize("recorded", ["0", "1"])
def test_an_exception_of_a_rule_is_a_refusal(recorded, monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", recorded)
    x = np.zeros((3, 0))
    assert empty_columns(x) == 0.0
    with pytest.raises(DifferentiationError) as caught:
        s2s.grad(empty_columns)(x)
    assert caught.value.diagnostic.code == "S2S212"
    assert "no case for these arguments: IndexError" in str(caught.value)
    assert isinstance(caught.value.__cause__, IndexError)


@pytest.mark.parametrize("recorded", ["0", "1"])
def test_what_the_function_raises_is_raised(recorded, monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", recorded)
    with pytest.raises(np.linalg.LinAlgError):
        s2s.grad(lambda x: np.sum(scipy.linalg.solve(np.zeros((3, 3)), x)))(W)
    with pytest.raises(RuntimeError, match="boundary mode not supported"):
        s2s.grad(lambda x: np.sum(scipy.ndimage.convolve(x, np.ones(3), mode="none")))(W)


def test_every_model_is_compared():
    assert len(MODELS) > 150 and "scipy.ndimage.zoom" in MODELS
