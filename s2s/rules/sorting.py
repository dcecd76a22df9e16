"""Rules of functions that order elements and pick from the order: sort, partition, median, quantiles.

An ordered array is a permutation of its argument, and a quantile lies between two neighbours of the order. Cotangents
go back through the permutation, which is found again from the values; ties keep their order.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.rules.table import Sample, args, arr, jvp, num, refuse, vjp, zero

# --- sort and partition ---------------------------------------------------------------------------------------------


def _sort(y_bar: Any, a: Any, axis: Any) -> Any:
    if axis is None:
        return rt.take_bar(y_bar, a, np.argsort(a, axis=None, kind="stable"), None)
    return rt.take_along_axis_bar(y_bar, a, np.argsort(a, axis=axis, kind="stable"), axis)


vjp(
    np.sort, a=_sort, params="a, axis=-1, kind=None, order=None, *, stable=None",
    samples=[
        args(arr(5)), args(arr(3, 4)), args(arr(3, 4), axis=0), args(arr(3, 4), axis=None), args(arr(0)),
    ],
)


@jvp(np.sort)
def _sort_dot(a: Any, a_dot: Any, axis: Any) -> Any:
    if axis is None:
        return np.ravel(a_dot)[np.argsort(a, axis=None, kind="stable")]
    return np.take_along_axis(a_dot, np.argsort(a, axis=axis, kind="stable"), axis)


def _sort_complex(y_bar: Any, a: Any) -> Any:
    return rt.cast(rt.take_along_axis_bar(y_bar, a, np.argsort(a, axis=-1, kind="stable"), -1), a)


vjp(
    np.sort_complex, a=_sort_complex, params="a",
    samples=[args(arr(4)), args(arr(4, complex=True)), args(arr(2, 3, complex=True))],
)


def permuted_bar(g: Any, y: Any, a: Any, axis: Any) -> Any:
    """The cotangent of ``a`` from that of ``y``, the same elements in another order: matched through their ranks."""
    if axis is None:
        return np.reshape(permuted_bar(g, y, np.ravel(a), 0), np.shape(a))
    a_bar = np.zeros_like(g)
    ranked = np.take_along_axis(g, np.argsort(y, axis=axis, kind="stable"), axis)
    np.put_along_axis(a_bar, np.argsort(a, axis=axis, kind="stable"), ranked, axis)
    return a_bar


vjp(
    np.partition, a=lambda y_bar, y, a, axis: permuted_bar(y_bar, y, a, axis),
    params="a, kth, axis=-1, kind='introselect', order=None",
    samples=[
        args(arr(7), 2), args(arr(3, 5), (1, 3)), args(arr(3, 5), 1, axis=0), args(arr(3, 5), 4, axis=None),
    ],
)

# --- quantiles ------------------------------------------------------------------------------------------------------


def _median(y_bar: Any, a: Any, axis: Any, keepdims: Any) -> Any:
    return rt.median_bar(y_bar, a, axis, keepdims)


vjp(
    np.median, a=_median, params="a, axis=None, out=None, overwrite_input=False, keepdims=False",
    samples=[
        args(arr(5)), args(arr(6)), args(arr(3, 4)), args(arr(3, 4), axis=0),
        args(arr(3, 4), axis=-1, keepdims=True),
        args(arr(2, 3, 3), axis=(0, 2)),
    ],
)

POSITIONS_PER_PROBABILITY = {  # how far the place in the order moves with the probability, less the number of elements
    "linear": -1.0, "hazen": 0.0, "weibull": 1.0, "median_unbiased": 1.0 / 3.0, "normal_unbiased": 0.25,
    "interpolated_inverted_cdf": 0.0,
}
"""R. Hyndman, Y. Fan, "Sample quantiles in statistical packages" (1996): n + 1 - alpha - beta; other methods jump."""


def quantile_bars(g: Any, a: Any, q: Any, axis: Any, keepdims: bool, method: str, nan: bool = False) -> tuple[Any, Any]:
    """The cotangents of ``a`` and ``q`` from that of ``np.quantile(a, q, axis, keepdims, method)``; with ``nan`` of
    ``np.nanquantile``.

    Where a quantile lies in the order is what NumPy says is the quantile of 0, 1, 2, ...
    """
    a = np.asarray(a)
    axes = tuple(range(a.ndim)) if axis is None else tuple(np.atleast_1d(axis) % a.ndim)
    rest = [i for i in range(a.ndim) if i not in axes]
    order = [*rest, *axes]
    rows = np.reshape(np.transpose(a, order), (-1, math.prod(a.shape[i] for i in axes)))
    weights = np.reshape(g, (np.size(q), len(rows)))
    rows_bar, q_bar = np.zeros_like(rows), np.zeros(np.size(q))
    counts = np.sum(~np.isnan(rows), axis=1) if nan else np.full(len(rows), rows.shape[1])
    for n in np.unique(counts[counts > 0]).tolist():
        some = counts == n
        rows_bar[some], change = _quantiles_of_rows(rows[some], n, np.ravel(q), method, weights[:, some].T)
        q_bar += change
    a_bar = np.transpose(np.reshape(rows_bar, [a.shape[i] for i in order]), np.argsort(order))
    return a_bar, np.reshape(q_bar, np.shape(q))


def _quantiles_of_rows(rows: Any, n: int, q: Any, method: str, weights: Any) -> tuple[Any, Any]:
    """The cotangents of rows with ``n`` numbers each (NaN is ordered last) and of ``q``."""
    order = np.argsort(rows, axis=1, kind="stable")
    place = np.quantile(np.arange(float(n)), q, method=method)  # type: ignore[call-overload]
    low = np.clip(np.floor(place).astype(int), 0, max(n - 2, 0))
    high = np.minimum(low + 1, n - 1)
    rows_bar = np.zeros_like(rows)
    row = np.arange(len(rows))[:, None]
    np.add.at(rows_bar, (row, order[:, low]), (1.0 - (place - low)) * weights)
    np.add.at(rows_bar, (row, order[:, high]), (place - low) * weights)
    per_unit = n + POSITIONS_PER_PROBABILITY[method] if method in POSITIONS_PER_PROBABILITY else 0.0
    inside = (place > 0.0) & (place < n - 1) | (method == "linear")
    steps = rows[row, order[:, high]] - rows[row, order[:, low]]
    return rows_bar, np.sum(weights * steps, axis=0) * per_unit * inside


def quantile_bar(y_bar: Any, a: Any, q: Any, axis: Any, keepdims: Any, method: Any) -> Any:
    return quantile_bars(y_bar, a, q, axis, keepdims, method)[0]


def quantile_q_bar(y_bar: Any, a: Any, q: Any, axis: Any, keepdims: Any, method: Any) -> Any:
    return rt.cast(quantile_bars(y_bar, a, q, axis, keepdims, method)[1], q)


def percentile_bar(y_bar: Any, a: Any, q: Any, axis: Any, keepdims: Any, method: Any) -> Any:
    return quantile_bars(y_bar, a, np.divide(q, 100.0), axis, keepdims, method)[0]


def percentile_q_bar(y_bar: Any, a: Any, q: Any, axis: Any, keepdims: Any, method: Any) -> Any:
    return rt.cast(quantile_bars(y_bar, a, np.divide(q, 100.0), axis, keepdims, method)[1] / 100.0, q)


def nanquantile_bar(y_bar: Any, a: Any, q: Any, axis: Any, keepdims: Any, method: Any) -> Any:
    return quantile_bars(y_bar, a, q, axis, keepdims, method, True)[0]


def nanquantile_q_bar(y_bar: Any, a: Any, q: Any, axis: Any, keepdims: Any, method: Any) -> Any:
    return rt.cast(quantile_bars(y_bar, a, q, axis, keepdims, method, True)[1], q)


def nanpercentile_bar(y_bar: Any, a: Any, q: Any, axis: Any, keepdims: Any, method: Any) -> Any:
    return quantile_bars(y_bar, a, np.divide(q, 100.0), axis, keepdims, method, True)[0]


def nanpercentile_q_bar(y_bar: Any, a: Any, q: Any, axis: Any, keepdims: Any, method: Any) -> Any:
    return rt.cast(quantile_bars(y_bar, a, np.divide(q, 100.0), axis, keepdims, method, True)[1] / 100.0, q)


def nanmedian_bar(y_bar: Any, a: Any, axis: Any, keepdims: Any) -> Any:
    return quantile_bars(y_bar, a, 0.5, axis, keepdims, "linear", True)[0]


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
    ]


QUANTILE = "a, q, axis=None, out=None, overwrite_input=False, method='linear', keepdims=False, *, weights=None"
vjp(np.quantile, a=quantile_bar, q=quantile_q_bar, params=QUANTILE, samples=_calls(1.0))
vjp(np.percentile, a=percentile_bar, q=percentile_q_bar, params=QUANTILE, samples=_calls(100.0))
vjp(np.nanquantile, a=nanquantile_bar, q=nanquantile_q_bar, params=QUANTILE, samples=_calls(1.0))
vjp(np.nanpercentile, a=nanpercentile_bar, q=nanpercentile_q_bar, params=QUANTILE, samples=_calls(100.0))
vjp(
    np.nanmedian, a=nanmedian_bar, params="a, axis=None, out=None, overwrite_input=False, keepdims=False",
    samples=[args(arr(5)), args(arr(6)), args(arr(3, 4), axis=0), args(arr(3, 4), axis=(0, 1), keepdims=True)],
)

# --- sets -----------------------------------------------------------------------------------------------------------

zero(np.ndarray.argpartition, np.unique_counts, np.unique_inverse)
for _sets in (
    np.unique, np.unique_values, np.unique_all, np.union1d, np.intersect1d, np.setdiff1d, np.setxor1d,
):
    refuse(_sets, "the set of values has no derivative; use np.sort where their number is fixed")
