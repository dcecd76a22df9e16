"""What is known of functions beside their derivatives, said where their rules are.

    describe(np.transpose, np.swapaxes, result=Result.VIEW)

A rule says much by its kind alone: what ``partials`` differentiate is elementwise, pure and gives new memory. What is
described here comes on top of that; ``s2s.analysis.functions`` puts both together, and ``tests/analysis`` checks them
against NumPy itself. A function without a rule may be described as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from s2s.core.functions import FunctionFacts

__all__ = ["changed", "describe", "description_of", "described", "on_change"]

_described: dict[int, tuple[Any, dict[str, Any]]] = {}
"""By ``id`` of each function: the function, which is kept alive, and what is said of it."""

on_change: list[Callable[[], None]] = []
"""What is called when a description or a rule is added: caches of what was put together forget it."""


def describe(*fns: Any, **facts: Any) -> None:
    """Say of functions what ``FunctionFacts`` has fields for. Raises ValueError where something else was said."""
    unknown = facts.keys() - set(FunctionFacts.__match_args__)  # type: ignore[attr-defined]
    if unknown:
        raise ValueError(f"no fact: {sorted(unknown)}")
    for fn in fns:
        said = _described.setdefault(id(fn), (fn, {}))[1]
        for name, value in facts.items():
            if said.setdefault(name, value) != value:
                raise ValueError(f"{fn!r} is described twice: {name}")
    changed()


def changed() -> None:
    """Tell that a description or a rule was added."""
    for forget in on_change:
        forget()


def description_of(fn: Any) -> dict[str, Any]:
    """What is said of a function: fields of ``FunctionFacts`` by name."""
    found = _described.get(id(fn))
    return {} if found is None else found[1]


def described() -> list[Any]:
    """The functions of which something is said."""
    return [fn for fn, _ in _described.values()]
