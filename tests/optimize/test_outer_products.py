"""Outer products that loops add to matrices: one product of matrices after the loop, where nothing looks at the matrix
in between."""

import numpy as np
import pytest

import s2s
from tests.helpers import differences

RNG = np.random.default_rng(23)
W, U = RNG.standard_normal((4, 4)), RNG.standard_normal((4, 3))
X, D = RNG.standard_normal((5, 3)), RNG.standard_normal((6, 4))


def recurrent(w, u, x):
    h = np.zeros(w.shape[0])
    for t in range(x.shape[0]):
        h = np.tanh(w @ h + u @ x[t])
    return np.sum(h * h)


def from_the_end(w, u, x):
    h = np.ones(w.shape[0])
    for t in range(x.shape[0] - 1, -1, -1):
        h = np.tanh(w @ h - u @ x[t])
    return np.sum(h)


def from_one(w, u, x):
    h = np.ones(w.shape[0])
    for t in range(1, x.shape[0]):
        h = np.sin(w @ h + u @ x[t])
    return np.sum(h)


def ends_early(w, u, x):
    h = np.ones(w.shape[0])
    for t in range(x.shape[0]):
        h = np.tanh(w @ h + u @ x[t])
        if h[0] * h[0] < 0.1 * t:
            break
    return np.sum(h)


def in_two_loops(w, u, x):
    h, total = np.ones(w.shape[0]), 0.0
    for t in range(x.shape[0]):
        for _ in range(t - 1):
            h = np.tanh(w @ h)
        total = total + np.sum((u @ x[t]) * h)
    return total


def rows_of_parts(d):
    """Each product goes to a part of the matrix, as in covariances."""
    m = d.shape[1]
    found = np.zeros((m, m))
    for i in range(m):
        found[i, i:m] = np.tanh(d[:, i] @ d[:, i:m])
    return np.sum(found * found)


def in_place(d, c):
    """The rows of an array, in a loop in a loop; both gradients are returned."""
    a = np.stack([d, np.sin(d)])
    for r in range(a.shape[0]):
        for q in range(a.shape[1]):
            a[r, q] = np.tanh(a[r, q] @ c)
    return np.sum(a * a)


def changes_between(d):
    """The vector of the product changes after it."""
    v, total = d[0].copy(), 0.0
    for i in range(d.shape[0]):
        total = total + np.sum(np.sin(d @ v))
        v *= 0.5
        v[0] = d[i, 1]
    return total


def read_between(d):
    """Each iteration changes rows of the matrix that the one before it has read."""
    a = d.copy()
    for i in range(d.shape[0] - 1):
        a[i + 1] = np.tanh(a @ a[i])[0] * a[i + 1]
    return np.sum(a * a)


PROGRAMS = {
    recurrent: (W, U, X), from_the_end: (W, U, X), from_one: (W, U, X), ends_early: (W, U, X), in_two_loops: (W, U, X),
    in_place: (D, W), rows_of_parts: (D,), changes_between: (D,), read_between: (D,),
}
COLLECTED = (recurrent, from_the_end, from_one, rows_of_parts, in_place)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_derivatives(f):
    args = PROGRAMS[f]
    for k, arg in enumerate(args):
        expected = differences(lambda x, k=k: f(*args[:k], x, *args[k + 1 :]), arg)
        np.testing.assert_allclose(s2s.grad(f, argnums=k)(*args), expected, rtol=1e-6, atol=1e-8)
        tangents = tuple(np.ones_like(a) if i == k else np.zeros_like(a) for i, a in enumerate(args))
        np.testing.assert_allclose(s2s.jvp(f, args, tangents)[1], np.sum(expected), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("f", COLLECTED, ids=lambda f: f.__name__)
def test_no_outer_product_is_left(f):
    text = s2s.source(f, *PROGRAMS[f], argnums=tuple(range(len(PROGRAMS[f])))).split("# reverse sweep")[1]
    assert ".T @ " in text or "@ columns" in text
    assert "np.outer(" not in text and "[..., None]" not in text


def test_without_iterations():
    assert not s2s.grad(recurrent)(W, U, np.zeros((0, 3))).any()
    assert not s2s.grad(from_one)(W, U, np.zeros((0, 3))).any()
    assert s2s.grad(rows_of_parts)(np.zeros((0, 4))).shape == (0, 4)


def test_the_precision_of_the_matrix_is_kept():
    w, u, x = W.astype(np.float32), U.astype(np.float32), X.astype(np.float32)
    made = s2s.grad(recurrent)(w, u, x)
    assert made.dtype == np.float32
    np.testing.assert_allclose(made, differences(lambda w: recurrent(w, U, X), W), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("f", [recurrent, rows_of_parts], ids=lambda f: f.__name__)
def test_second_derivatives(f):
    args = PROGRAMS[f]
    first = s2s.grad(f)
    made = s2s.grad(lambda a: np.sum(np.cos(first(a, *args[1:]))))(args[0])
    expected = differences(lambda a: np.sum(np.cos(first(a, *args[1:]))), args[0])
    np.testing.assert_allclose(made, expected, rtol=1e-5, atol=1e-7)


def sparing(w, u, x):
    h = np.zeros(w.shape[0])
    for t in s2s.checkpointed(range(x.shape[0]), 2):
        h = np.tanh(w @ h + u @ x[t])
    return np.sum(h * h)


def test_loops_that_keep_some_states_collect_no_rows():
    assert "rows" in s2s.source(recurrent, W, U, X) and "rows" not in s2s.source(sparing, W, U, X)
    for mine, plain in zip(s2s.grad(sparing, (0, 1))(W, U, X), s2s.grad(recurrent, (0, 1))(W, U, X)):
        np.testing.assert_allclose(mine, plain, rtol=1e-12)
