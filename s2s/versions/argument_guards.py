"""Guards about the lengths and the memory of the arguments of a call, which the compiler makes itself."""

from __future__ import annotations

import itertools
import math
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s.core.record import record
from s2s.core.values import Dim
from s2s.versions.expressions import Expressions, length_of, split_symbol
from s2s.versions.guards import Arguments, Guard
from s2s.versions.paths import resolve

__all__ = ["ArgumentsGuard", "EqualGuard", "LargeGuard", "SeparateGuard", "SizeGuard", "SumGuard"]


class ArgumentsGuard(Guard):
    """A guard about the lengths or the memory of arguments. Where it does not hold a version is compiled of which the
    abstract values say so."""

    __slots__ = ()

    @property
    def asks_arguments(self) -> bool:
        return True

    def renamed(self, names: dict[str, str]) -> Guard:
        """The same guard for a function whose parameters have other names: these by the own ones."""
        return self

    def lengths(self, arguments: Arguments) -> dict[str, int]:
        """The symbols that it is about, each with the length that the version for these arguments has for it."""
        return {}


@record
class SizeGuard(ArgumentsGuard):
    """The length that a symbol of an argument stands for (``X.0``, ``params[0][1].0``) is not ``value``.

    ``root`` is ``argument``, or ``global`` or ``free`` where the symbol belongs to a variable of a KindGuard.
    """

    stored_as = "size"

    symbol: str
    value: int
    root: str = "argument"
    owner: Any = None

    @property
    def asks_arguments(self) -> bool:
        return self.root == "argument"

    def renamed(self, names: dict[str, str]) -> Guard:
        return SizeGuard(_renamed(self.symbol, names), self.value) if self.asks_arguments else self

    def lengths(self, arguments: Arguments) -> dict[str, int]:
        return {self.symbol: self.value}

    def _holds(self, owner: types.FunctionType, arguments: Arguments | None) -> bool:
        base, name, axis = split_symbol(self.symbol)
        live = resolve(owner, self.root, (name,), arguments)
        return bool(eval(f"{base}.shape[{axis}] != {self.value}", {name: live}))

    def _conditions(self, owner: types.FunctionType, expressions: Expressions) -> list[str]:
        return [f"{expressions.shape(self.symbol, self.root, owner)} != {self.value}"]

    def _dump(self) -> dict[str, Any]:
        return {"symbol": self.symbol, "value": self.value, "root": self.root}

    @classmethod
    def load(cls, item: dict[str, Any], owner: types.FunctionType | None, function: types.FunctionType) -> Guard:
        return SizeGuard(item["symbol"], item["value"], item["root"], owner)


@record
class EqualGuard(ArgumentsGuard):
    """Two lengths of arguments are equal: ``X.1`` and ``w.0``, ``x.0 - 1`` and ``y.0``; one may be constant.

    The compiler relies on it where it left out the operation that would raise NumPy's own error. Where it
    does not hold, a version with these lengths as constants is compiled, which has the operation.
    """

    stored_as = "equal"

    first: Dim
    second: Dim

    def renamed(self, names: dict[str, str]) -> Guard:
        return EqualGuard(*(Dim(_renamed(dim.symbol, names), dim.offset) for dim in (self.first, self.second)))

    def lengths(self, arguments: Arguments) -> dict[str, int]:
        symbols = [dim.symbol for dim in (self.first, self.second) if dim.symbol]
        return {symbol: _length(Dim(symbol), arguments) for symbol in symbols}

    def _holds(self, owner: types.FunctionType, arguments: Arguments | None) -> bool:
        return _length(self.first, arguments or {}) == _length(self.second, arguments or {})

    def _conditions(self, owner: types.FunctionType, expressions: Expressions) -> list[str]:
        return [f"{expressions.length(self.first, owner)} == {expressions.length(self.second, owner)}"]

    def _dump(self) -> dict[str, Any]:
        first, second = ([dim.symbol, dim.offset] for dim in (self.first, self.second))
        return {"first": first, "second": second}

    @classmethod
    def load(cls, item: dict[str, Any], owner: types.FunctionType | None, function: types.FunctionType) -> Guard:
        return EqualGuard(Dim(*item["first"]), Dim(*item["second"]))


@record
class SumGuard(ArgumentsGuard):
    """A sum of multiples of lengths of arguments is not negative (``test`` is ``>= 0``) or not one (``!= 1``): slices
    between multiples of a length lie inside an array, ``gates[:, size : 2 * size]`` where there are at least twice as
    many columns. Where it does not hold, a version with these lengths as constants is compiled."""

    stored_as = "sum"

    terms: tuple[tuple[str, int], ...]
    constant: int
    test: str

    def renamed(self, names: dict[str, str]) -> Guard:
        return SumGuard(tuple((_renamed(s, names), n) for s, n in self.terms), self.constant, self.test)

    def lengths(self, arguments: Arguments) -> dict[str, int]:
        return {symbol: _length(Dim(symbol), arguments) for symbol, _ in self.terms}

    def expression(self, length: Callable[[Dim], str]) -> str:
        """The condition, with each length as ``length`` writes it."""
        terms = [f"{times} * {length(Dim(symbol))}" for symbol, times in self.terms]
        return f"{' + '.join([*terms, str(self.constant)])} {self.test}"

    def _holds(self, owner: types.FunctionType, arguments: Arguments | None) -> bool:
        total = sum(times * _length(Dim(symbol), arguments or {}) for symbol, times in self.terms) + self.constant
        return total >= 0 if self.test == ">= 0" else total != 1

    def _conditions(self, owner: types.FunctionType, expressions: Expressions) -> list[str]:
        return [self.expression(lambda dim: expressions.length(dim, owner))]

    def _dump(self) -> dict[str, Any]:
        return {"terms": [list(term) for term in self.terms], "constant": self.constant, "test": self.test}

    @classmethod
    def load(cls, item: dict[str, Any], owner: types.FunctionType | None, function: types.FunctionType) -> Guard:
        return SumGuard(tuple((s, n) for s, n in item["terms"]), item["constant"], item["test"])


