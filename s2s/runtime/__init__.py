"""The functions that generated code may import: NumPy values and cotangents go in, cotangents come out.
 Generated code calls one of these only where ranks or structures are not known when it is written. Nothing
here knows the compiler, and nothing but NumPy and the standard library is imported.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
import math
import sys
from collections.abc import MutableMapping, MutableSequence, MutableSet, Sequence
from types import MemberDescriptorType, ModuleType
from typing import Any, TypeAlias

import numpy as np

from s2s.runtime.snapshots import Calls as Calls
from s2s.runtime.snapshots import Snapshots as Snapshots

Axis: TypeAlias = int | tuple[int, ...] | None

# --- cotangents: the structure of a value, with numbers in it -----------------------------------------------


def zeros_like(x: Any) -> Any:
    """The zero cotangent of ``x``: same structure; None for what has no derivative (int, bool, str, objects).
    """
    if isinstance(x, np.ndarray):
        return _zero_objects(x) if x.dtype.kind == "O" else np.zeros_like(x) if x.dtype.kind in "fc" else None
    if isinstance(x, (float, complex)) and not isinstance(x, np.generic):
        return type(x)(0.0)
    if isinstance(x, np.inexact):
        return x.dtype.type(0.0)
    if isinstance(x, dict):
        return {key: zeros_like(item) for key, item in x.items()}
    if isinstance(x, (tuple, list)):
        return rebuild(x, [zeros_like(item) for item in x])
    return None


def _zero_objects(x: Any) -> Any:
    """The zeros of an array of objects; 0.0, to which anything can be added, for what has no derivative."""
    zeros = np.empty_like(x)
    for i in np.ndindex(x.shape):
        zero = zeros_like(x[i])
        zeros[i] = 0.0 if zero is None else zero
    return zeros


def zeros_of(x: Any) -> Any:
    """The zero cotangent of a value that a derivative flows through: as ``zeros_like``, but an integer gets 0.0 (the
    ``0`` that a sum begins with)."""
    if isinstance(x, (int, np.integer)) and not isinstance(x, bool):
        return 0.0
    if isinstance(x, np.ndarray) and x.dtype.kind in "iu":
        return np.zeros(x.shape)
    if isinstance(x, dict):
        return {key: zeros_of(item) for key, item in x.items()}
    if isinstance(x, (tuple, list)):
        return rebuild(x, [zeros_of(item) for item in x])
    return zeros_like(x)


def ones_like(x: Any) -> Any:
    """The cotangent of a value that is 1 everywhere: same structure; None for what has no derivative."""
    return map_floats(lambda leaf: np.ones_like(leaf)[()], x)


def _shared(code: str, **fields: str) -> Exception:
    """The error for arrays that share memory."""
    from s2s.errors import error

    return error(code, **fields)  # type: ignore[arg-type]


def check_apart(changed: Any, foreign: Any, name: str) -> None:
    """Raise SharedMemoryError where an array that is changed in place shares memory with one from outside the function.
    """
    if isinstance(foreign, np.ndarray) and isinstance(changed, np.ndarray) and np.may_share_memory(changed, foreign):
        raise _shared("S2S124", name=name)


def check_disjoint(changed: Any, value: Any, place: str) -> None:
    """Raise SharedMemoryError where an array that NumPy fills one element after the other shares memory with what
    it is filled with: what is read then depends on what has been stored."""
    if any(np.shares_memory(changed, other) for other in _arrays_in([value])):
        raise _shared("S2S123", label=f"in {place}")


class Adjoints:
    """The adjoints of arrays, found by the memory that the arrays lie in: arrays that share memory have adjoints that
    share memory in the same way. For programs in which it depends on the run which arrays these are.

    ``adjoint_of = Adjoints()`` knows none; ``adjoint_of(a)`` is the adjoint of ``a``, to be changed in place, zeros at
    first; ``adjoint_of.take(a)`` gives it as an array of its own and puts zeros in its place.
    """

    def __init__(self) -> None:
        self._found: dict[int, tuple[Any, int, Any]] = {}

    def __call__(self, a: Any) -> Any:
        """The adjoint of an array: same shape, dtype and layout.

        Raises SharedMemoryError for a broadcast array: several of its elements are one place in memory, and what is
        added to them would not add up.
        """
        if any(stride == 0 and length > 1 for stride, length in zip(a.strides, a.shape, strict=True)):
            raise _shared("S2S125")
        low, memory = self._memory(a)
        offset = a.__array_interface__["data"][0] - low
        return np.ndarray(a.shape, a.dtype, memory, offset, a.strides)

    def take(self, a: Any, *others: Any) -> Any:
        """The adjoint of an array that was made just now, which is thereby passed on; zeros where the array only shares
        the memory of one of ``others``, so that nothing has to be passed on."""
        if any(isinstance(other, np.ndarray) and self._owner(other) is self._owner(a) for other in others):
            return np.zeros_like(a)
        bar = self(a)
        taken = bar.copy()
        bar[...] = 0.0
        return taken

    def _owner(self, a: Any) -> Any:
        while isinstance(a.base, np.ndarray):
            a = a.base
        return a

    def _memory(self, a: Any) -> tuple[int, Any]:
        """Where the memory of an array begins, and the bytes that hold its adjoint."""
        owner = self._owner(a)
        found = self._found.get(id(owner))
        if found is None:
            low, high = np.lib.array_utils.byte_bounds(owner)
            if any(low < start + memory.size and start < high for _, start, memory in self._found.values()):
                raise _shared("S2S126")
            found = self._found[id(owner)] = owner, low, np.zeros((high - low + 15) // 16, complex).view(np.uint8)
        return found[1], found[2]


def own_tangent(y_dot: Any, y: Any, *sources: Any) -> Any:
    """The tangent of an array ``y`` that is changed in place, as an array of its own. Raises SharedMemoryError where
    ``y`` turns out to be, or to be a view of, one of the ``sources`` that it was computed from: their tangents would
    have to change together."""
    if any(isinstance(source, np.ndarray) and np.may_share_memory(y, source) for source in sources):
        raise _shared("S2S127")
    return np.copy(y_dot)


def stored_bar(a_bar: Any, index: Any) -> Any:
    """The cotangent of ``v`` in ``a[index] = v``, from that of ``a``: an element that the index names more than once
    belongs to the last one."""
    numbers = np.arange(a_bar.size).reshape(a_bar.shape)[index]
    flat = numbers.ravel()
    last = np.zeros(flat.shape, bool)
    last[flat.size - 1 - np.unique(flat[::-1], return_index=True)[1]] = True
    return np.where(last.reshape(numbers.shape), a_bar[index], 0.0)


def add(a: Any, b: Any) -> Any:
    """The sum of two cotangents of one structure, where None is an absent one. Neither is changed."""
    if a is None or _is_bare_zero(a, b):
        return b
    if b is None or _is_bare_zero(b, a):
        return a
    if isinstance(a, dict):
        return {key: add(a.get(key), b.get(key)) for key in {**a, **b}}
    if isinstance(a, (tuple, list)):
        return rebuild(a, [add(x, y) for x, y in zip(a, b, strict=True)])
    return a + b


def _is_bare_zero(a: Any, b: Any) -> bool:
    """Whether it is the number zero beside a container: the cotangent of a variable that had no value there."""
    return type(a) is float and a == 0.0 and isinstance(b, (dict, tuple, list))


def rebuild(like: Any, items: list[Any]) -> Any:
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
    """The cotangent of ``x`` from that of ``x`` broadcast to the shape of ``g``: summed, and cast to ``x``'s
    dtype.

    Where both are lists or tuples each item gets its own. A list that was taken for an array has an array for ``g``.
    """
    if isinstance(x, (list, tuple)) and isinstance(g, (list, tuple)):
        if len(g) != len(x):
            raise _joined_containers(x)
        return rebuild(x, [None if part is None else unbroadcast(part, item) for part, item in zip(g, x)])
    shape = np.shape(x)
    if np.shape(g) != shape:
        g = sum_to(np.asarray(g), shape)
    return cast(g, x)


def summand_bar(g: Any, x: Any) -> Any:
    """The cotangent of a sum whose term ``x`` may be a list or tuple. Raises NoDerivativeError where it is one and an
    array is at hand for the cotangent of the whole: how long the other term is cannot be seen."""
    if isinstance(x, (list, tuple)) and not isinstance(g, (list, tuple)):
        raise _joined_containers(x)
    return g


def _joined_containers(x: Any) -> Exception:
    """The refusal of ``+`` of lists or tuples that was taken for that of numbers or arrays."""
    from s2s.errors import error

    return error("S2S221", name=type(x).__name__)


def sum_to(g: Any, shape: tuple[int, ...]) -> Any:
    """``g`` summed over the dimensions that broadcasting added or stretched; broadcast where it is the
    smaller one.
    """
    if g.ndim > len(shape):
        g = np.sum(g, axis=tuple(range(g.ndim - len(shape))))
    stretched = tuple(
        i for i, (have, want) in enumerate(zip(g.shape, shape[len(shape) - g.ndim :], strict=True))
        if want == 1 and have != 1
    )
    if stretched:
        g = np.sum(g, axis=stretched, keepdims=True)
    return g if g.shape == shape else np.broadcast_to(g, shape)


_NOTHING = bytes(np.dtype(np.clongdouble).itemsize)


def outline(x: Any) -> Any:
    """An array that has the shape and dtype of an array and takes no memory, to be kept where only these are read;
    anything else as it is."""
    if type(x) is not np.ndarray or x.dtype.kind not in "biufc":
        return x
    return np.ndarray(x.shape, x.dtype, _NOTHING, 0, (0,) * x.ndim)


def copy_in_memory(x: Any, like: Any = None) -> Any:
    """A copy of an array that lies in memory as the array does, or as another one, with the same gaps: what is a view
    of it is one of the copy. Elements that the array has many times are there once each."""
    x = np.asarray(x)
    like = x if like is None else np.asarray(like)
    if 0 in like.strides or not x.size:
        return np.copy(x)
    ends = [(n - 1) * s for n, s in zip(like.shape, like.strides, strict=True)]
    memory = np.empty(sum(map(abs, ends)) + like.itemsize, np.uint8)
    first = -sum(min(0, end) for end in ends)
    made: np.ndarray[Any, Any] = np.ndarray(like.shape, like.dtype, memory, first, like.strides)
    made[...] = x
    return made


def axes_in_memory(x: Any) -> tuple[int, ...]:
    """The axes of an array, from that whose neighbours lie farthest apart in memory to that whose lie side by side. An
    axis along which all is one element stays where it is, as NumPy has it."""
    x = np.asarray(x)
    strides = [abs(s) if n > 1 else 0 for s, n in zip(x.strides, x.shape, strict=True)]
    inner: list[int] = []
    for axis in reversed(range(len(strides))):
        at = len(inner)
        for k in reversed(range(len(inner))):
            if strides[axis] and 0 < strides[inner[k]] <= strides[axis]:
                break
            at = k if strides[axis] and strides[inner[k]] else at
        inner.insert(at, axis)
    return tuple(reversed(inner))


def whole(g: Any, y: Any) -> Any:
    """The cotangents of the parts of a result ``y``, each in the shape and dtype of its part; None stays. Generated
    code passes a part that is the same number everywhere as that number.
    """
    return tuple([
        None if part is None else np.broadcast_to(cast(part, item), np.shape(item))
        for part, item in zip(g, y, strict=True)
    ])


def index_bar(x: Any, index: Any, g: Any) -> Any:
    """The cotangent of ``x`` from the cotangent ``g`` of ``x[index]``: zero but there; repeated indices add
    up.
    """
    x_bar = zeros_of(x)
    if isinstance(x, np.generic):  # an array of rank 0: ``x[()]``, ``x[..., None]``
        return np.sum(g)
    if isinstance(x, np.ndarray):
        accumulate(x_bar, index, g)
    elif isinstance(x, dict):
        x_bar[index] = add(x_bar[index], g)
    else:
        items = list(x_bar)
        items[index] = g
        return rebuild(x, items)
    return x_bar


def accumulate(x_bar: Any, index: Any, g: Any) -> None:
    """``x_bar[index] += g`` in place, right where an integer array names a position more than once."""
    if any(_may_repeat(i) for i in (index if isinstance(index, tuple) else (index,))):
        np.add.at(x_bar, index, g)
    else:
        x_bar[index] += g


def _may_repeat(index: Any) -> bool:
    """Whether an index can name one position twice: lists and arrays of integers of rank 1 or more can."""
    if isinstance(index, np.ndarray):
        return index.ndim > 0 and index.dtype.kind != "b"
    return isinstance(index, list)


def mirror(g: Any, items: Any) -> Any:
    """The cotangent of nested lists from the cotangent of the array made of them."""
    if isinstance(items, (list, tuple)):
        return rebuild(items, [mirror(g[i], item) for i, item in enumerate(items)])
    return cast(g, items)


def sequence_bar(g: Any, items: Any) -> Any:
    """The cotangent of a sequence from that of the list or tuple made of its items."""
    return np.stack(g) if isinstance(items, np.ndarray) else rebuild(items, list(g))


# --- reductions ---------------------------------------------------------------------------------------------


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
    return weights.transpose(np.argsort(axes)).reshape([lengths.get(i, 1) for i in range(np.ndim(a))])


def prod_partial(x: Any, axis: Axis = None) -> Any:
    """For each element the product of the others along ``axis``: from both sides, so that zeros need no
    division.
    """
    flat, axes = _axes_last(x, axis)
    one = np.ones_like(flat[..., :1])
    before = np.cumprod(np.concatenate([one, flat[..., :-1]], axis=-1), axis=-1)
    after = np.cumprod(np.concatenate([one, flat[..., :0:-1]], axis=-1), axis=-1)[..., ::-1]
    return _axes_back(before * after, x, axes)


def _axes_last(x: Any, axis: Axis) -> tuple[Any, tuple[int, ...]]:
    """``x`` with the axes of a reduction joined to one, the last; and those axes counted from 0."""
    x = np.asarray(x)
    some = range(x.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = tuple(i % x.ndim for i in some)
    rest = [i for i in range(x.ndim) if i not in axes]
    flat = x.transpose([*rest, *axes]).reshape([*[x.shape[i] for i in rest], axis_size(x, axes)])
    return flat, axes


def _axes_back(flat: Any, x: Any, axes: tuple[int, ...]) -> Any:
    """The way back of ``_axes_last``."""
    shape = np.shape(x)
    order = [i for i in range(len(shape)) if i not in axes] + list(axes)
    return flat.reshape([shape[i] for i in order]).transpose(np.argsort(order))


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
    before = np.ones_like(x)
    np.cumprod(x[:-1], axis=0, out=before[1:])
    s = np.array(g, dtype=np.result_type(g, x))
    for k in range(len(x) - 2, -1, -1):
        s[k] += x[k + 1] * s[k + 1]
    return np.moveaxis(before * s, 0, axis)


def reverse_cumsum(g: Any, axis: int) -> Any:
    """The cumulative sum from the end: the transpose of ``np.cumsum``."""
    return np.flip(np.cumsum(np.flip(g, axis), axis), axis)


# --- joining and products -----------------------------------------------------------------------------------


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


def item_bar(x: Any, index: tuple[Any, ...], g: Any) -> Any:
    """The cotangent of an array from that of the number that ``x.item(*index)`` took out of it."""
    if len(index) == 1 and isinstance(index[0], tuple):
        index = index[0]
    if np.ndim(x) == 0:
        return cast(g, x)
    x_bar = np.zeros_like(x)
    if len(index) == 1:
        index = np.unravel_index(index[0] % x.size, x.shape)
    x_bar[index if index else (0,) * x.ndim] = g
    return x_bar


def repeat_bar(g: Any, x: Any, repeats: Any, axis: int | None) -> Any:
    """The cotangent of ``x`` from that of ``np.repeat(x, repeats, axis)``: the copies of an element add up.
    """
    shape = np.shape(x)
    if axis is None:
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
    """The cotangent of the one number that ``np.pad`` puts around ``x``. Raises ValueError where there are
    several.
    """
    if np.ndim(value) != 0:
        raise ValueError("np.pad with several constant_values: pad once for each of them")
    return np.sum(g) - np.sum(unpad(g, x, pad_width))


def fractions(count: int, endpoint: bool) -> Any:
    """Where the points of ``np.linspace(0, 1, count, endpoint)`` are."""
    return np.linspace(0.0, 1.0, count, endpoint=endpoint)


def weigh(weights: Any, g: Any, axis: int) -> Any:
    """The sum of ``g`` along ``axis`` with weights."""
    return np.tensordot(weights, g, axes=([0], [axis]))


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


def convolve_bar(g: Any, a: Any, v: Any, mode: str) -> Any:
    """The cotangent of one factor ``a`` from that of its convolution with ``v``, in either order."""
    short = min(len(a), len(v))
    before = {"full": 0, "same": (short - 1) // 2, "valid": short - 1}[mode]
    full = np.zeros_like(g, shape=len(a) + len(v) - 1)
    full[before : before + len(g)] = g
    # np.correlate conjugates its second argument.
    return np.correlate(full, np.conj(v), "valid")


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
    return list(np.atleast_1d(first)), list(np.atleast_1d(second))


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
    """Whether the transpose for one operand is one einsum: no ellipsis, no index twice in it, none in it
    alone.
    """
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

    An index that stands in this operand alone is summed away by the primal, so the cotangent is broadcast
    along it; an index that it has twice is a diagonal, so the cotangent is zero off it.
    """
    x = operands[which]
    inputs = [
        _spell_ellipsis(s, np.ndim(o)) for s, o in zip(einsum_inputs(subscripts), operands, strict=True)
    ]
    output = _spell_ellipsis(einsum_output(subscripts), np.ndim(g))
    others = [o for i, o in enumerate(operands) if i != which]
    rest = [s for i, s in enumerate(inputs) if i != which]
    mine = "".join(dict.fromkeys(inputs[which]))
    sizes = dict(zip(inputs[which], np.shape(x), strict=True))
    present = "".join(c for c in mine if c in output or any(c in s for s in rest))
    made = np.einsum(",".join([output, *rest]) + "->" + present, g, *others)
    made = np.expand_dims(made, tuple(i for i, c in enumerate(mine) if c not in present))
    target = tuple(sizes[c] for c in mine)
    made = sum_to(made, target)
    if mine == inputs[which]:
        return cast(made, x)
    x_bar = np.zeros(np.shape(x), dtype=made.dtype)
    view = np.einsum(inputs[which] + "->" + mine, x_bar)
    view[...] = made
    return cast(x_bar, x)


