"""The order of the stages: a function, abstract arguments and a request go in, generated code comes out."""

from __future__ import annotations

import copy
import gc
import operator
import os
import sys
import types
import warnings
from collections.abc import Callable, Collection, Iterator
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.analysis.abstract.folding import limited
from s2s.analysis.abstract.lattice import dtype_of, is_number, shape_of
from s2s.analysis.abstract.numbers import is_exact
from s2s.analysis.abstract.parts import Path, is_differentiable, leaves, part
from s2s.analysis.memory import Memory
from s2s.analysis.steps.searches import find_searches
from s2s.batch.jacobian import (
    elementwise_gradient,
    forward_jacobian,
    reverse_jacobian,
    sparsity,
    with_many_cotangents,
    with_many_tangents,
    with_tangents,
)
from s2s.batch.observe import observe
from s2s.builder.builder import Builder, Context
from s2s.builder.cotangents import in_precision, of_kind, whole
from s2s.builder.stages import Stages
from s2s.cache import lowered
from s2s.codegen.emit import emit
from s2s.core import ir, ops
from s2s.core.values import (
    UNKNOWN,
    AbstractValue,
    Array,
    Dim,
    Instance,
    Known,
    Mapping,
    Same,
    Scalar,
    Sequence,
    Unknown,
)
from s2s.errors import DifferentiationError, SearchWarning, error
from s2s.forward.sweep import Forwarder
from s2s.optimize.accumulate import accumulate
from s2s.optimize.copies import drop_copies, is_fresh
from s2s.optimize.dead import drop_dead
from s2s.optimize.detach import detach
from s2s.optimize.invariants import drop_invariant
from s2s.optimize.memory_versions import check as check_versions
from s2s.optimize.memory_versions import with_versions
from s2s.optimize.names import name_temporaries, share_names
from s2s.optimize.ranges import spell_ranges
from s2s.optimize.remarks import drop_empty_sections, drop_remarks, name_unused_items
from s2s.optimize.rewriting import free_variables
from s2s.optimize.sink import sink
from s2s.optimize.snapshots import drop_snapshots
from s2s.optimize.stores import spell_stores
from s2s.optimize.subexpressions import share_subexpressions
from s2s.reverse.sweeps import Reversal, Reverser
from s2s.reverse.user_rules import watched
from s2s.rules import table
from s2s.specialize.calls.deferred_refusals import ABOUT_OBJECTS
from s2s.specialize.calls.policies import inside, of_options
from s2s.specialize.checkpoints import asked, group, plain, refuse_asked, repeated, ungrouped
from s2s.specialize.heap.virtual_heap import holds_attributes
from s2s.specialize.inplace import own_arguments
from s2s.specialize.ownership import check_rebinding, shared_rebindings
from s2s.specialize.severed import check_not_severed
from s2s.specialize.specializer import Specializer
from s2s.specialize.stacks import mark_stacks
from s2s.specialize.steps import settle
from s2s.versions.facts import builtin, is_of_python
from s2s.versions.guards import (
    Compiled,
    Dependency,
    EqualGuard,
    ObjectGuard,
    Request,
    SeparateGuard,
    SizeGuard,
    package_version,
    stable_mark,
)
from s2s.versions.signature import array_places

TITLES = {
    "grad": "Gradient of {name} with respect to {wrt}",
    "value_and_grad": "Value and gradient of {name} with respect to {wrt}",
    "vjp": "Value of {name} and its pullback to {wrt}",
    "jvp": "Value of {name} and its tangent for tangents of {wrt}",
    "vector_jvp": "Value of {name} and its tangents for many tangents of {wrt}, each in the last dimension",
    "jacfwd": "Jacobian of {name} with respect to {wrt}, by forward mode",
    "value_and_jacfwd": "Value and Jacobian of {name} with respect to {wrt}, by forward mode",
    "jacrev": "Jacobian of {name} with respect to {wrt}, by reverse mode",
    "value_and_jacrev": "Value and Jacobian of {name} with respect to {wrt}, by reverse mode",
    "elementwise_grad": "Derivative of each element of {name} with respect to {wrt}",
    "vector_vjp": "Value of {name} and its pullback of many cotangents to {wrt}, each in the last dimension",
    "sparsity": "Pattern of the Jacobian of {name} with respect to {wrt}",
    "observed": "{name}, which tells an observer what it does",
    "primal": "{name}, as it is differentiated",
}

REVERSE = ("grad", "value_and_grad", "vjp")
"""The modes in which checkpoints hold: one reverse sweep for one cotangent."""


def compile(
    fn: types.FunctionType, arguments: dict[str, AbstractValue], request: Request, stages: Stages | None = None
) -> Compiled:
    """The code of one version of a function; ``stages`` is told what each pass made."""
    # a compilation makes many small objects and no cycles: the collector would look through them for nothing
    collecting = gc.isenabled()
    gc.disable()
    try:
        with limited():
            return _compile(fn, arguments, request, stages)
    finally:
        if collecting:
            gc.enable()
        ir.forget_variables()


