"""Generator expressions and iterators that change something.

A generator expression is taken for the list of its items, as is ``map``. That is what it is where all items are made
before any is used.
``any`` stops at the first that is true, and a loop runs its body between two items: there the list is the same only
where making an item changes nothing.
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from s2s.analysis.abstract.lattice import is_number
from s2s.analysis.functions import facts
from s2s.builder.virtual_heap import Cell, State, cell_of
from s2s.builder.virtual_heap import Iterator as ReadOnce
from s2s.core import ir
from s2s.errors import error
from s2s.frontend.lowering.context import GENERATED
from s2s.normalize.captures import assigned_later
from s2s.normalize.while_true import changes_something
from s2s.specialize.frames import FramedClosure
from s2s.specialize.heap.joins import changed_cells

if TYPE_CHECKING:
    from s2s.builder.builder import Builder, Context
    from s2s.specialize.frames import Frame


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
    with noted(context, builder) as items, followed(context, builder) as source:
        yield
        items += [frame.env[made.result]] if made.result in frame.env else []
    if len(loop.carried) > 1:  # a variable of the function, assigned by `:=` and read later
        context.changing_items.update(items)
    source.names = _read_by(loop)
    source.place, source.frame = loop, frame
    context.read_once.update(dict.fromkeys(items, source))


# --- what items are made of -------------------------------------------------------------------------------------------


class Source:
    """What the items of a ``map``, a ``filter`` or a generator expression were made of, when the list was made that it
    is taken for: ``cells`` with their states, ``arrays``, how many stores there were before, and the ``names`` of
    variables with the ``place`` that reads them in a ``frame``."""

    def __init__(self) -> None:
        self.cells: dict[Cell, State] = {}
        self.arrays: set[ir.Var] = set()
        self.stores = 0
        self.names: set[str] = set()
        self.place: Any = None
        self.frame: Frame | None = None

    def check_names(self, span: ir.Span | None, name: str) -> None:
        """Raise where a variable that the items are made of is assigned later: they would be made of its new value."""
        body = self.frame.body if self.frame is not None else None
        if body is None or not self.names:
            return
        statements = list(ir.walk(body))
        place = next((k for k, s in enumerate(statements) if _is_at(s, self.place)), None)
        if place is None:
            return
        inside = {id(s) for s in ir.walk(ir.Block((statements[place],)))}
        after = next((k for k in range(place, len(statements)) if id(statements[k]) not in inside), len(statements))
        found = sorted(self.names & assigned_later(body, statements, place, after))
        if found:
            raise error("S2S205", span=span, name=found[0])

    def check(self, context: Context, span: ir.Span | None) -> None:
        """Raise where something that the items were made of has changed."""
        for cell, state in self.cells.items():
            if context.heap.peek(cell) is not state:
                raise error("S2S181", span=cell.changed_at or span, name=cell.name)
        for target in context.stored_into[self.stores :] if self.arrays else ():
            reached = context.sharing.with_(target, context.value) if isinstance(target, ir.Var) else ()
            for array in self.arrays.intersection(reached):
                raise error("S2S181", span=span, name=array.name.lstrip("%") or "an array")


@contextmanager
def followed(context: Context, builder: Builder) -> Iterator[Source]:
    """Follow what the block reads."""
    source, first, read = Source(), len(builder.statements), set[Cell]()
    readers = context.heap.readers
    readers.append(read)
    is_there = context.births()
    try:
        yield source
    finally:
        readers.pop()
    source.cells = {
        cell: context.heap.peek(cell) for cell in read
        if (cell in context.heap.states or cell.origin is not None) and cell.name != _NAME
        and context.heap.peek(cell).kind is not ReadOnce
    }
    atoms = (a for s in ir.walk(ir.Block(tuple(builder.statements[first:]))) for a in ir.reads_of(s))
    source.arrays = {a for a in atoms if isinstance(a, ir.Var) and is_there(a) and not is_number(context.value(a))}
    source.stores = len(context.stored_into)


def _read_by(loop: ir.For) -> set[str]:
    """The names of the variables that the loop of a generator expression reads and does not make, but for what it runs
    over."""
    own = {v for s in ir.walk(ir.Block((loop,))) for v in ir.defs_of(s)} | {loop.item, *(c.param for c in loop.carried)}
    read = {a for s in ir.walk(loop.body) for a in (*ir.reads_of(s), *(y for b in ir.blocks_of(s) for y in b.yields))}
    return {a.name for a in read if isinstance(a, ir.Var) and a not in own and not a.is_temporary}


def _is_at(s: ir.Statement, place: Any) -> bool:
    return s is place or (isinstance(s, ir.Let) and isinstance(s.value, ir.MakeFunction) and s.value.function is place)


def check_kept(context: Context, atom: ir.Atom, span: ir.Span | None) -> None:
    """Raise where a nested function is put into a container or an object, and a variable that it has captured is
    assigned later: it would see the new value."""
    made, name = context.value(atom), ""
    names: set[str] | None = None
    while isinstance(made, FramedClosure) and made.frame is not None:  # and what the functions around it have captured
        captured = zip(made.function.captures, made.captures, strict=True)
        found = {v.name for v, a in captured if a != ir.UNDEFINED and not v.is_temporary}
        source, names, name = Source(), found if names is None else names & found, name or made.function.name
        source.names, source.place, source.frame = names, made.function, made.frame
        source.check_names(span, name)
        made = made.frame.closure


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
    if context.changing_items and not facts(fn).takes_all:
        if any(isinstance(atom, ir.Var) and atom in context.changing_items for atom in atoms):
            raise error("S2S222", span=span, asked_by=asked_by)


__all__ = ["Source", "check_kept", "check_taken", "followed", "noted", "noted_loop"]
