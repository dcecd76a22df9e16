"""The operations of stacks, as the specialiser leaves them: what is pushed and popped is known by its kind only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from s2s.analysis.abstract.lattice import join_all
from s2s.builder.builder import Builder
from s2s.core import ir, ops
from s2s.core.values import UNKNOWN, AbstractValue, ListOf
from s2s.specialize.site import At

if TYPE_CHECKING:
    from s2s.specialize.specializer import Specializer

__all__ = ["FORMS"]

_PUSH, _PULL = map(ir.Const, (ops.push, ops.pull))


def _make(specializer: Specializer, at: At, fn: Any, args: list[ir.Atom], kwargs: dict[Any, ir.Atom]) -> ir.Atom:
    """A stack: empty, or a copy of another one."""
    call = ir.Call(ir.Const(fn), tuple(args))
    var = specializer.context.define(at.name, ListOf(UNKNOWN), any(map(specializer.context.is_varied, args)), call)
    at.builder.add(ir.Let(var, call, at.span))
    specializer.context.stacks.add(var)
    return var


def _push(specializer: Specializer, at: At, fn: Any, args: list[ir.Atom], kwargs: dict[Any, ir.Atom]) -> ir.Atom:
    stack, item = args[0], at.builder.frozen(args[1])
    at.builder.add(ir.Let(None, ir.Call(_PUSH, (stack, item)), at.span))
    if specializer.context.is_varied(item) and isinstance(stack, ir.Var):
        specializer.context.varied.add(stack)
    return ir.Const(None)


def _pull(specializer: Specializer, at: At, fn: Any, args: list[ir.Atom], kwargs: dict[Any, ir.Atom]) -> ir.Atom:
    known = _item_of(specializer, at.builder, args[0])
    call = ir.Call(_PULL, (args[0],))
    var = specializer.context.define(at.name, known, specializer.context.is_varied(args[0]), call)
    at.builder.add(ir.Let(var, call, at.span))
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


FORMS = {ops.make_stack: _make, ops.copy_stack: _make, ops.push: _push, ops.pull: _pull}
"""What the specialiser makes of the operations of a stack."""
