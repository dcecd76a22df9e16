"""Abstract evaluation: the abstract value of a call from those of its arguments.

Types, dtypes and shapes of NumPy's functions are not written down here: NumPy is asked, by calling the function on
small arrays that stand for the arguments. Each symbolic length gets one size in a first call and another in a second;
a length of the result is known where both calls agree on ``symbol + offset``.
"""

from __future__ import annotations

import builtins
import itertools
import math
import operator
import types
import warnings
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Sequence as AbstractSequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from s2s import ir, ops
from s2s import runtime as rt
from s2s.analysis.numbers import (
    ANY_FLOAT,
    ANY_REAL,
    ANY_SCALAR,
    alternatives,
    is_exact,
    of_types,
    open_types,
    possible_types,
    settled,
)
from s2s.analysis.shapes import Facts, broadcast, index_shape, product, slice_length
from s2s.analysis.values import (
    UNKNOWN,
    AbstractValue,
    Array,
    Closure,
    Dim,
    Known,
    ListOf,
    Mapping,
    Range,
    Scalar,
    Sequence,
    Unknown,
    is_record_class,
)
from s2s.rules import table

_DATA_DEPENDENT: set[Any] = {
    np.nonzero, np.flatnonzero, np.argwhere, np.unique, np.compress, np.extract, np.trim_zeros, np.ndarray.nonzero,
    np.ndarray.compress, np.roots, np.ndarray.tolist, np.ndarray.item, np.union1d, np.intersect1d, np.setdiff1d,
    np.setxor1d, np.unique_values, np.unique_all, np.real_if_close, np.polydiv,
}

_COMPLEX_BY_VALUE: set[Any] = {np.linalg.eig, np.linalg.eigvals}
"""Functions whose result for real arguments is complex, or not, depending on the values."""

_ELEMENTWISE_OPERATORS: set[Any] = {
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
    operator.neg, operator.pos, operator.invert, operator.and_, operator.or_, operator.xor, operator.lshift,
    operator.rshift, operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge,
    operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ifloordiv, operator.imod, operator.ipow,
    builtins.abs, operator.abs, np.where,
}


def known(value: Any) -> Known:
    """The abstract value of an object that is known."""
    return Known(ir.Const(value))


def is_number(value: AbstractValue) -> bool:
    """Whether it is certainly a scalar number (no array, no container)."""
    return isinstance(value, Scalar) or (
        isinstance(value, Known) and isinstance(value.value, (int, float, complex, np.number))
    )


def rank(value: AbstractValue) -> int | None:
    """The number of dimensions, where it is known."""
    if is_number(value):
        return 0
    if isinstance(value, Array) and value.shape is not None:
        return len(value.shape)
    return None


def shape_of(value: AbstractValue) -> tuple[Dim, ...] | None:
    """The symbolic shape, where the rank is known."""
    if is_number(value):
        return ()
    return value.shape if isinstance(value, Array) else None


def type_of(value: AbstractValue) -> type | None:
    """The exact type, where it is known."""
    match value:
        case Known():
            return type(value.value)
        case Scalar(kind) if is_exact(kind):
            return kind
        case Array():
            return np.ndarray
        case Sequence(kind):
            return kind
        case Mapping():
            return dict
        case ListOf():
            return list
        case Range():
            return range
        case _:
            return None


def dtype_of(value: AbstractValue) -> np.dtype[Any] | None:
    """The dtype that a cotangent of this value must have: None for Python numbers and where it is not known."""
    if isinstance(value, Array):
        return value.dtype
    if isinstance(value, Scalar) and issubclass(value.type, np.generic):
        return np.dtype(value.type)
    return None


def truth(value: AbstractValue) -> bool | None:
    """The truth value, where it is known."""
    match value:
        case Known():
            try:
                return bool(value.value)
            except Exception:
                return None
        case Sequence(kind, items) if kind in (tuple, list):
            return bool(items)
        case Mapping(keys):
            return bool(keys)
        case Closure():
            return True
        case _:
            return None


def join(a: AbstractValue, b: AbstractValue, facts: Facts) -> AbstractValue:
    """What is known of a variable that holds one or the other."""
    if a == b:
        return a
    if isinstance(a, Known) and a.const == ir.UNDEFINED:
        return b
    if isinstance(b, Known) and b.const == ir.UNDEFINED:
        return a
    if is_number(a) and is_number(b):
        return of_types({v.type if isinstance(v, Scalar) else type(v.value) for v in (a, b)})  # type: ignore[union-attr]
    match a, b:
        case Array(dtype, shape), Array(other, more) if dtype == other:
            if shape is None or more is None or len(shape) != len(more):
                return Array(dtype, None)
            return Array(dtype, tuple(facts.joined(m, n) for m, n in zip(shape, more, strict=True)))
        case Sequence(kind, items), Sequence(other_kind, others) if kind is other_kind:
            if len(items) == len(others):
                return Sequence(kind, tuple(join(i, j, facts) for i, j in zip(items, others, strict=True)))
            if kind is list:
                return ListOf(join_all([*items, *others], facts))
        case (ListOf(item), Sequence(kind, items)) | (Sequence(kind, items), ListOf(item)) if kind is list:
            return ListOf(join_all([item, *items], facts))
        case ListOf(item), ListOf(other_item):
            return ListOf(join(item, other_item, facts))
        case Range(), Range():
            return Range()
    return UNKNOWN


