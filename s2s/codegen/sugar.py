"""Sugar: takes code before folding, gives tuple targets back to ``ops.unpack`` and in-place growth to
``ops.append``."""

from __future__ import annotations

import operator
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any, TypeAlias, assert_never

from s2s.codegen.code import (
    Assert,
    Assign,
    Break,
    Change,
    Code,
    Comment,
    Copies,
    For,
    If,
    Pattern,
    Raise,
    Return,
    Statement,
    Target,
    Try,
    While,
    With,
    assigned_by,
    blocks_of,
    is_call_of,
    targets_of,
    uses,
    walk,
)
from s2s.codegen.leaves import count_uses
from s2s.core import ops
from s2s.core.ir import Atom, Call, Const, Var

__all__ = ["add_sugar"]

_HANDLED = (ops.unpack, *ops.GROWS)

def add_sugar(code: Code) -> None:
    """Rewrite unpacking, move copies, and mark the lists that may grow in place; the code is changed in
    place."""
    statements = walk(code.body)
    values = [s.value for s in statements if isinstance(s, Assign)]
    called = {v.fn.value for v in values if isinstance(v, Call) and isinstance(v.fn, Const) and is_call_of(v, _HANDLED)}
    if ops.unpack in called:
        code.body = _unpack_in(code.body, count_uses(code, statements))
    _copy_early(code.body)
    if not called.isdisjoint(ops.GROWS):
        code.grown = _Owners(code).grown()


# --- tuple targets ---


def _unpack_in(block: list[Statement], counts: dict[Var, int]) -> list[Statement]:
    """The block with ``a, b = v`` where it unpacks ``v`` and reads the parts."""
    for statement in block:
        for inner in blocks_of(statement):
            inner[:] = _unpack_in(inner, counts)
        if isinstance(statement, For):
            _target_of_loop(statement, counts)
    result: list[Statement] = []
    removed: set[int] = set()
    for statement in block:
        if id(statement) in removed:
            continue
        pattern = _pattern(statement, block, counts, removed)
        result.append(statement if pattern is None else pattern)
    return _nest(result, counts)


def _pattern(
    statement: Statement, block: list[Statement], counts: dict[Var, int], removed: set[int]
) -> Assign | None:
    """``a, b = v`` for one unpacking; the reads of its parts go to ``removed``."""
    match statement:
        case Assign(
            Var() as whole, Call(_, (Var() | Const() as source, Const() as first, Const() as second))
        ):
            if not is_call_of(statement.value, (ops.unpack,)):
                return None
            before, after = first.value, second.value
        case _:
            return None
    parts: list[Target] = [None] * (before if after is None else before + 1 + after)
    reads = [(s, place) for s in block if (place := _part_read(s, whole)) is not None]
    if len(reads) != counts[whole] or len({place for _, place in reads}) != len(reads):
        return None
    for read, place in reads:
        removed.add(id(read))
        parts[place] = read.target if isinstance(read, Assign) else None
    return Assign(Pattern(tuple(parts), None if after is None else before), source, statement.span)


def _part_read(statement: Statement, whole: Var) -> int | None:
    """The index where a statement reads one part of an unpacked tuple."""
    match statement:
        case Assign(Var(), Call(_, (first, Const() as place), ())) if first == whole:
            return place.value if is_call_of(statement.value, (operator.getitem,)) else None
    return None


def _nest(block: list[Statement], counts: dict[Var, int]) -> list[Statement]:
    """``a, (b, c) = v`` for two unpackings, one after the other."""
    result: list[Statement] = []
    for statement in block:
        match statement:
            case Assign(Pattern() as inner, Var() as source) if counts[source] == 1 and source.is_temporary:
                last = result[-1] if result else None
                if isinstance(last, Assign) and isinstance(last.target, Pattern):
                    nested = _put_in(last.target, source, inner)
                    if nested is not last.target:
                        last.target = nested
                        continue
        result.append(statement)
    return result


def _put_in(pattern: Pattern, var: Var, inner: Pattern) -> Pattern:
    items = tuple(
        inner if item == var else _put_in(item, var, inner) if isinstance(item, Pattern) else item
        for item in pattern.items
    )
    starred = pattern.star is not None and pattern.items[pattern.star] == var
    return pattern if items == pattern.items or starred else Pattern(items, pattern.star)


def _target_of_loop(loop: For, counts: dict[Var, int]) -> None:
    """``for a, b in pairs:`` where the body begins by unpacking the item."""
    match loop.body:
        case [Assign(Pattern() as pattern, Var() as source), *rest]:
            if source == loop.item and counts[source] == 1 and source.is_temporary:
                loop.item = pattern
                loop.body = rest
        case _:
            pass


# --- copies before what they copy gets another value ---


def _copy_early(block: list[Statement]) -> None:
    """Put ``last = i`` before ``i = i + 1`` where it stands after it, so that the old ``i`` needs no other
    name."""
    for statement in block:
        for inner in blocks_of(statement):
            _copy_early(inner)
    end = block[-1] if block else None
    if not isinstance(end, Copies):
        return
    for pair in list(end.pairs):
        place = _place_for(pair, block, end)
        if place is not None:
            end.pairs.remove(pair)
            block.insert(place, Copies([pair]))
    if not end.pairs:
        block.remove(end)


