"""Passes, and what each of them made of a function, for a validator that runs it before and after.

A pass takes a function and returns one; ``Context.passed`` tells of each. Where nobody asks, that is one test for a
pass.
"""

from __future__ import annotations

import contextlib
import linecache
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from s2s.core import ir

__all__ = [
    "LONGEST", "Clock", "Pass", "Remark", "Stage", "Stages", "note_compiled", "remark", "text_at", "watched",
    "watching",
]


@dataclass(eq=False)
class Pass:
    """One pass: ``run`` is given a function, and the context of the compilation (of the passes before differentiation:
    all that is known of it). Where it is ``optional``, ``S2S_PASSES`` may leave it out. It says where it
    ``reassociates``: adds or multiplies in another order than the function before it."""

    name: str
    run: Callable[[ir.Function, Any], ir.Function]
    about: str
    optional: bool = False
    reassociates: bool = False


@dataclass(frozen=True)
class Stage:
    """A function after a pass, and before it: None for the first one. ``exact`` says that they give the same numbers
    bit for bit."""

    name: str
    before: ir.Function | None
    after: ir.Function
    exact: bool = True


@dataclass(frozen=True)
class Remark:
    """What the compiler decided about a place of the program, for people: what it folded there (``folded``), or why it
    did not do what a reader may have expected (``fusion``, ``loop``)."""

    span: ir.Span
    kind: str
    text: str


class Clock:
    """The seconds of the processor that the stages of one compilation take, by their names."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = time.thread_time()

    def lap(self, name: str) -> None:
        """Say that a stage has ended, which began where the one before it did."""
        now = time.thread_time()
        self.laps[name] = self.laps.get(name, 0.0) + now - self._last
        self._last = now

    @property
    def seconds(self) -> float:
        return sum(self.laps.values())

    def __str__(self) -> str:
        longest = sorted(self.laps.items(), key=lambda item: -item[1])[:6]
        return ", ".join(f"{name} {seconds:.3f} s" for name, seconds in longest)


@dataclass
class Stages:
    """The passes of one compilation, in order. ``primal`` is what was differentiated, and ``tangent`` makes its forward
    mode; None where nothing is. ``has_derivatives`` says that the primal has derivatives of other functions in it, with
    sums in an order of their own. ``decisions`` say how the reverse sweep gets the primal values that it reads,
    ``varied`` are the variables that carry a derivative, ``sharing`` is what the placement of adjoints takes to be the
    same memory."""

    passed: list[Stage] = field(default_factory=list)
    primal: ir.Function | None = None
    tangent: Callable[[], ir.Function] | None = None
    has_derivatives: bool = False
    decisions: tuple[Any, ...] = ()
    varied: frozenset[ir.Atom] = frozenset()
    sharing: Any = None
    remarks: list[Remark] = field(default_factory=list)
    """What was decided where. It is the list of the context, from which speculation takes back what came to nothing."""
    places: dict[Any, ir.Span] = field(default_factory=dict)
    """Where the program made the version rely on something, by the subjects of guards."""

    def note(self, name: str, before: ir.Function | None, after: ir.Function, exact: bool) -> None:
        """Note what a pass made of a function; one that changed nothing is left out."""
        if after is not before:
            self.passed.append(Stage(name, before, after, exact))

    @property
    def span(self) -> ir.Span | None:
        """Where the function is."""
        return self.passed[0].after.span if self.passed else None

    def restart(self) -> None:
        """Forget what was noted: the compilation begins again."""
        vars(self).update(vars(Stages()))


_watching: list[list[tuple[Any, Stages]]] = []


@contextlib.contextmanager
def watched() -> Iterator[list[tuple[Any, Stages]]]:
    """As a context: what is compiled inside, each with the passes of its compilation, which need not be done again for
    those who want to see them."""
    seen: list[tuple[Any, Stages]] = []
    _watching.append(seen)
    try:
        yield seen
    finally:
        _watching.pop()


def watching() -> Stages | None:
    """What the passes of a compilation are noted in, where somebody watches."""
    return Stages() if _watching else None


def note_compiled(compiled: Any, stages: Stages | None) -> None:
    """Note what a compilation has given."""
    if _watching and stages is not None:
        _watching[-1].append((compiled, stages))


def remark(context: Any, span: ir.Span | None, kind: str, text: str) -> None:
    """Note what was decided about a place, where somebody asks: where nobody does, texts need not be made."""
    if context.stages is not None and span is not None:
        context.remarks.append(Remark(span, kind, text))


LONGEST = 60
"""The longest text of an expression in a remark."""


def text_at(span: ir.Span) -> str | None:
    """The text of an expression, in one line; None where it has no width, or is long."""
    lines = [linecache.getline(span.file, n).rstrip("\n") for n in range(span.line, span.end_line + 1)]
    if not lines or (span.line, span.column) == (span.end_line, span.end_column):
        return None
    lines[-1] = lines[-1][: span.end_column]
    lines[0] = lines[0][span.column :]
    text = " ".join(" ".join(lines).split())
    return text if 0 < len(text) <= LONGEST else None
