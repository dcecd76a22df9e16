"""Dead code: a function in SSA form goes in, the same without statements that change nothing and whose results nothing
reads comes out, loops and branches included.

    x = np.sin(a)
    y = np.cos(a)       ->      y = np.cos(a)
    return y                    return y
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.analysis import managers
from s2s.analysis.functions import changes_memory, facts
from s2s.analysis.memory import Memory
from s2s.builder.builder import Context
from s2s.core import ir, ops
from s2s.core.inspection import by_identity
from s2s.core.values import AbstractValue, Array, ListOf, Scalar, Unknown, is_record_class

__all__ = ["changes_argument", "drop_dead", "drop_dead_statements", "is_pure", "is_pure_call", "known_items"]

_SETTINGS = by_identity(*managers.SETTINGS, contextlib.nullcontext, contextlib.suppress)
"""Managers that do nothing but while they are entered."""


def drop_dead(function: ir.Function, context: Context) -> ir.Function:
    """The function without statements that change nothing and whose results nothing reads; those that define a
    variable that ``context`` keeps stay, because they may raise the user's error."""
    yields = function.body.yields
    sweeper = _Sweeper(function, context)
    live = _Live(set(), set())
    sweeper.read(yields, live)
    statements = sweeper.block(function.body.statements, live)
    return ir.replace(function, body=ir.Block(tuple(statements), yields))


def drop_dead_statements(statements: list[ir.Statement], live: set[Any], context: Context) -> list[ir.Statement]:
    """The statements of a rule body that matter when ``live`` is read after it."""
    body = ir.Function("", (), ir.Block(tuple(statements), tuple(live)))
    return list(drop_dead(body, context).body.statements)


_CONTENT, _ITEMS = "content", "items"


def known_items(value: AbstractValue) -> bool:
    """Whether reading a value may read which items a list has: it is no array or number."""
    return not isinstance(value, (Array, Scalar))


@dataclass
class _Needs:
    """What is known to be needed of a loop. A walk of the loop around it begins where the walk before it ended: what is
    live only grows, so nothing of this is ever taken back, and the work is linear in the depth of a nest."""

    carried: set[int] = field(default_factory=set)
    outside: set[Any] = field(default_factory=set)  # the memory that an iteration reads of the one before
    effects: bool = False


@dataclass
class _Live:
    """What is live at a place. Each variable is defined once, and nothing outside the block that defines it reads it,
    so all places share their ``names``; ``memory`` is what a store may change, which one side of a branch may read and
    the other one not: the buffers, and the marks of what they hold."""

    names: set[Any]
    memory: set[Any]

    def __contains__(self, one: Any) -> bool:
        return one in self.names or one in self.memory

    def aside(self, memory: set[Any] | None = None) -> _Live:
        """What is live where another block ends."""
        return _Live(self.names, set(self.memory) if memory is None else memory)


