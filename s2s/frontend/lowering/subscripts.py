"""The keys of subscripts: one index or slice, or a tuple of them."""

from __future__ import annotations

import libcst as cst

from s2s.core import ir, ops
from s2s.core.ir import Call, Const, Let, Star
from s2s.frontend.lowering.context import NONE, Context
from s2s.frontend.lowering.refusals import refuse_expression

__all__ = ["lower_key"]


def lower_key(c: Context, node: cst.Subscript) -> ir.Atom:
    """The key of ``a[key]``: one index or slice, else a tuple of them."""
    parts = node.slice
    single = len(parts) == 1 and isinstance(parts[0].comma, cst.MaybeSentinel)
    if single and not _starred(parts[0]):
        return _subscript(c, parts[0])
    items = tuple(Star(_subscript(c, part)) if _starred(part) else _subscript(c, part) for part in parts)
    start, end = parts[0], parts[-1]
    key = c.temporary()
    c.put(Let(key, Call(Const(ops.make_tuple), items), c.span(start.slice, end.slice)))
    return key


def _starred(part: cst.SubscriptElement) -> bool:
    return isinstance(part.slice, cst.Index) and part.slice.star is not None


def _subscript(c: Context, part: cst.SubscriptElement) -> ir.Atom:
    match part.slice:
        case cst.Index(value=value):
            return c.atom(value)
        case cst.Slice(lower=lower_bound, upper=upper, step=step) as node:
            bounds = [NONE if bound is None else c.atom(bound) for bound in (lower_bound, upper, step)]
            return c.call(node, slice, *bounds)
        case other:
            refuse_expression(c, other)
