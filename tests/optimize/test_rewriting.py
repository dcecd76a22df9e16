"""What passes ask of a function before they change it."""

import operator

import pytest

from s2s.core import ir, ops
from s2s.optimize.rewriting import without_result

A, B, LIST, PAIR, SUM = (ir.Var(name) for name in ("a", "b", "list", "pair", "sum"))


def let(target, fn, *args):
    return ir.Let(target, ir.Call(ir.Const(fn), args))


ADDED = let(SUM, operator.add, A, B)
OF_BOTH = let(LIST, ops.make_list, A, B)
OF_THREE = let(PAIR, ops.make_tuple, LIST, SUM)
TWICE = let(PAIR, ops.make_tuple, LIST, LIST)


@pytest.mark.parametrize("statements, result, left", [
    ([ADDED], SUM, [ADDED]), ([ADDED, OF_BOTH], LIST, [ADDED]), ([ADDED, OF_BOTH, OF_THREE], PAIR, [ADDED]),
    ([OF_BOTH, ADDED, OF_THREE], PAIR, [OF_BOTH, ADDED]), ([ADDED, OF_BOTH], SUM, [ADDED, OF_BOTH]),
    ([OF_BOTH, TWICE], PAIR, [OF_BOTH]), ([OF_BOTH], LIST, []), ([], A, []),
])
def test_the_displays_that_put_the_result_together_at_the_end_are_left_out(statements, result, left):
    found = without_result(ir.Function("f", (), ir.Block(tuple(statements), (result,))))
    assert found.body == ir.Block(tuple(left), ())
