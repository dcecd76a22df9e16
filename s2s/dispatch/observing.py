"""A version that records each call, as the compiler refuses the function, or that leaves much to its run as kinds of
values are not known, in; out comes one that is compiled for what the values of the function were in a run of it, if
there is one.

``docs/design/observed.md`` says when, and why.
"""

from __future__ import annotations

import types
import weakref
from collections.abc import Iterator
from time import perf_counter
from typing import TYPE_CHECKING, Any

from s2s.core.bounded import Recent
from s2s.core.codes import own_codes
from s2s.core.critical import section
from s2s.core.limits import attempts, limited_length
from s2s.core.settings import validating
from s2s.core.values import AbstractValue
from s2s.dispatch.lookup import compile_observed, forget_version
from s2s.dispatch.recorded import is_always, is_recordable, is_recorded
from s2s.dispatch.rungs import climb, said_of
from s2s.dispatch.version import Version
from s2s.versions.observed import Observed, Omits
from s2s.versions.paths import imported
from s2s.versions.request import Compiled, Request

if TYPE_CHECKING:
    from s2s.dispatch.dispatcher import Dispatcher

__all__ = ["MOST_NOTED", "UNEXPECTED", "Observations", "beside", "compiled_for", "observations_of", "observed"]

UNEXPECTED = "S2S145"
"""The code of the refusal of a value that is not as it was observed."""

MOST = 4
"""A function is observed so often for one signature; then its calls are recorded."""

MISSING = 8
"""A version that asks for so many kinds when it runs is slow for that (``analysis/missing_kinds.py``)."""

MOST_NOTED = 64
"""For so many signatures of a function it is known what was observed."""


class Observations:
    """What was observed of a function in calls of one signature, by all closures of its code, and how often."""

    def __init__(self) -> None:
        self.count = 0
        self.runs: list[tuple[Observed, Compiled]] = []
        """What the versions were made for that there are."""
        self.refused: list[Observed] = []
        """What the compiler has made none for."""
        self.why = "nothing was seen that it had not seen before"
        """What was said of the last one."""
        self.general: Compiled | None = None
        """The version that is compiled without what was observed, where there is one."""

    @property
    def made(self) -> list[Compiled]:
        """The code that there is: what was made for what was observed before what fits all."""
        return [*(compiled for _, compiled in self.runs), *([] if self.general is None else [self.general])]

    @property
    def are_over(self) -> bool:
        """Whether the function is observed no more."""
        return self.count >= MOST

    def take(self) -> bool:
        """Whether the function may be observed once more."""
        self.count += 1
        return self.count <= MOST

    def end(self) -> None:
        """Observe no more for these arguments."""
        self.count = MOST

    def forms(self, seen: Observed) -> Iterator[tuple[Observed, list[Compiled]]]:
        """What a version may be made for after one observation more, and the versions that it stands in the place of:
        in the end for all that was seen; before that for what agrees with it, or for what this run has shown alone."""
        if self.are_over and self.runs:
            common = seen
            for known, _ in self.runs:
                common = known.with_other(common)
            yield common, [compiled for _, compiled in self.runs]
        for known, compiled in self.runs:
            if known.agrees(seen):
                yield known.with_other(seen), [compiled]
        yield seen, []

    def is_known(self, form: Observed) -> bool:
        """Whether a version was made for it, or could not be made."""
        return any(form.is_like(known) for known in (*self.refused, *(known for known, _ in self.runs)))

    def note(self, form: Observed, compiled: Compiled, replaced: list[Compiled]) -> None:
        """Note a version in the place of others."""
        self.runs = [run for run in self.runs if not any(run[1] is one for one in replaced)]
        self.runs.append((form, compiled))


_noted: weakref.WeakKeyDictionary[types.CodeType, Recent[Any, Observations]] = weakref.WeakKeyDictionary()


def observations_of(dispatcher: Dispatcher, version: Version) -> Observations:
    """What was observed in calls like those that a version is for, of this closure or of another one of its code."""
    code, noted = dispatcher.target.function.__code__, dispatcher.observations
    if dispatcher.target.derived is None:
        noted = _noted.setdefault(code, noted)
    return noted.setdefault((code.co_filename, version.avals, version.request), Observations())


