"""The arguments whose memory no statement of a function changes.

    s = w                   w: all that is changed is made here
    for k in range(n):
        t = np.empty(3)
        t[0] = s[0]
        s = t

``Memory`` says less of ``w``: it may be the same variable as ``t`` in a loop, so it is in one class with it. Here each
array that changes is followed to where it may come from.
"""

from __future__ import annotations

from typing import Any

from s2s.analysis import functions
from s2s.analysis.memory import can_share, changed_by, shared_with
from s2s.core import ir, ops
from s2s.core.values import Array

__all__ = ["unchanged_parameters"]

_OF_CONTAINERS = tuple(map(ir.Const, (list.append, list.pop, ops.push, ops.pull)))
"""They change a container, not what is in it."""


def unchanged_parameters(function: ir.Function, value_of: Any) -> set[ir.Var]:
    """The parameters whose memory nothing changes."""
    sources: dict[ir.Var, list[ir.Atom]] = {}
    changed: list[ir.Atom] = []
    for s in ir.walk(function.body):
        for target, given in _joined(s, value_of):
            sources.setdefault(target, []).extend(given)
        found = changed_by(s)
        if isinstance(found, ir.Var) and not _is_of_container(s, value_of):
            changed.append(found)
    seen: set[ir.Atom] = set()
    while changed:
        var = changed.pop()
        if isinstance(var, ir.Var) and var not in seen:
            seen.add(var)
            changed += sources.get(var, ())
    return {p.var for p in function.params} - seen


def _joined(s: ir.Statement, value_of: Any) -> list[tuple[ir.Var, list[ir.Atom]]]:
    """The variables that a statement makes refer to memory, each with those where this may come from."""
    match s:
        case ir.Let(ir.Var() as target, value):
            known = value_of(target)
            return [(target, [*shared_with(value, known, value_of)])] if can_share(known) else []
        case ir.Let(None, ir.Call(ir.Const(value=fn), (ir.Var() as target, *others))):
            is_held = fn is ops.push or functions.facts(fn).holds
            return [(target, [a for a in others if isinstance(a, ir.Var)])] if is_held else []
        case ir.Store(_, ir.Var() as target, _, value):
            return [] if isinstance(value_of(target), Array) else [(target, [value])]
        case ir.If(results=results) | ir.Try(results=results):
            return [(var, [side.yields[k] for side in ir.sides_of(s)]) for k, var in enumerate(results)]
        case ir.For(body=body, carried=carried) | ir.While(body=body, carried=carried):
            pairs = zip(carried, body.yields, strict=True)
            return [(var, [c.init, given]) for c, given in pairs for var in (c.param, c.result)]
    return []


def _is_of_container(s: ir.Statement, value_of: Any) -> bool:
    """Whether a statement changes a container, and nothing that is in it."""
    match s:
        case ir.Let(_, ir.Call(fn)):
            return fn in _OF_CONTAINERS
        case ir.Store(_, target, op=None):
            return not isinstance(value_of(target), Array)
    return False
