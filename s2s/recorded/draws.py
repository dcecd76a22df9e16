"""Random draws with differentiated parameters: what stands for one is watched. It is no step, as the sweeps call a step
again, which would draw again."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s.core.inspection import name_of
from s2s.errors import error
from s2s.recorded.recorder import is_a
from s2s.recorded.tools import call
from s2s.rules import table
from s2s.versions.paths import what_to_give

__all__ = ["drawn", "is_draw"]

_STREAMS = (np.random.Generator, np.random.RandomState)


def is_draw(fn: Any, args: tuple[Any, ...]) -> bool:
    """Whether a call asks a stream of random numbers."""
    return is_a(args[0] if args else None, _STREAMS) or is_a(getattr(fn, "__self__", None), _STREAMS)


def drawn(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of such a call."""
    rule, receiver = table.find(fn), getattr(fn, "__self__", None)
    if rule is None and is_a(receiver, _STREAMS):
        rule, args = table.find(getattr(type(receiver), fn.__name__)), (receiver, *args)
    if rule is None or rule.kind != "model":
        raise error("S2S201", name=name_of(fn), hint=what_to_give(fn))
    return call(rule.body, *rule.given, *args, **kwargs)
