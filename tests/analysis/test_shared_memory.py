"""Whose memory the result of an operation may share."""

import operator

import numpy as np
import pytest

from s2s.analysis.abstract.lattice import known
from s2s.analysis.memory import shared_with
from s2s.core import ir
from s2s.core.values import UNKNOWN, Array, Dim, Known, ListOf, Scalar, Sequence

FLOATS, PLACES = (Array(np.dtype(kind), (Dim("x.0"),)) for kind in (float, np.intp))
X, AT = ir.Var("x"), ir.Var("at")


def call(fn, *args, **kwargs):
    return ir.Call(ir.Const(fn), args, tuple(kwargs.items()))


@pytest.mark.parametrize(
    ("source", "index", "shares"),
    [
        (FLOATS, known(slice(1, None)), True), (FLOATS, Scalar(int), True), (FLOATS, UNKNOWN, True),
        (FLOATS, PLACES, False), (FLOATS, ListOf(Scalar(int)), False), (FLOATS, Sequence(list, (Scalar(int),)), False),
        (FLOATS, Sequence(tuple, (PLACES, Scalar(int))), False),
        (FLOATS, Sequence(tuple, (known(None), Scalar(int))), True),
        (UNKNOWN, PLACES, True), (ListOf(FLOATS), Scalar(int), True), (Scalar(float), known(()), False),
        (Sequence(tuple, (FLOATS, FLOATS)), PLACES, True), (known((1.0, 2.0)), Scalar(int), False),
    ],
)  # fmt: skip
def test_items_at_an_array_are_a_copy_of_an_array_only(source, index, shares):
    values = {X: source, AT: index}
    assert shared_with(call(operator.getitem, X, AT), FLOATS, values.get) == [X] * shares
    assert shared_with(call(operator.getitem, X, AT), Scalar(float), values.get) == []


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (X, [X]), (ir.Const(1.0), []), (call(np.sin, X), []), (call(np.asarray, X), [X]),
        (call(np.reshape, X, AT), [X]), (call(np.reshape, a=X, shape=AT), [X]), (call(np.transpose, a=X), [X]),
        (call(np.reshape, ir.Star(X)), [X]),
        (call(getattr, X, ir.Const("T")), [X]), (call(getattr, X, ir.Const("shape")), []),
        (call(getattr, X, ir.Const("dtype")), []), (call(operator.getitem, ir.Const((1.0,)), AT), []),
    ],
)  # fmt: skip
def test_variables_that_a_result_may_share_its_memory_with(value, expected):
    def value_of(atom):
        return atom if isinstance(atom, Known) else {X: FLOATS, AT: Scalar(int)}.get(atom, known((1.0,)))

    assert shared_with(value, FLOATS, value_of) == expected
