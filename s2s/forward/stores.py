"""Tangents of arrays that are changed in place: arrays that are changed with them, and that alias as they do."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import numpy as np

from s2s import runtime as rt
from s2s.analysis.abstract.lattice import is_number
from s2s.analysis.abstract.parts import leaves
from s2s.analysis.memory import shared_with
from s2s.analysis.reading import may_change
from s2s.builder import cotangents
from s2s.core import ir
from s2s.core.values import Array, ListOf, Mapping, Sequence, Unknown
from s2s.errors import error
from s2s.forward.operations import add_up
from s2s.rules import table
from s2s.specialize.rule_bodies import Destination

if TYPE_CHECKING:
    from s2s.forward.sweep import Forwarder


def own(forwarder: Forwarder, var: ir.Var, span: ir.Span | None) -> None:
    """Where an array may be changed, make its tangent an array that is changed with it: of its own where the array
    is new, else what the same operation made of the other's tangent."""
    known = forwarder.context.value(var)
    if forwarder.memory.is_buffer(var) and is_computed(forwarder, var):
        own_computed(forwarder, var, span)
        return
    if not forwarder.memory.is_buffer(var) or not isinstance(known, (Array, Unknown)):
        keep_apart(forwarder, var, span)
        return
    dot = forwarder.dot(var)
    if dot is None:
        made = forwarder.zero(var, (), span)
    elif not forwarder.memory.is_new(var) and not is_number(forwarder.context.value(dot)):
        note_changed(forwarder, dot)
        return
    else:
        made = cotangents.whole(forwarder.builder, dot, var, span)
        if made == dot and (dot in forwarder.owned or not is_made_here(forwarder, dot)):
            made = forwarder.builder.call(np.copy, dot, span=span)
    if must_lie_as(forwarder, var, made):
        made = forwarder.builder.call(rt.copy_in_memory, made, var, span=span)
    forwarder.owned.add(made)
    if isinstance(made, ir.Var) and made.is_temporary:
        made = forwarder.context.renamed(forwarder.builder, made, forwarder.name(var))
        forwarder.owned.add(made)
    note_changed(forwarder, made)
    forwarder.dots[var, ()] = made


def must_lie_as(forwarder: Forwarder, var: ir.Var, made: ir.Atom) -> bool:
    """Whether the tangent of a new array has to be laid out as the array is: where the function can tell, a reshape is
    to be a view of the one where it is a view of the other."""
    known = forwarder.context.value(var)
    if not forwarder.shows_layout or not forwarder.memory.is_new(var) or is_number(known):
        return False
    if isinstance(known, Array) and known.shape is not None and len(known.shape) < 2:
        return False
    call = forwarder.context.definitions.get(made) if isinstance(made, ir.Var) else None
    fn = call.fn if isinstance(call, ir.Call) else None
    return fn != ir.Const(rt.copy_in_memory) and not (fn in _IN_ROWS and forwarder.memory.is_contiguous(var))


_IN_ROWS = (ir.Const(np.zeros_like), ir.Const(np.ndarray.copy))
"""Functions that give the tangent of an array in C order in C order."""


def is_computed(forwarder: Forwarder, var: ir.Var) -> bool:
    """Whether what a function has made of arrays is a container of arrays, or an array of which it is not known whether
    it is new, and its tangents do not alias as it does: they are not made by the same function."""
    made = forwarder.memory.made.get(var)
    rule = table.find(made.fn.value) if isinstance(made, ir.Call) and isinstance(made.fn, ir.Const) else None
    if rule is None or rule.kind not in ("several", "vjp"):
        return False
    return not forwarder.memory.is_new(var) or isinstance(forwarder.context.value(var), (Sequence, Mapping))


