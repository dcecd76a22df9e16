"""The arrays that loops fill, and those that they read: some have a margin of zeros around them."""

from __future__ import annotations

import operator
from collections import Counter

import numpy as np

from s2s.builder.builder import Builder, Context
from s2s.core import ir, ops
from s2s.core.values import Array, Dim
from s2s.optimize.loops.gathers import Margins
from s2s.optimize.loops.scopes import Scopes

__all__ = ["Buffers"]


class Buffers:
    """The arrays that the loops of a block make. ``uses`` are all reads of each variable, ``inside`` those by steps of
    the block; ``margins`` are those that are needed, ``padded`` has the arrays with their margins."""

    def __init__(
        self, context: Context, uses: Counter[ir.Atom], inside: Counter[ir.Atom], margins: Margins, scopes: Scopes
    ) -> None:
        self.context = context
        self.uses = uses
        self.inside = inside
        self.margins = margins
        self.scopes = scopes
        self.padded: dict[ir.Var, ir.Var] = {}
        self.made_before: set[ir.Var] = set()

    def is_read_elsewhere(self, var: ir.Var) -> bool:
        """Whether statements that are no steps of the block read an array."""
        return self.uses[var] > self.inside[var]

    def array(self, var: ir.Var) -> ir.Var:
        """The array that is read and filled in the place of another one: with its margin, where it has one."""
        return self.padded.get(var, var)

    def before(self, var: ir.Var, axis: int) -> int:
        """How many zeros there are before the first element of an array."""
        return self.margins[var][axis][0] if var in self.padded else 0

    def around(self, var: ir.Var, axis: int) -> int:
        """How many zeros there are around an array along an axis."""
        return sum(self.margins[var][axis]) if var in self.padded else 0

    def make(self, builder: Builder, var: ir.Var, fn: object, sizes: list[ir.Atom], span: ir.Span | None) -> None:
        """Make an array that a loop fills."""
        known = self.context.value(var)
        assert isinstance(known, Array) and known.shape is not None
        margins = self.margins.get(var)
        if not self.is_read_elsewhere(var) and fn is np.empty:
            place = self.scopes.place(known.shape)
            if place is not None:
                builder, sizes = place
                self.made_before.add(var)
        if margins is not None and any(map(any, margins)):
            fn, sizes = np.zeros, [
                builder.call(operator.add, n, ir.Const(before + after)) if before + after else n
                for n, (before, after) in zip(sizes, margins, strict=True)
            ]  # fmt: skip
        shape = sizes[0] if len(sizes) == 1 else builder.call(ops.make_tuple, *sizes, span=span)
        args = (shape,) if known.dtype == np.float64 else (shape, ir.Const(known.dtype.type))
        value = ir.Call(ir.Const(fn), args)
        if margins is None or not any(map(any, margins)):
            self.context.definitions[var] = value
            builder.add(ir.Let(var, value, span))
            return
        dims = tuple(
            Dim(d.symbol, d.offset + before + after) for d, (before, after) in zip(known.shape, margins, strict=True)
        )
        padded = self.padded[var] = self.context.define(var.name, Array(known.dtype, dims), definition=value)
        builder.add(ir.Let(padded, value, span))
        if self.is_read_elsewhere(var):
            inner = [slice(before or None, -after or None) for before, after in margins]
            index = ir.Const(inner[0]) if len(inner) == 1 else builder.call(ops.make_tuple, *map(ir.Const, inner))
            view = ir.Call(ir.Const(operator.getitem), (padded, index))
            self.context.definitions[var] = view
            builder.add(ir.Let(var, view, span))
