"""Functions of the rules compiled for the types of their arguments: tests of ranks and kinds are settled before.

    if np.ndim(a) == 1:         with a matrix ``a``
        return y_bar * b
    return y_bar @ b.T    ->    return y_bar @ b.T

Numba gives each variable and result one type, which the branches that are left have.
"""

from __future__ import annotations

import ast
import copy
import types as python_types
from collections.abc import Callable
from typing import Any

from numba import types
from numba.extending import overload

from s2s.backends.numba.paths import Unsupported

__all__ = ["asks_kinds", "by_kinds"]

_UNKNOWN = object()


def asks_kinds(node: ast.FunctionDef) -> bool:
    """Whether a function asks whether one of its arguments is an array, or for its rank, in a test."""
    tests = [part for s in ast.walk(node) if isinstance(s, (ast.If, ast.IfExp)) for part in ast.walk(s.test)]
    names = {a.arg for a in node.args.args}
    return any(_asked(part, names) is not None for part in tests)


def _asked(part: ast.AST, names: set[str]) -> tuple[str, str] | None:
    """The question and the parameter that an expression asks about; None for other expressions."""
    match part:
        case ast.Call(ast.Attribute(ast.Name("np"), "ndim"), [ast.Name(name)], []) if name in names:
            return "rank", name
        case ast.Call(ast.Name("isinstance"), [ast.Name(name), ast.Attribute(ast.Name("np"), "ndarray")], []):
            return ("array", name) if name in names else None
    return None


def by_kinds(
    made: Any, node: ast.FunctionDef, compiled: Callable[[ast.FunctionDef], Any],
    otherwise: Callable[[tuple[Any, ...]], Any],
) -> Any:
    """A function that compiled code calls as ``made``, whose text ``node`` is compiled for the types of the arguments:
    ``compiled`` gives the function of a text, ``otherwise`` that for these types where it cannot."""
    names = [a.arg for a in node.args.args]
    found: dict[tuple[Any, ...], Any] = {}

    def choose(*given: Any) -> Any:
        key = tuple(_kind(kind) for kind in given)
        if key not in found:
            try:
                found[key] = compiled(_Settled(dict(zip(names, key, strict=True))).function(node))
            except Unsupported:
                found[key] = None
        return found[key] or otherwise(given)

    scope: dict[str, Any] = {"choose": choose}
    parameters = ", ".join(names)
    exec(f"def chosen({parameters}):\n    return choose({parameters})", scope)
    chosen = scope["chosen"]
    chosen.__defaults__ = made.__defaults__
    stub = python_types.FunctionType(made.__code__, made.__globals__, made.__name__, made.__defaults__)
    overload(stub)(chosen)
    return stub


def _kind(kind: Any) -> int | None:
    """The rank of an array; -1 of a number; None of anything else."""
    if isinstance(kind, types.Array):
        return int(kind.ndim)
    return -1 if isinstance(kind, (types.Number, types.Boolean)) else None


class _Settled:
    """Writes a function for the kinds of its arguments."""

    def __init__(self, kinds: dict[str, int | None]) -> None:
        self.kinds = kinds

    def function(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """The function with the branches that are taken."""
        made = copy.deepcopy(node)
        made.body = self._block(made.body)
        return made

    def _block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for s in statements:
            made += self._statement(s)
            if made and isinstance(made[-1], (ast.Return, ast.Raise)):
                break
        return made

    def _statement(self, s: ast.stmt) -> list[ast.stmt]:
        if isinstance(s, ast.If):
            test = self._value(s.test)
            if test is not _UNKNOWN:
                return self._block(s.body if test else s.orelse)
            s.body, s.orelse = self._block(s.body) or [ast.Pass()], self._block(s.orelse)
            return [s]
        for part in ast.walk(s):  # loops too: their bodies stay as they are
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                self.kinds.pop(part.id, None)
        return [_Choices(self._value).visit(s)]

    def _value(self, test: ast.expr) -> Any:
        """The value of a test; _UNKNOWN where the kinds do not tell."""
        match test:
            case ast.Constant(value):
                return value
            case ast.UnaryOp(ast.Not(), operand):
                value = self._value(operand)
                return value if value is _UNKNOWN else not value
            case ast.BoolOp(op, parts):
                found = [self._value(part) for part in parts]
                decides = isinstance(op, ast.Or)
                for value in found:
                    if value is _UNKNOWN or bool(value) is decides:
                        return value if value is _UNKNOWN else decides
                return not decides
            case ast.Compare(left, [op], [right]):
                values: list[Any] = [self._value(left), self._value(right)]
                if not all(type(v) is int for v in values) or type(op) not in _COMPARED:
                    return _UNKNOWN
                return _COMPARED[type(op)](values[0], values[1])
        return self._answer(test)

    def _answer(self, test: ast.expr) -> Any:
        asked = _asked(test, set(self.kinds))
        kind = None if asked is None else self.kinds[asked[1]]
        if asked is None or kind is None:
            return _UNKNOWN
        return max(kind, 0) if asked[0] == "rank" else kind >= 0


_COMPARED: dict[type, Callable[[int, int], bool]] = {
    ast.Eq: int.__eq__, ast.NotEq: int.__ne__, ast.Lt: int.__lt__, ast.LtE: int.__le__, ast.Gt: int.__gt__,
    ast.GtE: int.__ge__,
}  # fmt: skip


class _Choices(ast.NodeTransformer):
    """Takes the branch of conditional expressions."""

    def __init__(self, value: Callable[[ast.expr], Any]) -> None:
        self.value = value

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        test = self.value(node.test)
        return self.generic_visit(node) if test is _UNKNOWN else self.visit(node.body if test else node.orelse)