def _compile(
    fn: types.FunctionType, arguments: dict[str, AbstractValue], request: Request, stages: Stages | None
) -> Compiled:
    if request.mode != "primal" and table.rule_of_user(fn) is not None:
        raise error("S2S901", problem=f"the source of `{fn.__name__}` is differentiated, which has a rule")
    # what is known of the arguments folds tests and resolves calls
    changes = dict(request.options).get("changes", "")
    repeats, changes = changes == "repeated", "refused" if changes == "repeated" else changes
    shared = {name: value.name for name, value in arguments.items() if isinstance(value, Same)}
    varied: set[Any] = {shared.get(path[0], path[0]) for path in request.wrt}
    try:
        specializer, primal, changed = _specialize(fn, arguments, varied, changes, repeats, request, stages)
    except DifferentiationError:
        if request.mode != "primal" or not varied:
            raise
        # nothing is differentiated: what has no derivative is called as it is
        specializer, primal, changed = _specialize(fn, arguments, set(), changes, repeats, request, stages)
    context = specializer.context
    before = primal
    if request.mode in REVERSE and ("checkpoints", "off") not in request.options:
        primal = _checked(group(primal, context))
    else:
        primal = ungrouped(primal)
        primal = ir.replace(primal, body=plain(context, primal.body))
    context.passed("group", before, primal)
    if repeats:
        refuse_asked(context, primal.body)
    # the forward sweep, what crosses over, and the reverse sweep
    function = primal
    if request.mode == "observed":
        function = observe(primal, context)
    elif request.mode != "primal":
        function = _joint(Joint(context, specializer, primal, request, shared, arguments))
    function = _sound(_finish(function, fn, request))
    # dead code, and operations done twice
    function = _sound(simplify(function, context))
    # text
    noted = specializer.holding.noted
    emitted = emit(
        function, globals=fn.__globals__, free=fn.__code__.co_freevars, head=tuple(noted),
        folding=lambda folded: _sound(function, context, folded),
    )
    lowered.flush()
    for name in () if is_of_python(fn) else emitted.builtins:
        builtin(name).folded(specializer.guards)
    return Compiled(
        text=emitted.text,
        entry=emitted.entry,
        imports={name: _import_path(path) for name, path in emitted.imports.items()},
        objects=emitted.objects,
        made=emitted.made,
        globals=emitted.globals,
        free=emitted.free,
        guards=(*_guards(specializer, context, function), *_separate(changed, arguments)),
        dependencies=tuple(_dependencies(specializer, fn, emitted.imports)),
        result=_kinds(context.value(function.body.yields[0])),
        met=tuple(sorted(specializer.holding.met)),
    )


def _specialize(
    fn: types.FunctionType, arguments: dict[str, AbstractValue], varied: set[str], changes: str, repeats: bool,
    request: Request, stages: Stages | None,
) -> tuple[Specializer, ir.Function, list[str]]:
    """The primal for these arguments, and the names of those that it changes.

    A change of objects that cannot be followed through a loop of few trips may be where all such loops are written trip
    by trip: that is tried second. Two reads by one mask are taken to give as many items, unless the mask changes.
    ``x += v`` is taken for ``x = x + v``; where that turns out to be seen by others who refer to the array, the
    function is specialised again with a change in place.
    """
    in_place: frozenset[ir.Span | None] = frozenset()
    unrolled, masks_stay = False, True
    while True:
        if stages is not None:
            stages.restart()
        specializer = Specializer(Context(masks_stay=masks_stay, stages=stages), in_place, unrolled, derivative_of)
        specializer.repeating = int(repeats)
        specializer.is_dynamic = changes == "refused"
        try:
            with inside(specializer, *of_options(dict(request.options))):
                primal = specializer.specialize(fn, arguments, varied)
        except DifferentiationError as problem:
            if unrolled or problem.diagnostic.code not in ABOUT_OBJECTS or not specializer.has_short_loops:
                raise
            unrolled = True
            continue
        shared = shared_rebindings(primal, specializer.rebound, specializer.context) - in_place
        in_place |= shared
        if masks_stay and _changes_masks(primal, specializer.context):
            masks_stay = False
        elif not shared:
            break
    context = specializer.context
    context.passed("specialize", None, primal)
    primal = context.run(check_rebinding, primal, specializer.rebound, context)
    if request.mode != "primal":
        check_not_severed(primal, context, request.has_aux)
    if request.mode not in ("primal", "observed"):
        _warn_of_searches(primal, context)
    primal = context.run(settle, primal, context, specializer.holding, request.mode == "observed")
    if changes == "refused":
        specializer.check_unchanged()
    before = primal
    primal, changed = own_arguments(primal, context, changes)
    context.passed("own_arguments", before, primal)
    if any(isinstance(s, ir.Store) for s in ir.walk(primal.body)):
        primal = context.run(watched, primal, context)
        primal = context.run(drop_dead, primal, context)  # what is not read shares no memory with what is changed
        primal = context.run(drop_invariant, primal, context)
        primal = context.run(detach, primal, context)
        _note_definitions(primal, context)
    return specializer, primal, changed


