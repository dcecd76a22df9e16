"""Calls that change an array, or say how a function of NumPy is applied: ``out``, ``x += v``, methods of ufuncs."""

from __future__ import annotations

import operator
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.analysis.memory import shared_with
from s2s.builder.virtual_heap import cell_of
from s2s.core import ir, operators, ops
from s2s.core.values import UNKNOWN, AbstractValue, Array, ListOf, Sequence, Unknown
from s2s.rules import table
from s2s.rules.numpy.ufuncs import METHODS, with_axes
from s2s.specialize.calls.memory_order import in_memory_order
from s2s.specialize.calls.rule_arguments import check_conversion
from s2s.specialize.calls.storing import CHANGING, with_out, without_out
from s2s.specialize.calls.ufunc_at import ufunc_at
from s2s.specialize.heap.changing import add_in_place
from s2s.specialize.inplace import change_whole, check_room
from s2s.specialize.site import NOT_HANDLED, At, CallSite

__all__ = [
    "along_axes", "at_places", "augmented", "changing", "empty_array", "in_order", "into_out", "method_of_ufunc",
    "with_numbers", "without_old_names", "without_overwriting",
]


def without_overwriting(site: CallSite) -> ir.Atom | None:
    """A function that may use its argument as scratch memory: the reverse sweep reads that."""
    site.kwargs = {k: v for k, v in site.kwargs.items() if k != "overwrite_input"}
    return NOT_HANDLED


def without_old_names(site: CallSite) -> ir.Atom | None:
    """``np.clip`` has two names for its limits."""
    site.kwargs = {{"min": "a_min", "max": "a_max"}.get(k, k): v for k, v in site.kwargs.items()}
    return NOT_HANDLED


def augmented(site: CallSite) -> ir.Atom | None:
    """``x += v``: on values the same as ``x = x + v``; on arrays only where nothing else refers to the array."""
    specializer, context, builder, span = site.specializer, site.context, site.builder, site.span
    old, change, *_ = site.args
    if cell_of(context, old) is not None:
        return add_in_place(site, site.fn, old, change)
    check_room(site, old, change)
    plain = operators.PLAIN[site.fn]
    value = context.value(old)
    is_list = isinstance(value, ListOf) or (isinstance(value, Sequence) and value.type is list)
    if is_list and isinstance(old, ir.Var) and _is_read(context.definitions.get(old)):
        raise site.refusal("S2S185", name=old.name)
    keeps_arrays = context.evaluator.keeps_arrays
    if isinstance(value, Array) and (isinstance(old, ir.Var) or not keeps_arrays) and (
        span in context.assumed.in_place
        or (value.shape == () and not keeps_arrays)
        or not _keeps_rank(site, plain, value, change)
    ):
        change_whole(At(specializer, site.frame, builder, span), old, change, plain)
        return old
    if isinstance(value, Unknown) and isinstance(old, ir.Var) and not _is_new_array(site, old):
        builder.add(ir.Let(None, ir.Call(ir.Const(rt.check_own), (old, ir.Const(site.name))), span))
    result = specializer.apply(ir.Const(plain), [old, change], {}, site.frame, builder, span, site.name)
    new = context.value(result)
    if isinstance(value, Array) and isinstance(new, Array) and value.dtype != new.dtype:
        result = site.write(np.ndarray.astype, result, ir.Const(value.dtype))
    if (isinstance(value, (Array, Unknown)) or is_list) and isinstance(old, ir.Var) and isinstance(result, ir.Var):
        specializer.rebound.append((old, result, span))
    return result


def _is_read(made: ir.Value | None) -> bool:
    """Whether a value was read from a variable from outside, or from an object there: others have it, too."""
    return isinstance(made, ir.Load) or (isinstance(made, ir.Call) and made.fn in _READS)


_READS = (ir.Const(getattr), ir.Const(operator.getitem))


def _is_new_array(site: CallSite, atom: ir.Var) -> bool:
    """Whether a function of NumPy made it, an array of its own or a number."""
    made = site.context.definitions.get(atom)
    if not isinstance(made, ir.Call) or not isinstance(made.fn, ir.Const) or table.find(made.fn.value) is None:
        return False
    return not shared_with(made, UNKNOWN, site.context.value)


