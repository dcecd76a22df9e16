"""Ranges that are run through backwards: ``reversed(range(n))`` is the range ``n - 1, ..., 0`` to the passes, which ask
for bounds and steps, and ``reversed(range(n))`` again in the generated code.
"""

from __future__ import annotations

import operator

from s2s.analysis.abstract.lattice import is_number
from s2s.builder.builder import Builder, Context
from s2s.core import ir
from s2s.core.values import Range
from s2s.optimize.rewriting import count_uses

__all__ = ["constant_range", "descends_from", "spell_ranges", "turned"]

_RANGE, _REVERSED, _DOWN = ir.Const(range), ir.Const(reversed), ir.Const(-1)


def turned(context: Context, builder: Builder, iterable: ir.Atom, span: ir.Span | None) -> ir.Atom:
    """The range that ``reversed(range(n))`` is; another iterable as it is."""
    made = context.definition(iterable, reversed)
    bounds = None if made is None else context.definition(made[0], range)
    if made is None or bounds is None or len(bounds) != 1 or not isinstance(context.value(made[0]), Range):
        return iterable
    last = builder.call(operator.sub, bounds[0], ir.Const(1), span=span)
    return builder.call(range, last, _DOWN, _DOWN, span=span)


def constant_range(context: Context, iterable: ir.Atom) -> range | None:
    """A range whose bounds are known."""
    bounds = context.definition(iterable, range)
    if bounds is None or not all(isinstance(b, ir.Const) and type(b.value) is int for b in bounds):
        return None
    return range(*(b.value for b in bounds))  # type: ignore[union-attr]


def descends_from(context: Context, made: ir.Value | None, definition: object) -> ir.Atom | None:
    """The ``n`` of a range ``n - 1, ..., 0``, where it is a number: an array of rank 0 may hold another one by the time
    that the range is run through. ``definition`` gives that of a variable."""
    if not isinstance(made, ir.Call) or made.fn != _RANGE or made.args[1:] != (_DOWN, _DOWN):
        return None
    last = made.args[0]
    if isinstance(last, ir.Const):
        return ir.Const(last.value + 1)
    value = definition(last)  # type: ignore[operator]
    is_last = isinstance(value, ir.Call) and value.fn == ir.Const(operator.sub) and value.args[1] == ir.Const(1)
    return value.args[0] if is_last and is_number(context.value(value.args[0])) else None


def spell_ranges(function: ir.Function, context: Context) -> ir.Function:
    """The function with ``reversed(range(n))`` for ranges that only a loop runs through."""
    loops = {s.iterable for s in ir.walk(function.body) if isinstance(s, ir.For)}
    if not loops:
        return function
    lets = {s.target: s.value for s in ir.walk(function.body) if isinstance(s, ir.Let) and s.target is not None}
    uses = count_uses(function.body)
    turned = {
        var: n for var in loops if isinstance(var, ir.Var) and uses[var] == 1
        and (n := descends_from(context, lets.get(var), lets.get)) is not None
    }
    if not turned:
        return function

    def block(b: ir.Block) -> ir.Block:
        made: list[ir.Statement] = []
        for s in b.statements:
            n = turned.get(s.target) if isinstance(s, ir.Let) and s.target is not None else None
            if n is not None and isinstance(s, ir.Let):
                forward = context.define("%", Range())
                made.append(ir.Let(forward, ir.Call(_RANGE, (n,)), s.span))
                s = ir.replace(s, value=ir.Call(_REVERSED, (forward,)))
            made.append(ir.with_blocks(s, map(block, ir.blocks_of(s))))
        return ir.Block(tuple(made), b.yields)

    return ir.replace(function, body=block(function.body))
