"""Callables that only choose or complete a call: what is called in the end, and with which arguments."""

from __future__ import annotations

import functools
import operator
import types
import typing
from typing import TYPE_CHECKING, Any

from s2s.analysis.abstract.lattice import type_of
from s2s.builder.virtual_heap import state_of
from s2s.core import ir
from s2s.specialize.heap import making
from s2s.specialize.heap.classes import may_change_in_place
from s2s.versions import facts

if TYPE_CHECKING:
    from s2s.specialize.site import At, CallSite
    from s2s.specialize.specializer import Specializer

Redirected = tuple[Any, list[ir.Atom], dict[Any, ir.Atom]]

_GENERIC = functools.singledispatch(lambda value: value).__code__  # type: ignore[attr-defined]
"""The code of all functions that ``singledispatch`` makes."""

_ALIASES = (types.GenericAlias, type(typing.List[int]))  # noqa: UP006

DISPATCHED = (
    types.FunctionType, functools.singledispatchmethod, functools.partialmethod, operator.methodcaller, *_ALIASES,
)
"""The types of what is looked at here."""


def dispatched(site: CallSite) -> Redirected | None:
    """The call that a call stands for: of a generic function the one for the class of its argument, of a
    ``partialmethod`` the method, of a class with parameters the class, of a ``methodcaller`` the method of its
    argument. None for any other."""
    fn, args, kwargs = site.fn, site.args, site.kwargs
    if isinstance(fn, types.FunctionType) and fn.__code__ is _GENERIC and args:
        return _chosen(site.specializer, fn.dispatch, args[0], args, kwargs)  # type: ignore[attr-defined]
    if isinstance(fn, functools.singledispatchmethod) and len(args) > 1:
        return _chosen(site.specializer, fn.dispatcher.dispatch, args[1], args, kwargs)
    if isinstance(fn, functools.partialmethod) and args:
        held, fixed = held_arguments(site)
        return fn.func, [args[0], *held, *args[1:]], fixed | kwargs
    if isinstance(fn, _ALIASES):
        return typing.get_origin(fn), args, kwargs
    if isinstance(fn, operator.methodcaller) and len(args) == 1:
        return _method(site)
    return None


def held_arguments(site: CallSite) -> tuple[list[ir.Atom], dict[Any, ir.Atom]]:
    """The arguments that a ``partial`` or a ``partialmethod`` holds, by position and by keyword."""
    fn, guards, live = site.fn, site.guards, site.specializer.live_objects
    names = facts.keywords(fn, guards).folded(guards)
    given = [live.held(site.builder, facts.argument(fn, k, guards), "%") for k in range(len(fn.args))]
    return given, {k: live.held(site.builder, facts.argument(fn, k, guards), k) for k in names}


def _chosen(
    specializer: Specializer, dispatch: Any, first: ir.Atom, args: list[ir.Atom], kwargs: dict[Any, ir.Atom]
) -> Redirected | None:
    """The implementation for the class of an argument, where that is known."""
    state = state_of(specializer.context, first)
    kind = type_of(specializer.context.value(first)) if state is None else state.kind
    if kind is None:
        return None
    found: Any = facts.implementation(dispatch, kind).folded(specializer.guards)
    if isinstance(found, (staticmethod, classmethod)):
        return None
    return found, args, kwargs


def _method(site: CallSite) -> Redirected | None:
    """The call that a ``methodcaller`` makes; None where it holds what may change in place, which no place leads to."""
    maker, given = site.fn.__reduce__()[:2]
    named = maker.keywords if isinstance(maker, functools.partial) else {}
    given = (*getattr(maker, "args", ()), *given)
    if any(map(may_change_in_place, (*given, *named.values()))):
        return None
    return call_method, [site.args[0], *map(ir.Const, given)], {k: ir.Const(v) for k, v in named.items()}


def call_method(value: Any, name: Any, /, *args: Any, **kwargs: Any) -> Any:
    """``methodcaller(name, *args, **kwargs)(value)``."""
    return getattr(value, name)(*args, **kwargs)


def parts_read(at: At, fn: Any, value: ir.Atom) -> ir.Atom:
    """What an ``attrgetter`` or ``itemgetter`` gives for a value."""
    found = []
    for key in fn.__reduce__()[1]:
        part, is_item = value, isinstance(fn, operator.itemgetter)
        for step in (key,) if is_item else key.split("."):
            read: Any = operator.getitem if is_item else getattr
            part = at.apply(read, part, ir.Const(step))
        found.append(part)
    return found[0] if len(found) == 1 else making.new_list(at, found, tuple)


__all__ = ["DISPATCHED", "dispatched", "held_arguments", "parts_read"]
