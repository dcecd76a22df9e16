"""What functions of NumPy make that iterate, or that show memory by strides, in terms of arrays and lists."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from s2s import runtime as rt

__all__ = ["Broadcast", "as_strided", "broadcast", "from_iterator"]


class Broadcast:
    """What ``np.broadcast`` makes: the shape that arrays have together, and their elements side by side."""

    def __init__(self, arrays: Any) -> None:
        self.arrays = arrays
        self.shape = np.broadcast_shapes(*[np.shape(a) for a in arrays])
        self.ndim = len(self.shape)
        self.nd = self.ndim
        self.numiter = len(arrays)

    @property
    def size(self) -> Any:
        size = 1
        for n in self.shape:
            size = size * n
        return size

    @property
    def iters(self) -> Any:
        return tuple([np.ravel(np.broadcast_to(a, self.shape)) for a in self.arrays])

    def __iter__(self) -> Iterator[Any]:
        return zip(*self.iters)


def broadcast(*args: Any) -> Any:
    return Broadcast([np.asarray(a) for a in args])


def from_iterator(iter: Any, dtype: Any, count: Any = -1, *, like: Any = None) -> Any:
    """The items of an iterable as an array, of which ``count`` are taken where that is not negative."""
    items = list(iter) if count < 0 else [item for _, item in zip(range(count), iter)]
    if len(items) < count:
        raise ValueError(f"iterator too short: Expected {count} but iterator had only {len(items)} items.")
    return np.array(items, dtype=dtype)


def as_strided(
    x: Any, shape: Any = None, strides: Any = None, subok: Any = False, writeable: Any = True, *,
    check_bounds: Any = None,
) -> Any:
    """Strides are places in the array: what they show is read there."""
    return rt.gather(x, rt.places_of_strides(x, shape, strides))
