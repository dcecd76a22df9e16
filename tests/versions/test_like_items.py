"""What the items of a container have in common, the test that others have it too, and which containers are data."""

from collections import namedtuple

import numpy as np
import pytest

from s2s.core.values import UNKNOWN, Array, DictOf, Dim, IterableOf, ListOf, Mapping, Scalar, Sequence
from s2s.versions import like_items
from s2s.versions.like_items import FEW, SEVERAL, Lengths, alike, are_items_of

Pair = namedtuple("Pair", "a b")
F8 = np.dtype("f8")


def ones(*shape):
    return np.ones(shape)


ALIKE = [
    ([1.0, 2.0], Scalar(float)), ([1, 2], Scalar(int)), ([True, False], Scalar(bool)),
    ([np.float32(1)] * 2, Scalar(np.float32)), (["a", "b"], UNKNOWN), ([[1.0], [1.0, 2.0]], ListOf(Scalar(float))),
    ([[[1], [2]], [[3]]], ListOf(ListOf(Scalar(int)))),
    ([(1.0, 2), (3.0, 4)], Sequence(tuple, (Scalar(float), Scalar(int)))),
    ([Pair(1, 2.0), Pair(3, 4.0)], Sequence(Pair, (Scalar(int), Scalar(float)))),
    ([{"a": 1, "b": 2.0}, {"a": 3, "b": 4.0}], Mapping(("a", "b"), (Scalar(int), Scalar(float)))),
    ([{"a": (1.0,)}], Mapping(("a",), (Sequence(tuple, (Scalar(float),)),))),
    ([ones(2, 3), ones(2, 4)], Array(F8, (Dim("x[0].0"), Dim("?.1")))),
    ([ones(1, 3), ones(1, 3)], Array(F8, (Dim("", 1), Dim("x[0].1")))),
    ([(ones(2), 1), (ones(2), 2)], Sequence(tuple, (Array(F8, (Dim("x[0][0].0"),)), Scalar(int)))),
    ([{"w": ones(2)}, {"w": ones(1)}], Mapping(("w",), (Array(F8, (Dim("?['w'].0"),)),))),
    ([[ones(2)], [ones(2)]], ListOf(Array(F8, (Dim("?[].0"),)))),
    ([[ones(2)], [ones(3)]], ListOf(Array(F8, (Dim("?[].0"),)))),
    ([[ones(1)], [ones(1)]], ListOf(Array(F8, (Dim("?[].0"),)))), ([ones(2)], Array(F8, (Dim("x[0].0"),))),
    ([dict.fromkeys("abcdefgh", 1.0)], Mapping(tuple("abcdefgh"), (Scalar(float),) * 8)),
    ([{1: 2, b"": 3, None: 4, False: 5}], Mapping((1, b"", None, False), (Scalar(int),) * 4)),
    ([tuple(range(8))] * 2, Sequence(tuple, (Scalar(int),) * 8)),
]  # fmt: skip


@pytest.mark.parametrize("items, expected", ALIKE, ids=range(len(ALIKE)))
def test_items_that_are_alike_have_one_abstract_value(items, expected):
    assert alike(items, "x[0]", "?") == expected
    matches = like_items.test_of(expected)
    assert matches is like_items.test_of(expected) and matches(items)
    for k, (others, value) in enumerate(ALIKE):
        assert not matches(others) or value == expected or alike(others, None, "?") == alike(items, None, "?"), k


def test_a_length_has_a_name_only_where_there_certainly_is_a_first_item():
    for items, part in [([(ones(2),)], "[0]"), ([{"w": ones(2)}], "['w']"), ([ones(2)], "")]:
        found = alike(items, None, "?x")
        array = found if isinstance(found, Array) else found.items[0]
        assert array.shape == (Dim(f"?x{part}.0"),)


@pytest.mark.parametrize("value, items", [
    (Mapping(("a",), (Scalar(int),)), [{"a": 1.0}]), (Mapping(("a",), (Scalar(int),)), [{"b": 1}]),
    (Mapping(("a",), (Scalar(int),)), [{"a": 1}, {"a": 1, "b": 1}]), (Mapping(("a",), (Scalar(int),)), [(1,)]),
    (Sequence(tuple, (Scalar(int),)), [(1.0,)]), (Sequence(tuple, (Scalar(int),)), [(1,), (1, 2)]),
    (Sequence(tuple, (Scalar(int),)), [[1]]), (Sequence(Pair, (Scalar(int),) * 2), [(1, 2)]),
    (ListOf(Scalar(int)), [[1.0]]), (ListOf(Scalar(int)), [(1,)]), (ListOf(Scalar(int)), [[1], [1.0]]),
    (Array(F8, None), [np.ones(2, "f4")]), (Array(F8, None), [1.0]), (Array(F8, None), [ones(2), 1.0]),
    (UNKNOWN, ["a", 1]), (Scalar(int), [True]), (Scalar(int), []), (IterableOf(list, Scalar(int)), [[1]]),
])
def test_items_that_differ_are_told(value, items):
    assert not like_items.test_of(value)(items)


