"""What may pass what: takes an operation, says whether it reads or changes the world around it.

The sets are small on purpose. What is not known here counts as having an effect, which costs a name, never
a mistake.
"""

from __future__ import annotations

import builtins
import enum
import math
import operator
import types
from typing import Any, assert_never

import numpy as np

from s2s.core import ops
from s2s.core.ir import Call, Const, Load, MakeFunction, Star, Value, Var

__all__ = ["ACTS", "PURE", "READS", "Effect", "effect_of"]


class Effect(enum.IntEnum):
    """``PURE`` depends on names only, ``READS`` may look at what a store changes, ``ACTS`` may change it."""

    PURE = 0
    READS = 1
    ACTS = 2


PURE, READS, ACTS = Effect

_PURE = {ops.make_tuple, ops.make_list, ops.make_dict, slice, operator.is_, operator.is_not}
_ACTING = {
    *ops.PLAIN, operator.setitem, operator.delitem, operator.iconcat, operator.call, np.copyto, np.put,
    np.place, np.putmask, np.fill_diagonal, np.put_along_axis, np.save, np.load, np.seterr,
    np.set_printoptions,
}  # fmt: skip
_BUILTINS = {
    abs, all, any, bool, complex, dict, divmod, enumerate, float, getattr, hasattr, id, int, isinstance,
    len, list, max, min, pow, range, repr, reversed, round, set, sorted, str, sum, tuple, type, zip,
    frozenset, format,
}  # fmt: skip
_CHANGING_METHODS = {
    "fill", "sort", "partition", "put", "resize", "setfield", "setflags", "itemset", "byteswap", "append",
    "extend", "insert", "remove", "pop", "popitem", "clear", "update", "setdefault", "reverse", "add",
    "discard", "__setitem__", "__delitem__", "difference_update", "intersection_update",
    "symmetric_difference_update", "tofile", "dump", "shuffle", "__iadd__", "__next__", "write", "read",
}  # fmt: skip
_METHODS = (types.MethodDescriptorType, types.WrapperDescriptorType)
_READING_TYPES = (np.ndarray, np.generic, list, tuple, dict, str, bytes, float, int, complex, set, frozenset)


def effect_of(value: Value) -> Effect:
    """The effect of evaluating one operation on atoms."""
    match value:
        case Call(Const() as fn, args, kwargs):
            effect = _effect_of_call(fn.value)
            for key, _ in kwargs:
                if key == "out" or key is None:
                    return ACTS
            for argument in args:
                if isinstance(argument, Star):
                    return max(READS, effect)
            return effect
        case Call():
            return ACTS
        case Var() | Const() | MakeFunction():
            return PURE
        case Load():
            return READS
        case _ as never:
            assert_never(never)


def _effect_of_call(fn: Any) -> Effect:
    try:
        known = _KNOWN.get(fn)
    except TypeError:  # not hashable
        return ACTS
    if known is not None:
        return known
    if isinstance(fn, np.ufunc):
        return READS
    if isinstance(fn, _METHODS):
        reading = fn.__objclass__ in _READING_TYPES and fn.__name__ not in _CHANGING_METHODS
        return READS if reading else ACTS
    module = str(getattr(fn, "__module__", None) or "")
    if module in (operator.__name__, "_operator", math.__name__, ops.__name__):
        return READS
    if isinstance(fn, type):
        return READS if module in ("numpy", builtins.__name__) and fn in _VALUE_TYPES else ACTS
    if module.split(".")[0] == "numpy" and not module.startswith("numpy.random"):
        return READS if getattr(fn, "__self__", None) is None else ACTS
    return ACTS


_VALUE_TYPES = {
    np.dtype,
    *(t for t in vars(np).values() if isinstance(t, type) and issubclass(t, np.generic)),
}

_OPERATORS = [fn for name, fn in vars(operator).items() if isinstance(fn, types.BuiltinFunctionType)]
_KNOWN: dict[Any, Effect] = {
    **dict.fromkeys((*_OPERATORS, *_BUILTINS), READS),
    **dict.fromkeys(_ACTING, ACTS),
    **dict.fromkeys(_PURE, PURE),
}
"""The effects of what is called most."""