def join_all(values: AbstractSequence[AbstractValue], facts: Facts) -> AbstractValue:
    """The join of several."""
    if not values:
        return known(ir.UNDEFINED.value)
    first = values[0]
    for value in values[1:]:
        first = join(first, value, facts)
    return widen_known(first)


def widen_known(value: AbstractValue) -> AbstractValue:
    """A known number as a number of its type: what an item of a list or a loop variable becomes. A nested function
    is another one in each trip."""
    if isinstance(value, Closure):
        return UNKNOWN
    if isinstance(value, Known) and type(value.value) in (int, float, complex):
        return Scalar(type(value.value))
    return value


# --- evaluation -----------------------------------------------------------------------------------------------------


@dataclass
class Evaluator:
    """Gives abstract values of calls; ``facts`` collects what was assumed about lengths."""

    facts: Facts = field(default_factory=Facts)

    def call(
        self, fn: Any, args: tuple[AbstractValue, ...], kwargs: dict[str, AbstractValue] | None = None
    ) -> AbstractValue:
        """The abstract value of ``fn(*args, **kwargs)``; UNKNOWN where nothing can be said."""
        kwargs = kwargs or {}
        special = _SPECIAL.get(fn) if _hashable(fn) else None
        if is_record_class(fn) and not kwargs:
            return Sequence(fn, args)
        if special is not None and not kwargs:
            found = special(self, *args)
            if found is not None:
                return found
        if _is_pure(fn) and all(isinstance(a, Known) for a in (*args, *kwargs.values())):
            return _on_constants(fn, args, kwargs)
        if is_elementwise(fn) and not kwargs:
            return self.elementwise(fn, args)
        if not _hashable(fn) or fn in _DATA_DEPENDENT:
            return UNKNOWN
        if fn is np.arange and any(isinstance(a, Scalar) and not _is_integer(a) for a in args):
            return Array(np.dtype(float), (self.facts.fresh_dim(),)) if not kwargs else UNKNOWN
        if fn in _COMPLEX_BY_VALUE and not any(map(_is_complex_array, args)):
            return UNKNOWN
        if fn is np.where and len(args) == 1:
            return UNKNOWN
        rule = table.find(fn)
        if rule is not None and not rule.by_value and _may_be_tried(fn):
            found = self.probe(fn, args, kwargs)
            return _of_dtype(fn, args, kwargs) if isinstance(found, Unknown) and fn in _MAKE_ARRAYS else found
        return UNKNOWN

    # --- elementwise

    def elementwise(self, fn: Any, args: tuple[AbstractValue, ...]) -> AbstractValue:
        """The result of a ufunc or an operator: its type by a call on one element, its shape by broadcasting."""
        dims = self._length_arithmetic(fn, args)
        if dims is not None:
            return dims
        if all(isinstance(a, Known) for a in args):
            return _on_constants(fn, args)
        if any(isinstance(a, (Sequence, ListOf, Mapping)) for a in args):
            return self.probe(fn, args, {}) if not any(isinstance(a, ListOf) for a in args) else UNKNOWN
        if ANY_SCALAR in args:
            return ANY_SCALAR if all(map(is_number, args)) and fn is not np.where else UNKNOWN
        kinds = open_types(args)
        if kinds:
            return self._on_every_path(fn, args, {}, kinds)
        if any(isinstance(a, Array) and a.shape is None for a in args):
            ones = tuple(Array(a.dtype, (Dim("", 1),)) if isinstance(a, Array) else a for a in args)
            made = _element_result(fn, ones)
            return Array(made.dtype, None) if isinstance(made, Array) else UNKNOWN
        made = _element_result(fn, args)
        if not isinstance(made, Array):
            return made
        shapes = [shape_of(a) for a in args]
        if any(s is None for s in shapes):
            return UNKNOWN
        try:
            return Array(made.dtype, broadcast([s for s in shapes if s is not None], self.facts))
        except ValueError:
            return UNKNOWN

    def _on_every_path(
        self, fn: Any, args: tuple[AbstractValue, ...], kwargs: dict[str, AbstractValue], kinds: set[type]
    ) -> AbstractValue:
        """What comes of numbers whose types depend on the path taken: what is the same for all of them."""
        found: AbstractValue | None = None
        for chosen in alternatives(kinds):
            named = {k: settled(v, chosen) for k, v in kwargs.items()}
            made = self.call(fn, tuple(settled(a, chosen) for a in args), named)
            found = made if found is None else join(found, made, self.facts)
            if isinstance(found, Unknown):
                return UNKNOWN
        assert found is not None
        power = fn is operator.pow and not (isinstance(args[1], Known) and type(args[1].value) is int)
        return ANY_SCALAR if power and isinstance(found, Scalar) else found  # complex for a negative float

    def _length_arithmetic(self, fn: Any, args: tuple[AbstractValue, ...]) -> AbstractValue | None:
        """Sums and differences of lengths and constants stay lengths."""
        if fn not in (operator.add, operator.sub) or len(args) != 2:
            return None
        a, b = (_dim_value(v) for v in args)
        if a is None or b is None or (a.is_constant and b.is_constant):
            return None
        sign = 1 if fn is operator.add else -1
        if b.is_constant:
            return Scalar(int, Dim(a.symbol, a.offset + sign * b.offset))
        if a.is_constant and sign == 1:
            return Scalar(int, Dim(b.symbol, a.offset + b.offset))
        if a.symbol == b.symbol and sign == -1:
            return known(a.offset - b.offset)
        return Scalar(int)

    # --- by example

    def probe(self, fn: Any, args: tuple[AbstractValue, ...], kwargs: dict[str, AbstractValue]) -> AbstractValue:
        """The result of a pure function, by calling it on two small examples."""
        kinds = open_types((*args, *kwargs.values()))
        if kinds:
            return self._on_every_path(fn, args, kwargs, kinds)
        unknown = itertools.count()
        args = tuple(_with_symbols(a, unknown) for a in args)
        kwargs = {k: _with_symbols(v, unknown) for k, v in kwargs.items()}
        dims: list[Dim] = []
        for value in (*args, *kwargs.values()):
            _collect_dims(value, dims)
        symbols = list(dict.fromkeys(d.symbol for d in dims))
        if len(symbols) > 7:
            return UNKNOWN
        for merged in _mergers(dims, _constant_lengths((*args, *kwargs.values()))):
            sizes = _sizes(symbols, merged)
            try:
                results = [_run_example(fn, args, kwargs, size) for size in sizes]
            except _NoExample:
                return UNKNOWN
            except Exception:
                continue
            self.facts.forced += merged
            return self._abstract(results[0], results[1], sizes)
        return UNKNOWN

    def _abstract(self, one: Any, two: Any, sizes: list[dict[str, int]]) -> AbstractValue:
        if type(one) is not type(two):
            return UNKNOWN
        if type(one) is np.ndarray:
            if one.ndim != two.ndim or one.dtype != two.dtype or one.dtype == object:
                return UNKNOWN
            dims = tuple(self._dim(m, n, sizes) for m, n in zip(one.shape, two.shape, strict=True))
            return Array(one.dtype, dims)
        if type(one) is int:
            dim = self._dim(one, two, sizes)
            return Scalar(int, dim if dim.symbol and not dim.symbol.startswith("?") else None)
        if isinstance(one, (float, complex, bool, np.generic)):
            return Scalar(type(one))
        if isinstance(one, (tuple, list)) and len(one) == len(two):
            return Sequence(type(one), tuple(self._abstract(a, b, sizes) for a, b in zip(one, two, strict=True)))
        if one is None or (isinstance(one, (str, type, np.dtype)) and one == two):
            return known(one)
        return UNKNOWN

    def _dim(self, one: int, two: int, sizes: list[dict[str, int]]) -> Dim:
        if one == two:
            return Dim("", one)
        for symbol in sizes[0]:
            if one - sizes[0][symbol] == two - sizes[1][symbol] and not symbol.startswith("?int"):
                return Dim(symbol, one - sizes[0][symbol])
        return self.facts.fresh_dim()


