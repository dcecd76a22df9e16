"""SSA form to code: takes an ``ir.Function``, gives ``Code`` with copies, ``break`` and ``return`` in their
places.

A loop's ``leave`` and a function's result are values in SSA form. Where such a value is known at the end of
a path, the path ends in ``break`` or ``return`` instead: the ends of a block *sink* into the branches of
its last ``If``.
"""

from __future__ import annotations

import linecache
from dataclasses import dataclass, field, replace
from typing import assert_never

from s2s import errors
from s2s.analysis.functions import may_refuse
from s2s.codegen.code import (
    Assert,
    Assign,
    Break,
    Change,
    Code,
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
from s2s.codegen.folding import LAMBDAS
from s2s.core import ir
from s2s.core.ir import UNDEFINED, Atom, Block, Const, Function, Var
from s2s.errors import DifferentiationError

__all__ = ["build_code"]

_REFUSAL = Const(DifferentiationError)
_REFUSALS = [v for v in vars(errors).values() if isinstance(v, type) and issubclass(v, DifferentiationError)]
_TRUE = Const(True)
_FALSE = Const(False)


def _may_refuse(block: Block) -> bool:
    """Whether statements may refuse a derivative when they run."""
    calls = (s.value.fn for s in ir.walk(block) if isinstance(s, ir.Let) and isinstance(s.value, ir.Call))
    return any(isinstance(fn, Const) and may_refuse(fn.value) for fn in calls)


def _catches_refusals(handler: Handler) -> bool:
    """Whether a handler may be entered by a refusal of a derivative."""
    known = [kind.value for kind in handler.kinds if isinstance(kind, Const) and isinstance(kind.value, type)]
    return not known or len(known) < len(handler.kinds) or any(issubclass(one, tuple(known)) for one in _REFUSALS)


@dataclass(frozen=True, slots=True)
class _End:
    """What is left to do at the end of a block: copies, then perhaps ``break``, then perhaps ``return``."""

    pairs: tuple[tuple[Var, Atom], ...] = ()
    leave: Atom | None = None
    left: Var | None = None
    give: Atom | None = None
    after: _After | None = None

    def substituted(self, values: dict[Atom, Atom]) -> _End:
        """The same end with other atoms in the places of some."""
        return replace(
            self,
            pairs=tuple((target, values.get(source, source)) for target, source in self.pairs),
            leave=None if self.leave is None else values.get(self.leave, self.leave),
            give=None if self.give is None else values.get(self.give, self.give),
        )

    def through(self, branch: ir.If | ir.Try, block: Block) -> _End:
        """The same end for one branch of the block's last ``If``."""
        return self.substituted(dict(zip(branch.results, block.yields, strict=True)))

    def given(self) -> Atom | None:
        """What the function returns after this end, where nothing else happens until then."""
        if self.give is not None or self.leave != _TRUE or self.after is None:
            return self.give
        return self.after.given(dict(self.pairs), self.left)

    def sinks(self, branch: ir.If) -> bool:
        """Whether the paths of the last ``If`` have ends of their own."""
        if isinstance(self.give, Var) and self.give in branch.results and self.give.is_temporary:
            return not _is_inline(branch)
        return self.leave in branch.results and any(
            self.through(branch, block).is_known(block) for block in (branch.then, branch.orelse)
        )

    def sinks_into(self, statement: ir.Try) -> bool:
        """Whether the blocks of the last ``Try`` have ends of their own."""
        if isinstance(self.give, Var) and self.give in statement.results:
            return self.give.is_temporary
        return self.leave in statement.results and any(
            self.through(statement, block).is_known(block) for block in ir.sides_of(statement)
        )

    def is_known(self, block: Block) -> bool:
        """Whether some path through the block knows that it leaves the loop."""
        if isinstance(self.leave, Const):
            return True
        last = block.statements[-1] if block.statements else None
        return isinstance(last, ir.If) and self.sinks(last)


@dataclass(slots=True)
class _After:
    """The ``If`` that follows a loop and is the last of its block: a path that leaves the loop may go on
    through it.

    ``open`` where some path leaves the loop without knowing where it goes on.
    """

    loop: ir.For | ir.While
    branch: ir.If
    end: _End
    open: bool = False

    def given(self, nexts: dict[Var, Atom], left: Var | None) -> Atom | None:
        """What the function returns on a path that leaves the loop with these values; ``open`` where that
        is not known."""
        values: dict[Atom, Atom] = {c.result: nexts.get(c.param, c.param) for c in self.loop.carried}
        if left is not None:
            values[left] = _TRUE
        test = values.get(self.branch.test, self.branch.test)
        if test == _FALSE:
            return None  # a break: the path goes on after the loop
        given = None
        if test == _TRUE and not self.branch.then.statements:
            given = self.end.through(self.branch, self.branch.then).substituted(values).given()
        self.open = self.open or given is None
        return given


def _is_inline(branch: ir.If) -> bool:
    """Whether the user wrote a conditional expression: a branch whose place does not follow ``if`` or
    ``elif``."""
    span = branch.span
    if span is None:
        return not branch.then.statements and not branch.orelse.statements
    before = linecache.getline(span.file, span.line)[: span.column].rstrip(" (")
    return not before.endswith(("if", "case")) and span.line == span.end_line


def build_code(function: Function, replaced: dict[Var, Atom] | None = None) -> Code:
    """The code of a function; ``replaced`` gives atoms for captures that are constants in the enclosing
    function."""
    builder = _Builder(dict(replaced or {}))
    body = builder.block(function.body, _End(give=function.body.yields[0]))
    params = tuple(p.var for p in function.params)
    return Code(params, tuple(v for v in function.captures if v not in builder.same), body)


@dataclass(slots=True)
class _Builder:
    same: dict[Var, Atom]
    """Variables that are another one's other name: a loop's result is its param."""
    made: dict[tuple[int, tuple[Atom, ...], tuple[tuple[str, Atom], ...]], Var] = field(default_factory=dict)
    """The nested functions made so far in this block and the blocks around it."""

    def atom(self, atom: Atom) -> Atom:
        while isinstance(atom, Var) and atom in self.same:
            atom = self.same[atom]
        return atom

    def block(self, block: Block, end: _End) -> list[Statement]:
        around = dict(self.made)
        out = self.statements(block, end)
        self.made = around
        return out

    def statements(self, block: Block, end: _End) -> list[Statement]:
        out: list[Statement] = []
        statements = block.statements
        last = statements[-1] if statements else None
        after = self.after(statements, end)
        for place, statement in enumerate(statements[:-1]):
            follows = statements[place + 1]
            if isinstance(statement, (ir.For, ir.While)):
                self.loop_statement(statement, out, after if follows is last else None)
            else:
                self.statement(statement, out)
        if after is not None and not after.open:
            assert isinstance(last, ir.If)
            out += self.block(last.orelse, end.through(last, last.orelse))
            return out
        if isinstance(last, ir.If) and end.sinks(last):
            arms = [self.block(block, end.through(last, block)) for block in (last.then, last.orelse)]
            out.append(If(self.atom(last.test), arms[0], arms[1], span=last.span))
            return out
        if isinstance(last, ir.Try) and end.sinks_into(last):
            self.try_(last, end, out)
            return out
        if last is not None:
            self.statement(last, out)
        if not ends(out):
            self.end(end, out)
        return out

    def after(self, statements: tuple[ir.Statement, ...], end: _End) -> _After | None:
        """How the paths that leave a block's last loop go on, where a test tells them from those that do
        not."""
        match statements:
            case (*_, (ir.For() | ir.While()) as loop, ir.If(test=Var() as test) as branch) if (
                loop.leave is not None
            ):
                inits = [c.init for c in loop.carried if c.result == test]
                known = test == loop.left or (inits == [_FALSE])
                return _After(loop, branch, end) if known else None
            case _:
                return None

    def end(self, end: _End, out: list[Statement]) -> None:
        given = end.given() if end.leave == _TRUE else None
        if given is not None and given != UNDEFINED:
            out.append(Return(self.atom(given)))
            return
        pairs = list(end.pairs)
        if end.leave == _TRUE and end.left is not None:
            pairs.append((end.left, _TRUE))
        self.copies(pairs, out)
        if end.leave == _TRUE:
            out.append(Break())
        elif end.leave is not None and end.leave != _FALSE:
            if end.after is not None:
                end.after.open = True
            then: list[Statement] = []
            self.copies([(end.left, _TRUE)] if end.left is not None else [], then)
            out.append(If(self.atom(end.leave), [*then, Break()], []))
        if end.give is not None and end.give != UNDEFINED:
            out.append(Return(self.atom(end.give)))

    def copies(self, pairs: list[tuple[Var, Atom]], out: list[Statement], span: ir.Span | None = None) -> None:
        known = [(target, self.atom(source)) for target, source in pairs]
        moved = [(target, source) for target, source in known if target != source]
        if moved:
            out.append(Copies(moved, span))

    def statement(self, statement: ir.Statement, out: list[Statement]) -> None:
        match statement:
            case ir.Let(Var() as target, ir.MakeFunction() as value, span):
                self.make_function(target, value, span, out)
            case ir.Let(target, value, span):
                out.append(Assign(target, ir.map_atoms(value, self.atom), span))
            case ir.Store("opaque"):
                pass  # the call after it is what changes the array
            case ir.Store(_, target, key, value):
                store = ir.replace(
                    statement, target=self.atom(target), key=self.atom(key), value=self.atom(value)
                )
                out.append(Change(store))
            case ir.If(test, then, orelse, results):
                arms = [
                    self.block(block, _End(tuple(zip(results, block.yields, strict=True))))
                    for block in (then, orelse)
                ]
                inline = _is_inline(statement) and (
                    statement.span is not None or all(v.is_temporary for v in results)
                )
                out.append(If(self.atom(test), arms[0], arms[1], inline, statement.span))
            case ir.For() | ir.While():
                self.loop_statement(statement, out, None)
            case ir.With(manager, target, body, ended):
                self.copies([(ended, _FALSE)] if ended is not None else [], out)
                end = _End(() if ended is None else ((ended, _TRUE),))
                out.append(With(self.atom(manager), target, self.block(body, end), ended, statement.span))
            case ir.Try():
                self.try_(statement, None, out)
            case ir.Assert(test, problem, span):
                raising = self.block(problem, _End())
                raising.append(Raise(self.atom(problem.yields[0]), None, span))
                out.append(Assert(self.atom(test), raising, span))
            case ir.Raise(exception, cause, span):
                out.append(Raise(self.optional(exception), self.optional(cause), span))
            case ir.Note(text, section):
                out.append(Comment(text, section))
            case ir.Return() | ir.Break() | ir.Continue():
                raise ir.BrokenIR(f"{type(statement).__name__} does not belong in SSA form")
            case _ as never:
                assert_never(never)

    def try_(self, statement: ir.Try, end: _End | None, out: list[Statement]) -> None:
        """A ``try``; ``end`` is what is left to do after it where its blocks do that themselves."""
        body = self.block(statement.body, _End())
        sides = []
        for block in ir.sides_of(statement):
            own = _End(tuple(zip(statement.results, block.yields, strict=True)))
            sides.append(self.block(block, own if end is None else end.through(statement, block)))
        handlers = [
            Handler(tuple(map(self.atom, handler.kinds)), handler.name, made)
            for handler, made in zip(statement.handlers, sides[1:], strict=True)
        ]
        first = handlers[0].kinds if handlers else ()
        if _REFUSAL not in first and any(map(_catches_refusals, handlers)) and _may_refuse(statement.body):
            handlers.insert(0, Handler((_REFUSAL,), None, [Raise(None)]))  # it is no exception of the program
        out.append(Try(body, handlers, sides[0], statement.span))

    def make_function(
        self, target: Var, value: ir.MakeFunction, span: ir.Span | None, out: list[Statement]
    ) -> None:
        """A nested function, once where ``normalize`` made the same one at every read, under the name that
        it had."""
        made = ir.map_atoms(value, self.atom)
        assert isinstance(made, ir.MakeFunction)
        key = (id(made.function), made.captures, made.defaults)
        known = self.made.get(key)
        if known is not None:
            self.same[target] = known
            return
        name = made.function.name
        if target.is_temporary and name.isidentifier() and name not in LAMBDAS:
            named = Var(name, -1 - len(self.made))
            self.same[target] = named
            target = named
        self.made[key] = target
        own = tuple(
            target if atom == UNDEFINED and var.name == name else atom  # it calls itself
            for var, atom in zip(made.function.captures, made.captures, strict=True)
        )
        out.append(Assign(target, ir.replace(made, captures=own), span))

    def optional(self, atom: Atom | None) -> Atom | None:
        return None if atom is None else self.atom(atom)

    def loop_statement(self, loop: ir.For | ir.While, out: list[Statement], after: _After | None) -> None:
        match loop:
            case ir.For(item, iterable):
                source = self.atom(iterable)
                out.append(For(item, source, self.loop(loop, out, after), loop.span))
            case ir.While(test=test):
                body = self.loop(loop, out, after)
                head: list[Statement] = []
                around = dict(self.made)
                for inner in test.statements:
                    self.statement(inner, head)
                self.made = around
                out.append(While(head, self.atom(test.yields[0]), body, loop.span))
            case _ as never:
                assert_never(never)

    def loop(self, loop: ir.For | ir.While, out: list[Statement], after: _After | None) -> list[Statement]:
        """The body of a loop; what comes before the loop goes to ``out``."""
        before: list[tuple[Var, Atom]] = [(c.param, c.init) for c in loop.carried]
        if loop.left is not None:
            before.append((loop.left, _FALSE))
        self.copies(before, out, loop.span)
        nexts = tuple((c.param, y) for c, y in zip(loop.carried, loop.body.yields, strict=True))
        body = self.block(loop.body, _End(nexts, loop.leave, loop.left, after=after))
        self.same.update({c.result: c.param for c in loop.carried})
        return body
