"""Calls that look at frames: generated code has other variables and another name. Library functions that are given an
expression as text read its variables from the frame that calls them: what is differentiated would flow into them
unseen.
"""

from __future__ import annotations

import functools
import inspect
import re
import sys
import types
from collections.abc import Iterator
from typing import Any

from s2s.core import ir
from s2s.core.inspection import by_identity, class_attribute, is_own_module
from s2s.core.values import Known
from s2s.errors import DifferentiationError
from s2s.specialize.frames import is_of_s2s, name_of
from s2s.specialize.site import NOT_HANDLED, CallSite, Handler

__all__ = ["HANDLERS", "check_unseen"]

_NAME = re.compile(r"[^\W\d]\w*")

_FURTHEST = 5
"""So many calls away a function is looked for that reads a frame."""

_NEAR = 2
"""So many away is one looked for that asks for a frame by itself."""


def check_unseen(site: CallSite) -> ir.Atom | None:
    """Refuse a call that reads variables by their names in a text."""
    if _looks_at_frames(site.fn, _NEAR):
        raise refused(site)
    texts = [v.value for v in map(site.value, site.given) if isinstance(v, Known) and isinstance(v.value, str)]
    named = {name for text in texts for name in _NAME.findall(text)}
    if not named or not _reads_frames(site.fn, _FURTHEST):
        return NOT_HANDLED
    frame = site.frame
    while frame is not None:
        if any(var.name in named for var in frame.env):
            raise refused(site)
        frame = frame.caller  # type: ignore[assignment]
    return NOT_HANDLED


def refused(site: CallSite) -> DifferentiationError:
    """The error for a call of a function that looks at the frame that calls it."""
    return site.refusal(
        "S2S115", name=name_of(site.fn), label="needs the frame that calls it",
        hint="hand it the variables, or write the expression in Python")


def of_frame(site: CallSite) -> ir.Atom | None:
    """Refuse a call that gives a frame."""
    if is_of_s2s(site.frame):
        return NOT_HANDLED
    raise refused(site)


HANDLERS: dict[Any, Handler] = dict.fromkeys(
    (sys._getframe, sys._current_frames, inspect.currentframe, inspect.stack, inspect.trace), of_frame)
_GIVE_FRAMES = by_identity(*HANDLERS)


@functools.lru_cache(maxsize=4096)
def _looks_at_frames(fn: types.FunctionType, depth: int) -> bool:
    """Whether a function of the program, or one of the same package that it may call, asks for a frame."""
    if is_own_module(fn.__module__):
        return False
    names, scope = fn.__code__.co_names, fn.__globals__
    modules = (m for m in (sys, inspect) if any(scope.get(name) is m or name == m.__name__ for name in names))
    if any(id(found.get(name)) in _GIVE_FRAMES for found in (scope, *map(vars, modules)) for name in names):
        return True
    return depth > 0 and any(
        _looks_at_frames(other, depth - 1) for other in _called(fn)
        if (other.__module__ or "").partition(".")[0] == (fn.__module__ or "").partition(".")[0])


@functools.lru_cache(maxsize=4096)
def _reads_frames(fn: types.FunctionType, depth: int) -> bool:
    """Whether a function of a package, or one of the same package that it may call, reads the variables of frames."""
    if "f_locals" in fn.__code__.co_names:
        return True
    root = (fn.__module__ or "").partition(".")[0]
    if depth == 0 or root in ("numpy", "scipy", "s2s", *sys.stdlib_module_names):
        return False
    return any(
        (other.__module__ or "").partition(".")[0] == root and _reads_frames(other, depth - 1)
        for other in _called(fn) if other is not fn)


def _called(fn: types.FunctionType) -> Iterator[types.FunctionType]:
    """The functions that the names in the code of a function may stand for."""
    module = sys.modules.get(fn.__module__ or "")
    owner: Any = getattr(module, fn.__qualname__.partition(".")[0], None)
    names = fn.__code__.co_names
    imported = [vars(sys.modules[name]) for name in names if "." in name and name in sys.modules]
    for name in names:
        found: list[Any] = [scope.get(name) for scope in (fn.__globals__, *imported)]
        if issubclass(type(owner), type):
            found.append(class_attribute(owner, name))
        for value in found:
            made = class_attribute(value, "__init__") if issubclass(type(value), type) else value
            if type(made) is types.FunctionType:  # an object of the program is not asked for its class
                yield made
