"""The section of s2s and the lock of Numba's compiler, in an order in which no two threads wait for each other.

A derivative that is compiled by a call enters the section first and asks Numba then. One that Numba meets in a function
which it compiles comes the other way. While a thread in the section waits for Numba, nothing is half done there, so the
thread that Numba is at work for may pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_ident

from numba.core.compiler_lock import global_compiler_lock

from s2s.core.critical import WAIT, section

__all__ = ["numba_in_section", "section_in_numba"]

_waiting: list[int] = []
"""The thread in the section that waits for Numba."""


@contextmanager
def numba_in_section() -> Iterator[None]:
    """For a thread that is in the section: with Numba's lock."""
    _waiting.append(get_ident())
    try:
        global_compiler_lock.acquire()
    finally:
        _waiting.pop()
    try:
        yield
    finally:
        global_compiler_lock.release()


@contextmanager
def section_in_numba() -> Iterator[None]:
    """For a thread that Numba compiles for: in the section."""
    thread, is_lent = get_ident(), False
    while not section.lock.acquire(timeout=WAIT):
        if _waiting:
            section.lock.lend(thread)
            is_lent = True
            break
    try:
        with section:
            yield
    finally:
        if is_lent:
            section.lock.take_back(thread)
        else:
            section.lock.release()
