"""Choices about derivatives: policies of piecewise constant functions, other rules for functions, by call, block and
function. Numbers are compared with JAX, where each slope is written out for ``custom_jvp``."""

import asyncio
import contextlib
import functools
import itertools
import math
import operator
import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest
import scipy.integrate
import scipy.special

import s2s
from s2s.errors import ArgumentError, NoDerivativeError
from tests.helpers import Later, jax_in_doubles

jax, jnp = Later("jax"), Later("jax.numpy")

SHARPNESS = 3.0
POINTS = np.array([0.0, 0.12, 0.9, 1.0, 1.42, 2.6, -0.08, -1.0, -2.53, 3.07])
V = np.array([0.3, 1.6, -2.4, 3.9])
DIRECTION = np.array([1.0, 2.0, 3.0, 4.0])


@pytest.fixture(scope="module", autouse=True)
def doubles():
    with jax_in_doubles():
        yield


# --- the slopes, by themselves --------------------------------------------------------------------------------------


def from_jump(step, x):
    """The distance from the jump that is meant, and whether there is one within half a unit."""
    near = jnp.round(x)
    if step == "halves":
        near = jnp.floor(x) + 0.5
    if step in ("sign", "heaviside"):
        near = jnp.zeros_like(x)
    there = near != 0.0 if step == "toward zero" else jnp.full(jnp.shape(x), True)
    return x - jax.lax.stop_gradient(near), there


def slope(policy, step, x):
    """The derivative that a policy gives to a step of height one at the jumps (of two for sign)."""
    height = 2.0 if step == "sign" else 1.0
    d, there = from_jump(step, x)
    k = SHARPNESS
    logistic = 1.0 / (1.0 + jnp.exp(-k * d))
    return {
        "straight_through": jnp.ones_like(x),
        "zero": jnp.zeros_like(x),
        "sigmoid": jnp.where(there, height * k * logistic * (1.0 - logistic), 0.0),
        "linear": jnp.where(there & (jnp.abs(d) <= 0.5 / k), height * k, 0.0),
        "hard_tanh": jnp.where(jnp.abs(x) <= 1.0 / k, k, 0.0),
    }[policy]


def with_slope(value, of):
    """A function of JAX with this value and this derivative."""
    chosen = jax.custom_jvp(value)
    chosen.defjvp(lambda primals, tangents: (chosen(*primals), of(*primals) * tangents[0]))
    return chosen


# --- the ways to the second derivatives -----------------------------------------------------------------------------

NESTINGS = {
    "gradient of gradient": lambda f, t: s2s.grad(lambda v: np.sum(s2s.grad(f)(v) * t)),
    "tangent of gradient": lambda f, t: lambda x: s2s.jvp(s2s.grad(f), (x,), (t,))[1],
    "gradient of tangent": lambda f, t: s2s.grad(lambda v: s2s.jvp(f, (v,), (t,))[1]),
    "tangent of tangent": lambda f, t: s2s.jacfwd(lambda v: s2s.jvp(f, (v,), (t,))[1]),
    "hessian": lambda f, t: lambda x: s2s.hessian(f)(x) @ t,
    "hvp": lambda f, t: lambda x: s2s.hvp(f, (x,), (t,)),
    "forward of reverse": lambda f, t: lambda x: s2s.jacfwd(s2s.jacrev(f))(x) @ t,
    "reverse of forward": lambda f, t: lambda x: s2s.jacrev(s2s.jacfwd(f))(x) @ t,
}
"""Functions of the point that give the second derivative of ``f`` there, along ``t``."""
OF_NUMBERS = ("gradient of gradient", "tangent of gradient", "gradient of tangent", "tangent of tangent")


def by_jax(theirs, x, t):
    """The gradient at a point, and the second derivative along a direction."""
    with jax.disable_jit():  # functions that are jitted would be compiled anew for each derivative
        return jax.grad(theirs)(x), jax.jvp(jax.grad(theirs), (x,), (t,))[1]


def direction_at(x):
    return np.linspace(1.0, 2.0, x.size).reshape(x.shape)


def check_with_jax(f, theirs, x, nestings, rtol=1e-9):
    """``check_with``, with what JAX makes of its own function."""
    check_with(f, by_jax(theirs, x, direction_at(x)), x, nestings, rtol)


def check_with(f, wanted, x, nestings, rtol=1e-9):
    """Compare first derivatives in both modes, and second ones by some ways, with those of ``by_jax``."""
    t, (gradient, second) = direction_at(x), wanted
    tolerance = {"rtol": rtol, "atol": rtol}
    np.testing.assert_allclose(s2s.grad(f)(x), gradient, **tolerance)
    np.testing.assert_allclose(s2s.jvp(f, (x,), (t,))[1], np.sum(gradient * t), **tolerance)
    for nesting in nestings:
        np.testing.assert_allclose(NESTINGS[nesting](f, t)(x), second, err_msg=nesting, **tolerance)


# --- policies of functions ------------------------------------------------------------------------------------------

