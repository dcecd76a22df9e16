"""Dispatch: which version a call goes to, and when a new one is compiled."""

from __future__ import annotations

import collections
import functools
import gc
import importlib.util
import inspect
import math
import pathlib
import pickle
import threading
import weakref
from collections import namedtuple

import numpy as np
import pytest

import s2s
from s2s import derivatives
from s2s.core.ir import Const
from s2s.core.values import UNKNOWN, Array, ArrayLike, Dim, Known, ListOf, Mapping, Scalar, Sequence
from s2s.dispatch import dispatcher, lookup, writer
from s2s.dispatch.dispatcher import INLINE, MOST_OBJECTS, Dispatcher
from s2s.errors import ArgumentError, InternalError, error
from s2s.versions.argument_guards import EqualGuard, SizeGuard
from s2s.versions.guards import KindGuard, ObjectGuard
from s2s.versions.kinds import annotated
from s2s.versions.signature import Names, describe, guard_source, key
from tests.dispatch.fake_compiler import FakeCompiler, compiled, ones

SCALE = 2.0
Pair = namedtuple("Pair", "a b")
LEAVE_IT_OUT = "leave it out of `argnums`"
MAKE_FLOATS = f"make its numbers floats, or {LEAVE_IT_OUT}"
IN_PYTHON = "write its class in Python, with attributes that are read as they are"


def helper(x):
    return x


def other(x):
    return 2 * x


@pytest.fixture
def fake(monkeypatch):
    compiler = FakeCompiler()
    monkeypatch.setenv("S2S_CACHE", "0")
    monkeypatch.setattr(lookup, "run_compiler", compiler)
    monkeypatch.setattr(lookup, "_shared", weakref.WeakKeyDictionary())  # equal code objects share versions
    return compiler


def product():
    """A new function each time, so that tests do not share versions."""

    def f(x, y=3.0):
        return x * y

    f.__code__ = f.__code__.replace(co_filename=f"<test {id(f)}>")
    return f


# --- abstract values ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "expected", "text"),
    [
        (1.0, Scalar(float), "float"),
        (1, Scalar(int), "int"),
        (1j, Scalar(complex), "complex"),
        (np.float32(1), Scalar(np.float32), "float32"),
        (np.bool_(True), Scalar(np.bool_), "bool"),
        (True, Known(Const(True)), "True"),
        (None, Known(Const(None)), "None"),
        ("same", Known(Const("same")), "'same'"),
        (np.ones((2, 1)), Array(np.dtype("f8"), (Dim("X.0"), Dim("", 1))), "f8[:,1]"),
        (np.ones(()), Array(np.dtype("f8"), ()), "f8[]"),
        (np.ones(0, ">f4"), Array(np.dtype(">f4"), (Dim("X.0"),)), ">f4[:]"),
        (np.array([None]), UNKNOWN, "?"),
        (np.ma.masked_array([1.0]), ArrayLike(np.ma.MaskedArray), "MaskedArray"),
        ((1.0, [2]), Sequence(tuple, (Scalar(float), Sequence(list, (Scalar(int),)))), "(float, [int,])"),
        ({"a": 1.0}, Mapping(("a",), (Scalar(float),)), "{'a': float}"),
        (Pair(1.0, 2), Sequence(Pair, (Scalar(float), Scalar(int))), "Pair(float, int)"),
        ([1.0] * 65, ListOf(Scalar(float)), "[float, ...]"),
        ([ones(2)] * 65, ListOf(Array(np.dtype("f8"), (Dim("X[0].0"),))), "[f8[:], ...]"),
        ([*[ones(2)] * 65, ones(3)], ListOf(Array(np.dtype("f8"), (Dim("?X[].0"),))), "[f8[?], ...]"),
        (helper, Known(Const(helper)), "helper"),
        (np, Known(Const(np)), "numpy"),
        (object(), UNKNOWN, "?"),
    ],
)
def test_describe(value, expected, text):
    aval = describe(value, "X")
    assert aval == expected
    assert key(aval) == text


def test_lengths_in_containers_are_named_by_their_place():
    aval = describe([{"w": ones(3)}], "params")
    assert aval.items[0].items[0].shape == (Dim("params[0]['w'].0"),)


