"""Abstract evaluation: the abstract value of a call from those of its arguments.

Types, dtypes and shapes of NumPy's functions are not written down here: NumPy is asked (``examples``). What is no
function of arrays has an entry in ``special``.
"""

from __future__ import annotations

import enum
import functools
import math
import operator
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.analysis.abstract import examples, lengths
from s2s.analysis.abstract.crosses import with_vectors
from s2s.analysis.abstract.examples import element_result
from s2s.analysis.abstract.folding import call_pure, is_long, is_pure, plain
from s2s.analysis.abstract.lattice import are_equal, is_number, join, known, length_of, shape_of
from s2s.analysis.abstract.meanings import SPECIAL
from s2s.analysis.abstract.numbers import ANY_INTEGER, ANY_SCALAR, AnyInteger, alternatives, open_types, settled
from s2s.analysis.abstract.shapes import Facts, broadcast
from s2s.analysis.functions import facts
from s2s.core.annotated import signature_of
from s2s.core.array_classes import compiled_for
from s2s.core.functions import Varies
from s2s.core.inspection import is_hashable
from s2s.core.values import (
    NO_ITEM,
    UNKNOWN,
    AbstractValue,
    Array,
    Dim,
    IterableOf,
    Known,
    ListOf,
    Mapping,
    Scalar,
    Sequence,
    Unknown,
    is_record_class,
)
from s2s.rules import table
from s2s.versions.facts import Fact, Guards

__all__ = ["Evaluator"]


def _in_order(
    fn: Any, special: Any, args: tuple[AbstractValue, ...], kwargs: dict[str, AbstractValue]
) -> tuple[AbstractValue, ...] | None:
    """The arguments by position; None where ``special`` takes no such ones."""
    if not kwargs:
        return args
    known_of, most = _parameters(fn, special)
    names = known_of[len(args) : len(args) + len(kwargs)]
    if len(args) + len(kwargs) > most or set(names) != kwargs.keys():
        return None
    return args + tuple(kwargs[name] for name in names)


@functools.cache
def _parameters(fn: Any, special: Any) -> tuple[tuple[str, ...], int]:
    """The names of those that a function takes by position or name, and how many arguments an entry takes."""
    try:
        own, entry = signature_of(fn).parameters.values(), signature_of(special).parameters.values()
    except (TypeError, ValueError):
        return (), 0
    names = tuple(p.name for p in own if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD))
    return names, len([p for p in entry if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]) - 1


