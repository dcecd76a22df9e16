"""Calls of functions that are known and mean nothing special: by their rule, by their source, or as they are."""

from __future__ import annotations

import functools
import operator
import sys
import types
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.analysis import functions as meanings
from s2s.analysis.abstract import folding
from s2s.analysis.abstract.lattice import dtype_of
from s2s.analysis.raising import certain_error
from s2s.builder import virtual_heap
from s2s.builder.builder import makes_text
from s2s.builder.operands import as_arrays
from s2s.builder.virtual_heap import state_of
from s2s.core import ir, ops
from s2s.core.inspection import is_hashable, public_module
from s2s.core.public import key_of
from s2s.core.values import UNKNOWN, AbstractValue, Array, Known, Mapping, Scalar, Sequence, Unknown, is_record_class
from s2s.errors import DifferentiationError
from s2s.rules import table
from s2s.specialize.calls.derivative_values import MAKERS, check_late
from s2s.specialize.calls.handing_over import changed_live, plain, release
from s2s.specialize.calls.intrinsics import HANDLERS, fold_number, is_literal_number
from s2s.specialize.calls.rule_arguments import (
    check_conversion,
    check_keywords,
    check_ranks,
    check_required,
    unsupported,
)
from s2s.specialize.expected import has_answered
from s2s.specialize.frames import STABLE_MODULES, in_rule, is_of_s2s, name_of
from s2s.specialize.heap import generators
from s2s.specialize.heap.escapes import captured_by, note_change
from s2s.specialize.inplace import is_harmless, may_change
from s2s.specialize.keeping import keeps_nothing
from s2s.specialize.outcomes import INLINE_DEPTH, Outcome, inlined_if_possible, outcome_of
from s2s.specialize.site import NOT_HANDLED, CallSite
from s2s.specialize.speculation import speculate
from s2s.versions.boundary import Raised
from s2s.versions.paths import what_to_give

__all__ = [
    "LOOKED_THROUGH", "as_it_is", "by_model", "by_rule", "by_source", "check_has_rule", "check_kinds", "check_taken",
    "dict_display",
    "intrinsic", "looks_only", "made_class", "made_exception", "maker_of_callable", "note_called_back",
    "number", "record_in_rule", "without_derivative",
]

OWN_MODULES = (rt.__name__, ops.__name__)

MODEL_DEPTH = 8
"""So many calls of itself are followed in a model of a function."""

LOOKED_THROUGH = (
    getattr, zip, enumerate, reversed, slice, iter, map, functools.partial, np.vectorize, *MAKERS,
)
"""Functions that are resolved where their result is used; what is left of them is refused by the reverse pass."""

_TAKE_OBJECTS = frozenset({
    map, ops.unpack, list, tuple, dict.items, dict.values, dict.keys, dict.get, ops.merge_dict, any, all,
})
"""Intrinsics that read the items of their arguments one by one: they are not put together for them."""


# --- before rules are asked -------------------------------------------------------------------------------------------


def check_taken(site: CallSite) -> ir.Atom | None:
    """Refuse to take items one by one whose making changes something."""
    if not is_of_s2s(site.frame):
        generators.check_taken(site.context, site.fn, site.given, site.span, site.frame.called_from)
    return NOT_HANDLED


def check_kinds(site: CallSite) -> ir.Atom | None:
    """In the body of a ``try`` and in a branch that may not be taken: raise what a function of Python raises for
    every number of these kinds."""
    if (site.specializer.trying or site.specializer.undecided) and not site.kwargs:
        problem = certain_error(site.fn, [site.value(a) for a in site.args])
        if problem is not None:
            raise Raised(problem)
    return NOT_HANDLED


def record_in_rule(site: CallSite) -> ir.Atom | None:
    """A named tuple that a rule makes."""
    if site.kwargs or not in_rule(site.frame) or not is_record_class(site.fn):
        return NOT_HANDLED
    return site.write(site.fn, *site.args)


def number(site: CallSite) -> ir.Atom | None:
    """Arithmetic on constants in the body of a rule."""
    if not in_rule(site.frame) or site.kwargs or not site.args or not all(map(is_literal_number, site.args)):
        return NOT_HANDLED
    return fold_number(site.fn, site.args)


def dict_display(site: CallSite) -> ir.Atom | None:
    """``dict(mapping, key=value)`` with known keys."""
    return site.specializer.items.dict_display(site.args, site.kwargs, site.builder, site.span, site.name)


def intrinsic(site: CallSite) -> ir.Atom | None:
    """A function that the specialiser resolves itself."""
    if site.kwargs:
        return NOT_HANDLED
    site.args = [a if site.fn in _TAKE_OBJECTS else site.builder.frozen(a) for a in site.args]
    return HANDLERS[site.fn](site)


