"""The virtual heap: what the lists, dicts and objects of a program hold at a place of it, known before it runs.

A container or object that the program makes is a *cell*; a variable that refers to it is a ``Ref`` to the cell, carried
by an ``ir.Var`` that no statement defines. The heap maps cells to *states*: the atoms that they hold (references to
other cells among them). A mutating operation gives its cell another state and leaves no code; two names of one object
are one ``Var``, so aliasing is exact. Where an object goes to something that only looks at it, it is *frozen*: an
ordinary value is made of what it holds there, once for each state.

    pair = [x, y]               pair -> cell {0: x, 1: y}
    pair[0] = x * y             cell {0: %1, 1: y}           %1 = mul(x, y)
    return np.sum(pair)                                      %2 = make_list(%1, y);  %3 = sum(%2)

Where paths join, the states of the two sides are joined field by field (``joins``). A cell that stands for one of two
objects, which other names may still refer to, is *entangled* with them: they are *closed* (changing one is refused),
and when the cell is changed they are *unknown* (reading one is refused: which one was changed is not known).
"""

from __future__ import annotations

import collections
import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from s2s.analysis.abstract.parts import leaves
from s2s.builder.states import State
from s2s.core import ir, ops
from s2s.core.values import (
    UNKNOWN,
    AbstractValue,
    Instance,
    Known,
    ListOf,
    Mapping,
    Object,
    Ref,
    Sequence,
    is_record_class,
)
from s2s.errors import error
from s2s.versions.signature import has_attributes

if TYPE_CHECKING:
    from s2s.builder.builder import Builder, Context


LEFT_BY_SOLVER = "a function that a solver calls has changed it, as often as the solver has called it"
"""Why a container is unknown that such a function has changed: only these functions may read it."""


class Cell:
    """One mutable object of the program: its identity. ``name`` is what messages and variables call it.

    ``origin`` says how to read what nobody has stored: a part of an argument, or an object that was there before the
    program ran.
    """

    def __init__(self, name: str, span: ir.Span | None = None, origin: Origin | None = None) -> None:
        self.name = name.lstrip("%")
        self.span = span
        self.origin = origin
        self.var = ir.Var("%ref")
        self.changed_at: ir.Span | None = None
        self.watches: list[Any] = []
        """The loops that run over the object, which are told of its changes (``iterated.Watch``)."""
        self.viewed: tuple[Cell, State, str] | None = None
        """Of a list that stands for the keys, values or items of a dict, and of the dict of an object's attributes:
        what it is a view of, what that held when it was made, and which of these it is."""
        self.before: ir.Atom | None = None
        """Of what a solver's calls have left in a container or object: what was there before, ``ir.UNDEFINED`` where
        nothing was."""
        self.after: AbstractValue = UNKNOWN
        """What is known of what they have left."""
        self.left: dict[tuple[Any, ir.Atom], Cell] = {}
        """What stands for that in this container or object, by key and by what was there before."""

    def __repr__(self) -> str:
        return f"Cell({self.name})"


@dataclass(frozen=True)
class Origin:
    """Where an object is found that the program did not make.

    ``make`` writes the read of it, given a builder and a name; ``read`` that of a part of it, which it gives, or None
    where there is none; ``keys`` are those of its parts, where they are known; ``state`` is what its cell holds at
    first. ``root`` is the argument that it is a part of, at ``path``, which begins with the argument; with
    ``has_inputs`` its parts are differentiated one by one, not as a whole.
    """

    make: Callable[[Builder, str], ir.Atom]
    read: Callable[[Builder, Cell, Any, str], ir.Atom | None]
    state: State
    keys: tuple[Any, ...] | None = None
    root: ir.Atom | None = None
    has_inputs: bool = False
    path: tuple[Any, ...] = ()


class Iterator:
    """The type of an iterator over known items: what it holds is what is left to give."""


SEQUENCES = (list, tuple, collections.deque, Iterator)
"""Types whose items are in order; frozen they are lists and tuples."""

