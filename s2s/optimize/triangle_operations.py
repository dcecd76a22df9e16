"""What the statements of a loop compute of rows of triangles and store into them, for all iterations at once.

    t = alpha * a[i] @ a[: i + 1].T         alpha * a @ a.T
    np.outer(a[i, :i], b[i])                np.tril(a, -1).T @ b, once it is added up
    c[i, : i + 1] *= beta                   c *= np.where(np.tri(n, dtype=bool), beta, 1.0)
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from s2s.core import ir, ops
from s2s.core.record import replace
from s2s.core.values import Array, Dim, Known
from s2s.optimize.iterations import Refused, is_slice, parts_of
from s2s.optimize.matrix_products import is_whole
from s2s.optimize.triangles import Column, Outer, Part, Rows, Triangle, Vector

__all__ = ["Triangles"]

_EVERY = ir.Const(slice(None))
_SUMS = (operator.add, operator.sub)
_SCALES = (operator.mul, operator.truediv)
_PRODUCTS = (operator.matmul, np.matmul, np.dot)
_OF_ROWS = (("axis", ir.Const(1)),)
_OF_COLUMNS = (("axis", ir.Const(0)),)
_FLOAT = np.dtype(np.float64)


class Triangles(Rows):
    """The triangles in one loop."""

    # --- operations

    def let(self, s: ir.Let, fn: Any, args: Any, kwargs: Any) -> bool:
        """Write a statement that makes or reads one of these; whether it was one."""
        is_column = fn is operator.getitem and self._is_column(args[1]) and self.vector_of(args[0]) is not None
        is_outer = fn is np.outer and None not in map(self.vector_of, args)
        if not is_column and not is_outer and not any(a in self.of for a in args):
            return False
        if kwargs or self.lanes.exact:
            raise Refused
        if is_column:
            self.set(s, Column(self.vector_of(args[0])))  # type: ignore[arg-type]
        elif is_outer:
            self._set_outer(s, *map(self.vector_of, args))  # type: ignore[arg-type]
        elif fn is getattr:
            self._turn(s, *args)
        elif fn is np.sum:
            self._sum(s, *args)
        elif any(fn is one for one in _PRODUCTS):
            self._multiply(s, *args)
        elif any(isinstance(self.of.get(a), (Outer, Column)) for a in args):
            self._scale(s, fn, args)
        elif fn in (*_SUMS, *_SCALES, operator.neg):
            self._compute(s, fn, args)
        else:
            raise Refused
        return True

    def vector_of(self, atom: ir.Atom) -> Vector | None:
        """What an atom is, where that is a vector in each iteration."""
        found = self.of.get(atom)
        if isinstance(found, Vector):
            return found
        is_vector = atom in self.lanes.lanes and self.lanes.rank(atom) == 1
        return Vector(self.lanes.lanes[atom]) if is_vector else None

    def _is_column(self, key: ir.Atom) -> bool:
        known = self.context.value(key)
        parts = self.context.definition(key, ops.make_tuple)
        if isinstance(known, Known) and type(known.value) is tuple:
            parts = tuple(map(ir.Const, known.value))
        is_column = parts is not None and len(parts) == 2 and parts[1] == ir.Const(None)
        return is_column and (parts[0] == ir.Const(...) or is_whole(parts[0], self.context))  # type: ignore[index]

    def _set_outer(self, s: ir.Let, first: Vector, second: Vector) -> None:
        self.set(s, Outer(first, second, self.lanes.stores))

    def _turn(self, s: ir.Let, source: ir.Atom, name: ir.Atom) -> None:
        found = self.of[source]
        if name != ir.Const("T"):
            raise Refused
        if isinstance(found, Part):
            if self._is_matrix(found):
                found = replace(found, array=self._turned(found.array, s), axis=1 - found.axis)
        elif isinstance(found, Outer):
            found = replace(found, first=found.second, second=found.first)
        elif not isinstance(found, Vector):
            raise Refused
        self.set(s, found)

    def _turned(self, matrix: ir.Atom, s: ir.Statement) -> ir.Atom:
        made = self.context.definition(matrix, getattr)
        if made is not None and made[1] == ir.Const("T"):
            return made[0]
        return self.builder.call(getattr, matrix, ir.Const("T"), span=s.span)

    def _is_matrix(self, part: Part) -> bool:
        return len(self.lanes.shape_of(part.array)) == 2

    def _sum(self, s: ir.Let, summed: ir.Atom) -> None:
        found, made = self.of[summed], self.context.definition(summed, operator.mul)
        if not isinstance(found, Vector):
            raise Refused
        if made is not None and self.lanes.is_computed_here(summed):
            kinds = [type(self.of.get(a)) for a in made]
            if sorted(map(str, kinds)) == sorted(map(str, (Vector, Part))):
                return self._multiply(s, *made)
        self.lanes.write_lane(s, np.sum, self.masked(found, s.span), kwargs=_OF_ROWS)

    def _multiply(self, s: ir.Let, one: ir.Atom, other: ir.Atom) -> None:
        """A product of vectors, or of one with a matrix."""
        vectors, parts = list(map(self.vector_of, (one, other))), [self.of.get(a) for a in (one, other)]
        if None not in vectors:
            first, second = (self.masked(v, s.span) for v in vectors)  # type: ignore[arg-type]
            if not self._are_summed(*(v.triangle for v in vectors)):  # type: ignore[union-attr]
                raise Refused
            product = self.builder.call(operator.mul, first, second, span=s.span)
            self.lanes.write_lane(s, np.sum, product, kwargs=_OF_ROWS)
            return
        is_left = vectors[0] is not None
        vector, part = vectors[not is_left], parts[is_left]
        if vector is None or not isinstance(part, Part):
            raise Refused
        matrix, axis = part.array, part.axis
        if self._is_matrix(part) and not is_left:
            matrix, axis = self._turned(matrix, s), 1 - axis
        if axis == 1:
            if vector.triangle is not None:
                raise Refused
            self._set_vector(s, operator.matmul, (vector.lane, matrix), part.triangle)
        elif self._are_summed(vector.triangle, part.triangle):
            self.lanes.write_lane(s, operator.matmul, self.masked(vector, s.span), matrix)
        else:
            raise Refused

    def _are_equal(self, one: Triangle | None, other: Triangle | None) -> bool:
        """Whether the rows of two triangles are equally long, or NumPy raises an error: rows of upper triangles are so
        where the first ones are, and neither of these is stretched."""
        if one == other or one is None or other is None or one.is_lower or other.is_lower:
            return one == other
        facts = self.context.evaluator.facts
        return self.iterations.is_taken_sure() and not any(facts.may_be_one(self.widths[t]) for t in (one, other))

    def _are_summed(self, one: Triangle | None, other: Triangle | None) -> bool:
        """Whether a sum of products is over rows that are equally long, or NumPy raises an error."""
        if one is None or other is None or one == other:
            return one == other and one is not None
        return not one.is_lower and not other.is_lower and self.iterations.is_taken_sure()

    def _set_vector(self, s: ir.Let, fn: Any, args: Any, triangle: Triangle, is_clean: bool = False) -> None:
        """A vector of which the length depends on the iteration: a matrix where the loop has one, or makes one."""
        if not self.lanes.has_triangles():
            raise Refused
        made = self.builder.call(fn, *args, name=self.lanes.name_of(s), span=s.span)
        known = self.context.value(made)
        if not isinstance(known, Array) or known.dtype != _FLOAT or known.shape is None or len(known.shape) != 2:
            raise Refused
        if known.shape[0] != self.lanes.length or not self._is_wide(known.shape[1], triangle):
            raise Refused
        self.set(s, Vector(made, triangle, is_clean))

    def _is_wide(self, length: Dim, triangle: Triangle) -> bool:
        """Whether a length is that of the first row of a triangle, or of one that is taken to be equal to it."""
        if length == self.widths[triangle]:
            return True
        others = [other for other, width in self.widths.items() if width == length]
        return any(self._are_equal(triangle, other) for other in others)

    def _scale(self, s: ir.Let, fn: Any, args: Any) -> None:
        """An outer product, times a number, or of a column and a row."""
        found = [self.of.get(a) for a in args]
        if fn is operator.mul and sum(isinstance(one, Column) for one in found) == 1:
            column = next(one for one in found if isinstance(one, Column))
            row = self.vector_of(args[isinstance(found[0], Column)])
            if row is None:
                raise Refused
            return self._set_outer(s, column.vector, row)
        place = [isinstance(one, Outer) for one in found]
        if sum(place) != 1 or fn not in (*_SCALES, operator.neg) or (fn is operator.truediv and not place[0]):
            raise Refused
        outer = found[place.index(True)]
        assert isinstance(outer, Outer)
        first, second = outer.first, outer.second
        if outer.stores != self.lanes.stores:
            raise Refused
        if first.triangle is not None and second.triangle is None:
            second = replace(second, lane=self._scaled(fn, args, place, second.lane, s))
        else:
            first = Vector(self._scaled(fn, args, place, self.masked(first, s.span), s), first.triangle, False)
        self._set_outer(s, first, second)

    def _scaled(self, fn: Any, args: Any, place: list[bool], lane: ir.Atom, s: ir.Let) -> ir.Atom:
        factors = [lane if is_it else self._number(a) for a, is_it in zip(args, place, strict=True)]
        return self.builder.call(fn, *factors, span=s.span)

    def _number(self, atom: ir.Atom) -> ir.Atom:
        """A number in each iteration, as an operand beside vectors."""
        if atom in self.of or self.lanes.rank(atom) != 0:
            raise Refused
        return self.lanes.aligned(atom, 1)

    def _compute(self, s: ir.Let, fn: Any, args: Any) -> None:
        """Arithmetic on elements: nothing else is defined for whatever may be outside a triangle."""
        found = [self.of.get(a) for a in args]
        if fn is operator.truediv and found[1] is not None:
            raise Refused
        triangle, *others = [one.triangle for one in found if one is not None]  # type: ignore[union-attr]
        if triangle is None or not all(self._are_equal(triangle, other) for other in others):
            raise Refused
        parts = [one for one in found if isinstance(one, Part)]
        if all(isinstance(self.of.get(a), Part) or a not in (*self.of, *self.lanes.lanes) for a in args):
            return self._compute_part(s, fn, args, parts)
        if any(map(self._is_matrix, parts)):
            raise Refused
        operands = [
            one.lane if isinstance(one, Vector) else one.array if isinstance(one, Part) else self._number(a)
            for one, a in zip(found, args, strict=True)
        ]
        self._set_vector(s, fn, operands, triangle, self._stays_clean(fn, args))

    def _compute_part(self, s: ir.Let, fn: Any, args: Any, parts: list[Part]) -> None:
        """Arithmetic on parts of arrays, which is the part of what it makes of all."""
        shapes = {(p.axis, len(self.lanes.shape_of(p.array))) for p in parts}
        if len(shapes) != 1:
            raise Refused
        operands = [one.array if isinstance(one := self.of.get(a), Part) else self._number(a) for a in args]
        made = self.builder.call(fn, *operands, name=self.lanes.name_of(s), span=s.span)
        if self.context.value(made) != self.context.value(parts[0].array):
            raise Refused
        self.set(s, replace(parts[0], array=made))

    def _stays_clean(self, fn: Any, args: Any) -> bool:
        """Whether zeros outside a triangle stay zeros."""
        def is_clean(a: ir.Atom) -> bool:
            found = self.of.get(a)
            return isinstance(found, Vector) and found.is_clean

        def is_finite(a: ir.Atom) -> bool:
            return isinstance(a, ir.Const) and isinstance(a.value, (int, float)) and math.isfinite(a.value)

        if all(map(is_clean, args)):
            return True
        return fn in _SCALES and any(map(is_clean, args)) and any(is_finite(a) and a.value for a in args)

    # --- what is written

    def total_of(self, outer: Outer, span: ir.Span | None) -> ir.Call:
        """The sum of the outer products of all iterations."""
        if outer.stores != self.lanes.stores:
            raise Refused
        first, second = (self.masked(v, span) for v in (outer.first, outer.second))
        made = self.context.definition(first, getattr)
        first = made[0] if made is not None else self.builder.call(getattr, first, ir.Const("T"), span=span)
        return ir.Call(ir.Const(operator.matmul), (first, second))

    def store(self, s: ir.Store) -> bool:
        """Write a store of one of these, or to a place of which the length depends on the iteration; whether it was
        one."""
        is_ragged = self.lanes.depends(s.key) and self.has_slice(s.key)
        if not is_ragged and s.value not in self.of:
            return False
        if self.lanes.exact:
            raise Refused
        if not is_ragged and self.lanes.depends(s.key):
            raise Refused
        parts = parts_of(s.key, self.context)
        if any(self.lanes.depends(p) and not is_slice(p, self.context) for p in parts):
            self._store_rows(s)
        else:
            self._store_sum(s, parts)
        return True

    def _store_sum(self, s: ir.Store, parts: tuple[ir.Atom, ...]) -> None:
        """Add what all iterations add to the same places."""
        value, shape = self.of.get(s.value), self.lanes.shape_of(s.target)
        if s.op not in _SUMS or len(parts) > len(shape):
            raise Refused
        key, triangles = list(parts), list[Triangle | None]()
        for k, (part, length) in enumerate(zip(parts, shape, strict=False)):
            if not is_slice(part, self.context):
                if not self.lanes.is_inside(part, length):
                    raise Refused
                continue
            triangles.append(None)
            if self.lanes.depends(part):
                key[k], triangles[-1] = self.hull(part, length)
        triangles += [None] * (len(shape) - len(parts))
        vectors = (value.first, value.second) if isinstance(value, Outer) else (value,)
        if not all(isinstance(v, Vector) for v in vectors) or len(vectors) != len(triangles):
            raise Refused
        index = self.index(key)
        place = s.target if index is None else self.builder.call(operator.getitem, s.target, index)
        for axis, triangle in enumerate(triangles):
            if triangle is not None:
                self.take_width(place, axis, triangle)
        if not all(self._are_equal(v.triangle, t) for v, t in zip(vectors, triangles, strict=True)):  # type: ignore[union-attr]
            raise Refused
        if isinstance(value, Outer):
            total = self.total_of(value, s.span)
        else:
            assert isinstance(value, Vector)
            total = ir.Call(ir.Const(np.sum), (self.masked(value, s.span),), _OF_COLUMNS)
        made = self.lanes.call_of(total, s.span)
        self._check_fits(made, place)
        self.builder.store(s.target, index, made, s.op, s.span)

    def _store_rows(self, s: ir.Store) -> None:
        """Store into a triangle."""
        index, own, axis, triangle, is_turned, others = self.whole_key(s.target, s.key)
        if is_turned or others:
            raise Refused
        region = s.target if index is None else self.builder.call(operator.getitem, s.target, index, span=s.span)
        self.take_width(region, axis, triangle)
        self.lanes.take_length(region, own)  # type: ignore[arg-type]
        value, is_clean = self._stored(s, triangle)
        is_column = own == 1
        if s.op in _SUMS and is_clean is not None:
            made = self.masked(Vector(value, triangle, is_clean), s.span)
            made = self._turned(made, s) if is_column else made
        else:
            if is_column and isinstance(self.of.get(s.value), Part):
                value = self.builder.call(
                    operator.getitem, value, self.builder.call(ops.make_tuple, _EVERY, ir.Const(None)), span=s.span)
            elif is_column and isinstance(self.context.value(value), Array):
                value = self._turned(value, s)
            other = region if s.op is None else ir.Const(0.0) if s.op in _SUMS else ir.Const(1.0)
            made = self.where(triangle, value, other, is_column, s.span)
        self._check_fits(made, region)
        if index is None and s.op is None:
            index = ir.Const(...)
        self.builder.store(s.target, index, made, s.op, s.span)

    def _check_fits(self, made: ir.Atom, place: ir.Atom) -> None:
        """Refuse to store what would be stretched."""
        known, region = self.context.value(made), self.context.value(place)
        if not isinstance(known, Array) or not isinstance(region, Array) or None in (known.shape, region.shape):
            raise Refused
        facts = self.context.evaluator.facts
        assert known.shape is not None and region.shape is not None
        if len(known.shape) != len(region.shape):
            raise Refused
        for one, other in zip(known.shape, region.shape, strict=True):
            if one != other and (facts.may_be_one(one) or facts.may_be_one(other)):
                raise Refused

    def _stored(self, s: ir.Store, triangle: Triangle) -> tuple[ir.Atom, bool | None]:
        """What is stored in the rows of a triangle, and whether it is zero outside; None where it is no matrix."""
        found = self.of.get(s.value)
        if isinstance(found, (Vector, Part)):
            if not self._are_equal(found.triangle, triangle) or (isinstance(found, Part) and self._is_matrix(found)):
                raise Refused
            return (found.lane, found.is_clean) if isinstance(found, Vector) else (found.array, None)
        value = s.value if s.value not in self.lanes.lanes else self.lanes.aligned(s.value, 1)
        if found is not None or self.lanes.rank(s.value) != 0:
            raise Refused
        return value, None
