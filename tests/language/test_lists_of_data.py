"""Lists of like items, of any length: what is known of one item, and of how many there are."""

from __future__ import annotations

import numpy as np
import pytest

import s2s


def first_of_others(arrays):
    return np.sum(arrays[0] * arrays[1]) + np.sum(arrays[2] ** 2 * arrays[1])


def neighbours(arrays):
    total = 0.0
    for a, b in zip(arrays, arrays[1:], strict=False):
        total += np.sum(a * b * b)
    return total


def carried(arrays):
    total, before = 0.0, arrays[0]
    for a in arrays:
        total = total + np.sum(a * before)
        before = a
    return total


def unpacked(arrays):
    a, b, *rest = arrays
    return np.sum(a * b) + np.sum(rest[0] * b)


def stacked(arrays):
    return np.sum(np.stack(arrays[:1]) * np.stack(arrays[1:2]) ** 2) + 0.0 * np.sum(arrays[2])


def products_of_parts(x, n):
    parts = []
    for i in range(n):
        parts.append(x[: i + 1] ** 2)
    return np.sum(parts[0] * parts[n - 1])


def pairs_of_parts(x, n):
    parts, total = [], 0.0
    for i in range(n):
        parts.append(x[: i + 1] ** 2)
    for a in parts:
        for b in parts[:1]:
            total = total + np.sum(a * b)
    return total


def ragged(count):
    rng = np.random.default_rng(count)
    return [rng.normal(size=3 if k != 1 else 1) for k in range(count)]


def differences(f, arrays):
    found = [np.zeros_like(a) for a in arrays]
    for a, d in zip(arrays, found, strict=True):
        for k in range(a.size):
            before = a[k]
            a[k] = before + 1e-6
            above = f(arrays)
            a[k] = before - 1e-6
            d[k] = (above - f(arrays)) / 2e-6
            a[k] = before
    return found


@pytest.mark.parametrize("count", [3, 7, 70])
@pytest.mark.parametrize("f", [first_of_others, neighbours, carried, unpacked, stacked], ids=lambda f: f.__name__)
def test_items_have_lengths_of_their_own(f, count):
    arrays = ragged(count)
    expected = differences(f, arrays)
    found = s2s.grad(f)(arrays)
    assert type(found) is list and [a.shape for a in found] == [a.shape for a in arrays]
    tangents = ragged(count)
    _, out_dot = s2s.jvp(f, (arrays,), (tangents,))
    np.testing.assert_allclose(out_dot, sum(np.sum(e * t) for e, t in zip(expected, tangents, strict=True)), rtol=1e-6)
    for a, e in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, e, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("f", [products_of_parts, pairs_of_parts], ids=lambda f: f.__name__)
def test_parts_of_other_lengths_put_into_a_list(f):
    x = np.array([0.7, 2.0, -1.3, 0.4])
    expected = [(f(x + 1e-6 * e, 4) - f(x - 1e-6 * e, 4)) / 2e-6 for e in np.eye(4)]
    np.testing.assert_allclose(s2s.grad(f)(x, 4), expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(s2s.jacfwd(f)(x, 4), expected, rtol=1e-6, atol=1e-8)
    second = [(s2s.grad(f)(x + 1e-6 * e, 4) - s2s.grad(f)(x - 1e-6 * e, 4)) / 2e-6 for e in np.eye(4)]
    np.testing.assert_allclose(s2s.hessian(f)(x, 4), second, rtol=1e-6, atol=1e-7)
