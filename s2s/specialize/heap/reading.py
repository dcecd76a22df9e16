"""Reading containers of the virtual heap: items, lengths, tests, views, and what is made of several of them."""

from __future__ import annotations

import collections
import operator
from typing import Any

import numpy as np

from s2s.analysis.abstract.folding import MOST_LISTED, NotFolded, plain
from s2s.builder import virtual_heap
from s2s.builder.builder import Context
from s2s.builder.virtual_heap import Cell, State, cell_of, is_dict, is_instance, is_sequence, state_of
from s2s.core import ir, ops
from s2s.core.closures import Closure
from s2s.core.inspection import MISSING, class_attribute, classes_in, members_of_protocol, mro_of
from s2s.core.values import (
    AbstractValue,
    Instance,
    Known,
    ListOf,
    Mapping,
    Scalar,
    Sequence,
    Unknown,
    has_fields,
    type_of_joined,
)
from s2s.models import iterating, ordering
from s2s.specialize.heap import effects, iterators
from s2s.specialize.heap.classes import class_seen
from s2s.specialize.heap.live_data import ask_for_data
from s2s.specialize.heap.making import Operation, appended, dict_key, entries_of, is_key, key_in, new_list
from s2s.specialize.site import At
from s2s.specialize.speculation import speculate
from s2s.versions import facts

__all__ = ["OPERATIONS", "grown"]

def _getitem(at: At, container: ir.Atom, key: ir.Atom) -> ir.Atom | None:
    cell = cell_of(at.context, container)
    if cell is None:
        return None
    state = at.context.heap.state(cell, at.span)
    key = key_in(at.specializer, state, key)
    if is_instance(state):
        return at.specializer.instances.operate(at, operator.getitem, "__getitem__", container, key)
    if state.whole is not None or not isinstance(key, ir.Const):
        if _makes_entries(state):  # the dict that stands for it when the program runs would raise KeyError
            raise at.refuse(cell.name, "whether it has the key is not known before the program runs")
        if state.whole is None and is_sequence(state) and _is_picked(at, container, key):
            return at.inline(ordering.pick, [container, key])
        ask_for_data(at.context, container, [cell])
        return _part(at, container, state, key)
    if is_dict(state):
        return _entry(at, cell, state, key)
    if not state.borrowed and type(key.value) in (int, bool):
        size = state.size
        return state.find(range(size)[key.value]) if -size <= key.value < size else None
    keys = virtual_heap.positions(state, cell)
    assert keys is not None
    check_slice(at, state, key)
    if isinstance(key.value, slice):
        found = virtual_heap.contents(at.builder, cell, at.span)
        kept = virtual_heap.positions(state, cell)
        if state.borrowed and kept and not any(_has_items(at, a) for a in (found or {}).values()):
            return _adopt(at, at.write(operator.getitem, at.builder.frozen(container), key), state)
        return new_list(at, list((found or {}).values())[key.value], _plain_kind(state.kind))
    if type(key.value) not in (int, bool) or not -len(keys) <= key.value < len(keys):
        return None
    position = range(len(keys))[key.value]
    return virtual_heap.read(at.builder, cell, position, at.name, at.span)


def _part(at: At, container: ir.Atom, state: State, key: ir.Atom) -> ir.Atom | None:
    """A slice of a list of unknown length, which is a list of its own."""
    if state.kind is not list or state.whole is None or not _is_slice(at.value(key)):
        return None
    made = at.write(operator.getitem, at.builder.frozen(container), key)
    if not isinstance(at.value(made), ListOf):
        return made
    return virtual_heap.make_cell(at.context, State(list).with_whole(made), at.name, at.span).var


def _is_slice(key: AbstractValue) -> bool:
    return isinstance(key.value, slice) if isinstance(key, Known) else isinstance(key, Sequence) and key.type is slice


def check_slice(at: At, state: State, key: ir.Const) -> None:
    """Raise what Python raises for a slice of a deque."""
    if state.kind is collections.deque and isinstance(key.value, slice):
        raise at.raised(TypeError("sequence index must be integer, not 'slice'"))


def _has_items(at: At, atom: ir.Atom) -> bool:
    """Whether it is a container, whose items are read one by one."""
    return at.context.is_virtual(atom) or isinstance(at.value(atom), (Sequence, Mapping, Instance))


