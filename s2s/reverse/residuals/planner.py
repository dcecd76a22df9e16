"""The planner of residuals: for each primal value that the reverse sweep reads it decides how that gets there.

A value defined outside loops is read where it stands (through the results of the branches that it is defined in; a
comparison of numbers in a branch is made again). For a value of a loop's iteration the ways are compared by what they
cost in each iteration (``costs``), when all that the reverse of a block reads is known, because a value that is there
makes others cheap:

    recompute   an index, a view, a shape, a little arithmetic on numbers
    hoist       what is the same in every iteration (``hoist``)
    keep        in an array indexed by the iteration where their number is known, else on a list (``storage``)

A block that the reverse sweep replays asks for nothing (``replay``); what arrays hold that change in place is given
back by undoing stores (``undo``). Each decision is noted with its reason (``decisions``).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import cached_property

import numpy as np

from s2s.analysis.abstract.lattice import is_number
from s2s.analysis.functions import facts
from s2s.analysis.memory import is_basic
from s2s.analysis.regions import Region, find_regions
from s2s.builder.builder import Context
from s2s.core import ir, ops
from s2s.core.values import UNKNOWN, Array, Known, Range, Scalar, Sequence, Unknown
from s2s.optimize.ranges import constant_range
from s2s.reverse.residuals.arithmetic import add_formulas, is_arithmetic, put_before_readers, request_origins
from s2s.reverse.residuals.costs import COMPARISONS, SHAPES, costs_less, is_few_numbers
from s2s.reverse.residuals.decisions import Plan, Reason
from s2s.reverse.residuals.duplicates import find_same, hand_over, number_values
from s2s.reverse.residuals.forward_sweep import ForwardSweep
from s2s.reverse.residuals.hoist import hoist
from s2s.reverse.residuals.induction import formula
from s2s.reverse.residuals.storage import Storage, reads
from s2s.reverse.residuals.sweep import Sweep
from s2s.specialize.checkpoints import FirstRun, asked, is_asked

__all__ = ["Planner"]


class Planner:
    """Decides for each primal variable that the reverse sweep reads how it gets there."""

    def __init__(
        self, context: Context, primal: ir.Function, repeatable: bool, is_buffer: Callable[[ir.Atom], bool],
        is_still_there: Callable[[ir.Let], bool], unbound: set[ir.Atom], is_compiled: bool,
    ) -> None:
        """``is_still_there`` says whether what a statement has read from a buffer can be read there again where the
        reverse of its block begins; ``unbound`` are the variables that have no value on some path,
        ``is_compiled`` says whether loops are compiled to machine code."""
        self.is_compiled = is_compiled
        self.is_buffer = is_buffer
        self.is_still_there = is_still_there
        self.unbound = unbound
        self.plan = Plan()
        self.bound_in: dict[tuple[ir.Var, int], ir.Var] = {}
        self.at_start: dict[int, list[ir.Let]] = {}
        """Statements at the start of a block, by the ``id`` of that."""
        self.context = context
        self.primal = primal
        self.repeatable = repeatable
        self.root, self.home = find_regions(primal)
        self.lets: dict[ir.Var, ir.Let] = {}
        self.carried: dict[ir.Var, tuple[ir.For | ir.While, int]] = {}
        self.results: dict[ir.Var, tuple[ir.For | ir.While, int]] = {}
        """The loops that have variables as parameters, and as results, with their place among what is carried."""
        self.items: dict[ir.Var, int] = {}
        self.joined: dict[ir.Var, tuple[ir.If, int]] = {}
        """The loops of which variables are the items, by ``id``, and the branches that they are results of."""
        self.invariant: dict[Region, dict[ir.Atom, bool]] = {}
        for s in ir.walk(primal.body):
            if isinstance(s, ir.Let) and s.target is not None:
                self.lets[s.target] = s
            elif isinstance(s, (ir.For, ir.While)):
                self.carried.update({c.param: (s, k) for k, c in enumerate(s.carried)})
                self.results.update({c.result: (s, k) for k, c in enumerate(s.carried)})
                self.items.update({s.item: id(s)} if isinstance(s, ir.For) else {})
            elif isinstance(s, ir.If) and not s.replayed:
                self.joined.update({result: (s, k) for k, result in enumerate(s.results)})
        self.formulas: dict[ir.Var, ir.Let | None] = {}
        """Of induction variables that were looked at."""
        self.indices: dict[int, ir.Var] = {}
        self.indexed: set[int] = set()
        """The ``while`` loops of which the reverse reads the number of the iteration, by ``id``."""
        self.order = {var: k for k, var in enumerate(self.home)}
        self.exported: dict[ir.Var, ir.Var] = {}
        self.stood_for: dict[ir.Atom, ir.Var] = {}
        """What a variable of the sweeps gives of the primal, of another block or of an iteration."""
        self.exports: dict[int, list[tuple[int, ir.Atom, ir.Var, ir.Atom]]] = {}
        self.contents: dict[int, tuple[ir.Statement, frozenset[ir.Atom]]] = {}
        """Statements of the reverse sweep by their ``id``, with the variables that they read the contents of."""
        self.counters: dict[int, tuple[ir.Var, ir.Var, ir.Var]] = {}
        self.counted: dict[ir.Var, ir.For | ir.While] = {}
        """The loops of which variables are the number of iterations."""
        self.left: dict[ir.Var, ir.Var] = {}
        """What a variable of loops was in the last iteration, seen after the loops."""
        self.leaving: dict[int, list[tuple[ir.Carried, ir.Atom]]] = {}
        self.first_runs: dict[int, FirstRun] = {}
        self.asks = bool(asked(context, primal.body))
        self.storage = Storage(self)

    def is_primal(self, var: ir.Var) -> bool:
        """Whether a variable belongs to the primal."""
        return var in self.home

    def note(self, var: ir.Var, region: Region) -> ir.Var:
        """Take a new variable for one of the primal, that a region defines."""
        self.home[var] = region
        self.order[var] = len(self.order)
        return var

    # --- reading

    def use(self, sweep: Sweep, atom: ir.Atom) -> ir.Atom:
        """A primal atom as a sweep can read it; other atoms as they are."""
        if not isinstance(atom, ir.Var) or atom not in self.home:
            return atom
        home = self.home[atom]
        index = self._index(sweep, atom, sweep.builder.statements)
        if index is not None:
            return index
        if home.residual_loop() is None and not self._is_test_of_branch(atom, home):
            self.plan.add(atom, "in scope", Reason.RUNS_ONCE)
            return self.in_scope(sweep, self._export(atom, home), home.scope())
        if atom in self.unbound and sweep.region is not home:
            return self._request(sweep, self._where_bound(atom, sweep.region))
        return self._request(sweep.of(home), atom)

    def _is_test_of_branch(self, var: ir.Var, home: Region) -> bool:
        """Whether a variable of a branch compares numbers that are seen in the whole scope: comparing them again takes
        no result of each branch around it, of which a chain of ``elif`` would have a square number."""
        let = self.lets.get(var)
        if home is self.root or home.scope() is not self.root or let is None or not isinstance(let.value, ir.Call):
            return False
        return let.value.fn in COMPARISONS and all(
            is_number(self.context.value(a)) and self.home.get(a, self.root) is self.root  # type: ignore[arg-type]
            and a not in self.unbound for a in let.value.args
        )

    def _where_bound(self, var: ir.Var, region: Region) -> ir.Var:
        """A variable that may have no value where it is defined, by another name from the start of the block on that
        reads it: there it has one, or the program itself raises."""
        block = ir.blocks_of(region.statement)[region.side]  # type: ignore[arg-type]
        found = self.bound_in.get((var, id(block)))
        if found is None:
            known, varied = self.context.value(var), var in self.context.varied
            found = self.context.define(self.context.name_of(var), known, varied)
            self._note_stand_in(found, var)
            self.bound_in[var, id(block)] = found
            self.at_start.setdefault(id(block), []).append(ir.Let(found, var, self.span_of(var)))
            self.note(found, region)
        return found

    def in_scope(self, sweep: Sweep, var: ir.Var, scope: Region) -> ir.Atom:
        """A variable that is seen in a whole scope: it stands where the forward sweep has left it, or where the block
        is run again."""
        return var if scope is self.root else self._request(sweep.of(scope), var)

    def _index(self, sweep: Sweep, var: ir.Var, statements: list[ir.Statement]) -> ir.Atom | None:
        """A slice, or an index made of several, is written again where it is used: it is syntax, no value."""
        made = self.context.definitions.get(var)
        if not isinstance(made, ir.Call) or made.kwargs or not isinstance(made.fn, ir.Const):
            return None
        if made.fn.value is not slice and not (made.fn.value is ops.make_tuple and self._is_index(var)):
            return None
        if any(isinstance(a, ir.Star) for a in made.args):
            return None
        args = tuple(self.operand(sweep, a, statements) for a in made.args)  # type: ignore[arg-type]
        index = self.context.define("%", self.context.value(var), False, ir.Call(made.fn, args))
        statements.append(ir.Let(index, ir.Call(made.fn, args)))
        self.plan.add(var, "recompute", Reason.SYNTAX)
        return index

    def operand(self, sweep: Sweep, atom: ir.Atom, statements: list[ir.Statement]) -> ir.Atom:
        """An atom that a statement written into ``statements`` reads."""
        if isinstance(atom, ir.Var) and atom in self.home:
            index = self._index(sweep, atom, statements)
            if index is not None:
                return index
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
                outer = self._like(var)
                self.exports.setdefault(id(region.statement), []).append((region.side, inner, outer, ir.UNDEFINED))
                inner, region = outer, region.parent
            self.exported[var] = inner
        return self.exported[var]

    def surely_runs(self, region: Region) -> bool:
        """Whether it is the body of a loop that makes an iteration wherever it stands."""
        over = constant_range(self.context, region.statement.iterable) if isinstance(region.statement, ir.For) else None
        return bool(over)

    def left_by_last(self, var: ir.Var, regions: list[Region]) -> ir.Var:
        """A variable of nested loops and branches as the last iteration has left it that has defined it, seen after the
        outermost loop; nothing reads it where there was none."""
        if var in self.left:
            return self.left[var]
        given: ir.Atom = var
        number = is_number(self.context.value(var))
        outside = regions[0].parent
        assert outside is not None
        kept = outside.residual_loop() is not None  # kept for each iteration of a loop around: it needs a value
        before: ir.Atom = ir.UNDEFINED if not kept else ir.Const(0.0) if number else ir.Const(None)
        params: list[ir.Atom] = []
        for region in regions:
            params.append(before)
            before = self._like(var) if region.is_loop else before
        params.append(before)
        for k, region in reversed(list(enumerate(regions))):
            result = self._like(var)
            if region.is_loop:
                carried = ir.Carried(params[k + 1], params[k], result)  # type: ignore[arg-type]
                self.leaving.setdefault(id(region.statement), []).append((carried, given))
            else:
                self.exports.setdefault(id(region.statement), []).append((region.side, given, result, params[k]))
            assert region.parent is not None
            self.note(result, region.parent)
            given = result
        self.left[var] = given  # type: ignore[assignment]
        return self.left[var]

    def _like(self, var: ir.Var) -> ir.Var:
        """A new variable for the same as another one."""
        made = self.context.define(var.name, self.context.value(var), var in self.context.varied)
        self._note_stand_in(made, var)
        return made

    def _request(self, sweep: Sweep, var: ir.Var) -> ir.Atom:
        """A variable of a loop's iteration, in the reverse of the block that defines it; how it gets there is decided
        by ``finish``, when all that the block needs is known."""
        if var not in sweep.restored:
            back = self.context.define(self.context.name_of(var), self.context.value(var), var in self.context.varied)
            self._note_stand_in(back, var)
            sweep.restored[var] = sweep.requests[var] = back
        return sweep.restored[var]

    def _note_stand_in(self, back: ir.Var, var: ir.Var) -> None:
        """What stands for an array that changes changes with it."""
        self.stood_for[back] = self.stood_for.get(var, var)
        if var in self.context.changed:
            self.context.changed.add(back)

    def finish(self, sweep: Sweep) -> list[ir.Statement]:
        """All statements of a sweep, those that give back what it needs in front."""
        request_origins(self, sweep)
        kept = {v for v in sweep.requests if not self._can_recompute(sweep, v)}
        formulas: dict[ir.Var, ir.Let] = {}
        for var in sorted(sweep.requests, key=self.order.__getitem__):
            if var not in kept:
                before = len(formulas)
                if not self._collect(sweep, var, formulas, kept) or not costs_less(len(formulas) - before):
                    kept.add(var)
                    while len(formulas) > before:
                        formulas.popitem()
        self._keep_once(sweep, sorted(kept, key=self.order.__getitem__), formulas)
        made = self._recompute(sweep, formulas)
        copies = self.storage.list_copies if sweep.parent is None else []
        return put_before_readers([*copies, *sweep.prologue, *sweep.builder.statements], made)

    # --- recomputing

    def _collect(self, sweep: Sweep, var: ir.Var, plan: dict[ir.Var, ir.Let], kept: set[ir.Var]) -> bool:
        """Add to a plan the statements that recompute a variable; whether they are few and cheap."""
        if var in plan:
            return True
        let = self.definition(sweep, var)
        if let is None or not self.is_cheap(let):
            return False
        for atom in ir.atoms_of(let.value):
            if isinstance(atom, ir.Var) and not self.is_there(sweep, atom, kept):
                if not self._collect(sweep, atom, plan, kept):
                    return False
        plan[var] = let
        return True

    def is_there(self, sweep: Sweep, var: ir.Var, kept: set[ir.Var]) -> bool:
        """Whether a variable can be read without being computed or kept for this purpose."""
        home = self.home.get(var)
        if home is None or var in kept or home.residual_loop() is None:
            return True
        holder = sweep.of(home)
        if holder is sweep and var in sweep.late:
            return False
        if var in holder.restored and var not in sweep.requests:
            return True
        return home.residual_loop() is not sweep.region.residual_loop()

    def definition(self, sweep: Sweep, var: ir.Var) -> ir.Let | None:
        """The statement that gives a variable in the reverse of an iteration."""
        return self.lets.get(var) or formula(self, sweep, var)

    def _can_recompute(self, sweep: Sweep, var: ir.Var) -> bool:
        let = self.definition(sweep, var)
        return let is not None and self.is_cheap(let)

    def may_be_another(self, let: ir.Let) -> bool:
        """Whether a statement reads a container or an object that a call may have changed since."""
        return self.asks and is_asked(self.context, let, reads=True)

    def is_cheap(self, let: ir.Let) -> bool:
        """Whether a statement is an operation that costs little: none on the items of arrays."""
        if self.may_be_another(let):
            return False
        value = let.value
        if isinstance(value, (ir.Load, ir.Var)):
            return True
        if not isinstance(value, ir.Call) or not isinstance(value.fn, ir.Const) or value.kwargs:
            return False
        fn = value.fn.value
        says = facts(fn)
        if fn is ops.unpack:  # what it takes items of may be an iterator, or change
            return self._is_item_of_array(value) and not any(map(self.is_buffer, value.args))  # type: ignore[arg-type]
        if not says.cheap:
            return False
        known = self.context.value(let.target) if let.target else UNKNOWN
        if any(map(self.is_buffer, value.args)):  # type: ignore[arg-type]
            if fn is getattr:
                return value.args[1] in SHAPES
            if fn is operator.getitem and is_number(known):
                is_key_there = not self.is_buffer(value.args[1])  # type: ignore[arg-type]
                return is_key_there and self._is_item_of_array(value) and self.is_still_there(let)
            return not says.reads or (fn is operator.getitem and self._is_view(value) and isinstance(known, Array))
        if fn is operator.getitem:
            return not isinstance(known, Array) or self._is_view(value)
        if fn in (getattr, slice, ops.make_tuple, range, reversed, isinstance, len, np.shape):
            return True
        if self.is_compiled and is_few_numbers(known) and let.target is not None:
            return not says.changes and not self.is_buffer(let.target)
        return is_number(known) or isinstance(known, (Known, Range))

    def _is_view(self, value: ir.Call) -> bool:
        """Whether what is read takes no copying: an item of a container, or a view of an array."""
        source, index = map(self.context.value, value.args)  # type: ignore[arg-type]
        return is_basic(index) or not isinstance(source, (Array, Unknown))

    def _is_item_of_array(self, value: ir.Call) -> bool:
        return isinstance(self.context.value(value.args[0]), Array)  # type: ignore[arg-type]

    def _recompute(self, sweep: Sweep, plan: dict[ir.Var, ir.Let]) -> set[ir.Atom]:
        """Write the operations of a plan; the arrays that they compute."""
        made: dict[ir.Atom, ir.Atom] = {}

        def write(target: ir.Var, let: ir.Let) -> None:
            for a in ir.atoms_of(let.value):
                if isinstance(a, ir.Var) and a in plan and a not in made:
                    write(a, plan[a])
            mapping = {a: made.get(a) or self.operand(sweep, a, sweep.prologue) for a in ir.atoms_of(let.value)}
            value = ir.map_atoms(let.value, lambda a: mapping.get(a, a))
            back = sweep.requests.get(target)
            if back is None:
                varied = target in self.context.varied
                back = self.context.define(target.name, self.context.value(target), varied, value)
            self.context.definitions[back] = value
            made[target] = back
            sweep.prologue.append(ir.Let(back, value, let.span))
            self.plan.add(target, "recompute", self._why_recompute(let), span=let.span)

        for target, let in plan.items():
            if target not in made:
                write(target, let)
        return {made[target] for target, let in plan.items() if is_arithmetic(self, let)}

    def _why_recompute(self, let: ir.Let) -> Reason:
        if let.target in self.formulas:
            return Reason.INDUCTION
        value = let.value
        if not isinstance(value, ir.Call) or value.fn != ir.Const(operator.getitem) or let.target is None:
            return Reason.FEW_OPERATIONS
        is_number_there = is_number(self.context.value(let.target)) and self.is_buffer(value.args[0])  # type: ignore
        return Reason.STILL_THERE if is_number_there else Reason.FEW_OPERATIONS

    # --- keeping

    def _keep_once(self, sweep: Sweep, needed: list[ir.Var], formulas: dict[ir.Var, ir.Let]) -> None:
        """Keep variables for each iteration, but for those that are the same in all of them, and those that are there
        under another name."""
        kept: list[ir.Var] = []
        whole: set[ir.Var] = set()
        given: set[ir.Var] = set()
        same: list[tuple[ir.Var, ir.Atom]] = []
        for var in needed:
            back = sweep.requests[var]
            if hoist(self, sweep, var, back):
                given.add(var)
                continue
            if self.is_read(sweep, var, back, formulas):
                given.add(var)
                found = find_same(self, sweep, var, kept)
                if found is not None:
                    same.append((back, found[1]))
                    whole.add(found[0])
                    self.plan.add(var, "in scope", Reason.SAME_VALUE, found[0], self.span_of(var))
                    continue
                param = hand_over(self, sweep, var)
                if param is not None:
                    whole.add(param)
                    continue
                if add_formulas(self, sweep, var, given - {var}, formulas):
                    continue
                whole.add(var)
            kept.append(var)
        for var in kept:
            if var in formulas:  # of which only the shape is read, and which others are computed from
                continue
            reason = Reason.CHANGES if var in whole else Reason.SHAPE_ONLY
            self.plan.add(var, "keep", reason, span=self.span_of(var))
            self.storage.keep(sweep, var, sweep.requests[var], var not in whole)
        sweep.prologue += [ir.Let(back, there) for back, there in same]

    @cached_property
    def numbers(self) -> dict[ir.Var, ir.Var]:
        """For values that are the same as one before, that one."""
        return number_values(self)

    def is_read(self, sweep: Sweep, var: ir.Var, back: ir.Var, formulas: dict[ir.Var, ir.Let]) -> bool:
        """Whether the reverse of a block reads what a kept variable holds, and not its shape or kind only: in the
        statements that are written, or in those that are to compute others."""
        if not isinstance(self.context.value(var), (Array, Unknown)):
            return True
        statements = (*sweep.prologue, *sweep.builder.statements)
        return any(back in self._read_in(s) for s in statements) or any(reads(let, var) for let in formulas.values())

    def _read_in(self, statement: ir.Statement) -> frozenset[ir.Atom]:
        """The variables that a statement reads the contents of, with the blocks in it. It is found once: it is asked
        for each variable that is kept, and again for each block around it."""
        known = self.contents.get(id(statement))
        if known is not None and known[0] is statement:
            return known[1]
        blocks = ir.blocks_of(statement)
        atoms = {*ir.reads_of(statement), *(a for block in blocks for a in block.yields)}
        found: set[ir.Atom] = {a for a in atoms if isinstance(a, ir.Var) and reads(statement, a)}
        for inner in (s for block in blocks for s in block.statements):
            found |= self._read_in(inner)
        self.contents[id(statement)] = statement, frozenset(found)
        return self.contents[id(statement)][1]

    def span_of(self, var: ir.Var) -> ir.Span | None:
        """Where the statement stands that defines a variable."""
        let = self.lets.get(var)
        return let.span if let is not None else None

    # --- loops

    def count(self, statement: ir.For | ir.While, outer: Sweep) -> ir.Atom:
        """The number of iterations that a loop made, counted in the forward sweep."""
        if id(statement) not in self.counters:
            param, following, result = (self.context.define("iterations", Scalar(int)) for _ in range(3))
            self.counters[id(statement)] = (param, following, result)
            self.counted[self.note(result, outer.region)] = statement
        return self.use(outer, self.counters[id(statement)][2])

    def counter(self, statement: ir.While, outer: Sweep) -> ir.Var:
        """The number of iterations before the present one, in the forward sweep."""
        self.count(statement, outer)
        return self.counters[id(statement)][0]

    # --- the forward sweep

    def forward(self, block: ir.Block) -> ir.Block:
        """A block of the primal with all that its reverse reads of it."""
        return ForwardSweep(self).block(block)
