"""Statements that may stand anywhere before their reader, put right before it, where they are easier to follow.

    t = saved.pop()                     u_bar[1:] += ...
    u_bar[1:] += ...            ->      t = saved.pop()
    u[...] = t                          u[...] = t

What is taken from a list of kept values is the same as long as nothing else is taken from it; a view is the same array
whatever is stored into it.
"""

from __future__ import annotations

import operator

from s2s.analysis.memory import is_basic
from s2s.builder.builder import Context
from s2s.core import ir, ops
from s2s.core.values import Array
from s2s.optimize.rewriting import map_blocks

__all__ = ["mentions", "sink"]


def sink(function: ir.Function, context: Context) -> ir.Function:
    """The function with such statements of its blocks right before their first reader."""

    def block(b: ir.Block) -> ir.Block:
        statements = [map_blocks(s, block) for s in b.statements]
        for place in range(len(statements) - 2, -1, -1):
            moving = statements[place]
            held = _held(moving, context)
            if held is None:
                continue
            until = place + 1
            while until < len(statements) and not mentions(statements[until], held):
                until += 1
            if until < len(statements):
                span = getattr(statements[until], "span", None)
                statements[place:until] = [*statements[place + 1 : until], ir.replace(moving, span=span)]
        return ir.Block(tuple(statements), b.yields)

    return ir.replace(function, body=block(function.body))


def _held(s: ir.Statement, context: Context) -> set[ir.Atom] | None:
    """What a statement must stay before: the mentions of its result, and of the list that it takes it from; None for
    one that has its place."""
    if not isinstance(s, ir.Let) or s.target is None or not isinstance(s.value, ir.Call) or s.value.kwargs:
        return None
    target, fn, args = s.target, s.value.fn, s.value.args
    if not isinstance(fn, ir.Const):
        return None
    if fn.value is list.pop and len(args) == 1:
        return {target, args[0]}  # type: ignore[arg-type]
    if not target.is_temporary:
        return None
    is_syntax = fn.value is slice or fn.value is ops.make_tuple
    return {target} if is_syntax or _is_view(fn.value, args, target, context) else None


def _is_view(fn: object, args: tuple[ir.Atom | ir.Star, ...], target: ir.Var, context: Context) -> bool:
    known = context.value(target)
    if fn is not operator.getitem or not isinstance(known, Array) or not known.shape:
        return False
    source, index = args
    return isinstance(context.value(source), Array) and is_basic(context.value(index))  # type: ignore[arg-type]


def mentions(s: ir.Statement, atoms: set[ir.Atom]) -> bool:
    """Whether a statement or what stands in it reads or gives one of these."""
    return not atoms.isdisjoint(ir.reads_of(s)) or any(
        not atoms.isdisjoint(b.yields) or any(mentions(inner, atoms) for inner in b.statements)
        for b in ir.blocks_of(s)
    )