def derivative_of(
    specializer: Specializer, primal: ir.Function, rebound: Any, request: Request
) -> tuple[ir.Function, list[str]]:
    """The derivative of a function that was specialised inside another one, and the names of the parameters that the
    function changes."""
    context = specializer.context
    stages, context.stages = context.stages, None  # it is a part of what is specialised
    try:
        return _derivative_inside(specializer, primal, rebound, request)
    finally:
        context.stages = stages
        if stages is not None:
            stages.has_derivatives = True


def _derivative_inside(
    specializer: Specializer, primal: ir.Function, rebound: Any, request: Request
) -> tuple[ir.Function, list[str]]:
    context, primal = specializer.context, ungrouped(primal)
    primal = ir.replace(primal, body=plain(context, primal.body))
    if _changes_masks(primal, context):
        raise error("S2S118", span=primal.span, name="a mask")
    primal = check_rebinding(_checked(primal), rebound, context)
    check_not_severed(primal, context, request.has_aux)
    _warn_of_searches(primal, context)
    primal = settle(primal, context, specializer.holding)
    primal, changed = own_arguments(primal, context, dict(request.options).get("changes", ""))
    if any(isinstance(s, ir.Store) for s in ir.walk(primal.body)):
        primal = watched(primal, context)
        primal = detach(drop_invariant(drop_dead(primal, context), context), context)
        _note_definitions(primal, context)
    made = Joint(context, specializer, primal, request, {}, {}).build()
    made = with_versions(made, context)
    made = drop_copies(share_subexpressions(drop_dead(spell_stores(made, context), context), context), context)
    made = _sound(drop_dead(drop_invariant(made, context), context), context, {})
    made = drop_remarks(mark_stacks(made), context)
    return _checked(ir.replace(made, captures=tuple(free_variables(made)))), changed


def _warn_of_searches(function: ir.Function, context: Context) -> None:
    """Say of loops that find a point by comparisons that their derivative is that of their steps: once for each."""
    for span in find_searches(function, context.value, context.is_varied):
        text = _OF_SEARCHES.format(name=span.function or function.name)
        warnings.warn_explicit(text, SearchWarning, span.file, span.line, function.name, _warned)


_OF_SEARCHES = (
    "`{name}` finds a point by comparisons: its result has the derivative of the steps of this loop, not that of the "
    "point. Use `s2s.implicit({name}, residual)` in its place, where `residual(x, *args)` is zero at the point: what "
    "the comparisons look for, or for a minimum the derivative of what is least there"
)
_warned: dict[Any, Any] = {}
"""The registry of warnings: which have been given."""


def _changes_masks(function: ir.Function, context: Context) -> bool:
    """Whether an array of bools may change that was taken to choose the same items each time."""
    if not context.masks or not any(isinstance(s, ir.Store) for s in ir.walk(function.body)):
        return False
    return any(map(Memory(function, context.value).is_buffer, context.masks))


def _note_definitions(function: ir.Function, context: Context) -> None:
    """Let the context know how variables are defined after some were replaced by others."""
    for s in ir.walk(function.body):
        if isinstance(s, ir.Let) and s.target in context.definitions:
            context.definitions[s.target] = s.value


def _checked(function: ir.Function, context: Context | None = None) -> ir.Function:
    """The function, its IR verified where the environment asks for it, as the tests do; the versions of memory that it
    reads too where it has them."""
    if not os.environ.get("S2S_CHECK_IR"):
        return function
    ir.check(function)
    return function if context is None else check_versions(function, context)


def _sound(
    function: ir.Function, context: Context | None = None, delayed: dict[int, Collection[ir.Var]] | None = None
) -> ir.Function:
    """The function, its IR verified always: code that reads a variable or an array too early or too late could give a
    wrong number. ``delayed`` are the variables that the emitter has folded into what reads them, by function."""
    try:
        if delayed is None:
            ir.check(function)
        return function if context is None else check_versions(function, context, delayed or {})
    except ir.BrokenIR as problem:
        raise _refused(problem, function) from None


def _refused(problem: ir.BrokenIR, function: ir.Function) -> Exception:
    """What is raised for code that breaks a rule of the IR: what it is where the tests ask for that, else a refusal."""
    if os.environ.get("S2S_CHECK_IR"):
        return problem
    line = next((line.strip() for line in str(problem).splitlines() if "<--" in line), str(problem))
    return error("S2S901", span=function.span, problem=f"its generated code is broken, {line}")


def simplify(function: ir.Function, context: Context) -> ir.Function:
    """What the sweeps come to after all simplifications, in order."""

    def run(change: Callable[..., ir.Function], *given: Context) -> None:
        nonlocal function
        function = _checked(context.run(change, function, *given), context)

    function = with_versions(context.run(name_temporaries, function, context), context)
    run(spell_stores, context)
    run(spell_ranges, context)
    run(drop_dead, context)
    run(share_subexpressions, context)
    run(drop_copies, context)
    run(drop_invariant, context)
    run(drop_snapshots, context)
    run(drop_dead, context)
    run(accumulate, context)
    run(sink, context)
    run(drop_empty_sections, context)
    run(name_unused_items, context)
    run(share_names, context)
    return function


