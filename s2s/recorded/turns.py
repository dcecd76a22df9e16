"""One recorded call at a time: threads that record take turns, and those that a recorded call starts belong to it.

    a thread               calls s2s.grad(f), which is recorded: it has the turn until the gradient is there
    a thread of f's own    was started meanwhile by one that belongs to the call: what it does is recorded, too
    any other              that records waits, and is refused where the call that has the turn stands still
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from s2s.errors import error

__all__ = ["TURNS", "Muted"]

STANDS = 20.0
"""Seconds without a step of the call that has the turn, after which one that waits for it is refused: it may be waiting
for that one."""

LONGEST = 600.0
"""Seconds that a call waits at most."""

ASIDE = 2.0
"""Seconds that the compiler waits for a recorded run before it reads functions in their own code; a tenth, where that
stands still."""


class Turns:
    """Whose turn it is. ``is_running`` says that the program runs now, in watched code."""

    def __init__(self) -> None:
        self.holder: threading.Thread | None = None
        self.is_running = False
        self._lock = threading.Lock()
        self._family = weakref.WeakSet[threading.Thread]()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._in_child)

    def belongs(self) -> bool:
        """Whether the running thread works for the call that has the turn."""
        current = threading.current_thread()
        return self.holder is not None and (current is self.holder or current in self._family)

    @contextlib.contextmanager
    def taken(self, name: str) -> Iterator[None]:
        """As a context: the running thread has the turn. Raises NoDerivativeError where it does not come."""
        if self.belongs():
            yield
            return
        self._wait(name)
        self.holder = threading.current_thread()
        start = threading.Thread.start
        noted: Callable[..., None] = self._noting(start)
        threading.Thread.start = noted  # type: ignore[method-assign]
        try:
            yield
        finally:
            if threading.Thread.start is noted:
                threading.Thread.start = start  # type: ignore[method-assign]
            self.holder = None
            self._family = weakref.WeakSet()
            self._lock.release()

    def stand_aside(self) -> None:
        """Wait until no other call runs in watched code, or the one that does waits, maybe for the compiler."""
        progress = _Progress(self._frames)
        while self.is_running and not self.belongs() and progress.begun + ASIDE > time.monotonic():
            if any(frame.f_code.co_filename.endswith("critical.py") for frame in self._frames()):
                return
            if progress.stands() > ASIDE / 10.0:
                return
            time.sleep(0.0005)

    def _wait(self, name: str) -> None:
        progress = _Progress(self._frames)
        while not self._lock.acquire(timeout=0.05):
            if progress.stands() > STANDS or progress.begun + LONGEST < time.monotonic():
                raise error("S2S214", name=name, reason="a call in another thread is being recorded, and does not end")

    def _frames(self) -> list[Any]:
        """Where the threads are that work for the call that has the turn."""
        frames = sys._current_frames()
        return [frames[t.ident] for t in (self.holder, *self._family) if t is not None and t.ident in frames]

    def _noting(self, start: Callable[..., None]) -> Callable[..., None]:
        def noted(thread: threading.Thread) -> None:
            if self.belongs():
                self._family.add(thread)
            start(thread)

        return noted

    def _in_child(self) -> None:
        if self.holder is not None and self.holder is not threading.current_thread():
            self.holder, self._lock = None, threading.Lock()


class _Progress:
    """How long some threads stand still: none of their frames is elsewhere than it was."""

    def __init__(self, frames: Callable[[], list[Any]]) -> None:
        self.begun = self._since = time.monotonic()
        self._frames = frames
        self._place: Any = None

    def stands(self) -> float:
        """Seconds since they were elsewhere, as far as anybody has looked."""
        here = [(id(frame), frame.f_lasti) for frame in self._frames()]
        if here != self._place:
            self._place, self._since = here, time.monotonic()
        return time.monotonic() - self._since


TURNS = Turns()


class Muted:
    """A stream that shows what other threads write, and not what those do that work for the call that has the turn."""

    def __init__(self, shown: Any, nowhere: Any) -> None:
        self.is_over = False
        self._shown, self._nowhere = shown, nowhere

    def __getattr__(self, name: str) -> Any:
        return getattr(self._shown if self.is_over or not TURNS.belongs() else self._nowhere, name)
