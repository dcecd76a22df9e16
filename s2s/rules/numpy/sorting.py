"""Rules of functions that order elements and pick from the order: sort, partition, median, quantiles.

An ordered array is a permutation of its argument, and a quantile lies between two neighbours of the order. Cotangents
go back through the permutation, which is found again from the values; ties keep their order.
"""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.core.functions import Computes, Varies
from s2s.rules.functions import describe
from s2s.rules.samples import Sample, args, arr, num
from s2s.rules.table import jvp, model, refuse, vjp, zero

# --- sort and partition ---------------------------------------------------------------------------------------------


CAN_DESCEND = "descending" in inspect.signature(np.sort).parameters
"""NumPy 2.5 and later sort from the largest down."""


def sort_bar(y_bar: Any, a: Any, axis: Any, descending: Any) -> Any:
    if axis is None and descending:
        order = np.argsort(a, axis=None, stable=True, descending=True)  # type: ignore[call-arg]
        return rt.take_bar(y_bar, a, order, None)
    if axis is None:
        return rt.take_bar(y_bar, a, np.argsort(a, axis=None, kind="stable"), None)
    if descending:
        order = np.argsort(a, axis=axis, stable=True, descending=True)  # type: ignore[call-arg]
        return rt.take_along_axis_bar(y_bar, a, order, axis)
    return rt.take_along_axis_bar(y_bar, a, np.argsort(a, axis=axis, kind="stable"), axis)


vjp(
    np.sort, a=sort_bar, params="a, axis=-1, kind=None, order=None, *, stable=None, descending=None",
    samples=[
        args(arr(5)), args(arr(3, 4)), args(arr(3, 4), axis=0), args(arr(3, 4), axis=None), args(arr(0)),
        *([args(arr(3, 4), descending=True), args(arr(3, 4), axis=None, descending=True)] if CAN_DESCEND else []),
    ],
)


def sort_complex_bar(y_bar: Any, a: Any) -> Any:
    return rt.cast(rt.take_along_axis_bar(y_bar, a, np.argsort(a, axis=-1, kind="stable"), -1), a)


vjp(
    np.sort_complex, a=sort_complex_bar, params="a",
    samples=[args(arr(4)), args(arr(4, complex=True)), args(arr(2, 3, complex=True))],
)


def permuted_bar(g: Any, y: Any, a: Any, axis: Any) -> Any:
    """The cotangent of ``a`` from that of ``y``, the same elements in another order: matched through their ranks."""
    if axis is None:
        return np.reshape(permuted_bar(g, y, np.ravel(a), 0), np.shape(a))
    ranked = np.take_along_axis(g, np.argsort(y, axis=axis, kind="stable"), axis)
    return rt.take_along_axis_bar(ranked, a, np.argsort(a, axis=axis, kind="stable"), axis)


vjp(
    np.partition, a=lambda y_bar, y, a, axis: permuted_bar(y_bar, y, a, axis),
    params="a, kth, axis=-1, kind='introselect', order=None",
    samples=[
        args(arr(7), 2), args(arr(3, 5), (1, 3)), args(arr(3, 5), 1, axis=0), args(arr(3, 5), 4, axis=None),
    ],
)


def permuted_dot(a_dot: Any, y: Any, a: Any, axis: Any) -> Any:
    """The tangent of ``y``, the elements of ``a`` in another order."""
    if axis is None:
        return permuted_dot(np.ravel(a_dot), y, np.ravel(a), 0)
    y_dot = np.zeros_like(y)
    ranked = np.take_along_axis(a_dot, np.argsort(a, axis=axis, kind="stable"), axis)
    np.put_along_axis(y_dot, np.argsort(y, axis=axis, kind="stable"), ranked, axis)
    return y_dot


jvp(np.partition, a=lambda a_dot, y, a, axis: permuted_dot(a_dot, y, a, axis))

# --- quantiles ------------------------------------------------------------------------------------------------------


