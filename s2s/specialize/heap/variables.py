"""Variables of modules that the program assigns: each is an object from outside with one attribute, which has its name.

    global COUNT                  count = rt.read_now(COUNT)
    COUNT = COUNT + 1      ->     t0 = count + 1
    return x * COUNT              rt.record_variable(globals(), "COUNT", t0)
                                  return x * t0

A variable in which the program has put nothing is read as it was at first, under the guards of that.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from s2s import runtime as rt
from s2s.builder import virtual_heap
from s2s.builder.builder import Builder
from s2s.builder.virtual_heap import Cell, Heap, Origin, State
from s2s.core import ir
from s2s.core.values import UNKNOWN
from s2s.errors import error
from s2s.specialize.frames import Frame, lookup
from s2s.specialize.heap.given_arrays import copies_in
from s2s.specialize.site import At
from s2s.versions import facts

if TYPE_CHECKING:
    from s2s.specialize.specializer import Specializer

__all__ = [
    "Variable", "all_of", "assign", "check_unseen", "forget_assigned", "is_variable", "of_function", "of_module",
    "stored",
]


class Variable:
    """The type of a variable of a module on the heap."""


def is_variable(cell: Cell) -> bool:
    """Whether a cell stands for a variable of a module."""
    return cell.origin is not None and cell.origin.state.kind is Variable


def of_function(at: At, name: str, owner: types.FunctionType | None = None) -> Cell:
    """The global variable of this name of a function, that of the place where no other is given."""
    fn, specializer = owner or at.frame.fn, at.specializer
    found = specializer.live_objects.variables.get((id(fn.__globals__), name))
    if found is not None:
        return found
    frame, load = Frame(fn, owner or at.frame.owner), ir.Load(name, "global")

    def scope(builder: Builder, called: str) -> ir.Atom:
        return all_of(At(specializer, frame, builder, None))

    def read(builder: Builder) -> ir.Atom | None:
        fact = lookup(load, fn, frame.owner)
        if fact.is_missing:
            fact.folded(specializer.guards)
            return None
        return specializer.value(load, frame, builder, None, name, False)

    return _made(specializer, fn.__globals__, name, scope, read)


def all_of(at: At) -> ir.Atom:
    """The dict of the variables of the module of a place: ``globals()`` where the generated code has its names from it.
    """
    written_in, compiled = at.frame.owner, at.specializer.function
    if written_in is None or written_in.__globals__ is compiled.__globals__:
        return at.builder.let(ir.Call(ir.Const(globals), ()), UNKNOWN)
    module = facts.module_if_loaded(written_in.__module__).folded(at.guards)
    if module is None or vars(module) is not written_in.__globals__:
        raise at.refusal("S2S115", name="globals")
    return at.builder.let(ir.Call(ir.Const(vars), (ir.Const(module),)), UNKNOWN)


def of_module(at: At, module: types.ModuleType, name: str) -> Cell:
    """The variable of this name of a module."""
    specializer, frame = at.specializer, at.frame
    found = specializer.live_objects.variables.get((id(vars(module)), name))
    if found is not None:
        return found

    def scope(builder: Builder, called: str) -> ir.Atom:
        return builder.let(ir.Call(ir.Const(vars), (ir.Const(module),)), UNKNOWN)

    def read(builder: Builder) -> ir.Atom | None:
        fact = facts.attribute(module, name, specializer.guards)
        if fact.is_missing:
            fact.folded(specializer.guards)
            return None
        return specializer.apply(ir.Const(getattr), [ir.Const(module), ir.Const(name)], {}, frame, builder, None)

    return _made(specializer, vars(module), name, scope, read)


def _made(
    specializer: Specializer, of: dict[str, Any], name: str, scope: Callable[[Builder, str], ir.Atom],
    read: Callable[[Builder], ir.Atom | None],
) -> Cell:
    """The cell of a variable, of which ``scope`` gives the variables of its module, and ``read`` what it holds."""
    origin = Origin(scope, lambda builder, cell, key, called: read(builder), State(Variable, borrowed=True))
    made = virtual_heap.make_cell(specializer.context, None, name, None, origin)
    specializer.live_objects.variables[id(of), name] = made
    return made


def stored(at: At, cell: Cell) -> ir.Atom | None:
    """What the program has put into a variable; None where it has put nothing there."""
    heap = at.context.heap
    if heap.unknown.get(cell) == _NESTED:
        scope = virtual_heap.origin_atom(at.builder, cell)
        read = ir.Call(ir.Const(rt.now), (ir.Const(operator.getitem), scope, ir.Const(cell.name)))
        return at.builder.let(read, UNKNOWN, cell.name, at.span)
    state = heap.state(cell, at.span)
    if cell.name in state.lacks:
        label = "whether it has a value depends on the path that was taken"
        raise at.refusal("S2S108", name=cell.name, label=label, hint="assign it on all paths, or before the call")
    return state.find(cell.name)


def check_unseen(specializer: Specializer, seen: Collection[int]) -> None:
    """Raise where the program assigns a variable of a module of which it has seen the dict of all of them: what is read
    and written there goes by nobody's name. ``seen`` are containers, by ``id``."""
    for (scope, name), cell in specializer.live_objects.variables.items():
        if cell in specializer.context.heap.states and scope in seen:
            label = "the function reads the dict of all variables of the module as well"
            raise error("S2S108", span=cell.changed_at, name=name, label=label, hint=f"read `{name}` by its name")


def forget_assigned(inner: Heap, outer: Heap) -> None:
    """Forget what variables hold that a function has assigned whose derivative was taken: how often it runs is not
    known. ``inner`` is the heap at its end, ``outer`` that around it."""
    for cell, state in inner.states.items():
        if is_variable(cell) and state is not outer.peek(cell):
            outer.unknown.setdefault(cell, _NESTED)


_NESTED = "a function whose derivative is taken here assigns it"


def assign(at: At, cell: Cell, value: ir.Atom) -> None:
    """Put a value into a variable."""
    heap = at.context.heap
    if heap.unknown.get(cell) == _NESTED:
        del heap.unknown[cell]
    before = len(at.builder.statements)
    at.specializer.instances.put(at, cell.var, cell.name, value)
    at.specializer.live_objects.copies.update(copies_in(at.builder.statements[before:], at.context))
