"""Lengths by arithmetic: how long a slice is whose bounds are sums, and an array that is made of such a length.

    for i in range(height - k + 1):
        x[i : i + k]                    has the length k: 0 <= i, and i + k <= height

    np.zeros(height - k + 1)            has the length ?{height-k} + 1, as x[i : i + height - k + 1] has for i < k

A number is a sum of lengths, of items of loops and of other numbers that are not taken apart. It is at least zero where
it is so with each item at the end of its range that makes it small, and no length has a sign. A length that is no
argument's may be one, like any that begins with ``?``.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from s2s.analysis.abstract.lattice import length_of
from s2s.analysis.abstract.shapes import Terms
from s2s.core import ir, ops
from s2s.core.values import Array, Dim, Known, Sequence

if TYPE_CHECKING:
    from s2s.builder.builder import Builder, Context

__all__ = [
    "Sum", "ends_of", "is_inside", "is_natural", "made_of_lengths", "minus", "slice_length", "sum_of", "sum_of_length",
]

Sum: TypeAlias = "dict[Any, int]"
"""Factors by what they belong to: the symbol of a length, a variable, or None for the number in the sum."""

_MAKERS: frozenset[Any] = frozenset({np.zeros, np.ones, np.empty, np.full})
_DEPTH = 8
"""A sum is not followed further than this into how its terms were made."""


def slice_length(builder: Builder, part: ir.Atom, whole: Dim) -> Dim | None:
    """The length of ``x[start:stop]`` where ``x`` has a length ``whole``; None where it is not certain."""
    context = builder.context
    bounds = context.definition(part, slice)
    if bounds is None or len(bounds) != 3 or bounds[2] not in (ir.Const(None), ir.Const(1)):
        return None
    start, stop, end = sum_of(context, bounds[0]), sum_of(context, bounds[1]), sum_of_length(context, whole)
    start = {} if bounds[0] == ir.Const(None) else start
    stop = end if bounds[1] == ir.Const(None) else stop
    if start is None or stop is None or end is None:
        return None
    length = _plus(stop, start, -1)
    if not all(_is_length(symbol) for symbol in length):
        return None
    if not is_natural(builder, start):
        return None
    for number in (_plus(end, stop, -1), length):
        if not is_inside(builder, number):
            return None
    return _dim(context, length)


def is_inside(builder: Builder, number: Sum, fewest: int = 2) -> bool:
    """Whether a number, how far a bound is from an end, is not negative: certainly, or under a guard, where it is a sum
    of at least so many lengths."""
    if is_natural(builder, number):
        return True
    least = _least(builder.context, number)
    return least is not None and _is_taken_natural(builder.context, least, fewest)


def _is_taken_natural(context: Context, number: Sum, fewest: int = 2) -> bool:
    """Whether a sum of lengths of several arguments is taken not to be negative, under a guard: most slices lie inside
    what they are of."""
    terms = _terms(number)
    if terms is None or len(terms) < fewest or any(symbol.startswith(("?", "*")) for symbol, _ in terms):
        return False
    context.evaluator.facts.bounded.add((terms, number.get(None, 0), ">= 0"))
    return True


def _terms(number: Sum) -> Terms | None:
    if not all(map(_is_length, number)):
        return None
    return tuple(sorted((symbol, times) for symbol, times in number.items() if symbol is not None))


def made_of_lengths(builder: Builder, fn: Any, args: tuple[ir.Atom, ...], known: Array) -> Array:
    """What is known of an array that a call makes of the lengths that it is given."""
    if fn not in _MAKERS or not args or known.shape is None:
        return known
    context = builder.context
    parts = context.definition(args[0], ops.make_tuple) or (args[0],)
    if len(parts) != len(known.shape):
        return known
    dims = list(known.shape)
    for k, part in enumerate(parts):
        length = sum_of(context, part) if dims[k].symbol.startswith("?") else None
        if length is not None and all(map(_is_length, length)):
            dims[k] = _dim(context, length)
            builder.naturals.append(length)  # a negative one has raised an error
    return Array(known.dtype, tuple(dims))


# --- sums -------------------------------------------------------------------------------------------------------------


def sum_of(context: Context, atom: ir.Atom, depth: int = _DEPTH) -> Sum | None:
    """A number as a sum; None for what is no integer of Python's."""
    value = context.value(atom)
    if isinstance(value, Known):
        return {None: value.value} if type(value.value) is int else None
    if isinstance(value, (Array, Sequence)) or getattr(value, "type", None) is not int:
        return None
    length = length_of(value)
    known = None if length is None else sum_of_length(context, length)
    if known is not None:
        return known
    made = context.definitions.get(atom) if isinstance(atom, ir.Var) and depth else None
    if isinstance(made, ir.Call) and made.fn in _SIGNS and len(made.args) == 2 and not made.kwargs:
        one, other = (sum_of(context, a, depth - 1) for a in made.args)  # type: ignore[arg-type]
        return None if one is None or other is None else _plus(one, other, _SIGNS[made.fn])  # type: ignore[index]
    if isinstance(made, ir.Call) and made.fn == _TIMES and len(made.args) == 2:
        for factor, of in (made.args, made.args[::-1]):
            number = sum_of(context, of, depth - 1) if _is_integer(factor) else None  # type: ignore[arg-type]
            if number is not None:
                return _plus({}, number, factor.value)  # type: ignore[union-attr]
    return {atom: 1}


