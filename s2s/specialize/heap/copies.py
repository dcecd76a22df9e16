"""Copies of containers and objects: ``copy``, ``copy.copy`` and ``copy.deepcopy``."""

from __future__ import annotations

import collections
import copy
import itertools
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.analysis import functions
from s2s.analysis.memory import can_share
from s2s.builder import virtual_heap
from s2s.builder.builder import Context
from s2s.builder.virtual_heap import State, cell_of, is_instance
from s2s.core import ir
from s2s.core.values import Array, ListOf, Mapping, Sequence
from s2s.models import iterating
from s2s.specialize.heap.making import Operation, new, new_dict, new_list
from s2s.specialize.site import At

__all__ = ["MAKERS", "OPERATIONS"]


def _copy(at: At, value: ir.Atom, *memo: ir.Atom) -> ir.Atom | None:
    """A new object that holds the same items."""
    cell = cell_of(at.context, value)
    if cell is None:
        return None
    state = at.context.heap.state(cell, at.span)
    if issubclass(state.kind, tuple):
        return value
    if is_instance(state):
        return at.specializer.instances.copied(at, cell)
    found = virtual_heap.contents(at.builder, cell, at.span)
    if found is None:
        return virtual_heap.make_cell(at.context, state, at.name, at.span).var
    return new(at, State(state.kind, tuple(found), tuple(found.values()), extra=state.extra))


def _deepcopy(at: At, value: ir.Atom, *memo: ir.Atom) -> ir.Atom | None:
    """A new object that holds copies of what this one holds: one copy of each array and object, however often it is
    held."""
    known = at.value(value)
    if cell_of(at.context, value) is None and not (isinstance(known, (Sequence, Mapping)) and can_share(known)):
        return None
    done: dict[ir.Atom, ir.Atom] = {}
    made = _deep(at, value, done)
    arrays = [a for a in done if isinstance(at.value(a), Array)]
    for one, other in itertools.combinations(arrays, 2):
        if not (_is_made(at.context, one) and _is_made(at.context, other)):
            at.builder.call(rt.check_two, one, other, span=at.span, effect=True)
    return made


def _is_made(context: Context, atom: ir.Atom) -> bool:
    """Whether an array is made by the statement that defines its variable: it is no other variable's."""
    made = context.definitions.get(atom) if isinstance(atom, ir.Var) else None
    return isinstance(made, ir.Call) and isinstance(made.fn, ir.Const) and functions.gives_new(
        made.fn.value, made.kwargs, len(made.args))


def _deep(at: At, value: ir.Atom, done: dict[ir.Atom, ir.Atom]) -> ir.Atom:
    if value not in done:
        done[value] = _deep_object(at, value, done) if cell_of(at.context, value) is not None else _deep_value(
            at, value, done)
    return done[value]


def _deep_value(at: At, value: ir.Atom, done: dict[ir.Atom, ir.Atom]) -> ir.Atom:
    """A copy of an array, or of a container that is an ordinary value."""
    known = at.value(value)
    if not can_share(known):
        return value
    if isinstance(known, Array):
        return at.compute(np.copy, value)
    if isinstance(known, Mapping):
        return new_dict(at, {k: _deep(at, a, done) for k, a in (at.entries(value) or {}).items()})
    if isinstance(known, Sequence) and known.type in (list, tuple):
        return new_list(at, [_deep(at, a, done) for a in at.items(value) or ()], known.type)
    return at.call(copy.deepcopy, [value], name="%").leave()


def _deep_object(at: At, value: ir.Atom, done: dict[ir.Atom, ir.Atom]) -> ir.Atom:
    """A copy of an object of the heap."""
    heap, cell = at.context.heap, cell_of(at.context, value)
    assert cell is not None
    state = heap.state(cell, at.span)
    if is_instance(state):
        made = done[value] = at.specializer.instances.copied(at, cell)
        own = cell_of(at.context, made)
        assert own is not None
        entries = heap.state(own).entries()
        heap.states[own] = heap.state(own).with_entries({k: _deep(at, v, done) for k, v in entries.items()})
        return made
    found = virtual_heap.contents(at.builder, cell, at.span)
    if found is None:
        known = None if state.whole is None else at.value(state.whole)
        if isinstance(known, ListOf) and not can_share(known.item):
            return virtual_heap.make_cell(at.context, state, at.name, at.span).var
        return at.inline(iterating.copied, [value])
    copied = {k: _deep(at, v, done) for k, v in found.items()}
    return new(at, State(state.kind, tuple(copied), tuple(copied.values()), extra=state.extra))


MAKERS: dict[Any, Operation] = {copy.deepcopy: _deepcopy}
"""What makes a new container, also where no argument is an object on the heap."""

OPERATIONS: dict[Any, Operation] = {
    **MAKERS,
    copy.copy: _copy,
    list.copy: _copy,
    dict.copy: _copy,
    collections.deque.copy: _copy,
    collections.defaultdict.copy: _copy,
}
"""What copies containers."""
