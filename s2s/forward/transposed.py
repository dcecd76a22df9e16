"""Tangents by rules that have a cotangent only: its body is linear in the cotangent of the result, and the transpose of
that is what takes the tangent of the argument to the tangent of the result.

    a_bar = np.where(chosen, y_bar / number, 0.0)     ->      y_dot = np.sum(np.where(chosen, a_dot, 0.0)) / number

The body is written for a variable in the place of ``y_bar``, and a reverse sweep through what was written gives the
transpose. A body that is no straight line is transposed when the program runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from s2s.analysis.abstract.parts import Path, leaves
from s2s.core import ir, ops
from s2s.core.values import Unknown
from s2s.errors import UnsupportedSyntaxError
from s2s.optimize.dead import drop_dead_statements
from s2s.optimize.rewriting import substitute
from s2s.reverse.sweeps import Reverser
from s2s.rules import transposed
from s2s.specialize.frames import parameters_of
from s2s.specialize.rule_bodies import Destination, RuleBodies

if TYPE_CHECKING:
    from s2s.forward.sweep import Forwarder

__all__ = ["tangent"]


def tangent(
    forwarder: Forwarder, cotangent: Any, available: dict[str, Any], dot: Any, target: ir.Var, span: ir.Span | None
) -> dict[Path, ir.Atom]:
    """The tangent of ``target`` that the tangent ``dot`` of an argument makes, by the body for the cotangent of this
    argument: for each leaf that has one."""
    context, builder = forwarder.context, forwarder.builder
    dot = builder.call(ops.make_tuple, *dot, span=span) if isinstance(dot, tuple) else dot
    point, scratch, outside = context.define("%", context.value(target)), builder.child(), context.varied
    places = [path for path, _ in leaves(context.value(target))]
    context.varied = {point}
    try:
        bodies = RuleBodies(context, forwarder.specializer, follows=lambda atom: atom == point)
        bar = bodies.named(cotangent, {**available, "y_bar": point}, span, Destination(scratch))
        if _is_straight(forwarder, scratch.statements, cotangent, target):
            primal = ir.Function("transposed", (ir.Param(point),), scratch.block(bar), span=span)
            reversal = Reverser(context, forwarder.specializer, primal, False, {"inner": True}).reverse(dot, [point])
            found = {path: reversal.bars[point, path] for path in places if (point, path) in reversal.bars}
            if found or not context.is_varied(bar):  # nothing that was not followed counts as zero
                _add(forwarder, [*reversal.forward.statements, *reversal.reverse], found, {point: target})
                return found
    except UnsupportedSyntaxError:
        pass
    finally:
        context.varied = outside
    given = [available[name] for name in parameters_of(cotangent) if name != "y_bar"]
    whole = [builder.call(ops.make_tuple, *a, span=span) if isinstance(a, tuple) else a for a in given]
    whole_dot = builder.call(transposed.tangent, ir.Const(cotangent), target, dot, *whole, span=span)
    return {path: forwarder.read(whole_dot, path, span) for path in places}


def _add(
    forwarder: Forwarder, statements: list[ir.Statement], found: dict[Path, ir.Atom], names: dict[ir.Atom, ir.Atom]
) -> None:
    """Write the statements that ``found`` needs, and put there what these define: what a sweep calls a cotangent is a
    part of a tangent here, without a name."""
    context = forwarder.context
    live = {atom for atom in found.values() if isinstance(atom, ir.Var)}
    for s in drop_dead_statements(statements, live, context):
        s = substitute(s, names)
        if isinstance(s, ir.Let) and s.target is not None:
            made = context.define("%", context.value(s.target), False, s.value)
            names[s.target], s = made, ir.replace(s, target=made)
        forwarder.builder.add(s)
    found |= {path: names.get(atom, atom) for path, atom in found.items()}


def _is_straight(forwarder: Forwarder, statements: list[ir.Statement], body: Any, target: ir.Var) -> bool:
    """Whether a body was written out as a straight line, for a result of a known kind."""
    known = (value for _, value in leaves(forwarder.context.value(target)))
    if any(isinstance(value, Unknown) for value in known):
        return False
    calls = (s.value for s in statements if isinstance(s, ir.Let) and isinstance(s.value, ir.Call))
    return all(isinstance(s, ir.Let) for s in statements) and all(call.fn != ir.Const(body) for call in calls)
