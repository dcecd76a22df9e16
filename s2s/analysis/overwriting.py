"""Whether a store may change, after a statement of the primal has read an array, what it has read there.

    for i in range(1, n):
        for j in range(1, m):
            t = a[i - 1, j]
            a[i, j] = 2.0 * t           changes no place that an iteration before has read

A store and a read are looked at as two iterations of the loops around them. They are in the same iteration of some of
the loops, and the one that stores is later in the next one inside these, or later in the text where there is none.
What is known of both is linear in the items of the loops: the bounds of these, the tests of the branches around, and
that the indices are the same. Where that is impossible for each of the loops (``analysis.inequalities``), the read is
safe.

An index that may be negative counts from the end, so that its axis says nothing; where the array is not certainly one
and the same, nor are its places.
"""

from __future__ import annotations

import operator
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from s2s.analysis.inequalities import Linear, are_impossible
from s2s.analysis.memory import is_basic
from s2s.analysis.regions import Region
from s2s.core import ir, ops
from s2s.core.values import Array, Known, Scalar

if TYPE_CHECKING:
    from s2s.analysis.adjoint_placement import AdjointPlacement
    from s2s.analysis.memory import Memory
    from s2s.builder.builder import Context

__all__ = ["Overwriting", "Place"]

_SIGNS = {operator.add: 1, operator.sub: -1}
_DEPTH = 12
"""How many operations of an index are looked at, one inside the other."""


@dataclass(frozen=True)
class Place:
    """What is read of an array, or stored into it: the array, and the indices that lead there, the first one of the
    array itself, each other one of what those before it give."""

    array: ir.Var
    keys: tuple[ir.Atom, ...]


class Overwriting:
    """The order of the stores and reads of a function in SSA form, and the places that they name."""

    def __init__(self, context: Context, memory: Memory, placement: AdjointPlacement) -> None:
        self.context = context
        self.memory = memory
        self.begins = placement.begins
        self.regions = placement.places
        self.home = placement.home
        self._known: dict[tuple[int, ir.Var, int, ir.Atom | None, Region | None], bool] = {}

    def may_change(
        self, s: ir.Store, var: ir.Var, reader: int, key: ir.Atom | None = None, within: Region | None = None
    ) -> bool:
        """Whether a store may change what a statement has read of a variable before, at an index where there is one.
        With ``within`` only stores count that are in the same iteration of the loops around this region."""
        asked = id(s), var, reader, key, within
        if asked not in self._known:
            self._known[asked] = self._may_change(s, var, reader, key, within)
        return self._known[asked]

    def _may_change(
        self, s: ir.Store, var: ir.Var, reader: int, key: ir.Atom | None, within: Region | None
    ) -> bool:
        if reader not in self.begins or id(s) not in self.begins:
            return True
        here, there = self.regions[reader], self.regions[id(s)]
        stored, read = self._stored(s), self._read(var, key)
        common = [r for r in _loops_around(there) if here.inside(r)]
        same: list[Region] = []
        for region in common:
            around = within is not None and within.inside(region)
            if not region.is_replayed and not around and not self._is_new_in(region, stored, read):
                if self._meet(stored, read, there, here, same, region):
                    return True
            same.append(region)
        earlier = self.begins[reader] < self.begins[id(s)] and not _on_other_sides(here, there)
        return earlier and self._meet(stored, read, there, here, same, None)

    def _is_new_in(self, region: Region, stored: Place | None, read: Place | None) -> bool:
        """Whether each iteration of a loop has an array of its own that is stored into and read."""
        if stored is None or read is None or stored.array != read.array or not self.memory.is_new(read.array):
            return False
        return self.home[read.array].inside(region)

    # --- places

    def _stored(self, s: ir.Store) -> Place | None:
        if not isinstance(s.target, ir.Var) or s.kind == "attr":
            return None
        return self._place(s.target, () if s.kind in ("whole", "opaque") else (s.key,))

    def _read(self, var: ir.Var, key: ir.Atom | None) -> Place | None:
        if key is None and self.memory.base_of(var) is None:  # what a container holds
            made = self.memory.made.get(var)
            if isinstance(made, ir.Call) and made.fn == ir.Const(operator.getitem):
                if not isinstance(self.context.value(made.args[0]), Array):  # type: ignore[arg-type]
                    return self._place(made.args[0], (made.args[1],))  # type: ignore[arg-type]
        return self._place(var, () if key is None else (key,))

    def _place(self, var: ir.Atom, keys: tuple[ir.Atom, ...]) -> Place | None:
        """The array that a variable is a view of, by indices; None where it is one of several."""
        while isinstance(var, ir.Var) and (base := self.memory.base_of(var)) is not None:
            made = self.memory.made[var]
            assert isinstance(made, ir.Call)
            is_index = made.fn == ir.Const(operator.getitem) and self.memory.parts_of(made) is None
            var, keys = base, (made.args[1], *keys) if is_index else (ir.Const(Ellipsis),)  # type: ignore[arg-type]
        return Place(var, keys) if isinstance(var, ir.Var) and var not in self.memory.joined else None

    # --- two iterations

    def _meet(
        self, stored: Place | None, read: Place | None, there: Region, here: Region, same: list[Region],
        later: Region | None,
    ) -> bool:
        """Whether a store may name what was read, in the same iteration of some loops and a later one of another."""
        if stored is None or read is None or stored.array != read.array:
            return True
        two = _Two(self, {*same})
        two.add_place(there, "store")
        two.add_place(here, "read")
        if later is not None:
            two.add_order(later)
        mine, theirs = two.axes(stored, "store"), two.axes(read, "read")
        if not mine or not theirs:
            return True
        for a, b in zip(mine, theirs, strict=False):
            two.add_same(a, b)
        return not are_impossible(two.zero, two.positive)


