"""Tuples, lists, sets and dicts that are written out, and the keys of subscripts, which are written like them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import libcst as cst

from s2s.core import ir, ops
from s2s.core.ir import Call, Const, Let, Star
from s2s.frontend.lowering.context import NONE, Context
from s2s.frontend.lowering.refusals import refuse_expression

__all__ = ["lower_dict", "lower_display", "lower_key"]

_Display: TypeAlias = cst.Tuple | cst.List | cst.Set

DISPLAYS: dict[type[_Display], Callable[..., Any]] = {
    cst.Tuple: ops.make_tuple, cst.List: ops.make_list, cst.Set: ops.make_set,
}


def lower_display(c: Context, node: _Display) -> Call:
    return Call(Const(DISPLAYS[type(node)]), _items(c, node.elements))


def _items(c: Context, elements: Sequence[cst.BaseElement]) -> tuple[ir.Atom | Star, ...]:
    from s2s.frontend.lowering.comprehensions import consumed  # which needs the indices of this module

    return tuple(
        Star(consumed(c, element.value)) if isinstance(element, cst.StarredElement) else c.atom(element.value)
        for element in elements
    )


def lower_dict(c: Context, node: cst.Dict) -> ir.Value:
    """``make_dict`` of the entries; ``**others`` are merged with the runs between them, from the left."""
    value: ir.Value | None = None
    entries: list[ir.Atom] = []
    for element in node.elements:
        if isinstance(element, cst.DictElement):
            entries += [c.atom(element.key), c.atom(element.value)]
        else:
            value = _merged(c, value, entries, node)
            value = Call(Const(ops.merge_dict), (c.as_atom(value, node), c.atom(element.value)))
            entries = []
    return _merged(c, value, entries, node)


def _merged(c: Context, value: ir.Value | None, entries: list[ir.Atom], node: cst.Dict) -> ir.Value:
    display = Call(Const(ops.make_dict), tuple(entries))
    if value is None:
        return display
    if not entries:
        return value
    return Call(Const(ops.merge_dict), (c.as_atom(value, node), c.bind(display, node)))


# --- subscripts ---------------------------------------------------------------------------------------------


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
