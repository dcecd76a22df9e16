"""Every rule, run with NumPy alone, against central differences and against its own other mode."""

from __future__ import annotations

import copy
from inspect import signature
from typing import Any

import numpy as np
import pytest

from s2s.core.record import replace
from s2s.rules.samples import Sample
from s2s.rules.table import RULES, Rule
from tests.rules.cases import CHECKED, OWN, Case, aspect, attempt, pair, rules_of, sample_with, samples_of, tree

OF_NUMPY = {id(rule) for rule in OWN}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("rule", rules_of(*CHECKED))
def test_rule(rule: Rule) -> None:
    with aspect("bodies that are transposed", rule):
        assert_cotangent_comes_first(rule)
    for case in samples_of(rule):
        for check in (check_reverse, check_shapes, check_float32, check_parts_without_cotangent, check_forward,
                      check_arguments_one_at_a_time, check_complex):
            with aspect(check.__name__.removeprefix("check_").replace("_", " "), rule, case.sample):
                check(copy.copy(case))


# --- what is checked of each sample ---------------------------------------------------------------------------------


def check_reverse(case: Case) -> None:
    """The cotangents, against differences."""
    assert case.active, "a sample needs something to differentiate"
    assert_differences(case)


def assert_differences(case: Case) -> float:
    change, width = case.difference()
    cotangents = case.cotangents()
    expected, found = pair(case.y_bar, change) / width, case.reverse(found=cotangents)
    # Differences lose digits where large terms cancel: the tolerance follows the terms.
    slack = 1e-7 * max(case.reverse(np.abs, cotangents), 1e-3)
    assert found == pytest.approx(expected, rel=1e-6, abs=slack)
    return found


def check_shapes(case: Case) -> None:
    """A cotangent has the shape of its argument, and is complex where that is."""
    for name, leaves in case.cotangents().items():
        assert len(leaves) == len(case.leaves[name]), name
        for g, x in zip(leaves, case.leaves[name], strict=True):
            assert np.shape(g) == np.shape(x), name
            assert np.iscomplexobj(g) == np.iscomplexobj(x), name


def check_float32(wide: Case) -> None:
    """Cotangents of float32 are float32, and near those of float64."""
    case = Case(wide.rule, wide.sample, np.float32)
    if np.result_type(*[np.asarray(x) for x in tree(case.y)]) not in (np.float32, np.complex64):
        return
    if [np.shape(x) for x in tree(case.y)] != [np.shape(x) for x in tree(wide.y)]:
        return  # np.polydiv leaves out what is zero but for rounding
    wanted = wide.cotangents()
    for name, leaves in case.cotangents().items():
        for g, x, w in zip(leaves, case.leaves[name], wanted[name], strict=True):
            assert not isinstance(x, np.ndarray) or np.asarray(g).dtype == x.dtype, name
            np.testing.assert_allclose(g, w, rtol=2e-2, atol=2e-3)


def check_parts_without_cotangent(case: Case) -> None:
    """None stands for a part of a cotangent that is zero, where the rule takes it."""
    whole = case.y_bar
    for k, part in enumerate(whole if case.rule.takes_none and isinstance(whole, tuple) else ()):
        rest = (*whole[:k], None, *whole[k + 1 :])
        if any(item is not None for item in rest) and isinstance(part, np.ndarray):
            case.y_bar = rest
            found = case.cotangents()
            case.y_bar = (*whole[:k], np.zeros_like(part), *whole[k + 1 :])
            for name, leaves in case.cotangents().items():
                for g, w in zip(found[name], leaves, strict=True):
                    np.testing.assert_allclose(g, w, rtol=1e-9, atol=1e-9)


def check_forward(case: Case) -> None:
    """The tangent, against the cotangents."""
    tangent = case.tangent()
    assert [np.shape(t) for t in tree(tangent)] == [np.shape(y) for y in tree(case.y)]
    assert pair(case.y_bar, tangent) == pytest.approx(case.reverse(), rel=1e-9, abs=1e-9)


def check_arguments_one_at_a_time(case: Case) -> None:
    """The tangent where the other arguments have none."""
    names = case.active
    for name in names if case.rule.kind == "vjp" and len(names) > 1 else ():
        case.active = [name]
        assert pair(case.y_bar, case.tangent()) == pytest.approx(case.reverse(), rel=1e-9, abs=1e-9), name


NOT_HOLOMORPHIC: dict[str, str] = {
    "numpy.linalg.eigh": "the phases of the eigenvectors, with which the cotangent of the test turns, are free",
    "numpy.linalg.svd": "the phases of the singular vectors are free",
    "numpy.interp": "takes the real parts of complex places, with a warning",
    "math.dist": "drops imaginary parts, with a warning",
    "numpy.histogram": "the places of complex numbers on the real line have no meaning",
}


