"""Slices whose bounds are sums: their lengths are proved where they are certain, and only there."""

import contextlib

import numpy as np
import pytest

import s2s
from tests.helpers import differences

RNG = np.random.default_rng(17)


def wave(*shape):
    return RNG.standard_normal(shape)


def by_places(x, w):
    """A window of the length of ``w`` at each place."""
    n, k = x.shape[0], w.shape[0]
    out = np.empty(n - k + 1)
    for i in range(n - k + 1):
        out[i] = np.sum(np.tanh(x[i : i + k] * w))
    return np.sum(out**2)


def by_slices(x, w):
    """A slice as long as the result for each item of ``w``."""
    n, k = x.shape[0], w.shape[0]
    out = np.zeros((n - k + 1, x.shape[1]))
    for i in range(k):
        out += np.tanh(x[i : i + n - k + 1] * w[i])
    return np.sum(out**2)


def backwards(x, w):
    n, k = x.shape[0], w.shape[0]
    total = 0.0
    for i in range(n - k, -1, -1):
        total = total + np.sum((w * x[i : i + k]) ** 3)
    return total


def in_two(x, w):
    """Windows in both dimensions, with an axis that is added."""
    n, m = x.shape
    k, l, f = w.shape
    out = np.empty((n - k + 1, m - l + 1, f))
    for i in range(n - k + 1):
        for j in range(m - l + 1):
            out[i, j] = np.sum(x[i : i + k, j : j + l, np.newaxis] * w, axis=(0, 1))
    return np.sum(np.tanh(out))


def of_a_result(x, w):
    """Windows of an array whose length is half of another."""
    half = x.shape[0] // 2
    y = np.empty(half)
    for i in range(half):
        y[i] = x[2 * i] * x[2 * i + 1]
    m, k = y.shape[0], w.shape[0]
    out = np.zeros(m - k + 1)
    for i in range(k):
        out += y[i : i + m - k + 1] * w[i]
    total = 0.0
    for i in range(out.shape[0] - k + 1):
        total = total + np.sum(np.tanh(out[i : i + k] * w))
    return total


PROVED = [
    (of_a_result, wave(11), wave(2)),
    (by_places, wave(9), wave(4)), (by_places, wave(4), wave(4)), (by_slices, wave(7, 3), wave(3)),
    (backwards, wave(6), wave(2)), (in_two, wave(5, 6), wave(3, 2, 4)), (in_two, wave(4, 4), wave(1, 1, 1)),
    (by_places, wave(5), wave(1)),
]  # fmt: skip


@pytest.mark.parametrize(("f", "x", "w"), PROVED, ids=lambda a: getattr(a, "__name__", ""))
def test_lengths_that_are_proved(f, x, w):
    gradient = s2s.grad(f, argnums=(0, 1))
    for got, want in zip(gradient(x, w), (differences(lambda a: f(a, w), x), differences(lambda a: f(x, a), w)),
                         strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-8)
    tangent = s2s.jvp(f, (x, w), (np.ones_like(x), np.ones_like(w)))[1]
    np.testing.assert_allclose(tangent, sum(map(np.sum, gradient(x, w))), rtol=1e-10)
    assert not {"unbroadcast", "outline", "broadcast_to"} & {*gradient.source.replace("(", ".").split(".")}


def clipped(x, w):
    """The last window has one item, which NumPy repeats."""
    total = 0.0
    for i in range(x.shape[0]):
        if i + w.shape[0] <= x.shape[0] or i == x.shape[0] - 1:
            total = total + np.sum(np.tanh(x[i : i + w.shape[0]] * w))
    return total


def before_the_start(x, w):
    """Of a window that begins with a negative number nothing is left."""
    total = 0.0
    for i in range(-2, x.shape[0] - w.shape[0] + 1):
        window = x[i : i + w.shape[0]]
        if len(window) == len(w):
            total = total + np.sum(np.tanh(window * w))
    return total


def of_a_negative_length(x, w):
    """``n - k + 1`` counts from the end where ``w`` is longer than ``x``."""
    n, k = x.shape[0], w.shape[0]
    total = 0.0
    for i in range(2):
        part = x[i : i + n - k + 1]
        total = total + np.sum(part * np.cos(part)) * w[0]
    return total


def made_on_one_path(x, w):
    n, k = x.shape[0], w.shape[0]
    total = 0.0
    if n >= k:
        total = total + np.sum(np.zeros(n - k + 1) + x[0])
    for i in range(2):
        part = x[i : i + n - k + 1]
        total = total + np.sum(np.tanh(part)) * w[0]
    return total


