"""The intermediate representation: what goes between the stages of the compiler.

Administrative normal form inside structured control flow. The right-hand side of every ``Let`` is one operation
on atoms; an atom is a variable or a constant. One set of nodes serves the primal, the adjoint and the tangent.

    Function  = name(params) captures Block
    Block     = Statement*  yields Atom*
    Statement = Let | Store | If | For | While | With | Try | Assert | Raise | Return | Break | Continue | Note
    Handler   = name kinds Block                                (of a Try)
    Value     = Atom | Load | Call | MakeFunction               (the right-hand side of a Let)
    Atom      = Var | Const

It exists in two forms.

*Named form*, made by ``lower``: a variable may be assigned many times, blocks yield nothing, ``Return``, ``Break``
and ``Continue`` stand where the user wrote them, loops may have an ``orelse``.

*SSA form*, made by ``normalize`` and kept from then on: each ``Var`` is assigned once. What a branch or a loop
changes is explicit: ``If.results`` and ``Try.results`` are bound to the yields of the block that ran; ``carried``
variables of a loop take the yields of the body as their next value. The body of a ``With`` belongs to the block around
it: what it defines is seen after it. There is no ``Return``, ``Break`` or ``Continue``: a loop that ends early
says so by ``leave``, a bool that the body computes, and the function's result is the one yield of its body.

Operators, displays and attribute reads are calls of the functions that mean them: ``operator.add``,
``operator.getitem``, ``builtins.getattr``, and the few in ``s2s.core.ops``. So a rule table needs one kind of key.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias, assert_never

from s2s.core.const import Const
from s2s.core.record import record, replace

__all__ = [
    "POSSIBLY_UNASSIGNED", "UNDEFINED", "Assert", "Atom", "Block", "Call", "Carried", "Const", "For", "Function",
    "Handler", "If", "Let", "Load", "MakeFunction", "Note", "Param", "Raise", "Return", "Break", "Continue", "Span",
    "Star", "Statement", "Store", "Try", "Value", "Var", "Version", "While", "With", "replace",
]


@record
class Span:
    """A place in the user's file: lines count from 1, columns from 0, the end is exclusive (as in ``ast``)."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    function: str = ""

    @property
    def start(self) -> Span:
        """The place where it begins, of no width: of what is there and is no expression of the user's."""
        return Span(self.file, self.line, self.column, self.line, self.column, self.function)


# --- atoms ---------------------------------------------------------------------------------------------------------


class Var:
    """A variable. ``name`` is the user's name, or starts with ``%`` for a temporary (``%`` or ``%_bar``).

    ``version`` is 0 in the named form (temporaries are numbered there too) and tells the assignments of one name
    apart in SSA form. There is one object for each name and version, so that tables by variable are quick.
    """

    __slots__ = ("is_temporary", "name", "version")
    __match_args__ = ("name", "version")

    name: str
    version: int
    is_temporary: bool

    def __new__(cls, name: str, version: int = 0) -> Var:
        found = _VARS.get((name, version))
        if found is None:
            found = super().__new__(cls)
            found.name, found.version, found.is_temporary = name, version, name.startswith("%")
            found = _VARS.setdefault((name, version), found)  # another thread may have been first
        return found

    def __reduce__(self) -> Any:
        return Var, (self.name, self.version)

    def __repr__(self) -> str:
        return f"Var({self.name!r}, {self.version})"

    def __str__(self) -> str:
        return f"{self.name}.{self.version}" if self.version else self.name


_VARS: dict[tuple[str, int], Var] = {}

MOST_VARIABLES = 20_000


def forget_variables() -> None:
    """Let variables go that nothing refers to, where there are many: called between compilations."""
    if len(_VARS) > MOST_VARIABLES:
        for place in list(_VARS):
            if sys.getrefcount(_VARS[place]) == 2:  # the table's own, and the argument of the question
                del _VARS[place]


class _Undefined:
    """What a variable holds on a path that did not assign it. Reading it is the user's NameError."""

    def __reduce__(self) -> str:
        return "_NOTHING"  # the object of that name in this module

    def __repr__(self) -> str:
        return "UNDEFINED"


