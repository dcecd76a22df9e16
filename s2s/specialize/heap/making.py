"""Making containers on the virtual heap: displays, comprehensions, and the constructors of lists, dicts and deques.

Each function takes the specialiser, the place and the arguments of a call, and gives the atom of the result, or None
where the call is to be treated as any other, on ordinary values made of what the containers hold.
"""

from __future__ import annotations

import collections
import operator
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, assert_never

from s2s import runtime as rt
from s2s.builder import virtual_heap
from s2s.builder.virtual_heap import State, cell_of, is_dict, is_instance, is_sequence, state_of
from s2s.core import ir, ops
from s2s.core.closures import Closure
from s2s.core.inspection import is_hashable
from s2s.core.values import (
    Known,
    ListOf,
    is_generated_maker,
    is_record_class,
)
from s2s.errors import DifferentiationError
from s2s.models import iterating
from s2s.specialize.frames import lower_function, pinned
from s2s.specialize.site import At
from s2s.versions import facts
from s2s.versions.target import own_signature

if TYPE_CHECKING:
    from s2s.specialize.specializer import Specializer

__all__ = [
    "ESCAPED", "MAKERS", "OPERATIONS", "Operation", "appended", "dict_key", "entries_of", "is_key", "key_in",
    "made_record", "new", "new_dict", "new_list", "new_record", "only_notes",
]

ESCAPED = "a container or a function that is kept refers to it"


Operation = Callable[..., ir.Atom | None]
"""What is known of a function of containers: it takes the place, and the arguments of the call as the function does."""


# --- making containers ----------------------------------------------------------------------------------------------


def new(at: At, state: State) -> ir.Atom:
    """A new object on the heap; where it holds only ordinary values, these are put together here."""
    cell = virtual_heap.make_cell(at.context, state, at.name, at.span)
    if not any(map(at.context.is_virtual, state.items)) and not is_instance(state):
        frozen = _frozen_now(at, state)
        at.context.heap.frozen[cell] = (frozen, ((cell, state),))
    return cell.var


def _frozen_now(at: At, state: State) -> ir.Atom:
    if is_dict(state):
        flat = [a for k, v in state.entries().items() for a in (ir.Const(k), v)]
        return at.write(ops.make_dict, *flat)
    makers: dict[type, Any] = {tuple: ops.make_tuple, set: ops.make_set}
    make = makers.get(state.kind, ops.make_list)
    return at.write(make, *state.items)


def new_list(at: At, items: Any, kind: type = list, extra: Any = None) -> ir.Atom:
    """A new list, tuple or deque of known items. A tuple of ordinary values is an ordinary value."""
    items = tuple(items)
    if kind is tuple and not any(map(at.context.is_virtual, items)):
        return at.write(ops.make_tuple, *items)
    return new(at, State(kind, tuple(range(len(items))), items, extra=extra))


def new_record(at: At, cls: Any, args: list[ir.Atom], kwargs: dict[Any, ir.Atom]) -> ir.Atom:
    """A named tuple. One whose class has an ``__init__`` of its own has further attributes, which are not followed."""
    facts.member(cls, "__new__").folded(at.guards)
    made = made_record(at, cls.__new__, cls, args, kwargs)
    if made is None:
        made = at.inline(cls.__new__, [ir.Const(cls), *args], {**kwargs})
    for base in cls.__mro__:
        init = facts.member(base, "__init__").folded(at.guards)
        if isinstance(init, types.FunctionType) and init.__code__.co_filename != "<string>" and not only_notes(init):
            raise at.refuse(cls.__name__, "its `__init__` does more than to store attributes")
    return made


def made_record(at: At, fn: Any, cls: Any, args: list[ir.Atom], kwargs: dict[Any, ir.Atom]) -> ir.Atom | None:
    """What the generated ``__new__`` of a named tuple makes, or ``tuple.__new__`` with its class; None for any other
    function."""
    if fn is tuple.__new__ and len(args) == 1:
        items = at.items(args[0])
        if items is None:
            return None
    elif is_generated_maker(fn):
        facts.code(fn, at.guards).folded(at.guards)
        bound = own_signature(fn).bind(cls, *args, **kwargs)
        given = dict(list(bound.arguments.items())[1:])
        for name in cls._fields:
            if name not in given:
                given[name] = at.specializer.live_objects.default(at.builder, fn, name)
        items = [given[name] for name in cls._fields]
    else:
        return None
    if is_record_class(cls) and not any(map(at.context.is_virtual, items)):
        return at.write(cls, *items)
    state = State(cls, tuple(range(len(items))), tuple(items))
    return virtual_heap.make_cell(at.context, state, at.name, at.span).var


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


