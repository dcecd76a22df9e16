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
other items of the rows are zeros. A loop over ``s2s.checkpointed`` collects none. Rows or columns of a matrix that
the loop leaves as it is are not collected: the matrix has them. ``matrix_products`` are collected with them.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.analysis.functions import makes_new
from s2s.analysis.memory import Memory
from s2s.builder.builder import Builder, Context
from s2s.core import ir, ops
from s2s.core.values import Array, Known, Scalar
from s2s.optimize.contractions import PRODUCTS, factor
from s2s.optimize.dead import is_pure_call
from s2s.optimize.matrix_products import (
    EVERY,
    RowProduct,
    first_lines,
    is_slice,
    is_whole,
    line_of,
    rank,
    row_product,
)
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


_STATES = ir.Const(rt.Snapshots)
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
        if count is None or not found or self._keeps_states(loop):
            return [loop]
        before, after = Builder(self.context), Builder(self.context)
        collected = Collected(self.context, self.memory, loop.item, self._at_least_zero(count, before), before, after)
        changed = self._changed_in(loop)
        if changed is not None and self._runs_whole(loop):
            find = self.memory.find
            collected.unchanged = {a for a in outside if isinstance(a, ir.Var) and find(a) not in changed}
        body: list[ir.Statement] = []
        for s in loop.body.statements:
            added = next((a for a in found if a.store is s), None)
            body += [s] if added is None else collected.write(added)
        loop = ir.replace(loop, body=ir.replace(loop.body, statements=tuple(body)))
        return [*before.statements, loop, *after.statements]

    def _keeps_states(self, loop: ir.For) -> bool:
        """Whether a loop goes back by some states that it keeps: rows of all its iterations would take the memory that
        this saves."""
        read = (a for s in ir.walk(loop.body) for a in ir.reads_of(s) if isinstance(a, ir.Var))
        made = (self.context.definitions.get(a) for a in read)
        return any(isinstance(value, ir.Call) and value.fn == _STATES for value in made)

    # --- what is collected

    def _added(self, loop: ir.For, outside: set[ir.Atom]) -> Iterator[_Added | RowProduct]:
        """The statements of a loop's body whose products can be added after the loop."""
        calls: dict[ir.Atom, ir.Call] = {}
        seen, in_loop = {*outside, *ir.inner_defs_of(loop)}, self._changed_in(loop)
        for s in loop.body.statements:
            if isinstance(s, ir.Store) and _may_add(s):
                made, slices = calls.get(s.value), self._slices(s)
                vectors = None if made is None or slices is None else self._vectors(made, s.value)
                is_there = vectors is not None and {*vectors} <= seen
                if is_there and s.target in outside and self._only_adds(loop, s.target):  # type: ignore[arg-type]
                    yield _Added(s, vectors, slices)  # type: ignore[arg-type]
                row = None if made is None or in_loop is None or loop.leave is not None else row_product(
                    s, made, loop.item, outside, self.context)
                is_there = row is not None and {row.vector, row.part} <= {*seen, EVERY}
                if row is not None and is_there and self.memory.find(row.matrix) not in in_loop:  # type: ignore[operator]
                    if s.target in outside and self._only_adds(loop, s.target):  # type: ignore[arg-type]
                        yield row
            changed = self._changed_by(s)
            if changed is None:
                calls = {}
            elif changed:
                calls = {t: call for t, call in calls.items() if changed.isdisjoint(self._memory_of(t, call))}
            if isinstance(s, ir.Let) and isinstance(s.value, ir.Call) and s.target is not None:
                calls[s.target] = s.value
            seen.update(ir.defs_of(s))

    def _changed_in(self, loop: ir.For) -> set[ir.Atom] | None:
        """The memory that the statements of a loop may change; None where that may be any."""
        changed: set[ir.Atom] = set()
        for s in ir.walk(loop.body):
            one = self._changed_by(s)
            if one is None:
                return None
            changed |= one
        return changed

    def _runs_whole(self, loop: ir.For) -> bool:
        """Whether a loop runs from 0 through all numbers below its count, or back, unless it raises."""
        again = self.context.definition(loop.iterable, reversed)
        bounds = self.context.definition(loop.iterable if again is None else again[0], range)
        definition = self.context.definitions.get
        is_down = descends_from(self.context, definition(loop.iterable), definition) is not None  # type: ignore[arg-type]
        return loop.leave is None and (is_down or (bounds is not None and len(bounds) == 1))

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
            ranks = [rank(self.context.value(a)) for a in made.args]  # type: ignore[arg-type]
            is_sure = ranks == [1, 1] and self.context.uncertain.isdisjoint(made.args)
            return made.args if is_sure else None  # type: ignore[return-value]
        if made.fn not in PRODUCTS or known.shape is None:
            return None
        factors = [factor(a, "ij", known.shape, self.context) for a in made.args]  # type: ignore[arg-type]
        if any(f is None or f[2] or rank(self.context.value(f[0])) != 1 for f in factors):
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
        if len(parts) > 2 or not all(is_slice(p, self.context) for p in parts):
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
        found = descends_from(self.context, definition(loop.iterable), definition)  # type: ignore[arg-type]
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


