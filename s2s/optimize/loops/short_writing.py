"""Writes short arrays as their elements: which ones ``short`` says."""

from __future__ import annotations

import itertools
import math
import operator
from typing import TYPE_CHECKING

import numpy as np

from s2s.builder.builder import Builder, Context
from s2s.core import ir, ops
from s2s.core.values import Scalar, Sequence
from s2s.optimize.loops.unrolling import arguments
from s2s.optimize.loops.writing import SHORT
from s2s.optimize.rewriting import substitute

if TYPE_CHECKING:
    from s2s.optimize.loops.short import Short

__all__ = ["Writer", "cross_of", "display_of", "made_of"]

_ZERO = ir.Const(0.0)


def made_of(s: ir.Let) -> tuple[str, ir.Atom] | None:
    """How an array is made, and of what."""
    for fn, kind in _MADE.items():
        args = arguments(s, fn)
        if args is not None and len(args) == 1:
            return kind, args[0]
    vectors = cross_of(s)
    return None if vectors is None else ("cross", vectors[0])


_MADE = {np.empty: "empty", np.zeros: "zeros", np.zeros_like: "like", np.copy: "copy",
         np.ndarray.copy: "copy", np.array: "array", np.eye: "eye"}


def display_of(s: ir.Statement) -> tuple[ir.Atom, ...] | None:
    """The items of a short list or tuple that is written out."""
    items = arguments(s, ops.make_list) or arguments(s, ops.make_tuple)
    return items if items is not None and 2 <= len(items) <= SHORT else None


def cross_of(s: ir.Statement) -> tuple[ir.Atom, ir.Atom] | None:
    """The operands of a cross product of vectors along their last axis."""
    match s:
        case ir.Let(_, ir.Call(ir.Const(value=np.cross), (a, b), kwargs)):
            if all(key == "axis" and value == ir.Const(-1) for key, value in kwargs):
                return a, b  # type: ignore[return-value]
    return None


