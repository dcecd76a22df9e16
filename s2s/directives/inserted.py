"""Functions that are put into the reverse direction: what they make of a cotangent goes on in its place.

    h = s2s.insert_in_reverse(clip)(h)         forward: h, a copy
                                               reverse: h_bar = clip(h_bar)
                                               tangents pass as they are
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from s2s import runtime as rt
from s2s.core.functions import Result
from s2s.directives.policies import stop_gradient as copied
from s2s.directives.user_rules import give_for_rest
from s2s.errors import not_a_function
from s2s.rules.functions import describe

__all__ = [
    "InReverse", "given_or", "insert_in_reverse", "made_of_cotangent", "passed", "passed_on", "pulled", "pushed",
    "put_through",
]

T = TypeVar("T")

NAME = "s2s.insert_in_reverse"


class InReverse(functools.partial[Any]):
    """The identity with a function in its reverse direction: ``args[0]``."""

    def __repr__(self) -> str:
        return f"<s2s.insert_in_reverse {getattr(self.args[0], '__qualname__', self.args[0])}>"


def insert_in_reverse(fn: Callable[[Any], Any]) -> Callable[[T], T]:
    """The identity, whose cotangent goes through ``fn`` in reverse: to see it, clip it, scale it or record it where it
    passes. ``fn`` is given the cotangent, an array or a number, and gives the one that goes on, of the same shape; None
    stands for the one that it was given, so ``print`` and ``list.append`` will do.

    In a loop ``fn`` is called in each iteration, from the last to the first. Values and tangents (``jvp``, ``jacfwd``)
    pass as they are. A second derivative is the derivative of what the first one computes, ``fn`` included.
    ``fn`` gets a copy of the cotangent, which it may keep or change. Arrays come out as copies.

    >>> import numpy as np, s2s
    >>> def decay(x):
    ...     for _ in range(3):
    ...         x = s2s.insert_in_reverse(lambda g: 0.5 * g)(3.0 * x)
    ...     return x
    >>> s2s.grad(decay)(1.0), s2s.jvp(decay, (1.0,), (1.0,))
    (3.375, (27.0, 27.0))
    >>> seen = []
    >>> s2s.grad(lambda x: s2s.insert_in_reverse(seen.append)(x * x) ** 2)(3.0), seen
    (108.0, [18.0])

    Raises ArgumentError for what is no function, and where ``fn`` gives another shape.
    """
    if not callable(fn):
        raise not_a_function(fn)
    return InReverse(passed, fn)


def passed(fn: Any, x: Any) -> Any:
    """``s2s.insert_in_reverse(fn)(x)``"""
    return copied(x)


def passed_on(x: Any) -> Any:
    """The same in the code of a gradient, whose reverse sweep has called the function."""
    return copied(x)


def put_through(fn: Any, x_bar: Any) -> Any:
    """What a function makes of a cotangent: what is followed, where it can be, in place of the next."""
    return given_or(fn(x_bar), x_bar)


def given_or(given: Any, x_bar: Any) -> Any:
    return x_bar if given is None else given


def made_of_cotangent(fn: Any, x_bar: Any) -> Any:
    """What a function makes of a cotangent, of the same kind and shape; it may keep what it is given and gives."""
    return rt.fit_bar(copied(put_through(fn, copied(x_bar))), x_bar, NAME)


def pulled(out: Any, out_bar: Any, fn: Any, x: Any) -> Any:
    return made_of_cotangent(fn, out_bar)


def pushed(out: Any, tangents: Any, fn: Any, x: Any) -> Any:
    return tangents[1]


give_for_rest(passed, 1, NAME, pulled, pushed)
give_for_rest(passed_on, 0, NAME, lambda out, out_bar, x: out_bar, lambda out, tangents, x: tangents[0])
describe(made_of_cotangent, result=Result.NEW, changes=(), holds=False, acts=True, calls_back=True, pure=False)
