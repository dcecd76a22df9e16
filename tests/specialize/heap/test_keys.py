"""Keys of dicts that are tuples, and keys that are variables of a module."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import s2s
from tests.helpers import differences

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