MOST_PICKED = 16
"""An item of so many objects or functions is picked by comparing its place with theirs."""


def _is_picked(at: At, container: ir.Atom, key: ir.Atom) -> bool:
    """Whether it is an item of a few objects or functions, at a place that is known when the program runs."""
    items = at.items(container)
    if items is None or len(items) > MOST_PICKED or not isinstance(at.value(key), Scalar):
        return False
    cells = [cell for i in items if (cell := cell_of(at.context, i)) is not None]
    if any(cell.origin is not None for cell in cells):  # the object itself is meant, not one like it
        return False
    return bool(cells) or any(_is_function(at.value(i)) for i in items)


def _is_function(value: AbstractValue) -> bool:
    return isinstance(value, Closure) or (isinstance(value, Known) and callable(value.value))


def _adopt(at: At, atom: ir.Atom, state: State) -> ir.Atom:
    """A new list of known items that was just made, as an object on the heap."""
    known = at.value(atom)
    if state.kind is not list or not isinstance(known, Sequence):
        return atom
    items = tuple(at.compute(operator.getitem, atom, ir.Const(k)) for k in range(len(known.items)))
    made = State(list, tuple(range(len(items))), items)
    cell = virtual_heap.make_cell(at.context, made, at.name, at.span)
    at.context.heap.frozen[cell] = (atom, ((cell, made),))
    return cell.var


def _plain_kind(kind: type) -> type:
    return tuple if issubclass(kind, tuple) else list


def _entry(at: At, cell: Cell, state: State, key: ir.Const) -> ir.Atom | None:
    if not is_key(key):
        return None
    found = virtual_heap.read(at.builder, cell, key.value, at.name, at.span)
    if found is not None or not _makes_entries(state):
        return found
    made = at.apply_atom(state.extra, [], {})
    state, held = at.context.heap.state(cell, at.span), effects.before(at, cell)
    state = state.with_entry(key.value, made)
    at.context.heap.change(cell, state, at.span)
    effects.content(at, cell, held, state, None)
    return made


def _makes_entries(state: State) -> bool:
    """Whether reading a key that it does not have makes an entry."""
    return state.kind is collections.defaultdict and state.extra not in (None, ir.Const(None))


def _length(at: At, container: ir.Atom) -> ir.Atom | None:
    cell = cell_of(at.context, container)
    if cell is None:
        return None
    state = at.context.heap.state(cell, at.span)
    if is_instance(state):
        return at.specializer.instances.operate(at, len, "__len__", container)
    if state.whole is None and not state.borrowed:
        return ir.Const(state.size)
    keys = virtual_heap.positions(state, cell)
    return None if keys is None else ir.Const(len(keys))


def _contains(negated: bool) -> Operation:
    def look(at: At, item: ir.Atom, container: ir.Atom) -> ir.Atom | None:
        cell = cell_of(at.context, container)
        if cell is None:
            return None
        state = at.context.heap.state(cell, at.span)
        if is_instance(state):
            found = at.specializer.instances.operate(at, operator.contains, "__contains__", container, item)
            if found is None or not negated:
                return found
            return at.apply(operator.not_, found)
        keys = virtual_heap.positions(state, cell)
        item = dict_key(at.specializer, item) if is_dict(state) else item
        if is_dict(state) and keys is not None and is_key(item):
            assert isinstance(item, ir.Const)
            return ir.Const((item.value in keys) is not negated)
        items = virtual_heap.contents(at.builder, cell, at.span)
        if items is None:
            return None
        if isinstance(item, ir.Const) and all(isinstance(i, ir.Const) for i in items.values()):
            return ir.Const((item.value in [i.value for i in items.values()]) is not negated)  # type: ignore[union-attr]
        if cell_of(at.context, item) is not None and item in items.values():
            return ir.Const(not negated)
        return None

    return look


def _truth(negated: bool) -> Operation:
    def look(at: At, value: ir.Atom) -> ir.Atom | None:
        cell = cell_of(at.context, value)
        if cell is None:
            return None
        state = at.context.heap.state(cell, at.span)
        if is_instance(state):
            found = at.specializer.instances.truth(at, value)
            if not negated:
                return found
            return at.apply(operator.not_, found)
        keys = virtual_heap.positions(state, cell)
        return None if keys is None else ir.Const(bool(keys) is not negated)

    return look