def new_dict(at: At, entries: dict[Any, ir.Atom], kind: type = dict, extra: Any = None) -> ir.Atom:
    """A new dict with known keys."""
    return new(at, State(kind, tuple(entries), tuple(entries.values()), extra=extra))


def _make_list(at: At, *items: ir.Atom) -> ir.Atom | None:
    return new_list(at, items)


def _make_tuple(at: At, *items: ir.Atom) -> ir.Atom | None:
    return new_list(at, items, tuple) if any(map(at.context.is_virtual, items)) else None


def _make_dict(at: At, *flat: ir.Atom) -> ir.Atom | None:
    keys = [dict_key(at.specializer, key) for key in flat[::2]]
    if not all(map(is_key, keys)):
        return None
    return new_dict(at, {k.value: v for k, v in zip(keys, flat[1::2], strict=True)})  # type: ignore[union-attr]


def is_key(atom: ir.Atom) -> bool:
    """Whether an atom is a constant that can be the key of a dict."""
    return isinstance(atom, ir.Const) and is_hashable(atom.value)


def key_in(specializer: Specializer, state: State, key: ir.Atom) -> ir.Atom:
    """The key of an item of a container, as ``dict_key`` where it is a dict."""
    return dict_key(specializer, key) if is_dict(state) else _known_key(specializer, key)


def _known_key(specializer: Specializer, key: ir.Atom) -> ir.Atom:
    """A key, as a constant where it is known (a slice with known bounds), or where it can be known under a guard."""
    known = specializer.context.value(key)
    if isinstance(known, Known) and issubclass(type(known.value), (slice, tuple)):
        return known.const
    bounds = specializer.context.definition(key, slice)
    if bounds is None:
        return pinned(specializer, key)
    parts = [pinned(specializer, a) for a in bounds]
    values = [p.value for p in parts if isinstance(p, ir.Const)]
    return ir.Const(slice(*values)) if len(values) == len(parts) else key


def dict_key(specializer: Specializer, key: ir.Atom) -> ir.Atom:
    """The key of a dict, as a constant where it is known or can be known under a guard; it may be a tuple."""
    items = specializer.context.definition(key, ops.make_tuple)
    if items is None or ir.Star in map(type, items):
        return _known_key(specializer, key)
    found = [dict_key(specializer, a) for a in items]
    values = [k.value for k in found if isinstance(k, ir.Const) and is_hashable(k.value)]
    return ir.Const(tuple(values)) if len(values) == len(items) else key


def _comprehended(at: At, items: ir.Atom, item: ir.Atom) -> ir.Atom | None:
    """One more item of a list comprehension: a new list, of which nobody has seen the old one."""
    cell = cell_of(at.context, items)
    if cell is None:
        return None
    state = at.context.heap.state(cell)
    if state.whole is not None:
        return virtual_heap.make_cell(at.context, appended(at, state, item), at.name, at.span).var
    made = state.with_entry(state.size, item)
    after = virtual_heap.make_cell(at.context, made, at.name, at.span)
    kept = at.context.heap.frozen.get(cell)
    if kept is not None and not at.context.is_virtual(item):
        frozen = at.write(ops.append, kept[0], item)
        at.context.heap.frozen[after] = (frozen, ((after, made),))
    return after.var


def appended(at: At, state: State, item: ir.Atom) -> State:
    """A list of unknown length with one more item, which must not change any more."""
    assert state.whole is not None
    at.specializer.kept_functions += isinstance(at.value(item), Closure)
    frozen = at.builder.frozen(item)
    virtual_heap.close(at.context, item, ESCAPED)
    return state.with_whole(at.write(ops.append, state.whole, frozen))


def _put(at: At, mapping: ir.Atom, key: ir.Atom, value: ir.Atom) -> ir.Atom | None:
    """One more entry of a dict comprehension."""
    cell = cell_of(at.context, mapping)
    if cell is None:
        return None
    state, key = at.context.heap.state(cell), dict_key(at.specializer, key)
    if state.whole is not None or not is_key(key):
        whole = at.compute(ops.put, at.builder.frozen(mapping), key, at.builder.frozen(value))
        virtual_heap.close(at.context, value, ESCAPED)
        return virtual_heap.make_cell(at.context, state.with_whole(whole), at.name, at.span).var
    assert isinstance(key, ir.Const)
    made = state.with_entry(key.value, value)
    after = virtual_heap.make_cell(at.context, made, at.name, at.span)
    kept = at.context.heap.frozen.get(cell)
    if kept is not None and not at.context.is_virtual(value):
        frozen = at.write(ops.put, kept[0], key, value)
        at.context.heap.frozen[after] = (frozen, ((after, made),))
    return after.var


