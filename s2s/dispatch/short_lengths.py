"""The lengths of arguments that are parts of a version.

On a backend that makes machine code: places in space, colours, states of a few numbers.

    loss(x, mass)       x of shape (24, 3)       ->       a version for x.shape[1] == 3

Short arrays of known length are numbers there (``optimize.loops.short``). Only the length that the first call came with
is one: calls with others share a version.

On all of them: vectors of parameters, where the compiler refuses the function for any length of these, because it
hands their items over one by one.

    rates = [*np.exp(theta[:5]), theta[5]]; model(t, *rates)       ->       a version for theta.shape[0] == 6
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from s2s.core.limits import FEW_ARGUMENTS, FEW_NUMBERS
from s2s.core.values import AbstractValue, Array, Dim, Mapping, Sequence
from s2s.versions.signature import with_length

__all__ = ["OF_LENGTHS", "ShortLengths", "with_short_vectors"]

OF_LENGTHS = frozenset({"S2S118", "S2S207", "S2S210"})
"""The refusals of what might be known if the number of arguments of a call, or of items of a list, were."""


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
