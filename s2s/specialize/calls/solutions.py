"""Solutions of equations in code that is differentiated: ``attached(residual, found)`` of ``models.solutions`` goes in,
a call of ``solved`` comes out that has all that moves the solution among its arguments.

The residual is specialised on a parameter of its own, as a function whose derivative is taken. What it reads of the
program around it are then variables of numbers and arrays, also where the program has them in objects and closures.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.analysis.abstract.parts import is_differentiable
from s2s.builder.builder import Builder, Context
from s2s.core import ir
from s2s.core.public import compiler, function
from s2s.core.values import AbstractValue, Array, Known, Scalar
from s2s.models.quadrature import integral, looked
from s2s.models.solutions import check_repeats, for_value, solved
from s2s.optimize.rewriting import substitute_all
from s2s.specialize.calls import called_again, functions
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
    primal, changed = _on_its_own(inner)
    if changed and left is not solved:
        raise site.refusal("S2S144", name=changed[0].name.lstrip("%") or "an array")
    after = _undone(site, found, changed, inner.free)
    if left is solved and not any(map(context.is_varied, inner.free)):
        return found
    # a derivative around this one may be taken by what is constant here
    moved = [v for v in inner.free if context.is_varied(v) or _is_number(context.value(v)) or v in after]
    still = tuple(v for v in inner.free if v not in moved)
    named = _named(context, x, moved)
    params = (ir.Param(x), *map(ir.Param, named))
    made = substitute_all(ir.replace(primal, name="residual", params=params, captures=still), dict(zip(moved, named)))
    frame = Frame(
        self_.function or site.frame.fn, None, {v: v for v in still}, site.frame.called_from, has_decided=True)
    name = "residual" if left is solved else "integrand"
    closure = self_.inliner.closure(made, still, (), frame, site.builder, site.span, name)
    found = site.builder.frozen(found)
    before = {v: called_again.entry(self_, site.builder, v, site.span) for v in moved if v in after}
    given = [before.get(v, v) for v in moved]
    if before:
        test = ir.Call(ir.Const(check_repeats), (closure, found, *given, *(after.get(v, v) for v in moved)))
        site.builder.add(ir.Let(None, test, site.span))
    for var in changed:
        site.builder.add(called_again.end(var, site.span))
    call = ir.Call(ir.Const(left), (closure, site.builder.frozen(option), found, *given))
    return site.builder.let(call, known, site.name, site.span, True)


def _undone(
    site: CallSite, found: ir.Atom, changed: list[ir.Var], free: Iterable[ir.Var]
) -> dict[ir.Var, ir.Atom]:
    """Let the call of a solver that has found a value leave these arrays as they were, which the function that it calls
    changes and which must share no memory with what else that reads; what its calls have left in them."""
    if not changed:
        return {}
    context, solvers = site.context, site.specializer.solvers
    todo, seen = [found], set[ir.Atom]()
    while todo:
        atom = todo.pop()
        if isinstance(atom, ir.Var) and atom not in seen:
            seen.add(atom)
            todo += ir.atoms_of(context.definitions[atom]) if atom in context.definitions else ()
    for both in seen & solvers.keys():
        if all(v in solvers[both] for v in changed):
            return {v: solvers[both][v] for v in changed}
    builder: Builder | None = site.builder
    while builder is not None and not any(_gives(s, seen) for s in builder.statements):
        builder = builder.parent
    if builder is None:
        raise site.refusal("S2S144", name=changed[0].name.lstrip("%") or "an array")
    statements = builder.statements
    calls = [k for k, s in enumerate(statements) if _is_for_value(s)]
    first = next(k for k in calls if _gives(statements[k], seen))
    for k in reversed([k for k in calls if k >= first]):
        child = builder.child()
        after = called_again.undone(site.specializer, child, statements[k], changed)  # type: ignore[arg-type]
        statements[k:k + 1] = child.statements
    child = builder.child()
    for var, other in itertools.product(changed, free):
        if var != other and isinstance(site.value(other), Array) and called_again.may_share(context, var, other):
            test = ir.Call(ir.Const(rt.check_apart), (var, other, ir.Const(var.name.lstrip("%"))))
            child.add(ir.Let(None, test, site.span))
    statements[first:first] = child.statements
    return after


def _gives(s: ir.Statement, found: set[ir.Atom]) -> bool:
    return isinstance(s, ir.Let) and s.target in found and _is_for_value(s)  # type: ignore[operator]


def _is_for_value(s: ir.Statement) -> bool:
    return isinstance(s, ir.Let) and isinstance(s.value, ir.Call) and s.value.fn == ir.Const(for_value)


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


def _on_its_own(inner: Inner) -> tuple[ir.Function, list[ir.Var]]:
    """The residual as a function of the unknown and of what it reads, and the arrays that it has captured and changes.
    """
    self_, context = inner.at.specializer, inner.at.context
    outside = context.varied, context.heap, self_.rebound, dict(self_.reshaped), self_.trying, self_.catching
    self_.called_again += 1
    try:
        context.varied = {*context.varied, *(leaf.var for leaf in inner.leaves if leaf.wanted)}
        with self_.holding.blocks_alone():
            primal = inner.primal()
    finally:
        context.varied, context.heap, self_.rebound, self_.reshaped, self_.trying, self_.catching = outside
        self_.called_again -= 1
    called_again.hide(context, inner.left)
    return primal, inner.changed


def _for_value(site: CallSite) -> ir.Atom | None:
    """``for_value(fn, *args)``: a call of functions and objects as they are. What it changes of them, nobody sees."""
    if len(site.args) == 2 and not site.kwargs and called_again.may_change(site.context, site.args[0]):
        return _aside(site, *site.args)
    context = site.context
    outside = context.heap, context.for_value
    context.heap, context.for_value = called_again.readable(context), True
    try:
        return functions.by_rule(site)
    finally:
        context.heap, context.for_value = outside


def _aside(site: CallSite, fn: ir.Atom, given: ir.Atom) -> ir.Atom:
    """What a function gives that may change what it has captured, as a constant: it works on copies."""
    return site.compute(for_value, ir.Const(np.copy), _on_copies(site, fn, given))


def _once_more(site: CallSite) -> ir.Atom:
    """``once_more(fn, x)``."""
    fn, given = site.args
    may_change = called_again.may_change(site.context, fn)
    return _on_copies(site, fn, given) if may_change else site.instead_of_atom(fn, [given])


def _on_copies(site: CallSite, fn: ir.Atom, given: ir.Atom) -> ir.Atom:
    """What a function gives that works on copies of what it changes."""
    x = site.context.define("x", _widened(site.value(given)), site.context.is_varied(given))
    inner = Inner(site, fn, [Leaf(given, x, False)], {})
    primal, _ = _on_its_own(inner)
    return inner.run(primal, [site.builder.frozen(given)])


def _was_called(site: CallSite) -> ir.Atom:
    """``was_called(fn)``."""
    cells, arrays = called_again.may_have_changed(site.context, site.args[0])
    called_again.hide(site.context, dict.fromkeys(cells))
    for array in arrays:
        site.builder.add(called_again.end(array, site.span))
    return _NONE


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
    "once_more": _once_more, "was_called": _was_called,
    "arity": _arity,
    function: _public_function,
}
"""What stands for a call of a function of ``models.solutions``."""
