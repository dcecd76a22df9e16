"""Out of SSA form: takes code, gives every variable a name.

Two variables *conflict* where one is assigned while the other may still be read. Variables that copies
connect are put into one class where no members conflict, so that their copies print as nothing. Then each
class gets the user's name; ``name_1``, ``name_2``, ... where another version is still needed.

Sets of variables are integers, a bit for each.
"""

from __future__ import annotations

import builtins
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from s2s.analysis.effects import ACTS
from s2s.codegen.code import (
    Assert,
    Assign,
    Break,
    Change,
    Code,
    Comment,
    Comprehension,
    Copies,
    For,
    If,
    Raise,
    Return,
    Statement,
    Target,
    Tree,
    Try,
    While,
    With,
    assigned_by,
    targets_of,
    tree_atoms,
    uses,
    walk,
)
from s2s.codegen.effects import effect_of
from s2s.codegen.hiding import hidden_names
from s2s.codegen.leaves import leaves, tree_leaves
from s2s.core.inspection import is_plain_name
from s2s.core.ir import Atom, Call, Const, MakeFunction, Var
from s2s.core.operators import plain_of

__all__ = ["acts", "name_variables", "numbered"]


def name_variables(code: Code, reserved: Iterable[str], captured: dict[Var, str]) -> dict[Var, str]:
    """A name for every variable that is printed. ``captured`` has the enclosing function's names,
    ``reserved`` the names that the text reads and does not own. Copies to variables that nothing reads are
    removed from ``code``."""
    liveness = _Liveness(code, walk(code.body))
    liveness.run()
    classes = _Classes(liveness)
    classes.coalesce()
    return _Namer(classes, set(reserved), captured).run(code)


@dataclass(slots=True)
class _Let:
    """What an assignment does. ``source`` is what it copies; ``changed`` what ``x = old; x += c`` reads after
    its first half: the target must not have the name of that."""

    targets: Sequence[Var]
    together: int
    source: Var | None
    changed: int
    read: int


