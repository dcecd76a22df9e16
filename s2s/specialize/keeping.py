"""Whether a function surely keeps nothing of what it is given, where a program could read it again later.

    def get_namespace(x):                   def get_namespace(x):
        return np                               last["x"] = x           # may be read later
                                                return np

Its code and that of all functions it names are read: they store into nothing but variables of their own, use no object
that could be changed, and no method but those of arrays, numbers and texts that only read.
"""

from __future__ import annotations

import abc
import builtins
import dis
import functools
import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

__all__ = ["keeps_nothing"]

_STORES = ("STORE_GLOBAL", "STORE_ATTR", "STORE_SUBSCR", "STORE_SLICE", "STORE_NAME", "DELETE_", "IMPORT_FROM")
_NUMPY = (np.ufunc, type(np.sum))
_CONSTANTS = (int, float, complex, str, bytes, type(None), type(Ellipsis), np.dtype)
_REACH_ANYTHING = frozenset({
    "__import__", "compile", "delattr", "eval", "exec", "getattr", "globals", "input", "locals", "open", "print",
    "setattr", "vars",
})  # fmt: skip
_READING = frozenset(dir(str)) | frozenset({
    "all", "any", "argmax", "argmin", "astype", "copy", "device", "dtype", "flags", "get", "imag", "is_integer", "item",
    "itemsize", "items", "keys", "kind", "max", "mean", "min", "name", "nbytes", "ndim", "real", "shape", "size",
    "strides", "sum", "T", "tolist", "values", "__array_namespace__", "__module__", "__mro__",
    "__name__", "__qualname__",
})  # fmt: skip


def keeps_nothing(fn: Any) -> bool:
    """Whether a function, and all that it calls, surely keeps nothing of its arguments."""
    return _is_harmless(fn, set())


def _is_harmless(value: Any, seen: set[Any]) -> bool:
    """Whether nothing is kept by code that uses a value in any way."""
    if isinstance(value, functools._lru_cache_wrapper):
        value = value.__wrapped__
    if isinstance(value, types.FunctionType):
        if value in seen:
            return True
        seen.add(value)
        given = (*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values())
        return all(_is_harmless(v, seen) for v in given) and _reads_only(value, value.__code__, seen)
    if isinstance(value, (types.ModuleType, *_NUMPY, *_CONSTANTS)):
        return True
    if isinstance(value, (tuple, frozenset)):
        return all(_is_harmless(v, seen) for v in value)
    if isinstance(value, type):
        return type(value) in (type, abc.ABCMeta) and not any(
            isinstance(getattr(value, name, None), types.FunctionType) for name in ("__init__", "__new__"))
    if isinstance(value, types.BuiltinFunctionType):
        return value.__self__ is builtins and value.__name__ not in _REACH_ANYTHING
    return value is sys.modules


def _reads_only(fn: types.FunctionType, code: types.CodeType, seen: set[Any]) -> bool:
    """Whether the code, of a function or nested in it, stores into nothing but its variables, and uses nothing else."""
    for value in _used(fn, code):
        if value is _UNKNOWN or not _is_harmless(value, seen):
            return False
    return all(_reads_only(fn, inner, seen) for inner in code.co_consts if isinstance(inner, types.CodeType))


_UNKNOWN = object()


def _used(fn: types.FunctionType, code: types.CodeType) -> Iterator[Any]:
    """The objects that code refers to outside of it; `_UNKNOWN` for what could keep something."""
    outside = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))
    owner: Any = None
    for step in dis.get_instructions(code):
        name, value = step.argval, None
        if step.opname.startswith(_STORES) or (step.opname == "BINARY_OP" and step.argrepr.endswith("=")):
            value = _UNKNOWN
        elif step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            value = fn.__globals__.get(name, getattr(builtins, name, _UNKNOWN))
        elif step.opname == "STORE_DEREF" and name in code.co_freevars:
            value = _UNKNOWN
        elif step.opname.endswith("DEREF") and name in outside:
            value = _content(outside[name])
        elif step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            if isinstance(owner, types.ModuleType):
                value = getattr(owner, name, _UNKNOWN)
            elif name not in _READING:
                value = _UNKNOWN
        if value is not None:
            yield value
        if step.opname not in ("CACHE", "PUSH_NULL", "EXTENDED_ARG"):
            owner = value


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _UNKNOWN
