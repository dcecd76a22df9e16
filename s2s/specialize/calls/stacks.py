"""The operations of stacks, as the specialiser leaves them: what is pushed and popped is known by its kind only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from s2s.analysis.abstract.lattice import join_all
from s2s.builder.builder import Builder, Context
from s2s.core import ir, ops
from s2s.core.values import UNKNOWN, AbstractValue, Array, ListOf
from s2s.errors import DifferentiationError
from s2s.specialize.severed import check_not_severed
from s2s.specialize.site import CallSite, Handler

if TYPE_CHECKING:
    from s2s.specialize.specializer import Specializer

__all__ = ["HANDLERS", "loses_stores"]

_PUSH, _PULL = map(ir.Const, (ops.push, ops.pull))


def _make(site: CallSite) -> ir.Atom:
    """A stack: empty, or a copy of another one."""
    call = ir.Call(ir.Const(site.fn), tuple(site.args))
    var = site.context.define(site.name, ListOf(UNKNOWN), any(map(site.context.is_varied, site.args)), call)
    site.builder.add(ir.Let(var, call, site.span))
    site.context.stacks.add(var)
    return var


def _push(site: CallSite) -> ir.Atom:
    stack, item = site.args[0], site.builder.frozen(site.args[1])
    site.builder.add(ir.Let(None, ir.Call(_PUSH, (stack, item)), site.span))
    if not isinstance(stack, ir.Var):
        return ir.Const(None)
    if site.context.is_varied(item):
        site.context.varied.add(stack)
    elif site.context.assumed.shares_stacks and isinstance(item, ir.Var) and isinstance(site.value(item), Array):
        site.context.sharing.pending.append((stack, item))
    return ir.Const(None)


def _pull(site: CallSite) -> ir.Atom:
    args = site.args
    known = _item_of(site.specializer, site.builder, args[0])
    call = ir.Call(_PULL, (args[0],))
    var = site.context.define(site.name, known, site.context.is_varied(args[0]), call)
    site.builder.add(ir.Let(var, call, site.span))
    return var


def _item_of(specializer: Specializer, builder: Builder, stack: ir.Atom) -> AbstractValue:
    """What is known of all items that were pushed to a stack, or to the one that it is a copy of."""
    while (made := specializer.context.definition(stack, ops.copy_stack)) is not None:
        stack = made[0]
    values, there = [], False
    around: Builder | None = builder
    while around is not None:
        for s in ir.walk(around.block()):
            if isinstance(s, ir.Let) and isinstance(s.value, ir.Call):
                there = there or s.target == stack
                if s.value.fn == _PUSH and s.value.args[0] == stack:
                    values.append(specializer.context.value(s.value.args[1]))  # type: ignore[arg-type]
        around = around.parent
    if not there or not values:
        return UNKNOWN
    return specializer.joined_value(join_all(values, specializer.context.evaluator.facts))


def loses_stores(function: ir.Function, context: Context, has_aux: bool) -> bool:
    """Whether a result is read from an array on a stack into which something differentiated was stored after it was
    pushed."""
    late = any(
        isinstance(s, ir.Let) and isinstance(s.value, ir.Call) and s.value.fn == _PUSH
        and context.is_varied(s.value.args[1])  # type: ignore[arg-type]
        and not context.is_varied(s.value.args[0])  # type: ignore[arg-type]
        for s in ir.walk(function.body)
    )
    if not late:
        return False
    try:
        check_not_severed(function, context, has_aux)
    except DifferentiationError:
        return True
    return False


HANDLERS: dict[Any, Handler] = {ops.make_stack: _make, ops.copy_stack: _make, ops.push: _push, ops.pull: _pull}
"""What the specialiser makes of the operations of a stack."""
