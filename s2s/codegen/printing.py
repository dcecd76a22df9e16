"""Printing: takes ``ast`` nodes, gives lines of text. The one module that knows astor.

Short statements are printed by ``ast.unparse``; where a line would be too long, astor wraps it, which is
imported then. Where it tears what belongs together, or is not there (it is no dependency from Python 3.14 on),
``layout`` breaks the line at operators and commas.
"""

from __future__ import annotations

import ast
import re

from s2s.codegen.layout import laid_out
from s2s.core.quiet import without_warnings

__all__ = ["WIDTH", "print_comment", "print_expression", "print_header", "print_statement"]

WIDTH = 100
LEAST = 40
_NAME = ast.Name("_", ast.Store())
_TORN = re.compile(r"^ *[])},([.]|^ *=|\.$", re.MULTILINE)
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
    if len(text) <= _width(indent) or "\n" in text:
        return [prefix + text]
    wrapped = _wrap(node, text, _width(indent))
    return [prefix + line for line in wrapped.splitlines()]


def print_header(start: str, node: ast.expr, indent: int, end: str = ":") -> list[str]:
    """``if test:`` and its like, for ``start``, a test and the ``end`` of the line. Where that is too long
    for one line, the test stands in parentheses on lines of its own."""
    prefix = "    " * indent
    line = f"{prefix}{start} {print_expression(node)}{end}"
    if len(line) - len(prefix) <= _width(indent):
        return [line]
    lines = [f"{prefix}    {part}" for part in _parts(node, _width(indent) - 4)]
    return [f"{prefix}{start} (", *lines, f"{prefix}){end}"]


def print_comment(text: str, indent: int) -> str:
    """``# text``, cut off where it is too long."""
    line, width = f"# {text}".rstrip(), _width(indent)
    return "    " * indent + (line if len(line) <= width else line[: width - 4].rstrip() + " ...")


def _width(indent: int) -> int:
    """So many columns are there for a line, without its indentation: some remain where blocks are nested deeply."""
    return max(WIDTH - 4 * indent, LEAST)


def _parts(node: ast.expr, width: int) -> list[str]:
    """The lines of an expression in parentheses: a line for each operand of ``and`` or ``or``."""
    if not isinstance(node, ast.BoolOp):
        text = print_expression(node)
        wrapped = _by_astor(ast.Assign([_NAME], node), width) if len(text) > width else None
        inner = "" if wrapped is None else wrapped.removeprefix("_ = ")
        return next((t for t in (inner[1:-1], inner) if _mean_the_same(f"({t})", text)), text).splitlines()
    word = "and" if isinstance(node.op, ast.And) else "or"
    loose = (ast.BoolOp, ast.IfExp, ast.Lambda)
    texts = [f"({print_expression(v)})" if isinstance(v, loose) else print_expression(v) for v in node.values]
    return [texts[0], *(f"{word} {text}" for text in texts[1:])]


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
    if wrapped is None or _TORN.search(wrapped) or max(map(len, wrapped.splitlines())) > width:
        own = laid_out(node, width, print_expression)
        if own is not None and "\n" in own and _mean_the_same(own, text):
            return own
    return wrapped if wrapped is not None and _mean_the_same(wrapped, text) else text


def _mean_the_same(first: str, second: str) -> bool:
    try:
        return ast.dump(ast.parse(first)) == ast.dump(ast.parse(second))
    except SyntaxError:
        return False


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
    """The lines of the widest wrapping that tears nothing: none begins with a bracket, a dot or an equals sign, or ends
    with a dot."""
    texts = (_wrapped_by_astor(node, least) for least in range(width, max(width - 32, LEAST) - 1, -4))
    first = next(texts, None)
    if first is None or not _TORN.search(first):
        return first
    return next((text for text in texts if text is not None and not _TORN.search(text)), first)


def _wrapped_by_astor(node: ast.stmt, width: int) -> str | None:
    if isinstance(node, ast.Return) and node.value is not None:  # astor does not wrap it, but an assignment
        wrapped = _wrapped_by_astor(ast.Assign([_NAME], node.value), width - 3)
        return None if wrapped is None else "return " + wrapped.removeprefix("_ = ")
    try:
        with without_warnings():
            import astor
            from astor.source_repr import split_lines

            text = astor.to_source(node, pretty_source=lambda s: "".join(split_lines(s, maxline=width)))
            return "\n".join(line.rstrip() for line in str(text).rstrip().splitlines())
    except Exception:  # astor is not maintained: what it cannot print stays on one line
        return None
