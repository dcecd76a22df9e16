"""What calls of compiled objects that stand for Python code are: other calls, which are watched."""

from __future__ import annotations

import operator
import types
from typing import Any

import numpy as np

from s2s.core.inspection import module_of
from s2s.core.wrappers import numba_ufunc
from s2s.models import numba as loops
from s2s.recorded.items import get_attribute, get_item, set_item
from s2s.recorded.kinds import plain_array
from s2s.recorded.recorder import is_a
from s2s.recorded.state import depends
from s2s.recorded.tools import call

__all__ = ["get_parts", "has_python", "is_of_numba", "loops_of"]


def get_parts(fn: operator.attrgetter[Any] | operator.itemgetter[Any], value: Any) -> Any:
    """``fn(value)`` for what ``operator.attrgetter`` or ``operator.itemgetter`` has made."""
    made: Any = fn.__reduce__()
    found = []
    for key in made[1]:
        part = value
        if is_a(fn, operator.itemgetter):
            part = get_item(part, key)
        else:
            for name in key.split("."):
                part = get_attribute(part, name)
        found.append(part)
    return found[0] if len(found) == 1 else tuple(found)


def has_python(fn: Any) -> bool:
    """Whether a compiled function has the Python function that it was made of."""
    return type(getattr(fn, "py_func", None)) is types.FunctionType


def is_of_numba(fn: Any) -> bool:
    """Whether Numba has compiled it from a Python function, or will when it is called."""
    return module_of(type(fn)).startswith("numba.") and (has_python(fn) or numba_ufunc(fn) is not None)


def _into(fn: Any, out: Any, *args: Any) -> Any:
    """A call of what ``@guvectorize`` made with an array for its result."""
    set_item(call(fn, *args), out, ...)
    return out


def loops_of(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, tuple[Any, ...]] | None:
    """The loops around a Python function that Numba has compiled as a ufunc, and what they are called with; None for
    anything else, and for calls with keywords or of what gives several results."""
    found = numba_ufunc(fn)
    if found is None or kwargs or not depends(args):
        return None
    function, dimensions = found
    kinds = [np.asarray(a).dtype for a in args]
    kind = np.result_type(*kinds) if all(k.kind in "fc" for k in kinds) else np.dtype(float)
    if dimensions is None:
        return loops.by_elements, (function, kind, *map(plain_array, args))
    ins, outs, boxed = dimensions
    if len(args) == len(ins) + 1 == len(ins) + len(outs):
        return _into, (fn, args[-1], *args[:-1])
    at = {name: (k, d) for k, core in enumerate(ins) for d, name in enumerate(core)}
    if len(outs) != 1 or len(args) != len(ins) or not at.keys() >= {*outs[0]}:
        return None
    ranks, places = tuple(map(len, ins)), tuple(at[name] for name in outs[0])
    if any(np.ndim(a) != rank for a, rank in zip(args, ranks)):
        return loops.generalized, (function, ranks, places, boxed, kind, *args)
    given = [call(np.reshape, a, (1,)) if k in boxed else a for k, a in enumerate(args)]
    return loops.alone, (function, places, kind, *given)
