"""Names for known objects: takes values known at compile time, gives the expressions that print them.

A ``Speller`` serves one text. It collects what the header imports and what must be handed to the text
otherwise.
"""

from __future__ import annotations

import ast
import builtins
import cmath
import functools
import importlib
import math
import sys
import types
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

from s2s.core.inspection import is_plain_name, look_up
from s2s.core.ir import Load
from s2s.directives.policies import Chosen, gradient_override, nonsmooth
from s2s.directives.policy import Choice, Policy

__all__ = ["Speller", "load", "module_of_ufunc"]

_NUMPY = ("numpy", "numpy.linalg", "numpy.fft", "numpy.random")
"""The modules that are read as attributes of ``np``, some of which NumPy imports when one of them is asked for."""

_RUNTIME = "s2s.runtime"


def load(name: str) -> ast.Name:
    """The expression that reads a name."""
    return ast.Name(name, ast.Load())


def _attribute(value: ast.expr, path: str) -> ast.expr:
    for part in path.split("."):
        value = ast.Attribute(value, part, ast.Load())
    return value


class Speller:
    """Spells objects as expressions; ``taken`` are names that the text uses for variables, ``assigned`` those of
    variables of modules that it assigns: no object is found under them.

    After spelling: ``imports`` (local name -> "module"), ``objects`` (local name -> object), ``globals``
    (names of the user's module that are read bare), ``free`` (names of closure cells that are read bare),
    ``made`` (local name -> expression, for what the head of the text makes), ``names`` (all of them).
    """

    def __init__(
        self, module_globals: dict[str, Any] | None, taken: Iterable[str], params: Iterable[str],
        assigned: Collection[str] = (),
    ) -> None:
        self._globals = module_globals or {}
        self._assigned = set(assigned)
        self._taken = {*taken, *assigned}
        self._params = set(params)
        self._known: dict[int, tuple[Any, ast.expr]] = {}
        self._bound: dict[int, str] | None = None
        self.imports: dict[str, str] = {}
        self.objects: dict[str, Any] = {}
        self.made: dict[str, ast.expr] = {}
        self.globals: set[str] = set()
        self.free: set[str] = set()
        self.builtins: set[str] = set()

    @property
    def names(self) -> set[str]:
        """Every bare name that the text reads without owning it."""
        return {*self.imports, *self.objects, *self.made, *self.globals, *self.free, *self.builtins}

    def value(self, value: Any) -> ast.expr:
        """The expression for a known value."""
        literal = self._literal(value)
        if literal is not None:
            return literal
        found = self._known.get(id(value))
        if found is None:
            found = self._known[id(value)] = (value, self._object(value))
        return found[1]

    def load(self, read: Load) -> ast.expr:
        """The expression that reads a global or a closure cell when it runs."""
        if read.scope == "free":
            return self._free(read)
        owner = read.owner
        foreign = owner is not None and getattr(owner, "__globals__", self._globals) is not self._globals
        if foreign and self._globals:
            return self._foreign(read.name, owner)
        if read.name in self._params:
            return ast.Subscript(ast.Call(load("globals"), [], []), ast.Constant(read.name), ast.Load())
        self.globals.add(read.name)
        return load(read.name)

    def _free(self, read: Load) -> ast.expr:
        if read.owner is None:
            self.free.add(read.name)
            return load(read.name)
        cell = read.owner.__code__.co_freevars.index(read.name)
        cells = ast.Attribute(self.value(read.owner), "__closure__", ast.Load())
        return _attribute(ast.Subscript(cells, ast.Constant(cell), ast.Load()), "cell_contents")

    def _foreign(self, name: str, owner: Any) -> ast.expr:
        """A name in the globals of another module."""
        if name not in owner.__globals__ and hasattr(builtins, name):
            return self.value(getattr(builtins, name))
        module = sys.modules.get(owner.__module__)
        if module is not None and vars(module) is owner.__globals__:
            return ast.Attribute(self.value(module), name, ast.Load())
        scope = ast.Attribute(self.value(owner), "__globals__", ast.Load())
        return ast.Subscript(scope, ast.Constant(name), ast.Load())

    # --- literals ---

    def _literal(self, value: Any) -> ast.expr | None:
        match value:
            case None | bool() | str() | bytes() | types.EllipsisType():
                return ast.Constant(value) if type(value) in _PLAIN else None
            case int() if type(value) is int:
                return _signed(value)
            case float() if type(value) is float:
                return self._float(value)
            case complex() if type(value) is complex:
                return self._complex(value)
            case tuple() if type(value) is tuple:
                return ast.Tuple([self.value(v) for v in value], ast.Load())
            case frozenset() if type(value) is frozenset:
                items = sorted((self.value(v) for v in value), key=ast.dump)
                return ast.Call(self.value(frozenset), [ast.Set(items)] if items else [], [])
            case slice():
                bounds = [self.value(v) for v in (value.start, value.stop, value.step)]
                return ast.Call(self.value(slice), bounds, [])
            case range():
                bounds = [self.value(v) for v in (value.start, value.stop, value.step)]
                return ast.Call(self.value(range), bounds if value.step != 1 else bounds[:2], [])
            case np.dtype() if value == np.dtype(value.type) and value.type.__name__ in _NUMBERS:
                return self.value(value.type)
            case np.dtype() if value.names is None:
                return ast.Call(_attribute(self.value(np), "dtype"), [ast.Constant(value.str)], [])
            case np.generic() if type(value).__name__ in _NUMBERS:
                return ast.Call(self.value(type(value)), [self.value(value.item())], [])
            case _:
                return None

    def _float(self, value: float) -> ast.expr:
        if math.isfinite(value):
            return _signed(value)
        if math.isnan(value):
            return _attribute(self.value(np), "nan")
        infinity = _attribute(self.value(np), "inf")
        return infinity if value > 0 else ast.UnaryOp(ast.USub(), infinity)

    def _complex(self, value: complex) -> ast.expr:
        if (
            value.real == 0
            and math.copysign(1, value.real) > 0
            and math.copysign(1, value.imag) > 0
            and cmath.isfinite(value)
        ):
            return ast.Constant(value)
        return ast.Call(self.value(complex), [self.value(value.real), self.value(value.imag)], [])

    # --- objects ---

    def _object(self, value: Any) -> ast.expr:
        if isinstance(value, types.ModuleType):
            return self._module(value)
        name = look_up(value, "__name__", None)
        if isinstance(name, str) and getattr(builtins, name, self) is value:
            return self._builtin(name)
        if isinstance(name, str):
            for path in _NUMPY:
                if getattr(sys.modules.get(path), name, self) is value:
                    return _attribute(self.value(np), ".".join([*path.split(".")[1:], name]))
        if isinstance(value, types.BuiltinFunctionType) and isinstance(value.__self__, np.ufunc):
            return ast.Attribute(self.value(value.__self__), value.__name__, ast.Load())
        bound = self._user_name(value)
        if bound is not None:
            self.globals.add(bound)
            return load(bound)
        if isinstance(value, (Chosen, nonsmooth, gradient_override)):
            return self._made(value)
        return self._imported(value) or self._of_numpy(value) or self._of_partial(value) or self._given(value)

    def _of_numpy(self, value: Any) -> ast.expr | None:
        """An object of NumPy that has no name of its own, such as ``np.mgrid``."""
        for name, found in vars(np).items():
            if found is value and not name.startswith("_"):
                return _attribute(self.value(np), name)
        return None

    def _of_partial(self, value: Any) -> ast.expr | None:
        """An argument that a partial of the user's module holds, such as the function in ``insert_in_reverse(fn)``."""
        for name, found in self._globals.items():
            if not issubclass(type(found), functools.partial) or name in self._taken:
                continue
            held: list[tuple[str | int, Any]] = [*enumerate(found.args), *found.keywords.items()]
            key = next((key for key, part in held if part is value), None)
            if key is not None:
                self.globals.add(name)
                parts = _attribute(load(name), "keywords" if isinstance(key, str) else "args")
                return ast.Subscript(parts, ast.Constant(key), ast.Load())
        return None

    def _made(self, value: Any) -> ast.expr:
        """A function with a derivative that was chosen for it, or a block for which a choice holds: made by the head
        of the text."""
        if isinstance(value, Chosen) and getattr(value.how, "name", "") == "open":
            return self.value(value.func)
        if isinstance(value, Chosen):
            choice = Choice(((value.func, value.how),))
            expression = ast.Call(self._block(choice), [self.value(value.func)], [])
            wanted = value.__name__
        else:
            kinds = {getattr(how, "name", "") for _, how in value.choice.by_key}
            wanted = "_".join([type(value).__name__, *(kinds if len(kinds) == 1 else ())]).rstrip("_")
            expression = self._block(value.choice)
        name = self._new_name(wanted, value)
        self.made[name] = expression
        return load(name)

    def _block(self, choice: Choice) -> ast.Call:
        """The expression that makes a block; without the function where that is all that there is."""
        keys = [key for key, _ in choice.by_key]
        decisions = [how for _, how in choice.by_key]
        if choice.overridden:
            rules = [self.value(how.name or how.rule) for how in decisions]  # type: ignore[union-attr]
            given: ast.expr = ast.Dict([self.value(key) for key in keys], rules)
            return ast.Call(_attribute(self.value(sys.modules["s2s"]), "gradient_override"), [given], [])
        first = decisions[0]
        if len(decisions) == 1 and (keys[0] == "" or callable(keys[0])):
            given = ast.Constant(first.name)
        else:
            given = ast.Dict([self.value(key) for key in keys], [ast.Constant(how.name) for how in decisions])
        sharp = next((how.sharpness for how in decisions if isinstance(how, Policy) and how.sharpness), None)
        keywords = [] if sharp is None else [ast.keyword("sharpness", self.value(sharp))]
        return ast.Call(_attribute(self.value(sys.modules["s2s"]), "nonsmooth"), [given], keywords)

    def _builtin(self, name: str) -> ast.expr:
        shadowed = self._globals.get(name, getattr(builtins, name)) is not getattr(builtins, name)
        if shadowed or name in self._taken:
            return ast.Attribute(self._module(builtins), name, ast.Load())
        self.builtins.add(name)
        return load(name)

    def _module(self, module: types.ModuleType) -> ast.expr:
        path = module.__name__
        if path not in sys.modules or sys.modules[path] is not module:
            return self._given(module)
        if path in _NUMPY[1:]:
            return _attribute(self.value(np), path.partition(".")[2])
        wanted = {"numpy": "np", _RUNTIME: "rt"}.get(path, path.rpartition(".")[2])
        for name, spelled in self.imports.items():
            if spelled == path:
                return load(name)
        name = self._new_name(wanted, module)
        self.imports[name] = path
        return load(name)

    def _new_name(self, wanted: str, value: Any) -> str:
        """A name for a known object that neither the text nor the user's module uses for something else."""
        while wanted in self._taken or wanted in self.names or self._globals.get(wanted, value) is not value:
            wanted = "numpy" if wanted == "np" else wanted + "_"
        return wanted

    def _user_name(self, value: Any) -> str | None:
        """The name under which the user's module has an object."""
        name = look_up(value, "__name__", None)
        if isinstance(name, str) and name not in self._taken and self._globals.get(name, self) is value:
            return name
        if self._bound is None:
            self._bound = {}
            for key, found in self._globals.items():
                if not (key.startswith("__") and key.endswith("__")) and key not in self._taken:
                    self._bound.setdefault(id(found), key)
        return self._bound.get(id(value))

    def _imported(self, value: Any) -> ast.expr | None:
        """An attribute of a module that can be imported and has that very object."""
        qualname = look_up(value, "__qualname__", None) or look_up(value, "__name__", None)
        if not isinstance(qualname, str) or "<" in qualname or qualname.partition(".")[0] in self._assigned:
            return None
        for path in _modules_of(value):
            try:
                module = importlib.import_module(path)
                found: Any = module
                for part in qualname.split("."):
                    found = look_up(found, part)
            except (ImportError, AttributeError):
                continue
            if found is value and all(map(is_plain_name, qualname.split("."))):
                return _attribute(self.value(module), qualname)
        return None

    def _given(self, value: Any) -> ast.expr:
        """An object that has no path: the text gets it under a name."""
        name = look_up(value, "__name__", None)
        if not isinstance(name, str) or not name.isidentifier():
            name = type(value).__name__.lower() + "0"
        name = self._new_name(name, value)
        self.objects[name] = value
        return load(name)


