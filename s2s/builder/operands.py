"""Arguments that a function makes something else of: what it makes.

    np.ldexp([s, t], 2)    ->    np.ldexp(np.asarray([s, t]), 2)      lists and tuples where NumPy takes an array
    math.log(z[0])         ->    math.log(np.real(z[0]))              complex numbers where ``math`` takes floats

A rule is written for arrays. One that says itself what becomes of lists (``np.concatenate``, ``np.array``, ``max``) has
a sample with a list, and gets them as they are.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from s2s.builder.builder import Builder, Context
from s2s.builder.virtual_heap import state_of
from s2s.core import ir
from s2s.core.values import Array, ListOf, Scalar, Sequence, Unknown
from s2s.rules import table
from s2s.rules.samples import Draw
from s2s.rules.table import Rule

__all__ = ["as_arrays", "is_container", "may_join"]

ELEMENTWISE = ("partials", "several", "straight_through")


def as_arrays(
    builder: Builder, rule: Rule, args: list[ir.Atom], kwargs: dict[Any, ir.Atom], span: ir.Span | None
) -> tuple[list[ir.Atom], dict[Any, ir.Atom]]:
    """The arguments of a call, with arrays for lists where the rule is for arrays, and real parts for ``math``."""
    context = builder.context
    if rule.fn.__class__ is types.BuiltinFunctionType and rule.fn.__module__ == "math":
        args = [builder.call(np.real, a, span=span) if is_complex(context, a) else a for a in args]
    given = [*args, *kwargs.values()]
    if not any(is_list(context, a) for a in given):
        return args, kwargs
    if is_operator(rule.fn) and not any(isinstance(context.value(a), Array) for a in given):
        return args, kwargs  # of two lists Python's own

    def convert(name: str, atom: ir.Atom) -> ir.Atom:
        if not is_list(context, atom) or not takes_array(rule, name):
            return atom
        return builder.call(np.asarray, atom, span=span)

    return (
        [convert(name, atom) for name, atom in named(rule, args)],
        {name: convert(name, atom) for name, atom in kwargs.items()},
    )


def is_list(context: Context, atom: ir.Atom) -> bool:
    """Whether an argument is a list or tuple, of which NumPy makes an array."""
    state = state_of(context, atom)
    if state is not None:
        return state.kind in (list, tuple)
    value = context.value(atom)
    return isinstance(value, ListOf) or (isinstance(value, Sequence) and value.type in (list, tuple))


def is_complex(context: Context, atom: ir.Atom) -> bool:
    """Whether an argument is a complex number of NumPy, or an array of them."""
    value = context.value(atom)
    kind = value.dtype.type if isinstance(value, Array) else value.type if isinstance(value, Scalar) else object
    return issubclass(kind, np.complexfloating)


def is_operator(fn: Any) -> bool:
    return isinstance(fn, types.BuiltinFunctionType) and fn.__module__ in ("_operator", "builtins", "math", "cmath")


def named(rule: Rule, args: list[ir.Atom]) -> Iterator[tuple[str, ir.Atom]]:
    """The arguments given by position with the names of their parameters; those that a ``*args`` takes have its name.
    """
    rest = iter(args)
    for name, parameter in rule.params.parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL:
            yield from ((name, atom) for atom in rest)
        elif parameter.kind is not parameter.KEYWORD_ONLY:
            yield from ((name, atom) for _, atom in zip((None,), rest))


def takes_array(rule: Rule, name: str) -> bool:
    """Whether a parameter of a rule is for arrays only, as its samples show."""
    if rule.kind in ELEMENTWISE:
        return name in list(rule.params.parameters)[: len(rule.partials)]
    parameter = rule.params.parameters.get(name)
    if parameter is None or parameter.kind is parameter.VAR_KEYWORD:
        return False
    seen = [table.bind(rule, sample.args, sample.kwargs).get(name) for sample in rule.samples]
    variadic = parameter.kind is parameter.VAR_POSITIONAL
    items = [item for one in seen for item in (one if variadic and isinstance(one, tuple) else (one,))]
    return any(isinstance(item, Draw) for item in items) and not any(isinstance(item, (list, tuple)) for item in items)


_JOINS = frozenset(map(ir.Const, (operator.add, operator.iadd)))


def is_container(context: Context, atom: ir.Atom) -> bool:
    """Whether an atom is known to be a list or tuple."""
    value = context.value(atom)
    return isinstance(value, ListOf) or (isinstance(value, Sequence) and value.type is not slice)


def may_join(context: Context, fn: ir.Atom, args: Iterable[ir.Atom], arg: ir.Atom) -> bool:
    """Whether ``arg`` is an operand of a ``+`` that may put lists or tuples together: of those whose lengths are known
    a display was made."""
    if fn not in _JOINS or not any(isinstance(context.value(a), Unknown) for a in args):
        return False
    return isinstance(context.value(arg), Unknown) or is_container(context, arg)
