"""What Numba compiles for a function in, the same with one run of LLVM over it and one piece of machine code out.

Numba makes a library of each function that it meets: of the function itself, of each helper of NumPy's that this
calls, of what those call. It optimises each with a copy of all that is below it, and makes machine code of each, though
nobody calls the helper but code that has it in itself:

    grad: [solve: [_check: [..], _copy: [..]], cholesky: [_check: [..], _copy: [..]]]

In ``linked_once`` a helper's library stays what Numba lowered it to, a part. The library of the function takes all that
is below it, each once, and is optimised and made machine code of once. A part that code asks for which is compiled
elsewhere gets machine code of its own then.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

from numba.core import event
from numba.core.codegen import JITCodeLibrary, RuntimeLinker
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import LiftedCode
from numba.core.environment import lookup_environment
from numba.core.registry import cpu_target
from numba.core.runtime.nrt import rtsys

__all__ = ["linked_once", "only_in_compiled_code"]

_NEEDED = (
    "_codegen", "_final_module", "_finalize_final_module", "_get_module_for_linking", "_linking_libraries",
    "_optimize_final_module", "_optimize_functions", "_reload_init",
)  # fmt: skip
"""Of Numba's libraries, beside what is documented."""

_ENVIRONMENT = "_ZN08NumbaEnv"
"""How the names begin of the variables by which machine code finds what a function has from Python."""

_CALLED_BY_PYTHON = "_ZN7cpython"
"""How the names begin of the functions by which Python calls machine code."""

_HELPERS = ("numba.core.", "numba.cpython.", "numba.misc.", "numba.np.", "s2s.backends.numba.")
"""Where functions are defined that only compiled code calls."""

_NOT_CALLABLE = ctypes.cast(ctypes.pythonapi.PyObject_Call, ctypes.c_void_p).value
"""What stands for the function by which Python calls a part: it raises TypeError."""

_parts: weakref.WeakSet[FunctionType] = weakref.WeakSet()

_by_name: weakref.WeakValueDictionary[str, _Part] = weakref.WeakValueDictionary()
"""The parts, by the names of their functions."""

_compiling: list[tuple[str, bool]] = []
"""The functions that Numba is compiling, the innermost last, and whether each is a part."""


def only_in_compiled_code(function: FunctionType) -> FunctionType:
    """Note that Python never calls what Numba makes of a function. Returns the function."""
    _parts.add(function)
    return function


_NO_WRAPPERS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


class _Compiling(event.Listener):
    """Keeps the list of functions that Numba is compiling, and has it write nothing for Python to call a part by."""

    def __init__(self) -> None:
        self.before: list[dict[str, Any] | None] = []

    def on_start(self, event: Any) -> None:
        dispatcher = event.data["dispatcher"]
        function = dispatcher.py_func
        is_helper = function in _parts or (function.__module__ or "").startswith(_HELPERS)
        is_part = bool(_compiling) and is_helper and not isinstance(dispatcher, LiftedCode)  # which runs as Python
        _compiling.append((function.__qualname__, is_part))
        self.before.append({name: dispatcher.targetoptions.get(name) for name in _NO_WRAPPERS} if is_part else None)
        if is_part:
            dispatcher.targetoptions.update(_NO_WRAPPERS)

    def on_end(self, event: Any) -> None:
        _compiling.pop()
        before = self.before.pop()
        options = event.data["dispatcher"].targetoptions if before is not None else {}
        for name, value in (before or {}).items():
            if value is None:
                del options[name]
            else:
                options[name] = value


