"""Rules of NumPy's functions of polynomials, given by their coefficients, the highest power first."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.core.functions import Varies
from s2s.models import polynomials
from s2s.rules.functions import describe
from s2s.rules.samples import args, arr, num
from s2s.rules.table import jvp, model, vjp, zero

model(np.poly1d)(polynomials.poly1d)
zero(polynomials.check_leading)


@model(np.polyval, samples=[args(arr(4), num()), args(arr(3), arr(2, 3)), args([num(), num()], arr(2))])
def _polyval(p: Any, x: Any) -> Any:
    """Horner's scheme, the highest power first."""
    x = np.asarray(x)
    if isinstance(p, (list, tuple)):  # an array of its numbers is in double precision
        x = x.astype(np.result_type(x, np.float64))
    total = np.zeros_like(x)
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
    a1, a2 = np.atleast_1d(a1), np.atleast_1d(a2)
    polynomials.check_leading(a1)
    polynomials.check_leading(a2)
    return np.convolve(a1, a2)


@model(np.polyder, samples=[args(arr(4)), args(arr(5), 2), args(arr(3), m=0)])
def _polyder(p: Any, m: Any = 1) -> Any:
    if m < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    p = np.asarray(p)
    for _ in range(m):
        p = p[:-1] * np.arange(len(p) - 1, 0, -1)
    return p


@model(np.polyint, samples=[args(arr(3)), args(arr(3), 2), args(arr(3), k=num()), args(arr(3), 2, [num(), 2.0])])
def _polyint(p: Any, m: Any = 1, k: Any = None) -> Any:
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    p = np.asarray(p)
    for i in range(m):
        if isinstance(k, (list, tuple, np.ndarray)):
            constant = k[i]
        else:
            constant = 0.0 if k is None else k
        p = np.append(p / np.arange(len(p), 0, -1), constant)
    return p


@model(np.poly, samples=[args(arr(3)), args(arr(4, complex=True)), args(arr(3, 3)), args(arr(3, 3, complex=True))])
def _poly(seq_of_zeros: Any) -> Any:
    """The product of x - z over the zeros, or the characteristic polynomial of a matrix."""
    zeros = np.asarray(seq_of_zeros)
    if np.ndim(zeros) == 2:
        return characteristic(zeros)
    if np.size(zeros) == 0:
        return 1.0
    zeros = zeros.astype(np.mintypecode(zeros.dtype.char))
    product = np.ones_like(zeros, shape=1)
    nothing = np.zeros_like(product)
    for root in zeros:
        product = np.concatenate([product, nothing]) - root * np.concatenate([nothing, product])
    return product


def characteristic(a: Any) -> Any:
    """The coefficients of det(x - a), by NumPy."""
    return np.poly(a)


def characteristic_bar(g: Any, y: Any, a: Any) -> Any:
    """The cotangent of a matrix: the coefficients move by -tr(m_k da), where the sum of m_k x^k is the adjugate of
    x - a (D. Faddeev, V. Faddeeva, "Computational methods of linear algebra", 1963).
    """
    eye = np.eye(len(a), dtype=a.dtype)
    m = eye
    a_bar = -g[1] * eye
    for k in range(1, len(a)):
        m = a @ m + y[k] * eye
        a_bar = a_bar - g[k + 1] * m.T
    return a_bar


def characteristic_dot(y: Any, a: Any, a_dot: Any) -> Any:
    """The tangent of the coefficients (see ``characteristic_bar``)."""
    eye = np.eye(len(a), dtype=a.dtype)
    m = eye
    changes = [np.zeros_like(y[0]), -np.trace(a_dot)]
    for k in range(1, len(a)):
        m = a @ m + y[k] * eye
        changes.append(-np.sum(m.T * a_dot))
    return np.array(changes, y.dtype)


vjp(
    characteristic, a=lambda y_bar, y, a: characteristic_bar(y_bar, y, a),
    samples=[args(arr(3, 3)), args(arr(2, 2)), args(arr(3, 3, complex=True)), args(arr(1, 1))],
)
jvp(characteristic, a=lambda a_dot, y, a: characteristic_dot(y, a, a_dot))


def roots_bar(y_bar: Any, y: Any, p: Any) -> Any:
    """A simple root z moves by -z^k / p'(z) with the coefficient of x^k; a multiple one has no derivative (inf)."""
    slopes = np.polyval(np.polyder(p), y)
    powers = np.vander(y, len(p))
    return rt.cast(-((y_bar / slopes) @ powers), p)


vjp(np.roots, p=roots_bar, params="p", samples=[args(arr(4)), args(arr(3)), args(arr(4, complex=True))])


@jvp(np.roots)
def roots_dot(y: Any, p: Any, p_dot: Any) -> Any:
    return -(np.vander(y, len(p)) @ p_dot) / np.polyval(np.polyder(p), y)



@model(np.vander, samples=[args(arr(3)), args(arr(4), 2), args(arr(3), increasing=True), args(arr(3), 5, True)])
def _vander(x: Any, N: Any = None, increasing: Any = False) -> Any:
    count = len(x) if N is None else N
    if np.ndim(x) != 1 or count < 0:
        raise ValueError("np.vander takes a vector, and gives no negative number of columns")
    powers = np.reshape(x, (-1, 1)) ** np.arange(count)
    return powers if increasing else powers[:, ::-1]


