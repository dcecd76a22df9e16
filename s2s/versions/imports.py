"""Names of modules in, whether an import of them fails out: without running the code of a module."""

from __future__ import annotations

import importlib.util
import os
import sys
import time

from s2s.core import inspection
from s2s.core.inspection import MISSING

__all__ = ["cannot_import", "forget_failure", "is_installed_with_python", "is_not_loaded"]

LOOK_AGAIN = 0.01
"""After so many seconds the folders of ``sys.path`` are looked at again: file systems date changes hardly more finely,
and Python's own finders go by these dates."""


class _Failed:
    """An import that has failed, and what decided that: the finders, the folders, and when these were changed."""

    def __init__(self) -> None:
        self.finders, self.path = [*sys.meta_path], [*sys.path]
        self.folder = _working_folder(self.path)
        self.times = [_time_of(path) for path in self.path]
        self.until = time.monotonic() + LOOK_AGAIN

    def still(self) -> bool:
        """Whether nothing has changed. What costs no look at a file is compared each time."""
        if self.finders != sys.meta_path or self.path != sys.path or self.folder != _working_folder(self.path):
            return False
        if time.monotonic() < self.until:
            return True
        if self.times != [_time_of(path) for path in self.path]:
            return False
        self.until = time.monotonic() + LOOK_AGAIN
        return True


_failed: dict[str, _Failed] = {}
"""The imports that have failed, by name."""


def is_not_loaded(name: str) -> bool:
    """Whether a module is still to be imported. What is written for an import then is right afterwards as well, so that
    another import in front of it may import it."""
    return sys.modules.get(name) is None


def forget_failure(name: str) -> None:
    """Look at the folders anew where a module is asked for next."""
    _failed.pop(name, None)


def cannot_import(name: str) -> bool:
    """Whether an import of a module fails: it is not loaded, and nothing has changed since it was not found."""
    if sys.modules.get(name, MISSING) is not MISSING:
        return sys.modules[name] is None
    before = _failed.get(name)
    if before is not None and before.still():
        return True
    state = _Failed()
    parent = name.rpartition(".")[0]
    looked_for = name if not parent or parent in sys.modules else name.partition(".")[0]
    try:
        is_there = looked_for in sys.modules or importlib.util.find_spec(looked_for) is not None
    except (ImportError, ValueError):  # the parent is no package
        is_there = False
    if not is_there:
        _failed[name] = state
    return not is_there


def is_installed_with_python(name: str) -> bool:
    """Whether a module is one of Python's own library, of NumPy or SciPy, and no file of the user of such a name."""
    root = name.partition(".")[0]
    if not inspection.is_own_module(root):
        return False
    spec = None if root in sys.modules else importlib.util.find_spec(root)
    origin = "built-in" if spec is None else spec.origin or ""
    return origin in ("built-in", "frozen") or origin.startswith(os.path.dirname(os.__file__))


def _working_folder(path: list[str]) -> str | None:
    """The folder that an empty entry of ``sys.path`` stands for, where there is one."""
    try:
        return os.getcwd() if "" in path else None
    except OSError:
        return None


def _time_of(path: str) -> int:
    try:
        return os.stat(path or ".").st_mtime_ns
    except (OSError, ValueError, TypeError):
        return 0
