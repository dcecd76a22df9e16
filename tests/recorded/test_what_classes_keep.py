"""What is known of an object by its class: whether it may keep what it is given, and whose methods it has."""

import array
import collections
import datetime
import decimal
import enum
import fractions
import functools
import itertools
import operator
import random
import threading
import types

import numpy as np
import pytest

from s2s.recorded import kinds


class Plain:
    pass


class Prepared:
    def __new__(cls, held):
        return super().__new__(cls)

    def __init__(self, held):
        self.held = held


class Row(list):
    pass


class Line(collections.deque):
    pass


class Length(float):
    pass


class Turned(float):
    def __mul__(self, other):
        return -float(self) * other


class Field(np.ndarray):
    pass


class Unit(np.ndarray):
    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return NotImplemented


class Failure(Exception):
    pass


class Draws(random.Random):
    pass


class OwnDraws(random.Random):
    def __new__(cls, held):
        return super().__new__(cls)

    def __init__(self, held):
        self.held = held


class Typed(array.array):
    pass


class Span(datetime.timedelta):
    pass


class Count(int):
    pass


class Name(str):
    pass


class Chain(itertools.chain):
    pass


class Default(collections.defaultdict):
    pass


class Local(threading.local):
    pass


class Bound(functools.partial):
    pass


class Place(enum.IntEnum):
    FIRST = 3


class Odd(int):
    def __add__(self, other):
        return 0


PYTHON = [Plain, Prepared, Row, Line, Length, Turned, Field, Unit, Failure, OwnDraws, fractions.Fraction]
COMPILED = [
    Draws, Typed, Span, Count, Name, Chain, Default, Local, Bound, int, object, decimal.Decimal, random.Random,
    type,
]


@pytest.mark.parametrize("kind, is_python", [*((kind, True) for kind in PYTHON), *((kind, False) for kind in COMPILED)])
def test_whether_python_code_makes_objects(kind, is_python):
    """Each of ``__new__`` and ``__init__`` is Python code, or keeps nothing."""
    assert kinds.is_python(kind) is is_python


@pytest.mark.parametrize("value, is_opaque", [
    *((value, False) for value in (
        1.0, 2j, 3, True, None, "text", b"bytes", np.ones(2), np.float32(1.0), Plain(), Prepared(1.0), Row(), Line(),
        [1.0], (), {}, set(), range(3), iter([]), Plain, np, np.sin, len, [].append, Failure(), Default(list),
        Chain([]), slice(2), types.SimpleNamespace(a=1.0), functools.partial(len), Bound(len), Length(2.0),
        np.random.default_rng(1), OwnDraws(1.0), fractions.Fraction(1, 2))),
    *((value, True) for value in (
        Draws(), Typed("d"), array.array("d"), Span(1), decimal.Decimal(1), object(), memoryview(b""), Local(),
        random.Random(), bytearray(), operator.itemgetter(0))),
])
def test_whether_an_object_may_keep_what_it_is_given(value, is_opaque):
    assert kinds.is_opaque(value) is is_opaque


@pytest.mark.parametrize("value, names, is_numeric", [
    (1.0, (), True), (2, ("__add__",), True), (True, (), True), (2j, ("__mul__",), True), (np.float16(1.0), (), True),
    (np.ones(2), ("__mul__",), True), (Length(2.0), ("__mul__",), True), (Turned(2.0), ("__mul__", "__add__"), False),
    (Turned(2.0), ("__add__",), True), (np.ones(2).view(Field), ("__mul__",), True),
    (np.ones(2).view(Unit), ("__mul__",), False), ("text", (), False), ([1.0], (), False), (Plain(), (), False),
])
def test_whether_a_class_leaves_operators_to_python(value, names, is_numeric):
    assert kinds.is_numeric(value, *names) is is_numeric


def test_integers_of_other_classes():
    for value, names, kind in [
        (Place.FIRST, ("__add__",), int), (Count(3), (), int), (Odd(3), ("__add__",), Odd), (Odd(3), ("__mul__",), int),
        (3, (), int), (True, (), bool), (np.int64(3), (), np.int64), (2.5, (), float), ("text", (), str),
    ]:
        made = kinds.plain_integer(value, *names)
        assert type(made) is kind and made == value


def test_classes_of_arrays_with_methods_of_their_own():
    assert not kinds.overrides(Field) and kinds.overrides(Unit) and not kinds.overrides(np.ndarray)
    assert not kinds.overrides(Unit, ("__array_function__",)) and kinds.is_plain(np.ones(1).view(Unit), "sum")
    assert kinds.overrides(np.ma.MaskedArray, ("__mul__",)) and not kinds.is_plain(np.ma.array([1.0]), "sum")
    assert type(kinds.plain_array(np.ones(1).view(Field))) is np.ndarray and kinds.plain_array("text") == "text"


def test_functions_within_others():
    def inner(x):
        return x

    assert kinds.python_of(np.frompyfunc(inner, 1, 1)) is inner and kinds.python_of(np.sin) is None
    assert kinds.method_called(operator.methodcaller("sort")) == ("sort", (), {})
    assert kinds.method_called(operator.methodcaller("pop", 1, 2)) == ("pop", (1, 2), {})
    assert kinds.method_called(operator.methodcaller("sort", key=inner)) == ("sort", (), {"key": inner})
    assert kinds.names_of(operator.iadd) == kinds.names_of(operator.add) == ("__add__", "__radd__", "__iadd__")
    assert kinds.names_of(operator.neg) == ("__neg__",) and kinds.names_of(len) == ()
    assert [*kinds.flat([1.0, (2.0, [3.0]), "text", [0.0] * 64])] == [1.0, 2.0, 3.0, "text", [0.0] * 64]
    assert [*kinds.flat([[0.0] * 63])] == [0.0] * 63
    assert all(map(kinds.is_read_item_by_item, (iter([]), zip(), collections.deque())))
    assert not any(map(kinds.is_read_item_by_item, ([], (), {}, set(), "text", b"", range(2), np.ones(1), 1.0, Row())))
