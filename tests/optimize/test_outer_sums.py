"""Numbers scale the vectors of products with a matrix in place of the matrix, and sums of outer products are one
product of matrices: the same numbers but for rounding, and the value to the last bit where it is asked for."""

import numpy as np
import pytest

import s2s
from tests.helpers import differences

RNG = np.random.default_rng(41)
A, B = RNG.standard_normal((4, 3)), RNG.standard_normal((4, 3))
X, Y, Z = RNG.standard_normal(3), RNG.standard_normal(4), RNG.standard_normal(4)


def two_products(a, b, x):
    return np.sum((1.5 * a @ x + b * np.sum(x) @ x) ** 2)


def turned(a, y, s):
    t = s * a
    return np.sum(np.sin(t.T @ y)) + np.sum(y @ t)


def seen_as_a_matrix(a, x):
    t = 2.0 * a
    return np.sum((t @ x) ** 2) + np.sum(t * a)


def of_columns(a, x):
    t = a * 3.0
    return np.sum((t @ x[:, None]) ** 3)


def two_updates(a, x, y, z):
    a = a + np.outer(y, x) + np.outer(z, np.cos(x))
    return np.sum((y @ a) ** 2) + z @ a @ x


def three_terms(a, x, y, z):
    t = np.outer(y, x) + 2.0 * np.outer(z, x * x) + np.outer(y * z, x)
    return np.sum((t @ x) * y) + np.sum(t * a)


def the_same_twice(a, x, y):
    t = np.outer(y, x)
    return np.sum((a + (t + t)) ** 2)


def of_one_row(y, x):
    """What is added is broadcast: no two outer products of the same size."""
    return np.sum((np.outer(y[:1], x) + np.outer(y, x)) ** 2)


def in_a_loop(a, x, y):
    for i in range(3):
        a = a + np.outer(y, x) * 0.5 + np.outer(y * y, np.sin(x) + i)
        x = x + 0.1 * (0.7 * a).T @ y
    return np.sum(a * a) + np.sum(x)


def matrix_that_changes(a, x):
    a = a.copy()
    t = 2.0 * a
    a[0] = 5.0 * x
    return np.sum((t @ x) ** 2) + np.sum((a @ x) ** 2)


def carried(a, x):
    t = 1.0 * a
    for _ in range(2):
        x = x + np.sum(t @ x) * 0.01
        t = 2.0 * t
    return np.sum(t @ x)


CASES = [
    (two_products, (A, B, X)), (turned, (A, Y, 1.7)), (seen_as_a_matrix, (A, X)), (of_columns, (A, X)),
    (two_updates, (A, X, Y, Z)), (two_updates, (A[:1], X, Y[:1], Z[:1])), (two_updates, (A[:, :1], X[:1], Y, Z)),
    (three_terms, (A, X, Y, Z)), (the_same_twice, (A, X, Y)), (of_one_row, (Y, X)), (in_a_loop, (A, X, Y)),
    (matrix_that_changes, (A, X)), (carried, (A, X)), (two_updates, (A[:0], X, Y[:0], Z[:0])),
]


@pytest.mark.parametrize(("f", "args"), CASES, ids=lambda v: getattr(v, "__name__", ""))
def test_gradients(f, args):
    places = range(len(args))
    for k, found in zip(places, s2s.grad(f, argnums=tuple(places))(*args), strict=True):
        expected = differences(lambda v, k=k: f(*args[:k], v, *args[k + 1 :]), np.asarray(args[k]))
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)
    value, _ = s2s.value_and_grad(f, argnums=tuple(places))(*args)
    assert value == f(*args)


def test_curvature():
    v, step = np.cos(X), 1e-5
    for f in (lambda x: two_updates(A, x, Y, Z), lambda x: in_a_loop(A, x, Y)):
        curved = (s2s.grad(f)(X + step * v) - s2s.grad(f)(X - step * v)) / (2 * step)
        np.testing.assert_allclose(s2s.hvp(f)(X, v), curved, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("s", [1.5, np.float32(1.5), np.float64(1.5), 2], ids=lambda s: type(s).__name__)
def test_single_precision_stays_what_it_is(s):
    a, x, y = A.astype(np.float32), X.astype(np.float32), Y.astype(np.float32)

    def f(a, x, y, s):
        return np.sum((s * a @ x + y) ** 2) + np.sum((np.outer(y, x) * s + np.outer(y, x * x)) ** 2)

    found = s2s.grad(f)(a, x, y, s)
    wide = s2s.grad(f)(*(v.astype(float) for v in (a, x, y)), s)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, wide, rtol=1e-4)


def test_a_number_is_on_the_vector_and_two_updates_are_one_product():
    source = s2s.source(two_products, A, B, X)
    assert "1.5 * (a @ x)" in source
    source = s2s.source(two_updates, A, X, Y, Z)
    assert ".T @ np.array((" in source
    assert ".T @ np.array((" not in s2s.source(of_one_row, Y, X)
