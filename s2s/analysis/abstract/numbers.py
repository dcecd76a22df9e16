"""Numbers whose type depends on the path taken: ``total = 0`` before a loop that adds floats to it.

What comes of such a number is worked out for each type that it may have. ``np.array([total])`` is an array of integers
where the loop makes no iteration; nothing is said of it, rather than that it is an array of floats.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

import numpy as np

from s2s.core.values import AbstractValue, Mapping, Scalar, Sequence


class AnyFloat(float):
    """The type of a number that is a ``float`` or an ``np.float64``."""


class AnyReal(float):
    """The type of a number that is a ``float``, an ``np.float64`` or an integer."""


class AnyInteger(int):
    """The type of a number that is an ``int``, or the ``float`` that a power with a negative exponent is. Where only an
    integer will do, as an index or a length, it is one."""


ANY_FLOAT = Scalar(AnyFloat)
ANY_INTEGER = Scalar(AnyInteger)
ANY_REAL = Scalar(AnyReal)
ANY_SCALAR = Scalar(object)
"""A number of some type; never an array."""

_FLOATS: tuple[type, ...] = (float, np.float64)
_INTEGERS: tuple[type, ...] = (int, bool, *(np.dtype(c).type for c in np.typecodes["AllInteger"]))
_NUMBERS: tuple[type, ...] = (
    *_FLOATS, *_INTEGERS, complex, np.bool_, *(np.dtype(c).type for c in "efgFDG"),
)
_MAY_BE: dict[type, tuple[type, ...]] = {
    AnyFloat: _FLOATS, AnyReal: (*_FLOATS, *_INTEGERS), AnyInteger: (int, float), object: _NUMBERS,
}
_TRIED: dict[type, tuple[type, ...]] = {AnyFloat: _FLOATS, AnyReal: (*_FLOATS, int), AnyInteger: (int, float)}
"""The types that stand for the others when an operation is tried out."""


def is_exact(kind: type) -> bool:
    """Whether it is a type that a number may have, and not one of those that stand for several."""
    return kind not in _MAY_BE


def possible_types(kind: type) -> tuple[type, ...]:
    """The types that a number may have."""
    return _MAY_BE.get(kind, (kind,))


def of_types(kinds: set[type]) -> Scalar:
    """A number of one of these types."""
    if len(kinds) == 1:
        return Scalar(kinds.pop())
    if kinds == {int, AnyInteger}:
        return ANY_INTEGER
    possible = {k for kind in kinds for k in possible_types(kind)}
    if possible <= set(_FLOATS):
        return ANY_FLOAT
    return ANY_REAL if possible <= set(_MAY_BE[AnyReal]) else ANY_SCALAR


def open_types(values: Iterable[AbstractValue]) -> set[type]:
    """The types that stand for several, of numbers among values and among the items of containers."""
    found: set[type] = set()
    for value in values:
        match value:
            case Scalar(kind) if kind in _TRIED:
                found.add(kind)
            case Sequence(_, items) | Mapping(_, items):
                found |= open_types(items)
            case _:
                pass
    return found


def alternatives(kinds: set[type]) -> Iterator[dict[type, type]]:
    """What types that stand for several may be together."""
    for row in itertools.product(*(_TRIED[kind] for kind in kinds)):
        yield dict(zip(kinds, row, strict=True))


def settled(value: AbstractValue, types: dict[type, type]) -> AbstractValue:
    """A value whose numbers have these types."""
    match value:
        case Scalar(kind) if kind in types:
            return Scalar(types[kind])
        case Sequence(kind, items):
            return Sequence(kind, tuple(settled(i, types) for i in items))
        case Mapping(keys, items):
            return Mapping(keys, tuple(settled(i, types) for i in items))
        case _:
            return value


__all__ = [
    "ANY_FLOAT", "ANY_INTEGER", "ANY_REAL", "ANY_SCALAR", "AnyFloat", "AnyInteger", "AnyReal", "alternatives",
    "is_exact", "of_types", "open_types", "possible_types", "settled",
]
