"""Variables that several functions share: a function in named form goes in; one comes out in which they are cells.

A nested function sees a variable of the function around it as it is when it runs, and may assign it (``nonlocal``).
Such a variable is kept in a list of one item, which all of them hold: what Python does with its own cells.

    n = 0                            %n = [n]; n = 0; %n[0] = n
    def count():                     def count():
        nonlocal n            ->         n = %n[0] + 1
        n = n + 1                        %n[0] = n
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import assert_never

from s2s.core import ir, ops
from s2s.core.ir import Call, Const, Let, Var
from s2s.normalize.liveness import assigned

__all__ = ["share_variables"]


def share_variables(function: ir.Function, late: frozenset[str] = frozenset()) -> ir.Function:
    """The function with cells for the variables that nested functions assign, for those that functions which call each
    other are bound to, and for those of these names that nested functions read."""
    inner = [s.value for s in ir.walk(function.body) if isinstance(s, Let) and isinstance(s.value, ir.MakeFunction)]
    if not inner:
        return function
    return _Sharing(late).function(function)


class _Sharing:
    def __init__(self, late: frozenset[str]) -> None:
        self.late = late
        self.temporaries = 0
        self.cells: dict[Var, Var] = {}

    def function(self, function: ir.Function) -> ir.Function:
        """A function, with the cells of the functions around it in ``cells``."""
        around = self.cells
        own = self._own(function)
        captured = {v: around[v] for v in function.captures if v in around}
        self.cells = captured | {v: Var(f"%{v.name}", 0) for v in own}
        try:
            params = {p.var for p in function.params}
            made: list[ir.Statement] = [
                Let(self.cells[v], Call(Const(ops.make_cell), (v if v in params else ir.UNDEFINED,)), function.span)
                for v in sorted(own, key=str)
            ]
            body = self.block(function.body) if self.cells else self._nested(function.body)
            captures = tuple(self.cells.get(v, v) for v in function.captures)
            return ir.replace(
                function, captures=captures, body=ir.replace(body, statements=(*made, *body.statements)))
        finally:
            self.cells = around

    def _own(self, function: ir.Function) -> set[Var]:
        """The variables of a function that are to be cells."""
        nested = {
            s.target: s.value.function for s in ir.walk(function.body)
            if isinstance(s, Let) and isinstance(s.value, ir.MakeFunction)
        }
        shared = {v for inner in nested.values() for v in _assigned_inside(inner)}
        for inner in nested.values():
            shared.update(v for v in inner.captures if v.name in self.late and not v.version)
        for name, inner in nested.items():
            shared.update(
                v for v in inner.captures if v != name and v in nested and name in nested[v].captures)
        return {v for v in shared if v not in function.captures and not v.is_temporary}

    # --- statements

    def _nested(self, block: ir.Block) -> ir.Block:
        """A block without cells of its own, whose nested functions may have some."""
        made: list[ir.Statement] = []
        for s in block.statements:
            if isinstance(s, Let) and isinstance(s.value, ir.MakeFunction):
                s = ir.replace(s, value=ir.replace(s.value, function=self.function(s.value.function)))
            made.append(ir.with_blocks(s, map(self._nested, ir.blocks_of(s))))
        return ir.Block(tuple(made), block.yields)

    def block(self, block: ir.Block, bound: Iterable[Var | None] = ()) -> ir.Block:
        """A block; ``bound`` is what the statement around it has bound before."""
        made: list[ir.Statement] = [s for v in bound for s in self._stored(v, None)]
        for s in block.statements:
            made += self._statement(s)
        yields = self._read(block.yields, made, None)
        return ir.Block(tuple(made), tuple(yields.get(a, a) for a in block.yields))

    def _statement(self, s: ir.Statement) -> list[ir.Statement]:
        span = getattr(s, "span", None)
        made: list[ir.Statement] = []
        if isinstance(s, Let) and isinstance(s.value, ir.MakeFunction):
            read = self._read((a for _, a in s.value.defaults), made, span)
            function = self.function(s.value.function)
            defaults = tuple((key, read.get(a, a)) for key, a in s.value.defaults)
            captures = tuple(self.cells.get(v, v) for v in s.value.captures)  # type: ignore[arg-type]
            made.append(ir.replace(s, value=ir.MakeFunction(function, captures, defaults)))
            return made + self._stored(s.target, span)
        read = self._read(ir.reads_of(s), made, span)
        rest: Iterable[Var | None] = ()
        match s:
            case ir.For(item=item):
                blocks = [self.block(s.body, (item,)), self.block(s.orelse)]
            case ir.With(target=target):
                blocks = [self.block(s.body, (target,))]
            case ir.Try(handlers=handlers):
                inside = [self.block(h.body, (h.name,)) for h in handlers]
                blocks = [self.block(s.body), self.block(s.orelse), *inside]
                blocks += [self.block(s.final)] if s.final.statements else []
            case Let(target):
                blocks, rest = [], (target,)
            case (
                ir.If() | ir.While() | ir.Assert() | ir.Store() | ir.Raise() | ir.Return() | ir.Break() | ir.Continue()
                | ir.Note()
            ):
                blocks = [self.block(b) for b in ir.blocks_of(s)]
            case _:
                assert_never(s)
        new = ir.rebuild(ir.with_blocks(s, blocks), lambda a: read.get(a, a), lambda b: b)
        return [*made, new, *(x for v in rest for x in self._stored(v, span))]

    def _read(self, atoms: Iterable[ir.Atom], made: list[ir.Statement], span: ir.Span | None) -> dict[ir.Atom, ir.Atom]:
        """Read those of the atoms that are in cells, in statements that come before."""
        read: dict[ir.Atom, ir.Atom] = {}
        for atom in atoms:
            if isinstance(atom, Var) and atom in self.cells and atom not in read:
                self.temporaries += 1
                now = read[atom] = Var("%shared", self.temporaries)
                made.append(Let(now, Call(Const(operator.getitem), (self.cells[atom], Const(0))), span))
        return read

    def _stored(self, var: Var | None, span: ir.Span | None) -> list[ir.Statement]:
        """What follows where a variable has been bound."""
        if var is None or var not in self.cells:
            return []
        return [ir.Store("item", self.cells[var], Const(0), var, None, span)]


def _assigned_inside(function: ir.Function) -> set[Var]:
    """The captured variables that a function or one inside it assigns."""
    found = set(assigned(function.body)) & set(function.captures)
    for s in ir.walk(function.body):
        if isinstance(s, Let) and isinstance(s.value, ir.MakeFunction):
            found |= _assigned_inside(s.value.function) & set(function.captures)
    return found
