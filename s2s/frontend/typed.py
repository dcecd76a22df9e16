"""A function that no file holds goes in; texts come out that may be the one that it was compiled from.

    python -c "..."           among the arguments of Python
    python < program.py       the file behind standard input, where it is one
    >>> def f(x): ...         what Python keeps of it, from 3.14 on, else the lines that the interpreter remembers,
                              where it reads them by readline

Whether a text is the one is decided by who asks: it must compile to the code that runs.
"""

from __future__ import annotations

import inspect
import linecache
import os
import stat
import sys
import types
from collections.abc import Iterator

from s2s.core.lines import lines_of

__all__ = ["NO_TEXT", "shown_as", "texts"]

NO_TEXT = {
    "<stdin>": "put it into a file, `python -i FILE`; or type it into IPython, or Python 3.13 and later",
    "<string>": "write it to a file and import that; or give the text to `linecache` under the name of the code: "
                "`linecache.cache[name] = len(text), None, text.splitlines(True), name`, then "
                "`exec(compile(text, name, \"exec\"))`",
}
"""What to do about names of code that Python gives to any text."""

_MOST = 5000
"""So many lines that were typed are looked at."""

_typed_names: dict[str, str] = {}
"""The names under which ``linecache`` has the texts of statements that were typed."""


def shown_as(file: str, lines: list[str]) -> str:
    """Let ``linecache`` have the lines of code that no file holds, for comments and messages; the name that it has them
    under. Each statement at the prompt begins at line 1 of ``<stdin>``, so it gets a name of its own, which Python 3.13
    gives it, too."""
    if file == "<stdin>" and hasattr(sys, "ps1"):
        file = _typed_names.setdefault("".join(lines), f"<stdin>-{len(_typed_names)}")
    if file not in linecache.cache:
        linecache.cache[file] = sum(map(len, lines)), None, lines, file
    return file


def texts(fn: types.FunctionType) -> Iterator[list[str]]:
    """The lines of texts, of which the one that the function is in begins where the numbers of its lines begin."""
    name = fn.__code__.co_filename
    if name.startswith("<frozen "):  # what a module does that Python has within itself is not looked into
        return
    yield from _kept_by_python(fn)
    if fn.__globals__ is not vars(sys.modules["__main__"]):
        return
    if name == "<string>":
        yield from _command()
    elif name == "<stdin>":
        yield from _standard_input()
        yield from _typed(fn.__code__)


def _kept_by_python(fn: types.FunctionType) -> Iterator[list[str]]:
    """What Python 3.14 keeps of each statement that is typed, which ``inspect`` knows where to find."""
    try:
        yield inspect.findsource(fn)[0]
    except (OSError, TypeError):
        return


def _command() -> Iterator[list[str]]:
    """What ``python -c`` runs, which Python keeps among its arguments."""
    given = sys.orig_argv
    if sys.argv[:1] == ["-c"] and "-c" in given[:-1]:
        yield lines_of(given[given.index("-c") + 1], keepends=True)


def _standard_input() -> Iterator[list[str]]:
    try:
        found = os.fstat(0)
        if stat.S_ISREG(found.st_mode):
            yield lines_of(os.pread(0, found.st_size, 0).decode(), keepends=True)
    except (OSError, ValueError, AttributeError):  # it is closed, is no text, or there is no pread
        return


def _typed(code: types.CodeType) -> Iterator[list[str]]:
    """What was typed from each line on at which the statement may begin, the last one first."""
    readline = sys.modules.get("readline")
    if not hasattr(sys, "ps1") or readline is None:
        return
    count = readline.get_current_history_length()
    lines = [f"{readline.get_history_item(k) or ''}\n" for k in range(max(1, count - _MOST), count + 1)]
    begins = ("lambda",) if code.co_name == "<lambda>" else (f"def {code.co_name}", "@")
    for start in reversed(range(len(lines) - code.co_firstlineno + 1)):
        if any(part in lines[start + code.co_firstlineno - 1] for part in begins):
            yield lines[start:]
