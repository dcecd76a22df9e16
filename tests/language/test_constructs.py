"""Each construct on top level, in a loop, in a helper and in a method: in both modes and to second order."""

import pytest

import s2s
from tests.language.constructs import PROGRAMS

X = 0.79


def in_a_loop(f):
    def loop(x):
        total = 0.0
        for k in range(3):
            total = total + f(x * (1.0 + 0.1 * k))
        return total

    return loop


def in_a_helper(f):
    def helper(v):
        return f(v * v) * v

    return lambda x: helper(x) + x


def in_a_method(f):
    class Scaled:
        def __init__(self, scale):
            self.scale = scale

        def run(self, x):
            return f(x * self.scale) + self.scale

    return Scaled(1.1).run


PLACES = {"top": lambda f: f, "loop": in_a_loop, "helper": in_a_helper, "method": in_a_method}


def first(f, x, h=1e-4):
    return (4.0 * (f(x + h) - f(x - h)) / h - (f(x + 2 * h) - f(x - 2 * h)) / (2.0 * h)) / 6.0


def second(f, x, h=2e-3):
    return (16.0 * (f(x + h) + f(x - h)) - f(x + 2 * h) - f(x - 2 * h) - 30.0 * f(x)) / (12.0 * h * h)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_construct(program, place):
    f = PLACES[place](program)
    slope, bend = first(f, X), second(f, X)
    assert s2s.grad(f)(X) == pytest.approx(slope, rel=1e-6, abs=1e-6)
    assert s2s.jvp(f, (X,), (1.0,))[1] == pytest.approx(slope, rel=1e-6, abs=1e-6)
    assert s2s.jvp(s2s.grad(f), (X,), (1.0,))[1] == pytest.approx(bend, rel=1e-5, abs=1e-5)
    assert s2s.grad(s2s.grad(f))(X) == pytest.approx(bend, rel=1e-5, abs=1e-5)
