"""Items, parts and changes of containers and arrays: what is known of their results."""

from __future__ import annotations

import enum
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from s2s import runtime as rt
from s2s.analysis.abstract.folding import call_pure, plain
from s2s.analysis.abstract.lattice import is_number, join, join_all, known, widen_known
from s2s.analysis.abstract.questions import answer
from s2s.analysis.abstract.shapes import index_shape
from s2s.core import ops
from s2s.core.inspection import equal, is_foreign, is_hashable
from s2s.core.values import (
    NO_ITEM,
    UNKNOWN,
    AbstractValue,
    Array,
    DictOf,
    Dim,
    IterableOf,
    Known,
    ListOf,
    Mapping,
    Range,
    Scalar,
    Sequence,
    Unknown,
)

if TYPE_CHECKING:
    from s2s.analysis.abstract.evaluate import Evaluator

__all__ = ["CONTENTS", "item_of"]

# --- items ----------------------------------------------------------------------------------------------------------


def _plain(kind: type) -> type:
    """The class of a part of a sequence: that of a named tuple is a tuple."""
    return tuple if issubclass(kind, tuple) else kind


def item_of(evaluator: Evaluator, value: AbstractValue, index: AbstractValue) -> AbstractValue | None:
    """What is known of an item, or of the items at an index."""
    match value, index:
        case DictOf(_, item), _:
            return evaluator.facts.one_of(item)
        case IterableOf(whole, item), (Scalar() | Known()):
            is_slice = isinstance(index, Known) and isinstance(index.value, slice)
            part = None if whole is None else _plain(whole)
            return IterableOf(part, item) if is_slice else evaluator.facts.one_of(item)
        case Sequence(kind, items), Known() if isinstance(index.value, int) and kind is not slice:
            return items[index.value] if -len(items) <= index.value < len(items) else UNKNOWN
        case Sequence(kind, items), Known() if isinstance(index.value, slice):
            return Sequence(_plain(kind), tuple(items[index.value]))
        case Sequence(kind, ()), Scalar(index_kind) if kind is list and index_kind in (int, np.int64):
            return NO_ITEM
        case Sequence(_, items), Scalar() if items:
            return evaluator.facts.one_of(join_all([*items], evaluator.facts))
        case ListOf(item), (Scalar() | Known()):
            is_slice = isinstance(index, Known) and isinstance(index.value, slice)
            return value if is_slice else evaluator.facts.one_of(item)
        case Known(), Known() if isinstance(value.value, (str, bytes)) and isinstance(index.value, (int, slice)):
            text, at = value.value, index.value
            if is_foreign(type(text)) or is_foreign(type(at)):
                return UNKNOWN
            return known(text[at]) if isinstance(at, slice) or -len(text) <= at < len(text) else UNKNOWN
        case Known(), _ if value.value is np.mgrid or value.value is np.ogrid:
            return _points_of_grid(evaluator, value.value is np.ogrid, index)
        case Mapping(keys, items), Known():
            return items[keys.index(index.value)] if index.value in keys else UNKNOWN
        case Mapping(_, items), _ if items:
            return evaluator.facts.one_of(join_all([*items], evaluator.facts))
        case Range(), Known() if isinstance(index.value, int):
            return Scalar(int)
        case Range(), Scalar(kind) if issubclass(kind, (int, np.integer)):
            return Scalar(int)
        case (Range(), Sequence(kind)) if kind is slice:
            return value
        case Range(), Known() if isinstance(index.value, slice):
            return value
        case Scalar(kind), (Known() | Sequence()) if issubclass(kind, np.generic):
            return _item_of_number(kind, index)
        case Array(dtype, shape), _ if shape is not None:
            try:
                dims = index_shape(shape, index, evaluator.facts)
            except ValueError:
                return UNKNOWN
            if dims is None:
                return Array(dtype, None) if not isinstance(index, Unknown) else UNKNOWN
            return dims if isinstance(dims, Unknown) else Array(dtype, dims) if dims or _keeps_array(index) else Scalar(
                dtype.type)
        case _:
            return UNKNOWN


