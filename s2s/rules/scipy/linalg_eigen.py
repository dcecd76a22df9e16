"""Rules of ``scipy.linalg`` for eigenvalues, and for what is made of them: polar factors, pseudoinverses, Procrustes.

Of a symmetric (Hermitian) matrix the cotangent is the symmetric one. Eigenvectors of a generalised problem are scaled
so that ``v^T b v`` is 1 (as SciPy does for its type 1).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from s2s import runtime as rt
from s2s.rules.numpy.linalg import eigh_dot, qr_dot
from s2s.rules.numpy.linalg_eigen import eig_bar, eig_dot, eigvals_bar, eigvals_dot
from s2s.rules.samples import args, arr
from s2s.rules.scipy.linalg import symmetric, transposed_matrix
from s2s.rules.table import jvp, kind_by_value, model, requires, vjp, zero

# --- symmetric matrices -----------------------------------------------------------------------------------------------


def chosen(w: Any, a: Any, b: Any, subset_by_index: Any, subset_by_value: Any) -> Any:
    """Which of all eigenvalues a call gives: a slice."""
    if subset_by_index is not None:
        return slice(subset_by_index[0], subset_by_index[1] + 1)
    if subset_by_value is not None:
        first = int(np.sum(w <= subset_by_value[0]))
        return slice(first, first + int(np.sum((w > subset_by_value[0]) & (w <= subset_by_value[1]))))
    return slice(0, len(w))


zero(chosen)


def in_columns(part: Any, whole: Any, places: Any) -> Any:
    """``whole`` with some of its columns replaced."""
    return np.concatenate([whole[..., : places.start], part, whole[..., places.stop :]], axis=-1)


def plain_bars(w_bar: Any, v_bar: Any, w: Any, v: Any, a: Any, lower: Any, index: Any, value: Any) -> Any:
    """The cotangent of a symmetric matrix from those of some eigenvalues and eigenvectors; None stands for none."""
    if index is None and value is None and v is not None:
        return rt.eigh_bar(w_bar, v_bar, w, v)
    every_w, every_v = scipy.linalg.eigh(a, lower=lower)
    places = chosen(every_w, a, None, index, value)
    if v is not None:  # the signs may differ
        every_v = in_columns(v, every_v, places)
    every_w_bar = None if w_bar is None else in_columns(np.broadcast_to(w_bar, np.shape(w)), 0.0 * every_w, places)
    every_v_bar = None if v_bar is None else in_columns(np.broadcast_to(v_bar, np.shape(v)), 0.0 * every_v, places)
    return rt.eigh_bar(every_w_bar, every_v_bar, every_w, every_v)


REAL_ONLY = "for two matrices it has a rule for real ones; write it with cholesky, solve_triangular and eigh"
VECTORS = "eigenvectors of the types 2 and 3 have no rule; use type=1, or eigvalsh"


def pair_bars(
    w_bar: Any, v_bar: Any, v: Any, a: Any, b: Any, lower: Any, type: Any, index: Any, value: Any
) -> tuple[Any, Any]:
    """The cotangents of the two matrices of ``a v = w b v`` (a b v = w v, b a v = w v for the types 2 and 3)."""
    w, every = scipy.linalg.eigh(a, b, lower=lower, type=type)
    places = chosen(w, a, b, index, value)
    if v is not None:
        every = in_columns(v, every, places)
    g = 0.0 * w if w_bar is None else in_columns(np.broadcast_to(w_bar, (places.stop - places.start,)), 0.0 * w, places)
    if type == 2:  # the left eigenvectors are b v
        full_b = np.tril(b) + np.tril(b, -1).T if lower else np.triu(b) + np.triu(b, 1).T
        left = full_b @ every
        return (left * g) @ left.T, (every * (g * w)) @ every.T
    if type == 3:  # inv(b) v
        full_a = np.tril(a) + np.tril(a, -1).T if lower else np.triu(a) + np.triu(a, 1).T
        left = full_a @ every / w
        return (every * g) @ every.T, (left * (g * w)) @ left.T
    a_in, b_in = np.diag(g), -np.diag(g * w)
    if v_bar is not None:
        along = every.T @ in_columns(np.broadcast_to(v_bar, np.shape(v)), 0.0 * every, places)
        size = np.max(np.abs(w), initial=0.0)
        turned = rt.gap_quotient(along, w[None, :] - w[:, None], size)
        a_in, b_in = a_in + turned, b_in - turned * w - 0.5 * along * np.eye(len(w), dtype=w.dtype)
    return symmetric(every @ a_in @ every.T), symmetric(every @ b_in @ every.T)


def eigh_a(
    y_bar: Any, y: Any, a: Any, b: Any, lower: Any, eigvals_only: Any, type: Any, subset_by_index: Any,
    subset_by_value: Any,
) -> Any:
    if np.ndim(a) > 2:
        return rt.no_derivative("scipy.linalg.eigh", "of a stack of matrices it has no rule; use np.linalg.eigh")
    w_bar, v_bar = (y_bar, None) if eigvals_only else rt.whole(y_bar, y)
    w, v = (y, None) if eigvals_only else (y[0], y[1])
    if b is None:
        return plain_bars(w_bar, v_bar, w, v, a, lower, subset_by_index, subset_by_value)
    if type != 1 and v_bar is not None:
        return rt.no_derivative("scipy.linalg.eigh", VECTORS)
    return pair_bars(w_bar, v_bar, v, a, b, lower, type, subset_by_index, subset_by_value)[0]


def eigh_b(
    y_bar: Any, y: Any, a: Any, b: Any, lower: Any, eigvals_only: Any, type: Any, subset_by_index: Any,
    subset_by_value: Any,
) -> Any:
    w_bar, v_bar = (y_bar, None) if eigvals_only else rt.whole(y_bar, y)
    if type != 1 and v_bar is not None:
        return rt.no_derivative("scipy.linalg.eigh", VECTORS)
    v = None if eigvals_only else y[1]
    return pair_bars(w_bar, v_bar, v, a, b, lower, type, subset_by_index, subset_by_value)[1]


EIGEN = "a, b=None, *, lower=True, {} overwrite_a=False, overwrite_b=False, type=1, check_finite=True, {}"
SUBSETS = "subset_by_index=None, subset_by_value=None, driver=None"
ONE, TWO = arr(4, 4, positive=True), arr(4, 4, low=-0.5, high=0.5, positive=True)
vjp(
    scipy.linalg.eigh, a=eigh_a, b=eigh_b, params=EIGEN.format("eigvals_only=False,", SUBSETS),
    harmless="driver overwrite_a overwrite_b",
    samples=[
        args(arr(3, 3, positive=True), eigvals_only=True), args(ONE, lower=False, eigvals_only=True),
        args(arr(3, 3, positive=True, complex=True), eigvals_only=True), args(ONE, TWO, eigvals_only=True),
        args(ONE, TWO, eigvals_only=True, type=2), args(ONE, TWO, eigvals_only=True, type=3, lower=False),
        args(ONE, subset_by_index=[0, 1], eigvals_only=True), args(ONE, TWO),
        args(ONE, subset_by_index=[1, 2]),
    ],
)
vjp(
    scipy.linalg.eigvalsh, params=EIGEN.format("", SUBSETS), harmless="driver overwrite_a overwrite_b",
    a=lambda y_bar, y, a, b, lower, type, subset_by_index, subset_by_value: eigh_a(
        y_bar, y, a, b, lower, True, type, subset_by_index, subset_by_value),
    b=lambda y_bar, y, a, b, lower, type, subset_by_index, subset_by_value: eigh_b(
        y_bar, y, a, b, lower, True, type, subset_by_index, subset_by_value),
    samples=[
        args(arr(3, 3, positive=True)), args(arr(3, 3, positive=True, complex=True)), args(ONE, TWO),
        args(ONE, subset_by_index=[2, 3]),
    ],
)


@requires(scipy.linalg.eigh, scipy.linalg.eigvalsh)
def real_pair(a: Any, b: Any) -> None:
    if b is not None and (np.iscomplexobj(a) or np.iscomplexobj(b)):
        rt.no_derivative("scipy.linalg.eigh", REAL_ONLY)


def pair_dots(a_dot: Any, b_dot: Any, a: Any, b: Any, y: Any, lower: Any, eigvals_only: Any, type: Any) -> Any:
    """The tangents of eigenvalues and eigenvectors of a generalised problem."""
    w, v = scipy.linalg.eigh(a, b, lower=lower, type=type) if eigvals_only else (y[0], y[1])
    if type == 2:
        left = (np.tril(b) + np.tril(b, -1).T if lower else np.triu(b) + np.triu(b, 1).T) @ v
        return np.sum(left * (symmetric(a_dot) @ left), 0) + w * np.sum(v * (symmetric(b_dot) @ v), 0)
    if type == 3:
        left = (np.tril(a) + np.tril(a, -1).T if lower else np.triu(a) + np.triu(a, 1).T) @ v / w
        return np.sum(v * (symmetric(a_dot) @ v), 0) + w * np.sum(left * (symmetric(b_dot) @ left), 0)
    by_a, by_b = v.T @ symmetric(a_dot) @ v, v.T @ symmetric(b_dot) @ v
    inner = by_a - by_b * w
    if eigvals_only:
        return np.diagonal(inner)
    turned = rt.gap_quotient(inner, w[None, :] - w[:, None], np.max(np.abs(w), initial=0.0))
    return np.diagonal(inner), v @ (turned - 0.5 * by_b * np.eye(len(w), dtype=w.dtype))


def eigen_dot(
    a_dot: Any, b_dot: Any, a: Any, b: Any, y: Any, lower: Any, eigvals_only: Any, type: Any, index: Any, value: Any
) -> Any:
    if b is not None:
        if (index is not None or value is not None) or (type != 1 and not eigvals_only):
            return rt.no_derivative("scipy.linalg.eigh", "forward mode has no rule for this; use reverse mode")
        zeros = np.zeros_like(a)
        return pair_dots(a_dot if np.ndim(a_dot) else zeros, b_dot if np.ndim(b_dot) else zeros, a, b, y, lower,
                         eigvals_only, type)
    w, v = scipy.linalg.eigh(a, lower=lower)
    places = chosen(w, a, b, index, value)
    if not eigvals_only:
        v = in_columns(y[1], v, places)
    w_dot, v_dot = eigh_dot(w, v, a_dot)
    return w_dot[places] if eigvals_only else (w_dot[places], v_dot[:, places])


@jvp(scipy.linalg.eigh)
def eigh_tangent(
    a_dot: Any, b_dot: Any, a: Any, b: Any, y: Any, lower: Any, eigvals_only: Any, type: Any, subset_by_index: Any,
    subset_by_value: Any,
) -> Any:
    return eigen_dot(a_dot, b_dot, a, b, y, lower, eigvals_only, type, subset_by_index, subset_by_value)


@jvp(scipy.linalg.eigvalsh)
def eigvalsh_dot(
    a_dot: Any, b_dot: Any, a: Any, b: Any, y: Any, lower: Any, type: Any, subset_by_index: Any, subset_by_value: Any
) -> Any:
    return eigen_dot(a_dot, b_dot, a, b, y, lower, True, type, subset_by_index, subset_by_value)


@model(scipy.linalg.eigvalsh_tridiagonal, samples=[args(arr(4), arr(3))])
def _eigvalsh_tridiagonal(
    d: Any, e: Any, select: Any = "a", select_range: Any = None, check_finite: Any = True, tol: Any = 0.0,
    lapack_driver: Any = "auto",
) -> Any:
    if select != "a" or tol > 0.0:
        reason = "it has a rule for all values, as exact as they are; index the result"
        return rt.no_derivative("scipy.linalg.eigvalsh_tridiagonal", reason)
    return scipy.linalg.eigvalsh(np.diag(d) + np.diag(e, -1) + np.diag(e, 1))


@model(scipy.linalg.eigvals_banded, samples=[args(arr(2, 4)), args(arr(3, 4), lower=True)])
def _eigvals_banded(
    a_band: Any, lower: Any = False, overwrite_a_band: Any = False, select: Any = "a", select_range: Any = None,
    check_finite: Any = True,
) -> Any:
    if select != "a":
        return rt.no_derivative("scipy.linalg.eigvals_banded", "it has a rule for all values; index the result")
    count, n = np.shape(a_band)
    if n < count:
        return rt.no_derivative("scipy.linalg.eigvals_banded", "it has a rule for no more bands than the matrix has")
    whole = 0.5 * np.diag(a_band[0] if lower else a_band[count - 1])
    for k in range(1, count):
        whole = whole + np.diag(a_band[k, : n - k] if lower else a_band[count - 1 - k, k:], -k)
    whole = whole + np.conj(whole.T)
    return scipy.linalg.eigvalsh(whole)


# --- general matrices -------------------------------------------------------------------------------------------------

LEFT = "left eigenvectors, and those of two matrices, have no rule; use eigvals, or the right ones of one matrix"


def eig_adjoint(y_bar: Any, y: Any, a: Any, b: Any, left: Any, right: Any, homogeneous_eigvals: Any) -> Any:
    if left or homogeneous_eigvals or b is not None or not right:
        return rt.no_derivative("scipy.linalg.eig", LEFT)
    return eig_bar(y_bar, y, a)


def eig_tangent(a_dot: Any, y: Any, a: Any, b: Any, left: Any, right: Any, homogeneous_eigvals: Any) -> Any:
    if left or homogeneous_eigvals or b is not None or not right:
        return rt.no_derivative("scipy.linalg.eig", LEFT)
    return eig_dot(y, a, a_dot)


def no_second(b: Any) -> Any:
    return rt.no_derivative("scipy.linalg.eig", LEFT)


vjp(
    scipy.linalg.eig, a=eig_adjoint, b=no_second,
    params=(
        "a, b=None, left=False, right=True, overwrite_a=False, overwrite_b=False, check_finite=True, "
        "homogeneous_eigvals=False"
    ),
    samples=[args(arr(3, 3, complex=True)), args(arr(4, 4, complex=True))],
)
jvp(scipy.linalg.eig, a=eig_tangent, b=no_second)
kind_by_value(scipy.linalg.eig)  # the eigenvectors are real where all eigenvalues are


def eigvals_a(y_bar: Any, y: Any, a: Any, b: Any) -> Any:
    if b is None:
        return eigvals_bar(y_bar, y, a)
    return rt.cast(np.linalg.solve(b.T, eigvals_bar(y_bar, y, 0.0j + np.linalg.solve(b, a))), a)


def eigvals_b(y_bar: Any, y: Any, a: Any, b: Any) -> Any:
    quotient = 0.0j + np.linalg.solve(b, a)
    return rt.cast(-np.linalg.solve(b.T, eigvals_bar(y_bar, y, quotient) @ quotient.T), b)


vjp(
    scipy.linalg.eigvals, a=eigvals_a, b=eigvals_b,
    params="a, b=None, overwrite_a=False, check_finite=True, homogeneous_eigvals=False",
    samples=[args(arr(3, 3, complex=True)), args(arr(3, 3, complex=True), arr(3, 3, complex=True))],
)


def eigvals_dot_a(a_dot: Any, y: Any, a: Any, b: Any) -> Any:
    if b is None:
        return eigvals_dot(y, a, a_dot)
    return eigvals_dot(y, np.linalg.solve(b, a), np.linalg.solve(b, a_dot))


def eigvals_dot_b(b_dot: Any, y: Any, a: Any, b: Any) -> Any:
    quotient = np.linalg.solve(b, a)
    return -eigvals_dot(y, quotient, np.linalg.solve(b, b_dot @ quotient))


jvp(scipy.linalg.eigvals, a=eigvals_dot_a, b=eigvals_dot_b)

# --- what is made of them ---------------------------------------------------------------------------------------------


@model(
    scipy.linalg.pinvh,
    samples=[
        args(arr(3, 3, positive=True)), args(arr(3, 3, positive=True), lower=False),
        args(arr(3, 3, positive=True, complex=True)), args(arr(3, 3, positive=True), return_rank=True),
    ],
)
def _pinvh(
    a: Any, atol: Any = None, rtol: Any = None, lower: Any = True, return_rank: Any = False, check_finite: Any = True
) -> Any:
    part = np.tril(a, -1) if lower else np.triu(a, 1)
    whole = part + np.conj(transposed_matrix(part)) + np.real(a) * np.eye(np.shape(a)[-1])
    return scipy.linalg.pinv(whole, atol=atol, rtol=rtol, return_rank=return_rank)


@model(scipy.linalg.polar, samples=[args(arr(3, 3)), args(arr(4, 3)), args(arr(3, 3), side="left")])
def _polar(a: Any, side: Any = "right") -> Any:
    w, s, vh = np.linalg.svd(a, full_matrices=False)
    if side == "right":
        return w @ vh, (np.conj(vh.T) * s) @ vh
    return w @ vh, (w * s) @ np.conj(w.T)


@model(scipy.linalg.orthogonal_procrustes, samples=[args(arr(4, 3), arr(4, 3))])
def _orthogonal_procrustes(A: Any, B: Any, check_finite: Any = True) -> Any:
    u, w, vt = np.linalg.svd(np.conj(A.T @ np.conj(B)) if np.iscomplexobj(A) else A.T @ B)
    return u @ vt, np.sum(w)


# --- rq: the qr of the transpose, turned round ------------------------------------------------------------------------


def turned(r: Any, q: Any) -> tuple[Any, Any]:
    """The factors ``q, r`` of the transposed matrix with its rows turned round."""
    return np.flip(q, 0).T, np.flip(r).T


def rq_bar(y_bar: Any, y: Any, a: Any, mode: Any) -> Any:
    if mode == "r" or np.shape(a)[0] > np.shape(a)[1]:
        return rt.no_derivative("scipy.linalg.rq", "it has a rule for both factors of a square or wide matrix")
    if np.shape(a)[0] < np.shape(a)[1] and mode != "economic":
        return rt.no_derivative("scipy.linalg.rq", "of a wide matrix it has a rule for mode='economic'")
    r_bar, q_bar = rt.whole(y_bar, y)
    bars = turned(np.zeros_like(y[0]) if r_bar is None else r_bar, np.zeros_like(y[1]) if q_bar is None else q_bar)
    factors = turned(*y)
    return np.flip(rt.qr_bar(bars, factors, "reduced").T, 0)


def rq_dot(a_dot: Any, y: Any) -> Any:
    q_dot, r_dot = qr_dot(*turned(*y), np.flip(a_dot, 0).T)
    return np.flip(r_dot.T), np.flip(q_dot.T, 0)


vjp(
    scipy.linalg.rq, a=rq_bar, params="a, overwrite_a=False, lwork=None, mode='full', check_finite=True",
    harmless="lwork",
    samples=[args(arr(3, 3)), args(arr(3, 4), mode="economic"), args(arr(3, 3, complex=True))],
)
jvp(scipy.linalg.rq, a=rq_dot)
