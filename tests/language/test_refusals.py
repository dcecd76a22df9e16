"""What s2s refuses: each with its own error, the line, carets under the expression, and what to do."""

import collections
import inspect
import pickle
import re
import struct

import numpy as np
import pytest

import s2s
from s2s.errors import (
    ArgumentError,
    DifferentiationError,
    NoDerivativeError,
    NonScalarOutputError,
    SourceUnavailableError,
    UnsupportedSyntaxError,
)
from tests.helpers import copy_tree

V = np.array([1.0, 2.0, 3.0])


def refusal(kind, call):
    """The text of the error of exactly this class that the call raises."""
    with pytest.raises(DifferentiationError) as info:
        call()
    assert type(info.value) is kind, info.value
    text = str(info.value)
    assert re.search(r"\[S2S\d{3}\]$", text.splitlines()[0]), text
    assert "internal" not in text.lower()
    return text


def underlined(text):
    """The part of the shown source line that the carets mark."""
    lines = text.splitlines()
    for shown, carets in zip(lines, lines[1:]):
        marks = re.match(r" *\| *(\^+)", carets)
        if marks:
            return shown[marks.start(1) : marks.end(1)]
    raise AssertionError(f"no carets in\n{text}")


def line_of(f, part):
    """The number of the line of ``f`` that holds ``part``, once."""
    lines, first = inspect.getsourcelines(f)
    found = [first + k for k, line in enumerate(lines) if part in line]
    assert len(found) == 1
    return found[0]


def assert_shows(text, f, line, *expressions):
    """The message names file and line, marks one of the expressions (``line`` if none), and gives a hint."""
    assert f"test_refusals.py:{line_of(f, line)}:" in text, text
    assert underlined(text) in (expressions or (line,)), text
    assert "= instead:" in text, text


def gradient(f, *args, **kwargs):
    return lambda: s2s.grad(f, **kwargs)(*args)


# --- what the result is ---------------------------------------------------------------------------


def array_result(v):
    return v * 2.0


def tuple_result(x):
    return x, x * x


def complex_result(x):
    return x * 1j


def integer_result(x):
    return 3


def string_result(x):
    return f"{x}"


def no_result(x):
    x * x


def test_array_result():
    text = refusal(NonScalarOutputError, gradient(array_result, V))
    assert re.search(r"`array_result` has shape \(\w+,\)", text)
    assert "s2s.vjp" in text or "np.sum" in text


def test_one_element_array_is_no_scalar():
    text = refusal(NonScalarOutputError, gradient(array_result, np.ones(1)))
    assert "(1,)" in text


def test_zero_dimensional_result_is_a_scalar():
    assert s2s.grad(array_result)(np.array(3.0)) == 2.0


@pytest.mark.parametrize(
    "f, word",
    [(tuple_result, "tuple"), (complex_result, "complex"), (integer_result, "int"), (string_result, "str"),
     (no_result, "None")],
)
def test_result_of_another_kind(f, word):
    text = refusal(NonScalarOutputError, gradient(f, 2.0))
    assert f.__name__ in text and word in text
    text = refusal(NonScalarOutputError, lambda: s2s.value_and_grad(f)(2.0))
    assert f.__name__ in text and word in text


def test_structured_result_is_fine_for_vjp():
    out, pullback = s2s.vjp(tuple_result, 3.0)
    assert out == (3.0, 9.0)
    assert pullback((1.0, 1.0)) == (7.0,)


def test_has_aux_without_a_pair():
    text = refusal(NonScalarOutputError, gradient(array_result, 2.0, has_aux=True))
    assert "array_result" in text and "aux" in text


# --- arguments ------------------------------------------------------------------------------------


def two(x, y):
    return np.sum(x * y)


@pytest.mark.parametrize("argnums", [2, -3, (0, 5)])
def test_unknown_position(argnums):
    text = refusal(ArgumentError, gradient(two, 1.0, 2.0, argnums=argnums))
    number = argnums[1] if isinstance(argnums, tuple) else argnums
    assert "two" in text and str(number) in text


def test_unknown_name():
    text = refusal(ArgumentError, gradient(two, 1.0, 2.0, argnums="weight"))
    assert "`two` has no argument `weight`" in text
    assert "x" in text and "y" in text


def test_name_that_is_nearly_right():
    def loss(weights, bias):
        return np.sum(weights * bias)

    assert "weights" in refusal(ArgumentError, gradient(loss, V, 2.0, argnums="weight"))


@pytest.mark.parametrize("argnums", [1.0, None, ""])
def test_argnums_of_another_kind(argnums):
    with pytest.raises((ArgumentError, TypeError, ValueError)):
        s2s.grad(two, argnums=argnums)(1.0, 2.0)


@pytest.mark.parametrize("value", [3, np.int64(3), np.arange(3), np.array(3)], ids=repr)
def test_integer_input(value):
    text = refusal(ArgumentError, gradient(two, value, 2.0))
    assert "the argument `x` of `two` is an integer" in text
    assert "float" in text


