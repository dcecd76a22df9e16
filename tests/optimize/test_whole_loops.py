"""Loops whose iterations are independent, as operations on arrays: the same numbers as from the loops, and loops that
stay where iterations meet in a place, or where a place may lie outside."""

import json

import numpy as np
import pytest

import s2s
from tests.helpers import differences

RNG = np.random.default_rng(31)
X, Y, M = RNG.standard_normal(6), RNG.standard_normal(6), RNG.standard_normal((6, 6)) + 4.0 * np.eye(6)


def eliminated(a):
    a, n = a.copy(), a.shape[0]
    for k in range(n - 1):
        a[k + 1 :, k] /= a[k, k]
        for i in range(k + 1, n):
            a[i, k + 1 :] -= a[i, k] * a[k, k + 1 :]
    return np.sum(np.sin(a))


def orthonormal(a):
    a, r = a.copy(), np.zeros_like(a)
    for k in range(a.shape[1]):
        r[k, k] = np.sqrt(np.sum(a[:, k] * a[:, k]))
        a[:, k] /= r[k, k]
        q = a[:, k]
        for j in range(k + 1, a.shape[1]):
            r[k, j] = np.sum(q * a[:, j])
            a[:, j] -= r[k, j] * q
    return np.sum(np.sin(a)) + np.sum(r * r)


def factor(a):
    a, n = a @ a.T, len(a)
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[j, k]
            a[i, j] /= a[j, j]
        for k in range(i):
            a[i, i] -= a[i, k] * a[i, k]
        a[i, i] = np.sqrt(a[i, i])
    return np.sum(np.tril(a) ** 2)


def turned(x):
    y, z = x.copy(), np.zeros_like(x)
    for k in range(1, len(x)):
        total = 1.0
        for i in range(k):
            total += x[k - i - 1] * y[i]
        for i in range(k):
            z[i] = y[i] + np.sin(total) * y[k - i - 1]
        y[:k] = z[:k]
    return np.sum(y * y)


def valley(x):
    total = 0.0
    for i in range(len(x) - 1):
        total += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return total


def layers(a):
    out, total = np.zeros((a.shape[1], a.shape[0])), np.zeros(a.shape[1])
    for i in range(a.shape[0] - 1, -1, -1):
        out[:, i] = np.tanh(a.T @ a[i]) * a[0]
    for i in range(a.shape[0]):
        total = total - a[i] * np.sum(a[i])
    return np.sum(out**3) + np.sum(total * total)


