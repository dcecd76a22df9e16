"""What is done in another way for arrays that are graphs, such as Dask's: nothing is stored into a view of one, nothing
is computed here, and lengths may be unknown.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from s2s.errors import error

__all__ = ["ON_GRAPHS", "Lengths", "along", "as_chunked", "lines_back", "unknown_length"]


class _Unknown(float):
    """A length that is known only when it is computed: NaN, as Dask has it, but what is computed with it is a graph."""

    array: Any
    axis: int
    __array_ufunc__ = None  # arrays leave it to this class what they make with it

    def __new__(cls, array: Any, axis: int) -> _Unknown:
        made = super().__new__(cls, math.nan)
        made.array, made.axis = array, axis
        return made

    @property
    def count(self) -> Any:
        """The number, as a graph."""
        line = self.array[tuple([slice(None) if k == self.axis else 0 for k in range(self.array.ndim)])]
        return ((line == line) | True).sum()


def _with_count(name: str) -> Any:
    def call(self: _Unknown, other: Any) -> Any:
        return getattr(self.count, name)(other.count if isinstance(other, _Unknown) else other)

    return call


for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv"):
    setattr(_Unknown, f"__{_name}__", _with_count(f"__{_name}__"))


class Lengths(tuple[Any, ...]):
    """The lengths of a graph, with the array that has them: what is made of these lengths gets its chunks, and may have
    them where they are unknown. Those of two arrays are alike where both are unknown; Dask takes them to be, and what
    goes back through a mask is counted."""

    array: Any

    def __new__(cls, array: Any) -> Lengths:
        """The lengths of an array."""
        made = super().__new__(cls, (_Unknown(array, k) if math.isnan(n) else n for k, n in enumerate(array.shape)))
        made.array = array
        return made

    @property
    def is_known(self) -> bool:
        """Whether the array knows them all."""
        return not any(map(math.isnan, self))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, tuple) and tuple(map(_or_none, self)) == tuple(map(_or_none, other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(tuple(map(_or_none, self)))


def _or_none(length: Any) -> Any:
    return None if isinstance(length, float) and math.isnan(length) else length


def _filled(module: Any, value: Any, lengths: Lengths) -> Any:
    """A number, or an array, broadcast to lengths of which some are unknown. Raises NoDerivativeError where the
    array has an axis in the place of such a one."""
    rank = np.ndim(value)
    behind = lengths[len(lengths) - rank :]
    if any(math.isnan(n) and own != 1 for n, own in zip(behind, np.shape(value))):
        if Lengths(value) == lengths:
            return value
        raise unknown_length("an array is broadcast to it")
    same = lengths.array if lengths.array.dtype.kind == "b" else lengths.array == lengths.array
    return module.where(same | True, value, 0)


def unknown_length(problem: str) -> Exception:
    return error("S2S539", problem=problem)


# --- lines ------------------------------------------------------------------------------------------------------------


def as_chunked(values: Any, part: Any, axis: int) -> Any:
    """Values in the chunks of an array along all other axes."""
    chunks = {k: part.chunks[k] for k in range(part.ndim) if k != axis and values.chunks[k] != part.chunks[k]}
    return values.rechunk(chunks) if chunks else values


def along(function: Any, axis: int, *arrays: Any, dtype: Any = None, **keywords: Any) -> Any:
    """A function of lines along an axis, for each chunk: the lines are in one chunk, as ``dask.array.median`` has
    them, and the other axes in chunks of the last array. The result has the shape of that array."""
    last = arrays[-1]
    axis = axis % last.ndim
    last = last.rechunk({axis: -1})
    others = [as_chunked(one.rechunk({axis: -1}), last, axis) for one in arrays[:-1]]
    return last.map_blocks(
        _in_order, *others, function=function, axis=axis, dtype=last.dtype if dtype is None else dtype, **keywords)


def lines_back(g: Any, places: Any, zeros: Any, axis: int) -> Any:
    """The cotangent of lines from that of what was taken from them, on NumPy."""
    made = zeros + np.zeros((), g.dtype)
    at = [np.minimum(one, n - 1) for one, n in zip(np.indices(places.shape, sparse=True), made.shape)]
    at[axis] = places
    np.add.at(made, tuple(at), g)
    return made


def _in_order(last: Any, *others: Any, function: Any, **keywords: Any) -> Any:
    return function(*others, last, **keywords)


# --- in the place of functions of NumPy -----------------------------------------------------------------------------


def shape(module: Any, a: Any) -> Any:
    """The lengths of an array, or of a list of arrays that are alike."""
    if isinstance(a, (list, tuple)):
        return (len(a), *(shape(module, a[0]) if a else ()))
    return Lengths(a) if isinstance(a, module.Array) else np.shape(a)


def broadcast_to(module: Any, a: Any, shape: Any, **keywords: Any) -> Any:
    """An array, or a number, in another shape; in the chunks of the array that the shape is of, where it has none."""
    if isinstance(shape, Lengths) and not shape.is_known:
        return _filled(module, a, shape)
    a = a if isinstance(a, module.Array) else module.asarray(a)
    if any(map(math.isnan, a.shape)):
        lengths = tuple(shape) if np.ndim(shape) else (shape,)
        if any(math.isnan(n) and own != 1 for n, own in zip(a.shape, lengths[len(lengths) - a.ndim :])):
            raise unknown_length("it goes with an array of a known one")
    chunks = shape.array.chunks if isinstance(shape, Lengths) and a.size == 1 and a.ndim < len(shape) else None
    return module.broadcast_to(a.reshape(()) if chunks else a, tuple(shape) if np.ndim(shape) else shape, chunks=chunks)


def _made(name: str) -> Any:
    """A function that makes an array of a shape: in the chunks of the array that the shape is of."""

    def call(module: Any, shape: Any, dtype: Any = float, order: str = "C", **keywords: Any) -> Any:
        if isinstance(shape, Lengths) and shape.is_known:
            return getattr(module, name)(tuple(shape), dtype=dtype, chunks=shape.array.chunks)
        if isinstance(shape, Lengths):
            raise unknown_length(f"`numpy.{name}` is to make another one")
        return getattr(module, name)(shape, dtype=dtype)

    return call


def size(module: Any, a: Any, axis: Any = None) -> Any:
    """The number of items of an array, or of a list of arrays; a graph where it is unknown."""
    lengths = shape(module, a)
    return math.prod(lengths) if axis is None else lengths[axis]


def full_like(module: Any, like: Any, value: Any, dtype: Any = None, **keywords: Any) -> Any:
    """An array of the shape and the chunks of another, of one number, or one row, again and again."""
    return broadcast_to(module, value, Lengths(like)).astype(like.dtype if dtype is None else dtype)


def sort(module: Any, a: Any, axis: Any = -1, kind: Any = None, **keywords: Any) -> Any:
    """The lines along an axis in order."""
    a, axis = (a.ravel(), 0) if axis is None else (a, axis)
    return along(np.sort, axis, a, kind=kind)


def argsort(module: Any, a: Any, axis: Any = -1, kind: Any = None, **keywords: Any) -> Any:
    """The places that put lines along an axis in order."""
    a, axis = (a.ravel(), 0) if axis is None else (a, axis)
    return along(np.argsort, axis, a, dtype=np.dtype(np.intp), kind=kind)


def take(module: Any, a: Any, indices: Any, axis: Any = None, **keywords: Any) -> Any:
    """The items of an array at places along an axis; of the flattened array where there is none."""
    a, axis = (module.asarray(a).ravel(), 0) if axis is None else (module.asarray(a), axis % a.ndim)
    if np.ndim(indices) < 2:
        return module.take(a, indices, axis)
    picked = module.take(a, indices.ravel() if isinstance(indices, module.Array) else np.ravel(indices), axis)
    return picked.reshape((*a.shape[:axis], *np.shape(indices), *a.shape[axis + 1 :]))


def ix_(module: Any, *places: Any) -> tuple[Any, ...]:
    """Places along axes, one line for each, so that they broadcast to those of all pairs."""
    made = [module.asarray(one) for one in places]
    made = [module.flatnonzero(one) if one.dtype == bool else one for one in made]
    return tuple([one.reshape((-1,) + (1,) * (len(made) - k - 1)) for k, one in enumerate(made)])


def array_split(module: Any, a: Any, parts: Any, axis: int = 0) -> list[Any]:
    """An array in pieces along an axis: so many, or cut at these places."""
    length = a.shape[axis]
    if not np.ndim(parts):
        each, more = divmod(length, int(parts))
        parts = np.cumsum([each + 1] * more + [each] * (int(parts) - more))[:-1].tolist()
    ends = [0, *[int(k) for k in parts], length]
    before = (slice(None),) * (axis % a.ndim)
    return [a[(*before, slice(first, last))] for first, last in itertools.pairwise(ends)]


def split(module: Any, a: Any, parts: Any, axis: int = 0) -> list[Any]:
    """An array in equal pieces along an axis, or cut at these places."""
    if not np.ndim(parts) and a.shape[axis] % int(parts):
        raise ValueError("array split does not result in an equal division")
    return array_split(module, a, parts, axis)


def take_along_axis(module: Any, a: Any, places: Any, axis: Any = -1) -> Any:
    """The items of an array at places along an axis, line by line."""
    if axis is None:
        raise error("S2S536", name="numpy.take_along_axis(axis=None)", module="dask.array")
    return along(np.take_along_axis, axis, module.asarray(a), module.asarray(places), dtype=a.dtype)


ON_GRAPHS: dict[str, Any] = {
    "shape": shape, "broadcast_to": broadcast_to, "zeros": _made("zeros"), "ones": _made("ones"),
    "empty": _made("empty"), "size": size, "full_like": full_like, "sort": sort, "argsort": argsort,
    "take_along_axis": take_along_axis, "take": take, "ix_": ix_, "split": split, "array_split": array_split,
}