DICTS = (dict, collections.OrderedDict, collections.defaultdict)


def is_sequence(state: State) -> bool:
    """Whether it is a list, tuple, named tuple or deque."""
    return issubclass(state.kind, SEQUENCES)


def is_dict(state: State) -> bool:
    """Whether it is a dict."""
    return issubclass(state.kind, dict)


def is_instance(state: State) -> bool:
    """Whether it is an object with attributes."""
    return not issubclass(state.kind, (*SEQUENCES, dict, set))


class Reader(Protocol):
    """Is told of each cell whose state is read."""

    def add(self, cell: Cell, /) -> None:
        """The state of a cell is read."""


@dataclass
class Heap:
    """The states of all cells at one place of the program.

    ``frozen`` keeps the ordinary value of a cell with the states that it was made from, ``origins`` the reads of what
    was there before. ``closed`` and ``unknown`` say why a cell cannot be changed, or not even read.
    """

    states: dict[Cell, State] = field(default_factory=dict)
    frozen: dict[Cell, tuple[ir.Atom, tuple[tuple[Cell, State], ...]]] = field(default_factory=dict)
    origins: dict[Cell, ir.Atom] = field(default_factory=dict)
    closed: dict[Cell, str] = field(default_factory=dict)
    unknown: dict[Cell, str] = field(default_factory=dict)
    entangled: dict[Cell, tuple[Cell, ...]] = field(default_factory=dict)
    mirrors: dict[Cell, ir.Atom] = field(default_factory=dict)
    """The containers outside that hold what a container of the program holds, and change with it."""
    written: dict[Cell, ir.Span | None] = field(default_factory=dict)
    """The objects outside whose logs something differentiated was written to, by where."""
    readers: list[Reader] = field(default_factory=list)
    """What gets the cells whose states are read: a set for each evaluation that is being followed, among others."""
    parts: dict[Cell, dict[Any, Cell]] = field(default_factory=dict)
    """The parts of what was there before, by key: one cell each, on all paths."""

    def copy(self) -> Heap:
        """The same heap, for a path of its own."""
        return Heap(
            dict(self.states), dict(self.frozen), dict(self.origins), dict(self.closed), dict(self.unknown),
            dict(self.entangled), dict(self.mirrors), dict(self.written), self.readers, self.parts,
        )

    def parts_of(self, cell: Cell) -> dict[Any, Cell]:
        """The parts of a cell that have been read, by key."""
        return self.parts.get(cell, {})

    def add_part(self, cell: Cell, key: Any, part: Cell) -> None:
        """A part of a cell has been read."""
        self.parts[cell] = {**self.parts_of(cell), key: part}

    # --- states

    def state(self, cell: Cell, span: ir.Span | None = None) -> State:
        """What a cell holds. Raises UnsupportedSyntaxError where that is not known any more."""
        if cell in self.unknown or cell.before is not None:
            raise error("S2S132", span=span, name=cell.name, label=self.unknown.get(cell, LEFT_BY_SOLVER))
        if cell.viewed is not None:
            self._check_viewed(*cell.viewed, span)
        for reader in self.readers:
            reader.add(cell)
        return self.peek(cell)

    def _check_viewed(self, cell: Cell, before: State, which: str, span: ir.Span | None) -> None:
        """Raise UnsupportedSyntaxError where a dict or object has changed since a list or dict was made of what it
        holds: Python's view would show that."""
        if cell.viewed is not None:
            self._check_viewed(*cell.viewed, span)
        now = self.peek(cell)
        is_same = now is before or (
            now.whole is None and now.keys == before.keys and (which == "keys" or now.items == before.items))
        if cell in self.unknown or not is_same:
            raise error("S2S181", span=cell.changed_at or span, name=cell.name)

    def peek(self, cell: Cell) -> State:
        """What a cell holds, as far as it is known."""
        found = self.states.get(cell)
        if found is not None:
            return found
        if cell.before is not None:
            return State(object)
        if cell.origin is None:  # made on a path that has ended
            raise error("S2S132", name=cell.name, label="it was made on another path")
        return cell.origin.state

    def change(self, cell: Cell, state: State, span: ir.Span | None = None) -> None:
        """Give a cell another state. Raises UnsupportedSyntaxError where another object may be meant."""
        self.state(cell, span)
        if cell in self.closed:
            raise error("S2S131", span=span, name=cell.name, label=self.closed[cell])
        for other in self.entangled.get(cell, ()):
            self.unknown.setdefault(other, "which object was changed before depends on the path that was taken")
        for watch in cell.watches:
            watch.note(cell, self.peek(cell), state, span)
        self.states[cell] = state
        cell.changed_at = span


