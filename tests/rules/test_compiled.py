"""Every rule through the compiler, with arguments of every kind: what it gives is what the rule gives on NumPy alone.

The calls of the samples of a rule, and those with arguments of other kinds (float32 and float16, lists, arrays of rank
0 and NumPy's numbers), are statements of one function, which is compiled once for each mode.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import s2s
from s2s.core.record import replace
from s2s.rules.samples import Draw
from s2s.rules.table import RULES, Rule
from tests.rules.cases import CHECKED, IN_PLACE, OWN, Case, aspect, attempt, pair, sample_with, tree
from tests.rules.programs import Program, build, moves, places, to_compile, to_compile_forward, whole

OF_NUMPY = {id(rule) for rule in OWN}


LONG = {
    "numpy.percentile", "numpy.quantile", "numpy.nanpercentile", "numpy.nanquantile", "scipy.linalg.solve_triangular",
    *(f"scipy.linalg.{name}" for name in ("expm", "logm", "sinm", "cosm", "tanm", "sinhm", "coshm", "tanhm")),
}
"""Rules with bodies that take more than a second to specialise: quantiles, and functions of matrices, which share
theirs, so that whichever comes first pays."""


def cases(*kinds: str) -> list[Any]:
    rules = [r for r in RULES.values() if r.kind in kinds and r.samples and r.fn not in IN_PLACE]
    return [pytest.param(rule, id=rule.name, marks=pytest.mark.slow if rule.name in LONG else ()) for rule in rules]


class Call:
    """A call in a program, what it is checked by, and what the compiler gives for it."""

    def __init__(self, case: Case, check: Callable[[Call], None], what: str, has_tangent: bool = True) -> None:
        self.case, self.check, self.what, self.has_tangent = case, check, what, has_tangent
        self.leaves: list[Any] = []
        self.cotangents: list[Any] = []
        self.out = self.tangent = None

    def reverse(self) -> float:
        """The derivative along the directions by the cotangents."""
        pairs = zip(self.cotangents, moves(self.case), strict=True)
        return sum(pair(g, d) for g, d in pairs if d is not None)

    def forward(self) -> float:
        return pair(self.case.y_bar, self.tangent)


def differentiate(calls: Sequence[Call], folder: Any, modes: str, wrap: Any = lambda f: f) -> None:
    """Compile the calls in one function and note what its derivatives are, by the modes, for each of them."""
    program = Program([call.case for call in calls])
    f, leaves = wrap(program.build(folder)), program.leaves()
    out, pullback = s2s.vjp(f, *leaves)
    cotangents = pullback(tuple(whole(y, call.case.y_bar) for y, call in zip(out, calls, strict=True)))
    parts = zip(program.split(leaves), program.split(cotangents), calls, out, strict=True)
    for (_, given), (_, found), call, y in parts:
        call.leaves, call.cotangents, call.out = given, found, y
    if "forward" in modes:
        directions = [d if call.has_tangent else None for call in calls for d in moves(call.case)]
        _, tangents = s2s.jvp(f, leaves, directions)
        for call, tangent in zip(calls, tangents, strict=True):
            call.tangent = tangent


def check_all(calls: list[Call], folder: Any, modes: str, wrap: Any = lambda f: f) -> None:
    """Check all calls, compiled together; where that fails one by one, to say which one it is that fails."""
    if not calls:
        return
    try:
        differentiate(calls, folder, modes, wrap)
    except Exception:
        for call in calls:
            with aspect(f"compiled alone, {call.what}", call.case.rule, call.case.sample):
                differentiate([call], folder, modes, wrap)
        raise
    for call in calls:
        with aspect(f"compiled, {call.what}", call.case.rule, call.case.sample):
            call.check(call)


# --- the test -------------------------------------------------------------------------------------------------------


@pytest.mark.grid(0.2)
@pytest.mark.parametrize("rule", cases(*CHECKED))
def test_compiled_rule(rule: Rule, tmp_path: Any, in_sample: Any) -> None:
    samples = to_compile(rule)
    forward = {id(one) for one in (samples if in_sample(0) else to_compile_forward(rule))}
    plain = [call_of(Case(rule, sample), has_tangents(rule) and id(sample) in forward) for sample in samples]
    others = list(calls_of_other_kinds(rule)) if id(rule) in OF_NUMPY else []
    others = [call for call in others if in_sample(0.5, call.what)]
    modes = "reverse and forward" if has_tangents(rule) or others else "reverse"
    check_all([*plain, *others], tmp_path, modes)
    if rule.kind != "partials":
        check_sums_of_parts(rule, tmp_path)


# Those of Python itself take functions and iterators: the tests of the language have them.
OF_PYTHON = (sum, map, filter, functools.reduce)


@pytest.mark.grid(0.2)
@pytest.mark.parametrize("rule", cases("model"))
def test_compiled_model(rule: Rule, tmp_path: Any) -> None:
    plain = [Call(Case(rule, sample), check_differences, "as the sample is") for sample in rule.samples]
    if rule.fn not in OF_PYTHON:
        check_all(plain, tmp_path, "reverse", s2s.differentiable(nonsmooth="zero"))  # as differences see rounding
    if id(rule) in OF_NUMPY:
        check_all(list(calls_of_other_kinds(rule)), tmp_path, "reverse and forward")


def call_of(case: Case, has_tangent: bool) -> Call:
    """The call as the sample is, against the rule in one mode or both."""
    return Call(case, check_both_modes if has_tangent else check_gradient, "as the sample is", has_tangent)


def has_tangents(rule: Rule) -> bool:
    """Whether a rule has forward mode of its own."""
    return rule.kind != "vjp" or bool(rule.tangents) or rule.tangent is not None


def assert_value(call: Call) -> None:
    for a, b in zip(tree(call.out), tree(call.case.y), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12, err_msg="value")


def check_gradient(call: Call) -> None:
    """The value is the function's, the cotangents are those of the rule."""
    assert_value(call)
    expected = call.case.cotangents()
    for (name, i), x_bar in zip(places(call.case), call.cotangents, strict=True):
        if name not in expected:  # the derivative is zero
            assert not np.any(x_bar), name
            continue
        np.testing.assert_allclose(x_bar, expected[name][i], rtol=1e-9, atol=1e-9, err_msg=f"cotangent of {name}")


