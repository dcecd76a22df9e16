"""What kinds of values there are for a recording: numbers and arrays, what hands objects on, and what hides them."""

from __future__ import annotations

import collections
import functools
import gc
import inspect
import io
import itertools
import operator
import re
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from s2s.core.inspection import is_written
from s2s.core.operators import OPERATORS, plain_of
from s2s.recorded.install import is_watched
from s2s.recorded.recorder import has_own_class, is_a, is_number, items_in

__all__ = [
    "CONTAINERS", "FUNCTIONS", "ITERATORS", "KNOWN", "REAL", "flat", "is_numeric", "is_opaque", "is_ours",
    "is_plain", "is_python", "is_read_item_by_item", "method_called", "names_of", "overrides",
    "plain_array", "plain_integer", "python_of",
]

REAL = frozenset({float, int, bool, np.float64, np.float32, np.longdouble, np.int64, np.int32, np.intp})


CONTAINERS = (list, tuple, dict, set, frozenset, collections.deque)


ITERATORS: Any = (
    zip,
    enumerate,
    map,
    filter,
    reversed,
    types.GeneratorType,
    *(kind for kind in vars(itertools).values() if isinstance(kind, type)),
    type(iter([])),
    type(iter(())),
    type(iter({})),
    type({}.items()),
    type({}.values()),
    type({}.keys()),
    type(iter({}.items())),
    type(iter({}.values())),
)


def is_numeric(value: Any, *names: str) -> bool:
    """Whether an operand is a number or an array whose class leaves these methods to Python or NumPy."""
    kind = type(value)
    if kind in REAL or kind is np.ndarray or kind is complex or issubclass(kind, np.generic):
        return True
    if has_own_class(value):
        base = float if issubclass(kind, float) else complex
        return all(getattr(kind, name, None) is getattr(base, name, None) for name in names)
    return issubclass(kind, np.ndarray) and not overrides(kind, (*names, "__array_ufunc__"))  # type: ignore[arg-type]


def plain_integer(value: Any, *names: str) -> Any:
    """A member of an ``IntEnum``, or an integer of another class that leaves these methods to Python, as an integer;
    anything else as it is."""
    kind = type(value)
    if kind in REAL or not issubclass(kind, int):
        return value
    own = any(getattr(kind, name, None) is not getattr(int, name, None) for name in names)
    return value if own else int.__int__(value)


def is_plain(value: Any, name: str) -> bool:
    """Whether an array has NumPy's method of this name, whatever its class does about functions of NumPy."""
    return getattr(type(value), name) is getattr(np.ndarray, name)


@functools.lru_cache(1024)
def overrides(kind: type, names: tuple[str, ...] = ("__array_ufunc__", "__array_function__")) -> bool:
    """Whether a class of arrays has methods of its own; without names, calls of NumPy's functions."""
    return any(getattr(kind, name, None) is not getattr(np.ndarray, name, None) for name in names)


@functools.lru_cache(256)
def names_of(op: Any) -> tuple[str, ...]:
    """The methods that an operator asks an object for."""
    known = OPERATORS.get(plain_of(op) or op)
    names = () if known is None else (known.method, known.reflected, known.in_place_method)
    return tuple(name for name in names if name)


def is_ours(value: Any, op: Any) -> bool:
    """Whether an operator of an object is Python code, which is watched."""
    methods = (getattr(type(value), name, None) for name in names_of(op))
    return any(type(m) is types.FunctionType and is_watched(m) for m in methods)


def plain_array(value: Any) -> Any:
    return np.ndarray.view(value, np.ndarray) if is_a(value, np.ndarray) else value


def is_opaque(value: Any) -> bool:
    """Whether an object may keep what it is given in a way of its own: one of a class that is not Python code."""
    kind = type(value)
    if is_number(value) or kind in PLAIN or is_a(value, SAFE):
        return False
    return not is_python(kind)  # type: ignore[arg-type]


@functools.lru_cache(4096)
def is_python(kind: type) -> bool:
    """Whether what makes objects of a class is Python code, or keeps nothing."""
    for name in ("__new__", "__init__"):
        found = inspect.getattr_static(kind, name, None)
        found = found.__func__ if isinstance(found, (staticmethod, classmethod)) else found
        if type(found) is types.FunctionType or found in KEEP_NOTHING:
            continue
        return False
    return is_written(kind)


PLAIN = frozenset(
    {int, bool, str, bytes, type(None), type, types.ModuleType, types.FunctionType, types.MethodType}
)


SAFE = (
    np.ndarray,
    np.generic,
    np.dtype,
    *CONTAINERS,
    *ITERATORS,
    BaseException,
    slice,
    types.SimpleNamespace,
    types.MappingProxyType,
    functools.partial,
    io.IOBase,
    range,
    np.random.Generator,
    np.random.RandomState,
    np.errstate,
    type,
    re.Pattern,
    np.ufunc,
    types.BuiltinFunctionType,
    types.MethodType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
)


FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, np.ufunc, type, functools.partial)


KEEP_NOTHING = frozenset({
    object.__new__, object.__init__, *(getattr(kind, name) for kind in (*CONTAINERS, Exception, float, np.ndarray)
                                       for name in ("__new__", "__init__")),
})


def flat(values: Any) -> Iterator[Any]:
    for value in values:
        if is_a(value, (list, tuple)) and (list if is_a(value, list) else tuple).__len__(value) < 64:
            yield from flat(items_in(value))
        else:
            yield value


def is_read_item_by_item(value: Any) -> bool:
    """Whether a value gives its items only when it is iterated over."""
    kind = type(value)
    return hasattr(kind, "__iter__") and not is_a(
        value, (np.ndarray, str, bytes, range, list, tuple, dict, set, frozenset))


KNOWN = (
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    np.ufunc,
    type,
    type(np.sum),
)
"""Types of functions that the compiler knows what to do with, or refuses."""


def python_of(ufunc: np.ufunc) -> Any:
    """The function that ``np.frompyfunc`` made a ufunc of; None for one that computes by itself."""
    if any(kinds.strip("O->") for kinds in ufunc.types) or not ufunc.types:
        return None
    return next((held for held in gc.get_referents(ufunc) if callable(held)), None)


def method_called(fn: operator.methodcaller) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    """The name and the arguments of the method that an ``operator.methodcaller`` calls."""
    made: Any = fn.__reduce__()
    make, args = made
    if isinstance(make, functools.partial):
        return make.args[0], args, make.keywords
    return args[0], args[1:], {}
