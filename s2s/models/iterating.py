"""What ``itertools`` and the builtins that make iterators give, as generator functions: item by item."""

from __future__ import annotations

import copy
import itertools
import operator
from typing import Any

from s2s import runtime as rt

__all__ = [
    "accumulate", "beside", "chain", "chain_all", "compress", "copied", "count", "counted", "cycle", "dropwhile",
    "filterfalse", "groupby", "islice", "listed", "pairwise", "repeat", "repeated", "repeated_tuple", "starmap",
    "takewhile", "until", "zip_longest",
]


def listed(items: Any) -> Any:
    """``list`` of a ``zip``, an ``enumerate`` or a ``reversed``."""
    made = []
    for item in items:
        made.append(item)
    return made


def repeated(item: Any, count: Any) -> Any:
    """``[item] * count``."""
    return [item for _ in range(count)]


def repeated_tuple(items: Any, count: Any) -> Any:
    """``items * count`` of a tuple."""
    return tuple([item for _ in range(count) for item in items])


def copied(items: Any) -> Any:
    """``copy.deepcopy`` of a list of unknown length."""
    rt.check_two(*items)
    return [copy.deepcopy(item) for item in items]


def counted(items: Any, start: Any = 0) -> Any:
    """``enumerate`` of a generator."""
    number = start
    for item in items:
        yield number, item
        number = number + 1


def beside(items: Any, before: Any, after: Any) -> Any:
    """``zip`` of a generator and of sequences that come before and after it."""
    count = min([len(others) for others in (*before, *after)])
    k = 0
    if count > 0:
        for item in items:
            yield (*[others[k] for others in before], item, *[others[k] for others in after])
            k = k + 1
            if k >= count:
                return


def until(function: Any, sentinel: Any) -> Any:
    """``iter(function, sentinel)``."""
    while True:
        item = function()
        if item is sentinel or item == sentinel:
            return
        yield item


def count(start: Any = 0, step: Any = 1) -> Any:
    number = start
    while True:
        yield number
        number = number + step


def cycle(iterable: Any) -> Any:
    items = list(iterable)
    if len(items) > 0:
        while True:
            yield from items


def repeat(item: Any, times: Any = None) -> Any:
    if times is None:
        while True:
            yield item
    for _ in range(times):
        yield item


def chain(*iterables: Any) -> Any:
    for items in iterables:
        yield from items


def chain_all(iterables: Any) -> Any:
    for items in iterables:
        yield from items


def accumulate(iterable: Any, func: Any = None, *, initial: Any = None) -> Any:
    operation = operator.add if func is None else func
    has_total = initial is not None
    total = initial
    if has_total:
        yield total
    for item in list(iterable):
        if has_total:
            total = operation(total, item)
        else:
            total = item
        has_total = True
        yield total


def compress(data: Any, selectors: Any) -> Any:
    for item, is_taken in zip(data, selectors):
        if is_taken:
            yield item


def takewhile(predicate: Any, iterable: Any) -> Any:
    for item in iterable:
        if not predicate(item):
            return
        yield item


def dropwhile(predicate: Any, iterable: Any) -> Any:
    drops = True
    for item in iterable:
        if drops and not predicate(item):
            drops = False
        if not drops:
            yield item


def filterfalse(predicate: Any, iterable: Any) -> Any:
    for item in iterable:
        if predicate is None:
            if not item:
                yield item
        elif not predicate(item):
            yield item


def starmap(function: Any, iterable: Any) -> Any:
    for given in iterable:
        yield function(*given)


def pairwise(iterable: Any) -> Any:
    items = list(iterable)
    for k in range(len(items) - 1):
        yield items[k], items[k + 1]


def islice(iterable: Any, *bounds: Any) -> Any:
    start, stop, step = 0, None, 1
    if len(bounds) == 1:
        stop = bounds[0]
    else:
        start = 0 if bounds[0] is None else bounds[0]
        stop = bounds[1]
        if len(bounds) == 3 and bounds[2] is not None:
            step = bounds[2]
    k = 0
    if stop is None or stop > start:
        for item in iterable:
            if k >= start and (k - start) % step == 0:
                yield item
            k = k + 1
            if stop is not None and k >= stop:
                return


def zip_longest(*iterables: Any, fillvalue: Any = None) -> Any:
    columns = [list(items) for items in iterables]
    for k in range(max([len(column) for column in columns])):
        yield tuple([column[k] if k < len(column) else fillvalue for column in columns])


def groupby(iterable: Any, key: Any = None) -> Any:
    group: Any = []
    last: Any = None
    for item in list(iterable):
        this = item if key is None else key(item)
        if len(group) > 0 and this != last:
            yield last, iter(group)
            group = []
        group.append(item)
        last = this
    if len(group) > 0:
        yield last, iter(group)


# --- choices of items: which ones does not depend on what they are ---------------------------------------------------


def product(*iterables: Any, repeat: Any = 1) -> Any:
    pools = [list(items) for items in iterables] * repeat
    for places in list(itertools.product(*[range(len(pool)) for pool in pools])):
        yield tuple([pool[k] for pool, k in zip(pools, places)])


def combinations(iterable: Any, r: Any) -> Any:
    pool = list(iterable)
    for places in list(itertools.combinations(range(len(pool)), r)):
        yield tuple([pool[k] for k in places])


def combinations_with_replacement(iterable: Any, r: Any) -> Any:
    pool = list(iterable)
    for places in list(itertools.combinations_with_replacement(range(len(pool)), r)):
        yield tuple([pool[k] for k in places])


def permutations(iterable: Any, r: Any = None) -> Any:
    pool = list(iterable)
    for places in list(itertools.permutations(range(len(pool)), r)):
        yield tuple([pool[k] for k in places])


def tee(iterable: Any, n: Any = 2) -> Any:
    items = list(iterable)
    return tuple([iter(items) for _ in range(n)])
