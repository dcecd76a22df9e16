"""Deques of a limited length keep their last items, however they are made, and do what only lists do as Python says."""

from collections import deque

import numpy as np
import pytest

import s2s
from tests.helpers import check

X = np.array([0.7, 1.3, 0.4])


def numbered(items):
    return sum(item * (k + 1.0) for k, item in enumerate(items)) + len(items)


def sum_within_a_limit(x):
    d = deque([x[0], x[1]], maxlen=3)
    return numbered(d + d) + numbered(d)


def sum_with_the_limit_of_the_first(x):
    d = deque([x[0], x[1]], maxlen=3) + deque([x[2], x[0]])
    e = deque([x[0], x[1]]) + deque([x[2]], maxlen=1)
    d.append(x[1] ** 2)
    e.append(x[1] ** 2)
    return numbered(d) * numbered(e)


def product(x):
    d, e = 2 * deque([x[0], x[1]], maxlen=3), deque([x[0], x[2]]) * 2
    d.append(x[2] ** 2)
    e.append(x[1])
    return numbered(d) * numbered(e)


def repeated_in_place(x):
    d, e = deque([x[0], x[1]], maxlen=3), deque([x[1], x[2]])
    d *= 2
    e *= 2
    d.append(x[2])
    return numbered(d) * numbered(e)


def extended(x):
    d = deque([x[0], x[1]], maxlen=2)
    d += [x[2], x[1]]
    e = d.copy()
    e.extendleft([x[0], x[2]])
    return numbered(d) * numbered(e)


def inserted(x):
    d = deque([x[0], x[1]], maxlen=3)
    d.insert(1, x[2])
    return numbered(d)


def of_a_limit_of_none(x):
    d, e = deque([x[0], x[1]], maxlen=0), deque([x[0], x[1]], maxlen=None)
    e.append(x[2])
    return x[0] ** 2 * numbered(e) + numbered(d)


def of_another_deque(x):
    d = deque([x[0], x[1], x[2]])
    return numbered(deque(d, 2)) * numbered(deque(deque(d, 2)))


def of_a_list_of_any_length(x):
    items = list(x)
    d, none = deque(items, maxlen=2), deque(items, 0)
    return d[0] ** 2 * d[1] + len(d) + sum(none)


def of_a_list_that_has_grown(x):
    items = []
    for v in x:
        items.append(v**2)
    return numbered(deque(items, maxlen=2)) + sum(deque(items, maxlen=5)) * x[0]


def of_a_generator(x):
    return numbered(deque((v * v for v in x), maxlen=2))


def of_an_array(x):
    d, e = deque(x), deque(np.outer(x, x), maxlen=2)
    while len(d) > 1:
        d.append(d.popleft() * d.popleft() ** 2)
    return d[0] + np.sum(e[0] ** 2 * e[1]) * len(e)


def of_pairs(x):
    return sum(a * b for a, b in deque(zip(x, 2.0 * x), maxlen=2)) + deque(enumerate(x), 1)[0][1] ** 2


LIMITED = [
    sum_within_a_limit, sum_with_the_limit_of_the_first, product, repeated_in_place, extended, inserted,
    of_a_limit_of_none, of_another_deque, of_a_list_of_any_length, of_a_list_that_has_grown, of_a_generator,
    of_an_array, of_pairs,
]


@pytest.mark.parametrize("f", LIMITED, ids=lambda f: f.__name__)
def test_gradient(f):
    check(f, (X,))


def read_by_a_slice(x):
    return sum(deque([x[0], x[1]])[0:1])


def stored_by_a_slice(x):
    d = deque([x[0], x[1]], maxlen=2)
    d[0:1] = [x[2], x[0]]
    return d[0]


def deleted_by_a_slice(x):
    d = deque([x[0], x[1]])
    del d[:1]
    return d[0]


def inserted_beyond_the_limit(x):
    d = deque([x[0], x[1]], maxlen=2)
    d.insert(0, x[2])
    return d[0]


def added_to_a_list(x):
    return ([x[0]] + deque([x[1]]))[0]


def with_a_list_added(x):
    return (deque([x[1]]) + [x[0]])[0]


@pytest.mark.parametrize("f", [
    read_by_a_slice, stored_by_a_slice, deleted_by_a_slice, inserted_beyond_the_limit, added_to_a_list,
    with_a_list_added,
], ids=lambda f: f.__name__)
def test_what_python_raises_is_raised(f):
    with pytest.raises((TypeError, IndexError)) as expected:
        f(X)
    with pytest.raises(type(expected.value)) as found:
        s2s.grad(f)(X)
    assert str(found.value) == str(expected.value)
