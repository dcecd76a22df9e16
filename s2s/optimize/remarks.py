"""What stands in a function for the reader alone, or for one pass: titles of sweeps, names of items, remarks."""

from __future__ import annotations

import itertools

from s2s.builder.builder import Context
from s2s.core import ir
from s2s.optimize.rewriting import count_uses, map_blocks

__all__ = ["drop_empty_sections", "drop_remarks", "name_unused_items"]


def drop_empty_sections(function: ir.Function, _: Context) -> ir.Function:
    """The function without the title of a sweep that has no statement."""
    made: list[ir.Statement] = []
    for s in function.body.statements:
        if _is_title(s) and made and _is_title(made[-1]):
            made.pop()
        made.append(s)
    return ir.replace(function, body=ir.Block(tuple(made), function.body.yields))


def _is_title(s: ir.Statement) -> bool:
    return isinstance(s, ir.Note) and s.section in ("forward", "reverse")


def name_unused_items(function: ir.Function, _: Context) -> ir.Function:
    """The function with the item of a loop called ``_`` where nothing reads it."""
    if not any(isinstance(s, ir.For) for s in ir.walk(function.body)):
        return function
    named = [v for s in ir.walk(function.body) for v in (*ir.defs_of(s), *ir.inner_defs_of(s)) if v.name == "_"]
    versions = [0, *(v.version for v in named), *(p.var.version for p in function.params)]
    read, fresh = count_uses(function.body), itertools.count(1 + max(versions))

    def block(b: ir.Block) -> ir.Block:
        made = []
        for s in b.statements:
            s = map_blocks(s, block)
            if isinstance(s, ir.For) and not read[s.item]:
                s = ir.replace(s, item=ir.Var("_", next(fresh)))
            made.append(s)
        return ir.Block(tuple(made), b.yields)

    return ir.replace(function, body=block(function.body))


def drop_remarks(function: ir.Function, _: Context) -> ir.Function:
    """The function without the remarks that a call may change an array, which ``specialize`` makes."""

    def block(b: ir.Block) -> ir.Block:
        kept = (s for s in b.statements if not (isinstance(s, ir.Store) and s.kind == "opaque"))
        return ir.Block(tuple(map_blocks(s, block) for s in kept), b.yields)

    return ir.replace(function, body=block(function.body))
