"""The lengths of arguments that are parts of a version.

On a backend that makes machine code: places in space, colours, states of a few numbers.

    loss(x, mass)       x of shape (24, 3)       ->       a version for x.shape[1] == 3

Short arrays of known length are numbers there (``optimize.loops.short``). Only the length that the first call came with
is one: calls with others share a version.

On all of them: vectors of parameters and counts, where the compiler refuses the function for any length of these, or
leaves calls to run time, because it hands their items over one by one, or makes containers of them whose items it has
to know.

    rates = [*np.exp(theta[:5]), theta[5]]; model(t, *rates)       ->       a version for theta.shape[0] == 6
    psi = np.reshape(start, (2,) * n)                              ->       a version for n == 3
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from s2s.core.const import Const
from s2s.core.limits import FEW_ARGUMENTS, FEW_NUMBERS
from s2s.core.values import AbstractValue, Array, Dim, Known, Mapping, Scalar, Sequence
from s2s.errors import ABOUT_OBJECTS
from s2s.versions.signature import with_length

__all__ = ["OF_LENGTHS", "ByNumbers", "ShortLengths"]

OF_LENGTHS = ABOUT_OBJECTS | {"S2S118", "S2S207"}
"""The refusals of what might be known if the number of arguments of a call, of items of a list or of axes were."""


class ByNumbers:
    """For which arguments of a function short lengths and small counts are parts of its versions."""

    def __init__(self) -> None:
        self._has_counts: dict[tuple[AbstractValue, ...], bool] = {}

    def add(self, avals: tuple[AbstractValue, ...], has_counts: bool) -> None:
        """From here on the lengths of such arguments are known, and with ``has_counts`` the values of integers too."""
        self._has_counts[avals] = has_counts

    def discard(self, avals: tuple[AbstractValue, ...]) -> None:
        self._has_counts.pop(avals, None)

    def exact(self, avals: tuple[AbstractValue, ...], values: tuple[Any, ...]) -> tuple[AbstractValue, ...]:
        """The abstract values of arguments with these numbers known, where they are parts of versions."""
        return _with_numbers(avals, values, self._has_counts[avals]) if avals in self._has_counts else avals

    @staticmethod
    def tried(
        avals: tuple[AbstractValue, ...], values: tuple[Any, ...]
    ) -> Iterator[tuple[tuple[AbstractValue, ...], bool]]:
        """What may be known beside ``avals``, the fewest numbers first, and whether counts are among it."""
        before = avals
        for has_counts in (False, True):
            found = _with_numbers(avals, values, has_counts)
            if found != before:
                yield found, has_counts
            before = found


def _with_numbers(
    avals: tuple[AbstractValue, ...], values: tuple[Any, ...], has_counts: bool
) -> tuple[AbstractValue, ...]:
    avals = with_short_vectors(avals, values)
    if not has_counts:
        return avals
    return tuple(_with_count(aval, value) for aval, value in zip(avals, values, strict=True))


def _with_count(aval: AbstractValue, value: Any) -> AbstractValue:
    """The abstract value of an argument in which small integers are known."""
    match aval:
        case Scalar(kind) if (kind is int or issubclass(kind, np.integer)) and 0 <= value <= FEW_ARGUMENTS:
            return Known(Const(value))
        case Sequence(kind, items) if kind is tuple:
            return Sequence(kind, tuple(_with_count(item, part) for item, part in zip(items, value, strict=True)))
        case _:
            return aval


def with_short_vectors(avals: tuple[AbstractValue, ...], values: tuple[Any, ...]) -> tuple[AbstractValue, ...]:
    """The abstract values of arguments in which the lengths of short vectors of floats are known."""
    arrays = [found for pair in zip(avals, values, strict=True) for found in _arrays(*pair)]
    for shape, value in arrays:
        if value.ndim == 1 and shape[0].symbol and value.dtype.kind == "f" and 2 <= len(value) <= FEW_ARGUMENTS:
            avals = tuple(with_length(aval, shape[0].symbol, len(value)) for aval in avals)
    return avals


class ShortLengths:
    """Which lengths are known to the versions of a function."""

    def __init__(self) -> None:
        self._first: dict[str, int] = {}

    def known(self, avals: list[AbstractValue], values: tuple[Any, ...]) -> list[AbstractValue]:
        """The abstract values of arguments with these lengths known: those of last axes, and of square matrices. That
        of a vector with an item for each row of another argument is how many rows there are."""
        arrays = [found for pair in zip(avals, values, strict=True) for found in _arrays(*pair)]
        rows = {value.shape[0] for _, value in arrays if value.ndim > 1 and not _is_square(value)}
        for shape, value in arrays:
            for axis in (-1, -2) if _is_square(value) else (-1,):
                symbol, n = shape[axis].symbol, value.shape[axis]
                if not symbol or self._first.setdefault(symbol, n) != n or not 2 <= n <= FEW_NUMBERS:
                    continue
                if value.ndim > 1 or n not in rows:
                    avals = [with_length(aval, symbol, n) for aval in avals]
        return avals


def _is_square(value: Any) -> bool:
    """Whether it is a square matrix, or several."""
    return value.ndim > 1 and value.shape[-1] == value.shape[-2]


def _arrays(aval: AbstractValue, value: Any) -> Iterator[tuple[tuple[Dim, ...], Any]]:
    """The arrays with axes in an argument, each with the dimensions that it is known by."""
    match aval:
        case Array(_, tuple() as shape) if shape:
            yield shape, value
        case Sequence(_, items):
            for item, part in zip(items, value, strict=True):
                yield from _arrays(item, part)
        case Mapping(keys, items):
            for key, item in zip(keys, items, strict=True):
                yield from _arrays(item, value[key])
