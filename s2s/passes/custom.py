"""Functions with a rule that the user gave: their calls stay in the code, and what differentiates them is what the rule
says.

    @s2s.defvjp(norm)                                   y = norm(x)
    def norm_vjp(out, out_bar, x):          ->          y_bar = ...
        return out_bar * x / out                        x_bar = y_bar * x / y

A rule is code of the user. Its body is specialised for the kinds of the arguments as any function is, under guards on
what it reads from outside, and inlined where that leaves a straight line; else the rule is called by name.
"""

from __future__ import annotations

import functools
import operator
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from s2s import custom, ir, ops
from s2s import runtime as rt
from s2s.analysis.lattice import shape_of
from s2s.analysis.parts import is_inexact
from s2s.analysis.values import UNKNOWN, AbstractValue, Array, Known, Scalar, Sequence
from s2s.choices import Chosen
from s2s.errors import DifferentiationError, error
from s2s.passes import cotangents, nested
from s2s.passes import heap as objects
from s2s.passes.build import Builder
from s2s.passes.crossing import Sweep
from s2s.passes.dead import drop_dead_statements
from s2s.passes.frames import Frame, name_of
from s2s.passes.guarded import Raised
from s2s.passes.templates import Template, argument, instantiate, stand_in_for
from s2s.passes.trial import outcome_of
from s2s.rules import table
from s2s.rules.table import Rule

if TYPE_CHECKING:
    from s2s.passes.containers import At
    from s2s.passes.forward import Forwarder
    from s2s.passes.reverse import Reverser
    from s2s.passes.specialize import Specializer

__all__ = ["TRANSFORMS", "check_apart", "forward", "leave_call", "may_share", "reverse"]


# --- the call -------------------------------------------------------------------------------------------------------


def leave_call(
    self: Specializer, fn: Any, args: list[Any], kwargs: dict[Any, ir.Atom], frame: Frame, builder: Builder,
    span: ir.Span | None, name: str,
) -> ir.Atom:
    """A call of a function with a rule of the user, as it is: the rule is found again by whoever differentiates the
    outcome. The function is taken to change none of its arguments."""
    given = (*args, *kwargs.values())
    varied = any(map(self.context.is_varied, given))
    for key, atom in kwargs.items():
        if self.context.is_varied(atom):
            raise error("S2S203", span=span, asked_by=frame.called_from, name=name_of(fn), keyword=key)
    self.check_handed_over(ir.Const(fn), [*given], varied, builder, span)
    value = _kind_of_result(self, fn, args, kwargs, frame, builder)
    made = ir.Call(ir.Const(fn), tuple(map(builder.frozen, args)), tuple(
        (key, builder.frozen(atom)) for key, atom in kwargs.items()
    ))
    return builder.let(made, value, name, span, varied)


def _kind_of_result(
    self: Specializer, fn: Any, args: list[ir.Atom], kwargs: dict[Any, ir.Atom], frame: Frame, builder: Builder
) -> AbstractValue:
    """What is known of the result: what the source of the function says, without its being called."""
    fn = fn.func if isinstance(fn, Chosen) else fn
    python = getattr(fn, "__wrapped__", None) if not isinstance(fn, types.FunctionType) else fn
    if isinstance(python, types.FunctionType):
        found = outcome_of(self, python, args, kwargs, frame, builder).value
    else:
        values = tuple(map(self.context.value, args)), {k: self.context.value(a) for k, a in kwargs.items()}
        found = self.context.evaluator.call(fn, *values)
    return UNKNOWN if isinstance(found, Known) else found


def may_share(memory: Any, target: ir.Var, call: ir.Call) -> bool:
    """Whether a call of a function with a rule has to be watched: its result or an argument is changed in place, which
    the other one must not see."""
    rule = table.rule_of_user(call.fn.value) if isinstance(call.fn, ir.Const) else None
    return rule is not None and any(map(memory.is_buffer, (target, *filter(_is_var, call.args))))


