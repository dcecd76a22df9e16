"""Partial evaluation: a function in SSA form and what is known of its arguments -> the same function for these.

Tests on known facts fold and dead branches go; callees are resolved by value; helpers that something differentiated
flows through are inlined; loops over containers of known length are unrolled, other loops become loops over a range.
What is left is arithmetic, calls with a rule, and calls that are decided when the program runs.

    def f(x, axis):                         def f(x, axis):
        if axis is None:            ->          return np.sum(x)
            return np.sum(x)
        return np.sum(x, axis)
"""

from __future__ import annotations

import contextlib
import itertools
import types
from collections.abc import Callable
from typing import Any, assert_never

from s2s import runtime as rt
from s2s.analysis.abstract.lattice import is_number, join_all, known
from s2s.analysis.abstract.parts import holds_items
from s2s.analysis.effects import ACTS, effect_of
from s2s.analysis.raising import ends, is_needed
from s2s.builder import virtual_heap
from s2s.builder.builder import Builder, Context, has_zero_derivative, is_constant_kind
from s2s.core import ir, ops
from s2s.core.critical import section
from s2s.core.limits import charge_step
from s2s.core.values import (
    UNKNOWN,
    AbstractValue,
    Array,
    Instance,
    Known,
    ListOf,
    Mapping,
    Object,
    Same,
    Sequence,
    Unknown,
)
from s2s.errors import DifferentiationError, error
from s2s.optimize.dead import is_pure
from s2s.specialize import fixpoints, logs, registry
from s2s.specialize.beginning_again import check_order
from s2s.specialize.branching import assertion, branch, join_sides, phi
from s2s.specialize.calls import called_again, derivatives
from s2s.specialize.calls.leaving import leave
from s2s.specialize.calls.policies import Holding
from s2s.specialize.exceptions import try_statement
from s2s.specialize.expected import expected
from s2s.specialize.folds import Folds
from s2s.specialize.frames import (
    Frame,
    at_call,
    is_of_s2s,
    lower_function,
    where_chosen,
)
from s2s.specialize.heap import generators, iterators, lazy
from s2s.specialize.heap.classes import without_objects
from s2s.specialize.heap.given_arrays import check_given_arrays
from s2s.specialize.heap.items import Counted, Items
from s2s.specialize.heap.joins import Side
from s2s.specialize.heap.live_objects import LiveObjects, Place
from s2s.specialize.heap.mutated_iterables import Iterables
from s2s.specialize.heap.objects import Instances
from s2s.specialize.heap.variables import is_variable
from s2s.specialize.inlining import Inliner
from s2s.specialize.loads import load
from s2s.specialize.loops import for_loop, while_loop
from s2s.specialize.managers import with_statement
from s2s.specialize.outcomes import Outcome
from s2s.specialize.relied import Relied
from s2s.specialize.site import At, CallSite
from s2s.specialize.spreading import arguments
from s2s.specialize.stores import store
from s2s.specialize.variables import check_read
from s2s.versions.boundary import Raised
from s2s.versions.facts import Guards


