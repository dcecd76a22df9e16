"""Additions to neighbouring slices of one array, done at once: each element gathers what is added to it.

    u_bar[1:] += t                          p = np.zeros(n + 1)             t, with a margin of zeros
    u_bar[:-1] -= t                         for i in rt.places(n - 1):
                                ->              p[i + 1] = ...
                                            for i in rt.places(n):
                                                u_bar[i] += p[i] - p[i + 1]

One loop goes over ``u_bar`` once, and none of its iterations reads what another one stores.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping

from s2s.core import ir
from s2s.core.record import record
from s2s.optimize.loops.accesses import Access, Extent
from s2s.optimize.loops.steps import Step

__all__ = ["Addition", "Margins", "addition", "gathered", "margins_of"]

Margins = dict[ir.Var, tuple[tuple[int, int], ...]]
"""How many zeros there are before and after an array, along each of its axes."""


@record
class Addition:
    """An addition of a whole array to a region of another one. ``place`` tells what regions are of one array, along the
    same axes; ``skipped`` says for each axis of the region how many elements are left out before it and after it."""

    step: Step
    value: ir.Var
    place: tuple[object, ...]
    skipped: tuple[tuple[int, int], ...]


def addition(step: Step) -> Addition | None:
    """The addition that a step is; None where its region has bounds that are known only when it runs."""
    if step.kind != "store" or step.fn not in (operator.add, operator.sub) or step.target is None:
        return None
    (value,), target = step.operands, step.target
    rank = len(step.space)
    if not isinstance(value, Access) or [a.along for a in value.axes] != list(range(rank)):
        return None
    whole = tuple(Extent(value.base, k) for k in range(rank))
    if any(a.start != ir.Const(0) for a in value.axes) or value.extents != whole:
        return None
    skipped: list[tuple[int, int]] = [(0, 0)] * rank
    for axis in target.axes:
        if axis.along is None:
            continue
        found = _skipped(target.extents[axis.along])
        if found is None:
            return None
        skipped[axis.along] = found
    place = tuple(axis.start if axis.along is None else axis.along for axis in target.axes)
    if sorted(a.along for a in target.axes if a.along is not None) != list(range(rank)):
        return None
    return Addition(step, value.base, (target.base, place), tuple(skipped))


def _skipped(extent: Extent) -> tuple[int, int] | None:
    start, stop = extent.start, extent.stop
    if not isinstance(start, ir.Const) or not isinstance(stop, ir.Const):
        return None
    begin = start.value or 0
    end = 0 if stop.value is None else stop.value
    if begin < 0 or end > 0 or (stop.value is not None and end == 0):
        return None
    return begin, -end


def gathered(steps: Iterable[Step]) -> dict[int, Addition]:
    """The additions, by ``id`` of their statements, that are worth to be done together with others: those to different
    regions of one array."""
    found: dict[object, list[Addition]] = {}
    for step in steps:
        one = addition(step)
        if one is not None:
            found.setdefault(one.place, []).append(one)
    return {
        id(one.step.statement): one
        for together in found.values()
        if len({one.skipped for one in together}) > 1
        for one in together
    }


def least(additions: list[Addition]) -> tuple[tuple[int, int], ...]:
    """How much is left out along each axis by all of them."""
    rank = len(additions[0].skipped)
    return tuple(
        (min(a.skipped[k][0] for a in additions), min(a.skipped[k][1] for a in additions)) for k in range(rank)
    )


def margins_of(gathers: Iterable[list[Addition]]) -> Margins:
    """The margins that arrays need, so that each is read for all elements that others are added to."""
    found: Margins = {}
    for additions in gathers:
        outer = least(additions)
        for one in additions:
            needed = tuple((b - x, a - y) for (b, a), (x, y) in zip(one.skipped, outer, strict=True))
            known: Mapping[int, tuple[int, int]] = dict(enumerate(found.get(one.value, needed)))
            found[one.value] = tuple(
                (max(before, known[k][0]), max(after, known[k][1])) for k, (before, after) in enumerate(needed)
            )
    return found
