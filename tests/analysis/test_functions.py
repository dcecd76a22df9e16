"""What is said of functions (``s2s.analysis.functions``), against what NumPy and SciPy do when they are called."""

from __future__ import annotations

import collections
import contextlib
import functools as ft
import inspect
import itertools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import s2s
from s2s import runtime as rt
from s2s.analysis import functions
from s2s.analysis.functions import facts
from s2s.core import ir, operators, ops
from s2s.core.functions import Computes, Result, Varies
from s2s.errors import DifferentiationError
from s2s.rules import functions as descriptions
from s2s.rules import table
from s2s.rules.table import RULES, Rule
from tests.rules.cases import draw, draws, fill

table.extend()
GIVEN = [rule for rule in RULES.values() if rule.kind != "refuse" and not facts(rule.fn).acts]

Make = Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]]
LAYOUTS: tuple[Make, ...] = (
    np.ascontiguousarray,
    np.asfortranarray,
    lambda a: np.repeat(a, 2, axis=0)[::2] if a.ndim else a,
    *(lambda a, kind=kind: a.astype(kind) if a.dtype == float else a for kind in ("f2", "f4", "g", complex, int, "u1")),
)
"""The arrays of samples in other layouts and of other dtypes: what converts gives an array of the right kind itself."""

PLAIN: tuple[Callable[[], tuple[Any, ...]], ...] = (
    lambda: (np.arange(3.0),), lambda: (np.arange(6.0).reshape(2, 3),), lambda: (np.eye(3),), lambda: (np.arange(3),),
    lambda: (np.arange(6).reshape(2, 3), 1), lambda: (np.array([True, False, True]),), lambda: (1j * np.arange(3.0),),
    lambda: (np.arange(3.0), np.arange(3.0) + 1), lambda: (np.arange(3), np.arange(3) + 1), lambda: (np.array(2.5),),
    lambda: (np.arange(3), (3,)), lambda: (3,), lambda: (np.array(["a", "b"]),), lambda: (np.arange(4, dtype="u1"),),
)
"""What a function is called with that has no samples: its derivative is zero."""

NO_CALLS = ("numpy.testing.", "builtins.dir", "s2s.runtime.")
"""Functions without samples that are not called."""


def arrays(value: Any) -> Iterator[np.ndarray[Any, Any]]:
    """The arrays in a value, at any depth."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from arrays(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from arrays(item)


def calls(rule: Rule) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Arguments to call a function with: its samples in several layouts and dtypes."""
    rng = np.random.default_rng(3)
    for sample in rule.samples:
        for make in LAYOUTS:
            values = [draw(one, rng) for one in (*draws(sample.args), *draws(dict(sample.kwargs)))]
            given = iter([make(v) if isinstance(v, np.ndarray) else v for v in values])
            yield fill(sample.args, given), fill(dict(sample.kwargs), given)
    if not rule.samples and not rule.name.startswith(NO_CALLS):
        for make_args in PLAIN:
            args = make_args()
            if len(args) <= functions.facts(rule.fn).before_copy:
                yield args, {}


def shares(a: Any, b: Any) -> bool:
    return any(x is y or np.shares_memory(x, y) for x in arrays(a) for y in arrays(b) if x.size)


@contextlib.contextmanager
def silence() -> Iterator[None]:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def problems(rule: Rule) -> set[str]:
    """What calls of a function show to be wrong in what is said of it."""
    known, found = facts(rule.fn), set[str]()
    for args, kwargs in calls(rule):
        before = [a.copy() for a in arrays((args, kwargs))]
        with silence():
            try:
                made = rule.fn(*args, **kwargs)
            except Exception:
                continue
        after = list(arrays((args, kwargs)))
        if operators.plain_of(rule.fn) is None and not known.changes and not all(map(_same, before, after)):
            found.add("changes an argument")
        is_new = functions.gives_new(rule.fn, [(k, ir.Const(v)) for k, v in kwargs.items()], len(args))
        if is_new and operators.plain_of(rule.fn) is None and shares((args, kwargs), made):
            found.add("gives memory of an argument, and is said to give new")
        if known.of is not None and any(shares(a, made) for k, a in enumerate(args) if k not in known.of):
            found.add(f"gives memory of others than the arguments {known.of}")
        if known.result in (Result.VIEW, Result.PARTS) and isinstance(args[0], np.ndarray):
            parts = [made] if known.result is Result.VIEW else made
            if not all(shares(args[:1], p) and p.flags.writeable for p in parts if np.size(p)):
                found.add("gives no view of its first argument that can be written to")
    return found


