"""Resolve exits: a function in named form goes in; the same without Return, Break and Continue comes out.

    for x in xs:                         %4 = False
        if test(x):                      for x in xs:
            return x            ->           %1 = UNDEFINED; %2 = False
        total = total + x                    if test(x):  %1 = x; %2 = True
    return total                             else:        total = total + x
                                             leave if %2 -> %3
                                         if %3:  pass          (%1 is the result already)
                                         else:   %1 = total
                                         yield %1

What follows an ``If`` of which one branch never falls through goes into the other branch: so early returns
become nests of ``If`` without flags. Only where a branch exits on some of its paths does a flag guard what
follows. A branch that can only raise moves nothing: raising needs no help to skip the rest, and validation at
the top of a function stays flat.

What follows a ``with`` or a ``try`` may not move into it, where an exception would meet the manager or the handlers:
it goes into the ``else`` of the ``try``, into the one handler that goes on, or behind a flag. A ``finally`` is written
twice: after the ``try``, before what the flags guard, and in a handler that catches everything and raises it again,
unless the ``finally`` exits, which ends the exception.

The flags are plain variables, set and reset more often than they are read: ``ssa`` drops what is not read.
"""

from __future__ import annotations

import enum
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from s2s.core import ir

__all__ = ["Outcome", "is_endless", "outcomes", "resolve_exits"]


class Outcome(enum.Enum):
    """How control can leave a run of statements."""

    FALL = enum.auto()
    RETURN = enum.auto()
    BREAK = enum.auto()
    CONTINUE = enum.auto()
    RAISE = enum.auto()


_EXITS = frozenset({Outcome.RETURN, Outcome.BREAK, Outcome.CONTINUE})
_FALL = frozenset({Outcome.FALL})

_Statements: TypeAlias = tuple[ir.Statement, ...]


# --- where control can go -----------------------------------------------------------------------------------


def outcomes(statements: _Statements) -> frozenset[Outcome]:
    """How control can leave these statements, what is never reached left aside."""
    return _Ways().out_of(statements)


class _Ways:
    """How control can leave statements; looked for once in each that has blocks."""

    def __init__(self) -> None:
        self.known: dict[int, tuple[ir.Statement, frozenset[Outcome]]] = {}  # by the ``id`` of the statement

    def out_of(self, statements: _Statements) -> frozenset[Outcome]:
        found = _FALL
        for statement in statements:
            found = (found - _FALL) | self.out_of_one(statement)
            if Outcome.FALL not in found:
                break
        return found

    def out_of_one(self, statement: ir.Statement) -> frozenset[Outcome]:
        match statement:
            case ir.Let() | ir.Store() | ir.Assert() | ir.Note():
                return _FALL
            case ir.Return():
                return frozenset({Outcome.RETURN})
            case ir.Break():
                return frozenset({Outcome.BREAK})
            case ir.Continue():
                return frozenset({Outcome.CONTINUE})
            case ir.Raise():
                return frozenset({Outcome.RAISE})
            case ir.If() | ir.For() | ir.While() | ir.With() | ir.Try():
                if id(statement) not in self.known:
                    self.known[id(statement)] = statement, self._out_of_blocks(statement)
                return self.known[id(statement)][1]
            case _:
                assert_never(statement)

    def _out_of_blocks(self, statement: ir.If | ir.For | ir.While | ir.With | ir.Try) -> frozenset[Outcome]:
        match statement:
            case ir.If(_, then, orelse):
                return self.out_of(then.statements) | self.out_of(orelse.statements)
            case ir.For() | ir.While():
                return self._out_of_loop(statement)
            case ir.With(body=body):
                return self.out_of(body.statements) | _FALL  # the manager may swallow an exception
            case ir.Try(body, handlers, orelse):
                found = self.out_of((*body.statements, *orelse.statements))
                found = found.union(*(self.out_of(handler.body.statements) for handler in handlers))
                last = self.out_of(statement.final.statements)
                return found | (last - _FALL) if Outcome.FALL in last else last
            case _:
                assert_never(statement)

    def _out_of_loop(self, loop: ir.For | ir.While) -> frozenset[Outcome]:
        inside = self.out_of(loop.body.statements)
        found = inside & {Outcome.RETURN, Outcome.RAISE}
        if not is_endless(loop):
            found |= self.out_of(loop.orelse.statements)
        if Outcome.BREAK in inside:
            found |= _FALL
        return found


