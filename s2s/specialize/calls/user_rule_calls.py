"""Calls of functions with a rule that the user gave: they stay in the code, and whoever differentiates them finds the
rule again."""

from __future__ import annotations

import functools
import types

from s2s import runtime as rt
from s2s.analysis.memory import Memory
from s2s.builder.builder import Context
from s2s.core import ir
from s2s.core.annotated import signature_of
from s2s.core.public import PublicSolution
from s2s.core.values import UNKNOWN, AbstractValue, Known
from s2s.directives import user_rules
from s2s.directives.policies import Chosen
from s2s.rules import table
from s2s.rules.table import Rule
from s2s.specialize.calls.handing_over import check_handed_over
from s2s.specialize.calls.rule_arguments import unsupported
from s2s.specialize.calls.user_rule_bodies import run, speculate_outcome
from s2s.specialize.frames import name_of
from s2s.specialize.outcomes import INLINE_DEPTH, MOST_EFFORT, kind_of
from s2s.specialize.site import At, CallSite

__all__ = ["leave_call", "watched"]


def leave_call(site: CallSite) -> ir.Atom:
    """A call of a function with a rule of the user, as it is: the rule is found again by whoever differentiates the
    outcome. The function is taken to change none of its arguments."""
    fn, context, builder, varied = site.fn, site.context, site.builder, site.is_varied
    rule = table.rule_of_user(fn)
    for key, atom in site.kwargs.items():
        if context.is_varied(atom) and rule is not None and rule.kind == "custom":
            raise site.refusal("S2S203", name=name_of(fn), keyword=key)
    if id(fn) not in user_rules.LEFT_OUT:  # where what the functions have captured is a constant
        check_handed_over(ir.Const(fn), site.given, varied, builder, site.span)
    if varied and rule is not None:
        _check_parameters(site, rule)
    refusal = unsupported(site, rule) if varied else None
    if refusal is not None:
        raise refusal
    value = _kind_of_result(site)
    made = ir.Call(ir.Const(fn), tuple(map(builder.frozen, site.args)), tuple(
        (key, builder.frozen(atom)) for key, atom in site.kwargs.items()
    ))
    return builder.let(made, value, site.name, site.span, varied)


def _check_parameters(site: CallSite, rule: Rule) -> None:
    """Refuse a rule that cannot be called with what a call of its function gives it."""
    fn = site.fn
    if site.is_spread:
        return
    if isinstance(fn, PublicSolution):
        _check_residual(site)
    for given in filter(None, (rule.pullback, rule.pushforward)):
        if isinstance(given, functools.partial):  # made of what the user wrote, which is called in another way
            continue
        try:
            signature_of(given).bind(None, None, *site.args, **site.kwargs)
        except TypeError as problem:
            said = fn.how if isinstance(fn, Chosen) else f"the rule {user_rules.text_of(given)}"
            name = name_of(fn.func if isinstance(fn, Chosen) else fn)
            raise site.refusal("S2S546", rule=said, name=name, problem=problem) from None
        except ValueError:  # a function without a signature
            continue


def _check_residual(site: CallSite) -> None:
    """The same for the residual of an implicit equation."""
    residual = site.fn.residual
    try:
        signature_of(residual).bind(None, *site.args)
    except TypeError as problem:
        raise site.refusal(
            "S2S546", rule=f"the residual {user_rules.text_of(residual)}", name=user_rules.text_of(site.fn.func),
            problem=problem, hint="write it as residual(x, *args)",
        ) from None
    except ValueError:  # a function without a signature
        return


def _kind_of_result(site: CallSite) -> AbstractValue:
    """What is known of the result: what the source of the function says, without its being called."""
    specializer, fn = site.specializer, site.fn
    if user_rules.gives_gradient(fn):
        return _kind_of_value(site)
    fn = fn.func if isinstance(fn, Chosen) else fn
    python = getattr(fn, "__wrapped__", None) if not isinstance(fn, types.FunctionType) else fn
    found: AbstractValue = UNKNOWN
    if isinstance(python, types.FunctionType):
        calls = specializer.inliner.active_calls
        if python not in calls and len(calls) < INLINE_DEPTH and specializer.effort <= MOST_EFFORT:
            with speculate_outcome(specializer) as inner:
                made = specializer.inliner.inline(python, site.args, site.kwargs, site.frame, inner, None)
                found = kind_of(site.value(inner.frozen(made)))
    else:
        values = tuple(map(site.value, site.args)), {k: site.value(a) for k, a in site.kwargs.items()}
        found = site.context.evaluator.call(fn, *values)
    return UNKNOWN if isinstance(found, Known) else found


def _kind_of_value(site: CallSite) -> AbstractValue:
    """What is known of the value of a function that gives its gradient beside it."""
    specializer, fn, args = site.specializer, site.fn, site.args
    f, given = (ir.Const(fn.func), args) if isinstance(fn, user_rules.CustomGradient) else (args[0], args[1:])
    with speculate_outcome(specializer) as inner:
        made = run(At(specializer, site.frame, inner, None), f, given, site.kwargs)
        both = specializer.items.known(made, inner, None)
        return kind_of(site.value(both[0])) if both else UNKNOWN
    return UNKNOWN


def watched(function: ir.Function, context: Context) -> ir.Function:
    """The function with a test after each call of a function with a rule whose result or arguments are changed in
    place: they must share no memory, which is what everything after this relies on."""
    calls = [s for s in ir.walk(function.body) if isinstance(s, ir.Let) and _has_rule(s.value)]
    if not calls:
        return function
    memory = Memory(function, context.value)

    def watch(block: ir.Block) -> ir.Block:
        made: list[ir.Statement] = []
        for s in block.statements:
            made.append(ir.with_blocks(s, [watch(b) for b in ir.blocks_of(s)]))
            if isinstance(s, ir.Let) and isinstance(s.target, ir.Var) and _has_rule(s.value):
                given = [a for a in s.value.args if isinstance(a, ir.Var)]  # type: ignore[union-attr]
                if any(map(memory.is_buffer, (s.target, *given))):
                    name = ir.Const(name_of(s.value.fn.value))  # type: ignore[union-attr]
                    made.append(ir.Let(None, ir.Call(ir.Const(rt.check_new), (s.target, name, *given)), s.span))
        return ir.Block(tuple(made), block.yields)

    return ir.replace(function, body=watch(function.body))


def _has_rule(value: ir.Value) -> bool:
    fn = value.fn if isinstance(value, ir.Call) else None
    return isinstance(fn, ir.Const) and table.rule_of_user(fn.value) is not None
