"""Factors of a matrix, computed once for all that is made of them: systems with the matrix and its transpose, its
inverse and its determinant.

By LAPACK's routines where SciPy is installed; NumPy has no factors to be kept, and factorises for each of them.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from s2s.runtime._linalg import cofactor


class Factors:
    """What ``factors`` gives: the LU factors of the transpose, as LAPACK keeps them; nothing without ``routines``."""

    __slots__ = ("is_singular", "lu", "pivots", "routines")

    def __init__(self, matrix: Any, routines: _Routines | None) -> None:
        self.routines = routines
        if routines is not None:  # the transpose of an array in C order is one in LAPACK's order
            self.lu, self.pivots, info = routines.getrf(matrix.T)
            self.is_singular = info > 0


class _Routines(NamedTuple):
    """LAPACK's functions for one dtype."""

    getrf: Any
    getrs: Any
    getri: Any


@functools.cache
def _routines(char: str) -> _Routines | None:
    """Those for a dtype, by its character; None where there are none, or SciPy is not installed."""
    prefix = {"f": "s", "d": "d", "F": "c", "D": "z"}.get(char)
    if prefix is None:
        return None
    try:
        from scipy.linalg import lapack
    except ImportError:
        return None
    return _Routines(*[getattr(lapack, prefix + name) for name in _Routines._fields])


def factors(a: Any) -> Factors:
    """The factors of a matrix. Never raises: what is made of them does, where the matrix is singular or not square."""
    is_square = type(a) is np.ndarray and a.ndim == 2 and a.shape[0] == a.shape[1] and a.size
    return Factors(a, _routines(a.dtype.char) if is_square else None)


def solve_with(factors: Factors, a: Any, b: Any, transposed: bool = False) -> Any:
    """The solution of ``a @ x = b``, or of ``a.T @ x = b``, as ``np.linalg.solve`` gives it, by the factors of ``a``.
    """
    routines = factors.routines
    if routines is None or not _fits(b, factors.lu):
        return np.linalg.solve(a.T if transposed else a, b)
    if factors.is_singular:
        raise np.linalg.LinAlgError("Singular matrix")
    x, _ = routines.getrs(factors.lu, factors.pivots, b, trans=0 if transposed else 1)
    return np.ascontiguousarray(x)


def _fits(b: Any, lu: Any) -> bool:
    """Whether a right side is an array that LAPACK solves for as it is."""
    is_one = type(b) is np.ndarray and b.ndim in (1, 2) and b.size
    return bool(is_one and b.dtype == lu.dtype and b.shape[0] == lu.shape[0])


def inv_of(factors: Factors, a: Any) -> Any:
    """The inverse, as ``np.linalg.inv`` gives it, with the factors of ``a``."""
    if factors.routines is None:
        return np.linalg.inv(a)
    if factors.is_singular:
        raise np.linalg.LinAlgError("Singular matrix")
    return np.ascontiguousarray(factors.routines.getri(factors.lu, factors.pivots)[0].T)


def slogdet_of(factors: Factors, a: Any) -> Any:
    """Sign and logarithm of the determinant, as ``np.linalg.slogdet`` gives them, with the factors of ``a``."""
    if factors.routines is None or factors.is_singular:
        return np.linalg.slogdet(a)
    diagonal = np.diagonal(factors.lu)
    size = np.abs(diagonal)
    swaps = np.count_nonzero(factors.pivots != np.arange(len(diagonal)))
    sign = np.prod(np.sign(diagonal) if size.dtype == diagonal.dtype else diagonal / size)
    result = type(np.linalg.slogdet(np.ones((1, 1))))  # which has no public name
    return result(-sign if swaps % 2 else sign, np.sum(np.log(size)))


def det_of(factors: Factors, a: Any) -> Any:
    """The determinant, as ``np.linalg.det`` gives it, with the factors of ``a``."""
    if factors.routines is None or factors.is_singular:
        return np.linalg.det(a)
    product = 1.0
    for k, (pivot, number) in enumerate(zip(factors.pivots.tolist(), np.diagonal(factors.lu).tolist())):
        product *= number if pivot == k else -number
    if product != 0.0 and abs(product) < np.inf:
        return factors.lu.dtype.type(product)
    sign, logarithm = slogdet_of(factors, a)
    return sign * np.exp(logarithm)


def cofactor_of(factors: Factors, a: Any, determinant: Any) -> Any:
    """The derivative of the determinant, as ``cofactor`` gives it, with the factors of ``a``."""
    if factors.routines is None or factors.is_singular or determinant == 0.0:
        return cofactor(a, determinant)
    return determinant * inv_of(factors, a).T
