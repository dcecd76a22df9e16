"""Gradients that compiled code calls, as loops: lengths that these do not take, layouts, types, threads."""

import re

import numpy as np
import pytest

import s2s
from tests.helpers import differences

numba = pytest.importorskip("numba")

RNG = np.random.default_rng(3)


def halves(x, y, n):
    t = x[:n] * y[n:]
    return np.sum(t * t) + 0.5 * np.sum(np.exp(x))


@pytest.mark.parametrize("make", [s2s.njit_grad, s2s.njit_value_and_grad])
def test_lengths_that_loops_do_not_take(make):
    gradient = make(halves, argnums=(0, 1))

    @numba.njit
    def call(x, y, n):
        return gradient(x, y, n)

    # as long as each other; one item, which is stretched; slices that end with their arrays
    for of_x, of_y, n in ((6, 6, 3), (5, 3, 2), (6, 3, 1), (3, 8, 5), (1, 4, 3), (4, 1, 0)):
        x, y = RNG.normal(size=of_x), RNG.normal(size=of_y)
        found = call(x, y, n)
        if make is s2s.njit_value_and_grad:
            assert found[0] == pytest.approx(halves(x, y, n))
            found = found[1]
        np.testing.assert_allclose(found[0], differences(lambda x: halves(x, y, n), x), rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(found[1], differences(lambda y: halves(x, y, n), y), rtol=1e-5, atol=1e-7)
    with pytest.raises(ValueError, match=re.escape("shapes (3,) (2,)")):
        call(RNG.normal(size=6), RNG.normal(size=5), 3)


@pytest.mark.slow
def test_lengths_that_loops_do_not_take_in_threads():
    gradient = s2s.njit_grad(halves)

    @numba.njit(parallel=True)
    def all_of(xs, y, n):
        out = np.empty_like(xs)
        for k in numba.prange(len(xs)):
            out[k] = gradient(xs[k], y, n)
        return out

    xs, y = RNG.normal(size=(20, 5)), RNG.normal(size=3)
    wanted = [differences(lambda x: halves(x, y, 2), x) for x in xs]
    for _ in range(3):
        np.testing.assert_allclose(all_of(xs, y, 2), wanted, rtol=1e-5, atol=1e-7)


def rows(A, v):
    B = A * 2.0
    for i in range(A.shape[0]):
        B[i] += np.sin(A[i] * v)
    return np.sum(B * A) + np.sum(A @ v)


@pytest.mark.slow
def test_layouts_and_types():
    float64, float32 = numba.float64, numba.float32
    kinds = [(float64[:, :], float64[:]), (float64[:, ::1], float64[::1]), (float32[::1, :], float32[:])]
    by_types = s2s.njit_value_and_grad(rows, kinds, argnums=(0, 1))
    by_calls = s2s.njit_value_and_grad(rows, argnums=(0, 1))
    A, v = RNG.normal(size=(4, 5)), RNG.normal(size=5)
    wide = np.repeat(np.repeat(A, 2, 0), 2, 1)[::2, ::2]
    wanted = differences(lambda A: rows(A, v), A), differences(lambda v: rows(A, v), v)
    for gradient in (by_types, by_calls):
        for given in (A, np.asfortranarray(A), wide):
            value, slopes = gradient(given, v)
            assert value == pytest.approx(rows(A, v))
            for found, expected in zip(slopes, wanted):
                np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)
        value, slopes = gradient(np.asfortranarray(A.astype(np.float32)), v.astype(np.float32))
        assert value == pytest.approx(rows(A, v), rel=1e-5)
        for found, expected in zip(slopes, wanted):
            assert found.dtype == np.float32
            np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def layer(params, x):
    W, b = params
    return np.sum(np.tanh(W @ x + b) ** 2)


@pytest.mark.slow
def test_tuples_of_arrays():
    W, b, x = RNG.normal(size=(4, 3)), RNG.normal(size=4), RNG.normal(size=3)
    for gradient in (s2s.njit_grad(layer), s2s.njit_grad(layer, ((W, b), x))):
        for n in (3, 5):
            V = RNG.normal(size=(4, n))
            y = RNG.normal(size=n)
            V_bar, b_bar = gradient((V, b), y)
            np.testing.assert_allclose(V_bar, differences(lambda V: layer((V, b), y), V), rtol=1e-5, atol=1e-7)
            np.testing.assert_allclose(b_bar, differences(lambda b: layer((V, b), y), b), rtol=1e-5, atol=1e-7)


def springs(x):
    total = 0.0
    for i in range(len(x)):
        for j in range(i):
            d = x[i] - x[j]
            total += np.sqrt(np.dot(d, d) + 1.0)
    return total


@pytest.mark.slow
def test_lengths_of_example_arguments():
    x = RNG.normal(size=(5, 3))
    gradient = s2s.njit_grad(springs, (x,))
    for n in (3, 2, 1, 7):
        y = RNG.normal(size=(4, n))
        np.testing.assert_allclose(gradient(y), differences(springs, y), rtol=1e-5, atol=1e-7)


def changed(x, y):
    x = x.copy()
    for k in range(1, len(x) - 1):
        x[1:-1] = x[1:-1] + 0.1 * (x[2:] - 2.0 * x[1:-1] + x[:-2]) * y[k]
        if x[1] > 100.0:
            raise RuntimeError("it grows")
    return np.sum(x * y)


@pytest.mark.slow
def test_exceptions_of_long_functions():
    gradient = s2s.njit_grad(changed)

    @numba.njit
    def guarded(x, y):
        try:
            return gradient(x, y)
        except Exception:
            return np.zeros(1)

    x, y = RNG.normal(size=6), RNG.normal(size=6)
    np.testing.assert_allclose(guarded(x, y), differences(lambda x: changed(x, y), x), rtol=1e-5, atol=1e-7)
    with pytest.raises(RuntimeError, match="^it grows$"):
        gradient(x + 1e5, y)
    with pytest.raises(ValueError):
        gradient(x, y[:5])
    np.testing.assert_array_equal(guarded(x + 1e5, y), [0.0])