def _spell_ellipsis(indices: str, ndim: int) -> str:
    """Indices with the ellipsis written out in capital letters from the end of the alphabet, as NumPy aligns
    them.
    """
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
        return np.reshape(
            np.tensordot(pairs, np.reshape(b, shape_b), axes=(odds, list(range(rank)))), np.shape(a),
        )
    return np.reshape(
        np.tensordot(pairs, np.reshape(a, shape_a), axes=(evens, list(range(rank)))), np.shape(b),
    )


def diagonal_bar(g: Any, x: Any, offset: int, axis1: int, axis2: int) -> Any:
    """The cotangent of ``x`` from that of ``np.diagonal(x, offset, axis1, axis2)``: zero off the diagonal."""
    x_bar = np.zeros(np.shape(x), dtype=np.asarray(g).dtype)
    rows, columns = x_bar.shape[axis1], x_bar.shape[axis2]
    length = max(0, min(rows + min(offset, 0), columns - max(offset, 0)))
    i = np.arange(length) + max(-offset, 0)
    # moveaxis gives a view: writing to it writes to x_bar.
    np.moveaxis(x_bar, (axis1, axis2), (-2, -1))[..., i, i + offset] = g
    return x_bar


# --- picking, differences, interpolation --------------------------------------------------------------------


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


