"""The emitter's own form: Python's statements before they have names and text.

It differs from SSA form in three ways. What a branch or a loop changes is written as ``Copies`` at the ends
of the blocks, and ``result`` and ``param`` of a carried variable are one variable. A block may end in
``Break`` or ``Return``.
And right-hand sides nest: a variable that ``Code.folded`` has is printed as its expression where it is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, assert_never

from s2s.core.ir import Atom, Call, Const, Load, MakeFunction, Span, Store, Value, Var, atoms_of

__all__ = [
    "Assert", "Assign", "Break", "Change", "Code", "Comment", "Comprehension", "Conditional", "Copies", "For",
    "Handler", "If", "Junction", "Pattern", "Raise", "Return", "Statement", "Target", "Tree", "Try", "While", "With",
    "assigned_by", "blocks_of", "ends", "is_call_of", "targets_of", "tree_atoms", "uses", "walk",
]


@dataclass(frozen=True, slots=True)
class Conditional:
    """``then if test else orelse``"""

    test: Atom
    then: Atom
    orelse: Atom


@dataclass(frozen=True, slots=True)
class Junction:
    """``first and second`` where ``conjunction``, else ``first or second``."""

    conjunction: bool
    first: Atom
    second: Atom


@dataclass(frozen=True, slots=True)
class Comprehension:
    """``[element for item in iterable if test]``; ``kind`` is ``list``, ``set`` or ``dict`` (then there is
    a key)."""

    kind: str
    element: Atom
    item: Target
    iterable: Atom
    test: Atom | None = None
    key: Atom | None = None


@dataclass(frozen=True, slots=True)
class Pattern:
    """``a, *b, c`` on the left of ``=``; ``star`` is the index of the starred target."""

    items: tuple[Target, ...]
    star: int | None = None


Tree: TypeAlias = Value | Conditional | Junction | Comprehension
Target: TypeAlias = Var | Pattern | None


@dataclass(slots=True, eq=False)
class Assign:
    """``target = value``; an expression for its effect where the target is None."""

    target: Target
    value: Tree
    span: Span | None = None


@dataclass(slots=True, eq=False)
class Copies:
    """Assign all targets at once; every source is read before the first target changes.

    ``UNDEFINED`` as a source leaves the target without a value: most often nothing is printed for it.
    """

    pairs: list[tuple[Var, Atom]]
    span: Span | None = None


@dataclass(slots=True, eq=False)
class Change:
    """A store."""

    store: Store

    @property
    def span(self) -> Span | None:
        return self.store.span


@dataclass(slots=True, eq=False)
class If:
    """``if test: ... else: ...``; ``inline`` where the user may have written an expression."""

    test: Atom
    then: list[Statement]
    orelse: list[Statement]
    inline: bool = False
    span: Span | None = None


@dataclass(slots=True, eq=False)
class For:
    """``for item in iterable: ...``"""

    item: Target
    iterable: Atom
    body: list[Statement]
    span: Span | None = None


@dataclass(slots=True, eq=False)
class While:
    """Run ``head``; end the loop where ``test`` is false; run ``body``; again."""

    head: list[Statement]
    test: Atom
    body: list[Statement]
    span: Span | None = None


@dataclass(slots=True, eq=False)
class With:
    """``with manager as target: ...``; ``ended`` is assigned at the end of the body, which may not be reached though
    what follows is."""

    manager: Atom
    target: Var | None
    body: list[Statement]
    ended: Var | None = None
    span: Span | None = None


@dataclass(slots=True, eq=False)
class Handler:
    """``except kinds as name: ...``; no kinds stand for a bare ``except``."""

    kinds: tuple[Atom, ...]
    name: Var | None
    body: list[Statement]


@dataclass(slots=True, eq=False)
class Try:
    """``try: ... except ...: ... else: ...``"""

    body: list[Statement]
    handlers: list[Handler]
    orelse: list[Statement]
    span: Span | None = None


@dataclass(slots=True, eq=False)
class Break:
    """``break``"""


@dataclass(slots=True, eq=False)
class Return:
    """``return value``"""

    value: Atom


@dataclass(slots=True, eq=False)
class Assert:
    """``assert test, message``, or a branch with ``body``, which ends with a ``raise``, where that is no one call."""

    test: Atom
    body: list[Statement]
    span: Span | None = None


@dataclass(slots=True, eq=False)
class Raise:
    """``raise exception from cause``"""

    exception: Atom | None
    cause: Atom | None = None
    span: Span | None = None


@dataclass(slots=True, eq=False)
class Comment:
    """``# text``; ``section`` as in ``ir.Note``."""

    text: str
    section: str = ""


Statement: TypeAlias = (
    Assign | Copies | Change | If | For | While | With | Try | Break | Return | Assert | Raise | Comment
)


