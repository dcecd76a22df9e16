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

from s2s import runtime as rt
from s2s.analysis import raising
from s2s.analysis.effects import writes_outside
from s2s.analysis.functions import facts
from s2s.analysis.memory import Memory, changed_by
from s2s.builder import virtual_heap
from s2s.builder.builder import Builder, Context, is_constant_kind
from s2s.core import ir
from s2s.core.closures import Closure
from s2s.core.values import UNKNOWN, AbstractValue, Array, Known, Scalar, Sequence
from s2s.errors import DifferentiationError
from s2s.optimize.dead import is_pure_call
from s2s.specialize.frames import Frame, in_rule
from s2s.specialize.inplace import changes_any
from s2s.specialize.speculation import speculate
from s2s.specialize.unknown_effects import may_change_containers
from s2s.versions.facts import Guards

if TYPE_CHECKING:
    from s2s.specialize.specializer import Specializer

INLINE_DEPTH = 40
"""How many calls may be inlined in one another."""

TRIAL_DEPTH = 12
"""How many calls may be inlined in one another where another one is only tried out."""


MOST_EFFORT = 1500
"""So many calls are followed in calls that are tried out; from then on calls stay as they are. What is tried out and
cannot be followed is tried again in what it is a part of."""


@dataclass(frozen=True)
class Outcome:
    """What a call gives; whether it changes an argument in place, or assigns something outside, None where that is not
    known; whether its answer is settled now: an option, a function, a module, or a tuple of such, or an object; and
    whether it surely stores into no array but its own."""

    value: AbstractValue = UNKNOWN
    changes: bool | None = None
    is_settled: bool = False
    is_quiet: bool = False


def outcome_of(
    specializer: Specializer, fn: types.FunctionType, args: list[ir.Atom], kwargs: dict[Any, ir.Atom], frame: Frame,
    builder: Builder,
) -> Outcome:
    """What comes of a call, found by running its source on what is known."""
    depth = len(specializer.inliner.active_calls)
    too_deep = specializer.tried_from and depth - specializer.tried_from > TRIAL_DEPTH
    if (
        not specializer.inliner.may_try(fn, args)
        or depth >= INLINE_DEPTH
        or too_deep
        or specializer.effort > MOST_EFFORT
    ):
        return Outcome()
    key = _key(specializer, fn, args, kwargs, frame)
    within = depth, depth - (specializer.tried_from or depth)
    if key is not None and _is_refused(specializer.refused_outcomes.get(key), within):
        return Outcome()
    if key is not None and key in specializer.outcomes:
        found, guards = specializer.outcomes[key]
        if not specializer.unsure:
            specializer.guards.update(guards)
            return found
        if found.is_settled:  # what is written in its place reads the settings that hold here
            with specializer.guards.untold():
                specializer.guards.update(guards)
            return found
    relied_on = Guards()
    try:
        with (
            specializer.guards.apart(),
            speculate(specializer, builder, optional=True) as speculation,
            specializer.guards.untold(),
        ):
            specializer.tried_from = specializer.tried_from or depth
            atom = specializer.inliner.inline(fn, args, kwargs, frame, speculation.builder, None)
            found = _outcome(specializer.context, atom, [*args, *kwargs.values()], speculation.builder)
            relied_on = specializer.guards.copy()
            speculation.discard()
    except Exception:
        if key is not None:
            specializer.refused_outcomes[key] = within
        return Outcome()
    specializer.guards.update(relied_on)
    if key is not None:
        specializer.outcomes[key] = found, relied_on
    return found


def _is_refused(refused: tuple[int, int] | None, within: tuple[int, int]) -> bool:
    """Whether a call could not be followed before, within as few other calls as now or fewer: what is nested deeper is
    followed less far."""
    return refused is not None and refused[0] <= within[0] and refused[1] <= within[1]


def _outcome(context: Context, atom: ir.Atom, given: list[ir.Atom], made: Builder) -> Outcome:
    """What a call gives whose statements were written into a builder of its own."""
    is_settled = (
        _is_settled(context, atom, {*given}) or _makes_array(context, atom, made) or _makes_object(context, atom, made)
    )
    changes = changes_any(given, made, context)
    if changes is False and any(map(_assigns_outside, ir.walk(made.block()))):
        changes = True
    return Outcome(kind_of(context.value(atom)), changes, is_settled, _is_quiet(context, made))


def _assigns_outside(s: ir.Statement) -> bool:
    """Whether a statement assigns an attribute of an object from outside, or a variable of a module."""
    return isinstance(s, ir.Let) and isinstance(s.value, ir.Call) and s.value.fn in _ASSIGNS


_ASSIGNS = (ir.Const(rt.record_attribute), ir.Const(rt.record_variable))


