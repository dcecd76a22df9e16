"""The reverse of one operation, ``y = f(a, b)``: what the rule of ``f`` makes of ``y_bar`` is added to ``a_bar`` and
``b_bar``."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from s2s import runtime as rt
from s2s.analysis.abstract.lattice import dtype_of, shape_of
from s2s.analysis.abstract.parts import is_inexact
from s2s.analysis.abstract.shapes import ONE
from s2s.builder import cotangents
from s2s.builder.builder import has_zero_derivative
from s2s.builder.operands import may_join
from s2s.core import ir
from s2s.core.values import Array, Scalar, Sequence
from s2s.errors import error
from s2s.reverse import stores, user_rules
from s2s.reverse.destination import InSweep
from s2s.reverse.displays import reverse_display, reverse_selection
from s2s.reverse.dynamic_calls import pull_back
from s2s.reverse.residuals.sweep import Sweep
from s2s.reverse.structural import is_structural, rule_of
from s2s.rules import table

if TYPE_CHECKING:
    from s2s.reverse.sweeps import Reverser

__all__ = ["reverse_let"]


def reverse_let(reverser: Reverser, target: ir.Var, value: ir.Value, span: ir.Span | None, sweep: Sweep) -> None:
    """The reverse of ``target = value``."""
    if target in reverser.inputs:
        return
    if not isinstance(value, ir.Call):
        return
    fn = value.fn.value if isinstance(value.fn, ir.Const) else None
    handler = rule_of(fn) if is_structural(fn) else None
    holds = handler is not None
    if target not in reverser.pulls and not stores.takes_over(reverser, target, value, holds, span, sweep):
        return
    if fn is operator.getitem and target in reverser.pulls:
        pull_back(reverser, target, span, sweep)
        return
    if handler is not None:
        handler(reverser, target, value, span, sweep)
        return
    if fn is getattr:
        _attribute(reverser, target, value, span, sweep)
        return
    rule = table.find(fn)
    if rule is None or rule.kind == "zero":
        return
    is_custom = rule.kind == "custom"
    if is_custom:
        g = reverser.full_bar_of(sweep, target, span)
    else:
        g = reverser.bar_of(sweep, target, span, rule.takes_none, whole=rule.kind in ("linear", "vjp"))
    if g is None:
        return
    if rule.kind in ("refuse", "model"):  # a call that the specialiser could not look at
        raise error("S2S202", span=span, name=rule.name, reason=rule.reason or "its arguments are not known here")
    if rule.kind in ("partials", "straight_through"):
        _elementwise(reverser, rule, target, value, g, span, sweep)
    elif rule.kind == "several":
        _several(reverser, rule, target, value, g, span, sweep)
    elif rule.kind == "linear" and (
        reverse_display(reverser, target, value, g, span, sweep)
        or reverse_selection(reverser, target, value, g, span, sweep)
    ):
        pass
    elif is_custom:
        user_rules.reverse(reverser, rule, target, value, g, span, sweep)
    else:
        _by_rule(reverser, rule, target, value, g, span, sweep)


def _attribute(reverser: Reverser, target: ir.Var, value: ir.Call, span: ir.Span | None, sweep: Sweep) -> None:
    """The reverse of an attribute read: ``x.T`` is ``np.transpose(x)``."""
    receiver, name = value.args[:2]
    g = reverser.bar_of(sweep, target, span)
    if g is None or has_zero_derivative(reverser.context, getattr, value.args):  # type: ignore[arg-type]
        return
    fn = table.ATTRIBUTES.get(name.value) if isinstance(name, ir.Const) else None
    rule = None if fn is None else table.find(fn)
    if fn is None or rule is None:
        raise error("S2S208", span=span, name=str(name).strip("'") if isinstance(name, ir.Const) else "...")
    call = ir.Call(ir.Const(fn), (receiver,))
    if rule.kind == "partials":
        _elementwise(reverser, rule, target, call, g, span, sweep)
    else:
        _by_rule(reverser, rule, target, call, g, span, sweep)


_PRODUCTS = frozenset(map(ir.Const, (operator.mul, np.multiply)))
_QUOTIENTS = frozenset(map(ir.Const, (operator.truediv, np.divide)))
_UNITS = (ir.Const(1.0), ir.Const(1))


def _elementwise(
    reverser: Reverser, rule: Any, target: ir.Var, value: ir.Call, g: ir.Atom, span: ir.Span | None, sweep: Sweep
) -> None:
    """Cotangents by partial derivatives: product, then summed over what broadcasting stretched."""
    args = _elementwise_arguments(reverser, rule, value, span)
    wrt = args
    if value.fn in _PRODUCTS and args[0] == args[1]:
        g = cotangents.multiply(sweep.builder, g, ir.Const(2.0), span)  # a square: 2 x, not x + x
        wrt = args[:1]
    mask, to = reverser.masks.get(target), InSweep(sweep.builder, reverser, sweep)
    atoms = (target, *args, *map(ir.Const, rule.given))
    for k, arg in enumerate(wrt):
        if not reverser.is_active(arg) or rule.partials[k] is None:
            continue
        is_divisor = k == 1 and value.fn in _QUOTIENTS and not reverser.context.naive
        if is_divisor and mask is None and _is_stretched(reverser, arg, target) and _is_plain(sweep, g):
            reverser.contribute(sweep, arg, _of_stretched(reverser, target, arg, g, span, sweep), span)
            continue
        if is_divisor and args[0] in _UNITS:
            p = _of_unit(reverser, target, span, sweep)
        else:
            p = reverser.bodies.partial(rule, k, atoms, span, to)
        if mask is not None and not isinstance(p, ir.Const):  # what is not chosen may have no finite derivative
            g, mask = cotangents.mask(sweep.builder, reverser.use(sweep, mask), g, True, span), None
        c = cotangents.multiply(sweep.builder, g, p, span)
        if may_join(reverser.context, value.fn, args, arg):
            like = reverser.use(sweep, reverser.like(arg))
            c = sweep.builder.call(rt.summand_bar, c, like, ir.Const(k), span=span)
        c = cotangents.fit(sweep.builder, c, arg, target, lambda a: reverser.use(sweep, reverser.like(a)), span)
        if mask is not None and reverser.is_mask(arg, mask):
            first = sweep.holding((arg, ())) is None  # type: ignore[arg-type]
            reverser.contribute(sweep, arg, c, span)
            reverser.masks[arg] = mask if first else None  # type: ignore[index]
        else:
            reverser.contribute(sweep, arg, c, span)


def _is_stretched(reverser: Reverser, arg: ir.Atom, target: ir.Var) -> bool:
    """Whether an operand certainly is smaller than the result, in which broadcasting repeats it."""
    small, large = (shape_of(reverser.context.value(a)) for a in (arg, target))
    if not large or small is None:
        return False
    return len(small) < len(large) or any(m == ONE != n for m, n in zip(small, large, strict=True))


def _is_plain(sweep: Sweep, g: ir.Atom) -> bool:
    """Whether a cotangent chooses nothing: a divisor where nothing is chosen may be zero."""
    return cotangents.masked(sweep.builder, g) is None and cotangents.definition(
        sweep.builder, g, rt.unbroadcast) is None


def _of_stretched(
    reverser: Reverser, target: ir.Var, arg: ir.Atom, g: ir.Atom, span: ir.Span | None, sweep: Sweep
) -> ir.Atom:
    """Of ``y = a / b`` for a small ``b``: ``-sum(y_bar * y) / b``, divided after the sum, which has fewer items."""
    c = cotangents.multiply(sweep.builder, g, reverser.use_content(sweep, target), span)
    c = cotangents.fit(sweep.builder, c, arg, target, lambda a: reverser.use(sweep, reverser.like(a)), span)
    c = cotangents.divide(sweep.builder, c, reverser.use_content(sweep, arg), span)
    return cotangents.negate(sweep.builder, c, span)


def _of_unit(reverser: Reverser, target: ir.Var, span: ir.Span | None, sweep: Sweep) -> ir.Atom:
    """The derivative of ``y = 1.0 / b`` by ``b``, ``-y * y``: what the divisor was need not be known."""
    y = reverser.use_content(sweep, target)
    return cotangents.negate(sweep.builder, sweep.builder.call(operator.mul, y, y, span=span), span)


def _several(
    reverser: Reverser, rule: Any, target: ir.Var, value: ir.Call, g: ir.Atom, span: ir.Span | None, sweep: Sweep
) -> None:
    """Cotangents of an elementwise function with several results: what each result that something was added to
    gives, by its partial derivative."""
    args, known = _elementwise_arguments(reverser, rule, value, span), reverser.context.value(target)
    parts = len(known.items) if isinstance(known, Sequence) else 0
    bars = [reverser.read(sweep, target, (k,)) for k in range(parts)]
    for arg, partial in zip(args, rule.partials, strict=True):
        if not reverser.is_active(arg) or partial is None:
            continue
        slopes = reverser.bodies.positional(partial, (target, *args), span, InSweep(sweep.builder, reverser, sweep))
        if not parts:  # how many results there are is known at run time only
            c = sweep.builder.call(rt.several_bar, g, slopes, reverser.use(sweep, arg), span=span)
            reverser.contribute(sweep, arg, c, span)
        for k, bar in enumerate(bars):
            if bar is not None:
                p = sweep.builder.call(operator.getitem, slopes, ir.Const(k), span=span)
                c = cotangents.multiply(sweep.builder, bar, p, span)
                whole = reverser.part_atom(sweep, target, (k,), span)
                c = cotangents.fit(sweep.builder, c, arg, whole, lambda a: reverser.use(sweep, a), span)
                reverser.contribute(sweep, arg, c, span)


def _elementwise_arguments(
    reverser: Reverser, rule: Any, value: ir.Call, span: ir.Span | None
) -> tuple[ir.Atom, ...]:
    """The arguments in the order of the partials, defaults filled in."""
    bound = table.bind(rule, value.args, {k: a for k, a in value.kwargs if k})
    _check_active(reverser, rule, bound, span)
    made = [v if isinstance(v, (ir.Var, ir.Const)) else ir.Const(v) for v in bound.values()]
    return tuple(made[: len(rule.partials)])


def _by_rule(
    reverser: Reverser, rule: Any, target: ir.Var, value: ir.Call, g: ir.Atom, span: ir.Span | None, sweep: Sweep
) -> None:
    """Cotangents by the functions of a linear or vjp rule, one per argument."""
    bound = table.bind(rule, value.args, {k: a for k, a in value.kwargs if k})
    _check_active(reverser, rule, bound, span)
    atoms = {k: _as_atom(v) for k, v in bound.items()}
    g_full: ir.Atom | None = None
    for name, cotangent in rule.cotangents.items():
        given = bound[name]
        if not any(reverser.is_active(a) for a in _pieces(given)):
            continue
        if g_full is None:
            g_full = full_cotangent(reverser, sweep, g, target, span)
        given_to = {"y": target, **atoms, "y_bar": g_full}
        c = reverser.bodies.named(cotangent, given_to, span, InSweep(sweep.builder, reverser, sweep))
        if isinstance(given, tuple):
            for k, a in enumerate(given):
                if reverser.is_active(a):
                    piece = sweep.builder.call(operator.getitem, c, ir.Const(k), span=span)
                    reverser.contribute(sweep, a, _of_kind(reverser, sweep, piece, a, target, span), span)
        else:
            reverser.contribute(sweep, given, _of_kind(reverser, sweep, c, given, target, span), span)


def _check_active(reverser: Reverser, rule: Any, bound: dict[str, Any], span: ir.Span | None) -> None:
    """Raise where an argument by which the rule says no derivative gets a cotangent: none would be a silent zero."""
    for name, given in bound.items():
        if not table.has_derivative(rule, name) and any(
            reverser.is_active(a) and is_inexact(reverser.context.value(a)) for a in _pieces(given)
        ):
            raise error("S2S203", span=span, name=rule.name, keyword=name)


def _pieces(given: Any) -> tuple[Any, ...]:
    """An argument, or those that a ``*args`` takes."""
    return given if isinstance(given, tuple) and not isinstance(given, ir.Atom) else (given,)


def _of_kind(
    reverser: Reverser, sweep: Sweep, c: ir.Atom, argument: ir.Atom, target: ir.Var, span: ir.Span | None
) -> ir.Atom:
    """The cotangent that a rule gives, as a real number for a real argument, in the argument's precision."""
    like, have = reverser.context.value(argument), reverser.context.value(c)
    if not isinstance(like, (Array, Scalar)):
        return c
    if isinstance(have, (Array, Scalar)):
        return cotangents.fit_dtype(sweep.builder, c, like, span)
    if dtype_of(reverser.context.value(target)) in (None, dtype_of(like)):
        return c
    return sweep.builder.call(rt.cast, c, reverser.use(sweep, argument), span=span)


def full_cotangent(reverser: Reverser, sweep: Sweep, g: ir.Atom, target: ir.Var, span: ir.Span | None) -> ir.Atom:
    if shape_of(reverser.context.value(g)) == shape_of(reverser.context.value(target)):
        return g
    return cotangents.full(sweep.builder, g, reverser.use(sweep, reverser.like(target)), span)


def _as_atom(value: Any) -> Any:
    if isinstance(value, (ir.Var, ir.Const)):
        return value
    if isinstance(value, tuple) and value and all(isinstance(v, (ir.Var, ir.Const)) for v in value):
        return value
    return ir.Const(value)
