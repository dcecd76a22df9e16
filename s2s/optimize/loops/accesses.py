"""Where the elements of a view lie: for each axis of the array that it is a view of, a place or an axis of the view.

    v = a[1:, k]        v[i] is a[i + 1, k]         Access(a, (Axis(1, 0), Axis(k, None)))
    t = v[:, None]      t[i, 0] is a[i + 1, k]
    m = b.T             m[i, j] is b[j, i]
"""

from __future__ import annotations

import operator
from collections.abc import Callable

import numpy as np

from s2s.core import ir, ops
from s2s.core.record import record, replace
from s2s.core.values import AbstractValue, Array, Dim, Known, Scalar, Sequence

__all__ = ["ONE", "Access", "Axis", "Extent", "Views"]

ONE = Dim("", 1)
_NOTHING = ir.Const(None)
_ZERO = ir.Const(0)


@record
class Axis:
    """The index along one axis of an array: ``start + i`` with ``i`` the index along the axis ``along`` of the view; an
    index ``start`` that chooses one place where that is None. Both may count from the end. ``back`` is how many places
    before that the element lies, where the axis is gone around, as ``np.roll`` does."""

    start: ir.Atom
    along: int | None = None
    back: ir.Atom = _ZERO


@record
class Extent:
    """The length of an axis of a view: of ``base[start:stop]`` along ``axis``; 1 where there is no ``base``."""

    base: ir.Var | None
    axis: int = 0
    start: ir.Atom = _NOTHING
    stop: ir.Atom = _NOTHING


@record
class Access:
    """The elements of a view as elements of the array ``base``; ``extents`` and ``dims`` are its lengths, to be
    computed and as symbols."""

    base: ir.Var
    axes: tuple[Axis, ...]
    extents: tuple[Extent, ...]
    dims: tuple[Dim, ...]

    @property
    def atoms(self) -> list[ir.Atom]:
        """What it is computed from."""
        bounds = [atom for e in self.extents for atom in (e.base or _NOTHING, e.start, e.stop)]
        return [self.base, *(a.start for a in self.axes), *(a.back for a in self.axes), *bounds]

    def rolled(self, axis: int, back: ir.Atom) -> Access | None:
        """The elements ``back`` places before, around an axis; None where the axis is not all that the array has."""
        extent, axes = self.extents[axis], list(self.axes)
        at = next((k for k, a in enumerate(axes) if a.along == axis), None)
        if at is None or (extent.start, extent.stop) != (_NOTHING, _NOTHING) or axes[at].start != _ZERO:
            return None
        axes[at] = replace(axes[at], back=back)
        return replace(self, axes=tuple(axes))

    def transposed(self) -> Access:
        """The same elements with the axes the other way round."""
        last = len(self.dims) - 1
        axes = tuple(a if a.along is None else replace(a, along=last - a.along) for a in self.axes)
        return Access(self.base, axes, self.extents[::-1], self.dims[::-1])

    def with_axis(self, at: int) -> Access:
        """The same elements with an axis of length 1 before one."""
        axes = tuple(a if a.along is None or a.along < at else replace(a, along=a.along + 1) for a in self.axes)
        extents = (*self.extents[:at], Extent(None), *self.extents[at:])
        return Access(self.base, axes, extents, (*self.dims[:at], ONE, *self.dims[at:]))

    def is_apart_from(self, other: Access, differ: Callable[[ir.Atom, ir.Atom], bool]) -> bool:
        """Whether it certainly has no element of another access: both choose one place along an axis, and two, which
        ``differ`` tells."""
        return self.base == other.base and any(
            a.along is b.along is None and differ(a.start, b.start) for a, b in zip(self.axes, other.axes, strict=True)
        )

    def along(self, rank: int, dims: tuple[Dim, ...]) -> Access:
        """The same elements by the indices of a space of these lengths, over which it is stretched."""
        shift = rank - len(self.dims)
        axes = []
        for axis in self.axes:
            if axis.along is None:
                axes.append(axis)
            elif self.dims[axis.along] == ONE and dims[axis.along + shift] != ONE:
                axes.append(Axis(axis.start))  # the one place that there is
            else:
                axes.append(replace(axis, along=axis.along + shift))
        return replace(self, axes=tuple(axes))


