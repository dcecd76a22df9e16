"""Layout: whether a function can tell how its arrays lie in memory.

``a.reshape(-1)`` is a view of an array in C order and a copy of any other, so what a store into it changes depends on
the layout; ``np.isfortran(a)`` asks for it. Where a function can tell, arrays that stand for others have to lie as they
do.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.analysis.memory import Memory, shared_from
from s2s.analysis.sharing import Sharing
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
_BY_ORDER = frozenset(map(ir.Const, (
    np.ravel, np.ndarray.ravel, np.reshape, np.ndarray.reshape, np.ascontiguousarray, np.asfortranarray, np.require)))
_GETATTR = ir.Const(getattr)
_ASKS = frozenset(map(ir.Const, (np.isfortran, rt.axes_in_memory, rt.places_of_strides, np.ndarray.tobytes)))
_ATTRIBUTES = frozenset(map(ir.Const, ("flags", "strides", "data", "ctypes")))


def shows(function: ir.Function, memory: Memory) -> bool:
    """Whether what a function does may depend on the layout of its arrays in memory."""
    return any(isinstance(s, ir.Let) and (_asks(s, memory) or _stands(s, memory)) for s in ir.walk(function.body))


def _stands(s: ir.Let, memory: Memory) -> bool:
    """Whether a statement makes what may be a view of memory that changes."""
    is_call = isinstance(s.value, ir.Call) and s.value.fn in _VIEWS_OR_COPIES
    return is_call and s.target is not None and memory.is_buffer(s.target)


def _asks(s: ir.Let, memory: Memory, known: Container[Any] = ()) -> bool:
    """Whether a statement asks how an array lies in memory, other than one that is ``known`` to lie as it does."""
    first = _array_of(s)
    if not isinstance(s.value, ir.Call) or first is None or first in known:
        return False
    fn = s.value.fn
    if fn == _GETATTR:
        return s.value.args[1] in _ATTRIBUTES and isinstance(memory.value_of(first), Array)
    return fn in _ASKS


def decides(function: ir.Function, value_of: Any) -> bool:
    """Whether the layout of arrays that the function makes decides what it does: it asks for it, or something that is
    read after a store is a view of the same memory in one order of the axes, and a copy in another."""
    memory = Memory(function, value_of)
    if any(isinstance(s, ir.Let) and _asks(s, memory, memory.params) for s in ir.walk(function.body)):
        return True
    if not memory.changed or not any(_is_by_order(s, memory) for s in ir.walk(function.body)):
        return False
    certain, sharing = _Certain(function, value_of), Sharing(function, memory)
    # paths join again what may be a view and what it may be one of
    joined = {
        certain.find(var) for var, others in certain.by_order for o in others if certain.find(var) == certain.find(o)}
    return any(
        isinstance(s, ir.Store) and isinstance(target := s.target, ir.Var)
        and any(
            certain.find(var) != certain.find(target) or (var != target and certain.find(var) in joined)
            for var in sharing.seen(s))
        for s in ir.walk(function.body))


class _Certain(Memory):
    """What shares memory whatever the layout, and what does ``by_order`` of the axes."""

    def __init__(self, function: ir.Function, value_of: Any) -> None:
        self.by_order: list[tuple[ir.Var, list[ir.Var]]] = []
        super().__init__(function, value_of)

    def shared(self, s: ir.Statement) -> Iterator[tuple[ir.Var, list[ir.Var]]]:
        for var, others in shared_from(s, self.value_of):
            if _is_by_order(s, self):
                self.by_order.append((var, others))
                others = []
            yield var, others


def _array_of(s: ir.Statement) -> Any:
    """What a call is given first, by place or by the name that NumPy has for it; None where it is given nothing."""
    if not isinstance(s, ir.Let) or not isinstance(s.value, ir.Call):
        return None
    named = dict(s.value.kwargs)
    return s.value.args[0] if s.value.args else named.get("a", named.get("object"))


def _is_by_order(s: ir.Statement, memory: Memory) -> bool:
    """Whether a statement makes a view of an array, or a copy, by the order of its axes."""
    source = _array_of(s)
    if not isinstance(s, ir.Let) or not isinstance(s.value, ir.Call) or source is None:
        return False
    known = memory.value_of(source)
    if isinstance(known, Array) and known.shape is not None and len(known.shape) < 2:
        return False
    if s.value.fn not in _BY_ORDER and not (s.value.fn in _VIEWS_OR_COPIES and "order" in dict(s.value.kwargs)):
        return False
    return not (isinstance(source, ir.Var) and memory.is_contiguous(source)) or "order" in dict(s.value.kwargs)


__all__ = ["decides", "shows"]
