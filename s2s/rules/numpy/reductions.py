"""Rules of reductions and scans: sum, mean, var, std, prod, max, min, ptp, cumsum, cumprod, norms apart.
 A cotangent is written as small as it is, ``np.broadcast_to`` of the result's cotangent: the compiler lets
NumPy broadcast it in the product that follows. Ties of max and min share equally.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.core.functions import Computes, Result
from s2s.rules.functions import describe
from s2s.rules.samples import Sample, args, arr, num
from s2s.rules.table import alias, jvp, linear, requires, vjp

REDUCTION = "a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True"


def over_axes(**options: Any) -> list[Sample]:
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


def sum_bar(y_bar: Any, a: Any, axis: Any, dtype: Any, keepdims: Any, where: Any) -> Any:
    if axis is not None and not keepdims:
        y_bar = np.expand_dims(y_bar, axis)
    if where is not True:
        y_bar = np.where(where, y_bar, 0.0)
    if dtype is not None:
        y_bar = rt.cast(y_bar, a)
    return np.broadcast_to(y_bar, np.shape(a))


# Joint: a tangent of the start takes part in the sum of the tangents, and no start is zero.
linear(
    np.sum, a=sum_bar, initial=lambda y_bar: np.sum(y_bar), params=REDUCTION, joint=True,
    samples=[
        *over_axes(), *EMPTY, args(arr(3, 2), where=np.array([True, False])), args(num()), args(arr(3), initial=2.5),
        args(arr(3, 2), axis=0, initial=num()), args(arr(3, 2), 1, initial=num(), where=np.array([True, False])),
        args(arr(3, 2), axis=1, dtype=np.float64), args(arr(2, 3, complex=True), axis=0),
    ],
)
alias(np.sum, np.ndarray.sum)


def count(a: Any, axis: Any, where: Any) -> Any:
    """How many elements each result of a reduction takes together, in a shape that broadcasts against ``a``."""
    there = np.broadcast_to(where, np.shape(a))
    return np.sum(there, axis=axis, keepdims=True, dtype=np.asarray(a).real.dtype.type)


def mean_bar(y_bar: Any, a: Any, axis: Any, dtype: Any, keepdims: Any, where: Any) -> Any:
    if where is not True:
        if axis is not None and not keepdims:
            y_bar = np.expand_dims(y_bar, axis)
        made = rt.cast(np.where(where, y_bar / count(a, axis, where), 0.0), a)
        return np.broadcast_to(made, np.shape(a))
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


MASK = np.array([[True, False, True, True], [False, True, True, False], [True, True, False, True]])
MASKED = [
    args(arr(3, 4), where=MASK), args(arr(3, 4), axis=1, where=MASK),
    args(arr(3, 4), where=MASK[0]),
    args(arr(3, 4), axis=0, keepdims=True, where=MASK),
    args(arr(3, 4), axis=1, where=np.array([True, False, True, True])),
]
linear(
    np.mean, a=mean_bar, params="a, axis=None, dtype=None, out=None, keepdims=False, where=True",
    samples=[*over_axes(), *MASKED, args(arr(3, 2), axis=1, dtype=np.float64), args(arr(2, 3, complex=True), axis=0)],
)
alias(np.mean, np.ndarray.mean)


def average_bar(y_bar: Any, a: Any, axis: Any, weights: Any, returned: Any, keepdims: Any) -> Any:
    if returned:
        y_bar = y_bar[0]
    if axis is not None and not keepdims:
        y_bar = np.expand_dims(y_bar, axis)
    if weights is None:
        return np.broadcast_to(y_bar / rt.axis_size(a, axis), np.shape(a))
    w = rt.align_weights(weights, a, axis)
    return rt.cast(y_bar * (w / np.sum(w, axis=axis, keepdims=True)), a)


def average_weights(y_bar: Any, y: Any, a: Any, axis: Any, weights: Any, returned: Any, keepdims: Any) -> Any:
    total_bar: Any = 0.0
    if returned:
        y_bar, total_bar = rt.whole(y_bar, y)
        y = y[0]
    if axis is not None and not keepdims:
        y_bar, y = np.expand_dims(y_bar, axis), np.expand_dims(y, axis)
        total_bar = np.expand_dims(total_bar, axis) if returned else 0.0
    w = rt.align_weights(weights, a, axis)
    spread = y_bar * (a - y) / np.sum(w, axis=axis, keepdims=True) + total_bar
    return rt.cast(np.reshape(rt.unbroadcast(spread, w), np.shape(weights)), weights)


def average_dot(a_dot: Any, y: Any, axis: Any, weights: Any, returned: Any, keepdims: Any) -> Any:
    change = np.average(a_dot, axis, weights, keepdims=keepdims)
    return (change, np.zeros_like(y[1])) if returned else change


def average_weights_dot(
    weights_dot: Any, y: Any, a: Any, axis: Any, weights: Any, returned: Any, keepdims: Any
) -> Any:
    mean = y[0] if returned else y
    whole = mean if axis is None or keepdims else np.expand_dims(mean, axis)
    w, w_dot = rt.align_weights(weights, a, axis), rt.align_weights(weights_dot, a, axis)
    total = np.sum(np.broadcast_to(w, np.shape(a)), axis=axis, keepdims=keepdims)
    change = np.sum((a - whole) * w_dot, axis=axis, keepdims=keepdims) / total
    if not returned:
        return change
    return change, np.sum(np.broadcast_to(w_dot, np.shape(a)), axis=axis, keepdims=keepdims)


vjp(
    np.average, a=average_bar, weights=average_weights,
    params="a, axis=None, weights=None, returned=False, *, keepdims=False",
    samples=[
        args(arr(5)), args(arr(3, 4), axis=1), args(arr(5), weights=arr(5, low=0.5)),
        args(arr(3, 4), axis=1, weights=arr(4, low=0.5)), args(arr(3, 4), axis=0, weights=arr(3, 4, low=0.5)),
        args(arr(3, 4), axis=0, weights=arr(3, low=0.5), keepdims=True), args(arr(3, 4), axis=(0, 1)),
        args(arr(3, 4), 1, arr(4, low=0.5), True), args(arr(3, 4), weights=arr(3, 4, low=0.5), returned=True),
        args(arr(3, 4), 1, returned=True), args(arr(3, 4), 0, arr(3, low=0.5), returned=True, keepdims=True),
        args(arr(3, complex=True), weights=arr(3, low=0.5)),
    ],
)
jvp(np.average, a=average_dot, weights=average_weights_dot)

# --- var and std --------------------------------------------------------------------------------------------

SPREAD = "a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=0"


def var_bar(
    y_bar: Any, a: Any, axis: Any, ddof: Any, keepdims: Any, where: Any, mean: Any, correction: Any, dtype: Any
) -> Any:
    if axis is not None and not keepdims:
        y_bar = np.expand_dims(y_bar, axis)
    if where is not True:
        return rt.cast(masked_spread(y_bar, a, axis, ddof + correction, where, mean), a)
    away = a - (np.mean(a, axis=axis, keepdims=True) if mean is None else mean)
    if np.iscomplexobj(a):
        away = np.conj(away)
    number = np.size(a) if axis is None else rt.axis_size(a, axis)
    if isinstance(axis, int):
        number = np.shape(a)[axis]
    if ddof + correction != 0:
        number = number - (ddof + correction)
    a_bar = y_bar * away * (2.0 / number)
    return a_bar if dtype is None else rt.cast(a_bar, a)


def std_bar(
    y_bar: Any, y: Any, a: Any, axis: Any, ddof: Any, keepdims: Any, where: Any, mean: Any, correction: Any, dtype: Any
) -> Any:
    """0 where all values are equal, as the derivative of abs at 0."""
    scaled = y_bar / np.where(y == 0.0, 1.0, y)
    if axis is not None and not keepdims:
        scaled = np.expand_dims(scaled, axis)
    if where is not True:
        return rt.cast(0.5 * masked_spread(scaled, a, axis, ddof + correction, where, mean), a)
    away = a - (np.mean(a, axis=axis, keepdims=True) if mean is None else mean)
    if np.iscomplexobj(a):
        away = np.conj(away)
    number = np.size(a) if axis is None else rt.axis_size(a, axis)
    if isinstance(axis, int):
        number = np.shape(a)[axis]
    if ddof + correction != 0:
        number = number - (ddof + correction)
    a_bar = scaled * away / number
    return a_bar if dtype is None else rt.cast(a_bar, a)


def masked_spread(g: Any, a: Any, axis: Any, ddof: Any, where: Any, mean: Any) -> Any:
    """The cotangent of ``a`` from that of the variance of its elements ``where``; the others have no part, NaN or not.
    """
    number = count(a, axis, where)
    if mean is None:
        mean = np.sum(a, axis=axis, keepdims=True, where=where) / number
    away = np.where(where, np.conj(a - mean), 0.0)
    return np.where(where, (2.0 / (number - ddof)) * g * away, 0.0)


def var_mean(y_bar: Any, a: Any, axis: Any, ddof: Any, keepdims: Any, where: Any, mean: Any, correction: Any) -> Any:
    """Not 0: the mean that is given need not be that of the elements."""
    if axis is not None and not keepdims:
        y_bar = np.expand_dims(y_bar, axis)
    weight = -2.0 * y_bar / (count(a, axis, where) - ddof - correction)
    away = np.where(where, np.conj(a - mean), 0.0)
    return rt.unbroadcast(np.where(where, weight * away, 0.0), mean)


def std_mean(
    y_bar: Any, y: Any, a: Any, axis: Any, ddof: Any, keepdims: Any, where: Any, mean: Any, correction: Any
) -> Any:
    halved = 0.5 * y_bar / np.where(y == 0.0, 1.0, y)
    return var_mean(halved, a, axis, ddof, keepdims, where, mean, correction)


SPREAD_OF_MANY = [
    *over_axes()[:-1], *MASKED, args(arr(3, 4), axis=0, ddof=1), args(arr(3, 4), axis=1, correction=1.5),
    args(arr(3, 4), axis=1, where=MASK, ddof=1), args(arr(3, 4), axis=1, mean=arr(3, 1)),
    args(arr(3, 4), axis=1, mean=arr(3, 1), keepdims=True),
    args(arr(3, 4), axis=0, mean=arr(1, 4), keepdims=True, ddof=1),
    args(arr(3, 4), mean=np.ones((1, 1)), keepdims=True), args(arr(3, 4), axis=0, mean=arr(1, 4), where=MASK),
    args(arr(3, 4, complex=True), axis=0), args(arr(5), dtype=np.float64),
]
vjp(np.var, a=var_bar, mean=var_mean, params=SPREAD, samples=[*SPREAD_OF_MANY, args(arr())])
# A single element has no spread: the corner of the root.
vjp(np.std, a=std_bar, mean=std_mean, params=SPREAD, samples=SPREAD_OF_MANY)


@requires(np.var, np.std)
def spread_of_own_dtype(a: Any, dtype: Any) -> None:
    if dtype is not None and np.iscomplexobj(a):
        rt.no_derivative("a spread", "of complex numbers with dtype= it has no rule")


OF_METHODS = [s for s in SPREAD_OF_MANY if "correction" not in s.kwargs]
alias(np.var, np.ndarray.var, samples=OF_METHODS)
alias(np.std, np.ndarray.std, samples=OF_METHODS)

# --- prod ---------------------------------------------------------------------------------------------------


def prod_bar(y_bar: Any, a: Any, axis: Any, keepdims: Any, initial: Any, where: Any, dtype: Any) -> Any:
    x = a if dtype is None else np.asarray(a, dtype)
    if axis is not None and not keepdims:
        y_bar = np.expand_dims(y_bar, axis)
    if where is not True:
        return rt.cast(np.where(where, initial * y_bar * rt.prod_partial(np.where(where, x, 1.0), axis), 0.0), a)
    if initial != 1:
        y_bar = initial * y_bar
    a_bar = y_bar * rt.prod_partial(x, axis)
    return a_bar if dtype is None else rt.cast(a_bar, a)


def prod_initial_bar(y_bar: Any, a: Any, axis: Any, keepdims: Any, where: Any) -> Any:
    return np.sum(y_bar * np.prod(a, axis=axis, keepdims=keepdims, where=where))


vjp(
    np.prod, a=prod_bar, initial=prod_initial_bar,
    params="a, axis=None, dtype=None, out=None, keepdims=False, initial=1, where=True",
    samples=[
        *over_axes(), *EMPTY, *MASKED, args(arr(3, 4), axis=0, initial=2.5), args(arr(3, 4), axis=0, initial=num()),
        args(arr(3, 4), 1, initial=num(), where=MASK), args(arr(4), dtype=np.float64), args(arr(4, complex=True)),
    ],
)


def prod_dot(
    a_dot: Any, a: Any, axis: Any, dtype: Any, keepdims: Any, initial: Any, where: Any
) -> Any:
    if dtype is not None:
        a, a_dot = np.asarray(a, dtype), np.asarray(a_dot, dtype)
    partial = initial * rt.prod_partial(a if where is True else np.where(where, a, 1.0), axis)
    return np.sum(partial * a_dot, axis=axis, dtype=dtype, keepdims=keepdims, where=where)


def prod_initial_dot(initial_dot: Any, a: Any, axis: Any, keepdims: Any, where: Any) -> Any:
    return initial_dot * np.prod(a, axis=axis, keepdims=keepdims, where=where)


jvp(np.prod, a=prod_dot, initial=prod_initial_dot)
alias(np.prod, np.ndarray.prod)

# --- max and min --------------------------------------------------------------------------------------------


def extreme_bar(y_bar: Any, y: Any, a: Any, axis: Any, keepdims: Any, initial: Any, where: Any) -> Any:
    """The cotangent goes to the elements that equal the result, in equal parts."""
    if axis is not None and not keepdims:
        y_bar = np.expand_dims(y_bar, axis)
        y = np.expand_dims(y, axis)
    chosen = a == y if where is True else (a == y) & where
    number = np.sum(chosen, axis=axis, keepdims=True, dtype=np.asarray(a).dtype.type)
    if initial is not None:
        number = np.maximum(number + (initial == y), 1.0)
    return np.where(chosen, y_bar / number, 0.0)


def extreme_initial_bar(y_bar: Any, y: Any, a: Any, axis: Any, keepdims: Any, initial: Any, where: Any) -> Any:
    whole = y if axis is None or keepdims else np.expand_dims(y, axis)
    number = 1.0 + np.sum((a == whole) & where, axis=axis, keepdims=keepdims)
    return np.sum(np.where(initial == y, y_bar / number, 0.0))


EXTREME = "a, axis=None, out=None, keepdims=False, initial=None, where=True"
STARTED = [
    args(arr(3, 4), initial=num(0.5, 1.0)), args(arr(3, 4), axis=1, initial=num(-1.0, 1.0)),
    args(arr(3, 4), axis=0, keepdims=True, initial=num(0.1, 0.2), where=MASK),
    args(arr(3, 4), axis=1, initial=0.25, where=MASK), args(arr(0), initial=num()),
]
vjp(np.max, a=extreme_bar, initial=extreme_initial_bar, params=EXTREME, samples=[*over_axes(), *STARTED])
vjp(np.min, a=extreme_bar, initial=extreme_initial_bar, params=EXTREME, samples=[*over_axes(), *STARTED])
alias(np.max, np.amax, np.ndarray.max)
alias(np.min, np.amin, np.ndarray.min)


def ptp_bar(y_bar: Any, a: Any, axis: Any, keepdims: Any) -> Any:
    if axis is not None and not keepdims:
        y_bar = np.expand_dims(y_bar, axis)
    top = a == np.max(a, axis=axis, keepdims=True)
    bottom = a == np.min(a, axis=axis, keepdims=True)
    dtype = np.asarray(a).dtype.type
    up = np.where(top, y_bar / np.sum(top, axis=axis, keepdims=True, dtype=dtype), 0.0)
    return up - np.where(bottom, y_bar / np.sum(bottom, axis=axis, keepdims=True, dtype=dtype), 0.0)


vjp(np.ptp, a=ptp_bar, params="a, axis=None, out=None, keepdims=False", samples=over_axes())


# --- scans --------------------------------------------------------------------------------------------------


def cumsum_bar(y_bar: Any, a: Any, axis: Any, dtype: Any) -> Any:
    if dtype is not None:
        y_bar = rt.cast(y_bar, a)
    if axis is None:
        return np.reshape(rt.reverse_cumsum(y_bar, 0), np.shape(a))
    return rt.reverse_cumsum(y_bar, axis)


SCANS = [
    args(arr(5)), args(arr(3, 4)), args(arr(3, 4), axis=0), args(arr(3, 4), axis=-1), args(arr(0, 3), axis=0),
    args(arr(3, 4), axis=1, dtype=np.float64),
]
linear(np.cumsum, a=cumsum_bar, params="a, axis=None, dtype=None, out=None", samples=SCANS)
alias(np.cumsum, np.ndarray.cumsum)


def cumprod_bar(y_bar: Any, a: Any, axis: Any, dtype: Any) -> Any:
    x = a if dtype is None else np.asarray(a, dtype)
    if axis is None:
        a_bar = np.reshape(rt.cumprod_bar(y_bar, np.ravel(x), 0), np.shape(a))
    else:
        a_bar = rt.cumprod_bar(y_bar, x, axis)
    return a_bar if dtype is None else rt.cast(a_bar, a)


vjp(np.cumprod, a=cumprod_bar, params="a, axis=None, dtype=None, out=None", samples=SCANS)


@jvp(np.cumprod)
def cumprod_along_dot(a: Any, a_dot: Any, axis: Any, dtype: Any) -> Any:
    """The product rule along the scan: d_k = d_(k-1) a_k + y_(k-1) a_dot_k."""
    if dtype is not None:
        a, a_dot = np.asarray(a, dtype), np.asarray(a_dot, dtype)
    if axis is None:
        return cumprod_dot(np.ravel(a), np.ravel(a_dot), 0)
    return cumprod_dot(a, a_dot, axis)


alias(np.cumprod, np.ndarray.cumprod)


def cumprod_dot(a: Any, a_dot: Any, axis: int) -> Any:
    """The tangent of ``np.cumprod(a, axis)``, right where ``a`` has zeros."""
    a, a_dot = np.moveaxis(a, axis, 0), np.moveaxis(a_dot, axis, 0)
    change = np.array(a_dot)
    product = np.ones_like(a[0]) if len(a) else None
    for k in range(len(a)):
        change[k] = a_dot[k] * product + (change[k - 1] * a[k] if k else 0.0)
        product = product * a[k]
    return np.moveaxis(change, 0, axis)


def without_first(g: Any, axis: int) -> Any:
    """``g`` but its first element along an axis."""
    return g[(slice(None),) * (axis % np.ndim(g)) + (slice(1, None),)]


def cumulative_sum_bar(y_bar: Any, a: Any, axis: Any, dtype: Any, include_initial: Any) -> Any:
    along = 0 if axis is None else axis
    g = without_first(y_bar, along) if include_initial else y_bar
    a_bar = rt.reverse_cumsum(g, along)
    return a_bar if dtype is None else rt.cast(a_bar, a)


def cumulative_prod_bar(y_bar: Any, a: Any, axis: Any, dtype: Any, include_initial: Any) -> Any:
    along = 0 if axis is None else axis
    g = without_first(y_bar, along) if include_initial else y_bar
    a_bar = rt.cumprod_bar(g, a if dtype is None else np.asarray(a, dtype), along)
    return a_bar if dtype is None else rt.cast(a_bar, a)


CUMULATIVE = "a, /, *, axis=None, dtype=None, out=None, include_initial=False"
CUMULATED = [
    args(arr(5)), args(arr(3, 4), axis=1), args(arr(3, 4), axis=-2, include_initial=True),
    args(arr(4), dtype=np.float64),
]
linear(np.cumulative_sum, a=cumulative_sum_bar, params=CUMULATIVE, samples=CUMULATED)
vjp(np.cumulative_prod, a=cumulative_prod_bar, params=CUMULATIVE, samples=CUMULATED)


@jvp(np.cumulative_prod)
def cumulative_prod_dot(a: Any, a_dot: Any, axis: Any, dtype: Any, include_initial: Any) -> Any:
    along = 0 if axis is None else axis
    if dtype is not None:
        a, a_dot = np.asarray(a, dtype), np.asarray(a_dot, dtype)
    change = cumprod_dot(a, a_dot, along)
    if not include_initial:
        return change
    return np.concatenate([np.zeros_like(np.take(change, [0], along)), change], axis=along)


# --- what else is known ---------------------------------------------------------------------------------------------

describe(
    np.sum, np.ndarray.sum, np.mean, np.ndarray.mean, np.cumsum, np.ndarray.cumsum, np.cumulative_sum, np.trapezoid,
    result=Result.NEW,
)
describe(
    np.max, np.min, np.amax, np.amin, np.ndarray.max, np.ndarray.min, np.nanmax, np.nanmin, np.prod,
    np.ndarray.prod, np.nanprod, np.cumprod, np.ndarray.cumprod, np.nancumprod, np.cumulative_prod,
    computes=Computes.PIECES,
)
describe(
    np.sum, np.ndarray.sum, np.mean, np.ndarray.mean, np.cumsum, np.ndarray.cumsum, np.cumulative_sum, np.nansum,
    np.nanmean, np.nancumsum, computes=Computes.TOTAL,
)
describe(np.ptp, np.var, np.std, np.ndarray.var, np.ndarray.std, computes=Computes.DIFFERENCES)
