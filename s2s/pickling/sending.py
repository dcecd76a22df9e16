"""Functions and what is made of them in, what pickle writes for them out: their names, and their source.

    reduced(s2s.grad(loss))      for ``__reduce_ex__``

Where the name of a function leads to the same source, in the process that unpickles it, it is that function: so it is
in this process, in those that ``multiprocessing`` starts, and wherever its module is installed. Elsewhere it is made
from its source, with what it reads of its module as that is now. The same holds for the functions and classes that it
reads. What installed packages have goes by name.

``docs/design/pickling.md`` says why.
"""

from __future__ import annotations

import functools
import pickle
import re
import sys
import types
from typing import Any

import numpy as np

from s2s.analysis.steps.packages import package_of_file
from s2s.errors import DifferentiationError, error
from s2s.pickling import received
from s2s.pickling.chunks import Chunk, Place, chunk_of, chunk_of_class
from s2s.pickling.names import named, names_of_attributes, read_at_once, read_later
from s2s.rules import table

__all__ = ["reduced"]

LARGEST = 10_000_000
"""So many bytes of what a function of an importable module reads go along with it."""

_ATOMS = (type(None), bool, int, float, complex, str, bytes, type(...), type(NotImplemented))
_CONTAINERS = (tuple, list, dict, set, frozenset)


def reduced(made: Any) -> Any:
    """What ``__reduce_ex__`` of an object gives that s2s has made of a function: of its class, ``__s2s_made__`` says by
    what and of what."""
    return _Sending().of_made(made)


class _Sent:
    """Stands for an object in a pickle."""

    def __init__(self, reduce: Any) -> None:
        self.reduce = reduce

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.reduce()


