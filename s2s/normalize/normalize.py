"""Normalize: a function in named form goes in; the same function in SSA form comes out, nested functions too.

First exits become structured (``normalize.exits``), then variables get versions (``normalize.ssa``).

>>> import operator
>>> x, test = ir.Var("x"), ir.Var("%", 7)
>>> early = ir.If(test, ir.Block((ir.Return(ir.Const(0.0)),)), ir.Block(()))
>>> named = ir.Block((ir.Let(test, ir.Call(ir.Const(operator.lt), (x, ir.Const(0.0)))), early, ir.Return(x)))
>>> print(show(normalize(ir.Function("ramp", (ir.Param(x),), named))), end="")
def ramp(x):
    % = _operator.lt(x, 0.0)
    %.1 = if %:
        yield 0.0
    else:
        yield x
    yield %.1
"""

from __future__ import annotations

from s2s.core import ir
from s2s.normalize.exits import resolve_exits
from s2s.normalize.ssa import to_ssa

__all__ = ["normalize"]


def normalize(function: ir.Function) -> ir.Function:
    """The function in SSA form."""
    resolved = resolve_exits(function)
    return to_ssa(ir.replace(resolved, body=_normalize_nested(resolved.body)))


def _normalize_nested(block: ir.Block) -> ir.Block:
    return ir.Block(tuple(map(_normalize_in, block.statements)), block.yields)


def _normalize_in(statement: ir.Statement) -> ir.Statement:
    match statement:
        case ir.Let(_, ir.MakeFunction(function) as make):
            return ir.replace(statement, value=ir.replace(make, function=normalize(function)))
    return ir.with_blocks(statement, map(_normalize_nested, ir.blocks_of(statement)))
