"""The iterations of one loop: which places of arrays they read and write, and whether two of them may meet in one.

    for i in range(k + 1, n):
        a[i, k + 1 :] -= a[i, k] * a[k, k + 1 :]

Iteration ``i`` reads and writes row ``i`` alone, and reads row ``k``, which is no row ``i``.
"""

from __future__ import annotations

import operator
from typing import Any

from s2s.builder.builder import Builder, Context
from s2s.builder.slice_lengths import Sum, is_inside, is_natural, minus, sum_of, sum_of_length
from s2s.core import ir, ops
from s2s.core.record import record
from s2s.core.values import Array, Dim, Known, Scalar
from s2s.optimize.loops.accesses import Access, Views

__all__ = ["Iterations", "Refused", "parts_of"]

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


class Iterations:
    """Those of a loop over ``range(low, high)``, in any order; ``item`` is its variable. ``builder`` takes what is
    computed for all of them."""

    def __init__(self, loop: ir.For, low: ir.Atom, high: ir.Atom, context: Context, views: Views) -> None:
        self.loop = loop
        self.item = loop.item
        self.low = low
        self.high = high
        self.context = context
        self.views = views
        self.builder = Builder(context)
        self.other = context.define("%", Scalar(int))
        context.ranges[self.other] = loop.iterable

    # --- indices

    def depends(self, atom: ir.Atom | ir.Star) -> bool:
        """Whether an integer is another one in another iteration."""
        assert not isinstance(atom, ir.Star)
        return self.item in self._linear(atom)

    def _linear(self, atom: ir.Atom, depth: int = _DEPTH) -> dict[ir.Atom | None, int]:
        """An integer as a number times each variable, the number alone under None."""
        if isinstance(atom, ir.Const):
            return {None: atom.value} if type(atom.value) is int else {atom: 1}
        made = self.context.definitions.get(atom)
        is_sum = isinstance(made, ir.Call) and made.fn in _SIGNS and len(made.args) == 2 and not made.kwargs
        if not depth or not is_sum or not self._is_int(atom):
            return {atom: 1}
        left, right = (self._linear(a, depth - 1) for a in made.args)  # type: ignore[union-attr, arg-type]
        return _plus(left, right, _SIGNS[made.fn])  # type: ignore[union-attr, index]

    def _is_int(self, atom: ir.Atom) -> bool:
        known = self.context.value(atom)
        return type(known.value) is int if isinstance(known, Known) else isinstance(known, Scalar) and known.type is int

    def _written(self, form: dict[ir.Atom | None, int]) -> ir.Atom:
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
        form = self._linear(index)
        factor = form.pop(self.item, 0)
        low, high = self._linear(self.low), self._linear(self.high)
        if factor == 1:
            start, stop = _plus(form, low, 1), _plus(form, high, 1)
        elif factor == -1:
            start, stop = _plus(_plus(form, high, -1), {None: 1}, 1), _plus(_plus(form, low, -1), {None: 1}, 1)
        else:
            raise Refused
        first, end = self._written(start), self._written(stop)
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
        return any(map(self._are_own, *zip(*pairs, strict=True))) or self.are_apart(one, other)

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
        is_slice = getattr(value, "type", None) is slice or (isinstance(value, Known) and type(value.value) is slice)
        is_int = isinstance(value, Scalar) and value.type is int
        if isinstance(value, Array) or not (is_slice or is_int or (
            isinstance(value, Known) and type(value.value) is int
        )):
            raise Refused
    return parts
