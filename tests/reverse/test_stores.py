"""Cotangents of arrays that are changed in place, whose stores the reverse sweep undoes."""

import numpy as np
import pytest

import s2s
from tests.helpers import check

X = np.array([0.462, -0.907, 1.369])


def half_of_a_buffer_twice(x):
    x = x.copy()
    x[:] = x * x
    return 0.5 * np.dot(x, x)


def of_a_branch(x):
    x = x.copy()
    x[:] = np.sin(x)
    if x[0] > 0.0:
        return 0.5 * np.dot(x, x)
    return np.sum(x)


def of_a_loop(x):
    x = x.copy()
    for _ in range(2):
        x[1:] = x[1:] * x[:-1]
    return 0.5 * np.dot(x, x)


def of_columns(x):
    z = np.zeros((len(x), 3))
    for i in range(3):
        z[i:, i] = x[i:] * 2.0
    return np.sum(z * z)


@pytest.mark.parametrize("f", [half_of_a_buffer_twice, of_a_branch, of_a_loop, of_columns])
def test_the_cotangent_that_is_a_buffer_itself(f):
    check(f, (X,))


def test_a_value_as_long_as_its_place_keeps_nothing_for_its_shape():
    """The cotangent of the value is the part of the adjoint: nothing was repeated to fill the place."""
    text = s2s.source(of_columns, X, mode="grad")
    assert "outline" not in text and "unbroadcast" not in text, text
