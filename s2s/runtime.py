"""The functions that generated code may import: NumPy values and cotangents go in, cotangents come out.

Generated code calls one of these only where ranks or structures are not known when it is written. Nothing here knows
the compiler, and nothing but NumPy and the standard library is imported.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

Axis: TypeAlias = int | tuple[int, ...] | None

# --- cotangents: the structure of a value, with numbers in it ---------------------------------------------------------


def zeros_like(x: Any) -> Any:
    """The zero cotangent of ``x``: same structure; None for what has no derivative (int, bool, str, objects)."""
    if isinstance(x, np.ndarray):
        return np.zeros_like(x) if x.dtype.kind in "fc" else None
    if isinstance(x, (float, complex)) and not isinstance(x, np.generic):
        return type(x)(0.0)
    if isinstance(x, np.inexact):
        return x.dtype.type(0.0)
    if isinstance(x, dict):
        return {key: zeros_like(item) for key, item in x.items()}
    if isinstance(x, (tuple, list)):
        return _rebuild(x, [zeros_like(item) for item in x])
    return None


def add(a: Any, b: Any) -> Any:
    """The sum of two cotangents of one structure, where None is an absent one. Neither is changed."""
    if a is None:
        return b
    if b is None:
        return a
    if isinstance(a, dict):
        return {key: add(a.get(key), b.get(key)) for key in {**a, **b}}
    if isinstance(a, (tuple, list)):
        return _rebuild(a, [add(x, y) for x, y in zip(a, b, strict=True)])
    return a + b


def _rebuild(like: Any, items: list[Any]) -> Any:
    """A tuple, list or named tuple of the type of ``like`` with other items."""
    return like._make(items) if hasattr(like, "_make") else type(like)(items)


def cast(g: Any, x: Any) -> Any:
    """The cotangent ``g`` with the dtype of ``x``: its real part where ``x`` is real; an inexact one always.

    Where ``x`` is a Python number so is the result.
    """
    if isinstance(x, (int, float)) and not isinstance(x, np.generic):
        return float(np.real(g))
    if isinstance(x, complex) and not isinstance(x, np.generic):
        return complex(g)
    dtype = np.asarray(x).dtype
    if dtype.kind not in "fc":
        return g
    if np.iscomplexobj(g) and dtype.kind == "f":
        g = np.real(g)
    return g.astype(dtype, copy=False) if isinstance(g, (np.ndarray, np.generic)) else dtype.type(g)


def unbroadcast(g: Any, x: Any) -> Any:
    """The cotangent of ``x`` from that of ``x`` broadcast to the shape of ``g``: summed, and cast to ``x``'s dtype."""
    shape = np.shape(x)
    if np.shape(g) != shape:
        g = _sum_to(np.asarray(g), shape)
    return cast(g, x)


def _sum_to(g: Any, shape: tuple[int, ...]) -> Any:
    """``g`` summed over the dimensions that broadcasting added or stretched; broadcast where it is the smaller one."""
    if g.ndim > len(shape):
        g = np.sum(g, axis=tuple(range(g.ndim - len(shape))))
    stretched = tuple(
        i for i, (have, want) in enumerate(zip(g.shape, shape[len(shape) - g.ndim :], strict=True))
        if want == 1 and have != 1
    )
    if stretched:
        g = np.sum(g, axis=stretched, keepdims=True)
    return g if g.shape == shape else np.broadcast_to(g, shape)


def index_bar(x: Any, index: Any, g: Any) -> Any:
    """The cotangent of ``x`` from the cotangent ``g`` of ``x[index]``: zero but there; repeated indices add up."""
    x_bar = zeros_like(x)
    if isinstance(x, np.ndarray):
        accumulate(x_bar, index, g)
    elif isinstance(x, dict):
        x_bar[index] = add(x_bar[index], g)
    else:
        items = list(x_bar)
        items[index] = g
        return _rebuild(x, items)
    return x_bar


def accumulate(x_bar: Any, index: Any, g: Any) -> None:
    """``x_bar[index] += g`` in place, right where an integer array names a position more than once."""
    if any(_may_repeat(i) for i in (index if isinstance(index, tuple) else (index,))):
        np.add.at(x_bar, index, g)
    else:
        x_bar[index] += g


def _may_repeat(index: Any) -> bool:
    """Whether an index can name one position twice: lists and arrays of integers of rank 1 or more can."""
    return isinstance(index, list) or (isinstance(index, np.ndarray) and index.ndim > 0 and index.dtype.kind != "b")


