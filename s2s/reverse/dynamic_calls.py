"""Calls that are decided when the program runs: ``y, y_pullback = rt.call(f, x)`` in the forward sweep, a call of the
pullback in the reverse sweep."""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from s2s import runtime as rt
from s2s.builder.builder import Builder
from s2s.core import ir, ops
from s2s.core.inspection import public_module
from s2s.core.values import UNKNOWN, Array, Scalar
from s2s.errors import error, result_is_changed
from s2s.reverse import user_rules
from s2s.reverse.residuals.sweep import Sweep
from s2s.reverse.structural import is_spread, is_structural
from s2s.rules import table
from s2s.runtime import repeated_calls
from s2s.specialize.checkpoints import is_replayed

if TYPE_CHECKING:
    from s2s.reverse.sweeps import Reverser

__all__ = ["DynamicCall", "resolve_dynamic_calls", "pull_back"]


@dataclass
class DynamicCall:
    """A call that is decided at run time: which variable its pullback is."""

    pullback: ir.Var
    args: tuple[ir.Atom | ir.Star, ...]
    kwargs: tuple[tuple[str | None, ir.Atom], ...] = field(default=())
    call: ir.Call | None = None


def resolve_dynamic_calls(reverser: Reverser, block: ir.Block) -> ir.Block:
    """Calls without a rule at hand give their result and a pullback: ``y, y_pullback = rt.call(f, x)``."""
    made: list[ir.Statement] = []
    for statement in block.statements:
        again = reverser.is_replayed
        reverser.is_replayed = again or is_replayed(statement)
        match statement:
            case ir.Let(target, ir.Call(fn, args, kwargs) as call, span) if _gets_pullback(reverser, target) and (
                _is_unresolved(fn) or is_spread(call) or user_rules.runs_once(reverser, target, call)
            ):
                assert target is not None
                made.extend(_dynamic_call(reverser, target, fn, args, kwargs, span))
            case ir.Let():
                made.append(statement)
            case ir.For(body=body) | ir.While(body=body):
                inner = resolve_dynamic_calls(reverser, body)
                made.append(statement if inner is body else ir.replace(statement, body=inner))
            case _:
                before = ir.blocks_of(statement)
                blocks = [resolve_dynamic_calls(reverser, b) for b in before]
                is_same = all(map(operator.is_, blocks, before))
                made.append(statement if is_same else ir.with_blocks(statement, blocks))
        reverser.is_replayed = again
    is_same = len(made) == len(block.statements) and all(map(operator.is_, made, block.statements))
    return block if is_same else ir.Block(tuple(made), block.yields)


def _gets_pullback(reverser: Reverser, target: ir.Var | None) -> bool:
    """Whether a call gets a pullback: the result needs its derivative, or it may change what is differentiated.
    Then it is transformed when it runs, and a change is refused."""
    if target in reverser.context.effects:
        reverser.context.must_keep.add(target)
        return True
    return target in reverser.useful


def _is_unresolved(fn: ir.Atom) -> bool:
    if not isinstance(fn, ir.Const):
        return True
    if any(fn.value is known for known in (getattr, *ops.STACKS)):
        return False
    return not is_structural(fn.value) and not table.is_settled(fn.value)


_ITERATORS = (zip, enumerate, reversed)
"""What makes an iterator, whose items are in no container."""

_DISPLAYS = {"make_set": "a set", "add_to_set": "a set comprehension", "merge_dict": "`{**a, **b}`"}
"""What the user wrote for an operation whose result cannot carry derivatives, where it does."""