@dataclass
class Evaluator:
    """Gives abstract values of calls; ``facts`` collects what was assumed about lengths. ``fold`` opens a fact of the
    world: whoever compiles writes down the guards that come with it. Other modules than NumPy give arrays of rank 0
    where NumPy gives numbers of its own: with ``keeps_arrays`` what comes of arrays is such."""

    facts: Facts = field(default_factory=Facts)
    keeps_arrays: bool = field(default_factory=lambda: compiled_for() is not np.ndarray)
    fold: Callable[[Fact[Any]], Any] = field(default=lambda fact: fact.folded(Guards()))

    def call(
        self, fn: Any, args: tuple[AbstractValue, ...], kwargs: dict[str, AbstractValue] | None = None
    ) -> AbstractValue:
        """The abstract value of ``fn(*args, **kwargs)``; UNKNOWN where nothing can be said."""
        found = self._call(fn, args, kwargs)
        if self.keeps_arrays and holds_array((*args, *(kwargs or {}).values())):
            found = with_arrays(found)
        return NO_ITEM if found is UNKNOWN and any(a is NO_ITEM for a in args) else found

    def _call(
        self, fn: Any, args: tuple[AbstractValue, ...], kwargs: dict[str, AbstractValue] | None
    ) -> AbstractValue:
        if not kwargs and type(fn) in _OPERATIONS and facts(fn).elementwise and fn not in SPECIAL and fn not in _FOLDED:
            return self.elementwise(fn, args)
        kwargs = kwargs or {}
        can_be_looked_up = is_hashable(fn)
        special = SPECIAL.get(fn) if can_be_looked_up else None
        if not kwargs and is_record_class(fn):
            return Sequence(fn, args)
        ordered = args if special is None else _in_order(fn, special, args, kwargs)
        if special is not None and ordered is not None:
            found = special(self, *ordered)
            if found is not None:
                return found
        if _is_folded(fn):
            given = tuple(map(_as_known, args)), {k: _as_known(a) for k, a in kwargs.items()}
            if all(isinstance(a, Known) for a in (*given[0], *given[1].values())):
                return _on_constants(fn, *given)
        said = facts(fn)
        if said.elementwise and not kwargs:
            return self.elementwise(fn, args)
        varies = said.varies
        if not can_be_looked_up or varies is Varies.KIND:
            return UNKNOWN
        if fn is np.arange and not kwargs:
            found = lengths.of_arange(args, self.facts)
            if found is not None:
                return found
        if fn is np.arange and any(isinstance(a, (Scalar, Array)) and not _is_integer(a) for a in args):
            is_plain = not kwargs and all(map(_is_real, args))
            return Array(np.dtype(float), (self.facts.fresh_dim(),)) if is_plain else UNKNOWN
        if varies is Varies.COMPLEX and not any(map(_is_complex_array, args)):
            found = self.probe(fn, args, kwargs)
            return Sequence(found.type, (UNKNOWN,) * len(found.items)) if isinstance(found, Sequence) else UNKNOWN
        if fn is np.where and len(args) == 1:
            return UNKNOWN
        rule = table.find(fn)
        if rule is not None and rule is table.find(np.cross):
            args = with_vectors(args, kwargs, self.facts)
        if rule is not None and is_pure(fn):
            found = self.probe(fn, args, kwargs)
            if varies is Varies.LENGTH and not all(isinstance(v, Known) for v in (*args, *kwargs.values())):
                return self.with_open_lengths(found)
            return _of_dtype(fn, args, kwargs) if isinstance(found, Unknown) and fn in _MAKE_ARRAYS else found
        return UNKNOWN

    # --- elementwise

    def elementwise(self, fn: Any, args: tuple[AbstractValue, ...]) -> AbstractValue:
        """The result of a ufunc or an operator: its type by a call on one element, its shape by broadcasting."""
        types = {*map(type, args)}
        dims = None if Array in types else self._length_arithmetic(fn, args)
        if dims is not None:
            return dims
        if Scalar in types and fn in (math.isnan, math.isinf) and isinstance(args[0], Scalar) and args[0].type is int:
            return known(False)
        if (fn is operator.eq or fn is operator.ne) and len(args) == 2:
            equal = are_equal(*args)
            if equal is not None:
                return known(equal is (fn is operator.eq))
        if not types or types == _KNOWN:
            return _on_constants(fn, args)
        if not types.isdisjoint(_CONTAINERS):
            return self.probe(fn, args, {}) if ListOf not in types else UNKNOWN
        if fn in _POWERS and len(args) == 2 and _may_be_reciprocal(*args):
            return ANY_INTEGER
        if Scalar in types and ANY_SCALAR in args:
            return ANY_SCALAR if all(map(is_number, args)) and fn is not np.where else UNKNOWN
        kinds = open_types(args) if Scalar in types else None
        if kinds:
            return self._on_every_path(fn, args, {}, kinds)
        if Array in types and any(isinstance(a, Array) and a.shape is None for a in args):
            ones = tuple(Array(a.dtype, (Dim("", 1),)) if isinstance(a, Array) else a for a in args)
            made = element_result(fn, ones)
            return Array(made.dtype, None) if isinstance(made, Array) else UNKNOWN
        made = element_result(fn, args)
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
        """What comes of numbers whose types depend on the path taken: what is the same for all of them. An array that
        is of integers on one path and of floats on another is taken for one of floats, which nothing is stored into."""
        paths = [
            (tuple(settled(a, chosen) for a in args), {k: settled(v, chosen) for k, v in kwargs.items()})
            for chosen in alternatives(kinds)
        ]
        made = [self.call(fn, *path) for path in paths]
        if kinds == {AnyInteger}:
            if isinstance(made[1], Unknown) and not isinstance(made[0], Unknown) and examples.refuses(fn, *paths[1]):
                return made[0]
            if made == [Scalar(int), Scalar(float)]:
                return ANY_INTEGER
        if all(isinstance(m, Array) for m in made):
            floats = [m for m in made if m.dtype.kind == "f"]  # type: ignore[union-attr]
            if floats and all(m.dtype.kind in "fiu" for m in made):  # type: ignore[union-attr]
                self.facts.may_be_integer |= len(floats) < len(made)
                made = floats
        found = made[0]
        for other in made[1:]:
            found = join(found, other, self.facts)
        power = fn in (operator.pow, rt.power) and not (isinstance(args[1], Known) and type(args[1].value) is int)
        return ANY_SCALAR if power and isinstance(found, Scalar) else found  # complex for a negative float

    def _length_arithmetic(self, fn: Any, args: tuple[AbstractValue, ...]) -> AbstractValue | None:
        """Sums and differences of lengths and constants stay lengths."""
        if fn not in (operator.add, operator.sub) or len(args) != 2:
            return None
        a, b = (length_of(v) for v in args)
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
        """The result of a pure function, by calling it on small examples."""
        kinds = open_types((*args, *kwargs.values()))
        if kinds:
            return self._on_every_path(fn, args, kwargs, kinds)
        is_method = isinstance(fn, types.MethodDescriptorType) and fn.__objclass__ is np.ndarray
        if is_method and args and isinstance(args[0], Scalar):
            fn = getattr(np.generic, fn.__name__, fn)
        if not _ITERABLES.isdisjoint(map(type, args)):  # what comes of them has lengths of their items
            args = tuple(map(self._with_items, args))
        return examples.probe(fn, args, kwargs, self.facts)

    def _with_items(self, value: AbstractValue) -> AbstractValue:
        """A container of like items, with the lengths of one of them."""
        if isinstance(value, ListOf):
            return ListOf(self.facts.one_of(value.item))
        return IterableOf(value.type, self.facts.one_of(value.item)) if isinstance(value, IterableOf) else value

    def with_open_lengths(self, value: AbstractValue) -> AbstractValue:
        """A value with lengths that are not known where examples have shown some."""
        if isinstance(value, Sequence):
            return Sequence(value.type, tuple(map(self.with_open_lengths, value.items)))
        if not isinstance(value, Array) or value.shape is None:
            return value
        return Array(value.dtype, tuple(self.facts.fresh_dim() if d.is_constant else d for d in value.shape))


