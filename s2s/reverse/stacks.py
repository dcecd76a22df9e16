"""Stacks (``stacks``) through the passes: specialised, and differentiated. The tangent and the cotangent of a stack are
stacks:

    saved.append(y)     reverse: y_bar += saved_bar.pop()        forward: saved_dot.append(y_dot)
    y = saved.pop()              saved_bar.append(y_bar)                  y_dot = saved_dot.pop()
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from s2s import runtime as rt
from s2s.analysis.abstract.parts import leaves, like_tangent
from s2s.builder.builder import Context
from s2s.core import ir, ops
from s2s.core.values import UNKNOWN, ListOf, Mapping, Sequence
from s2s.errors import error
from s2s.reverse import control
from s2s.reverse.residuals.sweep import Sweep

if TYPE_CHECKING:
    from s2s.forward.sweep import Forwarder
    from s2s.reverse.sweeps import Reverser

__all__ = ["check_none", "reverse", "tangent"]

_MAKE, _PUSH, _PULL = map(ir.Const, (ops.make_stack, ops.push, ops.pull))


def check_none(context: Context, atom: Any) -> None:
    """Raise where an operation of another kind asks for the derivative of a stack: it would find zero."""
    if isinstance(atom, ir.Var) and atom in context.stacks and context.is_varied(atom):
        raise error("S2S901", problem=f"the stack `{atom.name}` is read as a list")


# --- forward --------------------------------------------------------------------------------------------------------


def tangent(forwarder: Forwarder, s: ir.Let, value: ir.Call) -> bool:
    """Write an operation of a stack, with the same one of its tangent; False where it is none."""
    fn = value.fn.value if isinstance(value.fn, ir.Const) else None
    if fn not in ops.STACKS:
        return False
    forwarder.builder.add(s)
    stack = s.target if fn in (ops.make_stack, ops.copy_stack) else value.args[0]
    if not forwarder.context.is_varied(stack):  # type: ignore[arg-type]
        return True
    assert isinstance(stack, ir.Var)
    if fn is ops.push:
        item = value.args[1]
        call = ir.Call(_PUSH, (forwarder.stacks[stack], forwarder.whole(item, s.span)))  # type: ignore[arg-type]
        forwarder.builder.add(ir.Let(None, call, s.span))
    elif fn is ops.pull:
        assert s.target is not None
        known = like_tangent(forwarder.context.value(s.target))
        dot = forwarder.context.define(forwarder.name(s.target), known)
        forwarder.builder.add(ir.Let(dot, ir.Call(_PULL, (forwarder.stacks[stack],)), s.span))
        forwarder.put_all(s.target, dot, s.span)
    else:
        given = tuple(forwarder.stacks[a] for a in value.args)  # type: ignore[index]
        dot = forwarder.stacks[stack] = forwarder.context.define(forwarder.name(stack), ListOf(UNKNOWN))
        forwarder.builder.add(ir.Let(dot, ir.Call(value.fn, given), s.span))
    return True


# --- reverse --------------------------------------------------------------------------------------------------------


def reverse(reverser: Reverser, s: ir.Let, value: ir.Call, sweep: Sweep) -> bool:
    """Write the reverse of an operation of a stack; False where it is none."""
    fn = value.fn.value if isinstance(value.fn, ir.Const) else None
    if fn not in ops.STACKS:
        return False
    stack = s.target if fn in (ops.make_stack, ops.copy_stack) else value.args[0]
    if stack not in reverser.useful:
        return True
    assert isinstance(stack, ir.Var)
    if reverser.memory.is_buffer(stack):
        raise error("S2S118", span=s.span, name=stack.name.lstrip("%"))
    if fn is ops.pull:
        assert s.target is not None
        _push_bar(reverser, sweep, stack, s.target, s.span)
    elif fn is ops.push:
        _pull_bar(reverser, sweep, stack, value.args[1], s.span)  # type: ignore[arg-type]
    elif fn is ops.copy_stack:
        _give_back(reverser, sweep, stack, value.args[0], s.span)  # type: ignore[arg-type]
    return True


def _bar_of(reverser: Reverser, sweep: Sweep, stack: ir.Var) -> ir.Var:
    """The cotangent of a stack, made where the reverse of its block begins."""
    if stack not in reverser.stacks:
        bar = reverser.stacks[stack] = reverser.context.define(reverser.name(stack), ListOf(UNKNOWN))
        sweep.of(reverser.home_of(stack)).prologue.append(ir.Let(bar, ir.Call(_MAKE, ())))
    return reverser.stacks[stack]


def _push_bar(reverser: Reverser, sweep: Sweep, stack: ir.Var, item: ir.Var, span: ir.Span | None) -> None:
    reverser.pulled.setdefault(stack, item)
    known = reverser.context.value(item)
    parts: dict[Any, ir.Atom | None] = {p: control.at_join(reverser, sweep, (item, p), sweep) for p, _ in leaves(known)}
    bar = reverser.assemble(sweep, item, known, (), parts, span)
    sweep.builder.add(ir.Let(None, ir.Call(_PUSH, (_bar_of(reverser, sweep, stack), bar)), span))


def _pull_bar(reverser: Reverser, sweep: Sweep, stack: ir.Var, item: ir.Atom, span: ir.Span | None) -> None:
    like = reverser.pulled.get(stack)
    if like is None:  # nothing that was taken off matters
        return
    known = reverser.context.value(like)
    bar = reverser.context.define(reverser.name(item) if isinstance(item, ir.Var) else "%", like_tangent(known))
    sweep.builder.add(ir.Let(bar, ir.Call(_PULL, (_bar_of(reverser, sweep, stack),)), span))
    if not reverser.is_active(item) and not isinstance(known, (Sequence, Mapping)):
        return
    for path, _ in leaves(known):
        piece: ir.Atom = bar
        for key in path:
            piece = sweep.builder.call(operator.getitem, piece, ir.Const(key), span=span)
        control.seed(reverser, sweep, item, path, piece, like, span, False)


def _give_back(reverser: Reverser, sweep: Sweep, copy: ir.Var, stack: ir.Var, span: ir.Span | None) -> None:
    """The cotangent of a copy belongs to what was copied: it is handed over, or added where there are several."""
    if copy not in reverser.pulled:
        return
    reverser.pulled.setdefault(stack, reverser.pulled[copy])
    bar = reverser.stacks[copy]
    if sweep.region is reverser.home_of(stack):
        old = reverser.stacks.get(stack)
        added = None if old is None else sweep.builder.let(
            ir.Call(ir.Const(rt.add), (old, bar)), ListOf(UNKNOWN), reverser.name(stack), span)
        reverser.stacks[stack] = bar if added is None else added  # type: ignore[assignment]
        return
    if stack not in reverser.stacks:
        total = reverser.stacks[stack] = reverser.context.define(reverser.name(stack), ListOf(UNKNOWN))
        zeros = ir.Call(ir.Const(rt.zeros_of), (reverser.use(sweep, stack),))
        sweep.of(reverser.home_of(stack)).prologue.append(ir.Let(total, zeros))
    total = reverser.stacks[stack]
    both = sweep.builder.let(ir.Call(ir.Const(rt.add), (total, bar)), ListOf(UNKNOWN), "%", span)
    every = sweep.builder.call(slice, ir.Const(None), ir.Const(None), ir.Const(None), span=span)
    sweep.builder.store(total, every, both, None, span)
