"""The edge of the compiler: a compilation goes in; its result comes out, or what the user may see of what it raises.

Three kinds of exceptions come out: the errors of s2s that tell the user what cannot be differentiated, what the
program itself certainly raises (``Raised``), and an ``InternalError`` for any other, which is a mistake of s2s. An
interrupt and a lack of memory pass as they are. What runs out of stack is done again on a larger one.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from s2s.core import stack
from s2s.versions.paths import import_path

if TYPE_CHECKING:
    from s2s.core.ir import Span

__all__ = ["Raised", "begins_again", "with_room", "within"]

_Result = TypeVar("_Result")

FRAMES = 100_000
"""So many frames may lie on the stack of a compilation that was too deep for that of its caller."""


class Raised(Exception):
    """What the program certainly raises at the place that is being specialised."""

    def __init__(self, problem: Exception) -> None:
        super().__init__(problem)
        self.problem = problem


def within(
    work: Callable[[], _Result], function: types.FunctionType, mode: str, values: tuple[Any, ...]
) -> _Result:
    """What a compilation gives. ``function`` is differentiated in ``mode``, for a call with these arguments: an
    internal error tells how it comes about."""
    try:
        return with_room(work)
    except Raised as raised:
        raise raised.problem from None
    except MemoryError:
        raise
    except Exception as problem:
        if hasattr(problem, "diagnostic"):  # the errors of s2s are imported where there is one to raise
            raise
        if isinstance(problem, Warning):  # of s2s, which the user has made an error
            raise
        raise _internal_error(problem, function, mode, values) from problem


def with_room(work: Callable[[], _Result]) -> _Result:
    """What the work gives, which is begun again on a large stack where that of the caller does not suffice."""
    if stack.is_continued():
        return work()
    if not stack.is_short():
        try:
            return work()
        except Exception as problem:
            if not _is_from_recursion(problem):
                raise
    return stack.continued(work, FRAMES)


def begins_again(problem: Exception) -> bool:
    """Whether a compilation that raised this begins again on a large stack."""
    return _is_from_recursion(problem) and not stack.is_continued()


def _is_from_recursion(problem: BaseException | None) -> bool:
    """Whether an exception is, or was raised because of, a lack of stack."""
    while problem is not None and not isinstance(problem, RecursionError):
        problem = problem.__context__
    return problem is not None


def _internal_error(
    problem: Exception, function: types.FunctionType, mode: str, values: tuple[Any, ...]
) -> Exception:
    from s2s.errors import error
    from s2s.versions.target import parameter_span

    place, span = _place(problem)
    return error(
        "S2S901", problem=_summary(problem),
        span=span or parameter_span(function), label=f"s2s failed here ({place})",
        hint=f"this is a mistake of s2s: `{_again(function, mode, values)}` gives it again",
    )


def _summary(problem: Exception) -> str:
    """What was raised, in one line."""
    name = type(problem).__name__
    try:
        text = str(problem).partition("\n")[0]
    except Exception:  # a text of nodes that are too deep, or broken
        return name
    return f"{name}: {text:.200}" if text else name


def _place(problem: Exception) -> tuple[str, Span | None]:
    """Where in s2s something was raised, and the line of the user's that it was about."""
    place, span, entry = "", None, problem.__traceback__
    while entry is not None:
        frame, line = entry.tb_frame, entry.tb_lineno
        name = frame.f_globals.get("__name__", "")
        if name.partition(".")[0] == "s2s":
            place = f"{name}:{line}"
            found = frame.f_locals.get("span", getattr(frame.f_locals.get("statement"), "span", None))
            span = found if type(found).__name__ == "Span" else span
        entry = entry.tb_next
    return place, span


def _again(function: types.FunctionType, mode: str, values: tuple[Any, ...]) -> str:
    """A line of Python that brings a compilation about."""
    path = import_path(function)
    head = "import numpy as np, s2s; "
    name = function.__name__
    if path is not None:
        module, _, name = path.partition(":")
        head += f"from {module} import {name.partition('.')[0]}; "
    arguments = ", ".join([name, *map(_spelled, values), f"mode={mode!r}"])
    return f"{head}s2s.source({arguments})"


def _spelled(value: Any, depth: int = 0) -> str:
    """A value as Python source that makes one of its kind."""
    match value:
        case np.ndarray() if value.dtype.kind in "biufc":
            return f"np.ones({value.shape}, {value.dtype.str!r})"
        case None | bool() | int() | float() | complex() | str() if type(value).__module__ == "builtins":
            return repr(value)
        case np.generic():
            return f"np.{type(value).__name__}({value})"
        case list() | tuple() if depth < 3 and len(value) < 10:
            inner = ", ".join(_spelled(v, depth + 1) for v in value)
            return f"[{inner}]" if isinstance(value, list) else f"({inner},)"
        case dict() if depth < 3 and len(value) < 10:
            inner = ", ".join(f"{_spelled(k, 3)}: {_spelled(v, depth + 1)}" for k, v in value.items())
            return f"{{{inner}}}"
        case _:
            return (import_path(value) or f"<{type(value).__name__}>").replace(":", ".")
