"""Methods that change a list or a deque of unknown length: an operation makes a new one."""

import collections

import numpy as np
import pytest

import s2s
from s2s.errors import UnsupportedSyntaxError
from tests.helpers import check, differences

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


def large(x):
    """The items above a half, in a list whose length the run knows."""
    return [v * v for v in x if v > 0.5]


def weighted(items):
    return sum(v * v * (k + 1) for k, v in enumerate(items))


def inserted(x, n):
    items = large(x)
    items.insert(n - 2, x[2] ** 3)
    items.insert(-1, 1.0)
    items.insert(0, n)
    return weighted(items)


def popped_and_deleted(x, n):
    items = large(x)
    found = items.pop(n - 3)
    del items[n - 4]
    return found**3 * items[0] + len(items)


def deleted_slices(x, n):
    items, others = large(x), [x[0], x[1] ** 2, x[2], x[3], x[4], 1.0]
    del items[1:]
    del others[n - 3 : n - 1]
    return items[0] * weighted(others)


def removed(x, n):
    items, places = large(x), [0, 1, 2, 3, 4]
    items.remove(x[1] * x[1])
    total = weighted(items)
    while places:
        best = min(places, key=lambda k: abs(x[k] - 1.03))
        total = total * 0.5 + x[best] ** 2
        places.remove(best)
    return total


def reversed_and_sorted(x, n):
    items, others = large(x), [x[k] for k in range(n)]
    items.reverse()
    total = weighted(items)
    items.sort()
    others.sort(key=lambda v: -v)
    return total * weighted(items) + weighted(others)


def sorted_pairs(x, n):
    items = [(v * v, k) for k, v in enumerate(x) if v > 0.5]
    items.sort(key=lambda pair: pair[0], reverse=True)
    return sum(v * k * (place + 1) for place, (v, k) in enumerate(items))


def insertion_sort(x, n):
    items = []
    for v in x:
        place = 0
        while place < len(items) and items[place] < v:
            place += 1
        items.insert(place, v)
    return weighted(items)


def known_items_at_places_of_the_run(x, n):
    items = [x[0], x[1] ** 2, x[2] * x[3], 1.0]
    items.insert(n - 2, x[3] ** 3)
    found = items.pop(n - 3)
    return found * weighted(items)


def by_two_names(x, n):
    items = large(x)
    other = items
    other.insert(0, x[1] ** 3)
    other.sort()
    return items[0] * items[1] + n * other[-1]


def a_slice(x, n):
    items = large(x)
    rest, last = items[1:], items[-1:]
    rest.append(x[0] ** 3)
    rest.insert(n - 3, x[1])
    rest.reverse()
    last.extend(items[:2])
    last[0] = n * x[2]
    return weighted(items) + 2.0 * weighted(rest) * last.pop() + weighted(last)


def a_deque(x, n):
    items = collections.deque(large(x))
    items.rotate(1)
    items.insert(1, x[3] ** 3)
    items.appendleft(x[0])
    items.extendleft([x[1], x[2]])
    items.reverse()
    items.remove(x[1])
    del items[0]
    return weighted(items) + items.count(x[0])


def a_deque_with_a_limit(x, n):
    items = collections.deque(large(x), maxlen=3)
    items.append(x[0] ** 3)
    items.appendleft(x[1])
    items.extend([x[2], x[3]])
    items.extendleft(x[:2])
    return weighted(items) * items.maxlen + len(items)


def a_window(x, n):
    items, total = collections.deque(maxlen=2), 0.0
    for v in x:
        if v > 0.5:
            items.append(v)
        if len(items) == items.maxlen:
            total += items[0] * items[1] ** 2
    return total


@pytest.mark.parametrize("n", [3, 4])
@pytest.mark.parametrize("f", [
    inserted, popped_and_deleted, deleted_slices, removed, reversed_and_sorted, sorted_pairs, insertion_sort,
    known_items_at_places_of_the_run, by_two_names, a_slice, a_deque, a_deque_with_a_limit, a_window,
], ids=lambda f: f.__name__)
def test_items_that_move(f, n):
    expected = differences(lambda x: f(x, n), X)
    np.testing.assert_allclose(s2s.grad(f)(X, n), expected, rtol=1e-6)
    np.testing.assert_allclose(s2s.jvp(f, (X, n), (np.cos(X), None))[1], expected @ np.cos(X), rtol=1e-6)


def appends_spread_items(x):
    found = []
    found.append(*large(x)[:1])
    return np.sum(np.array(found) ** 2)


def inserts_spread_items(x):
    found = [1.0, x[0]]
    found.insert(*[1, *large(x)[2:3]])
    return found[1] * found[2]


@pytest.mark.parametrize("f", [appends_spread_items, inserts_spread_items], ids=lambda f: f.__name__)
def test_a_method_that_is_given_items_of_unknown_number(f, monkeypatch):
    """It is refused where it is called, not where the list is read; and recorded."""
    for take in (s2s.grad(f), lambda x: s2s.jvp(f, (x,), (np.ones(5),))[1]):
        with pytest.raises(UnsupportedSyntaxError, match="is given is known only when the program runs") as problem:
            take(X)
        assert problem.value.diagnostic.code == "S2S134"
    monkeypatch.setenv("S2S_RECORDED", "1")
    with pytest.warns(s2s.RecordedWarning):
        np.testing.assert_allclose(s2s.grad(lambda x: f(x))(X), differences(f, X), rtol=1e-6)


def removed_twice(x):
    items = large(x)
    items.remove(x[2])
    return items[0]


def test_an_item_that_is_not_there():
    with pytest.raises(ValueError, match=r"list.remove\(x\): x not in list"):
        s2s.grad(removed_twice)(X)
