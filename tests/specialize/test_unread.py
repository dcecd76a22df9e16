"""What a program computes and does not read: where that may raise, every derivative of any order raises it as well."""

import math

import numpy as np
import pytest

import s2s

X = np.array([0.5, 1.5])


def item(x):
    y = x[10]  # noqa: F841
    return x[0] ** 2


def number_in_a_text(x):
    n = int("x")  # noqa: F841
    return np.sum(x**2)


def shape(x):
    y = x.reshape(3)  # noqa: F841
    return np.sum(x**2)


def quotient(x):
    a = 1 / float(0)  # noqa: F841
    return np.sum(x**2)


def root(x):
    y = math.sqrt(-1.0 - x[0] ** 2)  # noqa: F841
    return np.sum(x**2)


def solution(x):
    y = np.linalg.solve(np.zeros((2, 2)), x)  # noqa: F841
    return np.sum(x**2)


def in_a_helper(x):
    for k in range(3):
        check(x, k)
    return np.sum(x**2)


def check(x, k):
    x[k]


def gradients_first(f):
    return s2s.grad(lambda x: s2s.grad(f)(x)[0])


MODES = [
    s2s.grad, s2s.value_and_grad, s2s.jacfwd, lambda f: lambda x: s2s.jvp(f, (x,), (X,)),
    s2s.hessian, lambda f: s2s.jacfwd(s2s.jacfwd(f)), lambda f: s2s.jacfwd(s2s.grad(f)), gradients_first,
]


@pytest.mark.parametrize("f", [item, number_in_a_text, shape, quotient, root, solution, in_a_helper])
def test_it_raises(f):
    with pytest.raises((ArithmeticError, LookupError, ValueError)) as primal:
        f(X)
    for derivative in MODES:
        with pytest.raises(primal.type):
            derivative(f)(X)


def test_what_cannot_raise_goes():
    def f(x):
        n = x.shape[0]  # noqa: F841
        part = x[1:]  # noqa: F841
        y = x * 2.0  # noqa: F841
        return np.sum(x**2)

    text = s2s.source(f, X, mode="jacfwd")
    assert "x[1:]" not in text and "shape" not in text and "2.0" not in text


def test_what_may_raise_stays_and_nothing_else_changes():
    def f(x):
        y = x[1]  # noqa: F841
        return np.sum(x**2)

    for derivative in (s2s.hessian, lambda f: s2s.jacfwd(s2s.grad(f))):
        np.testing.assert_array_equal(derivative(f)(X), 2.0 * np.eye(2))
