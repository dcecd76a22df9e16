"""Where objects are found: a root and a path in, the object out, and back."""

from __future__ import annotations

import contextlib
import enum
import importlib
import operator
import sys
import types
from typing import Any

from s2s.core.inspection import look_up, own_dict
from s2s.errors import HINTS

_MISSING = object()


class Variables:
    """The variables of a function's module, or of its closure, as attributes: what an empty path leads to."""

    def __init__(self, function: types.FunctionType, root: str) -> None:
        self.__function, self.__root = function, root  # no names that a program has

    def __getattr__(self, name: str) -> Any:
        try:
            return resolve(self.__function, self.__root, (name,))
        except LookupError:
            raise AttributeError(name) from None


def resolve(
    function: types.FunctionType, root: str, path: tuple[Any, ...], arguments: dict[str, Any] | None = None
) -> Any:
    """The object at a path from a function's globals (then builtins), its closure, an import, or the arguments of a
    call.

    Raises LookupError where there is none.
    """
    if not path:
        return Variables(function, root)
    first, *rest = path
    if root in ("import", "module"):
        module = sys.modules.get(first)
        value: Any = importlib.import_module(first) if module is None else module
    elif root == "free":
        value = _cell(function, first)
    elif root == "argument":
        value = (arguments or {})[first]
    elif root == "value":
        value = first.value
    else:
        value = function.__globals__.get(first, _MISSING)
        if value is _MISSING:
            value = builtins_of(function).get(first, _MISSING)
        if value is _MISSING:
            raise LookupError(first)
    for attribute in rest:
        if type(attribute) is tuple:
            try:
                value = value[attribute[0]]
            except (TypeError, LookupError):
                raise LookupError(str(path)) from None
            continue
        value = getattr(value, attribute, _MISSING)
        if value is _MISSING:
            raise LookupError(str(path))
    return value


def builtins_of(function: types.FunctionType) -> dict[str, Any]:
    """The builtins that a function reads names from after its globals."""
    builtins: dict[str, Any] = getattr(function, "__builtins__")  # noqa: B009 (unknown to the stubs)
    return builtins


def _cell(function: types.FunctionType, name: str) -> Any:
    names = function.__code__.co_freevars
    if name not in names:
        raise LookupError(name)
    try:
        return (function.__closure__ or ())[names.index(name)].cell_contents
    except ValueError:
        raise LookupError(name) from None


def own_names_of(value: Any) -> list[str]:
    """The names in the dict of an object, without reading through its class."""
    return [*own_dict(value)]


def package_version(name: str) -> str:
    """What a package says its version is; empty where it says nothing. Raises ImportError. A ``__getattr__`` of the
    module is not run: what was installed says it then."""
    held = vars(importlib.import_module(name))
    if "__version__" not in held and "__getattr__" in held:
        from importlib import metadata

        with contextlib.suppress(metadata.PackageNotFoundError):
            return metadata.version(name)
    version = held.get("__version__", "")
    return version if isinstance(version, str) else ""


def imported(path: str) -> Any:
    """The object at ``module`` or ``module:attribute.attribute``. Raises ImportError, AttributeError."""
    module, _, attributes = path.partition(":")
    value: Any = importlib.import_module(module)
    for attribute in filter(None, attributes.split(".")):
        value = getattr(value, attribute)
    return value


def loaded(name: str) -> types.ModuleType | None:
    """The module that has been imported under a name; None where none has."""
    return sys.modules.get(name)


def is_among(item: Any, module: str, name: str) -> bool:
    """Whether a container of a module has an item."""
    return item in getattr(sys.modules[module], name)


def import_path(value: Any) -> str | None:
    """``module`` or ``module:qualified.name`` under which an import finds this very object, else None."""
    if isinstance(value, types.ModuleType):
        return value.__name__ if sys.modules.get(value.__name__) is value else None
    name = look_up(value, "__qualname__", None) or look_up(value, "__name__", None)
    if issubclass(type(value), enum.Enum):
        name = f"{type(value).__qualname__}.{value.name}"
    if not isinstance(name, str):
        return None
    candidates = [look_up(value, "__module__", None), "builtins", "numpy"]
    for module_name in candidates:
        found: Any = sys.modules.get(module_name) if isinstance(module_name, str) else None
        for part in name.split("."):
            is_old = isinstance(found, types.ModuleType) and part not in vars(found)  # np.object warns
            found = _MISSING if is_old else look_up(found, part, _MISSING)
        if found is value:
            return f"{module_name}:{name}"
    return None


def what_to_give(fn: Any) -> str:
    """How to give a function without source a derivative, in words that can be pasted where its name is known."""
    plainly = HINTS["S2S201"]
    module, _, name = (import_path(fn) or "").partition(":")
    if isinstance(fn, type) or getattr(operator, name, None) is fn:  # `a * b` asks nobody for `operator.mul`
        return plainly
    public = sys.modules.get(module.lstrip("_"))  # `struct` for what `_struct` defines
    if public is not None and getattr(public, name, None) is fn:
        module = public.__name__
    bind = name
    if not name or "." in name or module == "builtins":
        name = bind = "f"
    elif module != "__main__":
        name = f"{module}.{name}"
        bind = f"import {module}; {name}"
    return (
        f"{plainly}; or give it a rule, `s2s.defvjp({name}, rule)`, "
        f"or central differences, `{bind} = s2s.differentiable({name}, numeric=True)`")
