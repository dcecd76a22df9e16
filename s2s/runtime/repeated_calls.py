"""What the derivative of a derivative makes of a call that is decided when the program runs: the call is made again."""

from __future__ import annotations

from typing import Any

from s2s.core import public
from s2s.runtime._checks import check_repeated

__all__ = [
    "cotangents_of_call", "cotangents_of_method", "lost_pullback", "tangent_of_call", "tangent_of_unchanging",
    "vjp_of_unchanging",
]


def lost_pullback(cotangent: Any) -> Any:
    """Stands for the pullback of a call in a derivative that is differentiated: nothing is known of what it holds. The
    derivative is made again without it."""
    raise AssertionError("a pullback was called whose derivative is not known")


def cotangents_of_call(cotangent: Any, before: Any, fn: Any, /, *args: Any) -> Any:
    """What the pullback of a call that gave ``before`` gives, as a function that is differentiated itself: the call is
    made again."""
    out, pullback = vjp_of_unchanging(fn, *args)
    check_repeated(out, before, "the function")
    return pullback(cotangent)


def cotangents_of_method(cotangent: Any, before: Any, receiver: Any, name: str, /, *args: Any) -> Any:
    """The same for a call of a method; the first cotangent is the receiver's."""
    out, pullback = vjp_of_unchanging(lambda r, *a: getattr(r, name)(*a), receiver, *args)
    check_repeated(out, before, name)
    return pullback(cotangent)


def tangent_of_call(fn: Any, values: tuple[Any, ...], dots: tuple[Any, ...], /) -> Any:
    """The result of a call and its tangent, as a function that is differentiated itself."""
    return tangent_of_unchanging(fn, values, dots)


def vjp_of_unchanging(fn: Any, /, *args: Any) -> tuple[Any, Any]:
    """``s2s.vjp`` of a call that may change none of its arguments, as the caller would not see it."""
    found: tuple[Any, Any] = public.compiler().vjp_of_call(fn, args, {})
    return found


def tangent_of_unchanging(fn: Any, values: tuple[Any, ...], dots: tuple[Any, ...], /) -> Any:
    """``s2s.jvp`` of such a call."""
    return public.compiler().jvp_of_call(fn, None, values, dots, ())
