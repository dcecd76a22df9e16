"""Where arrays that a loop of the program fills in each iteration are made: before it, once.

    for _ in range(steps):                      t = np.empty(u.shape[0])
        t = np.empty(u.shape[0])        ->      for _ in range(steps):
        ...                                         ...

Lengths are found by their symbols, of arrays that are there before the loop. Each loop over elements checks them again.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import dataclass, field

from s2s.builder.builder import Builder, Context
from s2s.core import ir
from s2s.core.values import Array, Dim
from s2s.optimize.loops.accesses import Extent
from s2s.optimize.loops.lengths import Lengths

__all__ = ["Scope", "Scopes"]


@dataclass
class Scope:
    """A block that is written: the lengths of arrays that it has defined, by symbol, each with an array, its axis and
    what is to be added; and what is to stand before the statement that is written. ``is_repeated`` says that it is the
    body of a loop."""

    is_repeated: bool
    lengths: dict[str, tuple[ir.Var, int, int]] = field(default_factory=dict)
    before: Builder | None = None
    sizes: dict[Dim, ir.Atom] = field(default_factory=dict)
    computed: dict[Extent, ir.Atom] = field(default_factory=dict)
    checked: set[frozenset[ir.Atom]] = field(default_factory=set)


class Scopes:
    """The blocks around the statement that is written, the innermost last."""

    def __init__(self, context: Context, lengths: Lengths) -> None:
        self.context = context
        self.equal = lengths
        self.open: list[Scope] = []

    def define(self, var: ir.Var) -> None:
        """Take note of an array that is there from here on."""
        known = self.context.value(var)
        if isinstance(known, Array) and known.shape is not None:
            for axis, dim in enumerate(known.shape):
                found = self.equal.of(dim)
                if found.symbol:
                    self.open[-1].lengths.setdefault(found.symbol, (var, axis, -found.offset))

    def place(self, shape: tuple[Dim, ...]) -> tuple[Builder, list[ir.Atom]] | None:
        """Where an array of a shape can be made before the loop around, and its lengths there; None where that cannot
        be."""
        level = len(self.open) - 1
        dims = [self.equal.of(dim) for dim in shape]
        best = None
        while level > 0 and self.open[level].is_repeated:
            level -= 1
            if not all(not d.symbol or self._is_known(d, level) for d in dims):
                break
            best = level
        if best is None:
            return None
        scope = self.open[best]
        if scope.before is None:
            scope.before = Builder(self.context)
        return scope.before, [self._size(scope.before, dim, best) for dim in dims]

    def computed(self, extent: Extent) -> ir.Atom | None:
        """The length of an axis, where it is computed before."""
        return next((s.computed[extent] for s in reversed(self.open) if extent in s.computed), None)

    def compute(self, extent: Extent, length: ir.Atom) -> None:
        """Take note of a length that is computed here."""
        self.open[-1].computed[extent] = length

    def unchecked(self, lengths: Iterable[ir.Atom]) -> list[ir.Atom]:
        """The lengths that are to be compared with the first one, which from here on are equal."""
        first, *others = lengths
        left = [n for n in others if not any({first, n} <= known for scope in self.open for known in scope.checked)]
        if left:
            self.open[-1].checked.add(frozenset({first, *others}))
        return [first, *left] if left else []

    def _is_known(self, dim: Dim, level: int) -> bool:
        return any(dim.symbol in scope.lengths for scope in self.open[: level + 1])

    def _size(self, builder: Builder, dim: Dim, level: int) -> ir.Atom:
        """A length, computed from that of an array."""
        if not dim.symbol:
            return ir.Const(dim.offset)
        known = self.open[level].sizes.get(dim)
        if known is None:
            var, axis, more = next(s.lengths[dim.symbol] for s in self.open[level::-1] if dim.symbol in s.lengths)
            found = builder.call(operator.getitem, builder.call(getattr, var, ir.Const("shape")), ir.Const(axis))
            less = -(dim.offset + more)
            if less:
                found = builder.call(operator.sub if less > 0 else operator.add, found, ir.Const(abs(less)))
            known = self.open[level].sizes[dim] = found
        return known

    def take(self) -> list[ir.Statement]:
        """What is to stand before the statement that was written."""
        scope = self.open[-1]
        made = [] if scope.before is None else scope.before.statements
        scope.before = None
        return made
