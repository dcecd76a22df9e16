"""Linear algebra: cotangents of determinants, norms and factorisations, also of stacks of matrices."""

from __future__ import annotations

import contextlib
import functools
import warnings
from typing import Any

import numpy as np

from s2s.runtime._checks import no_derivative
from s2s.runtime._coinciding import note_equal
from s2s.runtime._cotangents import whole
from s2s.runtime._reductions import Axis, prod_partial


def mT(a: Any) -> Any:
    """The matrix transpose, also of a stack of matrices."""
    return np.swapaxes(a, -1, -2)


def mH(a: Any) -> Any:
    """The conjugate transpose, also of a stack of matrices."""
    return np.conj(np.swapaxes(a, -1, -2))


def regular(jacobian: Any) -> Any:
    """A copy of the Jacobian of an equation whose solution is differentiated. Warns where it is so nearly singular that
    the derivative has no correct digits."""
    if jacobian.size and not np.linalg.cond(jacobian, 1) < 1.0 / np.finfo(jacobian.dtype).eps:
        warnings.warn(
            "the Jacobian of an equation is singular, or nearly so, at the solution that was found: the derivative of "
            "the solution is not reliable", RuntimeWarning, 2)
    return np.copy(jacobian)


def cofactor(a: Any, determinant: Any) -> Any:
    """The derivative of the determinant: det(a) inv(a)^T, from the singular values where ``a`` is singular.
    """
    with contextlib.suppress(np.linalg.LinAlgError):  # other factors may say that it is regular
        if np.all(determinant != 0.0):
            return np.asarray(determinant)[..., None, None] * mT(np.linalg.inv(a))
    u, s, vh = np.linalg.svd(a)
    turn = np.linalg.det(u) * np.linalg.det(vh)
    return turn[..., None, None] * ((np.conj(u) * prod_partial(s, -1)[..., None, :]) @ np.conj(vh))


def cofactor_dot(a_dot: Any, a: Any, determinant: Any) -> Any:
    """The tangent of ``cofactor``, which is its own transpose: in each term two factors of the determinant are left
    out. By the inverse of a regular matrix, else by the singular values."""
    values = np.linalg.svd(a, compute_uv=False)
    if np.all(values[..., -1:] > 1e-5 * values[..., :1]):
        inverse = np.linalg.inv(a)
        moved = mT(inverse @ a_dot)
        change = np.trace(moved, axis1=-2, axis2=-1)[..., None, None] * mT(inverse) - mT(inverse) @ moved
        return np.asarray(determinant)[..., None, None] * change
    u, s, vh = np.linalg.svd(a)
    turn = np.linalg.det(u) * np.linalg.det(vh)
    inner = mH(u) @ a_dot @ mH(vh)
    others = _without_two(s)
    diagonal = np.sum(others * np.diagonal(inner, axis1=-2, axis2=-1)[..., None, :], axis=-1)
    middle = diagonal[..., None] * np.eye(s.shape[-1]) - others * mT(inner)
    return turn[..., None, None] * (np.conj(u) @ middle @ np.conj(vh))


def _without_two(s: Any) -> Any:
    """The products of all of the ``s`` but two, for each pair of them; zero on the diagonal."""
    n = s.shape[-1]
    large = np.where(np.arange(n) < n - 2, s, 1.0)
    product = np.prod(large, axis=-1)[..., None, None]
    divisor = np.where(large == 0.0, 1.0, large)  # where another one is zero the product is
    made = product / (divisor[..., :, None] * divisor[..., None, :]) * (1.0 - np.eye(n))
    for k in range(max(n - 2, 0), n):
        is_left_out = (np.arange(n) == k)[:, None] | (np.arange(n) == k)
        made = made * np.where(is_left_out, 1.0, s[..., k, None, None])
    return made


def slogdet_weight(g: Any, y: Any) -> Any:
    """The cotangent of tr(log a) from those of sign and logarithm: the sign turns with its imaginary part."""
    sign_bar, log_bar = g[0], g[1]
    turning = 0.0 if sign_bar is None else -1.0j * np.real(1.0j * sign_bar * y[0])
    return turning + (0.0 if log_bar is None else log_bar)


# --- norms ----------------------------------------------------------------------------------------------------------


