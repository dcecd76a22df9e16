"""Functions of NumPy, of the runtime and of Python that Numba lacks, or has for some arguments only."""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
from numba import types
from numba.extending import overload, register_jitable
from numba.np.numpy_support import as_dtype

from s2s import runtime as rt
from s2s.backends.numba.arithmetic import OPTIONS, parts_of_index, share_any_rank
from s2s.backends.numba.elements import around, bound, place, turn
from s2s.backends.numba.triangular import solve_triangular
from s2s.directives.policies import stop_gradient as plain_stop_gradient

__all__ = ["REPLACED", "last"]


# --- NumPy ----------------------------------------------------------------------------------------------------------


def full_like(a: Any, value: Any) -> Any:
    """``np.full_like``, for an array of values too."""
    raise NotImplementedError


@overload(full_like)
def _full_like(a, value):
    if not isinstance(a, types.Array) or isinstance(value, types.Number):
        return lambda a, value: np.full_like(a, value)

    def fill(a, value):
        out = np.empty_like(a)
        out[...] = value
        return out

    return fill


def matmul(a: Any, b: Any) -> Any:
    """``a @ b``"""
    raise NotImplementedError


@overload(matmul)
def _matmul(a, b):
    if not (isinstance(a, types.Array) and isinstance(b, types.Array)):
        return lambda a, b: a @ b
    if max(a.ndim, b.ndim) <= 2:
        kind = np.promote_types(as_dtype(a.dtype), as_dtype(b.dtype))
        if a.dtype == b.dtype or kind.kind not in "fc":
            return lambda a, b: a @ b
        if as_dtype(a.dtype) == kind:
            return lambda a, b: a @ b.astype(kind)
        if as_dtype(b.dtype) == kind:
            return lambda a, b: a.astype(kind) @ b
        return lambda a, b: a.astype(kind) @ b.astype(kind)
    if a.ndim == 0 or b.ndim == 0:
        return None
    return _matmul_stacks(a, b)


def _matmul_stacks(a, b):
    """The loops over stacks of matrices, written for their ranks."""
    kind = np.promote_types(as_dtype(a.dtype), as_dtype(b.dtype))
    if kind.kind not in "fc" or kind.char in "eg":
        return None
    own = {"a": max(a.ndim - 2, 0), "b": max(b.ndim - 2, 0)}
    most = max(own.values())
    lines, space = ["def matmul(a, b):"], "    "
    places: dict[str, list[str]] = {"a": [], "b": []}
    for k in range(most):
        axes = {name: k - most + n for name, n in own.items() if k - most + n >= 0}
        lengths = [f"{name}.shape[{axis}]" for name, axis in axes.items()]
        lines.append(f"    n{k} = {lengths[0]}")
        if len(lengths) == 2:
            lines += [f"    if n{k} == 1: n{k} = {lengths[1]}",
                      f"    if {lengths[1]} != 1 and {lengths[1]} != n{k}: raise ValueError"]
        for name, axis in axes.items():
            places[name].append(f"i{k} if {name}.shape[{axis}] != 1 else 0")
    matrix = [*(["a.shape[-2]"] if a.ndim > 1 else []), *(["b.shape[-1]"] if b.ndim > 1 else [])]
    lines.append(f"    out = np.empty(({''.join(f'n{k}, ' for k in range(most))}{', '.join(matrix)},), kind)")
    lines.append(f"    if a.shape[-1] != b.shape[{-2 if b.ndim > 1 else 0}]: raise ValueError")
    for k in range(most):
        lines.append(f"{space}for i{k} in range(n{k}):")
        space += "    "
    one = {name: f"{name}[{', '.join(p)}]" if p else name for name, p in places.items()}
    whole = [f"np.ascontiguousarray({one['a']})", f"np.ascontiguousarray({one['b']})"]
    for n, array in enumerate((a, b)):
        if as_dtype(array.dtype) != kind:
            whole[n] += ".astype(kind)"
    lines += [f"{space}out[{', '.join(f'i{k}' for k in range(most))}] = {whole[0]} @ {whole[1]}", "    return out"]
    scope: dict[str, Any] = {"__name__": __name__, "np": np, "kind": kind}
    exec("\n".join(lines), scope)
    return scope["matmul"]


