"""Sums that are written as additions in place: of numbers, and of arrays that the reverse sweep made for itself.

    x_bar_1 = x_bar + c         ->      x_bar += c
"""

from __future__ import annotations

import operator
from typing import Any

from s2s.analysis.abstract.lattice import is_number
from s2s.analysis.functions import makes_new
from s2s.builder.builder import Context
from s2s.core import ir
from s2s.core.dataflow import along, reachable
from s2s.core.values import Array
from s2s.optimize.rewriting import count_uses, map_blocks

__all__ = ["accumulate"]


def _joined_with_arrays(function: ir.Function, context: Context) -> set[ir.Atom]:
    """The joins of paths that may give an array: one without dimensions stands for a number, as ``np.where`` makes it,
    and may have other names."""
    edges: list[tuple[ir.Atom, ir.Atom]] = []
    for s in ir.walk(function.body):
        if not isinstance(s, ir.Let):
            joins = ir.joins_of(s)
            edges += [(source, target) for targets, sources in joins for target in targets for source in sources]
        elif s.target is not None and isinstance(s.value, ir.Var):
            edges.append((s.value, s.target))
    arrays = {a for a, _ in edges if isinstance(a, ir.Var) and isinstance(context.value(a), Array)}
    return reachable((target for source, target in edges if source in arrays), along(edges))


def accumulate(function: ir.Function, context: Context) -> ir.Function:
    """The function with ``x_bar = x_bar + c`` as ``x_bar += c``, where ``x_bar`` is a number, or an array that the
    reverse sweep made itself and that nothing else reads."""
    uses = count_uses(function.body)
    captured, made = set[ir.Atom](), dict[ir.Var, ir.Value]()
    for s in ir.walk(function.body):
        if isinstance(s, ir.Let):
            if s.target is not None:
                made[s.target] = s.value
            if isinstance(s.value, ir.MakeFunction):
                captured.update(s.value.captures)
    arrays = _joined_with_arrays(function, context)

    def is_own(old: ir.Var, new: ir.Var, change: Any) -> bool:
        known = context.value(old)
        if is_number(known) and is_number(context.value(new)):
            return old not in arrays
        same = isinstance(known, Array) and known == context.value(new) and bool(known.shape)
        return same and uses[old] == 1 and old not in captured and makes_new(made.get(old))

    def change(s: ir.Statement) -> ir.Statement:
        match s:
            case ir.Let(ir.Var() as new, ir.Call(ir.Const(value=fn), (ir.Var() as old, other), ())) if (
                fn in (operator.add, operator.sub) and old.name == new.name and new.name.endswith("_bar")
                and is_own(old, new, other)
            ):
                in_place = operator.iadd if fn is operator.add else operator.isub
                return ir.replace(s, value=ir.Call(ir.Const(in_place), (old, other)))
            case ir.Let():
                return s
        return map_blocks(s, lambda b: ir.Block(tuple(map(change, b.statements)), b.yields))

    return ir.replace(function, body=ir.Block(tuple(map(change, function.body.statements)), function.body.yields))
