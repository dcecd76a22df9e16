"""Methods of ufuncs: ``reduce``, ``accumulate``, ``outer`` and ``reduceat`` of functions of two inputs.

Those of sums, products and extremes have rules of their own (in ``reductions`` and here). Every other one is its ufunc
again and again: ``METHODS`` has the functions that are differentiated in its place, with the ufunc as first argument.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.rules.samples import args, arr
from s2s.rules.table import linear


def _starts_and_ends(indices: Any, length: int) -> list[tuple[int, int]]:
    """The pieces that ``reduceat`` takes together; one that would end before it starts is its first element."""
    starts = [int(i) for i in indices]
    ends = [*starts[1:], length]
    return [(start, max(end, start + 1)) for start, end in zip(starts, ends)]


def reduceat_bar(g: Any, array: Any, indices: Any, axis: int) -> Any:
    """The cotangent of ``array`` from that of ``np.add.reduceat(array, indices, axis)``."""
    g, array_bar = np.moveaxis(g, axis, 0), np.zeros_like(np.moveaxis(array, axis, 0))
    for k, (start, end) in enumerate(_starts_and_ends(indices, len(array_bar))):
        array_bar[start:end] += g[k]
    return np.moveaxis(array_bar, 0, axis)


linear(
    np.add.reduceat,
    array=lambda y_bar, array, indices, axis: rt.cast(reduceat_bar(y_bar, array, indices, axis), array),
    params="array, indices, axis=0, dtype=None, out=None", harmless="dtype",
    samples=[
        args(arr(6), [0, 2, 5]), args(arr(6), [3, 1, 4]), args(arr(2, 5), [0, 3], axis=1),
        args(arr(4, 2), np.array([1, 1, 2])), args(arr(6), [0, 2], dtype=np.float64),
    ],
)


def reduce(
    ufunc: Any, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: Any = False,
    initial: Any = None, where: Any = True,
) -> Any:
    """``ufunc.reduce``: along several axes in the order of their elements, which is NumPy's to choose."""
    array = np.asarray(array, dtype)
    axes = tuple(range(np.ndim(array))) if axis is None else axis
    lines = _lines(array, axes)
    if where is True:
        first = ufunc.identity if initial is None else initial  # the norm of one number is its size, not the number
        total = lines[0] if first is None else ufunc(first, lines[0])
        for k in range(1, len(lines)):
            total = ufunc(total, lines[k])
    else:
        there = _lines(np.broadcast_to(where, np.shape(array)), axes)
        total = np.full_like(lines[0], ufunc.identity if initial is None else initial)
        for k in range(len(lines)):
            total = np.where(there[k], ufunc(total, lines[k]), total)
    return np.expand_dims(total, axes) if keepdims else total


def _lines(array: Any, axes: Any) -> Any:
    """The array with what is taken together along its first axis."""
    if not isinstance(axes, tuple):
        return np.moveaxis(array, axes, 0)
    count = len(axes)
    array = np.moveaxis(array, axes, tuple(range(count)))
    return np.reshape(array, (-1, *np.shape(array)[count:]))


def accumulate(ufunc: Any, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
    """``ufunc.accumulate``: the running results."""
    lines = np.moveaxis(np.asarray(array, dtype), axis, 0)
    totals = np.zeros_like(lines)
    totals[0] = lines[0]
    for k in range(1, len(lines)):
        totals[k] = ufunc(totals[k - 1], lines[k])
    return np.moveaxis(totals, 0, axis)


def outer(ufunc: Any, A: Any, B: Any, /) -> Any:
    """``ufunc.outer``: every element of the first with every element of the second."""
    return ufunc(np.reshape(A, np.shape(A) + (1,) * np.ndim(B)), np.asarray(B))


def reduceat(ufunc: Any, array: Any, indices: Any, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
    """``ufunc.reduceat``: the pieces between indices, each reduced."""
    lines = np.moveaxis(np.asarray(array, dtype), axis, 0)
    pieces = np.zeros((len(indices), *np.shape(lines)[1:]), lines.dtype)
    for i, (start, end) in enumerate(_starts_and_ends(indices, len(lines))):
        total = lines[start]
        for k in range(start + 1, end):
            total = ufunc(total, lines[k])
        pieces[i] = total
    return np.moveaxis(pieces, 0, axis)


def with_axes(ufunc: Any, a: Any, b: Any, axes: Any) -> Any:
    """A generalised ufunc of two arrays with ``axes=``: what it works on is brought to the end, and its result back."""
    y = ufunc(_to_end(a, axes[0]), _to_end(b, axes[1]))
    if len(axes) == 2:
        return y
    back = axes[2] if isinstance(axes[2], tuple) else (axes[2],)
    return np.moveaxis(y, tuple(range(-len(back), 0)), back)


def _to_end(array: Any, axes: Any) -> Any:
    axes = axes if isinstance(axes, tuple) else (axes,)
    return np.moveaxis(array, axes, tuple(range(-len(axes), 0)))


METHODS: dict[str, Callable[..., Any]] = {
    "reduce": reduce, "accumulate": accumulate, "outer": outer, "reduceat": reduceat,
}