def check_apart(target: ir.Var, call: ir.Call, span: ir.Span | None) -> ir.Let:
    """The statement that watches it."""
    assert isinstance(call.fn, ir.Const)
    given = tuple(a for a in call.args if _is_var(a))
    return ir.Let(None, ir.Call(ir.Const(rt.check_new), (target, ir.Const(name_of(call.fn.value)), *given)), span)


def _is_var(atom: Any) -> bool:
    return isinstance(atom, ir.Var)


# --- reverse --------------------------------------------------------------------------------------------------------


def reverse(
    self: Reverser, rule: Rule, target: ir.Var, value: ir.Call, g: ir.Atom, span: ir.Span | None, sweep: Sweep
) -> None:
    """The cotangents that the pullback of a rule gives to the arguments of a call."""
    args = _positional(value, span)
    for key, atom in value.kwargs:
        if self.is_active(atom) and is_inexact(self.context.value(atom)):
            raise error("S2S203", span=span, name=rule.name, keyword=key)
    active = [k for k, a in enumerate(args) if self.is_active(a)]
    if not active:
        return
    pullback = custom.pullback_of(rule)
    atoms = [target, g, *args, *(atom for _, atom in value.kwargs)]
    keys = tuple(key for key, _ in value.kwargs if key is not None)
    found = _cotangents(self, pullback, atoms, keys, active, custom.place_of(rule), span, sweep)
    for k, piece in zip(active, found, strict=True):
        if piece != ir.Const(None):
            self.contribute(sweep, args[k], _fitted(self, sweep, piece, args[k], custom.place_of(rule), span), span)


def _positional(value: ir.Call, span: ir.Span | None) -> list[ir.Atom]:
    """The positional arguments of a call. Raises where their number is not known."""
    if any(isinstance(a, ir.Star) for a in value.args) or any(key is None for key, _ in value.kwargs):
        raise error("S2S207", span=span)
    return list(value.args)  # type: ignore[arg-type]


def _cotangents(
    self: Reverser, rule: Callable[..., Any], atoms: list[ir.Atom], keys: tuple[str, ...], active: list[int],
    place: str, span: ir.Span | None, sweep: Sweep,
) -> list[ir.Atom]:
    """What a pullback gives for the active ones of the arguments: its code inlined, or a call of it."""
    count = len(atoms) - 2 - len(keys)
    items: dict[ir.Atom, ir.Atom] = {}
    stand_ins = [stand_in_for(self, atom, items) for atom in atoms]
    scratch = Builder(self.context)

    def parts(bars: ir.Atom) -> ir.Atom:
        found = _parts(self.specializer, bars, count, place, scratch, span)
        return scratch.call(ops.make_tuple, *(found[k] for k in active))

    result = specialised(self.specializer, rule, stand_ins, keys, scratch, span, parts)
    if result is None:
        call = _call(rule, [argument(self, sweep, a) for a in atoms], keys)
        known = _kind(self.specializer, rule, stand_ins, keys)
        bars = sweep.builder.let(call, known, "%_bars", span)
        if not isinstance(known, Sequence) or len(known.items) != count:
            bars = sweep.builder.let(_counted(bars, count, place), UNKNOWN, span=span)
        return [sweep.builder.call(operator.getitem, bars, ir.Const(k), span=span) for k in active]
    live = {result} if isinstance(result, ir.Var) else set()
    kept = drop_dead_statements(scratch.statements, live, self.context)
    made = instantiate(self, Template(stand_ins, items, kept, result, False), atoms, span, sweep)
    return [sweep.builder.call(operator.getitem, made, ir.Const(k), span=span) for k in range(len(active))]


