"""Arrays on disk in, parts of them out, each of which is read where and when it is needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from s2s.core.inspection import with_article
from s2s.directives.differentiable import option_error

__all__ = ["Rows", "rows"]


@dataclass(frozen=True)
class Rows:
    """Some rows of an array on disk: what is pickled is where they are, not what they hold."""

    source: Any
    start: int
    stop: int
    shape: tuple[int, ...]
    dtype: Any

    def __len__(self) -> int:
        return self.stop - self.start

    def load(self) -> Any:
        """The rows as an array; those of a ``memmap`` are read when they are used."""
        if isinstance(self.source, _InFile):
            return self.source.read(self.start, self.stop)
        return np.asarray(self.source[self.start : self.stop])

    def head(self, count: int) -> Rows:
        """The first of the rows."""
        return Rows(self.source, self.start, min(self.stop, self.start + count), self.shape, self.dtype)


@dataclass(frozen=True)
class _InFile:
    """An array in a file, which is opened anew wherever it is read."""

    file: str
    place: Any
    dtype: Any
    shape: tuple[int, ...]

    def read(self, start: int, stop: int) -> Any:
        if isinstance(self.place, str):
            import h5py

            with h5py.File(self.file, "r") as opened:
                return opened[self.place][start:stop]
        width = int(np.prod(self.shape[1:], dtype=np.int64)) * self.dtype.itemsize
        shape = (stop - start, *self.shape[1:])
        if 0 in shape:
            return np.empty(shape, self.dtype)
        found = np.memmap(self.file, self.dtype, "r", self.place + start * width, shape)
        return np.asarray(found)


def rows(array: Any, count: int) -> list[Rows]:
    """The rows of an array, ``count`` by ``count``, for ``over``: of a ``numpy.memmap`` (``np.load(file,
    mmap_mode="r")``), a Zarr array, a dataset of ``h5py``, or anything else that has ``shape``, ``dtype`` and slices.

    Nothing is read here. A part is read in the process that computes with it, which needs to see the file at the same
    path; for Zarr and others, to unpickle the array.

    >>> import numpy as np, s2s
    >>> [part.load().tolist() for part in s2s.distributed.rows(np.arange(5.0), 2)]
    [[0.0, 1.0], [2.0, 3.0], [4.0]]

    Raises ArgumentError where there are no rows, or ``count`` is no positive int.
    """
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 1:
        raise option_error(f"`count` is {count!r}", "give the number of rows of a part")
    shape, dtype = getattr(array, "shape", None), getattr(array, "dtype", None)
    if not isinstance(shape, tuple) or dtype is None or not shape:
        raise option_error(f"`rows` has {with_article(type(array).__name__)}", "give an array with a first axis")
    source, length = _source_of(array), int(shape[0])
    return [
        Rows(source, start, min(start + int(count), length), tuple(shape), np.dtype(dtype))
        for start in range(0, length, int(count))
    ]


def _source_of(array: Any) -> Any:
    """What finds the rows again in another process."""
    is_in_file = isinstance(array, np.memmap) and array.filename is not None
    if is_in_file and array.mode != "c" and array.flags.c_contiguous:
        base = array
        while isinstance(base.base, np.memmap):
            base = base.base
        if base.flags.c_contiguous:
            start = array.__array_interface__["data"][0] - base.__array_interface__["data"][0]
            return _InFile(str(array.filename), base.offset + start, array.dtype, array.shape)
    if type(array).__module__.partition(".")[0] == "h5py":
        return _InFile(str(array.file.filename), str(array.name), array.dtype, tuple(array.shape))
    return array
