"""What environment variables ask for. Where they decide what code is generated, a version that is compiled under one
setting is for that only."""

from __future__ import annotations

import os
import re
import warnings

__all__ = ["backend_setting", "numba_after", "passes_setting", "size_setting", "validating"]


def passes_setting() -> str:
    """``S2S_PASSES``, the same text for settings that mean the same: the names in order, between commas."""
    text = os.environ.get("S2S_PASSES", "")
    return ",".join(sorted({name for part in text.split(",") if (name := part.strip())})) if text else ""


_BACKENDS = ("auto", "numpy", "numba")
_told = set[str]()


def backend_setting() -> str:
    """``S2S_BACKEND``, what stands for the backend ``auto``: ``numpy`` or ``numba``, or ``auto`` itself."""
    text = os.environ.get("S2S_BACKEND", "")
    if not text or text in _BACKENDS:
        return text or "auto"
    _warn_once("S2S_BACKEND", text, f"none of {', '.join(_BACKENDS)}")
    return "auto"


def numba_after() -> float:
    """``S2S_NUMBA_AFTER``, the seconds that a short version has run for when Numba compiles it on the backend ``auto``:
    1 where it is not set."""
    text = os.environ.get("S2S_NUMBA_AFTER", "")
    try:
        return float(text) if text else 1.0
    except ValueError:
        _warn_once("S2S_NUMBA_AFTER", text, "no number of seconds")
        return 1.0


def size_setting(name: str, default: int) -> int:
    """A number of bytes, such as ``256 MB``, from the environment; the default where it is not set."""
    text = os.environ.get(name, "").strip()
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmg]?)b?", text.lower())
    if found is None:
        if text:
            _warn_once(name, text, f"no size such as 256 MB; {default // 1000**2} MB is taken")
        return default
    return int(float(found[1]) * 1000 ** ("kmg".find(found[2]) + 1 if found[2] else 0))


def validating() -> bool:
    """Whether every stage of the compiler is checked against the one before it: ``S2S_VALIDATE=1``."""
    return os.environ.get("S2S_VALIDATE", "") not in ("", "0")


def _warn_once(name: str, text: str, what: str) -> None:
    if (told := f"{name} is {text!r}, which is {what}") not in _told:
        _told.add(told)
        warnings.warn(told, RuntimeWarning, 3)