ARRAYS = {
    "floor": (np.floor, "integers", "floor"),
    "ceil": (np.ceil, "integers", "ceil"),
    "trunc": (np.trunc, "toward zero", "trunc"),
    "fix": (np.fix, "toward zero", "trunc"),
    "astype": (lambda x: x.astype(int), "toward zero", "trunc"),
    "asarray": (lambda x: np.asarray(x, dtype=np.int64), "toward zero", "trunc"),
    "rint": (np.rint, "halves", "rint"),
    "round": (np.round, "halves", "rint"),
    "special_round": (scipy.special.round, "halves", "rint"),
    "modf": (lambda x: np.modf(x)[1], "toward zero", "trunc"),
    "sign": (np.sign, "sign", "sign"),
    "heaviside": (lambda x: np.heaviside(x, 0.5), "heaviside", "heaviside"),
}
SCALED = {  # in units of the last decimal, or of the quotient
    "decimals": (lambda x: np.round(x, 1), "halves", 10.0, "in_tenths"),
    "around_method": (lambda x: x.round(decimals=1), "halves", 10.0, "in_tenths"),
    "floordiv": (lambda x: x // 0.7, "integers", 1.0 / 0.7, "floor"),
    "floor_divide": (lambda x: np.floor_divide(x, 0.7), "integers", 1.0 / 0.7, "floor"),
    "divmod": (lambda x: np.divmod(x, 0.7)[0], "integers", 1.0 / 0.7, "floor"),
}
NUMBERS = {
    "math_floor": (math.floor, "integers", "floor"),
    "math_ceil": (math.ceil, "integers", "ceil"),
    "math_trunc": (math.trunc, "toward zero", "trunc"),
    "int": (int, "toward zero", "trunc"),
    "int64": (np.int64, "toward zero", "trunc"),
    "python_round": (round, "halves", "rint"),
    "math_modf": (lambda x: math.modf(x)[1], "toward zero", "trunc"),
    "python_divmod": (lambda x: divmod(x, 1.0)[0], "integers", "floor"),
    "python_floordiv": (lambda x: operator.floordiv(x, 1.0), "integers", "floor"),
    "numpy_floor": (np.floor, "integers", "floor"),
}
EVERY = ("straight_through", "zero", "sigmoid", "linear")


def policies_of(name):
    return (*EVERY, "hard_tanh") if name == "sign" else EVERY


def in_turn(names, ways, count):
    """Pairs of names and policies, each with some of the ways, so that all come in turn."""
    turn = itertools.cycle(ways)
    return [(name, policy, [next(turn) for _ in range(count)]) for name in names for policy in policies_of(name)]


def in_jax(name):
    """The function of JAX that rounds like those of NumPy, or with a sign."""
    match name:
        case "in_tenths":
            return lambda u: jnp.rint(u) / 10.0
        case "heaviside":
            return lambda x: jnp.heaviside(x, 0.5)
    return getattr(jnp, name)


@functools.cache
def steps_by_jax(policy, step, scale, name):
    """The derivatives of the sum of a step, with the slope of a policy, times a sine: the same for many functions."""
    value = in_jax(name)
    height = value(1e6) / 1e6
    same = with_slope(value, lambda u: slope(policy, step, u) * (height if scale != 1.0 else 1.0))
    return by_jax(lambda x: jnp.sum(same(scale * x) * jnp.sin(x)), POINTS, direction_at(POINTS))


@pytest.mark.grid(0.3)
@pytest.mark.parametrize("name, policy, nestings", in_turn(ARRAYS | SCALED, NESTINGS, 1))
def test_policies_of_functions_of_arrays(name, policy, nestings):
    fn, step, scale, theirs = SCALED[name] if name in SCALED else (*ARRAYS[name][:2], 1.0, ARRAYS[name][2])
    with s2s.nonsmooth(policy, sharpness=SHARPNESS):
        check_with(lambda x: np.sum(fn(x) * np.sin(x)), steps_by_jax(policy, step, scale, theirs), POINTS, nestings)


@functools.cache
def steps_of_numbers_by_jax(policy, step, name):
    """The first and second derivatives of a step times a sine at the points."""
    same = with_slope(in_jax(name), functools.partial(slope, policy, step))
    first = jax.grad(lambda x: same(x) * jnp.sin(x))
    with jax.disable_jit():
        return tuple(np.asarray(jax.vmap(of)(POINTS)) for of in (first, jax.grad(first)))


@pytest.mark.grid(0.5)
@pytest.mark.parametrize("name, policy, nestings", in_turn(NUMBERS, OF_NUMBERS, 1))
def test_policies_of_functions_of_numbers(name, policy, nestings):
    fn, step, theirs = NUMBERS[name]

    def f(x):
        return fn(x) * math.sin(x)

    first, second = steps_of_numbers_by_jax(policy, step, theirs)
    with s2s.nonsmooth(policy, sharpness=SHARPNESS):
        ways = {nesting: NESTINGS[nesting](f, 1.0) for nesting in nestings}
        for k, x in enumerate(POINTS.tolist()):
            np.testing.assert_allclose(s2s.grad(f)(x), first[k], atol=1e-12)
            np.testing.assert_allclose(s2s.jvp(f, (x,), (2.0,))[1], 2.0 * first[k], atol=1e-12)
            for nesting, way in ways.items():
                np.testing.assert_allclose(way(x), second[k], atol=1e-12, err_msg=nesting)


@pytest.mark.parametrize("policy", EVERY)
def test_both_arguments_of_a_quotient(policy):
    same = with_slope(jnp.floor, functools.partial(slope, policy, "integers"))

    def f(x):
        return np.sum((1.3 * x) // (x * x + 0.4) * x)

    check = functools.partial(
        check_with_jax, f, lambda x: jnp.sum(same(1.3 * x / (x * x + 0.4)) * x), np.array([0.3, 0.7, -1.7, 2.2])
    )
    with s2s.nonsmooth(policy, sharpness=SHARPNESS):
        check(["gradient of gradient", "hessian"])


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 1, 3)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_ranks_and_dtypes(shape, dtype):
    x = np.linspace(-1.3, 2.6, int(np.prod(shape))).reshape(shape).astype(dtype)
    logistic = 1.0 / (1.0 + np.exp(-SHARPNESS * (x - np.round(x))))
    expected = SHARPNESS * logistic * (1.0 - logistic) * x + np.floor(x)
    f = lambda x: np.sum(np.floor(x) * x)
    with s2s.nonsmooth(floor="sigmoid", sharpness=SHARPNESS):
        found, tangent = s2s.grad(f)(x), s2s.jvp(f, (x,), (x,))[1]
    np.testing.assert_allclose(found, expected, rtol=1e-12 if dtype == np.float64 else 1e-4)
    np.testing.assert_allclose(tangent, np.sum(expected * x), rtol=1e-12 if dtype == np.float64 else 1e-4)
    assert np.asarray(found).dtype == np.asarray(tangent).dtype == dtype and np.shape(found) == shape
    with s2s.gradient_override({np.floor: sevenfold}):
        assert np.asarray(s2s.grad(f)(x)).dtype == dtype


@pytest.mark.parametrize("kind", [float, np.float64, np.float32])
def test_kinds_of_numbers(kind):
    with s2s.nonsmooth(floor="sigmoid", sharpness=50):
        assert s2s.grad(lambda x: np.floor(x))(kind(2.0)) == 12.5
        assert s2s.jvp(lambda x: np.floor(x), (kind(2.0),), (kind(1.0),))[1] == 12.5


def test_a_third_derivative():
    with s2s.nonsmooth(floor="sigmoid", sharpness=SHARPNESS):
        same = with_slope(jnp.floor, functools.partial(slope, "sigmoid", "integers"))
        found = s2s.grad(s2s.grad(s2s.grad(lambda x: np.floor(x) * x)))(1.9)
        with jax.disable_jit():
            wanted = jax.grad(jax.grad(jax.grad(lambda x: same(x) * x)))(1.9)
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_defaults_pass_what_is_rounded_and_stop_what_is_a_sign():
    assert s2s.grad(lambda x: np.floor(x) * x + round(x))(2.7) == 2.7 + 2.0 + 1.0
    assert s2s.grad(lambda x: np.sign(x) * x + np.heaviside(x, 0.5))(2.7) == 1.0


# --- programs -------------------------------------------------------------------------------------------------------


class Functions:
    """The functions of JAX, with a floor that has the slope of the policy."""

    def __getattr__(self, name):
        return getattr(jnp, name)

    @functools.cached_property
    def floor(self):
        return with_slope(jnp.floor, functools.partial(slope, "sigmoid", "integers"))


THEIRS = Functions()


def each(v):
    return np.floor(v * 2.3) * v


def expected(x):
    return THEIRS.sum(THEIRS.floor(x * 2.3) * x)


@functools.cache
def expected_by_jax():
    return by_jax(expected, V, direction_at(V))


def in_steps(x, n, xp=np):
    return x if n == 0 else in_steps(xp.floor(x) * 0.3 + x * 0.7, n - 1, xp)


def straight(x):
    return np.sum(each(x))


def looped(x):
    total, i = 0.0, 0
    for v in x[:2]:
        total = total + np.floor(v * 2.3) * v
    while i < 2:
        total += np.floor(x[2 + i] * 2.3) * x[2 + i]
        i += 1
    return total


def stored(x):
    y = np.zeros(4)
    for i in range(4):
        y[i] = np.floor(x[i] * 2.3)
        y[i] *= x[i]
    return np.sum(y)


def viewed(x):
    y = x * 1.0
    left, right = y[:2], y[2:]
    left[:] = np.floor(left * 2.3) * left
    right[:] = np.floor(right * 2.3) * right
    return np.sum(y)


def into_an_array(x):
    y = np.empty(4)
    np.floor(x * 2.3, out=y)
    return np.sum(y * x)


def branching(x):
    total = 0.0
    for v in x:
        total += each(v) if v > 0 else np.floor(v * 2.3) * v
    return total


def with_closures(x):
    k = 2.3

    def inner(v):
        return np.floor(v * k) * v

    return sum([inner(v) for v in x])


def with_containers(x):
    held = {"rounded": [np.floor(x * 2.3)]}
    held["product"] = held["rounded"][0] * x
    return np.sum(held["product"])


class Rounded:
    def __init__(self, x):
        self.x = x

    def product(self):
        return np.floor(self.x * 2.3) * self.x

    def __matmul__(self, other):
        return np.sum(np.floor(self.x * 2.3) * other.x)


def with_objects(x):
    return 0.5 * np.sum(Rounded(x).product()) + 0.5 * (Rounded(x) @ Rounded(x))


def decided_at_run_time(x):
    return np.sum(FUNCTIONS[str(x.shape[0])](x))


FUNCTIONS = {"4": each, "again 4": s2s.checkpoint(each)}
VECTORIZED = np.vectorize(each)

PROGRAMS = {
    "straight": straight, "looped": looped, "stored": stored, "viewed": viewed, "into an array": into_an_array,
    "branching": branching, "closures": with_closures, "containers": with_containers, "objects": with_objects,
    "apply_along_axis": lambda x: np.sum(np.apply_along_axis(each, 0, x)),
    "vectorize": lambda x: np.sum(VECTORIZED(x)),
    "vectorize here": lambda x: np.sum(np.vectorize(lambda v: np.floor(v * 2.3) * v)(x)),
    "map": lambda x: sum(map(each, x)),
    "s2s.map": lambda x: np.sum(s2s.map(each)(x)),
    "reduce": lambda x: functools.reduce(lambda total, v: total + v, [each(v) for v in x]),
    "partial": lambda x: np.sum(functools.partial(lambda a, b: np.floor(a * b) * b, 2.3)(x)),
    "checkpoint": lambda x: np.sum(s2s.checkpoint(each)(x)),
}


@pytest.mark.grid(0.5)
@pytest.mark.parametrize("name, nesting", list(zip(PROGRAMS, itertools.cycle(NESTINGS))))
def test_a_policy_in_programs(name, nesting):
    with s2s.nonsmooth(floor="sigmoid", sharpness=SHARPNESS):
        check_with(PROGRAMS[name], expected_by_jax(), V, [nesting])


def test_a_policy_in_a_call_that_is_decided_at_run_time():
    with s2s.nonsmooth(floor="sigmoid", sharpness=SHARPNESS):
        check_with(decided_at_run_time, expected_by_jax(), V, ["gradient of gradient", "gradient of tangent"])


def test_every_way_to_a_second_derivative():
    with s2s.nonsmooth(floor="sigmoid", sharpness=SHARPNESS):
        check_with(stored, expected_by_jax(), V, NESTINGS)


def again_and_again(x):
    for _ in s2s.checkpointed(range(5), snapshots=2):
        x = np.floor(x) * 0.3 + x * 0.7
    return np.sum(x)


@pytest.mark.parametrize("f, n", [(again_and_again, 5), (lambda x: np.sum(in_steps(x, 3)), 3)])
def test_a_policy_in_steps_that_run_again_and_in_recursion(f, n):
    nestings = ["gradient of gradient"] if f is again_and_again else []
    with s2s.nonsmooth(floor="sigmoid", sharpness=SHARPNESS):
        check_with_jax(f, lambda x: jnp.sum(in_steps(x, n, THEIRS)), V, nestings)


def test_a_policy_in_code_that_scipy_calls():
    def integral(a):
        return scipy.integrate.quad(lambda t, a: np.floor(a) * a * t, 0.0, 1.0, args=(a,))[0]

    def decay(a):
        found = scipy.integrate.solve_ivp(
            lambda t, y, a: -np.floor(a) * a * y, (0.0, 1.0), np.array([1.0]), args=(a,), rtol=1e-9, atol=1e-11
        )
        return found.y[0, -1]

    with s2s.nonsmooth("zero"):
        np.testing.assert_allclose(s2s.grad(integral)(2.7), 1.0)
        np.testing.assert_allclose(s2s.grad(decay)(1.3), -np.exp(-1.3), rtol=1e-6)
    np.testing.assert_allclose(s2s.grad(integral)(2.7), 0.5 * 4.7)


@pytest.mark.parametrize("backend", ["numpy", "numba"])
def test_policies_on_backends(backend):
    pytest.importorskip("numba") if backend == "numba" else None

    def f(x):
        total = 0.0
        for i in range(x.shape[0]):
            with s2s.nonsmooth("sigmoid", sharpness=SHARPNESS):
                total += np.floor(x[i] * 2.3) * x[i]
        return total

    np.testing.assert_allclose(s2s.grad(s2s.differentiable(f, backend=backend))(V), jax.grad(expected)(V), rtol=1e-10)
    ruled = s2s.differentiable(s2s.gradient_override({np.floor: sevenfold})(straight), backend=backend)
    np.testing.assert_allclose(s2s.grad(ruled)(V), 7.0 * 2.3 * V + np.floor(2.3 * V), rtol=1e-10)


def test_other_derivatives_follow_the_policy():
    rounded = lambda x: np.floor(x) * x
    floors, x = np.floor(V), V
    with s2s.nonsmooth("zero"):
        for jacobian in (s2s.jacobian, s2s.jacfwd, s2s.jacrev):
            np.testing.assert_array_equal(jacobian(rounded)(x), np.diag(floors))
        np.testing.assert_array_equal(s2s.elementwise_grad(rounded)(x), floors)
        np.testing.assert_array_equal(s2s.sparse_jacobian(rounded)(x).toarray(), np.diag(floors))
        np.testing.assert_array_equal(
            s2s.sparse_hessian(lambda x: np.sum(rounded(x) * x))(x).toarray(), np.diag(2.0 * floors))
        np.testing.assert_array_equal(s2s.map(s2s.grad(rounded))(x), floors)
        assert s2s.jacobian_sparsity(lambda x: np.floor(x) * 1.0)(x).nnz == 0
        found = s2s.optim.Adam(learning_rate=0.5).minimize(lambda w: np.sum((np.floor(w) - 3.0) ** 2), x, steps=2)
        np.testing.assert_array_equal(found.params, x)


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


# --- where a choice is made -----------------------------------------------------------------------------------------

X, STRAIGHT, ZERO = 2.7, 4.7, 2.0
"""At 2.7 the derivative of ``floor(x) * x`` is 4.7 straight through, and 2 where that of floor is zero."""


def product(x):
    return np.floor(x) * x


GRADIENT = s2s.grad(product)
ZERO_BLOCK = s2s.nonsmooth("zero")


def sevenfold(out, out_bar, x):
    return out_bar * 7.0


class Model:
    scale = 3.0
    block = s2s.nonsmooth("zero")

    @s2s.nonsmooth("zero")
    def method(self, x):
        return np.floor(x) * x * self.scale

    @classmethod
    @s2s.nonsmooth("zero")
    def of_class(cls, x):
        return np.floor(x) * x * cls.scale

    @staticmethod
    @s2s.nonsmooth("zero")
    def static(x):
        return np.floor(x) * x * 3.0

    @s2s.differentiable(nonsmooth="zero")
    def __call__(self, x):
        return np.floor(x) * x * self.scale


MODEL = Model()


@pytest.mark.parametrize("f", [
    MODEL.method, Model.of_class, MODEL.of_class, Model.static, MODEL.static, MODEL,
    lambda x: MODEL.method(x), lambda x: Model.of_class(x), lambda x: MODEL.static(x), lambda x: MODEL(x),
    functools.partial(s2s.nonsmooth("zero")(lambda k, x: np.floor(x) * x * k), 3.0),
    s2s.nonsmooth("zero")(functools.partial(lambda k, x: np.floor(x) * x * k, 3.0)),
    functools.lru_cache(s2s.nonsmooth("zero")(lambda x: np.floor(x) * x * 3.0)),
    s2s.nonsmooth("zero")(functools.lru_cache(lambda x: np.floor(x) * x * 3.0)),
    s2s.differentiable(s2s.nonsmooth("zero")(lambda x: np.floor(x) * x * 3.0), nonsmooth="straight_through"),
], ids=lambda f: type(f).__name__)
def test_a_choice_is_kept_by_what_wraps_a_function(f):
    assert s2s.grad(f)(X) == pytest.approx(3.0 * ZERO)
    assert s2s.jvp(f, (X,), (1.0,))[1] == pytest.approx(3.0 * ZERO)
    assert f(X) == pytest.approx(3.0 * np.floor(X) * X)


def test_what_wraps_a_choice_with_wraps():
    zero = s2s.nonsmooth("zero")(product)

    @functools.wraps(zero)
    def outer(x):
        return zero(x) + np.floor(x)

    assert s2s.grad(outer)(X) == ZERO + 1.0
    assert s2s.grad(s2s.nonsmooth("zero")(outer))(X) == ZERO


def block_in_a_variable(x):
    block = s2s.nonsmooth("zero")
    with block:
        y = np.floor(x) * x
    with block as held:
        assert held is not None
        return y


def block_of_a_global(x):
    with ZERO_BLOCK, ZERO_BLOCK:
        return np.floor(x) * x


def block_of_an_attribute(x):
    with Model.block:
        return np.floor(x) * x


def block_of_a_default(x, block=ZERO_BLOCK):
    with block:
        return np.floor(x) * x


def block_beside_another_manager(x):
    with np.errstate(all="ignore"), s2s.nonsmooth("straight_through"), s2s.nonsmooth({"floor": "zero"}):
        return np.floor(x) * x


def decorated_inside(x):
    @s2s.nonsmooth("zero")
    def inner(v):
        return np.floor(v) * x

    return inner(x)


def decorated_inside_with_an_option(x):
    @s2s.differentiable(nonsmooth="zero")
    def inner(v):
        return np.floor(v) * x

    return inner(x)


def of_one_call(x):
    return s2s.nonsmooth("zero")(np.floor)(x) * x


def called_in_a_block(x):
    with s2s.nonsmooth("zero"):
        return product(x)


@pytest.mark.parametrize("f", [
    block_in_a_variable, block_of_a_global, block_of_an_attribute, block_of_a_default, block_beside_another_manager,
    decorated_inside, decorated_inside_with_an_option, of_one_call, called_in_a_block,
])
def test_forms_of_a_block(f):
    assert (s2s.grad(f)(X), s2s.jvp(f, (X,), (1.0,))[1], f(X)) == (ZERO, ZERO, product(X))
    assert s2s.grad(s2s.grad(f))(X) == 0.0


def test_a_block_ends_where_it_ends():
    def f(x):
        total = 0.0
        for i in range(5):
            with s2s.nonsmooth("zero"):
                total = total + np.floor(x * i) * x
                if i == 2:
                    break
                if i == 1:
                    continue
            total = total + np.floor(x)
        return total

    def g(x):
        try:
            with s2s.nonsmooth("zero"):
                y = math.log(np.floor(x)) * x
        except ValueError:
            y = np.floor(x) * x
        return y + np.floor(x)

    assert s2s.grad(f)(X) == s2s.jvp(f, (X,), (1.0,))[1] == 0.0 + 1.0 + 2.0 + 5.0
    assert s2s.grad(g)(X) == math.log(2.0) + 1.0
    assert s2s.grad(g)(0.5) == 0.5 + 1.0


def test_a_block_that_is_an_argument_or_named_by_one():
    def given(x, block):
        with block:
            return np.floor(x) * x

    def named(x, policy):
        with s2s.nonsmooth(policy):
            return np.floor(x) * x

    for f, choices in ((given, map(s2s.nonsmooth, ("zero", "straight_through", "zero"))),
                       (named, ("zero", "straight_through", "zero"))):
        assert [s2s.grad(f)(X, choice) for choice in choices] == [ZERO, STRAIGHT, ZERO]


def test_a_global_block_that_changes(monkeypatch):
    assert s2s.grad(block_of_a_global)(X) == ZERO
    monkeypatch.setitem(globals(), "ZERO_BLOCK", s2s.nonsmooth("straight_through"))
    assert s2s.grad(block_of_a_global)(X) == STRAIGHT


def test_the_innermost_choice_decides():
    zero, straight = s2s.nonsmooth("zero"), s2s.nonsmooth(floor="straight_through")
    with zero, straight:
        assert GRADIENT(X) == STRAIGHT
    with straight, zero:
        assert GRADIENT(X) == ZERO
    assert s2s.grad(zero(straight(product)))(X) == STRAIGHT
    assert s2s.grad(straight(zero(product)))(X) == ZERO
    with straight:
        assert s2s.grad(zero(product))(X) == ZERO  # a decorator is inside the call
        assert s2s.grad(s2s.differentiable(product, nonsmooth="zero"))(X) == STRAIGHT  # a default is not
        assert s2s.grad(block_of_a_global)(X) == ZERO
    with zero:
        assert s2s.grad(lambda x: s2s.straight_through(np.floor)(x) * x)(X) == STRAIGHT


def test_a_policy_never_reuses_the_code_of_another():
    found = [GRADIENT(X)]
    for policy, sharpness in (("zero", None), ("sigmoid", 4), ("sigmoid", 8), ("zero", None)):
        with s2s.nonsmooth(policy, sharpness=sharpness):
            found.append(s2s.grad(product)(2.0) - 2.0)
    assert [*found, GRADIENT(X)] == [STRAIGHT, 0.0, 2.0, 4.0, 0.0, STRAIGHT]


def test_what_goes_on_after_a_block_keeps_its_choice():
    with s2s.nonsmooth("zero"):
        made = s2s.grad(product)
        _, pullback = s2s.vjp(product, X)
        _, push = s2s.linearize(product, X)
        _, of_steps = s2s.vjp(again_and_again, V)
    assert (pullback(1.0), push(1.0)) == ((ZERO,), ZERO)
    np.testing.assert_allclose(of_steps(1.0)[0], np.full(4, 0.7**5))
    assert made(X) == STRAIGHT  # what counts is the block that it is called in


def test_a_pullback_that_runs_again_has_the_choice_that_it_was_made_with():
    def f(x):
        return np.sum(FUNCTIONS[f"again {x.shape[0]}"](x))

    _, pullback = s2s.vjp(f, V)
    with s2s.nonsmooth("zero"):
        np.testing.assert_allclose(pullback(1.0)[0], 2.3 * V + np.floor(2.3 * V))


def test_a_block_over_a_derivative():
    assert s2s.nonsmooth("zero")(GRADIENT)(X) == ZERO
    assert s2s.grad(s2s.nonsmooth("zero")(GRADIENT))(X) == 0.0
    with s2s.nonsmooth("zero"):
        assert s2s.grad(GRADIENT)(X) == 0.0
    assert s2s.grad(GRADIENT)(X) == 2.0


def inner_gradient(x):
    return s2s.grad(product)(x) * x


def inner_gradient_in_a_block(x):
    with s2s.nonsmooth("zero"):
        return s2s.grad(product)(x) * x


@pytest.mark.parametrize("f, value, gradient", [
    (inner_gradient, STRAIGHT * X, STRAIGHT + 2.0 * X), (inner_gradient_in_a_block, ZERO * X, ZERO),
    (s2s.nonsmooth("zero")(inner_gradient), ZERO * X, ZERO),
    (s2s.differentiable(inner_gradient, nonsmooth="zero"), STRAIGHT * X, STRAIGHT + 2.0 * X),
])
def test_derivatives_inside_a_function_are_as_when_it_runs(f, value, gradient):
    assert f(X) == pytest.approx(value)
    assert s2s.value_and_grad(f)(X) == pytest.approx((value, gradient))


def test_blocks_of_generators_in_any_order():
    def generator(policy):
        with s2s.nonsmooth(policy):
            yield 1

    first, second = generator("zero"), generator("straight_through")
    next(first), next(second)
    first.close()
    assert GRADIENT(X) == STRAIGHT
    second.close()
    assert GRADIENT(X) == STRAIGHT and not s2s.directives.policy.AMBIENT.get()


def test_an_exception_ends_a_block():
    with contextlib.suppress(KeyError), s2s.nonsmooth("zero"), s2s.gradient_override({np.ceil: "zero"}):
        raise KeyError
    assert GRADIENT(X) == STRAIGHT


def test_threads_and_tasks_have_their_own():
    found, barrier = {}, threading.Barrier(2)

    def work(policy):
        with s2s.nonsmooth(policy):
            for _ in range(20):
                barrier.wait()
                found.setdefault(policy, set()).add(float(GRADIENT(X)))

    threads = [threading.Thread(target=work, args=(policy,)) for policy in ("zero", "straight_through")]
    [t.start() for t in threads], [t.join() for t in threads]
    assert found == {"zero": {ZERO}, "straight_through": {STRAIGHT}}

    async def task(policy):
        with s2s.nonsmooth(policy):
            await asyncio.sleep(0)  # the others begin
            return GRADIENT(X)

    async def tasks():
        return await asyncio.gather(task("zero"), task("straight_through"), task("zero"))

    assert asyncio.run(tasks()) == [ZERO, STRAIGHT, ZERO]


def test_a_policy_by_name_and_by_function():
    f = lambda x: np.floor(x) * x + math.floor(x) * x
    for key in ("floor", "numpy.floor", np.floor, math.floor):
        with s2s.nonsmooth({key: "zero"}):
            assert s2s.grad(f)(X) == ZERO + (ZERO if key == "floor" else STRAIGHT)
    by_dict = s2s.differentiable(lambda x: np.floor(x) * x + np.ceil(x), nonsmooth={np.floor: "zero"}, sharpness=4)
    assert s2s.grad(by_dict)(3.0) == 3.0 + 1.0


def test_conversions_are_one_name():
    f = lambda x: np.sum(x.astype(int) * x) + int(x[0]) * x[0] + np.asarray(x, dtype=int)[0]
    with s2s.nonsmooth(int="zero"):
        np.testing.assert_array_equal(s2s.grad(f)(V[1:]), np.trunc(V[1:]) + [1.0, 0.0, 0.0])


WITH_INTEGERS = {
    "prod": lambda x: np.prod(x, dtype=int),
    "sum of a method": lambda x: x.sum(dtype=np.int32),
    "nansum": lambda x: np.nansum(x, dtype=int),
    "cumprod": lambda x: np.cumprod(x, dtype=int)[-1],
    "variance": lambda x: np.var(x, dtype=int),
    "ufunc": lambda x: np.add(x, x, dtype=int, casting="unsafe")[0],
    "method of a ufunc": lambda x: np.multiply.reduce(x, dtype=int),
    "method without a rule": lambda x: np.subtract.reduce(x, dtype=int),
    "by position": lambda x: np.arange(x[0], x[0] + 3.0, 0.5, int)[1],
    "range": lambda x: np.linspace(x[0], x[1], 5, dtype=int)[2],
    "powers": lambda x: np.logspace(x[0], x[1], 5, dtype=int)[2],
    "iterator": lambda x: np.fromiter(x, int)[0],
    "list": lambda x: np.concatenate([x, x], dtype=int, casting="unsafe")[0],
    "filled": lambda x: np.full(3, x[0], dtype=int)[0],
    "filled like integers": lambda x: np.full_like(np.arange(3), x[0])[0],
    "padded integers": lambda x: np.pad(np.arange(3), 1, constant_values=x[0])[0],
}


@pytest.mark.parametrize("policy", [None, "zero"])
@pytest.mark.parametrize("f", WITH_INTEGERS.values(), ids=WITH_INTEGERS)
def test_a_conversion_inside_of_a_function_is_refused(f, policy):
    with contextlib.nullcontext() if policy is None else s2s.nonsmooth(policy):
        for derivative in (lambda: s2s.grad(lambda x: f(x) * 1.0)(V), lambda: s2s.jvp(f, (V,), (DIRECTION,))):
            with pytest.raises(NoDerivativeError, match="converts differentiated numbers to integers") as found:
                derivative()
            assert found.value.diagnostic.code == "S2S545"


def test_conversions_of_what_is_of_integers_or_passive():
    def f(x):
        rank = np.linalg.lstsq(np.outer(x, x), x, rcond=None)[2]
        return np.sum(x > 1.0, dtype=int) * x[0] + np.prod(np.arange(1.5, 4.0), dtype=int) * x[1] + rank * x[2]

    np.testing.assert_array_equal(s2s.grad(f)(V), [float(np.sum(V > 1.0)), 6.0, 1.0, 0.0])


def test_methods_of_ufuncs_compute_in_the_dtype_that_is_asked_for():
    x = np.array([1.0, 1e-9, 1e-9])
    value, gradient = s2s.value_and_grad(lambda x: np.subtract.reduce(x, dtype=np.float32) * 1.0)(x)
    assert value == 1.0 == np.subtract.reduce(x, dtype=np.float32)
    np.testing.assert_array_equal(gradient, [1.0, -1.0, -1.0])


def test_error_names_the_function_and_the_line():
    with pytest.raises(NoDerivativeError, match=r"numpy.floor.*piecewise constant") as found:
        s2s.grad(s2s.differentiable(product, nonsmooth="error"))(X)
    line = product.__code__.co_firstlineno + 1
    assert f"test_nonsmooth.py:{line}" in str(found.value) and "choose another one" in str(found.value)
    with s2s.nonsmooth("error"):
        assert s2s.grad(lambda x: x * np.floor(2.5))(X) == 2.0
        np.testing.assert_array_equal(s2s.grad(lambda x: x[int(x[1])] * 1.0)(V), [0.0, 1.0, 0.0, 0.0])


# --- straight_through -----------------------------------------------------------------------------------------------


def quantized(v):
    return np.floor(v * 4.0) / 4.0


class Quantizer:
    def __call__(self, v):
        return quantized(v)


@pytest.mark.parametrize("fn", [quantized, Quantizer(), np.sign, np.tanh, lambda v: v.astype(int), lambda v: v.round()])
def test_straight_through(fn):
    f = lambda x: np.sum(s2s.straight_through(fn)(x) * x)
    np.testing.assert_allclose(s2s.grad(f)(V), fn(V) + V)
    np.testing.assert_allclose(s2s.jvp(f, (V,), (DIRECTION,))[1], (fn(V) + V) @ DIRECTION)
    np.testing.assert_allclose(s2s.hessian(f)(V), 2.0 * np.eye(4))
    np.testing.assert_array_equal(s2s.straight_through(fn)(V), fn(V))


def test_straight_through_as_a_decorator_and_of_containers():
    @s2s.straight_through
    def rounded(p, digits=0):
        return {"a": np.round(p["a"], digits)}

    assert s2s.grad(lambda x: rounded({"a": x}, digits=1)["a"] * x)(1.26) == pytest.approx(1.3 + 1.26)


@pytest.mark.parametrize("f, problem", [
    (lambda x: s2s.straight_through(np.sum)(x) * 1.0, "np.sum.*S2S543.*rank of its result is 0"),
    (lambda x: np.sum(s2s.straight_through(lambda n, v: n * v)(2, x)), "its first argument is an integer"),
    (lambda x: np.sum(s2s.straight_through(lambda v: v[:2])(x)), r"shape \(2,\), the argument \(4,\)"),
])
def test_straight_through_of_what_is_no_like(f, problem):
    with pytest.raises(NoDerivativeError, match=f"(?s){problem}"):
        s2s.grad(f)(V)


# --- other rules ----------------------------------------------------------------------------------------------------


def doubled(out, out_bar, x):
    return out_bar * 2.0


def cosine(out, out_bar, x):
    return out_bar * np.cos(x)


s2s.register_gradient("CosineForTests")(cosine)

RULES = {
    "identity": ("identity", lambda x: jnp.ones_like(x)),
    "zero": ("zero", lambda x: jnp.zeros_like(x)),
    "a function": (cosine, lambda x: jnp.cos(x)),
    "a name": ("CosineForTests", lambda x: jnp.cos(x)),
}
OF_RULES = [way for way in NESTINGS if way != "reverse of forward"]
OVERRIDDEN = {"floor": np.floor, "tanh": np.tanh, "square": np.square}


@pytest.mark.parametrize("name, rule, nesting", [
    (name, rule, way) for (name, rule), way in zip(itertools.product(OVERRIDDEN, RULES), itertools.cycle(OF_RULES))
])
def test_rules_for_functions(name, rule, nesting):
    fn = OVERRIDDEN[name]
    how, of = RULES[rule]
    same = with_slope(getattr(jnp, name), of)
    with s2s.gradient_override({name: how}):
        check_with_jax(
            lambda x: np.sum(fn(x) * np.sin(x)), lambda x: jnp.sum(same(x) * jnp.sin(x)), V, [nesting]
        )


def rounding(v):
    return np.floor(v)


def of_method(out, out_bar, self, x):
    return None, out_bar * 7.0


@pytest.mark.parametrize("key, f", [
    (rounding, lambda x: rounding(x) * x), ("rounding", lambda x: rounding(x) * x),
    (s2s.differentiable(rounding), lambda x: rounding(x) * x),
])
def test_rules_for_functions_of_the_user(key, f):
    with s2s.gradient_override({key: sevenfold}):
        assert s2s.grad(f)(X) == s2s.jvp(f, (X,), (1.0,))[1] == pytest.approx(7.0 * X + 2.0)
    with s2s.gradient_override({Model.method.func: of_method}):
        assert s2s.grad(lambda x: Model().method(x) * x)(X) == pytest.approx(7.0 * X + 3.0 * 2.0 * X)


def test_a_name_means_what_numpy_has_under_it():
    with s2s.gradient_override({"abs": sevenfold}):
        assert s2s.grad(lambda x: abs(x) + np.abs(x) + np.absolute(x))(X) == 21.0


def test_rules_with_keywords_and_several_arguments():
    def of_sum(out, out_bar, a, axis=None):
        return np.ones_like(a) * out_bar * 7.0

    def of_maximum(out, out_bar, a, b):
        return out_bar * 2.0, out_bar * 3.0

    with s2s.gradient_override({np.sum: of_sum, np.maximum: of_maximum}):
        np.testing.assert_array_equal(s2s.grad(lambda x: np.sum(x, axis=0))(V), np.full(4, 7.0))
        assert s2s.grad(lambda x, y: np.maximum(x, y), argnums=(0, 1))(1.0, 2.0) == (2.0, 3.0)


def test_nested_rules_of_a_program():
    def f(x):
        with s2s.gradient_override({"floor": "zero"}):
            first = np.floor(x)
            with s2s.gradient_override({np.floor: doubled}):
                second = np.floor(x)
        return first * 10.0 + second * 100.0 + np.floor(x) * 1000.0

    assert s2s.grad(f)(X) == s2s.jvp(f, (X,), (1.0,))[1] == 1200.0
    assert f(X) == 2.0 * 1110.0


def test_the_source_says_what_was_chosen():
    @s2s.gradient_override({np.floor: doubled})
    def f(x):
        with s2s.nonsmooth("sigmoid", sharpness=50):
            y = np.ceil(x)
        return y * np.floor(x)

    text = s2s.source(f, 2.5)
    place, rule = f.func.__code__.co_firstlineno, doubled.__code__.co_firstlineno
    first, second = (f"# test_nonsmooth.py:{place + line}: np" for line in (3, 4))
    assert f'{first}.ceil is differentiated by nonsmooth="sigmoid", sharpness=50\n' in text
    assert f"{second}.floor is differentiated by the rule doubled (test_nonsmooth.py:{rule})\n" in text


def test_a_registered_name_means_what_it_meant_last():
    s2s.register_gradient("ChangesForTests")(doubled)

    def f(x):
        with s2s.gradient_override({np.floor: "ChangesForTests"}):
            return np.floor(x)

    gradient = s2s.grad(f)
    assert gradient(X) == 2.0
    s2s.register_gradient("ChangesForTests")(sevenfold)
    assert gradient(X) == s2s.grad(f)(X) == 7.0


# --- blocks that nothing meets --------------------------------------------------------------------------------------


def test_a_rule_that_nothing_asks_for():
    ceil = s2s.grad(lambda x: np.ceil(x))
    block = s2s.gradient_override({np.ceil: "identity"})
    with block:
        assert ceil(X) == 1.0
    with block, s2s.gradient_override({np.ceil: "zero"}):  # compiled before; and one inside another
        ceil(X)
    for again in (block, s2s.gradient_override({np.ceil: "identity"})):
        with pytest.raises(ArgumentError, match=r"for np.ceil .*test_nonsmooth.py:\d+.*met np.ceil.*S2S541"), again:
            GRADIENT(X)
    with pytest.raises(ArgumentError, match="S2S541"), s2s.gradient_override({"flor": "identity"}):
        s2s.grad(product)


def test_a_rule_in_a_program_that_nothing_asks_for():
    def f(x):
        with s2s.gradient_override({np.ceil: "identity"}):
            y = np.floor(x)
        return y

    assert f(X) == 2.0
    with pytest.raises(ArgumentError, match=r"(?s)met np.ceil.*S2S541.*test_nonsmooth.py"):
        s2s.grad(f)(X)


def test_a_rule_that_a_call_at_run_time_meets():
    def f(x):
        with s2s.gradient_override({np.floor: sevenfold}):
            y = FUNCTIONS[str(x.shape[0])](x)
        return np.sum(y)

    np.testing.assert_allclose(s2s.grad(f)(V), 7.0 * 2.3 * V + np.floor(2.3 * V))
    np.testing.assert_allclose(s2s.jvp(f, (V,), (DIRECTION,))[1], (7.0 * 2.3 * V + np.floor(2.3 * V)) @ DIRECTION)


# --- blocks that are not seen ---------------------------------------------------------------------------------------


@contextlib.contextmanager
def hidden():
    with s2s.nonsmooth("zero"):
        yield


class Hiding:
    def __enter__(self):
        self.block = s2s.nonsmooth("zero")
        return self.block.__enter__()

    def __exit__(self, *exception):
        return self.block.__exit__(*exception)


def in_a_generator(x):
    with hidden():
        return np.floor(x) * x


def in_a_class(x):
    with Hiding():
        return np.floor(x) * x


def in_a_stack(x):
    with contextlib.ExitStack() as stack:
        stack.enter_context(s2s.nonsmooth("zero"))
        y = np.floor(x) * x
    return y


def by_its_method(x):
    block = s2s.nonsmooth("zero")
    block.__enter__()
    y = np.floor(x) * x
    block.__exit__(None, None, None)
    return y


def by_a_branch(x):
    block = ZERO_BLOCK if x > 1.0 else s2s.nonsmooth("straight_through")
    with block:
        return np.floor(x) * x


def by_a_number(x, k=2.0):
    with s2s.nonsmooth("sigmoid", sharpness=k):
        return np.floor(x) * x


@pytest.mark.parametrize("blocks", [[ZERO_BLOCK], {0: ZERO_BLOCK}])
def test_a_block_in_a_container_is_the_one_that_is_there(blocks):
    def f(x, blocks):
        with blocks[0]:
            y = np.floor(x)
        return y

    assert s2s.grad(f)(X, blocks) == 0.0
    blocks[0] = s2s.nonsmooth("straight_through")
    assert s2s.grad(f)(X, blocks) == 1.0
    blocks[0] = ZERO_BLOCK
    assert s2s.grad(f)(X, blocks) == 0.0


@pytest.mark.parametrize("f", [in_a_generator, in_a_class, in_a_stack, by_its_method, by_a_branch, by_a_number])
def test_a_block_that_is_not_seen_is_refused(f):
    with pytest.raises(ArgumentError, match="S2S544"):
        s2s.grad(f)(X)
    assert f(X) == product(X) and not s2s.directives.policy.AMBIENT.get()


# --- bad input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make, message", [
    (lambda: s2s.nonsmooth("sigmod"), "there is no policy 'sigmod' [S2S511]"),
    (lambda: s2s.nonsmooth({"floor": None}), "there is no policy None [S2S511]"),
    (lambda: s2s.nonsmooth(flor="zero"), "did you mean 'floor'?"),
    (lambda: s2s.nonsmooth({np.sin: "zero"}), "the policy 'zero' does not apply to `sin` [S2S542]"),
    (lambda: s2s.nonsmooth(floor="hard_tanh"), "the policy 'hard_tanh' does not apply to `floor` [S2S542]"),
    (lambda: s2s.nonsmooth("sigmoid", sharpness=-1), "the sharpness is -1 [S2S511]"),
    (lambda: s2s.nonsmooth("sigmoid", sharpness="a"), "the sharpness is 'a' [S2S511]"),
    (lambda: s2s.nonsmooth("sigmoid", sharpness=0.0), "give a positive number"),
    (lambda: s2s.nonsmooth(), "no policy"),
    (lambda: s2s.differentiable(product, sharpness=5.0), "sharpness"),
    (lambda: s2s.nonsmooth("sigmoid", sharpness=np.inf), "the sharpness is inf [S2S511]"),
    (lambda: s2s.gradient_override({np.floor: "identty"}), "np.floor: choose among 'identity', 'zero'"),
    (lambda: s2s.gradient_override({3: "identity"}), "3 cannot be used as a function that gets another rule [S2S540]"),
    (lambda: s2s.gradient_override({}), "[S2S540]"),
    (lambda: s2s.register_gradient("zero"), "[S2S540]"),
    (lambda: s2s.register_gradient("Third")(3), "[S2S540]"),
    (lambda: s2s.straight_through(3), "[S2S507]"),
])
def test_bad_choices_are_told(make, message):
    with pytest.raises(ArgumentError) as found:
        make()
    assert message in str(found.value)


