"""What a program writes down beside what it computes: no derivative comes of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def record(method: Callable[..., Any], *values: Any, **named: Any) -> None:
    """``method(*values)`` of a container from outside, with copies of arrays: the sweeps may write over theirs."""
    method(*map(_kept, values), **{key: _kept(value) for key, value in named.items()})


def record_item(container: Any, key: Any, value: Any, op: Callable[[Any, Any], Any] | None = None) -> None:
    """``container[key] = value``, or with an operator ``container[key] op= value``."""
    container[key] = _kept(value) if op is None else op(container[key], value)


def _kept(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.copy()
    if type(value) in (list, tuple):
        return type(value)(map(_kept, value))
    if type(value) is dict:
        return {key: _kept(item) for key, item in value.items()}
    return value
