"""``file.py:name``, ``package.module:name`` or ``file.py`` in, the functions out; ``name=expression`` in, example
values out.

Raises CannotLoad, with a message for the user, where that fails.
"""

from __future__ import annotations

import contextlib
import copy
import importlib
import importlib.machinery
import importlib.util
import inspect
import linecache
import os
import sys
import traceback
import types
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from s2s.core.annotated import signature_of
from s2s.core.lines import lines_of
from s2s.directives.decorated import Differentiable, unwrap
from s2s.versions.kinds import Kind, read_kind

__all__ = [
    "CannotLoad", "Loaded", "annotated_kinds", "bound", "evaluated", "load", "load_all", "module_from",
    "running", "spec_of",
]


class CannotLoad(Exception):
    """The function, or an example value, cannot be had; the message is for the user."""


@dataclass
class Loaded:
    """A function, what it is called on the command line, its module, and whether it was found in a class: its first
    argument is the object then, which is not differentiated."""

    place: str
    function: Any
    module: types.ModuleType
    is_method: bool = False

    @property
    def first(self) -> int:
        """The argument to differentiate where nobody says which."""
        return 1 if self.is_method else 0

    @property
    def parameters(self) -> list[inspect.Parameter]:
        """What it takes. Raises CannotLoad where that is not known."""
        try:
            return list(signature_of(self.function).parameters.values())
        except (TypeError, ValueError):
            raise CannotLoad(f"{self.place}: the names of its arguments are not known") from None

    def bind(self, values: dict[str, Any]) -> inspect.BoundArguments:
        """The values as arguments, of ``*args`` a sequence and of ``**kwargs`` a dict. Raises CannotLoad where the
        function does not take them."""
        rest = [p.name for p in self.parameters if p.kind is p.VAR_POSITIONAL and p.name in values]
        last = inspect.Parameter.POSITIONAL_OR_KEYWORD if rest else inspect.Parameter.POSITIONAL_ONLY
        ahead = {p.name: values.get(p.name, p.default) for p in self.parameters if p.kind <= last}
        placed = [value for value in ahead.values() if value is not inspect.Parameter.empty]
        named = {name: value for name, value in values.items() if name not in {*ahead, *rest}}
        for p in self.parameters:
            if p.kind is p.VAR_KEYWORD and isinstance(named.get(p.name), dict):
                named |= named.pop(p.name)
        try:
            return signature_of(self.function).bind(*placed, *(item for name in rest for item in values[name]), **named)
        except TypeError as problem:
            raise CannotLoad(f"{self.place}: {problem}") from None

    def tried(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What it returns for copies of arguments. Raises CannotLoad where it raises."""
        try:
            return self.function(*copy.deepcopy(args), **copy.deepcopy(kwargs))
        except Exception as problem:
            told = _told(getattr(self.module, "__file__", None) or self.module.__name__, problem)
            given = signature_of(self.function).bind(*args, **kwargs).arguments
            shown = ", ".join(f"{name}: {_briefly(value)}" for name, value in given.items())
            raise CannotLoad(f"{told}\n  = called as: {self.place.rpartition(':')[2]}({shown})") from problem


def load(place: str) -> Loaded:
    """The function that ``file.py:name`` or ``package.module:name`` names; the name may be dotted
    (``Model.loss``)."""
    where, colon, name = place.rpartition(":")
    if not colon or not where or not name:
        raise CannotLoad(f"{place}: write path/to/file.py:function or package.module:function")
    module = _load_module(where)
    found: Any = module
    owner: Any = None
    for part in name.split("."):
        if not hasattr(found, part):
            holder, missing = where, name
            if isinstance(found, type):
                holder, missing = f"`{found.__name__}` of {where}", part
            raise CannotLoad(f"{place}: {holder} has no `{missing}`{_names_in(found)}")
        owner, found = found, getattr(found, part)
    is_method = isinstance(owner, type) and _is_plain_method(owner, name.rpartition(".")[2])
    return Loaded(place, found, module, is_method)


def load_all(place: str, module: types.ModuleType | None = None) -> list[Loaded]:
    """The function that a place names; of a whole file, which may be loaded as ``module``, those that are decorated, in
    order."""
    if not (place.endswith(".py") and ":" not in Path(place).name):
        return [load(place)]
    module = module or _load_module(place)
    found = list(_decorated(place, module))
    if not found:
        raise CannotLoad(
            f"{place}: no function in it is decorated with @s2s.differentiable; name one, "
            f"{place}:function{_names_in(module)}")
    return found


def _decorated(place: str, module: types.ModuleType) -> Iterator[Loaded]:
    for name, value in list(vars(module).items()):
        if isinstance(value, Differentiable) and value.__module__ == module.__name__:
            yield Loaded(f"{place}:{name}", value, module)
        if isinstance(value, type) and value.__module__ == module.__name__:
            for inner, method in list(vars(value).items()):
                method = getattr(value, inner) if isinstance(method, (staticmethod, classmethod)) else method
                if isinstance(method, Differentiable):
                    yield Loaded(f"{place}:{name}.{inner}", method, module, _is_plain_method(value, inner))


def _is_plain_method(owner: type, name: str) -> bool:
    """Whether it is a method whose first argument is the object."""
    raw = inspect.getattr_static(owner, name, None)
    return isinstance(unwrap(raw), types.FunctionType)


def module_from(path: Path) -> tuple[types.ModuleType, str]:
    """A file as the module that it is: of its package where it is in one, and its name."""
    name, folder = _place_of(path)
    if "." not in name:
        return _load_file(path), path.stem
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    try:
        return importlib.import_module(name), name
    except (Exception, SystemExit) as problem:
        raise CannotLoad(_told(str(path.resolve()), problem)) from problem


def _place_of(path: Path) -> tuple[str, Path]:
    """The name of a file as a module, dotted where it is in a package, and the folder that this begins at."""
    names, folder = [] if path.stem == "__init__" else [path.stem], path.resolve().parent
    while (folder / "__init__.py").exists():
        names.insert(0, folder.name)
        folder = folder.parent
    return (".".join(names), folder) if len(names) > 1 else (path.stem, path.resolve().parent)


@contextlib.contextmanager
def running(path: Path, text: str) -> Iterator[types.ModuleType]:
    """The module that a file would be if it said ``text``, as long as the context lasts: nothing is written, and what
    asks for lines of the file is given those of the text. Raises CannotLoad where it cannot be imported."""
    name, folder = _place_of(path)
    path = path.resolve()
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None:
        raise CannotLoad(f"{path}: cannot be imported")
    missing = object()
    before: Any = missing
    try:
        if "." in name:
            _import(name.rpartition(".")[0])
        module = importlib.util.module_from_spec(spec)
        before = sys.modules.get(name, missing)
        sys.modules[name] = module
        # no time stamp: linecache never takes it for out of date
        lines = lines_of(text, keepends=True)
        linecache.cache[str(path)] = (len(text), None, lines, str(path))
        try:
            with _no_bytecode():
                exec(compile(text, str(path), "exec", dont_inherit=True), vars(module))
        except (Exception, SystemExit) as problem:
            raise CannotLoad(_told(str(path), problem)) from problem
        yield module
    finally:
        linecache.cache.pop(str(path), None)
        sys.modules.pop(name, None)
        if before is not missing:
            sys.modules[name] = before


def _load_module(where: str) -> types.ModuleType:
    if where.endswith(".py"):
        return _load_file(Path(where))
    if not all(part.isidentifier() for part in where.split(".")) or (Path(where).is_file() and spec_of(where) is None):
        raise CannotLoad(f"{where}: neither a Python file, whose name ends with .py, nor a module")
    return _import(where)


def spec_of(name: str) -> importlib.machinery.ModuleSpec | None:
    """Where a module is; None where there is none of this name."""
    try:
        return importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None


def _load_file(path: Path) -> types.ModuleType:
    """Run a file as a module of its own name, with its folder first on the path, as ``python file.py`` has
    it."""
    if not path.is_file():
        raise CannotLoad(f"{path}: there is no such file")
    path = path.resolve()
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise CannotLoad(f"{path}: cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    try:
        with _no_bytecode():
            spec.loader.exec_module(module)
    except (Exception, SystemExit) as problem:
        raise CannotLoad(_told(str(path), problem)) from problem
    return module


class _no_bytecode:
    """As a context: modules leave no ``__pycache__`` beside them."""

    def __enter__(self) -> None:
        self.before, sys.dont_write_bytecode = sys.dont_write_bytecode, True

    def __exit__(self, *problem: object) -> None:
        sys.dont_write_bytecode = self.before


def _import(name: str) -> types.ModuleType:
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        with _no_bytecode():
            return importlib.import_module(name)
    except (Exception, SystemExit) as problem:
        raise CannotLoad(_told(name, problem)) from problem


def _told(where: str, problem: BaseException) -> str:
    """What went wrong in a file, with the line where it did."""
    frames = [frame for frame in traceback.extract_tb(problem.__traceback__) if frame.filename == where]
    place = f"{where}:{frames[-1].lineno}" if frames else where
    return f"{place}: {type(problem).__name__}: {problem}"


def _names_in(found: Any) -> str:
    """The functions that a module or a class has."""
    module = getattr(found, "__module__", None) if isinstance(found, type) else getattr(found, "__name__", None)
    names = [
        name
        for name, value in getattr(found, "__dict__", {}).items()
        if callable(value) and getattr(value, "__module__", None) == module and not name.startswith("__")
    ]
    return f"; it has {', '.join(names[:10])}" if names else ""


# --- example values -----------------------------------------------------------------------------------------


def evaluated(given: tuple[str, ...], module: types.ModuleType) -> dict[str, Any]:
    """The values of ``name=expression`` texts, evaluated with ``np`` and the names of the module in scope."""
    scope = {"np": np, "numpy": np, **vars(module)}
    values: dict[str, Any] = {}
    for text in given:
        name, equals, expression = text.partition("=")
        if not equals or not name.strip().isidentifier():
            raise CannotLoad(f"--arg {text}: write name=expression")
        try:
            code = compile(expression.strip(), "<--arg>", "eval", dont_inherit=True)
            values[name.strip()] = eval(code, scope)
        except Exception as problem:
            raise CannotLoad(f"--arg {text}: {type(problem).__name__}: {problem}") from problem
    return values


def bound(
    loaded: Loaded, values: dict[str, Any], kinds: dict[str, Kind], seed: int = 0
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call: values, and random ones of these kinds. Raises CannotLoad where some are missing."""
    parameters = loaded.parameters
    names = [p.name for p in parameters]
    unknown = [name for name in {**values, **kinds} if name not in names]
    if unknown and not any(p.kind is p.VAR_KEYWORD for p in parameters):
        raise CannotLoad(f"{loaded.place}: it has no argument `{unknown[0]}`; it has {', '.join(names)}")
    lengths = {name: kind.number for name, kind in kinds.items() if kind.number is not None}
    lengths |= {name: value for name, value in values.items() if type(value) is int}
    random = np.random.default_rng(seed)
    made = {name: kind.example(random, lengths) for name, kind in kinds.items() if name not in values}
    missing = [p.name for p in parameters if p.default is p.empty and p.name not in {**made, **values}
               and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    if missing:
        said = ", ".join(f"{name}: f8[3]" for name in missing)
        named = ", ".join(f"`{name}`" for name in missing)
        raise CannotLoad(
            f"{loaded.place}: what {named} will be is not known; say of which kind, as by --args \"{said}\" for "
            f"vectors of three floats, or give a value, --arg {missing[0]}=...")
    given = loaded.bind({**made, **values})
    return given.args, given.kwargs


def _briefly(value: Any) -> str:
    """A value in few words: of an array its kind."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype.str[1:]}[{', '.join(map(str, value.shape))}]"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]} ..."


_OF_TYPES = {float: "float", int: "int", bool: "bool", complex: "complex", np.ndarray: "f8[:]"}


def annotated_kinds(function: Any) -> dict[str, Kind]:
    """The kinds that the annotations of a function give to parameters without a default."""
    found: dict[str, Kind] = {}
    try:
        parameters = signature_of(function).parameters
    except (TypeError, ValueError):  # of C
        return found
    for name, parameter in parameters.items():
        annotation = parameter.annotation
        texts = [annotation, *getattr(annotation, "__metadata__", ())]
        said = next((text for text in texts if isinstance(text, str)), _OF_TYPES.get(_hashable(annotation), ""))
        if parameter.default is parameter.empty and said:
            try:
                found[name] = read_kind(said)
            except TypeError:  # the name of a class
                continue
    return found


def _hashable(value: Any) -> Any:
    return value if isinstance(value, type) else None
