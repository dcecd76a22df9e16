"""What a call comes to: the handlers that are asked, in order. The first that knows the call decides."""

from __future__ import annotations

import builtins
import functools
import operator
import types
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.core import ir, operators
from s2s.core.inspection import is_hashable
from s2s.core.public import PublicDerivative, key_of
from s2s.core.values import Known
from s2s.directives.checkpointing import Checkpoint, call_again, checkpoint, checkpointed
from s2s.directives.decorated import Differentiable
from s2s.directives.inserted import InReverse
from s2s.directives.policies import BLOCKS, Chosen, straight_through
from s2s.specialize import logs, mapping, resolution
from s2s.specialize.calls import (
    arrays,
    callables,
    checkpointing,
    derivatives,
    derivatives_at_run_time,
    dispatching,
    draws,
    frame_readers,
    functions,
    inserted,
    intrinsics,
    lazy_calls,
    objects,
    operands,
    ordering_calls,
    policy_calls,
    process,
    solutions,
    stacks,
    subscripts,
    user_rules,
    warned,
    wrappers,
    zero_derivatives,
)
from s2s.specialize.calls.leaving import look_again
from s2s.specialize.calls.memory_order import ORDERED
from s2s.specialize.calls.stages import Registry, Stage, always, for_types, named
from s2s.specialize.calls.storing import CHANGING
from s2s.specialize.site import NOT_HANDLED, CallSite, Handler

__all__ = ["CALLED_BY_VARIABLE", "FUNCTIONS", "KNOWN", "call", "call_function"]

_MAY_OVERWRITE = (np.median, np.percentile, np.quantile, np.nanmedian, np.nanpercentile, np.nanquantile)
"""Functions that may use their argument as scratch memory when they are told to; the reverse sweep reads it."""

_PUBLIC: dict[Any, Handler] = {
    **derivatives.HANDLERS, **derivatives_at_run_time.HANDLERS, **mapping.HANDLERS, **user_rules.HANDLERS,
    **policy_calls.HANDLERS, **solutions.HANDLERS, **inserted.HANDLERS,
}
"""Public functions of s2s that a program calls."""


def public(site: CallSite) -> ir.Atom | None:
    """A public function of s2s, by its role."""
    handler = _PUBLIC.get(key_of(site.fn)) if is_hashable(site.fn) else None
    return NOT_HANDLED if handler is None else handler(site)


CALLED_BY_CONSTANT: tuple[Handler, ...] = (
    resolution.grown_display, resolution.extreme_of_spread, resolution.spread, resolution.derivative,
)

CALLED_BY_VARIABLE: tuple[Handler, ...] = (
    logs.written,
    resolution.vectorized,
    resolution.made_by_partial,
    resolution.chosen,
    resolution.derivative,
    resolution.item_of_modules,
    resolution.method_of_iterator,
    draws.read,
    resolution.object_,
    resolution.spread,
    resolution.bound_method,
    resolution.closure,
)
"""What finds out which function a variable stands for."""

FUNCTIONS = Registry(
    always(functions.by_model),
    always(functions.note_called_back),
    always(functions.by_rule),
    for_types(types.FunctionType, frame_readers.check_unseen),
    for_types(types.FunctionType, functions.by_source),
    for_types(type, functions.made_exception),
    always(functions.check_has_rule),
    named(dict.fromkeys((functools.partial, np.vectorize), functions.maker_of_callable)),
    always(functions.as_it_is),
)
"""Functions that mean nothing special."""

