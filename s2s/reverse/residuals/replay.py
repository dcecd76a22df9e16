"""Blocks that the reverse sweep replays instead of keeping their residuals: checkpointed functions and loops.

    for t in range(n):                      for t in range(n):                  [snapshots: 3]
        u = step(u)                             if snapshots.due(t):
                                                    snapshots.keep(t, u)
                                                u = step(u)
                                ->          for t in reversed(range(n)):
                                                u = snapshots.restore(t)
                                                for k in snapshots.steps(t):
                                                    if snapshots.due(k): ...
                                                    u = step(u)
                                                (step t once more, keeping what its reverse reads; its reverse)

The forward sweep has such a block as the primal has it. In the reverse sweep a copy of it stands in front of its
reverse, which finds there what it reads. What the copy starts from is its *state*: the carried variables that it reads,
what the arrays from outside hold that it changes, and how far the calls have come that may give something else in the
replay (``rt.Calls``). The contents of arrays from outside are restored in place, so that whatever shares their memory
sees them.
"""

from __future__ import annotations

import operator
import random
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from s2s import runtime as rt
from s2s.analysis.abstract.draws import is_draw
from s2s.analysis.adjoint_placement import ROOT, RUNTIME
from s2s.analysis.regions import Region
from s2s.builder.builder import Builder, Context
from s2s.core import ir, ops
from s2s.core.values import UNKNOWN, Array, Scalar
from s2s.errors import error
from s2s.optimize.dead import drop_dead
from s2s.reverse.residuals.block_copy import BlockCopy
from s2s.reverse.residuals.decisions import Reason
from s2s.reverse.residuals.sweep import Sweep
from s2s.specialize.checkpoints import FirstRun, asked, name_of_call, plain

if TYPE_CHECKING:
    from s2s.reverse.sweeps import Reverser

__all__ = ["inits_to_restore", "replay_branch", "replay_iterations"]

WHOLE = ir.Const(Ellipsis)


# --- calls that may give something else in a replay -----------------------------------------------------------------


def _source(reverser: Reverser, body: Region, value: ir.Call, builder: Builder) -> ir.Atom | None:
    """The object whose method is called, as it is seen before the block; None where it is none of these."""
    method = reverser.context.definition(value.fn, getattr)
    if method is not None:
        return None if method[1] == ir.Const("spawn") else _outside(reverser, body, method[0], builder)
    fn = value.fn.value if isinstance(value.fn, ir.Const) else None
    owner = getattr(fn, "__self__", None)
    first = value.args[0] if value.args else None
    if is_draw(fn) and isinstance(first, ir.Var):
        return _outside(reverser, body, first, builder)
    if owner is None and isinstance(first, ir.Const):  # a bound method, taken apart
        is_method = getattr(type(first.value), getattr(fn, "__name__", ""), None) is fn
        owner = first.value if is_method else None
    if not _draws(owner):
        return None
    modules = {id(np.random.mtrand._rand): np.random, id(random._inst): random}
    return ir.Const(modules.get(id(owner), owner))


def _draws(value: object) -> bool:
    """Whether an object draws random numbers. NumPy's are imported where a program imports them."""
    kinds = sys.modules.get("numpy.random")
    return isinstance(value, random.Random) or (
        kinds is not None and isinstance(value, (kinds.Generator, kinds.RandomState)))


def _outside(reverser: Reverser, body: Region, atom: ir.Atom, builder: Builder) -> ir.Atom | None:
    """An object as it is seen before a block: read again where the block itself reads it."""
    if not isinstance(atom, ir.Var) or not reverser.planner.home[atom].inside(body):
        return atom
    value = reverser.context.definitions.get(atom)
    if isinstance(value, ir.Load):
        return builder.let(value, UNKNOWN, atom.name)
    held = reverser.context.definition(atom, getattr)
    above = None if held is None else _outside(reverser, body, held[0], builder)
    return None if held is None or above is None else builder.call(getattr, above, held[1], name=atom.name)


# --- arrays from outside that a block changes -----------------------------------------------------------------------


