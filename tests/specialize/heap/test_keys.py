"""Keys of dicts that are tuples, and keys that are variables of a module; comparisons of keys and containers."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np
import pytest

import s2s
from s2s.errors import UnsupportedSyntaxError
from tests.helpers import check, differences

SUSCEPTIBLE, INFECTED, REMOVED = range(3)
X = np.array([0.3, 0.4])


def flows(x):
    state = np.zeros((3, 2))
    state[SUSCEPTIBLE] = x
    state[INFECTED] = 0.1 * x
    for _ in range(4):
        new = x * state[SUSCEPTIBLE] * state[INFECTED]
        flow = {(SUSCEPTIBLE, INFECTED): new, (INFECTED, REMOVED): 0.2 * state[INFECTED]}
        for (source, target), amount in flow.items():
            state[source] -= amount
            state[target] += amount
    return np.sum(state[INFECTED] ** 2) + state[REMOVED, 0]


def filled_in_loops(x):
    table = {}
    for name in ("a", "b"):
        for k in (1, 2):
            table[name, k] = x * k
    return np.sum(table["a", 1] * table["b", 2]) + sum(table.values())[0]


def changed(x):
    table = {("a", 1): x * x, ("b", (2, 3)): x}
    table["a", 1] += x
    table.setdefault(("c", 0), x**3)
    last = table.pop(("c", 0))
    found = table.get(("a", 1), 0.0) + (table["b", (2, 3)] if ("b", (2, 3)) in table else 3.0)
    return np.sum(found * last) + (1.0 if ("c", 0) in table else x[0])


def comprehended(x):
    table = {(i, j): x**i * j for i in range(3) for j in range(3) if i < j}
    return sum(np.sum(v) * i for (i, j), v in table.items())


def one_key_for_equal_numbers(x):
    table = {(0, 1): x}
    table[0.0, True] = x**2
    return np.sum(table[False, 1.0]) * len(table)


def by_variables(x):
    table = {SUSCEPTIBLE: x, REMOVED: x**2}
    return np.sum(table[0] * table[REMOVED])


@pytest.mark.parametrize(
    "f", [flows, filled_in_loops, changed, comprehended, one_key_for_equal_numbers, by_variables],
    ids=lambda f: f.__name__,
)
def test_against_differences(f: Any) -> None:
    want = differences(f, X)
    np.testing.assert_allclose(s2s.grad(f)(X), want, rtol=1e-6)
    np.testing.assert_allclose(s2s.jacfwd(f)(X), want, rtol=1e-6)


def test_a_variable_that_is_a_key_is_looked_at_in_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    s2s.grad(by_variables)(X)
    monkeypatch.setitem(globals(), "REMOVED", 7)
    np.testing.assert_allclose(s2s.grad(by_variables)(X), 3.0 * X**2, rtol=1e-12)
    monkeypatch.setitem(globals(), "REMOVED", 0)
    np.testing.assert_allclose(s2s.grad(by_variables)(X), 4.0 * X**3, rtol=1e-12)


def test_dicts_leave_nothing_behind() -> None:
    text = s2s.source(changed, X)
    assert "dict" not in text and "rt." not in text


def deques(x):
    q = collections.deque([x, 1.0])
    return x * (q == [x, 1.0]) + 3.0 * x * (q == collections.deque([x, 1.0])) + 5.0 * x * (q != (x, 1.0))


def ordered(x):
    d, e = collections.OrderedDict(a=x, b=2.0), collections.OrderedDict(b=2.0, a=x)
    total = x * (d == e) + 3.0 * x * (d == {"b": 2.0, "a": x}) + 5.0 * x * (d != e)
    return total + 7.0 * x * (d == collections.OrderedDict(d))


def of_other_kinds(x):
    t, d = (x, 2.0), collections.Counter("ab")
    return x * ([x, 2.0] == t) + 3.0 * x * (d == {"a": 1, "b": 1}) + 5.0 * x * ({1, 2} != [1, 2]) + x


@pytest.mark.parametrize("f", [deques, ordered, of_other_kinds])
def test_containers_that_others_stand_for_are_equal_to_what_python_says(f):
    check(f, (1.3,))


def test_views_whose_items_are_not_known_are_not_taken_for_lists(monkeypatch):
    """Views are compared as sets, those of values are equal to nothing: the lists that stand for them may be."""

    def items(x):
        d = {"a": x, "b": x**2}
        return x * (d.items() == {"b": x**2, "a": x}.items())

    def values(x):
        d = {"a": 2.0, "b": 3.0}
        return x * (d.values() == d.values()) + 7.0 * x

    def with_a_list(x):
        d = {"a": x, "b": x**2}
        return x * (d.keys() == ["a", "b"]) + 7.0 * x

    for f, slope in ((items, 1.0), (values, 7.0), (with_a_list, 7.0)):
        with monkeypatch.context() as patch, pytest.raises(UnsupportedSyntaxError, match="a view of a dict"):
            patch.setenv("S2S_RECORDED", "0")
            s2s.grad(f)(1.5)
        with monkeypatch.context() as patch:
            patch.delenv("S2S_RECORDED", raising=False)
            assert s2s.grad(f)(1.5) == s2s.jvp(f, (1.5,), (1.0,))[1] == slope


def moved_to_the_ends(x):
    d = collections.OrderedDict(a=x[0], b=x[1] ** 2, c=x[2])
    _, first = d.popitem(last=False)
    d["d"] = first * x[3]
    d.move_to_end("b")
    d.move_to_end("d", last=False)
    _, final = d.popitem()
    return sum((k + 1) * v * v for k, v in enumerate(d.values())) * final


def least_recently_used(x):
    kept, total = collections.OrderedDict(), 0.0
    for k, key in enumerate("abacb"):
        if key in kept:
            kept.move_to_end(key)
        kept[key] = x[k % 4] * (k + 1)
        if len(kept) > 2:
            total += kept.popitem(last=False)[1] ** 2
    return total + sum((k + 1) * v * v for k, v in enumerate(kept.values()))


@pytest.mark.parametrize("program", [moved_to_the_ends, least_recently_used], ids=lambda f: f.__name__)
def test_the_order_of_an_ordered_dict(program):
    x = np.array([0.7, 1.3, 2.1, 0.4])
    expected = differences(program, x)
    np.testing.assert_allclose(s2s.grad(program)(x), expected, rtol=1e-6)
    np.testing.assert_allclose(s2s.jvp(program, (x,), (np.cos(x),))[1], expected @ np.cos(x), rtol=1e-6)


def test_a_key_that_is_moved_is_there():
    def f(x):
        d = collections.OrderedDict(a=x)
        d.move_to_end("b")
        return d["a"]

    with pytest.raises(KeyError, match="b"):
        s2s.grad(f)(2.0)
