"""Arguments that the result does not depend on, and ``stop_gradient``."""

import numpy as np
import pytest

import s2s


def only_first(x, y):
    return x * x


def test_unconnected_arguments_get_zeros_or_none():
    assert s2s.grad(only_first, argnums=(0, 1))(3.0, 2.0) == (6.0, 0.0)
    assert s2s.grad(only_first, argnums=(0, 1), unconnected="none")(3.0, 2.0) == (6.0, None)
    y = np.ones(3)
    np.testing.assert_array_equal(s2s.grad(only_first, argnums=1)(3.0, y), np.zeros(3))
    assert s2s.grad(only_first, argnums=1, unconnected="none")(3.0, y) is None


# --- stop_gradient --------------------------------------------------------------------------------------------------


def masked(w, mask):
    return np.sum(mask * w**2 + s2s.stop_gradient(np.abs(1 - mask) * w) ** 2)


def scaled(x):
    return x * s2s.stop_gradient(x * x) * x


def summed(x):
    total = 0.0
    for _ in range(3):
        total = total + x * s2s.stop_gradient(x * x + total)
    return total


def written(w):
    u = s2s.stop_gradient(w)
    u[0] = 5.0 * w[1]
    return np.sum(u * w)


W3, MASK = np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.0, 1.0])


def test_no_derivative_goes_through_stop_gradient():
    np.testing.assert_array_equal(s2s.grad(masked)(W3, MASK), [2.0, 0.0, 6.0])
    _, dot = s2s.jvp(masked, (W3, MASK), (np.ones(3), None))
    assert dot == 8.0
    np.testing.assert_array_equal(s2s.hessian(masked)(W3, MASK), np.diag([2.0, 0.0, 2.0]))
    np.testing.assert_array_equal(s2s.jacrev(lambda w: s2s.stop_gradient(w) * w)(W3), np.diag(W3))


def test_stop_gradient_in_derivatives_of_every_order():
    assert s2s.grad(scaled)(3.0) == 2 * 9.0 * 3.0
    assert s2s.grad(s2s.grad(scaled))(3.0) == 2 * 9.0
    assert s2s.grad(s2s.grad(s2s.grad(scaled)))(3.0) == 0.0
    assert s2s.jvp(s2s.grad(scaled), (3.0,), (1.0,))[1] == 2 * 9.0


def test_stop_gradient_in_loops_and_stores():
    assert s2s.grad(summed)(2.0) == 4.0 + (4.0 + 8.0) + (4.0 + 8.0 + 24.0)
    assert s2s.jvp(summed, (2.0,), (1.0,))[1] == 52.0
    np.testing.assert_array_equal(s2s.grad(written)(W3), [10.0, 2.0 + 5.0, 3.0])
    np.testing.assert_array_equal(W3, [1.0, 2.0, 3.0])


def test_stop_gradient_of_containers():
    def f(p):
        q = s2s.stop_gradient(p)
        return p["a"] * q["a"] + q["b"][0] * p["b"][0]

    assert s2s.grad(f)({"a": 2.0, "b": [3.0, 1.0]}) == {"a": 2.0, "b": [3.0, 0.0]}
    held = [np.ones(2)]
    copied = s2s.stop_gradient(held)
    assert copied[0] is not held[0]


def test_stop_gradient_on_numba():
    pytest.importorskip("numba")
    compiled = s2s.differentiable(written, backend="numba")
    np.testing.assert_array_equal(s2s.grad(compiled)(W3), [10.0, 7.0, 3.0])


def test_policies_may_be_spelled_with_a_hyphen():
    assert s2s.nonsmooth("hard-tanh") == s2s.nonsmooth("hard_tanh")
    assert s2s.nonsmooth(floor="straight-through") == s2s.nonsmooth(floor="straight_through")
