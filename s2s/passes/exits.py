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

The flags are plain variables, set and reset more often than they are read: ``ssa`` drops what is not read.
"""

from __future__ import annotations

import enum
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from s2s import ir

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
    found = _FALL
    for statement in statements:
        found = (found - _FALL) | _outcomes_of(statement)
        if Outcome.FALL not in found:
            break
    return found


def _outcomes_of(statement: ir.Statement) -> frozenset[Outcome]:
    match statement:
        case ir.If(_, then, orelse):
            return outcomes(then.statements) | outcomes(orelse.statements)
        case ir.For() | ir.While():
            return _outcomes_of_loop(statement)
        case ir.Return():
            return frozenset({Outcome.RETURN})
        case ir.Break():
            return frozenset({Outcome.BREAK})
        case ir.Continue():
            return frozenset({Outcome.CONTINUE})
        case ir.Raise():
            return frozenset({Outcome.RAISE})
        case ir.Let() | ir.Store() | ir.Note():
            return _FALL
        case _:
            assert_never(statement)


def _outcomes_of_loop(loop: ir.For | ir.While) -> frozenset[Outcome]:
    inside = outcomes(loop.body.statements)
    found = inside & {Outcome.RETURN, Outcome.RAISE}
    if not is_endless(loop):
        found |= outcomes(loop.orelse.statements)
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
    result: ir.Var  # what the function returns
    skip: ir.Var  # true once the path has exited this body by any exit
    leave: ir.Var | None = None  # true once the path has left the loop; None in the body of a function
    returned: ir.Var | None = None  # true once the path has left the loop by Return, where Break may too


def resolve_exits(function: ir.Function) -> ir.Function:
    """The function without Return, Break and Continue, in named form still; its body yields the result.

    A loop that ends early has ``leave`` and ``left``, no loop has an ``orelse``.
    """
    fresh = _temporaries(function)
    scope = _Scope(fresh, result=fresh(), skip=fresh())
    statements = (*function.body.statements, ir.Return(ir.Const(None)))
    body = (_set(scope.skip, False), *_resolve(statements, scope))
    return ir.replace(function, body=ir.Block(body, (scope.result,)))


def _temporaries(function: ir.Function) -> Callable[[], ir.Var]:
    """A maker of temporaries that the function does not have."""
    statements = list(ir.walk(function.body))
    used = [var for statement in statements for var in ir.defs_of(statement)]
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
            case ir.If() if _outcomes_of(statement) & _EXITS:
                return (*done, *_resolve_if(statement, statements[k + 1 :], scope))
            case ir.If(_, then, orelse):
                inner = (ir.Block(_resolve(block.statements, scope)) for block in (then, orelse))
                done.append(ir.replace(statement, then=next(inner), orelse=next(inner)))
            case ir.For() | ir.While():
                before, after = _resolve_loop(statement, scope)
                done += before
                if after:
                    return (*done, *_resolve((*after, *statements[k + 1 :]), scope))
            case ir.Let() | ir.Store() | ir.Note():
                done.append(statement)
            case _:
                assert_never(statement)
        if Outcome.FALL not in _outcomes_of(statement):
            break
    return tuple(done)


def _exit(statement: ir.Return | ir.Break | ir.Continue, scope: _Scope) -> _Statements:
    """The assignments that stand for an exit."""
    assignments = [_set(scope.skip, True)]
    match statement:
        case ir.Return(value, span):
            if value != scope.result:
                assignments.append(ir.Let(scope.result, value, span))
            assignments += [_set(flag, True) for flag in (scope.leave, scope.returned) if flag is not None]
        case ir.Break():
            assert scope.leave is not None, "break outside of a loop"
            assignments.append(_set(scope.leave, True))
        case ir.Continue():
            pass
        case _:
            assert_never(statement)
    return tuple(assignments)


def _resolve_if(statement: ir.If, rest: _Statements, scope: _Scope) -> _Statements:
    """An ``If`` that may exit, and what follows it."""
    branches = [statement.then.statements, statement.orelse.statements]
    falls = [Outcome.FALL in outcomes(branch) for branch in branches]
    guarded = all(falls) and not _costs_nothing(rest)
    if not guarded:
        branches = [branch + rest if fall else branch for branch, fall in zip(branches, falls, strict=True)]
    then = ir.Block(_resolve(branches[0], scope))
    orelse = ir.Block(_resolve(branches[1], scope))
    resolved = ir.replace(statement, then=then, orelse=orelse)
    if not guarded:
        return (resolved,)
    # `leave` says the same as `skip` where no path continues, and the loop needs it anyway.
    by_skip = scope.leave is None or Outcome.CONTINUE in _outcomes_of(statement)
    flag = scope.skip if by_skip or scope.leave is None else scope.leave
    return (resolved, ir.If(flag, ir.Block(()), ir.Block(_resolve(rest, scope)), span=statement.span))


def _costs_nothing(rest: _Statements) -> bool:
    """Whether what follows may stand twice: nothing, or one exit."""
    return not rest or isinstance(rest[0], ir.Return | ir.Break | ir.Continue)


def _resolve_loop(loop: ir.For | ir.While, scope: _Scope) -> tuple[_Statements, _Statements]:
    """The loop with what goes before it, and the unresolved statements that go after it."""
    found = outcomes(loop.body.statements)
    returns, breaks = Outcome.RETURN in found, Outcome.BREAK in found
    leave, left, skip = scope.fresh(), scope.fresh(), scope.fresh()
    # Where only Return leaves the loop early, `left` says that the function has returned.
    returned = scope.fresh() if returns and breaks else None
    inner = _Scope(scope.fresh, scope.result, skip, leave, returned)
    before: list[ir.Statement] = [] if returned is None else [_set(returned, False)]
    # A trip that does not return gives no result: so the result of an earlier trip is not handed on.
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
