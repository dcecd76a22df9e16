"""What is added first to an array that holds zeros is assigned: where a place was set to zero right before, and where
zeros were made for the whole.

    x_bar[i] = 0.0                      x_bar[i] = g * y
    x_bar[i] += g * y           ->

    w_bar = np.zeros_like(w)            w_bar = rows.T @ columns
    w_bar += rows.T @ columns   ->

    x_bar = np.zeros_like(x)            x_bar = np.zeros_like(x)
    for t in range(n):          ->      for t in range(n):
        x_bar[t] += g @ w                   x_bar[t] = g @ w

    x_bar = np.zeros_like(x)            x_bar = np.zeros_like(x)
    x_bar[1:] += g              ->      x_bar[1:] = g
    x_bar[:-1] -= g                     x_bar[:-1] -= g

    x_bar = np.zeros_like(x)            x_bar = np.zeros_like(x)
    x_bar[n:] += g              ->      x_bar[n:] = g
    x_bar[:n] += h                      x_bar[:n] = h
"""

from __future__ import annotations

import operator
from collections import Counter
from typing import Any

import numpy as np

from s2s.analysis.abstract.lattice import dtype_of
from s2s.analysis.functions import makes_new
from s2s.analysis.memory import Memory, is_basic
from s2s.builder.builder import Context
from s2s.builder.indices import are_apart, names_twice
from s2s.core import ir, ops
from s2s.core.values import AbstractValue, Array, Known, Scalar
from s2s.optimize.ranges import descends_from
from s2s.optimize.rewriting import count_uses, map_blocks, without_result

__all__ = ["assign_first_additions"]

_MAKERS = (ir.Const(np.zeros_like), ir.Const(np.zeros))


def assign_first_additions(function: ir.Function, context: Context) -> ir.Function:
    """The function with the first addition to zeros as an assignment, in each of its blocks."""
    if not any(_is_addition(s) for s in ir.walk(function.body)):
        return function
    assigner = _Assigner(function, context)
    return ir.replace(function, body=assigner.block(function.body))


def _is_addition(s: ir.Statement) -> bool:
    return isinstance(s, ir.Store) and s.op is operator.add and s.kind in ("item", "whole")


