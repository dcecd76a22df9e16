"""Variables that nested functions assign: an operand that was read before a call keeps its value."""

import collections

import numpy as np
import pytest

import s2s
from s2s.errors import UnsupportedSyntaxError
from tests.helpers import check

X = np.array([0.3, 0.7, 1.2, 0.9])


def left_of_a_call(x):
    s = x[1]

    def add(v):
        nonlocal s
        s = s + v
        return s

    for v in x:
        add(v)
    return s * add(x[0])


def beside_a_call(x):
    s = x[1]

    def add(v):
        nonlocal s
        s = s + v
        return v

    def sum_of(a, b, c):
        return a * b + c

    items = [s, add(x[2])]
    table = {"a": s, "b": add(x[0]), "c": s}
    return (s, add(x[0]), s)[0] * x[2] + sum_of(s, add(x[3]), s) * items[0] * table["a"] * table["c"]


def augmented_by_a_call(x):
    s, t = x[1], x[2]

    def add(v):
        nonlocal s, \
            t
        s, t = s + v, t * s
        return v * t

    y = np.zeros(2)
    y[0] = s
    y[1] = s + add(x[0]) + s
    s += add(x[3])
    return y[0] * y[1] * s * t


def inside_a_nested_function(x):
    s = x[1]

    def outer():
        nonlocal s

        def inner():
            nonlocal s
            s = s * x[0]
            return s

        s = s + x[2] - s * inner()
        return s * inner()

    return s * outer() + s


@pytest.mark.parametrize(
    "f", [left_of_a_call, beside_a_call, augmented_by_a_call, inside_a_nested_function], ids=lambda f: f.__name__)
def test_an_operand_that_was_read_before_a_call_keeps_its_value(f):
    check(f, (X,))
    g = s2s.grad(f)
    expected = [(g(X + h) - g(X - h)) / 2e-5 for h in 1e-5 * np.eye(4)]
    assert np.allclose(s2s.jacfwd(g)(X), expected, rtol=1e-5, atol=1e-7)


def factory_given_later(x):
    d = collections.defaultdict()
    d.default_factory = lambda: x[0] * x[1]
    d["a"] += x[2]
    return d["a"] * d["b"]


def test_the_factory_of_a_dict_is_assigned():
    check(factory_given_later, (X,))


def annotated(x):
    def g(a: x[0] * 2.0):
        return a

    return g.__annotations__["a"] * g(x[1])


def test_annotations_of_nested_functions_are_refused():
    assert annotated(X) == pytest.approx(0.42)
    with pytest.raises(UnsupportedSyntaxError, match="this change of `g` cannot be tracked"):
        s2s.grad(annotated)(X)
