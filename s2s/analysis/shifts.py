"""Values that a function uses and does not depend on: the maximum that is subtracted before an exponential.

    most = np.max(x, axis=1, keepdims=True)
    raised = np.exp(x - most)                           # exp(-most) times what it were without it
    return raised / np.sum(raised, axis=1, keepdims=True)       # here the factor cancels

A variable is followed through what is made of it. Each of these is *shifted* by a multiple of it, or *scaled* by the
exponential of a multiple of it, or does not change with it. Where nothing else is made of it than what does not change,
its derivative is zero: exactly, whatever it is.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s.analysis.abstract.lattice import is_number, shape_of
from s2s.analysis.abstract.shapes import ONE
from s2s.core import ir
from s2s.core.record import record
from s2s.core.values import AbstractValue, Array, Known, Scalar, Sequence

__all__ = ["is_cancelled"]


@record
class Change:
    """How an array changes with the variable: ``times`` the variable is added to it (``kind`` shift), or it is
    multiplied by the exponential of that (scale). ``axes`` has for each axis of the array the axis of the variable that
    runs along it, None where all items change alike."""

    kind: str
    times: float
    axes: tuple[int | None, ...]


class _Unfollowed(Exception):
    """It may change in another way."""


def is_cancelled(
    var: ir.Var, function: ir.Function, value: Callable[[ir.Atom], AbstractValue],
    has_zero_derivative: Callable[[ir.Call], bool],
) -> bool:
    """Whether the derivative of all that a function does with a variable is zero."""
    shape = shape_of(value(var))
    if shape is None and not is_number(value(var)):
        return False
    axes = tuple(None if d == ONE else k for k, d in enumerate(shape or ()))
    follower = _Follower(value, has_zero_derivative)
    follower.changes[var] = Change("shift", 1.0, axes)
    try:
        follower.block(function.body)
    except _Unfollowed:
        return False
    return True


class _Follower:
    def __init__(
        self, value: Callable[[ir.Atom], AbstractValue], has_zero_derivative: Callable[[ir.Call], bool],
    ) -> None:
        self.value, self.has_zero_derivative = value, has_zero_derivative
        self.changes: dict[ir.Atom, Change] = {}
        self.methods: set[ir.Atom] = set()
        """Methods of what changes, which nothing may read: a call that is understood has the function itself."""

    def block(self, block: ir.Block) -> None:
        for s in block.statements:
            read = ir.reads_of(s)
            if not self.methods.isdisjoint(read):
                raise _Unfollowed
            if any(a in self.changes for a in read):
                self.statement(s)
            for inner in ir.blocks_of(s):
                self.block(inner)
            if isinstance(s, (ir.For, ir.While)) and s.leave in self.changes:
                raise _Unfollowed
        if any(a in self.changes or a in self.methods for a in block.yields):
            raise _Unfollowed

    def statement(self, s: ir.Statement) -> None:
        """Note how the target of a statement changes that reads what changes."""
        if not isinstance(s, ir.Let) or s.target is None:
            raise _Unfollowed
        if _is_method(s.value):
            self.methods.add(s.target)
            return
        change = self.of(s.value, self.value(s.target))
        if change is not None:
            self.changes[s.target] = change

    def of(self, made: ir.Value, known: AbstractValue) -> Change | None:
        """How a value changes, of which so much is known; None where it does not."""
        if isinstance(made, ir.Var):
            return self.changes.get(made)
        if not isinstance(made, ir.Call) or not isinstance(made.fn, ir.Const):
            raise _Unfollowed
        if self.has_zero_derivative(made) and (made.fn.value is getattr or _is_discrete(known)):
            return None
        follow = _TABLE.get(made.fn)
        if follow is None or any(isinstance(a, ir.Star) for a in made.args):
            raise _Unfollowed
        if made.kwargs and follow not in (_Follower.total, _Follower.mean):
            raise _Unfollowed
        return follow(self, made)

    def operands(self, made: ir.Call) -> tuple[Change | None, Change | None, int]:
        """What changes of the operands of an elementwise operation, along the axes of its result; their number."""
        shapes = [shape_of(self.value(a)) for a in made.args]  # type: ignore[arg-type]
        ranks = [len(s) if s is not None else 0 if is_number(self.value(a)) else None  # type: ignore[arg-type]
                 for s, a in zip(shapes, made.args, strict=True)]
        if None in ranks:
            raise _Unfollowed
        rank = max(r for r in ranks if r is not None)
        a, b = (self._along(self.changes.get(one), rank) for one in made.args)  # type: ignore[arg-type]
        return a, b, rank

    def _along(self, change: Change | None, rank: int) -> Change | None:
        if change is None:
            return None
        return Change(change.kind, change.times, (None,) * (rank - len(change.axes)) + change.axes)

    # --- operations

    def add(self, made: ir.Call, sign: float = 1.0) -> Change | None:
        a, b, _ = self.operands(made)
        if b is not None:
            b = Change(b.kind, sign * b.times, b.axes)
        return self._both("shift", a, b)

    def sub(self, made: ir.Call) -> Change | None:
        return self.add(made, -1.0)

    def mul(self, made: ir.Call) -> Change | None:
        a, b, _ = self.operands(made)
        for change, other in ((a, made.args[1]), (b, made.args[0])):
            if change is not None and change.kind == "shift":
                return Change("shift", self.number(other) * change.times, change.axes)  # type: ignore[arg-type]
        return self._both("scale", a, b)

    def div(self, made: ir.Call) -> Change | None:
        a, b, _ = self.operands(made)
        if a is not None and a.kind == "shift" and b is None:
            return Change("shift", a.times / self.number(made.args[1]), a.axes)  # type: ignore[arg-type]
        if b is not None:
            b = Change(b.kind, -b.times, b.axes)
        return self._both("scale", a, b)

    def _both(self, kind: str, a: Change | None, b: Change | None) -> Change | None:
        """What changes by sum, or product, with what both change by."""
        if any(c is not None and c.kind != kind for c in (a, b)):
            raise _Unfollowed
        if a is None or b is None:
            return a or b
        if a.axes != b.axes:
            raise _Unfollowed
        times = a.times + b.times
        return Change(kind, times, a.axes) if times else None

    def number(self, atom: ir.Atom) -> float:
        known = self.value(atom)
        if not isinstance(known, Known) or type(known.value) not in (int, float) or not known.value:
            raise _Unfollowed
        return float(known.value)

    def neg(self, made: ir.Call) -> Change | None:
        change = self.only("shift", made)
        return Change("shift", -change.times, change.axes)

    def exp(self, made: ir.Call) -> Change | None:
        change = self.only("shift", made)
        return Change("scale", change.times, change.axes)

    def log(self, made: ir.Call) -> Change | None:
        change = self.only("scale", made)
        return Change("shift", change.times, change.axes)

    def only(self, kind: str, made: ir.Call) -> Change:
        change = self.changes.get(made.args[0])  # type: ignore[arg-type]
        if len(made.args) != 1 or change is None or change.kind != kind:
            raise _Unfollowed
        return change

    def total(self, made: ir.Call, is_mean: bool = False) -> Change | None:
        """A sum over axes along which all items change alike."""
        change = self.changes.get(made.args[0])  # type: ignore[arg-type]
        options = {"axis": ir.Const(None), "keepdims": ir.Const(False), **dict(made.kwargs)}
        if len(made.args) > 1:
            options["axis"] = made.args[1]  # type: ignore[assignment]
        if change is None or len(made.args) > 2 or len(options) > 2 or not (is_mean or change.kind == "scale"):
            raise _Unfollowed
        axis, keeps = (self.value(a) for a in (options["axis"], options["keepdims"]))
        if not isinstance(axis, Known) or not isinstance(keeps, Known):
            raise _Unfollowed
        rank = len(change.axes)
        given = range(rank) if axis.value is None else axis.value if isinstance(axis.value, tuple) else (axis.value,)
        summed = {k % rank for k in given} if rank else set()
        if any(change.axes[k] is not None for k in summed):
            raise _Unfollowed
        left = change.axes if keeps.value else tuple(a for k, a in enumerate(change.axes) if k not in summed)
        return Change(change.kind, change.times, left)

    def mean(self, made: ir.Call) -> Change | None:
        return self.total(made, is_mean=True)

    def matmul(self, made: ir.Call) -> Change | None:
        """``a @ b`` where the rows of ``a`` are scaled."""
        a, b = (self.changes.get(one) for one in made.args)  # type: ignore[arg-type]
        shape = shape_of(self.value(made.args[1]))  # type: ignore[arg-type]
        if a is None or b is not None or a.kind != "scale" or shape is None:
            raise _Unfollowed
        if len(a.axes) < 2 or a.axes[-1] is not None:
            raise _Unfollowed
        if len(shape) == 1:
            return Change("scale", a.times, a.axes[:-1])
        return self._along(Change("scale", a.times, (*a.axes[:-1], None)), len(shape))

    def where(self, made: ir.Call) -> Change | None:
        """One of two that change alike; zero is scaled by anything, an infinite number is shifted by any."""
        if len(made.args) != 3:
            raise _Unfollowed
        test, *sides = made.args
        a, b, rank = self.operands(ir.Call(made.fn, tuple(sides)))
        shape = shape_of(self.value(test))  # type: ignore[arg-type]
        a, b = (self._along(c, max(rank, len(shape or ()))) for c in (a, b))
        for change, other in ((a, sides[1]), (b, sides[0])):
            if change is not None and self._is_kept(change, other):  # type: ignore[arg-type]
                return change
        if a != b:
            raise _Unfollowed
        return a

    def _is_kept(self, change: Change, other: ir.Atom) -> bool:
        known = self.value(other)
        if not isinstance(known, Known) or type(known.value) not in (int, float):
            return False
        return bool(known.value == 0 if change.kind == "scale" else abs(known.value) == float("inf"))

    def item(self, made: ir.Call) -> Change | None:
        """``x[:, None]``, and items along axes where all change alike."""
        change = self.changes.get(made.args[0])  # type: ignore[arg-type]
        index = self.value(made.args[1])  # type: ignore[arg-type]
        if change is None:
            raise _Unfollowed
        items: tuple[Any, ...] = (index,)
        if isinstance(index, Sequence) and index.type is tuple:
            items = index.items
        elif isinstance(index, Known) and isinstance(index.value, tuple):
            items = tuple(Known(ir.Const(i)) for i in index.value)
        axes, left = list(change.axes), list[int | None]()
        for item in items:
            if isinstance(item, Known) and item.value is None:
                left.append(None)
                continue
            if not axes:
                raise _Unfollowed
            axis = axes.pop(0)
            if isinstance(item, Scalar) or (isinstance(item, Known) and type(item.value) is int):
                if axis is not None:
                    raise _Unfollowed
            elif _is_slice(item):
                if axis is not None and not _is_every(item):
                    raise _Unfollowed
                left.append(axis)
            else:
                raise _Unfollowed
        return Change(change.kind, change.times, (*left, *axes))

    def expand(self, made: ir.Call) -> Change | None:
        change = self.changes.get(made.args[0])  # type: ignore[arg-type]
        axis = self.value(made.args[1]) if len(made.args) == 2 else None  # type: ignore[arg-type]
        if change is None or not isinstance(axis, Known) or type(axis.value) is not int:
            raise _Unfollowed
        axes = list(change.axes)
        axes.insert(axis.value % (len(axes) + 1), None)
        return Change(change.kind, change.times, tuple(axes))

    def copy(self, made: ir.Call) -> Change | None:
        if len(made.args) != 1:
            raise _Unfollowed
        return self.changes.get(made.args[0])  # type: ignore[arg-type]


def _is_method(made: ir.Value) -> bool:
    if not isinstance(made, ir.Call) or made.fn != ir.Const(getattr) or not isinstance(made.args[1], ir.Const):
        return False
    return callable(getattr(np.ndarray, str(made.args[1].value), None))


def _is_discrete(known: AbstractValue) -> bool:
    """Whether it is new memory of bools or integers: what a comparison gives, or the place of the maximum."""
    return isinstance(known, Scalar) or (isinstance(known, Array) and known.dtype.kind in "biu")


def _is_slice(item: AbstractValue) -> bool:
    is_known = isinstance(item, Known) and type(item.value) is slice
    return is_known or (isinstance(item, Sequence) and item.type is slice)


def _is_every(item: AbstractValue) -> bool:
    if isinstance(item, Known):
        return bool(item.value == slice(None))
    assert isinstance(item, Sequence)
    return all(bound == Known(ir.Const(None)) for bound in item.items)


_TABLE: dict[ir.Const, Callable[[_Follower, ir.Call], Change | None]] = {
    ir.Const(fn): follow
    for follow, fns in {
        _Follower.add: (operator.add, operator.iadd, np.add),
        _Follower.sub: (operator.sub, operator.isub, np.subtract),
        _Follower.mul: (operator.mul, operator.imul, np.multiply),
        _Follower.div: (operator.truediv, operator.itruediv, np.divide),
        _Follower.neg: (operator.neg, np.negative),
        _Follower.exp: (np.exp,),
        _Follower.log: (np.log,),
        _Follower.total: (np.sum, np.ndarray.sum),
        _Follower.mean: (np.mean, np.ndarray.mean),
        _Follower.matmul: (operator.matmul, np.matmul),
        _Follower.where: (np.where,),
        _Follower.item: (operator.getitem,),
        _Follower.expand: (np.expand_dims,),
        _Follower.copy: (np.copy, np.ndarray.copy),
    }.items()
    for fn in fns
}
