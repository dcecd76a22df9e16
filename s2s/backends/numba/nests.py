"""A loop over elements, as ``rt.places`` begins it, in; the same by itself out, with names that say nothing:

    for i in rt.places(t5):                     for v0 in places(s0):
        lower = -speed[i + 1, t7]       ->          v1 = -a0[v0 + 1, s1]
        t9[i] = np.exp(lower)                       a1[v0] = exp(v1)

``units`` makes machine code of it without Numba's analysis of each statement, once for all that read alike. Nothing
here imports Numba.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2s import runtime as rt

__all__ = ["Nest", "NotAlone", "Reader", "nest_of"]

OPERATORS: tuple[type, ...] = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.BitAnd, ast.BitOr)


@dataclass(frozen=True)
class Nest:
    """The source of a loop: of parameters whose names begin with ``a``, arrays, and with ``s``, numbers; ``results``
    are those of these that it changes. ``functions`` are those that its source names."""

    text: str
    parameters: tuple[str, ...]
    results: tuple[str, ...]
    functions: tuple[tuple[str, Any], ...]


class NotAlone(Exception):
    """There is something else in the loop."""


def nest_of(
    node: ast.For, static: Callable[[ast.expr], Any], replace: Callable[[Any, ast.Call], Any]
) -> tuple[Nest, list[ast.expr]] | None:
    """The loop and the arguments that it has there, results as names; None where there is something else in it.
    ``static`` gives the function that an expression names, ``replace`` what stands for one in a call."""
    reader = Reader(static, replace)
    try:
        made = reader.loop(node)
    except NotAlone:
        return None
    text = ast.unparse(ast.fix_missing_locations(ast.Module([made], [])))
    results = tuple(reader.results)
    return Nest(text, tuple(reader.parameters), results, tuple(sorted(reader.functions.items()))), reader.arguments


class Reader:
    """Rewrites a loop."""

    def __init__(self, static: Callable[[ast.expr], Any], replace: Callable[[Any, ast.Call], Any]) -> None:
        self.static = static
        self.replace = replace
        self.names: dict[str, str] = {}
        self.gone: set[str] = set()
        self.locals = 0
        self.parameters: list[str] = []
        self.arguments: list[ast.expr] = []
        self.of_argument: dict[str, str] = {}
        self.results: list[str] = []
        self.functions: dict[str, Any] = {}

    def _parameter(self, argument: ast.expr, letter: str) -> str:
        key = letter + ast.unparse(argument)
        if key not in self.of_argument:
            self.of_argument[key] = name = f"{letter}{len(self.parameters)}"
            self.parameters.append(name)
            self.arguments.append(argument)
        return self.of_argument[key]

    def _new(self, name: str) -> str:
        self.names[name] = f"v{self.locals}"
        self.locals += 1
        self.gone.discard(name)
        return self.names[name]

    # -- statements

    def loop(self, node: ast.For) -> ast.stmt:
        """A loop, and what is in it."""
        match node:
            case ast.For(target=ast.Name(id=name), iter=ast.Call(func=func, args=[size], keywords=[]), orelse=[]):
                if self.static(func) is not rt.places or name in self.names:
                    raise NotAlone
            case _:
                raise NotAlone
        size = self.expression(size)
        before = set(self.names)
        item = self._new(name)
        body = [self.statement(s) for s in node.body if not isinstance(s, ast.Pass)]
        for own in set(self.names) - before:
            del self.names[own]
            self.gone.add(own)
        called = ast.Call(ast.Name("places", ast.Load()), [size], [])
        return ast.For(ast.Name(item, ast.Store()), called, body or [ast.Pass()], [])

    def statement(self, s: ast.stmt) -> ast.stmt:
        """One statement."""
        match s:
            case ast.For():
                return self.loop(s)
            case ast.Assign(targets=[ast.Name() as target]):
                value = self.expression(s.value)
                return ast.Assign([self._assigned(target)], value)
            case ast.Assign(targets=[ast.Subscript() as place]):
                value = self.expression(s.value)
                return ast.Assign([self._place(place, ast.Store())], value)
            case ast.AugAssign(target=ast.Name() as target, op=op) if isinstance(op, OPERATORS):
                left, value = self.expression(ast.Name(target.id, ast.Load())), self.expression(s.value)
                return ast.Assign([self._assigned(target)], ast.BinOp(left, op, value))
            case ast.AugAssign(target=ast.Subscript() as place, op=op) if isinstance(op, OPERATORS):
                left, value = self._place(place, ast.Load()), self.expression(s.value)
                return ast.Assign([self._place(place, ast.Store())], ast.BinOp(left, op, value))
        raise NotAlone

    def _assigned(self, target: ast.Name) -> ast.Name:
        name = self.of_argument.get(f"s{target.id}")
        if name is None:
            name = self.names.get(target.id) or self._new(target.id)
        elif name not in self.results:
            self.results.append(name)
        return ast.Name(name, ast.Store())

    def _place(self, place: ast.Subscript, context: ast.expr_context) -> ast.Subscript:
        if not isinstance(place.value, ast.Name) or place.value.id in self.names:
            raise NotAlone
        array = ast.Name(self._array(place.value), ast.Load())
        parts = place.slice.elts if isinstance(place.slice, ast.Tuple) else [place.slice]
        found = [self.expression(part) for part in parts]
        return ast.Subscript(array, found[0] if len(found) == 1 else ast.Tuple(found, ast.Load()), context)

    def _array(self, array: ast.Name) -> str:
        return self._parameter(array, "a")

    # -- expressions

    def expression(self, node: ast.expr) -> ast.expr:
        """An expression of numbers."""
        match node:
            case ast.Constant(value=value) if type(value) in (bool, float) or (
                type(value) is int and abs(value) < 2**62
            ):
                return node
            case ast.Name(id=name):
                if name in self.gone:
                    raise NotAlone
                return ast.Name(self.names.get(name) or self._parameter(node, "s"), ast.Load())
            case ast.Attribute():
                return ast.Name(self._parameter(node, "s"), ast.Load())
            case ast.Subscript():
                return self._place(node, ast.Load())
            case ast.BinOp(left=left, op=op, right=right) if isinstance(op, OPERATORS):
                return ast.BinOp(self.expression(left), op, self.expression(right))
            case ast.UnaryOp(op=ast.USub() | ast.Not() as op, operand=operand):
                return ast.UnaryOp(op, self.expression(operand))
            case ast.Compare(left=left, ops=[one], comparators=[right]):
                return ast.Compare(self.expression(left), [one], [self.expression(right)])
            case ast.Call(keywords=[]) if not any(isinstance(a, ast.Starred) for a in node.args):
                return self._call(node)
        raise NotAlone

    def _call(self, node: ast.Call) -> ast.expr:
        value = self.static(node.func)
        if value is np.where and len(node.args) == 3:
            name = "where"
        elif value is rt.around and len(node.args) == 3:
            name = "around"
        elif isinstance(value, np.ufunc) and len(node.args) == value.nin and _is_of_numpy(value):
            name = value.__name__
            found = self.replace(value, node)
            if isinstance(found, ast.AST):
                raise NotAlone
            self.functions[name] = found
        else:
            raise NotAlone
        return ast.Call(ast.Name(name, ast.Load()), [self.expression(a) for a in node.args], [])


def _is_of_numpy(function: np.ufunc) -> bool:
    return getattr(np, function.__name__, None) is function