def norm_bar(g: Any, y: Any, x: Any, ord: Any, axis: Axis, keepdims: bool) -> Any:
    """The cotangent of ``x`` from that of ``np.linalg.norm(x, ord, axis, keepdims)`` with an ``ord``."""
    axes = tuple(range(np.ndim(x))) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    if not keepdims:
        g, y = np.expand_dims(g, axes), np.expand_dims(y, axes)
    if len(axes) == 1:
        return vector_norm_bar(g, y, x, ord, axes[0])
    if ord == "fro":
        return np.conj(x) * (g / (y + (y == 0.0)))
    if ord in (1, -1, np.inf, -np.inf):
        return summed_norm_bar(g, y, x, axes[0] if abs(ord) == 1 else axes[1], axes)
    return spectral_norm_bar(g, x, ord, axes)


def slope_of_abs(x: Any) -> Any:
    """The derivative of ``np.abs``: conj(x) / |x|, 0 at 0."""
    if not np.iscomplexobj(x):
        return np.sign(x)
    size = np.abs(x)
    return np.conj(x) / (size + (size == 0.0))


def vector_norm_bar(g: Any, y: Any, x: Any, ord: Any, axis: int) -> Any:
    if ord == 0:
        return np.zeros_like(x)
    if ord == 1:
        return g * slope_of_abs(x)
    if ord in (np.inf, -np.inf):
        hit = np.abs(x) == y
        number = np.sum(hit, axis=axis, keepdims=True, dtype=np.asarray(y).dtype)
        return np.where(hit, g * slope_of_abs(x) / number, 0.0)
    return g * slope_of_abs(x) * (np.abs(x) / (y + (y == 0.0))) ** (ord - 1)


def summed_norm_bar(g: Any, y: Any, x: Any, axis: int, axes: tuple[int, ...]) -> Any:
    """The largest (or smallest) sum of absolute values along ``axis``; ties share equally."""
    sums = np.sum(np.abs(x), axis=axis, keepdims=True)
    hit = sums == y
    return np.where(hit, g / np.sum(hit, axis=axes, keepdims=True, dtype=np.asarray(y).dtype), 0.0) * slope_of_abs(x)


def spectral_norm_bar(g: Any, x: Any, ord: Any, axes: tuple[int, ...]) -> Any:
    """2, -2 and nuc: the largest, the smallest and the sum of the singular values. Equal ones share; those that are
    zero but for rounding have no part in the sum, as ``abs`` is flat at 0."""
    u, s, vh = np.linalg.svd(np.moveaxis(x, axes, (-2, -1)), full_matrices=False)
    if ord == "nuc":
        weight = (s > s.shape[-1] * np.finfo(s.dtype).eps * s[..., :1]) * np.ones_like(s)
    else:
        hit = s == (s[..., :1] if ord == 2 else s[..., -1:])
        weight = hit / np.sum(hit, axis=-1, keepdims=True, dtype=s.dtype)
    return np.moveaxis(np.conj((u * weight[..., None, :]) @ vh), (-2, -1), axes) * g


# --- triangular systems ---------------------------------------------------------------------------------------------


def solve_triangular(a: Any, b: Any, lower: bool, transposed: bool) -> Any:
    """The solution of ``a @ x = b``, or of ``a.T @ x = b``, for a triangular ``a``, as ``np.linalg.solve`` gives it: by
    LAPACK's substitution where SciPy is installed, and the matrix is so large that this is faster."""
    solve = _substitution() if a.ndim == 2 and b.ndim <= 2 and a.shape[0] >= LARGE else None
    if solve is not None:
        return solve(a, b, trans=int(transposed), lower=lower, check_finite=False)
    return np.linalg.solve(mT(a) if transposed else a, b)


LARGE = 40


@functools.cache
def _substitution() -> Any:
    """SciPy's function for triangular systems, imported when it is first used; None where there is none."""
    try:
        from scipy.linalg import solve_triangular as solve
    except ImportError:
        return None
    return solve


# --- factors --------------------------------------------------------------------------------------------------------


def cholesky_bar(g: Any, factor: Any) -> Any:
    """The symmetric (Hermitian) cotangent of a matrix from that of its lower Cholesky factor."""
    is_matrix = type(g) is type(factor) is np.ndarray and factor.ndim == 2 and factor.size
    if is_matrix and g.dtype == factor.dtype == np.float64 and _lapack() is not None:
        return _cholesky_bar_of_matrix(g, factor)
    return plain_cholesky_bar(g, factor)


