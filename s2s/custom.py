"""Rules that users write: how a function is differentiated, in the user's own words.

    s2s.defvjp(f, rule)       rule(out, out_bar, *args, **kwargs): a cotangent for each positional argument
    s2s.defjvp(f, rule)       rule(out, tangents, *args, **kwargs): the tangent of the result

A rule comes before what the source of the function says, and before a rule of s2s. ``docs/custom.md`` tells it all.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
from collections.abc import Callable
from typing import Any, TypeVar, overload

import numpy as np

from s2s import runtime as rt
from s2s.errors import error
from s2s.rules import table
from s2s.rules.table import Rule

__all__ = [
    "CODES", "check_cotangent", "check_tangent", "cotangents", "cotangents_by_tangent", "defjvp", "defvjp",
    "one_cotangent", "place_of", "pullback_of", "pushforward_of", "tangent_by_cotangents",
]

F = TypeVar("F", bound=Callable[..., Any])

ANYTHING = inspect.signature(lambda *args, **kwargs: None)

CODES = ("S2S520", "S2S521", "S2S522")
"""What is wrong with a rule that a user wrote."""


# --- registering ----------------------------------------------------------------------------------------------------


@overload
def defvjp(f: Callable[..., Any], rule: F) -> F: ...
@overload
def defvjp(f: Callable[..., Any]) -> Callable[[F], F]: ...
def defvjp(f: Callable[..., Any], rule: Any = None) -> Any:
    """Say how cotangents go back through ``f``: ``rule(out, out_bar, *args, **kwargs)`` gives a tuple with one for each
    positional argument of the call; a bare one will do where there is one argument.

    ``out`` is the result and ``out_bar`` its cotangent, of the same shape; a cotangent has the shape of its argument,
    and is None for an argument that has none. Forward mode is the transpose of the rule, unless ``defjvp`` gives it
    another one. Without ``rule`` a decorator. Gives the rule. Raises ArgumentError for what is no function.

    >>> import math, s2s
    >>> def area(r):
    ...     return math.pi * r * r
    >>> @s2s.defvjp(area)
    ... def area_vjp(out, out_bar, r):
    ...     return 2.0 * out_bar * out / r
    >>> s2s.grad(area)(0.5) == math.pi
    True
    """
    return functools.partial(defvjp, f) if rule is None else _give(f, pullback=rule)


@overload
def defjvp(f: Callable[..., Any], rule: F) -> F: ...
@overload
def defjvp(f: Callable[..., Any]) -> Callable[[F], F]: ...
def defjvp(f: Callable[..., Any], rule: Any = None) -> Any:
    """Say how tangents go through ``f``: ``rule(out, tangents, *args, **kwargs)`` gives the tangent of the result,
    linear in ``tangents``, a tuple with one for each positional argument of the call: zeros where it does not move.

    Reverse mode is the transpose of the rule, unless ``defvjp`` gives it another one. Without ``rule`` a decorator.
    Gives the rule. Raises ArgumentError for what is no function.

    >>> import s2s
    >>> def product(a, b):
    ...     return a * b
    >>> @s2s.defjvp(product)
    ... def product_jvp(out, tangents, a, b):
    ...     a_dot, b_dot = tangents
    ...     return a_dot * b + a * b_dot
    >>> s2s.jvp(product, (3.0, 5.0), (1.0, 0.0))
    (15.0, 5.0)
    >>> s2s.grad(product, argnums=(0, 1))(3.0, 5.0)
    (5.0, 3.0)
    """
    return functools.partial(defjvp, f) if rule is None else _give(f, pushforward=rule)


def _give(f: Any, **fields: Any) -> Any:
    """Give a function a rule, or the other half of the one that it was given. What was compiled before is forgotten."""
    from s2s.target import unwrap

    f = unwrap(f)
    f = f.__func__ if isinstance(f, types.MethodType) else f
    (rule,) = fields.values()
    for given in (f, rule):
        if not callable(given):
            raise error("S2S520", name=_text(f), kind=type(given).__name__)
    old = table.rule_of_user(f)
    kept = {"pullback": old.pullback, "pushforward": old.pushforward} if old is not None else {}
    known = table.find(f) if old is None else None
    by_value = known.by_value if known is not None else old.by_value if old is not None else True
    table.give(Rule(f, "custom", ANYTHING, by_user=True, by_value=by_value, **(kept | fields)))
    derivatives = sys.modules.get("s2s.derivatives")
    if derivatives is not None:
        derivatives.forget()
    return rule


# --- both modes -----------------------------------------------------------------------------------------------------


def pullback_of(rule: Rule) -> Callable[..., Any]:
    """The pullback of a rule; where it has none the transpose of its pushforward."""
    if rule.pullback is not None:
        return rule.pullback
    return functools.partial(cotangents_by_tangent, rule.pushforward, place_of(rule))


def pushforward_of(rule: Rule, moving: tuple[bool, ...]) -> Callable[..., Any]:
    """The pushforward of a rule; where it has none the transpose of its pullback, by the arguments that are
    ``moving``."""
    if rule.pushforward is not None:
        return rule.pushforward
    return functools.partial(tangent_by_cotangents, rule.pullback, moving, place_of(rule))


def cotangents_by_tangent(rule: Any, place: str, out: Any, out_bar: Any, /, *args: Any, **kwargs: Any) -> Any:
    """The cotangents of the arguments by a rule for the tangent of the result: its transpose, which is linear."""
    from s2s.api import vjp

    def push(*tangents: Any) -> Any:
        return rt.fit_dot(rule(out, tangents, *args, **kwargs), out, place)

    return vjp(push, *[rt.zeros_of(x) for x in args])[1](out_bar)


def tangent_by_cotangents(
    rule: Any, moving: tuple[bool, ...], place: str, out: Any, tangents: Any, /, *args: Any, **kwargs: Any
) -> Any:
    """The tangent of the result by a rule for the cotangents of the arguments: its transpose, which is linear."""
    from s2s.api import vjp

    def pull(out_bar: Any) -> Any:
        given = rule(out, out_bar, *args, **kwargs)
        bars = one_cotangent(given) if len(args) == 1 else cotangents(given, len(args), place)
        return tuple([rt.fit_bar(bar, x, place) for bar, x, moves in zip(bars, args, moving) if moves])

    moved = tuple([dot for dot, moves in zip(tangents, moving) if moves])
    return vjp(pull, rt.zeros_of(out))[1](moved)[0]


# --- what a rule gives ----------------------------------------------------------------------------------------------


def place_of(rule: Rule) -> str:
    """The name and the line of a rule, for messages."""
    return _text(rule.pullback if rule.pullback is not None else rule.pushforward)


def _text(fn: Any) -> str:
    code = getattr(fn, "__code__", None)
    name = getattr(fn, "__qualname__", None) or getattr(fn, "__name__", None) or repr(fn)
    return name if code is None else f"{name} ({code.co_filename.rsplit('/', 1)[-1]}:{code.co_firstlineno})"


def one_cotangent(bars: Any) -> tuple[Any, ...]:
    """What a pullback gives for a single argument as a tuple of one: it may be bare."""
    return bars if isinstance(bars, tuple) and len(bars) == 1 else (bars,)


def cotangents(bars: Any, count: int, rule: str) -> tuple[Any, ...]:
    """What a pullback gives for ``count`` arguments: a tuple of as many. Raises ArgumentError for anything else."""
    rt.check_count(bars, count, rule)
    return bars  # type: ignore[no-any-return]


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
        return f"a {type(value).__name__} of {len(value)}"
    return f"shape {np.shape(value)}" if isinstance(value, (np.ndarray, np.number, int, float, complex)) else (
        "None" if value is None else f"a {type(value).__name__}")
