"""The reverse of control flow: a branch takes the side that the forward sweep took, a loop runs its iterations
backwards."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import numpy as np

from s2s import runtime as rt
from s2s.analysis.abstract.lattice import is_number, shape_of
from s2s.analysis.abstract.parts import Path, leaves, part
from s2s.analysis.activity import written_by
from s2s.builder import cotangents
from s2s.core import ir
from s2s.core.operators import SIGNS
from s2s.core.values import UNKNOWN, Array, ListOf, Mapping, Sequence
from s2s.reverse import stores
from s2s.reverse.residuals import replay
from s2s.reverse.residuals.iterations import backwards
from s2s.reverse.residuals.sweep import Sweep

if TYPE_CHECKING:
    from s2s.reverse.sweeps import Reverser

__all__ = ["at_join", "replayed_block", "branch", "loop", "outlives", "reverse_side", "seed", "seeds_of"]


# --- branches -------------------------------------------------------------------------------------------------------


def branch(reverser: Reverser, statement: ir.If, sweep: Sweep) -> None:
    """The reverse of an ``if``: the same test, and the reverse of the branch that ran."""
    seeds = seeds_of(reverser, statement, sweep)
    then, orelse = (
        reverse_side(reverser, statement, k, block, seeds, sweep)
        for k, block in enumerate((statement.then, statement.orelse))
    )
    keys = [k for k in dict.fromkeys([*then.bars, *orelse.bars]) if outlives(reverser, k, sweep, statement)]
    results, yields = [], ([], [])  # type: ignore[var-annotated]
    for key in keys:
        a, b = (at_join(reverser, side, key, sweep) for side in (then, orelse))
        if a == b:
            sweep.bars[key] = a
            continue
        result = reverser.context.define(reverser.name(key[0]), reverser.kind_of_bar(*key))
        is_own = all(_is_own(reverser, side, key) for side in (then, orelse))
        sweep.bars[key] = result
        (sweep.buffers.add if is_own else sweep.buffers.discard)(key)
        results.append(result)
        yields[0].append(a)
        yields[1].append(b)
    blocks = [
        ir.Block(tuple(reverser.planner.finish(side)), tuple(y))
        for side, y in zip((then, orelse), yields, strict=True)
    ]
    if results or any(b.statements for b in blocks):
        test = reverser.use(sweep, statement.test)
        sweep.builder.add(ir.If(test, blocks[0], blocks[1], tuple(results), statement.span))


def replayed_block(reverser: Reverser, statement: ir.If, sweep: Sweep) -> None:
    """The reverse of a block that is replayed: its statements once more, and the reverse of these."""
    child = reverse_side(reverser, statement, 0, statement.then, seeds_of(reverser, statement, sweep), sweep)
    sweep.builder.add(ir.Note("", ir.BEGIN_REPLAY))
    end = replay.replay_branch(reverser, statement, sweep, child) if child.requests else []
    sweep.builder.statements += [*child.prologue, *child.builder.statements, *end, ir.Note("", ir.END_REPLAY)]
    for key, bar in child.bars.items():
        if outlives(reverser, key, sweep, statement):
            sweep.bars[key] = bar
            sweep.buffers.discard(key)
            if key in child.buffers:
                sweep.buffers.add(key)


def seeds_of(reverser: Reverser, statement: ir.If | ir.Try, sweep: Sweep) -> list[tuple[int, Path, ir.Atom, bool]]:
    """The cotangents of the results of a statement: which result, which part of it, the cotangent, and whether that
    is an array that nothing else holds."""
    seeds = []
    for k, result in enumerate(statement.results):
        if reverser.is_active(result) and not stores.is_found_at_run_time(reverser, result):
            for path, _ in leaves(reverser.context.value(result)):
                bar = reverser.read(sweep, result, path)
                if bar is not None:
                    holder = sweep.holding((result, path))
                    is_own = holder is not None and (result, path) in holder.buffers
                    seeds.append((k, path, bar, is_own))
    return seeds


def reverse_side(
    reverser: Reverser, statement: ir.If | ir.Try, number: int, block: ir.Block,
    seeds: list[tuple[int, Path, ir.Atom, bool]], sweep: Sweep,
) -> Sweep:
    """The reverse of one of the blocks that give the results of a statement."""
    child = Sweep(sweep.builder.child(), sweep.region.child(statement, number), sweep)
    for k, path, bar, is_own in seeds:
        seed(reverser, child, block.yields[k], path, bar, statement.results[k], statement.span, is_own)
    reverser.block(block, child)
    return child


def seed(
    reverser: Reverser, sweep: Sweep, atom: ir.Atom, path: Path, bar: ir.Atom, result: ir.Var, span: ir.Span | None,
    is_own: bool = True,
) -> None:
    """Give the cotangent of a joined variable to what it was on this path; ``is_own`` says that it is an array that
    nothing else holds, where the variable is a buffer."""
    if not isinstance(atom, ir.Var):
        return
    have, want = part(reverser.context.value(result), path), part(reverser.context.value(atom), path)
    same = isinstance(have, ListOf) or (shape_of(have) is not None and shape_of(have) == shape_of(want))
    same = same or atom in reverser.unbound  # its value cannot be read, and a join of paths changes no shape
    shape = shape_of(reverser.context.value(bar))
    may_be_zero = result in reverser.unbound and isinstance(want, Array) and shape is None
    if may_be_zero and atom not in reverser.unbound:
        like = reverser.part_atom(sweep, atom, path, span)
        bar, same = cotangents.made_like(sweep.builder, np.full_like, like, bar, span=span), True
    elif result in reverser.unbound and atom not in reverser.unbound and not (
        isinstance(want, Array) or is_number(want)
    ):
        zeros = sweep.builder.call(rt.zeros_of, reverser.part_atom(sweep, atom, path, span), span=span)
        whole = ir.Call(ir.Const(rt.add), (bar, zeros))  # a container, where it is one here
        bar = sweep.builder.let(whole, reverser.kind_of_bar(atom, path), span=span)
    is_own = (is_own or may_be_zero) and (not may_be_zero or atom not in reverser.unbound)
    if not same and not (is_number(have) and is_number(want)) and shape_of(reverser.context.value(bar)) is None:
        bar = sweep.builder.call(rt.unbroadcast, bar, reverser.part_atom(sweep, atom, path, span), span=span)
    if isinstance(want, (Sequence, Mapping)) or path == () or part(reverser.context.value(atom), path) != UNKNOWN:
        reverser.contribute(sweep, atom, bar, span, path)
        if is_own and stores.is_owned(reverser, result) and sweep.bars.get((atom, path)) == bar:
            sweep.buffers.add((atom, path))  # handed over: nothing else holds it any more
    else:
        (key,) = path  # of what is unknown no more than the items are told apart
        raised = sweep.builder.call(rt.index_bar, reverser.use(sweep, atom), ir.Const(key), bar, span=span)
        reverser.contribute(sweep, atom, raised, span)


def outlives(reverser: Reverser, key: tuple[ir.Var, Path], sweep: Sweep, statement: ir.Statement) -> bool:
    """Whether a variable is defined outside a statement of this sweep's region."""
    home = reverser.planner.home[key[0]]
    return not any(
        home.inside(sweep.region.child(statement, side)) for side in range(len(ir.blocks_of(statement)))
    )