def plain_cholesky_bar(g: Any, factor: Any) -> Any:
    """The same for stacks, any dtype and without SciPy: what is differentiated in its place."""
    # Formulas with conjugate transposes are for the conjugates of JAX's cotangents.
    middle = np.tril(mH(factor) @ np.conj(g))
    middle = middle - 0.5 * np.eye(factor.shape[-1], dtype=middle.dtype) * middle
    outer = np.conj(factor)
    inner = solve_triangular(outer, mH(middle), lower=True, transposed=True)
    half = solve_triangular(outer, mH(inner), lower=True, transposed=True)
    return 0.5 * np.conj(half + mH(half))


def _cholesky_bar_of_matrix(g: Any, factor: Any) -> Any:
    """The same by routines that use what is triangular and symmetric. LAPACK's reduction is ``inv(b) @ a @ inv(b).T``:
    turned around, the transpose of the factor is the lower triangular ``b``. They read one triangle of each matrix."""
    lapack, n = _lapack(), len(factor)
    if n < LARGE_SYMMETRIC:
        inverse, _ = lapack.dtrtri(factor.T)
        middle = np.tril(factor.T @ g)
        _halve_diagonal(middle)
        half = inverse @ middle @ inverse.T
        return 0.5 * (half + half.T)
    middle = _blas().dtrmm(1.0, factor.T, g.T, side=1, trans_a=1).T  # factor.T @ g
    turned, b = 0.5 * np.ascontiguousarray(middle[::-1, ::-1]), np.ascontiguousarray(factor[::-1, ::-1])
    found, _ = lapack.dsygst(turned.T, b.T, lower=1, overwrite_a=1)
    lower = np.tril(found.T[::-1, ::-1])
    whole = lower + lower.T
    _halve_diagonal(whole)
    return whole


def _halve_diagonal(a: Any) -> None:
    diagonal = np.einsum("ii->i", a)
    diagonal *= 0.5


LARGE_SYMMETRIC = 128


@functools.cache
def _lapack() -> Any:
    """SciPy's module of LAPACK's functions; None where there is none."""
    try:
        from scipy.linalg import lapack
    except ImportError:
        return None
    return lapack


@functools.cache
def _blas() -> Any:
    from scipy.linalg import blas

    return blas


def cholesky_dot(factor: Any, a_dot: Any) -> Any:
    """The tangent of the lower Cholesky factor (Murray, equation 8)."""
    half = solve_triangular(factor, 0.5 * (a_dot + mH(a_dot)), lower=True, transposed=False)
    lower = np.tril(solve_triangular(factor, mH(half), lower=True, transposed=False))
    return factor @ (lower - 0.5 * np.eye(factor.shape[-1], dtype=lower.dtype) * lower)


def eigvalsh_bar(w_bar: Any, w: Any, v: Any) -> Any:
    """The cotangent of a symmetric (Hermitian) matrix from that of its eigenvalues ``w`` by the eigenvectors."""
    note_equal(w)
    return (np.conj(v) * w_bar[..., None, :]) @ mT(v)


def eigh_bar(w_bar: Any, v_bar: Any, w: Any, v: Any) -> Any:
    """The symmetric (Hermitian) cotangent of a matrix from those of eigenvalues and eigenvectors; None stands for no
    cotangent.

    Eigenvectors of equal eigenvalues are not determined: with a cotangent of one of them they give NaN, not a wrong
    number, also where what is made of them is a function of the matrix. Its derivative cannot be found from these
    cotangents, which are those of ``f(A)`` whatever the slope of ``f``: it is that of matrices beside this one
    (``dispatch/chosen_points.py``).
    """
    w_bar, v_bar = whole((w_bar, v_bar), (w, v))
    note_equal(w)
    inner = np.zeros_like(v) if w_bar is None else w_bar[..., None, :] * np.eye(w.shape[-1], dtype=v.dtype)
    if v_bar is not None:
        turn = mH(v) @ np.conj(v_bar)
        size = np.max(np.abs(w), axis=-1, initial=0.0)[..., None, None]
        gaps = w[..., None, :] - w[..., :, None]
        inner = inner + 0.5 * gap_quotient(turn - mH(turn), gaps, size, either_used(v_bar))
    return np.conj(between(v, inner, mH(v)))


