"""Values that are equal and of another type are not the same: a version made for one does not answer for the other."""

import math

import numpy as np
import pytest

import s2s


class Key(str):
    """A string of another class."""


PAIRS = {
    "bool": ({1: 2.0}, {True: 2.0}),
    "float": ({1: 2.0}, {1.0: 2.0}),
    "subclass of str": ({"a": 2.0}, {Key("a"): 2.0}),
    "of many": ({k: 2.0 for k in range(6)}, {(True if k == 1 else k): 2.0 for k in range(6)}),
}


def answers(change, first, second):
    """The derivatives at 2, of x * x while the types of the keys are those of ``first`` and of x otherwise, before and
    after the ``change``."""
    kinds = [*map(type, first)]
    table = dict(first)

    def square_or_same(x):
        return x * x if [type(k) for k in table] == kinds else x

    def of_argument(x, table):
        return x * x if [type(k) for k in table] == kinds else x

    if change == "argument":
        gradient = s2s.grad(of_argument)
        return gradient(2.0, first), gradient(2.0, second)
    gradient = s2s.grad(square_or_same)
    before = gradient(2.0)
    if change == "in place":
        table.clear()
        table.update(second)
    else:
        table = second
    return before, gradient(2.0)


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("change", ["argument", "in place", "variable"])
def test_keys_of_another_type_are_other_keys(change, pair):
    first, second = PAIRS[pair]
    assert answers(change, first, second) == (4.0, 1.0)
    assert answers(change, second, first) == (4.0, 1.0)


@pytest.mark.parametrize(("module", "name"), [(np, "tanh"), (math, "sin"), (np.linalg, "norm")])
def test_a_function_of_a_library_that_is_replaced_has_another_derivative(monkeypatch, module, name):
    def of_numpy(x):
        return np.sum(x * np.tanh(x))

    def of_math(x):
        return x * math.sin(x)

    def of_linalg(x):
        return x * np.linalg.norm(np.array([x, 2.0 * x]))

    f = {"tanh": of_numpy, "sin": of_math, "norm": of_linalg}[name]
    gradient, tangent = s2s.grad(f), lambda: s2s.jvp(f, (0.7,), (1.0,))[1]
    before = gradient(0.7), tangent()
    with monkeypatch.context() as patch:
        patch.setattr(module, name, lambda v: np.sum(v * v))
        expected = 3.0 * 0.7**2 * (5.0 if name == "norm" else 1.0)
        np.testing.assert_allclose([gradient(0.7), tangent()], expected)
    assert (gradient(0.7), tangent()) == before
