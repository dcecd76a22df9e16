"""What an index names: whether it may name an element twice, or one that another index names, by how it was made."""

from __future__ import annotations

import numpy as np

from s2s.analysis.abstract.lattice import is_number
from s2s.analysis.memory import is_basic, may_repeat
from s2s.builder.builder import Context
from s2s.builder.slice_lengths import Sum, minus, sum_of
from s2s.core import ir, ops
from s2s.core.record import record
from s2s.core.values import Array, Known

__all__ = ["are_apart", "names_twice"]


def names_twice(context: Context, index: ir.Atom) -> bool:
    """Whether an index may name an element twice. ``x[np.arange(n), labels]`` does not: it has one element of each row.
    Other arrays beside the ``arange`` have one dimension at most, so that they are not combined with all of it."""
    if not may_repeat(context.value(index)):
        return False
    parts = context.definition(index, ops.make_tuple) or (index,)
    if not any(_counts(context, part) for part in parts):
        return True
    for part in parts:
        known = context.value(part)
        if isinstance(known, Array):
            if known.dtype.kind not in "iu" or known.shape is None or len(known.shape) > 1:
                return True
        elif may_repeat(known) and not is_number(known):
            return True
    return False


def _counts(context: Context, part: ir.Atom) -> bool:
    """Whether it is ``np.arange(n)``, which nothing changes: numbers from zero, each once."""
    made = context.definition(part, np.arange) if part not in context.changed else None
    return made is not None and len(made) == 1 and is_number(context.value(made[0]))


def are_apart(context: Context, one: ir.Atom, other: ir.Atom) -> bool:
    """Whether two indices of one array certainly have no element in common, as ``x[:, :n]``, ``x[:, n : 2 * n]``."""
    pairs = list(zip(_parts(context, one), _parts(context, other)))
    if not all(is_basic(context.value(part)) for pair in pairs for part in pair):
        return False
    for a, b in pairs:
        if any(isinstance(v, Known) and v.value in (None, ...) for v in map(context.value, (a, b))):
            return False  # the axes that follow are counted otherwise
        first, second = _ends(context, a), _ends(context, b)
        if first is not None and second is not None and (
            _is_before(context, first[1], second[0]) or _is_before(context, second[1], first[0])
        ):
            return True
    return False


def _parts(context: Context, index: ir.Atom) -> tuple[ir.Atom, ...]:
    if isinstance(index, ir.Const) and type(index.value) is tuple:
        return tuple(map(ir.Const, index.value))
    return context.definition(index, ops.make_tuple) or (index,)


def _ends(context: Context, part: ir.Atom) -> tuple[ir.Atom, ir.Atom | _After] | None:
    """Where a part of an index begins and ends; None for one end where that is the axis's own."""
    value = context.value(part)
    if isinstance(value, Known) and type(value.value) is slice:
        taken = value.value
        bounds: tuple[ir.Atom, ...] = (ir.Const(taken.start), ir.Const(taken.stop), ir.Const(taken.step))
    elif getattr(value, "type", None) is slice:
        bounds = context.definition(part, slice) or ()
    else:
        return (part, _After(part)) if sum_of(context, part) is not None else None
    if len(bounds) != 3 or bounds[2] not in (ir.Const(None), ir.Const(1)):
        return None
    return bounds[0], bounds[1]


@record
class _After:
    """The place after one that is chosen by itself."""

    place: ir.Atom


def _is_before(context: Context, end: ir.Atom | _After, start: ir.Atom) -> bool:
    """Whether what ends there is before what begins there, however long the axis is: the same bound, which both count
    from the same end of the axis, or the one certainly not beyond the other where both are counted from the front."""
    place, after = (end.place, 1) if isinstance(end, _After) else (end, 0)
    low, high = sum_of(context, place), sum_of(context, start)
    if low is None or high is None:
        return False
    between = minus(high, low, -after)
    return (not after and not between) or all(map(_is_natural, (low, high, between)))


def _is_natural(number: Sum) -> bool:
    """Whether it is certainly not negative: a sum of lengths."""
    return all(times >= 0 and (symbol is None or isinstance(symbol, str)) for symbol, times in number.items())
