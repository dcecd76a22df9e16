"""Items that are read one after the other, of a tuple or list whose length is known, unpacked as the user would.

    W = layer[0]
    b = layer[1]        ->      W, b = layer
"""

from __future__ import annotations

import operator

from s2s.builder.builder import Context
from s2s.core import ir, ops
from s2s.core.values import Sequence, has_fields
from s2s.optimize.rewriting import map_blocks

__all__ = ["unpack_items"]

_GETITEM, _UNPACK = ir.Const(operator.getitem), ir.Const(ops.unpack)


def unpack_items(function: ir.Function, context: Context) -> ir.Function:
    """The function with an unpacking where every item of a container gets a name of the user's, in order."""

    def block(b: ir.Block) -> ir.Block:
        statements = [map_blocks(s, block) for s in b.statements]
        made: list[ir.Statement] = []
        while statements:
            reads, between = _reads_of_all(statements, context)
            if not reads:
                made.append(statements.pop(0))
                continue
            made += _unpacking(reads, context)
            statements[: len(reads) + len(between)] = between
        return ir.Block(tuple(made), b.yields)

    return ir.replace(function, body=block(function.body))


def _unpacking(reads: list[ir.Let], context: Context) -> list[ir.Let]:
    whole = context.define("%", Sequence(tuple, tuple(context.value(s.target) for s in reads)))  # type: ignore[arg-type]
    given = (_read(reads[0], 0), ir.Const(len(reads)), ir.Const(None))
    items = [ir.replace(s, value=ir.Call(_GETITEM, (whole, ir.Const(k))), reads=()) for k, s in enumerate(reads)]
    return [ir.Let(whole, ir.Call(_UNPACK, given), reads[0].span, reads[0].reads), *items]  # type: ignore[arg-type]


def _reads_of_all(statements: list[ir.Statement], context: Context) -> tuple[list[ir.Let], list[ir.Statement]]:
    """The first statements that read the items of a container, all of them and in order, and what stands between them
    for its effect, which does not change a tuple; nothing where the first one does not begin such reads."""
    container = _read(statements[0], 0)
    known = None if container is None else context.value(container)
    if not isinstance(known, Sequence) or len(known.items) < 2:
        return [], []
    is_unpacked = context.definition(container, ops.unpack) is not None  # type: ignore[arg-type]
    if is_unpacked or (known.type not in (tuple, list) and not has_fields(known.type)):
        return [], []
    reads: list[ir.Let] = []
    between: list[ir.Statement] = []
    for s in statements:
        if _read(s, len(reads)) == container:
            reads.append(s)  # type: ignore[arg-type]
            if len(reads) == len(known.items):
                return reads, between
        elif known.type is not list and (isinstance(s, ir.Store) or (isinstance(s, ir.Let) and s.target is None)):
            between.append(s)
        else:
            break
    return [], []


def _read(s: ir.Statement, place: int) -> ir.Atom | None:
    """What a statement reads the item at a place of, for a name of the user's."""
    if not isinstance(s, ir.Let) or s.target is None or s.target.is_temporary or not isinstance(s.value, ir.Call):
        return None
    args = s.value.args
    is_read = s.value.fn == _GETITEM and len(args) == 2 and args[1] == ir.Const(place) and isinstance(args[0], ir.Var)
    return args[0] if is_read else None  # type: ignore[return-value]
