"""The order of items by comparing them: places, which have no derivative."""

from __future__ import annotations

import bisect
import collections
import heapq
from typing import Any


def order_of(keys: Any, reverse: Any = False) -> list[int]:
    """The places of ``sorted(keys, reverse=reverse)`` in ``keys``."""
    keys = list(keys)
    return sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)


def order_after(how: str, count: int, *args: Any) -> list[int]:
    """The places of ``count`` items after a method of a list or deque has changed it; one that is inserted is the last
    of them."""
    places: Any = collections.deque(range(count)) if how == "rotate" else list(range(count))
    getattr(places, how)(*args)
    return list(places)


def place_of(item: Any, items: Any) -> int:
    """The place of the first of several items that is equal to one. Raises ValueError as ``list.remove`` does."""
    for place, other in enumerate(items):
        if other is item or other == item:
            return place
    raise ValueError("list.remove(x): x not in list")


def place_of_greatest(keys: Any) -> int:
    """The place of ``max(keys)``, the first of equal ones."""
    keys = list(keys)
    return max(range(len(keys)), key=keys.__getitem__)


def place_of_least(keys: Any) -> int:
    """The place of ``min(keys)``, the first of equal ones."""
    keys = list(keys)
    return min(range(len(keys)), key=keys.__getitem__)


class _Placed:
    """An item with its place, compared as the item is."""

    __slots__ = ("item", "place")

    def __init__(self, item: Any, place: int) -> None:
        self.item = item
        self.place = place

    def __lt__(self, other: _Placed) -> bool:
        return bool(self.item < other.item)


def heap_order(how: str, items: Any) -> list[int]:
    """The places of the items of a heap after a function of ``heapq``; what is pushed is the last of ``items``, what is
    popped comes last."""
    heap = [_Placed(item, place) for place, item in enumerate(items)]
    popped = []
    if how == "heapify":
        heapq.heapify(heap)
    elif how == "heappop":
        popped = [heapq.heappop(heap)]
    else:
        last = heap.pop()
        change = getattr(heapq, how)
        popped = [] if how == "heappush" else [change(heap, last)]
        if how == "heappush":
            change(heap, last)
    return [placed.place for placed in (*heap, *popped)]


def order_with_last(keys: Any, lo: int, hi: int | None, right: bool) -> list[int]:
    """The places of the items of a sorted list after its last item has been put where it belongs."""
    *keys, last = keys
    find = bisect.bisect_right if right else bisect.bisect_left
    place = find(keys, last, lo, hi)
    return [*range(place), len(keys), *range(place, len(keys))]
