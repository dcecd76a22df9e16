"""Where values are kept for each iteration of a loop: in an array indexed by the iteration, or on a list.

    saved_y = np.empty(n)               for i in reversed(range(n)):
    for i in range(n):                      y = saved_y[i]
        saved_y[i] = y                      ...

An array is taken where the number of iterations is known before the loops and the value is a number of a known type. A
``float`` goes on a list where Python runs the loops, which makes a new number of each item that it reads from an array.
Of an array of which only the shape and the dtype are read, these are kept (``rt.outline``).
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from s2s import runtime as rt
from s2s.analysis.abstract.numbers import AnyFloat
from s2s.analysis.functions import reads_content
from s2s.analysis.iterations import Iterations, loops_around
from s2s.analysis.regions import Region
from s2s.core import ir, ops
from s2s.core.values import UNKNOWN, AbstractValue, Array, Known, ListOf, Scalar, Unknown
from s2s.optimize.ranges import descends_from
from s2s.reverse.residuals.invariants import is_invariant
from s2s.reverse.residuals.sweep import Sweep

if TYPE_CHECKING:
    from s2s.reverse.residuals.planner import Planner

__all__ = ["Storage"]

_COMPARISONS = frozenset([operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne])

MOST_UNUSED = 4
"""The first item of a range up to which an array indexed by the items is taken."""


class Storage:
    """The lists and arrays of one function, and the statements of the forward sweep that make and fill them."""

    def __init__(self, planner: Planner) -> None:
        self.planner = planner
        self.context = planner.context
        self.saves: dict[ir.Var, list[ir.Statement]] = {}
        """The statements that keep a variable, right after its definition."""
        self.creations: dict[int, list[ir.Statement]] = {}
        """Those that make a list or an array, by the ``id`` of the outermost loop that fills it."""
        self.lists: set[ir.Atom] = set()
        self.copies: dict[ir.Var, ir.Var] = {}
        self.list_copies: list[ir.Statement] = []
        """The copies of lists at the start of the reverse sweep, which empties them."""
        self._sizes: dict[Region, list[ir.Atom] | None] = {}
        self._written: list[list[ir.Statement]] = []
        """Where statements were written to, in order: so those of a sweep that is written again can be taken back."""

    def mark(self) -> int:
        """The present state, to come back to."""
        return len(self._written)

    def take_back(self, mark: int) -> None:
        """Keep nothing of what was decided since a mark: the sweep that reads it is written again."""
        while len(self._written) > mark:
            self._written.pop().pop()

    def _write(self, statements: list[ir.Statement], *new: ir.Statement) -> None:
        for statement in new:
            statements.append(statement)
            self._written.append(statements)

    def keep(self, sweep: Sweep, var: ir.Var, back: ir.Var, only_shape: bool) -> None:
        """Keep a variable of every iteration; the statement that gives it back goes to the start of the reverse
        iteration. With ``only_shape`` nothing reads what it holds."""
        loop = sweep.region.residual_loop()
        assert loop is not None
        called = self.context.name_of(var)
        name = "saved" if called == "%" else f"saved_{called}"
        known = self._known(var)
        sizes = self._iteration_counts(loop, known)
        loops = [] if sizes is None else self._loops_of(var, loop)
        is_float = isinstance(known, Scalar) and known.type is float
        if sizes is None or (is_float and len(loops) == len(sizes) and not self.planner.is_compiled):
            self._keep_on_list(sweep, var, back, loop, name, only_shape)
        else:
            self._keep_in_array(sweep, var, back, loops, name, sizes[len(sizes) - len(loops):])

    def _known(self, var: ir.Var) -> AbstractValue:
        """What is known of a variable that is kept. What comparisons of numbers give is one type in compiled code."""
        known, made = self.context.value(var), self.context.definitions.get(var)
        if not (self.planner.is_compiled and isinstance(made, ir.Call) and isinstance(made.fn, ir.Const)):
            return known
        is_test = made.fn.value in _COMPARISONS
        numbers = all(isinstance(a, ir.Const) or (isinstance(a, ir.Var) and isinstance(self.context.value(a), Scalar))
                      for a in made.args)
        return Scalar(bool) if is_test and numbers else known

    def is_array(self, region: Region, known: AbstractValue) -> bool:
        """Whether a value of a region is kept in an array, which makes it one of its type."""
        loop = region.residual_loop()
        return loop is not None and self._iteration_counts(loop, known) is not None

    def _keep_on_list(
        self, sweep: Sweep, var: ir.Var, back: ir.Var, loop: Region, name: str, only_shape: bool
    ) -> None:
        known, span = self.context.value(var), self.planner.span_of(var)
        kept = self._create(loop, ir.Call(ir.Const(ops.make_list), ()), name)
        self.lists.add(kept)
        self.context.runtime_objects.add(kept)
        saves, pushed = self.saves.setdefault(var, []), var
        if only_shape and isinstance(known, (Array, Unknown)):
            outline = ir.Call(ir.Const(rt.outline), (var,))
            pushed = self.context.define("%", known, False, outline)
            self._write(saves, ir.Let(pushed, outline, span))
        self._write(saves, ir.Let(None, ir.Call(ir.Const(list.append), (kept, pushed)), span))
        given = ir.Call(ir.Const(list.pop), (self._in_reverse(sweep, kept, loop.scope()),))
        sweep.prologue.append(ir.Let(back, given, span))

    def _loops_of(self, var: ir.Var, loop: Region) -> list[Region]:
        """The nested loops in whose iterations a variable is another one: each of those further out would keep the
        same again."""
        loops = [r for r in loop.path_from(loop.scope()) if isinstance(r.statement, ir.For)]
        while len(loops) > 1:
            inner = frozenset(id(region.statement) for region in loops[1:])
            if not is_invariant(self.planner, var, loops[0], inner):
                break
            loops = loops[1:]
        return loops

    def _keep_in_array(
        self, sweep: Sweep, var: ir.Var, back: ir.Var, loops: list[Region], name: str, sizes: list[ir.Atom]
    ) -> None:
        """Keep a variable in an array that is indexed by the items of loops."""
        known, span, loop = self._known(var), self.planner.span_of(var), loops[-1]
        assert isinstance(known, Scalar)
        plain = known.type in (float, np.float64, AnyFloat)
        sizes = [self._at_least_zero(loop, size) for size in sizes]
        shape = sizes[0] if len(sizes) == 1 else self._create(loop, _tuple_of(sizes), "%")
        kwargs = () if plain else (("dtype", ir.Const(known.type)),)
        kept = self._create(loop, ir.Call(ir.Const(np.empty), (shape,), kwargs), name)
        items = [r.statement.item for r in loops]  # type: ignore[union-attr]
        saves = self.saves.setdefault(var, [])
        at: ir.Atom = items[0]
        if len(items) > 1:
            at = self.context.define("%", UNKNOWN)
            self._write(saves, ir.Let(at, _tuple_of(items), span))
        self._write(saves, ir.Store("item", kept, at, var, None, span))
        place: ir.Atom = self.planner.use(sweep, items[0])
        if len(items) > 1:
            place = self.context.define("%", UNKNOWN)
            index = _tuple_of([self.planner.use(sweep, item) for item in items])
            sweep.prologue.append(ir.Let(place, index, span))
        there = self.planner.in_scope(sweep, kept, loop.scope())
        given = ir.Call(ir.Const(operator.getitem), (there, place))
        if known.type is float:  # of NumPy's type all arithmetic after it would take longer
            item = self.context.define("%", Scalar(np.float64), False, given)
            sweep.prologue.append(ir.Let(item, given, span))
            given = ir.Call(ir.Const(float), (item,))
        sweep.prologue.append(ir.Let(back, given, span))

    # --- how many iterations there are

    def _iteration_counts(self, loop: Region, known: Any) -> list[ir.Atom] | None:
        """The shape of an array that holds one number for each iteration of nested loops over ranges, the outermost
        first.

        None where a list is needed: the number of iterations is not known before the outermost loop, a loop may end
        early, or the value is no float or bool.
        """
        if not isinstance(known, Scalar):
            return None
        if known.type is AnyFloat:  # which of two types it was is lost in an array, and in compiled code anyway
            if not self.planner.is_compiled:
                return None
        elif known.type not in (float, bool) and not issubclass(known.type, (np.floating, np.complexfloating, complex)):
            return None
        if loop not in self._sizes:
            self._sizes[loop] = self._sizes_of(loop)
        return self._sizes[loop]

    def _sizes_of(self, loop: Region) -> list[ir.Atom] | None:
        sizes: list[ir.Atom] = []
        triangles = 0
        for region in loop.path_from(loop.scope()):
            if not region.is_loop:
                continue
            size = self._range_stop(region.statement)
            if size is None or not self._is_known_outside(size, loop.scope()):
                size = self._side_of_triangle(region, loop.scope(), sizes)
                triangles += 1
            if size is None or triangles > 1:  # of a pyramid a sixth would be used
                return None
            sizes.append(size)
        return sizes

    def _side_of_triangle(self, loop: Region, scope: Region, sizes: list[ir.Atom]) -> ir.Atom | None:
        """A number that the items of a range are below, as they are of 0 or more, where one of its ends goes with the
        item of a loop around: half of the places are used, of a triangle.

            for i in range(n):
                for j in range(i + 1, n):
        """
        statement = loop.statement
        if not isinstance(statement, ir.For) or statement.leave is not None:
            return None
        bounds = self.context.definition(statement.iterable, range)
        step = ir.Const(1) if bounds is None or len(bounds) < 3 else bounds[2]
        if bounds is None or step not in (ir.Const(1), ir.Const(-1)):
            return None
        ends = (ir.Const(0), bounds[0]) if len(bounds) == 1 else bounds[:2]
        low, high = ends if step == ir.Const(1) else ends[::-1]
        known = Iterations(self.context, self.planner.home, set())
        known.add_place(loop, "")
        around = [region.statement for region in loops_around(loop)[:-1]]
        items = {(s.item, "") for s in around if isinstance(s, ir.For)}
        terms = [known.linear(end, "").terms for end in (low, high)]
        moves = [not items.isdisjoint(found) for found in terms]
        if moves[1]:
            other_stands = isinstance(low, ir.Const) and low.value <= MOST_UNUSED
        else:
            other_stands = all(isinstance(s, str) or self._is_known_outside(s[0], scope) for s in terms[1])  # type: ignore
        if moves[0] == moves[1] or not other_stands:
            return None  # a band is narrower than its array
        item = known.symbol(statement.item, "")
        candidates = [high, *sizes] if self._is_known_outside(high, scope) and not moves[1] else sizes
        sides = (s for s in candidates if known.is_positive(known.linear(s, "").plus(item, -1).shifted(-1)))
        return next(sides, None) if known.is_positive(item) else None

    def _is_known_outside(self, atom: ir.Atom, scope: Region) -> bool:
        """Whether a number of iterations can be read before a loop: not where only the path to the loop gives it a
        value."""
        home = self.planner.home
        return not isinstance(atom, ir.Var) or atom not in home or (
            scope.inside(home[atom]) and home[atom].residual_loop() is None and atom not in self.context.unbound)

    def _range_stop(self, statement: Any) -> ir.Atom | None:
        """Where a loop over an ascending range ends, so that its items count from about 0 to there."""
        if not isinstance(statement, ir.For) or statement.leave is not None:
            return None
        over = self.context.definitions.get(statement.iterable) if isinstance(statement.iterable, ir.Var) else None
        if not isinstance(over, ir.Call) or over.fn != ir.Const(range):
            return None
        bounds = over.args
        if len(bounds) == 1:
            return bounds[0]  # type: ignore[return-value]
        length = descends_from(self.context, over, self.context.definitions.get)
        if length is not None:
            return length
        start = bounds[0]
        ascending = len(bounds) == 2 or bounds[2] == ir.Const(1)
        near = isinstance(start, ir.Const) and isinstance(start.value, int) and 0 <= start.value <= MOST_UNUSED
        return bounds[1] if ascending and near else None  # type: ignore[return-value]

    def _at_least_zero(self, loop: Region, size: ir.Atom) -> ir.Atom:
        """A range may end below 0; a length does not."""
        known = self.context.value(size)
        if isinstance(known, Known) and known.value >= 0:
            return size
        facts = self.context.evaluator.facts
        if isinstance(known, Scalar) and known.dim is not None and facts.is_at_least(known.dim, 0):
            return size
        return self._create(loop, ir.Call(ir.Const(max), (size, ir.Const(0))), "%")

    # --- lists and arrays

    def _create(self, loop: Region, value: ir.Value, name: str) -> ir.Var:
        """Make a container before the outermost loop around a loop body."""
        region, scope = loop, loop.scope()
        while region.parent is not scope:
            assert region.parent is not None
            region = region.parent
        is_list = isinstance(value, ir.Call) and value.fn == ir.Const(ops.make_list)
        var = self.context.define(name, ListOf(UNKNOWN) if is_list else UNKNOWN)
        statement = region.statement
        span = statement.span if statement is not None and not isinstance(statement, ir.Note) else None
        self._write(self.creations.setdefault(id(statement), []), ir.Let(var, value, span))
        return var

    def _in_reverse(self, sweep: Sweep, kept: ir.Var, scope: Region) -> ir.Atom:
        """A list as the reverse sweep empties it: a copy where the sweep may run twice."""
        planner = self.planner
        if not planner.repeatable or scope is not planner.root:
            return planner.in_scope(sweep, kept, scope)
        if kept not in self.copies:
            copy = self.context.define(kept.name, ListOf(UNKNOWN))
            self._write(self.list_copies, ir.Let(copy, ir.Call(ir.Const(list), (kept,))))
            self.copies[kept] = copy
        return self.copies[kept]


def reads(statement: ir.Statement, var: ir.Var) -> bool:
    """Whether a statement, the blocks in it left out, reads what a variable holds."""
    if any(var in block.yields for block in ir.blocks_of(statement)):
        return True
    value = statement.value if isinstance(statement, ir.Let) else None
    if isinstance(value, ir.Call) and isinstance(value.fn, ir.Const) and var in ir.atoms_of(value):
        return bool(value.kwargs) or reads_content(value.fn.value, value.args, var)
    return var in ir.reads_of(statement)


def _tuple_of(atoms: list[Any]) -> ir.Call:
    return ir.Call(ir.Const(ops.make_tuple), tuple(atoms))
