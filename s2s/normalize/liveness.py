"""What the named form reads and assigns: which variables are live where, those that nested functions capture included.

    y = a * x               live before it: a, x, and what is live after it but y
    f = lambda: x * k       nothing: reading f reads x and k
"""

from __future__ import annotations

import collections
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from s2s.core import ir

__all__ = ["Lives", "Liveness", "Statements", "assigned"]

Statements: TypeAlias = tuple[ir.Statement, ...]
Captures: TypeAlias = dict[ir.Var, tuple[ir.Var, ...]]


@dataclass(frozen=True, slots=True)
class Lives:
    """The variables that are read in some statements or after them, and after which of them those of ``afters`` are."""

    statements: Statements
    after: set[ir.Var]
    afters: dict[int, set[ir.Var]]
    before: set[ir.Var]


def targets(statement: ir.Statement) -> tuple[ir.Var, ...]:
    """The variables that a statement of the named form assigns itself, nested blocks apart."""
    match statement:
        case ir.Let(target) | ir.With(target=target) | ir.While(left=target):
            return () if target is None else (target,)
        case ir.For(item=item, left=left):
            return (item,) if left is None else (item, left)
        case ir.Try(handlers=handlers):
            return tuple(handler.name for handler in handlers if handler.name is not None)
        case ir.Store() | ir.If() | ir.Assert() | ir.Raise() | ir.Return() | ir.Break() | ir.Continue() | ir.Note():
            return ()
        case _:
            assert_never(statement)


def assigned(*blocks: ir.Block) -> dict[ir.Var, None]:
    """The variables assigned in blocks, in the order of the text."""
    return {var: None for block in blocks for statement in ir.walk(block) for var in targets(statement)}


def _nested_functions(function: ir.Function) -> Captures:
    """The variables that name a nested function, once and for all, with the variables that it captures."""
    statements = list(ir.walk(function.body))
    count = collections.Counter(var for statement in statements for var in targets(statement))
    count.update((*function.captures, *(p.var for p in function.params)))
    captures: Captures = {}
    for statement in statements:
        match statement:
            case ir.Let(ir.Var() as target, ir.MakeFunction(captures=atoms)) if count[target] == 1:
                captures[target] = tuple(atom for atom in atoms if isinstance(atom, ir.Var))
            case ir.Let(ir.Var() as target, ir.Var() as source) if count[target] == 1 and source in captures:
                captures[target] = captures[source]
    return captures


class Liveness:
    """What is read of the variables of a function.

    ``captures`` has the variables that name a nested function, once and for all, with those that it captures; ``known``
    what was found by the ``id`` of statements and of what is read after them.
    """

    def __init__(self, function: ir.Function) -> None:
        self.captures = _nested_functions(function)
        self.known: dict[tuple[int, int], Lives] = {}

    def read_by(self, atoms: Iterable[ir.Atom]) -> set[ir.Var]:
        """The variables that reading these atoms reads: a nested function's captures with it."""
        found: set[ir.Var] = set()
        pending = [atom for atom in atoms if isinstance(atom, ir.Var)]
        while pending:
            var = pending.pop()
            if var not in found:
                found.add(var)
                pending += self.captures.get(var, ())
        return found

    def lives(self, statements: Statements, after: set[ir.Var]) -> Lives:
        """The variables whose values are read in a run of statements, or after it, where ``after`` are read; and those
        that are read after each of the statements that have blocks. Looked for once: the blocks of a statement are
        asked when it is, and again when they are renamed."""
        known = self.known.get((id(statements), id(after)))
        if known is None:
            live, afters, is_own = after, dict[int, set[ir.Var]](), False
            for k in reversed(range(len(statements))):
                statement = statements[k]
                if isinstance(statement, (ir.Let, ir.Store, ir.Note)):
                    live = live if is_own else set(live)
                    self._step_back(statement, live)
                    is_own = True
                else:
                    afters[k] = live
                    live = self.before_one(statement, live)
                    is_own = False
            known = self.known[id(statements), id(after)] = Lives(statements, after, afters, live)
        return known

    def before(self, statements: Statements, after: set[ir.Var]) -> set[ir.Var]:
        return self.lives(statements, after).before

    def _step_back(self, statement: ir.Let | ir.Store | ir.Note, live: set[ir.Var]) -> None:
        """What is live after a statement becomes what is live before it."""
        match statement:
            case ir.Let(target, ir.MakeFunction(_, _, defaults)) if target in self.captures:
                live.discard(target)
                live |= self.read_by(atom for _, atom in defaults)
            case ir.Let() | ir.Store() | ir.Note():
                live.difference_update(targets(statement))
                live |= self.read_by(ir.reads_of(statement))
            case _:
                assert_never(statement)

    def before_one(self, statement: ir.Statement, after: set[ir.Var]) -> set[ir.Var]:
        """What is live before a statement; ``after`` stays as it is."""
        match statement:
            case ir.If(test, then, orelse):
                branches = (self.before(block.statements, after) for block in (then, orelse))
                return self.read_by((test,)).union(*branches)
            case ir.For(iterable=iterable):
                return self.at_head(statement, after) | self.read_by((iterable,))
            case ir.While():
                return self.at_head(statement, after)
            case ir.With(manager, target, body):
                return (self.before(body.statements, after) - {target}) | self.read_by((manager,))
            case ir.Try(body, handlers, orelse):
                caught = set().union(*(self.in_handler(h, after) for h in handlers))
                inside = self.before(orelse.statements, after) | caught
                kinds = self.read_by(ir.reads_of(statement))
                return self.before(body.statements, inside) | caught | kinds
            case ir.Assert(test, problem):
                wanted = self.read_by(problem.yields)
                return after | self.read_by((test,)) | self.before(problem.statements, wanted)
            case ir.Raise():
                return self.read_by(ir.reads_of(statement))
            case ir.Let() | ir.Store() | ir.Note():
                live = set(after)
                self._step_back(statement, live)
                return live
            case ir.Return() | ir.Break() | ir.Continue():
                raise AssertionError("exits are resolved before")
            case _:
                assert_never(statement)

    def in_handler(self, handler: ir.Handler, after: set[ir.Var]) -> set[ir.Var]:
        return self.before(handler.body.statements, after) - {handler.name}

    def at_head(self, loop: ir.For | ir.While, after: set[ir.Var]) -> set[ir.Var]:
        """The variables whose values at the start of an iteration, or of none, are read in the loop or after it.

        An iteration hands on what the next one reads before it assigns it, so one look at the body is enough.
        """
        after = after - {loop.left} if loop.left is not None else after
        wanted = self.read_by((loop.leave,)) if loop.leave is not None else set()
        in_body = self.before(loop.body.statements, wanted)
        match loop:
            case ir.For(item=item):
                return after | (in_body - {item})
            case ir.While(test=test):
                return self.before(test.statements, after | in_body | self.read_by(test.yields))
            case _:
                assert_never(loop)
