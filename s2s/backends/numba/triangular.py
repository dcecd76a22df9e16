"""Triangular systems in compiled code: small ones and vectors by substitution in loops, large ones by LAPACK, which
Python calls."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import types
from numba.extending import overload, register_jitable
from numba.np.numpy_support import as_dtype, from_dtype

from s2s import runtime as rt
from s2s.runtime._linalg import LARGE

__all__ = ["solve_triangular"]


def solve_triangular(a: Any, b: Any, lower: Any, transposed: Any) -> Any:
    """``rt.solve_triangular`` of a matrix."""
    raise NotImplementedError


@overload(solve_triangular)
def _solve_triangular(a, b, lower, transposed):
    if not (isinstance(a, types.Array) and isinstance(b, types.Array)) or a.ndim != 2 or b.ndim not in (1, 2):
        return None
    kind = np.result_type(as_dtype(a.dtype), as_dtype(b.dtype))
    kind = kind if kind.kind in "fc" else np.dtype(np.float64)
    if b.ndim == 1:
        return lambda a, b, lower, transposed: _substituted(
            a, b.astype(kind).reshape((b.shape[0], 1)), lower, transposed).reshape(b.shape[0])
    result = types.Array(from_dtype(kind), 2, "C")

    def solve(a, b, lower, transposed):
        if a.shape[0] < LARGE:
            out = _substituted(a, np.ascontiguousarray(b).astype(kind), lower, transposed)
        else:
            with numba.objmode(out=result):
                out = _by_lapack(a, b, lower, transposed)
        return out

    return solve


def _by_lapack(a: Any, b: Any, lower: bool, transposed: bool) -> Any:
    return np.ascontiguousarray(rt.solve_triangular(a, b, lower, transposed))


@register_jitable
def _substituted(a, x, lower, transposed):
    n, ahead = a.shape[0], lower != transposed
    if a.shape[1] != n or x.shape[0] != n:
        raise ValueError
    for done in range(n):
        i = done if ahead else n - 1 - done
        if a[i, i] == 0.0:
            raise np.linalg.LinAlgError("Singular matrix")
        for k in range(x.shape[1]):
            x[i, k] /= a[i, i]
        for left in range(done + 1, n):
            j = left if ahead else n - 1 - left
            factor = a[i, j] if transposed else a[j, i]
            for k in range(x.shape[1]):
                x[j, k] -= factor * x[i, k]
    return x