@dataclass(slots=True, eq=False)
class Code:
    """A function as code: ``folded`` has the variables that are printed as expressions where they are
    read."""

    params: tuple[Var, ...]
    captures: tuple[Var, ...]
    body: list[Statement]
    folded: dict[Var, Tree] = field(default_factory=dict)
    sizes: dict[Var, tuple[int, int]] = field(default_factory=dict)
    """The columns and the depth of folded expressions, where they were measured."""
    spans: dict[Var, Span | None] = field(default_factory=dict)
    """Where in the source folded expressions stand."""
    grown: set[int] = field(default_factory=set)
    """The calls of ``ops.append`` and its like that may change their list, by ``id``: nothing else has it."""
    inner: dict[int, Code] = field(default_factory=dict)
    """The nested functions, by the ``id`` of the ``MakeFunction`` in this code."""
    bound: dict[int, set[Var]] = field(default_factory=dict)
    """The variables that nested functions get where they are made, by the same ``id``."""


def tree_atoms(tree: Tree) -> Sequence[Atom]:
    """The atoms that an expression reads, in order of evaluation."""
    if isinstance(tree, Call):
        return atoms_of(tree)
    match tree:
        case Var() | Const():
            return (tree,)
        case Load():
            return ()
        case MakeFunction(_, captures, defaults):
            return (*captures, *(atom for _, atom in defaults))
        case Conditional(test, then, orelse):
            return (test, then, orelse)
        case Junction(_, first, second):
            return (first, second)
        case Comprehension(_, element, _, iterable, test, key):
            return [a for a in (iterable, test, key, element) if a is not None]
        case _ as never:
            assert_never(never)


def uses(statement: Statement) -> Sequence[Atom]:
    """The atoms that a statement itself reads, nested blocks apart, in order of evaluation."""
    if isinstance(statement, Assign):
        return tree_atoms(statement.value)
    match statement:
        case Copies():
            return [source for _, source in statement.pairs]
        case Change(Store(_, target, key, value, op)):
            return (target, key, value) if op is not None else (value, target, key)
        case If(test=test) | Assert(test=test):
            return (test,)
        case For(iterable=iterable):
            return (iterable,)
        case With(manager):
            return (manager,)
        case Try(handlers=handlers):
            return [kind for handler in handlers for kind in handler.kinds]
        case Return(value):
            return (value,)
        case Raise(exception, cause):
            return [a for a in (exception, cause) if a is not None]
        case While() | Break() | Comment():
            return ()
        case _ as never:
            assert_never(never)


def targets_of(target: Target) -> Sequence[Var]:
    """The variables in the left-hand side of an assignment."""
    if isinstance(target, Var):
        return (target,)
    match target:
        case Pattern(items):
            return [var for item in items for var in targets_of(item)]
        case None:
            return ()
        case _ as never:
            assert_never(never)


def assigned_by(statement: Statement) -> Sequence[Var]:
    """The variables that a statement itself assigns."""
    if isinstance(statement, Assign):
        return targets_of(statement.target)
    match statement:
        case For(item=target):
            return targets_of(target)
        case Copies(pairs):
            return [target for target, _ in pairs]
        case With(target=Var() as target):
            return (target,)
        case Try(handlers=handlers):
            return [handler.name for handler in handlers if handler.name is not None]
        case Change() | If() | While() | With() | Break() | Return() | Assert() | Raise() | Comment():
            return ()
        case _:
            assert_never(statement)


def blocks_of(statement: Statement) -> tuple[list[Statement], ...]:
    """The blocks directly inside a statement."""
    if isinstance(statement, Assign):
        return ()
    match statement:
        case If(_, then, orelse):
            return (then, orelse)
        case For(body=body):
            return (body,)
        case While(head, _, body):
            return (head, body)
        case With(body=body) | Assert(body=body):
            return (body,)
        case Try(body, handlers, orelse):
            return (body, *(handler.body for handler in handlers), orelse)
        case Assign() | Copies() | Change() | Break() | Return() | Raise() | Comment():
            return ()
        case _:
            assert_never(statement)


def walk(block: list[Statement]) -> list[Statement]:
    """Every statement in a block and in the blocks inside it, in order of the text."""
    found: list[Statement] = []
    left = block[::-1]
    while left:
        statement = left.pop()
        found.append(statement)
        if isinstance(statement, Assign):
            continue
        for inner in reversed(blocks_of(statement)):
            left += reversed(inner)
    return found


def is_call_of(value: object, functions: Iterable[Any]) -> bool:
    """Whether a right-hand side calls one of these known functions."""
    if not isinstance(value, Call) or not isinstance(value.fn, Const):
        return False
    fn = value.fn.value
    for known in functions:  # noqa: SIM110 (asked so often that a generator costs)
        if fn is known:  # not by equality, which may be the user's
            return True
    return False


def ends(block: list[Statement]) -> bool:
    """Whether control never reaches the end of the block."""
    if not block:
        return False
    match block[-1]:
        case Break() | Return() | Raise():
            return True
        case If(_, then, orelse):
            return ends(then) and ends(orelse)
        case With(body=body):
            return ends(body)
        case Try(body, handlers, orelse):
            return (ends(body) or ends(orelse)) and all(ends(handler.body) for handler in handlers)
        case Assign() | Copies() | Change() | For() | While() | Assert() | Comment():
            return False
        case _:
            assert_never(block[-1])
