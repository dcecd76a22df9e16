"""The order of the stages: a function, abstract arguments and a request go in, generated code comes out.

    lower, normalize       the source of the function in SSA form           frontend, normalize
    specialize             what is known of the arguments folds tests and resolves calls
    PRIMAL, CHANGING       passes over what is differentiated               specialize, optimize
    checkpoints            blocks that the reverse sweep runs again
    differentiate          forward sweep, reverse sweep and result          reverse.joint, forward, batch
    SIMPLIFICATIONS        passes over both sweeps                          optimize
    emit                   the text                                         codegen
"""

from __future__ import annotations

import gc
import types
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from s2s.analysis import layout
from s2s.analysis.abstract.folding import limited
from s2s.analysis.memory import Memory
from s2s.analysis.missing_kinds import missing_kinds
from s2s.analysis.surprises import notices_of_items, notices_of_loops
from s2s.batch.jacobian import MODES
from s2s.batch.observe import observe
from s2s.builder.builder import Context, has_zero_derivative
from s2s.builder.stages import Clock, Pass, Stages, note_compiled, watching
from s2s.cache import lowered
from s2s.codegen.emit import emit
from s2s.codegen.heading import defaults_for, reason, with_heading
from s2s.core import ir, ops
from s2s.core.array_classes import compiled_for, compiling_for, has_memory
from s2s.core.limits import LONG, TooLong, bounded_length, check_statements
from s2s.core.progress import AFTER, shown_on_terminal
from s2s.core.record import replace
from s2s.core.values import AbstractValue, Same
from s2s.errors import DifferentiationError, error
from s2s.notices import Notice, log, tell
from s2s.optimize.checking import checked, sound
from s2s.optimize.coinciding import count_coincidences, keep_comparisons
from s2s.optimize.dead import drop_dead
from s2s.optimize.detach import detach
from s2s.optimize.invariants import drop_invariant
from s2s.optimize.passes import (
    COMPILE_LOOPS,
    EXACT_WHOLE_LOOPS,
    IN_BLOCKS,
    IN_CHAINS,
    IN_THREADS,
    NESTED,
    NOT_FOR,
    PRODUCTS_OF_LOOPS,
    REMARKS,
    SIMPLIFICATIONS,
    WHOLE_LOOPS,
    WITH_LOOPS,
    run_passes,
    switched_off,
)
from s2s.optimize.reread import reread
from s2s.optimize.rewriting import count_uses, free_variables
from s2s.optimize.updates import with_updates
from s2s.reverse.joint import Joint, joined
from s2s.rules import table
from s2s.specialize import version_facts
from s2s.specialize.beginning_again import acts_outside
from s2s.specialize.calls.policies import of_options
from s2s.specialize.calls.stacks import loses_stores
from s2s.specialize.calls.user_rule_calls import watched
from s2s.specialize.checkpoints import group, plain, refuse_asked, ungrouped
from s2s.specialize.deferred_refusals import may_unroll
from s2s.specialize.expected import HEAD
from s2s.specialize.inplace import own_arguments
from s2s.specialize.outside import keep_outside
from s2s.specialize.ownership import check_rebinding, shared_rebindings
from s2s.specialize.relied import drop_sure, is_to_be_checked
from s2s.specialize.remembered import check_remembered
from s2s.specialize.searches import settle_searches
from s2s.specialize.severed import check_not_severed
from s2s.specialize.shifts import drop_cancelled
from s2s.specialize.specializer import Specializer
from s2s.specialize.stacks import mark_stacks
from s2s.specialize.steps import settle
from s2s.versions.argument_guards import LargeGuard
from s2s.versions.array_kinds import arrays_in, as_numpy, kind_of_arrays
from s2s.versions.assumptions import Assumptions, Refuted
from s2s.versions.facts import builtin, is_of_python
from s2s.versions.observed import observed
from s2s.versions.request import STRONG_ZEROS, Compiled, Request
from s2s.versions.signature import with_length
from s2s.versions.sizes import NOT_ASKED, OPTION, size_guards
from s2s.versions.target import parameter_span

