"""A matrix that is factorised more than once is factorised once: for systems with it and with its transpose, for its
inverse and its determinant.

    x = np.linalg.solve(a, b)                   factors = rt.factors(a)
                                                x = rt.solve_with(factors, a, b)
    b_bar = np.linalg.solve(a.T, x_bar)   ->    b_bar = rt.solve_with(factors, a, x_bar, transposed=True)
    a_bar = np.linalg.inv(a).T                  a_bar = rt.inv_of(factors, a).T

So is a sparse matrix, which is known by its items and their places: ``models.sparse.solution`` of them becomes
``solution_with``, transposed where rows and columns are changed over.

The factors stand before the first of them, in the block where all can see them: before a loop in which the matrix is
the same in each iteration. Making them raises nothing; each use does, where the matrix is singular.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from s2s import runtime as rt
from s2s.analysis.memory import Memory
from s2s.builder.builder import Context
from s2s.core import ir
from s2s.core.public import function as public_function
from s2s.core.public import role_of
from s2s.core.values import UNKNOWN, Array
from s2s.optimize.rewriting import map_blocks, without_result
from s2s.optimize.triangular import TRANSPOSES

__all__ = ["share_factors"]

_SOLVE = ir.Const(np.linalg.solve)
_OF_MATRIX = {
    ir.Const(np.linalg.inv): ir.Const(rt.inv_of), ir.Const(np.linalg.det): ir.Const(rt.det_of),
    ir.Const(np.linalg.slogdet): ir.Const(rt.slogdet_of), ir.Const(rt.cofactor): ir.Const(rt.cofactor_of),
}
"""What is made of a matrix, and how it is made of its factors."""


def share_factors(function: ir.Function, context: Context) -> ir.Function:
    """The function with one factorisation for all that is made of a matrix that nothing changes."""
    called = [s.value.fn for s in ir.walk(function.body) if isinstance(s, ir.Let) and isinstance(s.value, ir.Call)]
    if not any(fn == _SOLVE or fn in _OF_MATRIX or _is_sparse(fn) for fn in called):
        return function
    return _Sharer(function, context).run()


def _is_sparse(fn: ir.Atom) -> bool:
    return isinstance(fn, ir.Const) and role_of(fn.value) == "sparse_solution"


Matrix = tuple[ir.Var, ...]
"""A matrix as a variable, or the items of a sparse one, their rows and their columns."""


class _Sharer:
    """``made`` is what each variable was made by, ``factors`` those of each matrix that a block can see."""

    def __init__(self, function: ir.Function, context: Context) -> None:
        self.function = function
        self.context = context
        self.memory = Memory(without_result(function), context.value)
        self.made = {s.target: s.value for s in ir.walk(function.body) if isinstance(s, ir.Let)}
        self.factors: dict[Matrix, ir.Var] = {}

    def run(self) -> ir.Function:
        visible = {p.var for p in self.function.params}
        return ir.replace(self.function, body=self._block(self.function.body, visible))

    def _block(self, block: ir.Block, visible: set[ir.Var]) -> ir.Block:
        """``visible`` are the variables that are there when the block begins."""
        before, seen = self.factors, set(visible)
        places = self._places(block, visible)
        made: list[ir.Statement] = []
        for k, s in enumerate(block.statements):
            for matrix in places.get(k, ()):
                maker = rt.factors if len(matrix) == 1 else public_function("sparse_factors")
                call = ir.Call(ir.Const(maker), matrix, ())
                found = self.context.define("factors", UNKNOWN, definition=call)
                made.append(ir.Let(found, call, s.span))
                self.factors = {**self.factors, matrix: found}
            if isinstance(s, ir.Let):
                made.append(self._let(s))
            else:
                inside = seen | set(ir.inner_defs_of(s))
                made.append(map_blocks(s, lambda inner, inside=inside: self._block(inner, inside)))  # type: ignore[misc]
            seen.update(ir.defs_of(s))
        self.factors = before
        return ir.Block(tuple(made), block.yields)

    def _places(self, block: ir.Block, visible: set[ir.Var]) -> dict[int, list[Matrix]]:
        """The matrices whose factors are made before a statement, by its place: there are several uses, one of which is
        certainly reached."""
        uses: dict[Matrix, list[tuple[int, int]]] = {}
        seen = set(visible)
        for k, s in enumerate(block.statements):
            for matrix, times in Counter(self._uses(s)).items():
                if seen.issuperset(matrix) and matrix not in self.factors:
                    uses.setdefault(matrix, []).append((k, times))
            seen.update(ir.defs_of(s))
        places: dict[int, list[Matrix]] = {}
        for matrix, found in uses.items():
            is_reached = any(isinstance(block.statements[k], (ir.Let, ir.For, ir.While)) for k, _ in found)
            if is_reached and sum(times for _, times in found) > 1:
                places.setdefault(found[0][0], []).append(matrix)
        return places

    def _uses(self, s: ir.Statement) -> Iterator[Matrix]:
        """The matrices that a statement factorises, those in loops twice."""
        if isinstance(s, ir.Let):
            found = self._use(s)
            if found is not None:
                yield found[0]
            return
        for inner in (i for block in ir.blocks_of(s) for i in block.statements):
            for matrix in self._uses(inner):
                yield from [matrix] * (2 if isinstance(s, (ir.For, ir.While)) else 1)

    def _use(self, s: ir.Let) -> tuple[Matrix, bool] | None:
        """The matrix that a statement factorises, and whether it is transposed."""
        if not isinstance(s.value, ir.Call) or s.value.kwargs or not s.value.args:
            return None
        fn, first = s.value.fn, s.value.args[0]
        if _is_sparse(fn):
            return self._use_of_sparse(*s.value.args)  # type: ignore[arg-type]
        if fn in _OF_MATRIX:
            return ((first,), False) if isinstance(first, ir.Var) and self._is_matrix(first) else None
        if fn != _SOLVE or len(s.value.args) != 2:
            return None
        right, matrix, transposed = self.context.value(s.value.args[1]), first, False  # type: ignore[arg-type]
        while isinstance(made := self.made.get(matrix), ir.Call) and (made.fn, made.args[1:]) in TRANSPOSES:  # type: ignore[arg-type]
            if made.kwargs or not self._is_matrix(matrix):
                return None
            matrix, transposed = made.args[0], not transposed
        if not isinstance(matrix, ir.Var) or not self._is_matrix(matrix):
            return None
        is_other = isinstance(right, Array) and right.dtype != self.context.value(matrix).dtype  # type: ignore[union-attr]
        return None if is_other else ((matrix,), transposed)

    def _use_of_sparse(self, data: ir.Atom, rows: ir.Atom, columns: ir.Atom, _: ir.Atom) -> tuple[Matrix, bool] | None:
        if not all(isinstance(a, ir.Var) and self._is_constant(a) for a in (data, rows, columns)):
            return None
        first, second = sorted((rows, columns), key=repr)
        return (data, first, second), (first, second) != (rows, columns)  # type: ignore[return-value]

    def _is_constant(self, var: ir.Var) -> bool:
        return not self.memory.is_buffer(var) and var not in self.context.possibly_unassigned

    def _is_matrix(self, atom: object) -> bool:
        """Whether it is one matrix, and no stack of them, of a kind that has factors, which nothing changes."""
        if not isinstance(atom, ir.Var) or not self._is_constant(atom):
            return False
        known = self.context.value(atom)
        is_one = isinstance(known, Array) and known.shape is not None and len(known.shape) == 2
        return is_one and known.dtype.char in "fdFD"  # type: ignore[union-attr]

    def _let(self, s: ir.Let) -> ir.Let:
        found = self._use(s)
        factors = None if found is None else self.factors.get(found[0])
        if found is None or factors is None:
            return s
        assert isinstance(s.value, ir.Call)
        kind = (("transposed", ir.Const(True)),) if found[1] else ()
        if _is_sparse(s.value.fn):
            with_factors = ir.Const(public_function("sparse_solution_with"))
            return ir.replace(s, value=ir.Call(with_factors, (factors, *found[0], s.value.args[3]), kind))
        if s.value.fn != _SOLVE:
            return ir.replace(s, value=ir.Call(_OF_MATRIX[s.value.fn], (factors, *s.value.args), ()))  # type: ignore[index]
        return ir.replace(s, value=ir.Call(ir.Const(rt.solve_with), (factors, *found[0], s.value.args[1]), kind))
