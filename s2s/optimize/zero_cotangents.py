"""What a cotangent goes on to is skipped where it is zero, in loops whose choices leave most of them zero. A function
with its sweeps goes in; one that gives the same comes out.

    for j in reversed(range(n)):                    for j in reversed(range(n)):
        g = a_bar[j]                                    g = a_bar[j]
        a_bar[j] = 0.0                                  if rt.is_carried(g):
        t = share(g, a[j - 1], b[j])          ->            a_bar[j] = 0.0
        a_bar[j - 1] += t                                   t = share(g, a[j - 1], b[j])
        b_bar[j] += g - t                                   a_bar[j - 1] += t
                                                            b_bar[j] += g - t

The smallest of several numbers passes its cotangent on to one of them: of a table that is filled so, the cotangents are
zero but on one path through it. What is skipped is linear in the cotangent; ``rt.is_carried`` is true of one that is
differentiated again, so that a second derivative misses nothing.
"""

from __future__ import annotations

import operator

import numpy as np

from s2s import runtime as rt
from s2s.analysis.abstract.lattice import is_float
from s2s.analysis.functions import facts
from s2s.builder.builder import Context
from s2s.core import ir
from s2s.core.values import Array, Scalar
from s2s.optimize.rewriting import count_uses, map_blocks
from s2s.rules.python import SHARES

__all__ = ["skip_zero_cotangents"]

_SHARES = tuple(map(ir.Const, SHARES))
_PRODUCTS = (ir.Const(operator.mul), ir.Const(np.multiply))
_SUMS = tuple(map(ir.Const, (operator.add, operator.sub, np.add, np.subtract)))
_OF_FIRST = (ir.Const(operator.truediv), ir.Const(np.divide), ir.Const(operator.neg), ir.Const(np.negative), *_SHARES)
"""Functions that give zero where their first argument is zero."""

_GETITEM = ir.Const(operator.getitem)


def skip_zero_cotangents(function: ir.Function, context: Context) -> ir.Function:
    """The function with tests around what cotangents go on to, in the loops of the reverse sweep."""
    statements = function.body.statements
    start = next((k for k, s in enumerate(statements) if isinstance(s, ir.Note) and s.section == "reverse"), None)
    if start is None or not any(_is_share(s) for s in ir.walk(function.body)):
        return function
    skipper = _Skipper(context, count_uses(function.body))
    after = tuple(map_blocks(s, skipper.block) for s in statements[start:])
    return ir.replace(function, body=ir.Block((*statements[:start], *after), function.body.yields))


def _is_share(s: ir.Statement) -> bool:
    return isinstance(s, ir.Let) and isinstance(s.value, ir.Call) and s.value.fn in _SHARES


class _Skipper:
    def __init__(self, context: Context, uses: dict[ir.Atom, int]) -> None:
        self.context = context
        self.uses = uses

    def block(self, block: ir.Block) -> ir.Block:
        statements = [map_blocks(s, self.block) for s in block.statements]
        place = 0
        while place < len(statements) - 1:
            cotangent = self._taken(statements[place], statements[place + 1])
            if cotangent is not None:
                self._skip(statements, place, cotangent)
            place += 1
        return ir.Block(tuple(statements), block.yields)

    def _taken(self, s: ir.Statement, then: ir.Statement) -> ir.Var | None:
        """The number that is read from an array of cotangents and set to zero there."""
        if not isinstance(s, ir.Let) or not isinstance(s.value, ir.Call) or s.value.fn != _GETITEM or s.value.kwargs:
            return None
        is_zeroing = isinstance(then, ir.Store) and then.kind == "item" and then.op is None and _is_zero(then.value)
        if not is_zeroing or (then.target, then.key) != s.value.args:  # type: ignore[union-attr]
            return None
        known = self.context.value(s.target) if s.target is not None else None
        return s.target if isinstance(known, Scalar) and is_float(known) else None

    def _skip(self, statements: list[ir.Statement], place: int, cotangent: ir.Var) -> None:
        """Put what follows into a branch, as far as it does nothing where the cotangent is zero, and what is computed
        for this alone before it."""
        end = self._end(statements, place + 2, cotangent)
        inside = statements[place + 2 : end]
        if not any(map(_is_share, inside)):
            return
        left = self._uses_of(inside)
        first = place
        moved: list[ir.Statement] = []
        for k in range(place - 1, -1, -1):
            s = statements[k]
            if not isinstance(s, ir.Let):
                break
            if self._is_pure(s) and s.target not in self.context.must_keep and self._is_for_these(s, left):
                moved.insert(0, s)
                for a in ir.reads_of(s):
                    left[a] = left.get(a, 0) + 1
            first = k
        kept = [s for s in statements[first:place] if not any(s is m for m in moved)]
        call = ir.Call(ir.Const(rt.is_carried), (cotangent,), ())
        test = self.context.define("%", Scalar(bool), definition=call)
        read, zeroing = statements[place : place + 2]
        span = read.span
        branch = ir.If(test, ir.Block((*moved, zeroing, *inside), ()), ir.Block((), ()), (), span)
        statements[first:end] = [*kept, read, ir.Let(test, call, span), branch]

    def _end(self, statements: list[ir.Statement], start: int, cotangent: ir.Var) -> int:
        """Where what can be skipped ends: after an addition of something that is zero with the cotangent, before which
        nothing else is done, and nothing computed that is read later."""
        zero: set[ir.Atom] = {cotangent}
        end = start
        for k in range(start, len(statements)):
            s = statements[k]
            if isinstance(s, ir.Store):
                is_addition = s.kind == "item" and s.op in (operator.add, operator.sub) and s.value in zero
                if not is_addition or not isinstance(self.context.value(s.target), Array):
                    break
                inside = statements[start : k + 1]
                used = self._uses_of(inside)
                if all(self._is_for_these(i, used) for i in inside if isinstance(i, ir.Let)):
                    end = k + 1
            elif isinstance(s, ir.Let) and self._is_pure(s):
                if self._is_zero_with(s.value, zero):
                    zero.add(s.target)  # type: ignore[arg-type]
            else:
                break
        return end

    def _uses_of(self, statements: list[ir.Statement]) -> dict[ir.Atom, int]:
        used: dict[ir.Atom, int] = {}
        for s in statements:
            for a in ir.reads_of(s):
                used[a] = used.get(a, 0) + 1
        return used

    def _is_for_these(self, s: ir.Let, used: dict[ir.Atom, int]) -> bool:
        """Whether only those that use it so often read what a statement gives."""
        assert s.target is not None
        return self.uses.get(s.target, 0) == used.get(s.target, 0)

    def _is_pure(self, s: ir.Let) -> bool:
        if s.target is None or not isinstance(s.value, ir.Call) or not isinstance(s.value.fn, ir.Const):
            return False
        known = facts(s.value.fn.value)
        return known.pure and not known.acts and not known.changes and s.target not in self.context.runtime_objects

    def _is_zero_with(self, value: ir.Value, zero: set[ir.Atom]) -> bool:
        """Whether a value is zero where these are, of numbers that are finite."""
        if not isinstance(value, ir.Call) or value.kwargs or not value.args:
            return False
        if value.fn in _PRODUCTS:
            return not zero.isdisjoint(value.args)
        if value.fn in _SUMS:
            return all(a in zero or _is_zero(a) for a in value.args)  # type: ignore[arg-type]
        return value.fn in _OF_FIRST and value.args[0] in zero


def _is_zero(atom: ir.Atom) -> bool:
    return isinstance(atom, ir.Const) and type(atom.value) in (int, float) and atom.value == 0