class Writer:
    """Writes the elements of arrays."""

    def __init__(self, found: Short, context: Context) -> None:
        self.found = found
        self.context = context
        self.elements: dict[ir.Atom, list[ir.Atom]] = {}
        self.shapes: dict[ir.Atom, tuple[int, ...]] = {}
        self.numbers: dict[ir.Atom, ir.Atom] = {}
        self.displays: dict[ir.Atom, tuple[ir.Atom, ...]] = {}

    def function(self, function: ir.Function) -> ir.Function:
        """The function without the arrays."""
        return ir.replace(function, body=self._block(function.body))

    def _block(self, block: ir.Block, results: tuple[ir.Var, ...] = ()) -> ir.Block:
        """A block, which gives for ``results`` that are arrays their elements."""
        builder = Builder(self.context)
        for one in block.statements:
            s = substitute(one, self.numbers)
            if isinstance(s, ir.If):
                sides = [self._block(b, s.results) for b in (s.then, s.orelse)]
                own = tuple(var for result in s.results for var in self._variables(result))
                builder.add(ir.replace(s, then=sides[0], orelse=sides[1], results=own))
            elif isinstance(s, (ir.For, ir.While)):
                builder.add(self._loop(builder, s))
            elif isinstance(s, ir.Let):
                if not self._let(builder, s):
                    builder.add(s)
            elif isinstance(s, ir.Store) and s.target in self.found.arrays:
                self._store(builder, s)
            else:
                inner = ir.blocks_of(s)
                builder.add(ir.with_blocks(s, map(self._block, inner)) if inner else s)
        yields: list[ir.Atom] = []
        for k, given in enumerate(block.yields):
            is_array = k < len(results) and results[k] in self.found.arrays
            yields += self._elements(builder, given, self.found.arrays[results[k]]) if is_array else [
                self.numbers.get(given, given)]
        return ir.Block(tuple(builder.statements), tuple(yields))

    def _variables(self, var: ir.Var) -> list[ir.Var]:
        """What a branch or a loop gives in place of a variable: for an array its elements."""
        if var not in self.found.arrays:
            return [var]
        own = [self.context.define(var.name, Scalar(np.float64)) for _ in range(math.prod(self.found.arrays[var]))]
        self.elements[var] = [*own]
        return own

    def _loop(self, builder: Builder, s: ir.For | ir.While) -> ir.For | ir.While:
        """A loop that carries the elements of arrays."""
        carried: list[ir.Carried] = []
        for c in s.carried:
            shape = self.found.arrays.get(c.param)
            inits = [c.init] if shape is None else self._elements(builder, c.init, shape)
            parts = zip(self._variables(c.param), inits, self._variables(c.result), strict=True)
            carried += [ir.Carried(*part) for part in parts]
        params = tuple(c.param for c in s.carried)
        blocks = [self._block(b, params if b is s.body else ()) for b in ir.blocks_of(s)]
        return ir.replace(ir.with_blocks(s, blocks), carried=tuple(carried))  # type: ignore[return-value]

    def _store(self, builder: Builder, s: ir.Store) -> None:
        shape = self.found.arrays[s.target]  # type: ignore[index]
        at = self.found.place(shape, s.key)
        assert at is not None
        elements = self.elements.setdefault(s.target, [ir.Const(None)] * math.prod(shape))
        value = s.value
        if s.op is not None:
            value = s.value if elements[at] == _ZERO and s.op is operator.add else builder.call(
                s.op, elements[at], s.value, name=s.target.name, span=s.span)  # type: ignore[union-attr]
        self.elements[s.target] = [value if k == at else e for k, e in enumerate(elements)]

    def _let(self, builder: Builder, s: ir.Let) -> bool:
        """Whether a statement is written here, or not at all."""
        target, args = s.target, s.value.args if isinstance(s.value, ir.Call) else ()
        first = args[0] if args else None
        if target is None:
            put = arguments(s, list.append)
            if put is None or put[0] not in self.found.stacks:
                return False
            item = builder.call(ops.make_tuple, *self.elements[put[1]], span=s.span)
            builder.add(ir.Let(None, ir.Call(ir.Const(list.append), (put[0], item)), s.span))
            return True
        if self.found.is_dead_view(s):
            return True
        items = display_of(s)
        if items is not None:
            self.displays[target] = items
        if target in self.found.arrays:
            return self._made(builder, s, target)
        if first in self.found.arrays:
            return self._read(s, target, first)  # type: ignore[arg-type]
        if first in self.shapes:
            self.numbers[target] = ir.Const(self.shapes[first][args[1].value])  # type: ignore[index,union-attr]
            return True
        return False

    def _read(self, s: ir.Let, target: ir.Var, first: ir.Var) -> bool:
        match s.value:
            case ir.Call(ir.Const(value=operator.getitem), (_, key)) if (
                k := self.found.place(self.found.arrays[first], key)  # type: ignore[arg-type]
            ) is not None:
                self.numbers[target] = self.elements[first][k]
            case ir.Call(ir.Const(value=fn)) if fn is getattr:
                self.shapes[target] = self.found.arrays[first]
            case _:
                return False
        return True

    def _made(self, builder: Builder, s: ir.Let, target: ir.Var) -> bool:
        """An array that is not made."""
        shape, vectors, popped = self.found.arrays[target], cross_of(s), arguments(s, list.pop)
        n = math.prod(shape)
        kind, given = made_of(s) or ("", target)
        if kind == "array":
            rows = [self.displays.get(a, (a,)) for a in self.displays[given]]
            self.elements[target] = [_as_float(a) for row in rows for a in row]
        elif kind == "copy":
            self.elements[target] = self._elements(builder, given, shape, s.span)
        elif kind == "eye":
            self.elements[target] = [ir.Const(float(k % (shape[0] + 1) == 0)) for k in range(n)]
        elif kind in ("zeros", "like"):
            self.elements[target] = [_ZERO] * n
        elif popped is not None:
            known = Sequence(tuple, (Scalar(np.float64),) * n)
            items = self.context.define(target.name, known)
            builder.add(ir.Let(items, s.value, s.span))
            self.elements[target] = [
                self._item(builder, items, k, target.name, s.span) for k in range(n)
            ]
        elif vectors is not None:
            a, b = (self._elements(builder, v, (3,), s.span) for v in vectors)
            made = []
            for k in range(3):
                m, n = (k + 1) % 3, (k + 2) % 3
                one = builder.call(operator.mul, a[m], b[n], span=s.span)
                other = builder.call(operator.mul, a[n], b[m], span=s.span)
                made.append(builder.call(operator.sub, one, other, name=target.name, span=s.span))
            self.elements[target] = made
        return True

    def _elements(
        self, builder: Builder, array: ir.Atom, shape: tuple[int, ...], span: ir.Span | None = None
    ) -> list[ir.Atom]:
        """The elements of an array, row by row, as they are here."""
        if array in self.elements:
            return self.elements[array]
        keys = [
            ir.Const(at[0]) if len(at) == 1 else builder.call(ops.make_tuple, *map(ir.Const, at), span=span)
            for at in itertools.product(*map(range, shape))
        ]
        return [builder.call(operator.getitem, array, key, span=span) for key in keys]

    def _item(self, builder: Builder, items: ir.Var, k: int, name: str, span: ir.Span | None) -> ir.Atom:
        return builder.call(operator.getitem, items, ir.Const(k), name=name, span=span)


def _as_float(atom: ir.Atom) -> ir.Atom:
    """An item of an array of floats."""
    return ir.Const(float(atom.value)) if isinstance(atom, ir.Const) and type(atom.value) is int else atom
