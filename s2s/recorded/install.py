"""Watched code in the functions that run, while something is recorded.

A function is given watched code the first time that it is seen: it is called, read from an object, passed as an
argument, or the class is seen that it is a method of. So what C code calls back, and what operators and properties
call, is watched too. When the last recording ends, every function has its own code again.
"""

from __future__ import annotations

import contextlib
import dis
import functools
import itertools
import threading
import types
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np

from s2s.core.codes import SUSPENDED
from s2s.core.inspection import is_written, module_of, own_dict
from s2s.errors import DifferentiationError
from s2s.recorded.turns import TURNS
from s2s.recorded.watch import watched_code
from s2s.versions.boundary import with_room

__all__ = ["Installer", "code_of", "is_watched"]

_ORIGINAL: dict[int, tuple[types.CodeType, types.CodeType]] = {}
"""Watched code and what it stands for, by the identity of the first: to compare code takes as long as a step."""


def code_of(function: types.FunctionType) -> types.CodeType:
    """The code of a function as it is written, whether it is watched or not."""
    code = function.__code__
    return _ORIGINAL.get(id(code), (code, code))[1]


def is_watched(function: types.FunctionType) -> bool:
    """Whether a function has watched code."""
    return id(function.__code__) in _ORIGINAL


_Known: TypeAlias = tuple[types.CodeType, types.CodeType | None, tuple[str, ...]]
_MOST_KNOWN = 16_384
"""Of so many code objects it is known, by identity, what code is made of them."""

_Made: TypeAlias = dict[tuple[types.CodeType, str], types.CodeType | None]
"""The code that is made of a code object and its file; None where there is none."""

_WATCHED: _Made = {}

_WRAPPERS = (staticmethod, classmethod)
_FUNCTIONS = frozenset({types.FunctionType, types.MethodType, functools.partial})
_OWN = (
    "s2s",
    "threading",
    "typing",
    "abc",
    "enum",
    "importlib",
    "contextvars",
    "re",
    "logging",
    "warnings",
    "inspect",
    "types",
    "weakref",
    "linecache",
    "traceback",
    "string",
    "os",
    "sys",
    "unittest",
)
"""Packages that compute nothing that has a derivative: they run as they are."""

_COMPUTING = (
    "s2s.runtime", "s2s.rules", "s2s.models", "s2s.dynamic_calls", "s2s.api", "s2s.tangents", "s2s.transforms",
    "s2s.versions.fitting", "s2s.dispatch.pullbacks", "s2s.recorded.steps",
)
"""What generated code calls, what hands its arguments to other generated code, derivatives that the program asks for,
and those of the steps of a recording within."""

_MOST_PARTS = 100
"""Of so many items of a container it is seen which are functions."""

_TABLES = ("s2s.rules.table", "s2s.rules.functions")
"""What the tools themselves look rules up in."""