def _is_integer(value: Scalar) -> bool:
    return issubclass(value.type, (int, np.integer))


def _is_complex_array(value: AbstractValue) -> bool:
    return isinstance(value, Array) and value.dtype.kind == "c"


def _may_be_tried(fn: Any) -> bool:
    """Whether calling a function at compile time has no effect that anybody sees."""
    owner = getattr(fn, "__objclass__", None)
    module: str = getattr(fn, "__module__", None) or getattr(owner, "__module__", None) or ""
    if module == "builtins":
        return fn in _TRIED
    return not module.startswith("numpy.random") and fn not in (np.save, np.savez, np.load, np.seterr)


_TRIED = {abs, pow, max, min, sum, float, int, complex, bool, round, divmod, list, tuple, sorted, all, any, str, repr}


def _hashable(fn: Any) -> bool:
    try:
        hash(fn)
    except TypeError:
        return False
    return True


def is_elementwise(fn: Any) -> bool:
    """Whether a function gives for each element of its arguments, broadcast, one element."""
    if isinstance(fn, np.ufunc):
        return fn.nout == 1 and fn.signature is None
    return _hashable(fn) and (fn in _ELEMENTWISE_OPERATORS or getattr(fn, "__module__", None) == "math")


def _is_pure(fn: Any) -> bool:
    """Whether a function of constants gives the same constant each time: a method of a string or a number, a question
    about dtypes."""
    if isinstance(fn, types.MethodDescriptorType):
        return fn.__objclass__ in (str, bytes, int, float, complex, np.dtype)
    return _hashable(fn) and fn in _ABOUT_DTYPES


_ABOUT_DTYPES: set[Any] = {
    np.finfo, np.iinfo, np.dtype, np.issubdtype, np.result_type, np.promote_types, np.can_cast, issubclass,
}

