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
