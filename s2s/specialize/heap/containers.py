"""Lists, dicts, deques and sets of the user's code: what their operations do to the virtual heap.

Each function takes the specialiser, the place and the arguments of a call, and gives the atom of the result, or None
where the call is to be treated as any other, on ordinary values made of what the containers hold.
"""

from __future__ import annotations

import collections
import copy
import functools
import operator
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, assert_never

import numpy as np

from s2s import runtime as rt
from s2s.analysis.abstract.folding import MOST_LISTED, NotFolded, plain
from s2s.builder import virtual_heap
from s2s.builder.builder import Builder
from s2s.builder.virtual_heap import Cell, State, cell_of, is_dict, is_instance, is_sequence, state_of
from s2s.core import ir, ops
from s2s.core.inspection import is_hashable
from s2s.core.values import (
    AbstractValue,
    Array,
    Known,
    ListOf,
    Scalar,
    Sequence,
    Unknown,
    has_fields,
    is_generated_maker,
    is_record_class,
)
from s2s.errors import DifferentiationError, error
from s2s.specialize.frames import Frame, lower_function
from s2s.specialize.heap import iterators
from s2s.specialize.heap.mutated_iterables import note_source
from s2s.versions import facts
from s2s.versions.target import own_signature

if TYPE_CHECKING:
    from s2s.specialize.specializer import Specializer

ESCAPED = "a container or a function that is kept refers to it"


@dataclass
class At:
    """The place of a call: the activation, where statements go, the user's line, and a name for the result."""

    frame: Frame
    builder: Builder
    span: ir.Span | None
    name: str = "%"

    def refuse(self, name: str, why: str) -> DifferentiationError:
        """The error for a change that cannot be followed."""
        return error("S2S134", span=self.span, asked_by=self.frame.called_from, name=name, label=why)


Form = Callable[..., ir.Atom | None]


# --- making containers ----------------------------------------------------------------------------------------------


def new(self: Specializer, at: At, state: State) -> ir.Atom:
    """A new object on the heap; where it holds only ordinary values, these are put together here."""
    cell = virtual_heap.make_cell(self.context, state, at.name, at.span)
    if not any(map(self.context.is_virtual, state.items)) and not is_instance(state):
        frozen = _frozen_now(at, state)
        self.context.heap.frozen[cell] = (frozen, ((cell, state),))
    return cell.var


def _frozen_now(at: At, state: State) -> ir.Atom:
    if is_dict(state):
        flat = [a for k, v in state.entries().items() for a in (ir.Const(k), v)]
        return at.builder.call(ops.make_dict, *flat, name=at.name, span=at.span)
    makers: dict[type, Any] = {tuple: ops.make_tuple, set: ops.make_set}
    make = makers.get(state.kind, ops.make_list)
    return at.builder.call(make, *state.items, name=at.name, span=at.span)


def new_list(self: Specializer, at: At, items: Any, kind: type = list, extra: Any = None) -> ir.Atom:
    """A new list, tuple or deque of known items. A tuple of ordinary values is an ordinary value."""
    items = tuple(items)
    if kind is tuple and not any(map(self.context.is_virtual, items)):
        return at.builder.call(ops.make_tuple, *items, name=at.name, span=at.span)
    return new(self, at, State(kind, tuple(range(len(items))), items, extra=extra))


def new_record(
    self: Specializer, at: At, cls: Any, args: list[ir.Atom], kwargs: dict[Any, ir.Atom]
) -> ir.Atom:
    """A named tuple. One whose class has an ``__init__`` of its own has further attributes, which are not followed."""
    made = made_record(self, at, cls.__new__, cls, args, kwargs)
    if made is None:
        made = self.inline(cls.__new__, [ir.Const(cls), *args], dict(kwargs), at.frame, at.builder, at.span)
    for base in cls.__mro__:
        init = facts.member(base, "__init__").folded(self.guards)
        if isinstance(init, types.FunctionType) and init.__code__.co_filename != "<string>" and not only_notes(init):
            raise at.refuse(cls.__name__, "its `__init__` does more than to store attributes")
    return made


def made_record(
    self: Specializer, at: At, fn: Any, cls: Any, args: list[ir.Atom], kwargs: dict[Any, ir.Atom]
) -> ir.Atom | None:
    """What the generated ``__new__`` of a named tuple makes, or ``tuple.__new__`` with its class; None for any other
    function."""
    if fn is tuple.__new__ and len(args) == 1:
        items = self.static_items(args[0], at.builder, at.span)
        if items is None:
            return None
    elif is_generated_maker(fn):
        facts.code(fn, self.guards).folded(self.guards)
        bound = own_signature(fn).bind(cls, *args, **kwargs)
        given = dict(list(bound.arguments.items())[1:])
        for name in cls._fields:
            if name not in given:
                given[name] = self.instances.default(at.builder, fn, name)
        items = [given[name] for name in cls._fields]
    else:
        return None
    if is_record_class(cls) and not any(map(self.context.is_virtual, items)):
        return at.builder.call(cls, *items, name=at.name, span=at.span)
    state = State(cls, tuple(range(len(items))), tuple(items))
    return virtual_heap.make_cell(self.context, state, at.name, at.span).var


def only_notes(init: Any) -> bool:
    """Whether an ``__init__`` only stores attributes into the object, and calls those of the bases."""
    if not isinstance(init, types.FunctionType):
        return False
    try:
        function = lower_function(init)
    except DifferentiationError:
        return False
    first = function.params[0].var
    supers: set[ir.Atom] = set()
    for s in ir.walk(function.body):
        match s:
            case ir.Store("attr", target, op=None) if target == first:
                pass
            case ir.Let(target, ir.Load("super", "global")):
                supers.add(target)  # type: ignore[arg-type]
            case ir.Let(target, ir.Call(fn, args)) if fn in supers or (fn == ir.Const(getattr) and args[0] in supers):
                supers.add(target)  # type: ignore[arg-type]
            case ir.Let(_, ir.Var() | ir.Const() | ir.Load()) | ir.Note():
                pass
            case (
                ir.Let() | ir.Store() | ir.If() | ir.For() | ir.While() | ir.With() | ir.Try() | ir.Assert() |
                ir.Raise() | ir.Return() | ir.Break() | ir.Continue()
            ):
                return False
            case _:
                assert_never(s)
    return True


