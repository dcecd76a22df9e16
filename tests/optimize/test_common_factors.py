"""Sums of products of matrices with a factor in common: one product in the reverse sweep. Beside differences."""

import numpy as np
import pytest

import s2s
from tests.helpers import differences

RNG = np.random.default_rng(53)
X, W = RNG.standard_normal((4, 3)), RNG.standard_normal((3, 4))


def of_columns(x, w):
    return np.sum((x.T @ x) ** 3) + np.sum(w)


def of_rows(x, w):
    return np.sum(np.sin(x @ np.transpose(x))) * np.sum(w)


def quadratic_form(x, w):
    """``x`` has two parts in each product."""
    return np.sum(x.T @ np.tanh(w.T @ w) @ x)


def of_both(x, w):
    """A common factor on the right, in a difference, and in a sum with something else."""
    a, b = np.sin(x @ w), np.cos(x @ w)
    return np.sum(a**2) - np.sum(b**3) + np.sum(x * x)


def in_steps(x, w):
    total = 0.0
    for k in range(3):
        g = x.T @ x + k * w @ x
        total += np.sum(g**2)
    return total


def read_elsewhere(x, w):
    """Products that are read twice, and one that is stretched over the rows of another one."""
    p, q = x @ w, x[:1] @ w
    return np.sum(p * q) + np.sum((p + q) ** 3) + np.sum(p @ p)


PROGRAMS = [of_columns, of_rows, quadratic_form, of_both, in_steps, read_elsewhere]


@pytest.mark.slow
@pytest.mark.grid(0.3)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("backend", ["numpy", "numba"])
def test_derivatives(f, backend):
    if backend == "numba":
        pytest.importorskip("numba")
    made = s2s.differentiable(f, backend=backend)
    x_bar, w_bar = s2s.grad(made, argnums=(0, 1))(X, W)
    expected = differences(lambda x: f(x, W), X), differences(lambda w: f(X, w), W)
    np.testing.assert_allclose(x_bar, expected[0], rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(w_bar, expected[1], rtol=1e-6, atol=1e-7)
    value, _ = s2s.value_and_grad(made)(X, W)
    np.testing.assert_allclose(value, f(X, W), rtol=1e-13)
    _, tangent = s2s.jvp(made, (X, W), (np.cos(X), np.sin(W)))
    np.testing.assert_allclose(
        tangent, np.sum(expected[0] * np.cos(X)) + np.sum(expected[1] * np.sin(W)), rtol=1e-6, atol=1e-7)


def products(f, argnums=0):
    """How many products of matrices the reverse sweep has."""
    text = s2s.source(f, X, W, argnums=argnums).split("# reverse sweep")[1]
    return "".join(line for line in text.splitlines(True) if "# L" not in line).count(" @ ")


def test_one_product_for_two():
    assert products(of_columns) == products(of_rows) == 2  # that of the primal is computed there
    text = s2s.source(of_columns, X, W)
    assert ".T)" in text and "x @ (" in text


def test_the_value_is_computed_as_it_is_written():
    def f(x, u, v):
        return np.sum(x @ u - x @ v)

    text = s2s.source(f, X, W, W, mode="value_and_grad").split("# reverse sweep")[0]
    assert text.count(" @ ") >= 2


@pytest.mark.parametrize("rows", [1, 2, 4])
def test_terms_of_other_lengths_stay(rows):
    """A product of one row is stretched in the sum: it is no term of one product."""
    def f(x, y, w):
        return np.sum((x @ w) * 2.0 + np.sin(y @ w))

    y = X[:rows] * 0.5 if rows != 2 else X * 0.5
    for k, a in enumerate((X, y, W)):
        def of_one(a, k=k):
            return f(*(a if k == i else b for i, b in enumerate((X, y, W))))

        np.testing.assert_allclose(
            s2s.grad(f, argnums=k)(X, y, W), differences(of_one, a), rtol=1e-6, atol=1e-7)


def test_factors_that_are_both_transposed():
    def f(x, y, w):
        return np.sum((x @ w + y @ w) ** 3)

    assert "(y + x).T @ " in s2s.source(f, X, np.cos(X), W, argnums=2)
    expected = differences(lambda w: f(X, np.cos(X), w), W)
    np.testing.assert_allclose(s2s.grad(f, argnums=2)(X, np.cos(X), W), expected, rtol=1e-6, atol=1e-7)
