"""Loops in partial evaluation: unrolled over known items, otherwise run until what they carry is stable."""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from s2s.analysis.abstract.lattice import join, lengths_of, truth
from s2s.builder import virtual_heap
from s2s.builder.builder import Builder, Context, has_zero_derivative
from s2s.builder.virtual_heap import cell_of, state_of
from s2s.core import ir
from s2s.core.dataflow import along, reachable
from s2s.core.limits import FEW_ARGUMENTS
from s2s.core.values import NO_ITEM, UNKNOWN, AbstractValue, Array, Range, Scalar
from s2s.errors import ABOUT_OBJECTS, DifferentiationError, error
from s2s.normalize.while_true import changes_something, with_test_inside
from s2s.optimize.ranges import constant_range, turned
from s2s.rules import table
from s2s.specialize import fixpoints
from s2s.specialize.branching import join_sides, phi
from s2s.specialize.frames import Frame, is_of_s2s
from s2s.specialize.heap import generators, iterators, lazy
from s2s.specialize.heap.items import UNROLL_AT_MOST, Counted, few_iterations
from s2s.specialize.heap.joins import Join, Leaf, Side, changed_cells, new_mirrors
from s2s.specialize.heap.live_data import ask_for_data
from s2s.specialize.heap.mutated_iterables import Watch
from s2s.specialize.searches import with_found_points
from s2s.specialize.site import At
from s2s.specialize.speculation import speculate
from s2s.specialize.variables import check_joined, check_read, possibly_unassigned

if TYPE_CHECKING:
    from s2s.specialize.specializer import Specializer

MOST_UNROLLED = 4096
"""Loops in one another are unrolled where these are not more in all."""

FEW = 4
"""Loops of libraries with so many iterations are unrolled: they often put shapes together, known only then."""


def for_loop(specializer: Specializer, loop: ir.For, frame: Frame, builder: Builder) -> bool:
    """A ``for``: unrolled over a container of known items, else a loop over a range."""
    if not is_of_s2s(frame):  # what `sum` comes to takes all items
        generators.check_taken(
            specializer.context, None, [specializer.atom(loop.iterable, frame)], loop.span, frame.called_from
        )
    with generators.noted_loop(specializer.context, loop, frame, builder):
        return _for_loop(specializer, loop, frame, builder)


def _for_loop(specializer: Specializer, loop: ir.For, frame: Frame, builder: Builder) -> bool:
    given = specializer.atom(loop.iterable, frame)
    check_read(specializer, loop.iterable, given, builder, loop.span, frame)
    generator = given
    if given not in specializer.context.generators and specializer.context.is_virtual(given):
        generator = lazy.of_object(At(specializer, frame, builder, loop.span), given) or given
    elif loop.leave is not None:  # it may be why the loop ends
        generator = lazy.of_endless(At(specializer, frame, builder, loop.span), given) or given
    if generator in specializer.context.generators:
        lazy.over(specializer, loop, generator, frame, builder)
        return False
    iterable = turned(specializer.context, builder, given, loop.span)
    snapshots = specializer.loop_snapshots(loop.iterable, frame)
    if snapshots is not None:
        specializer.repeating += 1
        try:
            _checkpointed_loop(specializer, loop, iterable, snapshots, frame, builder)
        finally:
            specializer.repeating -= 1
        return False
    flat = iterators.flat_items(At(specializer, frame, builder, loop.span), iterable)
    if flat is None:
        return _loop_over(specializer, loop, iterable, frame, builder)
    before = len(builder.statements)
    ended = _loop_over(specializer, loop, flat, frame, builder)
    made = ir.Block(tuple(builder.statements[before:]))
    if any(isinstance(s, ir.Store) for s in ir.walk(made)):  # an iteration may change what later ones read
        hint = "loop over `a.flatten()`, or over the indices where the loop changes what it reads"
        raise error("S2S208", span=loop.span, name="flat", hint=hint)
    return ended