REVERSE = ("grad", "value_and_grad", "vjp")
"""The modes in which checkpoints hold: one reverse sweep for one cotangent."""


@dataclass
class Primal:
    """What the passes over a primal are given: what it was specialised by, what is asked of it, what becomes of changes
    of its arguments. ``changed`` are the names of the parameters that it changes; ``is_by_layout`` as ``Compiled``; one
    that ``may_be_observed`` is not long, and does nothing that is seen there."""

    specializer: Specializer
    request: Request
    changes: str
    is_inner: bool = False
    rebound: Any = None
    changed: list[str] = field(default_factory=list)
    is_by_layout: bool = False
    may_be_observed: bool = True

    @property
    def context(self) -> Context:
        return self.specializer.context


def _rebinding(function: ir.Function, primal: Primal) -> ir.Function:
    return check_rebinding(function, primal.rebound, primal.context)


def _severed(function: ir.Function, primal: Primal) -> ir.Function:
    if primal.request.mode != "primal":
        check_not_severed(function, primal.context, primal.request.has_aux)
    return function


def _remembered(function: ir.Function, primal: Primal) -> ir.Function:
    return function if primal.request.mode == "primal" else check_remembered(function, primal.context)


def _surprises(function: ir.Function, primal: Primal) -> ir.Function:
    context = primal.context
    if primal.request.mode not in ("primal", "observed"):
        context.notices += notices_of_loops(function, context.value, context.is_varied, context.effects)
    return function


def _searches(function: ir.Function, primal: Primal) -> ir.Function:
    return function if primal.request.mode in ("primal", "observed") else settle_searches(function, primal.specializer)


def _steps(function: ir.Function, primal: Primal) -> ir.Function:
    return settle(function, primal.context, primal.specializer.holding, primal.request.mode == "observed")


def _unconnected(function: ir.Function, primal: Primal) -> ir.Function:
    request, context = primal.request, primal.context
    if request.tells_of_zeros and not primal.is_inner:

        def is_zero(call: ir.Call) -> bool:
            return isinstance(call.fn, ir.Const) and has_zero_derivative(
                context, call.fn.value, call.args)  # type: ignore[arg-type]

        names = {path[0] for path in request.wrt if len(path) == 1}
        context.notices += notices_of_items(
            function, names, context.value, is_zero, count_uses(function.body))
    return function


def _shifts(function: ir.Function, primal: Primal) -> ir.Function:
    return function if primal.request.mode == "primal" else drop_cancelled(function, primal.context)


def _own_arguments(function: ir.Function, primal: Primal) -> ir.Function:
    if primal.changes == "refused" and not primal.is_inner:
        primal.specializer.check_unchanged()
    made, primal.changed = own_arguments(function, primal.context, primal.changes)
    return made


def _relied(function: ir.Function, primal: Primal) -> ir.Function:
    specializer = primal.specializer
    return function if specializer.relied is None else drop_sure(function, primal.context, primal.is_inner)


def _outside(function: ir.Function, primal: Primal) -> ir.Function:
    repeats = dict(primal.request.options).get("changes") == "repeated"  # what it asks of others is refused
    if repeats or primal.request.mode == "primal":
        return function
    return keep_outside(function, primal.context, primal.request.mode == "vjp")


