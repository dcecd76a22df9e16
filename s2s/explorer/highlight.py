"""Source in, its lines as HTML out: a class of one letter for each kind of word, no colours."""

from __future__ import annotations

import functools
import html
import re
from typing import Any

__all__ = ["as_string", "highlighted", "highlighted_line"]

_ADJOINT = re.compile(r"_(bar|dot)(_\d+)?$")


@functools.cache
def _lexer() -> Any:
    from pygments.lexers.python import PythonLexer

    return PythonLexer(stripnl=False, ensurenl=False)


@functools.lru_cache(maxsize=10_000)
def highlighted_line(line: str) -> str:
    """A line that stands alone: none in the middle of a string."""
    return highlighted(line)[0]


def as_string(line: str) -> str:
    """A line of a docstring."""
    return _marked(line, "d")


def highlighted(text: str) -> list[str]:
    """The lines of a Python text. ``v`` marks variables, with ``j`` adjoints and tangents."""
    lines, after = [""], ""
    for kind, value in _lexer().get_tokens(text):
        cls = _class_of(kind, value, after)
        first, *others = [_marked(part, cls) for part in value.split("\n")]
        lines[-1] += first
        lines += others
        after = value.strip() or after
    return lines[:-1] if text.endswith("\n") else lines


def _class_of(kind: Any, value: str, after: str) -> str:
    from pygments.token import Comment, Keyword, Name, Number, Operator, String

    if kind in Comment:
        return "c"
    if kind in Keyword or kind is Operator.Word:
        return "k"
    if kind in String.Doc:
        return "d"
    if kind in String:
        return "s"
    if kind in Number:
        return "m"
    if kind in Name.Function:
        return "f"
    if kind in Name and after != ".":
        return "b" if kind in Name.Builtin else "v j" if _ADJOINT.search(value) else "v"
    return ""


def _marked(text: str, cls: str) -> str:
    shown = html.escape(text, quote=False)
    return f'<span class="{cls}">{shown}</span>' if cls and text.strip() else shown
