"""What abstract values say, and what is left of two where a variable holds one or the other."""

from __future__ import annotations

from collections.abc import Sequence as AbstractSequence
from typing import Any

import numpy as np

from s2s.analysis.abstract.numbers import ANY_FLOAT, is_exact, of_types, possible_types
from s2s.analysis.abstract.shapes import Facts
from s2s.core import inspection, ir
from s2s.core.array_classes import compiled_for
from s2s.core.closures import Closure
from s2s.core.values import (
    UNKNOWN,
    AbstractValue,
    Array,
    DictOf,
    Dim,
    IterableOf,
    Known,
    ListOf,
    Mapping,
    NoItem,
    Range,
    Scalar,
    Sequence,
)

__all__ = [
    "are_equal", "dtype_of", "is_number", "join", "join_all", "known", "length_of", "lengths_of", "rank", "shape_of",
    "truth", "type_of", "widen_known",
]


def known(value: Any) -> Known:
    """The abstract value of an object that is known."""
    return Known(ir.Const(value))


# --- questions ------------------------------------------------------------------------------------------------------


def is_number(value: AbstractValue) -> bool:
    """Whether it is certainly a scalar number (no array, no container)."""
    return isinstance(value, Scalar) or (
        isinstance(value, Known) and isinstance(value.value, (int, float, complex, np.number))
    )


def rank(value: AbstractValue) -> int | None:
    """The number of dimensions, where it is known."""
    if is_number(value):
        return 0
    if isinstance(value, Array) and value.shape is not None:
        return len(value.shape)
    return None


def shape_of(value: AbstractValue) -> tuple[Dim, ...] | None:
    """The symbolic shape, where the rank is known."""
    if isinstance(value, Array):
        return value.shape
    return () if is_number(value) else None


def type_of(value: AbstractValue) -> type | None:
    """The exact type, where it is known."""
    match value:
        case Known():
            return type(value.value)
        case Scalar(kind) if is_exact(kind):
            return kind
        case Array():
            return np.ndarray
        case Sequence(kind):
            return kind
        case Mapping():
            return dict
        case ListOf():
            return list
        case DictOf():
            return dict
        case IterableOf(kind):
            return kind
        case Range():
            return range
        case _:
            return None


def is_float(value: AbstractValue) -> bool:
    """Whether it is certainly a real or complex number of floating point, or an array of these."""
    match value:
        case Known():
            return isinstance(value.value, (float, complex, np.inexact))
        case Scalar(kind):
            return value == ANY_FLOAT or (is_exact(kind) and issubclass(kind, (float, complex, np.inexact)))
        case Array(dtype):
            return dtype.kind in "fc"
        case _:
            return False


def may_be_of_python(value: AbstractValue, *kinds: type) -> bool:
    """Whether it may be one of Python's numbers (of these kinds, where any are named): their arithmetic raises where
    that of NumPy's gives an infinite result."""
    match value:
        case Array():
            return False
        case Scalar(kind):
            found = [k for k in possible_types(kind) if not issubclass(k, np.generic)]
            return any(issubclass(k, kinds) for k in found) if kinds else bool(found)
        case Known():
            return not isinstance(value.value, np.generic) and (not kinds or isinstance(value.value, kinds))
        case _:
            return True


def may_be_of_numpy(value: AbstractValue) -> bool:
    """Whether it may, as far as its kind is known, be an array or one of NumPy's numbers."""
    match value:
        case Array():
            return True
        case Scalar(kind):
            return any(issubclass(k, np.generic) for k in possible_types(kind))
        case _:
            return isinstance(value, Known) and isinstance(value.value, (np.ndarray, np.generic))


def dtype_of(value: AbstractValue) -> np.dtype[Any] | None:
    """The dtype that a cotangent of this value must have: None for Python numbers and where it is not known."""
    if isinstance(value, Array):
        return value.dtype
    if isinstance(value, Scalar) and issubclass(value.type, np.generic):
        return np.dtype(value.type)
    return None


def length_of(value: AbstractValue) -> Dim | None:
    if isinstance(value, Scalar) and value.dim is not None:
        return value.dim
    if isinstance(value, Known) and type(value.value) is int:
        return Dim("", value.value)
    return None


def truth(value: AbstractValue) -> bool | None:
    """The truth value, where it is known."""
    match value:
        case Known():
            return inspection.truth(value.value)
        case Sequence(kind, items) if kind in (tuple, list):
            return bool(items)
        case Mapping(keys):
            return bool(keys)
        case Closure():
            return True
        case _:
            return None


_ATOMS = (int, bool, str, bytes, type(None))