class Installer:
    """Gives functions watched code, and takes it back."""

    def __init__(
        self, tools: dict[str, Callable[..., Any]],
        rewritten: Callable[[types.FunctionType, dict[str, Callable[..., Any]]], types.CodeType] = watched_code,
        made: _Made = _WATCHED,
    ) -> None:
        self.tools = tools
        self.rewritten = rewritten
        self.made = made
        self.known: dict[int, _Known] = {}
        self.installed: list[tuple[types.FunctionType, types.CodeType]] = []
        self.seen: dict[int, Any] = {}
        self.stored: dict[tuple[int, str], dict[str, Any]] = {}
        """The global variables that watched functions assign, by their scope and name."""
        self.lock = threading.RLock()
        SUSPENDED.append(self.suspended)

    def see(self, value: Any) -> None:
        """Let what a value may run be watched: itself, or the methods of its class."""
        kind = type(value)
        if kind is types.FunctionType:
            self._function(value)
        elif kind is types.MethodType:
            self.see(value.__func__)
            self._class(type(value.__self__) if not isinstance(value.__self__, type) else value.__self__)
        elif kind is functools.partial:
            self.see(value.func)
            for arg in (*value.args, *value.keywords.values()):
                self.see(arg)
        elif issubclass(kind, type):
            self._class(value)
        elif id(kind) not in self.seen:
            self._class(kind)

    def see_parts(self, value: list[Any] | tuple[Any, ...] | dict[Any, Any]) -> None:
        """Let the functions in a container be watched."""
        for part in itertools.islice(value.values() if type(value) is dict else value, _MOST_PARTS):
            if type(part) in _FUNCTIONS:
                self.see(part)

    def knows(self, function: types.FunctionType) -> bool:
        """Whether a function is watched."""
        return is_watched(function)

    def _function(self, function: types.FunctionType) -> None:
        code = function.__code__
        if id(function) in self.seen and id(code) in _ORIGINAL:
            return
        self.seen[id(function)] = function
        if id(code) in _ORIGINAL:  # made by watched code: the compiler reads its source
            if code.co_freevars == code_of(function).co_freevars:
                with self.lock:
                    self.installed.append((function, code_of(function)))
            self._parts_of(function)
            return
        if _runs_as_it_is(function.__module__ or ""):
            return
        _, made, stored = self.known[id(code)] if id(code) in self.known else self._learned(function)
        for name in stored:
            self.stored[id(function.__globals__), name] = function.__globals__
        if made is None or made.co_freevars != code.co_freevars:
            self._called_by(function)
            return
        with self.lock:
            self.installed.append((function, code))
            function.__code__ = made
        self._parts_of(function)

    def _learned(self, function: types.FunctionType) -> _Known:
        """The code of a function, the watched code for it, None where there is none, and the global variables that it
        assigns."""
        code = function.__code__
        key = code, code.co_filename  # functions of two files may have equal code
        if key not in self.made:
            try:
                self.made[key] = made = with_room(functools.partial(self.rewritten, function, self.tools))
            except (DifferentiationError, SyntaxError, ValueError, TypeError, RecursionError):
                self.made[key] = made = None
            if made is not None:
                self._name_parts(made, code)
        if len(self.known) >= _MOST_KNOWN:
            self.known.clear()
        self.known[id(code)] = found = code, self.made[key], _stored_globals(code)
        return found

    def _called_by(self, function: types.FunctionType) -> None:
        """See what a function without source may call: nobody sees its calls."""
        code = function.__code__
        if id(code) in self.seen:
            return
        self.seen[id(code)] = code
        for name in code.co_names:
            self._inside(function.__globals__.get(name))
        self._parts_of(function)

    def _parts_of(self, function: types.FunctionType) -> None:
        """See what a function holds: what a decorator wraps, and functions around it."""
        for cell in function.__closure__ or ():
            try:
                self._inside(cell.cell_contents)
            except ValueError:
                continue
        for default in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            self._inside(default)

    def _name_parts(self, made: types.CodeType, code: types.CodeType) -> None:
        _ORIGINAL[id(made)] = made, code
        inner = [c for c in made.co_consts if isinstance(c, types.CodeType)]
        for one, other in zip(inner, [c for c in code.co_consts if isinstance(c, types.CodeType)]):
            self._name_parts(one, other)

    def _inside(self, value: Any) -> None:
        """See what may be called that stands in a cell, a default, or a class."""
        kind = type(value)  # the object is not asked for its class: it may run code of the program
        if kind is types.FunctionType:
            self._function(value)
        elif kind in _WITHOUT_CODE:
            return
        elif issubclass(kind, (types.FunctionType, types.MethodType, functools.partial, type)):
            self.see(value)
        elif issubclass(kind, property):
            for part in (value.fget, value.fset, value.fdel):
                if part is not None:
                    self.see(part)
        elif issubclass(kind, _WRAPPERS):
            self._inside(value.__func__)
        elif kind in (list, tuple, dict):
            self.see_parts(value)
        elif not issubclass(kind, (int, float, complex, str, bytes, types.ModuleType)):
            wrapped = own_dict(value)
            if isinstance(wrapped, dict):
                for part in list(wrapped.values()):
                    if isinstance(part, (types.FunctionType, types.MethodType)):
                        self.see(part)
            if any(isinstance(getattr(kind, name, None), types.FunctionType) for name in _RUN_BY_CLASSES):
                self._class(kind)

    def _class(self, kind: type) -> None:
        if id(kind) in self.seen:
            return
        for base in kind.__mro__:
            if id(base) in self.seen or base is np.errstate:  # which computes nothing
                continue
            self.seen[id(base)] = base
            if not is_written(base) or module_of(base) == "builtins" or _runs_as_it_is(module_of(base)):
                continue  # what C code made has no functions of Python
            for part in list(vars(base).values()):
                self._inside(part)
        if type(kind) is not type:
            self._class(type(kind))

    @contextlib.contextmanager
    def suspended(self) -> Iterator[None]:
        """As a context: functions have their own code, as for the compiler, which reads it."""
        TURNS.stand_aside()
        with self.lock:
            swapped = [(function, function.__code__) for function, _ in self.installed]
            for function, _ in swapped:
                function.__code__ = code_of(function)
            try:
                yield
            finally:
                for function, made in swapped:
                    function.__code__ = made

    def restore(self) -> None:
        """Give every function its own code again."""
        with self.lock:
            for function, code in reversed(self.installed):
                own = code_of(function)
                if is_watched(function) and (own is code or own == code):
                    function.__code__ = code
            self.installed.clear()
            self.seen.clear()
            self.stored.clear()


def _stored_globals(code: types.CodeType) -> tuple[str, ...]:
    """The global variables that a code assigns, or the code of functions in it."""
    inner = [name for one in code.co_consts if isinstance(one, types.CodeType) for name in _stored_globals(one)]
    if dis.opmap["STORE_GLOBAL"] not in code.co_code[::2]:
        return (*inner,)
    return (*inner, *(step.argval for step in dis.get_instructions(code) if step.opname == "STORE_GLOBAL"))


_WITHOUT_CODE = frozenset({
    types.NoneType, bool, int, float, str, bytes, types.BuiltinFunctionType, types.MethodDescriptorType,
    types.WrapperDescriptorType, types.GetSetDescriptorType, types.MemberDescriptorType, types.ModuleType})
"""Types of what stands in classes and defaults that runs no code of Python."""

_RUN_BY_CLASSES = ("__call__", "__get__", "__set__")
"""Methods of what stands in a class that the class's objects call."""


def _runs_as_it_is(module: str) -> bool:
    """Whether the code of a module is not watched: it computes nothing, or watches."""
    return module in _TABLES or (module.partition(".")[0] in _OWN and not module.startswith(_COMPUTING))
