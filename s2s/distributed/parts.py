"""Data in parts in, the parts of each argument side by side out: checked as far as can be seen without reading them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2s.core.inspection import with_article
from s2s.distributed.rows import Rows
from s2s.errors import error

__all__ = ["Parts", "as_array", "is_lazy", "laid_out", "parts_of", "rows_of"]

ALIGNED = 64


@dataclass(frozen=True)
class Parts:
    """The parts of one argument: what each is made of, and how many rows it has, None where only its task knows."""

    name: str
    blocks: list[Any]
    rows: list[int | None]

    @property
    def shown(self) -> str:
        """The rows of its parts, for a message."""
        few = ", ".join("?" if n is None else str(n) for n in self.rows[:6])
        return f"`{self.name}` in {len(self.rows)} parts ({few}{', ...' if len(self.rows) > 6 else ''} rows)"


def is_lazy(block: Any) -> bool:
    """Whether a part is known to Dask only: a task, or what a task on the cluster has given."""
    return type(block).__module__.partition(".")[0] in ("dask", "distributed", "dask_expr")


def parts_of(given: dict[str, Any]) -> list[tuple[Any, ...]]:
    """The parts of the data, one tuple for each, with a block for each argument. Raises ArgumentError where they do not
    fit together."""
    plain = {name: value for name, value in given.items() if isinstance(value, np.ndarray)}
    found = {name: _parts(name, value) for name, value in given.items() if name not in plain}
    for name, value in plain.items():
        found[name] = _cut_as(name, value, next(iter(found.values()), None))
    one, *others = found.values()
    for other in others:
        known = [(a, b) for a, b in zip(one.rows, other.rows) if a is not None and b is not None]
        if len(one.rows) != len(other.rows) or any(a != b for a, b in known):
            raise error("S2S701", problem=f"{one.shown}, {other.shown}")
    if not one.blocks or all(n == 0 for n in one.rows):
        raise error("S2S702", names=", ".join(f"`{name}`" for name in given))
    return list(zip(*[found[name].blocks for name in given]))


def _parts(name: str, value: Any) -> Parts:
    if isinstance(value, (list, tuple)):
        return Parts(name, list(value), [_known_rows(name, k, block) for k, block in enumerate(value)])
    chunks, delayed = getattr(value, "chunks", None), getattr(value, "to_delayed", None)
    if delayed is None or not is_lazy(value):
        raise error("S2S703", name=name, kind=with_article(type(value).__name__))
    if isinstance(chunks, tuple):  # an array
        wide = [axis for axis, lengths in enumerate(chunks) if axis and len(lengths) > 1]
        if not chunks or wide:
            what = f"along axis {wide[0]} too" if wide else "and has no axis"
            raise error("S2S704", name=name, what=what)
        lengths = [None if math.isnan(n) else int(n) for n in chunks[0]]
        return Parts(name, list(delayed().ravel()), lengths)
    blocks = list(delayed())
    return Parts(name, blocks, [None] * len(blocks))


def _known_rows(name: str, place: int, block: Any) -> int | None:
    if is_lazy(block):
        return None
    if isinstance(block, (list, Rows)):
        return len(block)
    shape = getattr(block, "shape", None)
    if not isinstance(shape, tuple):
        raise error("S2S703", name=f"{name}[{place}]", kind=with_article(type(block).__name__))
    if not shape:
        raise error("S2S701", problem=f"`{name}[{place}]` has no rows: it is an array of rank 0")
    return int(shape[0])


def _cut_as(name: str, value: Any, other: Parts | None) -> Parts:
    """An array cut where another argument is."""
    if value.ndim == 0:
        raise error("S2S701", problem=f"`{name}` has no rows: it is an array of rank 0")
    if other is None:
        return Parts(name, [value], [len(value)])
    lengths = [n for n in other.rows if n is not None]
    if len(lengths) < len(other.rows) or sum(lengths) != len(value):
        raise error("S2S701", problem=f"{other.shown}, `{name}` in one part of {len(value)} rows")
    return Parts(name, np.split(value, list(itertools.accumulate(lengths))[:-1]), list(other.rows))


# --- where they are computed with -----------------------------------------------------------------------------------


def as_array(block: Any) -> Any:
    """A part as an array: of a data frame its values, of a list (a part of a bag) the array of its items."""
    if isinstance(block, Rows):
        block = block.load()
    if hasattr(block, "to_numpy"):
        block = block.to_numpy()
    if isinstance(block, (list, tuple, map, filter, zip)):
        try:
            block = np.array(list(block))
        except ValueError as problem:
            raise error("S2S701", problem=f"the items of a part are no array: {problem}") from None
    if isinstance(block, np.ndarray):
        if type(block) not in (np.ndarray, np.memmap):  # it may have a mask, or units
            kind = with_article(type(block).__name__)
            raise error("S2S701", problem=f"a part is {kind}, which is more than an array of numbers")
        block = np.asarray(block)
        if block.dtype.kind == "O":
            raise error(
                "S2S701", problem="a part is an array of objects, as of columns or items of several kinds",
                hint="give numbers: choose the columns, fill or drop what is missing, `.astype(float)`")
        block = laid_out(block)
    elif not isinstance(getattr(block, "shape", None), tuple):
        raise error("S2S701", problem=f"a part is {with_article(type(block).__name__)}, and no array")
    return block


def laid_out(array: Any) -> Any:
    """An array in C order that begins at a multiple of ALIGNED bytes, copied where it does not: BLAS adds in another
    order for other places in memory, and where a part is depends on how it came."""
    if array.flags.c_contiguous and array.ctypes.data % ALIGNED == 0:
        return array
    space = np.empty(array.nbytes + ALIGNED, np.uint8)
    start = -space.ctypes.data % ALIGNED
    found = space[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    found[...] = array
    return found


def rows_of(blocks: Sequence[Any], names: Sequence[str], place: int) -> int:
    """The number of rows that the blocks of a part have. Raises ArgumentError where they differ."""
    shapes = [np.shape(block) for block in blocks]
    if any(not shape for shape in shapes) or len({shape[0] for shape in shapes}) > 1:
        shown = ", ".join(f"`{name}` of shape {shape}" for name, shape in zip(names, shapes))
        raise error("S2S701", problem=f"part {place} has {shown}")
    return int(shapes[0][0])
