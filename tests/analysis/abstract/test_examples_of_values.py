"""Values by example: what a call gives is found on small arrays, whatever the rank of its arguments."""

import tracemalloc

import numpy as np
import pytest

from s2s.analysis.abstract.evaluate import Evaluator
from s2s.analysis.abstract.examples import _example_array, probe
from s2s.analysis.abstract.shapes import Facts
from s2s.core.ir import Const
from s2s.core.values import Array, Dim, Known, ListOf, Scalar
from tests.helpers import check

FLOAT = np.dtype(float)


def array(*names):
    return Array(FLOAT, tuple(Dim(name) for name in names))


def test_products_of_arrays_with_many_lengths():
    """Examples of many different lengths are large; what they take of memory is not."""
    found, peak = probed_with_memory(np.matmul, array("n", "r", "c", "k"), array("k", "m"))
    assert found == array("n", "r", "c", "m")
    assert peak < 100e6


def test_lists_of_matrices():
    """As of arrays themselves, the matrices in a list are small."""
    found, peak = probed_with_memory(np.stack, ListOf(array("n", "m")))
    assert found.shape[1:] == array("n", "m").shape
    assert peak < 50e6


def probed_with_memory(fn, *args):
    tracemalloc.start()
    try:
        return probe(fn, args, {}, Facts()), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("shape", [(), (3,), (4, 4), (2, 3, 3), (70, 60, 50, 40)])
@pytest.mark.parametrize("dtype", [float, np.float32, int])
def test_examples_are_good_for_linear_algebra(shape, dtype):
    made = _example_array(np.dtype(dtype), shape, 0)
    assert made.shape == shape and made.dtype == dtype
    if made.ndim >= 2 and shape[-1] == shape[-2] and made.dtype.kind == "f":
        assert np.all(np.linalg.eigvalsh(made) > 0.0)
    if made.size < 1000:
        assert made.flags.writeable and made.flags.c_contiguous


# --- lengths that grow by steps ------------------------------------------------------------------


def loop_by_hundreds(x, n):
    total = 0.0
    for k in np.arange(0, n, 100):
        total = total + x * k
    return total


def loop_by_keywords(x, n):
    total = 0.0
    for k in np.arange(start=0, stop=n, step=100.0):
        total = total + x * k
    return total


def loop_over_every_third(x, n):
    total = 0.0
    for k in np.arange(0, len(x), 3):
        total = total + x[k] ** 2
    return total


def slice_of_as_many(x, n):
    k = np.arange(0, n, 100)
    return np.sum(x[: len(k)] * k)


def column_that_is_repeated(x, n):
    return np.sum(np.arange(n, 0, -90)[:, None] * x)


@pytest.mark.parametrize("n", [50, 250, 350])
@pytest.mark.parametrize("f", [loop_by_hundreds, loop_by_keywords])
def test_length_of_arange_of_unknown_ends(f, n):
    check(f, (0.8, n), argnums=0)


@pytest.mark.parametrize("f", [loop_over_every_third, slice_of_as_many, column_that_is_repeated])
@pytest.mark.parametrize("n", [50, 250, 350])
def test_length_of_arange_beside_arrays(f, n):
    check(f, (np.array([0.7, 1.3, -0.4, 0.9, 1.1]), n), argnums=0)


def packed(x, n):
    return np.sum(x * np.packbits(np.ones(n, dtype=bool)).sum())


def turned(x, n):
    m = np.rot90(x, n)
    return np.sum(m * np.arange(1.0, m.size + 1.0).reshape(m.shape) * m[0, 0])


@pytest.mark.parametrize("n", [1, 2, 3, 4, 40])
def test_shapes_that_depend_on_numbers(n):
    check(packed, (0.8, n), argnums=0)
    check(turned, (np.array([[0.7, 1.3, -0.4], [0.9, 1.1, 0.2]]), n), argnums=0)


@pytest.mark.parametrize(
    "fn, args",
    [
        (np.arange, (Known(Const(0)), Scalar(int), Known(Const(100)))),
        (np.arange, (Known(Const(3)), Scalar(int, Dim("m")), Known(Const(7.0)))),
        (np.packbits, (Array(np.dtype(bool), (Dim("m"),)),)),
        (np.fft.rfft, (array("m"),)),
        (np.repeat, (array("m"), Scalar(int))),
    ],
)
def test_lengths_that_examples_do_not_show(fn, args):
    """Two examples of small sizes may agree by accident."""
    (dim,) = Evaluator().call(fn, args).shape
    assert dim.symbol.startswith("?")


def test_lengths_that_differ_by_a_constant_stay_known():
    evaluator = Evaluator()
    stop = Scalar(int, Dim("m"))
    assert evaluator.call(np.arange, (stop,)).shape == (Dim("m"),)
    assert evaluator.call(np.arange, (Known(Const(2)), stop)).shape == (Dim("m", -2),)
    assert evaluator.call(np.diff, (array("m"),)).shape == (Dim("m", -1),)