def _points_of_grid(evaluator: Evaluator, is_open: bool, index: AbstractValue) -> AbstractValue:
    """``np.mgrid[a:b, c:d]`` and ``np.ogrid[...]`` between integers."""
    parts: tuple[AbstractValue, ...] = (index,)
    if isinstance(index, Known) and type(index.value) is tuple:
        parts = tuple(map(known, index.value))
    elif isinstance(index, Sequence) and index.type is tuple:
        parts = index.items
    is_tuple = parts != (index,)
    lengths = [_points_between(evaluator, part) for part in parts]
    if not lengths or None in lengths:
        return UNKNOWN
    dims = tuple(dim for dim in lengths if dim is not None)
    if not is_tuple:
        return Array(_INT, dims)
    if not is_open:
        return Array(_INT, (Dim("", len(dims)), *dims))
    axes = range(len(dims))
    of_each = [Array(_INT, tuple(dims[k] if k == axis else Dim("", 1) for k in axes)) for axis in axes]
    return Sequence(type(np.ogrid[0:1, 0:1]), tuple(of_each))


def _points_between(evaluator: Evaluator, part: AbstractValue) -> Dim | None:
    """How many integers a slice has between its bounds; None where these are no integers."""
    if isinstance(part, Known) and isinstance(part.value, slice):
        bounds: list[AbstractValue] = [known(part.value.start), known(part.value.stop), known(part.value.step)]
    elif isinstance(part, Sequence) and part.type is slice:
        bounds = [known(None), *part.items, known(None)] if len(part.items) == 1 else [*part.items, known(None)]
    else:
        return None
    start, stop, step = bounds[:3]
    given = [known(0) if start == known(None) else start, stop, *([step] if step != known(None) else [])]
    if not all(map(_is_python_integer, given)):
        return None
    points = evaluator.call(np.arange, tuple(given[1:] if len(given) == 2 and given[0] == known(0) else given))
    return points.shape[0] if isinstance(points, Array) and points.shape else None


def _is_python_integer(value: AbstractValue) -> bool:
    return type(value.value) is int if isinstance(value, Known) else isinstance(value, Scalar) and value.type is int


_INT = np.dtype(int)


def _item_of_number(kind: type[np.generic], index: AbstractValue) -> AbstractValue:
    """A NumPy number read as an array of rank 0: ``x[()]``, ``x[None]``, ``x[..., None]``."""
    items = index.items if isinstance(index, Sequence) and index.type is tuple else (index,)
    if not all(isinstance(i, Known) and (i.value is None or i.value is Ellipsis) for i in items):
        return UNKNOWN
    return Array(np.dtype(kind), tuple(Dim("", 1) for i in items if i == known(None))) if items else Scalar(kind)


def _keeps_array(index: AbstractValue) -> bool:
    """``x[..., 0]`` of a vector is a 0-d array, ``x[0]`` a scalar."""
    items = index.items if isinstance(index, Sequence) and index.type is tuple else (index,)
    return any(isinstance(i, Known) and i.value is Ellipsis for i in items)


def _slice(evaluator: Evaluator, *bounds: AbstractValue) -> AbstractValue:
    if len(bounds) == 1:
        bounds = (known(None), bounds[0])
    full = (*bounds, known(None))[:3]
    if all(isinstance(b, Known) for b in full):
        return known(slice(*(b.value for b in full if isinstance(b, Known))))
    return Sequence(slice, full)


