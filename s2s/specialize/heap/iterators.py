"""Iterators that are read bit by bit, or more than once.

An iterator that is read as a whole, in the place where it is made, is as good as what it runs over. One that a name
keeps is a cell on the heap that holds what is left to give: ``next`` takes the first item, a loop takes all.

    it = iter([a, b, c])
    first = next(it)            first = a
    rest = sum(it)              rest = sum([b, c]);  nothing is left
"""

from __future__ import annotations

import collections
import functools
import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from s2s.analysis.functions import facts
from s2s.builder import virtual_heap
from s2s.builder.builder import Context
from s2s.builder.virtual_heap import Cell, Iterator, State, cell_of, state_of
from s2s.core import ir, ops
from s2s.core.bounded import Recent
from s2s.core.functions import Result
from s2s.core.inspection import by_identity
from s2s.core.values import Array, ListOf
from s2s.errors import error
from s2s.optimize.rewriting import count_uses
from s2s.specialize.frames import FramedClosure
from s2s.specialize.heap import generators, lazy

if TYPE_CHECKING:
    from s2s.specialize.frames import Frame
    from s2s.specialize.site import At
    from s2s.specialize.specializer import Specializer

_LAZY = (ir.Const(map), ir.Const(filter))
"""Those that make their items when they are asked for them."""

_HOLDERS = by_identity(
    list.append, list.insert, collections.deque.append, collections.deque.appendleft, dict.setdefault, dict.__setitem__,
    operator.setitem, setattr, ops.append, ops.make_list, ops.make_tuple, ops.make_dict, functools.partial, next,
)
"""Functions that put what they are given into a container or an object, and the one that takes an item out of it."""

_READ_AT_ONCE = by_identity(
    operator.getitem, list, tuple, sum, max, min, any, all, len, math.fsum, math.prod, ops.unpack, np.array, np.asarray,
)
"""Functions that have read what ``a.flat`` gives when they return: changes of ``a`` that come later are not seen."""


_uses = Recent[int, tuple[ir.Function, dict[str, Any]]](4096)


def uses_of(function: ir.Function) -> dict[str, Any]:
    """What a function, in SSA form, does with its variables: ``kept`` are those that are read more than once, in
    several places or in a loop or a nested function that does not define them; ``held`` those that a display or a
    store puts into a container or an object; ``tested`` the places of the calls that
    make those which are only the test of an ``if``; ``unread`` those that nothing reads."""
    found = _uses.get(id(function))
    if found is None or found[0] is not function:
        often = frozenset(_read_often(function.body))
        uses = {
            "kept": often, "held": _taken_in(function.body), "tested": _only_tested(function.body, often),
            "body": function.body, "unread": _unread(function.body),
        }
        found = _uses[id(function)] = function, uses
    return found[1]


def _taken_in(body: ir.Block) -> frozenset[ir.Var]:
    found: set[ir.Var] = set()
    for s in ir.walk(body):
        if isinstance(s, ir.Store) and isinstance(s.value, ir.Var):
            found.add(s.value)
        elif isinstance(s, ir.Let) and isinstance(s.value, ir.Call) and isinstance(s.value.fn, ir.Const):
            if any(s.value.fn.value is display for display in (ops.make_tuple, ops.make_list, ops.make_dict)):
                found.update(a for a in s.value.args if isinstance(a, ir.Var))
    return frozenset(found)


def _only_tested(body: ir.Block, often: frozenset[ir.Var]) -> frozenset[ir.Span | None]:
    """The places of the calls whose result is read once, as the test of an ``if`` or ``assert``."""
    tests = {s.test for s in ir.walk(body) if isinstance(s, (ir.If, ir.Assert))} - often
    calls = (s for s in ir.walk(body) if isinstance(s, ir.Let) and isinstance(s.value, ir.Call))
    return frozenset(s.span for s in calls if s.target in tests and s.span is not None)


