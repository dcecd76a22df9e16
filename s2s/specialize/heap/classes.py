"""What classes and values are: which are followed as objects, by parts, or taken by value."""

from __future__ import annotations

import contextlib
import enum
import inspect
import types
from typing import TYPE_CHECKING, Any

import numpy as np

from s2s.builder import virtual_heap
from s2s.builder.builder import is_constant_kind
from s2s.core import inspection
from s2s.core.inspection import (
    class_attribute,
    has_hook,
    is_written,
    look_up,
    module_of,
    own_dict,
    own_value,
)
from s2s.core.values import UNKNOWN, Known, Mapping, Object, Sequence
from s2s.rules import table
from s2s.specialize.frames import MISSING, STABLE_MODULES, is_function_like, with_sizes
from s2s.versions.signature import describe, slots_of
from s2s.versions.signature import has_attributes as is_user_object

if TYPE_CHECKING:
    from s2s.builder.virtual_heap import State
    from s2s.specialize.site import At

__all__ = [
    "check_lacks", "class_seen", "is_data_descriptor", "is_descriptor", "is_followed_by_parts", "is_generated",
    "is_plain_number", "is_setting", "is_stable", "is_taken_by_value", "is_user_class", "may_change_in_place",
    "own_names", "without_objects",
]

_SPECIAL = (np.vectorize, np.errstate, np.finfo, np.iinfo, np.ndenumerate, np.ndindex, contextlib.ContextDecorator)
"""Classes of Python's library and of NumPy that are known by what they mean."""


def is_user_class(cls: Any) -> bool:
    """Whether calling a class makes an object that can be virtual: written in Python, made as ``object`` is."""
    return (
        isinstance(cls, type)
        and is_written(cls)
        and class_attribute(type(cls), "__call__") is type.__dict__["__call__"]
        and not has_hook(type(cls), "__getattribute__")
        and not issubclass(cls, (BaseException, enum.Enum, tuple, list, dict, set, str, int, float, np.ndarray, type))
        and (module_of(cls).split(".")[0] not in ("s2s", "builtins", "functools")
             or module_of(cls).startswith("s2s.models."))
        and not issubclass(cls, _SPECIAL)
        and _is_own(look_up(cls, "__new__"), object.__new__)
        and _is_own(inspect.getattr_static(cls, "__init__"), object.__init__)
    )


def _is_own(method: Any, of_object: Any) -> bool:
    """Whether a special method is written in Python, or that of ``object``: one of another class may keep what it is
    given where nobody sees it."""
    return isinstance(method, (types.FunctionType, staticmethod)) or method is of_object


def class_seen(at: At, state: State) -> type | None:
    """The class that the code at a place sees an object to have: of one that stands for an object of a library, outside
    of the code that knows it, that of the library. None where it does not say which that is."""
    kind = state.kind
    if not module_of(kind).startswith("s2s.models.") or (at.frame.fn.__module__ or "").startswith("s2s."):
        return kind
    stands_for = getattr(kind, "stands_for", None)
    if stands_for is None:
        return None
    entries = state.entries()
    given = [at.value(entries[name]) for name in stands_for.__code__.co_varnames if name in entries]
    if not all(isinstance(g, Known) for g in given):
        return None
    return stands_for(*(g.value for g in given))  # type: ignore[union-attr, no-any-return]


def check_lacks(at: At, state: State, name: str) -> None:
    """Raise NoDerivativeError where an object that stands for one of a library has no attribute that this may have."""
    is_special = name.startswith("__") and name.endswith("__")
    seen = None if is_special else class_seen(at, state)
    if not is_special and seen is not state.kind:
        of = "an object of a library" if seen is None else f"`{seen.__name__}`"
        raise at.refusal("S2S202", name=f"the attribute `{name}` of {of}", reason="it has no rule for it")


def is_descriptor(found: Any) -> bool:
    """Whether reading a class attribute through an object calls a method of it."""
    return class_attribute(type(found), "__get__") is not MISSING


def is_data_descriptor(found: Any) -> bool:
    """Whether a class attribute comes before what the object itself has."""
    return found is not MISSING and class_attribute(type(found), "__set__") is not MISSING


def is_generated(cls: type, fn: Any) -> bool:
    """Whether ``dataclass`` wrote a method."""
    return class_attribute(cls, "__dataclass_fields__") is not MISSING and fn.__code__.co_filename == "<string>"


def own_names(value: Any) -> list[str]:
    """The attributes that an object itself has, those in slots among them."""
    slots = slots_of(type(value))
    return [*own_dict(value), *(name for name in slots if own_value(value, name) is not inspection.MISSING)]


def is_stable(cls: type) -> bool:
    """Whether a class belongs to a library that s2s does not look into for undifferentiated objects."""
    return module_of(cls).split(".")[0] in STABLE_MODULES


def is_setting(found: Any) -> bool:
    """Whether an object is an option that a manager may set: a text, a number, a member of an enumeration."""
    return issubclass(type(found), (str, bytes, int, enum.Enum, type(None)))


def is_taken_by_value(value: Any) -> bool:
    """Whether an object is taken into the code as it is: an option, a function, a module, a class."""
    return is_constant_kind(value) or table.find(value) is not None or is_function_like(value)


def is_followed_by_parts(value: Any) -> bool:
    """Whether an object is one whose attributes are read one by one, or a container that holds such."""
    known = with_sizes(describe(value, "?"), value)
    return isinstance(known, Object) or (virtual_heap.holds_mutable(known) and known != without_objects(known))


def may_change_in_place(value: Any) -> bool:
    """Whether an object may change in place: a container, or an object whose attributes are read."""
    return is_user_object(value) or (
        isinstance(value, (list, dict, set, tuple)) and virtual_heap.holds_mutable(describe(value, "?")))


def without_objects(known: Any) -> Any:
    """What is known of a value, as variables have it: of objects, nothing."""
    match known:
        case Sequence(kind, items):
            return Sequence(kind, tuple(map(without_objects, items)))
        case Mapping(keys, items):
            return Mapping(keys, tuple(map(without_objects, items)))
        case Known() | Object():
            return UNKNOWN
        case _:
            return known


def is_plain_number(value: Any) -> bool:
    return isinstance(value, (int, float))
