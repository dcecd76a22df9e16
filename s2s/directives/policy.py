"""What a program decides about a function: a policy at its steps, or another rule."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

from s2s.core.linecaches import file_to_show
from s2s.core.record import record

__all__ = [
    "AMBIENT", "DEBUG_NANS", "KEEP_VARIABLES", "POLICIES", "SEARCH", "SHARPNESS",
    "Choice", "Choices", "Override", "Policy", "held_again", "parts_of",
]


@record
class Policy:
    """What stands for the derivative of a piecewise constant function: one of ``POLICIES``, or ``"open"`` while that
    is not decided. ``why`` says what it was decided by, where the program has chosen nothing, ``is_looked_up`` that the
    function is a method of arrays if the value that the program looks it up in is an array."""

    name: str
    sharpness: float | None = None
    why: str = ""
    is_looked_up: bool = False

    def __str__(self) -> str:
        return f'nonsmooth="{self.name}"' + (f", sharpness={self.sharpness:g}" if self.sharpness else "")


@record
class Override:
    """A rule that stands for that of a function: ``"identity"``, ``"zero"``, or a function
    ``rule(out, out_bar, *args, **kwargs)``; ``name`` is the one that it is registered under."""

    rule: Any
    name: str = ""

    def __str__(self) -> str:
        if isinstance(self.rule, str):
            return f'the rule "{self.rule}"'
        code = getattr(self.rule, "__code__", None)
        shown = f'"{self.name}"' if self.name else getattr(self.rule, "__name__", repr(self.rule))
        where = f" ({file_to_show(code.co_filename)}:{code.co_firstlineno})" if code is not None else ""
        return f"the rule {shown}{where}"


POLICIES = ("straight_through", "zero", "error", "sigmoid", "linear", "hard_tanh")

SEARCH = "search"
"""The name, among those of piecewise constant functions, of loops that find a point by comparisons."""

SHARPNESS = {"sigmoid": 10.0, "linear": 10.0, "hard_tanh": 1.0}
"""The policies with a smooth step in place of the jump, and how sharp that is where nothing is said: its slope in the
middle is in proportion to it."""


DEBUG_NANS, KEEP_VARIABLES = "nans", "variables"
"""What blocks are for that are entered for debugging."""


@record
class Choice:
    """What one block, decorator or call decides: by function, by the name of a function, and with the key ``""`` for
    every piecewise constant one. One that is for debugging says how the derivatives in its block run, and decides about
    no function."""

    by_key: tuple[tuple[Any, Policy | Override], ...]
    debugging: str = ""

    def find(self, fn: Any, names: tuple[str, ...]) -> tuple[Any, Policy | Override] | None:
        """The key that means a function, and what it decides: the function itself is asked for before its names."""
        for wanted in (fn, *names):
            for key, how in self.by_key:
                if key is wanted or (isinstance(key, str) and key and key == wanted):
                    return key, how
        return None

    @property
    def general(self) -> Policy | Override | None:
        """What is decided for every piecewise constant function."""
        return next((how for key, how in self.by_key if isinstance(key, str) and not key), None)

    @property
    def is_for_searches(self) -> bool:
        """Whether loops that find a point by comparisons have the derivative of their iterations."""
        return any(isinstance(key, str) and key == SEARCH for key, _ in self.by_key)

    @property
    def overridden(self) -> tuple[Any, ...]:
        """The functions, or names of functions, that get another rule."""
        return tuple(key for key, how in self.by_key if isinstance(how, Override))


Choices = tuple[Choice, ...]
"""What holds at a place, the innermost first."""

AMBIENT: ContextVar[Choices] = ContextVar("s2s choices", default=())
"""The choices of the blocks that the program is in: each thread, and each task, has its own."""


@contextlib.contextmanager
def held_again(held: Choices) -> Iterator[None]:
    """Choices hold that held when something was begun which goes on now."""
    token = AMBIENT.set(held)
    try:
        yield
    finally:
        AMBIENT.reset(token)


def parts_of(held: Choices) -> tuple[Any, ...]:
    """What makes up choices, in a row: two that differ in it may lead to different derivatives."""
    found: list[Any] = [len(held)]
    for choice in held:
        found.append(len(choice.by_key))
        for key, how in choice.by_key:
            found += (key, how.name, how.sharpness if isinstance(how, Policy) else how.rule)
    return tuple(found)