def diff_bar(g: Any, x: Any, n: int, axis: int) -> Any:
    """The cotangent of ``x`` from that of ``np.diff(x, n, axis)``."""
    for _ in range(min(n, np.shape(x)[axis])):
        zero = np.zeros_like(g, shape=_with_length(np.shape(g), axis, 1))
        g = np.concatenate([zero, g], axis) - np.concatenate([g, zero], axis)
    return g


def trapezoid_weights(y: Any, x: Any, dx: Any, axis: int) -> Any:
    """The weights of the values in ``np.trapezoid``, in a shape that broadcasts against ``y`` and has its
    length.
    """
    steps = _trapezoid_steps(y, x, dx, axis)
    ends = np.zeros_like(steps, shape=_with_length(np.shape(steps), axis, 1))
    return 0.5 * (np.concatenate([ends, steps], axis) + np.concatenate([steps, ends], axis))


def _trapezoid_steps(y: Any, x: Any, dx: Any, axis: int) -> Any:
    rank, length = np.ndim(y), np.shape(y)[axis]
    if x is None:
        shape = _with_length((1,) * rank, axis, length - 1)
        return np.full(shape, dx, dtype=np.asarray(y).dtype)
    if np.ndim(x) == 1:
        return np.reshape(np.diff(x), _with_length((1,) * rank, axis, length - 1))
    return np.diff(x, axis=axis)


def _with_length(shape: tuple[int, ...], axis: int, length: int) -> tuple[int, ...]:
    axis = axis % len(shape)
    return (*shape[:axis], length, *shape[axis + 1 :])


def trapezoid_x_bar(g: Any, y: Any, x: Any, axis: int) -> Any:
    """The cotangent of the places ``x`` in ``np.trapezoid(y, x)``: a step counts the mean of the values at
    its ends.
    """
    length = np.shape(y)[axis]
    low = np.take(y, range(length - 1), axis)
    high = np.take(y, range(1, length), axis)
    steps = np.expand_dims(g, axis) * 0.5 * (low + high)
    if np.ndim(x) == 1:
        others = tuple(i for i in range(np.ndim(y)) if i != axis % np.ndim(y))
        return diff_bar(np.sum(steps, axis=others), x, 1, -1)
    return diff_bar(steps, x, 1, axis)


