"""Printed lines of a function in, the same with the comments of the primal in the forward sweep out.

    # the drag of the air                     # the drag of the air
    f = -k * v  # N                    ->     f = -k * v  # N
"""

from __future__ import annotations

import io
import linecache
import re
import tokenize

from s2s.codegen.printing import PROSE, WIDTH
from s2s.core.lines import one_line

__all__ = ["with_comments"]

_FOR_TOOLS = re.compile(r"#\s*(noqa|type:|pragma|fmt:|pylint|mypy|ruff|isort|nosec|flake8|pyright|doctest:)")
_TITLES = ("# forward sweep", "# reverse sweep")


def with_comments(lines: list[str]) -> list[str]:
    """The lines, each of the forward sweep with the comment at the end of its line of source, and those above that;
    each comment once. A line says by its ``span`` where it comes from."""
    titles = [k for k, line in enumerate(lines) if line.strip() in _TITLES]
    if not titles or lines[titles[0]].strip() != _TITLES[0]:
        return lines
    last = titles[1] if len(titles) > 1 else len(lines)
    sweep = lines[titles[0] + 1 : last]
    places: dict[tuple[str, int], list[int]] = {}
    for k, line in enumerate(sweep):
        span = getattr(line, "span", None)
        if span is not None:
            places.setdefault((span.file, span.line), []).append(k)
    above, made = dict[int, list[str]](), list(sweep)
    for (file, number), found in places.items():
        indent = sweep[found[0]][: len(sweep[found[0]]) - len(sweep[found[0]].lstrip())]
        above[found[0]] = [indent + text for text in _above(file, number) if len(indent + text) <= PROSE]
        source = linecache.getline(file, number)
        text, best = _at_end(source), _most_like(source, sweep, found)
        line = sweep[best]
        if not text or "#" in line or line.endswith(("(", "[", ",")):
            continue
        if len(line) + 2 + len(text) <= WIDTH:
            made[best] = _as(f"{line}  {text}", line)
        elif len(indent + text) <= PROSE:
            above[found[0]].append(indent + text)
    told = [text for k, line in enumerate(made) for text in (*above.get(k, ()), line)]
    return [*lines[: titles[0] + 1], *told, *lines[last:]]


def _most_like(source: str, lines: list[str], found: list[int]) -> int:
    """Which of the lines that come from one is the statement itself: it begins with the same word."""
    word = source.split(maxsplit=1)[:1]
    return next((k for k in found if lines[k].split(maxsplit=1)[:1] == word), found[-1])


def _as(text: str, line: str) -> str:
    """A text that comes from where another line does."""
    made = type(line)(text)
    made.span, made.folded = line.span, line.folded  # type: ignore[attr-defined]
    return made


def _above(file: str, number: int) -> list[str]:
    """The comments on lines of their own above a line of source."""
    found: list[str] = []
    while number > 1:
        number -= 1
        text = linecache.getline(file, number).strip()
        if not text.startswith("#") or '"""' in text or "'''" in text:
            break
        if not _FOR_TOOLS.match(text):
            found.insert(0, one_line(text))
    return found


def _at_end(line: str) -> str:
    """The comment at the end of a line of source; nothing where there is none, or it is for a tool."""
    if "#" not in line:
        return ""
    try:
        for token in tokenize.generate_tokens(io.StringIO(line.strip()).readline):
            if token.type == tokenize.COMMENT and token.start[1] > 0 and not _FOR_TOOLS.match(token.string):
                return one_line(token.string)
    except (tokenize.TokenError, SyntaxError):  # a statement that goes on, in which the comment was not reached
        pass
    return ""