def specialised(
    self: Specializer, rule: Callable[..., Any], atoms: list[ir.Atom], keys: tuple[str, ...], builder: Builder,
    span: ir.Span | None, finish: Callable[[ir.Atom], ir.Atom],
) -> ir.Atom | None:
    """A call of a rule, specialised on what is known of its arguments, with ``finish`` applied to the result; None
    where it is no straight line, or its code cannot be followed."""
    context, count = self.context, len(atoms) - len(keys)
    outside = dict(self.guards), context.heap, context.varied, list(self.rebound)
    context.heap, context.varied = context.heap.copy(), set()
    frame = Frame(self.function, None)
    try:
        fn, args = _unwrapped(rule, atoms[:count])
        if fn is None:
            return None
        made = self.inline(fn, args, dict(zip(keys, atoms[count:], strict=True)), frame, builder, span)
        made = finish(builder.frozen(made))
        if all(isinstance(s, ir.Let) for s in builder.statements) and self.rebound == outside[3]:
            outside[0].update(self.guards)
            return made
        return None
    except (DifferentiationError, Raised) as problem:
        if isinstance(problem, DifferentiationError) and problem.diagnostic.code in custom.CODES:
            raise
        return None
    finally:
        self.guards, context.heap, context.varied, self.rebound = outside


def _kind(
    self: Specializer, rule: Callable[..., Any], atoms: list[ir.Atom], keys: tuple[str, ...]
) -> AbstractValue:
    """What is known of the result of a rule that is called by name."""
    context, outside = self.context, self.context.varied
    fn, args = _unwrapped(rule, atoms[: len(atoms) - len(keys)])
    if fn is None:
        return UNKNOWN
    context.varied = set()
    try:
        kwargs: dict[Any, ir.Atom] = dict(zip(keys, atoms[len(atoms) - len(keys) :], strict=True))
        return outcome_of(self, fn, args, kwargs, Frame(self.function, None), Builder(context)).value
    finally:
        context.varied = outside


def _call(rule: Any, atoms: list[ir.Atom], keys: tuple[str, ...]) -> ir.Call:
    """A call of a rule by name."""
    count = len(atoms) - len(keys)
    first: list[ir.Atom] = []
    while isinstance(rule, functools.partial) and not rule.keywords:
        first = [*map(ir.Const, rule.args), *first]
        rule = rule.func
    return ir.Call(ir.Const(rule), (*first, *atoms[:count]), tuple(zip(keys, atoms[count:], strict=True)))


def _unwrapped(rule: Callable[..., Any], args: list[ir.Atom]) -> tuple[types.FunctionType | None, list[ir.Atom]]:
    """The Python function that a rule comes to and its arguments; None where there is none."""
    if isinstance(rule, functools.partial) and not rule.keywords:
        return _unwrapped(rule.func, [*map(ir.Const, rule.args), *args])
    return (rule if isinstance(rule, types.FunctionType) else None), args


def _parts(
    self: Specializer, bars: ir.Atom, count: int, place: str, builder: Builder, span: ir.Span | None
) -> list[ir.Atom]:
    """The cotangents in what a pullback gives: one for each positional argument; that of a single one may be bare."""
    known, state = self.context.value(bars), objects.state_of(self.context, bars)
    is_tuple = (isinstance(known, Sequence) and known.type is tuple) or (state is not None and state.kind is tuple)
    items = self.static_items(bars, builder, span) if is_tuple else None
    if items is not None and len(items) == count:
        return items
    if state is not None and not is_tuple and count == 1:
        return [bars]
    if isinstance(known, (Array, Scalar)) or (isinstance(known, Known) and not isinstance(known.value, tuple)):
        if count == 1:
            return [bars]
        raise error("S2S521", name=place, got="one cotangent, and no tuple", expected=count)
    if items is not None and count != 1:
        raise error("S2S521", name=place, got=f"a tuple of {len(items)}", expected=count)
    varied = self.context.is_varied(bars)
    checked = builder.let(_counted(builder.frozen(bars), count, place), UNKNOWN, "%", span, varied)
    return [builder.call(operator.getitem, checked, ir.Const(k), span=span) for k in range(count)]


def _counted(bars: ir.Atom, count: int, place: str) -> ir.Call:
    """What a rule gives, of which nothing is known, as a tuple of so many."""
    if count == 1:
        return ir.Call(ir.Const(custom.one_cotangent), (bars,))
    return ir.Call(ir.Const(custom.cotangents), (bars, ir.Const(count), ir.Const(place)))


