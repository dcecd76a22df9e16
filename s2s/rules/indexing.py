"""Rules of functions that pick elements: getitem, take, diff, interp, select.
 A cotangent goes back to where its element came from; where an element was taken more than once, its
cotangents add up.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.rules.table import alias, args, arr, jvp, linear, num, refuse, vjp

# The compiler accumulates into slices in place; this is the general form.
linear(
    operator.getitem, a=lambda y_bar, a, b: rt.index_bar(a, b, y_bar), params="a, b, /",
    samples=[
        args(arr(5), 2), args(arr(5), slice(1, -1)), args(arr(3, 4), (slice(None), -1)),
        args(arr(3, 4), [0, 0, 2]),
        args(arr(5), slice(None, None, -2)), args(arr(3, 4), (None, 1, ...)),
        args(arr(3), np.array([True, False, True])),
        args(arr(3, 4), (np.array([0, 0]), slice(1, 3))),
        args(arr(3, 4), (np.array([0, 0, 1]), np.array([1, 1, 2]))),
        args(arr(), ()), args([num(), num()], 1), args((num(), num(), num()), slice(1, None)),
        args({"a": num(), "b": num()}, "b"),
    ],
)


def _take(y_bar: Any, a: Any, indices: Any, axis: Any) -> Any:
    return rt.take_bar(y_bar, a, indices, axis)


linear(
    np.take, a=_take, params="a, indices, axis=None, out=None, mode='raise'",
    samples=[
        args(arr(5), [0, 0, 3]), args(arr(3, 4), [1, -1], axis=1), args(arr(3, 4), 5),
        args(arr(3, 4), 1, axis=0),
        args(arr(3, 4), np.array([[0, 1], [2, 2]]), axis=-2),
    ],
)
alias(np.take, np.ndarray.take)
linear(
    np.take_along_axis,
    arr=lambda y_bar, arr, indices, axis: rt.take_along_axis_bar(y_bar, arr, indices, axis),
    params="arr, indices, axis=-1",
    samples=[args(arr(2, 3), np.array([[0, 0], [2, 1]]), axis=1), args(arr(4), np.array([3, 3]), axis=None)],
)
linear(
    np.compress, a=lambda y_bar, a, condition, axis: rt.take_bar(y_bar, a, np.flatnonzero(condition), axis),
    params="condition, a, axis=None, out=None",
    samples=[args(np.array([True, False, True]), arr(3)), args(np.array([False, True]), arr(2, 3), axis=0)],
)


# --- differences and integrals ------------------------------------------------------------------------------

linear(
    np.diff, a=lambda y_bar, a, n, axis: rt.diff_bar(y_bar, a, n, axis),
    params="a, n=1, axis=-1, prepend=None, append=None",
    samples=[
        args(arr(5)), args(arr(5), 2), args(arr(3, 4), axis=0), args(arr(3, 4), n=0),
        args(arr(3, 4), n=3, axis=1),
    ],
)


def _trapezoid_y(y_bar: Any, y: Any, x: Any, dx: Any, axis: Any) -> Any:
    """``y`` is the parameter here: the values that are integrated."""
    return np.expand_dims(y_bar, axis) * rt.trapezoid_weights(y, x, dx, axis)


def _trapezoid_x(y_bar: Any, y: Any, x: Any, axis: Any) -> Any:
    return rt.trapezoid_x_bar(y_bar, y, x, axis)


def _trapezoid_dx(y_bar: Any, y: Any, x: Any, dx: Any, axis: Any) -> Any:
    """Zero where ``x`` is given, as ``dx`` is not read then."""
    if x is not None:
        return 0.0
    return rt.unbroadcast(y_bar * np.trapezoid(y, axis=axis), dx)


vjp(
    np.trapezoid, y=_trapezoid_y, x=_trapezoid_x, dx=_trapezoid_dx, params="y, x=None, dx=1.0, axis=-1",
    samples=[
        args(arr(5)), args(arr(5), dx=num()), args(arr(5), arr(5)), args(arr(3, 4), axis=0),
        args(arr(3, 4), arr(4)),
        args(arr(3, 4), arr(3, 4), axis=0), args(arr(3, 4), arr(3), axis=0),
    ],
)


def _interp_x(y_bar: Any, x: Any, xp: Any, fp: Any) -> Any:
    """The slope of the piece; 0 outside, where the result is constant."""
    return rt.cast(y_bar * rt.interp_slope(x, xp, fp), x)


def _interp_fp(y_bar: Any, x: Any, xp: Any, fp: Any) -> Any:
    return rt.interp_fp_bar(y_bar, x, xp, fp)


def _interp_xp(y_bar: Any, x: Any, xp: Any, fp: Any) -> Any:
    """A knot that moves by d moves its pieces: the cotangent of its value, times minus the slope, at each
    point.
    """
    return rt.interp_fp_bar(-y_bar * rt.interp_slope(x, xp, fp), x, xp, fp)


vjp(
    np.interp, x=_interp_x, fp=_interp_fp, xp=_interp_xp,
    params="x, xp, fp, left=None, right=None, period=None",
    samples=[
        args(arr(4, low=0.1, high=2.9), np.arange(4.0), arr(4)), args(num(0.1, 0.9), np.arange(4.0), arr(4)),
        args(np.array([-1.0, 0.5, 1.7, 9.0]), np.arange(4.0), arr(4)),
        args(arr(2, 2, low=1.1, high=1.9), np.arange(4.0), arr(4)),
    ],
)

# --- choosing -----------------------------------------------------------------------------------------------

linear(
    np.select, joint=True, params="condlist, choicelist, default=0",
    choicelist=lambda y_bar, condlist, choicelist: rt.select_bar(y_bar, condlist, choicelist),
    default=lambda y_bar, condlist, default: rt.unbroadcast(
        np.where(np.logical_or.reduce(np.broadcast_arrays(*condlist)), 0.0, y_bar), default
    ),
    samples=[
        args([np.array([True, False, False]), np.array([True, True, False])], [arr(3), arr(3)]),
        args([np.array([True, False, False]), np.array([True, True, False])], [arr(3), num()], num()),
    ],
)

# --- functions that change their argument -------------------------------------------------------------------

IN_PLACE = "it changes its argument in place; build a new array with np.where or np.concatenate"
for _changing in (
    np.put, np.place, np.putmask, np.copyto, np.put_along_axis, np.fill_diagonal, np.ndarray.put,
    np.ndarray.fill, np.ndarray.setflags, np.ndarray.resize,
):
    refuse(_changing, IN_PLACE)
refuse(np.ndarray.sort, "it changes its argument in place; write `a = np.sort(a)`")
refuse(np.ndarray.partition, "it changes its argument in place; write `a = np.sort(a)`")
