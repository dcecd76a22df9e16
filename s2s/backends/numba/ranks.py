"""Functions that Numba has, or could compile, in a few lines for the ranks of their arguments.

What Numba makes of ``np.where`` are thirty functions, most of them for what cannot happen with the types at hand; each
is typed and lowered. Only what gives the same numbers is written here; for other types it is Numba's function.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import types
from numba.extending import overload, register_jitable
from numba.np import linalg
from numba.np.numpy_support import as_dtype

from s2s import runtime as rt
from s2s.backends.numba.arithmetic import OPTIONS
from s2s.runtime import _linalg

__all__ = ["BY_RANK", "where"]


# --- where ----------------------------------------------------------------------------------------------------------


def where(condition: Any, x: Any, y: Any) -> Any:
    """``np.where`` of three"""
    raise NotImplementedError


@overload(where)
def _where(condition, x, y):
    given = {"condition": condition, "x": x, "y": y}
    kinds = (types.Array, types.Number, types.Boolean)
    rank = max(_rank(kind) for kind in given.values())
    if rank == 0 or not all(isinstance(kind, kinds) for kind in given.values()):
        return lambda condition, x, y: np.where(condition, x, y)
    kind = np.promote_types(_dtype(x), _dtype(y))
    lines, items = ["def where(condition, x, y):"], {}
    for name, one in given.items():  # a factor of 0 where it is stretched
        axes = [(k, k - rank + _rank(one)) for k in range(rank) if k >= rank - _rank(one)]
        lines += [f"    {name}{k} = 0 if {name}.shape[{axis}] == 1 else 1" for k, axis in axes]
        items[name] = f"{name}[{', '.join(f'{name}{k} * i{k}' for k, _ in axes)}]" if axes else name
        if isinstance(one, types.Array) and not axes:
            items[name] = f"{name}[()]"
    for k in range(rank):
        lengths = [f"{name}.shape[{k - rank + _rank(one)}]" for name, one in given.items() if k >= rank - _rank(one)]
        lines.append(f"    n{k} = {lengths[0]}")
        for length in lengths[1:]:
            lines += [f"    if n{k} == 1: n{k} = {length}",
                      f"    if {length} != 1 and {length} != n{k}: raise ValueError"]
    lines.append(f"    out = np.empty(({''.join(f'n{k}, ' for k in range(rank))}), kind)")
    for k in range(rank):
        lines.append(f"{'    ' * (k + 1)}for i{k} in range(n{k}):")
    space, place = "    " * (rank + 1), ", ".join(f"i{k}" for k in range(rank))
    lines += [f"{space}if {items['condition']}:", f"{space}    out[{place}] = {items['x']}",
              f"{space}else:", f"{space}    out[{place}] = {items['y']}", "    return out"]
    scope: dict[str, Any] = {"__name__": __name__, "np": np, "kind": kind}
    exec("\n".join(lines), scope)
    return scope["where"]


def _rank(kind: Any) -> int:
    return kind.ndim if isinstance(kind, types.Array) else 0


def _dtype(kind: Any) -> Any:
    return as_dtype(kind.dtype if isinstance(kind, types.Array) else types.unliteral(kind))


# --- matrices -------------------------------------------------------------------------------------------------------


def tril(m: Any, k: int = 0) -> Any:
    """``np.tril``"""
    raise NotImplementedError


@overload(tril)
def _tril(m, k=0):
    if not isinstance(m, types.Array) or m.ndim != 2:
        return lambda m, k=0: np.tril(m, k)
    kind = as_dtype(m.dtype)

    def lower(m, k=0):
        out = np.zeros(m.shape, kind)
        for i in range(m.shape[0]):
            for j in range(max(0, min(m.shape[1], i + k + 1))):
                out[i, j] = m[i, j]
        return out

    return lower


def triu(m: Any, k: int = 0) -> Any:
    """``np.triu``"""
    raise NotImplementedError


@overload(triu)
def _triu(m, k=0):
    if not isinstance(m, types.Array) or m.ndim != 2:
        return lambda m, k=0: np.triu(m, k)
    kind = as_dtype(m.dtype)

    def upper(m, k=0):
        out = np.zeros(m.shape, kind)
        for i in range(m.shape[0]):
            for j in range(max(0, i + k), m.shape[1]):
                out[i, j] = m[i, j]
        return out

    return upper


def transposed(a: Any) -> Any:
    """The matrix transpose"""
    raise NotImplementedError


@overload(transposed)
def _transposed(a):
    return (lambda a: a.T) if _rank(a) == 2 else (lambda a: np.swapaxes(a, -1, -2))


def adjoint(a: Any) -> Any:
    """The conjugate transpose"""
    raise NotImplementedError


@overload(adjoint)
def _adjoint(a):
    return (lambda a: np.conj(a.T)) if _rank(a) == 2 else (lambda a: np.conj(np.swapaxes(a, -1, -2)))


_any_diagonal_bar = numba.njit(**OPTIONS)(rt.diagonal_bar)


def diagonal_bar(g: Any, x: Any, offset: int, axis1: int, axis2: int) -> Any:
    """``rt.diagonal_bar``"""
    raise NotImplementedError


@overload(diagonal_bar)
def _diagonal_bar(g, x, offset, axis1, axis2):
    if _rank(x) != 2 or _rank(g) != 1:
        return lambda g, x, offset, axis1, axis2: _any_diagonal_bar(g, x, offset, axis1, axis2)
    kind = as_dtype(g.dtype)

    def on_diagonal(g, x, offset, axis1, axis2):
        out = np.zeros(x.shape, kind)
        view = out if axis1 % 2 == 0 else out.T
        row, column = max(-offset, 0), max(offset, 0)
        length = max(0, min(view.shape[0] - row, view.shape[1] - column))
        if g.shape[0] != length and g.shape[0] != 1:
            raise ValueError
        for k in range(length):
            view[row + k, column + k] = g[k if g.shape[0] == length else 0]
        return out

    return on_diagonal


# --- systems --------------------------------------------------------------------------------------------------------


def solve(a: Any, b: Any) -> Any:
    """``np.linalg.solve``"""
    raise NotImplementedError


@overload(solve)
def _solve(a, b):
    kinds = (types.float32, types.float64, types.complex64, types.complex128)
    if _rank(a) != 2 or _rank(b) not in (1, 2) or a.dtype != b.dtype or a.dtype not in kinds:
        return lambda a, b: np.linalg.solve(a, b)
    linalg.ensure_lapack()
    letter = ord(linalg.get_blas_kind(a.dtype, "solve"))
    gesv, integer = linalg._LAPACK().numba_xgesv(a.dtype), linalg.F_INT_nptype
    columns = register_jitable(_columns)

    @register_jitable
    def solve_for(a, rows):
        n = a.shape[0]
        if a.shape[1] != n or rows.shape[1] != n:
            raise ValueError
        if rows.size:
            factors, pivots = columns(a), np.empty(n, integer)
            failed = gesv(letter, n, rows.shape[0], factors.ctypes, n, pivots.ctypes, rows.ctypes, n)
            if failed or factors.size + pivots.size == 0:  # which keeps them until here
                raise np.linalg.LinAlgError("Singular matrix")

    def vector(a, b):
        out = b.copy()
        solve_for(a, out.reshape((1, out.shape[0])))
        return out

    def matrix(a, b):
        out = columns(b)
        solve_for(a, out)
        return out.T

    return vector if b.ndim == 1 else matrix


def _columns(a):  # type: ignore[no-untyped-def]
    """The columns of a matrix as rows, one after the other in memory."""
    out = np.empty((a.shape[1], a.shape[0]), a.dtype)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[j, i] = a[i, j]
    return out


def cofactor(a: Any, determinant: Any) -> Any:
    """The derivative of the determinant of one matrix, which Python computes where that is singular."""
    raise NotImplementedError


@overload(cofactor)
def _cofactor(a, determinant):
    kinds = (types.float64, types.complex128)
    if _rank(a) != 2 or a.dtype not in kinds or not isinstance(determinant, (types.Float, types.Complex)):
        return None

    def of_matrix(a, determinant):
        if determinant == 0.0:
            raise ValueError
        inverse = np.linalg.inv(a)
        out = np.empty_like(inverse)
        for i in range(out.shape[0]):
            for j in range(out.shape[1]):
                out[i, j] = determinant * inverse[j, i]
        return out

    return of_matrix


BY_RANK: dict[Any, Any] = {np.tril: tril, np.triu: triu, rt.diagonal_bar: diagonal_bar, _linalg.mT: transposed,
                          _linalg.mH: adjoint, np.linalg.solve: solve,
                          _linalg.cofactor: cofactor}
"""What stands for a function, in any call."""
