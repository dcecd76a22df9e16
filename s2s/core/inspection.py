"""Objects of the program, looked at without running their code.

Asking an object something may run code of its class: ``isinstance`` reads ``__class__``, ``hash`` and ``==`` call
methods, a read of an attribute runs properties, descriptors and ``__getattr__``, also that of a module or a metaclass.
While a function is compiled none of this may happen. Here the classes are asked whether it would: what is written in
Python's own library and in NumPy and SciPy may run, anything else is *foreign*.
"""

from __future__ import annotations

import abc
import functools
import keyword
import numbers
import sys
import types
import typing
import unicodedata
from collections.abc import Iterator
from typing import Any

import numpy as np

__all__ = [
    "MISSING", "by_identity", "changeable_bases", "class_attribute", "class_name", "classes_in", "equal", "has_hook",
    "has_length", "has_own_operators", "is_foreign", "is_hashable", "is_own_module", "is_plain_name", "is_sealed",
    "is_subclass", "is_written", "look_up", "members_of_protocol", "module_of", "mro_of", "name_of", "namespace",
    "own_dict", "own_value", "public_module", "read_runs", "truth", "with_article",
]

MISSING: Any = type("Missing", (), {"__repr__": lambda self: "MISSING"})()
"""What stands for an attribute that is not there, or that is not known."""

HEAP_TYPE = 1 << 9
"""The flag of classes that a ``class`` statement made."""

_TRUSTED = (sys.stdlib_module_names - {"__main__"}) | {"numpy", "scipy", "s2s"}

mro_of: Any = type.__dict__["__mro__"].__get__
"""The classes in which an attribute of objects of a class is looked for, whatever its metaclass says."""

_flags: Any = type.__dict__["__flags__"].__get__

namespace: Any = type.__dict__["__dict__"].__get__
"""What a class itself has under its names, whatever its metaclass says."""

_dict_of_module: Any = vars(types.ModuleType)["__dict__"].__get__


# --- classes --------------------------------------------------------------------------------------------------------


class_name: Any = type.__dict__["__name__"].__get__
"""The name of a class, whatever its metaclass says."""


def is_written(kind: type) -> bool:
    """Whether a ``class`` statement made a class."""
    return bool(_flags(kind) & HEAP_TYPE)


def module_of(kind: type) -> str:
    """The name of the module that a class says it is from."""
    found = namespace(kind).get("__module__", "builtins") if is_written(kind) else kind.__module__
    return found if type(found) is str else ""


def is_foreign(kind: type) -> bool:
    """Whether a class may have code of its own that is neither Python's, nor that of NumPy or SciPy."""
    return bool(_flags(kind) & HEAP_TYPE) and not is_own_module(namespace(kind).get("__module__"))


def is_own_module(module: Any) -> bool:
    """Whether a module of this name is one of Python's own library, NumPy, SciPy or this package."""
    return type(module) is str and module.partition(".")[0] in _TRUSTED


def changeable_bases(kind: type) -> list[type]:
    """The classes of a program that say what objects of a class do, and what the class itself does when it is called.
    """
    return [base for base in (*mro_of(kind), *mro_of(type(kind))) if is_foreign(base)]


def class_attribute(kind: type, name: str, default: Any = MISSING) -> Any:
    """What a class or its bases have under a name, unbound."""
    for base in mro_of(kind):
        found = namespace(base)
        if name in found:
            return found[name]
    return default


def has_hook(kind: type, *names: str) -> bool:
    """Whether a special method of objects of a class is foreign code."""
    if not _flags(kind) & HEAP_TYPE:
        return False
    for name in names:
        for base in mro_of(kind):
            found = namespace(base)
            if name in found:
                if is_foreign(base) and _is_code(found[name]):
                    return True
                break
    return False


def _is_code(found: Any) -> bool:
    """Whether what a class has under a name may run foreign code: not what stands for a method of a built-in class."""
    inner = found.__func__ if type(found) in (classmethod, staticmethod) else found
    if type(inner) is types.FunctionType:
        return not is_own_module(inner.__globals__.get("__name__"))
    return type(inner) not in _OF_BUILTINS