def holds_array(values: tuple[AbstractValue, ...]) -> bool:
    """Whether an array is among some values, or in containers of them."""
    return any(
        isinstance(v, Array) or (isinstance(v, Sequence | Mapping) and holds_array(v.items))
        or (isinstance(v, ListOf | IterableOf) and holds_array((v.item,)))
        for v in values)


def with_arrays(value: AbstractValue) -> AbstractValue:
    """A value with arrays of rank 0 in the place of NumPy's numbers."""
    match value:
        case Scalar(kind) if kind.__module__ == "numpy" and issubclass(kind, np.generic):
            return Array(np.dtype(kind), ())
        case Sequence(kind, items) if kind is not slice:
            return Sequence(kind, tuple(map(with_arrays, items)))
        case ListOf(item):
            return ListOf(with_arrays(item))
        case IterableOf(kind, item):
            return IterableOf(kind, with_arrays(item))
        case _:
            return value


def _on_constants(
    fn: Any, args: tuple[AbstractValue, ...], kwargs: dict[str, AbstractValue] | None = None
) -> AbstractValue:
    """The result on known objects: itself where it is an option or an integer, its type where it is a float."""
    try:
        named = {k: plain(a.value) for k, a in (kwargs or {}).items() if isinstance(a, Known)}
        made = call_pure(fn, [plain(a.value) for a in args if isinstance(a, Known)], named)
    except Exception:
        return UNKNOWN
    if type(made) in (int, str, bytes) and is_long(made):
        return Scalar(int) if type(made) is int else UNKNOWN
    if type(made) in (int, bool, str, bytes, types.UnionType) or isinstance(
        made, (np.dtype, np.finfo, np.iinfo, enum.Enum)
    ):
        return known(made)
    if isinstance(made, np.bool_):  # it decides tests
        return known(made)
    if type(made) is tuple and all(type(item) is int for item in made):
        return known(made)
    return Scalar(type(made)) if isinstance(made, (float, complex, np.generic)) else UNKNOWN


def _as_known(value: AbstractValue) -> AbstractValue:
    """A tuple or list of known objects as the known tuple."""
    if isinstance(value, Sequence) and value.type in (tuple, list) and all(isinstance(i, Known) for i in value.items):
        return known(tuple(i.value for i in value.items if isinstance(i, Known)))
    return value


def _is_integer(value: AbstractValue) -> bool:
    return isinstance(value, Scalar) and issubclass(value.type, (int, np.integer))


def _may_be_reciprocal(base: AbstractValue, exponent: AbstractValue) -> bool:
    """Whether a power of Python's integers may be a float, as that with a negative exponent is."""
    if not isinstance(exponent, Scalar) or exponent.type not in (int, AnyInteger) or exponent.dim is not None:
        return False
    return type(base.value) is int if isinstance(base, Known) else base in (Scalar(int), Scalar(bool), ANY_INTEGER)


def _is_real(value: AbstractValue) -> bool:
    """Whether it is an integer or a float of Python."""
    if isinstance(value, Known):
        return isinstance(value.value, (int, float))
    return value == Scalar(float) or _is_integer(value)


def _is_complex_array(value: AbstractValue) -> bool:
    return isinstance(value, Array) and value.dtype.kind == "c"


_KNOWN, _CONTAINERS, _ITERABLES = {Known}, frozenset({Sequence, ListOf, Mapping}), frozenset({ListOf, IterableOf})

_POWERS = frozenset({operator.pow, operator.ipow, rt.power})

# --- what a function is ---------------------------------------------------------------------------------------------

_FOLDED: frozenset[Any] = frozenset({
    np.finfo, np.iinfo, np.dtype, np.issubdtype, np.isdtype, np.result_type, np.promote_types, np.can_cast,
    np.any, np.all, np.lib.array_utils.normalize_axis_index, operator.index, rt.einsum_transpose, rt.einsum_alone,
})


def _is_folded(fn: Any) -> bool:
    """Whether a function of constants gives a constant: a method of a string or a number, a question about dtypes or
    truth."""
    if isinstance(fn, types.MethodDescriptorType):
        return fn.__objclass__ in (str, bytes, int, float, complex, np.dtype)
    return is_hashable(fn) and fn in _FOLDED


_OPERATIONS = frozenset({np.ufunc, types.BuiltinFunctionType})
"""The types of most elementwise functions."""

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
        dtype = call_pure(np.dtype, [plain(asked.value)])
    except Exception:
        return UNKNOWN
    return Array(dtype, None) if dtype.kind in "biufc" else UNKNOWN
