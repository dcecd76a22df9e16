"""Rules of NumPy's functions of polynomials, given by their coefficients, the highest power first."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.rules.table import args, arr, jvp, model, num, vjp


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


@jvp(np.roots)
def _roots_dot(y: Any, p: Any, p_dot: Any) -> Any:
    return -(np.vander(y, len(p)) @ p_dot) / np.polyval(np.polyder(p), y)



@model(np.vander, samples=[args(arr(3)), args(arr(4), 2), args(arr(3), increasing=True), args(arr(3), 5, True)])
def _vander(x: Any, N: Any = None, increasing: Any = False) -> Any:
    count = len(x) if N is None else N
    powers = np.reshape(x, (-1, 1)) ** np.arange(count)
    return powers if increasing else powers[:, ::-1]


@model(
    np.polyfit,
    samples=[
        args(arr(6), arr(6), 2), args(arr(6), arr(6, 2), 1), args(arr(6), arr(6), 3, w=arr(6, low=0.5)),
        args(arr(5), arr(5), 0), args(arr(5), arr(5), 4), args(arr(6), arr(6), 1, cov=True),
        args(arr(6), arr(6), 2, cov="unscaled"), args(arr(7), arr(7, 2), 1, w=arr(7, low=0.5), cov=True),
        args(arr(6), arr(6), 2, full=True),
    ],
)
def _polyfit(
    x: Any, y: Any, deg: Any, rcond: Any = None, full: Any = False, w: Any = None, cov: Any = False
) -> Any:
    """Least squares with the weighted powers, scaled to norm 1 because they differ by magnitudes."""
    powers, values = np.vander(x, deg + 1), np.asarray(y)
    if w is not None:
        powers = np.reshape(w, (-1, 1)) * powers
        values = np.reshape(w, (-1, 1)) * values if np.ndim(y) == 2 else w * values
    scale = np.sqrt(np.sum(powers * powers, axis=0))
    tolerance = len(x) * np.finfo(np.asarray(x).dtype).eps if rcond is None else rcond
    c, squares, rank, s = np.linalg.lstsq(powers / scale, values, tolerance)
    c = c / np.reshape(scale, (-1, 1)) if np.ndim(y) == 2 else c / scale
    if full:
        return c, squares, rank, s, tolerance
    if not cov:
        return c
    inner = np.linalg.inv(powers.T @ powers)
    if cov == "unscaled":
        return c, inner
    spread = squares / (len(x) - deg - 1)
    return (c, inner[:, :, None] * spread) if np.ndim(y) == 2 else (c, inner * spread)




DIVISOR = arr(3, low=0.5)


@model(np.polydiv, samples=[args(arr(5), DIVISOR), args(arr(3), DIVISOR), args(arr(2), DIVISOR)])
def _polydiv(u: Any, v: Any) -> Any:
    """The leading coefficients of u = q v + r are a triangular system for those of q."""
    u, v = np.atleast_1d(u), np.atleast_1d(v)
    count = len(u) - len(v) + 1
    if count < 1:
        return np.zeros(1), u
    shift = np.arange(count)[:, None] - np.arange(count)
    inside = (shift >= 0) & (shift < len(v))
    quotient = np.linalg.solve(np.where(inside, np.take(v, np.clip(shift, 0, len(v) - 1)), 0.0), u[:count])
    rest = (u - np.convolve(quotient, v))[count:]
    return quotient, rest if len(rest) else np.zeros(1)
