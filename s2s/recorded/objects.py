"""Calls with arrays of Python objects: elementwise functions of each object, and what hands objects on."""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np

from s2s.core.inspection import name_of
from s2s.core.operators import OPERATORS
from s2s.errors import error
from s2s.recorded.items import as_objects
from s2s.recorded.noted import ARRAY_MAKERS
from s2s.recorded.recorder import is_a, kind_of
from s2s.recorded.state import has_new
from s2s.recorded.tools import binary, call, unary

_OPERATORS = {known.ufunc: plain for plain, known in OPERATORS.items()}


def of_objects(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call with arrays of Python objects: an elementwise function of each object, or what hands them on."""
    operation = _OPERATORS.get(fn, fn) if is_a(fn, np.ufunc) else fn
    if operation in _OPERATORS.values() and operation is not operator.matmul and not kwargs:
        arrays = np.broadcast_arrays(*(np.asarray(a, object) if not is_a(a, np.ndarray) else a for a in args))
        made = np.empty(arrays[0].shape, object)
        for index in np.ndindex(made.shape):
            operands = [array[index] for array in arrays]
            made[index] = binary(operation, *operands) if len(operands) == 2 else unary(operation, *operands)
        return made if made.shape else made[()]
    if fn in (np.sum, np.ndarray.sum, np.prod, np.ndarray.prod) and not kwargs and len(args) == 1:
        by = operator.add if fn in (np.sum, np.ndarray.sum) else operator.mul
        return functools.reduce(functools.partial(binary, by), args[0].ravel().tolist())
    if fn in (np.dot, np.ndarray.dot, np.vdot, np.inner) and not kwargs and all(np.ndim(a) == 1 for a in args):
        products = map(functools.partial(binary, operator.mul), *map(np.ndarray.tolist, args))
        return functools.reduce(functools.partial(binary, operator.add), products)
    if fn in ARRAY_MAKERS and not is_a(args[0], list):
        array, dtype = args[0], kwargs.get("dtype", args[1] if len(args) > 1 else None)
        if dtype is None or np.dtype(dtype).kind == "O":
            return array
        return call(np.reshape, call(np.array, array.ravel().tolist(), dtype=dtype), array.shape)
    out = fn(*args, **kwargs)
    if has_new(args, kwargs, out):
        raise error("S2S202", name=name_of(fn), reason="it computes with an array of Python objects")
    return out


def of_each(function: Any, args: tuple[Any, ...], count: int) -> Any:
    """What a Python function gives of each element of arrays, as arrays of objects: ``count`` of them."""
    objects = [as_objects(a) if is_a(a, np.ndarray) and kind_of(a) != "O" else np.asarray(a, object) for a in args]
    objects = list(np.broadcast_arrays(*objects))
    made = [np.empty(objects[0].shape, object) for _ in range(count)]
    for index in np.ndindex(objects[0].shape):
        out = call(function, *[array[index] for array in objects])
        for array, part in zip(made, (out,) if count == 1 else out):
            array[index] = part
    found = [array if array.shape else array[()] for array in made]
    return found[0] if count == 1 else tuple(found)
