"""What recorded calls take in, what is told of it out: beside what the function takes, once that is a second in all.

The runs that check a recording against differences are timed: nothing runs for the sake of a clock. The first call does
not count, in which the derivatives of the steps are compiled.
"""

from __future__ import annotations

import types
import weakref
from typing import Any

from s2s.dispatch.recorded import is_always
from s2s.dispatch.rungs import said_of
from s2s.notices import Notice, log, tell
from s2s.versions.request import Request

__all__ = ["note_cost"]

SECONDS, TIMES = 1.0, 50.0
"""Calls that have taken so many seconds in all, and as many times what the function takes, are told of."""


class _Spent:
    """What the recorded calls of a function have taken so far, and one run of it for each."""

    def __init__(self) -> None:
        self.seconds, self.primal = 0.0, 0.0
        self.is_told = False


_spent: weakref.WeakKeyDictionary[types.CodeType, dict[str, _Spent]] = weakref.WeakKeyDictionary()


def note_cost(function: types.FunctionType, request: Request, refusal: Any, seconds: float, primal: float) -> None:
    """Add what a recorded call, and the function in it, have taken; log the first, and warn once where all of them are
    slow. ``refusal`` is why calls are recorded."""
    name, by_mode = function.__name__.strip("<>"), _spent.setdefault(function.__code__, {})
    if request.mode not in by_mode:
        by_mode[request.mode] = _Spent()
        log("%s_%s: recorded: the first call takes %.3g s, the function %.3g s", name, request.mode, seconds, primal)
        return
    spent = by_mode[request.mode]
    spent.seconds, spent.primal = spent.seconds + seconds, spent.primal + primal
    times = spent.seconds / max(spent.primal, 1e-9)
    if spent.seconds < SECONDS or times < TIMES or spent.is_told or is_always(request):
        return
    code, given = function.__code__, getattr(refusal, "diagnostic", None)
    span = None if given is None else given.span
    file, line = (code.co_filename, code.co_firstlineno) if span is None else (span.file, span.line)
    if file.startswith("<s2s "):
        return  # no line of the program is known
    spent.is_told = True
    reason = said_of(refusal) + ("" if given is None or not given.hint else f"; instead: {given.hint}")
    text = (
        f"the {request.mode} of `{name}` has taken {spent.seconds:.2g} s, {times:.0f} times as long as `{name}` itself,"
        f" as its calls are recorded because of this line: {reason}")
    tell([Notice("SlowDerivativeWarning", text, file, line, code.co_name)])
