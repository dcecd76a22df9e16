"""Values by example: what a call gives is found on small arrays, whatever the rank of its arguments."""

import tracemalloc

import numpy as np
import pytest

from s2s.analysis.examples import _example_array, probe
from s2s.analysis.shapes import Facts
from s2s.analysis.values import Array, Dim

FLOAT = np.dtype(float)


def array(*names):
    return Array(FLOAT, tuple(Dim(name) for name in names))


def test_products_of_arrays_with_many_lengths():
    """Examples of many different lengths are large; what they take of memory is not."""
    tracemalloc.start()
    try:
        found = probe(np.matmul, (array("n", "r", "c", "k"), array("k", "m")), {}, Facts())
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found == array("n", "r", "c", "m")
    assert peak < 100e6


@pytest.mark.parametrize("shape", [(), (3,), (4, 4), (2, 3, 3), (70, 60, 50, 40)])
@pytest.mark.parametrize("dtype", [float, np.float32, int])
def test_examples_are_good_for_linear_algebra(shape, dtype):
    made = _example_array(np.dtype(dtype), shape)
    assert made.shape == shape and made.dtype == dtype
    if made.ndim >= 2 and shape[-1] == shape[-2] and made.dtype.kind == "f":
        assert np.all(np.linalg.eigvalsh(made) > 0.0)
    if made.size < 1000:
        assert made.flags.writeable and made.flags.c_contiguous
