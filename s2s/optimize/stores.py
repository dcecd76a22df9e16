"""The operations of the passes that generated code has by other names.

    u_bar at= (k, g)            ->      np.add.at(u_bar, k, g)
    stack = make_stack()                stack = []
    t0 = x[i, j]                        t0 = rt.picked(x, (i, j))       of a Dask array, arrays i and j
"""

from __future__ import annotations

import operator

import numpy as np

from s2s import runtime as rt
from s2s.analysis.abstract.lattice import is_number
from s2s.analysis.memory import is_basic
from s2s.builder.builder import Context
from s2s.core import ir, ops
from s2s.core.array_classes import compiled_for, has_memory
from s2s.core.operators import OPERATORS
from s2s.core.values import AbstractValue, Array, Known, ListOf, Sequence, Unknown
from s2s.optimize.rewriting import map_blocks

__all__ = ["spell_stores"]


_SUMS = (operator.add, operator.sub)

_STACKS = {
    ir.Const(ops.make_stack): ir.Const(ops.make_list), ir.Const(ops.copy_stack): ir.Const(list),
    ir.Const(ops.push): ir.Const(list.append), ir.Const(ops.pull): ir.Const(list.pop),
}
"""The operations of stacks, as generated code has them."""


def spell_stores(function: ir.Function, context: Context) -> ir.Function:
    """The function with stores that add to an entry as often as it is named as calls of ``np.add.at``, stacks as
    lists. So with all additions at places that arrays give, where arrays lie in no memory: what those of Dask add to
    has to have lengths that they know; and Dask takes one array of integers of one axis as an index."""
    is_graph = not has_memory(compiled_for())

    def spelled(s: ir.Statement) -> tuple[ir.Statement, ...]:
        if is_graph and isinstance(s, ir.Let) and _reads_at_many(s, context):
            return (ir.replace(s, value=ir.replace(s.value, fn=ir.Const(rt.picked))),)
        if is_graph and isinstance(s, ir.Store) and s.kind == "item" and s.op in _SUMS:
            if not is_basic(context.value(s.key)):
                s = ir.replace(s, kind="at")
        return _spelled(s)

    def block(b: ir.Block) -> ir.Block:
        made = (map_blocks(t, block) for s in b.statements for t in spelled(s))
        return ir.Block(tuple(made), b.yields)

    if all(spelled(s)[0] is s for s in ir.walk(function.body)):
        return function
    return ir.replace(function, body=block(function.body))


def _reads_at_many(s: ir.Let, context: Context) -> bool:
    """Whether a statement may read an array at places that arrays for several axes, or of several axes, give; or an
    array and, apart from it, a number, which is an array then on NumPy."""
    if not isinstance(s.value, ir.Call) or s.value.fn != ir.Const(operator.getitem):
        return False
    array, key = context.value(s.value.args[0]), context.value(s.value.args[1])  # type: ignore[arg-type]
    if not isinstance(array, Array):
        return False
    if isinstance(key, (Unknown, ListOf)) and not isinstance(key, Array):
        return True
    items = key.items if isinstance(key, Sequence) and key.type is tuple else (key,)
    ranks = [_rank_of_places(one) for one in items]
    if max(ranks, default=0) > 1 or sum(1 for rank in ranks if rank) > 1:
        return True
    numbers = [k for k, one in enumerate(items) if is_number(one)]
    return any(abs(k - n) > 1 for k, rank in enumerate(ranks) if rank for n in numbers)


def _rank_of_places(index: AbstractValue) -> int:
    """The number of axes of an array, or a list, among indices; of a mask one at most."""
    if isinstance(index, Array):
        rank = 2 if index.shape is None else len(index.shape)
        return min(rank, 1) if index.dtype.kind == "b" else rank
    if isinstance(index, (ListOf, Sequence)):
        item = index.item if isinstance(index, ListOf) else index.items[0] if index.items else None
        is_list = isinstance(index, ListOf) or index.type is list
        return 0 if not is_list else 1 + (_rank_of_places(item) if item is not None else 0)
    known = index.value if isinstance(index, Known) else None
    return np.ndim(known) if isinstance(known, (list, np.ndarray)) else 0


def _spelled(s: ir.Statement) -> tuple[ir.Statement, ...]:
    match s:
        case ir.Store(kind="at", op=op) if op is not None:
            at = ir.Const(OPERATORS[op].ufunc.at)
            return (ir.Let(None, ir.Call(at, (s.target, s.key, s.value)), s.span, s.reads, s.makes),)
        case ir.Let(_, ir.Call(ir.Const() as fn) as call) if fn in _STACKS:
            return (ir.replace(s, value=ir.replace(call, fn=_STACKS[fn])),)
    return (s,)
