"""Which other arguments the text of a version is not right for, where what the compiler would write is given."""

import types

import numpy as np
import pytest

from s2s.core.values import Array, Dim, Instance, Mapping, Scalar, Sequence, Unknown
from s2s.errors import error
from s2s.shipping import departures

TEXT = "def f(a, b=1):\n    return a\n"


def asked(aval, changes, is_varied=False, text=TEXT):
    """The conditions for an argument ``a``, and the kinds that were asked for; ``changes`` says whether one has another
    text, or which, or what objects."""
    seen = []
    compiled = types.SimpleNamespace(entry="f", objects={"g": np}, guards=())

    def remade(made, number, other):
        assert number == 0
        seen.append(other)
        found = changes(other)
        if isinstance(found, dict):
            return types.SimpleNamespace(text=made.text, compiled=types.SimpleNamespace(objects=found))
        other_text = found if isinstance(found, str) else "x = 2" if found else made.text
        return types.SimpleNamespace(text=other_text, compiled=compiled)

    request = types.SimpleNamespace(wrt=[("a",)] if is_varied else [("b",)])
    made = types.SimpleNamespace(avals=(aval,), compiled=compiled, request=request, text=text)
    found = departures.Departures(made, lambda one: one.text, remade)
    return [test for test, _ in found.of_argument(0, "a")], seen


def array(dtype, *lengths):
    return Array(np.dtype(dtype), tuple(Dim("", n) if isinstance(n, int) else Dim(f"a.{k}")
                                        for k, n in enumerate(lengths)))  # fmt: skip


def always(other):
    return True


def never(other):
    return False


def of_kind(*kinds):
    """Numbers of these types, arrays of these dtypes."""
    return lambda other: (isinstance(other, Scalar) and other.type in kinds) or (
        isinstance(other, Array) and other.dtype.kind in kinds)  # fmt: skip


def of_rank(*ranks):
    return lambda other: isinstance(other, Array) and len(other.shape) in ranks


def is_list(other):
    return other == Sequence(list, (Scalar(float),) * 3)


def with_one(axis):
    return lambda other: isinstance(other, Array) and other.shape[axis:] and other.shape[axis] == Dim("", 1)


ARRAYS = [
    (array("f8", "n"), never, False, []),
    (array("f8", "n"), always, False, ['a.dtype.kind != "f"', "a.ndim != 1"]),
    (array("f8", "n"), never, True, ['a.dtype.kind != "f"']),
    (array("c16", "n"), never, True, ['a.dtype.kind != "c"']),
    (array("c16", "n"), never, False, []),
    (array("f8", "n"), of_kind("c"), False, ['a.dtype.kind == "c"']),
    (array("f8", "n"), of_kind("i"), False, ['a.dtype.kind != "f"']),
    (array("i8", "n"), of_kind("f"), False, ['a.dtype.kind not in "iu"']),
    (array("u2", "n"), of_kind("b"), True, ['a.dtype.kind not in "iu"']),
    (array("i8", "n"), of_kind("c"), False, ['a.dtype.kind == "c"']),
    (array("?", "n"), of_kind("i"), False, ['a.dtype.kind != "b"']),
    (array("O", "n"), of_kind("i", "f", "c", "b"), False, []),
    (array("f8", "n"), is_list, False, ["isinstance(a, (list, tuple))"]),
    (array("f8", "n"), lambda other: is_list(other) or of_kind("c")(other), False, ['a.dtype.kind == "c"']),
    (array("f8", "n"), of_rank(2), False, ["a.ndim != 1"]),
    (array("f8", "n"), of_rank(4), False, ["a.ndim != 1"]),
    (array("f8", "n"), of_rank(0), False, []),
    (array("f8", "n"), lambda other: of_rank(0)(other) or of_kind(np.float64)(other), False, ["a.ndim == 0"]),
    (array("f8"), of_rank(0), False, ['a.dtype.kind != "f"']),
    (array("f8"), of_rank(1), False, ["a.ndim != 0"]),
    (Array(np.dtype(float), None), is_list, False, ["isinstance(a, (list, tuple))"]),
    (Array(np.dtype(float), None), of_kind("c"), False, ['a.dtype.kind == "c"']),
    (array("f8", "n"), with_one(0), False, []),
    (array("f8", "n", "m"), with_one(0), False, ["len(a) == 1"]),
    (array("f8", "n", "m"), with_one(1), False, ["a.shape[1] == 1"]),
    (array("f8", "n", "m"), lambda other: with_one(0)(other) or with_one(1)(other), False, ["1 in a.shape"]),
    (array("f8", 3), lambda other: other == array("f8", "n"), False, ["len(a) != 3"]),
    (array("f8", 3, 2), lambda other: other == array("f8", 3, "m"), False, ["a.shape[1] != 2"]),
]


@pytest.mark.parametrize("aval, changes, is_varied, tests", ARRAYS)
def test_what_is_said_of_arrays(aval, changes, is_varied, tests):
    found, seen = asked(aval, changes, is_varied)
    assert found == tests
    own = np.zeros([d.offset if d.is_constant else 5 for d in aval.shape or ()], aval.dtype)
    assert not any(eval(test, {"a": own}) for test in found)