@dataclass(slots=True)
class _Liveness:
    """Which variables are read later, at every point; and from that, which ones conflict."""

    code: Code
    statements: list[Statement]
    """All of the code, in order of the text."""
    index: dict[Var, int] = field(default_factory=dict)
    order: list[Var] = field(default_factory=list)
    conflicts: list[int] = field(default_factory=list)
    kept: dict[int, set[Var]] = field(default_factory=dict)
    """The targets that are read later, by the ``id`` of their ``Copies``."""
    lasting: int = 0
    """What nested functions capture: read at any time until the function ends."""
    caught: int = 0
    """What is read after an exception at the present place is caught."""
    reads: dict[Var, int] = field(default_factory=dict)
    """What evaluating a variable reads: itself, or the leaves of its expression."""
    lets: dict[int, _Let] = field(default_factory=dict)
    """The assignments, by ``id``: in a loop they are asked more than once."""

    def bit(self, var: Var) -> int:
        place = self.index.get(var)
        if place is None:
            place = self.index[var] = len(self.order)
            self.order.append(var)
            self.conflicts.append(0)
        return 1 << place

    def bits(self, variables: Iterable[Var]) -> int:
        result = 0
        for var in variables:
            result |= self.bit(var)
        return result

    def read(self, atoms: Iterable[Atom]) -> int:
        result = 0
        for atom in atoms:
            if isinstance(atom, Var):
                known = self.reads.get(atom)
                if known is None:
                    known = self.reads[atom] = self.bits(leaves(self.code, atom))
                result |= known
        return result

    def run(self) -> None:
        fixed = self.bits((*self.code.params, *self.code.captures))
        for statement in self.statements:
            for target in assigned_by(statement):
                self.bit(target)
        self.lasting = self.bits(_captured(self.code, self.statements))
        for made in _comprehensions(self.code, self.statements):
            inside = self.bits(v for atom in tree_atoms(made) for v in leaves(self.code, atom))
            for item in targets_of(made.item):
                self.assign(item, inside)
        start = self.block(self.code.body, self.lasting, 0)
        for var in (*self.code.params, *self.code.captures):
            self.assign(var, start | fixed)
        for var in self.code.captures:
            self.assign(var, (1 << len(self.order)) - 1)
        self.remove_dead_copies()

    def assign(self, var: Var, live: int, source: Var | None = None) -> None:
        """Note an assignment after which ``live`` are needed. A copy's source has the same value: no
        conflict."""
        own = self.bit(var)
        self.conflicts[self.index[var]] |= live & ~own & ~(self.bit(source) if source is not None else 0)

    def block(self, block: list[Statement], out: int, leave: int) -> int:
        """What is live before a block: ``out`` is live after it, ``leave`` after the loop around it."""
        for statement in reversed(block):
            out = self.statement(statement, out, leave)
        return out

    def statement(self, statement: Statement, out: int, leave: int) -> int:
        match statement:
            case Assign():
                return self.let(statement, out)
            case Copies(pairs):
                return self.copies(statement, pairs, out)
            case If(test, then, orelse):
                return self.block(then, out, leave) | self.block(orelse, out, leave) | self.read((test,))
            case For():
                return self.for_(statement, out)
            case While():
                return self.while_(statement, out)
            case With(manager, target, body, ended):
                outside, self.caught = self.caught, self.caught | out  # the manager may end an exception
                inside = self.block(body, out, leave) | (0 if ended is None else out & self.bit(ended))
                self.caught = outside
                if target is not None:
                    self.assign(target, inside)
                    inside &= ~self.bit(target)
                return inside | self.read((manager,))
            case Try():
                return self.try_(statement, out, leave)
            case Break():
                return leave
            case Return(value):
                return self.lasting | self.read((value,))
            case Assert(test, body):
                return out | self.block(body, out, leave) | self.read((test,))
            case Raise():
                return self.lasting | self.caught | self.read(uses(statement))
            case Change():
                return out | self.read(uses(statement))
            case Comment():
                return out
            case _ as never:
                assert_never(never)

    def try_(self, statement: Try, out: int, leave: int) -> int:
        """What a handler reads is live in all of the body: an exception may come at any place of it."""
        caught = 0
        for handler in statement.handlers:
            inside = self.block(handler.body, out, leave)
            if handler.name is not None:
                self.assign(handler.name, inside)
                inside &= ~self.bit(handler.name)
            caught |= inside
        after, outside = self.block(statement.orelse, out, leave), self.caught
        self.caught |= caught
        body = self.block(statement.body, after | caught, leave)
        self.caught = outside
        return body | caught | self.read(uses(statement))

    def let(self, statement: Assign, out: int) -> int:
        known = self.lets.get(id(statement))
        if known is None:
            known = self.lets[id(statement)] = self.facts_of(statement.target, statement.value)
        for var in known.targets:
            self.assign(var, out | known.together | known.changed, known.source)
        return (out & ~known.together) | known.read

    def facts_of(self, target: Target, value: Tree) -> _Let:
        targets = targets_of(target)
        together = self.bits(targets)
        is_copy = isinstance(target, Var) and isinstance(value, Var) and value not in self.code.folded
        source = value if isinstance(value, Var) and is_copy else None
        changed = self.changed_with(value) if targets else 0
        read = self.read(tree_atoms(value))
        if isinstance(value, Comprehension):
            read &= ~self.bits(targets_of(value.item))
        if isinstance(value, MakeFunction):
            read &= ~together  # a function that calls itself
        return _Let(targets, together, source, changed, read)

    def changed_with(self, value: Tree) -> int:
        """What an assignment that prints as ``x = old; x += c`` reads after its first half."""
        match value:
            case Call(Const(value=fn), (Var() as first, second), ()) if plain_of(fn) is not None:
                read = set(tree_leaves(self.code, Call(Const(None), (second,))))
                return 0 if first in self.code.folded else self.bits(read - {first})
        return 0

    def copies(self, statement: Copies, pairs: list[tuple[Var, Atom]], out: int) -> int:
        kept = [(t, s) for t, s in pairs if out & self.bit(t) or acts(self.code, s)]
        self.kept[id(statement)] = {target for target, _ in kept}
        together = self.bits(target for target, _ in kept)
        for target, atom in kept:
            source = atom if isinstance(atom, Var) and atom not in self.code.folded else None
            self.assign(target, out & ~together, source)
            self.assign(target, together)
        return (out & ~together) | self.read(source for _, source in kept)

    def for_(self, loop: For, out: int) -> int:
        items = list(targets_of(loop.item))
        own = self.bits(items)
        head = out
        while True:
            body = self.block(loop.body, head, out)
            for item in items:
                self.assign(item, body | own)
            grown = head | (body & ~own)
            if grown == head:
                return head | self.read((loop.iterable,))
            head = grown

    def while_(self, loop: While, out: int) -> int:
        head = out
        while True:
            body = self.block(loop.body, head, out)
            before = self.block(loop.head, out | body | self.read((loop.test,)), out)
            if before | head == head:
                return head
            head |= before

    def remove_dead_copies(self) -> None:
        for statement in self.statements:
            if isinstance(statement, Copies):
                kept = self.kept.get(id(statement), set())
                statement.pairs = [(t, s) for t, s in statement.pairs if t in kept]


