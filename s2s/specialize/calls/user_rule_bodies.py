"""The bodies of rules that users write: code like any other, specialised for the kinds of the arguments of a call.

What is left of a body is a straight line that is written where the rule is used, or the rule is called by name.
"""

from __future__ import annotations

import contextlib
import functools
import operator
import types
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from s2s.analysis.abstract.lattice import shape_of
from s2s.builder import virtual_heap
from s2s.builder.builder import Builder, Context
from s2s.core import ir
from s2s.core.closures import Closure
from s2s.core.values import UNKNOWN, AbstractValue, Array, Known, Mapping, Scalar, Sequence
from s2s.directives import user_rules
from s2s.errors import DifferentiationError, error
from s2s.specialize.frames import Frame
from s2s.specialize.inplace import changes_any
from s2s.specialize.outcomes import Outcome, kind_of
from s2s.specialize.site import At, CallSite
from s2s.specialize.speculation import speculate
from s2s.versions.boundary import Raised

if TYPE_CHECKING:
    from s2s.specialize.specializer import Specializer

__all__ = [
    "by_gradient", "by_nested_gradient", "call_by_name", "counted", "misfit", "outcome_of_rule", "parts", "run",
    "specialised", "speculate_outcome", "unchanged",
]


# --- in place -------------------------------------------------------------------------------------------------------


def specialised(
    specializer: Specializer, rule: Callable[..., Any], atoms: list[ir.Atom], keys: tuple[str, ...], builder: Builder,
    span: ir.Span | None, finish: Callable[[ir.Atom, Builder], ir.Atom],
) -> ir.Atom | None:
    """A call of a rule, specialised on what is known of its arguments, with ``finish`` applied to the result; None
    where it is no straight line, or its code cannot be followed."""
    count = len(atoms) - len(keys)
    fn, args = _unwrapped(rule, atoms[:count])
    if fn is None:
        return None
    kwargs: dict[Any, ir.Atom] = dict(zip(keys, atoms[count:], strict=True))
    try:
        with speculate(specializer, builder) as speculation, _undifferentiated(specializer.context):
            specializer.guards.ruled(fn)
            frame, rebound = Frame(specializer.function, None), len(specializer.rebound)
            site = At(specializer, frame, speculation.builder, span).call(fn, args, kwargs)
            made = _RULES.get(fn, _plainly)(site)
            made = finish(speculation.builder.frozen(made), speculation.builder)
            is_straight = all(isinstance(s, ir.Let) for s in speculation.builder.statements)
            if is_straight and len(specializer.rebound) == rebound:
                return made
            speculation.discard()
    except (DifferentiationError, Raised) as problem:
        if isinstance(problem, DifferentiationError) and problem.diagnostic.code in user_rules.CODES:
            raise
    return None


@contextlib.contextmanager
def _undifferentiated(context: Context) -> Iterator[None]:
    """Around code in which nothing is differentiated, and whose objects nobody else has."""
    outside = context.heap, context.varied
    context.heap, context.varied = context.heap.copy(), set()
    try:
        yield
    finally:
        context.heap, context.varied = outside


@contextlib.contextmanager
def speculate_outcome(specializer: Specializer) -> Iterator[Builder]:
    """Around code that is specialised to see what comes of it, with nothing differentiated in it. It leaves no trace
    but the guards of what was seen; where it cannot be followed, not these."""
    seen = None
    with (
        contextlib.suppress(DifferentiationError, Raised),
        speculate(specializer, Builder(specializer.context), optional=True) as speculation,
        _undifferentiated(specializer.context),
    ):
        yield speculation.builder
        seen = specializer.guards.copy()
        speculation.discard()
    if seen is not None:
        specializer.guards.update(seen)


def run(at: At, f: ir.Atom, args: list[ir.Atom], kwargs: dict[Any, ir.Atom]) -> ir.Atom:
    """A call of a function, in place."""
    active = at.specializer.inliner.active_calls
    if isinstance(f, ir.Const) and isinstance(f.value, types.FunctionType) and f.value not in active:
        return at.inline(f.value, args, kwargs)
    return at.apply_atom(f, args, kwargs)


