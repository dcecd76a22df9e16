"""Small arguments: from the abstract values of a version that is compiled without a call, and from large arguments by
taking their first elements.

    X: array of float64, shape (X.0, 3)         ->      an array of shape (3, 3)
    an array of 100 000 rows and one of as many items   ->      5 rows, and 5 items
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from s2s.core.values import AbstractValue, Array, Dim, Known, ListOf, Mapping, Same, Scalar, Sequence
from s2s.validation.copies import arrays_in

__all__ = ["NoSample", "sample", "shrunk"]

FEW = 6
"""An axis that is longer than this is shortened."""


class NoSample(Exception):
    """There are no small arguments of this kind; the text says why."""


# --- from abstract values ---------------------------------------------------------------------------------------------


def sample(arguments: dict[str, AbstractValue]) -> dict[str, Any]:
    """Values of these kinds, the same in each run. Raises NoSample."""
    maker, values = _Maker(), dict[str, Any]()
    for name, aval in arguments.items():
        values[name] = values[aval.name] if isinstance(aval, Same) else maker.make(aval)
    return values


class _Maker:
    """Lengths by symbol, and the random numbers."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(1)
        self.lengths: dict[str, int] = {}

    def make(self, aval: AbstractValue) -> Any:
        match aval:
            case Known(const):
                return const.value
            case Scalar(kind) if isinstance(kind, type):
                return self.number(kind)
            case Array(dtype, tuple() as shape):
                return self.array(dtype, tuple(map(self.length, shape)))
            case Sequence(kind, items) if kind in (tuple, list) or hasattr(kind, "_fields"):
                made = list(map(self.make, items))
                return cast(Any, kind)(*made) if hasattr(kind, "_fields") else kind(made)
            case Mapping(keys, items):
                return dict(zip(keys, map(self.make, items), strict=True))
            case ListOf(item):
                return [self.make(item) for _ in range(3)]
            case _:
                raise NoSample("of some arguments the kind is not known")

    def length(self, dim: Dim) -> int:
        if dim.is_constant:
            return dim.offset
        return self.lengths.setdefault(dim.symbol, 3 + len(self.lengths) % 3) + dim.offset

    def number(self, kind: type) -> Any:
        if issubclass(kind, (bool, np.bool_)):
            return kind(True)
        if issubclass(kind, (int, np.integer)):
            return kind(2)
        drawn, number = self.rng.uniform(0.3, 1.7), cast(Any, kind)
        return number(drawn + 0.4j) if issubclass(kind, (complex, np.complexfloating)) else number(drawn)

    def array(self, dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
        drawn = self.rng.uniform(0.3, 1.7, shape)
        if dtype.kind == "c":
            return (drawn + 0.4j).astype(dtype)
        if dtype.kind == "b":
            return drawn > 1.0
        return np.asarray(drawn * 2.0 if dtype.kind in "iu" else drawn).astype(dtype)


# --- from large arguments ---------------------------------------------------------------------------------------------


def shrunk(values: dict[str, Any], most: int) -> dict[str, Any]:
    """The values with few elements of their long axes: axes of one length keep one length, and an integer that is such
    a length changes with it. Raises NoSample."""
    arrays = list(arrays_in(tuple(values.values())))
    long = sorted({n for a in arrays for n in a.shape if n > FEW})
    lengths = {n: FEW + k for k, n in enumerate(long)}
    made = {name: _shrunk(value, lengths) for name, value in values.items()}
    if sum(a.size for a in arrays_in(tuple(made.values()))) > most:
        raise NoSample("the arguments are large")
    return made


def _shrunk(value: Any, lengths: dict[int, int]) -> Any:
    kind = type(value)
    if kind is np.ndarray:
        return value[tuple(slice(lengths.get(n, n)) for n in value.shape)].copy()
    if kind is int:
        return lengths.get(value, value)
    if kind in (tuple, list):
        if len(value) in lengths:
            value = value[: lengths[len(value)]]
        return kind(_shrunk(item, lengths) for item in value)
    if kind is dict:
        return {key: _shrunk(item, lengths) for key, item in value.items()}
    if isinstance(value, (float, complex, str, bytes, bool, np.generic, type(None))) or callable(value):
        return value
    raise NoSample("the arguments are large")
