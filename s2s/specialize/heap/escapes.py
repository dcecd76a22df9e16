"""Objects of the heap that a value of the running program may be.

Where paths meet, a container may become an ordinary value: ``same(d)`` is ``d`` or a new dict, by the branch that is
taken. What is done to that value when the program runs may be done to the container. The heap does not see it, so what
the container holds afterwards is not known: it is *unknown*, and reading it is refused.

    q = d if flag[0] > 0 else dict(d); q["w"] = 5.0; return d["w"]      what `d` holds here is not known
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from s2s.analysis.abstract.lattice import is_number
from s2s.builder.virtual_heap import Cell, cell_of, is_mutable
from s2s.core import ir
from s2s.core.closures import Closure
from s2s.core.values import Array, Unknown
from s2s.errors import error

if TYPE_CHECKING:
    from s2s.builder.builder import Context

CHANGED = "it may be what was changed through a value that is known when the program runs"


def note_change(context: Context, atoms: Iterable[ir.Atom]) -> None:
    """Values of the running program may be changed: lose what the objects hold that they may be. Raises
    UnsupportedSyntaxError for containers of like items, as the items may not be like any more."""
    if not context.made_from and not context.data:
        return
    cells, arguments = _behind(context, atoms)
    for var in arguments:
        if var in context.data:
            raise error("S2S112", name=var.name)
    for cell in cells:
        _lose(context, cell)


def note_call(context: Context, callee: ir.Atom, given: Iterable[ir.Atom]) -> None:
    """A function that is called when the program runs may change what it is given, and what it is a method of or has
    captured; not the container that it was read from."""
    if context.made_from or context.data:
        note_change(context, [*given, *_held_by(context, callee)])


def captured_by(context: Context, atoms: Iterable[ir.Atom]) -> list[ir.Atom]:
    """What the functions of the program among some values have captured, those inside them included."""
    found: list[ir.Atom] = []
    todo, seen = [*atoms], set[ir.Atom]()
    while todo:
        atom = todo.pop()
        value = context.value(atom)
        if isinstance(value, Closure) and atom not in seen:
            seen.add(atom)
            held = [a for a in (*value.captures, *value.defaults) if isinstance(a, ir.Var)]
            found += held
            todo += held
    return found


def _held_by(context: Context, callee: ir.Atom) -> list[ir.Atom]:
    """The objects that a function is a method of, and what it has captured."""
    found: list[ir.Atom] = []
    todo, seen = [callee], set[ir.Atom]()
    while todo:
        atom = todo.pop()
        if not isinstance(atom, ir.Var) or atom in seen:
            continue
        seen.add(atom)
        made = context.definitions.get(atom)
        if isinstance(made, ir.MakeFunction) or (isinstance(made, ir.Call) and made.fn == ir.Const(getattr)):
            found += ir.atoms_of(made)
        elif made is not None:
            todo += ir.atoms_of(made)
        todo += context.joins.get(atom, [])
    return found


def _behind(context: Context, atoms: Iterable[ir.Atom]) -> tuple[list[Cell], list[ir.Var]]:
    """The objects that some values were made of, and the arguments."""
    found: list[Cell] = []
    arguments: list[ir.Var] = []
    todo, seen = [a for a in atoms if isinstance(a, ir.Var)], set[ir.Var]()
    while todo:
        var = todo.pop()
        if var in seen or isinstance(context.value(var), Array) or is_number(context.value(var)):
            continue
        seen.add(var)
        cells = context.made_from.get(var, ())
        found += cells
        made = context.definitions.get(var)
        if made is None:
            arguments.append(var)
        elif not cells and not _is_of_arrays(made) and not _is_of_function(context, made):
            todo += [a for a in ir.atoms_of(made) if isinstance(a, ir.Var)]
        todo += context.joins.get(var, [])
    return found, arguments


def _is_of_arrays(value: ir.Value) -> bool:
    """Whether a function of NumPy makes numbers or arrays of what it is given."""
    fn = value.fn.value if isinstance(value, ir.Call) and isinstance(value.fn, ir.Const) else None
    return isinstance(fn, np.ufunc) or (getattr(fn, "__module__", None) or "").split(".")[0] in ("numpy", "scipy")


def _is_of_function(context: Context, value: ir.Value) -> bool:
    """Whether it is an attribute of a nested function: not what the function has captured."""
    read = isinstance(value, ir.Call) and value.fn == ir.Const(getattr) and value.args[0]
    return isinstance(read, ir.Var) and isinstance(context.definitions.get(read), ir.MakeFunction)


def _lose(context: Context, cell: Cell) -> None:
    heap = context.heap
    held = cell in heap.states or cell.origin is not None
    if cell in heap.unknown or not held or not is_mutable(context, cell.var):
        return
    state = heap.peek(cell)
    if state.whole is not None and isinstance(context.value(state.whole), Unknown):
        return  # the container itself, read when the program runs
    if not issubclass(state.kind, tuple):
        heap.unknown[cell] = CHANGED
    inner = [cell_of(context, item) for item in state.items]
    for other in (*inner, *heap.parts_of(cell).values(), *heap.entangled.get(cell, ())):
        if other is not None:
            _lose(context, other)


__all__ = ["CHANGED", "captured_by", "note_call", "note_change"]
