"""Rules of the ``statistics`` module: floats in sequences, one float out. The sums are those of plain floats: the
module itself adds exactly, which may differ in the last digit.
"""

from __future__ import annotations

import math
import statistics
import sys
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.rules.samples import args, arr, num
from s2s.rules.table import model, refuse, zero

NUMBERS = [args([num(0.5, 2), num(0.5, 2), num(0.5, 2)]), args((num(0.5, 2), num(0.5, 2))), args(arr(4, low=0.5))]


def _sum(data: Any) -> Any:
    """The sum in the numbers' own type, where ``math.fsum`` gives a float."""
    total = 0.0
    for x in data:
        total = total + x
    return total


def _check_positive(data: Any) -> None:
    """Raise StatisticsError for numbers that have no harmonic mean."""
    if any(x < 0 for x in data):
        raise statistics.StatisticsError("harmonic mean does not support negative values")


def _check_ordered(data: Any) -> None:
    """Refuse numbers that have no order: where NaN lies decides what is in the middle."""
    if np.any(np.isnan(np.asarray(data))):
        rt.no_derivative("a function of statistics", "NaN has no place in an order")


zero(_check_positive, _check_ordered)


def _require(data: Any, weights: Any = None, count: int = 1) -> None:
    """Raise StatisticsError for too few numbers, or another count of weights."""
    if len(data) < count or (weights is not None and len(weights) != len(data)):
        raise statistics.StatisticsError("too few data points, or weights that do not match them")


@model(statistics.mean, samples=NUMBERS)
def _mean(data: Any) -> Any:
    return _sum(data) / len(data)


@model(statistics.fmean, samples=[*NUMBERS, args([num(), num()], [num(0.5, 1), num(0.5, 1)])])
def _fmean(data: Any, weights: Any = None) -> Any:
    _require(data, weights)
    if weights is None:
        return math.fsum(data) / len(data)
    return math.fsum([w * x for w, x in zip(weights, data)]) / math.fsum(weights)


@model(statistics.geometric_mean, samples=NUMBERS)
def _geometric_mean(data: Any) -> Any:
    return math.exp(math.fsum([math.log(x) for x in data]) / len(data))


@model(statistics.harmonic_mean, samples=NUMBERS)
def _harmonic_mean(data: Any, weights: Any = None) -> Any:
    _require(data, weights)
    _check_positive(data)
    if weights is None:
        return len(data) / _sum([1.0 / x for x in data])
    return _sum(weights) / _sum([w / x for w, x in zip(weights, data)])


def _squares(data: Any, center: Any) -> Any:
    return _sum([(x - center) * (x - center) for x in data])


@model(statistics.pvariance, samples=[*NUMBERS, args([num(), num()], num())])
def _pvariance(data: Any, mu: Any = None) -> Any:
    center = _sum(data) / len(data) if mu is None else mu
    return _squares(data, center) / len(data)


@model(statistics.variance, samples=[*NUMBERS, args([num(), num()], num())])
def _variance(data: Any, xbar: Any = None) -> Any:
    _require(data, count=2)
    center = _sum(data) / len(data) if xbar is None else xbar
    return _squares(data, center) / (len(data) - 1)


@model(statistics.pstdev, samples=NUMBERS)
def _pstdev(data: Any, mu: Any = None) -> Any:
    center = math.fsum(data) / len(data) if mu is None else mu
    return math.sqrt(_squares(data, center) / len(data))


@model(statistics.stdev, samples=NUMBERS)
def _stdev(data: Any, xbar: Any = None) -> Any:
    _require(data, count=2)
    center = math.fsum(data) / len(data) if xbar is None else xbar
    return math.sqrt(_squares(data, center) / (len(data) - 1))


if sys.version_info >= (3, 12):  # as statistics sums products there: the kind of the sum is that of the items

    def _products(x: Any, y: Any) -> Any:
        """The sum of the products of the deviations from the means."""
        x_mean, y_mean = math.fsum(x) / len(x), math.fsum(y) / len(y)
        return math.sumprod([a - x_mean for a in x], [b - y_mean for b in y])

else:

    def _products(x: Any, y: Any) -> Any:
        """The sum of the products of the deviations from the means."""
        x_mean, y_mean = math.fsum(x) / len(x), math.fsum(y) / len(y)
        return math.fsum([(a - x_mean) * (b - y_mean) for a, b in zip(x, y)])


PAIRS = [args([num(), num(), num()], [num(), num(), num()]), args(arr(4), arr(4))]


@model(statistics.covariance, samples=PAIRS)
def _covariance(x: Any, y: Any, /) -> Any:
    _require(x, y, 2)
    return _products(x, y) / (len(x) - 1)


@model(statistics.correlation, samples=PAIRS)
def _correlation(x: Any, y: Any, /, *, method: Any = "linear") -> Any:
    if method != "linear":
        rt.no_derivative("statistics.correlation", "ranks have no derivative; use method='linear'")
    _require(x, y, 2)
    return _products(x, y) / math.sqrt(_products(x, x) * _products(y, y))


# --- from the order -------------------------------------------------------------------------------------------------

ORDERED = [args([num(), num(), num()]), args((num(), num(), num(), num())), args(arr(5))]


@model(statistics.median, samples=ORDERED)
def _median(data: Any) -> Any:
    _require(data)
    _check_ordered(data)
    ordered, half = np.sort(np.asarray(data)), len(data) // 2
    if len(data) % 2 == 1:
        return ordered[half]
    return (ordered[half - 1] + ordered[half]) / 2.0


@model(statistics.median_low, samples=ORDERED)
def _median_low(data: Any) -> Any:
    _require(data)
    _check_ordered(data)
    return np.sort(np.asarray(data))[(len(data) - 1) // 2]


@model(statistics.median_high, samples=ORDERED)
def _median_high(data: Any) -> Any:
    _require(data)
    _check_ordered(data)
    return np.sort(np.asarray(data))[len(data) // 2]


@model(statistics.quantiles, samples=[*ORDERED, args(arr(6), n=3), args(arr(6), n=5, method="inclusive")])
def _quantiles(data: Any, *, n: Any = 4, method: Any = "exclusive") -> Any:
    _require(data, count=1 if sys.version_info >= (3, 13) else 2)
    _check_ordered(data)
    if n < 1:
        raise statistics.StatisticsError("n must be at least 1")
    ordered = np.sort(np.asarray(data))
    return [_cut(ordered, i, n, method) for i in range(1, n)]


def _cut(ordered: Any, i: int, n: int, method: str) -> Any:
    """Between neighbours of the order, at i / n of the way through it."""
    count = len(ordered)
    if method == "inclusive":
        below, way = i * (count - 1) // n, i * (count - 1) % n
    else:
        below = min(max(i * (count + 1) // n, 1), count - 1) - 1
        way = i * (count + 1) - (below + 1) * n
    return (ordered[below] * (n - way) + ordered[below + 1] * way) / n


refuse(statistics.linear_regression, "it has no rule; use np.polyfit(x, y, 1)")
refuse(statistics.median_grouped, "it has no rule; use statistics.median, or np.quantile")
for _name in ("kde", "kde_random"):
    if hasattr(statistics, _name):  # Python 3.13
        refuse(getattr(statistics, _name), "the function that it makes has no rule; write out the kernels with NumPy")
COMMON = "which value is the most common hangs on floats being exactly equal; give it what is not differentiated"
refuse(statistics.mode, COMMON)
refuse(statistics.multimode, COMMON)
