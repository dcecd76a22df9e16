"""Guards by themselves: each holds until what it is about is changed, in the text of a dispatch and in a file too."""

import ast
import importlib
import math
import re
import types

import numpy as np
import pytest

from s2s.core.const import Const
from s2s.core.values import Dim
from s2s.errors import InternalError
from s2s.versions.argument_guards import EqualGuard, LargeGuard, SeparateGuard, SizeGuard, SumGuard
from s2s.versions.expressions import Expressions, length_of, split_symbol
from s2s.versions.fingerprints import Unstorable
from s2s.versions.guards import (
    AliasGuard,
    AttributeGuard,
    BasesGuard,
    CallGuard,
    ClassGuard,
    KindGuard,
    NamesGuard,
    ObjectGuard,
    ShadowGuard,
)
from s2s.versions.signature import Names, describe, with_sizes


class Settings:
    def __init__(self):
        self.mode = "square"
        self.parts = [1.0, np.ones((3, 2))]

    def run(self, x):
        return x


SETTINGS = Settings()
PARTS = SETTINGS.parts


def square(x):
    return SETTINGS.parts[0] * x * x


def mode_of(name):
    return {"found": SETTINGS.mode}.get(name)


def add_to_class(monkeypatch):
    monkeypatch.setattr(Settings, "other", 1, raising=False)


def remove_from_class(monkeypatch):
    monkeypatch.delattr(Settings, "run")


def add(monkeypatch):
    monkeypatch.setattr(SETTINGS, "other", 1, raising=False)


def gain_call(monkeypatch):
    monkeypatch.setattr(Settings, "__call__", math.sin, raising=False)


def hide(monkeypatch):
    monkeypatch.setattr(SETTINGS, "run", math.sin)


def other_mode(monkeypatch):
    monkeypatch.setattr(SETTINGS, "mode", "cube")


def other_parts(monkeypatch):
    monkeypatch.setattr(SETTINGS, "parts", [1.0, np.ones((3, 1))])


SITE = ("global", ("SETTINGS",))
OF_PARTS = ("global", ("SETTINGS", "parts"), None)
GUARDS = [
    (ObjectGuard("global", ("SETTINGS", "mode"), "square"), other_mode),
    (AttributeGuard(*SITE, "other", False), add), (AttributeGuard(*SITE, "run", True), remove_from_class),
    (ShadowGuard(*SITE, "run"), hide), (NamesGuard("global", ("SETTINGS", "__dict__"), ("mode", "parts")), add),
    (KindGuard("global", "SETTINGS", describe(PARTS[1], "SETTINGS"), rest=("parts", (1,))), other_parts),
    (KindGuard("global", "SETTINGS", with_sizes(describe(PARTS, ""), PARTS), rest=("parts",)), other_parts),
    (ClassGuard(Settings, "other", False), add_to_class), (ClassGuard(Settings, "run", True), remove_from_class),
    (BasesGuard.of(Settings), gain_call),
    (CallGuard(mode_of, ("found",), "square"), other_mode),
    (AliasGuard(OF_PARTS, ("global", ("PARTS",), None), True), other_parts),
    (AliasGuard(OF_PARTS, ("global", ("PARTS", (1,)), square), False), None),
]  # fmt: skip


@pytest.mark.parametrize("scope", [globals(), {}], ids=["its own globals", "others"])
@pytest.mark.parametrize("guard, change", GUARDS, ids=[f"{type(g).__name__}-{k}" for k, (g, _) in enumerate(GUARDS)])
def test_a_guard_holds_until_what_it_is_about_changes(guard, change, scope, monkeypatch):
    names = Names()
    conditions = guard.conditions(square, Expressions(names, str, scope, ()))
    text = ast.literal_eval(repr(guard.dump()))

    def holds():
        written = eval(" and ".join(conditions) or "True", {**scope, **names.objects})
        return guard.holds(square, None) and (guard.late or written)

    assert holds()
    assert bool(conditions) is not guard.late
    assert guard.stored_as == text["kind"]
    owner = None if guard.owner is None else square
    assert type(guard).load(text, owner, square) == guard
    if change is not None:
        change(monkeypatch)
        assert not holds()
        with pytest.raises(ValueError, match=re.compile("not as it was")):
            type(guard).load(text, owner, square)