def _unwrapped(rule: Callable[..., Any], args: list[ir.Atom]) -> tuple[types.FunctionType | None, list[ir.Atom]]:
    """The Python function that a rule comes to and its arguments; None where there is none."""
    if isinstance(rule, functools.partial) and not rule.keywords:
        return _unwrapped(rule.func, [*map(ir.Const, rule.args), *args])
    return (rule if isinstance(rule, types.FunctionType) else None), args


# --- what they come to ----------------------------------------------------------------------------------------------


def _plainly(site: CallSite) -> ir.Atom:
    return site.inline(site.fn, site.args, site.kwargs)


def by_gradient(site: CallSite) -> ir.Atom:
    """``custom.by_gradient``: the function that gives value and gradient in place, then its gradient."""
    f, _, g, *given = site.args
    return _pulled(site, f, g, given)


def by_nested_gradient(site: CallSite) -> ir.Atom:
    """``custom.by_nested_gradient``: the same."""
    _, g, f, *given = site.args
    return _pulled(site, f, g, given)


def _pulled(site: CallSite, f: ir.Atom, g: ir.Atom, given: list[ir.Atom]) -> ir.Atom:
    both = run(site, f, given, site.kwargs)
    is_number = isinstance(site.value(both), (Array, Scalar))
    items = [] if is_number else site.items(both)
    if items is not None and (len(items) != 2 or _is_no_function(site.value(items[1]))):
        got = "one value" if items is None or is_number else f"{len(items)} values"
        got = "a second value that is no function" if items is not None and len(items) == 2 else got
        raise error("S2S523", span=site.span, name=_name_of_function(site.context, f), got=got)
    gradient = site.apply(operator.getitem, both, ir.Const(1))
    _check_gradient(site.context, f, gradient, site.span)
    return site.apply_atom(gradient, [g], {})


def _check_gradient(context: Context, f: ir.Atom, gradient: ir.Atom, span: ir.Span | None) -> None:
    """Refuse a gradient function that asks for more than the cotangent of the value."""
    known = context.value(gradient)
    params = known.function.params if isinstance(known, Closure) else ()
    needed = [p.var.name for p in params if p.kind.startswith("POSITIONAL") and not p.has_default]
    if len(needed) > 1:
        raise error(
            "S2S546", span=span, rule=f"`{known.function.name}`",  # type: ignore[union-attr]
            name=_name_of_function(context, f), hint=user_rules.OF_PARTS,
            problem=f"missing a required argument: {needed[1]!r}",
        )


def _is_no_function(known: AbstractValue) -> bool:
    return isinstance(known, (Array, Scalar, Sequence)) or (isinstance(known, Known) and not callable(known.value))


def _name_of_function(context: Context, f: ir.Atom) -> str:
    known = context.value(f)
    if isinstance(known, Closure):
        return str(known.function.name)
    return user_rules.text_of(known.value) if isinstance(known, Known) else "a function"


def _by_partials(site: CallSite) -> ir.Atom:
    """``custom.one_of_partials``: one of those that a function gives."""
    rule, k, *given = site.args
    every = run(site, rule, given, {})
    assert isinstance(k, ir.Const) and isinstance(rule, ir.Const)
    return parts(site, every, len(given) - 1, user_rules.text_of(rule.value))[k.value]


_RULES: dict[Any, Callable[[CallSite], ir.Atom]] = {
    user_rules.one_of_partials: _by_partials,
    user_rules.by_gradient: by_gradient, user_rules.by_nested_gradient: by_nested_gradient,
}
"""What stands for a call of a function that makes the rule of a user."""


# --- by name --------------------------------------------------------------------------------------------------------


