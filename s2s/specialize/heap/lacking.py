"""Attributes that an object has on some paths only.

Where paths join of which one gave an object an attribute, a variable says whether it has it (``State.lacks``,
``joins``). A read becomes a branch on that variable: one side reads the attribute, the other one does what is done for
an object without it, which may be a default of the class, a getter, a ``__getattr__`` or an AttributeError.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from s2s.builder.virtual_heap import Cell
from s2s.core import ir
from s2s.specialize.heap.joins import Side
from s2s.specialize.site import At
from s2s.versions.boundary import Raised

if TYPE_CHECKING:
    from s2s.specialize.specializer import Specializer

__all__ = ["DEPENDS", "check_complete", "on_both", "says_whether", "whether"]

DEPENDS = "whether it has the attribute `{}` depends on the path that was taken"


def says_whether(specializer: Specializer, cell: Cell, name: str) -> ir.Atom | None:
    """The variable that says whether an object has an attribute; None where that is known."""
    return specializer.context.heap.peek(cell).lacks.get(name)


def check_complete(at: At, cell: Cell) -> None:
    """Refuse to take all attributes of an object of which it is not known whether it has them."""
    for name in at.specializer.context.heap.peek(cell).lacks:
        raise at.refuse(cell.name, DEPENDS.format(name))


def whether(specializer: Specializer, at: At, cell: Cell, name: str, ask: Callable[[At], ir.Atom]) -> ir.Atom:
    """What ``hasattr`` gives, which is the variable itself where nothing else stands in for the attribute."""
    context, base = specializer.context, specializer.context.heap
    child, context.heap = at.builder.child(), base.copy()
    context.heap.states[cell] = base.peek(cell).decided(name, False)
    try:
        without = ask(dataclasses.replace(at, builder=child))
    finally:
        context.heap = base
    if child.statements or not isinstance(without, ir.Const):
        return on_both(specializer, at, cell, name, ask)
    return without if without.value else base.peek(cell).lacks[name]


def on_both(
    specializer: Specializer, at: At, cell: Cell, name: str, do: Callable[[At], ir.Atom]
) -> ir.Atom:
    """What ``do`` gives for an object that has the attribute, and for one that has not, on two sides of a branch."""
    context, base = specializer.context, specializer.context.heap
    test = base.peek(cell).lacks[name]
    sides, given, problems = [], [], []
    for has in (True, False):
        context.heap = base.copy()
        child = at.builder.child()
        state = base.peek(cell)
        if has and isinstance(held := state.find(name), ir.Var):
            child.bound.add(held)
        context.heap.states[cell] = state.decided(name, has)
        atom, problem = _on_side(specializer, dataclasses.replace(at, builder=child), do)
        sides.append(Side(child, context.heap))
        given.append(atom)
        problems.append(problem)
    context.heap = base
    if problems[0] is not None and problems[1] is not None:
        raise problems[1]
    if problems[0] is None and problems[1] is None:
        roots = [(at.name, given[0], given[1])]
        return specializer.joined(test, base, (sides[0], sides[1]), roots, at.builder, at.span)[0]
    return _going_on(specializer, at, test, sides, given, problems)


def _on_side(specializer: Specializer, at: At, do: Callable[[At], ir.Atom]) -> tuple[ir.Atom, Raised | None]:
    specializer.undecided += 1
    specializer.there.append(specializer.context.births())
    try:
        return do(at), None
    except Raised as problem:
        return ir.UNDEFINED, problem
    finally:
        specializer.undecided -= 1
        specializer.there.pop()


def _going_on(
    specializer: Specializer, at: At, test: ir.Atom, sides: list[Side], given: list[ir.Atom], problems: list[Any]
) -> ir.Atom:
    """One side raises: the other one goes on after the branch."""
    ended = int(problems[0] is None)
    raising, going = sides[ended], sides[1 - ended]
    specializer.raise_there(problems[ended].problem, raising.builder, at.span)
    blocks = [ir.Block(()), ir.Block(())]
    blocks[ended] = raising.builder.block()
    at.builder.add(ir.If(test, blocks[0], blocks[1], (), at.span))
    at.builder.take(going.builder)
    specializer.context.heap = going.heap
    return given[1 - ended]
