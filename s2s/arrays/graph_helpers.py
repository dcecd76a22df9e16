"""What some helpers of ``s2s.runtime`` do in another way for arrays that are graphs, into views of which nothing can be
stored: in their place in code for such arrays, and run as the helpers are, with the module in the place of NumPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s.arrays import graph_places
from s2s.arrays.graphs import along, lines_back
from s2s.core.array_classes import module_of_arrays
from s2s.errors import error

__all__ = ["diagonal_bar", "increased", "neighbours", "picked", "stored_bar", "take_along_axis_bar", "updated"]


def updated(a: Any, index: Any, v: Any, repeats: bool = False) -> Any:
    """The array that ``a`` is after ``a[index] = v``, which leaves ``a`` as it is."""
    a = np.asarray(a)
    return graph_places.updated(module_of_arrays(type(a)), a, index, v)


def picked(a: Any, index: Any) -> Any:
    """``a[index]``, for arrays of integers for several axes, or of several axes."""
    a = np.asarray(a)
    return graph_places.picked(module_of_arrays(type(a)), a, index)


def increased(a: Any, index: Any, v: Any) -> Any:
    """The array that ``a`` is after ``np.add.at(a, index, v)``, which leaves ``a`` as it is."""
    made = np.asarray(a).copy()
    np.add.at(made, index, v)
    return made


def stored_bar(a_bar: Any, index: Any) -> Any:
    """The cotangent of ``v`` in ``a[index] = v``, from that of ``a``: an element that the index names more than once
    belongs to the last one."""
    a_bar = np.asarray(a_bar)
    return graph_places.of_last_stored(module_of_arrays(type(a_bar)), a_bar, index)


def diagonal_bar(g: Any, x: Any, offset: int, axis1: int, axis2: int) -> Any:
    """The cotangent of ``x`` from that of ``np.diagonal(x, offset, axis1, axis2)``: zero off the diagonal."""
    shape = np.shape(x)
    rows, columns = shape[axis1], shape[axis2]
    length = max(0, min(rows + min(offset, 0), columns - max(offset, 0)))
    g = np.asarray(g)
    g = np.broadcast_to(g, (*g.shape[:-1], length))
    above = max(-offset, 0)
    g = np.pad(g, [(0, 0)] * (g.ndim - 1) + [(above, rows - above - length)])
    there = np.arange(rows)[:, None] + offset == np.arange(columns)[None, :]
    return np.moveaxis(np.where(np.asarray(there), g[..., :, None], np.zeros((), g.dtype)), (-2, -1), (axis1, axis2))


def take_along_axis_bar(g: Any, x: Any, indices: Any, axis: int | None) -> Any:
    """The cotangent of ``x`` from that of ``np.take_along_axis(x, indices, axis)``, line by line."""
    if axis is None:
        raise error("S2S536", name="numpy.take_along_axis(axis=None)", module="dask.array")
    return along(lines_back, axis, np.asarray(g), np.asarray(indices), np.zeros_like(x))


def neighbours(*args: Any) -> Any:
    """Refuses quantiles: where they lie between the elements of a line is seen in the elements."""
    hint = "sort the lines, `np.sort(x, axis)`, and take the items between which the quantile or median lies"
    raise error("S2S536", name="numpy.quantile", module="dask.array", hint=hint)
