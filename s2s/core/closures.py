"""The abstract value of a nested function: a dataclass, to which ``specialize`` adds what it knows of the frame."""

from __future__ import annotations

from dataclasses import dataclass

from s2s.core import ir


@dataclass(frozen=True, slots=True)
class Closure:
    """A function made inside the function compiled, with the atoms that it captured."""

    function: ir.Function
    captures: tuple[ir.Atom, ...]
    defaults: tuple[tuple[str, ir.Atom], ...] = ()
