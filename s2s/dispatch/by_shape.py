"""Functions that have no Python code: a dispatcher for each way of calling them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from s2s.core.public import PublicDerivative
from s2s.core.tracebacks import shorten
from s2s.dispatch.asks import Ask
from s2s.dispatch.dispatcher import Dispatcher
from s2s.dispatch.version import Version
from s2s.versions.signature import key
from s2s.versions.target import Target, parameters_of, synthetic

__all__ = ["ByShape", "show_versions"]


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
            try:
                return self.dispatcher_for(args, kwargs).function(*args, **kwargs)
            except Exception as problem:
                shorten(problem)
                raise

        self.function = function

    @property
    def everywhere(self) -> list[Dispatcher]:
        """Those for each way of calling, and for calls in blocks with choices."""
        return [inner for dispatcher in self._by_shape.values() for inner in dispatcher.everywhere]

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
        if isinstance(self.f, PublicDerivative) and isinstance(self.f.dispatcher, ByShape):
            inner = self.f.dispatcher.dispatcher_for(args, kwargs)
            return Target(inner.target.function, inner.target.public, derived=inner)
        function = synthetic(self.f, len(args), tuple(kwargs))
        return Target(function, parameters_of(function))


def show_versions(dispatcher: Dispatcher | ByShape) -> str:
    """The signatures that are compiled, for a repr."""
    shown = ["(" + ", ".join(map(key, version.avals)) + ")" for version in dispatcher.versions]
    return ", ".join(shown) if shown else "nothing compiled yet"