def between(left: Any, inner: Any, right: Any) -> Any:
    """``left @ inner @ right``, where NaN in ``inner`` reaches what it has a part in: a zero beside it is none."""
    unknown = np.isnan(inner)
    if not np.any(unknown):
        return left @ inner @ right
    reached = (left != 0.0).astype(float) @ unknown.astype(float) @ (right != 0.0).astype(float)
    return np.where(reached > 0.0, np.nan, left @ np.where(unknown, 0.0, inner) @ right)


def either_used(v_bar: Any) -> Any:
    """For each pair of columns of eigenvectors whether one of them has a cotangent."""
    used = np.any(v_bar != 0.0, axis=-2)
    return used[..., :, None] | used[..., None, :]


def gap_quotient(a: Any, gaps: Any, size: Any, used: Any = True) -> Any:
    """``a / gaps`` off the diagonal, zero on it; NaN where a gap between numbers of a ``size`` is but rounding, zero
    there for pairs that are not ``used``."""
    rank = a.shape[-1]
    eye = np.eye(rank, dtype=bool)
    equal = (np.abs(gaps) <= rank * np.finfo(np.asarray(gaps).dtype).eps * size) & ~eye
    quotient = np.where(equal, np.nan, a / np.where(eye | equal, 1.0, gaps))
    return np.where(eye | (equal & np.logical_not(used)), 0.0, quotient)


def svdvals_bar(s_bar: Any, a: Any) -> Any:
    """The cotangent of a matrix from that of its singular values."""
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    note_equal(s)
    return np.conj((u * s_bar[..., None, :]) @ vh)


def svd_bar(g: Any, y: Any, a: Any) -> Any:
    """The cotangent of a matrix from those of ``u, s, vh``, each None where there is none (J. Townsend,
    "Differentiating the Singular Value Decomposition", 2016; for complex matrices Z.-Q. Wan, S.-X. Zhang, 2019).

    Singular vectors of equal singular values: as ``eigh_bar``. Raises ValueError for the full matrices of an oblong
    one. What depends on the phases of complex singular vectors has no derivative.
    """
    u, s, vh = y
    u_bar, s_bar, vh_bar = whole(g, y)
    n = s.shape[-1]
    if u.shape[-1] != n or vh.shape[-2] != n:
        if any(bar is not None and np.any(bar) for bar in (u_bar, vh_bar)):
            raise ValueError(
                "the extra singular vectors have no derivative; call np.linalg.svd(a, full_matrices=False)",
            )
        u, vh, u_bar, vh_bar = u[..., :n], vh[..., :n, :], None, None
    note_equal(s)
    inner = np.zeros(s.shape + (n,), dtype=u.dtype)
    if s_bar is not None:
        inner = inner + s_bar[..., None, :] * np.eye(n, dtype=s.dtype)
    if u_bar is None and vh_bar is None:
        return np.conj(u @ inner @ vh)
    u_bar = np.zeros_like(u) if u_bar is None else np.conj(u_bar)
    v_bar = np.zeros_like(mH(vh)) if vh_bar is None else mT(vh_bar)
    left, right = mH(u) @ u_bar, vh @ v_bar
    size = np.max(s, axis=-1, initial=0.0)[..., None, None]
    size = size + (size == 0.0)
    rows, columns = s[..., :, None] / size, s[..., None, :] / size  # products of these neither overflow nor underflow
    mixed = (left - mH(left)) * columns + rows * (right - mH(right))
    used = either_used(u_bar) | either_used(v_bar)
    inner = inner + gap_quotient(mixed, (columns - rows) * (columns + rows), 1.0, used) / size
    if np.iscomplexobj(u):  # the phase that u and v turn by together
        inner = inner - 1.0j * np.imag(right) * np.eye(n) / (s + (s == 0.0))[..., None, :]
    a_bar = between(u, inner, vh)
    if u.shape[-2] > n:
        a_bar = a_bar + (u_bar - u @ left) / s[..., None, :] @ vh
    if vh.shape[-1] > n:
        a_bar = a_bar + u @ mH((v_bar - mH(vh) @ right) / s[..., None, :])
    return np.conj(a_bar)


