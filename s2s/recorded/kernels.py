"""Calls of NumPy's functions with arrays of classes that have such calls of their own."""

from __future__ import annotations

import types
from typing import Any

import numpy as np

from s2s.core.inspection import is_hashable, is_written
from s2s.recorded.changes import run
from s2s.recorded.kinds import flat, names_of, overrides, plain_array
from s2s.recorded.noted import noted
from s2s.recorded.recorder import is_a, is_number, kind_of, pack, unpack
from s2s.recorded.state import depends, handed_on, has_new, hides
from s2s.recorded.tools import INSTALLER
from s2s.rules import table

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


def public(fn: Any) -> Any:
    """The function of NumPy's that has a rule, for its compiled code; any other function as it is."""
    return _KERNELS.get(fn, fn) if is_hashable(fn) else fn


def kernel(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call of compiled code of NumPy's with arrays of a class that has calls of NumPy's functions of its own: what it
    gives is of that class, and its numbers are those of plain arrays."""
    given, named = _plain(args, kwargs)
    out = fn(*args, **kwargs)
    made = noted(_KERNELS[fn], given, named, plain_array(out)) if depends(given, named) else out
    return out if is_a(out, np.ndarray) else made


def overridden(args: tuple[Any, ...], fn: Any = None) -> bool:
    """Whether the class of an argument has calls of NumPy's functions of its own: of ``fn``, if that is a ufunc or an
    operator, which ask for no more than the class's calls of ufuncs."""
    is_ufunc = is_a(fn, np.ufunc) or (is_hashable(fn) and names_of(fn) != ())
    asked = ("__array_ufunc__",) if is_ufunc else ("__array_ufunc__", "__array_function__")
    return any(
        overrides(type(a), asked) if is_a(a, np.ndarray) else _is_duck(a)  # type: ignore[arg-type]
        for a in flat(args)
    )


def of_own_arrays(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any], bound: Any) -> Any:
    """A call with arrays of a class that has calls of NumPy's functions of its own. Where that leaves the call to
    NumPy, which its code does not show but the numbers do, it is one of plain arrays."""
    for a in args:
        INSTALLER.see(a)
    is_noted, is_hidden = depends(args, kwargs), hides(args, kwargs)
    out = run(fn, args, kwargs, bound)
    if not is_noted:
        computes = is_a(out, np.ndarray) or is_number(out)
        return handed_on(fn, args, kwargs, out) if is_hidden and computes else out
    if is_a(fn, types.MethodDescriptorType):
        return noted(fn, args, kwargs, out)
    if is_a(out, np.ndarray) and is_hashable(fn) and table.find(fn) is not None and has_new(args, kwargs, out):
        given, named = _plain(args, kwargs)
        if np.array_equal(plain_array(out), fn(*given, **named), equal_nan=kind_of(out) in "fc"):
            noted(fn, given, named, plain_array(out))
            return out
    return handed_on(fn, args, kwargs, out)


def _plain(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The arguments with plain arrays."""
    leaves: list[Any] = []
    structure = pack((args, kwargs), leaves)
    return unpack(structure, list(map(plain_array, leaves)))


def _is_duck(value: Any) -> bool:
    """Whether a value is no array, but has calls of NumPy's functions of its own."""
    kind: Any = type(value)
    return is_written(kind) and hasattr(kind, "__array_ufunc__") and not issubclass(kind, np.ndarray)
