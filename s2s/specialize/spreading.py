"""Arguments of calls: ``*`` and ``**`` of containers that are known are spread out."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from s2s.builder.builder import Builder, Context
from s2s.builder.virtual_heap import cell_of, state_of
from s2s.core import ir
from s2s.core.limits import FEW_ARGUMENTS
from s2s.core.values import Array, Known, Mapping
from s2s.specialize.frames import Frame
from s2s.specialize.heap import lazy
from s2s.specialize.site import At

if TYPE_CHECKING:
    from s2s.specialize.specializer import Specializer

__all__ = ["arguments"]

_UNORDERED = tuple(map(ir.Const, (np.broadcast_shapes, math.gcd, math.lcm)))
"""Functions that give the same for their arguments in any order."""


def arguments(
    specializer: Specializer, callee: ir.Atom, args: Any, kwargs: Any, frame: Frame, builder: Builder,
    span: ir.Span | None,
) -> tuple[list[Any], dict[str | None, ir.Atom]]:
    """The arguments of a call with ``*`` and ``**`` of known containers spread out."""
    positional: list[Any] = []
    for arg in args:
        if isinstance(arg, ir.Star):
            atom = specializer.atom(arg.atom, frame)
            if atom in specializer.context.generators:
                atom = lazy.listed(At(specializer, frame, builder, span), atom)
            items = specializer.items.known(atom, builder, span)
            if items is None and callee in _UNORDERED:
                items = _items_of_set(specializer.context, atom)
            if items is None:
                items = _rows(specializer.context, atom, builder, span)
            positional.extend([ir.Star(atom)] if items is None else items)
        else:
            positional.append(specializer.atom(arg, frame))
    keywords: dict[str | None, ir.Atom] = {}
    for key, value in kwargs:
        atom = specializer.atom(value, frame)
        if key is not None:
            keywords[key] = atom
            continue
        mapping = specializer.context.value(atom)
        if cell_of(specializer.context, atom) is not None:
            found = specializer.items.entries(atom, builder, span)
            keywords |= found if found is not None else {None: builder.frozen(atom)}
        elif isinstance(mapping, Mapping):
            for k in mapping.keys:
                keywords[k] = builder.call(operator.getitem, atom, ir.Const(k), span=span)
        elif isinstance(mapping, Known) and isinstance(mapping.value, dict):
            keywords |= {k: ir.Const(v) for k, v in mapping.value.items()}
        else:
            keywords[None] = atom
    return positional, keywords


def _items_of_set(context: Context, atom: ir.Atom) -> list[ir.Atom] | None:
    """The items of a set of the program, in whatever order, where they are known."""
    state = state_of(context, atom)
    return list(state.items) if state is not None and state.kind is set and state.whole is None else None


def _rows(context: Context, atom: ir.Atom, builder: Builder, span: ir.Span | None) -> list[ir.Atom] | None:
    """The items of an array of known length, where it is short."""
    value = context.value(atom)
    length = value.shape[0] if isinstance(value, Array) and value.shape else None
    if length is None or not length.is_constant or length.offset > FEW_ARGUMENTS:
        return None
    return [builder.call(operator.getitem, atom, ir.Const(k), span=span) for k in range(length.offset)]
