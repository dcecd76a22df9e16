"""Calls with nothing differentiated in them, tried out on what is known: what they give and what they change.

Library code asks such functions what to do: which namespace an array belongs to, which dtype an option stands for. The
function is specialised on what is known of its arguments. Where that settles the answer the call is replaced by it;
otherwise the call stays as it is, and only the kind of its result is taken over.
"""

from __future__ import annotations

import types
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from s2s import ir
from s2s.analysis.values import UNKNOWN, AbstractValue, Array, Closure, Known, Scalar, Sequence
from s2s.errors import DifferentiationError
from s2s.passes import heap as objects
from s2s.passes.build import Builder, Context, is_constant_kind
from s2s.passes.dead import is_pure_call
from s2s.passes.frames import Frame, in_rule
from s2s.passes.inplace import changes_any

if TYPE_CHECKING:
    from s2s.passes.specialize import Specializer

INLINE_DEPTH = 40
"""How many calls may be inlined in one another."""

TRIAL_DEPTH = 12
"""How many calls may be inlined in one another where another one is only tried out."""


@dataclass(frozen=True)
class Outcome:
    """What a call gives; whether it changes an argument in place, None where that is not known; and whether its answer
    is settled now: an option, a function, a module, or a tuple of such."""

    value: AbstractValue = UNKNOWN
    changes: bool | None = None
    is_settled: bool = False


def outcome_of(
    self: Specializer, fn: types.FunctionType, args: list[ir.Atom], kwargs: dict[Any, ir.Atom], frame: Frame,
    builder: Builder,
) -> Outcome:
    """What comes of a call, found by running its source on what is known."""
    if fn in self.active_calls or len(self.active_calls) > TRIAL_DEPTH:
        return Outcome()
    key = _key(self, fn, args, kwargs, frame)
    if key is not None and key in self.outcomes:
        found, guards = self.outcomes[key]
        self.guards |= guards
        return found
    before, heap, trial = dict(self.guards), self.context.heap, builder.child()
    self.context.heap = heap.copy()
    self.followed += 1
    try:
        atom = self.inline(fn, args, kwargs, frame, trial, None)
        is_settled = _is_settled(self.context, atom) or _makes_array(self.context, atom, trial)
    except Exception:
        self.guards = before
        return Outcome()
    finally:
        self.followed -= 1
        self.context.heap = heap
    value = self.context.value(atom)
    changes = changes_any([*args, *kwargs.values()], trial, self.context)
    found = Outcome(value if isinstance(value, (Scalar, Array)) else UNKNOWN, changes, is_settled)
    if key is not None:
        self.outcomes[key] = found, {k: g for k, g in self.guards.items() if k not in before}
    return found


def _is_settled(context: Context, atom: ir.Atom) -> bool:
    """Whether an atom is an option, a function or a module, or a tuple with such items."""
    if isinstance(atom, ir.Const):
        return is_constant_kind(atom.value)
    state, value = objects.state_of(context, atom), context.value(atom)
    items: tuple[AbstractValue, ...] = value.items if isinstance(value, Sequence) and value.type is tuple else ()
    if state is not None and state.kind is tuple:
        items = tuple(map(context.value, state.items))
    return any(isinstance(i, Known) and is_constant_kind(i.value) and i.value is not None for i in items)


def _makes_array(context: Context, atom: ir.Atom, trial: Builder) -> bool:
    """Whether a call does little more than make an array, which others may change afterwards."""
    made = context.definitions.get(atom) if isinstance(atom, ir.Var) else None
    makes = isinstance(made, ir.Call) and isinstance(made.fn, ir.Const) and made.fn in _NEW_ARRAYS
    needed, count = {atom}, 0
    for statement in reversed(trial.statements if makes else ()):
        if isinstance(statement, ir.Note):
            continue
        if not isinstance(statement, ir.Let) or not is_pure_call(statement.value):
            return False
        if statement.target in needed:
            needed.update(ir.atoms_of(statement.value))
            count += 1
    return makes and count <= FEW


_MAKERS: tuple[Any, ...] = (
    np.zeros, np.ones, np.empty, np.full, np.zeros_like, np.ones_like, np.empty_like, np.full_like,
)
_NEW_ARRAYS = tuple(map(ir.Const, _MAKERS))

FEW = 4
"""A call that makes an array, with at most as many statements, is written where it stands."""


def _key(
    self: Specializer, fn: types.FunctionType, args: list[ir.Atom], kwargs: dict[Any, ir.Atom], frame: Frame
) -> Any:
    """What an outcome depends on; None where it depends on more than the values of the arguments."""
    heap = self.context.heap
    if any(c.origin is not None and heap.peek(c) is not c.origin.state for c in heap.states):
        return None
    parts: list[Any] = []
    for name, atom in (*enumerate(args), *sorted(kwargs.items())):
        value = self.context.value(atom)
        if not isinstance(atom, ir.Const) and (self.context.is_virtual(atom) or isinstance(value, Closure)):
            return None
        parts.append((name, atom if isinstance(atom, ir.Const) else value))
    return fn, tuple(parts), in_rule(frame), bool(self.trying)


def inlined_if_possible(
    self: Specializer, fn: types.FunctionType, args: list[ir.Atom], kwargs: dict[Any, ir.Atom], frame: Frame,
    builder: Builder, span: ir.Span | None,
) -> ir.Atom | None:
    """A call with nothing differentiated in it, in place: so what it does to its arguments is known. None where its
    source cannot be followed."""
    if fn in self.active_calls or len(self.active_calls) >= INLINE_DEPTH:
        return None
    before, guards = self.context.heap, dict(self.guards)
    self.context.heap, child = before.copy(), builder.child()
    self.followed += 1
    try:
        result = self.inline(fn, args, kwargs, frame, child, span)
    except DifferentiationError:
        self.context.heap, self.guards = before, guards
        return None
    finally:
        self.followed -= 1
    if child.statements and isinstance(child.statements[-1], ir.Raise):
        self.context.heap, self.guards = before, guards
        return None
    builder.statements.extend(child.statements)
    return result


__all__ = ["INLINE_DEPTH", "Outcome", "inlined_if_possible", "outcome_of"]
