"""What a program changes of objects that live outside, and of lists and dicts that they hold: it is done in the forward
sweep, where the program does it.

    self.calls += 1                     rt.record_attribute(self, "calls", self.calls + 1)
    self.last = y                       rt.record_attribute(self, "last", rt.as_it_is(y))
    self.best["y"] = y                  rt.record_item(self.best, "y", y)

What the function itself reads afterwards comes from the heap, with its derivative. A list, dict or object of the
program that is given to such an object has a *mirror* from there on, the one that the object holds: what changes one
changes the other.
"""

from __future__ import annotations

import collections
import operator
import types
from typing import TYPE_CHECKING, Any

from s2s import runtime as rt
from s2s.analysis.abstract.lattice import is_number
from s2s.builder import virtual_heap
from s2s.builder.virtual_heap import Cell, State, cell_of, is_dict, is_instance, is_sequence
from s2s.core import ir, operators, ops
from s2s.core.inspection import class_attribute
from s2s.core.values import UNKNOWN, Array, Scalar, Unknown
from s2s.errors import error
from s2s.specialize.frames import MISSING
from s2s.specialize.heap import variables
from s2s.specialize.heap.classes import is_descriptor
from s2s.specialize.heap.variables import is_variable
from s2s.versions.facts import is_replaceable

if TYPE_CHECKING:
    from s2s.specialize.site import At
    from s2s.specialize.specializer import Specializer

__all__ = ["attribute", "before", "check_unread", "content", "is_changed_outside", "read_again", "static"]

def attribute(at: At, cell: Cell, name: str, value: ir.Atom) -> None:
    """An object has been given an attribute."""
    if _is_of_others(at, cell):
        at.specializer.live_objects.keep_parts(at.builder, cell, name)
        effect = rt.record_variable if is_variable(cell) else rt.record_attribute
        _do(at, effect, _real(at, cell), ir.Const(name), _outside(at, value))


def static(at: At, owner: ir.Atom, name: str, value: ir.Atom, op: Any, was: ir.Atom | None) -> bool:
    """An attribute of a module is assigned, or one of a class, which nothing here reads; False for other owners."""
    of = owner.value if isinstance(owner, ir.Const) else None
    if not is_replaceable(of) or class_attribute(type(of), "__setattr__") not in _SETTERS:
        return False
    if isinstance(of, types.ModuleType):
        if op is not None:
            old = at.apply(getattr, owner, ir.Const(name)) if was is None else was
            value = at.apply(operators.IN_PLACE[op], old, value)
        variables.assign(at, variables.of_module(at, of, name), value)
        return True
    specializer, held = at.specializer, class_attribute(of, name) if isinstance(of, type) else MISSING
    is_varied = at.context.is_varied(value) or at.context.is_virtual(value)
    if name in specializer.read_statics or is_descriptor(held):
        return False
    if is_varied and (specializer.is_dynamic or specializer.has_left):
        return False
    specializer.assigned_statics[name] = at.span
    if is_varied:
        specializer.varied_statics[name] = at.span
    given = (owner, ir.Const(name), _outside(at, value))
    _do(at, rt.record_static, *given, *(() if op is None else (ir.Const(op),)))
    return True


_SETTERS = (type.__setattr__, types.ModuleType.__setattr__, object.__setattr__)


def check_unread(specializer: Specializer) -> None:
    """Raise where an attribute of a class is assigned that the program reads: a version has taken it as it was; or
    something differentiated is assigned where functions are called that nobody has read."""
    for name, span in specializer.assigned_statics.items():
        if name in specializer.read_statics or (specializer.has_left and name in specializer.varied_statics):
            raise error("S2S113", span=span)


def is_changed_outside(at: At, cell: Cell, state: State) -> bool:
    """Whether an object outside has changed since it was first read."""
    return _is_of_others(at, cell) and (cell.origin is None or state is not cell.origin.state)


def _is_of_others(at: At, cell: Cell) -> bool:
    """Whether others see what a cell stands for: an object or a variable from outside, or what one of them holds."""
    return cell in at.context.heap.mirrors or cell in at.specializer.live_objects.objects or is_variable(cell)


def read_again(at: At, harmless: bool) -> None:
    """A function was called that nobody has read: numbers and arrays that were stored into objects outside may be
    others now, of the same kind, which is checked; what the containers hold that were changed is not known."""
    heap = at.context.heap
    if harmless:
        return
    for cell, state in list(heap.states.items()):
        if not is_changed_outside(at, cell, state) or cell in heap.unknown:
            continue
        if not is_instance(state):
            heap.unknown[cell] = CALLED
            continue
        made = {key: _attribute_now(at, cell, key, item) for key, item in state.entries().items()}
        known = {key: item for key, item in made.items() if item is not None}
        if len(known) < len(made):
            heap.unknown[cell] = CALLED
        else:
            heap.states[cell] = state.with_entries(known)


def _attribute_now(at: At, cell: Cell, key: str, item: ir.Atom) -> ir.Atom | None:
    """What an object outside has for an attribute to which ``item`` was assigned; None where that is not known."""
    context, known, held = at.context, at.context.value(item), cell_of(at.context, item)
    is_object = held is not None and _is_of_others(at, held)
    value = known if isinstance(known, (Scalar, Array)) else UNKNOWN
    read_now = ir.Const(operator.getitem if is_variable(cell) else getattr)
    read = at.builder.let(ir.Call(read_now, (_real(at, cell), ir.Const(key))), value, key)
    name = ir.Const(key if is_variable(cell) else f"{cell.name}.{key}")
    if held is None and value != UNKNOWN:
        _do(at, rt.check_kind, read, _let(at, rt.kind_of, item), name)
        context.foreign.add(read)  # type: ignore[arg-type]
        return read
    if held is None and isinstance(known, Unknown):
        context.foreign.add(read)  # type: ignore[arg-type]
        return read
    if isinstance(item, ir.Const) or is_object:
        _do(at, rt.check_option, read, item if held is None else _real(at, held), name)
        return item
    return None


