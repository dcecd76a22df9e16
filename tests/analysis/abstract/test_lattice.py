"""What is known of a variable that holds one of two values, and whether two values are equal."""

import types

import numpy as np
import pytest

from s2s.analysis.abstract.lattice import are_equal, is_float, join, known
from s2s.analysis.abstract.shapes import Facts
from s2s.core.array_classes import compiling_for
from s2s.core.values import UNKNOWN, Array, Dim, Known, Mapping, Scalar, Sequence

NUMBERS = [0.0, 1j, True, 2, np.float64(0.0)]


@pytest.mark.parametrize("number", [*map(known, NUMBERS), *(Scalar(type(n)) for n in NUMBERS)], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_a_number_or_an_array_of_rank_zero(number, dtype):
    """Other modules than NumPy have no numbers of their own: there it is an array with the dtype of a sum."""
    kind = type(number.value) if isinstance(number, Known) else number.type
    zero, lengths = Array(np.dtype(dtype), ()), (Dim("x.0"),)
    total = (np.zeros((), dtype)[()] + kind(0)).dtype
    for compiled_for, expected in ((types.SimpleNamespace, Array(total, ())), (np.ndarray, UNKNOWN)):
        with compiling_for(compiled_for):
            assert join(zero, number, Facts()) == join(number, zero, Facts()) == expected
            assert join(Array(zero.dtype, lengths), number, Facts()) == UNKNOWN


N, M = (Scalar(int, Dim(symbol)) for symbol in ("x.0", "y.0"))
AFTER_N, JOINED = Scalar(int, Dim("x.0", 1)), Scalar(int, Dim("?~1"))


def row(*items, kind=tuple):
    return Sequence(kind, items)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (row(known(1), N), row(known(1), N), True), (row(known(1), N), row(known(2), N), False),
        (row(N, M), row(AFTER_N, M), False), (row(N), row(M), None), (row(JOINED), row(JOINED), None),
        (row(N, known(1)), row(M, known(2)), False), (row(N, known(1)), row(M, known(1)), None),
        (row(N), row(N, M), False), (row(N), row(N, kind=list), False), (row(N), row(N, kind=slice), None),
        (row(N, row(known("a"))), row(N, row(known("a"))), True), (row(row(N)), row(known(1)), False),
        (row(known(1), known("a")), known((1, "a")), True), (row(known(1)), known((1, "a")), False),
        (row(N), known(None), False), (row(N), known(1.5), False), (row(N), known("x"), False), (row(N), M, False),
        (row(N), Scalar(np.int64), None), (row(N), UNKNOWN, None), (Scalar(float), known("a"), False),
        (Mapping(("a",), (N,)), known(1), False), (Mapping(("a",), (N,)), row(N), None), (N, M, None),
    ],
)  # fmt: skip
def test_whether_containers_are_equal(a, b, expected):
    assert are_equal(a, b) is are_equal(b, a) is expected


@pytest.mark.parametrize(("value", "expected"), [
    (Scalar(float), True), (Scalar(complex), True), (Scalar(np.float32), True), (Scalar(int), False),
    (Scalar(bool), False), (Scalar(np.int64), False), (known(1.0), True), (known(1j), True), (known(1), False),
    (known(np.float32(1.0)), True), (known("1.0"), False), (Array(np.dtype(float), None), True),
    (Array(np.dtype(np.complex64), (N.dim,)), True), (Array(np.dtype(int), None), False),
    (Array(np.dtype(bool), (N.dim,)), False), (Array(np.dtype(object), None), False), (row(known(1.0)), False),
    (UNKNOWN, False),
], ids=str)
def test_what_is_certainly_of_floating_point(value, expected):
    assert is_float(value) is expected
