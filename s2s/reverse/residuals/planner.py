"""What crosses from the forward to the reverse sweep, and how.

A value defined outside loops is read where it stands (through the results of the branches that it is defined in). A
value of a loop's trip is computed again where that is cheap: an index, a view, a shape, a little scalar arithmetic.
Else it is kept for every trip: in an array indexed by the trip where the number of trips is known, else on a list.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.analysis.abstract.lattice import is_number
from s2s.analysis.memory import is_basic, reads_content
from s2s.analysis.regions import Region, find_regions
from s2s.builder.builder import Builder, Context
from s2s.core import ir, ops
from s2s.core.values import UNKNOWN, Array, Known, ListOf, Range, Scalar, Sequence, Unknown
from s2s.optimize.hoist import hoist
from s2s.optimize.ranges import constant_range, descends_from
from s2s.specialize.checkpoints import BEGIN, END, FirstRun, asked, is_asked, plain

RECOMPUTE_AT_MOST = 10

_CHEAP: set[Any] = {
    operator.getitem, getattr, len, range, slice, ops.make_tuple, np.shape, np.ndim, np.size, reversed,
    operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.pos, operator.floordiv,
    operator.mod, operator.pow, operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge,
    operator.not_, operator.is_, operator.is_not, min, max, abs, isinstance, float, int,
}

_LOOKS = {len, np.shape, np.ndim, np.size, isinstance, operator.is_, operator.is_not}
_SHAPES = tuple(map(ir.Const, ("shape", "ndim", "size", "dtype")))
"""What does not depend on what an array holds: it can be looked at again when that has changed."""

Key = tuple[ir.Var, tuple[Any, ...]]


@dataclass(eq=False)
class Sweep:
    """The reverse of one block: cotangents so far, and what was given back for it at its start; ``late`` is what is
    found again in the midst of it only."""

    builder: Builder
    region: Region
    parent: Sweep | None
    is_loop: bool = False
    bars: Bars = field(default_factory=lambda: Bars())
    buffers: set[Key] = field(default_factory=set)
    accumulators: dict[Key, ir.Var] = field(default_factory=dict)
    restored: dict[ir.Var, ir.Atom] = field(default_factory=dict)
    requests: dict[ir.Var, ir.Var] = field(default_factory=dict)
    late: set[ir.Var] = field(default_factory=set)
    prologue: list[ir.Statement] = field(default_factory=list)

    def holding(self, key: Key) -> Sweep | None:
        """The nearest sweep that has a cotangent for a key."""
        sweep: Sweep | None = self
        while sweep is not None and key not in sweep.bars:
            sweep = sweep.parent
        return sweep

    def of(self, region: Region) -> Sweep:
        """The sweep around this one that is the reverse of a region."""
        sweep = self
        while sweep.region is not region:
            assert sweep.parent is not None, "a variable is read outside the block that defines it"
            sweep = sweep.parent
        return sweep

    def outside_loops(self, home: Region) -> Sweep:
        """The sweep just outside the outermost loop between here and a region; this one where there is none."""
        outermost, sweep = self, self
        while sweep.region is not home and sweep.parent is not None:
            if sweep.is_loop:
                outermost = sweep.parent
            sweep = sweep.parent
        return outermost

    def named(self, atom: ir.Atom, name: str) -> ir.Atom:
        """The atom, its variable renamed where it was just made for this purpose and nothing else knows it."""
        context = self.builder.context
        if not isinstance(atom, ir.Var) or self._is_bar(atom):
            return atom
        return context.renamed(self.builder, atom, name)

    def _is_bar(self, var: ir.Var) -> bool:
        sweep: Sweep | None = self
        while sweep is not None:
            if sweep.bars.holds(var):
                return True
            sweep = sweep.parent
        return False


class Bars(dict[Key, ir.Atom]):
    """Cotangents by what they are of."""

    def __init__(self) -> None:
        super().__init__()
        self._count: Counter[ir.Atom] = Counter()

    def __setitem__(self, key: Key, bar: ir.Atom) -> None:
        if key in self:
            self._count[self[key]] -= 1
        self._count[bar] += 1
        super().__setitem__(key, bar)

    def holds(self, bar: ir.Atom) -> bool:
        """Whether an atom is one of the cotangents."""
        return self._count[bar] > 0


class Crossing:
    """Decides for each primal variable that the reverse sweep reads how it gets there."""

    def __init__(
        self, context: Context, primal: ir.Function, repeatable: bool, is_buffer: Callable[[ir.Atom], bool],
        unbound: set[ir.Atom],
    ) -> None:
        """``unbound`` are the variables that have no value on some path."""
        self.is_buffer = is_buffer
        self.unbound = unbound
        self.bound_in: dict[tuple[ir.Var, int], ir.Var] = {}
        self.first: dict[int, list[ir.Let]] = {}
        """Statements at the start of a block, by the ``id`` of that."""
        self.context = context
        self.primal = primal
        self.repeatable = repeatable
        self.root, self.home = find_regions(primal)
        self.lets = {s.target: s for s in ir.walk(primal.body) if isinstance(s, ir.Let) and s.target is not None}
        self.order = {var: k for k, var in enumerate(self.home)}
        self.exported: dict[ir.Var, ir.Var] = {}
        self.exports: dict[int, list[tuple[int, ir.Var, ir.Var]]] = {}
        self.saves: dict[ir.Var, list[ir.Statement]] = {}
        self.creations: dict[int, list[ir.Statement]] = {}
        self.counters: dict[int, tuple[ir.Var, ir.Var, ir.Var]] = {}
        self.left: dict[ir.Var, ir.Var] = {}
        """What a variable of loops was in the last iteration, seen after the loops."""
        self.leaving: dict[int, list[tuple[ir.Carried, ir.Var]]] = {}
        self.copies: dict[ir.Var, ir.Var] = {}
        self.lists: set[ir.Atom] = set()
        self.first_runs: dict[int, FirstRun] = {}
        self.asks = bool(asked(context, primal.body))
        self.depth = 0

    def is_primal(self, var: ir.Var) -> bool:
        """Whether a variable belongs to the primal."""
        return var in self.home

    # --- reading

    def use(self, sweep: Sweep, atom: ir.Atom) -> ir.Atom:
        """A primal atom as a sweep can read it; other atoms as they are."""
        if not isinstance(atom, ir.Var) or atom not in self.home:
            return atom
        home = self.home[atom]
        again = self._index_again(sweep, atom, sweep.builder.statements)
        if again is not None:
            return again
        if home.kept_loop() is None:
            return self._in_scope(sweep, self._export(atom, home), home.scope())
        if atom in self.unbound and sweep.region is not home:
            return self._restore(sweep, self._where_bound(atom, sweep.region))
        return self._restore(sweep.of(home), atom)

    def _where_bound(self, var: ir.Var, region: Region) -> ir.Var:
        """A variable that may have no value where it is defined, by another name from the start of the block on that
        reads it: there it has one, or the program itself raises."""
        block = ir.blocks_of(region.statement)[region.side]  # type: ignore[arg-type]
        found = self.bound_in.get((var, id(block)))
        if found is None:
            known, varied = self.context.value(var), var in self.context.varied
            found = self.context.define(self.context.name_of(var), known, varied)
            self.bound_in[var, id(block)] = found
            self.first.setdefault(id(block), []).append(ir.Let(found, var, self._span_of(var)))
            self.home[found] = region
            self.order[found] = len(self.order)
        return found

    def _in_scope(self, sweep: Sweep, var: ir.Var, scope: Region) -> ir.Atom:
        """A variable that is seen in a whole scope: it stands where the forward sweep has left it, or where the block
        is run again."""
        return var if scope is self.root else self._restore(sweep.of(scope), var)

    def _index_again(self, sweep: Sweep, var: ir.Var, statements: list[ir.Statement]) -> ir.Atom | None:
        """A slice, or an index made of several, is written again where it is used: it is syntax, no value."""
        made = self.context.definitions.get(var)
        if not isinstance(made, ir.Call) or made.kwargs or not isinstance(made.fn, ir.Const):
            return None
        if made.fn.value is not slice and not (made.fn.value is ops.make_tuple and self._is_index(var)):
            return None
        if any(isinstance(a, ir.Star) for a in made.args):
            return None
        args = tuple(self.operand(sweep, a, statements) for a in made.args)  # type: ignore[arg-type]
        again = self.context.define("%", self.context.value(var), False, ir.Call(made.fn, args))
        statements.append(ir.Let(again, ir.Call(made.fn, args)))
        return again

    def operand(self, sweep: Sweep, atom: ir.Atom, statements: list[ir.Statement]) -> ir.Atom:
        """An atom that a statement written into ``statements`` reads."""
        if isinstance(atom, ir.Var) and atom in self.home:
            again = self._index_again(sweep, atom, statements)
            if again is not None:
                return again
        return self.use(sweep, atom)

    def _is_index(self, var: ir.Var) -> bool:
        known = self.context.value(var)
        return isinstance(known, Sequence) and all(
            (isinstance(i, Sequence) and i.type is slice)
            or (isinstance(i, Known) and (i.value is None or isinstance(i.value, (slice, int, type(Ellipsis)))))
            or (isinstance(i, Scalar) and issubclass(i.type, (int, np.integer)))
            for i in known.items
        )

    def _export(self, var: ir.Var, home: Region) -> ir.Var:
        """A variable of a branch, seen after the ``if``."""
        scope = home.scope()
        if home is scope:
            return var
        if var not in self.exported:
            inner, region = var, home
            while region is not scope:
                assert region.parent is not None
                outer = self.context.define(var.name, self.context.value(var), var in self.context.varied)
                self._note_changed(outer, var)
                self.exports.setdefault(id(region.statement), []).append((region.side, inner, outer))
                inner, region = outer, region.parent
            self.exported[var] = inner
        return self.exported[var]

    def surely_runs(self, region: Region) -> bool:
        """Whether it is the body of a loop that makes an iteration wherever it stands."""
        over = constant_range(self.context, region.statement.iterable) if isinstance(region.statement, ir.For) else None
        return bool(over)

    def left_by_last(self, var: ir.Var, loops: list[Region]) -> ir.Var:
        """A variable of the innermost of nested loops as the last iteration has left it, seen after the outermost; it
        has no value where there was no iteration."""
        if var in self.left:
            return self.left[var]
        before: ir.Atom = ir.UNDEFINED
        carried = []
        for _ in loops:
            param, result = (
                self.context.define(var.name, self.context.value(var), var in self.context.varied) for _ in range(2))
            carried.append(ir.Carried(param, before, result))
            before = param
        gives = [*(c.result for c in carried[1:]), var]
        for region, c, given in zip(loops, carried, gives, strict=True):
            assert region.parent is not None
            self.leaving.setdefault(id(region.statement), []).append((c, given))
            self.home[c.result] = region.parent
            self.order[c.result] = len(self.order)
        self.left[var] = carried[0].result
        return self.left[var]

    def _restore(self, sweep: Sweep, var: ir.Var) -> ir.Atom:
        """A variable of a loop's trip, in the reverse of the block that defines it; how it gets there is decided by
        ``finish``, when all that the block needs is known."""
        if var not in sweep.restored:
            back = self.context.define(self.context.name_of(var), self.context.value(var), var in self.context.varied)
            self._note_changed(back, var)
            sweep.restored[var] = sweep.requests[var] = back
        return sweep.restored[var]

    def _note_changed(self, back: ir.Var, var: ir.Var) -> None:
        """What stands for an array that changes changes with it."""
        if var in self.context.changed:
            self.context.changed.add(back)

    def finish(self, sweep: Sweep) -> list[ir.Statement]:
        """All statements of a sweep, those that give back what it needs in front."""
        kept = {v for v in sweep.requests if not self._can_recompute(v)}
        plan: dict[ir.Var, ir.Let] = {}
        for var in sorted(sweep.requests, key=self.order.__getitem__):
            if var not in kept:
                before = len(plan)
                if not self._collect(sweep, var, plan, kept) or len(plan) - before > RECOMPUTE_AT_MOST:
                    kept.add(var)
                    while len(plan) > before:
                        plan.popitem()
        for var in sorted(kept, key=self.order.__getitem__):
            if not hoist(self, sweep, var, sweep.requests[var]):
                self._keep(sweep, var, sweep.requests[var], plan)
        self._recompute(sweep, plan)
        return [*sweep.prologue, *sweep.builder.statements]

    # --- recomputing

    def _collect(self, sweep: Sweep, var: ir.Var, plan: dict[ir.Var, ir.Let], kept: set[ir.Var]) -> bool:
        """Add to a plan the statements that compute a variable again; whether they are few and cheap."""
        if var in plan:
            return True
        let = self.lets.get(var)
        if let is None or not self._is_cheap(let):
            return False
        for atom in ir.atoms_of(let.value):
            if isinstance(atom, ir.Var) and not self._is_there(sweep, atom, kept):
                if not self._collect(sweep, atom, plan, kept):
                    return False
        plan[var] = let
        return True

    def _is_there(self, sweep: Sweep, var: ir.Var, kept: set[ir.Var]) -> bool:
        """Whether a variable can be read without being computed or kept for this purpose."""
        home = self.home.get(var)
        if home is None or var in kept or home.kept_loop() is None:
            return True
        holder = sweep.of(home)
        if holder is sweep and var in sweep.late:
            return False
        if var in holder.restored and var not in sweep.requests:
            return True
        return home.kept_loop() is not sweep.region.kept_loop()

    def _can_recompute(self, var: ir.Var) -> bool:
        let = self.lets.get(var)
        return let is not None and self._is_cheap(let)

    def may_be_another(self, let: ir.Let) -> bool:
        """Whether a statement reads a container or an object that a call may have changed since."""
        return self.asks and is_asked(self.context, let, reads=True)

    def _is_cheap(self, let: ir.Let) -> bool:
        if self.may_be_another(let):
            return False
        value = let.value
        if isinstance(value, ir.Load):
            return True
        if not isinstance(value, ir.Call) or not isinstance(value.fn, ir.Const) or value.kwargs:
            return False
        fn = value.fn.value
        try:
            if fn not in _CHEAP:
                return False
        except TypeError:
            return False
        known = self.context.value(let.target) if let.target else UNKNOWN
        if any(map(self.is_buffer, value.args)):  # type: ignore[arg-type]
            if fn is getattr:
                return value.args[1] in _SHAPES
            return fn in _LOOKS or (fn is operator.getitem and self._is_view(value) and isinstance(known, Array))
        if fn is operator.getitem:
            return not isinstance(known, Array) or self._is_view(value)
        if fn in (getattr, slice, ops.make_tuple, range, reversed, isinstance, len, np.shape):
            return True
        return is_number(known) or isinstance(known, (Known, Range))

    def _is_view(self, value: ir.Call) -> bool:
        """Whether what is read takes no copying: an item of a container, or a view of an array."""
        source, index = map(self.context.value, value.args)  # type: ignore[arg-type]
        return is_basic(index) or not isinstance(source, (Array, Unknown))

    def _recompute(self, sweep: Sweep, plan: dict[ir.Var, ir.Let]) -> None:
        again: dict[ir.Atom, ir.Atom] = {}
        for target, let in plan.items():
            mapping = {a: again.get(a) or self.operand(sweep, a, sweep.prologue) for a in ir.atoms_of(let.value)}
            value = ir.map_atoms(let.value, lambda a, m=mapping: m.get(a, a))  # type: ignore[misc]
            back = sweep.requests.get(target)
            if back is None:
                varied = target in self.context.varied
                back = self.context.define(target.name, self.context.value(target), varied, value)
            self.context.definitions[back] = value
            again[target] = back
            sweep.prologue.append(ir.Let(back, value, let.span))

    # --- keeping

    def _keep(self, sweep: Sweep, var: ir.Var, back: ir.Var, plan: dict[ir.Var, ir.Let]) -> None:
        """Keep a variable of every trip; the statement that gives it back goes to the start of the reverse trip."""
        loop = sweep.region.kept_loop()
        assert loop is not None
        called = self.context.name_of(var)
        name = "saved" if called == "%" else f"saved_{called}"
        known = self.context.value(var)
        sizes = self._trip_counts(loop, known)
        if sizes is not None:
            self._keep_in_array(sweep, var, back, loop, name, sizes)
            return
        kept = self._create(loop, ir.Call(ir.Const(ops.make_list), ()), name)
        self.lists.add(kept)
        self.context.runtime_objects.add(kept)
        saves, pushed = self.saves.setdefault(var, []), var
        if isinstance(known, (Array, Unknown)) and not self._is_read(sweep, var, back, plan):
            outline = ir.Call(ir.Const(rt.outline), (var,))
            pushed = self.context.define("%", known, False, outline)
            saves.append(ir.Let(pushed, outline, self._span_of(var)))
        saves.append(ir.Let(None, ir.Call(ir.Const(list.append), (kept, pushed)), self._span_of(var)))
        given = ir.Call(ir.Const(list.pop), (self._in_reverse(sweep, kept, loop.scope()),))
        sweep.prologue.append(ir.Let(back, given, self._span_of(var)))

    def _is_read(self, sweep: Sweep, var: ir.Var, back: ir.Var, plan: dict[ir.Var, ir.Let]) -> bool:
        """Whether the reverse of a block reads what a kept variable holds, and not its shape or kind only: in the
        statements that are written, or in those that are to compute others again."""
        statements = list(ir.walk(ir.Block((*sweep.prologue, *sweep.builder.statements))))
        return any(_reads(s, back) for s in statements) or any(_reads(let, var) for let in plan.values())

    def _span_of(self, var: ir.Var) -> ir.Span | None:
        let = self.lets.get(var)
        return let.span if let is not None else None

    def _trip_counts(self, loop: Region, known: Any) -> list[ir.Atom] | None:
        """The shape of an array that holds one number for each trip of nested loops over ranges, the outermost first.

        None where a list is needed: the trips are not known before the outermost loop, a loop may end early, or the
        value is no float or bool.
        """
        if not isinstance(known, Scalar):
            return None
        if known.type not in (float, bool) and not issubclass(known.type, (np.floating, np.complexfloating, complex)):
            return None
        sizes = []
        for region in loop.path_from(loop.scope()):
            if not region.is_loop:
                continue
            size = self._range_stop(region.statement)
            if size is None or not self._is_known_outside(size, loop.scope()):
                return None
            sizes.append(size)
        return sizes

    def _is_known_outside(self, atom: ir.Atom, scope: Region) -> bool:
        """Whether a number of trips can be read before a loop: not where only the path to the loop gives it a value."""
        return not isinstance(atom, ir.Var) or atom not in self.home or (
            scope.inside(self.home[atom]) and self.home[atom].kept_loop() is None and atom not in self.context.unbound)

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
        length = descends_from(over, self.context.definitions.get)
        if length is not None:
            return length
        start = bounds[0]
        ascending = len(bounds) == 2 or bounds[2] == ir.Const(1)
        near = isinstance(start, ir.Const) and isinstance(start.value, int) and 0 <= start.value <= 4
        return bounds[1] if ascending and near else None  # type: ignore[return-value]

    def _keep_in_array(
        self, sweep: Sweep, var: ir.Var, back: ir.Var, loop: Region, name: str, sizes: list[ir.Atom]
    ) -> None:
        known = self.context.value(var)
        assert isinstance(known, Scalar)
        plain = known.type in (float, np.float64)
        sizes = [self._at_least_zero(loop, size) for size in sizes]
        shape = sizes[0] if len(sizes) == 1 else self._create(loop, _tuple_of(sizes), "%")
        kwargs = () if plain else (("dtype", ir.Const(known.type)),)
        kept = self._create(loop, ir.Call(ir.Const(np.empty), (shape,), kwargs), name)
        items = [r.statement.item for r in loop.path_from(loop.scope()) if isinstance(r.statement, ir.For)]
        saves = self.saves.setdefault(var, [])
        at: ir.Atom = items[0]
        if len(items) > 1:
            at = self.context.define("%", UNKNOWN)
            saves.append(ir.Let(at, _tuple_of(items), self._span_of(var)))
        saves.append(ir.Store("item", kept, at, var, None, self._span_of(var)))
        place: ir.Atom = self.use(sweep, items[0])
        if len(items) > 1:
            place = self.context.define("%", UNKNOWN)
            index = _tuple_of([self.use(sweep, item) for item in items])
            sweep.prologue.append(ir.Let(place, index, self._span_of(var)))
        there = self._in_scope(sweep, kept, loop.scope())
        sweep.prologue.append(ir.Let(back, ir.Call(ir.Const(operator.getitem), (there, place)), self._span_of(var)))

    def _at_least_zero(self, loop: Region, size: ir.Atom) -> ir.Atom:
        """A range may end below 0; a length does not."""
        known = self.context.value(size)
        if (isinstance(known, Known) and known.value >= 0) or (isinstance(known, Scalar) and known.dim is not None):
            return size
        made = ir.Call(ir.Const(max), (size, ir.Const(0)))
        return self._create(loop, made, "%")

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
        self.creations.setdefault(id(statement), []).append(ir.Let(var, value, span))
        return var

    def _in_reverse(self, sweep: Sweep, kept: ir.Var, scope: Region) -> ir.Atom:
        """A list as the reverse sweep empties it: a copy where the sweep may run again."""
        if not self.repeatable or scope is not self.root:
            return self._in_scope(sweep, kept, scope)
        if kept not in self.copies:
            top = sweep
            while top.parent is not None:
                top = top.parent
            copy = self.context.define(kept.name, ListOf(UNKNOWN))
            top.prologue.append(ir.Let(copy, ir.Call(ir.Const(list), (kept,))))
            self.copies[kept] = copy
        return self.copies[kept]

    def note_empty(self, atom: ir.Atom) -> None:
        """A list that was empty at first has no cotangent to give on."""

    # --- loops

    def trips(self, statement: ir.For | ir.While, inner: Sweep) -> tuple[ir.Var, ir.Atom]:
        """The item variable and the iterable of the reverse loop."""
        assert inner.parent is not None
        outer, builder = inner.parent, inner.parent.builder
        name = statement.item.name if isinstance(statement, ir.For) else "i"
        item = self.context.define(name, Scalar(int))
        if isinstance(statement, ir.For):
            inner.restored[statement.item] = item
            length = self._length_of_descending(statement)
            if length is not None:  # backwards it is an ordinary range
                return item, builder.call(range, self.use(inner.parent, length), span=statement.span)
            over = self._iterable(statement, outer)
        else:
            over = builder.call(range, self._count(statement, outer), span=statement.span)
        if isinstance(statement, ir.While) and statement.snapshots is None:
            return item, over
        return item, builder.call(reversed, over, span=statement.span)

    def _length_of_descending(self, statement: ir.For) -> ir.Atom | None:
        """The ``n`` of a loop from ``n - 1`` down to 0."""
        made = self.context.definitions.get(statement.iterable) if isinstance(statement.iterable, ir.Var) else None
        return None if statement.leave is not None else descends_from(made, self.context.definitions.get)

    def _iterable(self, statement: ir.For, outer: Sweep) -> ir.Atom:
        builder = outer.builder
        made = self.context.definitions.get(statement.iterable) if isinstance(statement.iterable, ir.Var) else None
        bounds = list(made.args) if isinstance(made, ir.Call) and made.fn == ir.Const(range) else None
        if statement.leave is not None:
            count = self._count(statement, outer)
            if bounds is not None and len(bounds) == 1:
                return builder.call(range, count, span=statement.span)
            whole = self._range(statement, bounds, outer)
            until = builder.call(slice, ir.Const(None), count, ir.Const(None), span=statement.span)
            return builder.call(operator.getitem, whole, until, span=statement.span)
        return self._range(statement, bounds, outer)

    def _range(self, statement: ir.For, bounds: list[Any] | None, outer: Sweep) -> ir.Atom:
        if bounds is None:
            return self.use(outer, statement.iterable)
        return outer.builder.call(range, *(self.use(outer, b) for b in bounds), span=statement.span)

    def _count(self, statement: ir.For | ir.While, outer: Sweep) -> ir.Atom:
        """The number of trips that a loop made, counted in the forward sweep."""
        if id(statement) not in self.counters:
            param, following, result = (self.context.define("trips", Scalar(int)) for _ in range(3))
            self.counters[id(statement)] = (param, following, result)
            self.home[result] = outer.region
            self.order[result] = len(self.order)
        return self.use(outer, self.counters[id(statement)][2])

    def counter(self, statement: ir.While, outer: Sweep) -> ir.Var:
        """The number of trips before the present one, in the forward sweep."""
        self._count(statement, outer)
        return self.counters[id(statement)][0]

    # --- the forward sweep

    def forward(self) -> ir.Block:
        """The primal with all that crosses over."""
        return self._block(self.primal.body)

    def again(self, block: ir.Block) -> ir.Block:
        """A block of the primal that runs again, with all that its reverse reads of it."""
        return self._block(block)

    def _block(self, block: ir.Block) -> ir.Block:
        made: list[ir.Statement] = []
        for let in self.first.get(id(block), []):
            made += [let, *self.saves.get(let.target, [])]  # type: ignore[arg-type]
        for statement in block.statements:
            self._insert_creations(made, statement)
            if isinstance(statement, ir.If) and statement.again:
                made += self._run_once(statement)
                continue
            rewritten = self._statement(statement)
            if isinstance(rewritten, ir.Try) and self.depth:
                rewritten = self._with_lengths(rewritten, made)
            made.append(rewritten)
            for var in ir.defs_of(statement):
                made += self.saves.get(var, [])
            if id(statement) in self.counters:
                made += self.saves.get(self.counters[id(statement)][2], [])
            if id(statement) in self.first_runs:
                made += (save for var in self.first_runs[id(statement)].kept for save in self.saves.get(var, []))
        return ir.Block(tuple(made), block.yields)

    def _run_once(self, statement: ir.If) -> list[ir.Statement]:
        """The statements of a block that the reverse sweep runs again, as the primal has them."""
        first = self.first_runs.get(id(statement), FirstRun())
        inner = plain(self.context, ir.Block((statement,)), first.calls).statements
        results = set(statement.results)
        defined = {var for s in ir.walk(ir.Block(inner)) for var in ir.defs_of(s)}
        self.context.passing |= defined - results
        saves = [save for var in (*first.kept, *statement.results) for save in self.saves.get(var, [])]
        return [ir.Note("", BEGIN), *inner, ir.Note("", END), *saves]

    def _run_first(self, loop: Any) -> Any:
        """A loop whose trips the reverse sweep runs again."""
        first = self.first_runs.get(id(loop), FirstRun())
        body = plain(self.context, loop.body, first.calls)
        counted: Any = self._count_trips(loop, ir.replace(loop, body=body, snapshots=None))
        body = ir.Block((*first.start, *counted.body.statements), counted.body.yields)
        return ir.replace(counted, body=body)

    def _insert_creations(self, made: list[ir.Statement], statement: ir.Statement) -> None:
        """Containers stand before the loop, and before the range that it runs over where that was just made."""
        at = len(made)
        if made and isinstance(statement, ir.For) and isinstance(made[-1], ir.Let) and (
            made[-1].target == statement.iterable
        ):
            at -= 1
        first = self.first_runs.get(id(statement))
        made[at:at] = [*self.creations.get(id(statement), []), *(() if first is None else first.before)]

    def _statement(self, statement: ir.Statement) -> ir.Statement:
        match statement:
            case ir.If(_, then, orelse, results):
                blocks = [self._block(then), self._block(orelse)]
                more = self._exported(statement, blocks, range(2))
                return ir.replace(statement, then=blocks[0], orelse=blocks[1], results=(*results, *more))
            case ir.With(body=body):
                return ir.replace(statement, body=self._block(body))
            case ir.Try(body, handlers, orelse, results):
                names = [() if h.name is None else (h.name,) for h in handlers]
                after = [self._body(h.body, name) for h, name in zip(handlers, names, strict=True)]
                blocks = [self._block(body), self._block(orelse), *after]
                more = self._exported(statement, blocks, range(1, len(blocks)))
                return ir.replace(ir.with_blocks(statement, blocks), results=(*results, *more))
            case (ir.For() | ir.While()) as loop if loop.snapshots is not None:
                return self._run_first(loop)
            case ir.For(item, body=body, carried=carried) as loop:
                body = self._trip(body, (item, *(c.param for c in carried)))
                return self._count_trips(statement, self._leave_last(statement, ir.replace(loop, body=body)))
            case ir.While(body=body, carried=carried) as loop:
                body = self._trip(body, tuple(c.param for c in carried))
                return self._count_trips(statement, self._leave_last(statement, ir.replace(loop, body=body)))
            case _:
                return statement

    def _with_lengths(self, statement: ir.Try, before: list[ir.Statement]) -> ir.Try:
        """A ``try`` in a loop whose handlers take back what the interrupted body has kept for its reverse."""
        kept = {
            s.value.args[0]: None for s in ir.walk(statement.body)
            if isinstance(s, ir.Let) and isinstance(s.value, ir.Call) and s.value.fn == ir.Const(list.append)
            and s.value.args[0] in self.lists
        }
        counts = {items: self.context.define("%", Scalar(int)) for items in kept}
        before += [ir.Let(n, ir.Call(ir.Const(len), (items,)), statement.span) for items, n in counts.items()]
        handlers = []
        for handler in statement.handlers:
            back: list[ir.Statement] = []
            for items, count in counts.items():
                rest = self.context.define("%", UNKNOWN)
                bounds = (count, ir.Const(None), ir.Const(None))
                back.append(ir.Let(rest, ir.Call(ir.Const(slice), bounds), handler.span))
                back.append(ir.Let(None, ir.Call(ir.Const(operator.delitem), (items, rest)), handler.span))
            body = ir.Block((*back, *handler.body.statements), handler.body.yields)
            handlers.append(ir.replace(handler, body=body))
        return ir.replace(statement, handlers=tuple(handlers))

    def _exported(self, statement: ir.Statement, blocks: list[ir.Block], sides: range) -> list[ir.Var]:
        """The results by which variables of the blocks of a statement are seen after it; the blocks yield them."""
        results = []
        for side, inner, outer in self.exports.get(id(statement), []):
            results.append(outer)
            for k in sides:
                gives = inner if k == side else ir.UNDEFINED
                blocks[k] = ir.Block(blocks[k].statements, (*blocks[k].yields, gives))
        return results

    def _trip(self, block: ir.Block, params: tuple[ir.Var, ...]) -> ir.Block:
        self.depth += 1
        made = self._body(block, params)
        self.depth -= 1
        return made

    def _body(self, block: ir.Block, params: tuple[ir.Var, ...]) -> ir.Block:
        inner = self._block(block)
        first = [save for var in params for save in self.saves.get(var, [])]
        return ir.Block((*first, *inner.statements), inner.yields)

    def _leave_last(self, original: ir.Statement, loop: Any) -> Any:
        rows = self.leaving.get(id(original), [])
        body = ir.Block(loop.body.statements, (*loop.body.yields, *(given for _, given in rows)))
        return ir.replace(loop, body=body, carried=(*loop.carried, *(c for c, _ in rows)))

    def _count_trips(self, original: ir.Statement, loop: Any) -> ir.Statement:
        counter = self.counters.get(id(original))
        if counter is None:
            return loop  # type: ignore[no-any-return]
        param, following, result = counter
        one_more = ir.Let(following, ir.Call(ir.Const(operator.add), (param, ir.Const(1))), loop.span)
        body = ir.Block((one_more, *loop.body.statements), (*loop.body.yields, following))
        carried = (*loop.carried, ir.Carried(param, ir.Const(0), result))
        return ir.replace(loop, body=body, carried=carried)


def _tuple_of(atoms: list[Any]) -> ir.Call:
    return ir.Call(ir.Const(ops.make_tuple), tuple(atoms))


def _reads(statement: ir.Statement, var: ir.Var) -> bool:
    """Whether a statement, the blocks in it left out, reads what a variable holds."""
    if any(var in block.yields for block in ir.blocks_of(statement)):
        return True
    value = statement.value if isinstance(statement, ir.Let) else None
    if isinstance(value, ir.Call) and isinstance(value.fn, ir.Const) and var in ir.atoms_of(value):
        return bool(value.kwargs) or reads_content(value.fn.value, value.args, var)
    return var in ir.reads_of(statement)
