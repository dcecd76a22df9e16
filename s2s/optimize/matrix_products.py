"""Products of a matrix that a loop leaves as it is with a vector of each iteration, added to a row or a column of their
own: the vectors are collected, and all are multiplied at once after the loop.

                                             rows = np.zeros((n, w.shape[0]))
    for i in reversed(range(n)):             for i in reversed(range(n)):
        ...                                      ...
        x_bar[i] += w.T @ g             ->       rows[i] = g
                                             x_bar += rows @ w

Where the product is with a part of the matrix, the other items of the vector are zeros. ``outer_products`` finds the
places, with those of outer products.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2s.builder.builder import Builder, Context
from s2s.core import ir, ops
from s2s.core.const import Const
from s2s.core.values import Array, Known, Scalar, Sequence

__all__ = ["EVERY", "RowProduct", "first_lines", "is_slice", "is_whole", "line_of", "rank", "row_product"]

EVERY = ir.Const(slice(None))
_NONE = Known(Const(None))
_PRODUCTS = tuple(map(ir.Const, (operator.matmul, np.matmul, np.dot)))


@dataclass
class RowProduct:
    """A statement of a loop's body that adds the product of ``matrix``, of which ``axis`` is summed over at ``part``,
    and ``vector`` to row (``place`` 0) or column (``place`` 1) ``item`` of an array."""

    store: ir.Store
    vector: ir.Atom
    matrix: ir.Var
    axis: int
    part: ir.Atom
    place: int

    def write(self, rows: ir.Atom, count: ir.Atom, context: Context, after: Builder) -> None:
        """Add the products of all vectors, the rows of an array, after the loop."""
        s = self.store
        if self.place == 0:
            matrix = self.matrix if self.axis == 0 else after.call(getattr, self.matrix, ir.Const("T"), span=s.span)
            product = after.call(operator.matmul, rows, matrix, span=s.span)
        else:
            matrix = self.matrix if self.axis == 1 else after.call(getattr, self.matrix, ir.Const("T"), span=s.span)
            columns = after.call(getattr, rows, ir.Const("T"), span=s.span)
            product = after.call(operator.matmul, matrix, columns, span=s.span)
        after.store(s.target, first_lines(s.target, self.place, count, context, after), product, s.op, s.span)


def first_lines(array: ir.Atom, axis: int, count: ir.Atom, context: Context, builder: Builder) -> ir.Atom | None:
    """The index of the first ``count`` rows or columns; None where these are all."""
    known, number = context.value(array), context.value(count)
    if isinstance(known, Array) and known.shape and isinstance(number, Scalar) and number.dim == known.shape[axis]:
        return None
    first = builder.call(slice, ir.Const(None), count, ir.Const(None))
    return first if axis == 0 else builder.call(ops.make_tuple, EVERY, first)


def row_product(s: ir.Store, made: ir.Call, item: ir.Var, outside: set[ir.Atom], context: Context) -> RowProduct | None:
    """What a statement adds that adds the product of a matrix and a vector, which ``made`` it, to a row or column."""
    target, place = context.value(s.target), _place(s, item, context)
    if place is None or made.fn not in _PRODUCTS or made.kwargs or not context.uncertain.isdisjoint(made.args):
        return None
    known = [context.value(a) for a in made.args]  # type: ignore[arg-type]
    ranks = [rank(value) for value in known]
    if sorted(n or 0 for n in ranks) != [1, 2] or not isinstance(target, Array) or target.dtype.kind != "f":
        return None
    if any(not isinstance(value, Array) or value.dtype != target.dtype for value in known):
        return None
    first = ranks[0] == 2
    found = _matrix(made.args[0 if first else 1], 1 if first else 0, outside, context)  # type: ignore[arg-type]
    return None if found is None else RowProduct(s, made.args[1 if first else 0], *found, place)  # type: ignore[arg-type]


def _place(s: ir.Store, item: ir.Var, context: Context) -> int | None:
    """Whether a statement adds to row (0) or column (1) ``item`` of a matrix."""
    if s.kind != "item" or rank(context.value(s.target)) != 2:
        return None
    return line_of(s.key, item, context)


def line_of(key: ir.Atom | None, item: ir.Var, context: Context) -> int | None:
    """Whether an index of a matrix is row (0) or column (1) ``item``."""
    if key == item:
        return 0
    parts = None if key is None else context.definition(key, ops.make_tuple)
    if parts is None or len(parts) != 2:
        return None
    places = [k for k in (0, 1) if parts[k] == item and is_whole(parts[1 - k], context)]
    return places[0] if places else None


def _matrix(
    atom: ir.Atom, axis: int, outside: set[ir.Atom], context: Context
) -> tuple[ir.Var, int, ir.Atom] | None:
    """The matrix from before the loop that a factor is read from, its axis that is summed over, and the part of it."""
    part: ir.Atom = EVERY
    while isinstance(atom, ir.Var) and atom not in outside:
        turned, read = context.definition(atom, getattr), context.definition(atom, operator.getitem)
        if turned is not None and turned[1] == ir.Const("T"):
            atom, axis = turned[0], 1 - axis
        elif read is not None and rank(context.value(read[0])) == 2:
            parts = context.definition(read[1], ops.make_tuple) or (read[1],)
            both = (*parts, EVERY)[:2]
            if len(parts) > 2 or not is_whole(both[1 - axis], context) or not is_slice(both[axis], context):
                return None
            if not is_whole(both[axis], context):
                if part != EVERY:
                    return None
                part = both[axis]
            atom = read[0]
        else:
            return None
    return (atom, axis, part) if isinstance(atom, ir.Var) and atom not in context.uncertain else None


def is_slice(atom: ir.Atom, context: Context) -> bool:
    """Whether an index is a slice."""
    value = context.value(atom)
    if isinstance(value, Known):
        return type(value.value) is slice
    return isinstance(value, Sequence) and value.type is slice


def is_whole(atom: ir.Atom, context: Context) -> bool:
    """Whether an index is ``:``."""
    value = context.value(atom)
    if isinstance(value, Known):
        return type(value.value) is slice and value.value == slice(None)
    return isinstance(value, Sequence) and value.type is slice and all(v == _NONE for v in value.items)


def rank(value: Any) -> int | None:
    """The number of axes of an array, where it is known."""
    return len(value.shape) if isinstance(value, Array) and value.shape is not None else None
