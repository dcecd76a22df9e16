"""How long a function may become when it is written out; there is no limit where there is no other way."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

__all__ = [
    "FEW_ARGUMENTS", "FEW_NUMBERS", "LARGE_ARRAY", "MOST_STATEMENTS", "MOST_STEPS", "TooLong", "charge_step",
    "check_statements", "limited_length",
]

FEW_NUMBERS = 4
"""An array of at most so many elements is written as these where loops are compiled to machine code."""

FEW_ARGUMENTS = 16
"""An array of at most so many items is spread out in a call ``f(*a)``."""

LARGE_ARRAY = 2**18
"""Arithmetic on arrays of so many elements is done in blocks on NumPy: below, a loop costs more than it saves."""

MOST_STEPS = 60_000
"""So many statements are specialised, those of inlined functions and of each attempt counted."""

MOST_STATEMENTS = 6_000
"""So many statements a specialised function has: what comes after takes seconds then."""

_left: list[int] = []
"""How many steps are left, of each compilation with a limit, innermost last."""


class TooLong(Exception):
    """A function becomes too long when it is written out; no attempt at anything else catches this."""


@contextlib.contextmanager
def limited_length(applies: bool) -> Iterator[None]:
    """As a context: compilations have limits, where these apply."""
    if not applies:
        yield
        return
    _left.append(MOST_STEPS)
    try:
        yield
    finally:
        _left.pop()


def charge_step() -> None:
    """Count one statement. Raises TooLong where there have been too many."""
    if _left:
        _left[-1] -= 1
        if _left[-1] < 0:
            raise TooLong(f"more than {MOST_STEPS} statements are read")


def check_statements(count: int) -> None:
    """Raise TooLong where a function has too many statements."""
    if _left and count > MOST_STATEMENTS:
        raise TooLong(f"it has {count} statements when all calls are written out")
