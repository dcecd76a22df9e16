"""Calls for which a choice holds, or that make one.

    z = s2s.straight_through(f)(x)        ->     z = rt.differentiated_as(f(x), x)
"""

from __future__ import annotations

import contextlib
import functools
import operator
import sys
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.analysis.abstract.lattice import dtype_of, shape_of, type_of
from s2s.analysis.managers import MAKERS_OF_SAFE, is_generator_based
from s2s.builder.builder import Context
from s2s.core import ir
from s2s.core.annotated import signature_of
from s2s.core.closures import Closure
from s2s.core.inspection import is_hashable
from s2s.core.linecaches import file_to_show
from s2s.core.values import UNKNOWN, AbstractValue, Array
from s2s.directives import policies, surrogates
from s2s.directives.differentiable import differentiable
from s2s.directives.policies import BLOCKS, chosen
from s2s.directives.policy import Override, Policy
from s2s.errors import error
from s2s.specialize.calls import user_rule_calls
from s2s.specialize.calls.policies import has_decided, name_of_step, of_options
from s2s.specialize.frames import Frame, lookup
from s2s.specialize.heap.making import new_list
from s2s.specialize.site import NOT_HANDLED, At, CallSite, Handler
from s2s.versions import facts

__all__ = [
    "HANDLERS", "by_choice", "call_block", "call_chosen", "call_decorator", "call_differentiable",
    "call_straight_through", "watch",
]


def split(at: At, fn: Any, args: list[ir.Atom]) -> ir.Atom | None:
    """A call of a function that gives a rounded number and another one, where the rounded one has a policy: two calls.
    """
    place, part = surrogates.ROUNDED_PART[fn]
    if has_decided(at.specializer.frame) or not any(map(at.context.is_varied, args)):
        return None
    with at.specializer.holding.without():
        both = at.specializer.apply_plainly(at.call(fn, list(args), name="%"))
    rounded = at.apply_atom(ir.Const(part), list(args), {})
    other = at.apply(operator.getitem, both, ir.Const(1 - place))
    items = [rounded, other] if place == 0 else [other, rounded]
    return new_list(at, items, tuple)


def call(site: CallSite, how: Policy | Override) -> ir.Atom:
    """A call of a function with the derivative that was chosen for it."""
    fn, varied = site.fn, site.is_varied
    if varied and not isinstance(how, Override):
        site.specializer.holding.note(fn, how, site.span)
    if isinstance(how, Policy):
        return _by_policy(site, how)
    if isinstance(how.rule, str):
        return through(site, ir.Const(fn), how, site.args, site.kwargs)
    if varied:
        site.specializer.holding.note(fn, how, site.span)
        return user_rule_calls.leave_call(site.call(chosen(fn, how), site.args, site.kwargs))
    with site.specializer.holding.without():
        return site.instead(fn, site.args, site.kwargs)


def _by_policy(site: CallSite, how: Policy) -> ir.Atom:
    """A call with which it is said what stands for the derivative."""
    holding = site.specializer.holding
    before, holding.explicit = holding.explicit, {id(site.fn): how}
    holding.ask()
    try:
        return site.instead(site.fn, site.args, site.kwargs)
    finally:
        holding.explicit = before
        holding.ask()


def through(at: At, fn: ir.Atom, how: Override, args: list[ir.Atom], kwargs: dict[Any, ir.Atom]) -> ir.Atom:
    """A call whose result is differentiated as its first argument, or not at all."""
    known = fn.value if isinstance(fn, ir.Const) else None
    varied = any(map(at.context.is_varied, (*args, *kwargs.values())))
    if how.rule == "identity" and surrogates.is_step_of_one(known):
        if varied:
            at.specializer.holding.note(known, how, at.span)
        return _by_policy(at.call(known, args, kwargs), Policy("straight_through"))
    with at.specializer.holding.without():
        out = at.apply_atom(fn, list(args), dict(kwargs))
    if not varied:
        return out
    named = at.value(fn) if known is None else known
    at.specializer.holding.note(named, how, at.span)
    problem = None if how.rule == "zero" or not args else _unlike(at.value(args[0]), at.value(out))
    if problem is not None:
        raise at.refusal("S2S543", name=name_of_step(named), label=problem)
    if how.rule == "zero":
        return at.write(policies.stop_gradient, out)
    if not args:
        raise error("S2S543", span=at.span, name=name_of_step(named))
    made = at.write(rt.differentiated_as, out, args[0])
    shapes = [shape_of(at.value(a)) for a in (out, args[0])]
    if isinstance(made, ir.Var) and (shapes[0] is None or shapes[0] != shapes[1]):
        at.context.must_keep.add(made)  # it sees to it that the shapes are equal
    return made


