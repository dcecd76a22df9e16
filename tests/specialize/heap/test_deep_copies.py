"""Copies of containers: a deep copy has one copy of each array, however often and wherever it is held."""

import copy

import numpy as np
import pytest

import s2s
from s2s.errors import DifferentiationError
from tests.helpers import differences

Z = np.linspace(0.3, 2.1, 4)
OUTSIDE = {"a": np.array([1.0, 2.0, 3.0, 0.5]), "b": [np.array([2.0, 1.0, 0.5, 4.0])]}


def an_array_held_twice(z):
    a = z * 2.0
    other = copy.deepcopy({"p": a, "q": a, "r": z * 3.0})
    other["p"][0] = z[1] ** 2
    return np.sum(other["q"] * z) + np.sum(a) + np.sum(other["r"])


def an_array_in_a_tuple(z):
    a = z * 2.0
    other = copy.deepcopy([(a, 1), a])
    other[1][0] = z[1] ** 3
    return np.sum(other[0][0] * z) + np.sum(a)


def a_tuple(z):
    a = z * 2.0
    other = copy.deepcopy((a, z * 3.0, a))
    other[2][0] = z[1] ** 3
    return np.sum(other[0] * other[1]) + np.sum(a)


def a_dict_from_outside(z):
    other = copy.deepcopy(OUTSIDE)
    other["a"] *= z
    other["b"][0][1:] = z[:-1] ** 2
    return np.sum(other["a"] * other["b"][0])


def a_list_that_has_grown(z):
    items = [v * v for v in z if v > 0.5]
    other = copy.deepcopy(items)
    other[0] = z[0] ** 3
    return sum(items) * sum(other)


@pytest.mark.parametrize("program", [
    an_array_held_twice, an_array_in_a_tuple, a_tuple, a_dict_from_outside, a_list_that_has_grown,
], ids=lambda f: f.__name__)
def test_deep_copies(program):
    before = copy.deepcopy(OUTSIDE)
    expected = differences(program, Z)
    np.testing.assert_allclose(s2s.grad(program)(Z), expected, rtol=1e-6)
    direction = np.cos(Z)
    np.testing.assert_allclose(s2s.jvp(program, (Z,), (direction,))[1], expected @ direction, rtol=1e-6)
    assert all(map(np.array_equal, OUTSIDE["b"], before["b"])) and np.array_equal(OUTSIDE["a"], before["a"])


def one_of_two(z, same):
    a = z * 2.0
    b = a if same else z * 3.0
    other = copy.deepcopy([a, b])
    other[1][0] = z[1] ** 3
    return np.sum(other[0] * z) + np.sum(a)


def test_arrays_that_may_be_one_are_told_apart_when_the_program_runs():
    np.testing.assert_allclose(s2s.grad(one_of_two)(Z, 0), differences(lambda z: one_of_two(z, 0), Z), rtol=1e-6)
    with pytest.raises(DifferentiationError, match="S2S130"):
        s2s.grad(one_of_two)(Z, 1)


def copied_after_growing(z):
    items = [v * z for v in z if v > 0.5]
    other = copy.deepcopy(items)
    other[0][0] = z[1] ** 3
    return np.sum(items[0] * z) + np.sum(other[0])


def test_a_grown_list_of_arrays_shares_none_with_its_deep_copy():
    with pytest.raises(DifferentiationError, match="S2S112"):  # of what kind its items are is not known
        s2s.grad(copied_after_growing)(Z)
