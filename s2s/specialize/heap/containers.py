"""Containers of the user's code, lists, dicts and deques: what each of their operations does to the virtual heap."""

from __future__ import annotations

import collections
from typing import Any

from s2s.specialize.heap import changing, copies, making, reading
from s2s.specialize.heap.making import Operation

__all__ = ["OPERATIONS", "is_method_of_container"]

OPERATIONS: dict[Any, Operation] = {
    **making.OPERATIONS, **reading.OPERATIONS, **copies.OPERATIONS, **changing.OPERATIONS}


def is_method_of_container(fn: Any) -> bool:
    """Whether it is a method of a built-in container."""
    owner = getattr(fn, "__objclass__", None)
    return owner in (list, tuple, dict, set, collections.deque, collections.OrderedDict, collections.defaultdict)
