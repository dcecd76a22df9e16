"""Names of modules in, the definitions behind them out, with all that these read in turn: what belongs to s2s or to the
user is written out, what an installed package has is imported.
"""

from __future__ import annotations

import ast
import builtins
import enum
import functools
import importlib
import inspect
import math
import sys
import sysconfig
import types
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from s2s.arrays import made_by
from s2s.core.inspection import with_article
from s2s.core.lines import indented, lines_of
from s2s.core.public import role
from s2s.directives.checkpointing import Checkpoint
from s2s.directives.decorated import Differentiable
from s2s.directives.numeric import Numeric
from s2s.directives.policies import Chosen
from s2s.errors import CATALOGUE, DifferentiationError
from s2s.frontend.sources import Source, find
from s2s.shipping.uses import Use, bound_anywhere, bound_names, uses_of

__all__ = ["CannotShip", "Gathering", "Symbol", "is_written_out"]

LARGEST = 10_000
"""Arrays of more numbers are not written out."""


STANDING = {
    ("s2s.directives.user_rules", "custom_gradient"): (
        "def custom_gradient(f):\n    return lambda *args, **kwargs: f(*args, **kwargs)[0]"),
    ("s2s.directives.policies", "watched"): "def watched(manager):\n    return manager",
}
"""What only tells the compiler something, as it is without one."""

SILENT = {"checkpoint", "defjvp", "defvjp", "differentiable", "partials", "register_gradient", "straight_through"}
"""Decorators of s2s with which a function computes what it computes without them."""

SAYING = (Differentiable, Chosen, Checkpoint, Numeric)
"""The objects around a function that compute what it computes, and say something of its derivative."""


class CannotShip(Exception):
    """The code reads something that cannot be written as source; the message is for the user."""


@dataclass(eq=False)
class Symbol:
    """Something that the module defines or imports under a name.

    ``name`` is the one that it would like; of s2s that ``is_private`` gets one without underscores in front. ``text``
    is its source, in which each place in ``edits`` (start and end, in bytes) is to be replaced by a symbol's name, or a
    text; ``line`` what imports it, with ``{}`` for `` as name``. ``local`` are the names that its source binds.
    """

    name: str
    text: str = ""
    line: str = ""
    edits: list[tuple[int, int, Any]] = field(default_factory=list)
    needs: list[Symbol] = field(default_factory=list)
    local: frozenset[str] = frozenset()
    is_private: bool = False