def _merge_dict(at: At, *parts: ir.Atom) -> ir.Atom | None:
    entries: dict[Any, ir.Atom] = {}
    for part in parts:
        found = entries_of(at, part)
        if found is None:
            return None
        entries |= found
    return new_dict(at, entries)


def entries_of(at: At, atom: ir.Atom) -> dict[Any, ir.Atom] | None:
    """The entries of a mapping with known keys, or of a known list of pairs."""
    cell = cell_of(at.context, atom)
    if cell is not None and is_dict(at.context.heap.state(cell, at.span)):
        return virtual_heap.contents(at.builder, cell, at.span)
    return at.entries(atom)


# --- constructors ---------------------------------------------------------------------------------------------------


def _sequence(kind: type) -> Operation:
    def convert(at: At, items: ir.Atom | None = None, maxlen: ir.Atom | None = None) -> Any:
        limit, limits = maxlen.value if isinstance(maxlen, ir.Const) else None, () if maxlen is None else (maxlen,)
        if maxlen is not None and not isinstance(maxlen, ir.Const):
            return None
        if items is None:
            return new_list(at, (), kind, limit)
        state = state_of(at.context, items)
        if kind is tuple and state is not None and state.kind is tuple:
            return items
        if state is not None and state.whole is not None and is_sequence(state) and kind is not tuple:
            whole: ir.Atom = state.whole
            if limit is not None:
                whole = at.builder.call(operator.getitem, whole, ir.Const(_last(limit)), name=at.name, span=at.span)
            made = State(kind, (), (), whole, extra=limit)
            return virtual_heap.make_cell(at.context, made, at.name, at.span).var
        known = at.value(items)
        found = None if isinstance(known, Known) and isinstance(known.value, range) else (
            at.items(items))
        if found is None and is_view(at, items):
            taken = at.inline(iterating.listed, [items])
            return taken if kind is list else at.apply(kind, taken, *limits)
        if found is None and kind is collections.deque and at.context.is_varied(items):
            return at.apply(kind, _adopted(at, items), *limits)
        if found is None:
            return None if kind is not list else _adopted(at, items)
        return new_list(at, found if limit is None else found[_last(limit)], kind, limit)

    return convert


def _last(limit: int) -> slice:
    """The items that a deque of a limited length keeps of those that it is made of."""
    return slice(-limit, None) if limit else slice(0, 0)


def is_view(at: At, items: ir.Atom) -> bool:
    """Whether it gives items of something differentiated, one after the other: they are taken in a loop."""
    return at.context.is_varied(items) and any(
        at.context.definition(items, view) is not None for view in (zip, enumerate, reversed))


def _adopted(at: At, items: ir.Atom) -> ir.Atom | None:
    """``list(x)`` of unknown length: a new list that is the program's own."""
    whole = at.write(list, at.builder.frozen(items))
    return virtual_heap.make_cell(at.context, State(list, whole=whole), at.name, at.span).var


def _zeros(at: At, like: ir.Atom) -> ir.Atom | None:
    """``rt.zeros_of`` a list of unknown length: a list whose items the program changes."""
    state = state_of(at.context, like)
    whole = like if state is None else state.whole
    if whole is None or not isinstance(at.value(whole), ListOf):
        return None
    zeros = at.write(rt.zeros_of, at.builder.frozen(like))
    return virtual_heap.make_cell(at.context, State(list, whole=zeros), at.name, at.span).var


def _dict(kind: type) -> Operation:
    def convert(at: At, *args: ir.Atom, **kwargs: ir.Atom) -> ir.Atom | None:
        factory = None
        if kind is collections.defaultdict:
            factory, args = (args[0] if args else ir.Const(None)), args[1:]
        entries: dict[Any, ir.Atom] = {}
        for arg in args:
            found = entries_of(at, arg)
            if found is None:
                return None
            entries |= found
        return new_dict(at, entries | kwargs, kind, factory)

    return convert


MAKERS: dict[Any, Operation] = {
    ops.make_list: _make_list,
    ops.make_cell: _make_list,
    ops.make_dict: _make_dict,
    list: _sequence(list),
    rt.zeros_of: _zeros,
    dict: _dict(dict),
    collections.deque: _sequence(collections.deque),
    collections.OrderedDict: _dict(collections.OrderedDict),
    collections.defaultdict: _dict(collections.defaultdict),
}
"""What makes a new container, also where no argument is an object on the heap."""

OPERATIONS: dict[Any, Operation] = {
    **MAKERS,
    ops.make_tuple: _make_tuple,
    ops.append: _comprehended,
    ops.put: _put,
    ops.merge_dict: _merge_dict,
    tuple: _sequence(tuple),
}
"""What makes containers."""
