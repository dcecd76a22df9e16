"""Gradients that compiled code calls: the numbers of central differences, of any lengths, from Python and from njit."""

import math
import threading
from collections import namedtuple

import numpy as np
import pytest

import s2s
from s2s.errors import ArgumentError, NonScalarOutputError
from tests.helpers import differences

numba = pytest.importorskip("numba")

X = np.array([0.7, -1.2, 1.9])
Pair = namedtuple("Pair", "a b")
RATE = 1.5
TABLE = np.array([1.0, 2.0, 4.0])


def broadcast(a, b, shift=2.0):
    return np.sum((a * b + shift) ** 2) + np.sum(np.where(a > 0.5, np.tanh(a), a * a))


def weighed(a, b):
    return np.sum(np.tanh(a) * b)


def reads_outside(x):
    return RATE * np.sum(x * TABLE)


def changes(u, x):
    u[0] = x[1] * 3.0
    return np.sum(u * x)


@pytest.mark.slow
def test_code_under_njit_calls_a_gradient():
    from tests.backends.numba.gradients_under_njit import descend, many, power_sum_grad

    np.testing.assert_allclose(descend(X, 3), 0.8**3 * X, rtol=1e-14)
    xs = np.stack([X, 2.0 * X])
    np.testing.assert_allclose(many(xs), 3.0 * xs**2, rtol=1e-14)
    assert isinstance(power_sum_grad, numba.core.registry.CPUDispatcher) and len(power_sum_grad.signatures) == 1
    with pytest.raises(TypeError, match="No matching definition"):
        power_sum_grad(1.0, 2)


@pytest.mark.slow
@pytest.mark.parametrize("make", [s2s.njit_grad, s2s.njit_value_and_grad])
def test_lengths_of_all_kinds(make):
    made = make(broadcast, argnums=(0, 1))
    for shapes in ((3, 3), (3, 1), (1, 3), (1, 1), (0, 0)):
        a, b = (np.linspace(0.3, 0.9, n) for n in shapes)
        result = made(a, b)
        if make is s2s.njit_value_and_grad:
            assert result[0] == pytest.approx(broadcast(a, b))
            result = result[1]
        wanted = differences(lambda a: broadcast(a, b), a), differences(lambda b: broadcast(a, b), b)
        for got, expected in zip(result, wanted):
            assert got.shape == expected.shape
            np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.slow
def test_arguments_of_many_kinds():
    @numba.njit
    def given(f, x):
        return f(x[0]) * x[1]

    @numba.njit
    def inner(a):
        return math.sin(a) * a

    def options(x, flag, weights=None, k=3):
        if weights is not None:
            return np.sum(weights * x**2)
        return x[0] * k if flag else x[1] ** k

    expected = differences(lambda x: given(inner, x), X)
    np.testing.assert_allclose(s2s.njit_grad(given, argnums=1)(inner, X), expected, rtol=1e-6)
    gradient = s2s.njit_grad(options)
    np.testing.assert_allclose(gradient(X, True), [3.0, 0.0, 0.0])
    np.testing.assert_allclose(gradient(X, False, None, 2), [0.0, -2.4, 0.0])
    np.testing.assert_allclose(gradient(X, False, X), 2.0 * X**2)
    scalar, array = s2s.njit_grad(lambda t: t[0] * np.sum(t[1] ** 2))((2.0, X))
    assert scalar == pytest.approx(np.sum(X**2))
    np.testing.assert_allclose(array, 4.0 * X)
    assert s2s.njit_grad(lambda p: p.a * p.b**2)(Pair(2.0, 3.0)) == Pair(9.0, 12.0)
    short = s2s.njit_grad(broadcast)(X.astype(np.float32), X.astype(np.float32))
    assert short.dtype == np.float32
    np.testing.assert_allclose(short, differences(lambda a: broadcast(a, X), X), rtol=1e-4)


def test_slices_of_short_arrays():
    def stencil(u, c):
        v = np.zeros_like(u)
        v[1:-1] = u[1:-1] + c * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        return np.sum(v * v) + np.sum(np.exp(u) * u)

    gradient = s2s.njit_grad(stencil, argnums=(0, 1))
    for n in (6, 3, 2, 1):
        u = np.linspace(0.2, 0.9, n) ** 2
        slopes = differences(lambda u: stencil(u, 0.3), u), differences(lambda c: stencil(u, c), 0.3)
        for got, expected in zip(gradient(u, 0.3), slopes):
            np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.slow