def test_a_place_of_an_argument_is_asked_with_arguments_only():
    guard = ObjectGuard("argument", ("x", (0,)), None)
    assert guard.holds(square, None) and guard.holds(square, {"x": [None]})
    assert not guard.holds(square, {"x": [1.0]}) and not guard.holds(square, {"x": ()}) and not guard.holds(square, {})


def test_a_place_that_begins_with_an_object_is_stored_by_where_that_is_found():
    path, code = (Const(square), "__code__"), square.__code__
    found = ObjectGuard("value", path, code, None, False, ("global", ("square",), None))
    text = found.dump()
    assert (text["root"], text["path"], text["owner"]) == ("global", ["square", "__code__"], None)
    assert ObjectGuard.load(text, None, square) == ObjectGuard("global", ("square", "__code__"), code)
    for lost in (ObjectGuard("value", path, code), ObjectGuard("argument", ("x",), None),
                 ObjectGuard("global", (Const(1),), 1), ObjectGuard("global", ("PARTS", (1.5,)), 1)):
        with pytest.raises(Unstorable):
            lost.dump()


@pytest.mark.parametrize("late, found, stored", [
    (False, None, True), (True, None, False), (False, ("global", ("f",), None), True),
    (False, ("rule", (), None), False),
])
def test_code_of_rules_and_late_guards_are_not_stored(late, found, stored):
    assert ObjectGuard("global", ("f",), square, None, late, found).is_stored is stored


def test_a_builtin_is_one_that_no_variable_hides():
    def takes(root, path, value, owner=square):
        return ObjectGuard(root, path, value).takes_builtin(owner)

    hidden = types.FunctionType(square.__code__, {"len": len})
    assert takes("global", ("len",), len)
    assert not takes("global", ("len",), abs) and not takes("global", ("len", "__name__"), "len")
    assert not takes("free", ("len",), len) and not takes("global", ("len",), len, hidden)
    assert not takes("global", ("SETTINGS",), SETTINGS) and not takes("global", ("nowhere",), None)


@pytest.mark.parametrize("root, path, value, text", [
    ("global", ("math", "sin"), math.sin, "math.sin is o0"), ("global", ("square",), square, "square is o0"),
    ("value", (Const(square), "__code__"), None, "o0.__code__ is o1"),
    ("value", (Const(square), "__defaults__"), None, "o0.__defaults__ is o1"),
    ("value", (Const(square), "kept"), None, "o1(o0, 'kept', None) is o2"), ("argument", ("x",), None, "x is o0"),
    ("global", ("SETTINGS", "mode"), math.sin, "o0(SETTINGS, 'mode', None) is o1"),
    ("global", ("PARTS", (0,)), 1.0, "o0(PARTS, 0) is o1"),
    ("global", ("math", "sin", "__name__"), 1.5, "o0(o0(math, 'sin', None), '__name__', None) is o1"),
])
def test_a_place_is_written_as_short_as_it_can_be(root, path, value, text):
    assert ObjectGuard(root, path, value).conditions(square, Expressions(Names(""), str, globals(), ())) == [text]


@pytest.mark.parametrize("value, alike, others", [
    ("exact", "".join(["ex", "act"]), ["other", None, b"exact"]), (1000, int("1000"), [1001, 1000.0, np.int64(1000)]),
    (1, 1, [True, 1.0]), (b"ab", bytes([97, 98]), ["ab"]), (1.5, 1.5, [float("1.5")]), (True, True, [1]),
])
def test_texts_and_integers_are_the_same_where_they_are_equal(monkeypatch, value, alike, others):
    guard, names = ObjectGuard("global", ("KEPT",), value), Names("")
    condition = guard.conditions(square, Expressions(names, str, globals(), ()))[0]
    for found, holds in ((value, True), (alike, True), *((other, False) for other in others)):
        monkeypatch.setitem(globals(), "KEPT", found)
        assert guard.holds(square, {}) is holds
        assert eval(condition, {"KEPT": found, **names.objects}) is holds


