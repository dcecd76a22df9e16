"""Speculation: code that is specialised to see what comes of it, and taken back where that cannot be used.

    with speculate(self, builder) as speculation:
        result = self.inliner.inline(fn, args, kwargs, frame, speculation.builder, span)

Where the block ends, what it has written goes into ``builder``. Where it raises, or has called ``discard``, all state
of the specialiser is what it was before. Every field is taken back that is not named here, so that none is forgotten.
What an exception of the program relies on is kept: who catches it goes on with code that takes it for certain.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from s2s.builder.builder import Builder
from s2s.specialize.frames import Frame
from s2s.versions.boundary import Raised

if TYPE_CHECKING:
    from s2s.specialize.frames import Frame
    from s2s.specialize.specializer import Specializer

__all__ = ["CONTAINERS", "STAYS", "Snapshot", "Speculation", "holders_of", "speculate"]

CONTAINERS = frozenset({dict, list, set})
"""The types of fields that change in place; the values that they hold do not, but for holders of their own."""

STAYS = {
    "Context": frozenset({
        # what variables are, by variable: no name is given twice, so that those of a discarded block mean nothing else
        "counters", "values", "definitions", "virtual_closures", "joins", "sharing", "live", "relied", "checked",
        # who looks on, and what later stages fill
        "stages", "reading", "clock",
    }),
    "Specializer": frozenset({
        # the budget of all speculation, and what has come of it
        "effort", "outcomes", "refused_outcomes",
        # an outcome that is relied on may have asked this
        "compared", "has_short_loops",
        # has no state of its own
        "items",
    }),
    "Inliner": frozenset({"dependencies"}),
    "Holding": frozenset({"met"}),
    # an assumption too many is a guard too many; an outcome that is relied on may have made it
    "Facts": frozenset({"fresh", "assumed", "alike", "needed", "bounded", "sums"}),
}
"""By class, the fields that a discarded block leaves as they are: what is true whether its code is there or not."""


def holders_of(specializer: Specializer, frame: Frame | None = None) -> Iterator[object]:
    """The objects that hold the state of a specialiser; ``frame`` where the block assigns variables of a function that
    goes on after it."""
    context = specializer.context
    yield from (
        specializer, specializer.inliner, context, context.heap, context.evaluator.facts, specializer.guards,
        specializer.instances, specializer.live_objects, specializer.holding, specializer.iterables,
        *specializer.iterables.watches,
    )
    if frame is not None:
        yield frame


class Snapshot:
    """What the fields of some objects hold at one time. Containers come back as the same objects, with the same in
    them, for who refers to them."""

    __slots__ = ("_held",)

    def __init__(self, holders: Iterable[object]) -> None:
        held: list[tuple[Any, str, Any, Any]] = []
        for holder in holders:
            stays = STAYS.get(type(holder).__name__, ())
            for name, value in fields_of(holder):
                if name not in stays:
                    held.append((holder, name, value, value.copy() if type(value) in CONTAINERS else None))
        self._held = held

    def restore(self) -> None:
        """Put it all back."""
        for holder, name, value, content in self._held:
            if type(value) is list:
                value[:] = content
            elif content is not None:
                value.clear()
                value.update(content)
            setattr(holder, name, value)


def fields_of(holder: Any) -> Iterable[tuple[str, Any]]:
    """The fields of an object, with what they hold."""
    slots = getattr(type(holder), "__slots__", None)
    return vars(holder).items() if slots is None else [(name, getattr(holder, name)) for name in slots]


class Speculation:
    """A block that may be discarded; ``builder`` takes its statements."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.is_discarded = False

    def discard(self) -> None:
        """Take back what the block does, when it is over."""
        self.is_discarded = True


@contextmanager
def speculate(
    specializer: Specializer, builder: Builder, frame: Frame | None = None, optional: bool = False, only_if: bool = True
) -> Iterator[Speculation]:
    """Around a block that leaves no trace where it raises, or is discarded. ``optional`` says that a call can be left
    to the run of the program instead. Where ``only_if`` is false nobody goes on after an exception, and nothing is
    taken back."""
    if not only_if:
        yield Speculation(builder)
        return
    speculation, snapshot = Speculation(builder.child()), Snapshot(holders_of(specializer, frame))
    specializer.followed += optional
    relied_on = None
    try:
        yield speculation
    except BaseException as problem:
        speculation.discard()
        relied_on = specializer.guards.copy() if isinstance(problem, Raised) else None
        raise
    finally:
        specializer.followed -= optional
        if speculation.is_discarded:
            snapshot.restore()
            if relied_on is not None:  # by that the program raises
                specializer.guards.update(relied_on)
        else:
            builder.take(speculation.builder)
