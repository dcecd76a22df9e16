"""What it costs to have a residual again: the one cost model of the planner.

The unit is one cheap operation, done once in an iteration: reading an item, a shape, arithmetic on numbers. Keeping a
value of each iteration costs memory that grows with the number of iterations, so it is taken to cost as much as
``KEEPING`` operations; an operation on whole arrays costs memory traffic, but no memory that stays. What is computed
once before the loop of the reverse sweep costs nothing per iteration: there only the search for it is bounded.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from s2s.core import ir, ops
from s2s.optimize.dead import is_pure
from s2s.rules import table

__all__ = [
    "ARRAY_ARITHMETIC", "ARRAY_OPERATION", "CHEAP", "COMPARISONS", "DESCRIBES", "HOISTED_AT_MOST", "INVARIANT_AT_MOST",
    "KEEPING", "NEVER_WARNS", "SHAPES", "SYNTAX", "costs_less", "gives_the_same",
]

KEEPING = 10
"""What keeping a value of each iteration costs."""

ARRAY_OPERATION = 3
"""What an operation on arrays costs that are there."""

HOISTED_AT_MOST = 12
"""How many operations are looked at to compute a value before a loop."""

INVARIANT_AT_MOST = 100
"""How many operations are looked at to see that a value is the same in every iteration."""

CHEAP: frozenset[Any] = frozenset({
    operator.getitem, getattr, len, range, slice, ops.make_tuple, np.shape, np.ndim, np.size, reversed,
    operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.pos, operator.floordiv,
    operator.mod, operator.pow, operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge,
    operator.not_, operator.is_, operator.is_not, min, max, abs, isinstance, float, int,
})
"""Operations that cost one unit on numbers, views and shapes."""

DESCRIBES = frozenset({len, np.shape, np.ndim, np.size, isinstance, operator.is_, operator.is_not})
SHAPES = tuple(map(ir.Const, ("shape", "ndim", "size", "dtype")))
"""What does not depend on what an array holds: it can be asked when that has changed."""

COMPARISONS = tuple(map(ir.Const, (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)))
"""What the tests of branches are made of."""

ARRAY_ARITHMETIC = tuple(map(ir.Const, (operator.add, operator.sub, operator.mul, operator.neg)))
"""Operations on arrays that cost ``ARRAY_OPERATION``."""

SYNTAX = frozenset({slice, ops.make_tuple, getattr})
NEVER_WARNS = SYNTAX | {
    operator.add, operator.sub, operator.mul, operator.neg, operator.pos, operator.getitem, np.transpose,
}
"""Operations that may be done where the primal does not come to them: they give no warning."""


def gives_the_same(fn: Any) -> bool:
    """Whether a function gives the same for the same arguments, and does nothing else."""
    return is_pure(fn) and (table.find(fn) is not None or fn in SYNTAX)


def costs_less(operations: int, each: int = 1) -> bool:
    """Whether doing operations in each iteration of the reverse sweep costs less than keeping their result."""
    return operations * each <= KEEPING
