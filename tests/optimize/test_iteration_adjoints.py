"""Adjoints of arrays that each iteration writes anew are values of the iteration, or arrays of it; not where zeros that
an iteration leaves behind are read by the next one."""

import numpy as np
import pytest

import s2s
from tests.helpers import differences

RNG = np.random.default_rng(31)
U, M = 0.5 * RNG.standard_normal(6), 0.5 * RNG.standard_normal((4, 5))


def one_place(u):
    flux = np.zeros_like(u)
    u = u.copy()
    for _ in range(3):
        flux[:-1] = np.sin(u[1:] - u[:-1])
        u += 0.1 * flux
        u[1:] -= 0.2 * flux[:-1]
    return np.sum(u * u)


def several_places(m):
    flux = np.empty((m.shape[0], m.shape[1] + 1))
    m = m.copy()
    for _ in range(3):
        flux[:, 1:-1] = m[:, 1:] * m[:, :-1]
        flux[:, 0] = m[:, 0] ** 2
        flux[:, -1] = np.cos(m[:, -1])
        m -= 0.1 * (flux[:, 1:] - flux[:, :-1])
    return np.sum(m**3)


def a_growing_place(u):
    y, z = u.copy(), np.zeros_like(u)
    for k in range(1, len(u)):
        z[:k] = y[:k] + y[k] * y[:k][::-1]
        y[:k] = z[:k]
    return np.sum(y * y)


def another_place_each_time(u):
    """What is added to the whole stays where the place of this iteration is not: an earlier one reads it."""
    z, total = np.zeros_like(u), 0.0
    for k in range(1, len(u)):
        z[k:] = u[k:] * u[0]
        total = total + np.sum(z * z)
    return total


def read_in_the_next_iteration(u):
    z, y = np.zeros_like(u), u.copy()
    for _ in range(3):
        y[1:] += np.sin(z[1:])
        z[1:] = y[:-1] * y[1:]
    return np.sum(z) + np.sum(y * y)


def read_after_the_loop(u):
    z, y = np.zeros_like(u), u.copy()
    for _ in range(3):
        z[1:] = y[:-1] * y[1:]
        y += 0.1 * z
    return np.sum(z * z) + np.sum(y)


def overlapping_places(u):
    z, y = np.zeros_like(u), u.copy()
    for _ in range(3):
        z[0] = y[0] * y[1]
        z[1:] = y[1:] ** 2
        z[:3] = np.sin(y[:3])
        y += 0.1 * z
    return np.sum(y * y)


def the_first_is_the_last(m):
    """Of a row of one element both are the same."""
    edges = np.zeros_like(m)
    m = m.copy()
    for _ in range(2):
        edges[:, 0] = m[:, 0] ** 2
        edges[:, -1] = 3.0 * m[:, -1]
        m += 0.1 * edges
    return np.sum(m * m)


def in_one_branch(u):
    z, y = np.zeros_like(u), u.copy()
    for k in range(4):
        if k % 2:
            z[:] = np.cos(y)
            y += 0.1 * z * z
    return np.sum(y * y)


def in_nested_loops(m):
    row, m = np.zeros_like(m[0]), m.copy()
    for _ in range(2):
        for i in range(len(m)):
            row[:] = m[i] * m[i - 1]
            m[i] += 0.1 * row
    return np.sum(m * m)


def broadcast(m):
    z, m = np.zeros_like(m), m.copy()
    for _ in range(2):
        z[:] = m[0] * m[1]
        m += z * np.sum(z[:, 0])
    return np.sum(m * m)


def views_of_what_is_written(m):
    z, m = np.zeros_like(m), m.copy()
    for _ in range(2):
        z[:, 1:] = np.sin(m[:, 1:])
        part = z[:, 1:]
        m[:, 1:] += part * part
        part[0] = m[0, 1:]
        m[1] = z[0] * m[2]
    return np.sum(m * m)


CASES = [
    (one_place, U), (several_places, M), (several_places, M[:, :2]), (several_places, M[:, :1]), (a_growing_place, U),
    (another_place_each_time, U), (read_in_the_next_iteration, U), (read_after_the_loop, U), (overlapping_places, U),
    (the_first_is_the_last, M), (the_first_is_the_last, M[:, :1]), (in_one_branch, U), (in_nested_loops, M),
    (broadcast, M), (views_of_what_is_written, M),
]


@pytest.mark.grid(0.3)
@pytest.mark.parametrize(("f", "x"), CASES, ids=lambda v: getattr(v, "__name__", ""))
def test_gradients(f, x):
    expected = differences(f, x)
    np.testing.assert_allclose(s2s.grad(f)(x), expected, rtol=1e-6, atol=1e-8)
    v = np.cos(np.arange(x.size)).reshape(x.shape)
    np.testing.assert_allclose(s2s.jvp(f, (x,), (v,))[1], np.sum(expected * v), rtol=1e-6, atol=1e-8)
    step = 1e-5
    curved = (s2s.grad(f)(x + step * v) - s2s.grad(f)(x - step * v)) / (2 * step)
    np.testing.assert_allclose(s2s.hvp(f)(x, v), curved, rtol=1e-5, atol=1e-6)


def test_what_is_read_of_one_place_is_a_value():
    for f, x in ((one_place, U), (a_growing_place, U)):
        source = s2s.source(f, x)
        assert "flux_bar" not in source and "z_bar" not in source


def test_zeros_of_several_places_are_made_in_the_iteration():
    source = s2s.source(several_places, M)
    loop = source[source.index("reversed(range(3))"):]
    assert "flux_bar = np.zeros_like(flux)\n        flux_bar[:, :-1] = " in loop
    assert "flux_bar[:, 1:-1] = 0.0" not in loop and "flux_bar[:, 0] = 0.0" not in loop


def test_zeros_that_the_next_iteration_reads_stay_outside():
    source = s2s.source(another_place_each_time, U)
    assert source.index("z_bar = np.zeros_like") < source.index("reversed(range")
