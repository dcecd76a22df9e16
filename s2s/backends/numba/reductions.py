"""Reductions over given axes for compiled code, written as loops for the rank of their array; ``np.expand_dims``."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload
from numba.np.numpy_support import as_dtype

from s2s.backends.numba.paths import Unsupported

__all__ = ["REDUCTIONS", "expansion", "reduction", "squeezed"]

REDUCTIONS = {np.sum: "sum", np.mean: "mean", np.max: "max", np.min: "min", np.prod: "prod", np.any: "any",
               np.all: "all"}


def reduction(function: Any, call: ast.Call) -> Any:
    """What stands for a reduction; its other arguments are taken out of the call, which must have them as constants."""
    given: dict[str, Any] = {}
    for name, value in [*zip(("axis", "dtype"), call.args[1:]), *((k.arg, k.value) for k in call.keywords)]:
        try:
            given[str(name)] = "float64" if _is_float64(value) else ast.literal_eval(value)
        except (ValueError, TypeError):
            raise Unsupported(f"`{ast.unparse(call)}` has an argument that is known only when it runs",
                              call.lineno) from None
    unknown = given.keys() - {"axis", "keepdims", "dtype"}
    if unknown or given.get("dtype") not in (None, "float64"):
        raise Unsupported(f"`{ast.unparse(call)}` has an argument that Numba does not know", call.lineno)
    call.args, call.keywords = call.args[:1], []
    return _reduce(REDUCTIONS[function], given.get("axis"), bool(given.get("keepdims")), given.get("dtype"))


def _is_float64(value: ast.expr) -> bool:
    return ast.unparse(value) in ("np.float64", "numpy.float64", "float")


@functools.cache
def _reduce(name: str, axis: Any, keepdims: bool, dtype: str | None) -> Any:
    """A reduction over given axes."""
    native = getattr(np, name)

    def reduce(a: Any) -> Any:
        raise NotImplementedError

    @overload(reduce)
    def choose(a):
        if isinstance(a, types.Number):
            return lambda a: a
        if isinstance(a, types.Array):
            if axis is None and not keepdims and dtype is None:
                return lambda a: native(a)
            return _reduce_array(name, a.ndim, axis, keepdims, _kind_of_sum(name, a.dtype, dtype))
        return (lambda a: native(a)) if axis is None and not keepdims and dtype is None else None

    return reduce


def _kind_of_sum(name: str, dtype: Any, wanted: str | None) -> Any:
    if name in ("any", "all"):
        return types.boolean
    if wanted is not None:
        return types.float64
    if name == "mean":
        return types.float64 if isinstance(dtype, (types.Integer, types.Boolean)) else dtype
    whole = name in ("sum", "prod") and isinstance(dtype, (types.Integer, types.Boolean))
    return types.int64 if whole else dtype


_START = {"sum": "0", "mean": "0", "prod": "1", "any": "False", "all": "True"}

_STEP = {
    "sum": ("{out} += v",), "mean": ("{out} += v",), "prod": ("{out} *= v",),
    "any": ("{out} = {out} or v != 0",), "all": ("{out} = {out} and v != 0",),
    "max": ("if v > {out} or v != v:", "    {out} = v"), "min": ("if v < {out} or v != v:", "    {out} = v"),
}  # fmt: skip


def _reduce_array(name: str, rank: int, axis: Any, keepdims: bool, kind: Any) -> Any:
    """The loops of a reduction, written for the rank of its array; None where it has no such axes."""
    axes = range(rank) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    is_complex = isinstance(kind, types.Complex) and name in ("max", "min")
    if is_complex or not _are_axes(axes, rank):
        return None
    over = sorted({k % rank for k in axes})
    left = [k for k in range(rank) if k not in over]
    out = f"out[{', '.join(f'i{k}' for k in left)}]" if left else "out"
    lines = ["def reduction(a):"]
    if name in ("max", "min"):
        lines += [f"    if a.shape[{k}] == 0: raise ValueError" for k in over]
        first = ", ".join(":" if k in left else "0" for k in range(rank)) or "()"
        lines.append(f"    out = a[{first}]{'.copy()' if left else ''}")
    elif left:
        lines.append(f"    out = np.full(({_lengths(left)}), {_START[name]}, dtype)")
    else:
        lines.append(f"    out = kind({_START[name]})")
    space = "    "
    for k in range(rank):
        lines.append(f"{space}for i{k} in range(a.shape[{k}]):")
        space += "    "
    lines.append(f"{space}v = a[{', '.join(f'i{k}' for k in range(rank)) or '()'}]")
    lines += [space + step.format(out=out) for step in _STEP[name]]
    if name == "mean":
        lines.append(f"    out = out / ({' * '.join(f'a.shape[{k}]' for k in over) or '1'})")
    if keepdims:
        whole = "".join("1, " if k in over else f"a.shape[{k}], " for k in range(rank))
        lines.append(f"    return out.reshape(({whole}))" if left else f"    return np.full(({whole}), out)")
    else:
        lines.append("    return out")
    scope: dict[str, Any] = {"__name__": __name__, "np": np, "kind": kind, "dtype": as_dtype(kind)}
    exec("\n".join(lines), scope)
    return scope["reduction"]


def _are_axes(axes: Iterable[int], rank: int) -> bool:
    """Whether an array has these axes, each of which comes once."""
    axes = list(axes)
    return all(-rank <= k < rank for k in axes) and len({k % rank for k in axes}) == len(axes)


def _lengths(axes: list[int]) -> str:
    return "".join(f"a.shape[{k}], " for k in axes)


# --- expand_dims ----------------------------------------------------------------------------------------------------


def expansion(call: ast.Call) -> Any:
    """What stands for ``np.expand_dims`` with constant axes, of which Numba takes one."""
    axis = call.args[1] if len(call.args) > 1 else call.keywords[0].value
    try:
        axes = ast.literal_eval(axis)
    except ValueError:
        return np.expand_dims
    call.args, call.keywords = call.args[:1], []
    return _expand(axes if isinstance(axes, tuple) else (axes,))


@functools.cache
def _expand(axes: tuple[int, ...]) -> Any:
    def expand(a: Any) -> Any:
        raise NotImplementedError

    @overload(expand)
    def choose(a):
        rank = len(axes) + (a.ndim if isinstance(a, types.Array) else 0)
        if not isinstance(a, types.Array) or not _are_axes(axes, rank):
            return None
        made = "a"
        for k in sorted(k % rank for k in axes):
            made = f"np.expand_dims({made}, {k})"
        scope: dict[str, Any] = {"__name__": __name__, "np": np}
        exec(f"def expand(a):\n    return {made}", scope)
        return scope["expand"]

    return expand


def squeezed(call: ast.Call) -> Any:
    """What stands for ``np.squeeze`` over axes that are constants. Raises Unsupported for others."""
    given = [*call.args[1:], *(k.value for k in call.keywords)]
    try:
        axes = ast.literal_eval(given[0])
    except (IndexError, ValueError):
        reason = f"the rank of `{ast.unparse(call)}` is known only when it runs; give `axis`"
        raise Unsupported(reason, call.lineno) from None
    call.args, call.keywords = call.args[:1], []
    return _squeeze(axes if isinstance(axes, tuple) else (axes,))


@functools.cache
def _squeeze(axes: tuple[int, ...]) -> Any:
    def squeeze(a: Any) -> Any:
        raise NotImplementedError

    @overload(squeeze)
    def choose(a):
        if not isinstance(a, types.Array) or not _are_axes(axes, a.ndim):
            return None
        over = {k % a.ndim for k in axes}
        index = ", ".join("0" if k in over else ":" for k in range(a.ndim))
        lines = ["def squeeze(a):", *(f"    if a.shape[{k}] != 1: raise ValueError" for k in over)]
        lines.append(f"    return {f'a[{index}]' if len(over) < a.ndim else 'a.reshape(())'}")
        scope: dict[str, Any] = {"__name__": __name__}
        exec("\n".join(lines), scope)
        return scope["squeeze"]

    return squeeze
