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
from dataclasses import dataclass
from typing import TYPE_CHECKING

from s2s.analysis.inequalities import Linear, are_impossible
from s2s.analysis.iterations import Iterations, loops_around
from s2s.analysis.memory import is_basic
from s2s.analysis.regions import Region
from s2s.core import ir, ops
from s2s.core.values import Array, Known, Scalar

if TYPE_CHECKING:
    from s2s.analysis.adjoint_placement import AdjointPlacement
    from s2s.analysis.memory import Memory
    from s2s.builder.builder import Context

__all__ = ["Overwriting", "Place"]

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
        common = [r for r in loops_around(there) if here.inside(r)]
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
        return self._place(s.target, (s.key,))  # of all of it the key is None, which names no place

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
        two = Iterations(self.context, self.home, {*same})
        two.add_place(there, "store")
        two.add_place(here, "read")
        if later is not None:
            two.add_order(later)
        mine, theirs = _Places(two, "store").axes(stored), _Places(two, "read").axes(read)
        if not mine or not theirs:
            return True
        for a, b in zip(mine, theirs, strict=False):
            _add_same(two, a, b)
        return not are_impossible(two.zero, two.positive)


@dataclass(frozen=True)
class Axis:
    """The first place that is named on an axis, and one that none of them is behind, where they are known;
    ``is_whole`` says that these are all places."""

    first: Linear | None
    last: Linear | None
    is_whole: bool = False


@dataclass(frozen=True)
class _Places:
    """The places that an index names in an iteration."""

    iterations: Iterations
    side: str

    def axes(self, place: Place) -> list[Axis]:
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
                    axes[axis] = self._sliced(part, axes[axis])
                    following.append(axis)
                else:
                    axes[axis] = self._item(part, axes[axis])
            whole = len(parts) == len(self._all_parts(key))
            free, more = following + (left if whole else []), more and whole
        return axes

    def _last(self, array: ir.Var, axis: int) -> Linear | None:
        """The last place on an axis."""
        value = self.iterations.context.value(array)
        if not isinstance(value, Array) or value.shape is None or axis >= len(value.shape):
            return None
        dim = value.shape[axis]
        if dim.symbol.startswith(("?", "*")):
            return None
        return (self.iterations.length(dim.symbol) if dim.symbol else Linear()).shifted(dim.offset - 1)

    def _all_parts(self, key: ir.Atom) -> tuple[ir.Atom, ...]:
        return self.iterations.context.definition(key, ops.make_tuple) or (key,)

    def _parts(self, key: ir.Atom) -> list[ir.Atom]:
        """The parts of an index that stand for axes counted from the first."""
        found = []
        for part in self._all_parts(key):
            value = self.iterations.context.value(part)
            if not is_basic(value) or (isinstance(value, Known) and (value.value is None or value.value is Ellipsis)):
                break
            found.append(part)
        return found

    def _is_slice(self, part: ir.Atom) -> bool:
        known = self.iterations.context.value(part)
        return not (isinstance(known, Scalar) or (isinstance(known, Known) and not isinstance(known.value, slice)))

    def _item(self, part: ir.Atom, axis: Axis) -> Axis:
        at = self.iterations.linear(part, self.side)
        if not at.terms and at.constant < 0:  # counted from the end, which only a whole axis has where it says
            found = axis.last.shifted(at.constant + 1) if axis.is_whole and axis.last is not None else None
        else:
            found = axis.first.plus(at) if axis.first is not None and self.iterations.is_positive(at) else None
        return Axis(found, found)

    def _sliced(self, part: ir.Atom, axis: Axis) -> Axis:
        start, stop, step = self._bounds(part)
        if step not in (ir.Const(None), ir.Const(1)):
            return Axis(None, None)
        if start == stop == ir.Const(None):
            return axis
        first, last = axis.first, axis.last
        if start != ir.Const(None):
            at = self.iterations.linear(start, self.side)
            first = first.plus(at) if first is not None and self.iterations.is_positive(at) else None
        if stop != ir.Const(None):
            at = self.iterations.linear(stop, self.side)
            if not at.terms and at.constant < 0:
                last = None if last is None else last.shifted(at.constant)
            else:
                known = axis.first is not None and self.iterations.is_positive(at)
                last = axis.first.plus(at).shifted(-1) if known else last  # type: ignore[union-attr]
        return Axis(first, last)

    def _bounds(self, part: ir.Atom) -> tuple[ir.Atom, ...]:
        """Start, stop and step of a slice; a step that is no number where they are not known."""
        known = self.iterations.context.value(part)
        if isinstance(known, Known):
            return ir.Const(known.value.start), ir.Const(known.value.stop), ir.Const(known.value.step)
        bounds = self.iterations.context.definition(part, slice)
        if bounds is None or len(bounds) > 3:
            return ir.Const(None), ir.Const(None), ir.Const(slice)
        return (*((ir.Const(None),) * (len(bounds) == 1)), *bounds, ir.Const(None))[:3]


def _add_same(two: Iterations, mine: Axis, theirs: Axis) -> None:
    """That two iterations name the same place on an axis."""
    if mine.first is not None and mine.first is mine.last and theirs.first is not None:
        if theirs.first is theirs.last:
            two.zero.append(mine.first.plus(theirs.first, -1))
            return
    for one, other in ((mine, theirs), (theirs, mine)):
        if one.first is not None and other.last is not None:
            two.positive.append(other.last.plus(one.first, -1))


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
