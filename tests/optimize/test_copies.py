"""Copies go of arrays that nothing reads after them, and of which there is no view."""

import numpy as np
import pytest

import s2s
from tests.helpers import differences

RNG = np.random.default_rng(37)
M = 0.5 * RNG.standard_normal((4, 4))


def added_to_the_diagonal(m):
    trace = 0.0
    for i in range(len(m)):
        trace += np.tanh(m[i, i])
    return np.sum((m + trace) ** 2 * np.cos(m[0]))


def read_after_the_copy(m):
    a = m + np.sum(m[0])
    b = a.copy()
    b[0] *= 2.0
    a[1] += b[0]
    return np.sum(a * b)


def with_a_view(m):
    a = np.sin(m)
    row = a[0]
    b = a.copy()
    b[0] = 3.0 * b[1]
    return np.sum(b * row)


def copies_of_copies(m):
    a = m * m
    b = a.copy() + np.sum(a)
    c = b.copy()
    c[1:] += b[0]
    d = c.copy()
    d[0] = np.sin(c[1])
    return np.sum(d * d)


def copies_of_an_argument(m):
    b = m.copy()
    total = np.sum(b * b)
    c = b.copy()
    c[0] = total * c[1]
    return np.sum(c * m)


def in_a_loop(m):
    a, total = np.cos(m), 0.0
    for i in range(3):
        b = a.copy()
        b[i] = b[i] * m[i]
        total = total + np.sum(b * b)
    return total


def only_read(m):
    a = m.copy()
    return np.sum(np.sin(a) * a)


def changed_after_the_copy(m):
    a = m * 1.0
    b = a.copy()
    a[0] = a[1] * a[2]
    return np.sum(np.sin(b) * a)


def seen_by_a_view(m):
    a = m.copy()
    row = a.T[0]
    row *= 2.0
    return np.sum(a * m)


def in_a_branch(m):
    a = m * np.sum(m)
    b = np.cos(a)
    if a[0, 0] < 10.0:
        c = b.copy()
        c[0] = a[1]
    else:
        c = b.copy()
        c[1] = 2.0
    return np.sum(a * c * c)


@pytest.mark.parametrize(
    "f", [added_to_the_diagonal, read_after_the_copy, with_a_view, copies_of_copies, copies_of_an_argument, in_a_loop,
          in_a_branch, only_read, changed_after_the_copy, seen_by_a_view], ids=lambda f: f.__name__)
def test_gradients(f):
    expected = differences(f, M)
    np.testing.assert_allclose(s2s.grad(f)(M), expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(s2s.jvp(f, (M,), (np.cos(M),))[1], np.sum(expected * np.cos(M)), rtol=1e-6, atol=1e-8)
    step, v = 1e-5, np.cos(M)
    curved = (s2s.grad(f)(M + step * v) - s2s.grad(f)(M - step * v)) / (2 * step)
    np.testing.assert_allclose(s2s.hvp(f)(M, v), curved, rtol=1e-5, atol=1e-6)


def test_what_is_added_to_later_is_no_copy(monkeypatch):
    monkeypatch.setenv("S2S_PASSES", "-whole-loops")
    assert "np.copy" not in s2s.source(added_to_the_diagonal, M)
    assert ".copy(" not in s2s.source(only_read, M) and ".copy(" in s2s.source(changed_after_the_copy, M)