class _Sending:
    """One pickle: what stands for what in it."""

    def __init__(self) -> None:
        self._known: dict[Any, tuple[Any, _Sent]] = {}

    def given(self, value: Any) -> Any:
        """What stands for what the user has made a derivative of. An object is written as pickle writes it, once: it
        may be elsewhere in the same pickle."""
        return self._stand_in(value, of_user=False)

    def read(self, value: Any, name: str, reader: str, is_left: bool, limit: float) -> Any:
        """What stands for something that a function reads under a name. What cannot be pickled, or is larger than the
        limit, stays where it is, if it may."""
        found = self._stand_in(value, of_user=True)
        is_code = isinstance(value, (type, types.FunctionType))
        if isinstance(value, _ATOMS) or (is_code and named(value) is not None) or (found is not value and not is_left):
            return found
        size = int(value.nbytes) if isinstance(value, np.ndarray) else 0
        reason = f"it has {size / 1e6:.0f} MB" if size > limit else _trouble(found)
        if reason and not is_left:
            raise pickle.PicklingError(f"`{name}`, which `{reader}` reads, cannot be pickled: {reason}")
        return received.Left(name, reader, reason) if reason else found

    # --- what stands for what

    def _stand_in(self, value: Any, of_user: bool) -> Any:
        if isinstance(value, _ATOMS) or type(value) is np.ndarray:
            return value
        key = id(value), of_user
        if key not in self._known:
            reduce = self._reducer(value, of_user)
            if reduce is None:
                return value
            self._known[key] = value, _Sent(reduce)
        return self._known[key][1]

    def _reducer(self, value: Any, of_user: bool) -> Any:
        """What writes a value; None for one that pickle writes as it is."""
        kind = type(value)
        if kind is types.ModuleType:
            return lambda: (received.module, (value.__name__,))
        if hasattr(kind, "__s2s_made__"):
            return lambda: self.of_made(value)
        if kind is types.FunctionType:
            return (lambda: self._function(value)) if _is_sent(value) else None
        if isinstance(value, type):
            return (lambda: self._class(value)) if _is_of_user(value) else None
        if kind is types.CellType:
            return lambda: self._cell(value)
        if kind is types.MethodType:
            return lambda: self._method(value, of_user)
        if kind is functools.partial:
            parts = value.func, value.args, value.keywords
            return lambda: (received.partial, tuple(self._part(part, of_user) for part in parts))
        if kind in _CONTAINERS and self._holds(value, of_user, set()):
            return lambda: self._container(value, of_user)
        if _is_of_user(kind) and (of_user or named(kind) is None):
            return lambda: self._object(value)
        if _of_program(kind.__module__) == "__main__":
            return lambda: self._by_class(value)
        return None

    def _part(self, value: Any, of_user: bool) -> Any:
        return self._stand_in(value, of_user)

    def _holds(self, value: Any, of_user: bool, seen: set[int]) -> bool:
        """Whether a container holds something that another thing stands for."""
        if type(value) not in _CONTAINERS:
            return not isinstance(value, _ATOMS) and type(value) is not np.ndarray and (
                self._reducer(value, of_user) is not None)
        if id(value) in seen:
            return False
        seen.add(id(value))
        items = [*value, *value.values()] if type(value) is dict else value
        return any(self._holds(item, of_user, seen) for item in items)

    def _container(self, value: Any, of_user: bool) -> Any:
        def part(item: Any) -> Any:
            return self._part(item, of_user)

        if type(value) is list:
            return list, (), None, iter([part(item) for item in value])
        if type(value) is dict:
            return dict, (), None, None, iter([(part(key), part(item)) for key, item in value.items()])
        return received.container, (type(value).__name__, *map(part, value))

    def _by_class(self, value: Any) -> Any:
        """An object of a class of the program, as pickle writes it: by the name of its class, which is looked for
        first where it is read, so that whoever lacks it is told."""
        kind = type(value)
        if _writes_classes():
            return received.with_texts, (value, _texts(kind))
        wanted = _Sent(lambda: (received.wanted, (kind.__qualname__,)))
        return received.of_class, (wanted, value, _texts(kind))

    # --- functions and what is made of them

    def of_made(self, made: Any) -> Any:
        """An object that s2s has made: by its name where that leads to it, else made anew."""
        maker, args = made.__s2s_made__()
        name = named(made)
        parts = tuple(self.given(part) for part in args)
        return (maker, parts) if name is None else (received.decorated, (_of_program(name[0]), name[1], maker, *parts))

    def _function(self, fn: types.FunctionType) -> Any:
        name = named(fn)
        try:
            chunk, place = chunk_of(fn)
        except (DifferentiationError, OSError) as problem:
            if name is None:
                reason = str(problem).split("\n")[0]
                raise pickle.PicklingError(str(error("S2S710", name=fn.__qualname__, reason=reason))) from None
            return received.by_name, name
        return self._by_source(fn, name, chunk, place)

    def _by_source(self, fn: types.FunctionType, name: Any, chunk: Chunk, place: Place) -> Any:
        is_left, limit = name is not None, LARGEST if name and _of_program(name[0]) != "__main__" else float("inf")

        def read(value: Any, of: str) -> Any:
            return self.read(value, of, fn.__qualname__, is_left, limit)

        scope, code = fn.__globals__, fn.__code__
        values = {key: self._global(scope[key], key, code, read) for key in sorted(read_later(code)) if key in scope}
        own = {key: read(value, key) for key, value in vars(fn).items() if not key.startswith(("__s2s", "__wrapped__"))}
        state = {
            "scope": self._scope(scope), "globals": values, "own": own,
            "defaults": read(fn.__defaults__, "its defaults"), "keywords": read(fn.__kwdefaults__, "its defaults"),
            "rules": self._rules(fn, read),
        }
        cells = tuple(self._part(cell, True) for cell in fn.__closure__ or ())
        about = (_of_program(fn.__module__), fn.__name__, fn.__qualname__, name is not None)
        args = (about, chunk, place, code.co_freevars, cells, self._scope(scope))
        return received.function, args, state, None, None, received.fill

    def _global(self, value: Any, key: str, code: types.CodeType, read: Any) -> Any:
        """What stands for a variable of a module; for a module of the user's, for what code may read of it."""
        if not isinstance(value, types.ModuleType):
            return read(value, key)
        if not _is_module_of_user(value):
            return _Sent(lambda: (received.module, (value.__name__,)))
        names = names_of_attributes(code) & vars(value).keys()
        own = {name: self._global(vars(value)[name], name, code, read) for name in sorted(names)}
        return _Sent(lambda: (received.module_with, (value.__name__, own)))

    def _scope(self, scope: dict[str, Any]) -> Any:
        """What stands for the variables of a module: one dict for all functions of it."""
        key = "scope", id(scope)
        if key not in self._known:
            name = _of_program(str(scope.get("__name__", "")))
            self._known[key] = scope, _Sent(lambda: (received.scope, (name,)))
        return self._known[key][1]

    def _rules(self, fn: types.FunctionType, read: Any) -> Any:
        """The rules that the user has given to a function."""
        rule = table.rule_of_user(fn)
        if rule is None:
            return None
        rules = {"pullback": rule.pullback, "pushforward": rule.pushforward, "partials": rule.partials}
        return read(rules, "its rules")

    def _cell(self, cell: types.CellType) -> Any:
        try:
            content = cell.cell_contents
        except ValueError:  # not bound yet
            return received.cell, ()
        found = self.read(content, "a variable", "a function around it", False, float("inf"))
        return received.cell, (), (found,), None, None, received.set_cell

    def _method(self, method: types.MethodType, of_user: bool) -> Any:
        owner, name = method.__self__, method.__func__.__name__
        if getattr(owner, name, None) == method:
            return getattr, (self._part(owner, of_user), name)
        return types.MethodType, (self._part(method.__func__, of_user), self._part(owner, of_user))

    # --- classes and objects

    def _class(self, kind: type) -> Any:
        name, chunk = named(kind), chunk_of_class(kind)
        if chunk is None and name is None:
            raise pickle.PicklingError(str(error(
                "S2S710", name=kind.__qualname__, reason="it is a class that no statement at the top of a file makes")))
        if chunk is None:
            return received.by_name, (kind.__module__, kind.__qualname__)
        scope = vars(sys.modules[kind.__module__]) if kind.__module__ in sys.modules else {}
        scope = next((fn.__globals__ for fn in vars(kind).values() if isinstance(fn, types.FunctionType)), scope)
        code = compile(chunk.text, "<class>", "exec", chunk.flags, dont_inherit=True)
        at_once = read_at_once(code)
        limit = LARGEST if name and _of_program(name[0]) != "__main__" else float("inf")

        def values(names: set[str]) -> Any:
            return {
                key: self._global(scope[key], key, code, lambda value, of: self.read(
                    value, of, kind.__qualname__, name is not None, limit))
                for key in sorted(names) if key in scope and key != kind.__name__
            }

        about = (_of_program(kind.__module__), kind.__name__, name is not None)
        args = (about, chunk, self._scope(scope), values(at_once))
        later = self._scope(scope), values(read_later(code) - at_once)
        return received.made_class, args, later, None, None, received.fill_class

    def _object(self, value: Any) -> Any:
        """An object of a class of the user's, as it says itself how it is pickled."""
        found = value.__reduce_ex__(2)
        if isinstance(found, str):
            return received.by_name, (type(value).__module__, found)
        make, args, *rest = found
        state, items, pairs = [*rest, None, None, None][:3]
        part = functools.partial(self._part, of_user=True)
        return (
            part(received.plain_maker(make)), tuple(map(part, args)), part(state),
            items and iter([part(item) for item in items]),
            pairs and iter([(part(key), part(item)) for key, item in pairs]),
        )