def _unpack(
    evaluator: Evaluator, value: AbstractValue, before: AbstractValue, after: AbstractValue
) -> AbstractValue:
    if not isinstance(before, Known) or not isinstance(after, Known):
        return UNKNOWN
    item: AbstractValue
    match value:
        case Sequence(kind, items) if kind is not slice:
            if after.value is None:
                return Sequence(tuple, items) if len(items) == before.value else UNKNOWN
            stop = len(items) - after.value
            if stop < before.value:
                return UNKNOWN
            middle = Sequence(list, items[before.value : stop])
            return Sequence(tuple, (*items[: before.value], middle, *items[stop:]))
        case Array():
            item = item_of(evaluator, value, Scalar(int)) or UNKNOWN
            if value.shape and after.value is None and not value.shape[0].is_constant:  # else it raises
                evaluator.facts.forced.append((value.shape[0], Dim("", before.value)))
        case ListOf(inner):
            item = inner
        case Range():
            item = Scalar(int)
        case _:
            item = UNKNOWN
    first = [evaluator.facts.one_of(item) for _ in range(before.value)]
    if after.value is None:
        return Sequence(tuple, tuple(first))
    return Sequence(tuple, (*first, ListOf(item), *(evaluator.facts.one_of(item) for _ in range(after.value))))


# --- containers -----------------------------------------------------------------------------------------------------


def _range(evaluator: Evaluator, *bounds: AbstractValue) -> AbstractValue:
    return Range()


def _sequence(kind: type) -> Callable[..., AbstractValue]:
    def result(evaluator: Evaluator, *items: AbstractValue) -> AbstractValue:
        return Sequence(kind, items)

    return result


def _as_list(kind: type) -> Callable[..., AbstractValue]:
    def result(evaluator: Evaluator, *args: AbstractValue) -> AbstractValue:
        if not args:
            return Sequence(kind, ())
        match args[0]:
            case Sequence(_, items):
                return Sequence(kind, items)
            case Mapping(keys):
                return Sequence(kind, tuple(known(k) for k in keys))
            case ListOf() if kind is list:
                return args[0]
            case IterableOf(_, item) | DictOf(item) if kind is list:
                return ListOf(item)
            case Array(_, shape) if shape and kind is tuple and shape[0].is_constant and shape[0].offset <= 8:
                return Sequence(tuple, (item_of(evaluator, args[0], Scalar(int)) or UNKNOWN,) * shape[0].offset)
            case Array(_, shape) if shape and kind is list:
                return ListOf(item_of(evaluator, args[0], Scalar(int)) or UNKNOWN)
            case Range() if kind is list:
                return ListOf(Scalar(int))
            case _:
                return UNKNOWN

    return result


def _view(make: Callable[[DictOf], AbstractValue]) -> Callable[..., AbstractValue | None]:
    """A view of a dict of like items."""

    def result(evaluator: Evaluator, mapping: AbstractValue) -> AbstractValue | None:
        return IterableOf(None, make(mapping)) if isinstance(mapping, DictOf) else None

    return result


def _get(
    evaluator: Evaluator, mapping: AbstractValue, key: AbstractValue, default: AbstractValue | None = None
) -> AbstractValue | None:
    if not isinstance(mapping, DictOf) or default is None:
        return None
    return join(evaluator.facts.one_of(mapping.item), widen_known(default), evaluator.facts)


def _dict(evaluator: Evaluator, *items: AbstractValue) -> AbstractValue:
    keys = items[::2]
    if all(isinstance(k, Known) and is_hashable(k.value) for k in keys):
        return Mapping(tuple(k.value for k in keys if isinstance(k, Known)), items[1::2])
    return UNKNOWN


def _append(evaluator: Evaluator, items: AbstractValue, item: AbstractValue) -> AbstractValue:
    match items:
        case Sequence(_, known_items):
            return Sequence(list, (*known_items, item))
        case ListOf(old):
            return ListOf(join(widen_known(old), widen_known(item), evaluator.facts))
        case _:
            return UNKNOWN


def _set_item(evaluator: Evaluator, items: AbstractValue, key: AbstractValue, item: AbstractValue) -> AbstractValue:
    return _with_item(evaluator, items, item) if not isinstance(key, Sequence) else UNKNOWN