def check_both_modes(call: Call) -> None:
    """As ``check_gradient``, and the tangent is that of the rule."""
    check_gradient(call)
    for got, want in zip(tree(call.tangent), tree(call.case.tangent()), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9, err_msg="tangent")


def check_differences(call: Call) -> None:
    """The value is the function's, the cotangents agree with differences."""
    assert_value(call)
    change, width = call.case.difference()
    assert call.reverse() == pytest.approx(pair(call.case.y_bar, change) / width, rel=1e-6, abs=1e-9)


# --- the cotangent of a sum is one number ---------------------------------------------------------------------------


def parts_of(y: Any, path: str) -> Iterator[tuple[str, np.ndarray]]:
    """The arrays of floats in a result that has parts, each with where it is."""
    if isinstance(y, (tuple, list)):
        for k, part in enumerate(y):
            yield from parts_of(part, f"{path}[{k}]")
    elif path.endswith("]") and isinstance(y, np.ndarray) and y.dtype.kind in "fc":
        yield path, y


def equal_elements(y: Any, numbers: Iterator[float]) -> Any:
    """The cotangent of a sum of sums of the parts of a result."""
    if isinstance(y, (tuple, list)):
        return tuple(equal_elements(part, numbers) for part in y)
    if isinstance(y, np.ndarray) and y.dtype.kind in "fc":
        return np.full_like(y, next(numbers))
    return np.zeros_like(y)


def check_sums_of_parts(rule: Rule, folder: Any) -> None:
    """The cotangent of the argument of a sum is one number, where nothing makes an array of it."""
    with_parts = [case for case in (Case(rule, sample) for sample in rule.samples) if any(parts_of(case.y, "y"))]
    if not with_parts:
        return
    program, terms = Program(with_parts), []
    for k, case in enumerate(with_parts):
        numbers = [i + 1.5 for i, _ in enumerate(parts_of(case.y, "y"))]
        case.y_bar = equal_elements(case.y, iter(numbers))
        paths = (path for path, _ in parts_of(case.y, f"y{k}"))
        terms += [f"numpy.real(numpy.sum({path})) * {number}" for path, number in zip(paths, numbers, strict=True)]
    f, leaves = build(program.text(" + ".join(terms)), program.constants, folder), program.leaves()
    with aspect("compiled, the gradient of the sum of each part", rule):
        found = s2s.grad(f, argnums=tuple(range(len(leaves))))(*leaves)
    for case, gradients in program.split(found):
        expected = case.cotangents()
        for (name, i), x_bar in zip(places(case), gradients, strict=True):
            if name in expected:
                with aspect(f"compiled, the sum of each part, cotangent of {name}", rule, case.sample):
                    np.testing.assert_allclose(x_bar, expected[name][i], rtol=1e-9, atol=1e-9)


