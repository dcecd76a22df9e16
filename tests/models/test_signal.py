"""What functions of ``scipy.signal`` compute in terms of others: against SciPy, where the arrays differ in shape."""

import numpy as np
import pytest
from scipy import signal

from s2s.models import signal as models

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