def is_endless(loop: ir.For | ir.While) -> bool:
    """Whether only its body can end the loop: ``while True``."""
    if not isinstance(loop, ir.While) or loop.test.statements:
        return False
    test = loop.test.yields[0]
    return isinstance(test, ir.Const) and type(test.value) in (bool, int) and bool(test.value)


# --- the rewriting ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Scope:
    """Where an exit goes: the variables that it sets, in the body of a function or of a loop."""

    fresh: Callable[[], ir.Var]
    ways: _Ways
    result: ir.Var  # what the function returns
    skip: ir.Var  # true once the path has exited this body by any exit
    leave: ir.Var | None = None  # true once the path has left the loop; None in the body of a function
    returned: ir.Var | None = None  # true once the path has left the loop by Return, where Break may too


def resolve_exits(function: ir.Function) -> ir.Function:
    """The function without Return, Break and Continue, in named form still; its body yields the result.

    A loop that ends early has ``leave`` and ``left``, no loop has an ``orelse``.
    """
    fresh = _temporaries(function)
    scope = _Scope(fresh, _Ways(), result=fresh(), skip=fresh())
    statements = (*function.body.statements, ir.Return(ir.Const(None)))
    body = (_set(scope.skip, False), *_resolve(statements, scope))
    return ir.replace(function, body=ir.Block(body, (scope.result,)))


def _temporaries(function: ir.Function) -> Callable[[], ir.Var]:
    """A maker of temporaries that the function does not have."""
    statements = list(ir.walk(function.body))
    used = [var for statement in statements for var in ir.defs_of(statement)]
    used += [h.name for s in statements if isinstance(s, ir.Try) for h in s.handlers if h.name is not None]
    used += [statement.item for statement in statements if isinstance(statement, ir.For)]
    versions = itertools.count(max((var.version for var in used if var.name == "%"), default=-1) + 1)
    return lambda: ir.Var("%", next(versions))


def _set(flag: ir.Var, value: bool) -> ir.Let:
    return ir.Let(flag, ir.Const(value))


def _resolve(statements: _Statements, scope: _Scope) -> _Statements:
    done: list[ir.Statement] = []
    for k, statement in enumerate(statements):
        match statement:
            case ir.Return() | ir.Break() | ir.Continue():
                return (*done, *_exit(statement, scope))
            case ir.Raise():
                return (*done, statement)
            case ir.If() if scope.ways.out_of_one(statement) & _EXITS:
                return (*done, *_resolve_if(statement, statements[k + 1 :], scope))
            case ir.If(_, then, orelse):
                inner = (ir.Block(_resolve(block.statements, scope)) for block in (then, orelse))
                done.append(ir.replace(statement, then=next(inner), orelse=next(inner)))
            case ir.For() | ir.While():
                before, after = _resolve_loop(statement, scope)
                done += before
                if after:
                    return (*done, *_resolve((*after, *statements[k + 1 :]), scope))
            case ir.With(body=body):
                done.append(ir.replace(statement, body=ir.Block(_resolve(body.statements, scope))))
                if scope.ways.out_of_one(statement) & _EXITS:
                    return (*done, *_guarded(statement, statements[k + 1 :], scope))
            case ir.Try():
                return (*done, *_resolve_try(statement, statements[k + 1 :], scope))
            case ir.Let() | ir.Store() | ir.Assert() | ir.Note():
                done.append(statement)
            case _:
                assert_never(statement)
        if Outcome.FALL not in scope.ways.out_of_one(statement):
            break
    return tuple(done)


