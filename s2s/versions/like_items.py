"""The items of a container in, what they have in common out: a container of like items is data, whose length is no
part of a version.

    [(W0, b0), (W1, b1), ...]      ->      ListOf(Sequence(tuple, (Array(float64, ...), Array(float64, ...))))
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection
from typing import Any, Protocol

import numpy as np

from s2s.core.values import (
    UNKNOWN,
    AbstractValue,
    Array,
    DictOf,
    Dim,
    IterableOf,
    ListOf,
    Mapping,
    Scalar,
    Sequence,
    Unknown,
    has_keys,
    is_record_class,
)

__all__ = ["FEW", "KEY_TYPES", "MANY", "NUMBERS", "Lengths", "Sizes", "alike", "are_items_of", "test_of"]

NUMBERS = (float, int, complex)
KEY_TYPES = (str, int, bool, bytes, type(None))

MANY = 64
"""A list with more items than this is a ListOf, where its items are alike."""

FEW = 3
"""A list with no more items than this is a structure: a shape, a pair of bounds, the terms of a formula."""

SEVERAL = 32
"""A list with more items than this is a ListOf wherever another form can take its place (``Lengths``)."""

_DEEPEST = 3
"""Containers are looked at no deeper in the items of a list."""

_COLUMNS = 8
"""Tuples of more parts than this are no items that are alike."""


class Sizes(Protocol):
    """Says which containers of like items are data."""

    def is_data(self, name: str, found: list[Any] | tuple[Any, ...] | dict[Any, Any]) -> bool:
        """Whether a container is data, by the place where it is."""


class Lengths:
    """Which lists that calls come with are data, of which there may be any number, and not structures of a fixed
    meaning: those that have come with two lengths at one place, and those of more than SEVERAL items."""

    def __init__(self) -> None:
        self._first: dict[str, Any] = {}
        self.found = False
        """Whether one was found since this was last set."""

    def is_data(self, name: str, found: list[Any] | tuple[Any, ...] | dict[Any, Any]) -> bool:
        """Whether a container is data, by the place where it is in the arguments. A tuple is so only after a
        second length."""
        if len(found) <= FEW:
            return False
        outline = tuple(found) if type(found) is dict else len(found)
        items, several = found.values() if isinstance(found, dict) else found, SEVERAL
        if type(next(iter(items))) is list:  # neighbours of each node
            lengths = [len(item) if type(item) is list else 1 for item in items]
            outline, several = (outline, lengths), SEVERAL + len(found) - sum(lengths)
        if self._first.setdefault(name, outline) == outline and (len(found) <= several or type(found) is tuple):
            return False
        self.found = True
        return True


def alike(items: list[Any], first: str | None, other: str, depth: int = 0) -> AbstractValue | None:
    """What holds of each of the items of a list, None where they are of several kinds; UNKNOWN of strings. A length
    that all have is named after the ``first`` item, where there certainly is one; another begins as ``other``: it may
    be any."""
    kinds = {*map(type, items)}
    kind = kinds.pop() if items else object
    if kinds:
        return None
    if kind in NUMBERS or kind is bool or (
        issubclass(kind, np.generic) and kind.__module__ == "numpy" and items[0].dtype.kind in "biufc"
    ):
        return Scalar(kind)
    if kind is str:
        return UNKNOWN
    if kind is np.ndarray:
        return _alike_arrays(items, first, other)
    if depth == _DEEPEST:
        return None
    if kind is list:
        item = alike([part for item in items for part in item], None, f"{other}[]", depth + 1)
        return None if item is None else ListOf(item)
    if kind is dict:
        keys = tuple(items[0])
        if not all(type(k) in KEY_TYPES for k in keys) or not all(has_keys(item, keys) for item in items):
            return None
    elif (kind is tuple or is_record_class(kind)) and {*map(len, items)} == {len(items[0])}:
        keys = tuple(range(len(items[0])))
    else:
        return None
    if not 0 < len(keys) <= _COLUMNS:
        return None
    parts = [
        alike([item[k] for item in items], first and f"{first}[{k!r}]", f"{other}[{k!r}]", depth + 1) for k in keys
    ]
    found = tuple(part for part in parts if part is not None)
    if len(found) < len(parts):
        return None
    return Mapping(keys, found) if kind is dict else Sequence(kind, found)


def _alike_arrays(items: list[np.ndarray[Any, Any]], first: str | None, other: str) -> AbstractValue | None:
    dtype, shapes = items[0].dtype, {item.shape for item in items}
    if {item.dtype for item in items} != {dtype} or len({*map(len, shapes)}) > 1:
        return None
    if dtype.kind not in "biufc" or () in shapes:  # with rank 0 a sum is a number
        return None
    dims = []
    for axis in range(items[0].ndim):
        sizes = {shape[axis] for shape in shapes}
        is_one = len(sizes) == 1 and first is not None
        dims.append(Dim(f"{other}.{axis}") if not is_one else Dim("", 1) if 1 in sizes else Dim(f"{first}.{axis}"))
    return Array(dtype, tuple(dims))


def _are_like(item: AbstractValue, items: Collection[Any]) -> bool:
    """Whether each of the items of a container has this abstract value."""
    match item:
        case Scalar(kind):
            return {*map(type, items)} == {kind}
        case Unknown():
            return {*map(type, items)} == {str}
        case Array(dtype, shape):
            if {*map(type, items)} != {np.ndarray} or {a.dtype for a in items} != {dtype}:
                return False
            return shape is None or _have_shape(shape, {a.shape for a in items})
        case Sequence(kind, parts):
            return {*map(type, items)} == {kind} and {*map(len, items)} == {len(parts)} and all(
                _are_like(part, [i[k] for i in items]) for k, part in enumerate(parts))
        case Mapping(keys, parts):
            return {*map(type, items)} == {dict} and all(has_keys(i, keys) for i in items) and all(
                _are_like(part, [i[k] for i in items]) for k, part in zip(keys, parts, strict=True))
        case ListOf(inner):
            return {*map(type, items)} == {list} and _are_like(inner, [part for i in items for part in i])
        case _:
            return False


def are_items_of(aval: IterableOf | DictOf, found: Any) -> bool:
    """Whether an object is a container of more than FEW items that are all as an ``IterableOf`` or ``DictOf`` says."""
    items: Any = found
    match aval:
        case IterableOf(kind, item):
            return type(found) is kind and len(items) > FEW and _are_like(item, items)
        case DictOf(known, item):
            return type(found) is dict and len(items) > FEW and _are_like(known, items) and _are_like(
                item, items.values())


def _have_shape(shape: tuple[Dim, ...], found: set[tuple[int, ...]]) -> bool:
    if {*map(len, found)} != {len(shape)}:
        return False
    for axis, dim in enumerate(shape):
        sizes = {size[axis] for size in found}
        if dim.symbol.startswith("?"):
            continue
        if len(sizes) != 1 or (sizes != {dim.offset} if dim.is_constant else 1 in sizes):
            return False
    return True


@functools.lru_cache(512)
def test_of(item: AbstractValue) -> Callable[[Collection[Any]], bool]:
    """The test that each of the items of a container has this abstract value, the same function for the same one."""
    return functools.partial(_are_like, item)
