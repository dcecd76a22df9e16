"""Sets of the user's code: of constants, and of what is known to be equal or different (the shapes of arrays).

    shapes = {a.shape for a in arrays}
    if len(shapes) != 1: ...                ->      (folded, where the shapes are known to be the same)
"""

from __future__ import annotations

import collections
import operator
from collections.abc import Iterable
from typing import Any

from s2s.analysis.abstract.lattice import are_equal, type_of
from s2s.builder.builder import Context
from s2s.builder.virtual_heap import state_of, view_of
from s2s.core import ir, ops
from s2s.specialize.heap import making
from s2s.specialize.heap.making import Operation, entries_of, new_list
from s2s.specialize.site import At

__all__ = ["OPERATIONS", "MAKERS"]


# --- items ----------------------------------------------------------------------------------------------------------


def _are_one(context: Context, a: ir.Atom, b: ir.Atom) -> bool | None:
    """Whether two items are equal; None where that is not known."""
    if making.is_key(a) and making.is_key(b):
        return bool(a.value == b.value)  # type: ignore[union-attr]
    if a == b:
        return True
    if context.is_virtual(a) or context.is_virtual(b):
        return None
    return are_equal(context.value(a), context.value(b))


def _is_among(context: Context, item: ir.Atom, items: Iterable[ir.Atom]) -> bool | None:
    answers = [_are_one(context, item, other) for other in items]
    return True if True in answers else None if None in answers else False


def _distinct(context: Context, items: Iterable[ir.Atom]) -> list[ir.Atom] | None:
    """The items without those that are equal to one before; None where that is not known."""
    found: list[ir.Atom] = []
    for item in items:
        is_there = _is_among(context, item, found)
        if is_there is None or (not found and not _can_be_known(context, item)):
            return None
        if not is_there:
            found.append(item)
    return found


def _can_be_known(context: Context, item: ir.Atom) -> bool:
    """Whether an item is a constant, or a tuple: which of several numbers are equal shows when the program runs."""
    return making.is_key(item) or are_equal(context.value(item), context.value(item)) is not None


def _items(at: At, atom: ir.Atom) -> list[ir.Atom] | None:
    """The items of a container as a set has them, where they are known."""
    state = state_of(at.context, atom)
    if state is not None and state.kind is set:
        return None if state.whole is not None else list(state.items)
    found = at.items(atom)
    return None if found is None else _distinct(at.context, found)


# --- making sets ----------------------------------------------------------------------------------------------------


def _set(at: At, items: ir.Atom | None = None) -> ir.Atom | None:
    found = [] if items is None else _items(at, items)
    return None if found is None else new_list(at, found, set)


def _make_set(at: At, *items: ir.Atom) -> ir.Atom | None:
    found = _distinct(at.context, items)
    return None if found is None else new_list(at, found, set)


def _add_to_set(at: At, items: ir.Atom, item: ir.Atom) -> ir.Atom | None:
    """One more item of a set comprehension."""
    state = state_of(at.context, items)
    if state is None or state.whole is not None:
        return None
    found = _distinct(at.context, [*state.items, item])
    return None if found is None else new_list(at, found, set)


# --- algebra --------------------------------------------------------------------------------------------------------


def _combined(keep: tuple[bool, bool, bool], only_sets: bool = False) -> Operation:
    """A set of the items that only the first has, that both have, and that only the second has, as ``keep`` says."""

    def combine(at: At, first: ir.Atom, *others: ir.Atom) -> ir.Atom | None:
        # beside a view any items may be
        views = [a for a in (first, *others) if only_sets and view_of(at.context, a)]
        found = _items(at, first)
        for other in others:
            if only_sets and not views and not all(_is_set(at.context, a) for a in (first, other)):
                return None
            more = _items(at, other)
            if found is None or more is None:
                return _unknown(at, views)
            mine = [_is_among(at.context, item, more) for item in found]
            theirs = [_is_among(at.context, item, found) for item in more]
            if None in mine or None in theirs:
                return _unknown(at, views)
            found = [i for i, both in zip(found, mine, strict=True) if keep[bool(both)]] + [
                i for i, both in zip(more, theirs, strict=True) if keep[2] and not both]
        return None if found is None else new_list(at, found, set)

    return combine


