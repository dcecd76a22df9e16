"""Blocks that are nested more deeply than Python reads: takes a block of named code, gives one that runs the same
statements in the same order, in fewer levels.

    if a:                                      reached = reached_1 = False
        if b:                                  if a:
            if c:                                  reached_1 = True
                deep()             ->              if b:
        after()                                        reached = True
                                               if reached:
                                                   if c:
                                                       deep()
                                               if reached_1:
                                                   after()

What is too deep, and what follows it in the blocks around it, is put off to the end of the outermost ``if``, each
part behind a flag that is set where the part stood. The test of an ``if`` is computed where it was, once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from s2s.codegen.code import (
    Assert,
    Assign,
    Break,
    Change,
    Comment,
    Copies,
    For,
    Handler,
    If,
    Raise,
    Return,
    Statement,
    Try,
    While,
    With,
    ends,
)
from s2s.core.ir import Const, Var

__all__ = ["LEVELS", "flatten"]

LEVELS = 80
"""So many levels of blocks are printed. Python itself reads 100."""

_BRANCHES = 40
"""So many levels of branches stand between two loops at most."""

_Block: TypeAlias = list[Statement]
_Later: TypeAlias = list[tuple[Var, _Block]]


def flatten(block: _Block, depth: int, prints: Callable[[_Block], bool], fresh: Callable[[], Var]) -> _Block:
    """The block, which is printed ``depth`` levels deep, in ``LEVELS`` levels or little more.

    ``prints`` tells whether statements print anything, ``fresh`` makes a flag.
    """
    blocks, loops = _levels(block)
    if depth + blocks <= LEVELS:
        return block
    flattener = _Flattener(prints, fresh, min(_BRANCHES, max(2, (LEVELS - depth) // (loops + 1) - 1)))
    return block if flattener.height(block) + depth <= LEVELS else flattener.block(block)


def _levels(block: _Block) -> tuple[int, int]:
    """The most blocks that lie in each other, where each ``elif`` counts as one, and the most that are no branches."""
    levels = loops = 0
    left = [(block, 0, 0)]
    while left:
        statements, depth, around = left.pop()
        levels, loops = max(levels, depth), max(loops, around)
        for statement in statements:
            inside = around + (not isinstance(statement, If))
            left += [(inner, depth + 1, inside) for inner in _blocks(statement)]
    return levels, loops


def _blocks(statement: Statement) -> tuple[_Block, ...]:
    match statement:
        case If(_, then, orelse):
            return then, orelse
        case For(body=body) | With(body=body):
            return (body,)
        case While(head, _, body):
            return head, body
        case Assert(body=body):
            return (body,)
        case Try(body, handlers, orelse):
            return (body, *(handler.body for handler in handlers), orelse)
        case Assign() | Copies() | Change() | Break() | Return() | Raise() | Comment():
            return ()


@dataclass(slots=True)
class _Flattener:
    prints: Callable[[_Block], bool]
    fresh: Callable[[], Var]
    most: int
    heights: dict[tuple[int, bool, bool], int] = field(default_factory=dict)
    """The levels of statements, by their ``id``, whether loops count, and whether they are printed as ``elif``."""
    ending: dict[int, bool] = field(default_factory=dict)

    # --- how deep a block is

    def height(self, block: _Block, loops: bool = True) -> int:
        """The levels of blocks in a block, as they are printed; without ``loops`` those of branches down to the next
        loop."""
        return max((self.height_of(statement, loops) for statement in block), default=0)

    def height_of(self, statement: Statement, loops: bool, after_elif: bool = False) -> int:
        key = (id(statement), loops, after_elif)
        if key not in self.heights:
            if isinstance(statement, If):
                self.heights[key] = self.height_of_branch(statement, loops, after_elif)
            else:
                inner = _blocks(statement) if loops else ()
                self.heights[key] = max((1 + self.height(block) for block in inner), default=0)
        return self.heights[key]

    def height_of_branch(self, branch: If, loops: bool, after_elif: bool) -> int:
        height = 1 + self.height(branch.then, loops)
        shown = self.shown(branch.orelse)
        if shown and self.is_level(branch, shown, after_elif):
            elif_branch = not (self.ends(branch.then) and not after_elif)
            return max(height, *(self.height_of(s, loops, elif_branch) for s in shown))
        return max(height, 1 + self.height(shown, loops))

    def is_level(self, branch: If, shown: _Block, after_elif: bool) -> bool:
        """Whether the ``else`` of a branch is printed no deeper than the branch: as what follows, or as ``elif``."""
        if not self.prints(branch.then):
            return False
        if self.ends(branch.then) and not after_elif:
            return True
        return len(shown) == 1 and isinstance(shown[0], If) and self.prints(shown[0].then)

    def shown(self, block: _Block) -> _Block:
        return [statement for statement in block if self.prints([statement])]

    def ends(self, block: _Block) -> bool:
        if not block:
            return False
        last = block[-1]
        if id(last) not in self.ending:
            self.ending[id(last)] = (
                self.ends(last.then) and self.ends(last.orelse) if isinstance(last, If) else ends([last])
            )
        return self.ending[id(last)]

    # --- how it is made flat

    def block(self, block: _Block) -> _Block:
        """The same block with at most ``most`` levels of branches down to each loop, and in the loops."""
        out: _Block = []
        for statement in block:
            if isinstance(statement, If) and self.height_of(statement, False) > self.most:
                made, later = self.branch(statement, self.most)
                self.put(made, later, out)
                left = later[::-1]
                while left:
                    flag, put_off = left.pop()
                    inner, later = self.cut(put_off, self.most)
                    self.put(If(flag, inner, []), later, out)
                    left += reversed(later)
            else:
                out.append(self.inside(statement))
        return out

    def put(self, branch: If, later: _Later, out: _Block) -> None:
        """A branch, after the flags that it sets."""
        if later:
            out.append(Copies([(flag, Const(False)) for flag, _ in later]))
        out.append(branch)

    def branch(self, branch: If, most: int) -> tuple[If, _Later]:
        then, later = self.cut(branch.then, most - 1)
        shown = self.shown(branch.orelse)
        is_level = not later and bool(shown) and self.is_level(branch, shown, True)
        orelse, more = self.cut(shown, most if is_level else most - 1)
        return If(branch.test, then, orelse, branch.inline, branch.span), later + more

    def cut(self, block: _Block, most: int) -> tuple[_Block, _Later]:
        """The block with at most ``most`` levels of branches, and what is put off, with its flags."""
        out: _Block = []
        for place, statement in enumerate(block):
            if not isinstance(statement, If) or self.height_of(statement, False) <= most:
                out.append(self.inside(statement))
                continue
            if most <= 0:
                flag = self.fresh()
                return [*out, Assign(flag, Const(True))], [(flag, block[place:])]
            made, later = self.branch(statement, most)
            rest = self.shown(block[place + 1 :])
            if later and not rest:
                return [*out, made], later
            if later:
                flag = self.fresh()
                return [*out, Assign(flag, Const(True)), made], [*later, (flag, rest)]
            out.append(made)
        return out, []

    def inside(self, statement: Statement) -> Statement:
        """A statement whose branches are not too deep, with the loops in it made flat."""
        match statement:
            case If(test, then, orelse, inline, span):
                return If(test, self.each(then), self.each(orelse), inline, span)
            case For(item, iterable, body, span):
                return For(item, iterable, self.block(body), span)
            case While(head, test, body, span):
                return While(self.block(head), test, self.block(body), span)
            case With(manager, target, body, ended, span):
                return With(manager, target, self.block(body), ended, span)
            case Try(body, handlers, orelse, span):
                made = [Handler(h.kinds, h.name, self.block(h.body)) for h in handlers]
                return Try(self.block(body), made, self.block(orelse), span)
            case Assert(test, body, span):
                return Assert(test, self.block(body), span)
            case Assign() | Copies() | Change() | Break() | Return() | Raise() | Comment():
                return statement

    def each(self, block: _Block) -> _Block:
        return [self.inside(statement) for statement in block]
