"""Values that are equal and of another type are not the same: a version made for one does not answer for the other."""

import collections
import dataclasses
import math

import numpy as np
import pytest

import s2s

pytestmark = pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")


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


class Fives:
    """What another class makes of its argument."""

    def __init__(self, value):
        self.value = 5.0 * value


def made_by(cls):
    return lambda x: cls(x).value * x


def doubled(self, name, value):
    object.__setattr__(self, name, 2.0 * value)


GAINED = {
    "__new__": (lambda cls, value: Fives(value), 5.0),
    "__setattr__": (doubled, 2.0),
    "__getattribute__": (lambda self, name: 3.0 * object.__getattribute__(self, name), 3.0),
}


@pytest.mark.parametrize("name", GAINED)
@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_a_class_that_gains_a_special_method_makes_other_objects(monkeypatch, name, mode):
    monkeypatch.setenv("S2S_RECORDED", "1")

    class Holder:
        def __init__(self, value):
            self.value = value

    f = made_by(Holder)
    derivative = s2s.grad(f) if mode == "reverse" else lambda x: s2s.jvp(f, (x,), (1.0,))[1]
    assert derivative(2.0) == 4.0
    method, factor = GAINED[name]
    setattr(Holder, name, method)
    assert derivative(2.0) == 4.0 * factor


def test_a_metaclass_that_gains_a_call_makes_other_objects(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "1")

    class Meta(type):
        pass

    class Holder(metaclass=Meta):
        def __init__(self, value):
            self.value = value

    gradient = s2s.grad(made_by(Holder))
    assert gradient(2.0) == 4.0
    Meta.__call__ = lambda cls, value: Fives(value)
    assert gradient(2.0) == 20.0


def test_a_named_tuple_with_another_new_has_other_fields(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "1")
    Point = collections.namedtuple("Point", ["value"])
    gradient = s2s.grad(made_by(Point))
    assert gradient(2.0) == 4.0
    make = Point.__new__
    Point.__new__ = lambda cls, value: make(cls, 3.0 * value)
    assert gradient(2.0) == 12.0


class First(Exception):
    pass


class Second(Exception):
    pass


@pytest.mark.parametrize("asks", ["except", "isinstance", "issubclass"])
def test_a_class_with_other_bases_is_another_kind(asks):
    class Problem(First):
        pass

    def caught(x):
        try:
            raise Problem
        except First:
            return x * x
        except Second:
            return 3.0 * x

    def of_instance(x):
        return x * x if isinstance(Problem(), First) else 3.0 * x

    def of_class(x):
        return x * x if issubclass(Problem, First) else 3.0 * x

    gradient = s2s.grad({"except": caught, "isinstance": of_instance, "issubclass": of_class}[asks])
    assert gradient(2.0) == 4.0
    Problem.__bases__ = (Second,)
    assert gradient(2.0) == 3.0


def test_a_number_whose_class_gains_an_operator(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "1")

    class Plain(float):
        pass

    def f(x, factor):
        return factor * x * x

    gradient, factor = s2s.grad(f), Plain(3.0)
    assert gradient(2.0, factor) == 12.0
    Plain.__mul__ = lambda self, other: 100.0 * float(other)
    assert gradient(2.0, factor) == 400.0
    assert s2s.grad(lambda x: factor * x * x)(2.0) == 400.0


def test_a_dataclass_calls_what_it_called_when_it_was_made():
    @dataclasses.dataclass
    class Holder:
        value: float

    f = made_by(Holder)
    gradient = s2s.grad(f)
    assert gradient(2.0) == 4.0
    Holder.__post_init__ = lambda self: setattr(self, "value", 9.0)
    assert gradient(2.0) == 4.0 and f(2.0) == 4.0
