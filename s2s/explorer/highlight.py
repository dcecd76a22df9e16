"""Source in, its lines as HTML out: a class of one letter for each kind of word, no colours."""

from __future__ import annotations

import builtins
import functools
import html
import keyword
import re
from typing import Any

__all__ = ["as_string", "generated_line", "highlighted"]

_ADJOINT = re.compile(r"_(bar|dot)(_\d+)?$")
_BUILTINS = frozenset(dir(builtins))


@functools.cache
def _lexer() -> Any:
    from pygments.lexers.python import PythonLexer

    return PythonLexer(stripnl=False, ensurenl=False)


_WORDS = re.compile(
    r"""(?P<c>\#.*)|(?P<s>[bfru]{0,2}(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'))"""
    r"""|(?P<m>(?<![\w.])(?:0x[\da-f]+|\d[\d_]*\.?\d*(?:e[+-]?\d+)?j?))|(?P<w>[^\W\d]\w*)""")


@functools.lru_cache(maxsize=100_000)
def generated_line(line: str) -> str:
    """A line of generated code that is not in the middle of a string. There are many: Pygments would take a hundred
    times as long."""
    shown, end, after = "", 0, ""
    for found in _WORDS.finditer(line):
        word, between = found.group(), line[end : found.start()]
        after = between.strip() or after
        cls = _class_of_word(word, after) if found.lastgroup == "w" else str(found.lastgroup)
        shown += html.escape(between, quote=False) + _marked(word, cls)
        end, after = found.end(), word
    return shown + html.escape(line[end:], quote=False)


def _class_of_word(word: str, after: str) -> str:
    if word in keyword.kwlist:
        return "k"
    if after.endswith("."):
        return ""
    if after == "def":
        return "f"
    return "b" if word in _BUILTINS else "v j" if _ADJOINT.search(word) else "v"


def as_string(line: str) -> str:
    """A line of a docstring."""
    return _marked(line, "d")


def highlighted(text: str) -> list[str]:
    """The lines of a Python text. ``v`` marks variables, with ``j`` adjoints and tangents."""
    lines, after = [""], ""
    for _, kind, value in _lexer().get_tokens_unprocessed(text.replace("\r\n", "\n").replace("\r", "\n")):
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
