"""Items of dicts and tuples at places that only the run knows: each read adds to one cotangent."""

import collections

import numpy as np
import pytest

import s2s
from tests.helpers import differences

X = np.linspace(-0.9, 1.3, 36).reshape(12, 3)
FACTORS = tuple(map(float, range(12)))
PLACES = [0, 1, 1, 3, 11, 4]
Record = collections.namedtuple("Record", "a b c d e f g h i j k l")

MAKERS = {
    "tuple": lambda x: tuple(row.copy() for row in x),
    "dict": lambda x: {k: row.copy() for k, row in enumerate(x)},
    "named tuple": lambda x: Record(*(row.copy() for row in x)),
    "list of two kinds": lambda x: [row.copy() if k % 2 else row[None].copy() for k, row in enumerate(x)],
}


def rows(items):
    values = items.values() if isinstance(items, dict) else items
    return np.array([np.ravel(item) for item in values])


def read_twice(items, places):
    total = 0.0
    for k in places:
        total = total + np.sum(items[k] * items[k] * items[k])
    return total


def beside_a_known_place(items, places):
    total = 0.0
    for k in places:
        total = total + np.sum(items[k] ** 2) * np.sum(items[2])
    return total


def under_a_condition(items, places):
    total = 0.0
    for k in places:
        a = items[k]
        if np.sum(a) > 0.5:
            total = total + np.sum(a**2)
        else:
            total = total * 1.1 - np.sum(a**3)
    return total


def until_a_break(items, places):
    total, i = 0.0, 0
    while i < len(places):
        total = total + np.sum(items[places[i]] ** 2)
        if total > 4.0:
            break
        i += 1
    return total


def without_a_loop(items, places):
    k = places[2]
    return np.sum(items[k] ** 3) + np.sum(items[k + 1] * items[k])


PROGRAMS = [read_twice, beside_a_known_place, under_a_condition, until_a_break, without_a_loop]


@pytest.mark.grid(0.5)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("kind", MAKERS)
def test_items_of_arguments(program, kind, monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "0")
    make = MAKERS[kind]
    expected = differences(lambda x: program(make(x), PLACES), X)
    found = s2s.grad(program)(make(X), PLACES)
    assert type(found) is type(make(X))
    np.testing.assert_allclose(rows(found), expected, rtol=1e-6, atol=1e-8)
    direction = np.cos(X)
    moved = s2s.jvp(program, (make(X), PLACES), (make(direction), None))[1]
    np.testing.assert_allclose(moved, np.sum(expected * direction), rtol=1e-6)

    def slope(items, direction):
        return s2s.jvp(program, (items, PLACES), (direction, None))[1]

    second = differences(lambda x: np.sum(rows(s2s.grad(program)(make(x), PLACES)) * direction), X)
    np.testing.assert_allclose(rows(s2s.grad(slope)(make(X), make(direction))), second, rtol=1e-5, atol=1e-7)


def made_here(x, places):
    parts = tuple(np.sin(x * j) for j in FACTORS)
    total = 0.0
    for k in places:
        total = total + np.sum(parts[k] * parts[k - 1])
    return total


def a_dict_made_here(x, places):
    parts = {int(j): np.sin(x * j) for j in FACTORS}
    total = 0.0
    for k in places:
        total = total + np.sum(parts[k] * parts[3])
    return total


def made_in_a_loop(x, places):
    total = 0.0
    for j in range(2):
        parts = tuple(x * np.sin(j + k) for k in FACTORS)
        for k in places:
            total = total + np.sum(parts[k] ** 2)
    return total


def turned_in_a_loop(x, places):
    parts = tuple(np.sin(x * j) for j in FACTORS)
    total = 0.0
    for k in places:
        total = total + np.sum(parts[k] ** 2)
        parts = parts[1:] + parts[:1]
    for k in places:
        total = total + np.sum(parts[k] ** 3)
    return total


def one_of_two(x, places):
    parts = tuple(x * j for j in FACTORS) if np.sum(x) > 0 else tuple(x + j for j in FACTORS)
    total = 0.0
    for k in places:
        total = total + np.sum(parts[k] ** 2)
    return total


def until_an_error(x, places):
    total = 0.0
    for k in [*places, 15]:
        parts = tuple(np.exp(x * j) for j in FACTORS)
        try:
            total = total + np.sum(parts[k] * parts[-1])
        except IndexError:
            total = total * 2.0
    return total


def complex_numbers(x, places):
    parts = tuple(np.exp(1j * x[0] * j) for j in FACTORS)
    total = 0j
    for k in places:
        total = total + parts[k] * x[1]
    return abs(total)


def entries_put_in_its_place(x, places):
    parts = {int(j): x * j for j in FACTORS}
    for k in places:
        parts[k] = parts[k] * parts[1]
    return np.sum(parts[1]) + np.sum(parts[3] ** 2)


@pytest.mark.parametrize("program", [
    made_here, a_dict_made_here, made_in_a_loop, turned_in_a_loop, one_of_two, until_an_error, complex_numbers,
    entries_put_in_its_place,
], ids=lambda f: f.__name__)
def test_items_of_what_is_made_here(program, monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "0")
    x = np.array([0.4, 0.7, -0.2])
    expected = differences(lambda x: program(x, PLACES), x)
    np.testing.assert_allclose(s2s.grad(program)(x, PLACES), expected, rtol=1e-6, atol=1e-8)
    moved = s2s.jvp(program, (x, PLACES), (np.cos(x), None))[1]
    np.testing.assert_allclose(moved, np.sum(expected * np.cos(x)), rtol=1e-6)


def all_entries(items):
    total = 0.0
    for key in items:
        total = total + np.sum(items[key] * items[key])
    return total


def test_each_read_of_a_large_dict_adds_to_one_entry():
    x = np.arange(240.0).reshape(120, 2)
    found = s2s.grad(all_entries)
    np.testing.assert_allclose(rows(found({f"a{k}": row.copy() for k, row in enumerate(x)})), 2 * x)
    body = found.source.split("for i in reversed")[1].split("\n    items_bar")[0]
    assert len(body.splitlines()) < 12, found.source


def put_one(items, key):
    items = dict(items)
    items[key] = 2.0 * items["a"] * items["b"]
    return np.sum(items["a"] ** 2) + np.sum(items["b"] ** 3) + np.sum(items[key])


@pytest.mark.parametrize("key", ["a", "c"])
def test_an_entry_that_replaces_one_or_is_new(key, monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "0")
    x = np.array([[0.3, 0.5], [0.7, -0.2]])
    make = lambda x: dict(zip("ab", x.copy(), strict=True))  # noqa: E731
    expected = differences(lambda x: put_one(make(x), key), x)
    np.testing.assert_allclose(rows(s2s.grad(put_one)(make(x), key)), expected, rtol=1e-6)
