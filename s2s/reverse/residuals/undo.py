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
from s2s.analysis.memory import is_basic, is_copied
from s2s.analysis.regions import Region
from s2s.builder.builder import Builder
from s2s.core import ir, ops
from s2s.core.values import AbstractValue, Array, Known
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
            if any(reverser.memory.find(var) == root and _overwrites(reverser, s, var, at) for var, at in read):
                found.add(id(s))
    return found - covered(reverser, found) | reverser.wanted


def overwritten_later(reverser: Reverser, var: ir.Var) -> set[int]:
    """The stores that may change a buffer after the present statement has read it."""
    root = reverser.memory.find(var)
    stores = (s for s in reverser.placement.statements if reverser.memory.find(s.target) == root)  # type: ignore[arg-type]
    return {id(s) for s in stores if _overwrites(reverser, s, var, reverser.now)}


def covered(reverser: Reverser, stores: set[int]) -> set[int]:
    """The stores among these that need not be undone, because another one of them before gives back all that they
    change, and the reverse sweep reads nothing of it in between."""
    placement, found = reverser.placement, set[int]()
    wholes = [w for w in placement.statements if id(w) in stores and (w.kind in ("whole", "opaque") or w.key == WHOLE)]
    for s in placement.statements if wholes else ():
        assert isinstance(s.target, ir.Var)
        root, at = reverser.memory.find(s.target), placement.begins[id(s)]
        read = [
            placement.begins.get(reader, at) for var, reader in reverser.reading.contents
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
    assert isinstance(s.target, ir.Var)
    root = reverser.memory.find(s.target)
    for other in reverser.placement.statements:
        if reverser.memory.find(other.target) == root and id(other) not in reverser.undone_stores:  # type: ignore[arg-type]
            if _overwrites(reverser, other, s.target, id(s), s.key):
                return
    target, key = reverser.use(sweep, s.target), reverser.use_content(sweep, s.key)
    found = sweep.builder.call(operator.getitem, target, key, span=s.span)
    if isinstance(known, Array):
        found = sweep.builder.call(np.copy, found, name=value.name, span=s.span)
    if isinstance(found, ir.Var):
        sweep.restored[value] = found
        reverser.planner.plan.add(value, "in scope", Reason.STORED, s.target, s.span)
        sweep.late.add(value)


def _is_exact(value: AbstractValue, place: AbstractValue, array: Array) -> bool:
    """Whether an array holds exactly what was stored: a number or an array of its dtype, and not repeated."""
    if is_number(value):
        return is_number(place) and array.dtype == np.float64 and dtype_of(value) == array.dtype
    return isinstance(value, Array) and isinstance(place, Array) and value == place and bool(value.shape)


# --- order ----------------------------------------------------------------------------------------------------------


def _overwrites(reverser: Reverser, s: ir.Store, var: ir.Var, reader: int, key: ir.Atom | None = None) -> bool:
    """Whether a store may change what a statement has read of a variable before, at an index where there is one."""
    begins, places = reverser.placement.begins, reverser.placement.places
    if reader not in begins or id(s) not in begins:
        return True
    earlier = begins[reader] < begins[id(s)]
    pair = _parts(reverser, s, var, key)
    for region in _loops_around(places[id(s)]):
        if not places[reader].inside(region):
            continue
        if pair is not None and reverser.home_of(pair[0]).inside(region):
            continue  # each iteration has an array of its own
        gap = None if pair is None else _gap(reverser, region, pair[1], pair[2])
        if gap is None or gap < 0:
            return True
        if gap > 0:
            return False
    return earlier


def _loops_around(region: Region) -> list[Region]:
    """The loop bodies around a place of which one iteration finds in memory what another one has left there, the
    outermost first: where the reverse sweep replays an iteration, it restores the contents of the arrays."""
    found = []
    loop = region.innermost_loop()
    while loop is not None:
        if not loop.is_replayed:
            found.append(loop)
        loop = loop.parent.innermost_loop() if loop.parent is not None else None
    return found[::-1]


def _parts(
    reverser: Reverser, s: ir.Store, var: ir.Var, key: ir.Atom | None
) -> tuple[ir.Var, list[ir.Atom], list[ir.Atom]] | None:
    """The array, the indices of a store into it, and those of the view of it through which a variable is read."""
    if key is not None:
        plain = var == s.target and s.kind == "item" and var not in reverser.memory.joined
        return (var, _items(reverser, s.key), _items(reverser, key)) if plain else None
    root, view = var, None
    while (base := reverser.memory.base_of(root)) is not None:
        root, view = base, root
    made = reverser.memory.made.get(view) if view is not None else reverser.memory.made.get(var)
    if view is None and isinstance(made, ir.Call) and made.fn == ir.Const(operator.getitem):
        root = made.args[0]  # type: ignore[assignment]
    if not isinstance(made, ir.Call) or made.fn != ir.Const(operator.getitem) or root != s.target or s.kind != "item":
        return None
    if root in reverser.memory.joined or not isinstance(root, ir.Var):
        return None
    return root, _items(reverser, s.key), _items(reverser, made.args[1])  # type: ignore[arg-type]


def _items(reverser: Reverser, index: ir.Atom) -> list[ir.Atom]:
    """The parts of an index that stand for axes counted from the first."""
    parts = reverser.context.definition(index, ops.make_tuple) or (index,)
    found = []
    for part in parts:
        value = reverser.context.value(part)
        if not is_basic(value) or (isinstance(value, Known) and (value.value is None or value.value is Ellipsis)):
            break
        found.append(part)
    return found


def _gap(reverser: Reverser, loop: Region, stored: list[ir.Atom], read: list[ir.Atom]) -> int | None:
    """How far the places that an iteration stores into lie beyond those that it reads, in the direction in which the
    loop runs, on an axis on which both move with the loop; None where that is not known.

    Where it is positive, no iteration stores into what it or one before it has read; where it is zero, none into what
    one before it has read.
    """
    statement = loop.statement
    if not isinstance(statement, ir.For):
        return None
    found = _direction(reverser, statement)
    if found is None:
        return None
    up, least = found
    gaps = []
    for mine, theirs in zip(stored, read, strict=False):
        near = _bound(reverser, mine, statement.item, least, up)
        far = _bound(reverser, theirs, statement.item, least, not up)
        if near is not None and far is not None:
            gaps.append(near - far if up else far - near)
    return max(gaps, default=None)


def _direction(reverser: Reverser, loop: ir.For) -> tuple[bool, int] | None:
    """Whether a loop counts upwards, and the least item that it may have, which is not negative."""
    bounds = reverser.context.definition(loop.iterable, range)
    if bounds is None:
        return None
    start, stop, step = (ir.Const(0), *bounds, ir.Const(1)) if len(bounds) == 1 else (*bounds, ir.Const(1))[:3]
    if step == ir.Const(1) and isinstance(start, ir.Const) and start.value >= 0:
        return True, start.value
    if step == ir.Const(-1) and isinstance(stop, ir.Const) and stop.value >= -1:
        return False, stop.value + 1
    return None


def _bound(reverser: Reverser, part: ir.Atom, item: ir.Var, least: int, first: bool) -> int | None:
    """The first place that an index names, or the last, counted from the item of a loop, which is ``least`` or more;
    None where that is not known, or where it may be counted from the end."""
    bounds = reverser.context.definition(part, slice)
    if bounds is not None:  # ``slice(stop)``, ``slice(start, stop)``
        bounds = (*((ir.Const(None),) * (len(bounds) == 1)), *bounds, ir.Const(None))[:3]
    if bounds is not None and bounds[2] not in (ir.Const(None), ir.Const(1)):
        return None
    named = part if bounds is None else bounds[0] if first else bounds[1]
    found = _offset(reverser, named, item)
    if found is None or least + found < 0:
        return None
    return found if bounds is None or first else found - 1


def _offset(reverser: Reverser, atom: ir.Atom, item: ir.Var) -> int | None:
    """``c`` where an atom is ``item + c``."""
    if atom == item:
        return 0
    for fn, sign in ((operator.add, 1), (operator.sub, -1)):
        args = reverser.context.definition(atom, fn)
        if args is not None and isinstance(args[1], ir.Const) and type(args[1].value) is int:
            inner = _offset(reverser, args[0], item)
            return None if inner is None else inner + sign * args[1].value
    return None


__all__ = ["WHOLE", "overwritten_later", "read_back", "stores_to_undo", "undo", "with_old_contents"]
