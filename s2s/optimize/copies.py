"""Copies of arrays to which nothing else refers: a function goes in, the same without them comes out.

    g_bar = x * y_bar                   g_bar = x * y_bar
    g_bar_1 = np.copy(g_bar)    ->      g_bar[0] += 1.0
    g_bar_1[0] += 1.0
"""

from __future__ import annotations

import numpy as np

from s2s.analysis.abstract.lattice import shape_of
from s2s.analysis.functions import makes_new
from s2s.builder.builder import Context
from s2s.core import ir
from s2s.optimize.rewriting import count_uses, follow, map_blocks, substitute_all

__all__ = ["drop_copies"]

_COPY = ir.Const(np.copy)


def drop_copies(function: ir.Function, context: Context) -> ir.Function:
    """The function without ``np.copy`` of an array that was made for it: a fresh result that nothing else reads. Both
    are made equally often: a copy in a loop of what was made before it is a new one in each iteration. What may be of
    rank 0 is copied: arithmetic makes numbers of it, which cannot be changed in place."""
    made = {s.target: s.value for s in ir.walk(function.body) if isinstance(s, ir.Let) and s.target is not None}
    if not any(isinstance(v, ir.Call) and isinstance(v.fn, ir.Const) and v.fn.value is np.copy for v in made.values()):
        return function
    uses, loops = count_uses(function.body), _innermost_loops(function.body)
    mapping: dict[ir.Atom, ir.Atom] = {}
    for target, value in made.items():
        if not isinstance(value, ir.Call) or value.fn != _COPY or len(value.args) > 1 or value.kwargs:
            continue  # one in another order of memory is no copy of what there is
        source = value.args[0]
        if isinstance(source, ir.Var) and uses[source] == 1 and makes_new(made.get(source)) and shape_of(
            context.value(source)
        ):
            if loops[source] == loops[target]:
                mapping[target] = source
    if not mapping:
        return function

    def block(b: ir.Block) -> ir.Block:
        kept = [s for s in b.statements if not (isinstance(s, ir.Let) and s.target in mapping)]
        return ir.Block(tuple(map_blocks(s, block) for s in kept), b.yields)

    resolved = {target: follow(target, mapping) for target in mapping}
    return substitute_all(ir.replace(function, body=block(function.body)), resolved)


def _innermost_loops(block: ir.Block, loop: int = 0) -> dict[ir.Var, int]:
    """For each variable that a ``Let`` defines, a number that tells the innermost loop around it from others."""
    found: dict[ir.Var, int] = {}
    for s in block.statements:
        if isinstance(s, ir.Let) and s.target is not None:
            found[s.target] = loop
        for inner in ir.blocks_of(s):
            found |= _innermost_loops(inner, id(s) if isinstance(s, (ir.For, ir.While)) else loop)
    return found
