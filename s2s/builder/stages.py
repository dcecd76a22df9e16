"""What each pass made of a function, for a validator that runs it before and after.

A pass takes a function and returns one; ``Context.passed`` tells of each. Where nobody asks, that is one test for a
pass. Passes that add or multiply in another order than the function before them say so: ``@reassociates``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from s2s.core import ir

__all__ = ["Stage", "Stages", "reassociates"]

_Pass = TypeVar("_Pass", bound=Callable[..., Any])


@dataclass(frozen=True)
class Stage:
    """A function after a pass, and before it: None for the first one. ``exact`` says that they give the same numbers
    bit for bit."""

    name: str
    before: ir.Function | None
    after: ir.Function
    exact: bool = True


@dataclass
class Stages:
    """The passes of one compilation, in order. ``primal`` is what was differentiated, and ``tangent`` makes its forward
    mode; None where nothing is. ``has_derivatives`` says that the primal has derivatives of other functions in it, with
    sums in an order of their own."""

    passed: list[Stage] = field(default_factory=list)
    primal: ir.Function | None = None
    tangent: Callable[[], ir.Function] | None = None
    has_derivatives: bool = False

    def note(self, made_by: Callable[..., Any] | str, before: Any, after: ir.Function, exact: bool) -> None:
        """Note what a pass made of a function; one that changed nothing is left out."""
        if after is not before:
            name = made_by if isinstance(made_by, str) else made_by.__name__
            self.passed.append(Stage(name, before, after, exact and not getattr(made_by, "reassociates", False)))

    @property
    def span(self) -> ir.Span | None:
        """Where the function is."""
        return self.passed[0].after.span if self.passed else None

    def restart(self) -> None:
        """Forget what was noted: the compilation begins again."""
        self.passed.clear()
        self.has_derivatives = False


def reassociates(made_by: _Pass) -> _Pass:
    """Declare that a pass gives what it was given but for rounding."""
    made_by.reassociates = True  # type: ignore[attr-defined]
    return made_by