_MAKE_ARRAYS: dict[Any, int] = {
    np.array: 1, np.asarray: 1, np.zeros: 1, np.ones: 1, np.empty: 1, np.full: 2, np.ascontiguousarray: 1,
}
"""Functions whose result is an array, whatever they are given, and the position of ``dtype``."""


def _of_dtype(fn: Any, args: tuple[AbstractValue, ...], kwargs: dict[str, AbstractValue]) -> AbstractValue:
    """An array of the dtype that is asked for."""
    place = _MAKE_ARRAYS[fn]
    asked = args[place] if len(args) > place else kwargs.get("dtype")
    if not isinstance(asked, Known) or asked.value is None or set(kwargs) & {"subok", "like", "ndmin"}:
        return UNKNOWN
    try:
        dtype = np.dtype(asked.value)
    except TypeError:
        return UNKNOWN
    return Array(dtype, None) if dtype.kind in "biufc" else UNKNOWN


def _on_constants(
    fn: Any, args: tuple[AbstractValue, ...], kwargs: dict[str, AbstractValue] | None = None
) -> AbstractValue:
    """The result on known objects: itself where it is an option or an integer, its type where it is a float."""
    named = {k: a.value for k, a in (kwargs or {}).items() if isinstance(a, Known)}
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            made = fn(*(a.value for a in args if isinstance(a, Known)), **named)
    except Exception:
        return UNKNOWN
    if type(made) in (int, bool, str, bytes) or isinstance(made, (np.dtype, np.finfo, np.iinfo)):
        return known(made)
    return Scalar(type(made)) if isinstance(made, (float, complex, np.generic)) else UNKNOWN


def _dim_value(value: AbstractValue) -> Dim | None:
    if isinstance(value, Scalar) and value.dim is not None:
        return value.dim
    if isinstance(value, Known) and type(value.value) is int:
        return Dim("", value.value)
    return None


_element_results: dict[Any, AbstractValue] = {}


def _element_result(fn: Any, args: tuple[AbstractValue, ...]) -> AbstractValue:
    key = (fn, tuple(_element_key(a) for a in args))
    if key not in _element_results:
        _element_results[key] = _try_element(fn, args)
    return _element_results[key]


def _element_key(value: AbstractValue) -> Any:
    match value:
        case Array(dtype, shape):
            return (dtype, None if shape is None else min(len(shape), 1))
        case Scalar(kind):
            return kind
        case _:
            return value


def _try_element(fn: Any, args: tuple[AbstractValue, ...]) -> AbstractValue:
    if any(isinstance(a, (Unknown, Closure, Range)) for a in args):
        return UNKNOWN
    for at in (0.5, 1.5):
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                made = fn(*(_one_element(a, at) for a in args))
        except Exception:
            continue
        if type(made) is np.ndarray and made.dtype != object:
            return Array(made.dtype, ())
        if isinstance(made, (int, float, complex, bool, np.generic)):
            return Scalar(type(made))
    return UNKNOWN


def _one_element(value: AbstractValue, at: float) -> Any:
    match value:
        case Array(dtype, shape):
            return np.full((1,) * min(len(shape or ()), 1), at if dtype.kind in "fc" else 1).astype(dtype)
        case Scalar(kind):
            return _scalar_example(kind, at)
        case Known():
            return value.value
        case _:
            raise ValueError("no element of this kind")


def _scalar_example(kind: Any, at: float) -> Any:
    if issubclass(kind, (bool, np.bool_)):
        return kind(True)
    return kind(at) if issubclass(kind, (float, complex, np.inexact)) else kind(2)


def _with_symbols(value: AbstractValue, unknown: Iterator[int]) -> AbstractValue:
    """A value whose unknown integers have symbols: they may be lengths (``np.zeros(n)``)."""
    match value:
        case Scalar(kind, None) if kind is int or (isinstance(kind, type) and issubclass(kind, np.integer)):
            return Scalar(int, Dim(f"?int{next(unknown)}"))
        case Sequence(kind, items) if kind is not slice:
            return Sequence(kind, tuple(_with_symbols(i, unknown) for i in items))
        case _:
            return value


class _NoExample(Exception):
    """There is no example of an argument: its value may decide the shape of the result."""


def _collect_dims(value: AbstractValue, found: list[Dim]) -> None:
    match value:
        case Array(_, shape):
            found.extend(d for d in shape or () if d.symbol and d not in found)
        case Scalar(_, dim) if dim is not None and dim.symbol and dim not in found:
            found.append(dim)
        case Sequence(_, items) | Mapping(_, items):
            for item in items:
                _collect_dims(item, found)
        case ListOf(item):
            found.append(Dim("?list"))
            _collect_dims(item, found)
        case _:
            pass


Merged: TypeAlias = tuple[tuple[Dim, Dim], ...]


def _constant_lengths(values: Iterable[AbstractValue]) -> list[Dim]:
    """The known lengths of arrays, which unknown ones may have to equal."""
    found = {d: None for v in values if isinstance(v, Array) for d in v.shape or () if d.is_constant and d.offset > 1}
    return list(found)


