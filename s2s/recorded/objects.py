"""Calls with arrays of Python objects: elementwise functions of each object, sums and products of them, and what hands
objects on."""

from __future__ import annotations

import functools
import operator
import types
from typing import Any

import numpy as np

from s2s.core.inspection import is_hashable, name_of
from s2s.core.operators import OPERATORS
from s2s.errors import error
from s2s.recorded.items import as_objects
from s2s.recorded.kinds import flat, is_numeric
from s2s.recorded.noted import ARRAY_MAKERS
from s2s.recorded.probed import Probe, is_unknown
from s2s.recorded.recorder import is_a, items_of, kind_of, pack, unpack
from s2s.recorded.state import depends, has_new
from s2s.recorded.tools import INSTALLER, binary, call, call_method, unary

_OPERATORS = {known.ufunc: plain for plain, known in OPERATORS.items()}
_REDUCTIONS = {np.ndarray.sum: operator.add, np.ndarray.prod: operator.mul}
_PRODUCTS = frozenset({np.dot, np.ndarray.dot, np.inner, np.matmul, operator.matmul})

_HOW = frozenset({"casting", "subok", "order"})
"""Keywords that change no object."""


_CHOOSING = frozenset({np.where, np.concatenate})
"""Compiled functions that hand objects on, and make others of numbers that are not objects."""


def takes_objects(fn: Any, args: tuple[Any, ...]) -> bool:
    """Whether there is an array of Python objects among the arguments."""
    given = flat(args) if is_hashable(fn) and fn in _CHOOSING else args
    return any(is_a(a, np.ndarray) and kind_of(a) == "O" for a in given)


