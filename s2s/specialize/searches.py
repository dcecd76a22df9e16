"""Searches in code that is differentiated: a loop that finds a point by comparisons goes in, and the point comes out as
the solution of the equation that they compare.

    for _ in range(50):
        mid = 0.5 * (lo + hi)                                    def residual(x):
        if g(mid, a) > b:                                            return g(x, a) - b
            hi = mid                            ->
        else:                                                    lo = attached(residual, lo)
            lo = mid

The statements that the comparison depends on are cut out of the specialised loop, up to the point that is tried.
"""

from __future__ import annotations

import contextlib
import operator
from typing import TYPE_CHECKING

from s2s.analysis.memory import changed_by, shared_with
from s2s.analysis.steps.searches import Equation, equation_of, find_searches, unneeded_solutions
from s2s.builder.builder import Builder, Context
from s2s.core import ir
from s2s.core.dataflow import along, reachable
from s2s.core.values import Scalar
from s2s.errors import DifferentiationError, error
from s2s.models import solutions
from s2s.notices import Notice
from s2s.optimize.rewriting import free_variables, substitute, substitute_all
from s2s.specialize.frames import Frame, FramedClosure, is_of_s2s
from s2s.specialize.site import At
from s2s.specialize.speculation import speculate

if TYPE_CHECKING:
    from s2s.specialize.specializer import Specializer

__all__ = ["settle_searches", "with_found_points"]


def with_found_points(
    specializer: Specializer, before: ir.For | ir.While, loop: ir.For | ir.While, frame: Frame, builder: Builder
) -> list[ir.Atom]:
    """What a loop leaves in the variables that it carries: of a search the points that it finds, as solutions of its
    equation. ``before`` is the loop that is specialised: where that is one of a derivative, it has them already."""
    context = specializer.context
    results: list[ir.Atom] = [c.result for c in loop.carried]
    if frame.has_decided and not context.found_points.isdisjoint(c.result for c in before.carried):
        context.found_points.update(c.result for c in loop.carried)
        return results
    if is_of_s2s(frame) or specializer.holding.is_by_iterations(loop.span):
        return results
    equation = equation_of(loop, context.value, context.is_varied)
    residual = None if equation is None else _Cut(loop, equation, context).residual()
    if equation is None or residual is None:
        return results
    with contextlib.suppress(DifferentiationError), speculate(specializer, builder, frame) as speculation:
        results = _solutions(specializer, loop, equation, residual, frame, speculation.builder)
    return results


def _solutions(
    specializer: Specializer, loop: ir.For | ir.While, equation: Equation, residual: ir.Function, frame: Frame,
    builder: Builder,
) -> list[ir.Atom]:
    """What a loop leaves, with the points as solutions of an equation."""
    context = specializer.context
    captures = tuple(free_variables(residual))
    residual = ir.replace(residual, captures=captures)
    known: dict[ir.Var, ir.Atom] = {v: v for v in captures}
    inside = Frame(specializer.function or frame.fn, None, known, frame.called_from, has_decided=True)
    closure = context.define("residual", FramedClosure(residual, captures, (), inside), True)
    found, width = list[ir.Atom](), _width(loop, equation, context, builder)
    for c, following in zip(loop.carried, loop.body.yields, strict=True):
        if c.param not in equation.points:
            found.append(c.result)
            continue
        context.found_points.add(c.result)
        at = At(specializer, frame, builder.child(), loop.span, c.result.name)
        solution = at.inline(solutions.searched, [closure, c.result, width])
        point = at.apply(solutions.attached, closure, solution, *_solver(context, c.result))
        found.append(_where_bound(context, builder, at.builder, loop, c, following, point))
    return found


def settle_searches(function: ir.Function, specializer: Specializer) -> ir.Function:
    """The function with the points whose derivatives nobody reads as they were found. Refuses searches of which no
    equation is known, unless a policy says that the derivatives of their iterations are meant: then they are told."""
    context = specializer.context
    unneeded = unneeded_solutions(function, context.value, context.is_varied)
    function = substitute_all(function, unneeded) if unneeded else function
    for span in find_searches(function, context.value, context.is_varied):
        name = span.function or function.name
        if span not in specializer.holding.by_iterations:
            raise error("S2S548", span=span, name=name)
        context.notices.append(Notice("SearchWarning", _TOLD.format(name=name), span.file, span.line, function.name))
    return function


_TOLD = (
    "`{name}` finds a point by comparisons: its result has the derivative of the iterations of this loop, not that of "
    "the point, as the policy is nonsmooth(search=\"zero\")"
)


