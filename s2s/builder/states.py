"""What an object of the virtual heap holds at one place of the program: a value that no change alters.

A program that stores n items makes n states, each of which differs from the one before by one item. They share one
table: the newest has it, and each older one knows what the next one changed, from which its own is made again where it
is asked for. So a store takes the same time however much the container holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from s2s.core import ir

__all__ = ["State"]

NOTHING: Mapping[str, ir.Atom] = MappingProxyType({})


class State:
    """What a cell holds. ``kind`` is its type. ``keys`` and ``items`` are known one by one (positions of a list, keys
    of a dict, attributes of an object), or ``whole`` is one ordinary value: a list or dict of unknown length.

    With ``borrowed``, what is not among ``keys`` is as the cell's origin has it. ``extra`` is what else belongs to the
    type: the ``maxlen`` of a deque, the factory of a defaultdict. ``lacks`` has the attributes of an object that it may
    not have, each with the bool that says whether it has it.
    """

    __slots__ = ("_items", "_keys", "_next", "_table", "borrowed", "extra", "kind", "lacks", "whole")

    def __init__(
        self, kind: type, keys: tuple[Any, ...] = (), items: tuple[ir.Atom, ...] = (), whole: ir.Atom | None = None,
        borrowed: bool = False, extra: Any = None, lacks: Mapping[str, ir.Atom] = NOTHING,
    ) -> None:
        self.kind, self.whole, self.borrowed, self.extra, self.lacks = kind, whole, borrowed, extra, lacks
        self._keys: tuple[Any, ...] | None = keys
        self._items: tuple[ir.Atom, ...] | None = items
        self._table: dict[Any, ir.Atom] | None = None
        self._next: tuple[State, Any, Any] | None = None
        """The state that has the table, or knows one that has, and the key that differs, with the item that it has
        here; ``_ABSENT`` where it has none."""

    @property
    def keys(self) -> tuple[Any, ...]:
        """The keys, in order."""
        if self._keys is None:
            self._keys = tuple(self._shared())
        return self._keys

    @property
    def items(self) -> tuple[ir.Atom, ...]:
        """The items, in the order of their keys."""
        if self._items is None:
            self._items = tuple(self._shared().values())
        return self._items

    @property
    def size(self) -> int:
        """How many items there are."""
        return len(self._shared() if self._keys is None else self._keys)

    def entries(self) -> dict[Any, ir.Atom]:
        """The items by key: a new dict."""
        return dict(self._shared())

    def find(self, key: Any) -> ir.Atom | None:
        """The item of a key; None where there is none."""
        return self._shared().get(key)

    def with_entry(self, key: Any, item: ir.Atom) -> State:
        """A container or object of the same type with one item that is another, or new and the last."""
        table = self._shared()
        made = State(self.kind, (), (), None, self.borrowed, self.extra, without(self.lacks, key))
        made._keys, made._items, made._table = self._keys if key in table else None, None, table
        self._table, self._next = None, (made, key, table.get(key, _ABSENT))
        table[key] = item
        return made

    def with_atoms(self, items: Iterable[ir.Atom], whole: ir.Atom | None) -> State:
        """The same with other atoms for what it holds."""
        return State(self.kind, self.keys, tuple(items), whole, self.borrowed, self.extra, self.lacks)

    def with_items(self, items: Iterable[ir.Atom]) -> State:
        """A list of the same type with other items."""
        items = tuple(items)
        return State(self.kind, tuple(range(len(items))), items, None, False, self.extra)

    def with_entries(self, entries: dict[Any, ir.Atom]) -> State:
        """A dict or object of the same type with other entries."""
        return State(self.kind, tuple(entries), tuple(entries.values()), None, self.borrowed, self.extra, self.lacks)

    def decided(self, name: str, has: bool) -> State:
        """The object where it is known whether it has an attribute."""
        entries = {k: a for k, a in self.entries().items() if has or k != name}
        lacks = without(self.lacks, name)
        return State(self.kind, tuple(entries), tuple(entries.values()), None, self.borrowed, self.extra, lacks)

    def with_whole(self, whole: ir.Atom) -> State:
        """A container of the same type whose items are not known one by one."""
        return State(self.kind, (), (), whole, False, self.extra)

    def _shared(self) -> dict[Any, ir.Atom]:
        """The items by key, in a table that the next state takes over."""
        if self._table is None:
            if self._keys is not None and self._items is not None:
                self._table = dict(zip(self._keys, self._items, strict=True))
            else:
                self._table = self._made_again()
            self._next = None
        return self._table

    def _made_again(self) -> dict[Any, ir.Atom]:
        changes, state = [], self
        while state._table is None and state._next is not None:
            state, key, item = state._next
            changes.append((key, item))
        table = state.entries()
        for key, item in reversed(changes):
            if item is _ABSENT:
                del table[key]
            else:
                table[key] = item
        return table


def without(lacks: Mapping[str, ir.Atom], name: Any) -> Mapping[str, ir.Atom]:
    """The attributes that an object may lack, but for one."""
    return {k: a for k, a in lacks.items() if k != name} if name in lacks else lacks


_ABSENT = object()