def _of_program(module: str) -> str:
    """The name of a module; in a process of ``multiprocessing`` the program has another one."""
    return "__main__" if module == "__mp_main__" else module


# --- whose something is ---------------------------------------------------------------------------------------------


def _is_sent(fn: types.FunctionType) -> bool:
    """Whether a function goes by name and source: one of the user's, or one that no name leads to."""
    if fn.__module__ and fn.__module__.partition(".")[0] == "s2s":
        return False
    return package_of_file(fn.__code__.co_filename) is None or named(fn) is None


def _is_of_user(kind: type) -> bool:
    """Whether a class is the user's."""
    module = sys.modules.get(kind.__module__)
    if kind.__module__.partition(".")[0] in ("builtins", "s2s"):
        return False
    return module is None or _is_module_of_user(module)


def _is_module_of_user(module: types.ModuleType) -> bool:
    if module.__name__ == "__main__" or "__s2s_sent__" in vars(module):
        return True
    file = getattr(module, "__file__", None)
    is_own = module.__name__.partition(".")[0] == "s2s" or file is None
    return not is_own and package_of_file(file) is None


def _writes_classes() -> bool:
    """Whether a pickler is at work that writes the classes of a program, and not their names."""
    frame: types.FrameType | None = sys._getframe()
    while frame is not None:
        if {"cloudpickle", "dill"}.intersection(re.split(r"\W+", frame.f_code.co_filename)):
            return True
        frame = frame.f_back
    return False


def _texts(kind: type) -> list[tuple[str, Chunk]]:
    """The source of a class of the program and its bases: cloudpickle writes their code, and no source."""
    own = [base for base in kind.__mro__ if _of_program(base.__module__) == "__main__"]
    found = [(base.__name__, chunk_of_class(base)) for base in own]
    return [(name, chunk) for name, chunk in found if chunk is not None]


def _trouble(value: Any) -> str:
    """Why a value does not pickle; empty where it does."""
    if type(value) is np.ndarray and not value.dtype.hasobject:
        return ""
    try:
        pickle.dumps(value)
    except Exception as problem:
        return str(problem) or type(problem).__name__
    return ""
