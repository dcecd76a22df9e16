"""What stops Numba in a version, for people: at which line of the text, and why. It is told while somebody listens.

    with listening() as found:
        version_of_call(on_backend(f, "numba"), ...)
    found[0].stops
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from s2s.versions.request import Compiled

if TYPE_CHECKING:
    from s2s.backends.numba.called import Refused

__all__ = ["Stop", "Stops", "listening", "tell"]


@dataclass(frozen=True)
class Stop:
    """What stops Numba at a line of the text, 0 where the line is not known."""

    line: int
    text: str


@dataclass
class Stops:
    """Of a version with the text ``compiled``: what Numba leaves to Python. Where it ``is_refused`` the whole function
    runs as Python."""

    compiled: Compiled
    stops: list[Stop] = field(default_factory=list)
    is_refused: bool = False


_listeners: ContextVar[list[Stops] | None] = ContextVar("listeners", default=None)


@contextmanager
def listening() -> Iterator[list[Stops]]:
    """What is told of the versions that are compiled in the block."""
    found: list[Stops] = []
    token = _listeners.set(found)
    try:
        yield found
    finally:
        _listeners.reset(token)


def tell(text: Any, wrapped: Any, problem: Refused | None) -> None:
    """Tell of a text that was compiled as ``wrapped``, or that Numba refused."""
    found = _listeners.get()
    if found is None:
        return
    made = Stops(text.compiled)
    if problem is not None:
        made.is_refused = True
        made.stops.append(Stop(problem.line, f"the whole function runs in Python: {problem.reason}"))
    else:
        made.stops += _left(wrapped)
    found.append(made)


def _left(wrapped: Any) -> Iterator[Stop]:
    """The calls and statements that compiled code leaves to Python."""
    regions = wrapped.regions.lines()
    for line, name in wrapped.adapted.handed.items():
        if line > 0 and line not in regions:
            why = wrapped.stops.get(line, "Numba has none for these arguments")
            yield Stop(line, f"`{name}` is called in Python: {why}")
    for line in sorted(wrapped.regions.types):
        yield Stop(line, f"this is run in Python: {wrapped.stops.get(line, 'Numba does not compile it')}")

