"""Calls of a derivative in, calls of the right compiled version out.

For one function and one request there is one generated function, the *dispatcher*: it has the primal's
parameters, and its body tests the guards of the versions in turn and calls the first that holds. A call
that no version fits goes to ``miss``, which describes the arguments, finds or compiles a version, and swaps
the dispatcher's code for one that knows it. So a call costs the guards and nothing else.

    def loss_grad(W, x, n=3):
        if W.__class__ is ndarray and (W.dtype is f8 or W.dtype == f8) and W.ndim == 1 and W.size != 1 and
        ...:
            return version0(W, x, n)
        return miss(W, x, n)
"""

from __future__ import annotations

import contextlib
import copy
import functools
import os
import re
import types
from collections.abc import Callable
from time import perf_counter
from typing import Any, TypeAlias

from s2s.backends import runnable
from s2s.codegen.link import link
from s2s.core.array_classes import module_of_arrays
from s2s.core.bounded import Recent
from s2s.core.codes import own_codes
from s2s.core.const import Const
from s2s.core.critical import section
from s2s.core.limits import attempts, limited_length
from s2s.core.record import replace
from s2s.core.settings import validating
from s2s.core.values import (
    UNKNOWN,
    AbstractValue,
    Array,
    DictOf,
    Instance,
    IterableOf,
    Known,
    ListOf,
    Mapping,
    Object,
    Same,
    Scalar,
    Sequence,
    Unknown,
)
from s2s.directives.policies import key_text, note_met, note_used
from s2s.directives.policy import AMBIENT, DEBUG_NANS, KEEP_VARIABLES, Choices
from s2s.dispatch.asks import Ask
from s2s.dispatch.chosen_points import beside_chosen_points
from s2s.dispatch.finite import raising
from s2s.dispatch.freed_memory import keep_freed_memory
from s2s.dispatch.lookup import MOST, find_or_compile, forget_version, is_afresh
from s2s.dispatch.nans import without_nan
from s2s.dispatch.observing import (
    MOST_NOTED,
    UNEXPECTED,
    Observations,
    beside,
    compiled_for,
    observations_of,
    observed,
)
from s2s.dispatch.read_only import held_to_flags
from s2s.dispatch.recorded import has_code, is_always, is_recordable, is_recorded, may_record, recorded
from s2s.dispatch.rungs import Rung, climb
from s2s.dispatch.short_lengths import OF_LENGTHS, ByNumbers, ShortLengths
from s2s.dispatch.tiers import Tier, may_gain
from s2s.dispatch.told import tell_of_versions
from s2s.dispatch.version import Version, parameter_names, renamed_for
from s2s.dispatch.writer import Writer
from s2s.errors import DifferentiationError, error
from s2s.notices import tell
from s2s.versions import boundary
from s2s.versions.argument_guards import ArgumentsGuard, LargeGuard, SeparateGuard
from s2s.versions.array_kinds import arrays_in, check_devices, kind_of_arrays, on_devices, other_kind
from s2s.versions.expressions import Expressions
from s2s.versions.guards import Guard, ObjectGuard
from s2s.versions.like_items import Lengths
from s2s.versions.observed import Observed
from s2s.versions.request import STRONG_ZEROS, Compiled, Request
from s2s.versions.signature import Names, array_places, describe, guard_source, with_length
from s2s.versions.sizes import NOT_ASKED, OPTION, large_sizes
from s2s.versions.target import Target, find_paths, parameters_of

__all__ = ["Dispatcher"]

INLINE = 6
"""So many versions are tested by the dispatcher itself; the others are found through a dict."""

MOST_OBJECTS = 8
"""A parameter that came with more functions or strings than this is no longer specialised by them."""

CHECKED = os.environ.get("S2S_CHECK_IR", "") not in ("", "0")

_Tested: TypeAlias = tuple[Version, tuple[str, ...], Names]
"""A version, the conditions under which it holds, and the objects that these are about."""


def _option_at(entry: _Tested, place: int) -> str | None:
    """The string that a version is for at a parameter; None where it is for others too."""
    aval = entry[0].avals[place]
    return aval.value if isinstance(aval, Known) and type(aval.value) is str else None


