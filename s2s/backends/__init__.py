"""What generated code runs on: the linked function of a version in, the function to call out.

``numpy`` runs it as it is. ``numba`` compiles it to machine code; that module is imported when it is first asked for.
"""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from s2s.core.values import AbstractValue
    from s2s.versions.request import Compiled, Request

__all__ = ["runnable"]


def runnable(
    compiled: Compiled, raw: Any, function: types.FunctionType, request: Request,
    avals: tuple[AbstractValue, ...], values: tuple[Any, ...] | None,
) -> Callable[..., Any]:
    """What to call for a version: ``raw``, its generated function, or that compiled by the backend asked for.

    ``function`` is the primal in whose globals and closure the text runs, ``values`` are the arguments of the call that
    the version is made for; where there is none, nothing is compiled.
    """
    if values is None or dict(request.options).get("backend", "numpy") == "numpy":
        made: Callable[..., Any] = raw
        return made
    from s2s.backends.numba import versions

    return versions.runnable(compiled, raw, function, request, avals, values)
