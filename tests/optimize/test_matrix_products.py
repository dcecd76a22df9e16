"""Products of one matrix with the vectors of a loop: one product of matrices after the loop, where every iteration adds
to a row or column of its own."""

import numpy as np
import pytest

import s2s
from tests.helpers import differences

RNG = np.random.default_rng(29)
W, X, D = RNG.standard_normal((4, 3)), RNG.standard_normal((5, 3)), RNG.standard_normal((6, 4))


def rows_of_a_layer(w, x):
    out = np.zeros((x.shape[0], w.shape[0]))
    for i in range(x.shape[0]):
        out[i] = np.tanh(w @ x[i])
    return np.sum(out * out)


def columns_from_the_end(w, x):
    total, x = 0.0, np.sin(x)
    for i in range(x.shape[0] - 1, -1, -1):
        total += np.sum(np.tanh(x[i] @ w.T) ** 2)
    return total


def triangle(d):
    """Each row is multiplied with a part of the matrix; the last columns are left out."""
    m = d.shape[1] - 1
    found = np.eye(m)
    for i in range(m):
        found[i, i:m] = np.sin(d[:, i] @ d[:, i:m])
    return np.sum(found * found)


def from_one(w, x):
    total = 0.0
    for i in range(1, x.shape[0]):
        total += np.sum(np.sin(w @ x[i]) * (i + 1.0))
    return total


def subtracted(w, x):
    total = 0.0
    for i in range(x.shape[0]):
        total -= np.sum(np.exp(-(w @ x[i])))
    return total


def ends_early(w, x):
    total = 0.0
    for i in range(x.shape[0] + 2):
        if i == x.shape[0]:
            break
        total = total + np.sum(np.tanh(w @ x[i]))
    return total


def changing_matrix(w, x):
    w, total = w.copy(), 0.0
    for i in range(x.shape[0]):
        total += np.sum(np.sin(w @ x[i]))
        w[0] = x[i]
    return total


def recurrence(w, x):
    """Each iteration reads what the one before has added to."""
    x = np.sin(x)
    for i in range(1, x.shape[0]):
        x[i] = np.tanh(w[:3] @ x[i - 1]) + x[i]
    return np.sum(x * x)


def same_row_again(w, x):
    total = 0.0
    for i in range(x.shape[0]):
        for k in range(2):
            total += np.sum(np.sin(w @ x[i]) * (k + 1.0))
    return total


PROGRAMS = {
    rows_of_a_layer: (W, X), columns_from_the_end: (W, X), triangle: (D,), from_one: (W, X), subtracted: (W, X),
    ends_early: (W, X), changing_matrix: (W, X), recurrence: (W, X), same_row_again: (W, X),
}
COLLECTED = {
    rows_of_a_layer: "rows @ w", columns_from_the_end: "rows @ w", triangle: "@ columns.T", from_one: "rows @ w",
    subtracted: "rows @ w",
}


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_derivatives(f):
    args = PROGRAMS[f]
    both = s2s.grad(f, argnums=tuple(range(len(args))))(*args)
    for k, arg in enumerate(args):
        expected = differences(lambda x, k=k: f(*args[:k], x, *args[k + 1 :]), arg)
        np.testing.assert_allclose(s2s.grad(f, argnums=k)(*args), expected, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(both[k], expected, rtol=1e-6, atol=1e-8)
        tangents = tuple(np.ones_like(a) if i == k else np.zeros_like(a) for i, a in enumerate(args))
        np.testing.assert_allclose(s2s.jvp(f, args, tangents)[1], np.sum(expected), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("f", COLLECTED, ids=lambda f: f.__name__)
def test_one_product_after_the_loop(f, monkeypatch):
    monkeypatch.setenv("S2S_PASSES", "-whole-loops")
    text = s2s.source(f, *PROGRAMS[f], argnums=len(PROGRAMS[f]) - 1)
    assert COLLECTED[f] in text, text


def test_second_derivatives():
    of_rows, of_triangle = s2s.grad(rows_of_a_layer, argnums=1), s2s.grad(triangle)
    for turned, x in ((lambda x: np.sum(np.cos(of_rows(W, x))), X), (lambda d: np.sum(np.cos(of_triangle(d))), D)):
        np.testing.assert_allclose(s2s.grad(turned)(x), differences(turned, x), rtol=1e-5, atol=1e-7)


def test_without_iterations():
    assert s2s.grad(rows_of_a_layer, argnums=1)(W, np.zeros((0, 3))).shape == (0, 3)
    assert s2s.grad(triangle)(np.ones((0, 3))).shape == (0, 3)


def test_the_precision_is_kept():
    w, x = W.astype(np.float32), X.astype(np.float32)
    for k in (0, 1):
        made = s2s.grad(columns_from_the_end, argnums=k)(w, x)
        assert made.dtype == np.float32
        args = (W, X)
        expected = differences(lambda a, k=k: columns_from_the_end(*args[:k], a, *args[k + 1 :]), args[k])
        np.testing.assert_allclose(made, expected, rtol=1e-4, atol=1e-5)