class Views:
    """The accesses of the variables of one function."""

    def __init__(self, function: ir.Function, value_of: Callable[[ir.Atom], AbstractValue]) -> None:
        self.value_of = value_of
        lets = [s for s in ir.walk(function.body) if isinstance(s, ir.Let)]
        self.made = {s.target: s.value for s in lets if s.target is not None}
        self.found: dict[ir.Var, Access | None] = {}

    def access(self, atom: ir.Atom) -> Access | None:
        """How an array is read or stored into element by element; None where its rank is not known."""
        if not isinstance(atom, ir.Var):
            return None
        if atom not in self.found:
            self.found[atom] = self._access(atom)
        return self.found[atom]

    def is_view(self, s: ir.Let) -> bool:
        """Whether a statement makes a view, which reads nothing of what the array holds."""
        found = self.access(s.target) if s.target is not None else None
        return found is not None and found.base != s.target

    def _access(self, var: ir.Var) -> Access | None:
        known = self.value_of(var)
        if not isinstance(known, Array) or known.shape is None:
            return None
        match self.made.get(var):
            case ir.Var() as other:
                found = self.access(other)
                return None if found is None else replace(found, dims=known.shape)
            case ir.Call(ir.Const(value=fn), (source,), ()) if fn is np.transpose:
                found = self._transposed(source, known.shape)  # type: ignore[arg-type]
            case ir.Call(ir.Const(value=fn), (source, index), ()) if fn is operator.getitem:
                found = self.item(source, index, known.shape)  # type: ignore[arg-type]
            case ir.Call(ir.Const(value=fn), (source, ir.Const(value="T")), ()) if fn is getattr:
                found = self._transposed(source, known.shape)  # type: ignore[arg-type]
            case ir.Call(ir.Const(value=fn), (source, ir.Const(value=int() as axis)), ()) if fn is np.expand_dims:
                behind = self.access(source)  # type: ignore[arg-type]
                found = None if behind is None else replace(behind.with_axis(axis % len(known.shape)), dims=known.shape)
            case _:
                found = None
        return self._whole(var, known.shape) if found is None else found

    def _whole(self, var: ir.Var, shape: tuple[Dim, ...]) -> Access:
        axes = tuple(Axis(_ZERO, k) for k in range(len(shape)))
        return Access(var, axes, tuple(Extent(var, k) for k in range(len(shape))), shape)

    def _transposed(self, source: ir.Atom, shape: tuple[Dim, ...]) -> Access | None:
        found = self.access(source)
        return None if found is None else replace(found.transposed(), dims=shape)

    def item(self, source: ir.Atom, index: ir.Atom, shape: tuple[Dim, ...]) -> Access | None:
        """The access of ``source[index]``, an array of this shape; None where it is no view of a kind that is written
        out, or one of a view that begins elsewhere."""
        whole = self.access(source)
        parts = self._parts(index)
        if whole is None or parts is None:
            return None
        missing = len(whole.dims) - sum(1 for p in parts if not self._is(p, None) and not self._is(p, Ellipsis))
        if sum(self._is(p, Ellipsis) for p in parts) > 1 or missing < 0:
            return None
        if not any(self._is(p, Ellipsis) for p in parts):
            parts = (*parts, ir.Const(Ellipsis))
        chosen: dict[int, Axis] = {}  # by axis of the source
        extents: list[Extent] = []
        at = 0
        for part in parts:
            if self._is(part, None):
                extents.append(Extent(None))
                continue
            for one in [ir.Const(slice(None))] * missing if self._is(part, Ellipsis) else [part]:
                made = self._axis(one, whole.extents[at], len(extents))
                if made is None:
                    return None
                chosen[at] = made[0]
                extents += made[1]
                at += 1
        if len(extents) != len(shape):
            return None
        axes = [self._of_both(axis, chosen) for axis in whole.axes]
        if None in axes:
            return None
        return Access(whole.base, tuple(axes), tuple(extents), shape)  # type: ignore[arg-type]

    def _of_both(self, axis: Axis, chosen: dict[int, Axis]) -> Axis | None:
        """The axis of the array behind a view, as a part of the view takes it."""
        if axis.along is None:
            return axis
        inner = chosen[axis.along]
        if axis.start == _ZERO:
            return inner
        return replace(axis, along=inner.along) if inner.along is not None and inner.start == _ZERO else None

    def _axis(self, part: ir.Atom, extent: Extent, along: int) -> tuple[Axis, list[Extent]] | None:
        """What an index takes of an axis of this length, and the length of the axis of the view that comes of it."""
        known = self.value_of(part)
        if (isinstance(known, Known) and type(known.value) is int) or (
            isinstance(known, Scalar) and isinstance(known.type, type) and issubclass(known.type, (int, np.int64))
            and known.type is not bool
        ):
            if extent.base is None:
                return None
            return Axis(part), []
        bounds = self._bounds(part, known)
        if bounds is None:
            return None
        start, stop, step = bounds
        if start in (_NOTHING, _ZERO) and stop == _NOTHING and step in (_NOTHING, ir.Const(1)):
            return Axis(_ZERO, along), [extent]
        if extent.base is None or (extent.start, extent.stop) != (_NOTHING, _NOTHING):
            return None
        if step not in (_NOTHING, ir.Const(1)):
            return None
        if start == _NOTHING:
            start = _ZERO
        return Axis(start, along), [replace(extent, start=start, stop=stop)]

    def _bounds(self, part: ir.Atom, known: AbstractValue) -> tuple[ir.Atom, ir.Atom, ir.Atom] | None:
        """Start, stop and step of a slice: integers, or None where one is left out."""
        if isinstance(known, Known) and type(known.value) is slice:
            taken = known.value
            bounds = ir.Const(taken.start), ir.Const(taken.stop), ir.Const(taken.step)
        elif isinstance(known, Sequence) and known.type is slice and isinstance(part, ir.Var):
            made = self.made.get(part)
            if not isinstance(made, ir.Call) or made.fn != ir.Const(slice) or made.kwargs:
                return None
            given = made.args
            if len(given) == 1:
                given = (_NOTHING, given[0])
            bounds = (*given, *[_NOTHING] * (3 - len(given)))  # type: ignore[assignment]
        else:
            return None
        return bounds if all(map(self._is_bound, bounds)) else None

    def _is_bound(self, atom: ir.Atom) -> bool:
        known = self.value_of(atom)
        if isinstance(known, Known):
            return known.value is None or type(known.value) is int
        return isinstance(known, Scalar) and known.type is int

    def _parts(self, index: ir.Atom) -> tuple[ir.Atom, ...] | None:
        """The parts of an index, one for each axis that it chooses from."""
        known = self.value_of(index)
        if isinstance(known, Known) and type(known.value) is tuple:
            return tuple(map(ir.Const, known.value))
        if isinstance(known, Sequence) and known.type is tuple:
            made = self.made.get(index) if isinstance(index, ir.Var) else None
            if isinstance(made, ir.Call) and made.fn == ir.Const(ops.make_tuple):
                return made.args if not any(isinstance(a, ir.Star) for a in made.args) else None  # type: ignore[return-value]
            return None
        return (index,)

    def _is(self, part: ir.Atom, what: object) -> bool:
        known = self.value_of(part)
        return isinstance(known, Known) and known.value is what
