"""Arithmetic for compiled code: it raises where Python raises or goes on with a larger integer, and operations in
place are right where their operands share memory."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba import types
from numba.extending import overload

from s2s.backends.numba.syntax import IN_PLACE

__all__ = ["HELPERS", "OPTIONS", "TO_INTEGER", "checked", "parts_of_index", "share_any_rank", "to_integer"]

OPTIONS: dict[str, Any] = {"boundscheck": True}
"""How Numba compiles: what it compares with each other, the functions of these modules too, must agree in these."""


# --- math -----------------------------------------------------------------------------------------------------------


@functools.cache
def checked(function: Callable[..., float]) -> Any:
    """A function of ``math`` that raises where its result is not finite although its arguments are."""

    @numba.njit(**OPTIONS)
    def one(x):
        y = function(x)
        if not math.isfinite(y) and math.isfinite(x):
            raise ValueError
        return y

    @numba.njit(**OPTIONS)
    def two(x, z):
        y = function(x, z)
        if not math.isfinite(y) and math.isfinite(x) and math.isfinite(z):
            raise ValueError
        return y

    def either(*args: Any) -> Any:
        raise NotImplementedError

    def choose(x, z=None):
        if isinstance(x, (types.Complex, types.Array)):
            return None
        if z is None or isinstance(z, types.Omitted):
            return lambda x, z=None: one(x)
        return lambda x, z=None: two(x, z)

    overload(either)(choose)
    either.__name__ = function.__name__
    return either


TO_INTEGER = (int, round, math.floor, math.ceil, math.trunc)


@functools.cache
def to_integer(function: Any) -> Any:
    """A conversion to an integer that raises where 64 bits are not enough."""

    def convert(*args: Any) -> Any:
        raise NotImplementedError

    def choose(x, digits=None):
        if isinstance(x, types.Float) and (digits is None or isinstance(digits, types.Omitted)):

            def whole(x, digits=None):
                if not abs(x) < 9e18:
                    raise OverflowError
                return function(x)

            return whole
        if digits is None or isinstance(digits, types.Omitted):
            return lambda x, digits=None: function(x)
        return lambda x, digits=None: function(x, digits)

    overload(convert)(choose)
    return convert


# --- integers and powers --------------------------------------------------------------------------------------------


_LIMIT = 9.2e18


def multiply(a: Any, b: Any) -> Any:
    """``a * b``"""
    raise NotImplementedError


def add(a: Any, b: Any) -> Any:
    """``a + b``"""
    raise NotImplementedError


def subtract(a: Any, b: Any) -> Any:
    """``a - b``"""
    raise NotImplementedError


def shift(a: Any, b: Any) -> Any:
    """``a << b``"""
    raise NotImplementedError


def power(a: Any, b: Any) -> Any:
    """``a ** b``"""
    raise NotImplementedError


def _both_integers(a: Any, b: Any) -> bool:
    return isinstance(a, types.Integer) and isinstance(b, types.Integer)


@overload(multiply)
def _multiply(a, b):
    if not _both_integers(a, b):
        return lambda a, b: a * b

    def checked(a, b):
        if abs(float(a) * float(b)) > _LIMIT:
            raise OverflowError
        return a * b

    return checked


@overload(add)
def _add(a, b):
    if not _both_integers(a, b):
        return lambda a, b: a + b

    def checked(a, b):
        if abs(float(a) + float(b)) > _LIMIT:
            raise OverflowError
        return a + b

    return checked


@overload(subtract)
def _subtract(a, b):
    if not _both_integers(a, b):
        return lambda a, b: a - b

    def checked(a, b):
        if abs(float(a) - float(b)) > _LIMIT:
            raise OverflowError
        return a - b

    return checked


@overload(shift)
def _shift(a, b):
    if not _both_integers(a, b):
        return lambda a, b: a << b

    def checked(a, b):
        if b < 0 or b > 62 or abs(float(a)) * 2.0**b > _LIMIT:
            raise OverflowError
        return a << b

    return checked


@overload(power)
def _power(a, b):
    real = (types.Integer, types.Float)
    if _both_integers(a, b):

        def whole(a, b):
            if b < 0 or abs(float(a)) ** float(b) > _LIMIT:
                raise OverflowError
            return a**b

        return whole
    if isinstance(a, real) and isinstance(b, real):

        def finite(a, b):
            y = a**b
            if not math.isfinite(y) and math.isfinite(a) and math.isfinite(b):
                raise ValueError
            return y

        return finite
    return lambda a, b: a**b


# --- in place -------------------------------------------------------------------------------------------------------


@numba.njit
def _ends(a):
    """The addresses of the first byte of an array and of that behind the last."""
    low = high = np.int64(a.ctypes.data)
    for k in range(a.ndim):
        step = (a.shape[k] - 1) * a.strides[k]
        low += min(step, 0)
        high += max(step, 0)
    return low, high + a.itemsize


@numba.njit
def _share(a, b):
    """Whether arrays may share memory, in another way than element by element."""
    if a.size == 0 or b.size == 0:
        return False
    a_low, a_high = _ends(a)
    b_low, b_high = _ends(b)
    if a_high <= b_low or b_high <= a_low:
        return False
    return not (a_low == b_low and a.ndim == b.ndim and a.shape == b.shape and a.strides == b.strides)


@numba.njit
def share_any_rank(a, b):
    """The same for arrays of different ranks."""
    a_low, a_high = _ends(a)
    b_low, b_high = _ends(b)
    return a.size != 0 and b.size != 0 and a_high > b_low and b_high > a_low


def _in_place(name: str) -> Any:
    """``a += b``, which gives ``a``. Where they share memory, ``a + b`` is made first, as NumPy does."""

    def in_place(a: Any, b: Any) -> Any:
        raise NotImplementedError

    @overload(in_place)
    def choose(a, b):
        if isinstance(a, types.Array) and isinstance(b, types.Array):
            return _define(f"""