def _origins(reverser: Reverser, var: ir.Atom, body: Region, seen: set[ir.Atom]) -> set[ir.Var] | None:
    """The variables from outside a block in whose memory a variable of the block may be; None where that is not
    known."""
    if not isinstance(var, ir.Var) or var in seen:
        return set()
    seen.add(var)
    home = reverser.planner.home[var]
    if not home.inside(body):
        return {var}
    joined = reverser.memory.joined.get(var)
    if joined is not None:
        statement, k = joined
        if statement is body.statement:
            return set() if isinstance(statement, (ir.For, ir.While)) else None  # a carried variable: kept itself
        if isinstance(statement, (ir.For, ir.While)):
            given = [statement.carried[k].init, statement.body.yields[k]]
        else:
            given = [b.yields[k] for b in ir.sides_of(statement)]  # type: ignore[arg-type]
        return _union([_origins(reverser, a, body, seen) for a in given])
    base = reverser.memory.base_of(var)
    if base is not None:
        return _origins(reverser, base, body, seen)
    return set() if reverser.memory.is_new(var) else None


def _union(sets: list[set[ir.Var] | None]) -> set[ir.Var] | None:
    found: set[ir.Var] = set()
    for some in sets:
        if some is None:
            return None
        found |= some
    return found


def changed_arrays(reverser: Reverser, block: ir.Block, body: Region) -> list[ir.Var]:
    """The arrays from outside that the statements of a block may change."""
    found: dict[ir.Var, None] = {}
    for s in ir.walk(block):
        if isinstance(s, ir.Store):
            some = _origins(reverser, s.target, body, set())
            if some is None:
                assert isinstance(s.target, ir.Var)
                raise error("S2S150", span=s.span, name=s.target.name.lstrip("%") or "an array")
            found.update(dict.fromkeys(sorted(some, key=reverser.planner.order.__getitem__)))
    return list(found)


def _note_reads(reverser: Reverser, block: ir.Block, body: Region, given_back: list[ir.Var]) -> None:
    """Remember that a block which is replayed reads what arrays from outside hold: as they held it then."""
    for s in ir.walk(block):
        for atom in ir.reads_of(s):
            if isinstance(atom, ir.Var) and reverser.memory.is_buffer(atom) and reverser.planner.is_primal(atom):
                some = _origins(reverser, atom, body, set())
                if some is None or any(not _covered(reverser, var, given_back) for var in some):
                    reverser.reading.contents.append((atom, id(s), None))


def _check_adjoints(reverser: Reverser, statement: Any, body: Region) -> None:
    """Refuse arrays that come out of a block, or go from iteration to iteration, whose adjoints are found by their
    memory: in the replay they are other arrays."""
    if isinstance(statement, ir.If):
        given = list(zip(statement.results, statement.then.yields, strict=True))
    else:
        given = [(c.param, y) for c, y in zip(statement.carried, statement.body.yields, strict=True)]
    for var, inner in given:
        if reverser.placement.kind(var) == RUNTIME and not _is_outside(reverser, inner, body):
            raise error("S2S150", span=statement.span, name=reverser.context.name_of(var).lstrip("%") or "an array")


def _is_outside(reverser: Reverser, var: ir.Atom, body: Region) -> bool:
    """Whether a variable of a block certainly lies in the memory of arrays from outside."""
    if not isinstance(var, ir.Var) or not reverser.planner.home[var].inside(body):
        return True
    base = reverser.memory.base_of(var)
    return base is not None and _is_outside(reverser, base, body)


def _covered(reverser: Reverser, var: ir.Var | None, given_back: list[ir.Var]) -> bool:
    """Whether an array is one that is given back its contents, or a view of one."""
    while var is not None and var not in given_back:
        var = reverser.memory.base_of(var)
    return var is not None


# --- the replay -----------------------------------------------------------------------------------------------------


@dataclass
class _State:
    """What the replay of a block starts from: the carried variables that it reads, the arrays from outside that it
    changes, and the calls that are asked again."""

    carried: list[ir.Var]
    arrays: list[ir.Var]
    calls: ir.Var | None
    span: ir.Span | None


