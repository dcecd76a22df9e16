"""The policies of a function at points without a derivative, and of arguments that the result does not depend on."""

import numpy as np
import pytest

import s2s
from s2s.errors import NoDerivativeError


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
