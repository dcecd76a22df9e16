"""Functions given by samples: cotangents of differences, integrals and interpolation."""

from __future__ import annotations

from typing import Any

import numpy as np


def fractions(count: int, endpoint: bool) -> Any:
    """Where the points of ``np.linspace(0, 1, count, endpoint)`` are."""
    return np.linspace(0.0, 1.0, count, endpoint=endpoint)


def diff_bar(g: Any, x: Any, n: int, axis: int) -> Any:
    """The cotangent of ``x`` from that of ``np.diff(x, n, axis)``."""
    for _ in range(min(n, np.shape(x)[axis])):
        zero = np.zeros_like(g, shape=with_length(np.shape(g), axis, 1))
        g = np.concatenate([zero, g], axis) - np.concatenate([g, zero], axis)
    return g


def trapezoid_weights(y: Any, x: Any, dx: Any, axis: int) -> Any:
    """The weights of the values in ``np.trapezoid``, in a shape that broadcasts against ``y`` and has its
    length.
    """
    steps = trapezoid_steps(y, x, dx, axis)
    ends = np.zeros_like(steps, shape=with_length(np.shape(steps), axis, 1))
    return 0.5 * (np.concatenate([ends, steps], axis) + np.concatenate([steps, ends], axis))


def trapezoid_steps(y: Any, x: Any, dx: Any, axis: int) -> Any:
    rank, length = np.ndim(y), np.shape(y)[axis]
    if x is None:
        shape = with_length((1,) * rank, axis, length - 1)
        return np.full(shape, dx, dtype=np.asarray(y).dtype)
    if np.ndim(x) == 1:
        return np.reshape(np.diff(x), with_length((1,) * rank, axis, length - 1))
    return np.diff(x, axis=axis)


def with_length(shape: tuple[int, ...], axis: int, length: int) -> tuple[int, ...]:
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


# --- interpolation --------------------------------------------------------------------------------------------------


def interp_piece(x: Any, xp: Any) -> Any:
    """The number of the piece that each ``x`` lies in; the outermost ones for what is outside."""
    return np.clip(np.searchsorted(xp, x, side="right") - 1, 0, len(xp) - 2)


def interp_slope(x: Any, xp: Any, fp: Any) -> Any:
    """The derivative of ``np.interp(x, xp, fp)`` by ``x``: the slope of the piece, 0 outside."""
    xp, fp = np.asarray(xp), np.asarray(fp)
    i = interp_piece(x, xp)
    inside = (np.asarray(x) >= xp[0]) & (np.asarray(x) <= xp[-1])
    return np.where(inside, (fp[i + 1] - fp[i]) / (xp[i + 1] - xp[i]), 0.0)


def interp_fp_bar(g: Any, x: Any, xp: Any, fp: Any) -> Any:
    """The cotangent of the values ``fp``: each point shares its own between the two knots around it."""
    xp = np.asarray(xp)
    i = interp_piece(x, xp)
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


def bin_of(x: Any, edges: Any, is_even: bool) -> Any:
    """The bin of ``np.histogram`` that each value is in; -1 for those that are in none. Where all bins have one width
    (``is_even``), it is found from the distance to the first edge, and set right by comparison, as rounding may be off
    by one."""
    x, last = np.asarray(x), len(edges) - 2
    inside = (x >= edges[0]) & (x <= edges[-1])
    known = np.where(inside, x, edges[0])
    if is_even:
        place = np.minimum(((known - edges[0]) * ((last + 1) / (edges[-1] - edges[0]))).astype(np.intp), last)
        place = place - (known < np.take(edges, place))
        place = place + ((known >= np.take(edges[1:], place)) & (place < last))
    else:
        place = np.minimum(np.searchsorted(edges, known, side="right") - 1, last)
    return np.where(inside, place, -1)
