"""Ownership: where ``x += v`` on an array is the same as ``x = x + v``.

It changes the array, whoever refers to it; so it is taken for a new array only where nothing else refers to the old.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from s2s import ir
from s2s import runtime as rt
from s2s.analysis.lattice import is_number
from s2s.analysis.memory import Memory
from s2s.analysis.values import Array, ListOf, Sequence, Unknown
from s2s.errors import error
from s2s.passes.build import Context
from s2s.rules import table

_MAKES_NEW: set[Any] = {
    np.zeros, np.ones, np.empty, np.full, np.array, np.copy, np.ndarray.copy, np.arange, np.linspace, np.eye,
    np.zeros_like, np.ones_like, np.full_like, np.empty_like, np.dot, np.matmul, operator.matmul, np.outer, np.sum,
    np.mean, np.where, np.concatenate, np.stack, np.cumsum, np.ndarray.astype, np.linalg.solve, np.linalg.inv,
}


def shared_rebindings(
    function: ir.Function, rebound: list[tuple[ir.Var, ir.Var, ir.Span | None]], context: Context
) -> set[ir.Span | None]:
    """The augmented assignments to arrays that another name, a container or the caller may refer to, or that other
    statements store into: they have to change the array itself."""
    arrays = [(old, new, span) for old, new, span in rebound if isinstance(context.value(old), Array)]
    if not arrays:
        return set()
    graph, memory = _Graph(function, context), Memory(function, context.value, opaque=False)
    return {
        span
        for old, new, span in arrays
        if new in graph.order and (memory.is_buffer(old) or memory.is_buffer(new) or not graph.is_own(old, new))
    }


def check_rebinding(
    function: ir.Function, rebound: list[tuple[ir.Var, ir.Var, ir.Span | None]], context: Context
) -> ir.Function:
    """Refuse an augmented assignment to a list that another name, a container or the caller may refer to.

    Where the kind of the value is not known, ``rt.check_own`` tests it when the program runs; the function given back
    is without the tests that are not needed.
    """
    if not rebound:
        return function
    graph = _Graph(function, context)
    order = graph.order
    own: set[ir.Atom] = set()
    for old, new, span in rebound:
        if new not in order or is_number(context.value(old)):
            continue
        if graph.is_own(old, new):
            own.add(old)
        elif not isinstance(context.value(old), Unknown):
            raise error(
                "S2S117", span=span, name=new.name.lstrip("%"),
                label="another name may refer to this array",
                hint=f"write `{new.name} = {new.name} + ...`, which makes a new array",
            )
    return ir.replace(function, body=_without_tests(function.body, own))


_TEST = ir.Const(rt.check_own)


def _without_tests(block: ir.Block, own: set[ir.Atom]) -> ir.Block:
    made = []
    for s in block.statements:
        match s:
            case ir.Let(None, ir.Call(fn, args)) if fn == _TEST and args[0] in own:
                continue
            case _:
                s = ir.with_blocks(s, (_without_tests(inner, own) for inner in ir.blocks_of(s)))
        made.append(s)
    return ir.Block(tuple(made), block.yields)


class _Graph:
    """Which variables are one object through branches and loops, and who reads them."""

    def __init__(self, function: ir.Function, context: Context) -> None:
        self.context = context
        self.made: dict[ir.Var, ir.Value] = {}
        self.order: dict[ir.Var, int] = {}
        self.links: dict[ir.Var, set[ir.Var]] = {}
        self.reads: dict[ir.Var, list[tuple[int, ir.Statement]]] = {}
        self.params = {p.var for p in function.params}
        self.inits: dict[ir.Var, int] = {}
        self.ends: dict[int, int] = {}
        self.clock = 0
        self._block(function.body)
        for atom in function.body.yields:
            self._read(atom, ir.Return(atom))

    def _tick(self) -> int:
        self.clock += 1
        return self.clock

    def _read(self, atom: ir.Atom, statement: ir.Statement) -> None:
        if isinstance(atom, ir.Var):
            self.reads.setdefault(atom, []).append((self.clock, statement))

    def _link(self, a: ir.Atom, b: ir.Atom) -> None:
        if isinstance(a, ir.Var) and isinstance(b, ir.Var):
            self.links.setdefault(a, set()).add(b)
            self.links.setdefault(b, set()).add(a)

    def _block(self, block: ir.Block) -> None:
        for s in block.statements:
            self._tick()
            match s:
                case ir.If(results=results) | ir.Try(results=results):
                    for block in ir.blocks_of(s):
                        self._block(block)
                    for k, result in enumerate(results):
                        for side in ir.sides_of(s):
                            self._link(result, side.yields[k])
                case ir.For(body=body, carried=carried) | ir.While(body=body, carried=carried):
                    for c, following in zip(carried, body.yields, strict=True):
                        self._link(c.param, c.init)
                        self._link(c.param, following)
                        self._link(c.param, c.result)
                    if isinstance(s, ir.While):
                        self._block(s.test)
                    self._block(body)
                case _:
                    for atom in ir.reads_of(s):
                        self._read(atom, s)
                    if isinstance(s, ir.Let) and s.target is not None:
                        self.made[s.target] = s.value
                        self.order[s.target] = self.clock
                    if isinstance(s, ir.With):
                        self._block(s.body)

    def is_own(self, old: ir.Var, new: ir.Var) -> bool:
        """Whether nothing but the assignment that gives ``new`` sees the object ``old`` change."""
        return all(self.is_new(m) and not self.is_read_otherwise(m, new) for m in self.same_object(old))

    def same_object(self, var: ir.Var) -> set[ir.Var]:
        """The variables that may hold the same object as ``var``, through joins."""
        found, todo = {var}, [var]
        while todo:
            for other in self.links.get(todo.pop(), ()):
                if other not in found:
                    found.add(other)
                    todo.append(other)
        return found

    def is_new(self, var: ir.Var) -> bool:
        """Whether a variable is an object of this function's own, or a join of such."""
        if var in self.params:
            return False
        value = self.made.get(var)
        if value is None:
            return True
        if not isinstance(value, ir.Call) or not isinstance(value.fn, ir.Const):
            return False
        if not isinstance(self.context.value(var), (Array, Unknown, ListOf, Sequence)):
            return True
        if "copy" in dict(value.kwargs):  # copy=False may give the array itself
            return False
        rule = table.find(value.fn.value)
        return value.fn.value in _MAKES_NEW or (rule is not None and _makes_new(rule))

    def is_read_otherwise(self, var: ir.Var, new: ir.Var) -> bool:
        """Whether a variable is read after the assignment, or kept by something that outlives it."""
        at = self.order[new]
        for when, statement in self.reads.get(var, ()):
            if self.order.get(var, -1) > at:
                continue
            if isinstance(statement, ir.Return):
                if var == new or new in self.links:
                    continue
                return True
            if when > at or self._keeps(statement, new):
                return True
        return False

    def _keeps(self, statement: ir.Statement, new: ir.Var) -> bool:
        if not isinstance(statement, ir.Let) or statement.target == new or statement.target is None:
            return False  # ``rt.check_own`` looks only
        if is_number(self.context.value(statement.target)):
            return False
        value = statement.value
        if not isinstance(value, ir.Call) or not isinstance(value.fn, ir.Const):
            return True
        rule = table.find(value.fn.value)
        if value.fn.value in _MAKES_NEW or value.fn.value in (getattr, len, np.shape):
            return value.fn.value is getattr and isinstance(self.context.value(statement.target), (Array, Unknown))
        return rule is None or not (rule.kind == "zero" or _makes_new(rule))


def _makes_new(rule: table.Rule) -> bool:
    """Whether the result of a function is an array of its own, by its rule."""
    return rule.kind in ("partials", "straight_through") and not rule.by_user
