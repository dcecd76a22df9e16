"""Rules of NumPy's statistics of samples: covariance, correlation, histograms.

Counts do not change with the values counted; what changes are weights, and edges that are laid between the least and
the greatest value.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.rules.table import args, arr, jvp, linear, model, num, refuse, vjp

# --- covariance -----------------------------------------------------------------------------------------------------


@model(
    np.cov,
    samples=[
        args(arr(3, 5)), args(arr(5, 3), rowvar=False), args(arr(5)), args(arr(5), arr(5)),
        args(arr(2, 5), arr(5), ddof=0),
        args(arr(3, 5), bias=True), args(arr(3, 5), aweights=arr(5, low=0.5)), args(arr(2, 4, complex=True)),
        args(arr(3, 4), fweights=np.array([1, 2, 1, 3])), args(arr(3, 5), dtype=np.float64),
        args(arr(3, 4), ddof=0, aweights=arr(4, low=0.5)),
    ],
)
def _cov(
    m: Any, y: Any = None, rowvar: Any = True, bias: Any = False, ddof: Any = None, fweights: Any = None,
    aweights: Any = None, *, dtype: Any = None,
) -> Any:
    """Mean products of the deviations of the rows, each observation with its weight; in no less than double precision
    where no dtype is given."""
    if dtype is None:
        dtype = np.result_type(m, np.float64) if y is None else np.result_type(m, y, np.float64)
    rows = np.atleast_2d(np.asarray(m, dtype))
    if not rowvar and np.ndim(m) != 1:
        rows = rows.T
    if y is not None:
        more = np.atleast_2d(np.asarray(y, dtype))
        if not rowvar and np.ndim(y) != 1:
            more = more.T
        rows = np.concatenate([rows, more], axis=0)
    less = ddof if ddof is not None else (0 if bias else 1)
    if fweights is None and aweights is None:
        away = rows - np.mean(rows, axis=1, keepdims=True)
        return np.squeeze(away @ np.conj(away.T) / (np.shape(rows)[1] - less))
    weights = fweights if aweights is None else aweights
    if fweights is not None and aweights is not None:
        weights = fweights * aweights
    total = np.sum(weights)
    away = rows - np.sum(rows * weights, axis=1, keepdims=True) / total
    lost = less if aweights is None else less * np.sum(weights * aweights) / total
    return np.squeeze((away * weights) @ np.conj(away.T) / (total - lost))


@model(
    np.corrcoef,
    samples=[args(arr(3, 5)), args(arr(5), arr(5)), args(arr(5, 2), rowvar=False), args(arr(2, 4, complex=True)),
        args(arr(3, 5), dtype=np.float64),
    ],
)
def _corrcoef(x: Any, y: Any = None, rowvar: Any = True, *, dtype: Any = None) -> Any:
    covariance = _cov(x, y, rowvar, dtype=dtype)
    deviations = np.sqrt(np.real(np.diagonal(covariance)))
    return covariance / deviations[:, None] / deviations[None, :]


# --- counting -------------------------------------------------------------------------------------------------------


def _bincount_weights(y_bar: Any, x: Any, weights: Any) -> Any:
    return rt.cast(np.take(y_bar, x), weights)


linear(
    np.bincount, weights=_bincount_weights, params="x, /, weights=None, minlength=0", harmless="minlength",
    samples=[args(np.array([0, 2, 2, 1]), arr(4)), args(np.array([0, 2]), weights=arr(2), minlength=5)],
)


def edges_bar(g: Any, a: Any, bins: Any, range: Any) -> Any:
    """The cotangent of ``a`` from that of the edges that ``np.histogram`` lays between its extremes."""
    a = np.asarray(a)
    if range is not None or np.ndim(bins) or not isinstance(bins, (int, np.integer)) or not a.size:
        if isinstance(bins, str) and range is None:
            return rt.no_derivative("np.histogram", "a number of bins that is found from the values; give the number")
        return np.zeros_like(a)
    up = np.linspace(0.0, 1.0, len(g))
    top, bottom = a == np.max(a), a == np.min(a)
    return rt.cast(top * (np.sum(g * up) / np.sum(top)) + bottom * (np.sum(g * (1.0 - up)) / np.sum(bottom)), a)


def _histogram_a(y_bar: Any, y: Any, a: Any, bins: Any, range: Any, density: Any) -> Any:
    """A density falls as its bins get wider: with w the width, h = c / (sum(c) w)."""
    hist_bar, g = rt.whole(y_bar, y)
    if density:
        per_width = hist_bar * y[0] / np.diff(y[1])
        zero = np.zeros_like(per_width[:1])
        g = g + np.concatenate([per_width, zero]) - np.concatenate([zero, per_width])
    return edges_bar(g, a, bins, range)


def _histogram_weights(y_bar: Any, y: Any, a: Any, density: Any, weights: Any) -> Any:
    hist, edges = y
    g = rt.whole(y_bar, y)[0]
    if density:  # the weight in a bin over its width and the sum of the weights
        widths = np.diff(edges)
        total = np.sum(np.where((np.ravel(a) >= edges[0]) & (np.ravel(a) <= edges[-1]), np.ravel(weights), 0.0))
        g = (g / widths - np.sum(g * hist)) / total
    bin_of = np.searchsorted(edges, a, side="right") - 1
    bin_of = np.where(np.equal(a, edges[-1]), len(hist) - 1, bin_of)
    inside = (bin_of >= 0) & (bin_of < len(hist))
    return np.where(inside, np.take(g, np.clip(bin_of, 0, len(hist) - 1)), 0.0)


def _histogram_bins(bins: Any) -> Any:
    return rt.no_derivative("the edges of np.histogram", "they have no rule; keep them constant")


def _histogram_range(range: Any) -> Any:
    return rt.no_derivative("the range of np.histogram", "it has no rule; keep it constant")


HISTOGRAM = "a, bins=10, range=None, density=None, weights=None"
EDGES = np.array([-2.5, -1.0, 0.5, 1.0, 2.5])
vjp(
    np.histogram, a=_histogram_a, weights=_histogram_weights, bins=_histogram_bins, range=_histogram_range,
    params=HISTOGRAM,
    samples=[
        args(arr(7), 4), args(arr(7), 3, density=True), args(arr(7), 4, (-2.0, 2.0)), args(arr(7), EDGES),
        args(np.linspace(-2.0, 2.5, 7), EDGES, weights=arr(7)), args(np.linspace(-3.0, 3.0, 7), EDGES, weights=arr(7)),
        args(np.linspace(-3.0, 3.0, 7), EDGES, density=True, weights=arr(7, low=0.5)),
    ],
)
vjp(
    np.histogram_bin_edges, a=lambda y_bar, a, bins, range: edges_bar(y_bar, a, bins, range),
    bins=_histogram_bins, range=_histogram_range, params="a, bins=10, range=None, weights=None", harmless="weights",
    samples=[args(arr(7), 4), args(arr(2, 3)), args(arr(7), 4, (-2.0, 2.0))],
)


def edges_dot(a_dot: Any, a: Any, edges: Any, bins: Any, range: Any) -> Any:
    """The tangent of the edges that ``np.histogram`` lays between the extremes of ``a``."""
    if range is not None or np.ndim(bins) or not isinstance(bins, (int, np.integer)) or not np.size(a):
        if isinstance(bins, str) and range is None:
            return rt.no_derivative("np.histogram", "a number of bins that is found from the values; give the number")
        return np.zeros_like(edges)
    top, bottom = np.equal(a, np.max(a)), np.equal(a, np.min(a))
    return np.linspace(np.sum(bottom * a_dot) / np.sum(bottom), np.sum(top * a_dot) / np.sum(top), len(edges))


def _histogram_a_dot(a_dot: Any, y: Any, a: Any, bins: Any, range: Any, density: Any) -> Any:
    change = edges_dot(a_dot, a, y[1], bins, range)
    if not density:
        return np.zeros(len(y[0])), change
    return -y[0] * np.diff(change) / np.diff(y[1]), change


def _histogram_weights_dot(weights_dot: Any, y: Any, a: Any, density: Any, weights: Any) -> Any:
    hist, edges = y
    change = np.histogram(a, edges, weights=weights_dot)[0]
    if density:
        total = np.sum(np.histogram(a, edges, weights=weights)[0])
        change = (change / np.diff(edges) - hist * np.sum(change)) / total
    return change, np.zeros_like(edges)


jvp(np.histogram, a=_histogram_a_dot, weights=_histogram_weights_dot, bins=_histogram_bins, range=_histogram_range)
jvp(
    np.histogram_bin_edges, a=lambda a_dot, y, a, bins, range: edges_dot(a_dot, a, y, bins, range),
    bins=_histogram_bins, range=_histogram_range,
)
COUNTS = "counts do not change with the values; count with np.histogram, which has rules for weights and edges"
refuse(np.histogram2d, COUNTS)
refuse(np.histogramdd, COUNTS)


@model(np.kaiser, samples=[args(5, num(1.0, 4.0))])
def _kaiser(M: Any, beta: Any) -> Any:
    half = (M - 1) / 2.0
    place = (np.arange(0, M) - half) / half
    return np.i0(beta * np.sqrt(1.0 - place * place)) / np.i0(np.asarray(beta))
