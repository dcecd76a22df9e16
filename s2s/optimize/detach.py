"""Arrays that are put into a list in a loop, after they were changed in place: a copy is put there, so that the list
holds values. A function in SSA form goes in, and one that means the same comes out.

    for e in rows:                          for e in rows:
        b = np.zeros(n)                         b = np.zeros(n)
        b[0] = e * x            ->              b[0] = e * x
        found.append(b)                         found.append(np.copy(b))

The reverse sweep keeps the adjoint of memory that changes beside the memory; for a list of unknown length of such
arrays it could not.
"""

from __future__ import annotations

import numpy as np

from s2s.analysis.memory import Memory, changed_by
from s2s.builder.builder import Context
from s2s.core import ir, ops
from s2s.core.values import Array

__all__ = ["detach"]


def detach(function: ir.Function, context: Context) -> ir.Function:
    """The function with copies of the arrays that no statement changes once they are in a list."""
    if not any(map(_appended, ir.walk(function.body))):
        return function
    memory = Memory(function, context.value)
    if not memory.changed:
        return function

    def block(b: ir.Block, loop: ir.Block | None) -> ir.Block:
        made: list[ir.Statement] = []
        for s in b.statements:
            array = _appended(s)
            if loop is not None and array is not None and _is_settled(s, array, loop, memory, function):
                assert isinstance(s, ir.Let) and isinstance(s.value, ir.Call)
                call = ir.Call(ir.Const(np.copy), (array,))
                copy = context.define("%", context.value(array), context.is_varied(array), call)
                made.append(ir.Let(copy, call, s.span))
                s = ir.replace(s, value=ir.replace(s.value, args=(s.value.args[0], copy)))
                assert isinstance(s, ir.Let) and s.target is not None and s.value is not None
                context.definitions[s.target] = s.value
            inside = isinstance(s, (ir.For, ir.While))
            made.append(ir.with_blocks(s, [block(inner, inner if inside else loop) for inner in ir.blocks_of(s)]))
        return ir.Block(tuple(made), b.yields)

    return ir.replace(function, body=block(function.body, None))


def _appended(s: ir.Statement) -> ir.Var | None:
    """What a statement puts at the end of a list, where that is a variable."""
    match s:
        case ir.Let(ir.Var(), ir.Call(ir.Const(value=fn), (_, ir.Var() as item))) if fn is ops.append:
            return item
    return None


def _is_settled(s: ir.Statement, array: ir.Var, loop: ir.Block, memory: Memory, function: ir.Function) -> bool:
    """Whether an array is one of its own in each iteration of a loop, and all that changes it, or may, stands before
    ``s`` in the iteration."""
    if not isinstance(memory.value_of(array), Array) or not memory.is_buffer(array):
        return False
    iteration = list(ir.walk(loop))
    before = {id(t) for t in iteration[: next(k for k, t in enumerate(iteration) if t is s)]}
    own = {v for t in iteration for v in ir.defs_of(t)}
    for t in ir.walk(function.body):
        target = changed_by(t)
        if not isinstance(target, ir.Var) or memory.find(target) != memory.find(array):
            continue
        root: ir.Var = target
        while (base := memory.base_of(root)) is not None:
            root = base
        if id(t) not in before or root not in own or not memory.is_new(root):
            return False
    return True