def make_cell(
    context: Context, state: State | None, name: str, span: ir.Span | None = None, origin: Origin | None = None
) -> Cell:
    """A new object in the current heap, and the variable that refers to it."""
    cell = Cell("the object" if name.startswith("%") else name, span, origin)
    cell.var = context.define("%ref", Ref(cell))
    if state is not None:
        context.heap.states[cell] = state
    return cell


def close(context: Context, atom: ir.Atom, reason: str) -> None:
    """Refuse changes of what an atom refers to, and of all that this holds, from here on."""
    cell = cell_of(context, atom)
    heap = context.heap
    if cell is None or cell in heap.closed or not (cell in heap.states or cell.origin is not None):
        return
    heap.closed[cell] = reason
    for item in heap.peek(cell).items:
        close(context, item, reason)
    for part in heap.parts_of(cell).values():
        close(context, part.var, reason)


def cell_of(context: Context, atom: Any) -> Cell | None:
    """The cell that an atom refers to, if it is a reference."""
    value = context.values.get(atom) if isinstance(atom, ir.Var) else None
    return value.cell if isinstance(value, Ref) else None


def view_of(context: Context, atom: Any) -> str:
    """Which part of a dict the list stands for that an atom refers to; empty for what is no view of one."""
    cell, state = cell_of(context, atom), state_of(context, atom)
    is_list = state is not None and state.kind is list
    return cell.viewed[2] if is_list and cell is not None and cell.viewed is not None else ""


def state_of(context: Context, atom: Any) -> State | None:
    """What the object that an atom refers to holds; None where it is no reference."""
    cell = cell_of(context, atom)
    return None if cell is None else context.heap.state(cell)


# --- reading --------------------------------------------------------------------------------------------------------


def read(builder: Builder, cell: Cell, key: Any, name: str = "%", span: ir.Span | None = None) -> ir.Atom | None:
    """The item at a position, the value of a key or an attribute; None where there is none."""
    context = builder.context
    state = context.heap.state(cell, span)
    found = state.find(key)
    if found is not None:
        return found
    if not state.borrowed or cell.origin is None:
        return None
    return cell.origin.read(builder, cell, key, name)


def argument_origin(
    make: Callable[[Builder, str], ir.Atom], known: AbstractValue, root: ir.Atom | None, path: tuple[Any, ...]
) -> Origin:
    """The origin of a list, dict or tuple that is an argument, or a part of one, of which this is known."""
    match known:
        case Sequence(kind, items):
            keys: tuple[Any, ...] = tuple(range(len(items)))
        case Mapping(keys, items):
            kind = dict
        case _:
            raise AssertionError("a part that cannot be changed needs no cell")
    values = dict(zip(keys, items, strict=True))

    def read_part(builder: Builder, cell: Cell, key: Any, name: str) -> ir.Atom | None:
        heap = builder.context.heap
        if key in heap.parts_of(cell):
            return heap.parts_of(cell)[key].var
        if key not in values:
            return None
        if isinstance(values[key], Known):  # by value: the version is for no other
            return values[key].const

        def make_part(b: Builder, called: str) -> ir.Atom:
            return b.call(operator.getitem, origin_atom(b, cell), ir.Const(key), name=called)

        if isinstance(values[key], Object):
            assert builder.context.refer is not None
            return builder.context.refer(builder, values[key], (*path, (key,)), root, make_part)
        if not holds_mutable(values[key]):
            return make_part(builder, name)
        origin = argument_origin(make_part, values[key], root, (*path, (key,)))
        part = make_cell(builder.context, None, name, None, origin)
        heap.add_part(cell, key, part)
        origin_atom(builder, part, name)
        return part.var

    return Origin(make, read_part, State(kind, borrowed=True), keys, root, path=path)


