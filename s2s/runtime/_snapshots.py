"""States of a loop that its reverse sweep starts again from: the schedules, as generated code uses them.

    snapshots = rt.Snapshots(20, n)             at most 20 states of a loop of n steps
    for t in range(n):
        if snapshots.due(t):
            snapshots.keep(t, u)                the state before step t
        u = step(u)
    for t in reversed(range(n)):
        u = snapshots.restore(t)                the latest state that is kept, of step t or of one before it
        for k in snapshots.steps(t):            the steps from there to t
            if snapshots.due(k):
                snapshots.keep(k, u)
            u = step(u)
        ...                                     step t once more, with what its reverse reads, and its reverse

Where the number of steps is known, the states are those of A. Griewank and A. Walther, "Algorithm 799: revolve", ACM
TOMS 26 (2000): no other choice advances fewer steps. With ``s`` states and ``r`` repetitions ``beta(s, r) = C(s + r,
s)`` steps can be reversed, and ``l`` steps with ``beta(s, r - 1) < l <= beta(s, r)`` take ``t(l, s) = r * l - beta(s +
1, r - 1)`` advances. What follows a loop of ``n`` steps has to be reversed before it: so both sweeps advance ``t(n + 1,
s)`` steps, ``n`` of them in the forward sweep. Where it is not known, the loop decides as it goes on which state gives
its place to the present one, after Q. Wang, P. Moin and G. Iaccarino, "Minimal repetition dynamic checkpointing
algorithm", SIAM J. Sci. Comput. 31 (2009).
"""

from __future__ import annotations

import copy
import math
import sys
from typing import Any

import numpy as np

from s2s.arguments import check_argument

__all__ = ["Calls", "Snapshots", "advances"]


# --- schedules ------------------------------------------------------------------------------------------------------


def advances(steps: int, snapshots: int) -> int:
    """The least number of steps to advance for reversing ``steps`` steps with so many states kept, the first one among
    them; the runs of a step together with its reverse are not counted."""
    repetitions = _repetitions(steps, snapshots)
    return repetitions * steps - _reach(snapshots + 1, repetitions - 1)


def _reach(snapshots: int, repetitions: int) -> int:
    """How many steps can be reversed where none is advanced more often than ``repetitions`` times."""
    return math.comb(snapshots + repetitions, snapshots) if repetitions >= 0 else 0


def _repetitions(steps: int, snapshots: int) -> int:
    found = 0
    while _reach(snapshots, found) < steps:
        found += 1
    return found


def _split(steps: int, snapshots: int) -> int:
    """How far to advance from a state that is kept to the next one to keep, for reversing ``steps`` steps."""
    repetitions = _repetitions(steps, snapshots)
    return min(_reach(snapshots, repetitions - 1), steps - _reach(snapshots - 1, repetitions - 1))


def _states_ahead(first: int, stop: int, free: int) -> list[int]:
    """The steps whose states are to be kept on the way from ``first``, which is kept, to ``stop``; the next one
    last."""
    found = []
    while free and stop - first > 1:
        first += _split(stop - first, free + 1)
        found.append(first)
        free -= 1
    return found[::-1]


