"""A system whose matrix is triangular by how it was made is solved by substitution.

    lower = np.linalg.cholesky(k)             lower = np.linalg.cholesky(k)
    b_bar = np.linalg.solve(lower.T, g)  ->   b_bar = rt.solve_triangular(lower, g, lower=True, transposed=True)

The matrices of Cholesky factors are never singular; of others that are triangular nothing is known.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.analysis.memory import Memory
from s2s.builder.builder import Context
from s2s.core import ir
from s2s.core.values import Array
from s2s.optimize.rewriting import map_blocks, without_result

__all__ = ["TRANSPOSES", "substitute_in_triangular"]

_SOLVE, _CHOLESKY = ir.Const(np.linalg.solve), ir.Const(np.linalg.cholesky)


def substitute_in_triangular(function: ir.Function, context: Context) -> ir.Function:
    """The function with the systems of its Cholesky factors solved by substitution."""
    called = {s.value.fn for s in ir.walk(function.body) if isinstance(s, ir.Let) and isinstance(s.value, ir.Call)}
    return _Substituter(function, context).run() if {_SOLVE, _CHOLESKY} <= called else function


class _Substituter:
    """``made`` is what each variable was made by."""

    def __init__(self, function: ir.Function, context: Context) -> None:
        self.function = function
        self.context = context
        self.memory = Memory(without_result(function), context.value)
        self.made = {s.target: s.value for s in ir.walk(function.body) if isinstance(s, ir.Let)}

    def run(self) -> ir.Function:
        return ir.replace(self.function, body=self._block(self.function.body))

    def _block(self, block: ir.Block) -> ir.Block:
        return ir.Block(tuple(map(self._statement, block.statements)), block.yields)

    def _statement(self, s: ir.Statement) -> ir.Statement:
        match s:
            case ir.Let(value=ir.Call(fn, (a, b), ())) if fn == _SOLVE and self._is_one(b):
                found = self._factor(a)
                if found is not None:
                    factor, lower, transposed = found
                    kind = (("lower", ir.Const(lower)), ("transposed", ir.Const(transposed)))
                    return ir.replace(s, value=ir.Call(ir.Const(rt.solve_triangular), (factor, b), kind))
        return map_blocks(s, self._block)

    def _is_one(self, b: Any) -> bool:
        """Whether a right side is a vector or a matrix, and no stack of them."""
        known = self.context.value(b)
        return isinstance(known, Array) and known.shape is not None and len(known.shape) in (1, 2)

    def _factor(self, matrix: Any) -> tuple[ir.Var, bool, bool] | None:
        """The Cholesky factor that a matrix is, whether it is the lower one, and whether it is transposed."""
        transposed = False
        while isinstance(matrix, ir.Var) and not self.memory.is_buffer(matrix):
            made = self.made.get(matrix)
            if not isinstance(made, ir.Call):
                return None
            if made.fn == _CHOLESKY:
                known, upper = self.context.value(matrix), dict(made.kwargs).get("upper", _FALSE)
                is_matrix = isinstance(known, Array) and known.shape is not None and len(known.shape) == 2
                return (matrix, upper == _FALSE, transposed) if is_matrix and upper in (_FALSE, _TRUE) else None
            if (made.fn, made.args[1:]) not in TRANSPOSES or made.kwargs:
                return None
            matrix, transposed = made.args[0], not transposed
        return None


_FALSE, _TRUE = ir.Const(False), ir.Const(True)
TRANSPOSES = [
    (ir.Const(getattr), (ir.Const("T"),)), (ir.Const(np.transpose), ()),
    *((ir.Const(np.swapaxes), axes) for axes in itertools.permutations((ir.Const(-1), ir.Const(-2)))),
]