def _identity(negated: bool) -> Operation:
    def look(at: At, a: ir.Atom, b: ir.Atom) -> ir.Atom | None:
        first, second = cell_of(at.context, a), cell_of(at.context, b)
        if first is None and second is None:
            return None
        heap = at.context.heap
        for cell, other in ((first, b), (second, a)):
            if cell is not None and isinstance(at.value(other), Unknown):
                if cell.origin is not None and not virtual_heap.is_changed(heap, cell):
                    return None  # it may be the same object: asked when the program runs
                if cell.origin is not None or cell in heap.closed:
                    raise at.refuse(cell.name, "whether it is another object is not known before the program runs")
        if first is not None and second is not None and first is not second:
            if second in heap.entangled.get(first, ()) or first in heap.entangled.get(second, ()):
                raise at.refuse(first.name, "whether it is the other object depends on the path that was taken")
            if first.origin is not None and second.origin is not None:
                at.specializer.compared = True
            at.specializer.live_objects.note_identity(first, second)
        return ir.Const((first is second) is not negated)

    return look


def _type(at: At, value: ir.Atom, *rest: ir.Atom) -> ir.Atom | None:
    state = state_of(at.context, value)
    if state is None or rest:
        return None
    kind = _class_of(at, value, state)
    if kind is None:
        raise _class_unknown(at, "type")
    return ir.Const(kind)


def _class_of(at: At, value: ir.Atom, state: State) -> type | None:
    """The class of an object, or of the view that a list stands for; None where it is not known."""
    view, cell = virtual_heap.view_of(at.context, value), cell_of(at.context, value)
    if not view:
        return class_seen(at, state)
    assert cell is not None and cell.viewed is not None
    is_ordered = issubclass(cell.viewed[1].kind, collections.OrderedDict)
    return type(getattr(collections.OrderedDict() if is_ordered else {}, view)())


def _has(at: At, value: ir.Atom, name: ir.Atom) -> ir.Atom | None:
    """``hasattr`` of a container, which has the attributes of its class."""
    state = state_of(at.context, value)
    if state is None or is_instance(state) or not isinstance(name, ir.Const):
        return None
    kind = _class_of(at, value, state)
    return None if kind is None else ir.Const(hasattr(kind, name.value))


def _class_unknown(at: At, name: str) -> Exception:
    return at.refusal("S2S202", name=name, reason="the class of this object of a library is not known here")


_SIMPLE = (np.ndarray, np.generic, np.number, int, float, complex, bool, str, bytes, list, tuple, set, type(None))
"""Classes of which no object of a library is one that is not made of arrays and numbers."""


def _isinstance(at: At, value: ir.Atom, kinds: ir.Atom) -> ir.Atom | None:
    state = state_of(at.context, value)
    known = at.value(kinds)
    if state is None:
        return None
    if isinstance(known, Sequence) and all(isinstance(i, Known) for i in known.items):
        options: Any = tuple(i.value for i in known.items)  # type: ignore[union-attr]
    elif isinstance(known, Known):
        options = known.value
    else:
        return None
    kind = _class_of(at, value, state)
    if kind is None:
        if not all(one in _SIMPLE for one in (options if isinstance(options, tuple) else (options,))):
            raise _class_unknown(at, "isinstance")
        kind = state.kind
    protocols = [one for one in classes_in(options) if members_of_protocol(one) is not None]
    others = tuple(one for one in classes_in(options) if one not in protocols) if protocols else options
    answers = [facts.subclass(kind, others).folded(at.guards), *(_has_members(at, value, kind, p) for p in protocols)]
    return ir.Const(True) if True in answers else None if None in answers else ir.Const(False)


def _has_members(at: At, value: ir.Atom, kind: type, protocol: Any) -> bool | None:
    """Whether an object has what a protocol asks for, itself or by its class; None where the run tells."""
    members = members_of_protocol(protocol) or ()
    are_methods = all(callable(getattr(protocol, name, None)) for name in members)
    if (are_methods or protocol in mro_of(kind)) and facts.subclass(kind, protocol).folded(at.guards):
        return True
    if class_attribute(kind, "__getattr__") is not MISSING:  # asked or not, as the version of Python has it
        return None
    for name in members:
        there = at.apply(hasattr, value, ir.Const(name))
        if not isinstance(there, ir.Const):
            return None
        if not there.value:
            return False
        if callable(getattr(protocol, name, None)) and at.apply(getattr, value, ir.Const(name)) == ir.Const(None):
            return False
    return True


