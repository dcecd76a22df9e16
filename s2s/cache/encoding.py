"""IR in, nested tuples of literals out, and back: what ``marshal`` keeps, and reading runs nothing.

A node is the place of its class in ``KINDS`` with its fields. Objects that a constant holds (functions, types) are
written as the path under which an import finds them; where there is none, the function is not encoded.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s.core import ir
from s2s.versions.paths import import_path, imported

__all__ = ["NotEncodable", "decode", "encode"]

KINDS: tuple[type, ...] = (
    ir.Function, ir.Param, ir.Block, ir.Let, ir.Store, ir.If, ir.For, ir.While, ir.With, ir.Try, ir.Assert, ir.Raise,
    ir.Note, ir.Carried, ir.Handler, ir.PossiblyUnassigned, ir.Load, ir.Star, ir.Call, ir.MakeFunction, ir.Span,
)
"""The nodes of a function in SSA form."""

_VAR, _CONST, _TUPLE, _OBJECT, _DTYPE, _UNDEFINED, _POSSIBLY_UNASSIGNED = range(len(KINDS), len(KINDS) + 7)
_PLACES = {kind: place for place, kind in enumerate(KINDS)}
_LITERALS = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis))


class NotEncodable(Exception):
    """Something in a function has no import path."""


def encode(value: Any) -> Any:
    """A node, or a field of one, as literals and tuples. Raises NotEncodable."""
    kind = type(value)
    if kind in _LITERALS:
        return value
    if kind is ir.Var:
        return _VAR, value.name, value.version
    if kind is ir.Const:
        unset = {ir.UNDEFINED: (_UNDEFINED,), ir.POSSIBLY_UNASSIGNED: (_POSSIBLY_UNASSIGNED,)}.get(value)
        if unset is None and isinstance(value.value, tuple):  # such constants are told apart by identity
            raise NotEncodable(repr(value))
        return (_CONST, encode(value.value)) if unset is None else unset
    if kind is tuple:
        return _TUPLE, *map(encode, value)
    place = _PLACES.get(kind)
    if place is not None:
        return place, *(encode(getattr(value, name)) for name in kind.__match_args__)
    if isinstance(value, np.dtype) and value.isbuiltin == 1:
        return _DTYPE, value.str
    path = None if isinstance(value, types.CodeType) else import_path(value)
    if path is None:
        raise NotEncodable(repr(value))
    return _OBJECT, path


def decode(code: Any) -> Any:
    """What ``encode`` was given. Raises nearly anything for what it has not written."""
    if type(code) is not tuple:
        return code
    place = code[0]
    if place < len(KINDS):
        return KINDS[place](*map(decode, code[1:]))
    return _OTHERS[place](*code[1:])


_OTHERS: dict[int, Callable[..., Any]] = {
    _VAR: ir.Var,
    _CONST: lambda value: ir.Const(decode(value)),
    _TUPLE: lambda *items: tuple(map(decode, items)),
    _OBJECT: imported,
    _DTYPE: np.dtype,
    _UNDEFINED: lambda: ir.UNDEFINED,
    _POSSIBLY_UNASSIGNED: lambda: ir.POSSIBLY_UNASSIGNED,
}
