"""Rules of the ``statistics`` module: floats in sequences, one float out. The sums are those of plain floats: the
module itself adds exactly, which may differ in the last digit.
"""

from __future__ import annotations

import math
import statistics
from typing import Any

from s2s import runtime as rt
from s2s.rules.table import args, arr, model, num, refuse, zero

NUMBERS = [args([num(0.5, 2), num(0.5, 2), num(0.5, 2)]), args((num(0.5, 2), num(0.5, 2))), args(arr(4, low=0.5))]


@model(statistics.mean, samples=NUMBERS)
def _mean(data: Any) -> Any:
    return math.fsum(data) / len(data)


@model(statistics.fmean, samples=[*NUMBERS, args([num(), num()], [num(0.5, 1), num(0.5, 1)])])
def _fmean(data: Any, weights: Any = None) -> Any:
    if weights is None:
        return math.fsum(data) / len(data)
    return math.fsum([w * x for w, x in zip(weights, data)]) / math.fsum(weights)


@model(statistics.geometric_mean, samples=NUMBERS)
def _geometric_mean(data: Any) -> Any:
    return math.exp(math.fsum([math.log(x) for x in data]) / len(data))


@model(statistics.harmonic_mean, samples=NUMBERS)
def _harmonic_mean(data: Any, weights: Any = None) -> Any:
    if weights is None:
        return len(data) / math.fsum([1.0 / x for x in data])
    return math.fsum(weights) / math.fsum([w / x for w, x in zip(weights, data)])


def _squares(data: Any, center: Any) -> Any:
    return math.fsum([(x - center) * (x - center) for x in data])


@model(statistics.pvariance, samples=[*NUMBERS, args([num(), num()], num())])
def _pvariance(data: Any, mu: Any = None) -> Any:
    center = math.fsum(data) / len(data) if mu is None else mu
    return _squares(data, center) / len(data)


@model(statistics.variance, samples=[*NUMBERS, args([num(), num()], num())])
def _variance(data: Any, xbar: Any = None) -> Any:
    center = math.fsum(data) / len(data) if xbar is None else xbar
    return _squares(data, center) / (len(data) - 1)


@model(statistics.pstdev, samples=NUMBERS)
def _pstdev(data: Any, mu: Any = None) -> Any:
    center = math.fsum(data) / len(data) if mu is None else mu
    return math.sqrt(_squares(data, center) / len(data))


@model(statistics.stdev, samples=NUMBERS)
def _stdev(data: Any, xbar: Any = None) -> Any:
    center = math.fsum(data) / len(data) if xbar is None else xbar
    return math.sqrt(_squares(data, center) / (len(data) - 1))


def _products(x: Any, y: Any) -> Any:
    """The sum of the products of the deviations from the means."""
    x_mean, y_mean = math.fsum(x) / len(x), math.fsum(y) / len(y)
    return math.fsum([(a - x_mean) * (b - y_mean) for a, b in zip(x, y)])


PAIRS = [args([num(), num(), num()], [num(), num(), num()]), args(arr(4), arr(4))]


@model(statistics.covariance, samples=PAIRS)
def _covariance(x: Any, y: Any, /) -> Any:
    return _products(x, y) / (len(x) - 1)


@model(statistics.correlation, samples=PAIRS)
def _correlation(x: Any, y: Any, /, *, method: Any = "linear") -> Any:
    if method != "linear":
        rt.no_derivative("statistics.correlation", "ranks have no derivative; use method='linear'")
    return _products(x, y) / math.sqrt(_products(x, x) * _products(y, y))


RANKS = "the order of Python's numbers has no rule; sort an array with np.sort, or use np.median, np.quantile"
for _ranked in (
    statistics.median, statistics.median_low, statistics.median_high, statistics.median_grouped, statistics.quantiles,
):
    refuse(_ranked, RANKS)
refuse(statistics.linear_regression, "it has no rule; use np.polyfit(x, y, 1)")
for _name in ("kde", "kde_random"):
    if hasattr(statistics, _name):  # Python 3.13
        refuse(getattr(statistics, _name), "the function that it makes has no rule; write out the kernels with NumPy")
zero(statistics.mode, statistics.multimode)