def _same(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    return np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")


@pytest.mark.slow
@pytest.mark.parametrize("package", ["numpy", "scipy", ""])
def test_functions_do_what_is_said_of_them(package):
    ours = [r for r in GIVEN if (r.name.startswith(("numpy", "ndarray")), r.name.startswith("scipy")) == (
        package == "numpy", package == "scipy")]
    assert len(ours) > 100
    wrong = {rule.name: found for rule in ours if (found := problems(rule))}
    assert not wrong


def kinds(value: Any) -> Any:
    """The shapes and dtypes of a result."""
    if isinstance(value, (list, tuple)):
        return tuple(map(kinds, value))
    return (np.shape(value), value.dtype) if isinstance(value, (np.ndarray, np.generic)) else type(value)


MADE = (
    lambda: [3.0, 1.0, 2.0], lambda: {1: 3.0, 2: 1.0}, lambda: {3.0, 1.0}, lambda: frozenset({3.0, 1.0}),
    lambda: collections.deque([3.0, 1.0, 2.0]), lambda: collections.OrderedDict({1: 3.0, 2: 1.0}),
    lambda: np.array([3.0, 1.0, 2.0]), lambda: np.arange(6.0).reshape(2, 3),
)
GIVEN_TO_METHODS = (
    (), (1,), (1.0,), (2, 5.0), (slice(0, 1), [7.0]), ([7.0],), ({7.0},), ({7: 1.0},), (5.0, "f8"), (True,), (9, 9.0),
    (False,), ([0], 9.0),
)


@pytest.mark.parametrize("make", MADE)
def test_methods_change_their_object_only_where_it_is_said(make):
    """Every method of the class, called with what some take."""
    changed, calls = set(), 0
    for name, method in inspect.getmembers(type(make()), callable):
        if name in ("__class__", "__new__", "__init_subclass__", "__subclasshook__", "__class_getitem__", "fromkeys"):
            continue
        for args in GIVEN_TO_METHODS:
            value, before = make(), make()
            with silence(), contextlib.suppress(Exception):
                method(value, *args)
                calls += 1
            same = repr(value) == repr(before) and getattr(value, "flags", None) == getattr(before, "flags", None)
            if not same and not facts(method).changes:
                changed.add(name)
    assert calls > 30
    assert not changed - {"__init__"}


def test_what_is_pure_changes_nothing_and_does_not_act():
    """In-place operators are values in the IR, whose first argument nothing reads any more."""
    fns = {id(fn): fn for fn in (*(rule.fn for rule in RULES.values()), *descriptions.described())}
    wrong = [fn for fn in fns.values() if facts(fn).pure and not functions.gives_the_same(fn)]
    assert not [fn for fn in wrong if operators.plain_of(fn) is None]


def test_kinds_of_results_do_not_vary_where_nothing_is_said():
    """Two calls with other values of the same shapes give results of the same shapes and dtypes."""
    wrong = set()
    for rule in GIVEN:
        if facts(rule.fn).varies is not Varies.NOTHING or rule.kind == "model" or rule.name.startswith("s2s."):
            continue
        for sample in rule.samples:
            found = set()
            for seed in range(4):
                rng = np.random.default_rng(seed)
                given = iter([draw(one, rng) for one in (*draws(sample.args), *draws(dict(sample.kwargs)))])
                args, kwargs = fill(sample.args, given), fill(dict(sample.kwargs), given)
                with silence():
                    try:
                        found.add(kinds(rule.fn(*args, **kwargs)))
                    except Exception:
                        continue
            if len(found) > 1:
                wrong.add(rule.name)
    assert not wrong


def test_elementwise_functions_give_an_element_for_each_element():
    wrong = set()
    for rule in GIVEN:
        if not facts(rule.fn).elementwise or rule.kind != "partials":
            continue
        for sample in rule.samples:
            given = iter([draw(one, np.random.default_rng(1)) for one in draws(sample.args)])
            args = fill(sample.args, given)
            with silence():
                made = rule.fn(*args, **fill(dict(sample.kwargs), iter(())))
            if np.shape(made) != np.broadcast_shapes(*map(np.shape, args)):
                wrong.add(rule.name)
    assert not wrong


def every_function():
    """What has a rule, or something said of it, each once."""
    return {id(fn): fn for fn in (*(rule.fn for rule in RULES.values()), *descriptions.described())}.values()


def samples_of(fn, seed=3):
    rule, rng = table.find(fn), np.random.default_rng(seed)
    for sample in rule.samples if rule is not None else ():
        given = iter([draw(one, rng) for one in (*draws(sample.args), *draws(dict(sample.kwargs)))])
        yield fill(sample.args, given), fill(dict(sample.kwargs), given)


def in_objects(value):
    """The same with arrays of objects."""
    if isinstance(value, (list, tuple)):
        return type(value)(map(in_objects, value))
    return value.astype(object) if isinstance(value, np.ndarray) and value.dtype == float else value


def test_generic_functions_do_with_objects_what_they_do_with_numbers():
    checked = set()
    for fn in every_function():
        for args, kwargs in samples_of(fn) if facts(fn).generic else ():
            if {"dtype", "where", "out"} & kwargs.keys():
                continue
            expected, made = fn(*args, **kwargs), fn(*in_objects(args), **kwargs)
            pairs = zip(expected, made, strict=True) if isinstance(made, (list, tuple)) else [(expected, made)]
            for wanted, one in pairs:
                assert np.shape(wanted) == np.shape(one)
                np.testing.assert_allclose(np.asarray(one).astype(complex), wanted, err_msg=str(fn))
            checked.add(fn)
    assert len(checked) > 50


def test_what_fills_gives_an_array_of_one_number():
    """The numbers in an empty array are anything."""
    filling = {fn for fn in every_function() if facts(fn).fills}
    for fn in filling:
        is_like = fn.__name__.endswith("_like")
        args = (np.arange(6.0).reshape(2, 3),) if is_like else ((2, 3),)
        args = (*args, 7.0) if "full" in fn.__name__ else args
        made = fn(*args)
        assert made.shape == (2, 3)
        assert "empty" in fn.__name__ or len(set(made.ravel())) == 1
    assert len(filling) == 8


def test_arrays_in_c_order_have_it():
    """With as many positional arguments as are said: with one more ``order`` is among them."""
    ordered = {fn: facts(fn).c_order for fn in every_function() if facts(fn).c_order}
    for fn, count in ordered.items():
        first = np.asfortranarray(np.arange(6.0).reshape(2, 3)) if fn is np.ndarray.copy else (2, 3)
        rest = {2: (float,), 3: (7.0, float)}.get(count, ())
        assert fn(first, *rest).flags.c_contiguous
        assert not fn(first, *rest, "F").flags.c_contiguous
    assert len(ordered) == 5


@pytest.mark.parametrize("fn", [fn for fn in every_function() if facts(fn).writes_down])
def test_what_writes_down_gives_text_or_bytes(fn, tmp_path):
    number, array = 0.1234, np.array([0.1234, 5.0])
    with contextlib.suppress(OSError):
        if fn in (np.ndarray.tofile, np.ndarray.dump):
            fn(array, tmp_path / "x")
            assert (tmp_path / "x").read_bytes()
            return
    text = {str.format: "{}", str.format_map: "{x}", str.join: ",", ops.format_string: ""}.get(fn)
    given = {
        str.format_map: ({"x": number},), str.join: ([str(number)],), bytes: (array,),
        ops.format_string: (str(number),),
    }.get(fn, (number,))
    arrays_only = ("array2string", "array_repr", "array_str", "tobytes", "dumps")
    made = fn(text, *given) if text is not None else fn(*([array] if fn.__name__ in arrays_only else given))
    assert isinstance(made, (str, bytes))
    assert not isinstance(made, str) or "0.1234" in made or "1.234e-01" in made


READS_ON = {
    np.concatenate: lambda a: ((a[2:], a[:2]), a), np.stack: lambda a: ((a[1], a[0], a[2], a[3]), a),
    np.ptp: lambda a: (a, a[0]), np.sum: lambda a: (a, a[0]), np.cumsum: lambda a: (a, a), np.take: lambda a: (a, a[0]),
}


@pytest.mark.parametrize("fn", READS_ON)
def test_what_reads_on_is_wrong_where_the_result_lies_in_its_argument(fn):
    a = np.arange(16.0).reshape(4, 4) ** 2
    given, out = READS_ON[fn](a)
    options = {"indices": [3, 1, 0, 2]} if fn is np.take else {"axis": 0} if fn is not np.cumsum else {"axis": 1}
    if fn is np.take:
        given = a[0]
    expected = fn(given, **options).copy()
    assert np.array_equal(fn(given, out=out, **options), expected) is not facts(fn).reads_on


def test_calls_that_give_their_argument_are_found():
    """The test itself: with a wrong description it fails."""
    rule = table.find(np.asarray)
    assert rule is not None
    said = descriptions.description_of(np.asarray)
    descriptions._described[id(np.asarray)] = (np.asarray, {**said, "result": Result.NEW})
    descriptions.changed()
    try:
        assert problems(rule) == {"gives memory of an argument, and is said to give new"}
    finally:
        descriptions._described[id(np.asarray)] = (np.asarray, said)
        descriptions.changed()


def test_every_rule_says_what_memory_it_gives():
    """What the kind of a rule does not tell is said beside it: a linear function may give what it was given."""
    missing = [
        rule.name for rule in GIVEN
        if rule.kind == "linear" and "result" not in descriptions.description_of(rule.fn) and not rule.by_user
        and not (type(rule.fn).__name__ == "builtin_function_or_method" and type(rule.fn.__self__) is np.ufunc)
        and not rule.name.startswith("s2s.")
    ]
    assert not missing


@pytest.mark.parametrize("call, new", [
    ((np.ndarray.astype, (), 2), True), ((np.ndarray.astype, (("copy", False),), 2), False),
    ((np.ndarray.astype, (), 6), False), ((np.nan_to_num, (), 1), True), ((np.nan_to_num, (), 2), False),
    ((np.add, (), 2), True), ((np.add, (), 3), False), ((np.sum, (), 4), False), ((np.sin, (("out", 1),), 1), False),
    ((np.transpose, (), 1), False), ((np.add.reduce, (), 1), True), ((lambda x: x, (), 1), False),
])
def test_arguments_that_make_a_function_give_what_it_was_given(call, new):
    fn, kwargs, count = call
    assert functions.gives_new(fn, [(k, ir.Const(v)) for k, v in kwargs], count) is new


# --- programs that what is said decides -----------------------------------------------------------------------------


def _stored_in_integers_of_the_same_type(x):
    places = np.array([0, 1, 2])
    same = np.int64(places)
    places[0] = 2
    return np.sum(x[same] * x)


def _stored_in_floats_of_the_same_type(x):
    a = x * 2.0
    b = np.float64(a)
    b[0] = x[1] ** 2
    return np.sum(a**2 * x)


def _copied_by_a_conversion(x):
    a = x * 2.0
    b = np.array(a)
    b[0] = x[1] ** 2
    return np.sum(a**2 * x) + np.sum(b)


@pytest.mark.parametrize("f", [
    _stored_in_integers_of_the_same_type, _stored_in_floats_of_the_same_type, _copied_by_a_conversion,
])
def test_what_converts_may_give_the_array_itself(f):
    x, h = np.array([0.3, 1.2, 2.1]), 1e-6
    expected = np.array([(f(x + d) - f(x - d)) / (2 * h) for d in np.eye(3) * h])
    np.testing.assert_allclose(s2s.grad(f)(x), expected, rtol=1e-6)
    np.testing.assert_allclose([s2s.jvp(f, (x,), (d,))[1] for d in np.eye(3)], expected, rtol=1e-6)


@pytest.mark.parametrize("histogram", [np.histogram, np.histogramdd])
def test_edges_of_a_histogram_are_the_array_that_was_given(histogram):
    """What is stored into the edges afterwards is not lost: it is refused."""

    def f(x):
        edges = np.array([0.0, 1.0, 2.0])
        found = histogram(np.array([[0.5], [1.5]]), bins=edges if histogram is np.histogram else [edges])[1]
        edges *= x[0]
        return np.sum(found[-1])

    with pytest.raises(DifferentiationError):
        s2s.grad(f)(np.array([2.0, 1.0]))


def _appended_by_a_function_that_reduce_calls(x):
    seen = [3.0]

    def note(so_far, value):
        seen.append(value)
        return so_far

    ft.reduce(note, [1.0, 2.0], 0.0)
    return len(seen) * x[2]


def _appended_by_a_function_of_each_line(x):
    seen = [3.0]

    def note(line):
        seen.append(1.0)
        return line

    np.apply_along_axis(note, 0, np.ones((2, 4)))
    np.piecewise(np.ones(3), [np.array([True, False, True])], [note, 0.0])
    return len(seen) * x[2]


def _stored_by_a_function_that_reduce_calls(x):
    kept = np.array([3.0, 1.0, 2.0])
    ft.reduce(lambda so_far, value: kept.__setitem__(0, value) or so_far, [1.0, 2.0], 0.0)
    return np.sum(kept * x)


@pytest.mark.parametrize("f", [
    _appended_by_a_function_that_reduce_calls, _appended_by_a_function_of_each_line,
    _stored_by_a_function_that_reduce_calls,
])
def test_what_a_function_that_is_called_back_changes(f):
    x, h = np.array([0.3, 1.2, 2.1]), 1e-6
    expected = np.array([(f(x + d) - f(x - d)) / (2 * h) for d in np.eye(3) * h])
    np.testing.assert_allclose(s2s.grad(f)(x), expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose([s2s.jvp(f, (x,), (d,))[1] for d in np.eye(3)], expected, rtol=1e-6, atol=1e-8)


def test_a_call_that_acts_stays_where_its_result_has_an_unused_name(tmp_path):
    written = tmp_path / "x"

    def f(x):
        done = x.tofile(written)
        checked = np.testing.assert_array_less(x, 3.0)
        return np.sum(x**2)

    np.testing.assert_array_equal(s2s.grad(f)(np.ones(2)), [2.0, 2.0])
    assert written.exists()
    with pytest.raises(AssertionError):
        s2s.grad(f)(np.full(2, 4.0))


def test_a_read_of_an_iterator_that_runs_code_stays():
    def f(x):
        kept = np.array([3.0, 1.0, 2.0])
        list(itertools.accumulate([1.0, 2.0], lambda so_far, value: kept.__setitem__(0, value) or so_far))
        return np.sum(kept * x)

    np.testing.assert_array_equal(s2s.grad(f)(np.ones(3)), [2.0, 1.0, 2.0])


@pytest.mark.parametrize("ufunc", [np.add, np.subtract, np.multiply, np.maximum, np.negative])
def test_stores_at_places_change_their_array(ufunc):
    a = np.array([1.0, 2.0, 3.0])
    ufunc.at(a, [0, 0, 2], *[5.0] * (ufunc.nin - 1))
    assert not np.array_equal(a, [1.0, 2.0, 3.0])
    assert functions.changes_memory(ufunc.at)
    assert not facts(ufunc.at).holds
    assert not facts(ufunc.at).pure


class Swallows:
    """A manager that ends its block where it raises."""

    def __init__(self, x):
        self.x = x

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        return True


def _swallowed_in_a_try(x):
    y = x
    try:
        with Swallows(1):
            y = y * np.linalg.solve(np.zeros((2, 2)), np.ones(2))[0]
        y = y * 3.0
    except Exception:
        y = 0.0 * x
    return y * x


@s2s.differentiable
def _square(x):
    return x**2


s2s.defjvp(_square, lambda y, dots, x: np.ones(3))


def _rule_of_a_wrong_shape_in_a_try(x):
    try:
        y = _square(x)
    except Exception:
        y = 0.0 * x
    return y


def _argument_of_a_rule_in_a_try(x):
    y = np.ones(2) * x
    try:
        y = y * _square(x)
        z = y[0] / x
    except ValueError:
        z = 0.0 * x
    return z


@pytest.mark.parametrize("f", [
    _swallowed_in_a_try, _rule_of_a_wrong_shape_in_a_try, _argument_of_a_rule_in_a_try,
])
def test_a_handler_of_the_program_catches_no_refusal(f):
    for derivative in (s2s.grad(f), lambda x: s2s.jvp(f, (x,), (1.0,))):
        with pytest.raises(DifferentiationError):
            derivative(1.5)


def test_what_may_refuse_is_found_in_what_it_calls():
    refusing = (rt.check_ended, rt.check_own, rt.no_derivative, rt.call, rt.push, rt.fit_dot, rt.set_item)
    assert all(map(functions.may_refuse, refusing))
    assert not any(map(functions.may_refuse, (rt.add, rt.quotient, rt.zeros_of, rt.check_equal, np.sin, len, _square)))


COMPUTED: dict[Computes, Callable[..., Any]] = {
    Computes.SUM: lambda a, b: a + b, Computes.DIFFERENCE: lambda a, b: a - b, Computes.PRODUCT: lambda a, b: a * b,
    Computes.QUOTIENT: lambda a, b: a / b, Computes.NEGATIVE: lambda a: -a, Computes.SAME: lambda a: a,
    Computes.ABSOLUTE: lambda a: a if a >= 0 else -a, Computes.SIGN: lambda a: 1.0 if a > 0 else -1.0,
    Computes.FLOORED: lambda a, b: a - b * np.floor(a / b), Computes.TRUNCATED: lambda a, b: a - b * np.trunc(a / b),
}
"""What functions of numbers compute, by what is said of them."""


def of_numbers() -> Iterator[tuple[Any, Computes]]:
    table.extend()
    for fn in (*descriptions.described(), *operators.OPERATORS, *operators.PLAIN):
        said = facts(fn).computes
        if said in COMPUTED and not isinstance(getattr(fn, "__objclass__", None), type):
            yield fn, said


def name_of(value):
    return getattr(value, "__name__", str(value))


@pytest.mark.parametrize(("fn", "computes"), list(of_numbers()), ids=name_of)
def test_functions_compute_what_is_said_of_them(fn, computes):
    expected = COMPUTED[computes]
    given = [(2.3, 0.7), (-2.3, 0.7), (2.3, -0.7), (-0.4, -1.9)]
    count = expected.__code__.co_argcount
    for numbers in given:
        assert np.asarray(fn(*numbers[:count])).item() == pytest.approx(expected(*numbers[:count]), rel=1e-6)


def test_what_is_affine_in_pieces_is_so_in_each_argument():
    """Second differences in each number of the samples are zero, and first ones are not."""
    table.extend()
    found = [fn for fn in descriptions.described() if facts(fn).computes is Computes.PIECES and table.find(fn).samples]
    assert len(found) > 15
    rng = np.random.default_rng(3)
    for fn in found:
        moved = []
        for sample in table.find(fn).samples:
            template = sample.args, dict(sample.kwargs)
            is_empty_or_complex = any(d.complex or 0 in (d.shape or ()) for d in draws(template))
            if is_empty_or_complex or not isinstance(sample.args[0], table.Draw):
                continue
            args, kwargs = fill(template, iter([draw(d, rng) for d in draws(template)]))
            for place in range(np.size(args[0])):
                low, here, high = (np.asarray(fn(moved_by(args[0], place, d), *args[1:], **kwargs)) for d in STEPS)
                np.testing.assert_allclose(low - 2.0 * here + high, 0.0, atol=1e-9)
                moved.append(np.any(high != low))
        assert any(moved), fn


STEPS = (-1e-4, 0.0, 1e-4)


def moved_by(given, place, step):
    """A number, or an array with one element, moved by a step."""
    if type(given) is float:
        return given + step
    moved = given.copy()
    moved.flat[place] += step
    return moved
