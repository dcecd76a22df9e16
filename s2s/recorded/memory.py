"""Where an array lies in the memory that it is a view of.

What is known of arrays is known of memory: two arrays are one where they share it. An *owner* is the array that a piece
of memory was made with; a ``Place`` says where a view of it lies. A *shadow* is memory of the same layout, for
cotangents or tangents: the view of it at the same place belongs to the array.
"""

from __future__ import annotations

import weakref
from array import array as TypedArray
from typing import Any

import numpy as np

from s2s.core.record import record
from s2s.errors import error

__all__ = ["Place", "array_at", "copy_of", "new_shadow", "owner_of", "place_in", "positions", "view_at"]

_interface: Any = np.ndarray.__dict__["__array_interface__"].__get__
_base: Any = np.ndarray.__dict__["base"].__get__


@record
class Place:
    """Where an array lies in the memory of its ``owner``, a number. ``overlaps`` says that two of its elements may be
    one, ``is_whole`` that it is all of the memory, element by element and in their order."""

    owner: int
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any]
    overlaps: bool
    is_whole: bool = False


def owner_of(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array with which the memory of one was made."""
    while (base := _base(array)) is not None:
        while isinstance(base, memoryview):
            base = base.obj
        if type(base).__name__ == "DummyArray":  # what `as_strided` makes
            base = base.base
        if isinstance(base, (np.void, TypedArray)):
            return _whole(base)
        if not isinstance(base, np.ndarray):
            return array
        array = base
    return array


_WHOLE: weakref.WeakValueDictionary[int, np.ndarray[Any, Any]] = weakref.WeakValueDictionary()
"""The arrays of objects that have memory of their own and are no arrays; an array keeps its object alive."""


def _whole(value: Any) -> np.ndarray[Any, Any]:
    """The owner of the memory of a record, or of an ``array.array``: always the same array."""
    if isinstance(value, np.void) and value.base is not None:
        return owner_of(value.base) if isinstance(value.base, np.ndarray) else _whole(value.base)
    found = _WHOLE.get(id(value))
    if found is None:
        _WHOLE[id(value)] = found = np.asarray(value)
    return found


def array_at(value: Any) -> np.ndarray[Any, Any]:
    """The array that a record or a ``memoryview`` is a name for: it has the same memory."""
    return np.asarray(value)


def _low_and_high(array: np.ndarray[Any, Any]) -> tuple[int, int]:
    address = low = high = _interface(array)["data"][0]
    for count, stride in zip(array.shape, array.strides):
        if count > 1:
            low, high = low + min(0, (count - 1) * stride), high + max(0, (count - 1) * stride)
    return low, (high + array.itemsize if array.size else address)


def place_in(owner: np.ndarray[Any, Any], array: np.ndarray[Any, Any], number: int = -1) -> Place:
    """The place of an array in the memory of its owner, which has a number.

    Raises UnsupportedSyntaxError where it reads that memory as numbers of another kind.
    """
    if type(array) is np.ndarray and array.flags.c_contiguous and (array is owner or _has_all_of(array, owner)):
        return Place(number, 0, array.shape, array.strides, array.dtype, False, True)
    array, owner = np.ndarray.view(array, np.ndarray), np.ndarray.view(owner, np.ndarray)
    offset = _interface(array)["data"][0] - _low_and_high(owner)[0]
    dtype, whole = array.dtype, owner.dtype
    if dtype != whole and whole.kind == "c" and dtype.kind == "f" and 2 * dtype.itemsize == whole.itemsize:
        if any(n > 1 and s % whole.itemsize for n, s in zip(array.shape, array.strides)):
            raise error("S2S101", construct="a view of complex numbers as pairs of real ones")
    elif dtype != whole and whole.kind in "fc" and array.size:
        raise error("S2S101", construct=f"a view of memory of {whole} as {dtype}")
    return Place(number, offset, array.shape, array.strides, dtype, _overlaps(array))


def _has_all_of(view: np.ndarray[Any, Any], owner: np.ndarray[Any, Any]) -> bool:
    """Whether a contiguous view has all elements of the memory of an owner, in their order."""
    is_like = type(owner) is np.ndarray and view.size == owner.size and view.dtype == owner.dtype
    return is_like and owner.flags.c_contiguous


def _overlaps(array: np.ndarray[Any, Any]) -> bool:
    extent = array.itemsize
    for stride, count in sorted((abs(s), n) for s, n in zip(array.strides, array.shape) if n > 1):
        if stride < extent:
            return True
        extent += stride * (count - 1)
    return False


def new_shadow(owner: np.ndarray[Any, Any] | int) -> np.ndarray[Any, Any]:
    """Zeros in the layout of the memory of an owner, or so many bytes."""
    low, high = (0, owner) if isinstance(owner, int) else _low_and_high(owner)
    return np.zeros(max(1, high - low), np.uint8)


def copy_of(owner: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """What the memory of an owner holds, in its layout; and the elements of that copy, and of the memory, in order."""
    low, high = _low_and_high(owner)
    kept = np.empty(max(1, high - low), np.uint8)
    shape, strides = ((high - low) // max(1, owner.itemsize),), (owner.itemsize,)
    made = np.ndarray(shape, owner.dtype, kept)
    whole = np.lib.stride_tricks.as_strided(_first(owner), shape, strides) if owner.size else made
    made[...] = whole
    return kept, made, whole


def _first(owner: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A view of the element of an array at the lowest address."""
    where = tuple(slice(n - 1, n) if s < 0 else slice(0, 1) for n, s in zip(owner.shape, owner.strides))
    return np.ndarray.view(owner, np.ndarray)[where]


def view_at(memory: np.ndarray[Any, Any], place: Place) -> np.ndarray[Any, Any]:
    """The view of a shadow, or of a copy, at a place."""
    return np.ndarray(place.shape, place.dtype, memory, place.offset, place.strides)


def positions(memory: np.ndarray[Any, Any], place: Place) -> np.ndarray[Any, Any]:
    """For each element at a place its number among all elements of that size in the memory."""
    size = place.dtype.itemsize
    if place.offset % size or any(s % size for n, s in zip(place.shape, place.strides) if n > 1):
        raise error("S2S101", construct="a view of overlapping elements")
    numbers = np.arange(memory.size // size)
    strides = tuple(s // size * numbers.itemsize for s in place.strides)
    return np.ndarray(place.shape, numbers.dtype, numbers, place.offset // size * numbers.itemsize, strides)
