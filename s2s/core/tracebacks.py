"""An exception that leaves s2s in, the same with a traceback for a person out.

A refusal shows the call of the user and the message. What generated code raises shows its line, and the line of the
user's function that this comes from. Frames of s2s itself are left out; ``S2S_TRACEBACK=full`` keeps all, and so does a
mistake of s2s.
"""

from __future__ import annotations

import functools
import os
import types
from collections.abc import Callable
from typing import Any, TypeVar, cast

from s2s.core.linecaches import source_of
from s2s.core.package import ROOT

__all__ = ["at_the_call", "shorten", "tell_line"]

F = TypeVar("F", bound=Callable[..., Any])

_OWN = (ROOT + os.sep, "<s2s dispatch>")
_MISTAKE = "S2S9"


def at_the_call(f: F, check: Callable[[tuple[Any, ...], dict[str, Any]], None] = lambda args, kwargs: None) -> F:
    """A decorator: exceptions that come out of a public function, and out of the ``check`` of its arguments, appear
    where it was called."""

    @functools.wraps(f)
    def public(*args: Any, **kwargs: Any) -> Any:
        try:
            check(args, kwargs)
            return f(*args, **kwargs)
        except Exception as problem:
            shorten(problem)
            raise  # this frame is added once, when an exception comes into it, and was left out just now

    return cast(F, public)


def shorten(problem: BaseException) -> None:
    """Leave the frames of s2s out of the traceback of an exception, and of those in whose handling it was raised."""
    if os.environ.get("S2S_TRACEBACK") == "full" or _code(problem).startswith(_MISTAKE):
        return
    tell_line(problem)
    problem.__traceback__ = _without_own(problem)
    inner = problem
    while inner.__context__ is not None:
        context = inner.__context__
        context.__traceback__ = _without_own(context)
        if context.__traceback__ is None and context is not inner.__cause__:
            inner.__context__ = context.__context__  # it was raised and caught within s2s
        else:
            inner = context


def _code(problem: BaseException) -> str:
    """The code of an error of s2s; empty for any other exception."""
    return str(getattr(getattr(problem, "diagnostic", None), "code", ""))


def _without_own(problem: BaseException) -> types.TracebackType | None:
    """The traceback without frames of s2s, and of generated code where it is a refusal. What s2s itself has raised that
    is none keeps the frames down to there."""
    entries, is_refusal = [], bool(_code(problem))
    entry = problem.__traceback__
    while entry is not None:
        entries.append(entry)
        entry = entry.tb_next
    kept: types.TracebackType | None = None
    keeps_last = not is_refusal and not _stands_in(entries)
    for entry in reversed(entries):
        file = entry.tb_frame.f_code.co_filename
        if file == __file__:  # it was called with arguments that it does not take
            continue
        is_own = file.startswith(_OWN) or (is_refusal and source_of(file) is not None)
        if not is_own or (kept is None and keeps_last and file != _OWN[1]):
            kept = types.TracebackType(kept, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return kept


def _stands_in(entries: list[types.TracebackType]) -> bool:
    """Whether the innermost code of s2s was called by code of the user that s2s had called: it does what this says."""
    files = [entry.tb_frame.f_code.co_filename for entry in entries]
    while files and files[-1].startswith(_OWN):
        files.pop()
    return bool(files) and not files[-1].startswith("<s2s ") and any(file.startswith(_OWN) for file in files)


def tell_line(problem: BaseException) -> None:
    """Note the line of the user's function that the innermost line of generated code comes from, where the message of
    the exception does not show it."""
    if getattr(getattr(problem, "diagnostic", None), "span", None) is not None:
        return
    place, entry = "", problem.__traceback__
    while entry is not None:
        source = source_of(entry.tb_frame.f_code.co_filename)
        if source is not None:
            place = source.comes_from(entry.tb_lineno) or place
        entry = entry.tb_next
    if place and place not in getattr(problem, "__notes__", ()):
        problem.add_note(place)
