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

Types and dtypes that guards compare with are constants of the code object: loading one is the cheapest that
Python has. Other objects stand in a list that only grows, in the dispatcher's one closure cell
(``_is_plain`` says why). So new code comes in one assignment, whatever other threads run meanwhile.
"""

from __future__ import annotations

import collections
import importlib
import inspect
import os
import re
import textwrap
import types
import weakref
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from s2s.backends import runnable
from s2s.cache import disk
from s2s.codegen.link import link
from s2s.core.bounded import Recent
from s2s.core.const import Const
from s2s.core.critical import section
from s2s.core.inspection import class_attribute, module_of
from s2s.core.record import record
from s2s.core.values import (
    UNKNOWN,
    AbstractValue,
    Array,
    Dim,
    Instance,
    Known,
    Mapping,
    Object,
    Same,
    Scalar,
    Sequence,
    Unknown,
)
from s2s.directives.policies import AMBIENT, Choices, key_text, note_met, note_used
from s2s.versions import boundary
from s2s.versions.guards import (
    AliasGuard,
    AttributeGuard,
    CallGuard,
    ClassGuard,
    Compiled,
    EqualGuard,
    Guard,
    KindGuard,
    NamesGuard,
    ObjectGuard,
    Path,
    Request,
    SeparateGuard,
    ShadowGuard,
    SizeGuard,
    Variables,
    builtins_of,
    own_names_of,
    resolve,
)
from s2s.versions.signature import Names, describe, guard_source, has_float, key, with_length, with_sizes
from s2s.versions.target import (
    Target,
    argument_error,
    error,
    find_paths,
    parameter_span,
    parameters_of,
    show_path,
    synthetic,
)

__all__ = ["Ask", "ByShape", "Dispatcher", "Version", "find_or_compile", "run_compiler", "show_versions"]

INLINE = 6
"""So many versions are tested by the dispatcher itself; the others are found through a dict."""

MOST = 64
"""So many versions are kept; then the oldest goes."""

MOST_OBJECTS = 8
"""A parameter that came with more functions or strings than this is no longer specialised by them."""

CHECKED = os.environ.get("S2S_CHECK_IR", "") not in ("", "0")


_shared: weakref.WeakKeyDictionary[types.CodeType, Recent[Any, list[Compiled]]] = weakref.WeakKeyDictionary()
"""What was compiled, by code object: closures and lambdas made anew at each call share it."""


_afresh: set[tuple[str, str, int]] = set()
"""The functions for which nothing is read from disk any more: they are compiled anew, and the files are replaced."""


def forget() -> None:
    """Forget what was compiled for code objects: a function has another rule."""
    with section:
        _shared.clear()


def start_afresh(function: types.FunctionType) -> None:
    """Forget what was compiled for a function, and take nothing from disk for it from here on."""
    with section:
        _shared.pop(function.__code__, None)
        _afresh.add(_place_of(function))


def _place_of(function: types.FunctionType) -> tuple[str, str, int]:
    code = function.__code__
    return code.co_filename, code.co_qualname, code.co_firstlineno


def run_compiler(
    function: types.FunctionType, arguments: dict[str, AbstractValue], request: Request
) -> Compiled:
    """Compile one version. Here, and only here, libcst comes in."""
    from s2s import pipeline

    compiled: Compiled = pipeline.compile(function, arguments, request)
    return compiled


# --- what is asked ------------------------------------------------------------------------------------------


@record
class Ask:
    """What the user asked for, before the arguments are known; ``argnums`` is None for every positional
    argument that has a derivative (the first ``count`` ones)."""

    mode: str
    argnums: tuple[Any, ...] | None = ()
    single: bool = False
    has_aux: bool = False
    options: tuple[tuple[str, Any], ...] = ()
    count: int = 0

    def parameters(self, target: Target, values: tuple[Any, ...]) -> set[str]:
        """The parameters with something that may be differentiated."""
        argnums = tuple(range(self.count)) if self.argnums is None else self.argnums
        return {path[0] for path in find_paths(target, argnums, values) or ()}

    def request(self, target: Target, avals: tuple[AbstractValue, ...], values: tuple[Any, ...]) -> Request:
        """The request for these arguments. Raises ArgumentError where one to differentiate has no
        derivative."""
        if self.mode == "primal" and self.argnums is None:
            wrt = tuple((p,) for p, aval in zip(target.parameters, avals, strict=True) if has_float(aval))
        elif self.argnums is None:
            places = find_paths(target, tuple(range(self.count)), values) or ()
            wrt = tuple(path for path in places if has_float(_at(target, avals, path)))
            if not wrt and self.mode != "primal":
                raise argument_error(
                    "S2S510",
                    f"no positional argument of `{target.name}` has a derivative",
                    "give at least one float or array of floats by position",
                )
        else:
            wrt = find_paths(target, self.argnums, values) or ()
            for path in wrt:
                aval = _at(target, avals, path)
                _check_differentiable(target, path, aval)
                if isinstance(aval, Unknown) and values:
                    _check_unknown(target, path, values)
        return Request(self.mode, wrt, self.single, self.has_aux, self.options)


def _at(target: Target, avals: tuple[AbstractValue, ...], path: Path) -> AbstractValue:
    aval = avals[target.parameters.index(path[0])]
    for step in path[1:]:
        match aval:
            case Sequence(_, items):
                aval = items[step]
            case Mapping(keys, items):
                aval = items[keys.index(step)]
            case _:
                return UNKNOWN
    return aval


def _check_differentiable(target: Target, path: Path, aval: AbstractValue) -> None:
    """Raise ArgumentError where an argument to differentiate holds no float."""
    if has_float(aval) or aval in (Sequence(tuple, ()), Sequence(list, ()), Mapping((), ())):
        return
    fields: dict[str, Any] = {"name": target.name, "argument": show_path(path)}
    span = parameter_span(target.function, path[0])
    label = f"got {key(aval)}"
    match aval:
        case Scalar(kind) if kind is int or "int" in kind.__name__:
            raise error("S2S503", span=span, label=label, hint="pass a float, `float(...)`", **fields)
        case Array(dtype) if dtype.kind in "iu":
            raise error(
                "S2S503",
                span=span,
                label=f"got an array of {dtype}",
                hint="pass floats, `x.astype(float)`",
                **fields,
            )
    raise error(
        "S2S504", span=span, label=label, kind=_kind_text(aval), hint="leave it out of `argnums`", **fields
    )


def _check_unknown(target: Target, path: Path, values: tuple[Any, ...]) -> None:
    """Raise ArgumentError where an argument to differentiate is an object of which nothing is known: what carries a
    derivative is a number, an array or a container."""
    value = values[target.parameters.index(path[0])]
    for step in path[1:]:
        value = value[step]
    if not isinstance(value, (np.ndarray, np.generic, list, tuple, dict, collections.deque)):
        fields: dict[str, Any] = {"name": target.name, "argument": show_path(path)}
        hint = "write its class in Python, with attributes that are read as they are, or leave it out of `argnums`"
        span = parameter_span(target.function, path[0])
        raise error("S2S504", span=span, kind=f"a {type(value).__name__}", hint=hint, **fields)


def _kind_text(aval: AbstractValue) -> str:
    match aval:
        case Known(const):
            value = const.value
            return "None" if value is None else f"a {type(value).__name__}"
        case Array(dtype):
            return f"an array of {dtype}"
        case Scalar(kind):
            return f"a {kind.__name__}"
        case Sequence(kind):
            return f"a {kind.__name__} without floats"
        case Mapping():
            return "a dict without floats"
        case Object(kind) | Instance(kind):
            return f"a {kind.__name__} without floats"
        case _:
            return "a list without floats"


# --- versions -----------------------------------------------------------------------------------------------


class Version:
    """One compiled version: ``raw`` is the generated function, ``run`` the same on its backend, ``call`` what the
    dispatcher calls, ``guards`` the facts it relies on with the function whose globals and closure they look at."""

    def __init__(
        self,
        compiled: Compiled,
        raw: types.FunctionType,
        request: Request,
        avals: tuple[AbstractValue, ...],
        guards: tuple[tuple[Guard, types.FunctionType], ...],
    ) -> None:
        self.compiled = compiled
        self.raw = raw
        self.run: Callable[..., Any] = raw
        self.call: Callable[..., Any] = raw
        self.request = request
        self.avals = avals
        self.guards = guards
        self.late = 0

    @property
    def keeps_states(self) -> bool:
        """Whether its reverse sweep runs again what asks for the states of a loop, or for what calls have given."""
        return self._calls_runtime("Snapshots", "Calls")

    @property
    def keeps_pullbacks(self) -> bool:
        """Whether it keeps pullbacks of calls that are decided at run time: what these hold is hidden from a second
        derivative."""
        return self._calls_runtime("call", "call_method")

    def _calls_runtime(self, *functions: str) -> bool:
        names = [name for name, path in self.compiled.imports.items() if path == "s2s.runtime"]
        return any(f"{name}.{function}(" in self.compiled.text for name in names for function in functions)

    @property
    def is_general(self) -> bool:
        """Whether it takes arguments of which nothing is known: it is tried after the others."""
        return any(isinstance(aval, Unknown) for aval in self.avals)


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
        finish: Callable[[Version, Target], Callable[..., Any]] | None = None,
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
        self._options: dict[tuple[str, str], tuple[Any, ...]] = {}
        # what takes a derivative of another function is compiled for each: with any function it would call itself
        self._is_of_s2s = (target.function.__module__ or "").startswith("s2s.")
        self._held, self._outside = held, outside
        self._by_choices: dict[Choices, Dispatcher] = {}
        self._recent: tuple[Choices, Dispatcher] | None = None
        if ask.argnums is not None:
            find_paths(target, ask.argnums, None)  # unknown names are told before the first call
        self._writer = _Writer(target, name, None if held else lambda: self.under(AMBIENT.get()).function)
        self.function = self._writer.function(self._miss)

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
        own = dict(ask.options).get("choices", ())
        options = tuple(item for item in ask.options if item[0] != "choices")
        ask = Ask(
            ask.mode, ask.argnums, ask.single, ask.has_aux, (*options, ("choices", (*own, *held))), ask.count
        )

        def noted(version: Version) -> None:
            self.last = version
            if self._on_version is not None:
                self._on_version(version)

        return Dispatcher(target, ask, self.name, self._finish, noted, held, self)

    def collect(self, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """The values of the function's parameters in a call with these arguments."""
        values: tuple[Any, ...] = _Writer(self.target, self.name).function(lambda *values: values)(*args, **kwargs)
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
    def versions(self) -> list[Version]:
        """The versions there are, oldest first."""
        return [version for versions in self._versions.values() for version in versions]

    def version_for(self, values: tuple[Any, ...]) -> Version:
        """The version for the values of the function's parameters, compiled where there is none yet.

        Raises the errors of the compiler, and ArgumentError where an argument to differentiate has no
        derivative.
        """
        with section:
            return boundary.within(lambda: self._version_for(values), self.target.function, self.ask.mode, values)

    def _version_for(self, values: tuple[Any, ...]) -> Version:
        self._check_parameters()
        avals = self._describe(values)
        request = self.ask.request(self.target, avals, values)
        version = self._find(avals, request, values)
        self._install(version, values)
        self.last = version
        if self._on_version is not None:
            self._on_version(version)
        return version

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
            known = self._versions.get(avals, [])
            for version in known:
                if self._holds(version, values):
                    return version
            wrong = [guard for version in known for guard in self._wrong_sizes(version, values)]
            if not wrong:
                version = self._make(avals, request, values)
                self._keep(version)
                wrong = self._wrong_sizes(version, values)
                if not wrong:
                    self._check_own(version, values)
                    return version
            before = avals
            for symbol, length in self._lengths_in(wrong, values):
                avals = tuple(with_length(aval, symbol, length) for aval in avals)
            avals = self._with_shared(avals, wrong, values)
            if avals == before:
                raise error("S2S901", problem=f"{wrong[0]} does not hold for its own call")
        raise error("S2S901", problem=f"no version of {self.name} fits its own call")

    def _check_own(self, version: Version, values: tuple[Any, ...]) -> None:
        """Raise where a guard does not hold for the call that the version was compiled for: it would be compiled again
        at each call. Asked where the environment wants it, as the tests do."""
        if CHECKED and not self._holds(version, values):
            by_name = dict(zip(self.target.parameters, values, strict=True))
            guard = next(guard for guard, owner in version.guards if not _guard_holds(guard, owner, by_name))
            raise error("S2S901", problem=f"{guard} does not hold for its own call")

    def _as_inner(
        self, avals: tuple[AbstractValue, ...], values: tuple[Any, ...]
    ) -> tuple[AbstractValue, ...]:
        """For the derivative of a derivative: with the lengths that the inner version has as constants."""
        inner: Dispatcher | None = self.target.derived
        if inner is None:
            return avals
        given = inner._version_for(values).avals
        kinds = (Array, Sequence, Mapping, Instance)
        return tuple(g if isinstance(g, kinds) else a for a, g in zip(avals, given, strict=True))

    def _with_shared(
        self, avals: tuple[AbstractValue, ...], guards: list[Any], values: tuple[Any, ...]
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
                raise error("S2S510", name=self.name, first=guard.first, second=guard.second)
            earlier, later = sorted((guard.first, guard.second), key=self.target.parameters.index)
            place = self.target.parameters.index(later)
            if not isinstance(avals[place], Same):
                avals = (*avals[:place], Same(earlier), *avals[place + 1 :])
        return avals

    def _lengths_in(
        self, guards: list[SizeGuard | EqualGuard | SeparateGuard], values: tuple[Any, ...]
    ) -> list[tuple[str, int]]:
        """The symbols in guards, each with the length that it has now."""
        by_name = dict(zip(self.target.parameters, values, strict=True))
        found: dict[str, int] = {}
        for guard in guards:
            if isinstance(guard, SeparateGuard):
                continue
            if isinstance(guard, SizeGuard):
                found[guard.symbol] = guard.value
                continue
            for dim in (guard.first, guard.second):
                if dim.symbol:
                    found[dim.symbol] = _length(Dim(dim.symbol), by_name)
        return list(found.items())

    def _wrong_sizes(
        self, version: Version, values: tuple[Any, ...]
    ) -> list[SizeGuard | EqualGuard | SeparateGuard]:
        """The guards about arguments that do not hold for a call."""
        by_name = dict(zip(self.target.parameters, values, strict=True))
        return [
            guard
            for guard, owner in version.guards
            if isinstance(guard, (SizeGuard, EqualGuard, SeparateGuard)) and not _guard_holds(guard, owner, by_name)
        ]

    def version_of(self, avals: tuple[AbstractValue, ...], request: Request) -> Version:
        """A version for abstract values alone, which is not installed."""
        with section:
            return boundary.within(
                lambda: self._make(avals, request, None), self.target.function, request.mode, ())

    def _miss(self, *values: Any) -> Any:
        return self.version_for(values).call(*values)

    def _describe(self, values: tuple[Any, ...]) -> tuple[AbstractValue, ...]:
        wanted = self.ask.parameters(self.target, values)
        named = zip(self.target.parameters, values, strict=True)
        avals = [describe(value, name, name in wanted) for name, value in named]
        for i, aval in enumerate(avals):
            if isinstance(aval, Known) and type(aval.value) not in (bool, type(None), type(Ellipsis)):
                seen = self._objects.setdefault(i, set())
                seen.add(hash(aval))
                avals[i] = aval if len(seen) <= MOST_OBJECTS or self._is_of_s2s else UNKNOWN
        return tuple(avals)

    def _make(
        self, avals: tuple[AbstractValue, ...], request: Request, values: tuple[Any, ...] | None
    ) -> Version:
        inner = self._inner_version(avals, values)
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
        function, guards = (self.target.function, self._own_code()) if inner is None else (inner.raw, inner.guards)
        by_name = None if values is None else dict(zip(_parameter_names(function), values, strict=True))
        compiled, file = find_or_compile(
            function, _arguments(function, avals), _rename(request, self.target, function), by_name,
            _place_of(self.target.function) not in _afresh,
        )
        for aval in avals:
            _let_go(aval)
        raw = link(compiled, function, file=file)
        guards += tuple((self._own(guard, function), guard.owner or function) for guard in compiled.guards)
        version = Version(compiled, raw, request, avals, guards)
        for choice in dict(request.options).get("choices", ()):
            for met in choice.overridden:
                if key_text(met) in compiled.met:
                    note_met(choice, met)
        version.call = version.run = runnable(compiled, raw, function, request, avals, values)
        if self._finish is not None:
            version.call = self._finish(version, self.target)
        return version

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
        if function is self.target.function:
            return guard
        if isinstance(guard, SizeGuard) and guard.root == "argument":
            return SizeGuard(self._own_symbol(guard.symbol, function), guard.value)
        if isinstance(guard, EqualGuard):
            first, second = guard.first, guard.second
            return EqualGuard(
                Dim(self._own_symbol(first.symbol, function), first.offset),
                Dim(self._own_symbol(second.symbol, function), second.offset),
            )
        return guard

    def _own_symbol(self, symbol: str, function: types.FunctionType) -> str:
        if not symbol:
            return symbol
        base, name, axis = _split_symbol(symbol)
        own = self.target.parameters[_parameter_names(function).index(name)]
        return f"{own}{base[len(name) :]}.{axis}"

    def _keep(self, version: Version) -> None:
        self._versions.setdefault(version.avals, []).append(version)
        if sum(map(len, self._versions.values())) > MOST:
            oldest = self._versions[next(iter(self._versions))]
            dropped = oldest.pop(0)
            self._versions = {avals: versions for avals, versions in self._versions.items() if versions}
            self._tested = [entry for entry in self._tested if entry[0] is not dropped]

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
        hidden: dict[int, tuple[Any, list[str]]] = {}
        for guard, owner in version.guards:
            if _takes_builtin(guard, owner) and owner.__globals__ is not self._writer.globals:
                hidden.setdefault(id(owner.__globals__), (owner.__globals__, []))[1].append(guard.path[0])  # type: ignore[union-attr]
            else:
                tests += _guard_conditions(guard, owner, self._writer, names)
        for scope, taken in hidden.values():  # one test for all builtins that a module of others must not hide
            tests.append(f"{names.add(scope, 'g')}.keys().isdisjoint({(*sorted(taken),)!r})")
        return tuple(dict.fromkeys(tests)), names

    def _holds(self, version: Version, values: tuple[Any, ...]) -> bool:
        by_name = dict(zip(self.target.parameters, values, strict=True))
        return all(_guard_holds(guard, owner, by_name) for guard, owner in version.guards)

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
        return self._writer.code(entries, self._miss, switch, table, inner is not None)

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


def _arguments(function: types.FunctionType, avals: tuple[AbstractValue, ...]) -> dict[str, AbstractValue]:
    return dict(zip(_parameter_names(function), avals, strict=True))


def _parameter_names(function: types.FunctionType) -> tuple[str, ...]:
    return Target(function, ()).parameters


def _rename(request: Request, target: Target, function: types.FunctionType) -> Request:
    """The request in the parameter names of the function compiled, which are others in generated code."""
    if function is target.function:
        return request
    names = dict(zip(target.parameters, _parameter_names(function), strict=True))
    wrt = tuple((names[path[0]], *path[1:]) for path in request.wrt)
    return Request(request.mode, wrt, request.single, request.has_aux, request.options)


def find_or_compile(
    function: types.FunctionType, arguments: dict[str, AbstractValue], request: Request,
    values: dict[str, Any] | None = None, reads: bool = True,
) -> tuple[Compiled, str | None]:
    """The version from memory, from disk (where ``reads``), or from the compiler; and the file where it is kept, if it
    is. ``values`` are the arguments of the call, where there is one."""
    if validating():
        return _validated(function, arguments, request, values), None
    shared = _shared.setdefault(function.__code__, Recent(MOST))
    where = (function.__code__.co_filename, tuple(arguments.items()), request)
    for compiled in shared.get(where, ()):
        if _still_holds(compiled, function, values):
            return compiled, None
    stored = disk.load(function, arguments, request) if reads else None
    if stored is None:
        compiled = run_compiler(function, arguments, request)
        file = disk.store(function, arguments, request, compiled)
    else:
        compiled, file = stored
    shared.setdefault(where, []).append(compiled)
    del shared[where][:-8]
    return compiled, file


def validating() -> bool:
    """Whether every stage of the compiler is checked against the one before it: ``S2S_VALIDATE=1``."""
    return os.environ.get("S2S_VALIDATE", "") not in ("", "0")


def _validated(
    function: types.FunctionType, arguments: dict[str, AbstractValue], request: Request, values: dict[str, Any] | None
) -> Compiled:
    """A version that is compiled anew, each stage of it run beside the one before it."""
    from s2s import pipeline
    from s2s.builder.stages import Stages
    from s2s.validation.validate import Compilation, check

    stages = Stages()
    compilation = Compilation(function, arguments, request, stages, values)
    compilation.begin()
    try:
        compiled: Compiled = pipeline.compile(function, arguments, request, stages)
    except Exception as problem:
        if not hasattr(problem, "diagnostic") or problem.diagnostic.code == "S2S901":
            check(compilation)  # a pass before may have broken it
        raise
    compilation.raw = link(compiled, function)
    compilation.fits = lambda values: _fits(compiled, function, values)
    check(compilation)
    return compiled


def _fits(compiled: Compiled, function: types.FunctionType, values: dict[str, Any]) -> bool:
    """Whether all that a version relies on holds for a call."""
    return all(_guard_holds(guard, guard.owner or function, values) for guard in compiled.guards)


def _still_holds(
    compiled: Compiled, function: types.FunctionType, arguments: dict[str, Any] | None = None
) -> bool:
    """Whether the guards on objects and kinds hold for this function (those on lengths are left to the call)."""
    return all(
        _guard_holds(
            guard, guard.owner or function, None if isinstance(guard, (SizeGuard, EqualGuard)) else arguments
        )
        for guard in compiled.guards
    )


def _guard_holds(guard: Guard, owner: types.FunctionType, arguments: dict[str, Any] | None) -> bool:
    """Whether a guard holds now; those on the sizes of arguments do where ``arguments`` is None."""
    try:
        match guard:
            case ObjectGuard(root, path, value):
                return (root == "argument" and arguments is None) or resolve(owner, root, path, arguments) is value
            case AttributeGuard(root, path, name, is_there):
                if root == "argument" and arguments is None:
                    return True
                return hasattr(resolve(owner, root, path, arguments), name) is is_there
            case ShadowGuard(root, path, name):
                if root == "argument" and arguments is None:
                    return True
                return name not in own_names_of(resolve(owner, root, path, arguments))
            case NamesGuard(root, path, names):
                if root == "argument" and arguments is None:
                    return True
                return [*resolve(owner, root, path, arguments)] == [*names]
            case ClassGuard(cls, name, is_there):
                return (class_attribute(cls, name, _MISSING) is not _MISSING) is is_there
            case KindGuard(root, name, aval, _, rest):
                if root == "argument" and arguments is None:
                    return True
                live = resolve(owner, root, (name, *rest), arguments)
                kind = describe(live, "")
                return key(aval) in (key(kind), key(with_sizes(kind, live)))
            case AliasGuard(first, second, same):
                if arguments is None and "argument" in (first[0], second[0]):
                    return True
                found = [resolve(who or owner, root, path, arguments) for root, path, who in (first, second)]
                return (found[0] is found[1]) is same
            case CallGuard(fn, args, value):
                return fn(*args) is value
            case SizeGuard(symbol, value, root):
                base, name, axis = _split_symbol(symbol)
                if root == "argument" and arguments is None:
                    return True
                live = arguments[name] if root == "argument" and arguments else resolve(owner, root, (name,))
                return bool(eval(f"{base}.shape[{axis}] != {value}", {name: live}))
            case EqualGuard(first, second):
                return arguments is None or _length(first, arguments) == _length(second, arguments)
            case SeparateGuard(first, second):
                return arguments is None or not _share_memory(first, second, arguments)
    except (LookupError, AttributeError):
        return False


def _share_memory(first: str, second: str, arguments: dict[str, Any]) -> bool:
    """Whether the arrays at two places of the arguments may share memory."""
    return bool(np.may_share_memory(eval(first, dict(arguments)), eval(second, dict(arguments))))


def _length(dim: Dim, arguments: dict[str, Any]) -> int:
    """The length that a dimension of an argument has now."""
    if dim.is_constant:
        return dim.offset
    base, name, axis = _split_symbol(dim.symbol)
    return int(eval(f"{base}.shape[{axis}]", {name: arguments[name]})) + dim.offset


def _split_symbol(symbol: str) -> tuple[str, str, str]:
    """``params[0][1].0`` as ``params[0][1]``, ``params``, ``0``."""
    base, _, axis = symbol.rpartition(".")
    found = re.match(r"[^\W\d]\w*", base)
    if found is None or not axis.isdigit():
        raise error("S2S901", problem=f"a guard on the symbol {symbol}")
    return base, found[0], axis


# --- conditions ---------------------------------------------------------------------------------------------


def _guard_conditions(guard: Guard, owner: types.FunctionType, writer: _Writer, names: Names) -> list[str]:
    if getattr(guard, "late", False):
        return []
    match guard:
        case ObjectGuard("value", (const, ("__code__" | "__defaults__") as step), value):  # functions have these always
            return [f"{names.add(const.value)}.{step} is {names.add(value)}"]
        case ObjectGuard(root, path, value):
            if root in ("argument", "value") or any(type(step) is tuple for step in path):
                return [f"{_path_source(root, path, owner, writer, names)} is {names.add(value)}"]
            return _object_conditions(root, path, value, owner, writer, names)
        case AttributeGuard(root, path, name, is_there):
            source = f"{names.add(hasattr)}({_path_source(root, path, owner, writer, names)}, {name!r})"
            return [source if is_there else f"not {source}"]
        case ShadowGuard(root, path, name):
            held = f"{_path_source(root, path, owner, writer, names)}.__dict__"
            return [f"{name!r} not in {held}"]
        case NamesGuard(root, path, keys):
            return [f"[*{_path_source(root, path, owner, writer, names)}] == {[*keys]!r}"]
        case ClassGuard():
            return []
        case KindGuard(root, name, aval, _, rest):
            if root in ("argument", "value") or rest:
                return guard_source(_path_source(root, (name, *rest), owner, writer, names), aval, names, None)
            try:
                live = resolve(owner, root, (name,))
            except LookupError:
                live = None
            return guard_source(_variable(root, name, owner, writer, names), aval, names, live)
        case AliasGuard(first, second, same):
            sides = [_path_source(root, path, who or owner, writer, names) for root, path, who in (first, second)]
            return [f"{sides[0]} {'is' if same else 'is not'} {sides[1]}"]
        case CallGuard(fn, args, value):
            return [f"{names.add(fn)}({', '.join(map(names.add, args))}) is {names.add(value)}"]
        case SizeGuard(symbol, value, root):
            return [_size_condition(symbol, value, root, owner, writer, names)]
        case EqualGuard(first, second):
            return [f"{_length_source(first, writer)} == {_length_source(second, writer)}"]
        case SeparateGuard(first, second):
            places = ", ".join(_place_source(place, writer) for place in (first, second))
            return [f"not {names.add(np.may_share_memory)}({places})"]


def _takes_builtin(guard: Guard, owner: types.FunctionType) -> bool:
    """Whether a guard is about a builtin that no variable of the module hides."""
    return (
        isinstance(guard, ObjectGuard) and guard.root == "global" and len(guard.path) == 1
        and guard.path[0] not in owner.__globals__
        and builtins_of(owner).get(guard.path[0], _MISSING) is guard.value
    )


def _place_source(place: str, writer: _Writer) -> str:
    name = re.split(r"[.\[]", place, maxsplit=1)[0]
    return f"{writer.expression(name)}{place[len(name) :]}"


def _object_conditions(
    root: str, path: tuple[str, ...], value: Any, owner: types.FunctionType, writer: _Writer, names: Names
) -> list[str]:
    first = _variable(root, path[0], owner, writer, names)
    if len(path) == 1:
        return [f"{first} is {names.add(value)}"]
    holder = resolve(owner, root, path[:1])
    is_module = isinstance(holder, types.ModuleType)
    if is_module and len(path) > 2:  # a class may have lost the attribute
        return [f"{_path_source(root, path, owner, writer, names)} is {names.add(value)}"]
    if is_module:
        return [f"{'.'.join((first, *path[1:]))} is {names.add(value)}"]
    expr = first
    for attribute in path[1:]:  # the object may be another one, without it
        expr = f"{names.add(getattr)}({expr}, {attribute!r}, None)"
    return [f"{expr} is {names.add(value)}"]


def _path_source(
    root: str, path: tuple[Any, ...], owner: types.FunctionType, writer: _Writer, names: Names
) -> str:
    """An expression that reads what a path leads to; what is not there gives None, or makes the test fail."""
    if not path:
        return names.add(Variables(owner, root))
    if root == "argument":
        expr = writer.expression(path[0])
    elif root == "value":
        expr = names.add(path[0].value)
    else:
        expr = _variable(root, path[0], owner, writer, names)
    for step in path[1:]:
        if type(step) is tuple:
            expr = f"{names.add(_item_of)}({expr}, {names.add(step[0]) if type(step[0]) is not int else step[0]})"
        else:
            expr = f"{names.add(getattr)}({expr}, {step!r}, None)"
    return expr


def _item_of(container: Any, index: Any) -> Any:
    """An item, None where there is none."""
    try:
        return container[index]
    except (TypeError, LookupError):
        return None


def _variable(root: str, name: str, owner: types.FunctionType, writer: _Writer, names: Names) -> str:
    """An expression that reads a global or a closure variable of ``owner``, live."""
    if root == "module":
        return names.add(importlib.import_module(name), "m")
    if root == "free":
        cell = (owner.__closure__ or ())[owner.__code__.co_freevars.index(name)]
        return f"{names.add(cell, 'c')}.cell_contents"
    if owner.__globals__ is writer.globals and name not in writer.locals:
        return name
    scope = names.add(owner.__globals__, "g")
    builtins = names.add(builtins_of(owner), "b")
    return f"({scope}[{name!r}] if {name!r} in {scope} else {builtins}[{name!r}])"


def _size_condition(
    symbol: str, value: int, root: str, owner: types.FunctionType, writer: _Writer, names: Names
) -> str:
    base, name, axis = _split_symbol(symbol)
    expr = writer.expression(name) if root == "argument" else _variable(root, name, owner, writer, names)
    return f"{expr}{base[len(name) :]}.shape[{axis}] != {value}"


def _length_source(dim: Dim, writer: _Writer) -> str:
    if dim.is_constant:
        return str(dim.offset)
    base, name, axis = _split_symbol(dim.symbol)
    offset = f" {'-' if dim.offset < 0 else '+'} {abs(dim.offset)}" if dim.offset else ""
    return f"{writer.expression(name)}{base[len(name) :]}.shape[{axis}]{offset}"


def _same_test(
    entry: tuple[Version, tuple[str, ...], Names], conditions: tuple[str, ...], names: Names
) -> bool:
    """Whether an entry tests the same: the same text about the same objects."""
    mine, theirs = names.objects.values(), entry[2].objects.values()
    return entry[1] == conditions and [*map(id, mine)] == [*map(id, theirs)]


# --- the generated function ---------------------------------------------------------------------------------


class _Writer:
    """Writes dispatchers for one target: functions with its public parameters, in the user's globals."""

    def __init__(self, target: Target, name: str, under: Callable[[], Any] | None = None) -> None:
        """``under`` gives the dispatcher's function to call in blocks for which choices hold; None where it is one."""
        self.under = under
        self.target = target
        self.name = name if name.isidentifier() else "derivative"
        self.globals = target.function.__globals__
        self.prefix = "_s2s_"
        self.locals = {p.name for p in target.public}
        while any(local.startswith(self.prefix) for local in self.locals):
            self.prefix = f"_{self.prefix}"
        self._fixed = {name: f"{self.prefix}fixed{i}" for i, name in enumerate(target.fixed)}
        self._live = _live_defaults(target)
        self._kept: list[Any] = []
        self._places: dict[int, int] = {}

    def expression(self, name: str) -> str:
        """How the dispatcher reads a parameter of the function: by its name, or a constant where it is
        set."""
        return self._fixed.get(name, name)

    def function(self, miss: Callable[..., Any]) -> types.FunctionType:
        """A new dispatcher, which knows no version."""
        defaults = tuple(
            _MISSING if p.name in self._live else p.default
            for p in self.target.public
            if p.name in self.target.positional and p.default is not p.empty
        )
        closure = (types.CellType(self._kept),)
        made = types.FunctionType(self.code([], miss), self.globals, self.name, defaults or None, closure)
        by_keyword = {
            p.name: _MISSING if p.name in self._live else p.default
            for p in self.target.public
            if p.kind is p.KEYWORD_ONLY and p.default is not p.empty
        }
        made.__kwdefaults__ = by_keyword or None
        made.__module__ = self.target.function.__module__
        return made

    def inner(self, code: types.CodeType) -> types.FunctionType:
        """A function with code that ``code`` has made for calls from a dispatcher."""
        return types.FunctionType(code, self.globals, self.name, None, (types.CellType(self._kept),))

    def code(
        self, entries: Any, miss: Any, switch: str | None = None, table: dict[str, Any] | None = None,
        is_inner: bool = False,
    ) -> types.CodeType:
        """The code of a dispatcher that tests ``entries``, (conditions, names, what to call), in turn. Before that it
        calls what ``table`` has for the string that the parameter ``switch`` is. Code that ``is_inner`` is called with
        the values of the function's parameters."""
        objects = {self._fixed[name]: value for name, value in self.target.fixed.items()}
        own = ", ".join(name for name in self.target.parameters if name not in self._fixed)
        lines = [f"def {self.name}({own if is_inner else self._parameters()}):"]
        if not is_inner:
            lines += [*self._leave(objects), *self._read_defaults(objects), *self._merge(objects)]
        arguments = ", ".join(map(self.expression, self.target.parameters))
        if switch is not None:
            text, find, found = (f"{self.prefix}{name}" for name in ("str", "find", "found"))
            objects |= {text: str, find: (table or {}).get}
            lines += [
                f"    if {switch}.__class__ is {text}:",
                f"        {found} = {find}({switch})",
                f"        if {found} is not None: return {found}({own})",
            ]
        found, problem, miss_ = (f"{self.prefix}{name}" for name in ("chosen", "problem", "miss"))
        objects |= {problem: Exception, miss_: miss}
        tests: list[str] = []
        for i, (conditions, names, call) in enumerate(entries):
            renamed = {name: f"{name}_{i}" for name in names.objects}
            objects |= {renamed[name]: value for name, value in names.objects.items()}
            test = " and ".join(conditions) or "True"
            test = _rename_all(test, self.prefix, renamed)
            objects[f"{self.prefix}call_{i}"] = call
            tests += [f"        {'elif' if tests else 'if'} {test}:", f"            {found} = {self.prefix}call_{i}"]
        if tests:  # a condition about what was deleted raises: it does not hold
            lines += ["    try:", *tests, "        else:", f"            {found} = {miss_}"]
            lines += [f"    except {problem}:", f"        {found} = {miss_}"]
        lines.append(f"    return {found if tests else miss_}({arguments})")
        kept = {name: self._keep(value) for name, value in objects.items() if not _is_plain(value)}
        return _code("\n".join(lines), self.prefix, objects, kept, f"{self.prefix}kept")

    def _keep(self, value: Any) -> int:
        """The place of an object in the list that all code of this dispatcher shares. The list only grows,
        so that code that still runs in another thread finds what it looks for."""
        if id(value) not in self._places:
            self._places[id(value)] = len(self._kept)
            self._kept.append(value)
        return self._places[id(value)]

    def _parameters(self) -> str:
        shown: list[str] = []
        kinds = [p.kind for p in self.target.public]
        for i, p in enumerate(self.target.public):
            if p.kind is p.KEYWORD_ONLY and not {p.VAR_POSITIONAL, p.KEYWORD_ONLY} & set(kinds[:i]):
                shown.append("*")
            stars = "*" if p.kind is p.VAR_POSITIONAL else "**" if p.kind is p.VAR_KEYWORD else ""
            shown.append(f"{stars}{p.name}")  # defaults are objects, set on the function
            if p.kind is p.POSITIONAL_ONLY and p.POSITIONAL_ONLY not in kinds[i + 1 :]:
                shown.append("/")
        return ", ".join(shown)

    def _leave(self, objects: dict[str, Any]) -> list[str]:
        """The line that leaves a call inside a block for which a choice holds to the dispatcher for that."""
        if self.under is None:
            return []
        held, under = f"{self.prefix}held", f"{self.prefix}under"
        objects |= {held: AMBIENT.get, under: self.under}
        passed = {"VAR_POSITIONAL": "*{0}", "KEYWORD_ONLY": "{0}={0}", "VAR_KEYWORD": "**{0}"}
        given = ", ".join(passed.get(p.kind.name, "{0}").format(p.name) for p in self.target.public)
        return [f"    if {held}(): return {under}()({given})"]

    def _read_defaults(self, objects: dict[str, Any]) -> list[str]:
        """The lines that read the function's own defaults, which may have changed since."""
        if not self._live:
            return []
        missing, function = f"{self.prefix}missing", f"{self.prefix}function"
        objects |= {missing: _MISSING, function: self.target.function}
        live = self._live.items()
        return [f"    if {name} is {missing}: {name} = {function}.{default}" for name, default in live]

    def _merge(self, objects: dict[str, Any]) -> list[str]:
        """The lines that put what a ``partial`` set into ``*args`` and ``**kwargs``."""
        lines = []
        rest, named = self._variables()
        for name, value, operator in ((rest, self.target.prefix, "+"), (named, self.target.extra, "|")):
            if name and (value or name not in self.locals):
                constant = f"{self.prefix}before_{name}"
                objects[constant] = value
                lines.append(
                    f"    {name} = {constant}" + (f" {operator} {name}" if name in self.locals else "")
                )
        return lines

    def _variables(self) -> tuple[str, str]:
        """The names of the function's own ``*args`` and ``**kwargs``."""
        code, names = self.target.function.__code__, self.target.parameters
        named = names[-1] if code.co_flags & inspect.CO_VARKEYWORDS else ""
        rest = names[code.co_argcount] if code.co_flags & inspect.CO_VARARGS else ""
        return rest, named


_MISSING = object()
"""The default of a dispatcher's parameter whose default is read from the function at the call."""


def _live_defaults(target: Target) -> dict[str, str]:
    """For each public parameter with the function's own default, where the function has it."""
    positional = target.function.__code__.co_argcount
    found = {}
    for i, own in enumerate(parameters_of(target.function)):
        if any(p.name == own.name and p.default is own.default is not p.empty for p in target.public):
            is_keyword = own.kind is own.KEYWORD_ONLY
            where = f"__kwdefaults__[{own.name!r}]" if is_keyword else f"__defaults__[{i - positional}]"
            found[own.name] = where
    return found


def _rename_all(text: str, prefix: str, renamed: dict[str, str]) -> str:
    return re.sub(rf"\b{prefix}\w+", lambda found: renamed.get(found[0], found[0]), text)


_PLAIN = (types.ModuleType, types.BuiltinFunctionType, np.dtype, np.ufunc, type(np.sum))


def _is_plain(value: Any) -> bool:
    """Whether an object refers to nothing of the user's. Only such objects become constants: code objects
    are not seen by the garbage collector, so what refers back to the dispatcher would never go."""
    kind = type(value)
    if kind is types.BuiltinFunctionType:
        return value.__self__ is None or isinstance(value.__self__, types.ModuleType)
    return (
        issubclass(kind, _PLAIN)
        or value is _MISSING
        or (issubclass(kind, type) and module_of(value) in ("builtins", "numpy"))
    )


def _code(
    text: str, prefix: str, objects: dict[str, Any], kept: dict[str, int], kept_name: str
) -> types.CodeType:
    """The code of the one def in ``text``, with its objects put in; ``kept_name`` is its one closure
    variable.

    Names that stand for objects become places in the list ``kept``, or string constants that are replaced
    afterwards. The constants are written ``(constant if True else None)``, which compiles to the constant
    alone: Python warns about literals that are called or compared with ``is``.
    """
    spelled = {name: f"('<{name}>' if True else None)" for name in objects}
    spelled |= {name: f"{kept_name}[{place}]" for name, place in kept.items()}
    text = f"def outer({kept_name}):\n{textwrap.indent(_rename_all(text, prefix, spelled), '    ')}"
    module = compile(text, "<s2s dispatch>", "exec", dont_inherit=True)
    outer = next(c for c in module.co_consts if isinstance(c, types.CodeType))
    code = next(c for c in outer.co_consts if isinstance(c, types.CodeType))
    plain = {f"<{name}>": value for name, value in objects.items() if name not in kept}
    return _replace_constants(code.replace(co_qualname=code.co_name), plain)


def _replace_constants(code: types.CodeType, objects: dict[str, Any]) -> types.CodeType:
    def change(constant: Any) -> Any:
        if isinstance(constant, types.CodeType):
            return _replace_constants(constant, objects)
        return objects.get(constant, constant) if type(constant) is str else constant

    return code.replace(co_consts=tuple(map(change, code.co_consts)))


# --- functions without Python code --------------------------------------------------------------------------


class ByShape:
    """The derivative of a function that has no Python code: one small Python function, and one dispatcher,
    for each number of positional arguments and set of keywords that it is called with."""

    target = None

    def __init__(self, f: Any, ask: Ask, make: Callable[[Target], Dispatcher]) -> None:
        self.f = f
        self.ask = ask
        self._make_dispatcher = make
        self._by_shape: dict[tuple[int, tuple[str, ...]], Dispatcher] = {}
        self._recent: Dispatcher | None = None

        def function(*args: Any, **kwargs: Any) -> Any:
            return self.dispatcher_for(args, kwargs).function(*args, **kwargs)

        self.function = function

    @property
    def versions(self) -> list[Version]:
        """The versions there are."""
        return [version for dispatcher in self._by_shape.values() for version in dispatcher.versions]

    def dispatcher_for(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Dispatcher:
        """The dispatcher for calls with as many arguments and these keywords."""
        shape = (len(args), tuple(kwargs))
        found = self._by_shape.get(shape)
        if found is None:
            found = self._by_shape[shape] = self._make_dispatcher(self._target(args, kwargs))
        self._recent = found
        return found

    @property
    def last(self) -> Version | None:
        """The version that was compiled or looked up last, for calls as the last one."""
        return None if self._recent is None else self._recent.last

    def _target(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Target:
        from s2s.derivatives import Derivative

        if isinstance(self.f, Derivative) and isinstance(self.f.dispatcher, ByShape):
            inner = self.f.dispatcher.dispatcher_for(args, kwargs)
            return Target(inner.target.function, inner.target.public, derived=inner)
        function = synthetic(self.f, len(args), tuple(kwargs))
        return Target(function, parameters_of(function))


def show_versions(dispatcher: Dispatcher | ByShape) -> str:
    """The signatures that are compiled, for a repr."""
    shown = ["(" + ", ".join(map(key, version.avals)) + ")" for version in dispatcher.versions]
    return ", ".join(shown) if shown else "nothing compiled yet"