NUMBERS = [
    (float, always, True, ["not isinstance(a, float)"], 0),
    (complex, always, True, ["not isinstance(a, complex)"], 0),
    (np.float32, never, True, [], 4),
    (float, never, False, [], 4),
    (float, always, False, ['hasattr(a, "__index__")', 'hasattr(a, "__len__")', "a.imag"], 3),
    (float, of_kind(int), False, ['hasattr(a, "__index__")'], 4),
    (np.float64, of_kind(complex), False, ["a.imag"], 4),
    (float, of_rank(1), False, ['hasattr(a, "__len__")'], 3),
    (float, of_rank(0), False, ['hasattr(a, "__len__")'], 4),
    (int, always, False, ["not isinstance(a, (int, np.integer))"], 1),
    (np.int32, of_kind(float), True, ["not isinstance(a, (int, np.integer))"], 1),
    (int, of_kind(complex), False, ["a.imag"], 4),
    (complex, always, False, ['hasattr(a, "__len__")'], 1),
    (np.complex64, never, False, [], 2),
    (bool, always, False, ['hasattr(a, "__len__")', "a.imag"], 2),
]


@pytest.mark.parametrize("kind, changes, is_varied, tests, count", NUMBERS)
def test_what_is_said_of_numbers(kind, changes, is_varied, tests, count):
    """And how many other kinds are asked for."""
    found, seen = asked(Scalar(kind), changes, is_varied)
    assert found == tests and len(seen) == count
    assert not any(eval(test, {"a": kind(1), "np": np}) for test in found)


PAIR = Scalar(float), Scalar(int)


class Layer:
    pass


@pytest.mark.parametrize("aval, places", [
    (Sequence(tuple, PAIR), ("a[0]", "a[1]")), (Mapping(("w", 2), PAIR), ("a['w']", "a[2]")),
    (Instance(Layer, ("w", "b"), PAIR), ("a.w", "a.b")),
])
def test_items_are_asked_for_one_at_a_time(aval, places):
    found, seen = asked(aval, lambda other: other.items[0] == Scalar(int) or other.items[1] == Scalar(float))
    assert found == [f'hasattr({places[0]}, "__index__")', f"not isinstance({places[1]}, (int, np.integer))"]
    assert all(type(other) is type(aval) for other in seen)
    assert all(sum(one == other for one, other in zip(asked_for.items, PAIR, strict=True)) == 1 for asked_for in seen)


def test_so_many_kinds_are_asked_for_and_no_more(monkeypatch):
    """What is not asked for is taken to have another text."""
    many = Sequence(tuple, (Scalar(int),) * 40)
    found, seen = asked(many, never)
    assert len(seen) == departures.MOST == 64 and found == [f"not isinstance(a[{k}], (int, np.integer))"
                                                            for k in range(16, 40)]  # fmt: skip
    monkeypatch.setattr(departures, "MOST", 2)
    found, seen = asked(Scalar(int), never)
    assert len(seen) == 2 and found == ['hasattr(a, "__len__")', "a.imag"]


@pytest.mark.parametrize("lines, count", [(departures.LONG, 4), (departures.LONG + 1, 0)])
def test_nothing_is_asked_of_long_texts(lines, count):
    found, seen = asked(Scalar(int), never, text="x = 1\n" * lines)
    assert len(seen) == count and bool(found) is (count == 0)


def test_nothing_is_said_of_other_kinds():
    assert asked(Unknown(), always) == ([], [])


@pytest.mark.parametrize("other, changes", [
    (TEXT, False), (TEXT.replace("b=1", "b"), False), (TEXT.replace("return a", "return  a  # a"), False),
    (TEXT.replace("return a", "return b"), True), (TEXT.replace("def f", "def g"), True),
    (f"def g(b=2):\n    return b\n{TEXT}", True),
])
def test_texts_are_compared_as_trees_without_defaults(other, changes):
    assert bool(asked(Scalar(int), lambda aval: other)[0]) is changes


@pytest.mark.parametrize("objects, changes", [({"g": np}, False), ({"g": pytest}, True), ({}, True), ({"h": np}, True)])
def test_texts_about_other_objects_are_others(objects, changes):
    assert bool(asked(Scalar(int), lambda aval: objects)[0]) is changes


def test_what_is_refused_is_a_departure():
    def refuse(other):
        raise error("S2S401", name="f", shape=(3,))

    assert asked(Scalar(float), refuse)[0] == ['hasattr(a, "__index__")', 'hasattr(a, "__len__")', "a.imag"]


def test_of_parts_only_other_numbers_are_right():
    made = types.SimpleNamespace(avals=(), compiled=types.SimpleNamespace(entry="f", objects={}, guards=()),
                                 request=types.SimpleNamespace(wrt=[]))  # fmt: skip
    found = departures.Departures(made, lambda one: TEXT, None)
    assert [*found.of_part("p.w", Scalar(float))] == [
        ('hasattr(p.w, "__len__")', "p.w: float"), ("p.w.imag", "p.w: float")]  # fmt: skip
    assert [test for test, _ in found.of_part("p[0]", Scalar(int))] == ['hasattr(p[0], "__len__")', "p[0].imag"]
    assert [test for test, _ in found.of_part("p.w", array("f8", "n"))] == ['p.w.dtype.kind != "f"', "p.w.ndim != 1"]
