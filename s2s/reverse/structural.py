"""Structural operations in reverse: reads of items, displays, unpacking, growing lists and dicts.

Each function takes the reverser, the variable that the operation made, the operation, its place and the sweep.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from s2s import runtime as rt
from s2s.analysis.abstract.lattice import is_number, join_all, shape_of
from s2s.analysis.abstract.parts import has_cotangent, leaves, part
from s2s.builder import cotangents
from s2s.builder.indices import names_twice
from s2s.core import ir, ops
from s2s.core.const import Const
from s2s.core.inspection import is_hashable
from s2s.core.values import (
    UNKNOWN,
    AbstractValue,
    Array,
    DictOf,
    Known,
    ListOf,
    Mapping,
    Scalar,
    Sequence,
    is_record_class,
)
from s2s.errors import error
from s2s.reverse import stores
from s2s.reverse.displays import reverse_unpacking
from s2s.reverse.residuals.sweep import Sweep

if TYPE_CHECKING:
    from s2s.reverse.sweeps import Reverser


_WHOLE = (Sequence(tuple, ()), Known(Const(())))
"""The index of ``x[()]``, which leaves nothing out and adds nothing."""


def item_read(reverser: Reverser, target: ir.Var, value: ir.Call, span: ir.Span | None, sweep: Sweep) -> None:
    """``y = x[i]`` adds ``y_bar`` to a part of ``x_bar``."""
    source, index = value.args
    assert isinstance(source, (ir.Var, ir.Const)) and isinstance(index, (ir.Var, ir.Const))
    if not reverser.is_active(source):
        return
    assert isinstance(source, ir.Var)
    g = reverser.bar_of(sweep, target, span)
    if g is None:
        return
    known = reverser.context.value(source)
    if isinstance(known, (Sequence, Mapping)) and isinstance(index, ir.Const) and not isinstance(index.value, slice):
        key = index.value
        if isinstance(known, Sequence) and key < 0:
            key += len(known.items)
        reverser.contribute(sweep, source, g, span, (key,))
    elif is_number(known):  # ``x[..., None]`` of a NumPy number
        total = g if is_number(reverser.context.value(g)) else sweep.builder.call(np.sum, g, span=span)
        reverser.add(sweep, source, (), total, span)
    elif reverser.context.value(index) in _WHOLE and not reverser.memory.is_buffer(source):
        reverser.contribute(sweep, source, g, span)
    elif (back := _read_back(reverser, sweep, target, source, index)) is not None:
        if not is_number(reverser.context.value(g)):  # a number stands for an array of it of any shape
            whole = cotangents.full(sweep.builder, g, reverser.use(sweep, reverser.like(target)), span)
            g = sweep.builder.call(operator.getitem, whole, back, span=span)
        reverser.contribute(sweep, source, g, span)
    elif _is_changed_in_place(reverser, source, known):
        _add_at(reverser, target, source, index, g, span, sweep)
    elif _is_gathered(reverser, source, known, reverser.context.value(index)):
        bars, places = _gathered(reverser, sweep, source, span)
        at = reverser.use_content(sweep, index)
        if places is not None:
            at = sweep.builder.call(operator.getitem, places, at, span=span)
        _add_to_item(reverser, sweep, target, bars, at, g, span)
    elif isinstance(known, (Sequence, Mapping)):
        bar = sweep.builder.call(rt.index_bar, reverser.use(sweep, source), reverser.use(sweep, index), g, span=span)
        reverser.contribute(sweep, source, bar, span)
    else:
        bar = sweep.builder.call(rt.index_bar, reverser.use(sweep, source), reverser.use(sweep, index), g, span=span)
        reverser.add(sweep, source, (), bar, span)


def _is_changed_in_place(reverser: Reverser, source: ir.Var, known: AbstractValue) -> bool:
    """Whether the cotangent of what is read is one object that is changed. A container of known items has one cotangent
    for each of these, also where they are arrays that change; what may be a tuple has none that can be changed."""
    if isinstance(known, (Sequence, Mapping)) or stores.is_read_before(reverser, source):
        return False
    is_bound = source not in reverser.unbound
    return (reverser.accumulates_in_place(known) and is_bound) or reverser.memory.is_buffer(source)


_DISPLAYS = (ir.Const(ops.make_list), ir.Const(ops.make_tuple))

MOST_PARTS = 8
"""Of a container with more items than this, items at places that only the run knows have one list of cotangents."""


def _is_gathered(reverser: Reverser, source: ir.Var, known: AbstractValue, index: AbstractValue) -> bool:
    if not isinstance(known, (Sequence, Mapping)) or len(known.items) <= MOST_PARTS or source in reverser.unbound:
        return False
    is_spread = source in reverser.planner.lets or any(source == p.var for p in reverser.primal.params)
    return is_spread and (isinstance(known, Mapping) or is_number(index))


def _gathered(reverser: Reverser, sweep: Sweep, source: ir.Var, span: ir.Span | None) -> tuple[ir.Atom, ir.Atom | None]:
    """The list of cotangents that reads at places that only the run knows add to, one for each item; and what gives the
    places in it of the keys of a dict. They are made where the sweep enters the block that made the items, so that each
    read changes one item, whatever their number."""
    found, known = reverser.gathered.get(source), reverser.context.value(source)
    if found is None:
        assert isinstance(known, (Sequence, Mapping))
        home = sweep.of(reverser.home_of(source))
        places = None
        if isinstance(known, Mapping):
            numbered = ir.Call(ir.Const(rt.key_positions), (reverser.use(home, source),))
            places = home.builder.let(numbered, DictOf(UNKNOWN, Scalar(int)), span=span)
        item = join_all([*known.items], reverser.context.evaluator.facts)
        if is_number(item):
            zero = home.builder.call(ops.make_list, ir.Const(0.0), span=span)
            made = ir.Call(ir.Const(operator.mul), (zero, ir.Const(len(known.items))))
        else:
            zeros = home.builder.call(rt.zeros_of, reverser.use(home, source), span=span)
            if places is not None:
                zeros = home.builder.call(dict.values, zeros, span=span)
            made = ir.Call(ir.Const(list), (zeros,))
        if isinstance(item, Scalar):
            item = Scalar(complex if issubclass(item.type, (complex, np.complexfloating)) else float)
        found = reverser.gathered[source] = home.builder.let(made, ListOf(item), reverser.name(source), span), places
    return found


def spread(reverser: Reverser, target: ir.Var, span: ir.Span | None, sweep: Sweep) -> None:
    """Before the reverse of what made a container: its items get what was gathered for them."""
    bars, _ = reverser.gathered.pop(target, (None, None))
    known = reverser.context.value(target)
    if bars is None or not isinstance(known, (Sequence, Mapping)):
        return
    made = reverser.planner.lets[target].value if target in reverser.planner.lets else None
    atoms: tuple[ir.Atom | ir.Star, ...] = ()
    if isinstance(made, ir.Call) and made.fn in _DISPLAYS:
        atoms = made.args
    is_plain = len(atoms) == len(known.items) and not any(isinstance(a, ir.Star) for a in atoms)
    keys = known.keys if isinstance(known, Mapping) else range(len(known.items))
    for k, (key, item) in enumerate(zip(keys, known.items, strict=True)):
        if has_cotangent(item) and (not is_plain or reverser.is_active(atoms[k])):  # type: ignore[arg-type]
            bar = sweep.builder.call(operator.getitem, bars, ir.Const(k), span=span)
            reverser.contribute(sweep, target, bar, span, (key,))


def _read_back(reverser: Reverser, sweep: Sweep, target: ir.Var, source: ir.Var, index: ir.Atom) -> ir.Atom | None:
    """For an index that only adds dimensions, ``x[:, None]``, the one that takes them away, ``y_bar[:, 0]``; None for
    any other."""
    if reverser.memory.is_buffer(source) or any(shape_of(reverser.context.value(a)) is None for a in (source, target)):
        return None
    known = reverser.context.value(index)
    items = known.items if isinstance(known, Sequence) and known.type is tuple else (known,)
    if Known(Const(None)) not in items or not all(map(_keeps_all, items)):
        return None
    none = ir.Const(None)
    parts = [
        ir.Const(0) if item == Known(Const(None)) else ir.Const(Ellipsis) if item == Known(Const(Ellipsis))
        else sweep.builder.call(slice, none, none, none)
        for item in items
    ]
    return parts[0] if len(parts) == 1 else sweep.builder.call(ops.make_tuple, *parts)


def _keeps_all(item: AbstractValue) -> bool:
    """Whether a part of an index leaves nothing out: None, an ellipsis, a slice without bounds."""
    return isinstance(item, Known) and (item.value is None or item.value is Ellipsis or item.value == slice(None))


def _add_at(
    reverser: Reverser, target: ir.Var, source: ir.Var, index: ir.Atom, g: ir.Atom, span: ir.Span | None, sweep: Sweep
) -> None:
    reverser.note_mask(sweep, source, index, target if reverser.is_mask(source, index) else ir.Const(None))
    buffer = stores.shadow(reverser, sweep, source, span)
    at = reverser.use_content(sweep, index)
    if isinstance(reverser.context.value(source), ListOf):
        _add_to_item(reverser, sweep, target, buffer, at, g, span)
    elif names_twice(reverser.context, index):
        sweep.builder.add(ir.Store("at", buffer, at, g, operator.add, span))
    else:
        reverser.add_in_place(sweep, buffer, at, g, span)


def _add_to_item(
    reverser: Reverser, sweep: Sweep, target: ir.Var, bars: ir.Atom, at: ir.Atom, g: ir.Atom, span: ir.Span | None,
) -> None:
    """Add the cotangent of what was read to an item of a container of cotangents: arrays in it are not changed."""
    if is_number(reverser.context.value(target)):
        reverser.add_in_place(sweep, bars, at, g, span)
        return
    old = sweep.builder.call(operator.getitem, bars, at, span=span)
    total = sweep.builder.call(operator.add if _are_of_one_shape(reverser, old, g) else rt.add, old, g, span=span)
    sweep.builder.store(bars, at, total, None, span)


def _are_of_one_shape(reverser: Reverser, a: ir.Atom, b: ir.Atom) -> bool:
    """Whether two arrays have the same shape and dtype: with no length of 1, NumPy stretches neither."""
    context = reverser.context
    one, other = context.value(a), context.value(b)
    if not isinstance(one, Array) or not isinstance(other, Array) or one.dtype != other.dtype:
        return False
    if not one.shape or other.shape is None or len(one.shape) != len(other.shape):
        return False
    return not any(map(context.evaluator.facts.may_be_one, (*one.shape, *other.shape)))


def _is_open(known: Array) -> bool:
    """Whether an array has a length of which nothing is known."""
    return known.shape is None or any(d.symbol.startswith("?") for d in known.shape)


def _display(reverser: Reverser, target: ir.Var, value: ir.Call, span: ir.Span | None, sweep: Sweep) -> None:
    """``t = (a, b)`` gives each item its part."""
    known = reverser.context.value(target)
    assert isinstance(value.fn, ir.Const)
    if any(isinstance(a, ir.Star) for a in value.args) or not isinstance(known, (Sequence, Mapping)):
        raise error("S2S207", span=span)
    items = value.args[1::2] if value.fn.value is ops.make_dict else value.args
    keys = known.keys if isinstance(known, Mapping) else range(len(items))
    for key, atom in zip(keys, items, strict=False):
        assert not isinstance(atom, ir.Star)
        for path, _ in leaves(part(known, (key,))):
            bar = reverser.read(sweep, target, (key, *path))
            if bar is not None:
                reverser.contribute(sweep, atom, bar, span, path)


def _unpack(reverser: Reverser, target: ir.Var, value: ir.Call, span: ir.Span | None, sweep: Sweep) -> None:
    """``a, b = x``: the items are read one by one."""
    source, before, after = value.args
    assert isinstance(before, ir.Const) and isinstance(after, ir.Const)
    known = reverser.context.value(target)
    items = getattr(reverser.context.value(source), "items", None)  # type: ignore[arg-type]
    least = before.value + (after.value or 0)
    if items is not None and (len(items) < least or (after.value is None and len(items) > least)):
        return  # the primal raises
    bars = {path: reverser.read(sweep, target, path) for path, _ in leaves(known)}
    if any(b is not None and unpacked_index(p[0], before.value, after.value) is None for p, b in bars.items()):
        g = reverser.bar_of(sweep, target, span)
        assert g is not None
        spread = sweep.builder.call(rt.unpack_bar, reverser.use(sweep, source), before, after, g, span=span)  # type: ignore[arg-type]
        reverser.contribute(sweep, source, spread, span)  # type: ignore[arg-type]
        return
    if after.value is None and reverse_unpacking(reverser, target, source, span, sweep):  # type: ignore[arg-type]
        return
    for k in dict.fromkeys(path[0] for path, bar in bars.items() if bar is not None):
        read = ir.Call(ir.Const(operator.getitem), (source, ir.Const(unpacked_index(k, before.value, after.value))))
        stand_in = reverser.context.define("%", part(known, (k,)))
        reverser.useful.add(stand_in)
        reverser.planner.home[stand_in] = reverser.planner.home[target]
        for path, bar in bars.items():
            if path[0] == k and items is None:  # nothing has the item: its parts are told from those of the target
                bar = reverser.zero(sweep, target, path, span) if bar is None else cotangents.whole(
                    sweep.builder, bar, reverser.part_atom(sweep, target, path, span), span)
            if path[0] == k and bar is not None:
                sweep.bars[stand_in, path[1:]] = bar
        item_read(reverser, stand_in, read, span, sweep)


def unpacked_index(k: int, before: int, after: int | None) -> int | None:
    """Where an item that an unpacking gives stands in what is unpacked; None for the list of ``*rest``."""
    if after is None or k < before:
        return k
    return None if k == before else k - before - 1 - after


def _append(reverser: Reverser, target: ir.Var, value: ir.Call, span: ir.Span | None, sweep: Sweep) -> None:
    """``l = [*l, v]``: the last cotangent belongs to ``v``."""
    items, item = value.args
    known = reverser.context.value(target)
    if isinstance(known, Sequence):
        for path, _ in leaves(known):
            bar = reverser.read(sweep, target, path)
            if bar is None:
                continue
            if path[0] == len(known.items) - 1:
                reverser.contribute(sweep, item, bar, span, path[1:])  # type: ignore[arg-type]
            else:
                reverser.contribute(sweep, items, bar, span, path)  # type: ignore[arg-type]
        return
    g = reverser.read(sweep, target, ())
    if g is None:
        return
    inner = known.item if isinstance(known, ListOf) else UNKNOWN
    last = sweep.builder.let(ir.Call(ir.Const(list.pop), (g,)), inner, "%_bar", span)
    reverser.contribute(sweep, item, last, span)  # type: ignore[arg-type]
    _hand_on(reverser, sweep, items, g, span)  # type: ignore[arg-type]


def _hand_on(reverser: Reverser, sweep: Sweep, items: ir.Atom, g: ir.Atom, span: ir.Span | None) -> None:
    """What is left of the cotangent of a changed list is that of the list before the change, to which later reads of
    that may have added."""
    if not reverser.is_active(items):
        return
    assert isinstance(items, ir.Var)
    if isinstance(reverser.context.value(items), Sequence):
        reverser.contribute(sweep, items, g, span)
        return
    old = reverser.read(sweep, items, ())
    sweep.bars[items, ()] = g if old is None else sweep.builder.call(rt.add, old, g, span=span)


def _set_item(reverser: Reverser, target: ir.Var, value: ir.Call, span: ir.Span | None, sweep: Sweep) -> None:
    """``l = set_item(l, k, v)``: the cotangent at ``k`` belongs to ``v``, the old item has none. So for a slice, which
    may get more items or fewer: their cotangents are those of the slice where they stand afterwards."""
    items, key, item = value.args
    g = reverser.bar_of(sweep, target, span)
    if g is None:
        return
    known = reverser.context.value(target)
    is_slice = value.fn == ir.Const(rt.set_items)
    inner = known if is_slice else known.item if isinstance(known, ListOf) else UNKNOWN
    at = place = reverser.use(sweep, key)  # type: ignore[arg-type]
    if is_slice:
        place = sweep.builder.call(rt.stored_slice, *(reverser.use(sweep, a) for a in value.args), span=span)  # type: ignore[arg-type]
    one = sweep.builder.let(ir.Call(ir.Const(operator.getitem), (g, place)), inner, "%_bar", span)
    zero: ir.Atom = ir.Const(0.0)
    if not is_number(inner):  # before the item's cotangent is given away, where it may get another name
        old: ir.Atom = one
        if not _has_one_shape(inner):
            old = sweep.builder.call(operator.getitem, reverser.use(sweep, items), at, span=span)  # type: ignore[arg-type]
        zero = sweep.builder.call(rt.zeros_of, old, span=span)
    if is_slice:  # a list of cotangents, for an array or a tuple too
        one = sweep.builder.call(rt.sequence_bar, one, reverser.use(sweep, item), span=span)  # type: ignore[arg-type]
    reverser.contribute(sweep, item, one, span)  # type: ignore[arg-type]
    if is_slice:
        changed = ir.Call(ir.Const(rt.set_items), (g, place, zero))
        g = sweep.builder.let(changed, known, reverser.name(target), span)
    else:
        sweep.builder.store(g, at, zero, None, span)
    _hand_on(reverser, sweep, items, g, span)  # type: ignore[arg-type]


def _has_one_shape(item: AbstractValue) -> bool:
    """Whether the items of a list are arrays of one shape, whichever is stored."""
    return isinstance(item, Array) and not _is_open(item)


def _put(reverser: Reverser, target: ir.Var, value: ir.Call, span: ir.Span | None, sweep: Sweep) -> None:
    """``d = {**d, k: v}``: the cotangent of the entry belongs to ``v``, the rest to the old ``d``."""
    mapping, key, item = value.args
    known = reverser.context.value(target)
    if isinstance(known, Mapping):
        assert isinstance(key, ir.Const)
        for path, _ in leaves(known):
            bar = reverser.read(sweep, target, path)
            if bar is not None and path[0] == key.value:
                reverser.contribute(sweep, item, bar, span, path[1:])  # type: ignore[arg-type]
            elif bar is not None:
                reverser.contribute(sweep, mapping, bar, span, path)  # type: ignore[arg-type]
        return
    g = reverser.read(sweep, target, ())
    if g is None:
        return
    both = sweep.builder.call(rt.split_entry, g, reverser.use(sweep, key), span=span)  # type: ignore[arg-type]
    rest, one = (sweep.builder.call(operator.getitem, both, ir.Const(k), span=span) for k in range(2))
    reverser.contribute(sweep, item, one, span)  # type: ignore[arg-type]
    if isinstance(reverser.context.value(mapping), Mapping):  # type: ignore[arg-type]
        # each entry of it is read, that at the key too
        zeros = sweep.builder.call(rt.zeros_of, reverser.use(sweep, mapping), span=span)  # type: ignore[arg-type]
        rest = sweep.builder.let(ir.Call(ir.Const(rt.add), (zeros, rest)), UNKNOWN, span=span)
    reverser.contribute(sweep, mapping, rest, span)  # type: ignore[arg-type]


def _convert(reverser: Reverser, target: ir.Var, value: ir.Call, span: ir.Span | None, sweep: Sweep) -> None:
    """``list(x)``, ``tuple(x)``: the same items."""
    g = reverser.bar_of(sweep, target, span)
    if g is not None and value.args:
        source = value.args[0]
        known = reverser.context.value(source)  # type: ignore[arg-type]
        if not isinstance(known, (Sequence, ListOf)):
            g = sweep.builder.call(rt.like, g, reverser.use(sweep, source), span=span)  # type: ignore[arg-type]
        reverser.contribute(sweep, source, g, span)  # type: ignore[arg-type]


STRUCTURAL: dict[Any, Any] = {
    operator.getitem: item_read,
    ops.make_tuple: _display,
    ops.make_list: _display,
    ops.make_dict: _display,
    ops.unpack: _unpack,
    ops.append: _append,
    ops.put: _put,
    rt.set_item: _set_item,
    rt.set_items: _set_item,
    list: _convert,
    tuple: _convert,
}


def is_spread(call: ir.Call) -> bool:
    """Whether arguments of a function with a rule come from a container of unknown length: which are which shows when
    the program runs."""
    spread = any(isinstance(a, ir.Star) for a in call.args) or any(key is None for key, _ in call.kwargs)
    return spread and isinstance(call.fn, ir.Const) and not is_structural(call.fn.value)


def is_structural(fn: Any) -> bool:
    return is_hashable(fn) and (fn in STRUCTURAL or is_record_class(fn))


def rule_of(fn: Any) -> Any:
    """The function that reverses a structural operation."""
    return _display if is_record_class(fn) else STRUCTURAL[fn]
