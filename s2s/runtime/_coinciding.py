"""Numbers that coincide where a slope is chosen, counted: the second derivative there is not that of the chosen slope.

The derivative of ``np.linalg.norm`` at 0, of ``np.abs`` at 0 and of ``np.maximum`` at a tie is chosen, and so are the
eigenvectors of equal eigenvalues. Code of a second derivative compares by these functions, and whoever calls it learns
whether it has met such a point; a warning says so where nobody asks.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np


class _Counter(threading.local):
    """How many numbers have coincided in the calls that this thread counts; None where it counts nothing."""

    found: int | None = None


_COUNTER = _Counter()


class Coincidences:
    """The number of coincidences that ``counted`` has found."""

    number = 0


@contextmanager
def counted() -> Iterator[Coincidences]:
    """As a context: count what coincides inside, for the innermost one that counts."""
    outside, _COUNTER.found = _COUNTER.found, 0
    result = Coincidences()
    try:
        yield result
    finally:
        result.number, _COUNTER.found = _COUNTER.found, outside


def coincides(a: Any, b: Any) -> Any:
    """``a == b``, counted where it holds of finite numbers: there are no points beside infinite ones."""
    hit = a == b
    if np.any(hit):
        _count(np.count_nonzero(hit & np.isfinite(a)))
    return hit


def ties(a: Any, extreme: Any) -> Any:
    """``a == extreme``, counted where more than one element equals the extreme element, which is finite."""
    hit = a == extreme
    there = np.isfinite(extreme)
    _count(np.count_nonzero(hit & there) - np.count_nonzero(there))
    return hit


def sign(x: Any) -> Any:
    """``np.sign(x)``, counted where it is zero."""
    _count(np.size(x) - np.count_nonzero(x))
    return np.sign(x)


def note_equal(w: Any) -> None:
    """Count equal eigenvalues or singular values ``w``, which are in order. What is taken of all of them alike has a
    derivative, and one of them has none."""
    if _COUNTER.found is not None:
        size = np.max(np.abs(w), axis=-1, keepdims=True, initial=0.0)
        equal = np.abs(np.diff(w, axis=-1)) <= np.shape(w)[-1] * np.finfo(w.dtype).eps * size
        _COUNTER.found += int(np.count_nonzero(equal))


def _count(number: Any) -> None:
    if number > 0 and _COUNTER.found is None:
        warnings.warn(
            "a second derivative is taken where a first one is chosen, such as that of a norm or an absolute value at "
            "0 or of a maximum at a tie: it may be that of the chosen one alone", RuntimeWarning, 3)
    elif number > 0:
        _COUNTER.found += int(number)  # type: ignore[operator]
