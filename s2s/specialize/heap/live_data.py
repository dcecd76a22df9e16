"""A container that was read from a variable or an attribute goes in, and is watched: a loop over many like items is not
written out for each, but asks that they are taken for data, so that the loop stays one.

    for i, j in EDGES:                       EDGES is a list of 30 pairs: IterableOf(list, (int, int))
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from s2s.analysis.abstract.parts import holds_items
from s2s.builder.builder import Context
from s2s.builder.virtual_heap import Cell
from s2s.core import ir
from s2s.versions.assumptions import Refuted
from s2s.versions.live_data import describe_data

__all__ = ["ask_for_data", "noted"]

_DEEPEST = 6
"""So many views of a container are looked through: ``enumerate(zip(a, b))``."""


def noted(context: Context, atom: ir.Atom, found: Any) -> ir.Atom:
    """A value that was read from a variable or an attribute, where it is ``found``. It must stay as it is where it is
    data."""
    if isinstance(atom, ir.Var):
        if holds_items(context.value(atom)):
            context.data.add(atom)
        elif type(found) in (list, tuple, dict):
            context.live[atom] = found
    return atom


def ask_for_data(context: Context, iterable: ir.Atom, cells: Iterable[Cell]) -> None:
    """Raise Refuted where what a loop runs over comes from containers that can be data; ``cells`` are those of the
    heap that it looks at."""
    if context.assumed.structures or not context.live:
        return
    containers = [context.live[cell.var] for cell in cells if cell.var in context.live]
    containers += _behind(context, iterable, _DEEPEST)
    found = {id(container): container for container in containers if describe_data(container)}
    if found:
        raise Refuted(data=found)


def _behind(context: Context, atom: ir.Atom, depth: int) -> list[Any]:
    """The containers that were read of which a value is a view, or the whole."""
    if not isinstance(atom, ir.Var) or depth == 0:
        return []
    if atom in context.live:
        return [context.live[atom]]
    made = context.definitions.get(atom)
    parts = ir.atoms_of(made) if isinstance(made, ir.Call) else ()
    return [container for part in parts for container in _behind(context, part, depth - 1)]
