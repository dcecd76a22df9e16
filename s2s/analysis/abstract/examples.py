"""Abstract values by example: a function is called on small arrays and numbers that stand for its arguments.

Each symbolic length gets one size in a first call and another in a second; a length of the result is known where both
calls agree on ``symbol + offset``. Where that does not hold for a short array (``np.convolve(x, np.ones(4), "same")``
is never shorter than 4), a guard excludes such an argument; where it is no argument's length, those of the result are
not known.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

import numpy as np

from s2s.analysis.abstract import lengths
from s2s.analysis.abstract.folding import MOST_LISTED, NotFolded, call_pure, is_pure, plain
from s2s.analysis.abstract.lattice import join, known
from s2s.analysis.abstract.shapes import Facts
from s2s.core import inspection
from s2s.core.bounded import Recent
from s2s.core.closures import Closure
from s2s.core.values import (
    UNKNOWN,
    AbstractValue,
    Array,
    Dim,
    IterableOf,
    Known,
    ListOf,
    Mapping,
    Range,
    Scalar,
    Sequence,
    Unknown,
)

__all__ = ["element_result", "probe"]

Merged: TypeAlias = tuple[tuple[Dim, Dim], ...]

_LIST = Dim("?list")
"""How long lists of unknown length are in an example."""


def probe(
    fn: Any, args: tuple[AbstractValue, ...], kwargs: dict[str, AbstractValue], facts: Facts
) -> AbstractValue:
    """The result of a pure function, by calling it on two small examples; ``facts`` gets the lengths that it needs."""
    unknown = itertools.count()
    args, kwargs = lengths.without_large(fn, args, kwargs)
    args = tuple(_with_symbols(a, unknown) for a in args)
    kwargs = {k: _with_symbols(v, unknown) for k, v in kwargs.items()}
    dims: list[Dim] = []
    for value in (*args, *kwargs.values()):
        _collect_dims(value, dims)
    symbols = list(dict.fromkeys(d.symbol for d in dims))
    if len(symbols) > 7:
        return UNKNOWN
    loose: AbstractValue = UNKNOWN
    most = max((len(v.shape) for v in _arrays((*args, *kwargs.values())) if v.shape is not None), default=0)
    for merged in _mergers(dims, (*args, *kwargs.values())):
        least = 5 - min((d.offset for d in dims), default=0)
        try:
            first = _run_example(fn, args, kwargs, _sizes(symbols, merged, least, 0)[0])
            is_chosen = all(symbol.startswith("=") for symbol in symbols)  # a large length, known
            sizes = _sizes(symbols, merged, least, 1 if is_chosen else _far(args, kwargs, first), most)
            results = [first, _run_second(fn, args, kwargs, sizes[1])]
        except (_NoExample, NotFolded):
            return UNKNOWN
        except Exception:
            continue
        if any(_runs_beside(fn, args, kwargs, sizes[0], length) for _, length in merged):
            loose = _of_some_length(results[0], facts)
            continue
        if not _stays(fn, args, kwargs, sizes[0], dims, results[0]):
            return UNKNOWN
        facts.forced += [(lengths.restored(a), lengths.restored(b)) for a, b in merged]
        if isinstance(results[0], str) and not all(map(_is_known, (*args, *kwargs.values()))):
            return UNKNOWN  # it may have the examples' numbers in it
        found = _abstract(results[0], results[1], sizes, facts)
        found = _also_for_short(fn, args, kwargs, sizes[0], merged, dims, found, facts)
        if isinstance(found, (Scalar, Array)) and _LIST in dims:
            return _or_of_nothing(found, fn, args, kwargs, sizes[0], facts)
        return found
    return loose


def _or_of_nothing(
    found: Scalar | Array, fn: Any, args: tuple[AbstractValue, ...], kwargs: dict[str, AbstractValue],
    sizes: dict[str, int], facts: Facts,
) -> AbstractValue:
    """What is made of a list, or of an empty one: ``sum([])`` is an integer. (The rank of an array that is made of rows
    is taken for that of an empty one, too: there is nothing in it that has a derivative.)"""
    try:
        nothing = _run_example(fn, args, kwargs, sizes | {_LIST.symbol: 0})
    except Exception:
        return found  # then the program raises, too
    if isinstance(found, Array):
        return found if isinstance(nothing, np.ndarray) and nothing.dtype == found.dtype else UNKNOWN
    if not isinstance(nothing, (int, float, complex, np.generic)):
        return UNKNOWN
    return found if type(nothing) is found.type else join(found, Scalar(type(nothing)), facts)


def _run_second(
    fn: Any, args: tuple[AbstractValue, ...], kwargs: dict[str, AbstractValue], sizes: dict[str, int]
) -> Any:
    """The second example, with other integers in arrays than the first has, unless these are places that are not there.
    """
    try:
        return _run_example(fn, args, kwargs, sizes | {_CONTENT: 1})
    except IndexError:
        return _run_example(fn, args, kwargs, sizes)


def _stays(
    fn: Any, args: tuple[AbstractValue, ...], kwargs: dict[str, AbstractValue], sizes: dict[str, int], dims: list[Dim],
    result: Any,
) -> bool:
    """Whether a result has the same form where a length that may be 1 is 1, as that of ``np.squeeze`` has not."""
    for dim in dict.fromkeys(d for d in dims if d.symbol.startswith("?") and d.offset <= 1):
        try:
            other = _run_example(fn, args, kwargs, sizes | {dim.symbol: 1 - dim.offset})
        except Exception:
            continue  # then the program raises, too
        if _form(other) != _form(result):
            return False
    return True


def _also_for_short(
    fn: Any, args: tuple[AbstractValue, ...], kwargs: dict[str, AbstractValue], sizes: dict[str, int], merged: Merged,
    dims: list[Dim], found: AbstractValue, facts: Facts,
) -> AbstractValue:
    """What was found for long arrays, where it holds for short ones too, with one length after the other being short:
    by a guard for each length of an argument that it does not hold for, unless that is each one. Else its lengths are
    not known. Where the call raises, the program raises too."""
    given, excluded = {b.symbol for _, b in merged}, set[tuple[str, int]]()
    for symbol in dict.fromkeys(d.symbol for d in dims if d.symbol not in given and d.symbol[0] not in "*="):
        if symbol.startswith("?int") or symbol == _LIST.symbol:
            continue
        offset, unlike = min(d.offset for d in dims if d.symbol == symbol), list[tuple[int, Any, dict[str, int]]]()
        for length in range(max(1 - offset, 1 if symbol[0] == "?" else 2), sizes[symbol]):
            short = sizes | {symbol: length}
            for a, b in merged:
                short[b.symbol] = _size_of(a.symbol, short) + a.offset - b.offset
            short |= {s: _size_of(s, {k: v for k, v in short.items() if k != s}) for s in short if s.startswith("*")}
            try:
                made = _run_example(fn, args, kwargs, short)
            except Exception:
                continue
            if _is_as_found(made, found, short):
                if symbol[0] != "?":
                    excluded |= {(symbol, other) for other, _, _ in unlike}
                    unlike.clear()
                break
            unlike.append((length, made, short))
        if unlike:
            loose = _of_any_length(found, facts)
            return loose if all(_is_as_found(made, loose, short) for _, made, short in unlike) else UNKNOWN
    facts.assumed |= excluded
    return found


def _of_any_length(found: AbstractValue, facts: Facts) -> AbstractValue:
    """What is left of a result when its lengths are not known."""
    match found:
        case Array(dtype, shape) if shape is not None:
            return Array(dtype, tuple(facts.fresh_dim() for _ in shape))
        case Scalar(kind):
            return Scalar(kind)
        case Sequence(kind, items):
            return Sequence(kind, tuple(_of_any_length(item, facts) for item in items))
        case _:
            return found


def _is_as_found(made: Any, found: AbstractValue, sizes: dict[str, int]) -> bool:
    """Whether a result has the rank and the lengths that were found."""
    match found:
        case Array(_, shape) if shape is not None:
            return np.ndim(made) == len(shape) and all(
                (d.symbol not in sizes and d.symbol != "") or _size_of(d.symbol, sizes) + d.offset == n
                for d, n in zip(shape, np.shape(made), strict=True))
        case Scalar(_, dim) if dim is not None:
            return dim.symbol not in sizes or bool(sizes[dim.symbol] + dim.offset == made)
        case Sequence(_, items):
            return len(made) == len(items) and all(
                _is_as_found(one, item, sizes) for one, item in zip(made, items, strict=True))
        case _:
            return True


def _form(value: Any) -> Any:
    """The type and the rank of a value, or of what a container holds, however many there are."""
    if isinstance(value, (tuple, list)):
        return type(value), frozenset(map(_form, value))
    return type(value), np.ndim(value) if isinstance(value, np.ndarray) else 0


def _is_known(value: AbstractValue) -> bool:
    """Whether an object is known, or all that a container holds."""
    return isinstance(value, Known) or (isinstance(value, Sequence) and all(map(_is_known, value.items)))


def _runs_beside(
    fn: Any, args: tuple[AbstractValue, ...], kwargs: dict[str, AbstractValue], sizes: dict[str, int], length: Dim
) -> bool:
    """Whether a call runs, too, where a length that was taken for equal to another one is one more or one less: what it
    needs is then that one is not less than the other (``np.convolve`` with ``mode="valid"``)."""
    for step in (1, -1):
        try:
            _run_example(fn, args, kwargs, {**sizes, length.symbol: sizes[length.symbol] + step})
        except Exception:
            continue
        return True
    return False


def _of_some_length(one: Any, facts: Facts) -> AbstractValue:
    """What is known of a result when its lengths are not: those of another call may be others."""
    if type(one) is not np.ndarray or one.dtype == object:
        return UNKNOWN
    return Array(one.dtype, tuple(facts.fresh_dim() for _ in one.shape))


def _abstract(one: Any, two: Any, sizes: list[dict[str, int]], facts: Facts) -> AbstractValue:
    """What the results of the two calls have in common."""
    if type(one) is not type(two):
        return UNKNOWN
    if type(one) is np.ndarray:
        if one.ndim != two.ndim or one.dtype != two.dtype or one.dtype == object:
            return UNKNOWN
        dims = tuple(_dim(m, n, sizes, facts) for m, n in zip(one.shape, two.shape, strict=True))
        return Array(one.dtype, dims)
    if type(one) is int:
        dim = _dim(one, two, sizes, facts)
        return Scalar(int, dim if dim.symbol and not dim.symbol.startswith("?") else None)
    if isinstance(one, (float, complex, bool, np.generic)):
        return Scalar(type(one))
    if isinstance(one, (tuple, list)) and len(one) == len(two) <= MOST_LISTED:
        return Sequence(type(one), tuple(_abstract(a, b, sizes, facts) for a, b in zip(one, two, strict=True)))
    if one is None or (isinstance(one, (str, type, np.dtype)) and one == two):
        return known(one)
    return UNKNOWN


def _dim(one: int, two: int, sizes: list[dict[str, int]], facts: Facts) -> Dim:
    if one == two:
        return Dim("", one)
    for symbol in sizes[0]:
        if one - sizes[0][symbol] == two - sizes[1][symbol] and not symbol.startswith("?int"):
            return lengths.restored(Dim(symbol, one - sizes[0][symbol]))
    return facts.fresh_dim()


# --- lengths --------------------------------------------------------------------------------------------------------


def _with_symbols(value: AbstractValue, unknown: Iterator[int]) -> AbstractValue:
    """A value whose unknown integers have symbols: they may be lengths (``np.zeros(n)``)."""
    match value:
        case Scalar(kind, None) if kind is int or (isinstance(kind, type) and issubclass(kind, np.integer)):
            return Scalar(kind, Dim(f"?int{next(unknown)}"))
        case Sequence(kind, items) if kind is not slice:
            return Sequence(kind, tuple(_with_symbols(i, unknown) for i in items))
        case _:
            return value


def _collect_dims(value: AbstractValue, found: list[Dim]) -> None:
    match value:
        case Array(_, shape):
            found.extend(d for d in shape or () if d.symbol and d not in found)
        case Scalar(_, dim) if dim is not None and dim.symbol and dim not in found:
            found.append(dim)
        case Sequence(_, items) | Mapping(_, items):
            for item in items:
                _collect_dims(item, found)
        case ListOf(item) | IterableOf(_, item):
            found.append(_LIST)
            _collect_dims(item, found)
        case _:
            pass


def _constant_lengths(values: Iterable[AbstractValue]) -> list[Dim]:
    """The known lengths of arrays, which unknown ones may have to equal."""
    found = {d: None for v in values if isinstance(v, Array) for d in v.shape or () if d.is_constant and d.offset > 1}
    return list(found)


def _mergers(dims: list[Dim], values: tuple[AbstractValue, ...]) -> Iterator[Merged]:
    """Which lengths to take for equal: none, one pair, those of two arrays, two pairs. A call that needs two lengths to
    be equal (``X @ w``) fails on examples where they are not; where it runs with them equal, they are equal in the
    user's run as well."""
    constants = _constant_lengths(values)
    lengths = [d for d in dims if not d.symbol.startswith("?int")]
    pairs = [(a, b) for a, b in itertools.combinations(lengths, 2) if a.symbol != b.symbol]
    yield ()
    for pair in pairs:
        yield (pair,)
    yield from _aligned([v.shape for v in _arrays(values) if v.shape])
    if len(pairs) <= 20:
        for two in itertools.combinations(pairs, 2):
            if two[0][1].symbol != two[1][1].symbol:
                yield two
    for constant in constants:
        for length in lengths:
            if constant.offset > length.offset:
                yield ((constant, length),)


