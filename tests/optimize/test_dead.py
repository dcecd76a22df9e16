"""Which functions have no effect but their result, and which changes nothing sees: they go where nothing reads them."""

import numpy as np
import pytest

import s2s
from s2s.builder.builder import Context
from s2s.core import ir, ops
from s2s.core.values import UNKNOWN, Array, Dim, ListOf
from s2s.optimize.dead import drop_dead, is_pure


@pytest.mark.parametrize("fn", [s2s.grad, s2s.jvp, s2s.differentiable, np.sin, np.where, len, ValueError, np.errstate])
def test_pure(fn):
    assert is_pure(fn)


@pytest.mark.parametrize("fn", [print, list.append, list.pop, np.random.normal, np.copyto, object()])
def test_not_pure(fn):
    assert not is_pure(fn)


ROW = Array(np.dtype(float), (Dim("x.0"),))
X, A, STACK, COPY, ITEM, K = map(ir.Var, ("x", "a", "stack", "copied", "item", "k"))


def let(target, fn, *args):
    return ir.Let(target, ir.Call(ir.Const(fn), args))


MAKE, COPIED, PUSH = let(STACK, ops.make_stack), let(COPY, ops.copy_stack, STACK), let(None, ops.push, STACK, X)
PULL, PULL_OF_COPY = let(ITEM, ops.pull, STACK), let(ITEM, ops.pull, COPY)
ZEROS, STORE = let(A, np.zeros_like, X), ir.Store("item", A, ir.Const(0), ir.Const(2.0))
FILL = let(None, np.ndarray.fill, A, ir.Const(2.0))


def left_of(statements, *results):
    """The statements that stay where the function gives these variables."""
    context = Context()
    context.values |= {X: ROW, A: ROW, ITEM: ROW, STACK: ListOf(ROW), COPY: ListOf(ROW), K: UNKNOWN}
    function = ir.Function("f", (ir.Param(X),), ir.Block(tuple(statements), results))
    return list(drop_dead(function, context).body.statements)


def repeated(*statements):
    return ir.For(K, ir.Const(range(3)), ir.Block(statements, ()), ())


@pytest.mark.parametrize("statements, needed", [
    ([MAKE, PUSH], STACK), ([MAKE, PUSH, PULL], ITEM), ([MAKE, repeated(PUSH), PULL], ITEM),
    ([MAKE, PUSH, COPIED, PULL_OF_COPY], ITEM), ([ZEROS, STORE], A), ([ZEROS, FILL], A), ([ZEROS, repeated(STORE)], A),
], ids=["stack", "item", "in a loop", "of a copy", "store", "filled", "stores in a loop"])
def test_changes_of_what_nothing_reads_go(statements, needed):
    assert left_of(statements, X) == []
    assert left_of(statements, needed) == statements


def test_what_is_taken_from_a_stack_that_is_read_later_goes_from_it_unread():
    statements = [MAKE, PUSH, PUSH, PULL]
    assert left_of(statements, STACK) == [MAKE, PUSH, PUSH, let(None, ops.pull, STACK)]


def test_changes_of_an_argument_stay():
    statements = [ir.Store("item", X, ir.Const(0), ir.Const(2.0)), let(None, np.ndarray.fill, X, ir.Const(2.0))]
    assert left_of(statements, K) == statements
