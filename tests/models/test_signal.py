"""What functions of ``scipy.signal`` compute in terms of others: against SciPy, where the arrays differ in shape."""

import numpy as np
import pytest
from scipy import signal

import s2s
from s2s.models import signal as models
from tests.helpers import check_of_array

WIDE = np.sin(np.arange(1.0, 7.0)).reshape(2, 3)
LARGE = np.cos(np.arange(1.0, 13.0)).reshape(3, 4)
PAIRS = ((WIDE, LARGE), (LARGE, WIDE), (WIDE, WIDE), (LARGE[:2] + 1j, WIDE), (LARGE, LARGE.T[:3, :2]))


@pytest.mark.parametrize("boundary", ["fill", "wrap", "symm"])
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("name", ["convolve2d", "correlate2d"])
def test_planes(name, mode, boundary):
    for one, other in PAIRS:
        found, wanted = (getattr(of, name)(one, other, mode, boundary, 0.3) for of in (models, signal))
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_correlation_and_analytic_signal(mode):
    x, y = WIDE[0] + 1j * WIDE[1], LARGE[1]
    for one, other in ((x, y), (y, x)):
        np.testing.assert_allclose(models.correlate(one, other, mode), signal.correlate(one, other, mode), rtol=1e-9)
    for count, axis in ((None, -1), (None, 0), (5, 1), (6, 1)):
        np.testing.assert_allclose(
            models.hilbert(LARGE, count, axis), signal.hilbert(LARGE, count, axis), rtol=1e-9, atol=1e-12)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("boundary", ["even", "odd", "constant", "zeros", None])
def test_spectra_along_an_axis(boundary):
    x = np.sin(np.arange(60.0) ** 1.3).reshape(20, 3)

    def f(x, axis):
        return signal.stft(x, nperseg=7, noverlap=2, boundary=boundary, axis=axis)

    for one, axis in ((x, 0), (x.T, 1), (x[None], -2)):
        for found, wanted in zip(models.stft(one, 1.0, "hann", 7, 2, boundary=boundary, axis=axis), f(one, axis)):
            np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)
    check_of_array(lambda x: np.sum(np.abs(f(x, 0)[2] - 0.1) ** 3), x, gradient=(1e-6, 1e-8), forward=(1e-9, 1e-10))


def test_unknown_boundaries_raise():
    with pytest.raises(ValueError):
        signal.stft(WIDE, nperseg=2, boundary="mirror")
    with pytest.raises(ValueError):
        s2s.grad(lambda x: np.sum(np.abs(signal.stft(x, nperseg=2, boundary="mirror")[2])))(WIDE)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("count", [13, 20, 24])
def test_periodogram_of_other_lengths(count):
    x = np.sin(np.arange(40.0) ** 1.3).reshape(20, 2)

    def f(x):
        return np.sum(signal.periodogram(x, nfft=count, axis=0)[1] ** 2)

    check_of_array(f, x, gradient=(1e-6, 1e-8), forward=(1e-9, 1e-10))
