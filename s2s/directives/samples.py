"""A function for each of many samples, as plain Python says it. The compiler writes the loop out (``mapping``)
instead of calling this."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import numpy as np

from s2s import runtime as rt

__all__ = ["axes_of", "check_count", "each"]


def each(
    f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], in_axes: Any, out_axes: Any
) -> Any:
    """The results of ``f`` for each sample of the arguments, put together; see ``s2s.map``."""
    lengths = _lengths(args, in_axes)
    for length in lengths:
        check_count(lengths[0], length)
    found = [f(*_sample(args, in_axes, k), **kwargs) for k in range(lengths[0])]
    if not found:
        raise ValueError("there are no samples: what the function would give for one is not known")
    return _together(found, out_axes)


def check_count(length: int, other: int) -> None:
    """Raise ValueError where two arguments do not have the same number of samples."""
    if length != other:
        raise ValueError(f"an argument has {length} samples, another one {other}")


def axes_of(axes: Any, key: Any) -> Any:
    """The axes of a part of a structure: one axis holds for all of it."""
    return axes[key] if isinstance(axes, (tuple, list, dict, MappingProxyType)) else axes


def _lengths(x: Any, axes: Any) -> list[int]:
    """The lengths of the arrays in a structure along their axes of samples."""
    if axes is None:
        return []
    if isinstance(x, (tuple, list)):
        return [length for k, item in enumerate(x) for length in _lengths(item, axes_of(axes, k))]
    if isinstance(x, dict):
        return [length for key, item in x.items() for length in _lengths(item, axes_of(axes, key))]
    return [np.shape(x)[axes]]


def _sample(x: Any, axes: Any, k: int) -> Any:
    """Sample ``k`` of an array, or of the arrays in a structure."""
    if axes is None:
        return x
    if isinstance(x, (tuple, list)):
        return rt.rebuild(x, [_sample(item, axes_of(axes, j), k) for j, item in enumerate(x)])
    if isinstance(x, dict):
        return {key: _sample(item, axes_of(axes, key), k) for key, item in x.items()}
    return np.moveaxis(x, axes, 0)[k]


def _together(samples: list[Any], axes: Any) -> Any:
    """The results of samples, arrays or structures of arrays, each array with an axis more."""
    first = samples[0]
    if isinstance(first, (tuple, list)):
        return rt.rebuild(first, [_together([s[j] for s in samples], axes_of(axes, j)) for j in range(len(first))])
    if isinstance(first, dict):
        return {key: _together([s[key] for s in samples], axes_of(axes, key)) for key in first}
    return np.stack(samples, axes)