def _loop_over(specializer: Specializer, loop: ir.For, iterable: ir.Atom, frame: Frame, builder: Builder) -> bool:
    if isinstance(specializer.context.value(iterable), Range):
        if not _loop_or_not(specializer, loop, iterable, frame, builder):
            _unroll(
                specializer, loop, [*map(ir.Const, few_iterations(specializer.context, iterable) or ())], frame, builder
            )
        return False
    with specializer.iterables.over(iterable) as watch, _taken(specializer, loop, iterable, frame, builder) as taken:
        return _loop_over_items(specializer, loop, taken, watch, frame, builder)


def _loop_over_items(
    specializer: Specializer, loop: ir.For, iterable: ir.Atom, watch: Watch, frame: Frame, builder: Builder
) -> bool:
    items = specializer.items.known(iterable, builder, loop.span)
    if items is not None and len(items) <= UNROLL_AT_MOST and len(items) * specializer.unrolling <= MOST_UNROLLED:
        ask_for_data(specializer.context, iterable, watch.cells)
        _unroll(specializer, loop, items, frame, builder, watch)
        return False
    counted = specializer.items.counted(iterable, builder, loop.span)
    length, most = counted.length, 0 if specializer.is_own(frame.fn) else FEW
    if isinstance(length, ir.Const) and type(length.value) is int and length.value <= most:
        items = [counted.item(ir.Const(k), builder) for k in range(length.value)]
        _unroll(specializer, loop, items, frame, builder, watch)
        return False
    over = builder.call(range, counted.length, span=loop.span)
    few = few_iterations(specializer.context, over)
    if few:
        with speculate(specializer, builder, frame) as speculation:
            dicts = _known_dicts(specializer)
            _loop(specializer, loop, over, counted, frame, speculation.builder, watch=watch)
            if not _loses(specializer, loop, frame, dicts, len(few)):
                return False
            speculation.discard()
        items = [counted.item(ir.Const(k), builder) for k in few]
        _unroll(specializer, loop, items, frame, builder, watch)
        return False
    _loop(specializer, loop, over, counted, frame, builder, watch=watch)
    return False


def _known_dicts(specializer: Specializer) -> list[virtual_heap.Cell]:
    """The dicts whose keys are known."""
    return [cell for cell, state in specializer.context.heap.states.items() if _is_known_dict(state)]


def _is_known_dict(state: virtual_heap.State | None) -> bool:
    return state is not None and virtual_heap.is_dict(state) and state.whole is None


def _loses(
    specializer: Specializer, loop: ir.For, frame: Frame, dicts: list[virtual_heap.Cell], length: int
) -> bool:
    """Whether a loop of few iterations has filled one of the dicts, or made others of one, in such a way that its keys
    are not known any more: each iteration would make a new one, and its adjoint."""
    if length > FEW_ARGUMENTS:
        return False
    context = specializer.context
    made = [frame.env.get(c.result) for c in loop.carried if cell_of(context, specializer.atom(c.init, frame)) in dicts]
    states = [context.heap.states.get(cell) for cell in dicts] + [state_of(context, atom) for atom in made]
    return any(state is not None and not _is_known_dict(state) for state in states) or any(
        atom is not None and state_of(context, atom) is None for atom in made)


@contextlib.contextmanager
def _taken(
    specializer: Specializer, loop: ir.For, iterable: ir.Atom, frame: Frame, builder: Builder
) -> Iterator[ir.Atom]:
    """What a loop runs over: of an iterator all that it has left. What is left of it while the loop runs is not known,
    nor after a loop that may end early."""
    cell, state = cell_of(specializer.context, iterable), state_of(specializer.context, iterable)
    if cell is None or state is None or state.kind is not virtual_heap.Iterator:
        yield iterable
        return
    rest = iterators.take_rest(At(specializer, frame, builder, loop.span), cell)
    specializer.context.heap.unknown[cell] = "a loop runs over it"
    yield rest
    specializer.context.heap.unknown.pop(cell, None)
    if loop.leave is not None:
        iterators.leave_rest(specializer.context, iterable)


def _checkpointed_loop(
    specializer: Specializer, loop: ir.For, iterable: ir.Atom, snapshots: ir.Atom, frame: Frame, builder: Builder
) -> None:
    """A loop of which iterations are replayed: over ``range(n)``, so that the number of one says what it runs for."""
    bounds = specializer.context.definition(iterable, range)
    if bounds is not None and len(bounds) == 1:
        _loop(specializer, loop, iterable, None, frame, builder, snapshots)
        return
    with specializer.iterables.over(iterable) as watch, _taken(specializer, loop, iterable, frame, builder) as taken:
        counted = specializer.items.counted(taken, builder, loop.span)
        over = builder.call(range, counted.length, span=loop.span)
        _loop(specializer, loop, over, counted, frame, builder, snapshots, watch)


def _loop_or_not(specializer: Specializer, loop: ir.For, iterable: ir.Atom, frame: Frame, builder: Builder) -> bool:
    """A loop over a range; False where it has no iteration, or few and objects that can only be followed unrolled."""
    few = few_iterations(specializer.context, iterable)
    if few is None:
        _loop(specializer, loop, iterable, None, frame, builder)
        return True
    if not few:
        return False
    specializer.has_short_loops = True
    if specializer.context.assumed.unrolled:
        return False
    unknown, kept = dict(specializer.context.heap.unknown), specializer.kept_functions
    try:
        with speculate(specializer, builder, frame) as speculation:
            dicts = _known_dicts(specializer)
            _loop(specializer, loop, iterable, None, frame, speculation.builder)
            if kept == specializer.kept_functions and not _loses(specializer, loop, frame, dicts, len(few)) and not any(
                cell not in unknown and cell.var in frame.env.values() for cell in specializer.context.heap.unknown
            ):
                return True
            speculation.discard()
    except DifferentiationError as problem:
        if problem.diagnostic.code not in ABOUT_OBJECTS:
            raise
    return False


def _unroll(
    specializer: Specializer, loop: ir.For, items: list[ir.Atom], frame: Frame, builder: Builder,
    watch: Watch | None = None,
) -> None:
    """The iterations of a loop one after the other; where one may leave, the others stand in its else side."""
    values = [specializer.atom(c.init, frame) for c in loop.carried]
    around, specializer.unrolling = specializer.unrolling, specializer.unrolling * max(len(items), 1)
    if loop.span is not None and not is_of_s2s(frame):
        written = specializer.written_out
        written[loop.span] = max(written.get(loop.span, 0), specializer.unrolling)
        if specializer.folds is not None:
            specializer.folds.written_out(loop.span, frame, len(items))
    try:
        values, left = _iterations(specializer, loop, items, values, frame, builder, watch)
    finally:
        specializer.unrolling = around
    for c, value in zip(loop.carried, values, strict=True):
        frame.env[c.result] = value
    if loop.left is not None:
        frame.env[loop.left] = left


def _iterations(
    specializer: Specializer, loop: ir.For, items: list[ir.Atom], values: list[ir.Atom], frame: Frame, builder: Builder,
    watch: Watch | None, number: int = 0,
) -> tuple[list[ir.Atom], ir.Atom]:
    if not items:
        return values, ir.Const(False)
    inner = frame.copy()
    if watch is not None:
        watch.iteration, watch.item = number, items[0]
    inner.env[loop.item] = items[0]
    inner.env.update({c.param: v for c, v in zip(loop.carried, values, strict=True)})
    after = list(specializer.run(loop.body, inner, builder))
    leave = ir.Const(False) if loop.leave is None else specializer.atom(loop.leave, inner)
    decided = truth(specializer.context.value(leave))
    if decided is True:
        return after, ir.Const(True)
    if watch is not None:
        watch.check(loop.leave, frame.called_from)
        _take_next(specializer, loop, watch, frame, builder)
    if decided is False:
        return _iterations(specializer, loop, items[1:], after, frame, builder, watch, number + 1)
    rest, stop, base = builder.child(), builder.child(), specializer.context.heap
    specializer.context.heap = base.copy()
    specializer.there.append(specializer.context.births())
    try:
        later, left = _iterations(specializer, loop, items[1:], after, frame, rest, watch, number + 1)
    finally:
        specializer.there.pop()
    sides = (Side(stop, base.copy()), Side(rest, specializer.context.heap))
    specializer.context.heap = base
    roots = [(c.result.name, a, b) for c, a, b in zip(loop.carried, after, later, strict=True)]
    *results, flag = join_sides(specializer,
        leave, base, sides, [*roots, ("%", ir.Const(True), left)], builder, loop.span)
    return results, flag


def _take_next(specializer: Specializer, loop: ir.For, watch: Watch, frame: Frame, builder: Builder) -> None:
    """Another iteration follows, which reads what the loop runs over."""
    with specializer.writing(builder):
        iterable = specializer.atom(loop.iterable, frame)
        if specializer.relied is not None:
            specializer.relied.used_again(iterable, watch.cells)


def _loop(
    specializer: Specializer, loop: ir.For, over: ir.Atom, counted: Counted | None, frame: Frame, builder: Builder,
    snapshots: ir.Atom | None = None, watch: Watch | None = None,
) -> None:
    def iteration(params: list[ir.Atom], child: Builder) -> tuple[list[ir.Atom], ir.Var, ir.Atom | None]:
        inner = frame.copy()
        name = "i" if counted is not None or loop.item.name == "_" else loop.item.name
        item = specializer.context.define(name, Scalar(int))
        specializer.context.ranges[item] = over
        inner.env[loop.item] = item if counted is None else counted.item(item, child)
        inner.env.update({c.param: p for c, p in zip(loop.carried, params, strict=True)})
        if watch is not None:
            watch.iteration, watch.item = item, inner.env[loop.item]
        with _undecided(specializer, begins):
            yields = list(specializer.run(loop.body, inner, child))
        leave = None if loop.leave is None else specializer.atom(loop.leave, inner)
        if watch is not None and (leave is None or truth(specializer.context.value(leave)) is not True):
            watch.check(loop.leave, frame.called_from)
            _take_next(specializer, loop, watch, frame, child)
        return yields, item, leave

    begins = bool(constant_range(specializer.context, over))
    found = _stable(specializer, loop.carried, frame, builder, iteration, loop.span)
    _, item, leave = found.outcome
    carried, left = _results(specializer, loop, found, frame)
    _note_unbound(specializer, carried, found, ir.Const(False) if begins else builder.call(
        operator.not_, over, span=loop.span) if _leaves_unbound(carried) else None)
    if leave is not None and truth(specializer.context.value(leave)) is False:
        leave = None
    if loop.left is not None and leave is None:
        frame.env[loop.left], left = ir.Const(False), None
    body = found.child.block(*found.yields)
    made = ir.For(item, over, body, tuple(carried), leave, left, ir.Block(()), loop.span, snapshots)
    _add(specializer, loop, made, found, frame, builder)


@contextlib.contextmanager
def _undecided(specializer: Specializer, begins: bool = False) -> Iterator[None]:
    """Around the body of a loop: what it certainly raises is raised when the program runs, unless the loop certainly
    begins."""
    specializer.undecided += not begins
    try:
        yield
    finally:
        specializer.undecided -= not begins


def counted_loop(
    specializer: Specializer, count: ir.Atom, frame: Frame, builder: Builder, span: ir.Span | None,
    iteration: Callable[[ir.Var, Builder], Any], fill: Callable[[ir.Var, Builder, Any], None],
) -> None:
    """A loop over ``range(count)`` that no source has: ``iteration`` writes an iteration, ``fill`` the end of one, from
    what ``iteration`` gave, when it is known what the loop changes."""

    def run(_: list[ir.Atom], child: Builder) -> tuple[list[ir.Atom], ir.Var, Any]:
        item = specializer.context.define("k", Scalar(int))
        return [], item, iteration(item, child)

    found = _stable(specializer, (), frame, builder, run)
    _, item, outcome = found.outcome
    loop = ir.For(item, count, ir.Block(()), (), None, None, ir.Block(()), span, None)
    carried, _ = _results(specializer, loop, found, frame)
    _bind(specializer, loop, found, [c.result for c in carried], frame)
    fill(item, found.child, outcome)
    over = builder.call(range, count, span=span)
    builder.add(ir.replace(loop, iterable=over, body=found.child.block(*found.yields), carried=tuple(carried)))


class _TestChanges(Exception):
    """The test of a ``while`` changes an array, a container or an object."""


def while_loop(specializer: Specializer, loop: ir.While, frame: Frame, builder: Builder) -> bool:
    """A ``while``: kept as a loop, unless it is known not to begin."""

    def iteration(params: list[ir.Atom], child: Builder) -> tuple[list[ir.Atom], ir.Block, ir.Atom | None]:
        inner = frame.copy()
        inner.env.update({c.param: p for c, p in zip(loop.carried, params, strict=True)})
        test_builder, start = builder.child(), specializer.context.heap.copy()
        (test,) = specializer.run(loop.test, inner, test_builder)
        if specializer.context.is_virtual(test):
            with specializer.writing(test_builder):
                test = specializer.apply(ir.Const(bool), [test], {}, inner, test_builder, loop.span)
        kept.append(specializer.loop_snapshots(loop.test.yields[0], inner))
        if changed_cells(start, specializer.context.heap) or changes_something(test_builder.block()):
            if kept[-1] is not None:
                raise error("S2S135", span=loop.span, asked_by=frame.called_from)
            raise _TestChanges
        specializer.repeating += kept[-1] is not None
        try:
            with _undecided(specializer):
                yields = list(specializer.run(loop.body, inner, child))
        finally:
            specializer.repeating -= kept[-1] is not None
        leave = None if loop.leave is None else specializer.atom(loop.leave, inner)
        return yields, test_builder.block(test), leave

    kept: list[ir.Atom | None] = []
    before = specializer.context.heap
    try:
        with speculate(specializer, builder, frame) as speculation:
            found = _stable(specializer, loop.carried, frame, speculation.builder, iteration, loop.span)
    except _TestChanges:
        return while_loop(specializer, with_test_inside(loop), frame, builder)
    _, test, leave = found.outcome
    if not test.statements and truth(specializer.context.value(test.yields[0])) is False:
        specializer.context.heap = before
        for c in loop.carried:
            frame.env[c.result] = specializer.atom(c.init, frame)
        if loop.left is not None:
            frame.env[loop.left] = ir.Const(False)
        return False
    carried, left = _results(specializer, loop, found, frame)
    _note_unbound(specializer, carried, found, None)
    if loop.left is not None and leave is None:
        frame.env[loop.left], left = ir.Const(False), None
    body = found.child.block(*found.yields)
    made = ir.While(test, body, tuple(carried), leave, left, ir.Block(()), loop.span, kept[-1])
    _add(specializer, loop, made, found, frame, builder)
    return False


def _note_unbound(
    specializer: Specializer, carried: list[ir.Carried], iteration: _Iteration, missing: ir.Atom | None
) -> None:
    """Variables that a loop leaves unbound: without an iteration, which is where ``missing`` is true, or after
    iterations that may not assign them."""
    unbound = specializer.context.unbound
    for c, given in zip(carried, iteration.yields, strict=True):
        is_sure = given not in unbound or iteration.child.is_bound(given)  # type: ignore[arg-type]
        if c.init == ir.UNDEFINED or (isinstance(c.init, ir.Var) and c.init in unbound):
            test = missing if c.init == ir.UNDEFINED and is_sure and given != c.param else None
            if test != ir.Const(False):
                unbound[c.result] = test


def _stable(
    specializer: Specializer, carried: tuple[ir.Carried, ...], frame: Frame, builder: Builder,
    iteration: Callable[..., Any], span: ir.Span | None = None,
) -> _Iteration:
    """Run an iteration on what is known of the carried variables, and of the objects that it changes, until that
    no longer changes. Where an iteration of the loop around this one is run again, it begins with what it came to
    before."""
    context, base = specializer.context, specializer.context.heap
    inits = [specializer.atom(c.init, frame) for c in carried]
    _check_assigned(specializer, carried, inits, builder, frame, span)
    outside = Side(builder, base)
    roots = [(c.param.name, a, a) for c, a in zip(carried, inits, strict=True)]
    place, first = fixpoints.place_of(specializer, (span, len(carried), frame.called_from)), len(context.reached)
    before = specializer.solved.get(place, fixpoints.NOTHING)
    before.store(context, frame)
    touched, moved = before.objects(base), before.moved.keys()
    plan = Join(context, base, (outside, outside), roots, touched, all_leaves=True, moved=moved)
    values = {leaf.key: before.start(leaf.key, _known(specializer, leaf.first)) for leaf in plan.leaves}
    inner = before.inner
    for attempt in range(9):
        params = [context.define(leaf.name, phi(values[leaf.key][0]), values[leaf.key][1]) for leaf in plan.leaves]
        child = builder.child()
        rebound, reached, known_vars = len(specializer.rebound), len(context.reached), context.births()
        count = context.count
        _note_first(context, params, plan)
        atoms, start = plan.rebuild([*params])
        context.heap = start.copy()
        specializer.there.append(known_vars)
        try:
            with fixpoints.inside(specializer, inner) as inner:
                outcome = iteration(atoms, child)
        finally:
            specializer.there.pop()
        end, context.heap = context.heap, base
        _check_assigned(specializer, carried, outcome[0], child, frame, span)
        roots = [(c.param.name, a, y) for c, a, y in zip(carried, inits, outcome[0], strict=True)]
        own = {c for c in start.states if c not in base.states and c.origin is None}
        touched = [c for c in changed_cells(start, end) if c not in own and c not in plan.touched]
        after = Join(
            context, base, (outside, Side(child, end)), roots, [*plan.touched, *touched], all_leaves=True, moved=moved
        )
        same = after.signature() == plan.signature()
        if same:
            for param, leaf in zip(params, after.leaves, strict=True):
                context.joined(param, leaf.second)
        found = _widened(specializer, after.leaves, params if same else [], values, attempt)
        same = same and not any(known_vars(var) for var in context.reached[reached:])
        ends = {c for c in (*end.closed, *end.unknown, *end.written, *new_mirrors(start, end)) if (
            c in base.states or c.origin is not None)}
        same = same and ends <= {*start.closed, *start.unknown, *start.written}
        if same and all(f[1] == values[k][1] and same_kind(f[0], values[k][0]) for k, f in found.items()):
            moving = {leaf.key: (_known(specializer, leaf.first), values[leaf.key]) for leaf in after.leaves}
            stored = fixpoints.names_of(frame, context.reached[first:])
            specializer.solving[place] = fixpoints.Solution(moving, tuple(after.touched), stored, inner)
            return _Iteration(params, child, outcome, after)
        del specializer.rebound[rebound:]
        context.count = count
        params_of = {leaf.key: param for param, leaf in zip(params, plan.leaves, strict=True)}
        plan, values = after, _following_activity(specializer, after.leaves, params_of, found, child)
    raise error("S2S136", asked_by=frame.called_from)


def _note_first(context: Context, params: list[ir.Var], plan: Join) -> None:
    """Note what the variables of an iteration are in the first one, which may be nothing."""
    for param, leaf in zip(params, plan.leaves, strict=True):
        context.joined(param, leaf.first)
        if leaf.first == ir.UNDEFINED or leaf.first in context.unbound:
            context.unbound[param] = None


def _check_assigned(
    specializer: Specializer, carried: tuple[ir.Carried, ...], given: list[ir.Atom], builder: Builder, frame: Frame,
    span: ir.Span | None,
) -> None:
    """Refuse to carry what an interrupted block may have assigned or not."""
    for c, atom in zip(carried, given, strict=True):
        if atom == ir.POSSIBLY_UNASSIGNED:
            raise possibly_unassigned(c.param.name, span, frame)
        check_joined(specializer, atom, builder, None)


def _known(specializer: Specializer, atom: ir.Atom) -> fixpoints.Fact:
    if atom == ir.UNDEFINED:  # an iteration that reads it raises
        return NO_ITEM, False
    return specializer.context.value(atom), specializer.context.is_varied(atom)


def _widened(
    specializer: Specializer, leaves: list[Leaf], params: list[ir.Var], values: dict[Any, tuple[AbstractValue, bool]],
    attempt: int,
) -> dict[Any, tuple[AbstractValue, bool]]:
    """What is known of the carried variables after one more iteration, and whether they depend on an input."""
    context = specializer.context
    found = {}
    moved = {leaf.key: context.is_varied(param) for leaf, param in zip(leaves, params, strict=False)}
    for leaf in leaves:
        init = _known(specializer, leaf.first)
        known, varied = values.get(leaf.key, init)
        facts = context.evaluator.facts
        facts.standing = lengths_of(known) - lengths_of(init[0])
        facts.is_carried = isinstance(known, Array)  # of the arrays in a list each may have a length of its own
        wider = join(known, context.value(leaf.second), facts) if attempt < 5 else UNKNOWN
        facts.standing, facts.is_carried = frozenset(), False
        found[leaf.key] = (wider, varied or init[1] or moved.get(leaf.key, False) or context.is_varied(leaf.second))
    return found