def of_objects(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call with arrays of Python objects, at least one of them among the arguments."""
    operation = _OPERATORS.get(fn, fn) if is_a(fn, np.ufunc) else fn
    kwargs = {name: value for name, value in kwargs.items() if value is not np._NoValue and name not in _HOW}
    if operation in _OPERATORS.values() and operation is not operator.matmul and not kwargs:
        return _of_each_operand(operation, args)
    by = _REDUCTIONS.get(fn) or _reduction_of(fn)
    if by is not None and args[0].size and (over := _reduced_over(fn, *args[1:], **kwargs)) is not None:
        return _reduced(by, args[0], **over)
    if operation in _PRODUCTS and not kwargs and all(np.ndim(a) in (1, 2) for a in args):
        return _product(_each_an_object(args[0]), _each_an_object(args[1]), operation is np.inner)
    if fn is np.vdot and not kwargs:
        conjugates = [call_method(item, "conjugate") for item in _each_an_object(args[0]).ravel().tolist()]
        return _product(np.array([*conjugates, None])[:-1], _each_an_object(args[1]).ravel(), False)
    if fn in ARRAY_MAKERS and not is_a(args[0], list):
        array, dtype = args[0], kwargs.get("dtype", args[1] if len(args) > 1 else None)
        if dtype is None or np.dtype(dtype).kind == "O":
            return array
        return call(np.reshape, call(np.array, array.ravel().tolist(), dtype=dtype), array.shape)
    written = getattr(fn, "_implementation", None)
    if type(written) is types.FunctionType:
        INSTALLER.see(written)
        return written(*args, **kwargs)
    if fn in _CHOOSING:
        leaves: list[Any] = []
        structure = pack(args, leaves)
        args = unpack(structure, [_each_an_object(leaf) if is_numeric(leaf) else leaf for leaf in leaves])
    known, out = _asked(fn, args, kwargs) if is_unknown(fn) else (False, fn(*args, **kwargs))
    if not known and has_new(args, kwargs, out):
        raise error("S2S214", name=name_of(fn), reason="it computes with an array of Python objects")
    return out


def _asked(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[bool, Any]:
    """Whether a call of compiled code is known when it is asked what it does with other numbers, and its result."""
    of_numbers = [is_a(a, np.ndarray) and kind_of(a) == "O" and depends(a) for a in args]
    before = [items_of(a) if is_one else None for a, is_one in zip(args, of_numbers)]
    out = fn(*args, **kwargs)
    for array, items in zip(args, before):
        if items is not None and not all(one is other for one, other in zip(items, items_of(array))):
            return False, out
        if items is not None and not all(is_a(item, (float, np.floating)) for item in items):
            return False, out

    def of_floats(*given: Any, **named: Any) -> Any:
        return fn(*(a.astype(object) if is_one else a for a, is_one in zip(given, of_numbers)), **named)

    floats = [call(np.reshape, call(np.array, items), a.shape) if items else a for a, items in zip(args, before)]
    known, made = Probe(of_floats, (*floats,), kwargs).answer(out)
    return known, made if known else out


def _of_each_operand(operation: Any, args: tuple[Any, ...]) -> Any:
    """An operator, of each object."""
    arrays = np.broadcast_arrays(*map(_each_an_object, args))
    made = np.empty(arrays[0].shape, object)
    for index in np.ndindex(made.shape):
        operands = [array[index] for array in arrays]
        made[index] = binary(operation, *operands) if len(operands) == 2 else unary(operation, *operands)
    if not made.shape:
        return made[()]
    classes = [a for a in args if is_a(a, np.ndarray) and type(a) is not np.ndarray]
    return max(classes, key=lambda a: a.__array_priority__).__array_wrap__(made) if classes else made


def _reduction_of(fn: Any) -> Any:
    """The operator that ``reduce`` of a ufunc applies."""
    ufunc = getattr(fn, "__self__", None)
    return _OPERATORS.get(ufunc) if is_a(ufunc, np.ufunc) and fn.__name__ == "reduce" else None


def _reduced_over(
    fn: Any, axis: Any = np._NoValue, dtype: Any = None, out: Any = None, keepdims: Any = False,
    initial: Any = np._NoValue, where: Any = True,
) -> dict[str, Any] | None:
    """Which axes a reduction is over, from the arguments of ``np.add.reduce``; None where it is no plain one.
    Without an axis that takes the first, and the methods of an array take all."""
    if dtype not in (None, object) or out is not None or initial is not np._NoValue or where is not True:
        return None
    return {"axis": axis if axis is not np._NoValue else None if fn in _REDUCTIONS else 0, "keepdims": keepdims}


def _reduced(by: Any, array: Any, axis: Any, keepdims: Any = False) -> Any:
    """The objects of an array along an axis, along several, or along all, joined by an operator."""
    axes = tuple(range(array.ndim)) if axis is None else axis if is_a(axis, tuple) else (axis,)
    axes = tuple(sorted(k % array.ndim for k in axes))
    rows = np.moveaxis(array, axes, tuple(range(len(axes))))
    rows = rows.reshape(-1, *rows.shape[len(axes):])
    made = functools.reduce(functools.partial(binary, by), [rows[k] for k in range(len(rows))])
    return np.expand_dims(made, axes) if keepdims is True else made


def _product(a: Any, b: Any, is_inner: bool) -> Any:
    """The product of two vectors or matrices of objects."""
    columns = b.reshape(1, -1) if b.ndim == 1 else b if is_inner else b.T
    rows = a.reshape(-1, a.shape[-1])
    made = np.empty((len(rows), len(columns)), object)
    for i, k in np.ndindex(made.shape):
        made[i, k] = functools.reduce(
            functools.partial(binary, operator.add), map(functools.partial(binary, operator.mul), rows[i], columns[k])
        )
    made = made.reshape(made.shape[: a.ndim - 1] + (made.shape[1:] if b.ndim == 2 else ())) if made.size else made
    return made if made.shape else made[()]


def _each_an_object(value: Any) -> Any:
    """An operand as an array of objects, which are known where its numbers are."""
    return as_objects(value) if is_a(value, np.ndarray) and kind_of(value) != "O" else np.asarray(value, object)


def of_each(function: Any, args: tuple[Any, ...], count: int) -> Any:
    """What a Python function gives of each element of arrays, as arrays of objects: ``count`` of them."""
    objects = list(np.broadcast_arrays(*map(_each_an_object, args)))
    made = [np.empty(objects[0].shape, object) for _ in range(count)]
    for index in np.ndindex(objects[0].shape):
        out = call(function, *[array[index] for array in objects])
        for array, part in zip(made, (out,) if count == 1 else out):
            array[index] = part
    found = [array if array.shape else array[()] for array in made]
    return found[0] if count == 1 else tuple(found)