def own_computed(forwarder: Forwarder, var: ir.Var, span: ir.Span | None) -> None:
    """Make the tangents of what a function has computed arrays of their own, under a test that the arrays are new."""
    known, made = forwarder.context.value(var), forwarder.memory.made[var]
    sources = [] if forwarder.memory.is_new(var) else shared_with(made, known, forwarder.context.value)
    for path, item in leaves(known):
        if isinstance(item, Array) and item.dtype.kind in "fc":
            primal = forwarder.read(var, path, span)
            dot = forwarder.builder.call(rt.own_tangent, forwarder.full(var, path, span), primal, *sources, span=span)
            note_changed(forwarder, dot)
            forwarder.owned.add(dot)
            forwarder.dots[var, path] = dot


def keep_apart(forwarder: Forwarder, var: ir.Var, span: ir.Span | None) -> None:
    """Copy the tangent of what does not change where it is, or is a view of, one that does."""
    for path, _ in leaves(forwarder.context.value(var)):
        dot = forwarder.dots.get((var, path))
        if dot is not None and not forwarder.memory.is_buffer(var) and may_change(forwarder.context, dot):
            forwarder.dots[var, path] = forwarder.builder.call(np.copy, dot, span=span, name=forwarder.name(var))


def note_changed(forwarder: Forwarder, dot: ir.Atom) -> None:
    """A tangent that is changed in place does not stay what its definition says."""
    if isinstance(dot, ir.Var):
        forwarder.context.changed.add(dot)


def is_made_here(forwarder: Forwarder, dot: ir.Atom) -> bool:
    """Whether a tangent is a new array that nothing else refers to."""
    made = forwarder.context.definitions.get(dot) if isinstance(dot, ir.Var) else None
    if not isinstance(made, ir.Call) or sum(1 for d in forwarder.dots.values() if d == dot) > 1:
        return False
    return not shared_with(made, forwarder.context.value(dot), forwarder.context.value)


def store(forwarder: Forwarder, s: ir.Store) -> None:
    """A store into an array, and into its tangent."""
    target = s.target
    of = forwarder.dot(target)
    dot = forwarder.dot(s.value)
    if of is None and dot is not None:
        raise error("S2S118", span=s.span, name=forwarder.name(target) if isinstance(target, ir.Var) else "it")
    if of is None or s.kind == "opaque":
        forwarder.builder.add(s)
        return
    key: ir.Atom | None = None if s.kind == "whole" else s.key
    if isinstance(forwarder.context.value(s.value), (Sequence, ListOf)):
        dot = forwarder.whole(s.value, s.span) if forwarder.is_active(s.value) else None
    if s.op is None:
        forwarder.builder.add(ir.replace(s, target=of, value=ir.Const(0.0) if dot is None else dot))
    elif s.op in (operator.add, operator.sub) or s.kind == "at":
        if dot is not None:
            forwarder.builder.add(ir.replace(s, target=of, value=dot))
    else:
        changed_by_operator(forwarder, s, of, key, dot)
    forwarder.builder.add(s)


def changed_by_operator(
    forwarder: Forwarder, s: ir.Store, of: ir.Atom, key: ir.Atom | None, dot: ir.Atom | None
) -> None:
    """``a[i] op= v`` by the partial derivatives of the operator."""
    rule = table.find(s.op)
    if rule is None or rule.kind != "partials" or s.op is None:
        raise error("S2S119", span=s.span)
    builder, old, old_dot = forwarder.builder, s.target, of
    if key is not None:
        old = builder.call(operator.getitem, s.target, key, span=s.span)
        old_dot = builder.call(operator.getitem, of, key, span=s.span)
    result = builder.call(s.op, old, s.value, span=s.span)
    to = Destination(builder)
    p = forwarder.bodies.positional(rule.partials[0], (result, old, s.value), s.span, to)  # type: ignore[arg-type]
    total = cotangents.multiply(builder, old_dot, p, s.span)
    if dot is not None:
        p = forwarder.bodies.positional(rule.partials[1], (result, old, s.value), s.span, to)  # type: ignore[arg-type]
        total = add_up(forwarder, total, cotangents.multiply(builder, dot, p, s.span), s.span)
    builder.store(of, ir.Const(Ellipsis) if key is None else key, total, None, s.span)


__all__ = ["note_changed", "own", "store"]
