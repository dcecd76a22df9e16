"""Those helpers of ``s2s.runtime._memory`` that look at the buffer of an array, for arrays that have none which NumPy
could look at: in their place in code for arrays of other modules, and run as they are, with the module in the place of
NumPy.

Where an array lies is asked as CuPy has it, ``a.data.ptr``; what it is a view of is its ``base``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s.errors import error

__all__ = ["Adjoints", "copy_in_memory", "give_back", "outline"]


def outline(x: Any) -> Any:
    """An array that has the shape and dtype of an array and takes no memory, to be kept where only these are read;
    anything else as it is."""
    if type(x) is not np.ndarray or x.dtype.kind not in "biufc":
        return x
    return np.broadcast_to(np.zeros((), x.dtype), x.shape)


def copy_in_memory(x: Any, like: Any = None) -> Any:
    """A copy of an array, without the gaps that it may have."""
    return np.copy(x)


def give_back(array: Any, before: Any) -> None:
    """Let an argument hold again what it held before a call that was given it has changed it."""
    if array.shape == before.shape:
        array[...] = before


class Adjoints:
    """The adjoints of arrays, found by the memory that the arrays lie in."""

    def __init__(self) -> None:
        self._found: dict[int, tuple[Any, int, Any]] = {}

    def __call__(self, a: Any) -> Any:
        """The adjoint of an array: same shape, dtype and layout. Raises SharedMemoryError for a broadcast array."""
        if any(stride == 0 and length > 1 for stride, length in zip(a.strides, a.shape, strict=True)):
            raise error("S2S125")
        low, memory = self._memory(a)
        memory = memory.view(a.dtype)
        place = (a.data.ptr - low) // a.dtype.itemsize if a.size else 0
        return np.lib.stride_tricks.as_strided(memory[place:], a.shape, a.strides)

    def take(self, a: Any, *others: Any) -> Any:
        """The adjoint of an array that was made just now, which is thereby passed on; zeros where the array only shares
        the memory of one of ``others``."""
        if any(isinstance(other, np.ndarray) and self._owner(other) is self._owner(a) for other in others):
            return np.zeros_like(a)
        bar = self(a)
        taken = bar.copy()
        bar[...] = 0.0
        return taken

    def _owner(self, a: Any) -> Any:
        while isinstance(a.base, np.ndarray):
            a = a.base
        return a

    def _memory(self, a: Any) -> tuple[int, Any]:
        """Where the memory of an array begins, and the elements that hold its adjoint."""
        owner = self._owner(a)
        found = self._found.get(id(owner))
        if found is None:
            dtype = owner.dtype if owner.dtype.kind in "fc" else np.dtype(float)
            found = self._found[id(owner)] = owner, owner.data.ptr, np.zeros(max(owner.size, 1), dtype)
        return found[1], found[2]
