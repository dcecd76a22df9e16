"""Every rule through the compiler: what the generated gradient gives is what the rule gives on NumPy alone."""

from __future__ import annotations

import builtins
import cmath
import functools
import heapq
import importlib.util
import math
import operator
import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import scipy.sparse.linalg
from test_rules import CHECKED, Case, draws, pair, samples_of, tree

import s2s
from s2s import runtime as rt
from s2s.rules import table
from s2s.rules.numpy import elementwise, indexing, polynomials, shape
from s2s.rules.samples import Draw, Sample
from s2s.rules.table import RULES, Rule

table.extend()
MODULES = (
    builtins, math, cmath, operator, heapq, rt, elementwise, indexing, polynomials, shape, np, np.linalg,
    np.lib.stride_tricks, np.emath,
    *(sys.modules[name] for name in table.EXTENSIONS if name in sys.modules),
    scipy.sparse.linalg, scipy.special._ufuncs,
    *(module for name, module in sys.modules.items() if name.startswith(("s2s.models.", "s2s.rules."))),
)


# --- a sample as source ---------------------------------------------------------------------------------------------


def path_of(fn: Any) -> str | None:
    """Where a function is found, None for a method of arrays."""
    if id(fn) not in PATHS:  # not every callable can be hashed
        PATHS[id(fn)] = fn, find_path(fn)
    return PATHS[id(fn)][1]


PATHS: dict[int, tuple[Any, str | None]] = {}


def find_path(fn: Any) -> str | None:
    if isinstance(getattr(fn, "__self__", None), np.ufunc):
        return f"numpy.{fn.__self__.__name__}.{fn.__name__}"
    for module in MODULES:
        name = getattr(fn, "__name__", "")
        if getattr(module, name, None) is fn:
            return name if module is builtins else f"{module.__name__}.{name}"
    for name, member in vars(scipy.special).items():
        if member is fn:  # some of an older SciPy have no name of their own
            return f"scipy.special.{name}"
    return None


class Program:
    """The text of a function that makes the call of a sample, the arrays that it is to be called with, and its
    constants.
    """

    def __init__(self, rule: Rule, sample: Sample) -> None:
        self.parameters: list[str] = []
        self.constants: dict[str, Any] = {}
        made = [self.spell(a) for a in sample.args]
        named = [f"{k}={self.spell(v)}" for k, v in sample.kwargs.items()]
        path = path_of(rule.fn)
        if path is None:
            call = f"{made[0]}.{rule.fn.__name__}({', '.join([*made[1:], *named])})"
        else:
            call = f"{path}({', '.join([*made, *named])})"
        imports = "\n".join(f"import {m.__name__}" for m in MODULES if m is np or f"{m.__name__}." in call)
        self.text = f"{imports}\n\n\ndef f({', '.join(self.parameters)}):\n    return {call}\n"

    def spell(self, value: Any) -> str:
        """An argument as source: a parameter for each draw."""
        if isinstance(value, Draw):
            self.parameters.append(f"p{len(self.parameters)}")
            return self.parameters[-1]
        if isinstance(value, dict):
            return "{" + ", ".join(f"{k!r}: {self.spell(v)}" for k, v in value.items()) + "}"
        if isinstance(value, list):
            return "[" + ", ".join(map(self.spell, value)) + "]"
        if type(value) is tuple:
            return "(" + "".join(f"{self.spell(v)}, " for v in value) + ")"
        if isinstance(value, np.ndarray) or scipy.sparse.issparse(value):
            self.constants[f"c{len(self.constants)}"] = value
            return f"c{len(self.constants) - 1}"
        if callable(value) and path_of(value) is not None:
            return str(path_of(value))
        if isinstance(value, type):
            return f"numpy.{value.__name__}" if value.__module__ == "numpy" else value.__name__
        if isinstance(value, float) and not math.isfinite(value):
            return "numpy.inf" if value > 0 else "-numpy.inf"
        return "..." if value is ... else repr(value)

    def build(self, folder: Any) -> types.FunctionType:
        """The function, from a file of its own, so that its source is found."""
        file = folder / "program.py"
        file.write_text(self.text, encoding="utf-8")
        spec = importlib.util.spec_from_file_location("program", file)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        vars(module).update(self.constants)
        return module.f


