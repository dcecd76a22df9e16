"""Arguments of every kind: float32 and float16, complex numbers, lists, arrays of rank 0 and NumPy's numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_compiled import IN_PLACE, Program, flat, whole
from test_rules import CHECKED, Case, draws, pair, tree

import s2s
from s2s.core.record import replace
from s2s.rules import table
from s2s.rules.samples import Draw, Sample
from s2s.rules.table import RULES, Rule

table.extend()
OWN = [
    rule for rule in RULES.values()
    if rule.kind in (*CHECKED, "model") and rule.samples and rule.fn not in IN_PLACE
    and not rule.name.startswith(("s2s.", "scipy.")) and rule.fn is not map
]
"""The rules of NumPy and of Python."""


def changed(template: Any, change: Callable[[Draw], Any]) -> Any:
    """A template with every draw replaced."""
    if isinstance(template, Draw):
        return change(template)
    if isinstance(template, dict):
        return {key: changed(item, change) for key, item in template.items()}
    if isinstance(template, (list, tuple)):
        return type(template)(changed(item, change) for item in template)
    return template


def sample_with(sample: Sample, change: Callable[[Draw], Any]) -> Sample | None:
    """The call with other draws; None where nothing changes."""
    made = Sample(changed(sample.args, change), changed(dict(sample.kwargs), change))
    return None if repr(made) == repr(Sample(sample.args, dict(sample.kwargs))) else made


def attempt(rule: Rule, sample: Sample | None, dtype: Any = np.float64) -> Case | None:
    """The case of a call, None where NumPy does not take these arguments."""
    try:
        return None if sample is None else Case(rule, sample, dtype)
    except (TypeError, ValueError, AttributeError, np.linalg.LinAlgError):
        return None


def both_modes(case: Case, folder: Any) -> tuple[list[Any], list[Any], Any, Any, float, float]:
    """The arguments, their gradients, the result and its tangent, and the derivative along the directions of the case
    by either mode."""
    program = Program(case.rule, case.sample)
    f = program.build(folder)
    leaves = [x for name, item in case.template.items() for x in flat(item, case.leaves[name])]
    directions = [
        case.directions[name][i] if name in case.active else None
        for name, item in case.template.items() for i, _ in enumerate(draws(item))
    ]
    out, pullback = s2s.vjp(f, *leaves)
    found = pullback(whole(out, case.y_bar))
    _, tangent = s2s.jvp(f, leaves, directions)
    reverse = sum(pair(g, d) for g, d in zip(found, directions, strict=True) if d is not None)
    return leaves, found, out, tangent, reverse, pair(case.y_bar, tangent)


# --- precision ------------------------------------------------------------------------------------------------------

OF_DOUBLES = ("math.", "cmath.", "statistics.", "builtins.")
"""Functions whose results are Python's floats: their tangents may be of less precision, as their arguments are."""


IS_OLD = np.lib.NumpyVersion(np.__version__) < "2.4.0"
"""There ``outer`` takes a number of Python for a float64."""


def dtypes(value: Any) -> list[Any]:
    return [np.asarray(leaf).dtype for leaf in tree(value) if np.asarray(leaf).dtype.kind in "fc"]


def with_precisions() -> list[Any]:
    """Rules with dtypes and samples. Elementwise functions take the dtypes in turn: a number that makes a result wider
    does so with both."""
    return [
        pytest.param(
            rule, dtype, which, id=f"{rule.name}-{dtype.__name__}",
            marks=pytest.mark.every if rule.kind == "partials" and (k + turn) % 2 else (),
        )
        for k, rule in enumerate(OWN) for turn, (dtype, which) in enumerate([(np.float32, -1), (np.float16, 0)])
    ]