def gives_two(out, out_bar, x):
    return out_bar, out_bar


def gives_a_number(out, out_bar, x):
    return np.sum(out_bar)


def takes_too_few(out, out_bar):
    return out_bar


@pytest.mark.parametrize("rule", [gives_two, gives_a_number, takes_too_few])
@pytest.mark.parametrize("derive", [lambda f: s2s.grad(f)(V), lambda f: s2s.jvp(f, (V,), (V,))])
def test_bad_rules_are_told_with_their_line(rule, derive):
    with pytest.raises(ArgumentError) as found, s2s.gradient_override({np.floor: rule}):
        derive(lambda x: np.sum(np.floor(x)))
    assert f"{rule.__name__} (test_nonsmooth.py:{rule.__code__.co_firstlineno})" in str(found.value)


# --- the checker ----------------------------------------------------------------------------------------------------

CHECKED = {
    "floor": np.floor, "trunc": np.trunc, "rint": np.rint, "round": lambda x: np.round(x, 1), "int": int,
    "floordiv": lambda x: x // 0.7, "divmod": lambda x: divmod(x, 0.7)[0], "heaviside": lambda x: np.heaviside(x, 0.5),
    "sign": np.sign,
}


@pytest.mark.parametrize("name", CHECKED)
def test_the_checker_tells_why(name):
    f = lambda x: CHECKED[name](x) * x
    for policy in ("straight_through", "sigmoid"):
        with s2s.nonsmooth(policy):
            report = s2s.check_grads(f, (2.63,), order=1)
        assert [c.place.partition(":")[0] for c in report.choices] == ["test_nonsmooth.py"]
        assert "by the rule, " in str(report) and "by differences" in str(report)


