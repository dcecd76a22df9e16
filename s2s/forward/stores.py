"""Tangents of arrays that are changed in place: arrays that are changed with them, and that alias as they do."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import numpy as np

from s2s import runtime as rt
from s2s.analysis.abstract.lattice import is_number
from s2s.analysis.abstract.parts import leaves
from s2s.analysis.memory import shared_with
from s2s.builder import cotangents
from s2s.core import ir
from s2s.core.values import Array, ListOf, Mapping, Sequence, Unknown
from s2s.errors import error
from s2s.forward.operations import add_up, inline
from s2s.optimize.reading import may_change
from s2s.rules import table

if TYPE_CHECKING:
    from s2s.forward.sweep import Forwarder


def own(self: Forwarder, var: ir.Var, span: ir.Span | None) -> None:
    """Where an array may be changed, make its tangent an array that is changed with it: of its own where the array
    is new, else what the same operation made of the other's tangent."""
    known = self.context.value(var)
    if self.memory.is_buffer(var) and is_computed(self, var):
        own_computed(self, var, span)
        return
    if not self.memory.is_buffer(var) or not isinstance(known, (Array, Unknown)):
        keep_apart(self, var, span)
        return
    dot = self.dot(var)
    if dot is None:
        made = self.zero(var, (), span)
    elif not self.memory.is_new(var) and not is_number(self.context.value(dot)):
        note_changed(self, dot)
        return
    else:
        made = cotangents.whole(self.builder, dot, var, span)
        if made == dot and (dot in self.owned or not is_made_here(self, dot)):
            made = self.builder.call(np.copy, dot, span=span)
    if must_lie_as(self, var, made):
        made = self.builder.call(rt.copy_in_memory, made, var, span=span)
    self.owned.add(made)
    if isinstance(made, ir.Var) and made.is_temporary:
        made = self.context.renamed(self.builder, made, self.name(var))
        self.owned.add(made)
    note_changed(self, made)
    self.dots[var, ()] = made


def must_lie_as(self: Forwarder, var: ir.Var, made: ir.Atom) -> bool:
    """Whether the tangent of a new array has to be laid out as the array is: where the function can tell, a reshape is
    to be a view of the one where it is a view of the other."""
    known = self.context.value(var)
    if not self.shows_layout or not self.memory.is_new(var) or is_number(known):
        return False
    if isinstance(known, Array) and known.shape is not None and len(known.shape) < 2:
        return False
    call = self.context.definitions.get(made) if isinstance(made, ir.Var) else None
    fn = call.fn if isinstance(call, ir.Call) else None
    return fn != ir.Const(rt.copy_in_memory) and not (fn in _IN_ROWS and self.memory.is_contiguous(var))


_IN_ROWS = (ir.Const(np.zeros_like), ir.Const(np.ndarray.copy))
"""Functions that give the tangent of an array in C order in C order."""


def is_computed(self: Forwarder, var: ir.Var) -> bool:
    """Whether what a function has made of arrays is a container of arrays, or an array of which it is not known whether
    it is new, and its tangents do not alias as it does: they are not made by the same function."""
    made = self.memory.made.get(var)
    rule = table.find(made.fn.value) if isinstance(made, ir.Call) and isinstance(made.fn, ir.Const) else None
    if rule is None or rule.kind not in ("several", "vjp"):
        return False
    return not self.memory.is_new(var) or isinstance(self.context.value(var), (Sequence, Mapping))


def own_computed(self: Forwarder, var: ir.Var, span: ir.Span | None) -> None:
    """Make the tangents of what a function has computed arrays of their own, under a test that the arrays are new."""
    known, made = self.context.value(var), self.memory.made[var]
    sources = [] if self.memory.is_new(var) else shared_with(made, known, self.context.value)
    for path, item in leaves(known):
        if isinstance(item, Array) and item.dtype.kind in "fc":
            primal = self.read(var, path, span)
            dot = self.builder.call(rt.own_tangent, self.full(var, path, span), primal, *sources, span=span)
            note_changed(self, dot)
            self.owned.add(dot)
            self.dots[var, path] = dot


def keep_apart(self: Forwarder, var: ir.Var, span: ir.Span | None) -> None:
    """Copy the tangent of what does not change where it is, or is a view of, one that does."""
    for path, _ in leaves(self.context.value(var)):
        dot = self.dots.get((var, path))
        if dot is not None and not self.memory.is_buffer(var) and may_change(self.context, dot):
            self.dots[var, path] = self.builder.call(np.copy, dot, span=span, name=self.name(var))


def note_changed(self: Forwarder, dot: ir.Atom) -> None:
    """A tangent that is changed in place does not stay what its definition says."""
    if isinstance(dot, ir.Var):
        self.context.changed.add(dot)


def is_made_here(self: Forwarder, dot: ir.Atom) -> bool:
    """Whether a tangent is a new array that nothing else refers to."""
    made = self.context.definitions.get(dot) if isinstance(dot, ir.Var) else None
    if not isinstance(made, ir.Call) or sum(1 for d in self.dots.values() if d == dot) > 1:
        return False
    return not shared_with(made, self.context.value(dot), self.context.value)


def store(self: Forwarder, s: ir.Store) -> None:
    """A store into an array, and into its tangent."""
    target = s.target
    of = self.dot(target)
    dot = self.dot(s.value)
    if of is None and dot is not None:
        raise error("S2S118", span=s.span, name=self.name(target) if isinstance(target, ir.Var) else "it")
    if of is None or s.kind == "opaque":
        self.builder.add(s)
        return
    key: ir.Atom | None = None if s.kind == "whole" else s.key
    if isinstance(self.context.value(s.value), (Sequence, ListOf)):
        dot = self.whole(s.value, s.span) if self.is_active(s.value) else None
    if s.op is None:
        self.builder.add(ir.replace(s, target=of, value=ir.Const(0.0) if dot is None else dot))
    elif s.op in (operator.add, operator.sub) or s.kind == "at":
        if dot is not None:
            self.builder.add(ir.replace(s, target=of, value=dot))
    else:
        changed_by_operator(self, s, of, key, dot)
    self.builder.add(s)


def changed_by_operator(self: Forwarder, s: ir.Store, of: ir.Atom, key: ir.Atom | None, dot: ir.Atom | None) -> None:
    """``a[i] op= v`` by the partial derivatives of the operator."""
    rule = table.find(s.op)
    if rule is None or rule.kind != "partials" or s.op is None:
        raise error("S2S119", span=s.span)
    builder, old, old_dot = self.builder, s.target, of
    if key is not None:
        old = builder.call(operator.getitem, s.target, key, span=s.span)
        old_dot = builder.call(operator.getitem, of, key, span=s.span)
    result = builder.call(s.op, old, s.value, span=s.span)
    p = inline(self, rule.partials[0], (result, old, s.value), s.span)  # type: ignore[arg-type]
    total = cotangents.multiply(builder, old_dot, p, s.span)
    if dot is not None:
        p = inline(self, rule.partials[1], (result, old, s.value), s.span)  # type: ignore[arg-type]
        total = add_up(self, total, cotangents.multiply(builder, dot, p, s.span), s.span)
    builder.store(of, ir.Const(Ellipsis) if key is None else key, total, None, s.span)


__all__ = ["note_changed", "own", "store"]
