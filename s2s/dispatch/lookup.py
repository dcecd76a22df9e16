"""A function and the kinds of its arguments in, a compiled version out: from memory, disk, or the compiler."""

from __future__ import annotations

import types
import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from s2s.cache import committed, disk
from s2s.codegen.link import link
from s2s.core.bounded import Recent
from s2s.core.critical import section
from s2s.core.record import replace
from s2s.core.settings import validating
from s2s.core.values import AbstractValue, ArrayLike, Instance, Mapping, Sequence
from s2s.errors import error
from s2s.versions.argument_guards import EqualGuard, LargeGuard, SizeGuard, SumGuard
from s2s.versions.observed import Observed, taken_as_observed
from s2s.versions.request import Compiled, Request
from s2s.versions.signature import COMPUTED
from s2s.versions.target import parameter_span

if TYPE_CHECKING:
    from s2s.builder.stages import Stages

__all__ = [
    "compile_observed", "find_or_compile", "forget", "forget_version", "is_afresh", "run_compiler", "start_afresh",
]

MOST = 64
"""So many versions are kept; then the oldest goes."""

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


def is_afresh(function: types.FunctionType) -> bool:
    """Whether nothing is read from disk for a function."""
    return _place_of(function) in _afresh


def _place_of(function: types.FunctionType) -> tuple[str, str, int]:
    code = function.__code__
    return code.co_filename, code.co_qualname, code.co_firstlineno


def run_compiler(
    function: types.FunctionType, arguments: dict[str, AbstractValue], request: Request, stages: Stages | None = None
) -> Compiled:
    """Compile one version. Here, and only here, libcst comes in."""
    from s2s import pipeline

    for name, aval in arguments.items():
        for kind in _own_classes(aval):
            if issubclass(kind, COMPUTED):
                raise error("S2S137", span=parameter_span(function, name), label=f"`{name}`", name=kind.__name__)
            raise error("S2S132", name=name)
    return pipeline.compile(function, arguments, request, stages)


def _own_classes(aval: AbstractValue) -> Iterator[type]:
    """The classes with operators of their own in an argument: of a masked array or a matrix, or of an object around
    arrays, such as a Series."""
    match aval:
        case Sequence(_, items) | Mapping(_, items) | Instance(_, _, items):
            for item in items:
                yield from _own_classes(item)
        case ArrayLike(kind):
            yield kind


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
        built, file = committed.load(function, arguments, request) if reads else None, None
        compiled = run_compiler(function, arguments, request) if built is None else built
        if built is None:
            file = disk.store(function, arguments, request, compiled)
    else:
        compiled, file = stored
    shared.setdefault(where, []).append(compiled)
    del shared[where][:-8]
    return compiled, file


def compile_observed(
    function: types.FunctionType, arguments: dict[str, AbstractValue], request: Request, seen: Observed
) -> Compiled:
    """A version that is made for what was seen when the function ran; kept in memory only."""
    with taken_as_observed(seen):
        compiled = replace(run_compiler(function, arguments, request), observed=seen)
    where = (function.__code__.co_filename, tuple(arguments.items()), request)
    _shared.setdefault(function.__code__, Recent(MOST)).setdefault(where, []).insert(0, compiled)
    return compiled


def forget_version(compiled: Compiled) -> None:
    """Forget a version that does not fit the calls that it was made for."""
    with section:
        for shared in list(_shared.values()):
            for versions in shared.values():
                if any(one is compiled for one in versions):
                    versions[:] = [one for one in versions if one is not compiled]


def _validated(
    function: types.FunctionType, arguments: dict[str, AbstractValue], request: Request, values: dict[str, Any] | None
) -> Compiled:
    """A version that is compiled anew, each stage of it run beside the one before it."""
    from s2s.builder.stages import Stages
    from s2s.validation.validate import Compilation, check

    stages = Stages()
    compilation = Compilation(function, arguments, request, stages, values)
    compilation.begin()
    try:
        compiled = run_compiler(function, arguments, request, stages)
    except Exception as problem:
        if not hasattr(problem, "diagnostic") or problem.diagnostic.code == "S2S901":
            check(compilation)  # a pass before may have broken it
        raise
    compilation.raw = link(compiled, function)
    compilation.fits = lambda values: _fits(compiled, function, values)
    check(compilation)
    return compiled


def _fits(compiled: Compiled, function: types.FunctionType, values: dict[str, Any]) -> bool:
    """Whether all that a version relies on holds for a call: what is made for large arrays is right for any."""
    return all(guard.holds(function, values) for guard in compiled.guards if not isinstance(guard, LargeGuard))


def _still_holds(
    compiled: Compiled, function: types.FunctionType, arguments: dict[str, Any] | None = None
) -> bool:
    """Whether the guards on objects and kinds hold for this function (those on lengths are left to the call)."""
    return all(
        guard.holds(function, None if isinstance(guard, (SizeGuard, EqualGuard, SumGuard)) else arguments)
        for guard in compiled.guards
    )
