"""Functions whose results are worked out by what they mean: containers, indices, lengths, questions about types.

``SPECIAL`` has for each a function from the abstract values of the arguments to that of the result; one that gives None
leaves the call to the other ways of the evaluator.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from s2s import runtime as rt
from s2s.analysis.abstract.folding import call_pure
from s2s.analysis.abstract.lattice import (
    dtype_of,
    is_number,
    join,
    join_all,
    known,
    length_of,
    rank,
    shape_of,
    truth,
    type_of,
    widen_known,
)
from s2s.analysis.abstract.numbers import ANY_FLOAT, ANY_REAL, is_exact, possible_types
from s2s.analysis.abstract.shapes import index_shape, product
from s2s.core import ops
from s2s.core.const import is_hashable
from s2s.core.inspection import equal, has_length, is_foreign, look_up
from s2s.core.values import (
    UNKNOWN,
    AbstractValue,
    Array,
    Closure,
    Dim,
    Known,
    ListOf,
    Mapping,
    Range,
    Scalar,
    Sequence,
    Unknown,
)
from s2s.runtime import directions
from s2s.versions.facts import has, subclass

if TYPE_CHECKING:
    from s2s.analysis.abstract.evaluate import Evaluator

__all__ = ["SPECIAL"]


# --- questions about types and values -------------------------------------------------------------------------------


def _isinstance(evaluator: Evaluator, value: AbstractValue, kinds: AbstractValue) -> AbstractValue | None:
    kind = type_of(value)
    if isinstance(kinds, Sequence) and all(isinstance(i, Known) for i in kinds.items):
        kinds = known(tuple(i.value for i in kinds.items))  # type: ignore[union-attr]
    if not isinstance(kinds, Known):
        return Scalar(bool)
    if isinstance(value, Scalar):
        answers = {evaluator.fold(subclass(k, kinds.value)) for k in possible_types(value.type)}
        return _answer(answers.pop() if len(answers) == 1 else None)
    if kind is None and _names_model(kinds.value):
        return known(False)  # an object of a model is on the heap: its class is known
    return _answer(None if kind is None else evaluator.fold(subclass(kind, kinds.value)))


def _answer(found: bool | None) -> AbstractValue:
    return Scalar(bool) if found is None else known(found)


def _issubclass(evaluator: Evaluator, kind: AbstractValue, kinds: AbstractValue) -> AbstractValue | None:
    if isinstance(kinds, Sequence) and all(isinstance(i, Known) for i in kinds.items):
        kinds = known(tuple(i.value for i in kinds.items))  # type: ignore[union-attr]
    if not isinstance(kind, Known) or not isinstance(kinds, Known) or not issubclass(type(kind.value), type):
        return Scalar(bool)
    try:
        return _answer(evaluator.fold(subclass(kind.value, kinds.value)))
    except TypeError:
        return Scalar(bool)


def _names_model(kinds: Any) -> bool:
    """Whether one of the classes stands for a class of a library. What is not known is then none of them."""
    given = kinds if isinstance(kinds, tuple) else (kinds,)
    return any(str(look_up(kind, "__module__", "")).startswith("s2s.models.") for kind in given)


def _type(evaluator: Evaluator, value: AbstractValue) -> AbstractValue | None:
    kind = type_of(value)
    return UNKNOWN if kind is None else known(kind)


def _is(evaluator: Evaluator, a: AbstractValue, b: AbstractValue) -> AbstractValue | None:
    if isinstance(a, Known) and isinstance(b, Known):
        return known(a.value is b.value)
    for one, other in ((a, b), (b, a)):
        if isinstance(one, Known) and one.value is None and not isinstance(other, Unknown):
            return known(False)
    return Scalar(bool)


def _is_not(evaluator: Evaluator, a: AbstractValue, b: AbstractValue) -> AbstractValue | None:
    found = _is(evaluator, a, b)
    return known(not found.value) if isinstance(found, Known) else found


def _not(evaluator: Evaluator, a: AbstractValue) -> AbstractValue | None:
    found = truth(a)
    return Scalar(bool) if found is None else known(not found)


def _is_complex(evaluator: Evaluator, value: AbstractValue) -> AbstractValue | None:
    kind = type_of(value)
    if isinstance(value, Array):
        return known(value.dtype.kind == "c")
    if value in (ANY_FLOAT, ANY_REAL):
        return known(False)
    if isinstance(value, Known):
        return known(np.iscomplexobj(value.value)) if _is_plain(value.value) else None
    return known(issubclass(kind, (complex, np.complexfloating))) if kind is not None else Scalar(bool)


def _is_real(evaluator: Evaluator, value: AbstractValue) -> AbstractValue | None:
    found = _is_complex(evaluator, value)
    return known(not found.value) if isinstance(found, Known) else found


def _is_scalar(evaluator: Evaluator, value: AbstractValue) -> AbstractValue | None:
    if is_number(value):
        return known(True)
    return known(False) if isinstance(value, (Array, Sequence, Mapping, ListOf)) else Scalar(bool)


def _iterable(evaluator: Evaluator, value: AbstractValue) -> AbstractValue | None:
    shape = shape_of(value)
    if shape is not None:
        return known(bool(shape))
    if isinstance(value, Sequence):
        return known(value.type is not slice)
    return known(True) if isinstance(value, (Mapping, ListOf, Range)) else Scalar(bool)


def _hasattr(evaluator: Evaluator, value: AbstractValue, name: AbstractValue) -> AbstractValue | None:
    """Known where every type that the value may have answers alike."""
    if not isinstance(name, Known) or not isinstance(name.value, str):
        return Scalar(bool)
    if isinstance(value, Known):
        answers = {_has_plainly(value.value, name.value)}
    elif isinstance(value, Scalar):
        answers = {hasattr(kind, name.value) for kind in possible_types(value.type)}
    else:
        kind = type_of(value)
        answers = {None if kind is None else evaluator.fold(has(kind, name.value))}
    answer = answers.pop()
    return Scalar(bool) if answers or answer is None else known(answer)


def _has_plainly(value: Any, name: str) -> bool | None:
    """Whether a plain value of Python or NumPy has an attribute, which nobody adds or takes away; None for any other
    object."""
    return hasattr(value, name) if _is_plain(value) else None


def _is_plain(value: Any) -> bool:
    return issubclass(type(value), _PLAIN) and not is_foreign(type(value))


_PLAIN = (int, float, complex, str, bytes, tuple, list, dict, range, type(None), np.generic, np.ndarray, np.dtype)


def _callable(evaluator: Evaluator, value: AbstractValue) -> AbstractValue:
    if isinstance(value, Closure):
        return known(True)
    if isinstance(value, Known):
        return known(callable(value.value))
    return known(False) if isinstance(value, (Scalar, Array, Sequence, Mapping, ListOf, Range)) else Scalar(bool)


def _boolean(evaluator: Evaluator, *args: AbstractValue) -> AbstractValue:
    return Scalar(bool)


def _formatted(evaluator: Evaluator, *args: AbstractValue) -> AbstractValue:
    """A part of an f-string: a known text or integer."""
    if all(isinstance(a, Known) and type(a.value) in (str, int) for a in args):
        try:
            return known(call_pure(ops.format_value, [a.value for a in args if isinstance(a, Known)]))
        except Exception:  # it raises again when the program runs
            return UNKNOWN
    return UNKNOWN


def _text(evaluator: Evaluator, *parts: AbstractValue) -> AbstractValue:
    if all(isinstance(p, Known) and type(p.value) is str for p in parts):
        return known(ops.format_string(*(p.value for p in parts if isinstance(p, Known))))
    return UNKNOWN


# --- numbers --------------------------------------------------------------------------------------------------------


def _to(kind: type) -> Callable[..., AbstractValue]:
    def result(evaluator: Evaluator, *args: AbstractValue) -> AbstractValue:
        if kind is int and len(args) == 1 and isinstance(args[0], Scalar) and args[0].type is int:
            return args[0]
        if kind in (int, bool) and len(args) == 1 and isinstance(args[0], Known) and type(args[0].value) in (int, bool):
            return known(kind(args[0].value))
        return Scalar(kind)

    return result


def _extreme(fn: Any) -> Callable[..., AbstractValue | None]:
    def result(evaluator: Evaluator, *args: AbstractValue) -> AbstractValue | None:
        items = args[0].items if len(args) == 1 and isinstance(args[0], Sequence) else args if len(args) > 1 else ()
        if items and all(isinstance(i, Known) and type(i.value) is int for i in items):
            return known(fn(i.value for i in items if isinstance(i, Known)))
        return _number_extreme(evaluator, *args)

    return result


def _number_extreme(evaluator: Evaluator, *args: AbstractValue) -> AbstractValue | None:
    if len(args) > 1 and all(is_number(a) for a in args):
        return join_all(args, evaluator.facts)
    if len(args) == 1 and isinstance(args[0], Sequence) and all(is_number(a) for a in args[0].items):
        return join_all(args[0].items, evaluator.facts)
    if len(args) == 1 and isinstance(args[0], Array) and rank(args[0]) == 1:
        return Scalar(args[0].dtype.type)
    if len(args) == 1 and isinstance(args[0], ListOf) and is_number(args[0].item):
        return args[0].item
    return UNKNOWN


def _round(evaluator: Evaluator, value: AbstractValue, digits: AbstractValue | None = None) -> AbstractValue | None:
    if isinstance(value, Scalar) and is_exact(value.type) and issubclass(value.type, (float, np.floating)):
        return Scalar(int) if digits in (None, known(None)) else value if isinstance(digits, Scalar) or (
            isinstance(digits, Known) and isinstance(digits.value, int)) else UNKNOWN
    return UNKNOWN


# --- lengths and shapes ---------------------------------------------------------------------------------------------


def _length(evaluator: Evaluator, value: AbstractValue) -> AbstractValue | None:
    match value:
        case Known() if has_length(value.value):
            return known(len(value.value))
        case Sequence(_, items) | Mapping(_, items):
            return known(len(items))
        case Array(_, shape) if shape:
            return known(shape[0].offset) if shape[0].is_constant else Scalar(int, shape[0])
        case _:
            return Scalar(int)


def _attribute(
    evaluator: Evaluator, value: AbstractValue, name: AbstractValue, default: AbstractValue | None = None
) -> AbstractValue | None:
    """An attribute; a ``default`` makes no difference where NumPy's numbers and arrays have the attribute, and nothing
    is said about others."""
    if not isinstance(name, Known):
        return UNKNOWN
    shape = shape_of(value)
    dtype = dtype_of(value)
    if not isinstance(value, (Array, Scalar)) or (isinstance(value, Scalar) and dtype is None):
        return UNKNOWN
    match name.value:
        case "dtype":
            return known(dtype)
        case "ndim" if shape is not None:
            return known(len(shape))
        case "shape" if shape is not None:
            return _lengths(shape)
        case "size":
            count = product(shape) if shape is not None else None
            return Scalar(int, count) if count is not None and count.symbol else Scalar(int)
        case "T" if shape is not None and isinstance(value, Array):
            return Array(value.dtype, shape[::-1])
        case "mT" if shape is not None and len(shape) > 1 and isinstance(value, Array):
            return Array(value.dtype, (*shape[:-2], shape[-1], shape[-2]))
        case "real" | "imag":
            return evaluator.elementwise(np.real if name.value == "real" else np.imag, (value,))
        case _:
            return UNKNOWN


def _shape_call(evaluator: Evaluator, value: AbstractValue) -> AbstractValue | None:
    shape = shape_of(value)
    return None if shape is None else _lengths(shape)


def _lengths(shape: tuple[Dim, ...]) -> AbstractValue:
    """A shape as the program reads it: a tuple of ints."""
    return Sequence(tuple, tuple(known(d.offset) if d.is_constant else Scalar(int, d) for d in shape))


def _ndim_call(evaluator: Evaluator, value: AbstractValue) -> AbstractValue | None:
    found = rank(value)
    return None if found is None else known(found)


def _size_call(
    evaluator: Evaluator, value: AbstractValue, axis: AbstractValue | None = None
) -> AbstractValue | None:
    if axis not in (None, known(None)):
        return Scalar(int)
    if is_number(value):
        return known(1)
    return _attribute(evaluator, value, known("size")) if isinstance(value, Array) else Scalar(int)


def _reshape(evaluator: Evaluator, value: AbstractValue, *lengths: AbstractValue) -> AbstractValue | None:
    shape = shape_of(value)
    if len(lengths) == 2 and isinstance(lengths[1], Known) and isinstance(lengths[1].value, str):
        lengths = lengths[:1]  # the order in which the items are read says nothing of the lengths
    if len(lengths) == 1 and isinstance(lengths[0], Sequence):
        lengths = lengths[0].items
    if shape is None or not isinstance(value, Array):
        return UNKNOWN
    dims = [length_of(n) for n in lengths]
    if not all(isinstance(n, Scalar) or (isinstance(n, Known) and type(n.value) is int) for n in lengths):
        return UNKNOWN
    given = [d for d in dims if d is not None and d != Dim("", -1)]
    left = list(shape)
    for d in given:
        if d in left:
            left.remove(d)
    rest = product(tuple(left)) if all(d in shape or d == Dim("", 1) for d in given) else None
    missing = rest or evaluator.facts.fresh_dim()
    return Array(value.dtype, tuple(
        evaluator.facts.fresh_dim() if d is None else missing if d == Dim("", -1) else d for d in dims))


def _broadcast_to(
    evaluator: Evaluator, value: AbstractValue, shape: AbstractValue, subok: AbstractValue | None = None
) -> AbstractValue | None:
    """An array of the lengths that are given, known or not."""
    lengths = shape.items if isinstance(shape, Sequence) and shape.type is tuple else ()
    dims = [length_of(n) for n in lengths]
    if all(d is not None for d in dims) or not all(isinstance(n, (Scalar, Known)) for n in lengths):
        return None
    fresh = evaluator.facts.fresh_dim
    dtype = dtype_of(value)
    return None if dtype is None else Array(dtype, tuple(fresh() if d is None else d for d in dims))


def _flat(evaluator: Evaluator, value: AbstractValue, *order: AbstractValue) -> AbstractValue | None:
    shape = shape_of(value)
    if shape is None or not isinstance(value, Array):
        return None
    return Array(value.dtype, (product(shape) or evaluator.facts.fresh_dim(),))


def _split(along: int | None, equal: bool = True) -> Callable[..., AbstractValue | None]:
    """The parts of an array that is split into a known number of them."""

    def result(
        evaluator: Evaluator, value: AbstractValue, number: AbstractValue, axis: AbstractValue | None = None
    ) -> AbstractValue | None:
        count = _parts_of(number)
        place = along if axis is None else axis.value if isinstance(axis, Known) else None
        if isinstance(value, ListOf):
            return UNKNOWN
        if not isinstance(value, Array) or not value.shape or type(count) is not int or type(place) is not int:
            return None
        place = 0 if along == 1 and len(value.shape) == 1 else place
        if not -len(value.shape) <= place < len(value.shape) or value.shape[place].is_constant:
            return None
        fresh = evaluator.facts.fresh_dim
        is_even = equal and isinstance(number, Known) and type(number.value) is int
        lengths = [fresh()] * count if is_even else [fresh() for _ in range(count)]
        shapes = [[*value.shape] for _ in lengths]
        for shape, length in zip(shapes, lengths, strict=True):
            shape[place] = length
        return Sequence(list, tuple(Array(value.dtype, tuple(shape)) for shape in shapes))

    return result


def _parts_of(number: AbstractValue) -> int | None:
    """How many parts an array is split into: a number of them, or at places, which may lie beyond its end."""
    if isinstance(number, Known):
        given = number.value
        return given if type(given) is int else len(given) + 1 if isinstance(given, (tuple, range)) else None
    return len(number.items) + 1 if isinstance(number, Sequence) and number.type in (tuple, list) else None


# --- items ----------------------------------------------------------------------------------------------------------


def _item(evaluator: Evaluator, value: AbstractValue, index: AbstractValue) -> AbstractValue | None:
    match value, index:
        case Sequence(kind, items), Known() if isinstance(index.value, int) and kind is not slice:
            return items[index.value] if -len(items) <= index.value < len(items) else UNKNOWN
        case Sequence(kind, items), Known() if isinstance(index.value, slice):
            return Sequence(kind, tuple(items[index.value]))
        case Sequence(_, items), Scalar() if items:
            return join_all([*items], evaluator.facts)
        case ListOf(item), (Scalar() | Known()):
            return item if not (isinstance(index, Known) and isinstance(index.value, slice)) else value
        case Known(), Known() if isinstance(value.value, (str, bytes)) and isinstance(index.value, (int, slice)):
            text, at = value.value, index.value
            if is_foreign(type(text)) or is_foreign(type(at)):
                return UNKNOWN
            return known(text[at]) if isinstance(at, slice) or -len(text) <= at < len(text) else UNKNOWN
        case Mapping(keys, items), Known():
            return items[keys.index(index.value)] if index.value in keys else UNKNOWN
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
            item = _item(evaluator, value, Scalar(int)) or UNKNOWN
        case ListOf(inner):
            item = inner
        case Range():
            item = Scalar(int)
        case _:
            item = UNKNOWN
    if after.value is None:
        return Sequence(tuple, (item,) * before.value)
    return Sequence(tuple, (*((item,) * before.value), ListOf(item), *((item,) * after.value)))


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
            case Array(_, shape) if shape and kind is tuple and shape[0].is_constant and shape[0].offset <= 8:
                return Sequence(tuple, (_item(evaluator, args[0], Scalar(int)) or UNKNOWN,) * shape[0].offset)
            case Array(_, shape) if shape and kind is list:
                return ListOf(_item(evaluator, args[0], Scalar(int)) or UNKNOWN)
            case Range() if kind is list:
                return ListOf(Scalar(int))
            case _:
                return UNKNOWN

    return result


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
            return _answer(_are_among(item.value, container.value))
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


# --- the table ------------------------------------------------------------------------------------------------------

def _cotangent_of(place: int) -> Callable[..., AbstractValue | None]:
    """The cotangent of the argument at a place, which is of its kind: of arrays, and containers of them."""

    def found(evaluator: Evaluator, *args: AbstractValue) -> AbstractValue | None:
        return args[place] if len(args) > place and _holds_arrays(args[place]) else None

    return found


def _direction(evaluator: Evaluator, value: AbstractValue, number: AbstractValue) -> AbstractValue | None:
    """One of the directions of a tangent: its arrays without their last dimension."""
    match value:
        case Array():
            return _item(evaluator, value, Sequence(tuple, (known(...), number)))
        case Sequence(kind, items) if kind in (tuple, list):
            made = [_direction(evaluator, item, number) for item in items]
            return Sequence(kind, tuple(UNKNOWN if m is None else m for m in made))
        case _:
            return None


def _histogramdd(evaluator: Evaluator, *args: AbstractValue) -> AbstractValue:
    """The counts, of as many dimensions as points have coordinates, and the edges in each: by an example of points with
    two coordinates, where it is not known how many they have."""
    points, *rest = args
    if not isinstance(points, Array) or points.shape is None or len(points.shape) != 2:
        return UNKNOWN
    columns = points.shape[1]
    if columns.is_constant:
        return evaluator.probe(np.histogramdd, args, {}) if columns.offset <= 4 else UNKNOWN
    two = Array(points.dtype, (points.shape[0], Dim("", 2)))
    found = evaluator.probe(np.histogramdd, (two, *rest), {})
    if not isinstance(found, Sequence) or not isinstance(found.items[0], Array):
        return UNKNOWN
    edges = found.items[1].items if isinstance(found.items[1], Sequence) else ()
    known = ListOf(join_all(list(edges), evaluator.facts)) if edges else UNKNOWN
    return Sequence(tuple, (Array(found.items[0].dtype, None), known))


def _zeros_of(evaluator: Evaluator, value: AbstractValue) -> AbstractValue | None:
    """Zeros are of the kind of what they are the cotangent of."""
    return widen_known(value) if _holds_floats(widen_known(value)) else None


def _holds_floats(value: AbstractValue) -> bool:
    match value:
        case Array(dtype):
            return dtype.kind in "fc"
        case Scalar(kind):
            return issubclass(kind, (float, complex, np.inexact)) and is_exact(kind)
        case ListOf(item):
            return _holds_floats(item)
        case Sequence(kind, items) if kind in (list, tuple):
            return all(map(_holds_floats, items))
        case _:
            return False


def _holds_arrays(value: AbstractValue) -> bool:
    match value:
        case Array(dtype, shape):
            return dtype.kind in "fc" and bool(shape)
        case ListOf(item):
            return _holds_arrays(item)
        case Sequence(kind, items) if kind in (list, tuple):
            return all(map(_holds_arrays, items))
        case _:
            return False


SPECIAL: dict[Any, Callable[..., AbstractValue | None]] = {
    len: _length,
    getattr: _attribute,
    operator.getitem: _item,
    isinstance: _isinstance,
    issubclass: _issubclass,
    type: _type,
    operator.is_: _is,
    operator.is_not: _is_not,
    operator.not_: _not,
    float: _to(float),
    int: _to(int),
    bool: _to(bool),
    complex: _to(complex),
    callable: _callable,
    hasattr: _hasattr,
    ops.make_tuple: _sequence(tuple),
    ops.make_list: _sequence(list),
    ops.make_dict: _dict,
    ops.append: _append,
    ops.put: _put,
    rt.set_item: _set_item,
    rt.set_items: _set_items,
    ops.contains: _contains,
    ops.not_in: _not_in,
    ops.unpack: _unpack,
    ops.format_string: _text,
    ops.format_value: _formatted,
    slice: _slice,
    range: _range,
    max: _extreme(max),
    min: _extreme(min),
    round: _round,
    list: _as_list(list),
    tuple: _as_list(tuple),
    np.shape: _shape_call,
    np.reshape: _reshape,
    np.ndarray.reshape: _reshape,
    np.broadcast_to: _broadcast_to,
    np.ravel: _flat,
    np.ndarray.ravel: _flat,
    np.ndarray.flatten: _flat,
    np.split: _split(0),
    np.array_split: _split(0, equal=False),
    np.vsplit: _split(0),
    np.hsplit: _split(1),
    np.dsplit: _split(2),
    np.iscomplexobj: _is_complex,
    np.isrealobj: _is_real,
    np.isscalar: _is_scalar,
    np.iterable: _iterable,
    np.ndim: _ndim_call,
    np.size: _size_call,
    np.histogramdd: _histogramdd,
    rt.zeros_of: _zeros_of,
    directions.one: _direction,
    rt.unbroadcast: _cotangent_of(1),
    rt.item_bar: _cotangent_of(0),
    rt.unstack_like: _cotangent_of(1),
    rt.mirror: _cotangent_of(1),
    rt.split_like: _cotangent_of(1),
    math.floor: _to(int),
    math.ceil: _to(int),
    math.trunc: _to(int),
}
