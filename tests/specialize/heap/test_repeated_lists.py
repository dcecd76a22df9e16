"""Lists of floats, repeated so often as shows when the program runs, whose items the program changes."""

import numpy as np
import pytest

import s2s
from tests.helpers import differences

X = np.array([0.7, 1.3, 0.4])


def by_branches(x, n):
    s = [0.0] * n
    for i in range(n):
        if i % 2:
            s[i] = x[i]
    return s[0] + s[1] * s[-1]


def from_the_one_before(x, n):
    s = (n + 1) * [0.0]
    for i in range(n):
        s[i + 1] = s[i] + x[i] ** 2
    return s[n] * s[1]


def under_another_name(x, n):
    s = [1.0, 2.0] * n
    u = s
    u[0] = x[0]
    s.append(x[1])
    return sum(s) * s[0] * u[-1]


def changed_by_a_helper(x, n):
    s = [0.0] * n

    def put(items, i):
        items[i] = x[i] * x[0]

    for i in range(n):
        put(s, i)
    return sum(s)


def of_arrays_in_the_end(x, n):
    s = [0.0] * n
    for i in range(n):
        s[i] = x * i
    total = 0.0
    for v in s:
        total = total + np.sum(v * v)
    return total


def by_slices(x, n):
    s = [0.0] * n
    s[:2] = [x[0], x[1] * x[2]]
    return s[0] * s[1]


@pytest.mark.parametrize("f", [
    by_branches, from_the_one_before, under_another_name, changed_by_a_helper, of_arrays_in_the_end, by_slices,
], ids=lambda f: f.__name__)
def test_both_modes(f):
    wanted = differences(lambda x: f(x, 3), X)
    value, gradient = s2s.value_and_grad(f)(X, 3)
    assert value == f(X, 3)
    np.testing.assert_allclose(gradient, wanted, rtol=1e-7)
    direction = np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(s2s.jvp(lambda x: f(x, 3), (X,), (direction,))[1], wanted @ direction, rtol=1e-7)


@pytest.mark.parametrize("f", [by_branches, from_the_one_before, under_another_name, by_slices])
def test_second_order(f):
    gradient = s2s.grad(f)
    wanted = np.array([differences(lambda x: gradient(x, 3)[k], X) for k in range(3)])
    np.testing.assert_allclose(s2s.hessian(f)(X, 3), wanted, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("count", [0, -1])
def test_a_list_that_is_too_short_raises_as_the_function_does(count):
    with pytest.raises(IndexError):
        s2s.grad(by_branches)(X, count)
