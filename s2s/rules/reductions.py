"""Rules of reductions and scans: sum, mean, var, std, prod, max, min, ptp, cumsum, cumprod, norms apart.
 A cotangent is written as small as it is, ``np.broadcast_to`` of the result's cotangent: the compiler lets
NumPy broadcast it in the product that follows. Ties of max and min share equally.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.rules.table import Sample, alias, args, arr, jvp, linear, num, vjp

REDUCTION = "a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True"


def _samples(**options: Any) -> list[Sample]:
    """Calls over all kinds of axes, of a reduction that has ``axis`` and ``keepdims``."""
    return [
        args(arr(5), **options), args(arr(3, 4), **options), args(arr(3, 4), axis=0, **options),
        args(arr(3, 4), axis=-1, keepdims=True, **options), args(arr(3, 4), keepdims=True, **options),
        args(arr(2, 3, 4), axis=(0, 2), **options),
        args(arr(2, 3, 4), axis=(-1, 0), keepdims=True, **options),
        args(arr(2, 3), axis=1, keepdims=False, **options), args(arr(), **options),
    ]


EMPTY = [args(arr(0)), args(arr(0, 3), axis=0), args(arr(0, 3), axis=1)]


# --- sum and mean -------------------------------------------------------------------------------------------


def _sum(y_bar: Any, a: Any, axis: Any, dtype: Any, keepdims: Any, where: Any) -> Any:
    if axis is not None and not keepdims:
        y_bar = np.expand_dims(y_bar, axis)
    if where is not True:
        y_bar = np.where(where, y_bar, 0.0)
    if dtype is not None:
        y_bar = rt.cast(y_bar, a)
    return np.broadcast_to(y_bar, np.shape(a))


linear(
    np.sum, a=_sum, params=REDUCTION,
    samples=[*_samples(), *EMPTY, args(arr(3, 2), where=np.array([True, False])), args(num())],
)
alias(np.sum, np.ndarray.sum)


def _mean(y_bar: Any, a: Any, axis: Any, dtype: Any, keepdims: Any) -> Any:
    if axis is None:
        y_bar = y_bar / np.size(a)
    elif isinstance(axis, int):
        y_bar = y_bar / np.shape(a)[axis]
    else:
        y_bar = y_bar / rt.axis_size(a, axis)
    if axis is not None and not keepdims:
        y_bar = np.expand_dims(y_bar, axis)
    if dtype is not None:
        y_bar = rt.cast(y_bar, a)
    return np.broadcast_to(y_bar, np.shape(a))


linear(
    np.mean, a=_mean, params="a, axis=None, dtype=None, out=None, keepdims=False, where=True",
    samples=_samples(),
)
alias(np.mean, np.ndarray.mean)


def _average(y_bar: Any, a: Any, axis: Any, weights: Any, keepdims: Any) -> Any:
    if axis is not None and not keepdims:
        y_bar = np.expand_dims(y_bar, axis)
    if weights is None:
        return np.broadcast_to(y_bar / rt.axis_size(a, axis), np.shape(a))
    w = rt.align_weights(weights, a, axis)
    return y_bar * (w / np.sum(w, axis=axis, keepdims=True))


def _average_weights(y_bar: Any, y: Any, a: Any, axis: Any, weights: Any, keepdims: Any) -> Any:
    if axis is not None and not keepdims:
        y_bar = np.expand_dims(y_bar, axis)
        y = np.expand_dims(y, axis)
    w = rt.align_weights(weights, a, axis)
    spread = y_bar * (a - y) / np.sum(w, axis=axis, keepdims=True)
    return np.reshape(rt.unbroadcast(spread, w), np.shape(weights))


vjp(
    np.average, a=_average, weights=_average_weights,
    params="a, axis=None, weights=None, returned=False, *, keepdims=False",
    samples=[
        args(arr(5)), args(arr(3, 4), axis=1), args(arr(5), weights=arr(5, low=0.5)),
        args(arr(3, 4), axis=1, weights=arr(4, low=0.5)), args(arr(3, 4), axis=0, weights=arr(3, 4, low=0.5)),
        args(arr(3, 4), axis=0, weights=arr(3, low=0.5), keepdims=True),
    ],
)

# --- var and std --------------------------------------------------------------------------------------------

SPREAD = "a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=0"


def _var(y_bar: Any, a: Any, axis: Any, ddof: Any, keepdims: Any) -> Any:
    if axis is not None and not keepdims:
        y_bar = np.expand_dims(y_bar, axis)
    return (2.0 / (rt.axis_size(a, axis) - ddof)) * y_bar * (a - np.mean(a, axis=axis, keepdims=True))


def _std(y_bar: Any, y: Any, a: Any, axis: Any, ddof: Any, keepdims: Any) -> Any:
    """0 where all values are equal, as the derivative of abs at 0."""
    scaled = y_bar / np.where(y == 0.0, 1.0, y)
    if axis is not None and not keepdims:
        scaled = np.expand_dims(scaled, axis)
    return scaled * (a - np.mean(a, axis=axis, keepdims=True)) / (rt.axis_size(a, axis) - ddof)


vjp(np.var, a=_var, params=SPREAD, samples=[*_samples(), *_samples(ddof=0), args(arr(3, 4), axis=0, ddof=1)])
vjp(np.std, a=_std, params=SPREAD, samples=[*_samples()[:-1], args(arr(3, 4), axis=0, ddof=1)])


@jvp(np.var)
def _var_dot(a: Any, a_dot: Any, axis: Any, ddof: Any, keepdims: Any) -> Any:
    away = a - np.mean(a, axis=axis, keepdims=True)
    return np.sum(away * a_dot, axis=axis, keepdims=keepdims) * (2.0 / (rt.axis_size(a, axis) - ddof))


@jvp(np.std)
def _std_dot(y: Any, a: Any, a_dot: Any, axis: Any, ddof: Any, keepdims: Any) -> Any:
    away = a - np.mean(a, axis=axis, keepdims=True)
    inner = np.sum(away * a_dot, axis=axis, keepdims=keepdims) / (rt.axis_size(a, axis) - ddof)
    return inner / np.where(y == 0.0, 1.0, y)


alias(np.var, np.ndarray.var)
alias(np.std, np.ndarray.std)

# --- prod ---------------------------------------------------------------------------------------------------


def _prod(y_bar: Any, a: Any, axis: Any, keepdims: Any) -> Any:
    if axis is not None and not keepdims:
        y_bar = np.expand_dims(y_bar, axis)
    return y_bar * rt.prod_partial(a, axis)


vjp(
    np.prod, a=_prod, params="a, axis=None, dtype=None, out=None, keepdims=False, initial=1, where=True",
    samples=[*_samples(), *EMPTY],
)


@jvp(np.prod)
def _prod_dot(a: Any, a_dot: Any, axis: Any, keepdims: Any) -> Any:
    return np.sum(rt.prod_partial(a, axis) * a_dot, axis=axis, keepdims=keepdims)


alias(np.prod, np.ndarray.prod)

# --- max and min --------------------------------------------------------------------------------------------


def _extreme(y_bar: Any, y: Any, a: Any, axis: Any, keepdims: Any) -> Any:
    """The cotangent goes to the elements that equal the result, in equal parts."""
    if axis is not None and not keepdims:
        y_bar = np.expand_dims(y_bar, axis)
        y = np.expand_dims(y, axis)
    chosen = a == y
    return np.where(chosen, y_bar / np.sum(chosen, axis=axis, keepdims=True, dtype=np.asarray(a).dtype), 0.0)


def _extreme_dot(y: Any, a: Any, a_dot: Any, axis: Any, keepdims: Any) -> Any:
    chosen = a == (y if axis is None or keepdims else np.expand_dims(y, axis))
    total = np.sum(np.where(chosen, a_dot, 0.0), axis=axis, keepdims=keepdims)
    return total / np.sum(chosen, axis=axis, keepdims=keepdims, dtype=np.asarray(a).dtype)


EXTREME = "a, axis=None, out=None, keepdims=False, initial=None, where=True"
vjp(np.max, a=_extreme, params=EXTREME, samples=_samples())
vjp(np.min, a=_extreme, params=EXTREME, samples=_samples())
jvp(np.max)(_extreme_dot)
jvp(np.min)(_extreme_dot)
alias(np.max, np.amax, np.ndarray.max)
alias(np.min, np.amin, np.ndarray.min)


def _ptp(y_bar: Any, a: Any, axis: Any, keepdims: Any) -> Any:
    if axis is not None and not keepdims:
        y_bar = np.expand_dims(y_bar, axis)
    top = a == np.max(a, axis=axis, keepdims=True)
    bottom = a == np.min(a, axis=axis, keepdims=True)
    dtype = np.asarray(a).dtype
    up = np.where(top, y_bar / np.sum(top, axis=axis, keepdims=True, dtype=dtype), 0.0)
    return up - np.where(bottom, y_bar / np.sum(bottom, axis=axis, keepdims=True, dtype=dtype), 0.0)


vjp(np.ptp, a=_ptp, params="a, axis=None, out=None, keepdims=False", samples=_samples())


# --- scans --------------------------------------------------------------------------------------------------


def _cumsum(y_bar: Any, a: Any, axis: Any, dtype: Any) -> Any:
    if dtype is not None:
        y_bar = rt.cast(y_bar, a)
    if axis is None:
        return np.reshape(rt.reverse_cumsum(y_bar, 0), np.shape(a))
    return rt.reverse_cumsum(y_bar, axis)


SCANS = [
    args(arr(5)), args(arr(3, 4)), args(arr(3, 4), axis=0), args(arr(3, 4), axis=-1), args(arr(0, 3), axis=0),
]
linear(np.cumsum, a=_cumsum, params="a, axis=None, dtype=None, out=None", samples=SCANS)
alias(np.cumsum, np.ndarray.cumsum)


def _cumprod(y_bar: Any, a: Any, axis: Any) -> Any:
    if axis is None:
        return np.reshape(rt.cumprod_bar(y_bar, np.ravel(a), 0), np.shape(a))
    return rt.cumprod_bar(y_bar, a, axis)


vjp(np.cumprod, a=_cumprod, params="a, axis=None, dtype=None, out=None", samples=SCANS)
alias(np.cumprod, np.ndarray.cumprod)
alias(
    np.cumsum, np.cumulative_sum, params="a, /, *, axis=None, dtype=None, out=None, include_initial=False",
    samples=[args(arr(5)), args(arr(3, 4), axis=1)],
)
alias(
    np.cumprod, np.cumulative_prod, params="a, /, *, axis=None, dtype=None, out=None, include_initial=False",
    samples=[args(arr(5)), args(arr(3, 4), axis=1)],
)

# --- without NaN --------------------------------------------------------------------------------------------


def _nansum(y_bar: Any, a: Any, axis: Any, keepdims: Any) -> Any:
    if axis is not None and not keepdims:
        y_bar = np.expand_dims(y_bar, axis)
    return np.where(np.isnan(a), 0.0, y_bar)


def _nanmean(y_bar: Any, a: Any, axis: Any, keepdims: Any) -> Any:
    if axis is not None and not keepdims:
        y_bar = np.expand_dims(y_bar, axis)
    there = ~np.isnan(a)
    return np.where(there, y_bar / np.sum(there, axis=axis, keepdims=True, dtype=np.asarray(a).dtype), 0.0)


vjp(np.nansum, a=_nansum, params=REDUCTION, samples=_samples())
vjp(np.nanmean, a=_nanmean, params="a, axis=None, dtype=None, out=None, keepdims=False", samples=_samples())
vjp(np.nanmax, a=_extreme, params=EXTREME, samples=_samples())
vjp(np.nanmin, a=_extreme, params=EXTREME, samples=_samples())
jvp(np.nanmax)(_extreme_dot)
jvp(np.nanmin)(_extreme_dot)
