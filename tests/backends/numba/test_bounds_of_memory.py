"""Where the memory of an array begins and ends, and whether two arrays share any: against what NumPy says."""

import itertools

import numpy as np
import pytest

pytest.importorskip("numba")

from s2s.backends.numba import arithmetic  # noqa: E402

bounds = getattr(np, "byte_bounds", None) or np.lib.array_utils.byte_bounds
ROWS = np.zeros((6, 8))
VIEWS = [
    ROWS, ROWS[::-1], ROWS[:, ::-2], ROWS[1:3], ROWS[3:, 2:5], ROWS.T, ROWS[::2, 1::3], ROWS[4:1:-1, 6:2:-1],
    ROWS[2:2], ROWS[5:], ROWS[:, 7:], ROWS[0:1, 0:1], np.zeros((2, 3)), ROWS[3:5],
]  # fmt: skip


@pytest.mark.parametrize("a", [v for v in VIEWS if v.size] + [ROWS[2], ROWS[2, ::-3], ROWS.reshape(2, 3, 8)[:, ::-1]])
def test_ends(a):
    assert arithmetic._ends.py_func(a) == bounds(a)


def test_arrays_that_may_share_memory(monkeypatch):
    monkeypatch.setattr(arithmetic, "_ends", arithmetic._ends.py_func)
    for a, b in itertools.product(VIEWS, VIEWS):
        may = np.may_share_memory(a, b) if a.size and b.size else False
        same = a.ctypes.data == b.ctypes.data and a.shape == b.shape and a.strides == b.strides
        assert arithmetic.share_any_rank.py_func(a, b) == may
        assert arithmetic._share.py_func(a, b) == (may and not same)
