"""What a run gives: its result, what its arguments hold afterwards, what it printed, or its exception; and how two such
outcomes differ."""

from __future__ import annotations

import collections
import types
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from s2s.validation.copies import parts_of

__all__ = ["Outcome", "difference", "first_difference"]

EXACT = 0.0
_SHOWN = 120
_NAMED = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType, type)


@dataclass
class Outcome:
    """One run: ``result``, or what it ``raised``; the ``arguments`` afterwards; what it ``printed``; and the ``arrays``
    that the arguments had at first, as they are afterwards."""

    result: Any
    raised: BaseException | None
    arguments: tuple[Any, ...]
    printed: str = ""
    arrays: list[np.ndarray[Any, Any]] = field(default_factory=list)


def difference(
    before: Outcome, after: Outcome, tolerance: float = EXACT, results: bool = True, arguments: bool = True
) -> str:
    """How two outcomes differ, in words; nothing where they do not."""
    if (before.raised is None) != (after.raised is None):
        return f"{_told(before)} became {_told(after)}"
    if before.raised is not None and after.raised is not None:
        if not _same_exception(before.raised, after.raised):
            return f"{_told(before)} became {_told(after)}"
    elif results:
        found = first_difference(before.result, after.result, "the result", tolerance)
        if found:
            return found
    if not arguments:
        return ""
    return first_difference(before.arguments, after.arguments, "the arguments afterwards", tolerance)


def _told(outcome: Outcome) -> str:
    if outcome.raised is None:
        return f"the result {short(outcome.result)}"
    return f"{type(outcome.raised).__name__}: {str(outcome.raised)[:_SHOWN]}"


def _same_exception(before: BaseException, after: BaseException) -> bool:
    if isinstance(before, NameError) and isinstance(after, NameError):  # Python names the variable as it stands there
        return True
    return type(before) is type(after) and str(before) == str(after)


def first_difference(before: Any, after: Any, place: str, tolerance: float = EXACT) -> str:
    """The first difference between two values, in words."""
    return _Comparison(tolerance).compare(before, after, place)


class _Comparison:
    """One comparison of two values, which may contain themselves."""

    def __init__(self, tolerance: float) -> None:
        self.tolerance = tolerance
        self.seen: dict[int, int] = {}

    def compare(self, before: Any, after: Any, place: str) -> str:
        if before is after:
            return ""
        if type(before) is not type(after):
            return f"{place}: {short(before)} became {short(after)}, of another type"
        if isinstance(before, (np.ndarray, np.generic, float, complex)):
            return self.numbers(before, after, place)
        if isinstance(before, (int, str, bytes, slice, range, set, frozenset, np.dtype)):
            return "" if before == after else f"{place}: {short(before)} became {short(after)}"
        if isinstance(before, _NAMED):
            return ""
        if id(before) in self.seen:
            return "" if self.seen[id(before)] == id(after) else f"{place} is another object"
        self.seen[id(before)] = id(after)
        return self.parts(before, after, place)

    def parts(self, before: Any, after: Any, place: str) -> str:
        mine, theirs = parts_of(before), parts_of(after)
        if [name for name, _ in mine] != [name for name, _ in theirs]:
            if isinstance(before, (list, tuple, collections.deque)):
                return f"{place}: {len(before)} items became {len(after)}"
            return f"{place}: {', '.join(n for n, _ in mine)} became {', '.join(n for n, _ in theirs)}"
        for (name, old), (_, new) in zip(mine, theirs, strict=True):
            found = self.compare(old, new, f"{place}{name}" if " " not in place else f"{place} at {name}")
            if found:
                return found
        return ""

    def numbers(self, before: Any, after: Any, place: str) -> str:
        mine, theirs = np.asarray(before), np.asarray(after)
        if mine.dtype != theirs.dtype or mine.shape != theirs.shape:
            return f"{place}: {_kind(mine)} became {_kind(theirs)}"
        if mine.dtype.hasobject:
            return self.parts(mine.ravel().tolist(), theirs.ravel().tolist(), place)
        if self.tolerance and mine.dtype.kind in "fc":
            if close(mine, theirs, self.tolerance):
                return ""
        elif mine.tobytes() == theirs.tobytes() or np.array_equal(mine, theirs, equal_nan=mine.dtype.kind in "fc"):
            return ""
        if mine.size > 8:
            wrong = np.flatnonzero(~((mine == theirs) | ((mine != mine) & (theirs != theirs))).ravel())
            at = int(wrong[0])
            return f"{place}: {mine.flat[at]!r} became {theirs.flat[at]!r} at {at} of {mine.size}"
        return f"{place}: {short(before)} became {short(after)}"


def close(before: Any, after: Any, tolerance: float) -> bool:
    """Whether two arrays agree relative to the largest number in them; where one is not finite there is nothing to
    compare."""
    finite = np.isfinite(before) & np.isfinite(after)
    eps = float(np.finfo(before.dtype).eps) / float(np.finfo(np.float64).eps)
    scale = float(np.max(np.abs(before[finite]), initial=0.0))
    with np.errstate(all="ignore"):
        return bool(np.all(np.abs(before[finite] - after[finite]) <= tolerance * eps * max(scale, 1.0)))


def _kind(array: np.ndarray[Any, Any]) -> str:
    return f"{array.dtype} of shape {array.shape}"


def short(value: Any) -> str:
    """A value as text of one line."""
    with np.printoptions(precision=17, threshold=20):
        shown = " ".join(repr(value).split())
    return shown if len(shown) <= _SHOWN else f"{shown[: _SHOWN - 3]}..."


