"""Whose memory the result of an operation may share."""

import dataclasses
import operator

import numpy as np
import pytest

import s2s
from s2s.analysis.abstract.lattice import known
from s2s.analysis.memory import can_share, shared_with
from s2s.core import ir
from s2s.core.values import UNKNOWN, Array, Dim, Instance, Known, ListOf, Mapping, Range, Scalar, Sequence
from tests.helpers import differences

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
    ("value", "shares"),
    [
        (FLOATS, True), (UNKNOWN, True), (Scalar(float), False), (Range(), False), (Instance(object, (), ()), False),
        (known(1.5), False), (known((1.0,)), False), (Known(ir.Const(np.ones(2))), True),
        (Known(ir.Const([1.0])), True),
        (Known(ir.Const({"a": 1.0})), True), (Sequence(tuple, (Scalar(int), FLOATS)), True),
        (Sequence(list, (Scalar(int), Scalar(float))), False), (Sequence(slice, (UNKNOWN,) * 3), False),
        (Mapping(("a",), (FLOATS,)), True), (Mapping(("a",), (Scalar(float),)), False), (ListOf(FLOATS), True),
        (ListOf(Scalar(float)), False), (ListOf(UNKNOWN), True),
    ],
)  # fmt: skip
def test_values_that_can_refer_to_an_array(value, shares):
    assert can_share(value) == shares


@dataclasses.dataclass
class Layer:
    w: np.ndarray
    b: np.ndarray


def changing_one_attribute(layer, x):
    w = layer.w
    w[0] = x[0] * layer.b[1]
    for _ in range(3):
        w *= np.sin(layer.b)
    return np.sum(np.sin(w) * layer.b)


@pytest.mark.parametrize("mode", ["grad", "jvp"])
def test_an_attribute_is_copied_where_it_changes_and_the_others_are_not(mode):
    def made():
        return Layer(np.array([0.3, 0.5]), np.array([0.7, -0.4]))

    x = np.array([1.5, 0.2])
    text = s2s.source(changing_one_attribute, made(), x, argnums=(0, 1), mode=mode)
    assert "w = np.copy(w)" in text and "np.copy(b)" not in text and "np.copy(layer_dot.b)" not in text
    bar, x_bar = s2s.grad(changing_one_attribute, argnums=(0, 1))(made(), x)

    def of_numbers(v):
        return changing_one_attribute(Layer(v[:2].copy(), v[2:4].copy()), v[4:])

    wanted = differences(of_numbers, np.concatenate([made().w, made().b, x]))
    np.testing.assert_allclose(np.concatenate([bar.w, bar.b, x_bar]), wanted, rtol=1e-7, atol=1e-9)


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