def test_the_checker_names_a_rule():
    with s2s.gradient_override({np.floor: sevenfold}):
        report = s2s.check_grads(lambda x: np.sum(np.floor(x) * np.sin(x)), (V,))
    assert len(report.choices) == 1 and "by the rule sevenfold" in str(report)


# --- pickles, and what is kept on disk ------------------------------------------------------------------------------


def test_pickles():
    chosen = s2s.nonsmooth("sigmoid", sharpness=3)(np.floor)
    for value in (chosen, s2s.nonsmooth("zero"), s2s.gradient_override({np.floor: sevenfold})):
        assert pickle.loads(pickle.dumps(value)) == value
    decorated = pickle.loads(pickle.dumps(s2s.nonsmooth("zero")(product)))
    assert (s2s.grad(decorated)(X), decorated(X)) == (ZERO, product(X))
    assert pickle.loads(pickle.dumps(s2s.grad(decorated)))(X) == ZERO


RUN = """
import pickle, sys
import numpy as np
import s2s
import model
{script}
print("miss" if "libcst" in sys.modules else "hit")
"""


@pytest.fixture
def run(tmp_path):
    """Run a script in another process, with a module of this text and a cache that is kept: what it prints, and whether
    something was compiled."""

    def run(module, script):
        (tmp_path / "model.py").write_text(f"import functools\nimport numpy as np\nimport s2s\n{module}")
        env = os.environ | {
            "S2S_CACHE": "1", "S2S_CACHE_DIR": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path]),
        }
        made = subprocess.run(
            [sys.executable, "-c", RUN.format(script=script)], env=env, capture_output=True, text=True, check=False
        )
        assert made.returncode == 0, made.stderr
        return made.stdout.split()

    return run


