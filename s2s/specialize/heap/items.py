"""The items of containers: one by one where their number is known, else by position, as a loop over a range reads
them."""

from __future__ import annotations

import itertools
import operator
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from s2s import runtime as rt
from s2s.analysis.abstract.folding import MOST_LISTED
from s2s.builder import virtual_heap
from s2s.builder.builder import Builder, Context
from s2s.builder.virtual_heap import cell_of
from s2s.core import ir, ops
from s2s.core.limits import FEW_ARGUMENTS
from s2s.core.values import Array, Known, ListOf, Mapping, Range, Sequence
from s2s.optimize.ranges import constant_range
from s2s.specialize.heap import iterators, lazy
from s2s.specialize.site import At

if TYPE_CHECKING:
    from s2s.specialize.specializer import Specializer

__all__ = ["UNROLL_AT_MOST", "Counted", "Items", "few_iterations"]

UNROLL_AT_MOST = 64
"""A loop over known items with more iterations than this stays a loop."""

_ITERATED = (tuple, list, str, dict, range, frozenset, types.MappingProxyType)
"""The types of known objects whose items are read while compiling, where they are not too many."""


@dataclass(frozen=True)
class Counted:
    """An iterable read by position."""

    length: ir.Atom
    item: Callable[[ir.Atom, Builder], ir.Atom]


def few_iterations(context: Context, iterable: ir.Atom) -> range | None:
    """A range that is known and short."""
    found = constant_range(context, iterable)
    return found if found is not None and not found[UNROLL_AT_MOST:] else None


def start_of(made: ir.Call) -> ir.Atom:
    """Where an ``enumerate`` begins."""
    given = made.args[1] if len(made.args) > 1 else dict(made.kwargs).get("start", ir.Const(0))
    assert not isinstance(given, ir.Star)
    return given


