"""Objects, paths and owners in, literals out that a file holds; and back, for the process that reads the file.

What another process could not find again, or not tell from another object, raises ``Unstorable``.
"""

from __future__ import annotations

import contextlib
import types
from typing import Any

from s2s.core.inspection import with_article
from s2s.versions.fingerprints import Unstorable, fingerprint
from s2s.versions.paths import import_path, imported

__all__ = [
    "is_literal", "is_step", "load_object", "load_owner", "load_step", "mark_of_object", "path_of_owner", "path_to",
    "store_object", "store_step",
]


def is_literal(value: Any) -> bool:
    """Whether the ``repr`` of a value says all of it."""
    if type(value) is tuple:
        return all(map(is_literal, value))
    return type(value) in (str, bytes, int, float, bool, type(None))


def path_to(value: Any) -> str:
    """Where an object is imported from. Raises Unstorable where no import finds it."""
    path = import_path(value)
    if path is None:
        raise Unstorable(with_article(type(value).__name__))
    return path


def store_object(value: Any) -> tuple[str, Any]:
    """A literal, or where an object is imported from."""
    return ("literal", value) if is_literal(value) else ("import", path_to(value))


def load_object(item: tuple[str, Any]) -> Any:
    """The object that ``store_object`` wrote down."""
    return item[1] if item[0] == "literal" else imported(item[1])


def mark_of_object(value: Any) -> str:
    """What tells this object from others in another process."""
    if isinstance(value, types.ModuleType):
        return f"module {path_to(value)}"
    return f"{import_path(value)} {fingerprint(value)}"


# --- paths ----------------------------------------------------------------------------------------------------------


def is_step(step: Any) -> bool:
    """Whether a step of a path is an attribute, or an index or key that a file can hold."""
    return type(step) is str or (type(step) is tuple and len(step) == 1 and type(step[0]) in (str, int))


def store_step(step: Any) -> Any:
    """A step of a path: an index or key as a list of one item."""
    return [step[0]] if type(step) is tuple else step


def load_step(step: Any) -> Any:
    """The step that ``store_step`` wrote down."""
    return tuple(step) if type(step) is list else step


# --- owners: the functions whose globals and closure a path begins in -----------------------------------------------


def path_of_owner(owner: types.FunctionType) -> str:
    """Where a function is imported from."""
    path = f"{owner.__module__}:{owner.__qualname__}"
    with contextlib.suppress(ValueError, LookupError, ImportError, AttributeError):
        if load_owner(path) is owner:
            return path
    raise Unstorable(path)


def load_owner(path: str) -> types.FunctionType:
    """The function at a path. Raises ValueError where there is something else."""
    found = imported(path)
    if not isinstance(found, types.FunctionType):  # decorated with s2s.differentiable
        found = getattr(found, "__wrapped__", None)
    if not isinstance(found, types.FunctionType):
        raise ValueError(f"{path} is no function")
    return found
