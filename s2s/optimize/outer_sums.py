"""Arithmetic on matrices that comes down to vectors: a function with its sweeps goes in; one comes out in which numbers
scale the vectors that a matrix is multiplied with or made of, and sums of outer products are products of matrices.

    t = alpha * a                       y = alpha * (a @ x)
    y = t @ x                     ->

    a_bar = u[:, None] * v * alpha
    a_bar += w[:, None] * z       ->    a_bar = np.array((u * alpha, w)).T @ np.array((v, z))

The value of the function is computed as it is written, where it is asked for.
"""

from __future__ import annotations

import operator

import numpy as np

from s2s.analysis.abstract.lattice import dtype_of, is_number
from s2s.analysis.memory import Memory
from s2s.builder.builder import Builder, Context
from s2s.core import ir, ops
from s2s.core.values import Array
from s2s.optimize.contractions import PRODUCTS, are_equal, factor
from s2s.optimize.dead import drop_dead
from s2s.optimize.matrix_products import rank
from s2s.optimize.rewriting import count_uses, map_blocks, without_result

__all__ = ["sum_outer_products"]

_SCALES = (ir.Const(operator.mul), ir.Const(np.multiply))
_SUMS = (ir.Const(operator.add), ir.Const(np.add))
_DISPLAYS = tuple(map(ir.Const, ops.DISPLAYS))
_MATMUL, _OUTER = ir.Const(operator.matmul), ir.Const(np.outer)


def sum_outer_products(function: ir.Function, context: Context) -> ir.Function:
    """The function with numbers on the vectors of products, and with sums of outer products as products."""
    statements = function.body.statements
    start = next((k for k, s in enumerate(statements) if isinstance(s, ir.Note) and s.section == "reverse"), None)
    if start is None or not any(_may_be_one(s, context) for s in ir.walk(function.body)):
        return function
    before = {v for s in statements[:start] for v in ir.defs_of(s)}
    made = {s.target: s.value for s in statements if isinstance(s, ir.Let)}
    given = [*function.body.yields]
    for atom in given:
        display = made.get(atom) if isinstance(atom, ir.Var) else None
        if isinstance(display, ir.Call) and display.fn in _DISPLAYS:
            given += display.args  # type: ignore[arg-type]
    return _Writer(function, context, not before.isdisjoint(given)).written()


def _may_be_one(s: ir.Statement, context: Context) -> bool:
    """Whether a statement multiplies a matrix with a number, or adds two."""
    if not isinstance(s, ir.Let) or not isinstance(s.value, ir.Call) or len(s.value.args) != 2 or s.target is None:
        return False
    return s.value.fn in (*_SCALES, *_SUMS) and rank(context.value(s.target)) == 2


