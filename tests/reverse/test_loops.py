"""Reverse loops: cotangents that no iteration changes are expected, tested, and carried where the test fails."""

import numpy as np
import pytest

import s2s
from s2s.reverse import control


def asked(x, n):
    total = 0.0
    for k in range(n):
        total = total + np.sin(x * k) + 0.1 * x
        if total > 3.0:
            break
    return total


def read(x, n):
    total = 0.0
    for k in range(n):
        total = total + np.sin(x * k) * total + x
    return total


def read_elsewhere(x, n):
    total, other = 0.5, 1.0
    for k in range(n):
        other = other * np.cos(total) + x
        total = total + np.sin(x * k) - 0.1
    return total * other


def nested(x, n):
    total = 0.0
    for i in range(n):
        for j in range(i):
            total = total + np.sin(x * i) * x * j
            if total > 100.0:
                total = total - 1.0
    return total


def subtracted(x, n):
    total = x
    for k in range(n):
        total = np.sin(x * k) - total
        if total < -50.0:
            break
    return total


PROGRAMS = [asked, read, read_elsewhere, nested, subtracted]


@pytest.mark.parametrize("n", [0, 1, 4])
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_sums_that_a_loop_also_reads_have_their_derivative(f, n):
    x, step = 0.7, 1e-6
    expected = (f(x + step, n) - f(x - step, n)) / (2 * step)
    assert s2s.grad(f)(x, n) == pytest.approx(expected, rel=1e-8, abs=1e-8)
    assert s2s.jvp(f, (x, n), (1.0, 0))[1] == pytest.approx(expected, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize(("f", "times"), [(asked, 1), (read, 2)])
def test_the_reverse_of_a_loop_is_written_once_where_the_expectation_holds(f, times, monkeypatch):
    written = []
    write = control._reverse_iteration
    monkeypatch.setattr(control, "_reverse_iteration", lambda *given: written.append(given) or write(*given))
    s2s.source(lambda x, n: f(x, n), 0.7, 3, mode="vjp")
    assert len(written) == times