class _Sweeper:
    """One backward walk. Containers that only the statements dropped would have read are dropped with their stores."""

    def __init__(self, function: ir.Function, context: Context) -> None:
        self.context = context
        self.must_keep = context.must_keep | context.effects
        self.found: dict[int, _Needs] = {}  # of each loop, by the identity of its statement
        self.memory: Memory | None = None
        if any(map(_changes, ir.walk(function.body))):
            self.memory = Memory(function, context.value)

    def block(self, statements: Iterable[ir.Statement], live: _Live) -> list[ir.Statement]:
        kept: list[ir.Statement] = []
        for statement in reversed(list(statements)):
            new = self.statement(statement, live)
            if new is not None:
                kept.append(new)
        return kept[::-1]

    def statement(self, s: ir.Statement, live: _Live) -> ir.Statement | None:
        if isinstance(s, ir.Let):
            var, value = s.target, s.value
            if var not in live and self.is_droppable(var, value, live):
                return None
            self.read(ir.atoms_of(value), live)
            if var is None or var in live or var in self.must_keep or is_pure_call(value):
                return s
            return ir.replace(s, target=None)
        match s:
            case ir.Store(_, target):
                if isinstance(target, ir.Var) and self.is_lost(target, live):
                    return None
                self.read(ir.reads_of(s), live)
                return s
            case ir.If():
                return self.branch(s, live)
            case ir.For() | ir.While():
                return self.loop(s, live)
            case ir.With():
                return self.managed(s, live)
            case ir.Try():
                return self.attempt(s, live)
            case ir.Assert(test, problem):
                inside = live.aside(set())
                self.read(problem.yields, inside)
                problem = ir.Block(tuple(self.block(problem.statements, inside)), problem.yields)
                live.memory |= inside.memory
                self.read((test,), live)
                return s if problem.statements == s.problem.statements else ir.replace(s, problem=problem)
            case ir.Note():
                return s
            case ir.Raise() | ir.Return() | ir.Break() | ir.Continue():
                self.read(ir.reads_of(s), live)
                return s

    def is_droppable(self, target: ir.Var | None, value: ir.Value, live: _Live) -> bool:
        if isinstance(value, ir.Call) and isinstance(value.fn, ir.Const) and changes_argument(value.fn.value):
            container = value.args[0]
            return isinstance(container, ir.Var) and self.is_lost(container, live)
        return (
            target is not None
            and target not in self.must_keep
            and is_pure_call(value)
            and not self.runs_iterator(value)
        )

    def runs_iterator(self, value: ir.Value) -> bool:
        """Whether a call reads what another call gave that may run code when it is read, as ``map`` does."""
        if not isinstance(value, ir.Call) or not isinstance(value.fn, ir.Const) or not facts(value.fn.value).consumes:
            return False
        for atom in value.args:
            if isinstance(atom, ir.Var) and isinstance(self.context.value(atom), Unknown):
                made = self.context.definitions.get(atom)
                if made is not None and not is_pure_call(made):
                    return True
        return False

    def is_lost(self, target: ir.Var, live: _Live) -> bool:
        """Whether nothing reads a change of an array or list: it was made here, and no name of it is live."""
        assert self.memory is not None
        is_list = isinstance(self.context.value(target), ListOf)
        if target in live or (self.memory.find(target), _ITEMS if is_list else _CONTENT) in live:
            return False
        same = self.memory.same(target)
        is_made = all(var in self.memory.made for var in same) and any(map(self._is_own, same))
        return is_made and not self._is_outside(same)

    def _is_own(self, var: ir.Var) -> bool:
        """Whether an array or list is made by the statement that defines it."""
        assert self.memory is not None
        value = self.memory.made.get(var)
        is_new = self.memory.is_new(var) and isinstance(self.context.value(var), Array)
        return value is not None and (is_new or _makes_container(value))

    def _is_outside(self, same: list[ir.Var]) -> bool:
        """Whether memory comes from an argument or from what is not known."""
        assert self.memory is not None
        for var in same:
            value = self.memory.made.get(var)
            if var in self.memory.params or isinstance(value, ir.Load):
                return True
            if isinstance(value, ir.Call) and not self._is_own(var) and not any(
                isinstance(a, ir.Var) and a in same for a in ir.atoms_of(value)
            ):
                return True
        return False

    def read(self, atoms: Iterable[ir.Atom], live: _Live) -> None:
        for atom in atoms:
            if not isinstance(atom, ir.Var) or atom in live:
                continue
            if self.memory is None or not self.memory.is_buffer(atom):
                live.names.add(atom)
                continue
            root, known = self.memory.find(atom), self.context.value(atom)
            live.memory.add(atom)
            live.memory.update((root, of) for of in (_CONTENT, _ITEMS) if of == _CONTENT or known_items(known))

    def branch(self, s: ir.If, live: _Live) -> ir.Statement | None:
        keep = [k for k, r in enumerate(s.results) if r in live]
        live.memory.difference_update(s.results)  # nothing reads them before
        live_then, live_else = live.aside(), live.aside()
        blocks = []
        for block, inner in ((s.then, live_then), (s.orelse, live_else)):
            yields = tuple(block.yields[k] for k in keep)
            self.read(yields, inner)
            blocks.append(ir.Block(tuple(self.block(block.statements, inner)), yields))
        if not keep and not any(b.statements for b in blocks):
            return None
        live.memory |= live_then.memory | live_else.memory
        self.read((s.test,), live)
        return ir.replace(s, then=blocks[0], orelse=blocks[1], results=tuple(s.results[k] for k in keep))

    def managed(self, s: ir.With, live: _Live) -> ir.Statement | None:
        """A ``with`` that only sets how errors and warnings are treated goes where nothing is left in it."""
        used = {v for v in (s.target, s.ended) if v in live}
        body = self.block(s.body.statements, live)
        used |= {v for v in (s.target,) if v in live}
        maker = self.context.definitions.get(s.manager) if isinstance(s.manager, ir.Var) else None
        if not body and not used and _is_setting(maker):
            return None
        self.read((s.manager,), live)
        target = s.target if s.target in used else None
        return ir.replace(s, target=target, body=ir.Block(tuple(body)), ended=s.ended if s.ended in used else None)

    def attempt(self, s: ir.Try, live: _Live) -> ir.Statement | None:
        """A ``try`` stays while anything is left in its body or in a handler; what says which block ended, with it."""
        used = any(r in live for r in s.results)
        keep = [k for k, r in enumerate(s.results) if r in live or r == s.caught]
        sides, inside = [], live.aside(set())
        for block in ir.sides_of(s):
            inner = live.aside()
            yields = tuple(block.yields[k] for k in keep)
            self.read(yields, inner)
            sides.append(ir.Block(tuple(self.block(block.statements, inner)), yields))
            inside.memory |= inner.memory
        self.read((kind for h in s.handlers for kind in h.kinds), inside)
        live.memory |= inside.memory
        body = self.block(s.body.statements, live)
        if not body and not used and not any(side.statements for side in sides):
            return None
        handlers = tuple(ir.replace(h, body=side) for h, side in zip(s.handlers, sides[1:], strict=True))
        return ir.replace(
            s, body=ir.Block(tuple(body)), handlers=handlers, orelse=sides[0],
            results=tuple(s.results[k] for k in keep),
        )

    def loop(self, s: ir.For | ir.While, live: _Live) -> ir.Statement | None:
        """Carried variables that only keep themselves alive go; a loop that is left with nothing to do goes too."""
        needs = self.found.setdefault(id(s), _Needs())
        needs.carried |= {k for k, c in enumerate(s.carried) if c.result in live}
        left = s.left if s.left in live else None
        while True:
            needed, outside = set(needs.carried), live.memory | needs.outside
            inner = live.aside(set(outside))
            body, test = self.iteration(s, needs, inner, left)
            needs.carried |= {k for k, c in enumerate(s.carried) if c.param in inner}
            contents = inner.memory - outside
            needs.outside |= contents
            if needs.carried == needed and not contents:
                break
        nothing = not body.statements and not needed and left is None
        if nothing and isinstance(s, ir.For):
            return None
        if isinstance(s, ir.While) and nothing:
            return None
        carried = tuple(c for k, c in enumerate(s.carried) if k in needed)
        live.memory |= inner.memory
        self.read((c.init for c in carried), live)
        self.read(() if s.snapshots is None else (s.snapshots,), live)
        leave = s.leave
        if isinstance(s, ir.For):
            self.read((s.iterable,), live)
            return ir.replace(s, body=body, carried=carried, leave=leave, left=left)
        assert test is not None
        return ir.replace(s, test=test, body=body, carried=carried, leave=leave, left=left)

    def iteration(
        self, s: ir.For | ir.While, needs: _Needs, inner: _Live, left: ir.Var | None
    ) -> tuple[ir.Block, ir.Block | None]:
        """The live statements of a body, given which carried variables are needed."""
        yields = tuple(y for k, y in enumerate(s.body.yields) if k in needs.carried)
        before = inner.aside()
        self.read(yields, inner)
        needs.effects = needs.effects or bool(needs.carried) or left is not None
        statements: list[ir.Statement] = []
        if not needs.effects:
            without = inner.aside()
            statements = self.block(s.body.statements, without)
            needs.effects = bool(statements)
            if statements and s.leave is None:
                inner.memory |= without.memory
        if needs.effects and (s.leave is not None or not statements):
            self.read(() if s.leave is None else (s.leave,), inner)
            statements = self.block(s.body.statements, inner)
        test = None
        if isinstance(s, ir.While) and needs.effects:
            self.read(s.test.yields, before)
            test = ir.Block(tuple(self.block(s.test.statements, before)), s.test.yields)
            inner.memory |= before.memory
        return ir.Block(tuple(statements), yields), test