def at_join(reverser: Reverser, side: Sweep, key: tuple[ir.Var, Path], sweep: Sweep) -> ir.Atom:
    """The cotangent that a side leaves for what is joined after it, whole, zeros where there is none."""
    bar = side.bars.get(key)
    if bar is None:
        bar = reverser.read(sweep, *key)
    if bar is None:
        return reverser.zero(side, key[0], key[1], None)
    value = reverser.kind_of_bar(*key)
    bar = cotangents.of_kind(side.builder, bar, value)
    if isinstance(value, Array) and _differs(reverser, bar, value):
        bar = cotangents.whole(side.builder, bar, reverser.part_atom(side, *key, None), None)
    return bar


def _is_own(reverser: Reverser, side: Sweep, key: tuple[ir.Var, Path]) -> bool:
    """Whether the cotangent that a side leaves for a buffer is an array that nothing else holds: zeros, where there is
    none yet."""
    if not stores.is_owned(reverser, key[0]) or key[0] in reverser.unbound:
        return False
    holder = side.holding(key)
    return isinstance(reverser.kind_of_bar(*key), Array) if holder is None else key in holder.buffers


# --- loops ----------------------------------------------------------------------------------------------------------


def loop(reverser: Reverser, statement: ir.For | ir.While, sweep: Sweep) -> None:
    """The reverse of a loop: its iterations backwards. A cotangent that no iteration changes is not carried: the
    reverse is rewritten with what it is before the loop. Where that of the loop around it is rewritten, what was found
    to be unchanged is expected to be so, and only tested: a nest is not written in every combination."""
    carried = _carried_leaves(reverser, statement, sweep)
    if not carried and not _has_active(reverser, statement.body):
        return
    fixed, expected = _accumulators(reverser, statement, carried, sweep)
    expected |= reverser.unchanged.get(id(statement), set()) - set(fixed)
    bars = {
        (k, path): reverser.read(sweep, statement.carried[k].result, path)
        for k, path in carried if (k, path) in expected
    }
    fixed |= {key: bar for key, bar in bars.items() if bar is not None}
    mark = reverser.planner.storage.mark()
    while True:
        reverser.planner.storage.take_back(mark)
        inner, params, item, count = _reverse_iteration(reverser, statement, sweep, carried, fixed)
        changed = {
            (k, path) for k, path in expected & set(fixed)
            if inner.bars.get((statement.carried[k].param, path)) != fixed[k, path]
        }
        expected = set()
        if changed:
            fixed = {key: bar for key, bar in fixed.items() if key not in changed}
            continue
        unchanged = {
            (k, path): reverser.read(sweep, statement.carried[k].result, path)
            for (k, path), param in params.items()
            if not isinstance(reverser.context.value(param), ListOf)  # its items go one by one, in place
            and not stores.is_owned(reverser, statement.carried[k].param)
            and inner.bars.get((statement.carried[k].param, path)) == param
        }
        found = {key: bar for key, bar in unchanged.items() if bar is not None and key not in fixed}
        if not found:
            break
        fixed |= found
    reverser.unchanged[id(statement)] = set(fixed)
    _close_loop(reverser, statement, sweep, inner, params, fixed, item, count)


