"""What the fixpoints of loops came to, for loops in them that are run again.

The fixpoint of a loop runs its body more than once, and with it the fixpoints of the loops inside. From scratch these
would take twice as many runs with each further loop around. So each begins with its *solution* of the run before, where
what is known before the loop is the same: what is known only grows from one run to the next, so the solution of the run
before is below that of this one, which is found in one run where they are the same. What a fixpoint begins with is no
matter of soundness: it ends only with what one more iteration leaves as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from s2s.analysis.abstract.lattice import lengths_of
from s2s.builder.builder import Context
from s2s.builder.virtual_heap import Cell, Heap
from s2s.core import ir
from s2s.core.values import AbstractValue
from s2s.specialize.frames import Frame

if TYPE_CHECKING:
    from s2s.specialize.specializer import Specializer

__all__ = ["NOTHING", "Fact", "Solution", "inside", "names_of", "place_of"]

Fact = tuple[AbstractValue, bool]
"""What is known of a value, and whether it depends on what is differentiated."""


@dataclass(frozen=True)
class Solution:
    """What a fixpoint came to: for each carried part that iterations change what holds before the loop, and at the
    start of every iteration; the objects that they change; the arrays that they store what is differentiated into; and
    the solutions of the loops inside."""

    moved: Mapping[Any, tuple[Fact, Fact]] = field(default_factory=dict)
    touched: tuple[Cell, ...] = ()
    stored: tuple[ir.Var, ...] = ()
    inner: dict[Any, Solution] = field(default_factory=dict)

    def start(self, key: Any, init: Fact) -> Fact:
        """What to begin with for a part of which ``init`` holds before the loop."""
        before, found = self.moved.get(key, (None, init))
        # a length that is not known is another one in each run
        return found if before == init and lengths_of(found[0], _UNKNOWN) <= lengths_of(init[0], _UNKNOWN) else init

    def objects(self, heap: Heap) -> list[Cell]:
        """The objects that iterations change. One that the loop around makes is another one in each of its own."""
        found = []
        for cell in self.touched:
            alike = [cell]
            if cell not in heap.states and cell.origin is None:
                alike = [c for c in heap.states if c.origin is None and (c.name, c.span) == (cell.name, cell.span)]
            if len(alike) != 1:
                return []
            found += alike
        return found

    def store(self, context: Context, frame: Frame) -> None:
        """Note that iterations store what is differentiated."""
        for name in self.stored:
            array = frame.env.get(name)
            if isinstance(array, ir.Var):
                context.stored(array)


NOTHING = Solution()

_UNKNOWN = ("?", "*")
"""How the symbols begin of lengths that are not known, and of products, which may be of such."""


def names_of(frame: Frame, arrays: list[ir.Var]) -> tuple[ir.Var, ...]:
    """The names that a function has for arrays."""
    return tuple(name for name, atom in frame.env.items() if atom in arrays) if arrays else ()


def place_of(specializer: Specializer, place: Any) -> Any:
    """A place of a loop, and how many there were at this place in this iteration of the loop around it."""
    number = 0
    while (place, number) in specializer.solving:
        number += 1
    return place, number


@contextmanager
def inside(specializer: Specializer, before: dict[Any, Solution]) -> Iterator[dict[Any, Solution]]:
    """Around an iteration: ``before`` are the solutions of the loops in it of the run before; those of now come out.
    """
    around = specializer.solved, specializer.solving
    found: dict[Any, Solution] = {}
    specializer.solved, specializer.solving = before, found
    try:
        yield found
    finally:
        specializer.solved, specializer.solving = around
