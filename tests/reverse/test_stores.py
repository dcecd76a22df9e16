"""Cotangents of arrays that are changed in place, whose stores the reverse sweep undoes."""

import numpy as np
import pytest

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


@pytest.mark.parametrize("f", [half_of_a_buffer_twice, of_a_branch, of_a_loop])
def test_the_cotangent_that_is_a_buffer_itself(f):
    check(f, (X,))
