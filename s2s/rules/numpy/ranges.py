"""Rules of ranges between two ends and of grids: the result is linear in its ends."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.core.functions import Result
from s2s.models import arrays
from s2s.rules.functions import describe
from s2s.rules.samples import args, arr, num
from s2s.rules.table import jvp, linear, model, vjp, zero

# --- ranges between two ends --------------------------------------------------------------------------------


def linspace_start(y_bar: Any, y: Any, start: Any, num: Any, endpoint: Any, retstep: Any, axis: Any) -> Any:
    """The weights of the start fall from 1 to 0 over the points."""
    if retstep:
        points_bar, step_bar = rt.whole(y_bar, y)
        points_bar = rt.weigh(1.0 - rt.fractions(num, endpoint), points_bar, axis)
        return rt.unbroadcast(points_bar - step_bar / (num - endpoint), start)
    return rt.unbroadcast(rt.weigh(1.0 - rt.fractions(num, endpoint), y_bar, axis), start)


def linspace_stop(y_bar: Any, y: Any, stop: Any, num: Any, endpoint: Any, retstep: Any, axis: Any) -> Any:
    if retstep:
        points_bar, step_bar = rt.whole(y_bar, y)
        return rt.unbroadcast(
            rt.weigh(rt.fractions(num, endpoint), points_bar, axis) + step_bar / (num - endpoint), stop
        )
    return rt.unbroadcast(rt.weigh(rt.fractions(num, endpoint), y_bar, axis), stop)


linear(
    np.linspace, start=linspace_start, stop=linspace_stop, joint=True, harmless="dtype",
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


def geomspace_start(y_bar: Any, y: Any, start: Any, num: Any, endpoint: Any, axis: Any) -> Any:
    """y = start^(1 - t) stop^t."""
    return rt.unbroadcast(rt.weigh(1.0 - rt.fractions(num, endpoint), y_bar * y, axis) / start, start)


def geomspace_stop(y_bar: Any, y: Any, stop: Any, num: Any, endpoint: Any, axis: Any) -> Any:
    return rt.unbroadcast(rt.weigh(rt.fractions(num, endpoint), y_bar * y, axis) / stop, stop)


vjp(
    np.geomspace, start=geomspace_start, stop=geomspace_stop, harmless="dtype",
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
def arange_start(y_bar: Any, start: Any, stop: Any) -> Any:
    """With one argument that is the end."""
    return rt.zeros_like(start) if stop is None else rt.cast(np.sum(y_bar), start)


vjp(
    np.arange, start=arange_start, stop=lambda stop: rt.zeros_like(stop), harmless="dtype",
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
    if len(dtype) > 0 and np.dtype(dtype[0]) != a.dtype:
        rt.no_derivative("ndarray.view", "as another dtype it has no rule; use astype")
    return a[...]


@model(np.fromfunction)
def _fromfunction(function: Any, shape: Any, *, dtype: Any = float, like: Any = None, **kwargs: Any) -> Any:
    return function(*np.indices(shape, dtype=dtype), **kwargs)


def windows_bar(g: Any, x: Any, window_shape: Any, axis: Any) -> Any:
    """The cotangent of ``x`` from that of its windows: each offset in the window is a slice of ``x``."""
    sizes = tuple(np.atleast_1d(window_shape).tolist())
    axes = range(np.ndim(x)) if axis is None else [int(a) % np.ndim(x) for a in np.atleast_1d(axis)]
    x_bar = np.zeros(np.shape(x), dtype=np.asarray(g).dtype)
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
model(
    np.lib.stride_tricks.as_strided, samples=[args(arr(5), (3,)), args(arr(2, 3), (2, 2), (0, 0))],
)(arrays.as_strided)
linear(
    rt.gather, x=lambda y_bar, x, places: rt.take_bar(y_bar, x, places, None), params="x, places",
    samples=[args(arr(5), np.array([[0, 2], [2, 4]]))],
)
zero(rt.places_of_strides)
describe(rt.gather, result=Result.SHARED, of=(0,))
describe(rt.places_of_strides, reads=(), result=Result.NEW)

# --- iterators ------------------------------------------------------------------------------------------------------

model(np.broadcast)(arrays.broadcast)
model(np.fromiter, samples=[args([num(), num()], float)])(arrays.from_iterator)

# --- grids --------------------------------------------------------------------------------------------------

linear(
    np.broadcast_arrays, joint=True, params="*arrays, subok=False",
    arrays=lambda y_bar, arrays: tuple(
        [None if y_bar[i] is None else rt.unbroadcast(y_bar[i], arrays[i]) for i in range(len(arrays))]
    ),
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