def check_complex(case: Case) -> None:
    """Every array complex, where NumPy's function takes it: against differences, and forward against reverse."""
    rule, sample = case.rule, case.sample
    if id(rule) in OF_NUMPY and rule.name not in NOT_HOLOMORPHIC and not is_cast_to_reals(sample):
        made = sample_with(sample, lambda one: one if one.shape is None else replace(one, complex=True))
        turned = attempt(rule, made)
        if turned is not None:
            found = assert_differences(turned)
            assert pair(turned.y_bar, turned.tangent()) == pytest.approx(found, rel=1e-9, abs=1e-9)


def is_cast_to_reals(sample: Sample) -> bool:
    return sample.kwargs.get("dtype") is np.float64


def assert_cotangent_comes_first(rule: Rule) -> None:
    """A body that is transposed asks for the cotangent first."""
    derived = set(rule.cotangents) - set(rule.tangents) if rule.kind == "vjp" and rule.tangent is None else set()
    for name in derived:
        assert next(iter(signature(rule.cotangents[name]).parameters)) == "y_bar", name


# --- models ---------------------------------------------------------------------------------------------------------


def test_every_model_has_a_body() -> None:
    assert all(rule.body is not None for rule in RULES.values() if rule.kind == "model")


@pytest.mark.parametrize("rule", [param for param in rules_of("model") if param.values[0].samples])
def test_model(rule: Rule) -> None:
    for sample in rule.samples:
        with aspect("the model computes what the function does", rule, sample):
            check_model(Case(rule, sample))
        with aspect("the model gives numbers where the function does", rule, sample):
            case = attempt(rule, sample)
            if case is not None and rule.fn is not map:  # which gives an iterator
                wanted = kinds(case.primal({}))
                case.rule = replace(rule, fn=rule.body)
                assert kinds(case.primal({})) == wanted


def check_model(case: Case) -> None:
    expected = tree(list(case.y) if isinstance(case.y, map) else case.y)
    case.rule = replace(case.rule, fn=case.rule.body)
    for found, wanted in zip(tree(case.primal({})), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-12)


def kinds(value: Any) -> Any:
    """What kinds of values something holds: a number is no array of rank 0."""
    if isinstance(value, (tuple, list)):
        return [kinds(item) for item in value]
    if isinstance(value, np.ndarray):
        return "array", value.ndim, value.dtype
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return "int"
    return "float" if isinstance(value, float) else type(value)


# --- which are not tested here --------------------------------------------------------------------------------------

TESTED_ELSEWHERE = (
    "scipy.stats.rv_continuous._cdf", "scipy.stats.rv_generic._ppf", "s2s.models.sparse.items_of",
    "s2s.models.sparse.iterated", "s2s.models.sparse.iterated_at", "s2s.models.splines.smoothed",
    "scipy.interpolate.BSpline.__call__", "scipy.interpolate.UnivariateSpline.__call__",
    "scipy.interpolate.RectBivariateSpline.ev", "scipy.interpolate._BivariateSplineBase.__call__",
    "scipy.interpolate.BivariateSpline.ev", "SuperLU.solve", "complex.conjugate", "s2s.runtime.differentiated_as",
    "s2s.rules.scipy.linalg_spaces.tridiagonal_pairs",  # its signs are LAPACK's: tests/models/test_polynomials.py
    "s2s.runtime.directions.rows", "s2s.runtime.directions.rows_bar", "s2s.runtime.directions.columns",
    "s2s.runtime.directions.columns_bar", "s2s.runtime.like",  # tests/batch/test_jacobians_twice.py
    "s2s.models.solutions.underived", "scipy.interpolate._iter_solve",
    # the same draw has no other derivative than the one along its quantile: tests/models/test_draws.py
    "s2s.models.sparse_spectra.expm_times",  # of sparse matrices: tests/models/test_sparse_spectra.py
    "s2s.models.draws.gamma_draw", "s2s.models.draws.beta_draw", "s2s.models.draws.student_draw",
    "s2s.runtime.cofactor",  # its arguments belong together: tests/rules/test_linalg.py
    "s2s.runtime.solve_triangular",  # differences leave the triangle: tests/optimize/test_triangular.py
    "scipy.linalg.lapack.dpotrf",  # its result holds an error code: tests/rules/test_compiled_functions.py
)


def test_every_rule_that_can_be_checked_has_samples() -> None:
    without = [rule.name for rule in RULES.values() if rule.kind in CHECKED and not rule.samples]
    assert set(without) <= set(TESTED_ELSEWHERE)
