"""What the parts of the specialiser share: activations of functions, nested functions as values, meanings of names."""

from __future__ import annotations

import builtins
import dataclasses
import functools
import types
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from s2s import ir, lower, lowered, sources
from s2s.analysis.values import Closure
from s2s.errors import DifferentiationError
from s2s.passes.captures import check_captures
from s2s.passes.normalize import normalize
from s2s.signature import compiled_from, with_sizes

STABLE_MODULES = ("numpy", "math", "scipy", "builtins", "operator", "functools", "itertools", "s2s")
"""Modules whose attributes nobody replaces."""

JOINER: Any = type(np.r_).__base__
"""The class of ``np.r_`` and ``np.c_``: functions that are called with brackets."""

MISSING = object()

_lowered: dict[types.CodeType, ir.Function] = {}


def lower_function(fn: types.FunctionType) -> ir.Function:
    """A Python function in SSA form; kept by its code object."""
    code = fn.__code__
    if code not in _lowered:
        function = lowered.load(fn)
        if function is None:
            function = check_captures(normalize(lower.lower(sources.find(fn))))
            lowered.keep(fn, function)
        _lowered[code] = function
    return _lowered[code]


@dataclass
class Frame:
    """One activation of a function that is specialised: where its globals are and what its variables stand for.
    ``kept`` are those of them that are read more than once, ``tested`` the places of calls of which only the truth of
    the result is used."""

    fn: types.FunctionType
    owner: types.FunctionType | None
    env: dict[ir.Var, ir.Atom] = field(default_factory=dict)
    called_from: tuple[str, ...] = ()
    is_nested: bool = False
    kept: frozenset[ir.Var] = frozenset()
    tested: frozenset[ir.Span | None] = frozenset()

    def copy(self) -> Frame:
        """The same activation with an environment of its own, for a block inside it."""
        return Frame(self.fn, self.owner, dict(self.env), self.called_from, self.is_nested, self.kept, self.tested)


@dataclass(frozen=True, slots=True)
class FramedClosure(Closure):
    """A closure and the frame that made it, whose globals it reads."""

    frame: Any = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FramedClosure) and (self.function is other.function) and (
            self.captures == other.captures
        )

    def __hash__(self) -> int:
        return hash((id(self.function), self.captures))


def in_rule(frame: Frame) -> bool:
    return (frame.fn.__module__ or "").startswith("s2s.rules")


def lookup(load: ir.Load, fn: types.FunctionType) -> Any:
    if load.scope == "free":
        cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))
        try:
            return cells[load.name].cell_contents
        except (KeyError, ValueError):
            return MISSING
    if load.name in fn.__globals__:
        return fn.__globals__[load.name]
    return getattr(builtins, load.name, MISSING)


def is_function_like(value: Any) -> bool:
    if hasattr(type(value), "__s2s_primal__") and callable(value):
        return True
    if compiled_from(value) is not None:
        return True
    return isinstance(value, (JOINER, types.MethodType, functools.partial, np.vectorize))


def place_of(frame: Frame, span: ir.Span | None) -> str:
    name = frame.fn.__qualname__
    return name if span is None else f"{name} ({span.file.rsplit('/', 1)[-1]}:{span.line})"


def asked_also_by(problem: DifferentiationError, asked: tuple[str, ...]) -> DifferentiationError:
    diagnostic = problem.diagnostic
    return type(problem)(dataclasses.replace(diagnostic, asked_by=(*asked, *diagnostic.asked_by)))


def at_call(problem: DifferentiationError, span: ir.Span | None, asked: tuple[str, ...]) -> DifferentiationError:
    return type(problem)(dataclasses.replace(problem.diagnostic, span=span, asked_by=asked))


def name_of(fn: Any) -> str:
    return getattr(fn, "__qualname__", None) or getattr(fn, "__name__", None) or repr(fn)


__all__ = [
    "JOINER", "MISSING", "STABLE_MODULES", "Frame", "FramedClosure", "asked_also_by", "at_call", "in_rule",
    "is_function_like", "lookup", "lower_function", "name_of", "place_of", "with_sizes",
]
