"""Passive arrays that change while the reverse sweep still needs what they held: by helpers, by functions without
source, by calls that cannot be looked into."""

from __future__ import annotations

import numpy as np
import pytest

import s2s

X = np.array([1.0, 2.0, 3.0])


def fill(w, k):
    w[k] = k + 1.0


def changed_by_a_helper(x):
    w, total = np.zeros(3), 0.0
    for k in range(3):
        fill(w, k)
        total += np.sum(w * x * x)
    return total


def changed_in_place(x):
    w, total = np.ones(3), 0.0
    for k in range(3):
        w *= k + 1.0
        w[k] -= 0.5
        total += np.sum(w * x * x)
    return total


def shuffled(x, w):
    total = 0.0
    for k in range(3):
        np.random.seed(k)
        np.random.shuffle(w)
        total += np.sum(w * x * x)
    return total


def double_unseen(w):
    exec("w *= 2.0")


def changed_by_what_cannot_be_read(x, w):
    total = 0.0
    for _ in range(3):
        double_unseen(w)
        total += np.sum(w * x * x)
    return total


def indices_that_change(x):
    order, total = np.arange(3), 0.0
    for _ in range(3):
        order[:] = (order + 1) % 3
        y = x[order] * np.arange(3.0)
        total += np.sum(y * y)
    return total


CASES = [
    (changed_by_a_helper, ()), (changed_in_place, ()), (shuffled, (np.arange(3.0),)),
    (changed_by_what_cannot_be_read, (np.arange(3.0),)), (indices_that_change, ()),
]


@pytest.mark.parametrize("f, passive", CASES, ids=[f.__name__ for f, _ in CASES])
def test_the_reverse_sweep_reads_what_was_there(f, passive):
    def at(x):
        return f(x, *(w.copy() for w in passive))

    step = 1e-5
    expected = [(at(X + step * e) - at(X - step * e)) / (2 * step) for e in np.eye(3)]
    given = [w.copy() for w in passive]
    np.testing.assert_allclose(s2s.grad(f)(X, *given), expected, rtol=1e-7)
    np.testing.assert_allclose(s2s.grad(f)(X, *given), expected, rtol=1e-7)
    for w, before in zip(given, passive, strict=True):
        np.testing.assert_array_equal(w, before)


# --- truth values -----------------------------------------------------------------------------------------------------


def filled_like(x):
    m = np.full_like(x, False, dtype=bool)
    for i in range(len(x)):
        m[i] = x[i] > 1.5
    return np.sum(x[m] ** 3)


def compared_into(x):
    m = np.full_like(x, False, dtype=bool)
    np.greater_equal(x, 1.5, where=~np.isnan(x), out=m)
    return np.sum(np.where(m, x**3, x * x))


def filled_with_a_value(x):
    m = np.full(3, x[0], dtype=bool)
    m[1] = False
    return np.sum(np.where(m, x * x, x))


@pytest.mark.parametrize(("f", "expected"), [
    (filled_like, [0.0, 12.0, 27.0]), (compared_into, [2.0, 12.0, 27.0]), (filled_with_a_value, [2.0, 1.0, 6.0]),
])
@pytest.mark.parametrize("mode", [s2s.grad, s2s.jacfwd])
def test_truth_values_have_no_derivative_whatever_they_are_made_of(f, expected, mode, monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "0")
    np.testing.assert_allclose(mode(f)(X), expected, rtol=1e-12)