vjp(
    np.median, a=lambda y_bar, a, axis: quantile_bars(y_bar, a, 0.5, axis, "linear")[0], harmless="keepdims",
    params="a, axis=None, out=None, overwrite_input=False, keepdims=False",
    samples=[
        args(arr(5)), args(arr(6)), args(arr(3, 4)), args(arr(3, 4), axis=0),
        args(arr(3, 4), axis=-1, keepdims=True),
        args(arr(2, 3, 3), axis=(0, 2)),
    ],
)

jvp(
    np.median, a=lambda a_dot, a, axis, keepdims: quantile_dots(a_dot, 0.0, a, 0.5, axis, keepdims, "linear"),
)

POSITIONS_PER_PROBABILITY = {  # how far the place in the order moves with the probability, less the number of elements
    "linear": -1.0, "hazen": 0.0, "weibull": 1.0, "median_unbiased": 1.0 / 3.0, "normal_unbiased": 0.25,
    "interpolated_inverted_cdf": 0.0,
}
"""R. Hyndman, Y. Fan, "Sample quantiles in statistical packages" (1996): n + 1 - alpha - beta; other methods jump."""


def rows_of(a: Any, axis: Any) -> Any:
    """The elements that each quantile is of, in a row each."""
    a = np.asarray(a)
    axes = tuple(range(a.ndim)) if axis is None else tuple(np.atleast_1d(axis) % a.ndim)
    rest = [i for i in range(a.ndim) if i not in axes]
    return np.reshape(np.transpose(a, [*rest, *axes]), (-1, math.prod(a.shape[i] for i in axes)))


def rows_back(rows: Any, a: Any, axis: Any) -> Any:
    """The way back of ``rows_of``."""
    shape = np.shape(a)
    axes = tuple(range(len(shape))) if axis is None else tuple((np.atleast_1d(axis) % len(shape)).tolist())
    order = [*[i for i in range(len(shape)) if i not in axes], *axes]
    return np.transpose(np.reshape(rows, [shape[i] for i in order]), np.argsort(order))


def neighbours(rows: Any, q: Any, method: str, nan: bool, weights: Any) -> tuple[Any, Any, Any, Any]:
    """Which elements of each row the quantiles ``q`` lie between, how far on the way, and how far they move with ``q``.

    Where a quantile lies in the order is what NumPy says is the quantile of 0, 1, 2, ... With ``nan`` a row is as long
    as it has numbers. A quantile of elements with ``weights``, of the shape of ``rows``, is one of them.
    """
    if weights is not None:
        quantile = np.nanquantile if nan else np.quantile
        one = np.zeros((len(rows), len(q)), int)
        for k, (row, weight) in enumerate(zip(rows, weights)):
            values = quantile(row, q, weights=weight, method=method)  # type: ignore[call-overload]
            one[k] = np.argmax((row == values[:, None]) & (weight > 0), axis=1)
        return one, one, np.zeros(one.shape), np.zeros(one.shape)
    order = np.argsort(rows, axis=1, kind="stable")  # NaN is last
    counts = np.sum(~np.isnan(rows), axis=1) if nan else np.full(len(rows), rows.shape[1])
    low, high = np.zeros((2, len(rows), len(q)), int)
    way, rate = np.zeros((2, len(rows), len(q)))
    for n in np.unique(counts[counts > 0]).tolist():
        some = counts == n
        place = np.quantile(np.arange(float(n)), q, method=method)  # type: ignore[call-overload]
        below = np.clip(np.searchsorted(np.arange(n), place, side="right") - 1, 0, max(n - 2, 0))
        low[some] = order[some][:, below]
        high[some] = order[some][:, np.minimum(below + 1, n - 1)]
        way[some] = place - below
        inside = (place > 0.0) & (place < n - 1) | (method == "linear")
        rate[some] = inside * (n + POSITIONS_PER_PROBABILITY[method] if method in POSITIONS_PER_PROBABILITY else 0.0)
    return low, high, way, rate


