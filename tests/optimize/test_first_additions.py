"""What is added first to zeros is assigned, where nothing looks at them in between; and what is computed twice while
other arrays change is computed once."""

import numpy as np
import pytest

import s2s
from tests.helpers import differences

RNG = np.random.default_rng(29)
X, M = 0.5 * RNG.standard_normal(5), 0.5 * RNG.standard_normal((4, 4))


def in_place(x):
    """Each item is replaced by what is computed of it."""
    a = x.copy()
    for i in range(1, len(a)):
        a[i] = np.sin(a[i]) * a[i - 1]
    return np.sum(a * a)


def rows_in_place(m):
    a = m.copy()
    for i in range(len(a) - 1):
        a[i] = np.tanh(a[i]) + a[i + 1]
        a[:, 0] = a[:, 0] * 2.0
    return np.sum(a**3)


def a_part_of_the_place(m):
    """The zeros are for more than what is added first."""
    a = m.copy()
    a[1] = 3.0 * a[1, 0]
    a[:] = a[0]
    a[2:] = a[2:] * a[:2]
    return np.sum(np.sin(a))


def through_a_view(m):
    a = m.copy()
    row = a[1]
    row[:] = row * row
    a[1, :] = a[1] + row
    return np.sum(a * a)


def by_places(m):
    """Places that an array of integers names, one of them twice."""
    at = np.array([0, 2, 0])
    a = m.copy()
    a[at] = np.sin(a[at])
    a[1, 1] = a[1, 1] ** 2
    return np.sum(a * a)


def whole(m):
    a = m.copy()
    for _ in range(3):
        a[:] = np.minimum(a, a[:, 0, None] + a[0] + 0.1)
        a *= 1.1
    return np.sum(a * a)


def read_twice(m):
    """The same differences, with stores into another array between them and into their own later."""
    a, b = m.copy(), np.zeros_like(m)
    for _ in range(2):
        b[1:] = np.sin(a[1:] - a[:-1])
        b[:-1] += np.cos(a[1:] - a[:-1])
        a[1:-1] += 0.1 * b[1:-1] * (a[2:] - a[1:-1])
        b *= a[1:][0] - a[:-1][1]
    return np.sum(a * b)


def each_row(m):
    """Iterations add to rows of their own, once, and twice; others to rows that two of them have."""
    total, n = 0.0, len(m)
    for i in range(n):
        total = total + np.sum(np.tanh(m[i]) ** 2)
    for j in range(n - 1, 0, -1):
        total = total + np.sum(np.sin(m[:, j]))
    for i in range(n):
        total = total + np.sum(m[i] ** 3) * np.sum(m[i - 1])
    for i in range(-n, n):
        total = total + np.sum(np.cos(m[i]))
    return total


def one_row_each(m):
    total = 0.0
    for i in range(len(m)):
        total = total + np.sum(np.tanh(m[i]) ** 2)
    return total


def rows_in_two_loops(m):
    total = 0.0
    for _ in range(2):
        for i in range(len(m)):
            total = total + np.sum(np.tanh(m[i] * total) ** 2) + np.sum(m[i])
    return total


def from_both_ends(m):
    """Places that two iterations name, one of them from the end."""
    total = 0.0
    for i in range(-2, 3):
        total = total + np.sum(np.sin(m[i]))
    return total


def a_number_times(m):
    total = 0.0
    for i in range(len(m)):
        for _ in range(2):
            total = total + np.sum(np.sin(m[i]) * total) + m[i, 0]
    return total


def of_labels(m):
    """One item of each row; then two that may be the same, and items of all combinations of rows and columns."""
    rows = np.sin(m)
    labels = np.array([2, 0, 2, 3])
    picked = np.cos(m)[np.arange(len(m)), labels]
    both = np.tanh(m)[np.arange(len(m)), np.array([[0], [1]])] + np.exp(m)[np.arange(-2, 2), 1]
    return np.sum(rows[labels, labels] ** 2) + np.sum(picked**2) + np.sum(both**3)


def of_rows_that_change(m):
    """Numbers that count until one of them is changed, under its name, another one, and in a loop."""
    first, second, third = np.arange(4), np.arange(4), np.arange(4)
    labels, total = np.array([0, 0, 2, 3]), 0.0
    first[0] = 1
    also = second[:]
    also[0] = 1
    for _ in range(2):
        total = total + np.sum(np.sin(m)[third, labels] ** 2)
        third[0] = 1
    return total + np.sum(np.cos(m)[first, labels] ** 2) + np.sum(np.exp(m)[second, labels])


def stencil(m):
    flux = np.sin(m[1:] - m[:-1])
    return np.sum((flux[1:] - flux[:-1]) ** 2 * m[1:-1]) + np.sum(flux[0])


