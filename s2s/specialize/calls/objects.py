"""Calls that make, read or change containers and objects of the virtual heap."""

from __future__ import annotations

import collections
import dataclasses
import functools
import inspect
import sys
import types
from typing import Any

from s2s.analysis import functions
from s2s.builder import virtual_heap
from s2s.builder.virtual_heap import cell_of, state_of
from s2s.core import ir
from s2s.core.inspection import is_hashable
from s2s.core.operators import OPERATORS
from s2s.core.values import UNKNOWN, field_of, has_fields
from s2s.errors import DifferentiationError
from s2s.rules import table
from s2s.specialize.calls import reflection
from s2s.specialize.calls.stages import unpacked
from s2s.specialize.frames import STABLE_MODULES, in_rule, name_of
from s2s.specialize.heap import containers, copies, iterators, making, sets
from s2s.specialize.heap.classes import is_user_class
from s2s.specialize.heap.objects import UNARY
from s2s.specialize.outcomes import MOST_EFFORT
from s2s.specialize.site import NOT_HANDLED, At, CallSite, Handler
from s2s.specialize.speculation import speculate
from s2s.versions import facts

__all__ = ["MAKERS", "of_objects"]

MAKERS = making.MAKERS | sets.MAKERS | copies.MAKERS
"""What makes a new container, also where no argument is an object on the heap."""


def of_objects(site: CallSite) -> ir.Atom | None:
    """A call that makes, reads or changes objects on the heap. The bodies of rules have none."""
    if in_rule(site.frame):
        return NOT_HANDLED
    fn, at = site.fn, At(site.specializer, site.frame, site.builder, site.span)
    site.args = iterators.as_held(at, fn, site.args)
    site.args = iterators.as_list(at, fn, site.args)
    site.args = iterators.flattened(at, fn, site.args)
    if not is_hashable(fn):
        return NOT_HANDLED
    found = _made(site)
    if found is NOT_HANDLED and (fn in MAKERS or any(map(site.context.is_virtual, site.given))):
        found = _of_heap(site)
    return found


def _made(site: CallSite) -> ir.Atom | None:
    """A call that makes an object."""
    specializer, fn, args = site.specializer, site.fn, site.args
    first = args[0] if args else None
    if has_fields(fn) and isinstance(fn.__new__, types.FunctionType):
        return making.new_record(site, fn, args, site.kwargs)
    if isinstance(first, ir.Const) and has_fields(first.value):
        made = making.made_record(site, fn, first.value, args[1:], site.kwargs)
        if made is not NOT_HANDLED:
            return made
    if isinstance(fn, types.FunctionType) and fn.__code__ is _REPLACE:
        return _replaced(site)
    if fn is super and len(args) == 2 and all(isinstance(a, ir.Const) for a in args):
        return ir.Const(super(*(a.value for a in args)))
    if fn is types.SimpleNamespace and not args and None not in site.kwargs:
        state = virtual_heap.State(fn, tuple(site.kwargs), tuple(site.kwargs.values()))
        return making.new(site, state)
    if is_user_class(fn) and table.find(fn) is None and fn not in MAKERS:
        return _instance(site)
    if fn is object.__new__ and isinstance(first, ir.Const):
        return specializer.instances.new(site, first.value)
    return NOT_HANDLED


_REPLACE = collections.namedtuple("_Example", "field")._replace.__code__  # type: ignore[attr-defined]
"""The code of ``_replace`` of every named tuple."""


def _replaced(site: CallSite) -> ir.Atom | None:
    """``record._replace(field=value)``"""
    state, known = virtual_heap.state_of(site.context, site.args[0]), site.value(site.args[0])
    cls: Any = state.kind if state is not None else getattr(known, "type", None)
    items = site.items(site.args[0]) if has_fields(cls) else None
    if items is None or not set(site.kwargs) <= {*cls._fields}:
        return NOT_HANDLED
    given = [site.kwargs.get(name, item) for name, item in zip(cls._fields, items, strict=True)]
    made = making.made_record(site, cls.__new__, cls, given, {})
    return made if made is not None else making.new_record(site, cls, given, {})


def _instance(site: CallSite) -> ir.Atom | None:
    """A call of a class: a virtual object. Where its code cannot be followed and nothing differentiated goes in,
    the object is made when the program runs."""
    specializer, cls = site.specializer, site.fn
    if site.is_varied:
        return specializer.instances.make(site, cls, site.args, site.kwargs)
    module, init = cls.__module__ or "", inspect.getattr_static(cls, "__init__")
    package = module.split(".")[0]
    is_model = module.startswith("s2s.models.")  # stands for a class of a library: its methods are followed
    if package in sys.stdlib_module_names:
        return NOT_HANDLED
    is_known = package in STABLE_MODULES and not is_model
    if is_known and init is not object.__init__ and not making.only_notes(init):
        return NOT_HANDLED
    if specializer.effort > MOST_EFFORT:
        return NOT_HANDLED
    try:
        with speculate(specializer, site.builder, optional=True) as speculation:
            at = dataclasses.replace(site, builder=speculation.builder)
            return specializer.instances.make(at, cls, site.args, site.kwargs)
    except DifferentiationError:
        return NOT_HANDLED


