"""Calls of checkpointed functions, and of what makes them."""

from __future__ import annotations

import functools

from s2s.analysis.raising import ends
from s2s.core import ir
from s2s.core.annotated import signature_of
from s2s.core.values import UNKNOWN
from s2s.directives.checkpointing import call_again as again
from s2s.directives.checkpointing import checkpoint, checkpointed
from s2s.specialize.site import NOT_HANDLED, CallSite

__all__ = ["call_again", "call_checkpoint", "checkpointed_range", "make_checkpoint"]


def checkpointed_range(site: CallSite) -> ir.Atom | None:
    """``s2s.checkpointed(over, snapshots)``: what the loop runs over."""
    try:
        bound = signature_of(checkpointed).bind(*site.args, **site.kwargs).arguments
    except TypeError as problem:
        raise site.raised(problem) from None
    site.specializer.snapshots = bound["snapshots"]
    return bound["over"]  # type: ignore[no-any-return]


def make_checkpoint(site: CallSite) -> ir.Atom | None:
    """``s2s.checkpoint(fn)``: the function itself, of which it is known that its reverse runs it again."""
    if len(site.args) != 1 or site.kwargs:
        return NOT_HANDLED
    (fn,), context, span = site.args, site.context, site.span
    if isinstance(fn, ir.Const):
        return ir.Const(checkpoint(fn.value))
    made = ir.Call(ir.Const(functools.partial), (ir.Const(again), fn))
    var = context.define(fn.name, UNKNOWN, context.is_varied(fn), made)
    context.virtual_closures[var] = lambda builder: builder.let(made, UNKNOWN, fn.name, span)
    return var


def call_checkpoint(site: CallSite) -> ir.Atom | None:
    """A call of a checkpointed function: what it comes to. Where it calls itself, that is decided at run time."""
    fn = site.fn
    if fn.func in site.specializer.inliner.active_calls:
        return site.leave()
    site.guards.reached(fn.func, fn, "func")
    return _repeated(site, ir.Const(fn.func), site.args)


def call_again(site: CallSite) -> ir.Atom | None:
    """A call of a function that the program has made a checkpointed one."""
    return _repeated(site, site.args[0], site.args[1:])


def _repeated(site: CallSite, fn: ir.Atom, args: list[ir.Atom]) -> ir.Atom:
    """A call that the reverse sweep runs again: what it comes to, between two notes."""
    specializer, builder = site.specializer, site.builder
    if not any(map(site.context.is_varied, (fn, *args, *site.kwargs.values()))):
        return site.instead_of_atom(fn, args, site.kwargs)
    builder.add(ir.Note("", ir.BEGIN_REPLAY, site.span))
    specializer.repeating += 1
    try:
        found = site.instead_of_atom(fn, args, site.kwargs)
    finally:
        specializer.repeating -= 1
    if not ends(builder.statements[-1:]):
        builder.add(ir.Note("", ir.END_REPLAY, site.span))
    return found
