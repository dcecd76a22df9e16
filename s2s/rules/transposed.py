"""The half of a rule that is not written, when the program runs: the transpose of the other half, which is linear."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from s2s import runtime as rt
from s2s.core import public

__all__ = ["tangent"]


def tangent(cotangent: Callable[..., Any], y: Any, dot: Any, /, *given: Any) -> Any:
    """The tangent of the result ``y`` from that of an argument, by the body for the cotangent of this argument, which
    asks for ``y_bar`` first and then for what is ``given``."""
    return public.vjp(_apply, rt.zeros_of(y), body=cotangent, given=given)[1](dot)[0]


def _apply(y_bar: Any, *, body: Callable[..., Any], given: tuple[Any, ...]) -> Any:
    """A body for a cotangent: the same function each time, which is compiled once for each body."""
    return body(y_bar, *given)
