"""Sums of two products of matrices that have a factor in common are one product. A function with its sweeps goes in;
one in which the reverse sweep has fewer products comes out.

    x_bar = x @ g                       x_bar = x @ (g + g.T)
    x_bar += (g @ x.T).T        ->

    a_bar = u @ v.T - w @ v.T   ->      a_bar = (u - w) @ v.T

The value of the function is computed as it is written, where it is asked for.
"""

from __future__ import annotations

import operator

import numpy as np

from s2s.analysis.memory import Memory
from s2s.builder.builder import Builder, Context
from s2s.core import ir
from s2s.core.record import record
from s2s.core.values import Array
from s2s.optimize.contractions import are_equal
from s2s.optimize.dead import drop_dead
from s2s.optimize.matrix_products import rank
from s2s.optimize.rewriting import count_uses, map_blocks, without_result
from s2s.optimize.triangular import TRANSPOSES

__all__ = ["take_out_common_factors"]

_SUMS = {
    ir.Const(operator.add): operator.add, ir.Const(np.add): operator.add, ir.Const(operator.sub): operator.sub,
    ir.Const(np.subtract): operator.sub,
}
_ADDITIONS = tuple(fn for fn, combine in _SUMS.items() if combine is operator.add)
_MATMUL = (ir.Const(operator.matmul), ir.Const(np.matmul))


def take_out_common_factors(function: ir.Function, context: Context) -> ir.Function:
    """The function with one product for two that have a factor in common, in the statements of the reverse sweep."""
    statements = function.body.statements
    start = next((k for k, s in enumerate(statements) if isinstance(s, ir.Note) and s.section == "reverse"), None)
    made = [s.value for s in ir.walk(function.body) if isinstance(s, ir.Let) and isinstance(s.value, ir.Call)]
    if start is None or sum(call.fn in _MATMUL for call in made) < 2 or all(call.fn not in _SUMS for call in made):
        return function
    writer = _Writer(function, context)
    after = writer.block(ir.Block(statements[start:], ()))
    return ir.replace(function, body=ir.Block((*statements[:start], *after.statements), function.body.yields))


@record
class _Factor:
    """A matrix, or its transpose."""

    matrix: ir.Var
    turned: bool = False

    @property
    def transposed(self) -> _Factor:
        return _Factor(self.matrix, not self.turned)


