"""The orders of elements that depend on how an array lies in memory: ``order="A"`` and ``order="K"``.

They are written out with the orders that do not, so that derivatives follow the array and not themselves: a tangent or
a cotangent may lie in memory in another way.

    np.ravel(a, "A")        np.ravel(a, "F") if np.isfortran(a) else np.ravel(a)
    np.ravel(a, "K")        np.ravel(np.transpose(a, rt.axes_in_memory(a)))
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.core import ir
from s2s.core.values import Array, Known
from s2s.errors import error
from s2s.specialize.site import At

ORDERED = {np.ravel: 1, np.ndarray.ravel: 1, np.ndarray.flatten: 1, np.reshape: 2, np.ndarray.reshape: -1}
"""Functions that read an array in an order, and which argument says it; of -1 the keyword alone."""


def in_memory_order(at: At, fn: Any, args: list[ir.Atom], kwargs: dict[Any, ir.Atom]) -> ir.Atom | None:
    """A call that reads an array in the order of memory, written out; None for any other."""
    place = ORDERED.get(fn)
    if place is None or None in kwargs or any(isinstance(a, ir.Star) for a in args):
        return None
    if not args and "a" in kwargs:
        args, kwargs = [kwargs["a"]], {key: value for key, value in kwargs.items() if key != "a"}
    if not args:  # NumPy raises TypeError
        return None
    at_place = 0 < place < len(args)
    order = args[place] if at_place else kwargs.get("order", ir.Const("C"))
    known = at.value(order)
    if not isinstance(known, Known):
        if at.context.is_varied(args[0]):
            raise error("S2S220", span=at.span, asked_by=at.frame.called_from)
        return None
    order_name = str(known.value).upper()
    if order_name not in ("A", "K"):
        return None
    rest = [a for k, a in enumerate(args) if not (at_place and k == place)]
    others = {key: value for key, value in kwargs.items() if key != "order"}
    array = at.value(rest[0])
    if not isinstance(array, Array) and fn in (np.ravel, np.reshape):  # of numbers and of lists too
        rest[0] = at.apply(np.asarray, rest[0])
        array = at.value(rest[0])
    if isinstance(array, Array) and array.shape is not None and len(array.shape) < 2:
        return at.result_of(fn, [*rest], others)
    if order_name == "K" and fn in (np.reshape, np.ndarray.reshape):  # NumPy raises ValueError
        return None
    if order_name == "A":
        given = [ir.Const(fn), *rest]
        return at.result_of(_as_it_lies, given, others)
    axes = at.compute(rt.axes_in_memory, rest[0])
    turned = at.apply(np.transpose, rest[0], axes)
    made = at.result_of(fn, [turned, *rest[1:]], others)
    if isinstance(array, Array) and isinstance(made, ir.Var):
        at.context.values[turned] = Array(array.dtype, None)  # type: ignore[index]
        at.context.values[made] = at.context.evaluator.call(np.ravel, (array,))
    return made


def _as_it_lies(fn: Any, a: Any, *args: Any, **kwargs: Any) -> Any:
    """In the order of columns where the array is in that of Fortran."""
    if np.isfortran(a):
        return fn(a, *args, order="F", **kwargs)
    return fn(a, *args, order="C", **kwargs)