def test_a_list_that_contains_itself_is_unknown_inside():
    loop = [1.0]
    loop.append(loop)
    assert describe(loop, "x") == Sequence(list, (Scalar(float), UNKNOWN))


SAMPLES = [
    1.0, 1, 1j, True, False, None, "a", "b", b"a", np.float32(1), np.float64(1), ones(3), ones(1), ones(2, 3),
    ones(1, 3), ones(2, 1), np.ones(()), np.ones(3, "f4"), np.ones(3, int), (1.0,), (1.0, 2.0), [1.0],
    (1, 2.0),
    {"a": 1.0}, {"b": 1.0}, {"a": 1.0, "b": 2.0}, {"b": 2.0, "a": 1.0}, Pair(1.0, 2.0), [1.0] * 70, [1] * 70,
    [ones(2)] * 70, [ones(2, 2)] * 70, [], (), {}, helper, other, np, object(), np.ma.masked_array([1.0]),
]  # fmt: skip


@pytest.mark.parametrize("index", range(len(SAMPLES)))
def test_a_guard_holds_for_its_own_kind_and_for_no_other(index):
    aval = describe(SAMPLES[index], "x")
    names = Names()
    condition = " and ".join(guard_source("x", aval, names, SAMPLES[index]))
    for value in SAMPLES:
        same = describe(value, "x") == aval and (aval is not UNKNOWN or type(value) is type(SAMPLES[index]))
        assert bool(eval(condition, {**names.objects, "x": value})) is same, (condition, value)


@pytest.mark.parametrize("value, text", [
    (True, "x is True"), (False, "x is False"), (None, "x is None"), (..., "x is ..."),
    ("a", "x.__class__ is t0 and x == 'a'"), (b"a", "x.__class__ is t0 and x == b'a'"),
    (3, "x.__class__ is t0 and x == 3"), (math, "x is o0"), (2.5, "x is o0"), ((1, 2), "x is o0"),
])
def test_a_value_that_can_be_written_is_in_the_text_of_its_guard(value, text):
    names = Names("")
    assert " and ".join(guard_source("x", Known(Const(value)), names)) == text
    assert eval(text, {**names.objects, "x": value}) and not eval(text, {**names.objects, "x": [value]})


def test_an_unpickled_dtype_passes_the_guard():
    x = pickle.loads(pickle.dumps(ones(3)))
    names = Names()
    assert eval(" and ".join(guard_source("x", describe(ones(3), "x"), names)), {**names.objects, "x": x})


@pytest.mark.parametrize(
    ("annotation", "text"),
    [
        (float, "float"), (int, "int"), (np.float32, "float32"), (np.ndarray, "f8[...]"), (None, "None"),
        (np.typing.NDArray[np.float32], "f4[...]"), (list[float], "[float, ...]"),
        (tuple[float, int], "(float, int)"), (np.floating, "?"), (float | None, "?"), (str, "?"),
    ],
)  # fmt: skip
def test_annotations(annotation, text):
    assert key(annotated(annotation)) == text


# --- versions -----------------------------------------------------------------------------------------------


def test_one_version_for_each_kind_and_none_for_another_value(fake):
    fake.say("f", "return 10.0")
    g = s2s.grad(product())
    assert [g(1.0), g(2.0), g(1.0, 5.0), g(x=1.0, y=2.0)] == [10.0] * 4
    assert len(fake.calls) == 1
    g(ones(3)), g(ones(4)), g(ones(1)), g(ones(3, 3))
    assert [key(call[1]["x"]) for call in fake.calls] == ["float", "f8[:]", "f8[1]", "f8[:,:]"]


def test_the_function_called_stays_the_same_object(fake):
    fake.say("f", "return x")
    g = s2s.grad(product())
    before = g.func
    g(1.0), g(ones(3))
    assert g.func is before
    assert s2s.grad(g.made_from[1]) is g


def test_a_call_with_a_known_kind_runs_no_python_of_the_front_end(fake, monkeypatch):
    fake.say("f", "return x")
    g = s2s.grad(product())
    g(1.0)
    monkeypatch.setattr(dispatcher.Dispatcher, "version_for", None)
    assert g(2.0) == 2.0


