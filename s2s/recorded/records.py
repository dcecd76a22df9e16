"""Records, tables of records, and ``memoryview``: names for the memory of an array. What is done with one is done with
that array.

    row = table[1]; row["p"] = x          table["p"][1] = x
    seen = memoryview(y); seen[0]         y[0]
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

import numpy as np

from s2s.core.inspection import is_hashable
from s2s.errors import error
from s2s.recorded.memory import array_at, owner_of
from s2s.recorded.recorder import is_a, kind_of
from s2s.recorded.state import handed_on
from s2s.recorded.tools import call, call_method, get_item, set_item

__all__ = [
    "call_of_name", "fields", "filled", "is_filled", "item_of", "items_of_name", "listed", "moved", "moves", "picked",
    "store_in_name", "store_rows",
]


def fields(value: Any) -> tuple[str, ...]:
    """The names of the fields of a record, or of an array of records; none for another array."""
    return array_at(value).dtype.names or ()


# --- one record, or a memoryview ------------------------------------------------------------------------------------


def part_of(name: Any, index: Any) -> np.ndarray[Any, Any]:
    """The array of a field of a record, or of a ``memoryview``, in which an item lies."""
    array = array_at(name)
    if is_a(name, np.void):
        return array[index if is_a(index, str) else fields(name)[operator.index(index)]]  # type: ignore[no-any-return]
    if kind_of(array) not in "fc":
        raise error("S2S101", construct="the bytes of an array, one by one")
    return array


def item_of(name: Any, index: Any) -> Any:
    """``name[index]`` of a record or a ``memoryview``."""
    if is_a(name, np.void):
        return get_item(part_of(name, index), ())
    found = name[index]
    return found if is_a(found, memoryview) else call(float, get_item(part_of(name, index), index))


def store_in_name(value: Any, name: Any, index: Any) -> None:
    """``name[index] = value``."""
    set_item(value, part_of(name, index), () if is_a(name, np.void) else index)


def items_of_name(name: Any) -> Iterator[Any]:
    for k in range(len(name)):
        yield item_of(name, k)


def call_of_name(name: Any, method: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call of a method of a record, or of a ``memoryview``."""
    word = method.__name__
    if is_a(name, np.void):
        if word in ("item", "tolist") and not args:
            return tuple(call_method(part, "tolist") for part in items_of_name(name))
        if word == "copy":
            return get_item(moved(np.ndarray.copy, (array_at(name),), {}), ())
    elif word == "tolist":
        return call_method(part_of(name, ...), "tolist")
    return handed_on(method, (name, *args), kwargs, method(*args, **kwargs))


# --- tables ---------------------------------------------------------------------------------------------------------


def is_filled(fn: Any, args: tuple[Any, ...], out: Any) -> bool:
    """Whether a call has made a table of what it was given row by row."""
    return fn in (np.array, np.asarray) and is_a(args[0], (list, tuple)) and is_a(out, np.ndarray) and bool(fields(out))


def filled(rows: Any, out: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A table that was made of rows, each of which is stored into it."""
    for index in np.ndindex(out.shape):
        row = rows
        for k in index:
            row = row[k]
        set_item(row, out, index)
    return out


def store_rows(value: Any, table: np.ndarray[Any, Any], index: Any) -> None:
    """``table[index] = value``, field by field."""
    plain = np.ndarray.view(table, np.ndarray)
    if is_a(index, str):
        set_item(value, plain[index], ...)
        return
    if is_a(value, list):
        value = call(np.array, value, dtype=plain.dtype)
    own, names = fields(plain), fields(value) if is_a(value, (np.void, np.ndarray)) else ()
    parts = value if is_a(value, tuple) else [_field(value, name) for name in names] or [value] * len(own)
    for name, part in zip(own, parts, strict=True):
        set_item(part, plain[name], index)


def picked(table: np.ndarray[Any, Any], index: Any, out: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Records ``out`` that were copied out of a table."""
    for name in fields(table):
        part = get_item(np.ndarray.view(table, np.ndarray)[name], index)
        set_item(part, np.ndarray.view(out, np.ndarray)[name], ...)
    return out


_MOVES = frozenset({
    np.array, np.asarray, np.ndarray.copy, np.copy, np.concatenate, np.take, np.ndarray.take, np.repeat,
    np.ndarray.repeat, np.roll, np.ndarray.flatten, np.stack, np.append,
    np.concatenate._implementation,  # type: ignore[attr-defined]
})


def moves(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a call moves the records of tables, whatever is in them."""
    given = args[0] if args and is_a(args[0], (list, tuple)) else args
    return "dtype" not in kwargs and is_hashable(fn) and fn in _MOVES and any(
        is_a(a, np.ndarray) and fields(a) for a in given
    )


def listed(table: np.ndarray[Any, Any]) -> Any:
    """``table.tolist()``."""
    plain = np.ndarray.view(table, np.ndarray)
    return call_method(plain[()], "item") if plain.ndim == 0 else [listed(plain[k, ...]) for k in range(len(plain))]


def moved(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Such a call: what it does with each field is what it does with the records."""
    out = fn(*args, **kwargs)
    if any(owner_of(out) is owner_of(a) for a in args if is_a(a, np.ndarray)):
        return out
    for name in fields(out):
        part = call(fn, *(_field(arg, name) for arg in args), **kwargs)
        set_item(part, np.ndarray.view(out, np.ndarray)[name], ...)
    return out


def _field(value: Any, name: str) -> Any:
    """The part of an argument that belongs to a field."""
    if is_a(value, (list, tuple)):
        return [_field(part, name) for part in value]
    if is_a(value, np.void) or (is_a(value, np.ndarray) and fields(value)):
        return np.ndarray.view(array_at(value), np.ndarray)[name]
    return value
