"""A program that chooses a derivative for a function gets it, or is refused, also where its call is recorded."""

import math

import numpy as np
import pytest

import s2s
from s2s.errors import NoDerivativeError
from tests.helpers import differences

pytestmark = pytest.mark.filterwarnings("ignore::s2s.RecordedWarning", "ignore::s2s.StraightThroughWarning")
X = np.array([1.3, 2.6])


@pytest.fixture(autouse=True)
def recorded(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "1")


def by_name(f, x):
    """A call that the compiler refuses, since ``locals`` is asked for a variable."""
    held = locals()
    return held["f"](held["x"])


def doubled(out, out_bar, x):
    return 2.0 * out_bar


def in_block(policy):
    def f(x):
        with s2s.nonsmooth(policy):
            return np.sum(np.floor(x) * x)

    return f


def sines(x):
    return np.sum(np.sin(x))


STEPS = {
    "floor": lambda x: np.sum(np.floor(x) * x), "//": lambda x: np.sum(x // 1.0 * x),
    "int": lambda x: int(x[0]) * x[1], "round": lambda x: round(x[0]) * x[1],
    "np.int64": lambda x: np.int64(x[0]) * x[1], "np.array": lambda x: np.sum(np.array(x, int) * x),
    "astype": lambda x: np.sum(x.astype(int) * x), "of ndarray": lambda x: np.sum(np.ndarray.astype(x, int) * x),
    "divmod": lambda x: divmod(x[0], 1.0)[0] * x[1], "math.floor": lambda x: math.floor(x[0]) * x[1],
    "__floor__": lambda x: x[0].__floor__() * x[1], "sign": lambda x: np.sum(np.sign(x) * x),
    "map": lambda x: sum(map(round, x)) * x[1], "nansum": lambda x: np.nansum(x, dtype=int) * x[0],
}


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("way", ["block", "default"])
def test_a_step_is_refused_by_the_policy_of_the_program(name, way):
    step = STEPS[name]

    def in_a_block(x):
        with s2s.nonsmooth("error"):
            return step(x)

    f = in_a_block if way == "block" else s2s.differentiable(step, nonsmooth="error")
    with pytest.raises(NoDerivativeError, match=r"piecewise constant, and the policy|no policy for conversions"):
        s2s.grad(by_name, argnums=1)(f, X)
    with pytest.raises(NoDerivativeError):
        s2s.grad(f)(X)
    with pytest.raises(NoDerivativeError):
        s2s.jvp(f, (X,), (np.ones(2),))


def test_a_store_into_integers_is_a_conversion():
    def f(x):
        with s2s.nonsmooth("error"):
            cells = np.zeros(2, int)
            cells[:] = x
        return np.sum(cells * x)

    with pytest.raises(NoDerivativeError, match="the policy is nonsmooth"):
        s2s.grad(f)(X)


def test_a_policy_that_says_what_a_recording_does_is_followed():
    np.testing.assert_allclose(s2s.grad(by_name, argnums=1)(in_block("zero"), X), np.floor(X))


@pytest.mark.parametrize("policy", ["straight_through", "sigmoid"])
def test_another_derivative_of_a_step_is_refused(policy):
    with pytest.raises(NoDerivativeError, match="a recording does not do that"):
        s2s.grad(by_name, argnums=1)(in_block(policy), X)


@pytest.mark.parametrize("rules", [{np.sin: doubled}, {"sin": "zero"}, {np.sin: "identity"}])
def test_another_rule_is_refused(rules):
    def f(x):
        with s2s.gradient_override(rules):
            return sines(x)

    with pytest.raises(NoDerivativeError, match="a recording does not do that"):
        s2s.grad(by_name, argnums=1)(f, X)


def test_a_choice_for_another_function_changes_nothing():
    def f(x):
        with s2s.nonsmooth(floor="error"):
            return sines(x)

    np.testing.assert_allclose(s2s.grad(by_name, argnums=1)(f, X), np.cos(X))


def test_a_choice_ends_with_its_block():
    def f(x):
        with s2s.nonsmooth("error"):
            y = np.sin(x)
        return np.sum(np.floor(x) * y)

    np.testing.assert_allclose(s2s.grad(by_name, argnums=1)(f, X), np.floor(X) * np.cos(X))


MASKED = np.ma.masked_array([1.3, 2.6, 3.1], mask=[False, True, False])


@pytest.mark.grid(0.4)
@pytest.mark.parametrize("name", ["mean", "sum", "std", "var", "prod", "cumsum", "sort"])
def test_a_function_asks_a_masked_array_for_its_method(name):
    def f(x):
        return np.sum(getattr(np, name)(x) ** 2)

    found, step = np.asarray(s2s.grad(f)(MASKED)), 1e-6
    for k in (0, 2):
        up, down = MASKED.copy(), MASKED.copy()
        up[k], down[k] = up[k] + step, down[k] - step
        np.testing.assert_allclose(found[k], (f(up) - f(down)) / (2 * step), rtol=1e-7)
    assert found[1] == 0.0


class Held:
    def __init__(self, value):
        self.value = value


def stepped(x):
    held = Held(x * x)
    return by_name(lambda value: np.sum(value * np.floor(x) * vars(held)["value"]), x)


def under_a_decorator(policy):
    return s2s.grad(s2s.differentiable(nonsmooth=policy)(stepped))


def under_a_block(policy):
    def gradient(x):
        with s2s.nonsmooth(policy):
            return s2s.grad(stepped)(x)

    return gradient


@pytest.mark.parametrize("way", [under_a_decorator, under_a_block], ids=lambda way: way.__name__)
def test_a_policy_around_a_call_forbids_no_recording(way):
    expected = differences(stepped, X)
    np.testing.assert_allclose(way("zero")(X), expected, rtol=1e-6)
    for policy in ("error", "straight_through"):
        with pytest.raises(NoDerivativeError, match="floor"):
            way(policy)(X)
