"""Conversions to integers by every way to name the dtype, of arrays and of those of a class of which nothing is known:
a tangent is not rounded, and forward mode agrees with reverse mode under each policy.
"""

import contextlib

import numpy as np
import pytest

import s2s

pytestmark = pytest.mark.filterwarnings("ignore::s2s.StraightThroughWarning")
X, V = np.array([1.3, 2.6]), np.array([1.0, 0.5])


class Own(np.ndarray):
    pass


CONVERSIONS = {
    "astype": lambda x: x.astype(int), "of ndarray": lambda x: np.ndarray.astype(x, int),
    "by keyword": lambda x: x.astype(dtype=np.int64), "by letters": lambda x: x.astype("i8"),
    "asarray": lambda x: np.asarray(x, int), "array": lambda x: np.array(x, dtype=int),
    "asanyarray": lambda x: np.asanyarray(x, dtype="int32"), "require": lambda x: np.require(x, int),
    "round": lambda x: x.round(), "round of ndarray": lambda x: np.ndarray.round(x), "np.round": lambda x: np.round(x),
    "//": lambda x: x // 1, "bool": lambda x: x.astype(bool),
}
SLOPES = {None: 1.0, "straight_through": 1.0, "zero": 0.0}


@pytest.mark.parametrize("kind", [np.ndarray, Own])
@pytest.mark.parametrize("policy", SLOPES)
@pytest.mark.parametrize("name", CONVERSIONS)
def test_a_conversion_has_the_slope_of_its_policy_in_both_modes(name, policy, kind):
    convert, x = CONVERSIONS[name], X.view(kind)

    def f(x):
        return np.sum(convert(x) * x)

    slope = 0.0 if name == "bool" else SLOPES[policy]
    want = np.asarray(convert(X), float) + slope * X
    with contextlib.nullcontext() if policy is None else s2s.nonsmooth(policy):
        np.testing.assert_allclose(np.asarray(s2s.grad(f)(x)), want, rtol=1e-12)
        np.testing.assert_allclose(float(s2s.jvp(f, (x,), (V.view(kind),))[1]), want @ V, rtol=1e-12)


@pytest.mark.parametrize("kind", [np.ndarray, Own])
@pytest.mark.parametrize("name", [name for name in CONVERSIONS if name != "bool"])
def test_a_conversion_is_refused(name, kind):
    def f(x):
        return np.sum(CONVERSIONS[name](x) * x)

    with s2s.nonsmooth("error"), pytest.raises(s2s.errors.NoDerivativeError, match="the policy is nonsmooth"):
        s2s.jvp(f, (X.view(kind),), (V.view(kind),))
    with s2s.nonsmooth("error"), pytest.raises(s2s.errors.NoDerivativeError, match="the policy is nonsmooth"):
        s2s.grad(f)(X.view(kind))