def _unread(body: ir.Block) -> frozenset[ir.Var]:
    calls = {s.target for s in ir.walk(body) if isinstance(s, ir.Let) and isinstance(s.value, ir.Call)}
    read = count_uses(body)
    for s in ir.walk(body):
        if isinstance(s, ir.Let) and isinstance(s.value, ir.MakeFunction):
            read.update(a for a in s.value.captures if isinstance(a, ir.Var))
    return frozenset(var for var in calls if var is not None and var not in read)


def _read_often(body: ir.Block) -> set[ir.Var]:
    seen: set[ir.Var] = set()
    often: set[ir.Var] = set()

    def read(atoms: object, inside: set[ir.Var] | None) -> None:
        for atom in atoms:  # type: ignore[attr-defined]
            if isinstance(atom, ir.Var):
                if atom in seen or (inside is not None and atom not in inside):
                    often.add(atom)
                seen.add(atom)

    def run(block: ir.Block, inside: set[ir.Var] | None) -> None:
        for s in block.statements:
            read(ir.reads_of(s), inside)
            if isinstance(s, ir.Let) and isinstance(s.value, ir.MakeFunction):
                often.update(a for a in s.value.captures if isinstance(a, ir.Var))
            if isinstance(s, (ir.For, ir.While)):
                own = {c.param for c in s.carried}
                for inner in ir.blocks_of(s):
                    run(inner, own)
                    often.update(a for a in inner.yields if isinstance(a, ir.Var))
                continue
            for inner in ir.blocks_of(s):
                run(inner, inside)
                often.update(a for a in inner.yields if isinstance(a, ir.Var))
            if inside is not None:
                inside.update(ir.defs_of(s))

    run(body, None)
    return often


def keep(at: At, target: ir.Var, value: ir.Value, atom: ir.Atom) -> ir.Atom:
    """What a variable that is read more than once, or that a container takes in, is bound to: for an iterator, made
    here, by a helper or read from a container, a cell with what it has left."""
    if atom in at.context.generators:
        return _held(at, lazy.listed(at, atom, in_parts=True), target.name)
    callee = at.specializer.atom(value.fn, at.frame) if isinstance(value, ir.Call) else None
    made = at.context.definitions.get(atom) if isinstance(atom, ir.Var) else None
    if is_maker(callee) or atom in at.context.read_once or (isinstance(made, ir.Call) and is_maker(made.fn)):
        return _held(at, atom, target.name)
    return atom


def _held(at: At, atom: ir.Atom, name: str) -> ir.Atom:
    """A cell with what an iterator has left: its items, or where these are not known the iterator itself."""
    context, cell = at.context, cell_of(at.context, atom)
    if cell is not None and context.heap.peek(cell).kind is Iterator:
        return atom
    source = context.read_once.get(atom)
    if atom in context.changing_items:
        raise error("S2S222", span=at.span)
    if source is not None:
        source.check_names(at.span, name)
    items = at.items(atom)
    state = State(Iterator, whole=at.builder.frozen(atom))
    if items is not None:
        state = State(Iterator, tuple(range(len(items))), tuple(items))
    made = virtual_heap.make_cell(context, state, name, at.span)
    at.specializer.iterables.note_source(made, atom)
    if source is not None:
        at.specializer.made_of[made] = source
    return made.var


def note_made(
    specializer: Specializer, value: ir.Call, atom: ir.Atom, source: generators.Source, frame: Frame
) -> None:
    """Remember what can be read once only, and what its items are made of."""
    args = [specializer.atom(a.atom if isinstance(a, ir.Star) else a, frame) for a in value.args]
    if not isinstance(atom, ir.Var) or atom in args:
        return
    fn = specializer.atom(value.fn, frame)
    functions = [f for f in map(specializer.context.value, args[:1]) if isinstance(f, FramedClosure)]
    if fn not in _LAZY:
        source.cells, source.arrays = {}, set()
    elif functions:
        captured = zip(functions[0].function.captures, functions[0].captures, strict=True)
        source.names = {v.name for v, a in captured if a != ir.UNDEFINED and not v.is_temporary}
        source.place, source.frame = functions[0].function, functions[0].frame
    specializer.context.read_once[atom] = source