_OF_BUILTINS = (
    types.WrapperDescriptorType, types.MethodDescriptorType, types.GetSetDescriptorType, types.MemberDescriptorType,
    types.ClassMethodDescriptorType, types.BuiltinFunctionType, type(None),
)


_LOOKED_UP = ("__hash__", "__eq__")


def is_sealed(value: Any) -> bool:
    """Whether an object notes, or answers in its own way, any question about it: nothing can be known of it. So with
    a class that foreign code compares or hashes, and its instances: such a class can be looked up in no table."""
    kind = type(value)
    if not _flags(kind) & HEAP_TYPE:
        return False
    if issubclass(kind, type) and has_hook(kind, *_LOOKED_UP):
        return True
    return has_hook(kind, "__getattribute__", "__class__") or has_hook(type(kind), "__getattribute__", *_LOOKED_UP)


def is_plain_name(name: Any) -> bool:
    """Whether code can name an attribute or argument so: its parser takes no keyword for a name, and normalises others.
    """
    return type(name) is str and name.isidentifier() and name != "__debug__" and not keyword.iskeyword(name) and (
        name.isascii() or unicodedata.is_normalized("NFKC", name))


# --- attributes -----------------------------------------------------------------------------------------------------


def read_runs(owner: Any, name: str) -> bool:
    """Whether reading an attribute of an object, a class or a module may run foreign code."""
    kind = type(owner)
    if kind is types.ModuleType and name in _dict_of_module(owner):
        return False
    if not _flags(kind) & HEAP_TYPE and not issubclass(kind, (type, types.ModuleType)):
        return False
    if is_sealed(owner):
        return True
    found = class_attribute(kind, name)
    if found is not MISSING and _runs_when_read(found):
        return True
    if issubclass(kind, type):
        inner = class_attribute(owner, name)
        if inner is not MISSING:
            return _runs_when_read(inner)
    elif issubclass(kind, types.ModuleType):
        own = _dict_of_module(owner)
        if name not in own and found is MISSING and type(own.get("__getattr__")) is types.FunctionType:
            return not is_own_module(own["__getattr__"].__globals__.get("__name__"))
        if name in own:
            return False
    elif own_value(owner, name) is not MISSING:
        return False
    return found is MISSING and has_hook(kind, "__getattr__")


def _runs_when_read(found: Any) -> bool:
    """Whether a class attribute is a descriptor that runs foreign code."""
    kind = type(found)
    if kind in (types.FunctionType, staticmethod):
        return False
    if kind is classmethod:
        return type(found.__func__) is not types.FunctionType and _runs_when_read(found.__func__)
    if class_attribute(kind, "__get__") is MISSING:
        return False
    if has_hook(kind, "__get__") or is_sealed(found):
        return True
    inner = [own_value(found, part) for part in ("fget", "func")]
    return any(type(fn) is types.FunctionType and _is_code(fn) for fn in inner)


def own_dict(owner: Any) -> Any:
    """The attributes of an object itself; none where its class has another idea of ``__dict__``."""
    kind = type(owner)
    found = class_attribute(kind, "__dict__")
    if found is MISSING and not is_foreign(kind):  # what belongs to a thread has one that its class does not name
        return getattr(owner, "__dict__", {})
    own = found.__get__(owner) if type(found) in _OF_BUILTINS[2:4] else None
    return own if isinstance(own, (dict, types.MappingProxyType)) else {}


def cached_names(kind: type) -> frozenset[str]:
    """The attributes of a class that its objects remember (``functools.cached_property``): what an object holds under
    such a name was computed of its other attributes, and is no part of it."""
    return frozenset(
        name for base in mro_of(kind) for name, found in namespace(base).items()
        if issubclass(type(found), functools.cached_property) and class_attribute(kind, name) is found
    )


def is_slot(found: Any, name: str) -> bool:
    """Whether what a class has under a name is the slot of this name; it may have been given another one."""
    return type(found) is types.MemberDescriptorType and found.__name__ == name


