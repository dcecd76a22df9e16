"""Iterables read by position: what a loop over an array, a zip or an enumerate becomes a loop over a range for."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from s2s import runtime as rt
from s2s.builder.builder import Builder
from s2s.core import ir, ops
from s2s.optimize.ranges import constant_range

if TYPE_CHECKING:
    from s2s.specialize.specializer import Specializer


@dataclass(frozen=True)
class Counted:
    """An iterable read by position."""

    length: ir.Atom
    item: Callable[[ir.Atom, Builder], ir.Atom]


UNROLL_AT_MOST = 64
"""A loop over known items with more iterations than this stays a loop."""


def few_iterations(self: Specializer, iterable: ir.Atom) -> range | None:
    """A range that is known and short."""
    found = constant_range(self.context, iterable)
    return found if found is not None and not found[UNROLL_AT_MOST:] else None


def start_of(made: ir.Call) -> ir.Atom:
    """Where an ``enumerate`` begins."""
    given = made.args[1] if len(made.args) > 1 else dict(made.kwargs).get("start", ir.Const(0))
    assert not isinstance(given, ir.Star)
    return given


def _count_zip(self: Specializer, made: ir.Call, builder: Builder, span: ir.Span | None) -> Counted:
    parts = [self.counted(a, builder, span) for a in made.args]  # type: ignore[arg-type]
    length = parts[0].length if len(parts) == 1 else builder.call(min, *(p.length for p in parts), span=span)
    if dict(made.kwargs).get("strict", ir.Const(False)) != ir.Const(False):
        builder.call(rt.check_equal, *(p.length for p in parts), span=span, effect=True)
    return Counted(length, lambda k, b: b.call(ops.make_tuple, *(p.item(k, b) for p in parts), span=span))


def _count_enumerate(self: Specializer, made: ir.Call, builder: Builder, span: ir.Span | None) -> Counted:
    inner = self.counted(made.args[0], builder, span)  # type: ignore[arg-type]
    start = start_of(made)

    def item(k: ir.Atom, b: Builder) -> ir.Atom:
        number = k if start == ir.Const(0) else b.call(operator.add, k, start, span=span)  # type: ignore[arg-type]
        return b.call(ops.make_tuple, number, inner.item(k, b), span=span)

    return Counted(inner.length, item)


def _count_reversed(self: Specializer, made: ir.Call, builder: Builder, span: ir.Span | None) -> Counted:
    inner = self.counted(made.args[0], builder, span)  # type: ignore[arg-type]
    last = builder.call(operator.sub, inner.length, ir.Const(1), span=span)
    return Counted(inner.length, lambda k, b: inner.item(b.call(operator.sub, last, k, span=span), b))


def _count_iter(self: Specializer, made: ir.Call, builder: Builder, span: ir.Span | None) -> Counted:
    return self.counted(made.args[0], builder, span)  # type: ignore[arg-type]


VIEWS: dict[Any, Callable[..., Counted]] = {
    zip: _count_zip, enumerate: _count_enumerate, reversed: _count_reversed, iter: _count_iter,
}
