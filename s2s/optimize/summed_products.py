"""Products of matrices of which only the sum along an outer axis is wanted: the sum comes first. A function with its
sweeps goes in; one in which the reverse sweep multiplies vectors in place of matrices comes out.

    t = g @ w                               b_bar = np.sum(g, axis=0) @ w
    b_bar = np.sum(t, axis=0)       ->

The value of the function is computed as it is written.
"""

from __future__ import annotations

import operator

import numpy as np

from s2s.builder.builder import Builder, Context
from s2s.core import ir, ops
from s2s.core.values import Array
from s2s.optimize.dead import drop_dead, is_pure_call
from s2s.optimize.matrix_products import rank
from s2s.optimize.rewriting import count_uses, map_blocks

__all__ = ["sum_before_products"]

_SUM, _MATMUL = ir.Const(np.sum), (ir.Const(operator.matmul), ir.Const(np.matmul))
_OF_LISTS = tuple(map(ir.Const, (list.append, list.pop, ops.push, ops.pull)))
_AXES = {0: 0, 1: 1, -1: 1, -2: 0, (0,): 0, (1,): 1, (-1,): 1, (-2,): 0}


def sum_before_products(function: ir.Function, context: Context) -> ir.Function:
    """The function with sums before products, in the statements of the reverse sweep."""
    statements = function.body.statements
    start = next((k for k, s in enumerate(statements) if isinstance(s, ir.Note) and s.section == "reverse"), None)
    called = {s.value.fn for s in ir.walk(function.body) if isinstance(s, ir.Let) and isinstance(s.value, ir.Call)}
    if start is None or _SUM not in called or called.isdisjoint(_MATMUL):
        return function
    writer = _Writer(function, context)
    after = writer.block(ir.Block(statements[start:], ()))
    return ir.replace(function, body=ir.Block((*statements[:start], *after.statements), function.body.yields))


class _Writer:
    """``products`` are those that the block has made since something was stored, by what they are called."""

    def __init__(self, function: ir.Function, context: Context) -> None:
        self.context = context
        self.uses = count_uses(drop_dead(function, context).body)
        self.products: dict[ir.Atom, tuple[ir.Atom, ir.Atom]] = {}

    def block(self, block: ir.Block) -> ir.Block:
        made: list[ir.Statement] = []
        outside, self.products = self.products, {}
        for s in block.statements:
            if isinstance(s, ir.Let) and isinstance(s.value, ir.Call):
                if s.value.fn not in _OF_LISTS and not is_pure_call(s.value):
                    self.products.clear()
                made += self._let(s, s.value)
            else:
                made.append(map_blocks(s, self.block))
                if not isinstance(s, (ir.Let, ir.Note)):  # what a factor holds may be another thing
                    self.products.clear()
        self.products = outside
        return ir.Block(tuple(made), block.yields)

    def _let(self, s: ir.Let, call: ir.Call) -> list[ir.Statement]:
        if call.fn in _MATMUL and len(call.args) == 2 and not call.kwargs and self._is_plain(s.target):
            if self.uses[s.target] == 1 and all(map(self._is_plain, call.args)):  # type: ignore[index]
                self.products[s.target] = call.args  # type: ignore[index,assignment]
        factors = self.products.get(call.args[0]) if call.fn == _SUM and len(call.args) == 1 else None  # type: ignore[arg-type]
        axis = self._axis(call)
        if factors is None or axis is None or s.target is None:
            return [s]
        builder, parts = Builder(self.context), [*factors]
        parts[axis] = builder.call(np.sum, parts[axis], kwargs=call.kwargs, span=s.span)  # type: ignore[arg-type]
        value = ir.Call(_MATMUL[0], tuple(parts))
        self.context.definitions[s.target] = value
        return [*builder.statements, ir.replace(s, value=value)]

    def _axis(self, call: ir.Call) -> int | None:
        """The axis along which a call sums; None where it does something else."""
        named = dict(call.kwargs)
        axis = named.pop("axis", None)
        if not isinstance(axis, ir.Const) or any(key != "keepdims" for key in named):
            return None
        is_one = type(axis.value) is int or (type(axis.value) is tuple and len(axis.value) == 1)
        return _AXES.get(axis.value) if is_one else None

    def _is_plain(self, atom: object) -> bool:
        """Whether it is a matrix of floats."""
        known = self.context.value(atom) if isinstance(atom, ir.Var) else None
        is_of_floats = isinstance(known, Array) and known.dtype.kind == "f" and atom not in self.context.uncertain
        return is_of_floats and rank(known) == 2
