"""Callables that come to a call of something else: partial functions, bound methods, decorated and cached functions."""

from __future__ import annotations

import inspect
import types
from typing import Any

import numpy as np

from s2s.analysis.abstract import folding
from s2s.analysis.abstract.folding import call_pure, plain
from s2s.builder.builder import Context, is_constant_kind
from s2s.core import ir, ops
from s2s.core.inspection import compiled_from, is_hashable
from s2s.rules import table
from s2s.specialize.calls import user_rule_calls
from s2s.specialize.calls.dispatching import dispatched, held_arguments, parts_read
from s2s.specialize.calls.intrinsics import HANDLERS, map_elements
from s2s.specialize.frames import MISSING, in_rule
from s2s.specialize.heap import making
from s2s.specialize.heap.live_objects import Place
from s2s.specialize.keeping import keeps_nothing
from s2s.specialize.outcomes import Outcome, outcome_of
from s2s.specialize.site import NOT_HANDLED, At, CallSite
from s2s.versions import facts
from s2s.versions.signature import has_attributes as is_user_object

__all__ = [
    "array_namespace", "bound_method", "cached", "compiled", "derivative_of_nothing", "getter", "made_method_caller",
    "method_of_constant", "partial", "read_now", "redirected", "with_primal", "with_rule_of_user", "vectorized",
]


def derivative_of_nothing(site: CallSite) -> ir.Atom | None:
    """``s2s.primal(f)``, with respect to nothing, is ``f``."""
    return site.instead(site.fn.made_from[1], site.args, site.kwargs) if site.fn.made_from[0] == "primal" else None


def with_rule_of_user(site: CallSite) -> ir.Atom | None:
    """A function that has a rule of the user: who differentiates finds it again."""
    if table.rule_of_user(site.fn) is None:
        return NOT_HANDLED
    return user_rule_calls.leave_call(site)


def with_primal(site: CallSite) -> ir.Atom | None:
    """An object of s2s that stands for a function: the function."""
    return site.instead(site.fn.__wrapped__, site.args, site.kwargs)


def compiled(site: CallSite) -> ir.Atom | None:
    """A function that Numba has compiled: called as it is, unless it is differentiated."""
    python = compiled_from(site.fn)
    if python is None:
        return NOT_HANDLED
    return site.instead(python, site.args, site.kwargs) if site.is_varied else site.leave()


def array_namespace(site: CallSite) -> ir.Atom | None:
    """``a.__array_namespace__()``."""
    return ir.Const(np)


def made_method_caller(site: CallSite) -> ir.Atom | None:
    """``operator.methodcaller(name)``, an option."""
    if not all(isinstance(a, ir.Const) for a in site.given):
        return NOT_HANDLED
    named = {k: a.value for k, a in site.kwargs.items() if isinstance(a, ir.Const)}
    return ir.Const(site.fn(*(a.value for a in site.args), **named))


def getter(site: CallSite) -> ir.Atom | None:
    """A call of what ``attrgetter`` or ``itemgetter`` has made."""
    if len(site.args) != 1 or site.kwargs:
        return NOT_HANDLED
    return parts_read(site, site.fn, site.args[0])


def redirected(site: CallSite) -> ir.Atom | None:
    """A callable that chooses or completes a call."""
    found = dispatched(site)
    return NOT_HANDLED if found is None else site.instead(*found)


def method_of_constant(site: CallSite) -> ir.Atom | None:
    """A method of a text, of a mapping that cannot be changed, or of an object whose method has a rule for its
    arguments alone."""
    holder, name = site.fn.__self__, site.fn.__name__
    if isinstance(holder, (str, bytes)):
        return site.instead(getattr(type(holder), name), [ir.Const(holder), *site.args], site.kwargs)
    if isinstance(holder, types.MappingProxyType):
        entries: dict[Any, ir.Atom] = {k: ir.Const(v) for k, v in holder.items()}
        mapping = making.new_dict(At(site.specializer, site.frame, site.builder, site.span), entries)
        return site.instead(getattr(dict, name), [mapping, *site.args], site.kwargs)
    if site.is_varied and not isinstance(holder, (type(None), types.ModuleType, type)):
        method = inspect.getattr_static(type(holder), name, None)
        rule = table.find(method)
        if rule is not None and rule.kind == "vjp" and next(iter(rule.params.parameters)) not in rule.cotangents:
            return site.instead(method, [ir.Const(holder), *site.args], site.kwargs)
    return NOT_HANDLED


