"""What the derivative of a derivative makes of a call that is decided when the program runs: the call is made again."""

from __future__ import annotations

from typing import Any

from s2s.core import public

__all__ = ["cotangents_of_call", "cotangents_of_method", "lost_pullback", "tangent_of_call"]


def lost_pullback(cotangent: Any) -> Any:
    """Stands for the pullback of a call in a derivative that is differentiated: nothing is known of what it holds. The
    derivative is made again without it."""
    raise AssertionError("a pullback was called whose derivative is not known")


def cotangents_of_call(cotangent: Any, fn: Any, /, *args: Any) -> Any:
    """What the pullback of a call gives, as a function that is differentiated itself: the call is made again."""
    return public.vjp(fn, *args)[1](cotangent)


def cotangents_of_method(cotangent: Any, receiver: Any, name: str, /, *args: Any) -> Any:
    """The same for a call of a method; the first cotangent is the receiver's."""
    return public.vjp(lambda r, *a: getattr(r, name)(*a), receiver, *args)[1](cotangent)


def tangent_of_call(fn: Any, values: tuple[Any, ...], dots: tuple[Any, ...], /) -> Any:
    """The result of a call and its tangent, as a function that is differentiated itself."""
    return public.jvp(fn, values, dots)