def _arrays(values: Iterable[AbstractValue]) -> Iterator[Array]:
    for value in values:
        if isinstance(value, Array):
            yield value
        elif isinstance(value, Sequence):
            yield from _arrays(value.items)
        elif isinstance(value, (ListOf, IterableOf)):
            yield from _arrays((value.item,))


def _aligned(shapes: list[tuple[Dim, ...]]) -> Iterator[Merged]:
    """The lengths of two arrays, from the first on or up to the last; a stack of square matrices and another stack."""
    for one, two in itertools.combinations(shapes, 2):
        count = min(len(one), len(two))
        if count < 2:
            continue
        square = [(one[-2], one[-1])]
        leading = list(zip(one[:count], two[:count], strict=True))
        trailing = list(zip(one[-count:], two[-count:], strict=True))
        for pairs in (leading, trailing, square + leading, square + trailing):
            found: dict[str, tuple[Dim, Dim]] = {}
            for a, b in pairs:
                if a.symbol and b.symbol and a.symbol != b.symbol:
                    found.setdefault(b.symbol, (a, b))
            if len(found) > 1:
                yield tuple(found.values())


def _far(args: tuple[AbstractValue, ...], kwargs: dict[str, AbstractValue], result: Any) -> int:
    """How far the sizes of the second example are from those of the first. A length that grows by steps
    (``np.arange(0, n, 100)``) shows that it grows where they are far; matrices are to stay small. It is odd: so is the
    difference of the sizes, where what counts is whether a number is even (``np.rot90(m, n)``)."""
    given = [len(v.shape) for v in _arrays((*args, *kwargs.values())) if v.shape is not None]
    rank = max((_rank(r) for r in (result if isinstance(result, (tuple, list)) else (result,))), default=0)
    if max(given, default=0) > 1 or rank > 2:
        return 1
    return 251 if rank < 2 else 101


