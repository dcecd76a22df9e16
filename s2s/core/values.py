"""Abstract values: what is known of a variable before the program runs.

    Known(value)        the object itself: None, a string, a bool used as an option, a function, a module, a type
    Scalar(type)        a number of exactly this type: float, int, bool, complex, or a NumPy scalar type
    Array(dtype, shape) an ndarray; the shape is a tuple of Dim, or None where the rank is not known
    Sequence, Mapping   a tuple or list, a dict, of known length and keys
    ListOf(item)        a list of unknown length
    Closure             a nested function, with what it captured
    Same(name)          the argument of another name
    Object              an object of a class, as an argument or in one
    Instance            an object of a class with all its attributes, in an argument that is differentiated
    Ref(cell)           a list, dict or object on the virtual heap
    UNKNOWN             anything
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from s2s.core.const import Const
from s2s.core.record import record

if TYPE_CHECKING:
    from s2s.core.closures import Closure


@record
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


@record
class Known:
    """The object itself is known. Equal by type and value for literals, by identity for other objects."""

    const: Const

    @property
    def value(self) -> Any:
        return self.const.value


@record
class Scalar:
    """A number of exactly this type. ``dim`` is its value where that is a length (an int read from a shape)."""

    type: type
    dim: Dim | None = None


@record
class Array:
    """An array of exactly this class: NumPy's, or that of a module which stands for NumPy (``array_classes``). Inside
    the compiler all arrays of a version are of one class, and it is NumPy's here."""

    dtype: np.dtype[Any]
    shape: tuple[Dim, ...] | None
    kind: type = np.ndarray


@record
class Sequence:
    """A tuple, list or named tuple whose items are known one by one."""

    type: type
    items: tuple[AbstractValue, ...]


def is_record_class(kind: Any) -> bool:
    """Whether it is the class of a named tuple that is made of its fields, as they are."""
    return has_fields(kind) and is_generated_maker(kind.__new__) and kind.__init__ is object.__init__


def has_fields(kind: Any) -> bool:
    """Whether it is a class of tuples whose items have names."""
    return isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields")


def field_of(kind: Any, name: Any) -> int | None:
    """The place of an item of a class of tuples by its name, for which the class may have been given something else."""
    if not has_fields(kind) or name not in kind._fields:
        return None
    place = kind._fields.index(name)
    getter: Any = next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)
    is_getter = type(getter).__name__ == "_tuplegetter" and getter.__reduce__()[1][0] == place
    return place if is_getter else None


def type_of_joined(kind: Any, method: str) -> Any:
    """The type of what ``+`` and ``*`` make of objects of a type: a tuple of named tuples, but by an operator of their
    own; that of anything else is their own."""
    return tuple if has_fields(kind) and getattr(kind, method) is getattr(tuple, method) else kind


def is_generated_maker(fn: Any) -> bool:
    """Whether it is the ``__new__`` that is generated for a named tuple: it makes a tuple of its arguments."""
    code = getattr(fn, "__code__", None)
    return code is not None and code.co_filename == "<string>" and code.co_names == ("_tuple_new",)


@record
class Mapping:
    """A dict whose keys are known, each with its type: ``1`` and ``True`` are one key of a dict."""

    keys: tuple[Any, ...]
    items: tuple[AbstractValue, ...]

    def __eq__(self, other: object) -> bool:
        return other.__class__ is Mapping and has_keys(self.keys, other.keys) and self.items == other.items

    def __hash__(self) -> int:
        return hash((self.keys, self.items))


def has_keys(found: Collection[Any], keys: Collection[Any]) -> bool:
    """Whether a dict has these keys, in this order and of these types."""
    return [*found] == [*keys] and [*map(type, found)] == [*map(type, keys)]


@record
class ListOf:
    """A list of unknown length with items that are all like ``item``."""

    item: AbstractValue


class Example:
    """An object that a call gave, for the compiler to look at; equal to any other. It is let go afterwards."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Example)

    def __hash__(self) -> int:
        return 0


@record
class Object:
    """An object of exactly this class, whose attributes are found one by one under guards."""

    type: type
    example: Example


@record
class Instance:
    """An object of exactly this class with exactly these attributes of its own."""

    type: type
    keys: tuple[str, ...]
    items: tuple[AbstractValue, ...]


@record
class Range:
    """A ``range`` object."""

    start: Dim | None = None
    stop: Dim | None = None
    step: int | None = None


@record
class Same:
    """The very object that an earlier argument is: one array that the function knows by two names."""

    name: str


@record
class Ref:
    """A reference to an object on the virtual heap (``virtual_heap``): a variable of this value is defined by no
    statement, and means what the object holds at each place."""

    cell: Any


@record
class Unknown:
    """Nothing is known."""


UNKNOWN = Unknown()


@record
class NoItem(Unknown):
    """What an item of an empty list would be, or what is computed of it: nothing, as reading it raises. It adds nothing
    to what is known of other paths."""


NO_ITEM = NoItem()


@record
class IterableOf(Unknown):
    """An object of exactly this type, or of any that ``list`` takes where that is None. Nothing is known of it but that
    its items are all like ``item``."""

    type: type | None
    item: AbstractValue


@record
class ArrayLike(Unknown):
    """An array, number or sequence of exactly this class, which has operators of its own. Nothing else is known of it.
    """

    type: type


@record
class DictOf(Unknown):
    """A dict, of which nothing is known but that its keys are all like ``key`` and its items like ``item``."""

    key: AbstractValue
    item: AbstractValue


AbstractValue: TypeAlias = (
    "Known | Scalar | Array | Sequence | Mapping | ListOf | Range | Closure | Ref | Object | Instance | Same | Unknown"
)
