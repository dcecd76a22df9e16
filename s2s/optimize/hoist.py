"""Values that are the same in every iteration of a loop, of which the reverse sweep needs one only.

    for _ in range(steps):
        middle = 0.5 * (k[1:] + k[:-1])
        u[:-1] += middle * flux

Nothing changes ``k`` in the loop, so ``middle`` is not kept for every iteration: the reverse sweep computes it before
its loop. What may raise (``k @ w``) is not computed there, where the loop may make no iteration: the primal may never
have computed it. It is left by the last iteration, and read by iterations only.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import numpy as np

from s2s.analysis.raising import NUMPY, raised_by
from s2s.analysis.regions import Region
from s2s.core import ir, ops
from s2s.optimize.dead import is_pure
from s2s.rules import table

if TYPE_CHECKING:
    from s2s.reverse.residuals.planner import Crossing, Sweep

MOST = 12
"""How many operations are done again for one value."""

_SYNTAX = {slice, ops.make_tuple, getattr}
_NEVER_WARN = _SYNTAX | {
    operator.add, operator.sub, operator.mul, operator.neg, operator.pos, operator.getitem, np.transpose,
}
"""Operations that a branch may hold: they are computed also where it is not taken."""


def hoist(self: Crossing, sweep: Sweep, var: ir.Var, back: ir.Var) -> bool:
    """Define ``back``, which the reverse of an iteration reads for ``var``, before the loops in which it is always the
    same; False where there are none."""
    outermost, plan, left_by = None, dict[ir.Var, ir.Let](), None
    loop = sweep.region.innermost_loop()
    while loop is not None:
        found: dict[ir.Var, ir.Let] = {}
        if not _collect(self, var, loop, found):
            break
        if all(_is_safe(self, let, loop) for let in found.values()):
            outermost, plan = loop, found
        elif _leaves(self, loop, var):
            left_by = loop
        loop = loop.parent.innermost_loop() if loop.parent is not None else None
    if outermost is None and left_by is not None:
        _read_last(self, sweep, var, back, left_by)
        return True
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


def _is_safe(self: Crossing, let: ir.Let, loop: Region) -> bool:
    """Whether an operation of a loop raises nothing before it that it does not raise there: it raises nothing but what
    floating-point errors are made, or the loop surely comes to it."""
    if raised_by(let, self.context.value) <= NUMPY:
        return True
    assert let.target is not None and loop.parent is not None
    return all(self.surely_runs(region) for region in self.home[let.target].path_from(loop.parent))


def _leaves(self: Crossing, loop: Region, var: ir.Var) -> bool:
    """Whether the last iteration of a loop has left a variable when the loop is over, where there was one, and nobody
    asks for it where there was none."""
    assert loop.parent is not None
    if loop.parent.scope() is not self.root or loop.parent.kept_loop() is not None:
        return False
    return all(region.is_body and not region.runs_again for region in self.home[var].path_from(loop.parent))


def _read_last(self: Crossing, sweep: Sweep, var: ir.Var, back: ir.Var, loop: Region) -> None:
    assert loop.parent is not None
    left = self.left_by_last(var, self.home[var].path_from(loop.parent))
    sweep.prologue.append(ir.Let(back, self.use(sweep, left)))


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
