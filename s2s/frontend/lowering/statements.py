"""Statements: the ``match`` in ``_statement`` and ``_small_statement`` is the list of those that are supported."""

from __future__ import annotations

import operator
from typing import assert_never

import libcst as cst

from s2s.core import ir
from s2s.core.ir import Const, Let, Var
from s2s.frontend.lowering.assignments import assign, assign_to, augment, delete, loop
from s2s.frontend.lowering.bindings import enter
from s2s.frontend.lowering.comprehensions import consumed
from s2s.frontend.lowering.context import NONE, Context, block_of
from s2s.frontend.lowering.exceptions import lower_try, lower_with
from s2s.frontend.lowering.functions import nested_def
from s2s.frontend.lowering.imports import lower_import
from s2s.frontend.lowering.matching import lower_match
from s2s.frontend.lowering.refusals import refuse_async, refuse_statement
from s2s.frontend.lowering.yields import lower_yield

__all__ = ["lower_suite"]


def lower_suite(c: Context, node: cst.BaseSuite) -> None:
    for statement in node.body:
        if isinstance(statement, cst.BaseSmallStatement):
            _small_statement(c, statement)
        else:
            _statement(c, statement)


def _statement(c: Context, node: cst.CSTNode) -> None:
    match node:
        case cst.SimpleStatementLine(body=body):
            for small in body:
                _small_statement(c, small)
        case cst.If():
            _if(c, node)
        case cst.For():
            _for(c, node)
        case cst.While():
            _while(c, node)
        case cst.FunctionDef():
            enter(c, node.params, *node.decorators)
            nested_def(c, node)
        case cst.With():
            lower_with(c, node, node.items)
        case cst.Try():
            lower_try(c, node)
        case cst.Match():
            lower_match(c, node)
        case _:
            refuse_statement(c, node)


def _small_statement(c: Context, node: cst.BaseSmallStatement) -> None:
    enter(c, node)
    match node:
        case cst.Expr():
            _expression_statement(c, node)
        case cst.Assign():
            assign(c, node)
        case cst.AnnAssign(target=target, value=value):
            if value is not None:
                assign_to(c, target, c.value(value), value)
        case cst.AugAssign():
            augment(c, node)
        case cst.Return(value=value):
            c.put(ir.Return(NONE if value is None else c.atom(value), c.span(node)))
        case cst.Break():
            c.put(ir.Break(c.span(node)))
        case cst.Continue():
            c.put(ir.Continue(c.span(node)))
        case cst.Raise():
            _raise(c, node)
        case cst.Assert():
            _assert(c, node)
        case cst.Import() | cst.ImportFrom():
            lower_import(c, node)
        case cst.Del(target=target):
            delete(c, target)
        case cst.Pass() | cst.Global() | cst.Nonlocal():
            pass
        case _:
            refuse_statement(c, node)


def _expression_statement(c: Context, node: cst.Expr) -> None:
    if isinstance(node.value, cst.Yield):
        lower_yield(c, node.value)
        return
    value = c.value(node.value)
    already_done = isinstance(value, Const) or (isinstance(value, Var) and value.is_temporary)
    if not already_done:
        c.let(None, value, node.value)


# --- branches and loops -------------------------------------------------------------------------------------


def _if(c: Context, node: cst.If) -> None:
    enter(c, node.test)
    test = c.atom(node.test)
    then = c.nested(node.body)
    c.put(ir.If(test, then, _orelse(c, node.orelse), (), c.span(node.test)))


def _orelse(c: Context, node: cst.If | cst.Else | None) -> ir.Block:
    match node:
        case cst.Else():
            return c.nested(node.body)
        case cst.If():
            with c.block() as statements:
                _if(c, node)
            return block_of(statements)
        case None:
            return ir.Block(())


def _for(c: Context, node: cst.For) -> None:
    if node.asynchronous is not None:
        refuse_async(c, node, node.iter)
    enter(c, node.iter, node.target)
    iterable = consumed(c, node.iter)
    item, body = loop(c, node.target, lambda: c.suite(node.body))
    orelse = _orelse(c, node.orelse)
    c.put(ir.For(item, iterable, body, orelse=orelse, span=c.span(node, node.iter)))


def _while(c: Context, node: cst.While) -> None:
    """``While`` with the test as a block where that assigns only temporaries; else ``while True``."""
    enter(c, node.test)
    with c.block() as statements:
        test = c.atom(node.test)
    if all(map(_only_temporaries, ir.walk(block_of(statements)))):
        body = c.nested(node.body)
        orelse = _orelse(c, node.orelse)
        c.put(ir.While(ir.Block(tuple(statements), (test,)), body, orelse=orelse, span=c.span(node.test)))
    else:
        _while_true(c, node, statements, test)


def _only_temporaries(statement: ir.Statement) -> bool:
    match statement:
        case Let(target):
            return target is None or target.is_temporary
        case ir.For() | ir.While() | ir.Store():
            return False
        case (
            ir.If() | ir.With() | ir.Try() | ir.Assert() | ir.Raise() | ir.Return() | ir.Break() | ir.Continue() |
            ir.Note()
        ):
            return True
        case _:
            assert_never(statement)


def _while_true(c: Context, node: cst.While, test_statements: list[ir.Statement], test: ir.Atom) -> None:
    # The ``else`` of the user's loop must stand after this loop: its ``break`` leaves the loop around it.
    ended = None if node.orelse is None else c.bind(Const(False), node.test)
    with c.block() as leave:
        if ended is not None:
            c.let(ended, Const(True), node.test)
        c.put(ir.Break(c.span(node.test)))
    with c.block() as body:
        body.extend(test_statements)
        stop = c.call(node.test, operator.not_, test)
        c.put(ir.If(stop, block_of(leave), ir.Block(()), (), c.span(node.test)))
        c.suite(node.body)
    c.put(ir.While(ir.Block((), (Const(True),)), block_of(body), span=c.span(node.test)))
    if ended is not None:
        c.put(ir.If(ended, _orelse(c, node.orelse), ir.Block(()), (), c.span(node.test)))


# --- raise and assert ---------------------------------------------------------------------------------------


def _raise(c: Context, node: cst.Raise) -> None:
    exception = None if node.exc is None else c.atom(node.exc)
    cause = node.cause.item if isinstance(node.cause, cst.From) else None
    c.put(ir.Raise(exception, None if cause is None else c.atom(cause), c.span(node)))


def _assert(c: Context, node: cst.Assert) -> None:
    if not __debug__:
        return  # Python does not run it either
    test = c.atom(node.test)
    with c.block() as statements:
        message = () if node.msg is None else (c.atom(node.msg),)
        problem = c.call(node, AssertionError, *message)
    c.put(ir.Assert(test, ir.Block(tuple(statements), (problem,)), c.span(node)))
