"""Calls of samples as source: a ``Program`` makes those of many in one function, which is compiled once for all."""

from __future__ import annotations

import builtins
import cmath
import heapq
import importlib.util
import itertools
import math
import operator
import sys
import types
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse.linalg

from s2s import runtime as rt
from s2s.rules import table
from s2s.rules.numpy import elementwise, indexing, polynomials, shape
from s2s.rules.samples import Draw, Sample
from s2s.rules.table import RULES, Rule
from tests.rules.cases import Case, draws

MODULES = (
    builtins, math, cmath, operator, heapq, rt, elementwise, indexing, polynomials, shape, np, np.linalg,
    np.lib.stride_tricks, np.emath,
    *(sys.modules[name] for name in table.EXTENSIONS if name in sys.modules),
    scipy.sparse.linalg, scipy.special._ufuncs,
    *(module for name, module in sys.modules.items() if name.startswith(("s2s.models.", "s2s.rules."))),
)


# --- functions as source --------------------------------------------------------------------------------------------


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


def load(text: str, constants: dict[str, Any], folder: Any) -> types.ModuleType:
    """A program as a module with the constants, from a file of its own, so that its source is found."""
    name = f"program{next(COUNT)}"
    file = folder / f"{name}.py"
    file.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    vars(module).update(constants)
    return module


COUNT = itertools.count()
"""Of the programs: none is written over another, whose lines may still be remembered by the name of the file."""


def build(text: str, constants: dict[str, Any], folder: Any) -> types.FunctionType:
    """The function ``f`` of a program."""
    found: types.FunctionType = load(text, constants, folder).f
    return found


class Program:
    """A function that makes the calls of samples, ``y0`` to ``yn``, each of parameters of its own, and returns the
    tuple of their results: its text, and the constants that it names.
    """

    def __init__(self, cases: Sequence[Case]) -> None:
        self.cases = cases
        self.constants: dict[str, Any] = {}
        self.parameters: list[str] = []
        self.of_case: list[list[str]] = []
        """The parameters of each call."""
        self.calls: list[str] = []
        for case in cases:
            first = len(self.parameters)
            self.calls.append(self.call(case.rule, case.sample))
            self.of_case.append(self.parameters[first:])

    def text(self, returned: str = "", statements: Sequence[str] = (), parameters: Sequence[str] = ()) -> str:
        """The function as source, with other statements after the calls and another result where these are given."""
        body = [*(f"y{k} = {call}" for k, call in enumerate(self.calls)), *statements]
        body.append(f"return {returned or ' '.join(f'y{k},' for k, _ in enumerate(self.calls))}")
        imports = [f"import {m.__name__}" for m in MODULES if m is np or any(f"{m.__name__}." in x for x in self.calls)]
        head = f"def f({', '.join([*self.parameters, *parameters])}):"
        return "\n".join([*imports, "", "", head, *(f"    {line}" for line in body), ""])

    def build(self, folder: Any) -> types.FunctionType:
        return build(self.text(), self.constants, folder)

    def leaves(self) -> list[Any]:
        """The arguments, one for each parameter."""
        return [x for case in self.cases for x in in_order(case)]

    def split(self, values: Sequence[Any]) -> Iterator[tuple[Case, list[Any]]]:
        """What there is for each parameter, by the calls."""
        rest = iter(values)
        for case, names in zip(self.cases, self.of_case, strict=True):
            yield case, [next(rest) for _ in names]

    def call(self, rule: Rule, sample: Sample) -> str:
        made = [self.spell(a) for a in sample.args]
        named = [f"{k}={self.spell(v)}" for k, v in sample.kwargs.items()]
        path = path_of(rule.fn)
        if path is None:
            return f"{made[0]}.{rule.fn.__name__}({', '.join([*made[1:], *named])})"
        return f"{path}({', '.join([*made, *named])})"

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


def in_order(case: Case) -> list[Any]:
    """The values of the draws of a call, in order: arrays of its own, as two calls in a program may be of one case."""
    given = [x for name, item in case.template.items() for x, _ in zip(case.leaves[name], draws(item), strict=True)]
    return [x.copy() if isinstance(x, np.ndarray) else x for x in given]


def places(case: Case) -> list[tuple[str, int]]:
    """For each draw of a call the parameter of the rule that it is part of, and its place there."""
    return [(name, i) for name, item in case.template.items() for i, _ in enumerate(draws(item))]


def moves(case: Case) -> list[Any]:
    """The direction for each draw of a call, None for one that is not differentiated."""
    return [case.directions[name][i] if name in case.active else None for name, i in places(case)]


def whole(y: Any, y_bar: Any) -> Any:
    """A cotangent with the containers of the result."""
    if isinstance(y, (list, tuple)):
        items = [whole(a, b) for a, b in zip(y, y_bar, strict=True)]
        return type(y)(*items) if hasattr(y, "_fields") else type(y)(items)
    return y_bar


# --- which samples are compiled -------------------------------------------------------------------------------------


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


def to_compile_forward(rule: Rule) -> tuple[Sample, ...]:
    """Those of ``to_compile`` of which tangents are compiled: of a linear function, which calls it again, the first and
    the last one; of an elementwise function, whose slopes the cotangents have too, the last one."""
    samples = to_compile(rule)
    if rule.kind == "linear" and len(samples) > 2:
        return samples[0], samples[-1]
    return samples[-1:] if rule.kind == "partials" else samples
