"""What of the variables that are still read may be the same memory at a store."""

import operator

import numpy as np
import pytest

from s2s.analysis.abstract.lattice import known
from s2s.analysis.memory import Memory
from s2s.analysis.sharing import Sharing
from s2s.core import ir
from s2s.core.values import UNKNOWN, Array, Dim

ROW = Array(np.dtype(float), (Dim("x.0"),))
X, U, U1, U2, U3, KEPT, KEPT1, KEPT2, KEPT3, I, T = map(ir.Var, (
    "x", "u", "u1", "u2", "u3", "kept", "kept1", "kept2", "kept3", "i", "t"))
STORE = ir.Store("item", U2, ir.Const(0), ir.Const(2.0))
BEFORE = ir.Store("item", U1, ir.Const(0), ir.Const(2.0))
NEW = ir.Let(U2, ir.Call(ir.Const(np.sin), (U1,)))
KEEP = ir.If(T, ir.Block((), (U2,)), ir.Block((), (KEPT1,)), (KEPT2,))


def sharing_of(statements, result=KEPT):
    function = ir.Function("f", (ir.Param(X), ir.Param(T)), ir.Block(tuple(statements), (result,)))
    values = {T: known(True), I: UNKNOWN}
    memory = Memory(function, lambda a: known(a.value) if isinstance(a, ir.Const) else values.get(a, ROW))
    return Sharing(function, memory)


def loop(*body, yields=(U2, KEPT2)):
    carried = (ir.Carried(U1, U, U3), ir.Carried(KEPT1, KEPT, KEPT3))
    return [
        ir.Let(U, ir.Call(ir.Const(np.sin), (X,))), ir.Let(KEPT, ir.Call(ir.Const(np.cos), (X,))),
        ir.For(I, ir.Const(range(3)), ir.Block(body, yields), carried),
    ]


@pytest.mark.parametrize("body, store, seen", [
    ((NEW, STORE, KEEP), STORE, {U2}),  # what is kept is the array of an iteration before
    ((BEFORE, NEW, KEEP), BEFORE, {U1, KEPT1}),  # and is changed by the next one
    ((NEW, KEEP, STORE), STORE, {U2, KEPT2}),
])
def test_an_array_that_is_kept_is_changed_where_the_next_iteration_changes_it(body, store, seen):
    assert {*sharing_of(loop(*body), result=KEPT3).seen(store)} == seen


def test_arrays_that_are_swapped_stay_apart():
    swapped = loop(BEFORE, yields=(KEPT1, U1))
    assert {*sharing_of(swapped, result=KEPT3).seen(BEFORE)} == {U1}
    assert {*sharing_of(swapped, result=KEPT3).apart(BEFORE)} == {KEPT1}
    merged = loop(BEFORE, yields=(KEPT1, KEPT1))
    assert {*sharing_of(merged, result=KEPT3).seen(BEFORE)} == {KEPT1}


@pytest.mark.parametrize("later, seen", [(np.cos, {U, U2}), (np.zeros_like, {U2})])
def test_what_is_asked_for_its_shape_only_is_not_read(later, seen):
    """Of a view and its array those are seen that are read after the store."""
    store = ir.Store("item", U2, ir.Const(0), ir.Const(2.0))
    statements = [
        ir.Let(U, ir.Call(ir.Const(np.sin), (X,))),
        ir.Let(U2, ir.Call(ir.Const(operator.getitem), (U, ir.Const(slice(1, None))))), store,
        ir.Let(U3, ir.Call(ir.Const(later), (U,))), ir.Let(KEPT, ir.Call(ir.Const(np.add), (U2, U3))),
    ]
    assert {*sharing_of(statements).seen(store)} == seen