@dataclass(frozen=True)
class Axis:
    """The first place that is named on an axis, and one that none of them is behind, where they are known;
    ``is_whole`` says that these are all places."""

    first: Linear | None
    last: Linear | None
    is_whole: bool = False


@dataclass(eq=False)
class _Two:
    """What is known of two iterations, which share the iterations of the loops ``same``."""

    order: Overwriting
    same: set[Region]
    zero: list[Linear] = field(default_factory=list)
    positive: list[Linear] = field(default_factory=list)
    seen: set[Hashable] = field(default_factory=set)

    # --- numbers

    def linear(self, atom: ir.Atom, side: str, depth: int = _DEPTH) -> Linear:
        """An integer, in terms of those of which it is made."""
        context = self.order.context
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
        known = self.order.context.value(atom)  # type: ignore[arg-type]
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
        home = self.order.home.get(atom) if isinstance(atom, ir.Var) else None
        if home is not None and isinstance(home.statement, ir.For) and home.statement.item == atom:
            self.add_item(home, side)
        return found

    def _symbol(self, atom: ir.Atom, side: str) -> Hashable:
        home = self.order.home.get(atom) if isinstance(atom, ir.Var) else None
        if home is None:
            return atom, side
        return atom, ("" if all(r in self.same for r in _loops_around(home)) else side)

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
        bounds = self.order.context.definition(statement.iterable, range)
        known = self.order.context.value(statement.iterable)
        if bounds is None and isinstance(known, Known) and isinstance(known.value, range):
            over = known.value
            return ir.Const(over.start), ir.Const(over.stop), over.step
        if bounds is None or not all(map(self._is_int, bounds)):
            return None
        start, stop, step = (ir.Const(0), *bounds, ir.Const(1)) if len(bounds) == 1 else (*bounds, ir.Const(1))[:3]
        by = self.order.context.value(step)
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
            args = self.order.context.definition(test, fn)
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

    # --- the places on the axes

    def axes(self, place: Place, side: str) -> list[Axis]:
        """The places on the axes of an array, counted from the first, as far as they are known."""
        axes: list[Axis] = []
        free: list[int] = []
        more = True
        for key in place.keys:
            parts, left, following = self._parts(key), [*free], list[int]()
            for part in parts:
                if not left and not more:
                    break
                if not left:
                    left.append(len(axes))
                    axes.append(Axis(Linear(), self._last(place.array, len(axes)), is_whole=True))
                axis = left.pop(0)
                if self._is_slice(part):
                    axes[axis] = self._sliced(part, axes[axis], side)
                    following.append(axis)
                else:
                    axes[axis] = self._item(part, axes[axis], side)
            whole = len(parts) == len(self._all_parts(key))
            free, more = following + (left if whole else []), more and whole
        return axes

    def _last(self, array: ir.Var, axis: int) -> Linear | None:
        """The last place on an axis."""
        value = self.order.context.value(array)
        if not isinstance(value, Array) or value.shape is None or axis >= len(value.shape):
            return None
        dim = value.shape[axis]
        if dim.symbol.startswith(("?", "*")):
            return None
        return (self.length(dim.symbol) if dim.symbol else Linear()).shifted(dim.offset - 1)

    def _all_parts(self, key: ir.Atom) -> tuple[ir.Atom, ...]:
        return self.order.context.definition(key, ops.make_tuple) or (key,)

    def _parts(self, key: ir.Atom) -> list[ir.Atom]:
        """The parts of an index that stand for axes counted from the first."""
        found = []
        for part in self._all_parts(key):
            value = self.order.context.value(part)
            if not is_basic(value) or (isinstance(value, Known) and (value.value is None or value.value is Ellipsis)):
                break
            found.append(part)
        return found

    def _is_slice(self, part: ir.Atom) -> bool:
        known = self.order.context.value(part)
        return not (isinstance(known, Scalar) or (isinstance(known, Known) and not isinstance(known.value, slice)))

    def _item(self, part: ir.Atom, axis: Axis, side: str) -> Axis:
        at = self.linear(part, side)
        if not at.terms and at.constant < 0:  # counted from the end, which only a whole axis has where it says
            found = axis.last.shifted(at.constant + 1) if axis.is_whole and axis.last is not None else None
        else:
            found = axis.first.plus(at) if axis.first is not None and self._is_positive(at) else None
        return Axis(found, found)

    def _sliced(self, part: ir.Atom, axis: Axis, side: str) -> Axis:
        start, stop, step = self._bounds(part)
        if step not in (ir.Const(None), ir.Const(1)):
            return Axis(None, None)
        if start == stop == ir.Const(None):
            return axis
        first, last = axis.first, axis.last
        if start != ir.Const(None):
            at = self.linear(start, side)
            first = first.plus(at) if first is not None and self._is_positive(at) else None
        if stop != ir.Const(None):
            at = self.linear(stop, side)
            if not at.terms and at.constant < 0:
                last = None if last is None else last.shifted(at.constant)
            else:
                known = axis.first is not None and self._is_positive(at)
                last = axis.first.plus(at).shifted(-1) if known else last  # type: ignore[union-attr]
        return Axis(first, last)

    def _bounds(self, part: ir.Atom) -> tuple[ir.Atom, ...]:
        """Start, stop and step of a slice; a step that is no number where they are not known."""
        known = self.order.context.value(part)
        if isinstance(known, Known):
            return ir.Const(known.value.start), ir.Const(known.value.stop), ir.Const(known.value.step)
        bounds = self.order.context.definition(part, slice)
        if bounds is None or len(bounds) > 3:
            return ir.Const(None), ir.Const(None), ir.Const(slice)
        return (*((ir.Const(None),) * (len(bounds) == 1)), *bounds, ir.Const(None))[:3]

    def _is_positive(self, form: Linear) -> bool:
        """Whether a number is certainly 0 or more, by what is known so far."""
        if not form.terms:
            return form.constant >= 0
        return are_impossible(self.zero, [*self.positive, form.scaled(-1).shifted(-1)])

    def add_same(self, mine: Axis, theirs: Axis) -> None:
        """That two iterations name the same place on an axis."""
        if mine.first is not None and mine.first is mine.last and theirs.first is not None:
            if theirs.first is theirs.last:
                self.zero.append(mine.first.plus(theirs.first, -1))
                return
        for one, other in ((mine, theirs), (theirs, mine)):
            if one.first is not None and other.last is not None:
                self.positive.append(other.last.plus(one.first, -1))


_TESTS = {
    operator.lt: (-1, 1, True), operator.le: (-1, 0, True), operator.gt: (1, 1, True), operator.ge: (1, 0, True),
    operator.eq: (0, 0, True), operator.ne: (0, 0, False),
}
"""Comparisons: the sign of ``left - right`` that makes it positive, and what it is at least; of equalities the outcome
that says that both are the same."""


def _loops_around(region: Region) -> list[Region]:
    """The loop bodies around a place, the outermost first. Where the reverse sweep replays an iteration, it restores
    the contents of the arrays: there one iteration does not find in memory what another one has left."""
    found = []
    loop = region.innermost_loop()
    while loop is not None:
        found.append(loop)
        loop = loop.parent.innermost_loop() if loop.parent is not None else None
    return found[::-1]


def _on_other_sides(one: Region, other: Region) -> bool:
    """Whether two regions are on different sides of a branch of the same iteration."""
    sides: dict[int, int] = {}
    at: Region | None = one
    while at is not None:
        if isinstance(at.statement, ir.If):
            sides[id(at.statement)] = at.side
        at = at.parent
    at = other
    while at is not None:
        if isinstance(at.statement, ir.If) and sides.get(id(at.statement), at.side) != at.side:
            return True
        at = at.parent
    return False
