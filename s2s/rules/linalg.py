"""Rules of ``numpy.linalg``. Formulas: M. Giles, "Collected matrix derivative results for forward and reverse
mode algorithmic differentiation" (2008), unless another source stands beside the rule.
 Where a function reads one triangle of a symmetric matrix (cholesky, eigh) the cotangent is the symmetric
one, as in autograd and JAX: the derivative along symmetric changes. Complex matrices follow JAX's convention
where it says so, and are refused elsewhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.rules.table import alias, args, arr, jvp, linear, model, refuse, vjp

# --- solve, inv, det ----------------------------------------------------------------------------------------


def _solve_b(y_bar: Any, a: Any, b: Any) -> Any:
    if np.ndim(a) == 2:
        return np.linalg.solve(a.T, y_bar)
    if np.ndim(b) == 1:
        return rt.unbroadcast(np.linalg.solve(np.swapaxes(a, -1, -2), y_bar[..., None])[..., 0], b)
    return rt.unbroadcast(np.linalg.solve(np.swapaxes(a, -1, -2), y_bar), b)


def _solve_a(y_bar: Any, y: Any, a: Any, b: Any) -> Any:
    """Minus the outer product of ``b_bar`` (the same solve as in ``_solve_b``) and the solution."""
    if np.ndim(a) == 2 and np.ndim(b) == 1:
        return -np.outer(np.linalg.solve(a.T, y_bar), y)
    if np.ndim(a) == 2 and np.ndim(b) == 2:
        return -(np.linalg.solve(a.T, y_bar) @ y.T)
    if np.ndim(b) == 1:
        return -(np.linalg.solve(np.swapaxes(a, -1, -2), y_bar[..., None]) * y[..., None, :])
    return rt.unbroadcast(-(np.linalg.solve(np.swapaxes(a, -1, -2), y_bar) @ np.swapaxes(y, -1, -2)), a)


vjp(
    np.linalg.solve, a=_solve_a, b=_solve_b, params="a, b",
    samples=[
        args(arr(3, 3), arr(3)), args(arr(3, 3), arr(3, 2)), args(arr(2, 3, 3), arr(2, 3, 2)),
        args(arr(2, 3, 3), arr(3)),
        args(arr(3, 3), arr(2, 3, 1)), args(arr(2, 3, 3), arr(3, 2)),
        args(arr(3, 3, complex=True), arr(3, complex=True)),
        args(arr(0, 0), arr(0)),
    ],
)


@jvp(np.linalg.solve)
def _solve_dot(y: Any, a: Any, b: Any, a_dot: Any, b_dot: Any) -> Any:
    if np.ndim(b) == 1:
        change = np.expand_dims(b_dot, -1) - a_dot @ np.expand_dims(y, -1)
        return np.linalg.solve(a, change)[..., 0]
    return np.linalg.solve(a, b_dot - a_dot @ y)


def _inv(y_bar: Any, y: Any) -> Any:
    if np.ndim(y) == 2:
        return -(y.T @ y_bar @ y.T)
    return -(np.swapaxes(y, -1, -2) @ y_bar @ np.swapaxes(y, -1, -2))


vjp(
    np.linalg.inv, a=_inv, params="a",
    samples=[args(arr(3, 3)), args(arr(2, 3, 3)), args(arr(2, 2, complex=True))],
)
jvp(np.linalg.inv)(lambda y, a_dot: -(y @ a_dot @ y))


def _det(y_bar: Any, y: Any, a: Any) -> Any:
    if np.ndim(a) == 2:
        return y_bar * rt.cofactor(a, y)
    return y_bar[..., None, None] * rt.cofactor(a, y)


vjp(
    np.linalg.det, a=_det, params="a",
    samples=[args(arr(3, 3)), args(arr(2, 3, 3)), args(arr(2, 2, complex=True)), args(arr(1, 1))],
)


@jvp(np.linalg.det)
def _det_dot(y: Any, a: Any, a_dot: Any) -> Any:
    return np.sum(rt.cofactor(a, y) * a_dot, axis=(-2, -1))


def _slogdet(y_bar: Any, y: Any, a: Any) -> Any:
    """The result is (sign, log |det|). The sign of a real matrix is constant; that of a complex one turns."""
    if np.iscomplexobj(a):
        weight = rt.slogdet_weight(y_bar, y)
    else:
        weight = y_bar[1]
    if np.ndim(a) == 2:
        return weight * np.linalg.inv(a).T
    return np.expand_dims(weight, (-1, -2)) * np.swapaxes(np.linalg.inv(a), -1, -2)


vjp(
    np.linalg.slogdet, a=_slogdet, params="a",
    samples=[args(arr(3, 3)), args(arr(2, 3, 3)), args(arr(3, 3, complex=True))],
)

# --- norm ---------------------------------------------------------------------------------------------------


def _norm(y_bar: Any, y: Any, x: Any, ord: Any, axis: Any, keepdims: Any) -> Any:
    """x / |x|, and 0 where x is 0: ``y + (y == 0.0)`` is y, or 1 where y is 0."""
    if ord is not None:
        return rt.norm_bar(y_bar, y, x, ord, axis, keepdims)
    if axis is not None and not keepdims:
        y_bar = np.expand_dims(y_bar, axis)
        y = np.expand_dims(y, axis)
    if np.iscomplexobj(x):
        return np.conj(x) * (y_bar / (y + (y == 0.0)))
    return x * (y_bar / (y + (y == 0.0)))


NORMS = [
    args(arr(4)), args(arr(3, 4)), args(arr(3, 4), axis=1), args(arr(3, 4), axis=0, keepdims=True),
    args(arr(3, 4), keepdims=True),
    args(arr(2, 3, 4), axis=(0, 2)), args(arr(4, complex=True)), args(arr(0)),
]
ORDERS = [
    args(arr(4), 1), args(arr(4), 2), args(arr(4), np.inf), args(arr(4), -np.inf), args(arr(4), 3),
    args(arr(3, 4), 1.5, axis=-1),
    args(arr(3, 4), 2, axis=0, keepdims=True), args(arr(4), 0), args(arr(3, 4), "fro"),
    args(arr(2, 3, 4), "fro", axis=(1, 2)),
    args(arr(3, 4), 2), args(arr(3, 4), "nuc"), args(arr(2, 3, 4), 2, axis=(0, 1)), args(arr(3, 4), 1),
    args(arr(3, 4), np.inf),
    args(arr(3, 4), -1, keepdims=True), args(arr(3, 4), 1, axis=1), args(arr(3, 3), -2),
]
vjp(np.linalg.norm, x=_norm, params="x, ord=None, axis=None, keepdims=False", samples=[*NORMS, *ORDERS])

# --- factorisations -----------------------------------------------------------------------------------------


def _cholesky(y_bar: Any, y: Any, upper: Any) -> Any:
    """I. Murray, "Differentiation of the Cholesky decomposition" (2016), equation 10."""
    if upper:
        return rt.cholesky_bar(np.swapaxes(y_bar, -1, -2), np.swapaxes(y, -1, -2))
    return rt.cholesky_bar(y_bar, y)


vjp(np.linalg.cholesky, a=_cholesky, params="a, /, *, upper=False")


@jvp(np.linalg.cholesky)
def _cholesky_dot(y: Any, a_dot: Any, upper: Any) -> Any:
    if upper:
        return np.swapaxes(rt.cholesky_dot(np.swapaxes(y, -1, -2), a_dot), -1, -2)
    return rt.cholesky_dot(y, a_dot)


vjp(
    np.linalg.eigh, a=lambda y_bar, y, a: rt.eigh_bar(y_bar[0], y_bar[1], y[0], y[1]), params="a, UPLO='L'",
    harmless="UPLO",
)
vjp(
    np.linalg.eigvalsh, params="a, UPLO='L'",
    a=lambda y_bar, a, UPLO: rt.eigvalsh_bar(y_bar, np.linalg.eigh(a, UPLO)[1]),
)


def _svd(y_bar: Any, y: Any, a: Any, full_matrices: Any, compute_uv: Any) -> Any:
    if not compute_uv:
        return rt.svdvals_bar(y_bar, a)
    return rt.svd_bar(y_bar, y, a)


vjp(
    np.linalg.svd, a=_svd, params="a, full_matrices=True, compute_uv=True, hermitian=False",
    samples=[args(arr(3, 4), compute_uv=False), args(arr(2, 4, 3), compute_uv=False)],
)
vjp(
    np.linalg.svdvals, x=lambda y_bar, x: rt.svdvals_bar(y_bar, x), params="x, /",
    samples=[args(arr(3, 4)), args(arr(2, 4, 3))],
)
vjp(
    np.linalg.qr, a=lambda y_bar, y, mode: rt.qr_bar(y_bar, y, mode), params="a, mode='reduced'",
    samples=[args(arr(4, 3)), args(arr(3, 3)), args(arr(2, 4, 3))],
)
vjp(
    np.linalg.pinv, a=lambda y_bar, y, a: rt.pinv_bar(y_bar, y, a),
    params="a, rcond=None, hermitian=False, *, rtol=None",
    harmless="rcond rtol", samples=[args(arr(4, 3)), args(arr(3, 4)), args(arr(3, 3)), args(arr(2, 4, 3))],
)

# --- products -----------------------------------------------------------------------------------------------

# The first factor is conjugated, as in np.vdot.
linear(
    np.vecdot,
    a=lambda y_bar, a, b, axis, keepdims: rt.unbroadcast(
        np.conj((y_bar if keepdims else np.expand_dims(y_bar, axis)) * b), a
    ),
    b=lambda y_bar, a, b, axis, keepdims: rt.unbroadcast(
        (y_bar if keepdims else np.expand_dims(y_bar, axis)) * np.conj(a), b
    ),
    params="a, b, /, out=None, *, axis=-1, keepdims=False, casting='same_kind', dtype=None",
    samples=[args(arr(3), arr(3)), args(arr(2, 3), arr(3)), args(arr(3, 2), arr(3, 2), axis=0),
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


@model(np.linalg.multi_dot, samples=[args([arr(2, 3), arr(3, 4)]), args([arr(3), arr(3, 4), arr(4)])])
def _multi_dot(arrays: Any) -> Any:
    product = arrays[0]
    for factor in arrays[1:]:
        product = product @ factor
    return product


refuse(
    np.linalg.eig,
    "eigenvectors of a general matrix have no unique scale; use np.linalg.eigh for a symmetric one",
)
refuse(np.linalg.eigvals, "they are complex and may collide; use np.linalg.eigvalsh for a symmetric matrix")
refuse(np.linalg.lstsq, "it gives four results; use np.linalg.solve(a.T @ a, a.T @ b) or np.linalg.pinv(a) @ b")
refuse(np.linalg.cond, "it has no rule; write the quotient of norms, or of the first and last of np.linalg.svdvals(a)")
refuse(np.unique, "the set of values has no derivative; use np.sort where their number is fixed")
