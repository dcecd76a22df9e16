"""Common subexpressions: the same pure operation on the same atoms, in a block and the blocks inside it, is done once.

    c = np.cos(x)                       c = np.cos(x)
    y = a * np.cos(x)           ->      y = a * c
"""

from __future__ import annotations

import operator
from typing import Any

from s2s.analysis.functions import facts
from s2s.analysis.memory import Memory
from s2s.builder.builder import Context
from s2s.core import ir
from s2s.core.values import Scalar
from s2s.directives.policies import Chosen
from s2s.optimize.dead import changes_argument
from s2s.optimize.rewriting import substitute

__all__ = ["share_subexpressions"]

_NEG = ir.Const(operator.neg)


def share_subexpressions(function: ir.Function, context: Context) -> ir.Function:
    """The function with equal pure operations on equal atoms computed once, where the first stands before the second.

    Only operations whose results are never stored to, and which read the same versions of what is.
    What a block computes that runs again is not shared with its second run.
    """
    own = context.runtime_objects
    stored = _stored(function, context) | context.checked  # of what is read for a check no kind is known

    def atom(a: ir.Atom) -> ir.Atom:
        return mapping.get(a, a) if isinstance(a, ir.Var) else a

    def block(b: ir.Block, seen: dict[Any, ir.Var]) -> ir.Block:
        seen = dict(seen)

        def inside(inner: ir.Block) -> ir.Block:
            return block(inner, seen)

        made: list[ir.Statement] = []
        for before in b.statements:
            s = substitute(before, mapping) if isinstance(before, ir.Let) else ir.rebuild(before, atom, inside)
            target = s.target if isinstance(s, ir.Let) else None
            if isinstance(s, ir.Let) and target is not None and _is_shareable(target, s.value, stored, own):
                assert isinstance(s.value, ir.Call)
                key, passes = (s.value.fn, s.value.args, s.reads), target in context.passing
                if s.value.fn == _NEG:
                    of: ir.Atom = s.value.args[0]  # type: ignore[assignment]
                    negated[target] = of
                    twice = negated.get(of)
                    if twice is not None and isinstance(context.value(target), Scalar):  # an array stays its own
                        mapping[target] = twice
                        continue
                found = seen.get((key, passes)) or seen.get((key, False))
                if found is not None:
                    mapping[target] = found
                    continue
                seen[key, passes] = target
            made.append(s)
        return ir.Block(tuple(made), tuple(map(atom, b.yields)))

    mapping: dict[ir.Atom, ir.Atom] = {}
    negated: dict[ir.Atom, ir.Atom] = {}
    return ir.replace(function, body=block(function.body, {}))


def _stored(function: ir.Function, context: Context) -> set[ir.Atom]:
    """What some statement changes in place, under every name that it may have."""
    found: set[ir.Atom] = set()
    for s in ir.walk(function.body):
        if isinstance(s, ir.Store):
            found.add(s.target)
        elif isinstance(s, ir.Let) and isinstance(s.value, ir.Call) and isinstance(s.value.fn, ir.Const):
            if changes_argument(s.value.fn.value) and not isinstance(s.value.args[0], ir.Star):
                found.add(s.value.args[0])
    if not found:
        return found
    memory = Memory(function, context.value)
    return {var for atom in found if isinstance(atom, ir.Var) for var in (*memory.same(atom), atom)}

def _is_shareable(target: ir.Var, value: ir.Value, stored: set[ir.Atom], own: set[ir.Atom]) -> bool:
    if not isinstance(value, ir.Call) or not isinstance(value.fn, ir.Const) or value.kwargs:
        return False
    if target in stored or target in own:
        return False
    fn = value.fn.value.func if isinstance(value.fn.value, Chosen) else value.fn.value
    known = facts(fn)
    if known.acts or not (known.elementwise or known.shared):
        return False
    return not any(isinstance(a, ir.Star) or a in own for a in value.args)
