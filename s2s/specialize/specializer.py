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

import functools
import inspect
import operator
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any, assert_never

import numpy as np

from s2s import runtime as rt
from s2s.analysis.abstract.folding import MOST_LISTED
from s2s.analysis.abstract.lattice import is_number, join_all, known, type_of
from s2s.analysis.effects import ACTS, effect_of
from s2s.analysis.raising import ends
from s2s.builder import virtual_heap
from s2s.builder.builder import Builder, Context, has_zero_derivative, is_constant_kind
from s2s.builder.virtual_heap import cell_of, state_of
from s2s.core import ir, ops
from s2s.core.closures import Closure
from s2s.core.critical import section
from s2s.core.inspection import is_sealed, look_up
from s2s.core.values import (
    UNKNOWN,
    AbstractValue,
    Array,
    Instance,
    Known,
    ListOf,
    Mapping,
    Object,
    Range,
    Same,
    Scalar,
    Sequence,
    Unknown,
)
from s2s.errors import DifferentiationError, error
from s2s.optimize.dead import is_pure
from s2s.rules import table
from s2s.specialize import fixpoints, registry
from s2s.specialize.branching import assertion, branch, phi
from s2s.specialize.calls import derivatives, policies, process
from s2s.specialize.calls.intrinsics import literal
from s2s.specialize.calls.site import CallSite
from s2s.specialize.exceptions import refuse_lost, try_statement, with_statement
from s2s.specialize.frames import (
    Frame,
    FramedClosure,
    asked_also_by,
    at_call,
    in_rule,
    lookup,
    lower_function,
    name_of,
    place_of,
    where_chosen,
)
from s2s.specialize.heap import changing, generators, iterators, making, mutated_iterables
from s2s.specialize.heap.escapes import note_call
from s2s.specialize.heap.iteration import VIEWS, Counted, start_of
from s2s.specialize.heap.objects import (
    Instances,
    Place,
    is_followed_by_parts,
    is_setting,
    is_taken_by_value,
    without_objects,
)
from s2s.specialize.inplace import (
    is_old,
    may_change,
    store_attribute,
    store_item,
)
from s2s.specialize.loops import for_loop, while_loop
from s2s.specialize.outcomes import INLINE_DEPTH, Outcome
from s2s.versions import facts
from s2s.versions.boundary import Raised
from s2s.versions.facts import Guards
from s2s.versions.signature import ThreadLocal, describe
from s2s.versions.target import own_signature

_UNBOUND = "cannot access local variable '{}' where it is not associated with a value"
"""What Python says of a variable that has no value."""

SHORT = 8
"""An array of at most so many items is spread out in a call ``f(*a)``."""

