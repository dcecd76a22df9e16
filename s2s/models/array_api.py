"""What the helpers of SciPy for the array standard compute, with ``where`` in place of indices by masks."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["apply_where", "lazywhere", "some_chosen"]


def some_chosen(cond: Any, value: Any) -> Any:
    """One of the items of ``value`` for which the condition holds. A stand-in for the others: it has no derivative."""
    whole = np.ravel(np.broadcast_arrays(cond, value)[1])
    return whole[np.argmax(cond)] if whole.size else value


def chosen(cond: Any, value: Any) -> Any:
    """The items for which the condition holds, in the place of the others one of them."""
    return np.where(cond, value, some_chosen(cond, value))


def apply_where(cond: Any, args: Any, f1: Any, f2: Any = None, /, *, fill_value: Any = None, xp: Any = None) -> Any:
    """f1 where the condition holds, f2 or a number elsewhere; each function sees only what it is chosen for."""
    given = list(args) if isinstance(args, (list, tuple)) else [args]
    first = f1(*[chosen(cond, a) for a in given])
    if f2 is None:
        return np.where(cond, first, fill_value)
    return np.where(cond, first, f2(*[chosen(~np.asarray(cond), a) for a in given]))


def lazywhere(cond: Any, arrays: Any, f: Any, fillvalue: Any = None, f2: Any = None) -> Any:
    """``apply_where`` as an older SciPy has it."""
    return apply_where(cond, arrays, f, f2, fill_value=fillvalue)
