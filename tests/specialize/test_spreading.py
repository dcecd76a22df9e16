"""``*`` of what has no length that is known, and of sets."""

import linecache
import warnings

import numpy as np
import pytest

import s2s
from tests.helpers import differences

X = np.array([0.3, 0.5, 0.7])


def shape_of_all(x, *others):
    shapes = {np.shape(a) for a in (x, *others)}
    return np.broadcast_to(x, np.broadcast_shapes(*shapes))


def broadcast(x):
    return np.sum(shape_of_all(x, 1.0, np.ones((2, 1))) ** 3)


def kind_of_all(x):
    arrays = [x]
    for value in x:
        if value > 0.4:
            arrays.append(value * x)
    kind = np.result_type(*arrays, np.float32)
    return np.sum(np.asarray(arrays[-1], dtype=kind) ** 2)


@pytest.mark.parametrize("f", [broadcast, kind_of_all])
def test_against_differences(f):
    want = differences(f, X)
    np.testing.assert_allclose(s2s.grad(f)(X), want, rtol=1e-6)
    np.testing.assert_allclose(s2s.jacfwd(f)(X), want, rtol=1e-6)


def test_shapes_of_a_set_are_known():
    """So that nothing of the runtime is called for arrays of a shape that only shows when the program runs."""
    assert "rt." not in s2s.source(broadcast, X)


# --- warnings ---------------------------------------------------------------------------------------------------------


def warns(x, level):
    warnings.warn("slow", UserWarning, stacklevel=level)
    return x * x


def two_above(x):
    return warns(x, 3)


def one_above(x):
    return np.sum(warns(x, 2))


def far_above(x):
    return np.sum(two_above(x))


@pytest.mark.parametrize("f", [one_above, far_above])
def test_a_warning_names_the_function_that_is_differentiated(f):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        s2s.grad(f)(X)
    (one,) = [w for w in found if str(w.message) == "slow"]
    assert f"def {f.__name__}_grad" in "".join(linecache.getlines(one.filename))


# --- arrays whose items are the arguments of a function ---------------------------------------------------------------


class Model:
    def __init__(self):
        self.size = 2.0

    def rate(self, t, y, beta, gamma, size=1.0, *, scale=1.0):
        return np.array([-beta * y[0] * y[1] / size, beta * y[0] * y[1] / size - gamma * y[1] * scale])

    def loss(self, p, y):
        for t in range(4):
            y = y + 0.3 * self.rate(t, y, *p, size=self.size, scale=2.0)
        return y[1] ** 2


def of_a_nested_function(p, y):
    def rate(t, y, beta, gamma):
        d = np.zeros_like(y)
        d[0] = -beta * y[0] * y[1]
        d[1] = beta * y[0] * y[1] - gamma * y[1]
        return d

    for t in range(4):
        y = y + 0.3 * rate(t, y, *p)
    return y[1] ** 2


def of_a_lambda(p, y):
    area = lambda a, b: a * b**2  # noqa: E731
    return area(*p) * area(*np.exp(p)) * y[0]


@pytest.mark.parametrize("f", [Model().loss, of_a_nested_function, of_a_lambda])
def test_items_of_an_array_as_arguments(f, monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "0")
    p, y = np.array([0.5, 0.2]), np.array([0.9, 0.1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(s2s.grad(f)(p, y), differences(lambda p: f(p, y), p), rtol=1e-6)
        bent = np.array([differences(lambda p, k=k: s2s.grad(f)(p, y)[k], p) for k in range(2)])
        np.testing.assert_allclose(s2s.hessian(f)(p, y), bent, rtol=1e-5, atol=1e-9)
        np.testing.assert_allclose(s2s.hvp(f, (p, y), (np.ones(2), None)), bent.sum(axis=1), rtol=1e-5, atol=1e-9)


def test_another_number_of_items_is_an_error():
    with pytest.raises((TypeError, ValueError)):
        s2s.grad(of_a_lambda)(np.ones(3), np.ones(2))