def _rank(value: Any) -> int:
    return value.ndim if isinstance(value, np.ndarray) else 0


def _sizes(symbols: list[str], merged: Merged, least: int, far: int, rank: int = 0) -> list[dict[str, int]]:
    """Two sizes for each symbol, such that no two lengths agree by accident in both, and that none is empty; in the
    other order in the second, so that the lesser of two lengths (the number of singular values) is not taken for one of
    them."""
    given = {b.symbol for _, b in merged}
    parts = [p for p in dict.fromkeys(p for s in symbols for p in s.lstrip("*").split("*")) if p not in given]
    least, count = max(least, 5), len(parts)
    one = {s: least + 2 * k for k, s in enumerate(parts)}
    beyond = least + 2 * count  # no length has the size of another one in the first example
    two = {s: beyond + far + 3 * 2 ** (count - k) for k, s in enumerate(parts)}
    if max(count, rank) >= MANY:  # smaller ones: those of the second are even where those of the first are odd
        two = {s: least + 1 + 2 * (count - 1 - k) for k, s in enumerate(parts)}
    for size in (one, two):
        for a, b in merged:
            size[b.symbol] = _size_of(a.symbol, size) + a.offset - b.offset
        for symbol in symbols:
            size.setdefault(symbol, _size_of(symbol, size))
    return [one, two]


