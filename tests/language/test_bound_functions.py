"""Functions that are made in loops: what they read is what it was when they were made, however long they live."""

import numpy as np
import pytest

import s2s

X = np.array([0.7, 1.3, 0.45])
W = [2.0, 3.0, 5.0, 7.0, 11.0]


def one_of_a_loop(x):
    g = lambda y: y
    for k in range(5):
        c = W[k]
        if k == 2:
            g = (lambda d: lambda y: y * d)(c)
    return g(x[0])


def of_a_while(x):
    g, k = (lambda y: y), 0
    while k < 5:
        c = W[k] + k
        if c < 8.0:
            g = (lambda d: lambda y: np.sin(y) * d)(c)
        k += 1
    return g(x[0] * x[1])


def of_a_def(x):
    def times(d):
        def inner(y):
            z = y * d
            while z > 50.0:
                z = z * 0.5
            return z * z

        return inner

    g = times(1.0)
    for k in range(5):
        c = W[k] * 0.5
        if c < 3.0:
            g = times(c)
    return g(x[1])


def in_a_list(x):
    made = []
    for k in range(5):
        c = W[k]
        made.append((lambda d: lambda y: y * d)(c))
    return made[1](x[0]) + made[3](x[1])


def chain(x):
    g = lambda y: y * y
    for _ in range(50):
        g = (lambda h: lambda y: h(y) * 1.01)(g)
    return g(x[0])


def called_in_each_iteration(x):
    total = 0.0
    for k in range(5):
        c = W[k]
        g = (lambda d: lambda y: np.tanh(y * 0.1) * d)(c)
        total = total + g(x[k % 3]) * g(total)
    return total


PROGRAMS = [one_of_a_loop, of_a_while, of_a_def, in_a_list, chain, called_in_each_iteration]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_functions_read_what_was_there_when_they_were_made(f):
    expected = np.array([(f(X + d) - f(X - d)) / 2e-6 for d in np.eye(3) * 1e-6])
    np.testing.assert_allclose(s2s.grad(f)(X), expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(s2s.jacfwd(f)(X), expected, rtol=1e-6, atol=1e-6)
