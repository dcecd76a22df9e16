"""Every rule, run with NumPy alone, against central differences and against its own other mode."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from inspect import signature
from typing import Any

import numpy as np
import pytest

from s2s import runtime as rt
from s2s.core.record import replace
from s2s.rules import table
from s2s.rules.samples import Draw, Sample
from s2s.rules.table import RULES, Rule, bind

table.extend()
CHECKED = ("partials", "several", "linear", "vjp")


# --- samples into values ------------------------------------------------------------------------------------


def draws(template: Any) -> Iterator[Draw]:
    """The draws in a template, in order."""
    if isinstance(template, Draw):
        yield template
    elif isinstance(template, dict):
        for item in template.values():
            yield from draws(item)
    elif isinstance(template, (list, tuple)):
        for item in template:
            yield from draws(item)


def fill(template: Any, values: Iterator[Any], constant: Any = None) -> Any:
    """The template with every draw replaced by the next value; other numbers by ``constant`` where that is
    given.
    """
    if isinstance(template, Draw):
        return next(values)
    if isinstance(template, dict):
        return {key: fill(item, values, constant) for key, item in template.items()}
    if isinstance(template, (list, tuple)):
        return type(template)(fill(item, values, constant) for item in template)
    if constant is not None and isinstance(template, (float, np.ndarray)):
        return template * constant
    return template


def pick(template: Any, cotangent: Any) -> Iterator[Any]:
    """The parts of a cotangent that belong to the draws of a template, in order."""
    if isinstance(template, Draw):
        yield cotangent
    elif isinstance(template, dict):
        for key, item in template.items():
            yield from pick(item, cotangent[key])
    elif isinstance(template, (list, tuple)):
        for i, item in enumerate(template):
            if any(True for _ in draws(item)):
                yield from pick(item, cotangent[i])


def draw(one: Draw, rng: np.random.Generator, dtype: Any = np.float64) -> Any:
    """A value for a draw: a float, or an array of a dtype (complex where the draw is)."""
    if one.shape is None:
        return float(rng.uniform(one.low, one.high))
    value = np.asarray(rng.uniform(one.low, one.high, one.shape))
    if one.complex:
        value = value + 1j * rng.uniform(one.low, one.high, one.shape)
    if one.positive:
        value = value @ np.conj(np.swapaxes(value, -1, -2)) + np.eye(one.shape[-1])
    if one.complex:
        return value.astype(np.result_type(dtype, np.complex64))
    return value.astype(dtype)


def own(x: Any, like: Any) -> Any:
    """A copy of an array; a NumPy scalar becomes an array of rank 0 where an array was."""
    return np.array(x) if isinstance(like, np.ndarray) else x


def random_like(y: Any, rng: np.random.Generator) -> Any:
    """A random cotangent or direction for a value of any structure."""
    if y is None:
        return None
    if isinstance(y, (list, tuple)):
        return tuple(random_like(item, rng) for item in y)
    made = rng.normal(size=np.shape(y))
    if np.iscomplexobj(y):
        made = made + 1j * rng.normal(size=np.shape(y))
    return np.asarray(made).astype(np.asarray(y).dtype)[()] if np.asarray(y).dtype.kind in "fc" else made


def pair(a: Any, b: Any) -> float:
    """The pairing of a cotangent and a tangent: Re(sum of a * b), JAX's convention, over all leaves."""
    if a is None:
        return 0.0
    if isinstance(a, (list, tuple)):
        return sum(pair(x, y) for x, y in zip(a, b, strict=True))
    return float(np.real(np.sum(np.asarray(a) * np.asarray(b))))


def step(y: Any, z: Any, scale: float) -> Any:
    """``y + scale * z`` over a structure."""
    if y is None:
        return None
    if isinstance(y, (list, tuple)):
        return [step(a, b, scale) for a, b in zip(y, z, strict=True)]
    return y + scale * z


def by_units(y: Any, along: Any) -> Any:
    """What has the structure of ``y``, and with each cotangent the product that ``along`` gives for it."""
    leaves = [np.zeros(np.shape(leaf), np.result_type(leaf, float)) for leaf in tree(y)]
    found = [leaf.copy() for leaf in leaves]
    for leaf, made in zip(leaves, found, strict=True):
        for i in np.ndindex(leaf.shape):
            for unit in (1.0, -1.0j) if leaf.dtype.kind == "c" else (1.0,):
                leaf[i] = unit
                made[i] += along(with_leaves(y, iter(leaves))) * np.conj(unit)
            leaf[i] = 0.0
    return with_leaves(y, iter(found))