PRIMAL = (
    Pass("rebinding", _rebinding, "x += v that was taken for x = x + v is refused where others refer to the array"),
    Pass("severed", _severed, "results that lost their derivative in text, files or bytes are refused"),
    Pass("remembered", _remembered, "tests whether an argument is the one that was kept refuse where it is"),
    Pass("searches", _searches, "loops that find a point by comparisons are refused whose equation is not known"),
    Pass("surprises", _surprises, "loops are warned of whose derivative may surprise"),
    Pass("steps", _steps, "points without a derivative get the one that is chosen for them"),
    Pass("unconnected", _unconnected, "items of arguments are told of whose gradient is zero everywhere"),
    Pass("shifts", _shifts, "maxima that only keep numbers in range carry no derivative", optional=True),
    Pass("own-arguments", _own_arguments, "arguments that are changed are copied first"),
    Pass("relied", _relied, "checks of what no call may have changed are dropped"),
    Pass("outside", _outside, "arrays that calls may change which nobody has read are copied where they are read"),
)
"""Of every primal."""

CHANGING = (
    Pass("watched", watched, "arrays that rules of the user change are given to them as copies"),
    Pass("reread", reread, "views are made again where they are read whose adjoint cannot be one"),
    Pass("unread", drop_dead, "what is not read shares no memory with what is changed"),
    Pass("unchanged", drop_invariant, "what no iteration changes is no memory of its own"),
    Pass("detach", detach, "arrays that go into a list after they were changed are copied"),
)
"""Of a primal that changes arrays."""

UPDATES = (
    Pass("unread", drop_dead, "what is not read is no other name of what is changed"),
    Pass("updates", with_updates, "stores into arrays that are graphs, such as Dask's, make new arrays"),
)
"""Of a primal of arrays without memory."""


def compile(
    fn: types.FunctionType, arguments: dict[str, AbstractValue], request: Request, stages: Stages | None = None
) -> Compiled:
    """The code of one version of a function; ``stages`` is told what each pass made."""
    # a compilation makes many small objects and no cycles: the collector would look through them for nothing
    collecting = gc.isenabled()
    gc.disable()
    clock = Clock()
    stages = stages or watching()
    try:
        with limited(), bounded_length(), shown_on_terminal(f"compiling the derivative of {fn.__name__}"):
            compiled = _compile_by_attempts(fn, arguments, request, stages, clock)
        note_compiled(compiled, stages)
        _tell_time(fn, request, compiled, clock)
        return compiled
    except TooLong as problem:
        span, label = parameter_span(fn), str(problem)
        raise error("S2S101", span=span, construct="a function of this length", label=label) from None
    finally:
        if collecting:
            gc.enable()
        ir.forget_variables()


def _compile_by_attempts(
    fn: types.FunctionType, arguments: dict[str, AbstractValue], request: Request, stages: Stages | None, clock: Clock
) -> Compiled:
    """Compile until an attempt refutes nothing that it assumes: each begins with what those before it have learned."""
    is_for_numpy = dict(request.options).get("backend", "numpy") == "numpy"  # Numba takes no containers of data
    assumed = Assumptions(arrays_in(arguments.items()), structures=not is_for_numpy)
    arguments = {name: as_numpy(aval) for name, aval in arguments.items()}
    may_be_passive = request.mode == "primal" and bool(request.wrt)
    while True:
        if stages is not None:
            stages.restart()
        with compiling_for(kind_of_arrays(assumed.arrays, fn.__name__)):
            try:
                return _compile(fn, arguments, request, assumed, stages, clock)
            except Exception as problem:
                weaker = assumed.weaker_after(problem, may_be_passive)
                if weaker is None:
                    raise
        assumed = weaker


def _tell_time(fn: types.FunctionType, request: Request, compiled: Compiled, clock: Clock) -> None:
    """Say how long a compilation took, and why where that is long."""
    code, lines = fn.__code__, compiled.text.count("\n")
    log("%s of %s (%s:%d): %d lines in %.3f s: %s",
        request.mode, fn.__name__, code.co_filename, code.co_firstlineno, lines, clock.seconds, clock)
    if clock.seconds > AFTER and request.mode != "observed":
        why = compiled.text.partition(":\n")[0].removeprefix("# ") if compiled.text.startswith(f"# {lines}") else ""
        text = (
            f"compiling the derivative of `{fn.__name__}` took {clock.seconds:.1f} s: it has {why or f'{lines} lines'} "
            f"({clock})"
        )
        tell([Notice("CompileTimeWarning", text, code.co_filename, code.co_firstlineno, fn.__name__)])


