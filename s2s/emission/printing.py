"""Printing: takes ``ast`` nodes, gives lines of text. The one module that knows astor.

Short statements are printed by ``ast.unparse``; where a line would be too long, astor wraps it. Without
astor (it is not a dependency from Python 3.14 on) long lines are broken between the operands of the
outermost operation.
"""

from __future__ import annotations

import ast
import re
import warnings

__all__ = ["WIDTH", "print_expression", "print_statement"]

WIDTH = 100
_POWER = re.compile(r"\*\* \((-[\w.]+)\)")


def print_expression(node: ast.expr) -> str:
    """An expression on one line."""
    return _tidy(ast.unparse(node))


def print_statement(node: ast.stmt, indent: int) -> list[str]:
    """A simple statement as lines, ``indent`` levels deep, each within ``WIDTH`` columns where that is
    possible."""
    prefix = "    " * indent
    node.lineno = 1  # ast.unparse looks for a type comment there
    text = _bare_tuple(node, _tidy(ast.unparse(node)))
    if len(prefix) + len(text) <= WIDTH or "\n" in text:
        return [prefix + text]
    wrapped = _wrap(node, text, WIDTH - len(prefix))
    return [prefix + line for line in wrapped.splitlines()]


def _tidy(text: str) -> str:
    """``x ** -2`` for the ``x ** (-2)`` of ``ast.unparse``, and double quotes."""
    if "'" in text and '"' not in text and "\\" not in text:
        text = text.replace("'", '"')
    return _POWER.sub(r"** \1", text) if "** (-" in text else text


def _bare_tuple(node: ast.stmt, text: str) -> str:
    """``return a, b`` and ``x, y = a, b`` without parentheses around the tuple."""
    value = node.value if isinstance(node, (ast.Return, ast.Assign)) else None
    if not isinstance(value, ast.Tuple) or len(value.elts) < 2 or not text.endswith(")"):
        return text
    inner = _tidy(ast.unparse(value))
    return text[: -len(inner)] + inner[1:-1] if inner.startswith("(") and text.endswith(inner) else text


def _wrap(node: ast.stmt, text: str, width: int) -> str:
    """The statement on several lines; the one line that we have where nothing better means the same."""
    wrapped = _by_items(node, width) or _by_astor(node, width)
    if wrapped is None:
        return text
    try:
        same = ast.dump(ast.parse(wrapped)) == ast.dump(ast.parse(text))
    except SyntaxError:
        same = False
    return wrapped if same else text


def _by_items(node: ast.stmt, width: int) -> str | None:
    """A tuple that is returned or assigned, as many items a line as fit; astor leaves it on one line."""
    value = node.value if isinstance(node, (ast.Return, ast.Assign)) else None
    if not isinstance(value, ast.Tuple):
        return None
    items = [print_expression(item) + "," for item in value.elts]
    if any(len(item) + 4 > width or "\n" in item for item in items):
        return None
    whole, inner = ast.unparse(node), ast.unparse(value)
    lines = [whole.removesuffix(inner) + "("]
    for item in items:
        if len(lines) > 1 and len(lines[-1]) + 1 + len(item) <= width:
            lines[-1] += " " + item
        else:
            lines.append("    " + item)
    return "\n".join([*lines, ")"])


def _by_astor(node: ast.stmt, width: int) -> str | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import astor
            from astor.source_repr import split_lines

            return str(
                astor.to_source(node, pretty_source=lambda s: "".join(split_lines(s, maxline=width)))
            ).rstrip()
    except Exception:  # astor is not maintained: what it cannot print stays on one line
        return None
