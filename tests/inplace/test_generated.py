"""What the gradients of programs that write into arrays keep and make, read off their text."""

from __future__ import annotations

import numpy as np
import pytest

import s2s
from tests.helpers import differences

V = np.linspace(0.3, 0.9, 5)
M = np.tril(np.full((5, 5), 0.2)) + np.eye(5)


def substitution(m, b):
    x = np.zeros_like(b)
    for i in range(len(b)):
        x[i] = (b[i] - m[i, :i] @ x[:i]) / m[i, i]
    return np.sum(x**3)


def back_substitution(m, b):
    n = len(b)
    x = np.zeros_like(b)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - m[i, i + 1 :] @ x[i + 1 :]) / m[i, i]
    return np.sum(x**3)


def trajectory(m, b):
    path = np.zeros((4, len(b)))
    path[0] = b
    for t in range(3):
        path[t + 1] = path[t] + 0.1 * np.sin(path[t])
    return np.sum(path[3] ** 2)


def linear_stencil(m, b):
    u = b.copy()
    for _ in range(4):
        u[1:-1] += 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u**2)


def swapped_buffers(m, b):
    old, new = b.copy(), np.zeros_like(b)
    for _ in range(4):
        new[1:-1] = 0.5 * (old[2:] + old[:-2])
        old, new = new, old
    return np.sum(old**2)


def sum_into_a_row(m, b):
    rows = np.zeros_like(m)
    for i in range(len(b)):
        row = rows[i]
        row[:] = m[i] * 2.0
        row[0] += b[i]
    return np.sum(rows**2)


KEEPS_NOTHING = [
    substitution, back_substitution, trajectory, linear_stencil, swapped_buffers, sum_into_a_row,
]


@pytest.mark.parametrize("f", KEEPS_NOTHING, ids=[f.__name__ for f in KEEPS_NOTHING])
def test_nothing_is_kept_and_adjoints_are_plain_arrays(f):
    text = s2s.source(f, M, V, argnums=(0, 1))
    assert "saved" not in text
    assert "Adjoints" not in text
    assert "rt." not in text or "rt.unbroadcast" not in text


def burgers(u):
    u = u.copy()
    for _ in range(4):
        u[1:-1] -= 0.1 * u[1:-1] * (u[1:-1] - u[:-2])
    return np.sum(u**2)


def test_the_overwritten_slice_is_all_that_is_kept():
    text = s2s.source(burgers, V)
    assert text.count("saved = []") == 1 and "saved_1" not in text
    assert "saved.append(np.copy(u[" in text


def one_of_two(x):
    a = x.copy()
    b = a if x[0] > 0.0 else x * 2.0
    b[0] = x[1]
    return np.sum(a * b)


def test_where_the_run_decides_adjoints_are_found_by_memory():
    assert "adjoint_of = rt.Adjoints()" in s2s.source(one_of_two, V)
    gradient = np.array([V[1] * 0.0, 2.0 * V[1], *(2.0 * V[2:])])
    gradient[1] += 2.0 * V[1]
    np.testing.assert_allclose(s2s.grad(one_of_two)(V), gradient)


@pytest.mark.parametrize("view", [np.broadcast_arrays, lambda a, b: np.meshgrid(a, b, copy=False)])
def test_what_is_added_to_a_broadcast_view_that_changes_is_not_lost(view):
    def f(x):
        y = x * 1.0
        a, b = view(y, y[:1])
        y[1] = x[2] ** 2
        return np.sum(a * b * x)

    assert f(V) != 0.0
    with pytest.raises(ValueError, match="broadcast view"):
        s2s.grad(f)(V)


def test_the_tangent_of_what_may_be_the_argument_itself():
    def f(x):
        y = np.outer(x, x)
        p = np.linalg.matrix_power(y, 1)
        p[0] = x**2
        return np.sum(y**2)

    wanted = differences(lambda x: float(f(x)), V)
    np.testing.assert_allclose(s2s.grad(f)(V), wanted, rtol=1e-6)
    with pytest.raises(ValueError, match="changed in place"):
        s2s.jvp(f, (V,), (V,))


