"""Whether a recorded call has changed its arguments.

A call that is decided at run time is recorded with copies of containers and arrays, and its caller does not know what
it left in them: such a call is refused, and the caller is recorded instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s.errors import error
from s2s.recorded.recorder import Leaf, Recorder, is_a, is_number, pack

__all__ = ["Arguments"]


class Arguments:
    """The arguments of a call, as they are when this is made."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.given = given
        self.before = {name: _noted(value) for name, value in given.items()}

    def check_unchanged(self, recorder: Recorder) -> None:
        """Raise UnsupportedSyntaxError where an argument holds something else now, or an object a derivative."""
        for name, (structure, leaves, copies) in self.before.items():
            now: list[Any] = []
            is_same = _is_same(structure, pack(self.given[name], now)) and len(leaves) == len(now)
            if not is_same or not all(map(_is_kept, leaves, now, copies)) or any(_is_filled(recorder, v) for v in now):
                raise error("S2S122", name=name)


def _noted(value: Any) -> tuple[Any, list[Any], list[Any]]:
    """The structure of a value, its leaves, and copies of the arrays among them."""
    leaves: list[Any] = []
    structure = pack(value, leaves)
    return structure, leaves, [np.array(leaf) if is_a(leaf, np.ndarray) else None for leaf in leaves]


def _is_same(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if type(one) is Leaf:
        return bool(one.number == other.number)
    if type(one) is dict:
        return list(one) == list(other) and all(_is_same(one[key], other[key]) for key in one)
    return len(one) == len(other) and all(map(_is_same, one, other))


def _is_kept(before: Any, now: Any, copy: Any) -> bool:
    if before is not now:
        return False
    return copy is None or bool(np.array_equal(copy, now, equal_nan=copy.dtype.kind in "fc"))


def _is_filled(recorder: Recorder, value: Any) -> bool:
    """Whether an object that no derivative belonged to holds one now."""
    return not is_number(value) and not is_a(value, np.ndarray) and recorder.holds(value)
