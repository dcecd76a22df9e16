"""Stores into objects on the heap and into arrays."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from s2s.builder.builder import Builder
from s2s.builder.virtual_heap import cell_of
from s2s.core import ir, operators
from s2s.core.values import Array
from s2s.specialize import logs
from s2s.specialize.calls.subscripts import check_key
from s2s.specialize.frames import Frame
from s2s.specialize.heap import changing, effects, generators, variables
from s2s.specialize.inplace import change_whole, is_old, store_attribute, store_item
from s2s.specialize.site import At
from s2s.specialize.variables import check_read

if TYPE_CHECKING:
    from s2s.specialize.specializer import Specializer

__all__ = ["store"]


def store(specializer: Specializer, statement: ir.Store, frame: Frame, builder: Builder) -> None:
    """A store into an object on the heap, or into an array; others are refused."""
    at, context = At(specializer, frame, builder, statement.span), specializer.context
    originals = (statement.target, statement.key, statement.value)
    target, key, value = (specializer.atom(a, frame) for a in originals)
    for original, atom in zip(originals, (target, key, value), strict=True):
        check_read(specializer, original, atom, builder, statement.span, frame)
    was = None if statement.was is None else specializer.atom(statement.was, frame)
    generators.check_kept(context, value, statement.span)
    if statement.kind == "global":
        return variables.assign(at, variables.of_function(at, key.value), value)  # type: ignore[union-attr]
    if logs.is_log(specializer, target):
        if was is not None:  # it is read again where the operator is applied
            context.must_keep.discard(was)  # type: ignore[arg-type]
        return logs.written_item(specializer, statement, target, key, value, builder)
    if cell_of(context, target) is not None:
        return _store_on_heap(at, statement, target, key, value, was)
    if was is not None and is_old(context, was, key, builder):
        value = at.apply(statement.op, was, value)
        statement = ir.replace(statement, op=None)
    if statement.kind == "attr" and isinstance(key, ir.Const):
        if statement.op is not None and isinstance(at.value(target), Array):  # ``z.imag += v``
            value = at.apply(statement.op, at.apply(getattr, target, key) if was is None else was, value)
            statement = ir.replace(statement, op=None)
        if statement.op is None and store_attribute(at, target, key.value, value):
            return None
        if effects.static(at, target, key.value, value, statement.op, was):
            return None
    if statement.kind == "whole":
        if not isinstance(at.value(target), Array):
            name = target.name.lstrip("%") if isinstance(target, ir.Var) else ""
            raise at.refusal("S2S112", name=name or "an array")
        return change_whole(at, target, value, statement.op)
    if statement.kind == "at":  # an item that comes twice takes both
        return store_item(at, target, key, value, statement.op, "at")
    if statement.kind == "opaque":  # noted where the call is left
        return None
    if statement.kind != "item":
        raise at.refusal("S2S113")
    check_key(at, target, key)
    return store_item(at, target, builder.frozen(key), builder.frozen(value), statement.op)


def _store_on_heap(
    at: At, statement: ir.Store, target: ir.Atom, key: ir.Atom, value: ir.Atom, was: ir.Atom | None
) -> None:
    """``target[key] = value``, ``target.key = value`` of an object on the heap, and with an operator: the old value
    is changed in place where it can be, then stored."""
    if statement.op is not None:
        read = operator.getitem if statement.kind == "item" else getattr
        old = at.apply(read, target, key) if was is None else was
        value = at.apply(operators.IN_PLACE[statement.op], old, value)
    if statement.kind == "item":
        changing.store_item(at, target, key, value)
    else:
        at.specializer.instances.store_attribute(at, target, key, value)