def _exit(statement: ir.Return | ir.Break | ir.Continue, scope: _Scope) -> _Statements:
    """The assignments that stand for an exit: all flags, as one in a ``finally`` takes the place of another exit."""
    result: _Statements = ()
    match statement:
        case ir.Return(value, span):
            leaves = returns = True
            if value != scope.result:
                result = (ir.Let(scope.result, value, span),)
        case ir.Break():
            assert scope.leave is not None, "break outside of a loop"
            leaves, returns = True, False
        case ir.Continue():
            leaves = returns = False
        case _:
            assert_never(statement)
    flags = (scope.skip, True), (scope.leave, leaves), (scope.returned, returns)
    return (*result, *(_set(flag, value) for flag, value in flags if flag is not None))


def _resolve_if(statement: ir.If, rest: _Statements, scope: _Scope) -> _Statements:
    """An ``If`` that may exit, and what follows it."""
    branches = [statement.then.statements, statement.orelse.statements]
    falls = [Outcome.FALL in scope.ways.out_of(branch) for branch in branches]
    guarded = all(falls) and not _costs_nothing(rest)
    if not guarded:
        branches = [branch + rest if fall else branch for branch, fall in zip(branches, falls, strict=True)]
    then = ir.Block(_resolve(branches[0], scope))
    orelse = ir.Block(_resolve(branches[1], scope))
    resolved = ir.replace(statement, then=then, orelse=orelse)
    return (resolved, *_guarded(statement, rest, scope)) if guarded else (resolved,)


def _guarded(statement: ir.If | ir.With | ir.Try, rest: _Statements, scope: _Scope) -> _Statements:
    """What follows a statement, for the paths that have not exited in it."""
    if not rest:
        return ()
    # `leave` says the same as `skip` where no path continues, and the loop needs it anyway.
    by_skip = scope.leave is None or Outcome.CONTINUE in scope.ways.out_of_one(statement)
    flag = scope.skip if by_skip or scope.leave is None else scope.leave
    return (ir.If(flag, ir.Block(()), ir.Block(_resolve(rest, scope)), span=_start(statement)),)


def _resolve_try(statement: ir.Try, rest: _Statements, scope: _Scope) -> _Statements:
    """A ``Try``, and what follows it."""
    exits = bool(scope.ways.out_of_one(statement) & _EXITS)
    if not statement.handlers and not statement.final.statements:
        return _resolve((*statement.body.statements, *statement.orelse.statements, *rest), scope)
    if statement.final.statements:
        inner = _resolve_try(ir.replace(statement, final=ir.Block(())), (), scope)
        whole = _with_final(statement, ir.Block(inner), scope)
        return (*whole, *(_guarded(statement, rest, scope) if exits else _resolve(rest, scope)))
    if not exits:
        blocks = (ir.Block(_resolve(block.statements, scope)) for block in ir.blocks_of(statement))
        resolved = ir.with_blocks(statement, blocks)
        return (resolved, *(_resolve(rest, scope) if Outcome.FALL in scope.ways.out_of_one(statement) else ()))
    body, orelse, handlers = statement.body.statements, statement.orelse.statements, statement.handlers
    ends = [(*body, *orelse), *(h.body.statements for h in handlers)]
    going = [k for k, end in enumerate(ends) if Outcome.FALL in scope.ways.out_of(end)]
    moved = len(going) == 1 or (len(going) > 1 and _costs_nothing(rest))
    more = [rest if moved and k in going else () for k in range(len(ends))]
    after_body = (*orelse, *more[0])
    if scope.ways.out_of(body) & _EXITS:
        after_body = _guarded(statement, after_body, scope)
    else:
        after_body = _resolve(after_body, scope)
    starts = _no_exit(scope) if scope.ways.out_of(body) & _EXITS else ()
    resolved = ir.replace(
        statement,
        body=ir.Block(_resolve(body, scope)),
        orelse=ir.Block(after_body),
        handlers=tuple(
            ir.replace(h, body=ir.Block((*starts, *_resolve((*h.body.statements, *after), scope))))
            for h, after in zip(handlers, more[1:], strict=True)
        ),
    )
    return (resolved,) if moved or not going else (resolved, *_guarded(statement, rest, scope))


