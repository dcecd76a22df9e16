"""Rules of users in code that is differentiated: what is known of a call of ``s2s.custom_gradient`` and its kin, and
of the tests of what a rule gives, before it is left to the rule table."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from s2s import runtime as rt
from s2s.analysis.abstract.lattice import shape_of
from s2s.builder import cotangents
from s2s.core import ir
from s2s.core.public import function, key_of
from s2s.core.values import UNKNOWN, Array, Scalar, Unknown
from s2s.directives import user_rules
from s2s.errors import error
from s2s.rules import table
from s2s.specialize.calls import derivatives
from s2s.specialize.calls.handing_over import check_handed_over
from s2s.specialize.calls.user_rule_bodies import RULES, misfit, parts
from s2s.specialize.heap import making
from s2s.specialize.site import CallSite

if TYPE_CHECKING:
    from s2s.specialize.site import At
    from s2s.specialize.specializer import Specializer

__all__ = ["TRANSFORMS"]


# --- checks ---------------------------------------------------------------------------------------------------------


def _fit(self: Specializer, at: At, fn: Any, args: list[ir.Atom], kwargs: dict[Any, ir.Atom]) -> ir.Atom | None:
    """``rt.fit_bar(c, argument, rule)`` and ``rt.fit_dot``: nothing where kinds and shapes are known to fit, a test
    when the program runs where they are not; containers item by item."""
    given, like, place = args
    known, mine = self.context.value(like), self.context.value(given)
    if given == ir.Const(None) and fn is rt.fit_bar:
        return at.builder.call(rt.zeros_of, at.builder.frozen(like), span=at.span)
    if given == ir.Const(None) and isinstance(known, (Array, Scalar)) and isinstance(place, ir.Const):
        expected = "an array or a number"
        raise error("S2S522", span=at.span, name=place.value, what="tangent", got="None", expected=expected)
    whole, mine_in_parts = derivatives.parts(self, at, like), derivatives.parts(self, at, given)
    if whole is not None and mine_in_parts is not None and whole[1].keys() == mine_in_parts[1].keys():
        items = [_item(self, at, fn, mine_in_parts[1][k], whole[1][k], place) for k in whole[1]]
        return derivatives.together(self, at, whole[0], tuple(whole[1]), items)
    if isinstance(known, (Array, Scalar)) and shape_of(known) is not None and shape_of(known) == shape_of(mine):
        return cotangents.fit_dtype(at.builder, given, known, at.span)
    problem = misfit(known, mine, mine_in_parts is not None, whole is not None)
    if problem is not None and isinstance(place, ir.Const):
        what = "cotangent" if fn is rt.fit_bar else "tangent"
        raise error("S2S522", span=at.span, name=place.value, what=what, got=problem[0], expected=problem[1])
    call = ir.Call(ir.Const(fn), (at.builder.frozen(given), at.builder.frozen(like), place))
    known = known if isinstance(known, (Array, Scalar)) else UNKNOWN  # no object on the heap: this is another one
    found = at.builder.let(call, known, at.name, at.span, self.context.is_varied(given))
    self.context.kept.add(found)  # type: ignore[arg-type]
    return found


def _item(self: Specializer, at: At, fn: Any, given: ir.Atom, like: ir.Atom, place: ir.Atom) -> ir.Atom:
    return self.apply(ir.Const(fn), [given, like, place], {}, at.frame, at.builder, at.span)


def _as_cotangents(
    self: Specializer, at: At, fn: Any, args: list[ir.Atom], kwargs: dict[Any, ir.Atom]
) -> ir.Atom | None:
    """``custom.cotangents(bars, count, rule)`` and ``custom.one_cotangent(bars)``: a tuple."""
    bars, count, place = args if len(args) == 3 else (*args, ir.Const(1), ir.Const(""))
    if not isinstance(count, ir.Const) or not isinstance(place, ir.Const):
        return None
    return derivatives.together(
        self, at, tuple, tuple(range(count.value)), parts(self, bars, count.value, place.value, at.builder, at.span)
    )


def _custom_gradient(
    self: Specializer, at: At, fn: Any, args: list[ir.Atom], kwargs: dict[Any, ir.Atom]
) -> ir.Atom | None:
    """``s2s.custom_gradient(f)`` of a nested function: what ``value_of`` makes of it."""
    if len(args) != 1 or kwargs:
        return None
    if isinstance(args[0], ir.Const):
        return ir.Const(user_rules.custom_gradient(args[0].value))
    made = ir.Call(ir.Const(functools.partial), (ir.Const(user_rules.value_of), args[0]))
    var = self.context.define(args[0].name, UNKNOWN, self.context.is_varied(args[0]), made)
    self.context.virtual_closures[var] = lambda builder: builder.let(made, UNKNOWN, args[0].name, at.span)  # type: ignore[union-attr]
    return var


def _gradient_form(
    self: Specializer, at: At, fn: Any, args: list[ir.Atom], kwargs: dict[Any, ir.Atom]
) -> ir.Atom | None:
    """``custom.by_gradient`` and ``custom.by_nested_gradient``, met in code that is differentiated."""
    return RULES[fn](self, fn, args, kwargs, at.frame, at.builder, at.span)


def _call_again(self: Specializer, at: At, fn: Any, args: list[ir.Atom], kwargs: dict[Any, ir.Atom]) -> ir.Atom | None:
    """``rt.call(f, *args)`` in a derivative that is differentiated, where ``f`` gives its gradient: its value, and the
    pullback as a function of the arguments."""
    f = args[0].value if isinstance(args[0], ir.Const) else None
    if not user_rules.gives_gradient(f) or not any(map(self.context.is_varied, (*args, *kwargs.values()))):
        return derivatives.TRANSFORMS[key_of(fn)](self, at, fn, args, kwargs)
    out = self.apply(args[0], args[1:], dict(kwargs), at.frame, at.builder, at.span, at.name)
    given = derivatives.together(self, at, tuple, tuple(range(len(args) - 1)), args[1:])
    named = making.new_dict(self, at, dict(kwargs))
    made = ir.Call(ir.Const(functools.partial), (ir.Const(user_rules.pull_again), args[0], given, named))
    pullback = self.context.define("%_pullback", UNKNOWN, True, made)
    self.context.virtual_closures[pullback] = lambda builder: builder.let(
        ir.map_atoms(made, builder.frozen), UNKNOWN, "%_pullback", at.span, True)
    return making.new_list(self, at, (out, pullback), tuple)


def _pull_again(self: Specializer, at: At, fn: Any, args: list[ir.Atom], kwargs: dict[Any, ir.Atom]) -> ir.Atom | None:
    """``custom.pull_again(f, args, kwargs, g)``: what the pullback gives, in place; None for the keywords."""
    f, given, named, g = args
    positional, entries = self.items.known(given, at.builder, at.span), self.items.entries(named, at.builder, at.span)
    if not isinstance(f, ir.Const) or positional is None or entries is None:
        return None
    rule = table.rule_of_user(f.value)
    assert rule is not None
    pulled, skipped, place = [ir.Const(None), g, *positional], user_rules.left_out(rule), user_rules.place_of(rule)
    bars = self.apply(ir.Const(rule.pullback), pulled, dict(entries), at.frame, at.builder, at.span)
    pieces = parts(self, bars, len(positional) - skipped, place, at.builder, at.span)
    fitting: list[ir.Atom] = [ir.Const(None)] * skipped
    fitting += [_item(self, at, rt.fit_bar, c, x, ir.Const(place)) for c, x in zip(pieces, positional[skipped:])]
    return derivatives.together(self, at, tuple, tuple(range(len(fitting) + len(entries))), [
        *fitting, *(ir.Const(None) for _ in entries)])


def _push_again(self: Specializer, at: At, fn: Any, args: list[ir.Atom], kwargs: dict[Any, ir.Atom]) -> ir.Atom | None:
    """``rt.push(f, name, values, dots, keys)`` in a derivative that is differentiated, where ``f`` gives its gradient.
    """
    f, _, values, dots, names = args
    rule = table.rule_of_user(f.value) if isinstance(f, ir.Const) and user_rules.gives_gradient(f.value) else None
    given, moved, keys = (self.items.known(a, at.builder, at.span) for a in (values, dots, names))
    if rule is None or given is None or moved is None or keys is None:
        return derivatives.TRANSFORMS[key_of(fn)](self, at, fn, args, kwargs)
    count = len(given) - len(keys)
    named: dict[Any, ir.Atom] = {k.value: a for k, a in zip(keys, given[count:]) if isinstance(k, ir.Const)}
    out = self.apply(f, given[:count], dict(named), at.frame, at.builder, at.span, at.name)
    moving = tuple(dot != ir.Const(None) for dot in moved[:count])
    tangents = derivatives.together(self, at, tuple, tuple(range(count)), moved[:count])
    push = ir.Const(user_rules.pushforward_of(rule, moving))
    dot = self.apply(push, [out, tangents, *given[:count]], named, at.frame, at.builder, at.span)
    return making.new_list(self, at, (out, dot), tuple)


def _of_solution(self: Specializer, at: At, fn: Any, args: list[ir.Atom], kwargs: dict[Any, ir.Atom]) -> ir.Atom | None:
    """``equations.cotangents_of_solution`` and ``tangent_of_solution``: differentiated when the program runs, where it
    is not known what the unknown is."""
    known = self.context.value(args[2])
    if not isinstance(known, Unknown) and not (isinstance(known, Array) and known.shape is None):
        return None
    given = [*args, *kwargs.values()]
    check_handed_over(ir.Const(fn), given, any(map(self.context.is_varied, given)), at.builder, at.span)
    return CallSite(self, ir.Const(fn), args, kwargs, at.frame, at.builder, at.span, at.name).leave(harmless=True)


def _implicit(self: Specializer, at: At, fn: Any, args: list[ir.Atom], kwargs: dict[Any, ir.Atom]) -> ir.Atom | None:
    """``s2s.implicit(solver, residual)`` of nested functions: what ``solution_of`` makes of them."""
    given = dict(zip(("solver", "residual"), args)) | kwargs
    if not {"solver", "residual"} <= given.keys() or not given.keys() <= {"solver", "residual", "linear_solve"}:
        return None
    parts = [given["solver"], given["residual"], given.get("linear_solve", ir.Const(None))]
    for part in parts[1:]:  # the solver may start from anything
        if self.context.is_varied(part):
            raise error("S2S143", span=at.span, asked_by=at.frame.called_from, hint=_AS_ARGUMENT)
    if all(isinstance(part, ir.Const) for part in parts):
        solver, residual, linear_solve = (part.value for part in parts)  # type: ignore[union-attr]
        return ir.Const(function("implicit")(solver, residual, linear_solve=linear_solve))
    made = ir.Call(ir.Const(functools.partial), (ir.Const(function("solution_of")), *parts))
    var = self.context.define(at.name, UNKNOWN, False, made)
    self.context.virtual_closures[var] = lambda builder: builder.let(
        ir.map_atoms(made, builder.frozen), UNKNOWN, at.name, at.span)
    return var


_AS_ARGUMENT = "give what the residual reads to the solver and to the residual as an argument"


def _by_code(self: Specializer, at: At, fn: Any, args: list[ir.Atom], kwargs: dict[Any, ir.Atom]) -> ir.Atom | None:
    """A transposed rule that is called when the program runs, in a derivative that is differentiated: its code."""
    if not any(map(self.context.is_varied, args)):
        return None
    backwards = fn is user_rules.cotangents_by_pushforward
    by_code = user_rules.cotangents_by_tangent if backwards else user_rules.tangent_by_cotangents
    return self.apply(ir.Const(by_code), args, dict(kwargs), at.frame, at.builder, at.span, at.name)


def _refuse(self: Specializer, at: At, fn: Any, args: list[ir.Atom], kwargs: dict[Any, ir.Atom]) -> ir.Atom | None:
    """A rule that is given inside a function that is differentiated: which calls it is for would depend on the run."""
    construct = f"`s2s.{fn.__name__}` inside a function"
    raise error("S2S101", span=at.span, asked_by=at.frame.called_from, construct=construct, hint=_OUTSIDE)


_OUTSIDE = "give the rule where the function is defined, at the level of the module"

TRANSFORMS: dict[Any, Any] = {
    user_rules.custom_gradient: _custom_gradient, user_rules.defvjp: _refuse, user_rules.defjvp: _refuse,
    user_rules.cotangents_by_pushforward: _by_code, user_rules.tangent_by_pullback: _by_code,
    "implicit": _implicit, "cotangents_of_solution": _of_solution,
    "tangent_of_solution": _of_solution, user_rules.partials: _refuse, user_rules.cotangents: _as_cotangents,
    rt.call: _call_again, rt.push: _push_again, user_rules.pull_again: _pull_again,
    user_rules.by_gradient: _gradient_form, user_rules.by_nested_gradient: _gradient_form,
    user_rules.one_cotangent: _as_cotangents, rt.fit_bar: _fit, rt.fit_dot: _fit,
}
"""What is looked at before a call is left to its rule."""
