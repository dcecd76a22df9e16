"""Calls that are decided when the program runs: a function and its arguments in, its result and a pullback out."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s.signature import describe, has_float

Pullback = Callable[[Any], tuple[Any, ...]]


def vjp_of_call(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Pullback]:
    """``fn(*args, **kwargs)`` and its pullback, which gives a cotangent per positional argument, then one per keyword;
    None for those that have none."""
    from s2s.derivatives import derivative

    argnums: list[Any] = [k for k, value in enumerate(args) if has_float(describe(value, "a"))]
    argnums += [name for name, value in kwargs.items() if has_float(describe(value, "a"))]
    names = [*range(len(args)), *kwargs]
    if not argnums:
        return fn(*args, **kwargs), lambda cotangent: (None,) * len(names)
    out, pullback = derivative("vjp", fn, tuple(argnums), False, "zeros")(*args, **kwargs)

    def pull(cotangent: Any) -> tuple[Any, ...]:
        found = dict(zip(argnums, pullback(cotangent), strict=True))
        return tuple(found.get(name) for name in names)

    return out, pull


def vjp_of_method(receiver: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Pullback]:
    """``receiver.name(*args, **kwargs)`` and its pullback, whose first cotangent is the receiver's."""
    kind = np.ndarray if isinstance(receiver, np.generic) else type(receiver)
    method = getattr(kind, name, None)
    if isinstance(method, (types.FunctionType, types.MethodDescriptorType, types.WrapperDescriptorType)):
        return vjp_of_call(method, (receiver, *args), kwargs)
    out, pull = vjp_of_call(getattr(receiver, name), args, kwargs)
    return out, lambda cotangent: (None, *pull(cotangent))