def _joint(joint: Joint) -> ir.Function:
    """The sweeps; for a validator first as the rules say, without the arithmetic of cotangents."""
    context, stages = joint.context, joint.context.stages
    if stages is None:
        return joint.build()
    stages.primal, stages.tangent = joint.primal, joint.tangent
    context.naive, context.stages = True, None
    try:
        naive = joint.build()
    finally:
        context.naive, context.stages = False, stages
    context.passed("differentiate", joint.primal, naive)
    made = joint.build()
    context.passed("cotangents", naive, made, exact=False)
    return made


def _finish(function: ir.Function, fn: types.FunctionType, request: Request) -> ir.Function:
    """Name, parameters and docstring of the generated function."""
    called = fn.__dict__.get("__s2s_calls__", fn)
    name = called.__name__ if getattr(called, "__name__", "").isidentifier() else fn.__name__
    name = name if name.isidentifier() else "f"
    suffix = "" if request.mode == "primal" else f"_{request.mode}"
    wrt = ", ".join(str(p[0]) + "".join(f"[{k!r}]" for k in p[1:]) for p in request.wrt)
    span = function.span
    code = getattr(getattr(called, "__wrapped__", called), "__code__", None)
    where = f" ({span.file.rsplit('/', 1)[-1]}:{span.line})" if span is not None else ""
    if called is not fn:
        where = "" if code is None else f" ({code.co_filename.rsplit('/', 1)[-1]}:{code.co_firstlineno})"
    title = TITLES[request.mode].format(name=name, wrt=wrt)
    doc = f"{title}{where}. Generated by s2s; do not edit."
    params = tuple(ir.replace(p, kind="POSITIONAL_OR_KEYWORD", has_default=False) for p in function.params)
    return ir.replace(function, name=name + suffix, params=params, doc=doc)