def qr_bar(g: Any, y: Any, mode: str) -> Any:
    """The cotangent of a matrix from those of ``q, r`` (S. Walter, L. Lehmann, "Algorithmic differentiation
    of linear algebra functions", 2010; for more columns than rows D. Roberts, L. Roberts, 2020). Raises ValueError for
    the complete factors of a matrix with more rows than columns.
    """
    q, r = y
    g = whole(g, y)
    m = q.shape[-1]
    if r.shape[-2] > r.shape[-1] or q.shape[-2] < m:
        raise ValueError("the extra columns of q have no derivative; call np.linalg.qr(a) in its reduced mode")
    q_bar = np.zeros_like(q) if g[0] is None else np.conj(g[0])
    r_bar = np.zeros_like(r) if g[1] is None else np.conj(g[1])
    square, rest_bar = r[..., :m], r_bar[..., m:]
    q_bar = q_bar + q @ r[..., m:] @ mH(rest_bar)
    middle = square @ mH(r_bar[..., :m]) - mH(q_bar) @ q
    lower = np.tril(middle, -1)
    symmetric = lower + mH(lower) + np.real(middle) * np.eye(m, dtype=r.real.dtype)
    first = mH(np.linalg.solve(square, mH(q_bar + q @ symmetric)))
    return np.conj(np.concatenate([first, q @ rest_bar], axis=-1))


def pinv_bar(g: Any, p: Any, a: Any) -> Any:
    """The cotangent of ``a`` from that of its pseudoinverse ``p``, at constant rank (G. Golub, V. Pereyra,
    1973).
    """
    gt, ph = mT(g), mH(p)
    first = (gt - a @ (p @ gt)) @ p @ ph
    second = ph @ p @ (gt - (gt @ p) @ a)
    return np.conj(first + second - ph @ np.conj(g) @ ph + beside_dropped(np.conj(g), ph, mH(a)))


def beside_dropped(a_dot: Any, p: Any, a: Any) -> Any:
    """What the singular values that are left out of the pseudoinverse ``p`` of ``a`` add to its tangent: their vectors
    mix with the others along ``a_dot``. Zero where the values are zero."""
    rank, axes = np.round(np.sum(np.real(p * mT(a)), axis=(-2, -1))), (-2, -1)
    if np.all(rank == min(a.shape[-2:])):
        return np.zeros_like(p)
    if np.all(np.max(np.abs(a - a @ (p @ a)), axis=axes) * np.max(np.abs(p), axis=axes) < 1e-9):
        return np.zeros_like(p)
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    kept = np.arange(s.shape[-1]) < rank[..., None]
    mixed = kept[..., :, None] != kept[..., None, :]
    large, small = np.maximum(s[..., :, None], s[..., None, :]), np.minimum(s[..., :, None], s[..., None, :])
    ratio = np.where(mixed, small, 0.0) / np.where(mixed, large, 1.0)
    weight = ratio / np.where(mixed, large * large - small * small, 1.0)
    inner = mH(u) @ a_dot @ mH(vh)
    return mH(vh) @ (weight * (inner + ratio * mH(inner))) @ mH(u)


def cut(rank: Any, s: Any, size: int) -> float | None:
    """The ``rcond`` with which ``np.linalg.pinv`` keeps as many singular values ``s`` as ``lstsq`` did. Raises
    NoDerivativeError where it left some out and does not say which."""
    if s is None:
        return None if rank == size else no_derivative(
            "scipy.linalg.lstsq", "this driver leaves out something else than small singular values; use 'gelsd'")
    return 0.5 * float(s[rank - 1] + (s[rank] if rank < len(s) else 0.0)) / float(s[0]) if rank else 1.0


def matrix_power_bar(g: Any, y: Any, a: Any, n: int) -> Any:
    """The cotangent of ``a`` from that of ``np.linalg.matrix_power(a, n)``: one term for each factor."""
    if n < 0:
        inverse = np.linalg.inv(a)
        return -(mT(inverse) @ matrix_power_bar(g, y, inverse, -n) @ mT(inverse))
    at = mT(a)
    total = np.zeros_like(a)
    for _ in range(n):
        # Horner: the terms are at^i g at^(n-1-i).
        total = total @ at + g
        g = at @ g
    return total
