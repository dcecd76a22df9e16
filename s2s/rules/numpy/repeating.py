"""Rules of functions that repeat elements or put others around them: the transpose adds up what was repeated."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.core.functions import Computes
from s2s.rules.functions import describe
from s2s.rules.samples import args, arr, num, takes
from s2s.rules.table import alias, jvp, linear, model, vjp

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
        args(num(), 3), args(arr(2, 3), [2], axis=0), args(num(), [2], axis=0),
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
    """The elements again and again in their order; zeros where there are none."""
    if np.size(a) == 0:
        return np.zeros(new_shape, np.asarray(a).dtype)
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


def pad_adjoint(
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


def pad_constant_values(y_bar: Any, array: Any, pad_width: Any, mode: Any, constant_values: Any) -> Any:
    if isinstance(pad_width, dict):
        return rt.pad_value_bar(y_bar, array, widths_of(array, pad_width), constant_values)
    return rt.pad_value_bar(y_bar, array, pad_width, constant_values)


def pad_end_values(y_bar: Any, array: Any, pad_width: Any, mode: Any, stat_length: Any, end_values: Any) -> Any:
    return pad_stages_bar(y_bar, array, pad_width, mode, stat_length, end_values)[1]


def pad_dot(
    array_dot: Any, array: Any, pad_width: Any, mode: Any, stat_length: Any, end_values: Any, reflect_type: Any
) -> Any:
    if mode in STAGED:
        return pad_stages_dot(array_dot, 0.0, array, pad_width, mode, stat_length, end_values)
    if mode in ("reflect", "symmetric"):
        return np.pad(array_dot, pad_width, mode, reflect_type=reflect_type)
    if mode in ("constant", "edge", "wrap"):
        return np.pad(array_dot, pad_width, mode)
    return _refuse_mode(mode)


def pad_constant_values_dot(constant_values_dot: Any, array: Any, pad_width: Any) -> Any:
    return np.pad(np.zeros_like(array), pad_width, constant_values=constant_values_dot)


def pad_end_values_dot(
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
    np.pad, array=pad_adjoint, end_values=pad_end_values, constant_values=pad_constant_values,
    params=(
        "array, pad_width, mode='constant', *, constant_values=0, stat_length=None, end_values=0, reflect_type='even'"
    ),
    samples=[
        args(arr(3), 2), args(arr(2, 3), (1, 2)), args(arr(2, 3), ((0, 1), (2, 0))), args(arr(3), ((1, 2),)),
        args(arr(2, 3), 1, mode="constant", constant_values=7.0), args(arr(3), 1, constant_values=num()),
        args(arr(3), (1, 2), constant_values=(num(), num())),
        args(arr(2, 3), ((1, 2), (0, 3)), constant_values=((num(), 0.5), (num(), num()))),
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
jvp(np.pad, array=pad_dot, constant_values=pad_constant_values_dot, end_values=pad_end_values_dot)

# --- what else is known ---------------------------------------------------------------------------------------------

describe(np.repeat, np.ndarray.repeat, np.tile, np.pad, computes=Computes.PLACED)