def new_dict(self: Specializer, at: At, entries: dict[Any, ir.Atom], kind: type = dict, extra: Any = None) -> ir.Atom:
    """A new dict with known keys."""
    return new(self, at, State(kind, tuple(entries), tuple(entries.values()), extra=extra))


def _make_list(self: Specializer, at: At, *items: ir.Atom) -> ir.Atom | None:
    return new_list(self, at, items)


def _make_tuple(self: Specializer, at: At, *items: ir.Atom) -> ir.Atom | None:
    return new_list(self, at, items, tuple) if any(map(self.context.is_virtual, items)) else None


def _make_dict(self: Specializer, at: At, *flat: ir.Atom) -> ir.Atom | None:
    if not all(map(is_key, flat[::2])):
        return None
    return new_dict(self, at, {k.value: v for k, v in zip(flat[::2], flat[1::2], strict=True)})  # type: ignore[union-attr]


def is_key(atom: ir.Atom) -> bool:
    """Whether an atom is a constant that can be the key of a dict."""
    return isinstance(atom, ir.Const) and is_hashable(atom.value)


def _comprehended(self: Specializer, at: At, items: ir.Atom, item: ir.Atom) -> ir.Atom | None:
    """One more item of a list comprehension: a new list, of which nobody has seen the old one."""
    cell = cell_of(self.context, items)
    if cell is None:
        return None
    state = self.context.heap.state(cell)
    if state.whole is not None:
        return virtual_heap.make_cell(self.context, _appended(self, at, state, item), at.name, at.span).var
    made = state.with_entry(state.size, item)
    after = virtual_heap.make_cell(self.context, made, at.name, at.span)
    kept = self.context.heap.frozen.get(cell)
    if kept is not None and not self.context.is_virtual(item):
        frozen = at.builder.call(ops.append, kept[0], item, name=at.name, span=at.span)
        self.context.heap.frozen[after] = (frozen, ((after, made),))
    return after.var


def _appended(self: Specializer, at: At, state: State, item: ir.Atom) -> State:
    """A list of unknown length with one more item, which must not change any more."""
    assert state.whole is not None
    frozen = at.builder.frozen(item)
    virtual_heap.close(self.context, item, ESCAPED)
    return state.with_whole(at.builder.call(ops.append, state.whole, frozen, name=at.name, span=at.span))


def _put(self: Specializer, at: At, mapping: ir.Atom, key: ir.Atom, value: ir.Atom) -> ir.Atom | None:
    """One more entry of a dict comprehension."""
    cell = cell_of(self.context, mapping)
    if cell is None:
        return None
    state = self.context.heap.state(cell)
    if state.whole is not None or not is_key(key):
        whole = at.builder.call(ops.put, at.builder.frozen(mapping), key, at.builder.frozen(value), span=at.span)
        virtual_heap.close(self.context, value, ESCAPED)
        return virtual_heap.make_cell(self.context, state.with_whole(whole), at.name, at.span).var
    assert isinstance(key, ir.Const)
    made = state.with_entry(key.value, value)
    after = virtual_heap.make_cell(self.context, made, at.name, at.span)
    kept = self.context.heap.frozen.get(cell)
    if kept is not None and not self.context.is_virtual(value):
        frozen = at.builder.call(ops.put, kept[0], key, value, name=at.name, span=at.span)
        self.context.heap.frozen[after] = (frozen, ((after, made),))
    return after.var


def _merge_dict(self: Specializer, at: At, *parts: ir.Atom) -> ir.Atom | None:
    entries: dict[Any, ir.Atom] = {}
    for part in parts:
        found = entries_of(self, at, part)
        if found is None:
            return None
        entries |= found
    return new_dict(self, at, entries)


def entries_of(self: Specializer, at: At, atom: ir.Atom) -> dict[Any, ir.Atom] | None:
    """The entries of a mapping with known keys, or of a known list of pairs."""
    cell = cell_of(self.context, atom)
    if cell is not None and is_dict(self.context.heap.state(cell, at.span)):
        return virtual_heap.contents(at.builder, cell, at.span)
    return self.entries(atom, at.builder, at.span)


# --- constructors ---------------------------------------------------------------------------------------------------


def _sequence(kind: type) -> Form:
    def convert(self: Specializer, at: At, items: ir.Atom | None = None, maxlen: ir.Atom | None = None) -> Any:
        limit = maxlen.value if isinstance(maxlen, ir.Const) else None
        if maxlen is not None and not isinstance(maxlen, ir.Const):
            return None
        if items is None:
            return new_list(self, at, (), kind, limit)
        state = state_of(self.context, items)
        if state is not None and state.whole is not None and is_sequence(state) and kind is not tuple:
            made = State(kind, (), (), state.whole, extra=limit)
            return virtual_heap.make_cell(self.context, made, at.name, at.span).var
        known = self.context.value(items)
        found = None if isinstance(known, Known) and isinstance(known.value, range) else (
            self.static_items(items, at.builder, at.span))
        if found is None:
            return None if kind is not list else _adopted(self, at, items)
        return new_list(self, at, found[-limit:] if limit else found, kind, limit)

    return convert


def _adopted(self: Specializer, at: At, items: ir.Atom) -> ir.Atom | None:
    """``list(x)`` of unknown length: a new list that is the program's own."""
    whole = at.builder.call(list, at.builder.frozen(items), name=at.name, span=at.span)
    return virtual_heap.make_cell(self.context, State(list, whole=whole), at.name, at.span).var


def _zeros(self: Specializer, at: At, like: ir.Atom) -> ir.Atom | None:
    """``rt.zeros_of`` a list of unknown length: a list whose items the program changes."""
    state = state_of(self.context, like)
    whole = like if state is None else state.whole
    if whole is None or not isinstance(self.context.value(whole), ListOf):
        return None
    zeros = at.builder.call(rt.zeros_of, at.builder.frozen(like), name=at.name, span=at.span)
    return virtual_heap.make_cell(self.context, State(list, whole=zeros), at.name, at.span).var


def _dict(kind: type) -> Form:
    def convert(self: Specializer, at: At, *args: ir.Atom, **kwargs: ir.Atom) -> ir.Atom | None:
        factory = None
        if kind is collections.defaultdict:
            factory, args = (args[0] if args else ir.Const(None)), args[1:]
        entries: dict[Any, ir.Atom] = {}
        for arg in args:
            found = entries_of(self, at, arg)
            if found is None:
                return None
            entries |= found
        return new_dict(self, at, entries | kwargs, kind, factory)

    return convert


