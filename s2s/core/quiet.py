"""Code in, the same without warnings out, where that is done for the whole process only while nobody else is disturbed.

``warnings.catch_warnings`` takes the filters of the process and puts them back. A thread that does so while another one
does, leaves that one's filters behind. So a thread that works for no one in particular leaves the filters alone.
"""

from __future__ import annotations

import contextlib
import warnings
from _thread import get_ident
from collections.abc import Iterator

__all__ = ["ASIDE", "is_aside", "without_warnings"]

ASIDE = set[int]()
"""The threads that leave the filters of warnings alone."""


def is_aside() -> bool:
    """Whether the running thread is one of these."""
    return get_ident() in ASIDE


@contextlib.contextmanager
def without_warnings() -> Iterator[None]:
    """As a context: nothing warns, but in threads that leave the filters alone."""
    if is_aside():
        yield
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