def _calls_of(reverser: Reverser, block: ir.Block, body: Region, first: FirstRun) -> ir.Var | None:
    """The object that keeps what the calls of a block have given, made before it; None where there are no such
    calls."""
    found = asked(reverser.context, block)
    marks = [s for s in ir.walk(block) if isinstance(s, ir.Store) and s.kind == "opaque"]
    tried = [s for t in ir.walk(block) if isinstance(t, ir.Try) for s in asked(reverser.context, t.body)]
    if not found:
        if marks:
            raise error("S2S151", span=marks[0].span)
        return None
    builder = Builder(reverser.context)
    sources, keeps = [_source(reverser, body, s.value, builder) for s in found], False  # type: ignore[arg-type]
    if None in sources:
        if marks:
            raise error("S2S151", span=marks[0].span)
        if tried:
            raise error("S2S155", span=tried[0].span, name=name_of_call(reverser.context, tried[0]))
        sources, builder = [], Builder(reverser.context)
        keeps = True
    given = tuple(dict.fromkeys(a for a in sources if a is not None))
    kwargs = (("must_draw", ir.Const(True)),) if marks or tried else ()
    calls = builder.let(ir.Call(ir.Const(rt.Calls), given, kwargs), UNKNOWN, "calls")
    assert isinstance(calls, ir.Var)
    reverser.context.runtime_objects.add(calls)
    if keeps:
        reverser.context.keeping.add(calls)
        reverser.context.callees.update(s.value.fn for s in found)  # type: ignore[union-attr]
    first.before += builder.statements
    first.kept.append(calls)
    first.calls = calls
    return calls


def _settle(reverser: Reverser, statement: Any, first: FirstRun, outer: Sweep) -> None:
    """Let the forward sweep know of a first run, and the reverse sweep of the variables that it reads of it."""
    for var in first.kept:
        reverser.planner.note(var, outer.region)
    reverser.planner.first_runs[id(statement)] = first


def _note_decisions(reverser: Reverser, sweep: Sweep, state: list[ir.Var], span: ir.Span | None) -> None:
    for var in sweep.requests:
        reverser.planner.plan.add(var, "replay", Reason.REPLAYED, span=span)
    for var in state:
        reverser.planner.plan.add(var, "checkpoint", Reason.STATE, span=span)


def replay_branch(reverser: Reverser, statement: ir.If, outer: Sweep, child: Sweep) -> list[ir.Statement]:
    """Write the replay of a block before its reverse; the statements that end it."""
    context, first, body = reverser.context, FirstRun(), child.region
    _check_adjoints(reverser, statement, body)
    arrays = _given_back(reverser, statement.then, body)
    calls = _calls_of(reverser, statement.then, body, first)
    before, builder = Builder(context), outer.builder
    saved = [before.call(np.copy, var, name=f"saved_{context.name_of(var).lstrip('%') or 'array'}") for var in arrays]
    first.kept += [a for a in saved if isinstance(a, ir.Var)]
    end = Builder(context)
    if calls is not None:
        begun = _ask(before, statement.span, calls, "state", name="begun")
        first.kept.append(begun)  # type: ignore[arg-type]
    first.before += before.statements
    _settle(reverser, statement, first, outer)
    _note_decisions(reverser, child, arrays, statement.span)
    there = None if calls is None else reverser.planner.use(outer, calls)
    if calls in context.keeping:
        context.keeping.add(there)  # type: ignore[arg-type]
    if there is not None:
        ended = _ask(builder, statement.span, there, "state", name="ended")
        _ask(end, statement.span, there, "rewind", ended, effect=True)
        _ask(builder, statement.span, there, "rewind", reverser.planner.use(outer, begun), effect=True)
    for var, content in zip(arrays, saved, strict=True):
        target = reverser.planner.use(outer, var)
        builder.store(target, WHOLE, reverser.planner.use(outer, content), None, statement.span)
    _note_reads(reverser, statement.then, body, arrays)
    block = _without_stores(reverser, reverser.planner.forward(statement.then), body, arrays)
    builder.statements += BlockCopy(reverser, outer, {}, child.requests, there).block(block).statements
    return end.statements