def test_a_function_without_code_has_one_dispatcher_for_each_way_of_calling(fake, request):
    derivatives.forget()
    request.addfinalizer(derivatives.forget)  # others differentiate np.sum, too
    fake.answers["sum_"] = lambda function, arguments, request: compiled("g", ", ".join(arguments), "return 1.0")
    gradient = s2s.grad(np.sum)
    inner = gradient.dispatcher
    assert inner.last is None and inner.versions == inner.everywhere == []
    for args, kwargs in [((ones(3),), {}), ((ones(3),), {"axis": 0}), ((ones(3), 0), {}), ((2.0,), {})]:
        found = inner.dispatcher_for(args, kwargs)
        assert gradient(*args, **kwargs) == 1.0
        version, count = inner.last, len(fake.calls)
        assert gradient(*args, **kwargs) == 1.0
        assert inner.last is version is found.last and inner.dispatcher_for(args, kwargs) is found
        assert len(fake.calls) == count
    assert len(inner.everywhere) == 3 and len(inner.versions) == 4
    assert len(inner.dispatcher_for((1.0,), {}).versions) == 2


def test_more_versions_than_are_tested_inline(fake):
    fake.answers["f"] = lambda function, arguments, request: fake_text(arguments)
    g = s2s.grad(product())
    inputs = [(np.ones((2,) * rank), rank) for rank in range(1, INLINE + 4)]
    for _ in range(3):
        for x, rank in inputs:
            assert g(x) == rank
    assert len(fake.calls) == len(inputs)


def test_versions_that_come_in_turn_swap_the_code_at_ever_longer_intervals(fake, monkeypatch):
    fake.answers["f"] = lambda function, arguments, request: fake_text(arguments)
    g = s2s.grad(product())
    swaps, make = [], Dispatcher._code_for
    monkeypatch.setattr(Dispatcher, "_code_for", lambda self, *given: swaps.append(1) or make(self, *given))
    count = INLINE + 2
    for x in [np.ones((2,) * rank) for rank in range(1, count + 1)] * 10:
        assert g(x) == x.ndim
    assert len(g.dispatcher._tested) == len(g.dispatcher.versions) == len(fake.calls) == count
    assert max(version.late for version in g.dispatcher.versions) > 2
    assert 2 * count <= len(swaps) <= 4 * count


def test_entries_test_the_same_where_their_text_and_objects_are_the_same():
    first, second = [1.0], [1.0]

    def names(*found):
        made = Names()
        for one in found:
            made.add(one)
        return made

    entry = None, ("x is _s2s_o0",), names(first)
    assert dispatcher._same_test(entry, ("x is _s2s_o0",), names(first))
    assert not dispatcher._same_test(entry, ("y is _s2s_o0",), names(first))
    for others in (names(second), names(first, second), names()):
        assert not dispatcher._same_test(entry, ("x is _s2s_o0",), others)


def test_lists_are_described_item_by_item_only_where_there_are_some_of_any_length(fake, monkeypatch):
    fake.say("f", "return 0")
    g = s2s.grad(product())
    described, describe_all = [], Dispatcher._describe

    def noted(self, values, as_they_are=False):
        described.append(as_they_are)
        return describe_all(self, values, as_they_are)

    monkeypatch.setattr(Dispatcher, "_describe", noted)
    for value, expected in ((1.0, [False]), ([1.0] * 40, [False, True]), (ones(3), [False])):
        described.clear()
        g(value)
        assert described == expected


@pytest.mark.parametrize("refusal", [
    error("S2S101", construct="this"), error("S2S202", name="f", reason="it has none"), error("S2S302", name="f"),
])
def test_a_version_for_lists_of_any_length_that_refuses_a_path_gives_way_to_one_for_this_length(
    fake, monkeypatch, refusal
):
    fake.answers["f"] = refusing_lists(refusal)
    g = s2s.grad(product())
    tried, find = [], Dispatcher._try
    monkeypatch.setattr(Dispatcher, "_try", lambda self, *given: tried.append(1) or find(self, *given))
    assert [g([1.0] * 40), g([1.0] * 40), g([1.0] * 41)] == [40, 40, 41]
    assert len(tried) == 1
    assert [type(call[1]["x"]) for call in fake.calls] == [ListOf, Sequence, Sequence]
    assert [len(version.avals[0].items) for version in g.dispatcher.versions] == [40, 41]