class Joint:
    """Puts forward sweep, reverse sweep and result together."""

    def __init__(
        self, context: Context, specializer: Specializer, primal: ir.Function, request: Request, shared: dict[str, str],
        arguments: dict[str, AbstractValue],
    ) -> None:
        self.arguments = arguments
        self.context = context
        self.specializer = specializer
        self.primal = primal
        self.request = request
        self.params = {p.var.name: p.var for p in primal.params}
        self.params |= {name: self.params[other] for name, other in shared.items()}

    def build(self) -> ir.Function:
        """The function with its sweeps, and what was asked for as its result."""
        before, self.specializer.sweeping = self.specializer.sweeping, True
        try:
            return self._build()
        except ir.BrokenIR as problem:
            raise _refused(problem, self.primal) from None
        finally:
            self.specializer.sweeping = before

    def _build(self) -> ir.Function:
        primal, aux = self._split_aux()
        if self.request.mode == "vjp":
            return self.with_pullback(primal, aux)
        if self.request.mode in _BY_ELEMENT:
            self._check_no_objects()
        if self.request.mode in _BY_TANGENTS:
            return _BY_TANGENTS[self.request.mode](self, primal, aux)
        self._check_scalar(primal)
        reversal = self.reverse(primal, ir.Const(1.0), repeatable=False)
        builder = Builder(self.context)
        builder.statements += [ir.Note("forward sweep", "forward"), *reversal.forward.statements]
        value = primal.body.yields[0]
        if isinstance(self.context.value(value), Unknown):
            builder.add(ir.Let(None, ir.Call(ir.Const(rt.check_scalar), (value, ir.Const(primal.name)))))
        if aux is not None and reversal.rewinds:
            aux = self._copied(builder, aux)
        builder.statements += [ir.Note("reverse sweep", "reverse"), *reversal.reverse]
        made = self.gradients(builder, reversal.bars)
        gradient = made[0] if self.request.single else builder.call(ops.make_tuple, *made)
        out = value if aux is None else builder.call(ops.make_tuple, value, aux)
        if self.request.mode == "grad":
            result = gradient if aux is None else builder.call(ops.make_tuple, gradient, aux)
        else:
            result = builder.call(ops.make_tuple, out, gradient)
        return ir.replace(primal, body=builder.block(result))

    def _copied(self, builder: Builder, atom: ir.Atom) -> ir.Atom:
        """A value whose arrays stay what they are when the reverse sweep gives others back what they held before."""
        match self.context.value(atom):
            case Array():
                return builder.call(np.copy, atom)
            case Sequence(kind, items) if kind in (tuple, list):
                parts = [builder.call(operator.getitem, atom, ir.Const(k)) for k in range(len(items))]
                copies = [self._copied(builder, part) for part in parts]
                return builder.call(ops.make_tuple if kind is tuple else ops.make_list, *copies)
            case Known() | Scalar():
                return atom
            case _:
                return builder.let(ir.Call(ir.Const(copy.deepcopy), (atom,)), UNKNOWN)

    def tangents_of_parts(
        self, param: ir.Var, path: Path, dot: ir.Atom, forwarder: Forwarder, builder: Builder
    ) -> dict[tuple[ir.Var, Path], ir.Atom]:
        """The tangents of what is read from an argument with objects in it, by the tangent of the argument."""
        given = {}
        for (argument, place), var in self.context.inputs.items():
            if argument == param and place[: len(path)] == path:
                read, known = dot, part(self.arguments[param.name], path)
                for key in place[len(path) :]:
                    read, known = self._read_part(builder, read, known, key), part(known, (key,))
                for rest, _ in leaves(self.context.value(var)):
                    given[var, rest] = forwarder.leaf_of(read, rest, builder)
        return given

    def with_pullback(self, primal: ir.Function, aux: ir.Atom | None) -> ir.Function:
        value = primal.body.yields[0]
        name, taken = "out_bar", {*self.context.counters, *self.context.names.values()}
        while name in taken:  # the pullback's parameter must not hide a variable that it reads
            name += "_"
        seed = self.context.define(name, self.context.value(value))
        reversal = self.reverse(primal, seed, repeatable=True)
        forward, inner = reversal.forward, Builder(self.context)
        if reversal.rewinds and asked(self.context, primal.body):
            # the same, but what runs again is given what the first run was given
            primal = repeated(primal, self.context)
            value = primal.body.yields[0]
            reversal = self.reverse(primal, seed, repeatable=True)
            forward = reversal.forward
        elif reversal.rewinds:
            # undoing stores changes what the caller got, and can be done once: the pullback runs both sweeps
            reversal = self.reverse(primal, seed, repeatable=False)
            forward = plain(self.context, primal.body)
            inner.statements += [ir.Note("forward sweep", "forward"), *reversal.forward.statements]
        inner.statements += [ir.Note("reverse sweep", "reverse"), *reversal.reverse]
        bars = self.gradients(inner, reversal.bars)
        result = inner.call(ops.make_tuple, *bars)
        pullback = ir.Function("pullback", (ir.Param(seed),), inner.block(result))

        def whole(pullback: ir.Function) -> ir.Function:
            pullback = self.with_own_loads(pullback)
            captures = tuple(free_variables(pullback))
            made = ir.MakeFunction(ir.replace(pullback, captures=captures), captures)
            outer = Builder(self.context)
            outer.statements += [ir.Note("forward sweep", "forward"), *forward.statements]
            pull = outer.let(made, UNKNOWN, "pullback")
            items = [value, pull] if aux is None else [value, pull, aux]
            return ir.replace(primal, body=outer.block(outer.call(ops.make_tuple, *items)))

        run = self.context.run
        pullback = run(spell_stores, with_versions(pullback, self.context), self.context, inside=whole)
        pullback = run(drop_dead, pullback, self.context, inside=whole)
        pullback = run(share_subexpressions, pullback, self.context, inside=whole)
        pullback = run(drop_dead, pullback, self.context, inside=whole)
        return whole(_sound(pullback, self.context, {}))

    def tangent(self) -> ir.Function:
        """The function in forward mode, for a validator."""
        request = Request("jvp", self.request.wrt, False, self.request.has_aux, self.request.options)
        primal = ungrouped(self.primal)
        primal = ir.replace(primal, body=plain(self.context, primal.body))
        made = Joint(self.context, self.specializer, primal, request, {}, self.arguments)
        made.params = self.params
        return made.build()

    def reverse(self, primal: ir.Function, seed: ir.Atom, repeatable: bool) -> Reversal:
        """Both sweeps. Which stores have to be undone shows when the reverse sweep is written, so it may be written
        more than once."""
        wrt = list(dict.fromkeys(self.params[p[0]] for p in self.request.wrt))
        wrt += [var for (param, _), var in self.context.inputs.items() if param in wrt]
        options = dict(self.request.options)
        undone: frozenset[int] = frozenset()
        repeated: frozenset[frozenset[int]] = frozenset()
        given_back: frozenset[ir.Var] = frozenset()
        while True:
            reverser = Reverser(
                self.context, self.specializer, primal, repeatable, options, undone, repeated, given_back)
            reversal = reverser.reverse(seed, wrt)
            settled = reversal.to_undo <= undone and reversal.to_repeat <= repeated
            if settled and reversal.to_give_back <= given_back:
                reverser.reading.check()
                reversal.to_undo = set(undone)
                reversal.rewinds = reversal.rewinds or bool(undone)
                return reversal
            undone |= reversal.to_undo
            repeated |= reversal.to_repeat
            given_back |= reversal.to_give_back

    def with_own_loads(self, pullback: ir.Function) -> ir.Function:
        """The pullback reads globals itself instead of capturing what the forward sweep read."""
        loads = []
        for var in free_variables(pullback):
            value = self.context.definitions.get(var)
            if isinstance(value, ir.Load):
                loads.append(ir.Let(var, value))
        body = ir.Block((*loads, *pullback.body.statements), pullback.body.yields)
        return ir.replace(pullback, body=body)

    def free_variables(self, function: ir.Function) -> Iterator[ir.Var]:
        """What a nested function captures."""
        return free_variables(function)

    def _check_no_objects(self) -> None:
        """Raise ArgumentError where an argument to differentiate has objects in it: a Jacobian has no part for them."""
        for path in self.request.wrt:
            if holds_attributes(self.arguments.get(path[0], UNKNOWN)):
                raise error("S2S518", span=self.primal.span, name=self.primal.name, argument=str(path[0]))

    def read_path(self, builder: Builder, path: Path) -> ir.Atom:
        """What is differentiated: an argument, or one of ``*args`` and ``**kwargs``."""
        atom: ir.Atom = self.params[path[0]]
        for key in path[1:]:
            atom = builder.call(operator.getitem, atom, ir.Const(key))
        return atom

    # --- the output

    def _split_aux(self) -> tuple[ir.Function, ir.Atom | None]:
        if not self.request.has_aux:
            return self.primal, None
        builder = Builder(self.context)
        builder.statements += self.primal.body.statements
        both = self.primal.body.yields[0]
        known = self.context.value(both)
        if not isinstance(known, Unknown) and not (isinstance(known, Sequence) and len(known.items) == 2):
            raise error(
                "S2S402", span=self.primal.span, name=self.primal.name, kind="no pair (value, aux)",
                hint="with has_aux=True the function returns a pair: the value and the auxiliary data",
            )
        value = builder.call(operator.getitem, both, ir.Const(0))
        aux = builder.call(operator.getitem, both, ir.Const(1))
        return ir.replace(self.primal, body=builder.block(value)), aux

    def _check_scalar(self, primal: ir.Function) -> None:
        if primal.body.yields[0] == ir.UNDEFINED:  # the function always raises
            return
        value = self.context.value(primal.body.yields[0])
        name, span = primal.name, _return_span(primal)
        shape = shape_of(value)
        if isinstance(value, Array) and shape != ():
            text = "of unknown rank" if shape is None else "(" + ", ".join(map(_dim_text, shape)) + (
                ",)" if len(shape) == 1 else ")")
            raise error("S2S401", span=span, name=name, shape=text, hint=_SCALAR_HINT)
        kind = _kind_of_output(value)
        if kind is not None:
            raise error("S2S402", span=span, name=name, kind=kind, hint=_SCALAR_HINT)

    # --- gradients

    def gradients(self, builder: Builder, bars: dict[tuple[ir.Var, Path], ir.Atom]) -> list[ir.Atom]:
        """The cotangents of what is differentiated, each in the structure of its argument."""
        self.given: set[tuple[ir.Var, Path]] = set()
        self.owned: set[ir.Atom] = set()
        return [self._gradient(builder, path, bars) for path in self.request.wrt]

    def _gradient(
        self, builder: Builder, path: Path, bars: dict[tuple[ir.Var, Path], ir.Atom]
    ) -> ir.Atom:
        var = self.params[path[0]]
        known = self.arguments.get(path[0], UNKNOWN)
        if holds_attributes(known):
            read: ir.Atom = var
            for key in path[1:]:
                read, known = self._read_part(builder, read, known, key), part(known, (key,))
            return self._object(builder, var, tuple(path[1:]), known, read, bars)
        return self._structure(builder, var, tuple(path[1:]), bars)

    def _read_part(self, builder: Builder, atom: ir.Atom, known: AbstractValue, key: Any) -> ir.Atom:
        step: Any = getattr if isinstance(known, Instance) else operator.getitem
        return builder.let(ir.Call(ir.Const(step), (atom, ir.Const(key))), UNKNOWN)

    def _object(
        self, builder: Builder, param: ir.Var, path: Path, known: AbstractValue, read: ir.Atom,
        bars: dict[tuple[ir.Var, Path], ir.Atom],
    ) -> ir.Atom:
        """The gradient of an argument with objects in it, or of a part of one: of an object one of the same class, with
        gradients for its floats and None for its other attributes."""
        if not is_differentiable(known):
            return ir.Const(None)
        if (param, path) in self.context.inputs:
            return self._structure(builder, self.context.inputs[param, path], (), bars)

        def parts(keys: Any, items: tuple[AbstractValue, ...]) -> list[ir.Atom]:
            return [
                self._object(builder, param, (*path, k), item, self._read_part(builder, read, known, k), bars)
                for k, item in zip(keys, items, strict=True)
            ]

        match known:
            case Instance(_, keys, items):
                given = tuple((k, a) for k, a in zip(keys, parts(keys, items), strict=True) if a != ir.Const(None))
                name = f"{read.name}_bar" if isinstance(read, ir.Var) and not read.is_temporary else "%"
                return builder.let(ir.Call(ir.Const(rt.gradient_object), (read,), given), UNKNOWN, name)
            case Mapping(keys, items):
                flat = [a for k, v in zip(keys, parts(keys, items), strict=True) for a in (ir.Const(k), v)]
                return builder.call(ops.make_dict, *flat)
            case Sequence(kind, items):
                made = parts(range(len(items)), items)
                if kind in (tuple, list):
                    return builder.call(ops.make_tuple if kind is tuple else ops.make_list, *made)
                return builder.let(ir.Call(ir.Const(kind), tuple(made)), UNKNOWN)
            case _:
                return ir.Const(None)

    def _structure(
        self, builder: Builder, var: ir.Var, path: Path, bars: dict[tuple[ir.Var, Path], ir.Atom]
    ) -> ir.Atom:
        value = part(self.context.value(var), path)
        match value:
            case Sequence(kind, items) if kind is not slice:
                made = [self._structure(builder, var, (*path, k), bars) for k in range(len(items))]
                if kind in (tuple, list):
                    return builder.call(ops.make_tuple if kind is tuple else ops.make_list, *made)
                return builder.let(ir.Call(ir.Const(kind), tuple(made)), UNKNOWN)
            case Mapping(keys):
                flat: list[ir.Atom] = []
                for key in keys:
                    flat += [ir.Const(key), self._structure(builder, var, (*path, key), bars)]
                return builder.call(ops.make_dict, *flat)
            case _:
                return self._leaf(builder, var, path, value, bars)

    def _leaf(
        self, builder: Builder, var: ir.Var, path: Path, value: AbstractValue,
        bars: dict[tuple[ir.Var, Path], ir.Atom],
    ) -> ir.Atom:
        """One gradient: zeros where the result does not depend on the argument, an array of its own where it is one."""
        if not is_differentiable(value):
            return ir.Const(None)
        like: ir.Atom = var
        for key in path:
            like = builder.call(operator.getitem, like, ir.Const(key))
        bar = bars.get((var, path))
        if (var, path) in self.given:  # one array given as two arguments: the first has all of the gradient
            return builder.call(np.zeros_like, like)
        self.given.add((var, path))
        if bar is None and dict(self.request.options).get("unconnected") == "none":
            return ir.Const(None)
        if bar is None:
            if is_number(value):
                return of_kind(builder, ir.Const(0.0), value)
            return builder.call(np.zeros_like if isinstance(value, Array) else rt.zeros_like, like)
        if isinstance(value, Array) and value.shape == ():
            return builder.call(np.asarray, bar, *_other_dtype(builder, bar, value))
        if isinstance(value, Array):
            bar = in_precision(builder, bar, like, value, None)
            made = whole(builder, bar, like, None, f"{var.name}_bar")
            if made == bar and (not self._is_own(builder, bar)):
                made = builder.call(np.copy, bar)
            self.owned.add(made)
            return made
        return of_kind(builder, bar, value)

    def _is_own(self, builder: Builder, bar: ir.Atom) -> bool:
        """Whether an array was made by the reverse sweep, for one result only."""
        if not isinstance(bar, ir.Var) or bar in self.owned:
            return False
        made = self.context.definitions.get(bar)
        return isinstance(made, ir.Call) and (made.fn in _MAKES_OWN or is_fresh(made))