def replay_iterations(
    reverser: Reverser, statement: ir.For | ir.While, outer: Sweep, inner: Sweep, item: ir.Var
) -> tuple[list[ir.Statement], list[ir.Statement]]:
    """The reverse of one iteration of a checkpointed loop, with its replay before it; and the statements that end the
    reverse loop."""
    if not inner.requests:
        return reverser.planner.finish(inner), _without_state(reverser, statement, outer)
    context, body = reverser.context, inner.region
    if isinstance(statement, ir.While) and asked(context, statement.test):
        raise error("S2S152", span=statement.span)
    _check_adjoints(reverser, statement, body)
    first = FirstRun()
    arrays = _given_back(reverser, statement.body, body)
    calls = _calls_of(reverser, statement.body, body, first)
    there = None if calls is None else context.define("calls", UNKNOWN)
    if there is not None:
        context.runtime_objects.add(there)
        context.keeping |= {there} if calls in context.keeping else set()
    starts = [_like(context, c.param) for c in statement.carried]
    advance = _advance(reverser, statement, outer, starts, arrays, there, inner)
    made = [c.result for c in advance.carried]
    mapping: dict[ir.Atom, ir.Atom] = {c.param: result for c, result in zip(statement.carried, made, strict=True)}
    if isinstance(statement, ir.For):
        mapping[statement.item] = item
    taped_block = _without_stores(reverser, reverser.planner.forward(statement.body), body, arrays)
    taped = BlockCopy(reverser, outer, mapping, inner.requests, there).block(taped_block)
    _note_reads(reverser, statement.body, body, arrays)
    needed, once_more = _needed(context, advance, taped, inner)
    iteration = [*once_more, *inner.prologue, *inner.builder.statements]
    if needed is None:
        needed = ir.replace(advance, body=ir.Block(()), carried=())
    left = {c.result for c in needed.carried}
    carried = [c.param for c, result in zip(statement.carried, made, strict=True) if result in left]
    state = _State(carried, arrays, calls, statement.span)
    if not carried and not arrays and calls is None:  # no iteration reads anything of the iterations before it
        return iteration, _without_state(reverser, statement, outer)
    for var in state.carried:
        _check_kept(reverser, var, statement.span)
    _note_decisions(reverser, inner, [*carried, *arrays], statement.span)
    return _with_snapshots(reverser, statement, outer, item, first, state, starts, needed, iteration, there)


def _without_state(reverser: Reverser, statement: ir.For | ir.While, outer: Sweep) -> list[ir.Statement]:
    """What ends the reverse of a loop whose iterations start from nothing."""
    first, end = FirstRun(), Builder(reverser.context)
    _give_back_inits(reverser, statement, first, outer, end)
    _settle(reverser, statement, first, outer)
    return end.statements


def _like(context: Context, var: ir.Var) -> ir.Var:
    """A new variable for the same of another time."""
    made = context.define(var.name, context.value(var), var in context.varied)
    if var in context.names:
        context.names[made] = context.names[var]
    return made


def _advance(
    reverser: Reverser, statement: ir.For | ir.While, outer: Sweep, starts: list[ir.Var], arrays: list[ir.Var],
    calls: ir.Atom | None, inner: Sweep,
) -> ir.For:
    """The loop of the reverse sweep that goes from a state forward to the one that it needs."""
    context = reverser.context
    k = context.define("k", Scalar(int))
    params = [_like(context, c.param) for c in statement.carried]
    mapping: dict[ir.Atom, ir.Atom] = {c.param: p for c, p in zip(statement.carried, params, strict=True)}
    if isinstance(statement, ir.For):
        mapping[statement.item] = k
    once = _without_stores(reverser, plain(context, statement.body), inner.region, arrays)
    body = BlockCopy(reverser, outer, mapping, {}, calls).block(once)
    results = [inner.requests.get(c.param) or _like(context, c.param) for c in statement.carried]
    rows = zip(params, starts, results, strict=True)
    return ir.For(k, ir.Const(None), body, tuple(ir.Carried(*row) for row in rows), span=statement.span)


