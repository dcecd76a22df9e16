"""Rules of functions that move, join, split, copy or repeat elements: reshape, transpose, concatenate, stack,
pad.
 All are linear; the transpose undoes the move, or adds up what was repeated. Nothing of the input is kept but
its shape.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.core.functions import Result
from s2s.rules.functions import describe
from s2s.rules.table import alias, args, arr, attribute, jvp, linear, model, num, refuse, takes, vjp, zero

# --- the same elements in the same order --------------------------------------------------------------------

linear(
    np.reshape, a=lambda y_bar, a, order: np.reshape(y_bar, np.shape(a), order),
    params="a, /, shape, order='C', *, copy=None", harmless="shape",
    samples=[
        args(arr(2, 6), (3, 4)), args(arr(12), (3, -1)), args(arr(2, 3), -1, order="F"),
        args(arr(0, 3), (3, 0)),
    ],
)
linear(
    np.ndarray.reshape, a=lambda y_bar, a, order: np.reshape(y_bar, np.shape(a), order),
    params="a, /, *shape, order='C', copy=None", harmless="shape",
    samples=[args(arr(2, 6), 3, 4), args(arr(2, 6), (3, 4)), args(arr(4), -1, 1, order="F")],
)
linear(
    np.ravel, a=lambda y_bar, a, order: np.reshape(y_bar, np.shape(a), order),
    params="a, order='C'", samples=[args(arr(2, 3)), args(arr(2, 3), order="F"), args(arr())],
)
alias(np.ravel, np.ndarray.ravel, np.ndarray.flatten)
linear(
    np.squeeze, a=lambda y_bar, a: np.reshape(y_bar, np.shape(a)), params="a, axis=None", harmless="axis",
    samples=[args(arr(1, 3, 1)), args(arr(1, 3, 1), axis=-1), args(arr(1, 3, 1), axis=(0, 2))],
)
alias(np.squeeze, np.ndarray.squeeze)
linear(
    np.expand_dims, a=lambda y_bar, a: np.reshape(y_bar, np.shape(a)), params="a, axis", harmless="axis",
    samples=[args(arr(3), 0), args(arr(3, 2), (0, -1)), args(arr(), 0)],
)


def _at_least(y_bar: Any, arys: Any) -> Any:
    """One array gives one result, several give a tuple."""
    if len(arys) == 1:
        return (np.reshape(y_bar, np.shape(arys[0])),)
    return tuple([np.reshape(y_bar[i], np.shape(arys[i])) for i in range(len(arys))])


linear(
    np.atleast_1d, joint=True, arys=_at_least, params="*arys",
    samples=[args(num()), args(arr(2, 3)), args(arr(), arr(2))],
)
linear(
    np.atleast_2d, joint=True, arys=_at_least, params="*arys",
    samples=[args(num()), args(arr(3)), args(arr(2), arr(2, 2))],
)
linear(
    np.atleast_3d, joint=True, arys=_at_least, params="*arys",
    samples=[args(num()), args(arr(3)), args(arr(3, 2))],
)

# --- the same elements in another order ---------------------------------------------------------------------


def _transpose(y_bar: Any, axes: Any) -> Any:
    if axes is None:
        return np.transpose(y_bar)
    return np.transpose(y_bar, np.argsort(np.mod(axes, len(axes))))


def _transpose_method(y_bar: Any, axes: Any) -> Any:
    """``x.transpose()``, ``x.transpose(None)``, ``x.transpose(1, 0)`` and ``x.transpose((1, 0))``."""
    if len(axes) == 0:
        return np.transpose(y_bar)
    if len(axes) == 1:
        return _transpose(y_bar, axes[0]) if np.ndim(y_bar) != 1 else y_bar
    return _transpose(y_bar, axes)


linear(
    np.transpose, a=_transpose, params="a, axes=None",
    samples=[
        args(arr(2, 3)), args(arr(2, 3, 4), (2, 0, 1)), args(arr(2, 3, 4), (-1, 0, 1)), args(arr(3)),
        args(arr()),
    ],
)
linear(
    np.ndarray.transpose, a=_transpose_method, params="a, /, *axes",
    samples=[
        args(arr(2, 3)), args(arr(2, 3, 4), 2, 0, 1), args(arr(2, 3, 4), (2, 0, 1)), args(arr(2, 3), None),
        args(arr(3), 0),
    ],
)
attribute("T", np.transpose)
linear(
    np.matrix_transpose, x=lambda y_bar: np.swapaxes(y_bar, -1, -2), params="x, /",
    samples=[args(arr(2, 3)), args(arr(2, 3, 4))],
)
alias(np.matrix_transpose, np.linalg.matrix_transpose)
attribute("mT", np.matrix_transpose)
linear(
    np.swapaxes, a=lambda y_bar, axis1, axis2: np.swapaxes(y_bar, axis1, axis2), params="a, axis1, axis2",
    samples=[args(arr(2, 3, 4), 0, 2), args(arr(2, 3), -1, 0)],
)
alias(np.swapaxes, np.ndarray.swapaxes)
linear(
    np.moveaxis, a=lambda y_bar, source, destination: np.moveaxis(y_bar, destination, source),
    params="a, source, destination",
    samples=[args(arr(2, 3, 4), 0, -1), args(arr(2, 3, 4), (0, 1), (-1, 0))],
)


@model(np.rollaxis, samples=[args(arr(2, 3, 4), 2), args(arr(2, 3, 4), 0, 2), args(arr(2, 3, 4), -1, 1)])
def _rollaxis(a: Any, axis: Any, start: Any = 0) -> Any:
    axis, start = axis % np.ndim(a), start + np.ndim(a) if start < 0 else start
    return np.moveaxis(a, axis, start - 1 if axis < start else start)


linear(
    np.flip, m=lambda y_bar, axis: np.flip(y_bar, axis), params="m, axis=None",
    samples=[args(arr(3)), args(arr(2, 3)), args(arr(2, 3), axis=-1), args(arr(2, 3, 2), axis=(0, 2))],
)
linear(np.fliplr, m=lambda y_bar: np.fliplr(y_bar), params="m", samples=[args(arr(2, 3))])
linear(np.flipud, m=lambda y_bar: np.flipud(y_bar), params="m", samples=[args(arr(2, 3)), args(arr(3))])
linear(
    np.roll, a=lambda y_bar, shift, axis: np.roll(y_bar, np.negative(shift), axis),
    params="a, shift, axis=None",
    samples=[
        args(arr(5), 2), args(arr(2, 3), 1), args(arr(2, 3), -1, axis=1),
        args(arr(3, 4), (1, 2), axis=(0, 1)),
    ],
)
linear(
    np.rot90, m=lambda y_bar, k, axes: np.rot90(y_bar, -k, axes), params="m, k=1, axes=(0, 1)",
    samples=[args(arr(2, 3)), args(arr(2, 3), 2), args(arr(2, 3, 4), k=3, axes=(1, 2))],
)

# --- copies and casts ---------------------------------------------------------------------------------------

COPY = [args(arr(3)), args(arr(2, 3)), args(arr())]
linear(np.copy, a=lambda y_bar: y_bar, params="a, order='K', subok=False", samples=COPY)
linear(np.ndarray.copy, a=lambda y_bar: y_bar, params="a, order='C'", samples=COPY)
linear(
    np.asfortranarray, a=lambda y_bar, a: rt.cast(y_bar, a), params="a, dtype=None, *, like=None",
    harmless="dtype", samples=[args(arr(2, 3)), args(arr(2, 3), np.float64)],
)
linear(
    np.ascontiguousarray, a=lambda y_bar, a: np.reshape(rt.cast(y_bar, a), np.shape(a)),
    params="a, dtype=None, *, like=None", harmless="dtype",
    samples=[args(arr(2, 3)), args(arr()), args(arr(2), np.float64)],
)


def _as_array(y_bar: Any, a: Any) -> Any:
    """An array keeps its shape; of nested lists every number gets its own cotangent."""
    if isinstance(a, (list, tuple)):
        return rt.mirror(y_bar, a)
    return rt.cast(y_bar, a)


def _array(y_bar: Any, object: Any, ndmin: Any) -> Any:
    if ndmin != 0:
        y_bar = np.reshape(y_bar, np.shape(object))
    if isinstance(object, (list, tuple)):
        return rt.mirror(y_bar, object)
    return rt.cast(y_bar, object)


LISTS = [
    args(arr(3)), args([num(), num()]), args([[num(), 1.0], (num(), num())]), args([arr(2), arr(2)]),
    args(num()),
]
linear(
    np.array, object=_array, harmless="dtype",
    samples=[*LISTS, args(arr(3), dtype=np.float64), args(arr(3), ndmin=2), args([num(), num()], ndmin=2)],
    params="object, dtype=None, *, copy=True, order='K', subok=False, ndmin=0, like=None",
)
ASARRAY = "a, dtype=None, order=None, *, device=None, copy=None, like=None"
linear(
    np.asarray, a=_as_array, params=ASARRAY, harmless="dtype",
    samples=[*LISTS, args(arr(3), np.float64), args([num(), 1.0], dtype=float)],
)
alias(np.asarray, np.asanyarray)
alias(np.asarray, np.asarray_chkfinite, params="a, dtype=None, order=None", samples=[args(arr(3)), args(arr(3), float)])
linear(
    np.require, a=_as_array, params="a, dtype=None, requirements=None, *, like=None", harmless="dtype requirements",
    samples=[args(arr(2, 3), np.float64, ["C"])],
)
# A cast to integers is straight-through: the compiler asks for the policy where the result is an integer.
linear(
    np.ndarray.astype, a=lambda y_bar, a: rt.cast(y_bar, a), harmless="dtype",
    params="a, /, dtype, order='K', casting='unsafe', subok=True, copy=True",
    samples=[args(arr(3), np.float64), args(arr(2, 3), float, copy=False)],
)
alias(
    np.ndarray.astype, np.astype, params="a, dtype, /, *, copy=True, device=None",
    samples=[args(arr(3), np.float64)],
)
linear(
    np.ndarray.item, a=lambda y_bar, a, args: rt.item_bar(a, args, y_bar), params="a, /, *args",
    samples=[
        args(arr(1)), args(arr()), args(arr(3), 1), args(arr(2, 3), 4), args(arr(2, 3), 1, -1),
        args(arr(2, 3), (1, 2)),
    ],
)
linear(
    np.ndarray.tolist, a=lambda y_bar, a: np.asarray(y_bar), params="a, /",
    samples=[args(arr(3)), args(arr(2, 3)), args(arr())],
)

# --- repeating ----------------------------------------------------------------------------------------------

linear(
    np.broadcast_to, array=lambda y_bar, array: rt.unbroadcast(y_bar, array),
    params="array, shape, subok=False",
    samples=[
        args(arr(3), (2, 3)), args(arr(2, 1), (2, 3)), args(num(), (2,)), args(arr(), ()),
        args(arr(1, 3), (0, 2, 3)),
    ],
)
linear(
    np.full, fill_value=lambda y_bar, fill_value: rt.unbroadcast(y_bar, fill_value), harmless="dtype",
    params="shape, fill_value, dtype=None, order='C', *, device=None, like=None",
    samples=[args(3, num()), args((2, 3), num()), args((2, 3), arr(3))],
)
linear(
    np.full_like, fill_value=lambda y_bar, fill_value: rt.unbroadcast(y_bar, fill_value),
    harmless="a dtype shape",
    params="a, fill_value, dtype=None, order='K', subok=True, shape=None, *, device=None",
    samples=[
        args(np.ones((2, 3)), num()), args(np.ones((2, 3)), arr(3)), args(np.ones(3, np.float32), num(), np.float64),
    ],
)
linear(
    np.repeat, a=lambda y_bar, a, repeats, axis: rt.repeat_bar(y_bar, a, repeats, axis),
    params="a, repeats, axis=None",
    samples=[
        args(arr(3), 2), args(arr(2, 3), 2), args(arr(2, 3), 2, axis=1), args(arr(2, 3), [1, 0, 3], axis=-1),
        args(arr(3), 0),
        args(num(), 3), args(arr(2, 3), [2], axis=0),
    ],
)
alias(np.repeat, np.ndarray.repeat)
linear(
    np.tile, A=lambda y_bar, A, reps: rt.tile_bar(y_bar, A, reps), params="A, reps",
    samples=[
        args(arr(3), 2), args(arr(3), (2, 2)), args(arr(2, 3), 2), args(arr(2, 3), (2, 1, 2)), args(num(), 2),
    ],
)


@model(np.resize, samples=[args(arr(2, 3), (4, 2)), args(arr(4), 3), args(arr(3), (2, 2))])
def _resize(a: Any, new_shape: Any) -> Any:
    """The elements again and again in their order."""
    return np.reshape(np.take(a, np.arange(math.prod(np.atleast_1d(new_shape).tolist())) % np.size(a)), new_shape)




def widths_of(array: Any, pad_width: Any) -> list[tuple[int, int]]:
    """How much ``np.pad`` puts before and after each axis."""
    if isinstance(pad_width, dict):
        made = np.zeros((np.ndim(array), 2), int)
        for axis, width in pad_width.items():
            made[axis] = width
    else:
        made = np.broadcast_to(pad_width, (np.ndim(array), 2))
    return [(before, after) for before, after in made.tolist()]


def pad_bar(g: Any, array: Any, pad_width: Any, mode: Any, reflect_type: Any) -> Any:
    """The cotangent of ``array`` from that of ``np.pad`` in a mode that repeats elements, axis by axis."""
    options = {"reflect_type": reflect_type} if mode in ("reflect", "symmetric") else {}
    repeats = mode in ("edge", "wrap") or options == {"reflect_type": "even"}
    for axis, (before, after) in enumerate(widths_of(array, pad_width)):
        n = np.shape(array)[axis]
        g = np.moveaxis(g, axis, 0)
        if repeats:  # which element each one repeats
            source = np.pad(np.arange(n), (before, after), mode=mode)
            g_bar = rt.take_bar(g, np.empty((n, *np.shape(g)[1:])), source, 0)
        else:  # the matrix of the axis is the padded unit matrix
            spread = np.pad(np.eye(n, dtype=g.dtype), [(before, after), (0, 0)], mode=mode, **options)
            g_bar = np.tensordot(spread, g, axes=([0], [0]))
        g = np.moveaxis(g_bar, 0, axis)
    return g


STAGED = ("mean", "maximum", "minimum", "median", "linear_ramp", "empty")
"""Modes of ``np.pad`` that put numbers beside an array: a statistic of the lines that they continue, a ramp to a
number. Each axis is padded in turn, with what the axes before it have got."""


def statistic_weights(lines: Any, mode: str) -> Any:
    """How a statistic of lines along the first axis moves with each of their elements; ties share."""
    if mode == "mean":
        return np.full_like(lines, 1.0 / len(lines))
    if mode in ("maximum", "minimum"):
        hit = lines == (np.max(lines, axis=0) if mode == "maximum" else np.min(lines, axis=0))
        return hit / np.sum(hit, axis=0, dtype=lines.dtype)
    middle = np.zeros_like(lines)
    middle[(len(lines) - 1) // 2] += 0.5
    middle[len(lines) // 2] += 0.5
    weights = np.zeros_like(lines)
    np.put_along_axis(weights, np.argsort(lines, axis=0, kind="stable"), middle, 0)
    return weights


def pad_sides(array: Any, axis: int, pad_width: Any, stat_length: Any, end_values: Any) -> list[tuple[int, int, Any]]:
    """For both sides of an axis how many elements are put there, how many lines they are a statistic of, and the number
    that a ramp goes to."""
    lengths = (None, None) if stat_length is None else widths_of(array, stat_length)[axis]
    ends = np.broadcast_to(end_values, (np.ndim(array), 2))[axis]
    n = np.shape(array)[axis]
    return [
        (width, n if length is None else min(length, n), end)
        for width, length, end in zip(widths_of(array, pad_width)[axis], lengths, ends)
    ]


def pad_stages(array: Any, pad_width: Any, mode: str, stat_length: Any, end_values: Any) -> list[Any]:
    """The array before each axis is padded, by NumPy."""
    widths = widths_of(array, pad_width)
    return [padded_before(array, axis, widths, mode, stat_length, end_values) for axis in range(np.ndim(array))]


def padded_before(array: Any, axis: int, widths: Any, mode: Any, stat_length: Any, end_values: Any) -> Any:
    """The array padded along the axes before ``axis``."""
    done = [(before, after) if k < axis else (0, 0) for k, (before, after) in enumerate(widths)]
    if axis == 0:
        return np.asarray(array)
    if mode == "empty":
        return np.pad(array, done)
    if mode == "linear_ramp":
        return np.pad(array, done, "linear_ramp", end_values=end_values)
    return np.pad(array, done, mode, stat_length=stat_length)


def ramp_weights(width: int, g: Any) -> Any:
    """The weights of the number that a ramp goes to, from outside, in a shape that broadcasts."""
    return np.reshape(1.0 - np.arange(width) / max(width, 1), (-1, *(1,) * (np.ndim(g) - 1))).astype(g.dtype)


def pad_stages_bar(
    g: Any, array: Any, pad_width: Any, mode: str, stat_length: Any, end_values: Any
) -> tuple[Any, Any]:
    """The cotangents of ``array`` and ``end_values`` from that of ``np.pad`` in one of the modes ``STAGED``."""
    stages = pad_stages(array, pad_width, mode, stat_length, end_values)
    ends_bar = np.zeros((np.ndim(array), 2), g.dtype)
    for axis in reversed(range(np.ndim(array))):
        lines, g = np.moveaxis(stages[axis], axis, 0), np.moveaxis(g, axis, 0)
        sides = pad_sides(array, axis, pad_width, stat_length, end_values)
        inner = np.array(g[sides[0][0] : len(g) - sides[1][0]])
        for side, (width, length, _) in enumerate(sides):
            outer = g[:width] if side == 0 else g[len(g) - width :][::-1]
            near = slice(0, length) if side == 0 else slice(len(lines) - length, None)
            if mode == "linear_ramp":
                weights = ramp_weights(width, g)
                ends_bar[axis, side] = np.sum(weights * outer)
                inner[0 if side == 0 else -1] += np.sum((1.0 - weights) * outer, axis=0)
            elif mode != "empty" and width:
                inner[near] += statistic_weights(lines[near], mode) * np.sum(outer, axis=0)
        g = np.moveaxis(inner, 0, axis)
    return g, rt.unbroadcast(ends_bar, end_values)


def pad_stages_dot(
    array_dot: Any, ends_dot: Any, array: Any, pad_width: Any, mode: str, stat_length: Any, end_values: Any
) -> Any:
    """The tangent of ``np.pad`` in one of the modes ``STAGED``."""
    stages = pad_stages(array, pad_width, mode, stat_length, end_values)
    dot = array_dot
    for axis in range(np.ndim(array)):
        lines, dot = np.moveaxis(stages[axis], axis, 0), np.moveaxis(dot, axis, 0)
        sides = pad_sides(array, axis, pad_width, stat_length, end_values)
        made = []
        for side, (width, length, _) in enumerate(sides):
            near = slice(0, length) if side == 0 else slice(len(lines) - length, None)
            if mode == "linear_ramp":
                weights = ramp_weights(width, dot)
                end_dot = np.broadcast_to(ends_dot, (np.ndim(array), 2))[axis, side]
                outer = weights * end_dot + (1.0 - weights) * dot[0 if side == 0 else -1]
            elif mode == "empty":
                outer = np.zeros((width, *np.shape(dot)[1:]), dot.dtype)
            else:
                change = np.sum(statistic_weights(lines[near], mode) * dot[near], axis=0)
                outer = np.broadcast_to(change, (width, *np.shape(change)))
            made.append(outer if side == 0 else outer[::-1])
        dot = np.moveaxis(np.concatenate([made[0], dot, made[1]]), 0, axis)
    return dot


def _refuse_mode(mode: Any) -> Any:
    name = repr(mode) if isinstance(mode, str) else "of a function"
    return rt.no_derivative("np.pad", f"the mode {name} has no rule; pad with np.concatenate")


def _pad(
    y_bar: Any, array: Any, pad_width: Any, mode: Any, stat_length: Any, end_values: Any, reflect_type: Any
) -> Any:
    if mode in STAGED:
        return rt.cast(pad_stages_bar(y_bar, array, pad_width, mode, stat_length, end_values)[0], array)
    if mode in ("edge", "reflect", "symmetric", "wrap"):
        return pad_bar(y_bar, array, pad_width, mode, reflect_type)
    if mode != "constant":
        return _refuse_mode(mode)
    if isinstance(pad_width, dict):
        return rt.unpad(y_bar, array, widths_of(array, pad_width))
    return rt.unpad(y_bar, array, pad_width)


def _pad_constant_values(y_bar: Any, array: Any, pad_width: Any, mode: Any, constant_values: Any) -> Any:
    return rt.pad_value_bar(y_bar, array, pad_width, constant_values)


def _pad_end_values(y_bar: Any, array: Any, pad_width: Any, mode: Any, stat_length: Any, end_values: Any) -> Any:
    return pad_stages_bar(y_bar, array, pad_width, mode, stat_length, end_values)[1]


def _pad_dot(
    array_dot: Any, array: Any, pad_width: Any, mode: Any, stat_length: Any, end_values: Any, reflect_type: Any
) -> Any:
    if mode in STAGED:
        return pad_stages_dot(array_dot, 0.0, array, pad_width, mode, stat_length, end_values)
    if mode in ("reflect", "symmetric"):
        return np.pad(array_dot, pad_width, mode, reflect_type=reflect_type)
    if mode in ("constant", "edge", "wrap"):
        return np.pad(array_dot, pad_width, mode)
    return _refuse_mode(mode)


def _pad_constant_values_dot(constant_values_dot: Any, array: Any, pad_width: Any) -> Any:
    return np.pad(np.zeros_like(array), pad_width, constant_values=constant_values_dot)


def _pad_end_values_dot(
    end_values_dot: Any, array: Any, pad_width: Any, mode: Any, stat_length: Any, end_values: Any
) -> Any:
    return pad_stages_dot(np.zeros_like(array), end_values_dot, array, pad_width, mode, stat_length, end_values)


# The statistics are chosen by values: constant where the order of the elements is.
linear(
    pad_stages_bar, params="g, array, pad_width, mode, stat_length, end_values", harmless="array end_values",
    g=lambda y_bar, array, pad_width, mode, stat_length, end_values: pad_stages_dot(
        y_bar[0], y_bar[1], array, pad_width, mode, stat_length, end_values
    ),
    samples=[
        args(arr(5), np.array([1.0, 3.0, 2.0]), 1, "maximum", None, 0.0),
        args(arr(5), np.array([1.0, 3.0, 2.0]), 1, "linear_ramp", None, 1.0),
    ],
)
linear(
    pad_stages_dot, params="array_dot, ends_dot, array, pad_width, mode, stat_length, end_values", joint=True,
    array_dot=lambda y_bar, array, pad_width, mode, stat_length, end_values: pad_stages_bar(
        y_bar, array, pad_width, mode, stat_length, end_values
    )[0],
    ends_dot=lambda y_bar, ends_dot, array, pad_width, mode, stat_length, end_values: rt.unbroadcast(
        pad_stages_bar(y_bar, array, pad_width, mode, stat_length, end_values)[1], ends_dot
    ),
    harmless="array end_values", samples=[args(arr(3), num(), np.array([1.0, 3.0, 2.0]), 1, "linear_ramp", None, 1.0)],
)
vjp(
    np.pad, array=_pad, end_values=_pad_end_values, constant_values=_pad_constant_values,
    params=(
        "array, pad_width, mode='constant', *, constant_values=0, stat_length=None, end_values=0, reflect_type='even'"
    ),
    samples=[
        args(arr(3), 2), args(arr(2, 3), (1, 2)), args(arr(2, 3), ((0, 1), (2, 0))), args(arr(3), ((1, 2),)),
        args(arr(2, 3), 1, mode="constant", constant_values=7.0), args(arr(3), 1, constant_values=num()),
        args(arr(4), 2, "edge"), args(arr(3, 4), 2, mode="reflect"), args(arr(3, 4), ((0, 2), (5, 1)), "symmetric"),
        args(arr(3), (4, 7), "wrap"), args(arr(3, 4), 2, "linear_ramp"), args(arr(3, 4), (1, 2), "mean"),
        args(arr(4), 2, "reflect", reflect_type="odd"), args(arr(2, 3, complex=True), 1, "edge"),
        args(arr(5), 2, "mean", stat_length=2), args(arr(3, 4), 1, "mean", stat_length=((2, 1), (3, 2))),
        args(arr(3, 4), (1, 2), "maximum"), args(arr(5), 2, "minimum", stat_length=2),
        args(arr(3, 4), ((2, 1), (0, 3)), "median"), args(arr(3, 4), 1, "median", stat_length=((2, 1), (3, 2))),
        args(arr(3, 4), (1, 2), "linear_ramp", end_values=num()),
        args(arr(3, 2), ((1, 2), (0, 3)), "linear_ramp", end_values=arr(2, 2)),
        *([args(arr(3), {0: (1, 2)})] if takes(np.pad, np.zeros(1), {0: 1}) else []),  # from NumPy 2.2 on
    ],
)
jvp(np.pad, array=_pad_dot, constant_values=_pad_constant_values_dot, end_values=_pad_end_values_dot)


def as_vector(part: Any) -> Any:
    """What ``np.r_`` joins: a number becomes an array of one element."""
    return np.atleast_1d(part) if np.ndim(part) == 0 else part


def as_columns(part: Any) -> Any:
    """What ``np.c_`` joins: a vector becomes a column."""
    return np.reshape(part, (-1, 1)) if np.ndim(part) < 2 else part


# --- joining ------------------------------------------------------------------------------------------------


def _concatenate(y_bar: Any, arrays: Any, axis: Any, dtype: Any) -> Any:
    if isinstance(arrays, (list, tuple)) and len(arrays) == 2 and axis == 0 and dtype is None:
        return [y_bar[: len(arrays[0])], y_bar[len(arrays[0]) :]]
    return rt.split_like(y_bar, arrays, axis)


linear(
    np.concatenate, arrays=_concatenate, joint=True,
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
        length = _block_shape(item, depth - 1, np.ndim(g))[-depth]
        before = (slice(None),) * (np.ndim(g) - depth)
        part = g[(*before, slice(start, start + length))]
        bar = block_bar(part, item) if isinstance(item, list) else rt.cast(np.reshape(part, np.shape(item)), item)
        parts.append(bar)
        start += length
    return parts


def _depth_of(arrays: Any) -> int:
    return 1 + _depth_of(arrays[0]) if isinstance(arrays, list) else 0


def _block_shape(arrays: Any, depth: int, rank: int) -> tuple[int, ...]:
    """The shape of the block that nested lists make, with a rank."""
    if not isinstance(arrays, list):
        shape = np.shape(arrays)
        return (1,) * (rank - len(shape)) + shape
    shapes = [_block_shape(item, depth - 1, rank) for item in arrays]
    whole = list(shapes[0])
    whole[-depth] = sum(shape[-depth] for shape in shapes)
    return tuple(whole)


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


def _insert(y_bar: Any, arr: Any, obj: Any, values: Any, axis: Any) -> Any:
    kept, _ = insertion(arr, obj, values, axis)
    return np.reshape(np.take(y_bar, kept, 0 if axis is None else axis), np.shape(arr))


def _insert_values(y_bar: Any, arr: Any, obj: Any, values: Any, axis: Any) -> Any:
    _, places = insertion(arr, obj, values, axis)
    along = 0 if axis is None else axis
    g = np.take(y_bar, places, along)
    if isinstance(obj, (int, np.integer)):  # one place: the first axis of the values goes along it
        g = np.moveaxis(g, along, 0)
    return rt.unbroadcast(g, values)


linear(
    np.insert, arr=_insert, values=_insert_values, joint=True, params="arr, obj, values, axis=None",
    samples=[
        args(arr(4), 1, num()), args(arr(4), [0, 3], arr(2)), args(arr(4), [3, 0], arr(2)), args(arr(2, 3), 2, num()),
        args(arr(2, 3), 1, arr(2), axis=1), args(arr(2, 3), 1, num(), axis=0),
        args(arr(2, 3), [1, 1], arr(2, 2), axis=1),
        args(arr(4), 1, arr(3)), args(arr(4), slice(0, 2), num()), args(arr(2, 3), -1, arr(3), axis=0),
    ],
)


def _delete(y_bar: Any, arr: Any, obj: Any, axis: Any) -> Any:
    length = np.size(arr) if axis is None else np.shape(arr)[axis]
    return rt.take_bar(y_bar, arr, np.delete(np.arange(length), obj), axis)


linear(
    np.delete, arr=_delete, params="arr, obj, axis=None", harmless="obj",
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


def _trim_zeros(y_bar: Any, y: Any, filt: Any, trim: Any, axis: Any) -> Any:
    if isinstance(filt, (list, tuple)):
        return rt.index_bar(filt, kept_by_trim(y, filt, trim, axis)[0], y_bar)
    return rt.index_bar(filt, kept_by_trim(y, filt, trim, axis), y_bar)


vjp(
    np.trim_zeros, filt=_trim_zeros, params="filt, trim='fb', axis=None",
    samples=[args(arr(4)), args(arr(4), "f"), args(arr(3), trim="b"), args([num(), num()]),
             *([args(arr(2, 3), axis=-1)] if takes(np.trim_zeros, np.zeros(1), axis=-1) else [])],  # from NumPy 2.2 on
)


@jvp(np.trim_zeros)
def _trim_zeros_dot(y: Any, filt: Any, filt_dot: Any, trim: Any, axis: Any) -> Any:
    kept = kept_by_trim(y, filt, trim, axis)
    return filt_dot[kept[0]] if isinstance(filt, (list, tuple)) else filt_dot[kept]


# --- splitting: the result is a list of views, and so is its cotangent --------------------------------------

linear(
    np.split, ary=lambda y_bar, ary, axis: np.concatenate(y_bar, axis), harmless="indices_or_sections",
    params="ary, indices_or_sections, axis=0",
    samples=[args(arr(6), 3), args(arr(6), [1, 4]), args(arr(2, 4), 2, axis=1), args(arr(2, 4), 2, axis=-1)],
)
linear(
    np.array_split, ary=lambda y_bar, ary, axis: np.concatenate(y_bar, axis), harmless="indices_or_sections",
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

# --- diagonals and triangles --------------------------------------------------------------------------------


def _diag(y_bar: Any, v: Any, k: Any) -> Any:
    if np.ndim(v) == 1:
        return np.diagonal(y_bar, k)
    return rt.diagonal_bar(y_bar, v, k, 0, 1)


linear(
    np.diag, v=_diag, params="v, k=0",
    samples=[args(arr(3)), args(arr(3), k=-1), args(arr(3, 3)), args(arr(3, 4), 1), args(arr(4, 3), -2)],
)
linear(
    np.diagflat, v=lambda y_bar, v, k: np.reshape(np.diagonal(y_bar, k), np.shape(v)), params="v, k=0",
    samples=[args(arr(2, 2)), args(arr(3), 1)],
)
linear(
    np.diagonal, a=lambda y_bar, a, offset, axis1, axis2: rt.diagonal_bar(y_bar, a, offset, axis1, axis2),
    params="a, offset=0, axis1=0, axis2=1",
    samples=[
        args(arr(3, 3)), args(arr(3, 4), 2), args(arr(2, 3, 4), -1, 2, 1),
        args(arr(2, 3, 4), axis1=0, axis2=-1),
    ],
)
alias(np.diagonal, np.ndarray.diagonal)
linear(
    np.linalg.diagonal, params="x, /, *, offset=0",
    x=lambda y_bar, x, offset: rt.diagonal_bar(y_bar, x, offset, -2, -1),
    samples=[args(arr(3, 3)), args(arr(2, 3, 4), offset=1)],
)
linear(
    np.tril, m=lambda y_bar, k: np.tril(y_bar, k), params="m, k=0",
    samples=[args(arr(3, 3)), args(arr(2, 3, 4), -1)],
)
linear(
    np.triu, m=lambda y_bar, k: np.triu(y_bar, k), params="m, k=0",
    samples=[args(arr(3, 3)), args(arr(2, 3, 4), 1)],
)

# --- ranges between two ends --------------------------------------------------------------------------------


def _linspace_start(y_bar: Any, y: Any, start: Any, num: Any, endpoint: Any, retstep: Any, axis: Any) -> Any:
    """The weights of the start fall from 1 to 0 over the points."""
    if retstep:
        points_bar, step_bar = rt.whole(y_bar, y)
        points_bar = rt.weigh(1.0 - rt.fractions(num, endpoint), points_bar, axis)
        return rt.unbroadcast(points_bar - step_bar / (num - endpoint), start)
    return rt.unbroadcast(rt.weigh(1.0 - rt.fractions(num, endpoint), y_bar, axis), start)


def _linspace_stop(y_bar: Any, y: Any, stop: Any, num: Any, endpoint: Any, retstep: Any, axis: Any) -> Any:
    if retstep:
        points_bar, step_bar = rt.whole(y_bar, y)
        return rt.unbroadcast(
            rt.weigh(rt.fractions(num, endpoint), points_bar, axis) + step_bar / (num - endpoint), stop
        )
    return rt.unbroadcast(rt.weigh(rt.fractions(num, endpoint), y_bar, axis), stop)


linear(
    np.linspace, start=_linspace_start, stop=_linspace_stop, joint=True, harmless="dtype",
    params="start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None",
    samples=[
        args(num(), num(), 5), args(num(), num(), 4, endpoint=False), args(arr(3), num(), 5),
        args(num(), num(), 1),
        args(arr(2), arr(2), 3, axis=-1), args(num(), num(), num=0), args(num(), num(), 4, retstep=True),
        args(arr(2), num(), 4, False, True), args(num(), num(), 3, dtype=np.float64),
    ],
)


@model(
    np.logspace,
    samples=[
        args(num(), num(), 5), args(num(), num(), 4, endpoint=False, base=2.0), args(arr(3), num(), 5),
        args(num(), num(), 5, base=num(1.5, 3.0)), args(arr(3), arr(3), 4, axis=-1),
        args(arr(3), num(), 4, base=arr(3, low=1.5, high=3.0)), args(num(), num(), 3, dtype=np.float64),
    ],
)
def _logspace(
    start: Any, stop: Any, num: Any = 50, endpoint: Any = True, base: Any = 10.0, dtype: Any = None, axis: Any = 0
) -> Any:
    if np.ndim(base) > 0:
        rank = max(np.ndim(start), np.ndim(stop), np.ndim(base))
        start, stop, base = np.array(start, ndmin=rank), np.array(stop, ndmin=rank), np.array(base, ndmin=rank)
        base = np.expand_dims(base, axis)
    powers = np.power(base, np.linspace(start, stop, num, endpoint, axis=axis))
    return powers if dtype is None else powers.astype(dtype)


def _geomspace_start(y_bar: Any, y: Any, start: Any, num: Any, endpoint: Any, axis: Any) -> Any:
    """y = start^(1 - t) stop^t."""
    return rt.unbroadcast(rt.weigh(1.0 - rt.fractions(num, endpoint), y_bar * y, axis) / start, start)


def _geomspace_stop(y_bar: Any, y: Any, stop: Any, num: Any, endpoint: Any, axis: Any) -> Any:
    return rt.unbroadcast(rt.weigh(rt.fractions(num, endpoint), y_bar * y, axis) / stop, stop)


vjp(
    np.geomspace, start=_geomspace_start, stop=_geomspace_stop, harmless="dtype",
    params="start, stop, num=50, endpoint=True, dtype=None, axis=0",
    samples=[
        args(num(1, 2), num(3, 4), 5), args(num(1, 2), num(3, 4), 4, endpoint=False),
        args(arr(3, low=1.0), arr(3, low=3.0, high=4.0), 4, axis=-1), args(num(1, 2), num(3, 4), 3, dtype=np.float64),
    ],
)
jvp(
    np.geomspace,
    start=lambda start_dot, y, start, stop, num, endpoint, axis: y * np.linspace(
        start_dot / start, np.zeros_like(stop), num, endpoint, axis=axis),
    stop=lambda stop_dot, y, start, stop, num, endpoint, axis: y * np.linspace(
        np.zeros_like(start), stop_dot / stop, num, endpoint, axis=axis),
)


# An array of integers carries no derivative, so these arguments are floats. How many points there are is constant.
def _arange_start(y_bar: Any, start: Any, stop: Any) -> Any:
    """With one argument that is the end."""
    return rt.zeros_like(start) if stop is None else rt.cast(np.sum(y_bar), start)


vjp(
    np.arange, start=_arange_start, stop=lambda stop: rt.zeros_like(stop), harmless="dtype",
    step=lambda y_bar, step: rt.cast(np.sum(y_bar * np.arange(len(y_bar))), step),
    params="start, stop=None, step=1, dtype=None, *, device=None, like=None",
    samples=[
        args(num(0.1, 0.9), 4.0), args(num(0.1, 0.9), num(3.2, 3.8), num(0.4, 0.45)), args(num(3.2, 3.8)),
        args(num(2.1, 2.9), 0.0, -1.0), args(num(0.1, 0.9), 4.0, dtype=np.float64),
    ],
)
jvp(
    np.arange, start=lambda start_dot, y, stop: np.full_like(y, 0.0 if stop is None else start_dot),
    stop=lambda y: np.zeros_like(y), step=lambda step_dot, y: step_dot * np.arange(len(y)),
)


@model(
    np.apply_over_axes, samples=[args(np.sum, arr(2, 3, 4), [0, 2]), args(np.max, arr(2, 3), 1)],
)
def _apply_over_axes(func: Any, a: Any, axes: Any) -> Any:
    """A dimension that a call takes away comes back with length 1."""
    for axis in [axes] if isinstance(axes, int) else axes:
        made = func(a, axis)
        a = np.expand_dims(made, axis) if np.ndim(made) < np.ndim(a) else made
    return a


@model(np.ndenumerate)
def _ndenumerate(arr: Any) -> Any:
    return [(index, arr[index]) for index in np.ndindex(np.shape(arr))]


@model(np.ndarray.view)
def _view(a: Any, /, *dtype: Any) -> Any:
    if len(dtype) > 0:
        rt.no_derivative("ndarray.view", "as another dtype it has no rule; use astype")
    return a[...]


@model(np.fromfunction)
def _fromfunction(function: Any, shape: Any, *, dtype: Any = float, like: Any = None, **kwargs: Any) -> Any:
    return function(*np.indices(shape, dtype=dtype), **kwargs)


def windows_bar(g: Any, x: Any, window_shape: Any, axis: Any) -> Any:
    """The cotangent of ``x`` from that of its windows: each offset in the window is a slice of ``x``."""
    sizes = tuple(np.atleast_1d(window_shape).tolist())
    axes = range(np.ndim(x)) if axis is None else [int(a) % np.ndim(x) for a in np.atleast_1d(axis)]
    x_bar = np.zeros_like(x)
    for offset in np.ndindex(sizes):
        starts = [0] * np.ndim(x)
        for along, step in zip(axes, offset):
            starts[along] += step
        x_bar[tuple([slice(start, start + n) for start, n in zip(starts, np.shape(g))])] += g[(..., *offset)]
    return x_bar


linear(
    np.lib.stride_tricks.sliding_window_view, x=lambda y_bar, x, window_shape, axis: windows_bar(
        y_bar, x, window_shape, axis
    ),
    params="x, window_shape, axis=None, *, subok=False, writeable=False", harmless="writeable",
    samples=[args(arr(5), 2), args(arr(3, 4), (2, 3)), args(arr(3, 4), 2, axis=1), args(arr(3, 4), (2,), -2)],
)
linear(
    windows_bar, params="g, x, window_shape, axis", harmless="x",
    g=lambda y_bar, window_shape, axis: np.lib.stride_tricks.sliding_window_view(y_bar, window_shape, axis),
    samples=[args(arr(4, 2), np.ones(5), 2, None)],
)
refuse(
    np.lib.stride_tricks.as_strided,
    "strides are no indices: it may show any memory; use sliding_window_view, slices or np.broadcast_to",
)

# --- grids --------------------------------------------------------------------------------------------------

linear(
    np.broadcast_arrays, joint=True, params="*arrays, subok=False",
    arrays=lambda y_bar, arrays: tuple([rt.unbroadcast(y_bar[i], arrays[i]) for i in range(len(arrays))]),
    samples=[args(arr(3), arr(2, 1)), args(arr(2), num())],
)
@model(np.ix_, samples=[args(arr(3)), args(arr(3), arr(2)), args(np.array([0, 2]), arr(3), np.array([True, False]))])
def _ix(*args: Any) -> Any:
    """Each one along an axis of its own; masks say which places."""
    lines = [np.nonzero(a)[0] if np.asarray(a).dtype == bool else np.asarray(a) for a in args]
    return tuple([np.reshape(a, (1,) * k + (-1,) + (1,) * (len(args) - 1 - k)) for k, a in enumerate(lines)])


linear(
    np.meshgrid, joint=True, params="*xi, copy=True, sparse=False, indexing='xy'", harmless="sparse",
    xi=lambda y_bar, xi, indexing: rt.meshgrid_bar(y_bar, xi, indexing),
    samples=[args(arr(3), arr(2)), args(arr(3), arr(2), arr(4)), args(arr(3), arr(2), indexing="ij"),
             args(arr(3), arr(2), sparse=True)],
)

# --- memory -----------------------------------------------------------------------------------------------------------

describe(
    np.transpose, np.ndarray.transpose, np.swapaxes, np.ndarray.swapaxes, np.moveaxis, np.rollaxis, np.expand_dims,
    np.squeeze, np.ndarray.squeeze, np.matrix_transpose, np.flip, np.flipud, np.fliplr, np.rot90, result=Result.VIEW,
)
describe(np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit, result=Result.PARTS)
describe(np.reshape, np.ndarray.reshape, np.ravel, np.ndarray.ravel, result=Result.LAYOUT)
describe(
    np.ndarray.flatten, np.roll, np.copy, np.ndarray.copy, np.array, np.ndarray.astype, np.astype, np.ndarray.item,
    np.ndarray.tolist, np.full, np.full_like, np.repeat, np.ndarray.repeat, np.tile, np.concatenate, np.stack,
    np.vstack, np.hstack, np.dstack, np.column_stack, np.append, np.block, np.insert, np.delete, np.diagflat, np.tril,
    np.triu, np.linspace, np.meshgrid, np.pad, np.arange, np.ediff1d, result=Result.NEW,
)
describe(
    np.linalg.matrix_transpose, np.atleast_1d, np.atleast_2d, np.atleast_3d, np.asfortranarray, np.ascontiguousarray,
    np.asarray, np.asanyarray, np.asarray_chkfinite, np.require, np.broadcast_to, np.unstack, np.diag, np.diagonal,
    np.ndarray.diagonal, np.linalg.diagonal, np.lib.stride_tricks.sliding_window_view, np.broadcast_arrays,
    np.trim_zeros, result=Result.SHARED,
)
