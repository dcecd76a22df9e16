"""Liveness: which variables may be read after each statement of a function in SSA form.

    for k in range(n):
        u = np.sin(v)           v is read in each iteration: also after its last read in the text
        w = u * 2.0             after it w, and v; u is read no more

What a join or a loop is given is read where the variable is that holds it from there on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import assert_never

from s2s.core import ir

__all__ = ["Liveness"]


class Liveness:
    """Which of some variables are read after each statement, and at the start of each iteration of a loop and later, as
    bits, by the ``id`` of the statement. ``reads`` says which atoms a statement reads."""

    def __init__(
        self, function: ir.Function, variables: Iterable[ir.Var],
        reads: Callable[[ir.Statement], Iterable[ir.Atom]] = ir.reads_of,
    ) -> None:
        self._vars = [*variables]
        self.bit: dict[ir.Atom, int] = {var: 1 << k for k, var in enumerate(self._vars)}
        self.after: dict[int, int] = {}
        self.heads: dict[int, int] = {}
        self._reads = reads
        self._caught = 0
        """What handlers read of exceptions that may come at any time."""
        if self._vars:
            self._read_in(function.body, self.bits(function.body.yields))

    def bits(self, atoms: Iterable[ir.Atom | None]) -> int:
        """Atoms as bits, those apart that nothing was asked of."""
        found = 0
        for atom in atoms:
            found |= self.bit.get(atom, 0)  # type: ignore[arg-type]
        return found

    def of(self, bits: int) -> Iterator[ir.Var]:
        """The variables that bits stand for."""
        while bits:
            yield self._vars[(bits & -bits).bit_length() - 1]
            bits &= bits - 1

    def _reads_of(self, s: ir.Statement) -> Iterable[ir.Atom]:
        return (s.iterable,) if isinstance(s, ir.For) else () if isinstance(s, ir.While) else self._reads(s)

    def _is_wanted(self, var: ir.Var, wanted: int) -> bool:
        return var not in self.bit or bool(self.bit[var] & wanted)

    def _read_in(self, block: ir.Block, later: int) -> int:
        """What is read from the start of a block on, where ``later`` is read from its end on."""
        for s in reversed(block.statements):
            self.after[id(s)] = later = later | self._caught
            later = self._read_by(s, later & ~self.bits(ir.defs_of(s))) | self.bits(self._reads_of(s))
        return later | self._caught

    def _read_by(self, s: ir.Statement, later: int) -> int:
        """What is read from the start of the blocks of a statement on."""
        wanted = self.after[id(s)]
        match s:
            case ir.Let() | ir.Store() | ir.Raise() | ir.Return() | ir.Break() | ir.Continue() | ir.Note():
                return later
            case ir.For() | ir.While():
                return self._read_in_loop(s, later, wanted)
            case ir.If():
                return self._read_in_sides(s, (s.then, s.orelse), later, wanted)
            case ir.Try():
                handlers = self._read_in_sides(s, [h.body for h in s.handlers], later, wanted)
                around, self._caught = self._caught, self._caught | handlers
                later = self._read_in(s.body, self._read_in_sides(s, (s.orelse,), later, wanted))
                self._caught = around
                return later
            case ir.With(body=block) | ir.Assert(problem=block):
                return later | self._read_in(block, later)
            case _:
                assert_never(s)

    def _read_in_sides(self, s: ir.If | ir.Try, sides: Iterable[ir.Block], later: int, wanted: int) -> int:
        found = 0
        for side in sides:
            given = (y for r, y in zip(s.results, side.yields, strict=True) if self._is_wanted(r, wanted))
            found |= self._read_in(side, later | self.bits(given))
        return found

    def _read_in_loop(self, s: ir.For | ir.While, later: int, wanted: int) -> int:
        rows = list(zip(s.carried, s.body.yields, strict=True))
        head, before = later, -1
        params = self.bits(ir.inner_defs_of(s))
        wanted = self.bits(c.param for c in s.carried if self._is_wanted(c.result, wanted))
        while head | wanted != before:
            before = head | wanted
            given = self.bits(y for c, y in rows if self._is_wanted(c.param, wanted))
            found = self._read_in(s.body, head | given | self.bits([s.leave])) | later
            found = self._read_in(s.test, found) if isinstance(s, ir.While) else found
            wanted |= found & params
            head |= found & ~params
        self.heads[id(s)] = head | wanted
        return head | self.bits(c.init for c in s.carried if self._is_wanted(c.param, wanted))