def _compile(
    fn: types.FunctionType, arguments: dict[str, AbstractValue], request: Request, assumed: Assumptions,
    stages: Stages | None, clock: Clock,
) -> Compiled:
    if request.mode != "primal" and table.rule_of_user(fn) is not None:
        raise error("S2S901", problem=f"the source of `{fn.__name__}` is differentiated, which has a rule")
    shared = {name: value.name for name, value in arguments.items() if isinstance(value, Same)}
    varied: set[Any] = set() if assumed.passive else {shared.get(path[0], path[0]) for path in request.wrt}
    primal, function = _primal(fn, arguments, varied, request, assumed, stages, clock)
    context = primal.context
    primal.is_by_layout = layout.decides(function, context.value)
    is_second = _is_second(fn, primal)
    if is_second:
        keep_comparisons(function, context)
    function = _with_checkpoints(function, primal)
    if request.mode == "observed":
        function = observe(function, context)
    elif request.mode != "primal":
        function = joined(Joint(context, primal.specializer, function, request, MODES, shared, arguments))
    clock.lap(request.mode)
    function = sound(with_heading(function, fn, request, defaults_for(fn, arguments)))
    function = sound(run_passes(SIMPLIFICATIONS, function, context))
    context.sizes = _sizes(arguments, request)
    if context.sizes or (compiled_for() is not np.ndarray and request.mode not in ("primal", "observed")):
        first, *others = IN_BLOCKS if context.sizes else IN_CHAINS
        blocked = run_passes([first], function, context)
        function = function if blocked is function else sound(run_passes(others, blocked, context))
    if is_second:
        function = count_coincidences(function, context)
    compiled = _emitted(function, fn, primal, arguments)
    clock.lap("emit")
    if dict(request.options).get("backend") in COMPILE_LOOPS and request.mode != "observed":
        passes = IN_THREADS if dict(request.options).get("parallel") else WITH_LOOPS
        looped = sound(run_passes(passes, function, context))
        if looped != function:
            return replace(compiled, loops=_emitted(looped, fn, primal, arguments))
    return compiled


def _is_second(fn: types.FunctionType, primal: Primal) -> bool:
    """Whether first derivatives are differentiated, by a version that can count the points where their slopes are
    chosen: loops that are compiled count nothing, and arrays of other modules may not be there yet."""
    if primal.request.mode in ("primal", "observed", "sparsity") or compiled_for() is not np.ndarray:
        return False
    is_compiled = dict(primal.request.options).get("backend") in COMPILE_LOOPS
    return not is_compiled and ("__s2s_linked__" in vars(fn) or primal.specializer.takes_derivatives)


def _sizes(arguments: dict[str, AbstractValue], request: Request) -> dict[tuple[str, ...], LargeGuard] | None:
    """Which sizes of arguments are large; None where the version is the same for all. Without arrays as arguments there
    is nothing to say."""
    options = dict(request.options)
    large = options.get(OPTION, ())
    if large == NOT_ASKED or options.get("backend", "numpy") != "numpy" or request.mode == "observed":
        return None
    if compiled_for() is not np.ndarray:  # a device has no cache that parts of arrays would stay in
        return None
    return size_guards(arguments.values(), large)


def _primal(
    fn: types.FunctionType, arguments: dict[str, AbstractValue], varied: set[str], request: Request,
    assumed: Assumptions, stages: Stages | None, clock: Clock,
) -> tuple[Primal, ir.Function]:
    """The function that is differentiated, specialised for its arguments."""
    specializer, function = _specialize(fn, arguments, varied, request, assumed, stages)
    specializer.context.clock = clock
    clock.lap("specialize")
    count = _length(function)
    check_statements(count)
    changes = dict(request.options).get("changes", "")
    primal = Primal(
        specializer, request, "refused" if changes == "repeated" else changes, rebound=specializer.rebound,
        may_be_observed=count <= LONG and not acts_outside(function.body))
    return primal, _prepare(function, primal)


def _length(function: ir.Function) -> int:
    """How many statements a function has. Tuples, lists and slices of what is there are parts of those that read them,
    of which no sweep has more."""
    return sum(
        1 for s in ir.walk(function.body)
        if not isinstance(s, ir.Let) or not isinstance(s.value, ir.Call) or s.value.fn not in _DISPLAYS)


_DISPLAYS = tuple(map(ir.Const, (ops.make_tuple, ops.make_list, slice)))


def _prepare(function: ir.Function, primal: Primal) -> ir.Function:
    """What the passes over a primal make of it."""
    function = run_passes(PRIMAL, function, primal.context, primal)
    if primal.request.mode not in ("primal", "observed"):
        function = run_passes(_whole_loops(primal.request), function, primal.context)
    if not has_memory(compiled_for()):
        function = run_passes(UPDATES, function, primal.context)
    if any(isinstance(s, ir.Store) for s in ir.walk(function.body)):
        function = run_passes(CHANGING, function, primal.context)
        _note_definitions(function, primal.context)
    return function


def _whole_loops(request: Request) -> tuple[Pass, ...]:
    """What is done with loops whose iterations are independent."""
    if dict(request.options).get("backend") in COMPILE_LOOPS:
        return (PRODUCTS_OF_LOOPS,) if request.mode == "grad" else ()
    return (WHOLE_LOOPS,) if request.mode == "grad" else (EXACT_WHOLE_LOOPS,)


def _specialize(
    fn: types.FunctionType, arguments: dict[str, AbstractValue], varied: set[str], request: Request,
    assumed: Assumptions, stages: Stages | None,
) -> tuple[Specializer, ir.Function]:
    """The specialised function for these arguments. Raises Refuted where an assumption does not hold in it."""
    options = dict(request.options)
    off = switched_off(options.get("passes", "")) | NOT_FOR.get(options.get("backend", ""), frozenset())
    context = Context(
        assumed=assumed, stages=stages, naive="cotangents" in off, switched_off=off,
        has_strong_zeros=STRONG_ZEROS in request.options)
    if stages is not None:
        stages.remarks = context.remarks
    facts = context.evaluator.facts
    facts.equal |= assumed.equal
    facts.least |= assumed.least
    specializer = Specializer(context, derivative_of)
    specializer.repeating = int(options.get("changes") == "repeated")
    specializer.is_dynamic = options.get("changes") in ("refused", "repeated")
    arguments = {name: _with_lengths(value, assumed.equal) for name, value in arguments.items()}
    try:
        with specializer.holding.inside(*of_options(options)):
            function = specializer.specialize(fn, arguments, varied)
    except DifferentiationError as problem:
        if may_unroll(specializer, problem):
            raise Refuted(unrolled=True) from problem
        raise
    assumed.check(
        equal=facts.equal, least=facts.least,
        in_place=shared_rebindings(function, specializer.rebound, context),
        unfolded=specializer.live_objects.changed_folded(),
        changing_masks=_changes_masks(function, context),
        shares_stacks=loses_stores(function, context, request.has_aux),
    )
    assumed.check(checks=assumed.checks or is_to_be_checked(function, specializer))
    context.passed("specialize", None, function)
    return specializer, checked(function)


def _with_lengths(value: AbstractValue, lengths: Mapping[str, int]) -> AbstractValue:
    for symbol, length in lengths.items():
        value = with_length(value, symbol, length)
    return value


