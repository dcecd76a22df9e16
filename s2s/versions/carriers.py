"""Objects of libraries around one array, or one for each column: taken apart into their arrays, and put together again.

    Series([0.5, 2.0], index=["a", "b"])      ->      {"values": array([0.5, 2.0])}, and back with another array

They come as arguments that are differentiated, and as results; a gradient by one is one with the same labels.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from s2s.core.inspection import mro_of

__all__ = ["carries_arrays", "is_labelled_as", "named_parts", "parts_of", "put_together"]

_Parts = dict[str, Any]


class _Kind(NamedTuple):
    """How objects of one class are taken ``apart``, put ``together``, and what says which number is which."""

    apart: Callable[[Any], _Parts]
    together: Callable[[Any, _Parts], Any]
    labels: Callable[[Any], tuple[Any, ...]]


def _kind(value: Any) -> _Kind | None:
    kind = type(value)
    if kind not in _found:
        known = ((_public(module, name), how) for (module, name), how in _KINDS.items())
        _found[kind] = next((how for cls, how in known if cls is not None and cls in mro_of(kind)), None)
    return _found[kind]  # type: ignore[no-any-return]


def _public(module: str, name: str) -> Any:
    """A class by its public name, as the module where it is defined may be another in each release; None where its
    library is not imported."""
    return getattr(sys.modules.get(module), name, None)


_found: dict[type, Any] = {np.ndarray: None, float: None, np.float64: None}


def carries_arrays(value: Any) -> bool:
    """Whether it is such an object, and all of its numbers, or those of some columns, are floats."""
    return _kind(value) is not None and bool(parts_of(value))


def parts_of(value: Any) -> _Parts | None:
    """The arrays of floats in an object, by name; None for another value."""
    kind = _kind(value)
    if kind is None:
        return None
    return {name: a for name, a in kind.apart(value).items() if isinstance(a, np.ndarray) and a.dtype.kind in "fc"}


def named_parts(like: Any, parts: _Parts) -> dict[Any, Any]:
    """Parts of an object by the labels that it has for them: those of the columns of a table."""
    columns = getattr(like, "columns", None)
    return parts if columns is None else {columns[int(name)]: part for name, part in parts.items()}


def put_together(like: Any, parts: _Parts) -> Any:
    """An object as ``like``, with other arrays in the place of its own."""
    kind = _kind(like)
    assert kind is not None
    return kind.together(like, parts)


def _frame(like: Any, parts: _Parts) -> Any:
    columns = {k: parts[str(k)] if str(k) in parts else like.iloc[:, k].array for k in range(like.shape[1])}
    made = type(like)(columns, index=like.index, copy=False)
    made.columns = like.columns
    return made


def is_labelled_as(value: Any, like: Any) -> bool:
    """Whether two objects are of one class, with the same labels and arrays."""
    kind, parts = _kind(like), parts_of(value)
    if kind is None or type(value) is not type(like) or parts is None or parts.keys() != (parts_of(like) or {}).keys():
        return False
    pairs = zip(kind.labels(value), kind.labels(like))
    return all(a.equals(b) if hasattr(a, "equals") else a == b for a, b in pairs)


def _typed(like: Any, parts: _Parts) -> Any:
    return type(like)(like.typecode, parts["values"].tobytes())


_KINDS = {
    ("array", "array"): _Kind(
        lambda value: {"values": np.asarray(value)}, _typed, lambda value: (value.typecode, len(value)),
    ),
    ("pandas", "Series"): _Kind(
        lambda value: {"values": value.to_numpy()},
        lambda like, parts: type(like)(parts["values"], index=like.index, name=like.name, copy=False),
        lambda value: (value.index,),
    ),
    ("pandas", "DataFrame"): _Kind(
        lambda value: {str(k): value.iloc[:, k].to_numpy() for k in range(value.shape[1])}, _frame,
        lambda value: (value.index, value.columns),
    ),
    ("xarray", "DataArray"): _Kind(
        lambda value: {"values": value.values}, lambda like, parts: like.copy(data=parts["values"]),
        lambda value: (value.dims, *value.coords.values()),
    ),
}
