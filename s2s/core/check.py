"""The rules of SSA form, checked: each variable is assigned once, and read where it is defined."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from s2s.core import ir
from s2s.core.show import show

__all__ = ["check"]


def check(function: ir.Function) -> ir.Function:
    """Give the function back if it is well-formed SSA; raise ``ir.BrokenIR`` with the printed IR if not."""
    checker = _Checker()
    scope: set[ir.Var] = set()
    checker.define((*function.captures, *(p.var for p in function.params)), function, scope)
    checker.block(function.body, scope, function)
    if len(function.body.yields) != 1:
        checker.note(function, "a function yields one atom")
    if checker.problems:
        raise ir.BrokenIR(f"broken IR in {function.name}\n{show(function, checker.problems)}")
    return function


class _Checker:
    """``problems`` are what was found, by the ``id`` of the statement, handler or function; ``defined`` what was
    assigned so far, anywhere. A ``scope`` has what is defined where a statement stands."""

    def __init__(self) -> None:
        self.problems: dict[int, str] = {}
        self.defined: set[ir.Var] = set()

    def note(self, where: object, problem: str) -> None:
        self.problems.setdefault(id(where), problem)

    def define(self, variables: Iterable[ir.Var | None], where: object, scope: set[ir.Var]) -> None:
        for var in variables:
            if var is None:
                continue
            if var in self.defined:
                self.note(where, f"{var} is assigned twice")
            self.defined.add(var)
            scope.add(var)

    def read(self, atom: ir.Atom | None, where: object, scope: set[ir.Var]) -> None:
        if isinstance(atom, ir.Var) and atom not in scope:
            self.note(where, f"{atom} is read where it is not defined")

    def block(
        self, block: ir.Block, scope: set[ir.Var], owner: object, binds: Iterable[ir.Var | None] = ()
    ) -> set[ir.Var]:
        """Check a block that binds variables of its own; what is in scope at its end."""
        scope = set(scope)
        self.define(binds, owner, scope)
        self.statements(block.statements, scope)
        for atom in block.yields:
            self.read(atom, owner, scope)
        return scope

    def statements(self, statements: Iterable[ir.Statement], scope: set[ir.Var]) -> None:
        for s in statements:
            for atom in ir.reads_of(s):
                if isinstance(atom, ir.Var) and atom not in scope:
                    self.read(atom, s, scope)
            if not isinstance(s, ir.Let):
                self.compound(s, scope)
            elif s.target is not None:
                self.define((s.target,), s, scope)

    def compound(self, s: ir.Statement, scope: set[ir.Var]) -> None:
        """Check what is inside a statement, and what it defines."""
        match s:
            case ir.If(_, then, orelse, results):
                for block in (then, orelse):
                    self.block(block, scope, s)
                    if len(block.yields) != len(results):
                        self.note(s, "a block yields another number than the results")
            case ir.For() | ir.While():
                self.loop(s, scope)
            case ir.With():
                self.managed(s, scope)
                return
            case ir.Try():
                self.attempt(s, scope)
            case ir.Assert(problem=problem):
                self.block(problem, scope, s)
                if len(problem.yields) != 1:
                    self.note(s, "an assertion yields one exception")
            case ir.Return() | ir.Break() | ir.Continue():
                self.note(s, "does not belong in SSA form")
            case ir.Let() | ir.Store() | ir.Raise() | ir.Note():
                pass
            case _:
                assert_never(s)
        self.define(ir.defs_of(s), s, scope)

    def loop(self, s: ir.Loop, scope: set[ir.Var]) -> None:
        params: list[ir.Var] = [c.param for c in s.carried]
        inner = set(scope)
        if isinstance(s, ir.While):
            self.define(params, s, inner)
            self.block(s.test, inner, s)
            after = self.block(s.body, inner, s)
        else:
            after = self.block(s.body, inner, s, (s.item, *params))
        self.read(s.leave, s, after)
        if len(s.body.yields) != len(s.carried) or (isinstance(s, ir.While) and len(s.test.yields) != 1):
            self.note(s, "the body yields another number than the carried variables")

    def managed(self, s: ir.With, scope: set[ir.Var]) -> None:
        """A ``with``, whose body belongs to the block around it."""
        self.define([s.target], s, scope)
        self.statements(s.body.statements, scope)
        if s.body.yields:
            self.note(s, "the body of a `with` yields nothing")
        self.define([s.ended], s, scope)

    def attempt(self, s: ir.Try, scope: set[ir.Var]) -> None:
        self.block(s.orelse, self.block(s.body, scope, s), s)
        for handler in s.handlers:
            self.block(handler.body, scope, s, (handler.name, *(v.param for v in handler.unassigned)))
        blocks = (s.orelse, *(h.body for h in s.handlers))
        if s.body.yields or any(len(b.yields) != len(s.results) for b in blocks):
            self.note(s, "a block yields another number than the results")
        if s.caught is not None and s.caught not in s.results:
            self.note(s, f"{s.caught} is none of the results")
