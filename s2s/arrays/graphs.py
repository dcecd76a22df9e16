"""What is done in another way for arrays that are graphs, such as Dask's: nothing is stored into a view of one, nothing
is computed here, and lengths may be unknown.

``add_at`` is ``np.add.at``: each chunk of the result is made of the chunks that it needs. What a mask leaves has chunks
of unknown length, which are those of the mask: each goes back to its own.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from s2s.errors import error

__all__ = ["ON_GRAPHS", "Lengths", "add_at", "along", "lines_back"]


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
        raise _unknown("an array is broadcast to it")
    same = lengths.array if lengths.array.dtype.kind == "b" else lengths.array == lengths.array
    return module.where(same | True, value, 0)


def _unknown(problem: str) -> Exception:
    return error("S2S539", problem=problem)


# --- adding at places -----------------------------------------------------------------------------------------------


def add_at(module: Any, a: Any, key: Any, values: Any) -> None:
    """``a[key] += values``, adding up where a place is named more than once, and nothing computed. Raises
    NoDerivativeError for more than one array among the indices."""
    if not hasattr(values, "ndim"):
        values = module.asarray(values)
    mask = key[0] if isinstance(key, tuple) and len(key) == 1 else key
    if getattr(mask, "ndim", 0) > 1 and mask.dtype == bool and mask.ndim == a.ndim:
        _add(module, a, (), _behind_mask(module, a, module.asarray(mask), values))
        return
    keys = _in_full(key, a.ndim)
    fancy = [axis for axis, one in enumerate(keys) if isinstance(one, list) or getattr(one, "shape", None) is not None]
    numbers = [axis for axis, one in enumerate(keys) if not isinstance(one, (slice, list)) and axis not in fancy]
    if not fancy:
        _add(module, a, keys, values)
        return
    axis = fancy[0]
    places = keys[axis]
    places = module.asarray(np.asarray(places) if isinstance(places, list) else places)
    if len(fancy) > 1 or places.ndim > 1 or any(abs(axis - k) > 1 for k in numbers):
        raise error("S2S536", name="numpy.add.at with arrays of several axes", module=module.__name__)
    basic = tuple(slice(None) if k == axis else one for k, one in enumerate(keys))
    part = a[basic]
    axis -= sum(1 for k in numbers if k < axis)
    if places.ndim == 0:
        places = places.reshape(1)
        values = module.expand_dims(values, axis) if values.ndim == part.ndim - 1 else values
    scattered = _put_back if places.dtype == bool else _scattered
    _add(module, a, basic, scattered(module, part, places, values, axis))


def _in_full(key: Any, rank: int) -> tuple[Any, ...]:
    """An index as one for each axis. Raises NoDerivativeError for those that add axes."""
    keys = key if isinstance(key, tuple) else (key,)
    if any(one is None for one in keys):
        raise error("S2S536", name="numpy.add.at with np.newaxis", module="dask.array")
    for place, one in enumerate(keys):
        if one is Ellipsis:
            rest = (slice(None),) * (rank - len(keys) + 1)
            return (*keys[:place], *rest, *keys[place + 1 :])
    return (*keys, *[slice(None)] * (rank - len(keys)))


def _add(module: Any, a: Any, basic: tuple[Any, ...], values: Any) -> None:
    """``a[basic] += values``, where all of the array is meant as a sum: there is less to do."""
    is_whole = all(isinstance(one, slice) and one == slice(None) for one in basic)
    if is_whole and any(map(math.isnan, a.shape)):  # Dask compares the lengths, which are no numbers
        raise _unknown("what goes back to its places is added up")
    if is_whole:
        module.add(a, values.astype(a.dtype), out=a)
    else:
        a[basic] = a[basic] + values


def _scattered(module: Any, part: Any, places: Any, values: Any, axis: int) -> Any:
    """Zeros in the chunks of ``part``, with ``values`` added at integer places along an axis: for each chunk what each
    chunk of the values adds to it, then the sum of these."""
    length = part.shape[axis]
    if not math.isnan(places.shape[0]):
        shape = (*part.shape[:axis], places.shape[0], *part.shape[axis + 1 :])
        values = module.broadcast_to(values, shape)
        places = places.rechunk((values.chunks[axis],))
    elif values.ndim == 0:
        values = places * 0 + values
    _check_chunks(values, axis, places)
    rows = module.arange(length, chunks=(part.chunks[axis],))
    values = _as_chunked(values, part, axis)
    axes = tuple(range(part.ndim))
    of_values = tuple(part.ndim + 1 if k == axis else k for k in axes)
    terms = module.blockwise(
        _place_chunk, (part.ndim + 1, *axes), values, of_values, places, (part.ndim + 1,), rows, (axis,),
        axis=axis, length=length, adjust_chunks={part.ndim + 1: 1}, dtype=values.dtype, align_arrays=False)
    return terms.sum(axis=0)


def _as_chunked(values: Any, part: Any, axis: int) -> Any:
    """Values in the chunks of an array along all other axes."""
    chunks = {k: part.chunks[k] for k in range(part.ndim) if k != axis and values.chunks[k] != part.chunks[k]}
    return values.rechunk(chunks) if chunks else values


def _place_chunk(values: Any, places: Any, rows: Any, axis: int, length: int) -> Any:
    places = np.where(places < 0, places + length, places)
    if places.size and (places.min() < 0 or places.max() >= length):
        raise IndexError(f"an index is out of bounds for axis {axis} with size {length}")
    _check_count(values, axis, len(places))
    here = (places >= rows[0]) & (places <= rows[-1]) if len(rows) else np.zeros(places.shape, bool)
    made = np.zeros((*values.shape[:axis], len(rows), *values.shape[axis + 1 :]), values.dtype)
    before = (slice(None),) * axis
    if here.any():
        np.add.at(made, (*before, places[here] - rows[0]), values[(*before, here)])
    return made[None]


def _check_chunks(values: Any, axis: int, index: Any) -> None:
    if values.ndim <= axis or values.numblocks[axis] != index.numblocks[0]:
        raise _unknown("what is made of it has other chunks")


def _check_count(values: Any, axis: int, count: int) -> None:
    if values.shape[axis] != count:
        raise ValueError(f"{values.shape[axis]} values go back to {count} places of a chunk: lengths of chunks differ")


def _put_back(module: Any, part: Any, mask: Any, values: Any, axis: int) -> Any:
    """Zeros in the chunks of ``part``, with ``values`` where a mask along an axis is true."""
    read = module.core.unify_chunks(part, tuple(range(part.ndim)), mask, (axis,))[1][1]  # as Dask reads it
    if values.ndim != part.ndim or values.numblocks[axis] == read.numblocks[0]:
        mask = read
    if values.ndim < part.ndim or not math.isnan(values.shape[axis]):
        if values.ndim == part.ndim and values.shape[axis] != 1:
            raise _unknown("what is added to it has a known one")
        shaped = mask.reshape((-1, *[1] * (part.ndim - axis - 1)))
        return module.where(shaped, values, module.zeros_like(part))
    _check_chunks(values, axis, mask)
    values = _as_chunked(values, part, axis)
    axes = tuple(range(part.ndim))
    return module.blockwise(  # the mask first: its lengths are known
        _put_chunk, axes, mask, (axis,), values, axes, axis=axis, dtype=values.dtype, align_arrays=False)


def _put_chunk(mask: Any, values: Any, axis: int) -> Any:
    _check_count(values, axis, int(np.count_nonzero(mask)))
    made = np.zeros((*values.shape[:axis], len(mask), *values.shape[axis + 1 :]), values.dtype)
    made[(*(slice(None),) * axis, mask)] = values
    return made


def _behind_mask(module: Any, a: Any, mask: Any, values: Any) -> Any:
    """Zeros, with the values where a mask of the shape of the array is true, in the order in which Dask reads it."""
    flat = a.ravel()
    return _put_back(module, flat, mask.ravel(), values, 0).reshape(a.shape).rechunk(a.chunks)


# --- lines ------------------------------------------------------------------------------------------------------------


def along(function: Any, axis: int, *arrays: Any, dtype: Any = None, **keywords: Any) -> Any:
    """A function of lines along an axis, for each chunk: the lines are in one chunk, as ``dask.array.median`` has
    them, and the other axes in chunks of the last array. The result has the shape of that array."""
    last = arrays[-1]
    axis = axis % last.ndim
    last = last.rechunk({axis: -1})
    others = [_as_chunked(one.rechunk({axis: -1}), last, axis) for one in arrays[:-1]]
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
    chunks = shape.array.chunks if isinstance(shape, Lengths) and a.size == 1 and a.ndim < len(shape) else None
    return module.broadcast_to(a.reshape(()) if chunks else a, tuple(shape) if np.ndim(shape) else shape, chunks=chunks)


def _made(name: str) -> Any:
    """A function that makes an array of a shape: in the chunks of the array that the shape is of."""

    def call(module: Any, shape: Any, dtype: Any = float, order: str = "C", **keywords: Any) -> Any:
        if isinstance(shape, Lengths) and shape.is_known:
            return getattr(module, name)(tuple(shape), dtype=dtype, chunks=shape.array.chunks)
        if isinstance(shape, Lengths):
            raise _unknown(f"`numpy.{name}` is to make another one")
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


def take_along_axis(module: Any, a: Any, places: Any, axis: Any = -1) -> Any:
    """The items of an array at places along an axis, line by line."""
    if axis is None:
        raise error("S2S536", name="numpy.take_along_axis(axis=None)", module="dask.array")
    return along(np.take_along_axis, axis, module.asarray(a), module.asarray(places), dtype=a.dtype)


ON_GRAPHS: dict[str, Any] = {
    "shape": shape, "broadcast_to": broadcast_to, "zeros": _made("zeros"), "ones": _made("ones"),
    "empty": _made("empty"), "size": size, "full_like": full_like, "sort": sort, "argsort": argsort,
    "take_along_axis": take_along_axis,
}