# --- reading --------------------------------------------------------------------------------------------------------


def _getitem(self: Specializer, at: At, container: ir.Atom, key: ir.Atom) -> ir.Atom | None:
    cell = cell_of(self.context, container)
    if cell is None:
        return None
    state, key = self.context.heap.state(cell, at.span), known_key(self, key)
    if is_instance(state):
        return self.instances.operate(self, at, operator.getitem, "__getitem__", container, key)
    if state.whole is not None or not isinstance(key, ir.Const):
        if _makes_entries(state):  # the dict that stands for it when the program runs would raise KeyError
            raise at.refuse(cell.name, "whether it has the key is not known before the program runs")
        return None
    if is_dict(state):
        return _entry(self, at, cell, state, key)
    if not state.borrowed and type(key.value) in (int, bool):
        size = state.size
        return state.find(range(size)[key.value]) if -size <= key.value < size else None
    keys = virtual_heap.positions(state, cell)
    assert keys is not None
    if isinstance(key.value, slice):
        found = virtual_heap.contents(at.builder, cell, at.span)
        kept = virtual_heap.positions(state, cell)
        if not any(map(self.context.is_virtual, (found or {}).values())) and state.borrowed and kept:
            return _adopt(self, at, at.builder.call(
                operator.getitem, at.builder.frozen(container), key, name=at.name, span=at.span), state)
        return new_list(self, at, list((found or {}).values())[key.value], _plain_kind(state.kind))
    if type(key.value) not in (int, bool) or not -len(keys) <= key.value < len(keys):
        return None
    position = range(len(keys))[key.value]
    return virtual_heap.read(at.builder, cell, position, at.name, at.span)


def known_key(self: Specializer, key: ir.Atom) -> ir.Atom:
    """A key, as a constant where it is known (a slice with known bounds), or where it can be known under a guard."""
    known = self.context.value(key)
    if isinstance(known, Known) and isinstance(known.value, (slice, tuple)):
        return known.const
    bounds = self.context.definition(key, slice)
    if bounds is None:
        return self.pinned(key)
    parts = [self.pinned(a) for a in bounds]
    values = [p.value for p in parts if isinstance(p, ir.Const)]
    return ir.Const(slice(*values)) if len(values) == len(parts) else key


def _adopt(self: Specializer, at: At, atom: ir.Atom, state: State) -> ir.Atom:
    """A new list of known items that was just made, as an object on the heap."""
    known = self.context.value(atom)
    if state.kind is not list or not isinstance(known, Sequence):
        return atom
    items = tuple(at.builder.call(operator.getitem, atom, ir.Const(k), span=at.span) for k in range(len(known.items)))
    made = State(list, tuple(range(len(items))), items)
    cell = virtual_heap.make_cell(self.context, made, at.name, at.span)
    self.context.heap.frozen[cell] = (atom, ((cell, made),))
    return cell.var


def _plain_kind(kind: type) -> type:
    return tuple if issubclass(kind, tuple) else list


def _entry(self: Specializer, at: At, cell: Cell, state: State, key: ir.Const) -> ir.Atom | None:
    if not is_key(key):
        return None
    found = virtual_heap.read(at.builder, cell, key.value, at.name, at.span)
    if found is not None or not _makes_entries(state):
        return found
    made = self.apply(state.extra, [], {}, at.frame, at.builder, at.span)
    state = self.context.heap.state(cell, at.span)
    self.context.heap.change(cell, state.with_entry(key.value, made), at.span)
    return made


def _makes_entries(state: State) -> bool:
    """Whether reading a key that it does not have makes an entry."""
    return state.kind is collections.defaultdict and state.extra not in (None, ir.Const(None))


def _length(self: Specializer, at: At, container: ir.Atom) -> ir.Atom | None:
    cell = cell_of(self.context, container)
    if cell is None:
        return None
    state = self.context.heap.state(cell, at.span)
    if is_instance(state):
        return self.instances.operate(self, at, len, "__len__", container)
    if state.whole is None and not state.borrowed:
        return ir.Const(state.size)
    keys = virtual_heap.positions(state, cell)
    return None if keys is None else ir.Const(len(keys))


def _contains(negated: bool) -> Form:
    def look(self: Specializer, at: At, item: ir.Atom, container: ir.Atom) -> ir.Atom | None:
        cell = cell_of(self.context, container)
        if cell is None:
            return None
        state = self.context.heap.state(cell, at.span)
        if is_instance(state):
            found = self.instances.operate(self, at, operator.contains, "__contains__", container, item)
            if found is None or not negated:
                return found
            return self.apply(ir.Const(operator.not_), [found], {}, at.frame, at.builder, at.span)
        keys = virtual_heap.positions(state, cell)
        if is_dict(state) and keys is not None and is_key(item):
            assert isinstance(item, ir.Const)
            return ir.Const((item.value in keys) is not negated)
        items = virtual_heap.contents(at.builder, cell, at.span)
        if items is None:
            return None
        if isinstance(item, ir.Const) and all(isinstance(i, ir.Const) for i in items.values()):
            return ir.Const((item.value in [i.value for i in items.values()]) is not negated)  # type: ignore[union-attr]
        if cell_of(self.context, item) is not None and item in items.values():
            return ir.Const(not negated)
        return None

    return look


def _truth(negated: bool) -> Form:
    def look(self: Specializer, at: At, value: ir.Atom) -> ir.Atom | None:
        cell = cell_of(self.context, value)
        if cell is None:
            return None
        state = self.context.heap.state(cell, at.span)
        if is_instance(state):
            found = self.instances.truth(self, at, value)
            if not negated:
                return found
            return self.apply(ir.Const(operator.not_), [found], {}, at.frame, at.builder, at.span)
        keys = virtual_heap.positions(state, cell)
        return None if keys is None else ir.Const(bool(keys) is not negated)

    return look


