"""The thread in which Numba compiles while the program runs on: jobs in, one after the other, each when it is its turn.

The thread is there only while there are jobs. It must not be cut in two:

- A fork waits until the job at hand is done: the child would have the locks of the import system and of Numba, and
  nobody to give them back. A child takes over the jobs that wait when it asks for one itself.
- At the end of the process the job at hand is given up: LLVM must not run while the process is taken down.
"""

from __future__ import annotations

import _thread
import atexit
import contextlib
import ctypes
import logging  # noqa: F401  # Numba imports it: its own handlers of forks must not come while a fork waits
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable

from s2s.core.quiet import ASIDE

__all__ = ["Worker", "worker"]

LONGEST = 20.0
"""Seconds that a fork, or the end of the process, waits for the job at hand."""


class Worker:
    """``generation`` changes in a forked child, where the jobs of the parent are not done."""

    def __init__(self) -> None:
        self.generation = 0
        self._jobs = deque[Callable[[], None]]()
        self._lock = threading.Lock()
        self._running: threading.Event | None = None  # is set when the thread ends
        self._ident = 0
        self._is_paused = self._is_over = False
        atexit.register(self._end)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self._before_fork, after_in_parent=self._resume, after_in_child=self._in_child)

    def submit(self, job: Callable[[], None]) -> None:
        """Do a job when those before it are done."""
        with self._lock:
            self._jobs.append(job)
            self._start()

    def wait(self, timeout: float) -> bool:
        """Wait until there is no job any more; False where there still is one after so many seconds."""
        running = self._running
        return running is None or running.wait(timeout)

    def _start(self) -> None:
        """Start the thread, if there is something to do; the caller has the lock. It is none of ``threading``, whose
        threads work for the call that starts them where that is recorded."""
        if self._running is None and self._jobs and not (self._is_paused or self._is_over):
            with contextlib.suppress(RuntimeError):  # the process comes to its end
                ended = threading.Event()
                self._ident = _thread.start_new_thread(self._work, (ended,))
                self._running = ended

    def _work(self, ended: threading.Event) -> None:
        ASIDE.add(threading.get_ident())
        try:
            while (job := self._next()) is not None:
                with contextlib.suppress(Exception):  # a job says itself what has become of it
                    job()
                del job
        finally:
            ASIDE.discard(threading.get_ident())
            ended.set()

    def _next(self) -> Callable[[], None] | None:
        """The next job; None at the end of the thread."""
        with self._lock:
            if self._is_paused or self._is_over or not self._jobs:
                self._running = None
                return None
            return self._jobs.popleft()

    # --- forks ------------------------------------------------------------------------------------------------------

    def _before_fork(self) -> None:
        self._is_paused = True
        if threading.get_ident() not in ASIDE:
            self.wait(LONGEST)
        self._lock.acquire()

    def _resume(self) -> None:
        self._is_paused = False
        self._start()
        self._lock.release()

    def _in_child(self) -> None:
        self._is_over = self._is_over or self._running is not None  # cut in two: nothing can be compiled here
        self._running, self._is_paused = None, False
        self._jobs.clear()
        self.generation += 1
        self._lock.release()

    # --- the end of the process -------------------------------------------------------------------------------------

    def _end(self) -> None:
        """Let the thread come to its end: a SystemExit is raised in it until it has."""
        self._is_over = True
        running = self._running
        if running is None:
            return
        end, told = time.monotonic() + LONGEST, sys.unraisablehook
        sys.unraisablehook = lambda _: None  # it may be in a callback of LLVM
        ident, raised = ctypes.c_ulong(self._ident), ctypes.py_object(SystemExit)
        while not running.is_set() and time.monotonic() < end:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ident, raised)
            running.wait(0.1)
        sys.unraisablehook = told


worker = Worker()
"""The thread of this process."""