def are_equal(a: AbstractValue, b: AbstractValue) -> bool | None:
    """Whether two values of which one is a tuple, list, dict or text are equal, where that is known: of different
    lengths or types they are not, and a container is no number and no text, nor is a number a text."""
    if any(isinstance(x, Scalar) and isinstance(y, Known) and type(y.value) is str for x, y in ((a, b), (b, a))):
        return False
    if not isinstance(a, (Sequence, Mapping)):
        a, b = b, a
    if isinstance(b, Known) and type(b.value) is tuple:
        b = Sequence(tuple, tuple(map(known, b.value)))
    if not isinstance(a, (Sequence, Mapping)) or (isinstance(a, Sequence) and a.type not in (tuple, list)):
        return None
    if isinstance(b, Known) and type(b.value) in (*_ATOMS, float):
        return False
    if isinstance(b, Scalar) and is_exact(b.type) and not issubclass(b.type, np.generic):
        return False
    if not isinstance(a, Sequence) or not isinstance(b, Sequence) or b.type not in (tuple, list):
        return None
    if a.type is not b.type or len(a.items) != len(b.items):
        return False
    answers = [_are_equal_items(i, j) for i, j in zip(a.items, b.items, strict=True)]
    return False if False in answers else True if all(answers) else None


def _are_equal_items(a: AbstractValue, b: AbstractValue) -> bool | None:
    """Whether two items of containers are equal: known ones, and lengths of one symbol (but for those that a join
    made, which stand for any)."""
    if isinstance(a, Known) and isinstance(b, Known):
        if type(a.value) in _ATOMS and type(b.value) in _ATOMS:
            return bool(a.value == b.value)
        return True if a.value is b.value else None
    if isinstance(a, (Sequence, Mapping)) or isinstance(b, (Sequence, Mapping)):
        return are_equal(a, b)
    first, second = length_of(a), length_of(b)
    if first is None or second is None or first.symbol != second.symbol or "?~" in first.symbol:
        return None
    return first.offset == second.offset


# --- joins ----------------------------------------------------------------------------------------------------------


def join(a: AbstractValue, b: AbstractValue, facts: Facts) -> AbstractValue:
    """What is known of a variable that holds one or the other."""
    if a == b:
        return a
    if isinstance(a, Known) and a.const == ir.UNDEFINED:
        return b
    if isinstance(b, Known) and b.const == ir.UNDEFINED:
        return a
    if isinstance(a, NoItem):
        return b
    if isinstance(b, NoItem):
        return a
    if is_number(a) and is_number(b):
        return of_types({v.type if isinstance(v, Scalar) else type(v.value) for v in (a, b)})  # type: ignore[union-attr]
    match a, b:
        case Array(dtype, shape), Array(other, more) if dtype == other:
            if shape is None or more is None or len(shape) != len(more):
                return Array(dtype, None)
            return Array(dtype, tuple(facts.joined(m, n) for m, n in zip(shape, more, strict=True)))
        case (Array(dtype, ()), number) | (number, Array(dtype, ())) if (
            compiled_for() is not np.ndarray and is_number(number)
        ):
            return Array(_dtype_with(dtype, number), ())
        case Sequence(kind, items), Sequence(other_kind, others) if kind is other_kind:
            if len(items) == len(others):
                return Sequence(kind, tuple(join(i, j, facts) for i, j in zip(items, others, strict=True)))
            if kind is list:
                return ListOf(join_all([*items, *others], facts))
        case (ListOf(item), Sequence(kind, items)) | (Sequence(kind, items), ListOf(item)) if kind is list:
            return ListOf(join_all([item, *items], facts))
        case ListOf(item), ListOf(other_item):
            return ListOf(join(item, other_item, facts))
        case Range(), Range():
            return Range()
    return UNKNOWN


def _dtype_with(dtype: np.dtype[Any], number: AbstractValue) -> np.dtype[Any]:
    """The dtype of what is an array of rank 0 or a number, as ``total = 0.0`` is before a loop that adds such arrays to
    it: where NumPy has numbers of its own throughout, other modules have arrays, and a number of Python on the path
    that makes no iteration."""
    kind = number.type if isinstance(number, Scalar) else type(number.value)  # type: ignore[union-attr]
    if not is_exact(kind):
        return dtype
    weak = {bool: False, int: 0, float: 0.0, complex: 0j}.get(kind)
    return np.result_type(dtype, kind if weak is None else weak)


def lengths_of(value: AbstractValue, beginning: str | tuple[str, ...] = "?~") -> frozenset[str]:
    """The symbols of the lengths that joins have made, in a value, or of those that begin otherwise."""
    match value:
        case Array(_, shape):
            return frozenset(d.symbol for d in shape or () if d.symbol.startswith(beginning))
        case Scalar(_, Dim(symbol)) if symbol.startswith(beginning):
            return frozenset({symbol})
        case Sequence(_, items) | Mapping(_, items):
            return frozenset().union(*(lengths_of(i, beginning) for i in items))
        case ListOf(item):
            return lengths_of(item, beginning)
        case _:
            return frozenset()


def join_all(values: AbstractSequence[AbstractValue], facts: Facts) -> AbstractValue:
    """The join of several."""
    if not values:
        return known(ir.UNDEFINED.value)
    first = values[0]
    for value in values[1:]:
        first = join(first, value, facts)
    return widen_known(first)


def widen_known(value: AbstractValue) -> AbstractValue:
    """A known number as a number of its type: what an item of a list or a loop variable becomes. A nested function
    is another one in each iteration."""
    if isinstance(value, Closure):
        return UNKNOWN
    if isinstance(value, Known) and (type(value.value) in (int, float, complex) or isinstance(value.value, np.generic)):
        return Scalar(type(value.value))
    return value
