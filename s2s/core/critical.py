"""The section of a process in which s2s changes what all of it shares: one thread at a time, whole or not at all.

Compiling imports modules, fills tables and swaps code. Three things could cut it in two:

- Another thread. The section is a lock, which one thread may enter again.
- Ctrl-C. In the section an interrupt waits, until the section ends or the code in it calls ``allow_interrupt``, as the
  compiler does between statements: there nothing is half done. (A module of which half was imported would be imported
  again, beside those that know its first half.)
- A fork by another thread. The child would have the lock, and the collector switched off, for good: so a fork waits
  until the section is left, and until no thread is in the middle of importing a module of s2s.

Only the main thread gets signals, and only a handler that is a Python function is put off: where the process ignores
Ctrl-C or is ended by it, that stays so.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from _thread import RLock, get_ident  # as functools has it: threading is not imported by NumPy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["Section", "section"]

WAIT = 0.05
"""Seconds between two looks at a waiting interrupt while another thread is in the section."""

LONGEST = 10.0
"""Seconds that a fork waits for imports."""


class _Interrupts:
    """Puts off SIGINT: ``handler`` is what it would have called, ``waiting`` whether one has come."""

    def __init__(self) -> None:
        self.handler: Callable[[int, Any], Any] | None = None
        self.waiting = False

    def put_off(self) -> bool:
        """Let interrupts wait from here; False where they do already, or are not ours to put off."""
        handler = signal.getsignal(signal.SIGINT)
        if handler == self._note or not callable(handler):
            return False
        self.waiting = False
        try:
            signal.signal(signal.SIGINT, self._note)
        except ValueError:  # not the main thread
            return False
        self.handler = handler
        return True

    def resume(self) -> None:
        """Let interrupts through again, and the one that waits."""
        if self.handler is not None:
            signal.signal(signal.SIGINT, self.handler)
            self.deliver()

    def deliver(self) -> None:
        """Let the handler see the interrupt that waits, if there is one: it raises KeyboardInterrupt, as a rule."""
        if self.waiting and self.handler is not None:
            self.waiting = False
            self.handler(signal.SIGINT, sys._getframe(1))

    def _note(self, number: int, frame: Any) -> None:
        self.waiting = True


class Lock:
    """A re-entrant lock that the thread which holds it may lend to one that works for it while it waits."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._lent: set[int] = set()

    def acquire(self, timeout: float = -1) -> bool:
        """Take the lock; False where ``timeout`` seconds have gone by."""
        return get_ident() in self._lent or self._lock.acquire(timeout=timeout)

    def release(self) -> None:
        """Give the lock back."""
        if get_ident() not in self._lent:
            self._lock.release()

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *problem: object) -> None:
        self.release()

    def is_held(self) -> bool:
        """Whether the running thread holds the lock, or was lent it."""
        return get_ident() in self._lent or self._lock._is_owned()  # type: ignore[attr-defined]

    def lend(self, thread: int) -> None:
        """Let another thread pass while this one waits for it."""
        self._lent.add(thread)

    def take_back(self, thread: int) -> None:
        """The other thread has come to its end."""
        self._lent.discard(thread)


class Section:
    """A context manager: the code in it runs in one thread at a time, is not interrupted, and no process is forked
    meanwhile. For one look into a table ``lock`` alone will do, which interrupts do not wait for."""

    def __init__(self) -> None:
        self.lock = Lock()
        self._interrupts = _Interrupts()
        self._entered: list[bool] = []
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=self._before_fork, after_in_parent=self.lock.release, after_in_child=self._in_child
            )

    def __enter__(self) -> None:
        is_first = self._interrupts.put_off()  # before the lock is taken: who has it gives it back
        try:
            while not self.lock.acquire(timeout=WAIT):
                if is_first:
                    self._interrupts.deliver()
        except BaseException:
            if is_first:
                self._interrupts.resume()
            raise
        self._entered.append(is_first)

    def __exit__(self, *problem: object) -> None:
        is_first = self._entered.pop()
        self.lock.release()
        if is_first:
            self._interrupts.resume()

    def allow_interrupt(self) -> None:
        """Raise what an interrupt that waits would have raised: called where nothing is half done. In other threads
        than the main one nothing waits."""
        if self._interrupts.waiting and any(self._entered):
            self._interrupts.deliver()

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Let interrupts through, while code of another package runs that takes long and shares nothing of ours."""
        is_main = any(self._entered)
        if is_main:
            self._interrupts.resume()
        try:
            yield
        finally:
            if is_main:
                self._interrupts.put_off()

    def _before_fork(self) -> None:
        end = time.monotonic() + LONGEST
        self.lock.acquire()
        while _is_importing() and time.monotonic() < end:
            self.lock.release()
            time.sleep(0.001)
            self.lock.acquire()

    def _in_child(self) -> None:
        self.lock.release()
        if not any(self._entered):  # a thread that is not in the child was about to enter
            self._interrupts.resume()


def _is_importing() -> bool:
    """Whether a module of s2s is half imported."""
    found = [module for name, module in list(sys.modules.items()) if name.partition(".")[0] == "s2s"]
    return any(getattr(getattr(module, "__spec__", None), "_initializing", False) for module in found)


section = Section()
"""The section of the compiler."""