def row_weights(weights: Any, a: Any, axis: Any) -> Any:
    """The weights of the elements that each quantile is of, in a row each; None where there are none."""
    if weights is None:
        return None
    return rows_of(np.broadcast_to(rt.align_weights(weights, a, axis), np.shape(a)), axis)


def quantile_bars(
    g: Any, a: Any, q: Any, axis: Any, method: str, weights: Any = None, nan: bool = False
) -> tuple[Any, Any]:
    """The cotangents of ``a`` and ``q`` from that of ``np.quantile(a, q, axis, method=method, weights=weights)``; with
    ``nan`` of ``np.nanquantile``.
    """
    rows = rows_of(a, axis)
    low, high, way, rate = neighbours(rows, np.ravel(q), method, nan, row_weights(weights, a, axis))
    bars = np.reshape(g, (np.size(q), len(rows))).T
    row = np.arange(len(rows))[:, None]
    first = row * np.shape(rows)[1]  # where a row begins
    rows_bar = rt.take_bar((1.0 - way) * bars, rows, first + low, None)
    rows_bar = rows_bar + rt.take_bar(way * bars, rows, first + high, None)
    q_bar = np.sum(bars * rate * (rows[row, high] - rows[row, low]), axis=0)
    return rt.cast(rows_back(rows_bar, a, axis), a), np.reshape(q_bar, np.shape(q))


def quantile_dots(
    a_dot: Any, q_dot: Any, a: Any, q: Any, axis: Any, keepdims: bool, method: str, weights: Any = None,
    nan: bool = False,
) -> Any:
    """The tangent of ``np.quantile(a, q, axis, keepdims=keepdims, method=method)`` from those of ``a`` and ``q``."""
    rows, rows_dot = rows_of(a, axis), rows_of(a_dot, axis)
    low, high, way, rate = neighbours(rows, np.ravel(q), method, nan, row_weights(weights, a, axis))
    row = np.arange(len(rows))[:, None]
    change = (1.0 - way) * rows_dot[row, low] + way * rows_dot[row, high]
    change = change + np.ravel(q_dot) * rate * (rows[row, high] - rows[row, low])
    kept = np.shape(np.sum(a, axis=axis, keepdims=keepdims))
    return np.reshape(change.T, np.shape(q) + kept)


def quantile_bar(y_bar: Any, a: Any, q: Any, axis: Any, method: Any, weights: Any) -> Any:
    return quantile_bars(y_bar, a, q, axis, method, weights)[0]


def quantile_q_bar(y_bar: Any, a: Any, q: Any, axis: Any, method: Any, weights: Any) -> Any:
    return rt.cast(quantile_bars(y_bar, a, q, axis, method, weights)[1], q)


def quantile_dot(a_dot: Any, a: Any, q: Any, axis: Any, keepdims: Any, method: Any, weights: Any) -> Any:
    return quantile_dots(a_dot, 0.0, a, q, axis, keepdims, method, weights)


def quantile_q_dot(q_dot: Any, a: Any, q: Any, axis: Any, keepdims: Any, method: Any, weights: Any) -> Any:
    return quantile_dots(np.zeros_like(a), q_dot, a, q, axis, keepdims, method, weights)


def percentile_bar(y_bar: Any, a: Any, q: Any, axis: Any, method: Any, weights: Any) -> Any:
    return quantile_bars(y_bar, a, np.divide(q, 100.0), axis, method, weights)[0]


def percentile_q_bar(y_bar: Any, a: Any, q: Any, axis: Any, method: Any, weights: Any) -> Any:
    return rt.cast(quantile_bars(y_bar, a, np.divide(q, 100.0), axis, method, weights)[1] / 100.0, q)


def percentile_dot(a_dot: Any, a: Any, q: Any, axis: Any, keepdims: Any, method: Any, weights: Any) -> Any:
    return quantile_dots(a_dot, 0.0, a, np.divide(q, 100.0), axis, keepdims, method, weights)


def percentile_q_dot(q_dot: Any, a: Any, q: Any, axis: Any, keepdims: Any, method: Any, weights: Any) -> Any:
    return quantile_dots(np.zeros_like(a), q_dot / 100.0, a, np.divide(q, 100.0), axis, keepdims, method, weights)