def _fitted(
    self: Reverser, sweep: Sweep, c: ir.Atom, argument: ir.Atom, place: str, span: ir.Span | None
) -> ir.Atom:
    """A cotangent in the dtype of its argument; its shape is tested when the program runs, where that is not known."""
    like, have = self.context.value(argument), self.context.value(c)
    fits = isinstance(like, (Array, Scalar)) and shape_of(like) is not None and shape_of(have) == shape_of(like)
    if fits:
        return cotangents.fit_dtype(sweep.builder, c, like, span)
    problem = _misfit(like, have, isinstance(have, Sequence), False)
    if problem is not None:
        raise error("S2S522", span=span, name=place, what="cotangent", got=problem[0], expected=problem[1])
    return sweep.builder.call(rt.fit_bar, c, self.use(sweep, self.like(argument)), ir.Const(place), span=span)


# --- forward --------------------------------------------------------------------------------------------------------


def forward(self: Forwarder, rule: Rule, target: ir.Var, value: ir.Call, span: ir.Span | None) -> None:
    """The tangent of a call's result that the pushforward of a rule gives."""
    args = _positional(value, span)
    for key, atom in value.kwargs:
        if self.is_active(atom) and is_inexact(self.context.value(atom)):
            raise error("S2S203", span=span, name=rule.name, keyword=key)
    moving = tuple(map(self.is_active, args))
    if not any(moving):
        return
    dots = [self.whole(a, span) for a in args]
    tangents = self.builder.call(ops.make_tuple, *dots, span=span)
    keys = tuple(key for key, _ in value.kwargs if key is not None)
    atoms = [target, tangents, *args, *(atom for _, atom in value.kwargs)]
    scratch, pushforward = self.builder.child(), custom.pushforward_of(rule, moving)
    made = specialised(self.specializer, pushforward, atoms, keys, scratch, span, lambda dot: dot)
    if made is not None:
        made = _write(self, scratch.statements, made, rule.pushforward is None, span)
    else:
        known = _kind(self.specializer, pushforward, atoms, keys)
        made = self.builder.let(_call(pushforward, atoms, keys), known, "%", span)
    self.put_all(target, _fitted_tangent(self, made, target, custom.place_of(rule), span), span)


def _write(
    self: Forwarder, statements: list[ir.Statement], result: ir.Atom, anonymous: bool, span: ir.Span | None
) -> ir.Atom:
    """Add the statements of a rule, at the place of the call; the names in a transposed rule say nothing to the user.
    """
    mapping: dict[ir.Atom, ir.Atom] = {}
    for s in statements:
        if not isinstance(s, ir.Let):
            continue
        value, target = ir.map_atoms(s.value, lambda a: mapping.get(a, a)), s.target
        if anonymous and target is not None and not target.is_temporary:
            target = self.context.define("%", self.context.value(target), False, value)
            mapping[s.target] = target  # type: ignore[index]
        elif target is not None:
            self.context.definitions[target] = value
        self.builder.add(ir.Let(target, value, span))
    return mapping.get(result, result)


def _fitted_tangent(self: Forwarder, dot: ir.Atom, target: ir.Var, place: str, span: ir.Span | None) -> ir.Atom:
    """A tangent that is known to have the shape of its variable, or is tested for it when the program runs."""
    like, have = self.context.value(target), self.context.value(dot)
    if isinstance(like, (Array, Scalar)) and shape_of(like) is not None and shape_of(have) == shape_of(like):
        return dot
    problem = _misfit(like, have, isinstance(have, Sequence), False)
    if problem is not None:
        raise error("S2S522", span=span, name=place, what="tangent", got=problem[0], expected=problem[1])
    return self.builder.call(rt.fit_dot, dot, target, ir.Const(place), span=span)


# --- checks ---------------------------------------------------------------------------------------------------------


