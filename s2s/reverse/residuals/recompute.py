"""Arithmetic on buffers that the reverse sweep recomputes instead of keeping its result.

At the reverse of a statement the buffers hold what they held there. So a difference of two slices that the statement
read is there again for one operation, where keeping it for every iteration takes an array each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from s2s.analysis.abstract.lattice import is_number
from s2s.core import ir
from s2s.core.values import Array
from s2s.reverse.residuals.costs import ARRAY_ARITHMETIC, ARRAY_OPERATION, costs_less
from s2s.reverse.residuals.decisions import Reason
from s2s.reverse.residuals.sweep import Sweep
from s2s.reverse.residuals.undo import covered

if TYPE_CHECKING:
    from s2s.reverse.sweeps import Reverser


def recompute(reverser: Reverser, sweep: Sweep, atom: ir.Atom) -> ir.Atom | None:
    """An array of a loop's iteration, recomputed from buffers where it is needed; None where it must be kept."""
    if not isinstance(atom, ir.Var) or reverser.now not in reverser.placement.begins or atom in sweep.requests:
        return None
    plan: list[ir.Let] = []
    if not _collect(reverser, sweep, atom, plan) or not costs_less(len(plan), ARRAY_OPERATION):
        return None
    read = {reverser.memory.find(a) for let in plan for a in let.value.args if reverser.memory.is_buffer(a)}  # type: ignore
    stored = frozenset(id(s) for s in reverser.placement.statements if reverser.memory.find(s.target) in read)  # type: ignore
    if not read:
        return None
    if not stored <= reverser.undone_stores and stored not in reverser.repeated:
        reverser.kept_for.setdefault(stored, set()).add(atom)
        return None
    reverser.planner.plan.add(atom, "recompute", Reason.FROM_BUFFERS)
    mapping: dict[ir.Atom, ir.Atom] = {}
    for let in plan:
        assert let.target is not None
        for a in ir.atoms_of(let.value):
            if a not in mapping:
                reverser.note_read(a)
                mapping[a] = reverser.planner.use(sweep, a)
        value = ir.map_atoms(let.value, lambda a: mapping[a])
        varied = reverser.context.is_varied(let.target)
        target = reverser.context.define(let.target.name, reverser.context.value(let.target), varied, value)
        sweep.builder.add(ir.Let(target, value, let.span))
        mapping[let.target] = target
    return mapping[atom]


def worthwhile(reverser: Reverser) -> set[frozenset[int]]:
    """The groups of stores that are fewer than the arrays that would not be kept if they were undone."""
    return {
        stored for stored, kept in reverser.kept_for.items()
        if len(kept) > len(stored - reverser.undone_stores - covered(reverser, set(stored)))
    }


def _collect(reverser: Reverser, sweep: Sweep, var: ir.Var, plan: list[ir.Let]) -> bool:
    """Add to a plan the operations that make an array; whether all that they read is there."""
    if any(let.target == var for let in plan):
        return True
    let = reverser.planner.lets.get(var)
    region = reverser.planner.home.get(var)
    if let is None or region is not sweep.region or region.residual_loop() is None:
        return False
    if not costs_less(len(plan) + 1, ARRAY_OPERATION):
        return False
    if not isinstance(reverser.context.value(var), Array) or not isinstance(let.value, ir.Call):
        return False
    if let.value.fn not in ARRAY_ARITHMETIC or reverser.memory.is_buffer(var):
        return False
    for atom in let.value.args:
        if isinstance(atom, ir.Var) and not _is_there(reverser, sweep, atom, var):
            if not _collect(reverser, sweep, atom, plan):
                return False
    plan.append(let)
    return True


def _is_there(reverser: Reverser, sweep: Sweep, atom: ir.Var, result: ir.Var) -> bool:
    """Whether an operand can be read here as it was read there: a number, an array from before the loops, or a buffer
    that nothing has stored into since."""
    home = reverser.planner.home[atom]
    if not reverser.memory.is_buffer(atom):
        return is_number(reverser.context.value(atom)) or home.residual_loop() is None
    in_loop = home.residual_loop() is not None
    if in_loop and reverser.memory.base_of(atom) is None and atom not in reverser.memory.joined:
        return False
    return reverser.reading.is_unchanged(result, atom)


__all__ = ["recompute", "worthwhile"]
