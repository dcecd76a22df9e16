"""What joins the items of containers, puts them in order, or finds one by comparing: the order is looked up when the
program runs, and the items are taken in it."""

from __future__ import annotations

from typing import Any

from s2s import runtime as rt

__all__ = [
    "extend", "extended_left", "extreme_or", "greatest", "heapify", "heappop", "heappush", "heappushpop",
    "heapreplace", "inserted", "insorted_left", "insorted_right", "joined", "least", "nlargest", "nsmallest", "pick",
    "rearranged", "removed", "sorted_",
]


def extend(items: Any, more: Any, /) -> Any:
    for item in list(more):
        items.append(item)


def joined(*parts: Any) -> Any:
    """``[*a, *b]`` of lists whose lengths the run knows."""
    items: list[Any] = []
    for part in parts:
        for item in list(part):
            items.append(item)
    return items


def rearranged(items: Any, how: Any, *args: Any) -> Any:
    """A list of the items after a method of a list or deque that moves or removes some."""
    order = rt.order_after(how, len(items), *args)
    return [items[place] for place in order]


def extended_left(items: Any, more: Any) -> Any:
    return joined(list(more)[::-1], items)


def inserted(items: Any, place: Any, item: Any) -> Any:
    order = rt.order_after("insert", len(items), place, len(items))
    more = joined(items, [item])
    return [more[place] for place in order]


def removed(items: Any, item: Any) -> Any:
    return rearranged(items, "pop", rt.place_of(item, items))


def pick(items: Any, place: Any) -> Any:
    """The item at a place that is known when the program runs, of objects or functions that are known one by one."""
    count = len(items)
    for k, item in enumerate(items):
        if place == k or place == k - count:
            return item
    raise IndexError("index out of range")


def sorted_(iterable: Any, /, *, key: Any = None, reverse: Any = False) -> Any:
    items = list(iterable)
    keys = items if key is None else [key(item) for item in items]
    order = rt.order_of(keys, reverse)
    return [items[order[k]] for k, _ in enumerate(items)]


def extreme_or(function: Any, values: Any, default: Any) -> Any:
    """``max`` or ``min`` of items, or what is given for none."""
    items = list(values)
    return function(items) if len(items) > 0 else default


def greatest(*values: Any, key: Any, **default: Any) -> Any:
    items = list(values[0]) if len(values) == 1 else list(values)
    if "default" in default and len(items) == 0:
        return default["default"]
    place = rt.place_of_greatest(items if key is None else [key(item) for item in items])
    return items[place]


def least(*values: Any, key: Any, **default: Any) -> Any:
    items = list(values[0]) if len(values) == 1 else list(values)
    if "default" in default and len(items) == 0:
        return default["default"]
    place = rt.place_of_least(items if key is None else [key(item) for item in items])
    return items[place]


# --- heaps ------------------------------------------------------------------------------------------------------------


def heapify(heap: Any, /) -> Any:
    order = rt.heap_order("heapify", heap)
    heap[:] = [heap[order[k]] for k, _ in enumerate(heap)]


def heappush(heap: Any, item: Any, /) -> Any:
    heap.append(item)
    order = rt.heap_order("heappush", heap)
    heap[:] = [heap[order[k]] for k, _ in enumerate(heap)]


def heappop(heap: Any, /) -> Any:
    order = rt.heap_order("heappop", heap)
    items = [heap[order[k]] for k, _ in enumerate(heap)]
    heap[:] = items[:-1]
    return items[-1]


def heappushpop(heap: Any, item: Any, /) -> Any:
    heap.append(item)
    return _replaced(heap, "heappushpop")


def heapreplace(heap: Any, item: Any, /) -> Any:
    heap.append(item)
    return _replaced(heap, "heapreplace")


def _replaced(heap: Any, how: Any) -> Any:
    order = rt.heap_order(how, heap)
    items = [heap[order[k]] for k, _ in enumerate(heap)]
    heap[:] = items[:-1]
    return items[-1]


def nlargest(n: Any, iterable: Any, key: Any = None) -> Any:
    return sorted_(iterable, key=key, reverse=True)[:n]


def nsmallest(n: Any, iterable: Any, key: Any = None) -> Any:
    return sorted_(iterable, key=key)[:n]


# --- sorted lists -----------------------------------------------------------------------------------------------------


def insorted_right(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> Any:
    a.append(x)
    order = rt.order_with_last(a if key is None else [key(item) for item in a], lo, hi, True)
    a[:] = [a[order[k]] for k, _ in enumerate(a)]


def insorted_left(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> Any:
    a.append(x)
    order = rt.order_with_last(a if key is None else [key(item) for item in a], lo, hi, False)
    a[:] = [a[order[k]] for k, _ in enumerate(a)]