def _accumulators(
    reverser: Reverser, statement: ir.For | ir.While, carried: list[tuple[int, Path]], sweep: Sweep
) -> tuple[dict[tuple[int, Path], ir.Atom], set[tuple[int, Path]]]:
    """The carried variables that iterations only add to (``total = total + ...``), with their cotangent: it does not
    change. Where iterations read them for something else too, such as a test, that is to be expected."""
    found: dict[tuple[int, Path], ir.Atom] = {}
    expected = set()
    for k, path in carried:
        c = statement.carried[k]
        bar = reverser.read(sweep, c.result, path)
        value = reverser.context.value(c.param)
        sums = _sums_to(reverser, statement.body.yields[k], c.param)
        if path or bar is None or not is_number(value) or not sums:
            continue
        if all(reverser.uses[atom] == 1 for atom in sums):
            found[k, path] = bar
        else:
            expected.add((k, path))
    return found, expected


_SUMS = frozenset(map(ir.Const, SIGNS))


def _sums_to(reverser: Reverser, atom: ir.Atom, param: ir.Var) -> list[ir.Atom]:
    """The sums from what an iteration gives down to what it began with, both included; none where it is no such sum."""
    found = [atom]
    while isinstance(atom, ir.Var) and atom != param:
        let = reverser.planner.lets.get(atom)
        if let is None or not isinstance(let.value, ir.Call) or let.value.fn not in _SUMS:
            return []
        first, second = let.value.args
        atom = second if let.value.fn == ir.Const(operator.add) and second == param else first  # type: ignore[assignment]
        found.append(atom)
    return found if atom == param else []


def _reverse_iteration(
    reverser: Reverser, statement: ir.For | ir.While, sweep: Sweep, carried: list[tuple[int, Path]],
    fixed: dict[tuple[int, Path], ir.Atom],
) -> tuple[Sweep, dict[tuple[int, Path], ir.Var], ir.Var, ir.Atom]:
    """The reverse of one iteration: its sweep, the carried cotangents, the item and iterable of the reverse loop."""
    side = 0 if isinstance(statement, ir.For) else 1
    inner = Sweep(sweep.builder.child(), sweep.region.child(statement, side), sweep, is_loop=True)
    params: dict[tuple[int, Path], ir.Var] = {}
    item, count = backwards(reverser.planner, statement, inner)
    for k, path in carried:
        c = statement.carried[k]
        given = fixed.get((k, path))
        if given is None:
            kind = reverser.kind_of_bar(c.param, path)
            given = params[k, path] = reverser.context.define(reverser.name(c.param), kind)
        seed(reverser, inner, statement.body.yields[k], path, given, c.param, statement.span)
    reverser.block(statement.body, inner)
    return inner, params, item, count


