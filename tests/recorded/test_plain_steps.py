"""Steps of numbers and plain arrays of real numbers: the derivatives that the bodies of their rules give."""

import weakref

import numpy as np
import pytest

import s2s


@pytest.fixture(autouse=True)
def recorded(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "always")


X = np.array([0.3, -0.7, 1.1, 0.4, 0.9, -0.2])
W = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.5]])


def changed_result(x):
    y = np.exp(x)
    z = y + 0.0
    y *= 2.0  # the slope of exp is what it gave before
    return np.sum(z * y)


def overwritten_result(x):
    y = np.exp(x)
    z = y + 0.0
    y[:] = 5.0  # nobody reads it after
    return np.sum(z * z)


def broadcast(x):
    return np.sum(x[:2, None] * x[2:5] / (2.0 + x[5]) - np.float64(0.5) * x[0])


def whole_and_parts(x):
    y = x * 2.0
    return np.sum(y.reshape(2, 3) * W) + np.sum(y[1:] * y[:-1]) + np.sum(y**2) + y[3] * y.reshape(3, 2)[1, 0]


def twice_the_same(x):
    y = x + x
    return np.sum(y * y * y)


def written_into(x):
    y = x * 3.0
    y[1:3] = y[2:4] * x[0]
    return np.sum(np.sin(y) * x)


def functions_of_arrays(x):
    a = np.reshape(x, (2, 3))
    b = np.dot(a, W.T) + np.roll(a, 1, axis=1) @ W.T
    return np.mean(b, axis=0).sum() * np.max(x) + np.where(x > 0.0, x**3, 0.0).sum() + np.linalg.norm(a)


def with_options(x):
    a = x.reshape(3, 2)
    return np.sum(np.sum(a, axis=1, keepdims=True) * a) + a.sum(0).prod() + np.cumsum(x)[3] + np.var(x, ddof=1)


def of_numbers(x):
    a, b = float(x[0]), x[1]
    return np.sum(np.exp(a * x) * b) + np.arctan2(a, b) + np.maximum(a, b) ** 2


def of_sequences(x):
    return np.sum(np.concatenate([x, 2.0 * x[:2]]) ** 2) + np.einsum("i,i->", x, x) + np.stack((x, x**2)).sum(axis=0)[2]


def of_no_dimensions(x):
    y = np.asarray(np.sum(x))
    return np.multiply(y, np.asarray(y)) + np.sum(x * y)


@pytest.mark.parametrize("f", [
    changed_result, overwritten_result, broadcast, whole_and_parts, twice_the_same, written_into, functions_of_arrays,
    with_options, of_numbers, of_sequences, of_no_dimensions,
])  # fmt: skip
def test_derivatives(f):
    eye = np.eye(len(X))
    expected = [(f(X + 1e-6 * e) - f(X - 1e-6 * e)) / 2e-6 for e in eye]
    np.testing.assert_allclose(s2s.grad(f)(X), expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(s2s.jvp(f, (X,), (eye[1],))[1], expected[1], rtol=1e-6, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("f", [changed_result, broadcast, whole_and_parts, written_into, of_numbers, of_no_dimensions])
def test_second_derivatives(f):
    slope, along = s2s.grad(f), 1e-5 * np.eye(len(X))[1]
    expected = (slope(X + along) - slope(X - along)) / 2e-5
    np.testing.assert_allclose(s2s.grad(lambda x: s2s.grad(f)(x)[1])(X), expected, rtol=1e-5, atol=1e-6)


def test_cotangents_are_arrays_of_their_own():
    def f(x, y):
        return np.sum(x + y), x * y

    (first, second), product = s2s.grad(f, (0, 1), has_aux=True)(X, X.copy())
    first += 1.0
    np.testing.assert_array_equal(second, np.ones(6))
    np.testing.assert_array_equal(product, X * X)
    out, pullback = s2s.vjp(lambda x: x + 0.0, X)
    bar = np.ones(6)
    (given,) = pullback(bar)
    given += 1.0
    np.testing.assert_array_equal(bar, np.ones(6))
    np.testing.assert_array_equal(out, X)


@pytest.mark.parametrize("dtype", ["f4", "f8", "g"])
def test_cotangents_have_the_dtype_of_what_is_differentiated(dtype):
    def f(x):
        return np.sum(np.sin(x) * W[0, 0] * np.ones(6) + 2 * x)

    found = s2s.grad(f)(X.astype(dtype))
    assert found.dtype == np.dtype(dtype)
    np.testing.assert_allclose(found, 0.5 * np.cos(X) + 2.0, rtol=1e-6)



LARGE = np.linspace(0.1, 2.0, 20_000)
KEPT = []


def large_arrays_that_nothing_reads(x):
    y = x + 0.5
    y = 2.0 * y - np.roll(y, 3)
    y = np.mod(y, 7.0 * np.ones(len(x))) + np.cumsum(y) / len(x)
    y[1:5] = y[2:6] * 3.0  # the rest is read in part
    return np.sum(y * np.sin(np.negative(y)))


def large_arrays_one_after_another(x):
    for k in range(20):  # a freed array's place in memory is taken by the next
        x = (x + np.full(len(x), 0.01 * k)) - 0.01
        assert np.sum(np.full(len(x), 2.0)) > 0.0
    return np.sum(x**3)


def large_arrays_in_views(x):
    y = (x * 2.0).reshape(100, 200)
    z = y.T + np.ones((200, 100))
    return np.sum(z[3:, ::2]) + np.sum((y + y)[0] * z[:, 0]) + np.max(z)


@pytest.mark.parametrize(
    "f", [large_arrays_that_nothing_reads, large_arrays_one_after_another, large_arrays_in_views])
def test_large_arrays(f):
    along = np.cos(np.arange(len(LARGE)))
    expected = (f(LARGE + 1e-5 * along) - f(LARGE - 1e-5 * along)) / 2e-5
    np.testing.assert_allclose(np.sum(s2s.grad(f)(LARGE) * along), expected, rtol=1e-6)
    np.testing.assert_allclose(s2s.jvp(f, (LARGE,), (along,))[1], expected, rtol=1e-6)
    _, pullback = s2s.vjp(f, LARGE)
    np.testing.assert_allclose(np.sum(pullback(2.0)[0] * along), 2.0 * expected, rtol=1e-6)


def test_a_pullback_within_another_recording():
    _, pullback = s2s.vjp(large_arrays_that_nothing_reads, LARGE)

    def through(bar):
        return np.sum(pullback(bar)[0] * LARGE)

    np.testing.assert_allclose(s2s.grad(through)(2.0), through(1.0), rtol=1e-9)


def test_large_arrays_are_freed_where_no_step_reads_them():
    alive = []

    def f(x):
        for k in range(4):
            x = x + 1.0 * k
            KEPT[:] = [r for r in KEPT if r() is not None]
            KEPT.append(weakref.ref(x))
            alive.append(len(KEPT))
        return np.sum(x)

    KEPT.clear()
    np.testing.assert_array_equal(s2s.grad(f)(LARGE), np.ones(len(LARGE)))
    assert max(alive) == 1
