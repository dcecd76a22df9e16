"""A compiled version of ``s2s.vjp`` or ``s2s.jvp`` in, what is called for it out: a pullback checks its cotangent, and
begins again where the reverse sweep fails.

    out, pullback = s2s.vjp(f, x)         # the forward sweep, with copies of the arguments the first time
    pullback(out_bar)                     # the reverse sweep refuses: f is recorded at these copies, and swept back
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from s2s import runtime as rt
from s2s.core.tracebacks import shorten
from s2s.directives.policy import AMBIENT, held_again
from s2s.dispatch.version import Version
from s2s.versions.fitting import fit
from s2s.versions.request import Path
from s2s.versions.target import Target

if TYPE_CHECKING:
    from s2s.dispatch.dispatcher import Dispatcher

__all__ = ["with_pullback", "with_tangents"]


def with_pullback(count: int, version: Version, dispatcher: Dispatcher) -> Callable[..., Any]:
    """What ``vjp`` calls: a compiled version whose pullback checks its cotangent and gives None where there
    is none."""
    run, name, has_aux = version.run, dispatcher.target.name, version.request.has_aux
    places = _places(dispatcher.target, version, count) if count else list(range(len(version.request.wrt)))

    def call(*values: Any) -> tuple[Any, ...]:
        given = None if version.has_pulled else rt.kept(values)
        out, pullback, *aux = run(*values)
        held = AMBIENT.get()
        instead: list[Any] = []

        def pulled(cotangent: Any) -> tuple[Any, ...]:
            fitting = fit(cotangent, out, name)
            if instead:
                return instead[0](fitting)  # type: ignore[no-any-return]
            try:
                found = pullback(fitting)
            except Exception as problem:
                again = _begun_again(dispatcher, version, problem, given, out, fitting)
                if again is None:
                    raise
                instead.append(again[0])
                return again[1]
            version.has_pulled = True
            return tuple(None if place is None else found[place] for place in places)

        def checked(cotangent: Any) -> tuple[Any, ...]:
            try:
                if AMBIENT.get() is held:
                    return pulled(cotangent)
                with held_again(held):  # it may run again what was run in a block
                    return pulled(cotangent)
            except Exception as problem:
                shorten(problem)
                raise

        checked.__name__ = checked.__qualname__ = f"{name}_pullback"
        checked.__doc__ = (
            f"The cotangents of the positional arguments of {name}, from the cotangent of its result."
        )
        return (out, checked, *aux) if has_aux else (out, checked)

    return call


def with_tangents(version: Version, dispatcher: Dispatcher) -> Callable[..., Any]:
    """What ``jvp`` calls: a function of the primals that gives one of their tangents."""
    run = version.call

    def call(*values: Any) -> Callable[..., Any]:
        return lambda *tangents: run(*values, *tangents)

    return call


def _begun_again(
    dispatcher: Dispatcher, version: Version, problem: Exception, given: tuple[Any, ...] | None, out: Any, bar: Any
) -> tuple[Any, Any] | None:
    """Another pullback of a call in which that of a version has failed, and what it gives; None where the exception is
    to come out. Where the arguments were not kept, it is the next call that finds another version."""
    if given is None:
        return None

    def swept(answer: Any) -> tuple[Any, Any]:
        rt.check_repeated(answer[0], out, dispatcher.target.name)  # an object may have changed meanwhile
        return answer[1], answer[1](bar)

    found = dispatcher.retry(problem, given, swept, version=version)
    return None if found is None else found[0]


def _places(target: Target, version: Version, count: int) -> list[int | None]:
    """For each positional argument of the call, the index of its cotangent, None where it has none."""
    paths: list[Path] = [(name,) for name in target.positional]
    rest = target.variable(inspect.Parameter.VAR_POSITIONAL)
    if rest is not None:
        paths += [(rest, len(target.prefix) + i) for i in range(count - len(paths))]
    where = {path: i for i, path in enumerate(version.request.wrt)}
    return [where.get(path) for path in paths[:count]]
