"""``file.py:name`` or ``package.module:name`` in, the function out; ``name=expression`` in, example values
out.

Raises CannotLoad, with a message for the user, where that fails.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import os
import sys
import traceback
import types
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["CannotLoad", "examples", "load"]


class CannotLoad(Exception):
    """The function, or an example value, cannot be had; the message is for the user."""


def load(place: str) -> Any:
    """The object that ``file.py:name`` or ``package.module:name`` names; the name may be dotted
    (``Model.loss``)."""
    where, colon, name = place.rpartition(":")
    if not colon or not where or not name:
        raise CannotLoad(f"{place}: write path/to/file.py:function or package.module:function")
    module = _load_file(Path(where)) if where.endswith(".py") else _load_module(where)
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            raise CannotLoad(f"{place}: {where} has no `{name}`{_names_in(module)}")
        found = getattr(found, part)
    return found


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
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as problem:
        raise CannotLoad(_told(str(path), problem)) from problem
    return module


def _load_module(name: str) -> types.ModuleType:
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as problem:
        raise CannotLoad(_told(name, problem)) from problem


def _told(where: str, problem: BaseException) -> str:
    """What went wrong in a file, with the line where it did."""
    frames = [frame for frame in traceback.extract_tb(problem.__traceback__) if frame.filename == where]
    place = f"{where}:{frames[-1].lineno}" if frames else where
    return f"{place}: {type(problem).__name__}: {problem}"


def _names_in(module: types.ModuleType) -> str:
    names = [
        name
        for name, value in vars(module).items()
        if callable(value) and getattr(value, "__module__", None) == module.__name__
    ]
    return f"; it has {', '.join(names[:10])}" if names else ""


def examples(given: tuple[str, ...], f: Any) -> dict[str, Any]:
    """The values of ``name=expression`` texts, evaluated with ``np`` and the globals of ``f`` in scope."""
    scope = {"np": np, "numpy": np, **getattr(f, "__globals__", {})}
    values: dict[str, Any] = {}
    for text in given:
        name, equals, expression = text.partition("=")
        if not equals or not name.strip().isidentifier():
            raise CannotLoad(f"--arg {text}: write name=expression")
        try:
            code = compile(ast.parse(expression.strip(), mode="eval"), "<--arg>", "eval")
            values[name.strip()] = eval(code, scope)
        except Exception as problem:
            raise CannotLoad(f"--arg {text}: {type(problem).__name__}: {problem}") from problem
    return values
