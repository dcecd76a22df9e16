"""Numbers of earlier calls that are equal to numbers of this one."""

import math

import numpy as np
import pytest

from s2s.errors import UnsupportedSyntaxError
from s2s.recorded import stale

FRESH, OLD = 0.7, float("0.7")


def depends(value):
    """Say whether a value is the one that this call computed."""
    return value is FRESH


@pytest.mark.parametrize("args, found, is_refused", [
    ((FRESH, OLD), True, True), ((OLD, FRESH), True, True), ((FRESH, OLD, 1e-9), True, True),
    ((FRESH, OLD, FRESH), True, True), ((OLD, OLD), True, False), ((FRESH, FRESH, OLD), True, False),
    ((FRESH, OLD), False, False), ((FRESH, 0.8), True, False), ((FRESH,), True, False),
])  # fmt: skip
def test_functions_that_compare(args, found, is_refused):
    assert FRESH is not OLD
    if not is_refused:
        return stale.check_equality(args, found, depends)
    with pytest.raises(UnsupportedSyntaxError, match="earlier call"):
        stale.check_equality(args, found, depends)


@pytest.mark.parametrize("sign, a, b, found", [
    ("==", FRESH, OLD, None), ("!=", OLD, FRESH, None), ("==", FRESH, 0.8, False), ("!=", FRESH, 0.8, True),
    ("==", FRESH, FRESH, True), ("in", FRESH, {OLD: 1}, False), ("not in", FRESH, {OLD}, True),
    ("in", FRESH, {FRESH: 1}, True), ("not in", FRESH, frozenset({FRESH}), False), ("in", OLD, {FRESH}, True),
    ("in", FRESH, [OLD], True), ("not in", FRESH, {0.8}, True),
])  # fmt: skip
def test_comparisons(sign, a, b, found):
    if found is not None:
        assert stale.compare(sign, a, b, depends) is found
        return
    with pytest.raises(UnsupportedSyntaxError, match="earlier call"):
        stale.compare(sign, a, b, depends)


def test_numbers_that_are_equal_by_accident():
    for number in (0.0, 1.0, -1.0, math.inf, -math.inf, 2):  # no float is 2
        assert stale.compare("==", number, number, lambda value: False)
        assert not stale._is_same(number, number)
    assert stale._is_same((0.0, 0.7), (0.0, OLD)) and not stale._is_same((0.7, 1.0), (0.7,))
    assert not stale._is_same((0.0, 1.0), (0.0, 1.0))


OTHERS = np.array([0.7, 2.0])


@pytest.mark.parametrize("a, b, is_same", [
    ((0.7, 5.0), (OLD, 6.0), False), ((5.0, 0.7), (6.0, OLD), False), ((0.7, 5.0), (OLD, float("5")), True),
    ((math.nan, 0.7), (math.nan, OLD), True), ((float("nan"), 0.7), (float("nan"), OLD), False),
    ((0.7, "text"), (OLD, "text"), True), ((0.7, "text"), (OLD, "other"), False), ((), (), False),
    (("a",), ("a",), False),
    ((OTHERS, 1.0), (OTHERS.copy(), 1.0), True), ((OTHERS, 1.0), (OTHERS + 1.0, 1.0), False),
    ((0.7, OTHERS), (OLD, OTHERS + 1.0), False), ((0.7, (2.0, 3.0)), (OLD, (2.0, 4.0)), False),
    (OTHERS, OTHERS.copy(), True), (OTHERS, OTHERS[:1], False), (OTHERS, OTHERS + 1.0, False),
    (np.array([2.0, 3.0]), np.array([2, 3]), False), (np.array([2, 3]), np.array([2, 3]), False),
    (np.array([0.0, 1.0]), np.array([0.0, 1.0]), False),
    (np.array([math.inf, -1.0]), np.array([math.inf, -1.0]), False),
    (np.array([]), np.array([]), False), (np.array([2.0j]), np.array([2.0j]), True), (OTHERS[:1], OTHERS[0], False),
    ((0.7,), 0.7, False), ([0.7], [OLD], False), (0.7, "0.7", False),
])  # fmt: skip
def test_what_is_the_same_by_no_accident(a, b, is_same):
    assert stale._is_same(a, b) is is_same
    assert stale._is_same(b, a) is is_same


def test_a_key_that_is_no_number_is_found_by_identity():
    nan = math.nan
    assert not stale.is_remembered({nan: 1.0, 0.7: 2.0}, nan, lambda value: value is nan)
    assert not stale.is_remembered({0.7: 2.0}, nan, lambda value: value is nan)
    assert not stale.is_remembered([OLD], np.array([0.7]), lambda value: True)
