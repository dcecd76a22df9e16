"""Numba without its warnings, and without its hands on the filters of warnings that the program's threads have.

Where it infers types Numba collects warnings by ``warnings.catch_warnings``, which is for the whole process: in a
thread beside the program (``s2s.core.quiet``) it must not. What it warns of comes from its own modules then, where a
filter drops it; what it tells users who compile themselves is told of their files, and passes.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from typing import Any

from numba.core import errors

from s2s.core.quiet import is_aside

__all__ = ["leave_warnings_alone"]

_FIXER: Any = vars(errors)["WarningsFixer"]
_original = _FIXER.catch_warnings


@contextlib.contextmanager
def _collected(self: Any, filename: Any = None, lineno: Any = None) -> Iterator[None]:
    if is_aside():
        yield
        return
    with _original(self, filename, lineno):
        yield


def leave_warnings_alone() -> None:
    """See to it that Numba in such a thread warns of nothing."""
    _FIXER.catch_warnings = _collected
    if not any(entry[0] == "ignore" and entry[2] is errors.NumbaWarning for entry in warnings.filters):
        warnings.filterwarnings("ignore", category=errors.NumbaWarning, module=r"numba\.")
