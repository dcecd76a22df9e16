"""Rules of ``numpy.linalg``. Formulas: M. Giles, "Collected matrix derivative results for forward and reverse
mode algorithmic differentiation" (2008), unless another source stands beside the rule.
 Where a function reads one triangle of a symmetric matrix (cholesky, eigh) the cotangent is the symmetric
one (Hermitian where it is complex), as in autograd and JAX: the derivative along symmetric changes. Cotangents of
complex matrices follow JAX's convention.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.core.functions import Result, Varies
from s2s.rules.functions import describe
from s2s.rules.samples import args, arr, num
from s2s.rules.table import alias, jvp, linear, model, vjp, zero


def _h(a: Any) -> Any:
    """The conjugate transpose, also of a stack of matrices."""
    return np.conj(np.swapaxes(a, -1, -2))


# --- solve, inv, det ----------------------------------------------------------------------------------------


def solve_b(y_bar: Any, a: Any, b: Any) -> Any:
    if not isinstance(a, np.ndarray):
        a = np.asarray(a)
    if np.ndim(a) == 2:
        return np.linalg.solve(a.T, y_bar)
    if np.ndim(b) == 1:
        return rt.unbroadcast(np.linalg.solve(np.swapaxes(a, -1, -2), y_bar[..., None])[..., 0], b)
    return rt.unbroadcast(np.linalg.solve(np.swapaxes(a, -1, -2), y_bar), b)


def solve_a(y_bar: Any, y: Any, a: Any, b: Any) -> Any:
    """Minus the outer product of ``b_bar`` (the same solve as in ``solve_b``) and the solution."""
    if not isinstance(a, np.ndarray):
        a = np.asarray(a)
    if np.ndim(a) == 2 and np.ndim(b) == 1:
        return -np.outer(np.linalg.solve(a.T, y_bar), y)
    if np.ndim(a) == 2 and np.ndim(b) == 2:
        return -(np.linalg.solve(a.T, y_bar) @ y.T)
    if np.ndim(b) == 1:
        return -(np.linalg.solve(np.swapaxes(a, -1, -2), y_bar[..., None]) * y[..., None, :])
    return rt.unbroadcast(-(np.linalg.solve(np.swapaxes(a, -1, -2), y_bar) @ np.swapaxes(y, -1, -2)), a)


vjp(
    np.linalg.solve, a=solve_a, b=solve_b, params="a, b",
    samples=[
        args(arr(3, 3), arr(3)), args(arr(3, 3), arr(3, 2)), args(arr(2, 3, 3), arr(2, 3, 2)),
        args(arr(2, 3, 3), arr(3)),
        args(arr(3, 3), arr(2, 3, 1)), args(arr(2, 3, 3), arr(3, 2)),
        args(arr(3, 3, complex=True), arr(3, complex=True)),
        args(arr(0, 0), arr(0)), args([[num(), 1.0], [2.0, num()]], [num(), 0.5]),
    ],
)


@jvp(np.linalg.solve)
def solve_dot(y: Any, a: Any, b: Any, a_dot: Any, b_dot: Any) -> Any:
    """One solve with the change of both sides: a y_dot = b_dot - a_dot y."""
    if np.ndim(b) == 1:
        return solve_dot(y[..., None], a, np.expand_dims(b, -1), a_dot, np.expand_dims(b_dot, -1))[..., 0]
    if isinstance(a_dot, float):  # there is none
        return np.linalg.solve(a, b_dot)
    return np.linalg.solve(a, b_dot - a_dot @ y)


def inv_bar(y_bar: Any, y: Any) -> Any:
    if np.ndim(y) == 2:
        return -(y.T @ y_bar @ y.T)
    return -(np.swapaxes(y, -1, -2) @ y_bar @ np.swapaxes(y, -1, -2))


vjp(
    np.linalg.inv, a=inv_bar, params="a",
    samples=[args(arr(3, 3)), args(arr(2, 3, 3)), args(arr(2, 2, complex=True))],
)
jvp(np.linalg.inv, a=lambda a_dot, y: -(y @ a_dot @ y))


def det_bar(y_bar: Any, y: Any, a: Any) -> Any:
    if np.ndim(a) == 2:
        return y_bar * rt.cofactor(a, y)
    return y_bar[..., None, None] * rt.cofactor(a, y)


vjp(
    np.linalg.det, a=det_bar, params="a",
    samples=[args(arr(3, 3)), args(arr(2, 3, 3)), args(arr(2, 2, complex=True)), args(arr(1, 1))],
)


def slogdet_bar(y_bar: Any, y: Any, a: Any) -> Any:
    """The result is (sign, log |det|). The sign of a real matrix is constant; that of a complex one turns."""
    if np.iscomplexobj(a):
        weight = rt.slogdet_weight(y_bar, y)
    else:
        weight = y_bar[1]
    if np.ndim(a) == 2:
        return weight * np.linalg.inv(a).T
    return np.expand_dims(weight, (-1, -2)) * np.swapaxes(np.linalg.inv(a), -1, -2)


vjp(
    np.linalg.slogdet, a=slogdet_bar, params="a",
    samples=[args(arr(3, 3)), args(arr(2, 3, 3)), args(arr(3, 3, complex=True))],
)


# --- the same with factors ----------------------------------------------------------------------------------


model(rt.solve_with)(lambda factors, a, b, transposed=False: np.linalg.solve(a.T if transposed else a, b))
model(rt.inv_of)(lambda factors, a: np.linalg.inv(a))
model(rt.det_of)(lambda factors, a: np.linalg.det(a))
model(rt.slogdet_of)(lambda factors, a: np.linalg.slogdet(a))
model(rt.cofactor_of)(lambda factors, a, determinant: rt.cofactor(a, determinant))
zero(rt.factors)


# --- norm ---------------------------------------------------------------------------------------------------


def norm_bar(y_bar: Any, y: Any, x: Any, ord: Any, axis: Any, keepdims: Any) -> Any:
    """x / |x|, and 0 where x is 0: ``y + (y == 0.0)`` is y, or 1 where y is 0."""
    if not isinstance(x, np.ndarray):
        x = np.asarray(x)
    if ord is not None:
        return rt.norm_bar(y_bar, y, x, ord, axis, keepdims)
    if axis is not None and not keepdims:
        y_bar = np.expand_dims(y_bar, axis)
        y = np.expand_dims(y, axis)
    if np.iscomplexobj(x):
        return np.conj(x) * (y_bar / (y + (y == 0.0)))
    return x * (y_bar / (y + (y == 0.0)))


def norm_ord(ord: Any) -> Any:
    return rt.no_derivative("the order of np.linalg.norm", "it has no rule; write the sum of powers")


NORMS = [
    args(arr(4)), args(arr(3, 4)), args(arr(3, 4), axis=1), args(arr(3, 4), axis=0, keepdims=True),
    args(arr(3, 4), keepdims=True),
    args(arr(2, 3, 4), axis=(0, 2)), args(arr(4, complex=True)), args(arr(0)),
    args([num(), num(), 1.0]),
]
ORDERS = [
    args(arr(4), 1), args(arr(4), 2), args(arr(4), np.inf), args(arr(4), -np.inf), args(arr(4), 3),
    args(arr(3, 4), 1.5, axis=-1),
    args(arr(3, 4), 2, axis=0, keepdims=True), args(arr(4), 0), args(arr(3, 4), "fro"),
    args(arr(2, 3, 4), "fro", axis=(1, 2)),
    args(arr(3, 4), 2), args(arr(3, 4), "nuc"), args(arr(2, 3, 4), 2, axis=(0, 1)), args(arr(3, 4), 1),
    args(arr(3, 4), np.inf),
    args(arr(3, 4), -1, keepdims=True), args(arr(3, 4), 1, axis=1), args(arr(3, 3), -2),
    args(arr(2, 3, 4), np.inf, axis=(0, 2)), args(arr(2, 3, 4), -np.inf, axis=(2, 1), keepdims=True),
    *[args(arr(4, complex=True), p) for p in (1, 2, 3, np.inf)],
    *[args(arr(3, 4, complex=True), p) for p in ("fro", "nuc", 2, 1)],
]
vjp(
    np.linalg.norm, x=norm_bar, ord=norm_ord, params="x, ord=None, axis=None, keepdims=False",
    samples=[*NORMS, *ORDERS],
)


def norm_dot(x_dot: Any, y: Any, x: Any, ord: Any, axis: Any, keepdims: Any) -> Any:
    slope = norm_bar(np.ones_like(y), y, x, ord, axis, keepdims)
    return np.sum(np.real(slope * x_dot), axis=axis, keepdims=keepdims)


jvp(np.linalg.norm, x=norm_dot, ord=norm_ord)


@model(
    np.linalg.vector_norm,
    samples=[
        args(arr(4)), args(arr(3, 4)), args(arr(3, 4), axis=1, ord=3), args(arr(3, 4), axis=0, keepdims=True),
        args(arr(3, 4), keepdims=True), args(arr(2, 3, 4), axis=(0, 2)),
    ],
)
def _vector_norm(x: Any, /, *, axis: Any = None, keepdims: Any = False, ord: Any = 2) -> Any:
    if isinstance(axis, int):
        return np.linalg.norm(x, ord, axis, keepdims)
    if axis is None:
        norm = np.linalg.norm(np.ravel(x), ord)
        return np.reshape(norm, (1,) * np.ndim(x)) if keepdims else norm
    rest = tuple([i for i in range(np.ndim(x)) if i not in axis and i - np.ndim(x) not in axis])
    flat = np.reshape(np.transpose(x, (*rest, *axis)), (*[np.shape(x)[i] for i in rest], -1))
    norm = np.linalg.norm(flat, ord, -1)
    return np.expand_dims(norm, axis) if keepdims else norm


@model(
    np.linalg.matrix_norm,
    samples=[
        args(arr(3, 4)), args(arr(2, 3, 4), ord=2), args(arr(2, 3, 4), keepdims=True, ord=1),
        args(arr(3, 3), ord="nuc"),
    ],
)
def _matrix_norm(x: Any, /, *, keepdims: Any = False, ord: Any = "fro") -> Any:
    return np.linalg.norm(x, ord, (-2, -1), keepdims)


@model(
    np.linalg.cond,
    samples=[args(arr(3, 3)), args(arr(4, 3)), args(arr(3, 3), 1), args(arr(2, 3, 3), "fro"), args(arr(3, 3), -2)],
)
def _cond(x: Any, p: Any = None) -> Any:
    if p is None or p == 2 or p == -2:
        s = np.linalg.svd(x, compute_uv=False)
        return s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    return np.linalg.norm(x, p, (-2, -1)) * np.linalg.norm(np.linalg.inv(x), p, (-2, -1))


# --- factorisations -----------------------------------------------------------------------------------------


def cholesky_adjoint(y_bar: Any, y: Any, upper: Any) -> Any:
    """I. Murray, "Differentiation of the Cholesky decomposition" (2016), equation 10."""
    if upper:
        return rt.cholesky_bar(np.conj(np.swapaxes(y_bar, -1, -2)), np.conj(np.swapaxes(y, -1, -2)))
    return rt.cholesky_bar(y_bar, y)


POSITIVE_DEFINITE = [args(arr(3, 3, positive=True)), args(arr(2, 3, 3, positive=True))]
HERMITIAN = args(arr(3, 3, positive=True, complex=True))
vjp(
    np.linalg.cholesky, a=cholesky_adjoint, params="a, /, *, upper=False",
    samples=[*POSITIVE_DEFINITE, HERMITIAN, args(arr(3, 3, positive=True), upper=True)],
)


@jvp(np.linalg.cholesky)
def cholesky_tangent(y: Any, a_dot: Any, upper: Any) -> Any:
    if upper:
        return np.conj(np.swapaxes(rt.cholesky_dot(np.conj(np.swapaxes(y, -1, -2)), a_dot), -1, -2))
    return rt.cholesky_dot(y, a_dot)


def eigh_adjoint(y_bar: Any, y: Any) -> Any:
    """V diag(w_bar) V^T, and what turns the eigenvectors where something reads them."""
    if y_bar[1] is None and np.ndim(y_bar[0]) == np.ndim(y[0]) and not np.iscomplexobj(y[1]):
        rt.note_equal(y[0])
        return (y[1] * np.expand_dims(y_bar[0], -2)) @ np.swapaxes(y[1], -1, -2)
    return rt.eigh_bar(y_bar[0], y_bar[1], y[0], y[1])


vjp(
    np.linalg.eigh, a=eigh_adjoint, params="a, UPLO='L'",
    decides="UPLO", samples=[*POSITIVE_DEFINITE, args(arr(3, 3, positive=True), UPLO="U")],
)
vjp(
    np.linalg.eigvalsh, params="a, UPLO='L'",
    samples=[*POSITIVE_DEFINITE, args(arr(3, 3, positive=True), UPLO="U"), HERMITIAN],
    a=lambda y_bar, a, UPLO: rt.eigvalsh_bar(y_bar, *np.linalg.eigh(a, UPLO)),
)


jvp(np.linalg.eigh, a=lambda a_dot, y: eigh_dot(y[0], y[1], a_dot))
jvp(np.linalg.eigvalsh, a=lambda a_dot, a, UPLO: eigh_dot(*np.linalg.eigh(a, UPLO), a_dot)[0])


def eigh_dot(w: Any, v: Any, a_dot: Any) -> tuple[Any, Any]:
    """The tangents of eigenvalues and eigenvectors along a symmetric (Hermitian) change; NaN for the eigenvectors of
    equal eigenvalues that the change turns. Those of eigenvalues that stay equal it does not: in their basis it is
    diagonal.
    """
    inner = _h(v) @ (0.5 * (a_dot + _h(a_dot))) @ v
    largest = np.max(np.abs(inner), axis=(-2, -1), keepdims=True, initial=0.0)
    rounding = np.shape(w)[-1] * np.finfo(w.dtype).eps * largest
    size = np.max(np.abs(w), axis=-1, initial=0.0)[..., None, None]
    turn = rt.gap_quotient(inner, w[..., None, :] - w[..., :, None], size, np.abs(inner) > rounding)
    rt.note_equal(w)
    return np.real(np.diagonal(inner, axis1=-2, axis2=-1)), v @ turn


def svd_adjoint(y_bar: Any, y: Any, a: Any, compute_uv: Any, hermitian: Any) -> Any:
    """A Hermitian matrix is read in one triangle: the cotangent is the symmetric one, as of ``eigh``."""
    a_bar = rt.svd_bar(y_bar, y, a) if compute_uv else rt.svdvals_bar(y_bar, a)
    return 0.5 * (a_bar + _h(a_bar)) if hermitian else a_bar


def svdvals_dot(a: Any, a_dot: Any) -> Any:
    """The tangent of the singular values."""
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    rt.note_equal(s)
    return np.real(np.sum(np.conj(u) * (a_dot @ _h(vh)), axis=-2))


def svd_dot(y: Any, a_dot: Any) -> tuple[Any, Any, Any]:
    """The tangents of singular vectors and values (see ``rt.svd_bar``); NaN where a vector is not determined: for equal
    singular values, and for the vectors that complete the matrices of an oblong one.
    """
    whole_u, s, whole_vh = y
    n = s.shape[-1]
    u, vh = whole_u[..., :n], whole_vh[..., :n, :]
    inner = _h(u) @ a_dot @ _h(vh)
    size = np.max(s, axis=-1, initial=0.0)[..., None, None]
    size = size + (size == 0.0)
    rows, columns, turned = s[..., :, None] / size, s[..., None, :] / size, inner / size
    gaps = (columns - rows) * (columns + rows)
    u_dot = u @ rt.gap_quotient(turned * columns + rows * _h(turned), gaps, 1.0)
    v_dot = _h(vh) @ rt.gap_quotient(rows * turned + _h(turned) * columns, gaps, 1.0)
    if np.iscomplexobj(u):  # the phase that u and v turn by together
        turn = 1.0j * np.imag(np.diagonal(inner, axis1=-2, axis2=-1)) / (s + (s == 0.0))
        v_dot = v_dot - _h(vh) * turn[..., None, :]
    if u.shape[-2] > n:
        u_dot = u_dot + (a_dot @ _h(vh) - u @ inner) / s[..., None, :]
    if vh.shape[-1] > n:
        v_dot = v_dot + (_h(a_dot) @ u - _h(vh) @ _h(inner)) / s[..., None, :]
    u_dot, vh_dot = _completed(u_dot, whole_u), _h(_completed(v_dot, _h(whole_vh)))
    rt.note_equal(s)
    return u_dot, np.real(np.diagonal(inner, axis1=-2, axis2=-1)), vh_dot


def _completed(columns: Any, like: Any) -> Any:
    """Columns with others of NaN, to the shape of ``like``."""
    whole = np.full_like(like, np.nan)
    whole[..., : columns.shape[-1]] = columns
    return whole


vjp(
    np.linalg.svd, a=svd_adjoint, params="a, full_matrices=True, compute_uv=True, hermitian=False",
    harmless="full_matrices",
    samples=[
        args(arr(3, 3, positive=True), hermitian=True), args(arr(3, 3, positive=True), True, False, True),
        args(arr(3, 4), compute_uv=False), args(arr(2, 4, 3), compute_uv=False), args(arr(3, 3)),
        args(arr(4, 3), False),
        args(arr(2, 3, 4), full_matrices=False), args(arr(3, 4, complex=True), compute_uv=False),
    ],
)
vjp(
    np.linalg.svdvals, x=lambda y_bar, x: rt.svdvals_bar(y_bar, x), params="x, /",
    samples=[args(arr(3, 4)), args(arr(2, 4, 3))],
)

jvp(
    np.linalg.svd, a=lambda a_dot, y, a, compute_uv: svd_dot(y, a_dot) if compute_uv else svdvals_dot(a, a_dot),
)
jvp(np.linalg.svdvals, x=lambda x_dot, x: svdvals_dot(x, x_dot))


def qr_adjoint(y_bar: Any, y: Any, a: Any, mode: Any) -> Any:
    if mode == "r":
        return rt.qr_bar((None, y_bar), (np.linalg.qr(a)[0], y), mode)
    if mode == "raw":
        return rt.no_derivative("np.linalg.qr", "the mode 'raw' has no rule; use 'reduced'")
    return rt.qr_bar(y_bar, y, mode)


vjp(
    np.linalg.qr, a=qr_adjoint, params="a, mode='reduced'",
    samples=[
        args(arr(4, 3)), args(arr(3, 3)), args(arr(2, 4, 3)), args(arr(3, 5)), args(arr(2, 3, 4)),
        args(arr(3, 3), "complete"), args(arr(3, 4), "complete"), args(arr(4, 3), "r"), args(arr(4, 3, complex=True)),
    ],
)


def qr_dot(q: Any, r: Any, a_dot: Any) -> tuple[Any, Any]:
    """The tangents of ``q, r`` (see ``rt.qr_bar``). Raises ValueError for the complete factors of a matrix with more
    rows than columns.
    """
    m = q.shape[-1]
    if r.shape[-2] > r.shape[-1] or q.shape[-2] < m:
        raise ValueError("the extra columns of q have no derivative; call np.linalg.qr(a) in its reduced mode")
    square, first_dot = r[..., :m], a_dot[..., :m]
    moved = _h(np.linalg.solve(_h(square), _h(first_dot)))  # a_dot inv(r)
    inner = _h(q) @ moved
    lower = np.tril(inner, -1)
    turn = lower - _h(lower)
    if np.iscomplexobj(q):
        turn = turn + 1.0j * np.imag(inner) * np.eye(m)
    q_dot = moved - q @ (inner - turn)
    square_dot = (inner - turn) @ square
    rest_dot = _h(q) @ (a_dot[..., m:] - q_dot @ r[..., m:])
    return q_dot, np.concatenate([square_dot, rest_dot], axis=-1)


@jvp(np.linalg.qr)
def qr_tangent(y: Any, a: Any, a_dot: Any, mode: Any) -> Any:
    if mode == "raw":
        return rt.no_derivative("np.linalg.qr", "the mode 'raw' has no rule; use 'reduced'")
    if mode == "r":
        return qr_dot(np.linalg.qr(a)[0], y, a_dot)[1]
    return qr_dot(y[0], y[1], a_dot)


def pinv_adjoint(y_bar: Any, y: Any, a: Any, hermitian: Any) -> Any:
    """A Hermitian matrix is read in one triangle: the cotangent is the symmetric one, as of ``eigh``."""
    a_bar = rt.pinv_bar(y_bar, y, a)
    return 0.5 * (a_bar + _h(a_bar)) if hermitian else a_bar


vjp(
    np.linalg.pinv, a=pinv_adjoint, params="a, rcond=None, hermitian=False, *, rtol=None", decides="rcond rtol",
    samples=[
        args(arr(4, 3)), args(arr(3, 4)), args(arr(3, 3)), args(arr(2, 4, 3)), args(arr(4, 3, complex=True)),
        args(arr(3, 3, positive=True), hermitian=True), args(arr(4, 3), 1e-10), args(arr(4, 3), rtol=1e-10),
    ],
)


@jvp(np.linalg.pinv)
def pinv_tangent(y: Any, a: Any, a_dot: Any) -> Any:
    return pinv_dot(y, a, a_dot)


def pinv_dot(p: Any, a: Any, a_dot: Any) -> Any:
    """The tangent of the pseudoinverse ``p`` of ``a``, at constant rank (see ``rt.pinv_bar``)."""
    first, second = p @ _h(p) @ _h(a_dot), _h(a_dot) @ _h(p) @ p
    return first - first @ a @ p + second - p @ a @ second - p @ a_dot @ p + rt.beside_dropped(a_dot, p, a)


def lstsq_bars(g: Any, y: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """The cotangents of ``a`` and ``b`` from those of the solution, the sums of squares and the singular values of
    ``np.linalg.lstsq``; the solution is pinv(a) b.
    """
    x_bar, squares_bar, _, s_bar = rt.whole(g, y)
    x_bar = np.zeros_like(y[0]) if x_bar is None else x_bar
    columns, rights = np.reshape(b, (len(b), -1)), np.reshape(x_bar, (a.shape[1], -1))
    inverse = np.linalg.pinv(a, rt.cut(y[2], y[3], min(a.shape)))
    b_bar = inverse.T @ rights
    a_bar = rt.pinv_bar(rights @ columns.T, inverse, a)
    if squares_bar is not None and np.size(squares_bar):
        solution = inverse @ columns
        weighted = 2.0 * np.conj(columns - a @ solution) * np.reshape(squares_bar, -1)
        a_bar, b_bar = a_bar - weighted @ solution.T, b_bar + weighted
    if s_bar is not None:
        a_bar = a_bar + rt.svdvals_bar(s_bar, a)
    return a_bar, np.reshape(b_bar, np.shape(b))


vjp(
    np.linalg.lstsq,
    a=lambda y_bar, y, a, b: lstsq_bars(y_bar, y, a, b)[0],
    b=lambda y_bar, y, a, b: lstsq_bars(y_bar, y, a, b)[1],
    params="a, b, rcond=None", decides="rcond",
    samples=[
        args(arr(5, 3), arr(5)), args(arr(5, 3), arr(5, 2)), args(arr(3, 5), arr(3)), args(arr(3, 3), arr(3, 2)),
        args(arr(4, 2, complex=True), arr(4, complex=True)), args(arr(5, 3), arr(5), rcond=1e-12),
    ],
)


def _lstsq_dot(y: Any, a: Any, b: Any, a_dot: Any, b_dot: Any) -> tuple[Any, Any, Any, Any]:
    """The tangents of the solution, the sums of squares, the rank and the singular values."""
    inverse = np.linalg.pinv(a, rt.cut(y[2], y[3], min(a.shape)))
    solution = inverse @ b
    x_dot = inverse @ b_dot + pinv_dot(inverse, a, a_dot) @ b
    rest, rest_dot = b - a @ solution, b_dot - a_dot @ solution - a @ x_dot
    squares_dot = np.atleast_1d(np.sum(2.0 * np.real(np.conj(rest) * rest_dot), axis=0))
    return x_dot, squares_dot, 0, svdvals_dot(a, a_dot)


def lstsq_a_dot(a_dot: Any, y: Any, a: Any, b: Any) -> tuple[Any, Any, Any, Any]:
    x_dot, squares_dot, rank_dot, s_dot = _lstsq_dot(y, a, b, a_dot, np.zeros_like(b))
    return x_dot, squares_dot[: len(y[1])], rank_dot, s_dot


def lstsq_b_dot(b_dot: Any, y: Any, a: Any, b: Any) -> tuple[Any, Any, Any, Any]:
    x_dot, squares_dot, rank_dot, s_dot = _lstsq_dot(y, a, b, np.zeros_like(a), b_dot)
    return x_dot, squares_dot[: len(y[1])], rank_dot, s_dot


jvp(np.linalg.lstsq, a=lstsq_a_dot, b=lstsq_b_dot)


@model(
    np.linalg.tensorsolve,
    samples=[args(arr(2, 3, 6), arr(2, 3)), args(arr(2, 3, 2, 3), arr(2, 3)), args(arr(6, 2, 3), arr(6), axes=(1,))],
)
def _tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    if axes is not None:  # to the end, in their order
        a = np.transpose(a, (*[k for k in range(np.ndim(a)) if k not in axes], *axes))
    unknown = np.shape(a)[np.ndim(b) :]
    return np.reshape(np.linalg.solve(np.reshape(a, (np.size(b), np.size(b))), np.ravel(b)), unknown)


@model(np.linalg.tensorinv, samples=[args(arr(2, 3, 6)), args(arr(4, 2, 2), ind=1)])
def _tensorinv(a: Any, ind: Any = 2) -> Any:
    shape = np.shape(a)
    count = math.prod(shape[:ind])
    return np.reshape(np.linalg.inv(np.reshape(a, (count, -1))), (*shape[ind:], *shape[:ind]))


# --- products -----------------------------------------------------------------------------------------------

def vecdot_bar(y_bar: Any, x: Any, other: Any, axis: Any, keepdims: Any) -> Any:
    """The cotangent of one factor ``x`` of ``np.vecdot``, but for the conjugate of the first: the axis is that of each
    factor, and what is left of them broadcasts."""
    if axis == -1:
        return rt.unbroadcast((y_bar if keepdims else np.expand_dims(y_bar, -1)) * other, x)
    y_bar = np.moveaxis(y_bar, axis, -1) if keepdims else np.expand_dims(y_bar, -1)
    return np.moveaxis(rt.unbroadcast(y_bar * np.moveaxis(other, axis, -1), np.moveaxis(x, axis, -1)), -1, axis)


# The first factor is conjugated, as in np.vdot.
linear(
    np.vecdot,
    a=lambda y_bar, a, b, axis, keepdims: vecdot_bar(np.conj(y_bar), a, np.conj(b), axis, keepdims),
    b=lambda y_bar, a, b, axis, keepdims: vecdot_bar(y_bar, b, np.conj(a), axis, keepdims),
    params="a, b, /, out=None, *, axis=-1, keepdims=False, casting='same_kind', order='K', dtype=None, subok=True",
    samples=[args(arr(3), arr(3)), args(arr(2, 3), arr(3)), args(arr(3, 2), arr(3, 2), axis=0),
             args(arr(3, 2, 2), arr(3, 2), axis=0), args(arr(2, 3, 2), arr(3, 2), axis=-2, keepdims=True),
             args(arr(2, 3), arr(3), keepdims=True), args(arr(3, complex=True), arr(2, 3, complex=True))],
)
alias(
    np.vecdot, np.linalg.vecdot, params="a, b, /, *, axis=-1, keepdims=False",
    samples=[args(arr(2, 3), arr(3)), args(arr(3, 2), arr(3, 2), axis=0)],
)
vjp(
    np.linalg.matrix_power, a=lambda y_bar, y, a, n: rt.matrix_power_bar(y_bar, y, a, n), params="a, n",
    samples=[
        args(arr(3, 3), 3), args(arr(3, 3), 0), args(arr(3, 3), 1), args(arr(3, 3), -2),
        args(arr(2, 3, 3), 2),
    ],
)


def matrix_power_dot(a: Any, a_dot: Any, n: int) -> Any:
    """The tangent of ``np.linalg.matrix_power(a, n)``: the product rule, factor by factor."""
    if n < 0:
        inverse = np.linalg.inv(a)
        return matrix_power_dot(inverse, -(inverse @ a_dot @ inverse), -n)
    power, change = np.linalg.matrix_power(a, 0), np.zeros_like(a)
    for _ in range(n):
        change = change @ a + power @ a_dot
        power = power @ a
    return change


jvp(np.linalg.matrix_power, a=lambda a_dot, a, n: matrix_power_dot(a, a_dot, n))


@model(np.linalg.multi_dot, samples=[args([arr(2, 3), arr(3, 4)]), args([arr(3), arr(3, 4), arr(4)])])
def _multi_dot(arrays: Any) -> Any:
    for factor in arrays:
        if np.ndim(factor) > 2:
            return rt.no_derivative("numpy.linalg.multi_dot", "it has a rule for vectors and matrices")
    product = np.asarray(arrays[0])
    for factor in arrays[1:]:
        product = product @ np.asarray(factor)
    return product

# --- what else is known ---------------------------------------------------------------------------------------------

describe(np.vecdot, np.linalg.vecdot, result=Result.NEW)
describe(np.linalg.matrix_power, result=Result.SHARED)  # the first power is the matrix itself
describe(np.linalg.eig, np.linalg.eigvals, varies=Varies.COMPLEX)
describe(np.linalg.lstsq, varies=Varies.LENGTH)  # the residuals, by the rank