class Specializer:
    """Runs a function on abstract values, writing what is left of it into a builder."""

    def __init__(self, context: Context, sweeps: derivatives.Sweeps = derivatives.refuse) -> None:
        self.context = context
        self.sweeps = sweeps
        self.has_short_loops = False
        """Whether there are loops of few iterations, which might be unrolled."""
        self.guards = Guards()
        self.context.evaluator.fold = lambda fact: fact.folded(self.guards)
        self.outcomes: dict[Any, tuple[Outcome, Guards]] = {}
        self.refused_outcomes: dict[Any, tuple[int, int]] = {}
        self.function: Any = None
        self.items = Items(self)
        self.inliner = Inliner(self)
        self.reshaped: dict[ir.Atom, ir.Atom] = {}
        """Arrays that were given another shape, as they are since then."""
        self.models: list[tuple[types.FunctionType, list[Any]]] = []
        self.iterables = Iterables(context)
        self.made_of: dict[virtual_heap.Cell, generators.Source] = {}
        self.read_flat: dict[ir.Atom, ir.Span | None] = {}
        self.frame: Any = None
        self.kept_functions = 0
        """How many nested functions were put into lists of unknown length."""
        self.logs: dict[ir.Var, Any] = {}
        """Containers from outside that a function only writes to, by the variables that read them."""
        self.written_logs: dict[int, ir.Span | None] = {}
        """Those to which something differentiated is written."""
        self.changed_logs: dict[int, ir.Span | None] = {}
        """Those to which anything is written."""
        self.log_holders: dict[ir.Var, virtual_heap.Cell | None] = {}
        """The objects that hold them, of those that are attributes; None for classes and modules."""
        self.read_containers: dict[int, ir.Span | None] = {}
        """The containers from outside that are read."""
        self.read_attributes: set[int] = set()
        self.read_whole: dict[int, Any] = {}
        """Those that are read from attributes of modules and classes, where no change of this compilation shows."""
        self.left_functions: set[types.FunctionType] = set()
        """The functions that are called when the program runs."""
        self.has_left = False
        """Whether any function is, those included of which it is not known which they are."""
        self.assigned_statics: dict[str, ir.Span | None] = {}
        """The attributes of classes that are assigned, by their names."""
        self.varied_statics: dict[str, ir.Span | None] = {}
        """Those to which something differentiated is."""
        self.read_statics: set[str] = set()
        """Those that are read."""
        self.rebound: list[tuple[ir.Var, ir.Var, ir.Span | None]] = []
        self.live_objects = LiveObjects(self)
        self.instances = Instances(self)
        self.relied = Relied(self) if context.assumed.checks else None
        """Writes checks of what is relied on; None where no call may change it while the function runs."""
        if self.relied is not None:
            self.guards.told = self.relied.note
            context.heap.readers.append(self.relied)
        self.folds = Folds(self) if context.stages is not None else None
        """Notes for people what is decided where; None where nobody asks."""
        self.compared = False
        """Whether the program asks of two containers or objects that were there before whether they are one."""
        self.followed = 0
        """How many calls are being specialised that can be left as they are."""
        self.tried_from = 0
        """How many calls are around the outermost one that is tried out; 0 where none is."""
        self.effort = 0
        """How many calls were followed in calls that can be left as they are."""
        self.trying = 0
        """How many bodies of a ``try`` are being specialised."""
        self.catching = 0
        """How many of them have a handler that would see a refusal."""
        self.unsure = 0
        """How many managers are around this place that may change settings, in a way that is not known."""
        self.unrolling = 1
        """How many iterations of loops are being written for one of what is around them."""
        self.written_out: dict[ir.Span, int] = {}
        """How many iterations of which loops were written one after the other."""
        self.undecided = 0
        """How many branches are being specialised that may not be taken."""
        self.solved: dict[Any, fixpoints.Solution] = {}
        """What the loops here came to when this iteration of the loop around them was run before."""
        self.solving: dict[Any, fixpoints.Solution] = {}
        """What they have come to in this run."""
        self.there: list[Callable[[ir.Var], bool]] = []
        """For each branch and loop that is being specialised, which variables were there before it."""
        self.snapshots: ir.Atom | None = None
        """How many states the loop may keep whose iterable or test was just specialised."""
        self.unused: dict[ir.Span | None, ir.Var] = {}
        """The places of calls of ``s2s.checkpointed`` that no loop has used yet."""
        self.repeating = 0
        """How many blocks are being specialised that the reverse sweep runs again."""
        self.is_dynamic = False
        """Whether the function is called by another one, in a call that is decided when the program runs."""
        self.takes_derivatives = False
        """Whether the function takes derivatives of others: its own derivative is a second one of these."""
        self.called_again = 0
        """How many functions are being specialised that a solver calls as often as it likes."""
        self.entries: set[ir.Var] = set()
        """What is made of an array that such a function changes for the solver that calls it, and for the function."""
        self.solvers: dict[ir.Atom, dict[ir.Var, ir.Atom]] = {}
        """The calls of these solvers, with what they leave in the arrays."""
        self.sweeping = False
        """Whether the sweeps of a derivative are written: bodies of rules are specialised for them."""
        self.holding = Holding(self)
        """The choices that hold at this place."""
        self.undescribed: set[ir.Atom] = set()
        """The parameters of which nothing is known."""
        self.caught: list[ir.Atom | None] = []
        """The exceptions of the handlers around this place; None where it is known at run time only."""

    def apart(self, context: Context) -> Specializer:
        """One for the body of a rule, on its own."""
        made = Specializer(context, self.sweeps)
        made.sweeping = True
        return made

    # --- functions

    def specialize(
        self, fn: types.FunctionType, arguments: dict[str, AbstractValue], varied: set[str]
    ) -> ir.Function:
        """The function for arguments of which this is known; ``varied`` names the differentiated parameters."""
        function, self.function = lower_function(fn), fn
        if function.is_generator:
            raise lazy.refuse_result(function)
        frame, builder = Frame(fn, None, **iterators.uses_of(function)), Builder(self.context)
        params = []
        for param in function.params:
            name, value = param.var.name, arguments.get(param.var.name, UNKNOWN)
            if isinstance(value, Same):  # the parameters come in order: the other one is there
                params.append(ir.replace(param, var=self.context.define(name, UNKNOWN)))
                frame.env[param.var] = next(a for v, a in frame.env.items() if v.name == value.name)
                continue
            var = self.context.define(name, value, name in varied)
            if value == UNKNOWN:
                self.undescribed.add(var)
            if holds_items(value):
                self.context.data.add(var)
            if self.relied is not None:
                self.relied.params[name] = var
                if not virtual_heap.holds_mutable(value):
                    self.relied.opened(var, Place("argument", (name,), None, var))
            if isinstance(value, Known) and (is_constant_kind(value.value) or type(value.value) is int):
                frame.env[param.var] = value.const
            else:
                frame.env[param.var] = self.parameter(var, value, builder)
            params.append(ir.replace(param, var=var))
            if isinstance(value, Array) and value.shape:
                self.context.sources.setdefault(value.shape, var)
        if self.relied is not None:
            self.relied.start = len(builder.statements)
        self._bind_captures(function, frame)
        self.inliner.active_calls.append(fn)
        always_raises = self.run_statements(function.body, frame, builder)
        result = ir.UNDEFINED if always_raises else self.atom(function.body.yields[0], frame)
        if not always_raises:
            check_read(self, function.body.yields[0], result, builder, function.span, frame)
        result = builder.frozen(result)
        if self.unused:
            raise error("S2S154", span=next(iter(self.unused)))
        logs.check_unread(self, fn, arguments.values())
        self.live_objects.note_distinct()
        self.live_objects.check_kept()
        self.live_objects.check_lengths()
        if self.relied is not None:
            self.relied.begin(builder)
        self._check_separate(builder, [p.var for p in params if not isinstance(arguments.get(p.var.name), Same)])
        self.inliner.active_calls.pop()
        body = builder.block(result)
        check_order(body)
        made = ir.replace(function, params=tuple(params), captures=(), body=body)
        check_given_arrays(made, self.live_objects.copies, self.context)
        return called_again.checked_after(made, self)

    def _check_separate(self, builder: Builder, params: list[ir.Var]) -> None:
        """Where the function changes a list, dict or object that is an argument, or asks whether it is another one,
        test that it comes by one way only; with arguments that are differentiated attribute by attribute also where it
        changes an object from outside."""
        heap, apart = self.context.heap, bool(self.context.inputs)
        origins = {c: c.origin for c in (*heap.states, *heap.unknown) if c.origin is not None}
        changed = [c for c, o in origins.items() if c in heap.unknown or heap.peek(c) is not o.state]
        child = builder.child()
        roots = [origins[c].root for c in changed if origins[c].root is not None]
        if self.compared or roots or (apart and changed):
            outside = self.live_objects.read_roots(child) if apart else []
            child.add(ir.Let(None, ir.Call(ir.Const(rt.check_separate), (*params, *outside))))
        if self.changed_logs:
            kinds = (Sequence, Mapping, ListOf, Unknown)
            roots += [p for p in params if isinstance(self.context.value(p), kinds)]
        if roots:
            self._check_apart(builder, child, roots)
        self._check_live(child, params)
        builder.statements[:0] = child.statements

    def _check_apart(self, builder: Builder, child: Builder, roots: list[ir.Atom | None]) -> None:
        """Test that arguments in which a list, dict or object is changed are nothing that the function also reads from
        outside."""
        reads = [
            s for s in ir.walk(builder.block())
            if isinstance(s, ir.Let) and isinstance(s.value, ir.Load) and s.target not in self.context.absent
        ]
        loads = dict.fromkeys(s.value for s in reads if s.target and not is_number(self.context.value(s.target)))
        for root, one in itertools.product(dict.fromkeys(roots), loads):
            assert isinstance(root, ir.Var)
            again = child.let(one, UNKNOWN)
            child.add(ir.Let(None, ir.Call(ir.Const(rt.check_apart), (root, again, ir.Const(root.name)))))

    def _check_live(self, child: Builder, params: list[ir.Var]) -> None:
        """Test that objects and containers from outside that are changed, logs among them, are nothing that another
        argument holds."""
        live = self.live_objects
        places = [live.places[cell] for cell, _ in live.changed()]
        for log, holder in self.log_holders.items():
            read = self.context.definitions[log]
            if holder is not None and isinstance(read, ir.Call) and isinstance(read.args[1], ir.Const):
                places.append(live.places[holder].step(read.args[1].value))
        for place in dict.fromkeys(places):
            others = [p for p in params if p != place.base and not is_number(self.context.value(p))]
            for param in others:
                args = live.read_at(child, place), param, ir.Const(param.name)
                child.add(ir.Let(None, ir.Call(ir.Const(rt.check_apart), args)))

    def check_unchanged(self) -> None:
        """Raise where the function changed a container or object that its caller sees: in a call that is decided at run
        time the caller does not know of it."""
        heap = self.context.heap
        for cell in (*heap.states, *heap.unknown):
            if is_variable(cell) and not virtual_heap.is_varied(self.context, cell):
                continue  # which the caller reads again
            if cell.origin is not None and (heap.peek(cell) is not cell.origin.state or cell in heap.unknown):
                raise error("S2S122", span=cell.changed_at, name=cell.name)

    def parameter(self, var: ir.Var, value: AbstractValue, builder: Builder) -> ir.Atom:
        """What stands for a parameter: an object on the heap for what the function could change."""
        if not virtual_heap.holds_mutable(value):
            return var
        if virtual_heap.holds_attributes(value):
            self.context.values[var] = Instance(object, (), ())  # it is read part by part
            self.context.varied.discard(var)
            read: Callable[[Builder, str], ir.Atom] = lambda builder, name: var
            return virtual_heap.input_cell(builder, value, var, (), var.name, var.name, read, (var.name,))
        if isinstance(value, Object):
            self.context.values[var] = UNKNOWN
            return self.live_objects.argument(builder, value, (var.name,), var, lambda builder, name: var)
        origin = virtual_heap.argument_origin(lambda builder, name: var, value, var, (var.name,))
        self.context.values[var] = without_objects(value)
        return virtual_heap.make_cell(self.context, None, var.name, None, origin).var

    def _bind_captures(self, function: ir.Function, frame: Frame) -> None:
        if function.captures:
            raise AssertionError("a top-level function has no captured variables, only free names")

    def run(self, block: ir.Block, frame: Frame, builder: Builder) -> tuple[ir.Atom, ...]:
        """Specialise a block; the atoms that it yields."""
        if self.run_statements(block, frame, builder):
            return tuple(ir.UNDEFINED for _ in block.yields)
        with self.writing(builder):
            return tuple(self.atom(a, frame) for a in block.yields)

    def writing(self, builder: Builder) -> contextlib.AbstractContextManager[None]:
        """While statements are written into a builder, the checks of what is relied on among them."""
        return contextlib.nullcontext() if self.relied is None else self.relied.writing(builder)

    def run_statements(self, block: ir.Block, frame: Frame, builder: Builder) -> bool:
        """Specialise the statements of a block; True where its end is not reached."""
        outer, self.frame = self.frame, frame
        if frame.caller is None and outer is not None and outer.fn is not frame.fn:
            frame.caller = outer
        try:
            return any(self.step(statement, frame, builder) for statement in block.statements)
        finally:
            self.frame = outer

    def atom(self, atom: ir.Atom, frame: Frame) -> ir.Atom:
        """What an atom of the original function stands for."""
        found = frame.env.get(atom, ir.UNDEFINED) if isinstance(atom, ir.Var) else atom
        if self.relied is not None:
            self.relied.used(found)
        return self.reshaped.get(found, found) if self.reshaped else found

    def _keep_what_raises(self, made: ir.Var, frame: Frame) -> None:
        """A value that the program computes and does not read stays where it may raise."""
        value = self.context.definitions.get(made)
        if isinstance(value, ir.Call) and not is_of_s2s(frame) and is_needed(made, value, self.context.value):
            self.context.must_keep.add(made)

    def let(
        self, value: ir.Value, frame: Frame, builder: Builder, span: ir.Span | None, target: ir.Var | None
    ) -> ir.Atom:
        """What a statement defines."""
        name = "%" if target is None else target.name
        log = logs.opened_attribute(self, value, frame, builder, span)
        if log is not None:
            return log
        if isinstance(value, ir.Call) and iterators.is_maker(self.atom(value.fn, frame)):
            with generators.followed(self.context, builder) as source:
                atom = self.value(value, frame, builder, span, name, target is None)
            iterators.note_made(self, value, atom, source, frame)
            return atom
        return self.value(value, frame, builder, span, name, target is None)

    def step(self, statement: ir.Statement, frame: Frame, builder: Builder) -> bool:
        """Specialise one statement; True where nothing after it is reached."""
        section.allow_interrupt()
        charge_step(self.context.count, self.is_own(frame.fn))
        try:
            with self.writing(builder):
                ended = self._step(statement, frame, builder)
            if self.folds is not None:
                self.folds.passed(getattr(statement, "span", None))
            return ended
        except Raised as raised:
            if not (self.trying or self.undecided):
                raise
            self.raise_there(raised.problem, builder, getattr(statement, "span", None))
            return True

    def _step(self, statement: ir.Statement, frame: Frame, builder: Builder) -> bool:
        match statement:
            case ir.Let(target, value, span):
                try:
                    atom = self.let(value, frame, builder, span, target)
                except DifferentiationError as problem:
                    raise (at_call(problem, span, frame.called_from) if _has_no_place(problem) else problem) from None
                self._note_checkpointed(target, value, frame, span)
                atom = expected(self, value, atom, span, builder)
                if target is not None:
                    is_named_iterator = not target.is_temporary and atom in self.context.read_once
                    if is_named_iterator or target in frame.kept or target in frame.held:
                        atom = iterators.keep(At(self, frame, builder, span), target, value, atom)
                    frame.env[target] = atom
                    if atom in self.context.generators and not target.is_temporary:
                        lazy.check_named(self.context, atom, target.name)
                    if not target.is_temporary and isinstance(value, ir.Var | ir.Call):
                        generators.check_taken(self.context, None, [atom], span, frame.called_from)
                    self._take_name(target, atom)
                if (target is None or target in frame.unread) and isinstance(atom, ir.Var):
                    self._keep_what_raises(atom, frame)
                return ends(builder.statements[-1:])
            case ir.If():
                return branch(self, statement, frame, builder)
            case ir.Assert():
                return assertion(self, statement, frame, builder)
            case ir.For():
                return for_loop(self, statement, frame, builder)
            case ir.While():
                return while_loop(self, statement, frame, builder)
            case ir.Store():
                store(self, statement, frame, builder)
            case ir.Raise(exception, cause, span):
                mapped = [None if a is None else self.atom(a, frame) for a in (exception, cause)]
                for original, given in zip((exception, cause), mapped, strict=True):
                    if original is not None and given is not None:
                        check_read(self, original, given, builder, span, frame)
                if exception is None and self.caught:
                    mapped[0] = self.caught[-1]
                mapped = [None if a is None else builder.frozen(a) for a in mapped]
                builder.add(ir.Raise(mapped[0], mapped[1], span))
                return True
            case ir.With(ended=None):
                return with_statement(self, statement, frame, builder)
            case ir.With() | ir.Try():
                self.there.append(self.context.births())
                try:
                    if isinstance(statement, ir.With):
                        return with_statement(self, statement, frame, builder)
                    return try_statement(self, statement, frame, builder)
                finally:
                    self.there.pop()
            case ir.Note():  # the sweeps of a derivative that the program takes are no sweeps of its own
                builder.statements += [] if statement.section else [statement]
            case ir.Return() | ir.Break() | ir.Continue():
                raise AssertionError("not in SSA form")
            case _:
                assert_never(statement)
        return False

    def _note_checkpointed(
        self, target: ir.Var | None, value: ir.Value, frame: Frame, span: ir.Span | None
    ) -> None:
        """Remember that a variable is what a checkpointed loop runs over, or its test."""
        found = self.snapshots if self.snapshots is not None else frame.snapshots.get(value)  # type: ignore[arg-type]
        self.snapshots = None
        if found is not None:
            if target is None:
                raise error("S2S154", span=span)
            frame.snapshots[target] = found
            if not isinstance(value, ir.Var):
                self.unused[span] = target

    def raised(self, problem: Exception) -> Exception:
        """What to raise where the program certainly raises an exception at this place: in the body of a ``try`` and in
        a branch that may not be taken it becomes a statement of the program, else the compiler raises it."""
        return Raised(problem)

    def joined(
        self, test: ir.Atom, base: virtual_heap.Heap, sides: tuple[Side, Side],
        roots: list[tuple[str, ir.Atom, ir.Atom]], builder: Builder, span: ir.Span | None,
    ) -> list[ir.Atom]:
        """The ``If`` of two paths; the atoms that its results are for ``roots``."""
        return join_sides(self, test, base, sides, roots, builder, span)

    def raise_there(self, problem: Exception, builder: Builder, span: ir.Span | None) -> None:
        """Write the statement that raises an exception."""
        plain = all(isinstance(a, (str, int, float, type(None))) for a in problem.args)
        args = [ir.Const(a) for a in (problem.args if plain else (str(problem),))]
        made = At(self, self.frame, builder, span).call(type(problem), args).leave()
        builder.add(ir.Raise(made, None, span))

    def _take_name(self, target: ir.Var, atom: ir.Atom) -> None:
        """Remember what the user calls a value that was made under no name."""
        if isinstance(atom, ir.Var) and atom.is_temporary and not target.is_temporary:
            self.context.names.setdefault(atom, target.name)

    # --- values

    def value(
        self, value: ir.Value, frame: Frame, builder: Builder, span: ir.Span | None, name: str, effect: bool
    ) -> ir.Atom:
        """Specialise a right-hand side."""
        match value:
            case ir.Var() | ir.Const():
                return self.atom(value, frame)
            case ir.Load():
                return load(self, value, frame, builder, span)
            case ir.MakeFunction(function, captures, defaults):
                return self.inliner.closure(function, captures, defaults, frame, builder, span, name, value.late)
            case ir.Call(fn, args, kwargs):
                callee = self.atom(fn, frame)
                if callee == lazy.YIELD:
                    return frame.consumer(self.atom(args[0], frame), builder)  # type: ignore[arg-type, no-any-return]
                check_read(self, fn, callee, builder, span, frame)
                positional, keywords = arguments(self, callee, args, kwargs, frame, builder, span)
                given = (callee, *positional, *keywords.values())
                if ir.POSSIBLY_UNASSIGNED in given and not effect and _only_computes(callee, positional, keywords):
                    return ir.POSSIBLY_UNASSIGNED  # refused where it is used for more than arithmetic
                for original, atom in zip(ir.atoms_of(value), given, strict=False):
                    if callee != _CELL:
                        check_read(self, original, atom, builder, span, frame)
                known = callee.value if isinstance(callee, ir.Const) else None
                if known is map or known is filter:
                    with generators.noted(self.context, builder) as items:
                        items.append(self.apply(callee, positional, keywords, frame, builder, span, name, effect))
                    return items[0]
                here, self.frame = self.frame, where_chosen(frame, fn)
                try:
                    return self.apply(callee, positional, keywords, frame, builder, span, name, effect)
                finally:
                    self.frame = here
            case _:
                assert_never(value)

    def give_shape(self, array: ir.Var, made: ir.Atom) -> None:
        """An array is another view of its memory from here on, by all its names and wherever it is held."""
        heap = self.context.heap
        for cell, state in list(heap.states.items()):
            if array in state.items:
                heap.states[cell] = state.with_atoms((made if a == array else a for a in state.items), state.whole)
        for old, new in list(self.reshaped.items()):
            if new == array:
                self.reshaped[old] = made
        self.reshaped[array] = made

    def keep(self, builder: Builder, value: ir.Value, span: ir.Span | None) -> ir.Atom:
        """A value whose evaluation raises the user's error: it stays, whether its result is read or not."""
        var = self.context.define("%", UNKNOWN, False, value)
        self.context.must_keep.add(var)
        builder.add(ir.Let(var, value, span))
        return var

    # --- calls

    def apply(
        self, callee: ir.Atom, args: list[Any], kwargs: dict[str | None, ir.Atom], frame: Frame, builder: Builder,
        span: ir.Span | None, name: str = "%", effect: bool = False,
    ) -> ir.Atom:
        """What a call comes to."""
        return registry.call(
            CallSite(self, frame, builder, span, name, callee=callee, args=args, kwargs=kwargs, effect=effect))

    def apply_plainly(self, site: CallSite) -> ir.Atom:
        """What a call of a function comes to by its rule or source, whatever else it may mean."""
        return registry.call_function(site)

    def loop_snapshots(self, over: ir.Atom, frame: Frame) -> ir.Atom | None:
        """How many states a loop over something, or with this test, may keep; None where it is not checkpointed."""
        self.unused = {span: var for span, var in self.unused.items() if var != over}
        return frame.snapshots.get(over)

    def is_own(self, fn: types.FunctionType) -> bool:
        """Whether a function belongs to the package of the function compiled."""
        if self.function is None:
            return True
        return (fn.__module__ or "").split(".")[0] in ((self.function.__module__ or "").split(".")[0], "s2s")

    def value_of_exception(self, atom: ir.Atom) -> AbstractValue:
        """What is known of an atom; of an exception that the program makes, its class."""
        made = self.context.definitions.get(atom) if isinstance(atom, ir.Var) else None
        if isinstance(made, ir.Call) and isinstance(made.fn, ir.Const) and isinstance(made.fn.value, type):
            if issubclass(made.fn.value, BaseException):
                return Known(made.fn)
        return self.context.value(atom)

    def leave(
        self, site: CallSite, value: AbstractValue = UNKNOWN, harmless: bool = False, quiet: bool = False
    ) -> ir.Atom:
        """Leave a call to be decided when the program runs."""
        return leave(site, value, harmless, quiet)

    def joined_value(self, value: AbstractValue) -> AbstractValue:
        """What a variable that joins paths may be taken for."""
        return phi(value)


def _has_no_place(problem: DifferentiationError) -> bool:
    """Whether an error does not say where yet."""
    return problem.diagnostic.span is None


_CELL = ir.Const(ops.make_cell)


def _only_computes(callee: ir.Atom, args: list[ir.Atom], kwargs: dict[Any, ir.Atom]) -> bool:
    """Whether a call has no effect but its result: it can be dropped with what reads that, and changes nothing."""
    call = ir.Call(callee, tuple(args), tuple(kwargs.items()))
    return isinstance(callee, ir.Const) and is_pure(callee.value) and effect_of(call) is not ACTS


__all__ = ["Counted", "Frame", "Specializer", "has_zero_derivative", "join_all", "known", "lower_function"]