def with_leaves(y: Any, leaves: Iterator[Any]) -> Any:
    """The leaves in the structure of ``y``, numbers where it has numbers."""
    if isinstance(y, (list, tuple)):
        return [with_leaves(item, leaves) for item in y]
    leaf = next(leaves)
    return leaf.copy() if isinstance(y, np.ndarray) else leaf[()]


# --- one call of one rule -----------------------------------------------------------------------------------


class Case:
    """A rule, one sample, and values drawn for it."""

    def __init__(self, rule: Rule, sample: Sample, dtype: Any = np.float64) -> None:
        self.rule, self.sample = rule, sample
        self.rng = np.random.default_rng(7)
        self.template = bind(rule, sample.args, sample.kwargs)
        self.leaves = {
            name: [draw(one, self.rng, dtype) for one in draws(item)] for name, item in self.template.items()
        }
        self.active = [name for name in self.differentiable() if self.leaves[name]]
        self.y = self.primal({})
        self.y_bar = random_like(self.y, self.rng)
        self.directions = {
            n: [self.direction(d, x) for d, x in zip(draws(self.template[n]), self.leaves[n], strict=True)]
            for n in self.active
        }

    def direction(self, one: Draw, x: Any) -> Any:
        """A random direction for a value, symmetric where its draw is."""
        made = random_like(x, self.rng)
        return 0.5 * (made + np.conj(np.swapaxes(made, -1, -2))) if one.positive else made

    def differentiable(self) -> list[str]:
        names = list(self.template)
        if self.rule.kind == "model":
            return names
        if self.rule.partials:
            return [n for n, p in zip(names, self.rule.partials, strict=False) if p is not None]
        return [n for n in names if n in self.rule.cotangents]

    def values(self, moved: dict[str, list[Any]] | None = None) -> dict[str, Any]:
        """The bound arguments: copies, so that in-place functions do no harm."""
        leaves = {**self.leaves, **(moved or {})}
        owned = {n: list(map(own, leaves[n], self.leaves[n])) for n in leaves}
        return {name: fill(item, iter(owned[name])) for name, item in self.template.items()}

    def call(self, values: dict[str, Any]) -> Any:
        """The function on bound arguments, passed as the sample passes them."""
        positional: list[Any] = []
        names = list(values)
        for i, _ in enumerate(self.sample.args):
            kind = self.rule.params.parameters[names[min(i, len(names) - 1)]].kind
            if kind.name == "VAR_POSITIONAL":
                positional.extend(values[names[i]])
                break
            positional.append(values[names[i]])
        named = {name: values[name] for name in self.sample.kwargs}
        return self.rule.fn(*positional, **named)

    def primal(self, moved: dict[str, list[Any]]) -> Any:
        return self.call(self.values(moved))

    def available(self) -> dict[str, Any]:
        return {"y": self.y, "y_bar": self.y_bar, **self.values()}

    def cotangents(self) -> dict[str, list[Any]]:
        """For each active parameter the cotangents of its draws."""
        found = {}
        for name in self.active:
            found[name] = list(pick(self.template[name], self.cotangent(name)))
        return found

    def reverse(self, size: Any = lambda x: x) -> float:
        """The directional derivative by the rule: its cotangents paired with the directions."""
        found = self.cotangents()
        pairs = [(g, d) for n in self.active for g, d in zip(found[n], self.directions[n], strict=True)]
        return sum(pair(size(g), size(d)) for g, d in pairs)

    def cotangent(self, name: str) -> Any:
        values = self.values()
        if self.rule.partials:
            i = list(self.template).index(name)
            inputs = list(values.values())[: max(len(self.rule.partials), self.arity())]
            partial = self.rule.partials[i]
            assert partial is not None
            slopes = partial(self.y, *inputs)
            if self.rule.kind == "several":
                return sum(rt.unbroadcast(g * p, values[name]) for g, p in zip(self.y_bar, slopes, strict=True))
            return rt.unbroadcast(self.y_bar * slopes, values[name])
        return call_by_name(self.rule.cotangents[name], self.available())

    def arity(self) -> int:
        return max(len(signature(p).parameters) - 1 for p in self.rule.partials if p is not None)

    def difference(self) -> Any:
        """The derivative along the directions, by central differences of fourth order."""
        h = 1e-4

        def at(t: float) -> Any:
            return self.primal({n: step(self.leaves[n], self.directions[n], t) for n in self.active})

        wide = step(at(2 * h), at(-2 * h), -1.0)
        narrow = step(at(h), at(-h), -1.0)
        return step(step(narrow, narrow, 7.0), wide, -1.0), 12 * h

    def tangent(self) -> Any:
        """The tangent of the result along the directions, by the rule."""
        rule, values = self.rule, self.values()
        turned = {n: fill(self.template[n], iter(self.turned(n)), 0.0) for n in self.active}
        if rule.partials:
            inputs = list(values.values())[: self.arity()]
            partials: dict[str, Any] = dict(zip(values, rule.partials, strict=False))
            if rule.kind == "several":
                changes = [[p * turned[n] for p in partials[n](self.y, *inputs)] for n in self.active]
                return [sum(parts) for parts in zip(*changes, strict=True)]
            total = sum(partials[n](self.y, *inputs) * turned[n] for n in self.active)
            return total if np.iscomplexobj(self.y) else np.real(total)
        if rule.kind == "vjp" and rule.tangent is None:
            parts = [
                call_by_name(rule.tangents[n], {**self.available(), f"{n}_dot": turned[n]})
                if n in rule.tangents else self.transposed(n) for n in self.active
            ]
            return functools.reduce(lambda a, b: step(a, b, 1.0), parts)
        if rule.tangent is not None:
            dots = {f"{n}_dot": turned.get(n, 0.0) for n in values}
            return call_by_name(rule.tangent, {**self.available(), **dots})
        if rule.joint:
            rest = [n for n in rule.cotangents if n not in turned and values[n] is not None]
            still = {n: fill(self.template[n], iter([]), 0.0) for n in rest}
            return self.call({**values, **still, **turned})
        changes = [change for n in self.active for change in self.one_at_a_time(n, turned[n])]
        parts = [self.call({**self.values(), **change}) for change in changes]
        return parts[0] if len(parts) == 1 else sum(parts)

    def transposed(self, name: str) -> Any:
        """The tangent by the cotangent of an argument: what the pairing with each unit says."""
        def along(y_bar: Any) -> float:
            found = call_by_name(self.rule.cotangents[name], {**self.available(), "y_bar": y_bar})
            return sum(pair(g, d) for g, d in zip(pick(self.template[name], found), self.turned(name), strict=True))

        return by_units(self.y, along)

    def turned(self, name: str) -> list[Any]:
        return [own(d, x) for d, x in zip(self.directions[name], self.leaves[name], strict=True)]

    def one_at_a_time(self, name: str, turned: Any) -> list[dict[str, Any]]:
        """What to change in the arguments for each term of a multilinear tangent."""
        if self.rule.params.parameters[name].kind.name != "VAR_POSITIONAL":
            return [{name: turned}]
        values = self.values()[name]
        active = [i for i, item in enumerate(self.template[name]) if any(True for _ in draws(item))]
        return [{name: (*values[:i], turned[i], *values[i + 1 :])} for i in active]


