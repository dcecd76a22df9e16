"""The solver of the analyses: what can be reached from something, and what grows until nothing is added.

    reachable({a}, along([(a, b), (b, c), (d, c)]))     {a, b, c}
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sized
from typing import Any, TypeVar

__all__ = ["along", "reachable", "saturate"]

T = TypeVar("T", bound=Hashable)


def reachable(start: Iterable[T], following: Callable[[T], Iterable[T]]) -> set[T]:
    """What ``start`` leads to, itself included; ``following`` says what one thing leads to, and is asked once for each.
    """
    found, left = set[T](), list(start)
    while left:
        one = left.pop()
        if one not in found:
            found.add(one)
            left += following(one)
    return found


def along(edges: Iterable[tuple[Any, T]]) -> Callable[[Any], Iterable[T]]:
    """What each thing leads to along some edges, for ``reachable``."""
    following: defaultdict[Any, list[T]] = defaultdict(list)
    for one, other in edges:
        following[one].append(other)
    return lambda one: following.get(one, ())


def saturate(found: Sized, step: Callable[[], object]) -> None:
    """Repeat a step until ``found``, to which it adds, has grown no more."""
    before = -1
    while len(found) != before:
        before = len(found)
        step()