class Snapshots:
    """At most ``most`` states of a loop of ``steps`` steps; of a loop that ends when it ends where ``steps`` is None.

    Raises ValueError where no state may be kept: there is nothing to start again from.
    """

    def __init__(self, most: int, steps: int | None = None) -> None:
        check_argument("snapshots", most)
        if most < 1:
            raise ValueError(f"snapshots={most}: at least one state must be kept")
        self._most = most
        self._kept: list[tuple[int, int, Any]] = []
        """The steps with states, each with its level and the state; the latest last."""
        self._ahead = None if steps is None else [*_states_ahead(0, steps + 1, most - 1), 0]
        """The steps whose states are to be kept, the next one last; None while that shows as the loop goes on. What
        follows the loop counts as one more step: it is reversed first."""

    def due(self, step: int) -> bool:
        """Whether the state before a step is to be kept."""
        return self._ahead is None or bool(self._ahead and self._ahead[-1] == step)

    def keep(self, step: int, state: Any) -> None:
        """Keep the state before a step."""
        if self._ahead is not None:
            self._ahead.pop()
            self._kept.append((step, 0, state))
        else:
            level = self._make_room() if len(self._kept) == self._most else 0
            if level is not None:
                self._kept.append((step, level, state))

    def _make_room(self) -> int | None:
        """Let one state go, and give the level of the one that comes for it; None where it has to stay away.

        A state before one of a higher level can go. Where there is none, the latest goes, and what comes for it is one
        level higher: so the levels never rise towards the end, and the distances are those of a binomial schedule.
        """
        if self._most == 1:
            return None
        levels = [level for _, level, _ in self._kept]
        for place in range(len(levels) - 2, 0, -1):
            if levels[place] < max(levels[place + 1 :]):
                del self._kept[place]
                return 0
        self._kept.pop()
        return levels[-1] + 1

    def restore(self, step: int) -> Any:
        """The latest state of a step before ``step`` or of itself; in the last case it is not kept any longer."""
        while self._kept[-1][0] > step:
            self._kept.pop()
        first, _, state = self._kept[-1]
        if first == step:
            self._kept.pop()
            self._ahead = []
        else:
            self._ahead = _states_ahead(first, step + 1, self._most - len(self._kept))
        self._first = first
        return state

    def steps(self, step: int) -> range:
        """The steps to advance from the state that was restored to the one before ``step``."""
        return range(self._first, step)

    def copy(self) -> Snapshots:
        """The same states, for a reverse sweep that may run more than once."""
        other = copy.copy(self)
        other._kept = list(self._kept)
        return other


# --- what gives something else each time that it is asked -----------------------------------------------------------


class Calls:
    """Calls in a block that runs again, of functions that may give something else each time: random draws, what is read
    from outside. What runs again is given what the first run was given.

    ``sources`` are the objects whose methods are called. Where all of them are generators of random numbers, they are
    put back into the state that they had, and draw again. Else every value is kept, in the order of the calls, and
    nothing is called again. ``must_draw`` says that keeping values would not do, because a call may change an array or
    raise. Raises TypeError where something else than a generator is called then.
    """

    def __init__(self, *sources: Any, must_draw: bool = False) -> None:
        self._sources = sources
        self._draws = bool(sources) and all(map(_is_generator, sources))
        self._given: list[Any] = []
        self._next = 0
        if must_draw and not self._draws:
            raise TypeError(
                "what runs again for its reverse calls something that may change an array or raise, and that is no "
                "generator of random numbers; call it before the checkpointed loop or function"
            )

    def keep(self, value: Any) -> Any:
        """A value that a call has given in the first run."""
        if not self._draws:
            self._given.append(value.copy() if isinstance(value, np.ndarray) else value)
            self._next += 1
        return value

    def again(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        """What ``fn(*args, **kwargs)`` has given in the first run."""
        if self._draws:
            return fn(*args, **kwargs)
        self._next += 1
        return self._given[self._next - 1]

    def state(self) -> Any:
        """What ``rewind`` needs to come back to this point."""
        return [_state(source) for source in self._sources] if self._draws else self._next

    def rewind(self, state: Any) -> None:
        """Go on from a point of the first run."""
        if not self._draws:
            self._next = state
        else:
            for source, its_state in zip(self._sources, state, strict=True):
                _set_state(source, its_state)


def _is_generator(source: Any) -> bool:
    random = sys.modules.get("random")
    if source is np.random or (source is random and random is not None):
        return True
    if random is not None and isinstance(source, random.Random):
        return not isinstance(source, random.SystemRandom)
    return isinstance(source, (np.random.Generator, np.random.RandomState))


def _state(source: Any) -> Any:
    if isinstance(source, np.random.Generator):
        return source.bit_generator.state
    return source.getstate() if hasattr(source, "getstate") else source.get_state(legacy=False)


def _set_state(source: Any, state: Any) -> None:
    if isinstance(source, np.random.Generator):
        source.bit_generator.state = state
    elif hasattr(source, "setstate"):
        source.setstate(state)
    else:
        source.set_state(state)