def _unlike(first: AbstractValue, out: AbstractValue) -> str | None:
    """Why a result cannot have the derivative of the first argument, where that is known."""
    kind, shapes = type_of(first), (shape_of(first), shape_of(out))
    dtype = first.dtype if isinstance(first, Array) else np.dtype(kind) if kind in (int, bool) else dtype_of(first)
    if dtype is not None and dtype.kind in "biu":
        return "its first argument is an integer, which carries no derivative"
    if None not in shapes and len(shapes[0]) != len(shapes[1]):  # type: ignore[arg-type]
        ranks = ", that of the argument ".join(f"{len(shape)}" for shape in shapes[::-1] if shape is not None)
        return f"the rank of its result is {ranks}"
    return None


def make_block(site: CallSite) -> ir.Atom:
    """``s2s.nonsmooth(...)`` or ``s2s.gradient_override(...)`` in a program: made when it is compiled."""
    bound = signature_of(site.fn).bind(*site.args, **site.kwargs)
    given = [_literal(site, a) for a in bound.args]
    named = {k: _literal(site, a) for k, a in bound.kwargs.items()}
    made = site.fn(*given, **named)
    for _, how in made.choice.by_key:
        if isinstance(how, Override) and how.name:
            facts.registered(how.name, how.rule).folded(site.guards)
    made.place = f"{file_to_show(site.span.file)}:{site.span.line}" if site.span is not None else ""
    return ir.Const(made)


def _literal(at: At, atom: ir.Atom) -> Any:
    """What an option of a block is. Raises where it is known at run time only."""
    if isinstance(atom, ir.Const):
        return atom.value
    number = _number_outside(at, atom)
    if number is not None:
        return number
    entries = at.entries(atom)
    if entries is None or not all(isinstance(a, ir.Const) for a in entries.values()):
        rules = any(isinstance(at.value(a), Closure) for a in (entries or {}).values())
        hint = "define the rule outside of the function" if rules else ""
        raise at.refusal("S2S544", hint=hint)
    return {k: a.value for k, a in entries.items() if isinstance(a, ir.Const)}


def _number_outside(at: At, atom: ir.Atom) -> Any:
    """The value of a number that a global or a closure has, which is guarded; None for anything else."""
    made = at.context.definitions.get(atom) if isinstance(atom, ir.Var) else None
    if not isinstance(made, ir.Load):
        return None
    fact = lookup(made, made.owner or at.frame.fn, made.owner)
    return fact.folded(at.guards) if fact.is_(lambda found: isinstance(found, (int, float, np.number))) else None


def decorated(at: At, decorator: Any, f: ir.Atom) -> ir.Atom:
    """A function for which a choice is made where it is used: a constant, or a function that was made in the program,
    known by its definition."""
    if isinstance(f, ir.Const):
        return ir.Const(decorator(f.value))
    made = ir.Call(ir.Const(functools.partial), (ir.Const(_call_by), ir.Const(decorator), f))
    var = at.context.define(at.name, UNKNOWN, at.context.is_varied(f), made)
    at.context.virtual_closures[var] = lambda builder: builder.let(
        ir.Call(ir.Const(decorator), (f,)), UNKNOWN, at.name, at.span)
    return var


def watch(context: Context, manager: ir.Atom, maker: Any, builder: Any, span: ir.Span | None, frame: Frame) -> ir.Atom:
    """A manager that stays in the code: it is seen to that it enters no block for which choices hold. ``maker`` is what
    its call has made it, None where that is not known."""
    sides = context.choices.get(manager, ()) if isinstance(manager, ir.Var) else ()
    if any(isinstance(side, ir.Const) and isinstance(side.value, BLOCKS) for side in sides):
        raise error("S2S544", span=span, asked_by=frame.called_from, hint=_BY_BRANCH)
    if maker is not None and _enters_no_block(maker):
        return manager
    return builder.call(policies.watched, manager, span=span)  # type: ignore[no-any-return]