def own_value(owner: Any, name: str, default: Any = MISSING) -> Any:
    """What an object itself has under a name, in its ``__dict__`` or a slot."""
    slot = class_attribute(type(owner), name)
    if type(slot) is types.MemberDescriptorType:
        try:
            return slot.__get__(owner)
        except AttributeError:
            return default
    return own_dict(owner).get(name, default)


def look_up(owner: Any, name: str, default: Any = MISSING) -> Any:
    """An attribute as ``getattr`` gives it; ``default`` where there is none, or reading it would run foreign code."""
    return default if read_runs(owner, name) else getattr(owner, name, default)


def public_module(value: Any) -> str:
    """The module by which an object is reached: ``numpy.linalg`` for what is defined in ``numpy.linalg._linalg``."""
    module = look_up(value, "__module__", None)
    return module.partition("._")[0] if type(module) is str else ""


def with_article(name: str) -> str:
    """The name of a class or kind with its article: ``an int``, ``a float``, ``an ndarray``."""
    return f"{'an' if name[:1].lower() in 'aeio' or name[:2] == 'nd' else 'a'} {name}"


def name_of(value: Any) -> str:
    """What an object is called in messages."""
    for name in ("__qualname__", "__name__"):
        found = look_up(value, name, None)
        if type(found) is str:
            return found
    kind = type(value)
    return f"{class_name(kind)} object" if _flags(kind) & HEAP_TYPE else repr(value)


# --- questions ------------------------------------------------------------------------------------------------------


def is_hashable(value: Any) -> bool:
    """Whether an object can be looked up in a table, by code that is not foreign."""
    kind = type(value)
    if kind in _HASHED_BY_IDENTITY:
        return True
    if kind is tuple:
        return all(map(is_hashable, value))
    if kind in _GENERIC:
        return is_hashable(value.__origin__) and is_hashable(value.__args__) if kind is _GENERIC[0] else all(
            map(is_hashable, value.__args__))
    if _flags(kind) & HEAP_TYPE and has_hook(kind, "__hash__", "__eq__"):
        return False
    try:
        hash(value)
    except TypeError:
        return False
    return True


def by_identity(*values: Any) -> dict[int, Any]:
    """A table to look objects up in by ``id``, which asks none of them anything; it keeps its own alive."""
    return {id(value): value for value in values}


_HASHED_BY_IDENTITY = frozenset({
    type, types.FunctionType, types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType,
    types.ModuleType, np.ufunc,
})
"""Types of what is looked up most: none of them runs anything."""

_GENERIC = (types.GenericAlias, types.UnionType)


def equal(a: Any, b: Any) -> bool | None:
    """Whether two objects are one or equal, None where only foreign code can tell."""
    if a is b:
        return True
    if any(is_foreign_deep(v) for v in (a, b)):
        return None
    try:
        return bool(a == b)
    except Exception:
        return None


def is_foreign_deep(value: Any) -> bool:
    """Whether comparing an object, or what a container holds, may run foreign code."""
    kind = type(value)
    if kind in (tuple, list, set, frozenset):
        return any(map(is_foreign_deep, value))
    if kind is dict:
        return any(is_foreign_deep(k) or is_foreign_deep(v) for k, v in value.items())
    if kind is np.ndarray:
        return bool(value.dtype.hasobject)
    return has_hook(kind, "__eq__", "__ne__", "__lt__", "__gt__", "__hash__")


def has_length(value: Any) -> bool:
    """Whether an object has a length that Python's own code tells."""
    kind = type(value)
    return class_attribute(kind, "__len__") is not MISSING and not has_hook(kind, "__len__")


def truth(value: Any) -> bool | None:
    """The truth of an object, None where only foreign code or the run can tell."""
    kind = type(value)
    test = "__len__" if class_attribute(kind, "__bool__") is MISSING else "__bool__"
    if has_hook(kind, test) or (kind is np.ndarray and value.dtype.hasobject):
        return None
    try:
        return bool(value)
    except Exception:
        return None


