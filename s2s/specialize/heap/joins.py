"""Joins of the virtual heap: where two paths meet, what a variable or an object holds on either of them.

The variables and the changed objects of both sides are walked in parallel. Where both sides refer to one object, the
fields that differ are joined; where they refer to two of one shape, these become one new object with joined fields,
entangled with the two (``heap``). What is left are *leaves*: pairs of ordinary atoms, for which the caller makes the
results of an ``If`` or the carried variables of a loop. With these, ``rebuild`` gives the heap after the join.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from s2s.builder import virtual_heap
from s2s.builder.builder import Builder, Context
from s2s.builder.virtual_heap import LEFT_BY_SOLVER, Cell, Heap, State, cell_of, is_dict, is_instance, is_sequence
from s2s.core import ir
from s2s.errors import DifferentiationError, error

DEPENDS = "which object this is depends on the path that was taken"


@dataclass
class Side:
    """One of the paths that meet: where statements at its end go, and its heap there."""

    builder: Builder
    heap: Heap


@dataclass(frozen=True)
class Leaf:
    """A pair of ordinary atoms. ``key`` says where it is: the number of the variable or the object, then keys."""

    key: tuple[Any, ...]
    name: str
    first: ir.Atom
    second: ir.Atom


@dataclass
class Node:
    """One object after the join, for an object of each side. ``cell`` is set where these are one and the same."""

    pair: tuple[Cell | None, Cell | None]
    name: str
    cell: Cell | None
    state: State
    children: list[Any] = field(default_factory=list)
    lacks: dict[str, Any] = field(default_factory=dict)
    """The attributes that an object has on some paths only, each with what says whether it has it."""
    whole: Any = None
    unknown: str = ""


@contextmanager
def on(context: Context, heap: Heap) -> Iterator[None]:
    """Work on another heap."""
    before, context.heap = context.heap, heap
    try:
        yield
    finally:
        context.heap = before


class Join:
    """The join of two sides that began with the heap ``base``.

    ``roots`` are names with an atom of each side. With ``all_leaves`` a plain variable is a leaf also where both sides
    have the same atom, as the carried variables of a loop are, and so is a part of an object with a key in ``moved``.
    """

    def __init__(
        self, context: Context, base: Heap, sides: tuple[Side, Side], roots: list[tuple[str, ir.Atom, ir.Atom]],
        touched: list[Cell], all_leaves: bool = False, moved: Collection[Any] = (),
    ) -> None:
        self.context = context
        self.base = base
        self.sides = sides
        self.all_leaves = all_leaves
        self.moved = moved
        self.leaves: list[Leaf] = []
        self.nodes: dict[tuple[Cell | None, Cell | None], Node] = {}
        self.closing: list[Cell] = []
        self.roots = [self._visit((k,), name, a, b) for k, (name, a, b) in enumerate(roots)]
        self.touched = touched
        for k, cell in enumerate(touched):
            if self._node((f"object {k}",), cell.name, cell, cell) is None:
                self._lost(cell.name, cell.var, cell.var, (cell, cell))

    # --- walking

    def _visit(self, key: tuple[Any, ...], name: str, a: ir.Atom, b: ir.Atom) -> Any:
        first, second = cell_of(self.context, a), cell_of(self.context, b)
        if a == b and (first is not None or not self._is_carried(key)):
            return a
        if first is None and second is None:
            return self._leaf(key, name, a, b)
        for left, other in ((first, b), (second, a)):
            if left is not None and left.before == other:  # what a solver has left in one of them
                return left.var
        bare = (a, b)[first is not None]
        if (first is not None and second is not None) or bare == ir.UNDEFINED:
            found = self._node(key, name, first, second)
            if found is not None:
                return found
        return self._leaf(key, name, a, b)

    def _is_carried(self, key: tuple[Any, ...]) -> bool:
        """Whether a value is a leaf where both sides have the same."""
        return self.all_leaves and (len(key) == 1 or key in self.moved)

    def _leaf(self, key: tuple[Any, ...], name: str, a: ir.Atom, b: ir.Atom) -> Any:
        """A pair of values: of references what they refer to now, which must not change any more."""
        atoms = []
        for side, atom in zip(self.sides, (a, b), strict=True):
            with on(self.context, side.heap):
                found = cell_of(self.context, atom)
                try:
                    if found is not None and side.heap.state(found).extra is not None:  # a defaultdict, a short deque
                        raise error("S2S132", name=found.name, reason=DEPENDS)
                    atoms.append(virtual_heap.freeze(side.builder, atom))
                except DifferentiationError:
                    return self._lost(name, a, b, (Cell(name), None))
            if found is not None:
                self.closing.append(found)
        if atoms[0] == atoms[1] and not self._is_carried(key):
            return atoms[0]
        leaf = Leaf(key, name if name.isidentifier() else "%", atoms[0], atoms[1])
        self.leaves.append(leaf)
        return leaf

    def _lost(self, name: str, a: ir.Atom, b: ir.Atom, pair: tuple[Cell, Cell | None]) -> Node:
        """A variable or an object of which no value can be made: it must not be read."""
        for atom in (a, b):
            found = cell_of(self.context, atom)
            if found is not None:
                self.closing.append(found)
        state = State(object) if pair[1] is None else self.sides[0].heap.peek(pair[0])
        node = Node(pair, name, pair[1], state, unknown=DEPENDS)
        self.nodes[node.pair] = node
        return node

    def _node(self, key: tuple[Any, ...], name: str, first: Cell | None, second: Cell | None) -> Node | None:
        """Two objects of one shape as one; None where they have none in common."""
        pair = (first, second)
        if pair in self.nodes:
            return self.nodes[pair]
        states = [None if c is None else side.heap.peek(c) for c, side in zip(pair, self.sides, strict=True)]
        known = [s for s in states if s is not None]
        labels = {s.heap.unknown.get(c) for c, s in zip(pair, self.sides, strict=True) if c is not None} - {None}
        if labels:
            label = LEFT_BY_SOLVER if labels == {LEFT_BY_SOLVER} and first is second else DEPENDS
            node = Node(pair, name, first if first is second else None, known[0], unknown=label)
            self.nodes[pair] = node
            return node
        if len({s.kind for s in known}) > 1 or len({repr(s.extra) for s in known}) > 1:
            return None
        node = Node(pair, name, first if first is second else None, known[0])
        both = [
            None if s is None else virtual_heap.positions(s, c) if not is_instance(s) else list(s.keys)  # type: ignore[arg-type]
            for s, c in zip(states, pair, strict=True)
        ]
        keys = self._common_keys([k for k, s in zip(both, states, strict=True) if s is not None], known[0])
        self.nodes[pair] = node
        if keys is None or (*key, "whole") in self.moved:
            if is_instance(known[0]) or known[0].kind is set or issubclass(known[0].kind, tuple):
                del self.nodes[pair]
                return None
            held = [(s, c) for s, c in zip(self.sides, pair, strict=True) if c is not None]
            if not self.all_leaves and is_dict(known[0]) and any(self._is_varied(s, c) for s, c in held):
                node.unknown = "which keys it has depends on the path that was taken"
            else:
                node.whole = self._whole(key, name, pair)
            return node
        borrowed = known[0].borrowed and is_instance(known[0])
        node.state = State(known[0].kind, tuple(keys), (), None, borrowed, known[0].extra)
        for item in keys:
            a, b = (self._read(side, c, item) for side, c in zip(self.sides, pair, strict=True))
            node.children.append(self._visit((*key, item), f"{name}_{item}", a, b))
            if is_instance(node.state):
                self._note_lacking(node, (*key, item, "has"), item, (a, b), states)
        return node

    def _note_lacking(
        self, node: Node, key: tuple[Any, ...], item: str, found: tuple[ir.Atom, ir.Atom], states: list[State | None]
    ) -> None:
        """An attribute that one side may not have."""
        first, second = (
            s.lacks.get(item, ir.Const(a != ir.UNDEFINED)) if s is not None else None
            for a, s in zip(found, states, strict=True)
        )
        first, second = first or second, second or first  # a variable without a value is no object that lacks anything
        if (first, second) != (ir.Const(True), ir.Const(True)):
            node.lacks[item] = self._visit(key, f"has_{item}", first, second)  # type: ignore[arg-type]

    def _is_varied(self, side: Side, cell: Cell) -> bool:
        with on(self.context, side.heap):
            return virtual_heap.is_varied(self.context, cell)

    def _common_keys(self, both: list[list[Any] | None], state: State) -> list[Any] | None:
        if any(k is None for k in both):
            return None
        if is_instance(state):
            return list(dict.fromkeys(k for keys in both for k in keys or ()))
        return both[0] if all(k == both[0] for k in both) else None

    def _read(self, side: Side, cell: Cell | None, key: Any) -> ir.Atom:
        if cell is None:
            return ir.UNDEFINED
        with on(self.context, side.heap):
            found = virtual_heap.read(side.builder, cell, key)
            return ir.UNDEFINED if found is None else found

    def _whole(self, key: tuple[Any, ...], name: str, pair: tuple[Cell | None, Cell | None]) -> Any:
        atoms = [ir.UNDEFINED if c is None else c.var for c in pair]
        values: list[ir.Atom] = []
        for side, atom, cell in zip(self.sides, atoms, pair, strict=True):
            with on(self.context, side.heap):
                try:
                    values.append(virtual_heap.freeze(side.builder, atom))
                    for item in side.heap.peek(cell).items if cell is not None else ():
                        virtual_heap.close(self.context, item, DEPENDS)
                except DifferentiationError:
                    self.nodes[pair].unknown = DEPENDS
                    return ir.UNDEFINED
        leaf = Leaf((*key, "whole"), name if name.isidentifier() else "%", values[0], values[1])
        self.leaves.append(leaf)
        return leaf

    # --- the outcome

    def signature(self) -> Any:
        """What has the same shape has the same signature."""
        seen: dict[int, int] = {}

        def show(part: Any) -> Any:
            if isinstance(part, Leaf):
                return ("leaf", part.key)
            if not isinstance(part, Node):
                return ("same", part)
            if id(part) in seen:
                return ("node", seen[id(part)])
            seen[id(part)] = len(seen)
            inner = tuple(map(show, part.children)) if part.whole is None else (show(part.whole),)
            lacks = tuple((name, show(has)) for name, has in part.lacks.items())
            return (part.cell, part.state.kind, part.state.keys, bool(part.unknown), inner, lacks)

        return tuple(map(show, self.roots)), tuple(show(self.nodes[c, c]) for c in self.touched)

    def rebuild(self, atoms: list[ir.Atom]) -> tuple[list[ir.Atom], Heap]:
        """The atoms of the roots and the heap after the join, with an atom for each leaf."""
        heap = self.base.copy()
        first, second = self.sides
        for side in (first, second):
            for held in new_mirrors(self.base, side.heap):
                side.heap.closed.setdefault(held, DEPENDS)
            heap.closed |= side.heap.closed
            heap.written |= side.heap.written
            heap.unknown |= side.heap.unknown
            heap.entangled |= side.heap.entangled
        values = {leaf.key: atom for leaf, atom in zip(self.leaves, atoms, strict=True)}
        cells: dict[int, Cell] = {}
        with on(self.context, heap):
            for node in self.nodes.values():
                cell = node.cell or virtual_heap.make_cell(self.context, None, node.name, self._span(node))
                cells[id(node)] = cell
            for node in self.nodes.values():
                self._fill(node, cells[id(node)], cells, values, heap)
            for closing in self.closing:
                if closing in heap.states or closing.origin:
                    virtual_heap.close(self.context, closing.var, DEPENDS)
            self._entangle(cells, heap)
            roots = [self._atom(part, cells, values) for part in self.roots]
        return roots, heap

    def _span(self, node: Node) -> ir.Span | None:
        found = node.pair[0] or node.pair[1]
        return None if found is None else found.span

    def _atom(self, part: Any, cells: dict[int, Cell], values: dict[Any, ir.Atom]) -> ir.Atom:
        if isinstance(part, Leaf):
            return values[part.key]
        return cells[id(part)].var if isinstance(part, Node) else part

    def _fill(
        self, node: Node, cell: Cell, cells: dict[int, Cell], values: dict[Any, ir.Atom], heap: Heap
    ) -> None:
        if node.unknown:
            heap.unknown.setdefault(cell, node.unknown)
            heap.states.setdefault(cell, node.state)
        elif node.whole is not None:
            heap.states[cell] = node.state.with_whole(self._atom(node.whole, cells, values))
        else:
            items = tuple(self._atom(child, cells, values) for child in node.children)
            state = node.state
            lacks = {name: self._atom(part, cells, values) for name, part in node.lacks.items()}
            filled = State(state.kind, state.keys, items, None, state.borrowed, state.extra, lacks)
            for name in [name for name, has in lacks.items() if isinstance(has, ir.Const)]:
                filled = filled.decided(name, lacks[name] == ir.Const(True))
            self.context.presence.update(has for has in filled.lacks.values() if isinstance(has, ir.Var))
            heap.states[cell] = filled
        for side, source in zip(self.sides, node.pair, strict=True):
            if source is not None and source in side.heap.closed:
                heap.closed.setdefault(cell, side.heap.closed[source])
            if source is not None and source is not cell and source in side.heap.mirrors:
                heap.closed.setdefault(cell, DEPENDS)

    def _entangle(self, cells: dict[int, Cell], heap: Heap) -> None:
        """A new object may be one that was there before, or share one with another new object."""
        made = [n for n in self.nodes.values() if n.cell is None and not n.unknown]
        users: dict[Cell, list[Cell]] = {}
        for node in made:
            for source in node.pair:
                if source is not None and not issubclass(node.state.kind, tuple):
                    users.setdefault(source, []).append(cells[id(node)])
        for source, found in users.items():
            is_new = source not in self.base.states and source.origin is None
            others = [*([] if is_new else [source]), *heap.entangled.get(source, ())]  # what a join before it may be
            for cell in found:
                shared = tuple(c for c in (*others, *found) if c is not cell)
                heap.entangled[cell] = (*heap.entangled.get(cell, ()), *shared)
            if not is_new and source not in heap.closed:
                virtual_heap.close(self.context, source.var, DEPENDS)


def with_known_attributes(context: Context, heap: Heap, test: ir.Atom, is_true: bool) -> Heap:
    """The heap on a side of a branch of which the test may say whether objects have an attribute."""
    while (inner := context.definition(test, operator.not_)) is not None:
        test, is_true = inner[0], not is_true
    if test in context.presence:
        for cell, state in list(heap.states.items()):
            for name in [name for name, has in state.lacks.items() if has == test]:
                heap.states[cell] = heap.states[cell].decided(name, is_true)
    return heap


def new_mirrors(start: Heap, end: Heap) -> list[Cell]:
    """The containers that were given to an object from outside between a start and an end."""
    return [cell for cell, mirror in end.mirrors.items() if start.mirrors.get(cell) is not mirror]


def changed_cells(start: Heap, *ends: Heap) -> list[Cell]:
    """The objects that were there at the start and hold something else at an end."""
    found: dict[Cell, None] = {}
    for end in ends:
        for cell, state in end.states.items():
            there = cell in start.states or cell.origin is not None
            if there and start.peek(cell) is not state:
                found[cell] = None
    return list(found)


__all__ = [
    "DEPENDS", "Join", "Leaf", "Side", "changed_cells", "is_dict", "is_sequence", "new_mirrors", "on",
    "with_known_attributes",
]
