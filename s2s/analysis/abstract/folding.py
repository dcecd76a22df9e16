"""The calls that the compiler makes: of functions that are known to be pure, on plain values, within bounds.

Nothing else in the compiler calls what it has found in the program. A function is *pure* where it is one of Python's or
NumPy's own, or one with a rule of this package, whose result depends on its arguments only and that changes nothing
else (``functions.gives_the_same``). *Plain* values are numbers, texts and arrays, and containers of these: no method of
theirs is foreign code. What a call may cost is known before it is made: the sizes of what goes in and of what comes
out, where it can be much larger, are bounded, and so is the sum for one compilation.

    math.factorial(5)                   120
    math.factorial(10**7)               NotFolded
    sorted([3, 1], key=f)               NotFolded
"""

from __future__ import annotations

import builtins
import contextlib
import enum
import functools
import math
import operator
import re
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.analysis.functions import gives_the_same
from s2s.core import inspection, ops
from s2s.core.quiet import without_warnings

__all__ = [
    "LONGEST_TEXT", "MOST_ITEMS", "MOST_LISTED", "Budget", "NotFolded", "call_pure", "charge", "is_long", "is_pure",
    "limited", "plain",
]

MOST_ITEMS = 100_000
"""No container, text or number that is made while compiling has more items, characters or bits."""

MOST_CONTRACTED = 20_000_000
"""No product of arrays that is made while compiling has more items."""

MOST_LISTED = 20_000
"""Lists and tuples that are longer are not followed item by item."""

LONGEST_TEXT = 10_000
"""Texts that are longer are read where they are, and not written into the generated code; numbers with more bits are
computed when the program runs."""

MOST_WORK = 400_000_000
"""The items that all calls of one compilation may look at and make."""


def is_long(value: Any) -> bool:
    """Whether a text or a number is too long to be written into generated code."""
    return (value.bit_length() if isinstance(value, int) else len(value)) > LONGEST_TEXT


class NotFolded(Exception):
    """A call is left to the run: its function may act, an argument has code of its own, or it would cost too much."""


# --- what it may cost -----------------------------------------------------------------------------------------------


class Budget:
    """What one compilation has spent on calls, in items looked at and made."""

    def __init__(self, limit: int = MOST_WORK) -> None:
        self.limit = limit
        self.spent = 0


_budget: ContextVar[Budget | None] = ContextVar("budget", default=None)


@contextlib.contextmanager
def limited(budget: Budget | None = None) -> Iterator[Budget]:
    """Calls that are made inside share one budget."""
    token = _budget.set(budget or Budget())
    try:
        found = _budget.get()
        assert found is not None
        yield found
    finally:
        _budget.reset(token)


def charge(items: float) -> None:
    """Spend some of the budget. Raises NotFolded where it is used up."""
    budget = _budget.get()
    if budget is None:
        return
    budget.spent += int(items)
    if budget.spent > budget.limit:
        raise NotFolded


# --- the calls ------------------------------------------------------------------------------------------------------


def call_pure(fn: Any, args: Iterable[Any], kwargs: dict[str, Any] | None = None) -> Any:
    """The result of a call of a pure function on plain values, which warns of nothing. Raises NotFolded where it is not
    made, else what the function raises. The arguments are not changed where they are copies that ``plain`` made."""
    args, kwargs = tuple(args), kwargs or {}
    if not is_pure(fn):
        raise NotFolded
    size = sum(map(_size, args)) + sum(map(_size, kwargs.values()))
    grown = _grown(fn, args, kwargs)
    if grown > MOST_ITEMS:
        raise NotFolded
    charge(1 + size + grown)
    with without_warnings(), np.errstate(all="ignore"):
        made = _by_scipy(fn, args, kwargs) if _is_multimethod(fn) else fn(*args, **kwargs)
    charge(0 if type(made) is range else _size(made))  # its items are not made
    return made


