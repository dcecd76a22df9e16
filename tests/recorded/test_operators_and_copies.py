"""Operators and copies of objects of the program's classes, in recordings: their methods are watched, so that a number
which they make of constants has no derivative, and is not refused."""

import copy

import numpy as np
import pytest

import s2s

X = np.array([0.5, 1.5, 2.5])


@pytest.fixture(autouse=True)
def always(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "always")


class Counting:
    """What holds a differentiated number, and gives numbers that do not depend on it."""

    def __init__(self, held):
        self.held = held

    def __mul__(self, other):
        return np.full(3, float(len("ab")) * 2.0)

    def __rmul__(self, other):
        return [float(len("ab")) * 3.0]

    def __add__(self, other):
        return float(len("ab")) * 4.0

    def __radd__(self, other):
        return [float(len("ab")) * 5.0]


class Scaling(Counting):
    """What gives numbers that depend on what it holds and on what it is given."""

    def __mul__(self, other):
        return self.held * np.sin(other)

    __rmul__ = __mul__

    def __add__(self, other):
        return Scaling(self.held + other)

    __radd__ = __add__


class Stated:
    def __init__(self, held):
        self.held, self.made = held, 1.0

    def __getstate__(self):
        return {"held": self.held, "made": float(len("abc")) * 1.5}

    def __setstate__(self, state):
        self.held, self.made = state["held"], state["made"]


class Reduced:
    def __init__(self, held, made=1.0):
        self.held, self.made = held, made

    def __reduce__(self):
        return Reduced, (self.held, float(len("abc")) * 2.5)


class Slotted:
    __slots__ = ("held", "made")

    def __init__(self, held):
        self.held, self.made = held, 1.0

    def __getstate__(self):
        return None, {"held": self.held, "made": float(len("abc")) * 0.5}


PROGRAMS = [
    lambda x: np.sum((Counting(x[0]) * 2.0) * x), lambda x: np.sum((Counting(x) * x) * x),
    lambda x: np.sum((Counting(1.0) * x) * x),
    lambda x: (np.float64(2.0) * Counting(x[0]))[0] * x[1], lambda x: (2.0 * Counting(x[0]))[0] * x[1],
    lambda x: (x[2] * Counting(2.0))[0] * x[1], lambda x: (Counting(x) + 2.0) * x[1],
    lambda x: (2.0 + Counting(x))[0] * x[1], lambda x: (np.float64(2.0) + Counting(x))[0] * x[1],
    lambda x: np.sum(Scaling(x[1]) * x), lambda x: Scaling(3.0) * x[1],
    lambda x: np.float64(2.0) * Scaling(x[1]), lambda x: (Scaling(x[0]) + x[1]).held ** 2,
    lambda x: (np.float64(2.0) + Scaling(x[1])).held ** 2,
    lambda x: copy.copy(Stated(x[1])).held ** 2 * copy.copy(Stated(x[1])).made,
    lambda x: np.sum(copy.deepcopy(Stated(x)).held ** 2) * copy.deepcopy(Stated(x)).made,
    lambda x: copy.copy(Reduced(x[1])).held ** 2 * copy.copy(Reduced(x[1])).made,
    lambda x: copy.copy(Slotted(x[1])).held ** 2 * copy.copy(Slotted(x[1])).made,
    lambda x: Stated(x[1]).__reduce_ex__(4)[2]["made"] * x[1],
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=map(str, range(len(PROGRAMS))))
def test_what_methods_give(f):
    h = 1e-6
    wanted = [(f(X + h * e) - f(X - h * e)) / (2.0 * h) for e in np.eye(3)]
    np.testing.assert_allclose(s2s.grad(f)(X), wanted, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(s2s.jvp(f, (X,), (np.ones(3),))[1], np.sum(wanted), rtol=1e-7)