_NOTHING = _Undefined()
UNDEFINED = Const(_NOTHING)

class _PossiblyUnassigned:
    """What a variable holds that an interrupted block may have assigned, or not. Reading it is refused."""

    def __reduce__(self) -> str:
        return "_UNSURE"

    def __repr__(self) -> str:
        return "POSSIBLY_UNASSIGNED"


_UNSURE = _PossiblyUnassigned()
POSSIBLY_UNASSIGNED = Const(_UNSURE)

Atom: TypeAlias = Var | Const


# --- values: right-hand sides ---------------------------------------------------------------------------------------


@record
class Load:
    """Read a variable that the function does not own, each time it runs. ``scope`` is ``global`` (module globals,
    then builtins) or ``free`` (a closure cell). ``owner`` is the function whose global or cell it is, ``None`` for the
    function compiled; inlining another function sets it."""

    name: str
    scope: str
    owner: Any = None


@record
class Star:
    """``*atom`` among the arguments of a call or the items of a display."""

    atom: Atom


@record
class Call:
    """Call ``fn``. A keyword ``None`` stands for ``**atom``."""

    fn: Atom
    args: tuple[Atom | Star, ...]
    kwargs: tuple[tuple[str | None, Atom], ...] = ()


@record
class MakeFunction:
    """A nested ``def`` or ``lambda``. ``captures`` are the enclosing function's variables that it reads, in the order
    of ``function.captures``; ``defaults`` the values of its parameters' defaults, by parameter name.

    Python binds captured variables late. ``normalize`` makes the function anew at every read of its name, with the
    captures as they are there, which is the same while the function does not outlive the next assignment. ``late`` are
    the names of captures that are assigned before the last use of what a call makes of the function: where that is a
    function which calls this one, the captures are not what it will see.
    """

    function: Function
    captures: tuple[Atom, ...]
    defaults: tuple[tuple[str, Atom], ...] = ()
    late: tuple[str, ...] = ()


Value: TypeAlias = Var | Const | Load | Call | MakeFunction


# --- statements -----------------------------------------------------------------------------------------------------


@record
class Version:
    """The state of memory that a statement reads, or the one that a store makes (``analysis.versions``): ``number`` is
    that of the last store before it in order of the text, of a store its own; ``loops`` are the numbers of the loops
    around it, the outermost first."""

    number: int
    loops: tuple[int, ...] = ()


Reads: TypeAlias = "tuple[tuple[Var, Version], ...]"
"""The arrays that a statement reads and some statement changes, each with the version that it reads."""


@record
class Block:
    """Statements, and in SSA form the atoms that the block gives to the construct that holds it."""

    statements: tuple[Statement, ...]
    yields: tuple[Atom, ...] = ()


@record
class Let:
    """``target = value``; with no target the value is computed for its effect (``print(x)``). ``reads`` are the
    versions of memory that it reads, ``makes`` is the one that it makes where it changes its first argument."""

    target: Var | None
    value: Value
    span: Span | None = None
    reads: Reads = ()
    makes: Version | None = None


@record
class Store:
    """Change an object in place: ``target[key] = value`` (``kind`` item) or ``target.key = value`` (``kind`` attr, the
    key a constant string). ``op`` is an operator function for augmented stores (``operator.add`` for ``+=``).
    ``kind`` whole with key ``None`` is ``target op= value`` on an object that may be changed in place, an array; ``at``
    is ``np.add.at(target, key, value)``; ``opaque`` says that the call after it may change the target. ``global``, with
    target ``None``, assigns the variable ``key`` of the module: ``specialize`` leaves it in nested functions only.
    ``was`` is what the place held before the value was computed, where that may have changed it: the specialiser takes
    it into the value or drops it. ``reads`` and ``makes`` as in ``Let``."""

    kind: str
    target: Atom
    key: Atom
    value: Atom
    op: Callable[..., Any] | None = None
    span: Span | None = None
    was: Atom | None = None
    reads: Reads = ()
    makes: Version | None = None


