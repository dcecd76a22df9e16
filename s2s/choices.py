"""Choices that a program makes about its own derivatives."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

__all__ = ["stop_gradient"]

T = TypeVar("T")


def stop_gradient(x: T) -> T:
    """A copy of ``x`` that derivatives take for a constant: no cotangent and no tangent goes through, of any order.

    ``x`` is a number, an array, or a tuple, list or dict of these.

    >>> import numpy as np, s2s
    >>> def masked(w, mask):
    ...     return np.sum(mask * w + s2s.stop_gradient(np.abs(1 - mask) * w))
    >>> s2s.grad(masked)(np.array([1.0, 2.0]), np.array([1.0, 0.0]))
    array([1., 0.])
    """
    copied: Any = x
    if isinstance(x, np.ndarray):
        copied = np.copy(x)
    elif isinstance(x, dict):
        copied = {key: stop_gradient(item) for key, item in x.items()}
    elif isinstance(x, tuple) and hasattr(x, "_make"):
        copied = x._make([stop_gradient(item) for item in x])
    elif isinstance(x, (tuple, list)):
        copied = type(x)([stop_gradient(item) for item in x])
    return copied  # type: ignore[no-any-return]
