"""Rules of functions of LAPACK and BLAS for real numbers, as ``scipy.linalg.lapack`` and ``scipy.linalg.blas`` have."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from scipy.linalg import blas, lapack

from s2s import runtime as rt
from s2s.models.solutions import for_value, underived
from s2s.rules.table import model, vjp

# --- solving: what info says is that of the factors -------------------------------------------------------------------


def factor_bar(y_bar: Any, y: Any, a: Any, lower: Any, clean: Any) -> Any:
    """A factor of a matrix that is read in one triangle."""
    if not clean:
        return rt.no_derivative("scipy.linalg.lapack.dpotrf", "it has a rule for clean=1")
    if lower:
        return np.tril(both_triangles(rt.cholesky_bar(np.tril(y_bar[0]), y[0])))
    return np.triu(both_triangles(rt.cholesky_bar(np.tril(y_bar[0].T), y[0].T)))


def both_triangles(a_bar: Any) -> Any:
    """The cotangent of the elements of one triangle, which stand for those of the other one."""
    return a_bar + a_bar.T - np.diag(np.diagonal(a_bar))


def double(a: Any) -> Any:
    """An array in double precision, as these functions take it."""
    return np.asarray(a, np.float64)


def stored(made: Any, place: Any, overwrite: Any) -> Any:
    """A result, in the memory of an argument that may be overwritten where BLAS would store it there: others who have
    that argument read the result in it."""
    if overwrite and isinstance(place, np.ndarray) and place.dtype == np.float64 and place.flags.f_contiguous:
        place[...] = made
        return place
    return made


def potrs(c: Any, b: Any, lower: Any = 0, overwrite_b: Any = 0) -> Any:
    return stored(scipy.linalg.cho_solve((double(c), lower), double(b)), b, overwrite_b), 0


def trtrs(
    a: Any, b: Any, lower: Any = 0, trans: Any = 0, unitdiag: Any = 0, lda: Any = None, overwrite_b: Any = 0
) -> Any:
    solved = scipy.linalg.solve_triangular(double(a), double(b), trans=trans, lower=lower, unit_diagonal=unitdiag)
    return stored(solved, b, overwrite_b), 0


def gesv(a: Any, b: Any, overwrite_a: Any = 0, overwrite_b: Any = 0) -> Any:
    lu, piv = scipy.linalg.lu_factor(double(a))
    solved = np.linalg.solve(double(a), double(b))
    return stored(lu, a, overwrite_a), piv, stored(solved, b, overwrite_b), 0


def sysv(
    a: Any, b: Any, lwork: Any = None, lower: Any = 0, overwrite_a: Any = 0, overwrite_b: Any = 0
) -> Any:
    """The solution of equations with a symmetric matrix, of which one triangle is read, after the factors, of which no
    derivative is known."""
    factors, pivots, *_, info = for_value(lapack.dsysv, a, b, lower=lower)
    half = np.tril(double(a)) if lower else np.triu(double(a))
    solved = np.linalg.solve(half + half.T - np.diag(np.diag(half)), double(b)) if info == 0 else underived(b, b)
    return stored(underived(factors, a), a, overwrite_a), pivots, stored(solved, b, overwrite_b), info


def gbsv(kl: Any, ku: Any, ab: Any, b: Any, overwrite_ab: Any = 0, overwrite_b: Any = 0) -> Any:
    """The solution of equations with a banded matrix, after the factors, of which no derivative is known."""
    factors, pivots, *_ = for_value(lapack.dgbsv, kl, ku, ab, b)
    solved = scipy.linalg.solve_banded((kl, ku), double(ab)[kl:], double(b))
    return underived(factors, ab), pivots, stored(solved, b, overwrite_b), 0


def potri(c: Any, lower: Any = 0, overwrite_c: Any = 0) -> Any:
    """One triangle of the inverse; in the other one is what was there."""
    place, c = c, double(c)
    inverse = scipy.linalg.cho_solve((c, lower), np.eye(np.shape(c)[0]))
    if lower:
        return stored(np.tril(inverse) + np.triu(c, 1), place, overwrite_c), 0
    return stored(np.triu(inverse) + np.tril(c, -1), place, overwrite_c), 0


# --- products ---------------------------------------------------------------------------------------------------------


def gemm(
    alpha: Any, a: Any, b: Any, beta: Any = 0.0, c: Any = None, trans_a: Any = 0, trans_b: Any = 0,
    overwrite_c: Any = 0,
) -> Any:
    a, b = double(a), double(b)
    made = alpha * ((a.T if trans_a else a) @ (b.T if trans_b else b))
    return made if c is None else stored(made + beta * double(c), c, overwrite_c)


def ger(
    alpha: Any, x: Any, y: Any, incx: Any = 1, incy: Any = 1, a: Any = None, overwrite_x: Any = 1,
    overwrite_y: Any = 1, overwrite_a: Any = 0,
) -> Any:
    if incx != 1 or incy != 1:
        return rt.no_derivative("scipy.linalg.blas.dger", "it has a rule for vectors that are taken whole")
    made = alpha * np.outer(double(x), double(y))
    return made if a is None else stored(made + double(a), a, overwrite_a)


def gemv(
    alpha: Any, a: Any, x: Any, beta: Any = 0.0, y: Any = None, offx: Any = 0, incx: Any = 1, offy: Any = 0,
    incy: Any = 1, trans: Any = 0, overwrite_y: Any = 0,
) -> Any:
    if offx != 0 or incx != 1 or offy != 0 or incy != 1:
        return rt.no_derivative("scipy.linalg.blas.dgemv", "it has a rule for vectors that are taken whole")
    a = double(a)
    made = alpha * ((a.T if trans else a) @ double(x))
    return made if y is None else stored(made + beta * double(y), y, overwrite_y)


def trsm(
    alpha: Any, a: Any, b: Any, side: Any = 0, lower: Any = 0, trans_a: Any = 0, diag: Any = 0, overwrite_b: Any = 0
) -> Any:
    place, a, b = b, double(a), double(b)
    if side:
        solved = scipy.linalg.solve_triangular(a, b.T, trans=0 if trans_a else 1, lower=lower, unit_diagonal=diag)
        return stored(alpha * solved.T, place, overwrite_b)
    solved = scipy.linalg.solve_triangular(a, b, trans=trans_a, lower=lower, unit_diagonal=diag)
    return stored(alpha * solved, place, overwrite_b)


def dot(x: Any, y: Any) -> Any:
    return np.dot(double(x), double(y))


def nrm2(x: Any) -> Any:
    return np.linalg.norm(double(x))


vjp(lapack.dpotrf, a=factor_bar, params="a, lower=0, clean=1, overwrite_a=0")
model(lapack.dpotrs, stores=True)(potrs)
model(lapack.dtrtrs, stores=True)(trtrs)
model(lapack.dgesv, stores=True)(gesv)
model(lapack.dgbsv, stores=True)(gbsv)
model(lapack.dsysv, stores=True)(sysv)
model(lapack.dpotri, stores=True)(potri)
model(blas.dgemm, stores=True)(gemm)
model(blas.dgemv, stores=True)(gemv)
model(blas.dger, stores=True)(ger)
model(blas.dtrsm, stores=True)(trsm)
model(blas.ddot)(dot)
model(blas.dnrm2)(nrm2)
