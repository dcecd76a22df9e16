"""The head of the loop that runs the iterations of another one backwards."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from s2s.core import ir
from s2s.core.values import Scalar
from s2s.optimize.ranges import descends_from
from s2s.reverse.residuals.sweep import Sweep

if TYPE_CHECKING:
    from s2s.reverse.residuals.planner import Planner

__all__ = ["backwards"]


def backwards(planner: Planner, statement: ir.For | ir.While, inner: Sweep) -> tuple[ir.Var, ir.Atom]:
    """The item variable and the iterable of the reverse loop, of which ``inner`` is the body."""
    assert inner.parent is not None
    outer, builder = inner.parent, inner.parent.builder
    name = statement.item.name if isinstance(statement, ir.For) else "i"
    item = inner.item = planner.context.define(name, Scalar(int))
    if isinstance(statement, ir.For):
        inner.restored[statement.item] = item
        length = _length_of_descending(planner, statement)
        if length is not None:  # backwards it is an ordinary range
            return item, builder.call(range, planner.use(outer, length), span=statement.span)
        over = _iterable(planner, statement, outer)
    else:
        over = builder.call(range, planner.count(statement, outer), span=statement.span)
    if isinstance(statement, ir.While) and statement.snapshots is None:
        return item, over
    return item, builder.call(reversed, over, span=statement.span)


def _length_of_descending(planner: Planner, statement: ir.For) -> ir.Atom | None:
    """The ``n`` of a loop from ``n - 1`` down to 0."""
    definitions = planner.context.definitions
    made = definitions.get(statement.iterable) if isinstance(statement.iterable, ir.Var) else None
    return None if statement.leave is not None else descends_from(planner.context, made, definitions.get)


def _iterable(planner: Planner, statement: ir.For, outer: Sweep) -> ir.Atom:
    builder = outer.builder
    bounds = planner.context.definition(statement.iterable, range)
    if statement.leave is not None:
        count = planner.count(statement, outer)
        if bounds is not None and len(bounds) == 1:
            return builder.call(range, count, span=statement.span)
        whole = _range(planner, statement, bounds, outer)
        until = builder.call(slice, ir.Const(None), count, ir.Const(None), span=statement.span)
        return builder.call(operator.getitem, whole, until, span=statement.span)
    return _range(planner, statement, bounds, outer)


def _range(planner: Planner, statement: ir.For, bounds: tuple[Any, ...] | None, outer: Sweep) -> ir.Atom:
    if bounds is None:
        return planner.use(outer, statement.iterable)
    return outer.builder.call(range, *(planner.use(outer, b) for b in bounds), span=statement.span)
