"""How long a function may become when it is written out; the limits are wide where there is no other way."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = [
    "FEW_ARGUMENTS", "FEW_NUMBERS", "LARGE_ARRAY", "LONG", "MOST_STATEMENTS", "MOST_STEPS", "WITHOUT_OTHER_WAY",
    "TooLong",
    "attempts", "bounded_length", "charge_step", "check_statements", "limited_length",
]

FEW_NUMBERS = 4
"""An array of at most so many elements is written as these where loops are compiled to machine code."""

FEW_ARGUMENTS = 16
"""An array of at most so many items is spread out in a call ``f(*a)``."""

LARGE_ARRAY = 2**18
"""Arithmetic on arrays of so many elements is done in blocks on NumPy: below, a loop costs more than it saves."""

MOST_STEPS = 40_000
"""So many statements are specialised, those of inlined functions and of each attempt counted."""

OF_LIBRARIES = 2
"""A statement of another package counts as so many: much of it is about arguments that the program does not have, and
an attempt that goes on for seconds is seldom the last one."""

MOST_STATEMENTS = 4_000
"""So many statements a specialised function has: what comes after takes seconds then."""

LONG = MOST_STATEMENTS // 2
"""A function of more statements is not compiled once more for the kinds that a run of it shows: that takes seconds,
twice, and saves a part of each call."""

WITHOUT_OTHER_WAY = 10
"""So many times these limits hold where nothing else gives the derivative: then it takes minutes."""

SLACK = 1.5
"""While a function is specialised, so many times the statements it may have are written: some are dropped."""


@dataclass
class _Budget:
    """What is left to a compilation: how many steps it may take, and how many statements it may make."""

    steps: int
    statements: int


_budgets: list[_Budget] = []
"""Of each compilation that runs, innermost last."""


@dataclass
class _Attempts:
    """Compilations one after another, at a depth of compilations within each other, with one budget."""

    depth: int
    budget: _Budget | None = None


_attempts: list[_Attempts] = []


@contextlib.contextmanager
def attempts() -> Iterator[None]:
    """As a context: compilations one after another may take as many steps together as one of them."""
    _attempts.append(_Attempts(len(_budgets)))
    try:
        yield
    finally:
        _attempts.pop()


class TooLong(Exception):
    """A function becomes too long when it is written out; no attempt at anything else catches this."""


@contextlib.contextmanager
def limited_length(applies: bool) -> Iterator[None]:
    """As a context: compilations have limits, which are narrow where there is another way to the derivative. What
    counts is work, not time: a function is refused on each machine, or on none."""
    times = 1 if applies else WITHOUT_OTHER_WAY
    budget = _Budget(MOST_STEPS * times, MOST_STATEMENTS * times)
    if _attempts and _attempts[-1].depth == len(_budgets):
        budget = _attempts[-1].budget = _attempts[-1].budget or budget
    _budgets.append(budget)
    try:
        yield
    finally:
        _budgets.pop()


@contextlib.contextmanager
def bounded_length() -> Iterator[None]:
    """As a context: what is compiled has limits, those that hold already or else wide ones."""
    with contextlib.nullcontext() if _budgets else limited_length(False):
        yield


def charge_step(written: int, is_own: bool) -> None:
    """Count one statement that is specialised, of the program's own package or of another one; ``written`` are those
    that have come of all of them. Raises TooLong where there are too many."""
    if _budgets:
        budget = _budgets[-1]
        budget.steps -= 1 if is_own else OF_LIBRARIES
        if budget.steps < 0:
            raise TooLong("more statements are read than a compilation may read")
        if written > SLACK * budget.statements:
            raise TooLong(_too_many(written))


def check_statements(count: int) -> None:
    """Raise TooLong where a function has too many statements."""
    if _budgets and count > _budgets[-1].statements:
        raise TooLong(_too_many(count))


def _too_many(count: int) -> str:
    return f"it has {count} statements when all calls are written out"
