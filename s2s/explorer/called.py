"""A call of a derivative in, the derivatives that it has found while it ran out: those of functions that are known, or
whose arguments are known, only then.

Where nothing is run, what the compiler knows of such calls: those of functions that stand in the code.
"""

from __future__ import annotations

import copy
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from s2s.core import ir, linecaches
from s2s.derivatives import version_of_code
from s2s.dispatch.version import Version
from s2s.errors import DifferentiationError
from s2s.sources import version as version_for
from s2s.versions.target import Target, target_of

__all__ = ["Called", "called_by", "known_calls"]

MOST = 20
"""So many are shown."""
NOTED = 1000
"""Of so many calls of each it is looked up where they are."""

Place = tuple[str, int]


@dataclass(eq=False)
class Called:
    """A version of the derivative of another function, which a derivative calls when it runs: how often, from which
    lines of the user's, and the values of its parameters in the first call; None where nothing was run, and where they
    cannot be copied."""

    version: Version
    target: Target
    values: tuple[Any, ...] | None = None
    count: int = 0
    places: set[Place] = field(default_factory=set)


def called_by(call: Callable[[Any], Any], values: Any, own: types.CodeType) -> list[Called]:
    """What a call with these values calls, in the order of the first calls. ``own`` is the code of the derivative that
    is called."""
    watcher = _Watcher(own)
    before = sys.getprofile()
    sys.setprofile(watcher)
    try:
        call(copy.deepcopy(values))
    finally:
        sys.setprofile(before)
    return list(_merged(called for called in watcher.found.values() if called is not None))[:MOST]


def _merged(found: Iterable[Called]) -> Iterable[Called]:
    """Those of closures that share a text as one."""
    by_text: dict[str, Called] = {}
    for called in found:
        first = by_text.setdefault(called.version.compiled.text, called)
        if first is not called:
            first.count += called.count
            first.places |= called.places
    return by_text.values()


class _Watcher:
    """Looks at what is called, by the code of generated functions; codes are kept: others would get their identity."""

    def __init__(self, own: types.CodeType) -> None:
        self.found: dict[int, Called | None] = {id(own): None}
        self.codes = [own]

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        if event != "call":
            return
        code = frame.f_code
        if id(code) not in self.found:
            self.codes.append(code)
            self.found[id(code)] = _new(frame)
        called = self.found[id(code)]
        if called is not None:
            called.count += 1
            if called.count <= NOTED:
                called.places.update(_caller(frame))


def _new(frame: FrameType) -> Called | None:
    """What a frame is one of; None for other functions than derivatives of the user's, or of a library's."""
    code = frame.f_code
    found = version_of_code(code) if linecaches.source_of(code.co_filename) is not None else None
    if found is None:
        return None
    version, target = found
    file = target.function.__code__.co_filename
    is_made = target.derived is None and linecaches.source_of(file) is not None  # stands for one that has no code
    if is_made or (target.function.__module__ or "").partition(".")[0] == "s2s":
        return None
    names = code.co_varnames[: len(version.avals)]
    try:
        values = tuple(copy.deepcopy(frame.f_locals[name]) for name in names)
    except Exception:  # objects say themselves how they are copied
        return Called(version, target)
    return Called(version, target, values)


def _caller(frame: FrameType) -> list[Place]:
    """The user's lines at which a generated function is called, by the generated one that does."""
    at = frame.f_back
    while at is not None:
        shown = linecaches.source_of(at.f_code.co_filename)
        places = shown.places_of(at.f_lineno) if shown is not None else []
        if places:
            return places
        at = at.f_back
    return []


def known_calls(function: ir.Function, target: Target, version: Version) -> list[Called]:
    """The calls of functions that stand in a compiled function, and whose derivatives are found when it runs: for the
    same arguments where the function calls itself, else for those that annotations name."""
    mode = "jvp" if version.request.mode in ("jvp", "jacfwd") else "vjp"
    found: dict[Any, Called] = {}
    for fn, span in _functions_called(function):
        called = found.get(fn)
        if called is None:
            inner = target_of(fn)
            if inner is None:
                continue
            kinds = _kinds(inner, target, version)
            try:
                called = Called(version_for(fn, (), {}, mode, None if mode == "vjp" else 0, kinds), inner)
            except DifferentiationError:
                continue
            found[fn] = called
        if span is not None:
            called.places.add((span.file, span.line))
    return list(found.values())[:MOST]


def _kinds(inner: Target, target: Target, version: Version) -> dict[str, Any]:
    """What is known of the arguments of a function that calls itself."""
    if inner.function is not target.function:
        return {}
    return {name: _Same(aval) for name, aval in zip(target.parameters, version.avals, strict=True)}


@dataclass(frozen=True)
class _Same:
    """The kind of an argument of which the abstract value is known."""

    aval: Any

    def abstract(self, name: str, symbols: Any) -> Any:
        """The abstract value."""
        return self.aval


def _functions_called(function: ir.Function) -> Iterator[tuple[types.FunctionType, ir.Span | None]]:
    for s in ir.walk(function.body):
        call = s.value if isinstance(s, ir.Let) else None
        if not isinstance(call, ir.Call) or not isinstance(call.fn, ir.Const):
            continue
        if getattr(call.fn.value, "__module__", "") != "s2s.runtime._dynamic":
            continue
        first = next((a for a in call.args if isinstance(a, ir.Const)), None)
        if first is not None and isinstance(first.value, types.FunctionType):
            yield first.value, s.span