class Gathering:
    """What was gathered so far, in order: each symbol after those that it needs. Where the module runs beside
    s2s, nothing of that is written out, and ``data`` holds what cannot be written as source and goes along as it is."""

    def __init__(self, data: list[Any] | None = None) -> None:
        self.data = data
        self.symbols: list[Symbol] = []
        self._known: dict[Any, Symbol] = {}
        self._trees: dict[str, tuple[str, ast.Module]] = {}
        self._kept: list[Any] = []
        self.codes: set[str] = set()

    # --- names

    def of_module(self, module: types.ModuleType, name: str) -> Any:
        """What a name of a module stands for: a symbol, or a module whose names are looked up in turn."""
        if not hasattr(module, name) and not hasattr(builtins, name):
            raise CannotShip(f"`{module.__name__}` has no `{name}` when it is imported")
        if name in vars(builtins) and name not in vars(module):
            return None
        if not self._is_written_out(module):
            return self.imported(module.__name__, name)
        if module.__name__ == "s2s.errors" and name == "error":
            return self._error()
        if (module.__name__, name) in STANDING:
            return self._standing(module.__name__, name)
        if module.__name__ == "s2s.core.public":
            raise CannotShip("it asks the compiler when it runs")
        key = (module.__name__, name)
        if key not in self._known:
            self._defined(key, module, name)
        return self._known[key]

    def of_function(self, function: types.FunctionType, name: str) -> Any:
        """What a global name stands for in a function."""
        module = sys.modules.get(function.__globals__.get("__name__", ""))
        if module is not None and vars(module) is function.__globals__:
            return self.of_module(module, name)
        if name in function.__globals__:
            return self.value(function.__globals__[name], name)
        if name in vars(builtins):
            return None
        raise CannotShip(f"`{name}` has no value")

    def _defined(self, key: Any, module: types.ModuleType, name: str) -> None:
        """Note what a module binds to a name."""
        value = getattr(module, name)
        text, statement = self._statement(module, name)
        is_own = isinstance(statement, ast.ClassDef) or (
            isinstance(statement, ast.FunctionDef) and _is_made_by(statement, value)) or (
            isinstance(statement, (ast.Assign, ast.AnnAssign)) and _is_own_binding(statement)
            and self._gives_again(module, statement, value))
        if isinstance(statement, (ast.Import, ast.ImportFrom)) or isinstance(value, types.ModuleType):
            self._known[key] = self._of_import(module, statement, name, value)
        elif is_own and statement is not None:
            if isinstance(value, types.FunctionType) and not module.__name__.startswith("s2s."):
                _source_of(value)  # the file may have been edited since it was imported
            self._chunk(key, name, module, text, statement)
        else:
            self._value(key, name, value, module)

    def _of_import(self, module: types.ModuleType, statement: ast.stmt | None, name: str, value: Any) -> Any:
        if isinstance(statement, ast.Import):
            dotted = next((a.name for a in statement.names if not a.asname and a.name.startswith(f"{name}.")), None)
            if dotted is not None and not self._is_written_out(value):
                return self._by_line(f"import {dotted}", name)
        if isinstance(value, types.ModuleType):
            return value if self._is_written_out(value) else self.imported(value.__name__, None, name)
        if not isinstance(statement, ast.ImportFrom):
            return self.value(value, name)
        owner = _module_of(module, statement)
        alias = next(a for a in statement.names if (a.asname or a.name) == name)
        found = self.of_module(importlib.import_module(owner), alias.name)
        return found

    def _is_written_out(self, module: types.ModuleType) -> bool:
        return is_written_out(module) and not (self.data is not None and module.__name__.partition(".")[0] == "s2s")

    def imported(self, module: str, attribute: str | None, name: str | None = None) -> Symbol:
        """A module, or what it has."""
        key = ("import", module, attribute)
        if key not in self._known:
            wanted = name or attribute or module.rpartition(".")[2]
            parent, _, last = module.rpartition(".")
            if attribute is not None:
                line = f"from {module} import {attribute}{{}}"
            else:
                line = f"from {parent} import {last}{{}}" if parent else f"import {module}{{}}"
            self._known[key] = Symbol(wanted, line=line)
            self.symbols.append(self._known[key])
        return self._known[key]

    def _standing(self, module: str, name: str) -> Symbol:
        """What stands for something that only the compiler needs."""
        if (module, name) not in self._known:
            self._known[module, name] = Symbol(name, STANDING[module, name])
            self.symbols.append(self._known[module, name])
        return self._known[module, name]

    def _by_line(self, line: str, name: str) -> Symbol:
        """What a line imports under a name that cannot be another."""
        if line not in self._known:
            self._known[line] = Symbol(name, line=line)
            self.symbols.append(self._known[line])
        return self._known[line]

    def _error(self) -> Symbol:
        """What stands for the errors of s2s."""
        if "error" not in self._known:
            self._known["error"] = Symbol("error", local=frozenset(("code", "fields")))
            self.symbols.append(self._known["error"])
        return self._known["error"]

    def finish(self) -> None:
        """Write what is known only at the end: the messages of the errors that may be raised."""
        if "error" in self._known:
            shown = "".join(f'    "{code}": {_quoted(CATALOGUE[code][1])},\n' for code in sorted(self.codes))
            self._known["error"].text = (
                f"def error(code, **fields):\n    messages = {{\n{indented(shown)}    }}\n"
                '    return ValueError(f"{messages[code].format(**fields)} [{code}]")'
            )

    # --- definitions

    def _statement(self, module: types.ModuleType, name: str) -> tuple[str, ast.stmt | None]:
        """The text of a module and its last statement that binds a name."""
        try:
            if module.__name__ not in self._trees:
                text = "".join(lines_of(inspect.getsource(module), keepends=True))
                self._trees[module.__name__] = text, ast.parse(text)
        except (OSError, TypeError, SyntaxError):
            return "", None
        text, tree = self._trees[module.__name__]
        found = [s for s in tree.body if name in bound_names([s])]
        return text, found[-1] if found else None

    def _chunk(self, key: Any, name: str, module: types.ModuleType, text: str, statement: ast.stmt) -> None:
        """Note a statement, and what it reads."""
        first = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", ()))])
        source = "\n".join(lines_of(text)[first - 1 : statement.end_lineno])
        symbol = self._known[key] = Symbol(name, source, is_private=module.__name__.startswith("s2s."))
        node = ast.parse(source).body[0]
        self.rewrite(symbol, node, lambda used: self.of_module(module, used), vars(module))
        self.symbols.append(symbol)

    def rewrite(self, symbol: Symbol, node: ast.stmt, look_up: Any, values: Mapping[str, Any]) -> None:
        """Note in a symbol what its source reads, and where; ``look_up`` says what a name stands for, ``values`` what
        it is."""
        starts = _starts(symbol.text)
        local = self._imports_inside(symbol, node, starts)
        symbol.local = bound_anywhere(node)
        self._name_itself(symbol, node, starts)
        dropped = self._drop_decorators(symbol, node, values, starts)
        own = getattr(node, "name", None)
        for use in uses_of(node):
            if id(use.nodes[0]) in dropped or use.path[0] == "__class__":
                continue
            if use.path[0] == own:
                symbol.edits.append((*_extent(starts, use.nodes[0]), symbol))
            else:
                self._note_use(symbol, use, local, look_up, starts)
        texts = {n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
        self.codes |= texts & CATALOGUE.keys()

    def rewrite_part(self, symbol: Symbol, node: ast.stmt, look_up: Any, values: Mapping[str, Any]) -> None:
        """Note in a symbol what a statement of its source reads; ``values`` are those of names. What it reads of the
        closure of a function gets a name."""
        starts = _starts(symbol.text)
        inside: set[int] = set()
        for cell in filter(_is_cell, ast.walk(node)):
            path = next(uses_of(cell), None)
            if path is not None and path.path[0] in values:
                scope = {path.path[0]: values[path.path[0]]}
                value = eval(compile(ast.Expression(cell), "<cell>", "eval"), scope)  # type: ignore[arg-type]
                owner = eval(compile(ast.Expression(cell.value.value.value), "<cell>", "eval"), scope)  # type: ignore
                name = owner.__code__.co_freevars[cell.value.slice.value]  # type: ignore[attr-defined]
                symbol.needs.append(found := self.value(value, name))
                symbol.edits.append((*_extent(starts, cell), found))
                inside |= {id(n) for n in ast.walk(cell)}
        for use in uses_of(node):
            if id(use.nodes[0]) not in inside:
                self._note_use(symbol, use, {}, look_up, starts)

    def _name_itself(self, symbol: Symbol, node: ast.stmt, starts: list[int]) -> None:
        """Note where a statement says its own name."""
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            word = b"def " if isinstance(node, ast.FunctionDef) else b"class "
            place = symbol.text.encode().index(word, starts[node.lineno - 1]) + len(word)
            symbol.edits.append((place, place + len(node.name.encode()), symbol))
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            symbol.edits.append((*_extent(starts, target), symbol))

    def _note_use(self, symbol: Symbol, use: Use, local: dict[str, Any], look_up: Any, starts: list[int]) -> None:
        found = local[use.path[0]] if use.path[0] in local else look_up(use.path[0])
        length = 1
        while isinstance(found, types.ModuleType):
            if length == len(use.path):
                raise CannotShip(f"it hands the module `{found.__name__}` around")
            if f"{found.__name__}.{use.path[length]}" in sys.modules and isinstance(
                    getattr(found, use.path[length], None), types.ModuleType):
                found = getattr(found, use.path[length])
                found = found if self._is_written_out(found) else self.imported(found.__name__, None)
            else:
                found = self.of_module(found, use.path[length])
            length += 1
        if found is None:
            return
        symbol.needs.append(found)
        symbol.edits.append((*_extent(starts, use.nodes[length - 1]), found))

    def _imports_inside(self, symbol: Symbol, node: ast.AST, starts: list[int]) -> dict[str, Any]:
        """What imports inside a function bind that are written out; these statements go."""
        found: dict[str, Any] = {}
        for inner in ast.walk(node):
            if not isinstance(inner, ast.ImportFrom) or inner.module is None or inner.level:
                continue
            owner = importlib.import_module(inner.module)
            if not self._is_written_out(owner):
                continue
            for alias in inner.names:
                value = getattr(owner, alias.name, None) or importlib.import_module(f"{inner.module}.{alias.name}")
                is_module = isinstance(value, types.ModuleType)
                found[alias.asname or alias.name] = value if is_module else self.of_module(owner, alias.name)
            symbol.edits.append((*_extent(starts, inner), "pass"))
            inner.names = []
        return found

    def _drop_decorators(
        self, symbol: Symbol, node: ast.AST, values: Mapping[str, Any], starts: list[int]
    ) -> set[int]:
        """Leave out decorators of s2s, which say nothing to the code as it stands; the nodes in them."""
        dropped: set[int] = set()
        for one in getattr(node, "decorator_list", ()):
            use = next(uses_of(one), None)
            value = None if use is None else values.get(use.path[0])
            name = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", None) or ""
            last = "" if use is None else use.path[-1] if isinstance(value, types.ModuleType) else _own_name(value)
            if name.partition(".")[0] == "s2s" and ("s2s.directives.user_rules", last) not in STANDING:
                is_of_model = value is role and values["__name__"].startswith("s2s.models.")  # computes what it says
                if symbol.is_private and not is_of_model:
                    raise CannotShip("it asks the compiler when it runs")
                if last not in SILENT and not is_of_model:
                    raise CannotShip(f"`{getattr(node, 'name', symbol.name)}` is decorated with `{last}` of s2s")
                start, end = _extent(starts, one)
                symbol.edits.append((start - 1, end + 1, ""))
                dropped |= {id(inner) for inner in ast.walk(one)}
        return dropped

    # --- values

    def _gives_again(self, module: types.ModuleType, statement: ast.Assign | ast.AnnAssign, value: Any) -> bool:
        """Whether the statement, run again, gives what the name stands for. Only functions of NumPy's are called to
        find out; where others are, and the value can be written, it is written."""
        calls = [n for n in ast.walk(statement) if isinstance(n, ast.Call)]
        if statement.value is None or (not calls and module.__name__.startswith("s2s.")):
            return True  # s2s binds anew what it keeps from call to call
        pure = all(
            isinstance(c.func, ast.Attribute) and isinstance(c.func.value, ast.Name)
            and vars(module).get(c.func.value.id) is np and callable(getattr(np, c.func.attr, None)) for c in calls
        )
        if pure:
            try:
                code = compile(ast.Expression(statement.value), "<again>", "eval")
                again = eval(code, {**vars(module)})
                return again is value or _is_like(again, value)
            except Exception:
                return False
        return self.data is None and not self.can_be_written(value)

    def can_be_written(self, value: Any) -> bool:
        """Whether a value is data."""
        if isinstance(value, (tuple, list, set, frozenset)) and type(value) in (tuple, list, set, frozenset):
            return all(map(self.can_be_written, value))
        if type(value) is dict:
            return all(map(self.can_be_written, value)) and all(map(self.can_be_written, value.values()))
        if type(value) is np.ndarray:
            return value.dtype.kind in "biufc" and value.size <= LARGEST
        return value is None or type(value) in (bool, int, float, complex, str, bytes) or isinstance(value, np.generic)

    def _value(self, key: Any, name: str, value: Any, module: types.ModuleType | None) -> None:
        """Note a value under a name."""
        symbol = self.value(value, name)
        self._known[key] = symbol

    def value(self, value: Any, name: str) -> Any:
        """What stands for a value that has no name of its own: a symbol, or a module that is written out."""
        self._kept.append(value)  # its id stays its own
        origin = made_by(value) if isinstance(value, (types.ModuleType, types.FunctionType)) else None
        if origin is not None:
            return self._counterpart(*origin, name)
        if isinstance(value, types.ModuleType):
            return value if self._is_written_out(value) else self.imported(value.__name__, None, name)
        key = ("value", id(value), name)
        if key in self._known:
            return self._known[key]
        if isinstance(value, SAYING):
            return self.value(value.func, name)  # what is said of its derivative has been said
        found = self._by_path(value)
        if found is not None:
            self._known[key] = found
            return found
        if isinstance(value, types.FunctionType):
            return self._function(key, value, name)
        symbol = Symbol(name)
        pieces = _Pieces(self, symbol, "")
        pieces.refer(symbol)
        pieces.text += " = "
        pieces.write(value)
        symbol.text = pieces.text
        self._known[key] = symbol
        self.symbols.append(symbol)
        return symbol

    def _counterpart(self, module: types.ModuleType, path: str, attribute: str, name: str) -> Symbol:
        """What stands for NumPy, or a helper, in code for arrays of another module."""
        if self.data is None:
            raise CannotShip(f"it is for arrays of {module.__name__}, for which s2s stands in the place of NumPy")
        key = ("counterpart", module.__name__, path, attribute)
        if key not in self._known:
            symbol = self._known[key] = Symbol(attribute or name)
            pieces = _Pieces(self, symbol, "")
            pieces.refer(symbol)
            pieces.text += " = "
            pieces.refer(self.imported("s2s.arrays", "on"))
            pieces.text += "("
            pieces.refer(self.imported(module.__name__, None))
            pieces.text += f', "{path}")' + (f".{attribute}" if attribute else "")
            symbol.text = pieces.text
            self.symbols.append(symbol)
        return self._known[key]

    def _by_path(self, value: Any) -> Any:
        """A function or class by its place in a module."""
        owner, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None) or getattr(
            value, "__name__", None)
        if isinstance(value, np.ufunc):
            owner, name = "numpy", value.__name__
        if not isinstance(owner, str):
            return None
        module = sys.modules.get(owner)
        if module is None or not isinstance(name, str) or "." in name or getattr(module, name, None) is not value:
            return None
        if owner == "builtins":
            return None
        if owner.startswith("numpy.") and getattr(np, name, None) is value:
            owner, module = "numpy", np
        return self.of_module(module, name)

    def _function(self, key: Any, value: types.FunctionType, name: str) -> Symbol:
        """A function that is no name of a module: its source, with what it has in its closure."""
        name = name if name.isidentifier() else value.__name__.strip("<>")
        source = _source_of(value)
        text = source.text.rstrip("\n")
        text = f"{name} = {f'({text})' if len(source.removed) > 1 else text}" if source.is_lambda else text
        node = ast.parse(text).body[0]
        symbol = self._known[key] = Symbol(name, text)

        def look_up(used: str) -> Any:
            return self.value(cells[used], used) if used in cells else self.of_function(value, used)

        cells = {used: cell.cell_contents for used, cell in source.closure.items()}
        self.rewrite(symbol, node, look_up, {**value.__globals__, **cells})
        self.symbols.append(symbol)
        return symbol