# --- arguments of every kind ----------------------------------------------------------------------------------------


def calls_of_other_kinds(rule: Rule) -> Iterator[Call]:
    """Calls with arguments of other kinds, where NumPy takes them."""
    for made in (*of_precisions(rule), of_lists(rule), *of_numbers(rule)):
        if made is not None and made.case.active:
            yield made


OF_DOUBLES = ("math.", "cmath.", "statistics.", "builtins.")
"""Functions whose results are Python's floats: their tangents may be of less precision, as their arguments are."""

IS_OLD = np.lib.NumpyVersion(np.__version__) < "2.4.0"
"""There ``outer`` takes a number of Python for a float64."""


def of_precisions(rule: Rule) -> Iterator[Call | None]:
    for dtype, which in ((np.float32, -1), (np.float16, 0)):
        case = attempt(rule, rule.samples[which], dtype)
        yield case and Call(case, functools.partial(check_precision, dtype=dtype), f"of {dtype.__name__}")


def dtypes(value: Any) -> list[Any]:
    return [np.asarray(leaf).dtype for leaf in tree(value) if np.asarray(leaf).dtype.kind in "fc"]


def check_precision(call: Call, dtype: Any) -> None:
    """The value has NumPy's own dtype, a gradient that of its argument, a tangent that of the value."""
    rule = call.case.rule
    assert dtypes(call.out) == dtypes(call.case.y)
    for x, g in zip(call.leaves, call.cotangents, strict=True):
        assert np.asarray(g).dtype == np.asarray(x).dtype
    if not rule.name.startswith(OF_DOUBLES) and not (IS_OLD and rule.name == "numpy.power.outer"):
        moving = [(t, y) for t, y in zip(tree(call.tangent), tree(call.out), strict=True) if np.any(t)]
        assert dtypes([t for t, _ in moving]) == dtypes([y for _, y in moving])
    slack = 2e-4 if dtype is np.float32 else 0.2
    terms = zip(tree(call.case.y_bar), tree(call.tangent), strict=True)
    size = sum(np.sum(np.abs(np.asarray(g, complex) * d)) for g, d in terms)
    assert call.forward() == pytest.approx(call.reverse(), rel=slack, abs=slack * max(float(size), 1.0))


QUIRKS = {"numpy.array_split": "takes the length of a list for that of any axis"}


def of_lists(rule: Rule) -> Call | None:
    """The first sample with arrays, lists in their place."""
    if not rule.name.startswith(("numpy.", "builtins.")) or rule.name in QUIRKS:
        return None
    case = attempt(rule, next(filter(None, (sample_with(sample, as_list) for sample in rule.samples)), None))
    return case and Call(case, check_lists, "of lists")


def as_list(one: Draw) -> Any:
    """A list of numbers for an array."""
    if not one.shape or one.positive or one.complex or 0 in one.shape:
        return one
    number = replace(one, shape=None)

    def nested(shape: tuple[int, ...]) -> Any:
        return [nested(shape[1:]) for _ in range(shape[0])] if shape else number

    return nested(one.shape)


def check_lists(call: Call) -> None:
    """A list is what NumPy makes of it, in both modes."""
    assert_value(call)
    assert call.forward() == pytest.approx(call.reverse(), rel=1e-9, abs=1e-9)
    assert call.forward() != 0.0 or not np.any(call.case.difference()[0])


def of_numbers(rule: Rule) -> Iterator[Call | None]:
    """Arrays of rank 0 and numbers of NumPy where floats may stand."""
    for kind in (np.asarray, np.float64) if rule.name.startswith("numpy.") else ():
        made = sample_with(rule.samples[0], lambda one: replace(one, shape=()) if one.shape is None else one)
        case = attempt(rule, made)
        if case is not None:
            case.leaves = {
                name: [kind(x) if np.ndim(x) == 0 and not np.iscomplexobj(x) else x for x in given]
                for name, given in case.leaves.items()
            }
            yield Call(case, check_numbers, f"of numbers by numpy.{kind.__name__}")


def check_numbers(call: Call) -> None:
    """Both modes agree, and a cotangent has the shape of its argument."""
    assert call.forward() == pytest.approx(call.reverse(), rel=1e-9, abs=1e-9)
    assert [np.shape(g) for g in call.cotangents] == [np.shape(x) for x in call.leaves]
