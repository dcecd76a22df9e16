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
from s2s.versions import facts

if TYPE_CHECKING:
    from s2s.specialize.site import At
    from s2s.specialize.specializer import Specializer

Redirected = tuple[Any, list[ir.Atom], dict[Any, ir.Atom]]

_GENERIC = functools.singledispatch(lambda value: value).__code__  # type: ignore[attr-defined]
"""The code of all functions that ``singledispatch`` makes."""

_ALIASES = (types.GenericAlias, type(typing.List[int]))  # noqa: UP006

DISPATCHED = (
    types.FunctionType, functools.singledispatchmethod, functools.partialmethod, operator.methodcaller, *_ALIASES,
)
"""The types of what is looked at here."""


def dispatched(
    specializer: Specializer, fn: Any, args: list[ir.Atom], kwargs: dict[Any, ir.Atom]
) -> Redirected | None:
    """The call that a call stands for: of a generic function the one for the class of its argument, of a
    ``partialmethod`` the method, of a class with parameters the class, of a ``methodcaller`` the method of its
    argument. None for any other."""
    if isinstance(fn, types.FunctionType) and fn.__code__ is _GENERIC and args:
        return _chosen(specializer, fn.dispatch, args[0], args, kwargs)  # type: ignore[attr-defined]
    if isinstance(fn, functools.singledispatchmethod) and len(args) > 1:
        return _chosen(specializer, fn.dispatcher.dispatch, args[1], args, kwargs)
    if isinstance(fn, functools.partialmethod) and args:
        fixed: dict[Any, ir.Atom] = {k: ir.Const(v) for k, v in fn.keywords.items()}
        return fn.func, [args[0], *map(ir.Const, fn.args), *args[1:]], fixed | kwargs
    if isinstance(fn, _ALIASES):
        return typing.get_origin(fn), args, kwargs
    if isinstance(fn, operator.methodcaller) and len(args) == 1:
        return _method(fn, args[0])
    return None


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


def _method(fn: Any, value: ir.Atom) -> Redirected:
    """The call that a ``methodcaller`` makes."""
    maker, given = fn.__reduce__()[:2]
    named = maker.keywords if isinstance(maker, functools.partial) else {}
    fixed: dict[Any, ir.Atom] = {k: ir.Const(v) for k, v in named.items()}
    return call_method, [value, *map(ir.Const, (*getattr(maker, "args", ()), *given))], fixed


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


__all__ = ["DISPATCHED", "dispatched", "parts_read"]
