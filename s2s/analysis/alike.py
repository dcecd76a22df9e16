"""Loops that are written alike: which of them certainly compute the same numbers.

    p = sum(a * e for e in x)
    q = sum(a * e for e in x)           the second loop gives what the first one gave

A loop that changes nothing and calls nothing but pure functions is given by its text, up to the names of what it
defines, and by what it reads from outside.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import assert_never

from s2s.analysis.abstract.folding import is_pure
from s2s.core import ir
from s2s.core.values import AbstractValue, Array, Known, ListOf, Range, Sequence
from s2s.directives.policies import Chosen

__all__ = ["written"]


class _Unlike(Exception):
    """The loop may give something else when it is run again."""


def written(
    loop: ir.For | ir.While, value_of: Callable[[ir.Atom], AbstractValue], key_of: Callable[[ir.Atom], Hashable]
) -> Hashable:
    """What is equal for two loops that give the same; None where that cannot be said. ``key_of`` gives it for what is
    defined outside."""
    try:
        return _Written(value_of, key_of).statement(loop)
    except _Unlike:
        return None


class _Written:
    def __init__(
        self, value_of: Callable[[ir.Atom], AbstractValue], key_of: Callable[[ir.Atom], Hashable]
    ) -> None:
        self.value_of = value_of
        self.key_of = key_of
        self.inside: dict[ir.Var, int] = {}

    def atom(self, atom: ir.Atom | ir.Star) -> Hashable:
        match atom:
            case ir.Star(inner):
                return "*", self.atom(inner)
            case ir.Var() if atom in self.inside:
                return "inside", self.inside[atom]
            case ir.Const():
                return "constant", atom
        return "outside", self.key_of(atom)

    def define(self, *variables: ir.Var | None) -> None:
        for var in variables:
            if var is not None:
                self.inside[var] = len(self.inside)

    def block(self, block: ir.Block) -> Hashable:
        return tuple(map(self.statement, block.statements)), tuple(map(self.atom, block.yields))

    def statement(self, s: ir.Statement) -> Hashable:
        made: Hashable
        match s:
            case ir.Let(target, value):
                made = "let", self.value(value)
                self.define(target)
            case ir.If(test, then, orelse, results):
                made = "if", self.atom(test), self.block(then), self.block(orelse)
                self.define(*results)
            case ir.For(item, iterable):
                if not isinstance(self.value_of(iterable), (Array, Range, Sequence, ListOf, Known)):
                    raise _Unlike
                made = "for", self.atom(iterable), *self.loop(s, [item])
            case ir.While():
                made = "while", *self.loop(s, [])
            case (
                ir.Store() | ir.With() | ir.Try() | ir.Assert() | ir.Raise() | ir.Return() | ir.Break() |
                ir.Continue() | ir.Note()
            ):
                raise _Unlike
            case _:
                assert_never(s)
        return made

    def loop(self, s: ir.For | ir.While, items: list[ir.Var]) -> tuple[Hashable, ...]:
        given = tuple(self.atom(c.init) for c in s.carried)
        self.define(*items, *(c.param for c in s.carried))
        parts = tuple(map(self.block, ir.blocks_of(s)))
        leave = None if s.leave is None else self.atom(s.leave)
        self.define(*(c.result for c in s.carried), s.left)
        return given, parts, leave

    def value(self, value: ir.Value) -> Hashable:
        match value:
            case ir.Var() | ir.Const():
                return self.atom(value)
            case ir.Load(name, scope, owner):
                return "load", name, scope, id(owner)
            case ir.Call(ir.Const(value=fn), args, kwargs):
                called = fn.func if isinstance(fn, Chosen) else fn
                if not is_pure(called):
                    raise _Unlike
                return "call", id(fn), tuple(map(self.atom, args)), tuple((k, self.atom(a)) for k, a in kwargs)
            case ir.Call() | ir.MakeFunction():
                raise _Unlike
            case _:
                assert_never(value)