def _carried_leaves(reverser: Reverser, statement: ir.For | ir.While, sweep: Sweep) -> list[tuple[int, Path]]:
    found = []
    for k, c in enumerate(statement.carried):
        if reverser.is_active(c.param) and not stores.is_found_at_run_time(reverser, c.param):
            found += [(k, path) for path, _ in leaves(reverser.context.value(c.param))]
    return found


def _has_active(reverser: Reverser, block: ir.Block) -> bool:
    return any(written_by(s) in reverser.useful or id(s) in reverser.old for s in ir.walk(block))


def _close_loop(
    reverser: Reverser, statement: ir.For | ir.While, sweep: Sweep, inner: Sweep,
    params: dict[tuple[int, Path], ir.Var], fixed: dict[tuple[int, Path], ir.Atom], item: ir.Var, count: ir.Atom,
) -> None:
    """Assemble the reverse loop: what it carries, and what it leaves for the variables before it."""
    carried, yields = [], []
    after: list[tuple[ir.Atom, Path, ir.Var, int]] = []
    for (k, path), param in params.items():
        c = statement.carried[k]
        init = _loop_value(reverser, sweep, c.result, path, reverser.read(sweep, c.result, path))
        following: ir.Atom = ir.Const(0.0)  # a variable that the first iteration finds unbound is read by no iteration
        if c.init != ir.UNDEFINED or (c.param, path) in inner.bars:
            following = _loop_value(reverser, inner, c.param, path, inner.bars.get((c.param, path)))
        at_start = reverser.kind_of_bar(c.init, path)
        result = reverser.context.define(
            reverser.name(c.param), at_start if isinstance(at_start, Array) else reverser.context.value(param)
        )
        carried.append(ir.Carried(param, init, result))
        yields.append(following)
        after.append((c.init, path, result, k))
    for key, param in inner.accumulators.items():
        init = _loop_value(reverser, sweep, key[0], key[1], reverser.read(sweep, *key))
        result = reverser.context.define(reverser.name(key[0]), reverser.context.value(param))
        carried.append(ir.Carried(param, init, result))
        yields.append(cotangents.of_kind(inner.builder, inner.bars[key], reverser.context.value(param)))
        sweep.bars[key] = result
    iteration, end = (
        (reverser.planner.finish(inner), []) if statement.snapshots is None
        else replay.replay_iterations(reverser, statement, sweep, inner, item)
    )
    for row in inner.handed_over:
        following = reverser.context.define(row.back.name, reverser.context.value(row.back))
        carried.append(ir.Carried(row.back, row.init, following))
        yields.append(row.following)
    if isinstance(statement, ir.While) and statement.snapshots is None and id(statement) in reverser.planner.indexed:
        count = sweep.builder.call(reversed, count, span=statement.span)
    body = ir.Block(tuple(iteration), tuple(yields))
    sweep.builder.add(ir.For(item, count, body, tuple(carried), span=statement.span))
    sweep.builder.statements += end
    for (k, path), bar in fixed.items():
        seed(reverser, sweep, statement.carried[k].init, path, bar, statement.carried[k].param, statement.span)
    for atom, path, result, k in after:
        seed(reverser, sweep, atom, path, result, statement.carried[k].param, statement.span)


def _loop_value(reverser: Reverser, sweep: Sweep, var: ir.Var, path: Path, bar: ir.Atom | None) -> ir.Atom:
    """A cotangent as a loop carries it: whole, zero where there is none."""
    if stores.is_owned(reverser, var) and var not in reverser.unbound:
        return reverser.make_buffer(sweep, (var, path), None)
    if bar is None:
        return reverser.zero(sweep, var, path, None)
    value = reverser.kind_of_bar(var, path)
    bar = cotangents.of_kind(sweep.builder, bar, value)
    if isinstance(value, ListOf) and (var, path) not in sweep.buffers and not sweep.is_loop:
        return sweep.builder.call(list, bar, name=reverser.name(var))
    if isinstance(value, Array) and _differs(reverser, bar, value):
        return cotangents.whole(sweep.builder, bar, reverser.part_atom(sweep, var, path, None), None)
    return bar


# --- cotangents as branches and loops hand them on ------------------------------------------------------------------


def _differs(reverser: Reverser, bar: ir.Atom, value: Array) -> bool:
    return shape_of(reverser.context.value(bar)) != value.shape