def mirror(g: Any, items: Any) -> Any:
    """The cotangent of nested lists from the cotangent of the array made of them."""
    if isinstance(items, (list, tuple)):
        return _rebuild(items, [mirror(g[i], item) for i, item in enumerate(items)])
    return cast(g, items)


# --- reductions -------------------------------------------------------------------------------------------------------


def axis_size(x: Any, axis: Axis) -> int:
    """The number of elements that a reduction over ``axis`` (None, an int or a tuple) takes together."""
    shape = np.shape(x)
    if axis is None:
        return math.prod(shape)
    return math.prod(shape[i] for i in axis) if isinstance(axis, tuple) else shape[axis]


def expand(r: Any, axis: Axis, keepdims: bool) -> Any:
    """A result of a reduction, or its cotangent, with the axes that were reduced back as axes of length 1."""
    return r if axis is None or keepdims else np.expand_dims(r, axis)


def align_weights(weights: Any, a: Any, axis: Axis) -> Any:
    """The weights of ``np.average`` in a shape that broadcasts against ``a``."""
    weights = np.asarray(weights)
    if weights.shape == np.shape(a) or axis is None:
        return weights
    axes = [i % np.ndim(a) for i in (axis if isinstance(axis, tuple) else (axis,))]
    lengths = dict(zip(axes, weights.shape, strict=True))
    # NumPy puts the weights' dimensions along the axes in the order of the axes.
    return weights.transpose(np.argsort(axes)).reshape([lengths.get(i, 1) for i in range(np.ndim(a))])


def prod_partial(x: Any, axis: Axis = None) -> Any:
    """For each element the product of the others along ``axis``: from both sides, so that zeros need no division."""
    x = np.asarray(x)
    axes = tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    moved = np.moveaxis(x, axes, range(-len(axes), 0)) if axes else x[..., None]
    flat = moved.reshape(moved.shape[: moved.ndim - max(len(axes), 1)] + (-1 if x.size else axis_size(x, axes),))
    before = np.ones_like(flat)
    after = np.ones_like(flat)
    np.cumprod(flat[..., :-1], axis=-1, out=before[..., 1:])
    np.cumprod(flat[..., :0:-1], axis=-1, out=after[..., -2::-1])
    others = (before * after).reshape(moved.shape)
    return np.moveaxis(others, range(-len(axes), 0), axes) if axes else others[..., 0]


def cumprod_bar(g: Any, x: Any, axis: int) -> Any:
    """The cotangent of ``np.cumprod(x, axis)``, right where ``x`` has zeros.

    With ``y_k = y_{k-1} x_k`` the reverse recursion is ``s_k = g_k + x_{k+1} s_{k+1}``, ``x_bar_k = y_{k-1} s_k``.
    """
    g, x = np.moveaxis(np.asarray(g), axis, 0), np.moveaxis(np.asarray(x), axis, 0)
    before = np.ones_like(x)
    np.cumprod(x[:-1], axis=0, out=before[1:])
    s = np.array(g, dtype=np.result_type(g, x))
    for k in range(len(x) - 2, -1, -1):
        s[k] += x[k + 1] * s[k + 1]
    return np.moveaxis(before * s, 0, axis)


def reverse_cumsum(g: Any, axis: int) -> Any:
    """The cumulative sum from the end: the transpose of ``np.cumsum``."""
    return np.flip(np.cumsum(np.flip(g, axis), axis), axis)


# --- joining and products ---------------------------------------------------------------------------------------------


def split_like(g: Any, arrays: Any, axis: int | None) -> Any:
    """The cotangents of ``arrays`` from that of their concatenation along ``axis``: views of ``g`` where it is a list."""
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
    return np.stack(pieces) if isinstance(arrays, np.ndarray) else _rebuild(arrays, pieces)


def unstack_like(g: Any, arrays: Any, axis: int) -> Any:
    """The cotangents of ``arrays`` from that of their stack along a new ``axis``."""
    pieces = [cast(piece, item) for piece, item in zip(np.moveaxis(g, axis, 0), arrays, strict=True)]
    return np.stack(pieces) if isinstance(arrays, np.ndarray) else _rebuild(arrays, pieces)


def joined_like(g: Any, arrays: Any, expanded: Any, axis: int) -> Any:
    """The cotangents of ``arrays`` that were made ``expanded`` (same sizes, more dimensions) and then concatenated."""
    pieces = split_like(g, list(expanded), axis)
    shaped = [np.reshape(piece, np.shape(item)) for piece, item in zip(pieces, arrays, strict=True)]
    return np.stack(shaped) if isinstance(arrays, np.ndarray) else _rebuild(arrays, shaped)


