"""Products and quotients of cotangents in which zeros are strong: zero times inf or NaN is zero.

A cotangent of zero says that nothing depends on a value, as where a mask leaves it out; the slope there does not matter
then. ``Decisions`` notes where that made a number of what is NaN otherwise, so that it can be checked.
"""

from __future__ import annotations

import sys
import threading
import types
from collections import Counter
from typing import Any, TypeAlias

import numpy as np

from s2s.runtime._scalars import quotient

Place: TypeAlias = tuple[int, int]
"""A place in generated code: its code object, by ``id``, and the instruction."""


class _Noted(threading.local):
    counts: Counter[Place] | None = None


_noted = _Noted()


class Decisions:
    """As a context: ``counts`` says how many numbers strong zeros have decided, by places in generated code."""

    def __enter__(self) -> Decisions:
        self._around, self.counts = _noted.counts, Counter[Place]()
        _noted.counts = self.counts
        return self

    def __exit__(self, *problem: object) -> None:
        _noted.counts = self._around
        if self._around is not None:
            self._around += self.counts


def strong_product(a: Any, b: Any) -> Any:
    """``a * b``, zero where one of them is zero."""
    if a.__class__ is float and b.__class__ is float:
        made = a * b
    else:
        with np.errstate(invalid="ignore"):
            made = a * b
    return _with_zeros(made, a, b, np.equal(b, 0.0)) if _has_nan(made) else made


def strong_quotient(a: Any, b: Any) -> Any:
    """``a / b``, zero where ``a`` is zero or ``b`` is infinite."""
    with np.errstate(divide="ignore", invalid="ignore"):
        made = quotient(a, b)
    return _with_zeros(made, a, b, np.isinf(b)) if _has_nan(made) else made


def strong_matmul(a: Any, b: Any) -> Any:
    """``a @ b``, to whose sums a product adds nothing where one factor is zero."""
    with np.errstate(invalid="ignore"):
        made = a @ b
    if not _has_nan(made):
        return made
    odd, nonzero = (~np.isfinite(a), ~np.isfinite(b)), (np.not_equal(a, 0.0), np.not_equal(b, 0.0))
    is_reached = (odd[0].astype(float) @ nonzero[1]) + (nonzero[0].astype(float) @ odd[1]) > 0.0
    if is_reached.all():
        return made
    _note(sys._getframe(1), int(np.count_nonzero(~is_reached)))
    finite = np.where(odd[0], 0.0, a) @ np.where(odd[1], 0.0, b)
    return np.where(is_reached, made, finite).astype(made.dtype)[()]


def _has_nan(made: Any) -> bool:
    """Check for NaN; the least number of an array is one where there is one, and takes no memory."""
    if isinstance(made, np.ndarray):
        made = made.min() if made.size and made.dtype.kind in "fc" else 0.0
    return bool(made != made)


def _with_zeros(made: Any, a: Any, b: Any, is_none: Any) -> Any:
    """Put zero in place of NaN in what was ``made`` of ``a`` and ``b``, where ``a`` is zero or ``b`` ``is_none``."""
    is_array = isinstance(made, np.ndarray) and made.ndim > 0
    at = np.nonzero(np.isnan(made)) if is_array else ()
    factor, is_none = (np.broadcast_to(part, np.shape(made))[at] for part in (a, is_none))
    is_left_out = np.equal(factor, 0.0) | is_none
    if not is_left_out.any():
        return made
    _note(sys._getframe(2), int(np.count_nonzero(is_left_out)))
    if not is_array:
        return made.__class__(0.0) if not isinstance(made, np.ndarray) else np.zeros_like(made)
    made[at] = np.where(is_left_out, 0.0, made[at])
    return made


def _note(frame: types.FrameType, count: int) -> None:
    """Note how many numbers generated code has got by strong zeros at a place."""
    if _noted.counts is not None:
        _noted.counts[id(frame.f_code), frame.f_lasti] += count