@record
class If:
    """Run one of two blocks. SSA form: ``results[k]`` is bound to ``yields[k]`` of the block that ran. A block that
    raises yields ``UNDEFINED``. Where ``replayed`` is set, the test is ``True``, and the reverse sweep replays ``then``
    instead of keeping what it reads of it: made for checkpoints in ``specialize``, ``reverse`` leaves none."""

    test: Atom
    then: Block
    orelse: Block
    results: tuple[Var, ...] = ()
    span: Span | None = None
    replayed: bool = False


@record
class Carried:
    """A variable that a loop changes. ``param`` holds it at the start of an iteration (``init`` in the first one, then
    the body's yield at the same index), ``result`` after the loop (``init`` where there was no iteration)."""

    param: Var
    init: Atom
    result: Var


@record
class For:
    """Run ``body`` once for each ``item`` of ``iterable``.

    Named form: ``orelse`` runs when no ``Break`` ended the loop. SSA form: ``body.yields[k]`` is the next value of
    ``carried[k]``; where ``leave`` is an atom, the loop ends after the iteration in which it is true, and ``left`` says
    afterwards whether that happened. Where ``snapshots`` is an atom, the reverse sweep keeps at most so many states
    between iterations and runs iterations again; ``reverse`` leaves none."""

    item: Var
    iterable: Atom
    body: Block
    carried: tuple[Carried, ...] = ()
    leave: Atom | None = None
    left: Var | None = None
    orelse: Block = Block(())
    span: Span | None = None
    snapshots: Atom | None = None


@record
class While:
    """Run ``body`` as long as the one yield of ``test`` is true. Both blocks see ``carried`` params; ``test`` only
    defines temporaries that nothing else reads (``lower`` writes other loops as ``while True`` with a ``Break``).
    ``snapshots`` as in ``For``."""

    test: Block
    body: Block
    carried: tuple[Carried, ...] = ()
    leave: Atom | None = None
    left: Var | None = None
    orelse: Block = Block(())
    span: Span | None = None
    snapshots: Atom | None = None


@record
class With:
    """``with manager as target``: ``manager`` is entered, ``body`` runs, ``manager`` is left. The body is no scope of
    its own, and it yields nothing. Where ``ended`` is a variable, the manager may swallow an exception: ``ended`` is
    ``True`` afterwards where the body came to its end, else ``False``."""

    manager: Atom
    target: Var | None
    body: Block
    ended: Var | None = None
    span: Span | None = None


@record
class PossiblyUnassigned:
    """A variable that the body of a ``try`` may or may not have assigned when an exception interrupts it (SSA form).
    ``param`` holds it in the handler; ``held[k]`` is what it held while statement ``k`` of the body ran, None where
    that statement may have assigned it before it raised."""

    param: Var
    held: tuple[Atom | None, ...]


@record
class Handler:
    """``except kinds as name``; no kinds stand for a bare ``except``. ``unassigned`` are resolved by ``specialize``,
    which leaves none and refuses to read what it cannot resolve."""

    kinds: tuple[Atom, ...]
    name: Var | None
    body: Block
    unassigned: tuple[PossiblyUnassigned, ...] = ()
    span: Span | None = None


@record
class Try:
    """Run ``body``, then ``orelse``, which sees what the body defines; an exception of the body goes to the first of
    the ``handlers`` that is of its kind. SSA form: ``results[k]`` is bound to ``yields[k]`` of ``orelse`` or of the
    handler that ran (a handler that raises yields ``UNDEFINED``); the body yields nothing. ``caught``, made by
    ``specialize`` where more than one block may come to its end, is the one of the results that says afterwards which
    did: 0 for ``orelse``, else the number of the handler. ``final`` runs last, however the rest ended (named form only;
    removed by ``normalize``)."""

    body: Block
    handlers: tuple[Handler, ...]
    orelse: Block = Block(())
    results: tuple[Var, ...] = ()
    caught: Var | None = None
    final: Block = Block(())
    span: Span | None = None


