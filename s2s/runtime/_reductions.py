"""Reductions along axes and cumulative ones: their cotangents."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np

from s2s.runtime._cotangents import rebuild

Axis: TypeAlias = int | tuple[int, ...] | None


def axis_size(x: Any, axis: Axis) -> int:
    """The number of elements that a reduction over ``axis`` (None, an int or a tuple) takes together."""
    shape = np.shape(x)
    if axis is None:
        return math.prod(shape)
    return math.prod(shape[i] for i in axis) if isinstance(axis, tuple) else shape[axis]


def align_weights(weights: Any, a: Any, axis: Axis) -> Any:
    """The weights of ``np.average`` in a shape that broadcasts against ``a``."""
    weights = np.asarray(weights)
    if weights.shape == np.shape(a) or axis is None:
        return weights
    axes = [i % np.ndim(a) for i in (axis if isinstance(axis, tuple) else (axis,))]
    lengths = dict(zip(axes, weights.shape, strict=True))
    # NumPy puts the weights' dimensions along the axes in the order of the axes.
    return np.transpose(weights, np.argsort(axes)).reshape([lengths.get(i, 1) for i in range(np.ndim(a))])


def prod_partial(x: Any, axis: Axis = None) -> Any:
    """For each element the product of the others along ``axis``: from both sides, so that zeros need no
    division.
    """
    flat, axes = axes_last(x, axis)
    one = np.ones_like(flat[..., :1])
    before = np.cumprod(np.concatenate([one, flat[..., :-1]], axis=-1), axis=-1)
    after = np.cumprod(np.concatenate([one, flat[..., :0:-1]], axis=-1), axis=-1)[..., ::-1]
    return axes_back(before * after, x, axes)


def axes_last(x: Any, axis: Axis) -> tuple[Any, tuple[int, ...]]:
    """``x`` with the axes of a reduction joined to one, the last; and those axes counted from 0."""
    x = np.asarray(x)
    some = range(x.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = tuple(i % x.ndim for i in some)
    rest = [i for i in range(x.ndim) if i not in axes]
    flat = x.transpose([*rest, *axes]).reshape([*[x.shape[i] for i in rest], axis_size(x, axes)])
    return flat, axes


def axes_back(flat: Any, x: Any, axes: tuple[int, ...]) -> Any:
    """The way back of ``axes_last``."""
    shape = np.shape(x)
    order = [i for i in range(len(shape)) if i not in axes] + list(axes)
    return np.transpose(flat.reshape([shape[i] for i in order]), np.argsort(order))


def share(g: Any, y: Any, items: Any) -> Any:
    """The cotangents of ``items`` from that of their extreme ``y``: equal parts to those that are equal to
    it.
    """
    hits = [item == y for item in items]
    part = g / sum(hits)
    shares = [part if hit else 0.0 for hit in hits]
    return np.array(shares, dtype=items.dtype) if isinstance(items, np.ndarray) else rebuild(items, shares)


def cumprod_bar(g: Any, x: Any, axis: int) -> Any:
    """The cotangent of ``np.cumprod(x, axis)``, right where ``x`` has zeros.

    With ``y_k = y_{k-1} x_k`` the reverse recursion is ``s_k = g_k + x_{k+1} s_{k+1}``, ``x_bar_k = y_{k-1}
    s_k``.
    """
    g, x = np.moveaxis(np.asarray(g), axis, 0), np.moveaxis(np.asarray(x), axis, 0)
    before = np.concatenate([np.ones_like(x[:1]), np.cumprod(x[:-1], axis=0)])
    s = np.array(g, dtype=np.result_type(g, x))
    for k in range(len(x) - 2, -1, -1):
        s[k] += x[k + 1] * s[k + 1]
    return np.moveaxis(before * s, 0, axis)


def reverse_cumsum(g: Any, axis: int) -> Any:
    """The cumulative sum from the end: the transpose of ``np.cumsum``."""
    return np.flip(np.cumsum(np.flip(g, axis), axis), axis)


def weigh(weights: Any, g: Any, axis: int) -> Any:
    """The sum of ``g`` along ``axis`` with weights."""
    return np.tensordot(weights, g, axes=([0], [axis]))