@pytest.mark.parametrize("items", [
    [], [1, 2.0], [1, True], [None, None], [object()], [(1,), (1, 2)], [{"a": 1}, {"b": 1}], [(), ()], [{}, {}],
    [{"a": 1, "b": 1}, {"b": 1, "a": 1}], [ones(2), ones(2, 2)], [ones(2), np.ones(2, "f4")], [ones(), ones()],
    [np.array([None])], [tuple(range(9))], [{(1, 2): 1}], [[[[[1.0]]]]], [(1, "a"), (1, 2)], [np.datetime64(1, "s")],
    [{k: 1 for k in range(9)}], [[], []], [Pair(1, 2), (1, 2)],
], ids=range(22))  # fmt: skip
def test_items_of_several_kinds_have_none(items):
    assert alike(items, "x[0]", "?") is None
    assert not any(like_items.test_of(value)(items) for _, value in ALIKE)


@pytest.mark.parametrize("symbol, lengths, expected", [
    ("x[0].0", (2, 2), True), ("x[0].0", (2, 3), False), ("x[0].0", (1, 1), False), ("?.0", (2, 1), True),
    ("", (4, 4), True), ("", (4, 5), False), ("", (3, 3), False),
])
def test_a_length_is_one_that_all_have_or_any(symbol, lengths, expected):
    matches = like_items.test_of(Array(F8, (Dim(symbol, 0 if symbol else 4),)))
    assert matches([ones(n) for n in lengths]) is expected
    assert not matches([ones(n, n) for n in lengths])
    assert like_items.test_of(Array(F8, None))([ones(n) for n in lengths])


@pytest.mark.parametrize("count", [FEW, FEW + 1])
def test_data_has_more_than_few_items(count):
    floats, keyed = [1.0] * count, dict.fromkeys(map(str, range(count)), 1.0)
    assert are_items_of(IterableOf(list, Scalar(float)), floats) is (count > FEW)
    assert are_items_of(IterableOf(set, Scalar(int)), set(range(count))) is (count > FEW)
    assert are_items_of(DictOf(UNKNOWN, Scalar(float)), keyed) is (count > FEW)
    assert not are_items_of(IterableOf(list, Scalar(int)), floats)
    assert not are_items_of(IterableOf(tuple, Scalar(float)), floats)
    assert not are_items_of(DictOf(Scalar(int), Scalar(float)), keyed)
    assert not are_items_of(DictOf(UNKNOWN, Scalar(int)), keyed) and not are_items_of(DictOf(UNKNOWN, UNKNOWN), floats)


def test_containers_are_data_after_a_second_length():
    sizes = Lengths()
    assert not sizes.is_data("x", [1.0] * 5) and not sizes.is_data("x", [2.0] * 5) and not sizes.is_data("y", [1.0] * 6)
    assert not sizes.is_data("x", [1.0] * FEW) and not sizes.found
    assert sizes.is_data("x", [1.0] * 6) and sizes.found
    assert not sizes.is_data("d", dict(a=1, b=2, c=3, d=4)) and sizes.is_data("d", dict(a=1, b=2, c=3, e=4))


def test_long_lists_are_data_at_once_and_long_tuples_are_not():
    for count in (SEVERAL, SEVERAL + 1):
        assert Lengths().is_data("x", [1.0] * count) is (count > SEVERAL)
        assert Lengths().is_data("x", dict.fromkeys(range(count), 1.0)) is (count > SEVERAL)
        assert not Lengths().is_data("x", (1.0,) * count)


def test_lists_of_lists_are_counted_by_their_items():
    assert Lengths().is_data("x", [[1] * 9, [1] * 8, [1] * 8, [1] * 8])
    assert not Lengths().is_data("x", [[1] * 8] * 4)
    assert Lengths().is_data("x", dict(zip("abcd", [[1] * 9, [1] * 8, [1] * 8, [1] * 8], strict=True)))
    assert not Lengths().is_data("x", [1.0, [1] * 40, 2.0, 3.0]) and Lengths().is_data("x", [[1] * 40, 1.0, 2.0, 3.0])
    sizes = Lengths()
    assert not sizes.is_data("x", [[1], [1, 2], [1], [1]]) and sizes.is_data("x", [[1], [1], [1, 2], [1]])
