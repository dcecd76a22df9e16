"""Loops that keep one of the arrays that they make, and change arrays in place: gradients, and where adjoints are."""

import numpy as np
import pytest

import s2s
from tests.helpers import differences

X = np.array([0.7, 1.3, 0.4])


def changed_before_it_is_kept(x):
    u, kept, lowest = x.copy(), x * 1.0, 1e9
    for k in range(4):
        u = u * 0.9
        u[k % 3] *= 0.5
        value = np.sum((u - 0.3) ** 2)
        if value < lowest:
            kept, lowest = u, value
    return kept @ x + lowest


def changed_before_the_loop(x):
    u = x.copy()
    u[0] *= 2.0
    kept, lowest = u, 1e9
    for _ in range(3):
        u = u - 0.3 * u
        value = np.sum((u - 0.3) ** 2)
        if value < lowest:
            kept, lowest = u, value
    return kept @ x + lowest


def changed_after_it_is_kept(x):
    u, kept, lowest = x.copy(), x * 1.0, 1e9
    for k in range(4):
        u[k % 3] *= 0.5
        value = np.sum((u - 0.3) ** 2)
        u = u * 0.9
        if value < lowest:
            kept, lowest = u, value
    return kept @ x + lowest


def one_of_two_that_take_turns(x):
    u, new, kept = x.copy(), np.zeros(3), np.zeros(3)
    for k in range(4):
        new[1:] = u[:-1] * x[1:]
        new[0] = u[2]
        u, new = new, u
        if k == 2:
            kept = u
    return kept @ x + u @ u


def handed_on_twice(x):
    a, c = x.copy(), x + 1.0
    s = 0.0
    for _ in range(3):
        c[1] *= 0.5
        s = s + c @ x
        c, a = a, c * 2.0
        c = a
    return s


@pytest.mark.parametrize("f, by_memory", [
    (changed_before_it_is_kept, False), (changed_before_the_loop, False), (changed_after_it_is_kept, True),
    (one_of_two_that_take_turns, True), (handed_on_twice, False),
])
def test_the_adjoint_is_found_by_memory_where_a_store_changes_what_is_kept(f, by_memory):
    assert ("adjoint_of" in s2s.source(f, X)) == by_memory
    expected = differences(f, X)
    np.testing.assert_allclose(s2s.grad(f)(X), expected, atol=1e-6)
    np.testing.assert_allclose(s2s.jvp(f, (X,), (np.ones(3),))[1], np.sum(expected), atol=1e-6)


def test_the_adjoint_of_what_is_kept_is_copied_in_no_iteration():
    _, reverse = s2s.source(changed_before_it_is_kept, X).split("# reverse sweep")
    assert reverse.count("np.copy") == 1  # of what the function is given
