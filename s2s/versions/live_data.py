"""Containers that a version reads from variables and attributes: structures, or data where a loop over their items
would be written out (``specialize/heap/live_data.py``).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from s2s.core.values import DictOf, IterableOf, ListOf
from s2s.versions.like_items import FEW
from s2s.versions.signature import array_places, describe

__all__ = ["Unrolled", "describe_data", "live", "taken_as_data"]

SEVERAL_LIVE = 16
"""A container in a variable or an attribute with more items than this, those of lists in it counted, is data."""


class Live:
    """Which containers in variables and attributes are data in one compilation: those that a loop would be written out
    for, item by item."""

    def __init__(self) -> None:
        self.found: dict[int, Any] = {}

    def is_data(self, name: str, found: list[Any] | tuple[Any, ...] | dict[Any, Any]) -> bool:
        """Whether a container is large enough. They come once, so their size alone says it."""
        items = found.values() if isinstance(found, dict) else found
        count = len(found) + sum(len(item) for item in items if type(item) is list)
        return len(found) > FEW and count > SEVERAL_LIVE

    def add(self, containers: list[Any]) -> None:
        """Take containers for data from here on."""
        self.found |= {id(container): container for container in containers}


class Unrolled(Exception):
    """A loop would be written out for ``containers`` that can be data; no attempt at anything else catches this."""

    def __init__(self, containers: list[Any]) -> None:
        super().__init__("a loop over data")
        self.containers = containers


_live: list[Live | None] = [None]


def live() -> Live | None:
    """Which containers in variables and attributes are data in this compilation; None where none can be."""
    return _live[-1]


@contextlib.contextmanager
def taken_as_data(applies: bool) -> Iterator[Live]:
    """As a context: containers in variables and attributes may be data, where this applies."""
    made = Live()
    _live.append(made if applies else None)
    try:
        yield made
    finally:
        _live.pop()


def describe_data(value: Any) -> DictOf | IterableOf | None:
    """The abstract value of a container in a variable or an attribute as data: large, its items all alike, and no
    arrays. None of another."""
    if type(value) not in (list, tuple, dict):
        return None
    found = describe(value, "?", False, Live())
    if isinstance(found, ListOf):
        return None if array_places(found.item, "?") else IterableOf(list, found.item)
    return found if isinstance(found, (DictOf, IterableOf)) else None
