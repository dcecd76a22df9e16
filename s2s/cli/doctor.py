"""``s2s doctor``: what there is on this machine, and whether it works."""

from __future__ import annotations

import importlib.util
import os
import platform
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import s2s
from s2s.cache import disk
from s2s.core.package import install

__all__ = ["findings"]

EXTRAS = {
    "scipy": ("scipy", "rules for SciPy"),
    "numba": ("numba", "machine code"),
    "networkx": ("sparse", "sparse derivatives"),
    "jinja2": ("explore", "the explorer page"),
    "ipython": ("notebook", "what notebooks show"),
    "dask": ("dask", "data in parts"),
    "ruff": ("format", "formatting of files that are written"),
}
"""The packages of extras: the extra that brings each, and what for."""


def findings() -> Iterator[tuple[bool, str]]:
    """What was found, line by line, each with whether it is as it should be."""
    yield True, f"s2s {s2s.__version__}, Python {platform.python_version()}, {platform.platform()}"
    for name in ("numpy", "libcst", "click", "rich"):
        yield _package(name, "")
    for name, (extra, what) in EXTRAS.items():
        is_there, text = _package(name, what)
        yield True, text if is_there else f"{name}: not installed ({what}: {install(extra)})"
    yield _cache()
    yield _first_gradient("numpy")
    if importlib.util.find_spec("numba") is not None:
        yield _first_gradient("numba")


def _package(name: str, what: str) -> tuple[bool, str]:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return True, f"{name} {version(name)}" + (f" ({what})" if what else "")
    except PackageNotFoundError:
        return False, f"{name}: not installed"


def _cache() -> tuple[bool, str]:
    folder = Path(os.environ.get("S2S_CACHE_DIR") or disk.user_folder())
    if not disk.is_on():
        return True, f"cache: off, S2S_CACHE={os.environ.get('S2S_CACHE', '')}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as problem:
        return False, f"cache: {folder} cannot be written to: {problem.strerror}; S2S_CACHE_DIR names another folder"
    return True, f"cache: {folder}, which can be written to"


def _first_gradient(backend: str) -> tuple[bool, str]:
    """Whether a first gradient is right, and how long it takes."""
    start = time.perf_counter()
    try:
        made = s2s.grad(s2s.differentiable(_sample, backend=backend))
        found = made(0.5, 3)
        is_right = abs(found - 3 * 0.5**2) < 1e-12 and made.backend == backend
        told = "" if is_right else f": {found} on {made.backend}, not 0.75"
    except Exception as problem:
        is_right, told = False, f": {type(problem).__name__}: {str(problem).partition(chr(10))[0]}"
    taken = time.perf_counter() - start
    return is_right, f"first gradient on {backend}: {'right' if is_right else 'WRONG' + told}, after {taken:.2f} s"


def _sample(x: float, n: int) -> float:
    y = 1.0
    for _ in range(n):
        y = y * x
    return y
