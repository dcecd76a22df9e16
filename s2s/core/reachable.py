"""What code may reach: the objects that a function's names, containers, attributes and classes lead to.

No code of the program runs for this. What is in Python's own library, in NumPy and in SciPy is taken to hold nothing of
the program.
"""

from __future__ import annotations

import collections
import gc
import itertools
import sys
import types
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from s2s.core.inspection import (
    class_attribute,
    is_own_module,
    is_written,
    look_up,
    module_of,
    mro_of,
    namespace,
    own_dict,
)

__all__ = ["held_by", "reachable", "reached_parts", "slots_of"]

_NOTHING_INSIDE = (
    int, float, complex, str, bytes, np.generic, np.ufunc, types.ModuleType, type(None), weakref.ProxyType,
    weakref.CallableProxyType,
)

_OWN = __name__.partition(".")[0]
"""What this package notes of functions is no part of the program."""


def reachable(roots: Iterable[Any], enters: Callable[[types.FunctionType], bool] = lambda fn: True) -> Iterator[Any]:
    """The roots and what they lead to, each object once; of functions, what ``enters`` allows."""
    todo, seen = [*roots], dict[int, Any]()
    while todo:
        found = todo.pop()
        if id(found) in seen or issubclass(type(found), _NOTHING_INSIDE):  # not asked: it may stand for what is gone
            continue
        seen[id(found)] = found
        yield found
        if type(found) is not types.FunctionType:
            todo += _parts_of(found)
        elif not is_own_module(found.__globals__.get("__name__")) and enters(found):  # ``wraps`` copies ``__module__``
            todo += held_by(found)


def reached_parts(given: dict[str, Any], kinds: tuple[type, ...], most: int) -> set[str]:
    """The names of the values that are or hold an object of some kinds which something else that they hold leads to: a
    method, a closure, an object. So many objects are looked at, at ``most``."""
    parts: dict[str, list[Any]] = {}
    leaves: list[Any] = []
    for name, value in given.items():
        todo, seen = [value], dict[int, Any]()
        while todo:
            one = todo.pop()
            if not isinstance(one, (*kinds, tuple)):
                leaves.append(one)
            elif id(one) not in seen:
                seen[id(one)] = one
                todo += _items_of(one)
        parts[name] = [one for one in seen.values() if isinstance(one, kinds)]
    reached = {id(one) for one in itertools.islice(reachable(leaves), most)} if any(parts.values()) else set()
    return {name for name, found in parts.items() if any(id(one) in reached for one in found)}


def _items_of(value: Any) -> Iterable[Any]:
    """The items of a container, or the attributes of an object."""
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, (*_BASES,)) else own_dict(value).values()


def _parts_of(found: Any) -> list[Any]:
    """What an object, a class or a container refers to."""
    kind = type(found)
    if issubclass(kind, type):
        if is_own_module(module_of(found)):
            return []
        return [part for base in mro_of(found) if is_written(base) for part in namespace(base).values()]
    if module_of(kind).partition(".")[0] == _OWN:
        return []
    if issubclass(kind, (list, tuple, set, frozenset, collections.deque)):
        inside = [part for part in _base(found).__iter__(found) if type(part) not in _PLAINLY_EMPTY]
    elif issubclass(kind, dict):
        inside = [part for part in dict.values(found) if type(part) not in _PLAINLY_EMPTY]
        inside.append(getattr(found, "default_factory", None) if kind in _PLAIN else None)
    elif kind is types.GeneratorType:
        inside = [*found.gi_frame.f_locals.values()] if found.gi_frame is not None and not found.gi_running else []
    elif issubclass(kind, np.ndarray):
        inside = []
    elif module_of(kind).partition(".")[0] in sys.stdlib_module_names:  # methods, ``partial``, iterators, views
        inside = [part for part in gc.get_referents(found) if part is not own_dict(found)]
    else:  # of what other compiled code keeps to itself nobody else may change anything
        inside = [look_up(found, name, None) for name in ("__func__", "__self__", "__wrapped__")]
    return [kind, *own_dict(found).values(), *slots_of(found).values(), *inside]


_PLAINLY_EMPTY = frozenset({int, float, complex, bool, str, bytes, type(None), np.float64})
"""What most items of long containers are: skipped at once."""

_PLAIN = (collections.defaultdict,)
_BASES = (list, tuple, set, frozenset, collections.deque)


def _base(container: Any) -> Any:
    return next(base for base in _BASES if isinstance(container, base))


def slots_of(owner: Any) -> dict[str, Any]:
    """The attributes of an object that are kept in slots of its class."""
    found = {}
    for base in mro_of(type(owner)):
        if is_written(base) and "__slots__" in namespace(base):
            for name, slot in namespace(base).items():
                if type(slot) is types.MemberDescriptorType and class_attribute(type(owner), name) is slot:
                    try:
                        found[name] = slot.__get__(owner)
                    except AttributeError:
                        continue
    return found


def held_by(fn: types.FunctionType) -> Iterator[Any]:
    """What a function, and those inside it, may refer to by its names."""
    yield from (cell.cell_contents for cell in fn.__closure__ or () if cell != types.CellType())
    yield from fn.__defaults__ or ()
    yield from (fn.__kwdefaults__ or {}).values()
    yield from own_dict(fn).values()
    codes = [fn.__code__]
    while codes:
        code = codes.pop()
        codes += [c for c in code.co_consts if isinstance(c, types.CodeType)]
        yield from _named_in(code, fn.__globals__, set())


def _named_in(code: types.CodeType, scope: dict[str, Any], seen: set[int]) -> Iterator[Any]:
    """What the names of code stand for in a scope, and in the modules among it: as in ``package.module.NAME``."""
    seen.add(id(scope))
    for held in (scope[name] for name in code.co_names if name in scope):
        yield held
        if issubclass(type(held), types.ModuleType) and not is_own_module(held.__name__) and id(vars(held)) not in seen:
            yield from _named_in(code, vars(held), seen)
