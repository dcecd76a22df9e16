"""Each construct on top level, in a loop, in a helper and in a method: in reverse mode, in half of them in forward
mode, in a quarter each to second order by forward over reverse and by reverse over reverse mode. ``--every`` takes all.
"""

import itertools
import math

import numpy as np
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


@pytest.mark.grid(0.2)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_construct(program, place, in_sample):
    f = PLACES[place](program)
    slope, bend = first(f, X), second(f, X)
    assert s2s.grad(f)(X) == pytest.approx(slope, rel=1e-6, abs=1e-6)
    if in_sample(1 / 2, "forward"):
        assert s2s.jvp(f, (X,), (1.0,))[1] == pytest.approx(slope, rel=1e-6, abs=1e-6)
    if in_sample(1 / 4, "forward over reverse"):
        assert s2s.jvp(s2s.grad(f), (X,), (1.0,))[1] == pytest.approx(bend, rel=1e-5, abs=1e-5)
    if in_sample(1 / 4, "reverse over reverse"):
        assert s2s.grad(s2s.grad(f))(X) == pytest.approx(bend, rel=1e-5, abs=1e-5)


def pairs_of_lists(x):
    left, right = [v * v for v in x], [2.0 * v for v in x]
    pairs, turned = list(zip(left, right)), list(zip(right, left))
    total = 0.0
    for a, b in turned:
        total += a * b
    return pairs[0][0] * pairs[1][1] + pairs[-1][0] * total


def numbered_and_reversed(x):
    squares = [v * v for v in x]
    numbered, back = list(enumerate(squares)), list(reversed(squares))
    return numbered[1][1] * back[0] + numbered[2][0] * back[1]


def spread(a, b, c):
    return a * b + c**3


def spread_array(x):
    return spread(*x) * max(*[v * v for v in x])


@pytest.mark.parametrize("f", [pairs_of_lists, numbered_and_reversed, spread_array], ids=lambda f: f.__name__)
def test_lists_of_unknown_length(f):
    x = np.array([0.7, 1.1, 1.9])
    steps = 1e-5 * np.eye(3)
    slope = [(f(x + step) - f(x - step)) / 2e-5 for step in steps]
    np.testing.assert_allclose(s2s.grad(f)(x), slope, rtol=1e-7)
    np.testing.assert_allclose(s2s.jacfwd(f)(x), slope, rtol=1e-7)
    gradient = s2s.grad(f)
    bend = [(gradient(x + step) - gradient(x - step)) / 2e-5 for step in steps]
    np.testing.assert_allclose(s2s.jacfwd(gradient)(x), bend, rtol=1e-6, atol=1e-7)


def joined(a, b, *c):
    return a * b + sum(c) ** 2


def spread_twice(x):
    return joined(*x) + joined(*(2.0 * x))


def spread_beside_a_rule(x):
    return math.hypot(*x) + joined(*x) * np.sum(x)


def spread_rows(x):
    return np.sum(joined(*np.outer(x, x)) ** 2)


@pytest.mark.parametrize("f", [spread_twice, spread_beside_a_rule, spread_rows], ids=lambda f: f.__name__)
def test_the_cotangents_of_a_starred_array_are_an_array(f):
    x, along = np.array([0.7, 1.1, 1.9]), np.array([0.3, -0.2, 0.5])
    slope = [first(lambda t, k=k: f(x + t * np.eye(3)[k]), 0.0) for k in range(3)]
    np.testing.assert_allclose(s2s.grad(f)(x), slope, rtol=1e-7)
    np.testing.assert_allclose(s2s.jvp(f, (x,), (along,))[1], along @ slope, rtol=1e-7)


def scaled_square(x):
    HISTORY.append(x * x)
    COUNTS["calls"] += 1
    return x**3


def square_of_the_last(x):
    return scaled_square(x) * HISTORY[-1]


def last():
    return HISTORY[-1]


def square_of_the_last_by_a_helper(x):
    return scaled_square(x) * last()


HISTORY, COUNTS = [], {"calls": 0}


def test_logs_are_written_as_the_function_writes_them():
    HISTORY.clear()
    COUNTS["calls"] = 0
    assert s2s.grad(scaled_square)(2.0) == 12.0
    assert HISTORY == [4.0] and COUNTS == {"calls": 1}
    assert s2s.jvp(scaled_square, (3.0,), (1.0,)) == (27.0, 27.0)
    assert HISTORY == [4.0, 9.0] and COUNTS == {"calls": 2}


@pytest.mark.parametrize("f", [square_of_the_last, square_of_the_last_by_a_helper], ids=lambda f: f.__name__)
def test_what_is_read_from_a_log_is_refused(f):
    HISTORY[:] = [1.0]
    with pytest.raises(s2s.errors.DifferentiationError, match="S2S185"):
        s2s.grad(f)(0.5)


def test_generators_end_where_their_items_are_not_taken():
    taken = []

    def numbers(x):
        k = 1.0
        while True:
            taken.append(k)
            yield k * x
            k = k + 1.0

    def f(x):
        total = 0.0
        for value in numbers(x):
            if value > 3.0:
                break
            total = total + value * value
        return total

    assert s2s.grad(f)(1.0) == pytest.approx(2.0 * (1.0 + 4.0 + 9.0))
    assert s2s.jvp(f, (1.0,), (1.0,)) == (14.0, 28.0)


STATE = {}


class ReadsTheState:
    """Objects whose methods compiled code calls, and which read what the program wrote."""

    def __divmod__(self, other):
        return STATE["x"] ** 2, other

    def __float__(self):
        return float(STATE["x"]) ** 2

    def __getitem__(self, k):
        return STATE["x"] ** k


class AsksForMissing(dict):
    def __missing__(self, key):
        return STATE["x"] ** 2


OUTSIDE, MISSING = ReadsTheState(), AsksForMissing()


def divided(x):
    STATE["x"] = x
    return divmod(OUTSIDE, 2)[0]


def as_a_float(x):
    STATE["x"] = x
    return math.fsum([OUTSIDE, 1.0])


def missing(x):
    STATE["x"] = x
    return MISSING["key"]


@pytest.mark.parametrize("f", [divided, as_a_float, missing])
def test_what_objects_read_from_a_log_is_refused(f):
    with pytest.raises(s2s.errors.DifferentiationError):
        s2s.grad(f)(1.3)


def test_an_endless_iterator_is_not_read_to_its_end():
    def f(x):
        numbers = itertools.count(x, x)
        next(numbers)
        return next(numbers)

    with pytest.raises(s2s.errors.DifferentiationError, match="S2S142"):
        s2s.grad(f)(1.3)