# --- arrays that begin as a view of a new one, and are new ones then ------------------------------------------------


def stages(x):
    t = x + 0.0
    work = np.reshape(t, (2, len(t) // 2))
    for _ in range(3):
        merged = np.empty(work.shape)
        merged[0] = work[1] * 2.0
        merged[1] = work[0] * work[1]
        work = merged
        work[0, 0] = work[0, 1] * work[1, 1]
    return np.sum(work) * t.size


def chosen(x):
    work = np.reshape(x * 2.0, (2, 3))
    if x[0] < 0.0:
        work = work * work
    work[0, 0] = work[1, 2] * work[0, 0]
    return np.sum(work**2)


def seen_in_the_end(x):
    t = x + 0.0
    work = np.reshape(t, (2, 3))
    work[1, 1] = work[0, 0] * work[1, 1]
    for _ in range(2):
        merged = np.empty(work.shape)
        merged[0], merged[1] = work[1] * 2.0, work[0] * work[1]
        work = merged
    return np.sum(work) + np.sum(t**3)


def seen_through_an_earlier_join(x):
    t = x * 2.0
    other = t if x[0] > 0.0 else x
    work = np.reshape(t, (2, 3))
    for _ in range(2):
        work[0, 1] = work[0, 1] * work[1, 1]
        merged = np.empty(work.shape)
        merged[0], merged[1] = work[1] * 2.0, work[0] * work[1]
        work = merged
    return np.sum(work) + np.sum(other**2)


def seen_through_a_list(x):
    work, kept = np.reshape(x * 2.0, (2, 3)), []
    kept.append(work)
    for _ in range(2):
        work[0, 1] = work[0, 1] * work[1, 1]
        work = work * np.flip(work)
    return np.sum(work) + np.sum(kept[0] ** 2)


def of_which_the_shape_is_read(x):
    t = np.sin(x)
    work = np.asarray(t)
    work[0] = 3.0 * work[1]
    other = np.zeros_like(t)
    other[1] = x[2]
    return np.sum(work**2 + other * x) * t.shape[0]


def of_which_a_content_is_read(x):
    t = np.sin(x)
    work = np.asarray(t)
    work[0] = 3.0 * work[1]
    return np.sum(work**2) + np.sum(np.asarray(t, np.float64) * x)


def real_part(x):
    t = x * 2.0
    work = t.real
    work[0] = 3.0 * x[1]
    return np.sum(t**2)


def turned_over(x):
    t = np.reshape(x * 2.0, (2, 3)) * 1.0
    work = t.T
    work[0] = 3.0 * x[1]
    return np.sum(t[0] * t[1] ** 2)


def of_complex_numbers(x):
    t = x * 1j
    work = t.real
    work[0] = 3.0 * x[1]
    return np.sum(np.abs(t) ** 2)


PLAIN = [stages, chosen, of_which_the_shape_is_read, real_part, turned_over, of_complex_numbers]
BY_MEMORY = [seen_in_the_end, seen_through_an_earlier_join, seen_through_a_list, of_which_a_content_is_read]


@pytest.mark.parametrize("f", [*PLAIN, *BY_MEMORY])
def test_a_view_may_be_all_that_is_left_of_a_new_array(f):
    gradient, x = s2s.grad(f), np.linspace(0.3, 1.7, 6)
    expected = differences(f, x)
    np.testing.assert_allclose(gradient(x), expected, rtol=1e-6)
    np.testing.assert_allclose(s2s.jvp(f, (x,), (np.cos(x),))[1], expected @ np.cos(x), rtol=1e-6)
    assert ("Adjoints" in gradient.source) == (f in BY_MEMORY)