def _is_cell(node: ast.AST) -> bool:
    """Whether it is ``f.__closure__[0].cell_contents``."""
    match node:
        case ast.Attribute(ast.Subscript(ast.Attribute(_, "__closure__"), ast.Constant()), "cell_contents"):
            return True
        case _:
            return False


def _quoted(text: str) -> str:
    return f'"{text}"' if '"' not in text and "\\" not in text else repr(text)


class _Pieces:
    """The text of a value, piece by piece, with the symbols in it."""

    def __init__(self, gathering: Gathering, symbol: Symbol, text: str) -> None:
        self.gathering = gathering
        self.symbol = symbol
        self.text = text

    def refer(self, found: Symbol) -> None:
        start = len(self.text.encode())
        self.text += found.name
        if found is not self.symbol:
            self.symbol.needs.append(found)
        self.symbol.edits.append((start, len(self.text.encode()), found))

    def write(self, value: Any) -> None:
        kind = type(value)
        if kind is float and not math.isfinite(value):
            self.text += f'float("{value}")'
        elif value is None or kind in (bool, int, float, complex, str, bytes, type(...)):
            self.text += "..." if value is ... else repr(value)
        elif kind in (tuple, list):
            self._items("[" if kind is list else "(", value, "]" if kind is list else ",)" if len(value) == 1 else ")")
        elif kind in (set, frozenset):
            self._items(f"{kind.__name__}([", sorted(value, key=repr), "])")
        elif kind is dict:
            self._dict(value)
        elif kind is np.ndarray and value.dtype.kind in "biufc" and value.size <= LARGEST:
            self._numpy("array", f"({value.tolist()!r}, dtype={value.dtype.str!r})".replace("nan", 'float("nan")')
                        .replace("inf", 'float("inf")'))
        elif isinstance(value, np.generic) and value.dtype.kind in "biufc":
            self._numpy(kind.__name__.replace("bool_", "bool"), f"({value.item()!r})")
        elif isinstance(value, np.dtype):
            self._numpy("dtype", f"({value.str!r})")
        elif kind is slice:
            self._items("slice(", [value.start, value.stop, value.step], ")")
        elif isinstance(value, SAYING):
            self.write(value.func)
        elif kind is functools.partial:
            self.refer(self.gathering.imported("functools", "partial"))
            self._items("(", [value.func, *value.args], "")
            for name, item in value.keywords.items():
                self.text += f", {name}="
                self.write(item)
            self.text += ")"
        elif getattr(builtins, getattr(value, "__name__", ""), None) is value:
            self.text += str(getattr(value, "__name__", ""))
        elif isinstance(value, (types.FunctionType, type, np.ufunc, types.BuiltinFunctionType)):
            self._named(value)
        elif isinstance(value, enum.Enum):
            self._named(kind)
            self.text += f".{value.name}"
        else:
            self._object(value)

    def _object(self, value: Any) -> None:
        """An object of a class written in Python, made as it is. Raises CannotShip for others."""
        kind = type(value)
        own = getattr(value, "__dict__", None)
        is_plain = all(base is object or "__slots__" not in vars(base) for base in kind.__mro__)
        start = f"{self.symbol.name} = "
        is_made = kind.__new__ is object.__new__ and self.text == start
        if (not isinstance(own, dict) or not is_plain or not is_made) and self.gathering.data is not None:
            self.text += f"__s2s_data__[{len(self.gathering.data)}]"
            self.gathering.data.append(value)
            return
        if not isinstance(own, dict) or not is_plain or not is_made:
            made = with_article(kind.__name__)
            raise CannotShip(f"`{self.symbol.name}` is {made}, which cannot be written as source")
        self.text += "object.__new__("
        self._named(kind)
        self.text += ")"
        if own:
            self.text += "\nvars("
            self.refer(self.symbol)
            self.text += ").update("
            self.write(own)
            self.text += ")"

    def _named(self, value: Any) -> None:
        found = self.gathering._by_path(value)
        if found is None and isinstance(value, types.FunctionType):
            found = self.gathering.value(value, value.__name__)
        if not isinstance(found, Symbol) or found is self.symbol:
            raise CannotShip(f"`{getattr(value, '__qualname__', self.symbol.name)}` is not a name of its module")
        self.refer(found)

    def _numpy(self, name: str, rest: str) -> None:
        self.refer(self.gathering.imported("numpy", None, "np"))
        self.text += f".{name}{rest}"

    def _items(self, left: str, values: Any, right: str) -> None:
        self.text += left
        for k, value in enumerate(values):
            self.text += ", " if k else ""
            self.write(value)
        self.text += right

    def _dict(self, value: dict[Any, Any]) -> None:
        self.text += "{"
        for k, (name, item) in enumerate(value.items()):
            self.text += ", " if k else ""
            self.write(name)
            self.text += ": "
            self.write(item)
        self.text += "}"


