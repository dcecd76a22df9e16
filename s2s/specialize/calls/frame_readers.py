"""Calls of library functions that are given an expression as text, and read its variables from the frame that calls
them: what is differentiated would flow into them unseen, and generated code may not have the others."""

from __future__ import annotations

import functools
import re
import sys
import types
from collections.abc import Iterator

from s2s.core import ir
from s2s.core.inspection import class_attribute
from s2s.core.values import Known
from s2s.specialize.frames import name_of
from s2s.specialize.site import NOT_HANDLED, CallSite

__all__ = ["check_unseen"]

_NAME = re.compile(r"[^\W\d]\w*")

_FURTHEST = 5
"""So many calls away a function is looked for that reads a frame."""


def check_unseen(site: CallSite) -> ir.Atom | None:
    """Refuse a call that reads variables by their names in a text."""
    texts = [v.value for v in map(site.value, site.given) if isinstance(v, Known) and isinstance(v.value, str)]
    named = {name for text in texts for name in _NAME.findall(text)}
    if not named or not _reads_frames(site.fn, _FURTHEST):
        return NOT_HANDLED
    frame = site.frame
    while frame is not None:
        if any(var.name in named for var in frame.env):
            raise site.refusal(
                "S2S115", name=name_of(site.fn), label="needs the frame that calls it",
                hint="hand it the variables, or write the expression in Python")
        frame = frame.caller  # type: ignore[assignment]
    return NOT_HANDLED


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
    owner = getattr(module, fn.__qualname__.partition(".")[0], None)
    names = fn.__code__.co_names
    imported = [vars(sys.modules[name]) for name in names if "." in name and name in sys.modules]
    for name in names:
        found = [scope.get(name) for scope in (fn.__globals__, *imported)]
        if isinstance(owner, type):
            found.append(class_attribute(owner, name))
        for value in found:
            made = class_attribute(value, "__init__") if isinstance(value, type) else value
            if isinstance(made, types.FunctionType):
                yield made
