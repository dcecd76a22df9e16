"""The reverse of one block while it is written: its cotangents so far, and the residuals that it asks for."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from s2s.analysis.regions import Region
from s2s.builder.builder import Builder
from s2s.core import ir

if TYPE_CHECKING:
    from s2s.reverse.residuals.duplicates import Handover

__all__ = ["Bars", "Key", "Sweep"]

Key = tuple[ir.Var, tuple[Any, ...]]
"""What a cotangent is of: a variable, and the path to a part of it."""


@dataclass(eq=False)
class Sweep:
    """The reverse of one block: cotangents so far, and the residuals that are there from its start on; ``late`` are
    those that are found in the midst of it only. ``item`` is the variable of the loop of which it is the body."""

    builder: Builder
    region: Region
    parent: Sweep | None
    is_loop: bool = False
    item: ir.Var | None = None
    bars: Bars = field(default_factory=lambda: Bars())
    buffers: set[Key] = field(default_factory=set)
    accumulators: dict[Key, ir.Var] = field(default_factory=dict)
    restored: dict[ir.Var, ir.Atom] = field(default_factory=dict)
    requests: dict[ir.Var, ir.Var] = field(default_factory=dict)
    late: set[ir.Var] = field(default_factory=set)
    prologue: list[ir.Statement] = field(default_factory=list)
    handed_over: list[Handover] = field(default_factory=list)

    def holding(self, key: Key) -> Sweep | None:
        """The nearest sweep that has a cotangent for a key."""
        sweep: Sweep | None = self
        while sweep is not None and key not in sweep.bars:
            sweep = sweep.parent
        return sweep

    def of(self, region: Region) -> Sweep:
        """The sweep around this one that is the reverse of a region."""
        sweep = self
        while sweep.region is not region:
            assert sweep.parent is not None, "a variable is read outside the block that defines it"
            sweep = sweep.parent
        return sweep

    def outside_loops(self, home: Region) -> Sweep:
        """The sweep just outside the outermost loop between here and a region; this one where there is none."""
        outermost, sweep = self, self
        while sweep.region is not home and sweep.parent is not None:
            if sweep.is_loop:
                outermost = sweep.parent
            sweep = sweep.parent
        return outermost

    def named(self, atom: ir.Atom, name: str) -> ir.Atom:
        """The atom, its variable renamed where it was just made for this purpose and nothing else knows it."""
        context = self.builder.context
        if not isinstance(atom, ir.Var) or self._is_bar(atom):
            return atom
        return context.renamed(self.builder, atom, name)

    def _is_bar(self, var: ir.Var) -> bool:
        sweep: Sweep | None = self
        while sweep is not None:
            if sweep.bars.holds(var):
                return True
            sweep = sweep.parent
        return False


class Bars(dict[Key, ir.Atom]):
    """Cotangents by what they are of."""

    def __init__(self) -> None:
        super().__init__()
        self._count: Counter[ir.Atom] = Counter()

    def __setitem__(self, key: Key, bar: ir.Atom) -> None:
        if key in self:
            self._count[self[key]] -= 1
        self._count[bar] += 1
        super().__setitem__(key, bar)

    def holds(self, bar: ir.Atom) -> bool:
        """Whether an atom is one of the cotangents."""
        return self._count[bar] > 0