def lacks_kinds(dispatcher: Dispatcher, version: Version) -> bool:
    """Whether a compiled version is slow as kinds are missing, which a run of the function may show."""
    is_slow = version.compiled.missing_kinds >= MISSING and not version.compiled.is_observed
    return is_slow and dispatcher.target.derived is None and is_recordable(version.request)


def observed(dispatcher: Dispatcher, version: Version, values: tuple[Any, ...]) -> Version:
    """The version for a call, for which there is ``version``: one that is compiled in the place of one that records, or
    that is slow as kinds are missing, if the compiler makes one of what the values are in this call. The function runs
    for that, while no compiler does."""
    is_replaced = is_recorded(version.compiled) or lacks_kinds(dispatcher, version)
    if not is_replaced or not _may_observe(version.request) or section.lock.is_held():
        return version
    noted = observations_of(dispatcher, version)
    if not noted.take():
        return version
    if not is_recorded(version.compiled):
        noted.general = version.compiled
    inner: Dispatcher | None = dispatcher.target.derived
    function = dispatcher.target.function
    if inner is not None:
        below = observed(inner, inner.version_for(values), values)
        if is_recorded(below.compiled):
            return version
        function = below.raw
        if version.refused_for is not below.compiled:
            with section, own_codes():
                version = dispatcher.made_again(version, values)
            if not is_recorded(version.compiled):
                return version
    start = perf_counter()
    seen: Observed | None = imported("s2s.recorded.observing:observe_call")(function, values)
    if seen is None:
        climb(version, "observed", start, "the function raises, or cannot run unnoticed")
        return version
    with section, own_codes(), attempts():
        made = dispatcher.observed_version(version, values, seen, noted)
    if made is None:
        climb(version, "observed", start, noted.why)
        return version
    made.rungs = version.rungs
    climb(made, "observed", start)
    return made


def beside(
    dispatcher: Dispatcher, version: Version, problem: Any, values: tuple[Any, ...], tried: tuple[Version, ...]
) -> Version | None:
    """The version for a call in which another one, made for what was observed, has refused a value or a path; which
    stays, for calls like those, while the function is observed, or no version fits all calls. One that was made in the
    same way for other values, or the one that fits all, or one that records each call, until the function is observed
    in this one. None where there is nothing beside a version."""
    is_checked = problem.diagnostic.code == UNEXPECTED and version.compiled.is_observed
    if not is_checked or dispatcher.target.derived is not None:
        return None
    noted = observations_of(dispatcher, version)
    others = [one for one in dispatcher.like(version, noted.made, values) if one not in tried]
    if noted.general is not None and noted.are_over:
        noted.runs = [run for run in noted.runs if run[1] is not version.compiled]
        dispatcher.let_go(version)
    for wanted in (lambda one: one.compiled.is_observed, lambda one: not is_recorded(one.compiled), lambda one: True):
        for one in filter(wanted, others):
            return one
    return dispatcher.recording_beside(version, problem)


def compiled_for(
    function: types.FunctionType, arguments: dict[str, AbstractValue], request: Request, seen: Observed,
    noted: Observations,
) -> tuple[Compiled, list[Compiled]] | None:
    """The code of a version for what was seen, and the code that it stands in the place of; None where the compiler
    refuses it, or as many kinds are missing as without."""
    most = None if noted.general is None else noted.general.missing_kinds // 2
    for form, replaced in noted.forms(seen):
        if noted.is_known(form):
            continue
        tried: list[tuple[Omits, frozenset[bool]]] = []
        for omits in (Omits.OF_LIBRARIES, Omits.EVERYTHING, Omits.NOTHING):
            if any(omits.is_same(other, asked) for other, asked in tried):
                continue  # that one was refused
            form.omits, form.asked = omits, set()
            try:
                with limited_length(True):
                    compiled = compile_observed(function, arguments, request, form)
            except Exception as refused:
                if getattr(refused, "diagnostic", None) is None and validating():
                    raise
                tried.append((omits, frozenset(form.asked)))
                noted.why = said_of(refused)
            else:
                if most is None or compiled.missing_kinds <= most:
                    noted.note(form, compiled, replaced)
                    return compiled, replaced
                forget_version(compiled)
                tried.append((omits, frozenset(form.asked)))
                noted.why = "as many kinds are missing as without"
        noted.refused.append(form)
    return None


def _may_observe(request: Request) -> bool:
    return not is_always(request) and dict(request.options).get("backend", "numpy") == "numpy"