def _needed(
    context: Context, advance: ir.For, taped: ir.Block, inner: Sweep
) -> tuple[ir.For | None, list[ir.Statement]]:
    """What is left of the way to an iteration, and of the iteration itself, where only what its reverse reads matters;
    None where that needs nothing of the iterations before."""
    seen = ir.Block((advance, *taped.statements), tuple(inner.requests.values()))
    first, *rest = drop_dead(ir.Function("", (), seen), context).body.statements or (ir.Note(""),)
    if isinstance(first, ir.For) and first.item == advance.item:
        return first, rest
    return None, [first, *rest]


def _check_kept(reverser: Reverser, var: ir.Var, span: ir.Span | None) -> None:
    """Refuse what cannot be kept for later: an array that changes, and of which others may be views."""
    if reverser.memory.is_buffer(var) and not (
        reverser.placement.kind(var) == ROOT and isinstance(reverser.context.value(var), Array)
    ):
        raise error("S2S150", span=span, name=var.name.lstrip("%") or "an array")
    if var in reverser.unbound:
        raise error("S2S153", span=span, name=var.name.lstrip("%") or "a variable")


def _with_snapshots(
    reverser: Reverser, statement: ir.For | ir.While, outer: Sweep, item: ir.Var, first: FirstRun, state: _State,
    starts: list[ir.Var], advance: ir.For, iteration: list[ir.Statement], calls: ir.Var | None,
) -> tuple[list[ir.Statement], list[ir.Statement]]:
    """The snapshots of the forward sweep, and an iteration of the reverse sweep that starts from one of them."""
    context = reverser.context
    snapshots = _make_snapshots(reverser, statement, first)
    step: ir.Var = statement.item if isinstance(statement, ir.For) else reverser.planner.counter(statement, outer)
    at_start = Builder(context)
    _keep_if_due(reverser, at_start, snapshots, step, state, {}, state.calls)
    first.start += at_start.statements
    _settle(reverser, statement, first, outer)
    # before the reverse loop
    there = reverser.planner.use(outer, snapshots)
    end = Builder(context)
    before = Builder(context)
    if reverser.planner.repeatable and outer.region.scope() is reverser.planner.root:
        there = _ask(before, state.span, there, "copy", name="snapshots")
        context.runtime_objects.add(there)
    if calls is not None:
        assert state.calls is not None
        before.add(ir.Let(calls, reverser.planner.use(outer, state.calls), state.span))
        ended = _ask(before, state.span, calls, "state", name="ended")
        _ask(end, state.span, calls, "rewind", ended, effect=True)
    _insert_before_range(outer.builder, before.statements)
    _give_back_inits(reverser, statement, first, outer, end)
    # in its iterations
    builder = Builder(context)
    _start_replay(reverser, builder, outer, there, item, statement, state, starts, calls)
    steps = _ask(builder, state.span, there, "steps", item)
    inside = Builder(context)
    by_start = {made.init: made.param for made in advance.carried}
    params = {c.param: by_start.get(start) for c, start in zip(statement.carried, starts, strict=True)}
    arrays = {var: reverser.planner.use(outer, var) for var in state.arrays}
    assert isinstance(advance.item, ir.Var)
    _keep_if_due(reverser, inside, there, advance.item, state, params | arrays, calls)
    body = ir.Block((*inside.statements, *advance.body.statements), advance.body.yields)
    builder.add(ir.replace(advance, iterable=steps, body=body))
    return [*builder.statements, *iteration], end.statements


