"""Functions of NumPy that modules such as CuPy lack, or have with fewer arguments, written with what these have.

Each takes the module first, then the arguments of NumPy's function.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s.arrays import graph_places
from s2s.core.array_classes import has_memory
from s2s.errors import error

__all__ = ["AT", "KEYWORDS", "METHODS", "SPELLED"]

KEYWORDS = {"where": True, "initial": None, "dtype": None, "out": None, "mean": None, "correction": None}
"""Arguments by name that functions of other modules may not take; those that are not given are left out."""


def _class(module: Any) -> Any:
    kind: Any = module.ndarray if hasattr(module, "ndarray") else module.Array
    return kind


# --- what is made -------------------------------------------------------------------------------------------------


def array(
    module: Any, value: Any, dtype: Any = None, *args: Any, copy: Any = True, ndmin: int = 0, **kwargs: Any
) -> Any:
    """An array of a number, an array, or lists of both."""
    kind = _class(module)
    if isinstance(value, kind):
        if hasattr(module, "ndarray"):
            made = module.array(value, dtype=dtype, **({} if copy is None else {"copy": copy}))
        else:
            made = module.asarray(value, dtype=dtype)  # arrays that nobody stores into need no copies
    elif isinstance(value, (list, tuple)) and _holds(kind, value):
        made = module.stack([array(module, item) for item in _alike(module, value)])
        made = made if dtype is None else made.astype(dtype)
    else:
        made = module.asarray(value, dtype=dtype)
    return made if made.ndim >= ndmin else made.reshape((1,) * (ndmin - made.ndim) + made.shape)


def asarray(module: Any, value: Any, dtype: Any = None, *args: Any, **kwargs: Any) -> Any:
    """As ``array``; an array stays the same one."""
    if isinstance(value, _class(module)):
        return value if dtype is None or value.dtype == dtype else value.astype(dtype)
    return array(module, value, dtype)


def _holds(kind: type, items: Any) -> bool:
    return any(isinstance(item, kind) or (isinstance(item, (list, tuple)) and _holds(kind, item)) for item in items)


def _alike(module: Any, items: Any) -> list[Any]:
    """The items as arrays of one dtype."""
    made = [array(module, item) for item in items]
    dtypes = {item.dtype for item in made}
    common = np.result_type(*dtypes)
    return made if len(dtypes) < 2 else [item.astype(common) for item in made]


def broadcast_to(module: Any, a: Any, shape: Any, **kwargs: Any) -> Any:
    """An array, or a number, in another shape."""
    return module.broadcast_to(asarray(module, a), shape)


def copy(module: Any, a: Any, order: str = "K", **kwargs: Any) -> Any:
    """A copy of an array; a number as an array."""
    return array(module, a) if not isinstance(a, _class(module)) else _copied(module, a, order)


def _copied(module: Any, a: Any, order: str) -> Any:
    return a.copy(order=order) if hasattr(module, "ndarray") else a.copy()


def _joined(name: str) -> Callable[..., Any]:
    def call(module: Any, arrays: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(arrays, _class(module)):
            arrays = _alike(module, arrays)
        elif name != "concatenate":
            arrays = [arrays[k] for k in range(arrays.shape[0])]
        else:
            arrays = list(arrays)
        return getattr(module, name)(arrays, *args, **{k: v for k, v in kwargs.items() if v is not None or k == "axis"})

    return call


def full(module: Any, shape: Any, value: Any, dtype: Any = None, **kwargs: Any) -> Any:
    """An array of one number, or one row, again and again."""
    if isinstance(value, (list, tuple)):
        value = array(module, value)
    if isinstance(value, _class(module)):
        made = module.empty(shape, value.dtype if dtype is None else dtype)
        made[...] = value
        return made
    return module.full(shape, value, dtype=np.asarray(value).dtype if dtype is None else dtype)


def full_like(module: Any, like: Any, value: Any, dtype: Any = None, **kwargs: Any) -> Any:
    """An array of the shape of another, of one number, or one row, again and again."""
    return module.full_like(like, value, dtype=dtype, **kwargs)


def transpose(module: Any, a: Any, axes: Any = None) -> Any:
    """The axes in another order, which may be an array of numbers."""
    if axes is not None and hasattr(axes, "tolist"):
        axes = axes.tolist()
    return module.transpose(asarray(module, a), axes)


def roll(module: Any, a: Any, shift: Any, axis: Any = None) -> Any:
    """The items moved along axes, by numbers that may be an array of NumPy."""
    shift = tuple(shift.tolist()) if isinstance(shift, np.ndarray) and shift.ndim else shift
    return module.roll(asarray(module, a), shift, axis)


def shape(module: Any, a: Any) -> tuple[int, ...]:
    """The lengths of an array, or of a list of arrays that are alike."""
    if isinstance(a, (list, tuple)):
        return (len(a), *(shape(module, a[0]) if a else ()))
    return np.shape(a)


def ndim(module: Any, a: Any) -> int:
    """The rank of an array, or of a list of arrays."""
    return len(shape(module, a))


def size(module: Any, a: Any, axis: Any = None) -> int:
    """The number of items of an array, or of a list of arrays."""
    return math.prod(shape(module, a)) if axis is None else shape(module, a)[axis]


# --- elementwise ----------------------------------------------------------------------------------------------------


def where(module: Any, condition: Any, *sides: Any) -> Any:
    """A choice for each element."""
    if isinstance(condition, (list, tuple, bool, np.bool_)):
        condition = asarray(module, condition)
    sides = tuple(asarray(module, side) if isinstance(side, (list, tuple)) else side for side in sides)
    return module.where(condition, *sides)


def dot(module: Any, a: Any, b: Any, out: Any = None) -> Any:
    """The product of arrays, or of an array with a number."""
    kind = _class(module)
    if not isinstance(a, (kind, list, tuple)) or not isinstance(b, (kind, list, tuple)):
        return a * b
    a, b = asarray(module, a), asarray(module, b)
    return a * b if a.ndim == 0 or b.ndim == 0 else module.dot(a, b)


def _both(name: str) -> Callable[..., Any]:
    """A function of two arrays, either of which may be a number or a list."""

    def call(module: Any, a: Any, b: Any, *args: Any, **kwargs: Any) -> Any:
        if not hasattr(module, name):
            raise error("S2S536", name=f"numpy.{name}", module=module.__name__)
        return getattr(module, name)(asarray(module, a), asarray(module, b), *args, **kwargs)

    return call


# --- reductions -----------------------------------------------------------------------------------------------------


def _sum(module: Any, own: Any, a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False,
         initial: Any = None, where: Any = True) -> Any:
    a = a if where is True else module.where(asarray(module, where), a, module.zeros((), a.dtype))
    made = own(a, axis=axis, dtype=dtype, out=out, keepdims=keepdims is True)
    return made if initial in (None, np._NoValue) else made + initial


def _prod(module: Any, own: Any, a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False,
          initial: Any = None, where: Any = True) -> Any:
    a = a if where is True else module.where(asarray(module, where), a, module.ones((), a.dtype))
    made = own(a, axis=axis, dtype=dtype, out=out, keepdims=keepdims is True)
    return made if initial in (None, np._NoValue) else made * initial


def _mean(module: Any, own: Any, a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False,
          where: Any = True) -> Any:
    if where is True:
        return own(a, axis=axis, dtype=dtype, out=out, keepdims=keepdims is True)
    there = module.broadcast_to(asarray(module, where), a.shape)
    total = module.where(there, a, module.zeros((), a.dtype)).sum(axis=axis, keepdims=keepdims is True)
    return total / there.sum(axis=axis, keepdims=keepdims is True)


def _extreme(name: str) -> Callable[..., Any]:
    def call(module: Any, own: Any, a: Any, axis: Any = None, out: Any = None, keepdims: Any = False,
             initial: Any = None, where: Any = True) -> Any:
        if initial in (None, np._NoValue):
            return own(a, axis=axis, out=out, keepdims=keepdims is True)
        a = a if where is True else module.where(asarray(module, where), a, initial)
        if a.size:
            return getattr(module, name)(own(a, axis=axis, keepdims=keepdims is True), initial)
        shape = np.zeros(a.shape).sum(axis=axis, keepdims=keepdims is True).shape
        return module.full(shape, initial, dtype=a.dtype)

    return call


def _truth(
    module: Any, own: Any, a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, where: Any = True
) -> Any:
    if where is not True:
        neutral = own.__name__ == "all"
        a = module.where(asarray(module, where), a.astype(bool), neutral)
    return own(a, axis=axis, out=out, keepdims=keepdims is True)


METHODS: dict[str, Callable[..., Any]] = {
    "sum": _sum, "prod": _prod, "mean": _mean, "max": _extreme("maximum"), "min": _extreme("minimum"),
    "amax": _extreme("maximum"), "amin": _extreme("minimum"), "any": _truth, "all": _truth,
}
"""Functions that are given arguments by name which the module's may not take: they get the module's function too."""


# --- products and linear algebra ------------------------------------------------------------------------------------


def multi_dot(module: Any, arrays: Any, **kwargs: Any) -> Any:
    """The product of several matrices, from left to right."""
    made = asarray(module, arrays[0])
    for one in arrays[1:]:
        made = made @ one
    return made


def vector_norm(module: Any, x: Any, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """The norm of vectors along axes."""
    if axis is None:
        made = module.linalg.norm(x.ravel(), ord)
        return made.reshape((1,) * x.ndim) if keepdims else made
    if isinstance(axis, tuple):
        rest = [k for k in range(x.ndim) if k not in [a % x.ndim for a in axis]]
        flat = x.transpose([*rest, *[a % x.ndim for a in axis]]).reshape([x.shape[k] for k in rest] + [-1])
        made = module.linalg.norm(flat, ord, axis=-1)
        kept = [1 if k not in rest else x.shape[k] for k in range(x.ndim)]
        return made.reshape(kept) if keepdims else made
    return module.linalg.norm(x, ord, axis=axis, keepdims=keepdims)


def matrix_norm(module: Any, x: Any, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """The norm of matrices in the last two axes."""
    return module.linalg.norm(x, ord, axis=(-2, -1), keepdims=keepdims)


def svdvals(module: Any, x: Any, /) -> Any:
    """Singular values."""
    return module.linalg.svd(x, compute_uv=False)


def vecdot(module: Any, a: Any, b: Any, /, *, axis: int = -1, **kwargs: Any) -> Any:
    """Products of vectors along an axis."""
    return (module.conj(asarray(module, a)) * b).sum(axis=axis)


def matvec(module: Any, a: Any, b: Any, /, **kwargs: Any) -> Any:
    """Products of matrices with vectors."""
    return (asarray(module, a) @ asarray(module, b)[..., None])[..., 0]


def vecmat(module: Any, a: Any, b: Any, /, **kwargs: Any) -> Any:
    """Products of vectors with matrices."""
    return (module.conj(asarray(module, a))[..., None, :] @ asarray(module, b))[..., 0, :]


def cholesky(module: Any, a: Any, /, *, upper: bool = False) -> Any:
    """The factor below the diagonal. Raises NoDerivativeError for a module that has the other one under this name."""
    own = module.linalg.cholesky
    if "lower" in getattr(getattr(own, "__code__", None), "co_varnames", ()):
        raise error("S2S536", name="numpy.linalg.cholesky", module=module.__name__)
    found = own(a)
    return module.conj(module.swapaxes(found, -1, -2)) if upper else found


def diagonal(module: Any, x: Any, /, *, offset: int = 0) -> Any:
    """The diagonals of matrices in the last two axes."""
    return module.diagonal(x, offset, -2, -1)


def trace(module: Any, x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """The traces of matrices in the last two axes."""
    return module.trace(x, offset, -2, -1, dtype=dtype)


def unstack(module: Any, x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    """The items along an axis."""
    moved = module.moveaxis(x, axis, 0)
    return tuple(moved[k] for k in range(moved.shape[0]))


def tensordot(module: Any, a: Any, b: Any, axes: Any = 2) -> Any:
    """The sum over axes of the products of two arrays; a product where one of them is a number."""
    a, b = asarray(module, a), asarray(module, b)
    return a * b if a.ndim == 0 or b.ndim == 0 else module.tensordot(a, b, axes)


def indices(module: Any, dimensions: Any, dtype: Any = int, sparse: bool = False) -> Any:
    """The places along each axis."""
    if not sparse:
        return module.indices(dimensions, dtype=dtype)
    rank = len(dimensions)
    return tuple(
        module.arange(n, dtype=dtype).reshape((1,) * k + (n,) + (1,) * (rank - k - 1))
        for k, n in enumerate(dimensions))


def take_along_axis(module: Any, a: Any, places: Any, axis: Any = -1) -> Any:
    """The items of an array at places along an axis."""
    return module.take_along_axis(a, places, axis)


def polyder(module: Any, p: Any, m: int = 1) -> Any:
    """The coefficients of the derivative of a polynomial."""
    p = asarray(module, p)
    for _ in range(m):
        p = p[:-1] * module.arange(p.shape[0] - 1, 0, -1)
    return p


# --- repeated places ------------------------------------------------------------------------------------------------


def add_at(module: Any, own: Any, a: Any, indices: Any, values: Any) -> None:
    """``a[indices] += values``, adding up where a place is named more than once."""
    if not has_memory(_class(module)):
        graph_places.add_at(module, a, indices, values)
        return
    if not hasattr(own, "at"):
        raise error("S2S536", name="numpy.add.at", module=module.__name__)
    if a.dtype.kind != "c":
        own.at(a, indices, values)
        return
    values = asarray(module, values)
    own.at(a.real, indices, values.real)
    if values.dtype.kind == "c":
        own.at(a.imag, indices, values.imag)


def subtract_at(module: Any, own: Any, a: Any, indices: Any, values: Any) -> None:
    """``a[indices] -= values``, as ``add_at``."""
    add_at(module, module.add, a, indices, -values)


AT: dict[str, Callable[..., None]] = {"add": add_at, "subtract": subtract_at}

SPELLED: dict[str, Callable[..., Any]] = {
    "shape": shape, "ndim": ndim, "size": size, "array": array, "asarray": asarray, "asanyarray": asarray,
    "copy": copy, "broadcast_to": broadcast_to,
    "full": full, "full_like": full_like, "roll": roll, "transpose": transpose, "permute_dims": transpose,
    "where": where, "dot": dot,
    "inner": _both("inner"), "outer": _both("outer"), "vdot": _both("vdot"), "kron": _both("kron"),
    "convolve": _both("convolve"),
    **{name: _joined(name) for name in ("concatenate", "stack", "hstack", "vstack", "dstack", "column_stack")},
    "concat": _joined("concatenate"), "linalg.multi_dot": multi_dot, "linalg.vector_norm": vector_norm,
    "linalg.matrix_norm": matrix_norm, "linalg.svdvals": svdvals, "linalg.vecdot": vecdot, "vecdot": vecdot,
    "matvec": matvec, "vecmat": vecmat, "linalg.outer": _both("outer"), "linalg.tensordot": tensordot,
    "tensordot": tensordot, "indices": indices, "take_along_axis": take_along_axis, "linalg.diagonal": diagonal,
    "linalg.trace": trace, "linalg.cholesky": cholesky, "unstack": unstack, "polyder": polyder,
}
