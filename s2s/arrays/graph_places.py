"""Reading, storing and adding at places of arrays that are graphs, such as Dask's: an index as NumPy takes it in, a new
graph out. Each chunk of the result is made of the chunks that it needs.

Several arrays among the indices are one for the axes that they stand for, side by side as one axis. What a mask leaves
has chunks of unknown length, which are those of the mask: each goes back to its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2s.arrays.graphs import as_chunked, unknown_length
from s2s.errors import error

__all__ = ["add_at", "of_last_stored", "picked", "updated"]


# --- an index ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Index:
    """An index of an array as ``basic``, one without arrays, and, unless ``axis`` is None, ``places`` along that axis
    of what it reads: integers, or a mask.

    Where arrays of integers stand for several axes, ``merged`` are these axes of what ``basic`` reads, which are one
    axis in front of the others for the places, and ``shape`` is that of each of the arrays, at ``axis`` in the result.
    """

    basic: tuple[Any, ...]
    axis: int | None = None
    places: Any = None
    merged: tuple[int, ...] = ()
    shape: tuple[Any, ...] = ()

    def part(self, module: Any, a: Any) -> Any:
        """What ``basic`` reads, with the merged axes as one."""
        part = a if _is_whole(self.basic) else a[self.basic]
        if not self.merged:
            return part
        part = module.moveaxis(part, self.merged, range(len(self.merged)))
        return part.reshape((-1, *part.shape[len(self.merged) :]))

    def back(self, module: Any, part: Any, a: Any) -> Any:
        """A part of that form as ``basic`` reads it."""
        if not self.merged:
            return part
        whole = a if _is_whole(self.basic) else a[self.basic]
        lengths = [whole.shape[k] for k in self.merged]
        part = module.moveaxis(part.reshape((*lengths, *part.shape[1:])), range(len(self.merged)), self.merged)
        return part.rechunk(whole.chunks)

    def values(self, module: Any, values: Any, rank: int) -> Any:
        """Values that an array of ``rank`` axes takes at the index, as the merged places take them."""
        if not self.merged or values.ndim == 0:
            return values
        assert self.axis is not None
        lengths, count = self.shape, len(self.shape)
        others = rank - len(self.merged)
        if values.ndim < others + count:
            values = values.reshape((1,) * (others + count - values.ndim) + values.shape)
        values = module.moveaxis(values, range(self.axis, self.axis + count), range(count))
        if count == 1:
            return values
        return module.broadcast_to(values, (*lengths, *values.shape[count:])).reshape((-1, *values.shape[count:]))

    @property
    def place(self) -> int:
        """The axis of the part along which the places are."""
        assert self.axis is not None
        return 0 if self.merged else self.axis


def _is_whole(basic: tuple[Any, ...]) -> bool:
    return all(isinstance(one, slice) and one == slice(None) for one in basic)


def _index_of(module: Any, key: Any, lengths: tuple[Any, ...]) -> _Index:
    """An index of an array of these lengths. Raises NoDerivativeError for masks among several arrays."""
    keys = [_one_index(one) for one in _in_full(key, len(lengths))]
    fancy = [axis for axis, one in enumerate(keys) if getattr(one, "shape", None) is not None]
    if not fancy:
        return _Index(tuple(keys))
    numbers = [axis for axis, one in enumerate(keys) if not isinstance(one, slice) and axis not in fancy]
    first = keys[fancy[0]]
    if len(fancy) == 1 and first.ndim < 2 and all(abs(fancy[0] - k) == 1 for k in numbers):
        basic = tuple(slice(None) if k == fancy[0] else one for k, one in enumerate(keys))
        axis = fancy[0] - sum(1 for k in numbers if k < fancy[0])
        return _Index(basic, axis, module.asarray(first))
    merged = tuple(sorted((*fancy, *numbers)))
    if any(keys[k].dtype.kind == "b" for k in fancy):
        raise error("S2S536", name="an index with a mask beside other arrays", module=module.__name__)
    basic = tuple(slice(None) if k in merged else one for k, one in enumerate(keys))
    places = _places_of(module, [keys[k] for k in merged], [lengths[k] for k in merged])
    is_one_block = merged[-1] - merged[0] == len(merged) - 1
    return _Index(basic, merged[0] if is_one_block else 0, places.ravel(), merged, places.shape)


def _places_of(module: Any, keys: list[Any], lengths: list[int]) -> Any:
    """The places along several axes as those along one which has the elements of all of them, the last axis fastest."""
    total: Any = 0
    for key, length in zip(keys, lengths):
        if isinstance(key, module.Array):
            own = key.map_blocks(_from_the_start, length, dtype=np.dtype(np.intp))
        else:
            own = _from_the_start(np.asarray(key), length)
        total = total * length + own
    return module.asarray(total)


def _from_the_start(places: Any, length: int) -> Any:
    places = np.where(places < 0, places + length, places)
    if places.size and (places.min() < 0 or places.max() >= length):
        raise IndexError(f"an index is out of bounds for an axis with size {length}")
    return places


def _one_index(one: Any) -> Any:
    one = np.asarray(one) if isinstance(one, (list, np.generic)) else one
    return int(one) if isinstance(one, np.ndarray) and one.ndim == 0 and one.dtype != bool else one


def _in_full(key: Any, rank: int) -> tuple[Any, ...]:
    """An index as one for each axis. Raises NoDerivativeError for those that add axes."""
    keys = key if isinstance(key, tuple) else (key,)
    if any(one is None for one in keys):
        raise error("S2S536", name="a store with np.newaxis among the indices", module="dask.array")
    for place, one in enumerate(keys):
        if one is Ellipsis:
            rest = (slice(None),) * (rank - len(keys) + 1)
            return (*keys[:place], *rest, *keys[place + 1 :])
    return (*keys, *[slice(None)] * (rank - len(keys)))


def _whole_mask(key: Any, rank: int) -> Any:
    """The mask of an index that is a mask of all axes of an array of several; else None."""
    mask = key[0] if isinstance(key, tuple) and len(key) == 1 else key
    return mask if getattr(mask, "ndim", 0) == rank > 1 and mask.dtype == bool else None


# --- reading ----------------------------------------------------------------------------------------------------------


def picked(module: Any, a: Any, key: Any) -> Any:
    """``a[key]`` on NumPy, for arrays of integers that Dask does not take: for several axes, or of several axes."""
    index = _index_of(module, key, a.shape)
    if not index.merged:
        return a[key]
    taken = index.part(module, a)[index.places]
    if len(index.shape) != 1:
        taken = taken.reshape((*index.shape, *taken.shape[1:]))
    count = len(index.shape)
    return module.moveaxis(taken, range(count), range(index.axis, index.axis + count)) if index.axis else taken


# --- storing ----------------------------------------------------------------------------------------------------------


def updated(module: Any, a: Any, key: Any, value: Any) -> Any:
    """The array that ``a`` is after ``a[key] = value`` on NumPy: the last of the values where a place is named more
    than once."""
    value = (value if isinstance(value, module.Array) else module.asarray(value)).astype(a.dtype)
    mask = _whole_mask(key, a.ndim)
    if mask is not None:
        mask = module.asarray(mask)
        return module.where(mask, value if value.ndim == 0 else _behind_mask(module, a, mask, value), a)
    index = _index_of(module, key, a.shape)
    if index.axis is not None:
        part = index.part(module, a)
        value = index.values(module, value, a.ndim if index.merged else part.ndim)
        value = index.back(module, _with_places(module, part, index.places, value, index.place), a)
    if _is_whole(index.basic):
        value = module.broadcast_to(value, a.shape) if index.axis is None else value
        return value if value.chunks == a.chunks else value.rechunk(a.chunks)
    made = a.copy()
    made[index.basic] = value
    return made


def _with_places(module: Any, part: Any, places: Any, value: Any, axis: int) -> Any:
    """An array with other values at places along an axis, or where a mask along it is true."""
    if places.ndim == 0:
        places = places.reshape(1)
        value = module.expand_dims(value, axis) if value.ndim == part.ndim - 1 else value
    if places.dtype != bool:
        return _assigned(module, part, places, value, axis)
    is_row = value.ndim < part.ndim - axis or value.shape[axis - part.ndim] == 1
    if not is_row and value.ndim < part.ndim:
        value = value.reshape((1,) * (part.ndim - value.ndim) + value.shape)
    shaped = places.reshape((-1, *[1] * (part.ndim - axis - 1)))
    return module.where(shaped, value if is_row else _put_back(module, part, places, value, axis), part)


def _assigned(module: Any, part: Any, places: Any, value: Any, axis: int) -> Any:
    """An array with values at integer places along an axis: each chunk is given all that goes along that axis."""
    rows = module.arange(part.shape[axis], chunks=(part.chunks[axis],))
    if value.ndim and not math.isnan(places.shape[0]):
        shape = (*part.shape[:axis], places.shape[0], *part.shape[axis + 1 :])
        value = module.broadcast_to(value, shape)
        if value.chunks[axis] != places.chunks[0]:
            value = value.rechunk({axis: -1})
    elif value.ndim < part.ndim - axis or value.shape[axis - part.ndim] == 1:
        value = module.broadcast_to(value, (*part.shape[:axis], 1, *part.shape[axis + 1 :]))
    value = as_chunked(value, part, axis)
    axes = tuple(range(part.ndim))
    of_values = tuple(part.ndim if k == axis else k for k in axes)
    return module.blockwise(
        _assign_chunk, axes, part, axes, value, of_values, places, (part.ndim + 1,), rows, (axis,),
        axis=axis, length=part.shape[axis], dtype=part.dtype, align_arrays=False, concatenate=True)


def _assign_chunk(part: Any, values: Any, places: Any, rows: Any, axis: int, length: int) -> Any:
    places = _from_the_start(places, length)
    here = (places >= rows[0]) & (places <= rows[-1]) if len(rows) else np.zeros(places.shape, bool)
    made, before = part.copy(), (slice(None),) * axis
    if values.shape[axis] != 1:
        _check_count(values, axis, len(places))
        values = values[(*before, here)]
    if here.any():
        made[(*before, places[here] - rows[0])] = values
    return made


def of_last_stored(module: Any, a: Any, key: Any) -> Any:
    """``a[key]``, with zeros for places that the index names once more later: what a store has put there is gone."""
    part = picked(module, a, key)
    index = _index_of(module, key, a.shape)
    if index.axis is None or index.places.dtype == bool or index.places.ndim == 0:
        return part
    length = index.part(module, a).shape[index.place]
    order = index.places.map_blocks(_numbered, dtype=np.dtype(np.int64))
    written = _assigned(module, module.zeros(length, dtype=np.int64), index.places, order, 0)
    last = written[index.places] == order
    lengths = index.shape if len(index.shape) > 1 else (-1,)
    behind = part.ndim - index.axis - len(lengths)
    return module.where(last.reshape((*lengths, *[1] * behind)) if behind or len(lengths) > 1 else last, part, 0)


def _numbered(places: Any, block_id: tuple[int, ...]) -> Any:
    """Numbers for the places of a chunk, which grow from chunk to chunk."""
    return np.arange(len(places), dtype=np.int64) + (block_id[0] << 40)


# --- adding -----------------------------------------------------------------------------------------------------------


def add_at(module: Any, a: Any, key: Any, values: Any) -> None:
    """``a[key] += values``, adding up where a place is named more than once, and nothing computed."""
    if not hasattr(values, "ndim"):
        values = module.asarray(values)
    mask = _whole_mask(key, a.ndim)
    if mask is not None:
        _add(module, a, (), _behind_mask(module, a, module.asarray(mask), values))
        return
    index = _index_of(module, key, a.shape)
    if index.axis is None:
        _add(module, a, index.basic, values)
        return
    part, places, axis = index.part(module, a), index.places, index.place
    if places.ndim == 0:
        places = places.reshape(1)
        values = module.expand_dims(values, axis) if values.ndim == part.ndim - 1 else values
    values = index.values(module, values, a.ndim)
    scattered = _put_back if places.dtype == bool else _scattered
    _add(module, a, index.basic, index.back(module, scattered(module, part, places, values, axis), a))


def _add(module: Any, a: Any, basic: tuple[Any, ...], values: Any) -> None:
    """``a[basic] += values``, where all of the array is meant as a sum: there is less to do."""
    if _is_whole(basic) and any(map(math.isnan, a.shape)):  # Dask compares the lengths, which are no numbers
        raise unknown_length("what goes back to its places is added up")
    if _is_whole(basic):
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
    values = as_chunked(values, part, axis)
    axes = tuple(range(part.ndim))
    of_values = tuple(part.ndim + 1 if k == axis else k for k in axes)
    terms = module.blockwise(
        _place_chunk, (part.ndim + 1, *axes), values, of_values, places, (part.ndim + 1,), rows, (axis,),
        axis=axis, length=length, adjust_chunks={part.ndim + 1: 1}, dtype=values.dtype, align_arrays=False)
    return terms.sum(axis=0)


def _place_chunk(values: Any, places: Any, rows: Any, axis: int, length: int) -> Any:
    places = _from_the_start(places, length)
    _check_count(values, axis, len(places))
    here = (places >= rows[0]) & (places <= rows[-1]) if len(rows) else np.zeros(places.shape, bool)
    made = np.zeros((*values.shape[:axis], len(rows), *values.shape[axis + 1 :]), values.dtype)
    before = (slice(None),) * axis
    if here.any():
        np.add.at(made, (*before, places[here] - rows[0]), values[(*before, here)])
    return made[None]


def _check_chunks(values: Any, axis: int, index: Any) -> None:
    if values.ndim <= axis or values.numblocks[axis] != index.numblocks[0]:
        raise unknown_length("what is made of it has other chunks")


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
            raise unknown_length("what goes to its places has a known one")
        shaped = mask.reshape((-1, *[1] * (part.ndim - axis - 1)))
        return module.where(shaped, values, module.zeros_like(part))
    _check_chunks(values, axis, mask)
    values = as_chunked(values, part, axis)
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
