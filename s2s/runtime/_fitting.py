"""What rules of users give, held against what they were asked for."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s.core.inspection import with_article
from s2s.errors import error

__all__ = ["check_cotangent", "check_tangent"]


def check_cotangent(given: Any, argument: Any, rule: str) -> None:
    """Raise where a cotangent has not the shape or the structure of its argument."""
    _check(given, argument, rule, "cotangent")


def check_tangent(given: Any, out: Any, rule: str) -> None:
    """Raise where a tangent has not the shape or the structure of the result."""
    _check(given, out, rule, "tangent")


def _check(given: Any, like: Any, rule: str, what: str) -> None:
    if given is None and what == "cotangent":
        return
    if isinstance(like, (tuple, list, dict)):
        if not isinstance(given, type(like)) or len(given) != len(like):
            raise error("S2S522", name=rule, what=what, got=_shape_text(given), expected=_shape_text(like))
    elif isinstance(like, (np.ndarray, np.number, int, float, complex)):
        if isinstance(given, (tuple, list, dict, str, type(None))) or np.shape(given) != np.shape(like):
            raise error("S2S522", name=rule, what=what, got=_shape_text(given), expected=_shape_text(like))


def _shape_text(value: Any) -> str:
    if isinstance(value, (tuple, list, dict)):
        return f"{with_article(type(value).__name__)} of {len(value)}"
    return f"shape {np.shape(value)}" if isinstance(value, (np.ndarray, np.number, int, float, complex)) else (
        "None" if value is None else with_article(type(value).__name__))
