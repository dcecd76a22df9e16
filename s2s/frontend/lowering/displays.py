"""Tuples, lists, sets and dicts that are written out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import libcst as cst

from s2s.core import ir, ops
from s2s.core.ir import Call, Const, Star
from s2s.frontend.lowering.comprehensions import consumed
from s2s.frontend.lowering.context import Context

__all__ = ["lower_dict", "lower_display"]

_Display: TypeAlias = cst.Tuple | cst.List | cst.Set

DISPLAYS: dict[type[_Display], Callable[..., Any]] = {
    cst.Tuple: ops.make_tuple, cst.List: ops.make_list, cst.Set: ops.make_set,
}


def lower_display(c: Context, node: _Display) -> Call:
    return Call(Const(DISPLAYS[type(node)]), _items(c, node.elements))


def _items(c: Context, elements: Sequence[cst.BaseElement]) -> tuple[ir.Atom | Star, ...]:
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
