"""Rules of the methods of ufuncs that reduce and accumulate."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s.rules.numpy.reductions import MASK
from s2s.rules.samples import args, arr, num
from s2s.rules.table import alias, jvp, vjp

METHOD = "a, axis=0, dtype=None, out=None, keepdims=False, initial={}, where=True"
ALONG = [
    args(arr(5)), args(arr(3, 4)), args(arr(3, 4), 1), args(arr(3, 4), axis=None),
    args(arr(3, 4), axis=-1, keepdims=True), args(arr(2, 3, 4), axis=(0, 2)),
]
OF_TYPE = args(arr(3, 4), dtype=np.float64)
alias(np.sum, np.add.reduce, params=METHOD.format(None), samples=[*ALONG, OF_TYPE])
alias(np.prod, np.multiply.reduce, params=METHOD.format(1), samples=[*ALONG, OF_TYPE])
alias(np.max, np.maximum.reduce, params=METHOD.format(None), samples=ALONG)
alias(np.min, np.minimum.reduce, params=METHOD.format(None), samples=ALONG)
alias(np.cumsum, np.add.accumulate, params="a, axis=0, dtype=None, out=None", samples=[*ALONG[:3], OF_TYPE])
alias(np.cumprod, np.multiply.accumulate, params="a, axis=0, dtype=None, out=None", samples=[*ALONG[:3], OF_TYPE])


def shares_of_sum(a: Any, whole: Any, axis: Any, initial: Any, where: Any) -> tuple[Any, Any]:
    """e^a / e^whole, the share of each element in the sum, and that of the initial value; of an infinite sum those have
    equal parts that are it."""
    there = np.isfinite(whole)
    hit = (a == whole) & where
    start = -np.inf if initial is None else initial
    number = np.sum(hit, axis=axis, keepdims=True, dtype=np.asarray(a).dtype.type)
    ties = 1.0 / np.maximum(number if initial is None else number + (start == whole), 1.0)
    level = np.where(there, whole, 0.0)
    return (
        np.where(there & where, np.exp(np.where(there & where, a, 0.0) - level), hit * ties),
        np.where(there, np.exp(np.where(there, start, 0.0) - level), (start == whole) * ties),
    )


def logaddexp_reduce_bar(y_bar: Any, y: Any, a: Any, axis: Any, keepdims: Any, initial: Any, where: Any) -> Any:
    if axis is not None and not keepdims:
        y_bar = np.expand_dims(y_bar, axis)
        y = np.expand_dims(y, axis)
    return y_bar * shares_of_sum(a, y, axis, initial, where)[0]


def logaddexp_initial(y_bar: Any, y: Any, a: Any, axis: Any, keepdims: Any, initial: Any, where: Any) -> Any:
    whole = y if axis is None or keepdims else np.expand_dims(y, axis)
    return np.sum(y_bar * np.reshape(shares_of_sum(a, whole, axis, initial, where)[1], np.shape(y)))


vjp(
    np.logaddexp.reduce, a=logaddexp_reduce_bar, initial=logaddexp_initial, params=METHOD.format(None),
    samples=[
        *ALONG[:5], args(arr(3, 4), where=MASK), args(arr(3, 4), 1, initial=num(), where=MASK),
        args(arr(3, 4), axis=1, keepdims=True, initial=0.5),
    ],
)


def running_bar(g: Any, y: Any, a: Any, axis: int) -> Any:
    """The cotangent of ``a`` from that of ``np.maximum.accumulate(a, axis)``: ``y_k`` is the larger one of ``y_(k-1)``
    and ``a_k``, and a tie is shared.
    """
    g, y, a = np.moveaxis(g, axis, 0), np.moveaxis(y, axis, 0), np.moveaxis(a, axis, 0)
    a_bar = np.array(g)
    later = np.zeros_like(g[:1].sum(axis=0))
    for k in range(len(a) - 1, -1, -1):
        total = g[k] + later
        share = np.where(y[k - 1] == a[k], 0.5, np.where(y[k] == a[k], 1.0, 0.0)) if k else 1.0
        a_bar[k] = share * total
        later = total - a_bar[k]
    return np.moveaxis(a_bar, 0, axis)


vjp(
    np.maximum.accumulate, a=lambda y_bar, y, a, axis: running_bar(y_bar, y, a, axis),
    params="a, axis=0, dtype=None, out=None", samples=[args(arr(6)), args(arr(3, 4)), args(arr(3, 4), 1)],
)
vjp(
    np.minimum.accumulate, a=lambda y_bar, y, a, axis: running_bar(y_bar, y, a, axis),
    params="a, axis=0, dtype=None, out=None", samples=[args(arr(6)), args(arr(3, 4)), args(arr(3, 4), 1)],
)


def running_dot(y: Any, a: Any, a_dot: Any, axis: int) -> Any:
    """The tangent of ``np.maximum.accumulate(a, axis)``, a tie shared as in ``running_bar``."""
    y, a, a_dot = np.moveaxis(y, axis, 0), np.moveaxis(a, axis, 0), np.moveaxis(a_dot, axis, 0)
    y_dot = np.array(a_dot)
    for k in range(1, len(a)):
        share = np.where(y[k - 1] == a[k], 0.5, np.where(y[k] == a[k], 1.0, 0.0))
        y_dot[k] = share * a_dot[k] + (1.0 - share) * y_dot[k - 1]
    return np.moveaxis(y_dot, 0, axis)


jvp(np.maximum.accumulate, a=lambda a_dot, y, a, axis: running_dot(y, a, a_dot, axis))
jvp(np.minimum.accumulate, a=lambda a_dot, y, a, axis: running_dot(y, a, a_dot, axis))