def whole(y: Any, y_bar: Any) -> Any:
    """A cotangent with the containers of the result."""
    if isinstance(y, (list, tuple)):
        items = [whole(a, b) for a, b in zip(y, y_bar, strict=True)]
        return type(y)(*items) if hasattr(y, "_fields") else type(y)(items)
    return y_bar


def flat(template: Any, leaves: list[Any]) -> Iterator[Any]:
    yield from (leaf for leaf, _ in zip(leaves, draws(template), strict=True))


# --- the test -------------------------------------------------------------------------------------------------------


IN_PLACE = (
    operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ipow, operator.imod, operator.ifloordiv,
    operator.imatmul,
)
"""They would change the arrays of the caller, which the compiler refuses."""


def cases(*kinds: str) -> list[Any]:
    rules = [r for r in RULES.values() if r.kind in kinds and r.samples and r.fn not in IN_PLACE]
    return [pytest.param(rule, id=rule.name) for rule in rules]


def bodies(rule: Rule) -> tuple[Any, ...]:
    """What a rule consists of; aliases of a function have rules of the same bodies."""
    found = (*rule.partials, *rule.cotangents.values(), *rule.tangents.values(), rule.tangent)
    return (rule.kind, *(getattr(body, "__code__", body) for body in found))


def first_of_bodies() -> dict[Any, Rule]:
    found: dict[Any, Rule] = {}
    for rule in RULES.values():
        found.setdefault(bodies(rule), rule)
    return found


FIRST_OF_BODIES = first_of_bodies()


def to_compile(rule: Rule) -> tuple[Sample, ...]:
    """The samples that are compiled: the first and the last one where other samples make no other code, which are those
    of bodies that another rule has too, and of elementwise functions."""
    is_alias = FIRST_OF_BODIES[bodies(rule)] is not rule and any(body is not None for body in bodies(rule)[1:])
    if (is_alias or rule.kind in ("partials", "several")) and len(rule.samples) > 2:
        return rule.samples[0], rule.samples[-1]
    return rule.samples


@pytest.mark.parametrize("rule", cases(*CHECKED))
def test_generated_gradient_gives_what_the_rule_gives(rule: Rule, tmp_path: Any) -> None:
    for sample in to_compile(rule):
        case, program = Case(rule, sample), Program(rule, sample)
        expected = case.cotangents()
        f = program.build(tmp_path)
        leaves = [x for name, item in case.template.items() for x in flat(item, case.leaves[name])]
        order = [(name, i) for name, item in case.template.items() for i, _ in enumerate(draws(item))]
        out, pullback = s2s.vjp(f, *leaves)
        found = pullback(whole(out, case.y_bar))
        for (name, i), x_bar in zip(order, found, strict=True):
            if name not in expected:  # the derivative is zero
                assert not np.any(x_bar)
                continue
            np.testing.assert_allclose(x_bar, expected[name][i], rtol=1e-9, atol=1e-9, err_msg=program.text)


def parts_of(y: Any, path: str = "y") -> Iterator[tuple[str, np.ndarray]]:
    """The arrays of floats in a result that has parts, each with where it is."""
    if isinstance(y, (tuple, list)):
        for k, part in enumerate(y):
            yield from parts_of(part, f"{path}[{k}]")
    elif path != "y" and isinstance(y, np.ndarray) and y.dtype.kind in "fc":
        yield path, y


def equal_elements(y: Any, numbers: Iterator[float]) -> Any:
    """The cotangent of a sum of sums of the parts of a result."""
    if isinstance(y, (tuple, list)):
        return tuple(equal_elements(part, numbers) for part in y)
    if isinstance(y, np.ndarray) and y.dtype.kind in "fc":
        return np.full_like(y, next(numbers))
    return np.zeros_like(y)


def with_parts(*kinds: str) -> list[Any]:
    """The rules whose results have parts that are arrays."""
    return [c for c in cases(*kinds) if any(any(parts_of(case.y)) for case in samples_of(c.values[0]))]


