"""Rules of bases of spaces, and of banded matrices that are factored or have eigenvectors, in ``scipy.linalg``."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from s2s import runtime as rt
from s2s.rules.numpy.linalg import eigh_dot
from s2s.rules.samples import args, arr
from s2s.rules.table import jvp, kind_by_value, model, requires, takes_none, vjp, zero

# --- bases ------------------------------------------------------------------------------------------------------------

ONE = "a basis of several vectors may turn freely; use the projector I - pinv(A) @ A, in forward mode too"


def check_symmetric(by_turn: Any) -> None:
    """Raises NoDerivativeError for what reads more of a basis than the space that it spans."""
    if np.any(abs(by_turn - by_turn.T) > 1e-9 * np.max(abs(by_turn), initial=0.0)):
        rt.no_derivative("scipy.linalg.null_space", ONE)


def kept_directions(y: Any, A: Any) -> tuple[Any, Any]:
    """The singular vectors beside those in ``y``, and by how much the squares of the singular values of these are
    larger. None where A y is zero, and not only small enough to be left out."""
    if np.max(np.abs(A @ y), initial=0.0) * np.max(np.abs(np.linalg.pinv(A)), initial=0.0) < 1e-9:
        return None, None
    _, s, vh = np.linalg.svd(A, full_matrices=False)
    rank = np.shape(A)[1] - np.shape(y)[1]
    return vh[:rank].T, np.sum((A @ y) ** 2, axis=0) - s[:rank, None] ** 2


def null_space_bar(y_bar: Any, y: Any, A: Any) -> Any:
    """A vector q with A q = 0 of length 1 moves by -pinv(A) dA q. What turns several of them has no derivative: where
    they are read as the space that they span, y' y_bar is symmetric."""
    if np.shape(y)[1] > 1:
        check_symmetric(y.T @ y_bar)
    kept, gaps = kept_directions(y, A)
    if kept is None:
        return -(np.linalg.pinv(A).T @ y_bar) @ y.T
    turned = (kept.T @ y_bar) / gaps
    return (A @ y) @ turned.T @ kept.T + A @ kept @ turned @ y.T


def null_space_dot(A_dot: Any, y: Any, A: Any) -> Any:
    if np.shape(y)[1] > 1:
        return rt.no_derivative("scipy.linalg.null_space", ONE)
    kept, gaps = kept_directions(y, A)
    if kept is None:
        return -np.linalg.pinv(A) @ (A_dot @ y)
    return kept @ (((A_dot @ kept).T @ (A @ y) + (A @ kept).T @ (A_dot @ y)) / gaps)


zero(check_symmetric)
vjp(
    scipy.linalg.null_space, A=null_space_bar, harmless="lapack_driver", decides="rcond",
    params="A, rcond=None, *, overwrite_a=False, check_finite=True, lapack_driver='gesdd'",
    samples=[args(arr(2, 3)), args(arr(1, 2))],
)
jvp(scipy.linalg.null_space, A=null_space_dot)
kind_by_value(scipy.linalg.null_space)


@requires(scipy.linalg.null_space)
def real_null_space(A: Any) -> None:
    if np.iscomplexobj(A):
        rt.no_derivative("scipy.linalg.null_space", ONE)


@model(scipy.linalg.orth, samples=[args(arr(4, 2)), args(arr(3, 3))])
def _orth(A: Any, rcond: Any = None) -> Any:
    u, s, _ = scipy.linalg.svd(A, full_matrices=False)
    precision = np.finfo(np.asarray(s).dtype).eps * max(np.shape(A)) if rcond is None else rcond
    return u[:, : np.count_nonzero(s > precision * np.max(s, initial=0.0))]


# --- banded matrices --------------------------------------------------------------------------------------------------


def whole_of_band(a_band: Any, lower: Any) -> Any:
    """The symmetric or Hermitian matrix that has the diagonals."""
    count, n = np.shape(a_band)
    whole = 0.5 * np.diag(a_band[0] if lower else a_band[count - 1])
    for k in range(1, count):
        band = a_band[k, : n - k] if lower else np.conj(a_band[count - 1 - k, k:])
        whole = whole + np.diag(band, -k)
    return whole + np.conj(whole.T)


def triangle_of_band(c: Any, lower: Any) -> Any:
    """The triangular matrix that has the diagonals."""
    count, n = np.shape(c)
    whole = np.diag(c[0] if lower else c[count - 1])
    for k in range(1, count):
        whole = whole + (np.diag(c[k, : n - k], -k) if lower else np.diag(c[count - 1 - k, k:], k))
    return whole