class Specializer:
    """Runs a function on abstract values, writing what is left of it into a builder."""

    def __init__(
        self, context: Context, in_place: frozenset[Any] = frozenset(), unrolled: bool = False,
        sweeps: derivatives.Sweeps = derivatives.refuse,
    ) -> None:
        self.context = context
        self.sweeps = sweeps
        self.in_place = in_place
        self.unrolled = unrolled
        self.has_short_loops = False
        self.guards = Guards()
        self.context.evaluator.fold = lambda fact: fact.folded(self.guards)
        self.outcomes: dict[Any, tuple[Outcome, Guards]] = {}
        self.dependencies: dict[Any, Any] = {}
        self.function: Any = None
        self.active_calls: list[types.FunctionType | ir.Function] = []
        self.reshaped: dict[ir.Atom, ir.Atom] = {}
        """Arrays that were given another shape, as they are since then."""
        self.receivers: list[tuple[types.FunctionType, Any]] = []
        self.models: list[tuple[types.FunctionType, list[Any]]] = []
        self.watches: list[mutated_iterables.Watch] = []
        """What the loops around this place run over."""
        self.views: dict[ir.Atom, tuple[tuple[virtual_heap.Cell, str], ...]] = {}
        """What an ``enumerate``, or the keys, values or items of a dict, look at, and how."""
        self.sources: dict[virtual_heap.Cell, dict[virtual_heap.Cell, virtual_heap.State]] = {}
        self.made_of: dict[virtual_heap.Cell, generators.Source] = {}
        self.read_flat: dict[ir.Atom, ir.Span | None] = {}
        """What iterators were made of, as it was then."""
        self.frame: Any = None
        self.rebound: list[tuple[ir.Var, ir.Var, ir.Span | None]] = []
        self.instances = Instances(self)
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
        self.sweeping = False
        """Whether the sweeps of a derivative are written: bodies of rules are specialised for them."""
        self.holding = policies.Holding()
        """The choices that hold at this place."""
        self.caught: list[ir.Atom | None] = []
        """The exceptions of the handlers around this place; None where it is known at run time only."""

    def apart(self, context: Context) -> Specializer:
        """One for the body of a rule, on its own."""
        made = Specializer(context, sweeps=self.sweeps)
        made.sweeping = True
        return made

    def ask_choices(self) -> None:
        """Let calls be written with the derivatives that were chosen for them."""
        self.context.choose = functools.partial(policies.choose, self)

    # --- functions

    def specialize(
        self, fn: types.FunctionType, arguments: dict[str, AbstractValue], varied: set[str]
    ) -> ir.Function:
        """The function for arguments of which this is known; ``varied`` names the differentiated parameters."""
        function, self.function = lower_function(fn), fn
        frame, builder = Frame(fn, None, **iterators.uses_of(function)), Builder(self.context)
        params = []
        for param in function.params:
            name, value = param.var.name, arguments.get(param.var.name, UNKNOWN)
            if isinstance(value, Same):  # the parameters come in order: the other one is there
                params.append(ir.replace(param, var=self.context.define(name, UNKNOWN)))
                frame.env[param.var] = next(a for v, a in frame.env.items() if v.name == value.name)
                continue
            var = self.context.define(name, value, name in varied)
            frame.env[param.var] = value.const if isinstance(value, Known) and is_constant_kind(value.value) else (
                self.parameter(var, value, builder))
            params.append(ir.replace(param, var=var))
            if isinstance(value, Array) and value.shape:
                self.context.sources.setdefault(value.shape, var)
        self._bind_captures(function, frame)
        self.active_calls.append(fn)
        (result,) = self.run(function.body, frame, builder)
        if result != ir.UNDEFINED:  # that of a function which always raises
            self.check_read(function.body.yields[0], result, builder, function.span, frame)
        result = builder.frozen(result)
        if self.unused:
            raise error("S2S154", span=next(iter(self.unused)))
        self.instances.note_distinct()
        self.instances.check_kept()
        self._check_separate(builder, [p.var for p in params if not isinstance(arguments.get(p.var.name), Same)])
        self.active_calls.pop()
        return ir.replace(function, params=tuple(params), captures=(), body=builder.block(result))

    def _check_separate(self, builder: Builder, params: list[ir.Var]) -> None:
        """Where the function changes a list, dict or object that is an argument, or asks whether it is another one,
        test that it comes by one way only; with arguments that are differentiated attribute by attribute also where it
        changes an object from outside."""
        heap, apart = self.context.heap, bool(self.context.inputs)
        origins = {c: c.origin for c in (*heap.states, *heap.unknown) if c.origin is not None}
        changed = [c for c, o in origins.items() if c in heap.unknown or heap.peek(c) is not o.state]
        if self.compared or any(origins[c].root is not None or apart for c in changed):
            child = builder.child()
            outside = self.instances.read_roots(child) if apart else []
            child.add(ir.Let(None, ir.Call(ir.Const(rt.check_separate), (*params, *outside))))
            builder.statements[:0] = child.statements

    def check_unchanged(self) -> None:
        """Raise where the function changed a container or object that its caller sees: in a call that is decided at run
        time the caller does not know of it."""
        heap = self.context.heap
        for cell in (*heap.states, *heap.unknown):
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
            return self.instances.argument(builder, value, (var.name,), var, lambda builder, name: var)
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
        return tuple(self.atom(a, frame) for a in block.yields)

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
        return self.reshaped.get(found, found) if self.reshaped else found

    def let(
        self, value: ir.Value, frame: Frame, builder: Builder, span: ir.Span | None, target: ir.Var | None
    ) -> ir.Atom:
        """What a statement defines."""
        name = "%" if target is None else target.name
        if isinstance(value, ir.Call) and iterators.is_maker(self.atom(value.fn, frame)):
            with generators.followed(self.context, builder) as source:
                atom = self.value(value, frame, builder, span, name, target is None)
            iterators.note_made(self, value, atom, source, frame)
            return atom
        return self.value(value, frame, builder, span, name, target is None)

    def step(self, statement: ir.Statement, frame: Frame, builder: Builder) -> bool:
        """Specialise one statement; True where nothing after it is reached."""
        section.allow_interrupt()
        try:
            return self._step(statement, frame, builder)
        except Raised as raised:
            if not (self.trying or self.undecided):
                raise
            self._raise(raised.problem, builder, getattr(statement, "span", None))
            return True

    def _step(self, statement: ir.Statement, frame: Frame, builder: Builder) -> bool:
        match statement:
            case ir.Let(target, value, span):
                try:
                    atom = self.let(value, frame, builder, span, target)
                except DifferentiationError as problem:
                    raise (at_call(problem, span, frame.called_from) if _has_no_place(problem) else problem) from None
                self._note_checkpointed(target, value, frame, span)
                if target is not None:
                    is_named_iterator = not target.is_temporary and atom in self.context.read_once
                    if is_named_iterator or target in frame.kept or target in frame.held:
                        atom = iterators.keep(self, target, value, atom, frame, builder, span)
                    frame.env[target] = atom
                    if not target.is_temporary and isinstance(value, ir.Var | ir.Call):
                        generators.check_taken(self.context, None, [atom], span, frame.called_from)
                    self._take_name(target, atom)
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
                self.store(statement, frame, builder)
            case ir.Raise(exception, cause, span):
                mapped = [None if a is None else self.atom(a, frame) for a in (exception, cause)]
                for original, given in zip((exception, cause), mapped, strict=True):
                    if original is not None and given is not None:
                        self.check_read(original, given, builder, span, frame)
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

    def _raise(self, problem: Exception, builder: Builder, span: ir.Span | None) -> None:
        plain = all(isinstance(a, (str, int, float, type(None))) for a in problem.args)
        args = [ir.Const(a) for a in (problem.args if plain else (str(problem),))]
        made = self.leave(ir.Const(type(problem)), args, {}, builder, span, "%")
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
                return self.load(value, frame, builder, span)
            case ir.MakeFunction(function, captures, defaults):
                return self.closure(function, captures, defaults, frame, builder, span, name, value.late)
            case ir.Call(fn, args, kwargs):
                callee = self.atom(fn, frame)
                self.check_read(fn, callee, builder, span, frame)
                positional, keywords = self.arguments(args, kwargs, frame, builder, span)
                given = (callee, *positional, *keywords.values())
                if ir.POSSIBLY_UNASSIGNED in given and not effect and _only_computes(callee, positional, keywords):
                    return ir.POSSIBLY_UNASSIGNED  # refused where it is used for more than arithmetic
                for original, atom in zip(ir.atoms_of(value), given, strict=False):
                    self.check_read(original, atom, builder, span, frame)
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

    def check_read(
        self, original: ir.Atom, atom: Any, builder: Builder, span: ir.Span | None, frame: Frame
    ) -> None:
        """Raise what reading a variable raises: the user's error where it has no value here, or may have none on the
        path that is taken; a refusal where it is not known what it holds."""
        if isinstance(atom, ir.Const):
            if atom.value is ir.UNDEFINED.value:
                raise self._undefined(original, span, frame)
            if atom.value is ir.POSSIBLY_UNASSIGNED.value:
                raise refuse_lost(self, original.name if isinstance(original, ir.Var) else "", span, frame)
            return
        self.check_bound(atom, builder, span)

    def check_joined(self, atom: ir.Atom, builder: Builder, span: ir.Span | None) -> None:
        """Refuse, when the program runs, to join what an interrupted block may have assigned with something else."""
        if atom in self.context.possibly_unassigned:
            self.check_bound(atom, builder, span)

    def _undefined(self, atom: ir.Atom, span: ir.Span | None, frame: Frame) -> Exception:
        if isinstance(atom, ir.Var) and frame.is_nested:
            return error("S2S209", span=span, asked_by=frame.called_from, name=atom.name)
        return self.raised(UnboundLocalError(_UNBOUND.format(atom.name if isinstance(atom, ir.Var) else atom)))

    def arguments(
        self, args: Any, kwargs: Any, frame: Frame, builder: Builder, span: ir.Span | None
    ) -> tuple[list[Any], dict[str | None, ir.Atom]]:
        """The arguments of a call with ``*`` and ``**`` of known containers spread out."""
        positional: list[Any] = []
        for arg in args:
            if isinstance(arg, ir.Star):
                atom = self.atom(arg.atom, frame)
                items = self.static_items(atom, builder, span)
                if items is None:
                    items = self._rows(atom, builder, span)
                positional.extend([ir.Star(atom)] if items is None else items)
            else:
                positional.append(self.atom(arg, frame))
        keywords: dict[str | None, ir.Atom] = {}
        for key, value in kwargs:
            atom = self.atom(value, frame)
            if key is not None:
                keywords[key] = atom
                continue
            mapping = self.context.value(atom)
            if cell_of(self.context, atom) is not None:
                found = self.entries(atom, builder, span)
                keywords |= found if found is not None else {None: builder.frozen(atom)}
            elif isinstance(mapping, Mapping):
                for k in mapping.keys:
                    keywords[k] = builder.call(operator.getitem, atom, ir.Const(k), span=span)
            elif isinstance(mapping, Known) and isinstance(mapping.value, dict):
                keywords |= {k: ir.Const(v) for k, v in mapping.value.items()}
            else:
                keywords[None] = atom
        return positional, keywords

    def _rows(self, atom: ir.Atom, builder: Builder, span: ir.Span | None) -> list[ir.Atom] | None:
        """The items of an array of known length, where it is short."""
        value = self.context.value(atom)
        length = value.shape[0] if isinstance(value, Array) and value.shape else None
        if length is None or not length.is_constant or length.offset > SHORT:
            return None
        return [builder.call(operator.getitem, atom, ir.Const(k), span=span) for k in range(length.offset)]

    def check_bound(self, atom: Any, builder: Builder, span: ir.Span | None) -> None:
        """Raise the user's UnboundLocalError where a variable that some path leaves unbound is read."""
        if not isinstance(atom, ir.Var) or atom not in self.context.unbound or builder.is_bound(atom):
            return
        if self.sweeping:  # the program has read it
            return
        builder.bound.add(atom)
        missing = self.context.unbound[atom]
        if missing is None:
            builder.add(ir.Let(None, ir.Call(ir.Const(rt.check_bound), (atom,)), span))
            return
        if atom in self.context.possibly_unassigned:
            name = ir.Const(atom.name.lstrip("%"))
            builder.add(ir.Let(None, ir.Call(ir.Const(rt.check_sure), (missing, name)), span))
            return
        text = _UNBOUND.format(atom.name)
        child = builder.child()
        problem = self.leave(ir.Const(UnboundLocalError), [ir.Const(text)], {}, child, span, "%")
        child.add(ir.Raise(problem, None, span))
        builder.add(ir.If(missing, child.block(), ir.Block(()), (), span))

    def load(self, load: ir.Load, frame: Frame, builder: Builder, span: ir.Span | None) -> ir.Atom:
        """A global or closure variable: functions, modules and options by value, under a guard; numbers live."""
        root, owner = load.scope, frame.owner if load.owner is None else load.owner
        fact = lookup(load, load.owner or frame.fn, owner)
        if fact.is_missing and self.trying:
            fact.folded(self.guards)
            raise self.raised(NameError(f"name '{load.name}' is not defined"))
        if fact.is_missing:  # Python's own NameError, if this place is reached
            return self.keep(builder, ir.Load(load.name, load.scope, owner), span)
        if fact.is_(is_sealed):
            return builder.let(ir.Load(load.name, load.scope, owner), UNKNOWN, load.name, span)
        if self.unsure and root == "global" and fact.is_(is_setting):
            return builder.let(ir.Load(load.name, load.scope, owner), UNKNOWN, load.name, span)
        if fact.is_(is_taken_by_value):
            found = fact.folded(self.guards)
            if isinstance(found, types.MethodType):
                return self.instances.method(builder, found, Place(root, (load.name,), owner))
            return ir.Const(found)
        if not self.is_own(frame.fn) and not in_rule(frame) and fact.is_(is_plain_option):
            # code of libraries has its options in integers too
            found = fact.folded(self.guards)
            if type(found) is not tuple:
                return ir.Const(found)
            return builder.call(ops.make_tuple, *map(ir.Const, found), name=load.name, span=span)
        if self.unsure and fact.is_(lambda found: type(found) is ThreadLocal):
            return builder.let(ir.Load(load.name, load.scope, owner), UNKNOWN, load.name, span)
        if fact.is_(lambda found: found is sys.modules):
            fact.folded(self.guards)
            return builder.let(process.MODULES, UNKNOWN, load.name, span)
        if fact.is_(is_followed_by_parts):
            return self.instances.live_root(builder, fact, Place(root, (load.name,), owner))
        if fact.is_(_is_opaque_callable):
            return ir.Const(fact.folded(self.guards))
        value, _ = fact.described(self.guards)
        value = UNKNOWN if isinstance(value, Known) else value
        return builder.let(ir.Load(load.name, load.scope, owner), value, load.name, span)

    def pinned(self, atom: ir.Atom) -> ir.Atom:
        """An integer variable of a module or closure, by value under a guard: it decides what a container holds."""
        made = self.context.definitions.get(atom) if isinstance(atom, ir.Var) else None
        if not isinstance(made, ir.Load) or self.context.value(atom) != Scalar(int):
            return atom
        return ir.Const(lookup(made, made.owner or self.function, made.owner).folded(self.guards))

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
        self.context.kept.add(var)
        builder.add(ir.Let(var, value, span))
        return var

    def closure(
        self, function: ir.Function, captures: tuple[ir.Atom, ...], defaults: tuple[tuple[str, ir.Atom], ...],
        frame: Frame, builder: Builder, span: ir.Span | None, name: str, late: tuple[str, ...] = (),
    ) -> ir.Atom:
        """A nested function: known by its IR, so that calls of it are inlined."""
        atoms = tuple(self.atom(a, frame) for a in captures)
        given = tuple((k, self.atom(a, frame)) for k, a in defaults)
        made = ir.MakeFunction(frame.owned(function), atoms, given)
        value = FramedClosure(function, atoms, given, frame, late)
        varied = any(map(self.context.is_varied, (*atoms, *(a for _, a in given))))
        if any(map(self.context.is_virtual, ir.atoms_of(made))):
            return self.virtual_closure(made, value, name, varied)
        return builder.let(made, value, name, span, varied)

    def virtual_closure(self, made: ir.MakeFunction, value: FramedClosure, name: str, varied: bool) -> ir.Var:
        """A nested function that captured objects on the heap. Where it is kept, these must not change any more."""
        var = self.context.define(name, value, varied)

        def freeze(builder: Builder) -> ir.Atom:
            for atom in ir.atoms_of(made):
                virtual_heap.close(self.context, atom, making.ESCAPED)
            return builder.let(made, UNKNOWN, name, None, varied)

        self.context.virtual_closures[var] = freeze
        return var

    # --- calls

    def apply(
        self, callee: ir.Atom, args: list[Any], kwargs: dict[str | None, ir.Atom], frame: Frame, builder: Builder,
        span: ir.Span | None, name: str = "%", effect: bool = False,
    ) -> ir.Atom:
        """What a call comes to."""
        return registry.call(CallSite(self, callee, args, kwargs, frame, builder, span, name, effect))

    def apply_plainly(self, fn: Any, args: list[Any], at: making.At) -> ir.Atom:
        """What a call of a function comes to by its rule or source, whatever else it may mean."""
        site = CallSite(self, ir.Const(fn), args, {}, at.frame, at.builder, at.span, fn=fn)
        return registry.call_function(site)

    def leave(
        self, callee: ir.Atom, args: list[Any], kwargs: dict[str | None, ir.Atom], builder: Builder,
        span: ir.Span | None, name: str, effect: bool = False, value: AbstractValue = UNKNOWN, harmless: bool = False,
    ) -> ir.Atom:
        """Leave a call to be decided when the program runs.

        Objects on the heap that go into it are put together for it. With differentiated arguments the function is
        transformed when it runs, which refuses to change them; they must not change later either, because the function
        may keep them. A function of undifferentiated arguments may change them: what they hold is not known afterwards.
        ``harmless`` says that it changes no argument.
        """
        atoms = [*map(_plain, args)]
        known = callee.value if isinstance(callee, ir.Const) else None
        generators.check_taken(self.context, known, (*atoms, *kwargs.values()), span)
        varied = any(map(self.context.is_varied, (callee, *atoms, *kwargs.values())))
        given = [a for a in (*atoms, *kwargs.values()) if virtual_heap.is_mutable(self.context, a)]
        values = [a for a in (*atoms, *kwargs.values()) if not self.context.is_virtual(a)]
        callee = builder.frozen(callee)
        if varied:
            callee, args = policies.under_method(self, callee, args, builder)
        args = [ir.Star(builder.frozen(a.atom)) if isinstance(a, ir.Star) else builder.frozen(a) for a in args]
        kwargs = {key: builder.frozen(a) for key, a in kwargs.items()}
        if varied and not _only_makes(callee) and any(self._has_captured([*map(_plain, args), *kwargs.values()])):
            raise error("S2S143", span=span)
        if self.context.is_varied(callee) and self.context.definition(callee, getattr) is None:
            name = callee.name if isinstance(callee, ir.Var) and not callee.is_temporary else "this value"
            raise error("S2S206", span=span, name=name)
        opened = policies.open_method(self, callee, tuple(args), kwargs) if varied else None
        made = opened or ir.Call(callee, tuple(args), tuple(kwargs.items()))
        if not harmless and not _only_makes(callee):
            self._check_live(callee, span)
            self.release(given, varied, builder)
            note_call(self.context, callee, values)
        if not varied and not harmless:
            may_change(self, [*args, *kwargs.values()], builder, span)
        if effect and not varied:
            builder.add(ir.Let(None, made, span))
            return ir.Const(None)
        var = self.context.define(name, value, varied, made)
        if varied and not _only_makes(callee):
            self.context.effects.add(var)
        elif given:
            self.context.kept.add(var)
        builder.add(ir.Let(var, made, span))
        return var

    def check_handed_over(
        self, callee: ir.Atom, given: list[Any], varied: bool, builder: Builder, span: ir.Span | None
    ) -> None:
        """Refuse what a function that is called when the program runs may not be given; objects that it gets may not
        change from here on."""
        atoms = [*map(_plain, given)]
        if varied and any(self._has_captured(atoms)):
            raise error("S2S143", span=span)
        self._check_live(callee, span)
        self.release([a for a in atoms if virtual_heap.is_mutable(self.context, a)], True, builder)

    def _has_captured(self, atoms: Iterable[Any]) -> Iterator[bool]:
        """For each value, whether it is or holds a nested function that has captured something differentiated: a
        function that is transformed when it runs does not see what such a function reads."""
        for atom in atoms:
            value = self.context.value(atom)
            if isinstance(value, (Sequence, Mapping)) and atom in self.context.definitions:
                yield any(self._has_captured(map(_plain, ir.atoms_of(self.context.definitions[atom]))))
            else:
                yield isinstance(value, Closure) and self.context.is_varied(atom)

    def _check_live(self, callee: ir.Atom, span: ir.Span | None) -> None:
        """Refuse a call that is decided at run time after an object that exists was changed: the function might look at
        the object, which is as it was."""
        heap = self.context.heap
        for cell, state in heap.states.items():
            if cell.origin is not None and cell.origin.root is None and state is not cell.origin.state:
                fn = name_of(callee.value) if isinstance(callee, ir.Const) else "a function"
                raise error("S2S139", span=span, name=cell.name, fn=fn)

    def release(self, given: list[ir.Atom], varied: bool, builder: Builder) -> None:
        """Objects that a function which is not known may refer to, or change, from here on."""
        for atom in given:
            if not varied:
                virtual_heap.forget(builder, atom)
            virtual_heap.close(self.context, atom, "a function that is called when the program runs may refer to it")

    def bound_method(self, callee: ir.Atom) -> tuple[Any, ir.Atom] | None:
        """The function and the receiver of a method that was read from a value of known type."""
        if not isinstance(callee, ir.Var):
            return None
        made = self.context.definitions.get(callee)
        if not isinstance(made, ir.Call) or made.fn != ir.Const(getattr) or len(made.args) != 2:
            return None
        receiver, attribute = made.args
        if not isinstance(attribute, ir.Const) or isinstance(receiver, ir.Star):
            return None
        value = self.context.value(receiver)
        state = state_of(self.context, receiver)
        kind = type_of(value) if state is None else state.kind
        if isinstance(value, (Unknown, Closure)) or kind is None:
            return None
        if facts.is_replaceable(kind):
            facts.member(kind, attribute.value).folded(self.guards)
        method = look_up(np.ndarray if issubclass(kind, np.generic) else kind, attribute.value, None)
        if isinstance(method, types.WrapperDescriptorType):
            method = getattr(operator, attribute.value, method)
        if isinstance(method, (types.FunctionType, types.MethodDescriptorType, types.WrapperDescriptorType)) or (
            getattr(method, "__module__", None) == "_operator"
        ):
            return method, receiver
        return None

    def loop_snapshots(self, over: ir.Atom, frame: Frame) -> ir.Atom | None:
        """How many states a loop over something, or with this test, may keep; None where it is not checkpointed."""
        self.unused = {span: var for span, var in self.unused.items() if var != over}
        return frame.snapshots.get(over)

    def make_dict(
        self, args: list[ir.Atom], kwargs: dict[Any, ir.Atom], builder: Builder, span: ir.Span | None, name: str
    ) -> ir.Atom | None:
        """``dict(mapping, key=value)`` with known keys, as a display."""
        entries: dict[Any, ir.Atom] = {}
        for arg in args:
            found = self.entries(arg, builder, span)
            if found is None:
                return None
            entries |= found
        entries |= kwargs
        flat = [a for key, value in entries.items() for a in (ir.Const(key), value)]
        return builder.call(ops.make_dict, *flat, name=name, span=span)

    def entries(self, atom: ir.Atom, builder: Builder, span: ir.Span | None) -> dict[Any, ir.Atom] | None:
        """The entries of a mapping with known keys, or of a known list of pairs."""
        cell = cell_of(self.context, atom)
        if cell is not None and virtual_heap.is_dict(self.context.heap.state(cell, span)):
            return virtual_heap.contents(builder, cell, span)
        known = self.context.value(atom)
        if isinstance(known, Mapping):
            return {k: builder.call(operator.getitem, atom, ir.Const(k), span=span) for k in known.keys}
        if isinstance(known, Known) and isinstance(known.value, dict):
            return {k: ir.Const(v) for k, v in known.value.items()}
        pairs = self.static_items(atom, builder, span)
        if pairs is None:
            return None
        entries = {}
        for pair in pairs:
            both = self.static_items(pair, builder, span)
            if both is None or len(both) != 2 or not isinstance(both[0], ir.Const):
                return None
            entries[both[0].value] = both[1]
        return entries

    def may_enter(self, fn: types.FunctionType, args: list[ir.Atom]) -> bool:
        """Whether a call may be followed in place: no recursion, but for a method that calls itself of another object.
        """
        if fn not in self.active_calls:
            return True
        cell = cell_of(self.context, args[0]) if args else None
        return cell is not None and cell.origin is None and (fn, cell) not in self.receivers

    def may_try(self, fn: types.FunctionType, args: list[ir.Atom]) -> bool:
        """Whether a call with nothing differentiated in it may be tried out in place: one that calls itself with
        another object or constant, or something of another kind, may."""
        return fn not in self.active_calls or (bool(args) and (fn, self._receiver(args)) not in self.receivers)

    def kinds_of(self, args: list[Any]) -> list[Any]:
        """What a call gets: objects, constants, and the kinds of what is neither."""
        return [self._receiver([a]) if isinstance(a, (ir.Var, ir.Const)) else a for a in args]

    def _receiver(self, args: list[ir.Atom]) -> Any:
        """The object or constant that a call gets first, else the kind of what it gets: of a container of which the
        items are not known one by one too, since another such container brings no recursion closer to its end."""
        if not args or isinstance(args[0], ir.Const):
            return args[0] if args else None
        cell, state = cell_of(self.context, args[0]), state_of(self.context, args[0])
        if state is not None and state.whole is not None:
            return self.context.value(state.whole)
        return self.context.value(args[0]) if cell is None else cell

    def is_own(self, fn: types.FunctionType) -> bool:
        """Whether a function belongs to the package of the function compiled."""
        if self.function is None:
            return True
        return (fn.__module__ or "").split(".")[0] in ((self.function.__module__ or "").split(".")[0], "s2s")

    def check_rule(
        self, rule: Any, fn: Any, args: list[ir.Atom], kwargs: dict[Any, ir.Atom], span: ir.Span | None, frame: Frame
    ) -> DifferentiationError | None:
        """The refusal of arguments that a rule does not support. Raises where there is no derivative."""
        if rule.kind == "refuse":
            raise error("S2S202", span=span, asked_by=frame.called_from, name=name_of(fn), reason=rule.reason)
        if rule.kind in ("linear", "vjp", "straight_through", "partials", "several"):
            try:
                bound = table.bind(rule, tuple(map(literal, args)), {k: literal(a) for k, a in kwargs.items()})
            except TypeError as problem:
                raise self.raised(problem) from None
            extra = table.unsupported(rule, bound)
            if extra == ["where"] and isinstance(fn, np.ufunc):
                reason = "what it leaves out with `where` holds anything; give `out` too, or choose with `np.where`"
                return error("S2S202", span=span, asked_by=frame.called_from, name=name_of(fn), reason=reason)
            if extra:
                return error(
                    "S2S203", span=span, asked_by=frame.called_from, name=name_of(fn), keyword=", ".join(extra)
                )
        return None

    def inline(
        self, fn: types.FunctionType, args: list[ir.Atom], kwargs: dict[Any, ir.Atom], frame: Frame,
        builder: Builder, span: ir.Span | None,
    ) -> ir.Atom:
        """Specialise a Python function's body in the place of a call of it."""
        asked = (*frame.called_from, place_of(frame, span))
        self.effort += bool(self.followed)
        facts.code(fn, self.guards).folded(self.guards)
        try:
            function = lower_function(fn)
        except DifferentiationError as problem:
            raise asked_also_by(problem, asked) from None
        try:
            bound = own_signature(fn).bind(*args, **kwargs)
        except TypeError as problem:
            raise self.raised(problem) from None
        owner = frame.owner if fn.__globals__ is frame.fn.__globals__ and not fn.__closure__ else fn
        inner = Frame(fn, owner, called_from=asked, **iterators.uses_of(function))
        if owner is None and fn is not frame.fn:
            inner.owner = None
        self._bind_parameters(function, bound.arguments, self.default_of(fn, builder), inner, builder, span)
        self._depend(fn)
        self.active_calls.append(fn)
        self.receivers.append((fn, self._receiver(args)))
        try:
            (result,) = self.run(function.body, inner, builder)
        except DifferentiationError as problem:
            if (fn.__module__ or "").startswith("s2s."):  # a model of a built-in: the place is the user's call
                raise at_call(problem, span, frame.called_from) from None
            raise
        finally:
            self.active_calls.pop()
            self.receivers.pop()
        return result

    def _depend(self, fn: types.FunctionType) -> None:
        self.dependencies[fn.__code__] = fn

    def default_of(self, fn: types.FunctionType, builder: Builder) -> Callable[[str], ir.Atom]:
        """What a parameter of a function is where a call gives nothing for it."""
        return lambda name: self.instances.default(builder, fn, name)

    def _bind_parameters(
        self, function: ir.Function, given: dict[str, Any], default: Callable[[str], ir.Atom], inner: Frame,
        builder: Builder, span: ir.Span | None,
    ) -> None:
        for param in function.params:
            name = param.var.name
            at = making.At(inner, builder, span, name)
            if param.kind == "VAR_POSITIONAL":
                atom = making.new_list(self, at, given.get(name, ()), tuple)
            elif param.kind == "VAR_KEYWORD" and not in_rule(inner):
                atom = making.new_dict(self, at, given.get(name, {}))
            elif param.kind == "VAR_KEYWORD":
                entries = given.get(name, {})
                atom = builder.call(
                    ops.make_dict, *(a for k, v in entries.items() for a in (ir.Const(k), v)), span=span
                )
            elif name in given:
                atom = given[name]
            else:
                atom = default(name)
            if param.var in inner.kept or param.var in inner.held:
                atom = iterators.keep(self, param.var, param.var, atom, inner, builder, span)
            inner.env[param.var] = atom

    def call_closure(
        self, closure: FramedClosure, args: list[ir.Atom], kwargs: dict[Any, ir.Atom], frame: Frame,
        builder: Builder, span: ir.Span | None,
    ) -> ir.Atom:
        """Specialise a nested function's body in the place of a call of it."""
        function = closure.function
        if len(self.active_calls) >= INLINE_DEPTH:
            raise error("S2S209", span=span, asked_by=frame.called_from, name=function.name)
        parameters = [
            inspect.Parameter(
                p.var.name, getattr(inspect.Parameter, p.kind),
                default=None if p.has_default else inspect.Parameter.empty,
            )
            for p in function.params
        ]
        try:
            bound = inspect.Signature(parameters).bind(*args, **kwargs)
        except TypeError as problem:
            raise self.raised(problem) from None
        asked = (*frame.called_from, place_of(frame, span))
        uses = iterators.uses_of(function)
        inner = Frame(closure.frame.fn, closure.frame.owner, {}, asked, True, **uses)
        inner.env.update(zip(function.captures, closure.captures, strict=True))
        for var, capture in zip(function.captures, closure.captures, strict=True):
            if capture == ir.UNDEFINED and var.name == function.name:
                inner.env[var] = self.closure_again(closure, builder)
        self._bind_parameters(function, bound.arguments, dict(closure.defaults).__getitem__, inner, builder, span)
        self.active_calls.append(function)
        try:
            (result,) = self.run(function.body, inner, builder)
        finally:
            self.active_calls.pop()
        return result

    def closure_again(self, closure: FramedClosure, builder: Builder) -> ir.Atom:
        """A nested function as it sees itself."""
        made = ir.MakeFunction(closure.frame.owned(closure.function), closure.captures, closure.defaults)
        varied = any(map(self.context.is_varied, closure.captures))
        if any(map(self.context.is_virtual, ir.atoms_of(made))):
            return self.virtual_closure(made, closure, "%", varied)
        return builder.let(made, closure, "%", None, varied)

    # --- containers and iteration

    def static_items(
        self, atom: ir.Atom, builder: Builder, span: ir.Span | None, for_loop: bool = False
    ) -> list[ir.Atom] | None:
        """The items of a container whose length is known, or None."""
        cell = cell_of(self.context, atom)
        if cell is not None:
            return self._held_items(cell, builder, span)
        value = self.context.value(atom)
        match value:
            case Sequence(kind, items) if kind is not slice:
                return [builder.call(operator.getitem, atom, ir.Const(k), span=span) for k in range(len(items))]
            case Mapping(keys):
                return [ir.Const(k) for k in keys]
            case Known() if type(value.value) in _ITERATED and len(value.value) <= MOST_LISTED:
                return [ir.Const(v) for v in value.value]
            case _:
                return self._static_view(atom, builder, span)

    def _held_items(self, cell: virtual_heap.Cell, builder: Builder, span: ir.Span | None) -> list[ir.Atom] | None:
        state = self.context.heap.state(cell, span)
        if state.kind is virtual_heap.Iterator:
            return iterators.take_all(self, cell, span)
        if virtual_heap.is_instance(state):
            return self.instances.items(making.At(self.frame, builder, span), cell.var)
        found = virtual_heap.contents(builder, cell, span)
        if found is None:
            return None
        if state.kind is set and len(found) > 1:  # in the order in which Python's set has them
            constants = [a for a in found.values() if isinstance(a, ir.Const)]
            return [ir.Const(v) for v in {a.value for a in constants}] if len(constants) == len(found) else None
        return [ir.Const(k) for k in found] if virtual_heap.is_dict(state) else list(found.values())

    def _static_view(self, atom: ir.Atom, builder: Builder, span: ir.Span | None) -> list[ir.Atom] | None:
        """The items of an iter, zip, enumerate or reversed of containers of known length."""
        made = self.context.definitions.get(atom) if isinstance(atom, ir.Var) else None
        fn = made.fn.value if isinstance(made, ir.Call) and isinstance(made.fn, ir.Const) else None
        if not isinstance(made, ir.Call) or not any(fn is view for view in (enumerate, zip, reversed, iter)):
            return None
        inner = [self.static_items(a, builder, span) for a in made.args]  # type: ignore[arg-type]
        if fn is enumerate and inner and inner[0] is not None:
            start = start_of(made)
            if not isinstance(start, ir.Const):
                return None
            return [
                builder.call(ops.make_tuple, ir.Const(k), item, span=span)
                for k, item in enumerate(inner[0], start.value)
            ]
        if fn is zip and inner and all(i is not None for i in inner):
            if dict(made.kwargs).get("strict") == ir.Const(True) and len({len(i or ()) for i in inner}) > 1:
                return None
            return [builder.call(ops.make_tuple, *row, span=span) for row in zip(*inner)]  # type: ignore[arg-type]
        if fn is reversed and inner[0] is not None:
            return inner[0][::-1]
        return inner[0] if fn is iter and len(inner) == 1 else None

    def counted(self, atom: ir.Atom, builder: Builder, span: ir.Span | None) -> Counted:
        """An iterable as a length and a function that reads the item at a position."""
        made = self.context.definitions.get(atom) if isinstance(atom, ir.Var) else None
        fn = made.fn.value if isinstance(made, ir.Call) and isinstance(made.fn, ir.Const) else None
        if isinstance(made, ir.Call) and (fn in (zip, enumerate, reversed) or (fn is iter and len(made.args) == 1)):
            return VIEWS[fn](self, made, builder, span)
        atom = builder.frozen(atom)
        value = self.context.value(atom)
        if not isinstance(value, (Array, ListOf, Range, Sequence)) and not (
            isinstance(value, Known) and type(value.value) in (tuple, list, str, range)
        ):
            atom = builder.call(list, atom, span=span)
        length = builder.call(len, atom, span=span)
        return Counted(length, lambda k, b: b.call(operator.getitem, atom, k, span=span))

    def store(self, statement: ir.Store, frame: Frame, builder: Builder) -> None:
        """A store into an object on the heap, or into an array; others are refused."""
        originals = (statement.target, statement.key, statement.value)
        target, key, value = (self.atom(a, frame) for a in originals)
        for original, atom in zip(originals, (target, key, value), strict=True):
            self.check_read(original, atom, builder, statement.span, frame)
        if cell_of(self.context, target) is not None:
            return self.store_on_heap(statement, target, key, value, frame, builder)
        if statement.was is not None:
            was = self.atom(statement.was, frame)
            if is_old(self.context, was, key, builder):
                value = self.apply(ir.Const(statement.op), [was, value], {}, frame, builder, statement.span)
                statement = ir.replace(statement, op=None)
        if statement.kind == "attr" and statement.op is None and isinstance(key, ir.Const):
            if store_attribute(self, target, key.value, value, frame, builder, statement.span):
                return None
        if statement.kind in ("whole", "at", "opaque"):
            return derivatives.store(self, statement, target, key, value, frame, builder)
        if statement.kind != "item":
            raise error("S2S113", span=statement.span, asked_by=frame.called_from)
        key, value = builder.frozen(key), builder.frozen(value)
        return store_item(self, target, key, value, statement.op, frame, builder, statement.span)

    def store_on_heap(
        self, statement: ir.Store, target: ir.Atom, key: ir.Atom, value: ir.Atom, frame: Frame, builder: Builder
    ) -> None:
        """``target[key] = value``, ``target.key = value`` of an object on the heap, and with an operator: the old value
        is changed in place where it can be, then stored."""
        at = making.At(frame, builder, statement.span)
        if statement.op is not None:
            read = operator.getitem if statement.kind == "item" else getattr
            old = statement.was and self.atom(statement.was, frame)
            old = old or self.apply(ir.Const(read), [target, key], {}, frame, builder, statement.span)
            change = ops.IN_PLACE[statement.op]
            value = self.apply(ir.Const(change), [old, value], {}, frame, builder, statement.span)
        if statement.kind == "item":
            changing.store_item(self, at, target, key, value)
        else:
            self.instances.store_attribute(at, target, key, value)

    def value_of_exception(self, atom: ir.Atom) -> AbstractValue:
        """What is known of an atom; of an exception that the program makes, its class."""
        made = self.context.definitions.get(atom) if isinstance(atom, ir.Var) else None
        if isinstance(made, ir.Call) and isinstance(made.fn, ir.Const) and isinstance(made.fn.value, type):
            if issubclass(made.fn.value, BaseException):
                return Known(made.fn)
        return self.context.value(atom)

    def joined_value(self, value: AbstractValue) -> AbstractValue:
        """What a variable that joins paths may be taken for."""
        return phi(value)

    def is_number(self, atom: ir.Atom) -> bool:
        """Whether an atom is known to be a number."""
        return is_number(self.context.value(atom))



