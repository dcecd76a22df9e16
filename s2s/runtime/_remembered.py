"""Tests whether what is differentiated is equal to what the program remembers of an earlier call."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

import numpy as np

from s2s.errors import error

__all__ = ["are_same_arrays", "check_no_kept_key", "check_not_remembered", "remembered"]

_LARGEST_NUMBER = 2**32
"""Of integers that count; a larger one is a hash."""


def check_not_remembered(value: Any, other: Any) -> None:
    """Nothing to do where a value that is differentiated is not one that was kept: to be equal to it by accident is
    left to 0, 1 and -1. Raises UnsupportedSyntaxError where it is, as the program goes on with what it has computed of
    that one, of which no derivative is known."""
    is_hash = isinstance(value, int) and isinstance(other, int) and abs(value) > _LARGEST_NUMBER
    if value == other if is_hash else _is_same(value, other):
        raise remembered()


def check_no_kept_key(key: Any, container: Any) -> None:
    """The same for a number, or a tuple of them, that is looked for in a container."""
    if not _is_same(key, key):
        return
    if isinstance(container, (Mapping, Set)):
        found = key in container
    else:
        found = isinstance(container, (list, tuple)) and any(_is_same(key, item) for item in container)
    if found:
        raise remembered()


def remembered() -> Exception:
    """The refusal of such a test."""
    return error(
        "S2S101", construct="a test whether a differentiated number is the one of an earlier call",
        hint="clear what the program remembers before the gradient is taken",
    )


def are_same_arrays(one: Any, other: Any) -> bool:
    """Whether two arrays of floats are equal, by no accident."""
    if one.dtype.kind not in "fc" or other.dtype.kind not in "fc" or one.shape != other.shape or not one.size:
        return False
    return bool(np.array_equal(one, other) and not np.all(np.isin(one, (0.0, 1.0, -1.0)) | ~np.isfinite(one)))


def _is_same(one: Any, other: Any) -> bool:
    """Whether two values are equal texts, floats, or arrays and tuples of these, by no accident."""
    if isinstance(one, (str, bytes)):
        return type(one) is type(other) and one == other
    if isinstance(one, (tuple, list)):
        alike = isinstance(other, (tuple, list)) and len(one) == len(other)
        return alike and any(map(_is_same, one, other)) and all(map(np.array_equal, one, other))
    return are_same_arrays(np.asarray(one), np.asarray(other))
