"""Induction variables: integers that grow by the same amount in each iteration of a loop. Nothing of them is kept.

    k = 1                               for i in reversed(range(n)):
    for i in range(n):                      k = 1 + 2 * i
        y = y * np.sin(k * y)    ->         ...
        k = k + 2

The formula of such a variable is one more definition of it for the planner, so that what is made of it is recomputed
too. Floats are kept: rounding makes the sum another number than the product.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from s2s.analysis.regions import Region
from s2s.core import ir
from s2s.core.operators import SIGNS
from s2s.core.values import Scalar
from s2s.optimize.ranges import constant_range
from s2s.reverse.residuals.sweep import Sweep

if TYPE_CHECKING:
    from s2s.reverse.residuals.planner import Planner

__all__ = ["formula"]

_SUMS = frozenset(map(ir.Const, SIGNS))


def formula(planner: Planner, sweep: Sweep, var: ir.Var) -> ir.Let | None:
    """A statement that gives an induction variable in the reverse of an iteration; None where it is none."""
    found = planner.carried.get(var)
    if found is None or not _is_int(planner, var):
        return None
    statement, k = found
    if var not in planner.formulas:
        planner.formulas[var] = _formula(planner, statement, var, k)
    made = planner.formulas[var]
    if made is not None and isinstance(statement, ir.While):
        holder = sweep.of(planner.home[var])
        assert holder.item is not None
        holder.restored[planner.indices[id(statement)]] = holder.item
        planner.indexed.add(id(statement))
    return made


def _formula(planner: Planner, statement: ir.For | ir.While, var: ir.Var, k: int) -> ir.Let | None:
    """``init + step * index``."""
    init, region = statement.carried[k].init, planner.home[var]
    step = _step(planner, region, statement.body.yields[k], var)
    if step is None or not _is_int(planner, init):
        return None
    index = _index(planner, statement, region)
    if index is None:
        return None
    sign, amount = step
    if amount == ir.Const(1):
        grown = index
    else:
        grown = _let(planner, region, ir.Call(ir.Const(operator.mul), (amount, index)), statement.span)
    if init == ir.Const(0) and sign is operator.add:
        value: ir.Value = grown if grown == index else planner.lets[grown].value  # type: ignore[index]
    else:
        value = ir.Call(ir.Const(sign), (init, grown))
    return ir.Let(var, value, statement.span)


def _step(planner: Planner, region: Region, atom: ir.Atom, param: ir.Var) -> tuple[object, ir.Atom] | None:
    """What an iteration adds to a parameter of a loop, or takes from it: an operator and an amount."""
    added, others = 0, list[tuple[object, ir.Atom]]()
    while atom != param:
        if not isinstance(atom, ir.Var):
            return None
        one = _last_step(planner, region, atom)
        if one is None:
            return None
        sign, amount, atom = one
        if isinstance(amount, ir.Const):
            added += SIGNS[sign] * amount.value
        else:
            others.append((sign, amount))
    if not others:
        return operator.add, ir.Const(added)
    return others[0] if len(others) == 1 and not added else None


def _last_step(planner: Planner, region: Region, atom: ir.Var) -> tuple[object, ir.Atom, ir.Atom] | None:
    """The last thing that is added to get a variable, and to what."""
    let = planner.lets.get(atom)
    if let is not None:
        if not isinstance(let.value, ir.Call) or let.value.fn not in _SUMS or not _is_int(planner, atom):
            return None
        sign = let.value.fn.value  # type: ignore[union-attr]
        first, second = let.value.args
        if _is_invariant(planner, region, second):
            return sign, second, first  # type: ignore[return-value]
        if sign is operator.add and _is_invariant(planner, region, first):
            return sign, first, second  # type: ignore[return-value]
        return None
    loop, k = planner.results.get(atom, (None, 0))
    if not isinstance(loop, ir.For) or loop.leave is not None:
        return None
    over, c = constant_range(planner.context, loop.iterable), loop.carried[k]
    step = None if over is None else _step(planner, planner.home[c.param], loop.body.yields[k], c.param)
    if step is None or not isinstance(step[1], ir.Const) or not _is_int(planner, c.init):
        return None
    assert over is not None
    return step[0], ir.Const(len(over) * step[1].value), c.init


def _is_int(planner: Planner, atom: object) -> bool:
    """Whether an atom is an integer of Python, which has no bounds."""
    if isinstance(atom, ir.Const):
        return type(atom.value) is int
    known = planner.context.value(atom) if isinstance(atom, ir.Var) else None
    return isinstance(known, Scalar) and known.type is int and atom not in planner.unbound


def _is_invariant(planner: Planner, region: Region, atom: object) -> bool:
    """Whether an atom is an integer from outside a loop."""
    if not _is_int(planner, atom):
        return False
    return isinstance(atom, ir.Const) or not planner.home[atom].inside(region)  # type: ignore[index]


def _index(planner: Planner, statement: ir.For | ir.While, region: Region) -> ir.Atom | None:
    """The number of iterations before the present one."""
    if isinstance(statement, ir.While):
        if id(statement) not in planner.indices:
            made = planner.context.define("i", Scalar(int))
            planner.indices[id(statement)] = planner.note(made, region)
        return planner.indices[id(statement)]
    bounds = planner.context.definition(statement.iterable, range)
    if bounds is None or not all(_is_int(planner, b) for b in bounds):
        return None
    start, step = (bounds[0] if len(bounds) > 1 else ir.Const(0)), (bounds[2] if len(bounds) > 2 else ir.Const(1))
    if step == ir.Const(1):
        if start == ir.Const(0):
            return statement.item
        return _let(planner, region, ir.Call(ir.Const(operator.sub), (statement.item, start)), statement.span)
    if step == ir.Const(-1):
        return _let(planner, region, ir.Call(ir.Const(operator.sub), (start, statement.item)), statement.span)
    far = _let(planner, region, ir.Call(ir.Const(operator.sub), (statement.item, start)), statement.span)
    return _let(planner, region, ir.Call(ir.Const(operator.floordiv), (far, step)), statement.span)


def _let(planner: Planner, region: Region, value: ir.Call, span: ir.Span | None) -> ir.Var:
    """A step of a formula, as the planner knows the statements of the primal."""
    made = planner.note(planner.context.define("%", Scalar(int), False, value), region)
    planner.lets[made] = ir.Let(made, value, span)
    return made