@record
class Assert:
    """Where ``test`` is false, run ``problem`` and raise what it yields, an ``AssertionError`` with the user's message.
    No derivative runs it. Where a ``try`` may catch the exception ``specialize`` writes a branch that raises."""

    test: Atom
    problem: Block
    span: Span | None = None


@record
class Raise:
    """Raise an exception, the one that a handler caught where there is none: the end of its block."""

    exception: Atom | None
    cause: Atom | None = None
    span: Span | None = None


@record
class Return:
    """End the function (named form only; removed by ``normalize``)."""

    value: Atom
    span: Span | None = None


@record
class Break:
    """End the innermost loop (named form only; removed by ``normalize``)."""

    span: Span | None = None


@record
class Continue:
    """Begin the next iteration (named form only; removed by ``normalize``)."""

    span: Span | None = None


@record
class Note:
    """A remark for the reader of the generated text; no meaning. ``section`` is ``forward`` or ``reverse`` where the
    note begins a sweep (statements of a reverse sweep are printed under the source line that they belong to); for notes
    around what is replayed it is ``BEGIN_REPLAY`` or ``END_REPLAY``."""

    text: str
    section: str = ""
    span: Span | None = None


BEGIN_REPLAY, END_REPLAY = "again", "end of again"
"""The sections of the notes around the statements of a checkpointed function, as the specialiser leaves them."""

Loop: TypeAlias = For | While
Statement: TypeAlias = Let | Store | If | For | While | With | Try | Assert | Raise | Return | Break | Continue | Note


@record
class Param:
    """A parameter. ``kind`` is the name of an ``inspect.Parameter`` kind; ``annotation`` its source text."""

    var: Var
    kind: str = "POSITIONAL_OR_KEYWORD"
    has_default: bool = False
    annotation: str = ""


@record
class Function:
    """A function: in SSA form its body yields one atom, the result. ``captures`` are variables of enclosing functions,
    bound like parameters when the function is inlined. The body of a generator has calls of ``ops.yield_``."""

    name: str
    params: tuple[Param, ...]
    body: Block
    captures: tuple[Var, ...] = ()
    doc: str = ""
    span: Span | None = None
    is_generator: bool = False


# --- walking --------------------------------------------------------------------------------------------------------


def atoms_of(value: Value) -> tuple[Atom, ...]:
    """The atoms that a right-hand side reads, in order of evaluation."""
    if isinstance(value, Call):  # nearly all are, and this is asked most of all: a match takes three times as long
        args = value.args
        if value.kwargs or Star in map(type, args):
            given = (a.atom if isinstance(a, Star) else a for a in args)
            return (value.fn, *given, *(atom for _, atom in value.kwargs))
        return (value.fn, *args)  # type: ignore[arg-type]
    if isinstance(value, (Var, Const)):
        return (value,)
    if isinstance(value, MakeFunction):
        return (*value.captures, *(atom for _, atom in value.defaults))
    if isinstance(value, Load):
        return ()
    assert_never(value)


def map_atoms(value: Value, change: Callable[[Atom], Atom]) -> Value:
    """The right-hand side with every atom replaced by ``change(atom)``; the same object where none is another one."""
    if isinstance(value, Call):
        fn, before, kwargs = change(value.fn), value.args, value.kwargs
        args = tuple([Star(change(a.atom)) if isinstance(a, Star) else change(a) for a in before])
        if kwargs:
            return Call(fn, args, tuple([(key, change(atom)) for key, atom in kwargs]))
        return value if fn is value.fn and all(map(operator.is_, args, before)) else Call(fn, args)
    if isinstance(value, (Var, Const)):
        return change(value)
    if isinstance(value, MakeFunction):
        defaults = tuple((key, change(atom)) for key, atom in value.defaults)
        return MakeFunction(value.function, tuple(map(change, value.captures)), defaults, value.late)
    if isinstance(value, Load):
        return value
    assert_never(value)