def _is_quiet(context: Context, made: Builder) -> bool:
    """Whether statements that were tried out store into no array but those made by them, and run nothing unknown."""
    block = made.block()
    statements = [*ir.walk(block)]
    if any(may_change_containers(s, context) or writes_outside(s) for s in statements):
        return False
    changed = [a for s in statements if (a := changed_by(s)) is not None]
    memory = Memory(ir.Function("", (), block), context.value) if changed else None
    return memory is None or all(isinstance(a, ir.Var) and _is_made(memory, a) for a in changed)


def _is_made(memory: Memory, var: ir.Var) -> bool:
    """Whether a call has made an array: it was not read from a variable or an object."""
    made = memory.made.get(var)
    return isinstance(made, ir.Call) and made.fn != ir.Const(getattr) and memory.is_new(var)


def kind_of(value: AbstractValue) -> AbstractValue:
    """What is taken over of a result where the call stays: the kinds of numbers and arrays, and of tuples of these."""
    match value:
        case Scalar() | Array():
            return value
        case Known() if value.value is None or isinstance(value.value, (np.finfo, np.iinfo)):
            return value
        case Sequence(kind, items) if kind is tuple:
            made = tuple(map(kind_of, items))
            return UNKNOWN if UNKNOWN in made else Sequence(tuple, made)
        case _:
            return UNKNOWN


def _is_settled(context: Context, atom: ir.Atom, given: set[ir.Atom]) -> bool:
    """Whether an atom is an option or a number, a function or a module, a tuple or dict with such items, an argument,
    a list of arguments and constants, or an object that was there before."""
    if isinstance(atom, ir.Const):
        return is_constant_kind(atom.value) or type(atom.value) in (int, float)
    if atom in given:
        return True
    cell = virtual_heap.cell_of(context, atom)
    if cell is not None and cell.origin is not None:
        return True
    state, value = virtual_heap.state_of(context, atom), context.value(atom)
    items: tuple[AbstractValue, ...] = value.items if isinstance(value, Sequence) and value.type is tuple else ()
    if state is not None and state.kind is list and state.whole is None and not state.borrowed:
        return all(isinstance(a, ir.Const) or a in given for a in state.items)
    if state is not None and state.kind in (tuple, dict):
        items = tuple(map(context.value, state.items))
    return any(isinstance(i, Known) and is_constant_kind(i.value) and i.value is not None for i in items)


def _makes_object(context: Context, atom: ir.Atom, trial: Builder) -> bool:
    """Whether a call makes an object, and does nothing that depends on the run."""
    state = virtual_heap.state_of(context, atom)
    if state is None or not virtual_heap.is_instance(state):
        return False
    return all(
        isinstance(s, ir.Note) or (isinstance(s, ir.Let) and (isinstance(s.value, ir.Load) or is_pure_call(s.value)))
        for s in trial.statements
    )


def _makes_array(context: Context, atom: ir.Atom, trial: Builder) -> bool:
    """Whether a call does little more than make an array, which others may change afterwards."""
    made = context.definitions.get(atom) if isinstance(atom, ir.Var) else None
    makes = isinstance(made, ir.Call) and isinstance(made.fn, ir.Const) and facts(made.fn.value).fills
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


FEW = 4
"""A call that makes an array, with at most as many statements, is written where it stands."""


def _key(
    specializer: Specializer, fn: types.FunctionType, args: list[ir.Atom], kwargs: dict[Any, ir.Atom], frame: Frame
) -> Any:
    """What an outcome depends on; None where it depends on more than the values of the arguments."""
    heap = specializer.context.heap
    if any(c.origin is not None and heap.peek(c) is not c.origin.state for c in heap.states):
        return None
    parts: list[Any] = []
    for name, atom in (*enumerate(args), *sorted(kwargs.items())):
        value = specializer.context.value(atom)
        if not isinstance(atom, ir.Const) and (specializer.context.is_virtual(atom) or isinstance(value, Closure)):
            return None
        parts.append((name, atom if isinstance(atom, ir.Const) else value))
    return fn, tuple(parts), in_rule(frame), bool(specializer.trying)


def inlined_if_possible(
    specializer: Specializer, fn: types.FunctionType, args: list[ir.Atom], kwargs: dict[Any, ir.Atom], frame: Frame,
    builder: Builder, span: ir.Span | None,
) -> ir.Atom | None:
    """A call with nothing differentiated in it, in place: so what it does to its arguments is known. None where its
    source cannot be followed."""
    inliner = specializer.inliner
    if not inliner.may_try(fn, args) or len(inliner.active_calls) >= INLINE_DEPTH or specializer.effort > MOST_EFFORT:
        return None
    try:
        with speculate(specializer, builder, optional=True) as speculation:
            result = inliner.inline(fn, args, kwargs, frame, speculation.builder, span)
            if not raising.ends(speculation.builder.statements):
                return result
            speculation.discard()
    except DifferentiationError:
        pass
    return None


__all__ = ["INLINE_DEPTH", "Outcome", "inlined_if_possible", "kind_of", "outcome_of"]
