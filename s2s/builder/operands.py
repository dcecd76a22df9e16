"""Lists and tuples where a function of NumPy takes an array: made the array that NumPy makes of them.

    np.ldexp([s, t], 2)    ->    np.ldexp(np.asarray([s, t]), 2)

A rule is written for arrays. One that says itself what becomes of lists (``np.concatenate``, ``np.array``, ``max``) has
a sample with a list, and gets them as they are.
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from s2s.builder.builder import Builder, Context
from s2s.builder.virtual_heap import state_of
from s2s.core import ir
from s2s.core.values import Array, ListOf, Sequence
from s2s.rules import table
from s2s.rules.samples import Draw
from s2s.rules.table import Rule

__all__ = ["as_arrays"]

ELEMENTWISE = ("partials", "several", "straight_through")


def as_arrays(
    builder: Builder, rule: Rule, args: list[ir.Atom], kwargs: dict[Any, ir.Atom], span: ir.Span | None
) -> tuple[list[ir.Atom], dict[Any, ir.Atom]]:
    """The arguments of a call, with arrays for lists where the rule is for arrays."""
    context = builder.context
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