def add_at(a: Any, index: Any, value: Any) -> None:
    """``np.add.at``"""
    raise NotImplementedError


@overload(add_at)
def _add_at(a, index, value):
    if not isinstance(a, types.Array):
        return None
    one = _value_at(value)
    apart = _refuse_shared if isinstance(value, types.Array) else register_jitable(lambda a, value: None)
    if all(isinstance(part, (types.Integer, types.SliceType)) for part in parts_of_index(index)):

        def once(a, index, value):
            a[index] += value

        return once
    if _is_list_of_places(index) and index.ndim == 1 and one is not None:

        def rows(a, index, value):
            apart(a, value)
            for k in range(index.shape[0]):
                a[index[k]] += one(value, k, index.shape[0])

        return rows
    pair = len(parts_of_index(index)) == 2 and a.ndim == 2
    if pair and all(_is_list_of_places(part) and part.ndim == 1 for part in parts_of_index(index)) and one is not None:

        def places(a, index, value):
            apart(a, value)
            first, second = index
            if first.shape[0] != second.shape[0]:
                raise ValueError
            for k in range(first.shape[0]):
                a[first[k], second[k]] += one(value, k, first.shape[0])

        return places
    return _add_in_python


def _add_in_python(a, index, value):
    with numba.objmode():
        np.add.at(a, index, value)


@register_jitable
def _refuse_shared(a, value):
    """Raise where the values to add are part of the array that they are added to."""
    if share_any_rank(a, value):
        raise ValueError


def _is_list_of_places(index: Any) -> bool:
    return isinstance(index, types.Array) and isinstance(index.dtype, types.Integer)


def _value_at(value: Any) -> Any:
    """The item of the values to add that goes to the k-th place; None for kinds of values that are not known."""
    if isinstance(value, types.Number):
        return register_jitable(lambda value, k, n: value)
    if isinstance(value, types.Array) and value.ndim >= 1:

        def item(value, k, n):
            if value.shape[0] != n:
                raise ValueError
            return value[k]

        return register_jitable(item)
    return None


# --- cotangents of any shape ----------------------------------------------------------------------------------------


def unbroadcast(g: Any, x: Any) -> Any:
    """``rt.unbroadcast``"""
    raise NotImplementedError


@overload(unbroadcast)
def _unbroadcast(g, x):
    if isinstance(x, types.Array) and isinstance(g, (types.Array, types.Number)):
        return _sum_to(g, x)
    if isinstance(x, types.Number) and isinstance(g, types.Array):
        return (lambda g, x: np.sum(g)) if isinstance(x, types.Complex) else (lambda g, x: np.sum(g).real)
    return _cast(g, x)


def _sum_to(g, x):
    """The loops that add up ``g`` where ``x`` is stretched, or stretch it, written for their ranks."""
    if not isinstance(x.dtype, (types.Float, types.Complex)):
        return None
    rank = g.ndim if isinstance(g, types.Array) else 0
    if rank == 0:
        number = "g[()]" if isinstance(g, types.Array) else "g"
    most = max(rank, x.ndim)
    lines = ["def unbroadcast(g, x):", "    out = np.zeros(x.shape, dtype)"]
    places: dict[str, list[str]] = {"g": [], "x": []}
    space = "    "
    for k in range(most):
        own = {name: k - most + n for name, n in (("g", rank), ("x", x.ndim))}
        lengths = [f"{name}.shape[{axis}]" for name, axis in own.items() if axis >= 0]
        lines.append(f"{space}for i{k} in range({f'max({lengths[0]}, {lengths[1]})' if lengths[1:] else lengths[0]}):")
        space += "    "
        for name, axis in own.items():
            if axis >= 0:
                places[name].append(f"i{k} if {name}.shape[{axis}] != 1 else 0")
    value = f"g[{', '.join(places['g'])}]" if rank else number
    real = "" if isinstance(x.dtype, types.Complex) else ".real"
    lines += [f"{space}out[{', '.join(places['x']) or '()'}] += ({value}){real}", "    return out"]
    scope: dict[str, Any] = {"__name__": __name__, "np": np, "dtype": as_dtype(x.dtype)}
    exec("\n".join(lines), scope)
    return scope["unbroadcast"]


