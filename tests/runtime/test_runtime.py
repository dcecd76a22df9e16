"""The functions that generated code may import."""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any

import numpy as np
import pytest

from s2s import runtime as rt

Pair = namedtuple("Pair", "a b")


@pytest.mark.parametrize(
    "wide, narrow",
    [
        ((3,), ()), ((2, 3), (3,)), ((2, 3), (2, 1)), ((2, 3), (1, 1)), ((0, 3), (3,)), ((0, 3), (1, 3)),
        ((4, 2, 3), (2, 1)),
    ],
)
def test_unbroadcast_is_the_transpose_of_broadcasting(wide: Any, narrow: Any) -> None:
    rng = np.random.default_rng(0)
    g, x = rng.normal(size=wide), rng.normal(size=narrow)
    got = rt.unbroadcast(g, x)
    assert got.shape == narrow
    assert np.sum(got * x) == pytest.approx(np.sum(g * np.broadcast_to(x, wide)))


def test_unbroadcast_leaves_the_cotangent_of_what_has_no_shape() -> None:
    class Shaped:
        @property
        def shape(self) -> tuple[int, ...]:
            raise AssertionError

    assert rt.unbroadcast(0.0, np) == 0.0  # `np.shape` is a function
    assert rt.unbroadcast(0.0, Shaped) == 0.0


def test_unbroadcast_widens_a_cotangent_that_is_smaller() -> None:
    np.testing.assert_array_equal(rt.unbroadcast(2.0, np.zeros(3)), [2.0, 2.0, 2.0])


@pytest.mark.parametrize(
    "g, x, kind",
    [
        (np.ones(3), 2.0, float), (1 + 2j, 2.0, float), (1.0, 2j, complex), (np.float64(1.0), 1.0, float),
        (np.float64(1.0), np.float32(1.0), np.float32), (np.ones(2), np.float32(1.0), np.float32),
        (1.0, 2, float),
    ],
)
def test_unbroadcast_gives_the_kind_of_a_scalar(g: Any, x: Any, kind: type) -> None:
    assert type(rt.unbroadcast(g, x)) is kind


CASTS = [(np.complex128, np.float32), (np.float64, np.float32), (np.float32, np.complex64)]


@pytest.mark.parametrize("have, want", CASTS)
def test_unbroadcast_casts(have: Any, want: Any) -> None:
    assert rt.unbroadcast(np.ones((2, 3), have), np.ones(3, want)).dtype == want


def test_zeros_mirror_structure() -> None:
    value = {"a": [1.5, np.ones(2, np.float32)], "b": (1, "text", None), "c": Pair(2.0, np.arange(2))}
    zero = rt.zeros_like(value)
    assert zero["b"] == (None, None, None)
    assert zero["c"] == Pair(0.0, None)
    assert zero["a"][0] == 0.0 and type(zero["a"][0]) is float
    assert zero["a"][1].dtype == np.float32 and not zero["a"][1].any()


def test_add_goes_through_structure_and_takes_none_as_absent() -> None:
    one = {"a": [1.0, None], "b": Pair(np.ones(2), None)}
    two = {"a": [2.0, 3.0], "b": Pair(np.ones(2), 5.0)}
    total = rt.add(one, two)
    assert total["a"] == [3.0, 3.0]
    np.testing.assert_array_equal(total["b"].a, [2.0, 2.0])
    assert total["b"].b == 5.0 and isinstance(total["b"], Pair)
    assert rt.add(None, None) is None
    np.testing.assert_array_equal(one["b"].a, [1.0, 1.0])


INDICES = [2, slice(1, 3), [0, 0, 1], np.array([2, 2]), np.array([True, False, True]), ..., None]


@pytest.mark.parametrize("index", INDICES)
def test_index_bar_adds_up_what_is_read_more_than_once(index: Any) -> None:
    x = np.array([1.0, 2.0, 4.0])
    g = np.ones(np.shape(x[index]))
    assert np.sum(rt.index_bar(x, index, g) * x) == pytest.approx(np.sum(g * x[index]))


def test_index_bar_of_containers() -> None:
    assert rt.index_bar([1.0, 2.0, 3.0], slice(0, 2), [5.0, 6.0]) == [5.0, 6.0, 0.0]
    assert rt.index_bar((1.0, 2.0), -1, 5.0) == (0.0, 5.0)
    assert rt.index_bar({"a": 1.0, "b": 2}, "a", 5.0) == {"a": 5.0, "b": 0.0}


# Values of Abramowitz and Stegun, tables 6.1 and 6.2, and psi(1) = -gamma, psi(1/2) = -gamma - 2 log 2.
@pytest.mark.parametrize(
    "x, value",
    [
        (1.0, -0.5772156649015329), (0.5, -0.5772156649015329 - 2 * math.log(2)), (1.5, 0.03648997397857652),
        (-0.5, 0.03648997397857652), (1e-8, -100000000.57721565), (100.0, 4.600161852738087),
        (1e10, 23.025850929890457),
    ],
)
def test_digamma(x: float, value: float) -> None:
    # The absolute tolerance is for the root at 1.46, near which the sum cancels.
    assert rt.digamma(x) == pytest.approx(value, rel=2e-15, abs=1e-15)


def test_digamma_is_the_slope_of_lgamma() -> None:
    for x in (0.3, 2.7, 8.1, -1.3, -4.6):
        slope = (math.lgamma(x + 1e-5) - math.lgamma(x - 1e-5)) / 2e-5
        assert rt.digamma(x) == pytest.approx(slope, rel=1e-7)


@pytest.mark.parametrize("x", [0.0, -1.0, -7.0])
def test_digamma_has_poles(x: float) -> None:
    with pytest.raises(ValueError):
        rt.digamma(x)


@pytest.mark.parametrize("x", [np.ones((2, 3)), np.ones((0, 4)), np.array(1.0), np.ones(5, np.complex64), np.arange(3)])
def test_an_outline_has_the_shape_and_the_dtype_and_no_memory(x: Any) -> None:
    made = rt.outline(x)
    assert made.shape == x.shape and made.dtype == x.dtype and set(made.strides) <= {0}
    assert not made.flags.writeable


def test_an_outline_of_something_else_is_that() -> None:
    objects = np.array([None, "x"])
    for x in (1.5, np.float32(2.0), None, [1.0], objects, np.ma.masked_array([1.0], [True])):
        assert rt.outline(x) is x
