"""What compiled code raises where an array does not fit a slice, without a message.

Numba compiles what writes both shapes into one: some fifty functions on strings for each ``a[1:] = b``. Who calls
compiled code runs the Python function where it raises, whatever it raises.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.extending import overload
from numba.np import arrayobj

__all__ = ["without_shapes"]

_NAME = "raise_with_shape_context"
"""Of the function that Numba's assignments look up in their module."""


def _refuse_shapes(source: Any, region: Any) -> None:
    """Raise ValueError."""
    raise NotImplementedError


@overload(_refuse_shapes)
def _raise_value_error(source, region):
    def raise_plainly(source, region):
        raise ValueError("shapes differ")

    return raise_plainly


@contextmanager
def without_shapes() -> Iterator[None]:
    """Compile assignments so, where Numba's are as this knows them; under the lock of Numba's compiler."""
    known = getattr(arrayobj, _NAME, None)
    if known is None:
        yield
        return
    setattr(arrayobj, _NAME, _refuse_shapes)
    try:
        yield
    finally:
        setattr(arrayobj, _NAME, known)
