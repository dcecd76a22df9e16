"""The number of steps taken goes in, the rows of the data for the next step come out: random, the same each time."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s.directives.differentiable import option_error

__all__ = ["Batches"]


class Batches:
    """Batches of ``size`` rows of arrays: a function of the number of steps taken so far that gives one for each array.

    Each epoch goes through the rows in another order, which ``seed`` and the number of the epoch determine: a run that
    goes on later, also in another process, gets the batches that it would have got. ``shuffle=False`` keeps the order
    of the rows. Batches are never shorter; the rows that an epoch leaves out are others in each. ``len(batches)`` is
    the number of steps in an epoch.

    >>> import numpy as np
    >>> from s2s.optim import Batches
    >>> batches = Batches(np.arange(10.0), np.arange(10), size=4, seed=1)
    >>> len(batches), [len(part) for part in batches(0)]
    (2, [4, 4])
    """

    def __init__(self, *arrays: Any, size: int = 32, seed: int = 0, shuffle: bool = True) -> None:
        self.arrays = tuple(map(np.asarray, arrays))
        self.size, self.seed, self.shuffle = size, seed, shuffle
        if not arrays or any(a.ndim == 0 for a in self.arrays):
            raise option_error("batches are made of something without rows", "give arrays")
        lengths = {len(a) for a in self.arrays}
        if len(lengths) > 1:
            shown = ", ".join(str(len(a)) for a in self.arrays)
            raise option_error(f"the arrays of batches have {shown} rows", "give arrays of one length")
        self.rows = lengths.pop()
        if not (isinstance(size, (int, np.integer)) and 0 < size <= self.rows):
            raise option_error(f"`size` of batches is {size!r}", f"give a number from 1 to {self.rows}")
        self._order: tuple[int, Any] = -1, None

    def __len__(self) -> int:
        return self.rows // self.size

    def __call__(self, step: int) -> tuple[Any, ...]:
        epoch, number = divmod(step, len(self))
        if not self.shuffle:
            return tuple(a[number * self.size : (number + 1) * self.size] for a in self.arrays)
        known, order = self._order
        if known != epoch:
            order = np.random.default_rng([self.seed, epoch]).permutation(self.rows)
            self._order = epoch, order
        return tuple(a[order[number * self.size : (number + 1) * self.size]] for a in self.arrays)