def test_a_version_for_lists_of_any_length_stays_where_it_refuses_an_argument(fake):
    fake.answers["f"] = refusing_lists(error("S2S504", name="f", argument="x", kind="a list"))
    g = s2s.grad(product())
    for _ in range(2):
        with pytest.raises(ArgumentError):
            g([1.0] * 40)
    assert [type(version.avals[0]) for version in g.dispatcher.versions] == [ListOf]


def refusing_lists(refusal):
    """A compiler whose code for lists of any length refuses the path that it comes to."""

    def answer(function, arguments, request):
        is_list = isinstance(arguments["x"], ListOf)
        return compiled("f_grad", "x, y", "raise refusal" if is_list else "return len(x)", objects={"refusal": refusal})

    return answer


def fake_text(arguments):
    return compiled("f_grad", ", ".join(arguments), f"return {len(arguments['x'].shape)}")


def test_more_strings_than_are_tested_in_turn_are_looked_up(fake, monkeypatch):
    fake.say("takes_options", "return (x, mode)")
    gradient = s2s.grad(takes_options)
    gradient.clear()
    modes = [f"m{k}" for k in range(30)]
    for mode in modes * 2:
        assert gradient(1.0, mode) == (1.0, mode)
    assert len(gradient.dispatcher.versions) == MOST_OBJECTS + 1  # and one for all others
    monkeypatch.setattr(Dispatcher, "version_for", None)
    for mode in modes:
        assert gradient(2.0, mode=mode) == (2.0, mode)
    with pytest.raises(TypeError):
        gradient(1, "m0")  # another kind of number: no version is known


def test_a_version_for_any_string_is_found_where_others_are_for_this_one(fake, monkeypatch):
    fake.say("takes_options", "return (x, mode)")
    gradient = s2s.grad(takes_options)
    for mode in [f"m{k}" for k in range(30)] * 2:
        gradient(1.0, mode)
    x = np.ones(2)
    for mode in [f"n{k}" for k in range(30)] * 2:
        gradient(x, mode)
    assert gradient(x, "m0") == (x, "m0")
    monkeypatch.setattr(Dispatcher, "version_for", None)
    for mode in ("m0", "m1", "other"):
        assert gradient(x, mode) == (x, mode)


@pytest.mark.filterwarnings("ignore::s2s.RecompilationWarning")
def test_what_looks_for_the_versions_of_a_string_is_made_once(fake, monkeypatch):
    """A version for another string leaves it alone, and so does one that is brought forward; one for any string is
    tested beside those for this one, so that all are made anew."""
    def f(x, mode):
        return x

    fake.say("f", "return (x, mode)")
    gradient = s2s.grad(f)
    made, make = [], Dispatcher._for_option

    def noted(self, switch, option, tested):
        before = self._options.get((switch, option))
        found = make(self, switch, option, tested)
        made.append(option) if self._options[switch, option] is not before else None
        return found

    monkeypatch.setattr(Dispatcher, "_for_option", noted)
    modes = [f"m{k}" for k in range(MOST_OBJECTS)]
    for mode in modes * 3:
        assert gradient(1.0, mode) == (1.0, mode)
    assert sorted(made) == modes
    assert gradient(1.0, "other") == (1.0, "other")
    assert sorted(made) == sorted(modes * 2)


def takes_options(x, mode):
    return x


def test_defaults_keywords_and_every_kind_of_parameter(fake):
    def f(a, /, b, *rest, c=3.0, **named):
        return a

    fake.say("f", "return (a, b, rest, c, named)")
    g = s2s.grad(f)
    assert g(1.0, 2.0, 4.0, d=5.0) == (1.0, 2.0, (4.0,), 3.0, {"d": 5.0})
    assert g(1.0, b=2.0, c=0.0) == (1.0, 2.0, (), 0.0, {})
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'b'"):
        g(1.0)


def test_names_of_the_dispatcher_do_not_collide_with_parameters(fake):
    def f(_s2s_o0, len, miss):
        return _s2s_o0

    fake.say("f", "return (_s2s_o0, len, miss)", ObjectGuard("global", ("len",), len))
    assert s2s.grad(f)(1.0, [2.0], (3.0,)) == (1.0, [2.0], (3.0,))
    assert s2s.grad(f)(1.0, [2.0], (3.0,)) == (1.0, [2.0], (3.0,))
    assert len(fake.calls) == 1


