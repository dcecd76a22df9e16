"""A line on the terminal while something takes long: ``s2s: Numba compiles loss_grad ... 4.1 s``."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["AFTER", "shown_on_terminal"]

AFTER = 2.0
"""Seconds after which something takes long, and the line comes."""


@contextmanager
def shown_on_terminal(what: str) -> Iterator[None]:
    """Say on standard error what is being done, when it has taken two seconds, and how long it took in the end; nothing
    where standard error is no terminal, or it keeps nobody waiting."""
    stream, start = sys.stderr, time.perf_counter()
    if stream is None or not stream.isatty():
        yield
        return
    import threading  # not imported by NumPy

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    said = threading.Event()

    def say() -> None:
        said.set()
        print(f"s2s: {what} ...", end="", file=stream, flush=True)

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
