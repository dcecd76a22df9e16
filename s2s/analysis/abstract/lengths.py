"""Large known lengths in examples: a symbol stands for each, so that the examples are small.

    np.zeros((8000, 8000))      is tried as np.zeros((m, m)), and what has the length m has the length 8000
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from s2s.analysis.abstract.lattice import known
from s2s.analysis.abstract.shapes import Facts
from s2s.core.inspection import is_hashable
from s2s.core.values import AbstractValue, Array, Dim, Known, Mapping, Scalar, Sequence

__all__ = ["of_arange", "restored", "without_large"]

MOST = 3000
"""An array that is known to have more elements in its example gets a smaller one: ``np.eye`` has the square of that."""

SHORT = 16
"""Lengths up to this stay as they are: what they are may matter (the axes of an image, coordinates)."""

LENGTHS: dict[Any, tuple[tuple[int, str], ...]] = {
    **dict.fromkeys((np.zeros, np.ones, np.empty, np.full), ((0, "shape"),)),
    **dict.fromkeys((np.eye, np.tri), ((0, "N"), (1, "M"))),
    **dict.fromkeys((np.linspace, np.logspace, np.geomspace), ((2, "num"),)),
    **dict.fromkeys((np.hanning, np.hamming, np.bartlett, np.blackman, np.kaiser), ((0, "M"),)),
    **dict.fromkeys((np.fft.fftfreq, np.fft.rfftfreq, np.identity, np.diag_indices), ((0, "n"),)),
    **dict.fromkeys((np.tril_indices, np.triu_indices), ((0, "n"), (2, "m"))),
    np.indices: ((0, "dimensions"),),
}
"""Functions that make arrays of the lengths that they are given, by position and name: each length of the result is one
of them, or has nothing to do with what they are."""


def without_large(
    fn: Any, args: tuple[AbstractValue, ...], kwargs: dict[str, AbstractValue]
) -> tuple[tuple[AbstractValue, ...], dict[str, AbstractValue]]:
    """The arguments of a call with symbols for lengths that would make examples large."""
    for place, name in LENGTHS.get(fn, ()) if is_hashable(fn) else ():
        if place < len(args):
            args = (*args[:place], _given(args[place]), *args[place + 1 :])
        elif name in kwargs:
            kwargs = kwargs | {name: _given(kwargs[name])}
    if any(map(_is_large, (*args, *kwargs.values()))):
        args, kwargs = tuple(map(_shortened, args)), {k: _shortened(v) for k, v in kwargs.items()}
    return args, kwargs


def _given(value: AbstractValue) -> AbstractValue:
    """A length, or a shape, with symbols in it where it is a large one."""
    if isinstance(value, Known) and type(value.value) is tuple:
        value = Sequence(tuple, tuple(map(known, value.value)))
    items = value.items if isinstance(value, Sequence) else (value,)
    numbers = [i.value for i in items if isinstance(i, Known) and type(i.value) is int]
    if math.prod(max(n, 1) for n in numbers) <= MOST:
        return value
    made = tuple(_symbol(i) for i in items)
    return Sequence(value.type, made) if isinstance(value, Sequence) else made[0]


def _symbol(value: AbstractValue) -> AbstractValue:
    if isinstance(value, Known) and type(value.value) is int and value.value > SHORT:
        return Scalar(int, Dim(f"={value.value}"))
    return value


def _is_large(value: AbstractValue) -> bool:
    match value:
        case Array(_, shape):
            return math.prod(d.offset for d in shape or () if d.is_constant and d.offset > 1) > MOST
        case Sequence(_, items) | Mapping(_, items):
            return any(map(_is_large, items))
        case _:
            return False


def _shortened(value: AbstractValue) -> AbstractValue:
    """A value with symbols for the known lengths of its arrays."""
    match value:
        case Array(dtype, shape) if shape is not None:
            return Array(dtype, tuple(
                Dim(f"={d.offset}") if d.is_constant and d.offset > SHORT else d for d in shape))
        case Sequence(kind, items) if kind is not slice:
            return Sequence(kind, tuple(map(_shortened, items)))
        case Mapping(keys, items):
            return Mapping(keys, tuple(map(_shortened, items)))
        case _:
            return value


def restored(dim: Dim) -> Dim:
    """A length as it is outside of examples."""
    return Dim("", int(dim.symbol[1:]) + dim.offset) if dim.symbol.startswith("=") else dim


def of_arange(args: tuple[AbstractValue, ...], facts: Facts) -> AbstractValue | None:
    """``np.arange`` of known numbers that makes a long array; None for any other."""
    values = [a.value for a in args if isinstance(a, Known) and type(a.value) in (int, float)]
    if len(values) != len(args) or not 1 <= len(args) <= 3:
        return None
    start, stop, step = (0, values[0], 1) if len(values) == 1 else (*values, 1)[:3]
    if not step or not all(map(math.isfinite, values)) or (stop - start) / step <= MOST:
        return None
    if all(type(v) is int for v in values):
        return Array(np.dtype(int), (Dim("", len(range(start, stop, step))),))
    return Array(np.dtype(float), (facts.fresh_dim(),))
