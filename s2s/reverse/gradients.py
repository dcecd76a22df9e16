"""The result of a reverse sweep: the cotangents of what is differentiated, each in the structure of its argument."""

from __future__ import annotations

import operator
from typing import Any, assert_never

import numpy as np

from s2s import runtime as rt
from s2s.analysis.abstract.lattice import dtype_of, is_number, shape_of
from s2s.analysis.abstract.parts import Path, is_differentiable, part
from s2s.analysis.abstract.shapes import same_shape
from s2s.analysis.functions import makes_new
from s2s.builder.builder import Builder, Context
from s2s.builder.cotangents import in_precision, of_kind, whole
from s2s.builder.virtual_heap import holds_attributes
from s2s.core import ir, ops
from s2s.core.closures import Closure
from s2s.core.values import (
    UNKNOWN,
    AbstractValue,
    Array,
    Instance,
    Known,
    ListOf,
    Mapping,
    Object,
    Range,
    Ref,
    Same,
    Scalar,
    Sequence,
    Unknown,
)
from s2s.notices import Notice
from s2s.versions.request import Request

__all__ = ["Gradients", "read_part"]


class Gradients:
    """The gradients of one reverse sweep. ``arguments`` says what is known of the arguments as they were given."""

    def __init__(
        self, context: Context, request: Request, params: dict[str, ir.Var], arguments: dict[str, AbstractValue],
        bars: dict[tuple[ir.Var, Path], ir.Atom], span: ir.Span | None = None,
    ) -> None:
        self.context = context
        self.request = request
        self.params = params
        self.arguments = arguments
        self.bars = bars
        self.span = span
        self.given: set[tuple[ir.Var, Path]] = set()
        self.owned: set[ir.Atom] = set()

    def all(self, builder: Builder) -> list[ir.Atom]:
        """The cotangents of what is differentiated."""
        self._note_unconnected()
        return [self._gradient(builder, path) for path in self.request.wrt]

    def _note_unconnected(self) -> None:
        """Tell of arguments from which no path leads to the result of a function that the user asks for."""
        connected = {var for var, _ in self.bars}
        is_told = any(notice.category == "SearchWarning" for notice in self.context.notices)
        if self.span is None or is_told or not self.request.tells_of_zeros:
            return
        for name in dict.fromkeys(path[0] for path in self.request.wrt):
            var, known = self.params[name], self.arguments.get(name, UNKNOWN)
            read = {inner for (param, _), inner in self.context.inputs.items() if param == var}
            if is_differentiable(known) and connected.isdisjoint({var, *read}):
                text = (
                    f"the gradient with respect to `{name}` is zero everywhere: no path that has a derivative leads "
                    "from it to the result"
                )
                span = self.span
                self.context.notices.append(Notice("ZeroGradientWarning", text, span.file, span.line, span.function))

    def _gradient(self, builder: Builder, path: Path) -> ir.Atom:
        var = self.params[path[0]]
        known = self.arguments.get(path[0], UNKNOWN)
        if holds_attributes(known):
            read: ir.Atom = var
            for key in path[1:]:
                read, known = read_part(builder, read, known, key), part(known, (key,))
            return self._object(builder, var, tuple(path[1:]), known, read)
        return self._structure(builder, var, tuple(path[1:]))

    def _object(self, builder: Builder, param: ir.Var, path: Path, known: AbstractValue, read: ir.Atom) -> ir.Atom:
        """The gradient of an argument with objects in it, or of a part of one: of an object one of the same class, with
        gradients for its floats and None for its other attributes."""
        if not is_differentiable(known):
            return ir.Const(None)
        if (param, path) in self.context.inputs:
            return self._structure(builder, self.context.inputs[param, path], ())

        def parts(keys: Any, items: tuple[AbstractValue, ...]) -> list[ir.Atom]:
            return [
                self._object(builder, param, (*path, k), item, read_part(builder, read, known, k))
                for k, item in zip(keys, items, strict=True)
            ]

        match known:
            case Instance(_, keys, items):
                given = tuple((k, a) for k, a in zip(keys, parts(keys, items), strict=True) if a != ir.Const(None))
                name = f"{read.name}_bar" if isinstance(read, ir.Var) and not read.is_temporary else "%"
                return builder.let(ir.Call(ir.Const(rt.gradient_object), (read,), given), UNKNOWN, name)
            case Mapping(keys, items):
                flat = [a for k, v in zip(keys, parts(keys, items), strict=True) for a in (ir.Const(k), v)]
                return builder.call(ops.make_dict, *flat)
            case Sequence(kind, items):
                made = parts(range(len(items)), items)
                if kind in (tuple, list):
                    return builder.call(ops.make_tuple if kind is tuple else ops.make_list, *made)
                return builder.let(ir.Call(ir.Const(kind), tuple(made)), UNKNOWN)
            case Known() | Scalar() | Array() | ListOf() | Range() | Closure() | Ref() | Object() | Same() | Unknown():
                return ir.Const(None)
            case _:
                assert_never(known)

    def _structure(self, builder: Builder, var: ir.Var, path: Path) -> ir.Atom:
        value = part(self.context.value(var), path)
        match value:
            case Sequence(kind, items) if kind is not slice:
                made = [self._structure(builder, var, (*path, k)) for k in range(len(items))]
                if kind in (tuple, list):
                    return builder.call(ops.make_tuple if kind is tuple else ops.make_list, *made)
                return builder.let(ir.Call(ir.Const(kind), tuple(made)), UNKNOWN)
            case Mapping(keys):
                flat: list[ir.Atom] = []
                for key in keys:
                    flat += [ir.Const(key), self._structure(builder, var, (*path, key))]
                return builder.call(ops.make_dict, *flat)
            case (
                Known() | Scalar() | Array() | Sequence() | ListOf() | Range() | Closure() | Ref() | Object() |
                Instance() | Same() | Unknown()
            ):
                return self._leaf(builder, var, path, value)
            case _:
                assert_never(value)

    def _leaf(self, builder: Builder, var: ir.Var, path: Path, value: AbstractValue) -> ir.Atom:
        """One gradient: zeros where the result does not depend on the argument, an array of its own where it is one."""
        if not is_differentiable(value):
            return ir.Const(None)
        like: ir.Atom = var
        for key in path:
            like = builder.call(operator.getitem, like, ir.Const(key))
        bar = self.bars.get((var, path))
        if (var, path) in self.given:  # one array given as two arguments: the first has all of the gradient
            return builder.call(np.zeros_like, like)
        self.given.add((var, path))
        if bar is None and dict(self.request.options).get("unconnected") == "none":
            return ir.Const(None)
        if bar is None:
            if is_number(value):
                return of_kind(builder, ir.Const(0.0), value)
            return builder.call(np.zeros_like if isinstance(value, Array) else rt.zeros_like, like)
        if isinstance(value, Array) and value.shape == ():
            return builder.call(np.asarray, bar, *_other_dtype(builder, bar, value))
        if isinstance(value, Array):
            bar = in_precision(builder, bar, like, value, None)
            checked, is_own = self._checked(builder, bar, like, var.name), self._is_own(builder, bar)
            made = whole(builder, checked, like, None, f"{var.name}_bar")
            if made == checked and not is_own:
                made = builder.call(np.copy, checked)
            self.owned |= {made, bar}
            return made
        return of_kind(builder, bar, value)

    def _checked(self, builder: Builder, bar: ir.Atom, like: ir.Atom, name: str) -> ir.Atom:
        """The gradient of an array: its shape is compared when the program runs, where it is not known to be the
        argument's and nothing broadcasts it."""
        have, want = (shape_of(self.context.value(atom)) for atom in (bar, like))
        facts = self.context.evaluator.facts
        if have is not None and want is not None and (
            not same_shape(have, want, facts) or all(map(facts.must_be_equal, have, want))
        ):
            return bar
        return builder.call(rt.check_gradient, bar, like, ir.Const(name))

    def _is_own(self, builder: Builder, bar: ir.Atom) -> bool:
        """Whether an array was made by the reverse sweep, for one result only."""
        if not isinstance(bar, ir.Var) or bar in self.owned:
            return False
        return makes_new(self.context.definitions.get(bar))


def read_part(builder: Builder, atom: ir.Atom, known: AbstractValue, key: Any) -> ir.Atom:
    """A part of an argument, by one step of its path."""
    step: Any = getattr if isinstance(known, Instance) else operator.getitem
    return builder.let(ir.Call(ir.Const(step), (atom, ir.Const(key))), UNKNOWN)


def _other_dtype(builder: Builder, bar: ir.Atom, value: Array) -> tuple[ir.Const, ...]:
    """The dtype that a number needs to be told to be an array of that of ``value``."""
    found = dtype_of(builder.context.value(bar))
    return () if found == value.dtype or value.dtype in (float, complex) else (ir.Const(value.dtype),)