def _mergers(dims: list[Dim], constants: list[Dim]) -> Iterator[Merged]:
    """Which lengths to take for equal: none, one pair, two pairs. A call that needs two lengths to be equal (``X @ w``)
    fails on examples where they are not; where it runs with them equal, they are equal in the user's run as well."""
    lengths = [d for d in dims if not d.symbol.startswith("?int")]
    pairs = [(a, b) for a, b in itertools.combinations(lengths, 2) if a.symbol != b.symbol]
    yield ()
    for pair in pairs:
        yield (pair,)
    if len(pairs) <= 20:
        for two in itertools.combinations(pairs, 2):
            if two[0][1].symbol != two[1][1].symbol:
                yield two
    for constant in constants:
        for length in lengths:
            if constant.offset > length.offset:
                yield ((constant, length),)


def _sizes(symbols: list[str], merged: Merged) -> list[dict[str, int]]:
    """Two sizes for each symbol, such that no two lengths agree by accident in both; in the other order in the second,
    so that the lesser of two lengths (the number of singular values) is not taken for one of them."""
    parts = dict.fromkeys(p for s in symbols for p in s.lstrip("*").split("*"))
    one = {s: 5 + 2 * k for k, s in enumerate(parts)}
    two = {s: 5 + 3 * 2 ** (len(parts) - k) for k, s in enumerate(parts)}
    for symbol in symbols:
        if symbol.startswith("*"):
            for size in (one, two):
                size[symbol] = math.prod(size[p] for p in symbol[1:].split("*"))
    for size in (one, two):
        for a, b in merged:
            size[b.symbol] = size.get(a.symbol, 0) + a.offset - b.offset
    return [one, two]


def _run_example(
    fn: Any, args: tuple[AbstractValue, ...], kwargs: dict[str, AbstractValue], sizes: dict[str, int]
) -> Any:
    made = [_example(a, sizes) for a in args]
    named = {k: _example(v, sizes) for k, v in kwargs.items()}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return fn(*made, **named)


def _example(value: AbstractValue, sizes: dict[str, int]) -> Any:
    match value:
        case Known():
            return value.value
        case Scalar(kind, dim):
            if dim is not None:
                return sizes.get(dim.symbol, 0) + dim.offset
            if kind is object or (issubclass(kind, (int, np.integer)) and not issubclass(kind, bool)):
                raise _NoExample
            return _scalar_example(kind, 0.5)
        case Array(dtype, shape) if shape is not None:
            return _example_array(dtype, tuple(sizes.get(d.symbol, 0) + d.offset for d in shape))
        case Sequence(kind, items):
            made = [_example(i, sizes) for i in items]
            if kind is slice:
                return slice(*made)
            return kind(*made) if hasattr(kind, "_fields") else kind(made)
        case Mapping(keys, items):
            return dict(zip(keys, (_example(i, sizes) for i in items), strict=True))
        case ListOf(item):
            return [_example(item, sizes)] * sizes["?list"]
        case _:
            raise _NoExample


