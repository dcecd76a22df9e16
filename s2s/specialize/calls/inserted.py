"""Calls of ``s2s.insert_in_reverse(fn)``, and of ``fn`` in the reverse sweep: in place where it is a straight line,
else by name.
"""

from __future__ import annotations

import functools
import types

from s2s.builder.builder import Builder
from s2s.core import ir
from s2s.core.values import UNKNOWN, Array, Scalar, Unknown
from s2s.directives import inserted
from s2s.rules import table
from s2s.specialize.calls.user_rule_bodies import specialised
from s2s.specialize.outcomes import kind_of
from s2s.specialize.site import CallSite, Handler

__all__ = ["HANDLERS", "call_in_reverse"]


def call_in_reverse(site: CallSite) -> ir.Atom | None:
    """The identity with a function in its reverse direction, made outside of the program."""
    return site.instead(inserted.passed, [ir.Const(site.fn.args[0]), *site.args], site.kwargs)


def _insert(site: CallSite) -> ir.Atom | None:
    """``s2s.insert_in_reverse(fn)``, made in the program: ``passed`` with its first argument."""
    if len(site.args) != 1 or site.kwargs:
        return None
    (fn,) = site.args
    if isinstance(fn, ir.Const):
        return ir.Const(inserted.insert_in_reverse(fn.value))
    made = ir.Call(ir.Const(functools.partial), (ir.Const(inserted.passed), fn))
    var = site.context.define(fn.name, UNKNOWN, site.context.is_varied(fn), made)  # type: ignore[union-attr]
    site.context.virtual_closures[var] = lambda builder: builder.let(
        ir.map_atoms(made, builder.frozen), UNKNOWN, site.name, site.span)
    return var


def _put_through(site: CallSite) -> ir.Atom | None:
    """``inserted.made_of_cotangent(fn, x_bar)``."""
    if any(map(site.context.is_varied, site.args)):
        return site.inline(inserted.put_through, site.args, site.kwargs)
    made = None
    if not _is_opaque(site.args[0]):

        def of_known_kind(made: ir.Atom, _: Builder) -> ir.Atom:
            if isinstance(site.value(made), Unknown):
                raise site.refusal("S2S101", construct="what nothing is known of")  # it is called by name then
            return made

        made = specialised(
            site.specializer, inserted.put_through, [*site.args], (), site.builder, site.span, of_known_kind)
    if made is not None:
        return made
    fn, x_bar = map(site.builder.frozen, site.args)
    known = kind_of(site.value(x_bar))
    return site.builder.let(  # type: ignore[no-any-return]
        ir.Call(ir.Const(site.fn), (fn, x_bar)), known if isinstance(known, (Array, Scalar)) else UNKNOWN, site.name,
        site.span)


def _is_opaque(fn: ir.Atom) -> bool:
    """Whether a function is a compiled one of which nothing is known: ``print``, or a method of a list."""
    return isinstance(fn, ir.Const) and isinstance(fn.value, types.BuiltinFunctionType) and not table.has_rule(fn.value)


HANDLERS: dict[object, Handler] = {
    inserted.insert_in_reverse: _insert, inserted.made_of_cotangent: _put_through,
}