class _Writer:
    """``is_value_given`` says that the forward sweep computes the value of the function for the caller."""

    def __init__(self, function: ir.Function, context: Context, is_value_given: bool) -> None:
        self.function = function
        self.context = context
        self.is_exact = is_value_given
        living = drop_dead(function, context)
        self.uses = count_uses(living.body)
        self.memory = Memory(without_result(function), context.value)
        self.made: dict[ir.Atom, ir.Call] = {}
        self.readers: dict[ir.Atom, list[ir.Statement]] = {}
        for s in ir.walk(living.body):
            for a in dict.fromkeys(ir.reads_of(s)):
                self.readers.setdefault(a, []).append(s)
        self.outer: dict[ir.Atom, tuple[ir.Atom, ir.Atom]] = {}
        self.scaled: dict[ir.Atom, tuple[ir.Atom, ir.Atom]] = {}

    def written(self) -> ir.Function:
        """The function, written anew."""
        return ir.replace(self.function, body=self._block(self.function.body))

    def _block(self, block: ir.Block) -> ir.Block:
        made: list[ir.Statement] = []
        outer, self.outer = self.outer, {}
        for s in block.statements:
            if isinstance(s, ir.Note) and s.section == "reverse":
                self.is_exact = False
            if isinstance(s, ir.Let) and s.target is not None and isinstance(s.value, ir.Call):
                made += self._let(s, s.target, s.value)
            else:
                made.append(map_blocks(s, self._block))
        self.outer = outer
        return ir.Block(tuple(made), block.yields)

    def _let(self, s: ir.Let, target: ir.Var, call: ir.Call) -> list[ir.Statement]:
        self.made[target] = call
        if self.is_exact or call.kwargs or not self._is_plain(target):
            return [s]
        builder = Builder(self.context)
        vectors = self._vectors(target, call) or self._scaled_vectors(target, call, builder, s.span)
        if vectors is not None and not any(map(self.memory.is_buffer, vectors)):
            self.outer[target] = vectors
        value = self._number_on_vector(call, builder, s.span) or self._sum(call, builder, s.span)
        if value is None and builder.statements:
            u, v = self.outer[target]
            key = builder.call(ops.make_tuple, ir.Const(...), ir.Const(None))
            value = ir.Call(_SCALES[0], (builder.call(operator.getitem, u, key, span=s.span), v))
        if value is None:
            self._note_scaled(target, call)
            return [s]
        self.context.definitions[target] = value
        return [*builder.statements, ir.replace(s, value=value)]

    def _is_plain(self, var: ir.Var) -> bool:
        """Whether a variable is an array of floats that nothing changes."""
        known = self.context.value(var)
        is_of_floats = isinstance(known, Array) and known.dtype.kind == "f" and var not in self.context.uncertain
        return is_of_floats and not self.memory.is_buffer(var)

    # --- numbers

    def _factors(self, call: ir.Call) -> tuple[ir.Var, ir.Atom] | None:
        """A matrix and the number that a call multiplies it with."""
        if call.fn not in _SCALES or len(call.args) != 2 or call.kwargs:
            return None
        for matrix, number in (call.args, call.args[::-1]):
            if isinstance(matrix, ir.Var) and rank(self.context.value(matrix)) == 2 and not isinstance(number, ir.Star):
                if is_number(self.context.value(number)) and self._keeps_dtype(matrix, number):
                    return matrix, number
        return None

    def _keeps_dtype(self, matrix: ir.Var, number: ir.Atom) -> bool:
        kind = dtype_of(self.context.value(number))
        return self._is_plain(matrix) and (kind is None or kind.kind in "biuf")

    def _note_scaled(self, target: ir.Var, call: ir.Call) -> None:
        """Note a matrix times a number of which there are only products with vectors."""
        found = self._factors(call)
        if found is None or self.context.value(found[0]) != self.context.value(target) or not self.uses[target]:
            return
        if all(self._is_of_vector(target, s) for s in self._readers(target)):
            self.scaled[target] = found

    def _readers(self, var: ir.Var) -> list[ir.Statement | None]:
        """The statements that read a variable; None among them where a block yields it."""
        found: list[ir.Statement | None] = [*self.readers.get(var, [])]
        read = sum(ir.reads_of(s).count(var) for s in self.readers.get(var, []))
        return found if read == self.uses[var] else [*found, None]

    def _is_of_vector(self, matrix: ir.Atom, s: ir.Statement | None) -> bool:
        """Whether a statement multiplies a matrix, or its transpose, with vectors."""
        if not isinstance(s, ir.Let) or not isinstance(s.value, ir.Call) or s.target is None or s.value.kwargs:
            return False
        fn, args = s.value.fn, s.value.args
        if fn == ir.Const(getattr) and args[1] == ir.Const("T"):
            return all(self._is_of_vector(s.target, reader) for reader in self._readers(s.target))
        if fn != _MATMUL or rank(self.context.value(s.target)) != 1 or not self._is_plain(s.target):
            return False
        return list(args).count(matrix) == 1

    def _number_on_vector(self, call: ir.Call, builder: Builder, span: ir.Span | None) -> ir.Call | None:
        """A product with a scaled matrix, as the scaled product with the matrix."""
        if call.fn != _MATMUL:
            return None
        for place, atom in enumerate(call.args):
            of = self.made.get(atom)  # type: ignore[arg-type]
            is_turned = of is not None and of.fn == ir.Const(getattr) and of.args[1] == ir.Const("T")
            found = self.scaled.get(of.args[0] if of is not None and is_turned else atom)  # type: ignore[arg-type]
            if found is not None:
                matrix, number = found
                matrix = builder.call(getattr, matrix, ir.Const("T"), span=span) if is_turned else matrix
                args = (matrix, call.args[1]) if place == 0 else (call.args[0], matrix)
                return ir.Call(_SCALES[0], (number, builder.call(operator.matmul, *args, span=span)))
        return None

    # --- outer products

    def _vectors(self, target: ir.Var, call: ir.Call) -> tuple[ir.Atom, ir.Atom] | None:
        """The two vectors of which a call makes the outer product."""
        known = self.context.value(target)
        if not isinstance(known, Array) or known.shape is None or len(known.shape) != 2 or len(call.args) != 2:
            return None
        if call.fn == _OUTER:
            found = list(call.args)
        elif call.fn in PRODUCTS:
            factors = [factor(a, "ij", known.shape, self.context) for a in call.args]  # type: ignore[arg-type]
            by_axis = {f[1]: f[0] for f in factors if f is not None and not f[2]}
            found = [by_axis[axis] for axis in "ij" if axis in by_axis]
        else:
            return None
        values = [self.context.value(a) for a in found]  # type: ignore[arg-type]
        is_sure = [rank(v) for v in values] == [1, 1] and self.context.uncertain.isdisjoint(found)
        return tuple(found) if is_sure and all(dtype_of(v) == known.dtype for v in values) else None  # type: ignore[return-value]

    def _scaled_vectors(
        self, target: ir.Var, call: ir.Call, builder: Builder, span: ir.Span | None
    ) -> tuple[ir.Atom, ir.Atom] | None:
        """The vectors of an outer product that is multiplied with numbers only, the number on the first of them."""
        found = self._factors(call)
        if found is None or found[0] not in self.outer:
            return None
        matrix, number = found
        if self.context.value(matrix) != self.context.value(target):
            return None
        for s in self._readers(matrix):
            if not isinstance(s, ir.Let) or not isinstance(s.value, ir.Call) or self._factors(s.value) is None:
                return None
        u, v = self.outer[matrix]
        return builder.call(operator.mul, u, number, span=span), v

    def _sum(self, call: ir.Call, builder: Builder, span: ir.Span | None) -> ir.Call | None:
        """A sum of outer products that nothing else reads, as one product of matrices."""
        if call.fn not in _SUMS or len(call.args) != 2:
            return None
        terms = [a for a in dict.fromkeys(call.args) if isinstance(a, ir.Var) and a in self.outer and self.uses[a] == 1]
        if len(terms) != 2 or not self._are_alike(*terms):
            return None
        (u, v), (w, z) = (self.outer[a] for a in terms)
        left = builder.call(np.array, builder.call(ops.make_tuple, u, w), span=span)
        right = builder.call(np.array, builder.call(ops.make_tuple, v, z), span=span)
        return ir.Call(_MATMUL, (builder.call(getattr, left, ir.Const("T"), span=span), right))

    def _are_alike(self, one: ir.Var, other: ir.Var) -> bool:
        """Whether two arrays that are added have the same lengths, and one dtype."""
        values = self.context.value(one), self.context.value(other)
        if not all(isinstance(v, Array) and v.shape is not None for v in values):
            return False
        shapes = [v.shape for v in values if isinstance(v, Array) and v.shape is not None]
        same = all(are_equal(a, b, self.context) for a, b in zip(*shapes, strict=True))
        return same and dtype_of(values[0]) == dtype_of(values[1])
