"""Calls that are left to be decided when the program runs."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from s2s.analysis.effects import ACTS, effect_of
from s2s.builder import virtual_heap
from s2s.core import ir
from s2s.core.values import UNKNOWN, AbstractValue, Array
from s2s.specialize.calls.handing_over import check_captured, check_seen, plain, release
from s2s.specialize.heap import effects, generators
from s2s.specialize.heap.escapes import note_call
from s2s.specialize.inplace import check_modelled, may_change
from s2s.specialize.logs import note_left
from s2s.specialize.unknown_effects import may_run_unknown

if TYPE_CHECKING:
    from s2s.specialize.site import CallSite

__all__ = ["leave", "look_again"]


def leave(
    site: CallSite, value: AbstractValue = UNKNOWN, harmless: bool = False, quiet: bool = False
) -> ir.Atom:
    """Leave a call to be decided when the program runs.

    Objects on the heap that go into it are put together for it. With differentiated arguments the function is
    transformed when it runs, which refuses to change them; they must not change later either, because the function
    may keep them. A function of undifferentiated arguments may change them: what they hold is not known afterwards.
    ``harmless`` says that it changes no argument, ``quiet`` that it changes no array that it can reach.
    """
    context, builder, span = site.context, site.builder, site.span
    note_left(site.specializer, site.fn)
    callee, args = site.callee if site.fn is None else ir.Const(site.fn), [_as_list(site, a) for a in site.args]
    atoms = [*map(plain, args), *site.kwargs.values()]
    known = callee.value if isinstance(callee, ir.Const) else None
    generators.check_taken(context, known, atoms, span)
    varied = any(map(context.is_varied, (callee, *atoms)))
    given = [a for a in atoms if virtual_heap.is_mutable(context, a)]
    values = [a for a in atoms if not context.is_virtual(a)]
    callee = builder.frozen(callee)
    if varied:
        method = context.definition(callee, getattr)
        if method is not None:
            check_modelled(site, method[0])
        callee, args = site.specializer.holding.under_method(callee, args, builder)
    args = [ir.Star(builder.frozen(a.atom)) if isinstance(a, ir.Star) else builder.frozen(a) for a in args]
    kwargs = {key: builder.frozen(a) for key, a in site.kwargs.items()}
    makes = _only_makes(callee)
    if varied and not makes:
        check_captured(context, [*map(plain, args), *kwargs.values()], span)
    if context.is_varied(callee):
        context.method_of(callee, span)
    opened = site.specializer.holding.open_method(callee, tuple(args), kwargs) if varied else None
    made = opened or ir.Call(callee, tuple(args), tuple(kwargs.items()))
    context.left[id(made)] = made
    if quiet:
        context.quiet[id(made)] = made
    if not harmless and not makes:
        check_seen(context, callee, given, span)
        release(given, varied, builder)
        note_call(context, callee, values)
    if not varied and not harmless and effect_of(made) is ACTS:
        may_change(site.context, [*args, *kwargs.values()], builder, span)
    if site.effect and not varied:
        builder.add(ir.Let(None, made, span))
        effects.read_again(site, harmless)
        return ir.Const(None)
    var = context.define(site.name, value, varied, made)
    if varied and not makes:
        context.effects.add(var)
    elif given:
        context.must_keep.add(var)
    builder.add(ir.Let(var, made, span))
    effects.read_again(site, harmless or makes)
    return var


def look_again(site: CallSite, statements: list[ir.Statement]) -> None:
    """A function that is known was called: what it was given to call or to walk through may have run code that nobody
    has read, which may have read and assigned what the function has assigned before."""
    context, callees = site.context, (site.callee, ir.Const(site.fn))
    calls = [s for s in statements if isinstance(s, ir.Let) and isinstance(s.value, ir.Call) and s.value.fn in callees]
    unread = [s for s in calls if id(s.value) not in context.left and may_run_unknown(s, context)]
    if unread and any(effects.is_changed_outside(site, cell, state) for cell, state in context.heap.states.items()):
        for s in unread:
            check_seen(context, s.value.fn, site.args, site.span)  # type: ignore[union-attr]
            effects.read_again(site, False)


def _as_list(site: CallSite, argument: Any) -> Any:
    """``*x`` of a differentiated array as ``*list(x)``: a pullback gives one cotangent for each item."""
    if not isinstance(argument, ir.Star) or not isinstance(site.value(argument.atom), Array):
        return argument
    return ir.Star(site.apply(list, argument.atom)) if site.context.is_varied(argument.atom) else argument


def _only_makes(callee: ir.Atom) -> bool:
    """Whether a call certainly changes nothing: it makes an exception or a partial function."""
    fn = callee.value if isinstance(callee, ir.Const) else None
    return fn is functools.partial or fn is np.vectorize or (isinstance(fn, type) and issubclass(fn, BaseException))
