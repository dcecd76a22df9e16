"""The operations of the passes that generated code has by other names.

    u_bar at= (k, g)            ->      np.add.at(u_bar, k, g)
    stack = make_stack()                stack = []
"""

from __future__ import annotations

import operator

from s2s.analysis.memory import is_basic
from s2s.builder.builder import Context
from s2s.core import ir, ops
from s2s.core.array_classes import compiled_for, has_memory
from s2s.core.operators import OPERATORS
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
    has to have lengths that they know."""
    is_graph = not has_memory(compiled_for())

    def spelled(s: ir.Statement) -> tuple[ir.Statement, ...]:
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


def _spelled(s: ir.Statement) -> tuple[ir.Statement, ...]:
    match s:
        case ir.Store(kind="at", op=op) if op is not None:
            at = ir.Const(OPERATORS[op].ufunc.at)
            return (ir.Let(None, ir.Call(at, (s.target, s.key, s.value)), s.span, s.reads, s.makes),)
        case ir.Let(_, ir.Call(ir.Const() as fn) as call) if fn in _STACKS:
            return (ir.replace(s, value=ir.replace(call, fn=_STACKS[fn])),)
    return (s,)