def _with_item(evaluator: Evaluator, items: AbstractValue, item: AbstractValue) -> AbstractValue:
    """A list with one more kind of item."""
    match items:
        case Sequence(_, known_items):
            return ListOf(join_all([*known_items, item], evaluator.facts))
        case ListOf(old):
            return ListOf(join(widen_known(old), widen_known(item), evaluator.facts))
        case _:
            return UNKNOWN


def _set_items(
    evaluator: Evaluator, items: AbstractValue, places: AbstractValue, values: AbstractValue
) -> AbstractValue:
    if isinstance(values, ListOf):
        return _with_item(evaluator, items, values.item)
    if isinstance(values, Sequence) and values.items:
        return _with_item(evaluator, items, join_all(list(values.items), evaluator.facts))
    return ListOf(UNKNOWN)


def _updated(evaluator: Evaluator, a: AbstractValue, *others: AbstractValue) -> AbstractValue | None:
    """An array with other elements."""
    return a if isinstance(a, Array) else None


def _put(evaluator: Evaluator, mapping: AbstractValue, key: AbstractValue, value: AbstractValue) -> AbstractValue:
    if isinstance(mapping, Mapping) and isinstance(key, Known) and is_hashable(key.value):
        entries = dict(zip(mapping.keys, mapping.items, strict=True)) | {key.value: value}
        return Mapping(tuple(entries), tuple(entries.values()))
    return UNKNOWN


def _contains(evaluator: Evaluator, item: AbstractValue, container: AbstractValue) -> AbstractValue:
    if isinstance(item, Known) and is_hashable(item.value):
        if isinstance(container, Mapping):
            return known(item.value in container.keys)
        if isinstance(container, Sequence):
            answers = [_may_equal(item.value, i) for i in container.items]
            if True in answers or None not in answers:
                return known(True in answers)
        if isinstance(container, Known) and type(container.value) is type(item.value) is str:
            return known(item.value in container.value)
        if isinstance(container, Known) and type(container.value) in (tuple, frozenset):
            return answer(_are_among(item.value, container.value))
        if isinstance(container, Known) and issubclass(type(container.value), enum.Flag):
            return _is_in_flags(item.value, container.value)
    return Scalar(bool)


def _is_in_flags(item: Any, flags: enum.Flag) -> AbstractValue:
    """Whether flags have another one; not known where foreign code answers."""
    try:
        return known(bool(call_pure(operator.contains, (plain(flags), plain(item)))))
    except Exception:  # what it raises is raised when the program runs
        return Scalar(bool)


def _are_among(value: Any, items: Any) -> bool | None:
    """Whether a known container has an item; None where foreign code compares."""
    answers = [equal(value, item) for item in items]
    return True if True in answers else None if None in answers else False


def _may_equal(value: Any, other: AbstractValue) -> bool | None:
    """Whether a known value equals another one; None where that is not known."""
    if isinstance(other, Known):
        return equal(value, other.value)
    if is_number(other) and (value is None or isinstance(value, (str, type))):
        return False
    return None


def _not_in(evaluator: Evaluator, item: AbstractValue, container: AbstractValue) -> AbstractValue:
    found = _contains(evaluator, item, container)
    return known(not found.value) if isinstance(found, Known) else found


CONTENTS: dict[Any, Callable[..., AbstractValue | None]] = {
    operator.getitem: item_of,
    ops.make_tuple: _sequence(tuple),
    ops.make_list: _sequence(list),
    ops.make_dict: _dict,
    ops.append: _append,
    ops.put: _put,
    rt.set_item: _set_item,
    rt.set_items: _set_items,
    rt.picked: item_of,
    rt.updated: _updated,
    rt.increased: _updated,
    ops.contains: _contains,
    ops.not_in: _not_in,
    ops.unpack: _unpack,
    slice: _slice,
    range: _range,
    list: _as_list(list),
    tuple: _as_list(tuple),
    dict.get: _get,
    dict.keys: _view(lambda d: d.key),
    dict.values: _view(lambda d: d.item),
    dict.items: _view(lambda d: Sequence(tuple, (d.key, d.item))),
}
