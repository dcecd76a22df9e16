"""Sharing: which variables that are still read may be the same memory, at each statement of a function in SSA form.

``analysis.memory`` puts into one class what may share memory at any time. Here the order counts: of each place the
variables are known that are read later, and which of them may be one array there, or a view of one.

    for k in range(n):
        u = u * 0.9             apart from all others: it is new
        u[0] = 0.0              may ``kept`` be the same memory? no: that is ``u`` of an iteration before
        if u @ u < 1.0:
            kept = u            from here on ``kept`` and ``u`` may be the same memory, while both are read

Both are found at the fixpoint of each loop: backwards what is read later (``analysis.liveness``), forwards what shares
memory. A read of the shape only does not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

from s2s.analysis.functions import reads_content
from s2s.analysis.liveness import Liveness
from s2s.analysis.memory import Memory, shared_from
from s2s.core import ir

__all__ = ["Sharing"]

State = dict[ir.Var, int]
"""For each variable those that may share its memory, as bits."""


class Sharing:
    """What of the variables that may refer to memory which changes shares memory with what, and until when."""

    def __init__(self, function: ir.Function, memory: Memory) -> None:
        self.memory = memory
        self.live = Liveness(function, [var for var in memory.links if var in memory.buffers], self._contents)
        self._bit, self._of = self.live.bit, self.live.of
        self._seen: dict[int, int] = {}
        self._at_birth: State = {}
        if self._bit:
            self._run(function.body, {})

    def seen(self, s: ir.Statement) -> Iterator[ir.Var]:
        """The variables read after a statement that may share memory with what it changes."""
        return self._of(self._seen.get(id(s), 0))

    def apart(self, s: ir.Statement) -> Iterator[ir.Var]:
        """The variables read after a statement that certainly share no memory with what it changes."""
        return self._of(self.live.after.get(id(s), 0) & ~self._seen.get(id(s), 0) & ~self.live.bits(ir.reads_of(s)[:1]))

    def beside(self, var: ir.Var) -> Iterator[ir.Var]:
        """The other variables that may share the memory of one when it is made, and are read later."""
        return self._of(self._at_birth.get(var, 0))

    def _contents(self, s: ir.Statement) -> Iterable[ir.Atom]:
        """The atoms whose content a statement reads."""
        if isinstance(s, ir.Let) and isinstance(call := s.value, ir.Call) and isinstance(call.fn, ir.Const):
            fn, args = call.fn.value, call.args
            if s.target is not None and self.memory.is_buffer(s.target) and not self.memory.is_new(s.target):
                return ir.reads_of(s)
            return [a for a in ir.reads_of(s) if call.kwargs or reads_content(fn, args, a)]
        return ir.reads_of(s)

    # --- forwards: what shares memory

    def _run(self, block: ir.Block, state: State) -> State:
        """What shares memory at the end of a block; ``state`` is what does at its start, and is changed."""
        for s in block.statements:
            state = self._step(s, state)
        return state

    def _step(self, s: ir.Statement, state: State) -> State:
        later = self.live.after[id(s)]
        match s:
            case ir.Let(target):
                for var, others in shared_from(s, self.memory.value_of):
                    self._link(state, var, others, later)
                if target is not None:
                    self._at_birth[target] = self._at_birth.get(target, 0) | state.get(target, 0)
            case ir.Store(_, ir.Var() as target):
                now = state.get(target, 0) | self._bit.get(target, 0)
                self._seen[id(s)] = self._seen.get(id(s), 0) | now & later
                for var, others in shared_from(s, self.memory.value_of):
                    self._link(state, var, others, later)
            case ir.If():
                ends = [self._run(side, dict(state)) for side in (s.then, s.orelse)]
                return self._joined(s, ends, later)
            case ir.For(body=body) | ir.While(body=body):
                head = self._bound(state, [(c.param, c.init) for c in s.carried], self.live.heads[id(s)])
                while True:
                    start = self._run(s.test, dict(head)) if isinstance(s, ir.While) else dict(head)
                    end = self._run(body, dict(start))
                    again = [(c.param, y) for c, y in zip(s.carried, body.yields, strict=True)]
                    grown = _either(head, self._bound(end, again, self.live.heads[id(s)]))
                    if grown == head:
                        break
                    head = grown
                return self._bound(start, [(c.result, c.param) for c in s.carried], later)
            case ir.Try():
                state = self._run(s.body, state)
                handlers = [self._run(h.body, dict(state)) for h in s.handlers]
                return self._joined(s, [self._run(s.orelse, state), *handlers], later)
            case ir.With(body=body):
                return self._run(body, state)
            case ir.Assert(problem=problem):
                self._run(problem, dict(state))
            case ir.Store() | ir.Raise() | ir.Return() | ir.Break() | ir.Continue() | ir.Note():
                pass
            case _:
                assert_never(s)
        return state

    def _link(self, state: State, var: ir.Var, others: list[ir.Var], later: int) -> None:
        """From here on a variable may share the memory of others, and of what shares theirs."""
        mine, theirs = self._bit.get(var, 0), 0
        for other in others:
            theirs |= state.get(other, 0) | self._bit.get(other, 0)
        if mine and theirs:
            mine |= state.get(var, 0)
            for one in self._of(mine):
                state[one] = (state.get(one, 0) | theirs & later) & ~self._bit[one]
            for one in self._of(theirs & later):
                state[one] = (state.get(one, 0) | mine) & ~self._bit[one]

    def _joined(self, s: ir.If | ir.Try, ends: list[State], later: int) -> State:
        found: State = {}
        for side, end in zip(ir.sides_of(s), ends, strict=True):
            found = _either(found, self._bound(end, zip(s.results, side.yields, strict=True), later))
        return found

    def _bound(self, state: State, rows: Iterable[tuple[ir.Var, ir.Atom]], later: int) -> State:
        """What shares memory where variables become what atoms are, all at once, of what is read later."""
        rows = [(var, a) for var, a in rows if self._bit.get(var, 0) & later]
        bound = self.live.bits(var for var, _ in rows)
        kept = later & ~bound  # a variable of a loop has been another one
        found = {var: others & kept for var, others in state.items() if self._bit[var] & kept and others & kept}
        given = [(var, a) for var, a in rows if isinstance(a, ir.Var) and a in self._bit]
        for var, atom in given:
            others = state.get(atom, 0) | self._bit[atom]
            same = self.live.bits(v for v, a in given if self._bit[a] & others)
            for one in self._of(others & kept):
                found[one] = found.get(one, 0) | self._bit[var]
            found[var] = (others & kept | same) & ~self._bit[var]
        return found


def _either(one: State, other: State) -> State:
    return {var: one.get(var, 0) | other.get(var, 0) for var in {**one, **other}}
