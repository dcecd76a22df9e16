"""``yield``: a call that says whether the generator is to end there."""

from __future__ import annotations

import libcst as cst

from s2s.core import ir, ops
from s2s.core.ir import Call, Const
from s2s.frontend.lowering.context import NONE, Context, block_of
from s2s.frontend.lowering.refusals import refuse_expression

__all__ = ["lower_yield"]


def lower_yield(c: Context, node: cst.Yield) -> None:
    """``yield item`` and ``yield from items`` in a function; in a lambda, a class or a comprehension there is none."""
    if c.scope is None or c.scope.frames or not c.scope.is_function:
        refuse_expression(c, node)
    c.scope.yields = True
    match node.value:
        case cst.From(item=items):
            iterable, item = c.atom(items), c.temporary()
            with c.block() as body:
                _give(c, item, node)
            c.put(ir.For(item, iterable, block_of(body), span=c.span(node)))
        case None:
            _give(c, NONE, node)
        case value:
            _give(c, c.atom(value), node)


def _give(c: Context, item: ir.Atom, node: cst.Yield) -> None:
    ended = c.bind(Call(Const(ops.yield_), (item,)), node)
    c.put(ir.If(ended, ir.Block((ir.Return(NONE, c.span(node)),)), ir.Block(()), (), c.span(node)))