def products(a):
    c = np.zeros((a.shape[0], a.shape[0]))
    for i in range(a.shape[0]):
        for j in range(a.shape[0]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * a[j, k]
    return np.sum(c * c)


def old_numbers(x):
    z = x.copy()
    for i in range(len(x)):
        t = z[i]
        z[i] = np.sin(t)
        z[i] += t * t
    return np.sum(z * z)


def sums_what_it_changes(x):
    z, total, other = x.copy(), 0.0, 1.0
    for i in range(len(x)):
        total += z[i]
        t = z[i] * x[i]
        z[i] = z[i] * z[i]
        other += t
    return total * other * np.sum(z)


def sums_rows_that_it_changes(a):
    z, total, other = a.copy(), 0.0, np.zeros(a.shape[1])
    for i in range(a.shape[0]):
        t, v, q = np.sum(z[i]), a[i] * z[i, 0], z[i] * z[i]
        z[i] = 2.0 * z[i]
        total += t + np.sum(q)
        other = other + v
    return total * np.sum(other) * np.sum(z)


def reads_the_next(x):
    z = x.copy()
    for i in range(len(x) - 1):
        z[i] = z[i + 1] * x[i]
    return np.sum(z * z)


def writes_twice(x):
    z = np.zeros(len(x) + 1)
    for i in range(len(x)):
        z[i + 1] = x[i] * 2.0
        z[i] = x[i]
    return np.sum(z * z)


def antidiagonals(a):
    n, m = a.shape
    z = np.zeros(n + m)
    for i in range(n):
        for k in range(m):
            z[i + k] += a[i, k] ** 2
    return np.sum(z * z)


def behind_all(a):
    n, m = a.shape
    z = np.zeros(n + m + 2)
    for i in range(n):
        z[i + m + 1] += a[i, 0]
    for i in range(n):
        z[m - i] += a[i, 1] ** 2
    return np.sum(z * z)


WHOLE = {
    eliminated: (M, "a[t1:, t1:] -= a[t1:, k, None] * a[k, t1:]"), orthonormal: (M, ".T @ q"),
    factor: (M, "a_1[i, :j] * a_1[j, :j]"), turned: (X, "x[:k][::-1] * y[:k]"), valley: (X, "x[1:] - x[:-1] ** 2"),
    layers: (M, "np.tanh("), products: (M, "a[i] * a[j]"), old_numbers: (X, "np.sin("),
    reads_the_next: (X, "z[1:] * x[:t0]"), writes_twice: (X, "z[1:] = "),
    antidiagonals: (M, "z[i : i + m] += a[i] ** 2"), behind_all: (M, "z[t1:t2] += a[:, 0]"),
    sums_what_it_changes: (X, "total = np.sum(z)"), sums_rows_that_it_changes: (M, "z[...] = 2.0 * z"),
}  # fmt: skip


@pytest.mark.grid(0.5)
@pytest.mark.parametrize("f", WHOLE, ids=lambda f: f.__name__)
def test_iterations_are_done_at_once(f, monkeypatch):
    x, text = WHOLE[f]
    found, tangent, source = s2s.grad(f)(x), s2s.jvp(f, (x,), (np.cos(x),))[1], s2s.source(f, x)
    turned = s2s.hvp(f, (x,), (np.cos(x),))
    np.testing.assert_allclose(found, differences(f, x), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(tangent, np.vdot(found, np.cos(x)), rtol=1e-10)
    monkeypatch.setenv("S2S_PASSES", "-whole-loops")
    assert s2s.source(f, x).count("for ") > source.count("for ")
    np.testing.assert_allclose(found, s2s.grad(f)(x), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(turned, s2s.hvp(f, (x,), (np.cos(x),)), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("f", WHOLE, ids=lambda f: f.__name__)
def test_a_value_is_that_of_the_loops(f):
    x, _ = WHOLE[f]
    value, found = s2s.value_and_grad(f)(x)
    assert value == f(x) == s2s.jvp(f, (x,), (x,))[0]
    np.testing.assert_allclose(found, s2s.grad(f)(x), rtol=1e-9, atol=1e-12)


# --- loops that stay --------------------------------------------------------------------------------------------------


def reads_the_one_before(x):
    z = x.copy()
    for i in range(1, len(x)):
        z[i] = z[i - 1] * x[i]
    return np.sum(z * z)


def reads_the_next_backwards(x):
    z = x.copy()
    for i in range(len(x) - 2, -1, -1):
        z[i] = z[i + 1] * x[i]
    return np.sum(z * z)


def reads_through_a_view(x):
    z = x.copy()
    q = z[1:]
    for i in range(len(q)):
        z[i] = q[i] * 2.0
    return np.sum(z * z * x)


def reads_what_one_changes(a):
    b = a.copy()
    for i in range(a.shape[0]):
        b[i] = b[i] - b[2]
    return np.sum(b * b)


def writes_twice_backwards(x):
    z = np.zeros(len(x) + 1)
    for i in range(len(x) - 1, -1, -1):
        z[i + 1] = x[i] * 2.0
        z[i] = x[i]
    return np.sum(z * z)


def reads_the_sum(x):
    total, z = 1.0, np.zeros_like(x)
    for i in range(len(x)):
        total += x[i]
        z[i] = total
    return np.sum(z * z)


def sums_into_what_it_reads(x):
    z = np.ones(3)
    for i in range(len(x)):
        z[1] += x[i] * z[1]
    return np.sum(z * z)


def from_the_end(x):
    z = np.zeros_like(x)
    for i in range(len(x)):
        z[i] = x[i - 1] * x[i]
    return np.sum(z * z)


def ends_early(x):
    total = 0.0
    for i in range(len(x)):
        total += x[i] ** 2
        if total > 1.0:
            break
    return total


def single_precision(x):
    z, out = x.astype(np.float32), np.zeros(len(x), np.float32)
    for i in range(len(x)):
        out[i] = z[i] * 2.0
    return np.sum(out.astype(float) * x)


UNKNOWN = {"numbers": np.arange(3.0)}


def reads_where_no_shape_is_known(x):
    y, last, still = np.zeros_like(x), 0.0, np.asarray(json.loads("[1.0, 2.0, 3.0]"), dtype=float)
    for i in range(len(x)):
        last = still[2]
        y[i] = x[i] * x[i]
    return np.sum(y) + last


def reads_what_is_not_known(x):
    y, last, still = np.zeros_like(x), 0.0, UNKNOWN[json.loads('"numbers"')]
    for i in range(len(x)):
        last = still[2]
        y[i] = x[i] * x[i]
    return np.sum(y) + last


STAY = {
    reads_where_no_shape_is_known: X, reads_what_is_not_known: X,
    reads_the_one_before: X, reads_the_next_backwards: X, reads_through_a_view: X, reads_what_one_changes: M,
    writes_twice_backwards: X, reads_the_sum: X, sums_into_what_it_reads: X, from_the_end: X, ends_early: X,
    single_precision: X,
}  # fmt: skip


@pytest.mark.parametrize("f", STAY, ids=lambda f: f.__name__)
def test_a_loop_stays(f):
    x = STAY[f]
    assert "for i in " in s2s.source(f, x)
    if f is not single_precision:
        np.testing.assert_allclose(s2s.grad(f)(x), differences(f, x), rtol=1e-6, atol=1e-7)


# --- lengths ----------------------------------------------------------------------------------------------------------


def two(x, y):
    total = np.sum(x)
    for i in range(len(x)):
        total += x[i] * y[i]
    return total


def nested(x, y):
    total = np.sum(x)
    for k in range(len(x) + 2):
        for j in range(len(y)):
            total += x[k] * y[j]
    return total


def third(x):
    z = np.zeros_like(x)
    for i in range(1, len(x) - 2):
        z[i] = x[i + 2] * x[i - 1]
    return np.sum(z * z)


def triangle(x):
    total = 0.0
    for k in range(len(x)):
        for i in range(k, len(x) - k):
            total += x[i] * x[k]
    return total


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7])
def test_any_length(n):
    x = 0.2 * np.arange(1.0, n + 1.0)
    for f in (third, triangle, valley, old_numbers, turned):
        np.testing.assert_allclose(s2s.grad(f)(x), differences(f, x), rtol=1e-6, atol=1e-6)


def test_arrays_of_other_lengths():
    np.testing.assert_allclose(s2s.grad(two)(X[:3], Y), 1.0 + Y[:3], rtol=1e-12)
    with pytest.raises(IndexError):
        s2s.grad(two)(X, Y[:3])
    np.testing.assert_array_equal(s2s.grad(nested)(X, np.zeros(0)), np.ones(6))
    with pytest.raises(IndexError):
        s2s.grad(nested)(X, Y)


# --- indices, and what a backend that compiles loops is given ---------------------------------------------------------


def from_both_ends(x):
    total, n = 0.0, x.shape[0]
    for k in range(n):
        for i in range(k):
            total += x[k - i - 1] * x[n - k + i]
    return total


def test_bounds_begin_with_what_is_added():
    text = s2s.source(from_both_ends, X)
    assert "n - k" in text and "0 - k" not in text
    found = s2s.grad(from_both_ends)(X)
    np.testing.assert_allclose(found, differences(from_both_ends, X), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(s2s.jvp(from_both_ends, (X,), (Y,))[1], found @ Y, rtol=1e-10)


def matrix(a, b):
    y = np.zeros_like(a)
    for i in range(a.shape[0]):
        y[i] = a[i] @ b
    return np.sum(y**2)


def vector(a, b):
    y = np.zeros(a.shape[0])
    for i in range(a.shape[0]):
        y[i] = a[i] @ b[0]
    return np.sum(y**2)


@pytest.mark.parametrize("f, loops", [(matrix, 0), (vector, 2)])
def test_loops_are_compiled_where_no_matrices_are_multiplied(f, loops):
    a = np.cos(np.arange(36.0)).reshape(6, 6)
    text = s2s.source(s2s.differentiable(f, backend="numba"), a, np.sin(a))
    assert text.count("    for i in ") == loops
    assert "for " not in s2s.source(f, a, np.sin(a))