def item_bar(x: Any, index: tuple[Any, ...], g: Any) -> Any:
    """The cotangent of an array from that of the number that ``x.item(*index)`` took out of it."""
    if len(index) == 1 and isinstance(index[0], tuple):
        index = index[0]
    x_bar = np.zeros_like(x)
    if len(index) == 1:
        index = np.unravel_index(index[0] % x.size, x.shape)
    x_bar[index if index else (0,) * x.ndim] = g
    return x_bar


def repeat_bar(g: Any, x: Any, repeats: Any, axis: int | None) -> Any:
    """The cotangent of ``x`` from that of ``np.repeat(x, repeats, axis)``: the copies of an element add up."""
    shape = np.shape(x)
    if axis is None:
        return np.reshape(repeat_bar(g, np.ravel(x), repeats, 0), shape)
    axis = axis % len(shape)
    counts = np.broadcast_to(repeats, (shape[axis],))
    if np.ndim(repeats) == 0:
        return np.sum(np.reshape(g, (*shape[: axis + 1], int(repeats), *shape[axis + 1 :])), axis=axis + 1)
    x_bar = np.zeros(shape, dtype=g.dtype)
    np.add.at(x_bar, (slice(None),) * axis + (np.repeat(np.arange(shape[axis]), counts),), g)
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


def fractions(count: int, endpoint: bool) -> Any:
    """Where the points of ``np.linspace(0, 1, count, endpoint)`` are."""
    return np.linspace(0.0, 1.0, count, endpoint=endpoint)


def weigh(weights: Any, g: Any, axis: int) -> Any:
    """The sum of ``g`` along ``axis`` with weights."""
    return np.tensordot(weights, g, axes=([0], [axis]))


def tensordot_bar(g: Any, a: Any, b: Any, axes: Any, which: int) -> Any:
    """The cotangent of ``a`` (``which`` 0) or of ``b`` (1) from that of ``np.tensordot(a, b, axes)``."""
    axes_a, axes_b = _tensordot_axes(np.ndim(a), axes)
    axes_a, axes_b = [i % np.ndim(a) for i in axes_a], [i % np.ndim(b) for i in axes_b]
    free_a = [i for i in range(np.ndim(a)) if i not in axes_a]
    free_b = [i for i in range(np.ndim(b)) if i not in axes_b]
    g = np.asarray(g)
    if which == 0:
        made = np.tensordot(g, b, axes=(list(range(len(free_a), g.ndim)), free_b))
        order = free_a + [axes_a[i] for i in np.argsort(axes_b)]
    else:
        made = np.tensordot(a, g, axes=(free_a, list(range(len(free_a)))))
        order = [axes_b[i] for i in np.argsort(axes_a)] + free_b
    return np.transpose(made, np.argsort(order)) if order else made


def _tensordot_axes(ndim_a: int, axes: Any) -> tuple[list[int], list[int]]:
    if isinstance(axes, int):
        return list(range(ndim_a - axes, ndim_a)), list(range(axes))
    first, second = axes
    return [first] if isinstance(first, int) else list(first), [second] if isinstance(second, int) else list(second)


def einsum_output(subscripts: str) -> str:
    """The output indices of an einsum expression, those that it implies where it has no arrow."""
    if "->" in subscripts:
        return subscripts.split("->")[1].replace(" ", "")
    inputs = subscripts.replace(" ", "")
    letters = sorted(c for c in set(inputs) if c.isalpha() and inputs.count(c) == 1)
    return ("..." if "..." in inputs else "") + "".join(letters)


def einsum_inputs(subscripts: str) -> list[str]:
    """The indices of each operand of an einsum expression."""
    return subscripts.replace(" ", "").split("->")[0].split(",")


def einsum_is_plain(subscripts: str, which: int) -> bool:
    """Whether the transpose for one operand is one einsum: no ellipsis, no index twice in it, none in it alone."""
    inputs = einsum_inputs(subscripts)
    mine = inputs[which]
    others = "".join(inputs[:which] + inputs[which + 1 :]) + einsum_output(subscripts)
    return "..." not in subscripts and len(set(mine)) == len(mine) and set(mine) <= set(others)


def einsum_transpose(subscripts: str, which: int) -> str:
    """The einsum expression of a plain transpose: the cotangent first, then the other operands in order."""
    inputs = einsum_inputs(subscripts)
    others = inputs[:which] + inputs[which + 1 :]
    return ",".join([einsum_output(subscripts), *others]) + "->" + inputs[which]


