"""A refusal of a recording in, the same with the line of the program out: that of the call at which it was raised, or,
where the numbers do not agree, that of a call whose result is out of sight.

    k = int(x * 1e9)                  # an integer carries no derivative: noted, as nothing else says where it went
    return k / 1e9                    # the differences do not agree with the recording: the line of `int` is shown
"""

from __future__ import annotations

import linecache
import os
import sys
import types
from collections.abc import Iterable, Iterator
from typing import Any

from s2s.analysis.steps.packages import package_of_file
from s2s.core.inspection import name_of
from s2s.core.ir import Span
from s2s.core.lines import one_line
from s2s.core.package import ROOT
from s2s.core.record import replace
from s2s.errors import DifferentiationError
from s2s.recorded.recorder import Recorder

__all__ = ["note_unseen", "of_program", "out_of_sight"]

_Entry = tuple[types.CodeType, int]

MOST_UNSEEN = 8
"""So many calls whose results are out of sight are known by their lines."""


def of_program(problem: DifferentiationError) -> DifferentiationError:
    """A refusal with the line of the program at which it was raised, where it shows none; with that of the program's
    own code, where a library has called what is refused."""
    given = problem.diagnostic
    if _has_line(problem):
        return problem
    entries = [entry for entry in _entries(problem.__traceback__) if _is_shown(*entry)][::-1]
    span = _own(entries)
    if span is None:
        return problem
    code, line = entries[0]
    is_inside = (code.co_filename, line) != (span.file, span.line)
    label = f"in `{code.co_name}` ({os.path.basename(code.co_filename)}:{line})" if is_inside else given.label
    made = type(problem)(replace(given, span=span, label=label))
    return made.with_traceback(problem.__traceback__)


def note_unseen(recorders: Iterable[Recorder], fn: Any) -> None:
    """Note a call that has made of differentiated numbers what carries no derivative, and where it is."""
    for recorder in recorders:
        if len(recorder.unseen) < MOST_UNSEEN and id(fn) not in recorder.unseen:
            recorder.unseen[id(fn)] = fn, _own(_callers(sys._getframe(1)))


def _callers(frame: types.FrameType | None) -> Iterator[_Entry]:
    """The lines at which a frame and its callers are, innermost first."""
    while frame is not None:
        yield frame.f_code, frame.f_lineno
        frame = frame.f_back


def out_of_sight(recorder: Recorder, problem: DifferentiationError) -> DifferentiationError:
    """A refusal in the sweeps of a recording with the line of a call that was noted: of the function that it names, or,
    where the recording does not agree with differences, of one of whose result the program may have computed what was
    lost."""
    given = problem.diagnostic
    is_lost = given.code == "S2S214"
    names = {name_of(fn): span for fn, span in recorder.unseen.values() if span is not None}
    found = {name: span for name, span in names.items() if is_lost or f"`{name}`" in given.summary}
    if not found or _has_line(problem):
        return problem
    called = ", ".join(f"`{name}`" for name in found)
    label = f"what is computed of its result may be what is lost: {called}" if is_lost else ""
    made = type(problem)(replace(given, span=next(iter(found.values())), label=label))
    return made.with_traceback(problem.__traceback__)


def _has_line(problem: DifferentiationError) -> bool:
    """Whether a refusal shows a line of the program, and not one of what stands for a function without source."""
    span = problem.diagnostic.span
    return span is not None and not span.file.startswith("<s2s ")


def _entries(traceback: types.TracebackType | None) -> Iterator[_Entry]:
    """The lines of a traceback, outermost first."""
    while traceback is not None:
        yield traceback.tb_frame.f_code, traceback.tb_lineno
        traceback = traceback.tb_next


def _is_shown(code: types.CodeType, line: int) -> bool:
    """Whether a line is one of the program, or of a library that it calls."""
    return not code.co_filename.startswith((ROOT + os.sep, "<s2s ")) and bool(linecache.getline(code.co_filename, line))


def _own(entries: Iterable[_Entry]) -> Span | None:
    """The first of some lines that is of no installed package, else the first that can be shown."""
    shown = (entry for entry in entries if _is_shown(*entry))
    first = None
    for code, line in shown:
        is_own = package_of_file(code.co_filename) is None
        if first is None or is_own:
            text = one_line(linecache.getline(code.co_filename, line)).rstrip()
            column = len(text) - len(text.lstrip())
            first = Span(code.co_filename, line, column, line, len(text), code.co_name.strip("<>"))
        if is_own:
            break
    return first