class Dispatcher:
    """The versions of one function for one ask. ``function`` is what to call: its identity stays, its code
    changes.

    ``finish`` makes what the dispatcher calls out of a version's function (``vjp`` checks cotangents there).
    """

    def __init__(
        self,
        target: Target,
        ask: Ask,
        name: str,
        finish: Callable[[Version, Dispatcher], Callable[..., Any]] | None = None,
        on_version: Callable[[Version], None] | None = None,
        held: Choices = (),
        outside: Dispatcher | None = None,
    ) -> None:
        """``held`` are the choices of the blocks that its calls are in, ``outside`` the dispatcher of calls in none."""
        self.target = target
        self.ask = ask
        self.name = name
        self.last: Version | None = None
        self._code = target.function.__code__
        self._finish = finish
        self._on_version = on_version
        self._versions: dict[tuple[AbstractValue, ...], list[Version]] = {}
        self._tested: list[_Tested] = []
        self._objects: dict[int, set[int]] = {}
        self._lengths = Lengths()
        self._short_lengths = ShortLengths()
        self._by_numbers = ByNumbers()
        self.observations: Recent[Any, Observations] = Recent(MOST_NOTED)
        self._refused: set[tuple[AbstractValue, ...]] = set()
        self._is_trial = False
        self._options: dict[tuple[str, str], tuple[Any, ...]] = {}
        # what takes a derivative of another function is compiled for each: with any function it would call itself
        self._is_of_s2s = (target.function.__module__ or "").startswith("s2s.")
        self._held, self._outside = held, outside
        self._by_choices: dict[Choices, Dispatcher] = {}
        self._recent: tuple[Choices, Dispatcher] | None = None
        if ask.argnums is not None:
            find_paths(target, ask.argnums, None)  # unknown names are told before the first call
        self._writer = Writer(target, name, None if held else lambda: self.under(AMBIENT.get()).function)
        self.function = self._writer.function(self._miss, self.retry)

    def under(self, held: Choices) -> Dispatcher:
        """The dispatcher for calls in blocks for which these choices hold, outside those that hold for this one: each
        has versions of its own."""
        if not held:
            return self
        if self._outside is not None:
            return self._outside.under((*self._held, *held))
        if self._recent is not None and self._recent[0] is held:
            return self._recent[1]
        found = self._by_choices.get(held)
        if found is None:
            found = self._by_choices[held] = self._new_under(held)
            if len(self._by_choices) > MOST:
                del self._by_choices[next(iter(self._by_choices))]
        self._recent = held, found
        note_used(found)
        return found

    def _new_under(self, held: Choices) -> Dispatcher:
        target, ask = self.target, self.ask
        if target.derived is not None:
            target = target.with_derived(target.derived.under(held))
        options, purposes = dict(ask.options), {choice.debugging for choice in held}
        deciding = tuple(choice for choice in held if not choice.debugging)
        if deciding:
            options["choices"] = (*options.pop("choices", ()), *deciding)
        if purposes != {""}:
            options["backend"] = "numpy"
        if KEEP_VARIABLES in purposes:
            options["passes"] = "-all"
        ask = replace(ask, options=(*options.items(),), is_auto=ask.is_auto and purposes == {""})

        def noted(version: Version) -> None:
            self.last = version
            if self._on_version is not None:
                self._on_version(version)

        return Dispatcher(target, ask, self.name, self._finish, noted, held, self)

    def collect(self, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """The values of the function's parameters in a call with these arguments.

        Raises ArgumentError where they do not fit the parameters.
        """
        bind = Writer(self.target, self.name).function(lambda *values: values, None)
        try:
            values: tuple[Any, ...] = bind(*args, **kwargs)
        except TypeError as problem:  # the arguments do not fit the parameters: nothing else runs here
            said = str(problem).replace(self.name, self.target.name, 1)
            raise error("S2S511", problem=said, hint="pass what a call of the function itself takes") from None
        return values

    def differentiated(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """Those of the values of the function's parameters, or their items, that are differentiated."""
        found = []
        for path in find_paths(self.target, self.ask.argnums or (), values) or ():
            value = values[self.target.parameters.index(path[0])]
            for step in path[1:]:
                value = value[step]
            found.append(value)
        return tuple(found)

    @property
    def met(self) -> set[str]:
        """The functions with another rule by a block that its versions have met, by ``key_text``."""
        inner = set() if self.target.derived is None else self.target.derived.met
        return inner.union(*(version.compiled.met for version in self.versions))

    @property
    def everywhere(self) -> list[Dispatcher]:
        """This one, and those for calls in blocks with choices."""
        return [self, *(inner for one in self._by_choices.values() for inner in one.everywhere)]

    @property
    def versions(self) -> list[Version]:
        """The versions there are, oldest first."""
        return [version for versions in self._versions.values() for version in versions]

    def version_for(self, values: tuple[Any, ...]) -> Version:
        """The version for the values of the function's parameters, compiled where there is none yet.

        Raises the errors of the compiler, and ArgumentError where an argument to differentiate has no
        derivative.
        """
        with section, own_codes():
            version: Version = boundary.within(
                lambda: self._version_for(values), self.target.function, self.ask.mode, values)
        return observed(self, version, values)

    def _version_for(self, values: tuple[Any, ...]) -> Version:
        """A version for lists of any length where the arguments have lists of like items, and for those of this length
        where the compiler refuses that one, which it is asked for once."""
        self._check_parameters()
        lists = self._lengths
        lists.found = False
        avals = exact = self._describe(values)
        if lists.found:
            exact = self._describe(values, as_they_are=True)
        version = None if avals == exact or avals in self._refused else self._try(avals, values)
        if version is None:
            version = self._find_for(exact, values)
        self._install(version, values)
        self._note_last(version)
        return version

    def _note_last(self, version: Version) -> None:
        self.last = version
        if self._on_version is not None:
            self._on_version(version)

    def _find_for(self, avals: tuple[AbstractValue, ...], values: tuple[Any, ...]) -> Version:
        return self._find(avals, self._with_sizes(self.ask.request(self.target, avals, values), avals, values), values)

    def _with_sizes(self, request: Request, avals: tuple[AbstractValue, ...], values: tuple[Any, ...]) -> Request:
        """The request with the arguments that are large, for a backend that goes over their elements in blocks. The
        derivative of a derivative is the same for all: the inner one is no loop then."""
        if dict(request.options).get("backend", "numpy") != "numpy":
            return request
        large: tuple[str, ...] = NOT_ASKED
        if self.target.derived is None and not any(map(other_kind, avals)):
            large = large_sizes(avals, dict(zip(self.target.parameters, values, strict=True)))
        return replace(request, options=(*request.options, (OPTION, large))) if large else request

    def _try(self, avals: tuple[AbstractValue, ...], values: tuple[Any, ...]) -> Version | None:
        """The version for lists of any length, None where the compiler refuses it."""
        self._is_trial = True
        try:
            return self._find_for(avals, values)
        except Exception as problem:  # also a mistake of the compiler, unless these are looked for
            if validating() and getattr(problem, "diagnostic", None) is None:
                raise
        finally:
            self._is_trial = False
        self._refuse(avals, values)
        return None

    def _refuse(self, avals: tuple[AbstractValue, ...], values: tuple[Any, ...]) -> None:
        """Take lists such as those of ``avals`` as they are from here on, as the inner derivative does then."""
        self._refused.add(avals)
        inner: Dispatcher | None = self.target.derived
        if inner is not None:
            inner._refuse(inner._describe(values), values)

    @property
    def has_other_parameters(self) -> bool:
        """Whether the function was given code with other parameters than those that the dispatcher has."""
        function = self.target.function
        if function.__code__ is self._code:
            return False
        return tuple(p.name for p in parameters_of(function)) != self.target.parameters

    def _check_parameters(self) -> None:
        """Raise where the function's code was replaced by one with other parameters than the dispatcher has."""
        if self.has_other_parameters:
            names = ", ".join(p.name for p in parameters_of(self.target.function))
            raise error("S2S530", name=self.target.name, parameters=names)

    def _find(self, avals: tuple[AbstractValue, ...], request: Request, values: tuple[Any, ...]) -> Version:
        """The version for these arguments, known or new.

        A version may rely on a length not having some value, or on two being equal. Where that is not so,
        these lengths become part of the abstract values, and the version is another one.
        """
        avals = self._as_inner(avals, values)
        for _ in range(MOST):
            avals = self._by_numbers.exact(avals, values)
            known = self._versions.get(avals, [])
            for version in known:
                if self._holds(version, values):
                    return version
            wrong = [guard for version in known for guard in self._wrong_sizes(version, values)]
            if not wrong:
                with attempts():
                    version = self._make_or_by_numbers(avals, request, values)
                self._tell_of(version)
                self._keep(version)
                wrong = self._wrong_sizes(version, values)
                if not wrong:
                    return version
            before = avals
            by_name = dict(zip(self.target.parameters, values, strict=True))
            lengths = {symbol: length for guard in wrong for symbol, length in guard.lengths(by_name).items()}
            for symbol, length in lengths.items():
                avals = tuple(with_length(aval, symbol, length) for aval in avals)
            avals = self._with_shared(avals, wrong, values)
            if avals == before:
                raise error("S2S901", problem=f"{wrong[0]} does not hold for its own call")
        raise error("S2S901", problem=f"no version of {self.name} fits its own call")

    def _check_own(self, guards: tuple[Any, ...], values: tuple[Any, ...]) -> None:
        """Raise where a guard does not hold for the call that a version was compiled for: it would be compiled again at
        each call. Asked where the environment wants it, as the tests do. A module that is not there may be imported
        while the version is made, which is then made again once."""
        by_name = dict(zip(self.target.parameters, values, strict=True))
        for guard, function in guards:
            if isinstance(guard, ArgumentsGuard) or guard.says_absent:
                continue
            if not guard.holds(function, by_name):
                raise error("S2S901", problem=f"{guard} does not hold for its own call")

    def _as_inner(self, avals: tuple[AbstractValue, ...], values: tuple[Any, ...]) -> tuple[AbstractValue, ...]:
        """For the derivative of a derivative: with the lengths and counts that the inner version has as constants."""
        inner: Dispatcher | None = self.target.derived
        if inner is None:
            return avals
        given = inner._version_for(values).avals
        kinds = (Array, Sequence, Mapping, ListOf, DictOf, IterableOf, Instance, Known)
        return tuple(g if isinstance(g, kinds) else a for a, g in zip(avals, given, strict=True))

    def _with_shared(
        self, avals: tuple[AbstractValue, ...], guards: list[ArgumentsGuard], values: tuple[Any, ...]
    ) -> tuple[AbstractValue, ...]:
        """The abstract values where one array is given as two arguments, one of which the function changes.

        Raises ArgumentError where arguments share memory in another way.
        """
        by_name = dict(zip(self.target.parameters, values, strict=True))
        for guard in guards:
            if not isinstance(guard, SeparateGuard):
                continue
            first, second = by_name.get(guard.first), by_name.get(guard.second)
            if first is None or first is not second:
                raise error("S2S510", name=self.target.name, first=guard.first, second=guard.second)
            earlier, later = sorted((guard.first, guard.second), key=self.target.parameters.index)
            place = self.target.parameters.index(later)
            if not isinstance(avals[place], Same):
                avals = (*avals[:place], Same(earlier), *avals[place + 1 :])
        return avals

    def _wrong_sizes(self, version: Version, values: tuple[Any, ...]) -> list[ArgumentsGuard]:
        """The guards about arguments that do not hold for a call."""
        by_name = dict(zip(self.target.parameters, values, strict=True))
        return [
            guard
            for guard, function in version.guards
            if isinstance(guard, ArgumentsGuard) and not isinstance(guard, LargeGuard)
            and not guard.holds(function, by_name)
        ]

    def version_of(self, avals: tuple[AbstractValue, ...], request: Request) -> Version:
        """A version for abstract values alone, which is not installed."""
        with section:
            return boundary.within(
                lambda: self._make(avals, request, None), self.target.function, request.mode, ())

    def _miss(self, *values: Any) -> Any:
        version = self.version_for(values)
        result = version.call(*values)
        self._follow(version, values)
        return result

    def _follow(self, version: Version, values: tuple[Any, ...]) -> None:
        """Compile the version for the next such call where this one has changed what its version relies on, as a first
        call does that puts keys into a dict from outside."""
        if not self._holds(version, values):
            with contextlib.suppress(DifferentiationError):
                self.version_for(values)

    def retry(
        self, problem: Any, values: tuple[Any, ...], then: Callable[[Any], Any] = lambda result: result,
        tried: tuple[Version, ...] = (), version: Version | None = None,
    ) -> tuple[Any] | None:
        """The result of a call in which a version has refused the path that it came to, or has failed where the primal
        does not: it is recorded from its start, as the next calls with such arguments are, unless there is a version
        beside it, other than those that were ``tried``. ``then`` is what the caller does with it. ``version`` is the
        one that has failed, where the traceback does not tell. None where the exception is to come out."""
        import traceback  # takes longer than a version from disk

        codes = [frame.f_code for frame, _ in traceback.walk_tb(problem.__traceback__)]
        is_refusal, is_over, is_final = isinstance(problem, DifferentiationError), False, False
        with section:  # the code that ran: in a recording that is not the function's own
            version = version or next((v for v in self.versions if v.is_one_of(codes)), None)
        with section, own_codes():
            if version is None:
                if tried or not is_refusal or problem.diagnostic.code != UNEXPECTED:
                    return None
                version = self._version_for(values)  # another call has put it in the place of the one that was called
                tried = version,
            elif is_refusal and self._refuses_lists(version, problem, values):
                version = self._version_for(values)
            elif not self._may_be_recorded(version.avals) or not self._may_record_more(version, problem, values):
                is_final = True
            elif is_refusal:
                is_over = self._is_over_compiled(version, problem)
                tried = *tried, version
                version = beside(self, version, problem, values, tried) or self._recorded(version, problem, values)
        if is_final and is_refusal:
            return None
        if is_refusal:
            version = version if is_over else observed(self, version, values)
            try:
                return (then(version.call(*values)),)
            except DifferentiationError as other:
                found = None if is_recorded(version.compiled) else self.retry(other, values, then, tried)
                if found is None:
                    raise
                return found
        from s2s.dispatch.failures import check_primal, instead_of

        if is_final:
            check_primal(self, version, problem, values)
            return None
        return instead_of(self, version, problem, values, then)

    def _may_record_more(self, version: Version, problem: Any, values: tuple[Any, ...]) -> bool:
        """Whether a version may be recorded; one that is may be so again, where it has called a compiled version of the
        inner derivative: that may have refused a value or path, or do what no recording follows."""
        may = may_record(problem, version.request, self.target.function)
        if not may or not is_recorded(version.compiled):
            return may
        inner: Dispatcher | None = self.target.derived
        if inner is None or not has_code(problem):
            return False
        return not is_recorded(inner._version_for(values).compiled)

    def _is_over_compiled(self, version: Version, problem: Any) -> bool:
        """Whether a version that records each call of the inner derivative refuses what that does, which is compiled:
        a recording of the function that the inner one is of may do without."""
        return is_recorded(version.compiled) and has_code(problem) and problem.diagnostic.code != UNEXPECTED

    def _recorded(self, version: Version, problem: Any, values: tuple[Any, ...]) -> Version:
        """A version that has refused a path, which records each call from now on."""
        forget_version(version.compiled)
        if problem.diagnostic.code != UNEXPECTED and version.compiled.is_observed:
            observations_of(self, version).end()
        self.record(version, problem, values)
        return version

    def like(self, version: Version, made: list[Compiled], values: tuple[Any, ...]) -> list[Version]:
        """The versions for the signature of one that hold for a call; also of the code that was ``made`` for another
        closure."""
        known = self._versions.setdefault(version.avals, [])
        for compiled in made:
            if all(one.compiled is not compiled for one in known):
                found = self._linked(compiled, None, None, version.avals, version.request, values)
                if self._holds(found, values):
                    self._keep(found)
        return [one for one in known if self._holds(one, values)]

    def recording_beside(self, version: Version, problem: Any) -> Version:
        """A version that records each call, kept beside one that stays and is asked before it."""
        made = copy.copy(version)
        made.record(self.target.function, renamed_for(version.request, self.target, self.target.function), problem)
        self._keep(made)
        return self.finished(made)

    def record(self, version: Version, problem: Any, values: tuple[Any, ...]) -> None:
        """Let a version record each call from now on, and that of the inner derivative that it is made from."""
        inner: Dispatcher | None = self.target.derived
        function = self.target.function
        if inner is not None:
            below = inner._version_for(values)
            if self._is_over_compiled(version, problem):
                from s2s.dispatch.failures import recording_of

                below = recording_of(inner, below, problem, values)  # alone it stays compiled
            elif not is_recorded(below.compiled):
                inner.record(below, problem, values)
            function = below.raw
        version.record(function, renamed_for(version.request, self.target, function), problem)
        self._tested = [entry for entry in self._tested if entry[0] is not version]  # it calls something else
        self._install(self.finished(version), values)

    def finished(self, version: Version) -> Version:
        """A version, whose ``call`` gives what is asked for."""
        if self._finish is not None:
            version.call = self._finish(version, self)
        version.call = held_to_flags(self, version, version.call)
        return version

    def _refuses_lists(self, version: Version, problem: Any, values: tuple[Any, ...]) -> bool:
        """Whether a version for lists of any length has refused a path that one for lists of this length may know: it
        is dropped then."""
        avals = self._describe(values)
        is_other = avals not in self._refused and avals != self._describe(values, as_they_are=True)
        if not is_other or problem.diagnostic.code[:4] not in ("S2S1", "S2S2", "S2S3"):
            return False
        self._refuse(avals, values)
        self._drop(version)
        return True

    def let_go(self, version: Version) -> None:
        """Drop a version that has failed, as there is one that fits all calls."""
        forget_version(version.compiled)
        if version in self._versions.get(version.avals, []):
            self._drop(version)

    def _drop(self, version: Version) -> None:
        self._versions[version.avals].remove(version)
        self._versions = {avals: versions for avals, versions in self._versions.items() if versions}
        self._tested = [entry for entry in self._tested if entry[0] is not version]

    def _describe(self, values: tuple[Any, ...], as_they_are: bool = False) -> tuple[AbstractValue, ...]:
        """The abstract values of arguments, those of lists with their items one by one where they are taken
        ``as_they_are``."""
        wanted = self.ask.parameters(self.target, values)
        is_compiled = dict(self.ask.options).get("backend", "numpy") != "numpy"  # Numba takes no lists of arrays
        lengths = None if as_they_are or is_compiled else self._lengths
        named = zip(self.target.parameters, values, strict=True)
        avals = [describe(value, name, name in wanted, lengths) for name, value in named]
        if any(map(other_kind, avals)):
            check_devices(self.target.parameters, avals, values, self.target.name)
        for i, aval in enumerate(avals):
            if isinstance(aval, Known) and type(aval.value) not in (bool, type(None), type(Ellipsis)):
                seen = self._objects.setdefault(i, set())
                seen.add(hash(aval))
                avals[i] = aval if len(seen) <= MOST_OBJECTS or self._is_of_s2s else UNKNOWN
        return tuple(self._short_lengths.known(avals, values) if is_compiled else avals)

    def _make_or_by_numbers(
        self, avals: tuple[AbstractValue, ...], request: Request, values: tuple[Any, ...]
    ) -> Version:
        """The version for these arguments; where the compiler refuses it, or leaves a call to run time, and the length
        of a short vector or a small count may be why, the one for such numbers, if there is that."""
        version: Version | None = None
        try:
            version = self._make(avals, request, values)
            refusal = version.compiled.objects["refusal"] if is_recorded(version.compiled) else None
        except Exception as problem:
            refusal = problem
        is_uncounted = version is not None and version.leaves_uncounted
        if is_uncounted or getattr(getattr(refusal, "diagnostic", None), "code", None) in OF_LENGTHS:
            found = self._made_by_numbers(avals, request, values, is_uncounted)
            if found is not None:
                return found
        if version is None:
            assert refusal is not None
            raise refusal
        return version

    def _made_by_numbers(
        self, avals: tuple[AbstractValue, ...], request: Request, values: tuple[Any, ...], is_counted: bool
    ) -> Version | None:
        """The version for the lengths and counts of a call; of the derivative of a derivative where the inner one has
        such a version. With ``is_counted`` it leaves no call to run time for the number of its arguments."""
        inner: Dispatcher | None = self.target.derived
        if inner is not None:
            take_back = inner.takes_numbers(values)
            exact = avals if take_back is None else self._as_inner(avals, values)
            found = None if exact == avals else self._make_unless_refused(exact, request, values, is_counted)
            if found is None and take_back is not None:
                take_back()
            return found
        for exact, has_counts in self._by_numbers.tried(avals, values):
            found = self._make_unless_refused(exact, request, values, is_counted)
            if found is not None:
                self._by_numbers.add(avals, has_counts)
                return found
        return None

    def takes_numbers(self, values: tuple[Any, ...]) -> Callable[[], None] | None:
        """Make the version for the lengths and counts of a call the one from here on, if there is one: what takes that
        back."""
        if self.target.derived is not None:
            taken: Callable[[], None] | None = self.target.derived.takes_numbers(values)
            return taken
        avals = self._version_for(values).avals
        for exact, has_counts in self._by_numbers.tried(avals, values):
            found = self._make_unless_refused(exact, self.ask.request(self.target, exact, values), values)
            if found is not None:
                self._by_numbers.add(avals, has_counts)
                self._keep(found)
                return functools.partial(self._take_back, avals, found)
        return None

    def _take_back(self, avals: tuple[AbstractValue, ...], version: Version) -> None:
        self._by_numbers.discard(avals)
        if version in self._versions.get(version.avals, []):
            self._drop(version)

    def _make_unless_refused(
        self, avals: tuple[AbstractValue, ...], request: Request, values: tuple[Any, ...], is_counted: bool = False
    ) -> Version | None:
        try:
            version = self._make(avals, request, values)
        except Exception as problem:
            if getattr(problem, "diagnostic", None) is None:
                raise
            return None
        return None if is_recorded(version.compiled) or (is_counted and version.leaves_uncounted) else version

    def _make(
        self, avals: tuple[AbstractValue, ...], request: Request, values: tuple[Any, ...] | None
    ) -> Version:
        inner = self._inner_version(avals, values)
        if inner is not None and STRONG_ZEROS in request.options:
            inner = self._remade(inner, values, STRONG_ZEROS)
        try:
            return self._make_from(inner, avals, request, values)
        except Exception as problem:  # the errors of the compiler are not imported here
            if inner is None or not inner.keeps_pullbacks or not hasattr(problem, "diagnostic"):
                raise
        return self._make_from(self._remade(inner, values, ("inner", True)), avals, request, values)

    def _make_from(
        self, inner: Version | None, avals: tuple[AbstractValue, ...], request: Request, values: tuple[Any, ...] | None
    ) -> Version:
        """The version that is compiled from the primal, or from a version of the inner derivative."""
        function = self.target.function if inner is None else inner.raw
        by_name = None if values is None else dict(zip(parameter_names(function), values, strict=True))
        self._check_backend(avals)
        may_be_recorded = self._may_be_recorded(avals)
        renamed, start = renamed_for(request, self.target, function), perf_counter()
        try:
            if inner is not None and is_recorded(inner.compiled):
                raise inner.compiled.objects["refusal"]
            if values is not None and may_be_recorded and is_always(request):
                raise error("S2S101", construct="anything, as S2S_RECORDED says,")
            with limited_length(values is not None and may_be_recorded and is_recordable(request)):
                arguments = dict(zip(parameter_names(function), avals, strict=True))
                compiled, file = find_or_compile(
                    function, arguments, renamed, by_name, not is_afresh(self.target.function))
        except Exception as problem:
            may = by_name is not None and may_be_recorded and may_record(problem, request, function)
            if not may or boundary.begins_again(problem):
                raise
            version = self._linked(recorded(function, renamed, problem), None, inner, avals, request, values)
            version.refused_for = None if inner is None else inner.compiled
            climb(version, "static", start, problem)
            return version
        version = self._linked(compiled, file, inner, avals, request, values)
        version.rungs = Rung("observed" if compiled.is_observed else "static", perf_counter() - start),
        return version

    def _tell_of(self, version: Version) -> None:
        if self.target.derived is None and not self._is_of_s2s and not is_recorded(version.compiled):
            tell(version.compiled.notices)
            tell_of_versions(self, version.avals)

    def made_again(self, version: Version, values: tuple[Any, ...]) -> Version:
        """The version for a call in the place of a recorded one, once the inner derivative is compiled."""
        self._drop(version)
        return self._version_for(values)

    def observed_version(
        self, version: Version, values: tuple[Any, ...], seen: Observed, noted: Observations
    ) -> Version | None:
        """A version in the place of a recorded one, made for what was ``seen`` when the function ran; None where the
        compiler refuses that too."""
        inner: Dispatcher | None = self.target.derived
        below = None if inner is None else inner._version_for(values)
        function = self.target.function if below is None else below.raw
        request = renamed_for(version.request, self.target, function)
        arguments = dict(zip(parameter_names(function), version.avals, strict=True))
        found = compiled_for(function, arguments, request, seen, noted)
        if found is None:
            return None
        compiled, replaced = found
        made = self._linked(compiled, None, below, version.avals, version.request, values)
        for one in self._versions[version.avals][:]:
            is_replaced = one is version and is_recorded(one.compiled)
            if is_replaced or any(one.compiled is other for other in replaced):
                self._drop(one)
        for other in replaced:
            forget_version(other)
        self._keep(made, at_first=True)
        self._install(made, values)
        self._note_last(made)
        return made

    def with_strong_zeros(self, version: Version, values: tuple[Any, ...]) -> Version:
        """A version beside one, in whose sweeps zero times inf or NaN is zero."""
        request = replace(version.request, options=(*version.request.options, STRONG_ZEROS))
        with section, own_codes():
            return self._make(version.avals, request, values[: len(version.avals)])

    def _linked(
        self, compiled: Compiled, file: str | None, inner: Version | None, avals: tuple[AbstractValue, ...],
        request: Request, values: tuple[Any, ...] | None,
    ) -> Version:
        """The version of code that was compiled from the primal, or from a version of the inner derivative."""
        function, guards = (self.target.function, self._own_code()) if inner is None else (inner.raw, inner.guards)
        for aval in avals:
            _let_go(aval)
        guards += tuple((self._own(guard, function), guard.owner or function) for guard in compiled.guards)
        if CHECKED and values is not None and not validating():  # whose runs may change what the program reads
            self._check_own(guards, values)
        raw = link(compiled, function, file=file)
        keep_freed_memory()
        version = Version(compiled, raw, request, avals, guards, function)
        for choice in dict(request.options).get("choices", ()):
            for met in choice.overridden:
                if key_text(met) in compiled.met:
                    note_met(choice, met)
        if not is_recorded(compiled):
            version.run = version.call = runnable(compiled, raw, function, request, avals, values)
            is_auto = self.ask.is_auto and STRONG_ZEROS not in request.options
            if is_auto and values is not None and may_gain(compiled) and not any(map(other_kind, avals)):
                version.tier = Tier(self, version, function)
                version.run = version.call = version.tier.run
            if values is not None and not any(map(other_kind, avals)):
                self._look_at(version)
        if any(choice.debugging == DEBUG_NANS for choice in self._held):
            version.run = version.call = raising(version, function, self.target.name, version.call)
        return self.finished(version)

    def let_run(self, version: Version, raw: types.FunctionType, run: Callable[..., Any]) -> bool:
        """Let a version whose generated function is ``raw`` run another one that does the same; False where another
        thread is changing something now."""
        if not section.lock.acquire(timeout=0):
            return False
        try:
            if version.raw is raw:  # it may be recorded meanwhile
                version.run = version.call = run
                self._look_at(version)
                self.finished(version)
                self._options.clear()
                self.function.__code__ = self._code_for(self._tested, None)
        finally:
            section.lock.release()
        return True

    def _may_be_recorded(self, avals: tuple[AbstractValue, ...] = ()) -> bool:
        """Whether there is code to be watched: one that stands for a call of a compiled function has none. Recordings
        are of operations on NumPy's arrays."""
        if self._is_trial or self._is_of_s2s or any(map(other_kind, avals)):
            return False
        return "__s2s_calls__" not in self.target.function.__dict__

    def _look_at(self, version: Version) -> None:
        """Let a version look at its results, which may have NaN, or be second derivatives where first ones are
        chosen."""
        otherwise = without_nan(self, version) if self._may_be_recorded() else version.run
        version.call = beside_chosen_points(self, version, otherwise)
        if version.request.mode == "vjp":  # of which ``finish`` makes what it calls
            version.run = version.call

    def _check_backend(self, avals: tuple[AbstractValue, ...]) -> None:
        """Raise ArgumentError where a backend is asked for that takes NumPy's arrays alone, and there are others."""
        backend = dict(self.ask.options).get("backend", "numpy")
        if backend not in ("numpy", "auto") and any(map(other_kind, avals)):
            kind = kind_of_arrays(arrays_in(zip(self.target.parameters, avals, strict=False)), self.target.name)
            module = module_of_arrays(kind)
            raise error("S2S537", backend=backend, module="" if module is None else module.__name__)

    def _own_code(self) -> tuple[tuple[Guard, types.FunctionType], ...]:
        """The guard on the function's own code, which may be replaced: a notebook that reloads a module does that."""
        function = self.target.function
        if self._is_of_s2s:
            return ()
        return ((ObjectGuard("value", (Const(function), "__code__"), function.__code__), function),)

    def _inner_version(self, avals: tuple[AbstractValue, ...], values: tuple[Any, ...] | None) -> Version | None:
        """For the derivative of a derivative the version of the inner one that is differentiated: None for others."""
        inner: Dispatcher | None = self.target.derived
        if inner is None:
            return None
        if values is not None:
            version = inner._version_for(values)
        else:
            version = inner._make(avals, inner.ask.request(inner.target, avals, ()), None)
        if OPTION in dict(version.request.options):
            version = self._remade(version, values, (OPTION, NOT_ASKED))
        # what keeps states is no arithmetic
        return self._remade(version, values, ("checkpoints", "off")) if version.keeps_states else version

    def _remade(self, version: Version, values: tuple[Any, ...] | None, option: tuple[str, Any]) -> Version:
        """A version of the inner derivative, with another option."""
        request = version.request
        options = (*request.options, option)
        again = Request(request.mode, request.wrt, request.single, request.has_aux, options)
        inner: Dispatcher = self.target.derived
        return inner._make(version.avals, again, values)

    def _own(self, guard: Guard, function: types.FunctionType) -> Guard:
        """A guard on an argument's size, in the parameter names of the target (generated code may have
        others)."""
        if function is self.target.function or not isinstance(guard, ArgumentsGuard):
            return guard
        return guard.renamed(dict(zip(parameter_names(function), self.target.parameters, strict=True)))

    def _keep(self, version: Version, at_first: bool = False) -> None:
        known = self._versions.setdefault(version.avals, [])
        known.insert(0 if at_first else len(known), version)
        if sum(map(len, self._versions.values())) > MOST:
            self._drop(self._versions[next(iter(self._versions))][0])

    # -- guards

    def _conditions(self, version: Version, values: tuple[Any, ...]) -> tuple[tuple[str, ...], Names]:
        names = Names(self._writer.prefix)
        tests: list[str] = []
        for name, aval, value in zip(self.target.parameters, version.avals, values, strict=True):
            if name in self.target.fixed and isinstance(aval, (Known, Scalar, Unknown, Object)):
                continue  # the very same object at each call
            if isinstance(aval, Same):
                tests.append(f"{self._writer.expression(name)} is {self._writer.expression(aval.name)}")
                continue
            tests += guard_source(self._writer.expression(name), aval, names, value)
        writer = self._writer
        expressions = Expressions(names, writer.expression, writer.globals, writer.locals)
        hidden: dict[int, tuple[Any, list[str]]] = {}
        read = frozenset(re.findall(r"\.(\w+)", version.compiled.text))
        for guard, owner in version.guards:
            foreign = owner.__globals__ is not writer.globals
            if foreign and isinstance(guard, ObjectGuard) and guard.takes_builtin(owner):
                hidden.setdefault(id(owner.__globals__), (owner.__globals__, []))[1].append(guard.path[0])
            else:
                tests += guard.conditions(owner, expressions, read)
        tests += on_devices([
            place for name, aval in zip(self.target.parameters, version.avals, strict=True) if other_kind(aval)
            for place in array_places(aval, writer.expression(name))
        ])
        for scope, taken in hidden.values():  # one test for all builtins that a module of others must not hide
            tests.append(f"{names.add(scope, 'g')}.keys().isdisjoint({(*sorted(taken),)!r})")
        return tuple(dict.fromkeys(tests)), names

    def _holds(self, version: Version, values: tuple[Any, ...]) -> bool:
        by_name = dict(zip(self.target.parameters, values, strict=True))
        return all(guard.holds(function, by_name) for guard, function in version.guards)

    def _install(self, version: Version, values: tuple[Any, ...]) -> None:
        """Let the dispatcher test this version first. A version that comes back again and again without
        being tested inline is brought forward at ever longer intervals, so that many signatures in turn do
        not swap code each time."""
        conditions, names = self._conditions(version, values)
        same = [
            entry for entry in self._tested if entry[0] is version and _same_test(entry, conditions, names)
        ]
        if same:
            version.late += 1
            if version.late & (version.late - 1):
                return
            self._tested.remove(same[0])
        self._tested.insert(0, (version, conditions, names))
        self._tested.sort(key=lambda entry: entry[0].is_general)
        del self._tested[MOST:]
        self.function.__code__ = self._code_for(self._tested, None)

    def _code_for(self, tested: list[_Tested], inner: str | None) -> types.CodeType:
        """The code that finds one of these versions: it tests them in turn, or, where there are more than a few, looks
        up by a parameter that is a string which of them to test. ``inner`` names the parameter by which it was looked
        up already."""
        table: dict[str, Callable[..., Any]] = {}
        switch = self._switch(tested) if len(tested) > INLINE and inner is None else None
        if switch is not None:
            place = self.target.parameters.index(switch)
            options = [_option_at(entry, place) for entry in tested]
            for option in dict.fromkeys(options):
                if option is not None:
                    table[option] = self._for_option(
                        switch, option, [e for e, o in zip(tested, options, strict=True) if o in (option, None)])
            tested = [entry for entry, option in zip(tested, options, strict=True) if option is None]
        entries = [(conditions, names, entry.call) for entry, conditions, names in tested[:INLINE]]
        return self._writer.code(entries, self._miss, self.retry, switch, table, inner is not None)

    def _switch(self, tested: list[_Tested]) -> str | None:
        """The parameter that tells most versions apart by being one string or another."""
        counts = {
            name: len({_option_at(entry, place) for entry in tested} - {None})
            for place, name in enumerate(self.target.parameters) if name not in self.target.fixed
        }
        name = max(counts, key=counts.__getitem__, default=None)
        return name if name is not None and counts[name] > 1 else None

    def _for_option(self, switch: str, option: str, tested: list[_Tested]) -> Callable[..., Any]:
        """The function that finds the version for calls with one string, made once for the same versions."""
        key = switch, option, tuple(id(names) for _, _, names in tested)
        if self._options.get((switch, option), (None,))[0] != key:
            self._options[switch, option] = key, self._writer.inner(self._code_for(tested, switch)), tested
        return self._options[switch, option][1]  # type: ignore[no-any-return]


def _let_go(aval: AbstractValue) -> None:
    """Forget the objects that the compiler has looked at: a version must not keep them."""
    match aval:
        case Object(_, example):
            example.value = None
        case Sequence(_, items) | Mapping(_, items) | Instance(_, _, items):
            for item in items:
                _let_go(item)
        case _:
            pass


def _same_test(entry: tuple[Version, tuple[str, ...], Names], conditions: tuple[str, ...], names: Names) -> bool:
    """Whether an entry tests the same: the same text about the same objects."""
    mine, theirs = names.objects.values(), entry[2].objects.values()
    return entry[1] == conditions and [*map(id, mine)] == [*map(id, theirs)]