def _is_set(context: Context, atom: ir.Atom) -> bool:
    state = state_of(context, atom)
    return state is not None and state.kind is set


def _unknown(at: At, views: list[ir.Atom]) -> ir.Atom | None:
    """Leave an operation with sets to the program. Raises UnsupportedSyntaxError for one with views, which lists stand
    for."""
    if views:
        raise at.refuse("a view of a dict", "which of its items are equal to others is not known here")
    return None


def _compared(compare: Any, only_sets: bool = True) -> Operation:
    """What a comparison of two sets says, by how many items they have, and have in common."""

    def look(at: At, first: ir.Atom, second: ir.Atom) -> ir.Atom | None:
        views = [a for a in (first, second) if only_sets and view_of(at.context, a)]
        if only_sets and not all(
                _is_set(at.context, a) or view_of(at.context, a) in ("keys", "items") for a in (first, second)):
            return _unknown(at, views)
        mine, theirs = _items(at, first), _items(at, second)
        if mine is None or theirs is None:
            return _unknown(at, views)
        common = [_is_among(at.context, item, theirs) for item in mine]
        if None in common:
            return _unknown(at, views)
        return ir.Const(bool(compare(len(mine), len(theirs), sum(map(bool, common)))))

    return look


def _equal(is_negated: bool) -> Operation:
    """Whether two containers are equal. Lists stand for deques, and dicts for those that know an order: their classes
    are compared here."""
    of_sets = _compared(lambda m, n, both: (m == n == both) is not is_negated)

    def look(at: At, first: ir.Atom, second: ir.Atom) -> ir.Atom | None:
        found = of_sets(at, first, second)
        states = [state_of(at.context, a) for a in (first, second)]
        if found is not None or not any(s is not None and issubclass(s.kind, _STOOD_FOR) for s in states):
            return found
        known = [type_of(at.context.value(a)) if s is None else s.kind for a, s in zip((first, second), states)]
        kinds = [kind for kind in known if kind is not None]
        if len(kinds) < len(known):
            raise at.refuse("a container", "whether the other side is of a class that it can be equal to is not known")
        if all(issubclass(kind, collections.OrderedDict) for kind in kinds):
            entries = [entries_of(at, a) for a in (first, second)]
            if None in entries:
                raise at.refuse("an ordered dict", "the order of its keys is not known before the program runs")
            is_possible = len({tuple(one) for one in entries}) == 1  # type: ignore[arg-type]
        else:
            is_possible = any(all(issubclass(kind, one) for kind in kinds) for one in (dict, collections.deque))
        return None if is_possible else ir.Const(is_negated)

    return look


_STOOD_FOR = (collections.deque, collections.OrderedDict)

UNION, INTERSECTION, DIFFERENCE, SYMMETRIC = (True, True, True), (False, True, False), (True, False, False), (
    True, False, True)

MAKERS: dict[Any, Operation] = {ops.make_set: _make_set, set: _set}
"""What makes a new set, also where no argument is an object on the heap."""

OPERATIONS: dict[Any, Operation] = {
    **MAKERS,
    ops.add_to_set: _add_to_set,
    operator.or_: _combined(UNION, True),
    operator.and_: _combined(INTERSECTION, True),
    operator.sub: _combined(DIFFERENCE, True),
    operator.xor: _combined(SYMMETRIC, True),
    set.union: _combined(UNION),
    set.intersection: _combined(INTERSECTION),
    set.difference: _combined(DIFFERENCE),
    set.symmetric_difference: _combined(SYMMETRIC),
    operator.eq: _equal(False),
    operator.ne: _equal(True),
    operator.le: _compared(lambda m, n, both: m == both),
    operator.ge: _compared(lambda m, n, both: n == both),
    operator.lt: _compared(lambda m, n, both: m == both and m < n),
    operator.gt: _compared(lambda m, n, both: n == both and n < m),
    set.issubset: _compared(lambda m, n, both: m == both, False),
    set.issuperset: _compared(lambda m, n, both: n == both, False),
    set.isdisjoint: _compared(lambda m, n, both: not both, False),
}