# --- guards beyond the arguments ----------------------------------------------------------------------------


def test_a_rebound_global_makes_a_new_version(fake, monkeypatch):
    def answer(function, arguments, request):
        return compiled(
            "f_grad", "x, y", f"return {helper.__name__!r}", ObjectGuard("global", ("helper",), helper)
        )

    fake.answers["f"] = answer
    g = s2s.grad(product())
    assert g(1.0) == "helper"
    monkeypatch.setitem(globals(), "helper", other)
    assert g(1.0) == "other"
    monkeypatch.undo()
    monkeypatch.setenv("S2S_CACHE", "0")
    assert g(1.0) == "helper"


def test_the_oldest_version_goes_where_there_are_too_many(fake, monkeypatch):
    fake.answers["f"] = lambda function, arguments, request: compiled(
        "f_grad", "x, y", f"return {helper.__name__!r}", ObjectGuard("global", ("helper",), helper))
    g, kept = s2s.grad(product()), []
    monkeypatch.setattr(dispatcher, "MOST", 2)
    for function in (helper, other, len):
        monkeypatch.setitem(globals(), "helper", function)
        assert g(1.0) == function.__name__
        kept.append([version.call(1.0, 3.0) for version in g.dispatcher.versions])
    assert kept == [["helper"], ["helper", "other"], ["other", "len"]]
    assert g(ones(3)) == "len"
    assert [version.call(1.0, 3.0) for version in g.dispatcher.versions] == ["len", "len"]


def test_a_global_number_of_another_kind_makes_a_new_version(fake, monkeypatch):
    fake.answers["f"] = lambda function, arguments, request: scaled(describe(SCALE, "SCALE"))
    g = s2s.grad(product())
    assert g(1.0) == "float"
    monkeypatch.setitem(globals(), "SCALE", 7.0)
    assert g(1.0) == "float" and len(fake.calls) == 1
    monkeypatch.setitem(globals(), "SCALE", ones(3))
    assert g(1.0) == "f8[:]" and len(fake.calls) == 2


def scaled(aval):
    return compiled("f_grad", "x, y", f"return {key(aval)!r}", KindGuard("global", "SCALE", aval))


def unless_known(symbol, value):
    """A compiler that assumes that a length is not ``value``, where it does not know the length."""

    def answer(function, arguments, request):
        guards = () if f"offset={value}" in repr(arguments["x"]) else (SizeGuard(symbol, value),)
        return compiled("f_grad", "x, y", f"return {len(guards)}", *guards)

    return answer


def test_a_size_that_was_assumed_not_to_occur(fake):
    fake.answers["f"] = unless_known("x.0", 2)
    g = s2s.grad(product())
    assert g(ones(5)) == g(ones(6)) == 1
    assert len(fake.calls) == 1
    assert g(ones(2)) == g(ones(2)) == 0
    assert [key(call[1]["x"]) for call in fake.calls] == ["f8[:]", "f8[2]"]


def test_a_size_that_was_assumed_not_to_occur_comes_first(fake):
    fake.answers["f"] = unless_known("x.0", 2)
    g = s2s.grad(product())
    assert g(ones(2)) == 0
    assert g(ones(5)) == 1
    assert len(fake.calls) == 2


def test_a_size_inside_a_container(fake):
    fake.answers["f"] = unless_known("x[0]['w'].1", 2)
    g = s2s.grad(product())
    assert g([{"w": ones(3, 5)}]) == g([{"w": ones(3, 6)}]) == 1
    assert g([{"w": ones(3, 2)}]) == 0
    assert len(fake.calls) == 2


def test_a_guard_that_fails_for_its_own_call_is_an_internal_error(fake):
    fake.say("f", "return 0", SizeGuard("x.0", 2))
    with pytest.raises(InternalError, match="does not hold for its own call"):
        s2s.grad(product())(ones(2))


def unless_constant(*guards):
    """A compiler that relies on lengths being equal, where it does not know them."""

    def answer(function, arguments, request):
        kept = [g for g in guards if any(repr(d) in repr(arguments) for d in symbols(g))]
        return compiled("f_grad", ", ".join(arguments), f"return {len(kept)}", *kept)

    return answer