def _comprehensions(code: Code, statements: list[Statement]) -> Iterator[Comprehension]:
    """Comprehensions have variables of their own."""
    values = [s.value for s in statements if isinstance(s, Assign)]
    yield from (v for v in (*values, *code.folded.values()) if isinstance(v, Comprehension))


def _captured(code: Code, statements: list[Statement]) -> Iterator[Var]:
    """The variables that nested functions read by name."""
    values = [s.value for s in statements if isinstance(s, Assign)]
    for value in (*values, *code.folded.values()):
        if isinstance(value, MakeFunction):
            for atom in value.captures:
                yield from leaves(code, atom)


def acts(code: Code, atom: Atom) -> bool:
    """Whether evaluating an atom may change something."""
    tree = code.folded.get(atom) if isinstance(atom, Var) else None
    if tree is None:
        return False
    return effect_of(tree) is ACTS or any(acts(code, a) for a in tree_atoms(tree))


@dataclass(slots=True)
class _Classes:
    """Variables put together: for each the representative, for each representative members, conflicts, base
    names. ``conflicts`` has each pair on one side at least."""

    liveness: _Liveness
    parent: list[int] = field(default_factory=list)
    members: list[int] = field(default_factory=list)
    conflicts: list[int] = field(default_factory=list)
    base: list[str] = field(default_factory=list)
    fixed: set[int] = field(default_factory=set)
    hidden: list[frozenset[str]] = field(default_factory=list)
    """For each representative the names that it cannot have, as parameters of functions that read it have them."""
    params: int = 0

    def __post_init__(self) -> None:
        order = self.liveness.order
        hidden = hidden_names(self.liveness.code)
        self.hidden = [frozenset(hidden.get(v, ())) for v in order]
        self.params = self.liveness.bits(self.liveness.code.params)
        self.parent = list(range(len(order)))
        self.members = [1 << i for i in range(len(order))]
        self.conflicts = list(self.liveness.conflicts)
        self.base = [v.name for v in order]
        self.fixed = {self.liveness.index[v] for v in self.liveness.code.captures}

    def find(self, var: Var) -> int:
        place, parent = self.liveness.index[var], self.parent
        while parent[place] != place:
            parent[place] = place = parent[parent[place]]  # the way is half as long from here on
        return place

    def coalesce(self) -> None:
        """Put the ends of copies together: first those with one name, then those with a temporary."""
        pairs = list(_connected(self.liveness.code, self.liveness.statements))
        for same in (True, False):
            for target, source in pairs:
                if (target.name == source.name) is same and source in self.liveness.index:
                    self.merge(self.find(target), self.find(source))

    def conflict(self, place: int, members: int, conflicts: int) -> bool:
        """Whether a class conflicts with these members, which have these conflicts."""
        return bool(self.conflicts[place] & members or conflicts & self.members[place])

    def merge(self, first: int, second: int) -> None:
        """Put two classes together where they do not conflict and the user gave them no two names."""
        if first == second or self.conflict(first, self.members[second], self.conflicts[second]):
            return
        names = {b for b in (self.base[first], self.base[second]) if not b.startswith("%")}
        if len(names) > 1 or (second in self.fixed) or (first in self.fixed):
            return
        hidden, members = self.hidden[first] | self.hidden[second], self.members[first] | self.members[second]
        if members & self.params and names & hidden:
            return  # the name of a parameter stays
        if second < first:
            first, second = second, first
        self.parent[second] = first
        self.members[first], self.hidden[first] = members, hidden
        self.conflicts[first] |= self.conflicts[second]
        if names:
            self.base[first] = names.pop()


