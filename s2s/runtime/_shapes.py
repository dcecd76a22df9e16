"""What joins, splits, repeats and picks parts of arrays: their cotangents."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from s2s.runtime._cotangents import cast, mirror, rebuild, sum_to, unbroadcast


def split_like(g: Any, arrays: Any, axis: int | None) -> Any:
    """The cotangents of ``arrays`` from that of their concatenation along ``axis``: views of ``g`` where it
    is a list.
    """
    pieces = []
    start = 0
    for item in arrays:
        shape = np.shape(item)
        length = math.prod(shape) if axis is None else shape[axis]
        stop = start + length
        if axis is None:
            piece = g[start:stop].reshape(shape)
        else:
            piece = g[(slice(None),) * (axis % g.ndim) + (slice(start, stop),)]
        pieces.append(cast(piece, item))
        start = stop
    return np.stack(pieces) if isinstance(arrays, np.ndarray) else rebuild(arrays, pieces)


def unstack_like(g: Any, arrays: Any, axis: int) -> Any:
    """The cotangents of ``arrays`` from that of their stack along a new ``axis``."""
    pieces = [cast(piece, item) for piece, item in zip(np.moveaxis(g, axis, 0), arrays, strict=True)]
    return np.stack(pieces) if isinstance(arrays, np.ndarray) else rebuild(arrays, pieces)


def joined_like(g: Any, arrays: Any, expanded: Any, axis: int) -> Any:
    """The cotangents of ``arrays`` that were made ``expanded`` (same sizes, more dimensions) and then
    concatenated.
    """
    pieces = split_like(g, list(expanded), axis)
    shaped = [np.reshape(piece, np.shape(item)) for piece, item in zip(pieces, arrays, strict=True)]
    return np.stack(shaped) if isinstance(arrays, np.ndarray) else rebuild(arrays, shaped)


def repeat_bar(g: Any, x: Any, repeats: Any, axis: int | None) -> Any:
    """The cotangent of ``x`` from that of ``np.repeat(x, repeats, axis)``: the copies of an element add up.
    """
    shape = np.shape(x)
    if axis is None or not shape:
        return np.reshape(repeat_bar(g, np.ravel(x), repeats, 0), shape)
    axis = axis % len(shape)
    counts = np.broadcast_to(repeats, (shape[axis],))
    if np.ndim(repeats) == 0:
        return np.sum(np.reshape(g, (*shape[: axis + 1], int(repeats), *shape[axis + 1 :])), axis=axis + 1)
    x_bar = np.zeros(shape, dtype=g.dtype)
    index: tuple[Any, ...] = (slice(None),) * axis + (np.repeat(np.arange(shape[axis]), counts),)
    np.add.at(x_bar, index, g)
    return x_bar


def tile_bar(g: Any, x: Any, reps: Any) -> Any:
    """The cotangent of ``x`` from that of ``np.tile(x, reps)``: the tiles add up."""
    reps = tuple(np.atleast_1d(reps).tolist())
    rank = max(np.ndim(x), len(reps))
    shape = (1,) * (rank - np.ndim(x)) + np.shape(x)
    reps = (1,) * (rank - len(reps)) + reps
    pairs = np.reshape(g, [n for pair in zip(reps, shape, strict=True) for n in pair])
    return np.reshape(np.sum(pairs, axis=tuple(range(0, 2 * rank, 2))), np.shape(x))


def unpad(g: Any, x: Any, pad_width: Any) -> Any:
    """The part of ``g`` where ``x`` is in ``np.pad(x, pad_width)``: a view."""
    before = np.broadcast_to(pad_width, (np.ndim(x), 2))[:, 0].tolist()
    return g[tuple(slice(b, b + n) for b, n in zip(before, np.shape(x), strict=True))]


def pad_value_bar(g: Any, x: Any, pad_width: Any, value: Any) -> Any:
    """The cotangent of the numbers that ``np.pad`` puts around ``x``: before and behind each axis, where ``x`` has been
    padded along the axes before it."""
    sides = np.zeros((np.ndim(x), 2), g.dtype)
    widths = np.broadcast_to(pad_width, (np.ndim(x), 2)).tolist()
    for axis in reversed(range(np.ndim(x))):
        before, g, behind = np.split(g, np.cumsum([widths[axis][0], np.shape(x)[axis]]), axis)
        sides[axis] = np.sum(before), np.sum(behind)
    return mirror(sum_to(sides, np.shape(value)), value)


def meshgrid_bar(g: Any, vectors: Any, indexing: str) -> Any:
    """The cotangents of the vectors of ``np.meshgrid``, None where their grid has none."""
    order = list(range(len(vectors)))
    if indexing == "xy" and len(order) > 1:
        order[0], order[1] = 1, 0
    parts: list[Any] = []
    for part, k, vector in zip(g, order, vectors, strict=True):
        others = tuple(i for i in order if i != k)
        parts.append(None if part is None else np.reshape(np.sum(part, axis=others), np.shape(vector)))
    return tuple(parts)


# --- picking --------------------------------------------------------------------------------------------------------


def take_bar(g: Any, x: Any, indices: Any, axis: int | None) -> Any:
    """The cotangent of ``x`` from that of ``np.take(x, indices, axis)``."""
    if axis is None:
        return np.reshape(take_bar(g, np.ravel(x), indices, 0), np.shape(x))
    x_bar = np.zeros(np.shape(x), dtype=np.asarray(g).dtype)
    before: tuple[Any, ...] = (slice(None),) * (axis % x_bar.ndim)
    np.add.at(x_bar, (*before, np.asarray(indices, dtype=np.intp)), g)
    return x_bar


def take_along_axis_bar(g: Any, x: Any, indices: Any, axis: int | None) -> Any:
    """The cotangent of ``x`` from that of ``np.take_along_axis(x, indices, axis)``."""
    if axis is None:
        return take_bar(g, x, indices, None)
    x_bar = np.zeros(np.shape(x), dtype=g.dtype)
    places = [np.minimum(place, n - 1) for place, n in zip(np.indices(g.shape, sparse=True), x_bar.shape)]
    places[axis] = indices  # along the other axes both are broadcast
    np.add.at(x_bar, tuple(places), g)
    return x_bar


def select_bar(g: Any, conditions: Any, choices: Any) -> Any:
    """The cotangents of the choices of ``np.select``: the first condition that holds takes it."""
    left = np.ones(np.shape(g), dtype=bool)
    parts = []
    for condition, choice in zip(conditions, choices, strict=True):
        parts.append(unbroadcast(np.where(condition & left, g, 0.0), choice))
        left = left & ~np.asarray(condition)
    return rebuild(choices, parts)


def diagonal_bar(g: Any, x: Any, offset: int, axis1: int, axis2: int) -> Any:
    """The cotangent of ``x`` from that of ``np.diagonal(x, offset, axis1, axis2)``: zero off the diagonal."""
    x_bar = np.zeros(np.shape(x), dtype=np.asarray(g).dtype)
    rows, columns = x_bar.shape[axis1], x_bar.shape[axis2]
    length = max(0, min(rows + min(offset, 0), columns - max(offset, 0)))
    i = np.arange(length) + max(-offset, 0)
    # moveaxis gives a view: writing to it writes to x_bar.
    np.moveaxis(x_bar, (axis1, axis2), (-2, -1))[..., i, i + offset] = g
    return x_bar
