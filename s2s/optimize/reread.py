"""Views whose adjoint is no view of their array's, of an array that changes: they are made again where they are read. A
function in SSA form goes in, and one that means the same comes out.

    w = sliding_window_view(y, 3)               y[1] = x[0]
    y[1] = x[0]                         ->      w2 = sliding_window_view(y, 3)
    s = np.sum(w)                               s = np.sum(w2)

The adjoint of overlapping windows, of a broadcast array or of the imaginary part of a complex one cannot lie in the
adjoint of the array as the view lies in the array: what is added to it would not add up. Where nothing changes the
array between the making of a view and its reading, it is the adjoint of a value.
"""

from __future__ import annotations

import numpy as np

from s2s import runtime as rt
from s2s.analysis.abstract.lattice import known
from s2s.analysis.adjoint_placement import RUNTIME, AdjointPlacement
from s2s.analysis.memory import Memory, shared_with
from s2s.builder.builder import Context
from s2s.core import ir
from s2s.core.values import AbstractValue, Array, Known
from s2s.errors import error
from s2s.optimize.rewriting import substitute

__all__ = ["reread"]

_VIEWS = frozenset(map(ir.Const, (
    np.lib.stride_tricks.sliding_window_view, np.broadcast_to, np.diagonal, np.ndarray.diagonal, np.linalg.diagonal,
    np.real, np.imag, rt.gather,
)))
_PARTS = ir.Const("real"), ir.Const("imag")


def reread(function: ir.Function, context: Context) -> ir.Function:
    """The function with such views made again where they are read. Raises UnsupportedSyntaxError where one that is read
    by its places (``rt.gather``) cannot be: it would show what was there before."""
    made = [s for s in ir.walk(function.body) if isinstance(s, ir.Let) and _is_view(s, context)]
    if not made:
        return function
    memory = Memory(function, context.value)
    changing = [s for s in made if memory.is_buffer(s.target)]  # type: ignore[arg-type]
    if not changing:
        return function
    placement = AdjointPlacement(function, memory)
    views: dict[ir.Var, ir.Let] = {}
    for s in changing:
        assert s.target is not None and isinstance(s.value, ir.Call)
        found = _seen_through(s, function, memory)
        if not any(placement.kind(var) == RUNTIME or s.value.fn == _GATHER for var in found):
            continue
        if _are_only_read(set(found), function, memory, context):
            views |= found
        elif s.value.fn == _GATHER:
            raise error("S2S118", span=s.span, name=s.target.name.lstrip("%") or "an array by its strides")
    return ir.replace(function, body=_Again(views, context).block(function.body)) if views else function


_GATHER = ir.Const(rt.gather)


def _is_view(s: ir.Let, context: Context) -> bool:
    """Whether a statement makes a view of an array whose adjoint would be none."""
    if s.target is None or not isinstance(s.value, ir.Call):
        return False
    fn, args = s.value.fn, s.value.args
    if not args or not isinstance(args[0], ir.Var) or not isinstance(source := context.value(args[0]), Array):
        return False
    return fn in _VIEWS or (fn == ir.Const(getattr) and args[1] in _PARTS and source.dtype.kind == "c")


def _seen_through(made: ir.Let, function: ir.Function, memory: Memory) -> dict[ir.Var, ir.Let]:
    """A view and the views of it, with the statements that make them."""
    assert made.target is not None
    found = {made.target: made}
    for s in ir.walk(function.body):
        if isinstance(s, ir.Let) and s.target is not None and memory.base_of(s.target) in found:
            found[s.target] = s
    return found


def _are_only_read(views: set[ir.Var], function: ir.Function, memory: Memory, context: Context) -> bool:
    """Whether statements that use the views read them there and then, and keep none of them."""
    if not views.isdisjoint(memory.stored) or not views.isdisjoint(function.body.yields[1:]):
        return False
    for s in ir.walk(function.body):
        if any(not views.isdisjoint(b.yields) for b in ir.blocks_of(s)):
            return False
        if views.isdisjoint(ir.reads_of(s)):
            continue
        if isinstance(s, ir.Let):
            if s.target in views or not views.intersection(shared_with(s.value, _kind(s, context), context.value)):
                continue
            return False
        if not isinstance(s, (ir.Store, ir.If, ir.Assert)) or not isinstance(_target(s, context), (Array, Known)):
            return False
    return True


def _kind(s: ir.Let, context: Context) -> AbstractValue:
    return known(None) if s.target is None else context.value(s.target)


def _target(s: ir.Statement, context: Context) -> object:
    """What is known of an array that a statement stores into."""
    return context.value(s.target) if isinstance(s, ir.Store) else known(None)


class _Again:
    """Makes views again before the statements that read them."""

    def __init__(self, views: dict[ir.Var, ir.Let], context: Context) -> None:
        self.views = views
        self.context = context

    def block(self, b: ir.Block) -> ir.Block:
        made: list[ir.Statement] = []
        for s in b.statements:
            if not isinstance(s, ir.Let) or s.target not in self.views:
                read = [a for a in dict.fromkeys(ir.reads_of(s)) if a in self.views]
                inner = [self.block(one) for one in ir.blocks_of(s)]
                s = ir.with_blocks(s, inner)
                if read:
                    s = substitute(s, {a: self.again(a, made) for a in read})  # type: ignore[arg-type]
                    self.note(s)
            made.append(s)
        read = [a for a in dict.fromkeys(b.yields) if a in self.views]
        again: dict[ir.Atom, ir.Atom] = {a: self.again(a, made) for a in read}  # type: ignore[arg-type]
        return ir.Block(tuple(made), tuple(again.get(a, a) for a in b.yields))

    def again(self, var: ir.Var, made: list[ir.Statement]) -> ir.Var:
        """A view, made again after the statements so far."""
        s = self.views[var]
        assert isinstance(s.value, ir.Call)
        base = s.value.args[0]
        if base in self.views:
            value = ir.replace(s.value, args=(self.again(base, made), *s.value.args[1:]))  # type: ignore[arg-type]
        else:
            value = s.value
        context = self.context
        found = context.define(var.name, context.value(var), context.is_varied(var), value)
        made.append(ir.Let(found, value, s.span))
        return found

    def note(self, s: ir.Statement) -> None:
        if isinstance(s, ir.Let) and s.target is not None and s.value is not None:
            self.context.definitions[s.target] = s.value