def _unpack(at: At, value: ir.Atom, before: ir.Const, after: ir.Const) -> ir.Atom | None:
    """``a, *b, c = value`` of a container that holds objects."""
    if cell_of(at.context, value) is None:
        return None
    items = at.items(value)
    state = state_of(at.context, value)
    plain = items is not None and not any(map(at.context.is_virtual, items)) and after.value is None
    is_plain = state is not None and not is_instance(state) and state.kind is not set and not has_fields(state.kind)
    if items is None or (plain and is_plain and len(items) == before.value):
        return None
    count = before.value if after.value is None else before.value + after.value
    if len(items) < count or (after.value is None and len(items) != count):
        if at.specializer.trying:
            raise at.raised(ValueError(f"{len(items)} values to unpack (expected {count})"))
        return None
    if after.value is None:
        return new_list(at, items, tuple)
    stop = len(items) - after.value
    middle = new_list(at, items[before.value : stop])
    return new_list(at, [*items[: before.value], middle, *items[stop:]], tuple)


def _view(which: str) -> Operation:
    def read(at: At, mapping: ir.Atom) -> ir.Atom | None:
        entries = entries_of(at, mapping) if cell_of(at.context, mapping) is not None else None
        if entries is None:
            return None
        items: list[ir.Atom] = list(entries.values()) if which == "values" else [ir.Const(k) for k in entries]
        if which == "items":
            pairs = zip(items, entries.values(), strict=True)
            items = [new_list(at, pair, tuple) for pair in pairs]
        made = new_list(at, items)
        view, viewed = cell_of(at.context, made), cell_of(at.context, mapping)
        if view is not None and viewed is not None:
            view.viewed = viewed, at.context.heap.peek(viewed), which
        at.specializer.iterables.views[made] = ((cell_of(at.context, mapping), which),)  # type: ignore[assignment]
        return made

    return read


def _get(at: At, mapping: ir.Atom, key: ir.Atom, default: ir.Atom | None = None) -> ir.Atom | None:
    cell, key = cell_of(at.context, mapping), dict_key(at.specializer, key)
    if cell is None or not is_key(key) or virtual_heap.positions(at.context.heap.state(cell, at.span), cell) is None:
        return None
    assert isinstance(key, ir.Const)
    found = virtual_heap.read(at.builder, cell, key.value, at.name, at.span)
    return found if found is not None else ir.Const(None) if default is None else default


def _enumerate(at: At, items: ir.Atom, start: ir.Atom = ir.Const(0)) -> ir.Atom | None:  # noqa: B008
    found = _objects_in(at, items)
    if found is None or not isinstance(start, ir.Const):
        return None
    return new_list(at, [new_list(at, (ir.Const(k), i), tuple) for k, i in enumerate(found, start.value)])


def _zip(at: At, *columns: ir.Atom, strict: ir.Atom = ir.Const(False)) -> ir.Atom | None:  # noqa: B008
    if not any(_objects_in(at, c) for c in columns):
        return None
    found = [at.items(c) for c in columns]
    if any(f is None for f in found) or (strict != ir.Const(False) and len({len(f or ()) for f in found}) > 1):
        return None
    return new_list(at, [new_list(at, row, tuple) for row in zip(*found, strict=False)])  # type: ignore[arg-type]


def _reversed(at: At, items: ir.Atom) -> ir.Atom | None:
    found = _objects_in(at, items)
    return None if found is None else new_list(at, found[::-1])


def _objects_in(at: At, atom: ir.Atom) -> list[ir.Atom] | None:
    """The items of a container that holds objects; None for any other."""
    if cell_of(at.context, atom) is None:
        return None
    items = at.items(atom)
    return items if items is not None and any(map(at.context.is_virtual, items)) else None


def _iter(at: At, items: ir.Atom) -> ir.Atom | None:
    """An iterator over known items."""
    state = state_of(at.context, items)
    if state is None or state.kind is virtual_heap.Iterator:
        return None if state is None else items
    found = at.items(items)
    if found is None:
        return None
    made = iterators.make(at.context, found, at.name, at.span)
    at.specializer.iterables.note_source(cell_of(at.context, made), items)  # type: ignore[arg-type]
    return made


