"""Calls of compiled code of NumPy's with arrays of classes that have calls of NumPy's functions of their own."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s.core.inspection import is_hashable, is_written
from s2s.recorded.kinds import flat, overrides, plain_array
from s2s.recorded.noted import noted
from s2s.recorded.recorder import is_a, pack, unpack
from s2s.recorded.state import depends

_NUMPY: Any = np
_KERNELS = {
    _NUMPY._core.multiarray.c_einsum: np.einsum,
    **{fn._implementation: fn for fn in (_NUMPY.concatenate, _NUMPY.dot, _NUMPY.inner, _NUMPY.where)},
    **{fn: fn for fn in (np.array, np.asarray, np.asanyarray, np.ascontiguousarray)},
}
"""What NumPy's functions with rules are for arrays of any class, whatever this does about calls of these functions."""


def is_kernel(fn: Any, args: tuple[Any, ...]) -> bool:
    """Whether it is a call of one with arrays of such classes."""
    return is_hashable(fn) and fn in _KERNELS and overridden(args) and not any(map(_is_duck, flat(args)))


def kernel(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call of compiled code of NumPy's with arrays of a class that has calls of NumPy's functions of its own: what it
    gives is of that class, and its numbers are those of plain arrays."""
    leaves: list[Any] = []
    structure = pack((args, kwargs), leaves)
    given, named = unpack(structure, list(map(plain_array, leaves)))
    out = fn(*args, **kwargs)
    made = noted(_KERNELS[fn], given, named, plain_array(out)) if depends(given, named) else out
    return out if is_a(out, np.ndarray) else made


def overridden(args: tuple[Any, ...]) -> bool:
    """Whether the class of an argument has calls of NumPy's functions of its own."""
    return any(
        overrides(type(a)) if is_a(a, np.ndarray) else _is_duck(a)  # type: ignore[arg-type]
        for a in flat(args)
    )


def _is_duck(value: Any) -> bool:
    """Whether a value is no array, but has calls of NumPy's functions of its own."""
    kind: Any = type(value)
    return is_written(kind) and hasattr(kind, "__array_ufunc__") and not issubclass(kind, np.ndarray)
