"""A function and the same one compiled in, the faster of the two out: the next calls run both.

What is compared is also what they give. Compiled code is taken only where its results are those of Python, of the same
types and with the same numbers but for rounding. Both functions are without side effects, so calling both is calling
one.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

__all__ = ["Trial", "alike", "with_errors_raised"]

MOST = 3
"""So many calls run both."""

LONG = 0.05
"""A call that takes Python as many seconds is the last one that runs both."""

_TOLERANCE = {"f": 1e-3, "F": 1e-3}
"""How far numbers may be apart, as a part of the largest of an array, by the type; in 64 bits 1e-7."""


class Trial:
    """Calls of both. ``settle`` is told which one was chosen, and why, at the end of the call that decides."""

    def __init__(
        self, plain: Callable[..., Any], compiled: Callable[..., Any], settle: Callable[[Callable[..., Any], str], None]
    ) -> None:
        self.plain = plain
        self.compiled = compiled
        self.settle = settle
        self._times: list[tuple[float, float]] = []

    def __call__(self, *values: Any) -> Any:
        start = perf_counter()
        expected = self.plain(*values)
        middle = perf_counter()
        try:
            found = self.compiled(*values)
        except Exception as problem:
            self.settle(self.plain, f"numpy: compiled by Numba it raises {type(problem).__name__}")
            return expected
        end = perf_counter()
        if not self._times and (convert := conversion(found, expected)) is not None:
            found, self.compiled = convert(found), _converted(self.compiled, convert)
        if not alike(found, expected):
            self.settle(self.plain, "numpy: compiled by Numba it gives another result")
            return expected
        self._times.append((middle - start, end - middle))
        times = self._times[:]
        if len(times) >= MOST or middle - start > LONG:
            ratio = min(t for t, _ in times) / max(min(t for _, t in times), 1e-9)
            if ratio > 1.0:
                self.settle(self.compiled, f"numba: {ratio:.3g} times as fast as NumPy")
            else:
                self.settle(self.plain, f"numpy: compiled by Numba it takes {1.0 / ratio:.3g} times as long")
        return expected


def alike(found: Any, expected: Any) -> bool:
    """Whether two results are of the same types and structure, with the same numbers but for rounding."""
    if isinstance(expected, types.FunctionType):
        return callable(found)  # a pullback, which has a trial of its own
    if type(found) is not type(expected):
        return False
    if isinstance(expected, (tuple, list)):
        return len(found) == len(expected) and all(map(alike, found, expected))
    if isinstance(expected, dict):
        return list(found) == list(expected) and all(alike(found[key], expected[key]) for key in expected)
    if isinstance(expected, (np.ndarray, np.generic, float, complex)):
        return _alike_arrays(np.asarray(found), np.asarray(expected))
    return found is expected or (isinstance(expected, (int, str)) and found == expected)


_NUMBERS = {(float, np.float64), (complex, np.complex128), (int, np.int64), (bool, np.bool_)}
"""What compiled code gives as Python's numbers, and NumPy as its own."""


def conversion(found: Any, expected: Any) -> Callable[[Any], Any] | None:
    """What makes a result of compiled code one of the types that Python has given; None where nothing is to be done."""
    if (type(found), type(expected)) in _NUMBERS:
        return type(expected)
    kind = type(expected)
    if kind not in (tuple, list) or type(found) is not kind or len(found) != len(expected):
        return None
    parts = [*map(conversion, found, expected)]
    if not any(parts):
        return None
    return lambda result: kind(item if to is None else to(item) for item, to in zip(result, parts, strict=True))


def _converted(compiled: Callable[..., Any], convert: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda *values: convert(compiled(*values))


def _alike_arrays(found: np.ndarray, expected: np.ndarray) -> bool:
    if found.dtype != expected.dtype or found.shape != expected.shape:
        return False
    if expected.dtype.kind not in "fc":
        return bool(np.array_equal(found, expected))
    with np.errstate(all="ignore"):
        is_finite = np.isfinite(expected)
        size = np.max(np.abs(expected[is_finite]), initial=0.0)
        near = np.abs(found - expected) <= _TOLERANCE.get(expected.dtype.char, 1e-7) * size
        same = (found == expected) | ((found != found) & (expected != expected))
    return bool(np.all(near & is_finite | same))


# --- what NumPy raises by a setting ---------------------------------------------------------------------------------


try:
    _held = np._core.umath._extobj_contextvar.get  # type: ignore[attr-defined]
    _USUAL = _held()
except (AttributeError, LookupError):
    _held, _USUAL = np.geterr, None


def with_errors_raised(plain: Callable[..., Any], compiled: Callable[..., Any]) -> Callable[..., Any]:
    """The compiled function; the Python function in a call for which ``np.errstate`` asks for exceptions: compiled code
    raises none."""

    def run(*values: Any) -> Any:
        if _held() is not _USUAL and not {"raise", "call"}.isdisjoint(np.geterr().values()):
            return plain(*values)
        return compiled(*values)

    return run