# --- rules ------------------------------------------------------------------------------------------------------------


def by_model(site: CallSite) -> ir.Atom | None:
    """A function with a model: the source that stands for it is followed."""
    rule = table.find(site.fn)
    if rule is None:
        return NOT_HANDLED
    specializer, varied = site.specializer, site.is_varied
    if varied:
        check_keywords(site, rule)
    if rule.kind != "model" or not (varied or rule.always or site.fn in site.context.assumed.modelled):
        return NOT_HANDLED
    assert isinstance(rule.body, types.FunctionType)
    if varied:
        check_ranks(site, rule)
        check_required(site, rule, ir.Const(None))
    args, kwargs = as_arrays(site.builder, rule, site.args, site.kwargs, site.span)
    site.args, site.kwargs = [*map(ir.Const, rule.given), *args], kwargs
    model = rule.body, specializer.inliner.kinds_of(site.args)
    around = sum(body is rule.body for body, _ in specializer.models)
    if around >= MODEL_DEPTH or model in specializer.models:  # it would not come to an end
        return site.leave()
    specializer.models.append(model)
    try:
        made = specializer.inliner.inline(rule.body, site.args, site.kwargs, site.frame, site.builder, site.span)
    finally:
        specializer.models.pop()
    check_conversion(site, made)
    return in_dtype_of_function(site, made)


def in_dtype_of_function(site: CallSite, made: ir.Atom) -> ir.Atom:
    """The result of a model in the dtype that the function gives, which a call of it on examples tells. It is asked
    where an argument is no float64, or a dtype: a model computes wide."""
    context = site.context
    values = [context.value(a) for a in site.given if isinstance(a, (ir.Var, ir.Const))]
    dtypes = [dtype for value in values if (dtype := dtype_of(value)) is not None]
    if not any(dtype.kind in "fc" and dtype != np.float64 for dtype in dtypes) and "dtype" not in site.kwargs:
        return made
    if len(values) < len(site.given) or not (type(site.fn) is np.ufunc or _is_of_library(site.fn)):
        return made
    evaluator, count = context.evaluator, len(table.find(site.fn).given)  # type: ignore[union-attr]
    before, evaluator.facts.forced = evaluator.facts.forced, []  # no guards: it is about the kind alone
    named = {name: context.value(a) for name, a in site.kwargs.items()}
    asked = evaluator.call(site.fn, tuple(map(context.value, site.args[count:])), named or None)
    evaluator.facts.forced = before
    return _in_dtype(site, made, asked)


def _in_dtype(site: CallSite, made: ir.Atom, asked: AbstractValue) -> ir.Atom:
    """A result, or each item of a tuple, in the dtype of what a function gives for examples."""
    found, wanted = site.context.value(made), dtype_of(asked)
    if isinstance(asked, Sequence) and asked.type is tuple:
        count = len(asked.items)
        if not isinstance(found, Sequence) or found.type is not tuple or len(found.items) != count:
            return made
        items = [site.builder.call(operator.getitem, made, ir.Const(k), span=site.span) for k in range(count)]
        turned = [_in_dtype(site, item, one) for item, one in zip(items, asked.items, strict=True)]
        return made if turned == items else site.builder.call(ops.make_tuple, *turned, name=site.name, span=site.span)
    if wanted is None or wanted.kind not in "fc" or dtype_of(found) == wanted or not site.context.is_varied(made):
        return made
    if dtype_of(found) is not None and dtype_of(found).kind == "c" and wanted.kind == "f":  # type: ignore[union-attr]
        raise site.refusal("S2S202", name=name_of(site.fn), reason="it discards imaginary parts; take np.real first")
    if isinstance(asked, Array):
        return site.builder.call(np.asarray, made, ir.Const(wanted.type), name=site.name, span=site.span)
    number = asked.type if isinstance(asked, Scalar) else wanted.type
    return site.builder.call(number, made, name=site.name, span=site.span)


def note_called_back(site: CallSite) -> ir.Atom | None:
    """The call may call functions that it is given, which may change what they have captured."""
    if not site.is_varied and meanings.facts(site.fn).calls_back:
        held = captured_by(site.context, [a.atom if isinstance(a, ir.Star) else a for a in site.given])
        if held:
            mutable = [a for a in held if virtual_heap.is_mutable(site.context, a)]
            release(mutable, False, site.builder)
            note_change(site.context, held)
            may_change(site.context, held, site.builder, site.span)
    return NOT_HANDLED