def in_place(a, b):
    if {"share" if a.ndim == b.ndim else "share_any_rank"}(a, b):
        a[...] = a {IN_PLACE[name]} b
    else:
        a {IN_PLACE[name]}= b
    return a
""")
        if isinstance(a, (types.Array, types.List)):
            return _define(f"def in_place(a, b):\n    a {IN_PLACE[name]}= b\n    return a")
        return _define(f"def in_place(a, b):\n    return a {IN_PLACE[name]} b")

    return in_place


def _item_in_place(name: str) -> Any:
    """``a[index] += b``, right also where they share memory."""

    def in_place(a: Any, index: Any, b: Any) -> Any:
        raise NotImplementedError

    @overload(in_place)
    def choose(a, index, b):
        if isinstance(a, types.Array) and isinstance(b, types.Array) and _is_view(a, index):
            return _define("def in_place(a, index, b):\n    change(a[index], b)", change=HELPERS[f"in_place {name}"])
        return _define(f"def in_place(a, index, b):\n    a[index] {IN_PLACE[name]}= b")

    return in_place


def _is_view(a: Any, index: Any) -> bool:
    """Whether an index gives a view of an array: not a number, and not a copy."""
    parts = parts_of_index(index)
    if not all(isinstance(i, (types.Integer, types.SliceType, types.EllipsisType, types.NoneType)) for i in parts):
        return False
    return sum(isinstance(i, types.Integer) for i in parts) < a.ndim


def parts_of_index(index: Any) -> tuple[Any, ...]:
    """The types of the parts of an index."""
    return tuple(index.types) if hasattr(index, "types") else (index,)


def _define(text: str, **names: Any) -> Any:
    """The function that a text defines."""
    scope: dict[str, Any] = {"__name__": __name__, "np": np, "share": _share, "share_any_rank": share_any_rank, **names}
    exec(text, scope)
    return next(value for name, value in scope.items() if text.lstrip().startswith(f"def {name}("))


# --- the table ------------------------------------------------------------------------------------------------------


HELPERS: dict[str, Any] = {
    "multiply": multiply, "add": add, "subtract": subtract, "shift": shift, "power": power,
    **{f"in_place {name}": _in_place(name) for name in IN_PLACE},
    **{f"item_in_place {name}": _item_in_place(name) for name in IN_PLACE},
}
"""What stands for an operation, by the name that ``adaptation`` and ``integers`` have for it."""
