"""Containers that a loop runs over while its body changes them.

The items of a list or dict are taken when the loop begins. Python takes each when its iteration begins: so a change
that a later iteration would see is refused. Items that are passed already may change (``for i, v in enumerate(a):
a[i] = f(v)``), as may the values of a dict whose keys a loop runs over.
"""

from __future__ import annotations

import collections
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from s2s import runtime as rt
from s2s.builder import virtual_heap
from s2s.builder.builder import Context
from s2s.builder.virtual_heap import Cell, State, cell_of
from s2s.core import ir, ops
from s2s.core.inspection import by_identity
from s2s.errors import error

__all__ = ["Iterables", "Watch"]

_VIEWS = by_identity(enumerate, zip, reversed, iter)


@dataclass
class Change:
    """A change of a container that a loop runs over; ``true`` are the variables that say that this path was taken."""

    cell: Cell
    span: ir.Span | None
    true: set[ir.Var] = field(default_factory=set)


@dataclass
class Watch:
    """What a loop runs over: ``cells`` with how it looks at each (``reversed``, ``values``, ``items``, ``zip`` beside
    something else, or nothing of these). ``iteration`` is the number of the one that is being specialised, where the
    loop is unrolled, else the variable that holds it; ``item`` what it runs for."""

    context: Any
    cells: dict[Cell, str]
    iteration: int | ir.Atom | None = None
    item: ir.Atom | None = None
    changes: list[Change] = field(default_factory=list)

    def note(self, cell: Cell, old: State, new: State, span: ir.Span | None) -> None:
        """A cell is about to change."""
        if not self._is_harmless(self.cells[cell], old, new):
            self.changes.append(Change(cell, span))

    def note_side(self, first: int, branch: ir.If, side: ir.Block, given: tuple[ir.Atom, ...]) -> None:
        """The changes from number ``first`` on were made on one side of a branch, which gave ``given``."""
        for change in self.changes[first:]:
            results = zip(branch.results, side.yields, given, strict=True)
            change.true |= {result for result, a, b in results if a in change.true or b == ir.Const(True)}

    def check(self, leave: ir.Atom | None, asked: tuple[str, ...]) -> None:
        """Raise UnsupportedSyntaxError where another iteration would see a change that does not come with ``leave``."""
        for change in self.changes:
            if leave is None or leave not in change.true:
                name = change.cell.name or "a container"
                raise error("S2S181", span=change.span, asked_by=asked, name=name)

    def _is_harmless(self, how: str, old: State, new: State) -> bool:
        if virtual_heap.is_dict(old):
            if new.whole is not None or old.whole is not None:
                key = self._stored_at(new, ops.put)
                return how == "" and key is not None and key == self.item
            return old.keys == new.keys and (how in ("", "keys") or self._is_passed(how, old, new))
        if old.whole is not None or new.whole is not None:
            at = self._stored_at(new, rt.set_item)
            return at is not None and at == self.iteration and how in ("", "zip")
        if issubclass(old.kind, (set, collections.deque)) and len(old.items) != len(new.items):
            return False
        may_grow = how == "reversed" or (how == "zip" and len(old.items) < len(new.items))
        return (may_grow or len(old.items) == len(new.items)) and self._is_passed(how, old, new)

    def _is_passed(self, how: str, old: State, new: State) -> bool:
        """Whether only items differ that no later iteration takes."""
        if not isinstance(self.iteration, int):
            return old.items == new.items
        if how == "reversed":
            end = max(len(old.items) - 1 - self.iteration, 0)
            return old.items[:end] == new.items[:end]
        return old.items[self.iteration + 1 :] == new.items[self.iteration + 1 : len(old.items)]

    def _stored_at(self, new: State, store: Any) -> ir.Atom | None:
        """The position or key at which an item of a container of unknown length was stored."""
        made = self.context.definition(new.whole, store)
        return None if made is None else made[1]


class Iterables:
    """What loops and iterators look at while it may change."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.watches: list[Watch] = []
        """What the loops around this place run over."""
        self.views: dict[ir.Atom, tuple[tuple[Cell, str], ...]] = {}
        """What an ``enumerate``, or the keys, values or items of a dict, look at, and how."""
        self.sources: dict[Cell, dict[Cell, State]] = {}
        """What iterators were made of, as it was then."""

    @contextlib.contextmanager
    def over(self, iterable: ir.Atom) -> Iterator[Watch]:
        """Around the iterations of a loop over something: notes what they do to the containers that it looks at."""
        watch = Watch(self.context, dict(self._looked_at(iterable, "")))
        for cell in watch.cells:
            cell.watches.append(watch)
        self.watches.append(watch)
        try:
            yield watch
        finally:
            self.watches.pop()
            for cell in watch.cells:
                cell.watches.remove(watch)

    def _looked_at(self, atom: Any, how: str) -> Iterator[tuple[Cell, str]]:
        """The containers behind an iterable."""
        if atom in self.views:
            yield from ((cell, which or how) for cell, which in self.views[atom])
            return
        cell = cell_of(self.context, atom)
        if cell is not None and self.context.heap.peek(cell).kind is virtual_heap.Iterator:
            yield from ((c, how) for c in self.sources.get(cell, ()))
            return
        if cell is not None:
            yield cell, how

    def note_view(self, fn: Any, args: list[Any], made: ir.Atom) -> None:
        """Remember which containers an ``enumerate`` and its like look at."""
        if id(fn) in _VIEWS:
            looked_at = [tuple(self._looked_at(a, "")) for a in (args[:1] if fn is enumerate else args)]
            how = "reversed" if fn is reversed else "zip" if fn is zip and len({*map(frozenset, looked_at)}) > 1 else ""
            found = tuple((cell, which or how) for pairs in looked_at for cell, which in pairs)
            if found:
                self.views[made] = found

    def note_source(self, iterator: Cell, iterable: ir.Atom) -> None:
        """Remember what an iterator was made of, as it is now."""
        heap = self.context.heap
        self.sources[iterator] = {cell: heap.peek(cell) for cell, _ in self._looked_at(iterable, "")}

    def check_source(self, iterator: Cell, span: ir.Span | None) -> None:
        """Raise UnsupportedSyntaxError where what an iterator has left to give has changed since it was made."""
        held = self.context.heap.peek(iterator)
        for cell, state in self.sources.get(iterator, {}).items():
            now = self.context.heap.peek(cell)
            passed = len(state.items) - len(held.items) if held.whole is None else 0
            if now is not state and (now.whole is not None or now.items[passed:] != state.items[passed:]):
                raise error("S2S181", span=cell.changed_at or span, name=cell.name)