def as_held(at: At, fn: Any, args: list[ir.Atom]) -> list[ir.Atom]:
    """The arguments of a function that puts them into a container, with cells for iterators."""
    once = at.context.read_once
    if id(fn) in _HOLDERS:
        for atom in args:
            generators.check_kept(at.context, atom, at.span)
    if not once or id(fn) not in _HOLDERS or not any(a in once for a in args if isinstance(a, ir.Var)):
        return args
    return [_held(at, a, "the iterator") if a in once else a for a in args]


def is_maker(callee: ir.Atom | None) -> bool:
    """Whether a function makes something that can be read once."""
    return isinstance(callee, ir.Const) and facts(callee.value).result is Result.ITERATOR


def make(context: Context, items: list[ir.Atom], name: str, span: ir.Span | None) -> ir.Atom:
    """An iterator over known items."""
    state = State(Iterator, tuple(range(len(items))), tuple(items))
    return virtual_heap.make_cell(context, state, name, span).var


def take_all(specializer: Specializer, cell: Cell, span: ir.Span | None) -> list[ir.Atom]:
    """The items that an iterator has left, for a statement that reads it to its end; later ones find none."""
    state = specializer.context.heap.state(cell, span)
    if state.whole is not None:
        raise error("S2S142", span=span, name=cell.name)
    check_made_of(specializer, cell, span)
    specializer.context.heap.change(cell, State(Iterator), span)
    return list(state.items)


def check_made_of(specializer: Specializer, cell: Cell, span: ir.Span | None) -> None:
    """Raise UnsupportedSyntaxError where what an iterator makes its items of has changed."""
    specializer.iterables.check_source(cell, span)
    source = specializer.made_of.get(cell)
    if source is not None:
        source.check(specializer.context, span)


def take_rest(at: At, cell: Cell) -> ir.Atom:
    """What an iterator has left, as one value, for a statement that reads it to its end."""
    whole = at.context.heap.state(cell, at.span).whole
    if whole is None:
        items = list(take_all(at.specializer, cell, at.span))
        return at.result_of(ops.make_list, items)
    check_made_of(at.specializer, cell, at.span)
    at.context.heap.change(cell, State(Iterator), at.span)
    return whole


def as_list(at: At, fn: Any, args: list[ir.Atom]) -> list[ir.Atom]:
    """The arguments of a function that reads iterators to their end, with lists for these."""
    if not any(map(at.context.is_virtual, args)) or not (
        facts(fn).consumes or facts(fn).result is Result.ITERATOR or fn is ops.unpack or fn is ops.merge_dict
    ):
        return args
    held = [(a, state_of(at.context, a)) for a in args]
    found = [a for a, state in held if state is not None and state.kind is Iterator]
    made = _zipped(at, args, found) if fn is zip and found and len(args) > 1 else [
        take_rest(at, cell_of(at.context, a)) if a in found else a  # type: ignore[arg-type]
        for a in args
    ]
    if not facts(fn).takes_all and fn not in (iter, ops.unpack, ops.merge_dict):
        for atom in found:
            cell = cell_of(at.context, atom)
            assert cell is not None
            at.context.heap.unknown[cell] = "how many of its items are taken depends on what reads them"
    return made


