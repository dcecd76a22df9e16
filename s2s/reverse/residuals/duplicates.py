"""Values that the reverse sweep has already under another name: none of them is kept a second time.

    for i in range(n):                  w = y                              (as the last iteration left it)
        saved_y[i] = y                  for i in reversed(range(n)):
        w = np.tanh(y)          ->          y = saved_y[i]
        ...                                 ...                            (reads y and w)
        y = w                               w = y

A value is the same as another one where the same operation on the same values gives it, where it is what a branch makes
of a variable that is there after the branch, and where the next iteration begins with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from s2s.core import ir
from s2s.reverse.residuals.costs import gives_the_same
from s2s.reverse.residuals.decisions import Reason
from s2s.reverse.residuals.sweep import Sweep

if TYPE_CHECKING:
    from s2s.reverse.residuals.planner import Planner

__all__ = ["Handover", "find_same", "hand_over", "number_values"]


@dataclass(frozen=True)
class Handover:
    """A value that an iteration of the reverse sweep hands to the one after it, which is the one before it in the
    primal: ``back`` is what it is called there, ``init`` what it is for the first one."""

    back: ir.Var
    init: ir.Atom
    following: ir.Atom


def number_values(planner: Planner) -> dict[ir.Var, ir.Var]:
    """For variables of loops that the same operation on the same values gives as one before, that one."""
    numbers: dict[ir.Var, ir.Var] = {}
    seen: dict[Any, ir.Var] = {}
    for var, let in planner.lets.items():
        value = let.value
        if planner.home[var].residual_loop() is None or not isinstance(value, ir.Call) or value.kwargs:
            continue
        if not isinstance(value.fn, ir.Const) or not gives_the_same(value.fn.value) or planner.may_be_another(let):
            continue
        if planner.is_buffer(var) or any(isinstance(a, ir.Star) or planner.is_buffer(a) for a in value.args):
            continue
        key = (value.fn, *(numbers.get(a, a) for a in value.args))  # type: ignore[arg-type]
        first = seen.setdefault(key, var)
        if first is not var:
            numbers[var] = first
    return numbers


def find_same(planner: Planner, sweep: Sweep, var: ir.Var, kept: list[ir.Var]) -> tuple[ir.Var, ir.Atom] | None:
    """A variable that holds the same as another one in every iteration, and what it is called in the reverse: one that
    is kept, or that the reverse of a block around reads."""
    found = _after_branch(planner, sweep, var)
    if found is not None:
        return found
    number = planner.numbers.get(var, var)
    for other in kept:
        if planner.numbers.get(other, other) == number:
            return other, sweep.requests[other]
    loop, around = sweep.region.residual_loop(), sweep.parent
    while around is not None and around.region.residual_loop() is loop:
        for other, back in around.requests.items():
            if planner.numbers.get(other, other) == number and not planner.is_buffer(other):
                return other, back
        around = around.parent
    return None


def _after_branch(planner: Planner, sweep: Sweep, var: ir.Var) -> tuple[ir.Var, ir.Atom] | None:
    """The variable that a branch makes of another one, where the reverse of what is after the branch reads it."""
    statement, outer = sweep.region.statement, sweep.parent
    if not isinstance(statement, (ir.If, ir.Try)) or outer is None or sweep.region.is_replayed:
        return None
    sides = ir.sides_of(statement)
    side = sweep.region.side if isinstance(statement, ir.If) else sweep.region.side - 1
    for result, given in zip(statement.results, sides[side].yields, strict=True):
        if given == var and result in outer.requests and result not in planner.unbound:
            if _is_kept_alike(planner, outer, var, result):
                return result, outer.requests[result]
    return None


def hand_over(planner: Planner, sweep: Sweep, var: ir.Var) -> ir.Var | None:
    """Let an iteration of the reverse sweep hand on what the next iteration of the primal begins with, where that is
    asked for: the parameter that it begins with."""
    statement, outer = sweep.region.statement, sweep.parent
    if not isinstance(statement, (ir.For, ir.While)) or not sweep.is_loop or outer is None:
        return None
    for c, given in zip(statement.carried, statement.body.yields, strict=True):
        if given != var or c.param == var or c.param not in sweep.requests or c.init == ir.UNDEFINED:
            continue
        if not planner.unbound.isdisjoint((var, c.param, c.result)) or not _is_kept_alike(planner, sweep, var, c.param):
            continue
        back, init = sweep.requests[var], planner.use(outer, c.result)
        sweep.handed_over.append(Handover(back, init, sweep.requests[c.param]))
        planner.plan.add(var, "in scope", Reason.NEXT_ITERATION, c.param, planner.span_of(var))
        return c.param
    return None


def _is_kept_alike(planner: Planner, sweep: Sweep, var: ir.Var, other: ir.Var) -> bool:
    """Whether keeping one of two variables that are the same object gives what keeping the other one would: an array of
    numbers makes them of its type."""
    if planner.is_buffer(var) or planner.is_buffer(other):
        return False
    known = planner.context.value(other)
    return known == planner.context.value(var) or not planner.storage.is_array(sweep.region, known)