def _identity(negated: bool) -> Form:
    def look(self: Specializer, at: At, a: ir.Atom, b: ir.Atom) -> ir.Atom | None:
        first, second = cell_of(self.context, a), cell_of(self.context, b)
        if first is None and second is None:
            return None
        heap = self.context.heap
        for cell, other in ((first, b), (second, a)):
            if cell is not None and isinstance(self.context.value(other), Unknown):
                if cell.origin is not None and not virtual_heap.is_changed(heap, cell):
                    return None  # it may be the same object: asked when the program runs
                if cell.origin is not None or cell in heap.closed:
                    raise at.refuse(cell.name, "whether it is another object is not known before the program runs")
        if first is not None and second is not None and first is not second:
            if second in heap.entangled.get(first, ()) or first in heap.entangled.get(second, ()):
                raise at.refuse(first.name, "whether it is the other object depends on the path that was taken")
            self.compared = self.compared or (first.origin is not None and second.origin is not None)
            self.instances.note_identity(first, second)
        return ir.Const((first is second) is not negated)

    return look


def _type(self: Specializer, at: At, value: ir.Atom, *rest: ir.Atom) -> ir.Atom | None:
    state = state_of(self.context, value)
    return None if state is None or rest else ir.Const(state.kind)


def _isinstance(self: Specializer, at: At, value: ir.Atom, kinds: ir.Atom) -> ir.Atom | None:
    state = state_of(self.context, value)
    known = self.context.value(kinds)
    if state is None:
        return None
    if isinstance(known, Sequence) and all(isinstance(i, Known) for i in known.items):
        options: Any = tuple(i.value for i in known.items)  # type: ignore[union-attr]
    elif isinstance(known, Known):
        options = known.value
    else:
        return None
    answer = facts.subclass(state.kind, options).folded(self.guards)
    return None if answer is None else ir.Const(answer)


def _unpack(self: Specializer, at: At, value: ir.Atom, before: ir.Const, after: ir.Const) -> ir.Atom | None:
    """``a, *b, c = value`` of a container that holds objects."""
    if cell_of(self.context, value) is None:
        return None
    items = self.static_items(value, at.builder, at.span)
    state = state_of(self.context, value)
    plain = items is not None and not any(map(self.context.is_virtual, items)) and after.value is None
    is_plain = state is not None and not is_instance(state) and state.kind is not set and not has_fields(state.kind)
    if items is None or (plain and is_plain and len(items) == before.value):
        return None
    count = before.value if after.value is None else before.value + after.value
    if len(items) < count or (after.value is None and len(items) != count):
        if self.trying:
            raise self.raised(ValueError(f"{len(items)} values to unpack (expected {count})"))
        return None
    if after.value is None:
        return new_list(self, at, items, tuple)
    stop = len(items) - after.value
    middle = new_list(self, at, items[before.value : stop])
    return new_list(self, at, [*items[: before.value], middle, *items[stop:]], tuple)


def _view(which: str) -> Form:
    def read(self: Specializer, at: At, mapping: ir.Atom) -> ir.Atom | None:
        entries = entries_of(self, at, mapping) if cell_of(self.context, mapping) is not None else None
        if entries is None:
            return None
        items: list[ir.Atom] = list(entries.values()) if which == "values" else [ir.Const(k) for k in entries]
        if which == "items":
            pairs = zip(items, entries.values(), strict=True)
            items = [new_list(self, at, pair, tuple) for pair in pairs]
        made = new_list(self, at, items)
        self.views[made] = ((cell_of(self.context, mapping), which),)  # type: ignore[assignment]
        return made

    return read


def _get(self: Specializer, at: At, mapping: ir.Atom, key: ir.Atom, default: ir.Atom | None = None) -> ir.Atom | None:
    cell = cell_of(self.context, mapping)
    if cell is None or not is_key(key) or virtual_heap.positions(self.context.heap.state(cell, at.span), cell) is None:
        return None
    assert isinstance(key, ir.Const)
    found = virtual_heap.read(at.builder, cell, key.value, at.name, at.span)
    return found if found is not None else ir.Const(None) if default is None else default


def _enumerate(self: Specializer, at: At, items: ir.Atom, start: ir.Atom = ir.Const(0)) -> ir.Atom | None:  # noqa: B008
    found = _objects_in(self, at, items)
    if found is None or not isinstance(start, ir.Const):
        return None
    return new_list(self, at, [new_list(self, at, (ir.Const(k), i), tuple) for k, i in enumerate(found, start.value)])


def _zip(self: Specializer, at: At, *columns: ir.Atom, strict: ir.Atom = ir.Const(False)) -> ir.Atom | None:  # noqa: B008
    if not any(_objects_in(self, at, c) for c in columns):
        return None
    found = [self.static_items(c, at.builder, at.span) for c in columns]
    if any(f is None for f in found) or (strict != ir.Const(False) and len({len(f or ()) for f in found}) > 1):
        return None
    return new_list(self, at, [new_list(self, at, row, tuple) for row in zip(*found, strict=False)])  # type: ignore[arg-type]


def _reversed(self: Specializer, at: At, items: ir.Atom) -> ir.Atom | None:
    found = _objects_in(self, at, items)
    return None if found is None else new_list(self, at, found[::-1])


def _objects_in(self: Specializer, at: At, atom: ir.Atom) -> list[ir.Atom] | None:
    """The items of a container that holds objects; None for any other."""
    if cell_of(self.context, atom) is None:
        return None
    items = self.static_items(atom, at.builder, at.span)
    return items if items is not None and any(map(self.context.is_virtual, items)) else None


def _iter(self: Specializer, at: At, items: ir.Atom) -> ir.Atom | None:
    """An iterator over known items."""
    state = state_of(self.context, items)
    if state is None or state.kind is virtual_heap.Iterator:
        return None if state is None else items
    found = self.static_items(items, at.builder, at.span)
    if found is None:
        return None
    made = iterators.make(self, found, at.name, at.span)
    note_source(self, cell_of(self.context, made), items)  # type: ignore[arg-type]
    return made


def _sum(self: Specializer, at: At, items: ir.Atom, start: ir.Atom = ir.Const(0)) -> ir.Atom | None:  # noqa: B008
    found = _objects_in(self, at, items)
    if found is None:
        return None
    total = start
    for item in found:
        total = self.apply(ir.Const(operator.add), [total, item], {}, at.frame, at.builder, at.span)
    return total


def _concatenate(self: Specializer, at: At, a: ir.Atom, b: ir.Atom) -> ir.Atom | None:
    """``[a] + [b]``: a new list."""
    states = [state_of(self.context, x) for x in (a, b)]
    kinds: set[Any] = {s.kind if s is not None else _kind(self, x) for s, x in zip(states, (a, b), strict=True)}
    if kinds not in ({list}, {tuple}):
        return None
    found = [self.static_items(x, at.builder, at.span) for x in (a, b)]
    if any(f is None for f in found):
        return _append_all(self, at, a, found[1])
    items = [i for f in found for i in f or ()]
    return None if len(items) > MOST_LISTED else new_list(self, at, items, kinds.pop())


