"""Calls of functions with a rule that the user gave: they stay in the code, and whoever differentiates them finds the
rule again."""

from __future__ import annotations

import functools
import inspect
import types
from typing import TYPE_CHECKING, Any

from s2s import runtime as rt
from s2s.analysis.memory import Memory
from s2s.builder.builder import Builder, Context
from s2s.core import ir
from s2s.core.public import PublicSolution
from s2s.core.values import UNKNOWN, AbstractValue, Known
from s2s.directives import user_rules
from s2s.directives.policies import Chosen
from s2s.errors import error
from s2s.rules import table
from s2s.rules.table import Rule
from s2s.specialize.calls.user_rule_bodies import run, speculate_outcome
from s2s.specialize.frames import Frame, name_of
from s2s.specialize.outcomes import INLINE_DEPTH, MOST_EFFORT, kind_of

if TYPE_CHECKING:
    from s2s.specialize.specializer import Specializer

__all__ = ["leave_call", "watched"]


def leave_call(
    specializer: Specializer, fn: Any, args: list[Any], kwargs: dict[Any, ir.Atom], frame: Frame, builder: Builder,
    span: ir.Span | None, name: str,
) -> ir.Atom:
    """A call of a function with a rule of the user, as it is: the rule is found again by whoever differentiates the
    outcome. The function is taken to change none of its arguments."""
    given = (*args, *kwargs.values())
    varied = any(map(specializer.context.is_varied, given))
    rule = table.rule_of_user(fn)
    for key, atom in kwargs.items():
        if specializer.context.is_varied(atom) and rule is not None and rule.kind == "custom":
            raise error("S2S203", span=span, asked_by=frame.called_from, name=name_of(fn), keyword=key)
    if id(fn) not in user_rules.LEFT_OUT:  # where what the functions have captured is a constant
        specializer.check_handed_over(ir.Const(fn), [*given], varied, builder, span)
    if varied and rule is not None:
        _check_parameters(rule, fn, args, kwargs, frame, span)
    unsupported = specializer.check_rule(rule, fn, args, kwargs, span, frame) if varied else None
    if unsupported is not None:
        raise unsupported
    value = _kind_of_result(specializer, fn, args, kwargs, frame, builder)
    made = ir.Call(ir.Const(fn), tuple(map(builder.frozen, args)), tuple(
        (key, builder.frozen(atom)) for key, atom in kwargs.items()
    ))
    return builder.let(made, value, name, span, varied)


def _check_parameters(
    rule: Rule, fn: Any, args: list[Any], kwargs: dict[Any, ir.Atom], frame: Frame, span: ir.Span | None
) -> None:
    """Refuse a rule that cannot be called with what a call of its function gives it."""
    if any(isinstance(a, ir.Star) for a in args) or None in kwargs:
        return
    if isinstance(fn, PublicSolution):
        _check_residual(fn, args, frame, span)
    for given in filter(None, (rule.pullback, rule.pushforward)):
        if isinstance(given, functools.partial):  # made of what the user wrote, which is called in another way
            continue
        try:
            inspect.signature(given).bind(None, None, *args, **kwargs)
        except TypeError as problem:
            said = fn.how if isinstance(fn, Chosen) else f"the rule {user_rules.text_of(given)}"
            raise error(
                "S2S546", span=span, asked_by=frame.called_from, rule=said,
                name=name_of(fn.func if isinstance(fn, Chosen) else fn), problem=problem,
            ) from None
        except ValueError:  # a function without a signature
            continue


def _check_residual(fn: Any, args: list[Any], frame: Frame, span: ir.Span | None) -> None:
    """The same for the residual of an implicit equation."""
    try:
        inspect.signature(fn.residual).bind(None, *args)
    except TypeError as problem:
        raise error(
            "S2S546", span=span, asked_by=frame.called_from, rule=f"the residual {user_rules.text_of(fn.residual)}",
            name=user_rules.text_of(fn.func), problem=problem, hint="write it as residual(x, *args)",
        ) from None
    except ValueError:  # a function without a signature
        return


def _kind_of_result(
    specializer: Specializer, fn: Any, args: list[ir.Atom], kwargs: dict[Any, ir.Atom], frame: Frame, builder: Builder
) -> AbstractValue:
    """What is known of the result: what the source of the function says, without its being called."""
    if user_rules.gives_gradient(fn):
        return _kind_of_value(specializer, fn, args, kwargs, frame, builder)
    fn = fn.func if isinstance(fn, Chosen) else fn
    python = getattr(fn, "__wrapped__", None) if not isinstance(fn, types.FunctionType) else fn
    found: AbstractValue = UNKNOWN
    if isinstance(python, types.FunctionType):
        calls = specializer.active_calls
        if python not in calls and len(calls) < INLINE_DEPTH and specializer.effort <= MOST_EFFORT:
            with speculate_outcome(specializer) as inner:
                made = specializer.inline(python, args, kwargs, frame, inner, None)
                found = kind_of(specializer.context.value(inner.frozen(made)))
    else:
        known = specializer.context.value
        values = tuple(map(known, args)), {k: known(a) for k, a in kwargs.items()}
        found = specializer.context.evaluator.call(fn, *values)
    return UNKNOWN if isinstance(found, Known) else found


def _kind_of_value(
    specializer: Specializer, fn: Any, args: list[ir.Atom], kwargs: dict[Any, ir.Atom], frame: Frame, builder: Builder
) -> AbstractValue:
    """What is known of the value of a function that gives its gradient beside it."""
    f, given = (ir.Const(fn.func), args) if isinstance(fn, user_rules.CustomGradient) else (args[0], args[1:])
    with speculate_outcome(specializer) as inner:
        both = specializer.static_items(run(specializer, f, given, kwargs, frame, inner, None), inner, None)
        return kind_of(specializer.context.value(both[0])) if both else UNKNOWN
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