KNOWN = Registry(
    always(functions.check_taken),
    # how it is differentiated was said
    for_types(Chosen, policy_calls.call_chosen),
    for_types(Differentiable, policy_calls.call_differentiable),
    for_types(InReverse, inserted.call_in_reverse),
    for_types(BLOCKS, policy_calls.call_decorator),
    named({straight_through: policy_calls.call_straight_through, **dict.fromkeys(BLOCKS, policy_calls.call_block)}),
    always(policy_calls.by_choice),
    for_types(PublicDerivative, callables.derivative_of_nothing),
    for_types(types.FunctionType, wrappers.of_autograd),
    always(callables.with_rule_of_user),
    Stage(is_for=lambda kind: getattr(kind, "__s2s_primal__", None) is not None, handler=callables.with_primal),
    # functions of s2s
    named(stacks.HANDLERS),
    named(warned.HANDLERS),
    always(public),
    named({
        checkpointed: checkpointing.checkpointed_range, checkpoint: checkpointing.make_checkpoint,
        call_again: checkpointing.call_again, rt.now: callables.read_now, rt.read_now: callables.variable_read_now,
    }),
    for_types(Checkpoint, checkpointing.call_checkpoint),
    # generators
    named(lazy_calls.HANDLERS),
    for_types(types.BuiltinMethodType, lazy_calls.of_chain),
    always(lazy_calls.given),
    # callables that come to a call of something else
    always(callables.compiled),
    always(wrappers.of_numba),
    always(wrappers.of_numexpr),
    for_types(types.BuiltinFunctionType, wrappers.of_compiled),
    always(wrappers.with_dtypes),
    named({
        builtins.globals: process.module_variables,
        builtins.vars: process.variables_of,
        builtins.setattr: process.assigned_attribute,
        builtins.delattr: process.deleted_attribute,
        type: functions.made_class,
        np.ndarray.__array_namespace__: callables.array_namespace,
        operator.methodcaller: callables.made_method_caller,
    }),
    for_types((operator.attrgetter, operator.itemgetter), callables.getter),
    for_types(dispatching.DISPATCHED, callables.redirected),
    for_types(functools._lru_cache_wrapper, callables.cached),
    for_types(types.BuiltinMethodType, callables.method_of_constant),
    for_types(np.vectorize, callables.vectorized),
    for_types(functools.partial, callables.partial),
    Stage(is_for=draws.is_method, handler=draws.drawn),
    for_types(types.MethodType, callables.bound_method),
    # containers and objects
    always(objects.of_objects),
    named(zero_derivatives.HANDLERS),
    named(frame_readers.HANDLERS),
    named(subscripts.HANDLERS),
    always(operands.checked),
    for_types(type, functions.record_in_rule),
    named(ordering_calls.HANDLERS),
    # arrays that are changed
    named({
        **dict.fromkeys(_MAY_OVERWRITE, arrays.without_overwriting), np.clip: arrays.without_old_names,
        np.ndarray: arrays.empty_array, range: arrays.with_numbers, slice: arrays.with_numbers,
        **dict.fromkeys(operators.PLAIN, arrays.augmented),
    }),
    for_types(types.BuiltinFunctionType, functions.number),
    named({dict: functions.dict_display}),
    always(functions.check_kinds),
    named(dict.fromkeys(ORDERED, arrays.in_order)),
    for_types(types.BuiltinFunctionType, arrays.at_places),
    named(dict.fromkeys(CHANGING, arrays.changing)),
    always(arrays.into_out),
    for_types(np.ufunc, arrays.along_axes),
    for_types(types.BuiltinFunctionType, arrays.method_of_ufunc),
    # all others
    named(dict.fromkeys(intrinsics.HANDLERS, functions.intrinsic)),
    always(FUNCTIONS.ask),
)
"""Functions that are known, by what is special about them."""


def call(site: CallSite) -> ir.Atom:
    """What a call comes to."""
    before = len(site.builder.statements)
    made = _call(site)
    look_again(site, site.builder.statements[before:])
    return made


def _call(site: CallSite) -> ir.Atom:
    handlers = CALLED_BY_VARIABLE if isinstance(site.callee, ir.Var) else CALLED_BY_CONSTANT
    for handler in handlers:
        found = handler(site)
        if found is not NOT_HANDLED:
            return found
    value = site.value(site.callee)
    if not isinstance(value, Known) or site.is_spread:
        return functions.without_derivative(site, value)
    site.fn, given = value.value, site.args
    made = KNOWN.ask(site)
    assert made is not NOT_HANDLED
    site.specializer.iterables.note_view(site.fn, given, made)
    return made


def call_function(site: CallSite) -> ir.Atom:
    """What a call of a function comes to that means nothing special here."""
    made = FUNCTIONS.ask(site)
    assert made is not NOT_HANDLED
    return made
