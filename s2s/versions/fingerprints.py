"""Values in, hashes out that are the same in every process as long as the value is the same."""

from __future__ import annotations

import enum
import functools
import sys
import types
from typing import Any

import numpy as np

from s2s.core.hashes import new_hash
from s2s.core.inspection import class_attribute, class_name, is_sealed, look_up, with_article
from s2s.versions.paths import import_path


def stable_mark(value: Any) -> str:
    """What tells an object of a library of known version from what may stand in its place."""
    return repr(value) if type(value) in _LITERALS else import_path(value) or with_article(type(value).__name__)


class Unstorable(Exception):
    """A value has no fingerprint that another process could compare."""


def fingerprint(value: Any) -> str:
    """A hash of what a value is, the same in every process: of a function its code, line numbers and
    defaults, of a class its functions, of an array its content, of a literal its repr, of other objects
    their import path.

    Raises Unstorable for anything else.
    """
    digest = new_hash()
    for part in _parts(value, 0):
        digest.update(part)
        digest.update(b"\0")
    return digest.hexdigest()[:32]


_LITERALS = (int, float, complex, bool, str, bytes, type(None), type(Ellipsis))


def _parts(value: Any, depth: int) -> list[bytes]:
    if depth > 8:
        raise Unstorable("nested too deep")
    kind = type(value)
    if is_sealed(value):
        raise Unstorable(f"{class_name(kind)} object")
    if kind in _LITERALS or isinstance(value, (np.generic, np.dtype)):
        return [kind.__name__.encode(), repr(value).encode()]
    if kind in (tuple, list):
        return [
            kind.__name__.encode(),
            *(p for item in value for p in (b"(", *_parts(item, depth + 1), b")")),
        ]
    if kind is frozenset or kind is set:
        return [kind.__name__.encode(), *sorted(b"\1".join(_parts(item, depth + 1)) for item in value)]
    if kind is dict:
        return [b"dict", *(p for pair in value.items() for p in _parts(pair, depth + 1))]
    if kind is slice:
        return [b"slice", *_parts((value.start, value.stop, value.step), depth + 1)]
    if kind is np.ndarray and not value.dtype.hasobject:
        return [
            b"array",
            repr((value.dtype.str, value.shape)).encode(),
            new_hash(value.tobytes()).digest(),
        ]
    if isinstance(value, types.CodeType):
        return _code_parts(value, depth)
    rule = _rule_of(value)
    return _parts_of_object(value, depth) + ([] if rule is None else [b"rule", *_parts(rule, depth + 1)])


def _rule_of(value: Any) -> tuple[Any, ...] | None:
    """What makes up the derivative rule that a user has given to a callable; None where there is none."""
    table = sys.modules.get("s2s.rules.table")
    rule = None if table is None or not callable(value) else table.rule_of_user(value)
    return None if rule is None else (rule.kind, rule.pullback, rule.pushforward, rule.partials, rule.given)


def _parts_of_object(value: Any, depth: int) -> list[bytes]:
    kind = type(value)
    if isinstance(value, types.FunctionType):
        return [
            b"def",
            *_code_parts(value.__code__, depth),
            *_parts(value.__defaults__, depth + 1),
            *_parts(value.__kwdefaults__, depth + 1),
        ]
    if isinstance(look_up(value, "made_from", None), tuple):  # a derivative
        return [b"derivative", *_parts(value.made_from, depth + 1)]
    parts_of = class_attribute(kind, "__s2s_parts__", None)
    if parts_of is not None:
        return [b"made", *_parts(parts_of(value), depth + 1)]
    if isinstance(value, functools.partial):
        arguments = _parts((value.args, value.keywords), depth + 1) if value.args or value.keywords else []
        return [*arguments, *_parts(value.func, depth + 1)]
    if kind is property:
        return [b"property", *_parts((value.fget, value.fset, value.fdel), depth + 1)]
    if kind is functools.cached_property:
        return [b"cached_property", *_parts(value.func, depth + 1)]
    is_cached = isinstance(value, functools._lru_cache_wrapper)
    if is_cached or isinstance(look_up(value, "__wrapped__", None), types.FunctionType):
        return [b"wrapped", *_parts(value.__wrapped__, depth + 1)]
    return _path_parts(value, depth)


def _code_parts(code: types.CodeType, depth: int) -> list[bytes]:
    shape = (
        code.co_name,
        code.co_argcount,
        code.co_posonlyargcount,
        code.co_kwonlyargcount,
        code.co_flags,
        code.co_firstlineno,
        code.co_names,
        code.co_varnames,
        code.co_freevars,
        code.co_cellvars,
    )
    constants = [p for c in code.co_consts for p in (b",", *_parts(c, depth + 1))]
    return [repr(shape).encode(), code.co_code, code.co_linetable, code.co_exceptiontable, *constants]


def _path_parts(value: Any, depth: int) -> list[bytes]:
    path = import_path(value)
    if path is None:
        raise Unstorable(f"{type(value).__name__} object")
    parts = [b"import", path.encode()]
    if isinstance(value, enum.Enum):
        own = {k: v for k, v in vars(value).items() if not k.startswith("__")}
        return [*parts, *_parts_if_any(own, depth + 1)]
    if isinstance(value, type) and value.__flags__ & (1 << 9):  # made by a class statement
        parts += [b"bases", *(f"{base.__module__}:{base.__qualname__}".encode() for base in value.__mro__[1:])]
        for name, member in sorted(vars(value).items()):
            member = look_up(member, "fget", None) or look_up(member, "__func__", None) or member
            if isinstance(member, types.FunctionType):
                parts += [name.encode(), *_parts(member, depth + 1)]
            elif not name.startswith(("__", "_abc_")):
                parts.append(name.encode())
    return parts


def _parts_if_any(held: dict[str, Any], depth: int) -> list[bytes]:
    """The parts of those attributes that have a fingerprint; what is used of the others has guards of its own."""
    parts = []
    for name, item in sorted(held.items()):
        parts.append(name.encode())
        try:
            parts += _parts(item, depth)
        except Unstorable:
            continue
    return parts
