"""Which indices of one axis certainly differ: by the loops that they are the items of.

    for k in range(n):
        for j in range(k + 1, n):       j and k are two places, neither counts from the end
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

from s2s.analysis.inequalities import Linear, are_impossible
from s2s.core import ir
from s2s.core.values import AbstractValue, Known, Scalar

__all__ = ["Distinct"]

_SIGNS = {operator.add: 1, operator.sub: -1}
_DEPTH = 6


class Distinct:
    """The integers of one function; ``made`` has what each variable was made by."""

    def __init__(
        self, function: ir.Function, made: Mapping[Any, ir.Value], value_of: Callable[[ir.Atom], AbstractValue]
    ) -> None:
        self.made = made
        self.value_of = value_of
        self.iterables = {s.item: s.iterable for s in ir.walk(function.body) if isinstance(s, ir.For)}
        self.known: dict[tuple[ir.Atom, ir.Atom], bool] = {}

    def are(self, one: ir.Atom, other: ir.Atom) -> bool:
        """Whether two indices are certainly two places, counted from the same end."""
        if isinstance(one, ir.Const) and isinstance(other, ir.Const):
            return one != other and (one.value < 0) == (other.value < 0)
        key = one, other
        if key not in self.known:
            self.known[key] = self._are(one, other)
        return self.known[key]

    def _are(self, one: ir.Atom, other: ir.Atom) -> bool:
        bounds: dict[ir.Var, list[Linear]] = {}
        first, second = self._linear(one, bounds), self._linear(other, bounds)
        positive = [bound for found in bounds.values() for bound in found]
        if not are_impossible([first.plus(second, -1)], positive):
            return False
        return all(are_impossible([], [*positive, form.scaled(-1).shifted(-1)]) for form in (first, second))

    def _linear(self, atom: ir.Atom, bounds: dict[ir.Var, list[Linear]], depth: int = _DEPTH) -> Linear:
        """An integer in terms of others, whose bounds by their loops are added."""
        known = self.value_of(atom)
        if isinstance(atom, ir.Const) or isinstance(known, Known):
            value = atom.value if isinstance(atom, ir.Const) else known.value  # type: ignore[union-attr]
            return Linear(value) if type(value) is int else Linear(0, {("?", id(atom)): 1})
        if atom in self.iterables:
            if atom not in bounds:
                bounds[atom] = []  # before those of its own bounds are looked at
                bounds[atom] = self._bounds(atom, bounds, depth)
            return Linear(0, {atom: 1})
        made = self.made.get(atom)
        is_sum = isinstance(made, ir.Call) and isinstance(made.fn, ir.Const) and made.fn.value in _SIGNS
        if depth and is_sum and isinstance(known, Scalar) and known.type is int:
            parts = made.args  # type: ignore[union-attr]
            if all(self._is_int(a) for a in parts):
                left, right = (self._linear(a, bounds, depth - 1) for a in parts)  # type: ignore[arg-type]
                return left.plus(right, _SIGNS[made.fn.value])  # type: ignore[union-attr]
        return Linear(0, {atom: 1})

    def _is_int(self, atom: Any) -> bool:
        known = self.value_of(atom)
        if isinstance(known, Known):
            return type(known.value) is int
        return isinstance(known, Scalar) and known.type is int

    def _bounds(self, item: ir.Var, bounds: dict[ir.Var, list[Linear]], depth: int) -> list[Linear]:
        """What is 0 or more of the items of a range, or of one that is run through backwards."""
        made = self.made.get(self.iterables[item])
        while isinstance(made, ir.Call) and made.fn == ir.Const(reversed) and len(made.args) == 1:
            made = self.made.get(made.args[0])
        if not depth or not isinstance(made, ir.Call) or made.fn != ir.Const(range) or made.kwargs:
            return []
        args = (ir.Const(0), *made.args, ir.Const(1)) if len(made.args) == 1 else (*made.args, ir.Const(1))
        step = args[2]
        if not isinstance(step, ir.Const) or type(step.value) is not int or not all(map(self._is_int, args[:2])):
            return []
        form = Linear(0, {item: 1})
        start, stop = (self._linear(a, bounds, depth - 1) for a in args[:2])  # type: ignore[arg-type]
        if step.value > 0:
            return [form.plus(start, -1), stop.plus(form, -1).shifted(-1)]
        return [start.plus(form, -1), form.plus(stop, -1).shifted(-1)]
