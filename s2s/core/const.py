"""``Const``, an atom of the IR, apart from the other nodes: abstract values hold it too, and they are needed
where nothing is compiled."""

from __future__ import annotations

import operator
import types
from typing import Any

from s2s.core.inspection import look_up

__all__ = ["Const"]

_FLOATS = frozenset({float, complex})
_LITERALS = frozenset({int, bool, str, bytes, type(None), type(Ellipsis)})
_BOUND = frozenset({types.BuiltinMethodType, types.MethodWrapperType})
"""Methods of built-in objects: each look-up of ``np.add.at`` makes another one. They compare by their owners' identity
and what they call, and run nothing of the program's."""

_BY_VALUE = _LITERALS | _BOUND
_HASHED = _BY_VALUE | _FLOATS


class Const:
    """A constant: a literal, or an object known at compile time (a function, a module, a type, ``None``).

    Equal when type and value are, so that ``1``, ``1.0`` and ``True`` differ; compared by identity where the
    value is not a plain literal, or a built-in method by that of its owner.
    """

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        if other.__class__ is not Const:
            return False
        mine, theirs = self.value, other.value
        if mine is theirs:
            return True
        kind = type(mine)
        if kind is not type(theirs):
            return False
        if kind in _FLOATS:
            return repr(mine) == repr(theirs)  # 0.0 is not -0.0, nan is nan
        return kind in _BY_VALUE and bool(mine == theirs)

    def holds(self, value: Any) -> bool:
        """Whether it is the constant of a function: ``self == Const(value)``, without the other one."""
        mine = self.value
        return mine is value or (type(mine) in _BOUND and type(value) in _BOUND and bool(mine == value))

    def __hash__(self) -> int:
        value = self.value
        return hash(value) if type(value) in _HASHED else id(value)

    def __reduce__(self) -> Any:
        return Const, (self.value,)

    def __repr__(self) -> str:
        return f"Const({self.value!r})"

    def __str__(self) -> str:
        return _show(self.value)


def _show(value: Any) -> str:
    if isinstance(value, (int, float, complex, str, bytes, type(None), bool)) or value is Ellipsis:
        return repr(value)
    if isinstance(value, tuple):
        return "(" + ", ".join(map(_show, value)) + ("," if len(value) == 1 else "") + ")"
    name = look_up(value, "__name__", None)
    if name is None:
        return f"<{type(value).__name__}>"
    module = look_up(value, "__module__", None)
    return name if module in (None, "builtins", operator.__name__) else f"{module}.{name}"