def grown(self: Specializer, at: At, args: list[Any]) -> ir.Atom | None:
    """``[*items, a, b]`` of a list of unknown length; None for any other display."""
    first, *more = args
    if not isinstance(first, ir.Star) or any(isinstance(a, ir.Star) for a in more):
        return None
    state = state_of(self.context, first.atom)
    kind = _kind(self, first.atom) if state is None else state.kind
    return _append_all(self, at, first.atom, more) if kind is list else None


def _append_all(self: Specializer, at: At, items: ir.Atom, more: list[ir.Atom] | None) -> ir.Atom:
    """``items + [a, b]``, where the first has an unknown length: a new list that has grown."""
    if more is None:
        raise at.refuse("a list", "lists are put together whose lengths are not known before the program runs")
    state = State(list, whole=at.builder.frozen(items))
    for item in more:
        state = _appended(self, at, state, item)
    return virtual_heap.make_cell(self.context, state, at.name, at.span).var


def _kind(self: Specializer, atom: ir.Atom) -> type | None:
    known = self.context.value(atom)
    if isinstance(known, ListOf):
        return list
    return known.type if isinstance(known, Sequence) else None


def _repeat(self: Specializer, at: At, a: ir.Atom, b: ir.Atom) -> ir.Atom | None:
    """``[a] * 3``: a new list that holds the same items again."""
    for items, count in ((a, b), (b, a)):
        state = state_of(self.context, items)
        if state is None or state.kind not in (list, tuple):
            continue
        found = self.static_items(items, at.builder, at.span)
        if found is None or not isinstance(count, ir.Const) or type(count.value) is not int:
            if self.context.is_varied(items):
                raise at.refuse("a list", "how often it is repeated is not known before the program runs")
            return None
        if len(found) * count.value > MOST_LISTED:
            return None
        return new_list(self, at, found * count.value, state.kind)
    return None


def _sorted(
    self: Specializer, at: At, items: ir.Atom, key: ir.Atom = ir.Const(None), reverse: ir.Atom = ir.Const(False)  # noqa: B008
) -> ir.Atom | None:
    """Known items are sorted now; others are put in order when the program runs, where that has a rule."""
    found = self.static_items(items, at.builder, at.span) if cell_of(self.context, items) is not None else None
    if found is None or not isinstance(reverse, ir.Const):
        return None
    order = _order(self, at, found, key)
    if order is None:
        return None
    return new_list(self, at, [found[k] for k in (order[::-1] if reverse.value else order)])


def _order(self: Specializer, at: At, items: list[ir.Atom], key: ir.Atom) -> list[int] | None:
    values = items
    if key != ir.Const(None):
        values = [self.apply(key, [i], {}, at.frame, at.builder, at.span) for i in items]
    known = [self.context.value(v) for v in values]
    if not all(isinstance(k, Known) for k in known):
        return None
    try:
        keys = [plain(k.value) for k in known if isinstance(k, Known)]
        return sorted(range(len(items)), key=keys.__getitem__)
    except (NotFolded, TypeError, ValueError):  # it raises again when the program runs
        return None


def _copy(self: Specializer, at: At, value: ir.Atom, *memo: ir.Atom) -> ir.Atom | None:
    """A new object that holds the same items."""
    cell = cell_of(self.context, value)
    if cell is None:
        return None
    state = self.context.heap.state(cell, at.span)
    if issubclass(state.kind, tuple):
        return value
    if is_instance(state):
        return self.instances.copied(self, at, cell)
    found = virtual_heap.contents(at.builder, cell, at.span)
    if found is None:
        return virtual_heap.make_cell(self.context, state, at.name, at.span).var
    return new(self, at, State(state.kind, tuple(found), tuple(found.values()), extra=state.extra))


def _deepcopy(self: Specializer, at: At, value: ir.Atom, *memo: ir.Atom) -> ir.Atom | None:
    if cell_of(self.context, value) is None:
        return None
    return _deep(self, at, value, {})


def _deep(self: Specializer, at: At, value: ir.Atom, done: dict[Cell, ir.Atom]) -> ir.Atom:
    cell = cell_of(self.context, value)
    if cell is None:
        known = self.context.value(value)
        if isinstance(known, (Known, Scalar)):
            return value
        if isinstance(known, Array):
            return at.builder.call(np.copy, value, span=at.span)
        return self.leave(ir.Const(copy.deepcopy), [value], {}, at.builder, at.span, "%")
    if cell in done:
        return done[cell]
    state = self.context.heap.state(cell, at.span)
    if is_instance(state):
        made = self.instances.copied(self, at, cell)
        done[cell] = made
        own = cell_of(self.context, made)
        assert own is not None
        entries = self.context.heap.state(own).entries()
        self.context.heap.states[own] = self.context.heap.state(own).with_entries(
            {k: _deep(self, at, v, done) for k, v in entries.items()})
        return made
    found = virtual_heap.contents(at.builder, cell, at.span)
    if found is None:
        return virtual_heap.make_cell(self.context, state, at.name, at.span).var
    copied = {k: _deep(self, at, v, done) for k, v in found.items()}
    done[cell] = new(self, at, State(state.kind, tuple(copied), tuple(copied.values()), extra=state.extra))
    return done[cell]


# --- changing -------------------------------------------------------------------------------------------------------


@dataclass
class _Target:
    """A container that is about to change: its cell and its state."""

    cell: Cell
    state: State
    builder: Builder
    span: ir.Span | None

    @functools.cached_property
    def items(self) -> dict[Any, ir.Atom] | None:
        """Its items, where they are known one by one."""
        return None if is_instance(self.state) else virtual_heap.contents(self.builder, self.cell, self.span)

    @property
    def is_own(self) -> bool:
        """Whether all that it holds is known one by one, and was put there by the program."""
        return self.state.whole is None and not self.state.borrowed and not is_instance(self.state)

    @property
    def name(self) -> str:
        return self.cell.name


