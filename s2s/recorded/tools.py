"""The tools by name, for those of them that are written in terms of others: ``operations`` has what they do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from s2s.recorded.install import Installer

TOOLS: dict[str, Callable[..., Any]] = {}
"""What watched code calls, by the name that it has there. ``operations`` fills it."""

INSTALLER = Installer(TOOLS)


def binary(op: Any, a: Any, b: Any) -> Any:
    """``op(a, b)``."""
    return TOOLS["binary"](op, a, b)


def unary(op: Any, a: Any) -> Any:
    """``op(a)``."""
    return TOOLS["unary"](op, a)


def get_item(container: Any, index: Any) -> Any:
    """``container[index]``."""
    return TOOLS["get_item"](container, index)


def set_item(value: Any, container: Any, index: Any) -> None:
    """``container[index] = value``."""
    TOOLS["set_item"](value, container, index)


def call(fn: Any, /, *args: Any, **kwargs: Any) -> Any:
    """``fn(*args, **kwargs)``."""
    return TOOLS["call"](fn, *args, **kwargs)


def call_method(receiver: Any, name: str, /, *args: Any, **kwargs: Any) -> Any:
    """``receiver.name(*args, **kwargs)``."""
    return TOOLS["call_method"](receiver, name, *args, **kwargs)