def blocks_of(statement: Statement) -> tuple[Block, ...]:
    """The blocks directly inside a statement."""
    if type(statement) in _FLAT:
        return ()
    match statement:
        case Let() | Store() | Note() | Raise() | Return() | Break() | Continue():
            return ()
        case If(_, then, orelse):
            return (then, orelse)
        case For(body=body, orelse=orelse):
            return (body, orelse)
        case While(test=test, body=body, orelse=orelse):
            return (test, body, orelse)
        case With(body=body):
            return (body,)
        case Try(body, handlers, orelse):
            last = (statement.final,) if statement.final.statements else ()
            return (body, orelse, *(h.body for h in handlers), *last)
        case Assert(problem=problem):
            return (problem,)


_FLAT = frozenset({Let, Store, Raise, Return, Break, Continue, Note})
"""The statements without blocks, which are most of them: a kind that is in no list is asked by ``match``."""


def sides_of(statement: If | Try) -> tuple[Block, ...]:
    """The blocks of which one gives the results their values (SSA form)."""
    match statement:
        case If(_, then, orelse):
            return (then, orelse)
        case Try(handlers=handlers, orelse=orelse):
            return (orelse, *(h.body for h in handlers))


def joins_of(statement: Statement) -> Iterator[tuple[tuple[Var, ...], tuple[Atom, ...]]]:
    """The variables that hold what one of several atoms is, depending on the path, with these atoms (SSA form)."""
    match statement:
        case If(results=results) | Try(results=results):
            for result, *given in zip(results, *(side.yields for side in sides_of(statement)), strict=True):
                yield (result,), tuple(given)
        case For(body=body, carried=carried) | While(body=body, carried=carried):
            for c, following in zip(carried, body.yields, strict=True):
                yield (c.param, c.result), (c.init, following)
        case Let() | Store() | With() | Assert() | Note() | Raise() | Return() | Break() | Continue():
            return


def with_blocks(statement: Statement, blocks: Iterable[Block]) -> Statement:
    """The statement with other blocks, in the order of ``blocks_of``."""
    if type(statement) in _FLAT:
        return statement
    match statement:
        case Let() | Store() | Note() | Raise() | Return() | Break() | Continue():
            return statement
        case If():
            then, orelse = blocks
            return replace(statement, then=then, orelse=orelse)
        case For():
            body, orelse = blocks
            return replace(statement, body=body, orelse=orelse)
        case While():
            test, body, orelse = blocks
            return replace(statement, test=test, body=body, orelse=orelse)
        case With():
            (body,) = blocks
            return replace(statement, body=body)
        case Assert():
            (problem,) = blocks
            return replace(statement, problem=problem)
        case Try(handlers=handlers, final=final):
            body, orelse, *rest = blocks
            again = tuple(replace(h, body=b) for h, b in zip(handlers, rest, strict=False))
            final = rest[-1] if final.statements else final
            return replace(statement, body=body, orelse=orelse, handlers=again, final=final)


