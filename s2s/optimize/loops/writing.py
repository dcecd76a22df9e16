"""Loops written out: the lengths and places that they need, then one loop for each axis, the elements inside.

    n = a.shape[0]
    m = b.shape[0] - 1
    rt.check_lengths(n, m)                  lengths that NumPy would find to be equal, or refuse
    t = np.empty(n)                         an array, as others read it
    for i in rt.places(n):
        t[i] = a[i] * b[i + 1]
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.builder.builder import Builder
from s2s.core import ir, ops
from s2s.core.limits import FEW_NUMBERS
from s2s.core.values import Array, Scalar
from s2s.optimize.loops.accesses import ONE, Access, Axis, Extent
from s2s.optimize.loops.buffers import Buffers
from s2s.optimize.loops.gathers import Addition, least
from s2s.optimize.loops.steps import Step

__all__ = ["SHORT", "write", "write_gather"]

_ZERO, _NOTHING = ir.Const(0), ir.Const(None)
_NAMES = "ijklmn"
SHORT = FEW_NUMBERS
"""The longest length that loops are written for."""
_BEGIN: dict[Any, float] = {operator.add: 0.0, np.maximum: -np.inf, np.minimum: np.inf}


def write(steps: list[Step], buffers: Buffers) -> list[ir.Statement]:
    """The statements of the loop that does some steps."""
    writer = _Writer(steps, buffers)
    writer.run()
    return writer.outer.statements


def write_gather(additions: list[Addition], buffers: Buffers) -> list[ir.Statement]:
    """The statements of the loop that does some additions to one array."""
    if len({one.skipped for one in additions}) == 1:
        return write([one.step for one in additions], buffers)
    writer = _GatherWriter(additions, buffers)
    writer.run()
    return writer.outer.statements


class _Places:
    """Lengths and places, computed before a loop."""

    def __init__(self, buffers: Buffers, span: ir.Span | None) -> None:
        self.buffers = buffers
        self.context = buffers.context
        self.outer = Builder(self.context)
        self.span = span
        self.scopes = buffers.scopes
        self.starts: dict[tuple[ir.Var, int, ir.Atom, bool], ir.Atom] = {}
        self.turns: dict[tuple[ir.Var, int, ir.Atom], ir.Atom] = {}
        self.items: list[ir.Atom] = []

    def _call(self, fn: Any, *args: ir.Atom) -> ir.Atom:
        return self.outer.call(fn, *args, span=self.span)

    def _length(self, base: ir.Var, axis: int) -> ir.Atom:
        return self._extent(Extent(base, axis, ir.Const(0)))

    def _extent(self, extent: Extent) -> ir.Atom:
        """The length of an axis of a view."""
        less = _shorter_by(extent)
        if less is not None:
            extent = Extent(extent.base, extent.axis, ir.Const(less))
        found = self.scopes.computed(extent)
        if found is None:
            assert extent.base is not None
            found = self._whole(extent.base, extent.axis) if less == 0 else self._part(extent, less)
            self.scopes.compute(extent, found)
        return found

    def _whole(self, base: ir.Var, axis: int) -> ir.Atom:
        """The length of an axis of an array, its margin left out."""
        shape = self._call(getattr, self.buffers.array(base), ir.Const("shape"))
        found, around = self._call(operator.getitem, shape, ir.Const(axis)), self.buffers.around(base, axis)
        return self._call(operator.sub, found, ir.Const(around)) if around else found

    def _part(self, extent: Extent, less: int | None) -> ir.Atom:
        """The length of a slice of an array."""
        assert extent.base is not None
        n = self._length(extent.base, extent.axis)
        if less is not None:
            return self._call(operator.sub, n, ir.Const(less))
        begin = _ZERO if extent.start == _NOTHING else self._bound(extent.start, n)
        end = n if extent.stop == _NOTHING else self._bound(extent.stop, n)
        return end if begin == _ZERO else self._call(operator.sub, end, begin)

    def _check(self, lengths: Iterable[ir.Atom]) -> None:
        """Compare lengths, as far as that is not done before."""
        compared = self.scopes.unchecked(lengths)
        if compared:
            self.outer.call(rt.check_lengths, *compared, span=self.span, effect=True)

    def _bound(self, bound: ir.Atom, n: ir.Atom) -> ir.Atom:
        """Where a slice begins or ends, of an axis of length ``n``."""
        if bound == _ZERO:
            return bound
        return self._call(rt.bound, bound, n)

    def _find_starts(self, access: Access) -> None:
        """Compute where the axes of an array are begun to be read."""
        for axis, one in enumerate(access.axes):
            self._find_start(access.base, axis, one)
            key = access.base, axis, one.back
            if one.back != _ZERO and key not in self.turns:
                self.turns[key] = self._call(rt.turn, one.back, self._length(access.base, axis))

    def _find_start(self, base: ir.Var, axis: int, one: Axis) -> None:
        key = base, axis, one.start, one.along is None
        if key in self.starts:
            return
        if one.along is None:
            self.starts[key] = self._call(rt.place, one.start, self._length(base, axis))
        elif one.start == _ZERO or (isinstance(one.start, ir.Const) and one.start.value > 0):
            self.starts[key] = one.start
        else:
            self.starts[key] = self._bound(one.start, self._length(base, axis))

    def _places_of(self, builder: Builder, access: Access) -> list[ir.Atom]:
        places = []
        for axis, one in enumerate(access.axes):
            start = self.starts[access.base, axis, one.start, one.along is None]
            before = self.buffers.before(access.base, axis)
            if before and isinstance(start, ir.Const):
                start = ir.Const(start.value + before)
            elif before:
                start = builder.call(operator.add, start, ir.Const(before))
            if one.along is None:
                places.append(start)
                continue
            item = self.items[one.along]
            if one.back != _ZERO:
                turn = self.turns[access.base, axis, one.back]
                item = builder.call(rt.around, item, turn, self._length(access.base, axis))
            places.append(self._shifted(builder, item, start))
        return places

    def _shifted(self, builder: Builder, item: ir.Atom, start: ir.Atom) -> ir.Atom:
        return item if start == _ZERO else builder.call(operator.add, item, start)

    def _index(self, builder: Builder, places: list[ir.Atom]) -> ir.Atom:
        return places[0] if len(places) == 1 else builder.call(ops.make_tuple, *places)


class _Writer(_Places):
    def __init__(self, steps: list[Step], buffers: Buffers) -> None:
        super().__init__(buffers, steps[0].statement.span)
        self.steps = steps
        self.space = steps[0].space
        self.rank = len(self.space)
        self.own = {s.statement.target for s in self.steps if s.kind == "map"}
        within = Counter(a for s in steps for a in ir.reads_of(s.statement))
        self.kept = {var for var in self.own if buffers.uses[var] > within[var]}  # type: ignore[index]
        self.elements: dict[ir.Atom, ir.Atom] = {}  # of the arrays that the loop makes
        self.read: dict[tuple[ir.Var, Any], ir.Atom] = {}

    def run(self) -> None:
        """Write everything."""
        lengths = self._lengths()
        sizes = [next(iter(found)) for found in lengths]
        for step in self.steps:
            for access in step.accesses:
                if access.base not in self.own:
                    self._find_starts(access)
            self._make(step, sizes)
            if step.joins is not operator.add:
                for k in step.axes:  # of no elements there is no maximum
                    self.outer.call(rt.place, _ZERO, sizes[k], span=self.span, effect=True)
            self._compare(step, lengths)
        for found in lengths:
            self._check(found)
        self._nest(self.outer, sizes, self._totals(0))

    def _lengths(self) -> list[dict[ir.Atom, None]]:
        """The lengths along each axis of the space, of all arrays of the loop."""
        lengths: list[dict[ir.Atom, None]] = []
        for k in range(self.rank):
            found: dict[ir.Atom, None] = {}
            for step in self.steps:
                for access in step.accesses:
                    j = k - (self.rank - len(access.dims))
                    stays = j >= 0 and access.base not in self.own and not self._is_one(access, j, k)
                    if stays:
                        found[self._extent(access.extents[j])] = None
            known = next((s.space[k].offset for s in self.steps if not s.space[k].symbol), 0)
            if not found or 2 <= known <= SHORT:  # so short a loop is written for its length
                found = {ir.Const(known): None, **found}
            lengths.append(found)
        return lengths

    def _compare(self, step: Step, lengths: list[dict[ir.Atom, None]]) -> None:
        """Take in the lengths of an array that is made before the loop around."""
        target = step.statement.target
        if target not in self.buffers.made_before:
            return
        kept = [k for k in range(self.rank) if k not in step.axes]
        for axis, k in enumerate(range(self.rank) if step.keeps_dims else kept):
            if k in kept:
                lengths[k][self._length(target, axis)] = None  # type: ignore[arg-type]

    def _is_one(self, access: Access, own: int, axis: int) -> bool:
        """Whether an array has one place along an axis, which is read for all."""
        if access.extents[own].base is None:
            return True
        return access.dims[own] == ONE and self.space[axis] != ONE

    def _make(self, step: Step, sizes: list[ir.Atom]) -> None:
        """Make the array that a step fills."""
        target = step.statement.target
        assert target is None or isinstance(target, ir.Var)
        if step.kind == "store" or target is None:
            return
        if step.kind == "map" and target in self.kept:
            self.buffers.make(self.outer, target, np.empty, sizes, step.statement.span)
        elif step.kind == "sum" and len(step.axes) < self.rank:
            left = [ir.Const(1) if k in step.axes else n for k, n in enumerate(sizes)]
            if not step.keeps_dims:
                left = [n for k, n in enumerate(sizes) if k not in step.axes]
            fn = np.empty if self._level(step) is not None else np.zeros
            self.buffers.make(self.outer, target, fn, left, step.statement.span)

    # --- the loop

    def _level(self, step: Step) -> int | None:
        """How many loops are around the one in which a sum is complete; None where it is not, within one loop."""
        level = self.rank - len(step.axes)
        return level if step.axes == tuple(range(level, self.rank)) else None

    def _totals(self, level: int) -> list[Step]:
        """The sums that begin and end inside so many loops."""
        return [s for s in self.steps if s.kind == "sum" and self._level(s) == level]

    def _nest(self, builder: Builder, sizes: list[ir.Atom], running: list[Step]) -> None:
        """The loops; ``running`` are the sums that are begun here."""
        totals: dict[int, ir.Atom] = {}
        self._loop(builder, sizes, totals, running)

    def _loop(
        self, builder: Builder, sizes: list[ir.Atom], totals: dict[int, ir.Atom], begun: list[Step]
    ) -> None:
        """One loop and those inside; ``totals`` are the running sums, those of ``begun`` begin here."""
        level = len(self.items)
        if level == self.rank:
            self._body(builder, totals)
            return
        outer = dict(totals)
        for step in begun:
            totals[id(step)] = ir.Const(_BEGIN[step.joins])
        keys = list(totals)
        item = self.context.define(_NAMES[level], Scalar(int))
        n = self._places(builder, sizes[level])
        child = builder.child()
        params = {key: self._total(key) for key in keys}
        self.items.append(item)
        inside: dict[int, ir.Atom] = dict(params)
        self._loop(child, sizes, inside, self._totals(level + 1))
        self.items.pop()
        carried = []
        for key in keys:
            result = self._total(key)
            carried.append(ir.Carried(params[key], totals[key], result))
            totals[key] = result
        builder.add(ir.For(item, n, child.block(*(inside[key] for key in keys)), tuple(carried), span=self.span))
        for step in begun:
            self._end(builder, step, totals.pop(id(step)))
        assert totals.keys() == outer.keys()

    def _total(self, key: int) -> ir.Var:
        return self.context.define("total", Scalar(np.float64))

    def _places(self, builder: Builder, size: ir.Atom) -> ir.Atom:
        return builder.call(rt.places, size, span=self.span)

    def _end(self, builder: Builder, step: Step, total: ir.Atom) -> None:
        """Give the result of a sum, once it is complete."""
        target = step.statement.target
        assert isinstance(target, ir.Var)
        if len(step.axes) == self.rank:
            builder.add(ir.Let(target, total, step.statement.span))
        else:
            builder.store(target, self._place_of_sum(builder, step), total, span=step.statement.span)

    def _place_of_sum(self, builder: Builder, step: Step) -> ir.Atom:
        places = [_ZERO if k in step.axes else i for k, i in enumerate(self._all_items(builder, step))]
        if not step.keeps_dims:
            places = [i for k, i in enumerate(places) if k not in step.axes]
        return places[0] if len(places) == 1 else builder.call(ops.make_tuple, *places)

    def _all_items(self, builder: Builder, step: Step) -> list[ir.Atom]:
        return [*self.items, *[_ZERO] * (self.rank - len(self.items))]

    def _body(self, builder: Builder, totals: dict[int, ir.Atom]) -> None:
        self.elements, self.read = {}, {}
        for step in self.steps:
            values = [self._element(builder, a, step) if isinstance(a, Access) else a for a in step.operands]
            if step.kind == "store":
                self._store(builder, step, values[0])
                continue
            target = step.statement.target
            assert isinstance(target, ir.Var)
            made = self._apply(builder, step, values)
            if step.kind == "map":
                self.elements[target] = made
                if target in self.kept:
                    starts = [ir.Const(self.buffers.before(target, axis)) for axis in range(self.rank)]
                    places = [self._shifted(builder, i, start) for i, start in zip(self.items, starts, strict=True)]
                    array = self.buffers.array(target)
                    builder.store(array, self._index(builder, places), made, span=step.statement.span)
            elif id(step) in totals:
                totals[id(step)] = builder.call(step.joins, totals[id(step)], made, span=step.statement.span)
            else:
                builder.store(
                    target, self._place_of_sum(builder, step), made, operator.add, span=step.statement.span)

    def _apply(self, builder: Builder, step: Step, values: list[ir.Atom]) -> ir.Atom:
        """What a step makes of elements."""
        if step.fn is np.copy:
            return values[0]
        name = step.statement.target.name if step.kind == "map" else "%"  # type: ignore[union-attr]
        return builder.call(step.fn, *values, name=name, span=step.statement.span)

    def _element(self, builder: Builder, access: Access, step: Step) -> ir.Atom:
        """The element of an array in this iteration."""
        if access.base in self.own:
            return self.elements[access.base]
        key = access.base, access.axes
        found = self.read.get(key)
        if found is None:
            index = self._index(builder, self._places_of(builder, access))
            found = builder.call(operator.getitem, self.buffers.array(access.base), index, span=step.statement.span)
            known = self.context.value(access.base)
            if isinstance(found, ir.Var) and isinstance(known, Array):  # whatever is known of its places
                self.context.values[found] = Scalar(known.dtype.type)
            self.read[key] = found
        return found

    def _store(self, builder: Builder, step: Step, value: ir.Atom) -> None:
        access = step.target
        assert access is not None
        index = self._index(builder, self._places_of(builder, access))
        builder.store(self.buffers.array(access.base), index, value, step.fn, span=step.statement.span)
        self.read.pop((access.base, access.axes), None)


class _GatherWriter(_Places):
    """One loop over all elements that some additions go to."""

    def __init__(self, additions: list[Addition], buffers: Buffers) -> None:
        super().__init__(buffers, additions[0].step.statement.span)
        self.additions = additions
        self.outermost = least(additions)
        target = additions[0].step.target
        assert target is not None
        self.target = target
        self.rank = len(additions[0].skipped)

    def run(self) -> None:
        """Write everything."""
        along = {axis.along: k for k, axis in enumerate(self.target.axes) if axis.along is not None}
        sizes = []
        for k in range(self.rank):
            less = sum(self.outermost[k])
            sizes.append(self._extent(Extent(self.target.base, along[k], ir.Const(less))))
            for one in self.additions:  # a region is as much shorter than all of them as is left out beside it
                region = Extent(self.target.base, along[k], ir.Const(sum(one.skipped[k])))
                self._check(dict.fromkeys([self._extent(region), self._length(one.value, k)]))
        for axis, one_axis in enumerate(self.target.axes):
            if one_axis.along is None:
                self._find_start(self.target.base, axis, one_axis)
        self._nest(self.outer, sizes)

    def _nest(self, builder: Builder, sizes: list[ir.Atom]) -> None:
        level = len(self.items)
        if level == self.rank:
            self._body(builder)
            return
        n = builder.call(rt.places, sizes[level], span=self.span)
        item, child = self.context.define(_NAMES[level], Scalar(int)), builder.child()
        self.items.append(item)
        self._nest(child, sizes)
        self.items.pop()
        builder.add(ir.For(item, n, child.block(), span=self.span))

    def _body(self, builder: Builder) -> None:
        sums: dict[object, ir.Atom] = {}
        for one in self.additions:
            places = [
                self._shifted(builder, i, ir.Const(self.outermost[k][0] - one.skipped[k][0] + self._margin(one, k)))
                for k, i in enumerate(self.items)
            ]
            array, span = self.buffers.array(one.value), one.step.statement.span
            element = builder.call(operator.getitem, array, self._index(builder, places), span=span)
            before = sums.get(one.step.fn)
            sums[one.step.fn] = element if before is None else builder.call(operator.add, before, element, span=span)
        added, taken = sums.get(operator.add), sums.get(operator.sub)
        if added is not None and taken is not None:
            added = builder.call(operator.sub, added, taken, span=self.span)
        places = []
        for axis, one_axis in enumerate(self.target.axes):
            if one_axis.along is None:
                places.append(self.starts[self.target.base, axis, one_axis.start, True])
            else:
                start = ir.Const(self.outermost[one_axis.along][0])
                places.append(self._shifted(builder, self.items[one_axis.along], start))
        index, op = self._index(builder, places), operator.sub if added is None else operator.add
        total = taken if added is None else added
        assert total is not None
        builder.store(self.buffers.array(self.target.base), index, total, op, span=self.span)

    def _margin(self, one: Addition, axis: int) -> int:
        return self.buffers.before(one.value, axis)


def _shorter_by(extent: Extent) -> int | None:
    """How much shorter a slice is than its axis, where the bounds say it: 3 for ``[1:-2]``. Of an axis that is shorter
    than that the length is negative here, which no other one is."""
    start, stop = extent.start, extent.stop
    if not isinstance(start, ir.Const) or not isinstance(stop, ir.Const):
        return None
    begin = 0 if start.value is None else start.value
    end = 0 if stop.value is None else stop.value
    if begin < 0 or end > 0 or (stop.value is not None and end == 0):
        return None
    return int(begin - end)
