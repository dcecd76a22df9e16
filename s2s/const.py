"""``Const``, an atom of the IR, apart from the other nodes: abstract values hold it too, and they are needed
where nothing is compiled."""

from __future__ import annotations

import operator
from typing import Any


class Const:
    """A constant: a literal, or an object known at compile time (a function, a module, a type, ``None``).

    Equal when type and value are, so that ``1``, ``1.0`` and ``True`` differ; compared by identity where the
    value is not a plain literal.
    """

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def _key(self) -> tuple[Any, ...]:
        if type(self.value) in (int, bool, str, bytes, type(None), type(Ellipsis)):
            return (type(self.value), self.value)
        if type(self.value) in (float, complex):
            return (type(self.value), repr(self.value))
        return (id(self.value),)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Const) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"Const({self.value!r})"

    def __str__(self) -> str:
        return _show(self.value)


def _show(value: Any) -> str:
    if isinstance(value, (int, float, complex, str, bytes, type(None), bool)) or value is Ellipsis:
        return repr(value)
    if isinstance(value, tuple):
        return "(" + ", ".join(map(_show, value)) + ("," if len(value) == 1 else "") + ")"
    name = getattr(value, "__name__", None)
    if name is None:
        return f"<{type(value).__name__}>"
    module = getattr(value, "__module__", None)
    return name if module in (None, "builtins", operator.__name__) else f"{module}.{name}"
