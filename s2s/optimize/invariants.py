"""What a loop carries although no iteration changes it: it is read as it is before the loop.

    for i in range(n): [x.2 <- x.1 = x]             for i in range(n):
        y = x.1 * i                         ->          y = x * i
        yield x.1

So is what it carries under two names, from the same value on: it is read under the first.
"""

from __future__ import annotations

from s2s.builder.builder import Context
from s2s.core import ir
from s2s.optimize.rewriting import follow, map_blocks, substitute_all

__all__ = ["drop_invariant"]


def drop_invariant(function: ir.Function, _: Context) -> ir.Function:
    """The function with carried variables that no iteration changes replaced by what they are before the loop."""
    mapping: dict[ir.Atom, ir.Atom] = {}
    for s in ir.walk(function.body):
        if isinstance(s, (ir.For, ir.While)):
            first: dict[tuple[ir.Atom, ir.Atom], ir.Carried] = {}
            for c, following in zip(s.carried, s.body.yields, strict=True):
                same = first.setdefault((c.init, following), c)
                if following in (c.param, c.init):
                    mapping[c.param] = mapping[c.result] = c.init
                elif same is not c:
                    mapping[c.param], mapping[c.result] = same.param, same.result
    if not mapping:
        return function
    resolved: dict[ir.Atom, ir.Atom] = {k: follow(k, mapping) for k in mapping}
    return substitute_all(ir.replace(function, body=_without(function.body, set(mapping))), resolved)


def _without(block: ir.Block, gone: set[ir.Atom]) -> ir.Block:
    made = []
    for s in block.statements:
        s = map_blocks(s, lambda inner: _without(inner, gone))
        if isinstance(s, (ir.For, ir.While)):
            keep = [k for k, c in enumerate(s.carried) if c.param not in gone]
            body = ir.Block(s.body.statements, tuple(s.body.yields[k] for k in keep))
            s = ir.replace(s, body=body, carried=tuple(s.carried[k] for k in keep))
        made.append(s)
    return ir.Block(tuple(made), block.yields)
