"""Lifetimes: whether a variable may still be read after a place of the function.

A read counts where it may run later: it stands after the place and not in the other side of a branch, or a loop around
both comes back to it, with the variable as it was before the loop.
"""

from __future__ import annotations

from dataclasses import dataclass

from s2s.core import ir


@dataclass(frozen=True)
class Place:
    """A place of a function: its number in the order of the text, and the blocks that it lies in, from the outermost
    one: the statement of each, whether that is a loop, and which side of a branch the block is."""

    clock: int
    blocks: tuple[tuple[int, bool, int], ...]

    def excludes(self, other: Place) -> bool:
        """Whether the two lie in different sides of one branch, of which one run takes one."""
        return any(a != b and a[0] == b[0] for a, b in zip(self.blocks, other.blocks, strict=False))


class Lifetimes:
    """Where the variables of a function in SSA form are defined and read."""

    def __init__(self, function: ir.Function) -> None:
        self.born: dict[ir.Var, Place] = {p.var: Place(0, ()) for p in function.params}
        self.reads: dict[ir.Var, list[Place]] = {}
        self.places: dict[int, Place] = {}  # of the statements, by their ``id``
        self.clock = 0
        self._block(function.body, ())

    def _place(self, blocks: tuple[tuple[int, bool, int], ...]) -> Place:
        self.clock += 1
        return Place(self.clock, blocks)

    def _read(self, atom: ir.Atom, place: Place) -> None:
        if isinstance(atom, ir.Var):
            self.reads.setdefault(atom, []).append(place)

    def _block(self, block: ir.Block, blocks: tuple[tuple[int, bool, int], ...]) -> None:
        for s in block.statements:
            place = self.places[id(s)] = self._place(blocks)
            for atom in ir.reads_of(s):
                self._read(atom, place)
            is_loop, branches = isinstance(s, (ir.For, ir.While)), isinstance(s, ir.If)
            for c in s.carried if isinstance(s, (ir.For, ir.While)) else ():
                self._read(c.init, place)
                self.born[c.param] = Place(place.clock, (*blocks, (id(s), True, 0)))
            for side, inner in enumerate(ir.blocks_of(s)):
                inside = (*blocks, (id(s), is_loop, side if branches else 0))
                self._block(inner, blocks if isinstance(s, ir.With) else inside)
            after = self._place(blocks)
            self.born |= {var: after for var in ir.defs_of(s) if var not in self.born}
        place = self._place(blocks)
        for atom in block.yields:
            self._read(atom, place)

    def is_read_after(self, var: ir.Var, place: Place) -> bool:
        """Whether a variable that has its value at a place may be read when that is over."""
        born = self.born.get(var)
        if born is None or born.clock >= place.clock or born.excludes(place):
            return False
        return any(self._may_follow(read, place, born) for read in self.reads.get(var, ()))

    def _may_follow(self, read: Place, place: Place, born: Place) -> bool:
        inside = {block[0] for block in read.blocks[len(born.blocks) :] if block[1]}
        if any(block[0] in inside for block in place.blocks):
            return True
        return read.clock > place.clock and not read.excludes(place)
