"""Rules of NumPy's functions of polynomials, given by their coefficients, the highest power first."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.rules.table import args, arr, model, num, refuse, vjp


@model(np.polyval, samples=[args(arr(4), num()), args(arr(3), arr(2, 3)), args([num(), num()], arr(2))])
def _polyval(p: Any, x: Any) -> Any:
    """Horner's scheme, the highest power first."""
    total = 0.0 * x
    for coefficient in p:
        total = total * x + coefficient
    return total


@model(np.polyadd, samples=[args(arr(4), arr(2)), args(arr(2), arr(3)), args(arr(3), arr(3))])
def _polyadd(a1: Any, a2: Any) -> Any:
    if np.size(a1) < np.size(a2):
        return np.pad(np.atleast_1d(a1), (np.size(a2) - np.size(a1), 0)) + a2
    return a1 + np.pad(np.atleast_1d(a2), (np.size(a1) - np.size(a2), 0))


@model(np.polysub, samples=[args(arr(4), arr(2)), args(arr(2), arr(3)), args(arr(3), arr(3))])
def _polysub(a1: Any, a2: Any) -> Any:
    if np.size(a1) < np.size(a2):
        return np.pad(np.atleast_1d(a1), (np.size(a2) - np.size(a1), 0)) - a2
    return a1 - np.pad(np.atleast_1d(a2), (np.size(a1) - np.size(a2), 0))


@model(np.polymul, samples=[args(arr(4), arr(2)), args(arr(2), arr(3))])
def _polymul(a1: Any, a2: Any) -> Any:
    return np.convolve(a1, a2)


@model(np.polyder, samples=[args(arr(4)), args(arr(5), 2), args(arr(3), m=0)])
def _polyder(p: Any, m: Any = 1) -> Any:
    for _ in range(m):
        p = p[:-1] * np.arange(len(p) - 1, 0, -1)
    return p


@model(np.polyint, samples=[args(arr(3)), args(arr(3), 2), args(arr(3), k=num()), args(arr(3), 2, [num(), 2.0])])
def _polyint(p: Any, m: Any = 1, k: Any = None) -> Any:
    for i in range(m):
        if isinstance(k, (list, tuple, np.ndarray)):
            constant = k[i]
        else:
            constant = 0.0 if k is None else k
        p = np.append(p / np.arange(len(p), 0, -1), constant)
    return p


@model(np.poly, samples=[args(arr(3)), args(arr(4, complex=True))])
def _poly(seq_of_zeros: Any) -> Any:
    """The product of x - z over the zeros; the characteristic polynomial of a matrix is not known here."""
    if np.ndim(seq_of_zeros) != 1:
        rt.no_derivative("np.poly", "of a matrix: it has no rule; give the zeros")
    product = np.ones(1)
    for zero in seq_of_zeros:
        product = np.append(product, 0.0) - zero * np.append(0.0, product)
    return product


def _roots(y_bar: Any, y: Any, p: Any) -> Any:
    """A simple root z moves by -z^k / p'(z) with the coefficient of x^k; a multiple one has no derivative (inf)."""
    slopes = np.polyval(np.polyder(p), y)
    powers = np.vander(y, len(p))
    return rt.cast(-((y_bar / slopes) @ powers), p)


vjp(np.roots, p=_roots, params="p", samples=[args(arr(4)), args(arr(3)), args(arr(4, complex=True))])


@model(np.vander, samples=[args(arr(3)), args(arr(4), 2), args(arr(3), increasing=True), args(arr(3), 5, True)])
def _vander(x: Any, N: Any = None, increasing: Any = False) -> Any:
    count = len(x) if N is None else N
    powers = np.reshape(x, (-1, 1)) ** np.arange(count)
    return powers if increasing else powers[:, ::-1]


def polyfit_bars(g: Any, x: Any, y: Any, deg: int, w: Any) -> tuple[Any, Any, Any]:
    """The cotangents of the places, the values and the weights of ``np.polyfit`` from that of its coefficients.

    With V the weighted powers and b the weighted values, c = pinv(V) b; see G. Golub, V. Pereyra (1973).
    """
    x, values = np.asarray(x), np.reshape(y, (len(y), -1))
    weights = np.ones((len(x), 1)) if w is None else np.reshape(w, (-1, 1))
    powers, degrees = np.vander(x, deg + 1), np.arange(deg, -1, -1)
    scale = np.sqrt(np.sum((weights * powers) ** 2, axis=0))  # as polyfit does: the powers differ by magnitudes
    inverse = np.linalg.pinv(weights * powers / scale) / scale[:, None]
    columns, rights = inverse @ (weights * values), np.reshape(g, (deg + 1, -1))
    b_bar = inverse.T @ rights
    matrix_bar = weights * (values - powers @ columns) @ (inverse @ b_bar).T - b_bar @ columns.T
    slopes = degrees * x[:, None] ** np.maximum(degrees - 1, 0)
    w_bar = np.sum(matrix_bar * powers, axis=1) + np.sum(b_bar * values, axis=1)
    return np.sum(weights * matrix_bar * slopes, axis=1), np.reshape(weights * b_bar, np.shape(y)), w_bar


def _polyfit_x(y_bar: Any, x: Any, y: Any, deg: Any, w: Any) -> Any:
    return rt.cast(polyfit_bars(y_bar, x, y, deg, w)[0], x)


def _polyfit_y(y_bar: Any, x: Any, y: Any, deg: Any, w: Any) -> Any:
    """``y`` is the parameter here: the values that are fitted."""
    return rt.cast(polyfit_bars(y_bar, x, y, deg, w)[1], y)


def _polyfit_w(y_bar: Any, x: Any, y: Any, deg: Any, w: Any) -> Any:
    return rt.cast(polyfit_bars(y_bar, x, y, deg, w)[2], w)


vjp(
    np.polyfit, x=_polyfit_x, y=_polyfit_y, w=_polyfit_w, params="x, y, deg, rcond=None, full=False, w=None, cov=False",
    harmless="rcond",
    samples=[
        args(arr(6), arr(6), 2), args(arr(6), arr(6, 2), 1), args(arr(6), arr(6), 3, w=arr(6, low=0.5)),
        args(arr(5), arr(5), 0), args(arr(5), arr(5), 4),
    ],
)
refuse(np.polydiv, "it has no rule; divide values np.polyval(u, x) / np.polyval(v, x)")