def _interp_piece(x: Any, xp: Any) -> Any:
    """The number of the piece that each ``x`` lies in; the outermost ones for what is outside."""
    return np.clip(np.searchsorted(xp, x, side="right") - 1, 0, len(xp) - 2)


def interp_slope(x: Any, xp: Any, fp: Any) -> Any:
    """The derivative of ``np.interp(x, xp, fp)`` by ``x``: the slope of the piece, 0 outside."""
    xp, fp = np.asarray(xp), np.asarray(fp)
    i = _interp_piece(x, xp)
    inside = (np.asarray(x) >= xp[0]) & (np.asarray(x) <= xp[-1])
    return np.where(inside, (fp[i + 1] - fp[i]) / (xp[i + 1] - xp[i]), 0.0)


def interp_fp_bar(g: Any, x: Any, xp: Any, fp: Any) -> Any:
    """The cotangent of the values ``fp``: each point shares its own between the two knots around it."""
    xp = np.asarray(xp)
    i = _interp_piece(x, xp)
    t = np.clip((x - xp[i]) / (xp[i + 1] - xp[i]), 0.0, 1.0)
    fp_bar = np.zeros(np.shape(fp), dtype=np.asarray(g).dtype)
    np.add.at(fp_bar, i, (1.0 - t) * g)
    np.add.at(fp_bar, i + 1, t * g)
    return fp_bar


def periodic(x: Any, xp: Any, fp: Any, period: float) -> tuple[Any, Any, Any, Any]:
    """The arguments of ``np.interp`` with a period as those without: within one period, the knots in order, with one
    more on each side; and which knots these are.
    """
    period = abs(period)
    x, xp = np.remainder(x, period), np.remainder(xp, period)
    order = np.argsort(xp)
    which = np.concatenate([order[-1:], order, order[:1]])
    turn = np.zeros(len(which))
    turn[0], turn[-1] = -period, period
    return x, np.take(xp, which) + turn, np.take(fp, which), which


def periodic_fp_bar(g: Any, x: Any, xp: Any, fp: Any, period: float) -> Any:
    """As ``interp_fp_bar``, with a period."""
    x, xp, whole, which = periodic(x, xp, fp, period)
    fp_bar = np.zeros(np.shape(fp), dtype=np.asarray(g).dtype)
    np.add.at(fp_bar, which, interp_fp_bar(g, x, xp, whole))
    return fp_bar


def distance_bar(g: Any, y: float, p: Any, q: Any) -> Any:
    """The cotangent of ``p`` from that of ``math.dist(p, q)``; 0 where the points are one."""
    size = y or 1.0
    parts = [g * ((a - b) / size) for a, b in zip(p, q, strict=True)]
    return np.array(parts) if isinstance(p, np.ndarray) else rebuild(p, parts)


def distance_dot(p_dot: Any, y: float, p: Any, q: Any) -> float:
    """The tangent of ``math.dist(p, q)`` from that of ``p``; 0 where the points are one."""
    size = y or 1.0
    return sum([(a - b) / size * dot for a, b, dot in zip(p, q, p_dot, strict=True)])


# --- linear algebra -----------------------------------------------------------------------------------------


def _t(a: Any) -> Any:
    """The matrix transpose, also of a stack of matrices."""
    return np.swapaxes(a, -1, -2)


def cofactor(a: Any, determinant: Any) -> Any:
    """The derivative of the determinant: det(a) inv(a)^T, from the singular values where ``a`` is singular.
    """
    if np.all(determinant != 0.0):
        return np.asarray(determinant)[..., None, None] * _t(np.linalg.inv(a))
    u, s, vh = np.linalg.svd(a)
    turn = np.linalg.det(u) * np.linalg.det(vh)
    return turn[..., None, None] * ((np.conj(u) * prod_partial(s, -1)[..., None, :]) @ np.conj(vh))


def slogdet_weight(g: Any, y: Any) -> Any:
    """The cotangent of tr(log a) from those of sign and logarithm: the sign turns with its imaginary part."""
    sign_bar, log_bar = g[0], g[1]
    turning = 0.0 if sign_bar is None else -1.0j * np.real(1.0j * sign_bar * y[0])
    return turning + (0.0 if log_bar is None else log_bar)


def norm_bar(g: Any, y: Any, x: Any, ord: Any, axis: Axis, keepdims: bool) -> Any:
    """The cotangent of ``x`` from that of ``np.linalg.norm(x, ord, axis, keepdims)`` with an ``ord``."""
    axes = tuple(range(np.ndim(x))) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    if not keepdims:
        g, y = np.expand_dims(g, axes), np.expand_dims(y, axes)
    if len(axes) == 1:
        return _vector_norm_bar(g, y, x, ord, axes[0])
    if ord == "fro":
        return np.conj(x) * (g / (y + (y == 0.0)))
    if ord in (1, -1, np.inf, -np.inf):
        return _summed_norm_bar(g, y, x, axes[0] if abs(ord) == 1 else axes[1], axes)
    return _spectral_norm_bar(g, x, ord, axes)


def _slope_of_abs(x: Any) -> Any:
    """The derivative of ``np.abs``: conj(x) / |x|, 0 at 0."""
    if not np.iscomplexobj(x):
        return np.sign(x)
    size = np.abs(x)
    return np.conj(x) / (size + (size == 0.0))


def _vector_norm_bar(g: Any, y: Any, x: Any, ord: Any, axis: int) -> Any:
    if ord == 0:
        return np.zeros_like(x)
    if ord == 1:
        return g * _slope_of_abs(x)
    if ord in (np.inf, -np.inf):
        hit = np.abs(x) == y
        number = np.sum(hit, axis=axis, keepdims=True, dtype=np.asarray(y).dtype)
        return np.where(hit, g * _slope_of_abs(x) / number, 0.0)
    return g * _slope_of_abs(x) * (np.abs(x) / (y + (y == 0.0))) ** (ord - 1)


def _summed_norm_bar(g: Any, y: Any, x: Any, axis: int, axes: tuple[int, ...]) -> Any:
    """The largest (or smallest) sum of absolute values along ``axis``; ties share equally."""
    sums = np.sum(np.abs(x), axis=axis, keepdims=True)
    hit = sums == y
    return np.where(hit, g / np.sum(hit, axis=axes, keepdims=True, dtype=np.asarray(y).dtype), 0.0) * _slope_of_abs(x)


def _spectral_norm_bar(g: Any, x: Any, ord: Any, axes: tuple[int, ...]) -> Any:
    """2, -2 and nuc: the largest, the smallest and the sum of the singular values. Equal ones share; those that are
    zero but for rounding have no part in the sum, as ``abs`` is flat at 0."""
    u, s, vh = np.linalg.svd(np.moveaxis(x, axes, (-2, -1)), full_matrices=False)
    if ord == "nuc":
        weight = (s > s.shape[-1] * np.finfo(s.dtype).eps * s[..., :1]) * np.ones_like(s)
    else:
        hit = s == (s[..., :1] if ord == 2 else s[..., -1:])
        weight = hit / np.sum(hit, axis=-1, keepdims=True, dtype=s.dtype)
    return np.moveaxis(np.conj((u * weight[..., None, :]) @ vh), (-2, -1), axes) * g


