"""Rules of users in code that is differentiated: what is known of a call of ``s2s.custom_gradient`` and its kin, and
of the tests of what a rule gives, before it is left to the rule table."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from s2s import runtime as rt
from s2s.analysis.abstract.lattice import shape_of
from s2s.builder import cotangents
from s2s.core import ir
from s2s.core.public import function
from s2s.core.values import UNKNOWN, Array, Scalar, Unknown
from s2s.directives import user_rules
from s2s.errors import error
from s2s.rules import table
from s2s.specialize.calls import derivative_parts
from s2s.specialize.calls.derivative_parts import together
from s2s.specialize.calls.derivatives_at_run_time import call_again, push_again
from s2s.specialize.calls.handing_over import check_handed_over
from s2s.specialize.calls.user_rule_bodies import by_gradient, by_nested_gradient, misfit, parts
from s2s.specialize.heap import making
from s2s.specialize.site import CallSite, Handler

if TYPE_CHECKING:
    from s2s.specialize.site import At

__all__ = ["HANDLERS"]


# --- checks ---------------------------------------------------------------------------------------------------------


def _fit(site: CallSite) -> ir.Atom | None:
    """``rt.fit_bar(c, argument, rule)`` and ``rt.fit_dot``: nothing where kinds and shapes are known to fit, a test
    when the program runs where they are not; containers item by item."""
    fn = site.fn
    given, like, place = site.args
    known, mine = site.value(like), site.value(given)
    if given == ir.Const(None) and fn is rt.fit_bar:
        return site.compute(rt.zeros_of, site.builder.frozen(like))
    if given == ir.Const(None) and isinstance(known, (Array, Scalar)) and isinstance(place, ir.Const):
        expected = "an array or a number"
        raise error("S2S522", span=site.span, name=place.value, what="tangent", got="None", expected=expected)
    whole, mine_in_parts = derivative_parts.parts(site, like), derivative_parts.parts(site, given)
    if whole is not None and mine_in_parts is not None and whole[1].keys() == mine_in_parts[1].keys():
        items = [_item(site, fn, mine_in_parts[1][k], whole[1][k], place) for k in whole[1]]
        return together(site, whole[0], tuple(whole[1]), items)
    if isinstance(known, (Array, Scalar)) and shape_of(known) is not None and shape_of(known) == shape_of(mine):
        return cotangents.fit_dtype(site.builder, given, known, site.span)
    problem = misfit(known, mine, mine_in_parts is not None, whole is not None)
    if problem is not None and isinstance(place, ir.Const):
        what = "cotangent" if fn is rt.fit_bar else "tangent"
        raise error("S2S522", span=site.span, name=place.value, what=what, got=problem[0], expected=problem[1])
    call = ir.Call(ir.Const(fn), (site.builder.frozen(given), site.builder.frozen(like), place))
    known = known if isinstance(known, (Array, Scalar)) else UNKNOWN  # no object on the heap: this is another one
    found = site.builder.let(call, known, site.name, site.span, site.context.is_varied(given))
    site.context.must_keep.add(found)  # type: ignore[arg-type]
    return found


def _item(at: At, fn: Any, given: ir.Atom, like: ir.Atom, place: ir.Atom) -> ir.Atom:
    return at.apply(fn, given, like, place)


def _as_cotangents(site: CallSite) -> ir.Atom | None:
    """``custom.cotangents(bars, count, rule)`` and ``custom.one_cotangent(bars)``: a tuple."""
    args = site.args
    bars, count, place = args if len(args) == 3 else (*args, ir.Const(1), ir.Const(""))
    if not isinstance(count, ir.Const) or not isinstance(place, ir.Const):
        return None
    return together(
        site, tuple, tuple(range(count.value)), parts(site, bars, count.value, place.value)
    )


def _custom_gradient(site: CallSite) -> ir.Atom | None:
    """``s2s.custom_gradient(f)`` of a nested function: what ``value_of`` makes of it."""
    args = site.args
    if len(args) != 1 or site.kwargs:
        return None
    if isinstance(args[0], ir.Const):
        return ir.Const(user_rules.custom_gradient(args[0].value))
    made = ir.Call(ir.Const(functools.partial), (ir.Const(user_rules.value_of), args[0]))
    var = site.context.define(args[0].name, UNKNOWN, site.context.is_varied(args[0]), made)
    site.context.virtual_closures[var] = lambda builder: builder.let(made, UNKNOWN, args[0].name, site.span)  # type: ignore[union-attr]
    return var


def _call_again(site: CallSite) -> ir.Atom | None:
    """``rt.call(f, *args)`` in a derivative that is differentiated, where ``f`` gives its gradient: its value, and the
    pullback as a function of the arguments."""
    args, kwargs = site.args, site.kwargs
    f = args[0].value if isinstance(args[0], ir.Const) else None
    if not user_rules.gives_gradient(f) or not any(map(site.context.is_varied, (*args, *kwargs.values()))):
        return call_again(site)
    out = site.result_of_atom(args[0], args[1:], dict(kwargs))
    given = together(site, tuple, tuple(range(len(args) - 1)), args[1:])
    named = making.new_dict(site, dict(kwargs))
    made = ir.Call(ir.Const(functools.partial), (ir.Const(user_rules.pull_again), args[0], given, named))
    pullback = site.context.define("%_pullback", UNKNOWN, True, made)
    site.context.virtual_closures[pullback] = lambda builder: builder.let(
        ir.map_atoms(made, builder.frozen), UNKNOWN, "%_pullback", site.span, True)
    return making.new_list(site, (out, pullback), tuple)


def _pull_again(site: CallSite) -> ir.Atom | None:
    """``custom.pull_again(f, args, kwargs, g)``: what the pullback gives, in place; None for the keywords."""
    f, given, named, g = site.args
    positional, entries = site.items(given), site.entries(named)
    if not isinstance(f, ir.Const) or positional is None or entries is None:
        return None
    rule = table.rule_of_user(f.value)
    assert rule is not None
    pulled, skipped, place = [ir.Const(None), g, *positional], user_rules.left_out(rule), user_rules.place_of(rule)
    bars = site.apply_atom(ir.Const(rule.pullback), pulled, dict(entries))
    pieces = parts(site, bars, len(positional) - skipped, place)
    fitting: list[ir.Atom] = [ir.Const(None)] * skipped
    fitting += [_item(site, rt.fit_bar, c, x, ir.Const(place)) for c, x in zip(pieces, positional[skipped:])]
    return together(site, tuple, tuple(range(len(fitting) + len(entries))), [
        *fitting, *(ir.Const(None) for _ in entries)])


def _push_again(site: CallSite) -> ir.Atom | None:
    """``rt.push(f, name, values, dots, keys)`` in a derivative that is differentiated, where ``f`` gives its gradient.
    """
    f, _, values, dots, names = site.args
    rule = table.rule_of_user(f.value) if isinstance(f, ir.Const) and user_rules.gives_gradient(f.value) else None
    given, moved, keys = (site.items(a) for a in (values, dots, names))
    if rule is None or given is None or moved is None or keys is None:
        return push_again(site)
    count = len(given) - len(keys)
    named: dict[Any, ir.Atom] = {k.value: a for k, a in zip(keys, given[count:]) if isinstance(k, ir.Const)}
    out = site.result_of_atom(f, given[:count], dict(named))
    moving = tuple(dot != ir.Const(None) for dot in moved[:count])
    tangents = together(site, tuple, tuple(range(count)), moved[:count])
    push = ir.Const(user_rules.pushforward_of(rule, moving))
    dot = site.apply_atom(push, [out, tangents, *given[:count]], named)
    return making.new_list(site, (out, dot), tuple)


def _of_solution(site: CallSite) -> ir.Atom | None:
    """``equations.cotangents_of_solution`` and ``tangent_of_solution``: differentiated when the program runs, where it
    is not known what the unknown is."""
    args = site.args
    known = site.value(args[2])
    if not isinstance(known, Unknown) and not (isinstance(known, Array) and known.shape is None):
        return site.inline(site.fn, args, site.kwargs)
    given = [*args, *site.kwargs.values()]
    check_handed_over(ir.Const(site.fn), given, any(map(site.context.is_varied, given)), site.builder, site.span)
    return site.call(site.fn, args, site.kwargs).leave(harmless=True)


def _implicit(site: CallSite) -> ir.Atom | None:
    """``s2s.implicit(solver, residual)`` of nested functions: what ``solution_of`` makes of them."""
    given = dict(zip(("solver", "residual"), site.args)) | site.kwargs
    if not {"solver", "residual"} <= given.keys() or not given.keys() <= {"solver", "residual", "linear_solve"}:
        return None
    parts = [given["solver"], given["residual"], given.get("linear_solve", ir.Const(None))]
    for part in parts[1:]:  # the solver may start from anything
        if site.context.is_varied(part):
            raise site.refusal("S2S143", hint=_AS_ARGUMENT)
    if all(isinstance(part, ir.Const) for part in parts):
        solver, residual, linear_solve = (part.value for part in parts)  # type: ignore[union-attr]
        return ir.Const(function("implicit")(solver, residual, linear_solve=linear_solve))
    made = ir.Call(ir.Const(functools.partial), (ir.Const(function("solution_of")), *parts))
    var = site.context.define(site.name, UNKNOWN, False, made)
    site.context.virtual_closures[var] = lambda builder: builder.let(
        ir.map_atoms(made, builder.frozen), UNKNOWN, site.name, site.span)
    return var


_AS_ARGUMENT = "give what the residual reads to the solver and to the residual as an argument"


def _by_code(site: CallSite) -> ir.Atom | None:
    """A transposed rule that is called when the program runs, in a derivative that is differentiated: its code."""
    if not any(map(site.context.is_varied, site.args)):
        return None
    backwards = site.fn is user_rules.cotangents_by_pushforward
    by_code = user_rules.cotangents_by_tangent if backwards else user_rules.tangent_by_cotangents
    return site.result_of(by_code, site.args, dict(site.kwargs))


def _refuse(site: CallSite) -> ir.Atom | None:
    """A rule that is given inside a function that is differentiated: which calls it is for would depend on the run."""
    construct = f"`s2s.{site.fn.__name__}` inside a function"
    raise site.refusal("S2S101", construct=construct, hint=_OUTSIDE)


_OUTSIDE = "give the rule where the function is defined, at the level of the module"

HANDLERS: dict[Any, Handler] = {
    user_rules.custom_gradient: _custom_gradient, user_rules.defvjp: _refuse, user_rules.defjvp: _refuse,
    user_rules.cotangents_by_pushforward: _by_code, user_rules.tangent_by_pullback: _by_code,
    "implicit": _implicit, "cotangents_of_solution": _of_solution,
    "tangent_of_solution": _of_solution, user_rules.partials: _refuse, user_rules.cotangents: _as_cotangents,
    rt.call: _call_again, rt.push: _push_again, user_rules.pull_again: _pull_again,
    user_rules.by_gradient: by_gradient, user_rules.by_nested_gradient: by_nested_gradient,
    user_rules.one_cotangent: _as_cotangents, rt.fit_bar: _fit, rt.fit_dot: _fit,
}
"""What is looked at before a call is left to its rule."""