# --- modules ------------------------------------------------------------------------------------------------

_INSTALLED = tuple(
    path for name in ("stdlib", "platstdlib", "purelib", "platlib") if (path := sysconfig.get_paths().get(name)))


def is_written_out(module: types.ModuleType) -> bool:
    """Whether what a module has is written out: it is of s2s, or of the user; installed packages are imported."""
    top = module.__name__.partition(".")[0]
    if top == "s2s":
        return True
    file = getattr(module, "__file__", None)
    if top == "__main__":
        return True
    if top in sys.stdlib_module_names or file is None:
        return False
    return not ("site-packages" in file or "dist-packages" in file or file.startswith(_INSTALLED))


def _module_of(module: types.ModuleType, statement: ast.ImportFrom) -> str:
    """The module that a statement of another one imports from."""
    if not statement.level:
        return statement.module or ""
    package = module.__name__ if hasattr(module, "__path__") else module.__name__.rpartition(".")[0]
    for _ in range(statement.level - 1):
        package = package.rpartition(".")[0]
    return f"{package}.{statement.module}" if statement.module else package


def _own_name(value: Any) -> str:
    return str(getattr(value, "__name__", ""))


def _is_made_by(statement: ast.FunctionDef, value: Any) -> bool:
    """Whether a definition is the one of what its name stands for: the name may have been given something else."""
    if statement.decorator_list or not isinstance(value, types.FunctionType):
        return bool(statement.decorator_list)
    return (value.__code__.co_name, value.__code__.co_firstlineno) == (statement.name, statement.lineno)


def _is_like(again: Any, value: Any) -> bool:
    """Whether what a statement gives is what its name stands for."""
    if type(again) is not type(value):
        return False
    if isinstance(value, types.FunctionType):
        return again.__code__ == value.__code__
    if isinstance(value, np.ndarray):
        return again.dtype == value.dtype and np.array_equal(again, value)
    return bool(again == value)


def _is_own_binding(statement: ast.Assign | ast.AnnAssign) -> bool:
    """Whether a statement binds one name."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return len(targets) == 1 and isinstance(targets[0], ast.Name)


def _source_of(value: types.FunctionType) -> Source:
    """The source of a function, which is that of the code that runs. Raises CannotShip."""
    try:
        return find(value)
    except DifferentiationError as problem:
        raise CannotShip(f"the source of `{value.__qualname__}` is not there") from problem


def _starts(text: str) -> list[int]:
    """Where the lines of a text begin, in bytes."""
    found = [0]
    for line in text.encode().split(b"\n"):
        found.append(found[-1] + len(line) + 1)
    return found


def _extent(starts: list[int], node: Any) -> tuple[int, int]:
    """Where a node begins and ends, in bytes."""
    return starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset
