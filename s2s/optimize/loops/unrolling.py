"""Loops over two to four places as the statements of all iterations.

    for i in rt.places(3):              t[0] = x[0] - y[0]
        t[i] = x[i] - y[i]      ->      t[1] = x[1] - y[1]
                                        t[2] = x[2] - y[2]
"""

from __future__ import annotations

import operator
from collections.abc import Iterator

import numpy as np

from s2s import runtime as rt
from s2s.builder.builder import Context
from s2s.core import ir, ops
from s2s.core.values import Array, Scalar
from s2s.optimize.loops.writing import SHORT
from s2s.optimize.rewriting import substitute

__all__ = ["arguments", "length", "unrolled"]

MOST_STATEMENTS = 96
"""The longest body of a loop that is written out, indices apart: a row of two products of matrices of three columns."""

_UNROLLED = {operator.truediv: np.divide, operator.pow: np.power}
"""What Python's operators are outside of loops over elements, where they raise for zero."""


def unrolled(function: ir.Function, context: Context) -> ir.Function:
    """The function without such loops."""
    return _Unroller(context).function(function)


def length(atom: ir.Atom) -> int | None:
    """A length of two to four that is constant."""
    value = atom.value if isinstance(atom, ir.Const) else None
    return value if type(value) is int and 2 <= value <= SHORT else None


def arguments(s: ir.Statement, fn: object) -> tuple[ir.Atom, ...] | None:
    """The arguments of a call of a function by position; None for other statements."""
    match s:
        case ir.Let(_, ir.Call(ir.Const(value=called), args, ())) if called is fn and not any(
            isinstance(a, ir.Star) for a in args
        ):
            return args  # type: ignore[return-value]
    return None


class _Unroller:
    """Writes out the loops over few places."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.places: dict[ir.Var, int] = {}

    def function(self, function: ir.Function) -> ir.Function:
        """The function without such loops."""
        return ir.replace(function, body=self._block(function.body))

    def _block(self, block: ir.Block) -> ir.Block:
        made: list[ir.Statement] = []
        mapping: dict[ir.Atom, ir.Atom] = {}
        for one in block.statements:
            s = substitute(one, mapping)
            args = arguments(s, rt.places)
            n = length(args[0]) if args else None
            if isinstance(s, ir.Let) and s.target is not None and n is not None:
                self.places[s.target] = n
            if isinstance(s, ir.For) and s.iterable in self.places:
                s = ir.with_blocks(s, map(self._block, ir.blocks_of(s)))  # first what is in it
                assert isinstance(s, ir.For)
                made += self._copies(s, self.places[s.iterable], mapping) if _is_plain(s) else [s]  # type: ignore[index]
            elif isinstance(s, ir.Let) and s.target is not None and isinstance(s.value, ir.Var) and isinstance(
                self.context.value(s.value), Array
            ):
                mapping[s.target] = s.value  # another name
            elif isinstance(s, ir.Let):
                made.append(s)
            else:
                inner = ir.blocks_of(s)
                made.append(ir.with_blocks(s, map(self._block, inner)) if inner else s)
        return ir.Block(tuple(made), tuple(mapping.get(a, a) for a in block.yields))

    def _copies(self, loop: ir.For, n: int, mapping: dict[ir.Atom, ir.Atom]) -> Iterator[ir.Statement]:
        """The statements of all iterations; ``mapping`` gets what the loop gives."""
        carried = [c.init for c in loop.carried]
        for k in range(n):
            own: dict[ir.Atom, ir.Atom] = {c.param: a for c, a in zip(loop.carried, carried, strict=True)}
            own[loop.item] = ir.Const(k)
            for s in loop.body.statements:
                changed = substitute(s, own)
                added = arguments(changed, operator.add)
                if isinstance(changed, ir.Let) and changed.target is not None:
                    if added is not None and all(isinstance(a, ir.Const) and type(a.value) is int for a in added):
                        own[changed.target] = ir.Const(added[0].value + added[1].value)  # type: ignore[union-attr]
                        continue
                    if added is not None and added[0] == ir.Const(0.0) and self._is_float(added[1]):
                        own[changed.target] = added[1]  # where a sum begins
                        continue
                    value = _outside_of_loops(changed.value)
                    name = changed.target.name
                    own[changed.target] = target = self.context.define(
                        name, self.context.value(changed.target), definition=value)
                    changed = ir.Let(target, value, changed.span)
                yield changed
            carried = [own.get(a, a) for a in loop.body.yields]
        mapping.update(zip((c.result for c in loop.carried), carried, strict=True))

    def _is_float(self, atom: ir.Atom) -> bool:
        """Whether a number is a float: bools are counted as numbers only in a sum that begins with one."""
        known = self.context.value(atom)
        return isinstance(known, Scalar) and issubclass(known.type, float)


def _is_plain(loop: ir.For) -> bool:
    """Whether a loop has statements that may be written out."""
    body = loop.body.statements
    length = sum(1 for s in body if arguments(s, ops.make_tuple) is None)
    if loop.leave is not None or loop.orelse.statements or length > MOST_STATEMENTS:
        return False
    if not all(isinstance(s, (ir.Let, ir.Store)) for s in body):
        return False
    return not any((isinstance(s, ir.Store) and s.op is operator.truediv) or arguments(s, np.where) for s in body)


def _outside_of_loops(value: ir.Value) -> ir.Value:
    """An operation on elements where no loop over elements is around it."""
    match value:
        case ir.Call(ir.Const(value=fn), args, ()) if fn in (operator.truediv, operator.pow):
            if fn is operator.truediv or not isinstance(args[1], ir.Const):
                return ir.Call(ir.Const(_UNROLLED[fn]), args)
    return value
