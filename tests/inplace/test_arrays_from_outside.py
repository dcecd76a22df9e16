"""Stores into arrays that may be one from outside the function, depending on the path that is taken."""

import numpy as np
import pytest

import s2s
from s2s.errors import SharedMemoryError, UnsupportedSyntaxError
from tests.helpers import differences

W, V = np.array([1.0, 2.0]), np.array([5.0, 6.0])
HOLDER = type("Holder", (), {"weights": np.array([3.0, 4.0])})()
X = np.array([0.3, 0.5])


def read_after_the_store(x, c):
    a = x * 2.0
    a[0] = 1.0
    b = a if c > 0.0 else W
    return np.sum(b * x)


def read_before_the_store(x, c):
    b = W if c > 0.0 else x * 2.0
    a = b if c > 1.0 else x * 3.0
    a[0] = x[1]
    return np.sum(a * b * x)


def read_in_a_loop(x, c):
    a = x * 2.0
    for i in range(3):
        a[0] = x[0] * (i + 1.0)
        if c > i + 1.0:
            a = W
    return np.sum(a * x)


def made_anew_in_a_loop(x, c):
    a = x * 2.0
    for i in range(3):
        a[1] = a[0] * x[0]
        b = a if c > i else W
        a = x + b
    return np.sum(a * x)


def of_two_arrays(x, c):
    a = x * 2.0
    a[0] = 1.0
    b = a if c > 0.0 else (W if c > -1.0 else V)
    a[1] = x[0] ** 2
    return np.sum(b * x)


@pytest.mark.parametrize("f, c", [
    (read_after_the_store, 1.0), (read_after_the_store, -1.0), (read_before_the_store, 0.5),
    (read_before_the_store, -1.0), (read_in_a_loop, 0.5), (made_anew_in_a_loop, 1.5), (made_anew_in_a_loop, -1.0),
    (of_two_arrays, 1.0), (of_two_arrays, -0.5), (of_two_arrays, -2.0),
])
def test_gradients_where_the_array_that_is_changed_is_another_one(f, c):
    expected = differences(lambda x: f(x, c), X)
    np.testing.assert_allclose(s2s.grad(f)(X, c), expected, rtol=1e-6)
    np.testing.assert_allclose(s2s.jacfwd(f)(X, c), expected, rtol=1e-6)
    tests = [s2s.grad(f).source.count(f'rt.check_apart(a, {name}, "{name}")') for name in ("W", "V")]
    assert tests == ([2, 2] if f is of_two_arrays else [1, 0])
    assert (W.tolist(), V.tolist()) == ([1.0, 2.0], [5.0, 6.0])


def test_an_array_that_is_found_after_the_store_is_not_tested():
    def f(x, c):
        a = x * 2.0
        a[0] = 1.0
        return np.sum((a if c > 0.0 else HOLDER.weights) * x)

    with pytest.raises(UnsupportedSyntaxError, match=r"`weights`.*S2S121"):
        s2s.grad(f)(X, 1.0)


@pytest.mark.parametrize("f", [read_before_the_store, read_in_a_loop])
def test_a_store_into_an_array_from_outside_is_refused_when_it_happens(f):
    with pytest.raises(SharedMemoryError, match="`W` "):
        s2s.grad(f)(X, 2.0)
    assert W.tolist() == [1.0, 2.0]