def _target(self: Specializer, at: At, atom: ir.Atom) -> _Target | None:
    cell = cell_of(self.context, atom)
    if cell is None:
        return None
    state = self.context.heap.state(cell, at.span)
    return _Target(cell, state, at.builder, at.span)


def _change(self: Specializer, at: At, target: _Target, state: State) -> ir.Const:
    if state.borrowed:
        state = State(state.kind, state.keys, state.items, state.whole, False, state.extra)
    if state.extra is not None and state.kind is collections.deque and len(state.items) > state.extra:
        raise AssertionError("a deque is cut where it is changed")
    self.context.heap.change(target.cell, state, at.span)
    return ir.Const(None)


def changes_list(edit: Callable[..., Any]) -> Form:
    """A method that changes a list or deque of known length: ``edit`` gets the items, and gives the new ones, with the
    result of the call where it has one."""

    @functools.wraps(edit)
    def apply(self: Specializer, at: At, container: ir.Atom, *args: ir.Atom, **kwargs: ir.Atom) -> ir.Atom | None:
        target = _target(self, at, container)
        if target is None:
            return None
        if edit is _append and target.is_own and target.state.kind is list and len(args) == 1 and not kwargs:
            return _change(self, at, target, target.state.with_entry(target.state.size, args[0]))
        if target.items is None:
            return _change_whole(self, at, target, edit.__name__.lstrip("_"), args)
        items = list(target.items.values())
        found = edit(self, at, items, *args, **kwargs)
        if found is None:
            raise at.refuse(target.name, "what this does depends on values that are not known before the program runs")
        result = found if isinstance(found, ir.Atom) else ir.Const(None)  # type: ignore[arg-type]
        _change(self, at, target, target.state.with_items(_cut(target.state, items, edit.__name__)))
        return result

    return apply


def _cut(state: State, items: list[ir.Atom], edit: str) -> list[ir.Atom]:
    if state.kind is not collections.deque or state.extra is None or len(items) <= state.extra:
        return items
    return items[: state.extra] if "left" in edit else items[len(items) - state.extra :]


DONE = True


def _append(self: Specializer, at: At, items: list[ir.Atom], item: ir.Atom) -> Any:
    items.append(item)
    return DONE


def _appendleft(self: Specializer, at: At, items: list[ir.Atom], item: ir.Atom) -> Any:
    items.insert(0, item)
    return DONE


def _extend(self: Specializer, at: At, items: list[ir.Atom], more: ir.Atom) -> Any:
    found = self.static_items(more, at.builder, at.span)
    if found is None or len(items) + len(found) > MOST_LISTED:
        return None
    items.extend(found)
    return DONE


def _extendleft(self: Specializer, at: At, items: list[ir.Atom], more: ir.Atom) -> Any:
    found = self.static_items(more, at.builder, at.span)
    if found is None:
        return None
    items[:0] = found[::-1]
    return DONE


def _insert(self: Specializer, at: At, items: list[ir.Atom], position: ir.Atom, item: ir.Atom) -> Any:
    if not isinstance(position, ir.Const):
        return None
    items.insert(position.value, item)
    return DONE


def _pop(self: Specializer, at: At, items: list[ir.Atom], position: ir.Atom = ir.Const(-1)) -> Any:  # noqa: B008
    if not isinstance(position, ir.Const) or not -len(items) <= position.value < len(items):
        return None
    return items.pop(position.value)


def _popleft(self: Specializer, at: At, items: list[ir.Atom]) -> Any:
    return items.pop(0) if items else None


def _remove(self: Specializer, at: At, items: list[ir.Atom], item: ir.Atom) -> Any:
    if cell_of(self.context, item) is not None and item in items and not any(
        is_instance(s) and s.kind.__eq__ is not object.__eq__ for i in items if (s := state_of(self.context, i))
    ):
        items.remove(item)
        return DONE
    if not isinstance(item, ir.Const) or not all(isinstance(i, ir.Const) for i in items):
        return None
    values = [i.value for i in items if isinstance(i, ir.Const)]
    if item.value not in values:
        return None
    del items[values.index(item.value)]
    return DONE


def _clear(self: Specializer, at: At, items: list[ir.Atom]) -> Any:
    items.clear()
    return DONE


def _reverse(self: Specializer, at: At, items: list[ir.Atom]) -> Any:
    items.reverse()
    return DONE


def _rotate(self: Specializer, at: At, items: list[ir.Atom], steps: ir.Atom = ir.Const(1)) -> Any:  # noqa: B008
    if not isinstance(steps, ir.Const):
        return None
    turned = collections.deque(items)
    turned.rotate(steps.value)
    items[:] = turned
    return DONE


def _sort(
    self: Specializer, at: At, items: list[ir.Atom], key: ir.Atom = ir.Const(None), reverse: ir.Atom = ir.Const(False)  # noqa: B008
) -> Any:
    order = _order(self, at, items, key)
    if order is None or not isinstance(reverse, ir.Const):
        return None
    items[:] = [items[k] for k in (order[::-1] if reverse.value else order)]
    return DONE


def _change_whole(self: Specializer, at: At, target: _Target, edit: str, args: tuple[ir.Atom, ...]) -> ir.Atom:
    """A change of a list of unknown length, by an operation that makes a new one."""
    state, builder = target.state, at.builder
    whole = state.whole
    assert whole is not None
    if edit == "append" and state.extra is None:
        return _change(self, at, target, _appended(self, at, state, args[0]))
    if edit == "extend" and state.extra is None:
        found = self.static_items(args[0], builder, at.span)
        for item in found or ():
            state = _appended(self, at, state, item)
        if found is not None:
            return _change(self, at, target, state)
    if edit == "clear":
        return _change(self, at, target, State(state.kind, extra=state.extra))
    if edit == "pop" and args in ((), (ir.Const(-1),)):
        last = builder.call(operator.getitem, whole, ir.Const(-1), name=at.name, span=at.span)
        rest = builder.call(operator.getitem, whole, ir.Const(slice(None, -1)), span=at.span)
        _change(self, at, target, state.with_whole(rest))
        return last
    if edit == "popleft" or (edit == "pop" and args == (ir.Const(0),)):
        first = builder.call(operator.getitem, whole, ir.Const(0), name=at.name, span=at.span)
        rest = builder.call(operator.getitem, whole, ir.Const(slice(1, None)), span=at.span)
        _change(self, at, target, state.with_whole(rest))
        return first
    raise at.refuse(target.name, "its length is not known before the program runs")


