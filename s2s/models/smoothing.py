"""Splines that FITPACK fits: by least squares with given knots, or smoothed.

With the knots fixed, a smoothing spline makes ``|W (A c - y)|^2 + q |B c|^2`` least: A are the values of the B-splines
at the places, B the jumps of their highest derivative at the inner knots (P. Dierckx, "Curve and Surface Fitting with
Splines", 1993, chapter 4), and q is such that the first term is s. FITPACK is content with a thousandth of s, so
differences of its values are right to a thousandth or a hundredth only. Coefficients and q are differentiated as the
solution of these equations, with the part of s that is left over as it is. Inner knots are places of data, with which
they move; which ones is piecewise constant.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import interpolate

from s2s import runtime as rt
from s2s.models.solutions import attached
from s2s.models.sparse import sums_at
from s2s.models.splines import basis, interval_of

__all__ = ["fit_with_knots", "of_fitpack", "of_make_splrep", "smoothing_fit"]

# --- the equations ----------------------------------------------------------------------------------------------------


def spread_places(at: Any, k: Any, n: Any) -> Any:
    """The places of the values of B-splines in the matrix of all of them, by rows, in the order of ``basis``."""
    rows = np.arange(len(at))
    return np.concatenate([rows * n + at - k + j for j in range(k + 1)])


def values_matrix(t: Any, k: Any, x: Any) -> Any:
    """The values of all B-splines at places."""
    n, m = len(t) - k - 1, np.shape(x)[0]
    at = interval_of(t, k, n, x)
    return np.reshape(sums_at(np.concatenate(basis(t, k, x, at)), spread_places(at, k, n), m * n), (m, n))


def inner_places(t: Any, k: Any) -> Any:
    return np.arange(k + 1, len(t) - k - 1)


def jump_places(inner: Any, k: Any, n: Any) -> Any:
    rows = np.arange(len(inner))
    return np.concatenate([rows * n + inner - k - 1 + j for j in range(k + 2)])


def jumps_matrix(t: Any, k: Any) -> Any:
    """The jumps of the highest derivatives of all B-splines at the inner knots, but for one factor."""
    n, inner = len(t) - k - 1, inner_places(t, k)
    made = []
    for j in range(k + 2):
        first = inner - k - 1 + j
        product: Any = 1.0
        for m in range(k + 2):
            if m != k + 1 - j:
                product = product * (t[first + m] - t[inner])
        made.append((t[first + k + 1] - t[first]) / product)
    size = np.max(np.abs(np.concatenate(made)))
    data = np.concatenate(made) / size
    return np.reshape(sums_at(data, jump_places(inner, k, n), np.shape(inner)[0] * n), (np.shape(inner)[0], n))


def share_of(normal: Any, rough: Any, right: Any, c: Any) -> Any:
    """The q with which coefficients fulfil the equations best."""
    pull = rough @ c
    return float(np.sum(pull * (right - normal @ c)) / np.sum(pull * pull))


def smooth_coefficients(x: Any, y: Any, w: Any, t: Any, k: Any, c: Any, ratio: Any, s: Any) -> Any:
    """The coefficients of a smoothing spline; ``y`` and those found have a column for each coordinate. What is left
    over is ``ratio * s``."""
    matrix, jumps = w[:, None] * values_matrix(t, k, x), jumps_matrix(t, k)
    weighed = w[:, None] * y
    normal, rough, right = matrix.T @ matrix, jumps.T @ jumps, matrix.T @ weighed
    share = share_of(normal, rough, right, c)
    shape = np.shape(c)

    def residual(z: Any) -> Any:
        c = np.reshape(z[:-1], shape)
        balance = normal @ c + z[-1] * (rough @ c) - right
        left = np.sum((matrix @ c - weighed) ** 2) / (ratio * s) - 1.0
        return np.concatenate([np.ravel(balance), np.reshape(left, (1,))])

    z = attached(residual, np.concatenate([np.ravel(c), np.full(1, share)]))
    return np.reshape(z[:-1], shape)


def fit_with_knots(x: Any, y: Any, w: Any, t: Any, k: Any) -> Any:
    """The coefficients of the spline of least squares with these knots."""
    matrix = w[:, None] * values_matrix(t, k, x)
    return np.linalg.solve(matrix.T @ matrix, matrix.T @ (w[:, None] * y))


# --- what FITPACK finds -----------------------------------------------------------------------------------------------


def found_fit(finder: Any, x: Any, y: Any, w: Any, low: Any, high: Any, k: Any, s: Any) -> Any:
    """Which places the inner knots are, the coefficients, and of s what is left over; -1 where no smoothing is at work.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        t, c = finder(x, y, w, low, high, k, s)
    inner = t[k + 1 : len(t) - k - 1]
    places = np.argmin(np.abs(x[:, None] - inner), axis=0)
    if not np.allclose(x[places], inner, rtol=1e-12, atol=0.0):
        rt.no_derivative("a spline that is smoothed", KNOTS)
    matrix = w[:, None] * values_matrix(t, k, x)
    weighed = w[:, None] * y
    plain = np.linalg.lstsq(matrix, weighed)[0]
    if len(inner) == 0 or np.max(np.abs(plain - c)) <= 1e-7 * np.max(np.abs(c)):
        return places, c, -1.0
    jumps = jumps_matrix(t, k)
    normal, rough, right = matrix.T @ matrix, jumps.T @ jumps, matrix.T @ weighed
    off = normal @ c + share_of(normal, rough, right, c) * (rough @ c) - right
    left = np.sum((matrix @ c - weighed) ** 2)
    if abs(left - s) > 2e-3 * s or np.max(np.abs(off)) > 1e-6 * np.max(np.abs(right)):
        rt.no_derivative("a spline that is smoothed", FOUND)
    return places, c, float(left / s)


KNOTS = "its knots are no places of data; give k=3, or another s"
FOUND = "it was not found with this s; give another one"


def of_fitpack(x: Any, y: Any, w: Any, low: Any, high: Any, k: Any, s: Any) -> Any:
    """Knots and coefficients, a column for each coordinate, as ``splrep`` and ``splprep`` find them."""
    if np.shape(y)[1] == 1:
        t, c, _ = interpolate.splrep(x, y[:, 0], w, low, high, k, 0, s)
        return t, c[: len(t) - k - 1, None]
    (t, c, _), _ = interpolate.splprep(list(y.T), w, x, low, high, k, 0, s)
    return t, np.stack(c, axis=1)


def of_make_splrep(x: Any, y: Any, w: Any, low: Any, high: Any, k: Any, s: Any) -> Any:
    """As ``of_fitpack``, by ``make_splrep``."""
    found = interpolate.make_splrep(x, y[:, 0], w=w, xb=low, xe=high, k=k, s=s)
    return found.t, found.c[:, None]


def smoothing_fit(finder: Any, x: Any, y: Any, w: Any, low: Any, high: Any, k: Any, s: Any) -> Any:
    """Knots and coefficients, a column for each coordinate."""
    places, c, ratio = found_fit(finder, x, y, w, low, high, k, s)
    ends = np.ones(k + 1)
    t = np.concatenate([low * ends, x[places], high * ends])
    return t, smooth_coefficients(x, y, w, t, k, c, ratio, s) if ratio > 0.0 else fit_with_knots(x, y, w, t, k)