def symbols(guard):
    return [Dim(dim.symbol) for dim in (guard.first, guard.second) if dim.symbol]


def test_lengths_that_were_taken_to_be_equal(fake):
    fake.answers["f"] = unless_constant(EqualGuard(Dim("x.1"), Dim("y.0")))
    g = s2s.grad(product())
    assert g(ones(2, 3), ones(3)) == g(ones(5, 4), ones(4)) == 1
    assert len(fake.calls) == 1
    assert g(ones(2, 3), ones(4)) == g(ones(9, 3), ones(4)) == 0
    assert g(ones(2, 3), ones(5)) == 0
    assert g(ones(2, 7), ones(7)) == 1
    arguments = [(key(call[1]["x"]), key(call[1]["y"])) for call in fake.calls]
    assert arguments == [("f8[:,:]", "f8[:]"), ("f8[:,3]", "f8[4]"), ("f8[:,3]", "f8[5]")]


def test_lengths_that_were_taken_to_be_equal_and_are_not_in_the_first_call(fake):
    fake.answers["f"] = unless_constant(EqualGuard(Dim("x.0", -1), Dim("y.0")))
    g = s2s.grad(product())
    assert g(ones(4), ones(4)) == 0
    assert g(ones(4), ones(3)) == g(ones(8), ones(7)) == 1
    assert len(fake.calls) == 2


def test_a_length_that_was_taken_to_be_a_constant(fake):
    fake.answers["f"] = unless_constant(EqualGuard(Dim("", 3), Dim("x[1].0", 1)))
    g = s2s.grad(product())
    assert g((1.0, ones(2))) == 1
    assert g((1.0, ones(5))) == 0
    assert key(fake.calls[-1][1]["x"]) == "(float, f8[5])"


def test_an_equality_that_fails_for_its_own_call_is_an_internal_error(fake):
    fake.say("f", "return 0", EqualGuard(Dim("x.0"), Dim("", 3)))
    with pytest.raises(InternalError, match="does not hold for its own call"):
        s2s.grad(product())(ones(2))


# --- defaults -----------------------------------------------------------------------------------------------


def test_changed_defaults_are_used(fake):
    def f(x, y=2.0, *, n=3):
        return x * y * n

    fake.say("f", "return (x, y, n)")
    g = s2s.grad(f)
    assert g(1.0) == (1.0, 2.0, 3)
    f.__defaults__, f.__kwdefaults__ = (5,), {"n": "many"}
    assert g(1.0) == (1.0, 5, "many")
    assert g(1.0, 2.0, n=3) == (1.0, 2.0, 3)
    f.__kwdefaults__["n"] = 4
    assert s2s.grad(functools.partial(f, y=2.0))(1.0) == (1.0, 2.0, 4)
    assert g(1.0, n=7) == (1.0, 5, 7)


def test_the_signature_shows_the_defaults(fake):
    def f(x, y=2.0, *, n=3): ...

    assert str(inspect.signature(s2s.grad(f))) == "(x, y=2.0, *, n=3)"


def test_closures_of_one_code_share_versions_while_their_guards_hold(fake):
    def make(h):
        def closure(x):
            return h(x)

        return closure

    def answer(function, arguments, request):
        h = function.__closure__[0].cell_contents
        return compiled(
            "closure_grad", "x", f"return ({h.__name__!r}, h(x))", ObjectGuard("free", ("h",), h), free=("h",)
        )

    fake.answers["closure"] = answer
    first, second, third = make(other), make(other), make(helper)
    assert s2s.grad(first)(1.0) == s2s.grad(second)(1.0) == ("other", 2.0)
    assert len(fake.calls) == 1
    assert s2s.grad(third)(1.0) == ("helper", 1.0)
    assert len(fake.calls) == 2


def test_functions_made_anew_for_each_call_stop_being_specialised(fake):
    fake.say("f", "return y(x)")
    g = s2s.grad(product())
    for k in range(3 * MOST_OBJECTS):
        assert g(1.0, lambda x, k=k: x + k) == 1.0 + k
    assert len(fake.calls) == MOST_OBJECTS + 1
    assert fake.calls[-1][1]["y"] is UNKNOWN


