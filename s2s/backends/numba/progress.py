"""A line on a terminal, where Numba compiles for longer than a user waits without wondering."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["shown_on_terminal"]

AFTER = 2.0
"""Seconds of compiling after which the line comes."""


@contextmanager
def shown_on_terminal(name: str) -> Iterator[None]:
    """Say on standard error that Numba compiles a function, when it has done so for two seconds, and how long it took
    in the end; nothing where standard error is no terminal, or the compilation keeps nobody waiting."""
    stream, start = sys.stderr, time.perf_counter()
    if stream is None or not stream.isatty() or threading.current_thread() is not threading.main_thread():
        yield
        return
    said = threading.Event()

    def say() -> None:
        said.set()
        print(f"s2s: Numba compiles {name} ...", end="", file=stream, flush=True)

    timer = threading.Timer(AFTER, say)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        if said.is_set():
            timer.join()
            print(f" {time.perf_counter() - start:.1f} s", file=stream, flush=True)