def call_by_name(body: Any, available: dict[str, Any]) -> Any:
    return body(*[available[name] for name in signature(body).parameters])


def rules_of(*kinds: str) -> list[Any]:
    return [pytest.param(rule, id=rule.name) for rule in RULES.values() if rule.kind in kinds]


def samples_of(rule: Rule, dtype: Any = np.float64) -> Iterator[Case]:
    return (Case(rule, sample, dtype) for sample in rule.samples)


# --- the tests ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", rules_of(*CHECKED))
def test_reverse_agrees_with_differences(rule: Rule) -> None:
    for case in samples_of(rule):
        assert case.active, "a sample needs something to differentiate"
        change, width = case.difference()
        expected = pair(case.y_bar, change) / width
        # Differences lose digits where large terms cancel: the tolerance follows the terms.
        slack = 1e-7 * max(case.reverse(np.abs), 1e-3)
        assert case.reverse() == pytest.approx(expected, rel=1e-6, abs=slack), case.sample


@pytest.mark.parametrize("rule", rules_of(*CHECKED))
def test_cotangents_have_the_shape_of_their_arguments(rule: Rule) -> None:
    for case in samples_of(rule):
        for name, leaves in case.cotangents().items():
            assert len(leaves) == len(case.leaves[name]), case.sample
            for g, x in zip(leaves, case.leaves[name], strict=True):
                assert np.shape(g) == np.shape(x), case.sample
                assert np.iscomplexobj(g) == np.iscomplexobj(x), case.sample