PROGRAMS = {
    of_labels: M, of_rows_that_change: M, stencil: M,
    each_row: M, one_row_each: M, rows_in_two_loops: M, from_both_ends: M, a_number_times: M,
    in_place: X, rows_in_place: M, a_part_of_the_place: M, through_a_view: M, by_places: M, whole: M, read_twice: M}


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_derivatives(f):
    expected = differences(f, PROGRAMS[f])
    np.testing.assert_allclose(s2s.grad(f)(PROGRAMS[f]), expected, rtol=1e-6, atol=1e-8)
    _, tangent = s2s.jvp(f, (PROGRAMS[f],), (np.ones_like(PROGRAMS[f]),))
    np.testing.assert_allclose(tangent, np.sum(expected), rtol=1e-6, atol=1e-8)


def test_the_place_is_assigned():
    text = s2s.source(whole, M).split("# reverse sweep")[1]
    assert "[:] = 0.0" not in text and "a_bar[:] = np.where(" in text


def test_a_part_of_zeros_is_assigned():
    def means(x):
        flux = np.sin(x)
        return np.sum((flux[1:] + flux[:-1]) ** 2)

    text = s2s.source(means, X)
    assert "flux_bar[:-1] = " in text and "flux_bar[1:] += " in text


def gates(x, k):
    """Three parts of the sines; ``k`` is where one of them begins."""
    h = np.sin(x)
    return np.sum(h[:k] ** 2) * (1.0 + np.sum(h[k : 2 * k] ** 3)) * (1.0 + np.sum(h[2 * k :] * 0.5))


def elements(x):
    h = np.exp(x)
    return h[0] * h[1] ** 2 + np.sum(h[2:4] ** 3) * h[4] + h[3] * h[0]


@pytest.mark.parametrize("k", [1, 2, 4, 7, 0, -1, -2, -5])
def test_parts_that_are_apart_or_not(k):
    """Bounds that count from either end, and slices that are empty."""
    x = 0.3 * np.arange(1.0, 9.0)
    np.testing.assert_allclose(s2s.grad(gates)(x, k), differences(lambda x: gates(x, k), x), rtol=1e-6, atol=1e-8)


def test_parts_that_are_apart_are_assigned():
    def of_a_length(x, w):
        h, n = np.sin(x), len(w)
        return np.sum(h[:, :n] * h[:, n : 2 * n]) + np.sum(h[:, 2 * n : 3 * n] ** 2) + np.sum(np.cos(h[:, 3 * n :]))

    x, w = 0.1 * np.arange(24.0).reshape(2, 12), np.ones(3)
    text = s2s.source(of_a_length, x, w)
    assert text.count("h_bar[") == 4 and "+=" not in text
    np.testing.assert_allclose(
        s2s.grad(of_a_length)(x, w), differences(lambda x: of_a_length(x, w), x), rtol=1e-6, atol=1e-8)
    text = s2s.source(gates, np.ones(8), 2)
    assert "h_bar[t2:] = " in text and "h_bar[k:t2] = " in text and "h_bar[:k] += " in text
    text = s2s.source(elements, np.ones(6))
    assert "h_bar[4] = " in text and "h_bar[1] = " in text
    assert "h_bar[2:4] += " in text and "h_bar[0] += " in text
    np.testing.assert_allclose(
        s2s.grad(elements)(X), differences(elements, X), rtol=1e-6, atol=1e-8)


def test_labels_of_rows_are_no_places_that_are_named_twice():
    def loss(m, labels):
        return -np.mean(m[np.arange(len(labels)), labels])

    text = s2s.source(loss, M, np.array([2, 0, 2, 3]))
    assert "m_bar[np.arange(len(labels)), labels] = -1.0 / labels.size" in text
    assert "np.add.at" in s2s.source(lambda m, labels: np.sum(m[labels, labels]), M, np.array([2, 0, 2, 3]))


def test_a_place_of_each_iteration_is_assigned(monkeypatch):
    monkeypatch.setenv("S2S_PASSES", "-whole-loops")
    assert "m_bar[i] = " in s2s.source(one_row_each, M)
    for f in (rows_in_two_loops, from_both_ends, a_number_times):
        assert "m_bar[i] = " not in s2s.source(f, M)


def test_the_whole_is_assigned():
    def f(w, x):
        h = np.zeros(len(w))
        for t in range(len(x)):
            h = np.tanh(w @ h + x[t])
        return np.sum(h)

    x = np.ones((3, 4))
    assert "w_bar = rows.T @ columns" in s2s.source(f, M, x)
    np.testing.assert_allclose(s2s.grad(f)(M, x), differences(lambda w: f(w, x), M), rtol=1e-6, atol=1e-8)


def test_a_difference_is_computed_once():
    text = s2s.source(read_twice, M).split("# reverse sweep")[0]
    assert text.count("a[1:] - a[:-1]") == 1


def test_gradients_are_arrays_of_their_own():
    def f(a, b):
        return np.sum(np.linalg.solve(M + 3.0 * np.eye(4), a + b))

    a_bar, b_bar = s2s.grad(f, argnums=(0, 1))(X[:4], X[1:])
    assert not np.shares_memory(a_bar, b_bar)
