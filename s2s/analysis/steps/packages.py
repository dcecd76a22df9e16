"""To which package a function belongs: the standard library, one that is installed, or neither."""

from __future__ import annotations

import functools
import os
import site
import sysconfig
from typing import Any

__all__ = ["is_library_code", "is_library_file", "package_of_file"]

STANDARD = "the standard library"


@functools.cache
def _installed() -> tuple[str, ...]:
    """The folders that packages are installed into."""
    found = [sysconfig.get_path(name) for name in ("purelib", "platlib")]
    with_users: list[str] = getattr(site, "getsitepackages", list)()
    user = site.getusersitepackages() if hasattr(site, "getusersitepackages") else ""
    return tuple(dict.fromkeys(os.path.join(os.path.realpath(p), "") for p in (*found, *with_users, user) if p))


@functools.cache
def _standard() -> tuple[str, ...]:
    paths = (sysconfig.get_path(name) for name in ("stdlib", "platstdlib"))
    return tuple(dict.fromkeys(os.path.join(os.path.realpath(p), "") for p in paths if p))


@functools.lru_cache(maxsize=4096)
def package_of_file(file: str) -> str | None:
    """The installed package that a file belongs to, ``STANDARD`` for Python's own; None for any other code."""
    if file.startswith("<frozen "):
        return STANDARD
    if file.startswith("<"):
        return None
    path = os.path.realpath(file)
    for folder in _installed():
        if path.startswith(folder):
            return path[len(folder):].split(os.sep)[0].removesuffix(".py")
    in_library = any(path.startswith(folder) for folder in _standard())
    return STANDARD if in_library and "site-packages" not in path and "dist-packages" not in path else None


def is_library_code(fn: Any, root: Any) -> bool:
    """Whether a function is code of the standard library, or of a package other than that of ``root``, the function
    that the user differentiates."""
    return is_library_file(fn.__code__.co_filename, root)


def is_library_file(file: str, root: Any) -> bool:
    """The same for the file that a function stands in."""
    package = package_of_file(file)
    return package is not None and (root is None or package != package_of_file(root.__code__.co_filename))