def _width(loop: ir.For | ir.While, equation: Equation, context: Context, builder: Builder) -> ir.Atom:
    """How far two points are from each other that a search has left."""
    left = [
        c.result for c, following in zip(loop.carried, loop.body.yields, strict=True)
        if c.param in equation.points and (c.init != ir.UNDEFINED or following not in context.unbound)
    ]
    return builder.call(operator.sub, left[0], left[1], span=loop.span) if len(left) > 1 else ir.Const(0.0)


def _solver(context: Context, found: ir.Var) -> tuple[ir.Const, ...]:
    """How the equation is solved for a tangent: item by item, where there may be more than one."""
    return () if isinstance(context.value(found), Scalar) else (ir.Const(solutions.by_elements),)


def _where_bound(
    context: Context, builder: Builder, made: Builder, loop: ir.For | ir.While, c: ir.Carried, following: ir.Atom,
    point: ir.Atom,
) -> ir.Atom:
    """The point, in a branch of its own where only an iteration that ends the loop has found it."""
    unbound = context.unbound
    if not isinstance(point, ir.Var):
        return c.result
    if c.init != ir.UNDEFINED or following not in unbound or loop.left is None:
        builder.take(made)
        found = point
    else:
        found = context.define(c.result.name, context.value(point), True)
        builder.add(ir.If(loop.left, made.block(point), ir.Block((), (ir.UNDEFINED,)), (found,), loop.span))
    if c.result in unbound:
        unbound[found] = unbound[c.result]
    return found


class _Cut:
    """The statements of an iteration that its comparison depends on."""

    def __init__(self, loop: ir.For | ir.While, equation: Equation, context: Context) -> None:
        self.loop, self.equation, self.context = loop, equation, context
        self.statements = [*ir.walk(loop.body)]
        self.made = {v: k for k, s in enumerate(self.statements) for v in ir.defs_of(s)}
        self.moving = {c.param for c in loop.carried} - equation.unknown
        self.moving |= {v for s in (loop, *self.statements) for v in ir.inner_defs_of(s)} - equation.unknown

    def residual(self) -> ir.Function | None:
        """The equation as a function of the unknown, which captures what is there before the loop. None where it
        depends on what else changes from iteration to iteration."""
        left, right = self.equation.left, self.equation.right
        kept: set[int] = set()
        needed = [a for a in (left, right) if isinstance(a, ir.Var)]
        while needed:
            var = needed.pop()
            if var in self.equation.unknown:
                continue
            if var in self.moving:
                return None
            place = self.made.get(var)
            if place is not None and place not in kept:
                kept.add(place)
                needed += free_variables(ir.Function("", (), ir.Block((self.statements[place],))))
        chosen = [self.statements[k] for k in sorted(kept)]
        if self.changes(chosen):
            return None
        x = self.context.fresh("x")
        unknown: dict[ir.Atom, ir.Atom] = dict.fromkeys(self.equation.unknown, x)
        difference = self.context.fresh("%")
        call = ir.Call(ir.Const(operator.sub), (unknown.get(left, left), unknown.get(right, right)))
        body = (*(substitute(s, unknown) for s in chosen), ir.Let(difference, call, self.loop.span))
        return ir.Function("residual", (ir.Param(x),), ir.Block(body, (difference,)), span=self.loop.span)

    def changes(self, chosen: list[ir.Statement]) -> bool:
        """Whether statements of the loop that are not among the chosen ones change memory which these read."""
        inside = {id(s) for one in chosen for s in (one, *(s for b in ir.blocks_of(one) for s in ir.walk(b)))}
        changed = [changed_by(s) for s in self.statements if id(s) not in inside]
        if not any(isinstance(a, ir.Var) for a in changed):
            return False
        edges: list[tuple[ir.Var, ir.Var]] = []
        for s in self.statements:
            if isinstance(s, ir.Let) and s.target is not None:
                edges += [(s.target, a) for a in shared_with(s.value, self.context.value(s.target), self.context.value)]
            edges += [(v, a) for vs, given in ir.joins_of(s) for v in vs for a in given if isinstance(a, ir.Var)]
        edges += [(c.param, a) for c, following in zip(self.loop.carried, self.loop.body.yields, strict=True)
                  for a in (c.init, following) if isinstance(a, ir.Var)]
        both = along([*edges, *((b, a) for a, b in edges)])
        read = free_variables(ir.Function("", (), ir.Block(tuple(chosen))))
        own = [v for s in chosen for v in ir.defs_of(s)]
        return not reachable([*read, *own], both).isdisjoint(changed)
