"""Subscripts by masks of two dimensions or more for compiled code; Numba has those of one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import overload
from numba.np.numpy_support import as_dtype

from s2s.backends.numba.arithmetic import share_any_rank

__all__ = ["MASKS"]


def item_at(a: Any, index: Any) -> Any:
    """``a[index]``"""
    raise NotImplementedError


def store_at(a: Any, index: Any, value: Any) -> None:
    """``a[index] = value``"""
    raise NotImplementedError


def _is_mask(a: Any, index: Any) -> bool:
    is_mask = isinstance(index, types.Array) and isinstance(index.dtype, types.Boolean) and index.ndim > 1
    return is_mask and isinstance(a, types.Array) and a.ndim >= index.ndim


def _is_packed(a: Any, index: Any) -> bool:
    return a.layout == index.layout == "C" and a.ndim == index.ndim


def _store_in_order(value: Any) -> Any:
    """``a[index] = value`` for an array and a mask of the same shape, in the order in which they lie."""
    if not isinstance(value, types.Array):

        def same(a, index, value):
            if a.shape != index.shape:
                raise IndexError
            flat, mask = a.reshape(a.size), index.reshape(index.size)
            for place in range(mask.size):
                if mask[place]:
                    flat[place] = value

        return same

    def each(a, index, value):
        if a.shape != index.shape or share_any_rank(a, value):
            raise IndexError
        flat, mask = a.reshape(a.size), index.reshape(index.size)
        step, count = 1 if value.size != 1 else 0, 0
        for place in range(mask.size):
            if mask[place]:
                if step and count == value.size:
                    raise ValueError
                flat[place] = value[count * step]
                count += 1
        if step and count != value.size:
            raise ValueError

    return each


@overload(item_at)
def _item_at(a, index):
    if not _is_mask(a, index):
        return lambda a, index: a[index]
    rank, dtype = index.ndim, as_dtype(a.dtype)
    if _is_packed(a, index):

        def in_order(a, index):
            if a.shape != index.shape:
                raise IndexError
            flat, mask = a.reshape(a.size), index.reshape(index.size)
            count = 0
            for place in range(mask.size):
                count += mask[place]
            out = np.empty(count, dtype)
            count = 0
            for place in range(mask.size):
                if mask[place]:
                    out[count] = flat[place]
                    count += 1
            return out

        return in_order

    def chosen(a, index):
        if a.shape[:rank] != index.shape:
            raise IndexError
        count = 0
        for place in np.ndindex(index.shape):
            if index[place]:
                count += 1
        out = np.empty((count,) + a.shape[rank:], dtype)
        count = 0
        for place in np.ndindex(index.shape):
            if index[place]:
                out[count] = a[place]
                count += 1
        return out

    return chosen


@overload(store_at)
def _store_at(a, index, value):
    if not _is_mask(a, index):

        def plain(a, index, value):
            a[index] = value

        return plain
    rank, rows = index.ndim, a.ndim - index.ndim + 1
    if _is_packed(a, index) and not (isinstance(value, types.Array) and value.ndim != 1):
        return _store_in_order(value)
    if not isinstance(value, types.Array) or value.ndim < rows:

        def same(a, index, value):
            if a.shape[:rank] != index.shape:
                raise IndexError
            for place in np.ndindex(index.shape):
                if index[place]:
                    a[place] = value

        return same if not isinstance(value, types.Array) or value.ndim > 0 else None
    if value.ndim > rows:
        return None

    def each(a, index, value):
        if a.shape[:rank] != index.shape or share_any_rank(a, value):
            raise IndexError
        count = 0
        for place in np.ndindex(index.shape):
            if index[place]:
                if len(value) != 1 and count == len(value):
                    raise ValueError
                a[place] = value[count if len(value) != 1 else 0]
                count += 1
        if len(value) != 1 and count != len(value):
            raise ValueError

    return each


MASKS: dict[str, Any] = {"item at": item_at, "store at": store_at}
"""What stands for subscripts, by the names that ``adaptation`` has for them."""