POLICIES = """
def f(x): return np.floor(x) * x

@functools.lru_cache
@s2s.nonsmooth({0!r})
def helper(x): return np.floor(x) * x

def with_a_cached_helper(x): return 1.0 * helper(x)

class A:
    @s2s.differentiable(nonsmooth={0!r})
    def method(self, x): return np.floor(x) * x

a = A()

def with_a_method(x): return 1.0 * a.method(x)

BLOCK = s2s.nonsmooth({0!r})
SHARPNESS = {1}

def with_a_block(x):
    with BLOCK: return np.floor(x) * x

def with_a_number(x):
    with s2s.nonsmooth("sigmoid", sharpness=SHARPNESS): return np.floor(x)
"""
FIVE = """
with s2s.nonsmooth({0!r}): print(s2s.grad(model.f)(2.7))
for f in (model.with_a_cached_helper, model.with_a_method, model.with_a_block): print(s2s.grad(f)(2.7))
print(s2s.grad(model.with_a_number)(2.0))
"""


@pytest.mark.slow
def test_another_policy_is_not_found_on_disk(run):
    zero, straight = [(POLICIES.format(*made), FIVE.format(*made)) for made in (("zero", 4), ("straight_through", 8))]
    assert [run(*zero), run(*zero), run(*straight)] == [
        [*["2.0"] * 4, "1.0", "miss"], [*["2.0"] * 4, "1.0", "hit"], [*["4.7"] * 4, "2.0", "miss"],
    ]


