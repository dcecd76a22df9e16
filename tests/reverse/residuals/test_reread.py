"""Numbers that the reverse sweep reads again from the array that holds them: where no store changes their place, and
only there. Gradients against central differences and forward mode, what is kept by the generated source.
"""

import re

import numpy as np
import pytest

import s2s

X = np.array([0.35, 0.7, 1.1, 0.5, 0.8])


# --- nothing overwrites what was read -------------------------------------------------------------------------------


def shortest_path(x, n):
    cost = np.full((n + 1, n + 1), 9.0)
    cost[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, n + 1):
            step = (x[i - 1] - 0.9 * x[n - j]) ** 2
            cost[i, j] = step + min(cost[i - 1, j - 1], cost[i - 1, j] * 1.1, cost[i, j - 1])
    return cost[n, n]


def from_the_diagonal(x, n):
    best = np.outer(x, np.cos(x))
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            s = best[i, j - 1] * best[i + 1, j]
            for k in range(i + 1, j):
                s = s + best[i, k] * best[k, j]
            best[i, j] = np.sin(s)
    return np.sum(best)


def by_rows(x, n):
    a = np.outer(x, x)
    for i in range(1, n):
        row = a[i]
        for j in range(1, n):
            row[j] = np.sin(a[i - 1, j - 1]) * row[j - 1]
    return np.sum(a)


def of_every_second_place(x, n):
    a = np.concatenate((x, x))
    for i in range(n):
        a[2 * i + 1] = np.sin(a[2 * i] * x[i])
    return np.sum(a * a)


