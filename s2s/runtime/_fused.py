"""Functions of elements: called as they are on NumPy's arrays, compiled by other modules (``s2s.arrays.fused``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["fused"]


def fused(chain: Callable[..., Any], *operands: Any) -> Any:
    """What a function of elements makes of its operands."""
    return chain(*operands)