def test_signatures():
    from tests.backends.numba.gradients_under_njit import power_sum

    assert s2s.njit_grad(lambda x, y: x * y, "float64(float64, float64)", "y")(2.0, 3.0) == 2.0
    with pytest.raises(ArgumentError, match="the signature has 1 types, `power_sum` has 2 parameters"):
        s2s.njit_grad(power_sum, "float64(float64[:])")
    several = s2s.njit_grad(weighed, [(X, X), (numba.float32[:], numba.float32[:])], fastmath=True, parallel=True)
    assert len(several.signatures) == 2
    np.testing.assert_allclose(several(X, X), differences(lambda a: weighed(a, X), X), rtol=1e-6)
    with pytest.raises(ArgumentError, match="the signature is 3"):
        s2s.njit_grad(broadcast, 3)
    with pytest.raises(ArgumentError, match="there is no option `inline`"):
        s2s.njit_grad(broadcast, inline=True)


@pytest.mark.slow
def test_what_it_reads_is_compiled_in_and_its_arguments_stay():
    np.testing.assert_allclose(s2s.njit_grad(reads_outside)(X), RATE * TABLE)
    u, x = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    np.testing.assert_allclose(s2s.njit_grad(changes, argnums=1)(u, x), [12.0, 3.0 * 3.0 + 2.0])
    np.testing.assert_array_equal(u, [1.0, 2.0])
    with pytest.raises(ValueError, match="arguments share memory"):
        s2s.njit_grad(changes, argnums=1)(u, u)


@pytest.mark.slow
def test_derivatives_of_what_calls_a_gradient():
    from tests.backends.numba.gradients_under_njit import power_sum, power_sum_grad

    lazy = s2s.njit_value_and_grad(power_sum)

    @numba.njit
    def outer(x):
        value, gradient = lazy(x, 3)
        return value * np.sum(gradient * gradient)

    expected = differences(outer, X)
    np.testing.assert_allclose(s2s.grad(outer)(X), expected, rtol=1e-6)
    np.testing.assert_allclose(s2s.jvp(outer, (X,), (X,))[1], expected @ X, rtol=1e-6)
    np.testing.assert_allclose(s2s.njit_grad(outer)(X), expected, rtol=1e-6)
    np.testing.assert_allclose(s2s.grad(lambda x: np.sum(power_sum_grad(x, 3) ** 2))(X), 36.0 * X**3, rtol=1e-12)


def test_exceptions_are_those_of_the_function():
    def positive(x, i):
        if x[0] < 0.0:
            raise ValueError("negative")
        return x[i] ** 2

    gradient = s2s.njit_grad(positive)
    with pytest.raises(ValueError, match="^negative$"):
        gradient(-X, 0)
    with pytest.raises(IndexError):
        gradient(X, 7)


def test_what_is_refused():
    for f, reason in ((lambda *x: x[0], r"any number of arguments, `\*x`"), (broadcast.__get__(X), "are set already")):
        with pytest.raises(ArgumentError, match=reason):
            s2s.njit_grad(f)
    with pytest.raises(ArgumentError, match="`x` is of the type unicode_type") as info:
        s2s.njit_grad(lambda x, y: y, argnums=1)("a", 1.0)
    assert info.value.diagnostic.code == "S2S534"
    with pytest.raises(ArgumentError, match="Numba has random numbers of its own"):
        s2s.njit_grad(lambda x: x * np.random.normal(), "float64(float64)")
    with pytest.raises(NonScalarOutputError):
        s2s.njit_grad(lambda x: x * 2.0, "float64[:](float64[:])")
    with pytest.raises(ArgumentError, match="`fastmath` is an option of the Numba backend"):
        s2s.differentiable(lambda x: x, fastmath=True)


def test_options_of_the_backend():
    f = s2s.differentiable(lambda x: np.sum(x**3), backend="numba", fastmath=True, parallel=True)
    np.testing.assert_allclose(s2s.grad(f)(X), 3.0 * X**2)
    assert dict(s2s.grad(s2s.grad(f)).dispatcher.ask.options) == {
        "backend": "numba", "parallel": True, "fastmath": True, "unconnected": "zeros"}


@pytest.mark.slow
def test_threads_that_compile_both_ways():
    failed = []

    def by_numba(k):
        np.testing.assert_allclose(s2s.njit_grad(lambda x: np.sum(x * x) * k)(X), 2.0 * k * X)

    def by_call(k):
        f = s2s.differentiable(lambda x: np.sum(x * x) * k, backend="numba")
        np.testing.assert_allclose(s2s.grad(f)(X), 2.0 * k * X)

    def run(work):
        try:
            for k in range(2):
                work(k)
        except Exception as problem:
            failed.append(problem)

    threads = [threading.Thread(target=run, args=(work,), daemon=True) for work in (by_numba, by_call) * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120.0)
    assert not any(thread.is_alive() for thread in threads) and not failed
