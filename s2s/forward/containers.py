"""Tangents of containers and of their items: they have the structure of the containers."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from s2s import runtime as rt
from s2s.analysis.abstract.lattice import is_number
from s2s.analysis.abstract.parts import Path, leaves, like_tangent, part
from s2s.core import ir, ops
from s2s.core.values import Array, Mapping, Sequence
from s2s.errors import error
from s2s.specialize.calls.intrinsics import literal

if TYPE_CHECKING:
    from s2s.forward.sweep import Forwarder


def structure(forwarder: Forwarder, fn: Any, target: ir.Var, value: ir.Call, span: ir.Span | None) -> None:
    """The tangent of an item, or of a container made of others."""
    if fn is operator.getitem:
        item(forwarder, target, value.args[0], value.args[1], span)  # type: ignore[arg-type]
    elif fn is ops.unpack:
        unpack(forwarder, target, value, span)
    elif fn in (ops.append, ops.put, rt.set_item, rt.set_items):
        changed(forwarder, fn, target, value, span)
    elif fn in (list, tuple):
        converted(forwarder, fn, target, value, span)
    else:
        display(forwarder, fn, target, value, span)


def item(forwarder: Forwarder, target: ir.Var, source: ir.Atom, index: ir.Atom, span: ir.Span | None) -> None:
    known, made = forwarder.context.value(source), forwarder.context.value(target)
    if isinstance(known, (Sequence, Mapping)) and isinstance(index, ir.Const):
        key: Any = index.value
        if isinstance(known, Sequence):
            places = range(len(known.items))[key]
            if isinstance(places, range):
                for k, place in enumerate(places):
                    hand_on(forwarder, target, (k,), source, (place,))
                return
            key = places
        hand_on(forwarder, target, (), source, (key,))
        return
    if not forwarder.is_active(source):
        return
    dot = forwarder.dot(source)
    if dot is not None and isinstance(known, Array) and is_number(forwarder.context.value(dot)) and not (
        forwarder.memory.is_buffer(source)
    ):
        forwarder.put(target, (), dot)  # the same everywhere
        return
    if is_number(known):
        shape = forwarder.builder.call(np.shape, target, span=span)
        forwarder.put_all(target, forwarder.builder.call(np.broadcast_to, dot or ir.Const(0.0), shape, span=span), span)
        return
    of = forwarder.whole(source, span)
    read = ir.Call(ir.Const(operator.getitem), (of, index))
    forwarder.put_all(target, forwarder.builder.let(read, like_tangent(made), span=span), span)


def hand_on(forwarder: Forwarder, target: ir.Var, path: Path, source: ir.Atom, place: Path) -> None:
    """The leaves of a part of a container as those of a part of another one."""
    for rest, _ in leaves(part(forwarder.context.value(target), path)):
        of = (source, (*place, *rest))
        if of in forwarder.unclear:
            forwarder.unclear[target, (*path, *rest)] = forwarder.unclear[of]
        elif of in forwarder.dots:
            forwarder.dots[target, (*path, *rest)] = forwarder.dots[of]


def display(forwarder: Forwarder, fn: Any, target: ir.Var, value: ir.Call, span: ir.Span | None) -> None:
    known = forwarder.context.value(target)
    if not any(map(forwarder.is_active, ir.atoms_of(value))):
        return
    if any(isinstance(a, ir.Star) for a in value.args) or not isinstance(known, (Sequence, Mapping)):
        raise error("S2S207", span=span)  # by place, the parts of what is unpacked would be given to others
    items = value.args[1::2] if fn is ops.make_dict else value.args
    keys = known.keys if isinstance(known, Mapping) else range(len(items))
    for key, atom in zip(keys, items, strict=False):
        hand_on(forwarder, target, (key,), atom, ())  # type: ignore[arg-type]


def unpack(forwarder: Forwarder, target: ir.Var, value: ir.Call, span: ir.Span | None) -> None:
    source, before, after = value.args
    if not forwarder.is_active(source):
        return
    assert isinstance(before, ir.Const) and isinstance(after, ir.Const)
    known = forwarder.context.value(target)
    if isinstance(forwarder.context.value(source), Sequence) and after.value is None:  # type: ignore[arg-type]
        hand_on(forwarder, target, (), source, ())  # type: ignore[arg-type]
        return
    of = forwarder.builder.call(ops.unpack, forwarder.whole(source, span), before, after, span=span)  # type: ignore[arg-type]
    for path, _ in leaves(known):
        forwarder.put(target, path, forwarder.read(of, path, span))


def changed(forwarder: Forwarder, fn: Any, target: ir.Var, value: ir.Call, span: ir.Span | None) -> None:
    """``append(items, x)``, ``put(mapping, key, x)``, ``set_item(items, k, x)``, ``set_items``."""
    items, item = value.args[0], value.args[-1]
    known = forwarder.context.value(target)
    if not isinstance(known, (Sequence, Mapping)):  # as what ``set_item`` and ``set_items`` give
        given = [forwarder.whole(items, span), *value.args[1:-1], forwarder.whole(item, span)]  # type: ignore[arg-type]
        made = ir.Call(ir.Const(fn), tuple(given))
        forwarder.put(target, (), forwarder.builder.let(made, like_tangent(known), span=span))
        return
    new: Any = len(known.items) - 1 if fn is ops.append else literal(value.args[1])  # type: ignore[arg-type]
    for key in known.keys if isinstance(known, Mapping) else range(len(known.items)):
        if key != new:
            hand_on(forwarder, target, (key,), items, (key,))  # type: ignore[arg-type]
    hand_on(forwarder, target, (new,), item, ())  # type: ignore[arg-type]


def converted(forwarder: Forwarder, fn: Any, target: ir.Var, value: ir.Call, span: ir.Span | None) -> None:
    if not value.args or not forwarder.is_active(value.args[0]):
        return
    source = value.args[0]
    if isinstance(forwarder.context.value(source), Sequence):  # type: ignore[arg-type]
        hand_on(forwarder, target, (), source, ())  # type: ignore[arg-type]
        return
    read = ir.Call(ir.Const(fn), (forwarder.whole(source, span),))  # type: ignore[arg-type]
    known = like_tangent(forwarder.context.value(target))
    forwarder.put_all(target, forwarder.builder.let(read, known, span=span), span)


__all__ = ["hand_on", "structure"]
