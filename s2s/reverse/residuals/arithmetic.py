"""Arithmetic on arrays of an iteration that the reverse sweep recomputes from what is kept anyway.

    for _ in range(steps):                         for _ in reversed(range(steps)):
        saved_u.append(u)                              u = saved_u.pop()
        free = 1.0 - u                    ->           free = 1.0 - u
        u = u + rate * free * u                        ...

Keeping it takes memory that grows with the number of iterations: writing to that takes longer than a few operations on
memory that is used again. Where several values are made of one array each, that array is kept in their place.
"""

from __future__ import annotations

import operator
from collections import Counter
from math import prod
from typing import TYPE_CHECKING

from s2s.core import ir
from s2s.core.values import Array
from s2s.optimize.sink import mentions
from s2s.reverse.residuals.costs import ARRAY_OPERATION, ARRAY_QUOTIENT, costs_less, is_array_arithmetic
from s2s.reverse.residuals.sweep import Sweep

if TYPE_CHECKING:
    from s2s.reverse.residuals.planner import Planner

__all__ = ["add_formulas", "is_arithmetic", "put_before_readers", "request_origins"]

SHORT = 256
"""How many items an array has that NumPy keeps faster than it recomputes it."""


def request_origins(planner: Planner, sweep: Sweep) -> None:
    """Ask for the arrays of a block of which two or more of those are made that its reverse asks for."""
    if sweep.region.residual_loop() is None:
        return
    made_of: Counter[ir.Var] = Counter()
    for var, back in sweep.requests.items():
        missing: dict[ir.Var, ir.Let | None] = {}
        if _is_short(planner, var) or not _trace(planner, sweep, var, set(sweep.requests) - {var}, {}, missing):
            continue
        origins = [a for a, let in missing.items() if let is None]
        if len(origins) == 1 and origins[0] != var and planner.is_read(sweep, var, back, {}):
            made_of[origins[0]] += 1
    for origin, times in made_of.items():
        known = planner.context.value(origin)
        if times > 1 and isinstance(known, Array) and planner.home.get(origin) is sweep.region:
            planner.use(sweep, origin)


def add_formulas(
    planner: Planner, sweep: Sweep, var: ir.Var, given: set[ir.Var], formulas: dict[ir.Var, ir.Let]
) -> bool:
    """Add to the formulas of a block those that recompute an array from what is ``given`` there; whether they are
    few."""
    plan: dict[ir.Var, ir.Let | None] = {}
    if _is_short(planner, var) or not _trace(planner, sweep, var, given, formulas, plan):
        return False
    made = {target: let for target, let in plan.items() if let is not None}
    if len(made) < len(plan):
        return False
    formulas.update(made)
    return True


def _is_short(planner: Planner, var: ir.Var) -> bool:
    """Whether it is no array, or one that is known to be short, or taken to be: a piece of what the loops run over has
    fewer axes than there are loops."""
    known = planner.context.value(var)
    if not isinstance(known, Array) or known.shape is None:
        return True
    if planner.is_compiled:
        return False
    loops = sum(region.is_loop for region in planner.home[var].path_from(planner.root))
    is_constant = all(dim.is_constant for dim in known.shape)
    return len(known.shape) < loops or (is_constant and prod(dim.offset for dim in known.shape) <= SHORT)


def _trace(
    planner: Planner, sweep: Sweep, var: ir.Var, given: set[ir.Var], formulas: dict[ir.Var, ir.Let],
    plan: dict[ir.Var, ir.Let | None],
) -> bool:
    """Add to a plan the operations that an array is made by; None for an operand that no cheap one gives. Whether they
    are few."""
    if var in formulas or var in plan:
        return True
    let = planner.definition(sweep, var)
    if let is None or not (is_arithmetic(planner, let) or planner.is_cheap(let)):
        plan[var] = None
        return True
    for atom in ir.atoms_of(let.value):
        if isinstance(atom, ir.Var) and not planner.is_there(sweep, atom, given):
            if not _trace(planner, sweep, atom, given, formulas, plan):
                return False
    plan[var] = let
    return costs_less(sum(_cost(planner, let) for let in plan.values() if let is not None))


def _cost(planner: Planner, let: ir.Let) -> int:
    if not is_arithmetic(planner, let):
        return 1
    assert isinstance(let.value, ir.Call)
    is_quotient = let.value.fn == ir.Const(operator.truediv)
    divided = isinstance(planner.context.value(let.value.args[-1]), Array)  # type: ignore[arg-type]
    return ARRAY_QUOTIENT if is_quotient and divided else ARRAY_OPERATION


def is_arithmetic(planner: Planner, let: ir.Let) -> bool:
    """Whether a statement is arithmetic on arrays that do not change."""
    value = let.value
    return (
        isinstance(value, ir.Call) and let.target is not None and is_array_arithmetic(value)
        and isinstance(planner.context.value(let.target), Array) and not planner.may_be_another(let)
        and not any(planner.is_buffer(a) for a in (let.target, *value.args))  # type: ignore[arg-type]
    )


def put_before_readers(statements: list[ir.Statement], targets: set[ir.Atom]) -> list[ir.Statement]:
    """The statements of a block, those that recompute arrays right before what reads these first."""
    for place in range(len(statements) - 2, -1, -1):
        moving = statements[place]
        if not isinstance(moving, ir.Let) or moving.target is None or moving.target not in targets:
            continue
        until = place + 1
        while until < len(statements) and not mentions(statements[until], {moving.target}):
            until += 1
        if until < len(statements):
            span = getattr(statements[until], "span", None)
            statements[place:until] = [*statements[place + 1 : until], ir.replace(moving, span=span)]
    return statements
