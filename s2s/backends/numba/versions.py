"""The Numba backend: the generated function of a version in, that function compiled by Numba out."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from s2s.analysis.abstract.parts import part
from s2s.backends.numba.compiler import Refused, Text, Wrapped  # which says where Numba is missing
from s2s.backends.numba.pullbacks import with_pullback
from s2s.backends.numba.stops import tell
from s2s.backends.numba.wrappers import kind_of_gradient, kinds_of_result
from s2s.core.codes import own_codes
from s2s.core.critical import section
from s2s.core.values import AbstractValue
from s2s.versions.request import Compiled, Request

__all__ = ["compiled_aside", "runnable"]


def runnable(
    compiled: Compiled, raw: types.FunctionType, function: types.FunctionType, request: Request,
    avals: tuple[AbstractValue, ...], values: tuple[Any, ...],
) -> Callable[..., Any]:
    """The compiled function of a version; ``raw`` itself, with a warning, where Numba cannot compile it."""
    texts = _texts(compiled)
    while texts:
        text = _text_of(texts[0], function, request, avals, values)
        try:
            make, first = _prepared(text, raw, request)
            first.compile()
            tell(text, first, None)
            return make()
        except Refused as refused:
            problem = refused
            texts = texts if refused.is_passing else texts[1:]
    tell(text, None, problem)
    text.warn(problem)
    return raw


def compiled_aside(
    compiled: Compiled, raw: types.FunctionType, function: types.FunctionType, request: Request,
    avals: tuple[AbstractValue, ...], values: tuple[Any, ...],
) -> tuple[Callable[..., Any] | None, str]:
    """``runnable`` in a thread of its own, for a user who has not asked for Numba: the compiled function, None where
    Numba cannot compile it or something may differ but for rounding; and why. Nothing is warned of, no call of it
    compiles."""
    texts = _texts(compiled)
    while texts:
        text = _text_of(texts[0], function, request, avals, values)
        text.is_aside = True
        try:
            with section, own_codes():
                make, first = _prepared(text, raw, request)
            first.compile()
            text.samples = {}
            return make(), ""
        except Refused as refused:
            reason = refused.reason
            texts = texts if refused.is_passing else texts[1:]
    return None, reason


def _texts(compiled: Compiled) -> list[Compiled]:
    """What is compiled, or else what after it."""
    return [compiled] if compiled.loops is None else [compiled.loops, compiled]


def _text_of(
    compiled: Compiled, function: types.FunctionType, request: Request, avals: tuple[AbstractValue, ...],
    values: tuple[Any, ...],
) -> Text:
    return Text(compiled, function, avals, values, dict(request.options), request.wrt if request.mode == "jvp" else ())


def _prepared(
    text: Text, raw: types.FunctionType, request: Request
) -> tuple[Callable[[], Callable[..., Any]], Wrapped]:
    """What gives the function of a version, and what is to be compiled before. Raises Refused."""
    gradients = tuple(kind_of_gradient(part(text.avals[path[0]], tuple(path[1:]))) for path in request.wrt)
    if request.mode == "vjp":
        return with_pullback(text, raw, text.compiled.result, gradients)
    kinds = kinds_of_result(text.compiled.result, request, gradients)
    wrapped = Wrapped(text, text.entry, raw, text.samples, kinds)
    return lambda: wrapped.function, wrapped