def is_subclass(kind: type, kinds: Any) -> bool | None:
    """``issubclass(kind, kinds)`` of a class and a class, or tuples and unions of classes; None where foreign code
    decides. Raises TypeError where ``issubclass`` does."""
    answers: list[bool | None] = []
    for one in classes_in(kinds):
        if issubclass(type(one), type):
            if any(base is one for base in mro_of(kind)):
                return True
            if has_hook(type(one), "__subclasscheck__", "__instancecheck__") or _asks_foreign(one):
                answers.append(None)
                continue
        answers.append(issubclass(kind, one))
    return True if True in answers else None if None in answers else False


def classes_in(kinds: Any) -> Iterator[Any]:
    """The classes that ``isinstance`` asks about: those of nested tuples and of unions."""
    if type(kinds) is tuple:
        for one in kinds:
            yield from classes_in(one)
    elif type(kinds) is types.UnionType:
        yield from kinds.__args__
    else:
        yield kinds


def members_of_protocol(kind: Any) -> list[str] | None:
    """The attributes by which ``isinstance`` tells an object of a protocol, its own and those of its class; None for
    a class that is no protocol, or none to be asked when the program runs."""
    if not (look_up(kind, "_is_protocol", False) and look_up(kind, "_is_runtime_protocol", False)):
        return None
    found = look_up(kind, "__protocol_attrs__", None)  # from Python 3.12 on
    return sorted(typing._get_protocol_attrs(kind) if found is None else found)  # type: ignore[attr-defined]


def _asks_foreign(kind: type) -> bool:
    """Whether an abstract class asks itself, or a class that stands below it, by foreign code."""
    if not issubclass(type(kind), abc.ABCMeta):
        return False
    todo, seen = [kind], set()
    while todo:
        one = todo.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if has_hook(one, "__subclasshook__") or has_hook(type(one), "__subclasscheck__"):
            return True
        todo += type.__subclasses__(one)
    return False


def compiled_from(value: Any) -> types.FunctionType | None:
    """The Python function that Numba compiled (``@njit``), which computes the same; None for anything else."""
    if not module_of(type(value)).startswith("numba."):
        return None
    found = getattr(value, "py_func", None)
    return found if isinstance(found, types.FunctionType) else None


_OPERATORS = ("__array_ufunc__", "__array_function__", *(
    f"__{reflected}{name}__" for reflected in ("", "r")
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")
))
_OF_NUMBERS = (*_OPERATORS, *(f"__{name}__" for name in ("neg", "pos", "abs", "float", "complex", "round", "divmod")))
_LIKE_NUMBERS = (numbers.Number, np.generic, list, tuple, range, str, bytes, np.dtype, type(None))
_NOT_COMPUTED_BY = frozenset({
    "__array_finalize__", "__array_priority__", "__class_getitem__", "__copy__", "__deepcopy__", "__doc__",
    "__format__", "__hash__", "__init__", "__init_subclass__", "__new__", "__reduce__", "__reduce_ex__", "__repr__",
    "__setstate__", "__str__",
})
_OF_ARRAYS = frozenset(dir(np.ndarray)) - _NOT_COMPUTED_BY | {"__array_function__", "__array_ufunc__"}


def has_own_operators(kind: type) -> bool:
    """Whether operators, functions and reductions of NumPy may mean something else for objects of a class than for
    numbers and arrays of numbers: masked arrays, matrices, numbers with units."""
    if not _flags(kind) & HEAP_TYPE:
        return _has_own_operators(kind)
    if issubclass(kind, np.ndarray):
        bases = (base for base in mro_of(kind) if base not in (np.ndarray, np.memmap, object))
        return any(not _OF_ARRAYS.isdisjoint(namespace(base)) for base in bases)
    if issubclass(kind, _LIKE_NUMBERS):
        return has_hook(kind, *(_OF_NUMBERS if issubclass(kind, numbers.Number) else _OPERATORS))
    return any(hasattr(kind, name) for name in _OPERATORS)


@functools.lru_cache(1024)
def _has_own_operators(kind: type) -> bool:
    """The same of a class that cannot be changed."""
    return not issubclass(kind, (*_LIKE_NUMBERS, np.ndarray)) and any(hasattr(kind, name) for name in _OPERATORS)