def _sum(at: At, items: ir.Atom, start: ir.Atom = ir.Const(0)) -> ir.Atom | None:  # noqa: B008
    found = _objects_in(at, items)
    if found is None:
        return None
    total = start
    for item in found:
        total = at.apply(operator.add, total, item)
    return total


def _concatenate(at: At, a: ir.Atom, b: ir.Atom) -> ir.Atom | None:
    """``[a] + [b]``: a new list. A sum of deques has the length at most that the first may have."""
    states = [state_of(at.context, x) for x in (a, b)]
    kinds: list[Any] = [s.kind if s is not None else _kind(at.context, x) for s, x in zip(states, (a, b), strict=True)]
    kinds = [type_of_joined(kind, "__add__") for kind in kinds]
    if kinds[0] is not kinds[1] and collections.deque in kinds and {*kinds} <= {list, tuple, collections.deque}:
        one, other = kinds[0].__name__, "collections.deque" if kinds[1] is collections.deque else kinds[1].__name__
        raise at.raised(TypeError(f'can only concatenate {one} (not "{other}") to {one}'))
    if kinds[0] is not kinds[1] or kinds[0] not in (list, tuple, collections.deque):
        return None
    found = [at.items(x) for x in (a, b)]
    if states[0] is not None and kinds[0] is collections.deque:
        if found[0] is not None and found[1] is not None and len(found[0]) + len(found[1]) <= MOST_LISTED:
            return _deque_of(at, [*found[0], *found[1]], states[0])
        raise at.refuse("a deque", "its length is not known before the program runs")
    if None in found and kinds[0] is tuple:
        raise at.refuse("a tuple", "its length is not known before the program runs")
    if found[1] is None:
        return at.inline(ordering.joined, [a, b])
    if found[0] is None:
        return _append_all(at, a, found[1])
    items = [i for f in found for i in f or ()]
    return None if len(items) > MOST_LISTED else new_list(at, items, kinds[0])


def _deque_of(at: At, items: list[ir.Atom], state: State) -> ir.Atom:
    """A new deque of the last of these items, as many as one in a state may have."""
    limit = len(items) if state.extra is None else state.extra
    return new_list(at, items[max(0, len(items) - limit):], collections.deque, state.extra)


def grown(at: At, display: Any, args: list[Any]) -> ir.Atom | None:
    """``[*items, a, b]`` of a list of unknown length, and a list or tuple ``[a, *items]`` where a derivative flows
    through the items; None for any other display."""
    first, *more = args
    if display is ops.make_list and isinstance(first, ir.Star) and not any(isinstance(a, ir.Star) for a in more):
        state = state_of(at.context, first.atom)
        kind = _kind(at.context, first.atom) if state is None else state.kind
        if kind is list:
            return _append_all(at, first.atom, more)
    if not any(at.context.is_varied(at.builder.frozen(a.atom)) for a in args if isinstance(a, ir.Star)):
        return None
    made = at.inline(ordering.joined, [a.atom if isinstance(a, ir.Star) else new_list(at, [a]) for a in args])
    return made if display is ops.make_list else at.apply(tuple, made)


def _append_all(at: At, items: ir.Atom, more: list[ir.Atom]) -> ir.Atom:
    """``items + [a, b]``, where the first has an unknown length: a new list that has grown."""
    state = State(list, whole=at.builder.frozen(items))
    for item in more:
        state = appended(at, state, item)
    return virtual_heap.make_cell(at.context, state, at.name, at.span).var


def _kind(context: Context, atom: ir.Atom) -> type | None:
    known = context.value(atom)
    if isinstance(known, ListOf):
        return list
    return known.type if isinstance(known, Sequence) else None


