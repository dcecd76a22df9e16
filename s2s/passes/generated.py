"""Generator expressions and iterators that change something.

A generator expression is taken for the list of its items, as is ``map``. That is what it is where all items are made
before any is used.
``any`` stops at the first that is true, and a loop runs its body between two items: there the list is the same only
where making an item changes nothing.
"""

from __future__ import annotations

import collections
import math
import types
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from s2s import ir
from s2s.errors import error
from s2s.lowering.context import GENERATED
from s2s.passes.heap import cell_of
from s2s.passes.joins import changed_cells
from s2s.passes.while_true import changes_something

if TYPE_CHECKING:
    from s2s.passes.build import Builder, Context
    from s2s.passes.frames import Frame

_TAKE_ALL = (
    list, tuple, set, frozenset, dict, sum, sorted, min, max, math.fsum, math.prod, collections.deque,
    collections.Counter, tuple.__new__,
)
"""Functions that make all items before they do something else that the program sees."""


@contextmanager
def noted(context: Context, builder: Builder) -> Iterator[list[ir.Atom]]:
    """Remember of the list that an iterator is taken for, which the block puts into what this gives, whether the block
    that makes it changes something."""
    items: list[ir.Atom] = []
    start = _Start(context, builder)
    yield items
    if items and start.has_changed(items[0]):
        context.changing_items.update(items)


@contextmanager
def noted_loop(context: Context, loop: ir.For, frame: Frame, builder: Builder) -> Iterator[None]:
    """The same for the loop that makes the items of a generator expression."""
    made = next((c for c in loop.carried if c.param.name == GENERATED), None)
    if made is None:
        yield
        return
    with noted(context, builder) as items:
        yield
        items += [frame.env[made.result]] if made.result in frame.env else []


class _Start:
    """Where the making of items begins: what there is."""

    def __init__(self, context: Context, builder: Builder) -> None:
        self.context = context
        self.builder = builder
        self.heap = context.heap.copy()
        self.first = len(builder.statements)
        self.is_there = context.births()

    def has_changed(self, items: ir.Atom) -> bool:
        """Whether something has changed since that was there, other than the list of the items."""
        own = cell_of(self.context, items)
        changed = [c for c in changed_cells(self.heap, self.context.heap) if c is not own and c.name != _NAME]
        return bool(changed) or self._has_stored(ir.Block(tuple(self.builder.statements[self.first :])))

    def _has_stored(self, block: ir.Block) -> bool:
        if not changes_something(block):
            return False
        stores = [s.target for s in ir.walk(block) if isinstance(s, ir.Store)]
        sharing = self.context.sharing
        return not stores or any(
            not isinstance(a, ir.Var) or any(map(self.is_there, sharing.with_(a, self.context.value))) for a in stores
        )


_NAME = GENERATED.lstrip("%")


def check_taken(
    context: Context, fn: Any, atoms: Iterable[Any], span: ir.Span | None, asked_by: tuple[str, ...] = ()
) -> None:
    """Raise where something takes items one by one whose making changes something. In a function of Python that shows
    where it takes them."""
    if isinstance(fn, (types.FunctionType, types.MethodType)):
        return
    if context.changing_items and not any(fn is each for each in _TAKE_ALL):
        if any(isinstance(atom, ir.Var) and atom in context.changing_items for atom in atoms):
            raise error("S2S222", span=span, asked_by=asked_by)


__all__ = ["check_taken", "noted", "noted_loop"]