def by_rule(site: CallSite) -> ir.Atom | None:
    """A function with a rule: the call stays, for the rule to differentiate."""
    fn, specializer, rule = site.fn, site.specializer, table.find(site.fn)
    if rule is None:
        return NOT_HANDLED
    varied, args, kwargs = site.is_varied, site.args, site.kwargs
    if not varied and meanings.facts(fn).changes:
        return site.leave()  # which says that its arguments may change
    if varied:
        check_ranks(site, rule)
        refusal = unsupported(site, rule)
        if refusal is not None:
            if not isinstance(fn, types.FunctionType):
                raise refusal
            return NOT_HANDLED  # its source says what the rule does not
        if rule.kind not in ("zero", "refuse"):
            args, kwargs = as_arrays(site.builder, rule, args, kwargs, site.span)
    passive = site.effect and (not varied or rule.kind == "zero")
    made = site.builder.call(
        fn, *args, name=site.name, span=site.span, kwargs=tuple(kwargs.items()), effect=passive)
    check_conversion(site, made)
    if varied:
        check_required(site, rule, made)
    if isinstance(fn, types.FunctionType) and isinstance(made, ir.Var) and not folding.is_pure(fn):
        if isinstance(site.value(made), Unknown):  # no example says what it gives: its source does
            found = outcome_of(specializer, fn, args, kwargs, site.frame, site.builder)
            site.context.values[made] = found.value
    return made


def without_derivative(site: CallSite, callee: AbstractValue) -> ir.Atom:
    """A call with items of unknown number: what has no derivative, such as ``np.result_type(*arrays)``, is called as it
    is, and others are left to be decided when the program runs."""
    fn = callee.value if isinstance(callee, Known) else None
    rule = table.find(fn) if is_hashable(fn) else None
    if rule is None or rule.kind != "zero" or not looks_only(fn) or None in site.kwargs or site.effect:
        return site.leave()
    freeze = site.builder.frozen
    args = [ir.Star(freeze(a.atom)) if isinstance(a, ir.Star) else freeze(a) for a in site.args]
    made = ir.Call(ir.Const(fn), tuple(args), tuple((key, freeze(a)) for key, a in site.kwargs.items()))
    return site.builder.let(made, UNKNOWN, site.name, site.span, False)


# --- source -----------------------------------------------------------------------------------------------------------


def by_source(site: CallSite) -> ir.Atom | None:
    """A function of Python: its body in the place of the call, where something differentiated flows through it, or
    where that settles what it gives or does; else the call as it is."""
    fn, specializer, args, kwargs = site.fn, site.specializer, site.args, site.kwargs
    if public_module(fn) in OWN_MODULES:
        return NOT_HANDLED
    varied = site.is_varied
    if varied and specializer.inliner.may_enter(fn, args) and len(specializer.inliner.active_calls) < INLINE_DEPTH:
        return _followed_or_asked(site)
    changes = any(virtual_heap.is_mutable(site.context, a) for a in site.given)
    draws = specializer.repeating and not specializer.followed and not _is_of_library(fn)  # what it asks for is seen
    if changes or draws:
        result = inlined_if_possible(specializer, fn, args, kwargs, site.frame, site.builder, site.span)
        if result is not None:
            return result
    found = Outcome() if varied else outcome_of(specializer, fn, args, kwargs, site.frame, site.builder)
    looks_at_changed = found.changes is False and changed_live(site.context) is not None
    if found.changes or found.is_settled or looks_at_changed:
        return specializer.inliner.inline(fn, args, kwargs, site.frame, site.builder, site.span)
    return site.leave(value=found.value, harmless=found.changes is False, quiet=found.is_quiet)


def _followed_or_asked(site: CallSite) -> ir.Atom:
    """A call with something differentiated in it, in place. Where a function of a library cannot be followed of
    which only the answer is tested, it is asked when the program runs; so is one that was seen to give an answer, and
    nothing that is computed, where no argument is unknown: such an object may keep the others."""
    fn, specializer, frame, span = site.fn, site.specializer, site.frame, site.span
    states = [state_of(site.context, a) for a in site.given]
    answers = has_answered(span) and keeps_nothing(fn) and not _may_be_called(site)
    may_ask = answers or span in frame.tested
    may_ask = may_ask and not any(s is not None and virtual_heap.is_instance(s) for s in states)
    if not may_ask or specializer.catching or specializer.followed or specializer.is_own(fn):
        return specializer.inliner.inline(fn, site.args, site.kwargs, frame, site.builder, span)
    try:
        if not answers:
            with speculate(specializer, site.builder) as speculation:
                return specializer.inliner.inline(fn, site.args, site.kwargs, frame, speculation.builder, span)
    except DifferentiationError:
        pass
    for atom in site.given:
        virtual_heap.close(site.context, atom, "a function that is called when the program runs may refer to it")
    given = (ir.Const(fn), *map(site.builder.frozen, site.args))
    named = tuple((k, site.builder.frozen(a)) for k, a in site.kwargs.items())
    made = site.builder.let(ir.Call(ir.Const(rt.look), given, named), UNKNOWN, span=span)
    site.context.must_keep.add(made)  # type: ignore[arg-type]
    return made