def _h(a: Any) -> Any:
    """The conjugate transpose, also of a stack of matrices."""
    return np.conj(np.swapaxes(a, -1, -2))


def cholesky_bar(g: Any, factor: Any) -> Any:
    """The symmetric (Hermitian) cotangent of a matrix from that of its lower Cholesky factor."""
    # Formulas with conjugate transposes are for the conjugates of JAX's cotangents.
    middle = np.tril(_h(factor) @ np.conj(g))
    middle = middle - 0.5 * np.eye(factor.shape[-1], dtype=middle.dtype) * middle
    half = np.linalg.solve(_h(factor), _h(np.linalg.solve(_h(factor), _h(middle))))
    return 0.5 * np.conj(half + _h(half))


def cholesky_dot(factor: Any, a_dot: Any) -> Any:
    """The tangent of the lower Cholesky factor (Murray, equation 8)."""
    inner = np.linalg.solve(factor, _h(np.linalg.solve(factor, 0.5 * (a_dot + _h(a_dot)))))
    lower = np.tril(inner)
    return factor @ (lower - 0.5 * np.eye(factor.shape[-1], dtype=lower.dtype) * lower)


def eigvalsh_bar(w_bar: Any, v: Any) -> Any:
    """The cotangent of a symmetric (Hermitian) matrix from that of its eigenvalues, given the eigenvectors."""
    return (np.conj(v) * w_bar[..., None, :]) @ _t(v)


def eigh_bar(w_bar: Any, v_bar: Any, w: Any, v: Any) -> Any:
    """The symmetric (Hermitian) cotangent of a matrix from those of eigenvalues and eigenvectors; None stands for no
    cotangent.

    Eigenvectors of equal eigenvalues are not determined: with a cotangent of one of them they give NaN, not a wrong
    number, also where what is made of them is a function of the matrix. (Its derivative cannot be found from these
    cotangents: they are those of ``f(A)`` whatever the slope of ``f``.)
    """
    w_bar, v_bar = whole((w_bar, v_bar), (w, v))
    inner = np.zeros_like(v) if w_bar is None else w_bar[..., None, :] * np.eye(w.shape[-1], dtype=v.dtype)
    if v_bar is not None:
        turn = _h(v) @ np.conj(v_bar)
        size = np.max(np.abs(w), axis=-1, initial=0.0)[..., None, None]
        gaps = w[..., None, :] - w[..., :, None]
        inner = inner + 0.5 * gap_quotient(turn - _h(turn), gaps, size, either_used(v_bar))
    return np.conj(v @ inner @ _h(v))


def either_used(v_bar: Any) -> Any:
    """For each pair of columns of eigenvectors whether one of them has a cotangent."""
    used = np.any(v_bar != 0.0, axis=-2)
    return used[..., :, None] | used[..., None, :]


def gap_quotient(a: Any, gaps: Any, size: Any, used: Any = True) -> Any:
    """``a / gaps`` off the diagonal, zero on it; NaN where a gap between numbers of a ``size`` is but rounding, zero
    there for pairs that are not ``used``."""
    rank = a.shape[-1]
    eye = np.eye(rank, dtype=bool)
    equal = (np.abs(gaps) <= rank * np.finfo(np.asarray(gaps).dtype).eps * size) & ~eye
    quotient = np.where(equal, np.nan, a / np.where(eye | equal, 1.0, gaps))
    return np.where(eye | (equal & np.logical_not(used)), 0.0, quotient)


def svdvals_bar(s_bar: Any, a: Any) -> Any:
    """The cotangent of a matrix from that of its singular values."""
    u, _, vh = np.linalg.svd(a, full_matrices=False)
    return np.conj((u * s_bar[..., None, :]) @ vh)


def svd_bar(g: Any, y: Any, a: Any) -> Any:
    """The cotangent of a matrix from those of ``u, s, vh``, each None where there is none (J. Townsend,
    "Differentiating the Singular Value Decomposition", 2016; for complex matrices Z.-Q. Wan, S.-X. Zhang, 2019).

    Singular vectors of equal singular values: as ``eigh_bar``. Raises ValueError for the full matrices of an oblong
    one. What depends on the phases of complex singular vectors has no derivative.
    """
    u, s, vh = y
    u_bar, s_bar, vh_bar = whole(g, y)
    n = s.shape[-1]
    if u.shape[-1] != n or vh.shape[-2] != n:
        if any(bar is not None and np.any(bar) for bar in (u_bar, vh_bar)):
            raise ValueError(
                "the extra singular vectors have no derivative; call np.linalg.svd(a, full_matrices=False)",
            )
        u, vh, u_bar, vh_bar = u[..., :n], vh[..., :n, :], None, None
    inner = np.zeros(s.shape + (n,), dtype=u.dtype)
    if s_bar is not None:
        inner = inner + s_bar[..., None, :] * np.eye(n, dtype=s.dtype)
    if u_bar is None and vh_bar is None:
        return np.conj(u @ inner @ vh)
    u_bar = np.zeros_like(u) if u_bar is None else np.conj(u_bar)
    v_bar = np.zeros_like(_h(vh)) if vh_bar is None else _t(vh_bar)
    left, right = _h(u) @ u_bar, vh @ v_bar
    size = np.max(s, axis=-1, initial=0.0)[..., None, None]
    size = size + (size == 0.0)
    rows, columns = s[..., :, None] / size, s[..., None, :] / size  # products of these neither overflow nor underflow
    mixed = (left - _h(left)) * columns + rows * (right - _h(right))
    used = either_used(u_bar) | either_used(v_bar)
    inner = inner + gap_quotient(mixed, (columns - rows) * (columns + rows), 1.0, used) / size
    if np.iscomplexobj(u):  # the phase that u and v turn by together
        inner = inner - 1.0j * np.imag(right) * np.eye(n) / (s + (s == 0.0))[..., None, :]
    a_bar = u @ inner @ vh
    if u.shape[-2] > n:
        a_bar = a_bar + (u_bar - u @ left) / s[..., None, :] @ vh
    if vh.shape[-1] > n:
        a_bar = a_bar + u @ _h((v_bar - _h(vh) @ right) / s[..., None, :])
    return np.conj(a_bar)


def qr_bar(g: Any, y: Any, mode: str) -> Any:
    """The cotangent of a matrix from those of ``q, r`` (S. Walter, L. Lehmann, "Algorithmic differentiation
    of linear algebra functions", 2010; for more columns than rows D. Roberts, L. Roberts, 2020). Raises ValueError for
    the complete factors of a matrix with more rows than columns.
    """
    q, r = y
    g = whole(g, y)
    m = q.shape[-1]
    if r.shape[-2] > r.shape[-1] or q.shape[-2] < m:
        raise ValueError("the extra columns of q have no derivative; call np.linalg.qr(a) in its reduced mode")
    q_bar = np.zeros_like(q) if g[0] is None else np.conj(g[0])
    r_bar = np.zeros_like(r) if g[1] is None else np.conj(g[1])
    square, rest_bar = r[..., :m], r_bar[..., m:]
    q_bar = q_bar + q @ r[..., m:] @ _h(rest_bar)
    middle = square @ _h(r_bar[..., :m]) - _h(q_bar) @ q
    lower = np.tril(middle, -1)
    symmetric = lower + _h(lower) + np.real(middle) * np.eye(m, dtype=r.real.dtype)
    first = _h(np.linalg.solve(square, _h(q_bar + q @ symmetric)))
    return np.conj(np.concatenate([first, q @ rest_bar], axis=-1))


