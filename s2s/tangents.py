"""A function, its arguments and their tangents in, the result and its tangent out: ``s2s.jvp``, without the defaults of
the public function.

A module of its own, as recordings watch it: what it computes of tangents is noted.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.core.inspection import with_article
from s2s.core.public import PublicDerivative
from s2s.core.values import Instance
from s2s.derivatives import Derivative, derivative, name_of_function
from s2s.errors import error
from s2s.runtime._dynamic import without_text
from s2s.versions.fitting import fit_tangent
from s2s.versions.signature import describe, has_float

__all__ = ["check_pairs", "jvp"]


def jvp(
    f: Any, primals: Any, tangents: Any, has_aux: bool, kwargs: dict[str, Any], changes: str = ""
) -> tuple[Any, ...]:
    """``f(*primals)`` and its tangent along ``tangents``; see ``api.jvp``."""
    check_pairs(primals, tangents)
    moved = tuple(k for k, (x, x_dot) in enumerate(zip(primals, tangents, strict=True)) if not _is_still(x, x_dot))
    if not moved:
        return _standing(f(*primals, **kwargs), has_aux)
    made = derivative("jvp", f, moved, has_aux, "zeros", len(primals), changes)
    push = made(*primals, **kwargs)
    name = name_of_function(f)
    along = [fit_tangent(tangents[k], primals[k], f"argument {k} of `{name}`") for k in moved]
    try:
        answer = push(*along)
    except Exception as problem:
        again = _tried_again(made, problem, primals, kwargs, along)
        if again is None:
            raise
        answer = again[0]
    if isinstance(f, PublicDerivative):
        _check_tangent(answer[0], answer[1], name)
    return (answer[0], without_text(answer[1]), *answer[2:])


def check_pairs(primals: Any, tangents: Any) -> None:
    """Raise ArgumentError where there is not one tangent for each argument."""
    for name, given in (("primals", primals), ("tangents", tangents)):
        if not isinstance(given, (tuple, list)):
            raise error("S2S532", name=name, kind=with_article(type(given).__name__))
    if len(primals) != len(tangents):
        raise error("S2S513", primals=len(primals), tangents=len(tangents))


def _check_tangent(out: Any, along: Any, name: str) -> None:
    """Raise NoDerivativeError for a gradient that holds an object of unknown tangent: all of its floats move."""
    if isinstance(out, (tuple, list, dict)) and type(along) is type(out):
        for key in out if isinstance(out, dict) else range(len(out)):
            _check_tangent(out[key], along[key], name)
    elif along is None and isinstance(describe(out, "a", True), Instance) and has_float(describe(out, "a", True)):
        reason = f"its result is or holds an object of type `{type(out).__name__}`, whose contents have no tangent"
        raise error("S2S202", name=name, reason=reason)


def _tried_again(
    made: Derivative, problem: Exception, primals: Any, kwargs: dict[str, Any], along: Any
) -> tuple[Any] | None:
    """The result and its tangents by a recording of the call, where its version has refused it when it ran, or failed;
    None where it has no other."""
    dispatcher: Any = made.dispatcher
    if hasattr(dispatcher, "dispatcher_for"):
        dispatcher = dispatcher.dispatcher_for(primals, kwargs)
    values = dispatcher.collect(*primals, **kwargs)
    return dispatcher.retry(problem, values, lambda push: push(*along))  # type: ignore[no-any-return]


def _is_still(primal: Any, tangent: Any) -> bool:
    """Whether an argument does not move: there is no tangent, or a zero for what has none."""
    if tangent is None:
        return True
    if isinstance(primal, (tuple, list, dict)) and isinstance(tangent, type(primal)):
        return not has_float(describe(primal, "a", True))
    number = isinstance(primal, (int, np.integer, str, bytes)) or primal is None or (
        isinstance(primal, np.ndarray) and primal.dtype.kind not in "fc"
    )
    return number and not np.any(tangent)


def _standing(out: Any, has_aux: bool) -> tuple[Any, ...]:
    """A result of arguments that do not move."""
    if has_aux:
        return out[0], rt.zeros_of(out[0]), out[1]
    return out, rt.zeros_of(out)