RULED = """
def scale(v): return v * {0}
@s2s.register_gradient("Scaled")
def rule(out, out_bar, x): return scale(out_bar)
def f(x): return np.floor(x)
def g(x):
    with s2s.gradient_override({{np.floor: "Scaled"}}): return np.floor(x)
"""
BOTH = """
with s2s.gradient_override({np.floor: model.rule}): print(s2s.grad(model.f)(2.7))
print(s2s.grad(model.g)(2.7))
"""


@pytest.mark.slow
def test_another_rule_is_not_found_on_disk(run):
    """A hit on disk has met what the block has a rule for."""
    found = [run(RULED.format(number), BOTH) for number in (7.0, 7.0, 8.0)]
    assert found == [["7.0", "7.0", "miss"], ["7.0", "7.0", "hit"], ["8.0", "8.0", "miss"]]


@pytest.mark.slow
def test_choices_go_to_another_process(run):
    sent = pickle.dumps([s2s.nonsmooth("sigmoid", sharpness=50)(np.floor), s2s.nonsmooth("zero")]).hex()
    script = f"chosen, zero = pickle.loads(bytes.fromhex({sent!r}))\n" + (
        "print(s2s.grad(chosen)(2.0))\nwith zero: print(s2s.grad(model.f)(2.7))")
    assert run("def f(x): return np.floor(x) * x", script)[:2] == ["12.5", "2.0"]


