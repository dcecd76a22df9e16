"""The reverse sweep as a place where bodies of rules are written: what they read of the primal is asked for there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from s2s.core import ir
from s2s.reverse.residuals.recompute import recompute
from s2s.reverse.residuals.sweep import Sweep
from s2s.specialize.rule_bodies import Destination, Template

if TYPE_CHECKING:
    from s2s.reverse.sweeps import Reverser

__all__ = ["InSweep"]


@dataclass
class InSweep(Destination):
    """The reverse of one block. Of an argument of which only the shape is read, that of another array will do."""

    reverser: Reverser
    sweep: Sweep

    def operand(self, template: Template, stand_in: ir.Atom, atom: ir.Atom) -> ir.Atom:
        reverser, sweep = self.reverser, self.sweep
        how = template.operands[stand_in]
        if how == "content":
            reverser.note_read(atom)
            done = recompute(reverser, sweep, atom)
            return reverser.use(sweep, atom) if done is None else done
        source = reverser.context.shape_source(atom) if how == "shape" else atom
        return reverser.use(sweep, reverser.like(atom) if source == atom else source)

    def argument(self, atom: ir.Atom) -> ir.Atom:
        return self.reverser.use_content(self.sweep, atom)
