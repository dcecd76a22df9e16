"""What is recomputed in the reverse sweep: what costs no more than keeping it."""

import numpy as np
import pytest

from s2s.core.values import Array, Dim, Scalar
from s2s.reverse.residuals.costs import ARRAY_OPERATION, FEW_NUMBERS, KEEPING, costs_less, is_few_numbers


def test_what_costs_as_much_as_keeping_is_recomputed():
    few = KEEPING // ARRAY_OPERATION
    assert costs_less(KEEPING) and not costs_less(KEEPING + 1)
    assert costs_less(few, ARRAY_OPERATION) and not costs_less(few + 1, ARRAY_OPERATION)
    assert costs_less(1, KEEPING) and not costs_less(1, KEEPING + 1)


def array(*lengths, dtype=np.float64):
    return Array(np.dtype(dtype), tuple(Dim("", n) for n in lengths))


@pytest.mark.parametrize(
    "known, is_few",
    [
        (array(2), True), (array(FEW_NUMBERS), True), (array(1), False), (array(FEW_NUMBERS + 1), False),
        (array(2, 2), False), (array(), False), (array(2, dtype=np.float32), False), (Scalar(float), False),
        (Array(np.dtype(float), None), False), (Array(np.dtype(float), (Dim("n", 2),)), False),
    ],
)  # fmt: skip
def test_few_numbers_are_those_of_a_short_vector(known, is_few):
    assert is_few_numbers(known) is is_few