def _of_heap(site: CallSite) -> ir.Atom | None:
    """A call with an object of the heap, or one that makes a container."""
    fn, args = site.fn, site.args
    found = _of_instance(site)
    if found is not NOT_HANDLED:
        return found
    if fn is next and args and cell_of(site.context, args[0]) is not None:
        return iterators.take_one(site, *args)
    if fn in _HANDLERS:
        return _HANDLERS[fn](site)
    if fn is getattr and len(args) == 2:
        return _method(site, args[0], args[1])
    return _check_change(site)


def _check_change(site: CallSite) -> ir.Atom | None:
    """Refuse a method that changes a container in a way that is not known."""
    receiver = state_of(site.context, site.args[0]) if site.args else None
    if receiver is not None and containers.is_method_of_container(site.fn) and functions.facts(site.fn).changes:
        raise site.refuse(name_of(site.fn), "how it changes the container is not known to s2s")
    return NOT_HANDLED


_HANDLERS: dict[Any, Handler] = {
    fn: unpacked(operation, _check_change)
    for operations in (reflection.OPERATIONS, sets.OPERATIONS, containers.OPERATIONS)
    for fn, operation in operations.items()
}
"""Those of functions and methods of containers."""


def _of_instance(site: CallSite) -> ir.Atom | None:
    """A built-in function or an operator of an object with attributes."""
    instances, at, fn, args = site.specializer.instances, site, site.fn, site.args
    states = (state_of(site.context, a) for a in args)
    held = [state is not None and virtual_heap.is_instance(state) for state in states]
    if not any(held):
        return NOT_HANDLED
    if fn is super and len(args) == 2 and isinstance(args[0], ir.Const):
        return instances.super_of(at, args[0].value, args[1])
    known = OPERATORS.get(fn)
    if known is not None and known.reflected:
        return instances.binary(at, fn, args[0], args[1])
    if not held[0]:
        return NOT_HANDLED
    if fn in UNARY or (known is not None and known.method):
        return instances.unary(at, fn, *args)
    if fn in (object.__init__, object.__init_subclass__):
        return ir.Const(None)
    if fn is vars:
        return instances.get(at, args[0], "__dict__")
    if fn is dir:
        return instances.names(at, args[0])
    if fn is callable:
        return instances.has(at, args[0], "__call__")
    if len(args) > 1 and isinstance(args[1], ir.Const) and isinstance(args[1].value, str):
        return _of_attribute(site, args[1].value)
    return NOT_HANDLED


def _of_attribute(site: CallSite, name: str) -> ir.Atom | None:
    """A function of an object and the name of an attribute."""
    instances, at, fn, args = site.specializer.instances, site, site.fn, site.args
    if fn is getattr:
        return instances.get(at, args[0], name, args[2] if len(args) > 2 else None)
    if fn is hasattr:
        return instances.has(at, args[0], name)
    if fn in (delattr, object.__delattr__):
        return instances.delete(at, args[0], args[1])
    if fn is setattr:
        instances.store_attribute(at, args[0], args[1], args[2])
        return ir.Const(None)
    if fn is object.__getattribute__:
        return instances.get_plainly(at, args[0], name)
    if fn is object.__setattr__:
        instances.store_plainly(at, args[0], name, args[2])
        return ir.Const(None)
    return NOT_HANDLED


def _method(site: CallSite, receiver: ir.Atom, attribute: ir.Atom) -> ir.Atom | None:
    """A method of a container, read to be called, or a field of a named tuple; the object of a bound method."""
    context = site.context
    bound = context.definition(receiver, functools.partial)
    if attribute == ir.Const("__self__") and bound is not None and receiver in context.virtual_closures:
        return bound[1]
    state = state_of(context, receiver)
    if state is None or not isinstance(attribute, ir.Const):
        return NOT_HANDLED
    kind: Any = state.kind
    place = field_of(kind, attribute.value)
    if place is not None:
        facts.member(kind, attribute.value).folded(site.guards)
        return state.entries().get(place)
    if kind is collections.deque and attribute.value == "maxlen":
        return ir.Const(state.extra)
    read = ir.Call(ir.Const(getattr), (receiver, attribute))
    var = context.define("%", UNKNOWN, False, read)
    context.virtual_closures[var] = lambda builder: builder.let(read, UNKNOWN)
    return var
