"""Text of ``ast`` nodes: the same as ``ast.unparse`` gives, in a fifth of the time.

Written here are the nodes that most generated statements are made of; ``ast.unparse`` writes a statement or expression
in which there is any other.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import Any

from s2s.codegen.expressions import BINARY, COMPARE, UNARY
from s2s.core import operators

__all__ = ["unparse"]

_BINARY = {kind: operators.BINARY[fn] for fn, kind in BINARY.items()}
_UNARY = {kind: operators.UNARY[fn] for fn, kind in UNARY.items()}
_COMPARE = {kind: operators.COMPARISONS[fn] for fn, kind in COMPARE.items()}
"""The operators by the classes of their nodes."""


def unparse(node: ast.AST) -> str:
    """The text of a simple statement or an expression."""
    try:
        return _text(node)
    except KeyError:  # a node that is not written here
        return ast.unparse(node)


def _text(node: Any, level: int = operators.CONDITIONAL) -> str:
    """The text of a node where ``level`` is how strongly it must bind, or stand in parentheses."""
    return _TEXTS[type(node)](node, level)


def _in_parentheses(text: str, own: int, level: int) -> str:
    return f"({text})" if level > own else text


def _constant(node: ast.Constant, _: int) -> str:
    return _LITERALS[type(node.value)](node.value)


def _finite(value: float) -> str:
    if not math.isfinite(value):
        raise KeyError(value)
    return repr(value)


def _binary(node: ast.BinOp, level: int) -> str:
    one = _BINARY[type(node.op)]
    from_right = one.symbol == "**"
    left, right = _text(node.left, one.binding + from_right), _text(node.right, one.binding + 1 - from_right)
    return _in_parentheses(f"{left} {one.symbol} {right}", one.binding, level)


def _unary(node: ast.UnaryOp, level: int) -> str:
    one = _UNARY[type(node.op)]
    blank = " " if one.symbol.isalpha() else ""
    return _in_parentheses(one.symbol + blank + _text(node.operand, one.binding), one.binding, level)


def _compare(node: ast.Compare, level: int) -> str:
    own = _COMPARE[type(node.ops[0])].binding
    pairs = zip(node.ops, node.comparators, strict=True)
    tests = [f" {_COMPARE[type(op)].symbol} {_text(operand, own + 1)}" for op, operand in pairs]
    return _in_parentheses(_text(node.left, own + 1) + "".join(tests), own, level)


def _attribute(node: ast.Attribute, _: int) -> str:
    gap = " " if isinstance(node.value, ast.Constant) and isinstance(node.value.value, int) else ""
    return f"{_text(node.value, operators.ATOM)}{gap}.{node.attr}"


def _call(node: ast.Call, _: int) -> str:
    named = [("**" if one.arg is None else f"{one.arg}=") + _text(one.value) for one in node.keywords]
    return f"{_text(node.func, operators.ATOM)}({', '.join([*map(_text, node.args), *named])})"


def _subscript(node: ast.Subscript, _: int) -> str:
    key = node.slice
    if isinstance(key, ast.Tuple) and len(key.elts) > 1:
        return f"{_text(node.value, operators.ATOM)}[{', '.join(map(_text, key.elts))}]"
    return f"{_text(node.value, operators.ATOM)}[{_text(key)}]"


def _slice(node: ast.Slice, _: int) -> str:
    lower, upper, step = ["" if one is None else _text(one) for one in (node.lower, node.upper, node.step)]
    return f"{lower}:{upper}" + (f":{step}" if node.step is not None else "")


def _assign(node: ast.Assign, _: int) -> str:
    return " = ".join(map(_text, (*node.targets, node.value)))


def _augmented(node: ast.AugAssign, _: int) -> str:
    return f"{_text(node.target)} {_BINARY[type(node.op)].symbol}= {_text(node.value)}"


def _return(node: ast.Return, _: int) -> str:
    return "return" if node.value is None else f"return {_text(node.value)}"


_LITERALS: dict[type, Callable[[Any], str]] = {
    int: repr, bool: repr, str: repr, type(None): repr, float: _finite, type(Ellipsis): lambda _: "...",
}
_TEXTS: dict[type, Callable[[Any, int], str]] = {
    ast.Name: lambda node, _: node.id, ast.Constant: _constant, ast.BinOp: _binary, ast.UnaryOp: _unary,
    ast.Compare: _compare, ast.Attribute: _attribute, ast.Call: _call, ast.Subscript: _subscript, ast.Slice: _slice,
    ast.Assign: _assign, ast.AugAssign: _augmented, ast.Return: _return, ast.Expr: lambda node, _: _text(node.value),
}
