"""Whether a store through a view of an array, or of what may be a copy, is the same in compiled code.

    b = m.reshape(-1)                # a view of an array in C order, else a copy
    b[0] = 0.0                       # so whether ``m`` changes depends on the order of its axes in memory

NumPy gives a result the order of what it was computed from, Numba always that of C: where arrays lie in another order,
such a function is left to NumPy.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from s2s.backends.numba.paths import Unsupported
from s2s.backends.numba.syntax import names_in

__all__ = ["check_views"]

_VIEWS_OR_COPIES = {"ravel", "reshape", "ascontiguousarray", "asfortranarray", "asarray", "asanyarray", "require"}
_TURNS = {"T", "mT", "transpose", "swapaxes", "moveaxis", "rollaxis", "asfortranarray", "permute_dims"}
_CHANGES = {"copyto", "fill", "at", "sort", "put", "itemset", "partition", "fill_diagonal", "put_along_axis"}


def check_views(node: ast.FunctionDef, samples: Mapping[str, Any]) -> bool:
    """Look whether a store may go through what is a view of an array in one order and a copy in another: compiled code
    is right then for arguments in the order of C alone. Raises Unsupported where arrays may lie in another one."""
    asked = [n for n in ast.walk(node) if isinstance(n, ast.Call) and _attribute(n.func) in _VIEWS_OR_COPIES]
    if not asked:
        return False
    related = {name for call in asked for name in names_in(call)}
    assigned = [n for n in ast.walk(node) if isinstance(n, ast.Assign) and not isinstance(n.value, ast.BinOp)]
    before = -1
    while len(related) > before:
        before = len(related)
        for statement in assigned:
            if names_in(statement.value) & related:
                related |= {name for target in statement.targets for name in names_in(target)}
    changed = next((name for name in _changed(node) if name in related), None)
    if changed is not None and (_is_turned(samples) or any(_attribute(n) in _TURNS for n in ast.walk(node))):
        raise Unsupported(
            f"`{ast.unparse(asked[0])}` is a view or a copy, by the order of the axes in memory, and `{changed}` is "
            "changed", asked[0].lineno)
    return changed is not None


def _attribute(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else ""


def _is_turned(samples: Mapping[str, Any]) -> bool:
    """Whether an array of the arguments lies in another order than that of C."""
    values: list[Any] = list(samples.values())
    while values:
        value = values.pop()
        if isinstance(value, np.ndarray):
            if value.ndim > 1 and not value.flags.c_contiguous:
                return True
        elif isinstance(value, (list, tuple)):
            values += value
        elif isinstance(value, dict):
            values += value.values()
    return False


def _changed(node: ast.FunctionDef) -> Iterator[str]:
    """The variables whose arrays are written to."""
    for n in ast.walk(node):
        match n:
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store()):
                yield name
            case ast.AugAssign(target=ast.Name(id=name)):
                yield name
            case ast.keyword(arg="out", value=value):
                yield from names_in(value)
            case ast.Call(func=ast.Attribute(value=owner, attr=attribute), args=args) if attribute in _CHANGES:
                yield from names_in(owner)
                yield from names_in(args[0]) if args else ()
