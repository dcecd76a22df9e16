"""Values in, copies of them out, with all that they share: one list in two places, views of one array.

The arrays of a copy lie in memory of its own as those of the original do in theirs, strides and overlaps included.
"""

from __future__ import annotations

import collections
import copy
import ctypes
import enum
import functools
import random
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from s2s.core.inspection import with_article

__all__ = ["NotCopied", "arrays_in", "copied"]

_ATOMIC = (
    type(None), bool, int, float, complex, str, bytes, type(Ellipsis), slice, range, type, np.generic, np.dtype,
    np.ufunc, types.FunctionType, types.BuiltinFunctionType, types.ModuleType, types.CodeType, type(np.sum), enum.Enum,
    types.MethodWrapperType, types.WrapperDescriptorType, types.MethodDescriptorType, type(NotImplemented),
)
_GENERATORS = (np.random.Generator, np.random.RandomState, random.Random)


class NotCopied(Exception):
    """A value of a kind that is not copied safely: an iterator, a file, an object of a foreign kind."""


def copied(values: Any) -> Any:
    """A copy that shares nothing that can be changed with the values. Raises NotCopied."""
    return _Copier().copy(values)


class _Copier:
    """One copy of many values; what was met before is the same object again."""

    def __init__(self) -> None:
        self.memo: dict[int, Any] = {}
        self.kept: list[Any] = []
        self.memory: dict[int, np.ndarray[Any, Any]] = {}

    def copy(self, value: Any) -> Any:
        """The copy of one value."""
        if isinstance(value, _ATOMIC):
            return value
        if id(value) not in self.memo:
            self.kept.append(value)
            made = self._new(value)
            self.memo.setdefault(id(value), made)
        return self.memo[id(value)]

    def _new(self, value: Any) -> Any:
        kind = type(value)
        if kind is np.ndarray:
            return self._array(value)
        if kind in (list, collections.deque):
            items = self.memo[id(value)] = [] if kind is list else collections.deque(maxlen=value.maxlen)
            items.extend(map(self.copy, value))
            return items
        if kind in (dict, collections.OrderedDict, collections.defaultdict):
            mapping = self.memo[id(value)] = value.copy()
            mapping.clear()
            for key, item in value.items():
                mapping[self.copy(key)] = self.copy(item)
            return mapping
        if kind in (set, frozenset, tuple):
            return kind(map(self.copy, value))
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return kind(*map(self.copy, value))
        if isinstance(value, _GENERATORS):
            return copy.deepcopy(value)
        if isinstance(value, (types.MethodType, functools.partial)):
            return self._callable(value)
        return self._object(value)

    def _callable(self, value: Any) -> Any:
        if isinstance(value, types.MethodType):
            return types.MethodType(self.copy(value.__func__), self.copy(value.__self__))
        if type(value) is functools.partial:
            return functools.partial(self.copy(value.func), *map(self.copy, value.args), **self.copy(value.keywords))
        return value  # a derivative or a function with a rule: it is called, not changed

    def _object(self, value: Any) -> Any:
        kind = type(value)
        if isinstance(value, BaseException) or kind.__module__.split(".")[0] in ("s2s", "numba", "_io", "threading"):
            raise NotCopied(with_article(kind.__name__))
        is_space = kind is types.SimpleNamespace
        special = ("__reduce_ex__", "__reduce__", "__getattribute__")
        is_plain = all(getattr(kind, name) is getattr(object, name) for name in special)
        if not (is_plain or is_space) or hasattr(kind, "__deepcopy__"):
            raise NotCopied(with_article(kind.__name__))
        try:
            made = self.memo[id(value)] = types.SimpleNamespace() if is_space else object.__new__(kind)
        except TypeError:
            raise NotCopied(with_article(kind.__name__)) from None
        slots = _slots(value)
        if not (hasattr(value, "__dict__") or slots):
            raise NotCopied(with_article(kind.__name__))
        for name in slots:
            object.__setattr__(made, name, self.copy(getattr(value, name)))
        if hasattr(value, "__dict__"):
            made.__dict__.update({name: self.copy(item) for name, item in vars(value).items()})
        return made

    def _array(self, value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        if value.dtype.hasobject:
            made = np.empty_like(value)
            self.memo[id(value)] = made
            for k in np.ndindex(value.shape):
                made[k] = self.copy(value[k])
            return made
        owner = value
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        low, high = np.lib.array_utils.byte_bounds(owner)
        first, last = np.lib.array_utils.byte_bounds(value)
        if first < low or last > high:  # as_strided beyond its array
            raise NotCopied("an array")
        if id(owner) not in self.memory:
            self.kept.append(owner)
            room = np.empty(high - low + 64, np.uint8)
            shift = (low - room.ctypes.data) % 64  # as far from a whole block as the original
            self.memory[id(owner)] = held = room[shift : shift + high - low]
            held[:] = np.ndarray(high - low, np.uint8, _bytes_of(low, high))
        held = self.memory[id(owner)]
        made = np.ndarray(value.shape, value.dtype, held, _start(value) - low, value.strides)
        if not value.flags.writeable:
            made.flags.writeable = False
        return made


def _bytes_of(low: int, high: int) -> Any:
    """Memory as a buffer."""
    return (ctypes.c_char * (high - low)).from_address(low)


def _start(value: np.ndarray[Any, Any]) -> int:
    return int(value.__array_interface__["data"][0])


def arrays_in(value: Any, seen: set[int] | None = None) -> Iterator[np.ndarray[Any, Any]]:
    """The arrays that are reached from a value, each once, in order."""
    seen = set() if seen is None else seen
    if isinstance(value, _ATOMIC) or id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        yield value
    for _, part in parts_of(value):
        yield from arrays_in(part, seen)


def parts_of(value: Any) -> list[tuple[str, Any]]:
    """The parts of a container or object, each with how it is written."""
    if isinstance(value, (list, tuple, collections.deque)):
        return [(f"[{k}]", item) for k, item in enumerate(value)]
    if isinstance(value, dict):
        return [(f"[{k!r}]", item) for k, item in value.items()]
    if isinstance(value, types.MethodType):
        return [(".__self__", value.__self__)]
    if isinstance(value, (*_ATOMIC, np.ndarray, set, frozenset, functools.partial, *_GENERATORS)):
        return []
    own = list(vars(value)) if hasattr(value, "__dict__") else []
    return [(f".{name}", getattr(value, name, None)) for name in [*own, *_slots(value)]]


def _slots(value: Any) -> list[str]:
    """The names of the slots of an object that hold something."""
    return [
        name for base in type(value).__mro__ for name, d in vars(base).items()
        if type(d) is types.MemberDescriptorType and not name.startswith("__") and hasattr(value, name)
    ]
