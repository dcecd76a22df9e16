"""Which elements of a result depend on which elements of the arguments: sets of indices that go the way of tangents.

An array of tangents is replaced by an array of ``Depends``: each sum or product with one gives the union. So the code
of forward mode, run with these, finds the pattern of the Jacobian: slices, loops over elements and stores need nothing
of their own.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s import runtime as rt


class Depends:
    """A set of indices, as the bits of an integer. Arithmetic with anything gives the union with what depends, too."""

    __slots__ = ("bits",)

    def __init__(self, bits: int) -> None:
        self.bits = bits

    def __repr__(self) -> str:
        return f"Depends({list(self)})"

    def __iter__(self) -> Any:
        bits, k = self.bits, 0
        while bits:
            step = (bits & -bits).bit_length()
            k += step
            bits >>= step
            yield k - 1

    def _with(self, other: Any) -> Any:
        if isinstance(other, Depends):
            return self if not other.bits else other if not self.bits else Depends(self.bits | other.bits)
        if isinstance(other, np.ndarray) and other.ndim:
            made = np.empty(other.shape, object)
            made[...] = self
            return made + other if other.dtype.kind == "O" else made
        return self

    def _times(self, other: Any) -> Any:
        return NOTHING if other is ZERO else self._with(other)

    def _same(self) -> Depends:
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __truediv__ = _with
    __mul__ = __rmul__ = _times
    __neg__ = __pos__ = conjugate = _same

    @property
    def real(self) -> Depends:
        return self

    imag = real


class _Zero:
    """A factor that leaves nothing."""

    def _nothing(self, other: Any) -> Depends:
        return NOTHING

    __mul__ = __rmul__ = _nothing


NOTHING = Depends(0)
ZERO = _Zero()


def each_element(*values: Any) -> tuple[Any, ...]:
    """For each value a structure like it in which each element depends on itself, counted through all values."""
    count = 0

    def sets(leaf: Any) -> Any:
        nonlocal count
        first, count = count, count + np.size(leaf)
        if not isinstance(leaf, np.ndarray):
            return Depends(1 << first)
        made = np.empty(leaf.size, object)
        for k in range(leaf.size):
            made[k] = Depends(1 << (first + k))
        return made.reshape(leaf.shape)

    return tuple(rt.map_floats(sets, value) for value in values)


def nothing_like(x: Any) -> Any:
    """What depends on nothing, in the structure of ``x``, to be stored into."""
    if isinstance(x, dict):
        return {key: nothing_like(item) for key, item in x.items()}
    if isinstance(x, (tuple, list)):
        return type(x)._make(map(nothing_like, x)) if hasattr(x, "_make") else type(x)(map(nothing_like, x))
    if not isinstance(x, np.ndarray):
        return NOTHING
    made = np.empty(x.shape, object)
    made[...] = NOTHING
    return made


def elementwise(*args: Any) -> Any:
    """Each element depends on what the elements that it is made of depend on."""
    return functools.reduce(operator.add, [a if depends(a) else np.zeros(np.shape(a)) for a in args])


def matmul(a: Any, b: Any) -> Any:
    """A product of matrices or vectors, one of which has sets: the zeros of the other one give nothing."""
    if hasattr(a, "tocsr"):
        a = a.toarray()
    factor, sets = (a, b) if depends(b) else (b, a)
    factor, sets = np.asarray(factor), np.asarray(sets)
    if depends(factor) or factor.ndim > 2 or sets.ndim > 2:
        return np.matmul(a, b)
    kept = np.where(factor != 0.0, 1.0, 0.0).astype(object)
    kept[factor == 0.0] = ZERO
    return np.matmul(kept, b) if depends(b) else np.matmul(a, kept)


def mixed(fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """The result of a function of which nothing is known: all of it depends on all that goes in."""
    sets: list[Depends] = []
    values = [_number(arg, sets) for arg in args]
    named = {key: _number(arg, sets) for key, arg in kwargs.items()}
    union = functools.reduce(operator.add, sets, NOTHING)
    with np.errstate(all="ignore"):
        out = fn(*values, **named)
    return _filled(out, union)


def depends(x: Any) -> bool:
    """Whether there is a set in a value."""
    if isinstance(x, dict):
        return any(map(depends, x.values()))
    if isinstance(x, (tuple, list)):
        return any(map(depends, x))
    return isinstance(x, Depends) or (isinstance(x, np.ndarray) and x.dtype.kind == "O")


def _number(x: Any, sets: list[Depends]) -> Any:
    """Numbers in the place of sets, which are collected."""
    if isinstance(x, dict):
        return {key: _number(item, sets) for key, item in x.items()}
    if isinstance(x, (tuple, list)):
        items = [_number(item, sets) for item in x]
        return x._make(items) if hasattr(x, "_make") else type(x)(items)
    if isinstance(x, Depends):
        sets.append(x)
        return 1.0
    if isinstance(x, np.ndarray) and x.dtype.kind == "O":
        sets += [item for item in x.flat if isinstance(item, Depends)]
        return np.ones(x.shape)
    return x


def _filled(out: Any, union: Depends) -> Any:
    if isinstance(out, dict):
        return {key: _filled(item, union) for key, item in out.items()}
    if isinstance(out, (tuple, list)):
        items = [_filled(item, union) for item in out]
        return out._make(items) if hasattr(out, "_make") else type(out)(items)
    if not isinstance(out, np.ndarray):
        return union
    made = np.empty(out.shape, object)
    made[...] = union
    return made


def push(fn: Any, name: str | None, values: Any, dots: Any, keys: tuple[str, ...]) -> Any:
    """As ``runtime.push``: all of the result depends on all that goes in."""
    sets: list[Depends] = []
    for dot in dots:
        _number(dot, sets)
    union = functools.reduce(operator.add, sets, NOTHING)
    count = len(values) - len(keys)
    called = fn if name is None else getattr(values[0], name)
    args = values[:count] if name is None else values[1:count]
    out = called(*args, **dict(zip(keys, values[count:], strict=True)))
    return out, _filled(out, union)


def places(dep: Any) -> tuple[list[int], list[int], int]:
    """The pattern that the sets of a result are: rows, columns, and how many rows there are."""
    rows: list[int] = []
    columns: list[int] = []
    count = 0
    todo = [dep]
    while todo:
        item = todo.pop(0)
        if isinstance(item, (dict, tuple, list)):
            todo[:0] = list(item.values() if isinstance(item, dict) else item)
            continue
        if item is None:
            continue
        for element in item.flat if isinstance(item, np.ndarray) else [item]:
            if isinstance(element, Depends):
                found = list(element)
                columns += found
                rows += [count] * len(found)
            count += 1
    return rows, columns, count
