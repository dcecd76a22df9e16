"""What values were at places of a program when it ran: facts for a compiler that does not find them out by itself.

A version that is made with such facts checks each of them where the value appears (``runtime/_expected.py``).
"""

from __future__ import annotations

import contextlib
import enum
import types
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from s2s.core.const import Const
from s2s.core.values import UNKNOWN, AbstractValue, Array, Dim, Known, Scalar, Sequence
from s2s.versions.signature import describe

__all__ = ["Observed", "Omits", "Place", "observed", "taken_as_observed"]

Place = tuple[str, int, int, int, int]
"""A file, and the lines and columns at which an expression in it begins and ends."""

_SHARED = (
    types.ModuleType, type, types.FunctionType, types.BuiltinFunctionType, np.ufunc, np.dtype, type(np.sum), type(None),
)  # fmt: skip
"""What a program has one of, and looks up again and again. No str: digits of a number may stand in it."""


MOST_ITEMS = 16
"""The items of tuples that are no longer than this are known one by one."""


class Omits(enum.Enum):
    """In which functions nothing is compiled of the sides of branches that were not taken."""

    NOTHING = "in none"
    OF_LIBRARIES = "in those of other packages than that of the function compiled"
    EVERYTHING = "in all"

    def includes(self, is_own: bool) -> bool:
        """Whether these are functions of the program's own package, or of others."""
        return self is Omits.EVERYTHING or (self is Omits.OF_LIBRARIES and not is_own)

    def is_same(self, other: Omits, asked: Iterable[bool]) -> bool:
        """Whether a compilation comes out as with ``other``, which has asked of these functions."""
        return all(self.includes(is_own) is other.includes(is_own) for is_own in asked)


class Observed:
    """What the values at places were, and which sides of branches were taken."""

    def __init__(self) -> None:
        self.values: dict[Place, AbstractValue] = {}
        self.sides: dict[Place, set[bool]] = {}
        self.omits = Omits.NOTHING
        self.asked: set[bool] = set()
        """Of which functions a compilation has asked whether it omits a side: of the program's own, of others."""
        self.acts = False
        """Whether a run has printed, drawn random numbers, or changed something outside of the function that the next
        run changes again."""

    def note(self, place: Place, value: Any) -> None:
        """Note one value more of a place."""
        before = self.values.get(place)
        if before is UNKNOWN:
            return
        seen = _described(value)
        self.values[place] = seen if before is None or before == seen else _joined(before, seen)

    def with_other(self, other: Observed) -> Observed:
        """What both have shown: what differs is not known."""
        both = Observed()
        both.acts = self.acts or other.acts
        both.values, both.sides = dict(self.values), {place: set(sides) for place, sides in self.sides.items()}
        for place, sides in other.sides.items():
            both.sides.setdefault(place, set()).update(sides)
        for place, seen in other.values.items():
            before = both.values.get(place)
            both.values[place] = seen if before is None else _joined(before, seen)
        return both

    def agrees(self, other: Observed) -> bool:
        """Whether no value at a place is another one here than there, as far as something is known of both."""
        pairs = ((seen, other.values.get(place)) for place, seen in self.values.items())
        return all(there is None or _agree(here, there) for here, there in pairs)

    def is_like(self, other: Observed) -> bool:
        """Whether the same is known."""
        return (self.values, self.sides, self.acts) == (other.values, other.sides, other.acts)

    def at(self, place: Place) -> AbstractValue:
        """What is known of the values at a place."""
        return self.values.get(place, UNKNOWN)

    def note_side(self, place: Place, side: bool) -> None:
        """Note that a branch has gone to one side; its place is that of its test."""
        self.sides.setdefault(place, set()).add(side)

    def takes(self, place: Place, side: bool) -> bool:
        """Whether a branch has gone to this side."""
        return side in self.sides.get(place, ())

    def omits_of(self, is_own: bool) -> bool:
        """Whether a side that was not taken is omitted in a function: the program's own, or another one."""
        self.asked.add(is_own)
        return self.omits.includes(is_own)

    def leaves_out(self, place: Place, side: bool) -> bool:
        """Whether a branch has gone to the other side each time."""
        return self.sides.get(place) == {not side}


def _described(value: Any) -> AbstractValue:
    kind = type(value)
    if kind is np.ndarray:
        found = describe(value, "?")
        return Array(found.dtype, tuple(_length(d) for d in found.shape or ())) if isinstance(found, Array) else UNKNOWN
    if kind is tuple and len(value) <= MOST_ITEMS:
        return Sequence(kind, tuple(_described(item) for item in value))
    if issubclass(kind, _SHARED):
        return Known(Const(value)) if _is_shared(value) else UNKNOWN
    found = describe(value, "?") if kind in (float, int, bool, complex) or issubclass(kind, np.generic) else UNKNOWN
    return Scalar(kind) if isinstance(found, (Scalar, Known)) else UNKNOWN


def _is_shared(value: Any) -> bool:
    """Whether it is the same object in each call: none that a call makes, or that belongs to another one."""
    owner = getattr(value, "__self__", None)
    if not (owner is None or isinstance(owner, types.ModuleType)):
        return False
    return "<locals>" not in getattr(value, "__qualname__", "")


def _length(dim: Dim) -> Dim:
    return dim if dim.is_constant else Dim("?")


def _agree(one: AbstractValue, other: AbstractValue) -> bool:
    if isinstance(one, Sequence) and isinstance(other, Sequence):
        return len(one.items) == len(other.items) and all(map(_agree, one.items, other.items))
    return UNKNOWN in (one, other) or _joined(one, other) is not UNKNOWN


def _joined(one: AbstractValue, other: AbstractValue) -> AbstractValue:
    if one == other:
        return one
    if isinstance(one, Array) and isinstance(other, Array) and one.dtype == other.dtype and (
        len(one.shape or ()) == len(other.shape or ())
    ):
        dims = zip(one.shape or (), other.shape or (), strict=True)
        return Array(one.dtype, tuple(a if a == b else Dim("?") for a, b in dims))
    if isinstance(one, Sequence) and isinstance(other, Sequence) and len(one.items) == len(other.items):
        return Sequence(one.type, tuple(map(_joined, one.items, other.items)))
    return UNKNOWN


_taken: list[Observed | None] = [None]


def observed() -> Observed | None:
    """What this compilation may know of values at places; None where the program was not run for it."""
    return _taken[-1]


@contextlib.contextmanager
def taken_as_observed(found: Observed | None) -> Iterator[None]:
    """As a context: compilations may know what was observed."""
    _taken.append(found)
    try:
        yield
    finally:
        _taken.pop()
