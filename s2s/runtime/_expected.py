"""What a version was made for, because values were so when the function ran before: checked where they appear."""

from __future__ import annotations

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


def unreached_error(where: str) -> Exception:
    """The refusal of a path that was not taken before, to be raised where it is taken."""
    return error("S2S145", label=f"the path at {where} was not taken")


def _another(value: Any, expected: str) -> Exception:
    return error("S2S145", label=f"what is of the class `{type(value).__name__}` was {expected}")
