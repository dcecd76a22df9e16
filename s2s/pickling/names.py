"""Code in, the names of its module out that it reads; an object in, the name out under which its module has it."""

from __future__ import annotations

import dis
import importlib
import sys
import types
from collections.abc import Iterator
from typing import Any

__all__ = ["at_name", "inner_function", "named", "names_of_attributes", "read_at_once", "read_later"]

_GLOBAL = frozenset(("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS", "DELETE_GLOBAL"))
_OPTIMIZED = 0x1  # what only code of functions has


def read_later(code: types.CodeType) -> set[str]:
    """The names of the module that a function reads, and functions in it."""
    return {name for one in _all(code) for name in _read(one)}


def read_at_once(module: types.CodeType) -> set[str]:
    """The names that a statement at the top of a module reads when it runs: the bodies of classes in it run, those of
    functions do not. What gives annotations is asked by the decorators of classes."""
    return {name for one in _all(module, bodies=True) for name in _read(one)}


def _all(code: types.CodeType, bodies: bool = False) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            is_body = not constant.co_flags & _OPTIMIZED or constant.co_name.startswith(("__annotate", "<", "."))
            if not bodies or is_body:
                yield from _all(constant, bodies)


def _read(code: types.CodeType) -> Iterator[str]:
    return (str(one.argval) for one in dis.get_instructions(code) if one.opname in _GLOBAL)


def names_of_attributes(code: types.CodeType) -> set[str]:
    """The names of attributes that code may read, names of globals among them."""
    return {name for one in _all(code) for name in one.co_names}


def named(value: Any) -> tuple[str, str] | None:
    """The module and the qualified name that lead to a function or class, through what decorates it; None where they
    lead to something else."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str) or module not in sys.modules:
        return None
    found = at_name(module, name)
    is_it = found is value or (isinstance(value, types.FunctionType) and inner_function(found) is value)
    return (module, name) if is_it else None


def at_name(module: str, name: str) -> Any:
    """What a qualified name of a module stands for in this process, which imports the module; None where there is no
    such thing."""
    if "<locals>" in name:
        return None
    try:
        found: Any = sys.modules.get(module) or importlib.import_module(module)
    except Exception:  # whatever a module of that name does when it is imported here
        return None
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def inner_function(found: Any) -> Any:
    """The function in the decorators of s2s around it; None where there is none."""
    while found is not None and not isinstance(found, types.FunctionType):
        found = getattr(found, "func", None) if hasattr(type(found), "__s2s_made__") else None
    return found
