"""Tangents of calls with a rule: by partial derivatives, by the function itself where it is linear, by bodies."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from s2s import runtime as rt
from s2s.analysis.abstract.lattice import dtype_of, shape_of, type_of
from s2s.analysis.abstract.parts import Path, is_inexact, part
from s2s.builder import cotangents
from s2s.builder.operands import is_container, may_join
from s2s.core import ir
from s2s.core.values import AbstractValue, Array, Scalar, Sequence, Unknown
from s2s.directives.surrogates import dtype_of_option
from s2s.errors import error
from s2s.forward import transposed
from s2s.rules import table
from s2s.specialize.rule_bodies import Destination

if TYPE_CHECKING:
    from s2s.forward.sweep import Forwarder


def elementwise(forwarder: Forwarder, rule: Any, target: ir.Var, value: ir.Call, span: ir.Span | None) -> None:
    """The tangent by partial derivatives."""
    args = elementwise_arguments(forwarder, rule, value, span)
    wrt, twice = args, False
    joins = any(is_container(forwarder.context, a) and may_join(forwarder.context, value.fn, args, a) for a in args)
    if value.fn in (ir.Const(operator.mul), ir.Const(np.multiply)) and args[0] == args[1]:
        wrt, twice = args[:1], True  # a square: 2 x, not x + x
    total: ir.Atom | None = None
    for k, arg in enumerate(wrt):
        dot = forwarder.whole(arg, span) if joins else _operand_dot(forwarder, arg, span)
        if dot is None or rule.partials[k] is None:
            continue
        if twice:
            dot = cotangents.multiply(forwarder.builder, dot, ir.Const(2.0), span)
        atoms = (target, *args, *map(ir.Const, rule.given))
        p = forwarder.bodies.partial(rule, k, atoms, span, Destination(forwarder.builder))
        total = add_up(forwarder, total, cotangents.multiply(forwarder.builder, dot, p, span), span)
    if total is not None:
        forwarder.put(target, (), fit(forwarder, target, (), total, span))


def several(forwarder: Forwarder, rule: Any, target: ir.Var, value: ir.Call, span: ir.Span | None) -> None:
    """The tangents of an elementwise function with several results."""
    args, known = elementwise_arguments(forwarder, rule, value, span), forwarder.context.value(target)
    if not isinstance(known, Sequence):
        raise error("S2S202", span=span, name=rule.name, reason="the number of its results is not known here")
    totals: list[ir.Atom | None] = [None] * len(known.items)
    for arg, partial in zip(args, rule.partials, strict=True):
        dot = _operand_dot(forwarder, arg, span)
        if dot is None or partial is None:
            continue
        slopes = forwarder.bodies.positional(partial, (target, *args), span, Destination(forwarder.builder))
        for k, total in enumerate(totals):
            p = forwarder.builder.call(operator.getitem, slopes, ir.Const(k), span=span)
            totals[k] = add_up(forwarder, total, cotangents.multiply(forwarder.builder, dot, p, span), span)
    for k, total in enumerate(totals):
        if total is not None:
            forwarder.put(target, (k,), fit(forwarder, target, (k,), total, span))


def _operand_dot(forwarder: Forwarder, arg: ir.Atom, span: ir.Span | None) -> ir.Atom | None:
    """The tangent of a number or array; None for zero. Raises NoDerivativeError for a list or tuple, as ``+`` has where
    that of its other operand is not known."""
    dot = forwarder.dot(arg)
    if dot is None and forwarder.is_active(arg):
        raise error("S2S221", span=span, name=getattr(type_of(forwarder.context.value(arg)), "__name__", "list"))
    return dot


def linear(forwarder: Forwarder, rule: Any, target: ir.Var, value: ir.Call, span: ir.Span | None) -> None:
    """The function itself on the tangents: of all arguments together where it is linear in all of them, else of one
    argument at a time."""
    if _converts(forwarder, rule, target, value):  # its tangent is not rounded
        bound = table.bind(rule, value.args, {k: a for k, a in value.kwargs if k})
        first = next(iter(bound.values()))
        dot = forwarder.whole(first, span) if value.fn.value in _CASTS else None  # type: ignore[union-attr]
        if dot is None:
            value = _without_dtype(rule, value)
        else:
            is_known = dtype_of(forwarder.context.value(target)) is not None
            made = dot if is_known else forwarder.builder.call(rt.tangent_like, dot, target, span=span)
            forwarder.put(target, (), made)
            return
    bound = _bound(forwarder, rule, value, span)
    turned: list[dict[Any, ir.Atom]] = []
    together: dict[Any, ir.Atom] = {}
    for name in rule.cotangents:
        given = bound[name]
        for place, atom in _pieces(name, given):
            if rule.joint and isinstance(atom, (ir.Var, ir.Const)) and atom != ir.Const(None):
                together[place] = forwarder.whole(atom, span, numeric=True)
            elif not rule.joint and forwarder.is_active(atom):
                turned.append({place: forwarder.whole(atom, span, numeric=True)})
    total: ir.Atom | None = None
    for change in [together] if rule.joint else turned:
        made = again(forwarder, rule, value, change, span)
        total = made if total is None else add_up(forwarder, total, made, span, forwarder.context.value(target))
    if total is not None:
        forwarder.put_all(target, total, span)


_CASTS = (np.ndarray.astype, np.astype) if hasattr(np, "astype") else (np.ndarray.astype,)
"""Functions that do nothing but convert."""


def _converts(forwarder: Forwarder, rule: Any, target: ir.Var, value: ir.Call) -> bool:
    """Whether a call gives integers, or may do so: to a dtype that the program finds, or of an array of which nothing
    is known."""
    dtype = dtype_of(forwarder.context.value(target))
    if dtype is not None:
        return dtype.kind in "iub"
    asked = table.bind(rule, value.args, {k: a for k, a in value.kwargs if k}).get("dtype")
    if not isinstance(asked, ir.Const):
        return isinstance(asked, ir.Var)
    found = dtype_of_option(asked.value)
    return found is not None and found.kind in "iub"


def _without_dtype(rule: Any, value: ir.Call) -> ir.Call:
    """A call that asks for no dtype."""
    place = list(rule.params.parameters).index("dtype") if "dtype" in rule.params.parameters else len(value.args)
    args = tuple(ir.Const(None) if k == place else a for k, a in enumerate(value.args))
    return ir.replace(value, args=args, kwargs=tuple((k, a) for k, a in value.kwargs if k != "dtype"))


def again(
    forwarder: Forwarder, rule: Any, value: ir.Call, change: dict[Any, ir.Atom], span: ir.Span | None
) -> ir.Atom:
    """The call with some of its arguments changed, by name, or name and place among those that ``*args`` takes."""
    left, places = dict(change), _places(rule, len(value.args))
    args = [left.pop(place, atom) for place, atom in zip(places, value.args, strict=True)]
    kwargs = {key: left.pop(key, atom) for key, atom in value.kwargs if key is not None}
    kwargs |= {place: atom for place, atom in left.items() if isinstance(place, str)}
    assert isinstance(value.fn, ir.Const)
    fn = value.fn.value
    if forwarder.context.has_strong_zeros and not kwargs:
        fn = cotangents.with_strong_zeros(fn, *args)
    return forwarder.builder.call(fn, *args, span=span, kwargs=tuple(kwargs.items()))


def _places(rule: Any, count: int) -> list[Any]:
    """What positional arguments are called in ``bound``."""
    found: list[Any] = []
    for name, parameter in rule.params.parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL:
            found += [(name, k) for k in range(count)]
        else:
            found.append(name)
    return found[:count]


def by_tangent(forwarder: Forwarder, rule: Any, target: ir.Var, value: ir.Call, span: ir.Span | None) -> None:
    """The tangent by a body: one for each argument, or one for all of them; by the transpose of that for the cotangent
    of an argument where there is none."""
    bound = _bound(forwarder, rule, value, span)
    atoms: dict[str, Any] = {k: v if _is_given(v) else ir.Const(v) for k, v in bound.items()}
    dots = {
        name: tuple(forwarder.whole(a, span, numeric=True) for a in given) if isinstance(given, tuple)
        else forwarder.whole(given, span, numeric=True)
        for name, given in bound.items()
        if name not in rule.harmless | rule.decides and table.has_derivative(rule, name, forward=True)
        and _any_active(forwarder, given)
    }
    available, to = {"y": target, **atoms}, Destination(forwarder.builder)
    total: ir.Atom | None = None
    parts: dict[Path, ir.Atom] = {}
    for name, dot in dots.items():
        if name in rule.tangents:
            made = forwarder.bodies.named(rule.tangents[name], {**available, f"{name}_dot": dot}, span, to)
            total = made if total is None else add_up(forwarder, total, made, span, forwarder.context.value(target))
        elif rule.tangent is None:
            moved = transposed.tangent(forwarder, rule.cotangents[name], available, dot, target, span)
            parts |= {path: add_up(forwarder, parts.get(path), leaf, span) for path, leaf in moved.items()}
    if rule.tangent is not None:
        every = {f"{name}_dot": dots.get(name, ir.Const(0.0)) for name in bound}
        total = forwarder.bodies.named(rule.tangent, {**available, **every}, span, to)
    if total is not None:
        forwarder.put_all(target, total, span)
    for path, leaf in parts.items():
        leaf = add_up(forwarder, forwarder.dot(target, path), leaf, span)
        forwarder.put(target, path, fit(forwarder, target, path, leaf, span))


def _bound(forwarder: Forwarder, rule: Any, value: ir.Call, span: ir.Span | None) -> dict[str, Any]:
    """The arguments by parameter. Raises where one that has a tangent has no derivative."""
    bound = table.bind(rule, value.args, {k: a for k, a in value.kwargs if k})
    for name, given in bound.items():
        has_tangent = _any_active(forwarder, given) and _is_inexact(forwarder, given)
        if has_tangent and not table.has_derivative(rule, name, forward=True):
            raise error("S2S203", span=span, name=rule.name, keyword=name)
    return bound


def _any_active(forwarder: Forwarder, given: Any) -> bool:
    """Whether an argument, or one of several, has a tangent."""
    if isinstance(given, tuple) and not isinstance(given, (ir.Var, ir.Const)):
        return any(map(forwarder.is_active, given))
    return forwarder.is_active(given)


def _is_inexact(forwarder: Forwarder, given: Any) -> bool:
    return any(is_inexact(forwarder.context.value(atom)) for _, atom in _pieces("", given))


def add_up(
    forwarder: Forwarder, total: ir.Atom | None, term: ir.Atom, span: ir.Span | None, known: AbstractValue | None = None
) -> ir.Atom:
    """The sum of two tangents of one structure: that of a value of which this is ``known``, of numbers without."""
    if total is None:
        return term
    if known is not None and not isinstance(known, (Array, Scalar)):
        return forwarder.builder.call(rt.add, total, term, span=span)
    return cotangents.add(forwarder.builder, total, term, span, "%")


def fit(forwarder: Forwarder, target: ir.Var, path: Path, dot: ir.Atom, span: ir.Span | None) -> ir.Atom:
    """A tangent in the dtype of its variable; in its shape too where that of one of them is known only when the program
    runs."""
    known, found = part(forwarder.context.value(target), path), forwarder.context.value(dot)
    is_open = isinstance(known, Array) and (known.shape is None or (known.shape and isinstance(found, Unknown)))
    if isinstance(known, Unknown) or (is_open and not _is_stretched(forwarder, dot, known)):
        return forwarder.builder.call(rt.tangent_like, dot, forwarder.read(target, path, span), span=span)
    return cotangents.in_precision(forwarder.builder, dot, target, known, span)


def _is_stretched(forwarder: Forwarder, dot: ir.Atom, known: AbstractValue) -> bool:
    """Whether a tangent is a product with an array of the shape of its variable."""
    factors = forwarder.context.definition(dot, operator.mul) or ()
    shape = shape_of(known)
    return shape is not None and any(shape_of(forwarder.context.value(a)) == shape for a in factors)


def _pieces(name: str, given: Any) -> list[tuple[Any, Any]]:
    """An argument with its place; each of those that a ``*args`` takes with its own."""
    if isinstance(given, tuple) and not isinstance(given, (ir.Var, ir.Const)):
        return [((name, k), atom) for k, atom in enumerate(given)]
    return [(name, given)]


def _is_given(value: Any) -> bool:
    return isinstance(value, (ir.Var, ir.Const)) or (
        isinstance(value, tuple) and bool(value) and all(isinstance(v, (ir.Var, ir.Const)) for v in value)
    )


def elementwise_arguments(
    forwarder: Forwarder, rule: Any, value: ir.Call, span: ir.Span | None
) -> tuple[ir.Atom, ...]:
    """The arguments in the order of the partials, defaults filled in."""
    bound = _bound(forwarder, rule, value, span)
    made = [v if isinstance(v, (ir.Var, ir.Const)) else ir.Const(v) for v in bound.values()]
    return tuple(made[: len(rule.partials)])


__all__ = ["add_up", "by_tangent", "elementwise", "linear", "several"]
