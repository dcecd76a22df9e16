"""The operations that Python has as syntax only, as functions, so that the IR needs one kind of operation: the call.

Everything else that the IR calls is the function that means it: ``operator.add``, ``operator.getitem``, ``getattr``,
``slice``, ``operator.not_``, ``operator.contains(container, item)``, ``operator.is_``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


def make_tuple(*items: Any) -> tuple[Any, ...]:
    """``(a, b, c)``"""
    return items


def make_cell(value: Any) -> list[Any]:
    """What functions share that read and assign one variable; ``value`` is what it holds at first, if anything."""
    return [value]


def yield_(item: Any) -> bool:
    """``yield item``: gives whether no other item is taken, so that the generator ends here."""
    raise TypeError("a generator is run by what takes its items")


def make_list(*items: Any) -> list[Any]:
    """``[a, b, c]``"""
    return list(items)


def make_set(*items: Any) -> set[Any]:
    """``{a, b, c}``"""
    return set(items)


def make_dict(*keys_and_values: Any) -> dict[Any, Any]:
    """``{k0: v0, k1: v1}`` from ``k0, v0, k1, v1``."""
    return dict(zip(keys_and_values[::2], keys_and_values[1::2], strict=True))


def merge_dict(first: dict[Any, Any], second: Any) -> dict[Any, Any]:
    """``{**first, **second}``"""
    return {**first, **second}


def append(items: list[Any], item: Any) -> list[Any]:
    """The list with one more item: what a comprehension does in each iteration. Generated code appends in place."""
    return [*items, item]


def add_to_set(items: set[Any], item: Any) -> set[Any]:
    """The set with one more item, for set comprehensions."""
    return {*items, item}


def put(mapping: dict[Any, Any], key: Any, value: Any) -> dict[Any, Any]:
    """The dict with one more entry, for dict comprehensions. Generated code stores in place."""
    return {**mapping, key: value}


DISPLAYS: dict[Any, type] = {make_tuple: tuple, make_list: list, make_set: set, make_dict: dict}
"""The operations that make a container of what they are given, and its class."""

GROWS: dict[Any, Any] = {append: make_list, add_to_set: make_set, put: make_dict}
"""The operations that give a container with one item more, and the display of such containers."""


def unpack(value: Iterable[Any], before: int, after: int | None) -> tuple[Any, ...]:
    """The items of ``a, b = value`` (``before`` names; ``after`` is None) or of ``a, *b, c = value`` (``after`` names
    follow the starred one): a tuple of ``before + 1 + after`` items, the starred one a list.

    Raises ValueError as Python's own unpacking does.
    """
    items = list(value)
    if after is None:
        if len(items) < before:
            raise ValueError(f"not enough values to unpack (expected {before}, got {len(items)})")
        if len(items) > before:
            raise ValueError(f"too many values to unpack (expected {before})")
        return tuple(items)
    if len(items) < before + after:
        raise ValueError(f"not enough values to unpack (expected at least {before + after}, got {len(items)})")
    stop = len(items) - after
    return (*items[:before], items[before:stop], *items[stop:])


def not_in(item: Any, container: Any) -> bool:
    """``item not in container`` (``operator.contains`` has the container first)."""
    return item not in container


def contains(item: Any, container: Any) -> bool:
    """``item in container``, the item evaluated first as Python does."""
    return item in container


def format_string(*parts: Any) -> str:
    """An f-string: every part is a literal string or a value already formatted by ``format_value``."""
    return "".join(parts)


def format_value(value: Any, conversion: str = "", spec: str = "") -> str:
    """One ``{value!conversion:spec}`` of an f-string; ``conversion`` is "", "r", "s" or "a"."""
    convert: dict[str, Callable[[Any], str]] = {"r": repr, "s": str, "a": ascii}
    return format(convert[conversion](value) if conversion else value, spec)


# --- stacks: lists that are only pushed to and popped from ------------------------------------------------------------


def make_stack() -> list[Any]:
    """``[]``"""
    return []


def copy_stack(items: list[Any]) -> list[Any]:
    """``list(items)``"""
    return list(items)


def push(items: list[Any], item: Any) -> None:
    """``items.append(item)``"""
    items.append(item)


def pull(items: list[Any]) -> Any:
    """``items.pop()``"""
    return items.pop()


STACKS = (make_stack, copy_stack, push, pull)
