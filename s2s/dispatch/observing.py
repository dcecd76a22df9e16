"""A version that records each call, as the compiler refuses the function, in; out comes one that is compiled for what
the values of the function were in a run of it, if there is one.

``docs/design/observed.md`` says when, and why.
"""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

from s2s.core.codes import own_codes
from s2s.core.critical import section
from s2s.core.limits import limited_length
from s2s.core.values import AbstractValue
from s2s.dispatch.lookup import compile_observed, validating
from s2s.dispatch.recorded import is_always, is_recorded
from s2s.dispatch.version import Version
from s2s.versions.observed import Observed, Omits
from s2s.versions.paths import imported
from s2s.versions.request import Compiled, Request

if TYPE_CHECKING:
    from s2s.dispatch.dispatcher import Dispatcher

__all__ = ["UNEXPECTED", "Observations", "compiled_for", "observed"]

UNEXPECTED = "S2S145"
"""The code of the refusal of a value that is not as it was observed."""

MOST = 4
"""A function is observed so often for one signature; then its calls are recorded."""


class Observations:
    """What a dispatcher has observed, and how often, by the abstract values of arguments."""

    def __init__(self) -> None:
        self.seen: dict[tuple[AbstractValue, ...], Observed] = {}
        self.count: dict[tuple[AbstractValue, ...], int] = {}

    def take(self, avals: tuple[AbstractValue, ...]) -> bool:
        """Whether the function may be observed once more."""
        self.count[avals] = count = self.count.get(avals, 0) + 1
        return count <= MOST

    def end(self, avals: tuple[AbstractValue, ...]) -> None:
        """Observe no more for these arguments."""
        self.count[avals] = MOST

    def add(self, avals: tuple[AbstractValue, ...], seen: Observed) -> Observed:
        """What is known with one observation more."""
        before = self.seen.setdefault(avals, seen)
        if before is not seen:
            before.merge(seen)
        return before


def observed(dispatcher: Dispatcher, version: Version, values: tuple[Any, ...]) -> Version:
    """The version for a call, for which there is ``version``: one that is compiled in the place of one that records, if
    the compiler makes one of what the values are in this call. The function runs for that, while no compiler does."""
    if not is_recorded(version.compiled) or not _may_observe(version.request) or section.lock.is_held():
        return version
    if not dispatcher.observations.take(version.avals):
        return version
    inner: Dispatcher | None = dispatcher.target.derived
    function = dispatcher.target.function
    if inner is not None:
        below = observed(inner, inner.version_for(values), values)
        if is_recorded(below.compiled):
            return version
        function = below.raw
        with section, own_codes():
            version = dispatcher.made_again(version, values)
        if not is_recorded(version.compiled):
            return version
    seen: Observed | None = imported("s2s.recorded.observing:observe_call")(function, values)
    if seen is None:
        return version
    with section, own_codes():
        known = dispatcher.observations.add(version.avals, seen)
        return dispatcher.observed_version(version, values, known) or version


def compiled_for(
    function: types.FunctionType, arguments: dict[str, AbstractValue], request: Request, seen: Observed
) -> Compiled | None:
    """The code of a version for what was seen; None where the compiler refuses it."""
    for seen.omits in (Omits.OF_LIBRARIES, Omits.EVERYTHING, Omits.NOTHING):
        try:
            with limited_length(True):
                return compile_observed(function, arguments, request, seen)
        except Exception as refused:
            if getattr(refused, "diagnostic", None) is None and validating():
                raise
    return None


def _may_observe(request: Request) -> bool:
    return not is_always(request) and dict(request.options).get("backend", "numpy") == "numpy"
