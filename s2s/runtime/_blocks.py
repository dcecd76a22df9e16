"""The blocks in which arithmetic on large arrays is done."""

from __future__ import annotations

from typing import Any

import numpy as np

SIZE = 16_384
"""So many elements a block has, or one row: with some ten arrays of these a block stays in the cache of a core, and
calling NumPy for it costs a few percent."""


def blocks(array: np.ndarray[Any, Any]) -> list[slice]:
    """Slices of the first axis of an array, one after the other, each of about 16,384 elements. There is one for all
    where rows do not follow each other in memory."""
    n = len(array)
    if array.ndim > 1 and abs(array.strides[0]) < max(map(abs, array.strides)):
        return [slice(0, n)]
    rows = max(1, SIZE * n // max(1, array.size))
    return [slice(start, start + rows) for start in range(0, n, rows)]