def _fit(self: Specializer, at: At, fn: Any, args: list[ir.Atom], kwargs: dict[Any, ir.Atom]) -> ir.Atom | None:
    """``rt.fit_bar(c, argument, rule)`` and ``rt.fit_dot``: nothing where kinds and shapes are known to fit, a test
    when the program runs where they are not; containers item by item."""
    given, like, place = args
    known, mine = self.context.value(like), self.context.value(given)
    if given == ir.Const(None) and fn is rt.fit_bar:
        return at.builder.call(rt.zeros_of, at.builder.frozen(like), span=at.span)
    whole, parts = nested.parts(self, at, like), nested.parts(self, at, given)
    if whole is not None and parts is not None and whole[1].keys() == parts[1].keys():
        items = [_item(self, at, fn, parts[1][k], whole[1][k], place) for k in whole[1]]
        return nested.together(self, at, whole[0], tuple(whole[1]), items)
    if isinstance(known, (Array, Scalar)) and shape_of(known) is not None and shape_of(known) == shape_of(mine):
        return cotangents.fit_dtype(at.builder, given, known, at.span)
    problem = _misfit(known, mine, parts is not None, whole is not None)
    if problem is not None and isinstance(place, ir.Const):
        what = "cotangent" if fn is rt.fit_bar else "tangent"
        raise error("S2S522", span=at.span, name=place.value, what=what, got=problem[0], expected=problem[1])
    call = ir.Call(ir.Const(fn), (at.builder.frozen(given), at.builder.frozen(like), place))
    found = at.builder.let(call, known, at.name, at.span, self.context.is_varied(given))
    self.context.kept.add(found)  # type: ignore[arg-type]
    return found


def _misfit(like: AbstractValue, given: AbstractValue, has_parts: bool, wants_parts: bool) -> tuple[str, str] | None:
    """Two kinds that cannot fit, in words: a container and a number, arrays of other ranks; None where they may."""
    shape, mine = shape_of(like), shape_of(given)
    if wants_parts or not isinstance(like, (Array, Scalar)) or shape is None:
        return None
    expected = f"{len(shape)} dimensions" if shape else "a number"
    if has_parts:
        return "a container", expected
    if isinstance(given, (Array, Scalar)) and mine is not None and len(mine) != len(shape):
        return f"{len(mine)} dimensions" if mine else "a number", expected
    return None


def _item(self: Specializer, at: At, fn: Any, given: ir.Atom, like: ir.Atom, place: ir.Atom) -> ir.Atom:
    return self.apply(ir.Const(fn), [given, like, place], {}, at.frame, at.builder, at.span)


def _as_cotangents(
    self: Specializer, at: At, fn: Any, args: list[ir.Atom], kwargs: dict[Any, ir.Atom]
) -> ir.Atom | None:
    """``custom.cotangents(bars, count, rule)`` and ``custom.one_cotangent(bars)``: a tuple."""
    bars, count, place = args if len(args) == 3 else (*args, ir.Const(1), ir.Const(""))
    if not isinstance(count, ir.Const) or not isinstance(place, ir.Const):
        return None
    return nested.together(
        self, at, tuple, tuple(range(count.value)), _parts(self, bars, count.value, place.value, at.builder, at.span)
    )


def _refuse(self: Specializer, at: At, fn: Any, args: list[ir.Atom], kwargs: dict[Any, ir.Atom]) -> ir.Atom | None:
    """A rule that is given inside a function that is differentiated: which calls it is for would depend on the run."""
    construct = f"`s2s.{fn.__name__}` inside a function"
    raise error("S2S101", span=at.span, asked_by=at.frame.called_from, construct=construct, hint=_OUTSIDE)


_OUTSIDE = "give the rule where the function is defined, at the level of the module"

TRANSFORMS: dict[Any, Any] = {
    custom.defvjp: _refuse, custom.defjvp: _refuse, custom.cotangents: _as_cotangents,
    custom.one_cotangent: _as_cotangents, rt.fit_bar: _fit, rt.fit_dot: _fit,
}
"""What is looked at before a call is left to its rule."""