def holds_attributes(known: AbstractValue, kinds: Any = Instance) -> bool:
    """Whether a value is, or holds, an object with known attributes, or one of other kinds."""
    if isinstance(known, (Sequence, Mapping)):
        return any(holds_attributes(item, kinds) for item in known.items)
    return isinstance(known, kinds)


def input_cell(
    builder: Builder, known: AbstractValue, var: ir.Var, path: tuple[Any, ...], name: str, place: str,
    read: Callable[[Builder, str], ir.Atom], steps: tuple[Any, ...],
) -> ir.Atom:
    """What stands for an argument with objects in it, or for the part of one at a path, which ``read`` reads and which
    is written as ``place`` and as ``steps`` of guards: cells for the objects and for what holds them, and a variable
    for each of the other parts, which is read here."""
    match known:
        case Known():
            return known.const
        case Instance(kind, keys, items):
            step: Any = getattr
        case Sequence(kind, items) if holds_attributes(known, (Instance, Object)):
            step, keys = operator.getitem, tuple(range(len(items)))
        case Mapping(keys, items) if holds_attributes(known, (Instance, Object)):
            step, kind = operator.getitem, dict
        case Object(_, example):
            if builder.context.refer is None or not has_attributes(example.value):
                return read(builder, name)
            return builder.context.refer(builder, known, steps, var, read)
        case _:
            return _input(builder, known, var, path, name, place, read)

    def part(key: Any, item: AbstractValue) -> ir.Atom:
        def read_part(b: Builder, called: str) -> ir.Atom:
            return b.let(ir.Call(ir.Const(step), (read(b, "%"), ir.Const(key))), UNKNOWN, called)

        named = key if isinstance(key, str) and key.isidentifier() else name
        inner = f"{place}.{key}" if step is getattr else f"{place}[{key!r}]"
        following = (*steps, key if step is getattr else (key,))
        return input_cell(builder, item, var, (*path, key), named, inner, read_part, following)

    state = State(kind, keys, tuple(part(key, item) for key, item in zip(keys, items, strict=True)))
    origin = Origin(read, lambda b, cell, key, called: None, state, keys, var, True)
    return make_cell(builder.context, None, name, None, origin).var


def _input(
    builder: Builder, known: AbstractValue, var: ir.Var, path: tuple[Any, ...], name: str, place: str, read: Any
) -> ir.Atom:
    """A part of an argument that is differentiated by itself."""
    context, made = builder.context, read(builder, name)
    context.values[made] = known
    context.inputs[var, path] = made  # type: ignore[assignment]
    context.input_places[made] = place  # type: ignore[index]
    if any(True for _ in leaves(known)):
        context.varied.add(made)
    if not holds_mutable(known):
        return made  # type: ignore[no-any-return]
    origin = argument_origin(lambda b, called: made, known, made, (name,))
    return make_cell(context, None, name, None, origin).var


def holds_mutable(known: AbstractValue) -> bool:
    """Whether a value is a list or dict of known structure, or holds one."""
    match known:
        case Mapping() | Object() | Instance():
            return True
        case Sequence(kind, items):
            return kind is list or (kind is not slice and any(map(holds_mutable, items)))
        case _:
            return False


