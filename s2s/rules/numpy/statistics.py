"""Rules of NumPy's statistics of samples: covariance, correlation, histograms.

Counts do not change with the values counted; what changes are weights, and edges that are laid between the least and
the greatest value.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.core.functions import Result, Varies
from s2s.rules.functions import describe
from s2s.rules.samples import args, arr, num
from s2s.rules.table import jvp, linear, model, takes_none, vjp

# --- covariance -----------------------------------------------------------------------------------------------------


@model(
    np.cov,
    samples=[
        args(arr(3, 5)), args(arr(5, 3), rowvar=False), args(arr(5)), args(arr(5), arr(5)),
        args(arr(2, 5), arr(5), ddof=0), args(arr(5, 2), arr(5), rowvar=False), args(arr(5), arr(5, 2), rowvar=False),
        args(arr(2, 5), arr(3, 5)),
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
        return np.squeeze(away @ np.conj(away.T) / max(np.shape(rows)[1] - less, 0))
    if np.iscomplexobj(aweights):
        return rt.no_derivative("numpy.cov", "it discards imaginary parts of aweights=; take np.real first")
    weights = fweights if aweights is None else aweights
    if fweights is not None and aweights is not None:
        weights = fweights * aweights
    total = np.sum(weights)
    away = rows - np.sum(rows * weights, axis=1, keepdims=True) / total
    lost = less if aweights is None else less * np.sum(weights * aweights) / total
    if total <= lost:
        return rt.no_derivative("numpy.cov", "of fewer observations than ddof= it is no number")
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


def bincount_weights(y_bar: Any, x: Any, weights: Any) -> Any:
    return rt.cast(np.take(y_bar, x), weights)


linear(
    np.bincount, weights=bincount_weights, params="x, /, weights=None, minlength=0", harmless="minlength",
    samples=[args(np.array([0, 2, 2, 1]), arr(4)), args(np.array([0, 2]), weights=arr(2), minlength=5)],
)


def edges_bar(g: Any, a: Any, bins: Any, range: Any) -> Any:
    """The cotangent of ``a`` from that of the edges that ``np.histogram`` lays between its extremes."""
    a = np.asarray(a)
    if range is not None or not isinstance(bins, (int, np.integer)) or not a.size:
        if isinstance(bins, str) and range is None:
            return rt.no_derivative("np.histogram", "a number of bins that is found from the values; give the number")
        return np.zeros_like(a)
    up = np.linspace(0.0, 1.0, len(g))
    top, bottom = a == np.max(a), a == np.min(a)
    return rt.cast(top * (np.sum(g * up) / np.sum(top)) + bottom * (np.sum(g * (1.0 - up)) / np.sum(bottom)), a)


def histogram_a(y_bar: Any, y: Any, a: Any, bins: Any, range: Any, density: Any) -> Any:
    """A density falls as its bins get wider: with w the width, h = c / (sum(c) w)."""
    hist_bar, g = rt.whole(y_bar, y)
    if density:
        per_width = hist_bar * y[0] / np.diff(y[1])
        zero = np.zeros_like(per_width[:1])
        g = g + np.concatenate([per_width, zero]) - np.concatenate([zero, per_width])
    return edges_bar(g, a, bins, range)


def histogram_weights(y_bar: Any, y: Any, a: Any, bins: Any, density: Any, weights: Any) -> Any:
    hist, edges = y
    g = rt.whole(y_bar, y)[0]
    if density:  # the weight in a bin over its width and the sum of the weights
        widths = np.diff(edges)
        total = np.sum(np.where((np.ravel(a) >= edges[0]) & (np.ravel(a) <= edges[-1]), np.ravel(weights), 0.0))
        g = (g / widths - np.sum(g * hist)) / total
    bin_of = rt.bin_of(a, edges, isinstance(bins, (int, np.integer)))
    return np.where(bin_of >= 0, np.take(g, bin_of), 0.0)


def histogram_bins(bins: Any) -> Any:
    return rt.no_derivative("the edges of np.histogram", "they have no rule; keep them constant")


def histogram_range(range: Any) -> Any:
    return rt.no_derivative("the range of np.histogram", "it has no rule; keep it constant")


HISTOGRAM = "a, bins=10, range=None, density=None, weights=None"
EDGES = np.array([-2.5, -1.0, 0.5, 1.0, 2.5])
vjp(
    np.histogram, a=histogram_a, weights=histogram_weights, bins=histogram_bins, range=histogram_range,
    params=HISTOGRAM,
    samples=[
        args(arr(7), 4), args(arr(7), 3, density=True), args(arr(7), 4, (-2.0, 2.0)), args(arr(7), EDGES),
        args(np.linspace(-2.0, 2.5, 7), EDGES, weights=arr(7)), args(np.linspace(-3.0, 3.0, 7), EDGES, weights=arr(7)),
        args(np.linspace(-3.0, 3.0, 7), EDGES, density=True, weights=arr(7, low=0.5)),
        args(np.array([-2.5, -1.0, 1.0, 2.5, 2.6, -2.6]), EDGES, density=True, weights=arr(6, low=0.5)),
    ],
)
vjp(
    np.histogram_bin_edges, a=lambda y_bar, a, bins, range: edges_bar(y_bar, a, bins, range),
    bins=histogram_bins, range=histogram_range, params="a, bins=10, range=None, weights=None", harmless="weights",
    samples=[args(arr(7), 4), args(arr(2, 3)), args(arr(7), 4, (-2.0, 2.0))],
)


def edges_dot(a_dot: Any, a: Any, edges: Any, bins: Any, range: Any) -> Any:
    """The tangent of the edges that ``np.histogram`` lays between the extremes of ``a``."""
    if range is not None or not isinstance(bins, (int, np.integer)) or not np.size(a):
        if isinstance(bins, str) and range is None:
            return rt.no_derivative("np.histogram", "a number of bins that is found from the values; give the number")
        return np.zeros_like(edges)
    top, bottom = np.equal(a, np.max(a)), np.equal(a, np.min(a))
    return np.linspace(np.sum(bottom * a_dot) / np.sum(bottom), np.sum(top * a_dot) / np.sum(top), len(edges))


def histogram_a_dot(a_dot: Any, y: Any, a: Any, bins: Any, range: Any, density: Any) -> Any:
    change = edges_dot(a_dot, a, y[1], bins, range)
    if not density:
        return np.zeros(len(y[0])), change
    return -y[0] * np.diff(change) / np.diff(y[1]), change


def histogram_weights_dot(weights_dot: Any, y: Any, a: Any, density: Any, weights: Any) -> Any:
    hist, edges = y
    change = np.histogram(a, edges, weights=weights_dot)[0]
    if density:
        total = np.sum(np.histogram(a, edges, weights=weights)[0])
        change = (change / np.diff(edges) - hist * np.sum(change)) / total
    return change, np.zeros_like(edges)


jvp(np.histogram, a=histogram_a_dot, weights=histogram_weights_dot, bins=histogram_bins, range=histogram_range)
jvp(
    np.histogram_bin_edges, a=lambda a_dot, y, a, bins, range: edges_dot(a_dot, a, y, bins, range),
    bins=histogram_bins, range=histogram_range,
)


# --- counting in several dimensions ---------------------------------------------------------------------------------


def columns_of(sample: Any) -> Any:
    """The coordinates of the points, each dimension in an array: from an array of points or a list of coordinates."""
    return list(np.asarray(sample).T) if np.ndim(sample) == 2 and isinstance(sample, np.ndarray) else list(sample)


def cells_of(sample: Any, edges: Any) -> tuple[Any, Any]:
    """The number of the cell that each point is in, counted through all cells, and which points are in one."""
    cell: Any = 0
    inside: Any = True
    for column, e in zip(columns_of(sample), edges):
        one = rt.bin_of(column, e, False)
        inside = inside & (one >= 0)
        cell = cell * (len(e) - 1) + np.maximum(one, 0)
    return cell, inside


def volumes_of(edges: Any) -> Any:
    """The volumes of the cells."""
    volumes = np.ones((1,) * len(edges))
    for k, e in enumerate(edges):
        volumes = volumes * np.reshape(np.diff(e), (1,) * k + (-1,) + (1,) * (len(edges) - 1 - k))
    return volumes


def one_of(given: Any, k: int) -> Any:
    """What the bins, or the ranges, say of dimension ``k``."""
    return given if given is None or isinstance(given, (int, np.integer)) else given[k]


def widths_bar(g: Any, hist: Any, edges: Any, k: int) -> Any:
    """The cotangent of the edges in dimension ``k`` from that of a density, which falls as its cells get wider."""
    rest = tuple([i for i, _ in enumerate(edges) if i != k])
    per_width = np.sum(g * hist, axis=rest) / np.diff(edges[k])
    zero = np.zeros_like(per_width[:1])
    return np.concatenate([per_width, zero]) - np.concatenate([zero, per_width])


def widths_dot(dot: Any, hist: Any, edges: Any, k: int) -> Any:
    """The tangent of a density from that of the edges in dimension ``k``."""
    shape = (1,) * k + (-1,) + (1,) * (len(edges) - 1 - k)
    return -hist * np.reshape(np.diff(dot) / np.diff(edges[k]), shape)


def histogramdd_sample(y_bar: Any, y: Any, sample: Any, bins: Any, range: Any, density: Any) -> Any:
    """Counts do not change; the edges do that are laid between the extremes."""
    hist, edges = y
    hist_bar = None if not density else y_bar[0]
    bars = [np.zeros_like(e) if y_bar[1] is None or y_bar[1][k] is None else y_bar[1][k] for k, e in enumerate(edges)]
    if hist_bar is not None:
        bars = [bar + widths_bar(hist_bar, hist, edges, k) for k, bar in enumerate(bars)]
    columns = columns_of(sample)
    found = [edges_bar(bars[k] + 0.0 * edges[k], c, one_of(bins, k), one_of(range, k)) for k, c in enumerate(columns)]
    is_table = isinstance(sample, np.ndarray) and np.ndim(sample) == 2
    return np.stack(found, axis=-1) if is_table else rt.rebuild(sample, found)


def histogramdd_weights(y_bar: Any, y: Any, sample: Any, density: Any, weights: Any) -> Any:
    hist, edges = y
    if y_bar[0] is None:
        return np.zeros_like(weights)
    cell, inside = cells_of(sample, edges)
    g = y_bar[0] * np.ones_like(hist)
    if density:
        g = (g / volumes_of(edges) - np.sum(g * hist)) / np.sum(np.where(inside, weights, 0.0))
    return np.where(inside, np.take(np.ravel(g), cell), 0.0)


def histogramdd_sample_dot(
    sample_dot: Any, y: Any, sample: Any, bins: Any, range: Any, density: Any
) -> tuple[Any, Any]:
    hist, edges = y
    columns = zip(columns_of(sample_dot), columns_of(sample))
    dots = [
        edges_dot(dot, c, edges[k], one_of(bins, k), one_of(range, k)).astype(edges[k].dtype)
        for k, (dot, c) in enumerate(columns)
    ]
    change = np.zeros_like(hist)
    if density:
        change = change + sum([widths_dot(dot, hist, edges, k) for k, dot in enumerate(dots)])
    return change, dots


def histogramdd_weights_dot(weights_dot: Any, y: Any, sample: Any, density: Any, weights: Any) -> tuple[Any, Any]:
    hist, edges = y
    change = np.histogramdd(sample, edges, weights=weights_dot)[0]
    if density:
        _, inside = cells_of(sample, edges)
        change = (change / volumes_of(edges) - hist * np.sum(change)) / np.sum(np.where(inside, weights, 0.0))
    return change, [np.zeros_like(e) for e in edges]


GRID = [np.array([-2.0, -0.5, 1.0, 2.0]), np.array([-2.0, 0.25, 2.0])]
POINTS = np.linspace(-2.5, 1.9, 12).reshape(6, 2)
CORNERS = np.array([[-2.0, -2.0], [2.0, 2.0], [-0.5, 2.0], [1.0, 0.25], [2.5, 0.0], [0.0, -2.5]])
vjp(
    np.histogramdd, sample=histogramdd_sample, weights=histogramdd_weights, bins=histogram_bins,
    range=histogram_range, params="sample, bins=10, range=None, density=None, weights=None",
    samples=[
        args(arr(7, 2), 3), args(arr(7, 2), (2, 3), density=True), args([arr(5), arr(5), arr(5)], 2),
        args(arr(7, 2), 2, [(-2.0, 2.0), None]),
        args(POINTS, GRID, weights=arr(6)), args(POINTS, GRID, density=True, weights=arr(6, low=0.5)),
        args(CORNERS, GRID, density=True, weights=arr(6, low=0.5)),
    ],
)
takes_none(np.histogramdd)
jvp(
    np.histogramdd, sample=histogramdd_sample_dot, weights=histogramdd_weights_dot, bins=histogram_bins,
    range=histogram_range,
)


@model(
    np.histogram2d, samples=[
        args(arr(7), arr(7), 3), args(arr(7), arr(7), (2, 3), density=True), args(arr(7), arr(7), GRID),
        args(POINTS[:, 0], POINTS[:, 1], GRID, weights=arr(6)), args(arr(7), arr(7), GRID[0]),
        args(arr(7), arr(7), 2, [[-2.0, 2.0], [-1.0, 1.5]]),
    ],
)
def _histogram2d(x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    """Edges that are given once serve both dimensions."""
    if not isinstance(bins, (int, np.integer)) and len(bins) > 2:
        bins = [np.asarray(bins), np.asarray(bins)]
    hist, edges = np.histogramdd([x, y], bins, range, density, weights)
    return hist, edges[0], edges[1]


# --- windows: by the number of their points, where that is a float --------------------------------------------------

COUNT = [args(num(6.2, 6.8))]


def angles_of(M: Any) -> Any:
    """The points of a window, from -pi to pi."""
    return np.arange(1 - M, M, 2) * (math.pi / (M - 1))


@model(np.hanning, samples=COUNT)
def _hanning(M: Any) -> Any:
    return 0.5 + 0.5 * np.cos(angles_of(M))


@model(np.hamming, samples=COUNT)
def _hamming(M: Any) -> Any:
    return 0.54 + 0.46 * np.cos(angles_of(M))


@model(np.blackman, samples=COUNT)
def _blackman(M: Any) -> Any:
    angles = angles_of(M)
    return 0.42 + 0.5 * np.cos(angles) + 0.08 * np.cos(2.0 * angles)


@model(np.bartlett, samples=COUNT)
def _bartlett(M: Any) -> Any:
    return 1.0 - np.abs(angles_of(M)) / math.pi


@model(np.kaiser, samples=[args(5, num(1.0, 4.0))])
def _kaiser(M: Any, beta: Any) -> Any:
    half = (M - 1) / 2.0
    place = (np.arange(0, M) - half) / half
    return np.i0(beta * np.sqrt(1.0 - place * place)) / np.i0(np.asarray(beta))

# --- what else is known ---------------------------------------------------------------------------------------------

describe(np.bincount, result=Result.NEW)
describe(np.histogram, np.histogramdd, result=Result.SHARED)  # the edges are those that are given
describe(np.bincount, varies=Varies.LENGTH)
describe(np.histogramdd, varies=Varies.KIND)  # an example may have more bins than the memory holds
