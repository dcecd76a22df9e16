"""Iterators that something reads in part, whose other items are not made, and are there for the next reader; and views
of dicts, which show what the dict holds when they are read."""

import itertools
import types

import numpy as np
import pytest

import s2s
from s2s.errors import DifferentiationError

pytestmark = pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")


def first_above(x):
    if any((hit := v) > 1.0 for v in x):
        return hit**2
    return x[0]


def first_below(x):
    if not all((hit := v) < 1.0 and (twice := 2.0 * v) < 2.0 for v in x):
        return hit**2 * twice
    return x[0]


def none_above(x):
    hit = x[2] * x[1]
    if any((hit := v) > 10.0 for v in x[:0]):
        return hit**3
    return hit * x[0]


def looked_at(x):
    seen = []

    def is_large(v):
        seen.append(v**2)
        return v > 1.0

    found = any(is_large(v) for v in x)
    return sum(seen) * (2.0 if found else 1.0) + any(map(is_large, x[2:])) + seen[-1] ** 2


def rest_of_an_iterator(x):
    it = iter(x)
    found = any(v > 1.0 for v in it)
    return sum(it) ** 2 * x[0] + found


def stored_until(x):
    a = np.zeros(3)

    def put(k):
        a[k] = x[k] ** 2
        return a[k] < 1.0

    return a.sum() + 2.0 * all(put(k) for k in range(3)) + a @ a


def found_in(x):
    seen = []

    def item(v):
        seen.append(v**2)
        return v

    return (x[1] in (item(v) for v in x)) + sum(seen)


def enumerated_in_part(x):
    it = iter(x)
    for i, v in enumerate(it):
        if v > 1.0:
            break
    return sum(it) * v + i


def zipped_in_part(x):
    it = iter(x)
    for v, k in zip(it, [1.0, 2.0, 3.0]):
        if v > 1.0:
            break
    return v * k + sum(it) ** 2


def taken_while(x):
    it = iter(x)
    taken = list(itertools.takewhile(lambda v: v < 1.0, it))
    return sum(taken) + sum(v**2 for v in it)


def mapped_with_fewer(x):
    it = iter([x[0], x[1], x[2] * x[0]])
    products = list(map(lambda p, q: p * q, it, [3.0]))
    return sum(products) + sum(it) ** 2


def any_of_an_iterator(x):
    it = iter(x)
    return any(it) + sum(it) * x[0]


def read_inside_its_loop(x):
    it = iter(x)
    for i, v in enumerate(it):
        rest = next(it, 2.0)
        if i == 0:
            return v * rest + sum(it)
    return x[0]


def two_readers(x):
    it = iter(x)
    scaled = map(lambda v: v * x[0], it)
    a, b = next(scaled), next(it)
    return a * b**2 + sum(scaled)


def values_of_what_grows(x):
    d = {"a": x[0]}
    values = d.values()
    d["z"] = x[1]
    return sum(v * (i + 1) for i, v in enumerate(values))


def items_of_what_changes(x):
    d, total = {"a": x[0], "b": x[1]}, 0.0
    items, held = d.items(), [d.values()]
    d["a"] = x[2]
    for _, v in items:
        total += v**2
    return total * sum(held[0])


def keys_of_what_shrinks(x):
    d = {"a": x[0], "b": x[1]}
    keys = d.keys()
    del d["a"]

    def add():
        d["c"] = x[2] ** 2

    add()
    return sum(d[k] ** 2 for k in keys) * len(keys)


def keys_of_what_keeps_them(x):
    d = {"a": x[0], "b": x[1]}
    keys = d.keys()
    for k in keys:
        d[k] = d[k] ** 2
    return sum(d[k] * x[2] for k in keys)


def attributes_of_what_changes(x):
    o = types.SimpleNamespace(a=x[0])
    attributes, values = vars(o), o.__dict__.values()
    o.a = x[1]
    o.b = x[2] ** 2
    return sum(attributes.values()) * attributes["a"] + sum(values)


def in_a_loop(x):
    total = 0.0
    for k, v in enumerate(reversed(np.sin(x))):
        total = total * 1.5 + v**2 * k
    return total


def in_part(x):
    items = reversed(x)
    return next(items) ** 2 * next(items) * len(list(items))


@pytest.mark.parametrize("f", [
    in_a_loop, in_part, lambda x: sum(map(lambda a, b: a * b**2, reversed(x), x)),
    lambda x: np.dot(list(reversed(x[::-1] * x)), [1.0, 2.0, 3.0]), lambda x: max(reversed(x)) ** 2,
])
def test_an_array_is_read_from_its_end(f, monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "always")
    x, v = np.array([0.7, 1.3, 0.4]), np.array([0.5, -1.0, 2.0])
    expected = np.array([(f(x + s) - f(x - s)) / 2e-6 for s in 1e-6 * np.eye(3)])
    np.testing.assert_allclose(s2s.grad(f)(x), expected, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(s2s.jvp(f, (x,), (v,))[1], expected @ v, rtol=1e-6)


PROGRAMS = [
    first_above, first_below, none_above, looked_at, rest_of_an_iterator,
    stored_until, found_in, enumerated_in_part, zipped_in_part, taken_while,
    mapped_with_fewer, any_of_an_iterator, read_inside_its_loop, two_readers, values_of_what_grows,
    items_of_what_changes, keys_of_what_shrinks, keys_of_what_keeps_them, attributes_of_what_changes,
]


@pytest.mark.grid(0.5)
@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("recorded", ["0", "1"])
def test_items_are_made_when_they_are_taken(f, recorded, monkeypatch):
    """The compiler takes an iterator for the list of all items, which is refused where the program sees a difference:
    where making one shows, and where something else reads what is left. A recording follows both."""
    monkeypatch.setenv("S2S_RECORDED", recorded)
    s2s.grad(f).clear()
    x, v = np.array([0.7, 1.3, 0.4]), np.array([0.5, -1.0, 2.0])
    steps = 1e-6 * np.eye(3)
    expected = np.array([(f(x + s) - f(x - s)) / 2e-6 for s in steps])
    try:
        np.testing.assert_allclose(s2s.grad(f)(x), expected, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(s2s.jvp(f, (x,), (v,))[1], expected @ v, rtol=1e-6)
        bent = (s2s.grad(f)(x + 1e-6 * v) - s2s.grad(f)(x - 1e-6 * v)) / 2e-6
        np.testing.assert_allclose(s2s.hvp(f, (x,), (v,)), bent, rtol=1e-6, atol=1e-8)
    except DifferentiationError as refusal:
        assert recorded == "0" and refusal.diagnostic.code in ("S2S222", "S2S103", "S2S142", "S2S132", "S2S181")