@pytest.mark.parametrize("rule, dtype, which", with_precisions())
def test_precision_is_kept(rule: Rule, dtype: Any, which: int, tmp_path: Any) -> None:
    """The value has NumPy's own dtype, a gradient that of its argument, a tangent that of the value."""
    case = attempt(rule, rule.samples[which], dtype)
    if case is None or not case.active:
        return
    leaves, found, out, tangent, reverse, forward = both_modes(case, tmp_path)
    assert dtypes(out) == dtypes(case.y)
    for x, g in zip(leaves, found, strict=True):
        assert np.asarray(g).dtype == np.asarray(x).dtype
    if not rule.name.startswith(OF_DOUBLES) and not (IS_OLD and rule.name == "numpy.power.outer"):
        moving = [(t, y) for t, y in zip(tree(tangent), tree(out), strict=True) if np.any(t)]
        assert dtypes([t for t, _ in moving]) == dtypes([y for _, y in moving])
    slack = 2e-4 if dtype is np.float32 else 0.2
    size = sum(np.sum(np.abs(np.asarray(g, complex) * d)) for g, d in zip(tree(case.y_bar), tree(tangent), strict=True))
    assert forward == pytest.approx(reverse, rel=slack, abs=slack * max(float(size), 1.0))


@pytest.mark.parametrize("first, second", [(np.float32, np.float64), (np.float16, np.float32), (np.float32, np.int64)])
@pytest.mark.parametrize("fn", [np.add, np.multiply, np.arctan2, np.matmul, np.power, np.maximum])
def test_mixed_dtypes_are_promoted_as_numpy_does(fn: Any, first: Any, second: Any) -> None:
    a, b = np.array([[0.5, 1.5], [2.0, 0.25]], first), np.array([[1, 2], [3, 4]], second)
    out, pullback = s2s.vjp(mixed, fn, a, b)
    assert out.dtype == fn(a, b).dtype
    _, a_bar, b_bar = pullback(np.ones_like(out))
    assert a_bar.dtype == a.dtype
    assert b_bar is None or b_bar.dtype == b.dtype


def mixed(fn: Any, a: Any, b: Any) -> Any:
    return fn(a, b)


# --- complex numbers ------------------------------------------------------------------------------------------------

NOT_HOLOMORPHIC: dict[str, str] = {
    "numpy.linalg.eigh": "the phases of the eigenvectors, with which the cotangent of the test turns, are free",
    "numpy.linalg.svd": "the phases of the singular vectors are free",
    "numpy.interp": "takes the real parts of complex places, with a warning",
    "math.dist": "drops imaginary parts, with a warning",
    "numpy.histogram": "the places of complex numbers on the real line have no meaning",
}


def is_cast_to_reals(sample: Sample) -> bool:
    return sample.kwargs.get("dtype") is np.float64


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("rule", [pytest.param(rule, id=rule.name) for rule in OWN if rule.kind in CHECKED])
def test_complex_arguments(rule: Rule) -> None:
    """Every array complex, where NumPy's function takes it: against differences, and forward against reverse."""
    for sample in rule.samples if rule.name not in NOT_HOLOMORPHIC else ():
        made = sample_with(sample, lambda one: one if one.shape is None else replace(one, complex=True))
        case = None if is_cast_to_reals(sample) else attempt(rule, made)
        if case is None:
            continue
        change, width = case.difference()
        slack = 1e-7 * max(case.reverse(np.abs), 1e-3)
        assert case.reverse() == pytest.approx(pair(case.y_bar, change) / width, rel=1e-6, abs=slack), sample
        assert pair(case.y_bar, case.tangent()) == pytest.approx(case.reverse(), rel=1e-9, abs=1e-9), sample