def cast(g: Any, x: Any) -> Any:
    """``rt.cast``"""
    raise NotImplementedError


@overload(cast)
def _cast(g, x):
    if isinstance(x, types.Array) and isinstance(g, types.Array) and isinstance(x.dtype, (types.Float, types.Complex)):
        if isinstance(g.dtype, types.Complex) and isinstance(x.dtype, types.Float):
            return None
        dtype = as_dtype(x.dtype)
        return lambda g, x: g.astype(dtype)
    if isinstance(g, types.Complex) and isinstance(x, (types.Integer, types.Float)):
        return lambda g, x: g.real
    if isinstance(g, types.Number) and isinstance(x, (types.Integer, types.Float)):
        return lambda g, x: float(g)
    return None


def zeros_like(x: Any) -> Any:
    """``rt.zeros_like`` and ``rt.zeros_of``"""
    raise NotImplementedError


@overload(zeros_like)
def _zeros_like(x):
    if isinstance(x, types.Array) and isinstance(x.dtype, (types.Float, types.Complex)):
        return lambda x: np.zeros_like(x)
    if isinstance(x, types.Float):
        return lambda x: 0.0
    if isinstance(x, types.List) and isinstance(x.dtype, types.Float):
        return lambda x: [0.0] * len(x)
    if isinstance(x, types.List):
        return lambda x: [zeros_like(item) for item in x]
    return None


def mirror(g: Any, items: Any) -> Any:
    """``rt.mirror``"""
    raise NotImplementedError


@overload(mirror)
def _mirror(g, items):
    if isinstance(items, types.List):
        return lambda g, items: [mirror(g[i], items[i]) for i in range(len(items))]
    if isinstance(items, types.BaseTuple):
        return _for_items(items, "g, items", "mirror(g[{k}], items[{k}])", mirror)
    return lambda g, items: cast(g, items)


def plus(a: Any, b: Any) -> Any:
    """``rt.add``"""
    raise NotImplementedError


@overload(plus)
def _plus(a, b):
    if isinstance(a, types.NoneType):
        return lambda a, b: b
    if isinstance(b, types.NoneType):
        return lambda a, b: a
    if isinstance(a, types.List):
        return lambda a, b: [plus(x, y) for x, y in zip(a, b)]
    if isinstance(a, types.BaseTuple):
        return _for_items(a, "a, b", "plus(a[{k}], b[{k}])", plus)
    return lambda a, b: a + b


def _for_items(items, parameters, text, function):
    """A function that gives a tuple of what ``text`` gives for each item; the helper that it calls is ``function``."""
    if isinstance(items, types.BaseNamedTuple):
        return None
    parts = "".join(f"{text.format(k=k)}, " for k in range(len(items)))
    scope: dict[str, Any] = {"__name__": __name__, function.__name__: function}
    exec(f"def for_items({parameters}):\n    return ({parts})", scope)
    return scope["for_items"]


def index_bar(x: Any, index: Any, g: Any) -> Any:
    """``rt.index_bar``"""
    raise NotImplementedError


@overload(index_bar)
def _index_bar(x, index, g):
    if isinstance(x, types.Array):

        def of_array(x, index, g):
            x_bar = zeros_like(x)
            add_at(x_bar, index, g)
            return x_bar

        return of_array
    if isinstance(x, types.List) and isinstance(x.dtype, types.Float):

        def of_list(x, index, g):
            x_bar = [0.0] * len(x)
            x_bar[index] = g
            return x_bar

        return of_list
    return None


def quotient(a: Any, b: Any) -> Any:
    """``rt.quotient``, which raises here where the divisor is 0"""
    raise NotImplementedError


@overload(quotient)
def _quotient(a, b):
    return lambda a, b: a / b


def power(a: Any, b: Any) -> Any:
    """``rt.power``"""
    raise NotImplementedError