def test_objects_of_any_class_go_to_the_general_version_and_others_do_not(fake):
    fake.answers["f"] = lambda function, arguments, request: tell(arguments)
    g = s2s.grad(product())
    thing = collections.deque([1.0])
    assert g(thing) == "?"
    assert g(1.0) == "float"
    assert g(thing) == "?"
    assert g(collections.deque([2.0])) == "?"
    assert g(np.ma.masked_array([1.0])) == "MaskedArray"
    assert len(fake.calls) == 3


def tell(arguments):
    return compiled("f_grad", ", ".join(arguments), f"return {key(arguments['x'])!r}")


def test_threads_that_miss_at_once_compile_once(fake):
    fake.say("f", "return x")
    g = s2s.grad(product())
    results = []
    threads = [threading.Thread(target=lambda k=k: results.append(g(float(k)))) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == [float(k) for k in range(8)]
    assert len(fake.calls) == 1


@pytest.mark.slow
@pytest.mark.usefixtures("few_objects")
def test_a_function_goes_when_nobody_needs_it(fake):
    fake.say("f", "return x")
    f = product()
    s2s.grad(f)(1.0)
    gone = weakref.ref(f)
    fake.calls.clear()
    del f
    gc.collect()
    assert gone() is None


def test_wraps_does_not_hand_derivatives_on(fake):
    fake.say("f", "return 1.0")
    f = product()
    s2s.grad(f)

    @functools.wraps(f)
    def wrapper(x, y=3.0):
        return f(x, y)

    wrapper.__code__ = wrapper.__code__.replace(co_name="wrapper")
    s2s.grad(wrapper)(1.0)
    assert fake.calls[-1][0] is wrapper


# --- arguments to differentiate -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "message", "hint"),
    [
        (1, "is an integer [S2S503]", "pass a float, `float(...)`"),
        (np.arange(3), "is an integer [S2S503]", "pass floats, `x.astype(float)`"),
        (True, "is a bool and has no derivative [S2S504]", LEAVE_IT_OUT),
        ("a", "is a str and has no derivative [S2S504]", LEAVE_IT_OUT),
        (None, "is None and has no derivative [S2S504]", LEAVE_IT_OUT),
        ([1, 2], "is a list without floats and has no derivative [S2S504]", MAKE_FLOATS),
        ((1, 2), "is a tuple without floats and has no derivative [S2S504]", MAKE_FLOATS),
        ({"a": 1}, "is a dict without floats and has no derivative [S2S504]", MAKE_FLOATS),
        (
            np.array([True]), "is an array of bool and has no derivative [S2S504]",
            f"pass floats, `x.astype(float)`, or {LEAVE_IT_OUT}",
        ),
        (
            np.zeros(2, [("a", float)]), "is an array of records and has no derivative [S2S504]",
            "pass the fields as arguments of their own",
        ),
        (np.array(["a"]), "is an array of <U1 and has no derivative [S2S504]", LEAVE_IT_OUT),
        (object(), "is an object and has no derivative [S2S504]", f"{IN_PYTHON}, or {LEAVE_IT_OUT}"),
        ({1.0}, "is a set and has no derivative [S2S504]", f"{IN_PYTHON}, or {LEAVE_IT_OUT}"),
    ],
)
def test_what_has_no_derivative(fake, value, message, hint):
    with pytest.raises(ArgumentError) as caught:
        s2s.grad(product())(value)
    assert str(caught.value).splitlines()[0] == f"the argument `x` of `f` {message}"
    assert caught.value.diagnostic.hint == hint
    assert not fake.calls


# --- what a version has read is deleted -----------------------------------------------------------------------------


_WITH_NAMES = """
import math

class settings:
    power = 3

table = {"factor": 2.0}

def cubed(x):
    return x**3

def of_function(x):
    return cubed(x)

def of_number(x):
    return x ** settings.power * table["factor"]

def with_fallback(x):
    try:
        return cubed(x) * settings.power
    except (NameError, AttributeError):
        return x * x

def with_other_entry(x):
    try:
        return table["factor"] * x
    except KeyError:
        return x * x

def on_one_side(x):
    return x * x if x > 0.0 else math.sin(cubed(x))
"""


