"""What the statements of a loop make whose length depends on the iteration, for all of them: triangles of matrices.

    t = a[i] @ a[: i + 1].T             t = a @ a.T             valid on and below the diagonal
    c[i, : i + 1] += t                  c += np.tril(t)
    v = a[i, :i]                        v = np.tril(a, -1)
    y[:i] += np.outer(v, b[i])          y += v.T @ b

In one iteration, a value is a vector as long as a row of the triangle, a part of an array that is the same in all of
them, or an outer product, of which only the sum through all iterations is computed. What a matrix has outside of its
triangle is replaced by zeros when it is read, as nothing is known of it, and before it is summed or stored.
``triangle_operations`` has what is computed of them.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from s2s.core import ir, ops
from s2s.core.record import record
from s2s.core.values import Array, Dim
from s2s.optimize.iterations import Refused, is_slice, parts_of
from s2s.optimize.matrix_products import is_whole

if TYPE_CHECKING:
    from s2s.optimize.lanes import Lanes

__all__ = ["Column", "Outer", "Part", "Rows", "Triangle", "Vector"]

_EVERY = ir.Const(slice(None))
_ZERO = ir.Const(0)
_BOOL = np.dtype(bool)


@record
class Triangle:
    """The rows of a matrix by iteration, each valid up to its ``length``, a sum with the item in it, or as long at the
    end of a row where it is not ``is_lower``."""

    is_lower: bool
    length: frozenset[tuple[Any, int]]


@record
class Vector:
    """A vector in each iteration: the rows of ``lane``. It ``is_clean`` where all outside the triangle is zero."""

    lane: ir.Atom
    triangle: Triangle | None = None
    is_clean: bool = True


@record
class Part:
    """In each iteration a part along an axis of an array that is the same in all."""

    array: ir.Atom
    axis: int
    triangle: Triangle


@record
class Outer:
    """The outer product of two vectors; ``stores`` were done when it was computed."""

    first: Vector
    second: Vector
    stores: int


@record
class Column:
    """A vector as a matrix of one column."""

    vector: Vector


class Rows:
    """What one loop reads of triangles, by variable, and what is outside of these."""

    def __init__(self, lanes: Lanes) -> None:
        self.lanes = lanes
        self.iterations = lanes.iterations
        self.context = lanes.context
        self.builder = lanes.builder
        self.of: dict[Any, Vector | Part | Outer | Column] = {}
        self.widths: dict[Triangle, Dim] = {}
        self.offsets: dict[Triangle, ir.Atom] = {}
        self.arrays: dict[Triangle, tuple[ir.Atom, int]] = {}
        self.masks: dict[ir.Atom, ir.Atom] = {}
        self.read: dict[Any, Vector | Part | Outer | Column] = {}

    # --- what is read

    def has_slice(self, key: ir.Atom) -> bool:
        """Whether an index has a slice that is another one in another iteration."""
        return any(is_slice(p, self.context) and self.lanes.depends(p) for p in parts_of(key, self.context))

    def take(self, s: ir.Let, source: ir.Atom, key: ir.Atom) -> None:
        """A part of an array of which the length depends on the iteration."""
        self._check_is_read_before_stores(s, source)
        read = source, tuple(map(self.context.written, parts_of(key, self.context)))
        if read in self.read and self.lanes.memory_of(source) not in self.lanes.stored:
            return self.set(s, self.read[read])
        self._read(s, source, key)
        self.read[read] = self.of[s.target]

    def _read(self, s: ir.Let, source: ir.Atom, key: ir.Atom) -> None:
        array, own, axis, triangle, is_turned, others = self._whole(source, key)
        if own is None:
            if others > 1:
                raise Refused
            self.set(s, Part(array, axis, triangle))
            return
        if others or is_turned is None:
            raise Refused
        lane = array if own == 0 else self.builder.call(getattr, array, ir.Const("T"), span=s.span)
        if is_turned:
            lane = self.builder.call(operator.getitem, lane, ir.Const(slice(None, None, -1)), span=s.span)
        self.lanes.take_length(lane)
        self.set(s, Vector(self.masked(Vector(lane, triangle, False), s.span), triangle))

    def _check_is_read_before_stores(self, s: ir.Let, source: ir.Atom) -> None:
        """Refuse a view that is read after what it is a view of has changed: it becomes a copy."""
        memory, following = self.lanes.memory_of(source), self.lanes.following(s)
        stores = [isinstance(f, ir.Store) and self.lanes.memory_of(f.target) == memory for f in following]
        if True not in stores:
            return
        made = {d for f in self.iterations.loop.body.statements for d in ir.defs_of(f)}
        for f in following[stores.index(True) + 1 :]:
            for a in ir.reads_of(f):
                if a in made and self.lanes.memory_of(a) == memory and isinstance(self.context.value(a), Array):
                    raise Refused

    def _whole(
        self, source: ir.Atom, key: ir.Atom
    ) -> tuple[ir.Atom, int | None, int, Triangle, bool | None, int]:
        """What all iterations take of an array, the axis of the iterations in it, that of the triangle, the triangle,
        whether the iterations come in the opposite order, and how many axes there are besides."""
        index, own, axis, triangle, is_turned, others = self.whole_key(source, key)
        array = source if index is None else self.builder.call(operator.getitem, source, index)
        self.take_width(array, axis, triangle)
        if own is not None:
            self.lanes.take_length(array, own)
        return array, own, axis, triangle, is_turned, others

    def whole_key(
        self, source: ir.Atom, key: ir.Atom
    ) -> tuple[ir.Atom | None, int | None, int, Triangle, bool | None, int]:
        shape = self.lanes.shape_of(source)
        parts = list(parts_of(key, self.context))
        own: int | None = None
        axis, triangle, is_turned, place = 0, None, None, 0
        if len(parts) > len(shape):
            raise Refused
        for k, (part, length) in enumerate(zip(list(parts), shape, strict=False)):
            if not self.lanes.depends(part):
                if not is_slice(part, self.context) and not self.lanes.is_inside(part, length):
                    raise Refused
                place += is_slice(part, self.context)
                continue
            if is_slice(part, self.context):
                if triangle is not None:
                    raise Refused
                parts[k], triangle = self.hull(part, length)
                axis = place
            elif own is None:
                own = place
                parts[k], is_turned = self.iterations.slice_of(part, length)
            else:
                raise Refused
            place += 1
        if triangle is None:
            raise Refused
        others = place + len(shape) - len(parts) - 1 - (own is not None)
        return self.index(parts), own, axis, triangle, is_turned, others

    def hull(self, part: ir.Atom, length: Dim) -> tuple[ir.Atom, Triangle]:
        hull = self.iterations.hull_of(part, length)
        triangle = Triangle(hull.is_lower, frozenset(hull.length.items()))
        self.offsets.setdefault(triangle, hull.offset)
        return hull.part, triangle

    def index(self, parts: list[ir.Atom]) -> ir.Atom | None:
        while parts and is_whole(parts[-1], self.context):
            parts.pop()
        if not parts:
            return None
        return parts[0] if len(parts) == 1 else self.builder.call(ops.make_tuple, *parts)

    def take_width(self, array: ir.Atom, axis: int, triangle: Triangle) -> None:
        """Let the lengths of all arrays with a triangle be known to be equal: each holds all of it."""
        known = self.context.value(array)
        assert isinstance(known, Array) and known.shape is not None
        width = self.widths.setdefault(triangle, known.shape[axis])
        self.arrays.setdefault(triangle, (array, axis))
        if known.shape[axis] != width and self.context.definition(array, operator.getitem) is not None:
            shape = (*known.shape[:axis], width, *known.shape[axis + 1 :])
            self.context.values[array] = Array(known.dtype, shape)  # type: ignore[index]

    def set(self, s: ir.Let, made: Vector | Part | Outer | Column) -> None:
        assert s.target is not None
        self.of[s.target] = made

    # --- what is outside

    def masked(self, vector: Vector, span: ir.Span | None) -> ir.Atom:
        """The rows of a vector, with zeros outside its triangle."""
        triangle = vector.triangle
        if triangle is None or vector.is_clean:
            return vector.lane
        if vector.lane not in self.masks:
            offset = self.offsets[triangle]
            given = () if offset == _ZERO else (offset,)
            fn = np.tril if triangle.is_lower else np.triu
            self.masks[vector.lane] = self.builder.call(fn, vector.lane, *given, span=span)
        return self.masks[vector.lane]

    def where(
        self, triangle: Triangle, valid: ir.Atom, other: ir.Atom, is_turned: bool, span: ir.Span | None
    ) -> ir.Atom:
        """One value in a triangle, and another one outside; with the iterations along the second axis where it is
        turned."""
        rows, columns = self.iterations.count(), self._columns(triangle)
        lengths: Any = self.lanes.length, self.widths[triangle]
        if lengths[0] == lengths[1]:
            columns = rows
        # a row of np.tri goes up to an offset from its diagonal: it is the triangle, or what comes before one
        offset = self.offsets[triangle] if triangle.is_lower else ir.Const(-1)
        if is_turned:
            rows, columns, lengths = columns, rows, lengths[::-1]
            offset = self.builder.call(operator.sub, ir.Const(-1), offset)
        given = (rows,) if rows == columns else (rows, columns)
        kwargs = (*(() if offset == _ZERO else (("k", offset),)), ("dtype", ir.Const(bool)))
        mask = self.builder.call(np.tri, *given, kwargs=kwargs, span=span)
        self.context.values[mask] = Array(_BOOL, lengths)  # type: ignore[index]
        values = (valid, other) if triangle.is_lower is not is_turned else (other, valid)
        return self.builder.call(np.where, mask, *values, span=span)

    def _columns(self, triangle: Triangle) -> ir.Atom:
        """The number of columns of a triangle."""
        array, axis = self.arrays[triangle]
        lengths = self.builder.call(getattr, array, ir.Const("shape"))
        return self.builder.call(operator.getitem, lengths, ir.Const(axis))
