"""Undoing stores: which of them overwrite what the reverse sweep reads, what is kept of them, how it is restored.

A store has to be undone where some statement that runs before it reads, in its reverse, what the array held. The order
of two statements follows from their places in the text and from the loops around both; in a loop over an ascending
range that reads ``a[:i]`` and stores into ``a[i]``, what is read was stored before, and nothing is kept.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import numpy as np

from s2s.analysis.abstract.lattice import dtype_of, is_number
from s2s.analysis.memory import is_copied, may_repeat
from s2s.builder.builder import Builder
from s2s.core import ir
from s2s.core.values import AbstractValue, Array
from s2s.errors import error
from s2s.reverse.residuals.decisions import Reason
from s2s.reverse.residuals.sweep import Sweep

if TYPE_CHECKING:
    from s2s.reverse.sweeps import Reverser

WHOLE = ir.Const(Ellipsis)
"""The index of all that an array holds."""


def undo(reverser: Reverser, s: ir.Store, sweep: Sweep) -> None:
    """Give back what a store has overwritten."""
    assert isinstance(s.target, ir.Var)
    reverser.planner.plan.add(s.target, "undo", Reason.OVERWRITTEN, span=s.span)
    target = reverser.use(sweep, s.target)
    old = reverser.use(sweep, reverser.old[id(s)])
    key: ir.Atom = WHOLE if s.kind in ("whole", "opaque") else reverser.use_content(sweep, s.key)
    sweep.builder.add(ir.Store("item", target, key, old, None, s.span))



def with_old_contents(reverser: Reverser, block: ir.Block, chosen: frozenset[int]) -> ir.Block:
    """The block with what the chosen stores overwrite kept in a variable before them."""
    made: list[ir.Statement] = []
    for s in block.statements:
        if isinstance(s, ir.Store) and id(s) in chosen:
            made += _old_content(reverser, s)
        made.append(ir.with_blocks(s, [with_old_contents(reverser, inner, chosen) for inner in ir.blocks_of(s)]))
    return ir.Block(tuple(made), block.yields)


def _old_content(reverser: Reverser, s: ir.Store) -> list[ir.Statement]:
    context = reverser.context
    assert isinstance(s.target, ir.Var)
    array = context.value(s.target)
    if not isinstance(array, Array):
        raise error("S2S112", span=s.span, name=s.target.name.lstrip("%") or "an expression")
    if s.kind in ("whole", "opaque") or s.key == WHOLE:
        old = context.define("%", array, False)
        made = [ir.Let(old, ir.Call(ir.Const(np.copy), (s.target,)), s.span)]
    else:
        known = context.evaluator.call(operator.getitem, (array, context.value(s.key)), {})
        read = ir.Call(ir.Const(operator.getitem), (s.target, s.key))
        old = context.define("%", known, False)
        made = [ir.Let(old, read, s.span)]
        if not is_number(known) and not is_copied(array, context.value(s.key)):
            view, old = old, context.define("%", known, False)
            made.append(ir.Let(old, ir.Call(ir.Const(np.copy), (view,)), s.span))
    reverser.old[id(s)] = old
    context.old_contents.update(let.target for let in made if let.target is not None)
    return made  # type: ignore[return-value]


def stores_to_undo(reverser: Reverser) -> set[int]:
    """The stores that overwrite what the reverse sweep reads: those that may run after the read in the primal."""
    found = set(reverser.wanted)
    for s in ir.walk(reverser.primal.body):
        if isinstance(s, ir.Store) and isinstance(s.target, ir.Var):
            root, read = reverser.memory.find(s.target), reverser.reading.contents
            same = (one for one in read if reverser.memory.find(one[0]) == root)
            if any(reverser.order.may_change(s, var, at, key) for var, at, key in same):
                found.add(id(s))
    return found - covered(reverser, found) | reverser.wanted


def overwritten_later(reverser: Reverser, var: ir.Var) -> set[int]:
    """The stores that may change a buffer after the present statement has read it."""
    root = reverser.memory.find(var)
    stores = (s for s in reverser.placement.statements if reverser.memory.find(s.target) == root)  # type: ignore[arg-type]
    return {id(s) for s in stores if reverser.order.may_change(s, var, reverser.now)}


def covered(reverser: Reverser, stores: set[int]) -> set[int]:
    """The stores among these that need not be undone, because another one of them before gives back all that they
    change, and the reverse sweep reads nothing of it in between."""
    placement, found = reverser.placement, set[int]()
    wholes = [w for w in placement.statements if id(w) in stores and (w.kind in ("whole", "opaque") or w.key == WHOLE)]
    for s in placement.statements if wholes else ():
        assert isinstance(s.target, ir.Var)
        root, at = reverser.memory.find(s.target), placement.begins[id(s)]
        read = [
            placement.begins.get(reader, at) for var, reader, _ in reverser.reading.contents
            if reverser.memory.find(var) == root
        ]
        for w in wholes:
            before = placement.begins[id(w)]
            near = before < at and placement.places[id(w)] is placement.places[id(s)]
            if near and _lies_in(reverser, s.target, w.target) and not any(before < r <= at for r in read):
                found.add(id(s))
    return found & stores


def _lies_in(reverser: Reverser, var: ir.Var | None, whole: ir.Atom) -> bool:
    """Whether an array is certainly another one, or a view of it."""
    while var is not None and var != whole:
        var = reverser.memory.base_of(var)
    return var is not None


def read_back(reverser: Reverser, s: ir.Store, sweep: Sweep) -> None:
    """Let the reverse sweep find a value that a store has put into an array there, before the store is undone: so it
    need not be kept for every iteration."""
    value, array = s.value, reverser.context.value(s.target)
    if s.kind != "item" or s.op is not None or not isinstance(value, ir.Var) or value in sweep.restored:
        return
    home = reverser.planner.home.get(value)
    if home is not sweep.region or home.residual_loop() is None or reverser.memory.is_buffer(value):
        return
    known = reverser.context.value(value)
    place = Builder(reverser.context).call(operator.getitem, s.target, s.key)
    if not isinstance(array, Array) or not _is_exact(known, reverser.context.value(place), array):
        return
    if not _stays(reverser, s):
        return
    assert isinstance(s.target, ir.Var)
    target, key = reverser.use(sweep, s.target), reverser.use_content(sweep, s.key)
    found = sweep.builder.call(operator.getitem, target, key, span=s.span)
    if isinstance(known, Array):
        found = sweep.builder.call(np.copy, found, name=value.name, span=s.span)
    if isinstance(found, ir.Var):
        sweep.restored[value] = found
        reverser.planner.plan.add(value, "in scope", Reason.STORED, s.target, s.span)
        sweep.late.add(value)


def held(reverser: Reverser, s: ir.Store, sweep: Sweep) -> ir.Atom | None:
    """What ``a[i] op= v`` has put into an array, read there before the store is undone; None where it is not there."""
    array = reverser.context.value(s.target)
    index = ir.Const(Ellipsis) if s.kind == "whole" else s.key
    if s.kind not in ("item", "whole") or not isinstance(array, Array) or array.dtype.kind not in "fc":
        return None
    if may_repeat(reverser.context.value(index)) or not _stays(reverser, s):
        return None
    assert isinstance(s.target, ir.Var)
    found = reverser.use(sweep, s.target)
    if index != WHOLE:
        found = sweep.builder.call(operator.getitem, found, reverser.use_content(sweep, index), span=s.span)
    if id(s) in reverser.old and not is_number(reverser.context.value(found)):
        found = sweep.builder.call(np.copy, found, span=s.span)
    return found


def _stays(reverser: Reverser, s: ir.Store) -> bool:
    """Whether the reverse of a store finds in the array what it has put there: other stores do not change it, or are
    undone by then."""
    assert isinstance(s.target, ir.Var)
    root, key = reverser.memory.find(s.target), None if s.kind == "whole" else s.key
    return not any(
        reverser.memory.find(other.target) == root and reverser.order.may_change(other, s.target, id(s), key)  # type: ignore
        for other in reverser.placement.statements if id(other) not in reverser.undone_stores
    )


def _is_exact(value: AbstractValue, place: AbstractValue, array: Array) -> bool:
    """Whether an array holds exactly what was stored: a number or an array of its dtype, and not repeated."""
    if is_number(value):
        return is_number(place) and array.dtype == np.float64 and dtype_of(value) == array.dtype
    return isinstance(value, Array) and isinstance(place, Array) and value == place and bool(value.shape)


__all__ = ["WHOLE", "held", "overwritten_later", "read_back", "stores_to_undo", "undo", "with_old_contents"]