def _size_of(symbol: str, sizes: dict[str, int]) -> int:
    """The size of a length, or of a product of lengths (``*m*n``), by those that are chosen; 0 for a constant."""
    if symbol in sizes:
        return sizes[symbol]
    return math.prod(sizes.get(p, 1) for p in symbol[1:].split("*")) if symbol else 0


# --- examples -------------------------------------------------------------------------------------------------------


def refuses(fn: Any, args: tuple[AbstractValue, ...], kwargs: dict[str, AbstractValue]) -> bool:
    """Whether a pure function takes no arguments of these types: a float is no index and no length."""
    unknown = itertools.count()
    try:
        _run_example(
            fn, tuple(_with_symbols(a, unknown) for a in args),
            {k: _with_symbols(v, unknown) for k, v in kwargs.items()}, {},
        )
    except (TypeError, IndexError):
        return True
    except Exception:
        pass
    return False


class _NoExample(Exception):
    """There is no example of an argument: its value may decide the shape of the result."""


def _run_example(
    fn: Any, args: tuple[AbstractValue, ...], kwargs: dict[str, AbstractValue], sizes: dict[str, int]
) -> Any:
    return call_pure(fn, [_example(a, sizes) for a in args], {k: _example(v, sizes) for k, v in kwargs.items()})


