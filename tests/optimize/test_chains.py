"""Arithmetic on elements as functions that an array module compiles: which operations, and in what parts."""

import numpy as np
import pytest

import s2s
from s2s.optimize.chains import LEAST, MOST, _pieces
from tests.arrays import standin
from tests.helpers import differences


@pytest.mark.parametrize("count", [2, MOST, MOST + 1, 2 * MOST + 1, 59 * MOST + 1, 60 * MOST + 1])
def test_no_operation_is_alone(count):
    parts = _pieces(list(range(count)))
    assert sum(parts, []) == [*range(count)]
    assert all(LEAST <= len(part) <= MOST + 1 for part in parts)
    assert len(parts) <= -(-count // MOST)


X = np.random.default_rng(101).standard_normal(3)


def clipped(x):
    """One bound is no number."""
    y = np.clip(x * 2.0, None, 0.5)
    return np.sum(y * np.sin(y))


def beside_numbers(x):
    y = np.clip(x * 2.0, -0.5, 0.5)
    return np.sum(y * np.sin(y))


@pytest.mark.parametrize("f, passes", [(clipped, 2), (beside_numbers, 1)])
def test_operands_are_arrays_and_numbers(f, passes):
    assert s2s.source(f, standin.asarray(X)).count("rt.fused(") == passes
    np.testing.assert_allclose(s2s.grad(f)(standin.asarray(X)).get(), differences(f, X), rtol=1e-6)


@pytest.mark.parametrize("f, by_numpy", [
    (lambda x: np.sum(np.sin(2.0**x) * x), True), (lambda x: np.sum(np.sin((1 + 1) ** x) * x), True),
    (lambda x: np.sum(np.sin((x * x) ** 1.5) * x), False), (lambda x: np.sum(np.sin((x * x) ** np.abs(x)) * x), False),
], ids=["number", "integer", "power", "arrays"])
def test_a_power_of_a_number_is_one_of_numpy(f, by_numpy):
    """Numbers have no power of what a function is called with when it is compiled."""
    code = [line.partition("#")[0] for line in s2s.source(f, standin.asarray(X)).splitlines()]
    assert sum("rt.fused(" in line for line in code) == 1
    assert any("np.power(" in line for line in code) == by_numpy != any("**" in line for line in code)
    np.testing.assert_allclose(s2s.grad(f)(standin.asarray(X)).get(), differences(f, X), rtol=1e-6)
