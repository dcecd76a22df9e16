"""The functions that compiled code calls: ``replacement`` gives what stands for a function or method in it.

Three kinds: functions of NumPy that Numba lacks or has without some keyword, functions of ``math`` that raise where
Python's do, and operations on integers that raise where 64 bits are not enough. What they raise says nothing but that:
who calls compiled code runs the Python function then.
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.backends.numba import directions as many
from s2s.backends.numba.adaptation import MATH_RETURNS_FLOAT
from s2s.backends.numba.arithmetic import HELPERS, TO_INTEGER, checked, to_integer
from s2s.backends.numba.contractions import CONTRACTIONS, contraction
from s2s.backends.numba.crosses import CROSSES, cross
from s2s.backends.numba.elements import ELEMENTS
from s2s.backends.numba.histograms import bin_of, histogram
from s2s.backends.numba.masks import MASKS
from s2s.backends.numba.nests import Nest
from s2s.backends.numba.overloads import REPLACED, last
from s2s.backends.numba.paths import Unsupported
from s2s.backends.numba.ranks import BY_RANK, where
from s2s.backends.numba.reductions import REDUCTIONS, expansion, reduction, squeezed
from s2s.backends.numba.straight import Straight
from s2s.backends.numba.straight_units import straight_unit
from s2s.backends.numba.units import unit
from s2s.core.inspection import public_module
from s2s.runtime import directions

__all__ = ["replacement"]


def replacement(value: Any, call: ast.Call | None) -> Any:
    """What compiled code calls instead of ``value`` (a function, or the name of a method), which is called as in
    ``call`` where that is given; ``value`` itself where Numba has it. Raises Unsupported."""
    if isinstance(value, Straight):
        return straight_unit(value)
    if isinstance(value, Nest):
        return unit(value)
    if isinstance(value, str) and call is None:
        return (ELEMENTS | HELPERS | MASKS)[value]
    if isinstance(value, str):
        return _method(value, call)  # type: ignore[arg-type]
    if value in MATH_RETURNS_FLOAT:
        return checked(value)
    if any(value is function for function in TO_INTEGER):
        return to_integer(value)
    if value in REDUCTIONS and call is not None:
        return reduction(value, call)
    if value in (np.ndarray.sum, np.ndarray.mean) and call is not None:
        return reduction(getattr(np, value.__name__), call)
    if value in CROSSES and call is not None:
        return cross(value, call)
    if value in CONTRACTIONS and call is not None:
        return contraction(value, call) or value
    if value is np.expand_dims and call is not None:
        return expansion(call)
    if value is np.squeeze and call is not None:
        return squeezed(call)
    if public_module(value) == "s2s.runtime" and value.__name__ in ("call", "call_method", "pulled"):
        raise Unsupported("what is called is known only when it runs", call.lineno if call is not None else 0)
    if _is_random(value):
        raise Unsupported("Numba has random numbers of its own, which NumPy's seed does not change",
                          call.lineno if call is not None else 0)
    if value is np.where and call is not None and len(call.args) == 3:
        return where
    return _REPLACED.get(value, value)


_REPLACED: dict[Any, Any] = {
    **BY_RANK, **REPLACED, directions.unbroadcast: many.unbroadcast, np.histogram: histogram, rt.bin_of: bin_of,
    rt.cholesky_bar: rt.plain_cholesky_bar,
}


def _is_random(value: Any) -> bool:
    owner = getattr(value, "__self__", None)
    makers = (np.random.RandomState, np.random.Generator)
    if isinstance(owner, makers) or getattr(value, "__objclass__", None) in makers:
        return True
    return getattr(value, "__module__", None) in ("random", "numpy.random", "numpy.random.mtrand")


def _method(name: str, call: ast.Call) -> Any:
    """``x.sum(axis=0)`` is the function with the array in front."""
    if name == "pop" and not (call.args or call.keywords):
        return last
    if name not in ("sum", "mean", "max", "min", "prod", "any", "all") or not (call.args or call.keywords):
        return name
    assert isinstance(call.func, ast.Attribute)
    whole = ast.copy_location(ast.Call(call.func, [call.func.value, *call.args], call.keywords), call)
    made = reduction(getattr(np, name), whole)
    call.args, call.keywords = [], []
    return made