def _example(value: AbstractValue, sizes: dict[str, int]) -> Any:
    match value:
        case Known():
            return plain(value.value)
        case Scalar(kind, dim):
            if dim is not None:
                size = sizes.get(dim.symbol, 0) + dim.offset
                return kind(size) if issubclass(kind, np.integer) else size
            if kind is object or (issubclass(kind, (int, np.integer)) and not issubclass(kind, bool)):
                raise _NoExample
            return _number_example(kind, 0.5)
        case Array(dtype, shape) if shape is not None:
            lengths_ = tuple(sizes.get(d.symbol, 0) + d.offset for d in shape)
            if math.prod(lengths_) > LARGEST:
                raise _NoExample
            return _example_array(dtype, lengths_, sizes.get(_CONTENT, 0))
        case Sequence(kind, items):
            made = [_example(i, sizes) for i in items]
            if kind is slice:
                return slice(*made)
            return kind(made) if kind in (tuple, list) else _record(kind, made)
        case Mapping(keys, items):
            return dict(zip(keys, (_example(i, sizes) for i in items), strict=True))
        case ListOf(item):
            return [_example(item, sizes)] * sizes[_LIST.symbol]
        case IterableOf(kind, item) if kind in (list, tuple):
            return kind([_example(item, sizes)] * sizes[_LIST.symbol])
        case _:
            raise _NoExample


def _record(kind: type, items: list[Any]) -> Any:
    """A named tuple, where reading it runs no code of its class."""
    if not issubclass(kind, tuple) or any(
        inspection.has_hook(kind, name) for base in inspection.mro_of(kind) if inspection.is_foreign(base)
        for name in vars(base) if name.startswith("__") and name not in _MAKING
    ):
        raise _NoExample
    return tuple.__new__(kind, items)


_MAKING = ("__new__", "__init__", "__repr__", "__getnewargs__", "__match_args__", "__orig_bases__")
"""What a named tuple has of its own: nothing that reads its items."""

LARGE = 100_000
"""An example with more elements takes the memory of its last two dimensions only."""

LARGEST = 6_000_000
"""No example has more elements."""

MANY = 5
"""With so many lengths, or so many in one array, the examples have similar ones, so that no array is too large."""


_CONTENT = "?int of arrays"
"""Among the sizes of an example: what its arrays of integers hold. It is another number in the second example: where it
decides a length (``np.broadcast_to(x, shape)``), the results have no length in common."""


def _example_array(dtype: np.dtype[Any], shape: tuple[int, ...], content: int) -> np.ndarray[Any, Any]:
    """Positive definite in its last two dimensions where these are equal, so that linear algebra accepts it."""
    last = shape[-2:]
    made = np.zeros(last)
    for axis, size in enumerate(last):
        line = np.arange(size, dtype=float)
        made = made + (line if axis == len(last) - 1 else -line[:, None])
    matrix = np.asarray(1.0 / (1.0 + np.abs(made))).astype(dtype)
    if dtype.kind in "iu":
        matrix = np.full(last, content, dtype)
    repeated = np.broadcast_to(matrix, shape)
    return repeated if repeated.size > LARGE else repeated.copy()


def _number_example(kind: Any, at: float) -> Any:
    if issubclass(kind, (bool, np.bool_)):
        return kind(True)
    return kind(at) if issubclass(kind, (float, complex, np.inexact)) else kind(2)


# --- one element ----------------------------------------------------------------------------------------------------

_element_results = Recent[Any, AbstractValue](4096)


def element_result(fn: Any, args: tuple[AbstractValue, ...]) -> AbstractValue:
    """What an elementwise function gives for one element of each argument: an array of rank 0 or a number."""
    if not is_pure(fn):
        return UNKNOWN
    key = (fn, tuple(_element_key(a) for a in args))
    found = _element_results.get(key)
    if found is None:
        found = _element_results[key] = _try_element(fn, args)
    return found


def _element_key(value: AbstractValue) -> Any:
    if isinstance(value, Array):
        return (value.dtype, None if value.shape is None else min(len(value.shape), 1))
    return value.type if isinstance(value, Scalar) else value


def _try_element(fn: Any, args: tuple[AbstractValue, ...]) -> AbstractValue:
    if any(isinstance(a, (Unknown, Closure, Range)) for a in args):
        return UNKNOWN
    for at in (0.5, 1.5):
        try:
            made = call_pure(fn, [_one_element(a, at) for a in args])
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
            return _number_example(kind, at)
        case Known():
            return plain(value.value)
        case _:
            raise ValueError("no element of this kind")
