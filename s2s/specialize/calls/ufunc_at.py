"""``ufunc.at``: an operation on the elements that an index names, in order, each time that it names them.

    np.add.at(a, key, v)            a store of its own: an entry that is named twice takes both
    np.multiply.at(a, mask, v)      a[mask] *= v: nothing is named twice
    np.maximum.at(a, [1, 1], v)     one element after the other
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s.analysis.memory import may_repeat
from s2s.core import ir
from s2s.core.values import Array
from s2s.specialize.inplace import store_item
from s2s.specialize.site import At

_ADDS: dict[Any, Callable[..., Any]] = {np.add: operator.add, np.subtract: operator.sub}
"""Those whose order does not matter."""

_OPERATORS: dict[Any, Callable[..., Any]] = {
    np.multiply: operator.mul, np.divide: operator.truediv, np.power: operator.pow,
}
"""Those that an augmented store is spelled with."""


def ufunc_at(at: At, fn: np.ufunc, args: list[ir.Atom]) -> ir.Atom | None:
    """``fn.at(a, key, v)``, or ``fn.at(a, key)`` of a function of one argument; None where it is not known that ``a``
    is an array, or the call is wrong."""
    known = at.value(args[0]) if args else None
    if not isinstance(known, Array) or len(args) != fn.nin + 1 or fn.nin > 2 or fn.nout != 1:
        return None
    array, key, *values = args
    if fn in _ADDS:
        store_item(at, array, key, values[0], _ADDS[fn], "at")
    elif may_repeat(at.value(key)):
        elements = _of_vector if known.shape is not None and len(known.shape) == 1 else _of_array
        return at.apply(elements, ir.Const(_OPERATORS.get(fn, fn)), *args)
    elif fn in _OPERATORS:
        store_item(at, array, key, values[0], _OPERATORS[fn])
    else:
        old = at.apply(operator.getitem, array, key)
        new = at.apply(fn, old, *values)
        store_item(at, array, key, new, None)
    return ir.Const(None)


def _of_vector(op: Callable[..., Any], a: Any, key: Any, *values: Any) -> None:
    """The elements of a vector, each time that they are named."""
    places = np.arange(len(a))[key]
    given = [_given(v, places) for v in values]
    places = np.ravel(places)
    for i in range(len(places)):
        a[places[i]] = op(a[places[i]], *[v[i] for v in given])


def _of_array(op: Callable[..., Any], a: Any, key: Any, *values: Any) -> None:
    """The elements of an array of any rank, each time that they are named."""
    places = np.reshape(np.arange(np.size(a)), np.shape(a))[key]
    given = [_given(v, places) for v in values]
    at = np.unravel_index(np.ravel(places), np.shape(a))
    for i in range(np.size(places)):
        element = tuple([p[i] for p in at])
        a[element] = op(a[element], *[v[i] for v in given])


def _given(values: Any, places: Any) -> Any:
    """The values for some places, one after the other, as they were before any is used."""
    return np.array(np.broadcast_to(values, np.shape(places))).ravel()


__all__ = ["ufunc_at"]
