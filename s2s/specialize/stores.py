"""Stores into objects on the heap and into arrays."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from s2s.builder.builder import Builder
from s2s.builder.virtual_heap import cell_of
from s2s.core import ir, operators
from s2s.errors import error
from s2s.specialize.calls import derivatives
from s2s.specialize.frames import Frame
from s2s.specialize.heap import changing
from s2s.specialize.inplace import is_old, store_attribute, store_item
from s2s.specialize.site import At
from s2s.specialize.variables import check_read

if TYPE_CHECKING:
    from s2s.specialize.specializer import Specializer

__all__ = ["store"]


def store(specializer: Specializer, statement: ir.Store, frame: Frame, builder: Builder) -> None:
    """A store into an object on the heap, or into an array; others are refused."""
    originals = (statement.target, statement.key, statement.value)
    target, key, value = (specializer.atom(a, frame) for a in originals)
    for original, atom in zip(originals, (target, key, value), strict=True):
        check_read(specializer, original, atom, builder, statement.span, frame)
    if cell_of(specializer.context, target) is not None:
        return _store_on_heap(specializer, statement, target, key, value, frame, builder)
    if statement.was is not None:
        was = specializer.atom(statement.was, frame)
        if is_old(specializer.context, was, key, builder):
            value = specializer.apply(ir.Const(statement.op), [was, value], {}, frame, builder, statement.span)
            statement = ir.replace(statement, op=None)
    if statement.kind == "attr" and statement.op is None and isinstance(key, ir.Const):
        if store_attribute(specializer, target, key.value, value, frame, builder, statement.span):
            return None
    if statement.kind in ("whole", "at", "opaque"):
        return derivatives.store(specializer, statement, target, key, value, frame, builder)
    if statement.kind != "item":
        raise error("S2S113", span=statement.span, asked_by=frame.called_from)
    key, value = builder.frozen(key), builder.frozen(value)
    return store_item(specializer, target, key, value, statement.op, frame, builder, statement.span)


def _store_on_heap(
    specializer: Specializer, statement: ir.Store, target: ir.Atom, key: ir.Atom, value: ir.Atom, frame: Frame,
    builder: Builder,
) -> None:
    """``target[key] = value``, ``target.key = value`` of an object on the heap, and with an operator: the old value
    is changed in place where it can be, then stored."""
    at = At(frame, builder, statement.span)
    if statement.op is not None:
        read = operator.getitem if statement.kind == "item" else getattr
        old = statement.was and specializer.atom(statement.was, frame)
        old = old or specializer.apply(ir.Const(read), [target, key], {}, frame, builder, statement.span)
        change = operators.IN_PLACE[statement.op]
        value = specializer.apply(ir.Const(change), [old, value], {}, frame, builder, statement.span)
    if statement.kind == "item":
        changing.store_item(specializer, at, target, key, value)
    else:
        specializer.instances.store_attribute(at, target, key, value)