KEPT = None


def test_calls_with_the_same_arguments_have_one_subject():
    subjects = [CallGuard(mode_of, args, None).subject for args in [("a",), ("b",), ([],), ("a", "b")]]
    assert len({*subjects}) == 4 and CallGuard(mode_of, ("a",), 1).subject == subjects[0]


def test_an_alias_of_an_argument_is_asked_with_arguments_only():
    places = ("argument", ("x",), None), ("global", ("PARTS",), None)
    for first, second in (places, places[::-1]):
        guard = AliasGuard(first, second, True)
        assert guard.asks_arguments and guard.holds(square, {"x": PARTS}) and not guard.holds(square, {"x": [*PARTS]})
    assert not AliasGuard(places[1], places[1], True).asks_arguments


# --- lengths and memory of arguments --------------------------------------------------------------------------------


def given(rows=3, columns=2, weights=5, apart=True, others=True):
    x, held = np.ones((rows, columns)), [np.ones(weights), np.ones(4)]
    return {"x": x, "p": held if apart else [held[0], x[1:]], "q": [np.ones(2)] if others else [held[1][1:]]}


OF_ARGUMENTS = [
    (SizeGuard("x.0", 1), given(1), {"x.0": 1}), (SizeGuard("p[0].0", 3), given(weights=3), {"p[0].0": 3}),
    (EqualGuard(Dim("x.0", 2), Dim("p[0].0")), given(4), {"x.0": 3, "p[0].0": 5}),
    (EqualGuard(Dim("x.1"), Dim("", 2)), given(3, 4), {"x.1": 2}),
    (SumGuard((("x.0", 2), ("p[0].0", -1)), -1, ">= 0"), given(2), {"x.0": 3, "p[0].0": 5}),
    (LargeGuard(("x.0", "x.1"), 6, True, "x"), given(3, 1), {}), (LargeGuard(("x.0", "x.1"), 7, False), given(4), {}),
    (LargeGuard(("p[0].0",), 6, False, "p[0]"), given(weights=6), {}),
    (SeparateGuard("x", "p[1]"), given(apart=False), {}), (SeparateGuard("x", "p[:]"), given(apart=False), {}),
    (SeparateGuard("q[:]", "p[:]"), given(others=False), {}), (SeparateGuard("p[:]", "x"), given(apart=False), {}),
]


@pytest.mark.parametrize("guard, broken, lengths", OF_ARGUMENTS)
def test_a_guard_on_arguments_is_asked_of_those_of_a_call(guard, broken, lengths):
    def written(own, arguments, format):
        conditions = own.conditions(square, Expressions(names, format.format, {}, ()))
        called = {format.format(name): value for name, value in arguments.items()}
        return all(bool(eval(condition, {**called, **names.objects})) for condition in conditions)

    names = Names()
    again = type(guard).load(ast.literal_eval(repr(guard.dump())), None, square)
    renamed = guard.renamed({"x": "p", "p": "x"})
    assert guard == again and guard.asks_arguments and guard.holds(square, None)
    assert guard.lengths(given()) == lengths
    for arguments, expected in [(given(), True), (broken, False)]:
        assert guard.holds(square, arguments) is expected
        assert [*arguments] == ["x", "p", "q"]
        assert written(guard, arguments, "given_{}") is expected
        if not isinstance(guard, SeparateGuard):
            swapped = {"x": arguments["p"], "p": arguments["x"]}
            assert renamed.holds(square, swapped) is expected and renamed.renamed({"x": "p", "p": "x"}) == guard
            assert written(renamed, swapped, "{}") is expected


def test_two_arrays_are_compared_in_the_text_itself():
    expressions = Expressions(Names(""), str, {}, ())
    assert SeparateGuard("x", "p[1]").conditions(square, expressions) == ["not o0(x, p[1])"]
    assert SeparateGuard("x", "p[:]").conditions(square, expressions) == ["o1(x, p[:])"]