def _give_back_inits(
    reverser: Reverser, statement: ir.For | ir.While, first: FirstRun, outer: Sweep, end: Builder
) -> None:
    """Give the arrays that a loop began with their contents back, where the reverse of what was before it reads them:
    the reverse loop has worked on copies."""
    for c in statement.carried:
        if c.param in reverser.given_back and isinstance(c.init, ir.Var):
            saved = Builder(reverser.context)
            name = reverser.context.name_of(c.param).lstrip("%") or "array"
            content = saved.call(np.copy, c.init, name=f"saved_{name}")
            assert isinstance(content, ir.Var)
            first.before += saved.statements
            first.kept.append(content)
            reverser.planner.note(content, outer.region)
            there = reverser.planner.use(outer, c.init)
            end.store(there, WHOLE, reverser.planner.use(outer, content), None, statement.span)
            reverser.rewinds = True


def inits_to_restore(reverser: Reverser) -> set[ir.Var]:
    """The carried variables of checkpointed loops whose arrays are read, as they were before the loop, by the reverse
    of something else."""
    begins, places, found = reverser.placement.begins, reverser.placement.places, set[ir.Var]()
    for s in ir.walk(reverser.primal.body):
        if not isinstance(s, (ir.For, ir.While)) or s.snapshots is None:
            continue
        for c in s.carried:
            if reverser.memory.is_buffer(c.param):
                root = reverser.memory.find(c.param)
                around = places[id(s)].innermost_loop() is not None
                for var, reader, _ in reverser.reading.contents:
                    if reverser.memory.find(var) == root and (around or begins.get(reader, 0) < begins[id(s)]):
                        found.add(c.param)
    return found


def _insert_before_range(builder: Builder, statements: list[ir.Statement]) -> None:
    """Statements before a loop, and before the range that it runs over where that was just made."""
    at = len(builder.statements)
    while at:
        last = builder.statements[at - 1]
        if not isinstance(last, ir.Let) or not isinstance(last.value, ir.Call) or last.value.fn not in _RANGES:
            break
        at -= 1
    builder.statements[at:at] = statements


_RANGES = (ir.Const(range), ir.Const(reversed))


def _make_snapshots(reverser: Reverser, statement: ir.For | ir.While, first: FirstRun) -> ir.Var:
    """``snapshots = rt.Snapshots(most, steps)`` before the loop; without ``steps`` where they are not known there."""
    over = reverser.context.definition(statement.iterable, range) if isinstance(statement, ir.For) else None
    known = over is not None and len(over) == 1 and statement.leave is None
    assert statement.snapshots is not None
    builder = Builder(reverser.context)
    given = (statement.snapshots, *(over if known and over is not None else ()))
    made = builder.let(ir.Call(ir.Const(rt.Snapshots), given), UNKNOWN, "snapshots", statement.span)
    assert isinstance(made, ir.Var)
    reverser.context.runtime_objects.add(made)
    first.before += builder.statements
    first.kept.append(made)
    return made


def _keep_if_due(
    reverser: Reverser, builder: Builder, snapshots: ir.Atom, step: ir.Var, state: _State, names: dict[ir.Var, Any],
    calls: ir.Atom | None,
) -> None:
    """``if snapshots.due(step): snapshots.keep(step, ...)``; ``names`` are what the variables are called here."""
    child, parts = builder.child(), []
    for var in (*state.carried, *state.arrays):
        atom = names.get(var, var)
        parts.append(child.call(np.copy, atom) if reverser.memory.is_buffer(var) else atom)
    if calls is not None:
        parts.append(_ask(child, None, calls, "state"))
    held = parts[0] if len(parts) == 1 else child.call(ops.make_tuple, *parts)
    _ask(child, None, snapshots, "keep", step, held, effect=True)
    due = _ask(builder, state.span, snapshots, "due", step)
    builder.add(ir.If(due, child.block(), ir.Block(()), span=state.span))


