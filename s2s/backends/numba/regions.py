"""Statements of a compiled function that Python runs: those at which Numba stops although Python makes their calls.

    left, right = divide(z, saved.pop())  ->  t = saved.pop()
                                              left, right = region(z, t)

What the statement reads is handed to Python, and what it assigns comes back; arrays that it writes to are the same
memory. The types of what it assigns are those in a run of the function as Python, on the arguments of the call that it
is compiled for. Where they are others in another call, the whole function runs as Python. Numbers are handed over as
what they are in that run: compiled code does not tell ``np.float64`` from ``float``, with which Python may do something
else.
"""

from __future__ import annotations

import ast
import contextlib
import copy
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba import types

from s2s import runtime as rt
from s2s.backends.numba.by_python import chosen_by_types, converter, type_of
from s2s.backends.numba.handed import through_python
from s2s.backends.numba.paths import DYNAMIC, is_array, is_number
from s2s.backends.numba.syntax import bound_names, define, name_of, names_in, store_names, store_to

__all__ = ["Regions"]

_OBSERVE = "observe_"


class Regions:
    """The regions of a function: ``linked`` makes a function of a text one that runs where the text does, with objects
    under names of their own."""

    def __init__(self, node: ast.FunctionDef, samples: dict[str, Any], linked: Callable[..., Any]) -> None:
        self.node = node
        self.samples = samples
        self.linked = linked
        self.types: dict[int, dict[str, Any]] = {}  # of what is assigned, by the first line of the statement
        self.numbers: dict[int, dict[str, type]] = {}  # of what is read
        own = {name for name, value in samples.items() if is_number(value) or is_array(value)}
        self.variables = bound_names(node) - samples.keys() | own
        self.containers = samples.keys() - own

    def lines(self) -> frozenset[int]:
        """The lines of the statements."""
        return frozenset(n for s in self._statements() if s.lineno in self.types for n in _span(s))

    def add(self, line: int) -> bool:
        """Whether the statement at a line is one that Python can run, and was none so far."""
        found = next((s for s in self._statements() if line in _span(s)), None)
        if found is None or found.lineno in self.types or names_in(found) & self.containers:
            return False
        if any(isinstance(n, (ast.Lambda, ast.Yield, ast.NamedExpr)) for n in ast.walk(found)):
            return False
        observed = self._observe(found)
        if observed is None:
            return False
        self.numbers[found.lineno], self.types[found.lineno] = observed
        return True

    def _statements(self) -> list[Any]:
        return [s for s in ast.walk(self.node) if isinstance(s, (ast.Assign, ast.AugAssign, ast.Expr))]

    def _observe(self, statement: ast.stmt) -> tuple[dict[str, type], dict[str, Any]] | None:
        """The types of numbers that a statement reads, and of what it assigns; None where they differ or Numba has
        none."""
        read, given = self._read(statement), []
        names = sorted(set(store_names(statement)))
        appended = _appended(statement)
        is_append = appended is not None
        node, found = copy.deepcopy(self.node), []

        def observe(value: Any) -> Any:
            found.append(value)
            return value

        seen = ast.Call(name_of(_OBSERVE), [_tuple(names) if appended is None else copy.deepcopy(appended)], [])
        before = ast.Call(name_of(_OBSERVE + "given"), [_tuple(read)], [])
        _Around(statement.lineno, ast.Expr(before), ast.Expr(seen), is_append).visit(node)
        objects = {_OBSERVE: observe, _OBSERVE + "given": lambda values: given.append([*map(_number_type, values)])}
        run, ended = self.linked(ast.fix_missing_locations(node), None, objects), False
        with np.errstate(all="ignore"), rt.unnoticed(), contextlib.suppress(Exception):
            run(*(self.samples[a.arg] for a in node.args.args))
            ended = True
        if not ended:  # by what the call that comes raises, too
            return None
        kinds = [{"": _type_of(value)} if is_append else dict(zip(names, map(_type_of, value), strict=True))
                 for value in found]
        if not kinds or None in kinds[0].values() or any(kind != kinds[0] for kind in kinds):
            return None
        if _MIXED in given[0] or any(some != given[0] for some in given):
            return None
        return {name: kind for name, kind in zip(read, given[0], strict=True) if kind is not None}, kinds[0]

    def _read(self, statement: ast.stmt) -> list[str]:
        """The variables that a statement reads, without lists that it takes something from or adds to."""
        lists = {id(n.func.value) for n in ast.walk(statement) if isinstance(n, ast.Call)
                 and isinstance(n.func, ast.Attribute) and n.func.attr in ("pop", "append")}
        read = sorted(n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
                      and id(n) not in lists)
        read += [statement.target.id] if isinstance(statement, ast.AugAssign) and isinstance(
            statement.target, ast.Name) else []
        return [name for name in dict.fromkeys(read) if name in self.variables]

    def replaced(self, statement: ast.stmt, known: Callable[[str, Any], ast.expr]) -> list[ast.stmt] | None:
        """What stands for a statement; None where it is no region. ``known`` gives the name of an object."""
        if not isinstance(statement, (ast.Assign, ast.AugAssign, ast.Expr)) or statement.lineno not in self.types:
            return None
        observed, before = self.types[statement.lineno], []
        body: ast.stmt = copy.deepcopy(statement)
        appended = _appended(body)
        if appended is not None:
            body = ast.copy_location(ast.Assign([store_to("appended_")], appended), body)
            observed = {"appended_": observed[""]}
        hoisted = _Popped(len(self.types))
        body = hoisted.visit(body)
        for name, call in hoisted.found.items():
            before.append(ast.Assign([store_to(name)], call))
        inputs = [*self._read(body), *hoisted.found]
        region = self._function(inputs, body, sorted(observed))
        helper = self._helper(region, inputs, self.numbers[statement.lineno], observed)
        call = ast.Call(known("region", helper), [name_of(n) for n in inputs], [])
        made: list[ast.stmt] = [*before, _assigned(sorted(observed), call)]
        if appended is not None:
            made.append(copy.deepcopy(statement))
            made[-1].value.args = [name_of("appended_")]  # type: ignore[attr-defined]
        return [ast.copy_location(s, statement) for s in made]

    def _function(self, inputs: list[str], body: ast.stmt, outputs: list[str]) -> Any:
        result: ast.expr = name_of(outputs[0]) if len(outputs) == 1 else _tuple(outputs)
        whole = define("region", inputs, [body, ast.Return(result if outputs else ast.Constant(None))])
        return self.linked(ast.fix_missing_locations(ast.copy_location(whole, body)), None, {})

    @staticmethod
    def _helper(region: Any, inputs: list[str], numbers: dict[str, type], observed: dict[str, Any]) -> Any:
        kinds = [observed[name] for name in sorted(observed)]
        result = types.none if not kinds else kinds[0] if len(kinds) == 1 else types.Tuple(kinds)

        typed = _with_types(region, [numbers.get(name) for name in inputs])

        def choose(given: tuple[Any, ...]) -> Any:
            named = dict(zip(inputs, given, strict=True))
            if any(name not in numbers and _holds_numbers(kind) for name, kind in named.items()):
                raise numba.TypingError("it is not known what numbers a list holds")
            return through_python(typed, [DYNAMIC] * len(inputs), {}, named, result, converter(result, may_copy=False))

        return chosen_by_types(region, inputs, choose)


