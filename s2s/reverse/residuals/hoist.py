"""Values that are the same in every iteration of a loop, of which the reverse sweep needs one only.

    for _ in range(steps):
        middle = 0.5 * (k[1:] + k[:-1])
        u[:-1] += middle * flux

Nothing changes ``k`` in the loop, so ``middle`` is not kept for every iteration: the reverse sweep computes it before
its loop. What may raise (``k @ w``) is not computed there, where the loop may make no iteration: the primal may never
have computed it. It is left by the last iteration that has computed it, and read by iterations only; so is what takes
branches and loops to compute.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from s2s.analysis.functions import facts
from s2s.analysis.raising import NUMPY, raised_by
from s2s.analysis.regions import Region
from s2s.builder.builder import Context
from s2s.core import ir
from s2s.reverse.residuals.costs import HOISTED_AT_MOST, gives_the_same
from s2s.reverse.residuals.decisions import Reason
from s2s.reverse.residuals.invariants import is_invariant

if TYPE_CHECKING:
    from s2s.reverse.residuals.planner import Planner
    from s2s.reverse.residuals.sweep import Sweep


def hoist(planner: Planner, sweep: Sweep, var: ir.Var, back: ir.Var) -> bool:
    """Define ``back``, which the reverse of an iteration reads for ``var``, before the loops in which it is always the
    same; False where there are none."""
    if "hoist" in planner.context.switched_off:
        return False
    outermost, plan, left_by = None, dict[ir.Var, ir.Let](), None
    loop = sweep.region.innermost_loop()
    while loop is not None:
        found: dict[ir.Var, ir.Let] = {}
        few = _collect(planner, var, loop, found)
        if few and all(_is_safe(planner, let, loop) for let in found.values()):
            outermost, plan = loop, found
        elif not few and not is_invariant(planner, var, loop):
            break
        elif _leaves(planner, loop, var):
            left_by = loop
        loop = loop.parent.innermost_loop() if loop.parent is not None else None
    if outermost is None and left_by is not None:
        _read_last(planner, sweep, var, back, left_by)
        return True
    if outermost is None:
        return False
    outer = sweep.of(outermost).parent
    assert outer is not None
    done: dict[ir.Atom, ir.Atom] = {}
    for target, let in plan.items():
        made = outer.builder.statements
        mapping = {a: done.get(a) or planner.operand(outer, a, made) for a in ir.atoms_of(let.value)}
        value = ir.map_atoms(let.value, lambda a, m=mapping: m.get(a, a))  # type: ignore[misc]
        there = back if target == var else _like(planner.context, target, value)
        planner.context.definitions[there] = value
        done[target] = there
        outer.builder.add(ir.Let(there, value, let.span))
        planner.plan.add(target, "hoist", Reason.INVARIANT, span=let.span)
    return True


def _like(context: Context, var: ir.Var, value: ir.Value) -> ir.Var:
    """A new variable for the same as another one."""
    return context.define(var.name, context.value(var), var in context.varied, value)


def _is_safe(planner: Planner, let: ir.Let, loop: Region) -> bool:
    """Whether an operation of a loop raises nothing before it that it does not raise there: it raises nothing but what
    floating-point errors are made, or the loop surely comes to it."""
    if raised_by(let, planner.context.value) <= NUMPY:
        return True
    assert let.target is not None and loop.parent is not None
    return all(planner.surely_runs(region) for region in planner.home[let.target].path_from(loop.parent))


def _leaves(planner: Planner, loop: Region, var: ir.Var) -> bool:
    """Whether the last iteration of a loop that has defined a variable leaves it when the loop is over, and nobody
    asks for it where there was none."""
    assert loop.parent is not None
    if loop.parent.scope() is not planner.root:
        return False
    path = planner.home[var].path_from(loop.parent)
    return all((r.is_body or isinstance(r.statement, ir.If)) and not r.is_replayed for r in path)


def _read_last(planner: Planner, sweep: Sweep, var: ir.Var, back: ir.Var, loop: Region) -> None:
    assert loop.parent is not None
    left = planner.left_by_last(var, planner.home[var].path_from(loop.parent))
    sweep.prologue.append(ir.Let(back, planner.use(sweep, left)))
    planner.plan.add(var, "in scope", Reason.LAST_ITERATION, span=planner.span_of(var))


def _collect(planner: Planner, var: ir.Var, loop: Region, plan: dict[ir.Var, ir.Let]) -> bool:
    """Add to a plan the operations that compute a variable; whether they give the same in every iteration of a loop."""
    if var in plan:
        return True
    let = planner.lets.get(var)
    if let is None or planner.is_buffer(var) or len(plan) >= HOISTED_AT_MOST or planner.may_be_another(let):
        return False
    if not isinstance(let.value, ir.Call) or not isinstance(let.value.fn, ir.Const):
        return False
    fn = let.value.fn.value
    if not gives_the_same(fn):
        return False
    if any(isinstance(a, ir.Star) for a in let.value.args):
        return False
    if facts(fn).warns and _is_conditional(planner.home[var], loop):
        return False
    for atom in ir.atoms_of(let.value):
        if not isinstance(atom, ir.Var):
            continue
        if atom not in planner.home or planner.is_buffer(atom):
            return False
        if planner.home[atom].inside(loop) and not _collect(planner, atom, loop, plan):
            return False
    plan[var] = let
    return True


def _is_conditional(home: Region, loop: Region) -> bool:
    """Whether iterations of a loop may leave a region out."""
    return any(region is not loop and not region.is_loop for region in home.path_from(loop))


__all__ = ["hoist"]