def _following_activity(
    specializer: Specializer,
    leaves: list[Leaf],
    params: dict[Any, ir.Var],
    values: dict[Any, fixpoints.Fact],
    child: Builder,
) -> dict[Any, fixpoints.Fact]:
    """What is known of the carried variables, where those depend on an input that will, several iterations on, by the
    statements of this one: each would show one step of the way only."""
    if len(params) < 2 or not any(varied for _, varied in values.values()):
        return values
    edges = [(leaf.second, params[leaf.key]) for leaf in leaves if leaf.key in params]
    for statement in ir.walk(child.block()):
        if isinstance(statement, ir.Let):
            target, value = statement.target, statement.value
            if target is not None and isinstance(value, ir.Call) and _passes_derivatives(specializer, value):
                edges += [(atom, target) for atom in ir.atoms_of(value)]
        else:
            edges += [(a, var) for variables, given in ir.joins_of(statement) for var in variables for a in given]
    reached = reachable([params[key] for key, (_, varied) in values.items() if varied and key in params], along(edges))
    return {key: (known, varied or params.get(key) in reached) for key, (known, varied) in values.items()}


def _passes_derivatives(specializer: Specializer, value: ir.Call) -> bool:
    """Whether a call certainly depends on its arguments, by the rule of its function."""
    if not isinstance(value.fn, ir.Const) or table.find(value.fn.value) is None:
        return False
    return not has_zero_derivative(specializer.context, value.fn.value, ir.atoms_of(value)[1:])


def _results(
    specializer: Specializer, loop: ir.For | ir.While, iteration: _Iteration, frame: Frame
) -> tuple[list[ir.Carried], ir.Var | None]:
    """What a loop carries, and the variable that says whether it ended early."""
    carried = []
    for leaf, param in zip(iteration.join.leaves, iteration.params, strict=True):
        init, after = leaf.first, leaf.second
        if after in (param, init):
            specializer.context.values[param] = specializer.context.value(init)
        result = specializer.context.define(
            leaf.name, specializer.context.value(param), specializer.context.is_varied(param)
        )
        specializer.context.joined(result, param)
        carried.append(ir.Carried(param, init, result))
    left = None
    if loop.left is not None:
        left = specializer.context.define(loop.left.name, Scalar(bool))
        frame.env[loop.left] = left
    return carried, left


def _add(
    specializer: Specializer, loop: ir.For | ir.While, made: ir.For | ir.While, iteration: _Iteration, frame: Frame,
    builder: Builder,
) -> None:
    """Write the loop; after it the program's variables are the results, or the points that a search has found."""
    builder.add(made)
    _bind(specializer, loop, iteration, with_found_points(specializer, loop, made, frame, builder), frame)


def _bind(
    specializer: Specializer, loop: ir.For | ir.While, iteration: _Iteration, results: Sequence[ir.Atom], frame: Frame
) -> None:
    """Let the variables of the program be what a loop leaves in those that it carries."""
    atoms, specializer.context.heap = iteration.join.rebuild([*results])
    frame.env.update({c.result: atom for c, atom in zip(loop.carried, atoms, strict=True)})


def _leaves_unbound(carried: list[ir.Carried]) -> bool:
    return any(c.init == ir.UNDEFINED for c in carried)


def same_kind(a: AbstractValue, b: AbstractValue) -> bool:
    return phi(a) == phi(b)


@dataclass
class _Iteration:
    """One iteration of a loop, on what holds at the start of each: the variables of the leaves that it carries, its
    statements, what it gave, and how its end joins the start."""

    params: list[ir.Var]
    child: Builder
    outcome: Any
    join: Join

    @property
    def yields(self) -> list[ir.Atom]:
        """The next values of the leaves."""
        return [leaf.second for leaf in self.join.leaves]
