"""Solutions of equations in code that is differentiated: ``attached(residual, found)`` of ``models.solutions`` goes in,
a call of ``solved`` comes out that has all that moves the solution among its arguments.

The residual is specialised on a parameter of its own, as a function whose derivative is taken. What it reads of the
program around it are then variables of numbers and arrays, also where the program has them in objects and closures.
"""

from __future__ import annotations

import itertools
from typing import Any

from s2s.analysis.abstract.parts import is_differentiable
from s2s.builder.builder import Context
from s2s.core import ir
from s2s.core.public import compiler, function
from s2s.core.values import AbstractValue, Array, Known, Scalar
from s2s.models.quadrature import integral, looked
from s2s.models.solutions import solved
from s2s.optimize.rewriting import substitute_all
from s2s.specialize.calls import functions
from s2s.specialize.calls.derivative_arguments import parameters
from s2s.specialize.calls.derivative_parts import Leaf
from s2s.specialize.calls.derivatives import Inner
from s2s.specialize.frames import Frame
from s2s.specialize.site import CallSite, Handler

__all__ = ["HANDLERS"]


def _attached(site: CallSite) -> ir.Atom | None:
    """``attached(residual, found)``, of which the residual is given values like the one found."""
    residual, found, *rest = site.args
    return _with_arguments(site, solved, residual, found, _widened(site.value(found)), rest[0] if rest else _NONE)


def _integrated(site: CallSite) -> ir.Atom | None:
    """``integrated(integrand, pieces, found)``, of which the integrand is given floats."""
    integrand, pieces, found = site.args
    return _with_arguments(site, integral, integrand, found, Scalar(float), pieces)


def _looked_at(site: CallSite) -> ir.Atom | None:
    """``looked_at(f, pieces, zero)``, of which the function is given floats."""
    f, pieces, zero = site.args
    return _with_arguments(site, looked, f, zero, Scalar(float), pieces)


_NONE = ir.Const(None)


def _widened(known: AbstractValue) -> AbstractValue:
    return Scalar(type(known.value)) if isinstance(known, Known) else known


def _with_arguments(
    site: CallSite, left: Any, function: ir.Atom, found: ir.Atom, parameter: AbstractValue, option: ir.Atom
) -> ir.Atom:
    """``left(function, option, found, *args)``: all that the function reads that is differentiated has become an
    argument."""
    compiler()  # it has the rule of what is left here
    context, self_ = site.context, site.specializer
    known = _widened(site.value(found))
    x = context.define("x", parameter)
    inner = Inner(site, function, [Leaf(found, x, left is solved)], {})
    primal = _on_its_own(inner)
    if left is solved and not any(map(context.is_varied, inner.free)):
        return found
    # a derivative around this one may be taken by what is constant here
    moved = [v for v in inner.free if context.is_varied(v) or _is_number(context.value(v))]
    still = tuple(v for v in inner.free if v not in moved)
    named = _named(context, x, moved)
    params = (ir.Param(x), *map(ir.Param, named))
    made = substitute_all(ir.replace(primal, name="residual", params=params, captures=still), dict(zip(moved, named)))
    frame = Frame(
        self_.function or site.frame.fn, None, {v: v for v in still}, site.frame.called_from, has_decided=True)
    name = "residual" if left is solved else "integrand"
    closure = self_.inliner.closure(made, still, (), frame, site.builder, site.span, name)
    call = ir.Call(ir.Const(left), (closure, site.builder.frozen(option), site.builder.frozen(found), *moved))
    return site.builder.let(call, known, site.name, site.span, True)


def _is_number(value: AbstractValue) -> bool:
    """Whether a value is a float, or an array of floats."""
    return isinstance(value, (Array, Scalar)) and is_differentiable(value)


def _named(context: Context, x: ir.Var, moved: list[ir.Var]) -> list[ir.Var]:
    """Parameters for what the residual reads, under names of their own."""
    taken, made = {x.name}, []
    for var in moved:
        base = var.name.lstrip("%") or "p"
        name = next(n for n in itertools.chain([base], (f"{base}_{k}" for k in itertools.count(1))) if n not in taken)
        taken.add(name)
        made.append(context.define(name, context.value(var), True))
    return made


def _on_its_own(inner: Inner) -> ir.Function:
    """The residual as a function of the unknown and of what it reads."""
    self_, context = inner.at.specializer, inner.at.context
    outside = context.varied, context.heap, self_.rebound, dict(self_.reshaped), self_.trying, self_.catching
    try:
        context.varied = {*context.varied, *(leaf.var for leaf in inner.leaves if leaf.wanted)}
        with self_.holding.blocks_alone():
            return inner.primal()
    finally:
        context.varied, context.heap, self_.rebound, self_.reshaped, self_.trying, self_.catching = outside


def _for_value(site: CallSite) -> ir.Atom | None:
    """``for_value(fn, *args)``: a call of functions and objects as they are. What it changes of them, nobody sees."""
    context = site.context
    outside, context.heap, context.for_value = (context.heap, context.for_value), context.heap.copy(), True
    try:
        return functions.by_rule(site)
    finally:
        context.heap, context.for_value = outside


def _arity(site: CallSite) -> ir.Atom | None:
    """``arity(f)``, by what is known of the function."""
    found = parameters(site.specializer, site.args[0])
    if found is None:
        raise site.refusal("S2S202", name="a function of unknown parameters", reason=_PARAMETERS)
    return ir.Const(sum(p.positional for p in found))


_PARAMETERS = "give starting values, p0=[...]"


def _public_function(site: CallSite) -> ir.Atom | None:
    """``public.function(role)``."""
    (name,) = site.args
    return ir.Const(function(name.value)) if isinstance(name, ir.Const) else None


HANDLERS: dict[Any, Handler] = {
    "attached": _attached, "integrated": _integrated, "looked_at": _looked_at, "for_value": _for_value,
    "arity": _arity,
    function: _public_function,
}
"""What stands for a call of a function of ``models.solutions``."""
