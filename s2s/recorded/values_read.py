"""Which arguments of a step its cotangents are computed from: of the others no numbers are kept.

    c = a + b              the cotangents of ``a`` and ``b`` are that of ``c``
    d = 2.0 * c            that of ``c`` is computed from 2.0

A large array that no step reads is freed where the program lets go of it.
"""

from __future__ import annotations

import dis
import functools
import inspect
import types
from typing import Any

import numpy as np

from s2s.rules import table
from s2s.rules.table import Rule

__all__ = ["LARGE", "names_by_position", "parameters_of_body", "positions_read", "positions_unread", "without_numbers"]

LARGE = 1 << 16
"""The bytes of an array from which it is freed as soon as it can be."""


def without_numbers(leaf: Any) -> Any:
    """What stands for a large array of which the shape and the dtype are read alone, ones that take no memory; anything
    else as it is."""
    if type(leaf) is not np.ndarray or leaf.nbytes < LARGE:
        return leaf
    return np.ndarray(leaf.shape, leaf.dtype, _one(leaf.dtype), 0, (0,) * leaf.ndim)


@functools.lru_cache(64)
def _one(dtype: Any) -> Any:
    return np.ones(1, dtype)


@functools.lru_cache(1024)
def positions_read(body: Any) -> frozenset[int]:
    """Which of its parameters a partial derivative reads, by their positions: at 0 is the result."""
    if type(body) is not types.FunctionType:
        return frozenset({0})
    code = body.__code__
    names = code.co_varnames[: code.co_argcount]
    if code.co_cellvars:
        return frozenset(range(len(names)))
    found = set[Any]()
    for instruction in dis.get_instructions(code):
        if instruction.opname.startswith("LOAD_FAST"):
            held = instruction.argval
            found.update(held if isinstance(held, tuple) else (held,))
    return frozenset(k for k, name in enumerate(names) if name in found)


@functools.lru_cache(1024)
def parameters_of_body(body: Any) -> tuple[str, ...]:
    return tuple(inspect.signature(body).parameters)


@functools.lru_cache(1024)
def names_by_position(fn: Any, count: int) -> tuple[str, ...] | None:
    """The names of so many parameters of a function that are given by position; None where these are not known."""
    known = [*table.find(fn).params.parameters.values()][:count]  # type: ignore[union-attr]
    is_known = len(known) == count and all(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in known)
    return tuple(p.name for p in known) if is_known else None


def positions_unread(fn: Any, rule: Rule, count: int) -> tuple[int, ...]:
    """The positional arguments of which no cotangent of a function reads the numbers, where these are enough for all
    cotangents: none where one reads the result, or a cotangent is found in another way."""
    names, bodies = names_by_position(fn, count), rule.cotangents.values()
    if names is None or rule.kind != "linear" or rule.given or rule.takes_none or rule.requires is not None:
        return ()
    if any(map(table.is_refusal, bodies)):
        return ()
    read = {name for body in bodies for name in parameters_of_body(body)}
    if "y" in read and "y" not in rule.params.parameters:
        return ()
    return tuple(k for k, name in enumerate(names) if name not in read)