# --- one function by several spellings ------------------------------------------------------------------------------

def scaled(out, out_bar, *args):
    """The derivatives by the first argument of the functions below, three times as large."""
    factor = {1: 3.0, 2: 3.0 * args[-1]}[len(args)]
    return (out_bar * factor, *[None] * (len(args) - 1))


SPELLINGS = [
    (np.multiply, lambda x: np.multiply(x, 2.0) + x * 2.0, 12.0),
    ("multiply", lambda x: np.multiply(x, 2.0) + x * 2.0, 12.0),
    (np.round, lambda x: np.round(x) + x.round(), 6.0),
    (np.absolute, lambda x: np.abs(x) + abs(x), 6.0),
    ("absolute", lambda x: abs(x), 3.0),
    (np.negative, lambda x: -x, 3.0),
    (np.floor_divide, lambda x: x // 2.0, 6.0),
]


@pytest.mark.parametrize("key, f, expected", SPELLINGS)
def test_an_override_is_for_operators_and_methods_too(key, f, expected):
    with s2s.gradient_override({key: scaled}):
        assert s2s.grad(lambda x: np.sum(f(x)))(np.array([1.3, -2.7])).tolist() == [expected, expected]
        assert s2s.jvp(lambda x: np.sum(f(x)), (np.array([1.3]),), (np.array([1.0]),))[1] == expected


def test_an_override_of_an_operator_holds_in_second_derivatives():
    def product(out, out_bar, a, b):
        return out_bar * b, out_bar * a

    a, b = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[2.0, 0.5], [1.0, 3.0]])
    with s2s.gradient_override({np.multiply: product}):
        assert np.allclose(s2s.hessian(lambda x: np.sum(x * x * x))(a[0]), np.diag(6.0 * a[0]))
    with s2s.gradient_override({np.matmul: lambda out, out_bar, a, b: (2.0 * (out_bar @ b.T), a.T @ out_bar)}):
        found = s2s.grad(lambda a, b: np.sum(a @ b), argnums=(0, 1))(a, b)
    assert np.allclose(found[0], 2.0 * np.ones((2, 2)) @ b.T) and np.allclose(found[1], a.T @ np.ones((2, 2)))


