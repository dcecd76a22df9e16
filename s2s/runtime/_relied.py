"""What code was made for, checked again where a call that nobody has read may have changed it.

    reg.step()
    rt.check_option(MODE, "train", "MODE")      # the code after it was made for this

The call has run, so the program cannot begin again: what does not hold any more is an error.
"""

from __future__ import annotations

import functools
import types
from collections import deque
from typing import Any

import numpy as np

from s2s.core.inspection import own_dict
from s2s.core.reachable import reached_parts
from s2s.errors import error

_LITERALS = (int, float, str, bytes, tuple, frozenset)
_BOUND = (types.MethodType, functools.partial)
_NUMBERS = (bool, int, float, complex, np.generic)


def check_option(value: Any, found: Any, name: str) -> None:
    """Nothing to do where a variable, an attribute or an item is what it was when the function began: this object, or
    an equal number or text. Raises ArgumentError where it is not."""
    if not _is_equal(value, found):
        raise _changed(name)


def check_attribute(owner: Any, attribute: str, is_there: bool, name: str) -> None:
    """Nothing to do where an object still has an attribute, or still has none. Raises ArgumentError."""
    if hasattr(owner, attribute) is not is_there:
        raise _changed(name)


def check_unshadowed(owner: Any, attribute: str, name: str) -> None:
    """Nothing to do where an object has no attribute of its own that hides one of its class. Raises ArgumentError."""
    if attribute in own_dict(owner):
        raise _changed(name)


def check_names(names: Any, found: tuple[str, ...], name: str) -> None:
    """Nothing to do where a dict has the keys that it had, in their order. Raises ArgumentError."""
    if (*names,) != found:
        raise _changed(name)


def check_alias(first: Any, second: Any, same: bool, name: str) -> None:
    """Nothing to do where two places still hold one object, or still two. Raises ArgumentError."""
    if (first is second) is not same:
        raise _changed(name)


def kind_of(value: Any) -> Any:
    """What code relies on of a value that it reads when it runs: its class, of an array dtype and shape; of a container
    also which one it is, and what its items are. The texts and options in a tuple or set are taken by value."""
    if isinstance(value, np.ndarray):
        return type(value), value.dtype, value.shape
    if type(value) is tuple:
        return tuple, None, [*map(_kind_in_tuple, value)]
    if type(value) is list:
        return list, value, [*map(kind_of, value)]
    if type(value) is dict:
        return dict, value, [*value], [*map(kind_of, value.values())]
    if isinstance(value, (set, frozenset)):
        return type(value), value, frozenset(value)
    return (type(value),)


def _kind_in_tuple(value: Any) -> Any:
    found = kind_of(value)
    return (*found, value) if len(found) == 1 and not isinstance(value, _NUMBERS) else found


def check_kind(value: Any, found: Any, name: str) -> None:
    """Nothing to do where a value is of the kind that ``kind_of`` found before. Raises ArgumentError."""
    if not _is_same(kind_of(value), found):
        raise _changed(name)


MOST_OBJECTS = 5_000
"""So many objects are looked at for what an argument reaches; what changes out of sight is found by its kind."""


def check_unreached(container: Any, name: str, *others: Any) -> None:
    """Raise SharedMemoryError where something else among values, such as a method of it, reaches an object that a value
    is, or a list, dict, set or deque that it is or holds: a call that nobody has read may change it."""
    given = {name: container, **{str(k): value for k, value in enumerate(others)}}
    if name in reached_parts(given, (list, dict, set, deque, type(container)), MOST_OBJECTS):
        raise error("S2S124", name=name)


def _is_same(one: Any, other: Any) -> bool:
    """Whether two kinds are one."""
    if one[0] is not other[0] or len(one) != len(other):
        return False
    kind = one[0]
    if kind in (list, tuple, dict):
        if one[1] is not other[1] or one[2:-1] != other[2:-1] or len(one[-1]) != len(other[-1]):
            return False
        return all(map(_is_same, one[-1], other[-1]))
    if issubclass(kind, np.ndarray):
        return bool(one[1:] == other[1:])
    if issubclass(kind, (set, frozenset)):
        return bool(one[2] == other[2])
    return len(one) == 1 or _is_equal(one[1], other[1])


def _is_equal(value: Any, found: Any) -> bool:
    """Whether it is the same object, an equal number or text, or a method of the same object."""
    if value is found:
        return True
    if type(value) in _BOUND and type(found) in _BOUND:
        return _method(value) is not None and _method(value) == _method(found)
    return type(value) in _LITERALS and type(value) is type(found) and bool(value == found)


def _method(value: Any) -> tuple[Any, int] | None:
    """The function and the object of a method, which the compiler also writes as a partial function."""
    if isinstance(value, types.MethodType):
        return value.__func__, id(value.__self__)
    return (value.func, id(value.args[0])) if len(value.args) == 1 and not value.keywords else None


def _changed(name: str) -> Exception:
    return error("S2S518", name=name)