def rebuild(
    statement: Statement, atom: Callable[[Atom], Atom], block: Callable[[Block], Block]
) -> Statement:
    """The statement with the atoms that it reads itself and the blocks inside it changed; what it defines stays."""

    def maybe(a: Atom | None) -> Atom | None:
        return None if a is None else atom(a)

    def carry(carried: tuple[Carried, ...]) -> tuple[Carried, ...]:
        return tuple(Carried(c.param, atom(c.init), c.result) for c in carried)

    def reads(s: Let | Store) -> Reads:
        return tuple((new, version) for a, version in s.reads if isinstance(new := atom(a), Var))

    if isinstance(statement, Let):
        made = map_atoms(statement.value, atom)
        if made is statement.value and statement.target is not None and not statement.reads:
            return statement
        return Let(statement.target, made, statement.span, reads(statement), statement.makes)
    match statement:
        case Store(kind, target, key, value, op, span):
            was, makes = maybe(statement.was), statement.makes
            return Store(kind, atom(target), atom(key), atom(value), op, span, was, reads(statement), makes)
        case If(test, then, orelse):
            return replace(statement, test=atom(test), then=block(then), orelse=block(orelse))
        case For(_, iterable, body, carried, leave):
            return replace(
                statement, iterable=atom(iterable), body=block(body), carried=carry(carried), leave=maybe(leave),
                snapshots=maybe(statement.snapshots), orelse=block(statement.orelse),
            )
        case While(test, body, carried, leave):
            return replace(
                statement, test=block(test), body=block(body), carried=carry(carried), leave=maybe(leave),
                snapshots=maybe(statement.snapshots), orelse=block(statement.orelse),
            )
        case With(manager, _, body):
            return replace(statement, manager=atom(manager), body=block(body))
        case Try(body, handlers, orelse):
            again = tuple(replace(h, kinds=tuple(map(atom, h.kinds)), body=block(h.body)) for h in handlers)
            return replace(
                statement, body=block(body), orelse=block(orelse), handlers=again, final=block(statement.final))
        case Assert(test, problem, span):
            return Assert(atom(test), block(problem), span)
        case Raise(exception, cause, span):
            return Raise(maybe(exception), maybe(cause), span)
        case Return(value, span):
            return Return(atom(value), span)
        case Break() | Continue() | Note():
            return statement


def reads_of(statement: Statement) -> tuple[Atom, ...]:
    """The atoms that a statement itself reads, nested blocks apart."""
    if isinstance(statement, Let):
        return atoms_of(statement.value)
    match statement:
        case Store(_, target, key, value):
            return (target, key, value) if statement.was is None else (target, key, value, statement.was)
        case If(test) | Assert(test):
            return (test,)
        case For(iterable=iterable, carried=carried, snapshots=snapshots):
            return (iterable, *(c.init for c in carried), *(() if snapshots is None else (snapshots,)))
        case While(carried=carried, snapshots=snapshots):
            return (*(c.init for c in carried), *(() if snapshots is None else (snapshots,)))
        case With(manager):
            return (manager,)
        case Try(handlers=handlers):
            return tuple(kind for h in handlers for kind in h.kinds)
        case Raise(exception, cause):
            return tuple(a for a in (exception, cause) if a is not None)
        case Return(value):
            return (value,)
        case Break() | Continue() | Note():
            return ()


def defs_of(statement: Statement) -> tuple[Var, ...]:
    """The variables that a statement binds for what follows it (SSA form; not those inside its blocks, though the body
    of a ``With`` is no scope)."""
    if isinstance(statement, Let):
        return () if statement.target is None else (statement.target,)
    match statement:
        case If(results=results) | Try(results=results):
            return results
        case With(target=target, ended=ended):
            return tuple(v for v in (target, ended) if v is not None)
        case For(carried=carried, left=left) | While(carried=carried, left=left):
            found = tuple(c.result for c in carried)
            return found if left is None else (*found, left)
        case Store() | Note() | Assert() | Raise() | Return() | Break() | Continue():
            return ()


def inner_defs_of(statement: Statement) -> tuple[Var, ...]:
    """The variables that a statement binds for the blocks inside it."""
    match statement:
        case For(item=item, carried=carried):
            return (item, *(c.param for c in carried))
        case While(carried=carried):
            return tuple(c.param for c in carried)
        case With(target=target):
            return () if target is None else (target,)
        case Try(handlers=handlers):
            names = (v for h in handlers for v in (h.name, *(unassigned.param for unassigned in h.unassigned)))
            return tuple(v for v in names if v is not None)
        case Let() | Store() | If() | Note() | Assert() | Raise() | Return() | Break() | Continue():
            return ()


def walk(block: Block) -> Iterator[Statement]:
    """Every statement in a block and in the blocks inside it, in order of the text."""
    left = [iter(block.statements)]
    while left:
        for statement in left[-1]:
            yield statement
            if type(statement) not in _FLAT:
                left += [iter(b.statements) for b in blocks_of(statement)[::-1]]
                break
        else:
            left.pop()


class BrokenIR(AssertionError):
    """The IR breaks one of its own rules: an internal error, shown beside the line."""
