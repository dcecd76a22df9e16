"""Sharing: which variables that are still read may be the same memory, at each statement of a function in SSA form.

``analysis.memory`` puts into one class what may share memory at any time. Here the order counts: of each place the
variables are known that are read later, and which of them may be one array there, or a view of one.

    for k in range(n):
        u = u * 0.9             apart from all others: it is new
        u[0] = 0.0              may ``kept`` be the same memory? no: that is ``u`` of an iteration before
        if u @ u < 1.0:
            kept = u            from here on ``kept`` and ``u`` may be the same memory, while both are read

Both are found at the fixpoint of each loop: backwards what is read later, forwards what shares memory. A read of the
shape only does not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from s2s.analysis.functions import reads_content
from s2s.analysis.memory import Memory, shared_from
from s2s.core import ir

__all__ = ["Sharing"]

State = dict[ir.Var, int]
"""For each variable those that may share its memory, as bits."""


class Sharing:
    """What of the variables that may refer to memory which changes shares memory with what, and until when."""

    def __init__(self, function: ir.Function, memory: Memory) -> None:
        self.memory = memory
        self._vars: list[ir.Var] = [var for var in memory.links if var in memory.buffers]
        self._bit: dict[ir.Atom, int] = {var: 1 << k for k, var in enumerate(self._vars)}
        self._later: dict[int, int] = {}  # what is read after a statement, and at the start of each iteration of a loop
        self._heads: dict[int, int] = {}
        self._caught = 0
        self._seen: dict[int, int] = {}
        self._at_birth: State = {}
        if self._vars:
            self._read_in(function.body, self._bits(function.body.yields))
            self._run(function.body, {})

    def seen(self, s: ir.Statement) -> Iterator[ir.Var]:
        """The variables read after a statement that may share memory with what it changes."""
        return self._of(self._seen.get(id(s), 0))

    def apart(self, s: ir.Statement) -> Iterator[ir.Var]:
        """The variables read after a statement that certainly share no memory with what it changes."""
        return self._of(self._later.get(id(s), 0) & ~self._seen.get(id(s), 0) & ~self._bits(ir.reads_of(s)[:1]))

    def beside(self, var: ir.Var) -> Iterator[ir.Var]:
        """The other variables that may share the memory of one when it is made, and are read later."""
        return self._of(self._at_birth.get(var, 0))

    def _bits(self, atoms: Iterable[ir.Atom | None]) -> int:
        found = 0
        for atom in atoms:
            found |= self._bit.get(atom, 0)  # type: ignore[arg-type]
        return found

    def _of(self, bits: int) -> Iterator[ir.Var]:
        while bits:
            yield self._vars[(bits & -bits).bit_length() - 1]
            bits &= bits - 1

    # --- backwards: what is read later

    def _read_in(self, block: ir.Block, later: int) -> int:
        """What is read from the start of a block on, where ``later`` is read from its end on."""
        for s in reversed(block.statements):
            self._later[id(s)] = later = later | self._caught
            later = self._read_by(s, later & ~self._bits(ir.defs_of(s))) | self._bits(self._contents(s))
        return later | self._caught

    def _read_by(self, s: ir.Statement, later: int) -> int:
        """What is read from the start of the blocks of a statement on."""
        wanted = self._later[id(s)]
        match s:
            case ir.For() | ir.While():
                return self._read_in_loop(s, later, wanted)
            case ir.If():
                return self._read_in_sides(s, (s.then, s.orelse), later, wanted)
            case ir.Try():
                later = self._read_in(s.final, later)
                handlers = self._read_in_sides(s, [h.body for h in s.handlers], later, wanted)
                around, self._caught = self._caught, self._caught | handlers
                later = self._read_in(s.body, self._read_in_sides(s, (s.orelse,), later, wanted))
                self._caught = around
                return later
            case _:
                for block in ir.blocks_of(s):
                    later |= self._read_in(block, later)
                return later

    def _read_in_sides(self, s: ir.If | ir.Try, sides: Iterable[ir.Block], later: int, wanted: int) -> int:
        found = 0
        for side in sides:
            given = (y for r, y in zip(s.results, side.yields, strict=True) if self._bit.get(r, 0) & wanted)
            found |= self._read_in(side, later | self._bits(given))
        return found

    def _read_in_loop(self, s: ir.For | ir.While, later: int, wanted: int) -> int:
        rows = list(zip(s.carried, s.body.yields, strict=True))
        head, before = later, -1
        params = self._bits(c.param for c in s.carried)
        wanted = self._bits(c.param for c in s.carried if self._bit.get(c.result, 0) & wanted)
        while head | wanted != before:
            before = head | wanted
            given = self._bits(y for c, y in rows if self._bit.get(c.param, 0) & wanted)
            found = self._read_in(s.body, head | given | self._bits([s.leave])) | later
            found = self._read_in(s.test, found) if isinstance(s, ir.While) else found
            wanted |= found & params
            head |= found & ~params
        self._heads[id(s)] = head | wanted
        return head | self._bits(c.init for c in s.carried if self._bit.get(c.param, 0) & wanted)

    def _contents(self, s: ir.Statement) -> Iterable[ir.Atom]:
        """The atoms whose content a statement reads; of a loop what it carries is read with the variable for it."""
        if isinstance(s, ir.Let) and isinstance(call := s.value, ir.Call) and isinstance(call.fn, ir.Const):
            fn, args = call.fn.value, call.args
            if s.target in self._bit and not self.memory.is_new(s.target):  # type: ignore[arg-type]
                return ir.reads_of(s)
            return [a for a in ir.reads_of(s) if call.kwargs or reads_content(fn, args, a)]
        return (s.iterable,) if isinstance(s, ir.For) else () if isinstance(s, ir.While) else ir.reads_of(s)

    # --- forwards: what shares memory

    def _run(self, block: ir.Block, state: State) -> State:
        """What shares memory at the end of a block; ``state`` is what does at its start, and is changed."""
        for s in block.statements:
            state = self._step(s, state)
        return state

    def _step(self, s: ir.Statement, state: State) -> State:
        later = self._later[id(s)]
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
                head = self._bound(state, [(c.param, c.init) for c in s.carried], self._heads[id(s)])
                while True:
                    start = self._run(s.test, dict(head)) if isinstance(s, ir.While) else dict(head)
                    end = self._run(body, dict(start))
                    again = [(c.param, y) for c, y in zip(s.carried, body.yields, strict=True)]
                    grown = _either(head, self._bound(end, again, self._heads[id(s)]))
                    if grown == head:
                        break
                    head = grown
                return self._bound(start, [(c.result, c.param) for c in s.carried], later)
            case ir.Try():
                state = self._run(s.body, state)
                handlers = [self._run(h.body, dict(state)) for h in s.handlers]
                state = self._joined(s, [self._run(s.orelse, state), *handlers], later)
                return self._run(s.final, state)
            case ir.With(body=body):
                return self._run(body, state)
            case ir.Assert(problem=problem):
                self._run(problem, dict(state))
            case _:
                pass
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
        bound = self._bits(var for var, _ in rows)
        kept = later & ~bound  # a variable of a loop has been another one
        found = {var: others & kept for var, others in state.items() if self._bit[var] & kept and others & kept}
        given = [(var, a) for var, a in rows if isinstance(a, ir.Var) and a in self._bit]
        for var, atom in given:
            others = state.get(atom, 0) | self._bit[atom]
            same = self._bits(v for v, a in given if self._bit[a] & others)
            for one in self._of(others & kept):
                found[one] = found.get(one, 0) | self._bit[var]
            found[var] = (others & kept | same) & ~self._bit[var]
        return found


def _either(one: State, other: State) -> State:
    return {var: one.get(var, 0) | other.get(var, 0) for var in {**one, **other}}
