"""Cross products of two vectors of three numbers are computed in numbers: NumPy's function, which is for stacks of them
along any axis, takes ten times as long for one.

    t = np.cross(axis, point)       ->      t = rt.cross(axis, point)
"""

from __future__ import annotations

import numpy as np

from s2s import runtime as rt
from s2s.builder.builder import Context
from s2s.core import ir
from s2s.core.values import Array, Dim
from s2s.optimize.rewriting import map_blocks

__all__ = ["cross_in_numbers"]

_CROSS = (ir.Const(np.cross), ir.Const(np.linalg.cross))


def cross_in_numbers(function: ir.Function, context: Context) -> ir.Function:
    """The function with the cross products of single vectors computed in numbers."""
    def block(b: ir.Block) -> ir.Block:
        return ir.Block(tuple(map(statement, b.statements)), b.yields)

    def statement(s: ir.Statement) -> ir.Statement:
        if isinstance(s, ir.Let) and isinstance(s.value, ir.Call) and s.value.fn in _CROSS:
            if _is_of_vectors(s, s.value, context):
                return ir.replace(s, value=ir.Call(ir.Const(rt.cross), s.value.args, ()))
            return s
        return map_blocks(s, block)

    return ir.replace(function, body=block(function.body))


def _is_of_vectors(s: ir.Let, call: ir.Call, context: Context) -> bool:
    """Whether two vectors are multiplied that give another one, all in double precision."""
    if s.target is None or len(call.args) != 2 or any(k != "axis" or a != ir.Const(-1) for k, a in call.kwargs):
        return False
    known = context.value(s.target)
    if not isinstance(known, Array) or known.shape != (Dim("", 3),) or known.dtype != np.float64:
        return False
    values = [context.value(a) for a in call.args]  # type: ignore[arg-type]
    return context.uncertain.isdisjoint(call.args) and all(
        isinstance(v, Array) and v.shape is not None and len(v.shape) == 1 and v.dtype == np.float64 for v in values
    )