def nanquantile_bar(y_bar: Any, a: Any, q: Any, axis: Any, method: Any, weights: Any) -> Any:
    return quantile_bars(y_bar, a, q, axis, method, weights, True)[0]


def nanquantile_q_bar(y_bar: Any, a: Any, q: Any, axis: Any, method: Any, weights: Any) -> Any:
    return rt.cast(quantile_bars(y_bar, a, q, axis, method, weights, True)[1], q)


def nanquantile_dot(a_dot: Any, a: Any, q: Any, axis: Any, keepdims: Any, method: Any, weights: Any) -> Any:
    return quantile_dots(a_dot, 0.0, a, q, axis, keepdims, method, weights, True)


def nanquantile_q_dot(q_dot: Any, a: Any, q: Any, axis: Any, keepdims: Any, method: Any, weights: Any) -> Any:
    return quantile_dots(np.zeros_like(a), q_dot, a, q, axis, keepdims, method, weights, True)


def nanpercentile_bar(y_bar: Any, a: Any, q: Any, axis: Any, method: Any, weights: Any) -> Any:
    return quantile_bars(y_bar, a, np.divide(q, 100.0), axis, method, weights, True)[0]


def nanpercentile_q_bar(y_bar: Any, a: Any, q: Any, axis: Any, method: Any, weights: Any) -> Any:
    return rt.cast(quantile_bars(y_bar, a, np.divide(q, 100.0), axis, method, weights, True)[1] / 100.0, q)


def nanpercentile_dot(a_dot: Any, a: Any, q: Any, axis: Any, keepdims: Any, method: Any, weights: Any) -> Any:
    return quantile_dots(a_dot, 0.0, a, np.divide(q, 100.0), axis, keepdims, method, weights, True)


def nanpercentile_q_dot(q_dot: Any, a: Any, q: Any, axis: Any, keepdims: Any, method: Any, weights: Any) -> Any:
    return quantile_dots(np.zeros_like(a), q_dot / 100.0, a, np.divide(q, 100.0), axis, keepdims, method, weights, True)


def nanmedian_bar(y_bar: Any, a: Any, axis: Any) -> Any:
    return quantile_bars(y_bar, a, 0.5, axis, "linear", nan=True)[0]


def nanmedian_dot(a_dot: Any, a: Any, axis: Any, keepdims: Any) -> Any:
    return quantile_dots(a_dot, 0.0, a, 0.5, axis, keepdims, "linear", nan=True)


def _calls(scale: float) -> list[Sample]:
    """Calls with each kind of probability, axis and method; probabilities up to ``scale``."""
    few = np.array([0.1, 0.5, 0.83]) * scale
    jumping = ["lower", "higher", "midpoint", "nearest", "averaged_inverted_cdf"]
    smooth = ["hazen", "weibull", "median_unbiased"]
    return [
        args(arr(5), 0.3 * scale), args(arr(6), 0.5 * scale), args(arr(3, 4), few),
        args(arr(3, 4), 0.4 * scale, axis=1),
        args(arr(2, 3, 4), few, axis=(0, 2)), args(arr(3, 4), few, axis=0, keepdims=True),
        args(arr(3, 4), 0.7 * scale, keepdims=True), args(arr(5), 0.0), args(arr(5), 1.0 * scale),
        args(arr(5), num(0.05 * scale, 0.2 * scale)),
        args(arr(2, 5), arr(2, low=0.3 * scale, high=0.45 * scale), axis=1),
        *[args(arr(6), 0.33 * scale, method=m) for m in (*jumping, *smooth)],
        args(arr(6), num(0.35 * scale, 0.4 * scale), method="hazen"),
        args(arr(4), few, method="inverted_cdf", weights=np.array([1.0, 2.0, 0.0, 0.5])),
    ]