def made_or_not(x, w):
    """The array could not be made, which says that the length is negative."""
    n, k = x.shape[0], w.shape[0]
    try:
        total = np.sum(np.zeros(n - k + 1) + x[0])
    except ValueError:
        total = 2.0 * x[1]
    for i in range(2):
        part = x[i : i + n - k + 1]
        total = total + np.sum(np.tanh(part)) * w[0]
    return total


def swallowed(x, w):
    n, k = x.shape[0], w.shape[0]
    total = x[0]
    with contextlib.suppress(ValueError):
        total = total + np.sum(np.zeros(n - k + 1) + x[0])
    for i in range(2):
        part = x[i : i + n - k + 1]
        total = total + np.sum(np.tanh(part)) * w[0]
    return total


def after_the_loop(x, w):
    """The variable of a loop keeps its last item, and takes others."""
    i = 0
    for i in range(x.shape[0] - w.shape[0] + 1):
        pass
    i = i + w.shape[0] - 1
    return np.sum(np.tanh(x[i : i + w.shape[0]] * w))


OPEN = [
    (clipped, wave(6), wave(3)), (before_the_start, wave(6), wave(3)), (of_a_negative_length, wave(6), wave(3)),
    (of_a_negative_length, wave(3), wave(6)), (made_or_not, wave(3), wave(6)), (swallowed, wave(3), wave(6)),
    (made_on_one_path, wave(3), wave(6)), (after_the_loop, wave(6), wave(3)),
]  # fmt: skip


@pytest.mark.parametrize(("f", "x", "w"), OPEN, ids=lambda a: getattr(a, "__name__", ""))
def test_lengths_that_are_not(f, x, w):
    got = s2s.grad(f, argnums=(0, 1))(x, w)
    for one, want in zip(got, (differences(lambda a: f(a, w), x), differences(lambda a: f(x, a), w)), strict=True):
        np.testing.assert_allclose(one, want, rtol=1e-6, atol=1e-8)


def test_no_window():
    assert not s2s.grad(by_slices)(wave(2, 3), np.ones(3)).any()
    with pytest.raises(ValueError, match="negative dimensions"):
        s2s.grad(by_slices)(wave(2, 3), np.ones(4))


# --- multiples of lengths, under guards -------------------------------------------------------------------------------


def gates(w, h, x):
    """Parts of one product, each as long as the state: the last is what is left, which one column is enough for."""
    size = h.shape[0]
    for _ in range(2):
        g = np.sin(x) @ w
        forget, enter = 1.0 / (1.0 + np.exp(-g[:size])), np.tanh(g[size : 2 * size])
        h = forget * h + enter * g[2 * size :]
    return np.sum(h * h)


@pytest.mark.parametrize("columns, size", [(6, 2), (5, 2), (9, 3), (7, 3), (3, 1), (12, 4), (9, 4)])
def test_parts_of_a_product(columns, size):
    w, h, x = np.sin(np.arange(3.0 * columns)).reshape(3, columns), np.cos(np.arange(1.0 * size)), np.ones(3)
    w_bar, h_bar = GATES_GRAD(w, h, x)
    np.testing.assert_allclose(w_bar, differences(lambda w: gates(w, h, x), w), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(h_bar, differences(lambda h: gates(w, h, x), h), rtol=1e-6, atol=1e-8)
    tangent = s2s.jvp(lambda w: gates(w, h, x), (w,), (np.cos(w),))[1]
    np.testing.assert_allclose(tangent, np.sum(w_bar * np.cos(w)), rtol=1e-10)


GATES_GRAD = s2s.grad(gates, argnums=(0, 1))


def test_parts_that_do_not_fit_raise():
    with pytest.raises(ValueError, match="broadcast"):
        GATES_GRAD(np.ones((3, 4)), np.ones(3), np.ones(3))
    with pytest.raises(ValueError, match="broadcast"):
        GATES_GRAD(np.ones((3, 8)), np.ones(3), np.ones(3))


def test_no_shape_of_a_part_is_asked_for():
    text = s2s.source(gates, np.ones((3, 6)), np.ones(2), np.ones(3), argnums=(0, 1))
    assert "unbroadcast" not in text and "broadcast_to" not in text


def shorter(x, y):
    """A slice that ends with the array."""
    n = len(y)
    return np.sum(x[:n] ** 2) + np.sum(x[n : 2 * n] ** 3) * np.sum(y)


def test_slices_beyond_the_end():
    gradient = s2s.grad(shorter)
    for n, m in ((8, 3), (5, 3), (2, 3), (4, 3), (6, 3), (7, 6)):
        x, y = np.sin(np.arange(1.0, n + 1)), np.ones(m)
        np.testing.assert_allclose(gradient(x, y), differences(lambda x, y=y: shorter(x, y), x), rtol=1e-6, atol=1e-8)
