"""Lists of a length that is known when the program runs: the cotangents of their items, and of lists made of others."""

import numpy as np
import pytest

import s2s
from tests.helpers import differences

X = np.array([0.3, 0.5])


def pairs(x, n):
    items = []
    for k in range(n):
        items.append((x * k, x * x))
    return items


def all_parts(x, n):
    (a, b), (c, d) = pairs(x, n)
    return np.sum(a * d) + np.sum(c * b)


def parts_that_are_summed(x, n):
    (a, b), (c, d) = pairs(x, n)
    return np.sum(b) + np.sum(a) * np.sum(c) + np.sum(d)


def some_parts(x, n):
    p, q = pairs(x, n)
    return np.sum(p[1]) + np.sum(q[0])


def parts_beside_a_rest(x, n):
    p, *_, q = pairs(x, n)
    return np.sum(p[1]) * np.sum(q[1] * q[0])


def parts_by_name(x, n):
    items = []
    for k in range(n):
        items.append({"a": x * k, "b": x * x, 1: x[0] * k})
    p, q = items
    return np.sum(p["b"]) * q[1] + np.sum(q["a"])


def parts_of_parts(x, n):
    items = []
    for k in range(n):
        items.append((x, (x * k, x * x)))
    (a, b), (c, d) = items
    return np.sum(a * d[1]) + np.sum(c * b[0]) + np.sum(d[0]) + np.sum(b[1])


@pytest.mark.parametrize("f", [
    all_parts, parts_that_are_summed, some_parts, parts_beside_a_rest, parts_by_name, parts_of_parts,
], ids=lambda f: f.__name__)
def test_what_is_unpacked_gets_its_part(f):
    np.testing.assert_allclose(s2s.grad(f)(X, 2), differences(lambda x: f(x, 2), X), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("f, count", [(all_parts, 0), (parts_that_are_summed, 4), (some_parts, 2)], ids=range(3))
def test_a_number_that_is_added_everywhere_is_an_array_in_a_list_of_arrays(f, count):
    assert s2s.source(f, X, 2).count("np.full_like(") == count


def appended_to_a_copy(x, n):
    items = []
    for k in range(n):
        items.append(x * k)
    longer = [*items, x * x]
    return np.sum(items[0] * longer[-1]) * np.sum(items[-1]) + sum(np.sum(item) for item in longer)


def appended_in_a_loop(x, n):
    items = []
    for k in range(n):
        items.append(x * k)
    old, total = items, 0.0
    for k in range(n):
        total = total + np.sum(items[k] ** 2)
        items = [*items, x * x * items[k]]
    return total + np.sum(old[0] * old[1]) + np.sum(items[-1])


def assigned(x, n):
    items = [np.sum(x) * k for k in range(n)]
    old = list(items)
    total = items[0]
    for k in range(n):
        items[k] = x[0] * items[k]
        total = total + items[k] ** 2
    return total + items[0] * items[1] + old[1] * items[1]


def assigned_in_a_slice(x, n):
    items = [x[k] for k in range(n)]
    a = items[0] * items[1]
    items[0:2] = [a, a * a]
    return sum(items)


@pytest.mark.parametrize("f", [
    appended_to_a_copy, appended_in_a_loop, assigned, assigned_in_a_slice,
], ids=lambda f: f.__name__)
def test_cotangents_of_a_list_are_added_to_those_of_the_list_before(f):
    np.testing.assert_allclose(s2s.grad(f)(X, 2), differences(lambda x: f(x, 2), X), rtol=1e-6, atol=1e-8)


def test_two_lists_of_cotangents_become_a_third():
    """None of the two is read again, so that nothing is copied into it."""
    source = s2s.source(appended_to_a_copy, X, 2)
    assert source.count("rt.add(items_bar, ") == 1 and "items_bar[:] = " not in source
