"""Derivatives of loops over ``prange``: threads share the loops of both sweeps where iterations are independent, and
the numbers are those of a loop that runs in order, each time."""

import ast

import numpy as np
import pytest

import s2s
from s2s.backends.numba import shares
from tests.helpers import differences

numba = pytest.importorskip("numba")
prange = numba.prange

RNG = np.random.default_rng(5)
K = np.array([0, 3, 3, 1, 0, 2, 3, 1, 1, 0, 3, 2])


def overlapping(x, w):
    y = np.empty(len(x) - 1)
    for i in prange(len(x) - 1):
        y[i] = x[i] * x[i] + x[i + 1] * w[i]
    return np.sum(y * y)


def sums(x, w):
    s, t = 0.0, 1.0
    for i in prange(len(x)):
        s += np.sin(x[i]) * w[0]
        t -= x[i] * w[i % 3]
    return s * t


def at_any_place(x, w):
    s = 0.0
    for i in prange(len(K)):
        s += x[K[i]] ** 2 * w[i]
    return s


def before_the_first(x, w):
    y = np.empty(len(x))
    for i in prange(len(x)):
        y[i] = x[i - 1] * x[i] * w[i]
    return np.sum(y * y)


def from_the_second(x, w):
    y = np.zeros(len(x))
    for i in prange(1, len(x) - 1):
        y[i] = w[i] * (x[i - 1] - 2.0 * x[i] + x[i + 1])
    return np.sum(y * y)


def all_pairs(x, w):
    n = len(x)
    e = np.zeros(n)
    for i in prange(n):
        t = 0.0
        for j in range(n):
            if i != j:
                d = x[i] - x[j]
                t += w[j] / np.sqrt(d * d + 0.1)
        e[i] = t
    return np.sum(e)


def branches(x, w):
    total = 0.0
    for i in prange(len(x)):
        s = x[i]
        for j in range(3):
            s = s * np.exp(0.1 * w[i] - 0.05 * s)
        if s > 0.0:
            total += s**3
    return total


def steps(x, w):
    u = x.copy()
    for _ in range(4):
        v = np.zeros(len(u))
        for i in prange(1, len(u) - 1):
            v[i] = u[i] + 0.1 * w[i] * (u[i - 1] - 2.0 * u[i] + u[i + 1]) + np.sin(u[i])
        u = v
    return np.sum(u * u)


def in_order(x, w):
    y = np.ones(len(x) + 1)
    for i in prange(len(x)):
        y[i + 1] = y[i] * x[i] + w[i]
    return y[-1]


def rows(x, w):
    A = np.outer(x, w)
    n = len(x)
    out = np.zeros((n, n))
    for i in prange(n):
        acc = 0.0
        for j in range(n):
            acc += A[i, j] ** 2
            out[i, j] = acc * w[j]
    return np.sum(np.cos(out))


FUNCTIONS = [overlapping, sums, at_any_place, before_the_first, from_the_second, all_pairs, branches, steps, in_order,
             rows]
SHARED = {overlapping: 2, sums: 2, at_any_place: 2, before_the_first: 2, from_the_second: 2, all_pairs: 2, branches: 2,
          rows: 1}


@pytest.fixture
def shared(monkeypatch):
    """The loops that threads share."""
    found = []
    split = shares._Splitter._split

    def noted(self, node, sharing):
        found.append(ast.unparse(node))
        return split(self, node, sharing)

    monkeypatch.setattr(shares._Splitter, "_split", noted)
    return found


@pytest.mark.slow
@pytest.mark.grid(0.1)
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_the_gradient_is_that_of_a_loop_in_order(f, shared):
    assert numba.get_num_threads() > 1
    gradient = s2s.value_and_grad(s2s.differentiable(f, backend="numba", parallel=True), argnums=(0, 1))
    for n in (12, 37, 1003):
        x, w = RNG.normal(size=n) * 0.3 + 0.6, RNG.normal(size=n) * 0.3 + 0.9
        if f is in_order:
            x *= 0.9
        if n == 12:
            wanted = differences(lambda x: f(x, w), x), differences(lambda w: f(x, w), w)
        elif n > 100 and f in (all_pairs, rows):
            continue
        else:
            wanted = s2s.grad(f, argnums=(0, 1))(x, w)
        for _ in range(30 if n > 100 else 5):
            value, slopes = gradient(x, w)
            assert value == pytest.approx(f(x, w), rel=1e-9)
            for found, expected in zip(slopes, wanted):
                np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8 * max(np.max(np.abs(expected)), 1.0))
    assert len(shared) >= SHARED.get(f, 0), shared
    if f is in_order:
        assert not any("y[i + 1] =" in loop for loop in shared)


def collisions(x, w):
    s = 0.0
    for i in prange(len(w)):
        s += x[K[i % 12]] * w[i]
    return s


@pytest.mark.slow
def test_threads_do_not_add_to_the_same_element_at_once(shared):
    gradient = s2s.grad(s2s.differentiable(collisions, backend="numba", parallel=True))
    x, w = RNG.normal(size=4), RNG.normal(size=600_000)
    wanted = np.bincount(np.resize(K, len(w)), w, 4)
    for _ in range(10):
        np.testing.assert_allclose(gradient(x, w), wanted, rtol=1e-9)
    assert shared


@pytest.mark.slow
def test_what_numba_was_told_holds_for_the_adjoint(shared):
    compiled = numba.njit(parallel=True, fastmath=True)(sums)
    f = s2s.differentiable(compiled, backend="numba")
    x, w = RNG.normal(size=40), RNG.normal(size=40)
    np.testing.assert_allclose(s2s.grad(f)(x, w), s2s.grad(sums)(x, w), rtol=1e-10)
    assert shared
    options = dict(s2s.grad(f).dispatcher.ask.options)
    assert options["parallel"] and options["fastmath"]
    assert "parallel" not in dict(s2s.grad(s2s.differentiable(sums, backend="numba")).dispatcher.ask.options)
    assert "fastmath" not in dict(s2s.grad(numba.njit(fastmath=True)(sums)).dispatcher.ask.options)


@pytest.mark.slow
def test_compiled_code_calls_it(shared):
    gradient = s2s.njit_grad(overlapping, "(float64[:], float64[:])", parallel=True)
    x, w = RNG.normal(size=40), RNG.normal(size=40)
    np.testing.assert_allclose(numba.njit(lambda x, w: gradient(x, w))(x, w), s2s.grad(overlapping)(x, w), rtol=1e-10)
    assert shared


def added_twice(x, w):
    total = 0.0
    for i in prange(len(x) - 1):
        total += x[i] * w[i] + x[i + 1] ** 2
    return total


@pytest.mark.slow
@pytest.mark.parametrize("f", [overlapping, added_twice])
def test_errors_in_threads(f):
    """Whichever thread they come in: that of the caller, which has the first part or none, or another one."""
    gradient = s2s.grad(s2s.differentiable(f, backend="numba", parallel=True))
    for length in (5, 30, 38):
        for _ in range(5):
            with pytest.raises(IndexError):
                gradient(np.ones(40), np.ones(length))
    assert np.all(np.isfinite(gradient(np.ones(40), np.ones(39))))


@pytest.mark.slow
def test_few_iterations():
    f = s2s.grad(s2s.differentiable(overlapping, backend="numba", parallel=True))
    for n in (1, 2, 3, 4, 5, 8):
        x, w = RNG.normal(size=n), RNG.normal(size=n)
        np.testing.assert_allclose(f(x, w), differences(lambda x: overlapping(x, w), x), rtol=1e-6, atol=1e-9)
