"""Calls of helpers become what they come to in Python, where the kinds of their arguments say so.

    squares_bar = rt.zeros_of(squares)        squares_bar = [0.0] * len(squares)
    t = 3**x * rt.log_of_positive(3)          t = 3**x * math.log(3)
"""

from __future__ import annotations

import math
import operator

import numpy as np

from s2s import runtime as rt
from s2s.builder.builder import Context
from s2s.core import ir, ops
from s2s.core.values import ListOf, Scalar
from s2s.optimize.rewriting import map_blocks

__all__ = ["spell_helpers"]


def spell_helpers(function: ir.Function, context: Context) -> ir.Function:
    """The function with fewer calls of the runtime."""
    helpers = (rt.zeros_of, rt.log_of_positive)
    if not any(_calls(s, helper) for s in ir.walk(function.body) for helper in helpers):
        return function

    def block(b: ir.Block) -> ir.Block:
        made = [new for s in b.statements for new in _spelled(map_blocks(s, block), context)]
        return ir.Block(tuple(made), b.yields)

    return ir.replace(function, body=block(function.body))


def _calls(s: ir.Statement, helper: object) -> bool:
    return isinstance(s, ir.Let) and isinstance(s.value, ir.Call) and s.value.fn == ir.Const(helper)


def _spelled(s: ir.Statement, context: Context) -> list[ir.Statement]:
    if not isinstance(s, ir.Let) or not isinstance(s.value, ir.Call) or len(s.value.args) != 1:
        return [s]
    (argument,) = s.value.args
    if isinstance(argument, ir.Star):
        return [s]
    if _calls(s, rt.log_of_positive) and isinstance(argument, ir.Const) and argument.value > 0:
        return [ir.replace(s, value=ir.replace(s.value, fn=ir.Const(math.log)))]
    known = context.value(argument)
    if _calls(s, rt.zeros_of) and isinstance(known, ListOf) and known.item in (Scalar(float), Scalar(np.float64)):
        length, zero = context.define("%", Scalar(int)), context.define("%", ListOf(Scalar(float)))
        return [
            ir.replace(s, target=length, value=ir.Call(ir.Const(len), (argument,))),
            ir.replace(s, target=zero, value=ir.Call(ir.Const(ops.make_list), (ir.Const(0.0),))),
            ir.replace(s, value=ir.Call(ir.Const(operator.mul), (zero, length))),
        ]
    return [s]
