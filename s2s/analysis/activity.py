"""Activity: which variables of a specialised function carry a derivative to the result.

A variable is active when it depends on a differentiated input (``varied``, known from specialisation) and the result
depends on it (``useful``, found here, backwards). Only active variables get adjoints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import assert_never

from s2s.core import ir, ops
from s2s.core.dataflow import saturate


def find_useful(
    body: ir.Block, seeds: set[ir.Var], is_varied: Callable[[ir.Atom], bool],
    same: Callable[[ir.Var], Iterable[ir.Var]] = lambda var: (var,),
) -> set[ir.Var]:
    """The varied variables of a block that its ``seeds`` depend on; ``same`` gives those that may share memory that
    changes with a variable: a store through one of them is seen by all."""
    found = _Useful(is_varied, same)
    for seed in seeds:
        found.mark(seed)
    found.block(body)
    if any(isinstance(s, ir.Store) for s in ir.walk(body)):
        saturate(found.useful, lambda: found.block(body))
    return found.useful


def written_by(s: ir.Statement) -> ir.Atom | None:
    """The variable that a statement computes, or the array or stack that it writes into."""
    match s:
        case ir.Let(None, ir.Call(ir.Const(value=fn), args)) if fn is ops.push:
            return args[0]  # type: ignore[return-value]
        case ir.Let(target) | ir.Store(_, target):
            return target
    return None


class _Useful:
    """The walk backwards: ``useful`` is what has been found so far."""

    def __init__(self, is_varied: Callable[[ir.Atom], bool], same: Callable[[ir.Var], Iterable[ir.Var]]) -> None:
        self.is_varied, self.same = is_varied, same
        self.useful: set[ir.Var] = set()

    def mark(self, atom: ir.Atom) -> None:
        if isinstance(atom, ir.Var) and atom not in self.useful and self.is_varied(atom):
            self.useful.update(filter(self.is_varied, self.same(atom)))

    def block(self, block: ir.Block) -> None:
        for statement in reversed(block.statements):
            self.statement(statement)

    def statement(self, statement: ir.Statement) -> None:
        useful = self.useful
        match statement:
            case ir.Let(_, value) if written_by(statement) in useful:
                for atom in ir.atoms_of(value):
                    self.mark(atom)
            case ir.Store(_, target, _, value) if target in useful:
                self.mark(value)
            case ir.If(results=results) | ir.Try(results=results):
                for k, result in enumerate(results):
                    if result in useful:
                        for side in ir.sides_of(statement):
                            self.mark(side.yields[k])
                for block in reversed(ir.blocks_of(statement)):
                    self.block(block)
            case ir.With(body=body):
                self.block(body)
            case ir.For(body=body, carried=carried) | ir.While(body=body, carried=carried):
                saturate(useful, lambda: self.iteration(body, carried))
            case (
                ir.Let() | ir.Store() | ir.Assert() | ir.Raise() | ir.Return() | ir.Break() | ir.Continue() |
                ir.Note()
            ):
                pass
            case _:
                assert_never(statement)

    def iteration(self, body: ir.Block, carried: tuple[ir.Carried, ...]) -> None:
        for c, following in zip(carried, body.yields, strict=True):
            if c.result in self.useful or c.param in self.useful:
                for atom in (c.result, c.param, following, c.init):
                    self.mark(atom)
        self.block(body)
