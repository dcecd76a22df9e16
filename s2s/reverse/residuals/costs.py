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

from s2s.analysis.functions import facts
from s2s.core import ir
from s2s.core.functions import Result
from s2s.core.limits import FEW_NUMBERS
from s2s.core.values import AbstractValue, Array
from s2s.optimize.dead import is_pure
from s2s.rules import table

__all__ = [
    "ARRAY_ARITHMETIC", "ARRAY_OPERATION", "ARRAY_QUOTIENT", "COMPARISONS", "HOISTED_AT_MOST", "INVARIANT_AT_MOST",
    "KEEPING", "SHAPES", "costs_less", "gives_the_same", "is_array_arithmetic",
    "is_few_numbers",
]

KEEPING = 10
"""What keeping a value of each iteration costs."""

ARRAY_OPERATION = 3
"""What an operation on arrays costs that are there."""

ARRAY_QUOTIENT = 8
"""What it costs to divide by an array that is there."""

HOISTED_AT_MOST = 12
"""How many operations are looked at to compute a value before a loop."""

INVARIANT_AT_MOST = 100
"""How many operations are looked at to see that a value is the same in every iteration."""

SHAPES = tuple(map(ir.Const, ("shape", "ndim", "size", "dtype")))
"""What does not depend on what an array holds: it can be asked when that has changed."""

COMPARISONS = tuple(map(ir.Const, (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)))
"""What the tests of branches are made of."""

ARRAY_ARITHMETIC = tuple(map(ir.Const, (operator.add, operator.sub, operator.mul, operator.neg)))
"""Operations on arrays that cost ``ARRAY_OPERATION``, as squares and division by a number do."""


def is_array_arithmetic(value: ir.Call) -> bool:
    """Whether an operation, on arrays, is arithmetic."""
    if value.fn == ir.Const(operator.pow):
        return value.args[1] == ir.Const(2)
    return value.fn in ARRAY_ARITHMETIC or value.fn == ir.Const(operator.truediv)


def gives_the_same(fn: Any) -> bool:
    """Whether a function gives the same for the same arguments, and does nothing else."""
    known = facts(fn)
    return is_pure(fn) and known.result is not Result.ITERATOR and (known.cheap or table.find(fn) is not None)


def is_few_numbers(known: AbstractValue) -> bool:
    """Whether it is a vector so short that its elements are numbers in compiled loops: operations on it are those of
    one number, done a few times."""
    if not isinstance(known, Array) or known.shape is None or len(known.shape) != 1 or known.dtype != np.float64:
        return False
    return known.shape[0].is_constant and 2 <= known.shape[0].offset <= FEW_NUMBERS


def costs_less(operations: int, each: int = 1) -> bool:
    """Whether doing operations in each iteration of the reverse sweep costs less than keeping their result."""
    return operations * each <= KEEPING