def _weighted(scale: float) -> list[Sample]:
    """Calls with weights that NumPy's functions without NaN do not take: of elements in several rows."""
    weights = np.array([[1.0, 2.0, 1.0], [0.5, 3.0, 1.0]])
    return [
        args(arr(2, 3), 0.4 * scale, method="inverted_cdf", weights=weights),
        args(arr(3, 2), [0.1 * scale, 0.6 * scale], axis=0, method="inverted_cdf", weights=np.array([1.0, 0.0, 0.5])),
    ]


def no_slope(weights: Any) -> Any:
    """Which element a quantile is changes with the weights only by jumps."""
    return np.zeros_like(weights)


def no_slope_dot(weights_dot: Any, y: Any) -> Any:
    return np.zeros_like(y)


QUANTILE = "a, q, axis=None, out=None, overwrite_input=False, method='linear', keepdims=False, *, weights=None"
SHAPED = "keepdims"  # it shapes the result, and no cotangent reads it
vjp(
    np.quantile, a=quantile_bar, q=quantile_q_bar, weights=no_slope, params=QUANTILE, harmless=SHAPED,
    samples=[*_calls(1.0), *_weighted(1.0)],
)
vjp(
    np.percentile, a=percentile_bar, q=percentile_q_bar, weights=no_slope, params=QUANTILE, harmless=SHAPED,
    samples=[*_calls(100.0), *_weighted(100.0)],
)
vjp(
    np.nanquantile, a=nanquantile_bar, q=nanquantile_q_bar, weights=no_slope, params=QUANTILE, harmless=SHAPED,
    samples=_calls(1.0),
)
vjp(
    np.nanpercentile, a=nanpercentile_bar, q=nanpercentile_q_bar, weights=no_slope, params=QUANTILE, harmless=SHAPED,
    samples=_calls(100.0),
)
jvp(np.quantile, a=quantile_dot, q=quantile_q_dot, weights=no_slope_dot)
jvp(np.percentile, a=percentile_dot, q=percentile_q_dot, weights=no_slope_dot)
jvp(np.nanquantile, a=nanquantile_dot, q=nanquantile_q_dot, weights=no_slope_dot)
jvp(np.nanpercentile, a=nanpercentile_dot, q=nanpercentile_q_dot, weights=no_slope_dot)
vjp(
    np.nanmedian, a=nanmedian_bar, params="a, axis=None, out=None, overwrite_input=False, keepdims=False",
    harmless=SHAPED,
    samples=[args(arr(5)), args(arr(6)), args(arr(3, 4), axis=0), args(arr(3, 4), axis=(0, 1), keepdims=True)],
)
jvp(np.nanmedian, a=nanmedian_dot)

# --- sets -----------------------------------------------------------------------------------------------------------

zero(np.ndarray.argpartition)


def unique_bar(g: Any, a: Any, axis: Any, equal_nan: bool) -> Any:
    """The cotangent of ``a`` from that of its distinct values, or rows: equal ones share."""
    values, inverse, counts = np.unique(a, return_inverse=True, return_counts=True, axis=axis, equal_nan=equal_nan)
    g = np.broadcast_to(g, np.shape(values))
    if axis is None:
        return np.reshape((g / counts)[np.ravel(inverse)], np.shape(a))
    g = np.moveaxis(g, axis, 0)
    shares = g / np.reshape(counts, (-1, *(1,) * (np.ndim(g) - 1)))
    return np.moveaxis(shares[np.ravel(inverse)], 0, axis)


def unique_adjoint(
    y_bar: Any, ar: Any, return_index: Any, return_inverse: Any, return_counts: Any, axis: Any, equal_nan: Any
) -> Any:
    if return_index or return_inverse or return_counts:
        y_bar = y_bar[0]
    return rt.cast(unique_bar(y_bar, ar, axis, equal_nan), ar)