def einsum_bar(g: Any, subscripts: str, operands: Sequence[Any], which: int) -> Any:
    """The cotangent of one operand of ``np.einsum(subscripts, *operands)``, in the general case.

    An index that stands in this operand alone is summed away by the primal, so the cotangent is broadcast along it;
    an index that it has twice is a diagonal, so the cotangent is zero off it.
    """
    x = operands[which]
    inputs = [_spell_ellipsis(s, np.ndim(o)) for s, o in zip(einsum_inputs(subscripts), operands, strict=True)]
    output = _spell_ellipsis(einsum_output(subscripts), np.ndim(g))
    others = [o for i, o in enumerate(operands) if i != which]
    rest = [s for i, s in enumerate(inputs) if i != which]
    mine = "".join(dict.fromkeys(inputs[which]))
    sizes = {c: n for c, n in zip(inputs[which], np.shape(x), strict=True)}
    present = "".join(c for c in mine if c in output or any(c in s for s in rest))
    made = np.einsum(",".join([output, *rest]) + "->" + present, g, *others)
    made = np.expand_dims(made, tuple(i for i, c in enumerate(mine) if c not in present))
    target = tuple(sizes[c] for c in mine)
    made = _sum_to(made, target)
    if mine == inputs[which]:
        return cast(made, x)
    x_bar = np.zeros(np.shape(x), dtype=made.dtype)
    view = np.einsum(inputs[which] + "->" + mine, x_bar)
    view[...] = made
    return cast(x_bar, x)


def _spell_ellipsis(indices: str, ndim: int) -> str:
    """Indices with the ellipsis written out in capital letters from the end of the alphabet, as NumPy aligns them."""
    if "..." not in indices:
        return indices
    count = ndim - len(indices) + 3
    return indices.replace("...", "ZYXWVUTSRQPONMLKJIHGFEDCBA"[:count][::-1])


def kron_bar(g: Any, a: Any, b: Any, which: int) -> Any:
    """The cotangent of ``a`` (``which`` 0) or of ``b`` (1) from that of ``np.kron(a, b)``.

    ``kron`` is an outer product whose dimensions are interleaved and joined in pairs.
    """
    rank = max(np.ndim(a), np.ndim(b))
    shape_a = (1,) * (rank - np.ndim(a)) + np.shape(a)
    shape_b = (1,) * (rank - np.ndim(b)) + np.shape(b)
    pairs = np.reshape(g, [n for pair in zip(shape_a, shape_b, strict=True) for n in pair])
    evens, odds = list(range(0, 2 * rank, 2)), list(range(1, 2 * rank, 2))
    if which == 0:
        return np.reshape(np.tensordot(pairs, np.reshape(b, shape_b), axes=(odds, list(range(rank)))), np.shape(a))
    return np.reshape(np.tensordot(pairs, np.reshape(a, shape_a), axes=(evens, list(range(rank)))), np.shape(b))


def diagonal_bar(g: Any, x: Any, offset: int, axis1: int, axis2: int) -> Any:
    """The cotangent of ``x`` from that of ``np.diagonal(x, offset, axis1, axis2)``: zero off the diagonal."""
    x_bar = np.zeros(np.shape(x), dtype=np.asarray(g).dtype)
    rows, columns = x_bar.shape[axis1], x_bar.shape[axis2]
    length = max(0, min(rows + min(offset, 0), columns - max(offset, 0)))
    i = np.arange(length) + max(-offset, 0)
    # moveaxis gives a view: writing to it writes to x_bar.
    np.moveaxis(x_bar, (axis1, axis2), (-2, -1))[..., i, i + offset] = g
    return x_bar


# --- scalar functions that Python lacks -------------------------------------------------------------------------------


def log_of_positive(a: float) -> float:
    """``log(a)``, and 0 where ``a`` is not positive: the factor of a power's derivative by its exponent."""
    return math.log(a) if a > 0 else 0.0


def digamma(x: float) -> float:
    """The logarithmic derivative of the gamma function. Raises ValueError at its poles 0, -1, -2, ...

    Reflection for negative arguments, recurrence up to 10, then the asymptotic series (Abramowitz and Stegun 6.3.7,
    6.3.5, 6.3.18); the first term left out is below 1e-16 there.
    """
    if x <= 0.0:
        if x == math.floor(x):
            raise ValueError("math domain error")
        # The fraction is taken before the multiplication by pi: tan(pi x) loses digits for large x.
        return digamma(1.0 - x) - math.pi / math.tan(math.pi * (x - math.floor(x)))
    total = 0.0
    while x < 10.0:
        total -= 1.0 / x
        x += 1.0
    t = 1.0 / (x * x)
    series = t * (1 / 12 - t * (1 / 120 - t * (1 / 252 - t * (1 / 240 - t * (1 / 132 - t * (691 / 32760 - t / 12))))))
    return total + math.log(x) - 0.5 / x - series
