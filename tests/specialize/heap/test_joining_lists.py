"""Lists and tuples that grow by others of lengths that the run knows: ``extend``, ``+``, ``+=`` and ``[*a, *b]``."""

import collections

import numpy as np
import pytest

import s2s
from tests.helpers import differences

Z = np.linspace(0.3, 2.1, 5)


def total(items):
    return sum(v * v * (k + 1) for k, v in enumerate(items))


def extended_by_an_array(z):
    items = [0]
    items.extend(np.cumsum(z))
    return total(items)


def extended_by_a_list(z):
    items = [z[1]]
    items.extend(list(np.cumsum(z)))
    items.extend(z.tolist())
    return total(items)


def extended_by_a_generator(z):
    items = [1.0]
    items.extend(v * v for v in z)
    return total(items)


def extended_by_itself(z):
    items = []
    for v in z:
        items.append(v * v)
    items.extend(items)
    items.append(3.0 * z[0])
    return total(items)


def extended_in_a_loop(z):
    items = []
    for k in range(3):
        items.extend(z * k)
        items += [z[0]]
    return total(items)


def added(z):
    items = [0.5] + list(np.cumsum(z))
    both = items + items
    items.append(z[0])
    return total(both) + total(items)


def added_in_place(z):
    items = [0.5]
    other = items
    items += list(np.cumsum(z))
    return total(other)


def in_a_display(z):
    items = []
    for v in z:
        items.append(v * v)
    return total([z[2], *items, *z, 1.0])


def arrays(z):
    items = []
    for v in z:
        items.append(z * v)
    return sum(np.sum(a * b) for a, b in zip([z, *items], items + [z], strict=True))


def lists_in_a_dict(z):
    items = {"a": [], "b": [z[0]]}
    for k in range(3):
        items["a"].extend(z * k)
        items["b"] += list(z)
    return total(items["a"] + items["b"])


def a_deque(z):
    items = collections.deque([0.0])
    items.extend(z * 2)
    items.extend(v for v in z)
    return total(items)


@pytest.mark.parametrize("program", [
    extended_by_an_array, extended_by_a_list, extended_by_a_generator, extended_by_itself, extended_in_a_loop, added,
    added_in_place, in_a_display, arrays, lists_in_a_dict, a_deque,
], ids=lambda f: f.__name__)
def test_lists_of_unknown_length_are_joined(program):
    expected = differences(program, Z)
    np.testing.assert_allclose(s2s.grad(program)(Z), expected, rtol=1e-6)
    direction = np.cos(Z)
    np.testing.assert_allclose(s2s.jvp(program, (Z,), (direction,))[1], expected @ direction, rtol=1e-6)


# --- tuples -----------------------------------------------------------------------------------------------------------

COUNT = 3
Point = collections.namedtuple("Point", "x y")


def a_tuple_that_grows(z):
    items = ()
    for v in z:
        if v > 0.5:
            items = items + (v * v,)
    return total(items) + items[0] * items[-1]


def a_tuple_that_grows_at_its_beginning(z):
    items = ()
    for v in z:
        if v > 0.5:
            items = (v * z[0], 1.0) + items
    return total(items)


def a_tuple_and_constants(z):
    items = (z[0],)
    for k in range(len(z)):
        if z[k] > 0.5:
            items += (1.0, "a", k)
    return items[0] ** 2 * items[3]


def a_tuple_of_arrays(z):
    items = ()
    for v in z:
        items = items + (z * v,) if v > 0.5 else items
    return sum(np.sum(a) * (k + 1) for k, a in enumerate(items)) + np.sum(items[0] * items[1])


def two_tuples(z):
    items, others = (), (z[0],)
    for v in z:
        if v > 0.5:
            items += (v * v,)
        else:
            others += (v,)
    return total(items + others) * total(others + items)


def a_tuple_as_an_array(z):
    items = ()
    for v in z:
        items = items + (v * z[1],)
    return np.sum(items) * np.dot(items, items) + np.array(items)[0]


def starred_tuples(z):
    items = ()
    for v in z:
        if v > 0.5:
            items = (*items, v * v)
    return total((z[0], *items, 1.0, *items)) + total([*items, z[1]])


def a_tuple_repeated(z):
    items = (z[0] * z[1], z[2]) * COUNT
    return total(items) + len(items)


def named_tuples(z):
    p = Point(z[0], z[1] * z[2])
    items = p
    for v in z:
        if v > 0.5:
            items = items + (v,)
    twice = p * 2
    assert type(twice) is tuple
    return total(items) + total(p + (z[0],)) + total(p + p) * twice[3]


@pytest.mark.parametrize("program", [
    a_tuple_that_grows, a_tuple_that_grows_at_its_beginning, a_tuple_and_constants, a_tuple_of_arrays, two_tuples,
    a_tuple_as_an_array, starred_tuples, a_tuple_repeated, named_tuples,
], ids=lambda f: f.__name__)
def test_tuples_of_unknown_length_are_joined(program):
    expected = differences(program, Z)
    np.testing.assert_allclose(s2s.grad(program)(Z), expected, rtol=1e-6)
    direction = np.cos(Z)
    np.testing.assert_allclose(s2s.jvp(program, (Z,), (direction,))[1], expected @ direction, rtol=1e-6)


def a_list_beside_an_array(z):
    items, y = [z[0], z[1], 1.0, 2.0, z[2]], np.outer(z, z)
    for v in z:
        y = items + y if v > 0.5 else y * v
    return np.sum(y * z)


def test_a_list_is_added_to_an_array_element_by_element():
    expected = differences(a_list_beside_an_array, Z)
    np.testing.assert_allclose(s2s.grad(a_list_beside_an_array)(Z), expected, rtol=1e-6)
    np.testing.assert_allclose(s2s.jvp(a_list_beside_an_array, (Z,), (np.cos(Z),))[1], expected @ np.cos(Z), rtol=1e-6)
