"""Cotangents and tangents: values in, values of the same structure with numbers in them out."""

from __future__ import annotations

import functools
import sys
from types import MemberDescriptorType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from s2s.core.array_classes import is_array_class
from s2s.core.inspection import cached_names
from s2s.errors import error


def zeros_like(x: Any) -> Any:
    """The zero cotangent of ``x``: same structure; None for what has no derivative (int, bool, str, objects).
    """
    if isinstance(x, np.ndarray):
        return _zero_objects(x) if x.dtype.kind == "O" else np.zeros_like(x) if x.dtype.kind in "fc" else None
    if isinstance(x, (float, complex)) and not isinstance(x, np.generic):
        return type(x)(0.0)
    if isinstance(x, np.inexact):
        return x.dtype.type(0.0)
    if isinstance(x, dict):
        return {key: zeros_like(item) for key, item in x.items()}
    if isinstance(x, (tuple, list)):
        return rebuild(x, [zeros_like(item) for item in x])
    if is_array_class(type(x)):  # of another module: NumPy's protocol leads there
        return np.zeros_like(x) if x.dtype.kind in "fc" else None
    return None


def _zero_objects(x: Any) -> Any:
    """The zeros of an array of objects; 0.0, to which anything can be added, for what has no derivative."""
    zeros = np.empty_like(x)
    for i in np.ndindex(x.shape):
        zero = zeros_like(x[i])
        zeros[i] = 0.0 if zero is None else zero
    return zeros


def zeros_of(x: Any) -> Any:
    """The zero cotangent of a value that a derivative flows through: as ``zeros_like``, but an integer gets 0.0 (the
    ``0`` that a sum begins with)."""
    kind = type(x)  # most are one of these, and there may be many
    if kind is float:
        return 0.0
    if kind is np.ndarray and x.dtype.kind in "fc" and x.flags.c_contiguous:
        return np.zeros(x.shape, x.dtype)
    if kind is list:
        return [zeros_of(item) for item in x]
    if isinstance(x, (int, np.integer)) and not isinstance(x, bool):
        return 0.0
    if isinstance(x, np.ndarray) and x.dtype.kind in "iu":
        return np.zeros(x.shape)
    if isinstance(x, dict):
        return {key: zeros_of(item) for key, item in x.items()}
    if isinstance(x, (tuple, list)):
        return rebuild(x, [zeros_of(item) for item in x])
    if is_array_class(kind) and x.dtype.kind in "iu":
        return np.zeros_like(x, dtype=float)
    return zeros_like(x)


def ones_like(x: Any) -> Any:
    """The cotangent of a value that is 1 everywhere: same structure; None for what has no derivative."""
    return map_floats(lambda leaf: np.ones_like(leaf)[()], x)


def add(a: Any, b: Any) -> Any:
    """The sum of two cotangents of one structure, where None is an absent one. Neither is changed."""
    kind = type(a)
    if kind is np.ndarray and type(b) is np.ndarray:
        return a + b
    if kind is tuple and type(b) is tuple:
        return tuple([add(x, y) for x, y in zip(a, b, strict=True)])
    if a is None or _is_bare_zero(a, b):
        return b
    if b is None or _is_bare_zero(b, a):
        return a
    if isinstance(a, dict):
        return {key: add(a.get(key), b.get(key)) for key in {**a, **b}}
    if isinstance(a, (tuple, list)):
        return rebuild(a, [add(x, y) for x, y in zip(a, b, strict=True)])
    return a + b


def _is_bare_zero(a: Any, b: Any) -> bool:
    """Whether it is the number zero beside a container: the cotangent of a variable that had no value there."""
    return type(a) is float and a == 0.0 and isinstance(b, (dict, tuple, list))


def rebuild(like: Any, items: list[Any]) -> Any:
    """A tuple, list or named tuple of the type of ``like`` with other items."""
    return like._make(items) if hasattr(like, "_make") else type(like)(items)


