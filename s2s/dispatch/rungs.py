"""A version in, out comes what is said of how it was had: each rung that was tried, its refusal, and how long it took.

    static: refused after 0.021 s: the attribute `eigenvalues` of ... [S2S208] (model.py:13)
    observed: compiled in 0.045 s
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

from s2s.core.linecaches import file_to_show
from s2s.core.lines import one_line
from s2s.core.record import record
from s2s.notices import log

if TYPE_CHECKING:
    from s2s.dispatch.version import Version

__all__ = ["Rung", "climb", "said_of"]


@record
class Rung:
    """A way to have a derivative that was tried: ``static``, ``observed`` or ``recorded``. ``refusal`` says why it does
    not serve the calls, empty where it does, ``seconds`` what the compiler and runs of the function took for it."""

    name: str
    seconds: float
    refusal: str = ""

    def __str__(self) -> str:
        if not self.refusal:
            return f"{self.name}: compiled in {self.seconds:.3f} s"
        return f"{self.name}: refused after {self.seconds:.3f} s: {self.refusal}"


def climb(version: Version, name: str, start: float, problem: Any = None) -> None:
    """Note a rung that was tried for a version since ``start``, and log it. ``problem`` has refused it, an exception or
    what is said of one."""
    rung = Rung(name, perf_counter() - start, "" if problem is None else said_of(problem))
    version.rungs = (*(one for one in version.rungs if one.name != name), rung)
    log("%s: %s", version.compiled.entry, rung)


def said_of(problem: Any) -> str:
    """What is said of an exception, in a line, the line that it is about, and who has led there first."""
    if isinstance(problem, str):
        return problem
    given = getattr(problem, "diagnostic", None)
    said = " ".join(one_line(str(problem).split("\n")[0]).split())
    if given is None or given.span is None:
        return said
    place = f"{file_to_show(given.span.file)}:{given.span.line}"
    return f"{said} ({'; asked by '.join([place, *given.asked_by[:1]])})"
