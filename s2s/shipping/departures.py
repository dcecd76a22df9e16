"""A version in, the kinds of arguments out for which its text is not right: those for which the compiler would write
another one.

    def f_grad(x, y):          f8[:], f8[:]     x_bar = y
                               f8[1], f8[:]     x_bar = np.sum(y, keepdims=True)     so a length of 1 is a departure
                               f4[:], f8[:]     not asked: the numbers are as good as they can be

Each departure is one argument, or one array or number in it, of another kind: more or fewer dimensions, an axis of
one element, integers or complex numbers for floats, an array for a number. The compiler is asked for the
text of each. What it refuses is a departure. That is not asked of long texts, and not more often than ``MOST`` times:
what is not asked is taken for one. An axis of one element is none where all lengths are equal: nothing is broadcast.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator

import numpy as np

from s2s.core.record import replace
from s2s.core.values import AbstractValue, Array, Dim, Instance, Mapping, Scalar, Sequence
from s2s.dispatch.version import Version
from s2s.errors import DifferentiationError
from s2s.versions.argument_guards import EqualGuard
from s2s.versions.expressions import split_symbol
from s2s.versions.signature import key, with_length

__all__ = ["Condition", "Departures", "Remade"]

Remade = Callable[[Version, int, AbstractValue], Version]
"""The version with another abstract value in the place of one of its arguments."""

MOST = 64
LONG = 400
RANKS = range(5)
LETTERS = {"f": "f", "c": "c", "i": "iu", "u": "iu", "b": "b"}
OTHER_DTYPES = {"f": ("i8", "c16"), "c": ("f8",), "i": ("f8", "c16", "?"), "u": ("f8", "c16", "?"), "b": ("i8", "f8")}

Condition = tuple[str, str]
"""A test for an argument that the text is not right for, and for people what it was made for."""


class Departures:
    """Asks the compiler what another kind of argument would change in the text of a version."""

    def __init__(self, version: Version, text: Callable[[Version], str], remade: Remade | None) -> None:
        self.version, self.text, self.remade = version, text, remade
        self.entry = version.compiled.entry
        self.left = MOST
        self.at_one: dict[frozenset[str], bool] = {}
        self.written = own = text(version)
        self.own = _without_defaults(own, self.entry)
        if own.count("\n") > LONG:
            self.remade = None
        self.varied = {path[0] for path in version.request.wrt}
        self.may_broadcast = _count_lengths(version) > 1

    def of_argument(self, number: int, name: str) -> Iterator[Condition]:
        """What holds for an argument that the text is not right for."""

        def changes(aval: AbstractValue) -> bool:
            return self._changes(number, aval)

        aval = self.version.avals[number]
        yield from self._of(name, aval, name in self.varied, changes)

    def of_part(self, place: str, aval: AbstractValue) -> Iterator[Condition]:
        """The same of a part of an object, of which nothing else can be asked."""
        yield from self._of(place, aval, False, lambda other: not _is_wider(other))

    def _changes(self, number: int, aval: AbstractValue) -> bool:
        """Whether the text is another one for this argument."""
        return self._is_other(self.version, number, aval)

    def _is_other(self, version: Version, number: int, aval: AbstractValue) -> bool:
        if self.remade is None or self.left <= 0:
            return True
        self.left -= 1
        try:
            other = self.remade(version, number, aval)
            text = self.text(other)
        except DifferentiationError:
            return True
        mine, theirs = self.version.compiled.objects, other.compiled.objects
        is_same = mine.keys() == theirs.keys() and all(mine[name] is theirs[name] for name in mine)
        return not is_same or (text != self.written and _without_defaults(text, self.entry) != self.own)

    def _of(
        self, place: str, aval: AbstractValue, is_varied: bool, changes: Callable[[AbstractValue], bool]
    ) -> Iterator[Condition]:
        if isinstance(aval, Array):
            tests = [*self._of_array(place, aval, is_varied, changes)]
        elif isinstance(aval, Scalar):
            tests = [*self._of_number(place, aval, is_varied, changes)]
        elif isinstance(aval, (Sequence, Mapping, Instance)):
            yield from self._of_items(place, aval, is_varied, changes)
            return
        else:
            return
        for test in tests:
            length, _, partner = test.partition(" == 1 != ")
            yield test, f"{length} == {partner}" if partner else f"{place}: {key(aval).replace(',', ', ')}"

    def _of_items(
        self,
        place: str,
        aval: Sequence | Mapping | Instance,
        is_varied: bool,
        changes: Callable[[AbstractValue], bool],
    ) -> Iterator[Condition]:
        if isinstance(aval, Sequence):
            places = [f"{place}[{k}]" for k in range(len(aval.items))]
        elif isinstance(aval, Mapping):
            places = [f"{place}[{key!r}]" for key in aval.keys]
        else:
            places = [f"{place}.{key}" for key in aval.keys]
        for k, (inner, item) in enumerate(zip(places, aval.items, strict=True)):

            def of_item(other: AbstractValue, k: int = k) -> bool:
                return changes(replace(aval, items=(*aval.items[:k], other, *aval.items[k + 1 :])))

            yield from self._of(inner, item, is_varied, of_item)

    def _of_array(
        self, place: str, aval: Array, is_varied: bool, changes: Callable[[AbstractValue], bool]
    ) -> Iterator[str]:
        tests = [*self._of_dtype(place, aval, is_varied, changes)]
        if aval.shape is not None:
            own = len(aval.shape)
            ranks = sorted((rank for rank in RANKS if rank not in (0, own)), key=lambda rank: abs(rank - own))
            if any(self._changes_at(rank, aval, place, changes) for rank in ranks):
                tests.append(f"{place}.ndim != {own}")
            elif own and self._changes_at(0, aval, place, changes):
                tests.append(f"{place}.ndim == 0")
            tests += self._of_lengths(place, aval, aval.shape, changes)
        if not tests and changes(Sequence(list, (Scalar(float),) * 3)):
            tests.append(f"isinstance({place}, (list, tuple))")
        yield from tests

    def _of_dtype(
        self, place: str, aval: Array, is_varied: bool, changes: Callable[[AbstractValue], bool]
    ) -> Iterator[str]:
        kind, letters = aval.dtype.kind, LETTERS.get(aval.dtype.kind, "")
        others = OTHER_DTYPES.get(kind, ())
        if is_varied and kind in "fc":
            differ = others  # an integer has no derivative
        else:
            differ = tuple(name for name in others if changes(Array(np.dtype(name), aval.shape, aval.kind)))
        if not differ:
            return
        if differ == ("c16",):
            yield f'{place}.dtype.kind == "c"'
        elif len(letters) == 1:
            yield f'{place}.dtype.kind != "{kind}"'
        else:
            yield f'{place}.dtype.kind not in "{letters}"'

    def _changes_at(self, rank: int, aval: Array, place: str, changes: Callable[[AbstractValue], bool]) -> bool:
        """Whether the text is another one for so many dimensions. What is right for a number is for an array without
        any, but that the result may be a number as well."""
        return changes(_of_rank(aval, place, rank)) and (rank != 0 or changes(Scalar(aval.dtype.type)))

    def _of_lengths(
        self, place: str, aval: Array, shape: tuple[Dim, ...], changes: Callable[[AbstractValue], bool]
    ) -> Iterator[str]:
        ones = []
        for axis, dim in enumerate(shape):
            other = Dim(f"{place}.{axis}") if dim.is_constant else Dim("", 1)
            if dim.symbol.startswith("?") or not (dim.is_constant or self.may_broadcast):
                continue
            if not changes(_with(aval, axis, other)):
                continue
            if dim.is_constant:
                yield f"{_length(place, axis)} != {dim.offset}"
            elif partner := self._partner(dim.symbol):
                yield f"{_length(place, axis)} == 1 != {partner}"
            else:
                ones.append(axis)
        if ones and len(ones) == len(shape) > 1:
            yield f"1 in {place}.shape"
        else:
            yield from (f"{_length(place, axis)} == 1" for axis in ones)

    def _partner(self, symbol: str) -> str:
        """The length of which the text is right for this one as 1 where it is 1 as well: nothing is broadcast then.
        Empty where there is none. Lengths that may be 1 alone may be so beside them."""
        lengths = dict.fromkeys(dim for aval in self.version.avals for dim in _lengths_in(aval))
        symbols = [dim.symbol for dim in lengths if dim.symbol and not dim.offset and not dim.symbol.startswith("?")]
        others = [one for one in symbols if one != symbol] if symbol in symbols else []
        free = [one for one in others if not self._differs_at_one(one)]
        for other in others:
            if not self._differs_at_one(symbol, other) and not self._differs_at_one(symbol, other, *free):
                base, _, axis = split_symbol(other)
                return _length(base, int(axis))
        return ""

    def _differs_at_one(self, *symbols: str) -> bool:
        """Whether the text is another one where these lengths are 1."""
        asked = frozenset(symbols)
        if asked not in self.at_one:
            other = copy.copy(self.version)
            for symbol in symbols:
                other.avals = tuple(with_length(aval, symbol, 1) for aval in other.avals)
            self.at_one[asked] = self._is_other(other, 0, other.avals[0])
        return self.at_one[asked]

    def _of_number(
        self, place: str, aval: Scalar, is_varied: bool, changes: Callable[[AbstractValue], bool]
    ) -> Iterator[str]:
        kind = aval.type
        if is_varied and kind in (float, complex):
            yield f"not isinstance({place}, {kind.__name__})"  # np.float64 is one; an integer has no derivative
            return
        is_int = issubclass(kind, (int, np.integer)) and kind is not bool
        if is_int and changes(Scalar(float)):
            yield f"not isinstance({place}, (int, np.integer))"
            return
        if issubclass(kind, (float, np.floating)) and changes(Scalar(int)):
            yield f'hasattr({place}, "__index__")'
        if any(changes(Array(np.dtype(float), (Dim(f"{place}.0"),) * rank)) for rank in (1, 0)):
            yield f'hasattr({place}, "__len__")'
        if not issubclass(kind, (complex, np.complexfloating)) and changes(Scalar(complex)):
            yield f"{place}.imag"


def _count_lengths(version: Version) -> int:
    """How many lengths other than 1 the arrays of the arguments have, as far as the version knows: two may be equal
    without its knowing. A constant beside a length that is not known is of another kind of axis."""
    found = [(number, dim) for number, aval in enumerate(version.avals) for dim in _lengths_in(aval)]
    has_unknown = {number for number, dim in found if dim.symbol}
    same = {dim: dim for number, dim in found if dim.symbol or (dim.offset != 1 and number not in has_unknown)}
    for guard in version.compiled.guards:
        if isinstance(guard, EqualGuard) and guard.first in same and guard.second in same:
            one, other = same[guard.first], same[guard.second]
            same = {dim: one if kept == other else kept for dim, kept in same.items()}
    return len(set(same.values()))


def _lengths_in(aval: AbstractValue) -> Iterator[Dim]:
    if isinstance(aval, Array):
        yield from aval.shape or ()
    elif isinstance(aval, (Sequence, Mapping, Instance)):
        for item in aval.items:
            yield from _lengths_in(item)


def _is_wider(aval: AbstractValue) -> bool:
    """Whether a number of this kind serves as others do."""
    return isinstance(aval, Scalar) and aval.type in (int, float)


def _of_rank(aval: Array, place: str, rank: int) -> Array:
    shape = aval.shape or ()
    return Array(aval.dtype, (*shape[:rank], *(Dim(f"{place}.{axis}") for axis in range(len(shape), rank))), aval.kind)


def _with(aval: Array, axis: int, dim: Dim) -> Array:
    shape = aval.shape or ()
    return Array(aval.dtype, (*shape[:axis], dim, *shape[axis + 1 :]), aval.kind)


def _length(place: str, axis: int) -> str:
    return f"len({place})" if axis == 0 else f"{place}.shape[{axis}]"


def _without_defaults(text: str, entry: str) -> str:
    """The text as a tree, without the defaults of its entry, which are no part of what it computes."""
    tree = ast.parse(text)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == entry:
            node.args.defaults = []
    return ast.dump(tree)
