"""Parts of values: which parts of a container have cotangents of their own, and what is known of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias, assert_never

import numpy as np

from s2s.core.closures import Closure
from s2s.core.values import (
    UNKNOWN,
    AbstractValue,
    Array,
    DictOf,
    Instance,
    IterableOf,
    Known,
    ListOf,
    Mapping,
    Object,
    Range,
    Ref,
    Same,
    Scalar,
    Sequence,
    Unknown,
)

Path: TypeAlias = tuple[Any, ...]
"""The indices and keys that lead to a part."""


def leaves(value: AbstractValue, path: Path = ()) -> Iterator[tuple[Path, AbstractValue]]:
    """The parts of a value that have a cotangent of their own, with the indices that lead to them."""
    match value:
        case Sequence(kind, items) if kind is not slice:
            for k, item in enumerate(items):
                yield from leaves(item, (*path, k))
        case Mapping(keys, items):
            for key, item in zip(keys, items, strict=True):
                yield from leaves(item, (*path, key))
        case (
            Known() | Scalar() | Array() | Sequence() | ListOf() | Range() | Closure() | Ref() | Object() |
            Instance() | Same() | Unknown()
        ):
            if has_cotangent(value):
                yield path, value
        case _:
            assert_never(value)


def has_cotangent(value: AbstractValue) -> bool:
    """Whether a value, as far as it is known, can have a cotangent at all."""
    match value:
        case Known():
            return isinstance(value.value, (float, complex)) or (
                isinstance(value.value, int) and not isinstance(value.value, bool))
        case Scalar(kind):
            return kind is not bool and not issubclass(kind, np.bool_)
        case Array(dtype):
            return dtype.kind != "b"
        case Sequence(kind) if kind is slice:
            return False
        case Sequence() | Mapping():
            return any(True for _ in leaves(value))
        case ListOf(item):
            return has_cotangent(item)
        case Unknown():
            return True
        case Range() | Closure() | Ref() | Object() | Instance() | Same():
            return False
        case _:
            assert_never(value)


def part(value: AbstractValue, path: Path) -> AbstractValue:
    """What is known of the part of a value that a path leads to."""
    for key in path:
        match value:
            case Sequence(_, items):
                value = items[key]
            case Mapping(keys, items):
                value = items[keys.index(key)]
            case Instance(_, keys, items):
                value = items[keys.index(key)]
            case Known() | Scalar() | Array() | ListOf() | Range() | Closure() | Ref() | Object() | Same() | Unknown():
                return UNKNOWN
            case _:
                assert_never(value)
    return value


def like_tangent(value: AbstractValue) -> AbstractValue:
    """What is known of a tangent with the structure of a value: no number in it is known, and none is an integer."""
    match value:
        case Sequence(kind, items):
            return Sequence(kind, tuple(map(like_tangent, items)))
        case Mapping(keys, items):
            return Mapping(keys, tuple(map(like_tangent, items)))
        case ListOf(item):
            return ListOf(like_tangent(item))
        case Known():
            return Scalar(type(value.value)) if isinstance(value.value, (float, complex)) else UNKNOWN
        case Scalar(kind):
            return Scalar(kind) if issubclass(kind, (float, complex, np.inexact)) else UNKNOWN
        case _:
            return value


def is_differentiable(value: AbstractValue) -> bool:
    """Whether a value is of floating point, so that an argument of this kind can be differentiated."""
    match value:
        case Scalar(kind):
            return kind is object or issubclass(kind, (float, complex, np.inexact))
        case Array(dtype):
            return dtype.kind in "fc"
        case Sequence(_, items) | Mapping(_, items):
            return any(map(is_differentiable, items))
        case Instance(_, _, items):
            return any(map(is_differentiable, items))
        case ListOf(item):
            return is_differentiable(item)
        case Known():
            return False
        case Range() | Closure() | Ref() | Object() | Same() | Unknown():
            return isinstance(value, Unknown)
        case _:
            assert_never(value)


def holds_items(value: AbstractValue) -> bool:
    """Whether no more is known of it, or of a part of it, than what its items are like."""
    match value:
        case DictOf() | IterableOf():
            return True
        case Sequence(_, items) | Mapping(_, items) | Instance(_, _, items):
            return any(map(holds_items, items))
        case ListOf(item):
            return holds_items(item)
        case _:
            return False


def is_inexact(value: AbstractValue) -> bool:
    """Whether a value is known to be of floating point, or to hold something that is."""
    match value:
        case Unknown():
            return False
        case Sequence(_, items) | Mapping(_, items) | Instance(_, _, items):
            return any(map(is_inexact, items))
        case ListOf(item):
            return is_inexact(item)
        case Known() | Scalar() | Array() | Range() | Closure() | Ref() | Object() | Same():
            return is_differentiable(value)
        case _:
            assert_never(value)