def read_now(site: CallSite) -> ir.Atom | None:
    """An item or an attribute that a generated derivative reads: where it has to be read at once is found again."""
    return site.instead_of_atom(site.args[0], site.args[1:], site.kwargs)


def variable_read_now(site: CallSite) -> ir.Atom:
    """A variable of a module that a generated derivative reads: where it has to be read at once is found again."""
    return site.args[0]  # type: ignore[no-any-return]


def vectorized(site: CallSite) -> ir.Atom | None:
    """A function that ``np.vectorize`` has made before. NumPy calls it once more than there are elements, to see what
    it gives: where nothing is differentiated, that is left to NumPy."""
    fn = site.fn
    if not site.is_varied and not keeps_nothing(fn.pyfunc):
        return NOT_HANDLED
    if site.kwargs or fn.excluded or fn.signature is not None or fn.otypes is not None:
        return NOT_HANDLED
    each = ir.Const(facts.attribute(fn, "pyfunc", site.guards).folded(site.guards))
    return site.instead(map_elements, [each, *site.args])


def partial(site: CallSite) -> ir.Atom | None:
    """A partial function that was there before."""
    site.guards.reached(site.fn.func, site.fn, "func")
    held, fixed = held_arguments(site)
    return site.instead(site.fn.func, [*held, *site.args], fixed | site.kwargs)


def bound_method(site: CallSite) -> ir.Atom | None:
    """A bound method that was there before."""
    owner: ir.Atom = ir.Const(site.fn.__self__)
    if is_user_object(site.fn.__self__) and not in_rule(site.frame):
        place = Place("value", (owner,), None)
        owner = site.specializer.live_objects.refer(site.builder, facts.known(site.fn.__self__), place, "self")
    return site.instead(site.fn.__func__, [owner, *site.args], site.kwargs)


def cached(site: CallSite) -> ir.Atom | None:
    """A call of a function that keeps its results (``functools.lru_cache``): with something differentiated the
    function itself; with known arguments what it gives, where that is an option and a library has the function, or
    where its source settles it; else it is called as it is."""
    fn, specializer, guards = site.fn, site.specializer, site.guards
    guards.reached(fn.__wrapped__, fn, "__wrapped__")
    if site.is_varied or fn.__wrapped__ in HANDLERS:
        return site.instead(fn.__wrapped__, site.args, site.kwargs)
    found = _kept_option(site)
    if found is not NOT_HANDLED:
        return found
    is_python = isinstance(fn.__wrapped__, types.FunctionType)
    with guards.apart() as relied_on:
        outcome = outcome_of(
            specializer, fn.__wrapped__, site.args, site.kwargs, site.frame, site.builder) if is_python else Outcome()
    is_constant = outcome.is_settled and all(_is_constant(site.context, a) for a in site.given)
    if is_constant and relied_on.are_definitions():  # what it keeps is what it gives
        return specializer.inliner.inline(fn.__wrapped__, site.args, site.kwargs, site.frame, site.builder, site.span)
    return site.leave(value=outcome.value, harmless=outcome.changes is False)


def _is_constant(context: Context, atom: Any) -> bool:
    """Whether an argument is a constant, or a tuple of such."""
    made = context.definition(atom, ops.make_tuple)
    return isinstance(atom, ir.Const) or (made is not None and all(_is_constant(context, a) for a in made))


def _kept_option(site: CallSite) -> ir.Atom | None:
    """What a cached function of a library gives for options, where that is an option too."""
    may_ask = not site.specializer.undecided or any(map(_is_definition, site.args))
    if not folding.is_pure(site.fn) or not may_ask or site.kwargs or not all(map(_is_option, site.args)):
        return NOT_HANDLED
    try:
        found = call_pure(site.fn, [plain(a.value) for a in site.args])
    except Exception:
        found = MISSING
    if type(found) is tuple and all(map(is_constant_kind, found)):
        return site.write(ops.make_tuple, *map(ir.Const, found))
    return ir.Const(found) if found is not MISSING and is_constant_kind(found) else NOT_HANDLED


def _is_option(atom: ir.Atom) -> bool:
    """Whether an atom is a constant that a cached function may be called with now."""
    return isinstance(atom, ir.Const) and is_hashable(atom.value) and (
        is_constant_kind(atom.value) or type(atom.value) is int
    )


def _is_definition(atom: ir.Atom) -> bool:
    """Whether an atom is a class, a function or a module."""
    return isinstance(atom, ir.Const) and isinstance(atom.value, (type, types.FunctionType, types.ModuleType))