def _changes(s: ir.Statement) -> bool:
    """Whether a statement changes an array or a list in place."""
    if isinstance(s, ir.Let) and isinstance(s.value, ir.Call) and isinstance(s.value.fn, ir.Const):
        return changes_argument(s.value.fn.value)
    return isinstance(s, ir.Store)


def _is_setting(maker: ir.Value | None) -> bool:
    """Whether a manager does nothing but while it is entered."""
    return isinstance(maker, ir.Call) and isinstance(maker.fn, ir.Const) and id(maker.fn.value) in _SETTINGS


def _makes_container(value: ir.Value) -> bool:
    if not isinstance(value, ir.Call) or not isinstance(value.fn, ir.Const):
        return False
    return id(value.fn.value) in _CONTAINERS


_CONTAINERS = by_identity(
    ops.make_list, ops.make_stack, ops.copy_stack, np.empty, np.zeros_like, rt.zeros_of, np.full_like, list, np.copy,
)


def changes_argument(fn: Any) -> bool:
    """Whether a function changes its first argument in place."""
    return fn is ops.push or fn is ops.pull or changes_memory(fn)


# --- pure functions -------------------------------------------------------------------------------------------------


def is_pure_call(value: ir.Value) -> bool:
    """Whether a value can be dropped when nothing reads it."""
    if not isinstance(value, ir.Call):
        return True
    if not isinstance(value.fn, ir.Const):
        return False
    return is_pure(value.fn.value)


_MAKING_DERIVATIVES = ("s2s.api", "s2s.directives.differentiable", "s2s.transforms")


def is_pure(fn: Any) -> bool:
    """Whether a function has no effect but its result, and raises only where its use would."""
    if getattr(fn, "__module__", None) in _MAKING_DERIVATIVES:
        return True  # it makes a derivative
    if id(fn) in _SETTINGS or (isinstance(fn, type) and issubclass(fn, BaseException)) or is_record_class(fn):
        return True
    return facts(fn).pure
