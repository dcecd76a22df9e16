"""The arguments of calls of C code: items of what it reads item by item, and functions that are watched."""

from __future__ import annotations

import collections
import functools
import itertools
import math
import operator
import types
from array import array as TypedArray
from typing import Any

import numpy as np

from s2s.analysis.functions import facts
from s2s.core.functions import Result
from s2s.core.inspection import is_hashable, is_written
from s2s.recorded import typed
from s2s.recorded.items import Backwards, checked_items, items_of, iterate
from s2s.recorded.kernels import overridden
from s2s.recorded.kinds import (
    CONTAINERS,
    is_plain,
    is_python,
    is_read_item_by_item,
)
from s2s.recorded.memory import array_at
from s2s.recorded.recorder import NAMES_OF_MEMORY, is_a
from s2s.recorded.records import items_of_name
from s2s.recorded.state import depends
from s2s.recorded.tools import INSTALLER, binary, call, call_method
from s2s.rules import table


def prepared(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments, with items for an array that is read item by item, and watched functions; the first by position,
    where it was given by its name."""
    known = facts(fn) if is_hashable(fn) else None
    receiver = getattr(fn, "__self__", None)
    reads = reads_items(fn) or (
        is_a(receiver, CONTAINERS) and fn.__name__ in ("extend", "extendleft", "update", "fromkeys", "__init__")
    )
    if kwargs and not args and (receiver is None or is_a(receiver, types.ModuleType)):
        args, kwargs = _by_position(fn, kwargs)
    made = []
    for arg in args:
        arg = _read(fn, arg)
        if type(arg) in (list, tuple, dict):
            INSTALLER.see_parts(arg)
        if is_a(arg, np.flatiter) and fn is not next:
            arg = call_method(arg.base, "reshape", -1)
        if callable(arg):
            INSTALLER.see(arg)
            arg = _watched(arg) if reads and not hasattr(type(arg), "__iter__") else arg
        elif reads and is_a(arg, np.ndarray) and arg.ndim == 1 and is_plain(arg, "__iter__") and depends(arg):
            lazily = known is not None and known.result is Result.ITERATOR
            if fn is reversed:
                return (Backwards(arg),), kwargs
            arg = items_of(arg) if lazily else list(items_of(arg))
        elif type(arg) in NAMES_OF_MEMORY and depends(arg):
            arg = (items_of_name(arg) if known is not None and known.result is Result.ITERATOR
                   else list(items_of_name(arg)) if reads else array_at(arg))
        elif known is not None and known.takes_all and is_a(arg, np.ndarray) and overridden((arg,)) and depends(arg):
            arg = list(iterate(arg))
        elif is_a(arg, TypedArray) and depends(arg):
            arg = _numbers(fn, arg, reads)
        elif is_a(arg, np.broadcast) and reads:
            arg = iterate(arg)
        elif _reads_rows(fn) and depends(arg):
            arg = _rows(arg)
        elif is_a(arg, (set, frozenset)) and not reads and table.find(fn) is not None and depends(arg):
            arg = list(arg)
        elif not reads and fn is not next and is_read_item_by_item(arg) and (
            (known is not None and known.takes_all) or fn is np.fromiter
            or (hasattr(type(arg), "__next__") and _is_step_of_all(fn) and not is_a(receiver, CONTAINERS))
        ):
            arg = list(checked_items(arg))  # what is computed of the items is one step of these
        made.append(arg)
    if fn is itertools.accumulate and len(args) + ("func" in kwargs) < 2:
        made.append(functools.partial(binary, operator.add))
    for name, arg in kwargs.items():
        if type(arg) in (list, tuple, dict):
            INSTALLER.see_parts(arg)
        elif callable(arg):
            INSTALLER.see(arg)
            kwargs = {**kwargs, name: _watched(arg)} if reads and name == "func" else kwargs
    return tuple(made), kwargs



def _is_step_of_all(fn: Any) -> bool:
    """Whether a function has a rule for all items of an iterator. `any` may leave some, and has no derivative."""
    rule = table.find(fn)
    return rule is not None and (rule.kind != "zero" or facts(fn).takes_all)


def _by_position(fn: Any, kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of ``np.array(object=x)`` as those of ``np.array(x)``."""
    rule = table.find(fn) if is_hashable(fn) else None
    first = next(iter(rule.params.parameters.values()), None) if rule is not None else None
    if first is None or first.kind is not first.POSITIONAL_OR_KEYWORD or first.name not in kwargs:
        return (), kwargs
    return (kwargs[first.name],), {name: value for name, value in kwargs.items() if name != first.name}


def _numbers(fn: Any, arg: TypedArray[Any], reads: bool) -> Any:
    """What stands for an ``array.array``: its numbers, read one by one, or as an array."""
    if fn in (np.frombuffer, np.asarray, memoryview):
        return typed.in_memory(arg)
    if reads:
        return typed.items_of_typed(arg) if facts(fn).result is Result.ITERATOR else typed.numbers_of(arg)
    return call(np.array, typed.numbers_of(arg), dtype=arg.typecode)


def _read(fn: Any, arg: Any) -> Any:
    """An argument, or an item of one, as a function of floats or of arrays reads it."""
    if type(arg) in (list, tuple) and len(arg) < 64 and any(is_written(type(item)) for item in arg):
        return type(arg)([_read(fn, item) for item in arg])
    method = _read_by(fn, type(arg)) if is_written(type(arg)) else None
    return arg if method is None else call_method(arg, method)


def _read_by(fn: Any, kind: Any) -> str | None:
    """The method by which a function of floats or of arrays reads an object of a class; None where it is another."""
    if getattr(fn, "__self__", None) is math and fn not in _NO_FLOATS:
        return "__float__" if isinstance(getattr(kind, "__float__", None), types.FunctionType) else None
    is_ufunc = is_a(fn, np.ufunc)
    is_read = is_read_as_array(kind) if is_ufunc else is_read_by_functions(kind)
    if not is_read or not is_hashable(fn) or table.find(fn) is None:
        return None
    is_numpy = is_ufunc or (getattr(fn, "__module__", None) or "").partition(".")[0] == "numpy"
    return "__array__" if is_numpy else None


_NO_FLOATS = frozenset({math.ceil, math.floor, math.trunc, math.fsum, math.prod, math.dist})
"""Functions of ``math`` that ask an object for another method, or for its items."""

_PROTOCOLS = ("__array_ufunc__", "__array_function__", "__array_priority__")


def is_read_as_array(kind: Any) -> bool:
    """Whether NumPy takes objects of a class for the arrays that their ``__array__`` gives."""
    return is_read_by_functions(kind) and not any(hasattr(kind, name) for name in _PROTOCOLS)


def is_read_by_functions(kind: Any) -> bool:
    """Whether NumPy's functions that are no ufuncs take objects of a class for the arrays that ``__array__`` gives."""
    return isinstance(getattr(kind, "__array__", None), types.FunctionType) and not hasattr(kind, "__array_function__")


def _reads_rows(fn: Any) -> bool:
    """Whether a function reads the items of the items that it is given."""
    if fn is dict or fn is itertools.starmap or fn is collections.OrderedDict:
        return True
    name, receiver = getattr(fn, "__name__", ""), getattr(fn, "__self__", None)
    return (receiver is itertools.chain and name == "from_iterable") or (is_a(receiver, dict) and name == "update")


def _rows(value: Any) -> Any:
    """What gives the items of a value, arrays among them as tuples of their items; a dict itself."""
    if is_a(value, dict):
        return value
    return (tuple(items_of(item)) if is_a(item, np.ndarray) and item.ndim == 1 else item for item in iterate(value))


_READERS = frozenset({
    collections.deque,
    list, tuple, set, frozenset, zip, enumerate, map, filter, sorted, reversed, iter, min, max, functools.reduce, dict,
    itertools.accumulate, itertools.chain, itertools.starmap, itertools.product, itertools.islice, itertools.tee,
    list.extend,
})


def _watched(fn: Any) -> Any:
    """A function that C code calls, as one that is seen."""
    is_seen = type(fn) is types.FunctionType or (isinstance(fn, type) and is_written(fn) and is_python(fn)) or (
        type(fn) is types.MethodType and type(fn.__func__) is types.FunctionType)
    return fn if is_seen else lambda *args: call(fn, *args)


def reads_items(fn: Any) -> bool:
    """Whether a function or a class reads what it is given item by item."""
    return is_hashable(fn) and (fn in _READERS or facts(fn).result is Result.ITERATOR)
