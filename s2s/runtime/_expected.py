"""What a version was made for, because values were so when the function ran before: checked where they appear."""

from __future__ import annotations

import builtins
import functools
from typing import Any

import numpy as np

from s2s.errors import error


def expect(value: Any, found: Any) -> None:
    """Nothing to do where a value is the object that it was before, or an equal dtype. Raises UnsupportedSyntaxError
    where it is not."""
    if value is not found and not (isinstance(value, np.dtype) and value == found):
        raise _another(value, repr(found))


def expect_kind(value: Any, kind: type) -> None:
    """Nothing to do where a value is of exactly the class that it was of before. Raises UnsupportedSyntaxError."""
    if type(value) is not kind:
        raise _another(value, f"of the class `{kind.__name__}`")


def expect_array(value: Any, dtype: str, ones: tuple[bool, ...]) -> None:
    """Nothing to do where a value is an array as it was before: of this dtype, with so many axes, of which those have
    one element for which ``ones`` says so. Raises UnsupportedSyntaxError."""
    if type(value) is np.ndarray and value.dtype == dtype and value.ndim == len(ones):
        if all(n == 1 or not is_one for n, is_one in zip(value.shape, ones)):
            return
    raise _another(value, f"an array of {dtype} with {len(ones)} axes")


def expect_items(value: Any, items: Any) -> None:
    """Nothing to do where a value is a tuple that holds what it held before: where ``items`` has ``float``, a number of
    that class; where it has ``<f8[:,1]``, an array of that dtype, with so many axes, the last one of one element; where
    it has a tuple, such a tuple; where it has None, anything. Raises UnsupportedSyntaxError."""
    if type(value) is not tuple or len(value) != len(items):
        raise _another(value, f"a tuple of {len(items)}")
    for item, found in zip(value, items):
        if type(found) is tuple:
            expect_items(item, found)
        elif found is not None:
            _expect_described(item, found)


def _expect_described(value: Any, text: str) -> None:
    kind, dtype, ones = _described(text)
    if kind is None:
        expect_array(value, dtype, ones)
    else:
        expect_kind(value, kind)


@functools.cache
def _described(text: str) -> tuple[type | None, str, tuple[bool, ...]]:
    """The class of a number, or the dtype of an array and which of its axes have one element."""
    dtype, bracket, axes = text.partition("[")
    if not bracket:
        return getattr(builtins, text, None) or getattr(np, text), "", ()
    return None, dtype, tuple(axis == "1" for axis in axes[:-1].split(",") if axis)


def unreached_error(where: str) -> Exception:
    """The refusal of a path that was not taken before, to be raised where it is taken."""
    return error("S2S145", label=f"the path at {where} was not taken")


def _another(value: Any, expected: str) -> Exception:
    return error("S2S145", label=f"what is of the class `{type(value).__name__}` was {expected}")