class _Writer:
    """``made`` is what each variable was made by, ``here`` the variables that the block defines that is written."""

    def __init__(self, function: ir.Function, context: Context) -> None:
        self.context = context
        self.memory = Memory(without_result(function), context.value)
        self.uses = count_uses(drop_dead(function, context).body)
        self.made = {s.target: s.value for s in ir.walk(function.body) if isinstance(s, ir.Let)}
        self.here: set[ir.Var] = set()

    def block(self, block: ir.Block) -> ir.Block:
        made: list[ir.Statement] = []
        outside, self.here = self.here, set()
        for s in block.statements:
            if isinstance(s, ir.Let) and s.target is not None and isinstance(s.value, ir.Call):
                made += self._let(s, s.value)
                self.here.add(s.target)
            else:
                made.append(map_blocks(s, self.block))
        self.here = outside
        return ir.Block(tuple(made), block.yields)

    def _let(self, s: ir.Let, call: ir.Call) -> list[ir.Statement]:
        if call.fn not in _SUMS or len(call.args) != 2 or call.kwargs:
            return [s]
        builder, combine = Builder(self.context), _SUMS[call.fn]  # type: ignore[index]
        first, second = call.args
        value, rest = self._sum(first, second, combine, builder, s), None  # type: ignore[arg-type]
        before = self.made.get(first) if first in self.here and self.uses[first] == 1 else None  # type: ignore[arg-type]
        if value is None and isinstance(before, ir.Call) and before.fn in _ADDITIONS and not before.kwargs:
            rest, last = before.args  # (rest + last) + second
            value = self._sum(last, second, combine, builder, s)  # type: ignore[arg-type]
        if value is None or s.target is None:
            return [s]
        if rest is not None:
            value = ir.Call(_ADDITIONS[0], (rest, builder.call(operator.matmul, *value.args, span=s.span)))  # type: ignore[arg-type]
        self.context.definitions[s.target] = self.made[s.target] = value
        return [*builder.statements, ir.replace(s, value=value)]

    def _sum(
        self, one: ir.Atom, other: ir.Atom, combine: object, builder: Builder, s: ir.Let
    ) -> ir.Call | None:
        """The sum or the difference of two products as one product."""
        first, second = self._product(one), self._product(other)
        if one == other or first is None or second is None or not self._are_alike(one, other):
            return None
        (a, b), (c, d) = first, second
        if a == c:
            left, right = self._written(a, builder, s), self._combined(b, d, combine, builder, s)
        elif b == d:
            left, right = self._combined(a, c, combine, builder, s), self._written(b, builder, s)
        else:
            return None
        return ir.Call(_MATMUL[0], (left, right))

    def _product(self, atom: ir.Atom) -> tuple[_Factor, _Factor] | None:
        """The factors of a product of matrices that this block makes for one use; of a transposed one their transposes,
        the other way round."""
        turned = False
        while isinstance(atom, ir.Var) and atom in self.here and self.uses[atom] == 1 and self._is_plain(atom):
            call = self.made.get(atom)
            if not isinstance(call, ir.Call) or call.kwargs:
                return None
            if (call.fn, call.args[1:]) in TRANSPOSES:
                atom, turned = call.args[0], not turned  # type: ignore[assignment]
                continue
            if call.fn not in _MATMUL:
                return None
            left, right = map(self._factor, call.args)  # type: ignore[arg-type]
            if left is None or right is None:
                return None
            return (right.transposed, left.transposed) if turned else (left, right)
        return None

    def _factor(self, atom: ir.Atom) -> _Factor | None:
        """A matrix that nothing changes, as what it is the transpose of."""
        turned = False
        while isinstance(atom, ir.Var) and self._is_plain(atom):
            call = self.made.get(atom)
            if not isinstance(call, ir.Call) or (call.fn, call.args[1:]) not in TRANSPOSES or call.kwargs:
                return _Factor(atom, turned)
            atom, turned = call.args[0], not turned  # type: ignore[assignment]
        return None

    def _is_plain(self, var: ir.Var) -> bool:
        """Whether it is a matrix of floats that nothing changes."""
        known = self.context.value(var)
        is_of_floats = isinstance(known, Array) and known.dtype.kind == "f" and var not in self.context.uncertain
        return is_of_floats and rank(known) == 2 and not self.memory.is_buffer(var)

    def _are_alike(self, one: ir.Atom, other: ir.Atom) -> bool:
        """Whether the terms have the same lengths, and one dtype: none is stretched."""
        values = self.context.value(one), self.context.value(other)
        shapes = [v.shape for v in values if isinstance(v, Array) and v.shape is not None]
        same = len(shapes) == 2 and all(are_equal(a, b, self.context) for a, b in zip(*shapes, strict=True))
        return same and values[0].dtype == values[1].dtype  # type: ignore[union-attr]

    def _written(self, factor: _Factor, builder: Builder, s: ir.Let) -> ir.Atom:
        if not factor.turned:
            return factor.matrix
        return builder.call(getattr, factor.matrix, ir.Const("T"), span=s.span)

    def _combined(self, one: _Factor, other: _Factor, combine: object, builder: Builder, s: ir.Let) -> ir.Atom:
        """The sum of what is not in common, turned as a whole where both are."""
        if one.turned and other.turned:
            both = builder.call(combine, one.matrix, other.matrix, span=s.span)
            return builder.call(getattr, both, ir.Const("T"), span=s.span)
        parts = (self._written(f, builder, s) for f in (one, other))
        return builder.call(combine, *parts, span=s.span)