_ITERATED = (tuple, list, str, dict, range, frozenset, types.MappingProxyType)
"""The types of known objects whose items are read while compiling, where they are not too many."""



# --- helpers --------------------------------------------------------------------------------------------------------

def _has_no_place(problem: DifferentiationError) -> bool:
    """Whether an error does not say where yet."""
    return problem.diagnostic.span is None


def is_plain_option(value: Any) -> bool:
    """Whether a value is an integer, or a tuple or frozen set of integers and other options."""
    if type(value) in (tuple, frozenset):
        return all(type(item) is int or is_constant_kind(item) for item in value)
    return type(value) is int


def _is_opaque_callable(value: Any) -> bool:
    """Whether it is called and not written in Python: a getter of ``operator``, for instance."""
    return callable(value) and isinstance(describe(value, "?"), Unknown)


def _plain(argument: Any) -> ir.Atom:
    """An argument without its star."""
    return argument.atom if isinstance(argument, ir.Star) else argument  # type: ignore[no-any-return]


def _only_computes(callee: ir.Atom, args: list[ir.Atom], kwargs: dict[Any, ir.Atom]) -> bool:
    """Whether a call has no effect but its result: it can be dropped with what reads that, and changes nothing."""
    call = ir.Call(callee, tuple(args), tuple(kwargs.items()))
    return isinstance(callee, ir.Const) and is_pure(callee.value) and effect_of(call) is not ACTS


def _only_makes(callee: ir.Atom) -> bool:
    """Whether a call certainly changes nothing: it makes an exception or a partial function."""
    fn = callee.value if isinstance(callee, ir.Const) else None
    return fn is functools.partial or fn is np.vectorize or (isinstance(fn, type) and issubclass(fn, BaseException))



__all__ = ["Counted", "Frame", "Specializer", "has_zero_derivative", "join_all", "known", "lower_function"]
