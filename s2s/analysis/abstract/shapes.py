"""Symbolic shapes: broadcasting and indexing of shapes whose lengths are symbols, and what was assumed about them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from s2s.core.ir import Const
from s2s.core.values import UNKNOWN, AbstractValue, Array, Dim, Known, ListOf, Mapping, Scalar, Sequence, Unknown

ONE = Dim("", 1)

Terms: TypeAlias = "tuple[tuple[str, int], ...]"
"""Symbols of lengths of arguments, each with a factor."""


@dataclass
class Facts:
    """What is assumed of lengths: ``symbol != value`` for every pair in ``assumed``; and a supply of new symbols."""

    assumed: set[tuple[str, int]] = field(default_factory=set)
    equal: dict[str, int] = field(default_factory=dict)
    """Lengths of arguments that are taken to have a value, as a guard; ``least`` those that are taken to be no smaller.
    Both are known from the beginning when the function is specialised again."""
    least: dict[str, int] = field(default_factory=dict)
    fresh: int = 0
    forced: list[tuple[Dim, Dim]] = field(default_factory=list)
    """Pairs of lengths that the operation looked at last needs to be equal, or NumPy raises an error."""
    may_be_integer: bool = False
    """Whether the array of floats that the operation looked at last gives is one of integers on some path."""

    standing: frozenset[str] = frozenset()
    """Lengths that what a loop carries may have in any iteration."""

    alike: set[tuple[Dim, Dim]] = field(default_factory=set)
    """Pairs of lengths that are taken to be equal, under a guard: what a loop carries has one before it and the other
    after an iteration, or what paths join has one on each and an operation needs them to be equal."""
    needed: set[frozenset[Dim]] = field(default_factory=set)
    """Pairs of lengths of arguments that some operation needs to be equal."""
    sums: dict[str, Terms] = field(default_factory=dict)
    """What symbols of lengths stand for that are sums of multiples of lengths of arguments."""
    bounded: set[tuple[Terms, int, str]] = field(default_factory=set)
    """Such sums, each with a number, that are taken not to be negative, or not to be one, under a guard."""
    is_carried: bool = False
    """Whether what is joined is what a loop carries."""

    def fresh_dim(self) -> Dim:
        """A length of which nothing is known."""
        self.fresh += 1
        return Dim(f"?{self.fresh}")

    def joined(self, one: Dim, other: Dim) -> Dim:
        """The length of what has one length on one path and another on the other. One of those in ``standing`` stands
        for any, so that joining it again changes nothing."""
        if one == other or one.symbol in self.standing:
            return one
        if one.symbol != other.symbol and _may_be_guarded(one) and _may_be_guarded(other):
            if self.is_carried or frozenset((one, other)) in self.needed:
                self.alike.add((one, other))
                return other if other.is_constant else one
        self.fresh += 1
        return Dim(f"?~{self.fresh}")

    def must_be_equal(self, one: Dim, other: Dim) -> bool:
        """Whether two lengths are equal, or an operation raises an error."""
        reached, grows = {one}, True
        while grows and other not in reached:
            linked = [pair for pair in self.needed if not pair.isdisjoint(reached) and not pair <= reached]
            reached, grows = reached.union(*linked), bool(linked)
        return other in reached

    def may_be_one(self, dim: Dim) -> bool:
        """Whether a length can be 1. Lengths of arguments are not 1; ``n + k`` is assumed not to be, as a guard."""
        if dim.is_constant:
            return dim.offset == 1
        if dim.symbol in self.sums:
            self.bounded.add((self.sums[dim.symbol], dim.offset, "!= 1"))
            return False
        if dim.symbol.startswith("?"):
            return True
        if dim.symbol.startswith("*"):
            return bool(dim.offset)
        if dim.offset:
            self.assumed.add((dim.symbol, 1 - dim.offset))
        return False

    def is_never_one(self, dim: Dim) -> bool:
        """Whether a length is not 1, as it is or by a guard that there is."""
        if dim.is_constant:
            return dim.offset != 1
        if dim.symbol[0] in "?*":
            return dim.symbol[0] == "*" and not dim.offset
        return not dim.offset or (dim.symbol, 1 - dim.offset) in self.assumed

    def is_at_least(self, dim: Dim, least: int) -> bool:
        """Whether a length is no smaller, by a guard for each smaller one where it is that of an argument."""
        if dim.is_constant:
            return dim.offset >= least
        smaller = range(least - dim.offset)
        if dim.symbol[0] in "?*" or len(smaller) > MOST_EXCLUDED:
            return False
        self.assumed |= {(dim.symbol, value) for value in smaller if value != 1}
        return True


    def one_of(self, item: AbstractValue) -> AbstractValue:
        """One item of a list whose items are like ``item``. A length of which nothing is known is another one in each
        item: that of ``xs[0]`` says nothing of that of ``xs[1]``."""
        return _with_own_lengths(item, self, {})


def _with_own_lengths(value: AbstractValue, facts: Facts, own: dict[str, str]) -> AbstractValue:
    def length(dim: Dim) -> Dim:
        if not dim.symbol.startswith("?"):
            return dim
        if dim.symbol not in own:
            own[dim.symbol] = facts.fresh_dim().symbol
        return Dim(own[dim.symbol], dim.offset)

    match value:
        case Array(dtype, tuple() as shape):
            return Array(dtype, tuple(map(length, shape)))
        case Scalar(kind, Dim() as dim):
            return Scalar(kind, length(dim))
        case Sequence(kind, items):
            return Sequence(kind, tuple(_with_own_lengths(i, facts, own) for i in items))
        case Mapping(keys, items):
            return Mapping(keys, tuple(_with_own_lengths(i, facts, own) for i in items))
        case _:
            return value


def _may_be_guarded(dim: Dim) -> bool:
    """Whether a length is one that a guard can ask for: of an argument, or a number (which 0 and 1 are by chance)."""
    return dim.offset > 1 if dim.is_constant else dim.symbol[0] not in "?*"


MOST_EXCLUDED = 8
"""A guard excludes no more lengths of an argument than these."""


def product(dims: tuple[Dim, ...]) -> Dim | None:
    """The number of elements of a shape: ``*X.0*X.1`` for lengths of arguments; None where it is not known."""
    count, symbols = 1, []
    for dim in dims:
        if dim.is_constant:
            count *= dim.offset
        elif dim.offset or dim.symbol.startswith("?"):
            return None
        else:
            symbols += dim.symbol.lstrip("*").split("*")
    if not symbols:
        return Dim("", count)
    if count != 1:
        return None
    return Dim(symbols[0]) if len(symbols) == 1 else Dim("*" + "*".join(sorted(symbols)))


def broadcast(shapes: list[tuple[Dim, ...]], facts: Facts) -> tuple[Dim, ...]:
    """The shape of an elementwise result."""
    longest = max(shapes, key=len, default=())
    if all(not s or s == longest for s in shapes):
        return longest
    rank = max(map(len, shapes), default=0)
    result = []
    for axis in range(-rank, 0):
        dims = [s[axis] for s in shapes if len(s) >= -axis]
        result.append(_broadcast_dims(dims, facts))
    return tuple(result)


def _broadcast_dims(dims: list[Dim], facts: Facts) -> Dim:
    rest = [d for d in dict.fromkeys(dims) if d != ONE]
    if not rest:
        return ONE
    if len(rest) == 1:
        return rest[0]
    if any(d.is_constant for d in rest) and len({d.offset for d in rest if d.is_constant}) > 1:
        raise ValueError("shapes that do not broadcast")
    facts.forced += [(rest[0], d) for d in rest[1:] if not facts.may_be_one(d) and not facts.may_be_one(rest[0])]
    for dim in sorted(rest, key=lambda d: (not d.is_constant, d.symbol.startswith("?"), bool(d.offset))):
        if not facts.may_be_one(dim):
            return dim
    return facts.fresh_dim()


def same_shape(small: tuple[Dim, ...], large: tuple[Dim, ...], facts: Facts) -> bool:
    """Whether a shape that was broadcast to ``large`` certainly was that before: a length that is not 1 is kept."""
    return len(small) == len(large) and all(
        m == n or not facts.may_be_one(m) for m, n in zip(small, large, strict=True)
    )


def slice_length(dim: Dim, start: AbstractValue, stop: AbstractValue, step: AbstractValue, facts: Facts) -> Dim:
    """The length of a slice of a dimension."""
    if not (isinstance(step, Known) and step.value in (None, 1)):
        both_none = isinstance(start, Known) and start.value is None and isinstance(stop, Known) and stop.value is None
        if both_none and isinstance(step, Known) and step.value == -1:
            return dim
        return facts.fresh_dim()
    low, high = _bound(start, dim, Dim("", 0)), _bound(stop, dim, dim)
    if low is None or high is None:
        return facts.fresh_dim()
    if dim.is_constant and low.is_constant and high.is_constant:
        return Dim("", len(range(dim.offset)[low.offset : high.offset]))
    if low.symbol == high.symbol == dim.symbol and low.symbol:
        if high.offset <= low.offset:
            return Dim("", 0)
        if facts.is_at_least(dim, dim.offset - low.offset):
            return Dim("", high.offset - low.offset)
    if low.is_constant and high.is_constant and high.offset <= facts.least.get(dim.symbol, 0) + dim.offset:
        facts.is_at_least(dim, high.offset)
        return Dim("", max(0, high.offset - low.offset))
    if low.symbol == high.symbol:
        return Dim(f"?{dim}[{low}:{high}]")
    if high.symbol == dim.symbol and low.is_constant and high.offset <= dim.offset:
        return Dim(dim.symbol, high.offset - low.offset)
    return Dim(f"?{dim}[{low}:{high}]")


def _bound(value: AbstractValue, dim: Dim, default: Dim) -> Dim | None:
    """A slice bound as a length from the start."""
    if isinstance(value, Known):
        if value.value is None:
            return default
        if isinstance(value.value, (int, np.integer)):
            at = int(value.value)
            return Dim("", at) if at >= 0 else Dim(dim.symbol, max(0, dim.offset + at) if not dim.symbol else
                                                   dim.offset + at)
        return None
    if isinstance(value, Scalar) and value.dim is not None:
        return value.dim if value.dim.symbol == dim.symbol else None
    return None


def index_shape(shape: tuple[Dim, ...], index: AbstractValue, facts: Facts) -> tuple[Dim, ...] | Unknown | None:
    """The shape of ``x[index]`` for an array of this shape; None where only the rank is in doubt."""
    items = list(index.items) if isinstance(index, Sequence) and index.type is tuple else [index]
    if isinstance(index, Known) and isinstance(index.value, tuple):
        items = [Known(Const(v)) for v in index.value]
    if any(isinstance(i, Unknown) for i in items):
        return UNKNOWN
    consumed = sum(_consumes(i) for i in items)
    if not any(isinstance(i, Known) and i.value is Ellipsis for i in items):
        items.append(Known(Const(Ellipsis)))
    rest = len(shape) - consumed
    if rest < 0:
        return UNKNOWN
    return _indexed(shape, items, rest, facts)


def _consumes(item: AbstractValue) -> int:
    if isinstance(item, Known) and (item.value is None or item.value is Ellipsis):
        return 0
    if isinstance(item, Array) and item.dtype == bool:
        return len(item.shape or ())
    return 0 if _is_bool(item) else 1


def _is_bool(item: AbstractValue) -> bool:
    """Whether it is a bool, which as an index chooses all or nothing along a new dimension."""
    kind = type(item.value) if isinstance(item, Known) else item.type if isinstance(item, Scalar) else None
    return kind in (bool, np.bool_)


def _indexed(
    shape: tuple[Dim, ...], items: list[AbstractValue], rest: int, facts: Facts
) -> tuple[Dim, ...] | Unknown | None:
    result: list[Dim] = []
    fancy: list[tuple[Dim, ...]] = []
    places: list[int] = []
    axis = 0
    for position, item in enumerate(items):
        match item:
            case Known() if item.value is None:
                result.append(ONE)
            case Known() if item.value is Ellipsis:
                result.extend(shape[axis : axis + rest])
                axis += rest
            case Known() if isinstance(item.value, slice):
                s = item.value
                start, stop, step = (Known(Const(b)) for b in (s.start, s.stop, s.step))
                result.append(slice_length(shape[axis], start, stop, step, facts))
                axis += 1
            case Sequence(kind, (start_, stop_, step_)) if kind is slice:
                result.append(slice_length(shape[axis], start_, stop_, step_, facts))
                axis += 1
            case Known() | Scalar() if _is_bool(item):
                fancy.append((facts.fresh_dim(),))
                places.append(position)
                result.append(Dim("?mark", len(fancy)))
            case Known() if isinstance(item.value, (int, np.integer)):
                axis += 1
                fancy.append(())
                places.append(position)
            case Scalar(kind) if kind is not object and issubclass(kind, (int, np.integer)):
                axis += 1
                fancy.append(())
                places.append(position)
            case Array(dtype, dims) if dims is not None and dtype.kind == "b":
                axis += len(dims)
                fancy.append((facts.fresh_dim(),))
                places.append(position)
                result.append(Dim("?mark", len(fancy)))
            case Array(dtype, dims) if dims is not None and dtype.kind in "iu":
                axis += 1
                fancy.append(dims)
                places.append(position)
                result.append(Dim("?mark", len(fancy)))
            case Sequence(kind, inner) if kind is list and all(_is_int(i) for i in inner):
                axis += 1
                fancy.append((Dim("", len(inner)),))
                places.append(position)
                result.append(Dim("?mark", len(fancy)))
            case ListOf() | _:
                return UNKNOWN
    return _place_fancy(result, fancy, places, facts)


def _is_int(value: AbstractValue) -> bool:
    if isinstance(value, Known):
        return type(value.value) is int
    return isinstance(value, Scalar) and value.type is int


def _place_fancy(
    result: list[Dim], fancy: list[tuple[Dim, ...]], places: list[int], facts: Facts
) -> tuple[Dim, ...] | None:
    """Put the broadcast shape of the index arrays where NumPy puts it: at the first of them where they stand side by
    side (integers count with them), in front otherwise."""
    marks = [i for i, d in enumerate(result) if d.symbol == "?mark"]
    if not marks:
        return tuple(result)
    joint = broadcast([f for f in fancy if f], facts)
    plain = [d for d in result if d.symbol != "?mark"]
    adjacent = places[-1] - places[0] == len(places) - 1
    at = marks[0] if adjacent else 0
    return (*plain[:at], *joint, *plain[at:])
