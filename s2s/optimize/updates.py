"""Stores into arrays that are graphs become new arrays, each under its own name.

    y = np.zeros(5)                      y = np.zeros(5)
    for i in range(5):                   for i in range(5):     carried: y
        y[i] = x[i] * y[i - 1]    ->         y = rt.updated(y, i, x[i] * y[i - 1])

An array of Dask is a graph of what is to be computed: a store into one puts another graph into the object, which its
views do not see. So the function is the same where each read finds the array that the last store made, and no other
name for the memory, on NumPy, is read after a store: that is refused. What is left has no memory, and derivatives of
any order are those of functions.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

from s2s import runtime as rt
from s2s.analysis.memory import Memory, changed_by, may_repeat
from s2s.analysis.sharing import Sharing
from s2s.builder.builder import Builder, Context
from s2s.core import ir
from s2s.core.array_classes import compiled_for, module_of_arrays
from s2s.core.values import Array, Unknown
from s2s.errors import error

__all__ = ["with_updates"]

_GETITEM = ir.Const(operator.getitem)

_UNCLEAR = (
    "which array that is, or how it changes, is not known here",
    "build a new array: np.where(mask, v, x) for x[mask] = v; np.concatenate or np.stack",
)
_INSIDE = (
    "that is in a `try`, or in the test of a `while`", "store outside of the `try` or of the test of the `while`",
)
_SEEN = (
    "another name for its memory, a view perhaps, is read later",
    "store by one index of the array itself, `y[i, j] = v`, and read views after the store",
)
"""What is in the way of a store, and what to write."""


def with_updates(function: ir.Function, context: Context) -> ir.Function:
    """The function without stores into arrays. Raises UnsupportedSyntaxError where one would be seen by another name,
    or is no assignment to places."""
    changes = [s for s in ir.walk(function.body) if _is_change(s, context)]
    return _Updates(function, context, changes).function() if changes else function


def _is_change(s: ir.Statement, context: Context) -> bool:
    target = changed_by(s)
    return isinstance(target, ir.Var) and isinstance(context.value(target), (Array, Unknown))


class _Updates:
    """``now`` has what each changed array is at the statement that is looked at, by the variable that it began with."""

    def __init__(self, function: ir.Function, context: Context, changes: list[ir.Statement]) -> None:
        self.fn, self.context = function, context
        self.memory = Memory(function, context.value)
        self.sharing = Sharing(function, self.memory)
        self.now: dict[ir.Var, ir.Var] = {}
        in_try = {id(s) for t in ir.walk(function.body) if isinstance(t, ir.Try) for s in _inside(t)}
        in_tests = {id(s) for t in ir.walk(function.body) if isinstance(t, ir.While) for s in ir.walk(t.test)}
        for s in changes:
            self._check(s, id(s) in in_try or id(s) in in_tests)

    def function(self) -> ir.Function:
        return ir.replace(self.fn, body=self._block(self.fn.body, ()))

    # --- what is refused

    def _check(self, s: ir.Statement, is_inside: bool) -> None:
        target = changed_by(s)
        assert isinstance(target, ir.Var)
        known = self.context.value(target)
        if not isinstance(s, ir.Store) or s.kind not in ("item", "at", "whole") or not isinstance(known, Array):
            raise self._refused(s, target, *_UNCLEAR)
        if is_inside:
            raise self._refused(s, target, *_INSIDE)
        if not self._is_own(target) or self._is_cast(s, target, known):
            raise self._refused(s, target, *_UNCLEAR)
        for other in self.sharing.seen(s):
            if self._origin(other) is not self._origin(target) and not self._is_number(other):
                raise self._refused(s, target, *_SEEN)

    def _refused(self, s: ir.Statement, target: ir.Var, problem: str, hint: str) -> Exception:
        module = module_of_arrays(compiled_for())
        name, of = target.name.lstrip("%") or "...", getattr(module, "__name__", "")
        return error("S2S146", span=s.span, name=name, module=of, problem=problem, hint=hint)

    def _is_own(self, target: ir.Var) -> bool:
        """Whether an array is certainly none that the function reads from outside: what would change is seen there."""
        for var in self.memory.same(target):
            made = self.memory.made.get(var)
            if isinstance(made, ir.Load):
                return False
            if isinstance(made, ir.Call) and made.fn == ir.Const(getattr):
                if not isinstance(self.context.value(made.args[0]), Array):  # type: ignore[arg-type]
                    return False
        return True

    def _is_cast(self, s: ir.Store, target: ir.Var, known: Array) -> bool:
        """Whether what is stored may be cut to integers."""
        if known.dtype.kind in "fc" and not self.context.may_be_integers(target):
            return False
        return self.context.is_varied(s.value)

    def _is_number(self, var: ir.Var) -> bool:
        """Whether a variable is an item of an array: a number on NumPy, which no store changes."""
        made, known = self.memory.made.get(var), self.context.value(var)
        return isinstance(made, ir.Call) and made.fn == _GETITEM and isinstance(known, Array) and not known.shape

    def _origin(self, var: ir.Var) -> ir.Var:
        while isinstance(made := self.memory.made.get(var), ir.Var):
            var = made
        return var

    # --- what becomes of it

    def _atom(self, atom: ir.Atom) -> ir.Atom:
        if not isinstance(atom, ir.Var) or not self.memory.is_buffer(atom):
            return atom
        origin = self._origin(atom)
        return self.now.get(origin, origin)

    def _block(self, block: ir.Block, carried: Iterable[ir.Var]) -> ir.Block:
        """A block, which yields the arrays as they are at its end besides."""
        statements = self._statements(block)
        return ir.Block(statements, (*map(self._atom, block.yields), *map(self._atom, carried)))

    def _statements(self, block: ir.Block) -> tuple[ir.Statement, ...]:
        made: list[ir.Statement] = []
        for s in block.statements:
            made += self._statement(s)
        return tuple(made)

    def _statement(self, s: ir.Statement) -> Iterable[ir.Statement]:
        match s:
            case ir.Let(ir.Var() as target, ir.Var()) if self.memory.is_buffer(target):
                return ()  # another name for it
            case ir.Store() if _is_change(s, self.context):
                return self._update(s)
            case ir.If():
                return (self._branch(s),)
            case ir.For() | ir.While():
                return (self._loop(s),)
            case ir.With():
                body = ir.Block(self._statements(s.body), s.body.yields)
                return (ir.rebuild(s, self._atom, lambda _: body),)
            case _:
                return (ir.rebuild(s, self._atom, lambda b: self._block(b, ())),)

    def _update(self, s: ir.Store) -> Iterable[ir.Statement]:
        builder = Builder(self.context)
        assert isinstance(s.target, ir.Var)
        a, value, name = self._atom(s.target), self._atom(s.value), self.context.name_of(self._origin(s.target))
        key = ir.Const(Ellipsis) if s.kind == "whole" else self._atom(s.key)
        if s.kind == "at":
            if s.op not in (operator.add, operator.sub):
                raise self._refused(s, s.target, *_UNCLEAR)
            value = builder.call(operator.neg, value, span=s.span) if s.op is operator.sub else value
            made = builder.call(rt.increased, a, key, value, name=name, span=s.span)
        else:
            if s.op is not None:
                old = a if s.kind == "whole" else builder.call(operator.getitem, a, key, span=s.span)
                value = builder.call(s.op, old, value, span=s.span)
            repeats = (ir.Const(True),) if may_repeat(self.context.value(key)) else ()
            made = builder.call(rt.updated, a, key, value, *repeats, name=name, span=s.span)
        assert isinstance(made, ir.Var)
        self.now[self._origin(s.target)] = made
        return builder.statements

    def _changed_in(self, s: ir.Statement) -> list[ir.Var]:
        """The arrays from outside of a branch or a loop that it changes."""
        found = dict[ir.Var, None]()
        made = {var for inner in _inside(s) for var in (*ir.defs_of(inner), *ir.inner_defs_of(inner))}
        made.update(ir.inner_defs_of(s))
        for inner in _inside(s):
            if isinstance(inner, ir.Store) and _is_change(inner, self.context):
                origin = self._origin(inner.target)  # type: ignore[arg-type]
                if origin not in made:
                    found[origin] = None
        return [*found]

    def _new(self, origin: ir.Var, *others: Any) -> ir.Var:
        context = self.context
        var = context.define(context.name_of(origin), context.value(origin), context.is_varied(origin))
        context.joined(var, *others)
        return var

    def _branch(self, s: ir.If) -> ir.Statement:
        changed, before = self._changed_in(s), dict(self.now)
        sides, test = [], self._atom(s.test)
        for side in (s.then, s.orelse):
            self.now = dict(before)
            sides.append(self._block(side, changed))
        self.now = before
        added = [self._new(o, sides[0].yields[k - len(changed)], sides[1].yields[k - len(changed)])
                 for k, o in enumerate(changed)]
        self.now.update(zip(changed, added))
        return ir.replace(s, test=test, then=sides[0], orelse=sides[1], results=(*s.results, *added))

    def _loop(self, s: ir.For | ir.While) -> ir.Statement:
        changed = self._changed_in(s)
        first = [self._atom(o) for o in changed]
        params = [self._new(o, init) for o, init in zip(changed, first)]
        given = [ir.replace(c, init=self._atom(c.init)) for c in s.carried]
        before, outside = dict(self.now), dict[str, Any]()
        if isinstance(s, ir.For):
            outside = {"iterable": self._atom(s.iterable)}
        self.now.update(zip(changed, params))
        if isinstance(s, ir.While):
            outside = {"test": self._block(s.test, ())}
        body = self._block(s.body, changed)
        leave = None if s.leave is None else self._atom(s.leave)
        self.now = before
        added = [self._new(o, init, last) for o, init, last in
                 zip(changed, first, body.yields[len(body.yields) - len(changed) :])]
        self.now.update(zip(changed, added))
        carried = (*given, *map(ir.Carried, params, first, added))
        return ir.replace(s, body=body, carried=carried, leave=leave, **outside)


def _inside(s: ir.Statement) -> Iterable[ir.Statement]:
    for block in ir.blocks_of(s):
        yield from ir.walk(block)