@record
class LargeGuard(ArgumentsGuard):
    """A product of lengths of arguments is at least ``least`` (``is_large``), or smaller: the number of elements of the
    array at ``place`` where that is not empty. Where it does not hold the
    text is right, but made for other sizes: there is another version with the same abstract values."""

    stored_as = "large"

    symbols: tuple[str, ...]
    least: int
    is_large: bool
    place: str = ""

    def renamed(self, names: dict[str, str]) -> Guard:
        symbols = tuple(_renamed(s, names) for s in self.symbols)
        return LargeGuard(symbols, self.least, self.is_large, self.place and split_symbol(symbols[0])[0])

    def _holds(self, owner: types.FunctionType, arguments: Arguments | None) -> bool:
        size = math.prod(_length(Dim(symbol), arguments or {}) for symbol in self.symbols)
        return (size >= self.least) is self.is_large

    def _conditions(self, owner: types.FunctionType, expressions: Expressions) -> list[str]:
        size = f"{expressions.place(self.place)}.size" if self.place else " * ".join(
            expressions.length(Dim(symbol), owner) for symbol in self.symbols)
        return [f"{size} {'>=' if self.is_large else '<'} {self.least}"]

    def _dump(self) -> dict[str, Any]:
        return {"symbols": [*self.symbols], "least": self.least, "is_large": self.is_large, "place": self.place}

    @classmethod
    def load(cls, item: dict[str, Any], owner: types.FunctionType | None, function: types.FunctionType) -> Guard:
        return LargeGuard(tuple(item["symbols"]), item["least"], item["is_large"], item["place"])


@record
class SeparateGuard(ArgumentsGuard):
    """Two arrays of arguments share no memory: ``u`` and ``params[0]``. The function changes the first in place.
    ``params[:]`` is each array in a list, ``params[:]`` twice each two of them."""

    stored_as = "separate"

    first: str
    second: str

    def _holds(self, owner: types.FunctionType, arguments: Arguments | None) -> bool:
        one, other = [eval(place, dict(arguments or {})) for place in (self.first, self.second)]
        return self._test()(one, other)

    def _test(self) -> Callable[[Any, Any], bool]:
        if self.first == self.second:
            return _apart_in_list
        is_plain = not self.first.endswith("[:]") and not self.second.endswith("[:]")
        return _apart if is_plain else _all_apart

    def _conditions(self, owner: types.FunctionType, expressions: Expressions) -> list[str]:
        places = ", ".join(map(expressions.place, (self.first, self.second)))
        if self._test() is _apart:
            return [f"not {expressions.names.add(np.may_share_memory)}({places})"]
        return [f"{expressions.names.add(self._test())}({places})"]

    def _dump(self) -> dict[str, Any]:
        return {"first": self.first, "second": self.second}

    @classmethod
    def load(cls, item: dict[str, Any], owner: types.FunctionType | None, function: types.FunctionType) -> Guard:
        return SeparateGuard(item["first"], item["second"])


def _apart(one: Any, other: Any) -> bool:
    return not np.may_share_memory(one, other)


def _all_apart(one: Any, other: Any) -> bool:
    return all(_apart(a, b) for a in _arrays_in(one) for b in _arrays_in(other))


def _apart_in_list(items: list[Any], _: list[Any]) -> bool:
    """Whether no two arrays in a list share memory: in the order of memory only neighbours can."""
    bounds = sorted(np.lib.array_utils.byte_bounds(a) for a in _arrays_in(items) if a.size)
    return all(end <= start for (_, end), (start, _) in itertools.pairwise(bounds))


def _arrays_in(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple, dict)):
        return [a for item in (value.values() if isinstance(value, dict) else value) for a in _arrays_in(item)]
    return [value] if isinstance(value, np.ndarray) else []


def _length(dim: Dim, arguments: Arguments) -> int:
    """The length that a dimension of an argument has now."""
    if dim.is_constant:
        return dim.offset
    return length_of(dim.symbol, arguments) + dim.offset


def _renamed(symbol: str, names: dict[str, str]) -> str:
    """A symbol in other names of the parameters."""
    if not symbol:
        return symbol
    base, name, axis = split_symbol(symbol)
    return f"{names[name]}{base[len(name) :]}.{axis}"