_BY_BRANCH = "write the block on each side of the branch"


def _enters_no_block(maker: Any) -> bool:
    """Whether what a class or a function makes is known to enter no block: it is one of Python's or NumPy's own, but
    for those of ``contextlib`` that enter others. What a function gives that makes nothing may be anything."""
    if is_generator_based(maker):
        maker = maker.__wrapped__
    elif not isinstance(maker, type):
        return maker in MAKERS_OF_SAFE
    module = (maker.__module__ or "").split(".")[0]
    if module == "contextlib":
        return isinstance(maker, type) and issubclass(maker, _ENTER_NOTHING)
    return module in ("numpy", *sys.stdlib_module_names)


_ENTER_NOTHING = (
    contextlib.nullcontext, contextlib.closing, contextlib.suppress, contextlib.redirect_stdout,
    contextlib.redirect_stderr,
)


def _call_by(decorator: Any, f: Any, /, *args: Any, **kwargs: Any) -> Any:
    """What a call of a function that was made in the program, with a choice, comes to: ``call_by`` writes it out."""
    return decorator(f)(*args, **kwargs)


def call_by(site: CallSite) -> ir.Atom:
    """A call of such a function."""
    decorator, f, *given = site.args
    assert isinstance(decorator, ir.Const)
    if decorator.value is policies.straight_through:
        return through(site, f, Override("identity"), given, site.kwargs)
    if isinstance(decorator.value, functools.partial):
        held = of_options(dict(decorator.value(_call_by).options))
    else:
        held = (decorator.value.choice,), ()
    with site.specializer.holding.inside(*held):
        return site.result_of_atom(f, list(given), dict(site.kwargs))


def decorate(site: CallSite) -> ir.Atom | None:
    """``s2s.differentiable`` in a program, with options that are known, or on a function that is made there."""
    if not all(isinstance(a, ir.Const) for a in site.kwargs.values()):
        return None
    decorator = functools.partial(site.fn, **{k: a.value for k, a in site.kwargs.items() if isinstance(a, ir.Const)})
    return decorated(site, decorator, *site.args) if site.args else ir.Const(decorator)


def refuse_entering(site: CallSite) -> ir.Atom:
    """A block that is entered by a call of its method."""
    raise site.refusal("S2S544", hint="enter it by `with`")


# --- calls for which the program has said how they are differentiated -------------------------------------------------


def call_chosen(site: CallSite) -> ir.Atom | None:
    """A function with a derivative that was chosen for it."""
    return call(site.call(site.fn.func, site.args, site.kwargs, effect=site.effect), site.fn.how)


def call_differentiable(site: CallSite) -> ir.Atom | None:
    """A function that was decorated with choices."""
    fn = site.fn
    with site.specializer.holding.inside(*of_options(dict(fn.options))):
        site.guards.reached(fn.func, fn, "func")
        return site.instead(fn.func, [*site.args], {**site.kwargs})


def call_decorator(site: CallSite) -> ir.Atom | None:
    """A block of choices that decorates a function."""
    if len(site.args) != 1 or site.kwargs:
        return NOT_HANDLED
    return decorated(site, site.fn, site.args[0])


def call_straight_through(site: CallSite) -> ir.Atom | None:
    """``s2s.straight_through(f)``."""
    return decorated(site, site.fn, *site.args)


def call_block(site: CallSite) -> ir.Atom | None:
    """A class of blocks of choices."""
    return make_block(site)


def by_choice(site: CallSite) -> ir.Atom | None:
    """A call of a function for which a choice holds at this place."""
    holding, fn = site.specializer.holding, site.fn
    asked = holding.all or holding.explicit
    if asked and holding.is_open(fn, site.args, site.kwargs):
        return site.leave()
    if not site.kwargs and is_hashable(fn) and fn in surrogates.ROUNDED_PART:
        if not isinstance(fn, np.ufunc) or len(site.args) <= fn.nin:
            parted = split(site, fn, site.args)
            if parted is not None:
                return parted
    how = holding.override(fn) if asked else None
    return NOT_HANDLED if how is None else call(site, how)


HANDLERS: dict[Any, Handler] = {_call_by: call_by, differentiable: decorate} | dict.fromkeys(
    (method for kind in BLOCKS for method in (kind.__enter__, kind.__exit__)), refuse_entering
)