def _update(self: Specializer, at: At, mapping: ir.Atom, *others: ir.Atom, **kwargs: ir.Atom) -> ir.Atom | None:
    target = _target(self, at, mapping)
    if target is None:
        return None
    entries = dict(target.items) if target.items is not None else None
    for other in others:
        found = entries_of(self, at, other)
        if found is None or entries is None:
            raise at.refuse(target.name, "the keys are not known before the program runs")
        entries |= found
    if entries is None:
        raise at.refuse(target.name, "the keys are not known before the program runs")
    return _change(self, at, target, target.state.with_entries(entries | kwargs))


def _setdefault(
    self: Specializer, at: At, mapping: ir.Atom, key: ir.Atom, default: ir.Atom = ir.Const(None)  # noqa: B008
) -> ir.Atom | None:
    target = _target(self, at, mapping)
    if target is None:
        return None
    if target.items is None or not is_key(key):
        raise at.refuse(target.name, "the key is not known before the program runs")
    assert isinstance(key, ir.Const)
    if key.value not in target.items:
        _change(self, at, target, target.state.with_entries(target.items | {key.value: default}))
        return default
    return target.items[key.value]


def _dict_pop(
    self: Specializer, at: At, mapping: ir.Atom, key: ir.Atom, default: ir.Atom | None = None
) -> ir.Atom | None:
    target = _target(self, at, mapping)
    if target is None:
        return None
    if target.items is None or not is_key(key):
        raise at.refuse(target.name, "the key is not known before the program runs")
    assert isinstance(key, ir.Const)
    if key.value not in target.items:
        return default if default is not None else self.keep(
            at.builder, ir.Call(ir.Const(operator.getitem), (at.builder.frozen(mapping), key)), at.span)
    found = target.items[key.value]
    _change(self, at, target, target.state.with_entries({k: v for k, v in target.items.items() if k != key.value}))
    return found


def _popitem(self: Specializer, at: At, mapping: ir.Atom) -> ir.Atom | None:
    target = _target(self, at, mapping)
    if target is None:
        return None
    if not target.items:
        raise at.refuse(target.name, "whether it is empty is not known before the program runs")
    key, found = list(target.items.items())[-1]
    _change(self, at, target, target.state.with_entries({k: v for k, v in target.items.items() if k != key}))
    return new_list(self, at, (ir.Const(key), found), tuple)


def _dict_clear(self: Specializer, at: At, mapping: ir.Atom) -> ir.Atom | None:
    target = _target(self, at, mapping)
    return None if target is None else _change(self, at, target, State(target.state.kind, extra=target.state.extra))


def _set_pop(self: Specializer, at: At, container: ir.Atom) -> ir.Atom | None:
    """Which item of a set comes first is known where there is one."""
    target = _target(self, at, container)
    if target is None:
        return None
    if target.items is None or len(target.items) != 1:
        raise at.refuse(target.name, "which of its items comes first is not known before the program runs")
    (found,) = target.items.values()
    _change(self, at, target, target.state.with_items(()))
    return found


def _set_change(method: str) -> Form:
    def apply(self: Specializer, at: At, container: ir.Atom, *args: ir.Atom) -> ir.Atom | None:
        target = _target(self, at, container)
        if target is None:
            return None
        values = {a.value for a in (target.items or {}).values() if isinstance(a, ir.Const)}
        known = target.items is not None and all(map(is_key, target.items.values()))
        given = [args[0]] if method in ("add", "discard", "remove") else [
            i for a in args for i in self.static_items(a, at.builder, at.span) or (ir.Var("%"),)]
        if not known or not all(map(is_key, given)):
            raise at.refuse(target.name, "what it holds is not known before the program runs")
        for item in given:
            assert isinstance(item, ir.Const)
            getattr(values, "add" if method == "update" else method)(item.value)
        return _change(self, at, target, target.state.with_items(map(ir.Const, values)))

    return apply


# --- stores ---------------------------------------------------------------------------------------------------------


def store_item(self: Specializer, at: At, container: ir.Atom, key: ir.Atom, value: ir.Atom) -> None:
    """``container[key] = value`` of an object on the heap."""
    target, key = _target(self, at, container), known_key(self, key)
    assert target is not None
    if is_instance(target.state):
        found = self.instances.operate(self, at, operator.setitem, "__setitem__", container, key, value)
        if found is None:
            kind = target.state.kind.__name__
            raise self.raised(TypeError(f"'{kind}' object does not support item assignment"))
        return
    if issubclass(target.state.kind, (tuple, set)):
        raise self.raised(TypeError(f"'{target.state.kind.__name__}' object does not support item assignment"))
    if target.is_own and is_dict(target.state) and is_key(key):
        assert isinstance(key, ir.Const)
        _change(self, at, target, target.state.with_entry(key.value, value))
        return
    if target.is_own and isinstance(key, ir.Const) and type(key.value) is int:
        if -target.state.size <= key.value < target.state.size:
            position = range(target.state.size)[key.value]
            _change(self, at, target, target.state.with_entry(position, value))
            return
    if target.items is None or not (is_key(key) or isinstance(getattr(key, "value", None), slice)):
        return _store_whole(self, at, target, container, key, value)
    assert isinstance(key, ir.Const)
    if is_dict(target.state):
        _change(self, at, target, target.state.with_entries(target.items | {key.value: value}))
        return None
    items = list(target.items.values())
    if isinstance(key.value, slice):
        found = self.static_items(value, at.builder, at.span)
        if found is None:
            raise at.refuse(target.name, "how many items are assigned is not known before the program runs")
        items[key.value] = found
    elif not -len(items) <= key.value < len(items):
        self.keep(at.builder, ir.Call(ir.Const(operator.getitem), (at.builder.frozen(container), key)), at.span)
        return None
    else:
        items[key.value] = value
    _change(self, at, target, target.state.with_items(items))
    return None


def _is_all(key: ir.Atom) -> bool:
    """Whether it is the index of ``container[:]``."""
    index = getattr(key, "value", None)
    return isinstance(index, slice) and (index.start in (None, 0), index.stop, index.step in (None, 1)) == (
        True, None, True)


def _is_slice(key: AbstractValue) -> bool:
    kind = type(key.value) if isinstance(key, Known) else key.type if isinstance(key, Sequence) else None
    return kind is slice


