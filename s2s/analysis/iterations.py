"""Integers in the iterations of loops: what is known of them, as linear inequalities.

    for i in range(n):
        for j in range(i + 1, n):           0 <= i <= n - 1,   i + 1 <= j <= n - 1
            if k < j:                       k <= j - 1

Known are the bounds of ranges, the tests of the branches around, minima, maxima and quotients by a number. Whatever
else an integer is made of is a number of which nothing is known, the same one wherever it is the same variable in the
same iteration.
"""

from __future__ import annotations

import operator
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from s2s.analysis.inequalities import Linear, are_impossible
from s2s.analysis.regions import Region
from s2s.core import ir
from s2s.core.values import Known, Scalar

if TYPE_CHECKING:
    from s2s.builder.builder import Context

__all__ = ["Iterations", "loops_around"]

_SIGNS = {operator.add: 1, operator.sub: -1}
_DEPTH = 12
"""How many operations of an integer are looked at, one inside the other."""


@dataclass(eq=False)
class Iterations:
    """What is known of integers in iterations of loops, of one or of two that share those of the loops ``same``: each
    has a name, ``side``, by which its numbers are told apart."""

    context: Context
    home: dict[ir.Var, Region]
    same: set[Region]
    zero: list[Linear] = field(default_factory=list)
    positive: list[Linear] = field(default_factory=list)
    seen: set[Hashable] = field(default_factory=set)

    # --- numbers

    def linear(self, atom: ir.Atom, side: str, depth: int = _DEPTH) -> Linear:
        """An integer, in terms of those of which it is made."""
        context = self.context
        known = context.value(atom)
        if isinstance(known, Known) and type(known.value) is int:
            return Linear(known.value)
        if not isinstance(known, Scalar) or known.type is not int or not isinstance(atom, ir.Var):
            return self.symbol(atom, side)
        if known.dim is not None and not known.dim.symbol.startswith(("?", "*")):
            return self.length(known.dim.symbol).shifted(known.dim.offset)
        made = context.definitions.get(atom)
        if depth and isinstance(made, ir.Call) and isinstance(made.fn, ir.Const) and not made.kwargs:
            found = self._sum(made, side, depth - 1)
            if found is not None:
                return found
            found = self.symbol(atom, side)
            self._bound(made, found, atom, side, depth - 1)
            return found
        return self.symbol(atom, side)

    def _sum(self, made: ir.Call, side: str, depth: int) -> Linear | None:
        fn, args = made.fn.value, made.args  # type: ignore[union-attr]
        if fn in _SIGNS and all(self._is_int(a) for a in args):
            one, other = (self.linear(a, side, depth) for a in args)  # type: ignore[arg-type]
            return one.plus(other, _SIGNS[fn])
        if fn is operator.mul and all(self._is_int(a) for a in args):
            one, other = (self.linear(a, side, depth) for a in args)  # type: ignore[arg-type]
            if not one.terms or not other.terms:
                return other.scaled(one.constant) if not one.terms else one.scaled(other.constant)
        if fn is operator.neg and self._is_int(args[0]):
            return self.linear(args[0], side, depth).scaled(-1)  # type: ignore[arg-type]
        return None

    def _bound(self, made: ir.Call, found: Linear, atom: ir.Atom, side: str, depth: int) -> None:
        """What is known of a number that is no sum: a quotient of integers, a minimum, a maximum."""
        fn, args = made.fn.value, made.args  # type: ignore[union-attr]
        if ("bound", symbol := self._symbol(atom, side)) in self.seen or not all(map(self._is_int, args)):
            return
        self.seen.add(("bound", symbol))
        if fn in (min, max) and len(args) > 1:
            for a in args:
                difference = self.linear(a, side, depth).plus(found, -1)  # type: ignore[arg-type]
                self.positive.append(difference.scaled(1 if fn is min else -1))
        elif fn is operator.floordiv:
            of, by = (self.linear(a, side, depth) for a in args)  # type: ignore[arg-type]
            if not by.terms and by.constant > 0:
                rest = of.plus(found, -by.constant)
                self.positive += [rest, Linear(by.constant - 1).plus(rest, -1)]

    def _is_int(self, atom: object) -> bool:
        """Whether an atom is an integer of Python, which has no bounds."""
        if isinstance(atom, ir.Star):
            return False
        known = self.context.value(atom)  # type: ignore[arg-type]
        return type(known.value) is int if isinstance(known, Known) else isinstance(known, Scalar) and known.type is int

    def length(self, symbol: str) -> Linear:
        """A length, which is not negative."""
        found = Linear(0, {symbol: 1})
        if symbol not in self.seen:
            self.seen.add(symbol)
            self.positive.append(found)
        return found

    def symbol(self, atom: ir.Atom, side: str) -> Linear:
        """A number of which nothing is known but where it is defined."""
        found = Linear(0, {self._symbol(atom, side): 1})
        home = self.home.get(atom) if isinstance(atom, ir.Var) else None
        if home is not None and isinstance(home.statement, ir.For) and home.statement.item == atom:
            self.add_item(home, side)
        return found

    def _symbol(self, atom: ir.Atom, side: str) -> Hashable:
        home = self.home.get(atom) if isinstance(atom, ir.Var) else None
        if home is None:
            return atom, side
        return atom, ("" if all(r in self.same for r in loops_around(home)) else side)

    # --- where the iterations are

    def add_place(self, region: Region, side: str) -> None:
        """What holds where a statement is in a region."""
        at: Region | None = region
        while at is not None:
            if isinstance(at.statement, ir.For):
                self.add_item(at, side)
            elif isinstance(at.statement, ir.If) and not at.statement.replayed:
                self._add_test(at.statement.test, at.side == 0, side)
            at = at.parent

    def add_item(self, region: Region, side: str) -> None:
        """That the item of a loop is within its range."""
        statement = region.statement
        assert isinstance(statement, ir.For)
        symbol = self._symbol(statement.item, side)
        bounds = self._range(statement)
        if bounds is None or ("item", symbol) in self.seen:
            return
        self.seen.add(("item", symbol))
        start, stop, step = bounds
        item = Linear(0, {symbol: 1})
        first, last = self.linear(start, side), self.linear(stop, side)
        self.positive.append(item.plus(first, -1).scaled(1 if step > 0 else -1))
        self.positive.append(last.plus(item, -1).scaled(1 if step > 0 else -1).shifted(-1))

    def _range(self, statement: ir.For) -> tuple[ir.Atom, ir.Atom, int] | None:
        bounds = self.context.definition(statement.iterable, range)
        known = self.context.value(statement.iterable)
        if bounds is None and isinstance(known, Known) and isinstance(known.value, range):
            over = known.value
            return ir.Const(over.start), ir.Const(over.stop), over.step
        if bounds is None or not all(map(self._is_int, bounds)):
            return None
        start, stop, step = (ir.Const(0), *bounds, ir.Const(1)) if len(bounds) == 1 else (*bounds, ir.Const(1))[:3]
        by = self.context.value(step)
        return (start, stop, by.value) if isinstance(by, Known) and by.value else None

    def add_order(self, later: Region) -> None:
        """That the store is in a later iteration of a loop than the read."""
        statement = later.statement
        bounds = self._range(statement) if isinstance(statement, ir.For) else None
        if bounds is None:
            return
        assert isinstance(statement, ir.For)
        mine, theirs = (Linear(0, {self._symbol(statement.item, side): 1}) for side in ("store", "read"))
        step = bounds[2]
        self.positive.append(mine.plus(theirs, -1).scaled(1 if step > 0 else -1).shifted(-abs(step)))

    def _add_test(self, test: ir.Atom, holds: bool, side: str) -> None:
        for fn, (sign, shift, when) in _TESTS.items():
            args = self.context.definition(test, fn)
            if args is None or not all(map(self._is_int, args)):
                continue
            one, other = (self.linear(a, side) for a in args)
            difference = one.plus(other, -1)
            if sign == 0:
                self.zero += [difference] if holds == when else []
            elif holds:
                self.positive.append(difference.scaled(sign).shifted(-shift))
            else:
                self.positive.append(difference.scaled(-sign).shifted(shift - 1))

    def is_positive(self, form: Linear) -> bool:
        """Whether a number is certainly 0 or more, by what is known so far."""
        if not form.terms:
            return form.constant >= 0
        return are_impossible(self.zero, [*self.positive, form.scaled(-1).shifted(-1)])


_TESTS = {
    operator.lt: (-1, 1, True), operator.le: (-1, 0, True), operator.gt: (1, 1, True), operator.ge: (1, 0, True),
    operator.eq: (0, 0, True), operator.ne: (0, 0, False),
}
"""Comparisons: the sign of ``left - right`` that makes it positive, and what it is at least; of equalities the outcome
that says that both are the same."""


def loops_around(region: Region) -> list[Region]:
    """The loop bodies around a place, the outermost first."""
    found = []
    loop = region.innermost_loop()
    while loop is not None:
        found.append(loop)
        loop = loop.parent.innermost_loop() if loop.parent is not None else None
    return found[::-1]
