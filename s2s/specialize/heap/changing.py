"""Changing containers of the virtual heap: methods, stores of items and slices, and operators in place."""

from __future__ import annotations

import collections
import functools
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from s2s import runtime as rt
from s2s.analysis.abstract.folding import MOST_LISTED
from s2s.builder import virtual_heap
from s2s.builder.builder import Builder
from s2s.builder.virtual_heap import Cell, State, cell_of, is_dict, is_instance, is_sequence, state_of
from s2s.core import ir, operators, ops
from s2s.core.values import (
    AbstractValue,
    Known,
    Sequence,
)
from s2s.models import ordering
from s2s.specialize.heap import effects
from s2s.specialize.heap.making import (
    ESCAPED,
    At,
    Operation,
    appended,
    dict_key,
    entries_of,
    is_key,
    key_in,
    new_list,
)
from s2s.specialize.heap.reading import check_slice, order_of

__all__ = ["OPERATIONS", "add_in_place", "changes_list", "store_item"]

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


def _target(at: At, atom: ir.Atom) -> _Target | None:
    cell = cell_of(at.context, atom)
    if cell is None:
        return None
    state = at.context.heap.state(cell, at.span)
    return _Target(cell, state, at.builder, at.span)


def _change(at: At, target: _Target, state: State, appended: ir.Atom | None = None) -> ir.Const:
    if state.borrowed:
        state = State(state.kind, state.keys, state.items, state.whole, False, state.extra)
    held = effects.before(at, target.cell)
    at.context.heap.change(target.cell, state, at.span)
    effects.content(at, target.cell, held, state, appended)
    return ir.Const(None)


def changes_list(edit: Callable[..., Any]) -> Operation:
    """A method that changes a list or deque of known length: ``edit`` gets the items, and gives the new ones, with the
    result of the call where it has one."""

    @functools.wraps(edit)
    def apply(at: At, container: ir.Atom, *args: ir.Atom, **kwargs: ir.Atom) -> ir.Atom | None:
        target = _target(at, container)
        if target is None:
            return None
        if edit is _append and target.is_own and target.state.kind is list and len(args) == 1 and not kwargs:
            return _change(at, target, target.state.with_entry(target.state.size, args[0]), args[0])
        how = edit.__name__.lstrip("_")
        if target.items is None:
            return _change_whole(at, target, container, how, args, kwargs)
        items, limit = list(target.items.values()), target.state.extra
        if edit is _insert and limit is not None and len(items) >= limit:
            raise at.raised(IndexError("deque already at its maximum size"))
        found = edit(at, items, *args, **kwargs)
        if found is NotImplemented and limit is None:
            return at.inline(ordering.extend, [container, *args])
        if found is None or found is NotImplemented:
            return _change_whole(at, target, container, how, args, kwargs)
        result = found if isinstance(found, ir.Atom) else ir.Const(None)  # type: ignore[arg-type]
        _change(at, target, target.state.with_items(_cut(target.state, items, edit.__name__)))
        return result

    return apply


def _cut(state: State, items: list[ir.Atom], edit: str) -> list[ir.Atom]:
    if state.kind is not collections.deque or state.extra is None or len(items) <= state.extra:
        return items
    return items[: state.extra] if "left" in edit else items[len(items) - state.extra :]


DONE = True


def _append(at: At, items: list[ir.Atom], item: ir.Atom) -> Any:
    items.append(item)
    return DONE


def _appendleft(at: At, items: list[ir.Atom], item: ir.Atom) -> Any:
    items.insert(0, item)
    return DONE


def _extend(at: At, items: list[ir.Atom], more: ir.Atom) -> Any:
    found = at.items(more)
    if found is None:
        return NotImplemented
    if len(items) + len(found) > MOST_LISTED:
        return None
    items.extend(found)
    return DONE


def _extendleft(at: At, items: list[ir.Atom], more: ir.Atom) -> Any:
    found = at.items(more)
    if found is None:
        return None
    items[:0] = found[::-1]
    return DONE


def _insert(at: At, items: list[ir.Atom], position: ir.Atom, item: ir.Atom) -> Any:
    if not isinstance(position, ir.Const):
        return None
    items.insert(position.value, item)
    return DONE


