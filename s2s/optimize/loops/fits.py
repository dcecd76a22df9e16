"""Cotangents of short slices with constant bounds: they fit, where the slice is as long as its bounds say.

    g = rt.unbroadcast(t, x[3:6])       rt.check_lengths(3, x[3:6].shape[0])
    a[:] = g                    ->      a[:] = t                                    for t of length 3
"""

from __future__ import annotations

import operator

from s2s import runtime as rt
from s2s.builder.builder import Builder, Context
from s2s.core import ir
from s2s.core.values import Array, Known
from s2s.optimize.loops.writing import SHORT
from s2s.optimize.rewriting import substitute

__all__ = ["fit_slices"]

_UNBROADCAST = ir.Const(rt.unbroadcast)


def fit_slices(function: ir.Function, context: Context) -> ir.Function:
    """The function without such calls of ``rt.unbroadcast``."""
    lets = (s for s in ir.walk(function.body) if isinstance(s, ir.Let) and isinstance(s.value, ir.Call))
    if not any(s.value.fn == _UNBROADCAST for s in lets):  # type: ignore[union-attr]
        return function
    return ir.replace(function, body=_block(function.body, context))


def _block(block: ir.Block, context: Context) -> ir.Block:
    builder = Builder(context)
    mapping: dict[ir.Atom, ir.Atom] = {}
    for one in block.statements:
        s = substitute(one, mapping)
        match s:
            case ir.Let(ir.Var() as target, ir.Call(fn, (ir.Var() as g, ir.Var() as x), ())) if fn == _UNBROADCAST:
                n = _length(context, g)
                if n is not None and _bounds_say(context, x) == n:
                    shape = builder.call(getattr, x, ir.Const("shape"), span=s.span)
                    length = builder.call(operator.getitem, shape, ir.Const(0), span=s.span)
                    builder.call(rt.check_lengths, ir.Const(n), length, span=s.span, effect=True)
                    mapping[target] = g
                    continue
        inner = ir.blocks_of(s)
        is_let = isinstance(s, ir.Let)
        builder.add(ir.with_blocks(s, [_block(b, context) for b in inner]) if inner and not is_let else s)
    return ir.Block(tuple(builder.statements), tuple(mapping.get(a, a) for a in block.yields))


def _length(context: Context, atom: ir.Atom) -> int | None:
    """The length of a short vector of known length."""
    known = context.value(atom)
    if not isinstance(known, Array) or known.shape is None or len(known.shape) != 1 or known.shape[0].symbol:
        return None
    return known.shape[0].offset if 2 <= known.shape[0].offset <= SHORT else None


def _bounds_say(context: Context, atom: ir.Atom) -> int | None:
    """How long a slice along the first axis of an array is, if that is long enough."""
    made, known = context.definition(atom, operator.getitem), context.value(atom)
    if made is None or not isinstance(known, Array) or known.shape is None or len(known.shape) != 1:
        return None
    key = context.value(made[1])
    bounds: tuple[object, ...] = ()
    if isinstance(key, Known) and type(key.value) is slice:
        bounds = key.value.start, key.value.stop, key.value.step
    elif (given := context.definition(made[1], slice)) is not None and all(isinstance(b, ir.Const) for b in given):
        bounds = tuple(b.value for b in given)  # type: ignore[union-attr]
    if len(bounds) != 3 or bounds[2] not in (None, 1):
        return None
    start, stop = bounds[0] or 0, bounds[1]
    is_known = type(start) is int and type(stop) is int and 0 <= start < stop
    return stop - start if is_known else None  # type: ignore[operator]