@model(
    np.polyfit,
    samples=[
        args(arr(6), arr(6), 2), args(arr(6), arr(6, 2), 1), args(arr(6), arr(6), 3, w=arr(6, low=0.5)),
        args(arr(5), arr(5), 0), args(arr(5), arr(5), 4), args(arr(6), arr(6), 1, cov=True),
        args(arr(6), arr(6), 2, cov="unscaled"), args(arr(7), arr(7, 2), 1, w=arr(7, low=0.5), cov=True),
        args(arr(6), arr(6), 2, full=True), args(arr(6), arr(6), 2, 1e-12),
    ],
)
def _polyfit(
    x: Any, y: Any, deg: Any, rcond: Any = None, full: Any = False, w: Any = None, cov: Any = False
) -> Any:
    """Least squares with the weighted powers, scaled to norm 1 because they differ by magnitudes."""
    if deg < 0:
        raise ValueError("expected deg >= 0")
    if len(x) != len(y) or (w is not None and len(w) != len(y)):
        raise TypeError("expected x, y and w to have same length")
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
        return c, inner[:, :, None] if np.ndim(y) == 2 else inner
    spread = squares / (len(x) - deg - 1)
    return (c, inner[:, :, None] * spread) if np.ndim(y) == 2 else (c, inner * spread)


DIVISOR = arr(3, low=0.5)


def quotient_system(v: Any, count: int) -> Any:
    """The triangular matrix that takes a quotient of ``count`` coefficients to the leading ones of its product with
    ``v``; in a precision that ``solve`` has.
    """
    shift = np.arange(count)[:, None] - np.arange(count)
    inside = (shift >= 0) & (shift < len(v))
    matrix = np.where(inside, np.take(v, np.clip(shift, 0, len(v) - 1)), 0.0)
    return matrix.astype(np.result_type(v, np.float32))


def polydiv_bars(g: Any, y: Any, u: Any, v: Any) -> tuple[Any, Any]:
    """The cotangents of ``u`` and ``v`` from those of the quotient and the rest, u = q v + r. What NumPy left out at
    the front of the rest is zero.
    """
    q, r = y
    q_bar, r_bar = rt.whole(g, y)
    u, v = np.atleast_1d(u), np.atleast_1d(v)
    count = len(u) - len(v) + 1
    if count < 1:
        return r_bar, np.zeros_like(v)
    u_bar = np.concatenate([np.zeros(len(u) - len(r)), r_bar])
    q_bar = q_bar - np.correlate(u_bar, np.conj(v), "valid")
    weights = np.linalg.solve(quotient_system(v, count).T, q_bar.astype(np.result_type(q_bar, np.float32)))
    u_bar = u_bar + np.concatenate([weights, np.zeros(len(u) - count)])
    return u_bar, -np.correlate(u_bar, np.conj(q), "valid")


def polydiv_dots(y: Any, u: Any, v: Any, u_dot: Any, v_dot: Any) -> tuple[Any, Any]:
    """The tangents of the quotient and the rest."""
    q, r = y
    u, v = np.atleast_1d(u), np.atleast_1d(v)
    count = len(u) - len(v) + 1
    if count < 1:
        return np.zeros_like(q), u_dot
    change = u_dot - np.convolve(q, v_dot)
    q_dot = np.linalg.solve(quotient_system(v, count), change[:count].astype(np.result_type(change, np.float32)))
    return q_dot, (change - np.convolve(q_dot, v))[len(u) - len(r) :]


def polydiv_u_bar(y_bar: Any, y: Any, u: Any, v: Any) -> Any:
    return rt.cast(np.reshape(polydiv_bars(y_bar, y, u, v)[0], np.shape(u)), u)


def polydiv_v_bar(y_bar: Any, y: Any, u: Any, v: Any) -> Any:
    return rt.cast(np.reshape(polydiv_bars(y_bar, y, u, v)[1], np.shape(v)), v)


def polydiv_u_dot(u_dot: Any, y: Any, u: Any, v: Any) -> Any:
    return polydiv_dots(y, u, v, np.atleast_1d(u_dot), np.zeros_like(np.atleast_1d(v)))


def polydiv_v_dot(v_dot: Any, y: Any, u: Any, v: Any) -> Any:
    return polydiv_dots(y, u, v, np.zeros_like(np.atleast_1d(u)), np.atleast_1d(v_dot))


vjp(
    np.polydiv, u=polydiv_u_bar, v=polydiv_v_bar, params="u, v",
    samples=[
        args(arr(5), DIVISOR), args(arr(3), DIVISOR), args(arr(2), DIVISOR), args(arr(4), num(0.5)),
        args(arr(4, complex=True), arr(2, low=0.5, complex=True)),
    ],
)
jvp(np.polydiv, u=polydiv_u_dot, v=polydiv_v_dot)


# --- what else is known ---------------------------------------------------------------------------------------------

describe(np.roots, np.polydiv, varies=Varies.KIND)
