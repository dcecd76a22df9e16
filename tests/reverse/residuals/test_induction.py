"""Induction variables: computed from the item of the loop in the reverse sweep, by the source; gradients by
a complex step."""

import numpy as np
import pytest

import s2s


def slope(f):
    """The derivative at 0.7, to the last digits."""
    return pytest.approx(f(0.7 + 1e-30j, 4, 1).imag / 1e-30, rel=1e-12)


def from_zero(x, n, a):
    y, k = x, 1
    for i in range(n):
        y = y * np.sin(k * y)
        k = k + 2
    return y


def from_one(x, n, a):
    y, k = x, 1
    for i in range(1, n):
        y = y * np.sin(k * y)
        k = k + 2
    return y


def from_a_variable(x, n, a):
    y, k = x, 0
    for i in range(a, n):
        y = y * np.sin(k * y + 1.0)
        k = k + 1
    return y


def backwards(x, n, a):
    y, k = x, 3
    for i in range(n, a, -1):
        y = y * np.sin(k * y)
        k = k - 1
    return y


def in_steps(x, n, a):
    y, k = x, 1
    for i in range(a, 2 * n, 2):
        y = y * np.sin(k * y)
        k = a + k
    return y


def down_in_steps(x, n, a):
    y, k = x, 1
    for i in range(2 * n, a, -3):
        y = y * np.sin(k * y)
        k = k + 1 + 1
    return y


def until(x, n, a):
    y, k = x, 4
    while k < 3 * n:
        y = y * np.sin(k * y)
        k = k + 3
    return y


def by_an_inner_loop(x, n, a):
    y, k = x, 1
    for i in range(n):
        y = y * np.sin(k * y)
        for j in range(2):
            k = k + 2
    return y


@pytest.mark.parametrize(
    "f, formula",
    [
        (from_zero, "k = 1 + 2 * i\n"), (from_one, "k = 1 + 2 * (i - 1)\n"), (from_a_variable, "k = i - a\n"),
        (backwards, "k = 3 + -1 * (n - i)\n"), (in_steps, "k = 1 + a * ((i - a) // 2)\n"),
        (down_in_steps, "k = 1 + 2 * ((i - t0) // -3)\n"), (until, "k = 4 + 3 * i\n"),
        (by_an_inner_loop, "k = 1 + 4 * i"),
    ],
    ids=lambda given: getattr(given, "__name__", ""),
)  # fmt: skip
def test_the_formula_of_an_induction_variable(f, formula):
    assert s2s.grad(f)(0.7, 4, 1) == slope(f)
    text = s2s.source(f, 0.7, 4, 1)
    assert formula in text.partition("# reverse sweep")[2] and "saved_k" not in text, text


def grown_by_a_float(x, n, a):
    y, k = x, 0.1
    for i in range(n):
        y = y * np.sin(k * y)
        k = k + 0.1
    return y


def by_two_amounts(x, n, a):
    y, k = x, 1
    for i in range(n):
        y = y * np.sin(k * y)
        k = k + a + n
    return y


def multiplied(x, n, a):
    y, k = x, 1
    for i in range(n):
        y = y * np.sin(k * y)
        k = 2 * k
    return y


def by_the_item(x, n, a):
    y, k = x, 1
    for i in range(n):
        y = y * np.sin(k * y)
        k = k + i
    return y


@pytest.mark.parametrize("f", [grown_by_a_float, by_two_amounts, multiplied, by_the_item], ids=lambda f: f.__name__)
def test_what_does_not_grow_by_one_amount_is_kept(f):
    assert s2s.grad(f)(0.7, 4, 1) == slope(f)
    assert "saved_k" in s2s.source(f, 0.7, 4, 1)
