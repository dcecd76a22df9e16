"""Outer products that the iterations of a loop add to a matrix: the rows are collected, and their sum is one product of
matrices after the loop.

                                        rows = np.zeros((n, w.shape[0]))
                                        columns = np.zeros((n, w.shape[1]))
    for i in reversed(range(n)):        for i in reversed(range(n)):
        ...                                 ...
        w_bar += g[:, None] * h    ->       rows[i] = g
                                            columns[i] = h
                                        w_bar += rows.T @ columns

An iteration writes then two rows where it has read and written a matrix. Where it adds to a part of the matrix, the
other items of the rows are zeros.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from s2s.analysis.functions import makes_new
from s2s.analysis.memory import Memory
from s2s.builder.builder import Builder, Context
from s2s.core import ir, ops
from s2s.core.values import AbstractValue, Array, Known, Scalar, Sequence
from s2s.optimize.contractions import PRODUCTS, factor
from s2s.optimize.dead import is_pure_call
from s2s.optimize.ranges import descends_from
from s2s.optimize.rewriting import map_blocks, without_result

__all__ = ["collect_outer_products"]


def collect_outer_products(function: ir.Function, context: Context) -> ir.Function:
    """The function with the outer products that loops of its reverse sweep add to matrices as products of matrices."""
    statements = function.body.statements
    begin = next((k for k, s in enumerate(statements) if isinstance(s, ir.Note) and s.section == "reverse"), None)
    if begin is None or not any(map(_may_add, ir.walk(ir.Block(statements[begin:])))):
        return function
    collector = _Collector(function, context)
    for s in statements[:begin]:
        collector.seen.update(ir.defs_of(s))
    made = collector.block(ir.Block(statements[begin:], function.body.yields))
    return ir.replace(function, body=ir.replace(made, statements=(*statements[:begin], *made.statements)))


def _may_add(s: ir.Statement) -> bool:
    return isinstance(s, ir.Store) and s.op in _SIGNED and s.kind in ("item", "whole")


_SIGNED = (operator.add, operator.sub)


@dataclass
class _Added:
    """A statement of a loop's body that adds the outer product of two vectors to a matrix, at two slices of it."""

    store: ir.Store
    vectors: tuple[ir.Atom, ir.Atom]
    slices: tuple[ir.Atom, ir.Atom]