class _Library(JITCodeLibrary):
    """A library of which all is optimised at once, not each function before."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout


class _Whole(_Library):
    """A library that machine code is made of."""

    def finalize(self) -> None:
        self._raise_if_finalized()
        for library in _below(self):
            self._reload_init.update(library._reload_init)
            is_part = isinstance(library, _Part)
            module = library._final_module if is_part else library._get_module_for_linking()
            self._final_module.link_in(module, preserve=True)
        self._optimize_final_module()
        self._final_module.verify()
        self._finalize_final_module()
        owner: Any = self._codegen
        names = [v.name for v in self._final_module.global_variables if v.name.startswith(_ENVIRONMENT)]
        self._environments = {name: lookup_environment(name) for name in names}  # machine code does not keep them
        for name, environment in self._environments.items():
            if environment is not None:
                owner.set_env(name, environment)


class _Part(_Library):
    """A library that is linked into others."""

    _made: _Whole | None = None

    @property
    def codegen(self) -> Any:
        return _Nothing if self._made is None else self._codegen

    def add_ir_module(self, ir_module: Any) -> None:
        if ir_module.name != "wrapper":  # for Python
            super().add_ir_module(ir_module)

    def finalize(self) -> None:
        _link_where_missing(self._final_module)
        for library in self._linking_libraries:
            self._reload_init.update(library._reload_init)
        self._finalized = True
        owner: Any = self._codegen
        names = [f.name for f in self._final_module.functions if not f.is_declaration]
        _by_name.update(dict.fromkeys(names, self))
        parts = [library for library in (self, *_below(self)) if isinstance(library, _Part)]
        calls_back = {name for part in parts for name in part._called_back()}
        if calls_back or not owner._rtlinker._unresolved.keys().isdisjoint(names):
            self._whole()
        for part in [_by_name[name] for name in calls_back if name in _by_name]:
            part._whole()

    def _called_back(self) -> list[str]:
        """The functions that it calls by the address that their machine code will have, as functions do that call
        themselves."""
        names = [variable.name for variable in self._final_module.global_variables]
        prefix: str = RuntimeLinker.PREFIX
        return [name.removeprefix(prefix) for name in names if name.startswith(prefix)]

    def _whole(self) -> _Whole:
        """The same with machine code."""
        with global_compiler_lock:
            self._ensure_finalized()
            if self._made is None:
                made = _Whole(self._codegen, self.name)
                made._final_module = self._final_module.clone()
                _link_where_missing(made._final_module, "external", "linkonce_odr")
                made._linking_libraries = self._linking_libraries
                made.finalize()
                self._made = made
            return self._made

    def get_pointer_to_function(self, name: str) -> Any:
        self._ensure_finalized()
        return _NOT_CALLABLE if name.startswith(_CALLED_BY_PYTHON) else self._whole().get_pointer_to_function(name)

    def _get_module_for_linking(self) -> Any:
        return self._whole()._get_module_for_linking()


class _Nothing:
    """What owns the machine code of a part."""

    @staticmethod
    def set_env(name: str, environment: Any) -> None:
        """Whatever the part is linked into does it."""


def _link_where_missing(module: Any, new: str = "linkonce_odr", old: str = "external") -> None:
    """Let the functions of a module be taken into others, once each, where they are called."""
    for function in module.functions:
        if not function.is_declaration and function.linkage.name == old:
            function.linkage = new


def _below(library: Any) -> list[Any]:
    """The libraries that one is linked with, and those that its parts are, each before those that it calls: LLVM takes
    what is missing from a module."""
    found: dict[Any, None] = {}

    def visit(one: Any) -> None:
        for below in reversed(one._linking_libraries):
            if below not in found:
                if isinstance(below, _Part):
                    visit(below)
                found[below] = None

    visit(library)
    return list(reversed(found))


class _Libraries:
    """In place of the class of libraries."""

    def __call__(self, codegen: Any, name: str) -> Any:
        return _Whole(codegen, name) if not _compiling or _compiling[-1] == (name, False) else _Part(codegen, name)

    @staticmethod
    def _unserialize(codegen: Any, state: Any) -> Any:
        _compiling.append((state[0], False))
        try:
            return JITCodeLibrary._unserialize(codegen, state)
        finally:
            _compiling.pop()


@contextmanager
def linked_once() -> Iterator[None]:
    """Compile functions so, where Numba's libraries are as this knows them."""
    with global_compiler_lock:
        rtsys.initialize(cpu_target.target_context)
        owner: Any = cpu_target.target_context.codegen()
        known = JITCodeLibrary(owner, "known")
        links = hasattr(getattr(owner, "_rtlinker", None), "_unresolved")
        if "_library_class" in vars(owner) or not links or not all(hasattr(known, name) for name in _NEEDED):
            yield
            return
        owner._library_class = _Libraries()
        listener = _Compiling()
        event.register("numba:compile", listener)
        try:
            yield
        finally:
            event.unregister("numba:compile", listener)
            del owner._library_class
