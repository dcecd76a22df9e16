"""Reads of global and closure variables."""

from __future__ import annotations

import sys
import types
from typing import TYPE_CHECKING, Any

from s2s.builder.builder import Builder, is_constant_kind
from s2s.core import ir, ops
from s2s.core.inspection import is_sealed
from s2s.core.values import UNKNOWN, Known, Unknown
from s2s.specialize import logs
from s2s.specialize.calls import process
from s2s.specialize.frames import Frame, in_rule, lookup
from s2s.specialize.heap import variables
from s2s.specialize.heap.classes import is_followed_by_parts, is_setting, is_taken_by_value
from s2s.specialize.heap.live_objects import Place
from s2s.specialize.site import At
from s2s.versions.signature import ThreadLocal, describe

if TYPE_CHECKING:
    from s2s.specialize.specializer import Specializer

__all__ = ["load"]


def load(specializer: Specializer, load: ir.Load, frame: Frame, builder: Builder, span: ir.Span | None) -> ir.Atom:
    """A global or closure variable: functions, modules and options by value, under a guard; numbers live."""
    if load.scope == "global":
        at = At(specializer, frame, builder, span, load.name)
        stored = variables.stored(at, variables.of_function(at, load.name, load.owner))
        if stored is not None:
            return stored
    return variable(specializer, load, frame, builder, span)


def variable(
    specializer: Specializer, load: ir.Load, frame: Frame, builder: Builder, span: ir.Span | None
) -> ir.Atom:
    """What a variable holds in which the program has put nothing."""
    root, owner = load.scope, frame.owner if load.owner is None else load.owner
    fact = lookup(load, load.owner or frame.fn, owner)
    if fact.is_missing and specializer.trying:
        fact.folded(specializer.guards)
        raise specializer.raised(NameError(f"name '{load.name}' is not defined"))
    if fact.is_missing:  # Python's own NameError, if this place is reached
        fact.folded(specializer.guards)
        absent = specializer.keep(builder, ir.Load(load.name, load.scope, owner), span)
        builder.context.absent.add(absent)
        return absent
    if fact.is_(is_sealed):
        return builder.let(ir.Load(load.name, load.scope, owner), UNKNOWN, load.name, span)
    if specializer.unsure and root == "global" and fact.is_(is_setting):
        return builder.let(ir.Load(load.name, load.scope, owner), UNKNOWN, load.name, span)
    if fact.is_(is_taken_by_value):
        found = fact.folded(specializer.guards)
        if isinstance(found, types.MethodType):
            return specializer.live_objects.method(builder, found, Place(root, (load.name,), owner))
        return ir.Const(found)
    live, key = specializer.live_objects, (id((load.owner or frame.fn).__globals__), load.name)
    folds = not specializer.is_own(frame.fn) and not in_rule(frame) and key not in specializer.context.assumed.unfolded
    if folds and fact.is_(_is_plain_option):
        # code of libraries has its options in integers too
        live.folded_variables.add(key)
        found = fact.folded(specializer.guards)
        if type(found) is not tuple:
            return ir.Const(found)
        return builder.call(ops.make_tuple, *map(ir.Const, found), name=load.name, span=span)
    if specializer.unsure and fact.is_(lambda found: type(found) is ThreadLocal):
        return builder.let(ir.Load(load.name, load.scope, owner), UNKNOWN, load.name, span)
    if fact.is_(lambda found: found is sys.modules):
        fact.folded(specializer.guards)
        return builder.let(process.MODULES, UNKNOWN, load.name, span)
    log = logs.opened(specializer, load, fact, frame, builder, owner)
    if log is not None:
        return log
    logs.note_read(specializer, fact, span)
    if fact.is_(is_followed_by_parts):
        return specializer.live_objects.root(builder, fact, Place(root, (load.name,), owner))
    if fact.is_(_is_opaque_callable):
        return ir.Const(fact.folded(specializer.guards))
    value, found = fact.described(specializer.guards, specializer.context.assumed.data)
    logs.note_whole(specializer, found)
    value = UNKNOWN if isinstance(value, Known) else value
    made = builder.let(ir.Load(load.name, load.scope, owner), value, load.name, span)
    return specializer.live_objects.opened(made, found, Place(root, (load.name,), owner), is_load=True)


def _is_plain_option(value: Any) -> bool:
    """Whether a value is an integer, or a tuple or frozen set of integers and other options."""
    if type(value) in (tuple, frozenset):
        return all(type(item) is int or is_constant_kind(item) for item in value)
    return type(value) is int


def _is_opaque_callable(value: Any) -> bool:
    """Whether it is called and not written in Python: a getter of ``operator``, for instance."""
    return callable(value) and isinstance(describe(value, "?"), Unknown)