@overload(power)
def _power(a, b):
    return lambda a, b: a**b


# --- checks ---------------------------------------------------------------------------------------------------------


def check_scalar(value: Any) -> None:
    """``rt.check_scalar``, which tells the user what is wrong"""
    raise NotImplementedError


@overload(check_scalar)
def _check_scalar(value):
    if isinstance(value, types.Float) or (
        isinstance(value, types.Array) and value.ndim == 0 and isinstance(value.dtype, types.Float)
    ):
        return lambda value: None
    return _refuse


def _refuse(value):
    raise TypeError


def check_own(value: Any) -> None:
    """``rt.check_own``"""
    raise NotImplementedError


@overload(check_own)
def _check_own(value):
    is_array = isinstance(value, types.Array) and value.ndim > 0
    return _refuse if is_array or isinstance(value, types.List) else lambda value: None


# --- Python ---------------------------------------------------------------------------------------------------------


def to_float(x: Any) -> Any:
    """``float``"""
    raise NotImplementedError


@overload(to_float)
def _to_float(x):
    return (lambda x: x.item()) if isinstance(x, types.Array) else lambda x: float(x)


@numba.njit(**OPTIONS)
def any_of(items):  # type: ignore[no-untyped-def]
    """``any``"""
    for item in items:  # noqa: SIM110 (Numba has no any)
        if item:
            return True
    return False


@numba.njit(**OPTIONS)
def all_of(items):  # type: ignore[no-untyped-def]
    """``all``"""
    for item in items:  # noqa: SIM110
        if not item:
            return False
    return True


@numba.njit(**OPTIONS)
def is_close(a, b, rel_tol=1e-9, abs_tol=0.0):  # type: ignore[no-untyped-def]
    """``math.isclose``"""
    if a == b:
        return True
    if math.isinf(a) or math.isinf(b):
        return False
    return abs(a - b) <= max(rel_tol * max(abs(a), abs(b)), abs_tol)


@numba.njit(**OPTIONS)
def outline(x):  # type: ignore[no-untyped-def]
    """``rt.outline``: compiled lists keep arrays of one layout"""
    return x


@numba.njit(**OPTIONS)
def last(items):  # type: ignore[no-untyped-def]
    """``items.pop()``, once for all lists of a kind: Numba writes two hundred instructions for each call of it"""
    return items.pop()


def stop_gradient(x: Any) -> Any:
    """``s2s.stop_gradient``"""
    raise NotImplementedError


@overload(stop_gradient)
def _stop_gradient(x):
    if isinstance(x, types.Array):
        return lambda x: x.copy()
    return (lambda x: x) if isinstance(x, (types.Number, types.Boolean)) else None


def share(g: Any, y: Any, items: Any) -> Any:
    """``rt.share``, for a tuple of numbers"""
    raise NotImplementedError


@overload(share)
def _share(g, y, items):
    if not isinstance(items, types.BaseTuple) or not all(isinstance(i, types.Number) for i in items):  # type: ignore[attr-defined]
        return None

    def of_numbers(g, y, items):
        hits = 0
        for item in items:
            hits += item == y
        part = g / hits
        return [part if item == y else 0.0 for item in items]

    return of_numbers


# --- the table ------------------------------------------------------------------------------------------------------


REPLACED: dict[Any, Any] = {np.full_like: full_like, np.matmul: matmul, np.add.at: add_at, any: any_of, all: all_of,
                             math.isclose: is_close, float: to_float, rt.unbroadcast: unbroadcast, rt.cast: cast,
                             rt.zeros_like: zeros_like, rt.zeros_of: zeros_like, rt.check_scalar: check_scalar,
                             rt.check_own: check_own, rt.mirror: mirror, rt.add: plus, rt.index_bar: index_bar,
                             rt.accumulate: add_at, rt.quotient: quotient, rt.power: power, rt.outline: outline,
                             plain_stop_gradient: stop_gradient,
                             rt.bound: bound, rt.place: place, rt.turn: turn, rt.around: around, rt.share: share,
                             rt.solve_triangular: solve_triangular}
