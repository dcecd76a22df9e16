"""A guard goes in, out comes what of it a call may change while the function runs: what is to be asked once more, where
code relies on it after such a call (``specialize.relied``).

Nothing is asked of what only a test replaces: classes, modules, what a class defines, and in libraries also functions
under the names that they were defined with.
"""

from __future__ import annotations

import enum
import functools
import types
from typing import Any

from s2s.core.const import Const
from s2s.core.inspection import class_attribute, look_up
from s2s.core.record import record
from s2s.versions.guards import (
    AliasGuard,
    AttributeGuard,
    CallGuard,
    Guard,
    KindGuard,
    NamesGuard,
    ObjectGuard,
    ShadowGuard,
)
from s2s.versions.paths import is_among, loaded

__all__ = ["Recheck", "recheck", "spelled"]

_Site = tuple[str, tuple[Any, ...], Any]

_OF_FUNCTIONS = ("__code__", "__defaults__", "__kwdefaults__", "__func__", "__self__", "func", "pyfunc")
_OF_METHODS = ("__class__",)  # the variable of methods that call `super`, which Python alone assigns
_CONTAINERS = (list, dict, tuple, set, frozenset)


@record
class Recheck:
    """What is to be asked. ``kind`` is ``option`` (the object at a place is ``found``), ``first`` (it is the one that
    was there when the function began), ``kind`` (it is of the same kind), ``attribute`` (it has one called
    ``found[0]``, or none), ``shadow`` (it has none of its own called ``found``), ``names`` (its keys are ``found``),
    ``alias`` (two places hold one object, or two), ``among`` (a container has the item ``found[0]``, or not) or
    ``loaded`` (the module ``found[0]``). ``name`` is what messages call it. A ``definition`` is a function under the
    name that it was defined with."""

    kind: str
    sites: tuple[_Site, ...]
    found: Any
    name: str
    definition: Any = None

    @property
    def subject(self) -> Any:
        """What it is about: another one for each name."""
        return self.sites, self.name


def recheck(guard: Guard) -> Recheck | None:
    """What a call may change of what a guard says; None where that is nothing."""
    match guard:
        case AliasGuard(first, second, same):
            return Recheck("alias", (first, second), same, " is ".join(spelled(r, p) for r, p, _ in (first, second)))
        case CallGuard(fn, args, value) if fn is is_among:
            return Recheck("among", (("module", args[1:], None),), (args[0], value), args[-1])
        case CallGuard(fn, args, value) if fn is loaded:
            return Recheck("loaded", (), (args[0], value), f"sys.modules[{args[0]!r}]")
        case ObjectGuard() | KindGuard() | AttributeGuard() | ShadowGuard() | NamesGuard() if not guard.late:
            return _at_place(guard)
    return None


def _at_place(guard: Any) -> Recheck | None:
    root, path, owner = guard.root, guard.path, guard.owner
    is_argument = len(path) == 1 and root in ("argument", "value")
    site, name = ((root, path, owner),), spelled(root, path)
    match guard:
        case AttributeGuard(name=attribute, is_there=is_there):
            return Recheck("attribute", site, (attribute, is_there), f"{name}.{attribute}") if path else None
        case ShadowGuard(name=attribute):
            return Recheck("shadow", site, attribute, f"{name}.{attribute}")
        case NamesGuard(names=names):
            return Recheck("names", site, tuple(names), spelled(root, path[:-1]))
        case KindGuard():
            return None if is_argument else Recheck("kind", site, None, name)
    if is_argument or path == _OF_METHODS or (len(path) > 1 and path[-1] in _OF_FUNCTIONS):
        return None
    if path[-1:] == ("__class__",):  # what is read of the object is read of this one
        if (len(path) == 2 and root in ("argument", "value")) or issubclass(guard.value, _CONTAINERS):
            return None
        return Recheck("first", ((root, path[:-1], owner),), None, spelled(root, path[:-1]))
    if _is_left(guard.value, root, path):
        return None
    is_defined = isinstance(guard.value, types.FunctionType) and guard.value.__name__ == path[-1] and len(path) == 1
    kind = "option" if _is_literal(guard.value) else "first"
    return Recheck(kind, site, guard.value, name, guard.value if is_defined else None)


def _is_left(value: Any, root: str, path: tuple[Any, ...]) -> bool:
    """Whether an object is a module, or a definition of a module or class that nobody replaces."""
    is_descriptor = path[-2:-1] == ("__dict__",) and class_attribute(type(value), "__get__", None) is not None
    if is_descriptor or isinstance(value, (types.ModuleType, property, functools.cached_property)):
        return True
    if isinstance(path[0], Const) and isinstance(path[0].value, enum.Enum):
        return True
    if isinstance(value, enum.Enum):
        return root == "module" and value.name == path[-1]
    is_of_variable = len(path) == 1 and isinstance(value, types.FunctionType)
    is_of_object = len(path) > 1 and root != "module"
    return not (is_of_variable or is_of_object) and look_up(value, "__name__", None) == path[-1]


def _is_literal(value: Any) -> bool:
    """Whether an object is written out: no other one that is equal to it means anything else."""
    if type(value) in (tuple, frozenset):
        return all(map(_is_literal, value))
    return type(value) in (bool, int, str, bytes, type(None))


def spelled(root: str, path: tuple[Any, ...]) -> str:
    """A place as the program has it: ``CONFIG['mode']``, ``place.mode``."""
    made = ""
    for step in path[root == "module" and len(path) > 1 :]:
        if type(step) is tuple:
            made += f"[{step[0]!r}]"
        elif isinstance(step, str):
            made += f".{step}" if made else step
        else:
            made = look_up(step.value, "__name__", None) or type(step.value).__name__
    return made
