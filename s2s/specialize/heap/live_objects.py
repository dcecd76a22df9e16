"""Objects that were there before the program ran: in globals, closures, arguments, and what these hold.

Their options and methods are taken by value under guards, their numbers and arrays are read when the program runs. What
the program stores into them is kept on the heap, and done to them (``effects``).
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import operator
import sys
import types
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from s2s.analysis.steps.packages import is_library_file
from s2s.builder import virtual_heap
from s2s.builder.builder import Builder, Context
from s2s.builder.virtual_heap import Cell, Origin, State, is_instance
from s2s.core import inspection, ir
from s2s.core.values import UNKNOWN, Mapping, Object, Sequence
from s2s.errors import error
from s2s.specialize.heap.classes import (
    is_followed_by_parts,
    is_plain_number,
    is_setting,
    is_stable,
    is_taken_by_value,
    may_change_in_place,
    own_names,
    without_objects,
)
from s2s.specialize.heap.live_data import noted
from s2s.versions import facts
from s2s.versions.facts import Reading
from s2s.versions.paths import imported
from s2s.versions.signature import has_attributes as is_user_object

if TYPE_CHECKING:
    from s2s.specialize.site import At
    from s2s.specialize.specializer import Specializer

__all__ = ["LiveObjects", "Place", "bound"]


@dataclasses.dataclass(frozen=True)
class Place:
    """Where a live object is found: for guards. ``path`` begins with a name, or with the object itself as a ``Const``
    (so two objects that are equal are told apart, and one that has no hash is no problem). ``base`` is the
    parameter where the root is an argument."""

    root: str
    path: tuple[Any, ...]
    owner: Any
    base: ir.Atom | None = None

    def step(self, attribute: Any) -> Place:
        """The place of an attribute."""
        return Place(self.root, (*self.path, attribute), self.owner, self.base)

    def is_below(self, other: Place) -> bool:
        """Whether what is here is found through another place, or there."""
        above = self.path[: len(other.path)]
        return (self.root, above, self.base) == (other.root, other.path, other.base) and self.owner is other.owner

    @staticmethod
    def of(value: Any) -> Place:
        """The place of a module or a class, by its name where an import finds it."""
        return Place(*facts.site_of(value)[0])

    @property
    def site(self) -> facts.Site:
        """The place as guards have it."""
        return self.root, self.path, self.owner


def bound(context: Context, fn: Any, *receivers: ir.Atom) -> ir.Var:
    """A method bound to an object."""
    made = ir.Call(ir.Const(functools.partial), (ir.Const(fn), *receivers))
    var = context.define("%", UNKNOWN, any(map(context.is_varied, receivers)), made)

    def freeze(builder: Builder) -> ir.Atom:
        for receiver in receivers:
            virtual_heap.close(context, receiver, "a method of it is kept")
        return builder.let(made, UNKNOWN, varied=any(map(context.is_varied, receivers)))

    context.virtual_closures[var] = freeze
    return var


def _name(key: Any) -> str:
    """What a variable that holds the part of an object is called."""
    return key if isinstance(key, str) and key.isidentifier() else "%"


class LiveObjects:
    """Knows which objects that exist a program has reached, and from where."""

    def __init__(self, specializer: Specializer) -> None:
        self.specializer = specializer
        self.context = specializer.context
        self.cells: dict[int, Cell] = {}
        """By the ``id`` of an object, the cell that stands for it."""
        self.objects: dict[Cell, Any] = {}
        self.places: dict[Cell, Place] = {}
        """Where each was found."""
        self.folded: set[Cell] = set()
        """Of which objects some were."""
        self.folded_variables: set[tuple[int, str]] = set()
        """Of which variables."""
        self.variables: dict[tuple[int, str], Cell] = {}
        """By the ``id`` of the variables of a module and a name, the cell that stands for the variable."""
        self.copies: set[ir.Var] = set()
        """The copies of arrays that such variables were given."""
        self.replaced: list[Place] = []
        """Where something else is than what was found there: attributes that were assigned, and changed containers."""
        self.context.refer = self.argument

    def refer(self, builder: Builder, fact: Reading, place: Place, name: str) -> ir.Atom:
        """A reference to an object that exists, found at a place; one cell for each object."""
        value = fact.of_class(self.specializer.guards)
        found = self.cells.get(id(value))
        if found is not None:
            known = self.places[found]
            if known.site != place.site:
                self._note_alias(known, place, True)
            return found.var

        def make(b: Builder, called: str) -> ir.Atom:
            return self._read(b, place, called if called != "%" else name)

        def read(b: Builder, c: Cell, key: Any, called: str) -> ir.Atom | None:
            return self._attribute(b, c, value, place, key, called)

        origin = Origin(make, read, State(type(value), borrowed=True))
        cell = virtual_heap.make_cell(self.context, None, name, None, origin)
        self._note(cell, value, place)
        return cell.var

    def argument(
        self, builder: Builder, known: Object, path: tuple[Any, ...], root: ir.Atom, make: Any
    ) -> ir.Atom:
        """A reference to an object that is an argument, or a part of one."""
        if known.example.value is None:
            return make(builder, "%")  # type: ignore[no-any-return]
        place = Place("argument", path, None, root)
        return self.refer(builder, facts.given(known.example.value, place.site), place, _name(path[-1]))

    def default(self, builder: Builder, fn: types.FunctionType, name: str) -> ir.Atom:
        """What a parameter of a function is where a call gives nothing for it."""
        fact = facts.default(fn, name, self.specializer.guards)
        return self.held(builder, fact, name)

    def held(self, builder: Builder, fact: Reading, name: str) -> ir.Atom:
        """What a known function holds, a default or an argument of a partial one: containers and objects, which may
        change in place, as what was there before."""
        if fact.is_(may_change_in_place):
            return self.value_at(builder, fact, Place(*fact.site), name, name, folds=False)
        return ir.Const(fact.folded(self.specializer.guards))

    def known(self, at: At, value: Any, name: str) -> ir.Atom:
        """An object that is known, as an atom."""
        if is_user_object(value):
            return self.refer(at.builder, facts.known(value), Place("value", (ir.Const(value),), None), name)
        return ir.Const(value)

    def names(self, cell: Cell) -> list[str]:
        """The attributes that a live object itself has."""
        return facts.names(self.places[cell].site, self.objects[cell]).folded(self.specializer.guards)  # type: ignore[no-any-return]

    def has(self, cell: Cell, name: str) -> bool:
        """Whether a live object has an attribute."""
        return facts.presence(self.places[cell].site, self.objects[cell], name).folded(self.specializer.guards)  # type: ignore[no-any-return]

    def guard_identity(self, cell: Cell) -> None:
        """Guard that a live object is this very one: what it says is taken by value."""
        facts.given(self.objects[cell], self.places[cell].site).folded(self.specializer.guards)

    def note_identity(self, first: Cell, second: Cell) -> None:
        """Guard that two live objects which the program compares are two, or one."""
        if first in self.places and second in self.places and first is not second:
            self._note_alias(self.places[first], self.places[second], False)

    def _note_alias(self, first: Place, second: Place, same: bool) -> None:
        facts.alias(first.site, second.site, same).folded(self.specializer.guards)

    def read_roots(self, builder: Builder) -> list[ir.Atom]:
        """The objects in globals and closures that the program looks at."""
        places = [p for p in self.places.values() if p.root != "argument" and len(p.path) == 1]
        return [self._read(builder, place, "%") for place in places]

    def note_distinct(self) -> None:
        """Guard that objects which the program changed are not others that it looks at."""
        changed = [c for c in self.objects if c in self.context.heap.states or c in self.context.heap.unknown]
        for cell in changed:
            for other in self.objects:
                if other is not cell and type(self.objects[other]) is type(self.objects[cell]):
                    self._note_alias(self.places[cell], self.places[other], False)

    def changed(self) -> Iterator[tuple[Cell, Any]]:
        """The objects that the program has changed."""
        heap = self.context.heap
        for cell, found in self.objects.items():
            if cell in heap.unknown or (cell in heap.states and heap.peek(cell) is not cell.origin.state):  # type: ignore[union-attr]
                yield cell, found

    def keep_parts(self, builder: Builder, cell: Cell, name: str | None = None) -> None:
        """Read the objects that are found through an attribute, or through the items of a container, before something
        else may be there."""
        held = {other: part for other in list(self.places) if (part := self._part_of(cell, name, other)) is not None}
        for other in held:
            virtual_heap.origin_atom(builder, other)
        place = self.places.get(cell)
        own = [] if place is None or name is None else [place.step(name)]
        self.replaced += dict.fromkeys((*own, *held.values()))

    def _part_of(self, cell: Cell, name: str | None, other: Cell) -> Place | None:
        """The part of an object or container, of a name where one is given, through which another one is found; None
        where it is not."""
        place, found = self.places.get(cell), self.places[other]
        if place is None:
            in_variable = self._variable_of(found)
            return None if in_variable is None or self.variables.get(in_variable[0]) is not cell else in_variable[1]
        above = place if name is None else place.step(name)
        if other is cell or not found.is_below(above):
            return None
        return above if name is not None else place.step(found.path[len(place.path)])

    def _variable_of(self, place: Place) -> tuple[tuple[int, str], Place] | None:
        """The variable of a module through which something is found, and its place."""
        if place.root == "global":
            scope, depth = (place.owner or self.specializer.function).__globals__, 1
        elif place.root == "module" and len(place.path) > 1 and place.path[0] in sys.modules:
            scope, depth = vars(sys.modules[place.path[0]]), 2
        else:
            return None
        return (id(scope), place.path[depth - 1]), Place(place.root, place.path[:depth], place.owner, place.base)

    def check_lengths(self) -> None:
        """Raise where the function makes a list longer or shorter that an object from outside holds, and reads it: the
        next call would need another version."""
        for cell, found in self.changed():
            state = self.context.heap.peek(cell)
            is_other = state is not cell.origin.state and state.extra is None  # type: ignore[union-attr]
            if is_other and isinstance(found, (list, collections.deque)):
                if state.whole is not None or state.size != len(found):
                    raise error("S2S185", span=cell.changed_at, name=cell.name)

    def check_kept(self) -> None:
        """Raise where the function changes a list or dict of its module or closure that is followed item by item: the
        change would be seen by the rest of the function, and lost when it is over. What libraries remember there, they
        find out anew."""
        heap = self.context.heap
        for cell, place in self.places.items():
            if place.root not in ("global", "free") or not all(isinstance(step, tuple) for step in place.path[1:]):
                continue
            if is_instance(heap.peek(cell)) or heap.peek(cell) is cell.origin.state:  # type: ignore[union-attr]
                continue
            span, is_read = cell.changed_at, id(self.objects[cell]) in self.specializer.read_attributes
            if span is None or is_read or not is_library_file(span.file, self.specializer.function):
                raise error("S2S185", span=span, name=cell.name)

    def root(self, builder: Builder, fact: Reading, place: Place) -> ir.Atom:
        """An object in a global or closure variable, or a list, tuple or dict there that holds objects."""
        name = _name(place.path[-1])
        if fact.is_(is_user_object):
            return self.refer(builder, fact, place, name)
        guarded, found = fact.described(self.specializer.guards, self.context.assumed.data)
        known = self.cells.get(id(found))
        if known is not None:
            if self.places[known].site != place.site:
                self._note_alias(self.places[known], place, True)
            return known.var
        value = without_objects(guarded)

        def make(b: Builder, wanted: str) -> ir.Atom:
            if len(place.path) > 1:
                return b.let(self._read_value(b, place), value, name)
            return b.let(ir.Load(name, place.root, place.owner), value, name)

        cell = virtual_heap.make_cell(self.context, None, name, None, self._container(make, found, value, place))
        self._note(cell, found, place)
        return cell.var

    def method(self, builder: Builder, found: types.MethodType, place: Place) -> ir.Atom:
        """A bound method of an object that exists."""
        if not is_user_object(found.__self__):
            return ir.Const(found)
        place = place.step("__self__")
        receiver = self.refer(builder, facts.given(found.__self__, place.site), place, "self")
        return bound(self.context, found.__func__, receiver)

    def value_at(
        self, builder: Builder, fact: Reading, place: Place, name: str, called: str, folds: bool = True
    ) -> ir.Atom:
        """What is found at a place in a module or a class. With ``folds`` integers are taken by value."""
        if self.specializer.unsure and fact.is_(is_setting):
            return builder.let(self._read_value(builder, place), UNKNOWN, called)
        if (folds and fact.is_(lambda found: type(found) is int)) or fact.is_(is_taken_by_value):
            return ir.Const(fact.folded(self.specializer.guards))
        if fact.is_(is_followed_by_parts):
            return self.root(builder, fact, place)
        guarded, found = fact.described(self.specializer.guards, self.context.assumed.data)
        value = without_objects(guarded)
        var = builder.let(self._read_value(builder, place), value, called if called != "%" else _name(name))
        return self.opened(var, found, place)

    def opened(self, var: ir.Atom, found: Any, place: Place, is_load: bool = False) -> ir.Atom:
        """A variable that refers to what is found at a place when the program runs."""
        if isinstance(var, ir.Var) and not is_load:
            self.context.foreign.add(var)
        if self.specializer.relied is not None:
            self.specializer.relied.opened(var, place)
        return noted(self.context, var, found)

    def read_at(self, builder: Builder, place: Place) -> ir.Atom:
        """The statements that read what is at a place when they run, whatever has been put there."""
        replaced, self.replaced = self.replaced, []
        try:
            return self._read(builder, place, "%")
        finally:
            self.replaced = replaced

    def _read_value(self, builder: Builder, place: Place) -> ir.Value:
        above = Place(place.root, place.path[:-1], place.owner, place.base)
        step, holder = place.path[-1], self._read(builder, above, "%")
        if isinstance(step, tuple):
            return ir.Call(ir.Const(operator.getitem), (holder, ir.Const(step[0])))
        return ir.Call(ir.Const(getattr), (holder, ir.Const(step)))

    def _read(self, builder: Builder, place: Place, name: str) -> ir.Atom:
        """The statements that read a live object."""
        if any(place.is_below(other) for other in self.replaced):
            raise error("S2S132", name=name.lstrip("%") or "the object", label="another object was put in its place")
        if place.root == "module" and all(type(step) is str for step in place.path):
            holder = imported(f"{place.path[0]}:{'.'.join(place.path[1:])}")
            if isinstance(holder, (types.ModuleType, type)):
                return ir.Const(holder)
        if len(place.path) == 1:
            if place.base is not None:
                return place.base
            if place.root == "value":
                return place.path[0]  # type: ignore[no-any-return]
            return builder.let(ir.Load(place.path[0], place.root, place.owner), UNKNOWN, name)
        if place.root == "module" and len(place.path) == 2:
            module = ir.Const(sys.modules[place.path[0]])
            return builder.let(ir.Call(ir.Const(getattr), (module, ir.Const(place.path[1]))), UNKNOWN, name)
        above = Place(place.root, place.path[:-1], place.owner, place.base)
        holder = self._read(builder, above, "%")
        step = place.path[-1]
        if isinstance(step, tuple):
            return builder.let(ir.Call(ir.Const(operator.getitem), (holder, ir.Const(step[0]))), UNKNOWN, name)
        return builder.let(ir.Call(ir.Const(getattr), (holder, ir.Const(step))), UNKNOWN, name)

    def _attribute(
        self, builder: Builder, cell: Cell, owner: Any, place: Place, key: Any, name: str
    ) -> ir.Atom | None:
        """An attribute that a live object itself has."""
        if not isinstance(key, str) or key not in own_names(owner):
            return None
        if key in self.context.heap.parts_of(cell):
            return self.context.heap.parts_of(cell)[key].var
        return self.value(builder, cell, facts.own(owner, key, place.site), place.step(key), key, name)

    def value(
        self, builder: Builder, holder: Cell, fact: Reading, place: Place, key: Any, name: str
    ) -> ir.Atom:
        """A part of a live object: an option by value, an object by reference, numbers and arrays as they are then."""
        if fact.is_(inspection.is_sealed):
            return builder.let(self._reread(builder, holder, place, name, _name(key)), UNKNOWN, name)
        if self.specializer.unsure and fact.is_(is_setting):
            return builder.let(self._reread(builder, holder, place, name, _name(key)), UNKNOWN, name)
        guards = self.specializer.guards
        if fact.is_(is_taken_by_value):
            found = fact.folded(guards)
            if isinstance(found, types.MethodType):
                return self.method(builder, found, place)
            return ir.Const(found)
        if fact.is_(is_user_object):
            return self.refer(builder, fact, place, _name(key))
        if self._folds_numbers(holder) and fact.is_(is_plain_number):
            self.folded.add(holder)
            return ir.Const(fact.folded(guards))  # objects of libraries have their options in numbers too
        guarded, found = fact.described(guards, self.context.assumed.data)
        known = without_objects(guarded)
        called = name if name != "%" else _name(key)

        def make(b: Builder, wanted: str) -> ir.Atom:
            made = self._reread(b, holder, place, wanted, called)
            var = b.let(made, known, wanted if wanted != "%" else called)
            return self.opened(var, found, place)

        if not virtual_heap.holds_mutable(guarded):
            return make(builder, name)
        assert isinstance(known, (Sequence, Mapping))
        seen = self.cells.get(id(found))
        if seen is not None:
            self._note_alias(self.places[seen], place, True)
            return seen.var
        part = virtual_heap.make_cell(self.context, None, called, None, self._container(make, found, known, place))
        self.context.heap.add_part(holder, key, part)
        self._note(part, found, place)
        return part.var

    def _folds_numbers(self, holder: Cell) -> bool:
        owner = self.objects.get(holder)
        return owner is not None and is_stable(type(owner)) and id(owner) not in self.context.assumed.unfolded

    def changed_folded(self) -> set[Any]:
        """The objects and containers that the program changes, or puts others in the place of, by ``id``, and the
        variables that it assigns, of which numbers were taken by value: those would be others at each call."""
        replaced = [c for c in self.folded if any(self.places[c].is_below(other) for other in self.replaced)]
        objects = {id(self.objects[c]) for c in replaced} | {id(f) for c, f in self.changed() if c in self.folded}
        assigned = {key for key, cell in self.variables.items() if cell in self.context.heap.states}
        return objects | (self.folded_variables & assigned)

    def _note(self, cell: Cell, found: Any, place: Place) -> None:
        """Remember which object a cell stands for, and where it was found."""
        self.cells[id(found)] = cell
        noted(self.context, cell.var, found)
        self.objects[cell] = found
        self.places[cell] = place

    def _reread(self, builder: Builder, holder: Cell, place: Place, wanted: str, called: str) -> ir.Value:
        base = virtual_heap.origin_atom(builder, holder)
        step = place.path[-1]
        if isinstance(step, tuple):
            return ir.Call(ir.Const(operator.getitem), (base, ir.Const(step[0])))
        return ir.Call(ir.Const(getattr), (base, ir.Const(step)))

    def _container(self, make: Any, found: Any, known: Sequence | Mapping, place: Place) -> Origin:
        """The origin of a list, tuple or dict that a live object holds."""
        keys = known.keys if isinstance(known, Mapping) else tuple(range(len(known.items)))

        def read(builder: Builder, cell: Cell, key: Any, name: str) -> ir.Atom | None:
            if key in self.context.heap.parts_of(cell):
                return self.context.heap.parts_of(cell)[key].var
            if key not in keys:
                return None
            return self.value(builder, cell, facts.item(found, key, place.site), place.step((key,)), key, name)

        kind = dict if isinstance(known, Mapping) else known.type
        return Origin(make, read, State(kind, borrowed=True), keys)
