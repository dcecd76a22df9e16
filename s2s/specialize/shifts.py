"""Maxima and minima that only keep numbers in range carry no derivative: a specialised function goes in, and what it is
known to depend on is less.

    most = np.max(x)                                    most is a constant for the derivative, as the result is the
    return most + np.log(np.sum(np.exp(x - most)))      same for each
"""

from __future__ import annotations

import numpy as np

from s2s.analysis.shifts import is_cancelled
from s2s.builder.builder import Context, has_zero_derivative
from s2s.core import ir
from s2s.specialize.steps import without_varied

__all__ = ["drop_cancelled"]

_SHIFTS = tuple(map(ir.Const, (np.max, np.min, np.amax, np.amin, np.ndarray.max, np.ndarray.min)))

MOST_STEPS = 3
"""A maximum may go through so many operations before it is subtracted, as one that replaces what is infinite."""


def drop_cancelled(function: ir.Function, context: Context) -> ir.Function:
    """The function; the maxima on which no result depends are not varied."""
    found = [s.target for s in ir.walk(function.body) if isinstance(s, ir.Let) and _is_shift(s.value)]
    for var in found:
        shift = None if var not in context.varied else _cancelled(function, context, var)
        if shift is not None:
            without_varied(context, function.body, {shift})
    return function


def _is_shift(made: ir.Value) -> bool:
    return isinstance(made, ir.Call) and made.fn in _SHIFTS


def _cancelled(function: ir.Function, context: Context, var: ir.Var | None) -> ir.Var | None:
    """The variable, or the only one that is made of it, on which no result depends."""

    def is_zero(made: ir.Call) -> bool:
        assert isinstance(made.fn, ir.Const)
        return has_zero_derivative(context, made.fn.value, made.args)  # type: ignore[arg-type]

    for _ in range(MOST_STEPS):
        if var is None:
            break
        if is_cancelled(var, function, context.value, is_zero):
            return var
        readers = [s for s in ir.walk(function.body) if var in ir.reads_of(s)]
        made = {s.target if isinstance(s, ir.Let) else None for s in readers if _carries(s, context)}
        var = made.pop() if len(made) == 1 else None
    return None


def _carries(s: ir.Statement, context: Context) -> bool:
    return not isinstance(s, ir.Let) or s.target is None or context.is_varied(s.target)
