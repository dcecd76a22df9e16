"""What a function may be given that is called when the program runs, and what is known of it afterwards."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from s2s.builder import virtual_heap
from s2s.core import ir
from s2s.core.closures import Closure
from s2s.core.values import Mapping, Sequence
from s2s.errors import DifferentiationError, error
from s2s.specialize.frames import name_of

if TYPE_CHECKING:
    from s2s.builder.builder import Builder, Context

__all__ = ["check_captured", "check_handed_over", "check_live", "check_seen", "changed_live", "plain", "release"]


_WRAPPERS = (functools.partial, np.vectorize)
"""What makes a function of one that it is given."""


def plain(argument: Any) -> ir.Atom:
    """An argument without its star."""
    return argument.atom if isinstance(argument, ir.Star) else argument  # type: ignore[no-any-return]


def check_handed_over(
    callee: ir.Atom, given: Iterable[Any], varied: bool, builder: Builder, span: ir.Span | None
) -> None:
    """Refuse what a function that is called when the program runs may not be given; objects that it gets may not
    change from here on."""
    atoms = [*map(plain, given)]
    if varied:
        check_captured(builder.context, atoms, span)
    check_live(builder.context, callee, span)
    release([a for a in atoms if virtual_heap.is_mutable(builder.context, a)], True, builder)


def check_captured(context: Context, atoms: Iterable[Any], span: ir.Span | None) -> None:
    """Refuse a nested function that has captured something differentiated: a function that is transformed when it runs
    does not see what such a function reads."""
    if any(_has_captured(context, atoms)):
        raise error("S2S143", span=span)


def _has_captured(context: Context, atoms: Iterable[Any]) -> Iterator[bool]:
    """For each value, whether it is or holds a nested function that has captured something differentiated."""
    for atom in atoms:
        value = context.value(atom)
        is_wrapped = any(context.definition(atom, maker) is not None for maker in _WRAPPERS)
        if is_wrapped or (isinstance(value, (Sequence, Mapping)) and atom in context.definitions):
            yield any(_has_captured(context, map(plain, ir.atoms_of(context.definitions[atom]))))
        else:
            yield isinstance(value, Closure) and context.is_varied(atom)


def check_live(context: Context, callee: ir.Atom, span: ir.Span | None) -> None:
    """Refuse a call that is decided at run time after an object that exists was changed: the function might look at
    the object, which is as it was."""
    cell = changed_live(context)
    if cell is not None:
        raise _may_read(callee, cell, span)


def check_seen(context: Context, callee: ir.Atom, given: Iterable[ir.Atom], span: ir.Span | None) -> None:
    """Refuse a call that is decided at run time after something differentiated was stored into an object that exists:
    what the function reads of the object has no derivative. One that is given a list or dict which such an object
    holds, and which was changed, would be given a copy of it."""
    heap, held = context.heap, {virtual_heap.cell_of(context, atom) for atom in given}
    for cell in (*heap.written, *_changed_live(context)):
        is_copied = cell in held and not virtual_heap.is_instance(heap.peek(cell))
        if is_copied or cell in heap.written or virtual_heap.is_varied(context, cell):
            raise _may_read(callee, cell, span)
    for cell in heap.mirrors:
        if cell in held or virtual_heap.is_varied(context, cell):
            raise _may_read(callee, cell, span)


def _may_read(callee: ir.Atom, cell: virtual_heap.Cell, span: ir.Span | None) -> DifferentiationError:
    fn = name_of(callee.value) if isinstance(callee, ir.Const) else "a function"
    return error("S2S139", span=span, name=cell.name, fn=fn)


def changed_live(context: Context) -> virtual_heap.Cell | None:
    """An object that exists and that the program has changed: whoever looks at the object itself sees it as it was."""
    return next(iter((*context.heap.written, *_changed_live(context))), None)


def _changed_live(context: Context) -> list[virtual_heap.Cell]:
    return [
        cell for cell, state in context.heap.states.items()
        if cell.origin is not None and cell.origin.root is None and state is not cell.origin.state]


def release(given: Iterable[ir.Atom], varied: bool, builder: Builder) -> None:
    """Objects that a function which is not known may refer to, or change, from here on."""
    for atom in given:
        if not varied:
            virtual_heap.forget(builder, atom)
        virtual_heap.close(builder.context, atom, "a function that is called when the program runs may refer to it")