def _is_integer(atom: Any) -> bool:
    return isinstance(atom, ir.Const) and type(atom.value) is int


_TIMES = ir.Const(operator.mul)
_SIGNS = {ir.Const(operator.add): 1, ir.Const(operator.sub): -1}


def sum_of_length(context: Context, dim: Dim) -> Sum | None:
    """A length as a sum; None for one that stands for several."""
    if dim.is_constant:
        return _without_zeros({None: dim.offset})
    if dim.symbol.startswith(("*", "?~", "?mark", "?int", "?list")):
        return None
    return _plus(context.sums.get(dim.symbol, {dim.symbol: 1}), {None: dim.offset}, 1)


def minus(one: Sum, other: Sum, number: int = 0) -> Sum:
    """The difference of two sums, and a number more."""
    return _plus(_plus(one, other, -1), {None: number}, 1)


def _plus(one: Sum, other: Sum, factor: int) -> Sum:
    return _without_zeros({k: one.get(k, 0) + factor * other.get(k, 0) for k in {**one, **other}})


def _without_zeros(found: Sum) -> Sum:
    return {k: n for k, n in found.items() if n}


def _is_length(symbol: Any) -> bool:
    return symbol is None or isinstance(symbol, str)


def _dim(context: Context, length: Sum) -> Dim:
    """A sum of lengths as one, with the same symbol for the same sum."""
    symbols = sorted(symbol for symbol in length if symbol is not None)
    if not symbols:
        return Dim("", length.get(None, 0))
    if len(symbols) == 1 and length[symbols[0]] == 1:
        return Dim(symbols[0], length.get(None, 0))
    terms = [f"{length[s]:+d}*{s}".replace("+1*", "+").replace("-1*", "-") for s in symbols]
    symbol = f"?{{{''.join(terms)}}}"
    context.sums[symbol] = {s: length[s] for s in symbols}
    if not any(s.startswith(("?", "*")) for s in symbols):
        context.evaluator.facts.sums[symbol] = tuple((s, length[s]) for s in symbols)
    return Dim(symbol, length.get(None, 0))


def is_natural(builder: Builder, number: Sum) -> bool:
    """Whether a number is certainly not negative: with the smallest that each item of a loop in it can be, it is one
    that an array was made with, a sum of lengths, or one of which a guard says so."""
    least = _least(builder.context, number)
    if least is None:
        return False
    return min(least.values(), default=0) >= 0 or builder.is_natural(least) or _is_guarded(builder.context, least)


def _is_guarded(context: Context, number: Sum) -> bool:
    """Whether a guard says that a sum of lengths is not negative."""
    return (_terms(number), number.get(None, 0), ">= 0") in context.evaluator.facts.bounded


def _least(context: Context, number: Sum) -> Sum | None:
    """The smallest that a number can be, in terms of no items of loops; None where that is not known."""
    found = number
    for _ in range(_DEPTH):
        items = [k for k in found if isinstance(k, ir.Var)]
        if not items:
            return found
        ends = {item: ends_of(context, item) for item in items}
        if None in ends.values():
            return None
        bounds = {item: both[found[item] < 0] for item, both in ends.items() if both is not None}
        # that of an inner loop, whose bounds are items of loops around it, comes first
        item = next((k for k in items if not {*items}.isdisjoint(bounds[k] or {})), items[0])
        end = bounds[item]
        if end is None:
            return None
        found = _plus({k: n for k, n in found.items() if k != item}, end, found[item])
    return None


def ends_of(context: Context, item: ir.Var) -> tuple[Sum | None, Sum | None] | None:
    """The smallest and the largest that an item of a loop over a range can be."""
    bounds = context.definition(context.ranges.get(item, ir.Const(None)), range)
    if bounds is None:
        return None
    start, stop, step = (ir.Const(0), *bounds, ir.Const(1)) if len(bounds) == 1 else (*bounds, ir.Const(1))[:3]
    first, end = sum_of(context, start), sum_of(context, stop)
    if first is None or end is None or not isinstance(step, ir.Const) or type(step.value) is not int or not step.value:
        return None
    if step.value > 0:
        return first, _plus(end, {None: 1}, -1)
    return _plus(end, {None: 1}, 1), first