@pytest.mark.parametrize(
    "name, deleted",
    [
        ("of_function", "cubed"), ("of_number", "settings"), ("of_number", "settings.power"), ("of_number", "table"),
        ("with_fallback", "cubed"), ("with_fallback", "settings"), ("with_fallback", "settings.power"),
        ("with_other_entry", "table.factor"), ("on_one_side", "math"), ("on_one_side", "cubed"),
    ],
)
@pytest.mark.parametrize("derivative", [s2s.grad, s2s.jacfwd])
def test_what_is_deleted_after_a_call_is_missed_where_the_function_reads_it(name, deleted, derivative, tmp_path):
    """A condition that cannot be read does not hold: it raises nothing of its own."""
    path = tmp_path / "with_names.py"
    path.write_text(_WITH_NAMES, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("with_names", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    f = getattr(module, name)
    found, step = derivative(f), 1e-6
    before = found(1.3)
    owner, _, entry = f"module.{deleted}".rpartition(".")
    owner = eval(owner, {"module": module})
    if isinstance(owner, dict):
        kept = owner.pop(entry)
    else:
        kept = getattr(owner, entry)
        delattr(owner, entry)
    try:
        expected = (f(1.3 + step) - f(1.3 - step)) / (2 * step)
    except Exception as problem:
        with pytest.raises(type(problem)) as raised:
            found(1.3)
        assert entry in str(raised.value)
        assert pathlib.Path(raised.traceback[-1].path).parent.name != "dispatch"
    else:
        np.testing.assert_allclose(found(1.3), expected, rtol=1e-6)
    if isinstance(owner, dict):
        owner[entry] = kept
    else:
        setattr(owner, entry, kept)
    assert found(1.3) == before


def test_functions_with_like_parameters_share_what_their_dispatchers_are_compiled_to():
    def square(x, y):
        return x * x * y

    def product(x, y):
        return 3.0 * x * y

    first, second = s2s.grad(square), s2s.grad(product)
    assert first(2.0, 5.0) == 20.0
    compiled = writer._inner_code.cache_info().misses
    assert second(2.0, 5.0) == 15.0
    assert writer._inner_code.cache_info().misses == compiled
    for made, name in ((first, "square_grad"), (second, "product_grad")):
        code = made.dispatcher.function.__code__
        assert made.__name__ == code.co_name == code.co_qualname == name
    assert first(2.0, 5.0) == 20.0


RATE, hidden = 2.0, 3.0


def with_two_variables(x):
    return RATE * hidden * x


def test_a_variable_is_read_by_its_name_but_where_a_parameter_hides_it(monkeypatch):
    def f(x, hidden):
        return with_two_variables(x) * hidden

    gradient = s2s.grad(f)
    assert gradient(1.5, 5.0) == 2.0 * 3.0 * 5.0
    read = gradient.dispatcher.function.__code__.co_names
    assert "RATE" in read and "hidden" not in read
    for name, value in (("hidden", np.float64(4.0)), ("RATE", np.float64(7.0))):
        monkeypatch.setitem(globals(), name, value)
        assert gradient(1.5, 5.0) == RATE * globals()["hidden"] * 5.0


class Keeper:
    traces: dict = {}

    def run(self, p):
        self.traces.update({"low": p[0] * p[1], "high": p[0] ** 2})


def test_the_version_for_what_a_call_has_left_is_compiled_in_this_call():
    keeper = Keeper()
    keeper.traces = {}

    def loss(p):
        keeper.run(p)
        return keeper.traces["low"] + 3.0 * keeper.traces["high"]

    x = np.array([0.5, 2.0])
    for take in (s2s.grad(loss), s2s.jacfwd(loss)):
        keeper.traces.clear()
        np.testing.assert_allclose(take(x), [x[1] + 6.0 * x[0], x[0]])
        versions = len(take.dispatcher.versions)
        np.testing.assert_allclose(take(x + 1.0), [x[1] + 1.0 + 6.0 * (x[0] + 1.0), x[0] + 1.0])
        assert len(take.dispatcher.versions) == versions
        assert keeper.traces == {"low": (x[0] + 1.0) * (x[1] + 1.0), "high": (x[0] + 1.0) ** 2}
