"""Abstract values: what is known of a variable before the program runs.

    Known(value)        the object itself: None, a string, a bool used as an option, a function, a module, a type
    Scalar(type)        a number of exactly this type: float, int, bool, complex, or a NumPy scalar type
    Array(dtype, shape) an ndarray; the shape is a tuple of Dim, or None where the rank is not known
    Sequence, Mapping   a tuple or list, a dict, of known length and keys
    ListOf(item)        a list of unknown length
    Closure             a nested function, with what it captured
    UNKNOWN             anything
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from s2s import ir


@dataclass(frozen=True, slots=True)
class Dim:
    """A length: ``symbol + offset``, or the constant ``offset`` where there is no symbol.

    Symbols of arguments (``X.0``, the first dimension of ``X``) stand for lengths other than 1; a symbol that begins
    with ``?`` may be any length.
    """

    symbol: str
    offset: int = 0

    @property
    def is_constant(self) -> bool:
        return not self.symbol

    def __str__(self) -> str:
        if not self.symbol:
            return str(self.offset)
        return self.symbol + (f"{self.offset:+d}" if self.offset else "")


@dataclass(frozen=True, slots=True)
class Known:
    """The object itself is known. Equal by type and value for literals, by identity for other objects."""

    const: ir.Const

    @property
    def value(self) -> Any:
        return self.const.value


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number of exactly this type. ``dim`` is its value where that is a length (an int read from a shape)."""

    type: type
    dim: Dim | None = field(default=None)


@dataclass(frozen=True, slots=True)
class Array:
    """An ndarray (exactly that type, no subclass)."""

    dtype: np.dtype[Any]
    shape: tuple[Dim, ...] | None


@dataclass(frozen=True, slots=True)
class Sequence:
    """A tuple, list or named tuple whose items are known one by one."""

    type: type
    items: tuple[AbstractValue, ...]


@dataclass(frozen=True, slots=True)
class Mapping:
    """A dict whose keys are known."""

    keys: tuple[Any, ...]
    items: tuple[AbstractValue, ...]


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list of unknown length with items that are all like ``item``."""

    item: AbstractValue


@dataclass(frozen=True, slots=True)
class Range:
    """A ``range`` object."""

    start: Dim | None = None
    stop: Dim | None = None
    step: int | None = None


@dataclass(frozen=True, slots=True)
class Closure:
    """A function made inside the function compiled, with the atoms that it captured."""

    function: ir.Function
    captures: tuple[ir.Atom, ...]
    defaults: tuple[tuple[str, ir.Atom], ...] = ()


@dataclass(frozen=True, slots=True)
class Unknown:
    """Nothing is known."""


UNKNOWN = Unknown()

AbstractValue: TypeAlias = Known | Scalar | Array | Sequence | Mapping | ListOf | Range | Closure | Unknown