@pytest.mark.parametrize("rule", with_parts("linear", "vjp", "several"))
def test_a_sum_of_each_part_has_the_cotangent_of_equal_elements(rule: Rule, tmp_path: Any) -> None:
    """The cotangent of the argument of a sum is one number, where nothing makes an array of it."""
    for sample in rule.samples:
        case, program = Case(rule, sample), Program(rule, sample)
        parts = [path for path, _ in parts_of(case.y)]
        if not parts:
            continue
        case.y_bar = equal_elements(case.y, iter(np.arange(len(parts)) + 1.5))
        terms = [f"numpy.real(numpy.sum({path})) * {k + 1.5}" for k, path in enumerate(parts)]
        program.text = program.text.replace("return ", "y = ") + f"    return {' + '.join(terms)}\n"
        f = program.build(tmp_path)
        leaves = [x for name, item in case.template.items() for x in flat(item, case.leaves[name])]
        order = [(name, i) for name, item in case.template.items() for i, _ in enumerate(draws(item))]
        expected = case.cotangents()
        found = s2s.grad(f, argnums=tuple(range(len(leaves))))(*leaves)
        for (name, i), x_bar in zip(order, found, strict=True):
            if name in expected:
                np.testing.assert_allclose(x_bar, expected[name][i], rtol=1e-9, atol=1e-9, err_msg=program.text)


def with_tangents(*kinds: str) -> list[Any]:
    """The rules that have forward mode."""
    return [c for c in cases(*kinds) if c.values[0].kind != "vjp" or c.values[0].tangents or c.values[0].tangent]


def to_compile_forward(rule: Rule) -> tuple[Sample, ...]:
    """Those of ``to_compile`` of which tangents are compiled: of a linear function, which calls it again, the first and
    the last one; of an elementwise function, whose slopes the cotangents have too, the last one."""
    samples = to_compile(rule)
    if rule.kind == "linear" and len(samples) > 2:
        return samples[0], samples[-1]
    return samples[-1:] if rule.kind == "partials" else samples


@pytest.mark.parametrize("rule", with_tangents(*CHECKED))
def test_generated_tangent_gives_what_the_rule_gives(rule: Rule, every: bool, tmp_path: Any) -> None:
    for sample in to_compile(rule) if every else to_compile_forward(rule):
        case, program = Case(rule, sample), Program(rule, sample)
        f = program.build(tmp_path)
        leaves = [x for name, item in case.template.items() for x in flat(item, case.leaves[name])]
        moves = [
            case.directions[name][i] if name in case.active else None
            for name, item in case.template.items() for i, _ in enumerate(draws(item))
        ]
        _, found = s2s.jvp(f, leaves, moves)
        for got, want in zip(tree(found), tree(case.tangent()), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9, err_msg=program.text)


# Those of Python itself take functions and iterators: the tests of the language have them.
OF_PYTHON = (sum, map, filter, functools.reduce)


@pytest.mark.parametrize("rule", [c for c in cases("model") if c.values[0].fn not in OF_PYTHON])
def test_generated_gradient_of_a_model_agrees_with_differences(rule: Rule, tmp_path: Any) -> None:
    for sample in rule.samples:
        case, program = Case(rule, sample), Program(rule, sample)
        leaves = [x for name, item in case.template.items() for x in flat(item, case.leaves[name])]
        directions = [d for name in case.template for d in case.directions.get(name, [])]
        f = s2s.differentiable(nonsmooth="zero")(program.build(tmp_path))  # as differences see rounding
        out, pullback = s2s.vjp(f, *leaves)
        same = [np.allclose(a, b, rtol=1e-12, atol=1e-12) for a, b in zip(tree(out), tree(case.y), strict=True)]
        assert all(same), program.text
        change, width = case.difference()
        found = sum(pair(x_bar, d) for x_bar, d in zip(pullback(whole(out, case.y_bar)), directions, strict=True))
        assert found == pytest.approx(pair(case.y_bar, change) / width, rel=1e-6, abs=1e-9), program.text
