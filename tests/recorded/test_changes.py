"""Functions that write into an argument."""

import numpy as np
import pytest

from s2s.recorded.changes import changed_by, place_of_out

X = np.arange(3.0)


@pytest.mark.parametrize("fn, place", [
    (np.sum, 3), (np.ndarray.sum, 3), (np.dot, 2), (np.concatenate, 2), (np.take, 3), (np.clip, 3),
    (np.einsum, None),  # by name alone, after any number of operands
    (np.sin, None),  # a ufunc knows its outputs itself
    (np.sort, None), (len, None), (print, None),
])  # fmt: skip
def test_the_place_of_out(fn, place):
    assert place_of_out(fn) == place


@pytest.mark.skipif(not hasattr(np, "cumulative_sum"), reason="NumPy 2.1 has it")
def test_out_by_name_alone_has_no_place():
    assert place_of_out(np.cumulative_sum) is None


def test_arrays_that_a_call_changes():
    assert changed_by(np.put, (X, 0, 1.0), {})[0] is X
    assert changed_by(np.copyto, (X, 1.0), {})[0] is X
    for fn, args in ((np.sum, (X,)), (np.add, (X, X)), (np.put, ([1.0], 0, 1.0)), (list, (X,))):
        assert changed_by(fn, args, {}) == []