_MIXED = object()
"""Stands for the type of a container with numbers of NumPy."""

_PLAIN = (bool, int, float, complex, str, type(None))


def _number_type(value: Any) -> Any:
    """The type of a number; None of what is none."""
    if isinstance(value, (tuple, list)):
        inside = {_number_type(item) for item in value}
        return _MIXED if inside - {None, *_PLAIN} else tuple if inside - {None} else None
    return None if isinstance(value, np.ndarray) else type(value)


def _holds_numbers(kind: Any) -> bool:
    """Whether a type is that of a number, or of a container with some."""
    if isinstance(kind, types.BaseTuple):
        return any(map(_holds_numbers, getattr(kind, "types", ())))
    return isinstance(getattr(kind, "dtype", kind) if isinstance(kind, types.List) else kind,
                      (types.Number, types.Boolean))


def _with_types(region: Any, kinds: list[type | None]) -> Any:
    """The function with numbers of NumPy where it is to have such."""
    places = [(k, kind) for k, kind in enumerate(kinds) if kind is not None and issubclass(kind, np.generic)]
    if not places:
        return region

    def typed(*values: Any) -> Any:
        made = [*values]
        for k, kind in places:
            made[k] = kind(made[k])
        return region(*made)

    return typed


def _span(statement: Any) -> range:
    return range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)


def _tuple(names: list[str]) -> ast.expr:
    return ast.Tuple([name_of(name) for name in names], ast.Load())


def _assigned(names: list[str], call: ast.expr) -> ast.stmt:
    if not names:
        return ast.Expr(call)
    target = store_to(names[0]) if len(names) == 1 else ast.Tuple([store_to(name) for name in names], ast.Store())
    return ast.Assign([target], call)


def _appended(statement: ast.stmt) -> ast.expr | None:
    """What a statement appends to a list; None where it does something else."""
    match statement:
        case ast.Expr(ast.Call(ast.Attribute(ast.Name(), "append"), [item], [])):
            return item
    return None


def _type_of(value: Any) -> Any:
    """The type of what was observed: lists of arrays or numbers have any length."""
    if isinstance(value, list):
        items = {_type_of(item) for item in value}
        if len(items) == 1 and isinstance(next(iter(items)), (types.Array, types.Number)):
            return types.List(items.pop())
    if isinstance(value, (tuple, list)):
        kinds = [_type_of(item) for item in value]
        return None if None in kinds else types.Tuple(kinds)
    is_packed = isinstance(value, np.ndarray) and value.flags.c_contiguous
    return numba.typeof(value) if isinstance(value, str) else type_of(value, is_packed)


class _Around(ast.NodeTransformer):
    """Puts statements before and behind the one at a line; what that appends is seen where it does."""

    def __init__(self, line: int, before: ast.Expr, after: ast.Expr, is_append: bool) -> None:
        self.line = line
        self.before = before
        self.after = after
        self.is_append = is_append

    def generic_visit(self, node: ast.AST) -> Any:
        super().generic_visit(node)
        if not isinstance(node, (ast.Assign, ast.AugAssign, ast.Expr)) or getattr(node, "lineno", 0) != self.line:
            return node
        if self.is_append:
            node.value.args = [self.after.value]  # type: ignore[attr-defined, union-attr]
            return [self.before, node]
        return [self.before, node, self.after]


class _Popped(ast.NodeTransformer):
    """Takes ``saved.pop()`` out of a statement: lists stay with the compiled code."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.found: dict[str, ast.expr] = {}

    def visit_Call(self, node: ast.Call) -> ast.expr:
        match node:
            case ast.Call(ast.Attribute(ast.Name(), "pop"), [], []):
                name = f"popped_{self.number}_{len(self.found)}"
                self.found[name] = node
                return ast.copy_location(name_of(name), node)
        self.generic_visit(node)
        return node
