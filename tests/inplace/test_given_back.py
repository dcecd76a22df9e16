"""Cotangents that are an array of the program which a store has changed: the reverse sweep gives back what the array
held, and the cotangent is what it held after the store."""

import numpy as np
import pytest

import s2s
from tests.helpers import differences

A, X = 0.838, np.array([0.483, 0.3])


def in_a_branch(a, x):
    if a < 1.0:
        q = np.array([x[0]])
        p = np.array([a])
        k = p**2
        p[-1] = k[0]
        return np.dot(q, p)
    return 0.0


def in_a_loop(a, x):
    total = 0.0
    for i in range(2):
        q = np.array([x[i]])
        p = np.array([a])
        k = p**2
        p[-1] = k[0]
        total = total + np.dot(q, p)
    return total


def in_a_branch_of_a_loop(a, x):
    total = 0.0
    for i in range(2):
        if x[i] > 0.1:
            q = np.stack([x[i], a])
            p = np.array([a, x[i]])
            k = p**2
            p[:] = k
            total = total + np.sum(q * p)
    return total


def of_a_callee(a, x):
    def inner(b):
        q = np.stack([x[0], b])
        p = np.array([a, b])
        k = p**2
        p[:] = k
        return np.sum(q * p)

    return inner(a) if a < 2.0 else 0.0


class Model:
    def __init__(self, p):
        self.p = p

    def step(self, q):
        k = self.p**2
        self.p[0] = k[1]
        return np.dot(q, self.p)


def of_a_method(a, x):
    return Model(np.array([a, 2.0 * a])).step(np.stack([x[1], x[0]])) if a < 2.0 else 0.0


def at_the_end_of_a_loop(a, x):
    for i in range(2):
        if x[i] > 0.0:
            q = np.array([x[i]])
            p = np.array([a])
            k = p**2
            p[0] = 3.0 * k[0]
    return np.dot(q, p) if a < 1.0 else a


@pytest.mark.parametrize(
    "f", [in_a_branch, in_a_loop, in_a_branch_of_a_loop, of_a_callee, of_a_method, at_the_end_of_a_loop],
    ids=lambda f: f.__name__)
def test_derivatives(f):
    by_a, by_x = differences(lambda a: f(a, X), A), differences(lambda x: f(A, x), X)
    made = s2s.grad(f, argnums=(0, 1))(A, X)
    np.testing.assert_allclose(made[0], by_a, rtol=1e-6)
    np.testing.assert_allclose(made[1], by_x, rtol=1e-6)
    _, tangent = s2s.jvp(f, (A, X), (0.5, np.array([1.0, -2.0])))
    np.testing.assert_allclose(tangent, 0.5 * by_a + by_x @ np.array([1.0, -2.0]), rtol=1e-6)