def in_a_half(x, n):
    a = np.concatenate((x, x))
    for i in range(n // 2):
        for j in range(n // 2, n):
            a[j] = np.sin(a[i]) * x[i] + 0.5 * x[j]
    return np.sum(a * a)


def where_a_branch_says_so(x, n):
    a = np.outer(x, np.cos(x))
    for i in range(n):
        for j in range(n):
            if j > i:
                t = a[j, i]
                a[i, j] = np.sin(t) * t
    return np.sum(a * a)


def in_its_own_array(x, n):
    total = 0.0
    for i in range(n):
        w = np.zeros(3)
        w[0] = x[i]
        for k in range(1, 3):
            w[k] = np.sin(w[k - 1]) * x[i]
        total = total + w[2] * w[2]
    return total


def factors(x, n):
    """A Cholesky factorisation in place, of which nothing is kept."""
    a = np.outer(x, x) * 0.2 + np.diag(1.0 + x)
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[j, k]
            a[i, j] /= a[j, j]
        for k in range(i):
            a[i, i] -= a[i, k] * a[i, k]
        a[i, i] = np.sqrt(a[i, i])
    return np.sum(np.tril(a) ** 2)


def factors_by_slices(x, n):
    a = np.outer(x, np.cos(x)) * 0.2 + np.diag(1.0 + x)
    for k in range(n - 1):
        a[k + 1 :, k] /= a[k, k]
        for i in range(k + 1, n):
            a[i, k + 1 :] -= a[i, k] * a[k, k + 1 :]
    return np.sum(a * a)


KEPT = {
    shortest_path: 0, from_the_diagonal: 1, by_rows: 1, of_every_second_place: 0, in_a_half: 1,
    where_a_branch_says_so: 1, factors: 0, factors_by_slices: 0,
}
"""How many lists and arrays are filled: with sines, and with a sum that is no item of an array."""


# --- something does -------------------------------------------------------------------------------------------------


def later_in_the_same_iteration(x, n):
    a = x.copy()
    for i in range(n):
        t = a[i]
        a[i] = np.sin(t) * t
    return np.sum(a * a)


def in_a_later_iteration(x, n):
    a = x.copy()
    for i in range(n - 1):
        a[i] = np.sin(a[i + 1]) * a[i + 1]
    return np.sum(a * a)


def the_other_way_round(x, n):
    a = x.copy()
    for i in range(n - 1, 0, -1):
        a[i] = np.sin(a[i - 1]) * a[i - 1]
    return np.sum(a * a)


def from_the_end(x, n):
    """``a[i - 2]`` is the last place but one in the first iteration, and stored into later on."""
    a = x.copy()
    for i in range(n):
        a[i] = np.sin(a[i - 2]) * a[i - 2]
    return np.sum(a * a)


def in_the_iterations_of_a_loop_around(x, n):
    a = x.copy()
    for _ in range(3):
        for i in range(1, n):
            a[i] = np.sin(a[i - 1]) * a[i - 1]
    return np.sum(a * a)


def after_the_loop(x, n):
    a, s = x.copy(), 0.0
    for i in range(n):
        s = s + np.sin(a[i]) * a[i]
    a[n // 2] = s * s
    return np.sum(a * a)


def through_a_view(x, n):
    a = x.copy()
    inner = a[1:]
    for i in range(1, n - 1):
        inner[i] = np.sin(a[i]) * a[i]
    return np.sum(a * a)


def through_the_same_row_of_a_list(x, n):
    rows = [x * 1.0, x * 2.0]
    s = 0.0
    for k in range(n):
        row = rows[k % 2]
        part = row[:2]
        s = s + np.sum(part * part) + row[1] * row[0]
        row[1] = np.sin(row[1]) * row[0]
    return s


def on_the_other_side_of_the_diagonal(x, n):
    a = np.outer(x, np.cos(x))
    for i in range(n):
        for j in range(n):
            if i != j:
                a[i, j] = np.sin(a[j, i]) * a[j, i]
    return np.sum(a * a)


def one_of_two_arrays(x, n):
    a, b = x.copy(), np.cos(x)
    for i in range(1, n):
        c = a if i % 2 else b
        c[i] = np.sin(a[i - 1]) * b[i - 1]
        a, b = b, a
    return np.sum(a * b)


def until_it_is_large(x, n):
    a, i = x.copy(), 0
    while a[i] < 4.0 and i < 2 * n:
        a[(i + 1) % n] = np.exp(0.5 * a[i % n]) * a[i % n]
        i = (i + 1) % n
    return np.sum(a)


def left_early(x, n):
    a = x.copy()
    for i in range(1, n):
        a[i] = np.sin(a[i - 1]) * a[i - 1] + 0.2
        if a[i] < 0.25:
            a[i - 1] = a[i] * a[i]
            break
        if a[i - 1] < 0.3:
            continue
        a[0] = a[0] * a[i]
    return np.sum(a * a)


def divided_twice(x, n):
    a = x.copy()
    for i in range(1, n):
        a[i] /= 1.0 + a[i - 1]
        a[i] *= a[i - 1]
        a[i - 1] /= a[i] + 2.0
    return np.sum(a * a)


def raised_to_what_it_was(x, n):
    a = 1.0 + x
    for i in range(n):
        a[i] **= a[n - 1 - i] * 0.5
    return np.sum(a * a)


def divided_as_a_whole(x, n):
    a = 1.0 + x
    for i in range(n):
        a /= 1.0 + a[i]
        a[1:] /= a[:-1] + x[i]
        a[[0, 1]] /= x[i] * a[1]
    return np.sum(a * a)


def divided_in_place_and_read(x, n):
    a, s = 1.0 + x, 0.0
    for _ in range(2):
        for i in range(n):
            s = s + a[i] * np.sin(a[i])
            a[i] /= s + 1.0
    return s + np.sum(a)


OVERWRITTEN = (
    later_in_the_same_iteration, in_a_later_iteration, the_other_way_round, from_the_end,
    in_the_iterations_of_a_loop_around, after_the_loop, through_a_view, through_the_same_row_of_a_list,
    on_the_other_side_of_the_diagonal, one_of_two_arrays, until_it_is_large, left_early, divided_twice,
    raised_to_what_it_was, divided_as_a_whole, divided_in_place_and_read,
)


# --- tests ----------------------------------------------------------------------------------------------------------


FIRST_ORDER = (through_the_same_row_of_a_list, one_of_two_arrays)
"""The adjoints of their arrays are found by memory, which is not differentiated again."""


@pytest.mark.parametrize("f", KEPT, ids=lambda f: f.__name__)
def test_what_is_still_there_is_not_kept(f):
    assert len(set(re.findall(r"\bsaved\w*", s2s.source(f, X, 5)))) == KEPT[f]


@pytest.mark.grid(0.15)
@pytest.mark.parametrize("f", [*KEPT, in_its_own_array, *OVERWRITTEN], ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [5, 3, 2])
def test_gradients(f, n):
    x, along = X[:n], np.cos(np.arange(n))
    expected = np.array([(f(x + e, n) - f(x - e, n)) / 2e-6 for e in 1e-6 * np.eye(n)])
    found = s2s.grad(f)(x, n)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(s2s.jacfwd(f)(x, n), found, rtol=1e-12, atol=1e-13)
    _, pullback = s2s.vjp(f, x, n)
    for _ in range(2):  # a pullback may be called twice
        np.testing.assert_allclose(pullback(1.0)[0], found, rtol=1e-13)
    if f in FIRST_ORDER:
        return
    second = (s2s.grad(f)(x + 1e-6 * along, n) - s2s.grad(f)(x - 1e-6 * along, n)) / 2e-6
    np.testing.assert_allclose(s2s.hvp(f, (x, n), (along, None)), second, rtol=1e-5, atol=1e-7)
    twice = s2s.grad(lambda x: np.sum(s2s.grad(f)(x, n) * along))(x)
    np.testing.assert_allclose(twice, second, rtol=1e-5, atol=1e-7)


def test_arguments_that_are_one_array():
    def shifted(a, b, n):
        for i in range(1, n):
            a[i] = np.sin(b[i - 1]) * b[i - 1]
        return np.sum(a * a)

    for f in (lambda x: shifted(x.copy(), x, 5), lambda x: shifted(y := x.copy(), y, 5),
              lambda x: shifted((y := x.copy())[:4], y[1:], 4), lambda x: shifted((y := x.copy())[1:], y[:4], 4)):
        expected = np.array([(f(X + e) - f(X - e)) / 2e-6 for e in 1e-6 * np.eye(5)])
        np.testing.assert_allclose(s2s.grad(f)(X), expected, rtol=1e-6, atol=1e-8)


# --- items that an array is unpacked to -----------------------------------------------------------------------------


def rates(y, p):
    a, b = p
    u, v = y
    return np.array([a * u - u * v, b * u * v - v])


def by_steps(p, n):
    y = np.array([0.7, 0.9])
    for _ in range(n):
        half = y + 0.05 * rates(y, p)
        y = y + 0.1 * rates(half, p)
    return np.sum(y**2)


def of_what_changes(p, n):
    p, total = p.copy(), 0.0
    for _ in range(n):
        a, b = p
        total += a * b * np.sin(a)
        p[0] = 1.1 * p[0] + b
        c, d = p
        total += c * d**2
        p *= 0.9
    return total


def of_rows(p, n):
    rows, total = np.outer(p, p) + 0.3, 0.0
    for i in range(n):
        first, second = rows
        total += np.sum(np.sin(first) * second) * (i + 1)
    return total


def in_branches(p, n):
    total = 0.3
    for i in range(n):
        if i % 2:
            a, b = p
        else:
            b, a = p
        total = total * a + np.sin(b * total)
    return total


@pytest.mark.parametrize("f", [by_steps, of_what_changes, of_rows, in_branches], ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [0, 1, 5])
def test_what_is_unpacked_is_unpacked_again(f, n):
    p, h = np.array([1.1, 0.6]), 1e-6
    want = [(f(p + e, n) - f(p - e, n)) / (2 * h) for e in h * np.eye(2)]
    gradient = s2s.grad(f)
    np.testing.assert_allclose(gradient(p, n), want, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(s2s.jacfwd(f)(p, n), want, rtol=1e-6, atol=1e-8)
    bent = [(gradient(p + e, n) - gradient(p - e, n)) / (2 * h) for e in h * np.eye(2)]
    np.testing.assert_allclose(s2s.hessian(f)(p, n), bent, rtol=1e-5, atol=1e-7)


def test_nothing_is_kept_of_parameters_that_are_unpacked():
    text = s2s.source(by_steps, np.array([1.1, 0.6]), 5, mode="grad")
    assert "a, b = p\n" in text and not re.search(r"saved_[ab]\b", text)
