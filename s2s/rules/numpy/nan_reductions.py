"""Rules of reductions without NaN: as if the elements were not there."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.rules.numpy.reductions import (
    EXTREME,
    MASKED,
    REDUCTION,
    SCANS,
    SPREAD,
    SPREAD_OF_MANY,
    STARTED,
    cumprod_along_dot,
    cumprod_bar,
    cumsum_bar,
    extreme_bar,
    extreme_initial_bar,
    masked_spread,
    over_axes,
    prod_bar,
    prod_dot,
    prod_initial_bar,
    prod_initial_dot,
    spread_of_own_dtype,
    var_mean,
)
from s2s.rules.numpy.ufunc_methods import OF_TYPE
from s2s.rules.samples import args, arr, num
from s2s.rules.table import jvp, requires, vjp


def nansum_bar(y_bar: Any, a: Any, axis: Any, keepdims: Any, where: Any, dtype: Any) -> Any:
    if axis is not None and not keepdims:
        y_bar = np.expand_dims(y_bar, axis)
    left_out = np.isnan(a) if where is True else np.isnan(a) | ~np.asarray(where)
    a_bar = np.where(left_out, 0.0, y_bar)
    return a_bar if dtype is None else rt.cast(a_bar, a)


def nanmean_bar(y_bar: Any, a: Any, axis: Any, keepdims: Any, where: Any, dtype: Any) -> Any:
    if axis is not None and not keepdims:
        y_bar = np.expand_dims(y_bar, axis)
    there = ~np.isnan(a) if where is True else ~np.isnan(a) & where
    a_bar = np.where(there, y_bar / np.sum(there, axis=axis, keepdims=True, dtype=np.asarray(a).dtype.type), 0.0)
    return a_bar if dtype is None else rt.cast(a_bar, a)


def nanvar_bar(y_bar: Any, a: Any, axis: Any, ddof: Any, keepdims: Any, where: Any, mean: Any, correction: Any) -> Any:
    if axis is not None and not keepdims:
        y_bar = np.expand_dims(y_bar, axis)
    return rt.cast(masked_spread(y_bar, a, axis, ddof + correction, ~np.isnan(a) & where, mean), a)


def nanstd_bar(
    y_bar: Any, y: Any, a: Any, axis: Any, ddof: Any, keepdims: Any, where: Any, mean: Any, correction: Any
) -> Any:
    return nanvar_bar(0.5 * y_bar / np.where(y == 0.0, 1.0, y), a, axis, ddof, keepdims, where, mean, correction)


def nanvar_mean(
    y_bar: Any, a: Any, axis: Any, ddof: Any, keepdims: Any, where: Any, mean: Any, correction: Any
) -> Any:
    return var_mean(y_bar, a, axis, ddof, keepdims, ~np.isnan(a) & where, mean, correction)


def nanstd_mean(
    y_bar: Any, y: Any, a: Any, axis: Any, ddof: Any, keepdims: Any, where: Any, mean: Any, correction: Any
) -> Any:
    halved = 0.5 * y_bar / np.where(y == 0.0, 1.0, y)
    return var_mean(halved, a, axis, ddof, keepdims, ~np.isnan(a) & where, mean, correction)


def nanprod_bar(y_bar: Any, a: Any, axis: Any, keepdims: Any, initial: Any, where: Any, dtype: Any) -> Any:
    return prod_bar(y_bar, a, axis, keepdims, initial, ~np.isnan(a) & where, dtype)


def nanprod_initial(y_bar: Any, a: Any, axis: Any, keepdims: Any, where: Any) -> Any:
    return prod_initial_bar(y_bar, a, axis, keepdims, ~np.isnan(a) & where)


def nancumsum_bar(y_bar: Any, a: Any, axis: Any, dtype: Any) -> Any:
    return np.where(np.isnan(a), 0.0, cumsum_bar(y_bar, a, axis, dtype))


def nancumprod_bar(y_bar: Any, a: Any, axis: Any, dtype: Any) -> Any:
    return np.where(np.isnan(a), 0.0, cumprod_bar(y_bar, np.where(np.isnan(a), 1.0, a), axis, dtype))


vjp(
    np.nansum, a=nansum_bar, initial=lambda y_bar: np.sum(y_bar), params=REDUCTION,
    samples=[*over_axes(), *MASKED, args(arr(3, 4), 0, initial=num()), OF_TYPE],
)
vjp(
    np.nanmean, a=nanmean_bar, params="a, axis=None, dtype=None, out=None, keepdims=False, where=True",
    samples=[*over_axes(), *MASKED, OF_TYPE],
)
vjp(np.nanvar, a=nanvar_bar, mean=nanvar_mean, params=SPREAD, harmless="dtype", samples=SPREAD_OF_MANY)
vjp(
    np.nanstd, a=nanstd_bar, mean=nanstd_mean, params=SPREAD, harmless="dtype",
    samples=SPREAD_OF_MANY,
)
requires(np.nanvar, np.nanstd)(spread_of_own_dtype)
vjp(
    np.nanprod, a=nanprod_bar, initial=nanprod_initial,
    params="a, axis=None, dtype=None, out=None, keepdims=False, initial=1, where=True",
    samples=[*over_axes(), *MASKED, OF_TYPE, args(arr(3, 4), 1, initial=num())],
)
vjp(np.nancumsum, a=nancumsum_bar, params="a, axis=None, dtype=None, out=None", samples=SCANS)
vjp(np.nancumprod, a=nancumprod_bar, params="a, axis=None, dtype=None, out=None", samples=SCANS)
vjp(np.nanmax, a=extreme_bar, initial=extreme_initial_bar, params=EXTREME, samples=[*over_axes(), *STARTED])
vjp(np.nanmin, a=extreme_bar, initial=extreme_initial_bar, params=EXTREME, samples=[*over_axes(), *STARTED])


def initial_tangent(initial_dot: Any, y: Any) -> Any:
    return np.broadcast_to(initial_dot, np.shape(y))


def nansum_dot(a_dot: Any, a: Any, axis: Any, keepdims: Any, where: Any) -> Any:
    return np.sum(a_dot, axis=axis, keepdims=keepdims, where=~np.isnan(a) & where)


def nanmean_dot(a_dot: Any, a: Any, axis: Any, keepdims: Any, where: Any) -> Any:
    return np.mean(a_dot, axis=axis, keepdims=keepdims, where=~np.isnan(a) & where)


def nanprod_dot(
    a_dot: Any, a: Any, axis: Any, dtype: Any, keepdims: Any, initial: Any, where: Any
) -> Any:
    return prod_dot(a_dot, a, axis, dtype, keepdims, initial, ~np.isnan(a) & where)


def nanprod_initial_dot(initial_dot: Any, a: Any, axis: Any, keepdims: Any, where: Any) -> Any:
    return prod_initial_dot(initial_dot, a, axis, keepdims, ~np.isnan(a) & where)


jvp(np.nansum, a=nansum_dot, initial=initial_tangent)
jvp(np.nanmean, a=nanmean_dot)
jvp(np.nanprod, a=nanprod_dot, initial=nanprod_initial_dot)
jvp(np.nancumsum, a=lambda a_dot, a, axis: np.cumsum(np.where(np.isnan(a), 0.0, a_dot), axis))


@jvp(np.nancumprod)
def nancumprod_dot(a: Any, a_dot: Any, axis: Any, dtype: Any) -> Any:
    return cumprod_along_dot(np.where(np.isnan(a), 1.0, a), np.where(np.isnan(a), 0.0, a_dot), axis, dtype)
