"""Calls that are decided when the program runs are made once for all directions of a Jacobian: what they draw, count
and write is what one run of the function does."""

import random

import numpy as np
import pytest

import s2s

X = np.array([0.43, 1.19, 0.87, 2.23])
STREAM, NUMBERS, SEEN = np.random.default_rng(0), random.Random(3), []


class Counter:
    def __init__(self):
        self.calls = 0

    def __call__(self, v):
        self.calls += 1
        return v * self.calls


COUNTER = Counter()


def of_a_global_stream(x):
    return STREAM.normal(x[0], x[1]) ** 2 * x[2]


def of_chosen_streams(x):
    draws = [STREAM.normal, NUMBERS.gauss]
    return draws[int(x[0])](x[0], x[1]) ** 2 * draws[int(x[1])](x[2], x[3])


def of_python_code(x):
    return NUMBERS.normalvariate(x[0], x[1]) ** 2 * x[2]


def of_a_stream_inside(x):
    stream = random.Random(2)
    return stream.normalvariate(x[0], x[1]) ** 2 + stream.triangular(x[0], x[1] + 1.0, x[2])


def twice_in_the_result(x):
    def both(v):
        y = v * STREAM.normal()
        return (y, y), {"a": y}

    (a, b), held = [both, np.sin][int(x[0])](x)
    return np.sum(a * b) * held["a"][0]


def counted(x):
    return np.sum([COUNTER, np.sin][int(x[0])](x) ** 2 * x[1])


def written(x):
    return np.sum([lambda v: SEEN.append("called") or v**2, np.sin][int(x[0])](x)) ** 2


def by_text(x):
    function = [lambda v, counter=COUNTER: (eval("counter(v)"), v[0] * 2.0), np.sin][int(x[0])]
    first, second = function(x)
    return np.sum(first**3) * second


PROGRAMS = [
    of_a_global_stream, of_chosen_streams, of_a_stream_inside, twice_in_the_result, counted, written, by_text,
]


def from_the_start(f):
    """The function, with the streams and counters as they are made each time."""

    def run(*args):
        STREAM.bit_generator.state = np.random.default_rng(0).bit_generator.state
        NUMBERS.setstate(random.Random(3).getstate())
        COUNTER.calls = 0
        SEEN.clear()
        return f(*args)

    return run


@pytest.mark.grid(0.4)
@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_calls_are_made_once(f, monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "1")
    run, h = from_the_start(f), 1e-5
    slope = [(run(X + step) - run(X - step)) / (2.0 * h) for step in h * np.eye(4)]
    made = from_the_start(s2s.jacfwd(f))
    for _ in range(2):
        np.testing.assert_allclose(made(X), slope, rtol=1e-6, atol=1e-7)
        assert len(SEEN) == (f is written)
    gradient = from_the_start(s2s.grad(f))
    bend = [(gradient(X + step) - gradient(X - step)) / (2.0 * h) for step in h * np.eye(4)]
    for nested in (s2s.jacfwd(s2s.grad(f)), s2s.jacfwd(s2s.jacfwd(f))):
        np.testing.assert_allclose(from_the_start(nested)(X), np.transpose(bend), rtol=1e-5, atol=1e-6)


def test_what_runs_once_for_each_direction_draws_nothing(monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "0")
    with pytest.raises(s2s.errors.UnsupportedSyntaxError, match="S2S155"):
        s2s.jacfwd(s2s.grad(of_python_code))(X)
