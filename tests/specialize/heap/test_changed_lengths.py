"""Methods that change a list or a deque of unknown length: an operation makes a new one, or the change is refused."""

import collections

import numpy as np
import pytest

import s2s
from s2s.errors import UnsupportedSyntaxError
from tests.helpers import check

X = np.array([0.7, 1.3, 0.4, 1.1, 0.9])


def first_of_a_list(x, n):
    items = list(x)
    first = items.pop(0)
    return first**3 * items[0] + items[1] * n + len(items)


def last_of_a_list(x, n):
    items = list(x)
    last = items.pop()
    return last**3 * items[-1] + items.pop(-1) * items[-1] * n + len(items)


def ends_of_a_deque(x, n):
    items = collections.deque(1.0 * v for v in x)
    first, last = items.popleft(), items.pop()
    return first**3 * items[0] + last**2 * items[-1] + len(items) * n


def turned_around(x, n):
    items = list(x)
    for k in range(n):
        items.append(items.pop(0) * x[k])
    return items[0] * items[-1] ** 2 + items[1]


def turned_around_in_a_deque(x, n):
    items = collections.deque(1.0 * v for v in x)
    for k in range(n):
        items.append(items.popleft() * x[k])
    return items[0] * items[-1] ** 2 + items[1]


def extended(x, n):
    items = list(x)
    items.extend([x[0] ** 2, x[1] * n])
    items.extend(())
    return items[-1] * items[-2] ** 2 + sum(items) + len(items)


def emptied(x, n):
    items, queue = list(x), collections.deque((1.0 * v for v in x), maxlen=2)
    items.clear()
    queue.clear()
    for k in range(3):
        queue.append(x[k] ** 2)
    items.append(x[0] * n)
    return items[0] ** 2 * queue[0] * queue[1] + len(items) + len(queue)


@pytest.mark.parametrize("n", [3, 4])
@pytest.mark.parametrize("f", [
    first_of_a_list, last_of_a_list, ends_of_a_deque, turned_around, turned_around_in_a_deque, extended, emptied,
], ids=lambda f: f.__name__)
def test_gradient(f, n):
    check(f, (X, n))


def inserted(x):
    items = list(x)
    items.insert(0, 1.0)
    return items[1]


def turned(x):
    items = collections.deque(1.0 * v for v in x)
    items.rotate(1)
    return items[0]


def popped_inside(x):
    items = list(x)
    return items.pop(1)


def appended_at_a_limit(x):
    items = collections.deque((1.0 * v for v in x), maxlen=2)
    items.append(x[0])
    return items[0]


@pytest.mark.parametrize("f", [inserted, turned, popped_inside, appended_at_a_limit], ids=lambda f: f.__name__)
def test_refused(f):
    with pytest.raises(UnsupportedSyntaxError, match="its length is not known before the program runs"):
        s2s.grad(f)(X)