_BY_TANGENTS = {
    "jvp": with_tangents,
    "vector_jvp": with_many_tangents,
    "jacfwd": forward_jacobian,
    "value_and_jacfwd": forward_jacobian,
    "elementwise_grad": elementwise_gradient,
    "vector_vjp": with_many_cotangents,
    "sparsity": sparsity,
    "jacrev": reverse_jacobian,
    "value_and_jacrev": reverse_jacobian,
}

_BY_ELEMENT = _BY_TANGENTS.keys() - {"jvp", "elementwise_grad"}
"""Modes that have a direction for each element of the arguments, or of the result."""

_SCALAR_HINT = "reduce the result to one float (np.sum), or use s2s.vjp with a cotangent of the result's shape"


_MAKES_OWN = tuple(
    map(
        ir.Const,
        (
            np.zeros_like, np.full_like, np.copy, np.dot, np.outer, np.matmul, np.sum, np.mean, np.concatenate,
            np.stack, np.linalg.solve, np.linalg.inv, np.ndarray.astype,
        ),
    )
)


def _other_dtype(builder: Builder, bar: ir.Atom, value: Array) -> tuple[ir.Const, ...]:
    """The dtype that a number needs to be told to be an array of that of ``value``."""
    found = dtype_of(builder.context.value(bar))
    return () if found == value.dtype or value.dtype in (float, complex) else (ir.Const(value.dtype),)


