"""Values that are the same in every iteration of a loop, however they are computed: also by branches and loops.

What decides it is what they are computed from: constants, variables from outside the loop that nothing changes, and
what the branches and loops that compute them define themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from s2s.analysis.regions import Region
from s2s.core import ir
from s2s.reverse.residuals.costs import INVARIANT_AT_MOST, gives_the_same

if TYPE_CHECKING:
    from s2s.reverse.residuals.planner import Planner

__all__ = ["is_invariant"]


def is_invariant(planner: Planner, var: ir.Var, loop: Region, within: frozenset[int] = frozenset()) -> bool:
    """Whether a variable is the same in every iteration of a loop; of the loops ``within`` it, by ``id``, for the same
    items."""
    known = {} if within else planner.invariant.setdefault(loop, {})
    if var in known:
        return known[var]
    todo: list[ir.Atom] = [var]
    seen: set[ir.Atom] = set()
    inside: set[int] = set()
    while todo:
        atom = todo.pop()
        if atom in seen or isinstance(atom, ir.Const) or known.get(atom):
            continue
        seen.add(atom)
        if isinstance(atom, ir.Var) and planner.items.get(atom) in within:
            continue
        needed = None if len(seen) > INVARIANT_AT_MOST else _needed(planner, atom, loop, inside)
        if needed is None:
            known[var] = False
            return False
        todo += needed
    known[var] = True
    return True


def _needed(planner: Planner, atom: ir.Atom, loop: Region, inside: set[int]) -> list[ir.Atom] | None:
    """What an atom depends on, None where that is not known to be the same in every iteration; ``inside`` are the loops
    of which what they come to is asked: their own variables are no reason for it to differ."""
    if not isinstance(atom, ir.Var) or atom not in planner.home or planner.is_buffer(atom):
        return None
    if atom == ir.UNDEFINED or atom in planner.unbound:
        return None
    if not planner.home[atom].inside(loop):
        return []
    let = planner.lets.get(atom)
    if let is not None:
        return _operands(planner, let)
    if atom in planner.joined:
        branch, k = planner.joined[atom]
        return [branch.test, branch.then.yields[k], branch.orelse.yields[k]]
    if atom in planner.results:
        statement, k = planner.results[atom]
        inside.add(id(statement))
        return [statement.carried[k].init, statement.body.yields[k], *_number_of_iterations(statement)]
    if atom in planner.counted:
        inside.add(id(planner.counted[atom]))
        return _number_of_iterations(planner.counted[atom])
    if atom in planner.items and planner.items[atom] in inside:
        return []
    if atom in planner.carried:
        statement, k = planner.carried[atom]
        if id(statement) in inside:
            return [statement.carried[k].init, statement.body.yields[k]]
    return None


def _number_of_iterations(loop: ir.For | ir.While) -> list[ir.Atom]:
    """What it depends on how many iterations a loop makes."""
    over = (loop.iterable,) if isinstance(loop, ir.For) else loop.test.yields
    return [*over, *(() if loop.leave is None else (loop.leave,))]


def _operands(planner: Planner, let: ir.Let) -> list[ir.Atom] | None:
    value = let.value
    if planner.may_be_another(let) or not isinstance(value, ir.Call) or not isinstance(value.fn, ir.Const):
        return None
    if not gives_the_same(value.fn.value) or any(isinstance(a, ir.Star) for a in value.args):
        return None
    return list(ir.atoms_of(value))