@pytest.mark.parametrize("parts, expected", [
    ([slice(0, 2), slice(2, 5), slice(5, 6)], True), ([slice(5, 6), slice(0, 2), slice(2, 5)], True),
    ([slice(0, 3), slice(2, 5)], False), ([slice(4, 6), slice(0, 1), slice(3, 5)], False), ([slice(0, 3)], True),
    ([slice(0, 6), slice(3, 3)], True), ([], True),
])
def test_arrays_in_a_list_are_apart_where_no_two_overlap(parts, expected):
    whole, names = np.zeros(6), Names()
    arguments = {"p": {"a": [whole[part] for part in parts], "b": (1.0, np.ones(2))}}
    guard = SeparateGuard("p[:]", "p[:]")
    assert eval(*guard.conditions(square, Expressions(names, str, {}, ())), {
        **names.objects, "p": _Sliced(arguments["p"])}) is expected
    assert guard.holds(square, {"p": _Sliced(arguments["p"])}) is expected


class _Sliced:
    """A container of which ``[:]`` gives what it contains."""

    def __init__(self, items):
        self.items = items

    def __getitem__(self, index):
        assert index == slice(None)
        return self.items


# --- expressions ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("symbol, parts", [
    ("x.0", ("x", "x", "0")), ("params[0][1].12", ("params[0][1]", "params", "12")),
    ("self.w['a.b'].1", ("self.w['a.b']", "self", "1")),
])
def test_a_symbol_is_an_axis_of_a_place_in_a_variable(symbol, parts):
    assert split_symbol(symbol) == parts


@pytest.mark.parametrize("symbol", ["", "x", ".0", "x.", "x.y", "3.0", "[0].1", "x[0]"])
def test_what_is_no_axis_of_a_variable_is_no_symbol(symbol):
    with pytest.raises(InternalError, match=re.escape(f"a guard on the symbol {symbol}")):
        split_symbol(symbol)


def test_a_symbol_is_the_length_of_an_argument():
    arguments = {"x": np.ones((2, 3)), "w": [np.ones(5), {"b": np.ones((7, 1))}]}
    lengths = {"x.0": 2, "x.1": 3, "w[0].0": 5, "w[1]['b'].0": 7}
    expressions = Expressions(Names(), "given_{}".format, {}, ())
    scope = {f"given_{name}": value for name, value in arguments.items()}
    for symbol, length in lengths.items():
        assert length_of(symbol, arguments) == length
        for offset in (-2, 0, 3):
            assert eval(expressions.length(Dim(symbol, offset), square), scope) == length + offset
    assert expressions.length(Dim("", 4), square) == "4"
    assert expressions.length(Dim("x.0"), square) == "given_x.shape[0]"
    assert eval(expressions.place("w[1]['b']"), scope) is arguments["w"][1]["b"]


def test_variables_are_read_by_their_names_where_these_mean_them():
    def inner():
        return held

    held, own = [1.0], Names()
    read = Expressions(own, str, globals(), ("square",)).variable
    assert read("global", "SETTINGS", square) == "SETTINGS"
    for root, name, owner, found in [
        ("global", "square", square, square), ("global", "len", square, len), ("module", "math", square, math),
        ("free", "held", inner, held),
    ]:
        assert eval(read(root, name, owner), {**own.objects, "square": None}) is found
    elsewhere = types.FunctionType(square.__code__, {"SETTINGS": held})
    assert eval(read("global", "SETTINGS", elsewhere), {**own.objects, "SETTINGS": None}) is held


def test_what_is_not_at_a_place_is_none():
    names = Names()
    path = Expressions(names, str, globals(), ()).path
    for steps, found in [
        (("parts", (0,)), 1.0), (("parts", (5,)), None), (("other",), None), (("other", (0,)), None),
        (("mode", ("a",)), None),
    ]:
        assert eval(path("global", ("SETTINGS", *steps), square), {**globals(), **names.objects}) == found
    assert eval(path("argument", ("x", (1,)), square), {**names.objects, "x": (2, 3)}) == 3
    module = importlib.import_module("math")
    assert eval(path("module", ("math", "pi"), square), names.objects) == module.pi
