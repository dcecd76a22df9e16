"""Functions with a rule that the user gave: their calls stay in the code, and what differentiates them is what the rule
says.

    @s2s.defvjp(norm)                                   y = norm(x)
    def norm_vjp(out, out_bar, x):          ->          y_bar = ...
        return out_bar * x / out                        x_bar = y_bar * x / y

A rule is code of the user. Its body is specialised for the kinds of the arguments as any function is, under guards on
what it reads from outside, and inlined where that leaves a straight line; else the rule is called by name.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from s2s import runtime as rt
from s2s.analysis.abstract.lattice import dtype_of, shape_of
from s2s.analysis.abstract.parts import is_inexact
from s2s.analysis.functions import facts
from s2s.builder import cotangents
from s2s.builder.builder import Builder
from s2s.core import ir, ops
from s2s.core.functions import Result
from s2s.core.values import UNKNOWN, AbstractValue, Array, Mapping, Scalar, Sequence
from s2s.directives import user_rules
from s2s.errors import error
from s2s.optimize.dead import drop_dead_statements
from s2s.reverse.destination import InSweep
from s2s.reverse.residuals.sweep import Sweep
from s2s.rules import table
from s2s.rules.table import Rule
from s2s.specialize.calls.user_rule_bodies import counted, misfit, parts, specialised
from s2s.specialize.frames import FramedClosure
from s2s.specialize.rule_bodies import Destination
from s2s.specialize.site import At

if TYPE_CHECKING:
    from s2s.forward.sweep import Forwarder
    from s2s.reverse.sweeps import Reverser

__all__ = ["forward", "reverse", "runs_once"]


def runs_once(transform: Reverser | Forwarder, target: ir.Var | None, call: ir.Call) -> bool:
    """Whether a function that gives its gradient beside its value should run once for both: what its gradient reads is
    not cheap to compute again."""
    fn = call.fn.value if isinstance(call.fn, ir.Const) else None
    if transform.is_inner or not user_rules.gives_gradient(fn):  # what is differentiated again has the code of both
        return False
    rule, context = table.rule_of_user(fn), transform.context
    assert rule is not None and rule.pullback is not None
    scratch, args = Builder(context), _positional(call, None)
    g = context.define("%", UNKNOWN if target is None else context.value(target))
    stand_ins = [context.define("%", context.value(a)) if not _is_closure(context, a) else a for a in args]
    keys = tuple(key for key, _ in call.kwargs if key is not None)
    atoms = [g, g, *stand_ins, *(atom for _, atom in call.kwargs)]
    guards = transform.specializer.guards.copy()
    result = specialised(transform.specializer, rule.pullback, atoms, keys, scratch, None, lambda bars, _: bars)
    transform.specializer.guards = guards
    if result is None:
        return True
    live = {result} if isinstance(result, ir.Var) else set()
    from_cotangent: set[ir.Atom] = {g}
    for s in drop_dead_statements(scratch.statements, live, context):
        assert isinstance(s, ir.Let)
        if not from_cotangent.isdisjoint(ir.atoms_of(s.value)):
            from_cotangent.add(s.target)  # type: ignore[arg-type]
        elif not _is_cheap(s.value):
            return True
    return False


def _is_closure(context: Any, atom: ir.Atom) -> bool:
    return isinstance(context.value(atom), FramedClosure)


def _is_cheap(value: ir.Value) -> bool:
    """Whether a value is quickly computed again: arithmetic element by element, or parts of what is there."""
    if not isinstance(value, ir.Call):
        return True
    fn = value.fn.value if isinstance(value.fn, ir.Const) else None
    says = facts(fn)
    views = says.result in (Result.VIEW, Result.LAYOUT)
    return says.cheap or says.elementwise or views or not says.reads or not says.looks or fn is user_rules.value_of


# --- reverse --------------------------------------------------------------------------------------------------------


def reverse(
    reverser: Reverser, rule: Rule, target: ir.Var, value: ir.Call, g: ir.Atom, span: ir.Span | None, sweep: Sweep
) -> None:
    """The cotangents that the pullback of a rule gives to the arguments of a call."""
    args = _positional(value, span)
    for key, atom in value.kwargs:
        if reverser.is_active(atom) and is_inexact(reverser.context.value(atom)):
            raise error("S2S203", span=span, name=rule.name, keyword=key)
    skipped = user_rules.left_out(rule)
    active = [k for k, a in enumerate(args) if k >= skipped and reverser.is_active(a)]
    if not active:
        return
    pullback = user_rules.pullback_of(rule, tuple(k in active for k in range(skipped, len(args))))
    atoms = [target, g, *args, *(atom for _, atom in value.kwargs)]
    keys = tuple(key for key, _ in value.kwargs if key is not None)
    wanted = [k - skipped for k in active]
    place = user_rules.place_of(rule)
    found = _cotangents(reverser, pullback, atoms, keys, wanted, len(args) - skipped, place, span, sweep)
    for k, piece in zip(active, found, strict=True):
        if piece != ir.Const(None):
            fitted = _fitted(reverser, sweep, piece, args[k], user_rules.place_of(rule), span)
            reverser.contribute(sweep, args[k], fitted, span)


def _positional(value: ir.Call, span: ir.Span | None) -> list[ir.Atom]:
    """The positional arguments of a call. Raises where their number is not known."""
    if any(isinstance(a, ir.Star) for a in value.args) or any(key is None for key, _ in value.kwargs):
        raise error("S2S207", span=span)
    return list(value.args)  # type: ignore[arg-type]


def _cotangents(
    reverser: Reverser, rule: Callable[..., Any], atoms: list[ir.Atom], keys: tuple[str, ...], active: list[int],
    count: int, place: str, span: ir.Span | None, sweep: Sweep,
) -> list[ir.Atom]:
    """What a pullback that gives ``count`` cotangents gives for the active arguments: its code inlined, or a call."""

    def chosen(bars: ir.Atom, scratch: Builder) -> ir.Atom:
        found = parts(At(reverser.specializer, reverser.specializer.frame, scratch, span), bars, count, place)
        return scratch.call(ops.make_tuple, *(found[k] for k in active))

    to = InSweep(sweep.builder, reverser, sweep)
    made = reverser.bodies.of_user(rule, atoms, keys, span, to, chosen)
    if made is None:
        call, known = reverser.bodies.call_of_user(rule, atoms, keys, to)
        bars = sweep.builder.let(call, known, "%_bars", span)
        if not isinstance(known, Sequence) or len(known.items) != count:
            bars = sweep.builder.let(counted(bars, count, place), UNKNOWN, span=span)
        return [sweep.builder.call(operator.getitem, bars, ir.Const(k), span=span) for k in active]
    return [sweep.builder.call(operator.getitem, made, ir.Const(k), span=span) for k in range(len(active))]


def _fitted(
    reverser: Reverser, sweep: Sweep, c: ir.Atom, argument: ir.Atom, place: str, span: ir.Span | None
) -> ir.Atom:
    """A cotangent in the dtype of its argument; its shape is tested when the program runs, where that is not known."""
    like, have = reverser.context.value(argument), reverser.context.value(c)
    fits = isinstance(like, (Array, Scalar)) and shape_of(like) is not None and shape_of(have) == shape_of(like)
    if fits:
        return cotangents.fit_dtype(sweep.builder, c, like, span)
    if _is_alike(like, have):
        return c
    problem = misfit(like, have, isinstance(have, Sequence), False)
    if problem is not None:
        raise error("S2S522", span=span, name=place, what="cotangent", got=problem[0], expected=problem[1])
    return sweep.builder.call(rt.fit_bar, c, reverser.use(sweep, reverser.like(argument)), ir.Const(place), span=span)


def _is_alike(like: AbstractValue, have: AbstractValue) -> bool:
    """Whether two values are known to have one structure, and arrays of the same shapes and dtypes in it."""
    if isinstance(like, Sequence) and isinstance(have, Sequence):
        return like.type is have.type and len(like.items) == len(have.items) and all(
            map(_is_alike, like.items, have.items))
    if isinstance(like, Mapping) and isinstance(have, Mapping):
        return like.keys == have.keys and all(map(_is_alike, like.items, have.items))
    if not isinstance(like, (Array, Scalar)) or not isinstance(have, (Array, Scalar)) or shape_of(like) is None:
        return False
    return shape_of(like) == shape_of(have) and dtype_of(like) is not None and dtype_of(like) == dtype_of(have)


# --- forward --------------------------------------------------------------------------------------------------------


def forward(forwarder: Forwarder, rule: Rule, target: ir.Var, value: ir.Call, span: ir.Span | None) -> None:
    """The tangent of a call's result that the pushforward of a rule gives."""
    args = _positional(value, span)
    for key, atom in value.kwargs:
        if forwarder.is_active(atom) and is_inexact(forwarder.context.value(atom)):
            raise error("S2S203", span=span, name=rule.name, keyword=key)
    moving = tuple(map(forwarder.is_active, args))
    if not any(moving):
        return
    keys = tuple(key for key, _ in value.kwargs if key is not None)
    atoms: list[Any] = [target, tuple(forwarder.whole(a, span) for a in args), *args, *(a for _, a in value.kwargs)]
    pushforward, to = user_rules.pushforward_of(rule, moving), Destination(forwarder.builder)
    made = forwarder.bodies.of_user(pushforward, atoms, keys, span, to, anonymous=rule.pushforward is None)
    if made is None:
        call, known = forwarder.bodies.call_of_user(pushforward, atoms, keys, to)
        made = forwarder.builder.let(call, known, "%", span)
    forwarder.put_all(target, _fitted_tangent(forwarder, made, target, user_rules.place_of(rule), span), span)


def _fitted_tangent(forwarder: Forwarder, dot: ir.Atom, target: ir.Var, place: str, span: ir.Span | None) -> ir.Atom:
    """A tangent that is known to have the shape of its variable, or is tested for it when the program runs."""
    like, have = forwarder.context.value(target), forwarder.context.value(dot)
    if isinstance(like, (Array, Scalar)) and shape_of(like) is not None and shape_of(have) == shape_of(like):
        return dot
    problem = misfit(like, have, isinstance(have, Sequence), False)
    if problem is not None:
        raise error("S2S522", span=span, name=place, what="tangent", got=problem[0], expected=problem[1])
    return forwarder.builder.call(rt.fit_dot, dot, target, ir.Const(place), span=span)