class _Collector:
    """``seen`` are the variables that are defined where a statement stands."""

    def __init__(self, function: ir.Function, context: Context) -> None:
        self.context = context
        self.memory = Memory(without_result(function), context.value)
        self.seen: set[ir.Atom] = {*(p.var for p in function.params), *function.captures}

    def block(self, block: ir.Block) -> ir.Block:
        made: list[ir.Statement] = []
        for s in block.statements:
            outside = set(self.seen)
            self.seen.update(ir.inner_defs_of(s))
            s = map_blocks(s, self.block)
            made += self._of_loop(s, outside) if isinstance(s, ir.For) else [s]
            self.seen = self.seen if isinstance(s, ir.With) else outside
            self.seen.update(ir.defs_of(s))
        return ir.Block(tuple(made), block.yields)

    def _of_loop(self, loop: ir.For, outside: set[ir.Atom]) -> list[ir.Statement]:
        count = self._count(loop, outside)
        found = [] if count is None else list(self._added(loop, outside))
        if count is None or not found:
            return [loop]
        before, after = Builder(self.context), Builder(self.context)
        count = self._at_least_zero(count, before)
        body: list[ir.Statement] = []
        for s in loop.body.statements:
            added = next((a for a in found if a.store is s), None)
            body += [s] if added is None else self._collected(added, loop.item, count, before, after)
        loop = ir.replace(loop, body=ir.replace(loop.body, statements=tuple(body)))
        return [*before.statements, loop, *after.statements]

    # --- what is collected

    def _collected(
        self, added: _Added, item: ir.Var, count: ir.Atom, before: Builder, after: Builder
    ) -> list[ir.Statement]:
        """The statements that keep the two vectors in the place of their product."""
        s, inside = added.store, Builder(self.context)
        known = self.context.value(s.target)
        assert isinstance(known, Array)
        kind = () if known.dtype == np.dtype(float) else (("dtype", ir.Const(known.dtype.type)),)
        lengths = before.call(getattr, self.context.shape_source(s.target), ir.Const("shape"))
        made = []
        for axis, (vector, part) in enumerate(zip(added.vectors, added.slices, strict=True)):
            shape = before.call(ops.make_tuple, count, before.call(operator.getitem, lengths, ir.Const(axis)))
            made.append(before.call(np.zeros, shape, kwargs=kind, name=("rows", "columns")[axis]))
            at = self.context.value(part)
            whole = isinstance(at, Known) and at.value == slice(None)
            key = item if whole else inside.call(ops.make_tuple, item, part, span=s.span)
            inside.store(made[axis], key, vector, None, s.span)
        turned = after.call(getattr, made[0], ir.Const("T"), span=s.span)
        after.store(s.target, None, after.call(operator.matmul, turned, made[1], span=s.span), s.op, s.span)
        return inside.statements

    def _added(self, loop: ir.For, outside: set[ir.Atom]) -> Iterator[_Added]:
        """The statements of a loop's body whose outer products can be added after the loop."""
        calls: dict[ir.Atom, ir.Call] = {}
        seen = {*outside, *ir.inner_defs_of(loop)}
        for s in loop.body.statements:
            if isinstance(s, ir.Store) and _may_add(s):
                made, slices = calls.get(s.value), self._slices(s)
                vectors = None if made is None or slices is None else self._vectors(made, s.value)
                is_there = vectors is not None and {*vectors} <= seen
                if is_there and s.target in outside and self._only_adds(loop, s.target):  # type: ignore[arg-type]
                    yield _Added(s, vectors, slices)  # type: ignore[arg-type]
            changed = self._changed_by(s)
            calls = {} if changed is None else {
                target: call for target, call in calls.items() if changed.isdisjoint(self._memory_of(target, call))}
            if isinstance(s, ir.Let) and isinstance(s.value, ir.Call) and s.target is not None:
                calls[s.target] = s.value
            seen.update(ir.defs_of(s))

    def _memory_of(self, target: ir.Atom, call: ir.Call) -> set[ir.Atom]:
        """The memory that the operands of a product, and what they are views of, are in."""
        found = {a for a in ir.atoms_of(call) if isinstance(a, ir.Var)}
        return {target, *map(self.memory.find, found)}

    def _changed_by(self, s: ir.Statement) -> set[ir.Atom] | None:
        """The memory that a statement may change; None where that may be any."""
        if isinstance(s, ir.Store) and isinstance(s.target, ir.Var):
            return {self.memory.find(s.target)}
        if isinstance(s, ir.Note):
            return set()
        if isinstance(s, ir.Let) and (not isinstance(s.value, ir.Call) or is_pure_call(s.value)):
            return set()
        is_stack = isinstance(s, ir.Let) and isinstance(s.value, ir.Call) and s.value.fn in _OF_STACKS
        return set() if is_stack else None

    def _vectors(self, made: ir.Call, product: ir.Atom) -> tuple[ir.Atom, ir.Atom] | None:
        """The two vectors of which a call makes the outer product."""
        known = self.context.value(product)
        if made.kwargs or len(made.args) != 2 or not isinstance(known, Array) or len(known.shape or ()) != 2:
            return None
        if made.fn == ir.Const(np.outer):
            ranks = [_rank(self.context.value(a)) for a in made.args]  # type: ignore[arg-type]
            is_sure = ranks == [1, 1] and self.context.uncertain.isdisjoint(made.args)
            return made.args if is_sure else None  # type: ignore[return-value]
        if made.fn not in PRODUCTS or known.shape is None:
            return None
        factors = [factor(a, "ij", known.shape, self.context) for a in made.args]  # type: ignore[arg-type]
        if any(f is None or f[2] or _rank(self.context.value(f[0])) != 1 for f in factors):
            return None
        by_axis = {f[1]: f[0] for f in factors if f is not None}
        return (by_axis["i"], by_axis["j"]) if by_axis.keys() == {"i", "j"} else None

    def _slices(self, s: ir.Store) -> tuple[ir.Atom, ir.Atom] | None:
        """The slices of both axes that a statement adds to."""
        known = self.context.value(s.target)
        if not isinstance(known, Array) or known.dtype.kind != "f" or len(known.shape or ()) != 2:
            return None
        value = self.context.value(s.value)
        if not isinstance(value, Array) or value.dtype != known.dtype:
            return None
        every = ir.Const(slice(None))
        if s.kind == "whole" or s.key == ir.Const(...):
            return every, every
        parts = self.context.definition(s.key, ops.make_tuple) or (s.key,)
        if len(parts) > 2 or not all(_is_slice(self.context.value(p)) for p in parts):
            return None
        return parts[0], (parts[1] if len(parts) == 2 else every)

    def _only_adds(self, loop: ir.For, target: ir.Var) -> bool:
        """Whether a loop does nothing with an array that was made before it but to add to it."""
        made = self.context.definitions.get(target)
        if made is None or not makes_new(made):
            return False
        mine = self.memory.find(target)

        def is_other(atom: ir.Atom) -> bool:
            return not isinstance(atom, ir.Var) or self.memory.find(atom) != mine

        read = [*loop.body.yields, *(c.init for c in loop.carried)]
        for s in ir.walk(loop.body):
            reads = ir.reads_of(s)
            if isinstance(s, ir.Store) and s.op in _SIGNED and s.kind in ("item", "whole", "at"):
                reads = reads[1:]
            read += [*reads, *(atom for inner in ir.blocks_of(s) for atom in inner.yields)]
        return all(map(is_other, read))

    # --- how many there are

    def _count(self, loop: ir.For, outside: set[ir.Atom]) -> ir.Atom | None:
        """A number that the items of a loop are below, where they are not negative and each is another one."""
        bounds = self.context.definition(loop.iterable, range)
        if bounds is None:
            again = self.context.definition(loop.iterable, reversed)
            bounds = None if again is None else self.context.definition(again[0], range)
        if bounds is None:
            return None
        definition = self.context.definitions.get
        found = descends_from(definition(loop.iterable), definition)  # type: ignore[arg-type]
        if found is None and len(bounds) == 1:
            found = bounds[0]
        elif found is None and len(bounds) == 2 and isinstance(bounds[0], ir.Const) and type(bounds[0].value) is int:
            found = bounds[1] if 0 <= bounds[0].value <= 4 else None
        return found if isinstance(found, ir.Const) or found in outside else None

    def _at_least_zero(self, count: ir.Atom, builder: Builder) -> ir.Atom:
        known = self.context.value(count)
        if isinstance(known, Known) and known.value >= 0:
            return count
        if isinstance(known, Scalar) and known.dim and self.context.evaluator.facts.is_at_least(known.dim, 0):
            return count
        return builder.call(max, count, ir.Const(0))


_OF_STACKS = (ir.Const(ops.push), ir.Const(ops.pull), ir.Const(list.append), ir.Const(list.pop))


def _is_slice(value: AbstractValue) -> bool:
    if isinstance(value, Known):
        return type(value.value) is slice
    return isinstance(value, Sequence) and value.type is slice


def _rank(value: AbstractValue) -> int | None:
    return len(value.shape) if isinstance(value, Array) and value.shape is not None else None