def _dynamic_call(
    reverser: Reverser, target: ir.Var, fn: ir.Atom, args: Any, kwargs: Any, span: ir.Span | None
) -> list[ir.Statement]:
    own = isinstance(fn, ir.Const) and public_module(fn.value) in (ops.__name__, rt.__name__)
    own = own or (isinstance(fn, ir.Const) and any(fn.value is made for made in _ITERATORS))
    if isinstance(fn, ir.Const) and own and table.find(fn.value) is None:
        raise error("S2S210", span=span, name=_DISPLAYS.get(fn.value.__name__, fn.value.__name__))
    builder = Builder(reverser.context)
    runtime: Any = rt.call_again if reverser.is_replayed else rt.call
    given, pulled = (fn, *args), args
    if reverser.context.is_varied(fn):
        made = reverser.context.method_of(fn, span)
        runtime = rt.call_method_again if reverser.is_replayed else rt.call_method
        given, pulled = (*made, *args), (made[0], *args)
    if reverser.memory.is_buffer(target):
        raise result_is_changed(target.name.lstrip("%"), span)
    given = tuple(_as_it_is(reverser, builder, a, span) for a in given)
    kwargs = tuple((k, _as_it_is(reverser, builder, a, span)) for k, a in kwargs)
    pair = reverser.context.define("%", UNKNOWN)
    call = ir.Call(ir.Const(runtime), given, kwargs)
    builder.add(ir.Let(pair, call, span))
    reverser.context.definitions[pair] = call
    both = builder.let(
        ir.Call(ir.Const(ops.unpack), (pair, ir.Const(2), ir.Const(None))), UNKNOWN, span=span
    )
    reverser.context.runtime_objects |= {pair, both}  # made by this run and read by it alone
    first = ir.Call(ir.Const(operator.getitem), (both, ir.Const(0)))
    builder.add(ir.Let(target, first, span))
    base = reverser.context.name_of(target)
    pullback = reverser.context.define(f"{base}_pullback", UNKNOWN)
    second = ir.Call(ir.Const(operator.getitem), (both, ir.Const(1)))
    builder.add(ir.Let(pullback, second, span))
    reverser.pulls[target] = DynamicCall(pullback, pulled, kwargs, call)
    return builder.statements


def _as_it_is(reverser: Reverser, builder: Builder, argument: Any, span: ir.Span | None) -> Any:
    """An argument of a call whose pullback reads it later: a copy of an array that changes meanwhile."""
    is_array = isinstance(argument, ir.Var) and isinstance(reverser.context.value(argument), Array)
    if is_array and reverser.memory.is_buffer(argument):
        return builder.call(np.copy, argument, span=span)
    return argument


def pull_back(reverser: Reverser, target: ir.Var, span: ir.Span | None, sweep: Sweep) -> None:
    """The reverse of a call that was decided at run time: call its pullback."""
    pull = reverser.pulls[target]
    g = reverser.full_bar_of(sweep, target, span)
    if g is None:
        return
    bars = sweep.builder.let(_pulling(reverser, target, g, span, sweep), UNKNOWN, "%_bars", span)
    args = [a.atom if isinstance(a, ir.Star) else a for a in pull.args]
    starred = [k for k, a in enumerate(pull.args) if isinstance(a, ir.Star)]
    if starred and (starred != [len(args) - 1] or pull.kwargs):
        raise error("S2S207", span=span)
    for k, atom in enumerate([*args, *(a for _, a in pull.kwargs)]):
        if reverser.is_active(atom):
            index = ir.Const(k)
            if k in starred:
                index = sweep.builder.call(slice, ir.Const(k), ir.Const(None), ir.Const(None))  # type: ignore[assignment]
            known = reverser.context.value(atom)
            is_float = (isinstance(known, Array) and known.dtype.kind in "fc") or (
                isinstance(known, Scalar) and issubclass(known.type, (float, complex, np.inexact)))
            read = operator.getitem if is_float or k in starred else rt.pulled
            piece = sweep.builder.call(read, bars, index, span=span)
            reverser.contribute(sweep, atom, piece, span)


def _pulling(reverser: Reverser, target: ir.Var, g: ir.Atom, span: ir.Span | None, sweep: Sweep) -> ir.Call:
    """A call of the pullback. In a derivative that is differentiated again a call that makes the pullback anew: what it
    holds is hidden from the second derivative, its arguments are not."""
    pull = reverser.pulls[target]
    if not reverser.is_inner:
        return ir.Call(reverser.use(sweep, pull.pullback), (g,))
    assert pull.call is not None
    if pull.kwargs or any(isinstance(a, ir.Star) for a in pull.call.args):
        raise error("S2S210", span=span, name="a call with keywords or a starred argument")
    is_function = pull.call.fn == ir.Const(rt.call)
    again: Any = repeated_calls.cotangents_of_call if is_function else repeated_calls.cotangents_of_method
    given = (target, *pull.call.args)
    for atom in given:
        reverser.note_read(atom)  # type: ignore[arg-type]
    return ir.Call(ir.Const(again), (g, *(reverser.use(sweep, a) for a in given)))  # type: ignore[arg-type]
