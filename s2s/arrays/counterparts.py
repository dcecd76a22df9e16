"""Modules and functions of NumPy, SciPy and this package in, their counterparts for arrays of another module out; and
back."""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import types
from typing import Any

import numpy as np

from s2s.arrays.namespace import Namespace, Ufunc, _Function, kind_of
from s2s.core.array_classes import compiled_for, has_memory, module_of_arrays

__all__ = ["in_numpy", "on"]

_made: dict[tuple[str, str], Any] = {}
_originals: dict[int, tuple[Any, Any]] = {}
"""What counterparts stand for, by their ``id``, with the counterpart, which is kept alive."""


def on(module: types.ModuleType, path: str = "numpy") -> Any:
    """What stands for the module at an import path, in code for arrays of ``module``."""
    key = module.__name__, path
    if key not in _made:
        made = _make(module, path)
        _made.setdefault(key, made)
        _originals[id(made)] = importlib.import_module(path), made
    return _made[key]


def _make(module: types.ModuleType, path: str) -> Any:
    package, _, inside = path.partition(".")
    if package == "numpy":
        made: Any = Namespace(module)
        for name in filter(None, inside.split(".")):
            made = getattr(made, name)
        return made
    if package == "scipy":
        own = _companion(module, path)
        host = importlib.import_module(path)
        return host if own is None else Namespace(module, inside, own, host)
    return _port(module, path)


def _companion(module: types.ModuleType, path: str) -> Any:
    """The module with SciPy's functions for arrays of a module: that of CuPy is ``cupyx.scipy``."""
    try:
        return importlib.import_module(f"{module.__name__}x.{path}")
    except ImportError:
        return None


# --- this package ---------------------------------------------------------------------------------------------------

_INSTEAD = {"s2s.runtime._memory": "s2s.arrays.memory", "s2s.runtime._fused": "s2s.arrays.fused"}
"""Modules of helpers that are others for arrays of other modules."""

_PORTED = ("s2s.runtime", "s2s.rules", "s2s.models")


def _port(module: types.ModuleType, path: str) -> types.ModuleType:
    """A module of this package whose functions call the counterparts: its code, run with other imports. Modules of
    rules are not run again, as that would register the rules: their functions are made anew."""
    original = importlib.import_module(path)
    made = types.ModuleType(f"{path} on {module.__name__}", original.__doc__)
    _made[module.__name__, path] = made  # before it is filled: modules import each other
    try:
        _run_again(module, path, original, made)
        if not path.startswith("s2s.arrays") and not has_memory(kind_of(module)):
            other = on(module, "s2s.arrays.graph_helpers")
            vars(made).update({name: vars(other)[name] for name in other.__all__ if name in vars(made)})
    except BaseException:
        del _made[module.__name__, path]  # what is half made has names that lack
        raise
    return made


def _run_again(module: types.ModuleType, path: str, original: types.ModuleType, made: types.ModuleType) -> None:
    if not path.startswith(("s2s.runtime", "s2s.arrays")):
        _fill(module, vars(original), vars(made))
        return
    spec = importlib.util.find_spec(path)
    assert spec is not None and spec.loader is not None
    code = spec.loader.get_code(path)  # type: ignore[attr-defined]
    vars(made)["__builtins__"] = {**vars(builtins), "__import__": _importer(module)}
    exec(code, vars(made))
    if path in _INSTEAD:
        other = on(module, _INSTEAD[path])
        vars(made).update({name: vars(other)[name] for name in other.__all__})


def _importer(module: types.ModuleType) -> Any:
    helpers = Namespace(module, is_for_helpers=True)

    def importing(name: str, globals: Any = None, locals: Any = None, given: Any = (), level: int = 0) -> Any:
        if name == "numpy" and not given:
            return helpers
        if name.startswith("s2s.runtime") and given:
            return on(module, name)
        if name.partition(".")[0] == "scipy":
            own = _companion(module, name)
            if not given or any(not callable(getattr(own, one, None)) for one in given):
                raise ImportError(f"{module.__name__} has nothing in the place of {name}")  # helpers do without
            return own
        if name == "s2s" and given and "runtime" in given:
            return types.SimpleNamespace(runtime=on(module, "s2s.runtime"))
        return __import__(name, globals, locals, given, level)

    return importing


def _fill(module: types.ModuleType, original: dict[str, Any], made: dict[str, Any]) -> None:
    for name, value in original.items():
        if value is np:
            made[name] = Namespace(module, is_for_helpers=True)
        elif isinstance(value, types.ModuleType) and value.__name__.startswith(_PORTED):
            made[name] = on(module, value.__name__)
        elif isinstance(value, types.FunctionType) and value.__module__.startswith(_PORTED):
            if value.__globals__ is original:
                made[name] = types.FunctionType(value.__code__, made, name, value.__defaults__, value.__closure__)
                made[name].__kwdefaults__ = value.__kwdefaults__
            else:
                made[name] = getattr(on(module, value.__module__), value.__name__, value)
        else:
            made.setdefault(name, value)


def made_by(value: Any) -> tuple[types.ModuleType, str, str] | None:
    """The module of arrays, the path and the name (empty for the module itself) that a counterpart is made of:
    ``on(cupy, "s2s.runtime").unbroadcast``; None for what is none."""
    if isinstance(value, Namespace):
        return value._module, f"numpy.{value._path}" if value._path else "numpy", ""
    scope = getattr(value, "__globals__", None)
    for (module, path), made in _made.items():
        if value is made and id(made) in _originals:
            return importlib.import_module(module), path, ""
        if scope is not None and vars(made) is scope and vars(made).get(value.__name__) is value:
            return importlib.import_module(module), path, value.__name__
    return None


# --- and back -------------------------------------------------------------------------------------------------------


def in_numpy(value: Any) -> Any:
    """What the compiler takes an object for that a program for arrays of another module names: NumPy's where the module
    has one of that name, so that both have the same rules. Anything else as it is."""
    kind = compiled_for()
    if kind is np.ndarray:
        return value
    module = module_of_arrays(kind)
    assert module is not None
    if isinstance(value, Namespace):
        return value._host
    if isinstance(value, (_Function, Ufunc)):
        return value._host
    if isinstance(value, types.ModuleType) and id(value) in _originals:
        return _originals[id(value)][0]
    return _names_of(module).get(id(value), value)


_names: dict[str, dict[int, Any]] = {}


def _names_of(module: types.ModuleType) -> dict[int, Any]:
    """What a module has, by ``id``, with NumPy's of the same names; and the functions of helpers made for it."""
    found = _names.get(module.__name__)
    if found is None:
        found = _names[module.__name__] = {id(module): np}
        inside = [(getattr(module, name, None), getattr(np, name)) for name in ("linalg", "fft", "random")]
        for own, host in ((module, np), *inside):
            if own is None:
                continue
            found[id(own)] = host
            theirs = vars(host)
            for name, value in vars(own).items():
                if name in theirs and not name.startswith("_") and callable(value) and value is not theirs[name]:
                    found.setdefault(id(value), theirs[name])
        asks = getattr(module, "get_array_module", None)
        if asks is not None:
            found[id(asks)] = np.ndarray.__array_namespace__
    return found
