"""Adjoints of arrays that each iteration writes anew: of one place they are values, of several they are made for the
iteration. What is read of them is set to zero after it, so that each iteration begins with zeros wherever it reads.

    f_bar = np.zeros_like(f)                for t in reversed(range(n)):
    for t in reversed(range(n)):                c = dt * g + u_bar[:-1]
        f_bar[:-1] += dt * g
        f_bar += u_bar              ->
        c = np.copy(f_bar[:-1])
        f_bar[:-1] = 0.0
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from s2s.analysis.memory import Memory, is_basic
from s2s.builder.builder import Context
from s2s.core import ir, ops
from s2s.core.values import Array, Known
from s2s.optimize.rewriting import count_uses, map_blocks, without_result

__all__ = ["make_in_iterations"]

_MAKERS = (ir.Const(np.zeros_like), ir.Const(np.zeros))
_COPY, _ITEM = ir.Const(np.copy), ir.Const(operator.getitem)
_SIGNS = (operator.add, operator.sub)
_Statements = list[ir.Statement]


@dataclass
class _Event:
    """A statement that has to do with an adjoint: an addition, a reading (of a copy), or the zeros after it."""

    at: int
    kind: str
    where: tuple[Any, ...]
    key: ir.Atom
    statement: ir.Let | ir.Store


@dataclass
class _Adjoint:
    """An array of zeros, with the block in which all stands that has to do with it."""

    made: ir.Let
    block: ir.Block | None = None
    events: list[_Event] = field(default_factory=list)
    views: dict[ir.Var, ir.Atom] = field(default_factory=dict)
    is_simple: bool = True

    @property
    def var(self) -> ir.Var:
        assert self.made.target is not None
        return self.made.target

    def of(self, kind: str) -> list[_Event]:
        """The events of a kind, in order."""
        return [e for e in self.events if e.kind == kind]


def make_in_iterations(function: ir.Function, context: Context) -> ir.Function:
    """The function with adjoints of what each iteration overwrites as values of the iteration, or as arrays of it."""
    made = {
        s.target: _Adjoint(s) for s in ir.walk(function.body)
        if isinstance(s, ir.Let) and s.target is not None and _is_zeros(s, context)
    }
    if not made or not any(isinstance(s, ir.Store) and _is_zeroing(s) for s in ir.walk(function.body)):
        return function
    maker = _Maker(function, context, made)
    maker.look(function.body)
    values = [a for a in made.values() if maker.is_value(a)]
    moved = [a for a in made.values() if a not in values and maker.is_of_iteration(a)]
    if not values and not moved:
        return function
    return ir.replace(function, body=maker.written(function.body, values, moved))


def _is_zeros(s: ir.Let, context: Context) -> bool:
    if s.target is None or not isinstance(s.value, ir.Call) or s.value.fn not in _MAKERS:
        return False
    known = context.value(s.target)
    return isinstance(known, Array) and bool(known.shape) and s.target not in context.uncertain


def _is_zeroing(s: ir.Store) -> bool:
    is_zero = isinstance(s.value, ir.Const) and type(s.value.value) in (int, float) and s.value.value == 0
    return s.op is None and s.kind == "item" and is_zero and s.was is None


class _Maker:
    def __init__(self, function: ir.Function, context: Context, made: dict[ir.Var, _Adjoint]) -> None:
        self.context = context
        self.made = made
        self.memory = Memory(without_result(function), context.value)
        self.uses: Counter[ir.Atom] = count_uses(function.body)
        self.inner: dict[ir.Var, frozenset[ir.Var]] = {}
        """For each adjoint the variables of the loops and branches that hold all that has to do with it."""

    # --- what has to do with an adjoint

    def look(self, block: ir.Block, around: tuple[ir.Statement, ...] = ()) -> None:
        """Note the events of a block, and of the blocks inside it."""
        views: dict[ir.Var, _Adjoint] = {}
        for at, s in enumerate(block.statements):
            for a in dict.fromkeys(ir.reads_of(s)):
                adjoint = self.made.get(a) or views.get(a) if isinstance(a, ir.Var) else None
                if adjoint is not None and not self._note(adjoint, block, at, s, views):
                    adjoint.is_simple = False
            for inner in ir.blocks_of(s):
                self.look(inner, (*around, s))
        for a in block.yields:
            if isinstance(a, ir.Var) and a in self.made:
                self.made[a].is_simple = False
        for adjoint in self.made.values():
            if adjoint.block is block:
                self.inner[adjoint.var] = frozenset(v for s in around for v in _defined(s))

    def _note(
        self, adjoint: _Adjoint, block: ir.Block, at: int, s: ir.Statement, views: dict[ir.Var, _Adjoint]
    ) -> bool:
        """Note what a statement does with an adjoint; whether it is one of the known kinds."""
        if adjoint.block not in (None, block) and adjoint.block is not block:
            return False
        adjoint.block, var = block, adjoint.var
        if isinstance(s, ir.Store):
            where = self._where(s.kind, s.key)
            if s.target != var or where is None or s.value in (var, *adjoint.views) or s.was is not None:
                return False
            if _is_zeroing(s):
                adjoint.events.append(_Event(at, "zero", where, s.key, s))
                return True
            adjoint.events.append(_Event(at, "add", where, s.key, s))
            return s.op in _SIGNS and s.kind in ("item", "whole")
        if not isinstance(s, ir.Let) or s.target is None or not isinstance(s.value, ir.Call) or s.value.kwargs:
            return False
        fn, args = s.value.fn, s.value.args
        if fn == _ITEM and args[0] == var and self.uses[s.target] == 1:
            adjoint.views[s.target], views[s.target] = args[1], adjoint  # type: ignore[assignment]
            return isinstance(self.context.value(s.target), Array)
        if fn == _COPY and len(args) == 1:
            key = adjoint.views.get(args[0], ir.Const(...))  # type: ignore[arg-type]
            where = self._where("item", key)
            if where is None:
                return False
            adjoint.events.append(_Event(at, "read", where, key, s))
            return True
        return False

    def _where(self, kind: str, key: ir.Atom) -> tuple[Any, ...] | None:
        """A place of an array, the same for two that are written alike; None where it may name an item twice."""
        if kind == "whole" or key == ir.Const(...):
            return ()
        parts = list(self.context.definition(key, ops.make_tuple) or (key,))
        values = [self.context.value(p) for p in parts]
        if not all(map(is_basic, values)) or any(isinstance(v, Known) and v.value is ... for v in values):
            return None
        while values and isinstance(v := values[-1], Known) and type(v.value) is slice and v.value == slice(None):
            values.pop()
            parts.pop()
        return tuple(map(self.context.written, parts))

    # --- what may be done

    def _is_zero_at_start(self, adjoint: _Adjoint) -> bool:
        """Whether all that its block reads of an adjoint holds zeros where the block begins: what it reads is the same
        place each time, or all that it adds to, and nothing is added between its zeros and the next beginning."""
        adds, reads, zeros = map(adjoint.of, ("add", "read", "zero"))
        if not adjoint.is_simple or not adds or not reads or not zeros:
            return False
        if adds[-1].at > min(e.at for e in (*reads, *zeros)):
            return False
        if {*self.memory.members[self.memory.find(adjoint.var)]} != {adjoint.var, *adjoint.views}:
            return False
        if not all(any(z.where == r.where and z.at > r.at for z in zeros) for r in reads):
            return False
        if {e.where for e in adjoint.events} == {reads[0].where}:
            return True
        varying = self.inner.get(adjoint.var, frozenset())
        return all(varying.isdisjoint(_variables(e.where)) for e in reads)

    def is_value(self, adjoint: _Adjoint) -> bool:
        """Whether what is added to an adjoint, to the place that is read or to the whole, is a value of its block."""
        reads, adds = adjoint.of("read"), adjoint.of("add")
        if len(reads) != 1 or not self._is_zero_at_start(adjoint):
            return False
        read = reads[0].statement
        assert isinstance(read, ir.Let) and read.target is not None
        known, whole = self.context.value(read.target), self.context.value(adjoint.var)
        if any(e.where != reads[0].where for e in adjoint.of("zero")):
            return False
        if self.memory.is_buffer(read.target):
            return False
        for e in adds:
            value = e.statement.value
            of = known if e.where == reads[0].where else whole if e.where == () else None
            if of is None or not isinstance(value, ir.Var) or self.context.value(value) != of:
                return False
            if self.memory.is_buffer(value) or not self.context.uncertain.isdisjoint((value, read.target)):
                return False
        return isinstance(known, Array) and bool(known.shape)

    def is_of_iteration(self, adjoint: _Adjoint) -> bool:
        """Whether an adjoint may be made in the block where all stands that has to do with it."""
        if adjoint.block is None or adjoint.made in adjoint.block.statements or not self._is_zero_at_start(adjoint):
            return False
        return any(not self._is_needed(z, adjoint) for z in adjoint.of("zero"))

    def _is_needed(self, zero: _Event, adjoint: _Adjoint) -> bool:
        """Whether what is set to zero is read again in the same iteration."""
        return any(r.at > zero.at and not self._are_apart(r, zero) for r in adjoint.of("read"))

    def _are_apart(self, one: _Event, other: _Event) -> bool:
        """Whether two places have no element in common."""
        pairs = zip(self._parts(one.key), self._parts(other.key), strict=False)
        return any(_apart(a, b) or _apart(b, a) for a, b in pairs)

    def _parts(self, key: ir.Atom) -> list[Any]:
        parts = self.context.definition(key, ops.make_tuple) or (key,)
        values = [self.context.value(p) for p in parts]
        if any(isinstance(v, Known) and (v.value is None or v.value is ...) for v in values):
            return []
        return [v.value if isinstance(v, Known) else None for v in values]

    # --- what is written

    def written(self, block: ir.Block, values: list[_Adjoint], moved: list[_Adjoint]) -> ir.Block:
        """A block with the adjoints as values, or made in the block of their iteration."""
        dropped = {e.at for a in values if a.block is block for e in a.events}
        dropped |= {e.at for a in moved if a.block is block for e in a.of("zero") if not self._is_needed(e, a)}
        sums = {a.of("read")[0].at: a for a in values if a.block is block}
        starts = {a.of("add")[0].at: a for a in moved if a.block is block}
        elsewhere = {a.var for a in moved if a.block is not block}
        made: _Statements = []
        for at, s in enumerate(block.statements):
            if at in sums:
                made += self._sum(sums[at])
            if at in starts:
                made.append(starts[at].made)
            if at not in dropped and not (isinstance(s, ir.Let) and s.target in elsewhere):
                made.append(map_blocks(s, lambda b: self.written(b, values, moved)))
        return ir.Block(tuple(made), block.yields)

    def _sum(self, adjoint: _Adjoint) -> Iterator[ir.Statement]:
        """What was added to an adjoint, at the place where it is read."""
        read = adjoint.of("read")[0]
        assert isinstance(read.statement, ir.Let) and read.statement.target is not None
        known = self.context.value(read.statement.target)
        terms = [(e.statement, e.where == read.where) for e in adjoint.of("add")]
        if [getattr(store, "op", None) for store, _ in terms[:2]] == [operator.sub, operator.add]:
            terms[:2] = terms[1::-1]
        total: ir.Atom | None = None
        for k, (store, is_there) in enumerate(terms):
            assert isinstance(store, ir.Store)
            value = store.value
            if not is_there:
                part = ir.Call(_ITEM, (value, read.key))
                value = self.context.define("%", known, self.context.is_varied(store.value), part)
                yield ir.Let(value, part, store.span)
            if total is None:
                result: ir.Value = value if store.op is operator.add else ir.Call(ir.Const(operator.neg), (value,))
            else:
                result = ir.Call(ir.Const(store.op), (total, value))
            last = k == len(terms) - 1
            if isinstance(result, ir.Var) and not last:
                total = result
                continue
            target = read.statement.target if last else self.context.define("%", known, True, result)
            self.context.definitions[target] = result
            yield ir.Let(target, result, read.statement.span)
            total = target


def _defined(s: ir.Statement) -> Iterator[ir.Var]:
    """The variables that are defined in a statement."""
    yield from ir.inner_defs_of(s)
    for block in ir.blocks_of(s):
        for inner in ir.walk(block):
            yield from (*ir.defs_of(inner), *ir.inner_defs_of(inner))


def _variables(where: Any) -> set[ir.Var]:
    if isinstance(where, tuple):
        return {v for part in where for v in _variables(part)}
    return {where} if isinstance(where, ir.Var) else set()


def _apart(a: Any, b: Any) -> bool:
    """Whether two indices of an axis are of different elements, however long it is: two items counted from one end, or
    an item and a slice that leaves out more at that end."""
    if type(a) is not int:
        return False
    if type(b) is int:
        return a != b and (a < 0) == (b < 0)
    if type(b) is not slice or b.step not in (None, 1):
        return False
    if a >= 0:
        return type(b.start) is int and b.start > a
    return type(b.stop) is int and b.stop <= a