def pinv_bar(g: Any, p: Any, a: Any) -> Any:
    """The cotangent of ``a`` from that of its pseudoinverse ``p``, at constant rank (G. Golub, V. Pereyra,
    1973).
    """
    gt, ph = _t(g), _h(p)
    first = (gt - a @ (p @ gt)) @ p @ ph
    second = ph @ p @ (gt - (gt @ p) @ a)
    return np.conj(first + second - ph @ np.conj(g) @ ph)


def matrix_power_bar(g: Any, y: Any, a: Any, n: int) -> Any:
    """The cotangent of ``a`` from that of ``np.linalg.matrix_power(a, n)``: one term for each factor."""
    if n < 0:
        inverse = np.linalg.inv(a)
        return -(_t(inverse) @ matrix_power_bar(g, y, inverse, -n) @ _t(inverse))
    at = _t(a)
    total = np.zeros_like(a)
    for _ in range(n):
        # Horner: the terms are at^i g at^(n-1-i).
        total = total @ at + g
        g = at @ g
    return total


# --- scalar functions that Python lacks ---------------------------------------------------------------------


def quotient(a: Any, b: Any) -> Any:
    """``a / b`` as NumPy divides: infinite, or no number, where ``b`` is 0. Python's numbers raise there, which a
    derivative must not do where the primal did not."""
    try:
        return a / b
    except ZeroDivisionError:
        return np.divide(a, b).item()


def quotient_again(c: Any, a: Any, b: Any) -> Any:
    """``c / b`` where ``a / b`` has been computed: as ``quotient``. The compiler knows that ``b`` is not 0 where ``a``
    and ``b`` are Python's numbers, and writes ``c / b``."""
    return quotient(c, b)


def power(a: Any, b: Any) -> Any:
    """``a ** b`` as NumPy's numbers have it: infinite where Python's raise, at 0 and beyond the largest number."""
    try:
        return a**b
    except (ZeroDivisionError, OverflowError):
        return np.float_power(a, b).item()


def log_of_positive(a: float) -> float:
    """``log(a)``, and 0 where ``a`` is not positive: the factor of a power's derivative by its exponent."""
    return math.log(a) if a > 0 else 0.0


def digamma(x: float) -> float:
    """The logarithmic derivative of the gamma function. Raises ValueError at its poles 0, -1, -2, ...

    Reflection for negative arguments, recurrence up to 10, then the asymptotic series (Abramowitz and Stegun
    6.3.7, 6.3.5, 6.3.18); the first term left out is below 1e-16 there.
    """
    if x <= 0.0:
        if x == math.floor(x):
            raise ValueError("math domain error")
        # The distance to the pole is taken before the multiplication by pi: tan(pi x) loses digits for large x.
        return digamma(1.0 - x) - math.pi / math.tan(math.pi * (x - round(x)))
    total = 0.0
    while x < 10.0:
        total -= 1.0 / x
        x += 1.0
    t = 1.0 / (x * x)
    series = 1 / 132 - t * (691 / 32760 - t / 12)
    series = t * (1 / 12 - t * (1 / 120 - t * (1 / 252 - t * (1 / 240 - t * series))))
    return total + math.log(x) - 0.5 / x - series


def trigamma(x: float) -> float:
    """The derivative of ``digamma``, by the same ways (Abramowitz and Stegun 6.4.7, 6.4.6, 6.4.12)."""
    if x <= 0.0:
        turn = math.pi / math.sin(math.pi * (x - round(x)))
        return turn * turn - trigamma(1.0 - x)  # a power would raise where this is infinite
    total = 0.0
    while x < 10.0:
        total += 1.0 / x / x  # x * x may be 0 where x is not
        x += 1.0
    t = 1.0 / (x * x)
    series = 5 / 66 - t * (691 / 2730 - t * 7 / 6)
    series = 1 / 6 - t * (1 / 30 - t * (1 / 42 - t * (1 / 30 - t * series)))
    return total + 1.0 / x + t * (0.5 + series / x)


# --- what is decided when the program runs --------------------------------------------------------------------------


