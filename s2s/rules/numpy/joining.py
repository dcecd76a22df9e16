"""Rules of functions that join arrays, split them, put elements in and take them out."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.core.functions import Computes
from s2s.rules.functions import describe
from s2s.rules.samples import args, arr, num, takes
from s2s.rules.table import jvp, linear, vjp, zero

# --- joining ------------------------------------------------------------------------------------------------


def as_vector(part: Any) -> Any:
    """What ``np.r_`` joins: a number becomes an array of one element."""
    return np.atleast_1d(part) if np.ndim(part) == 0 else part


def as_columns(part: Any) -> Any:
    """What ``np.c_`` joins: a vector becomes a column."""
    return np.reshape(part, (-1, 1)) if np.ndim(part) < 2 else part


def spaced(start: Any, stop: Any, count: Any) -> Any:
    """The points of ``np.mgrid[start:stop:count * 1j]``."""
    step = (stop - start) / (count - 1) if count != 1 else 1.0
    return np.arange(count) * step + start


def concatenate_bar(y_bar: Any, arrays: Any, axis: Any, dtype: Any) -> Any:
    if isinstance(arrays, (list, tuple)) and len(arrays) == 2 and axis == 0 and dtype is None:
        return [y_bar[: len(arrays[0])], y_bar[len(arrays[0]) :]]
    return rt.split_like(y_bar, arrays, axis)


linear(
    np.concatenate, arrays=concatenate_bar, joint=True,
    params="arrays, /, axis=0, out=None, *, dtype=None, casting='same_kind'",
    samples=[
        args([arr(2), arr(3)]), args((arr(2), arr(3), arr(1))), args([arr(2, 3), arr(2, 1)], axis=1),
        args(arr(2, 3)),
        args([arr(2, 3), arr(0, 3)], axis=-2), args([arr(2, 3), arr(2)], axis=None),
        args([arr(2), np.ones(2)]), args([arr(2), arr(3)], dtype=np.float64),
    ],
)
linear(
    np.stack, arrays=lambda y_bar, arrays, axis: rt.unstack_like(y_bar, arrays, axis), joint=True,
    params="arrays, axis=0, out=None, *, dtype=None, casting='same_kind'", harmless="dtype",
    samples=[
        args([arr(3), arr(3)]), args((arr(2, 3), arr(2, 3)), axis=-1), args([num(), num()]),
        args(arr(2, 3), axis=1),
    ],
)
linear(
    np.vstack, tup=lambda y_bar, tup: rt.joined_like(y_bar, tup, [np.atleast_2d(a) for a in tup], 0),
    joint=True, params="tup, *, dtype=None, casting='same_kind'", harmless="dtype",
    samples=[args([arr(3), arr(3)]), args((arr(2, 3), arr(3))), args([num(), num()])],
)
linear(
    np.hstack,
    tup=lambda y_bar, tup: rt.joined_like(
        y_bar, tup, [np.atleast_1d(a) for a in tup], 0 if np.ndim(y_bar) == 1 else 1
    ),
    joint=True, params="tup, *, dtype=None, casting='same_kind'", harmless="dtype",
    samples=[args([arr(3), arr(2)]), args((arr(2, 3), arr(2, 1))), args([num(), arr(2)])],
)
linear(
    np.dstack, tup=lambda y_bar, tup: rt.joined_like(y_bar, tup, [np.atleast_3d(a) for a in tup], 2),
    joint=True,
    params="tup",
    samples=[args([arr(3), arr(3)]), args((arr(2, 3), arr(2, 3))), args([arr(2, 3, 1), arr(2, 3, 2)])],
)
linear(
    np.column_stack,
    tup=lambda y_bar, tup: rt.joined_like(
        y_bar, tup, [a if np.ndim(a) == 2 else np.reshape(a, (-1, 1)) for a in tup], 1
    ),
    joint=True, params="tup", samples=[args([arr(3), arr(3)]), args((arr(3, 2), arr(3)))],
)
linear(
    np.append, joint=True, params="arr, values, axis=None",
    arr=lambda y_bar, arr, values, axis: rt.split_like(y_bar, [arr, values], axis)[0],
    values=lambda y_bar, arr, values, axis: rt.split_like(y_bar, [arr, values], axis)[1],
    samples=[args(arr(3), num()), args(arr(2, 3), arr(1, 3), axis=0), args(arr(2), arr(2, 2))],
)



def as_lists(items: Any) -> Any:
    """Nested lists of what is in nested lists or tuples."""
    return [as_lists(item) for item in items] if isinstance(items, (list, tuple)) else items


def block_bar(g: Any, arrays: Any) -> Any:
    """The cotangents of the nested lists of ``np.block``: the innermost lie along the last axis, the next along the one
    before.
    """
    if not isinstance(arrays, list):
        return np.reshape(g, np.shape(arrays))
    depth = _depth_of(arrays)
    start, parts = 0, []
    for item in arrays:
        length = _length_along(item, depth)
        before = (slice(None),) * (np.ndim(g) - depth)
        part = g[(*before, slice(start, start + length))]
        bar = block_bar(part, item) if isinstance(item, list) else rt.cast(np.reshape(part, np.shape(item)), item)
        parts.append(bar)
        start += length
    return parts


def _depth_of(arrays: Any) -> int:
    return 1 + _depth_of(arrays[0]) if isinstance(arrays, list) else 0


def _length_along(arrays: Any, depth: int) -> int:
    """Return the length of a block along an axis, counted from the last: any of its arrays has it, as they are joined
    along later ones."""
    while isinstance(arrays, list):
        arrays = arrays[0]
    shape: tuple[int, ...] = np.shape(arrays)
    return shape[-depth] if len(shape) >= depth else 1


linear(
    block_bar, g=lambda y_bar: np.block(as_lists(y_bar)), params="g, arrays", harmless="arrays",
    samples=[args(arr(5), [np.ones(2), np.ones(3)])],
)
linear(
    np.block, arrays=lambda y_bar, arrays: block_bar(y_bar, arrays), joint=True, params="arrays",
    samples=[
        args([arr(2), arr(3)]), args([[arr(2, 2), arr(2, 1)], [arr(1, 2), arr(1, 1)]]),
        args([[num(), num()], [num(), 1.0]]), args([[arr(3)], [arr(3)]]), args(arr(2, 3)),
        args([[arr(2, 2, 2), arr(2, 2, 1)]]),
        args([[[arr(2, 2, 2), arr(2, 2, 1)], [arr(2, 1, 3)]], [[arr(1, 3, 3)]]]),
    ],
)

# --- putting in and taking out --------------------------------------------------------------------------------------


def insertion(array: Any, obj: Any, values: Any, axis: Any) -> tuple[Any, Any]:
    """Where in the result of ``np.insert`` the elements of the array are along the axis, and where those of the values.
    """
    length = np.size(array) if axis is None else np.shape(array)[axis]
    rank = 1 if axis is None else np.ndim(array)
    along = 0 if axis is None else axis % rank
    values = np.array(values, ndmin=rank)
    single = isinstance(obj, (int, np.integer))
    if single:
        count = np.moveaxis(values, 0, along).shape[along]
    else:
        count = np.size(np.arange(length)[obj] if isinstance(obj, slice) else obj)
    tags = np.insert(np.full(length, -1), obj, np.arange(count))
    places = np.empty(count, int)
    places[tags[tags >= 0]] = np.flatnonzero(tags >= 0)
    return np.flatnonzero(tags < 0), places


def insert_bar(y_bar: Any, arr: Any, obj: Any, values: Any, axis: Any) -> Any:
    kept, _ = insertion(arr, obj, values, axis)
    return np.reshape(np.take(y_bar, kept, 0 if axis is None else axis), np.shape(arr))


def insert_values(y_bar: Any, arr: Any, obj: Any, values: Any, axis: Any) -> Any:
    _, places = insertion(arr, obj, values, axis)
    along = 0 if axis is None else axis
    g = np.take(y_bar, places, along)
    if isinstance(obj, (int, np.integer)):  # one place: the first axis of the values goes along it
        g = np.moveaxis(g, along, 0)
    return rt.unbroadcast(g, values)


linear(
    np.insert, arr=insert_bar, values=insert_values, joint=True, params="arr, obj, values, axis=None",
    samples=[
        args(arr(4), 1, num()), args(arr(4), [0, 3], arr(2)), args(arr(4), [3, 0], arr(2)), args(arr(2, 3), 2, num()),
        args(arr(2, 3), 1, arr(2), axis=1), args(arr(2, 3), 1, num(), axis=0),
        args(arr(2, 3), [1, 1], arr(2, 2), axis=1),
        args(arr(4), 1, arr(3)), args(arr(4), slice(0, 2), num()), args(arr(2, 3), -1, arr(3), axis=0),
    ],
)


def delete_bar(y_bar: Any, arr: Any, obj: Any, axis: Any) -> Any:
    length = np.size(arr) if axis is None else np.shape(arr)[axis]
    return rt.take_bar(y_bar, arr, np.delete(np.arange(length), obj), axis)


linear(
    np.delete, arr=delete_bar, params="arr, obj, axis=None", decides="obj",
    samples=[args(arr(4), 1), args(arr(4), [0, -1]), args(arr(2, 3), 1, axis=1), args(arr(3, 2), slice(0, 2), axis=0)],
)


def kept_by_trim(y: Any, filt: Any, trim: str, axis: Any) -> tuple[slice, ...]:
    """What of an array ``np.trim_zeros`` gave."""
    there = np.argwhere(filt)
    kept = []
    for along, length in enumerate(np.shape(y)):
        trims = len(there) and (axis is None or along in np.atleast_1d(axis) % np.ndim(filt))
        start = int(np.min(there[:, along])) if trims and "f" in trim.lower() else 0
        kept.append(slice(start, start + length))
    return tuple(kept)


zero(kept_by_trim)  # a call, as it is written: of results of unknown rank its loop has no known length


def trim_zeros_bar(y_bar: Any, y: Any, filt: Any, trim: Any, axis: Any) -> Any:
    if isinstance(filt, (list, tuple)):
        return rt.index_bar(filt, kept_by_trim(y, filt, trim, axis)[0], y_bar)
    return rt.index_bar(filt, kept_by_trim(y, filt, trim, axis), y_bar)


vjp(
    np.trim_zeros, filt=trim_zeros_bar, params="filt, trim='fb', axis=None",
    samples=[args(arr(4)), args(arr(4), "f"), args(arr(3), trim="b"), args([num(), num()]),
             *([args(arr(2, 3), axis=-1)] if takes(np.trim_zeros, np.zeros(1), axis=-1) else [])],  # from NumPy 2.2 on
)


@jvp(np.trim_zeros)
def trim_zeros_dot(y: Any, filt: Any, filt_dot: Any, trim: Any, axis: Any) -> Any:
    kept = kept_by_trim(y, filt, trim, axis)
    return filt_dot[kept[0]] if isinstance(filt, (list, tuple)) else filt_dot[kept]


# --- splitting: the result is a list of views, and so is its cotangent --------------------------------------

linear(
    np.split, ary=lambda y_bar, ary, axis: np.concatenate(y_bar, axis), decides="indices_or_sections",
    params="ary, indices_or_sections, axis=0",
    samples=[args(arr(6), 3), args(arr(6), [1, 4]), args(arr(2, 4), 2, axis=1), args(arr(2, 4), 2, axis=-1)],
)
linear(
    np.array_split, ary=lambda y_bar, ary, axis: np.concatenate(y_bar, axis), decides="indices_or_sections",
    params="ary, indices_or_sections, axis=0",
    samples=[args(arr(7), 3), args(arr(2, 5), 2, axis=1), args([num(), num(), num()], 2)],
)
linear(
    np.unstack, x=lambda y_bar, y, axis: np.stack(rt.whole(y_bar, y), axis), params="x, /, *, axis=0", joint=True,
    samples=[args(arr(3)), args(arr(2, 3)), args(arr(2, 3), axis=-1)],
)
linear(
    np.hsplit, ary=lambda y_bar, ary: np.concatenate(y_bar, 0 if np.ndim(ary) == 1 else 1),
    params="ary, indices_or_sections", samples=[args(arr(6), 3), args(arr(2, 4), 2)],
)
linear(
    np.vsplit, ary=lambda y_bar: np.concatenate(y_bar, 0), params="ary, indices_or_sections",
    samples=[args(arr(4, 2), 2)],
)
linear(
    np.dsplit, ary=lambda y_bar: np.concatenate(y_bar, 2), params="ary, indices_or_sections",
    samples=[args(arr(2, 1, 4), 2)],
)

# --- what else is known ---------------------------------------------------------------------------------------------

describe(
    np.concatenate, np.stack, np.vstack, np.hstack, np.dstack, np.column_stack, np.append, np.block, np.insert,
    np.delete, np.trim_zeros, np.split, np.array_split, np.unstack, np.hsplit, np.vsplit, np.dsplit,
    computes=Computes.PLACED,
)
