"""Whether the layout of arrays decides what a function does, of statements in IR that programs seldom come to."""

import operator

import numpy as np
import pytest

from s2s.analysis import layout
from s2s.analysis.abstract.lattice import known
from s2s.core import ir
from s2s.core.show import show_value
from s2s.core.values import UNKNOWN, Array, Dim

MATRIX = Array(np.dtype(float), (Dim("x.0"), Dim("x.1")))
ROW = Array(np.dtype(float), (Dim("x.0"),))
X, A, B, HOLDER, R = map(ir.Var, ("x", "a", "b", "holder", "r"))
STORE = ir.Store("item", B, ir.Const(0), ir.Const(2.0))
NEW = ir.Let(A, ir.Call(ir.Const(np.sin), (X,)))
LATER = ir.Let(R, ir.Call(ir.Const(operator.mul), (A, B)))


def made_by(fn, *args, **kwargs):
    return ir.Let(B, ir.Call(ir.Const(fn), args, tuple(kwargs.items())))


def shown(let):
    return show_value(let.value)


def decides(*statements, shape=MATRIX):
    def value_of(atom):
        return known(atom.value) if isinstance(atom, ir.Const) else UNKNOWN if atom == HOLDER else shape

    function = ir.Function("f", (ir.Param(X), ir.Param(HOLDER)), ir.Block((*statements, LATER), (R,)))
    return layout.decides(function, value_of)


BY_ORDER = [
    made_by(np.ravel, A), made_by(np.ndarray.ravel, A), made_by(np.ravel, a=A), made_by(np.reshape, A, ir.Const(-1)),
    made_by(np.ascontiguousarray, A), made_by(np.asfortranarray, A), made_by(np.require, A),
    made_by(np.asarray, A, order=ir.Const("F")), made_by(np.asanyarray, order=ir.Const("F"), a=A),
    made_by(np.array, object=A, copy=ir.Const(None), order=ir.Const("F")),
    made_by(np.ndarray.astype, A, ir.Const(float), order=ir.Const("F"), copy=ir.Const(False)),
]
IN_ANY_ORDER = [
    ir.Let(B, A), made_by(np.asarray, A), made_by(np.asarray, a=A), made_by(np.transpose, A),
    made_by(np.transpose, a=A), made_by(np.cos, A), made_by(np.copy, A, order=ir.Const("F")),
    made_by(np.zeros, shape=ir.Const((2, 2))),
]


@pytest.mark.parametrize("let", BY_ORDER, ids=shown)
def test_a_store_through_what_is_a_view_in_one_order_decides(let):
    assert decides(NEW, let, STORE)
    assert not decides(NEW, let)
    assert not decides(NEW, STORE, let)


@pytest.mark.parametrize("let", BY_ORDER, ids=shown)
def test_arrays_of_one_axis_have_one_order(let):
    assert not decides(NEW, let, STORE, shape=ROW)
    assert decides(NEW, let, STORE, shape=Array(np.dtype(float), None))


@pytest.mark.parametrize("let", IN_ANY_ORDER, ids=shown)
def test_what_is_a_view_or_a_copy_in_any_order_does_not_decide(let):
    assert not decides(NEW, let, STORE)


def test_an_array_that_an_object_holds_is_that_array():
    held = ir.Store("attr", HOLDER, ir.Const("a"), A)
    assert not decides(NEW, held, made_by(getattr, HOLDER, ir.Const("a")), STORE)


@pytest.mark.parametrize("order, expected", [({}, False), ({"order": ir.Const("F")}, True)], ids=["none", "F"])
def test_what_is_made_in_the_order_of_c_is_a_view_in_that_order(order, expected):
    zeros = ir.Let(A, ir.Call(ir.Const(np.zeros), (ir.Const((2, 2)),)))
    assert decides(zeros, made_by(np.ravel, A, **order), STORE) is expected