def origin_atom(builder: Builder, cell: Cell, name: str = "%") -> ir.Atom:
    """The object as it was before the program changed anything in it."""
    origins = builder.context.heap.origins
    if cell not in origins:
        assert cell.origin is not None
        origins[cell] = cell.origin.make(builder, name)
    return origins[cell]


def positions(state: State, cell: Cell) -> list[Any] | None:
    """The keys of a container, in order; None where they are not known."""
    if state.whole is not None:
        return None
    if not state.borrowed or cell.origin is None:
        return list(state.keys)
    return None if cell.origin.keys is None else list(cell.origin.keys)


def contents(builder: Builder, cell: Cell, span: ir.Span | None = None) -> dict[Any, ir.Atom] | None:
    """All items by key, in order; None where they are not known one by one."""
    keys = positions(builder.context.heap.state(cell, span), cell)
    if keys is None:
        return None
    state = builder.context.heap.state(cell, span)
    entries = state.entries()
    if not state.borrowed:
        return entries
    found = {key: entries[key] if key in entries else read(builder, cell, key, span=span) for key in keys}
    return {key: atom for key, atom in found.items() if atom is not None}


def is_changed(heap: Heap, cell: Cell) -> bool:
    """Whether a cell, or something that it holds, is not as its origin has it."""
    return heap.peek(cell) is not (cell.origin.state if cell.origin else None) or any(
        is_changed(heap, part) for part in heap.parts_of(cell).values()
    )


# --- freezing -------------------------------------------------------------------------------------------------------


def freeze(builder: Builder, atom: ir.Atom, name: str = "%") -> ir.Atom:
    """The atom, or for a reference an ordinary value made of what it refers to holds now."""
    context = builder.context
    if isinstance(atom, ir.Var) and atom in context.virtual_closures:
        return context.virtual_closures[atom](builder)
    cell = cell_of(context, atom)
    return atom if cell is None else _freeze(builder, cell, name, ())


def _freeze(builder: Builder, cell: Cell, name: str, open_cells: tuple[Cell, ...]) -> ir.Atom:
    made = _frozen(builder, cell, name, open_cells)
    cells = builder.context.made_from.get(made, ())
    if cell not in cells:
        builder.context.made_from[made] = (*cells, cell)
    return made


def _frozen(builder: Builder, cell: Cell, name: str, open_cells: tuple[Cell, ...]) -> ir.Atom:
    heap = builder.context.heap
    if cell in open_cells:
        raise error("S2S133", span=cell.span, name=cell.name)
    state = heap.state(cell)
    kept = heap.frozen.get(cell)
    if kept is not None and all(c not in heap.unknown and heap.peek(c) is s for c, s in kept[1]):
        return kept[0]
    if cell.origin is not None and not is_changed(heap, cell):
        if cell.origin.has_inputs and not builder.context.for_value and is_varied(builder.context, cell):
            raise error("S2S138", span=cell.span, name=state.kind.__name__)
        return origin_atom(builder, cell, name)
    if state.kind is Iterator:
        raise error("S2S142", span=cell.span, name=cell.name)
    if state.whole is not None:
        return state.whole
    if is_instance(state):
        assert builder.context.freeze_instance is not None
        return builder.context.freeze_instance(builder, cell, name)
    entries = contents(builder, cell)
    assert entries is not None
    frozen = {k: _freeze_item(builder, a, (*open_cells, cell)) for k, a in entries.items()}
    made = _display(builder, state, frozen, name if name != "%" or cell.var.is_temporary else cell.var.name)
    inner = [c for c in (cell_of(builder.context, a) for a in entries.values()) if c is not None]
    return _keep(heap, cell, made, tuple(inner))


def _freeze_item(builder: Builder, atom: ir.Atom, open_cells: tuple[Cell, ...]) -> ir.Atom:
    cell = cell_of(builder.context, atom)
    return freeze(builder, atom) if cell is None else _freeze(builder, cell, "%", open_cells)


