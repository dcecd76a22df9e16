"""Which loops a notice speaks of: long sums in single precision, and calls of functions known only when they run."""

import json
import warnings

import numpy as np
import pytest

import s2s

SINGLE = np.array([0.4, -1.3, 0.8], np.float32)


def over_items(x, n):
    total = np.float32(0.0)
    for v in x:
        total = total + v * v
    return total


def over_a_part_of_a_range(x, n):
    total = np.float32(0.0)
    for k in range(n)[1:]:
        total = total + x[k % 3]
    return total


def over_an_open_range(x, n):
    total = np.float32(0.0)
    for k in range(n):
        total = total + x[k % 3]
    return total


def over_many(x, n):
    total = np.float32(0.0)
    for k in range(0, 2000, 2):
        total = total - x[k % 3]
    return total


def over_few(x, n):
    total = np.float32(0.0)
    for k in range(0, 1998, 2):
        total = total + x[k % 3]
    return total


def over_constants(x, n):
    total = np.float32(0.0)
    for k in (0, 1, 2):
        total = total + x[k]
    return total


FEW = tuple(k % 3 for k in range(200))


def over_a_constant(x, n):
    total = np.float32(0.0)
    for k in FEW:
        total = total + x[k]
    return total


def while_there_are_more(x, n):
    total, k = np.float32(0.0), 0
    while k < n:
        total = total + x[k % 3]
        k += 1
    return total


def of_products(x, n):
    total = np.float32(1.0)
    for v in x:
        total = total * v
    return total


def in_double_precision(x, n):
    total = np.float64(0.0)
    for v in x:
        total = total + v
    return total


FUNCTIONS = {"sin": np.sin}


def of_a_function_known_later(x, n):
    total = 0.0
    for v in x:
        total = total + FUNCTIONS[json.loads('"sin"')](v)
    return total


@pytest.mark.parametrize(
    "f, told",
    [
        (over_items, ["SinglePrecisionWarning"]), (over_an_open_range, ["SinglePrecisionWarning"]),
        (over_a_part_of_a_range, ["SinglePrecisionWarning"]),
        (over_many, ["SinglePrecisionWarning"]), (over_few, []), (over_constants, []), (over_a_constant, []),
        (while_there_are_more, ["SinglePrecisionWarning"]), (of_products, []), (in_double_precision, []),
        (of_a_function_known_later, ["DynamicCallWarning"]),
    ],
    ids=lambda given: getattr(given, "__name__", ""),
)  # fmt: skip
def test_notices(f, told):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        s2s.source(f, SINGLE, 5, mode="grad")
    assert [type(w.message).__name__ for w in caught] == told