@pytest.mark.parametrize("value", [True, np.array([True, False]), None, "three"], ids=repr)
def test_input_without_derivative(value):
    text = refusal(ArgumentError, gradient(lambda x, y: y * y, value, 2.0))
    assert "`x`" in text


def test_integer_beside_a_float_is_passive():
    assert s2s.grad(two)(2.0, 3) == 3.0


@pytest.mark.parametrize("cotangent", [np.ones(2), np.ones((3, 1)), 1.0, np.ones((1, 3))], ids=str)
def test_wrong_cotangent_shape(cotangent):
    _, pullback = s2s.vjp(array_result, V)
    text = refusal(ArgumentError, lambda: pullback(cotangent))
    assert "cotangent" in text and "array_result" in text
    assert str(np.shape(cotangent)) in text and "(3,)" in text


@pytest.mark.parametrize("cotangent", [1.0, (1.0,), (1.0, 1.0, 1.0), {"a": 1.0}], ids=repr)
def test_wrong_cotangent_structure(cotangent):
    _, pullback = s2s.vjp(tuple_result, 2.0)
    text = refusal(ArgumentError, lambda: pullback(cotangent))
    assert "cotangent" in text and "tuple_result" in text


def test_cotangent_of_another_kind():
    _, pullback = s2s.vjp(array_result, V)
    for cotangent in ("one", None, V * 1j):
        with pytest.raises(ArgumentError):
            pullback(cotangent)


@pytest.mark.parametrize("value", [3, "f", None, [two]], ids=["int", "str", "None", "list"])
def test_not_a_function(value):
    text = refusal(ArgumentError, lambda: s2s.grad(value)(1.0))
    assert "not a function" in text


def test_argument_errors_are_type_errors():
    with pytest.raises(TypeError):
        s2s.grad(two, argnums="weight")(1.0, 2.0)


# --- functions without derivative or source -------------------------------------------------------

cube = np.frompyfunc(lambda z: z**3, 1, 1)


def calls_ufunc_without_rule(x):
    return x * cube(x * 2.0)


def calls_c_function(x):
    packed = struct.pack("d", x)
    return struct.unpack("d", packed)[0]


def calls_c_function_with_passive(x, n):
    packed = struct.pack("d", n * 2.0)
    return struct.unpack("d", packed)[0] * x


def unsupported_keyword(v):
    w = np.vecdot(v, v, where=v > 0.0)
    return np.sum(w)


def helper_without_rule(z):
    return cube(z) + 1.0


def calls_helper_without_rule(x):
    y = x * x
    return helper_without_rule(y)


def test_builtin_without_rule():
    text = refusal(NoDerivativeError, gradient(calls_ufunc_without_rule, 2.0))
    assert_shows(text, calls_ufunc_without_rule, "cube(x * 2.0)")
    text = refusal(NoDerivativeError, gradient(calls_c_function, 2.0))
    assert_shows(text, calls_c_function, 'struct.pack("d", x)')
    assert "pack" in text.splitlines()[0]


def test_builtin_without_rule_on_passive_values_is_fine():
    assert s2s.grad(calls_c_function_with_passive)(3.0, 4.0) == 8.0


def test_unsupported_keyword_of_a_rule():
    text = refusal(NoDerivativeError, gradient(unsupported_keyword, V))
    assert "vecdot" in text and "`where`" in text
    assert_shows(text, unsupported_keyword, "np.vecdot(v, v, where=v > 0.0)")


def test_the_place_is_in_the_helper_and_the_callers_are_told():
    text = refusal(NoDerivativeError, gradient(calls_helper_without_rule, 2.0))
    assert_shows(text, helper_without_rule, "cube(z)")
    assert "in `helper_without_rule`" in text
    assert "= asked by:" in text and "calls_helper_without_rule" in text


def test_differentiating_a_c_function_itself():
    text = refusal(NoDerivativeError, gradient(struct.pack, "d", 2.0, argnums=1))
    assert "pack" in text.splitlines()[0]


def test_function_that_was_typed_without_source():
    namespace = {}
    exec("def typed(x):\n    return x * x\n", namespace)
    text = refusal(SourceUnavailableError, gradient(namespace["typed"], 2.0))
    assert "typed" in text.splitlines()[0]
    assert "= instead:" in text


def test_helper_that_was_typed_without_source():
    namespace = {}
    exec("def typed(x):\n    return x * x\n", namespace)
    typed = namespace["typed"]

    def f(x):
        return typed(x) + 1.0

    text = refusal(SourceUnavailableError, gradient(f, 2.0))
    assert "typed" in text.splitlines()[0]


# --- syntax ---------------------------------------------------------------------------------------

counter = 0.0


class Box:
    value = 0.0


def generator(x):
    y = x * x
    yield y