def unique_dot(
    ar_dot: Any, y: Any, ar: Any, return_index: Any, return_inverse: Any, return_counts: Any, axis: Any, equal_nan: Any
) -> Any:
    _, inverse, counts = np.unique(ar, return_inverse=True, return_counts=True, axis=axis, equal_nan=equal_nan)
    lines = np.ravel(ar_dot) if axis is None else np.moveaxis(ar_dot, axis, 0)
    total = np.zeros((len(counts), *np.shape(lines)[1:]), np.asarray(ar_dot).dtype)
    np.add.at(total, np.ravel(inverse), lines)
    change = total / np.reshape(counts, (-1, *(1,) * (np.ndim(lines) - 1)))
    change = change if axis is None else np.moveaxis(change, 0, axis)
    several = return_index or return_inverse or return_counts
    return (change, *[np.zeros(np.shape(part)) for part in y[1:]]) if several else change


vjp(
    np.unique, ar=unique_adjoint,
    params=(
        "ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True, sorted=True"
    ),
    harmless="sorted",
    samples=[
        args(arr(5)), args(arr(2, 3)), args(arr(4), True), args(arr(4), return_inverse=True, return_counts=True),
        args(arr(3, 2), axis=0), args(arr(2, 3), return_counts=True, axis=-1), args(arr(3), equal_nan=False),
    ],
)
jvp(np.unique, ar=unique_dot)


@model(np.unique_values, samples=[args(arr(4))])
def _unique_values(x: Any) -> Any:
    return np.sort(np.unique(x, equal_nan=False))


@model(np.union1d, samples=[args(arr(3), arr(4)), args(arr(2, 2), arr(1))])
def _union1d(ar1: Any, ar2: Any) -> Any:
    return np.unique(np.concatenate([np.ravel(ar1), np.ravel(ar2)]))


@model(np.setdiff1d, samples=[args(arr(4), arr(2)), args(arr(2, 2), np.zeros(2)), args(arr(4), arr(2), True)])
def _setdiff1d(ar1: Any, ar2: Any, assume_unique: Any = False) -> Any:
    values = np.ravel(ar1) if assume_unique else np.unique(ar1)
    return values[np.isin(values, ar2, invert=True)]


@model(np.setxor1d, samples=[args(arr(4), arr(2)), args(arr(4), arr(2), assume_unique=True)])
def _setxor1d(ar1: Any, ar2: Any, assume_unique: Any = False) -> Any:
    return np.sort(np.concatenate([_setdiff1d(ar1, ar2, assume_unique), _setdiff1d(ar2, ar1, assume_unique)]))


UniqueAll: Any = type(np.unique_all(np.zeros(1)))
UniqueCounts: Any = type(np.unique_counts(np.zeros(1)))
UniqueInverse: Any = type(np.unique_inverse(np.zeros(1)))


@model(np.unique_all, samples=[args(arr(4)), args(arr(2, 3))])
def _unique_all(x: Any) -> Any:
    values, indices, inverse, counts = np.unique(
        x, return_index=True, return_inverse=True, return_counts=True, equal_nan=False,
    )
    return UniqueAll(values, indices, np.reshape(inverse, np.shape(x)), counts)


@model(np.unique_counts, samples=[args(arr(4)), args(arr(2, 3))])
def _unique_counts(x: Any) -> Any:
    values, counts = np.unique(x, return_counts=True, equal_nan=False)
    return UniqueCounts(values, counts)


@model(np.unique_inverse, samples=[args(arr(4)), args(arr(2, 3))])
def _unique_inverse(x: Any) -> Any:
    values, inverse = np.unique(x, return_inverse=True, equal_nan=False)
    return UniqueInverse(values, np.reshape(inverse, np.shape(x)))


refuse(np.intersect1d, "an element is in it only while two floats are exactly equal; index with np.isin instead")


# --- what else is known ---------------------------------------------------------------------------------------------

describe(
    np.unique, np.union1d, np.intersect1d, np.setdiff1d, np.setxor1d, np.unique_values, np.unique_all,
    varies=Varies.KIND,
)
describe(
    np.sort, np.sort_complex, np.partition, np.median, np.nanmedian, np.percentile, np.nanpercentile, np.quantile,
    np.nanquantile, computes=Computes.PIECES,
)