def _dim_text(dim: Any) -> str:
    return str(dim.offset) if dim.is_constant else "n"


def _kind_of_output(value: AbstractValue) -> str | None:
    """What a result is, where it is certainly no real float."""
    match value:
        case Known() if isinstance(value.value, float):
            return None
        case Known() if value.value is None:
            return "None"
        case Known():
            return f"of type {type(value.value).__name__}"
        case Scalar(kind) if kind is object:
            return None
        case Scalar(kind):
            return None if issubclass(kind, (float, np.floating)) else f"of type {kind.__name__}"
        case Array(dtype):
            return None if dtype.kind == "f" else f"of dtype {dtype}"
        case Sequence(kind):
            return f"a {kind.__name__}"
        case Mapping():
            return "a dict"
        case Unknown():
            return None
        case _:
            return "no number"


def _return_span(primal: ir.Function) -> ir.Span | None:
    result = primal.body.yields[0]
    for statement in ir.walk(primal.body):
        if result in tuple(ir.defs_of(statement)) and not isinstance(statement, ir.Note):
            return statement.span or primal.span
    return primal.span


def _kinds(value: AbstractValue) -> Any:
    """The NumPy types of a result, as ``Compiled.result`` has them."""
    match value:
        case Sequence(kind, items) if kind is not slice:
            return tuple(map(_kinds, items))
        case Mapping(_, items):
            return tuple(map(_kinds, items))
        case Scalar(kind) if is_exact(kind) and issubclass(kind, np.number):
            return kind.__name__
        case Array(dtype):
            return f"array {dtype.name}"
        case _:
            return None


