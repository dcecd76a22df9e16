"""Dynamic calls, and what rules of users give: both reach the compiler."""

from __future__ import annotations

import types
from typing import Any

from s2s.core import public
from s2s.errors import error
from s2s.runtime._cotangents import cast, rebuild, tangent_like, zeros_of
from s2s.runtime._fitting import check_cotangent, check_tangent


def call(fn: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """``fn(*args, **kwargs)`` and its pullback: by rule or by transforming ``fn`` now.

    The pullback takes the cotangent of the result and gives a tuple: one cotangent per positional argument, then one
    per keyword argument in the order of the call; None for arguments that have none.
    """
    return public.compiler().vjp_of_call(fn, args, kwargs)


def call_again(fn: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """As ``call``, in what may run more than once for its reverse: what gives something else the next time is refused.
    """
    return public.compiler().vjp_of_call(fn, args, kwargs, "repeated")


def call_method(receiver: Any, name: str, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """``receiver.name(*args, **kwargs)`` and its pullback, whose first cotangent is that of the receiver."""
    return public.compiler().vjp_of_method(receiver, name, args, kwargs)


def call_method_again(receiver: Any, name: str, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """As ``call_method``, in what may run more than once."""
    return public.compiler().vjp_of_method(receiver, name, args, kwargs, "repeated")


def by_default(block: Any, f: Any) -> Any:
    """A function in which the choice of a block holds where nothing inside of it says otherwise."""
    return public.compiler().under(f, block.choice, "nonsmooth")


def method(receiver: Any, name: str) -> Any:
    """A method of an object as a function of it: that of its class, where it has one."""
    found = getattr(type(receiver), name, None)
    if isinstance(found, (types.FunctionType, types.MethodDescriptorType)):
        return found

    def call_of_method(receiver: Any, /, *args: Any, **kwargs: Any) -> Any:
        return getattr(receiver, name)(*args, **kwargs)

    return call_of_method


def push(fn: Any, name: str | None, values: tuple[Any, ...], dots: tuple[Any, ...], keys: tuple[str, ...]) -> Any:
    """The result of a dynamic call, and its tangent. ``values`` are the arguments, the last of them
    by the keywords ``keys``, and ``dots`` their tangents, None for zero; with a ``name`` it is the method of the first
    argument."""
    return public.compiler().jvp_of_call(fn, name, values, dots, keys)


def without_tangents(items: Any) -> list[None]:
    """For each of some arguments None, the tangent of what stands still."""
    return [None for _ in items]


INTEGER = object()
"""Stands for the cotangent of an argument that is an integer on this run."""

CAPTURED = object()
"""Stands for the cotangent of an argument that is, or holds, a function that has captured floats."""


class _OfText:
    """Stands for the derivative of a text that numbers were written to: what is computed of it is refused."""

    __array_ufunc__ = None

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise error("S2S180", name="a function that the program finds")

    __float__ = __complex__ = __array__ = __neg__ = __getitem__ = __iter__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __matmul__ = __rmatmul__ = _refuse


OF_TEXT = _OfText()


def without_text(dot: Any) -> Any:
    """A tangent with None for those of texts."""
    kind = type(dot)
    if kind is tuple or kind is list:
        return kind(map(without_text, dot))
    if kind is dict:
        return {key: without_text(part) for key, part in dot.items()}
    return None if dot is OF_TEXT else dot


def pulled(bars: Any, k: int) -> Any:
    """The cotangent of an argument that carries a derivative, from those that a pullback gave.

    Raises NoDerivativeError where the argument was an integer or a text on this run, so that there is none: leaving it
    out would be a silent zero; UnsupportedSyntaxError where it is a function that has captured floats, or holds one.
    """
    if bars[k] is OF_TEXT:
        bars[k]._refuse()
    if bars[k] is INTEGER or bars[k] is CAPTURED:
        raise error("S2S211", name=f"argument {k}") if bars[k] is INTEGER else error("S2S143")
    return bars[k]


# --- what rules of users and callers give ---------------------------------------------------------------------------


def fit_cotangent(given: Any, out: Any, name: str) -> Any:
    """A cotangent of a result of ``name`` with its dtype. Raises ArgumentError where it does not fit."""
    fitting = public.compiler().fit(given, out, name)
    return fitting if isinstance(out, (tuple, list, dict)) else cast(fitting, out)


def fit_tangent(given: Any, primal: Any, name: str) -> Any:
    """A tangent of an argument of ``name`` with its dtype. Raises ArgumentError where it does not fit."""
    return public.compiler().fit_tangent(given, primal, name)


def check_count(bars: Any, count: int, rule: str) -> None:
    """Raise ArgumentError where a rule of the user does not give a tuple of ``count`` cotangents."""
    if not isinstance(bars, tuple) or len(bars) != count:
        got = f"a tuple of {len(bars)}" if isinstance(bars, tuple) else "one cotangent, and no tuple"
        raise error("S2S521", name=rule, got=got, expected=count)


def fit_bar(given: Any, argument: Any, rule: str) -> Any:
    """The cotangent of an argument that a rule of the user gave, with its dtype; None stands for zeros. Raises where
    it has not the shape or the structure of the argument."""
    check_cotangent(given, argument, rule)
    if isinstance(argument, (tuple, list)):
        return rebuild(argument, [fit_bar(g, x, rule) for g, x in zip(given, argument)])
    if isinstance(argument, dict):
        return {key: fit_bar(given[key], x, rule) for key, x in argument.items()}
    return zeros_of(argument) if given is None else cast(given, argument)


def fit_dot(given: Any, out: Any, rule: str) -> Any:
    """The tangent of a result that a rule of the user gave, with its dtype. Raises where it has not the shape or the
    structure of the result."""
    check_tangent(given, out, rule)
    return tangent_like(given, out)
