"""Integers in arrays of rank 0, which bound ranges and slices or are indices, and change afterwards."""

import numpy as np
import pytest

import s2s
from tests.helpers import differences

X = np.array([0.3, 0.7, 1.1, 0.4, 0.9])


def range_up(x, n):
    t = 0.0
    for i in range(n):
        t = t * 0.5 + x[i] ** 2
    n += 2
    return t * n


def range_between(x, n):
    t = 0.0
    for i in range(n, 5):
        t = t * 0.5 + x[i] ** 2
    n += 2
    return t * n


def range_down(x, n):
    last = n - 1
    n += 2
    t = 0.0
    for i in range(last, -1, -1):
        t = t * 0.5 + x[i] ** 2
    return t * n


def range_down_from_a_number_made_here(x, n):
    made = np.zeros((), int)
    made += 3
    last = made - 1
    made += n
    t = 0.0
    for i in range(last, -1, -1):
        t = t * 0.5 + x[i] ** 2
    return t * made


def range_of_a_view(x, n):
    many = np.array([1, 3])
    t, count = 0.0, many[1:2].reshape(())
    for i in range(count):
        t = t * 0.5 + x[i] ** 2
    many[1] += n
    return t * many[1]


def slice_to(x, n):
    s = x[:n] ** 2
    n += 1
    return np.sum(s) * x[n]


def index_in_a_loop(x, n):
    s = 0.0
    for _ in range(2):
        s = s * 0.5 + np.sin(x[n])
        n -= 1
    return s


def index_of_two_axes(x, n):
    s, y = 0.0, x.reshape(1, 5)
    while n > 0:
        s = s * 0.5 + y[0, n] ** 2
        n -= 1
    return s


@pytest.mark.parametrize("f", [
    range_up, range_between, range_down, range_down_from_a_number_made_here, range_of_a_view, slice_to, index_in_a_loop,
    index_of_two_axes,
], ids=lambda f: f.__name__)
def test_a_number_in_memory_is_what_it_was(f):
    wanted = differences(lambda tree: f(tree[0], np.array(2)), (X,))[0]
    np.testing.assert_allclose(s2s.grad(f)(X, np.array(2)), wanted, rtol=1e-7, atol=1e-8)
    along = np.cos(X)
    np.testing.assert_allclose(s2s.jvp(f, (X, np.array(2)), (along, None))[1], along @ wanted, rtol=1e-7)