# --- what the code relies on ----------------------------------------------------------------------------------------


def _guards(specializer: Specializer, context: Context, function: ir.Function) -> Iterator[Any]:
    yield from specializer.guards
    yield from _equal_lengths(context, function)
    for symbol, value in sorted(context.evaluator.facts.assumed):
        yield SizeGuard(symbol, value)


def _separate(changed: list[str], arguments: dict[str, AbstractValue]) -> Iterator[SeparateGuard]:
    """The arrays that an argument that is changed must not share memory with: all others."""
    places = {name: array_places(value, name) for name, value in arguments.items()}
    seen = set()
    every = [place for found in places.values() for place in found]
    for name in changed:
        for first in (p for p in every if p == name or p.startswith((f"{name}[", f"{name}."))):
            for second in every:
                if first != second and (second, first) not in seen:
                    seen.add((first, second))
                    yield SeparateGuard(first, second)


def _equal_lengths(context: Context, function: ir.Function) -> Iterator[EqualGuard]:
    """The equalities of lengths that NumPy would have checked in an operation that was dropped as dead."""
    left = {v for s in ir.walk(function.body) for v in ir.defs_of(s)}
    checked = {pair for var, pairs in context.forced.items() if var in left for pair in pairs}
    for var, pairs in context.forced.items():
        for pair in pairs:
            if var in left or pair in checked or pair[::-1] in checked or not all(map(_is_argument_length, pair)):
                continue
            checked.add(pair)
            yield EqualGuard(*pair)


def _is_argument_length(dim: Dim) -> bool:
    return dim.is_constant or dim.symbol[0] not in "?*"


def _dependencies(
    specializer: Specializer, fn: types.FunctionType, imports: dict[str, str]
) -> Iterator[Dependency]:
    """What another process compares with what it finds: the objects that were folded in, and the versions of the
    packages whose code was."""
    seen: set[Any] = set()
    for guard in specializer.guards:
        if not isinstance(guard, ObjectGuard):
            continue
        root, path, owner = guard.root, guard.path, guard.owner
        if guard.found is not None and guard.found[0] == "rule":
            continue  # all versions on disk depend on the rules
        if root == "value" and guard.found is not None:
            root, path, owner = guard.found[0], (*guard.found[1], *path[1:]), guard.found[2]
        if path[-1] in ("__code__", "__defaults__") and (root, path[:-1], owner) in seen:
            continue  # the function's own fingerprint has them
        seen.add((root, path, owner))
        if guard.late and root == "module":
            yield Dependency("stable", path, stable_mark(guard.value))
        elif not guard.late:
            yield _dependency(root, path, owner, guard.value)
    yield from _packages(specializer, fn, imports)


def _dependency(root: str, path: tuple[Any, ...], owner: types.FunctionType | None, value: Any) -> Dependency:
    if root == "module":
        return Dependency.of("import", path, value)
    if owner is None:
        return Dependency.of(root, path, value)
    # of an inlined function, found through its module where that has it
    module = sys.modules.get(owner.__module__)
    if root == "global" and module is not None and vars(module) is owner.__globals__:
        return Dependency.of("import", (owner.__module__, *path), value)
    return Dependency(root, path, "")


def _packages(specializer: Specializer, fn: types.FunctionType, imports: dict[str, str]) -> Iterator[Dependency]:
    """The versions of the other packages whose functions are inlined or called; those of NumPy and Python are asked of
    every file."""
    inlined = (inner.__module__ or "" for inner in specializer.dependencies.values())
    found = {name.partition(".")[0] for name in (*inlined, *imports.values())}
    own = (fn.__module__ or "").partition(".")[0]
    for name in sorted(found - {"", own, "numpy", "s2s", "__main__", *sys.stdlib_module_names}):
        if name in sys.modules:
            yield Dependency("version", (name,), package_version(name))


def _import_path(path: str) -> str:
    if path in sys.modules:
        return path
    module, _, name = path.rpartition(".")
    return f"{module}:{name}"