async def coroutine(x):
    return x * x


def store_before_an_exception(x):
    a = np.zeros(2)
    try:
        a[0] = x * x
        a[1] = 1.0 / (x - 2.0)
    except ZeroDivisionError:
        pass
    return np.sum(a) * x


class Failed(Exception):
    pass


def exception_with_a_derivative(x):
    try:
        if x > 1.0:
            raise Failed(x * x)
        y = x
    except Failed as problem:
        y = problem.args[0]
    return y


def with_class(x):
    class Local:
        a = 2.0

    return x * Local.a


def with_global(x):
    global counter
    counter = x
    y = x * counter
    del counter
    return y


def _counting():
    COUNT = 0.0

    def with_nonlocal(x):
        nonlocal COUNT
        COUNT = COUNT + x
        return COUNT

    return with_nonlocal


with_nonlocal = _counting()


def store_in_integers(x):
    z = np.zeros(3, dtype=int)
    z[0] = x
    return np.sum(z) * x


OUTSIDE = np.ones(3)


def store_in_a_global(x):
    OUTSIDE[1:] += x
    return np.sum(OUTSIDE)


def attribute_store_of_dtype(v):
    w = v * v
    w.dtype = np.int64
    return np.sum(w) * v[0]


def attribute_store_of_shape_on_a_path(v):
    w = v * v
    if v[0] > 0.0:
        w.shape = (3, 1)
    return np.sum(w)


SYNTAX = [
    (generator, "generator", ("yield y",)),
    (store_before_an_exception, "try", ("a[0] = x * x",)),
    (with_class, "class", ("class Local",)),
    (with_global, "counter", ("del counter", "del counter", "counter")),
    (with_nonlocal, "COUNT", ("COUNT = COUNT + x", "COUNT = COUNT + x", "COUNT")),
]


@pytest.mark.parametrize("f, word, shown", SYNTAX, ids=[f.__name__ for f, _, _ in SYNTAX])
def test_syntax(f, word, shown):
    text = refusal(UnsupportedSyntaxError, gradient(f, 2.0))
    assert word in text.splitlines()[0]
    assert_shows(text, f, *shown)
    assert f"in `{f.__qualname__}" in text


def test_exceptions_carry_no_derivative_past_a_handler():
    text = refusal(NoDerivativeError, gradient(exception_with_a_derivative, 2.0))
    assert "problem.args" in text