CALLED = "a function that is called when the program runs may have changed it"


def before(at: At, cell: Cell) -> dict[Any, ir.Atom] | None:
    """What a container outside holds that is about to change; None for others, and where it is not known one by one."""
    if not _is_outside(at.specializer, cell):
        return None
    return virtual_heap.contents(at.builder, cell, at.span)


def content(at: At, cell: Cell, held: dict[Any, ir.Atom] | None, state: State, appended: ir.Atom | None) -> None:
    """A container has changed that held ``held``: one item was appended, or it is in another ``state``."""
    if not _is_outside(at.specializer, cell):
        return
    real = _real(at, cell)
    at.specializer.live_objects.keep_parts(at.builder, cell)
    if appended is not None:
        _append(at, real, appended)
        return
    entries = state.entries()
    if state.whole is not None or held is None or not _is_kept(held, state):
        _do(at, rt.record_content, real, _all(at, state))
        return
    for key, item in entries.items():
        if key not in held and not is_dict(state):
            _append(at, real, item)
        elif held.get(key) != item:
            _do(at, rt.record_item, real, ir.Const(key), _outside(at, item))
    for key in held:
        if key not in entries:
            _do(at, rt.remove_item, real, ir.Const(key))


def _is_kept(held: dict[Any, ir.Atom], state: State) -> bool:
    """Whether the items that were there are there still, or others in their places: none has moved."""
    if is_dict(state):
        order = [key for key in held if state.find(key) is not None]
        return list(state.keys)[: len(order)] == order
    return is_sequence(state) and state.extra is None and state.size >= len(held)


def _all(at: At, state: State) -> ir.Atom:
    """What a container holds, as an ordinary one."""
    if state.whole is not None:
        return _let(at, rt.as_it_is, state.whole)
    items = {key: _outside(at, item) for key, item in state.entries().items()}
    if is_dict(state):
        return at.builder.call(ops.make_dict, *(a for k, v in items.items() for a in (ir.Const(k), v)))
    return at.builder.call(ops.make_tuple, *items.values())


def _append(at: At, real: ir.Atom, item: ir.Atom) -> None:
    _do(at, rt.record, _let(at, getattr, real, ir.Const("append")), _outside(at, item))


def _do(at: At, effect: Any, *args: ir.Atom) -> None:
    at.builder.add(ir.Let(None, ir.Call(ir.Const(effect), args), at.span))


# --- what is outside ------------------------------------------------------------------------------------------------


def _is_outside(specializer: Specializer, cell: Cell) -> bool:
    """Whether a container is held by an object from outside: one in a variable is a log, or followed and refused."""
    if cell in specializer.context.heap.mirrors:
        return True
    place = specializer.live_objects.places.get(cell)
    if place is None or is_instance(specializer.context.heap.peek(cell)):
        return False
    return place.root not in ("global", "free") or not all(isinstance(step, tuple) for step in place.path[1:])


def _real(at: At, cell: Cell) -> ir.Atom:
    """What is outside and stands for a cell."""
    mirror = at.context.heap.mirrors.get(cell)
    return virtual_heap.origin_atom(at.builder, cell) if mirror is None else mirror


def _outside(at: At, value: ir.Atom, around: tuple[Cell, ...] = ()) -> ir.Atom:
    """A value as what others may hold: not the arrays that the sweeps write over, and no object of the heap."""
    context, cell = at.context, cell_of(at.context, value)
    if cell is not None and _is_of_others(at, cell):
        return _real(at, cell)
    if isinstance(value, ir.Const) or is_number(context.value(value)):
        return value
    if cell is None and (value in context.foreign or isinstance(context.definitions.get(value), ir.Load)):
        return value
    if cell is None or cell.origin is not None:
        return _let(at, rt.as_it_is, at.builder.frozen(value))
    if cell in around:
        raise error("S2S133", span=at.span, name=cell.name)
    made = _made(at, cell, context.heap.state(cell, at.span), (*around, cell))
    if not issubclass(context.heap.peek(cell).kind, tuple):
        context.heap.mirrors[cell] = made
    return made


def _made(at: At, cell: Cell, state: State, around: tuple[Cell, ...]) -> ir.Atom:
    """An ordinary object that holds what one of the heap does."""
    kind, whole = state.kind, state.whole
    if whole is not None:
        made = _let(at, rt.as_it_is, whole)
    else:
        items = {key: _outside(at, item, around) for key, item in state.entries().items()}
        flat = [a for key, item in items.items() for a in (ir.Const(key), item)]
        if is_instance(state) and kind is not super:
            return _let(at, rt.make_object, ir.Const(kind), *flat)
        if issubclass(kind, tuple):
            return _let(at, *((ops.make_tuple,) if kind is tuple else (kind,)), *items.values())
        make = ops.make_dict if is_dict(state) else ops.make_set if kind is set else ops.make_list
        made = _let(at, make, *(flat if is_dict(state) else items.values()))
    if kind in (list, dict, set):
        return made
    if kind is collections.deque:
        return _let(at, kind, made, ir.Const(state.extra))
    if kind is collections.OrderedDict:
        return _let(at, kind, made)
    if kind is collections.defaultdict and isinstance(state.extra, ir.Const):
        return _let(at, kind, state.extra, made)
    raise at.refuse(cell.name, "it is given to an object that lives outside of the function")


def _let(at: At, fn: Any, *args: ir.Atom) -> ir.Atom:
    return at.builder.let(ir.Call(ir.Const(fn), args), UNKNOWN)
