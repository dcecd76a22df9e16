"""Printing: takes ``ast`` nodes, gives lines of text, as ``ruff format`` leaves them.

``expression_text`` writes an expression on one line, ``layout`` breaks what is too long for one at operators and
commas. What has no brackets to open, as the place that is assigned to, is left to astor, which is imported then, where
it is there (it is no dependency from Python 3.14 on) and tears nothing. This is the one module that knows it.
"""

from __future__ import annotations

import ast
import re

from s2s.codegen.expression_text import SIGNS, text_of, tuple_text
from s2s.codegen.layout import laid_out
from s2s.core.lines import lines_of, one_line
from s2s.core.quiet import without_warnings

__all__ = ["PROSE", "WIDTH", "print_comment", "print_expression", "print_header", "print_statement"]

WIDTH = 88
"""So many columns a line of code has at most: as many as ``ruff format`` gives it where nothing else is said."""
PROSE = 100
"""The same for comments and docstrings, which ``ruff format`` leaves as they are."""
LEAST = 40
_TORN = re.compile(r"^ *[])},([.]|^ *=|\.$", re.MULTILINE)


def print_expression(node: ast.expr) -> str:
    """An expression on one line."""
    return text_of(node)


def print_statement(node: ast.stmt, indent: int) -> list[str]:
    """A simple statement as lines, ``indent`` levels deep, each within ``WIDTH`` columns where that is possible."""
    prefix, width = "    " * indent, _width(indent)
    first, value = _parts(node)
    is_bare = isinstance(node, (ast.Assign, ast.Return))
    lines = [first] if value is None else laid_out(value, width, first, is_bare=is_bare)
    if len(lines) == 1 and len(lines[0]) > width:
        lines = _by_astor(node, width) or lines
    return [prefix + line for line in lines]


def _parts(node: ast.stmt) -> tuple[str, ast.expr | None]:
    """The text of a statement up to the expression that it ends with, and that."""
    match node:
        case ast.Assign(targets, value):
            return "".join(f"{tuple_text(target)} = " for target in targets), value
        case ast.AugAssign(target, op, value):
            return f"{text_of(target)} {SIGNS[type(op)][0]}= ", value
        case ast.Return(ast.expr() as value):
            return "return ", value
        case ast.Raise(ast.expr() as value, cause):
            return ("raise ", value) if cause is None else (f"raise {text_of(value)} from ", cause)
        case ast.Assert(test, said):
            return ("assert ", test) if said is None else (f"assert {text_of(test)}, ", said)
        case ast.Delete([value]):
            return "del ", value
        case ast.Expr(value):
            return "", value
    node.lineno = 1  # ast.unparse looks for a type comment there
    return ast.unparse(node), None


def print_header(start: str, node: ast.expr, indent: int, end: str = ":") -> list[str]:
    """``if test:`` and its like, for ``start``, a test and the ``end`` of the line."""
    prefix = "    " * indent
    return [prefix + line for line in laid_out(node, _width(indent), f"{start} ", end)]


def print_comment(text: str, indent: int) -> str:
    """``# text``, cut off where it is too long."""
    line, width = f"# {one_line(text)}".rstrip(), max(PROSE - 4 * indent, LEAST)
    return "    " * indent + (line if len(line) <= width else line[: width - 4].rstrip() + " ...")


def _width(indent: int) -> int:
    """So many columns are there for a line, without its indentation: some remain where blocks are nested deeply."""
    return max(WIDTH - 4 * indent, LEAST)


def _by_astor(node: ast.stmt, width: int) -> list[str] | None:
    """The lines of the widest wrapping that fits and tears nothing: none begins with a bracket, a dot or an equals
    sign, or ends with a dot."""
    widths = range(width, max(width - 32, LEAST) - 1, -4)
    return next(filter(None, (_wrapped(node, least, width) for least in widths)), None)


def _wrapped(node: ast.stmt, least: int, width: int) -> list[str] | None:
    try:
        with without_warnings():
            import astor
            from astor.source_repr import split_lines

            text = str(astor.to_source(node, pretty_source=lambda s: "".join(split_lines(s, maxline=least))))
        text = text.rstrip()
        lines = [line.rstrip() for line in lines_of(text)]
        is_same = ast.dump(ast.parse(text)) == ast.dump(ast.parse(ast.unparse(node)))
        return lines if is_same and not _TORN.search(text) and max(map(len, lines)) <= width else None
    except Exception:  # astor is not maintained: what it cannot print stays as it is
        return None