class Items:
    """Reads the items of containers for a specialiser."""

    def __init__(self, specializer: Specializer) -> None:
        self.specializer = specializer
        self.context = specializer.context

    def known(self, atom: ir.Atom, builder: Builder, span: ir.Span | None) -> list[ir.Atom] | None:
        """The items of a container whose length is known, or None."""
        if atom in self.context.generators:
            atom = lazy.listed(At(self.specializer, self.specializer.frame, builder, span), atom)
        cell = cell_of(self.context, atom)
        if cell is not None:
            return self._held_items(cell, builder, span)
        value = self.context.value(atom)
        match value:
            case Sequence(kind, items) if kind is not slice:
                cell = self._unchanged(atom)
                if cell is not None:
                    return self._held_items(cell, builder, span)
                return [builder.call(operator.getitem, atom, ir.Const(k), span=span) for k in range(len(items))]
            case Mapping(keys):
                return [ir.Const(k) for k in keys]
            case Known() if type(value.value) in _ITERATED and len(value.value) <= MOST_LISTED:
                return [ir.Const(v) for v in value.value]
            case _:
                return self._static_view(atom, builder, span)

    def _unchanged(self, atom: ir.Atom) -> virtual_heap.Cell | None:
        """The cell of an argument that an atom is, and nothing has changed: more is known of its items there."""
        cells = self.context.made_from.get(atom, ())
        if len(cells) != 1 or virtual_heap.is_changed(self.context.heap, cells[0]):
            return None
        return cells[0] if self.context.heap.origins.get(cells[0]) == atom else None

    def _held_items(self, cell: virtual_heap.Cell, builder: Builder, span: ir.Span | None) -> list[ir.Atom] | None:
        state = self.context.heap.state(cell, span)
        if state.kind is virtual_heap.Iterator:
            return iterators.take_all(self.specializer, cell, span)
        if virtual_heap.is_instance(state):
            at = At(self.specializer, self.specializer.frame, builder, span)
            return at.specializer.instances.items(at, cell.var)
        found = virtual_heap.contents(builder, cell, span)
        if found is None:
            return None
        if state.kind is set and len(found) > 1:  # in the order in which Python's set has them
            constants = [a for a in found.values() if isinstance(a, ir.Const)]
            return [ir.Const(v) for v in {a.value for a in constants}] if len(constants) == len(found) else None
        return [ir.Const(k) for k in found] if virtual_heap.is_dict(state) else list(found.values())

    def _static_view(self, atom: ir.Atom, builder: Builder, span: ir.Span | None) -> list[ir.Atom] | None:
        """The items of an iter, zip, enumerate or reversed of containers of known length."""
        made = self.context.definitions.get(atom) if isinstance(atom, ir.Var) else None
        fn = made.fn.value if isinstance(made, ir.Call) and isinstance(made.fn, ir.Const) else None
        if not isinstance(made, ir.Call) or not any(fn is view for view in (enumerate, zip, reversed, iter)):
            return None
        inner = [self.known(a, builder, span) for a in made.args]  # type: ignore[arg-type]
        if fn is enumerate and inner and inner[0] is not None:
            start = start_of(made)
            if not isinstance(start, ir.Const):
                return None
            return [
                builder.call(ops.make_tuple, ir.Const(k), item, span=span)
                for k, item in enumerate(inner[0], start.value)
            ]
        if fn is zip and inner and all(i is not None for i in inner):
            if dict(made.kwargs).get("strict") == ir.Const(True) and len({len(i or ()) for i in inner}) > 1:
                return None
            return [builder.call(ops.make_tuple, *row, span=span) for row in zip(*inner)]  # type: ignore[arg-type]
        if fn is reversed and inner[0] is not None:
            return inner[0][::-1]
        return inner[0] if fn is iter and len(inner) == 1 else None

    def entries(self, atom: ir.Atom, builder: Builder, span: ir.Span | None) -> dict[Any, ir.Atom] | None:
        """The entries of a mapping with known keys, or of a known list of pairs."""
        cell = cell_of(self.context, atom)
        if cell is not None and virtual_heap.is_dict(self.context.heap.state(cell, span)):
            return virtual_heap.contents(builder, cell, span)
        known = self.context.value(atom)
        if isinstance(known, Mapping):
            return {k: builder.call(operator.getitem, atom, ir.Const(k), span=span) for k in known.keys}
        if isinstance(known, Known) and isinstance(known.value, dict):
            return {k: ir.Const(v) for k, v in known.value.items()}
        pairs = self.known(atom, builder, span)
        pairs = self._few(atom, builder, span) if pairs is None else pairs
        if pairs is None:
            return None
        entries = {}
        for pair in pairs:
            both = self.known(pair, builder, span)
            if both is None or len(both) != 2 or not isinstance(both[0], ir.Const):
                return None
            entries[both[0].value] = both[1]
        return entries

    def _few(self, atom: ir.Atom, builder: Builder, span: ir.Span | None) -> list[ir.Atom] | None:
        """The items of a ``zip`` or ``enumerate`` of arrays of few items."""
        if all(self.context.definition(atom, view) is None for view in (zip, enumerate)) or not self._has_length(atom):
            return None
        counted = self.counted(atom, builder, span)
        length = counted.length.value if isinstance(counted.length, ir.Const) else None
        if type(length) is not int or length > FEW_ARGUMENTS:
            return None
        return [counted.item(ir.Const(k), builder) for k in range(length)]

    def dict_display(
        self, args: list[ir.Atom], kwargs: dict[Any, ir.Atom], builder: Builder, span: ir.Span | None, name: str
    ) -> ir.Atom | None:
        """``dict(mapping, key=value)`` with known keys, as a display."""
        entries: dict[Any, ir.Atom] = {}
        for arg in args:
            found = self.entries(arg, builder, span)
            if found is None:
                return None
            entries |= found
        entries |= kwargs
        flat = [a for key, value in entries.items() for a in (ir.Const(key), value)]
        return builder.call(ops.make_dict, *flat, name=name, span=span)

    def counted(self, atom: ir.Atom, builder: Builder, span: ir.Span | None, most: ir.Atom | None = None) -> Counted:
        """An iterable as a length and a function that reads the item at a position; of one without a length, which may
        never end, no more than ``most`` items are taken."""
        made = self.context.definitions.get(atom) if isinstance(atom, ir.Var) else None
        fn = made.fn.value if isinstance(made, ir.Call) and isinstance(made.fn, ir.Const) else None
        if isinstance(made, ir.Call) and fn is zip:
            return self._count_zip(made, builder, span, most)
        if isinstance(made, ir.Call) and fn is enumerate:
            return self._count_enumerate(made, builder, span, most)
        if isinstance(made, ir.Call) and fn is reversed:
            return self._count_reversed(made, builder, span)
        if isinstance(made, ir.Call) and fn is iter and len(made.args) == 1:
            return self.counted(made.args[0], builder, span, most)  # type: ignore[arg-type]
        atom = builder.frozen(atom)
        if not self._is_sequence(atom):
            if most is not None and not self.context.is_varied(atom):
                atom = builder.call(itertools.islice, atom, most, span=span)
            atom = builder.call(list, atom, span=span)
        length = builder.call(len, atom, span=span)
        return Counted(length, lambda k, b: self._at(atom, k, b, span))

    def _at(self, atom: ir.Atom, k: ir.Atom, builder: Builder, span: ir.Span | None) -> ir.Atom:
        """The item of a sequence at a position."""
        cell = self._unchanged(atom) if isinstance(k, ir.Const) else None
        found = None if cell is None else self._held_items(cell, builder, span)
        return builder.call(operator.getitem, atom, k, span=span) if found is None else found[k.value]  # type: ignore[union-attr]

    def _is_sequence(self, atom: ir.Atom) -> bool:
        """Whether items of it are read by their positions."""
        value = self.context.value(atom)
        return isinstance(value, (Array, ListOf, Range, Sequence)) or (
            isinstance(value, Known) and type(value.value) in (tuple, list, str, range))

    def _has_length(self, atom: ir.Atom) -> bool:
        """Whether it is known to end: it is a sequence, or views of one."""
        made = self.context.definitions.get(atom) if isinstance(atom, ir.Var) else None
        fn = made.fn.value if isinstance(made, ir.Call) and isinstance(made.fn, ir.Const) else None
        if isinstance(made, ir.Call) and (fn is zip or fn is enumerate or fn is iter):
            given = made.args if fn is zip else made.args[:1]
            return any(self._has_length(a) for a in given)  # type: ignore[arg-type]
        return fn is reversed or self.context.is_virtual(atom) or self._is_sequence(atom)

    def _count_zip(
        self, made: ir.Call, builder: Builder, span: ir.Span | None, most: ir.Atom | None = None
    ) -> Counted:
        is_strict = dict(made.kwargs).get("strict", ir.Const(False)) != ir.Const(False)
        given: list[ir.Atom] = [*made.args]  # type: ignore[list-item]

        def least(lengths: list[ir.Atom]) -> ir.Atom:
            return lengths[0] if len(lengths) == 1 else builder.call(min, *lengths, span=span)

        parts = {k: self.counted(a, builder, span, most) for k, a in enumerate(given) if self._has_length(a)}
        if parts and len(parts) < len(given) and not is_strict:
            most = least([part.length for part in parts.values()])
        parts |= {k: self.counted(a, builder, span, most) for k, a in enumerate(given) if k not in parts}
        lengths = [parts[k].length for k in range(len(given))]
        length = least(lengths)
        if is_strict:
            builder.call(rt.check_equal, *lengths, span=span, effect=True)
        return Counted(length, lambda k, b: b.call(
            ops.make_tuple, *(parts[place].item(k, b) for place in range(len(given))), span=span))

    def _count_enumerate(
        self, made: ir.Call, builder: Builder, span: ir.Span | None, most: ir.Atom | None = None
    ) -> Counted:
        inner = self.counted(made.args[0], builder, span, most)  # type: ignore[arg-type]
        start = start_of(made)

        def item(k: ir.Atom, b: Builder) -> ir.Atom:
            number = k if start == ir.Const(0) else b.call(operator.add, k, start, span=span)  # type: ignore[arg-type]
            return b.call(ops.make_tuple, number, inner.item(k, b), span=span)

        return Counted(inner.length, item)

    def _count_reversed(self, made: ir.Call, builder: Builder, span: ir.Span | None) -> Counted:
        inner = self.counted(made.args[0], builder, span)  # type: ignore[arg-type]
        last = builder.call(operator.sub, inner.length, ir.Const(1), span=span)
        return Counted(inner.length, lambda k, b: inner.item(b.call(operator.sub, last, k, span=span), b))
