"""What is read of objects that the program finds: taken by value, or read at each call."""

import types

import numpy as np
import pytest
from scipy import interpolate

import s2s
from tests.helpers import differences

SPLINE = interpolate.CubicSpline(np.arange(4.0), np.eye(4), axis=1)
OWN = types.SimpleNamespace(axis=1)
X = np.array([0.3, 0.7])


def of_library(x):
    return np.sum(x**2) * (SPLINE.axis + 2.0)


def of_program(x):
    return np.sum(x**2) * (OWN.axis + 2.0)


@pytest.mark.parametrize("f, is_read", [(of_library, False), (of_program, True)])
def test_numbers_of_library_objects_are_taken_by_value(f, is_read):
    code = [line for line in s2s.source(f, X).splitlines() if "#" not in line]
    assert any(".axis" in line for line in code) == is_read
    np.testing.assert_allclose(s2s.grad(f)(X), 6.0 * X)


class Options:
    mode, count, none, flag = "square", 3, None, True
    factor, pair, weights, names = 2.5, (1.0, 2.0), np.array([1.0, 2.0]), {"a": 2.0}


OWN_VALUES = {
    "mode": "other", "count": 2, "none": 1, "flag": False, "factor": 1.5, "pair": (3.0, 1.0), "weights": X,
    "names": {"a": 7.0},
}
READS = {
    "mode": lambda x, o: np.sum(x**2 if o.mode == "square" else x),
    "count": lambda x, o: np.sum(x**3) * o.count,
    "none": lambda x, o: np.sum(x**3) * (2.0 if o.none is None else 3.0),
    "flag": lambda x, o: np.sum(x**3) * (2.0 if o.flag else 3.0),
    "factor": lambda x, o: np.sum(x**3) * o.factor,
    "pair": lambda x, o: np.sum(x**3) * o.pair[0],
    "weights": lambda x, o: np.sum(x**3 * o.weights),
    "names": lambda x, o: np.sum(x**3) * o.names["a"],
}


@pytest.mark.parametrize("name", READS)
def test_what_an_object_has_by_its_class_is_known(name):
    """Options and integers by value, others by kind, so that nothing is asked when the program runs. An attribute of
    its own hides it, and one that is deleted again does not."""
    f, options = READS[name], Options()
    gradient = s2s.grad(f)
    np.testing.assert_allclose(gradient(X, options), differences(lambda x: f(x, options), X), rtol=1e-6)
    code = "\n".join(line for line in gradient.source.splitlines() if "#" not in line)
    assert "rt." not in code
    assert (f".{name}" in code) == (name in ("factor", "pair", "weights", "names"))
    setattr(options, name, OWN_VALUES[name])
    np.testing.assert_allclose(gradient(X, options), differences(lambda x: f(x, options), X), rtol=1e-6)
    delattr(options, name)
    np.testing.assert_allclose(gradient(X, options), differences(lambda x: f(x, options), X), rtol=1e-6)


class Rate:
    def __init__(self, value):
        self.value = value


RATES = [Rate(2.0), 1.0]
SAME_RATES = RATES
PAIR = ([2.0, 3.0], Rate(1.0))
SAME_PAIR = PAIR


def sum_of_both_lists(x):
    return x * RATES[0].value + x * SAME_RATES[0].value


def sum_of_both_tuples(x):
    return x * PAIR[0][0] + x * SAME_PAIR[0][0] * SAME_PAIR[1].value


def whether_lists_are_one(x):
    return x * (2.0 if RATES is SAME_RATES else 1.0)


def whether_tuples_are_one(x):
    return x * (2.0 if PAIR is SAME_PAIR else 1.0)


@pytest.mark.parametrize("f, slopes", [
    (sum_of_both_lists, (4.0, 7.0)), (sum_of_both_tuples, (4.0, 23.0)), (whether_lists_are_one, (2.0, 1.0)),
    (whether_tuples_are_one, (2.0, 1.0)),
], ids=lambda f: getattr(f, "__name__", ""))
@pytest.mark.parametrize("is_one_at_first", [True, False])
def test_two_names_of_one_list_or_tuple_may_become_those_of_two(f, slopes, is_one_at_first, monkeypatch):
    gradient, before = s2s.grad(f), (SAME_RATES, SAME_PAIR)
    for is_one in (is_one_at_first, not is_one_at_first, is_one_at_first):
        rates, pair = before if is_one else ([Rate(5.0), 1.0], ([7.0, 3.0], Rate(3.0)))
        monkeypatch.setitem(globals(), "SAME_RATES", rates)
        monkeypatch.setitem(globals(), "SAME_PAIR", pair)
        assert gradient(1.0) == slopes[not is_one]
        assert s2s.jvp(f, (1.0,), (1.0,))[1] == slopes[not is_one]


def test_attributes_that_hold_one_tuple(monkeypatch):
    """Of a tuple that holds a list, as of other objects, it is known whether it is another one."""
    def f(x, o):
        return np.sum(x * o.first[0][1]) * (2.0 if o.first is o.second else o.second[1])

    monkeypatch.setenv("S2S_RECORDED", "0")
    pair, other = ([1.0, np.array([2.0, 3.0])], 4.0), ([1.0, np.array([2.0, 3.0])], 5.0)
    gradient = s2s.grad(f)
    for second, factor in ((pair, 2.0), (other, 5.0), (pair, 2.0)):
        found = gradient(X, types.SimpleNamespace(first=pair, second=second))
        np.testing.assert_array_equal(found, factor * pair[0][1])
