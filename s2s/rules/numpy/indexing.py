"""Rules of functions that pick elements: getitem, take, diff, interp, select.
 A cotangent goes back to where its element came from; where an element was taken more than once, its
cotangents add up.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.core.functions import Computes, Result, Varies
from s2s.rules.functions import describe
from s2s.rules.samples import args, arr, num, takes
from s2s.rules.table import alias, jvp, linear, model, refuse, vjp

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


def take_adjoint(y_bar: Any, a: Any, indices: Any, axis: Any, mode: Any) -> Any:
    if mode == "wrap":
        indices = np.mod(indices, np.size(a) if axis is None else np.shape(a)[axis])
    if mode == "clip":
        indices = np.clip(indices, 0, np.size(a) - 1 if axis is None else np.shape(a)[axis] - 1)
    return rt.take_bar(y_bar, a, indices, axis)


linear(
    np.take, a=take_adjoint, params="a, indices, axis=None, out=None, mode='raise'",
    samples=[
        args(arr(5), [0, 0, 3]), args(arr(3, 4), [1, -1], axis=1), args(arr(3, 4), 5),
        args(arr(3, 4), 1, axis=0),
        args(arr(3, 4), np.array([[0, 1], [2, 2]]), axis=-2), args(arr(5), [7, -1], mode="wrap"),
        args(arr(3, 4), [7, -1, 2], axis=1, mode="clip"), args(arr(2, 3), [8, -1], mode="clip"),
    ],
)
alias(np.take, np.ndarray.take)
linear(
    np.take_along_axis,
    arr=lambda y_bar, arr, indices, axis: rt.take_along_axis_bar(y_bar, arr, indices, axis),
    # an older NumPy has no default: a call has to give the axis
    params="arr, indices, axis" + "=-1" * takes(np.take_along_axis, np.zeros(1), np.zeros(1, int)),
    samples=[args(arr(2, 3), np.array([[0, 0], [2, 1]]), axis=1), args(arr(4), np.array([3, 3]), axis=None)],
)
linear(
    np.compress, a=lambda y_bar, a, condition, axis: rt.take_bar(y_bar, a, np.flatnonzero(condition), axis),
    params="condition, a, axis=None, out=None",
    samples=[args(np.array([True, False, True]), arr(3)), args(np.array([False, True]), arr(2, 3), axis=0)],
)


alias(
    np.compress, np.ndarray.compress, params="a, condition, axis=None, out=None",
    samples=[args(arr(3), [True, False]), args(arr(3, 2), [True, False, True], 0)],
)
linear(
    np.extract, arr=lambda y_bar, arr, condition: rt.take_bar(y_bar, arr, np.flatnonzero(condition), None),
    params="condition, arr",
    samples=[args(np.array([True, False, True]), arr(3)), args(np.array([[False, True], [True, True]]), arr(2, 2))],
)

# --- differences and integrals ------------------------------------------------------------------------------



def diff_adjoint(y_bar: Any, a: Any, n: Any, axis: Any, prepend: Any, append: Any) -> Any:
    if prepend is None and append is None:
        return rt.diff_bar(y_bar, a, n, axis)
    return diff_parts(y_bar, a, n, axis, prepend, append)[1]


def diff_prepend(y_bar: Any, a: Any, n: Any, axis: Any, prepend: Any, append: Any) -> Any:
    return diff_parts(y_bar, a, n, axis, prepend, append)[0]


def diff_append(y_bar: Any, a: Any, n: Any, axis: Any, prepend: Any, append: Any) -> Any:
    return diff_parts(y_bar, a, n, axis, prepend, append)[2]


def diff_parts(g: Any, a: Any, n: int, axis: int, prepend: Any, append: Any) -> list[Any]:
    """The cotangents of ``prepend``, ``a`` and ``append`` from that of ``np.diff`` of the three together; None where
    there is none.
    """
    slab = (*np.shape(a)[: axis % np.ndim(a)], 1, *np.shape(a)[axis % np.ndim(a) + 1 :])
    parts = [
        part if part is None or np.ndim(part) else np.broadcast_to(part, slab)
        for part in (prepend, np.asarray(a), append)
    ]
    there = [part for part in parts if part is not None]
    pieces = rt.split_like(rt.diff_bar(g, np.concatenate(there, axis), n, axis), there, axis)
    first = 0 if prepend is None else 1
    return [
        None if prepend is None else rt.unbroadcast(pieces[0], prepend),
        rt.unbroadcast(pieces[first], a),
        None if append is None else rt.unbroadcast(pieces[-1], append),
    ]


linear(
    np.diff, a=diff_adjoint, prepend=diff_prepend, append=diff_append, joint=True,
    params="a, n=1, axis=-1, prepend=None, append=None",
    samples=[
        args(arr(5)), args(arr(5), 2), args(arr(3, 4), axis=0), args(arr(3, 4), n=0),
        args(arr(3, 4), n=3, axis=1), args(arr(5), prepend=num()), args(arr(3, 4), 2, 0, arr(1, 4), num()),
        args(arr(3, 4), prepend=0.0, append=arr(3, 2)),
    ],
)


def trapezoid_y(y_bar: Any, y: Any, x: Any, dx: Any, axis: Any) -> Any:
    """``y`` is the parameter here: the values that are integrated."""
    return np.expand_dims(y_bar, axis) * rt.trapezoid_weights(y, x, dx, axis)


def trapezoid_x(y_bar: Any, y: Any, x: Any, axis: Any) -> Any:
    return rt.trapezoid_x_bar(y_bar, y, x, axis)


def trapezoid_dx(y_bar: Any, y: Any, x: Any, dx: Any, axis: Any) -> Any:
    """Zero where ``x`` is given, as ``dx`` is not read then."""
    if x is not None:
        return 0.0
    return rt.unbroadcast(y_bar * np.trapezoid(y, axis=axis), dx)


vjp(
    np.trapezoid, y=trapezoid_y, x=trapezoid_x, dx=trapezoid_dx, params="y, x=None, dx=1.0, axis=-1",
    samples=[
        args(arr(5)), args(arr(5), dx=num()), args(arr(5), arr(5)), args(arr(3, 4), axis=0),
        args(arr(3, 4), arr(4)),
        args(arr(3, 4), arr(3, 4), axis=0), args(arr(3, 4), arr(3), axis=0),
    ],
)


def trapezoid_dx_dot(dx_dot: Any, y: Any, x: Any, axis: Any) -> Any:
    return (dx_dot if x is None else 0.0) * np.trapezoid(y, axis=axis)


jvp(
    np.trapezoid,
    y=lambda y_dot, x, dx, axis: np.trapezoid(y_dot, x, dx, axis),
    x=lambda x_dot, y, axis: np.trapezoid(y, x_dot, axis=axis),
    dx=trapezoid_dx_dot,
)


def interp_x(y_bar: Any, x: Any, xp: Any, fp: Any, period: Any) -> Any:
    """The slope of the piece; 0 outside, where the result is constant."""
    if period is not None:
        x, xp, fp, _ = rt.periodic(x, xp, fp, period)
    return rt.cast(y_bar * rt.interp_slope(x, xp, fp), x)


def interp_fp(y_bar: Any, x: Any, xp: Any, fp: Any, left: Any, right: Any, period: Any) -> Any:
    if period is not None:
        return rt.cast(rt.periodic_fp_bar(y_bar, x, xp, fp, period), fp)
    if left is not None:
        y_bar = np.where(x < xp[0], 0.0, y_bar)
    if right is not None:
        y_bar = np.where(x > xp[-1], 0.0, y_bar)
    return rt.cast(rt.interp_fp_bar(y_bar, x, xp, fp), fp)


def interp_xp(y_bar: Any, x: Any, xp: Any, fp: Any, period: Any) -> Any:
    """A knot that moves by d moves its pieces: the cotangent of its value, times minus the slope, at each
    point.
    """
    if period is not None:
        x_, xp_, fp_, _ = rt.periodic(x, xp, fp, period)
        return np.real(rt.periodic_fp_bar(-y_bar * rt.interp_slope(x_, xp_, fp_), x, xp, fp, period))
    return np.real(rt.interp_fp_bar(-y_bar * rt.interp_slope(x, xp, fp), x, xp, fp))


def _interp_end(y_bar: Any, outside: Any, period: Any) -> Any:
    """The cotangent of the value on one side; a periodic function has none."""
    return np.sum(np.where(outside, y_bar, 0.0)) if period is None else 0.0 * np.sum(y_bar)


def interp_period(period: Any) -> Any:
    return rt.no_derivative("the period of np.interp", "it has no rule; scale x and xp instead")


vjp(
    np.interp, x=interp_x, fp=interp_fp, xp=interp_xp,
    left=lambda y_bar, x, xp, period: _interp_end(y_bar, x < xp[0], period),
    right=lambda y_bar, x, xp, period: _interp_end(y_bar, x > xp[-1], period),
    period=interp_period, params="x, xp, fp, left=None, right=None, period=None",
    samples=[
        args(arr(4, low=0.1, high=2.9), np.arange(4.0), arr(4)), args(num(0.1, 0.9), np.arange(4.0), arr(4)),
        args(np.array([-1.0, 0.5, 1.7, 9.0]), np.arange(4.0), arr(4)),
        args(arr(2, 2, low=1.1, high=1.9), np.arange(4.0), arr(4)),
        args(np.array([-1.0, 0.5, 1.7, 9.0]), np.arange(4.0), arr(4), num(), num()),
        args(np.array([-1.0, 0.5, 9.0]), np.arange(4.0), arr(4), right=0.0),
        args(arr(3, low=0.1, high=0.9), np.arange(2.0), arr(2, complex=True)),
        args(arr(5, low=-9.0, high=9.0), np.array([0.5, 3.0, 1.2, -0.6]), arr(4), period=4.0),
        args(arr(3, low=-2.9, high=-2.1), arr(1, low=0.1, high=0.9), arr(1), period=4.0),
    ],
)


def interp_x_dot(x_dot: Any, x: Any, xp: Any, fp: Any, period: Any) -> Any:
    if period is not None:
        x, xp, fp, _ = rt.periodic(x, xp, fp, period)
    return x_dot * rt.interp_slope(x, xp, fp)


def interp_xp_dot(xp_dot: Any, x: Any, xp: Any, fp: Any, period: Any) -> Any:
    moved = np.interp(x, xp, xp_dot, period=period)
    if period is not None:
        x, xp, fp, _ = rt.periodic(x, xp, fp, period)
    return -rt.interp_slope(x, xp, fp) * moved


def interp_fp_dot(fp_dot: Any, x: Any, xp: Any, left: Any, right: Any, period: Any) -> Any:
    return np.interp(x, xp, fp_dot, None if left is None else 0.0, None if right is None else 0.0, period)


jvp(
    np.interp, x=interp_x_dot, xp=interp_xp_dot, fp=interp_fp_dot,
    left=lambda left_dot, x, xp, period: np.where((x < xp[0]) & (period is None), left_dot, 0.0),
    right=lambda right_dot, x, xp, period: np.where((x > xp[-1]) & (period is None), right_dot, 0.0),
    period=interp_period,
)


# --- slopes: differences over steps, weighted by the steps beside them (B. Fornberg, 1988) ---------------------------


def gradient_bar(g: Any, f: Any, varargs: Any, axis: Any, edge_order: Any) -> Any:
    """The cotangent of ``f`` from that of ``np.gradient(f, *varargs, axis=axis, edge_order=edge_order)``."""
    axes = gradient_axes(f, axis)
    parts = [g] if len(axes) == 1 else g
    given = varargs if len(varargs) == len(axes) else (varargs or (1.0,)) * len(axes)
    f_bar = np.zeros_like(f)
    for part, spacing, along in zip(parts, given, axes, strict=True):
        if part is not None:
            part = np.broadcast_to(part, np.shape(f))
            f_bar = f_bar + np.moveaxis(slope_bar(np.moveaxis(part, along, 0), spacing, edge_order), 0, along)
    return rt.cast(f_bar, f)


def gradient_axes(f: Any, axis: Any) -> tuple[int, ...]:
    """The axes that ``np.gradient`` takes slopes along."""
    if axis is None:
        return tuple(range(np.ndim(f)))
    return (int(axis),) if isinstance(axis, (int, np.integer)) else tuple(axis)


def slope_bar(g: Any, spacing: Any, edge_order: int) -> Any:
    """The cotangent of values from that of their slopes along the first axis."""
    n, rest = len(g), (1,) * (np.ndim(g) - 1)
    steps = np.full(n - 1, spacing, dtype=g.dtype) if np.ndim(spacing) == 0 else np.diff(spacing)
    steps = np.reshape(steps, (-1, *rest))
    share = steps[:-1] / (steps[:-1] + steps[1:])  # of the quotient after a point in its slope
    return ends_bar(quotients_bar_of(g, share, edge_order) / steps)


def quotients_bar_of(g: Any, share: Any, edge_order: int, one: float = 1.0) -> Any:
    """The cotangent of the quotients of differences from that of the slopes, along the first axis; where ``one`` is 0,
    its tangent from that of the shares."""
    quotients_bar = np.zeros((len(g) - 1, *g.shape[1:]), dtype=g.dtype)
    quotients_bar[1:] += share * g[1:-1]
    quotients_bar[:-1] += (one - share) * g[1:-1]
    quotients_bar[0] += one * g[0]
    quotients_bar[-1] += one * g[-1]
    if edge_order != 1:
        quotients_bar[:2] += np.stack([share[0] * g[0], -share[0] * g[0]])
        quotients_bar[-2:] += np.stack([-(one - share[-1]) * g[-1], (one - share[-1]) * g[-1]])
    return quotients_bar


def ends_bar(change: Any) -> Any:
    """The cotangent of values from that of their differences along the first axis."""
    zero = np.zeros_like(change[:1])
    return np.concatenate([zero, change]) - np.concatenate([change, zero])


def slope_bar_dot(g: Any, spacing: Any, spacing_dot: Any, edge_order: int) -> Any:
    """The tangent of ``slope_bar`` from that of the distance, or of the places, along the first axis."""
    if np.ndim(spacing) == 0:
        return -spacing_dot / spacing * slope_bar(g, spacing, edge_order)
    shape = (-1, *(1,) * (np.ndim(g) - 1))
    steps = np.reshape(np.diff(spacing), shape)
    steps_dot = np.reshape(np.diff(np.broadcast_to(spacing_dot, np.shape(spacing))), shape)
    share, share_dot = shares_and_dots(steps, steps_dot)
    bars = quotients_bar_of(g, share, edge_order)
    moved = quotients_bar_of(g, share_dot, edge_order, one=0.0)
    return ends_bar((moved - bars * (steps_dot / steps)) / steps)


def shares_and_dots(steps: Any, steps_dot: Any) -> tuple[Any, Any]:
    """The share of the quotient after a point in its slope, and its tangent from that of the steps."""
    both = steps[:-1] + steps[1:]
    share, share_dot = steps[:-1] / both, steps_dot[:-1] / both * (steps[1:] / both)
    return share, share_dot - share * (steps_dot[1:] / both)


def spacings_bar(y_bar: Any, y: Any, f: Any, varargs: Any, axis: Any, edge_order: Any) -> Any:
    """The cotangents of the distances of the points, the slopes going with one over them, or of their places."""
    axes = gradient_axes(f, axis)
    parts, slopes = ([y_bar], [y]) if len(axes) == 1 else (y_bar, y)
    if len(varargs) < len(axes):  # one distance for all axes
        each = [0.0 if part is None else -np.sum(part * slope) for part, slope in zip(parts, slopes, strict=True)]
        return (sum(each) / varargs[0],)
    return tuple([
        spacing_bar(part, slope, f, spacing, along, edge_order)
        for part, slope, spacing, along in zip(parts, slopes, varargs, axes)
    ])


def spacing_bar(g: Any, slope: Any, f: Any, spacing: Any, axis: int, edge_order: int) -> Any:
    """The cotangent of one distance, or of the places along one axis."""
    if g is None:
        return rt.zeros_like(spacing)
    if np.ndim(spacing) == 0:
        return -np.sum(g * slope) / spacing
    g = np.moveaxis(np.broadcast_to(g, np.shape(f)), axis, 0)
    return rt.cast(places_bar(g, np.moveaxis(f, axis, 0), spacing, edge_order), spacing)


def quotients_of(f: Any, places: Any) -> tuple[Any, Any, Any]:
    """The steps between places, the quotients of differences, and the share of the quotient after a point in its slope,
    along the first axis.
    """
    steps = np.reshape(np.diff(places), (-1, *(1,) * (np.ndim(f) - 1)))
    return steps, np.diff(f, axis=0) / steps, steps[:-1] / (steps[:-1] + steps[1:])


def places_bar(g: Any, f: Any, places: Any, edge_order: int) -> Any:
    """The cotangent of the places of points from that of the slopes there, along the first axis."""
    steps, quotients, share = quotients_of(f, places)
    first, inner, last = g[:1], g[1:-1], g[-1:]
    zero, bends = np.zeros_like(quotients[:1]), quotients[1:] - quotients[:-1]
    quotients_bar = np.concatenate([zero, share * inner]) + np.concatenate([(1.0 - share) * inner, zero])
    quotients_bar = quotients_bar + np.concatenate([first, np.zeros_like(quotients[1:])])
    quotients_bar = quotients_bar + np.concatenate([np.zeros_like(quotients[:-1]), last])
    share_bar = inner * bends
    if edge_order != 1:
        left, right = share[:1] * first, (1.0 - share[-1:]) * last
        quotients_bar = quotients_bar + np.concatenate([left, -left, np.zeros_like(quotients[2:])])
        quotients_bar = quotients_bar + np.concatenate([np.zeros_like(quotients[:-2]), -right, right])
        share_bar = share_bar - np.concatenate([first * bends[:1], np.zeros_like(bends[1:])])
        share_bar = share_bar - np.concatenate([np.zeros_like(bends[:-1]), last * bends[-1:]])
    both = steps[:-1] + steps[1:]
    change = share_bar / both
    steps_bar = np.concatenate([change * (steps[1:] / both), zero]) - np.concatenate([zero, change * share])
    steps_bar = np.sum(steps_bar - quotients_bar * quotients / steps, axis=tuple(range(1, np.ndim(f))))
    end = np.zeros_like(steps_bar[:1])
    return np.concatenate([end, steps_bar]) - np.concatenate([steps_bar, end])


def places_dot(places_dots: Any, f: Any, places: Any, edge_order: int) -> Any:
    """The tangent of the slopes from that of the places of points, along the first axis."""
    steps, quotients, share = quotients_of(f, places)
    steps_dot = np.reshape(np.diff(places_dots), np.shape(steps))
    changes = -quotients * steps_dot / steps
    _, share_dot = shares_and_dots(steps, steps_dot)
    bends = quotients[1:] - quotients[:-1]
    inner = (1.0 - share) * changes[:-1] + share * changes[1:] + share_dot * bends
    first, last = changes[:1], changes[-1:]
    if edge_order != 1:
        first = first + share[:1] * (changes[:1] - changes[1:2]) - share_dot[:1] * bends[:1]
        last = last + (1.0 - share[-1:]) * (changes[-1:] - changes[-2:-1]) - share_dot[-1:] * bends[-1:]
    return np.concatenate([first, inner, last])


vjp(
    np.gradient, varargs=spacings_bar,
    f=lambda y_bar, f, varargs, axis, edge_order: gradient_bar(y_bar, f, varargs, axis, edge_order),
    params="f, *varargs, axis=None, edge_order=1",
    samples=[
        args(arr(5)), args(arr(5), 0.5), args(arr(5), num(0.5, 1.0)), args(arr(4, 5), axis=0),
        args(arr(5), edge_order=2), args(arr(4, 5), num(0.5, 1.0), num(0.5, 1.0)), args(arr(4, 5), num(0.5, 1.0)),
        args(arr(5), np.array([0.0, 0.5, 1.7, 2.0, 3.0])), args(arr(4, 5), 0.5, np.array([0.0, 0.5, 1.7, 2.0, 3.0])),
        args(arr(4, 5), edge_order=2), args(arr(4, 5), np.array([0.0, 0.5, 1.7, 2.0]), axis=0, edge_order=2),
        args(arr(3), arr(3)), args(arr(4, 3), arr(3), axis=1), args(arr(4, 3), arr(4), num(0.5, 1.0)),
        args(arr(4, 5), arr(5), axis=1, edge_order=2), args(arr(3, 4), arr(3), arr(4), edge_order=2),
        args(arr(4, 5), axis=(1, 0)), args(arr(4, 5), 2.0, axis=(-1,)), args(arr(5), edge_order=0),
    ],
)


def gradient_f_dot(f_dot: Any, varargs: Any, axis: Any, edge_order: Any) -> Any:
    return np.gradient(f_dot, *varargs, axis=axis, edge_order=edge_order)


def gradient_spacings_dot(varargs_dot: Any, y: Any, f: Any, varargs: Any, axis: Any, edge_order: Any) -> Any:
    axes = gradient_axes(f, axis)
    slopes = [y] if len(axes) == 1 else y
    spacings, dots = varargs, varargs_dot
    if len(varargs) < len(axes):  # one distance for all axes
        spacings, dots = [varargs[0] for _ in axes], [varargs_dot[0] for _ in axes]
    made = [
        spacing_dot(dot, slope, f, spacing, along, edge_order)
        for dot, slope, spacing, along in zip(dots, slopes, spacings, axes)
    ]
    return made[0] if len(axes) == 1 else tuple(made)


def spacing_dot(dot: Any, slope: Any, f: Any, spacing: Any, axis: int, edge_order: int) -> Any:
    """The tangent of the slopes along one axis."""
    if np.ndim(spacing) == 0:
        return -dot / spacing * slope
    return np.moveaxis(places_dot(dot, np.moveaxis(f, axis, 0), spacing, edge_order), 0, axis)


def gradient_bar_spacings_dot(varargs_dot: Any, g: Any, f: Any, varargs: Any, axis: Any, edge_order: Any) -> Any:
    axes = gradient_axes(f, axis)
    parts = [g] if len(axes) == 1 else g
    given, dots = varargs, varargs_dot
    if len(varargs) < len(axes):  # one distance for all axes
        given, dots = [varargs[0] for _ in axes], [varargs_dot[0] for _ in axes]
    total = np.zeros_like(f)
    for part, spacing, dot, along in zip(parts, given, dots, axes):
        if part is not None:
            moved = np.moveaxis(np.broadcast_to(part, np.shape(f)), along, 0)
            total = total + np.moveaxis(slope_bar_dot(moved, spacing, dot, edge_order), 0, along)
    return rt.cast(total, f)


# The cotangent of the distances from <gradient_bar(g), v> = <g, np.gradient(v)>.
vjp(
    gradient_bar, params="g, f, varargs, axis, edge_order", harmless="f",
    g=lambda y_bar, varargs, axis, edge_order: np.gradient(y_bar, *varargs, axis=axis, edge_order=edge_order),
    varargs=lambda y_bar, g, varargs, axis, edge_order: spacings_bar(
        g, np.gradient(y_bar, *varargs, axis=axis, edge_order=edge_order), y_bar, varargs, axis, edge_order
    ),
    samples=[
        args(arr(5), np.ones(5), (num(0.5, 1.0),), None, 1), args(arr(5), np.ones(5), (arr(5, low=0.5),), None, 2),
        args((arr(3, 4), arr(3, 4)), np.ones((3, 4)), (num(0.5, 1.0),), None, 1),
        args((arr(3, 4), arr(3, 4)), np.ones((3, 4)), (arr(4), num(0.5, 1.0)), (1, 0), 1),
    ],
)
jvp(
    gradient_bar,
    g=lambda g_dot, f, varargs, axis, edge_order: gradient_bar(g_dot, f, varargs, axis, edge_order),
    varargs=gradient_bar_spacings_dot,
)
jvp(np.gradient, f=gradient_f_dot, varargs=gradient_spacings_dot)


@model(
    np.ediff1d,
    samples=[args(arr(5)), args(arr(2, 3), num()), args(arr(4), to_begin=arr(2)), args(arr(4), arr(2), num())],
)
def _ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """The ends are taken in the dtype of the array."""
    steps = np.diff(np.ravel(ary))
    if to_begin is not None:
        steps = np.concatenate([np.ravel(np.asarray(to_begin, steps.dtype)), steps])
    if to_end is not None:
        steps = np.concatenate([steps, np.ravel(np.asarray(to_end, steps.dtype))])
    return steps


# Between its jumps a result is the argument and a multiple of the period.
vjp(
    np.unwrap, p=lambda y_bar: y_bar, period=lambda y_bar, y, p, period: np.sum(y_bar * (y - p)) / period,
    params="p, discont=None, axis=-1, *, period=6.283185307179586", decides="discont axis",
    samples=[
        args(arr(5, low=-9.0, high=9.0)), args(arr(3, 4, low=-9.0, high=9.0), axis=0),
        args(np.array([0.0, 3.1, 6.2, 1.4]), period=num(4.0, 4.1)), args(arr(5, low=-9.0, high=9.0), 4.0),
    ],
)

jvp(np.unwrap, p=lambda p_dot: p_dot, period=lambda period_dot, y, p, period: period_dot * (y - p) / period)

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



def choose_bar(y_bar: Any, a: Any, choices: Any, mode: Any) -> Any:
    """Each choice gets the cotangent where it was taken."""
    if mode == "raise":
        which = a
    else:
        which = np.mod(a, len(choices)) if mode == "wrap" else np.clip(a, 0, len(choices) - 1)
    return rt.sequence_bar(
        [rt.unbroadcast(np.where(np.equal(which, i), y_bar, 0.0), choices[i]) for i in range(len(choices))], choices
    )


PICKS = np.array([0, 1, 1, 0])
linear(
    np.choose, choices=choose_bar, joint=True, params="a, choices, out=None, mode='raise'",
    samples=[
        args(PICKS, [arr(4), arr(4)]), args(PICKS, [arr(3, 4), num()]), args(PICKS + 1, [arr(4), num()], mode="clip"),
        args(PICKS + 1, (arr(4), arr(4)), mode="wrap"), args(PICKS, arr(2, 4)),
    ],
)
linear(
    np.ndarray.choose, choices=choose_bar, joint=True, params="a, choices, out=None, mode='raise'",
    samples=[args(PICKS, [arr(4), arr(4)]), args(PICKS + 1, [arr(4), arr(4)], mode="wrap")],
)


@model(
    np.piecewise,
    samples=[
        args(arr(4), [np.array([True, False, True, False])], [np.sin, np.cos]),
        args(arr(4), [np.array([True, False, True, False]), np.array([True, True, False, False])], [np.sin, 2.5]),
        args(arr(2), [np.array([True, False])], [np.exp, np.sin]),
        args(arr(2, 3), [np.array([True, False])], [np.exp, np.sin]),
        args(arr(2), [np.array([True, False])], [0.5, np.sin]),
    ],
)
def _piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    """Every function is applied to all of ``x``, and what holds last is chosen. A condition of lower rank is one of the
    first axes."""
    result = np.zeros_like(x)
    if len(funclist) > len(condlist):
        rest = funclist[len(condlist)]
        result = np.full_like(x, rest) if isinstance(rest, (int, float)) else rest(x, *args, **kw)
    for condition, piece in zip(condlist, funclist):
        chosen = piece if isinstance(piece, (int, float)) else piece(x, *args, **kw)
        inner = tuple(range(np.ndim(condition), np.ndim(x)))
        result = np.where(np.expand_dims(condition, inner) if inner else condition, chosen, result)
    return result


@model(
    np.apply_along_axis,
    samples=[
        args(np.sum, 0, arr(3, 4)), args(np.sort, 1, arr(2, 3)), args(np.cumsum, 0, arr(3, 2, 2)),
        args(np.linalg.norm, -1, arr(3, 4)),
    ],
)
def _apply_along_axis(func1d: Any, axis: Any, arr: Any, *args: Any, **kwargs: Any) -> Any:
    axis = axis % np.ndim(arr)
    lines = np.moveaxis(arr, axis, -1)
    made = np.stack([func1d(line, *args, **kwargs) for line in np.reshape(lines, (-1, lines.shape[-1]))])
    made = np.reshape(made, lines.shape[:-1] + made.shape[1:])
    return made if np.ndim(made) < np.ndim(arr) else np.moveaxis(made, np.ndim(arr) - 1, axis)


# --- functions that change their argument -------------------------------------------------------------------

IN_PLACE = "it changes its argument in place; build a new array with np.where or np.concatenate"
CHANGING = (
    np.put, np.place, np.putmask, np.copyto, np.put_along_axis, np.fill_diagonal, np.ndarray.put,
    np.ndarray.fill, np.ndarray.setflags, np.ndarray.resize,
)
for _changing in CHANGING:
    refuse(_changing, IN_PLACE)
refuse(np.ndarray.sort, "it changes its argument in place; write `a = np.sort(a)`")
refuse(np.ndarray.partition, "it changes its argument in place; write `a = np.sort(a)`")

# --- what else is known ---------------------------------------------------------------------------------------------

describe(
    np.take, np.ndarray.take, np.take_along_axis, np.compress, np.ndarray.compress, np.extract, np.select, np.choose,
    np.ndarray.choose, np.gradient, np.interp, result=Result.NEW,
)
describe(operator.getitem, np.diff, result=Result.SHARED)  # of no differences: what it was given
describe(np.compress, np.ndarray.compress, np.extract, varies=Varies.KIND)
describe(np.interp, computes=Computes.PIECES)
describe(
    operator.getitem, np.take, np.ndarray.take, np.take_along_axis, np.compress, np.ndarray.compress, np.extract,
    np.select, np.choose, np.ndarray.choose, computes=Computes.PLACED,
)
describe(np.diff, np.gradient, computes=Computes.DIFFERENCES)
