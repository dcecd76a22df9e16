"""What the functions of this package share: the source, the places, the current scope and the current block.

Statements hold expressions, and expressions hold bodies and other expressions. The modules of this package need not
import each other in a circle for that: they reach what they hold through the context, by ``atom`` and ``value``, by
``suite`` and ``nested``.
"""

from __future__ import annotations

import contextlib
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import libcst as cst

from s2s.core import ir
from s2s.core.ir import Call, Const, Let, Star, Var
from s2s.frontend.lowering.pieces import Tree, line_starts
from s2s.frontend.sources import Source, mangle, private_class

__all__ = ["NONE", "Context", "Scope", "block_of"]

NONE = Const(None)
TEMPORARY = "%"
GENERATED = "%generated"
"""The name of the list that a generator expression is taken for."""


@dataclass
class Scope:
    """The names of one function. ``frames`` are the targets of the comprehensions around the current place,
    innermost last; ``captures`` fills up with what is read from the function around it; ``first`` is the first
    positional parameter, which ``super()`` reads."""

    parent: Scope | None
    locals: set[str]
    globals: set[str]
    nonlocals: set[str]
    free: frozenset[str]
    first: Var | None = None
    frames: list[dict[str, Var]] = field(default_factory=list)
    captures: dict[Var, None] = field(default_factory=dict)
    is_function: bool = True
    yields: bool = False
    """Whether a ``yield`` in the body makes the function a generator."""

    def resolve(self, name: str) -> Var | ir.Load:
        """What a read of ``name`` means here."""
        for frame in reversed(self.frames):
            if name in frame:
                return frame[name]
        if name in self.globals:
            return ir.Load(name, "global")
        if name in self.locals:
            return Var(name)
        if self.parent is None:
            return ir.Load(name, "free" if name in self.free else "global")
        found = self.parent.resolve(name)
        if isinstance(found, Var):
            self.captures[found] = None
        return found


def _assigned_from_inside(text: str) -> set[str]:
    """The names of variables that nested functions assign."""
    if "nonlocal" not in text:
        return set()
    return {name.strip() for names in _NONLOCAL.findall(text) for name in names.replace("\\\n", "").split(",")}


_NONLOCAL = re.compile(r"\bnonlocal\b((?:[^\S\n]|\\\n|[\w,])+)")


class Context:
    """One lowering: what is read from, what is written to, and how the parts of a node are lowered."""

    def __init__(
        self, source: Source, tree: Tree, text: str,
        lower_value: Callable[[Context, cst.BaseExpression], ir.Value],
        lower_suite: Callable[[Context, cst.BaseSuite], None],
    ) -> None:
        self.source = source
        self.module = tree.module
        self.places = tree.places
        self.pieces = tree.pieces
        self.line_starts = line_starts(text)
        self.owner = private_class(source.fn.__code__)
        self._lower_value = lower_value
        self._lower_suite = lower_suite
        self.free = frozenset(source.fn.__code__.co_freevars)
        self.has_walrus = ":=" in source.text
        self.walrus: frozenset[str] = frozenset()  # what the current statement assigns inside an expression
        self.shared = frozenset(mangle(name, self.owner) for name in _assigned_from_inside(source.text))
        self.scope: Scope | None = None
        self.out: list[ir.Statement] = []
        self.temporaries = 0
        self.comprehensions = 0

    def changes_while_read(self, name: str) -> bool:
        """Whether an expression that has read a variable may assign it before its operation is done: by ``:=``, or by
        a call of a nested function."""
        return name in self.walrus or name in self.shared

    def name(self, node: cst.Name) -> str:
        """The name as Python stores it."""
        return mangle(node.value, self.owner)

    def resolve(self, name: str) -> Var | ir.Load:
        assert self.scope is not None
        return self.scope.resolve(name)

    # --- places

    def code(self, node: cst.CSTNode) -> str:
        """The user's text of a node."""
        return self.module.code_for_node(node)

    def span(self, node: cst.CSTNode, end: cst.CSTNode | None = None) -> ir.Span:
        """The place in the user's file of a node, or from its start to the end of ``end`` and its brackets."""
        start, stop = self.places[node][0], self.places[end or node][1]
        if end is not None:
            stop += sum(len(self.code(bracket)) for bracket in getattr(end, "rpar", ()))
        return ir.Span(self.source.file, *self._place(start), *self._place(stop), self.source.qualname)

    def keyword_span(self, node: cst.CSTNode, keyword: str) -> ir.Span:
        """The place of the first word of a compound statement."""
        start = self.span(node)
        return ir.replace(start, end_line=start.line, end_column=start.column + len(keyword))

    def _place(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self.line_starts, offset)
        column = offset - self.line_starts[line - 1]
        index = min(line, len(self.source.removed)) - 1
        bracket = self.source.is_lambda and index == 0  # the one that lower() put before a lambda
        return self.source.first_line + index, column + self.source.removed[index] - bracket

    # --- what comes out

    def temporary(self, name: str = TEMPORARY) -> Var:
        self.temporaries += 1
        return Var(name, self.temporaries)

    def put(self, statement: ir.Statement) -> None:
        self.out.append(statement)

    def let(self, target: Var | None, value: ir.Value, node: cst.CSTNode) -> None:
        self.put(Let(target, value, self.span(node)))

    def bind(self, value: ir.Value, node: cst.CSTNode) -> Var:
        """A new temporary that holds ``value``."""
        target = self.temporary()
        self.let(target, value, node)
        return target

    def call(self, node: cst.CSTNode, fn: Callable[..., Any], *args: ir.Atom | Star) -> Var:
        """A new temporary that holds ``fn(*args)``."""
        return self.bind(Call(Const(fn), args), node)

    @contextlib.contextmanager
    def block(self) -> Iterator[list[ir.Statement]]:
        """Collect the statements that are put inside the ``with`` in a list of their own."""
        outer, self.out = self.out, []
        try:
            yield self.out
        finally:
            self.out = outer

    @contextlib.contextmanager
    def inside(self, scope: Scope) -> Iterator[list[ir.Statement]]:
        """Collect the statements of a nested function, whose names are those of ``scope``."""
        outer, walrus, self.scope = self.scope, self.walrus, scope
        try:
            with self.block() as statements:
                yield statements
        finally:
            self.scope, self.walrus = outer, walrus

    # --- the parts of a node

    def value(self, node: cst.BaseExpression) -> ir.Value:
        """The value of an expression; the operands that it needs are put into the current block."""
        return self._lower_value(self, node)

    def atom(self, node: cst.BaseExpression) -> ir.Atom:
        """The value of an expression as an atom: a variable, a constant, or a new temporary."""
        return self.as_atom(self._lower_value(self, node), node)

    def as_atom(self, value: ir.Value, node: cst.CSTNode) -> ir.Atom:
        return value if isinstance(value, (Var, Const)) else self.bind(value, node)

    def suite(self, node: cst.BaseSuite) -> None:
        """Put the statements of a body."""
        self._lower_suite(self, node)

    def nested(self, node: cst.BaseSuite) -> ir.Block:
        """The statements of a body, as a block of their own."""
        with self.block() as statements:
            self.suite(node)
        return block_of(statements)


def block_of(statements: Sequence[ir.Statement]) -> ir.Block:
    return ir.Block(tuple(statements))
