"""Cross products of vectors of length 3 along given axes for compiled code, written as loops for the ranks of the two
arrays. Other lengths raise: the Python function runs then."""

from __future__ import annotations

import ast
import functools
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload
from numba.np.numpy_support import as_dtype

from s2s.backends.numba.paths import Unsupported

__all__ = ["CROSSES", "cross"]

CROSSES = {np.cross: ("a", "b", "axisa", "axisb", "axisc", "axis"), np.linalg.cross: ("a", "b")}
"""The functions, each with the names of the arguments by position."""


def cross(function: Any, call: ast.Call) -> Any:
    """What stands for a cross product; the axes are taken out of the call, which must have them as constants."""
    names = CROSSES[function]
    given = dict(zip(names, call.args, strict=False)) | {str(k.arg): k.value for k in call.keywords}
    axes: dict[str, Any] = {}
    for name in ("axisa", "axisb", "axisc", "axis"):
        try:
            axes[name] = ast.literal_eval(given.pop(name)) if name in given else None
        except (ValueError, TypeError):
            raise Unsupported(f"`{ast.unparse(call)}` has an axis that is known only when it runs",
                              call.lineno) from None
    if len(call.args) > len(names) or given.keys() != {"a", "b"}:
        raise Unsupported(f"`{ast.unparse(call)}` has an argument that Numba does not know", call.lineno)
    call.args, call.keywords = [given["a"], given["b"]], []
    default = -1 if axes["axis"] is None else axes["axis"]
    own = [axes[name] for name in ("axisa", "axisb", "axisc")]
    return _cross(*[default if axis is None or axes["axis"] is not None else axis for axis in own])


@functools.cache
def _cross(axisa: int, axisb: int, axisc: int) -> Any:
    """A cross product along given axes."""

    def cross(a: Any, b: Any) -> Any:
        raise NotImplementedError

    @overload(cross)
    def choose(a, b):
        if not all(isinstance(x, types.Array) and x.ndim and isinstance(x.dtype, types.Number) for x in (a, b)):
            return None
        rank = max(a.ndim, b.ndim)
        axes = axisa, axisb, axisc
        if not all(-n <= axis < n for axis, n in zip(axes, (a.ndim, b.ndim, rank), strict=True)):
            return None
        kind = np.promote_types(as_dtype(a.dtype), as_dtype(b.dtype))
        return _loops(a.ndim, b.ndim, axisa % a.ndim, axisb % b.ndim, axisc % rank, kind)

    return cross


def _loops(rank_a: int, rank_b: int, axisa: int, axisb: int, axisc: int, kind: Any) -> Any:
    """The loops over stacks of vectors."""
    batch = max(rank_a, rank_b) - 1
    places, lengths = {}, [[] for _ in range(batch)]  # type: ignore[var-annotated]
    for name, rank, axis in (("a", rank_a, axisa), ("b", rank_b, axisb)):
        own = [k for k in range(rank) if k != axis]
        found = []
        for k, place in zip(range(batch - len(own), batch), own, strict=True):
            length = f"{name}.shape[{place}]"
            lengths[k].append(length)
            found.append(f"i{k} if {length} != 1 else 0")
        places[name] = [", ".join([*found[:axis], str(c), *found[axis:]]) for c in range(3)]
    indices = [f"i{k}" for k in range(batch)]
    shape = [f"n{k}" for k in range(batch)]
    shape.insert(axisc, "3")
    lines = ["def cross(a, b):", f"    if a.shape[{axisa}] != 3 or b.shape[{axisb}] != 3: raise ValueError"]
    for k, found in enumerate(lengths):
        lines.append(f"    n{k} = {found[0]}")
        if len(found) == 2:
            lines += [f"    if n{k} == 1: n{k} = {found[1]}",
                      f"    if {found[1]} != 1 and {found[1]} != n{k}: raise ValueError"]
    lines.append(f"    out = np.empty(({', '.join(shape)},), kind)")
    space = "    "
    for k in range(batch):
        lines.append(f"{space}for i{k} in range(n{k}):")
        space += "    "
    for name in "ab":
        lines += [f"{space}{name}{c} = {name}[{index}]" for c, index in enumerate(places[name])]
    for c in range(3):
        m, n = (c + 1) % 3, (c + 2) % 3
        at = ", ".join([*indices[:axisc], str(c), *indices[axisc:]])
        lines.append(f"{space}out[{at}] = a{m} * b{n} - a{n} * b{m}")
    scope: dict[str, Any] = {"__name__": __name__, "np": np, "kind": kind}
    exec("\n".join([*lines, "    return out"]), scope)
    return scope["cross"]