def map_floats(make: Any, value: Any, other: Any = lambda leaf: None) -> Any:
    """A structure with something made for each float and array of floats, and something else for all else. Objects are
    structures as their gradients are."""
    if isinstance(value, dict):
        return {key: map_floats(make, item, other) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return rebuild(value, [map_floats(make, item, other) for item in value])
    if has_parts(value):
        return map_parts(lambda item: map_floats(make, item, other), value)
    if isinstance(value, (float, complex, np.inexact)) or (is_array(value) and value.dtype.kind in "fc"):
        return make(value)
    return other(value)


def has_parts(value: Any) -> bool:
    """Whether it is an object of a class written in Python, which is no array, number or container, or a
    SimpleNamespace."""
    cls = type(value)
    return cls is SimpleNamespace or (
        cls.__flags__ & _HOW_MADE == 1 << 9 and not isinstance(value, _NO_PARTS) and not is_array_class(cls)
        and not (callable(value) and cls.__module__.partition(".")[0] in _FUNCTIONS_OF)
    )


def is_array(value: Any) -> bool:
    """Whether it is an array, of NumPy or of a module that stands for NumPy."""
    return isinstance(value, np.ndarray) or is_array_class(type(value))


_HOW_MADE = 1 << 9 | 1 << 8 | 1 << 7
"""The flags of a class that tell those of class statements from those of C, as of locks: on the heap; not to be
changed; without instances of its own."""

_FUNCTIONS_OF = sys.stdlib_module_names | {"numpy", "scipy", "s2s"}
"""The packages whose objects that can be called are functions: ``functools.partial``. The user's may be models."""

_NO_PARTS = (np.ndarray, np.generic, float, complex, int, str, dict, tuple, list, set, frozenset, type, BaseException)


def map_parts(make: Any, value: Any) -> Any:
    """An object of the same class, with something made of each attribute."""
    return gradient_object(value, **{name: make(getattr(value, name)) for name in attributes_of(value)})


def attributes_of(value: Any) -> list[str]:
    """The names of the attributes that an object itself has."""
    cls: Any = type(value)
    slots = [name for name, _ in _layout(cls)[1] if hasattr(value, name)]
    return [*_held(value), *slots]


def _held(value: Any) -> list[str]:
    """The names in the ``__dict__`` of an object, but for what it remembers of its other attributes."""
    remembered = _layout(type(value))[2]  # type: ignore[arg-type]  # classes are hashable
    return [name for name in getattr(value, "__dict__", ()) if name not in remembered]


def gradient_object(like: Any, /, **gradients: Any) -> Any:
    """The gradient of an object: one of the same class, made without calling ``__init__``, whose attributes are
    gradients, or None."""
    cls = type(like)
    maker, slots, _ = _layout(cls)  # type: ignore[arg-type]  # classes are hashable
    made = maker.__new__(cls)
    if hasattr(like, "__dict__"):
        made.__dict__.update({name: gradients.get(name) for name in _held(like)})
    for name, slot in slots:
        if hasattr(like, name):
            slot.__set__(made, gradients.get(name))
    return made


@functools.lru_cache(256)
def _layout(cls: type) -> tuple[Any, tuple[tuple[str, Any], ...], frozenset[str]]:
    """The built-in class that makes the objects of a class, its slots, and the attributes that objects remember."""
    maker = next(base for base in cls.__mro__ if not base.__flags__ & 1 << 9)  # not made by a class statement
    slots = [(n, d) for base in cls.__mro__ for n, d in vars(base).items() if isinstance(d, MemberDescriptorType)]
    return maker, tuple((name, slot) for name, slot in slots if not name.startswith("__")), cached_names(cls)


def floats(value: Any) -> list[Any]:
    """The floats and arrays of floats in a value, in order."""
    found: list[Any] = []
    map_floats(found.append, value)
    return found


def whole(g: Any, y: Any) -> Any:
    """The cotangents of the parts of a result ``y``, each in the shape and dtype of its part; None stays. Generated
    code passes a part that is the same number everywhere as that number.
    """
    return tuple([
        None if part is None else np.broadcast_to(cast(part, item), np.shape(item))
        for part, item in zip(g, y, strict=True)
    ])


# --- dtypes and shapes ----------------------------------------------------------------------------------------------


def cast(g: Any, x: Any) -> Any:
    """The cotangent ``g`` with the dtype of ``x``: its real part where ``x`` is real; an inexact one always.

    Where ``x`` is a Python number so is the result.
    """
    if isinstance(x, (int, float)) and not isinstance(x, np.generic):
        return float(np.real(g))
    if isinstance(x, complex) and not isinstance(x, np.generic):
        return complex(g)
    if isinstance(x, dict):
        return g
    dtype = x.dtype if is_array(x) else np.asarray(x).dtype
    if dtype.kind not in "fc":
        return g
    if np.iscomplexobj(g) and dtype.kind == "f":
        g = np.real(g)
    return g.astype(dtype, copy=False) if isinstance(g, np.generic) or is_array(g) else dtype.type(g)


def tangent_like(dot: Any, x: Any) -> Any:
    """A tangent in the shape and dtype of ``x``, of whatever structure that is."""
    if isinstance(x, (tuple, list)) and isinstance(dot, (tuple, list)):
        if len(x) != len(dot):
            raise joined_containers(x)
        return rebuild(dot, [tangent_like(part_dot, part) for part_dot, part in zip(dot, x)])
    if not isinstance(x, (np.ndarray, np.generic, float, complex)) and not is_array(x):
        return dot
    dot = cast(dot, x)
    return np.broadcast_to(dot, x.shape) if is_array(x) and np.shape(dot) != x.shape else dot


def unbroadcast(g: Any, x: Any) -> Any:
    """The cotangent of ``x`` from that of ``x`` broadcast to the shape of ``g``: summed, and cast to ``x``'s
    dtype.

    Where both are lists or tuples each item gets its own. A list that was taken for an array may have an array for
    ``g``.
    """
    if isinstance(x, (list, tuple)) and isinstance(g, (list, tuple)):
        if len(g) != len(x):
            raise joined_containers(x)
        return rebuild(x, [None if part is None else unbroadcast(part, item) for part, item in zip(g, x)])
    if isinstance(x, (ModuleType, type)):  # one of several that paths choose among; its `shape` is none
        return g
    shape = np.shape(x)
    if np.shape(g) != shape:
        g = sum_to(np.asarray(g), shape)
    return mirror(g, x) if isinstance(x, (list, tuple)) else cast(g, x)


def summand_bar(g: Any, x: Any, place: int) -> Any:
    """The cotangent of the first or second term ``x`` of a sum, which may be a list or tuple: then that of its items,
    at the beginning or the end. Raises NoDerivativeError where it is one and an array is at hand for the cotangent of
    the whole: how long the other term is cannot be seen."""
    if not isinstance(x, (list, tuple)):
        return g
    if not isinstance(g, (list, tuple)):
        raise joined_containers(x)
    return g[: len(x)] if place == 0 else g[len(g) - len(x) :]


def joined_containers(x: Any) -> Exception:
    """The refusal of ``+`` of lists or tuples that was taken for that of numbers or arrays."""
    return error("S2S221", name=type(x).__name__)


def sum_to(g: Any, shape: tuple[int, ...]) -> Any:
    """``g`` summed over the dimensions that broadcasting added or stretched; broadcast where it is the
    smaller one.
    """
    if g.ndim > len(shape):
        g = np.sum(g, axis=tuple(range(g.ndim - len(shape))))
    stretched = tuple(
        i for i, (have, want) in enumerate(zip(g.shape, shape[len(shape) - g.ndim :], strict=True))
        if want == 1 and have != 1
    )
    if stretched:
        g = np.sum(g, axis=stretched, keepdims=True)
    return g if g.shape == shape else np.broadcast_to(g, shape)


def several_bar(g: Any, slopes: Any, x: Any) -> Any:
    """The cotangent of ``x`` from those of the results of an elementwise function, None where there is none, and its
    partial derivatives."""
    parts = [unbroadcast(part * slope, x) for part, slope in zip(g, slopes, strict=True) if np.any(part)]
    return sum(parts[1:], parts[0]) if parts else zeros_of(x)


def differentiated_as(value: Any, x: Any) -> Any:
    """The value, which is differentiated as if it were ``x``. Raises NoDerivativeError where their shapes differ."""
    if np.shape(value) != np.shape(x):
        because = f"its result has shape {np.shape(value)}, the argument {np.shape(x)}"
        raise error("S2S543", name="a function", label=because)
    return np.copy(value) if isinstance(value, np.ndarray) else value


# --- sequences ------------------------------------------------------------------------------------------------------


def mirror(g: Any, items: Any) -> Any:
    """The cotangent of nested lists from the cotangent of the array made of them."""
    if isinstance(items, (list, tuple)):
        return rebuild(items, [mirror(g[i], item) for i, item in enumerate(items)])
    return cast(g, items)


def sequence_bar(g: Any, items: Any) -> Any:
    """The cotangent of a sequence from that of the list or tuple made of its items."""
    return np.stack(g) if isinstance(items, np.ndarray) else rebuild(items, list(g))


def like(g: Any, x: Any) -> Any:
    """The items of a cotangent ``g`` put together as the iterable ``x`` is: an array for an array."""
    return np.stack([np.asarray(item) for item in g]) if isinstance(x, np.ndarray) else g


def is_carried(g: Any) -> bool:
    """Whether a cotangent, a number, goes on to anything: not where it is zero. Of one that is differentiated it is so:
    the tangent of a zero need not be zero."""
    return bool(g != 0.0)
