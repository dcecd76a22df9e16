"""Containers that a version reads from variables and attributes: structures, or data where a loop over their items
would be written out (``specialize/heap/live_data.py``).
"""

from __future__ import annotations

from typing import Any

from s2s.core.values import DictOf, IterableOf, ListOf
from s2s.versions.like_items import FEW
from s2s.versions.signature import array_places, describe

__all__ = ["describe_data"]

SEVERAL_LIVE = 16
"""A container in a variable or an attribute with more items than this, those of lists in it counted, is data."""


class _Large:
    """Which containers in variables and attributes may be data."""

    def is_data(self, name: str, found: list[Any] | tuple[Any, ...] | dict[Any, Any]) -> bool:
        """Whether a container is large enough. They come once, so their size alone says it."""
        items = found.values() if isinstance(found, dict) else found
        count = len(found) + sum(len(item) for item in items if type(item) is list)
        return len(found) > FEW and count > SEVERAL_LIVE


def describe_data(value: Any) -> DictOf | IterableOf | None:
    """The abstract value of a container in a variable or an attribute as data: large, its items all alike, and no
    arrays. None of another."""
    if type(value) not in (list, tuple, dict):
        return None
    found = describe(value, "?", False, _Large())
    if isinstance(found, ListOf):
        return None if array_places(found.item, "?") else IterableOf(list, found.item)
    return found if isinstance(found, (DictOf, IterableOf)) else None
