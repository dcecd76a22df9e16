"""Lengths that a function takes to be equal: operands of one operation have equal lengths, where none is stretched.

    u + v       for u of length u.0 and v of length v.0: from here on both are u.0

Each loop checks the lengths of its arrays before it begins: where one of these is wrong, it does not begin.
"""

from __future__ import annotations

from s2s.core.values import Dim
from s2s.optimize.loops.accesses import ONE

__all__ = ["Lengths"]


class Lengths:
    """Symbols by the one that stands for all that are taken to be equal, and the distance from it."""

    def __init__(self) -> None:
        self.above: dict[str, tuple[str, int]] = {}

    def of(self, dim: Dim) -> Dim:
        """The length as that of the symbol that stands for it."""
        symbol, offset = dim.symbol, dim.offset
        while symbol in self.above:
            symbol, more = self.above[symbol]
            offset += more
        return Dim(symbol, offset)

    def take_for_equal(self, a: Dim, b: Dim) -> None:
        """From here on two lengths are the same, unless one is stretched."""
        if ONE in (a, b) or "~" in a.symbol + b.symbol:
            return
        a, b = self.of(a), self.of(b)
        if a.symbol == b.symbol:
            return
        if not a.symbol:
            a, b = b, a
        self.above[a.symbol] = b.symbol, b.offset - a.offset