def _with_final(statement: ir.Try, inner: ir.Block, scope: _Scope) -> _Statements:
    """A block, and what ``finally`` does after it and after an exception, which ends where ``finally`` exits."""
    last, found = _resolve(statement.final.statements, scope), scope.ways.out_of(statement.final.statements)

    def catching(*handler: ir.Statement) -> ir.Try:
        caught = ir.Handler((ir.Const(BaseException),), None, ir.Block(handler), span=statement.span)
        return ir.Try(inner, (caught,), span=statement.span)

    if found <= _EXITS:
        return (catching(*_no_exit(scope)), *last)
    if not found & _EXITS:
        return (catching(*last, ir.Raise(None)), *last)
    done = scope.fresh()
    going_on = ir.If(done, ir.Block(()), ir.Block(last), span=_start(statement))
    raised = _guarded(statement, (ir.Raise(None),), scope)
    return (_set(done, False), catching(*_no_exit(scope), *last, *raised, _set(done, True)), going_on)


def _no_exit(scope: _Scope) -> _Statements:
    """The flags of a path that an exception led away from its exit."""
    flags = (scope.skip, scope.leave, scope.returned)
    return tuple(_set(flag, False) for flag in flags if flag is not None)


def _costs_nothing(rest: _Statements) -> bool:
    """Whether what follows may stand twice: nothing, or one exit."""
    return not rest or isinstance(rest[0], ir.Return | ir.Break | ir.Continue)


def _resolve_loop(loop: ir.For | ir.While, scope: _Scope) -> tuple[_Statements, _Statements]:
    """The loop with what goes before it, and the unresolved statements that go after it."""
    found = scope.ways.out_of(loop.body.statements)
    returns, breaks = Outcome.RETURN in found, Outcome.BREAK in found
    leave, left, skip = scope.fresh(), scope.fresh(), scope.fresh()
    # Where only Return leaves the loop early, `left` says that the function has returned.
    returned = scope.fresh() if returns and breaks else None
    inner = _Scope(scope.fresh, scope.ways, scope.result, skip, leave, returned)
    before: list[ir.Statement] = [] if returned is None else [_set(returned, False)]
    # An iteration that does not return gives no result: so the result of an earlier iteration is not handed on.
    starts = [*before, _set(skip, False), _set(leave, False)]
    if returns:
        starts.append(ir.Let(scope.result, ir.UNDEFINED))
    body = ir.Block((*starts, *_resolve(loop.body.statements, inner)))
    resolved = ir.replace(loop, body=body, orelse=ir.Block(()))
    if returns or breaks:
        resolved = ir.replace(resolved, leave=leave, left=left)
    after = (*_return_again(loop, returned or left, scope, found), *_orelse(loop, left, breaks))
    return (*before, resolved), after


def _return_again(
    loop: ir.For | ir.While, returned: ir.Var, scope: _Scope, found: frozenset[Outcome]
) -> _Statements:
    """After a loop that may return: the Return from what is around it."""
    if Outcome.RETURN not in found:
        return ()
    again = ir.Return(scope.result, loop.span)
    if is_endless(loop) and Outcome.BREAK not in found:
        return (again,)
    return (ir.If(returned, ir.Block((again,)), ir.Block(()), span=loop.span),)


def _orelse(loop: ir.For | ir.While, left: ir.Var, breaks: bool) -> _Statements:
    """After a loop with an ``else``: its statements, unless Break ended the loop."""
    if not breaks or not loop.orelse.statements:
        return loop.orelse.statements
    return (ir.If(left, ir.Block(()), loop.orelse, span=loop.span),)


def _start(statement: ir.If | ir.With | ir.Try) -> ir.Span | None:
    """The place of a branch that the user has not written."""
    return None if statement.span is None else statement.span.start
