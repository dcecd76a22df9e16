"""Values that are the same in every trip of a loop, which the reverse sweep computes once, before its loop.

    for _ in range(steps):
        middle = 0.5 * (k[1:] + k[:-1])
        u[:-1] += middle * flux

Nothing changes ``k`` in the loop, so ``middle`` is not kept for every trip.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import numpy as np

from s2s import ir, ops
from s2s.passes.dead import is_pure
from s2s.passes.regions import Region
from s2s.rules import table

if TYPE_CHECKING:
    from s2s.passes.crossing import Crossing, Sweep

MOST = 12
"""How many operations are done again for one value."""

_SYNTAX = {slice, ops.make_tuple, getattr}
_NEVER_WARN = _SYNTAX | {
    operator.add, operator.sub, operator.mul, operator.neg, operator.pos, operator.getitem, np.transpose,
}
"""Operations that a branch may hold: they are computed also where it is not taken."""


def hoist(self: Crossing, sweep: Sweep, var: ir.Var, back: ir.Var) -> bool:
    """Define ``back``, which the reverse of a trip reads for ``var``, before the loops in which it is always the same;
    False where there are none."""
    outermost, plan = None, dict[ir.Var, ir.Let]()
    loop = sweep.region.innermost_loop()
    while loop is not None:
        found: dict[ir.Var, ir.Let] = {}
        if not _collect(self, var, loop, found):
            break
        outermost, plan = loop, found
        loop = loop.parent.innermost_loop() if loop.parent is not None else None
    if outermost is None:
        return False
    outer = sweep.of(outermost).parent
    assert outer is not None
    done: dict[ir.Atom, ir.Atom] = {}
    for target, let in plan.items():
        mapping = {a: done.get(a) or self.operand(outer, a, outer.builder.statements) for a in ir.atoms_of(let.value)}
        value = ir.map_atoms(let.value, lambda a, m=mapping: m.get(a, a))  # type: ignore[misc]
        varied = target in self.context.varied
        again = back if target == var else self.context.define(target.name, self.context.value(target), varied, value)
        self.context.definitions[again] = value
        done[target] = again
        outer.builder.add(ir.Let(again, value, let.span))
    return True


def _collect(self: Crossing, var: ir.Var, loop: Region, plan: dict[ir.Var, ir.Let]) -> bool:
    """Add to a plan the operations that compute a variable; whether they give the same in every trip of a loop."""
    if var in plan:
        return True
    let = self.lets.get(var)
    if let is None or self.is_buffer(var) or len(plan) >= MOST or self.may_be_another(let):
        return False
    if not isinstance(let.value, ir.Call) or not isinstance(let.value.fn, ir.Const):
        return False
    fn = let.value.fn.value
    if not is_pure(fn) or (table.find(fn) is None and fn not in _SYNTAX):
        return False
    if any(isinstance(a, ir.Star) for a in let.value.args):
        return False
    if fn not in _NEVER_WARN and _is_conditional(self.home[var], loop):
        return False
    for atom in ir.atoms_of(let.value):
        if not isinstance(atom, ir.Var):
            continue
        if atom not in self.home or self.is_buffer(atom):
            return False
        if self.home[atom].inside(loop) and not _collect(self, atom, loop, plan):
            return False
    plan[var] = let
    return True


def _is_conditional(home: Region, loop: Region) -> bool:
    """Whether trips of a loop may leave a region out."""
    return any(region is not loop and not region.is_loop for region in home.path_from(loop))


__all__ = ["hoist"]
