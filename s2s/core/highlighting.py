"""Python source in colours: on a terminal, and as HTML in a notebook. Pygments and rich are imported when needed."""

from __future__ import annotations

import ast
import builtins
import html
import linecache
import os
import sys
import types
from typing import Any

__all__ = ["Source", "box", "for_terminal", "highlighted", "highlighted_html"]


class Source(str):
    """Generated code: a str, which ``print`` shows in colours on a terminal, and a notebook highlighted. What is made
    of it, and what is read from a pickle of it, is a plain str."""

    __slots__ = ()

    def __str__(self) -> str:
        plain = str.__str__(self)
        return for_terminal(plain) if _is_printed(sys._getframe(1)) else plain

    def __reduce_ex__(self, protocol: Any) -> Any:
        return str, ("".join(self),)

    def _repr_html_(self) -> str:
        return box(highlighted_html(self))

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """What IPython shows on a terminal for a last line."""
        plain = "".join(self)
        printer.text(for_terminal(plain) if sys.stdout.isatty() and not os.environ.get("NO_COLOR") else plain)


def _is_printed(frame: types.FrameType) -> bool:
    """Whether the call that a frame is in is ``print(...)`` to a terminal; not where that is not certain."""
    stdout = sys.stdout
    if stdout is None or not stdout.isatty() or frame.f_lasti < 0 or os.environ.get("NO_COLOR"):
        return False
    positions = list(frame.f_code.co_positions())
    line, end_line, column, end_column = positions[frame.f_lasti // 2]
    if line is None or end_line is None or column is None or end_column is None:
        return False
    lines = linecache.getlines(frame.f_code.co_filename, frame.f_globals)[line - 1 : end_line]
    if len(lines) != end_line - line + 1:
        return False
    encoded = [text.encode() for text in lines]
    encoded[-1] = encoded[-1][:end_column]
    encoded[0] = encoded[0][column:]
    try:
        call = ast.parse(b"".join(encoded).decode(), mode="eval").body
    except (SyntaxError, ValueError):
        return False
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        return False
    name = call.func.id
    known = frame.f_locals.get(name, frame.f_globals.get(name, getattr(builtins, name, None)))
    return known is builtins.print and all(word.arg in ("sep", "end", "flush") for word in call.keywords)


# --- on a terminal ----------------------------------------------------------------------------------------------------


def for_terminal(text: str) -> str:
    """A text with the codes for colours."""
    from rich.console import Console

    console = Console(highlight=False, force_terminal=True, color_system="standard")
    with console.capture() as captured:
        console.print(highlighted(text.rstrip("\n")), soft_wrap=True)
    return captured.get() + "\n" * (len(text) - len(text.rstrip("\n")) - 1)


def highlighted(text: str) -> Any:
    """In colours of the terminal's own, those that are read on light and on dark: no blue, yellow, white or grey."""
    from pygments.token import Comment, Keyword, Name, Number, Operator, String, Token
    from rich.style import Style
    from rich.syntax import ANSISyntaxTheme, Syntax

    theme = ANSISyntaxTheme({
        Token: Style(), Comment: Style(italic=True, dim=True), Keyword: Style(bold=True),
        Operator.Word: Style(bold=True), Name.Function: Style(color="magenta", bold=True), Number: Style(),
        String: Style(color="green"),
    })
    found = Syntax("", "python", theme=theme, background_color="default").highlight(text)
    found.rstrip()
    return found


# --- as HTML ----------------------------------------------------------------------------------------------------------

_STYLES = {
    "Comment": "color:#808080;font-style:italic", "Keyword": "font-weight:bold", "Operator.Word": "font-weight:bold",
    "Name.Function": "color:#b246c8;font-weight:bold", "Literal.String": "color:#2e9e5b",
}
"""Colours that are read on a light page and on a dark one: nothing is known of the notebook's."""


def highlighted_html(text: str) -> str:
    """The tokens of a text as HTML."""
    from pygments.lexers import PythonLexer

    made = []
    for kind, part in PythonLexer(stripnl=False, ensurenl=False).get_tokens(text):
        name = str(kind).removeprefix("Token.")
        style = next((style for prefix, style in _STYLES.items() if name.startswith(prefix)), "")
        shown = html.escape(part)
        made.append(f'<span style="{style}">{shown}</span>' if style and part.strip() else shown)
    return "".join(made)


def box(code: str) -> str:
    """HTML of code as a block, whose lines are not broken."""
    return f'<pre style="overflow-x:auto;line-height:1.35;margin:0.3em 0"><code>{code}</code></pre>'