def _keeps_rank(site: CallSite, fn: Any, value: Array, change: ir.Atom) -> bool:
    """Whether an operation on an array is known to give an array of the same rank."""
    new = site.context.evaluator.call(fn, (value, site.value(change)))
    return isinstance(new, Array) and (new.shape is not None or value.shape is None)


def in_order(site: CallSite) -> ir.Atom | None:
    """A read of an array in the order of memory."""
    return in_memory_order(
        site, site.fn, site.args, site.kwargs)


def changing(site: CallSite) -> ir.Atom | None:
    """A function that stores into its first argument."""
    if not site.args or not isinstance(site.value(site.args[0]), Array):
        return NOT_HANDLED
    return CHANGING[site.fn](site.call(site.fn, [*map(site.builder.frozen, site.args)], dict(site.kwargs)))


def into_out(site: CallSite) -> ir.Atom | None:
    """A call whose result goes where ``out`` says, or of a ufunc an argument without a name."""
    fn, args, kwargs = site.fn, site.args, site.kwargs
    if isinstance(fn, np.ufunc) and len(args) > fn.nin and "out" not in kwargs:
        extra = args[fn.nin]
        if len(args) > fn.nin + 1:
            extra = site.compute(ops.make_tuple, *args[fn.nin :])
        args, kwargs = args[: fn.nin], {**kwargs, "out": extra}
    if not kwargs or isinstance(fn, types.FunctionType):
        return NOT_HANDLED
    if kwargs.get("out", ir.Const(None)) == ir.Const(None):
        is_elementwise = isinstance(fn, np.ufunc) and fn.nout == 1 and fn.signature is None
        is_partial = is_elementwise and kwargs.get("where", _EVERYWHERE) != _EVERYWHERE
        return without_out(site, fn, args, kwargs) if is_partial and site.is_varied else NOT_HANDLED
    return with_out(site, fn, args, kwargs)


_EVERYWHERE = ir.Const(True)


def empty_array(site: CallSite) -> ir.Atom | None:
    """``np.ndarray(shape, dtype)``: an array of its own, unless it is given the memory."""
    if not {*site.kwargs} <= {"shape", "dtype", "order"} or len(site.args) > 2 or site.is_varied:
        return NOT_HANDLED
    return site.instead(np.empty, site.args, site.kwargs)


def along_axes(site: CallSite) -> ir.Atom | None:
    """A ufunc that is told along which axes."""
    if set(site.kwargs) != {"axes"} or not any(map(site.context.is_varied, site.args)):
        return NOT_HANDLED
    return site.instead(with_axes, [ir.Const(site.fn), *site.args, site.kwargs["axes"]])


def with_numbers(site: CallSite) -> ir.Atom | None:
    """A range or slice is made of what arrays of rank 0 hold at this time: later stores do not move its bounds."""
    site.args = [site.apply(operator.index, a) if _is_number_in_memory(site.value(a)) else a for a in site.args]
    return NOT_HANDLED


def _is_number_in_memory(known: AbstractValue) -> bool:
    return isinstance(known, Array) and known.shape in (None, ()) and (known.dtype is None or known.dtype.kind in "iu")


def at_places(site: CallSite) -> ir.Atom | None:
    """``np.add.at(a, key, v)``."""
    ufunc = site.fn.__self__
    if not isinstance(ufunc, np.ufunc) or site.fn.__name__ != "at" or site.kwargs:
        return NOT_HANDLED
    args = [*map(site.builder.frozen, site.args)]
    return ufunc_at(site, ufunc, args)


def method_of_ufunc(site: CallSite) -> ir.Atom | None:
    """``np.hypot.reduce(a)`` and its kin, where these have no rule of their own."""
    fn, ufunc = site.fn, site.fn.__self__
    written: Callable[..., Any] | None = METHODS.get(fn.__name__) if isinstance(ufunc, np.ufunc) else None
    if written is None or table.find(fn) is not None or not any(map(site.context.is_varied, site.args)):
        return NOT_HANDLED
    made = site.instead(written, [ir.Const(ufunc), *site.args], site.kwargs)
    check_conversion(site, made)
    return made
