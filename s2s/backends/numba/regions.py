"""Statements of a compiled function that Python runs: those at which Numba stops although Python makes their calls.

    left, right = divide(z, saved.pop())  ->  t = saved.pop()
                                              left, right = region(z, t)

What the statement reads is handed to Python, and what it assigns comes back; arrays that it writes to are the same
memory. The types of what it assigns are those in a run of the function as Python, on the arguments of the call that it
is compiled for. Where they are others in another call, the whole function runs as Python.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba import types

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
        self.types[found.lineno] = observed
        return True

    def _statements(self) -> list[Any]:
        return [s for s in ast.walk(self.node) if isinstance(s, (ast.Assign, ast.AugAssign, ast.Expr))]

    def _observe(self, statement: ast.stmt) -> dict[str, Any] | None:
        """The types of what a statement assigns; None where they differ or Numba has none."""
        names = sorted(set(store_names(statement)))
        appended = _appended(statement)
        is_append = appended is not None
        node, found = copy.deepcopy(self.node), []

        def observe(value: Any) -> Any:
            found.append(value)
            return value

        seen = ast.Call(name_of(_OBSERVE), [_tuple(names) if appended is None else copy.deepcopy(appended)], [])
        _After(statement.lineno, ast.Expr(seen), is_append).visit(node)
        run = self.linked(ast.fix_missing_locations(node), None, {_OBSERVE: observe})
        try:
            with np.errstate(all="ignore"):
                run(*(self.samples[a.arg] for a in node.args.args))
        except Exception:  # which the call that comes raises, too
            return None
        kinds = [{"": _type_of(value)} if is_append else dict(zip(names, map(_type_of, value), strict=True))
                 for value in found]
        if not kinds or None in kinds[0].values() or any(kind != kinds[0] for kind in kinds):
            return None
        return kinds[0]

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
        read = sorted(n.id for n in ast.walk(body) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
        read += [body.target.id] if isinstance(body, ast.AugAssign) and isinstance(body.target, ast.Name) else []
        inputs = [name for name in dict.fromkeys(read) if name in self.variables or name in hoisted.found]
        region = self._function(inputs, body, sorted(observed))
        call = ast.Call(known("region", self._helper(region, inputs, observed)), [name_of(n) for n in inputs], [])
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
    def _helper(region: Any, inputs: list[str], observed: dict[str, Any]) -> Any:
        kinds = [observed[name] for name in sorted(observed)]
        result = types.none if not kinds else kinds[0] if len(kinds) == 1 else types.Tuple(kinds)

        def choose(given: tuple[Any, ...]) -> Any:
            named = dict(zip(inputs, given, strict=True))
            return through_python(region, [DYNAMIC] * len(inputs), {}, named, result, converter(result, may_copy=False))

        return chosen_by_types(region, inputs, choose)


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


class _After(ast.NodeTransformer):
    """Puts a statement behind the one at a line, or its expression in the place of what that appends."""

    def __init__(self, line: int, statement: ast.Expr, is_append: bool) -> None:
        self.line = line
        self.statement = statement
        self.is_append = is_append

    def generic_visit(self, node: ast.AST) -> Any:
        super().generic_visit(node)
        if not isinstance(node, (ast.Assign, ast.AugAssign, ast.Expr)) or getattr(node, "lineno", 0) != self.line:
            return node
        if self.is_append:
            node.value.args = [self.statement.value]  # type: ignore[attr-defined, union-attr]
            return node
        return [node, self.statement]


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
