"""Rules of ``numpy.testing``: its assertions raise where arrays are not what they should be."""

from __future__ import annotations

import numpy as np

from s2s.rules.functions import describe
from s2s.rules.table import zero

_ASSERTIONS = (
    np.testing.assert_allclose, np.testing.assert_array_equal, np.testing.assert_array_almost_equal,
    np.testing.assert_array_less, np.testing.assert_equal, np.testing.assert_almost_equal,
    np.testing.assert_approx_equal,
)
zero(*_ASSERTIONS)
describe(*_ASSERTIONS, acts=True, pure=False)
