"""Arguments in, their abstract values and the conditions of these out."""

import types

import numpy as np
import pytest

from s2s.core.values import Array, DictOf, Dim, Instance, IterableOf, ListOf, Mapping, Scalar, Sequence
from s2s.versions.like_items import MANY, Lengths
from s2s.versions.signature import Names, array_places, describe, guard_source

MATRIX = Array(np.dtype(float), (Dim("m.0"), Dim("m.1")))


class Slotted:
    __slots__ = ("a",)

    def __init__(self, a):
        self.a = a


@pytest.mark.parametrize("item, is_data", [
    (1.0, True), (2, True), (1j, True), (np.float32(1.0), True), (np.ones(2), True), (True, False), ("a", False),
    ((1.0, 2.0), False), ([1.0], False), ({"a": 1.0}, False),
])
def test_long_lists_of_numbers_and_arrays_are_data(item, is_data):
    """Of a list, without a record of the lengths that came before."""
    for count in (MANY, MANY + 1):
        found = describe([item] * count, "x")
        assert isinstance(found, ListOf if is_data and count > MANY else Sequence)
    if not is_data:
        assert isinstance(describe([1.0] * MANY + [item], "x"), Sequence)


@pytest.mark.parametrize("aval, expected", [
    (MATRIX, ["p"]),
    (Scalar(float), []),
    (ListOf(MATRIX), ["p[:]"]),
    (ListOf(Scalar(float)), []),
    (Sequence(tuple, (Scalar(float), MATRIX, Sequence(list, (MATRIX,)))), ["p[1]", "p[2][0]"]),
    (Mapping(("a", 3), (MATRIX, ListOf(MATRIX))), ["p['a']", "p[3][:]"]),
    (Instance(Slotted, ("a", "b"), (MATRIX, Mapping(("c",), (MATRIX,)))), ["p.a", "p.b['c']"]),
])
def test_arrays_have_places(aval, expected):
    assert array_places(aval, "p") == expected


def _lengths_of(value):
    """A record in which a container is data: it has come with other contents."""
    sizes = Lengths()
    sizes.is_data("x", {k: 1.0 for k in range(5)} if isinstance(value, dict) else type(value)([1.0] * 9))
    return sizes


def _by_key(kind, item=1.0):
    return {kind(k): item for k in range(4)}


DATA = {
    "floats by name": (_by_key(str), DictOf, [{"p": 1.0, "q": 2.0, "r": 3.0, "s": 4.0, "t": 5.0}],
                       [_by_key(int), _by_key(str, 1), {**_by_key(str), 7: 1.0}, {"a": 1.0}]),
    "floats by number": (_by_key(int), DictOf, [{9: 1.0, 8: 1.0, 7: 2.0, 6: 1.0}],
                         [_by_key(str), _by_key(int, 1), {**_by_key(int), "a": 1.0}, [*_by_key(int)]]),
    "texts by number": (_by_key(int, "a"), DictOf, [{9: "b", 8: "b", 7: "b", 6: "b"}],
                        [_by_key(str, "a"), _by_key(int)]),
    "pairs by name": (_by_key(str, (1.0, 2)), DictOf, [{**_by_key(str, (3.0, 4)), "e": (0.0, 0)}],
                      [_by_key(int, (1.0, 2)), _by_key(str, (1.0, 2.0)), _by_key(str, (1.0,))]),
    "tuple": ((1.0,) * 5, IterableOf, [(2.0,) * 4], [(1.0,) * 3, [1.0] * 5, (1,) * 5, (1.0, 1.0, 1.0, 2)]),
    "list": ([1.0] * 5, ListOf, [[2.0] * 4], [[1.0] * 3, (1.0,) * 5, [1] * 5, [1.0, 1.0, 1.0, 2]]),
}  # fmt: skip


@pytest.mark.parametrize("name", DATA)
def test_data_is_known_by_its_items(name):
    value, kind, same, others = DATA[name]
    found = describe(value, "x", lengths=_lengths_of(value))
    assert type(found) is kind
    assert _fits(found, value, value) and all(_fits(found, value, other) for other in same)
    assert not any(_fits(found, value, other) for other in others)


def _fits(aval, example, value):
    names = Names()
    tests = guard_source("x", aval, names, example)
    return eval(" and ".join(tests), dict(names.objects), {"x": value})


STRUCTURES = {
    "float": (1.0, [2.0], [1, np.float64(1.0), "a", None]),
    "constant": (True, [True], [False, 1, None]),
    "text": ("a", ["a"], ["b", b"a"]),
    "vector": (np.ones(2), [np.ones(3)], [np.ones(1), np.ones(2, int), np.ones((2, 2)), [1.0, 1.0]]),
    "row": (np.ones((1, 3)), [np.ones((1, 2))], [np.ones((2, 3)), np.ones((1, 1)), np.ones(3)]),
    "pair": ((1.0, 2), [(3.0, 4)], [(1.0, 2.0), (1.0,), [1.0, 2], (1.0, 2, 3)]),
    "dict": ({"a": 1.0, 2: 3.0}, [{"a": 2.0, 2: 0.0}],
             [{2: 3.0, "a": 1.0}, {"a": 1.0}, {"a": 1, 2: 3.0}, {"a": 1.0, 2.0: 3.0}]),
    "namespace": (types.SimpleNamespace(a=1.0), [types.SimpleNamespace(a=2.0)],
                  [types.SimpleNamespace(a=1), types.SimpleNamespace(a=1.0, b=2.0), types.SimpleNamespace(), 1.0]),
    "slots": (Slotted(1.0), [Slotted(2.0)], [Slotted(1), object.__new__(Slotted), types.SimpleNamespace(a=1.0)]),
}  # fmt: skip


@pytest.mark.parametrize("name", STRUCTURES)
def test_a_structure_is_known_by_its_parts(name):
    value, same, others = STRUCTURES[name]
    found = describe(value, "x", attributes=name in ("namespace", "slots"))
    assert _fits(found, value, value) and all(_fits(found, value, other) for other in same)
    assert not any(_fits(found, value, other) for other in others)
