"""Memory of freed arrays stays with the process, for the arrays of the next call.

A gradient makes and frees a number of arrays at each call. The C library of GNU gives the memory of freed arrays back
to the system as soon as some hundred kilobytes of it lie idle, and the next call pays for it again: the system clears
each page and enters it in the table of the process, which takes longer than most operations on its 512 numbers. In a
program that has once freed an array of 32 MB the library keeps 64 MB on its own account (mallopt(3),
``M_MMAP_THRESHOLD``); here it is told to keep ``S2S_KEPT_MEMORY`` (256 MB where it is not set) from the first gradient
on. 0 leaves the library alone, and so does a variable by which the program has set this for itself.
"""

from __future__ import annotations

import ctypes
import os
import sys

from s2s.core.settings import size_setting

__all__ = ["keep_freed_memory"]

DEFAULT = 256 * 10**6
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_LARGEST_BLOCK = 32 * 2**20
"""Larger blocks are pages of their own in any case: the library takes no higher limit."""

_OTHERS = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TOP_PAD_", "MALLOC_MMAP_MAX_")
_is_done = False


def keep_freed_memory() -> None:
    """Let the process keep the memory of freed arrays; once, and only where the C library is GNU's."""
    global _is_done
    if _is_done:
        return
    _is_done = True
    kept = min(size_setting("S2S_KEPT_MEMORY", DEFAULT), 2**31 - 1)
    if kept == 0 or not sys.platform.startswith("linux") or _is_set_by_the_program():
        return
    library = ctypes.CDLL(None)
    if hasattr(library, "gnu_get_libc_version") and hasattr(library, "mallopt"):
        library.mallopt(_TRIM_THRESHOLD, kept)
        library.mallopt(_MMAP_THRESHOLD, min(kept, _LARGEST_BLOCK))


def _is_set_by_the_program() -> bool:
    """Whether the environment has a word on it already."""
    return any(name in os.environ for name in _OTHERS) or "malloc." in os.environ.get("GLIBC_TUNABLES", "")