def plain(value: Any) -> Any:
    """A value to call a function with, which cannot change it: itself, or a copy of a container. Raises NotFolded where
    it has code of its own, or is too large."""
    kind = type(value)
    if kind in _IMMUTABLE or (issubclass(kind, np.generic) and kind in _NUMBERS):
        if _size(value) > MOST_ITEMS:
            raise NotFolded
        return value
    if kind in (tuple, list, set, frozenset):
        if len(value) > MOST_ITEMS:
            raise NotFolded
        return kind([plain(item) for item in value])
    if kind is dict:
        if len(value) > MOST_ITEMS:
            raise NotFolded
        return {plain(key): plain(item) for key, item in value.items()}
    if kind is slice:
        return slice(plain(value.start), plain(value.stop), plain(value.step))
    if kind is np.ndarray and not value.dtype.hasobject and value.size <= MOST_ITEMS:
        return value.copy()
    if kind is types.ModuleType and inspection.is_own_module(value.__name__):
        return value
    if _is_plain_class(value) or is_pure(value) or _is_plain_subclass(kind):
        return value
    raise NotFolded


_IMMUTABLE = frozenset({
    int, float, complex, bool, str, bytes, range, type(None), type(Ellipsis), type(NotImplemented), type(np._NoValue),
})
_NUMBERS = frozenset(np.dtype(character).type for character in "?bBhHiIlLqQefdgFDG")
_DTYPES = frozenset(type(np.dtype(character)) for character in "?bBhHiIlLqQefdgFDGOSU")


def _is_plain_class(value: Any) -> bool:
    """Whether it is a dtype, or a class that says nothing of itself: one of Python's or NumPy's."""
    kind = type(value)
    if issubclass(kind, np.dtype):
        return kind in _DTYPES
    return issubclass(kind, type) and not inspection.is_foreign(value)


def _is_plain_subclass(kind: type) -> bool:
    """Whether objects of a class are numbers, texts or members of an ``Enum`` whose methods are Python's own, or are of
    a class of Python's, NumPy's or SciPy's that does not change: ``np.finfo``."""
    if any(inspection.is_foreign(base) for base in inspection.mro_of(kind)):
        return issubclass(kind, (int, float, complex, str, bytes, enum.Enum)) and not any(
            inspection.has_hook(kind, name) for base in inspection.mro_of(kind) if inspection.is_foreign(base)
            for name, found in vars(base).items()
            if name.startswith("__") and name not in _HARMLESS and type(found) not in _NO_CODE)
    return issubclass(kind, enum.Enum) or kind in (np.finfo, np.iinfo, types.GenericAlias, types.UnionType)


_NO_CODE = frozenset({str, int, tuple, type(None)})
"""Types of what a class says of itself: ``__module__``, ``__firstlineno__``."""

_HARMLESS = frozenset({"__new__", "__init__", "__reduce_ex__", "__reduce__", "__set_name__", "__init_subclass__"})


# --- which functions ------------------------------------------------------------------------------------------------

def is_pure(fn: Any) -> bool:
    """Whether a function is known to be pure."""
    kind = type(fn)
    if kind is functools._lru_cache_wrapper:
        return _is_trusted(fn.__wrapped__) and (type(fn.__wrapped__) is types.FunctionType or is_pure(fn.__wrapped__))
    if kind is types.MethodDescriptorType and fn.__objclass__ is np.generic:
        fn = getattr(np.ndarray, fn.__name__, fn)
    if kind not in _FUNCTIONS and issubclass(kind, type):
        return not inspection.is_foreign(fn) and gives_the_same(fn)
    return (kind in _FUNCTIONS or _is_multimethod(fn)) and gives_the_same(fn) and _is_trusted(fn)


_FUNCTIONS = frozenset({
    types.FunctionType, type(np.sum), types.BuiltinFunctionType, types.WrapperDescriptorType, types.MethodType,
    types.ClassMethodDescriptorType, types.MethodDescriptorType, np.ufunc,
})


def _is_trusted(fn: Any) -> bool:
    """Whether a function, by its code, is Python's, NumPy's, SciPy's or of this package."""
    inner = getattr(fn, "__func__", fn) if type(fn) is types.MethodType else fn
    if type(inner) is types.FunctionType:
        return inspection.is_own_module(inner.__globals__.get("__name__"))
    return True


def _is_multimethod(fn: Any) -> bool:
    """Whether it is a function of ``scipy.fft``, for which the program may register code of its own."""
    return type(fn).__module__ == "uarray" and not inspection.is_written(type(fn))


