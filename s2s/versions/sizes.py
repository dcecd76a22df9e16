"""Which arguments are large arrays: a fact of a version that is made for such ones.

    X of shape (3000, 200), w of shape (200,)       ->      X.0 * X.1 is large, X.0, X.1 and w.0 are not
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from s2s.core import limits
from s2s.core.values import AbstractValue, Array, Instance, Sequence
from s2s.core.values import Mapping as Dict
from s2s.versions.argument_guards import LargeGuard
from s2s.versions.expressions import length_of, split_symbol

__all__ = ["NOT_ASKED", "OPTION", "large_sizes", "size_guards", "sizes_of"]

OPTION = "large"
"""The option of a request that has the large ones."""

NOT_ASKED = ("*",)
"""In its place: the version is the same for all sizes."""


def sizes_of(avals: Iterable[AbstractValue]) -> Iterator[tuple[tuple[str, ...], str]]:
    """The numbers of elements that arguments may have: the symbols of lengths whose product each is, of whole arrays,
    which are named (``params[0]``), and of single axes."""
    for aval in avals:
        match aval:
            case Array(_, tuple() as shape):
                symbols = tuple(sorted(dim.symbol for dim in shape if dim.symbol and not dim.offset))
                if len(shape) > 1:
                    yield from (((symbol,), "") for symbol in symbols)
                if symbols:
                    yield symbols, split_symbol(symbols[0])[0] if len(symbols) == len(shape) else ""
            case Sequence(_, items) | Dict(_, items) | Instance(_, _, items):
                yield from sizes_of(items)


def size_guards(avals: Iterable[AbstractValue], large: Iterable[str]) -> dict[tuple[str, ...], LargeGuard]:
    """What a version relies on, by the size that it asks for, where these are ``large``."""
    return {
        symbols: LargeGuard(symbols, limits.LARGE_ARRAY, " * ".join(symbols) in large, place)
        for symbols, place in sizes_of(avals)
    }


def large_sizes(avals: Iterable[AbstractValue], values: Mapping[str, Any]) -> tuple[str, ...]:
    """Those of them that are large in a call."""
    found = set()
    for symbols, _ in sizes_of(avals):
        size = 1
        for symbol in symbols:
            size *= length_of(symbol, values)
        if size >= limits.LARGE_ARRAY:
            found.add(" * ".join(symbols))
    return tuple(sorted(found))