def _connected(code: Code, statements: list[Statement]) -> Iterator[tuple[Var, Var]]:
    """The variables that a copy connects, those in the innermost blocks last."""
    for statement in statements:
        match statement:
            case Copies(pairs):
                yield from ((t, s) for t, s in pairs if isinstance(s, Var) and s not in code.folded)
            case Assign(Var() as target, Var() as source) if source not in code.folded:
                yield (target, source)
            case Assign(Var() as target, Call(Const(value=fn), (Var() as source, _))) if plain_of(fn) is not None:
                yield (target, source)  # `x += c` keeps the name
            case (
                Assign() | Change() | If() | For() | While() | With() | Try() | Break() | Return() | Assert() |
                Raise() | Comment()
            ):
                pass
            case _:
                assert_never(statement)


@dataclass(slots=True)
class _Namer:
    classes: _Classes
    reserved: set[str]
    captured: dict[Var, str]
    taken: dict[str, tuple[str, int, int]] = field(default_factory=dict)
    """For each name in use: the name it was made from, the variables that have it, and their conflicts."""
    temporaries: int = 0
    sharing: dict[str, list[str]] = field(default_factory=dict)
    """The names that temporaries share, by suffix."""

    def run(self, code: Code) -> dict[Var, str]:
        liveness, find = self.classes.liveness, self.classes.find
        names: dict[int, str] = {}
        for var in code.captures:
            names[find(var)] = self.captured[var]
            self.take(self.captured[var], var.name, find(var))
        for var in code.params:
            assert var.name not in self.taken, f"the parameter {var.name} hides a variable that is read"
            names[find(var)] = var.name
            self.take(var.name, var.name, find(var))
        bases = {b for b in self.classes.base if not b.startswith("%")}
        for var in _in_order_of_text(code, liveness.statements):
            place = find(var)
            if place not in names:
                names[place] = self.choose(place, bases)
        places = {var: find(var) for var in liveness.index}
        return {var: names[place] for var, place in places.items() if place in names}

    def take(self, name: str, base: str, place: int) -> None:
        classes = self.classes
        _, members, conflicts = self.taken.get(name, (base, 0, 0))
        self.taken[name] = (base, members | classes.members[place], conflicts | classes.conflicts[place])

    def choose(self, place: int, bases: set[str]) -> str:
        base, hidden = self.classes.base[place], self.classes.hidden[place]
        if base.startswith("%~"):
            return self.shared(place, base[2:], bases | hidden)
        if base.startswith("%"):
            return self.temporary(base[1:], bases | hidden)
        plain = base if base.isascii() else unicodedata.normalize("NFKC", base)  # as Python reads it
        while plain in self.reserved or not is_plain_name(plain):
            plain += "_"
        for name in numbered(plain):
            made_from, members, conflicts = self.taken.get(name, (base, 0, 0))
            if (name != base and name in bases) or made_from != base or name in self.reserved or name in hidden:
                continue
            if not self.classes.conflict(place, members, conflicts):
                self.take(name, base, place)
                return name
        raise AssertionError("names do not run out")

    def shared(self, place: int, suffix: str, bases: set[str]) -> str:
        """A name for a temporary that may have the name of another one, which is read no longer."""
        for name in self.sharing.setdefault(suffix, []):
            _, members, conflicts = self.taken[name]
            if name not in self.classes.hidden[place] and not self.classes.conflict(place, members, conflicts):
                self.take(name, "%~" + suffix, place)
                return name
        name = self.temporary(suffix, bases)
        self.sharing[suffix].append(name)
        self.take(name, "%~" + suffix, place)
        return name

    def temporary(self, suffix: str, bases: set[str]) -> str:
        while True:
            name = f"t{self.temporaries}{suffix}"
            self.temporaries += 1
            if (
                name not in bases
                and name not in self.reserved
                and name not in self.taken
                and not hasattr(builtins, name)
            ):
                self.taken[name] = ("%" + suffix, 0, 0)  # no variable is made from that
                return name


def numbered(base: str) -> Iterator[str]:
    """``name``, ``name_1``, ``name_2``, ..."""
    yield base
    number = 0
    while True:
        number += 1
        yield f"{base}_{number}"


def _in_order_of_text(code: Code, statements: list[Statement]) -> Iterator[Var]:
    for statement in statements:
        yield from assigned_by(statement)
    for made in _comprehensions(code, statements):
        yield from targets_of(made.item)