def _place_for(pair: tuple[Var, Atom], block: list[Statement], end: Copies) -> int | None:
    """Where the source of a copy gets its next value; None where the copy cannot stand there, or need not."""
    target, source = pair
    if not isinstance(source, Var) or source.is_temporary or source.name == target.name:
        return None
    places = [k for k, s in enumerate(block) if isinstance(s, Assign) and _is_next(s.target, source)]
    if not places or any(source in assigned_by(s) for s in walk(block) if s is not end):
        return None
    later = list(walk(block[places[0] :]))
    stays = any(isinstance(s, (Break, Return)) for s in later)
    read = any(target in uses(s) or (isinstance(s, While) and s.test == target) for s in later)
    written = any(target in assigned_by(s) for s in later if s is not end)
    return None if stays or read or written else places[0]


def _is_next(target: Target, source: Var) -> bool:
    return any(v.name == source.name and v != source for v in targets_of(target))


# --- growing in place ---

_Path: TypeAlias = tuple[tuple[int, int], ...]
"""The blocks around a statement: the ``id`` of the statement that has each one, and which of its blocks it
is."""


@dataclass(slots=True)
class _Use:
    statement: Statement
    path: _Path
    order: int


@dataclass(slots=True)
class _Owners:
    """Which growing calls may change their list: nothing else has it, now or later."""

    code: Code
    uses: dict[Var, list[_Use]] = field(default_factory=lambda: defaultdict(list))
    sources: dict[Var, list[tuple[Any, _Use]]] = field(default_factory=lambda: defaultdict(list))
    growths: list[_Use] = field(default_factory=list)
    branches: set[int] = field(default_factory=set)
    regions: set[int] = field(default_factory=set)
    """The ``with`` and ``try`` statements: no loops, and their blocks do not exclude each other."""
    seen: int = 0

    def grown(self) -> set[int]:
        self.visit(self.code.body, ())
        return {
            id(g.statement.value)
            for g in self.growths
            if isinstance(g.statement, Assign) and self.may_grow(g.statement.value, g)
        }

    def visit(self, block: list[Statement], path: _Path) -> None:
        for statement in block:
            self.seen += 1
            use = _Use(statement, path, self.seen)
            for atom in (statement.test,) if isinstance(statement, While) else uses(statement):
                if isinstance(atom, Var):
                    self.uses[atom].append(use)
            match statement:
                case Assign(Var() as target, value):
                    self.sources[target].append((value, use))
                    if is_call_of(value, ops.GROWS):
                        self.growths.append(use)
                case Copies(pairs):
                    for target, source in pairs:
                        self.sources[target].append((source, use))
                case If():
                    self.branches.add(id(statement))
                case With() | Try():
                    self.regions.add(id(statement))
                case Assign() | Change() | For() | While() | Break() | Return() | Assert() | Raise() | Comment():
                    pass
                case _:
                    assert_never(statement)
            for arm, inner in enumerate(blocks_of(statement)):
                self.visit(inner, (*path, (id(statement), arm)))

    def may_grow(self, value: Any, use: _Use) -> bool:
        """Whether the first argument of a growing call belongs to it alone."""
        items = value.args[0]
        if not isinstance(items, Var) or not self.is_owned(items, set()):
            return False
        return self.is_alone(items, use)

    def loop_around(self, path: _Path) -> _Path:
        """The part of a path down to the body of the innermost loop."""
        others = self.branches | self.regions
        depth = max((k + 1 for k, step in enumerate(path) if step[0] not in others), default=0)
        return path[:depth]

    def is_alone(self, var: Var, use: _Use) -> bool:
        """Whether nothing else reads the variable in the same iteration of the innermost loop, or only an item of it,
        or to grow it before. (Where it is read afterwards, the longer list has another name, and is another one.)"""
        loop = self.loop_around(use.path)
        near = [u for u in self.uses[var] if u.statement is not use.statement and u.path[: len(loop)] == loop]
        return all(
            self.excludes(u.path, use.path) or self.has_grown(u, use) or self.reads_item(u, var, use) for u in near)

    def reads_item(self, other: _Use, var: Var, use: _Use) -> bool:
        """Whether the other one reads an item of a list before, or its length."""
        match other.statement:
            case Assign(_, Call(Const(value=fn), (first, *rest), ())) if fn is operator.getitem or fn is len:
                return first == var and var not in rest and other.order < use.order
        return False

    def has_grown(self, other: _Use, use: _Use) -> bool:
        """Whether the other one makes the list grow in an inner loop, before it is handed on."""
        grows = isinstance(other.statement, Assign) and is_call_of(other.statement.value, ops.GROWS)
        return grows and other.order < use.order and isinstance(use.statement, Copies)

    def excludes(self, first: _Path, second: _Path) -> bool:
        """Whether two places are in different arms of one branch."""
        return any(a[0] == b[0] and a[1] != b[1] and a[0] in self.branches for a in first for b in second)

    def is_owned(self, var: Var, seen: set[Var]) -> bool:
        """Whether everything that a variable can hold was made for it."""
        if var in seen:
            return True
        seen.add(var)
        return bool(self.sources[var]) and all(
            self.is_handed(source, use, seen) for source, use in self.sources[var]
        )

    def is_handed(self, source: Any, use: _Use, seen: set[Var]) -> bool:
        """Whether a value is fresh, or comes from a variable that does nothing else with it."""
        if is_call_of(source, ops.GROWS.values()):
            return True
        if is_call_of(source, ops.GROWS):
            return isinstance(source.args[0], Var) and self.is_owned(source.args[0], seen)
        if not isinstance(source, Var):
            return False
        loop = self.loop_around(use.path)
        made_here = any(u.path[: len(loop)] == loop for _, u in self.sources[source])
        return made_here and self.is_alone(source, use) and self.is_owned(source, seen)