class Collected:
    """Keeps the vectors of a loop's iterations, in the place of what they are multiplied with, and writes the products
    after it. ``unchanged`` are the arrays whose rows and columns need not be kept."""

    def __init__(
        self, context: Context, memory: Memory, item: ir.Var, count: ir.Atom, before: Builder, after: Builder
    ) -> None:
        self.context = context
        self.memory = memory
        self.item = item
        self.count = count
        self.before = before
        self.after = after
        self.unchanged: set[ir.Var] = set()
        self.kept: dict[Any, ir.Atom] = {}

    def write(self, added: _Added | RowProduct) -> list[ir.Statement]:
        """The statements in the place of one that adds a product; the product is written after the loop."""
        s, inside = added.store, Builder(self.context)
        if isinstance(added, RowProduct):
            of = added.matrix, added.axis
            rows = self._rows(added.vector, added.part, of, "rows", inside, s)
            added.write(rows, self.count, self.context, self.after)
            return inside.statements
        factors = []
        for vector, part, axis, name in zip(added.vectors, added.slices, (0, 1), ("rows", "columns"), strict=True):
            line = self._line(vector, part)
            if line is not None:
                factors.append(self._first(*line, 1 - axis, s.span))
            else:
                rows = self._rows(vector, part, (s.target, axis), name, inside, s)
                factors.append(rows if axis == 1 else self._turned(rows, s.span))
        self.after.store(s.target, None, self.after.call(operator.matmul, *factors, span=s.span), s.op, s.span)
        return inside.statements

    def _turned(self, matrix: ir.Atom, span: ir.Span | None) -> ir.Atom:
        return self.after.call(getattr, matrix, ir.Const("T"), span=span)

    def _line(self, vector: ir.Atom, part: ir.Atom) -> tuple[ir.Var, int] | None:
        """The matrix of which an iteration's vector is row (0) or column (1), which the loop leaves as it is."""
        read = self.context.definition(vector, operator.getitem)
        if read is None or read[0] not in self.unchanged or not is_whole(part, self.context):
            return None
        place = line_of(read[1], self.item, self.context) if rank(self.context.value(read[0])) == 2 else None
        return None if place is None else (read[0], place)  # type: ignore[return-value]

    def _first(self, matrix: ir.Var, place: int, wanted: int, span: ir.Span | None) -> ir.Atom:
        """The lines of a matrix that the iterations have read, as rows (0) or columns (1)."""
        index = first_lines(matrix, place, self.count, self.context, self.after)
        lines: ir.Atom = matrix if index is None else self.after.call(operator.getitem, matrix, index, span=span)
        return lines if place == wanted else self._turned(lines, span)

    def _rows(
        self, vector: ir.Atom, part: ir.Atom, of: tuple[ir.Atom, int], name: str, inside: Builder, s: ir.Store
    ) -> ir.Atom:
        """The array that has the vectors of all iterations as rows, each at a part as long as an axis of an array."""
        array, axis = of
        known = self.context.value(array)
        assert isinstance(known, Array) and known.shape is not None
        key = vector, self._spelled(part), known.shape[axis], known.dtype
        if key in self.kept and not self.memory.is_buffer(vector):
            return self.kept[key]
        kind = () if known.dtype == np.dtype(float) else (("dtype", ir.Const(known.dtype.type)),)
        lengths = self.before.call(getattr, self.context.shape_source(array), ir.Const("shape"))
        length = self.before.call(operator.getitem, lengths, ir.Const(axis))
        shape = self.before.call(ops.make_tuple, self.count, length)
        rows = self.kept[key] = self.before.call(np.zeros, shape, kwargs=kind, name=name)
        at = self.item if is_whole(part, self.context) else inside.call(ops.make_tuple, self.item, part, span=s.span)
        inside.store(rows, at, vector, None, s.span)
        return rows

    def _spelled(self, part: ir.Atom) -> Any:
        """A slice, the same for two that are computed alike."""
        if is_whole(part, self.context):
            return EVERY
        bounds = self.context.definition(part, slice)
        return part if bounds is None else tuple(map(self.context.written, bounds))


_OF_STACKS = (ir.Const(ops.push), ir.Const(ops.pull), ir.Const(list.append), ir.Const(list.pop))