@pytest.mark.parametrize("fn, at, wanted", [
    (np.sign, 3.0 + 4.0j, None), (np.angle, 3.0 + 4.0j, None), (np.abs, 3.0 + 4.0j, None), (np.round, 1.2 + 2.3j, "1"),
    (np.real_if_close, 1.0 + 2.0j, "1"),
])
def test_what_is_constant_for_reals_and_not_for_complex_numbers(fn: Any, at: Any, wanted: Any) -> None:
    """Along the real and the imaginary axis, against differences or the slope of the policy."""
    for direction in (1.0 + 0.0j, 1.0j):
        expected = direction if wanted else (fn(at + 1e-6 * direction) - fn(at - 1e-6 * direction)) / 2e-6
        found = s2s.jvp(lambda z: fn(z), (np.array([at]),), (np.array([direction]),))[1]
        np.testing.assert_allclose(found, [expected], rtol=1e-8, atol=1e-9)
        _, pullback = s2s.vjp(lambda z: fn(z), np.array([at]))
        cotangent = np.array([0.3 - 0.7j]) if np.iscomplexobj(expected) else np.array([0.3])
        assert pair(pullback(cotangent)[0], [direction]) == pytest.approx(pair(cotangent, [expected]), abs=1e-8)


# --- numbers and lists ----------------------------------------------------------------------------------------------


def as_list(one: Draw) -> Any:
    """A list of numbers for an array."""
    if not one.shape or one.positive or one.complex or 0 in one.shape:
        return one
    number = replace(one, shape=None)

    def nested(shape: tuple[int, ...]) -> Any:
        return [nested(shape[1:]) for _ in range(shape[0])] if shape else number

    return nested(one.shape)


QUIRKS = {"numpy.array_split": "takes the length of a list for that of any axis"}


@pytest.mark.parametrize("rule", [
    pytest.param(rule, id=rule.name) for rule in OWN
    if rule.name.startswith(("numpy.", "builtins.")) and rule.name not in QUIRKS
])
def test_lists_for_arrays(rule: Rule, tmp_path: Any) -> None:
    """A list is what NumPy makes of it, in both modes."""
    made = next(filter(None, (sample_with(sample, as_list) for sample in rule.samples)), None)
    case = attempt(rule, made)
    if case is not None and case.active:
        _, _, out, _, reverse, forward = both_modes(case, tmp_path)
        for a, b in zip(tree(out), tree(case.y), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
        assert forward == pytest.approx(reverse, rel=1e-9, abs=1e-9)
        assert forward != 0.0 or not np.any(case.difference()[0])


@pytest.mark.parametrize("kind", [np.asarray, np.float64])
@pytest.mark.parametrize("rule", [pytest.param(rule, id=rule.name) for rule in OWN if rule.name.startswith("numpy.")])
def test_numbers_of_numpy(rule: Rule, kind: Any, tmp_path: Any) -> None:
    """An array of rank 0 and a number of NumPy where a float may stand."""
    for sample in rule.samples[:1]:
        made = sample_with(sample, lambda one: replace(one, shape=()) if one.shape is None else one)
        case = attempt(rule, made)
        if case is not None and case.active:
            case.leaves = {
                name: [kind(x) if np.ndim(x) == 0 and not np.iscomplexobj(x) else x for x in given]
                for name, given in case.leaves.items()
            }
            leaves, found, _, _, reverse, forward = both_modes(case, tmp_path)
            assert forward == pytest.approx(reverse, rel=1e-9, abs=1e-9)
            assert [np.shape(g) for g in found] == [np.shape(x) for x in leaves]


def kinds(value: Any) -> Any:
    """What kinds of values something holds: a number is no array of rank 0."""
    if isinstance(value, (tuple, list)):
        return [kinds(item) for item in value]
    if isinstance(value, np.ndarray):
        return "array", value.ndim, value.dtype
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return "int"
    return "float" if isinstance(value, float) else type(value)


@pytest.mark.parametrize("rule", [
    pytest.param(rule, id=rule.name) for rule in RULES.values()
    if rule.kind == "model" and rule.samples and rule.fn is not map  # which gives an iterator
])
def test_models_give_numbers_where_the_function_does(rule: Rule) -> None:
    for sample in rule.samples:
        case = attempt(rule, sample)
        if case is not None:
            wanted = kinds(case.primal({}))
            case.rule = replace(rule, fn=rule.body)
            assert kinds(case.primal({})) == wanted, sample