def _zipped(at: At, args: list[ir.Atom], iterators: list[ir.Atom]) -> list[ir.Atom]:
    """The arguments of a ``zip`` with iterators among them: each gives as many items as the shortest has, and one more
    where it is asked before that."""
    columns = [at.items(a) if a not in iterators else None for a in args]
    held = [cell_of(at.context, a) for a in args]
    states = [at.context.heap.state(cell, at.span) if cell is not None else None for cell in held]
    lengths = []
    for column, atom, state in zip(columns, args, states, strict=True):
        known = column if column is not None else state.items if (
            state is not None and atom in iterators and state.whole is None) else None
        if known is None or len(set(iterators)) < len(iterators):
            read = cell_of(at.context, iterators[0])
            assert read is not None
            raise at.refusal("S2S142", name=read.name)  # where it stops depends on the others
        lengths.append(len(known))
    count = min(lengths)
    stop, made = lengths.index(count), []
    for k, atom in enumerate(args):
        cell, state = held[k], states[k]
        if atom not in iterators or cell is None or state is None:
            made.append(atom)
            continue
        check_made_of(at.specializer, cell, at.span)
        at.context.heap.change(cell, state.with_items(state.items[count + (k < stop) :]), at.span)
        made.append(at.result_of(ops.make_list, list(state.items[:count])))
    return made


def flattened(at: At, fn: Any, args: list[ir.Atom]) -> list[ir.Atom]:
    """The arguments of a function that reads ``a.flat`` at once, with ``a.flatten()`` for it."""
    if id(fn) not in _READ_AT_ONCE:
        return args
    if fn is operator.getitem and args[0] in at.specializer.read_flat:
        del at.specializer.read_flat[args[0]]  # an index turns it back to its beginning
    moves = fn not in (operator.getitem, len, np.array, np.asarray)
    return [flat_items(at, a, moves) or a for a in args]


def flat_items(at: At, atom: Any, moves: bool = True) -> ir.Atom | None:
    """The elements of an array as an array of rank 1, where an atom is the ``flat`` of the array; None elsewhere.
    Raises UnsupportedSyntaxError where another statement has read it to its end."""
    made = at.context.definition(atom, getattr)
    if made is None or made[1] != ir.Const("flat") or not isinstance(at.value(made[0]), Array):
        return None
    if moves and at.specializer.read_flat.setdefault(atom, at.span) != at.span:
        raise at.refusal("S2S142", name="flat")
    return at.apply(np.ndarray.flatten, made[0])


def leave_rest(context: Context, atom: ir.Atom) -> None:
    """After a loop that may end early it is not known what an iterator has left."""
    cell = cell_of(context, atom)
    if cell is not None:
        context.heap.unknown[cell] = "where the loop that reads it ends depends on the run"


def take_one(at: At, items: ir.Atom, default: ir.Atom | None = None) -> ir.Atom | None:
    """``next(items)`` and ``next(items, default)``."""
    cell = cell_of(at.context, items)
    if cell is None:
        return None
    state = at.context.heap.state(cell, at.span)
    if virtual_heap.is_instance(state):
        return at.specializer.instances.operate(at, next, "__next__", items)
    if state.kind is not Iterator:
        raise at.raised(TypeError(f"'{state.kind.__name__}' object is not an iterator"))
    if state.whole is not None:
        return _first_of_rest(at, cell, state, default)
    check_made_of(at.specializer, cell, at.span)
    if state.items:
        at.context.heap.change(cell, state.with_items(state.items[1:]), at.span)
        return state.items[0]
    if default is None:
        raise at.raised(StopIteration())
    return default


def _first_of_rest(at: At, cell: Cell, state: State, default: ir.Atom | None) -> ir.Atom:
    """The first of items that are not known one by one, which the iterator does not give again."""
    whole = state.whole
    assert whole is not None
    if default is not None or not isinstance(at.value(whole), (Array, ListOf)):
        raise at.refusal("S2S142", name=cell.name)
    check_made_of(at.specializer, cell, at.span)
    item = at.apply(operator.getitem, whole, ir.Const(0))
    rest = at.apply(operator.getitem, whole, at.apply(slice, ir.Const(1), ir.Const(None)))
    at.context.heap.change(cell, state.with_whole(at.builder.frozen(rest)), at.span)
    return item