def call(fn: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """``fn(*args, **kwargs)`` and its pullback: by rule or by transforming ``fn`` now.

    The pullback takes the cotangent of the result and gives a tuple: one cotangent per positional argument, then one
    per keyword argument in the order of the call; None for arguments that have none.
    """
    from s2s.runtime.calls import vjp_of_call

    return vjp_of_call(fn, args, kwargs)


def call_again(fn: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """As ``call``, in what may run more than once for its reverse: what gives something else the next time is refused.
    """
    from s2s.runtime.calls import vjp_of_call

    return vjp_of_call(fn, args, kwargs, "repeated")


def call_method_again(receiver: Any, name: str, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """As ``call_method``, in what may run more than once."""
    from s2s.runtime.calls import vjp_of_method

    return vjp_of_method(receiver, name, args, kwargs, "repeated")


def call_method(receiver: Any, name: str, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """``receiver.name(*args, **kwargs)`` and its pullback, whose first cotangent is that of the receiver."""
    from s2s.runtime.calls import vjp_of_method

    return vjp_of_method(receiver, name, args, kwargs)


def by_default(block: Any, f: Any) -> Any:
    """A function in which the choice of a block holds where nothing inside of it says otherwise."""
    from s2s.directives.policies import under

    return under(f, block.choice, "nonsmooth")


def method(name: str) -> Any:
    """A function that calls a method of its first argument."""

    def call_of_method(receiver: Any, /, *args: Any, **kwargs: Any) -> Any:
        return getattr(receiver, name)(*args, **kwargs)

    return call_of_method


def push(fn: Any, name: str | None, values: tuple[Any, ...], dots: tuple[Any, ...], keys: tuple[str, ...]) -> Any:
    """The result of a call that is decided at run time, and its tangent. ``values`` are the arguments, the last of them
    by the keywords ``keys``, and ``dots`` their tangents, None for zero; with a ``name`` it is the method of the first
    argument."""
    from s2s.runtime.calls import jvp_of_call

    return jvp_of_call(fn, name, values, dots, keys)


def without_tangents(items: Any) -> list[None]:
    """For each of some arguments None, the tangent of what stands still."""
    return [None for _ in items]


def fit_cotangent(given: Any, out: Any, name: str) -> Any:
    """A cotangent of a result of ``name`` with its dtype. Raises ArgumentError where it does not fit."""
    from s2s.derivatives import fit

    fitting = fit(given, out, name)
    return fitting if isinstance(out, (tuple, list, dict)) else cast(fitting, out)


def fit_tangent(given: Any, primal: Any, name: str) -> Any:
    """A tangent of an argument of ``name`` with its dtype. Raises ArgumentError where it does not fit."""
    from s2s.derivatives import fit_tangent as fit

    return fit(given, primal, name)


def check_count(bars: Any, count: int, rule: str) -> None:
    """Raise ArgumentError where a rule of the user does not give a tuple of ``count`` cotangents."""
    if not isinstance(bars, tuple) or len(bars) != count:
        from s2s.errors import error

        got = f"a tuple of {len(bars)}" if isinstance(bars, tuple) else "one cotangent, and no tuple"
        raise error("S2S521", name=rule, got=got, expected=count)


def fit_bar(given: Any, argument: Any, rule: str) -> Any:
    """The cotangent of an argument that a rule of the user gave, with its dtype; None stands for zeros. Raises where
    it has not the shape or the structure of the argument."""
    from s2s.directives.user_rules import check_cotangent

    check_cotangent(given, argument, rule)
    if isinstance(argument, (tuple, list)):
        return type(argument)([fit_bar(g, x, rule) for g, x in zip(given, argument)])
    if isinstance(argument, dict):
        return {key: fit_bar(given[key], x, rule) for key, x in argument.items()}
    return zeros_of(argument) if given is None else cast(given, argument)


def fit_dot(given: Any, out: Any, rule: str) -> Any:
    """The tangent of a result that a rule of the user gave, with its dtype. Raises where it has not the shape or the
    structure of the result."""
    from s2s.directives.user_rules import check_tangent

    check_tangent(given, out, rule)
    return tangent_like(given, out)


# --- observed runs --------------------------------------------------------------------------------------------------

_OBSERVER: contextvars.ContextVar[Any] = contextvars.ContextVar("observer", default=None)


@contextlib.contextmanager
def observing(observer: Any) -> Any:
    """As a context: an observer sees the operations of observed functions."""
    token = _OBSERVER.set(observer)
    try:
        yield observer
    finally:
        _OBSERVER.reset(token)


def observed(fn: Any, place: str, /, *args: Any, **kwargs: Any) -> Any:
    """``fn(*args, **kwargs)``, of which an observer is told; ``place`` is the file and line of the call."""
    if args and isinstance(args[0], np.generic) and getattr(fn, "__objclass__", None) is np.ndarray:
        fn = getattr(type(args[0]), fn.__name__)  # the number's own method
    observer = _OBSERVER.get()
    return fn(*args, **kwargs) if observer is None else observer.operation(fn, place, args, kwargs)


def observed_step(fn: Any, why: str, place: str, /, *args: Any, **kwargs: Any) -> Any:
    """As ``observed``, for a step without a derivative; ``why`` says what it is."""
    observer = _OBSERVER.get()
    return fn(*args, **kwargs) if observer is None else observer.operation(fn, place, args, kwargs, why)


def observed_test(place: str, value: Any) -> Any:
    """The test of an ``if``, of which an observer is told."""
    observer = _OBSERVER.get()
    return value if observer is None else observer.test(place, value)


def floats(value: Any) -> list[Any]:
    """The floats and arrays of floats in a value, in order."""
    found: list[Any] = []
    map_floats(found.append, value)
    return found


def map_floats(make: Any, value: Any, other: Any = lambda leaf: None) -> Any:
    """A structure with something made for each float and array of floats, and something else for all else."""
    if isinstance(value, dict):
        return {key: map_floats(make, item, other) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return rebuild(value, [map_floats(make, item, other) for item in value])
    if isinstance(value, (float, complex, np.inexact)) or (isinstance(value, np.ndarray) and value.dtype.kind in "fc"):
        return make(value)
    return other(value)


def tangent_like(dot: Any, x: Any) -> Any:
    """A tangent in the shape and dtype of ``x``, of whatever structure that is."""
    if isinstance(x, (tuple, list)) and isinstance(dot, (tuple, list)):
        if len(x) != len(dot):
            raise _joined_containers(x)
        return type(dot)([tangent_like(part_dot, part) for part_dot, part in zip(dot, x)])
    if not isinstance(x, (np.ndarray, np.generic, float, complex)):
        return dot
    dot = cast(dot, x)
    return np.broadcast_to(dot, x.shape) if isinstance(x, np.ndarray) and np.shape(dot) != x.shape else dot


def set_item(items: list[Any], k: int, item: Any) -> list[Any]:
    """The list with another item at a position: a store where the position is not known before the program runs. Raises
    UnsupportedSyntaxError for a slice."""
    if isinstance(k, slice):
        from s2s.errors import error

        raise error("S2S134", name="a list", hint="write the slice with its bounds (`items[a:b] = ...`)")
    changed = list(items)
    changed[k] = item
    return changed


def set_items(items: list[Any], places: slice, values: Any) -> list[Any]:
    """The list with other items in a slice, more of them or fewer."""
    changed = list(items)
    changed[places] = values
    return changed


def stored_slice(items: Any, places: slice, values: Any) -> slice:
    """Where the values that were stored into a slice of a list stand in the new list."""
    start, _, step = places.indices(len(items))
    return slice(start, start + len(values)) if step == 1 else places


def unpack_bar(value: Any, before: int, after: int, parts: Any) -> Any:
    """The cotangent of ``value`` from those of the items that ``a, *b, c = value`` made of it."""
    stop = len(parts) - after
    items = [*parts[:before], *parts[before], *parts[stop:]] if len(parts) == before + 1 + after else list(parts)
    if isinstance(value, np.ndarray):
        like = [z if g is None else g for g, z in zip(items, value, strict=True)]
        return np.stack([np.zeros_like(z) if g is None else np.asarray(g) for g, z in zip(items, like, strict=True)])
    return rebuild(value, items)


def like(g: Any, x: Any) -> Any:
    """The items of a cotangent ``g`` put together as the iterable ``x`` is: an array for an array."""
    return np.stack([np.asarray(item) for item in g]) if isinstance(x, np.ndarray) else g


def split_entry(g: Any, key: Any) -> tuple[Any, Any]:
    """The cotangent of a dict without one entry, and that of the entry."""
    return {k: item for k, item in g.items() if k != key}, g.get(key)


_CHANGEABLE = (MutableSequence, MutableSet, MutableMapping)


def check_own(value: Any, name: str) -> None:
    """Raise UnsupportedSyntaxError where ``name += ...`` would change an array or container that others may refer to.
    """
    if (isinstance(value, np.ndarray) and value.ndim) or isinstance(value, _CHANGEABLE):
        from s2s.errors import error

        raise error("S2S117", name=name, hint=f"write `{name} = {name} + ...`, which makes a new array")


def check_bound(value: Any) -> None:
    """Nothing to do: reading the variable to pass it is what raises UnboundLocalError where it has no value."""


def look(fn: Any, *args: Any, **kwargs: Any) -> Any:
    """The answer of a function that only looks at its arguments: True, False, a text, a class or None. For functions of
    a library that cannot be followed. Raises DifferentiationError where it changes a container or answers something
    that could carry a derivative, and NumPy's own error where it changes an array."""
    given = [*args, *kwargs.values()]
    arrays = [a for a in _arrays_in(given) if a.flags.writeable]
    before = [(c, _items(c)) for c in _containers_in(given)]
    for a in arrays:
        a.flags.writeable = False
    try:
        found = fn(*args, **kwargs)
    finally:
        for a in arrays:
            a.flags.writeable = True
    changed = any(list(map(id, _items(c))) != list(map(id, items)) for c, items in before)
    if changed or not (found is None or isinstance(found, (bool, np.bool_, str, type))):
        what = "changes its arguments" if changed else f"gives a {type(found).__name__}"
        raise path_error(f"`{getattr(fn, '__qualname__', fn)}` cannot be followed, and {what}", "")
    return found


def _arrays_in(values: Any) -> list[Any]:
    """The arrays among values, and in lists, tuples and dicts of them."""
    found = [v for v in values if isinstance(v, np.ndarray)]
    return found + [a for c in _containers_in(values) for a in _items(c) if isinstance(a, np.ndarray)]


def _containers_in(values: Any) -> list[Any]:
    found: list[Any] = []
    todo = list(values)
    while todo:
        value = todo.pop()
        if isinstance(value, (list, tuple, dict)) and not any(value is other for other in found):
            found.append(value)
            todo += _items(value)
    return found


def _items(container: Any) -> list[Any]:
    return list(container.values() if isinstance(container, dict) else container)


def path_error(summary: str, where: str) -> Exception:
    """The refusal of a path of a library's code that cannot be differentiated, to be raised where it is taken."""
    from s2s.errors import error

    return error("S2S141", label=f"{where}: {summary}" if where else summary)


def check_sure(interrupted: Any, name: str) -> None:
    """Raise UnsupportedSyntaxError where an exception interrupted a block that may have assigned ``name``, or not."""
    if interrupted:
        raise try_error(f"`{name}` may or may not have been assigned when the exception came")


def try_error(because: str) -> Exception:
    """The refusal of a handler, to be raised where it is entered; a Ctrl-C goes on as what it is."""
    from s2s.errors import error

    problem = sys.exception()
    if problem is not None and not isinstance(problem, Exception):
        raise problem

    return error("S2S104", label=because, hint="assign it before the `try`, or as the last thing in it")


def check_ended(ended: bool, place: str) -> None:
    """Raise UnsupportedSyntaxError where a context manager swallowed the exception that interrupted its block."""
    if not ended:
        from s2s.errors import error

        label = f"the manager swallowed an exception ({place})"
        raise error("S2S105", label=label, hint="catch the exception with `try` and `except`")


def check_equal(*lengths: int) -> None:
    """Raise ValueError where iterables that are zipped strictly differ in length, as ``zip`` does."""
    for k, length in enumerate(lengths[1:], 2):
        if length != lengths[0]:
            raise ValueError(f"zip() argument {k} is {'longer' if length > lengths[0] else 'shorter'} than argument 1")


INTEGER = object()
"""Stands for the cotangent of an argument that is an integer on this run."""

CAPTURED = object()
"""Stands for the cotangent of an argument that is, or holds, a function that has captured floats."""


def pulled(bars: Any, k: int) -> Any:
    """The cotangent of an argument that carries a derivative, from those that a pullback gave.

    Raises NoDerivativeError where the argument was an integer on this run, so that there is none: leaving it out would
    be a silent zero; UnsupportedSyntaxError where it is a function that has captured floats, or holds one.
    """
    if bars[k] is INTEGER or bars[k] is CAPTURED:
        from s2s.errors import error

        raise error("S2S211", name=f"argument {k}") if bars[k] is INTEGER else error("S2S143")
    return bars[k]


def differentiated_as(value: Any, x: Any) -> Any:
    """The value, which is differentiated as if it were ``x``. Raises NoDerivativeError where their shapes differ."""
    if np.shape(value) != np.shape(x):
        from s2s.errors import error

        hint = f"its result has shape {np.shape(value)}, the argument {np.shape(x)}"
        raise error("S2S543", name="a function", hint=hint)
    return np.copy(value) if isinstance(value, np.ndarray) else value


def several_bar(g: Any, slopes: Any, x: Any) -> Any:
    """The cotangent of ``x`` from those of the results of an elementwise function, None where there is none, and its
    partial derivatives."""
    parts = [unbroadcast(part * slope, x) for part, slope in zip(g, slopes, strict=True) if np.any(part)]
    return sum(parts[1:], parts[0]) if parts else zeros_of(x)


def no_derivative(name: str, reason: str) -> Any:
    """Raise NoDerivativeError: a derivative flows into an argument by which none is known."""
    from s2s.errors import error

    raise error("S2S202", name=name, reason=reason)


def check_bits(value: Any) -> Any:
    """The result of ``a | b`` or its kin. Raises NoDerivativeError where it is a container: what it holds would have a
    derivative."""
    if isinstance(value, (dict, set, frozenset)):
        kind = type(value).__name__
        no_derivative(f"an operator of a {kind}", "its items are not followed; use lists, or dicts with known keys")
    return value


def check_scalar(value: Any, name: str) -> None:
    """Raise NonScalarOutputError where a function's result is not one real float."""
    shape, kind = np.shape(value), np.asarray(value).dtype.kind
    if shape == () and kind == "f":
        return
    from s2s.errors import error

    hint = "reduce the result to one float (np.sum), or use s2s.vjp with a cotangent of the result's shape"
    if shape != ():
        raise error("S2S401", name=name, shape=shape, hint=hint)
    raise error("S2S402", name=name, kind=f"of type {type(value).__name__}", hint=hint)


def check_new(made: Any, name: str, /, *given: Any) -> None:
    """Raise SharedMemoryError where an array that a function with a rule gave, in a container or not, shares memory
    with one that it was given, and one of them is changed in place."""
    arrays = _arrays_in(given)
    if any(np.may_share_memory(one, other) for one in _arrays_in([made]) for other in arrays):
        raise _shared("S2S128", name=name)


def check_separate(*arguments: Any) -> None:
    """Raise UnsupportedSyntaxError where a list or dict is reached in two ways: generated code keeps what is stored
    one way apart from the other."""
    seen: set[int] = set()
    todo = list(arguments)
    while todo:
        value = todo.pop()
        if isinstance(value, (list, dict)):
            if id(value) in seen:
                from s2s.errors import error

                raise error("S2S140", kind=type(value).__name__)
            seen.add(id(value))
        if isinstance(value, (list, tuple, dict)):
            todo += value.values() if isinstance(value, dict) else value
        elif hasattr(value, "__dict__") and not isinstance(value, (type, ModuleType)) and not callable(value):
            if id(value) in seen:
                from s2s.errors import error

                raise error("S2S140", kind=type(value).__name__)
            seen.add(id(value))
            todo += vars(value).values()


def gradient_object(like: Any, /, **gradients: Any) -> Any:
    """The gradient of an object: one of the same class, made without calling ``__init__``, whose attributes are
    gradients, or None."""
    cls = type(like)
    maker, slots = _layout(cls)  # type: ignore[arg-type]  # classes are hashable
    made = maker.__new__(cls)
    if hasattr(like, "__dict__"):
        made.__dict__.update({name: gradients.get(name) for name in like.__dict__})
    for name, slot in slots:
        if hasattr(like, name):
            slot.__set__(made, gradients.get(name))
    return made


@functools.lru_cache(256)
def _layout(cls: type) -> tuple[Any, tuple[tuple[str, Any], ...]]:
    """The built-in class that makes the objects of a class, and its slots."""
    maker = next(base for base in cls.__mro__ if not base.__flags__ & 1 << 9)  # not made by a class statement
    slots = [(n, d) for base in cls.__mro__ for n, d in vars(base).items() if isinstance(d, MemberDescriptorType)]
    return maker, tuple((name, slot) for name, slot in slots if not name.startswith("__"))


def make_object(cls: type, *attributes: Any) -> Any:
    """An object of a class with these attributes, name and value in turn, made without calling ``__init__``."""
    made: Any = object.__new__(cls)
    for name, value in zip(attributes[::2], attributes[1::2], strict=True):
        object.__setattr__(made, name, value)
    return made
