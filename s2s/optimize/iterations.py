"""The iterations of one loop: which places of arrays they read and write, and whether two of them may meet in one.

    for i in range(k + 1, n):
        a[i, k + 1 :] -= a[i, k] * a[k, k + 1 :]

Iteration ``i`` reads and writes row ``i`` alone, and reads row ``k``, which is no row ``i``.
"""

from __future__ import annotations

import operator
from typing import Any

from s2s.analysis.inequalities import Linear, are_impossible
from s2s.builder.builder import Builder, Context
from s2s.builder.slice_lengths import Sum, ends_of, is_inside, is_natural, minus, sum_of, sum_of_length
from s2s.core import ir, ops
from s2s.core.record import record
from s2s.core.values import Array, Dim, Known, Scalar
from s2s.optimize.loops.accesses import Access, Views

__all__ = ["Hull", "Iterations", "Refused", "is_slice", "parts_of"]

_NOTHING = ir.Const(None)
_SIGNS = {ir.Const(operator.add): 1, ir.Const(operator.sub): -1}
_DEPTH = 6


class Refused(Exception):
    """The iterations of a loop are not done at once."""


@record
class _Place:
    """What an access takes of one axis: the one index ``start``, or those from ``start`` to ``stop``, None where a
    number is not known. ``is_one`` says which."""

    start: Sum | None
    stop: Sum | None
    is_one: bool


@record
class Hull:
    """The slice that holds those of all iterations of an axis: they are the rows of a lower triangle in it, up to a
    diagonal ``offset``, or of an upper one; their ``length`` has the item in it."""

    part: ir.Atom
    is_lower: bool
    length: Sum
    offset: ir.Atom