def interrupted_where_it_matters(x, k):
    y = x
    try:
        y = x * (4 // k) * 0.5
        z = y * (4 // (k - 1))
    except ZeroDivisionError:
        z = x
    return z * y


def test_what_an_interrupted_block_may_have_assigned_is_refused_when_that_happens():
    np.testing.assert_allclose(s2s.grad(interrupted_where_it_matters)(2.0, 2), 2 * 4 * 2.0)
    for k in (0, 1):
        text = refusal(UnsupportedSyntaxError, lambda: s2s.grad(interrupted_where_it_matters)(2.0, k))  # noqa: B023
        assert "S2S104" in text and "`y` may or may not have been assigned" in text


def halved(x, k):
    try:
        y = x * (4 // k) * 0.5
        y = y * (4 // (k - 1))
    except ZeroDivisionError:
        y = y * 0.5
    return y


def in_a_loop(x, k):
    y = x
    try:
        y = x * (4 // k) * 0.5
        y = y * (4 // (k - 1))
    except ZeroDivisionError:
        for _ in range(k):
            y = np.tanh(y + x)
    return y


def printed(x, k):
    y = x
    try:
        y = x * (4 // k) * 0.5
        y = y * (4 // (k - 1))
    except ZeroDivisionError:
        print(y)
    return y


def on_one_side(x, k):
    y = x
    try:
        y = x * (4 // k) * 0.5
        y = y * (4 // (k - 1))
    except ZeroDivisionError:
        y = y * 1.0 if x > 0.0 else 3.0
    return y


def in_a_list(x, k):
    y = x
    try:
        y = x * (4 // k) * 0.5
        y = y * (4 // (k - 1))
    except ZeroDivisionError:
        y, z = np.array([np.arctan(y) * n for n in range(2)])
    return y


def as_a_result(x, k):
    y = x
    try:
        y = x * (4 // k) * 0.5
        y = y * (4 // (k - 1))
    except ZeroDivisionError:
        return y
    return y


def added_to_an_array(x, k):
    y, a = x, np.zeros(2)
    try:
        y = x * (4 // k) * 0.5
        y = y * (4 // (k - 1))
    except ZeroDivisionError:
        a += y
    return y + np.sum(a)


def given_as_a_place(x, k):
    y, a = x, np.zeros(2)
    try:
        y = x * (4 // k) * 0.5
        y = y * (4 // (k - 1))
    except ZeroDivisionError:
        np.add(a, y, out=a)
    return y + np.sum(a)


def before_a_loop_over_objects(x, k):
    y = x
    try:
        y = x * (4 // k) * 0.5
        y = y * (4 // (k - 1))
    except ZeroDivisionError:
        pass
    made, rows = {}, []
    for n in range(2):
        y = y * 1.0
        made[n] = y
        rows.append(made)
    return made[0] * 0.25 + made[1] * 0.5 + rows[1][0] * 0.25


def goes_on(turns):
    turns[0] += 1.0
    return turns[0] < 3.0


def before_a_test_that_changes_something(x, k):
    y, turns = x, np.zeros(1)
    try:
        y = x * (4 // k) * 0.5
        y = y * (4 // (k - 1))
    except ZeroDivisionError:
        pass
    while goes_on(turns):
        y = y * 1.0
    return y


OF_HANDLERS = [
    halved, in_a_loop, printed, added_to_an_array, given_as_a_place, on_one_side, in_a_list, as_a_result,
    before_a_loop_over_objects, before_a_test_that_changes_something,
]  # fmt: skip


@pytest.mark.parametrize("f", OF_HANDLERS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("derivative", [s2s.grad, s2s.jacfwd], ids=["reverse", "forward"])
def test_a_handler_that_reads_what_may_have_been_assigned_is_refused_where_it_runs(f, derivative):
    np.testing.assert_allclose(derivative(f)(2.0, 2), 4.0)
    assert "S2S104" in refusal(UnsupportedSyntaxError, lambda: derivative(f)(2.0, 1))


def test_a_refused_handler_says_which_line_reads_what():
    text = refusal(UnsupportedSyntaxError, lambda: s2s.grad(printed)(2.0, 1))
    line = line_of(printed, "print(y)")
    assert f"`y` may or may not have been assigned when the exception came (test_refusals.py:{line})" in text


@pytest.mark.parametrize("mode", ["grad", "jvp"])
def test_a_refused_handler_raises_in_one_statement(mode):
    source = s2s.source(printed, 2.0, 2, mode=mode)
    handler = source.partition("except ZeroDivisionError:")[2].split()
    assert handler[0] == "raise" and handler[1].startswith("rt.try_error(")


def test_the_reverse_of_a_try_has_no_side_that_is_refused_after_it():
    def f(x, k):
        y = x
        try:
            y = x * (4 // k) * 0.5
            y = y * (4 // (k - 1))
        except ZeroDivisionError:
            pass
        except KeyError:
            y = x
        return y * x

    np.testing.assert_allclose(s2s.grad(f)(2.0, 2), 16.0)
    source = s2s.source(f, 2.0, 2)
    assert "rt.check_sure(caught" in source and "if" not in source.partition("# reverse sweep")[2]


class Swallows:
    def __enter__(self):
        return self

    def __exit__(self, kind, problem, traceback):
        return kind is ZeroDivisionError


def swallowed(x, k):
    y = x
    with Swallows():
        y = x * x * (4 // k)
    return y * x


def test_a_manager_that_swallows_an_exception_is_refused_when_it_does():
    np.testing.assert_allclose(s2s.grad(swallowed)(2.0, 4), 3 * 2.0**2)
    text = refusal(UnsupportedSyntaxError, lambda: s2s.grad(swallowed)(2.0, 0))
    assert "S2S105" in text and "swallowed" in text


def test_coroutine():
    text = refusal(UnsupportedSyntaxError, gradient(coroutine, 2.0))
    assert "coroutine" in text.splitlines()[0]
    assert f"test_refusals.py:{line_of(coroutine, 'async def')}:" in text


STORES = [
    (store_in_integers, 2.0, ("z[0]", "z[0] = x")),
    (store_in_a_global, 2.0, ("OUTSIDE[1:]", "OUTSIDE[1:] += x")),
    (attribute_store_of_dtype, V, ("w.dtype = np.int64", "w.dtype")),
    (attribute_store_of_shape_on_a_path, V, ("w.shape = (3, 1)", "w.shape")),
]


@pytest.mark.parametrize("f, argument, shown", STORES, ids=[f.__name__ for f, _, _ in STORES])
def test_store(f, argument, shown):
    argument = copy_tree(argument)
    before = copy_tree(argument)
    text = refusal(UnsupportedSyntaxError, gradient(f, argument))
    assert_shows(text, f, max(shown, key=len), *shown)
    np.testing.assert_array_equal(argument, before)


# --- captures -------------------------------------------------------------------------------------


def functions_that_see_the_last_trip(x):
    functions = [lambda z: z * k for k in (1.0, 2.0, 3.0)]
    return functions[0](x) * functions[1](x)


def test_function_kept_beyond_its_trip():
    text = refusal(UnsupportedSyntaxError, gradient(functions_that_see_the_last_trip, 1.3))
    assert_shows(text, functions_that_see_the_last_trip, "lambda z: z * k")
    assert "`k`" in text and "k=k" in text


# --- right, or refused: never wrong ---------------------------------------------------------------


def changes_its_argument(v):
    v += 1.0
    return np.sum(v * v)


def changes_an_alias(v):
    a = v * 2.0
    b = a
    b += v
    return np.sum(a * b)


def changes_through_a_view(v):
    a = v * 2.0
    b = a[1:]
    b *= 3.0
    return np.sum(a * a)


def changes_an_item_of_a_list(v):
    a = v * 2.0
    items = [a, v]
    a += 1.0
    return np.sum(items[0] * items[1])


def changes_in_a_helper(v):
    def double(w):
        w *= 2.0

    a = v * 1.0
    double(a)
    return np.sum(a * a)


def appends(v):
    items = []
    for x in v:
        items.append(x * x)
    return sum(items)


def fills(v):
    a = v * 2.0
    a.fill(3.0)
    return np.sum(a * v)


def sorts_in_place(v):
    a = -v
    a.sort()
    return np.sum(a * v)


def writes_through_a_ufunc(v):
    a = v * 2.0
    np.add(a, v, out=a)
    return np.sum(a * a)


def copies_into(v):
    a = np.zeros(3)
    np.copyto(a, v * v)
    return np.sum(a)


def sets_an_attribute_by_name(x):
    box = Box()
    setattr(box, "value", x * x)
    return box.value


def keeps_in_a_set(x):
    return sum({x, x * x})


def through_an_object_array(x):
    a = np.array([x, None], dtype=object)
    return a[0] * x


def pops(x):
    items = [x, x * x]
    y = items.pop()
    return y * items[0]


def updates_a_dict(x):
    d = {"a": x}
    d.update(a=x * x)
    return d["a"]


CHANGES = [
    (changes_its_argument, V, 2.0 * (V + 1.0)),
    (changes_an_alias, V, 18.0 * V),
    (changes_through_a_view, V, np.array([8.0, 144.0, 216.0])),
    (changes_an_item_of_a_list, V, 4.0 * V + 1.0),
    (changes_in_a_helper, V, 8.0 * V),
    (appends, V, 2.0 * V),
    (fills, V, np.full(3, 3.0)),
    (sorts_in_place, V, np.array([-6.0, -4.0, -2.0])),
    (writes_through_a_ufunc, V, 18.0 * V),
    (copies_into, V, 2.0 * V),
    (sets_an_attribute_by_name, 2.0, 4.0),
    (keeps_in_a_set, 2.0, 5.0),
    (through_an_object_array, 2.0, 4.0),
    (pops, 2.0, 12.0),
    (updates_a_dict, 2.0, 4.0),
]


@pytest.mark.parametrize("f, argument, right", CHANGES, ids=[f.__name__ for f, _, _ in CHANGES])
def test_right_or_refused(f, argument, right):
    argument = copy_tree(argument)
    kept = copy_tree(argument)
    try:
        result = s2s.grad(f)(argument)
    except DifferentiationError as problem:
        assert type(problem) in (UnsupportedSyntaxError, NoDerivativeError)
        assert "test_refusals.py:" in str(problem)
    else:
        np.testing.assert_allclose(result, right)
    np.testing.assert_array_equal(argument, kept)


# --- calls whose effect is not known --------------------------------------------------------------


class WritesItsResult:
    def evaluate(self, x, out):
        out["F"] = [np.sum(x**2)]

    def keep(self, x):
        self.value = np.sum(x)


PROBLEM = WritesItsResult()


def effect_on_a_container(x):
    out = {}
    PROBLEM.evaluate(x, out)
    return out["F"][0]


def effect_on_a_filled_container(x):
    out = {"F": [0.0]}
    PROBLEM.evaluate(x, out)
    return out["F"][0]


def effect_on_an_object(x):
    PROBLEM.keep(x)
    return np.sum(x) * PROBLEM.value


EFFECTS = [
    (effect_on_a_container, 2.0 * V),
    (effect_on_a_filled_container, 2.0 * V),
    (effect_on_an_object, np.full(3, 12.0)),
]


@pytest.mark.parametrize("f, right", EFFECTS, ids=[f.__name__ for f, _ in EFFECTS])
def test_no_effect_of_a_call_is_lost(f, right):
    """A call for its effect alone, with differentiated arguments, is followed or refused, never dropped."""
    try:
        result = s2s.grad(f)(V)
    except DifferentiationError as problem:
        assert type(problem) in (UnsupportedSyntaxError, NoDerivativeError)
        assert "test_refusals.py:" in str(problem)
    else:
        np.testing.assert_allclose(result, right)


# --- containers and objects that cannot be followed -------------------------------------------------


class Body:
    def __init__(self, x):
        self.x = x
        self.log = []


class Holder:
    def __init__(self):
        self.weights = np.ones(3)
        self.body = Body(1.0)


HOLDER = Holder()


def one_of_two_is_changed_then_read(x):
    first, second = Body(x), Body(2.0)
    chosen = first if x > 0.0 else second
    chosen.x = 3.0 * x
    return first.x


def changed_by_another_name(x):
    first, second = [x], [2.0]
    chosen = first if x > 0.0 else second
    first.append(x)
    return sum(chosen)


def kept_in_a_long_list(x):
    rows, row = [], [x]
    for k in range(100):
        rows.append(row)
    row[0] = x * x
    return rows[0][0]


def object_as_a_whole(x):
    body = Body(x)
    return np.sum(np.array([body], dtype=object))


def key_known_when_it_runs(x):
    state = {"a": x}
    for k in range(100):
        state.setdefault(k, x)
    return state["a"]


def weights_of_a_live_object(x):
    HOLDER.weights[0] = x
    return HOLDER.weights[0] * x


def changed_while_a_function_keeps_it(x):
    items = [x]
    keep = {k: (lambda: items[0]) for k in range(100)}
    items[0] = x * x
    return items[0] * len(keep)


def reads_the_body(n):
    return HOLDER.body.x if n == 0 else reads_the_body(n - 1)


def changed_before_a_call_at_run_time(x):
    HOLDER.body.x = x
    return reads_the_body(int(x)) * x


WORK = np.zeros(3)


def stored_into_integers(x):
    counts = np.zeros(3, dtype=bool)
    counts[0] = x
    return counts[0] * x


def added_to_integers(x):
    counts = np.arange(3)
    counts[1:] += np.array([x, x])
    return counts[1] * x


def array_of_integers_on_one_path(x):
    start = 0 if x > 0.0 else x
    a = np.array([start])
    a[0] = x * 1.5
    return a[0] * x


def product_with_an_integer_on_one_path(x):
    factor = 2
    for k in range(int(x)):
        factor = factor * x
    a = np.arange(3) * factor
    a[0] = x * 1.5
    return a[0] * x


def work_array_of_the_module(x):
    WORK[0] = x * x
    return WORK[0] * x


FUNCTIONS = [np.sin]


def list_of_functions_of_the_module(x):
    y = x * x
    FUNCTIONS.append(y)
    return FUNCTIONS[0](y)


def list_of_functions_of_the_module_on_a_path(x):
    if x > 1.0:
        FUNCTIONS.reverse()
    return x * x


def part_of_an_array_of_the_module(x):
    part = WORK[1:]
    part += x
    return np.sum(part) * x


def applied(g, t, n):
    return g(t) if n == 0 else applied(g, t, n - 1)


def first_applied(functions, t, n):
    return functions[0](t) if n == 0 else first_applied(functions, t, n - 1)


def function_that_captured_it(x):
    return applied(lambda t: t * x, 2.0, int(x))


def function_with_it_as_default(x):
    return applied(lambda t, k=x: t * k, x, int(x))


def functions_in_a_list(x):
    return first_applied([lambda t: t * x], x, int(x))


SIGN = np.array([1.0])


def same(v):
    return v if SIGN[0] > 0 else v * 1


def dict_or_a_copy(x):
    d = {"w": 1.0}
    same(d)["w"] = 5.0
    return d["w"] * x


def list_or_a_copy(x):
    items = [1, 2]
    same(items).append(7)
    return len(items) * x


def one_of_two_lists(x):
    first, second = [1], [2]
    (first if SIGN[0] > 0 else second).append(5)
    return len(first) * x


def _keep(functions, f):
    functions.append(f)


def kept_by_a_helper(x):
    functions, a = [], x
    _keep(functions, lambda v: v * a)
    a = 2.0 * x
    return functions[0](x)


def kept_by_a_helper_of_a_nested_function(x):
    functions = []

    def add():
        _keep(functions, lambda: a * a)

    a = x
    add()
    a = 2.0 * x
    return functions[0]()


def one_of_three_is_changed_then_read(x):
    first, second, third = [x], [2.0 * x], [3.0 * x]
    chosen = first if SIGN[0] > 2.0 else (second if SIGN[0] > 0.0 else third)
    chosen[0] = x * x
    return second[0]


def list_at_a_place(x):
    lists = [[1], [2]]
    lists[int(SIGN[0])].append(5)
    return len(lists[1]) * x


def list_by_a_function(x):
    first, second = [1, 2], [2]
    min(first, second, key=len).append(5)
    return len(second) * x


def list_by_a_lambda(x):
    first, second = [], [1]
    chosen = (lambda: first) if SIGN[0] > 0 else (lambda: second)
    chosen().append(4)
    return len(first) * x


def method_of_one_of_two(x):
    first, second = [], [1]
    put = first.append if SIGN[0] > 0 else second.append
    put(4)
    return len(first) * x


def first_of_two(first, second):
    for items in (first, second):
        if len(items) * SIGN[0] > 0:
            return items


def list_by_a_loop(x):
    full, empty = [1], []
    first_of_two(full, empty).append(4)
    return len(full) * x


def halve(a):
    a *= 0.5
    return a[0]


def any_that_changes(x):
    a = np.array([x, 2.0 * x])
    found = any(halve(a) < 0.5 for _ in range(5))
    return np.sum(a) * (1 + found)


def loop_over_what_changes(x):
    a, total = np.array([x, 2.0 * x]), 0.0
    for v in (halve(a) for _ in range(3)):
        total = total + v * np.sum(a)
    return total


def map_that_changes(x):
    a = np.array([x, 2.0 * x])
    found = all(map(lambda _: halve(a) > 0.5, range(5)))
    return np.sum(a) * (1 + found)


def iterator_that_is_kept(x):
    a = np.array([x, 2.0 * x])
    halves = map(lambda _: halve(a), range(3))  # noqa: F841
    return np.sum(a)


class Mode:
    """Its methods set an attribute of the class, which is not followed: they are called when the program runs."""

    current = "plain"

    def __init__(self):
        self.before = "nothing"
        self.names = ["nothing"]

    def enter(self):
        self.before = Mode.current
        self.names.append(Mode.current)
        Mode.current = "entered"


def attribute_set_by_a_call(x):
    mode = Mode()
    mode.enter()
    return x * (2.0 if mode.before == "plain" else 3.0)


def object_changed_by_two_calls(x):
    mode = Mode()
    mode.enter()
    mode.enter()
    return x * x


UNFOLLOWED = [
    (attribute_set_by_a_call, "mode.before", "S2S132"),
    (object_changed_by_two_calls, "mode.enter", "S2S132"),
    (dict_or_a_copy, 'd["w"]', "S2S132"),
    (list_or_a_copy, "len(items)", "S2S132"),
    (one_of_two_lists, "len(first)", "S2S132"),
    (list_at_a_place, "len(lists[1])", "S2S132"),
    (one_of_three_is_changed_then_read, "second[0]", "S2S132"),
    (kept_by_a_helper, "functions.append(f)", "S2S205"),
    (kept_by_a_helper_of_a_nested_function, "functions.append(f)", "S2S205"),
    (list_by_a_function, "len(second)", "S2S132"),
    (list_by_a_lambda, "len(first)", "S2S132"),
    (method_of_one_of_two, "len(first)", "S2S132"),
    (list_by_a_loop, "len(full)", "S2S132"),
    (any_that_changes, "any(halve(a) < 0.5 for _ in range(5))", "S2S222"),
    (loop_over_what_changes, "for v in (halve(a) for _ in range(3))", "S2S222"),
    (map_that_changes, "all(map(lambda _: halve(a) > 0.5, range(5)))", "S2S222"),
    (iterator_that_is_kept, "map(lambda _: halve(a), range(3))", "S2S222"),
    (function_that_captured_it, "applied(g, t, n - 1)", "S2S143"),
    (function_with_it_as_default, "applied(g, t, n - 1)", "S2S143"),
    (functions_in_a_list, "first_applied(functions, t, n - 1)", "S2S143"),
    (stored_into_integers, "counts[0] = x", "S2S120"),
    (added_to_integers, "counts[1:] += np.array([x, x])", "S2S120"),
    (array_of_integers_on_one_path, "a[0] = x * 1.5", "S2S112"),
    (product_with_an_integer_on_one_path, "a[0] = x * 1.5", "S2S112"),
    (work_array_of_the_module, "WORK[0] = x * x", "S2S121"),
    (part_of_an_array_of_the_module, "part += x", "S2S121"),
    (list_of_functions_of_the_module, "FUNCTIONS.append(y)", "S2S185"),
    (list_of_functions_of_the_module_on_a_path, "FUNCTIONS.reverse()", "S2S185"),
    (changed_before_a_call_at_run_time, "reads_the_body(n - 1)", "S2S139"),
    (one_of_two_is_changed_then_read, "first.x", "S2S132"),
    (changed_by_another_name, "first.append(x)", "S2S131"),
    (kept_in_a_long_list, "row[0] = x * x", "S2S131"),
    (key_known_when_it_runs, "state.setdefault(k, x)", "S2S134"),
    (weights_of_a_live_object, "HOLDER.weights[0] = x", "S2S121"),
    (changed_while_a_function_keeps_it, "items[0] = x * x", "S2S131"),
]


@pytest.mark.parametrize("f, shown, code", UNFOLLOWED, ids=[f.__name__ for f, _, _ in UNFOLLOWED])
def test_change_that_cannot_be_followed(f, shown, code):
    text = refusal(UnsupportedSyntaxError, gradient(f, 2.0))
    assert f"[{code}]" in text
    assert underlined(text) == shown, text
    assert "= instead:" in text


def test_order_that_is_known_at_run_time_only():
    def f(m, orders):
        for k in range(2):
            m = np.ravel(m, orders[k]).reshape(2, 2) * m
        return np.sum(m)

    text = refusal(UnsupportedSyntaxError, lambda: s2s.grad(f)(np.ones((2, 2)), ["A", "K"]))
    assert text.startswith("the memory order in which an array is read is known only at run time [S2S220]\n"), text
    assert underlined(text) == "np.ravel(m, orders[k])"
    assert 'write `order="C"`, or another order, as a constant, or each order in a branch of its own' in text


def test_tuples_whose_sum_is_taken_for_an_array():
    def f(x, kinds):
        items = tuple([k * x for k in kinds if k])
        return np.sum(items + (x,))

    kinds = np.array([1.0, 0.0, 3.0])
    text = refusal(NoDerivativeError, gradient(f, 2.0, kinds))
    assert text.startswith(
        "a tuple whose length is known only at run time is concatenated with another one [S2S221]\n"), text
    assert "collect the items in a list with `append`" in text
    assert s2s.jacfwd(f)(2.0, kinds) == 5.0


def test_message_of_an_iterator_that_changes_something():
    text = refusal(UnsupportedSyntaxError, gradient(any_that_changes, 2.0))
    assert text.startswith("an iterator is read item by item, and computing an item has a side effect [S2S222]\n"), text
    assert "write a loop, or a list comprehension that computes all items before the first is read" in text


def test_object_that_holds_what_is_differentiated():
    text = refusal(NoDerivativeError, gradient(object_as_a_whole, 2.0))
    assert "class `Body`" in text


def test_one_list_given_twice():
    def f(a, b):
        a[0] = a[0] * 2.0
        return a[0] * b[0][0]

    items = [1.5]
    assert s2s.grad(f)(items, [[2.0]]) == [4.0] and items == [1.5]
    text = refusal(UnsupportedSyntaxError, lambda: s2s.grad(f)(items, [items]))
    assert "[S2S140]" in text and "= instead:" in text


def test_list_of_a_live_object_that_grows_and_is_read():
    def f(x):
        HOLDER.body.log.append(x)
        return x * len(HOLDER.body.log)

    text = refusal(UnsupportedSyntaxError, gradient(f, 2.0))
    assert "[S2S185]" in text and underlined(text) == "HOLDER.body.log.append(x)", text
    assert HOLDER.body.log == []


# --- errors as objects ----------------------------------------------------------------------------


def test_classes():
    for kind in (
        ArgumentError, NonScalarOutputError, NoDerivativeError, SourceUnavailableError,
        UnsupportedSyntaxError,
    ):
        assert issubclass(kind, DifferentiationError)
        assert kind.__doc__


def test_errors_pickle():
    with pytest.raises(UnsupportedSyntaxError) as info:
        s2s.grad(generator)(2.0)
    copy = pickle.loads(pickle.dumps(info.value))
    assert type(copy) is UnsupportedSyntaxError
    assert str(copy) == str(info.value)


def test_refused_again_on_the_second_call():
    refused = s2s.grad(with_global)
    first = refusal(UnsupportedSyntaxError, lambda: refused(2.0))
    assert refusal(UnsupportedSyntaxError, lambda: refused(2.0)) == first


def test_the_function_itself_still_runs():
    decorated = s2s.differentiable(with_global)
    assert decorated(1.0) == 1.0
    refusal(UnsupportedSyntaxError, gradient(decorated, 1.0))


def test_an_attribute_whose_name_depends_on_the_run():
    def f(x):
        extra = getattr(x * 2.0, "weight" if x[0] > 1.5 else "mask", 3.0)
        return np.sum(x) * extra

    for derivative in (s2s.grad(f), lambda x: s2s.jvp(f, (x,), (x,))):
        with pytest.raises(s2s.errors.NoDerivativeError, match=r"the attribute `\.\.\.` of an object"):
            derivative(np.array([1.0, 2.0]))


def test_elements_in_their_order_of_an_array_that_changes_meanwhile():
    def store(a, k, value):
        a[k] = value

    def f(x):
        a, k = x * 1.0, 0
        for value in a.flat:
            store(a, min(k + 1, 2), value * 2.0)
            k += 1
        return np.sum(a)

    with pytest.raises(s2s.errors.NoDerivativeError, match="the attribute `flat`"):
        s2s.grad(f)(np.array([1.0, 2.0, 3.0]))

def test_a_container_that_makes_items_is_not_taken_for_a_plain_one_on_one_of_two_paths():
    def f(x):
        groups = collections.defaultdict(list) if FLAGS[0] > 0.0 else None
        groups["a"].append(x)
        return sum(groups["a"])

    assert f(2.0) == 2.0
    for derivative in (s2s.grad, s2s.jacfwd):
        with pytest.raises(UnsupportedSyntaxError, match="depends on the path"):
            derivative(f)(2.0)


FLAGS = np.array([1.0])