def outcome_of_rule(
    specializer: Specializer, rule: Callable[..., Any], atoms: list[ir.Atom], keys: tuple[str, ...]
) -> Outcome:
    """What is known of the result of a rule that is called by name, and whether it changes what it is given."""
    context = specializer.context
    fn, args = _unwrapped(rule, atoms[: len(atoms) - len(keys)])
    if fn is None or fn in specializer.inliner.active_calls:
        return Outcome()
    before, found = len(specializer.rebound), Outcome()
    kwargs: dict[Any, ir.Atom] = dict(zip(keys, atoms[len(atoms) - len(keys) :], strict=True))
    with speculate_outcome(specializer) as builder:
        made = specializer.inliner.inline(fn, args, kwargs, Frame(specializer.function, None), builder, None)
        rebinds = len(specializer.rebound) > before  # by `+=`, which may be a change
        changes = changes_any(atoms, builder, context) or rebinds
        found = Outcome(kind_of(context.value(builder.frozen(made))), changes)
    return found


def unchanged(builder: Builder, atoms: list[ir.Atom], outcome: Outcome) -> list[ir.Atom]:
    """The arguments of a rule, copies of the arrays where it may change them."""
    if outcome.changes is False:
        return atoms
    known = builder.context.value
    return [builder.call(np.copy, a) if isinstance(known(a), Array) and isinstance(a, ir.Var) else a for a in atoms]


_BY_NAME: dict[Any, Any] = {
    user_rules.cotangents_by_tangent: user_rules.cotangents_by_pushforward,
    user_rules.tangent_by_cotangents: user_rules.tangent_by_pullback,
}
"""What is called in place of a function that is only written out."""


def call_by_name(rule: Any, atoms: list[ir.Atom], keys: tuple[str, ...]) -> ir.Call:
    """A call of a rule by name."""
    count = len(atoms) - len(keys)
    first: list[ir.Atom] = []
    while isinstance(rule, functools.partial) and not rule.keywords:
        first = [*map(ir.Const, rule.args), *first]
        rule = _BY_NAME.get(rule.func, rule.func)
    return ir.Call(ir.Const(rule), (*first, *atoms[:count]), tuple(zip(keys, atoms[count:], strict=True)))


# --- what they give -------------------------------------------------------------------------------------------------


def parts(at: At, bars: ir.Atom, count: int, place: str) -> list[ir.Atom]:
    """The cotangents in what a pullback gives: one for each positional argument; that of a single one may be bare."""
    known, state = at.value(bars), virtual_heap.state_of(at.context, bars)
    is_tuple = (isinstance(known, Sequence) and known.type is tuple) or (state is not None and state.kind is tuple)
    items = at.items(bars) if is_tuple else None
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
    if count == 1 and (items is not None or isinstance(known, Mapping)):
        return [bars]
    varied = at.context.is_varied(bars)
    checked = at.builder.let(counted(at.builder.frozen(bars), count, place), UNKNOWN, "%", at.span, varied)
    return [at.compute(operator.getitem, checked, ir.Const(k)) for k in range(count)]


def counted(bars: ir.Atom, count: int, place: str) -> ir.Call:
    """What a rule gives, of which nothing is known, as a tuple of so many."""
    if count == 1:
        return ir.Call(ir.Const(user_rules.one_cotangent), (bars,))
    return ir.Call(ir.Const(user_rules.cotangents), (bars, ir.Const(count), ir.Const(place)))


def misfit(like: AbstractValue, given: AbstractValue, has_parts: bool, wants_parts: bool) -> tuple[str, str] | None:
    """Two kinds that cannot fit, in words: a container and a number, arrays of other ranks; None where they may."""
    shape, mine = shape_of(like), shape_of(given)
    if wants_parts or not isinstance(like, (Array, Scalar)) or shape is None:
        return None
    expected = f"rank {len(shape)}"
    if has_parts:
        return "several parts", expected
    if isinstance(given, (Array, Scalar)) and mine is not None and len(mine) != len(shape):
        return f"rank {len(mine)}", expected
    return None
