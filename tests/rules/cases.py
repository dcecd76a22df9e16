"""Calls of functions with a rule, with values drawn for them: a ``Case`` gives what the rule says, with NumPy alone."""

from __future__ import annotations

import functools
import operator
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from inspect import signature
from typing import Any

import numpy as np
import pytest

from s2s import runtime as rt
from s2s.rules import table
from s2s.rules.samples import Draw, Sample
from s2s.rules.table import RULES, Rule, bind

table.extend()
CHECKED = ("partials", "several", "linear", "vjp")


@contextmanager
def aspect(what: str, rule: Rule, sample: Any = None) -> Iterator[None]:
    """Name the rule, the sample and what is looked at where an assertion fails."""
    try:
        yield
    except Exception as problem:
        where = f"{rule.name}, {what}" + ("" if sample is None else f", {sample}")
        raise AssertionError(f"{where}\n{type(problem).__name__}: {problem}") from problem


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


def tree(y: Any) -> list[Any]:
    """The leaves of a result, in order."""
    return [leaf for item in y for leaf in tree(item)] if isinstance(y, (list, tuple)) else [y]


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

    def reverse(self, size: Any = lambda x: x, found: dict[str, list[Any]] | None = None) -> float:
        """The directional derivative by the rule: its cotangents, where they are not given, paired with the
        directions.
        """
        found = self.cotangents() if found is None else found
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


def by_module(rules: Iterable[Rule]) -> list[Any]:
    """Lists of rules, one for each module that their functions are in."""
    found: dict[str, list[Rule]] = {}
    for rule in rules:
        module = rule.name.rpartition(".")[0]
        while module and module not in sys.modules:
            module = module.rpartition(".")[0]
        found.setdefault(module or "builtins", []).append(rule)
    return [pytest.param(some, id=module) for module, some in found.items()]


# --- samples of other kinds -----------------------------------------------------------------------------------------

IN_PLACE = (
    operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ipow, operator.imod, operator.ifloordiv,
    operator.imatmul,
)
"""They would change the arrays of the caller, which the compiler refuses."""

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