def _keep(heap: Heap, cell: Cell, made: ir.Atom, inner: tuple[Cell, ...]) -> ir.Atom:
    states: dict[Cell, State] = {cell: heap.peek(cell)}
    for c in inner:
        states |= dict(heap.frozen[c][1]) if c in heap.frozen else {c: heap.peek(c)}
    todo = list(heap.parts_of(cell).values())
    while todo:  # what an argument holds is part of it
        c = todo.pop()
        states[c] = heap.peek(c)
        todo += heap.parts_of(c).values()
    heap.frozen[cell] = (made, tuple(states.items()))
    return made


def _display(builder: Builder, state: State, items: dict[Any, ir.Atom], name: str) -> ir.Atom:
    if is_dict(state):
        return builder.call(ops.make_dict, *(a for k, v in items.items() for a in (ir.Const(k), v)), name=name)
    if state.kind is set:
        return builder.call(ops.make_set, *items.values(), name=name)
    if state.kind is tuple:
        return builder.call(ops.make_tuple, *items.values(), name=name)
    if issubclass(state.kind, tuple):
        if not is_record_class(state.kind):
            raise error("S2S138", name=state.kind.__name__)
        return builder.call(state.kind, *items.values(), name=name)
    return builder.call(ops.make_list, *items.values(), name=name)


def forget(builder: Builder, atom: ir.Atom) -> None:
    """What an atom refers to is a real container from here on, of which nothing is known."""
    context = builder.context
    cell = cell_of(context, atom)
    if cell is None or cell in context.heap.unknown:
        return
    state = context.heap.state(cell)
    if cell.origin is not None and not is_changed(context.heap, cell):
        return  # the function gets the very object, which is read when the program runs
    if is_instance(state):
        context.heap.unknown[cell] = "a function that is called when the program runs may change it"
        for item in state.items:
            forget(builder, item)
        return
    if cell in context.heap.closed:
        return
    made = freeze(builder, atom)
    for item in state.items:
        forget(builder, item)
    for part in context.heap.parts_of(cell).values():
        forget(builder, part.var)
    if issubclass(state.kind, tuple):
        return
    alias = context.define("%", UNKNOWN)
    builder.add(ir.Let(alias, made))
    context.heap.states[cell] = state.with_whole(alias)


# --- what is known --------------------------------------------------------------------------------------------------


def is_varied(context: Context, cell: Cell, seen: frozenset[Cell] = frozenset()) -> bool:
    """Whether something that depends on a differentiated input is in an object."""
    if cell in seen:
        return False
    seen |= {cell}
    state = context.heap.peek(cell)
    if state.whole is not None and context.is_varied(state.whole):
        return True
    root = cell.origin.root if state.borrowed and cell.origin is not None else None
    if root is not None and context.is_varied(root):
        return True
    for atom in state.items:
        inner = cell_of(context, atom)
        if is_varied(context, inner, seen) if inner is not None else context.is_varied(atom):
            return True
    return any(is_varied(context, part, seen) for part in context.heap.parts_of(cell).values())


def is_mutable(context: Context, atom: ir.Atom) -> bool:
    """Whether an atom refers to something that a function could change."""
    cell = cell_of(context, atom)
    if cell is None:
        return False
    state = context.heap.peek(cell)
    if not issubclass(state.kind, tuple):
        return True
    return any(is_mutable(context, a) for a in state.items) or bool(context.heap.parts_of(cell))


def item_value(context: Context, cell: Cell) -> AbstractValue | None:
    """What is known of the items of a list of unknown length."""
    state = context.heap.peek(cell)
    known = None if state.whole is None else context.value(state.whole)
    return known.item if isinstance(known, ListOf) else None


def known_constant(context: Context, atom: ir.Atom) -> bool:
    """Whether an atom is a constant that can be compared and hashed now."""
    value = context.value(atom)
    return isinstance(value, Known) and isinstance(value.value, (int, float, str, bytes, bool, type(None), tuple, type))
