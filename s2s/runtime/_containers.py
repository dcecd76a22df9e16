"""Items of arrays, containers and objects: an index and a cotangent in, the cotangent of the whole out."""

from __future__ import annotations

from types import BuiltinFunctionType
from typing import Any

import numpy as np

from s2s.errors import error
from s2s.runtime._cotangents import add, cast, rebuild, zeros_of


def index_bar(x: Any, index: Any, g: Any) -> Any:
    """The cotangent of ``x`` from the cotangent ``g`` of ``x[index]``: zero but there; repeated indices add
    up.
    """
    x_bar = zeros_of(x)
    if isinstance(x, np.generic):  # an array of rank 0: ``x[()]``, ``x[..., None]``
        return np.sum(g)
    if isinstance(x, np.ndarray):
        accumulate(x_bar, index, g)
    elif isinstance(x, dict):
        x_bar[index] = add(x_bar[index], g)
    else:
        items = list(x_bar)
        items[index] = g
        return rebuild(x, items)
    return x_bar


def key_positions(mapping: Any) -> dict[Any, int]:
    """The number of each entry of a dict, by its key."""
    return {key: k for k, key in enumerate(mapping)}


def accumulate(x_bar: Any, index: Any, g: Any) -> None:
    """``x_bar[index] += g`` in place, right where an integer array names a position more than once."""
    if any(_may_repeat(i) for i in (index if isinstance(index, tuple) else (index,))):
        np.add.at(x_bar, index, g)
    else:
        x_bar[index] += g


def _may_repeat(index: Any) -> bool:
    """Whether an index can name one position twice: lists and arrays of integers of rank 1 or more can."""
    if isinstance(index, np.ndarray):
        return index.ndim > 0 and index.dtype.kind != "b"
    return isinstance(index, list)


def stored_bar(a_bar: Any, index: Any) -> Any:
    """The cotangent of ``v`` in ``a[index] = v``, from that of ``a``: an element that the index names more than once
    belongs to the last one."""
    numbers = np.arange(a_bar.size).reshape(a_bar.shape)[index]
    flat = numbers.ravel()
    last = np.zeros(flat.shape, bool)
    last[flat.size - 1 - np.unique(flat[::-1], return_index=True)[1]] = True
    return np.where(last.reshape(numbers.shape), a_bar[index], 0.0)


def picked(a: Any, index: Any) -> Any:
    """``a[index]``, which arrays of other modules may spell in another way."""
    return a[index]


def updated(a: Any, index: Any, v: Any, repeats: bool = False) -> Any:
    """The array that ``a`` is after ``a[index] = v``, which leaves ``a`` as it is. ``repeats`` says that the index may
    name an element more than once."""
    made = np.array(a)
    made[index] = v
    return made


def increased(a: Any, index: Any, v: Any) -> Any:
    """The array that ``a`` is after ``np.add.at(a, index, v)``, which leaves ``a`` as it is."""
    made = np.array(a)
    np.add.at(made, index, v)
    return made


def item_bar(x: Any, index: tuple[Any, ...], g: Any) -> Any:
    """The cotangent of an array from that of the number that ``x.item(*index)`` took out of it."""
    if len(index) == 1 and isinstance(index[0], tuple):
        index = index[0]
    if np.ndim(x) == 0:
        return cast(g, x)
    x_bar = np.zeros_like(x)
    if len(index) == 1:
        index = np.unravel_index(index[0] % x.size, x.shape)
    x_bar[index if index else (0,) * x.ndim] = g
    return x_bar


# --- lists and dicts ------------------------------------------------------------------------------------------------


def set_item(items: list[Any], k: int, item: Any) -> list[Any]:
    """The list with another item at a position: a store where the position is not known before the program runs. Raises
    UnsupportedSyntaxError for a slice."""
    if isinstance(k, slice):
        raise error("S2S134", name="a list", hint="write the slice with its bounds (`items[a:b] = ...`)")
    changed = list(items)
    changed[k] = item
    return changed


def set_items(items: list[Any], places: slice, values: Any) -> list[Any]:
    """The list with other items in a slice, more of them or fewer."""
    changed = list(items)
    changed[places] = values
    return changed


def stored_slice(items: Any, places: slice, values: Any) -> slice:
    """Where the values that were stored into a slice of a list stand in the new list."""
    start, _, step = places.indices(len(items))
    return slice(start, start + len(values)) if step == 1 else places


def unpack_bar(value: Any, before: int, after: int, parts: Any) -> Any:
    """The cotangent of ``value`` from those of the items that ``a, *b, c = value`` made of it."""
    stop = len(parts) - after
    items = [*parts[:before], *parts[before], *parts[stop:]] if len(parts) == before + 1 + after else list(parts)
    if isinstance(value, np.ndarray):
        like = [z if g is None else g for g, z in zip(items, value, strict=True)]
        return np.stack([np.zeros_like(z) if g is None else np.asarray(g) for g, z in zip(items, like, strict=True)])
    return rebuild(value, items)


def split_entry(g: Any, key: Any) -> tuple[Any, Any]:
    """The cotangent of a dict without one entry, and that of the entry."""
    return {k: item for k, item in g.items() if k != key}, g.get(key)


# --- objects --------------------------------------------------------------------------------------------------------


def make_object(cls: type, *attributes: Any) -> Any:
    """An object of a class with these attributes, name and value in turn, made without calling ``__init__``."""
    base: Any = next(c for c in cls.__mro__ if isinstance(c.__dict__.get("__new__"), BuiltinFunctionType))
    made: Any = base.__new__(cls)
    for name, value in zip(attributes[::2], attributes[1::2], strict=True):
        object.__setattr__(made, name, value)
    return made