def _by_scipy(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a multimethod by SciPy's own code, whatever the program has registered."""
    made = sys.modules["scipy.fft._backend"]._ScipyBackend.__ua_function__(fn, args, kwargs)
    if made is NotImplemented:
        raise NotFolded
    return made


# --- how much -------------------------------------------------------------------------------------------------------


def _size(value: Any) -> int:
    """How many items, characters or words a value has."""
    kind = type(value)
    if kind is int:
        return int(value.bit_length() >> 6)
    if kind in (str, bytes, range, list, tuple, set, frozenset, dict):
        return _length(value)
    return int(value.size) if kind is np.ndarray else 1


def _length(value: Any) -> int:
    try:
        return len(value)
    except OverflowError:  # a range beyond what a length may be
        return sys.maxsize


def _grown(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> float:
    """How large the result of a call may become, where it may be much larger than what goes in."""
    grows = _GROWS.get(fn) if inspection.is_hashable(fn) else None
    if grows is None:
        return _large_number(args, kwargs) if _package_of(fn) == "scipy" else 0
    try:
        return grows(*args, **kwargs)
    except (TypeError, ValueError, AttributeError, OverflowError):
        return 0 if grows is not _formatted else math.inf


def _package_of(fn: Any) -> str:
    return str(getattr(fn, "__module__", "")).partition(".")[0]


def _large_number(args: tuple[Any, ...], kwargs: dict[str, Any]) -> float:
    """The largest whole number that is given: a length, perhaps."""
    given = [v for a in (*args, *kwargs.values()) for v in (a if isinstance(a, (tuple, list)) else (a,))]
    return max((abs(v) for v in given if type(v) is int), default=0)


def _bits(value: Any) -> int:
    return value.bit_length() if isinstance(value, int) else 0


def _power(base: Any, exponent: Any, modulus: Any = None) -> float:
    integers = isinstance(base, int) and isinstance(exponent, int) and modulus is None
    return _bits(base) * exponent if integers and exponent > 0 and abs(base) > 1 else 0


def _shifted(value: Any, count: Any) -> float:
    return _bits(value) + count if value else 0


def _product(a: Any, b: Any) -> float:
    for items, count in ((a, b), (b, a)):
        if isinstance(items, (str, bytes, list, tuple)) and isinstance(count, int):
            return len(items) * count
    return _bits(a) + _bits(b)


def _factorial(n: Any) -> float:
    cost: float = n * _bits(n)
    return cost


def _chosen(n: Any, k: Any = None) -> float:
    k = n if k is None else k
    cost: float = min(k, n) * _bits(n)
    return cost


def _long_product(items: Any, start: Any = 1) -> float:
    return _long(items, max(map(_bits, items), default=0))


def _long(items: Any, each: float = 1) -> float:
    return _length(items) * each


def _every(items: Any, *rest: Any, **options: Any) -> float:
    return _size(items)


def _formatted_value(value: Any, spec: Any = "", *rest: Any) -> float:
    return _formatted(spec) + _formatted(rest[0] if rest else "") + _size(value)


def _wide(text: Any, width: Any = 0, *fill: Any) -> float:
    return width  # type: ignore[no-any-return]


def _tabs(text: Any, width: Any = 8) -> float:
    return len(text) * width  # type: ignore[no-any-return]


def _replaced(text: Any, old: Any, new: Any, *count: Any) -> float:
    return (len(text) + 1) * len(new)


def _joined(text: Any, items: Any) -> float:
    return sum(map(len, items)) + len(text) * len(items)


def _formatted(text: Any, *values: Any, **named: Any) -> float:
    """The widths and precisions that a format has."""
    if not isinstance(text, (str, bytes)):
        return 0
    shown = text.decode("latin-1") if isinstance(text, bytes) else text
    given: tuple[Any, ...] = (*values, *named.values())
    if "{" in shown or "*" in shown:  # a width may come from a value
        inside = [v for value in given for v in (value if isinstance(value, (tuple, list)) else (value,))]
        numbers = [abs(v) for v in inside if isinstance(v, int)]
    else:
        numbers = []
    numbers += map(int, re.findall(r"\d{1,18}", shown))
    return len(shown) + sum(map(_size, given)) * 20 + max(numbers, default=0)


def _remainder(a: Any, b: Any) -> float:
    return _formatted(a, b) if isinstance(a, (str, bytes)) else 0


_ARRAYS = 50
"""An item of an array costs so much less than one of a list."""


def _count(a: Any) -> int:
    return int(np.size(a))


def _numbers(value: Any) -> float:
    """The product of whole numbers in an argument that says how often, or how long."""
    if isinstance(value, (tuple, list)):
        return math.prod(map(_numbers, value)) if value else 1
    if isinstance(value, np.ndarray):
        return _count(value)
    return max(float(abs(value)), 1.0) if isinstance(value, (int, float)) else 1.0


def _highest(a: Any) -> float:
    return float(np.max(a)) if np.size(a) else 0


_TRANSFORMS = tuple(getattr(np.fft, name) for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")) + tuple(
    getattr(np.fft, name) for name in ("fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn"))

def _contracted(subscripts: Any, *operands: Any, **options: Any) -> float:
    """The items of the result of an einsum, where they are more than an example has."""
    lengths: dict[str, int] = {}
    for letters, operand in zip(rt.einsum_inputs(subscripts), operands, strict=True):
        lengths.update(zip(letters, np.shape(operand), strict=True))
    items = math.prod(lengths.get(letter, 1) for letter in rt.einsum_output(subscripts))
    return items if items > MOST_CONTRACTED else 0


_GROWS: dict[Any, Callable[..., float]] = {
    **dict.fromkeys((operator.pow, operator.ipow, pow, rt.power), _power),
    **dict.fromkeys((operator.lshift, operator.ilshift), _shifted),
    **dict.fromkeys((operator.mul, operator.imul), _product),
    math.factorial: _factorial,
    np.einsum: _contracted,
    **dict.fromkeys((math.comb, math.perm), _chosen),
    math.prod: _long_product,
    math.lcm: lambda *numbers: sum(map(_bits, numbers)),
    **dict.fromkeys((list, tuple, sum, max, min, sorted, any, all, math.fsum), _every),
    **dict.fromkeys((str.ljust, str.rjust, str.center, str.zfill, bytes.ljust, bytes.rjust, bytes.zfill), _wide),
    **dict.fromkeys((str.expandtabs, bytes.expandtabs), _tabs),
    **dict.fromkeys((str.replace, bytes.replace), _replaced),
    **dict.fromkeys((str.join, bytes.join), _joined),
    **dict.fromkeys((str.format, str.format_map), _formatted),
    **dict.fromkeys((operator.mod, operator.imod), _remainder),
    **dict.fromkeys((builtins.bytes, builtins.bytearray), lambda n=0, *rest: n if isinstance(n, int) else _size(n)),
    **dict.fromkeys((builtins.format, ops.format_value), _formatted_value),
    **dict.fromkeys((np.zeros, np.ones, np.empty, np.full), lambda shape, *rest, **options: _numbers(shape) / _ARRAYS),
    np.indices: lambda dimensions, *rest, **options: _numbers(dimensions) * len(dimensions) / _ARRAYS,
    **dict.fromkeys((np.eye, np.tri), lambda n, m=None, *rest, **options: n * (m or n) / _ARRAYS),
    np.identity: lambda n, *rest, **options: n * n / _ARRAYS,
    np.tile: lambda a, reps: _count(a) * _numbers(reps),
    np.repeat: lambda a, repeats, axis=None: _count(a) * _numbers(repeats),
    np.pad: lambda a, width, *rest, **options: (_count(a) ** (1 / max(np.ndim(a), 1)) + _numbers(width)) ** np.ndim(a),
    np.resize: lambda a, shape: _numbers(shape),
    np.vander: lambda a, n=None, *rest: _count(a) * (n or _count(a)),
    np.polyfit: lambda x, y, degree, *rest, **options: _count(x) * degree,
    np.bincount: lambda a, weights=None, minlength=0: _highest(a) + minlength,
    **dict.fromkeys((np.histogram, np.histogram_bin_edges), lambda a, bins=10, *rest, **options: _numbers(bins)),
    **dict.fromkeys((np.histogram2d, np.histogramdd), lambda a, *rest, **options: _numbers(
        [v for v in (*rest, *options.values()) if v is not None] or [1]) ** 2),
    **dict.fromkeys(_TRANSFORMS, lambda a, n=None, *rest, **options: _numbers(options.get("s", n) or 1)),
    np.binary_repr: lambda number, width=0: width or 0,
    np.base_repr: lambda number, base=2, padding=0: _bits(number) + padding,
    np.linalg.matrix_power: lambda a, n: _count(a) * _bits(n),
    **dict.fromkeys((np.diff, np.array_split, np.split), lambda a, n=1, *rest, **options: _numbers(n)),
    int.to_bytes: lambda n, length=1, *rest, **options: length,
}
"""Functions whose result may be much larger than what goes in, and how large it becomes: in items, characters or bits.
"""