class _Assigner:
    def __init__(self, function: ir.Function, context: Context) -> None:
        self.context = context
        self.memory = Memory(without_result(function), context.value)
        self.uses: Counter[ir.Atom] = count_uses(function.body)
        self.lets: dict[Any, ir.Value] = {s.target: s.value for s in ir.walk(function.body) if isinstance(s, ir.Let)}

    def block(self, block: ir.Block) -> ir.Block:
        statements = [map_blocks(s, self.block) for s in block.statements]
        for place in range(len(statements) - 1, -1, -1):
            s = statements[place]
            if isinstance(s, ir.Store) and _is_zeroing(s):
                self._place(statements, place, s)
            elif isinstance(s, ir.Let) and isinstance(s.value, ir.Call) and s.value.fn in _MAKERS:
                self._whole(statements, place, s)
        return ir.Block(tuple(statements), block.yields)

    def _next_access(self, statements: list[ir.Statement], place: int, array: ir.Var) -> int | None:
        """Where the next statement stands that has to do with an array, if nothing before it may."""
        root = self.memory.find(array)
        for k in range(place + 1, len(statements)):
            s = statements[k]
            if any(isinstance(a, ir.Var) and self.memory.find(a) == root for a in ir.reads_of(s)):
                return k
            if any(self._mentions(inner, root) for inner in ir.blocks_of(s)):
                return k if isinstance(s, ir.For) else None
        return None

    def _mentions(self, block: ir.Block, root: ir.Var) -> bool:
        return any(self.memory.find(a) == root for a in self._atoms(block))

    # --- a place that is set to zero

    def _place(self, statements: list[ir.Statement], place: int, zeroing: ir.Store) -> None:
        assert isinstance(zeroing.target, ir.Var)
        at = self._next_access(statements, place, zeroing.target)
        added = None if at is None else statements[at]
        if at is None or not isinstance(added, ir.Store) or not _is_addition(added):
            return
        if added.target != zeroing.target or self._reads(added, zeroing.target):
            return
        where = self._where(zeroing)
        if where is None or where != self._where(added):
            return
        statements[at] = ir.replace(zeroing, value=added.value, span=added.span, makes=added.makes, reads=added.reads)
        del statements[place]

    def _reads(self, s: ir.Store, array: ir.Var) -> bool:
        """Whether the value or the place of a store has to do with the array itself."""
        root = self.memory.find(array)
        return any(isinstance(a, ir.Var) and self.memory.find(a) == root for a in (s.key, s.value))

    def _where(self, s: ir.Store) -> Any:
        """The place of a store, the same for two that are written alike; None where it may name an item twice."""
        if s.kind == "whole" or s.key == ir.Const(...):
            return ()
        parts = list(self.context.definition(s.key, ops.make_tuple) or (s.key,))
        values = [self.context.value(p) for p in parts]
        if not all(map(is_basic, values)) or any(isinstance(v, Known) and v.value is ... for v in values):
            return None
        while values and _is_every(values[-1]):
            values.pop()
            parts.pop()
        return tuple(map(self.context.written, parts))

    # --- zeros that are made for the whole

    def _whole(self, statements: list[ir.Statement], place: int, zeros: ir.Let) -> None:
        target = zeros.target
        known = self.context.value(target) if target is not None else None
        at = None if target is None else self._next_access(statements, place, target)
        added = None if at is None else statements[at]
        if at is None or target is None:
            return
        if isinstance(added, ir.For):
            statements[at] = self._in_iterations(added, target)
            return
        if not isinstance(added, ir.Store):
            return
        if added.target != target or self._where(added) != ():
            self._parts(statements, at, target, known)
            return
        if not _is_addition(added):
            return
        value = added.value
        if not isinstance(value, ir.Var) or self.uses[value] != 1 or self.context.value(value) != known:
            return
        if not isinstance(known, Array) or not known.shape or not self.context.uncertain.isdisjoint((target, value)):
            return
        for k in range(place + 1, at):
            made = statements[k]
            if isinstance(made, ir.Let) and made.target == value:
                if makes_new(made.value):
                    statements[k] = ir.replace(made, target=target)
                    del statements[at], statements[place]
                return

    def _parts(self, statements: list[ir.Statement], at: int, target: ir.Var, known: AbstractValue | None) -> None:
        """Assign what is added first to each of some parts that are apart from each other."""
        keys: list[ir.Atom] = []
        place: int | None = at
        while place is not None:
            s = statements[place]
            if not isinstance(s, ir.Store) or s.target != target or s.kind != "item" or self._reads(s, target):
                return
            if _is_addition(s) and all(are_apart(self.context, s.key, key) for key in keys):
                if not self._is_assignable(s, target, known):
                    return
                statements[place] = ir.replace(s, op=None)
            keys.append(s.key)
            place = self._next_access(statements, place, target)

    def _is_assignable(self, added: ir.Store, target: ir.Var, known: AbstractValue | None) -> bool:
        """Whether the first addition to zeros is to a part that it names once: the rest stays zero."""
        if added.target != target or added.kind != "item" or self._reads(added, target):
            return False
        value = self.context.value(added.value)
        if not isinstance(known, Array) or target in self.context.uncertain or added.value in self.context.uncertain:
            return False
        if self._where(added) is None and names_twice(self.context, added.key):
            return False
        if isinstance(value, Known):
            return type(value.value) in (int, float)
        return value == Scalar(float) or dtype_of(value) == known.dtype

    # --- a place in each iteration

    def _in_iterations(self, loop: ir.For, target: ir.Var) -> ir.For:
        """The loop with an assignment where each iteration adds to another place of zeros, once."""
        if not self._counts(loop) or self._atoms(loop.body).count(target) != 1:
            return loop
        root = self.memory.find(target)
        if any(a != target and self.memory.find(a) == root for a in self._atoms(loop.body)):
            return loop
        body = list(loop.body.statements)
        for k, s in enumerate(body):
            if isinstance(s, ir.Store) and s.target == target and _is_addition(s) and s.kind == "item":
                parts = self.context.definition(s.key, ops.make_tuple) or (s.key,)
                if loop.item in parts and self._where(s) is not None:
                    body[k] = ir.replace(s, op=None)
        return ir.replace(loop, body=ir.replace(loop.body, statements=tuple(body)))

    def _atoms(self, block: ir.Block) -> list[ir.Var]:
        """The variables that a block reads, as often as it does."""
        found = [*block.yields]
        for s in ir.walk(block):
            found += [*ir.reads_of(s), *(y for b in ir.blocks_of(s) for y in b.yields)]
        return [a for a in found if isinstance(a, ir.Var)]

    def _counts(self, loop: ir.For) -> bool:
        """Whether the items of a loop are numbers that are not negative, each another one."""
        made = self.lets.get(loop.iterable)
        if isinstance(made, ir.Call) and made.fn == ir.Const(reversed):
            made = self.lets.get(made.args[0])
        if not isinstance(made, ir.Call) or made.fn != ir.Const(range):
            return False
        if len(made.args) == 1 or descends_from(self.context, made, self.lets.get) is not None:
            return True
        start = made.args[0]
        is_up = len(made.args) == 2 or made.args[2] == ir.Const(1)
        return is_up and isinstance(start, ir.Const) and type(start.value) is int and start.value >= 0


def _is_every(value: AbstractValue) -> bool:
    """Whether an index takes the whole of an axis."""
    return isinstance(value, Known) and type(value.value) is slice and value.value == slice(None)


def _is_zeroing(s: ir.Store) -> bool:
    is_zero = isinstance(s.value, ir.Const) and type(s.value.value) in (int, float) and s.value.value == 0
    return s.op is None and s.kind == "item" and is_zero and s.was is None and isinstance(s.target, ir.Var)
