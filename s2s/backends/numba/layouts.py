"""Whether a store through a view of an array, or of what may be a copy, is the same in compiled code.

    b = m.reshape(-1)                # a view of an array in C order, else a copy
    b[0] = 0.0                       # so whether ``m`` changes depends on the order of its axes in memory

NumPy gives a result the order of what it was computed from, Numba always that of C: where arrays lie in another order,
such a function is left to NumPy.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from s2s.backends.numba.paths import Unsupported
from s2s.backends.numba.syntax import names_in

__all__ = ["check_views"]

_VIEWS_OR_COPIES = {"ravel", "reshape", "ascontiguousarray", "asfortranarray", "asarray", "asanyarray", "require"}
_TURNS = {"T", "mT", "transpose", "swapaxes", "moveaxis", "rollaxis", "asfortranarray", "permute_dims"}
_COTANGENT = re.compile(r"_bar(_\d+)?$")
_CHANGES = {"copyto", "fill", "at", "sort", "put", "itemset", "partition", "fill_diagonal", "put_along_axis"}


def check_views(node: ast.FunctionDef, samples: Mapping[str, Any]) -> bool:
    """Look whether a store may go through what is a view of an array in one order and a copy in another: compiled code
    is right then for arguments in the order of C alone. Raises Unsupported where arrays may lie in another one."""
    asked = [n for n in ast.walk(node) if isinstance(n, ast.Call) and _attribute(n.func) in _VIEWS_OR_COPIES]
    loops = [range(n.lineno, (n.end_lineno or 0) + 1) for n in ast.walk(node) if isinstance(n, (ast.For, ast.While))]
    pairs = [(n.targets, _memory(n.value)) for n in ast.walk(node) if isinstance(n, ast.Assign)]
    turned, found = _is_turned(samples) or any(_attribute(n) in _TURNS for n in ast.walk(node)), False
    for call in asked:
        memory = _memory(call)
        if not memory or _COTANGENT.search(memory):  # a reverse sweep reads one of both from there on
            continue
        related, before = {memory}, 0
        while len(related) > before:
            before = len(related)
            for targets, name in pairs:
                names = {name, *(t.id for t in targets if isinstance(t, ast.Name))}
                if name and names & related:
                    related |= names
        first = 0 if any(call.lineno in loop for loop in loops) else call.lineno
        changed = next((name for name, line in _changed(node) if name in related and line >= first), None)
        if changed is not None and turned:
            raise Unsupported(
                f"`{ast.unparse(call)}` is a view or a copy, by the order of the axes in memory, and `{changed}` is "
                "changed", call.lineno)
        found = found or changed is not None
    return found


def _memory(node: ast.expr) -> str:
    """The variable whose memory an expression may be; empty for what is new."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Subscript(value=value) | ast.Attribute(value=value):
            return _memory(value)
        case ast.Call(func=ast.Attribute(value=owner, attr=attr), args=args) if attr in _VIEWS_OR_COPIES | _TURNS:
            return _memory(args[0] if isinstance(owner, ast.Name) and owner.id == "np" and args else owner)
    return ""


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


def _changed(node: ast.FunctionDef) -> Iterator[tuple[str, int]]:
    """The variables whose arrays are written to, with the lines."""
    for n in ast.walk(node):
        names: set[str] = set()
        match n:
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store()) | ast.AugAssign(target=ast.Name(id=name)):
                names = {name}
            case ast.Call(func=func, args=args, keywords=keywords):
                names = {name for k in keywords if k.arg == "out" for name in names_in(k.value)}
                if _attribute(func) in _CHANGES:
                    names |= names_in(func) | (names_in(args[0]) if args else set())
        yield from ((name, n.lineno) for name in names)  # type: ignore[attr-defined]
