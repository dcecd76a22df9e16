"""Layout: whether a function can tell how its arrays lie in memory.

``a.reshape(-1)`` is a view of an array in C order and a copy of any other, so what a store into it changes depends on
the layout; ``np.isfortran(a)`` asks for it. Where a function can tell, arrays that stand for others have to lie as they
do.
"""

from __future__ import annotations

import numpy as np

from s2s import runtime as rt
from s2s.analysis.memory import Memory
from s2s.core import ir
from s2s.core.values import Array

_VIEWS_OR_COPIES = frozenset(
    map(
        ir.Const,
        (
            np.ravel, np.ndarray.ravel, np.reshape, np.ndarray.reshape, np.ascontiguousarray, np.asfortranarray,
            np.asarray, np.asanyarray, np.require, np.array, np.ndarray.astype,
        ),
    )
)
_GETATTR = ir.Const(getattr)
ASK_FOR_LAYOUT = (np.isfortran, rt.axes_in_memory, rt.places_of_strides, np.ndarray.tobytes)
"""Functions whose results differ for arrays of the same numbers that lie otherwise in memory."""

_ASKS = frozenset(map(ir.Const, ASK_FOR_LAYOUT))
_ATTRIBUTES = frozenset(map(ir.Const, ("flags", "strides", "data", "ctypes")))


def shows(function: ir.Function, memory: Memory) -> bool:
    """Whether what a function does may depend on the layout of its arrays in memory."""
    return any(isinstance(s, ir.Let) and _asks(s, memory) for s in ir.walk(function.body))


def _asks(s: ir.Let, memory: Memory) -> bool:
    if not isinstance(s.value, ir.Call) or not s.value.args:
        return False
    fn, first = s.value.fn, s.value.args[0]
    if fn == _GETATTR:
        return s.value.args[1] in _ATTRIBUTES and isinstance(memory.value_of(first), Array)
    return fn in _ASKS or (fn in _VIEWS_OR_COPIES and s.target is not None and memory.is_buffer(s.target))


__all__ = ["ASK_FOR_LAYOUT", "shows"]
