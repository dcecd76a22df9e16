"""The derivatives that a recorded program chooses: a call for which it has chosen one that a recording does not give is
refused.

    with s2s.nonsmooth("error"):
        y = np.floor(x)                   ->     refused; with "zero", the derivative that a recording has
"""

from __future__ import annotations

import builtins
import contextlib
import math
import operator
import sys
import types
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

import numpy as np

from s2s.core.inspection import is_hashable, name_of
from s2s.directives import surrogates
from s2s.directives.decorated import options_of
from s2s.directives.policies import Chosen
from s2s.directives.policy import AMBIENT, Choices, Override, Policy, held_again
from s2s.errors import error
from s2s.recorded.kinds import flat, plain_array
from s2s.recorded.recorder import is_a
from s2s.recorded.state import depends
from s2s.rules import table

_DEFAULTS: ContextVar[Choices] = ContextVar("s2s defaults", default=())
"""What the functions decorated with ``nonsmooth=`` have chosen that run, the innermost first."""


def inside(fn: Any) -> contextlib.AbstractContextManager[None]:
    """What a decorated function chooses holds."""
    return holding(dict(options_of(fn)))


@contextlib.contextmanager
def holding(options: dict[str, Any]) -> Iterator[None]:
    """What these options choose holds."""
    token = _DEFAULTS.set((*options.get("nonsmooth", ()), *_DEFAULTS.get()))
    try:
        with held_again((*options.get("choices", ()), *AMBIENT.get())):
            yield
    finally:
        _DEFAULTS.reset(token)


def check(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise NoDerivativeError for a call of a function for which a derivative is chosen that a recording does not
    give: it takes what is piecewise constant for constant, and every other function for what it is."""
    held = (*AMBIENT.get(), *_DEFAULTS.get())
    if not held or not depends(args, kwargs):
        return
    for one in _meant(fn):
        found = surrogates.decided(one, held)
        if found is None or _is_decided_already():
            continue
        how = found[2]
        if isinstance(how, Policy) and (how.name == "zero" or not _is_step(one, args, kwargs)):
            continue
        raise _refusal(one, how)
    if _is_integer(kwargs.get("dtype")) and not any(one in surrogates.CONVERSIONS for one in _meant(fn)):
        check(np.ndarray.astype, (args, int), {})


def _refusal(fn: Any, how: Policy | Override) -> Exception:
    rule = table.find(fn)
    name = name_of(fn) if rule is None else rule.name
    if isinstance(how, Policy) and how.name == "error":
        return error("S2S202", name=name, reason=surrogates.rule_of(fn, how).reason)
    reason = f"it is to be differentiated by {how}, and a recording does not do that"
    return error("S2S202", name=name, reason=reason, hint='choose "zero" for it, or nothing')


def _meant(fn: Any) -> Iterator[Any]:
    """The functions that a call is one of: itself, the operator or function that a method of numbers or arrays stands
    for, and what rounds a part of its result."""
    if is_a(fn, Chosen) or not is_hashable(fn):
        return
    name = getattr(fn, "__name__", "")
    if type(fn) in (types.WrapperDescriptorType, types.MethodDescriptorType) and name.startswith("__"):
        plain = name.strip("_")
        words = (plain, *(plain[1:] for letter in "ri" if plain.startswith(letter)))
        modules = operator, math, builtins
        fn = next((getattr(m, w) for w in words for m in modules if hasattr(m, w)), fn)
    yield fn
    if fn in surrogates.ROUNDED_PART:
        yield surrogates.ROUNDED_PART[fn][1]


def _is_step(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a call of a piecewise constant function rounds: complex numbers have no policies, and a conversion is one
    where it gives integers."""
    given = list(flat((args, kwargs)))
    if any(np.iscomplexobj(value) for value in given if is_a(value, (complex, np.generic, np.ndarray))):
        return False
    if not any(fn is conversion for conversion in surrogates.CONVERSIONS) or len(args) < 1:
        return True
    kinds = [*args[1:], *kwargs.values()]
    return any(map(_is_integer, kinds))


def _is_integer(kind: Any) -> bool:
    """Whether an option is a type of integers."""
    if kind is None or is_a(kind, (np.ndarray, bool, int, float)):
        return False
    try:
        return np.dtype(kind).kind in "iub"
    except TypeError:
        return False


def _is_decided_already() -> bool:
    """Whether the code that calls has nothing left to choose: that of rules and models."""
    frame = sys._getframe(2)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("s2s.recorded"):
        frame = frame.f_back  # type: ignore[assignment]
    return frame is not None and frame.f_globals.get("__name__", "").startswith(("s2s.rules", "s2s.models"))


def check_store(array: np.ndarray[Any, Any], value: Any) -> None:
    """Raise NoDerivativeError for a store of numbers into an array of integers, a conversion, where one is chosen."""
    if array.dtype.kind in "iu":
        check(np.ndarray.astype, (plain_array(value), int), {})