def _example_array(dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Positive definite in its last two dimensions where these are equal, so that linear algebra accepts it."""
    if dtype.kind in "iu":
        return np.zeros(shape, dtype)
    made = np.zeros(shape)
    for axis, size in enumerate(shape[-2:]):
        line = np.arange(size, dtype=float)
        made = made + (line if axis == len(shape[-2:]) - 1 else -line[:, None])
    return np.asarray(1.0 / (1.0 + np.abs(made))).astype(dtype)


# --- special forms --------------------------------------------------------------------------------------------------


def _length(self: Evaluator, value: AbstractValue) -> AbstractValue | None:
    match value:
        case Known():
            return known(len(value.value))
        case Sequence(_, items) | Mapping(_, items):
            return known(len(items))
        case Array(_, shape) if shape:
            return known(shape[0].offset) if shape[0].is_constant else Scalar(int, shape[0])
        case _:
            return Scalar(int)


def _attribute(self: Evaluator, value: AbstractValue, name: AbstractValue) -> AbstractValue | None:
    if not isinstance(name, Known):
        return UNKNOWN
    shape = shape_of(value)
    dtype = dtype_of(value)
    if not isinstance(value, (Array, Scalar)) or (isinstance(value, Scalar) and dtype is None):
        return UNKNOWN
    match name.value:
        case "dtype":
            return known(dtype)
        case "ndim" if shape is not None:
            return known(len(shape))
        case "shape" if shape is not None:
            return Sequence(tuple, tuple(known(d.offset) if d.is_constant else Scalar(int, d) for d in shape))
        case "size":
            count = product(shape) if shape is not None else None
            return Scalar(int, count) if count is not None and count.symbol else Scalar(int)
        case "T" if shape is not None and isinstance(value, Array):
            return Array(value.dtype, shape[::-1])
        case "mT" if shape is not None and len(shape) > 1 and isinstance(value, Array):
            return Array(value.dtype, (*shape[:-2], shape[-1], shape[-2]))
        case "real" | "imag":
            return self.elementwise(np.real if name.value == "real" else np.imag, (value,))
        case _:
            return UNKNOWN


def _shape_call(self: Evaluator, value: AbstractValue) -> AbstractValue | None:
    shape = shape_of(value)
    if shape is None:
        return None
    return Sequence(tuple, tuple(known(d.offset) if d.is_constant else Scalar(int, d) for d in shape))


def _ndim_call(self: Evaluator, value: AbstractValue) -> AbstractValue | None:
    found = rank(value)
    return None if found is None else known(found)


def _size_call(self: Evaluator, value: AbstractValue) -> AbstractValue | None:
    if is_number(value):
        return known(1)
    return _attribute(self, value, known("size")) if isinstance(value, Array) else Scalar(int)


def _item(self: Evaluator, value: AbstractValue, index: AbstractValue) -> AbstractValue | None:
    match value, index:
        case Sequence(kind, items), Known() if isinstance(index.value, int) and kind is not slice:
            return items[index.value] if -len(items) <= index.value < len(items) else UNKNOWN
        case Sequence(kind, items), Known() if isinstance(index.value, slice):
            return Sequence(kind, tuple(items[index.value]))
        case Sequence(_, items), Scalar() if items:
            return join_all([*items], self.facts)
        case ListOf(item), (Scalar() | Known()):
            return item if not (isinstance(index, Known) and isinstance(index.value, slice)) else value
        case Mapping(keys, items), Known():
            return items[keys.index(index.value)] if index.value in keys else UNKNOWN
        case Range(), _:
            return Scalar(int)
        case Scalar(kind), (Known() | Sequence()) if issubclass(kind, np.generic):
            return _item_of_number(kind, index)
        case Array(dtype, shape), _ if shape is not None:
            try:
                dims = index_shape(shape, index, self.facts)
            except ValueError:
                return UNKNOWN
            if dims is None:
                return Array(dtype, None) if not isinstance(index, Unknown) else UNKNOWN
            return dims if isinstance(dims, Unknown) else Array(dtype, dims) if dims or _keeps_array(index) else Scalar(
                dtype.type)
        case _:
            return UNKNOWN


def _item_of_number(kind: type[np.generic], index: AbstractValue) -> AbstractValue:
    """A NumPy number read as an array of rank 0: ``x[()]``, ``x[None]``, ``x[..., None]``."""
    items = index.items if isinstance(index, Sequence) and index.type is tuple else (index,)
    if not all(isinstance(i, Known) and (i.value is None or i.value is Ellipsis) for i in items):
        return UNKNOWN
    return Array(np.dtype(kind), tuple(Dim("", 1) for i in items if i == known(None))) if items else Scalar(kind)


def _keeps_array(index: AbstractValue) -> bool:
    """``x[..., 0]`` of a vector is a 0-d array, ``x[0]`` a scalar."""
    items = index.items if isinstance(index, Sequence) and index.type is tuple else (index,)
    return any(isinstance(i, Known) and i.value is Ellipsis for i in items)


def _isinstance(self: Evaluator, value: AbstractValue, kinds: AbstractValue) -> AbstractValue | None:
    kind = type_of(value)
    if isinstance(kinds, Sequence) and all(isinstance(i, Known) for i in kinds.items):
        kinds = known(tuple(i.value for i in kinds.items))  # type: ignore[union-attr]
    if not isinstance(kinds, Known):
        return Scalar(bool)
    if isinstance(value, Scalar):
        answers = {issubclass(k, kinds.value) for k in possible_types(value.type)}
        return known(answers.pop()) if len(answers) == 1 else Scalar(bool)
    return Scalar(bool) if kind is None else known(issubclass(kind, kinds.value))


def _type(self: Evaluator, value: AbstractValue) -> AbstractValue | None:
    kind = type_of(value)
    return UNKNOWN if kind is None else known(kind)


def _is(self: Evaluator, a: AbstractValue, b: AbstractValue) -> AbstractValue | None:
    if isinstance(a, Known) and isinstance(b, Known):
        return known(a.value is b.value)
    for one, other in ((a, b), (b, a)):
        if isinstance(one, Known) and one.value is None and not isinstance(other, Unknown):
            return known(False)
    return Scalar(bool)


def _is_not(self: Evaluator, a: AbstractValue, b: AbstractValue) -> AbstractValue | None:
    found = _is(self, a, b)
    return known(not found.value) if isinstance(found, Known) else found


def _not(self: Evaluator, a: AbstractValue) -> AbstractValue | None:
    found = truth(a)
    return Scalar(bool) if found is None else known(not found)


def _to(kind: type) -> Callable[..., AbstractValue]:
    def result(self: Evaluator, *args: AbstractValue) -> AbstractValue:
        if kind is int and len(args) == 1 and isinstance(args[0], Scalar) and args[0].type is int:
            return args[0]
        return Scalar(kind)

    return result


def _sequence(kind: type) -> Callable[..., AbstractValue]:
    def result(self: Evaluator, *items: AbstractValue) -> AbstractValue:
        return Sequence(kind, items)

    return result


def _dict(self: Evaluator, *items: AbstractValue) -> AbstractValue:
    keys = items[::2]
    if all(isinstance(k, Known) and _hashable(k.value) for k in keys):
        return Mapping(tuple(k.value for k in keys if isinstance(k, Known)), items[1::2])
    return UNKNOWN


def _append(self: Evaluator, items: AbstractValue, item: AbstractValue) -> AbstractValue:
    match items:
        case Sequence(_, known_items):
            return Sequence(list, (*known_items, item))
        case ListOf(old):
            return ListOf(join(widen_known(old), widen_known(item), self.facts))
        case _:
            return UNKNOWN


def _set_item(self: Evaluator, items: AbstractValue, key: AbstractValue, item: AbstractValue) -> AbstractValue:
    match items:
        case Sequence(_, known_items):
            return ListOf(join_all([*known_items, item], self.facts))
        case ListOf(old):
            return ListOf(join(widen_known(old), widen_known(item), self.facts))
        case _:
            return UNKNOWN


def _put(self: Evaluator, mapping: AbstractValue, key: AbstractValue, value: AbstractValue) -> AbstractValue:
    if isinstance(mapping, Mapping) and isinstance(key, Known) and _hashable(key.value):
        entries = dict(zip(mapping.keys, mapping.items, strict=True)) | {key.value: value}
        return Mapping(tuple(entries), tuple(entries.values()))
    return UNKNOWN


def _slice(self: Evaluator, *bounds: AbstractValue) -> AbstractValue:
    if len(bounds) == 1:
        bounds = (known(None), bounds[0])
    full = (*bounds, known(None))[:3]
    if all(isinstance(b, Known) for b in full):
        return known(slice(*(b.value for b in full if isinstance(b, Known))))
    return Sequence(slice, full)


def _range(self: Evaluator, *bounds: AbstractValue) -> AbstractValue:
    return Range()


def _number_extreme(self: Evaluator, *args: AbstractValue) -> AbstractValue | None:
    if len(args) > 1 and all(is_number(a) for a in args):
        return join_all(args, self.facts)
    if len(args) == 1 and isinstance(args[0], Sequence) and all(is_number(a) for a in args[0].items):
        return join_all(args[0].items, self.facts)
    if len(args) == 1 and isinstance(args[0], Array) and rank(args[0]) == 1:
        return Scalar(args[0].dtype.type)
    if len(args) == 1 and isinstance(args[0], ListOf) and is_number(args[0].item):
        return args[0].item
    return UNKNOWN


def _round(self: Evaluator, value: AbstractValue, digits: AbstractValue | None = None) -> AbstractValue | None:
    if isinstance(value, Scalar) and value.type is float:
        return Scalar(int if digits is None else float)
    return UNKNOWN


def _contains(self: Evaluator, item: AbstractValue, container: AbstractValue) -> AbstractValue:
    if isinstance(item, Known) and _hashable(item.value):
        if isinstance(container, Mapping):
            return known(item.value in container.keys)
        if isinstance(container, Sequence) and all(isinstance(i, Known) for i in container.items):
            return known(item.value in [i.value for i in container.items if isinstance(i, Known)])
    return Scalar(bool)


def _not_in(self: Evaluator, item: AbstractValue, container: AbstractValue) -> AbstractValue:
    found = _contains(self, item, container)
    return known(not found.value) if isinstance(found, Known) else found


def _unpack(
    self: Evaluator, value: AbstractValue, before: AbstractValue, after: AbstractValue
) -> AbstractValue:
    if not isinstance(before, Known) or not isinstance(after, Known):
        return UNKNOWN
    item: AbstractValue
    match value:
        case Sequence(kind, items) if kind is not slice:
            if after.value is None:
                return Sequence(tuple, items) if len(items) == before.value else UNKNOWN
            stop = len(items) - after.value
            if stop < before.value:
                return UNKNOWN
            middle = Sequence(list, items[before.value : stop])
            return Sequence(tuple, (*items[: before.value], middle, *items[stop:]))
        case Array():
            item = _item(self, value, Scalar(int)) or UNKNOWN
        case ListOf(inner):
            item = inner
        case Range():
            item = Scalar(int)
        case _:
            item = UNKNOWN
    if after.value is None:
        return Sequence(tuple, (item,) * before.value)
    return Sequence(tuple, (*((item,) * before.value), ListOf(item), *((item,) * after.value)))


def _is_complex(self: Evaluator, value: AbstractValue) -> AbstractValue | None:
    kind = type_of(value)
    if isinstance(value, Array):
        return known(value.dtype.kind == "c")
    if value in (ANY_FLOAT, ANY_REAL):
        return known(False)
    if isinstance(value, Known):
        return known(np.iscomplexobj(value.value))
    return known(issubclass(kind, (complex, np.complexfloating))) if kind is not None else Scalar(bool)


def _is_real(self: Evaluator, value: AbstractValue) -> AbstractValue | None:
    found = _is_complex(self, value)
    return known(not found.value) if isinstance(found, Known) else found


def _is_scalar(self: Evaluator, value: AbstractValue) -> AbstractValue | None:
    if is_number(value):
        return known(True)
    return known(False) if isinstance(value, (Array, Sequence, Mapping, ListOf)) else Scalar(bool)


def _reshape(self: Evaluator, value: AbstractValue, *lengths: AbstractValue) -> AbstractValue | None:
    shape = shape_of(value)
    if len(lengths) == 1 and isinstance(lengths[0], Sequence):
        lengths = lengths[0].items
    if shape is None or not isinstance(value, Array):
        return UNKNOWN
    dims = [_dim_value(n) for n in lengths]
    if not all(isinstance(n, Scalar) or (isinstance(n, Known) and type(n.value) is int) for n in lengths):
        return UNKNOWN
    given = [d for d in dims if d is not None and d != Dim("", -1)]
    left = list(shape)
    for d in given:
        if d in left:
            left.remove(d)
    rest = product(tuple(left)) if all(d in shape or d == Dim("", 1) for d in given) else None
    missing = rest or self.facts.fresh_dim()
    return Array(value.dtype, tuple(
        self.facts.fresh_dim() if d is None else missing if d == Dim("", -1) else d for d in dims))


def _flat(self: Evaluator, value: AbstractValue, *order: AbstractValue) -> AbstractValue | None:
    shape = shape_of(value)
    if shape is None or not isinstance(value, Array):
        return None
    return Array(value.dtype, (product(shape) or self.facts.fresh_dim(),))


def _split(along: int | None, equal: bool = True) -> Callable[..., AbstractValue | None]:
    """The parts of an array that is split into a known number of them."""

    def result(
        self: Evaluator, value: AbstractValue, number: AbstractValue, axis: AbstractValue | None = None
    ) -> AbstractValue | None:
        count = number.value if isinstance(number, Known) else None
        place = along if axis is None else axis.value if isinstance(axis, Known) else None
        if not isinstance(value, Array) or not value.shape or type(count) is not int or type(place) is not int:
            return None
        place = 0 if along == 1 and len(value.shape) == 1 else place
        if not -len(value.shape) <= place < len(value.shape) or value.shape[place].is_constant:
            return None
        lengths = [self.facts.fresh_dim()] * count if equal else [self.facts.fresh_dim() for _ in range(count)]
        shapes = [[*value.shape] for _ in lengths]
        for shape, length in zip(shapes, lengths, strict=True):
            shape[place] = length
        return Sequence(list, tuple(Array(value.dtype, tuple(shape)) for shape in shapes))

    return result


def _boolean(self: Evaluator, *args: AbstractValue) -> AbstractValue:
    return Scalar(bool)


def _text(self: Evaluator, *args: AbstractValue) -> AbstractValue:
    return UNKNOWN


def _as_list(kind: type) -> Callable[..., AbstractValue]:
    def result(self: Evaluator, *args: AbstractValue) -> AbstractValue:
        if not args:
            return Sequence(kind, ())
        match args[0]:
            case Sequence(_, items):
                return Sequence(kind, items)
            case Mapping(keys):
                return Sequence(kind, tuple(known(k) for k in keys))
            case ListOf() if kind is list:
                return args[0]
            case Array(_, shape) if shape and kind is list:
                return ListOf(_item(self, args[0], Scalar(int)) or UNKNOWN)
            case Range() if kind is list:
                return ListOf(Scalar(int))
            case _:
                return UNKNOWN

    return result


_SPECIAL: dict[Any, Callable[..., AbstractValue | None]] = {
    len: _length,
    getattr: _attribute,
    operator.getitem: _item,
    isinstance: _isinstance,
    type: _type,
    operator.is_: _is,
    operator.is_not: _is_not,
    operator.not_: _not,
    float: _to(float),
    int: _to(int),
    bool: _to(bool),
    complex: _to(complex),
    callable: _boolean,
    ops.make_tuple: _sequence(tuple),
    ops.make_list: _sequence(list),
    ops.make_dict: _dict,
    ops.append: _append,
    ops.put: _put,
    rt.set_item: _set_item,
    ops.contains: _contains,
    ops.not_in: _not_in,
    ops.unpack: _unpack,
    ops.format_string: _text,
    ops.format_value: _text,
    slice: _slice,
    range: _range,
    max: _number_extreme,
    min: _number_extreme,
    round: _round,
    list: _as_list(list),
    tuple: _as_list(tuple),
    np.shape: _shape_call,
    np.reshape: _reshape,
    np.ndarray.reshape: _reshape,
    np.ravel: _flat,
    np.ndarray.ravel: _flat,
    np.ndarray.flatten: _flat,
    np.split: _split(0),
    np.array_split: _split(0, equal=False),
    np.vsplit: _split(0),
    np.hsplit: _split(1),
    np.dsplit: _split(2),
    np.iscomplexobj: _is_complex,
    np.isrealobj: _is_real,
    np.isscalar: _is_scalar,
    np.ndim: _ndim_call,
    np.size: _size_call,
    math.floor: _to(int),
    math.ceil: _to(int),
    math.trunc: _to(int),
}

__all__ = [
    "Evaluator", "dtype_of", "is_elementwise", "is_number", "join", "join_all", "known", "rank", "shape_of",
    "slice_length", "truth", "type_of", "widen_known",
]
