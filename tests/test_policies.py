"""The policies of a function at points without a derivative, and of arguments that the result does not depend on."""

import numpy as np
import pytest

import s2s
from s2s.errors import ArgumentError, NoDerivativeError


def rounded(x):
    return np.floor(x) * x + round(x)


def halved(v):
    return np.sum(np.rint(v) * v)


def test_straight_through_is_the_default():
    assert s2s.grad(rounded)(2.7) == 2.7 + 2.0 + 1.0


def test_zero_lets_no_cotangent_through():
    assert s2s.grad(s2s.differentiable(rounded, nonsmooth="zero"))(2.7) == 2.0
    v = np.array([0.6, 1.4])
    np.testing.assert_array_equal(s2s.grad(s2s.differentiable(halved, nonsmooth="zero"))(v), np.rint(v))


def test_a_policy_by_the_name_of_the_function():
    by_name = s2s.differentiable(rounded, nonsmooth={"floor": "zero"})
    assert s2s.grad(by_name)(2.7) == 2.0 + 1.0


def test_error_names_the_function_and_the_line():
    with pytest.raises(NoDerivativeError, match=r"round.*piecewise constant") as found:
        s2s.grad(s2s.differentiable(rounded, nonsmooth="error"))(2.7)
    assert "test_policies.py:11" in str(found.value)


def test_a_policy_never_reuses_the_code_of_another():
    plain, zero = s2s.grad(rounded), s2s.grad(s2s.differentiable(rounded, nonsmooth="zero"))
    assert (plain(2.7), zero(2.7), plain(2.7)) == (5.7, 2.0, 5.7)


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


def of_unknown_kind(x, functions, dtype):
    y = functions[0](x)
    with s2s.nonsmooth("zero"):
        return np.sum(np.floor(y) * y + y.astype(int) * y + y.round() * y + np.asarray(y, dtype) * y)


def test_a_policy_holds_for_what_is_known_only_when_the_program_runs():
    x, functions = np.array([1.5, 2.75]), [lambda x: x * 1.0]
    constants = np.floor(x) + x.astype(int) + x.round()
    for dtype, expected in ((np.dtype(int), constants + x.astype(int)), (np.dtype(float), constants + 2.0 * x)):
        np.testing.assert_allclose(s2s.grad(of_unknown_kind)(x, functions, dtype), expected, rtol=1e-15)
        _, tangent = s2s.jvp(of_unknown_kind, (x, functions, dtype), (np.array([1.0, 0.0]), None, None))
        np.testing.assert_allclose(tangent, expected[0], rtol=1e-15)


@s2s.differentiable(nonsmooth="zero")
def repeated(x, n):
    return x if n == 0 else np.floor(x) * repeated(x, n - 1)


def test_a_policy_holds_in_a_function_that_calls_itself():
    assert s2s.grad(repeated)(2.75, 12) == 2.0**12
    assert s2s.grad(s2s.grad(repeated))(2.75, 3) == 0.0


def test_a_sharpness_without_a_policy_and_a_block_without_one_are_refused():
    with pytest.raises(ArgumentError, match="sharpness"):
        s2s.differentiable(rounded, sharpness=5.0)
    with pytest.raises(ArgumentError, match="no policy"):
        s2s.nonsmooth()
    with pytest.raises(ArgumentError, match="positive"):
        s2s.nonsmooth("sigmoid", sharpness=0.0)