def _store_whole(
    self: Specializer, at: At, target: _Target, container: ir.Atom, key: ir.Atom, value: ir.Atom
) -> None:
    """A store at a place that is not known before the program runs."""
    frozen, item = at.builder.frozen(container), at.builder.frozen(value)
    virtual_heap.close(self.context, value, ESCAPED)
    for held in (target.items or {}).values():
        virtual_heap.close(self.context, held, ESCAPED)
    if is_dict(target.state):
        whole = at.builder.call(ops.put, frozen, key, item, span=at.span)
    elif _is_all(key) and target.state.kind is list:
        whole = at.builder.call(list, item, span=at.span)
    elif target.state.kind is not list:
        raise at.refuse(target.name, "its length is not known before the program runs")
    else:
        change = rt.set_items if _is_slice(self.context.value(key)) else rt.set_item
        name = target.name if target.name.isidentifier() else "%"
        whole = at.builder.call(change, frozen, key, item, name=name, span=at.span)
    _change(self, at, target, target.state.with_whole(whole))


def _delitem(self: Specializer, at: At, container: ir.Atom, key: ir.Atom) -> ir.Atom | None:
    target, key = _target(self, at, container), known_key(self, key)
    if target is None:
        return None
    if is_instance(target.state):
        return self.instances.operate(self, at, operator.delitem, "__delitem__", container, key)
    if target.items is None or not isinstance(key, ir.Const):
        raise at.refuse(target.name, "what it holds is not known before the program runs")
    if is_dict(target.state):
        if key.value not in target.items:
            return self.keep(
                at.builder, ir.Call(ir.Const(operator.getitem), (at.builder.frozen(container), key)), at.span)
        rest = {k: v for k, v in target.items.items() if k != key.value}
        return _change(self, at, target, target.state.with_entries(rest))
    items = list(target.items.values())
    try:
        del items[key.value]
    except IndexError:
        return self.keep(
            at.builder, ir.Call(ir.Const(operator.getitem), (at.builder.frozen(container), key)), at.span)
    return _change(self, at, target, target.state.with_items(items))


def add_in_place(self: Specializer, at: At, fn: Any, container: ir.Atom, change: ir.Atom) -> ir.Atom:
    """``container += change`` and ``container *= n`` of an object on the heap: it changes itself where it can."""
    state = state_of(self.context, container)
    assert state is not None
    is_list = is_sequence(state) and not issubclass(state.kind, tuple)
    if is_instance(state):
        found = self.instances.augmented(at, fn, container, change)
        if found is not None and found != ir.Const(NotImplemented):
            return found
    elif fn is operator.iadd and is_list:
        FORMS[list.extend](self, at, container, change)
        return container
    elif fn is operator.ior and is_dict(state):
        _update(self, at, container, change)
        return container
    elif fn is operator.imul and is_list:
        target = _target(self, at, container)
        if target is None or target.items is None or not isinstance(change, ir.Const) or (
            len(target.items) * change.value > MOST_LISTED
        ):
            raise at.refuse("the list", "its length is not known before the program runs")
        _change(self, at, target, target.state.with_items([*target.items.values()] * change.value))
        return container
    return self.apply(ir.Const(ops.PLAIN[fn]), [container, change], {}, at.frame, at.builder, at.span, at.name)


_LIST_EDITS = {
    list: (_append, _extend, _insert, _pop, _remove, _clear, _reverse, _sort),
    collections.deque: (
        _append, _appendleft, _extend, _extendleft, _insert, _pop, _popleft, _remove, _clear, _reverse, _rotate,
    ),
}

MAKERS: dict[Any, Form] = {
    ops.make_list: _make_list,
    ops.make_dict: _make_dict,
    list: _sequence(list),
    rt.zeros_of: _zeros,
    dict: _dict(dict),
    collections.deque: _sequence(collections.deque),
    collections.OrderedDict: _dict(collections.OrderedDict),
    collections.defaultdict: _dict(collections.defaultdict),
}
"""What makes a new container, also where no argument is an object on the heap."""

FORMS: dict[Any, Form] = {
    **MAKERS,
    ops.make_tuple: _make_tuple,
    ops.append: _comprehended,
    ops.put: _put,
    ops.merge_dict: _merge_dict,
    ops.unpack: _unpack,
    ops.contains: _contains(False),
    ops.not_in: _contains(True),
    tuple: _sequence(tuple),
    operator.getitem: _getitem,
    operator.delitem: _delitem,
    operator.is_: _identity(False),
    operator.is_not: _identity(True),
    operator.not_: _truth(True),
    operator.add: _concatenate,
    operator.mul: _repeat,
    bool: _truth(False),
    len: _length,
    type: _type,
    isinstance: _isinstance,
    enumerate: _enumerate,
    zip: _zip,
    reversed: _reversed,
    iter: _iter,
    sum: _sum,
    sorted: _sorted,
    copy.copy: _copy,
    copy.deepcopy: _deepcopy,
    list.copy: _copy,
    dict.copy: _copy,
    collections.deque.copy: _copy,
    dict.get: _get,
    dict.keys: _view("keys"),
    dict.values: _view("values"),
    dict.items: _view("items"),
    dict.update: _update,
    dict.setdefault: _setdefault,
    dict.pop: _dict_pop,
    dict.popitem: _popitem,
    dict.clear: _dict_clear,
    collections.OrderedDict.pop: _dict_pop,
    collections.OrderedDict.popitem: _popitem,
    collections.OrderedDict.items: _view("items"),
    collections.OrderedDict.values: _view("values"),
    collections.OrderedDict.keys: _view("keys"),
    collections.OrderedDict.update: _update,
    collections.OrderedDict.setdefault: _setdefault,
    collections.defaultdict.copy: _copy,
    set.pop: _set_pop,
    **{getattr(set, m): _set_change(m) for m in ("add", "discard", "remove", "update")},
    **{getattr(kind, e.__name__[1:]): changes_list(e) for kind, edits in _LIST_EDITS.items() for e in edits},
}


def is_method_of_container(fn: Any) -> bool:
    """Whether it is a method of a built-in container."""
    owner = getattr(fn, "__objclass__", None)
    return owner in (list, tuple, dict, set, collections.deque, collections.OrderedDict, collections.defaultdict)


__all__ = [
    "FORMS", "MAKERS", "At", "Form", "add_in_place", "entries_of", "is_key", "new", "new_list",
    "only_notes", "store_item",
]