def band_of(whole: Any, given: Any, lower: Any) -> Any:
    """The diagonals of a matrix, as SciPy has those of one triangle; where there is no element, what is given."""
    count, n = np.shape(given)
    band = given + np.zeros_like(given)
    for off in range(count):
        if lower:
            band[off, : n - off] = np.diagonal(whole, -off)
        else:
            band[count - 1 - off, off:] = np.diagonal(whole, off)
    return band


@model(
    scipy.linalg.cholesky_banded,
    samples=[args(arr(1, 3, low=1.0, high=2.0)), args(arr(1, 3, low=1.0, high=2.0), lower=True)],
)
def _cholesky_banded(ab: Any, overwrite_ab: Any = False, lower: Any = False, check_finite: Any = True) -> Any:
    return band_of(scipy.linalg.cholesky(whole_of_band(ab, lower), lower=lower), ab, lower)


@model(
    scipy.linalg.cho_solve_banded,
    samples=[args((arr(2, 3, low=0.5), True), arr(3)), args((arr(2, 3, low=0.5), False), arr(3, 2))],
)
def _cho_solve_banded(cb_and_lower: Any, b: Any, overwrite_b: Any = False, check_finite: Any = True) -> Any:
    c, lower = cb_and_lower
    return scipy.linalg.cho_solve((triangle_of_band(c, lower), lower), b)


# --- eigenvectors of banded matrices ----------------------------------------------------------------------------------

ALL = "it has a rule for all values; index the result"


def tridiagonal_pairs(d: Any, e: Any) -> Any:
    return scipy.linalg.eigh_tridiagonal(d, e)


def tridiagonal_d(y_bar: Any, y: Any) -> Any:
    return np.diagonal(rt.eigh_bar(y_bar[0], y_bar[1], y[0], y[1]))


def tridiagonal_e(y_bar: Any, y: Any) -> Any:
    made = rt.eigh_bar(y_bar[0], y_bar[1], y[0], y[1])
    return np.diagonal(made, 1) + np.diagonal(made, -1)


def tridiagonal_e_dot(e_dot: Any, y: Any) -> Any:
    return eigh_dot(y[0], y[1], np.diag(e_dot, 1) + np.diag(e_dot, -1))


vjp(tridiagonal_pairs, d=tridiagonal_d, e=tridiagonal_e, params="d, e")
jvp(tridiagonal_pairs, d=lambda d_dot, y: eigh_dot(y[0], y[1], np.diag(d_dot)), e=tridiagonal_e_dot)


@model(scipy.linalg.eigh_tridiagonal, samples=[args(arr(4), arr(3), eigvals_only=True)])
def _eigh_tridiagonal(
    d: Any, e: Any, eigvals_only: Any = False, select: Any = "a", select_range: Any = None, check_finite: Any = True,
    tol: Any = 0.0, lapack_driver: Any = "auto",
) -> Any:
    if select != "a":
        return rt.no_derivative("scipy.linalg.eigh_tridiagonal", ALL)
    return scipy.linalg.eigvalsh_tridiagonal(d, e) if eigvals_only else tridiagonal_pairs(d, e)


def banded_pairs(a_band: Any, lower: Any) -> Any:
    return scipy.linalg.eig_banded(a_band, lower)


def banded_bar(y_bar: Any, y: Any, a_band: Any, lower: Any) -> Any:
    made = rt.eigh_bar(y_bar[0], y_bar[1], y[0], y[1])
    made = np.tril(made) + np.triu(made, 1).T
    return band_of(made if lower else made.T, np.zeros_like(a_band), lower)


vjp(banded_pairs, a_band=banded_bar, params="a_band, lower", samples=[args(arr(2, 4), True)])


@requires(banded_pairs)
def real_bands(a_band: Any) -> None:
    if np.iscomplexobj(a_band):
        rt.no_derivative("scipy.linalg.eig_banded", "it has a rule for real matrices")


jvp(banded_pairs, a_band=lambda a_band_dot, y, lower: eigh_dot(y[0], y[1], whole_of_band(a_band_dot, lower)))
takes_none(tridiagonal_pairs, banded_pairs)


@model(scipy.linalg.eig_banded, samples=[args(arr(2, 4), eigvals_only=True)])
def _eig_banded(
    a_band: Any, lower: Any = False, eigvals_only: Any = False, overwrite_a_band: Any = False, select: Any = "a",
    select_range: Any = None, max_ev: Any = 0, check_finite: Any = True,
) -> Any:
    if select != "a":
        return rt.no_derivative("scipy.linalg.eig_banded", ALL)
    return scipy.linalg.eigvals_banded(a_band, lower) if eigvals_only else banded_pairs(a_band, lower)