_PLAIN = (type(None), bool, str, bytes, type(Ellipsis))
_NUMBERS = {
    "bool", "bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
    "float32", "float64", "complex64", "complex128", "str_",
}  # fmt: skip


def _signed(value: int | float) -> ast.expr:
    """A number; with a minus in front where it is negative, so that precedence comes out right."""
    if math.copysign(1, value) < 0:
        return ast.UnaryOp(ast.USub(), ast.Constant(-value))
    return ast.Constant(value)


def module_of_ufunc(value: Any) -> str | None:
    """The module that has a ufunc, where it is a known one outside NumPy."""
    module = sys.modules.get("scipy.special")
    found = module is not None and getattr(module, value.__name__, None) is value
    return "scipy.special" if found else None


def _modules_of(value: Any) -> list[str]:
    """Where to look for an object: public parents first, ``scipy.linalg`` before ``scipy.linalg._basic``."""
    if isinstance(value, np.ufunc):
        found = module_of_ufunc(value)
        return [found] if found else []
    path = getattr(value, "__module__", None)
    objclass = getattr(value, "__objclass__", None)
    if path is None and isinstance(objclass, type):
        path = objclass.__module__
    owner = getattr(value, "__self__", None)
    if path is None and isinstance(owner, types.ModuleType):
        path = owner.__name__
    if not isinstance(path, str) or path == "__main__":
        return []
    if path.startswith("s2s.") and getattr(value, "__name__", None) in sys.modules["s2s"].__all__:
        return ["s2s", path]
    public = path[1:] if path.startswith("_") else path.partition("._")[0]  # `_warnings` is a part of `warnings`
    return list(dict.fromkeys([*([public] if public in sys.modules else []), path]))
