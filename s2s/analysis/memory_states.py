"""The states of memory: which content of a buffer each place of a function finds, by numbers as in memory SSA form.

Every store gives the class of its array (``analysis.memory``) a new state. Where paths join, the classes that one of
them has changed get a new one; so do those that a loop changes, at the start of its iterations and after it.

    a = x.copy()        state 0
    r = a / 2.0         reads state 0
    a[0] = 3.0          makes state 1
    s = a / 2.0         reads state 1: ``r`` is not ``a / 2.0`` any more

Two places that find the same state of a class, one of which is always run before the other, find the same content.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import assert_never

from s2s.analysis.memory import Memory, changed_by
from s2s.core import ir

__all__ = ["States"]

State = dict[ir.Var, int]
"""The number of the present state of each class that is not in its first one."""


class States:
    """The states of memory that the statements of a function in SSA form find."""

    def __init__(self, function: ir.Function, memory: Memory) -> None:
        self.memory = memory
        self.before: dict[int, State] = {}
        """What each statement finds, by its ``id``."""
        self.at_birth: dict[ir.Var, State] = {}
        """What the operation finds that makes a variable."""
        self._numbers = itertools.count(1)
        if memory.changed:
            self._block(function.body, {})

    def of(self, atom: ir.Atom, state: State | None) -> int | None:
        """The state of the class of an atom where ``state`` is found; None where that is not known."""
        if state is None or not isinstance(atom, ir.Var):
            return None
        return state.get(self.memory.find(atom), 0)

    def _block(self, block: ir.Block, state: State) -> State:
        for s in block.statements:
            state = self._statement(s, state)
        return state

    def _statement(self, s: ir.Statement, state: State) -> State:
        self.before[id(s)] = state
        match s:
            case ir.Let(target):
                if target is not None:
                    self.at_birth[target] = state
            case ir.If(then=then, orelse=orelse):
                state = self._joined(state, [self._block(then, state), self._block(orelse, state)])
            case ir.For(body=body):
                return self._loop(s, (body,), state)
            case ir.While(test=test, body=body):
                return self._loop(s, (test, body), state)
            case ir.With(body=body):
                state = self._block(body, state)
            case ir.Try(body=body, orelse=orelse, handlers=handlers):
                inside = self._anew(state, (body,))  # an exception may come before or after each of its stores
                ends = [self._block(orelse, self._block(body, state))]
                state = self._joined(state, [*ends, *(self._block(h.body, inside) for h in handlers)])
            case ir.Assert(problem=problem):
                self._block(problem, state)
            case ir.Store() | ir.Raise() | ir.Return() | ir.Break() | ir.Continue() | ir.Note():
                pass
            case _:
                assert_never(s)
        changed = changed_by(s)
        if isinstance(changed, ir.Var):
            state = {**state, self.memory.find(changed): next(self._numbers)}
        return state

    def _loop(self, s: ir.Statement, blocks: tuple[ir.Block, ...], state: State) -> State:
        inner = start = self._anew(state, blocks)
        for block in blocks:
            inner = self._block(block, inner)
        return state if start is state else self._anew(state, blocks)

    def _joined(self, state: State, ends: list[State]) -> State:
        first, *others = ends
        differ = {c for end in others for c in {**first, **end} if first.get(c, 0) != end.get(c, 0)}
        return {**first, **{c: next(self._numbers) for c in differ}} if differ else first

    def _anew(self, state: State, blocks: Iterable[ir.Block]) -> State:
        """A new state for every class that blocks change."""
        found = {self.memory.find(a) for b in blocks for s in ir.walk(b) if isinstance(a := changed_by(s), ir.Var)}
        return {**state, **{c: next(self._numbers) for c in found}} if found else state
