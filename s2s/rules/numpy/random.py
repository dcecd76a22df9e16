"""What calls of ``numpy.random`` do."""

from __future__ import annotations

import numpy as np

from s2s.rules.functions import describe

describe(np.random.shuffle, changes=(0,), holds=False, pure=False)