def _may_be_called(site: CallSite) -> bool:
    """Whether an argument is unknown, or a function: such an object may keep the others."""
    for value in map(site.value, map(plain, site.given)):
        if isinstance(value, Unknown) or (isinstance(value, Known) and not keeps_nothing(value.value)):
            return True
    return False


def _is_of_library(fn: types.FunctionType) -> bool:
    """Whether a function belongs to Python, NumPy or SciPy."""
    return public_module(fn).partition(".")[0] in (*STABLE_MODULES, *sys.stdlib_module_names)


# --- neither ----------------------------------------------------------------------------------------------------------


def made_class(site: CallSite) -> ir.Atom | None:
    """``type(name, bases, namespace)``: a class that holds whatever the namespace does."""
    if len(site.args) == 1 and not site.kwargs:
        return NOT_HANDLED
    raise site.refusal("S2S107")


def made_exception(site: CallSite) -> ir.Atom | None:
    """A class of exceptions."""
    if not issubclass(site.fn, BaseException):
        return NOT_HANDLED
    site.effect = False
    return site.leave(harmless=True)


_OF_DICTS = frozenset({dict, dict.items, dict.values, dict.keys, dict.get, dict.update, ops.merge_dict})
"""What is followed for dicts of known items."""


def check_has_rule(site: CallSite) -> ir.Atom | None:
    """Refuse to differentiate a function without a rule and without a source."""
    fn = site.fn
    if site.is_varied and not (is_hashable(fn) and key_of(fn) in LOOKED_THROUGH) and not makes_text(fn):
        if is_hashable(fn) and fn in _OF_DICTS:
            raise site.refusal("S2S210", name=f"`{name_of(fn)}`")
        if public_module(fn) not in OWN_MODULES:
            raise site.refusal("S2S201", name=name_of(fn), hint=what_to_give(fn))
    return NOT_HANDLED


def maker_of_callable(site: CallSite) -> ir.Atom | None:
    """``functools.partial`` and ``np.vectorize``."""
    check_late(site, site.args)
    site.effect = False
    holds = [a for a in site.given if virtual_heap.state_of(site.context, a) is not None and site.context.is_varied(a)]
    if site.fn is functools.partial and holds and not site.is_spread:
        return _virtual_partial(site)
    return site.leave(harmless=True)


def _virtual_partial(site: CallSite) -> ir.Var:
    """A partial function of objects that hold what is differentiated: they are put together where it is kept."""
    made = ir.Call(ir.Const(functools.partial), tuple(site.args), tuple(site.kwargs.items()))
    var = site.context.define(site.name, UNKNOWN, True, made)
    site.context.virtual_closures[var] = lambda builder: builder.let(
        ir.map_atoms(made, builder.frozen), UNKNOWN, site.name, site.span, True)
    return var


def as_it_is(site: CallSite) -> ir.Atom | None:
    """Any other function, with nothing differentiated in it."""
    fn, specializer = site.fn, site.specializer
    looks = looks_only(fn)
    if not looks and any(virtual_heap.is_mutable(site.context, a) for a in site.given):
        return site.leave()
    if not is_harmless(fn) and not site.is_varied:
        may_change(specializer.context, [*site.given], site.builder, site.span)
    if not looks:
        _check_not_known(site)
        note_change(site.context, [*site.given])
    return site.builder.call(
        fn, *site.args, name=site.name, span=site.span, kwargs=tuple(site.kwargs.items()), effect=site.effect)


def _check_not_known(site: CallSite) -> None:
    """Refuse to change a container in a variable from outside, of which it is known what it holds: that would be taken
    to be so after the change, too."""
    receiver = site.args[0] if site.args and isinstance(site.fn, types.MethodDescriptorType) else None
    if isinstance(receiver, ir.Var) and isinstance(site.value(receiver), (Sequence, Mapping)):
        if isinstance(site.context.definitions.get(receiver), ir.Load):
            raise site.refusal("S2S185", name=receiver.name)


def looks_only(fn: Any) -> bool:
    """Whether a function certainly does not change its arguments."""
    return not meanings.facts(fn).changes