def _pop(at: At, items: list[ir.Atom], position: ir.Atom = ir.Const(-1)) -> Any:  # noqa: B008
    if not isinstance(position, ir.Const) or not -len(items) <= position.value < len(items):
        return None
    return items.pop(position.value)


def _popleft(at: At, items: list[ir.Atom]) -> Any:
    return items.pop(0) if items else None


def _remove(at: At, items: list[ir.Atom], item: ir.Atom) -> Any:
    if cell_of(at.context, item) is not None and item in items and not any(
        is_instance(s) and s.kind.__eq__ is not object.__eq__ for i in items if (s := state_of(at.context, i))
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


def _clear(at: At, items: list[ir.Atom]) -> Any:
    items.clear()
    return DONE


def _reverse(at: At, items: list[ir.Atom]) -> Any:
    items.reverse()
    return DONE


def _rotate(at: At, items: list[ir.Atom], steps: ir.Atom = ir.Const(1)) -> Any:  # noqa: B008
    if not isinstance(steps, ir.Const):
        return None
    turned = collections.deque(items)
    turned.rotate(steps.value)
    items[:] = turned
    return DONE


def _sort(
    at: At, items: list[ir.Atom], key: ir.Atom = ir.Const(None), reverse: ir.Atom = ir.Const(False)  # noqa: B008
) -> Any:
    order = order_of(at, items, key, reverse)
    if order is None:
        made = at.inline(ordering.sorted_, [new_list(at, items)], {"key": key, "reverse": reverse})
        items[:] = at.items(made) or ()
    else:
        items[:] = [items[k] for k in order]
    return DONE


def _change_whole(
    at: At, target: _Target, container: ir.Atom, edit: str, args: tuple[ir.Atom, ...], kwargs: dict[str, ir.Atom]
) -> ir.Atom:
    """A change of a list or deque of unknown length, or at a place that the run knows, by an operation that makes a new
    list."""
    state, limit = _as_whole(at, target), target.state.extra
    whole = at.builder.frozen(container)
    if edit == "append":
        state = appended(at, state, args[0])
        return _change(at, target, _limited(at, state, edit), args[0] if limit is None else None)
    if edit == "extend" and limit is None:
        found = at.specializer.items.known(args[0], at.builder, at.span)
        if found is None:
            return at.inline(ordering.extend, [container, *args])
        for item in found:
            state = appended(at, state, item)
        return _change(at, target, state)
    if edit == "clear":
        return _change(at, target, State(state.kind, extra=limit))
    if edit in ("pop", "popleft"):
        place = ir.Const(0) if edit == "popleft" else args[0] if args else ir.Const(-1)
        gone = at.builder.call(operator.getitem, whole, place, name=at.name, span=at.span)
        _change(at, target, state.with_whole(_without(at, whole, place)))
        return gone
    made = _edited(at, target, edit, whole, args, kwargs)
    return _change(at, target, _limited(at, state.with_whole(at.builder.frozen(made)), edit))


def _as_whole(at: At, target: _Target) -> State:
    """The state of a container as one of unknown length; what it held is changed no more."""
    for held in (target.items or {}).values():
        virtual_heap.close(at.context, held, ESCAPED)
    return State(target.state.kind, (), (), at.builder.frozen(target.cell.var), extra=target.state.extra)


def _without(at: At, whole: ir.Atom, place: ir.Atom) -> ir.Atom:
    """The items of a list but for that at a place."""
    for end, rest in ((ir.Const(-1), slice(None, -1)), (ir.Const(0), slice(1, None))):
        if place == end:
            return at.compute(operator.getitem, whole, ir.Const(rest))
    return at.builder.frozen(at.inline(ordering.rearranged, [whole, ir.Const("pop"), place]))


def _edited(
    at: At, target: _Target, edit: str, whole: ir.Atom, args: tuple[ir.Atom, ...], kwargs: dict[str, ir.Atom]
) -> ir.Atom:
    """The items of a list after a method has changed it, as a new list."""
    match edit:
        case "insert":
            return at.inline(ordering.inserted, [whole, *args])
        case "remove":
            return at.inline(ordering.removed, [whole, *args])
        case "reverse" | "rotate":
            return at.inline(ordering.rearranged, [whole, ir.Const(edit), *args])
        case "sort":
            return at.inline(ordering.sorted_, [whole], kwargs)
        case "extend":
            return at.inline(ordering.joined, [whole, *args])
        case "extendleft":
            return at.inline(ordering.extended_left, [whole, *args])
        case "appendleft":
            return at.inline(ordering.joined, [new_list(at, args), whole])
    raise at.refuse(target.name, "its length is not known before the program runs")


def _limited(at: At, state: State, edit: str) -> State:
    """A deque with as many items as it may have: the last ones, the first ones where items come in at the left."""
    limit = state.extra
    if limit is None or state.whole is None:
        return state
    kept = slice(0, limit) if "left" in edit else slice(-limit, None) if limit else slice(0, 0)
    return state.with_whole(at.compute(operator.getitem, state.whole, ir.Const(kept)))


def _update(at: At, mapping: ir.Atom, *others: ir.Atom, **kwargs: ir.Atom) -> ir.Atom | None:
    target = _target(at, mapping)
    if target is None:
        return None
    entries = dict(target.items) if target.items is not None else None
    for other in others:
        found = entries_of(at, other)
        if found is None or entries is None:
            raise at.refuse(target.name, "the keys are not known before the program runs")
        entries |= found
    if entries is None:
        raise at.refuse(target.name, "the keys are not known before the program runs")
    return _change(at, target, target.state.with_entries(entries | kwargs))


def _setdefault(
    at: At, mapping: ir.Atom, key: ir.Atom, default: ir.Atom = ir.Const(None)  # noqa: B008
) -> ir.Atom | None:
    target, key = _target(at, mapping), dict_key(at.specializer, key)
    if target is None:
        return None
    if target.items is None or not is_key(key):
        raise at.refuse(target.name, "the key is not known before the program runs")
    assert isinstance(key, ir.Const)
    if key.value not in target.items:
        _change(at, target, target.state.with_entries(target.items | {key.value: default}))
        return default
    return target.items[key.value]


def _dict_pop(at: At, mapping: ir.Atom, key: ir.Atom, default: ir.Atom | None = None) -> ir.Atom | None:
    target, key = _target(at, mapping), dict_key(at.specializer, key)
    if target is None:
        return None
    if target.items is None or not is_key(key):
        raise at.refuse(target.name, "the key is not known before the program runs")
    assert isinstance(key, ir.Const)
    if key.value not in target.items:
        return default if default is not None else at.call(operator.getitem, [at.builder.frozen(mapping), key]).keep()
    found = target.items[key.value]
    _change(at, target, target.state.with_entries({k: v for k, v in target.items.items() if k != key.value}))
    return found


def _move_to_end(
    at: At, mapping: ir.Atom, key: ir.Atom, last: ir.Atom = ir.Const(True)  # noqa: B008
) -> ir.Atom | None:
    target, key = _target(at, mapping), dict_key(at.specializer, key)
    if target is None:
        return None
    if target.items is None or not is_key(key) or not isinstance(last, ir.Const):
        raise at.refuse(target.name, "the key is not known before the program runs")
    assert isinstance(key, ir.Const)
    if key.value not in target.items:
        return at.call(operator.getitem, [at.builder.frozen(mapping), key]).keep()
    rest = {k: v for k, v in target.items.items() if k != key.value}
    moved = {key.value: target.items[key.value]}
    return _change(at, target, target.state.with_entries(rest | moved if last.value else moved | rest))


def _popitem(at: At, mapping: ir.Atom, last: ir.Atom = ir.Const(True)) -> ir.Atom | None:  # noqa: B008
    target = _target(at, mapping)
    if target is None:
        return None
    if not target.items or not isinstance(last, ir.Const):
        raise at.refuse(target.name, "whether it is empty is not known before the program runs")
    key, found = list(target.items.items())[-1 if last.value else 0]
    _change(at, target, target.state.with_entries({k: v for k, v in target.items.items() if k != key}))
    return new_list(at, (ir.Const(key), found), tuple)


def _dict_clear(at: At, mapping: ir.Atom) -> ir.Atom | None:
    target = _target(at, mapping)
    return None if target is None else _change(at, target, State(target.state.kind, extra=target.state.extra))


def _set_pop(at: At, container: ir.Atom) -> ir.Atom | None:
    """Which item of a set comes first is known where there is one."""
    target = _target(at, container)
    if target is None:
        return None
    if target.items is None or len(target.items) != 1:
        raise at.refuse(target.name, "which of its items comes first is not known before the program runs")
    (found,) = target.items.values()
    _change(at, target, target.state.with_items(()))
    return found


def _set_change(method: str) -> Operation:
    def apply(at: At, container: ir.Atom, *args: ir.Atom) -> ir.Atom | None:
        target = _target(at, container)
        if target is None:
            return None
        values = {a.value for a in (target.items or {}).values() if isinstance(a, ir.Const)}
        known = target.items is not None and all(map(is_key, target.items.values()))
        given = [args[0]] if method in ("add", "discard", "remove") else [
            i for a in args for i in at.items(a) or (ir.Var("%"),)]
        if not known or not all(map(is_key, given)):
            raise at.refuse(target.name, "what it holds is not known before the program runs")
        for item in given:
            assert isinstance(item, ir.Const)
            getattr(values, "add" if method == "update" else method)(item.value)
        return _change(at, target, target.state.with_items(map(ir.Const, values)))

    return apply


# --- stores ---------------------------------------------------------------------------------------------------------


def store_item(at: At, container: ir.Atom, key: ir.Atom, value: ir.Atom) -> None:
    """``container[key] = value`` of an object on the heap."""
    target = _target(at, container)
    assert target is not None
    key = key_in(at.specializer, target.state, key)
    if is_instance(target.state):
        found = at.specializer.instances.operate(at, operator.setitem, "__setitem__", container, key, value)
        if found is None:
            kind = target.state.kind.__name__
            raise at.raised(TypeError(f"'{kind}' object does not support item assignment"))
        return
    if issubclass(target.state.kind, (tuple, set)):
        raise at.raised(TypeError(f"'{target.state.kind.__name__}' object does not support item assignment"))
    if target.is_own and is_dict(target.state) and is_key(key):
        assert isinstance(key, ir.Const)
        _change(at, target, target.state.with_entry(key.value, value))
        return
    if target.is_own and isinstance(key, ir.Const) and type(key.value) is int:
        if -target.state.size <= key.value < target.state.size:
            position = range(target.state.size)[key.value]
            _change(at, target, target.state.with_entry(position, value))
            return
    if target.items is None or not (is_key(key) or isinstance(getattr(key, "value", None), slice)):
        return _store_whole(at, target, container, key, value)
    assert isinstance(key, ir.Const)
    if is_dict(target.state):
        _change(at, target, target.state.with_entries(target.items | {key.value: value}))
        return None
    items = list(target.items.values())
    check_slice(at, target.state, key)
    if isinstance(key.value, slice):
        found = at.items(value)
        if found is None:
            raise at.refuse(target.name, "how many items are assigned is not known before the program runs")
        items[key.value] = found
    elif not -len(items) <= key.value < len(items):
        at.call(operator.getitem, [at.builder.frozen(container), key]).keep()
        return None
    else:
        items[key.value] = value
    _change(at, target, target.state.with_items(items))
    return None


def _is_all(key: ir.Atom) -> bool:
    """Whether it is the index of ``container[:]``."""
    index = getattr(key, "value", None)
    return isinstance(index, slice) and (index.start in (None, 0), index.stop, index.step in (None, 1)) == (
        True, None, True)


def _is_slice(key: AbstractValue) -> bool:
    kind = type(key.value) if isinstance(key, Known) else key.type if isinstance(key, Sequence) else None
    return kind is slice


def _store_whole(at: At, target: _Target, container: ir.Atom, key: ir.Atom, value: ir.Atom) -> None:
    """A store at a place that is not known before the program runs."""
    frozen, item = at.builder.frozen(container), at.builder.frozen(value)
    virtual_heap.close(at.context, value, ESCAPED)
    for held in (target.items or {}).values():
        virtual_heap.close(at.context, held, ESCAPED)
    if is_dict(target.state):
        whole = at.compute(ops.put, frozen, key, item)
    elif _is_all(key) and target.state.kind is list:
        whole = at.compute(list, item)
    elif target.state.kind is not list:
        raise at.refuse(target.name, "its length is not known before the program runs")
    else:
        change = rt.set_items if _is_slice(at.value(key)) else rt.set_item
        name = target.name if target.name.isidentifier() else "%"
        whole = at.builder.call(change, frozen, key, item, name=name, span=at.span)
    _change(at, target, target.state.with_whole(whole))


def _delitem(at: At, container: ir.Atom, key: ir.Atom) -> ir.Atom | None:
    target = _target(at, container)
    if target is None:
        return None
    key = key_in(at.specializer, target.state, key)
    if is_instance(target.state):
        return at.specializer.instances.operate(at, operator.delitem, "__delitem__", container, key)
    if is_sequence(target.state) and (target.items is None or not isinstance(key, ir.Const)):
        made = at.inline(ordering.rearranged, [at.builder.frozen(container), ir.Const("__delitem__"), key])
        return _change(at, target, _as_whole(at, target).with_whole(at.builder.frozen(made)))
    if target.items is None or not isinstance(key, ir.Const):
        raise at.refuse(target.name, "what it holds is not known before the program runs")
    if is_dict(target.state):
        if key.value not in target.items:
            return at.call(operator.getitem, [at.builder.frozen(container), key]).keep()
        rest = {k: v for k, v in target.items.items() if k != key.value}
        return _change(at, target, target.state.with_entries(rest))
    check_slice(at, target.state, key)
    items = list(target.items.values())
    try:
        del items[key.value]
    except IndexError:
        return at.call(operator.getitem, [at.builder.frozen(container), key]).keep()
    return _change(at, target, target.state.with_items(items))


def add_in_place(at: At, fn: Any, container: ir.Atom, change: ir.Atom) -> ir.Atom:
    """``container += change`` and ``container *= n`` of an object on the heap: it changes itself where it can."""
    state = state_of(at.context, container)
    assert state is not None
    is_list = is_sequence(state) and not issubclass(state.kind, tuple)
    if is_instance(state):
        found = at.specializer.instances.augmented(at, fn, container, change)
        if found is not None and found != ir.Const(NotImplemented):
            return found
    elif fn is operator.iadd and is_list:
        changes_list(_extend)(at, container, change)
        return container
    elif fn is operator.ior and is_dict(state):
        _update(at, container, change)
        return container
    elif fn is operator.imul and is_list:
        target = _target(at, container)
        if target is None or target.items is None or not isinstance(change, ir.Const) or (
            len(target.items) * change.value > MOST_LISTED
        ):
            raise at.refuse("the list", "its length is not known before the program runs")
        items = [*target.items.values()] * change.value
        _change(at, target, target.state.with_items(_cut(target.state, items, "extend")))
        return container
    return at.result_of(operators.PLAIN[fn], [container, change])


_LIST_EDITS = {
    list: (_append, _extend, _insert, _pop, _remove, _clear, _reverse, _sort),
    collections.deque: (
        _append, _appendleft, _extend, _extendleft, _insert, _pop, _popleft, _remove, _clear, _reverse, _rotate,
    ),
}

OPERATIONS: dict[Any, Operation] = {
    operator.delitem: _delitem,
    dict.update: _update,
    dict.setdefault: _setdefault,
    dict.pop: _dict_pop,
    dict.popitem: _popitem,
    dict.clear: _dict_clear,
    collections.OrderedDict.pop: _dict_pop,
    collections.OrderedDict.move_to_end: _move_to_end,
    collections.OrderedDict.popitem: _popitem,
    collections.OrderedDict.update: _update,
    collections.OrderedDict.setdefault: _setdefault,
    set.pop: _set_pop,
    **{getattr(set, m): _set_change(m) for m in ("add", "discard", "remove", "update")},
    **{getattr(kind, e.__name__[1:]): changes_list(e) for kind, edits in _LIST_EDITS.items() for e in edits},
}
"""What changes containers."""