def _with_checkpoints(function: ir.Function, primal: Primal) -> ir.Function:
    """The primal with the blocks that its reverse sweep runs again, in the modes that have some."""
    context, request = primal.context, primal.request
    if request.mode in REVERSE and ("checkpoints", "off") not in request.options:
        made = group(function, context)
    else:
        made = ungrouped(function)
        made = ir.replace(made, body=plain(context, made.body))
    context.passed("checkpoints", function, made)
    if dict(request.options).get("changes") == "repeated":
        refuse_asked(context, made.body)
    return checked(made)


def _emitted(
    function: ir.Function, fn: types.FunctionType, primal: Primal, arguments: dict[str, AbstractValue]
) -> Compiled:
    """The text of a function, and what it relies on."""
    specializer, context, request = primal.specializer, primal.context, primal.request
    emitted = emit(
        function, globals=fn.__globals__, free=fn.__code__.co_freevars, head=_head(specializer),
        params_text=defaults_for(fn, arguments), folding=lambda folded: sound(function, context, folded),
    )
    lowered.flush()
    for name in () if is_of_python(fn) else emitted.builtins:
        builtin(name).folded(specializer.guards)
    above = reason(emitted.text, specializer.written_out)
    lower = above.count("\n")
    return Compiled(
        text=above + emitted.text,
        entry=emitted.entry,
        imports={name: version_facts.import_path(path) for name, path in emitted.imports.items()},
        objects=emitted.objects,
        made=emitted.made,
        globals=emitted.globals,
        free=emitted.free,
        guards=(
            *version_facts.guards(specializer, context, function), *version_facts.separate(primal.changed, arguments),
        ),
        dependencies=tuple(version_facts.dependencies(specializer, fn, emitted.imports)),
        result=version_facts.types_of(context.value(function.body.yields[0])),
        met=tuple(sorted(specializer.holding.met)),
        notices=() if request.mode in ("primal", "observed") else tuple(dict.fromkeys(context.notices)),
        places={f: tuple((k + lower, line) for k, line in pairs) for f, pairs in emitted.places.items()},
        is_by_layout=primal.is_by_layout,
        changed=tuple(primal.changed),
        missing_kinds=missing_kinds(function.body, context.value) if primal.may_be_observed else 0,
    )


def _head(specializer: Specializer) -> tuple[str, ...]:
    """The comment on top of the text: what it was made for, and what passes straight through."""
    return (*([] if observed() is None else [HEAD]), *specializer.holding.noted)


# --- derivatives that the program itself takes ------------------------------------------------------------------------


def derivative_of(
    specializer: Specializer, function: ir.Function, rebound: Any, request: Request
) -> tuple[ir.Function, list[str]]:
    """The derivative of a function that was specialised inside another one, and the names of the parameters that the
    function changes."""
    context, specializer.takes_derivatives = specializer.context, True
    stages, context.stages = context.stages, None  # it is a part of what is specialised
    try:
        return _derivative_inside(specializer, function, rebound, request)
    finally:
        context.stages = stages
        if stages is not None:
            stages.has_derivatives = True


def _derivative_inside(
    specializer: Specializer, function: ir.Function, rebound: Any, request: Request
) -> tuple[ir.Function, list[str]]:
    context, function = specializer.context, ungrouped(function)
    function = checked(ir.replace(function, body=plain(context, function.body)))
    if _changes_masks(function, context):
        raise error("S2S118", span=function.span, name="a mask")
    check_statements(_length(function))
    changes = dict(request.options).get("changes", "")
    primal = Primal(specializer, request, changes, is_inner=True, rebound=rebound)
    function = _prepare(function, primal)
    made = Joint(context, specializer, function, request, MODES, {}, {}).build()
    made = sound(run_passes(NESTED, made, context, inside=lambda part: part), context, {})  # it reads what is around it
    made = REMARKS.run(mark_stacks(made), context)
    return checked(ir.replace(made, captures=tuple(free_variables(made)))), primal.changed


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