@pytest.mark.parametrize("rule", rules_of(*CHECKED))
def test_float32_stays_float32(rule: Rule) -> None:
    for wide, case in zip(samples_of(rule), samples_of(rule, np.float32), strict=True):
        if np.result_type(*[np.asarray(x) for x in tree(case.y)]) not in (np.float32, np.complex64):
            continue
        if [np.shape(x) for x in tree(case.y)] != [np.shape(x) for x in tree(wide.y)]:
            continue  # np.polydiv leaves out what is zero but for rounding
        wanted = wide.cotangents()
        for name, leaves in case.cotangents().items():
            for g, x, w in zip(leaves, case.leaves[name], wanted[name], strict=True):
                assert not isinstance(x, np.ndarray) or np.asarray(g).dtype == x.dtype, case.sample
                np.testing.assert_allclose(g, w, rtol=2e-2, atol=2e-3)


@pytest.mark.parametrize("rule", [pytest.param(rule, id=rule.name) for rule in RULES.values() if rule.takes_none])
def test_none_stands_for_a_part_of_a_cotangent_that_is_zero(rule: Rule) -> None:
    for case in samples_of(rule):
        whole = case.y_bar
        for k, part in enumerate(whole if isinstance(whole, tuple) else ()):
            rest = (*whole[:k], None, *whole[k + 1 :])
            if any(item is not None for item in rest) and isinstance(part, np.ndarray):
                case.y_bar = rest
                found = case.cotangents()
                case.y_bar = (*whole[:k], np.zeros_like(part), *whole[k + 1 :])
                for name, leaves in case.cotangents().items():
                    for g, w in zip(found[name], leaves, strict=True):
                        np.testing.assert_allclose(g, w, rtol=1e-9, atol=1e-9, err_msg=str(case.sample))


def tree(y: Any) -> list[Any]:
    return [leaf for item in y for leaf in tree(item)] if isinstance(y, (list, tuple)) else [y]


@pytest.mark.parametrize("rule", rules_of(*CHECKED))
def test_forward_agrees_with_reverse(rule: Rule) -> None:
    for case in samples_of(rule):
        tangent = case.tangent()
        assert [np.shape(t) for t in tree(tangent)] == [np.shape(y) for y in tree(case.y)], case.sample
        forward = pair(case.y_bar, tangent)
        assert forward == pytest.approx(case.reverse(), rel=1e-9, abs=1e-9), case.sample


@pytest.mark.parametrize("rule", rules_of("vjp"))
def test_a_body_that_is_transposed_asks_for_the_cotangent_first(rule: Rule) -> None:
    derived = set() if rule.tangent is not None else set(rule.cotangents) - set(rule.tangents)
    for name in derived:
        assert next(iter(signature(rule.cotangents[name]).parameters)) == "y_bar", name


@pytest.mark.parametrize("rule", rules_of("vjp"))
def test_arguments_one_at_a_time(rule: Rule) -> None:
    """The tangent where the other arguments have none."""
    for case in samples_of(rule):
        names = case.active
        for name in names if len(names) > 1 else ():
            case.active = [name]
            forward = pair(case.y_bar, case.tangent())
            assert forward == pytest.approx(case.reverse(), rel=1e-9, abs=1e-9), (name, case.sample)


@pytest.mark.parametrize("rule", rules_of("model"))
def test_a_model_computes_what_the_function_does(rule: Rule) -> None:
    assert rule.body is not None
    for sample in rule.samples:
        case = Case(rule, sample)
        expected = tree(list(case.y) if isinstance(case.y, map) else case.y)
        case.rule = replace(rule, fn=rule.body)
        for found, wanted in zip(tree(case.primal({})), expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-12)


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
    "s2s.runtime.solve_triangular",  # differences leave the triangle: tests/optimize/test_triangular.py
    "scipy.linalg.lapack.dpotrf",  # its result holds an error code: tests/rules/test_compiled_functions.py
)


def test_every_rule_that_can_be_checked_has_samples() -> None:
    without = [rule.name for rule in RULES.values() if rule.kind in CHECKED and not rule.samples]
    assert set(without) <= set(TESTED_ELSEWHERE)
