"""Arithmetic on large arrays, one part of them after the other: what is computed of a part stays in the cache until the
next statement reads it, and makes no array of full size.

    t = np.sin(x) * y                       x_bar = np.empty_like(x)
    s = np.sum(t * t)                       s = 0.0
    x_bar = 2.0 * t * y * np.cos(x)   ->    for block in rt.blocks(x):
                                                t = np.sin(x[block]) * y[block]
                                                s += np.sum(t * t)
                                                x_bar[block] = 2.0 * t * y[block] * np.cos(x[block])

A part is a number of rows. The statements are those of both sweeps, where nothing stands in between that needs a result
of the first for the second. Arrays that others read are made before the loop and filled in it.

Whether arrays are large is a fact of a version, under a guard: its text is made for large ones or for others.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections import Counter

import numpy as np

from s2s import runtime as rt
from s2s.analysis.memory import Memory
from s2s.builder.builder import Builder, Context
from s2s.core import ir, limits
from s2s.core.operators import PLAIN
from s2s.core.values import Array, Dim, Scalar, Sequence
from s2s.optimize.block_steps import BlockSteps
from s2s.optimize.fusion import tell_fusion
from s2s.optimize.loops.groups import Group, Groups, Item
from s2s.optimize.loops.lengths import Lengths
from s2s.optimize.loops.steps import Step
from s2s.optimize.rewriting import count_uses, map_blocks
from s2s.optimize.sections import Titles, in_order, statements_of
from s2s.versions.argument_guards import LargeGuard

__all__ = ["in_blocks"]

LEAST_SAVED = 3
"""So many arrays that nobody reads afterwards are worth a loop."""


def in_blocks(function: ir.Function, context: Context) -> ir.Function:
    """The function with arithmetic on large arrays in blocks, and a note of what it takes to be large, or not."""
    if context.sizes is None:
        return function
    steps = BlockSteps(function, context)
    count = sum(1 for s in ir.walk(function.body) if (step := steps.step(s)) is not None and step.kind == "map")
    return function if count < LEAST_SAVED else _Blocks(function, context, steps).run()


class _Blocks:
    def __init__(self, function: ir.Function, context: Context, steps: BlockSteps) -> None:
        self.function = function
        self.context = context
        self.steps = steps
        self.groups = Groups(function, self.steps, Memory(function, context.value))
        self.uses = count_uses(function.body)
        self.written: set[Dim] = set()
        """The lengths of the arrays that loops are written for."""

    def run(self) -> ir.Function:
        body = self._block(self.function.body, True)
        if not self.written:
            return self.function
        self._rely_on_lengths()
        return ir.replace(self.function, body=body)

    def _rely_on_lengths(self) -> None:
        """Note the lengths of arguments that loops take to be equal; what follows from others is left out."""
        known = Lengths()
        for one, other in itertools.chain(*self.steps.pairs.values()):
            if self.groups.lengths.of(one) in self.written and known.of(one) != known.of(other):
                known.take_for_equal(one, other)
                self.context.evaluator.facts.alike.add((one, other))

    def _block(self, block: ir.Block, is_whole: bool = False) -> ir.Block:
        titles = Titles(block if is_whole else ir.Block(()))
        statements = tuple(s for s in block.statements if not titles.has(s))
        items = self.groups.block(statements)
        writers = {id(item): writer for item in items if (writer := self._writer(item)) is not None}
        if self.context.stages is not None:
            tell_fusion(
                items, self.context, lambda s: titles.of(s) == "reverse",
                lambda group: self._size(group.steps[0].space), lambda group: self._worth(group) is not None)
        if not writers:
            return ir.Block(tuple(map_blocks(s, self._block) for s in block.statements), block.yields)
        for writer in writers.values():
            self.written.update(map(self.groups.lengths.of, writer.space))
        made: list[ir.Statement] = []
        for item in in_order(items, statements, writers, titles):
            if id(item) in writers:
                made += writers[id(item)].write(titles, made)
                continue
            for s in statements_of(item):
                titles.put(made, s)
                made.append(map_blocks(s, self._block))
        return ir.Block(tuple(made), block.yields)

    def _writer(self, item: Item) -> _Writer | None:
        """What writes the loop for some statements; None where they are not worth one, or nothing says that the arrays
        are large."""
        writer = self._worth(item) if isinstance(item, Group) else None
        return writer if writer is not None and self._is_large(writer.space) else None

    def _worth(self, group: Group) -> _Writer | None:
        """What writes the loop for a group; None where it saves too few arrays."""
        writer = _Writer(group.steps, self.context, self.uses)
        is_worth = writer.saved >= max(LEAST_SAVED, len(writer.kept)) and writer.pattern is not None
        return writer if is_worth else None

    def _is_large(self, space: tuple[Dim, ...]) -> bool:
        """Whether arrays of a shape are large. Where that is one of an argument, the version is for such ones alone, or
        for others alone."""
        found = self._guard(space)
        if isinstance(found, LargeGuard):
            self.context.relied_sizes.add(found)
            return found.is_large
        return bool(found)

    def _guard(self, space: tuple[Dim, ...]) -> LargeGuard | bool | None:
        """What says whether arrays of a shape are large: a guard, or their lengths; None where nothing does."""
        sizes = self.context.sizes
        assert sizes is not None
        dims = [*map(self.groups.lengths.of, space)]
        symbols = tuple(sorted(symbol for dim in dims for symbol in dim.symbol.strip("*").split("*") if symbol))
        if not symbols:
            return math.prod(dim.offset for dim in dims) >= limits.LARGE_ARRAY
        return sizes.get(symbols)

    def _size(self, space: tuple[Dim, ...]) -> bool | None:
        """Whether the version is for arrays of this shape that are large; None where they never are."""
        found = self._guard(space)
        return found.is_large if isinstance(found, LargeGuard) else found or None


class _Writer:
    """One loop. ``pattern`` is an array from before it that has all places; ``kept`` are the arrays that others read,
    ``saved`` is how many others there are."""

    def __init__(self, steps: list[Step], context: Context, uses: Counter[ir.Atom]) -> None:
        self.steps = steps
        self.context = context
        self.space = steps[0].space
        self.span = steps[0].statement.span
        self.within = Counter(a for step in steps for a in ir.reads_of(step.statement))
        self.own = {step.statement.target for step in steps if isinstance(step.statement, ir.Let)}
        maps = [step.statement.target for step in steps if step.kind == "map" and isinstance(step.statement, ir.Let)]
        self.kept = {var for var in maps if var is not None and uses[var] > self.within[var]}
        self.names = Counter(var.name for var in maps if var is not None)
        self.saved = len(maps) - len(self.kept)
        self.pattern = next((a.base for step in steps for a in step.arrays if self._has_all(a.base)), None)
        self.outer = Builder(context)
        self.inner = self.outer.child()
        self.parts: dict[ir.Atom, ir.Atom] = {}
        self.length = context.evaluator.facts.fresh_dim()
        self.totals: list[tuple[ir.Carried, ir.Atom]] = []

    def _has_all(self, var: ir.Var) -> bool:
        known = self.context.value(var)
        if var in self.own or not isinstance(known, Array) or known.shape is None:
            return False
        return len(known.shape) == len(self.space) and Dim("", 1) not in known.shape

    def write(self, titles: Titles, before: list[ir.Statement]) -> list[ir.Statement]:
        """The statements of the loop, and those before and after it."""
        context, after = self.context, Builder(self.context)
        assert self.pattern is not None
        bound = Scalar(int)
        block = context.define("block", Sequence(slice, (bound, bound, context.value(ir.Const(None)))))
        if titles.are_mixed(step.statement for step in self.steps):
            titles.last, titles.are_late, before = "", False, self.inner.statements
        for step in self.steps:
            titles.put(before, step.statement)
            self._step(step, block, after)
        body = self.inner.block(*(total for _, total in self.totals))
        blocks = self.outer.call(rt.blocks, self.pattern, span=self.span)
        loop = ir.For(block, blocks, body, tuple(one for one, _ in self.totals), span=self.span)
        about = ir.Note("one block after the other, which stays in the cache")
        return [*self.outer.statements, about, loop, *after.statements]

    def _step(self, step: Step, block: ir.Var, after: Builder) -> None:
        s = step.statement
        assert isinstance(s, ir.Let) and isinstance(s.value, ir.Call) and s.target is not None
        call = ir.replace(s.value, args=tuple(self._part(a, block) for a in s.value.args))  # type: ignore[arg-type]
        if step.kind == "sum":
            self._sum(s, call, after)
            return
        fn = call.fn.value if isinstance(call.fn, ir.Const) else None
        if _in_place(fn) and s.value.args[0] not in self.own:
            call = ir.replace(call, fn=ir.Const(PLAIN[fn]))  # what it changes is a part of an array of others
        known = self.context.value(s.target)
        assert isinstance(known, Array) and known.shape is not None
        part = self.context.define(self._name(s.target), Array(known.dtype, (self.length, *known.shape[1:])))
        forced = self.context.forced
        if s.target in forced:
            forced[part] = forced[s.target]  # that lengths fit is still asked
        self.inner.add(ir.Let(part, call, s.span))
        self.parts[s.target] = part
        if s.target in self.kept:
            self._make(s.target, known, s.span)
            self.inner.store(s.target, block, part, span=s.span)

    def _name(self, target: ir.Var) -> str:
        """What a part of an array is called: as the array, where nothing else is."""
        if self.names[target.name] == 1 and target in self.kept and not self.within[target]:
            return "%"
        is_taken = any(var.name == target.name for var in self.kept) and not target.is_temporary
        return f"{target.name}_part" if is_taken else target.name

    def _make(self, target: ir.Var, known: Array, span: ir.Span | None) -> None:
        """Make the array that the loop fills."""
        assert self.pattern is not None
        pattern = self.context.value(self.pattern)
        is_same = isinstance(pattern, Array) and pattern.dtype == known.dtype
        kwargs = () if is_same else (("dtype", ir.Const(known.dtype.type)),)
        self.outer.add(ir.Let(target, ir.Call(ir.Const(np.empty_like), (self.pattern,), kwargs), span))

    def _part(self, atom: ir.Atom, block: ir.Var) -> ir.Atom:
        """What a statement reads of an operand for one block."""
        if atom in self.parts:
            return self.parts[atom]
        known = self.context.value(atom)
        if not isinstance(known, Array) or not known.shape or len(known.shape) < len(self.space):
            return atom
        if known.shape[0] == Dim("", 1):
            return atom
        part = Array(known.dtype, (self.length, *known.shape[1:]))
        assert isinstance(atom, ir.Var)
        is_named = self.within[atom] > 1 and not atom.is_temporary
        call = ir.Call(ir.Const(operator.getitem), (atom, block))
        self.parts[atom] = self.inner.let(call, part, f"{atom.name}_part" if is_named else "%", self.span)
        return self.parts[atom]

    def _sum(self, s: ir.Let, call: ir.Call, after: Builder) -> None:
        """Add the sum of one block to that of the blocks before. A mean is divided after the loop."""
        context, target = self.context, s.target
        assert target is not None and self.pattern is not None
        known, is_mean = context.value(target), call.fn == ir.Const(np.mean)
        if is_mean:
            call = ir.replace(call, fn=ir.Const(np.sum))
        total = context.define(target.name, known)
        result = context.define(target.name, known) if is_mean else target
        one = self.inner.let(call, known, "%", s.span)
        new = context.define(target.name, known)
        self.inner.add(ir.Let(new, ir.Call(ir.Const(operator.iadd), (total, one)), s.span))
        self.totals.append((ir.Carried(total, ir.Const(0.0), result), new))
        if is_mean:
            size = after.call(getattr, self.pattern, ir.Const("size"), span=s.span)
            after.add(ir.Let(target, ir.Call(ir.Const(operator.truediv), (result, size)), s.span))


def _in_place(fn: object) -> bool:
    return any(fn is one for one in PLAIN)
