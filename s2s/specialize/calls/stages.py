"""The order in which handlers of calls are asked."""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from s2s.core import ir
from s2s.core.annotated import signature_of
from s2s.core.inspection import is_hashable
from s2s.specialize.site import NOT_HANDLED, CallSite, Handler

__all__ = ["Registry", "Stage", "always", "for_types", "named", "unpacked"]


@dataclass(frozen=True)
class Stage:
    """A place in the order: the handlers of single functions, or one for all functions whose types pass a test."""

    by_function: Mapping[Any, Handler] | None = None
    is_for: Callable[[type], bool] | None = None
    handler: Handler | None = None


def named(by_function: Mapping[Any, Handler]) -> Stage:
    """Handlers of single functions."""
    return Stage(by_function)


def for_types(types: type | tuple[type, ...], handler: Handler) -> Stage:
    """A handler of callables of these types."""
    return Stage(is_for=lambda kind: issubclass(kind, types), handler=handler)


def unpacked(operation: Callable[..., ir.Atom | None], otherwise: Handler) -> Handler:
    """The handler for which an operation does the work that takes the place and the arguments of the call, one by one;
    ``otherwise`` is asked where these do not fit."""
    @functools.cache
    def signature() -> inspect.Signature:
        return signature_of(operation)

    def handler(site: CallSite) -> ir.Atom | None:
        try:
            signature().bind(site, *site.args, **site.kwargs)
        except TypeError:
            return otherwise(site)
        return operation(site, *site.args, **site.kwargs)

    return handler


def always(handler: Handler) -> Stage:
    """A handler that is asked for every function."""
    return Stage(is_for=lambda kind: True, handler=handler)


class Registry:
    """Stages in order. Which handlers a function has is found once for the function where one is named, else for its
    type: a call looks them up in one step."""

    def __init__(self, *stages: Stage) -> None:
        self.stages = stages
        self._named = {fn: self._find(fn) for stage in stages for fn in stage.by_function or ()}
        self._by_type: weakref.WeakKeyDictionary[type, tuple[Handler, ...]] = weakref.WeakKeyDictionary()

    def _find(self, fn: Any, kind: type | None = None) -> tuple[Handler, ...]:
        kind = kind or type(fn)
        found: list[Handler] = []
        for stage in self.stages:
            if stage.handler is not None and stage.is_for is not None and stage.is_for(kind):
                found.append(stage.handler)
            elif stage.by_function is not None and fn is not None and fn in stage.by_function:
                found.append(stage.by_function[fn])
        return tuple(found)

    def handlers(self, fn: Any) -> tuple[Handler, ...]:
        """The handlers of a function, in order."""
        found = self._named.get(fn) if is_hashable(fn) else None
        if found is None:
            found = self._by_type.get(type(fn))
        if found is None:
            found = self._by_type[type(fn)] = self._find(None, type(fn))
        return found

    def ask(self, site: CallSite) -> ir.Atom | None:
        """What the first handler gives that is for the call."""
        for handler in self.handlers(site.fn):
            found = handler(site)
            if found is not NOT_HANDLED:
                return found
        return NOT_HANDLED