class Iterations:
    """Those of a loop over ``range(low, high)``, or back where it ``is_down``; ``item`` is its variable. ``builder``
    takes what is computed for all of them."""

    def __init__(
        self, loop: ir.For, low: ir.Atom, high: ir.Atom, context: Context, views: Views, is_down: bool = False
    ) -> None:
        self.loop = loop
        self.item = loop.item
        self.low = low
        self.high = high
        self.context = context
        self.views = views
        self.is_down = is_down
        self.inside = {*ir.inner_defs_of(loop), *(d for s in loop.body.statements for d in ir.defs_of(s))}
        self.builder = Builder(context)
        self.other = context.define("%", Scalar(int))
        context.ranges[self.other] = loop.iterable

    # --- indices

    def depends(self, atom: ir.Atom | ir.Star) -> bool:
        """Whether an integer is another one in another iteration."""
        assert not isinstance(atom, ir.Star)
        return self.item in self.linear(atom)

    def linear(self, atom: ir.Atom, depth: int = _DEPTH) -> dict[ir.Atom | None, int]:
        """An integer as a number times each variable, the number alone under None."""
        if isinstance(atom, ir.Const):
            return {None: atom.value} if type(atom.value) is int else {atom: 1}
        made = self.context.definitions.get(atom)
        is_sum = isinstance(made, ir.Call) and made.fn in _SIGNS and len(made.args) == 2 and not made.kwargs
        if not depth or not is_sum or not self._is_int(atom):
            return {atom: 1}
        left, right = (self.linear(a, depth - 1) for a in made.args)  # type: ignore[union-attr, arg-type]
        return _plus(left, right, _SIGNS[made.fn])  # type: ignore[union-attr, index]

    def _is_int(self, atom: ir.Atom) -> bool:
        known = self.context.value(atom)
        return type(known.value) is int if isinstance(known, Known) else isinstance(known, Scalar) and known.type is int

    def written(self, form: dict[ir.Atom | None, int]) -> ir.Atom:
        """The atom of a sum."""
        number = form.get(None, 0)
        terms = sorted(((a, n) for a, n in form.items() if a is not None), key=lambda term: -term[1])
        if any(abs(n) != 1 for _, n in terms):
            raise Refused
        made: ir.Atom | None = None
        for atom, sign in terms:
            if made is None and sign > 0:
                made = atom
            else:
                first = ir.Const(0) if made is None else made
                made = self.builder.call(operator.add if sign > 0 else operator.sub, first, atom)
        if made is None or not number:
            return ir.Const(number) if made is None else made
        return self.builder.call(operator.add if number > 0 else operator.sub, made, ir.Const(abs(number)))

    def slice_of(self, index: ir.Atom, length: Dim) -> tuple[ir.Atom, bool]:
        """The slice that holds the places of all iterations at an index of an axis of this length, and whether it
        begins with that of the last one."""
        form = self.linear(index)
        factor = form.pop(self.item, 0)
        low, high = self.linear(self.low), self.linear(self.high)
        if factor == 1:
            start, stop = _plus(form, low, 1), _plus(form, high, 1)
        elif factor == -1:
            start, stop = _plus(_plus(form, high, -1), {None: 1}, 1), _plus(_plus(form, low, -1), {None: 1}, 1)
        else:
            raise Refused
        first, end = self.written(start), self.written(stop)
        first_sum, end_sum, whole = sum_of(self.context, first), sum_of(self.context, end), sum_of_length(
            self.context, length)
        if first_sum is None or end_sum is None or whole is None or not is_natural(self.builder, first_sum):
            raise Refused
        if end_sum == whole:
            end = _NOTHING
        elif not is_inside(self.builder, minus(whole, end_sum)) or not (
            is_natural(self.builder, end_sum) or self._is_empty_without(minus(whole, end_sum), first_sum)
        ):
            raise Refused
        if first == ir.Const(0):
            first = _NOTHING
        if first == end == _NOTHING:
            return ir.Const(slice(None)), factor < 0
        return self.builder.call(slice, first, end, _NOTHING), factor < 0

    def hull_of(self, part: ir.Atom, length: Dim) -> Hull:
        """The slice that holds those of all iterations of an axis, of which one end is another one in each."""
        bounds = self.context.definition(part, slice)
        whole = sum_of_length(self.context, length)
        if bounds is None or len(bounds) != 3 or bounds[2] not in (_NOTHING, ir.Const(1)) or whole is None:
            raise Refused
        first, end = self._end(bounds[0], {}), self._end(bounds[1], whole)
        is_lower = end.get(self.item) == 1 and self.item not in first
        if not is_lower and (first.get(self.item) != 1 or self.item in end):
            raise Refused
        if not is_natural(self.builder, first) or not self._is_natural(end):
            raise Refused
        if not is_inside(self.builder, minus(whole, end)):
            raise Refused
        start, stop = bounds[0], bounds[1]
        if is_lower:
            stop = self.written(_plus(self.at_high(self.linear(stop)), {None: 1}, -1))
            end_sum = sum_of(self.context, stop)
            if end_sum is None or not (end_sum == whole or self._is_natural(end_sum)):
                raise Refused
            stop = _NOTHING if end_sum == whole else stop
        else:
            start = self.written(self.at_low(self.linear(start)))
            stop = _NOTHING if end == whole else stop
        start = _NOTHING if start == ir.Const(0) else start
        hull = ir.Const(slice(None)) if start == stop == _NOTHING else self.builder.call(slice, start, stop, _NOTHING)
        length_sum = minus(end, first)
        offset = self._offset(bounds, length_sum) if is_lower else ir.Const(0)
        return Hull(hull, is_lower, length_sum, offset)

    def _offset(self, bounds: tuple[ir.Atom, ...], length: Sum) -> ir.Atom:
        """The diagonal at which a lower triangle ends: the shortest length less one."""
        low = sum_of(self.context, self.low)
        if low is not None:
            least = minus(_plus({k: n for k, n in length.items() if k != self.item}, low, 1), {}, -1)
            if not least.keys() - {None}:
                return ir.Const(least.get(None, 0))
        start = {} if bounds[0] == _NOTHING else self.linear(bounds[0])
        return self.written(_plus(_plus(self.at_low(self.linear(bounds[1])), start, -1), {None: 1}, -1))

    def _end(self, bound: ir.Atom, otherwise: Sum) -> Sum:
        """A bound of a slice as a sum of what is the same in all iterations, and the item."""
        found = otherwise if bound == _NOTHING else sum_of(self.context, bound)
        if found is None or not (self.inside - {self.item}).isdisjoint(found):
            raise Refused
        return found

    def _is_natural(self, number: Sum) -> bool:
        return is_natural(self.builder, number) or is_inside(self.builder, number, 1)

    def at_low(self, form: dict[Any, int]) -> dict[Any, int]:
        """A sum as it is with the smallest item."""
        return self._at(form, self.linear(self.low))

    def at_high(self, form: dict[Any, int]) -> dict[Any, int]:
        """A sum as it would be with one more than the largest item."""
        return self._at(form, self.linear(self.high))

    def _at(self, form: dict[Any, int], place: dict[Any, int]) -> dict[Any, int]:
        return _plus({k: n for k, n in form.items() if k != self.item}, place, form.get(self.item, 0))

    def count(self) -> ir.Atom:
        """The number of iterations, where there are some."""
        return self.written(_plus(self.linear(self.high), self.linear(self.low), -1))

    def _is_empty_without(self, left: Sum, first: Sum) -> bool:
        """Whether a slice that ends so far from the end of an axis is empty where the axis is shorter: the stop, which
        counts from the end there, is not behind the start."""
        return all(k is None for k in left) and is_natural(self.builder, minus(first, left, 2))

    def is_place(self, index: ir.Atom, length: Dim) -> bool:
        """Whether an index that is the same in all iterations lies inside an axis, or is read in any case."""
        number, whole = sum_of(self.context, index), sum_of_length(self.context, length)
        if number is None:
            return False
        if isinstance(index, ir.Const) and index.value < 0:
            return whole is not None and is_inside(self.builder, minus(whole, {}, index.value), 1)
        inside = whole is not None and is_inside(self.builder, minus(whole, number, -1), 1)
        return inside and is_natural(self.builder, number)

    def is_sure(self) -> bool:
        """Whether there is an iteration."""
        low, high = sum_of(self.context, self.low), sum_of(self.context, self.high)
        return low is not None and high is not None and is_natural(self.builder, minus(high, low, -1))

    def is_taken_sure(self) -> bool:
        """Whether there is an iteration, certainly or under a guard."""
        low, high = sum_of(self.context, self.low), sum_of(self.context, self.high)
        return low is not None and high is not None and is_inside(self.builder, minus(high, low, -1), 1)

    # --- what meets

    def access(self, source: ir.Atom, key: ir.Atom | None, shape: tuple[Dim, ...]) -> Access:
        """Where the elements of an array lie, or those of a part of it."""
        found = self.views.access(source) if key is None else self.views.item(source, key, shape)
        if found is None:
            raise Refused
        return found

    def are_separate(self, one: Access, other: Access) -> bool:
        """Whether no iteration has a place in common with another one."""
        if one.base != other.base:
            return False
        pairs = list(zip(self._places(one), self._places(other), strict=True))
        if any(map(self._are_own, *zip(*pairs, strict=True))) or self.are_apart(one, other):
            return True
        return self.keep_order(one, other) and self.keep_order(other, one)

    def keep_order(self, first: Access, second: Access) -> bool:
        """Whether no iteration has a place ``first`` that was a place ``second`` of an earlier one: so ``first`` may be
        done in all iterations before ``second`` is."""
        if first.base != second.base:
            return False
        low, high = sum_of(self.context, self.low), sum_of(self.context, self.high)
        if low is None or high is None:
            return False
        items: list[Sum] = [{self.item: 1}, {self.other: 1}]
        positive = [self._form(minus(items[self.is_down], items[not self.is_down], -1))]
        for item in items:
            positive += [self._form(minus(item, low)), self._form(minus(high, item, -1))]
        for k, (one, other) in enumerate(zip(self._places(first), self._places(second), strict=True)):
            for place, is_second in ((one, False), (other, True)):
                positive += self._bounds(place, Linear(0, {k: 1}), is_second)
        return are_impossible([], [*positive, *self._known_of(positive)])

    def _bounds(self, place: _Place, index: Linear, is_second: bool) -> list[Linear]:
        """What is known of an index that is at a place in an iteration."""
        found = []
        if place.start is not None and is_natural(self.builder, place.start):
            start = self._form(place.start, is_second)
            found.append(index.plus(start, -1))
            if place.is_one:
                found.append(start.plus(index, -1))
        if place.stop is not None and is_natural(self.builder, place.stop):
            found.append(self._form(place.stop, is_second).plus(index, -1).shifted(-1))
        return found

    def _form(self, number: Sum, is_second: bool = False) -> Linear:
        """A number in terms of what has one value in an iteration, or in the other one."""
        number = self._elsewhere(number) if is_second else number
        terms = {(k, is_second) if k in self.inside - {self.item} else k: n for k, n in number.items() if k is not None}
        return Linear(number.get(None, 0), terms)

    def _known_of(self, forms: list[Linear]) -> list[Linear]:
        """That lengths are not negative, and that items of loops around are in their ranges."""
        found: list[Linear] = []
        seen: set[Any] = {self.item, self.other}
        todo = [k for form in forms for k in form.terms]
        while todo:
            k = todo.pop()
            if k in seen:
                continue
            seen.add(k)
            if isinstance(k, str):
                found.append(Linear(0, {k: 1}))
            elif isinstance(k, ir.Var):
                first, last = ends_of(self.context, k) or (None, None)
                bounds = [] if first is None else [Linear(0, {k: 1}).plus(self._form(first), -1)]
                bounds += [] if last is None else [self._form(last).plus(Linear(0, {k: 1}), -1)]
                todo += [name for form in bounds for name in form.terms]
                found += bounds
        return found

    def are_apart(self, one: Access, other: Access) -> bool:
        """Whether no place of one access is one of the other, in any two iterations."""
        pairs = zip(self._places(one), self._places(other), strict=True)
        return one.base == other.base and any(self._differ(a, b) or self._differ(b, a) for a, b in pairs)

    def _places(self, access: Access) -> list[_Place]:
        found = []
        for axis in access.axes:
            if axis.back != ir.Const(0):
                raise Refused
            start = sum_of(self.context, axis.start)
            if axis.along is None:
                found.append(_Place(start, None, True))
            else:
                stop = access.extents[axis.along].stop
                found.append(_Place(start, None if stop == _NOTHING else sum_of(self.context, stop), False))
        return found

    def _are_own(self, one: _Place, other: _Place) -> bool:
        """Whether both are one index that is another one in another iteration."""
        return one.is_one and other.is_one and one.start == other.start and self.item in (one.start or {})

    def _differ(self, one: _Place, other: _Place) -> bool:
        """Whether an index comes certainly before others, or after them."""
        if not one.is_one or one.start is None or other.start is None:
            return False
        number, start = one.start, self._elsewhere(other.start)
        if not is_natural(self.builder, number) or not is_natural(self.builder, start):
            return False
        if is_natural(self.builder, minus(start, number, -1)):
            return True
        stop = minus(start, {}, 1) if other.is_one else None if other.stop is None else self._elsewhere(other.stop)
        return stop is not None and is_natural(self.builder, stop) and is_natural(self.builder, minus(number, stop))

    def _elsewhere(self, number: Sum) -> Sum:
        """A number as it is in another iteration."""
        return {self.other if k == self.item else k: n for k, n in number.items()}


def _plus(one: dict[Any, int], other: dict[Any, int], factor: int) -> dict[Any, int]:
    made = {k: one.get(k, 0) + factor * other.get(k, 0) for k in {**one, **other}}
    return {k: n for k, n in made.items() if n}


def parts_of(key: ir.Atom, context: Context) -> tuple[ir.Atom, ...]:
    """The parts of an index of integers and slices, one for each axis."""
    known = context.value(key)
    if isinstance(known, Known) and type(known.value) is tuple:
        parts: tuple[Any, ...] = tuple(map(ir.Const, known.value))
    else:
        parts = context.definition(key, ops.make_tuple) or (key,)
    for part in parts:
        value = context.value(part)
        is_int = isinstance(value, Scalar) and value.type is int
        if isinstance(value, Array) or not (is_slice(part, context) or is_int or (
            isinstance(value, Known) and type(value.value) is int
        )):
            raise Refused
    return parts


def is_slice(part: ir.Atom, context: Context) -> bool:
    """Whether a part of an index is a slice."""
    value = context.value(part)
    return getattr(value, "type", None) is slice or (isinstance(value, Known) and type(value.value) is slice)