@s2s.differentiable(nonsmooth="sigmoid", sharpness=50)
def with_a_default(x):
    return np.floor(x)


@s2s.differentiable(nonsmooth="zero")
def known_callee(x, functions):
    return with_a_default(x) + np.floor(x)


@s2s.differentiable(nonsmooth="zero")
def callee_known_at_run_time(x, functions):
    return functions[0](x) + np.floor(x)


def test_the_default_of_the_inner_function_comes_first_also_where_it_is_known_at_run_time():
    for f in (known_callee, callee_known_at_run_time):
        arguments = (2.0, [with_a_default])
        assert s2s.grad(f)(*arguments) == 12.5
        assert s2s.jvp(f, arguments, (1.0, None))[1] == 12.5
        t = np.tanh(25 * 0.1)  # the slope is 12.5 (1 - tanh(25 d)^2)
        second = -12.5 * 2 * 25 * t * (1 - t**2)
        assert s2s.grad(s2s.grad(f))(2.1, [with_a_default]) == pytest.approx(second, rel=1e-12)
    assert s2s.grad(callee_known_at_run_time)(2.5, [lambda x: np.floor(x) * x]) == 2.0


def test_a_conversion_that_is_known_at_run_time_has_nothing_to_choose():
    def converted(x, kinds):
        with s2s.nonsmooth("zero"):
            return kinds[0](x * x) * np.floor(x)

    assert s2s.grad(converted)(2.5, [float]) == s2s.grad(converted)(2.5, [np.float64]) == 10.0