def _start_replay(
    reverser: Reverser, builder: Builder, outer: Sweep, snapshots: ir.Atom, item: ir.Var, statement: ir.For | ir.While,
    state: _State, starts: list[ir.Var], calls: ir.Atom | None,
) -> None:
    """Take the latest state before an iteration, and give the arrays from outside their contents back."""
    by_param = {c.param: start for c, start in zip(statement.carried, starts, strict=True)}
    count = len(state.carried) + len(state.arrays) + (calls is not None)
    held = _ask(builder, state.span, snapshots, "restore", item)
    if count > 1:
        both = ir.Call(ir.Const(ops.unpack), (held, ir.Const(count), ir.Const(None)))
        held = builder.let(both, UNKNOWN, span=state.span)
    names = [*(reverser.context.name_of(var) for var in (*state.carried, *state.arrays)), "%"]
    parts = [
        held if count == 1 else builder.let(
            ir.Call(ir.Const(operator.getitem), (held, ir.Const(k))), UNKNOWN, names[k], state.span)
        for k in range(count)
    ]
    for var, part in zip(state.carried, parts, strict=False):
        given: ir.Value = part
        if reverser.memory.is_buffer(var):
            given = reverser.context.definitions[by_param[var]] = ir.Call(ir.Const(np.copy), (part,))
        builder.add(ir.Let(by_param[var], given, state.span))
    for var, part in zip(state.arrays, parts[len(state.carried) :], strict=False):
        builder.store(reverser.planner.use(outer, var), WHOLE, part, None, state.span)
    if calls is not None:
        _ask(builder, state.span, calls, "rewind", parts[-1], effect=True)


def _ask(
    builder: Builder, span: ir.Span | None, thing: ir.Atom, method: str, *args: ir.Atom, name: str = "%",
    effect: bool = False,
) -> ir.Atom:
    """``thing.method(*args)`` of an object of the runtime."""
    read = builder.call(getattr, thing, ir.Const(method), span=span)
    call = ir.Call(read, args)
    if effect:
        builder.add(ir.Let(None, call, span))
        return ir.Const(None)
    return builder.let(call, UNKNOWN, name, span)


# --- arrays that are only written -----------------------------------------------------------------------------------


def _given_back(reverser: Reverser, block: ir.Block, body: Region) -> list[ir.Var]:
    """The arrays from outside that a block changes, and whose contents its replay reads."""
    arrays = [var for var in changed_arrays(reverser, block, body) if not _is_only_written(reverser, var, block, body)]
    reverser.rewinds = reverser.rewinds or bool(arrays)
    return arrays


def _is_only_written(reverser: Reverser, array: ir.Var, block: ir.Block, body: Region) -> bool:
    """Whether nothing in a block or in its reverse reads what an array holds: it collects results for later."""
    root = reverser.memory.find(array)

    def is_of_it(a: ir.Atom) -> bool:
        return isinstance(a, ir.Var) and reverser.memory.is_buffer(a) and reverser.memory.find(a) == root

    places = reverser.placement.places
    if any(is_of_it(var) and (at not in places or places[at].inside(body)) for var, at, _ in reverser.reading.contents):
        return False
    for s in ir.walk(block):
        if isinstance(s, ir.Store) and s.kind != "opaque":
            if is_of_it(s.value) or is_of_it(s.key):
                return False
        elif isinstance(s, ir.Let) and s.target is not None and is_of_it(s.target) and (
            reverser.memory.base_of(s.target)
        ):
            continue
        elif any(map(is_of_it, ir.reads_of(s))) or any(is_of_it(a) for b in ir.blocks_of(s) for a in b.yields):
            return False
    return not any(map(is_of_it, block.yields))


def _without_stores(reverser: Reverser, block: ir.Block, body: Region, arrays: list[ir.Var]) -> ir.Block:
    """A block without the stores into arrays from outside that are only written."""
    roots = {reverser.memory.find(var) for var in arrays}

    def is_lost(s: ir.Statement) -> bool:
        if not isinstance(s, ir.Store) or not isinstance(s.target, ir.Var) or not reverser.planner.is_primal(s.target):
            return False
        if not reverser.memory.is_buffer(s.target) or reverser.memory.find(s.target) in roots:
            return False
        return bool(_origins(reverser, s.target, body, set()))

    def run(b: ir.Block) -> ir.Block:
        left = (ir.with_blocks(s, map(run, ir.blocks_of(s))) for s in b.statements if not is_lost(s))
        return ir.Block(tuple(left), b.yields)

    return run(block)