def _repeat(at: At, a: ir.Atom, b: ir.Atom) -> ir.Atom | None:
    """``[a] * 3``: a new list that holds the same items again."""
    for items, count in ((a, b), (b, a)):
        state = state_of(at.context, items)
        if state is None or state.kind not in (list, tuple, collections.deque):
            continue
        found = at.items(items)
        if state.kind is collections.deque:
            times = int(count.value) if isinstance(count, ir.Const) and _is_count(type(count.value)) else None
            if found is not None and times is not None and len(found) * times <= MOST_LISTED:
                return _deque_of(at, found * times, state)
            raise at.refuse("a deque", "how often it is repeated is not known before the program runs")
        if found is None or not isinstance(count, ir.Const) or not _is_count(type(count.value)):
            if found is not None and len(found) == 1 and state.kind is list and at.context.is_varied(items):
                number = at.value(count)
                if isinstance(number, Scalar) and _is_count(number.type):
                    return at.call(iterating.repeated, [found[0], count]).inline(iterating.repeated, [found[0], count])
            if at.context.is_varied(items):
                raise at.refuse("a list", "how often it is repeated is not known before the program runs")
            return _repeated(at, found or [], items, count) if state.kind is list else None
        if len(found) * count.value > MOST_LISTED:
            return None
        return new_list(at, found * int(count.value), state.kind)
    return None


def _is_count(kind: type) -> bool:
    """Whether numbers of a type say how often a list is repeated: those of NumPy do, too."""
    return kind is int or issubclass(kind, np.integer)


def _repeated(at: At, found: list[ir.Atom], items: ir.Atom, count: ir.Atom) -> ir.Atom | None:
    """``[0.0] * n``: a list of floats, of unknown length, whose items the program changes; None where it holds anything
    else."""
    if not found or any(not isinstance(one, ir.Const) or type(one.value) is not float for one in found):
        return None
    number = at.value(count)
    if not isinstance(number, Scalar) or not _is_count(number.type):
        return None
    call = ir.Call(ir.Const(operator.mul), (at.builder.frozen(items), count))
    whole = at.builder.let(call, ListOf(Scalar(float)), at.name, at.span)
    return virtual_heap.make_cell(at.context, State(list, whole=whole), at.name, at.span).var


def _sorted(
    at: At, items: ir.Atom, key: ir.Atom = ir.Const(None), reverse: ir.Atom = ir.Const(False)  # noqa: B008
) -> ir.Atom | None:
    """Known items are sorted now; others are put in order when the program runs, where that has a rule."""
    found = at.items(items) if cell_of(at.context, items) is not None else None
    order = None if found is None else order_of(at, found, key, reverse)
    return None if found is None or order is None else new_list(at, [found[k] for k in order])


def order_of(at: At, items: list[ir.Atom], key: ir.Atom, reverse: ir.Atom) -> list[int] | None:
    """The places of the items when they are sorted, where that is known."""
    values = items
    if not isinstance(reverse, ir.Const):
        return None
    with speculate(at.specializer, at.builder) as speculation:
        if key != ir.Const(None):
            values = [at.specializer.apply(key, [i], {}, at.frame, speculation.builder, at.span) for i in items]
        known = [at.value(v) for v in values]
        if not all(isinstance(k, Known) for k in known):
            speculation.discard()  # the key is asked when the program runs, once for each item
            return None
    try:
        keys = [plain(k.value) for k in known if isinstance(k, Known)]
        return sorted(range(len(items)), key=keys.__getitem__, reverse=bool(reverse.value))
    except (NotFolded, TypeError, ValueError):  # it raises again when the program runs
        return None


def _of_list(method: Any) -> Operation:
    """A method of a deque, which is a list where the program runs."""

    def read(at: At, items: ir.Atom, *args: ir.Atom) -> ir.Atom | None:
        return at.result_of(method, [at.builder.frozen(items), *args])

    return read


OPERATIONS: dict[Any, Operation] = {
    ops.unpack: _unpack,
    ops.contains: _contains(False),
    ops.not_in: _contains(True),
    operator.getitem: _getitem,
    operator.is_: _identity(False),
    operator.is_not: _identity(True),
    operator.not_: _truth(True),
    operator.add: _concatenate,
    operator.mul: _repeat,
    bool: _truth(False),
    len: _length,
    type: _type,
    isinstance: _isinstance,
    hasattr: _has,
    enumerate: _enumerate,
    zip: _zip,
    reversed: _reversed,
    iter: _iter,
    sum: _sum,
    sorted: _sorted,
    collections.deque.count: _of_list(list.count),
    collections.deque.index: _of_list(list.index),
    dict.get: _get,
    dict.keys: _view("keys"),
    dict.values: _view("values"),
    dict.items: _view("items"),
    collections.OrderedDict.items: _view("items"),
    collections.OrderedDict.values: _view("values"),
    collections.OrderedDict.keys: _view("keys"),
}
"""What reads containers."""
