"""Rules of functions that move or copy elements: reshape, transpose, copies, casts, diagonals.

All are linear; the transpose undoes the move. Nothing of the input is kept but its shape.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.core.functions import Computes, Result, Varies
from s2s.rules.functions import describe
from s2s.rules.samples import args, arr, num
from s2s.rules.table import alias, attribute, linear, model

# --- the same elements in the same order --------------------------------------------------------------------

linear(
    np.reshape, a=lambda y_bar, a, order: np.reshape(y_bar, np.shape(a), order),
    params="a, /, shape, order='C', *, copy=None", harmless="shape",
    samples=[
        args(arr(2, 6), (3, 4)), args(arr(12), (3, -1)), args(arr(2, 3), -1, order="F"),
        args(arr(0, 3), (3, 0)),
    ],
)
linear(
    np.ndarray.reshape, a=lambda y_bar, a, order: np.reshape(y_bar, np.shape(a), order),
    params="a, /, *shape, order='C', copy=None", harmless="shape",
    samples=[args(arr(2, 6), 3, 4), args(arr(2, 6), (3, 4)), args(arr(4), -1, 1, order="F")],
)
linear(
    np.ravel, a=lambda y_bar, a, order: np.reshape(y_bar, np.shape(a), order),
    params="a, order='C'", samples=[args(arr(2, 3)), args(arr(2, 3), order="F"), args(arr())],
)
alias(np.ravel, np.ndarray.ravel, np.ndarray.flatten)
linear(
    np.squeeze, a=lambda y_bar, a: np.reshape(y_bar, np.shape(a)), params="a, axis=None", harmless="axis",
    samples=[args(arr(1, 3, 1)), args(arr(1, 3, 1), axis=-1), args(arr(1, 3, 1), axis=(0, 2))],
)
alias(np.squeeze, np.ndarray.squeeze)
linear(
    np.expand_dims, a=lambda y_bar, axis: np.squeeze(y_bar, axis), params="a, axis",
    samples=[args(arr(3), 0), args(arr(3, 2), (0, -1)), args(arr(), 0)],
)


def at_least_bar(y_bar: Any, arys: Any) -> Any:
    """One array gives one result, several give a tuple."""
    if len(arys) == 1:
        return (np.reshape(y_bar, np.shape(arys[0])),)
    return tuple([np.reshape(y_bar[i], np.shape(arys[i])) for i in range(len(arys))])


linear(
    np.atleast_1d, joint=True, arys=at_least_bar, params="*arys",
    samples=[args(num()), args(arr(2, 3)), args(arr(), arr(2))],
)
linear(
    np.atleast_2d, joint=True, arys=at_least_bar, params="*arys",
    samples=[args(num()), args(arr(3)), args(arr(2), arr(2, 2))],
)
linear(
    np.atleast_3d, joint=True, arys=at_least_bar, params="*arys",
    samples=[args(num()), args(arr(3)), args(arr(3, 2))],
)

# --- the same elements in another order ---------------------------------------------------------------------


def transpose_bar(y_bar: Any, axes: Any) -> Any:
    if axes is None:
        return np.transpose(y_bar)
    return np.transpose(y_bar, np.argsort(np.mod(axes, len(axes))))


def transpose_method_bar(y_bar: Any, axes: Any) -> Any:
    """``x.transpose()``, ``x.transpose(None)``, ``x.transpose(1, 0)`` and ``x.transpose((1, 0))``."""
    if len(axes) == 0:
        return np.transpose(y_bar)
    if len(axes) == 1:
        return transpose_bar(y_bar, axes[0]) if np.ndim(y_bar) != 1 else y_bar
    return transpose_bar(y_bar, axes)


linear(
    np.transpose, a=transpose_bar, params="a, axes=None",
    samples=[
        args(arr(2, 3)), args(arr(2, 3, 4), (2, 0, 1)), args(arr(2, 3, 4), (-1, 0, 1)), args(arr(3)),
        args(arr()),
    ],
)
linear(
    np.ndarray.transpose, a=transpose_method_bar, params="a, /, *axes",
    samples=[
        args(arr(2, 3)), args(arr(2, 3, 4), 2, 0, 1), args(arr(2, 3, 4), (2, 0, 1)), args(arr(2, 3), None),
        args(arr(3), 0),
    ],
)
attribute("T", np.transpose)
linear(
    np.matrix_transpose, x=lambda y_bar: np.swapaxes(y_bar, -1, -2), params="x, /",
    samples=[args(arr(2, 3)), args(arr(2, 3, 4))],
)
alias(np.matrix_transpose, np.linalg.matrix_transpose)
attribute("mT", np.matrix_transpose)
linear(
    np.swapaxes, a=lambda y_bar, axis1, axis2: np.swapaxes(y_bar, axis1, axis2), params="a, axis1, axis2",
    samples=[args(arr(2, 3, 4), 0, 2), args(arr(2, 3), -1, 0)],
)
alias(np.swapaxes, np.ndarray.swapaxes)
linear(
    np.moveaxis, a=lambda y_bar, source, destination: np.moveaxis(y_bar, destination, source),
    params="a, source, destination",
    samples=[args(arr(2, 3, 4), 0, -1), args(arr(2, 3, 4), (0, 1), (-1, 0))],
)


@model(np.rollaxis, samples=[args(arr(2, 3, 4), 2), args(arr(2, 3, 4), 0, 2), args(arr(2, 3, 4), -1, 1)])
def _rollaxis(a: Any, axis: Any, start: Any = 0) -> Any:
    axis, start = axis % np.ndim(a), start + np.ndim(a) if start < 0 else start
    return np.moveaxis(a, axis, start - 1 if axis < start else start)


linear(
    np.flip, m=lambda y_bar, axis: np.flip(y_bar, axis), params="m, axis=None",
    samples=[args(arr(3)), args(arr(2, 3)), args(arr(2, 3), axis=-1), args(arr(2, 3, 2), axis=(0, 2))],
)
linear(np.fliplr, m=lambda y_bar: np.fliplr(y_bar), params="m", samples=[args(arr(2, 3))])
linear(np.flipud, m=lambda y_bar: np.flipud(y_bar), params="m", samples=[args(arr(2, 3)), args(arr(3))])
linear(
    np.roll, a=lambda y_bar, shift, axis: np.roll(y_bar, np.negative(shift), axis),
    params="a, shift, axis=None",
    samples=[
        args(arr(5), 2), args(arr(2, 3), 1), args(arr(2, 3), -1, axis=1),
        args(arr(3, 4), (1, 2), axis=(0, 1)),
    ],
)
linear(
    np.rot90, m=lambda y_bar, k, axes: np.rot90(y_bar, -k, axes), params="m, k=1, axes=(0, 1)",
    samples=[args(arr(2, 3)), args(arr(2, 3), 2), args(arr(2, 3, 4), k=3, axes=(1, 2))],
)

# --- copies and casts ---------------------------------------------------------------------------------------

COPY = [args(arr(3)), args(arr(2, 3)), args(arr())]
linear(np.copy, a=lambda y_bar: y_bar, params="a, order='K', subok=False", samples=COPY)
linear(np.ndarray.copy, a=lambda y_bar: y_bar, params="a, order='C'", samples=COPY)
linear(
    np.asfortranarray, a=lambda y_bar, a: rt.cast(np.reshape(y_bar, np.shape(a)), a),
    params="a, dtype=None, *, like=None", harmless="dtype",
    samples=[args(arr(2, 3)), args(arr()), args(num()), args(arr(2, 3), np.float64)],
)
linear(
    np.ascontiguousarray, a=lambda y_bar, a: rt.cast(np.reshape(y_bar, np.shape(a)), a),
    params="a, dtype=None, *, like=None", harmless="dtype",
    samples=[args(arr(2, 3)), args(arr()), args(num()), args(arr(2), np.float64)],
)


def as_array_bar(y_bar: Any, a: Any) -> Any:
    """An array keeps its shape; of nested lists every number gets its own cotangent."""
    if isinstance(a, (list, tuple)):
        return rt.mirror(y_bar, a)
    return rt.cast(y_bar, a)


def array_bar(y_bar: Any, object: Any, ndmin: Any) -> Any:
    if ndmin != 0:
        y_bar = np.reshape(y_bar, np.shape(object))
    if isinstance(object, (list, tuple)):
        return rt.mirror(y_bar, object)
    return rt.cast(y_bar, object)


LISTS = [
    args(arr(3)), args([num(), num()]), args([[num(), 1.0], (num(), num())]), args([arr(2), arr(2)]),
    args(num()),
]
linear(
    np.array, object=array_bar, harmless="dtype",
    samples=[*LISTS, args(arr(3), dtype=np.float64), args(arr(3), ndmin=2), args([num(), num()], ndmin=2)],
    params="object, dtype=None, *, copy=True, order='K', subok=False, ndmin=0, like=None",
)
ASARRAY = "a, dtype=None, order=None, *, device=None, copy=None, like=None"
linear(
    np.asarray, a=as_array_bar, params=ASARRAY, harmless="dtype",
    samples=[*LISTS, args(arr(3), np.float64), args([num(), 1.0], dtype=float)],
)
alias(np.asarray, np.asanyarray)
alias(np.asarray, np.asarray_chkfinite, params="a, dtype=None, order=None", samples=[args(arr(3)), args(arr(3), float)])
linear(
    np.require, a=as_array_bar, params="a, dtype=None, requirements=None, *, like=None", harmless="dtype requirements",
    samples=[args(arr(2, 3), np.float64, ["C"])],
)
# A cast to integers is straight-through: the compiler asks for the policy where the result is an integer.
linear(
    np.ndarray.astype, a=lambda y_bar, a: rt.cast(y_bar, a), harmless="dtype",
    params="a, /, dtype, order='K', casting='unsafe', subok=True, copy=True",
    samples=[args(arr(3), np.float64), args(arr(2, 3), float, copy=False)],
)
alias(
    np.ndarray.astype, np.astype, params="a, dtype, /, *, copy=True, device=None",
    samples=[args(arr(3), np.float64)],
)
linear(
    np.ndarray.item, a=lambda y_bar, a, args: rt.item_bar(a, args, y_bar), params="a, /, *args",
    samples=[
        args(arr(1)), args(arr()), args(arr(3), 1), args(arr(2, 3), 4), args(arr(2, 3), 1, -1),
        args(arr(2, 3), (1, 2)),
    ],
)
linear(
    np.ndarray.tolist, a=lambda y_bar, a: np.asarray(y_bar), params="a, /",
    samples=[args(arr(3)), args(arr(2, 3)), args(arr())],
)

# --- diagonals and triangles --------------------------------------------------------------------------------


def diag_bar(y_bar: Any, v: Any, k: Any) -> Any:
    if np.ndim(v) == 1:
        return np.diagonal(y_bar, k)
    return rt.diagonal_bar(y_bar, v, k, 0, 1)


linear(
    np.diag, v=diag_bar, params="v, k=0",
    samples=[args(arr(3)), args(arr(3), k=-1), args(arr(3, 3)), args(arr(3, 4), 1), args(arr(4, 3), -2)],
)
linear(
    np.diagflat, v=lambda y_bar, v, k: np.reshape(np.diagonal(y_bar, k), np.shape(v)), params="v, k=0",
    samples=[args(arr(2, 2)), args(arr(3), 1)],
)
linear(
    np.diagonal, a=lambda y_bar, a, offset, axis1, axis2: rt.diagonal_bar(y_bar, a, offset, axis1, axis2),
    params="a, offset=0, axis1=0, axis2=1",
    samples=[
        args(arr(3, 3)), args(arr(3, 4), 2), args(arr(2, 3, 4), -1, 2, 1),
        args(arr(2, 3, 4), axis1=0, axis2=-1),
    ],
)
alias(np.diagonal, np.ndarray.diagonal)
linear(
    np.linalg.diagonal, params="x, /, *, offset=0",
    x=lambda y_bar, x, offset: rt.diagonal_bar(y_bar, x, offset, -2, -1),
    samples=[args(arr(3, 3)), args(arr(2, 3, 4), offset=1)],
)
linear(
    np.tril, m=lambda y_bar, m, k: rt.unbroadcast(np.tril(y_bar, k), m), params="m, k=0",
    samples=[args(arr(3, 3)), args(arr(3)), args(arr(2, 3, 4), -1)],
)
linear(
    np.triu, m=lambda y_bar, m, k: rt.unbroadcast(np.triu(y_bar, k), m), params="m, k=0",
    samples=[args(arr(3, 3)), args(arr(3)), args(arr(2, 3, 4), 1)],
)

# --- what else is known ---------------------------------------------------------------------------------------------

describe(
    np.transpose, np.ndarray.transpose, np.swapaxes, np.ndarray.swapaxes, np.moveaxis, np.rollaxis, np.expand_dims,
    np.squeeze, np.ndarray.squeeze, np.matrix_transpose, np.flip, np.flipud, np.fliplr, np.rot90, result=Result.VIEW,
)
describe(np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit, result=Result.PARTS)
describe(np.reshape, np.ndarray.reshape, np.ravel, np.ndarray.ravel, result=Result.LAYOUT)
describe(
    np.ndarray.flatten, np.roll, np.copy, np.ndarray.copy, np.array, np.ndarray.astype, np.astype, np.ndarray.item,
    np.ndarray.tolist, np.full, np.full_like, np.repeat, np.ndarray.repeat, np.tile, np.concatenate, np.stack,
    np.vstack, np.hstack, np.dstack, np.column_stack, np.append, np.block, np.insert, np.delete, np.diagflat, np.tril,
    np.triu, np.linspace, np.meshgrid, np.pad, np.arange, np.ediff1d, result=Result.NEW,
)
describe(
    np.linalg.matrix_transpose, np.atleast_1d, np.atleast_2d, np.atleast_3d, np.asfortranarray, np.ascontiguousarray,
    np.asarray, np.asanyarray, np.asarray_chkfinite, np.require, np.broadcast_to, np.unstack, np.diag, np.diagonal,
    np.ndarray.diagonal, np.linalg.diagonal, np.lib.stride_tricks.sliding_window_view, np.broadcast_arrays,
    np.trim_zeros, result=Result.SHARED,
)
describe(np.trim_zeros, np.ndarray.tolist, np.ndarray.item, varies=Varies.KIND)
describe(np.arange, varies=Varies.LENGTH)
describe(np.full_like, reads=(1,))
describe(
    np.zeros, np.ones, np.empty, np.full, np.zeros_like, np.ones_like, np.empty_like, np.full_like, fills=True,
)
describe(np.zeros, np.ones, np.empty, c_order=2)
describe(np.full, c_order=3)
describe(np.ndarray.copy, c_order=1)
describe(np.concatenate, np.stack, np.ptp, reads_on=True)
describe(
    operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.pos, operator.getitem,
    np.add, np.subtract, np.multiply, np.divide, np.where, np.sum, np.ndarray.sum, np.inner, np.outer, np.tensordot,
    np.reshape, np.ndarray.reshape, np.ravel, np.ndarray.ravel, np.ndarray.flatten, np.transpose, np.ndarray.transpose,
    np.swapaxes, np.ndarray.swapaxes, np.moveaxis, np.broadcast_to, np.concatenate, np.stack, np.hstack, np.vstack,
    np.column_stack, np.copy, np.ndarray.copy, np.roll, np.flip, np.fliplr, np.flipud, np.repeat, np.ndarray.repeat,
    np.tile, np.take, np.ndarray.take, np.diagonal, np.ndarray.diagonal, np.trace, np.expand_dims, np.squeeze,
    np.ndarray.squeeze, np.split, np.array_split, np.atleast_1d, np.atleast_2d, np.diff, np.cumsum, np.ndarray.cumsum,
    np.array, np.asarray, np.rot90, np.diag, generic=True,
)
describe(np.ravel, np.ndarray.ravel, np.ndarray.flatten, np.reshape, np.ndarray.reshape, computes=Computes.FLAT)
describe(
    np.asarray, np.asanyarray, np.array, np.copy, np.ascontiguousarray, np.asarray_chkfinite, np.ndarray.copy,
    np.ndarray.astype, np.ndarray.item, computes=Computes.SAME,
)
describe(np.ndarray.tolist, computes=Computes.LIST)
describe(
    np.squeeze, np.ndarray.squeeze, np.expand_dims, np.atleast_1d, np.atleast_2d, np.atleast_3d, np.asfortranarray,
    np.require, np.astype, np.diag, np.diagflat, np.diagonal, np.ndarray.diagonal, np.linalg.diagonal, np.tril, np.triu,
    np.broadcast_to, np.full, np.full_like, np.broadcast_arrays, np.meshgrid, np.lib.stride_tricks.sliding_window_view,
    computes=Computes.PLACED,
)
describe(
    np.transpose, np.ndarray.transpose, np.matrix_transpose, np.linalg.matrix_transpose, np.swapaxes,
    np.ndarray.swapaxes, np.moveaxis, np.flip, np.fliplr, np.flipud, np.roll, np.rot90, computes=Computes.TURNED,
)
