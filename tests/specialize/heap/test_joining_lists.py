"""Lists that grow by others of a length that only the run knows: ``extend``, ``+``, ``+=`` and ``[*a, *b]``."""

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
